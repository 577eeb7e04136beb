"""Tables: a column is published with the same categories, under a promise and constraints."""

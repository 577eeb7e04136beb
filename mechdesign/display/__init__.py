"""Objects as tables: frames of pandas or polars, and HTML for notebooks."""

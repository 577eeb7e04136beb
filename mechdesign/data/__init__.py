"""What users bring: labels, alphabets, counts, tables, containers, files."""

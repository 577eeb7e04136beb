"""What users bring: labels, categories, counts, tables, containers, files."""

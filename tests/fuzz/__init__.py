"""Hostile input for every command and every file format, held to the contract of exit statuses and files."""

"""Reading and writing of files: bytes, lines, tables, rows, named runs and saved states."""

"""Reading of files as bytes, lines, tables and named runs, and atomic writing of files."""

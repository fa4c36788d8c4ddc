"""Files as bytes, lines, tables and named runs. Files are written beside the target and renamed."""

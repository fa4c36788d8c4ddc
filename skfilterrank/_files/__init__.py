"""Files as bytes, lines, tables and named runs; all writing is beside and renamed."""

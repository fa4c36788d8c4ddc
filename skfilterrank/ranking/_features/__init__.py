"""Features of documents and their texts."""

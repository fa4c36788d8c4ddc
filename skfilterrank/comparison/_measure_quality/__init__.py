"""What a measure can tell."""

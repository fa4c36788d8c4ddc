"""The eight learning to rank methods, ready made."""

"""What every measure stands on: ranked lists, ties, and the measure table."""

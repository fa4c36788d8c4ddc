"""The best threshold of rows that come in parts, exactly."""

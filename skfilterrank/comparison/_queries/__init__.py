"""What lies behind the difference of two systems: queries and documents."""

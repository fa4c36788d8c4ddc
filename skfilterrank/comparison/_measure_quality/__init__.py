"""How well measures tell systems apart."""

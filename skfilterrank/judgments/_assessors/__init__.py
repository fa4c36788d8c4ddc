"""Several assessors, and second looks at what one of them said."""

"""Why a document stands where it does."""

"""What may be said of how runs are read; also for the command line, so that nothing is imported."""

# Topics of the judgments that are not in a run.
MISSING = ("raise", "drop", "empty")
PRECISIONS = ("double", "single")
# Order of documents with equal scores; "stable" is that of the rows.
TIES = ("docno", "average", "worst", "best", "stable")
# Positions of documents that a run does not retrieve need the size of the collection. Of any two
# rankings of a topic every size prefers the same one; one size for all keeps values comparable.
N_ITEMS = 1_000_000

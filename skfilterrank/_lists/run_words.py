"""Choices of how runs are read and compared; the command line imports nothing else for its help."""

# Topics of the judgments that are not in a run.
MISSING = ("raise", "drop", "empty")
PRECISIONS = ("double", "single")
# Order of documents with equal scores; "stable" is that of the rows.
TIES = ("docno", "average", "worst", "best", "stable")
# Positions of documents that a run does not retrieve need the size of the collection. Of any two
# rankings of a topic every size prefers the same one; one size for all keeps values comparable.
N_ITEMS = 1_000_000
# Tests of the differences between systems, and corrections of their p values.
TEST_TITLES = {
    "t": "paired t test",
    "wilcoxon": "Wilcoxon's signed rank test",
    "sign": "sign test",
    "randomization": "randomization test",
    "bootstrap": "studentized bootstrap test",
    "tukey": "Tukey's HSD",
    "randomized_tukey": "randomized HSD",
}
CORRECTION_NAMES = {
    "holm": "Holm's correction",
    "bonferroni": "Bonferroni's correction",
    "fdr_bh": "Benjamini and Hochberg's correction",
}

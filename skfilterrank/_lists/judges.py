"""The words by which judgments say who gave a label."""

# A column, the word of people's labels, and that of a machine without a name.
JUDGED_BY, PEOPLE, PREDICTED = "judged_by", "people", "predicted"


def is_of_machine(judged_by):
    """Rows of a column whose label a machine gave; where nothing stands, people judged."""
    return judged_by.notna() & (judged_by != PEOPLE)

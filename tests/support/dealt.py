"""Splits by query as the library deals them: by content, whatever queries are called."""

import numpy as np

from skfilterrank._lists.content import by_content, hash_rows
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.ranking._out_of_fold import make_splits


def numbers_of_queries(X, y, groups):
    """Number of the query of each row, in the order of content."""
    y, hashes = np.asarray(y, dtype=float), hash_rows(X)
    judged = np.where(np.isnan(y), 0, hashes)
    return by_content(GroupIndex.from_groups(groups), judged, hashes, y)[0].codes()


def dealt_splits(cv, X, y, groups):
    """Rows to learn from and to hold out, for a number of folds or a share of the queries."""
    numbers = numbers_of_queries(X, y, groups)
    return make_splits(cv, y, numbers, by_id=numbers, single=False)

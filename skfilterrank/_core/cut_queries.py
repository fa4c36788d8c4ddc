"""Queries with rows on both sides of a split, as rankers and scorers see them.

Neither is told the other side. A ranker that is fitted on a fold is remembered with the queries of
the fold until it is scored. Of an estimator of another library only what is scored is seen: in one
cross-validation a query that is never cut has all of its rows wherever it is held out.
"""

from weakref import WeakKeyDictionary, WeakSet

import numpy as np
import pandas as pd

from skfilterrank._core.inside import fitted_end
from skfilterrank._core.queries import GroupIndex
from skfilterrank._sklearn_compat import calling_cross_validation
from skfilterrank._warnings import warn_user
from skfilterrank.exceptions import DataWarning

# The queries of the fold that a ranker was fitted on.
_fitted_on: WeakKeyDictionary = WeakKeyDictionary()
# By cross-validation that runs in this process and thread.
_seen: WeakKeyDictionary = WeakKeyDictionary()


class _Seen:
    """What a cross-validation has shown."""

    def __init__(self):
        self.is_warned = False
        self.estimators = WeakSet()
        self.sizes = pd.Series(dtype=np.int64)

    def is_cut(self, estimator, scored: GroupIndex) -> bool:
        """Whether an estimator is scored on some rows of a query that has others elsewhere."""
        # It is scored on held-out rows first, and perhaps on those that it has learned from.
        if estimator in self.estimators:
            return False
        self.estimators.add(estimator)
        places = self.sizes.index.get_indexer(scored.labels)
        known = places >= 0
        if not known.all():
            new = pd.Series(scored.sizes[~known], index=scored.labels[~known])
            self.sizes = new if self.sizes.empty else pd.concat([self.sizes, new])
        return not np.array_equal(self.sizes.to_numpy()[places[known]], scored.sizes[known])


def note_queries(ranker, groups) -> None:
    """Let a ranker know the queries of the fold that it is fitted on; elsewhere there is none.

    Outside of cross-validation two sets of rows may number different queries alike.
    """
    _fitted_on.pop(ranker, None)
    if groups is not None and calling_cross_validation()[0]:
        _fitted_on[ranker] = GroupIndex.from_groups(groups)


def warn_of_cut_queries(estimator, groups) -> None:
    """Warn where a fold has some rows of a query, and other rows of it are scored.

    `groups` are query ids, or the index of them.
    """
    is_called, call = calling_cross_validation()
    if groups is None or not is_called:
        return
    seen = _Seen() if call is None else _seen.setdefault(call, _Seen())
    if seen.is_warned:
        return
    scored = groups if isinstance(groups, GroupIndex) else GroupIndex.from_groups(groups)
    end = fitted_end(estimator)
    noted = _fitted_on.get(end)
    if noted is None:
        seen.is_warned = seen.is_cut(end, scored)
    else:
        left = np.flatnonzero(np.isin(noted.query_ids, scored.query_ids))
        right = np.flatnonzero(np.isin(scored.query_ids, noted.query_ids))
        # The rows that were learned from, scored as train_score, are no other rows.
        seen.is_warned = not np.array_equal(noted.sizes[left], scored.sizes[right])
    if seen.is_warned:
        warn_user(
            "cv splits queries: some have rows on both sides of a split, so that scores are of "
            "queries that the models have seen. Split whole queries, such as by GroupKFold with "
            "groups=.",
            DataWarning,
        )

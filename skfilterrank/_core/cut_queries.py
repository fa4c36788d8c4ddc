"""Queries with rows on both sides of a split, as rankers that are fitted and scored see them."""

from weakref import WeakSet

import numpy as np

from skfilterrank._core.queries import GroupIndex
from skfilterrank._sklearn_compat import calling_cross_validation, fitted_end
from skfilterrank._warnings import warn_user
from skfilterrank.exceptions import DataWarning

_NOTED = "_queries_of_fold"
# Cross-validations that run, and are warned of.
_warned: WeakSet = WeakSet()


def note_queries(ranker, groups) -> None:
    """Let a ranker know the queries of the fold that it is fitted on; elsewhere there is none.

    Outside of cross-validation two sets of rows may number different queries alike.
    """
    vars(ranker).pop(_NOTED, None)
    if groups is not None and calling_cross_validation() is not None:
        setattr(ranker, _NOTED, GroupIndex.from_groups(groups))


def warn_of_cut_queries(estimator, groups) -> None:
    """Warn where a fold has some rows of a query, and other rows of it are scored."""
    noted: GroupIndex | None = getattr(fitted_end(estimator), _NOTED, None)
    if noted is None or groups is None:
        return
    call = calling_cross_validation()
    if call is None or call in _warned:
        return
    scored = GroupIndex.from_groups(groups)
    left = np.flatnonzero(np.isin(noted.query_ids, scored.query_ids))
    right = np.flatnonzero(np.isin(scored.query_ids, noted.query_ids))
    # The rows that were learned from, scored as train_score, are no other rows.
    if not np.array_equal(noted.sizes[left], scored.sizes[right]):
        _warned.add(call)
        warn_user(
            "cv splits queries: some have rows on both sides of a split, so that scores are of "
            "queries that the models have seen. Split whole queries, such as by GroupKFold with "
            "groups=.",
            DataWarning,
        )

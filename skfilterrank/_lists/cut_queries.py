"""Detection of queries that a cross-validation has split between training and test rows.

Rankers and scorers see one side of a split only. A ranker remembers the queries that it was fitted
on until it is scored. Other libraries' estimators remember nothing. A scorer then compares the
scored rows of a query between folds: a query that was not split has the same rows in each.
"""

from weakref import WeakKeyDictionary, WeakSet

import numpy as np
import pandas as pd

from skfilterrank._lists.queries import GroupIndex, query_ids_of_index
from skfilterrank._lists.sklearn_compat import calling_cross_validation, fitted_end, rows_of_callers
from skfilterrank._lists.words import warn_user
from skfilterrank.exceptions import DataWarning

# Queries of the fold that each ranker was fitted on.
_fitted_on: WeakKeyDictionary = WeakKeyDictionary()
# Hashes of the queries that each ranker was fitted on. They are not stored in the ranker.
_documents_of: WeakKeyDictionary = WeakKeyDictionary()
# Number of columns that are hashed.
_N_COLUMNS = 8
# Constants of the hash, which mixes bits like splitmix64.
_HASHED_AT_ONCE, _HALF, _ODD = 1 << 13, np.uint64(32), np.uint64(0xBF58476D1CE4E5B9)
# Data on each cross-validation that runs in this process and thread.
_seen: WeakKeyDictionary = WeakKeyDictionary()


class _Seen:
    """The queries and estimators that one cross-validation has used so far."""

    def __init__(self):
        self.is_warned = False
        self.estimators = WeakSet()
        self.sizes = pd.Series(dtype=np.int64)
        self._numbered = {}

    def numbered(self, index) -> tuple[GroupIndex, np.ndarray]:
        """Return the queries of an index, and the query number of each row; cached."""
        # The index is kept alive, so that no other object gets its id().
        if id(index) not in self._numbered:
            whole = GroupIndex.from_groups(query_ids_of_index(index))
            self._numbered[id(index)] = index, whole, whole.codes()
        return self._numbered[id(index)][1:]

    def is_cut(self, estimator, scored: GroupIndex) -> bool:
        """Tell if a query of the scored rows has another number of rows in an earlier fold."""
        # Only the first call is on held-out rows; a second one may be on the training rows.
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
    """Remember the queries that a ranker is fitted on, if a cross-validation is running.

    Outside of cross-validation, different queries of two data sets may have the same ids.
    """
    _fitted_on.pop(ranker, None)
    if groups is not None and calling_cross_validation()[0]:
        _fitted_on[ranker] = GroupIndex.from_groups(groups)


def note_documents(ranker, X, groups) -> None:
    """Remember the documents of the queries that a ranker is fitted on, as long as it exists."""
    _documents_of.pop(ranker, None)
    found = _fingerprints(X, groups)
    if found is not None:
        _documents_of[ranker] = found


def count_known_queries(rankers, X, groups) -> int:
    """Count the queries whose documents are all among the training rows of one of the rankers."""
    known = [_documents_of[ranker] for ranker in rankers if ranker in _documents_of]
    found = _fingerprints(X, groups) if known else None
    return 0 if found is None else int(np.isin(found, np.concatenate(known)).sum())


def _fingerprints(X, groups):
    """Return a hash of each query's documents; None if X has no columns of numbers."""
    is_table = isinstance(X, pd.DataFrame) or (isinstance(X, np.ndarray) and X.ndim == 2)
    if groups is None or not is_table or not len(X):
        return None
    ids = np.asarray(groups)
    if ids.shape != (len(X),):
        return None
    # The first columns of numbers are enough, and the others are not copied.
    if isinstance(X, np.ndarray):
        values = X[:, :_N_COLUMNS] if X.dtype.kind in "iuf" else X[:, :0]
    else:
        others = ("timedelta", "complexfloating")
        kinds = X.iloc[:0].select_dtypes("number", exclude=others).dtypes.tolist()
        numbers = [place for place, dtype in enumerate(X.dtypes) if dtype in kinds][:_N_COLUMNS]
        values = X.iloc[:, numbers].to_numpy(dtype=np.float64, na_value=np.nan)
    if not values.shape[1]:
        return None
    # Ids are not hashed, because another table may give the same query another id.
    return GroupIndex.from_groups(ids).sums(_hashes_of_rows(values))


def _hashes_of_rows(values):
    """Hash the numbers of each row, in blocks of rows that fit the cache."""
    hashes = np.zeros(len(values), dtype=np.uint64)
    for begin in range(0, len(values), _HASHED_AT_ONCE):
        mixed = hashes[begin : begin + _HASHED_AT_ONCE]
        # Hash column by column. Adding 0.0 makes -0.0 and 0.0 equal.
        bits = np.add(values[begin : begin + _HASHED_AT_ONCE].T, 0.0, dtype=np.float64, order="C")
        for column in bits.view(np.uint64):
            mixed ^= column
            mixed ^= mixed >> _HALF
            mixed *= _ODD
        # Mix once more at the end, because the hashes of a query's rows are added up.
        mixed ^= mixed >> _HALF
        mixed *= _ODD
        mixed ^= mixed >> _HALF
    return hashes


def warn_of_cut_queries(estimator, groups, *carriers) -> None:
    """Warn if a cross-validation splits the rows of a query.

    `groups` are the query ids of the scored rows, or their `GroupIndex`. `carriers` are the scored
    rows themselves. If their index holds the ids, they are compared with the rows that
    scikit-learn's calling functions hold.
    """
    is_called, call = calling_cross_validation()
    if groups is None or not is_called:
        return
    seen = _Seen() if call is None else _seen.setdefault(call, _Seen())
    if seen.is_warned:
        return
    scored = groups if isinstance(groups, GroupIndex) else GroupIndex.from_groups(groups)
    end = fitted_end(estimator)
    is_split, is_drawn = False, False
    if _held(*carriers) is not None:
        is_split, is_drawn = _compared_with_all(scored, seen)
    noted = _fitted_on.get(end)
    if is_split:
        pass
    elif noted is None:
        is_split = seen.is_cut(end, scored)
    else:
        left = np.flatnonzero(np.isin(noted.query_ids, scored.query_ids))
        right = np.flatnonzero(np.isin(scored.query_ids, noted.query_ids))
        # Scoring the training rows (train_score) gives the same sizes, and no warning.
        is_split = not np.array_equal(noted.sizes[left], scored.sizes[right])
    seen.is_warned = is_split or is_drawn
    if is_split:
        warn_user(
            "cv splits queries: some have rows on both sides of a split, so that models are "
            "scored on queries that they were fitted on. Split whole queries, such as by "
            "GroupKFold with "
            "groups=.",
            DataWarning,
        )
    elif is_drawn:
        warn_user(
            "rows are drawn instead of queries, so that models are fitted or scored on parts of "
            "lists. Draw whole queries, and do not use HalvingGridSearchCV(resource='n_samples'), "
            "permutation_importance(max_samples=) or a learning curve over rows.",
            DataWarning,
        )


def _held(*carriers):
    """Return the index of the first carrier whose index holds query ids, or None."""
    return next((each.index for each in carriers if query_ids_of_index(each) is not None), None)


def _compared_with_all(scored, seen):
    """Tell if a split has some query on both sides, and if queries have only a part of their rows.

    A single incomplete query does not count: a slice of rows may end within a query.
    """
    found = learned = None
    for X, y, train, test in rows_of_callers():
        index = _held(y, X)
        if index is None or len(index) < scored.n_rows:
            continue
        whole, codes = seen.numbered(index)
        if found is None or len(codes) > found.n_rows:
            found = whole
        if train is not None:
            sizes = np.bincount(codes[train], minlength=whole.n_queries)
            if test is not None and sizes[codes[test]].any():
                return True, False
            if learned is None:
                learned = whole.query_ids[sizes > 0], sizes[sizes > 0]
    if found is None:
        return False, False
    n_cut = _n_cut(scored.labels, scored.sizes, found)
    if learned is not None:
        n_cut = max(n_cut, _n_cut(*learned, found))
    return False, n_cut > 1


def _n_cut(ids, sizes, whole):
    """Count the queries that have more rows in `whole` than in `sizes`."""
    places = whole.labels.get_indexer(ids)
    known = places >= 0
    return int(np.count_nonzero(sizes[known] < whole.sizes[places[known]]))

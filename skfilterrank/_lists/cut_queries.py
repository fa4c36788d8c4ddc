"""Detection of queries that an estimator was fitted on, where other rows of them are scored.

A fitted estimator keeps the sizes of its queries. They show if rows were split without regard to
queries: queries of `fit` come back with fewer rows.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import chdtr

from skfilterrank._base.checks import as_column, no_unicode
from skfilterrank._base.words import warn_user
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.exceptions import DataWarning

# Fewest queries with another size for a warning, and largest ratio of the rows of shared queries
# here to those in `fit`: where labels are scored, and where documents are served.
_FEWEST_JUDGED, _FEWEST_SERVED = 2, 10
_MOST_JUDGED, _MOST_SERVED = 1.1, 0.5
# Queries that a split of sorted rows cuts are few: at most this share of the queries of each side.
_FEW = 0.25
# Ranges of the test's probability, and of its statistic over the expected one, in which sizes
# differ by chance. Short lists on one side alone are not shared, so that the others differ less.
_BY_CHANCE, _NEARLY = (0.001, 0.999), (0.25, 1.5)
# Mean number of rows, here and in `fit` together, up to which sizes tell little.
_SHORT = 8
# Highest correlation of the sizes here and in `fit`, times the root of their number, that shows
# parts of one list; and the largest ratio of rows here to rows in `fit`.
_OPPOSITE, _MOST_OPPOSITE = -2.5, 1.5
_is_unwatched: ContextVar[bool] = ContextVar("_is_unwatched", default=False)


class QuerySizes(NamedTuple):
    """Number of rows of each query; a query is told by a hash of its id.

    Attributes
    ----------
    hashes : ndarray of shape (n_queries,), dtype int64
        Hashes of the ids.
    sizes : ndarray of shape (n_queries,), dtype int32
        Numbers of rows.
    """

    hashes: np.ndarray
    sizes: np.ndarray

    @classmethod
    def of(cls, index: GroupIndex) -> "QuerySizes":
        """Return the sizes of the queries of an index."""
        # pandas takes long to make an index of texts.
        are_texts = index.query_ids.dtype == object and isinstance(index.query_ids[0], str)
        ids = index.query_ids if are_texts else index.labels.to_numpy()
        try:
            # Distinct ids need no categories.
            hashes = pd.util.hash_array(ids, categorize=False).view(np.int64)
        except UnicodeEncodeError as error:
            raise no_unicode("groups", error) from None
        return cls(hashes, index.sizes.astype(np.int32))

    def is_split_from(self, fitted: "QuerySizes", *, is_judged: bool) -> bool:
        """Tell if these rows and those of `fitted` look like a split that divides queries.

        The sizes of shared queries decide, which both have. Those with a single row here and there
        tell nothing, unless all shared ones are such, and too many to be so by chance. Of the
        others, at least a third must have another size here, and at least 2 if `is_judged`, else
        10. Then one of three conditions must hold:

        - At most a quarter of the queries of each side are shared, as where sorted rows are cut in
          some places. Unless `is_judged`, such rows count as no split, whatever else holds.
        - The more rows a query has here, the fewer it has in `fitted`, and there are few more here.
        - The shared queries have hardly more rows here than in `fitted` (at most half as many
          unless `is_judged`). The shares of rows that are here differ between queries as they do by
          chance (chi-squared test of homogeneity). Lists of a later day are whole, or all cut at
          one length, and lists of other queries have unrelated sizes. Where labels of short lists
          are scored, there may be more rows here, and the shares may differ less.
        """
        _, here, there = np.intersect1d(
            self.hashes, fitted.hashes, assume_unique=True, return_indices=True
        )
        seen, known = (each.astype(np.float64) for each in (self.sizes[here], fitted.sizes[there]))
        fewest = _FEWEST_JUDGED if is_judged else _FEWEST_SERVED
        # A query of one row here and there may be the same row.
        n_shared, is_single = len(seen), (seen == 1) & (known == 1)
        if is_single.all():
            by_chance = np.mean(fitted.sizes == 1) ** n_shared
            return n_shared >= fewest and by_chance < _BY_CHANCE[0] and self.sizes.max() > 1
        n_other = np.count_nonzero(seen != known)
        if n_other < fewest or 3 * n_other < n_shared - np.count_nonzero(is_single):
            return False
        if n_shared <= _FEW * min(len(self.hashes), len(fitted.hashes)):
            return is_judged
        ratio = seen.sum() / known.sum()
        if seen.std() and known.std():
            related = np.corrcoef(seen, known)[0, 1] * np.sqrt(n_shared)
            if related < _OPPOSITE and ratio <= _MOST_OPPOSITE:
                return True
        # Sizes of short lists tell little: where labels are scored, parts of them are assumed.
        is_short = is_judged and (seen + known).mean() <= _SHORT
        if ratio > (_MOST_JUDGED if is_judged else _MOST_SERVED) and not is_short:
            return False
        share = seen.sum() / (seen + known).sum()
        expected = share * (seen + known)
        statistic = ((seen - expected) ** 2 / (expected * (1 - share))).sum()
        ways = ((chdtr(n_shared - 1, statistic), _BY_CHANCE), (statistic / n_shared, _NEARLY))
        return any((low <= value or is_short) and value <= high for value, (low, high) in ways)


@contextmanager
def unwatched() -> Iterator[None]:
    """Keep estimators inside another one from comparing queries once more."""
    token = _is_unwatched.set(True)
    try:
        yield
    finally:
        _is_unwatched.reset(token)


def warn_of_cut_queries(estimator, groups, *, is_judged: bool = False) -> None:
    """Warn if queries that an estimator was fitted on come back with some of their rows.

    `groups` are the query ids of the rows to score, or their `GroupIndex`; `is_judged` tells that
    the rows are compared with labels.
    """
    fitted = getattr(estimator, "_fitted_sizes", None)
    if fitted is None or groups is None or _is_unwatched.get():
        return
    if not isinstance(groups, GroupIndex):
        ids = np.asarray(as_column(groups, "groups", "query id"))
        if not len(ids):
            return
        # Most requests that are served are of one query.
        if ids.dtype != object and (ids == ids[0]).all():
            return
        groups = GroupIndex.from_groups(ids)
    if groups.n_queries < (_FEWEST_JUDGED if is_judged else _FEWEST_SERVED):
        return
    if QuerySizes.of(groups).is_split_from(fitted, is_judged=is_judged):
        warn_user(
            "queries are split: the model was fitted on other rows of many of these queries, so "
            "that scores and measures are too good. Split whole queries{, such as by GroupKFold or "
            "GroupShuffleSplit with groups=}, or give other queries other ids.",
            DataWarning,
            argument=", such as by GroupKFold or GroupShuffleSplit with groups=",
        )


def note_documents(ranker, documents: np.ndarray | None) -> None:
    """Store a hash of the documents of each query of `fit`.

    Ids are not hashed, because another table may give the same query another id.
    """
    ranker._fitted_documents = documents


def count_known_queries(rankers, documents: np.ndarray) -> int:
    """Count the queries that one of the rankers was fitted on, by hashes of their documents."""
    noted = (getattr(ranker, "_fitted_documents", None) for ranker in rankers)
    known = [each for each in noted if each is not None]
    return int(np.isin(documents, np.concatenate(known)).sum()) if known else 0

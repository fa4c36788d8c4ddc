"""Scores of judged rows for fitting thresholds, and measures of shown rows."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from skfilterrank._base.checks import as_column, check_level_scores, check_numbers, refuse_lazy
from skfilterrank._base.words import counted, warn_user
from skfilterrank._estimators.responses import column_labels
from skfilterrank._files.rows import Rows
from skfilterrank._lists.content import (
    by_content,
    distinct_numbers,
    hash_rows,
    hash_scores,
    query_folds,
)
from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.measure import ParsedMeasure
from skfilterrank._lists.queries import GroupIndex, check_groups
from skfilterrank._lists.scoring import mean_and_error, mean_over_queries, with_undefined
from skfilterrank.exceptions import DataWarning, FitWarning, InputError, brief, brief_list

# Number of folds by query for choosing levels and for out-of-fold predictions.
N_FOLDS = 5
# Number of queries that suffice for a comparison: more would hardly change its standard errors.
ENOUGH_QUERIES = 10_000
# Labels of more values than this are probably scores, if scores have at most as many.
_MANY_LABELS = 50
# Quantiles that bound the usual list sizes.
_USUAL = (0.05, 0.95)
SCORE, FILTER_SCORE = "score", "filter_score"
# Smallest number of rows, and smallest share of clusters, for learning a certificate's curves.
_LEARNED_ROWS, _LEAST_LEARNED = 1000, 0.1
# Largest negative margin, and the finite score that replaces a larger one.
_TINY = float(np.finfo(np.float64).tiny)
HUGE = float(np.finfo(np.float64).max) / 4
# Scores have an ordinary scale if the largest absolute score is in this range.
_ORDINARY = (2.0**-20, 2.0**100)


@dataclass(eq=False)
class JudgedScores:
    """Scores of judged rows on which a threshold is fitted.

    Attributes
    ----------
    lists : RankedLists
        Gains, NaN where unjudged, scores, queries and their weights.
    clusters : ndarray of shape (n_lists,), int
        Cluster number of each list. Lists of one cluster, such as a query that was held out twice,
        are never on both sides of a split.
    more : ndarray of shape (n_rows, n_more)
        Other columns of the scores, such as a second score.
    more_names : list
        Names of these columns.
    folds : ndarray of shape (n_lists,), int, or None
        The fold of cross-validation that each list was held out in.
    names : tuple of two ndarrays, or None
        Query id and row number of each row in the caller's data.
    unit : str or None
        Name of a cluster, such as "user"; None where no clusters were given.
    watches_scale : bool
        True if later scores must be on the scale of these.
    are_gains : bool
        True if the scores are expected gains.
    """

    lists: RankedLists
    clusters: np.ndarray
    more: np.ndarray
    more_names: list
    folds: np.ndarray | None = None
    names: tuple[np.ndarray, np.ndarray] | None = None
    unit: str | None = None
    watches_scale: bool = True
    are_gains: bool = False

    @property
    def gains(self) -> np.ndarray:
        """Gain of each row, NaN where unjudged."""
        return self.lists.gains

    @property
    def scores(self) -> np.ndarray:
        """Score of each row."""
        return self.lists.scores

    @property
    def index(self):
        """The queries."""
        return self.lists.index

    @property
    def two_scores(self) -> tuple[np.ndarray, np.ndarray, GroupIndex]:
        """Score and second score of each row, and the queries."""
        return self.scores, self.more[:, 0], self.index

    @cached_property
    def codes(self) -> np.ndarray:
        """Number of the list of each row."""
        return self.index.codes()

    def take(self, rows: np.ndarray) -> "JudgedScores":
        """Take the rows of some lists, or all rows, in any order."""
        lists = self.lists.replace(gains=self.gains[rows], scores=self.scores[rows])
        clusters, folds, weights = self.clusters, self.folds, self.lists.weights
        codes = self.codes[rows]
        if len(rows) < len(self.gains) or (codes != self.codes).any():
            index = GroupIndex.from_groups(codes)
            kept = index.query_ids
            clusters, folds = clusters[kept], None if folds is None else folds[kept]
            weights = None if weights is None else weights[kept]
            lists = lists.replace(index=index, weights=weights)
        return replace(
            self,
            lists=lists,
            clusters=clusters,
            more=self.more[rows],
            folds=folds,
            names=None if self.names is None else tuple(each[rows] for each in self.names),
        )

    def enough_rows(self) -> np.ndarray | None:
        """Return the rows of as many lists as a comparison needs; None if these are all."""
        if self.index.n_queries <= ENOUGH_QUERIES:
            return None
        return np.flatnonzero(self.codes < ENOUGH_QUERIES)

    def by_content(self) -> "JudgedScores":
        """Number lists and clusters in an order that their scores and labels decide, not ids."""
        codes, judged, weights = self.codes, ~np.isnan(self.gains), self.lists.weights
        every, scores = np.ones(len(codes), dtype=bool), (self.scores, *self.more.T)
        content = [hash_scores(judged, *scores), self.gains]
        if not judged.all():
            content.insert(1, hash_scores(every, *scores))
        if weights is not None:
            content.append(weights[codes])
        index, order = by_content(self.index, *content)
        weights = None if weights is None else weights[order]
        clusters = np.arange(len(order))
        if len(distinct_numbers(self.clusters)) < len(order):
            clusters = clusters_by_content(self.clusters, self.index, *content)[order]
        return replace(
            self,
            lists=self.lists.replace(index=index, weights=weights),
            clusters=clusters,
            folds=None if self.folds is None else self.folds[order],
        )

    def in_order(self) -> "JudgedScores":
        """Sort the rows: query by query, best scores first, of tied rows the worst first."""
        gains, unjudged = np.nan_to_num(self.gains), np.isnan(self.gains)
        return self.take(np.lexsort((*self.more.T, unjudged, gains, -self.scores, self.codes)))

    def deal_folds(self, n_folds: int = N_FOLDS, seed: int = 0) -> tuple[np.ndarray, int]:
        """Assign clusters to folds; return the fold of each list, and the number of folds."""
        n_folds = min(n_folds, len(distinct_numbers(self.clusters)))
        return query_folds(self.clusters, n_folds, seed), n_folds

    def split(self) -> tuple[np.ndarray, np.ndarray]:
        """Split rows by cluster: one part to learn from, the other to certify on.

        Clusters are numbered in a random order, and the first are learned from: a tenth of them, or
        up to a half if a tenth has fewer than 1,000 rows.
        """
        clusters = distinct_numbers(self.clusters)
        if len(clusters) < 2:
            raise InputError(
                "scores are of one query, but a certificate of two scores learns from some queries "
                "and certifies on others. Pass more queries."
            )
        share = min(max(_LEARNED_ROWS / len(self.codes), _LEAST_LEARNED), 0.5)
        n_learned = max(int(share * len(clusters)), 1)
        is_learned = np.isin(self.clusters, clusters[:n_learned])[self.codes]
        return np.flatnonzero(is_learned), np.flatnonzero(~is_learned)

    def by_cluster(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Average the values of lists within each cluster, as :func:`cluster_means` does."""
        return cluster_means(values, self.clusters, self.lists.weights)

    def fold_rows(self, n_folds: int = N_FOLDS, seed: int = 0):
        """Yield training and test rows of each fold; they share no cluster."""
        of_list, n_folds = self.deal_folds(n_folds, seed)
        of_row = of_list[self.codes]
        for number in range(n_folds if n_folds > 1 else 0):
            yield np.flatnonzero(of_row != number), np.flatnonzero(of_row == number)


def clusters_by_content(clusters, index: GroupIndex, hashes, *labels) -> np.ndarray:
    """Number clusters by content; `clusters` are those of the lists of the index."""
    codes = index.codes()
    of_list = index.sums(hash_rows(hashes, *labels))
    # Copies of a query in its cluster do not count.
    kept = ~pd.DataFrame({"cluster": clusters, "hash": of_list}).duplicated().to_numpy()[codes]
    of_clusters = GroupIndex.from_groups(clusters[codes][kept])
    _, order = by_content(of_clusters, *(each[kept] for each in (hashes, *labels)))
    return np.argsort(order)[np.searchsorted(of_clusters.query_ids, clusters)]


def cluster_means(
    values: np.ndarray, clusters: np.ndarray, weights: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray | None]:
    """Average the values of lists within each cluster; return the summed weights, too.

    The mean of clusters by these weights is the mean of lists. Clusters of weight 0 are left out.
    Instead of equal weights, None is returned.
    """
    weights = np.ones(len(values)) if weights is None else weights
    sums = np.bincount(clusters, weights)
    kept = sums > 0
    means, sums = np.bincount(clusters, weights * values)[kept] / sums[kept], sums[kept]
    return means, None if np.ptp(sums) == 0 else sums


def mean_of_clusters(means: np.ndarray, weights=None) -> tuple[float, float, float]:
    """Return the mean of cluster means, its standard error, and the effective number of clusters.

    `weights` are those of :func:`cluster_means`. A cluster of much weight pulls the mean towards
    itself. So its squared deviation is divided by the share of its variance that is left: 1 minus
    its share h of the weight if variances fall with the weight (the correction CR2 of Bell and
    McCaffrey, 2002), and 1 - 2 h + the sum of all squared shares if they are equal, whichever is
    less. Clusters count as their effective number, at least 2. The error of a single cluster is
    NaN.
    """
    if len(means) < 2:
        return float(means.sum()), np.nan, len(means)
    if weights is None or np.ptp(means) == 0:
        return mean_and_error(means)
    total = weights.sum()
    mean = mean_over_queries(means, weights)
    shares = weights / total
    others = np.maximum(np.square(shares).sum() - np.square(shares), 0.0)
    with np.errstate(invalid="ignore"):
        left = np.minimum(1.0 - shares, (1.0 - shares) ** 2 + others)
        squares = (weights * (means - mean)) ** 2 / left
    n_effective = max(effective_number(weights), 2.0)
    return mean, float(np.sqrt(squares.sum()) / total), n_effective


def effective_number(weights) -> float:
    """Return the effective number of equal weights for a mean, given weights or list sizes."""
    weights = np.asarray(weights, dtype=np.float64)
    return float(weights.sum() ** 2 / np.square(weights).sum()) if weights.any() else 0.0


def unit_of(scores: np.ndarray) -> float:
    """Return the power of two that scales extreme scores to a magnitude of about 1.

    Squares of extreme scores overflow or underflow, and some libraries treat small differences as
    zero. The factor is 1 for scores of an ordinary scale. A power of two causes no rounding.
    """
    largest = float(np.abs(scores[np.isfinite(scores)]).max(initial=0.0))
    if not largest or _ORDINARY[0] < largest < _ORDINARY[1]:
        return 1.0
    return float(np.ldexp(1.0, min(-int(np.frexp(largest)[1]), 1000)))


def read_scores(
    owner: str, scores, n_more: int | None = 0, wanted: list | None = None
) -> tuple[np.ndarray, np.ndarray, list]:
    """Read the score of each row, and other columns with their names.

    `owner` is the name of the threshold's class. `n_more` is the largest number of other columns;
    None means any. Of these, only the `wanted` ones are read; None means all.
    """
    if isinstance(scores, Rows):
        raise InputError(
            "scores are Rows, which a threshold cannot return scores or places for. Pass arrays "
            "of whole lists, some at a time."
        )
    refuse_lazy(scores, "scores")
    column, others, names = (
        _split_columns(scores, n_more, owner)
        if getattr(scores, "columns", None) is None
        else _columns_of_table(scores, n_more, wanted)
    )
    column = check_level_scores(column, name="scores")
    if column.dtype == bool:
        column = column.astype(np.float64)
    if wanted is not None:
        others = [own for name, own in zip(names, others) if name in wanted]
        names = [name for name in names if name in wanted]
    more = np.empty((len(column), len(others)))
    for place, (name, own) in enumerate(zip(names, others)):
        more[:, place] = (
            _feature(own, name) if n_more is None else check_level_scores(own, name=str(name))
        )
    return column, more, names


def _feature(column, name) -> np.ndarray:
    """Check one number per row, in a column that is no score."""
    name = f"column {brief(name)} of scores"
    advice = "Fill or convert it, or choose columns of numbers."
    try:
        found = check_numbers(column, name, entry="feature")
    except InputError as error:
        raise InputError(f"{error} {advice}") from error
    is_bad = np.isnan(found) | (found == np.inf)
    if is_bad.any():
        raise InputError(
            f"{name} holds {is_bad.sum()} NaN or +inf, the first at row {is_bad.argmax()}: a "
            f"feature must be a number. {advice}"
        )
    return found


def _columns_of_table(scores, n_more, wanted) -> tuple[object, list, list]:
    """Return the column of scores of a table, and the other columns with their names."""
    if not isinstance(scores, pd.DataFrame):
        labels = column_labels(scores)
        scores = pd.DataFrame({label: as_column(scores[label], "scores") for label in labels})
    found = list(scores.columns)
    if not {SCORE, FILTER_SCORE} & {*found}:
        # Names count in any case, as in files.
        small = {str(each).lower(): each for each in found}
        known = {small[name]: name for name in (SCORE, FILTER_SCORE) if name in small}
        scores = scores.rename(columns=known)
        found = list(scores.columns)
    own = _column_of_score(found, wanted if n_more is None else None)
    names = [each for each in found if each != own]
    if own == SCORE and n_more is not None:
        is_other = n_more and len(names) == 1 and names != [FILTER_SCORE]
        if is_other and is_numeric_dtype(scores[names[0]]):
            raise InputError(
                f"scores has a column {brief(names[0])} beside {SCORE!r}. Name it "
                f"{FILTER_SCORE!r} if it is a second score, or leave it out."
            )
        names = [FILTER_SCORE] if n_more and FILTER_SCORE in found else []
    if own is None or (n_more is not None and len(names) > n_more):
        raise InputError(
            f"scores must have one column, or one named {SCORE!r}, got the columns "
            f"{brief_list(found)}. Name the column of the score {SCORE!r} and that of a second "
            f"score {FILTER_SCORE!r}, or put a model that learns from features into "
            "RankAndFilter."
        )
    return scores[own], [scores[each] for each in names], names


def _column_of_score(found, wanted):
    """Return the name of the column of the score; None without columns."""
    if found.count(SCORE) == 1:
        return SCORE
    if wanted is not None:
        outside = [each for each in found if each not in wanted]
        if len(outside) != 1:
            raise InputError(
                f"scores has no column {SCORE!r}, and besides {brief_list(wanted)} "
                f"{counted(len(outside), 'column')}: {brief_list(outside)}. Name the column of "
                f"the score {SCORE!r}."
            )
        return outside[0]
    is_second = len(found) == 2 and found[0] == FILTER_SCORE
    return found[1 if is_second else 0] if found else None


def _split_columns(scores, n_more, owner) -> tuple[object, list, list]:
    """Return the first column of an array, and the other columns with names."""
    shape: tuple[int, ...] | None = getattr(scores, "shape", None)
    if shape is None and not hasattr(scores, "__array__"):
        try:
            shape = np.shape(scores)
        except ValueError:
            shape = ()
    if shape is None or len(shape) != 2:
        return scores, [], []
    if n_more == 0 and shape[1] == 2:
        raise InputError(
            f"scores has two columns, but {owner} reads one score. Use a TunedThreshold or a "
            "CertifiedThreshold, or give the column of the score."
        )
    if not 1 <= shape[1] <= 1 + (n_more or 0):
        raise InputError(
            f"scores must have shape (n_rows,) or (n_rows, 1), got {brief(tuple(shape))}. Give "
            "the column of the score, or put a model that learns from features into RankAndFilter."
        )
    array = scores.toarray() if hasattr(scores, "toarray") else np.asarray(scores)
    return array[:, 0], list(array[:, 1:].T), [FILTER_SCORE] * (shape[1] - 1)


def number_clusters(clusters, index) -> np.ndarray:
    """Number the cluster of each list by its id."""
    if clusters is None:
        return np.arange(index.n_queries)
    numbers = check_groups(clusters, n_rows=index.n_rows, name="clusters").codes()
    first = np.full(index.n_queries, -1)
    codes = index.codes()
    first[codes] = numbers
    if (first[codes] != numbers).any():
        row = int((first[codes] != numbers).argmax())
        query = index.query_ids[codes[row]]
        raise InputError(
            f"clusters has several clusters for query {brief(query)}: give each query one cluster."
        )
    return first


def name_unit(clusters) -> str | None:
    """Return the name of a cluster: the column's name or "cluster"; None without clusters."""
    name = getattr(clusters, "name", None)
    return None if clusters is None else name if isinstance(name, str) and name else "cluster"


def usual_sizes(sizes: np.ndarray) -> np.ndarray:
    """Return the range of usual list sizes (5 to 95 %); NaN without lists."""
    return np.quantile(sizes, _USUAL) if len(sizes) else np.full(2, np.nan)


def scored_sizes(scores, index):
    """Count the documents of each list, without rows at -inf, which were not retrieved."""
    is_scored = scores > -np.inf
    if is_scored.all():
        return index.sizes.astype(np.float64)
    sizes = np.bincount(index.codes(), is_scored, index.n_queries)
    return sizes[sizes > 0]


def values_shown(lists: RankedLists, parsed: ParsedMeasure, *shown: np.ndarray) -> list[np.ndarray]:
    """Measure each query for each mask of shown rows; higher is better.

    Instead of a mask, scores that order the rows can be given; equal scores keep their order.
    """
    entry = parsed.measure
    kernel = entry.bind(parsed.k, parsed.options)
    found = [np.empty(lists.index.n_queries) for _ in shown]
    # A block is built once for all masks.
    for block in lists.with_ties(entry.ties[0]).blocks():
        for values, rows in zip(found, shown):
            values[block.queries] = kernel(_block_shown(block, lists.index, rows, entry.ties[0]))
    return [parsed.higher_better(with_undefined(values, 0.0)) for values in found]


def _block_shown(block, index, shown, ties):
    """Return a block's lists with only some rows shown."""
    if shown.dtype != bool:
        return block.relisted(-index.take(shown, block.layout, -np.inf), "stable")
    is_shown = index.take(shown, block.layout, False)
    ordered = block.in_order(is_shown)
    # If lists are only cut, shown documents keep their places.
    is_cut = (ordered[:, 1:] <= ordered[:, :-1]).all()
    return block.relisted(np.where(is_shown, block.sort_key, np.inf), None if is_cut else ties)


def warn_without_good(gains: np.ndarray) -> None:
    """Warn if some labels are forbidden and none is good, so that hiding all is best."""
    if (gains < 0).any() and not (gains > 0).any():
        remedy, named = "Check the labels and {gains=}.", "gains="
        if (gains == 0).any():
            named = "gains={0: 1, -1: -1}"
            remedy = f"If 0 is a good label, map it to a gain above 0, such as by {{{named}}}."
        warn_user(
            "no label has a gain above 0 and some are below, so that showing nothing is best. "
            f"{remedy}",
            FitWarning,
            argument=named,
        )


def warn_if_swapped(gains, scores, names=("y_true", "y_score"), order="labels, then scores"):
    """Warn if labels look like scores, and scores like labels."""
    # The first rows usually suffice to see that there are many scores.
    if len(np.unique(scores[: 2 * _MANY_LABELS])) > _MANY_LABELS:
        return
    n_labels, n_scores = (len(np.unique(each)) for each in (gains, scores))
    if n_scores <= _MANY_LABELS < n_labels:
        warn_user(
            f"{names[0]} has {n_labels} values and {names[1]} {n_scores}. If they are swapped: the "
            f"order is {order}.",
            DataWarning,
        )


def warn_without_forbidden(gains: np.ndarray, measure: ParsedMeasure) -> None:
    """Warn if nothing is forbidden, and only forbidden documents lower the measure."""
    if measure.measure.about == "both" and (gains > 0).any() and not (gains < 0).any():
        warn_user(
            f"no label has a gain below 0, so that nothing is forbidden, and showing everything is "
            f"best by {measure.text}. If a label must not be shown, give it a gain below 0, such "
            "as by {gains={0: -1}}.",
            FitWarning,
            argument="gains={0: -1}",
        )


def margins_of(scores: np.ndarray, thresholds: np.ndarray, shown: np.ndarray) -> np.ndarray:
    """Subtract thresholds from scores: finite margins, at least 0 exactly for shown rows."""
    scores = np.clip(np.asarray(scores, dtype=np.float64), -HUGE, HUGE)
    is_infinite = np.isinf(thresholds)
    margins = scores - np.where(is_infinite, 0.0, thresholds)
    if is_infinite.any():
        squeezed = 0.5 + 0.5 * scores / (1.0 + np.abs(scores))
        squeezed = np.where(thresholds > 0, np.minimum(squeezed - 1.0, -_TINY), squeezed)
        margins = np.where(is_infinite, squeezed, margins)
    # A cap can show some documents of equal score and hide others.
    return np.where(shown, margins, np.minimum(margins, -_TINY))

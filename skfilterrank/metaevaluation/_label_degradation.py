"""Ties and preferences of measures when labels of relevant documents are removed."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from joblib import delayed

from skfilterrank._base.checks import check_choice, check_count, check_each, check_number
from skfilterrank._base.results import Result
from skfilterrank._base.system_pairs import seeds_of
from skfilterrank._base.words import (
    MISSING,
    collecting_warnings,
    counted,
    in_parallel,
    repeat_warnings,
)
from skfilterrank._files.forms import errors_of, for_any_process, named_runs
from skfilterrank._lists.gains import as_gains, refuse_sample
from skfilterrank._lists.measure import warn_of_forbidden
from skfilterrank._lists.measure_names import parse_measures
from skfilterrank.comparison import score_systems
from skfilterrank.exceptions import InputError
from skfilterrank.io import AlignedRun, align, index_of_qrels
from skfilterrank.metaevaluation._agreement import count_signs, share_of
from skfilterrank.metaevaluation._judged_pool import lacking_queries

SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
SAMPLING = ("uniform", "frequency")
_STATISTICS = ("fraction_tied", "agreement", "kept")


@dataclass(frozen=True, eq=False, repr=False)
class LabelDegradation(Result):
    """Ties and preferences by share of removed labels, from :func:`label_degradation`."""

    measures: tuple[str, ...]
    shares: np.ndarray
    fraction_tied: np.ndarray
    agreement: np.ndarray
    kept: np.ndarray
    n_relevant: int
    n_removed: np.ndarray
    sampling: str
    systems: tuple[str, ...]
    queries: tuple[str, ...]
    dropped_queries: tuple[str, ...]

    _digits = 3

    def to_frame(self) -> pd.DataFrame:
        """Return one row per measure and share, with means and standard deviations over samples.

        Its columns are "measure", "share", "n_removed", and the means "fraction_tied", "agreement"
        and "kept". The standard deviations have the suffix "_std", and are NaN for a single sample.
        Samples without any preference are left out of the mean agreement.
        """
        n_measures, n_shares, _ = self.fraction_tied.shape
        columns: dict[str, Any] = {
            "measure": np.repeat(self.measures, n_shares),
            "share": np.tile(self.shares, n_measures),
            "n_removed": np.tile(self.n_removed, n_measures),
        }
        samples = {
            name: pd.DataFrame(getattr(self, name).reshape(n_measures * n_shares, -1))
            for name in _STATISTICS
        }
        columns |= {name: values.mean(axis=1) for name, values in samples.items()}
        columns |= {f"{name}_std": values.std(axis=1) for name, values in samples.items()}
        return pd.DataFrame(columns)

    def _summary(self):
        return (
            f"{len(self.systems)} systems, {counted(len(self.queries), 'query')}, "
            f"{counted(self.fraction_tied.shape[2], 'sample')} of the "
            f"{counted(self.n_relevant, 'relevant document')} ({self.sampling})"
        )

    def _head(self):
        return (
            f"{self._summary()}\nShares of comparisons that are tied, and of preferences that "
            "agree with all labels, by the\nshare of labels removed:"
        )

    def _table(self):
        table = self.to_frame().rename(columns={"share": "removed"})
        names = ["fraction_tied", "agreement"]
        wide = [
            table.pivot_table(name, "measure", "removed", sort=False, dropna=False)
            for name in names
        ]
        return pd.concat(wide, keys=names).rename_axis(index=[None, None])


def label_degradation(
    qrels,
    runs,
    measures,
    *,
    shares: Iterable[float] = SHARES,
    sampling: str = "uniform",
    n_samples: int = 10,
    missing: str = "raise",
    tolerance: float = 0.0,
    random_state=None,
    n_jobs: int | None = None,
    **options,
) -> LabelDegradation:
    """Remove labels of relevant documents and compute how measures change: ties and agreement.

    This shows which measures are reliable with few judgments. A robust measure has few ties, and
    prefers the same systems as with all labels.

    Parameters
    ----------
    qrels : DataFrame, QrelsIndex, str, PathLike or file object
        The judgments, as :func:`skfilterrank.io.align` takes them.
    runs : path, list of paths, or dict {name: path, open file or DataFrame}
        The runs, as :func:`skfilterrank.io.read_runs` takes them; at least two.
    measures : str or list of str
        Names of measures, as :func:`score_systems` takes them;
        "lexirecall(scale=preference)" is compared exactly.
    shares : float or sequence of float, default=(0.1, 0.2, ..., 0.9)
        Shares, in [0, 1], of the relevant documents of each query that lose their label. The number
        is rounded half up, but at least one relevant document keeps its label.
    sampling : {"uniform", "frequency"}, default="uniform"
        Probabilities of the draws without replacement. "uniform" draws all relevant documents with
        the same probability. "frequency" draws them in proportion to the number of runs that return
        them, so documents that few runs return tend to keep their label.
    n_samples : int, default=10
        Number of random samples of removed labels for each share.
    missing : {"raise", "drop", "empty"}, default="raise"
        Treatment of a query with relevant documents that is not in some run, as in
        :func:`score_systems`.
    tolerance : float, default=0.0
        Values of a query that differ by at most this much are tied.
    random_state : int, RandomState or None, default=None
        Source of the random samples. Pass an int for results that can be repeated.
    n_jobs : int or None, default=None
        Number of processes; -1 means all processors. The result is the same.
    **options
        Parameters of :func:`skfilterrank.metrics.evaluate_runs` that say how lists are measured,
        such as `gains`, `ties`, `unjudged` and `n_items`.

    Returns
    -------
    LabelDegradation
        Result with ``to_frame()`` and attributes:

        measures : tuple of str
            Names of the measures.
        shares : ndarray of shape (n_shares,), dtype float64
            Shares of the relevant documents of each query that lose their label, ascending. The
            first is 0, which keeps all labels.
        fraction_tied : ndarray of shape (n_measures, n_shares, n_samples), dtype float64
            Share of ties among all comparisons of two systems for one query.
        agreement : ndarray of shape (n_measures, n_shares, n_samples), dtype float64
            Share of the preferences by the remaining labels that are also preferences by all
            labels; NaN if there is no preference by the remaining labels.
        kept : ndarray of shape (n_measures, n_shares, n_samples), dtype float64
            Share of the preferences by all labels that are also preferences by the remaining
            labels; NaN if there is no preference by all labels.
        n_relevant : int
            Number of relevant documents over all queries.
        n_removed : ndarray of shape (n_shares,), dtype int64
            Number of relevant documents that lose their label at each share.
        sampling : str
            Value of the parameter.
        systems, queries : tuple of str
            Names of the compared systems, and ids of the compared queries.
        dropped_queries : tuple of str
            Queries that are left out because they have no relevant document or are not in all runs.

    Raises
    ------
    ValueError, FileFormatError
        In the same cases as :func:`score_systems`; also if there are fewer than two runs, if no
        query has a relevant document, if a share is not in [0, 1], or if `n_samples` is not a
        positive integer.

    See Also
    --------
    SystemScores.fraction_tied, agreement : Compute these shares for given values of systems.

    Notes
    -----
    A document whose label is removed becomes unjudged (NaN), which most measures treat as not
    relevant.

    Within one sample, a larger share removes all labels that a smaller share removes, and more. By
    frequency, each step draws one of the remaining documents, with a probability proportional to
    the number of runs that return it. Documents that no run returns are drawn last, in random
    order.

    The denominator of `agreement` counts the preferences by the remaining labels. It does not
    contain comparisons that become ties, and a comparison that is tied by all labels never agrees.
    The denominator of `kept` counts the preferences by all labels.

    References
    ----------
    Diaz, F. and Mitra, B. Recall, robustness, and lexicographic evaluation, section 6.2.4,
    figures 12 and 13.

    Examples
    --------
    >>> import pandas as pd
    >>> from skfilterrank.metaevaluation import label_degradation
    >>> qrels = pd.DataFrame({"qid": "1", "docno": list("abcd"), "label": [1, 1, 0, 0]})
    >>> runs = {
    ...     name: pd.DataFrame({"qid": "1", "docno": list(order), "score": [4, 3, 2, 1]})
    ...     for name, order in {"x": "abcd", "y": "bcad", "z": "cadb"}.items()
    ... }
    >>> print(
    ...     label_degradation(
    ...         qrels, runs, ["ap", "rr"], shares=[0.5], n_samples=4, random_state=0
    ...     )
    ... )
    3 systems, 1 query, 4 samples of the 2 relevant documents (uniform)
    Shares of comparisons that are tied, and of preferences that agree with all labels, by the
    share of labels removed:
    removed             0.0   0.5
    fraction_tied ap  0.000 0.000
                  rr  0.333 0.000
    agreement     ap  1.000 0.667
                  rr  1.000 0.583
    """
    wanted = parse_measures(measures)
    # Every result has the share 0, for which no label is removed.
    shares = np.union1d(0.0, check_each(shares, "shares", least=0, most=1))
    check_choice(sampling, "sampling", SAMPLING)
    check_choice(missing, "missing", MISSING)
    n_samples = check_count(n_samples, "n_samples")
    tolerance = check_number(tolerance, "tolerance", least=0)
    named = named_runs(runs, least=2)
    gains, ties = options.get("gains"), options.get("ties", "docno")
    index = index_of_qrels(qrels, gains=gains, measures=wanted.values())
    if index.is_sample:
        refuse_sample()
    warn_of_forbidden(wanted.values(), index.labels, gains)
    jobs = (
        delayed(collecting_warnings(_prepare))(name, *for_any_process(run), index, ties, gains)
        for name, run in named.items()
    )
    prepared = {}
    for name, (each, said) in zip(named, in_parallel(jobs, n_jobs)):
        repeat_warnings(said)
        prepared[name] = each
    labels = _Labels.of(list(prepared.values()), index.queries, missing)

    def values_without(removed):
        """Return oriented values by each measure without the labels of documents `removed`."""
        less = {name: each.without(removed) for name, each in prepared.items()}
        scores = score_systems(None, less, wanted, missing="empty", n_jobs=n_jobs, **options)
        return [each.select(queries=labels.queries).oriented for each in scores.values()]

    full = values_without([])
    statistics = np.empty((len(_STATISTICS), len(wanted), len(shares), n_samples))
    statistics[:, :, 0] = _statistics(full, full, tolerance)[:, :, None]
    n_removed = labels.n_removed(shares)
    rng = np.random.default_rng(seeds_of(random_state))
    for sample in range(n_samples):
        places = labels.draw(rng, sampling)
        for at, counts in enumerate(n_removed[1:], 1):
            values = values_without(np.flatnonzero(places < counts[labels.codes]))
            statistics[:, :, at, sample] = _statistics(values, full, tolerance)
    return LabelDegradation(
        measures=tuple(wanted),
        shares=shares,
        fraction_tied=statistics[0],
        agreement=statistics[1],
        kept=statistics[2],
        n_relevant=int(labels.sizes.sum()),
        n_removed=n_removed.sum(axis=1),
        sampling=sampling,
        systems=tuple(map(str, named)),
        queries=tuple(labels.queries),
        dropped_queries=labels.dropped_queries,
    )


class _Prepared(NamedTuple):
    """A run aligned with judgments, with the rows of its relevant documents.

    `rows` and `groups` (query ids) are sorted by query and document id, so they are in the same
    order for all runs.
    """

    aligned: AlignedRun
    rows: np.ndarray
    groups: np.ndarray

    def without(self, places) -> AlignedRun:
        """Return the run with NaN as the label of the relevant documents at these places."""
        y_true = self.aligned.y_true.copy()
        y_true[self.rows[np.asarray(places, dtype=np.int64)]] = np.nan
        return replace(self.aligned, y_true=y_true)


class _Labels:
    """The relevant documents, sorted by query and document id, and the draw of removed labels.

    `codes` is the query of each document as a number, and `sizes` the number of relevant documents
    of each query.
    """

    def __init__(self, groups, n_runs, is_query):
        self.n_runs = n_runs
        self.queries = [query for query, kept in is_query.items() if kept]
        self.dropped_queries = tuple(query for query, kept in is_query.items() if not kept)
        place = {query: number for number, query in enumerate(self.queries)}
        # Documents of all left-out queries share one extra code of size 0, and keep their label.
        self.codes = np.array([place.get(query, len(place)) for query in groups], dtype=np.int64)
        self.sizes = np.bincount(self.codes, minlength=len(place) + 1)
        self.sizes[-1] = 0

    @classmethod
    def of(cls, prepared, all_queries, missing):
        """Collect the relevant documents, which are the same for all runs.

        The parameter `missing` decides on queries that some run lacks.
        """
        groups = prepared[0].groups
        relevant = set(groups)
        absent = {
            each.name: [query for query in each.missing_queries if query in relevant]
            for each in (each.aligned for each in prepared)
        }
        relevant -= lacking_queries(absent, missing)
        is_query = {query: query in relevant for query in all_queries}
        if not relevant:
            raise InputError(
                "qrels and runs must share a query with relevant documents, but there is none. "
                "Check if gains= fits the labels, and if the runs have the queries of qrels."
            )
        n_runs = np.sum([each.aligned.y_score[each.rows] > -np.inf for each in prepared], axis=0)
        return cls(groups, n_runs, is_query)

    def n_removed(self, shares):
        """Return the number of labels to remove for each share and query.

        The result has shape (n_shares, n_queries + 1); the last column, for left-out queries, is 0.
        """
        # Rounded to 9 decimals first: 0.35 * 10 must be exactly 3.5, so that it is rounded up.
        nearest = np.floor(np.round(shares[:, None] * self.sizes, 9) + 0.5).astype(np.int64)
        return np.minimum(nearest, np.maximum(self.sizes - 1, 0))

    def draw(self, rng, sampling):
        """Draw a random order of removal; return each document's position within its query."""
        times = rng.standard_exponential(len(self.codes))
        keys = times
        if sampling == "frequency":
            # Among independent exponential times, each is the smallest with a probability that is
            # proportional to its rate. Sorting by them draws without replacement.
            keys = np.full(len(times), np.inf)
            np.divide(times, self.n_runs, out=keys, where=self.n_runs > 0)
        order = np.lexsort((times, keys, self.codes))
        places = np.empty(len(order), dtype=np.int64)
        starts = np.searchsorted(self.codes[order], self.codes[order])
        places[order] = np.arange(len(order)) - starts
        return places


def _prepare(name, path, run, index, ties, gains):
    """Align a run with the judgments and find the rows of its relevant documents."""
    with errors_of(name, path, run):
        aligned = align(index, run, ties=ties)
        rows = np.flatnonzero(as_gains(aligned.y_true, gains) > 0)
    groups, docnos = aligned.groups[rows], aligned.docnos[rows]
    order = np.lexsort((docnos, groups))
    # Document ids are dropped to save memory; they are not needed again.
    aligned = replace(aligned, name=name, _documents=())
    return _Prepared(aligned, rows[order], groups[order])


def _statistics(values, full, tolerance):
    """Compute `fraction_tied`, `agreement` and `kept` of each measure, shape (3, n_measures).

    `values` and `full` hold an array of values by each measure, from the remaining and from all
    labels.
    """
    by_measure = []
    for ours, theirs in zip(values, full):
        n_systems, n_queries = ours.shape
        n_agree, _, n_ours, n_theirs, _ = count_signs(ours, theirs, tolerance).sum(axis=1)
        n_pairs = n_queries * n_systems * (n_systems - 1) // 2
        tied = (n_pairs - n_ours) / n_pairs
        by_measure.append([tied, *share_of(n_agree, np.array([n_ours, n_theirs]))])
    return np.array(by_measure).T

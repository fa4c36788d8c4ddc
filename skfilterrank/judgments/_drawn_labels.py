"""Label sets drawn from a classifier of pairs, fitted on queries drawn with replacement."""

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_limits

from skfilterrank._base.checks import check_count, check_random_state, count_rows
from skfilterrank._base.row_hashes import hash_rows
from skfilterrank._base.words import in_parallel, progress_bar
from skfilterrank._lists.content import keys_of_queries
from skfilterrank._lists.queries import GroupIndex, check_groups
from skfilterrank.exceptions import InputError

# Log-odds of a label above 0 that documents lose per unit of log(rank / judged depth) beyond the
# judged depth. Tau of AP and nDCG@10 gain .01 over no such loss.
_SLOPE = 0.25
# Standard deviation of the noise of each run's coefficient beyond the judged depth. 95 % intervals
# of differences after pooling hold in 92 % (AP) and 94 % (nDCG@10) of cases, without it 82 and 88.
_TAIL = 0.45


def usual_classifier() -> LogisticRegression:
    """Return the classifier of pairs that is used by default."""
    return LogisticRegression(max_iter=300)


def sample_labels(
    features,
    y,
    groups,
    *,
    classifier=None,
    n_draws: int = 20,
    random_state=None,
    n_jobs: int | None = None,
    offset=None,
    tail=None,
    keys=None,
    verbose: int = 0,
) -> np.ndarray:
    """Draw complete label sets: known labels stay, the others are drawn by their chances.

    For each set the classifier is fitted on the judged rows of queries that are drawn with
    replacement. So the sets differ by the draw of the labels and by what was learned.

    Parameters
    ----------
    features : ndarray of shape (n_rows, n_features)
        Columns of numbers for each pair of query and document, as of :class:`PairFeatures`.
    y : array-like of shape (n_rows,)
        Labels, NaN where unjudged.
    groups : array-like of shape (n_rows,)
        Query of each row.
    classifier : classifier or None, default=None
        A classifier with `predict_proba`, cloned for each set. None means
        ``LogisticRegression(max_iter=300)``.
    n_draws : int, default=20
        Number of sets.
    random_state : int, RandomState instance or None, default=None
        Seed.
    n_jobs : int or None, default=None
        Number of threads.
    offset : array-like of shape (n_rows,), default=None
        Number that is added to the log-odds of labels above 0.
    tail : ndarray of shape (n_rows, n_runs), default=None
        Columns of runs, 0 within the judged depth. Coefficients that are learned at the top of the
        lists are uncertain beyond, so that normal noise is added to them in each set.
    keys : ndarray of shape (n_rows,), dtype uint64, default=None
        Hash of each row's content, which decides the row's random numbers. None hashes `features`.
    verbose : int, default=0
        Above 0 shows the progress over sets.

    Returns
    -------
    ndarray of shape (n_draws, n_rows), dtype float64
        The sets. They depend neither on the order of the rows, nor on the names of queries, nor on
        `n_jobs`.
    """
    classifier = usual_classifier() if classifier is None else classifier
    check_count(n_draws, "n_draws")
    index = check_groups(groups, n_rows=count_rows(features))
    y = np.asarray(y, dtype=np.float64)
    order, starts = rows_by_content(index, hash_rows(features) if keys is None else keys, y)
    features, labels = features[order], y[order]
    offset = None if offset is None else np.asarray(offset)[order]
    tail = None if tail is None else tail[order]
    judged = [
        rows[~np.isnan(labels[rows])] for rows in np.split(np.arange(len(labels)), starts[1:])
    ]
    judged = [rows for rows in judged if len(rows)]
    if not judged:
        raise InputError("y has no label: expected some that are not NaN.")
    levels = np.unique(labels[~np.isnan(labels)])
    seeds = check_random_state(random_state).randint(np.iinfo(np.int32).max, size=n_draws)
    jobs = (
        delayed(_draw)(clone(classifier), features, labels, judged, levels, offset, tail, seed)
        for seed in progress_bar(seeds, unit="set", verbose=verbose, leave=False)
    )
    drawn = np.empty((n_draws, len(labels)))
    drawn[:, order] = list(in_parallel(jobs, n_jobs, Parallel, prefer="threads"))
    return drawn


def _draw(classifier, features, labels, judged, levels, offset, tail, seed):
    """Fit on queries drawn with replacement, and draw a label for each unjudged row."""
    rng = np.random.RandomState(seed)
    rows = np.concatenate([judged[i] for i in rng.randint(len(judged), size=len(judged))])
    chances = np.zeros((len(labels), len(levels)))
    codes = np.searchsorted(levels, labels[rows])
    # Sums of one thread are the same whatever n_jobs is.
    with threadpool_limits(1, user_api="blas"):
        if (codes == codes[0]).all():
            chances[:, codes[0]] = 1.0
        else:
            classifier.fit(features[rows], codes)
            chances[:, classifier.classes_] = classifier.predict_proba(features)
        shift = np.zeros(len(labels)) if offset is None else offset
        if tail is not None:
            shift = shift + _TAIL * tail @ rng.standard_normal(tail.shape[1])
    chances[:, levels > 0] *= np.exp(shift)[:, np.newaxis]
    bounds = chances.cumsum(axis=1)
    places = (rng.rand(len(labels), 1) * bounds[:, -1:] > bounds[:, :-1]).sum(axis=1)
    return np.where(np.isnan(labels), levels[places], labels)


def rows_by_content(index: GroupIndex, hashes, labels) -> tuple[np.ndarray, np.ndarray]:
    """Return rows query by query in an order that contents alone decide, and the queries' starts.

    Labels order only queries and rows that are equal otherwise.
    """
    keys = keys_of_queries(index, hashes, labels)[index.codes()]
    order = np.lexsort((labels, hashes, keys))
    keys = keys[order]
    return order, np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))


def depth_offset(ranks, y, groups) -> np.ndarray:
    """Return how much the log-odds of relevance fall beyond the judged depth of a query.

    Parameters
    ----------
    ranks : ndarray of shape (n_rows,)
        The best rank of each document in any run, NaN if no run returns it.
    y : ndarray of shape (n_rows,)
        Labels, NaN where unjudged.
    groups : ndarray of shape (n_rows,), dtype int
        Number of the query of each row.

    Returns
    -------
    ndarray of shape (n_rows,)
        Numbers up to 0; 0 for documents that no run returns.
    """
    depth = np.ones(groups.max() + 1)
    known = ~np.isnan(y) & ~np.isnan(ranks)
    np.maximum.at(depth, groups[known], ranks[known])
    return -_SLOPE * np.nan_to_num(np.maximum(np.log(ranks / depth[groups]), 0.0))

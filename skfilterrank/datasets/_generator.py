"""Generators of judged documents: with known optimal scores, and of a marketplace."""

from collections.abc import Mapping
from math import comb
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import binom, expit, softmax

from skfilterrank._base.checks import check_count, check_k, check_number, check_random_state
from skfilterrank._lists.gains import Gains, as_gains
from skfilterrank._lists.scoring import inverse_dcg_span
from skfilterrank.exceptions import InputError

# Distributions of Carmel et al. 2022, section 4.1.2. The last row of their Table 2 is "3+"
# documents. A geometric tail from 3 to 15 gives the mean of about 2.1 documents in their text.
_TAIL = 0.6 ** np.arange(13)
_CQA_SIZES = {1: 0.52, 2: 0.241} | dict(zip(range(3, 16), 0.239 * _TAIL / _TAIL.sum(), strict=True))
_CQA_LABELS = {-1: 0.25, 1: 0.406, 2: 0.344}

# Number of items in the catalog of the marketplace.
_N_CATALOG = 4000

# Below, a count vector holds the number of documents of a query with each gain.
_MAX_STATES = 2_000_000  # largest number of count vectors per query: 16 MB of float64
_BLOCK_STATES = 2**18  # largest number of count vectors of all queries in memory at once


class RankAndFilterData(NamedTuple):
    """Features, labels, query ids and optimal scores of rows, as a named tuple."""

    X: np.ndarray | pd.DataFrame
    y: np.ndarray | pd.Series
    groups: np.ndarray
    bayes_scores: np.ndarray | pd.Series | None


def make_rank_and_filter(
    n_queries: int = 1000,
    *,
    documents_per_query: Mapping[int, float] | int | ArrayLike | None = None,
    labels: Mapping[float, float] | None = None,
    n_features: int = 20,
    n_informative: int = 5,
    class_sep: float = 1.0,
    query_effect: float = 0.0,
    k: int | None = 3,
    gains: Gains = None,
    bayes: bool = True,
    as_frame: bool = False,
    random_state: int | np.random.RandomState | None = None,
) -> RankAndFilterData:
    r"""Draw queries with judged documents, and the optimal scores, which no model can beat.

    The defaults resemble the community question answering data of [1]_: about half of the queries
    have one document, and a quarter of the documents are forbidden.

    Parameters
    ----------
    n_queries : int, default=1000
        Number of queries, at least 1. Every query has at least one document.
    documents_per_query : dict, int or array-like of int, default=None
        Number of documents of a query: a dict `{number: probability}`, one number for all queries,
        or an array of numbers to draw from with replacement, for example those of a real data set.
        None draws 1 (52 %), 2 (24.1 %) or 3 to 15 documents, 2.1 on average, as in Table 2 of
        [1]_.
    labels : dict {label: probability}, default=None
        Probability of each label over all documents. None is `{-1: 0.25, 1: 0.406, 2: 0.344}`:
        forbidden, satisfying and fully satisfying answers.
    n_features : int, default=20
        Number of columns of X, at least 1.
    n_informative : int, default=5
        Number of informative columns. The first `n_informative` columns depend on the label, and
        the others are noise.
    class_sep : float, default=1.0
        Distance between the means of neighboring labels along one direction, in standard
        deviations of a feature. With 0, all features are noise.
    query_effect : float in [0, 1), default=0.0
        Correlation of the labels of two documents of the same query. Each query draws its own
        probabilities of labels from a Dirichlet distribution with mean `labels` and concentration
        `1 / query_effect - 1`. If it is above 0, the other documents of a query are informative
        about a document, so a threshold for each query can be better than a single threshold. With
        0.27, 16.8 % of the default queries have no good document, as in [1]_; with 0, 14.7 %.
    k : int or None, default=3
        Cut-off of the nDCG_f@k for which `bayes_scores` are optimal. None means no cut-off.
    gains : None, "exp2", dict or callable, default=None
        Gains for which `bayes_scores` are optimal. None uses each label as its gain; a dict is
        `{label: gain}`. X and y do not depend on it.
    bayes : bool, default=True
        True computes `bayes_scores`. Time and memory grow with the number of possible counts of
        labels (without `query_effect`, of distinct gains) in the largest query. 3 labels are
        feasible up to about 200 documents, and 5 labels up to 40.
    as_frame : bool, default=False
        True returns X as a DataFrame, and y and `bayes_scores` as Series, with index levels "qid"
        (the query) and "docno" (the row number).
    random_state : int, RandomState instance or None, default=None
        Pass an int for the same data in every call.

    Returns
    -------
    data : RankAndFilterData
        A named tuple:

        X : ndarray or DataFrame of shape (n_rows, n_features), float64
            Features.
        y : ndarray or Series of shape (n_rows,), int64 or float64
            Labels; integers if all keys of `labels` are integers.
        groups : ndarray of shape (n_rows,), int64
            Query id of each row, from 0 to `n_queries - 1`, in ascending order.
        bayes_scores : ndarray or Series of shape (n_rows,), float64, or None
            Optimal scores. If each query is sorted by these scores and documents with scores below
            0 are hidden, nDCG_f@k is the highest that can be expected given X. None if
            `bayes=False`.

    Raises
    ------
    TypeError
        If a number is of the wrong type.
    ValueError
        If a number is out of range, if probabilities do not sum to 1, if a label is not a finite
        number or has no entry in `gains`, or if queries are too large for exact `bayes_scores`.

    Notes
    -----
    Given its label, the features of a document are independent normal variables with unit
    variance. Each label has a mean vector. These vectors, in ascending order of the labels, are
    `class_sep` apart along a random line. Each is then moved away from the line by `class_sep / 2`
    in its own random direction, except with `n_informative=1`.

    If labels are unknown, the nDCG_f@k ([1]_, eq. 3) of a list :math:`d_1, d_2, ...` of a query
    with features :math:`x` has the expectation

    .. math::

        E\left[\frac{-W}{I - W} \middle| x\right] +
        \sum_{i \le k} \frac{u(d_i)}{\log_2(i + 1)}, \qquad
        u(d) = E\left[\frac{g_d}{I - W} \middle| x\right],

    where :math:`g_d` is the gain of d, I and W are the query's ideal and worst DCG@k, and a
    quotient is 0 if I = W. The expectation is highest if the documents with :math:`u(d) \ge 0` are
    shown in descending order of u, so `bayes_scores` are u. I, W and the prior probability of the
    labels (a Pólya urn if `query_effect > 0`) depend only on the number of documents with each
    gain. So one forward and one backward pass over the documents, with these numbers as the state,
    give the exact u.

    References
    ----------
    .. [1] D. Carmel, N. Cohen, A. Ingber, E. Kravi. "IR Evaluation and Learning in the Presence
       of Forbidden Documents". SIGIR 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> X, y, groups, bayes_scores = make_rank_and_filter(n_queries=2000, random_state=0)
    >>> X.shape[1], len(np.unique(groups))
    (20, 2000)
    >>> bool((y[bayes_scores < 0] < 0).mean() > 0.6)  # most hidden documents are forbidden
    True
    >>> bool((y[bayes_scores >= 0] < 0).mean() < 0.2)  # few shown documents are forbidden
    True

    With ``as_frame=True``, the index holds the query of each row:

    >>> data = make_rank_and_filter(documents_per_query=2, as_frame=True, random_state=0)
    >>> data.y.index[:3].to_list()
    [(0, 0), (0, 1), (1, 2)]
    """
    check_count(n_queries, "n_queries")
    check_count(n_features, "n_features")
    check_count(n_informative, "n_informative")
    if n_informative > n_features:
        raise InputError(
            f"n_informative must be at most n_features={n_features}, got {n_informative}; "
            "raise n_features or lower n_informative."
        )
    check_number(class_sep, "class_sep", least=0)
    check_number(query_effect, "query_effect")
    if not 0 <= query_effect < 1:
        raise InputError(f"query_effect must be in [0, 1), got {query_effect}.")
    k = check_k(k)
    possible_sizes, size_shares = _check_sizes(documents_per_query)
    values, shares = _check_distribution(_CQA_LABELS if labels is None else labels, "labels")
    label_gains = as_gains(values, gains, name="labels")
    if bayes:
        n_kinds = len(values) if query_effect else len(np.unique(label_gains))
        _check_feasible(int(possible_sizes.max()), n_kinds)

    rng = check_random_state(random_state)
    means = _label_means(len(values), n_informative, class_sep, rng)
    sizes = rng.choice(possible_sizes, size=n_queries, p=size_shares)
    groups = np.repeat(np.arange(n_queries), sizes)
    codes = _draw_labels(sizes, shares, query_effect, rng)
    X = rng.standard_normal((len(groups), n_features))
    X[:, :n_informative] += means[codes]
    y = values[codes]

    bayes_scores = None
    if bayes:
        log_likelihood = X[:, :n_informative] @ means.T - (means**2).sum(axis=1) / 2
        posterior = softmax(log_likelihood + np.log(shares), axis=1)
        bayes_scores = _bayes_scores(posterior, sizes, shares, label_gains, query_effect, k)
    if not as_frame:
        return RankAndFilterData(X, y, groups, bayes_scores)
    index = pd.MultiIndex.from_arrays([groups, np.arange(len(groups))], names=["qid", "docno"])
    if bayes:
        bayes_scores = pd.Series(bayes_scores, index=index, name="bayes_score")
    return RankAndFilterData(
        pd.DataFrame(X, index=index, columns=[f"x{i}" for i in range(n_features)]),
        pd.Series(y, index=index, name="label"),
        groups,
        bayes_scores,
    )


def _label_means(n_labels, n_informative, class_sep, rng):
    """Draw the mean vector of the informative features of each label, (n_labels, n_informative)."""
    line = rng.standard_normal(n_informative)
    line /= np.linalg.norm(line)
    means = np.outer(np.arange(n_labels) - (n_labels - 1) / 2, line)
    if n_informative > 1:
        off = rng.standard_normal((n_labels, n_informative))
        off -= np.outer(off @ line, line)
        means += off / (2 * np.linalg.norm(off, axis=1, keepdims=True))
    return class_sep * means


def _draw_labels(sizes, shares, query_effect, rng):
    """Draw the label of each row, as a position in `shares`, the probabilities of the labels.

    `sizes` holds the number of documents of each query.
    """
    n_rows = sizes.sum()
    codes = rng.choice(len(shares), size=n_rows, p=shares)
    if query_effect == 0:
        return codes
    # A query's Dirichlet probabilities are drawn implicitly, as a Pólya urn: a document gets the
    # label of a random earlier document of its query, or a new label. Explicit probabilities would
    # underflow for a large query_effect.
    concentration = 1 / query_effect - 1
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    rank = np.arange(n_rows) - starts
    drawn = rng.uniform(size=n_rows) * (concentration + rank)
    source = np.where(drawn < rank, starts + drawn.astype(np.int64), np.arange(n_rows))
    while (source[source] != source).any():
        source = source[source]
    return codes[source]


def _bayes_scores(posterior, sizes, shares, label_gains, query_effect, k):
    """Compute E[gain / (I - W)] of each row, given the features of all documents of its query.

    I and W are the ideal and worst DCG@k of the query. `posterior`, of shape (n_rows, n_labels),
    holds the probabilities of the labels given the row's own features.
    """
    if query_effect == 0:
        gains, code = np.unique(label_gains, return_inverse=True)
        merge = np.eye(len(gains))[code]
        posterior, shares = posterior @ merge, shares @ merge
    else:
        # Labels with equal gains are not merged, because they are evidence about other labels.
        order = np.argsort(label_gains)
        gains, posterior, shares = label_gains[order], posterior[:, order], shares[order]

    starts = np.cumsum(sizes) - sizes
    scores = np.empty(len(posterior))
    successors, counts = [], np.zeros((1, len(gains)), dtype=np.int64)
    for size in range(1, sizes.max() + 1):
        successors.append(_successors(counts))
        larger = np.empty((successors[-1].max() + 1, len(gains)), dtype=np.int64)
        for j, successor in enumerate(successors[-1]):
            larger[successor] = counts
            larger[successor, j] += 1
        counts = larger
        first = starts[sizes == size]
        if len(first) == 0:
            continue
        n_reached = np.cumsum(counts[:, ::-1], axis=1).T[-2::-1]
        inverse_span = inverse_dcg_span(gains, n_reached, counts.sum(axis=1), k)
        prior = _urn_weight(counts, shares, query_effect)
        n_block = max(1, _BLOCK_STATES // comb(size + len(gains), len(gains)))
        for block in np.split(first, range(n_block, len(first), n_block)):
            rows = block + np.arange(size)[:, np.newaxis]
            p = np.ascontiguousarray(posterior[rows].transpose(0, 2, 1))
            scores[rows] = _expected_share(p, gains, successors, prior, inverse_span)
    return scores


def _expected_share(p, gains, successors, prior, inverse_span):
    """Compute E[gain / (I - W)] for queries of one size, by a forward and a backward pass.

    `p`, of shape (size, n_gains, n_queries), holds the posterior probabilities of the gains.
    `prior` and `inverse_span` (1 / (I - W)) have an entry for each count vector of this size. For
    one document and gain, the expectation sums over all labels of the documents before it (forward
    pass) and after it (backward pass).
    """
    size, n_gains, n_queries = p.shape
    forward = [np.ones((1, n_queries))]
    for d in range(size):
        larger = np.zeros((successors[d].max() + 1, n_queries))
        for j in range(n_gains):
            larger[successors[d][j]] += p[d, j] * forward[d]
        forward.append(larger)
    evidence = prior @ forward[size]

    expected = np.zeros((size, n_queries))
    backward = np.repeat((prior * inverse_span)[:, np.newaxis], n_queries, axis=1)
    for d in reversed(range(size)):
        smaller = np.zeros_like(forward[d])
        for j in range(n_gains):
            ahead = p[d, j] * backward[successors[d][j]]
            expected[d] += gains[j] * np.einsum("sq,sq->q", forward[d], ahead)
            smaller += ahead
        backward = smaller
    return expected / evidence


def _successors(counts):
    """Return, for each gain j and count vector s, the number of the vector with one more gain j.

    The result has shape (n_gains, n_vectors); it numbers the count vectors with one more document.
    """
    # Count vectors c of one total are numbered from 0 without gaps by their colexicographic rank,
    # the sum of C(c_0 + ... + c_j + j, j + 1) over all j but the last.
    n_gains = counts.shape[1]
    order = np.arange(1, n_gains)
    below = np.cumsum(counts[:, :-1], axis=1) + order - 1
    ranks = [binom(below + (order > j), order).sum(axis=1) for j in range(n_gains)]
    return np.rint(ranks).astype(np.int64)


def _urn_weight(counts, shares, query_effect):
    """Compute the prior weight of each count vector: urn probability / independent probability.

    This ratio is for one labeling with these counts, up to a common factor.
    """
    # The ratio is the product over labels of (1 + j / (concentration * share)) for all j below the
    # count of the label. In this form, it is exactly 1 without query effect.
    odds = query_effect / (1 - query_effect) / shares
    steps = np.log1p(np.arange(counts.max())[:, np.newaxis] * odds)
    cumulated = np.concatenate([np.zeros((1, len(shares))), np.cumsum(steps, axis=0)])
    log_weight = np.take_along_axis(cumulated, counts, axis=0).sum(axis=1)
    log_weight -= log_weight.max()
    # For a smaller range, terms that underflow would be below 1e-15 of the result anyway.
    if log_weight.min() < -600:
        raise InputError(
            f"bayes=True cannot give exact scores for queries of {counts[0].sum()} documents with "
            f"query_effect={query_effect}, because probabilities exceed the range of float64. Pass "
            "bayes=False, smaller documents_per_query, or a smaller query_effect."
        )
    return np.exp(log_weight)


def _check_feasible(size, n_kinds):
    """Raise if exact `bayes_scores` would need too many count vectors."""
    n_states = comb(size + n_kinds, n_kinds)
    if n_states > _MAX_STATES:
        raise InputError(
            f"bayes=True cannot give exact scores for queries of {size} documents with {n_kinds} "
            f"kinds of labels: at most {_MAX_STATES} combinations are feasible, got {n_states}. "
            "Pass bayes=False, smaller documents_per_query, or fewer labels (without query_effect, "
            "fewer distinct gains)."
        )


def _check_sizes(documents_per_query):
    """Return the possible numbers of documents of a query, and their probabilities."""
    name = "documents_per_query"
    if documents_per_query is None:
        documents_per_query = _CQA_SIZES
    if isinstance(documents_per_query, Mapping):
        sizes, shares = _check_distribution(documents_per_query, name)
    else:
        observed = np.atleast_1d(np.asarray(documents_per_query))
        if observed.ndim != 1 or observed.size == 0:
            raise InputError(
                f"{name} must be a dict, an int or a non-empty 1-D array of sizes, got an array "
                f"of shape {observed.shape}."
            )
        sizes, frequency = np.unique(observed, return_counts=True)
        shares = frequency / len(observed)
    if sizes.dtype.kind not in "iu" or sizes.min() < 1:
        raise InputError(f"{name} must hold integers >= 1, got {sizes.tolist()}.")
    return sizes, shares


def _check_distribution(distribution, name):
    """Return the values with positive probability in ascending order, and their probabilities.

    Raises if `distribution` is not a dict of numbers and probabilities.
    """
    if not isinstance(distribution, Mapping) or not distribution:
        raise InputError(f"{name} must be a non-empty dict {{value: probability}}.")
    values, shares = np.array(list(distribution)), np.array(list(distribution.values()))
    if values.dtype.kind not in "iuf" or not np.isfinite(values).all():
        raise InputError(f"{name} must have finite numbers as keys, got {list(distribution)}.")
    if shares.dtype.kind not in "iuf" or not (shares >= 0).all():
        raise InputError(f"{name} must have probabilities >= 0, got {shares.tolist()}.")
    if not np.isclose(shares.sum(), 1, rtol=0, atol=1e-6):
        raise InputError(
            f"The probabilities in {name} must sum to 1, got {shares.sum():.6g}; divide them by "
            "their sum."
        )
    order = np.argsort(values)
    order = order[shares[order] > 0]
    return values[order], shares[order] / shares.sum()


def make_marketplace(
    n_sessions: int = 3000,
    n_items: int = 20,
    *,
    spam_share: float = 0.08,
    spam_signal: float = 1.0,
    spam_appeal: float = 0.0,
    random_state: int | np.random.RandomState | None = None,
) -> pd.DataFrame:
    r"""Draw search sessions of a marketplace with clicks, purchases and reports of spam.

    Selling well and being spam are different properties of an item, so one model cannot easily
    predict both. Labels come from the behavior of users, who see items at lower positions less
    often.

    Parameters
    ----------
    n_sessions : int, default=3000
        Number of sessions. Each session is a query with its list of items.
    n_items : int, default=20
        Number of items in each session, of the 4,000 in the catalog.
    spam_share : float, default=0.08
        Expected share of spam in the catalog, between 0 and 1.
    spam_signal : float, default=1.0
        Strength of the features that indicate spam; 0 means no signal. With 1, spam is hard to
        detect: "reports" and "flag" together rank spam above another item for 8 of 10 pairs. With
        3, it is easy.
    spam_appeal : float, default=0.0
        How much spam pretends to be relevant: "match" and "quality" of spam are raised by so many
        standard deviations. With 0, spam has the match of other items and less quality.
    random_state : int, RandomState instance or None, default=None
        Pass an int for the same data in every call.

    Returns
    -------
    DataFrame of shape (n_sessions * n_items, 9)
        One row for each item of each session, sorted by session:

        session : int
            Number of the session, which is the query id.
        label : float
            -1 for reported, 1 for clicked, 3 for bought items, and 0 for all others.
        spam : bool
            True for spam, also if nobody reported it. Do not use it as a feature.
        match, quality : float
            Noisy measurements of the match of item and query, and of the quality of the item.
        rating : float
            Stars from 1 to 5, lower for spam; NaN for a tenth of the rows.
        price : float
            Logarithm of the price.
        reports : int
            Number of earlier reports of the item.
        flag : float
            Score of a weak spam detector.

    Raises
    ------
    TypeError
        If a number is of the wrong type.
    ValueError
        If a number is out of range.

    See Also
    --------
    make_rank_and_filter : Draw documents whose optimal scores are known.

    Notes
    -----
    Let m be the match, q the quality and s the stars of an item, and z a standard normal variable.
    The utility of the item is :math:`u = 1.3 m + 0.8 q + 0.35 (s - 4) - 1`, and it is relevant with
    probability :math:`p = 1 / (1 + e^{-u + 0.3 \log(price)})`. Items are sorted by :math:`0.6 m +
    0.5 q + z`, plus 0.8 for spam. A user sees position i with probability :math:`i^{-0.8}`, and
    clicks a seen item with probability p, or p + 0.3 for spam. A click leads to a purchase with
    probability p / 4, but never for spam. Spam at position i is reported with probability
    :math:`0.25 + i^{-0.8} / 2`. "reports" is Poisson with mean 0.3, plus `spam_signal` for spam.
    "flag" is z, plus 0.6 `spam_signal` for spam. "match" and "quality" are m and q plus z / 2, and
    :math:`\sqrt{1.25}` `spam_appeal` for spam.

    The catalog is randomly divided into `n_items` parts, and each session shows one item of each
    part.

    Examples
    --------
    >>> from skfilterrank.datasets import make_marketplace
    >>> log = make_marketplace(n_sessions=500, random_state=0)
    >>> log.shape
    (10000, 9)
    >>> sorted(log["label"].unique().tolist())
    [-1.0, 0.0, 1.0, 3.0]
    >>> bool(log.loc[log["label"] < 0, "spam"].all())  # only spam is reported
    True
    >>> bool((log.loc[log["spam"], "label"] < 0).all())  # but not all spam is reported
    False
    """
    check_count(n_sessions, "n_sessions")
    check_count(n_items, "n_items", most=_N_CATALOG)
    check_number(spam_share, "spam_share", least=0, most=1)
    check_number(spam_signal, "spam_signal", least=0)
    check_number(spam_appeal, "spam_appeal", least=0)
    rng = check_random_state(random_state)
    is_spam = rng.uniform(size=_N_CATALOG) < spam_share
    price = rng.normal(3, 1, _N_CATALOG)
    stars = np.clip(rng.normal(4, 0.6, _N_CATALOG) - 0.5 * is_spam, 1, 5)
    quality = rng.normal(0, 1, _N_CATALOG) - 0.5 * is_spam

    shape = (n_sessions, n_items)
    edges = np.linspace(0, _N_CATALOG, n_items + 1).astype(np.intp)
    drawn = edges[:-1] + (rng.uniform(size=shape) * np.diff(edges)).astype(np.intp)
    item = rng.permutation(_N_CATALOG)[drawn]
    spam, match = is_spam[item], rng.normal(size=shape)
    utility = 1.3 * match + 0.8 * quality[item] + 0.35 * (stars[item] - 4) - 1.0
    relevance = expit(utility - 0.3 * price[item])
    placed_by = 0.6 * match + 0.5 * quality[item] + rng.normal(size=shape) + 0.8 * spam
    place = 1 + np.argsort(np.argsort(-placed_by, axis=1), axis=1)
    seen = place**-0.8
    clicked = rng.uniform(size=shape) < seen
    clicked &= rng.uniform(size=shape) < np.clip(relevance + 0.3 * spam, 0, 1)
    bought = clicked & (rng.uniform(size=shape) < 0.25 * relevance) & ~spam
    reported = spam & (rng.uniform(size=shape) < 0.25 + 0.5 * seen)
    rating = np.where(rng.uniform(size=shape) < 0.1, np.nan, stars[item])
    # The variance of "match" is that of the match and of its noise.
    appeal = spam_appeal * np.sqrt(1.25) * spam
    return pd.DataFrame(
        {
            "session": np.repeat(np.arange(n_sessions), n_items),
            "label": np.select([reported, bought, clicked], [-1.0, 3.0, 1.0], 0.0).ravel(),
            "spam": spam.ravel(),
            "match": (match + rng.normal(0, 0.5, shape) + appeal).ravel(),
            "quality": (quality[item] + rng.normal(0, 0.5, shape) + appeal).ravel(),
            "rating": rating.ravel(),
            "price": price[item].ravel(),
            "reports": rng.poisson(0.3 + spam_signal * spam).ravel(),
            "flag": (rng.normal(size=shape) + 0.6 * spam_signal * spam).ravel(),
        }
    )

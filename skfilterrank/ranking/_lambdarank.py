"""LambdaRankRanker: LambdaRank and LambdaLoss with boosted trees, for gains of either sign."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple, Self

import joblib
import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from skfilterrank._base.checks import (
    check_choice,
    check_count,
    check_k,
    check_number,
    check_random_state,
    is_whole_number,
)
from skfilterrank._base.lazy_names import import_optional
from skfilterrank._base.words import check_n_jobs
from skfilterrank._estimators.ranker_mixin import all_or_nothing
from skfilterrank._lists.gains import Gains
from skfilterrank._lists.queries import GroupIndex
from skfilterrank._lists.scoring import first_places, log_discount
from skfilterrank.exceptions import InputError, brief, did_you_mean
from skfilterrank.metrics import dcg_bounds, ndcg_f_score
from skfilterrank.ranking._feature_ranker import FeatureRanker
from skfilterrank.ranking._fit_with_groups import lightgbm_aliases

LOSSES = ("lambdarank", "lambdaloss")
# Weight of the distance of places in LambdaLoss, from the paper.
_MU = 10.0
# Number of documents in a block, and of pairs at a time: a few arrays of 128 KiB.
_BLOCK_DOCUMENTS = 1 << 12
_PAIRS = 1 << 15
# Number of upper documents whose pairs are computed together. Smaller numbers waste fewer cells
# under the diagonal.
_LEADERS = 8
# Score of padding: finite, so that differences are never NaN.
_PADDING = -1e30
_KEY_ROWS = 1 << 14


class _PairedQueries(NamedTuple):
    """Padded block of queries with at least two different gains."""

    rows: np.ndarray
    gains: np.ndarray
    last: np.ndarray


class LambdaObjective:
    """Gradient and hessian of a loss of pairs plus gamma times cross-entropy.

    Parameters
    ----------
    gains : ndarray of shape (n_rows,), dtype float64
        Gain of each row, without NaN.
    index : GroupIndex
        Queries of the rows.
    k : int or None
        Only pairs with a document at one of the first k places count; None counts all.
    gamma : float
        Weight of the cross-entropy of ``gain > 0``.
    loss : {"lambdarank", "lambdaloss"}
        How the places of a pair weigh.
    tie_keys : ndarray of shape (n_rows,) or None
        Keys that order documents of equal score, ascending; further ties are ordered by gain. None
        keeps the order of rows.
    dtype : dtype
        Floating point type for computations on pairs.

    Notes
    -----
    For each pair (i, j) of a query with ``gain_i > gain_j``, at places p_i and p_j of the current
    ranking, one of them at most k, with ``D(p) = 1 / log2(p + 1)``::

        w_ij = (gain_i - gain_j) * |D(p_i) - D(p_j)| / (I_k - W_k)
        r_ij = 1 / (1 + exp(s_i - s_j))
        gradient:  -w_ij * r_ij  for i, the opposite for j
        hessian:   w_ij * r_ij * (1 - r_ij)  for both

    With "lambdaloss", ``10 * (D(d) - D(d + 1))`` is added to ``|D(p_i) - D(p_j)|``, with
    ``d = |p_i - p_j|``. As with LightGBM's ``lambdarank_norm``, both derivatives are multiplied by
    ``log2(1 + S) / S``, where S is the sum of the absolute gradients over the pairs, each counted
    for i and j; and with "lambdarank", w_ij is divided by ``0.01 + |s_i - s_j|`` unless all scores
    of the query are equal.

    Cross-entropy adds ``gamma / n * (expit(s) - [gain > 0])`` and ``gamma / n * expit(s) *
    (1 - expit(s))``, n the number of rows of the query.
    """

    def __init__(
        self,
        gains,
        index: GroupIndex,
        *,
        k,
        gamma,
        loss="lambdarank",
        tie_keys=None,
        dtype=np.float32,
    ):
        self.k = k
        self.dtype = dtype
        bounds = dcg_bounds(gains, groups=index, k=k)
        spread = (bounds["ideal_filtered"] - bounds["worst_filtered"]).to_numpy()
        self._blocks = list(_paired_queries(gains, index, spread, tie_keys, dtype))
        self._discounts = log_discount(first_places(int(index.sizes.max()) + 1))
        self._of_distance = None
        if loss == "lambdaloss":
            self._of_distance = np.append(0.0, -_MU * np.diff(self._discounts)).astype(dtype)
        self._bce_weights = None
        if gamma > 0:
            self._bce_weights = np.empty(index.n_rows)
            self._bce_weights[index.row_order()] = np.repeat(gamma / index.sizes, index.sizes)
            self._is_good = gains > 0

    def __call__(self, scores, dataset=None):
        """Compute gradient and hessian of each row, as LightGBM calls its objective."""
        n_rows = len(scores)
        # Padding cells refer to an additional cell after the last row.
        scores = np.append(scores, _PADDING)
        gradient = np.zeros(n_rows + 1, dtype=self.dtype)
        hessian = np.zeros(n_rows + 1, dtype=self.dtype)
        for block in self._blocks:
            rows, gains, ranked = self._rank(block, scores)
            pushes, curvature = self._derivatives(ranked, gains, block.last)
            gradient[rows] = -pushes
            hessian[rows] = curvature
        gradient, hessian = gradient[:-1], hessian[:-1]
        if self._bce_weights is not None:
            chances = expit(scores[:-1])
            gradient += self._bce_weights * (chances - self._is_good)
            hessian += self._bce_weights * chances * (1.0 - chances)
        return gradient, hessian

    def _rank(self, block, scores):
        """Sort a block by current scores; scores are relative to the best of the query."""
        keys = scores[block.rows]
        np.negative(keys, out=keys)
        order = np.argsort(keys, axis=1, kind="stable")
        order += keys.shape[1] * np.arange(len(keys))[:, None]
        ranked = keys.take(order)
        np.subtract(ranked[:, :1], ranked, out=ranked)
        return block.rows.take(order), block.gains.take(order), ranked.astype(self.dtype)

    def _derivatives(self, scores, gains, last):
        """Sum the derivatives over the pairs of each document, in ranked order."""
        pushes, curvature = np.zeros_like(scores), np.zeros_like(scores)
        total = np.zeros(len(scores), dtype=self.dtype)
        offset = None
        if self._of_distance is None:
            is_flat = scores[np.arange(len(scores)), last] == 0
            offset = np.where(is_flat, 1.0, 0.01).astype(self.dtype)[:, None, None]
        width = scores.shape[1]
        depth = width - 1 if self.k is None else min(self.k, width - 1)
        step = max(1, min(_LEADERS, _PAIRS // scores.size))
        weights = self._discounts[:width].astype(self.dtype)
        for first in range(0, depth, step):
            upper, lower = slice(first, min(first + step, depth)), slice(first + 1, width)
            # A document is paired with documents ranked below it: the diagonal and cells under it
            # have weight 0.
            lead = weights[upper, None] - weights[lower]
            if self._of_distance is not None:
                distance = np.arange(width)[lower] - np.arange(width)[upper, None]
                lead += self._of_distance[np.abs(distance)]
            lead = np.triu(lead)
            # einsum sums short rows several times faster than sum.
            push, curve = _pairs(scores, gains, upper, lower, lead, offset)
            total += np.einsum("qij->q", np.abs(push))
            pushes[:, upper] += np.einsum("qij->qi", push)
            pushes[:, lower] -= np.einsum("qij->qj", push)
            curvature[:, upper] += np.einsum("qij->qi", curve)
            curvature[:, lower] += np.einsum("qij->qj", curve)
        total *= 2
        factor = (np.log2(1 + total) / np.maximum(total, 1e-30))[:, None]
        return pushes * factor, curvature * factor


def _pairs(scores, gains, upper, lower, lead, offset):
    """Compute gradient and curvature of each pair."""
    distance = scores[:, upper, None] - scores[:, None, lower]
    with np.errstate(over="ignore"):
        chance = np.exp(distance)
    chance += 1
    np.reciprocal(chance, out=chance)
    weight = gains[:, upper, None] - gains[:, None, lower]
    weight *= lead
    if offset is not None:
        distance += offset
        weight /= distance
    # In a correctly ranked pair the gradient is weight * chance; in a wrongly ranked pair, whose
    # weight is negative here, it is weight * (1 - chance).
    curve = np.abs(weight)
    curve *= chance
    push = np.minimum(weight, 0, out=weight)
    push += curve
    np.subtract(1, chance, out=chance)
    curve *= chance
    return push, curve


def _paired_queries(gains, index, spread, tie_keys, dtype):
    """Make padded blocks of queries with different gains; documents are in tie order."""
    row_type = np.int32 if index.n_rows < np.iinfo(np.int32).max else np.int64
    all_rows = np.arange(index.n_rows, dtype=row_type)
    for block in index.blocks(_BLOCK_DOCUMENTS):
        lowest = index.take(gains, block, np.inf).min(axis=1)
        paired = index.take(gains, block, -np.inf).max(axis=1) > lowest
        if not paired.any():
            continue
        # Padding is treated as the worst document at the very end of the list. So its weights are
        # positive and vanish with the distance.
        padded = np.where(
            np.arange(block.width) < block.sizes[:, None],
            index.take(gains, block, 0.0),
            lowest[:, None],
        )[paired]
        rows = index.take(all_rows, block, index.n_rows)[paired]
        sizes = block.sizes[paired]
        if tie_keys is not None:
            # Rows with equal features are distinguished by their gain.
            keys = index.take(tie_keys, block, 0)[paired]
            order = np.lexsort((padded, keys, rows == index.n_rows), axis=1)
            rows = np.take_along_axis(rows, order, axis=1)
            padded = np.take_along_axis(padded, order, axis=1)
        padded /= spread[block.queries[paired], None]
        yield _PairedQueries(rows, padded.astype(dtype), sizes - 1)


def row_keys(X):
    """Number the rows by their features, independent of the format of X."""
    multipliers = np.random.default_rng(0).integers(2**64, size=X.shape[1], dtype=np.uint64) | 1
    if sparse.issparse(X):
        bits = sparse.csr_array((_bits(X.data), X.indices, X.indptr), shape=X.shape)
        return bits @ multipliers
    keys = np.empty(len(X), dtype=np.uint64)
    for begin in range(0, len(X), _KEY_ROWS):
        rows = slice(begin, begin + _KEY_ROWS)
        keys[rows] = _bits(X[rows]) @ multipliers
    return keys


def _bits(values):
    """Return the bits of float64 values as integers; 0.0 and -0.0 are equal."""
    return (np.ascontiguousarray(values, dtype=np.float64) + 0.0).view(np.uint64)


class LambdaRankRanker(FeatureRanker):
    """LambdaRank or LambdaLoss with boosted trees, for gains of either sign.

    LightGBM grows the trees for an objective of this package. LightGBM's own lambdarank divides by
    the best DCG of all documents, including forbidden ones. If gains below 0 make that negative, it
    silently learns nothing. Here a pair of documents is weighted by the change of nDCG_f when the
    two are exchanged, for any gains.

    Parameters
    ----------
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain, as in :func:`skfilterrank.metrics.ndcg_f_score`. Gains below 0
        mark forbidden documents.
    k : int or None, default=30
        Truncation: only pairs with a document among the first k of the current ranking count, and
        the measure is nDCG_f@k. None uses all pairs.
    gamma : float, default=0.0
        Weight of the binary cross-entropy of ``gain > 0``. Above 0, a score of 0 means even odds
        that a document is worth showing, which makes 0 a natural threshold.
    loss : {"lambdarank", "lambdaloss"}, default="lambdarank"
        "lambdaloss" also weights a pair by how near its two places are (NDCG-Loss2++).
    n_estimators : int, default=100
        Number of trees.
    learning_rate : float, default=0.1
        Factor on the values of each tree.
    early_stopping_rounds : int or None, default=None
        Stop when nDCG_f@k on an `eval_set` has not improved for this many trees; `predict` uses the
        trees up to the best value.
    validation_fraction : float or None, default=None
        Share of the training queries that `fit` holds out for early stopping, instead of an
        `eval_set`. The content of queries decides which, and their ids do not.
    measure : str, default="ndcg_f"
        Measure that `score` returns: a name of the measure table such as "ndcg_f@10", or one of the
        measure functions. If `gamma` is above 0, documents with scores below 0 are hidden first.
        Training and `eval_set` always use nDCG_f@k.
    random_state : int, RandomState instance or None, default=None
        Seed of LightGBM's sampling (rows, features). None uses LightGBM's fixed default seeds, so
        results are reproducible, too.
    n_jobs : int or None, default=None
        Number of LightGBM's threads; None means LightGBM's default, -1 all processors.
    **params
        Further parameters of LightGBM, such as ``num_leaves=15``, ``min_child_samples=5`` and
        ``verbose=1``, by any name that LightGBM has for them. `get_params` and searches know those
        that were given.

    Attributes
    ----------
    booster_ : lightgbm.Booster
        The trees.
    best_iteration_ : int
        Number of trees that `predict` uses.
    evals_result_ : dict
        nDCG_f@k after each tree, ``{"valid_0": {"ndcg_f@30": [...]}}``; empty without `eval_set`.
    n_unjudged_ : int
        Rows with a NaN label, which were left out of the training.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,), dtype object
        Names of the features, where X is a DataFrame.

    See Also
    --------
    RankAndFilter : Finds the threshold from out-of-fold scores.

    Notes
    -----
    The loss is LambdaRank's, after [1]_, plus with `gamma` the cross-entropy of section 5.1 of
    [2]_, ``gamma / |R| * sum over d in R of BCE(expit(s(d)), gain(d) > 0)``, R being the judged
    documents of a query. The weight of a pair is

    ``|gain_i - gain_j| * |1 / log2(p_i + 1) - 1 / log2(p_j + 1)| / (I_k - W_k)``

    with the places p of the current ranking and the normaliser I_k - W_k of nDCG_f@k. As in
    LightGBM, truncation selects pairs but does not truncate discounts. With gains from 0 up W_k is
    0, and the loss is LightGBM's lambdarank. LambdaLoss, the NDCG-Loss2++ of [3]_ with its weight
    of 10, adds ``10 * (1 / log2(d + 1) - 1 / log2(d + 2))`` to the difference of the discounts,
    with the distance d of the two places. As in LightGBM, the gradients of a query are scaled so
    that their sum becomes its logarithm, and pairs of LambdaRank are divided by the distance of
    their scores. Pairs of LambdaLoss are not, as neighbours would outweigh all others.

    Documents with equal scores (all before the first tree) have an arbitrary order that is computed
    from their features. So the fitted model does not depend on the order of rows or on query ids,
    except for rounding and LightGBM's `bagging_fraction`.

    Scores need not compare between queries; :func:`skfilterrank.thresholds.score_comparability`
    tells. With `gamma` 0 the loss does not compare documents of different queries.

    References
    ----------
    .. [1] C. Burges. "From RankNet to LambdaRank to LambdaMART: An Overview". Microsoft Research
       technical report, 2010.
    .. [2] D. Carmel, N. Cohen, A. Ingber, E. Kravi. "IR Evaluation and Learning in the Presence
       of Forbidden Documents". SIGIR 2022.
    .. [3] X. Wang, C. Li, N. Golbandi, M. Bendersky, M. Najork. "The LambdaLoss Framework for
       Ranking Metric Optimization". CIKM 2018, equation 14.

    Examples
    --------
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.metrics import ndcg_f_score
    >>> from skfilterrank.ranking import LambdaRankRanker
    >>> X, y, groups, _ = make_rank_and_filter(n_queries=400, random_state=0)
    >>> ranker = LambdaRankRanker(n_estimators=20, gamma=1.0, n_jobs=1).fit(X, y, groups=groups)
    >>> scores = ranker.predict(X)
    >>> ranked = ndcg_f_score(y, scores, groups=groups)
    >>> scores[scores < 0] = float("-inf")  # more likely forbidden than not
    >>> bool(ndcg_f_score(y, scores, groups=groups) > ranked)
    True
    """

    booster_: Any

    _sparse_format = "csr"
    _takes_nan = True

    def __init__(
        self,
        *,
        gains: Gains = None,
        k: int | None = 30,
        gamma: float = 0.0,
        loss: str = "lambdarank",
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        early_stopping_rounds: int | None = None,
        validation_fraction: float | None = None,
        measure: str | Callable = "ndcg_f",
        random_state: Any = None,
        n_jobs: int | None = None,
        **params,
    ) -> None:
        self.gains = gains
        self.k = k
        self.gamma = gamma
        self.loss = loss
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.early_stopping_rounds = early_stopping_rounds
        self.validation_fraction = validation_fraction
        self.measure = measure
        self.random_state = random_state
        self.n_jobs = n_jobs
        self._params = params

    def get_params(self, deep: bool = True) -> dict:
        """Return the parameters, with those of LightGBM that were given.

        Parameters
        ----------
        deep : bool, default=True
            No effect; scikit-learn passes it.

        Returns
        -------
        dict
            Values by name.
        """
        return super().get_params(deep) | self._params

    def set_params(self, **params) -> Self:
        """Set parameters of the ranker, and further ones of LightGBM.

        Parameters
        ----------
        **params
            Values by name; `fit` raises for names that LightGBM does not have.

        Returns
        -------
        self : LambdaRankRanker
            The ranker.
        """
        own = {name: params.pop(name) for name in self._get_param_names() if name in params}
        self._params = self._params | params
        return super().set_params(**own)

    @property
    def needs_groups(self) -> bool:  # type: ignore[override]  # depends on `gamma`
        """True if nothing can be learned without query ids: with `gamma`, single rows suffice."""
        return not self.gamma

    @all_or_nothing
    def fit(  # type: ignore[override]  # other parameters
        self, X, y: ArrayLike, groups=None, *, eval_set=None, eval_groups=None
    ) -> LambdaRankRanker:
        """Grow the trees.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Features of documents, rows in any order, as in :meth:`RankerMixin.fit`.
            NaN is a missing value.
        y : array-like of shape (n_rows,)
            Labels; rows with a NaN label are left out, with a warning.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. None looks for an index level "qid" on `y`, then on `X`.
            Without query ids and with `gamma` above 0, each row is its own query, with a warning:
            only hiding is learned, no order.
        eval_set : (X, y) or list of (X, y), default=None
            Held-out queries for early stopping, as in :meth:`RankerMixin.fit`.
            Measured after each tree by nDCG_f@k; if `gamma` is above 0, scores below 0 are
            hidden. With several sets, training stops when any of them has not improved.
        eval_groups : array-like or list of array-like, default=None
            Query ids of the rows of each held-out set.

        Returns
        -------
        self : LambdaRankRanker
            The fitted ranker.

        Raises
        ------
        ValueError
            If a parameter is out of range, arrays have different lengths, a label is not a number
            and has no entry in `gains`, no row is judged, or with ``gamma=0`` query ids are
            missing or no query has two different gains.
        """
        lightgbm_params = self._check_parameters()
        rows, held_out = self._rows_and_held_out(X, y, groups, eval_set, eval_groups)
        X, gains, queries = rows
        X, index = _lightgbm_matrix(X), GroupIndex.from_groups(queries)
        loss = LambdaObjective(
            gains,
            index,
            k=self.k,
            gamma=self.gamma,
            loss=self.loss,
            tie_keys=row_keys(X),
        )
        lgb = _lightgbm()
        train = lgb.Dataset(X, label=np.zeros(len(gains)), params=lightgbm_params)
        held_out = _datasets(held_out, train)
        lightgbm_params["objective"] = _objective(loss, train)
        self.evals_result_: dict[str, dict[str, list[float]]] = {}
        self.booster_ = lgb.train(
            lightgbm_params,
            train,
            num_boost_round=self.n_estimators,
            valid_sets=[dataset for dataset, _, _ in held_out],
            feval=self._measure(held_out) if held_out else None,
            callbacks=self._callbacks(held_out),
        )
        # After early stopping, LightGBM keeps the trees up to the best round.
        self.best_iteration_ = self.booster_.current_iteration()
        return self

    def predict(self, X, groups=None) -> np.ndarray:
        """Score the rows of X.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Documents, as in `fit`.
            NaN is a missing value.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. None looks for an index level "qid" on `X`.

        Returns
        -------
        ndarray of shape (n_rows,), dtype float64
            Scores, higher is better; all 0 if no tree could be grown.
        """
        check_is_fitted(self)
        X = _lightgbm_matrix(self._check_features(X, groups=groups))
        if not X.shape[0]:
            return np.empty(0)
        return np.asarray(self.booster_.predict(X, num_threads=self._n_threads()))

    @property
    def feature_importances_(self) -> np.ndarray:
        """Number of splits on each feature, ndarray of shape (n_features_in_,)."""
        check_is_fitted(self)
        return self.booster_.feature_importance("split")

    def _check_parameters(self):
        """Check parameters that LightGBM does not check, and return LightGBM's parameters."""
        check_k(self.k)
        check_number(self.gamma, "gamma", least=0)
        check_choice(self.loss, "loss", LOSSES)
        check_count(self.n_estimators, "n_estimators", 1)
        check_count(self.early_stopping_rounds, "early_stopping_rounds", or_none=True)
        check_lightgbm_names(self._params, _OWN, type(self).__name__, _UNUSED)
        params = {
            "learning_rate": check_number(self.learning_rate, "learning_rate"),
            "metric": "None",
            "num_threads": self._n_threads(),
        }
        if self._params.keys().isdisjoint(("verbose", "verbosity")):
            params["verbosity"] = -1
        if self.random_state is not None:
            seed = self.random_state
            if not is_whole_number(seed):
                seed = check_random_state(seed).randint(np.iinfo(np.int32).max)
            params["seed"] = int(seed)
        return params | self._params

    def _n_threads(self):
        """Return LightGBM's number of threads; 0 means its default."""
        check_n_jobs(self.n_jobs)
        return 0 if self.n_jobs is None else joblib.effective_n_jobs(self.n_jobs)

    def _lost_without_groups(self) -> str:
        if self.gamma:
            return "it learns to hide but not to rank"
        raise InputError(
            "there is no pair to learn from: LambdaRankRanker needs two documents of different "
            "gain in a query. Pass {groups=}, the query id of each row, or give y as a pandas "
            "Series whose index has a level named 'qid'; or use gamma > 0, which learns from "
            "single documents.",
            argument="groups=",
        )

    def _without_filtered(self, scores):
        """Hide scores below 0 if `gamma` is above 0."""
        return np.where(scores >= 0, scores, -np.inf) if self.gamma > 0 else scores

    def _measure(self, held_out):
        """Return the metric that LightGBM computes for held-out sets after each tree."""
        name = "ndcg_f" if self.k is None else f"ndcg_f@{self.k}"

        def measure(scores, dataset):
            gains, index = next((g, i) for held, g, i in held_out if held is dataset)
            return (
                name,
                ndcg_f_score(gains, self._without_filtered(scores), groups=index, k=self.k),
                True,
            )

        return measure

    def _callbacks(self, held_out):
        """Make the callbacks for recording and early stopping."""
        if not held_out:
            return []
        lgb = _lightgbm()
        callbacks = [lgb.record_evaluation(self.evals_result_)]
        if self.early_stopping_rounds is not None:
            callbacks.append(lgb.early_stopping(self.early_stopping_rounds, verbose=False))
        return callbacks


def _lightgbm():
    """Import LightGBM late, since it needs a shared library that some systems lack."""
    return import_optional("lightgbm", "LambdaRankRanker")


def _datasets(held_out, train):
    """Make LightGBM data set, gains and queries of each held-out set."""
    sets = []
    for X, gains, queries in held_out:
        dataset = train.create_valid(_lightgbm_matrix(X), label=np.zeros(len(gains)))
        sets.append((dataset, gains, GroupIndex.from_groups(queries)))
    return sets


def _objective(loss, train):
    """Return the loss as a function for LightGBM."""
    train.construct()
    if not any(train.feature_num_bin(feature) for feature in range(train.num_feature())):
        # Without a feature to split on, LightGBM raises for a custom objective. Its built-in
        # regression then predicts the label, 0, which is otherwise not used.
        return "l2"
    # A nested function, because LightGBM deep-copies its parameters and would copy the loss.
    return lambda scores, dataset: loss(scores)


def _lightgbm_matrix(X):
    """Convert sparse arrays to sparse matrices, which LightGBM supports."""
    return sparse.csr_matrix(X) if sparse.issparse(X) else X


# LightGBM's names of what the estimator sets itself.
_OWN = {
    "n_estimators": "num_iterations",
    "learning_rate": "learning_rate",
    "early_stopping_rounds": "early_stopping_round",
    "random_state": "seed",
    "n_jobs": "num_threads",
    "k": "lambdarank_truncation_level",
    "gains": "label_gain",
    "measure": "metric",
    "loss": "objective",
}
# Parameters that LightGBM reads from its command line, data files, a network or `predict` alone.
NOT_TRAINING = """
config task data valid input_model output_model snapshot_freq saved_feature_importance_type
metric_freq is_provide_training_metric output_result convert_model convert_model_language
header label_column weight_column group_column ignore_column categorical_feature
pre_partition two_round save_binary precise_float_parser parser_config_file
machines machine_list_filename num_machines local_listen_port time_out
start_iteration_predict num_iteration_predict predict_raw_score predict_leaf_index
predict_contrib predict_disable_shape_check
pred_early_stop pred_early_stop_freq pred_early_stop_margin
"""
# The objective of this package reads no parameters of LightGBM's own.
_UNUSED = f"{NOT_TRAINING} sigmoid lambdarank_norm lambdarank_position_bias_regularization"


def check_lightgbm_names(params, own, owner: str, unused: str = NOT_TRAINING) -> None:
    """Raise for names of parameters that LightGBM would not use.

    Parameters
    ----------
    params : dict
        Parameters that go to LightGBM beside those of the estimator `owner`.
    own : dict
        For each argument of `owner`, the name that LightGBM has for it.
    owner : str
        The estimator, in words.
    unused : str
        LightGBM's names of parameters that have no effect.
    """
    known = {alias: name for name, names in lightgbm_aliases().items() for alias in names}
    arguments = {known.get(name, name): argument for argument, name in own.items()}
    given: dict[str, str] = {}
    for name, value in params.items():
        if not isinstance(value, str | Real | Path | list | tuple | set | np.ndarray | None):
            raise InputError(
                f"{name} must be a number, a text or a list, as LightGBM takes it, got "
                f"{brief(value)}."
            )
        if name not in known:
            hint = did_you_mean(name, sorted({*known, *own}))
            raise InputError(f"{brief(name)} is no parameter of {owner}.{hint}")
        if argument := arguments.get(known[name]):
            raise InputError(f"{brief(name)} is another name of {argument}=: set {argument}=.")
        if known[name] in unused.split():
            raise InputError(
                f"{brief(name)} does not change how LightGBM learns from arrays: leave it out."
            )
        if other := given.get(known[name]):
            raise InputError(f"{brief(other)} and {brief(name)} are the same: leave one out.")
        given[known[name]] = name

"""make_ranker: ready-made rankers by name, and features that several of them share."""

import inspect
import pickle
import re
from collections.abc import Callable
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, Self

import joblib
import numpy as np
from scipy import sparse
from sklearn.base import (
    BaseEstimator,
    OneToOneFeatureMixin,
    TransformerMixin,
    clone,
)
from sklearn.ensemble import RandomForestRegressor, VotingClassifier, VotingRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from skfilterrank._base.checks import check_choice, check_container
from skfilterrank._base.lazy_names import import_optional
from skfilterrank._estimators.ranker_mixin import RankerMixin, all_or_nothing
from skfilterrank._estimators.wrapping import WrapsFitted
from skfilterrank._lists.gains import Gains
from skfilterrank.exceptions import InputError, brief, did_you_mean
from skfilterrank.ranking._adarank import AdaRankRanker
from skfilterrank.ranking._coordinate_ascent import CoordinateAscentRanker
from skfilterrank.ranking._fit_with_groups import XGBOOST_ALIASES
from skfilterrank.ranking._lambdarank import LambdaRankRanker, check_lightgbm_names
from skfilterrank.ranking._query_ranker import OrdinalRanker, QueryRanker
from skfilterrank.ranking._rankboost import RankBoostRanker

LOSSES = ("bce", "mse", "ordinal", "weighted-ordinal", "lambdarank", "lambdarank+bce")
_LEARNERS = ("linear", "trees", "blend")
_LINEAR_METHODS = ("adarank", "coordinate_ascent", "logistic")
# LightGBM grows the same trees for any number of threads.
_LIGHTGBM = {"verbose": -1, "deterministic": True, "force_row_wise": True}
# Small, slow-learning trees on part of rows and columns: query-grouped cross-validation on text
# features of a few thousand documents prefers them to LightGBM's defaults.
_TREES = {
    "n_estimators": 200,
    "learning_rate": 0.03,
    "num_leaves": 15,
    "colsample_bytree": 0.3,
    "subsample": 0.7,
    "subsample_freq": 1,
    "reg_lambda": 5.0,
}
# Results of SharedFeatures inside share_features().
_cache: ContextVar[dict | None] = ContextVar("features", default=None)


def make_ranker(
    name: str,
    learner: Any = None,
    *,
    features=None,
    gains: Gains = None,
    random_state=None,
    n_jobs: int | None = None,
    **params,
) -> RankerMixin:
    """Make an unfitted ranker by the name of a loss or of a learning to rank method.

    Each ranker is fitted by ``fit(X, y, groups=...)`` on rows in any order, and scores by
    ``predict(X)``. It works in scikit-learn's model selection and inside :class:`RankAndFilter`,
    which adds the threshold.

    Parameters
    ----------
    name : str
        Name of a loss or of a method. The six losses of learning to rank and filter [1]_:

        - "bce": binary cross-entropy, a classifier of gain above 0
        - "mse": squared error, a regressor of the gain
        - "ordinal", "weighted-ordinal": Frank and Hall's ordinal loss, :class:`OrdinalRanker`
          without and with gain weights
        - "lambdarank", "lambdarank+bce": :class:`LambdaRankRanker`, without and with binary
          cross-entropy

        The eight learning to rank methods of table 1 of [2]_, see Notes:

        - "adarank": :class:`AdaRankRanker`
        - "listnet": trees with a listwise cross-entropy loss, LightGBM's rank_xendcg
        - "rankboost": :class:`RankBoostRanker`
        - "random_forest": scikit-learn's regression forest of the gain
        - "ranknet": XGBoost's trees with RankNet's pairwise logistic loss
        - "coordinate_ascent": :class:`CoordinateAscentRanker`
        - "logistic": scikit-learn's logistic regression of gain > 0, of standardised features
        - "lambdamart": LightGBM's lambdarank
    learner : {"linear", "trees", "blend"} or None, default=None
        Learner for a loss: the mean of linear models and gradient-boosted trees ("blend", also for
        None), or one of the two; "linear" takes about a tenth of the time. The two LambdaRank
        losses always use trees (LightGBM). A method has no choice of learner. For a learner of your
        own, see :class:`QueryRanker` and :class:`OrdinalRanker`.
    features : transformer, dict, or None, default=None
        Transformer of X into numbers that uses no labels, such as
        :func:`skfilterrank.ranking.make_text_features`; a dict gives one for "linear" and one for
        "trees". None uses X as numbers; linear learners for losses standardise it, with missing
        values replaced by the mean. They scale sparse X without centring it.
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain, as in :func:`skfilterrank.metrics.ndcg_f_score`. Inside
        :class:`RankAndFilter` set its `gains` instead.
    random_state : int, RandomState instance or None, default=None
        Seed of methods that draw random numbers. For None, LightGBM and XGBoost use their own fixed
        seeds.
    n_jobs : int or None, default=None
        Threads or processes, None means 1; results do not depend on it.
    **params
        Further parameters of the method, or of the learner of a loss, such as ``n_estimators=300``.
        "listnet", "ranknet" and "lambdamart" also take `validation_fraction` and `measure` of
        :class:`QueryRanker`, for early stopping. XGBoost's other names, such as `eta`, become those
        of its ranker, such as `learning_rate`.

    Returns
    -------
    RankerMixin
        A ranker of this library if it needs no step before it; else a :class:`QueryRanker` around
        the estimator, or a Pipeline of "features" and "model".

    Raises
    ------
    ValueError
        For an unknown name or learner, for a `learner` with a method, for `params` with a blend,
        for a parameter that the estimator does not have, or for features that do not transform.
    ImportError
        If the package behind a method is not installed.

    Notes
    -----
    Methods that keep a published name differ from the publication as follows.

    - "lambdamart": LightGBM's LambdaMART [3]_ uses histograms, trees that grow leaf by leaf, pairs
      with a document among the 30 first (``lambdarank_truncation_level``), and lambdas normalised
      by query (``lambdarank_norm``). Gains become grades in ascending order, and a grade has the
      weight ``2**grade - 1``. Before the first tree all scores are equal, and documents are in the
      order of rows.
    - "listnet": ListNet [4]_ is a linear model; here trees minimise the cross-entropy. The target
      of rank_xendcg [5]_ is a document's share of ``2**grade - u``, not the softmax of the labels;
      u is drawn between 0 and 1 for every tree. This loss bounds nDCG. Queries with only one label
      add a little noise.
    - "ranknet": RankNet [6]_ is a neural network; only its loss is used here: the cross-entropy,
      over all pairs, of the prediction that the document of higher gain comes first. XGBoost scales
      a query's gradients by the number of its pairs (``lambdarank_normalization``).
    - "random_forest": Breiman's forest [7]_ is fitted on single documents, without using queries.
      RankLib's "random forests" are bags of boosted trees. Defaults are ``n_estimators=200``,
      ``min_samples_leaf=5`` and ``max_features=1/3``.
    - "logistic": all gains above 0 are one class. Sparse features are scaled, not centred.

    NaN in X is a missing value, but an error for "adarank", "coordinate_ascent" and "logistic".
    "lambdarank", "lambdamart", "listnet" and "ranknet" raise if all gains are equal; "bce" and
    "logistic" raise if all gains are above 0, or none is.

    References
    ----------
    .. [1] Carmel et al., "IR Evaluation and Learning in the Presence of Forbidden Documents",
       SIGIR 2022, section 5.1, where one neural text encoder serves all six losses.
    .. [2] Karmaker Santu and Feng, "Joint Upper & Lower Bound Normalization for IR Evaluation",
       2022.
    .. [3] C. Burges. "From RankNet to LambdaRank to LambdaMART: An Overview". Microsoft Research
       technical report, 2010.
    .. [4] Z. Cao et al. "Learning to Rank: From Pairwise Approach to Listwise Approach". ICML 2007.
    .. [5] S. Bruch. "An Alternative Cross Entropy Loss for Learning-to-Rank". WWW 2021.
    .. [6] C. Burges et al. "Learning to Rank Using Gradient Descent". ICML 2005.
    .. [7] L. Breiman. "Random Forests". Machine Learning 45, 2001.

    Examples
    --------
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.ranking import RankAndFilter, make_ranker
    >>> X, y, groups, _ = make_rank_and_filter(n_queries=100, random_state=0)
    >>> for name in ("ordinal", "lambdamart"):
    ...     model = RankAndFilter(make_ranker(name), measure="ndcg_f@3").fit(X, y, groups=groups)
    ...     print(name, model.threshold_ is not None)
    ordinal True
    lambdamart True
    """
    check_choice(name, "name", (*LOSSES, *METHODS))
    common, stopping = {"random_state": random_state, "n_jobs": n_jobs}, {}
    if name in METHODS:
        if learner is not None:
            raise InputError(
                f"learner={brief(learner)} is for losses ({', '.join(LOSSES)}), got name="
                f"{brief(name)}: leave learner out."
            )
        if name in _STOPPED_EARLY:
            names = {"validation_fraction", "measure"} & params.keys()
            stopping = {name: params.pop(name) for name in names}
        maker = METHODS[name]
        if isinstance(maker, type):
            _check_names(params, maker)
        known = inspect.signature(maker).parameters
        model = maker(**{key: common[key] for key in common if key in known}, **params)
        if features is not None:
            model = _after_features(
                features, "linear" if name in _LINEAR_METHODS else "trees", model
            )
    else:
        common["n_jobs"] = 1 if n_jobs is None else n_jobs
        model = _of_loss(name, "blend" if learner is None else learner, features, common, params)
    if isinstance(model, RankerMixin):
        return model.set_params(gains=gains)  # type: ignore[attr-defined]  # an estimator too
    return QueryRanker(model, gains=gains, **stopping)


def _of_loss(loss, learner, features, common, params):
    """Make an estimator for a loss."""
    check_choice(learner, "learner", _LEARNERS)
    trees = common | _TREES
    if loss.startswith("lambdarank"):
        gamma = 3.0 if loss.endswith("+bce") else 0.0
        model = LambdaRankRanker(**{"gamma": gamma} | trees | params)
        return model if features is None else _after_features(features, "trees", model)
    if learner == "blend" and params:
        raise InputError(
            f"learner='blend' takes no further parameters, got {brief(params)}: choose "
            "learner='linear' or 'trees', which has them."
        )
    members = [
        (kind, _after_features(features, kind, _member(kind, loss, trees, params)))
        for kind in (("linear", "trees") if learner == "blend" else (learner,))
    ]
    model = members[0][1]
    if learner == "blend":
        model = (
            VotingRegressor(members) if loss == "mse" else VotingClassifier(members, voting="soft")
        )
    if loss.endswith("ordinal"):
        return OrdinalRanker(model, weights="gain" if loss == "weighted-ordinal" else None)
    return model


def _member(kind, loss, trees, params):
    """Make a linear model or trees that learn a loss."""
    if kind == "trees":
        lightgbm = import_optional("lightgbm", "learner='trees'")
        make = lightgbm.LGBMRegressor if loss == "mse" else lightgbm.LGBMClassifier
        return make(**trees | _LIGHTGBM | _known_to_lightgbm(params, make))
    if loss == "mse":
        _check_names(params, Ridge)
        return Ridge(**{"alpha": 10.0} | params)
    _check_names(params, LogisticRegression)
    return LogisticRegression(**{"max_iter": 1000} | params)


def _after_features(features, kind, model):
    """Make a Pipeline of features that suit the kind of model, and the model."""
    if isinstance(features, dict):
        if kind not in features:
            raise InputError(f"features must have the key {kind!r}, got {brief(features)}.")
        features = features[kind]
    if features is not None:
        if isinstance(features, type) or not hasattr(features, "fit_transform"):
            raise InputError(
                "features must be a transformer, a dict of transformers or None, got "
                f"{brief(features)}. Give one such as StandardScaler()."
            )
        return Pipeline([("features", SharedFeatures(features)), ("model", model)])
    if kind == "trees":
        return Pipeline([("model", model)])
    impute = SimpleImputer(keep_empty_features=True)
    return Pipeline([("impute", impute), ("scale", Standardizer()), ("model", model)])


def _random_forest(*, random_state, n_jobs, **params):
    settings = {
        "n_estimators": 200,
        "min_samples_leaf": 5,
        "max_features": 1 / 3,
        "random_state": random_state,
        "n_jobs": n_jobs,
    }
    _check_names(params, RandomForestRegressor)
    return RandomForestRegressor(**settings | params)


def _logistic(*, random_state, **params):
    settings = {"max_iter": 1000, "random_state": random_state}
    _check_names(params, LogisticRegression)
    model = LogisticRegression(**settings | params)
    return Pipeline([("scale", Standardizer()), ("model", model)])


def _ranknet(*, random_state, n_jobs, **params):
    xgboost = import_optional("xgboost", 'make_ranker("ranknet")')
    _refuse_objective(params, "rank:pairwise")
    _check_names(params, xgboost.XGBRanker, partial(_xgboost_names, xgboost))
    settings = {
        "objective": "rank:pairwise",
        # Use all pairs of a query.
        "lambdarank_pair_method": "topk",
        "lambdarank_num_pair_per_sample": 2**31 - 1,
        # Otherwise pairs with distant scores have less weight, unlike in RankNet.
        "lambdarank_score_normalization": False,
        "random_state": random_state,
        "n_jobs": 1 if n_jobs is None else n_jobs,
    }
    given = {"random_state": random_state, "n_jobs": n_jobs} | params
    for name, own in XGBOOST_ALIASES.items():
        if (value := params.pop(name, None)) is None:
            continue
        if given.get(own) is not None:
            raise InputError(f"{name!r} is XGBoost's name of {own}=: leave one of them out.")
        params[own] = value
    return xgboost.XGBRanker(**settings | params)


def _xgboost_names(xgboost):
    """Return XGBoost's names of parameters, among them those that its ranker does not list."""
    rows = xgboost.DMatrix(np.zeros((2, 1)), label=[0, 1], qid=[0, 0])
    for booster in ("dart", "gblinear"):
        params = {"objective": "rank:ndcg", "booster": booster, "verbosity": 0, "nthread": 1}
        state = xgboost.train(params, rows, num_boost_round=1).save_config()
        # Sections of a model hold numbers of its trees and features.
        for section in re.findall(r'(?:train|generic|rank)_param":{([^{}]*)}', state):
            yield from re.findall(r'"(\w+)":', section)


def _lightgbm(loss, /, *, random_state, n_jobs, **params):
    """Make LightGBM's ranker with one of its objectives."""
    lightgbm = import_optional("lightgbm", f"LightGBM's {loss}")
    _refuse_objective(params, loss)
    settings = {
        "objective": loss,
        "random_state": random_state,
        "n_jobs": 1 if n_jobs is None else n_jobs,
    }
    params = _known_to_lightgbm(params, lightgbm.LGBMRanker)
    return lightgbm.LGBMRanker(**_LIGHTGBM | settings | params)


def _refuse_objective(params, loss):
    """Raise for another loss than that of the method."""
    if "objective" in params:
        raise InputError(
            f"objective= of this method is {loss!r}: leave it out, or put a ranker with another "
            "one into a QueryRanker."
        )


def _check_names(params, make, more=tuple):
    """Raise for a parameter that the class of an estimator does not have; `more` lists others."""
    known = make().get_params(deep=False).keys() - {"gains", "n_jobs", "random_state"}
    known = sorted(known if params.keys() <= known else known.union(more()))
    for name in params:
        if name not in known:
            raise InputError(
                f"{brief(name)} is no parameter of make_ranker, nor of {make.__name__}, which it "
                f"makes here.{did_you_mean(name, known)} {make.__name__} has {', '.join(known)}."
            )


def _known_to_lightgbm(params, make):
    """Return parameters; raise for one that LightGBM's estimator would not use."""
    arguments = {*make().get_params(), *_LIGHTGBM}
    others = {name: value for name, value in params.items() if name not in arguments}
    owner = f"make_ranker, nor of LightGBM's {make.__name__}, which it makes here"
    check_lightgbm_names(others, {own: own for own in arguments}, owner)
    return params


METHODS: dict[str, Callable] = {
    "adarank": AdaRankRanker,
    "listnet": partial(_lightgbm, "rank_xendcg"),
    "rankboost": RankBoostRanker,
    "random_forest": _random_forest,
    "ranknet": _ranknet,
    "coordinate_ascent": CoordinateAscentRanker,
    "logistic": _logistic,
    "lambdamart": partial(_lightgbm, "lambdarank"),
}
# Methods with boosted trees, which QueryRanker can stop early on held-out queries.
_STOPPED_EARLY = ("listnet", "ranknet", "lambdamart")


class Standardizer(WrapsFitted, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Scale every feature to standard deviation 1, and dense features to mean 0.

    Sparse X keeps its zeros. A model with an unpenalised intercept learns the same from dense and
    sparse X.

    Attributes
    ----------
    scaler_ : StandardScaler
        The fitted scaler; after fitting on dense or sparse X, it accepts both.
    """

    @all_or_nothing
    def fit(self, X, y=None, sample_weight=None) -> Self:
        """Learn the scale of each feature of X, dense or sparse of shape (n_rows, n_features)."""
        scaler = StandardScaler(with_mean=not sparse.issparse(X))
        self.scaler_ = scaler.fit(X, y, sample_weight)
        return self

    def transform(self, X):
        """Scale X, dense or sparse of shape (n_rows, n_features)."""
        check_is_fitted(self)
        if self.scaler_.with_mean and sparse.issparse(X):
            X = X.toarray()
        return self.scaler_.transform(X)

    def _fitted_inner(self):
        """Return the fitted scaler, or None."""
        return getattr(self, "scaler_", None)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(StandardScaler(with_mean=False)).input_tags
        return tags


@contextmanager
def share_features():
    """Let every :class:`SharedFeatures` cache its results in this context.

    Comparing six losses by cross-validation fits the same transformer on the same rows many times;
    inside this context each transformer is fitted once. The memory is freed at the end. Contexts
    may be nested: the inner one starts empty. Sharing happens within one process and thread, so
    folds that are fitted with ``n_jobs`` above 1 compute their own.
    """
    token = _cache.set({})
    try:
        yield
    finally:
        _cache.reset(token)


class SharedFeatures(WrapsFitted, TransformerMixin, BaseEstimator):
    """Wrapper of a transformer that ignores labels, so that models can share its output.

    Parameters
    ----------
    transformer : transformer
        Transformer that is fitted on X alone. Its results must be repeatable: its `random_state`,
        if it has one, must be an int. Inside :func:`share_features` models get the same arrays and
        must not change them in place.

    Attributes
    ----------
    transformer_ : transformer
        The fitted transformer.
    n_features_in_ : int
        Number of features, where the transformer knows it.
    feature_names_in_ : ndarray of str
        Names of the features, where the transformer knows them.

    See Also
    --------
    share_features : Context in which outputs are shared; outside of it, none are shared.
    """

    def __init__(self, transformer):
        self.transformer = transformer

    @all_or_nothing
    def fit(self, X, y=None) -> Self:
        """Fit the transformer on X; y is not used."""
        self._fit(X)
        return self

    @all_or_nothing
    def fit_transform(self, X, y=None):
        """Fit the transformer and transform X."""
        return self._fit(X)

    def _fit(self, X):
        """Fit the transformer, and return its features of X."""
        check_container(X)
        self.transformer_, features = _remember(
            None, (self.transformer, X), lambda: _fit_transform(self.transformer, X)
        )
        return features

    def transform(self, X):
        """Transform X with the fitted transformer."""
        check_is_fitted(self)
        fitted = self.transformer_
        return _remember(fitted, X, lambda: (fitted, fitted.transform(X)))[1]

    def get_feature_names_out(self, input_features=None):
        """Return the names of the features, where the transformer knows them; ndarray of str."""
        check_is_fitted(self)
        return self.transformer_.get_feature_names_out(input_features)

    def _fitted_inner(self):
        """Return the fitted transformer, or None."""
        return getattr(self, "transformer_", None)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.transformer).input_tags
        return tags


def _fit_transform(transformer, X):
    fitted = clone(transformer)
    features = fitted.fit_transform(X)
    return fitted, features


def _remember(fitted, what, compute):
    """Return (transformer, result) of `compute`, which runs once inside the context."""
    cache = _cache.get()
    if cache is None:
        return compute()
    try:
        # The cache holds the transformer, so that no other object can get its id() meanwhile.
        key = (id(fitted), joblib.hash(what))
    except (pickle.PicklingError, AttributeError, TypeError):
        # Some parameters, such as a lambda, cannot be hashed; then nothing is cached.
        return compute()
    if key not in cache:
        cache[key] = compute()
    return cache[key]

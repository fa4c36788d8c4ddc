"""make_ranker: every ready-made ranker by its name."""

import inspect
from collections.abc import Callable

from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.ensemble import VotingClassifier, VotingRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from skfilterrank._estimators.ranker_mixin import RankerMixin
from skfilterrank._lists.checks import check_choice
from skfilterrank._lists.gains import Gains
from skfilterrank.exceptions import InputError, brief
from skfilterrank.ranking._boosting.adarank import AdaRankRanker
from skfilterrank.ranking._boosting.rankboost import RankBoostRanker
from skfilterrank.ranking._coordinate_ascent import CoordinateAscentRanker
from skfilterrank.ranking._lambdarank.lambdarank import LambdaRankRanker
from skfilterrank.ranking._methods.ordinal import OrdinalRanker
from skfilterrank.ranking._methods.pointwise import make_logistic, make_random_forest
from skfilterrank.ranking._methods.shared_features import SharedFeatures
from skfilterrank.ranking._methods.trees import make_lambdamart, make_listnet, make_ranknet
from skfilterrank.ranking._query_ranker import QueryRanker

_LOSSES = ("bce", "mse", "ordinal", "weighted-ordinal", "lambdarank", "lambdarank+bce")
_LEARNERS = ("linear", "trees", "blend")
_METHODS: dict[str, Callable] = {
    "adarank": AdaRankRanker,
    "listnet": make_listnet,
    "rankboost": RankBoostRanker,
    "random_forest": make_random_forest,
    "ranknet": make_ranknet,
    "coordinate_ascent": CoordinateAscentRanker,
    "logistic": make_logistic,
    "lambdamart": make_lambdamart,
}
_LINEAR_METHODS = ("adarank", "coordinate_ascent", "logistic")
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


def get_ranker_names(kind: str | None = None) -> list[str]:
    """Names that :func:`make_ranker` knows.

    Parameters
    ----------
    kind : {"loss", "method"} or None, default=None
        "loss" gives the six losses of learning to rank and filter, which come with a choice of
        `learner`, "method" the eight learning to rank methods. None gives them all.

    Returns
    -------
    list of str
        The names, losses first.

    Examples
    --------
    >>> from skfilterrank.ranking import get_ranker_names
    >>> get_ranker_names("loss")
    ['bce', 'mse', 'ordinal', 'weighted-ordinal', 'lambdarank', 'lambdarank+bce']
    >>> len(get_ranker_names())
    14
    """
    check_choice(kind, "kind", (None, "loss", "method"))
    return [*(_LOSSES if kind != "method" else ()), *(_METHODS if kind != "loss" else ())]


def make_ranker(
    name: str,
    *,
    learner: str | None = None,
    features=None,
    gains: Gains = None,
    random_state=0,
    n_jobs: int | None = None,
    **params,
) -> RankerMixin:
    """Make an unfitted ranker by the name of a loss or of a learning to rank method.

    All are fitted by ``fit(X, y, groups=...)``, rows in any order, score by ``predict(X)``, and go
    into scikit-learn's model selection and into :class:`RankAndFilter`, which adds the threshold.

    Parameters
    ----------
    name : str
        One of :func:`get_ranker_names`. The six losses of learning to rank and filter [1]_:

        - "bce": binary cross-entropy, a classifier of gain above 0
        - "mse": squared error, a regressor of the gain
        - "ordinal", "weighted-ordinal": Frank and Hall's ordinal loss, :class:`OrdinalRanker`
          without and with gain weights
        - "lambdarank", "lambdarank+bce": :class:`LambdaRankRanker`, without and with binary
          cross-entropy

        The eight learning to rank methods of table 1 of [2]_; each says how it differs from the
        method that first had its name:

        - "adarank": :class:`AdaRankRanker`
        - "listnet": :func:`make_listnet`, LightGBM's or CatBoost's trees
        - "rankboost": :class:`RankBoostRanker`
        - "random_forest": :func:`make_random_forest`, scikit-learn's
        - "ranknet": :func:`make_ranknet`, XGBoost's trees
        - "coordinate_ascent": :class:`CoordinateAscentRanker`
        - "logistic": :func:`make_logistic`, scikit-learn's
        - "lambdamart": :func:`make_lambdamart`, LightGBM's trees
    learner : {"linear", "trees", "blend"} or None, default=None
        Of a loss: linear models (None, too), gradient-boosted trees (LightGBM), or the mean of
        both. The two LambdaRank losses always use trees. A method has no choice of learner.
    features : transformer, dict, or None, default=None
        What turns X into numbers without looking at labels, such as
        :func:`skfilterrank.ranking.make_text_features`; a dict gives one for "linear" and one for
        "trees". None takes X as numbers; the linear learners of losses standardise it, with
        missing values at the mean.
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain, as in :func:`skfilterrank.metrics.ndcg_f_score`. Inside
        :class:`RankAndFilter` set its `gains` instead.
    random_state : int or None, default=0
        Seed, where something is drawn: 0 and not None, so that a name stands for one ranker.
    n_jobs : int or None, default=None
        Threads or processes, None means 1; results do not depend on it.
    **params
        Further parameters of the method, or of the learner of a loss.

    Returns
    -------
    RankerMixin
        A ranker of this library as it is, where nothing stands before it; else a
        :class:`QueryRanker` around the estimator, or a Pipeline of "features" and "model".

    Raises
    ------
    ValueError
        For an unknown name or learner, for the `learner` of a method, or `params` of a blend.
    ImportError
        If the package behind a method is not installed.

    References
    ----------
    .. [1] Carmel et al., "IR Evaluation and Learning in the Presence of Forbidden Documents",
       SIGIR 2022, section 5.1, where one neural text encoder serves all six losses.
    .. [2] Karmaker Santu and Feng, "Joint Upper & Lower Bound Normalization for IR Evaluation",
       2022.

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
    check_choice(name, "name", tuple(get_ranker_names()))
    common, held_out = {"random_state": random_state, "n_jobs": n_jobs}, None
    if name in _METHODS:
        if learner is not None:
            raise InputError(
                f"learner={brief(learner)} is for losses ({', '.join(_LOSSES)}), got name="
                f"{brief(name)}: leave learner out."
            )
        maker = _METHODS[name]
        known = inspect.signature(maker).parameters
        model = maker(**{key: common[key] for key in common if key in known}, **params)
        if isinstance(model, QueryRanker):
            held_out, model = model.validation_fraction, model.estimator
        if features is not None:
            model = _after_features(
                features, "linear" if name in _LINEAR_METHODS else "trees", model
            )
    else:
        common["n_jobs"] = 1 if n_jobs is None else n_jobs
        model = _of_loss(name, "linear" if learner is None else learner, features, common, params)
    if isinstance(model, RankerMixin):
        return model.set_params(gains=gains)  # type: ignore[attr-defined]  # an estimator too
    return QueryRanker(model, gains=gains, validation_fraction=held_out)


def _of_loss(loss, learner, features, common, params):
    """The estimator that learns by a loss."""
    check_choice(learner, "learner", _LEARNERS)
    trees = common | _TREES
    if loss.startswith("lambdarank"):
        gamma = 3.0 if loss.endswith("+bce") else 0.0
        model = LambdaRankRanker(**{"gamma": gamma} | trees | params)
        return model if features is None else _after_features(features, "trees", model)
    if learner == "blend" and params:
        raise InputError(f"learner='blend' takes no further parameters, got {brief(params)}.")
    trees |= {"verbose": -1, "deterministic": True, "force_row_wise": True}
    if loss == "mse":
        make = {"linear": Ridge, "trees": LGBMRegressor}
        settings = {"linear": {"alpha": 10.0}, "trees": trees}
    else:
        make = {"linear": LogisticRegression, "trees": LGBMClassifier}
        settings = {"linear": {"max_iter": 1000}, "trees": trees}
    members = [
        (kind, _after_features(features, kind, make[kind](**settings[kind] | params)))
        for kind in (("linear", "trees") if learner == "blend" else (learner,))
    ]
    if learner != "blend":
        ((_, model),) = members
    else:
        model = (
            VotingRegressor(members) if loss == "mse" else VotingClassifier(members, voting="soft")
        )
    if loss.endswith("ordinal"):
        return OrdinalRanker(model, weights="gain" if loss == "weighted-ordinal" else None)
    return model


def _after_features(features, kind, model):
    """A Pipeline of the features that suit the kind of model, and the model."""
    if isinstance(features, dict):
        if kind not in features:
            raise InputError(f"features must have the key {kind!r}, got {brief(features)}.")
        features = features[kind]
    if features is not None:
        return Pipeline([("features", SharedFeatures(features)), ("model", model)])
    if kind == "trees":
        return Pipeline([("model", model)])
    impute = SimpleImputer(keep_empty_features=True)
    return Pipeline([("impute", impute), ("scale", StandardScaler()), ("model", model)])

"""make_ranking_method: the eight methods by their names."""

import inspect

from skfilterrank._core.checks import check_choice
from skfilterrank.ranking._boosting.adarank import AdaRankRanker
from skfilterrank.ranking._boosting.rankboost import RankBoostRanker
from skfilterrank.ranking._coordinate_ascent import CoordinateAscentRanker
from skfilterrank.ranking._methods.pointwise import make_logistic, make_random_forest
from skfilterrank.ranking._methods.trees import make_lambdamart, make_listnet, make_ranknet

_MAKERS = {
    "adarank": AdaRankRanker,
    "listnet": make_listnet,
    "rankboost": RankBoostRanker,
    "random_forest": make_random_forest,
    "ranknet": make_ranknet,
    "coordinate_ascent": CoordinateAscentRanker,
    "logistic": make_logistic,
    "lambdamart": make_lambdamart,
}
RANKING_METHODS = tuple(_MAKERS)


def make_ranking_method(name: str, *, random_state=0, n_jobs=None, **params):
    """Make an unfitted ranker by the name of a learning to rank method.

    All eight are fitted by ``fit(X, y, groups=...)``, rows in any order, score by ``predict(X)``,
    and go into scikit-learn's model selection and into :class:`RankAndFilter`, which adds the
    threshold.

    Parameters
    ----------
    name : str
        One of ``RANKING_METHODS``:

        - "adarank": :class:`AdaRankRanker`
        - "listnet": :func:`make_listnet`, LightGBM's or CatBoost's trees
        - "rankboost": :class:`RankBoostRanker`
        - "random_forest": :func:`make_random_forest`, scikit-learn's
        - "ranknet": :func:`make_ranknet`, XGBoost's trees
        - "coordinate_ascent": :class:`CoordinateAscentRanker`
        - "logistic": :func:`make_logistic`, scikit-learn's
        - "lambdamart": :func:`make_lambdamart`, LightGBM's trees
    random_state : int or None, default=0
        Seed, where the method draws.
    n_jobs : int or None, default=None
        Threads or processes; results do not depend on it.
    **params
        Further parameters of the method, `gains` with all of them.

    Returns
    -------
    estimator
        A :class:`QueryRanker` around the estimator of another library, or one of this library.

    Raises
    ------
    ValueError
        For an unknown name.
    ImportError
        If the package behind a method is not installed.

    Notes
    -----
    The methods of table 1 of [1]_. How each differs from what first had its name is said where it
    is made.

    References
    ----------
    .. [1] Karmaker Santu and Feng, "Joint Upper & Lower Bound Normalization for IR Evaluation",
       2022.

    Examples
    --------
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.ranking import RANKING_METHODS, RankAndFilter, make_ranking_method
    >>> len(RANKING_METHODS)
    8
    >>> X, y, groups, _ = make_rank_and_filter(n_queries=100, random_state=0)
    >>> method = make_ranking_method("lambdamart", n_estimators=20)
    >>> RankAndFilter(method, k=3).fit(X, y, groups=groups).threshold_ is not None
    True
    """
    check_choice(name, "name", RANKING_METHODS)
    maker = _MAKERS[name]
    common = {"random_state": random_state, "n_jobs": n_jobs}
    known = inspect.signature(maker).parameters
    return maker(**{key: common[key] for key in common if key in known}, **params)

"""LambdaMART, RankNet and ListNet on the boosted trees of LightGBM, XGBoost and CatBoost."""

from lightgbm import LGBMRanker

from skfilterrank._lists.checks import check_choice
from skfilterrank.ranking._methods.optional import import_optional
from skfilterrank.ranking._query_ranker import QueryRanker

BACKENDS = ("lightgbm", "catboost")

# The same trees whatever the number of threads.
_LIGHTGBM = {"verbose": -1, "deterministic": True, "force_row_wise": True}


def make_lambdamart(
    *, gains=None, validation_fraction=None, random_state=0, n_jobs=None, **params
) -> QueryRanker:
    """Make a LambdaMART ranker: boosted trees that learn nDCG through LambdaRank's gradients.

    Parameters
    ----------
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain. Only the order of the gains is learned from: the lowest is
        grade 0, the next grade 1, and a grade counts ``2**grade - 1`` in nDCG.
    validation_fraction : float or None, default=None
        Share of the training queries to stop early by, as in :class:`QueryRanker`.
    random_state : int or None, default=0
        Seed of what LightGBM draws; None takes LightGBM's own seeds, which are fixed too.
    n_jobs : int or None, default=None
        Threads; None means 1. The trees do not depend on it.
    **params
        Parameters of LGBMRanker, such as ``n_estimators=300`` or ``early_stopping_rounds=20``,
        which needs `eval_set` in `fit` or `validation_fraction`.

    Returns
    -------
    QueryRanker
        Around a ``LGBMRanker(objective="lambdarank")``; in a search its parameters are
        ``estimator__num_leaves`` and so on.

    See Also
    --------
    LambdaRankRanker : The same with nDCG_f, gains of either sign as they are, and results that do
        not depend on the order of a query's rows.

    Notes
    -----
    LightGBM's lambdarank is LambdaMART [1]_. It differs from the original in what LightGBM adds:
    histograms of the features, trees that grow leaf by leaf, pairs only with a document among the
    30 first of the current ranking (``lambdarank_truncation_level``), and lambdas normalised by
    query (``lambdarank_norm``). Before the first tree all scores are equal, and LightGBM lets them
    stand as the rows of the query do.

    NaN in X is a missing value. Where all gains are equal, `fit` raises.

    References
    ----------
    .. [1] C. Burges. "From RankNet to LambdaRank to LambdaMART: An Overview". Microsoft Research
       technical report, 2010.

    Examples
    --------
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.ranking import make_lambdamart
    >>> X, y, groups, _ = make_rank_and_filter(n_queries=100, random_state=0)
    >>> make_lambdamart(n_estimators=20).fit(X, y, groups=groups).predict(X).shape == y.shape
    True
    """
    return _lightgbm("lambdarank", gains, validation_fraction, random_state, n_jobs, params)


def make_ranknet(
    *, gains=None, validation_fraction=None, random_state=0, n_jobs=None, **params
) -> QueryRanker:
    """Make a RankNet-style ranker: boosted trees under RankNet's pairwise logistic loss.

    Parameters
    ----------
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain; only the order of the gains is learned from.
    validation_fraction : float or None, default=None
        Share of the training queries to stop early by, as in :class:`QueryRanker`.
    random_state : int or None, default=0
        Seed of what XGBoost draws.
    n_jobs : int or None, default=None
        Threads; None means 1.
    **params
        Parameters of XGBRanker, such as ``n_estimators=300`` or ``early_stopping_rounds=20``,
        which needs `eval_set` in `fit` or `validation_fraction`.

    Returns
    -------
    QueryRanker
        Around a ``XGBRanker(objective="rank:pairwise")``; in a search its parameters are
        ``estimator__max_depth`` and so on.

    Raises
    ------
    ImportError
        Without xgboost: ``pip install 'skfilterrank[xgboost]'``.

    Notes
    -----
    RankNet [1]_ is a neural network; here trees are boosted on its loss, the cross-entropy of
    "the document of the higher gain stands first" over all pairs of a query, so that only the loss
    is RankNet's. Scores of published RankNets tell about networks, which had a hard time on the
    features of LETOR, and not about the loss. XGBoost scales a query's gradients by the number of
    its pairs (``lambdarank_normalization``), where RankNet adds them up.

    NaN in X is a missing value. Where all gains are equal, `fit` raises.

    References
    ----------
    .. [1] C. Burges et al. "Learning to Rank Using Gradient Descent". ICML 2005.

    Examples
    --------
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.ranking import make_ranknet
    >>> X, y, groups, _ = make_rank_and_filter(n_queries=100, random_state=0)
    >>> make_ranknet(n_estimators=20).fit(X, y, groups=groups).predict(X).shape == y.shape
    True
    """
    xgboost = import_optional("xgboost", "make_ranknet")
    settings = {
        "objective": "rank:pairwise",
        # Every pair of a query, however many documents it has.
        "lambdarank_pair_method": "topk",
        "lambdarank_num_pair_per_sample": 2**31 - 1,
        # Otherwise pairs count less the further apart their scores are, which RankNet does not do.
        "lambdarank_score_normalization": False,
        "random_state": random_state,
        "n_jobs": 1 if n_jobs is None else n_jobs,
    }
    ranker = xgboost.XGBRanker(**settings | params)
    return QueryRanker(ranker, gains=gains, validation_fraction=validation_fraction)


def make_listnet(
    *,
    backend: str = "lightgbm",
    gains=None,
    validation_fraction=None,
    random_state=0,
    n_jobs=None,
    **params,
) -> QueryRanker:
    """Make a ListNet-style ranker: boosted trees under a listwise cross-entropy.

    Parameters
    ----------
    backend : {"lightgbm", "catboost"}, default="lightgbm"
        LightGBM's rank_xendcg or CatBoost's QuerySoftMax.
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain. Both learn from the grade, the rank of the gain among the
        distinct gains, 0 for the lowest.
    validation_fraction : float or None, default=None
        Share of the training queries to stop early by, as in :class:`QueryRanker`.
    random_state : int or None, default=0
        Seed; rank_xendcg draws at every tree, see the notes.
    n_jobs : int or None, default=None
        Threads; None means 1.
    **params
        Parameters of LGBMRanker or CatBoostRanker.

    Returns
    -------
    QueryRanker
        Around the ranker; in a search its parameters are ``estimator__learning_rate`` and so on.

    Raises
    ------
    ImportError
        For ``backend="catboost"`` without it: ``pip install 'skfilterrank[catboost]'``.
    ValueError
        For an unknown backend.

    Notes
    -----
    ListNet [1]_ is a linear model (a network in name) trained by the cross-entropy of two
    distributions over which document comes first, softmax of the labels and softmax of the
    scores. Here trees take the place of the linear model. QuerySoftMax has a document's share of
    its query's grades instead of the softmax of the labels. rank_xendcg [2]_ has its share of
    ``2**grade - u``, with u drawn between 0 and 1 at every tree, which makes the loss a bound of
    nDCG.

    A query of one label adds a little noise to rank_xendcg, which learns from what it drew. NaN in
    X is a missing value. Where all gains are equal, `fit` raises.

    References
    ----------
    .. [1] Z. Cao et al. "Learning to Rank: From Pairwise Approach to Listwise Approach". ICML 2007.
    .. [2] S. Bruch. "An Alternative Cross Entropy Loss for Learning-to-Rank". WWW 2021.

    Examples
    --------
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.ranking import make_listnet
    >>> X, y, groups, _ = make_rank_and_filter(n_queries=100, random_state=0)
    >>> make_listnet(n_estimators=20).fit(X, y, groups=groups).predict(X).shape == y.shape
    True
    """
    check_choice(backend, "backend", BACKENDS)
    if backend == "lightgbm":
        return _lightgbm("rank_xendcg", gains, validation_fraction, random_state, n_jobs, params)
    catboost = import_optional("catboost", 'make_listnet(backend="catboost")')
    settings = {
        "loss_function": "QuerySoftMax",
        "verbose": 0,
        "allow_writing_files": False,
        "random_seed": random_state,
        "thread_count": 1 if n_jobs is None else n_jobs,
    }
    ranker = catboost.CatBoostRanker(**settings | params)
    return QueryRanker(ranker, gains=gains, validation_fraction=validation_fraction)


def _lightgbm(objective, gains, validation_fraction, random_state, n_jobs, params):
    """LightGBM's ranker with one of its objectives."""
    settings = {
        "objective": objective,
        "random_state": random_state,
        "n_jobs": 1 if n_jobs is None else n_jobs,
    }
    ranker = LGBMRanker(**_LIGHTGBM | settings | params)
    return QueryRanker(ranker, gains=gains, validation_fraction=validation_fraction)

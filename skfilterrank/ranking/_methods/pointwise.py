"""Random forest and logistic regression: scikit-learn's, document by document."""

from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from skfilterrank.ranking._methods.standardizer import Standardizer
from skfilterrank.ranking._query_ranker import QueryRanker


def make_random_forest(*, gains=None, random_state=0, n_jobs=None, **params) -> QueryRanker:
    """Make a random forest that predicts the gain and ranks by it.

    Parameters
    ----------
    gains : None, "exp2", dict or callable, default=None
        How a label becomes the gain that is learned.
    random_state : int, RandomState instance or None, default=0
        Seed; None gives another forest each time.
    n_jobs : int or None, default=None
        Threads; the trees do not depend on it, and scores only by rounding.
    **params
        Parameters of RandomForestRegressor. Unless given, ``n_estimators=200``,
        ``min_samples_leaf=5`` and ``max_features=1/3``.

    Returns
    -------
    QueryRanker
        Around a RandomForestRegressor; in a search its parameters are
        ``estimator__min_samples_leaf`` and so on.

    Notes
    -----
    Breiman's regression forest [1]_ on the gain: documents are learned one by one, and queries
    play no part. Learning to rank tools that name a method "random forests" (RankLib) mean bags
    of boosted trees, by default of one tree of 100 leaves each on 0.3 of the features, which is
    about the same forest.

    NaN in X is a missing value. Where all gains are equal, so are the scores.

    References
    ----------
    .. [1] L. Breiman. "Random Forests". Machine Learning 45, 2001.

    Examples
    --------
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.ranking import make_random_forest
    >>> X, y, groups, _ = make_rank_and_filter(n_queries=100, random_state=0)
    >>> make_random_forest(n_estimators=20).fit(X, y).predict(X).shape == y.shape
    True
    """
    settings = {
        "n_estimators": 200,
        "min_samples_leaf": 5,
        "max_features": 1 / 3,
        "random_state": random_state,
        "n_jobs": n_jobs,
    }
    return QueryRanker(RandomForestRegressor(**settings | params), gains=gains)


def make_logistic(*, gains=None, random_state=0, n_jobs=None, **params) -> QueryRanker:
    """Make an L2 logistic regression of gain > 0, ranked by its probability.

    Parameters
    ----------
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain; what is learned is whether it is above 0.
    random_state : int, RandomState instance or None, default=0
        Of use to the solvers that draw; the default, lbfgs, does not.
    n_jobs : int or None, default=None
        Has no effect, since there is nothing to share out; taken because all methods take it.
    **params
        Parameters of LogisticRegression, such as ``C=0.1``. Unless given, ``max_iter=1000``.

    Returns
    -------
    QueryRanker
        Around a Pipeline of "scale" and "model" (LogisticRegression); in a search the parameters
        are ``estimator__model__C`` and so on. Its `coef_` weigh standardised features.

    Notes
    -----
    Documents are learned one by one, and queries play no part. Grades above 0 count the same, so
    that the order of good documents among themselves is learned only as far as better documents
    are surer to be good.

    Features are standardised, as StandardScaler does. Of sparse X each feature is divided by its
    standard deviation and the mean stays, so that zeros stay zeros; the intercept makes up for it.

    NaN in X raises, and so do gains all above 0 or none above 0.

    Examples
    --------
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.ranking import make_logistic
    >>> X, y, groups, _ = make_rank_and_filter(n_queries=100, random_state=0)
    >>> probabilities = make_logistic(C=0.1).fit(X, y).predict(X)
    >>> bool(((probabilities > 0) & (probabilities < 1)).all())
    True
    """
    settings = {"max_iter": 1000, "random_state": random_state}
    model = LogisticRegression(**settings | params)
    return QueryRanker(Pipeline([("scale", Standardizer()), ("model", model)]), gains=gains)

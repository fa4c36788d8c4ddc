import functools

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.ranking import RankAndFilter
from small_methods import make


@pytest.fixture(scope="module")
def cluster():
    """One worker, a thread of this process."""
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as workers,
        distributed.Client(workers) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def table():
    """Rows in query order, with six features, a label and a query."""
    X, y, groups, _ = make_rank_and_filter(n_queries=200, n_features=6, bayes=False, random_state=0)
    return pd.DataFrame(X, columns=[f"f{i}" for i in range(6)]).assign(label=y, query=groups)


@pytest.fixture
def threads():
    """Two threads; the asker of "a" is u1, who also gives the second and fourth answer."""
    return pd.DataFrame(
        {
            "qid": ["a"] * 4 + ["b"] * 2,
            "subject": ["Where to buy green tea?"] * 4 + ["Museum"] * 2,
            "body": ["Any shop in the old town?"] * 4 + [None] * 2,
            "topic": ["food"] * 4 + ["culture"] * 2,
            "asker": ["u1"] * 4 + ["u9"] * 2,
            "user": ["u2", "u1", "u2", "u1", "u3", "u4"],
            "position": [1, 2, 3, 4, 1, 2],
            "answer": [
                "Buy green tea in the old market.",
                "WHERE is that? http://x.org",
                "Next to the old shop :)",
                "Thanks!!",
                "It opens at 9",
                None,
            ],
            "label": [1, 0, 1, 0, 1, 0],
        }
    )


@pytest.fixture(scope="module")
def separable():
    """30 queries of 6 documents; the only informative feature orders the gains -1, 1, 2."""
    rng = np.random.default_rng(0)
    y = np.tile([-1.0, -1.0, 1.0, 1.0, 2.0, 2.0], 30)
    X = np.column_stack([y + rng.uniform(-0.2, 0.2, 180), rng.normal(size=180)])
    return X, y, np.repeat(np.arange(30), 6)


@pytest.fixture(scope="package")
def data():
    return make_rank_and_filter(n_queries=300, n_features=8, bayes=False, random_state=0)


@pytest.fixture(scope="package")
def ridge(data):
    return RankAndFilter(Ridge(), measure="ndcg_f@3").fit(data.X, data.y, groups=data.groups)


@pytest.fixture(scope="module")
def rows():
    return make_rank_and_filter(n_queries=150, n_features=5, bayes=False, random_state=0)


@pytest.fixture(scope="module")
def series(rows):
    return pd.Series(rows.y, index=pd.Index(rows.groups, name="qid"))


@pytest.fixture(scope="module")
def shuffled(rows):
    """The same rows, queries taking turns; rows of a query, and first rows, keep their order."""
    place = pd.Series(rows.groups).groupby(rows.groups).cumcount().to_numpy()
    names = np.array([f"query {number:04d}" for number in range(150)[::-1]])
    order = np.lexsort((np.where(place, rows.groups[::-1] % 7, rows.groups), place))
    return order, rows.X[order], rows.y[order], names[rows.groups[order]]


@pytest.fixture(scope="module")
def fitted(rows):
    """Each method fitted once."""

    @functools.cache
    def of_name(name):
        return make(name).fit(rows.X, rows.y, groups=rows.groups)

    return of_name


@pytest.fixture(scope="module")
def judged():
    """Rows of five features that tell the label, and of 20 that tell nothing."""
    X, y, groups, _ = make_rank_and_filter(n_queries=90, random_state=0)
    X = np.hstack([X, np.random.default_rng(0).normal(size=(len(y), 20))])
    return X, y.astype(float), groups


@pytest.fixture(scope="module")
def halves(judged):
    """Rows to learn from, and rows held out."""
    X, y, groups = judged
    first = groups < np.median(groups)
    return (X[first], y[first], groups[first]), (X[~first], y[~first], groups[~first])

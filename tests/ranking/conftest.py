import pandas as pd
import pytest

from skfilterrank.datasets import make_rank_and_filter


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

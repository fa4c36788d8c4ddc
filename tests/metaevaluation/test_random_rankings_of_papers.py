"""Table 1 and figure 7 of Diaz and Mitra (2023), by the simulations of the benchmarks."""

import importlib.util
import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from skfilterrank.metaevaluation import recall_level_metric

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "_random_rankings.py"


@pytest.fixture(scope="module")
def simulations():
    spec = importlib.util.spec_from_file_location("_random_rankings", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.nightly
def test_table_1(simulations):
    printed = pd.DataFrame(simulations.TABLE_1, index=simulations.SIZES)
    measures = [*printed.columns.drop("tied")]
    table = simulations.simulate_agreement(printed.index, measures, n_queries=10_000)
    assert (table - printed).abs().max(axis=None) < 0.02
    assert (table["tse"] == 1).all()
    assert table.loc[1000, "recall@1000"] == 0


@pytest.mark.nightly
def test_figure_7(simulations):
    depths = [10, 100, 1_000, 10_000, 100_000, 250_000]
    measures = ["tse", "recall@1000", "r_precision", "ap", "ndcg", "lexirecall"]
    table = simulations.simulate_ties(250_000, depths, measures, n_queries=2_000)
    # Shorter lists tie more.
    assert (table.diff().dropna() <= 0).all(axis=None)
    # TSE ties hardly ever in complete rankings, but nearly always in half of them.
    assert table.loc[250_000, "tse"] < 0.001
    assert table.loc[100_000, "tse"] > 0.99
    # The others lose sensitivity only where little is retrieved, recall and R-precision anyway.
    assert (table.loc[10_000:, "lexirecall"] < 0.25).all()
    assert (table[["recall@1000", "r_precision"]] > 0.8).all(axis=None)
    for measure in table.columns:
        assert (table["lexirecall"] <= table[measure]).all()


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["ap", "ndcg", "rbp"])
def test_lexirecall_is_leximin_over_all_searchers(simulations, measure):
    # Theorem A.4: compare all searchers' values from the worst-off up.
    positions = np.array(list(itertools.combinations(range(1, 8), 3)), dtype=float)
    searchers = [w for size in (1, 2, 3) for w in itertools.combinations(range(3), size)]
    values = np.sort([recall_level_metric(positions[:, list(w)], measure) for w in searchers], 0).T
    for i, j in itertools.product(range(len(positions)), repeat=2):
        differs = np.flatnonzero(np.abs(values[i] - values[j]) > 1e-12)
        expected = np.sign(values[i] - values[j])[differs[0]] if len(differs) else 0
        found = simulations.preference("lexirecall", positions[[i]], positions[[j]], None)
        assert found == expected

"""Simulations: Table 1, figure 7, and the draws behind them."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare

from skfilterrank.metaevaluation import (
    recall_level_metric,
    simulate_agreement,
    simulate_ties,
    tie_probability,
)
from skfilterrank.metaevaluation._simulation import (
    _imputed,
    _lexiprecision,
    _lexirecall,
    _random_positions,
)

TABLE_1 = pd.DataFrame(
    {
        "tied": [0.012, 0.001, 0.000, 0.000],
        "tse": [1.0, 1.0, 1.0, 1.0],
        "recall@1000": [0.000, 0.420, 0.179, 0.026],
        "r_precision": [0.285, 0.077, 0.008, 0.001],
        "ap": [0.541, 0.552, 0.554, 0.547],
        "ndcg": [0.535, 0.549, 0.555, 0.554],
        "random": [0.492, 0.497, 0.498, 0.499],
    },
    index=[10**3, 10**4, 10**5, 10**6],
)


@pytest.mark.slow
def test_table_1():
    table = simulate_agreement(TABLE_1.index, random_state=0)
    assert list(table.columns) == list(TABLE_1.columns)
    assert list(table.index) == list(TABLE_1.index)
    assert table.index.name == "n_items"
    assert (table - TABLE_1).abs().max(axis=None) < 0.02
    # What the definition makes certain.
    assert (table["tse"] == 1).all()
    assert table.loc[1000, "recall@1000"] == 0


@pytest.mark.slow
def test_agreement_by_enumeration():
    # All pairs of two relevant items among six.
    positions = np.array(list(itertools.combinations(range(1, 7), 2)))
    first, second = (np.repeat(positions, 15, axis=0), np.tile(positions, (15, 1)))
    worst = np.sign(second[:, -1] - first[:, -1])
    measures = ["tse", "recall@3", "r_precision", "ap", "rr", "lexirecall"]
    table = simulate_agreement(
        6, n_queries=100_000, n_relevant=2, measures=measures, random_state=0
    ).loc[6]
    assert table["tied"] == pytest.approx(np.mean(worst == 0), abs=0.006)
    for measure in measures[:-1]:
        difference = recall_level_metric(first, measure) - recall_level_metric(second, measure)
        agrees = (np.sign(difference) == worst)[worst != 0]
        assert table[measure] == pytest.approx(agrees.mean(), abs=0.006)
    assert table["lexirecall"] == 1


def test_nothing_to_agree_with():
    # The only item is always last: all pairs are tied.
    table = simulate_agreement(1, n_relevant=1, n_queries=5, random_state=0)
    assert table.loc[1, "tied"] == 1
    assert table.loc[1, "ap":].isna().all()


@pytest.mark.slow
@pytest.mark.parametrize(("n_items", "n_relevant"), [(5, 1), (5, 2), (5, 3), (5, 5), (8, 4)])
def test_positions_are_drawn_uniformly(n_items, n_relevant):
    drawn = _random_positions(np.random.RandomState(0), n_items, n_relevant, 20_000)
    sets, counts = np.unique(drawn, axis=0, return_counts=True)
    expected = list(itertools.combinations(range(1, n_items + 1), n_relevant))
    np.testing.assert_array_equal(sets, expected)
    assert chisquare(counts).pvalue > 0.001 or len(expected) == 1


def test_positions_in_a_large_corpus():
    drawn = _random_positions(np.random.RandomState(0), 10**12, 50, 1000)
    assert (np.diff(drawn, axis=1) > 0).all()
    assert drawn.min() >= 1
    assert drawn.max() <= 10**12
    assert drawn.mean() / 10**12 == pytest.approx(0.5, abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["tse", "recall@1000", "r_precision", "lexirecall"])
@pytest.mark.parametrize("n_items", [30, 3000])
def test_ties_of_complete_rankings_are_as_computed(measure, n_items):
    table = simulate_ties(
        n_items, depths=n_items, n_relevant=10, measures=[measure], random_state=0
    )
    expected = tie_probability(measure, n_items, 10)
    assert table.loc[n_items, measure] == pytest.approx(expected, abs=0.02)


@pytest.mark.slow
def test_figure_7():
    table = simulate_ties(random_state=0)
    assert list(table.index) == [10, 100, 1_000, 10_000, 100_000, 250_000]
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


def test_imputation_by_hand():
    # Positions 2, 3 and 8 retrieved, three further items missing from the first ten: the example
    # of section 2.2 with 100 items.
    np.testing.assert_array_equal(
        _imputed(np.array([[2.0, 3, 8, 11, 50, 99]]), 10, 100), [[2, 3, 8, 98, 99, 100]]
    )
    np.testing.assert_array_equal(_imputed(np.array([[98.0, 99]]), 1, 100), [[99, 100]])
    np.testing.assert_array_equal(_imputed(np.array([[10.0, 11]]), 10, 100), [[10, 100]])
    np.testing.assert_array_equal(_imputed(np.array([[1.0, 100]]), 100, 100), [[1, 100]])


def test_lexicographic_preferences_by_hand():
    first = np.array([[1.0, 5, 9], [1, 5, 9], [1, 5, 9], [1, 5, 9]])
    second = np.array([[2.0, 4, 9], [1, 5, 9], [2, 3, 10], [2, 5, 9]])
    np.testing.assert_array_equal(_lexirecall(first, second, None), [-1, 0, 1, 1])
    np.testing.assert_array_equal(_lexiprecision(first, second, None), [1, 0, 1, 1])


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["ap", "ndcg", "rbp"])
def test_lexirecall_is_leximin_over_all_searchers(measure):
    # Theorem A.4: compare all searchers' values from the worst-off up.
    positions = np.array(list(itertools.combinations(range(1, 8), 3)), dtype=float)
    searchers = [w for size in (1, 2, 3) for w in itertools.combinations(range(3), size)]
    values = np.sort([recall_level_metric(positions[:, list(w)], measure) for w in searchers], 0).T
    for i, j in itertools.product(range(len(positions)), repeat=2):
        differs = np.flatnonzero(np.abs(values[i] - values[j]) > 1e-12)
        expected = np.sign(values[i] - values[j])[differs[0]] if len(differs) else 0
        assert _lexirecall(positions[[i]], positions[[j]], None) == expected


@pytest.mark.slow
def test_seeds_repeat_exactly():
    for simulate in (simulate_agreement, simulate_ties):
        one, same, other = (
            simulate(300, n_queries=40, random_state=seed)
            if simulate is simulate_agreement
            else simulate(300, depths=[30], n_queries=40, random_state=seed)
            for seed in (0, 0, 1)
        )
        pd.testing.assert_frame_equal(one, same)
        assert not one.equals(other)


def test_callables_name_their_column():
    def mean_position(positions):
        return -positions.mean(axis=1)

    table = simulate_agreement(100, n_queries=100, measures=[mean_position, "tse"], random_state=0)
    assert list(table.columns) == ["tied", "mean_position", "tse"]
    assert 0.5 < table.loc[100, "mean_position"] < 1


@pytest.mark.parametrize(("n_relevant", "drawn"), [((1, 3), {1, 2, 3}), (2, {2}), ((4, 4), {4})])
def test_every_number_of_relevant_items_is_drawn(n_relevant, drawn):
    seen = set()

    def look(positions):
        seen.add(positions.shape[1])
        return positions[:, 0]

    how = {"n_queries": 60, "n_relevant": n_relevant, "random_state": 0}
    simulate_agreement(9, measures=[look], **how)
    assert seen == drawn
    seen.clear()
    simulate_ties(9, depths=9, measures=[look], **how)
    assert seen == drawn


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_items": 10, "n_relevant": (5, 11)}, "n_relevant must be a whole number from 1 to 10"),
        ({"n_items": [100, 10], "n_relevant": 11}, "n_relevant .* from 1 to 10"),
        ({"n_items": 10, "n_relevant": (5, 2)}, r"n_relevant must be \(least, greatest\)"),
        ({"n_items": 10, "n_relevant": (1, 2, 3)}, "n_relevant must be a whole number, or"),
        ({"n_items": 10, "n_relevant": 0}, "n_relevant must be"),
        ({"n_items": 0}, "n_items must be"),
        ({"n_items": 100, "n_queries": 0}, "n_queries must be"),
        ({"n_items": 100, "measures": "ap"}, "measures must be a sequence"),
        ({"n_items": 100, "measures": ["tse", "tied"]}, "'tied' is not a measure"),
        ({"n_items": 100, "measures": ["random"] * 2}, "measures must have distinct names"),
        (
            {"n_items": 100, "measures": ["ap", "MAP"]},
            "measures names 'ap' twice, as 'ap' and 'MAP'",
        ),
        ({"n_items": 100, "measures": ["mapp", "zz"]}, "'mapp' is not a measure.* 'zz' is not a"),
    ],
)
def test_parameters_are_checked(arguments, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        simulate_agreement(**arguments)


def test_depths_are_checked():
    with pytest.raises(ValueError, match=r"^depths must be a whole number from 1 to 100, got 101"):
        simulate_ties(100, depths=[10, 101])

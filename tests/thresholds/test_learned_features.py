"""Features of a document from the scores of its list."""

import numpy as np
import pandas as pd
import pytest

from skfilterrank._lists.queries import GroupIndex
from skfilterrank.thresholds._learned import FEATURES, feature_matrix

INF = np.inf


def list_features(scores, groups):
    """Return the features by their names."""
    index = GroupIndex.from_groups(groups)
    return pd.DataFrame(feature_matrix(np.array(scores, dtype=float), index), columns=FEATURES)


def test_by_hand():
    found = list_features([3.0, 1.0, 2.0], groups=["a", "a", "a"])
    std = np.sqrt(2 / 3)
    assert found["score"].tolist() == [3, 1, 2]
    np.testing.assert_allclose(found["z"], [1 / std, -1 / std, 0])
    assert found["min_max"].tolist() == [1, 0, 0.5]
    np.testing.assert_allclose(found["log_place"], np.log([1, 3, 2]))
    np.testing.assert_allclose(found["ratio_to_first"], [1, 1 / 3, 2 / 3])
    assert found["below_first"].tolist() == [0, -2, -1]
    assert found["running_mean"].tolist() == [3, 2, 2.5]
    assert found["gap_1"].tolist() == [1, 0, 1]
    for gap in (5, 20, 60):
        assert found[f"gap_{gap}"].tolist() == [2, 0, 1]
    for name, value in {"first": 3, "tenth": 1, "hundredth": 1, "last": 1, "mean": 2}.items():
        assert found[name].tolist() == [value] * 3
    np.testing.assert_allclose(found["std"], std)
    np.testing.assert_allclose(found["log_size"], np.log(3))


def test_places_in_a_long_list():
    scores = -(np.arange(150.0) ** 2)
    found = list_features(scores, groups=np.zeros(150))
    assert found["tenth"].iloc[0] == -(9.0**2)
    assert found["hundredth"].iloc[0] == -(99.0**2)
    for gap in (1, 5, 20, 60):
        assert found[f"gap_{gap}"].iloc[3] == (3 + gap) ** 2 - 9
        assert found[f"gap_{gap}"].iloc[-1] == 0
    np.testing.assert_allclose(found["running_mean"].iloc[9], scores[:10].mean())


def test_ties_share_their_features():
    found = list_features([4.0, 4.0, 4.0, 1.0], groups=list("aaaa"))
    assert found.iloc[:3].drop_duplicates().shape[0] == 1
    assert found["gap_1"].tolist() == [3, 3, 3, 0]
    assert found["running_mean"].tolist() == [4, 4, 4, 3.25]
    np.testing.assert_allclose(found["log_place"], np.log([1, 1, 1, 4]))


@pytest.mark.parametrize("value", [0.0, 0.1, -7.3, 1e300])
def test_equal_scores_and_one_document(value):
    found = list_features([value] * 4, groups=list("aaab"))
    for name in ("z", "min_max", "below_first", "gap_1", "std"):
        assert found[name].tolist() == [0] * 4
    assert found["mean"].tolist() == [value] * 4
    assert found["ratio_to_first"].tolist() == [float(value != 0)] * 4


def test_hidden_rows_are_no_part_of_their_list():
    whole = list_features([3.0, -INF, 1.0, -INF], groups=list("aaab"))
    without = list_features([3.0, 1.0], groups=list("aa"))
    np.testing.assert_array_equal(whole.iloc[[0, 2]], without)
    assert whole.iloc[[1, 3]].isna().all(axis=None)


def test_lists_do_not_depend_on_each_other_nor_on_the_order_of_rows():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 9, 200)
    scores = np.round(rng.normal(size=200), 1)
    found = list_features(scores, groups=groups).to_numpy()
    order = rng.permutation(200)
    np.testing.assert_array_equal(list_features(scores[order], groups=groups[order]), found[order])
    own = groups == 4
    np.testing.assert_array_equal(list_features(scores[own], groups=groups[own]), found[own])

"""Trees of scikit-learn load where they lead nowhere else."""

import copy
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingRegressor,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.tree._tree import Tree

from skfilterrank.exceptions import FileFormatError
from skfilterrank.io import load_model, save_model

pytestmark = pytest.mark.slow

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 4))
y = (X[:, 0] + rng.normal(size=80) > 0).astype(int)
FORESTS = (
    RandomForestClassifier(3, random_state=0),
    ExtraTreesRegressor(3, random_state=0),
    GradientBoostingClassifier(n_estimators=3, random_state=0),
    IsolationForest(n_estimators=3, max_features=2, random_state=0),
    BaggingRegressor(DecisionTreeRegressor(), 3, max_features=2, random_state=0),
    AdaBoostClassifier(n_estimators=3, random_state=0),
    DecisionTreeClassifier(max_leaf_nodes=5, random_state=0),
)


@pytest.mark.parametrize("model", FORESTS, ids=lambda model: type(model).__name__)
def test_trees_of_scikit_learn_load(tmp_path, model):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        save_model(model.fit(X, y), tmp_path / "m.skops")
    loaded = load_model(tmp_path / "m.skops")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def grafted(owner, *, n_features=None, **changes):
    """Give the first tree of a model other nodes, as a crafted file could."""
    holder = np.ravel(owner.estimators_)[0] if hasattr(owner, "estimators_") else owner
    _, (width, n_classes, n_outputs), state = holder.tree_.__reduce__()
    nodes, state["nodes"] = state["nodes"], state["nodes"].copy()
    for name, value in changes.items():
        if name in nodes.dtype.names:
            state["nodes"][name][0] = value
        else:
            state[name] = value
    holder.tree_ = Tree(n_features or width, n_classes, n_outputs)
    holder.tree_.__setstate__(state)
    if n_features is not None:
        holder.n_features_in_ = n_features
    return owner


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"feature": 4}, "splits by a feature that is none"),
        ({"feature": -2}, "splits by a feature that is none"),
        ({"left_child": 10**9}, "its nodes form no tree"),
        ({"left_child": 0}, "its nodes form no tree"),  # a loop
        ({"left_child": 2, "right_child": 2}, "its nodes form no tree"),
        ({"left_child": -5}, "its nodes form no tree"),
        ({"left_child": -1}, "its nodes form no tree"),  # all others hang in the air
        ({"node_count": 0}, r"counts 0 nodes and holds \d+"),
        ({"max_depth": 1}, r"is \d levels deep and says 1"),
    ],
)
def test_crafted_tree_is_refused(tmp_path, changes, message):
    model = grafted(DecisionTreeClassifier(random_state=0).fit(X, y), **changes)
    save_unread(model, tmp_path / "m.skops")
    for trusted in ([], ["sklearn.tree._tree.Tree"]):
        with pytest.raises(
            FileFormatError, match=f"a tree of DecisionTreeClassifier is damaged: .*{message}"
        ):
            load_model(tmp_path / "m.skops", trusted=trusted)


@pytest.mark.parametrize("model", FORESTS[:4], ids=lambda model: type(model).__name__)
def test_trees_of_more_features_than_their_forest_sees_are_refused(tmp_path, model):
    model = grafted(copy.deepcopy(model).fit(X, y), n_features=9)
    save_unread(model, tmp_path / "m.skops")
    with pytest.raises(FileFormatError, match=r"damaged: it has 9 features where"):
        load_model(tmp_path / "m.skops")


@pytest.mark.parametrize("width", [3, None])
def test_trees_of_more_features_than_their_owner_sees_are_refused(tmp_path, width):
    model = DecisionTreeClassifier(random_state=0).fit(X, y)
    model.n_features_in_ = width
    save_unread(model, tmp_path / "m.skops")
    with pytest.raises(FileFormatError, match=f"it has 4 features where its owner has {width}"):
        load_model(tmp_path / "m.skops")


def test_trees_elsewhere_than_in_an_estimator_are_refused(tmp_path):
    model = DecisionTreeClassifier(random_state=0).fit(X, y)
    save_unread([model, {"tree": model.tree_}], tmp_path / "m.skops")  # one tree, twice
    assert isinstance(load_model(tmp_path / "m.skops")[0], DecisionTreeClassifier)
    save_unread([model, {"tree": clone(model).fit(X, y).tree_}], tmp_path / "m.skops")
    with pytest.raises(FileFormatError, match="of 2 trees, 1 stand elsewhere than in an estim"):
        load_model(tmp_path / "m.skops")


def save_unread(model, path, **more):
    """Write a file as save_model would, which tries to load it first."""
    import skops.io

    content = {"format": "skfilterrank-model", "format_version": 1, "version": "0.1"}
    skops.io.dump({**content, "model": model, **more}, path)

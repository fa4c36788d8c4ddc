"""Model files that would fill the memory are refused."""

import copy
import io
import json
import warnings
import zipfile

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingRegressor,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
)
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.tree._tree import Tree

from skfilterrank.exceptions import FileFormatError
from skfilterrank.io import _models, load_model, save_model
from skfilterrank.io._models import unpacked

LIMIT = 10**5


@pytest.fixture(scope="module", autouse=True)
def skops(tmp_path_factory):
    """Models are read by skops, for which all of scikit-learn is imported."""
    import skops.io

    save_model(Ridge(), tmp_path_factory.mktemp("first") / "m.skops")
    return skops.io


@pytest.fixture
def small_limit(monkeypatch):
    monkeypatch.setattr(_models, "_MOST_BYTES", LIMIT)
    monkeypatch.setattr(_models, "_MOST_TIMES", 10)


def model_of(value):
    model = Ridge()
    model.coef_ = value
    return model


@pytest.mark.usefixtures("small_limit")
@pytest.mark.filterwarnings("ignore:load_model will load this model only")
# The second is an archive within the archive.
@pytest.mark.parametrize(
    "value", [np.zeros(10**5), sparse.csr_matrix((10**5, 1))], ids=["npy", "npz"]
)
def test_large_model(tmp_path, value):
    path = tmp_path / "m.skops"
    save_model(model_of(value), path)
    assert path.stat().st_size < LIMIT / 10
    with pytest.raises(FileFormatError, match=r"m\.skops: .* than 100,000 bytes.* max_bytes="):
        load_model(path)
    trusted = ["scipy.sparse._csr.csr_matrix"]
    loaded = load_model(path, max_bytes=10**8, trusted=trusted).coef_
    assert loaded.shape == value.shape
    with pytest.raises(FileFormatError, match="unpacks to more than 999 bytes"):
        load_model(path, max_bytes=999)


@pytest.mark.usefixtures("small_limit")
def test_what_is_not_out_of_proportion_loads(tmp_path):
    values = np.random.default_rng(0).random(2 * 10**4)
    save_model(model_of(values), tmp_path / "m.skops")
    np.testing.assert_array_equal(load_model(tmp_path / "m.skops").coef_, values)


@pytest.mark.parametrize("max_bytes", [0, -1, 1.5, True, "1 GB"])
def test_bad_limit(tmp_path, max_bytes):
    with pytest.raises(ValueError, match="max_bytes must be None or a whole number from 1 up"):
        load_model(tmp_path / "absent", max_bytes=max_bytes)


def archive(way=zipfile.ZIP_DEFLATED, **entries):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", way) as copied:
        for name, content in {"schema.json": "{}", **entries}.items():
            copied.writestr(name, content)
    return target.getvalue()


def test_a_copy_holds_the_same(skops):
    model = {"a": np.arange(5), "b": sparse.csr_matrix(np.eye(3)), "c": "text"}
    data = skops.dumps(model, compression=zipfile.ZIP_DEFLATED)
    copied = unpacked(data, LIMIT, "m")
    with zipfile.ZipFile(io.BytesIO(copied)) as found:
        assert {info.compress_type for info in found.infolist()} == {zipfile.ZIP_STORED}
    loaded = skops.loads(copied, trusted=["scipy.sparse._csr.csr_matrix"])
    np.testing.assert_array_equal(loaded["a"], model["a"])
    np.testing.assert_array_equal(loaded["b"].toarray(), model["b"].toarray())
    assert loaded["c"] == "text"


def test_nothing_is_unpacked_where_the_sizes_tell(monkeypatch):
    data = archive(zeros=bytes(LIMIT + 1))
    monkeypatch.setattr(zipfile.ZipFile, "open", None)
    with pytest.raises(FileFormatError, match="unpacks to more"):
        unpacked(data, LIMIT, "m")


def test_sizes_that_are_lies():
    # It says 10 bytes and holds 2 million: no more than is asked for is unpacked.
    data = bytearray(archive(zeros=bytes(2 * LIMIT)))
    size = (2 * LIMIT).to_bytes(4, "little")
    while (at := data.find(size)) >= 0:
        data[at : at + 4] = (10).to_bytes(4, "little")
    with pytest.raises(zipfile.BadZipFile, match="CRC"):
        unpacked(bytes(data), LIMIT, "m")


def test_entries_that_are_read_again_and_again():
    nodes = [{"__loader__": "x", "file": "x.npy", "__id__": number} for number in (1, 1, 1, 2)]
    schema = json.dumps({"content": nodes})
    data = archive(**{"schema.json": schema, "x.npy": bytes(1000)})
    # What a node holds that was there before is not read again.
    unpacked(data, 2200, "m")
    for number in (3, None):
        nodes.append({"__loader__": "x", "file": "x.npy", "__id__": number})
        data = archive(**{"schema.json": json.dumps(nodes), "x.npy": bytes(1000)})
        with pytest.raises(FileFormatError, match="unpacks to more than 2,200 bytes"):
            unpacked(data, 2200, "m")


def test_other_compression_is_no_model():
    with pytest.raises(zipfile.BadZipFile, match="compressed by an unsupported method"):
        unpacked(archive(zipfile.ZIP_BZIP2, zeros=bytes(10)), LIMIT, "m")


@pytest.mark.slow
def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path):
    target = tmp_path / "m.skops"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as bomb:
        bomb.writestr("schema.json", bytes((1 << 26) + 1))
    with pytest.raises(FileFormatError, match=r"more than 67,108,864 bytes"):
        load_model(target)


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


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {"feature": 4},
        {"feature": -2},
        {"left_child": 10**9},
        {"left_child": 0},  # a loop
        {"left_child": 2, "right_child": 2},
        {"left_child": -5},
        {"left_child": -1},  # all others hang in the air
        {"node_count": 0},
        {"max_depth": 1},
    ],
)
def test_crafted_tree_is_refused(tmp_path, changes):
    model = grafted(DecisionTreeClassifier(random_state=0).fit(X, y), **changes)
    save_unread(model, tmp_path / "m.skops")
    for trusted in ([], ["sklearn.tree._tree.Tree"]):
        with pytest.raises(
            FileFormatError,
            match="a tree of DecisionTreeClassifier is damaged: its nodes must form a",
        ):
            load_model(tmp_path / "m.skops", trusted=trusted)


@pytest.mark.slow
@pytest.mark.parametrize("model", FORESTS[:4], ids=lambda model: type(model).__name__)
def test_trees_of_more_features_than_their_forest_sees_are_refused(tmp_path, model):
    model = grafted(copy.deepcopy(model).fit(X, y), n_features=9)
    save_unread(model, tmp_path / "m.skops")
    with pytest.raises(FileFormatError, match=r"is damaged: .* features of the estimator"):
        load_model(tmp_path / "m.skops")


@pytest.mark.slow
@pytest.mark.parametrize("width", [3, None])
def test_trees_of_more_features_than_their_owner_sees_are_refused(tmp_path, width):
    model = DecisionTreeClassifier(random_state=0).fit(X, y)
    model.n_features_in_ = width
    save_unread(model, tmp_path / "m.skops")
    with pytest.raises(FileFormatError, match=r"is damaged: .* features of the estimator"):
        load_model(tmp_path / "m.skops")


@pytest.mark.slow
def test_trees_elsewhere_than_in_an_estimator_are_refused(tmp_path):
    model = DecisionTreeClassifier(random_state=0).fit(X, y)
    save_unread([model, {"tree": model.tree_}], tmp_path / "m.skops")  # one tree, twice
    assert isinstance(load_model(tmp_path / "m.skops")[0], DecisionTreeClassifier)
    save_unread([model, {"tree": clone(model).fit(X, y).tree_}], tmp_path / "m.skops")
    with pytest.raises(FileFormatError, match="every tree must belong to an estimator, but 1 of 2"):
        load_model(tmp_path / "m.skops")


def save_unread(model, path, **more):
    """Write a file as save_model would, which tries to load it first."""
    import skops.io

    content = {"format": "skfilterrank-model", "format_version": 1, "version": "0.1"}
    skops.io.dump({**content, "model": model, **more}, path)

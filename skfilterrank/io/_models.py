"""Saving and loading of models in files from which no code is run, and checks of such files."""

import copy
import importlib
import inspect
import io
import json
import os
import sys
import warnings
import zipfile
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np
from sklearn.exceptions import InconsistentVersionWarning

import skfilterrank
from skfilterrank._files.files import (
    check_target,
    open_replacing,
    read_bytes,
    reason_of,
)
from skfilterrank._lists.checks import check_count
from skfilterrank._lists.sklearn_compat import trees_and_forests
from skfilterrank._lists.words import warn_user
from skfilterrank.exceptions import (
    FileFormatError,
    InputError,
    InputTypeError,
    MissingPackageError,
    SkfilterrankWarning,
    brief,
)

_FORMAT = "skfilterrank-model"
_FORMAT_VERSION = 1
# A file is refused, before it is unpacked, if its declared unpacked size exceeds both limits.
# Models of trees unpack to about 4 to 14 times their size.
_MOST_BYTES, _MOST_TIMES = 1 << 26, 50

# Further trusted types besides those that skops trusts (numpy arrays, public scikit-learn
# estimators, ufuncs). Each has a set of allowed loaders of skops, because with other loaders a file
# could call the type with any arguments. "ObjectNode" only sets attributes, without a constructor.
_OBJECT = frozenset({"ObjectNode"})
_OBJECTS = {
    "catboost.core": "CatBoost CatBoostClassifier CatBoostRanker CatBoostRegressor",
    "lightgbm.basic": "Booster",
    "lightgbm.sklearn": "LGBMClassifier LGBMModel LGBMRanker LGBMRegressor",
    "sklearn.calibration": "_CalibratedClassifier _SigmoidCalibration",
    # ColumnTransformers of scikit-learn before 1.9 contain it.
    "sklearn.compose._column_transformer": "_RemainderColsList",
    "sklearn.metrics._scorer": "_PassthroughScorer _Scorer",
    "sklearn.model_selection._split": "GroupKFold GroupShuffleSplit KFold LeaveOneGroupOut "
    "PredefinedSplit StratifiedGroupKFold StratifiedKFold",
    "sklearn.utils._metadata_requests": "MetadataRequest MethodMetadataRequest",
    "xgboost.core": "Booster",
    "xgboost.sklearn": "XGBClassifier XGBModel XGBRanker XGBRegressor",
}
_ALLOWED = {f"{module}.{name}": _OBJECT for module in _OBJECTS for name in _OBJECTS[module].split()}
_ALLOWED |= {
    "collections.OrderedDict": frozenset({"TypeNode", "DictNode"}),
    "numpy.dtype": frozenset({"DTypeNode"}),
    # These hold only numbers, which numpy reads without unpickling.
    "scipy.sparse._csr.csr_array": frozenset({"SparseMatrixNode"}),
    "scipy.sparse._csr.csr_matrix": frozenset({"SparseMatrixNode"}),
    # Trees are checked after loading by check_trees.
    "sklearn.tree._tree.Tree": frozenset({"TreeNode"}),
    "sklearn.utils._bunch.Bunch": frozenset({"DictNode"}),
}
# Packages whose models may give other predictions in another version, and their names for users.
_VERSIONED = {
    "skfilterrank": "skfilterrank",
    "sklearn": "scikit-learn",
    "lightgbm": "LightGBM",
    "xgboost": "XGBoost",
    "catboost": "CatBoost",
}
_OUR_PACKAGES = tuple(
    f"skfilterrank.{part}."
    for part in ("_estimators", "_lists", "judgments", "metrics", "ranking", "thresholds")
)


def save_model(model, path) -> None:
    """Save a fitted model in the format of skops, which contains data and names but no code.

    Parameters
    ----------
    model : object
        Usually a fitted estimator or Pipeline.
    path : str or PathLike
        File to write; its name usually ends in ".skops". An existing file is replaced only when the
        new file is complete.

    Raises
    ------
    ValueError
        If the model holds something that cannot be saved, such as a lambda. Nothing is written.
    TypeError
        If `path` is not a path.

    Warns
    -----
    SkfilterrankWarning
        If the model holds types that `load_model` loads only if they are passed as ``trusted=``.

    See Also
    --------
    load_model : Load a saved model.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skfilterrank.io import load_model, save_model
    >>> model = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, f"{folder}/model.skops")
    ...     load_model(f"{folder}/model.skops")
    LogisticRegression()
    """
    check_target(path, "save_model(model, path)", may_be_open=False)
    skops_io = _skops_io()

    content = {
        "format": _FORMAT,
        "format_version": _FORMAT_VERSION,
        "version": skfilterrank.__version__,
        "versions": _versions(),
        "model": model,
    }
    try:
        try:
            data = skops_io.dumps(content, compression=zipfile.ZIP_DEFLATED)
        except RecursionError:
            # After set_fit_request, an estimator holds requests that refer back to the estimator.
            content["model"] = _with_named_owners(model)
            data = skops_io.dumps(content, compression=zipfile.ZIP_DEFLATED)
        untrusted = skops_io.get_untrusted_types(data=data)
        # Loading is tried here, because skops saves a lambda by a name that cannot be found again.
        skops_io.loads(data, trusted=untrusted)
    except Exception as error:
        reason = "it refers to itself" if isinstance(error, RecursionError) else str(error)
        raise InputError(
            f"the model {type(model).__name__} cannot be saved: {reason}. Functions in a model "
            "must be importable from a module by their name, and skops must support its objects."
        ) from error
    if refused := _refused(data, untrusted):
        warn_user(
            f"load_model will load this model only with trusted={refused}, because it does not "
            "trust these types by default.",
            SkfilterrankWarning,
        )
    with open_replacing(path) as handle:
        handle.write(data)


def load_model(path, *, trusted: Sequence[str | type] = (), max_bytes: int | None = None) -> Any:
    """Load a model saved by `save_model`, without running code from the file.

    Parameters
    ----------
    path : str or PathLike
        File to read.
    trusted : list of str or type, default=()
        Further types or full names of types that the file may hold; the error message of a refused
        file lists them. Check each of them before you trust it, because a file can call it with any
        arguments.
    max_bytes : int or None, default=None
        Largest allowed unpacked size in bytes; a larger file is refused before it is unpacked. None
        allows 50 times the size of the file, and at least 64 MiB.

    Returns
    -------
    model : object
        The model, ready to predict.

    Raises
    ------
    FileFormatError
        If `save_model` did not write the file, or if it unpacks to more than `max_bytes`.
    ValueError
        If the file holds types that are not trusted; the message lists them.
    TypeError
        If `path` is not a path or `trusted` is not a list of types.

    Warns
    -----
    SkfilterrankWarning
        If the model was saved with another version of a package that it needs.

    Notes
    -----
    By default, these types are trusted: numpy arrays, scipy sparse matrices, estimators, splitters
    and scorers of scikit-learn, estimators of LightGBM, XGBoost and CatBoost, and the classes and
    measures of skfilterrank. So every estimator of skfilterrank loads without `trusted`. Types that
    skops does not trust are rebuilt from their attributes, without calling a constructor.
    HistGradientBoosting estimators of scikit-learn, and your own classes and functions, need
    `trusted`.

    skops refuses the trees of scikit-learn's forests and gradient boosting, because a manipulated
    tree can make `predict` read outside its memory. `load_model` accepts them after a check: the
    nodes must form a tree and use only features of the model. Models of other libraries are not
    checked in this way, so load models only from sources that you trust.

    Examples
    --------
    See `save_model`.
    """
    skops_io = _skops_io()
    trusted = () if trusted is None else trusted
    if isinstance(trusted, str | bool) or not all(isinstance(t, str | type) for t in trusted):
        raise InputTypeError(
            f"trusted must be a list of type names or types, got {brief(trusted)}."
        )
    check_count(max_bytes, "max_bytes", or_none=True)
    check_target(path, "load_model(path)", may_be_open=False)
    name = os.fspath(path)
    data = read_bytes(path)
    most = max_bytes or max(_MOST_BYTES, _MOST_TIMES * os.path.getsize(path))
    trusted = [f"{t.__module__}.{t.__name__}" if isinstance(t, type) else t for t in trusted]
    try:
        data = unpacked(data, most, name)
        untrusted = skops_io.get_untrusted_types(data=data)
        refused = sorted(set(_refused(data, untrusted)).difference(trusted))
        with warnings.catch_warnings():
            # scikit-learn would warn once per estimator. One warning for the file follows below.
            warnings.simplefilter("ignore", InconsistentVersionWarning)
            content = None if refused else skops_io.loads(data, trusted=untrusted)
    except (FileFormatError, ImportError):
        raise
    except Exception as error:
        if data.lstrip()[:1] == b"{":
            raise FileFormatError(
                "the file is JSON, but a model file in skops format was expected. If it is a saved "
                "threshold, use skfilterrank.thresholds.load_threshold.",
                name,
            ) from error
        raise FileFormatError(
            f"the file is not a model written by save_model, is damaged, or was written with other "
            f"versions of the packages it needs ({reason_of(error)}).",
            name,
        ) from error
    if refused:
        raise InputError(
            f"{name} holds types that are not trusted: {', '.join(refused)}. If you trust the file "
            f"and these types, pass trusted={refused}."
        )
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise FileFormatError(
            "the file is in skops format, but save_model did not write it; load it with skops.io.",
            name,
        )
    if content["format_version"] > _FORMAT_VERSION:
        raise FileFormatError(
            f"skfilterrank {content['version']} writes a newer format than skfilterrank "
            f"{skfilterrank.__version__} reads; upgrade skfilterrank.",
            name,
        )
    nodes = list(_nodes(_schema(data)))
    # An object with several references has several nodes with the same id, and is counted once.
    trees = {node.get("__id__", id(node)) for node in nodes if node["__loader__"] == "TreeNode"}
    if trees:
        check_trees(_objects(content), len(trees), name)
    _warn_of_other_versions(content, nodes, name)
    return content["model"]


def _skops_io():
    """Import and return skops.io, only when it is needed, because it imports all of scikit-learn.

    Raises if skops is not installed.
    """
    try:
        import skops.io
    except ImportError as error:
        raise MissingPackageError(
            "saving and loading models needs skops, which is not installed; pip install skops."
        ) from error
    return skops.io


def _versions():
    """Return the versions of the packages in `_VERSIONED` that are imported."""
    loaded = {package: sys.modules.get(package) for package in _VERSIONED}
    return {package: module.__version__ for package, module in loaded.items() if module}


def _warn_of_other_versions(content, nodes, name):
    """Warn if a package of the model had another version when the model was saved."""
    used = {node["__module__"].partition(".")[0] for node in nodes}
    saved, now = content.get("versions", {}), _versions()
    known = [package for package in _VERSIONED if package in used & saved.keys()]
    others = [package for package in known if saved[package] != now.get(package)]
    if others:
        then, today = (
            ", ".join(f"{_VERSIONED[package]} {versions.get(package)}" for package in others)
            for versions in (saved, now)
        )
        warn_user(
            f"{name} was saved with {then}, and is loaded with {today}: its predictions may "
            "differ. Fit and save it again, or install the versions that it was saved with.",
            SkfilterrankWarning,
        )


def _objects(model):
    """Yield the model and all objects with attributes that it contains, at any depth."""
    stack, seen = [model], set()
    while stack:
        item = stack.pop()
        if id(item) in seen or isinstance(item, type | ModuleType):
            continue
        seen.add(id(item))
        if isinstance(item, Mapping):
            stack.extend(item.values())
        elif isinstance(item, list | tuple | set):
            stack.extend(item)
        elif isinstance(item, np.ndarray):
            stack.extend(item.ravel() if item.dtype.kind == "O" else ())
        elif hasattr(item, "__dict__"):
            yield item
            stack.extend(vars(item).values())


def _with_named_owners(model):
    """Copy a model, and replace the owners of metadata requests by their names.

    A request refers to the estimator that owns it; skops cannot save such a cycle.
    """
    model = copy.deepcopy(model)
    for item in list(_objects(model)):
        if type(item).__module__ == "sklearn.utils._metadata_requests":
            item.owner = item.owner if isinstance(item.owner, str) else type(item.owner).__name__
    return model


def _schema(data):
    """Return the schema of a skops file, which describes all its objects, as parsed JSON."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return json.loads(archive.read("schema.json"))


def _refused(data, untrusted):
    """List the types in a file that neither skops nor this package trusts.

    `untrusted` are the names of the types that skops does not trust.
    """
    schema = _schema(data)
    if schema["protocol"] < 1:
        # Protocol 0 names functions outside of the nodes, where the checks below would miss them.
        raise InputError(f"its skops protocol must be at least 1, got {schema['protocol']}")
    ways = {name: set() for name in untrusted}
    for node in _nodes(schema):
        if not isinstance(node["__module__"], str):
            raise InputError(f"names of modules must be texts, got {brief(node['__module__'])}")
        if (name := f"{node['__module__']}.{node['__class__']}") in ways:
            ways[name].add(node["__loader__"])
    return sorted(
        name for name, loaders in ways.items() if not loaders or not loaders <= _allowed(name)
    )


def _nodes(state):
    """Yield all nodes of a skops schema; each is a dict with module, class and loader."""
    stack = [state]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            if "__loader__" in item:
                yield item
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)


def _allowed(name):
    """Return the loaders of skops with which a file may use the type or function of this name."""
    if name in _ALLOWED:
        return _ALLOWED[name]
    module_name, _, attribute = name.rpartition(".")
    # Other modules must not be imported, because importing a script would run it.
    if not f"{module_name}.".startswith(_OUR_PACKAGES):
        return frozenset()
    try:
        module = importlib.import_module(module_name)
    except ImportError:
        return frozenset()
    found = getattr(module, attribute, None)
    if getattr(found, "__module__", None) != module_name:  # the module only imports it
        return frozenset()
    if inspect.isclass(found):
        return frozenset({"TupleNode"}) if issubclass(found, tuple) else _OBJECT
    if inspect.isfunction(found) and module_name.startswith("skfilterrank.metrics."):
        return frozenset({"FunctionNode"})
    return frozenset()


# Compression methods that can be read in parts, so that a false size cannot fill the memory.
# save_model uses only these.
_WAYS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_LEAF = -1


def unpacked(data: bytes, most: int, name: str) -> bytes:
    """Return a model file as an uncompressed archive; raise if it exceeds `most` bytes.

    `name` is the name of the file in messages.
    """
    copied = _copied(data, 0, most, name)
    with zipfile.ZipFile(io.BytesIO(copied)) as archive:
        sizes = {info.filename: info.file_size for info in archive.infolist()}
    # Several nodes may read the same entry, and each of them uses memory. Only a node with the id
    # of an earlier node is not read again.
    nodes = enumerate(_nodes(_schema(copied)))
    read = {(str(node.get("file")), node.get("__id__") or (place,)) for place, node in nodes}
    _check_size(sum(sizes.get(entry, 0) for entry, _ in read), most, name)
    return copied


def _copied(data, n_before, most, name):
    """Copy an archive without compression, and likewise the archives (sparse matrices) in it.

    `n_before` counts the bytes of the enclosing archive; raises if the total exceeds `most`.
    """
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(target, "w") as copied:
        # Declared sizes are checked before anything is unpacked.
        n_bytes = n_before + sum(info.file_size for info in source.infolist())
        _check_size(n_bytes, most, name)
        for info in {info.filename: info for info in source.infolist()}.values():
            if info.compress_type not in _WAYS:
                raise zipfile.BadZipFile("an entry is compressed by an unsupported method")
            # At most the declared size is read, because the real size may be greater.
            content = source.open(info).read(info.file_size)
            if content.startswith(b"PK"):
                content = _copied(content, n_bytes, most, name)
                n_bytes += len(content)
            copied.writestr(info.filename, content)
    return target.getvalue()


def _check_size(n_bytes, most, name):
    if n_bytes > most:
        raise FileFormatError(
            f"the model unpacks to more than {most:,} bytes, which could fill the memory; if you "
            "trust the source of the file, pass a greater max_bytes= to load_model.",
            name,
        )


def check_trees(objects, n_trees: int, name: str) -> None:
    """Raise if a tree would make `predict` read outside the memory of the tree or of X.

    Parameters
    ----------
    objects : iterable of object
        All objects of the model that have attributes.
    n_trees : int
        Number of trees in the file.
    name : str
        Name of the file for the message.

    Raises
    ------
    FileFormatError
        If the nodes of a tree do not form a tree, if a tree uses features that its estimator does
        not have, or if a tree is not the attribute `tree_` of an estimator.
    """
    tree_type, forest_types = trees_and_forests()
    seen = set()
    for owner in objects:
        state = vars(owner)
        tree, width = state.get("tree_"), state.get("n_features_in_")
        is_sound = True
        if isinstance(tree, tree_type):
            seen.add(id(tree))
            is_sound = _is_sound(tree, width)
        elif isinstance(owner, forest_types):
            # An ensemble validates X itself and its trees do not, so their numbers of features must
            # match.
            trees = [
                getattr(each, "tree_", None) for each in np.ravel(state.get("estimators_", ()))
            ]
            sets = state.get("estimators_features_", [()] * len(trees))
            is_sound = [getattr(each, "n_features", None) for each in trees] == [
                len(features) or width for features in sets
            ]
        if not is_sound:
            raise FileFormatError(
                f"a tree of {type(owner).__name__} is damaged: its nodes must form a tree over the "
                "features of the estimator. Fit and save the model again.",
                name,
            )
    if len(seen) != n_trees:
        raise FileFormatError(
            f"every tree must belong to an estimator, but {n_trees - len(seen)} of {n_trees} do "
            "not. Fit and save the model again.",
            name,
        )


def _is_sound(tree, width):
    """Return True if all node and feature numbers of a tree are valid.

    `width` is the number of features of the estimator.
    """
    n_nodes, left, right = tree.node_count, tree.children_left, tree.children_right
    if tree.n_features != width or not 0 < n_nodes <= tree.capacity:
        return False
    inner = np.flatnonzero(left != _LEAF)
    children = np.concatenate([left[inner], right[inner]])
    # Each node but the root must be the child of exactly one earlier node, so there are no cycles.
    if (
        np.any((tree.feature[inner] < 0) | (tree.feature[inner] >= width))
        or not np.array_equal(np.sort(children), np.arange(1, n_nodes))
        or np.any(children <= np.tile(inner, 2))
    ):
        return False
    depth, level = -1, np.zeros(1, dtype=np.intp)
    while len(level):
        depth += 1
        level = level[left[level] != _LEAF]
        level = np.concatenate([left[level], right[level]])
    return depth <= tree.max_depth

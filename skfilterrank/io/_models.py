"""Saving and loading of models in files that run no code, and checks of such files."""

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
# Beyond both of them a file is refused, by what it says of itself, before anything is unpacked;
# models of trees unpack to some 4 to 14 times their size.
_MOST_BYTES, _MOST_TIMES = 1 << 26, 50

# Types in a model file besides those that skops trusts by itself (numpy arrays, public scikit-learn
# estimators, ufuncs), each with the ways in which the file may use it. A name alone would not do:
# skops lets a file call any trusted name with arguments of its own.
# "ObjectNode" sets attributes and calls no constructor.
_OBJECT = frozenset({"ObjectNode"})
_OBJECTS = {
    "catboost.core": "CatBoost CatBoostClassifier CatBoostRanker CatBoostRegressor",
    "lightgbm.basic": "Booster",
    "lightgbm.sklearn": "LGBMClassifier LGBMModel LGBMRanker LGBMRegressor",
    "sklearn.calibration": "_CalibratedClassifier _SigmoidCalibration",
    # In ColumnTransformers of scikit-learn before 1.9.
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
    # Only numbers, which numpy reads without unpickling.
    "scipy.sparse._csr.csr_array": frozenset({"SparseMatrixNode"}),
    "scipy.sparse._csr.csr_matrix": frozenset({"SparseMatrixNode"}),
    # Each is looked at once it is there, see check_trees.
    "sklearn.tree._tree.Tree": frozenset({"TreeNode"}),
    "sklearn.utils._bunch.Bunch": frozenset({"DictNode"}),
}
# Packages whose models may predict differently in another version.
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
    """Save a fitted model in the format of skops, which holds data and names but no code.

    Parameters
    ----------
    model : object
        Usually a fitted estimator or Pipeline.
    path : str or PathLike
        Where to write, ".skops" by custom. A file that is there stays as it is until the new one
        is whole, which then takes its place.

    Raises
    ------
    ValueError
        The model holds something that cannot be saved, such as a lambda. Nothing is written.
    TypeError
        `path` is no path.

    Warns
    -----
    SkfilterrankWarning
        The model holds types that `load_model` refuses unless they are passed as ``trusted=``.

    See Also
    --------
    load_model : Load it again.

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
            # set_fit_request leaves requests in an estimator that refer to it.
            content["model"] = _with_named_owners(model)
            data = skops_io.dumps(content, compression=zipfile.ZIP_DEFLATED)
        untrusted = skops_io.get_untrusted_types(data=data)
        # A saved model may still not load: a lambda is saved by a name that cannot be found.
        skops_io.loads(data, trusted=untrusted)
    except Exception as error:
        reason = "it refers to itself" if isinstance(error, RecursionError) else str(error)
        raise InputError(
            f"the model {type(model).__name__} cannot be saved: {reason}. Functions in it must be "
            "importable from a module by their name, and its objects supported by skops."
        ) from error
    if refused := _refused(data, untrusted):
        warn_user(
            f"load_model will load this model only with trusted={refused}, because these types "
            "are not among those that it trusts by itself.",
            SkfilterrankWarning,
        )
    with open_replacing(path) as handle:
        handle.write(data)


def load_model(path, *, trusted: Sequence[str | type] = (), max_bytes: int | None = None) -> object:
    """Load a model saved by `save_model`, without running code from the file.

    Parameters
    ----------
    path : str or PathLike
        File to read.
    trusted : list of str or type, default=()
        Further types that the file may hold, by their full name, as the error message of a
        refused file lists them. Look at each before you trust it: a file can call what is named
        here with arguments of its own.
    max_bytes : int or None, default=None
        Most bytes that the file may unpack to; what is larger is refused before it fills the
        memory. By default 50 times the size of the file, at least 64 MiB.

    Returns
    -------
    model : object
        The model, ready to predict.

    Raises
    ------
    FileFormatError
        The file is not a model that `save_model` wrote, or unpacks to more than `max_bytes`.
    ValueError
        The file holds types that are not trusted; the message lists them.
    TypeError
        `path` is no path, or `trusted` no list of types.

    Warns
    -----
    SkfilterrankWarning
        The model was saved with another version of a package that it needs.

    Notes
    -----
    Trusted are numpy arrays, scipy sparse matrices, scikit-learn's estimators, splitters and
    scorers, the estimators of LightGBM, XGBoost and CatBoost, and the classes and measures of
    skfilterrank: every estimator that skfilterrank offers loads without `trusted`. What skops does
    not trust by itself is rebuilt from its attributes, without calling a constructor. Refused are
    scikit-learn's HistGradientBoosting estimators, and classes and functions of your own.

    skops refuses the trees of scikit-learn's forests and gradient boosting, since a crafted tree
    can make `predict` read outside its memory. Here each is looked at: its nodes must form a tree,
    of features that the model has. A crafted model of another library may do the same unseen, so
    take models only from people you would take data from.

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
            # scikit-learn warns for each of its estimators; below, there is one warning.
            warnings.simplefilter("ignore", InconsistentVersionWarning)
            content = None if refused else skops_io.loads(data, trusted=untrusted)
    except (FileFormatError, ImportError):
        raise
    except Exception as error:
        if data.lstrip()[:1] == b"{":
            raise FileFormatError(
                "the file is JSON and holds no model. skfilterrank.thresholds.load_threshold reads "
                "what `save` of a threshold wrote.",
                name,
            ) from error
        raise FileFormatError(
            f"the file is not a model written by save_model, is damaged, or was written with other "
            f"versions of the packages it needs ({reason_of(error)}).",
            name,
        ) from error
    if refused:
        raise InputError(
            f"{name} holds types that are not trusted: {', '.join(refused)}. If you know where the "
            f"file comes from and what these are, pass trusted={refused}."
        )
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise FileFormatError(
            "the file is in skops format, but save_model did not write it; load it by skops.io.",
            name,
        )
    if content["format_version"] > _FORMAT_VERSION:
        raise FileFormatError(
            f"skfilterrank {content['version']} writes a newer format than skfilterrank "
            f"{skfilterrank.__version__} reads; upgrade skfilterrank.",
            name,
        )
    nodes = list(_nodes(_schema(data)))
    # An object with several references is written several times with one id.
    trees = {node.get("__id__", id(node)) for node in nodes if node["__loader__"] == "TreeNode"}
    if trees:
        check_trees(_objects(content), len(trees), name)
    _warn_of_other_versions(content, nodes, name)
    return content["model"]


def _skops_io():
    """Import skops late, because it imports all of scikit-learn."""
    try:
        import skops.io
    except ImportError as error:
        raise MissingPackageError(
            "saving and loading models needs skops, which is not installed; pip install skops."
        ) from error
    return skops.io


def _versions():
    """Return the versions of imported packages whose objects may be in models."""
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
            f"{name} was saved with {then}, and is loaded with {today}: what it predicts may "
            "differ. Fit and save it again, or install the versions that it was saved with.",
            SkfilterrankWarning,
        )


def _objects(model):
    """Yield a model and all objects that its attributes, lists and dicts hold."""
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
    """Copy a model, and replace estimators in metadata requests by their names."""
    model = copy.deepcopy(model)
    for item in list(_objects(model)):
        if type(item).__module__ == "sklearn.utils._metadata_requests":
            item.owner = item.owner if isinstance(item.owner, str) else type(item.owner).__name__
    return model


def _schema(data):
    """Return the schema of a skops file."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return json.loads(archive.read("schema.json"))


def _refused(data, untrusted):
    """List the names in a file that neither skops nor this package trusts."""
    schema = _schema(data)
    if schema["protocol"] < 1:
        # Its functions are named elsewhere than in the nodes.
        raise InputError(f"skops protocol {schema['protocol']} is too old")
    ways = {name: set() for name in untrusted}
    for node in _nodes(schema):
        if not isinstance(node["__module__"], str):
            raise InputError(f"{brief(node['__module__'])} is no name of a module")
        if (name := f"{node['__module__']}.{node['__class__']}") in ways:
            ways[name].add(node["__loader__"])
    return sorted(
        name for name, loaders in ways.items() if not loaders or not loaders <= _allowed(name)
    )


def _nodes(state):
    """Yield all nodes of a skops schema: each names its module, class and loader."""
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
    """Return the allowed loaders for a name."""
    if name in _ALLOWED:
        return _ALLOWED[name]
    module_name, _, attribute = name.rpartition(".")
    # Other modules must not even be imported: one of them could be a script.
    if not f"{module_name}.".startswith(_OUR_PACKAGES):
        return frozenset()
    try:
        module = importlib.import_module(module_name)
    except ImportError:
        return frozenset()
    found = getattr(module, attribute, None)
    if getattr(found, "__module__", None) != module_name:  # imported from elsewhere
        return frozenset()
    if inspect.isclass(found):
        return frozenset({"TupleNode"}) if issubclass(found, tuple) else _OBJECT
    if inspect.isfunction(found) and module_name.startswith("skfilterrank.metrics."):
        return frozenset({"FunctionNode"})
    return frozenset()


# Other ways of compression give all of an entry at once, and save_model does not use them.
_WAYS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_LEAF = -1


def unpacked(data: bytes, most: int, name: str) -> bytes:
    """Copy a model file to an uncompressed archive; raise if it exceeds `most` bytes."""
    copied = _copied(data, 0, most, name)
    with zipfile.ZipFile(io.BytesIO(copied)) as archive:
        sizes = {info.filename: info.file_size for info in archive.infolist()}
    # A file may read an entry again and again; what a node holds that was there before is not read.
    nodes = enumerate(_nodes(_schema(copied)))
    read = {(str(node.get("file")), node.get("__id__") or (place,)) for place, node in nodes}
    _check_size(sum(sizes.get(entry, 0) for entry, _ in read), most, name)
    return copied


def _copied(data, n_before, most, name):
    """Copy an archive, and the archives in it, which hold sparse matrices."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(target, "w") as copied:
        # Before anything is unpacked.
        n_bytes = n_before + sum(info.file_size for info in source.infolist())
        _check_size(n_bytes, most, name)
        for info in {info.filename: info for info in source.infolist()}.values():
            if info.compress_type not in _WAYS:
                raise zipfile.BadZipFile("an entry is compressed in a way that is not used")
            # At most the declared size is read, since sizes may be false.
            content = source.open(info).read(info.file_size)
            if content.startswith(b"PK"):
                content = _copied(content, n_bytes, most, name)
                n_bytes += len(content)
            copied.writestr(info.filename, content)
    return target.getvalue()


def _check_size(n_bytes, most, name):
    if n_bytes > most:
        raise FileFormatError(
            f"the model unpacks to more than {most:,} bytes, so that it could fill the memory; if "
            "you know where the file comes from, pass a greater max_bytes= to load_model.",
            name,
        )


def check_trees(objects, n_trees: int, name: str) -> None:
    """Raise for trees that would make `predict` read outside of the tree or of X.

    Parameters
    ----------
    objects : iterable of object
        All objects of the model that have attributes.
    n_trees : int
        Trees that the file holds.
    name : str
        Name of the file.

    Raises
    ------
    FileFormatError
        For a tree that is none, that counts features which its owner does not ask for, or that
        stands elsewhere than in an estimator.
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
            # These ensembles validate X once, and pass it to their trees unchecked.
            trees = [
                getattr(each, "tree_", None) for each in np.ravel(state.get("estimators_", ()))
            ]
            sets = state.get("estimators_features_", [()] * len(trees))
            is_sound = [getattr(each, "n_features", None) for each in trees] == [
                len(features) or width for features in sets
            ]
        if not is_sound:
            raise FileFormatError(
                f"a tree of {type(owner).__name__} is damaged: its nodes form no tree of the "
                "features that its owner has. Fit and save the model again.",
                name,
            )
    if len(seen) != n_trees:
        raise FileFormatError(
            f"of {n_trees} trees, {n_trees - len(seen)} stand elsewhere than in an estimator.", name
        )


def _is_sound(tree, width):
    """Tell whether all node and feature numbers of a tree are valid."""
    n_nodes, left, right = tree.node_count, tree.children_left, tree.children_right
    if tree.n_features != width or not 0 < n_nodes <= tree.capacity:
        return False
    inner = np.flatnonzero(left != _LEAF)
    children = np.concatenate([left[inner], right[inner]])
    # Parents precede their children, so there are no cycles.
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

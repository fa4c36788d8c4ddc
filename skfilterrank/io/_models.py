"""Models in files that run no code when they are loaded."""

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
from skfilterrank._lists.user_warnings import warn_user
from skfilterrank.exceptions import (
    FileFormatError,
    InputError,
    InputTypeError,
    SkfilterrankWarning,
    brief,
)
from skfilterrank.io._untrusted import check_trees, unpacked

_FORMAT = "skfilterrank-model"
_FORMAT_VERSION = 1
# Beyond both of them a file is refused, by what it says of itself, before anything is unpacked;
# models of trees unpack to some 4 to 14 times their size.
_MOST_BYTES, _MOST_TIMES = 1 << 26, 50

# What a model file may hold besides what skops trusts by itself (numpy arrays, public scikit-learn
# estimators, ufuncs), each with the ways in which the file may use it. A name
# alone would not do: skops lets a file call any trusted name with arguments of its own.
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
    # Numbers alone: numpy reads them and unpickles nothing.
    "scipy.sparse._csr.csr_array": frozenset({"SparseMatrixNode"}),
    "scipy.sparse._csr.csr_matrix": frozenset({"SparseMatrixNode"}),
    # Each is looked at once it is there, see check_trees.
    "sklearn.tree._tree.Tree": frozenset({"TreeNode"}),
    "sklearn.utils._bunch.Bunch": frozenset({"DictNode"}),
}
# Packages whose models may say something else in another version.
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
    import skops.io  # imports all of scikit-learn

    content = {
        "format": _FORMAT,
        "format_version": _FORMAT_VERSION,
        "version": skfilterrank.__version__,
        "versions": _versions(_VERSIONED),
        "model": model,
    }
    try:
        try:
            data = skops.io.dumps(content, compression=zipfile.ZIP_DEFLATED)
        except RecursionError:
            # set_fit_request leaves requests in an estimator that refer to it.
            content["model"] = _with_named_owners(model)
            data = skops.io.dumps(content, compression=zipfile.ZIP_DEFLATED)
        untrusted = skops.io.get_untrusted_types(data=data)
        # What was saved may still not load: a lambda is saved by a name that cannot be found.
        skops.io.loads(data, trusted=untrusted)
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
    import skops.io

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
    try:
        data = unpacked(data, most, name)
        untrusted = skops.io.get_untrusted_types(data=data)
        refused = _refused(data, untrusted)
    except FileFormatError:
        raise
    except Exception as error:
        raise FileFormatError(
            f"the file is not a model written by save_model ({reason_of(error)}).", name
        ) from error
    trusted = [f"{t.__module__}.{t.__name__}" if isinstance(t, type) else t for t in trusted]
    if refused := sorted(set(refused).difference(trusted)):
        raise InputError(
            f"{name} holds types that are not trusted: {', '.join(refused)}. If you know where the "
            f"file comes from and what these are, pass trusted={refused}."
        )
    try:
        with warnings.catch_warnings():
            # Which scikit-learn says of each of its estimators; below, it is said once.
            warnings.simplefilter("ignore", InconsistentVersionWarning)
            content = skops.io.loads(data, trusted=untrusted)
    except ImportError:
        raise
    except Exception as error:
        raise FileFormatError(
            f"the model cannot be rebuilt ({reason_of(error)}); the file is damaged, "
            "or was written with other versions of the packages it needs.",
            name,
        ) from error
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise FileFormatError(
            "the file is in skops format, but save_model did not write it; load it by skops.io.",
            name,
        )
    if content["format_version"] > _FORMAT_VERSION:
        raise FileFormatError(
            f"the model was saved by skfilterrank {content['version']}, which writes a newer "
            f"format than skfilterrank {skfilterrank.__version__} reads; upgrade skfilterrank.",
            name,
        )
    nodes = list(_nodes(_schema(data)))
    # What is held twice is written twice, under one id.
    trees = {node.get("__id__", id(node)) for node in nodes if node["__loader__"] == "TreeNode"}
    if trees:
        check_trees(_objects(content), len(trees), name)
    _warn_of_other_versions(content, nodes, name)
    return content["model"]


def _versions(packages):
    """Version of each package that is imported."""
    loaded = {package: sys.modules.get(package) for package in packages}
    return {package: module.__version__ for package, module in loaded.items() if module}


def _warn_of_other_versions(content, nodes, name):
    """Warn where a package that the model is made of had another version when it was saved."""
    used = {node["__module__"].partition(".")[0] for node in nodes}
    saved = content.get("versions") or {"skfilterrank": content["version"]}
    saved = {package: saved[package] for package in _VERSIONED if package in used & saved.keys()}
    now = _versions(saved)
    others = [package for package in saved if saved[package] != now.get(package)]
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
    """A copy whose requests name the estimators that they belong to, and do not refer to them."""
    model = copy.deepcopy(model)
    for item in list(_objects(model)):
        if type(item).__module__ == "sklearn.utils._metadata_requests":
            item.owner = item.owner if isinstance(item.owner, str) else type(item.owner).__name__
    return model


def _schema(data):
    """Return the description that a skops file gives of its content."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return json.loads(archive.read("schema.json"))


def _refused(data, untrusted):
    """Names among those skops does not trust that a file may not hold, or not in this way."""
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
    """Yield everything that a skops schema names: its module, class and loader."""
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
    """Loaders by which a file may use a name."""
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

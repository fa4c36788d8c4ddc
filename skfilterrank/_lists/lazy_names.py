"""Lazy imports of rooms, names and optional packages, and suggestions for wrong names."""

import functools
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar, cast

from skfilterrank.exceptions import InputTypeError, MissingPackageError

_Function = TypeVar("_Function", bound=Callable[..., Any])

PARTS = (
    "comparison",
    "datasets",
    "exceptions",
    "integrations",
    "io",
    "judgments",
    "metaevaluation",
    "metrics",
    "plot",
    "ranking",
    "testing",
    "thresholds",
)

# Common synonyms, in lower case without "_" and a final "score"; a test imports each suggestion.
_SYNONYMS = {
    "metrics.average_precision_score": "ap meanaverageprecision map",
    "metrics.reciprocal_rank_score": "mrr rr meanreciprocalrank",
    "metrics.precision_at_k_score": "precision precisionatk",
    "metrics.recall_at_k_score": "recall recallatk",
    "metrics.success_at_k_score": "hitrate hits success",
    "metrics.ndcg_f_score": "ndcgf",
    "metrics.f_score": "fmeasure f1",
    "metrics.get_measure": "qmeasure sumprecision sp qwa inducedap harmfulcompatibility",
    "metrics.make_ranking_scorer": "makescorer rankingscorer",
    "metrics.evaluate_runs": "evaluateruns evaluaterun trec",
    "comparison.compare_systems": "compareruns comparesystems ttest significance plotcomparison",
    "ranking": "estimators learners learning modelselection models rankers",
    "ranking.RankFusion": "fusion rankfusion rrf reciprocalrankfusion combmnz",
    "ranking.make_text_features": "features",
    "ranking.OrdinalRanker": "ordinal ordinalregressor ordinalclassifier ordinalloss",
    "ranking.make_ranker": "lambdamart losses",
    "ranking.QueryRanker": "ranker lgbmranker",
    "thresholds": "filtering filters thresholding",
    "thresholds.TunedThreshold": "threshold thresholdtuner tunedthresholdclassifiercv",
    "thresholds.load_threshold": "loadthreshold readthreshold",
    "thresholds.CertifiedThreshold": "certificate conformalthreshold riskcontrol",
    "io.Rows": "stream streams",
    "io.read_letor": "loadletor loadsvmlightfile",
    "io.read_run": "readtrecrun loadrun",
    "io.read_qrels": "loadqrels",
    "io.load_model": "load",
    "io.save_model": "save",
    "judgments.estimate": "estimation estimatevalues evaluatewithmachinelabels",
    "judgments.LabelPredictor": "labelimputer",
    "judgments.MaxRepSelector": "maxrep activelearner selectdocuments",
    "judgments": "judging judgements labeling labels",
    "metaevaluation": "robustness",
    "metrics": "evaluation measures metric scorers scoring",
    "metaevaluation.worst_case_searcher": "optimalworstcase worstcase worstcaseprovider",
    "judgments.PoolingSelector": "pool makepool pooldocuments pooling",
    "ranking.fuse_runs": "fuse optimizefusion tunefusion",
    "integrations.LangChainCompressor": "langchain documentcompressor",
    "integrations.LlamaIndexPostprocessor": "llamaindex nodepostprocessor",
    "integrations.HaystackRanker": "haystack",
    "integrations.FilteredCrossEncoder": "crossencoder sentencetransformers reranker",
    "plot": "plotting",
    "plot.ThresholdCurveDisplay": "plotcurve",
}
SYNONYMS = {name: place for place, names in _SYNONYMS.items() for name in names.split()}


def names_of(part, later=None):
    """Return a `__getattr__` function for a room or for the package.

    `later` maps files of the room to those of their names that are imported on first use, because
    importing scikit-learn takes longer than most evaluations. For a wrong name, ``from room import
    name`` raises an ImportError that suggests similar names. Attribute access raises a plain
    AttributeError and imports nothing, as `hasattr` and pickle need.
    """
    files = {name: file for file, names in (later or {}).items() for name in names}
    if files:
        module = sys.modules[part]
        vars(module)["__dir__"] = lambda: sorted({*vars(module), *files})

    def __getattr__(name):
        if name in files:
            found = getattr(importlib.import_module(f"{part}.{files[name]}"), name)
            setattr(sys.modules[part], name, found)
            return found
        if part == "skfilterrank" and name in PARTS:
            return importlib.import_module(f"{part}.{name}")
        known = "" if name.startswith("_") else _synonym(name)
        # True for an import statement, False for `hasattr` and pickle.
        is_import = sys._getframe(1).f_globals.get("__name__") == "importlib._bootstrap"
        if is_import and not name.startswith("_"):
            near = known or _nearest(name)
            if near and importlib.util.find_spec(f"{part}.{name}") is None:
                raise ImportError(
                    f"cannot import name {name!r} from {part!r}. Did you mean {near}?", name=part
                )
        hint = f". Did you mean {known}?" if known else ""
        raise AttributeError(f"module {part!r} has no attribute {name!r}{hint}")

    return __getattr__


class ModuleHints:
    """Finder that finds no module: it adds a hint to the error for a wrong room of the package."""

    @staticmethod
    def find_spec(fullname, path=None, target=None):
        """Raise for an import statement of a wrong room; return None for all else."""
        package, _, name = fullname.rpartition(".")
        # Programs that ask `importlib.util.find_spec` whether there is a module get their None.
        is_import = sys._getframe(2).f_code.co_name == "_find_and_load_unlocked"
        if package != "skfilterrank" or name.startswith("_") or not is_import:
            return None
        import difflib

        near = [f"{package}.{room}" for room in difflib.get_close_matches(name, PARTS, n=1)]
        place = _synonym(name) or "".join(near)
        hint = f"Did you mean {place}?" if place else f"The modules are {', '.join(PARTS)}."
        raise ModuleNotFoundError(f"No module named {fullname!r}. {hint}", name=fullname)


def _synonym(name):
    """Return the public name for a common synonym, or an empty string."""
    plain = name.lower().replace("_", "")
    place = SYNONYMS.get(plain) or SYNONYMS.get(plain.removesuffix("score"))
    return f"skfilterrank.{place}" if place else ""


def _nearest(name):
    """Return the most similar public names, with their rooms, separated by commas."""
    import difflib

    places = {}
    for part in PARTS:
        module = importlib.import_module(f"skfilterrank.{part}")
        for each in module.__all__:
            places.setdefault(each, []).append(module.__name__)
    near = difflib.get_close_matches(name, places, n=4)
    return ", ".join(f"{place}.{each}" for each in near for place in places[each])


def suggests(*, by_place: str = "", **instead: str) -> Callable[[_Function], _Function]:
    """Make a decorator that raises for wrongly guessed arguments, with a hint what to pass.

    Parameters
    ----------
    by_place : str
        Sentence of the error for too many positional arguments; empty for no check.
    **instead : str
        Hints by the names of parameters that the function does not have.
    """

    def decorate(function: _Function) -> _Function:
        parameters = inspect.signature(function).parameters.values()
        n_places = sum(each.kind <= each.POSITIONAL_OR_KEYWORD for each in parameters)
        name = function.__qualname__.removesuffix(".__init__")

        @functools.wraps(function)
        def checked(*args, **kwargs):
            for guess in kwargs.keys() & instead.keys():
                raise InputTypeError(f"{name} has no parameter {guess}. Pass {instead[guess]}.")
            if by_place and len(args) > n_places:
                raise InputTypeError(f"{name} got too many positional arguments. {by_place}")
            return function(*args, **kwargs)

        return cast(_Function, checked)

    return decorate


class Absent:
    """Placeholder for a method that a class lacks: access raises an error with an alternative.

    `hasattr` returns False for it, as scikit-learn's duck typing needs.
    """

    def __init__(self, instead: str):
        self._instead = instead

    def __set_name__(self, owner, name):
        self._name = name

    def __get__(self, instance, owner) -> NoReturn:
        raise AttributeError(f"{owner.__name__} has no {self._name}. Use {self._instead}.")

    def __set__(self, instance, value) -> NoReturn:
        raise AttributeError(f"{type(instance).__name__} has no {self._name}.")


def import_optional(package: str, needed_by: str, install: str | None = None):
    """Import a package, or raise an error that says how to install it.

    The error names the extra of the package's name, or `install`.
    """
    wanted = package if package == "lightgbm" else f"'skfilterrank[{package}]'"
    wanted = install or wanted
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        # For "llama_index.core", the missing module may be the parent "llama_index".
        if error.name is None or not f"{package}.".startswith(f"{error.name}."):
            raise
        raise MissingPackageError(
            f"{needed_by} needs {package}, which is not installed: pip install {wanted}."
        ) from error
    except OSError as error:  # a shared library of the package is missing
        raise MissingPackageError(
            f"{needed_by} needs {package}, which cannot be loaded: {error}. On macOS, LightGBM and "
            "XGBoost need OpenMP: brew install libomp."
        ) from error

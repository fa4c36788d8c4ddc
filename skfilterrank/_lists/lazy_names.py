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
    "thresholds",
)

# Common synonyms, in lower case without "_" and a final "score"; a test imports each suggestion.
_SYNONYMS = {
    "metrics.average_precision_score": "ap meanaverageprecision map",
    "metrics.reciprocal_rank_score": "mrr rr meanreciprocalrank",
    "metrics.ndcg_score": "ndcgatk ndcgcut",
    "metrics.inferred_ap_score": "infap",
    "metrics.precision_at_k_score": "p precision precisionatk",
    "metrics.recall_at_k_score": "r recall recallatk",
    "metrics.success_at_k_score": "hitrate hits success",
    "metrics.ndcg_f_score": "ndcgf",
    "metrics.f_score": "fmeasure f1",
    "metrics.get_measure_names": "supportedmeasures listmeasures",
    "metrics.get_measure": "getscorer parsemeasure qmeasure sumprecision sp qwa inducedap "
    "harmfulcompatibility",
    "metrics.make_ranking_scorer": "makescorer rankingscorer",
    "metrics.evaluate_runs": "evaluate evaluateruns evaluaterun trec relevanceevaluator itercalc "
    "calcaggregate",
    "comparison.compare_systems": "compare compareruns comparesystems ttest pairedttest "
    "significance stats holm bootstrap tukeyhsd plotcomparison",
    "comparison.rank_biased_overlap": "rbo",
    "ranking": "estimators learners learning modelselection models rankers",
    "ranking.RankFusion": "fusion rankfusion rrf reciprocalrankfusion combmnz combsum borda "
    "condorcet",
    "ranking.make_text_features": "features",
    "ranking.OrdinalRanker": "ordinal ordinalregressor ordinalclassifier ordinalloss",
    "ranking.make_ranker": "lambdamart listnet ranknet losses",
    "ranking.QueryRanker": "ranker lgbmranker xgbranker catboostranker",
    "ranking.QueryScaler": "preprocessing standardscaler minmaxscaler",
    "ranking.CalibratedRanker": "calibration",
    "thresholds": "filtering filters thresholding",
    "thresholds.TunedThreshold": "threshold thresholdtuner tunedthresholdclassifiercv",
    "thresholds.load_threshold": "loadthreshold readthreshold",
    "thresholds.CertifiedThreshold": "certificate conformal conformalthreshold riskcontrol "
    "conformalriskcontrol mapieclassifier",
    "thresholds.RiskMonitor": "monitor monitoring drift",
    "io.Rows": "stream streams",
    "io.read_letor": "loadletor loadsvmlightfile",
    "io.read_run": "run readtrec readtrecrun loadrun",
    "io.read_qrels": "qrels readtrecqrels loadqrels",
    "judgments.estimate": "estimation estimatevalues evaluatewithmachinelabels",
    "judgments.assessor_agreement": "kappa cohenkappa krippendorffalpha",
    "judgments.draw_sample": "sample",
    "datasets": "data dataset",
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
_OF_SKLEARN = {
    *("pipeline", "makepipeline", "ensemble", "linearmodel", "featureselection", "inspection"),
    *("base", "utils", "kfold", "groupkfold", "gridsearchcv", "crossval", "crossvalidate"),
    *("auc", "rocauc", "columntransformer", "traintestsplit"),
}
_SENTENCES = dict.fromkeys(
    ("getdatahome", "cleardatahome"),
    "Data sets are in the folder data_home= of skfilterrank.datasets.fetch_trec_qrels and others, "
    "or of the environment variable SKFILTERRANK_DATA, or else skfilterrank_data in the home "
    "folder.",
) | dict.fromkeys(_OF_SKLEARN, "Use scikit-learn's own, which works with this package.")
_SENTENCES["selection"] = (
    "Splits of queries are in skfilterrank.ranking, and selectors of documents to judge in "
    "skfilterrank.judgments."
)
_SENTENCES["labelsneeded"] = (
    "skfilterrank.thresholds.queries_needed says how many queries people must judge for a "
    "certificate."
)


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
        if name.startswith("_"):
            raise AttributeError(f"module {part!r} has no attribute {name!r}")
        known = _spelled_otherwise(part, name) or _synonym(name)
        # True for an import statement, False for `hasattr` and pickle.
        is_import = sys._getframe(1).f_globals.get("__name__") == "importlib._bootstrap"
        if is_import and importlib.util.find_spec(f"{part}.{name}") is None:
            hint = _hint(name, known or _nearest(part, name, PARTS), part)
            raise ImportError(f"cannot import name {name!r} from {part!r}. {hint}", name=part)
        hint = _hint(name, known or _nearest(part, name), part)
        raise AttributeError(f"module {part!r} has no attribute {name!r}. {hint}")

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

        near = difflib.get_close_matches(name, PARTS, n=1, cutoff=0.7)
        place = _synonym(name) or "".join(f"{package}.{room}" for room in near)
        hint = _hint(name, place, package)
        raise ModuleNotFoundError(f"No module named {fullname!r}. {hint}", name=fullname)


def _synonym(name):
    """Return the public name for a common synonym, or an empty string."""
    place = SYNONYMS.get(_plain(name))
    return f"skfilterrank.{place}" if place else ""


def _plain(name):
    return name.lower().replace("_", "").removesuffix("score")


def _hint(name, place, part):
    """Return a sentence that names a place, or says where to look."""
    if _plain(name) in _SENTENCES:
        return _SENTENCES[_plain(name)]
    if place:
        return f"Did you mean {place}?"
    if part == "skfilterrank":
        return f"The modules are {', '.join(PARTS)}."
    names = _names(part)
    return f"Its names are {', '.join(names)}." if len(names) < 10 else f"See dir({part})."


def _names(part):
    return getattr(sys.modules[part], "__all__", ())


def _spelled_otherwise(part, name):
    """Return the name of a module that differs in capitals, "_" and a final "score" alone."""
    return next((f"{part}.{each}" for each in _names(part) if _plain(each) == _plain(name)), "")


def _nearest(part, name, others=()):
    """Return the most similar public names, with their rooms, separated by commas.

    The same name elsewhere comes first. Then come those of the module itself; of others, only names
    that are nearly the same.
    """
    import difflib

    rooms = [importlib.import_module(f"skfilterrank.{each}").__name__ for each in others]
    if found := [f"{room}.{name}" for room in rooms if name in _names(room)]:
        return ", ".join(found)
    wanted = _plain(name)
    if part == "skfilterrank.datasets":
        wanted = wanted.replace("load", "fetch")
    near_by = ([part], 0.67), (rooms, 0.8)
    if others and part == "skfilterrank":
        near_by = ((rooms, 0.67),)
    for places, cutoff in near_by:
        known = {}
        for place in places:
            for each in _names(place):
                known.setdefault(_plain(each), []).append(f"{place}.{each}")
        if near := difflib.get_close_matches(wanted, known, n=4, cutoff=cutoff):
            return ", ".join(each for plain in near for each in known[plain])
    return ""


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

"""Lazy imports of rooms, names and optional packages, and suggestions for misspelled names."""

import importlib
import importlib.util
import sys

PARTS = (
    "comparison",
    "datasets",
    "exceptions",
    "io",
    "judgments",
    "metaevaluation",
    "metrics",
    "plot",
    "ranking",
    "testing",
    "thresholds",
)

# Names that people try, without case, "_" and a final "score"; a test imports each suggestion.
SYNONYMS = {
    "ap": "metrics.average_precision_score",
    "meanaverageprecision": "metrics.average_precision_score",
    "map": "metrics.average_precision_score",
    "mrr": "metrics.reciprocal_rank_score",
    "rr": "metrics.reciprocal_rank_score",
    "meanreciprocalrank": "metrics.reciprocal_rank_score",
    "precision": "metrics.precision_at_k_score",
    "precisionatk": "metrics.precision_at_k_score",
    "recall": "metrics.recall_at_k_score",
    "recallatk": "metrics.recall_at_k_score",
    "hitrate": "metrics.success_at_k_score",
    "hits": "metrics.success_at_k_score",
    "success": "metrics.success_at_k_score",
    "ndcgf": "metrics.ndcg_f_score",
    "fmeasure": "metrics.f_score",
    "f1": "metrics.f_score",
    "makescorer": "metrics.make_ranking_scorer",
    "rankingscorer": "metrics.make_ranking_scorer",
    "evaluateruns": "metrics.evaluate_runs",
    "evaluaterun": "metrics.evaluate_runs",
    "trec": "metrics.evaluate_runs",
    "compareruns": "comparison.compare_systems",
    "comparesystems": "comparison.compare_systems",
    "ttest": "comparison.compare_systems",
    "significance": "comparison.compare_systems",
    "fusion": "ranking.RankFusion",
    "rankfusion": "ranking.RankFusion",
    "rrf": "ranking.RankFusion",
    "reciprocalrankfusion": "ranking.RankFusion",
    "combmnz": "ranking.RankFusion",
    "features": "ranking.make_text_features",
    "ordinal": "ranking.OrdinalRanker",
    "ordinalregressor": "ranking.OrdinalRanker",
    "ordinalclassifier": "ranking.OrdinalRanker",
    "lambdamart": "ranking.make_ranker",
    "ranker": "ranking.QueryRanker",
    "lgbmranker": "ranking.QueryRanker",
    "threshold": "thresholds.TunedThreshold",
    "thresholdtuner": "thresholds.TunedThreshold",
    "tunedthresholdclassifiercv": "thresholds.TunedThreshold",
    "certificate": "thresholds.CertifiedThreshold",
    "conformalthreshold": "thresholds.CertifiedThreshold",
    "riskcontrol": "thresholds.CertifiedThreshold",
    "stream": "io.Rows",
    "streams": "io.Rows",
    "loadletor": "io.read_letor",
    "loadsvmlightfile": "io.read_letor",
    "readtrecrun": "io.read_run",
    "loadrun": "io.read_run",
    "loadqrels": "io.read_qrels",
    "load": "io.load_model",
    "save": "io.save_model",
    "estimation": "judgments.estimate",
    "labelimputer": "judgments.LabelPredictor",
    "maxrep": "judgments.MaxRepSelector",
    "activelearner": "judgments.MaxRepSelector",
    "robustness": "metaevaluation",
    "pool": "judgments.PoolingSelector",
    "makepool": "judgments.PoolingSelector",
    "pooldocuments": "judgments.PoolingSelector",
    "pooling": "judgments.PoolingSelector",
    "selectdocuments": "judgments.MaxRepSelector",
    "estimatevalues": "judgments.estimate",
    "evaluatewithmachinelabels": "judgments.estimate",
    "fuse": "ranking.fuse_runs",
    "optimizefusion": "ranking.fuse_runs",
    "tunefusion": "ranking.fuse_runs",
    "losses": "ranking.make_ranker",
    "ordinalloss": "ranking.OrdinalRanker",
    "plotting": "plot",
    "plotcomparison": "plot.PairwiseComparisonDisplay",
    "plotcurve": "plot.ThresholdCurveDisplay",
}


def names_of(part, later=None):
    """Return the `__getattr__` of a room, or of the package.

    `later` maps files of the room to names in them that are imported when first used:
    importing scikit-learn takes longer than most evaluations. ``from room import name`` raises an
    ImportError with similar names. Attributes raise a plain AttributeError, as `hasattr` and
    pickle need, and import nothing.
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
        # The import statement of a user, not `hasattr` or pickle.
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


def import_optional(package: str, needed_by: str):
    """Import a package, or raise an error that says how to install it."""
    from skfilterrank.exceptions import MissingPackageError

    wanted = package if package == "lightgbm" else f"'skfilterrank[{package}]'"
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise MissingPackageError(
            f"{needed_by} needs {package}, which is not installed: pip install {wanted}."
        ) from error
    except OSError as error:  # a shared library that the package loads
        raise MissingPackageError(
            f"{needed_by} needs {package}, which cannot be loaded: {error}. On macOS, LightGBM and "
            "XGBoost need OpenMP: brew install libomp."
        ) from error

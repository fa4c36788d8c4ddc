"""Parts, names and packages that are imported when first asked for, and hints for wrong names."""

import importlib
import importlib.util
import sys

from skfilterrank.exceptions import MissingPackageError

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


def names_of(part, later=None):
    """`__getattr__` of a part, or of the package: imports of a name it lacks say what is near.

    `later` names files of the part with what they hold that is imported when first asked for:
    scikit-learn takes longer to import than most runs to measure.
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
        # Only "from part import name" is told: hasattr() and pickle want an AttributeError of
        # names that are not there, and nothing imported for it.
        caller = sys._getframe(1).f_globals.get("__name__")
        if caller == "importlib._bootstrap" and not name.startswith("_"):
            near = _nearest(name)
            if near and importlib.util.find_spec(f"{part}.{name}") is None:
                raise ImportError(
                    f"cannot import name {name!r} from {part!r}. Did you mean {near}?", name=part
                )
        raise AttributeError(f"module {part!r} has no attribute {name!r}")

    return __getattr__


def _nearest(name):
    """Public names like this one, and the parts that have them."""
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

"""Lazy imports of rooms, names and optional packages; wrong names get similar ones suggested."""

import importlib
import sys

from skfilterrank.exceptions import MissingPackageError, did_you_mean


def names_of(part, later=None, rooms=()):
    """Return a `__getattr__` function for a room or the package, and make `dir` list its names.

    `later` maps files of the room to those of their names that are imported on first use, because
    importing scikit-learn takes longer than most evaluations. The package also finds its `rooms`
    and their public names. A wrong name is an AttributeError that suggests the most similar ones.
    """
    files = {name: file for file, names in (later or {}).items() for name in names}
    module = sys.modules[part]
    # Users explore public names: the others are for other rooms.
    vars(module)["__dir__"] = lambda: sorted({*module.__all__, *rooms})

    def __getattr__(name):
        if name in files:
            found = getattr(importlib.import_module(f"{part}.{files[name]}"), name)
            setattr(module, name, found)
            return found
        if name in rooms:
            return importlib.import_module(f"{part}.{name}")
        # `from skfilterrank import` finds the names of all rooms, also those it does not list.
        for room in rooms if name[:1] != "_" else ():
            found = importlib.import_module(f"{part}.{room}")
            if name in getattr(found, "__all__", ()):
                return getattr(found, name)
        hint = did_you_mean(name, getattr(module, "__all__", ())) if name[:1] != "_" else ""
        raise AttributeError(f"module {part!r} has no attribute {name!r}.{hint}")

    return __getattr__


def import_optional(package: str, needed_by: str, install: str | None = None):
    """Import a package, or raise an error that says how to install it.

    The error says to install the extra with the name of the package, or else `install`.
    """
    # LightGBM is no extra: it is required.
    default = package if package == "lightgbm" else f"'skfilterrank[{package}]'"
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        # For "llama_index.core", the missing module may be the parent "llama_index".
        if error.name is None or not f"{package}.".startswith(f"{error.name}."):
            raise
        raise MissingPackageError(
            f"{needed_by} needs {package}, which is not installed: pip install "
            f"{install or default}."
        ) from error
    except OSError as error:  # a shared library of the package is missing
        raise MissingPackageError(
            f"{needed_by} needs {package}, which cannot be loaded: {error}. On macOS, LightGBM and "
            "XGBoost need OpenMP: brew install libomp."
        ) from error

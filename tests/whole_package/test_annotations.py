"""What the package promises about types, py.typed being there, holds of what is public."""

import importlib
import inspect
import pkgutil
import runpy
from pathlib import Path

import pytest

import skfilterrank
from skfilterrank.exceptions import MissingPackageError

PARTS = [part.name for part in pkgutil.iter_modules(skfilterrank.__path__) if part.name[0] != "_"]


def functions_of(name, found):
    """Public functions, methods and properties under their names; inherited ones of ours too."""
    if not inspect.isclass(found):
        return {name: found}
    return {
        f"{name}.{key}": getattr(value, "fget", None) or getattr(value, "func", value)
        for key, value in inspect.getmembers(found)
        if not key.startswith("_")
    }


@pytest.mark.parametrize(
    "part",
    [
        # The frameworks take seconds to import.
        pytest.param(part, marks=[pytest.mark.nightly] if part == "integrations" else [])
        for part in PARTS
    ],
)
def test_public_functions_say_what_they_return(part):
    module = importlib.import_module(f"skfilterrank.{part}")
    silent = []
    for name in getattr(module, "__all__", ()):
        try:
            thing = getattr(module, name)
        except MissingPackageError:  # a component of a framework that is not installed
            continue
        for key, function in functions_of(name, thing).items():
            is_ours = getattr(function, "__module__", "").startswith("skfilterrank.")
            if is_ours and inspect.isroutine(function):
                returns = inspect.signature(function).return_annotation
                silent += [key] * (returns is inspect.Signature.empty)
    assert not silent, silent


@pytest.mark.slow
def test_programs_that_mypy_reads_run():
    runpy.run_path(str(Path(__file__).parents[1] / "typing" / "user_programs.py"))

"""What the package promises about types, py.typed being there, holds of what is public."""

import importlib
import inspect

import pytest


@pytest.mark.parametrize("part", ["datasets", "io", "judgments", "trec"])
def test_public_functions_say_what_they_return(part):
    module = importlib.import_module(f"skfilterrank.{part}")
    silent = []
    for name in module.__all__:
        found = getattr(module, name)
        functions = {name: found}
        if inspect.isclass(found):
            functions = {f"{name}.{key}": value for key, value in vars(found).items()}
        for key, function in functions.items():
            function = inspect.unwrap(getattr(function, "fget", function))
            is_public = not key.rpartition(".")[2].startswith("_")
            if is_public and "return" not in getattr(function, "__annotations__", {"return": None}):
                silent.append(key)
    assert silent == []

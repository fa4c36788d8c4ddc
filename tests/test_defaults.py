"""What a docstring says is the default is the default, of every public function and class."""

import ast
import importlib
import inspect
import pkgutil
import re

import pytest

import skfilterrank

# A line of numpydoc such as "k : int or None, default=10".
PARAMETERS = re.compile(r"^([\w, *]+) : (.+)$", re.MULTILINE)


def public():
    """Every public function and class, and the public methods of classes."""
    found = {}
    for part in filter(lambda part: part.ispkg, pkgutil.iter_modules(skfilterrank.__path__)):
        module = importlib.import_module(f"skfilterrank.{part.name}")
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            if callable(thing):
                found[f"{part.name}.{name}"] = thing
            for method, function in inspect.getmembers(thing) if inspect.isclass(thing) else ():
                # scikit-learn adds methods that ask for metadata.
                is_method = inspect.isfunction(function) or inspect.ismethod(function)
                if method in vars(thing) and method[0] != "_" and is_method:
                    found[f"{part.name}.{name}.{method}"] = function
    return found


@pytest.mark.parametrize(("name", "thing"), public().items())
def test_documented_defaults(name, thing):
    text = inspect.getdoc(thing) or ""
    section = re.search(
        r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n---|\Z)", text, re.DOTALL | re.MULTILINE
    )
    signature = inspect.signature(thing).parameters
    for names, said in PARAMETERS.findall(section[1] if section else ""):
        for parameter in names.replace("*", "").split(", "):
            _, is_said, value = said.partition("default=")
            # What is said in other ways, or cut short, is for readers alone.
            if is_said and re.fullmatch(r"[^.]*(\d\.\d+[^.]*)?", value):
                default = signature[parameter].default
                assert repr(default) == repr(ast.literal_eval(value)), parameter

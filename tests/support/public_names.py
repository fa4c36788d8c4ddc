"""What is public: functions, classes and their methods."""

import importlib
import inspect
import pkgutil

import skfilterrank
from skfilterrank.exceptions import MissingPackageError
from thinned import is_nightly

PARTS = {part.name for part in pkgutil.iter_modules(skfilterrank.__path__) if part.ispkg}
# Components import their frameworks, which takes seconds.
PARTS -= set() if is_nightly() else {"integrations"}


def public():
    """Every public function and class, and the public methods of classes."""
    found = {}
    for part in sorted(PARTS):
        module = importlib.import_module(f"skfilterrank.{part}")
        for name in getattr(module, "__all__", ()):
            try:
                thing = getattr(module, name)
            except MissingPackageError:  # a component of a framework that is not installed
                continue
            if callable(thing):
                found[f"{part}.{name}"] = thing
            for method, function in inspect.getmembers(thing) if inspect.isclass(thing) else ():
                # scikit-learn adds methods that ask for metadata.
                is_method = inspect.isfunction(function) or inspect.ismethod(function)
                if method in vars(thing) and method[0] != "_" and is_method:
                    found[f"{part}.{name}.{method}"] = function
    return found

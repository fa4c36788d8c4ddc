"""What is public: functions, classes and their methods."""

import importlib
import inspect
import pkgutil

import skfilterrank


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

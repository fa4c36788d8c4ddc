"""Packages that not everyone has."""

import importlib

from skfilterrank.exceptions import MissingPackageError


def import_optional(package: str, needed_by: str):
    """Import a package, or say which extra installs it.

    The extras are named after the packages.
    """
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise MissingPackageError(
            f"{needed_by} needs {package}, which is not installed: "
            f"pip install 'skfilterrank[{package}]'."
        ) from error

"""Imports point one way, and scikit-learn's private names enter through one file."""

import ast
import importlib.util
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = "skfilterrank"
ROOT = Path(importlib.util.find_spec(PACKAGE).origin).parent
PRIVATE_DOOR = "_sklearn_compat"

# From the bottom up. A part may import from parts of lower layers and from itself.
LAYERS = {
    "exceptions": -1,
    "_all_or_nothing": 0,
    "_printable": -1,
    "_sklearn_compat": 0,
    "_arrays": 0,
    "_json": 0,
    "_sorting": 0,
    "_warnings": 0,
    "_groups": 1,
    "_gains": 1,
    "_validation": 2,
    "_response": 3,
    "metrics": 4,
    "ranking": 5,
    "judgments": 5,
    "io": 5,
    "robustness": 5,
    "datasets": 5,
    "trec": 6,
    "comparison": 7,
    "plot": 8,
    "cli": 9,
    "__main__": 10,
}


def modules():
    """Dotted name and path of every module of the package."""
    for path in sorted(ROOT.rglob("*.py")):
        parts = [PACKAGE, *path.relative_to(ROOT).with_suffix("").parts]
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


MODULES = dict(modules())


def imported_names(path, module):
    """Every name a file imports, at any depth: (dotted module, name or None)."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, None
        elif isinstance(node, ast.ImportFrom):
            source = node.module
            if node.level:
                package = module if path.name == "__init__.py" else module.rpartition(".")[0]
                source = importlib.util.resolve_name("." * node.level + (source or ""), package)
            for alias in node.names:
                yield source, alias.name


def imported_modules(path, module):
    """Modules of the package that a file imports."""
    for source, name in imported_names(path, module):
        if source.split(".")[0] == PACKAGE:
            inner = f"{source}.{name}"
            yield inner if inner in MODULES else source


def part(module):
    """The first name below the package: the part of the library a module belongs to."""
    return module.split(".")[1] if "." in module else PACKAGE


def test_every_part_has_its_layer():
    assert {part(module) for module in MODULES} - {PACKAGE} <= set(LAYERS)


@pytest.mark.parametrize("module", [module for module in MODULES if module != PACKAGE])
def test_imports_point_one_way(module):
    mine = part(module)
    for imported in imported_modules(MODULES[module], module):
        theirs = part(imported)
        if theirs in (mine, PACKAGE):
            continue
        assert LAYERS[theirs] < LAYERS[mine], f"{module} imports {imported}"


def test_the_package_itself_imports_nothing_of_its_parts():
    # So that `import skfilterrank` stays quick, and nothing can be imported in a circle.
    assert list(imported_modules(MODULES[PACKAGE], PACKAGE)) == []


def test_there_are_no_cycles():
    # A package file re-exports its own modules, which is no cycle unless they import it back.
    graph = {module: set(imported_modules(path, module)) for module, path in MODULES.items()}
    order = list(TopologicalSorter(graph).static_order())
    assert set(order) >= set(MODULES)


def is_private(source, name):
    """Whether an import from scikit-learn reaches behind its public names."""
    names = [*source.split("."), name or ""]
    return names[0] == "sklearn" and any(
        part.startswith("_") and not part.startswith("__") for part in names
    )


@pytest.mark.parametrize("module", MODULES)
def test_private_names_of_scikit_learn(module):
    found = [pair for pair in imported_names(MODULES[module], module) if is_private(*pair)]
    if part(module) == PRIVATE_DOOR:
        assert found, "the file that exists for private names has none"
    else:
        assert not found, f"{module} imports {found}: let them enter through {PRIVATE_DOOR}.py"


@pytest.mark.parametrize("module", MODULES)
def test_private_attributes_of_scikit_learn(module):
    """`sklearn.utils._x` written out is a private name too."""
    if part(module) == PRIVATE_DOOR:
        return
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            source = ast.unparse(node.value)
            assert not source.startswith("sklearn."), f"{module}: {source}.{node.attr}"


@pytest.mark.parametrize("module", MODULES)
def test_matplotlib_is_imported_where_it_draws(module):
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [getattr(node, "module", None) or "", *(alias.name for alias in node.names)]
            assert not any(name.startswith("matplotlib") for name in names), module

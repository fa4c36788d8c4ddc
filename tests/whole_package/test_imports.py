"""Imports point one way, and scikit-learn's private names enter through one file."""

import ast
import functools
import importlib.util
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PACKAGE = "skfilterrank"
ROOT = Path(importlib.util.find_spec(PACKAGE).origin).parent
PRIVATE_DOOR = f"{PACKAGE}._base.sklearn_compat"

# From the bottom up. A part may import from parts of lower layers and from itself.
LAYERS = {
    "exceptions": -2,
    # What knows no query: checks, words, results, rounding, folds.
    "_base": -1,
    # Queries, gains, ranked lists, ties, the declaration of measures and the engine.
    "_lists": 0,
    # Whole files, and rows that need not fit into memory.
    "_files": 1,
    # What the estimators of all rooms share.
    "_estimators": 2,
    "io": 3,
    "metrics": 4,
    "thresholds": 5,
    "ranking": 6,
    "judgments": 7,
    "datasets": 7,
    "comparison": 8,
    "metaevaluation": 9,
    "plot": 10,
    "integrations": 10,
    "cli": 11,
    "__main__": 12,
    # Names its rooms, which it imports late.
    PACKAGE: 13,
}
# Files that import what a text names, which only runs tell: the caller's own room, a package that
# need not be installed, the room of displays that the top of the package names, a command.
BY_NAME = {f"{PACKAGE}._base.lazy_names", f"{PACKAGE}._base.results", f"{PACKAGE}.cli"}


def modules():
    """Dotted name and path of every module of the package."""
    for path in sorted(ROOT.rglob("*.py")):
        parts = [PACKAGE, *path.relative_to(ROOT).with_suffix("").parts]
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


MODULES = dict(modules())


@functools.cache
def tree(module):
    """The syntax tree of a module's file."""
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


# A statement of an import begins a line, as ruff keeps them; to parse whole files takes seconds.
IMPORT = r"((?:from [\w.]+ )?import (?:\([^)]*\)|.*))$"
ANYWHERE = r"^[ ]*"


def statements(module, before=ANYWHERE):
    """Every import of a file, at any depth unless said otherwise."""
    text = MODULES[module].read_text(encoding="utf-8")
    for found in re.finditer(before + IMPORT, text, re.MULTILINE):
        yield from ast.parse(found[1]).body


def test_every_import_is_seen():
    # The file with the most kinds of them, as its syntax tree has them.
    for module in (f"{PACKAGE}.cli", f"{PACKAGE}.ranking", f"{PACKAGE}.io._write"):
        kinds = ast.Import | ast.ImportFrom
        nodes = (node for node in ast.walk(tree(module)) if isinstance(node, kinds))
        assert sorted(map(ast.unparse, nodes)) == sorted(map(ast.unparse, statements(module)))


@functools.cache
def imported_names(module, before=ANYWHERE):
    """Every name a file imports: (dotted module, name or None)."""
    found = []
    for node in statements(module, before):
        if isinstance(node, ast.Import):
            found += [(alias.name, None) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            source = node.module
            if node.level:
                is_package = MODULES[module].name == "__init__.py"
                package = module if is_package else module.rpartition(".")[0]
                source = importlib.util.resolve_name("." * node.level + (source or ""), package)
            found += [(source, alias.name) for alias in node.names]
    return found


def imported_modules(module):
    """Modules of the package that a file imports, at any depth."""
    for source, name in imported_names(module):
        if source.split(".")[0] == PACKAGE:
            inner = f"{source}.{name}"
            yield inner if inner in MODULES else source


def imports_of_other_parts():
    """Each module of a part, and each module of another part that it imports."""
    for module in MODULES:
        for imported in imported_modules(module):
            if part(imported) != part(module):
                yield module, imported


def part(module):
    """The first name below the package: the part of the library a module belongs to."""
    return module.split(".")[1] if "." in module else PACKAGE


def test_every_part_has_its_layer():
    assert {part(module) for module in MODULES} - {PACKAGE} <= set(LAYERS)


def test_imports_point_one_way():
    wrong = [
        f"{module} imports {imported}"
        for module, imported in imports_of_other_parts()
        if not LAYERS[part(imported)] < LAYERS[part(module)]
    ]
    assert wrong == []


def is_private_file(module):
    """Whether a file of a public part is for that part alone: its own name or its folder's says."""
    below = module.split(".")[2:]
    return not part(module).startswith("_") and any(name.startswith("_") for name in below)


def test_no_part_enters_another_by_a_private_door():
    wrong = [
        f"{module} imports {imported}"
        for module, imported in imports_of_other_parts()
        if is_private_file(imported)
    ]
    assert wrong == []


def test_there_are_no_cycles():
    # A package file re-exports its own modules, which is no cycle unless they import it back.
    graph = {module: set(imported_modules(module)) for module in MODULES}
    order = list(TopologicalSorter(graph).static_order())
    assert set(order) == set(MODULES)


def test_few_files_import_what_a_text_names():
    wrong = {"import_module", "__import__"}
    found = {
        module
        for module, path in MODULES.items()
        if any(name in path.read_text(encoding="utf-8") for name in wrong)
    }
    assert found == BY_NAME
    # What stands below all rooms names none of them.
    for module in (each for each in BY_NAME if part(each) == "_base"):
        texts = {node.value for node in ast.walk(tree(module)) if isinstance(node, ast.Constant)}
        assert not {name for name in LAYERS if name in texts or f"{PACKAGE}.{name}" in texts}


def is_private(source, name):
    """Whether an import from scikit-learn reaches behind its public names."""
    names = [*source.split("."), name or ""]
    return names[0] == "sklearn" and any(
        part.startswith("_") and not part.startswith("__") for part in names
    )


def test_private_names_of_scikit_learn():
    found = {
        module: pair for module in MODULES for pair in imported_names(module) if is_private(*pair)
    }
    # The file that exists for private names has some.
    assert found.keys() == {PRIVATE_DOOR}, found


def test_private_attributes_of_scikit_learn():
    """`sklearn.utils._x` written out is a private name too."""
    wrong = [
        f"{module}: {ast.unparse(node)}"
        for module in MODULES
        if module != PRIVATE_DOOR
        and re.search(r"\bsklearn[.\w]*\._", MODULES[module].read_text(encoding="utf-8"))
        for node in ast.walk(tree(module))
        if isinstance(node, ast.Attribute)
        and node.attr.startswith("_")
        and isinstance(node.value, ast.Attribute)
        and ast.unparse(node.value).startswith("sklearn.")
    ]
    assert wrong == []


def test_matplotlib_is_imported_where_it_draws():
    for module in MODULES:
        text = MODULES[module].read_text(encoding="utf-8")
        assert not re.search(r"^(import|from) matplotlib", text, re.MULTILINE), module


PUBLIC = sorted(set(LAYERS) - {"cli", PACKAGE} - {name for name in LAYERS if name[0] == "_"})


def imported_at_once(module, found):
    """Collect what the import of a module imports: at the top of files, with their packages."""
    for source, name in imported_names(module, r"^"):
        for each in {source, f"{source}.{name}"}:
            parts = each.split(".")
            for end in range(1, len(parts) + 1):
                if (part := ".".join(parts[:end])) not in found:
                    found.add(part)
                    if part in MODULES:
                        imported_at_once(part, found)
    return found


@pytest.mark.parametrize(
    "part", ["thresholds", "ranking", "judgments", "metaevaluation", "comparison", "plot"]
)
def test_the_measures_are_entered_wherever_they_are_asked_for_by_name(part):
    assert f"{PACKAGE}.metrics" in imported_at_once(f"{PACKAGE}.{part}", set())


def test_components_for_frameworks_import_them_late():
    found = imported_at_once(f"{PACKAGE}.integrations._served", set())
    assert f"{PACKAGE}.exceptions" in found
    assert not {"langchain_core", "llama_index", "haystack"} & found


LATE = ("sklearn", "scipy", "joblib", "lightgbm", "xgboost", "matplotlib", "dask")
# No import asks for an address of the network.
FRESH = f"""
import socket, sys
def refuse(*_, **__):
    raise AssertionError("asked for an address")
socket.getaddrinfo = socket.create_connection = refuse
import skfilterrank
found = {{name for name in sys.modules if name.startswith("skfilterrank.")}}
assert found == {{"skfilterrank." + name for name in ("_base", "_base.lazy_names", "exceptions")}}
assert set({PUBLIC}) <= set(dir(skfilterrank))
from skfilterrank.cli import main
assert main(["evaluate", "qrels.txt", "run.txt"]) == 0
from skfilterrank.io import align, read_qrels, read_run, read_runs, write_run
from skfilterrank.metrics import values_of_run, evaluate_runs
write_run("again.txt", read_run("run.txt"))
evaluate_runs("qrels.txt", ["run.txt", "again.txt"], ["ndcg_f@10", "bpref", "rbp"])
print(*[name for name in {LATE} if name in sys.modules], file=sys.stderr)
import skfilterrank.metrics, skfilterrank.io
for module in (skfilterrank.metrics, skfilterrank.io):
    late = sorted(set(module.__all__) - set(vars(module)))
    assert late and set(late) <= set(dir(module)), late
    names = {{}}
    exec(f"from {{module.__name__}} import *", names)
    assert all(name in vars(module) and name in names for name in late)
for name in {PUBLIC}:
    getattr(skfilterrank, name).__all__
try:
    skfilterrank.nothing
except AttributeError:
    pass
else:
    raise AssertionError
"""


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """A process that imports the package alone, then measures, then imports every public part."""
    folder = tmp_path_factory.mktemp("fresh")
    (folder / "qrels.txt").write_text("1 0 a 1\n1 0 b 0\n2 0 a 1\n")
    (folder / "run.txt").write_text("1 Q0 a 1 0.5 x\n1 Q0 b 2 0.25 x\n")
    return subprocess.run([sys.executable, "-c", FRESH], cwd=folder, capture_output=True, text=True)


def test_public_parts_and_late_names_are_there_after_the_package_alone(fresh):
    assert fresh.returncode == 0, fresh.stderr


def test_whoever_only_measures_waits_for_no_package_that_learns(fresh):
    assert fresh.stderr.split("\n")[-2].split() == []
    assert fresh.stdout.split()[:2] == ["run", "ndcg_f@10"]


def test_every_folder_is_a_package():
    """A folder without `__init__.py` imports where it stands, and may be left out of a wheel."""
    folders = {path.parent for path in ROOT.rglob("*.py")}
    assert [folder for folder in folders if not (folder / "__init__.py").exists()] == []

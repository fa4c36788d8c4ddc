"""Rooms of the package, with their source files and the tests that should notice changes."""

from _mutants_changes import ROOT

PACKAGE, TESTS = ROOT / "skfilterrank", ROOT / "tests"
# Rooms that are no public folder of the package. All other files belong to `lists`.
FILES = {"base": ("_base",), "files": ("_files",), "estimators": ("_estimators",)}
# Folders of tests, for rooms that need others than the one of their name.
TESTED_IN = {
    "metrics": ("metrics", "conformance"),
    "thresholds": ("thresholds", "ranking"),
    "files": ("files", "io"),
    "estimators": ("estimators", "ranking"),
    "base": ("base", "lists", "whole_package"),
    "lists": ("lists", "metrics", "whole_package"),
}


def rooms():
    """Map each room to its source files, relative to the root, and its folders of tests."""
    named = {
        folder.name: (folder.name,)
        for folder in sorted(PACKAGE.iterdir())
        if (folder / "__init__.py").exists() and not folder.name.startswith("_")
    }
    named |= FILES
    files = {room: [] for room in [*named, "lists"]}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        # The longest folder that holds the file.
        owners = [
            (len(folder), room)
            for room, folders in named.items()
            for folder in folders
            if name.startswith(f"{folder}/")
        ]
        files[max(owners)[1] if owners else "lists"].append(f"skfilterrank/{name}")
    return {room: (paths, _tests_of(room)) for room, paths in files.items()}


def _tests_of(room):
    folders = [TESTS / name for name in TESTED_IN.get(room, (room,))]
    return [str(folder.relative_to(ROOT)) for folder in folders if folder.is_dir()]

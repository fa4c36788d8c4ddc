"""Source files have tests under their own names."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
LINES = 60
# Folders of tests, where they are not named as the room is.
FOLDERS = {
    "skfilterrank": ("whole_package",),
    "_base": ("base", "lists", "whole_package"),
    "_lists": ("lists", "metrics"),
    "_files": ("files", "io"),
    "_estimators": ("estimators",),
}
# Source files without tests of their name, and the file that tests them.
ELSEWHERE = {
    "cli/_inputs.py": "cli/test_label_gains.py",
    "cli/_types.py": "cli/test_parser.py",
    "judgments/_document_vectors.py": "judgments/test_label_predictor.py",
    "plot/_compared_systems.py": "plot/test_critical_difference.py",
    "thresholds/_list_models.py": "thresholds/test_learned.py",
    "thresholds/_certify.py": "thresholds/test_certified.py",
    "thresholds/_watched.py": "thresholds/test_monitor.py",
}


def has_own_test(path):
    """Whether tests/ROOM/test_name.py is there for skfilterrank/ROOM/_name.py."""
    name = f"test_{path.stem.removeprefix('_')}.py"
    folders = FOLDERS.get(path.parent.name, (path.parent.name,))
    return any((ROOT / "tests" / folder / name).is_file() for folder in folders)


def test_files_above_60_lines_have_a_test_file():
    package = ROOT / "skfilterrank"
    without = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if path.name != "__init__.py" and path.read_bytes().count(b"\n") > LINES
        if not has_own_test(path)
    }
    assert without == set(ELSEWHERE)
    assert [name for name in ELSEWHERE.values() if not (ROOT / "tests" / name).is_file()] == []

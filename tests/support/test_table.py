"""Find the test file of each source file, and the source files that have none of their name.

A source file above `LINES` lines has its tests in the folder of its room, under its own name:
`skfilterrank/ROOM/_name.py` in `tests/ROOM/test_name.py`. A file that is tested elsewhere is listed
in `tests/support/tested_elsewhere.toml` with the file that tests it.

    python tests/support/test_table.py            # the share, and the files that have none
    python tests/support/test_table.py metrics    # of one room
    python tests/support/test_table.py --write    # renews the table in docs/contributing.md, too
"""

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "contributing.md"
ELSEWHERE = ROOT / "tests" / "support" / "tested_elsewhere.toml"
LINES = 60
# At least this share of the files has tests under its name.
SHARE = 0.9
BEGIN = "<!-- table of tests: python tests/support/test_table.py --write -->\n"
END = "<!-- end of the table of tests -->\n"
# Folders of tests, where they are not named as the room is.
FOLDERS = {
    "": ("whole_package",),
    "_lists": ("lists", "metrics", "whole_package"),
    "_files": ("files", "io"),
    "_estimators": ("estimators",),
}


def sources():
    """Yield source files above `LINES` lines, without `__init__.py`, which only imports."""
    for path in sorted((ROOT / "skfilterrank").rglob("*.py")):
        if path.name != "__init__.py" and path.read_bytes().count(b"\n") > LINES:
            yield path.relative_to(ROOT / "skfilterrank")


def room_of(source):
    """Name the folder below the package, or "" for a file at its top."""
    return source.parts[0] if len(source.parts) > 1 else ""


def own_test(source):
    """Find the test file of a source file's name, relative to `tests`; None if there is none."""
    room = room_of(source)
    name = f"test_{source.stem.removeprefix('_')}.py"
    for folder in FOLDERS.get(room, (room,)):
        if (ROOT / "tests" / folder / name).is_file():
            return Path(folder, name)
    return None


def table():
    """Map each source file to its test file, or None."""
    return {source: own_test(source) for source in sources()}


def elsewhere_table():
    """Map source files without tests of their name to the files that test them."""
    return tomllib.loads(ELSEWHERE.read_text(encoding="utf-8")) if ELSEWHERE.exists() else {}


def share(files):
    """Compute the share of the source files that have a test file of their name."""
    return sum(test is not None for test in files.values()) / len(files)


def faults(files):
    """Yield a sentence for each fault of the table."""
    if share(files) < SHARE:
        yield f"{share(files):.1%} of the files have tests of their name, fewer than {SHARE:.0%}."
    elsewhere = elsewhere_table()
    names = {str(source): test for source, test in files.items()}
    for name, test in names.items():
        if test is None and name not in elsewhere:
            yield f"skfilterrank/{name} has no test file: write one, or name the one that tests it."
    for name, test in elsewhere.items():
        if name not in names:
            yield f"skfilterrank/{name} is gone or short: take it out."
        elif names[name] is not None:
            yield f"skfilterrank/{name} has tests/{names[name]}: take it out."
        if not (ROOT / "tests" / test).is_file():
            yield f"tests/{test}, which is to test skfilterrank/{name}, is not there."


def page_table(files):
    """Yield the parts of the page's table: a row for each room, with files tested elsewhere."""
    elsewhere = elsewhere_table()
    rooms = {}
    for source, test in files.items():
        rooms.setdefault(room_of(source), []).append((source, test))
    yield f"{sum(test is not None for test in files.values())} of {len(files)} source files above "
    yield f"{LINES} lines have a test file of their name.\n\n"
    yield "| room | tests | files with tests of their name | tested elsewhere |\n"
    yield "| --- | --- | --- | --- |\n"
    for room, pairs in rooms.items():
        folders = sorted({test.parts[0] for _, test in pairs if test})
        own, others = [], []
        for source, test in pairs:
            name = "/".join(source.parts[1:] or source.parts).removesuffix(".py")
            if test is None:
                where = elsewhere.get(str(source), "nowhere")
                others.append(f"`{name}`: `{where}`")
                continue
            own.append(f"`{name}`")
        tests = ", ".join(f"`tests/{folder}`" for folder in folders)
        title = f"`{room}`" if room else "top of the package"
        yield f"| {title} | {tests} | {', '.join(own)} | {', '.join(others)} |\n"


def page(files, text):
    """Replace the table of the page, between its marks, by that of today."""
    head, begin, rest = text.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not (begin and end) or BEGIN in tail:
        raise ValueError(f"{PAGE.name} must hold these lines once:\n{BEGIN}{END}")
    return f"{head}{BEGIN}\n{''.join(page_table(files))}\n{END}{tail}"


def still_elsewhere(files):
    """Reduce the list of files that are tested elsewhere to files without tests of their name."""
    without = {str(source) for source, test in files.items() if test is None}
    lines = ELSEWHERE.read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if line.startswith("#") or line.split('"')[1] in without)


def main(arguments):
    """Print the share and the missing files, of all rooms or of the given ones."""
    files = table()
    if "--write" in arguments:
        ELSEWHERE.write_text(still_elsewhere(files), encoding="utf-8")
        PAGE.write_text(page(files, PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    rooms = [argument for argument in arguments if not argument.startswith("-")]
    chosen = {source: t for source, t in files.items() if not rooms or room_of(source) in rooms}
    for source, test in chosen.items():
        if test is None:
            print(f"none: skfilterrank/{source} ({elsewhere_table().get(str(source), 'nowhere')})")
    for fault in () if rooms else faults(files):
        print(fault)
    count = sum(test is not None for test in chosen.values())
    print(f"{count} of {len(chosen)} files have tests of their name, {share(chosen):.1%}")


if __name__ == "__main__":
    main(sys.argv[1:])

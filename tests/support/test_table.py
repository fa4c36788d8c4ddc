"""Which test file belongs to which source file, and how many source files have one of their name.

A source file above `LINES` lines has its tests in the folder of its room, under its own name:
`skfilterrank/ROOM/_part/name.py` and `skfilterrank/ROOM/_name.py` in `tests/ROOM/test_name.py`, or
in a folder below. Where a room has the name twice, or it says little (`run`, `options`), the part
stands before it or is a folder: `tests/cli/test_compare_options.py`,
`tests/cli/compare/test_options.py`; what runs a command has the command's name:
`tests/cli/compare/test_run.py`. A file that is tested elsewhere is listed in
`tests/support/tested_elsewhere.toml` with the file that tests it.

    python tests/support/test_table.py            # the share, and the files that have none
    python tests/support/test_table.py metrics    # of one room
    python tests/support/test_table.py --write    # renews the table in docs/contributing.md, too
"""

import sys
import tomllib
from collections import Counter
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
    """Source files above `LINES` lines; faces of rooms, which only import, are none."""
    for path in sorted((ROOT / "skfilterrank").rglob("*.py")):
        if path.name != "__init__.py" and path.read_bytes().count(b"\n") > LINES:
            yield path.relative_to(ROOT / "skfilterrank")


def room_of(source):
    """The folder below the package, or "" for a file at its top."""
    return source.parts[0] if len(source.parts) > 1 else ""


def own_names(source, is_ambiguous):
    """The places below a folder of tests where a source file's tests may stand, as suffixes."""
    name = source.stem.removeprefix("_")
    parts = [part.removeprefix("_") for part in source.parts[1:-1]]
    yield from ("_".join([*parts[place:], name]) for place in range(len(parts)))
    for place in range(len(parts)):
        yield "/".join([*parts[place:], name])
    if parts and name in (parts[-1], "run"):
        yield "_".join(parts)
    if not is_ambiguous:
        yield name


def named_tests(source, is_ambiguous):
    """The test files of a source file's name."""
    room = room_of(source)
    for folder in FOLDERS.get(room, (room,)):
        for name in own_names(source, is_ambiguous):
            head, _, tail = name.rpartition("/")
            pattern = f"{head}/test_{tail}.py" if head else f"**/test_{tail}.py"
            yield from sorted((ROOT / "tests" / folder).glob(pattern))
        if is_ambiguous and len(source.parts) == 2:
            # That of the room itself, beside others of its parts.
            name = source.stem.removeprefix("_")
            yield from (ROOT / "tests" / folder).glob(f"test_{name}.py")


def table():
    """For each source file its test file, relative to `tests`, or None."""
    found = list(sources())
    stems = Counter((room_of(source), source.stem.removeprefix("_")) for source in found)
    result = {}
    for source in found:
        is_ambiguous = stems[room_of(source), source.stem.removeprefix("_")] > 1
        test = next(named_tests(source, is_ambiguous), None)
        result[source] = test and test.relative_to(ROOT / "tests")
    return result


def elsewhere_table():
    """For each source file without tests of its name the test file that tests it."""
    return tomllib.loads(ELSEWHERE.read_text(encoding="utf-8")) if ELSEWHERE.exists() else {}


def share(files):
    """The share of the source files that have a test file of their name."""
    return sum(test is not None for test in files.values()) / len(files)


def faults(files):
    """Sentences about what the table lacks."""
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
    """The table as the page has it: a row for each room, and what is tested elsewhere."""
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
            plain = f"test_{source.stem.removeprefix('_')}.py"
            expected = test.name == plain and len(test.parts) == 2
            own.append(f"`{name}`" + ("" if expected else f" (`{Path(*test.parts[1:])}`)"))
        tests = ", ".join(f"`tests/{folder}`" for folder in folders)
        title = f"`{room}`" if room else "top of the package"
        yield f"| {title} | {tests} | {', '.join(own)} | {', '.join(others)} |\n"


def page(files, text):
    """The page with the table of today between its marks."""
    head, begin, rest = text.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not (begin and end) or BEGIN in tail:
        raise ValueError(f"{PAGE.name} must hold these lines once:\n{BEGIN}{END}")
    return f"{head}{BEGIN}\n{''.join(page_table(files))}\n{END}{tail}"


def still_elsewhere(files):
    """The list of files that are tested elsewhere, without those that have tests by now."""
    without = {str(source) for source, test in files.items() if test is None}
    lines = ELSEWHERE.read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if line.startswith("#") or line.split('"')[1] in without)


def main(arguments):
    """Print the share and what is missing, of all rooms or of those that are named."""
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

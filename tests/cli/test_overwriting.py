"""No output takes the place of an input or of another one, and what cannot be written is told."""

import itertools
import os

import pandas as pd
import pytest

from skfilterrank import cli

PARSERS = {command: cli.command_parser(command) for command in cli.COMMANDS}


def file_arguments(command, use):
    """Arguments of a command that name files, by how they are written."""
    return {
        written: (name, arg)
        for name, (written, arg) in PARSERS[command].options().items()
        if arg.file == use
    }


INPUTS = {command: file_arguments(command, "read") for command in PARSERS}
OUTPUTS = {command: file_arguments(command, "write") for command in PARSERS}
EVERY_OUTPUT = [(command, output) for command in OUTPUTS for output in OUTPUTS[command]]
PAIRS = [
    (command, other, output)
    for command in PARSERS
    for other, output in [
        *itertools.product(INPUTS[command], OUTPUTS[command]),
        *itertools.combinations(OUTPUTS[command], 2),
    ]
]
# Arguments of any text that name no file: columns, systems and measures.
NO_FILES = {
    *("query", "document", "label", "baseline", "sort", "name"),
}


@pytest.mark.parametrize("command", PARSERS)
def test_every_argument_says_whether_it_is_a_file(command):
    """A new option of any text is a file, or is known to name none."""
    for action in PARSERS[command]._actions:
        arg = PARSERS[command].options().get(action.dest, (None, None))[1]
        if arg is not None and action.nargs != 0 and action.type is str and not arg.file:
            assert action.dest in NO_FILES


def command_line(command, **given):
    """Arguments that are needed and those that are given, each file a different one."""
    words = []
    for written, (_, arg) in [*INPUTS[command].items(), *OUTPUTS[command].items()]:
        is_option = written.startswith("-")
        is_needed = written in ("--run", "--qrels") or not is_option
        if not (written in given or (is_needed) or not is_option):
            continue
        value = given.get(written, f"other-{written.strip('-')}")
        # Of several files, the last one.
        values = ["first", value] if arg.many == "+" else [value]
        words += [written, *values] if is_option else values
    return [command, *words]


@pytest.fixture
def no_work(monkeypatch):
    """Nothing may be read or written."""

    def call(name, values):
        raise SystemExit("the command ran")

    monkeypatch.setattr(cli, "_call", call)


def refuses(run, folder, words, output, name, other, its_name):
    """Whether a command ends before any work, and leaves all files as they are."""
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    code, out, err = run(*words)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    assert (code, out) == (2, "")
    assert f"{output} {name} is the same file as {other} {its_name}." in err
    assert err.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize(("command", "other", "output"), PAIRS)
def test_the_same_name(tmp_path, monkeypatch, run, no_work, command, other, output):
    monkeypatch.chdir(tmp_path)
    words = command_line(command, **{other: "same.png", output: "same.png"})
    refuses(run, tmp_path, words, output, "same.png", other, "same.png")
    (tmp_path / "same.png").write_text("old")
    refuses(run, tmp_path, words, output, "same.png", other, "same.png")


@pytest.mark.parametrize("is_there", [True, False])
@pytest.mark.parametrize("other", ["DATA", "--out-run"])
def test_other_ways_to_a_file(tmp_path, monkeypatch, run, no_work, other, is_there):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").mkdir()
    (tmp_path / "b").symlink_to("a")
    path = tmp_path / "a" / "file"
    (tmp_path / "link").symlink_to(path)
    ways = ["link", "b/file", "./a/../a//file", str(path), str(tmp_path / "b" / "file")]
    if is_there:
        path.write_text("old")
        (tmp_path / "a" / "hard").hardlink_to(path)
        ways += ["a/hard", "b/hard"]
    for name in ways:
        if other == "DATA":
            words, output = ["apply", "model", "a/file", "--out", name], "--out"
        else:
            words, output = ["rank-filter", "t", "--out-run", "a/file", "--save", name], "--save"
        refuses(run, tmp_path, words, output, name, other, "a/file")


def test_upper_and_lower_case(tmp_path, monkeypatch, run, no_work):
    """On some disks these are one file; which disk it is cannot be seen from new names."""
    monkeypatch.chdir(tmp_path)
    words = ["rank-filter", "t", "--out", "Table.csv", "--out-run", "table.csv"]
    refuses(run, tmp_path, words, "--out-run", "table.csv", "--out", "Table.csv")


@pytest.mark.parametrize(
    ("words", "stream", "mode"),
    [
        ("complete q r --docs d --out -", 1, "ab"),  # >> q
        ("apply m q --out /dev/stdout", 1, "ab"),
        ("compare - b --html q", 0, "rb"),  # < q
        ("evaluate q b", 1, "ab"),  # >> q
    ],
)
def test_standard_streams(tmp_path, monkeypatch, run, no_work, words, stream, mode):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q").write_text("1 0 a 1\n")
    before = os.dup(stream)
    with open("q", mode) as file:
        os.dup2(file.fileno(), stream)
    try:
        code, _, err = run(*words.split())
    finally:
        os.dup2(before, stream)
        os.close(before)
    assert code == 2
    assert "is the same file as" in err
    assert (tmp_path / "q").read_text() == "1 0 a 1\n"


@pytest.mark.parametrize(
    "words",
    [
        "evaluate - -",
        "compare - b -",
        "threshold q - -",
        "complete - -",
        "complete - b --machine-qrels - --out new",
        "select - --judged - --out new.csv",
        "monitor t --run - --qrels -",
    ],
)
def test_standard_input_is_read_once(run, no_work, words):
    code, out, err = run(*words.split())
    assert (code, out) == (2, "")
    assert "standard input (-) can be read once. Name files for the others." in err


@pytest.mark.parametrize(
    "words",
    [
        ["apply", "model", "/dev/null", "--out", "/dev/null"],
        ["rank-filter", "t", "--out", "/dev/null", "--out-run", "/dev/null"],
        ["complete", "same", "same", "same", "--docs", "same", "--out", "new"],
        ["complete", "-", "same", "--docs", "same", "--out", "-"],
        ["rank-filter", "t", "--out", "same", "--out-run", "new"],
    ],
)
def test_what_may_be_named_twice(tmp_path, monkeypatch, run, no_work, words):
    """What is only read, what holds nothing, and files that are there."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "same").write_text("old")
    assert run(*words)[0] == "the command ran"


@pytest.mark.slow
@pytest.mark.parametrize(("command", "output"), EVERY_OUTPUT)
def test_what_cannot_be_written(tmp_path, monkeypatch, run, no_work, command, output):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.png").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "loop.png").symlink_to("loop.png")
    (tmp_path / "dangling.png").symlink_to("no/x.png")
    before = sorted(os.listdir(tmp_path))
    for name, message in (
        ("no/x.png", "there is no folder no. Make it first"),
        ("folder.png", "folder.png is a folder. Name a file in it"),
        ("new.png/", "new.png/ is a folder. Name a file in it"),
        ("file/x.png", "there is no folder file. Make it first"),
        ("loop.png", "loop.png cannot be written: Too many levels of symbolic links"),
        ("dangling.png", "dangling.png cannot be written: No such file or directory"),
        ("x" * 252 + ".png", "cannot be written: File name too long"),
    ):
        code, out, err = run(*command_line(command, **{output: name}))
        assert (code, out) == (2, ""), name
        assert f"{output}: " in err, name
        assert message in err, name
        assert sorted(os.listdir(tmp_path)) == before, name


@pytest.fixture
def evaluated(tmp_path, monkeypatch):
    """A command whose table is not long, in a folder with its files."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text("1 0 a 1\n2 0 a 1\n")
    (tmp_path / "run").write_text("1 Q0 a 1 1 x\n2 Q0 b 1 1 x\n")
    return ["evaluate", "qrels", "run", "-m", "ap,rr", "--quiet"]


def test_a_full_disk_is_told_in_a_line(run, evaluated, tmp_path):
    resource = pytest.importorskip("resource")
    (tmp_path / "table.csv").write_text("old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        code, _, err = run(*evaluated, "--out", "table.csv")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (code, err) == (2, "skfilterrank: error: table.csv: File too large\n")
    assert (tmp_path / "table.csv").read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["qrels", "run", "table.csv"]


def test_the_name_of_a_table_says_how_it_is_packed(run, evaluated, tmp_path):
    names = ["table.csv.gz", "table.csv"]
    for name in names:
        assert run(*evaluated, "--out", name)[0] == 0
    pd.testing.assert_frame_equal(*map(pd.read_csv, names))
    assert pd.read_csv("table.csv")["ap"].tolist() == [0.5]
    assert (tmp_path / names[0]).read_bytes()[:2] == b"\x1f\x8b"


def test_the_ending_of_a_table_in_capitals(run, evaluated, tmp_path):
    assert run(*evaluated, "--out", "table.CSV")[0] == 0
    assert pd.read_csv("table.CSV")["ap"].tolist() == [0.5]


def test_a_packing_that_is_not_written_is_told_before_any_work(tmp_path, monkeypatch, run, no_work):
    monkeypatch.chdir(tmp_path)
    code, _, err = run("evaluate", "q", "r", "--out", "o.csv.zst")
    assert code == 2
    assert "--out: o.csv.zst: only .gz can be written compressed" in err

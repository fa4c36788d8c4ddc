"""No output takes the place of an input or of another one, and what cannot be written is told."""

import importlib
import itertools
import os

import pandas as pd
import pytest

from skfilterrank import cli
from skfilterrank.cli import _file_options, _options
from skfilterrank.cli.fuse import options as fuse_options
from skfilterrank.cli.judge import options as judge_options

# Arguments of any text that name no file: columns, systems and measures.
NO_FILES = {
    "rank-filter": {"--query", "--document", "--label", "--baseline"},
    "apply": {"--query", "--document"},
    "evaluate": {"--sort"},
    "compare": {"--baseline"},
    "fuse": {"--name"},
    **{name: {"--filter-scores"} for name in ("threshold", "filter", "monitor")},
    "complete": {"--document"},
    "judge": {"--assessor"},
}
NO_FILE_TYPES = {
    value
    for module in (cli, _options, fuse_options, judge_options)
    for name, value in vars(module).items()
    if callable(value) and getattr(value, "__module__", "") == module.__name__
}


def actions_of(command):
    """Arguments of a command by their names."""
    parser = cli.CommandParser(prog=command)
    parser.command = command
    parser.learn_arguments()
    return {
        action.option_strings[-1] if action.option_strings else action.metavar: action
        for action in parser._actions
    }


def file_arguments(command, types):
    return {name: each for name, each in actions_of(command).items() if each.type in types}


INPUTS = {command: file_arguments(command, _file_options.INPUTS) for command in cli.COMMANDS}
OUTPUTS = {command: file_arguments(command, _file_options.OUTPUTS) for command in cli.COMMANDS}
EVERY_OUTPUT = [(command, output) for command in OUTPUTS for output in OUTPUTS[command]]
PAIRS = [
    (command, other, output)
    for command in cli.COMMANDS
    for other, output in [
        *itertools.product(INPUTS[command], OUTPUTS[command]),
        *itertools.combinations(OUTPUTS[command], 2),
    ]
]


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_every_argument_says_whether_it_is_a_file(command):
    """A new option of any text has the type of a file, or is known to name none."""
    of_any_text = set()
    for name, action in actions_of(command).items():
        if action.nargs == 0 or action.choices is not None or action.type in NO_FILE_TYPES:
            continue
        if action.type not in (*_file_options.INPUTS, *_file_options.OUTPUTS):
            assert action.type is None, f"{name}: {action.type} is not known here"
            of_any_text.add(name)
    assert of_any_text == NO_FILES.get(command, set())


MACHINES = "--machine-qrels", "--prels", "--pool"


def test_the_arguments_that_are_files():
    assert {command: [*found] for command, found in INPUTS.items()} == {
        "rank-filter": ["TRAIN", "--test-data"],
        "apply": ["MODEL", "DATA"],
        "evaluate": ["QRELS", "RUN", "--slices", *MACHINES],
        "compare": ["QRELS RUN", "--scores", "--before", "--topics", "--docs", *MACHINES],
        "fuse": ["RUN", "--qrels"],
        "threshold": ["QRELS", "RUN"],
        "filter": ["RUN", "--with"],
        "monitor": ["FILTER", "--qrels", "--run"],
        "complete": ["QRELS", "--docs", "--runs"],
        "forecast": ["RUN", "--teams"],
        "judge": ["POOL", "--docs", "--topics", "--runs", "--judged", "--machine-qrels"],
        "demo": [],
    }
    assert {command: [*found] for command, found in OUTPUTS.items()} == {
        "rank-filter": ["--out", "--out-run", "--plot", "--save"],
        "apply": ["--out"],
        "evaluate": ["--out"],
        "compare": ["--out", "--html"],
        "fuse": ["--out"],
        "threshold": ["--out", "--save"],
        "filter": ["--out"],
        "monitor": ["--state", "--out"],
        "complete": ["--out", "--list-missing"],
        "forecast": ["--out", "--out-qrels"],
        "judge": ["--out"],
        "demo": ["--plot"],
    }


def command_line(command, **given):
    """Arguments that are needed and those that are given, each file a different one."""
    words = []
    for name, action in [*INPUTS[command].items(), *OUTPUTS[command].items()]:
        if not (name in given or action.required):
            continue
        value = given.get(name, f"other-{name.strip('-')}")
        # Of several files, the last one.
        values = ["first", value] if action.nargs in ("+", "*") else [value]
        words += [name, *values] if action.option_strings else values
    return [command, *words]


@pytest.fixture
def no_work(monkeypatch):
    """Nothing may be read or written."""

    def run(arguments):
        raise AssertionError("the command ran")

    for command in cli.COMMANDS:
        module = f"skfilterrank.cli.{command.replace('-', '_')}.run"
        monkeypatch.setattr(importlib.import_module(module), "run", run)


def refuses(run, folder, words, output, name, other, its_name):
    """Whether a command ends before any work, and leaves all files as they are."""
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    code, out, err = run(*words)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    assert (code, out) == (2, "")
    assert f"{output} {name} is the same file as {other} {its_name}, and" in err
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


def test_the_log_of_judgments(tmp_path, monkeypatch, run, no_work):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.log").write_text("old")
    words = ["judge", "--docs", "q.log", "--out", "q"]
    refuses(run, tmp_path, words, "--out", "q.log", "--docs", "q.log")


@pytest.mark.parametrize(
    ("words", "stream", "mode"),
    [
        ("complete q --docs d --out -", 1, "ab"),  # >> q
        ("apply m q --out /dev/stdout", 1, "ab"),
        ("compare - b --html q", 0, "rb"),  # < q
        ("evaluate q b", 1, "ab"),  # >> q
        ("forecast a b --out-qrels q", 1, "ab"),  # >> q
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
    assert "is the same file as" in err or "standard output goes into" in err
    assert (tmp_path / "q").read_text() == "1 0 a 1\n"


@pytest.mark.parametrize(
    "words",
    [
        ["apply", "model", "/dev/null", "--out", "/dev/null"],
        ["rank-filter", "t", "--out", "/dev/null", "--out-run", "/dev/null"],
        ["complete", "same", "--docs", "same", "--runs", "same", "same", "--out", "new"],
        ["complete", "-", "--docs", "same", "--out", "-"],
        ["rank-filter", "t", "--out", "same", "--out-run", "new"],
    ],
)
def test_what_may_be_named_twice(tmp_path, monkeypatch, run, no_work, words):
    """What is only read, what holds nothing, and files that are there."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "same").write_text("old")
    with pytest.raises(AssertionError, match="the command ran"):
        run(*words)


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
        ("no/x.png", "there is no folder no; make it first"),
        ("folder.png", "folder.png is a folder; name a file in it"),
        ("new.png/", "new.png/ is a folder; name a file in it"),
        ("file/x.png", "there is no folder file; make it first"),
        ("loop.png", "loop.png cannot be written: Too many levels of symbolic links"),
        ("dangling.png", "dangling.png cannot be written: No such file or directory"),
        ("x" * 252 + ".png", "cannot be written: File name too long"),
    ):
        code, out, err = run(*command_line(command, **{output: name}))
        assert (code, out) == (2, ""), name
        assert f"argument {output}: " in err, name
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

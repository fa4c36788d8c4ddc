"""Commands on files that hold anything: they work, or say in one line what is wrong."""

import io
import sys

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from hostile_files import CONTENTS, DOCUMENTS, JSONL, mutated
from profiles import times
from skfilterrank.cli._inputs import read_documents, read_topics
from skfilterrank.exceptions import SkfilterrankError
from skfilterrank.io import read_letor, read_qrels, read_run
from thinned import thinned

QRELS = b"1 0 a 2\n1 0 b -1\n2 0 a 1\n2 0 b 0\n"
RUN = b"1 Q0 a 1 9.5 x\n1 Q0 b 2 3 x\n2 Q0 a 1 0.5 x\n2 Q0 b 2 0.25 x\n2 Q0 c 3 0 x\n"
RUN += b"3 Q0 a 1 5 x\n3 Q0 c 2 4 x\n"
ENOUGH = QRELS + b"".join(b"%d 0 a 1\n%d 0 c 0\n" % (qid, qid) for qid in range(4, 20))
TEXTS = b'{"docno": "a", "text": "some words"}\n{"docno": "c", "text": "other words"}\n'
LETOR = b"2 qid:1 1:0.5 # docid = a\n-1 qid:1 1:1 2:1\n1 qid:2 1:1\n0 qid:2 2:3\n"
TRAIN = ["--models", "bce", "--learner", "linear", "--threshold", "0", "--quiet"]
TABLE = b"qid,docno,label,x\n1,a,1,2\n1,b,-1,1\n2,a,1,4\n2,b,-1,0\n"
LINES = b"".join(
    b'{"qid": "%c", "docno": "%c", "label": %d, "x": 1}\n' % (qid, docno, label)
    for qid, docno, label in zip(b"1122", b"abab", [1, -1, 2, -1])
)
FEW = ["--n-draws", "2", "--out", "-"]
SELECTED = ["--docs", "docs.csv", "--out", "out.csv"]
COMMANDS = {
    "rank-filter": (["rank-filter", "{}", *TRAIN], LETOR),
    "rank-filter table": (["rank-filter", "{}.csv", *TRAIN], TABLE),
    "rank-filter lines": (["rank-filter", "{}.jsonl", *TRAIN], LINES),
    "rank-filter --test": (["rank-filter", "letor", "--test-data", "{}", *TRAIN], LETOR),
    "apply": (["apply", "model.joblib", "{}", "--quiet"], LETOR),
    "evaluate qrels": (["evaluate", "{}", "run", "--quiet"], QRELS),
    "evaluate": (["evaluate", "qrels", "{}", "--quiet", "--format", "json"], RUN),
    "compare": (["compare", "qrels", "run", "{}", "--quiet"], RUN),
    "fuse": (["fuse", "run", "{}", "--quiet"], RUN),
    "complete": (["complete", "{}", "run", "--docs", "docs.csv", *FEW], ENOUGH),
    "complete --docs": (["complete", "enough", "run", "--docs", "{}.jsonl", *FEW], TEXTS),
    "select": (["select", "{}", *SELECTED], RUN),
    "select --docs": (["select", "run", "--docs", "{}.jsonl", *SELECTED[2:]], JSONL),
    "select --topics": (
        ["select", "run", "--topics", "{}.csv", *SELECTED],
        b"qid,query\n1,some words\n",
    ),
}

# What reads the file. Of all that a reader refuses, tests/io/test_hostile_files.py shows that it is
# told in one line; here some of it will do. What a reader takes, each command must bear. Commands
# that are not named here are tried on everything.
READERS = {
    "rank-filter --test": read_letor,
    "apply": read_letor,
    "evaluate qrels": read_qrels,
    "compare": read_run,
    "fuse": read_run,
    "complete": read_qrels,
    "complete --docs": read_documents,
    "select": read_run,
    "select --docs": read_documents,
    "select --topics": read_topics,
}
SOME = 8


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Valid files."""
    from skfilterrank.cli import main

    folder = tmp_path_factory.mktemp("hostile")
    for name, content in {
        "qrels": QRELS,
        "enough": ENOUGH,
        "run": RUN,
        "letor": LETOR,
        "docs.csv": DOCUMENTS,
        "other": RUN,
    }.items():
        (folder / name).write_bytes(content)
    model = str(folder / "model.joblib")
    assert main(["rank-filter", str(folder / "letor"), *TRAIN, "--save", model]) == 0
    return folder


def name_of_the_file(command):
    """What the file of a command is called in its folder."""
    name = next(word for word in COMMANDS[command][0] if word.startswith("{}"))
    return name.replace("{}", "hostile")


def is_refused(command, content, path):
    """Whether the reader of a command refuses a file."""
    path.write_bytes(content)
    try:
        READERS[command](path)
    except (SkfilterrankError, OSError):
        return True
    return False


@pytest.fixture
def try_on(folder, run, monkeypatch):
    """Run a command on a file with some content."""
    monkeypatch.chdir(folder)

    def try_on(command, content):
        arguments, _ = COMMANDS[command]
        for path in folder.glob("hostile*"):
            path.unlink()
        for path in folder.glob("out*"):
            path.unlink()
        arguments = [argument.replace("{}", "hostile") for argument in arguments]
        (folder / name_of_the_file(command)).write_bytes(content)
        monkeypatch.setattr(sys, "stdin", io.StringIO("0\n1\n0\n1\n"))
        code, _, err = run(*arguments)
        *before, last = err.splitlines() or [""]
        assert code in (0, 2)
        assert last.startswith("skfilterrank: error: ") == (code == 2)
        assert not any("error" in line for line in before)
        return code

    return try_on


pytestmark = pytest.mark.filterwarnings("ignore")

# By day each command is tried on a part of them, and each of them on as many of the commands.
PARTS = 5
NIGHTLY = [pytest.param(part, marks=pytest.mark.nightly) for part in range(1, PARTS)]


@pytest.mark.slow
@pytest.mark.parametrize("part", [0, *NIGHTLY])
@pytest.mark.parametrize("command", COMMANDS)
def test_hostile_files(command, part, try_on, tmp_path):
    contents = list(CONTENTS.values())[(part + list(COMMANDS).index(command)) % PARTS :: PARTS]
    for place, content in enumerate(contents):
        is_one_of_some = command not in READERS or place % SOME == 0
        if is_one_of_some or not is_refused(command, content, tmp_path / name_of_the_file(command)):
            try_on(command, content)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["\ud800", "a\0b", "x" * 10_000])
@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_names_that_no_file_has(command, name, folder, run, monkeypatch):
    monkeypatch.chdir(folder)
    code, out, err = run(*(each.replace("{}", name) for each in COMMANDS[command][0]))
    assert (code, out) == (2, "")
    assert "is not a path: it " in err
    assert err.count("\n") == 1
    assert len(err) < 300


@pytest.mark.slow
@pytest.mark.parametrize("command", thinned(sorted(COMMANDS), parts=2))
def test_valid_files_work(command, try_on):
    assert try_on(command, COMMANDS[command][1]) == 0


# By day the readers get such files in tests/io.
@pytest.mark.nightly
@pytest.mark.parametrize("command", sorted(COMMANDS))
# Each is a command, of which there are many.
@times(1 / 3, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_mutated_files(command, try_on, data):
    try_on(command, data.draw(mutated(COMMANDS[command][1])))

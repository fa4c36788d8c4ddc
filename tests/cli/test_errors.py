"""Errors and warnings speak of options and files, come once, and are left out by --quiet."""

import ast
import re
import sys
from pathlib import Path

import pytest

import skfilterrank
from skfilterrank.cli import COMMANDS, command_parser
from skfilterrank.cli._output import call, message_of, option_of


@pytest.mark.parametrize("command", COMMANDS)
def test_arguments_of_functions_become_options(command):
    options = {name: written for name, (written, _) in command_parser(command).options().items()}
    call.begin([])
    call.written = options
    for name, option in options.items():
        assert option_of(name) == option_of(f"{name}=") == option
        if option.startswith("-"):
            assert option_of(f"{name}='x'") == f"{option} x"
            assert option_of(f"{name}=None") in (
                f"{option} none",
                "What is held out of the training rows",
            )


@pytest.mark.parametrize(
    ("command", "term", "written"),
    [
        ("compare", "n_jobs=2", "--n-jobs 2"),
        ("compare", "gains={0: -1, 1: 0.5}", "--gains=0=-1,1=0.5"),
        ("compare", "risks", "risks"),
        ("threshold", "risks['forbidden']", "--risk forbidden"),
        ("threshold", "keep_if='better'", "--threshold better"),
        ("threshold", "LearnedThreshold", "--threshold learned"),
        ("threshold", "TunedThreshold", "--threshold tune"),
        ("threshold", "threshold=np.inf", "--threshold inf"),
        ("rank-filter", "groups=", "the query ids"),
        ("monitor", "groups", "the run"),
        ("apply", "random_state=3", "random_state=3"),
    ],
)
def test_what_commands_write_for_python(command, term, written):
    call.begin([])
    call.written = {name: each for name, (each, _) in command_parser(command).options().items()}
    assert option_of(term) == written


# Rooms whose messages a command can print.
ROOMS = ["_base", "_lists", "_files", "io", "metrics", "thresholds", "ranking", "judgments"]
ROOMS += ["comparison", "_estimators"]
RAISING = ("InputError", "InputTypeError", "FileFormatError", "MissingValuesError", "warn_user")


def messages(room):
    """Texts that a room raises or warns of, with the place of each."""
    for path in sorted((Path(skfilterrank.__file__).parent / room).glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = getattr(getattr(node, "func", None), "id", None)
            if name in (*RAISING, "Message") and node.args:
                parts = ast.walk(node.args[0])
                text = "".join(str(each.value) for each in parts if isinstance(each, ast.Constant))
                yield f"{path.name}:{node.lineno}", text


# Files with messages that name such an argument, and that no command can cause.
OF_PYTHON = {
    "_lists/entry_search.py",
    "_lists/queries.py",
    "io/_write.py",
    "metrics/_evaluate_runs.py",
    "metrics/_informativeness.py",
    "metrics/_normalized.py",
    "metrics/_random_rankings.py",
    "metrics/_scorer.py",
    "thresholds/_certified.py",
    "thresholds/_certify.py",
    "thresholds/_drift.py",
    "thresholds/_threshold.py",
    "thresholds/_cuts.py",
    "thresholds/_watched.py",
    "ranking/_adarank.py",
    "ranking/_coordinate_ascent.py",
    "ranking/_feature_ranker.py",
    "ranking/_make_ranker.py",
    "ranking/_out_of_fold.py",
    "ranking/_rank_and_filter.py",
    "ranking/_training_rows.py",
    "judgments/_estimate.py",
    "judgments/_maxrep.py",
    "judgments/_pseudo_qrels.py",
    "judgments/_ranked_pool.py",
    "comparison/_order_systems.py",
    "comparison/_score_tables.py",
    "comparison/_system_scores.py",
    "_estimators/ranker_mixin.py",
}


def test_messages_mark_the_arguments_that_have_an_option():
    """A message in another file writes {gains=}, so that commands can write --gains."""
    names = {"groups", "keep_if", "measures", "risks"}
    for command in COMMANDS:
        options = command_parser(command).options()
        names |= {name for name, (written, _) in options.items() if written.startswith("-")}
    # Words of other meanings, such as the name of a ranker.
    names -= {"format", "name", "same", "text"}
    argument = re.compile(rf"(?<![\w{{.(,'])({'|'.join(sorted(names))})=(?!=)")
    found = {}
    for room in ROOMS:
        for place, text in messages(room):
            if match := argument.search(re.sub(r"{[^{}]*}", "", text)):
                found.setdefault(f"{room}/{place.partition(':')[0]}", []).append(match[0])
    assert {file: each for file, each in found.items() if file not in OF_PYTHON} == {}
    assert found


@pytest.fixture
def sample(tmp_path, monkeypatch):
    """A sample, and runs of which some documents are outside of the pool."""
    monkeypatch.chdir(tmp_path)
    Path("s.prels").write_text("1 a 1 1 0.5\n1 b 0 1 0.5\n2 a 1 1 0.5\n2 b 0 1 0.5\n")
    for name, score in (("r", 3), ("o", 1)):
        rows = "".join(f"{q} Q0 a 1 {score} x\n{q} Q0 b 1 2 x\n{q} Q0 c 1 1.5 x\n" for q in "12")
        Path(f"{name}.txt").write_text(rows)
    Path("r.csv").write_text("qid,docno,score\n1,a,2\n")
    Path("t.csv").write_text("qid,docno,label\n1,a,Good\n1,b,Bad\n")
    rows = [f"{q},{q}{d},{q + d},{'Good' if q % 2 else 'Bad'}" for q in range(8) for d in (0, 1)]
    Path("t2.csv").write_text("\n".join(["qid,docno,x,label", *rows]))
    Path("bad.txt").write_text("1 0 a -1\n2 0 b -1\n")
    Path("d.csv").write_text("docno,text\na,cat\nb,dog\nc,cow\n")
    Path("q.txt").write_text("1 0 a 1\n1 predicted b 0\n2 0 a 1\n2 0 b -1\n")


# Warnings are printed here, and not raised.
@pytest.mark.slow
@pytest.mark.filterwarnings("always::skfilterrank.exceptions.SkfilterrankWarning")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("evaluate r.csv q.txt -m dcg@10", "judgments come first, then runs."),
        ("evaluate t.csv r.txt -m ap --gains Bad=-1", "--gains has no gain for labels of t.csv"),
        ("evaluate q.txt r.txt -m dcg@10", "use to accept this, or --predicted drop to"),
        ("threshold q.txt r.txt", "use to accept this, or --predicted drop to"),
        (
            "threshold q.txt r.txt --risk any_forbidden=.2",
            "0.2 and --confidence-level 0.95 needs",
        ),
        ("threshold q.txt r.txt --risk any_forbidden=2", "--risk any_forbidden must be a number"),
        (
            "threshold q.txt r.txt --risk foo=0.1",
            "a measure that a module of --plugin made",
        ),
        (
            "evaluate bad.txt r.txt -m dcg",
            "if they are forbidden, --unjudged-label trec if",
        ),
        ("threshold q.txt r.txt --min-shown 3 --max-shown 2", "--min-shown must be at most"),
        (
            "threshold q.txt r.txt -m bpref --threshold expected",
            "--threshold expected supports meas",
        ),
        ("evaluate q.txt r.txt -m no_such", "of the documentation lists the names"),
        ("evaluate q.txt r.txt -m lexirecall --n-items 1", "here 3 or more."),
        ("threshold bad.txt r.txt", "Check the labels and --gains."),
        ("threshold bad.txt r.txt", "Use --threshold inf, or --threshold better"),
        (
            "rank-filter t2.csv --gains Bad=-1,Good=1 --risk any_forbidden=.2",
            "What is held out of the training rows gives",
        ),
        (
            "select r.txt o.txt --out j.csv --strategy sample --n-total 9",
            "--n-total is 9",
        ),
        (
            "evaluate q.txt r.txt -m rbp --ties stable --missing raise",
            "--unjudged-label none",
        ),
    ],
)
def test_messages_of_commands_name_options(arguments, words, sample, run):
    _, out, err = run(*arguments.split())
    assert words in err
    functions = (
        "pool=",
        "unit=",
        "missing=",
        "skfilterrank.",
        "draw_sample",
        "judged=",
        "values_of_run",
        "max_risk",
        "_shown",
        "n_total",
        "measure=",
        "get_measure",
        "Threshold",
        "confidence_level",
    )
    for name in functions:
        assert name not in err
    words_of_python = r"\b(None|NaN|nan|DataFrame|Series|dict|pandas|cv)\b|\(\)| y "
    assert re.search(words_of_python, err) is None
    lines = [line for line in err.splitlines() if "warning: " in line]
    assert len(lines) == len(set(lines))
    code, quiet, err = run(*arguments.split(), "--quiet")
    assert quiet == out
    assert "warning: " not in err
    assert (code == 0) == (err == "")


@pytest.mark.filterwarnings("ignore::skfilterrank.exceptions.SkfilterrankWarning")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("evaluate q.txt r.txt -m ap --confidence-level 0.9", "--confidence-level is for drawn"),
        ("evaluate q.txt r.txt -m ap --n-items 9", "--n-items has no effect on ap"),
        ("compare q.txt r.txt o.txt -m ap --n-items 9", "--n-items has no effect on ap"),
        ("threshold q.txt r.txt --confidence-level 0.9", "--confidence-level is about the rates"),
        ("rank-filter t.csv --gains Bad=-1,Good=1 --among answered", "--among is about the rates"),
        ("fuse r.txt o.txt --out f.csv", "--out f.csv: fuse writes a TREC run"),
        ("select r.txt --out j.csv --unit query", "--unit is for samples"),
        ("select r.txt --out j.csv --random-state 3", "--random-state has no effect on"),
        ("select r.txt --out j.csv --text body", "--text names columns of --docs. Give both"),
        ("select r.txt --out j.csv --gains a=1,b=0", "--gains is for labels of --page, --judged"),
        ("select r.txt --page j.html --gains exp2", "--gains exp2 is for measures. Name the gain"),
        (
            "rank-filter t.csv --models adarank --learner trees",
            "--learner is for losses (bce, mse, ordinal, weighted-ordinal, lambdarank, ",
        ),
        ("evaluate q.txt r.txt --quiet --verbose", "--quiet and --verbose exclude each other"),
    ],
)
def test_no_option_is_ignored(arguments, message, sample, run):
    before = sorted(Path().iterdir())
    code, out, err = run(*arguments.split())
    assert (code, out) == (2, "")
    assert message in err
    assert sorted(Path().iterdir()) == before


def test_a_model_is_no_threshold(sample, run):
    Path("m.joblib").write_bytes(b"\x80\x04 a model")
    _, _, err = run("monitor", "m.joblib", "--qrels", "q.txt", "--run", "r.txt")
    assert "m.joblib holds a model, and a threshold of 'skfilterrank threshold --save'" in err


@pytest.mark.filterwarnings("always::UserWarning")
def test_a_warning_is_printed_once(sample, run):
    Path("warns_often.py").write_text(
        "import warnings\nfor _ in range(3):\n    warnings.warn('dust')\nwarnings.warn('dust')\n"
    )
    for _ in range(2):
        sys.modules.pop("warns_often", None)
        err = run("evaluate", "q.txt", "r.txt", "--plugin", "warns_often")[2]
        assert err.count("warning: dust") == 1


@pytest.mark.parametrize("text", ["is the line cut short?", "the line is cut short.", "cut short"])
def test_notes_follow_a_whole_sentence(text):
    error = ValueError(text)
    error.add_note("The error concerns the run 'r'.")
    end = "" if text[-1] in ".?" else "."
    assert message_of(error) == f"{text}{end} The error concerns the run 'r'."


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("evaluate q r --seed 3", "no option --seed. See"),
        (
            "evaluate q r --missing drp",
            "expected raise, drop, empty, got 'drp'. Did you mean drop?",
        ),
        (
            "",
            "no command is named. Choose from evaluate, compare, fuse, rank-filter, threshold, "
            "apply, monitor, select, complete, demo.",
        ),
    ],
)
def test_words_that_are_not_known(run, words, message):
    code, _, err = run(*words.split())
    assert (code, message in err) == (2, True), err


@pytest.mark.parametrize(
    ("lines", "advice"),
    [
        ("1 0 a 1\n1 0 a 0\n", "or give --duplicates max or --duplicates first"),
        ("1 1 a 1\n1 2 a 1\n1 3 a 0\n1 4 b 0\n", "For diversity judgments, pass --subtopic max."),
        ("1 1 a 1\n1 2 a 0\n1 1 b 0\n1 1 c 0\n", "--subtopic max takes the highest label"),
    ],
)
def test_no_option_is_advised_that_the_command_lacks(lines, advice, sample, run):
    Path("twice.txt").write_text(lines)
    for command, has_option in (
        ("evaluate twice.txt r.txt", True),
        ("complete twice.txt r.txt", False),
        ("select r.txt --judged twice.txt --out j.csv", False),
    ):
        code, _, err = run(*command.split())
        assert (code, advice in err) == (2, has_option), err
        assert "duplicates=" not in err
        assert "subtopic=" not in err

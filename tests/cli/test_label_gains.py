"""Labels that are texts are read by all commands that take --gains."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from skfilterrank.cli import main
from skfilterrank.cli._inputs import match_gains
from skfilterrank.cli._types import gains
from skfilterrank.exceptions import FileFormatError, InputError
from skfilterrank.io import read_qrels, write_run

GAINS = "--gains=Bad=-1,Ok=1,Good=2,Unknown=nan"
NUMBERS = {"Bad": "-1", "Ok": "1", "Good": "2"}
COMMANDS = {
    "evaluate": "evaluate {} r.txt -m ndcg_f@3,ap,bpref",
    "compare": "compare {} r.txt o.txt -m ndcg_f@3,lexirecall",
    "threshold": "threshold {} r.txt --k 3 --save f.json",
    "monitor": "monitor risk.json --qrels {} --run r.txt",
}
pytestmark = pytest.mark.filterwarnings("always::skfilterrank.exceptions.SkfilterrankWarning")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Judgments in words in three formats, and in numbers; runs and a filter."""
    folder = tmp_path_factory.mktemp("words")
    rng = np.random.RandomState(0)
    pairs = [(f"q{query:02}", docno) for query in range(40) for docno in "abcd"]
    table = pd.DataFrame(pairs, columns=["qid", "docno"])
    table["label"] = rng.choice(list(NUMBERS), len(table))
    table.to_csv(folder / "words.csv", index=False)
    table.to_json(folder / "words.jsonl", orient="records", lines=True)
    write_run(folder / "r.txt", table.assign(score=rng.rand(len(table)).round(3)))
    write_run(folder / "o.txt", table.assign(score=rng.rand(len(table)).round(3)))
    numbers = table.assign(label=table["label"].map(NUMBERS))
    for name, each in (("words", table), ("numbers", numbers)):
        lines = "".join(f"{q} 0 {d} {label}\n" for q, d, label in each.to_numpy())
        (folder / f"{name}.txt").write_text(lines)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        made = "threshold numbers.txt r.txt --risk any_forbidden=0.8 --save risk.json"
        assert main([*made.split(), "--unjudged-label", "none"]) == 0
    return folder


@pytest.fixture(autouse=True)
def folder(made, monkeypatch):
    """The working folder."""
    monkeypatch.chdir(made)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "path"),
    [
        *(("evaluate", path) for path in ("words.txt", "words.csv", "words.jsonl")),
        *((command, "words.csv") for command in COMMANDS if command != "evaluate"),
    ],
)
def test_commands_read_text_labels(command, path, run):
    found = []
    for each, said in ((path, GAINS), ("numbers.txt", "--unjudged-label none")):
        Path("risk.monitor.json").unlink(missing_ok=True)
        code, out, err = run(*COMMANDS[command].format(each).split(), *said.split())
        assert code == 0, err
        found.append(out)
    assert found[0] == found[1]


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_messages_say_what_to_do(command, run):
    words = command.format("words.txt").split()
    code, _, err = run(*words)
    assert code == 2
    assert "Labels that are texts can be read with --gains, the gain of each label" in err
    code, _, err = run(*words, "--gains=Bad=-1,Ok=1")
    assert code == 2
    assert "no gain for labels of words.txt: 'Good'" in err
    code, _, err = run(*words, GAINS, "--unjudged-label", "-1")
    assert code == 2
    assert "give nan to the text that means unjudged" in err


def test_read_qrels():
    qrels = read_qrels("words.csv", gains={"Bad": -1, "Ok": 0.5, "Good": float("nan")})
    words = read_words()
    expected = words.map({"Bad": -1, "Ok": 0.5}).to_numpy()
    np.testing.assert_array_equal(qrels["label"], expected)
    mixed = pd.DataFrame({"qid": "1", "docno": list("abc"), "label": ["1", "2.0", "x"]})
    assert read_qrels(mixed, gains={1: 3, "2": 4, "x": 5})["label"].tolist() == [3, 4, 5]
    with pytest.raises(FileFormatError, match="but a number was expected"):
        read_qrels("words.txt")
    for given, words in (({"Bad": "a"}, "finite number"), ([1], "must be a dict"), ({}, "a dict")):
        with pytest.raises(InputError, match=words):
            read_qrels("words.csv", gains=given)


@pytest.mark.parametrize("word", ["true", "True", "TRUE", "1"])
def test_a_truth_value_has_the_gain_of_its_word(word, run):
    rows = [{"qid": "1", "docno": str(i), "label": i < 2, "score": -i} for i in range(3)]
    table = pd.DataFrame(rows)
    table.to_csv("truths.csv", index=False)
    table.to_json("truths.jsonl", orient="records", lines=True)
    other = {"1": "0"}.get(word, word.lower().replace("true", "False"))
    for path in ("truths.csv", "truths.jsonl"):
        how = f"-m any_forbidden,num_rel --format csv --gains {word}=1,{other}=-1"
        code, out, err = run("evaluate", path, "truths.csv", *how.split())
        assert code == 0, err
        assert out.split()[-1] == "truths,1.0,2.0"
        assert read_qrels(path, gains={word: 3, other: 4})["label"].tolist() == [3, 3, 4]


def test_long_labels_keep_their_digits(run):
    Path("long.csv").write_text("qid,docno,label,score\n1,a,1234567,2\n1,b,1234568,1\n1,c,Bad,0\n")
    how = "-m num_rel,any_forbidden --format csv --gains 1234567=1,1234568=0,Bad=-1"
    code, out, err = run("evaluate", "long.csv", "long.csv", *how.split())
    assert code == 0, err
    assert out.split()[-1] == "long,1.0,1.0"
    numbers = {"f": pd.Series([1234567.0, 0.5])}
    with pytest.raises(InputError, match=r"Add 1234567=GAIN,0\.5=GAIN"):
        match_gains({1.0: 1.0}, numbers)


def read_words():
    """The labels of the table as words."""
    return pd.read_csv("words.csv")["label"]


def test_gains_are_matched_by_how_labels_are_written():
    numbers = pd.Series([0.0, 1.0, np.nan, -1.0])
    expected = {0.0: -1.0, 1.0: 2.0, -1.0: -3.0}
    for text in ("0=-1,1=2,-1=-3", "0.0=-1,+1=2,-1.0=-3"):
        assert match_gains(gains(text), {"f": numbers}) == expected
    flags = {"f": pd.Series([True, False])}
    assert match_gains(gains("true=1,False=-1"), flags) == {True: 1.0, False: -1.0}
    words = pd.Series(["Good", None, "a=b"], dtype=object)
    assert match_gains({"Good": 1.0, "a=b": -1.0}, {"f": words}) == {"Good": 1.0, "a=b": -1.0}
    assert match_gains("exp2", {"f": numbers}) == "exp2"
    assert match_gains(None, {"f": numbers}) is None


def test_labels_that_only_the_test_file_has():
    labels = {"a": pd.Series(["Bad", "Good"]), "b": pd.Series(["Good", "Ugly"])}
    given = {"Bad": -1.0, "Good": 1.0, "Ugly": -2.0}
    assert match_gains(given, labels) == given
    with pytest.raises(ValueError, match=r"no gain for Ugly, of the labels of b\. Add Ugly=GAIN"):
        match_gains({"Bad": -1.0, "Good": 1.0}, labels)

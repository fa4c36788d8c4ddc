"""``evaluate``, ``compare`` and ``select`` where people judge a sample and a machine the rest."""

import doctest
import io
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judged_documents import fill
from sampled_labels import PAGE, SAMPLED, estimates_of, sampled
from skfilterrank.io import read_qrels, read_run, write_qrels, write_run
from skfilterrank.metrics import evaluate_runs

pytestmark = pytest.mark.slow


@pytest.fixture
def runs(sampled_runs):
    """Paths of the runs, in the working folder."""
    return sampled_runs


def test_the_judgments_may_hold_the_probabilities(run, runs):
    rest = ["-m", "dcg@10", "--interval", "--machine-qrels", "llm.txt"]
    own = run("evaluate", "sample.prels", *runs, *rest)
    assert own == run("evaluate", "people.txt", *runs, *SAMPLED)


def test_labels_that_the_sample_lacks_are_those_of_the_judgments(run, runs):
    read_qrels("sample.prels").assign(label=np.nan).to_csv("sample.csv", index=False)
    arguments = [*sampled("sample.csv")]
    assert run("evaluate", "people.txt", *runs, *arguments) == run(
        "evaluate", "people.txt", *runs, *SAMPLED
    )


def test_several_machines_and_a_pool_without_any(run, runs):
    read_qrels("llm.txt").assign(label=1).pipe(lambda q: write_qrels("ones.txt", q))
    _, out, _ = run(
        "evaluate", "people.txt", *runs, *SAMPLED, "--machine-qrels", "ones.txt", "--format", "csv"
    )
    judges = {name: read_qrels(f"{name}.txt") for name in ("llm", "ones")}
    expected = estimates_of(runs, machine_qrels=judges).to_frame()
    assert pd.read_csv(io.StringIO(out))["low"].tolist() == expected["low"].tolist()
    alone = ["-m", "dcg@10", "--interval", "--prels", "sample.prels", "--pool", "llm.txt"]
    _code, out, _ = run("evaluate", "people.txt", *runs, *alone, "--format", "csv")
    expected = estimates_of(runs, machine_qrels=None, pool=read_qrels("llm.txt")).to_frame()
    assert pd.read_csv(io.StringIO(out))["low"].tolist() == expected["low"].tolist()


def test_where_people_judged_all_topics_are_the_sample(run, runs):
    _code, out, err = run(
        "evaluate", "all.txt", *runs, "-m", "err,dcg@10", "--interval", "--format", "csv"
    )
    assert "all.txt has no probabilities (--prels): its labels are assumed to be complete" in err
    found = pd.read_csv(io.StringIO(out)).set_index(["measure", "run"])
    values = evaluate_runs(
        "all.txt", {Path(path).stem: path for path in runs}, ["err", "dcg@10"]
    ).per_query
    for measure in ("err", "dcg@10"):
        queries = values[measure].groupby(level="run")
        means, errors = queries.mean(), queries.std() / np.sqrt(30)
        assert found.loc[measure, "value"].to_numpy() == pytest.approx(means.to_numpy())
        assert found.loc[measure, "standard_error"].to_numpy() == pytest.approx(errors.to_numpy())


_WRONG = {
    "a machine without a sample": (
        ["people.txt", "-m", "dcg@10", "--interval", "--machine-qrels", "llm.txt"],
        "nothing says with which probability the 150 judged documents of people.txt were drawn",
    ),
    "a measure of whole queries": (
        ["people.txt", *SAMPLED, "-m", "err"],
        "'err' is no sum over the documents",
    ),
    "a measure that another sample is for": (
        ["people.txt", *SAMPLED, "-m", "ap"],
        "inclusion probabilities of qrels are not those of a sample for 'ap'.*sample.prels",
    ),
    "other labels": (
        ["llm.txt", *SAMPLED],
        "sample.prels and llm.txt have different labels of 69 documents",
    ),
    "these queries of which all is known": (
        ["all.txt", "-m", "ap", "--interval", "--target", "these-queries"],
        "the values of these queries are known",
    ),
    "a machine's labels as people's": (
        ["people.txt", *SAMPLED, "--predicted", "use"],
        "Give them by --machine-qrels",
    ),
    "queries one by one": (
        ["people.txt", *SAMPLED, "--per-query"],
        "--per-query has no effect on values with intervals",
    ),
    "another order of ties": (["people.txt", *SAMPLED, "--ties", "best"], "--ties best: values"),
    "a format of no intervals": (
        ["people.txt", *SAMPLED, "--format", "trec"],
        "--format trec has no intervals",
    ),
    "no interval asked for": (
        ["people.txt", "--target", "new-queries"],
        "Add --interval",
    ),
}


@pytest.mark.parametrize("case", _WRONG)
def test_what_gives_no_interval_is_one_sentence(run, runs, case):
    (qrels, *rest), match = _WRONG[case]
    code, out, err = run("evaluate", qrels, *runs, *rest)
    assert (code, out) == (2, "")
    assert re.search(match, err)
    assert err.count("\n") == 1


_LINES = {
    "a probability of 0": (
        "1 d1 2 1 0\n",
        "bad.prels:1: .* 0.0 for a label; it must be above 0 and at most 1",
    ),
    "a probability above 1": (
        "9 599 2 1 0.5\n1 d 2 1 1.5\n",
        "bad.prels:2: .* 1.5 for a label.* at most 1",
    ),
    "no probability": ("9 599 2 1\n", "bad.prels has no inclusion probabilities, with which"),
    "a probability that is no number": (
        "9 599 2 1 x\n",
        "bad.prels:1: .*'x', but a number was expected",
    ),
    "a document twice": ("9 599 2 1 .5\n9 599 2 1 .5\n", "bad.prels:2: .*twice in query"),
    "documents outside of the pool": (
        "9 none 2 1 0.5\n9 599 2 1 0.5\n",
        "1 of 2 documents outside the pool.*'none' of query '9'.*bad.prels",
    ),
    "one label": ("9 599 2 1 0.5\n", r"1 label: expected at least two.*bad.prels"),
}


@pytest.mark.parametrize("case", _LINES)
@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_samples_that_are_none_name_file_and_line(run, runs, case, command):
    text, match = _LINES[case]
    Path("bad.prels").write_text(text, encoding="utf-8")
    write_qrels("none.txt", read_qrels("all.txt").head(5).assign(docno=list("abcde")))
    code, out, err = run(command, "none.txt", *runs, *sampled("bad.prels"))
    assert (code, out) == (2, "")
    assert re.search(match, err)


def test_all_labels_alike_and_a_grade_that_the_machine_never_gives(run, runs):
    write_qrels("same.prels", read_qrels("sample.prels").assign(label=1))
    code, _, err = run("evaluate", "same.prels", *runs, *sampled("same.prels"))
    assert code == 2
    assert "all 150 labels of qrels have the gain 1" in err
    sample = read_qrels("sample.prels")
    write_qrels("three.prels", sample.assign(label=sample["label"].where(sample.index > 5, 3)))
    code, _out, err = run("evaluate", "three.prels", *runs, *sampled("three.prels"))
    assert (code, err) == (0, "")


@pytest.mark.filterwarnings("default:.*below 0")
@pytest.mark.parametrize("unit", ["document", "query"])
def test_labels_below_0_are_told_in_the_words_of_the_command(run, runs, unit):
    source = {"document": "sample.prels", "query": "all.txt"}[unit]
    parts = [line.split() for line in Path(source).read_text().splitlines()]
    place = {"document": 2, "query": 3}[unit]
    for row in parts:
        row[place] = {"0": "-1"}.get(row[place], row[place])
    Path("below.txt").write_text("\n".join(map(" ".join, parts)) + "\n")
    more = {"document": ["--machine-qrels", "llm.txt"], "query": ["--interval"]}[unit]
    lines = ["compare", "below.txt", *runs, "-m", "dcg@10", *more]
    code, _, err = run(*lines)
    assert code == 0
    assert err.count("below 0") == 1
    assert "Say --unjudged-label none or --unjudged-label trec" in err
    assert "unjudged_label" not in err
    _, _, err = run(*lines, "--unjudged-label", "none")
    assert "below 0" not in err


def test_machines_that_miss_documents_and_runs_that_miss_topics_are_told(run, runs):
    write_qrels("half.txt", read_qrels("llm.txt").iloc[::2])
    code, _, err = run("evaluate", "people.txt", *runs, *SAMPLED, "--machine-qrels", "half.txt")
    assert "half has no label of 900 of 1,800 documents" in err
    lacking = read_run(runs[0])
    write_run(runs[0], lacking[lacking["qid"] != "9"])
    code, _, err = run("evaluate", "people.txt", *runs, *SAMPLED)
    assert "1 of 4 runs (alpha: 1) lacks queries: counted as empty lists" in err
    code, _, err = run("compare", "people.txt", *runs, *SAMPLED)
    assert code == 0
    assert "1 of 4 runs (alpha: 1) lacks queries: counted as empty lists" in err
    code, _, err = run("compare", "people.txt", *runs, *SAMPLED, "--missing", "raise")
    assert code == 2
    assert "--missing empty counts them" in err


@pytest.mark.filterwarnings("always::skfilterrank.exceptions.DataWarning")
def test_labels_of_machines_in_the_judgments_are_told(run, runs):
    sample = read_qrels("sample.prels")
    rest = read_qrels("llm.txt").merge(sample, on=["qid", "docno"], how="left", indicator=True)
    rest = rest[rest["_merge"] == "left_only"].rename(columns={"label_x": "label"})
    marked = pd.concat([sample.assign(judged_by="people"), rest.assign(judged_by="large")])
    write_qrels("mixed.txt", marked[["qid", "docno", "label", "judged_by"]])
    _code, out, err = run("evaluate", "mixed.txt", *runs, *SAMPLED)
    assert f"mixed.txt: {len(rest):,} labels of machines, taken for not judged" in err
    assert out == run("evaluate", "people.txt", *runs, *SAMPLED)[1]
    err = run("evaluate", "mixed.txt", *runs, "-m", "ap")[2]
    assert (
        f"warning: mixed.txt holds {len(marked):,} labels, of which machines gave {len(rest):,} "
        f"(large: {len(rest):,})" in err
    )
    assert run("evaluate", "mixed.txt", *runs, "-m", "ap", "--predicted", "use")[2] == ""
    by_query = "-m", "ap", "--per-query", "--format", "csv"
    dropped = run("evaluate", "mixed.txt", *runs, *by_query, "--predicted", "drop")[1]
    people = run("evaluate", "people.txt", *runs, *by_query)[1]
    # Queries of which the machine judged all are worth nothing.
    others = set(dropped.splitlines()) - set(people.splitlines())
    assert set(people.splitlines()) <= set(dropped.splitlines())
    assert all(line.endswith(",0.0") for line in others)


def test_the_commands_of_the_page(run, runs, people):
    page, _ = PAGE.read_text(encoding="utf-8").split("## Certificates")
    blocks = re.findall(r"```(sh|text)\n(.*?)```", page, re.DOTALL)
    # The page opens with what is explained below.
    opening, *blocks = blocks
    assert [kind for kind, _ in blocks] == ["sh", "sh", "text", "sh", "text"]
    assert [line.split()[1] for line in opening[1].splitlines()] == ["select", "evaluate"]
    printed = None
    for kind, text in blocks:
        if kind == "text":
            assert printed == text
            continue
        for line in text.replace("\\\n", " ").splitlines():
            words = shlex.split(line)
            assert words.pop(0) == "skfilterrank"
            words = [each for word in words for each in (runs if word == "runs/*" else [word])]
            code, printed, err = run(*words)
            assert code == 0, err
            if words[0] == "select":
                fill("judge.csv", people)


def _examples(text, names):
    """Run the doctests of a part of the page that print nothing; return what they have made."""
    test = doctest.DocTestParser().get_doctest(text, names, "page", None, 0)
    for example in test.examples:
        if not example.want:
            exec(compile(example.source, "page", "exec"), test.globs)
    return test.globs


def _from_files():
    """Return the part of the page that writes the files of its first commands."""
    return PAGE.read_text(encoding="utf-8").partition("## From files")[2].partition("```sh")[0]


def test_the_files_of_the_page_are_those_of_its_commands(world, sampled_folder):
    made = _examples(_from_files(), dict(world))["folder"]
    names = ["docs.csv", "llm.txt", *(f"runs/{name}.txt" for name in world["runs"])]
    assert sorted(str(p.relative_to(made)) for p in made.rglob("*.*")) == sorted(names)
    for name in names[1:]:
        assert (made / name).read_text() == (sampled_folder / name).read_text()


def test_the_measure_that_nobody_chose_is_told(run, runs):
    told = "measured by ndcg_f@10, as -m names no measure: not all can be estimated from a sample"
    _, out, err = run("evaluate", "all.txt", *runs, "--interval")
    assert told in err
    assert out == run("evaluate", "all.txt", *runs, "--interval", "-m", "ndcg_f@10")[1]
    assert told not in run("evaluate", "all.txt", *runs, "--interval", "-m", "ndcg_f@10")[2]
    assert told in run("compare", "all.txt", *runs, "--interval")[2]


@pytest.mark.parametrize("command", ["evaluate", "compare"])
@pytest.mark.parametrize(
    "files",
    [
        ["--prels", "sample.prels", "--machine-qrels", "llm.txt"],
        ["--prels", "sample.prels", "--pool", "llm.txt"],
    ],
)
def test_a_sample_asks_for_intervals_in_every_command(run, runs, command, files):
    words = [command, "people.txt", *runs, "-m", "dcg@10", "--format", "json", *files]
    code, out, err = run(*words)
    assert code == 0, err
    assert out == run(*words, "--interval")[1]
    assert json.loads(out.splitlines()[0])["confidence_level"] == 0.95

"""``evaluate`` and ``select`` where people judge a sample and a machine the rest."""

import doctest
import io
import json
import re
import shlex
from pathlib import Path

import pandas as pd
import pytest

from judged_documents import fill
from sampled_labels import PAGE, SAMPLED, estimates_of
from skfilterrank.io import read_qrels, read_run, write_qrels, write_run

pytestmark = pytest.mark.slow


@pytest.fixture
def runs(sampled_runs):
    """Paths of the runs, in the working folder."""
    return sampled_runs


def test_evaluate_prints_what_python_returns(run, runs):
    measures = ["dcg@10", "precision@10"]
    words = ["evaluate", "sample.prels", *runs, *SAMPLED, "-m", "precision@10"]
    code, out, err = run(*words, "--format", "csv")
    assert (code, err) == (0, "")
    found = pd.read_csv(io.StringIO(out)).set_index(["measure", "run"]).sort_index()
    expected = estimates_of(runs, measures).to_frame()
    pd.testing.assert_frame_equal(found, expected.sort_index(), check_exact=True)
    _, out, _ = run(*words)
    assert out.startswith(
        "95 % intervals for these queries: 150 of 807 documents judged by people, 30 queries"
    )
    row = expected.loc["dcg@10", "alpha"]
    assert f"{row['value']:.4f}  {row['low']:.4f} {row['high']:.4f}" in out
    _, out, _ = run(*words, "--confidence-level", "0.8", "--format", "json")
    records = [json.loads(line) for line in out.splitlines()]
    assert [record["run"] for record in records] == ["alpha", "beta", "delta", "gamma"]
    expected = estimates_of(runs, confidence_level=0.8).to_frame()
    assert records[0]["measures"]["dcg@10"] == expected.loc["dcg@10", "alpha"].to_dict()
    assert (records[0]["target"], records[0]["confidence_level"]) == ("these queries", 0.8)


def test_several_machines(run, runs):
    read_qrels("llm.txt").assign(label=1).pipe(lambda q: write_qrels("ones.txt", q))
    _, out, _ = run(
        *["evaluate", "sample.prels", *runs, *SAMPLED],
        *["--machine-qrels", "ones.txt", "--format", "csv"],
    )
    judges = {name: read_qrels(f"{name}.txt") for name in ("llm", "ones")}
    expected = estimates_of(runs, machine_qrels=judges).to_frame()
    assert pd.read_csv(io.StringIO(out))["low"].tolist() == expected["low"].tolist()


_WRONG = {
    "no sample": (["people.txt", *SAMPLED], "people.txt has no inclusion probabilities, with"),
    "a measure of whole queries": (
        ["sample.prels", *SAMPLED, "-m", "err"],
        "'err' is no sum over the documents",
    ),
    "a measure that another sample is for": (
        ["sample.prels", *SAMPLED, "-m", "ap"],
        "inclusion probabilities of qrels are not those of a sample for 'ap'.*sample.prels",
    ),
    "queries one by one": (
        ["sample.prels", *SAMPLED, "--per-query"],
        "--per-query has no effect on values with intervals",
    ),
    "another order of ties": (["sample.prels", *SAMPLED, "--ties", "best"], "--ties has no effect"),
    "a format of no intervals": (
        ["sample.prels", *SAMPLED, "--format", "trec"],
        "--format trec has no intervals",
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
def test_samples_that_are_none_name_file_and_line(run, runs, case):
    text, match = _LINES[case]
    Path("bad.prels").write_text(text, encoding="utf-8")
    code, out, err = run("evaluate", "bad.prels", *runs, *SAMPLED)
    assert (code, out) == (2, "")
    assert re.search(match, err)


def test_all_labels_alike_and_a_grade_that_the_machine_never_gives(run, runs):
    write_qrels("same.prels", read_qrels("sample.prels").assign(label=1))
    code, _, err = run("evaluate", "same.prels", *runs, *SAMPLED)
    assert code == 2
    assert "all 150 labels of qrels have the gain 1" in err
    sample = read_qrels("sample.prels")
    write_qrels("three.prels", sample.assign(label=sample["label"].where(sample.index > 5, 3)))
    code, _out, err = run("evaluate", "three.prels", *runs, *SAMPLED)
    assert (code, err) == (0, "")


@pytest.mark.filterwarnings("default:.*below 0")
def test_labels_below_0_are_told_in_the_words_of_the_command(run, runs):
    parts = [line.split() for line in Path("sample.prels").read_text().splitlines()]
    for row in parts:
        row[2] = {"0": "-1"}.get(row[2], row[2])
    Path("below.txt").write_text("\n".join(map(" ".join, parts)) + "\n")
    lines = ["evaluate", "below.txt", *runs, *SAMPLED]
    code, _, err = run(*lines)
    assert code == 0
    assert err.count("below 0") == 1
    assert "Say --unjudged-label none if they are forbidden" in err
    assert "unjudged_label" not in err
    _, _, err = run(*lines, "--unjudged-label", "none")
    assert "below 0" not in err


def test_machines_that_miss_documents_and_runs_that_miss_topics_are_told(run, runs):
    write_qrels("half.txt", read_qrels("llm.txt").iloc[::2])
    _, _, err = run("evaluate", "sample.prels", *runs, *SAMPLED, "--machine-qrels", "half.txt")
    assert "half has no label of 900 of 1,800 documents" in err
    lacking = read_run(runs[0])
    write_run(runs[0], lacking[lacking["qid"] != "9"])
    _, _, err = run("evaluate", "sample.prels", *runs, *SAMPLED)
    assert "1 of 4 runs (alpha: 1) lacks queries: counted as empty lists" in err


@pytest.mark.filterwarnings("always::skfilterrank.exceptions.DataWarning")
def test_labels_of_machines_in_the_judgments_are_told(run, runs):
    sample = read_qrels("sample.prels")
    rest = read_qrels("llm.txt").merge(sample, on=["qid", "docno"], how="left", indicator=True)
    rest = rest[rest["_merge"] == "left_only"].rename(columns={"label_x": "label"})
    rest = rest.drop(columns=["label_y", "_merge"]).assign(inclusion_probability=1.0)
    marked = pd.concat([sample.assign(judged_by="people"), rest.assign(judged_by="large")])
    marked.to_csv("mixed.txt", index=False)
    _code, out, err = run("evaluate", "mixed.txt", *runs, *SAMPLED)
    assert f"mixed.txt: {len(rest):,} labels of machines, taken for not judged" in err
    assert out == run("evaluate", "sample.prels", *runs, *SAMPLED)[1]
    marked.drop(columns="inclusion_probability").to_csv("mixed.txt", index=False)
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
    assert [kind for kind, _ in blocks] == ["sh", "sh", "text"]
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
    words = ["evaluate", "sample.prels", *runs, *SAMPLED[2:]]
    _, out, err = run(*words)
    assert told in err
    _, same, err = run(*words, "-m", "ndcg_f@10")
    assert out == same
    assert told not in err

"""``evaluate``, ``compare`` and ``judge`` where people judge a sample and a machine the rest."""

import doctest
import io
import json
import re
import shlex
import shutil
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

from skfilterrank.cli.judge import run as judge_run
from skfilterrank.estimation import draw_sample, estimate, machine_report
from skfilterrank.io import read_prels, read_qrels, read_run, write_prels, write_qrels, write_run
from skfilterrank.judgments import Answer
from skfilterrank.trec import evaluate_runs

PAGE = Path(__file__).parents[2] / "docs/machine_labels.md"
SAMPLED = ["-m", "dcg@10", "--interval", "--prels", "sample.prels", "--machine-qrels", "llm.txt"]


@pytest.fixture(scope="module")
def world():
    """The runs, people's and machine's labels of the page, made by its first examples."""
    names: dict = {}
    begin = PAGE.read_text(encoding="utf-8").partition("## What to judge")[0]
    test = doctest.DocTestParser().get_doctest(begin, names, "page", None, 0)
    assert not doctest.DocTestRunner().run(test, clear_globs=False).failed
    return test.globs


@pytest.fixture(scope="module")
def written(world, tmp_path_factory):
    """What the page has in memory as files, and a sample of 150 documents."""
    folder = tmp_path_factory.mktemp("written")
    (folder / "runs").mkdir()
    for name, run in world["runs"].items():
        write_run(folder / "runs" / f"{name}.txt", run, name=name)
    write_qrels(folder / "all.txt", world["people"])
    write_qrels(folder / "llm.txt", world["machine"])
    docnos = world["people"]["docno"].unique()
    pd.DataFrame({"docno": docnos, "text": "words"}).to_csv(folder / "docs.csv", index=False)
    sample = draw_sample(world["machine"], world["runs"], "dcg@10", n_total=150)
    truth = world["people"].astype({"qid": str, "docno": str}).set_index(["qid", "docno"])
    sample["label"] = truth["label"].loc[pd.MultiIndex.from_frame(sample[["qid", "docno"]])].array
    write_prels(folder / "sample.prels", sample)
    write_qrels(folder / "people.txt", sample)
    return folder


@pytest.fixture
def folder(written, tmp_path, monkeypatch):
    """The same files, in the working folder."""
    monkeypatch.chdir(tmp_path)
    return shutil.copytree(written, tmp_path, dirs_exist_ok=True)


@pytest.fixture
def runs(folder):
    """Paths of the runs."""
    return sorted(map(str, Path("runs").iterdir()))


@pytest.fixture
def assessor(world, monkeypatch):
    """Answers by people's labels, at most as many as told."""
    truth = world["people"].astype({"qid": str, "docno": str}).set_index(["qid", "docno"])["label"]

    class Assessor:
        most = None
        asked: ClassVar[list] = []
        skipped: ClassVar[set] = set()

        def __init__(self, *args, **kwargs):
            self.n = 0

        def __call__(self, question):
            if self.n == Assessor.most:
                return Answer.STOP
            self.n += 1
            pair = (question.topic, question.docno)
            if pair in Assessor.skipped:
                Assessor.skipped.remove(pair)
                return Answer.SKIP
            Assessor.asked.append(pair)
            return int(truth[question.topic, question.docno])

    monkeypatch.setattr(judge_run, "TerminalAssessor", Assessor)
    return Assessor


def _estimates(runs, measures="dcg@10", **params):
    runs = {Path(path).stem: read_run(path) for path in runs}
    params = {"machine_qrels": {"llm": read_qrels("llm.txt")}} | params
    return estimate(read_prels("sample.prels"), runs, measures, **params)


def test_evaluate_prints_what_python_returns(run, runs):
    measures = ["dcg@10", "precision@10"]
    arguments = [*SAMPLED, "-m", "precision@10"]
    code, out, err = run("evaluate", "people.txt", *runs, *arguments, "--format", "csv")
    assert (code, err) == (0, "")
    found = pd.read_csv(io.StringIO(out)).set_index(["measure", "run"]).sort_index()
    expected = _estimates(runs, measures).to_frame()
    pd.testing.assert_frame_equal(found, expected.sort_index(), check_exact=True)
    code, out, _ = run("evaluate", "people.txt", *runs, *arguments)
    assert out.startswith(
        "95 % intervals for these topics: 150 of 807 documents judged by people, 30 topics"
    )
    row = expected.loc["dcg@10", "alpha"]
    assert f"{row['value']:.4f}  {row['low']:.4f} {row['high']:.4f}" in out


def test_evaluate_of_new_topics_in_json_in_order(run, runs):
    arguments = [*SAMPLED, "--target", "new-topics", "--confidence", "0.8", "--sort", "dcg@10"]
    _code, out, _ = run("evaluate", "people.txt", *runs, *arguments, "--format", "json")
    records = [json.loads(line) for line in out.splitlines()]
    assert [record["run"] for record in records] == ["alpha", "gamma", "beta", "delta"]
    expected = _estimates(runs, target="new topics", confidence=0.8).to_frame()
    assert records[0]["measures"]["dcg@10"] == expected.loc["dcg@10", "alpha"].to_dict()
    assert (records[0]["target"], records[0]["confidence"]) == ("new topics", 0.8)


def test_the_judgments_may_hold_the_probabilities(run, runs):
    rest = ["-m", "dcg@10", "--interval", "--machine-qrels", "llm.txt"]
    own = run("evaluate", "sample.prels", *runs, *rest)
    assert own == run("evaluate", "people.txt", *runs, *SAMPLED)


def test_labels_that_the_sample_lacks_are_those_of_the_judgments(run, runs):
    read_prels("sample.prels").assign(label=np.nan).to_csv("sample.csv", index=False)
    arguments = [*SAMPLED, "--prels", "sample.csv"]
    assert run("evaluate", "people.txt", *runs, *arguments) == run(
        "evaluate", "people.txt", *runs, *SAMPLED
    )


def test_several_machines_and_a_pool_without_any(run, runs):
    read_qrels("llm.txt").assign(label=1).pipe(lambda q: write_qrels("ones.txt", q))
    _, out, _ = run("evaluate", "people.txt", *runs, *SAMPLED, "ones.txt", "--format", "csv")
    judges = {name: read_qrels(f"{name}.txt") for name in ("llm", "ones")}
    expected = _estimates(runs, machine_qrels=judges).to_frame()
    assert pd.read_csv(io.StringIO(out))["low"].tolist() == expected["low"].tolist()
    alone = ["-m", "dcg@10", "--interval", "--prels", "sample.prels", "--pool", "llm.txt"]
    _code, out, _ = run("evaluate", "people.txt", *runs, *alone, "--format", "csv")
    expected = _estimates(runs, machine_qrels=None, pool=read_qrels("llm.txt")).to_frame()
    assert pd.read_csv(io.StringIO(out))["low"].tolist() == expected["low"].tolist()


def test_where_people_judged_all_topics_are_the_sample(run, runs):
    _code, out, err = run(
        "evaluate", "all.txt", *runs, "-m", "err,dcg@10", "--interval", "--format", "csv"
    )
    assert "all.txt says no probabilities (--prels): taken for all labels that there are" in err
    found = pd.read_csv(io.StringIO(out)).set_index(["measure", "run"])
    values = evaluate_runs("all.txt", {Path(path).stem: path for path in runs}, ["err", "dcg@10"])
    for measure in ("err", "dcg@10"):
        topics = values[measure].groupby(level="run")
        means, errors = topics.mean(), topics.std() / np.sqrt(30)
        assert found.loc[measure, "value"].to_numpy() == pytest.approx(means.to_numpy())
        assert found.loc[measure, "standard_error"].to_numpy() == pytest.approx(errors.to_numpy())


def test_compare_prints_what_python_returns(run, runs):
    arguments = ["people.txt", *runs, *SAMPLED]
    code, out, err = run("compare", *arguments, "--format", "csv")
    assert (code, err) == (0, "")
    found = pd.read_csv(io.StringIO(out)).set_index(["first", "second"])
    expected = _estimates(runs).compare().to_frame().set_index(["first", "second"])
    for (first, second), row in expected.iterrows():
        sign = 1 if row["difference"] > 0 else -1
        line = found.loc[(first, second) if sign > 0 else (second, first)]
        assert line["difference"] == sign * row["difference"]
        assert line["p_adjusted"] == row["p_adjusted"]
        assert {line["low"], line["high"]} == {sign * row["low"], sign * row["high"]}
        assert line["low"] < line["difference"] < line["high"]
        assert line["significant"] == (row["p_adjusted"] <= 0.05)
    code, out, _ = run("compare", *arguments, "--format", "json", "--baseline", "beta")
    record = json.loads(out)
    order = _estimates(runs).order()
    assert [each["run"] for each in record["systems"]] == order.index.tolist()
    assert [each["rank_high"] for each in record["systems"]] == order["high"].tolist()
    assert len(record["pairs"]) == 3
    code, out, _ = run("compare", *arguments)
    n_sure = int(_estimates(runs).compare().significant().sum())
    assert f"{n_sure} of 6 pairs differ (p <= 0.05, holm)" in out


def test_alpha_is_what_intervals_leave(run, runs):
    arguments = ["people.txt", *runs, *SAMPLED, "--alpha", "0.2", "--correction", "none"]
    _code, out, _ = run("compare", *arguments, "--format", "json")
    record = json.loads(out)
    assert (record["confidence"], record["correction"]) == (0.8, None)
    lows = {each["run"]: each["low"] for each in record["systems"]}
    assert lows == _estimates(runs, confidence=0.8).to_frame().loc["dcg@10", "low"].to_dict()


def test_the_report_says_what_the_machine_is_worth(run, runs):
    pytest.importorskip("matplotlib")
    code, _, err = run("compare", "people.txt", *runs, *SAMPLED, "--html", "report.html")
    assert code == 0, err
    page = Path("report.html").read_text(encoding="utf-8")
    report = machine_report(
        read_prels("sample.prels"),
        {Path(path).stem: path for path in runs},
        "dcg@10",
        machine_qrels={"llm": read_qrels("llm.txt")},
    )
    assert "What the machine is worth" in page
    assert f"{report.by_judge.loc['llm', 'kappa']:.3f}" in page
    assert f"{report.by_run.loc[('llm', 'dcg@10', 'alpha'), 'believed']:.4f}" in page
    assert page.count("sample.prels") >= 2  # the command, and the files with their hashes
    assert "llm.txt" in page


def test_judging_writes_the_sample(run, runs, assessor, folder):
    command = ["judge", "--runs", *runs, "--docs", "docs.csv", "-m", "dcg@10"]
    command += ["--machine-qrels", "llm.txt", "--strategy", "sample", "--n-total", "150"]
    code, _, err = run(*command, "--out", "own.prels")
    assert code == 0
    assert "a sample of 150 documents of 30 topics" in err
    pd.testing.assert_frame_equal(read_prels("own.prels"), read_prels("sample.prels"))


def test_a_larger_sample_goes_on_with_the_smaller(run, runs, assessor):
    command = ["judge", "--runs", *runs, "--docs", "docs.csv", "-m", "dcg@10", "--out", "own"]
    command += ["--machine-qrels", "llm.txt", "--strategy", "sample"]
    assessor.asked.clear()
    run(*command, "--n-total", "100")
    assert len(assessor.asked) == 100
    run(*command, "--n-total", "150")
    assert len(set(assessor.asked)) == len(assessor.asked) == 150
    pd.testing.assert_frame_equal(read_prels("own"), read_prels("sample.prels"))


def test_what_is_judged_in_part(run, runs, assessor, world):
    command = ["judge", "--runs", *runs, "--docs", "docs.csv", "-m", "dcg@10", "--out", "own"]
    command += ["--machine-qrels", "llm.txt", "--strategy", "sample", "--n-total", "150"]
    assessor.most = 3
    _, _, err = run(*command)
    assert "147 of 150 documents of the sample are not yet judged" in err
    assert not Path("own").exists()
    said = re.search(r"own is not written: so few .* judge at least (\d+) more documents, in", err)
    # One less is too few, and so many are enough.
    assessor.most = int(said[1]) - 1
    assert "judge at least 1 more document, in" in run(*command)[2]
    assert not Path("own").exists()
    assessor.most = 1
    assert f"{3 + int(said[1])} judgments with their probabilities in own" in run(*command)[2]
    # Asked in the order of the sample, so that what is judged is the smaller one.
    assessor.most = 57 - int(said[1])
    _code, _, err = run(*command)
    assert "60 judgments with their probabilities in own, a sample by themselves: the first" in err
    found = read_prels("own")
    drawn = draw_sample(world["machine"], world["runs"], "dcg@10", n_total=60)
    pd.testing.assert_frame_equal(found[["qid", "docno"]], drawn[["qid", "docno"]])
    expected = drawn["inclusion_probability"].to_numpy()
    assert found["inclusion_probability"].to_numpy() == pytest.approx(expected, rel=1e-12)


def test_what_is_skipped_comes_last_and_topics_in_their_order(run, runs, assessor, world):
    command = ["judge", "--runs", *runs, "--docs", "docs.csv", "-m", "dcg@10", "--out", "own"]
    command += ["--machine-qrels", "llm.txt", "--strategy", "sample", "--n-total", "60"]
    drawn = draw_sample(world["machine"], world["runs"], "dcg@10", n_total=60)
    pairs = list(drawn[["qid", "docno"]].itertuples(index=False, name=None))
    assessor.asked.clear()
    assessor.skipped = {pairs[1]}
    run(*command)
    assert assessor.asked == [pairs[0], *pairs[2:], pairs[1]]
    assessor.asked.clear()
    topics = [pairs[5][0], pairs[0][0]]
    run(*command, "--out", "other", "--only", ",".join(topics))
    assert assessor.asked == [pair for topic in topics for pair in pairs if pair[0] == topic]


@pytest.mark.parametrize(
    ("labels", "options", "grades", "message"),
    [
        ([0, 3, 1], [], [0, 1, 2, 3], "grades 0,1,2,3, as in --machine-qrels; --grades chooses"),
        ([0, -1, 1], [], [-1, 0, 1], "grades -1,0,1, as in"),
        ([0.5, 0.1, 0.2], [], [0, 1, 2], "grades 0,1,2, since --machine-qrels holds no grades"),
        ([0, 99, 5], [], [0, 1, 2], "holds no grades"),
        ([0, 3, 1], ["--grades", "0,1"], [0, 1], None),
    ],
)
def test_grades_are_those_of_the_machine(
    run, runs, monkeypatch, world, labels, options, grades, message
):
    taken = []

    def assessor(documents, topics, grades, **_):
        taken.extend(grades)
        return lambda question: Answer.STOP

    monkeypatch.setattr(judge_run, "TerminalAssessor", assessor)
    write_qrels("own.txt", world["machine"].assign(label=np.resize(labels, 1800)))
    command = ["judge", "--runs", *runs, "--docs", "docs.csv", "-m", "dcg@10", "--out", "own"]
    command += ["--machine-qrels", "own.txt", "--strategy", "sample", "--n-total", "60"]
    code, _, err = run(*command, *options)
    assert (code, taken) == (0, grades), err
    assert message in err if message else "grades" not in err


def test_gains_of_a_sample_are_those_that_were_said(run, runs, assessor, world):
    """Also of labels that are no grade; their labels are the grades unless others are said."""
    machine = world["machine"].assign(label=world["machine"]["label"] + 0.5)
    write_qrels("soft.txt", machine)
    command = ["judge", "--runs", *runs, "--docs", "docs.csv", "-m", "dcg@10"]
    command += ["--machine-qrels", "soft.txt", "--strategy", "sample", "--n-total", "60"]
    for best, options in ((1, []), (50, ["--grades", "0,1,2"])):
        gains = {0: 0, 1: 1, 2: 2, 3: best}
        text = ",".join(f"{label}={gain}" for label, gain in gains.items())
        code, _, err = run(*command, "--gains", text, *options, "--out", f"{best}.prels")
        assert code == 0, err
        assert options or "grades 0,1,2,3, as in --gains" in err
        drawn = draw_sample(machine, world["runs"], "dcg@10", n_total=60, gains=gains)
        found = read_prels(f"{best}.prels")
        pd.testing.assert_frame_equal(found[["qid", "docno"]], drawn[["qid", "docno"]])
    assert not read_prels("1.prels")[["qid", "docno"]].equals(found[["qid", "docno"]])


@pytest.mark.parametrize("gains", ["0=0,Bad=-1", "nan=1,0=0"])
def test_gains_of_a_sample_are_of_numbers(run, runs, assessor, gains):
    command = ["judge", "--runs", *runs, "--docs", "docs.csv", "--machine-qrels", "llm.txt"]
    command += ["--strategy", "sample", "--n-total", "60", "--out", "own", "--gains", gains]
    evaluated = ["evaluate", "people.txt", *runs, *SAMPLED, "--gains", f"{gains},1=1,2=2,3=3"]
    for words in (command, evaluated):
        code, _, err = run(*words)
        assert code == 2
        assert "--gains must name numbers here" in err


def test_what_was_judged_before_is_kept_and_a_machines_is_not(run, runs, assessor, world):
    before = world["people"].head(40)
    write_qrels("before.txt", before.assign(judged_by=["people"] * 25 + ["large"] * 15))
    command = ["judge", "--runs", *runs, "--docs", "docs.csv", "-m", "dcg@10", "--out", "own"]
    command += ["--machine-qrels", "llm.txt", "--strategy", "sample", "--n-total", "60"]
    assessor.asked.clear()
    _code, _, err = run(*command, "--judged", "before.txt")
    assert "before.txt: 15 labels of machines, taken for not judged" in err
    assert "a sample of 60 documents" in err
    found = read_prels("own").set_index(["qid", "docno"])
    certain = found["inclusion_probability"] == 1
    kept = before.head(25).astype(str)
    assert set(zip(kept["qid"], kept["docno"])) <= set(found.index[certain])
    assert len(found) == 85
    assert len(assessor.asked) == 60


_WRONG = {
    "a machine without a sample": (
        ["people.txt", "-m", "dcg@10", "--interval", "--machine-qrels", "llm.txt"],
        "nothing says with which probability the 150 judged documents of people.txt were drawn",
    ),
    "a measure of whole topics": (
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
    "these topics of which all is known": (
        ["all.txt", "-m", "ap", "--interval", "--target", "these-topics"],
        "the values of these topics are known",
    ),
    "a machine's labels as people's": (
        ["people.txt", *SAMPLED, "--predicted", "use"],
        "give them by --machine-qrels",
    ),
    "topics one by one": (["people.txt", *SAMPLED, "--per-query"], "leave out it or --per-query"),
    "another order of ties": (["people.txt", *SAMPLED, "--ties", "best"], "--ties best: values"),
    "a format of no intervals": (
        ["people.txt", *SAMPLED, "--format", "trec"],
        "printed as table, csv, json, not as trec",
    ),
    "no interval asked for": (
        ["people.txt", "--prels", "sample.prels"],
        "add --interval",
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
    "a probability of 0": ("1 d1 2 1 0\n", "bad.prels:1: .*above 0 and at most 1, got 0.0"),
    "a probability above 1": ("9 599 2 1 0.5\n1 d 2 1 1.5\n", "bad.prels:2: .*at most 1, got 1.5"),
    "no probability": ("9 599 2 1\n", "bad.prels:1: 4 columns where a prels has 5"),
    "a probability that is no number": ("9 599 2 1 x\n", "bad.prels:1: .*must be a number"),
    "a document twice": ("9 599 2 1 .5\n9 599 2 1 .5\n", "bad.prels:2: .*a second time"),
    "documents outside of the pool": (
        "9 none 2 1 0.5\n9 599 2 1 0.5\n",
        "1 of 2 documents outside the pool.*'none' of topic '9'.*bad.prels",
    ),
    "one label": ("9 599 2 1 0.5\n", r"1 label: expected at least two.*bad.prels"),
}


@pytest.mark.parametrize("case", _LINES)
@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_samples_that_are_none_name_file_and_line(run, runs, case, command):
    text, match = _LINES[case]
    Path("bad.prels").write_text(text, encoding="utf-8")
    write_qrels("none.txt", read_qrels("all.txt").head(5).assign(docno=list("abcde")))
    code, out, err = run(command, "none.txt", *runs, *SAMPLED, "--prels", "bad.prels")
    assert (code, out) == (2, "")
    assert re.search(match, err)


def test_all_labels_alike_and_a_grade_that_the_machine_never_gives(run, runs):
    write_prels("same.prels", read_prels("sample.prels").assign(label=1))
    code, _, err = run("evaluate", "same.prels", *runs, *SAMPLED, "--prels", "same.prels")
    assert code == 2
    assert "all 150 labels of qrels have the gain 1" in err
    sample = read_prels("sample.prels")
    write_prels("three.prels", sample.assign(label=sample["label"].where(sample.index > 5, 3)))
    code, _out, err = run("evaluate", "three.prels", *runs, *SAMPLED, "--prels", "three.prels")
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
    assert "say --unjudged-label trec" in err
    assert "unjudged_label" not in err
    _, _, err = run(*lines, "--unjudged-label", "none")
    assert "below 0" not in err


def test_machines_that_miss_documents_and_runs_that_miss_topics_are_told(run, runs):
    write_qrels("half.txt", read_qrels("llm.txt").iloc[::2])
    code, _, err = run("evaluate", "people.txt", *runs, *SAMPLED, "half.txt")
    assert "half has no label of 900 of 1,800 documents" in err
    lacking = read_run(runs[0])
    write_run(runs[0], lacking[lacking["qid"] != "9"])
    code, _, err = run("evaluate", "people.txt", *runs, *SAMPLED)
    assert "1 of 4 runs (alpha: 1) lack topics: counted as empty lists" in err
    code, _, err = run("compare", "people.txt", *runs, *SAMPLED)
    assert code == 0
    assert "1 of 4 runs (alpha: 1) lack topics: counted as empty lists" in err
    code, _, err = run("compare", "people.txt", *runs, *SAMPLED, "--missing", "raise")
    assert code == 2
    assert "--missing empty counts them" in err


@pytest.mark.filterwarnings("always::skfilterrank.exceptions.DataWarning")
def test_labels_of_machines_in_the_judgments_are_told(run, runs):
    sample = read_prels("sample.prels")
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
    by_topic = "-m", "ap", "--per-query", "--format", "csv"
    dropped = run("evaluate", "mixed.txt", *runs, *by_topic, "--predicted", "drop")[1]
    people = run("evaluate", "people.txt", *runs, *by_topic)[1]
    # Topics of which the machine judged all are worth nothing.
    others = set(dropped.splitlines()) - set(people.splitlines())
    assert set(people.splitlines()) <= set(dropped.splitlines())
    assert all(line.endswith(",0.0") for line in others)


def test_the_commands_of_the_page(run, runs, assessor, monkeypatch):
    blocks = re.findall(r"```(sh|text)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert [kind for kind, _ in blocks] == ["sh", "sh", "text", "sh", "text"]
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


@pytest.mark.parametrize("has_machine", [True, False])
def test_reports_say_that_judgments_are_a_machines(run, runs, has_machine):
    pytest.importorskip("matplotlib")
    judged_by = "large" if has_machine else "people"
    write_qrels("qrels.txt", read_qrels("all.txt").assign(judged_by=judged_by))
    command = ["compare", "qrels.txt", *runs[:2], "-m", "ap", "--predicted", "use"]
    code, _, err = run(*command, "--html", "report.html")
    assert code == 0, err
    page = Path("report.html").read_text(encoding="utf-8")
    assert ("labels of machines: <bdi>large</bdi>: 1,800" in page) == has_machine

"""Values of runs in every format."""

import json

import numpy as np
import pandas as pd
import pytest

from evaluated_runs import NAMES, QRELS, RUNS, from_csv, means, values
from skfilterrank.comparison import read_system_scores
from skfilterrank.io import read_qrels, read_run


@pytest.mark.slow
@pytest.mark.parametrize("format", ["csv", "trec"])
def test_levels_and_gains_of_single_measures_are_read_back(evaluate, format):
    measures = ["AP(rel=2)", "ap", "ndcg(gains={0:0, 1:1,2:9})@2", "RBP(rel=2, p=0.5)"]
    expected = means(measures)
    found = evaluate("--per-query", "--format", format, measures=measures)
    with open(f"values.{format}", "w") as file:
        file.write(found)
    for written in measures:
        name = "".join(written.split()) if format == "trec" else written
        (scores,) = read_system_scores(f"values.{format}", measures=[name]).values()
        assert scores.means.to_dict() == pytest.approx(expected[written].to_dict(), abs=5e-5)
        assert scores.greater_is_better


@pytest.mark.slow
def test_tables_for_papers(evaluate, files, run):
    found = evaluate("--format", "markdown").splitlines()
    expected = means()
    assert found[:2] == [
        r"| run | ndcg\_f@2 | ap | empty\_list\_rate |",
        "| --- | ---: | ---: | ---: |",
    ]
    best = {name: expected[name].max() for name in ("ndcg_f@2", "ap")}
    best["empty_list_rate"] = expected["empty_list_rate"].min()
    for line, (name, values_of_run) in zip(found[2:], expected.iterrows(), strict=True):
        cells = [
            f"**{value:.4f}**" if value == best[measure] else f"{value:.4f}"
            for measure, value in values_of_run.items()
        ]
        assert line == f"| {name} | {' | '.join(cells)} |"
    latex = evaluate("--format", "latex", "--per-query", runs=["good.txt"])
    assert latex.startswith("\\begin{tabular}{lrrr}\n\\toprule\ngood & ndcg\\_f@2 & ap &")
    assert latex.count("\\\\\n") == 5  # the head, three topics and their mean
    evaluate("--out", "table.tex")
    assert (files / "table.tex").read_text() == evaluate("--format", "latex")
    args = ["compare", "qrels.txt", *RUNS, "-m", "ap,P_5", "--missing", "empty", "--quiet"]
    code, out, err = run(*args, "--format", "markdown")
    assert (code, err) == (0, "")
    assert out.startswith("| system | ap | P\\_5 |\n| --- | ---: | ---: |\n| a good |")
    assert run(*args, "--format", "latex")[1].startswith("\\begin{tabular}{lrr}")


@pytest.mark.slow
def test_csv_of_means_and_of_topics(evaluate):
    found = from_csv(evaluate("--format", "csv"), "run")
    pd.testing.assert_frame_equal(found, means(), check_exact=True)
    found = from_csv(evaluate("--format", "csv", "--per-query"), ["run", "qid"])
    pd.testing.assert_frame_equal(found, values(), check_exact=True)


@pytest.mark.slow
def test_json(evaluate):
    found = [json.loads(line) for line in evaluate("--format", "json", "--per-query").splitlines()]
    assert [each["run"] for each in found] == NAMES
    for each in found:
        assert each["mean"] == means().loc[each["run"]].to_dict()
        assert each["topics"] == values().loc[each["run"]].to_dict("index")
        assert each["n_topics"] == 3
    assert [each["missing_topics"] for each in found] == [["3"], ["3"], ["1", "3"]]
    assert [each["unjudged_topics"] for each in found] == [["9"], [], []]
    assert all("topics" not in json.loads(x) for x in evaluate("--format", "json").splitlines())


def test_table_of_means(evaluate):
    # good, topic 1: b, a tied (the greater id first), x; of a and d, a is found at place 2.
    # Topic 2: a at place 2. Topic 3: nothing. AP = (1/2 / 2 + 1/2 + 0) / 3 = 0.25.
    # best: (1 + 1 + 0) / 3; short: (0 + 1 + 0) / 3.
    assert evaluate(measures=["ap", "empty_list_rate"]) == (
        "run            ap  empty_list_rate\n"
        "good       0.2500           0.3333\n"
        "best       0.6667           0.3333\n"
        "short.run  0.3333           0.6667\n"
    )


def test_table_of_topics(evaluate):
    assert evaluate("--per-query", measures=["ap"], runs=["good.txt", "best.gz"]) == (
        "good      ap\n"
        "1     0.2500\n"
        "2     0.5000\n"
        "3     0.0000\n"
        "all   0.2500\n"
        "\n"
        "best      ap\n"
        "1     1.0000\n"
        "2     1.0000\n"
        "3     0.0000\n"
        "all   0.6667\n"
    )


def test_values_too_small_for_four_digits(evaluate):
    # The relevant document of topic 2 is at place 2 of 50,000: exposure 1/2; of topics 1 and 3
    # the last one is unretrieved, at place 50,000: (1/2 + 2 / 50,000) / 3.
    out = evaluate("--per-query", "--n-items", "50000", runs=["good.txt"], measures=["tse"])
    assert [line.split()[1] for line in out.splitlines()[1:]] == [
        "2.0e-05",
        "0.5000",
        "2.0e-05",
        "0.1667",
    ]


def test_trec_format_is_trec_evals(evaluate):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    names = ["map", "ndcg_cut_2", "ndcg_cut.5", "P_5", "recall_10", "Rprec", "recip_rank"]
    found = {}
    for line in evaluate("--format", "trec", "--per-query", measures=names).splitlines():
        measure, qid, value = line.split("\t")
        assert len(measure) == 22
        found.setdefault((measure.strip().replace(".", "_"), qid), []).append(value)
    assert found.pop(("runid", "all")) == NAMES
    judgments = nested(read_qrels("qrels.txt"), "label")
    evaluator = pytrec_eval.RelevanceEvaluator(
        judgments, {"map", "ndcg_cut_2,5", "P_5", "recall_10", "Rprec", "recip_rank"}
    )
    for number, path in enumerate(RUNS):
        expected = evaluator.evaluate(nested(read_run(path), "score"))
        for (measure, qid), texts in found.items():
            if qid == "all":
                # trec_eval -c: topics that are not in the run count, with 0.
                total = sum(topic[measure] for topic in expected.values())
                assert texts[number] == f"{total / 3:6.4f}"
            else:
                assert texts[number] == f"{expected.get(qid, {}).get(measure, 0.0):6.4f}"


def nested(frame, column):
    return {
        qid: dict(zip(rows["docno"], rows[column].tolist())) for qid, rows in frame.groupby("qid")
    }


def test_trec_format_line_by_line(evaluate):
    out = evaluate("--format", "trec", "--per-query", runs=["good.txt"], measures=["ap"])
    name, runid = "ap" + " " * 20, "runid" + " " * 17
    assert out == (
        f"{name}\t1\t0.2500\n{name}\t2\t0.5000\n{name}\t3\t0.0000\n"
        f"{runid}\tall\tgood\n{name}\tall\t0.2500\n"
    )


def test_official_measures_as_trec_eval_prints_them(evaluate):
    out = evaluate("--format", "trec", runs=["good.txt"], measures=["official"]).splitlines()
    found = {name.strip(): value for name, _, value in (line.split("\t") for line in out)}
    assert [*found][:5] == ["runid", "num_q", "num_ret", "num_rel", "num_rel_ret"]
    assert found["num_q"] == "3"
    assert all(found[name].isdecimal() for name in ("num_ret", "num_rel", "num_rel_ret"))
    assert [name for name in found if name.startswith("iprec")] == [
        f"iprec_at_recall_{level / 10:.2f}" for level in range(11)
    ]
    assert found["map"] == "0.2500"


def test_undefined_topics(evaluate, files):
    # In topic 4 nothing is relevant.
    (files / "qrels.txt").write_text(QRELS + "4 0 a 0\n")
    args = ["--undefined", "drop", "--per-query"]
    kwargs = {"runs": ["best.gz"], "measures": ["ap"]}
    found = from_csv(evaluate(*args, "--format", "csv", **kwargs), ["run", "qid"])
    assert np.isnan(found["ap"]["best", "4"])
    found = json.loads(evaluate(*args, "--format", "json", **kwargs))
    assert found["topics"]["4"] == {"ap": None}
    assert found["mean"] == {"ap": 2 / 3}
    assert evaluate(*args, **kwargs).splitlines()[4].split() == ["4", "-"]
    assert "\t4\t   nan\n" in evaluate(*args, "--format", "trec", **kwargs)


# Of topic 1 good has a at place 2 of 3, of topic 2 a at place 2 of 2, and nothing of topic 3; there
# are 2, 1 and 1 relevant documents. Each measure has values of its own.
BY_HAND = {
    "ap": {"1": 0.25, "2": 0.5, "3": 0, "all": 0.25},
    "rr": {"1": 0.5, "2": 0.5, "3": 0, "all": 1 / 3},
    "num_ret": {"1": 3, "2": 2, "3": 0, "all": 5},
    "empty_list_rate": {"1": 0, "2": 0, "3": 1, "all": 1 / 3},
    "recall@1": {"1": 0, "2": 0, "3": 0, "all": 0},
    "precision@2": {"1": 0.5, "2": 0.5, "3": 0, "all": 1 / 3},
}


def cells(format, out):
    """What is written of the run good: a table of texts by topic and measure, as far as it says."""
    if format == "trec":
        lines = [[word.strip() for word in line.split("\t")] for line in out.splitlines()]
        found = {}
        for measure, qid, value in lines:
            found.setdefault(qid, {})[measure] = value
        assert found["all"].pop("runid") == "good"
        return found
    if format == "json":
        (line,) = map(json.loads, out.splitlines())
        return line["topics"] | {"all": line["mean"]}
    if format == "csv":
        head, *rows = [line.split(",") for line in out.splitlines()]
        assert head[:2] == ["run", "qid"]
        assert {row[0] for row in rows} == {"good"}
        head, *rows = [line[1:] for line in (head, *rows)]
    elif format == "table":
        head, *rows = [line.split() for line in out.splitlines()]
    else:
        out = out.replace("\\_", "_").replace("\\\\", "")
        rule, between = ("|", "|") if format == "markdown" else ("", "&")
        lines = [line.strip(rule).split(between) for line in out.splitlines() if between in line]
        head, *rows = [[cell.strip() for cell in line] for line in lines if "---" not in line[0]]
    if format != "csv":
        assert head[0] == "good"
    return {row[0]: dict(zip(head[1:], row[1:], strict=True)) for row in rows}


@pytest.mark.slow
@pytest.mark.parametrize("format", ["table", "csv", "json", "trec", "markdown", "latex"])
@pytest.mark.parametrize("names", [list(BY_HAND), list(BY_HAND)[::-1]], ids=["", "reversed"])
def test_each_column_has_the_values_of_its_measure(evaluate, format, names):
    out = evaluate("--per-query", "--format", format, measures=names, runs=["good.txt"])
    found = cells(format, out)
    assert list(found) == ["1", "2", "3", *(["all"] if format != "csv" else [])]
    for qid, row in found.items():
        assert list(row) == names
        for name in names:
            assert float(row[name]) == pytest.approx(BY_HAND[name][qid], abs=5.1e-5), (qid, name)


@pytest.mark.slow
@pytest.mark.parametrize("format", ["table", "csv", "json", "trec", "markdown", "latex"])
def test_each_column_has_the_mean_of_its_measure(evaluate, format):
    out = evaluate("--format", format, measures=list(BY_HAND), runs=["good.txt"])
    numbers = [BY_HAND[name]["all"] for name in BY_HAND]
    if format == "json":
        found = list(json.loads(out)["mean"].items())
    elif format == "trec":
        lines = [line.split() for line in out.splitlines()]
        assert lines[0] == ["runid", "all", "good"]
        found = [(name, float(value)) for name, _, value in lines[1:]]
    else:
        mark = {"csv": ",", "table": None, "markdown": "|", "latex": "&"}[format]
        lines = out.replace("\\_", "_").replace("\\\\", "").splitlines()
        lines = [line.strip("| ").split(mark) for line in lines if mark is None or mark in line]
        lines = [line for line in lines if "---" not in line[0]]
        head, values = ([cell.strip() for cell in line] for line in lines)
        assert (head[0], values[0]) == ("run", "good")
        found = list(zip(head[1:], map(float, values[1:]), strict=True))
    assert [name for name, _ in found] == list(BY_HAND)
    assert [value for _, value in found] == pytest.approx(numbers, abs=5.1e-5)

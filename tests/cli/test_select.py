"""``skfilterrank select``: a table of documents to judge, and every reader of the filled one."""

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judged_documents import DOCS, RUNS, fill, table_of
from skfilterrank.cli.select import STRATEGIES
from skfilterrank.io import read_qrels, read_runs, write_qrels
from skfilterrank.judgments import (
    StatAPSelector,
    assessor_agreement,
    complete_qrels,
    draw_sample,
    estimate,
    rank_table,
)
from skfilterrank.metrics import evaluate_runs
from thinned import thinned

pytestmark = pytest.mark.slow
TEXTS = ["--docs", "docs.jsonl", "--topics", "topics.csv"]
HOSTILE = '=HYPERLINK("x")'
WORDS = ["--gains", "no=0,yes=1"]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Documents, queries and runs of two queries."""
    monkeypatch.chdir(tmp_path)
    docs = [{"docid": name, "title": text[:7], "text": text} for name, text in DOCS.items()]
    Path("docs.jsonl").write_text("".join(json.dumps(each) + "\n" for each in docs))
    Path("topics.csv").write_text("qid,query,narrative\n1,the cats,All of them.\n2,dog,\n")
    for name, documents in RUNS.items():
        lines = [
            f"{qid} Q0 {docno} {rank} {10 - rank} {name}\n"
            for qid in "12"
            for rank, docno in enumerate(documents, 1)
        ]
        Path(f"{name}.run").write_text("".join(lines))
    return tmp_path


QUERIES = [str(number) for number in range(1, 16)]


@pytest.fixture
def many_queries(files):
    """Runs of 15 queries, of which enough documents are judged to complete the labels."""
    for name in RUNS:
        run = Path(f"{name}.run").read_text().splitlines()
        lines = [f"{qid}{line[1:]}\n" for qid in QUERIES for line in run if line[0] == "1"]
        Path(f"{name}.run").write_text("".join(lines))


def test_the_table_has_the_pool_in_the_order_to_judge_it(files, run):
    code, out, err = run("select", "a.run", "b.run", *TEXTS, "--out", "judge.csv")
    assert (code, out) == (0, "")
    assert "without a text in docs.jsonl: 2 of 6 documents: d6, d4\n" in err
    assert err.endswith("12 documents of 2 queries in judge.csv\n")
    table = table_of("judge.csv")
    columns = ["qid", "query", "docno", "text", "inclusion_probability", "label"]
    assert list(table) == columns
    # Queries take turns.
    assert table["qid"].tolist() == ["1", "2"] * 6
    for _, each in table.groupby("qid"):
        assert each["docno"].tolist() == ["d1", "d5", "d2", "d3", "d6", "d4"]
    assert table["query"].unique().tolist() == ["the cats\nAll of them.", "dog"]
    # The title is what the text begins with, and is there once.
    assert table["text"][0] == DOCS["d1"]
    assert set(table["label"]) == set(table["inclusion_probability"]) == {""}


@pytest.mark.parametrize(
    "strategy", [each for each in STRATEGIES if each not in ("sample", "feedback")]
)
def test_every_strategy(files, run, strategy):
    how = ["--strategy", strategy, "--n-per-query", "2", *TEXTS[:2], "--out", "judge.csv"]
    assert run("select", "a.run", "b.run", *how)[0] == 0
    table = pd.read_csv("judge.csv")
    assert table["qid"].tolist() == [1, 2, 1, 2]
    expected = [np.nan] * 4
    if strategy == "random":
        expected = [2 / 6] * 4
    elif strategy == "statap":
        ranks = rank_table(read_runs(["a.run", "b.run"]))
        selector = StatAPSelector(random_state=0).fit(ranks)
        chances = pd.Series(selector.inclusion_probability(n_per_query=2), ranks.index)
        drawn = table[["qid", "docno"]].astype(str)
        expected = chances[pd.MultiIndex.from_frame(drawn)].to_numpy()
    np.testing.assert_array_equal(table["inclusion_probability"], expected)


@pytest.mark.parametrize("size", thinned([["--sample", "30"], [], ["--sample", "0.2"]]))
def test_feedback_goes_on_until_every_query_may_stop(files, run, size):
    rng, words = (
        np.random.default_rng(0),
        {True: ["wing", "lift"], False: ["soup", "salt", "bread"]},
    )
    relevant = {f"d{number}" for number in range(0, 150, 3)}
    names = [f"d{number}" for number in range(150)]
    docs = pd.DataFrame({"docno": names})
    docs["text"] = [" ".join(rng.choice(words[name in relevant], 3)) for name in names]
    docs.to_csv("docs.csv", index=False)
    runs = [f"{qid} Q0 {name} {n} {200 - n} r\n" for qid in "12" for n, name in enumerate(names, 1)]
    Path("r.run").write_text("".join(runs))
    how = ["r.run", "--docs", "docs.csv", "--strategy", "feedback", "--depth", "all"]
    how += size
    code, _, err = run("select", *how, "--out", "judge0.csv")
    assert code == 0
    assert "0 of 2 queries may stop\n" in err
    of_sample = "30 of its random sample not judged" if size else "no random sample so far"
    assert f"query 1: 0 of 150 judged, 0 relevant; {of_sample}\n" in err
    table, n_judged, rounds = table_of("judge0.csv"), 0, 0
    # Queries take turns in what is open, even if only one of them is judged so far.
    fill("judge0.csv", {("1", name): "no" for name in names})
    run("select", *how, "--judged", "judged.csv", *WORDS, "--out", "turns.csv")
    assert table_of("turns.csv")["qid"][:4].tolist() == ["1", "2", "1", "2"]
    while (table["label"] == "").any():
        # What is to be judged comes first, and the labels so far are kept.
        n_open = (table["label"] == "").sum()
        assert (table["label"].iloc[:n_open] == "").all()
        assert len(table) - n_open == n_judged
        assert table["docno"][:n_open].nunique() >= n_open / 2
        fill(f"judge{rounds}.csv", {name: "yes" if name in relevant else "no" for name in names})
        n_judged, rounds = len(table), rounds + 1
        judged = ["--judged", "judged.csv", *WORDS, "--out", f"judge{rounds}.csv"]
        code, _, err = run("select", *how, *judged)
        assert code == 0
        table = table_of(f"judge{rounds}.csv")
    assert "recall of at least 0.8 in the pool, with confidence 0.95: 2 of 2 queries may" in err
    assert "no round asks for" not in err
    assert rounds > 2
    assert len(table) < 290
    for _, each in table.groupby("qid"):
        assert (each["label"] == "yes").sum() >= 40
    # The sample cannot do it for a higher recall, and can for a lower confidence.
    again = ["--judged", "judged.csv", *WORDS]
    for target in ("0.99", "1"):
        run("select", *how, *again, "--target-recall", target, "--out", "more.csv")
        assert (table_of("more.csv")["label"] == "").any()
    *_, err = run("select", *how, *again, "--confidence-level", "0.5", "--out", "more.csv")
    assert "with confidence 0.5: 2 of 2 queries may stop: 1, 2\n" in err
    # Another seed draws another sample, and asks for other documents.
    *_, err = run("select", *how, *again, "--random-state", "1", "--out", "more.csv")
    assert "labels of --judged that no round asks for. They count. If runs or options" in err
    # Labels of other documents are told.
    with open("judged.csv", "a") as file:
        file.write("3,d1,,,yes\n")
    *_, err = run("select", *how, *again, "--out", "other.csv")
    assert "left out: 1 label of --judged outside of the pool\n" in err


def test_numbers_of_documents(files, run):
    def n_rows(*how):
        assert run("select", "a.run", "b.run", *how, "--out", "judge.csv")[0] == 0
        return table_of("judge.csv").groupby("qid").size().tolist()

    assert n_rows("--n-per-query", "3") == [3, 3]
    assert n_rows("--n-total", "5") == [3, 2]
    assert n_rows("--depth", "1") == [2, 2]
    # All of the pool, in random order, is no sample.
    assert n_rows("--strategy", "random") == [6, 6]
    assert set(table_of("judge.csv")["inclusion_probability"]) == {""}


def test_judged_documents_are_left_out_or_keep_their_labels(files, run):
    run("select", "a.run", "b.run", "--out", "judge.csv")
    fill("judge.csv", {("1", "d1"): "yes", ("1", "d5"): "no", ("2", "d2"): "yes"})
    more = ["select", "a.run", "b.run", "--judged", "judged.csv", *WORDS, "--out", "more.csv"]
    assert run(*more, "--n-per-query", "2")[0] == 0
    table = table_of("more.csv")
    assert table["docno"].tolist() == ["d2", "d1", "d3", "d5"]
    assert set(table["label"]) == {""}
    run(*more, "--strategy", "random", "--n-per-query", "5")
    labels = table_of("more.csv").set_index(["qid", "docno"])["label"]
    assert labels[labels != ""].isin(["yes", "no"]).all()
    assert labels.get(("2", "d2"), "yes") == "yes"


def test_a_table_of_everything_judged(files, run):
    run("select", "a.run", "--out", "judge.csv")
    fill("judge.csv", dict.fromkeys(DOCS, 0))
    code, _, err = run("select", "a.run", "--judged", "judged.csv", "--out", "more.csv")
    assert code == 2
    assert "all documents of the pool are judged" in err
    assert not Path("more.csv").exists()


# Every way to save a table that was filled in.
SAVED = {
    "comma": {},
    "semicolon": {"sep": ";", "decimal": ",", "encoding": "utf-8-sig", "lineterminator": "\r\n"},
    "other columns": {"columns": ["label", "text", "docno", "query", "qid"]},
    "quotes": {"quoting": 1},
}


@pytest.mark.filterwarnings("default:only 45 documents are judged")
@pytest.mark.parametrize("how", thinned(SAVED, turn=1, parts=4))
def test_every_reader_takes_the_filled_table(many_queries, run, how):
    run("select", "a.run", "b.run", *TEXTS, "--out", "judge.csv")
    labels = {"d1": "yes", "d2": "no", "d5": "no"}
    fill("judge.csv", labels, **SAVED[how])
    qrels = read_qrels("judged.csv", gains={"no": 0, "yes": 1})
    assert len(qrels) == 90
    found = qrels.dropna().set_index(["qid", "docno"])["label"]
    assert found.to_dict() == {(q, d): labels[d] == "yes" for q in QUERIES for d in labels}
    write_qrels("judged.txt", qrels.dropna())
    runs, texts = ["a.run", "b.run"], ["--docs", "docs.jsonl", "--n-draws", "4", "--out", "-"]
    for words in ("evaluate {} a.run -m ap", "compare {} a.run b.run -m ap"):
        code, out, _ = run(*words.format("judged.csv").split(), *WORDS)
        assert (code, out) == run(*words.format("judged.txt").split())[:2]
    code, out, _ = run("complete", "judged.csv", *runs, *texts, *WORDS)
    assert (code, out) == run("complete", "judged.txt", *runs, *texts)[:2]
    assert code == 0


@pytest.mark.filterwarnings("default:only 45 documents are judged")
def test_complete_takes_gains_of_numbers(many_queries, run):
    lines = [f"{qid} 0 d1 4\n{qid} 0 d2 1\n{qid} 0 d3 1\n" for qid in QUERIES]
    Path("codes.txt").write_text("".join(lines))
    words = ["complete", "codes.txt", "a.run", "b.run", "--n-draws", "2", "--out", "-", "--gains"]
    assert "1,d1,0,people,\n1,d2,2,people,\n1,d3,2,people,\n" in run(*words, "4=0,1=2")[1]


def test_labels_that_are_no_numbers_are_told_with_their_line(files, run):
    run("select", "a.run", "--out", "judge.csv")
    fill("judge.csv", {"d2": "perhaps"})
    code, _, err = run("evaluate", "judged.csv", "a.run")
    assert code == 2
    assert "judged.csv:4: the row holds 'perhaps' in column 'label', but a number" in err


def test_json_lines_as_labelling_tools_write_them(files, run):
    run("select", "a.run", "--n-per-query", "2", *TEXTS, "--out", "judge.jsonl")
    rows = [json.loads(line) for line in Path("judge.jsonl").read_text().splitlines()]
    assert rows[0] == {
        "qid": "1",
        "query": "the cats\nAll of them.",
        "docno": "d1",
        "text": DOCS["d1"],
        "inclusion_probability": None,
        "label": None,
    }
    rows = [row | {"id": place, "label": ["yes"] * (place < 3)} for place, row in enumerate(rows)]
    Path("judged.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = read_qrels("judged.jsonl", gains={"yes": 1})
    np.testing.assert_array_equal(found["label"], [1, 1, 1, np.nan])
    # Label Studio's CSV has a column for the person and for the time.
    table = pd.DataFrame(rows).assign(label="yes", annotator=7, created_at="2026-11-28")
    table.drop(columns="inclusion_probability").to_csv("studio.csv", index=False)
    assert read_qrels("studio.csv", gains={"yes": 1})["label"].tolist() == [1] * 4


def test_any_text_stays_text(files, run):
    texts = [HOSTILE, "a,b;c\"d\"\n'e'\r\nf", "nul \x00 \u202e <script>", "x" * 40_000]
    docs = [{"id": f"d{place}", "text": text} for place, text in enumerate(texts)]
    Path("odd.jsonl").write_text("".join(json.dumps(each) + "\n" for each in docs))
    lines = [f'=1+1,"{each["id"]}",1' for each in docs]
    Path("odd.csv").write_text("\n".join(["qid,docno,score", *lines]) + "\n")
    words = ["select", "odd.csv", "--docs", "odd.jsonl", "--out"]
    for name in ("judge.csv", "judge.jsonl.gz"):
        assert run(*words, name)[0] == 0
    rows = pd.read_json("judge.jsonl.gz", lines=True).set_index("docno")["text"]
    expected = [HOSTILE, "a,b;c\"d\"\n'e'\nf", "nul \ufffd \u202e <script>", "x" * 30_000]
    assert rows.sort_index().tolist() == expected
    # A spreadsheet would compute with a text that begins with "=".
    table = table_of("judge.csv").set_index("docno").sort_index()
    assert table["text"].tolist() == [f"'{HOSTILE}", *expected[1:]]
    assert set(table["qid"]) == {"'=1+1"}
    assert set(read_qrels("judge.csv")["qid"]) == {"=1+1"}


def test_two_assessors_are_two_tables(files, run):
    run("select", "a.run", "b.run", "--out", "judge.csv")
    fill("judge.csv", {"d1": 2, "d2": 0, "d3": 1}, to="anna.csv")
    fill("judge.csv", {"d1": 2, "d2": 1}, to="bob.csv", sep=";")
    found = assessor_agreement(["anna.csv", "bob.csv"])
    assert found.pairs["n_both"].tolist() == [4]
    assert found.disagreements.index.tolist() == [("1", "d2"), ("2", "d2")]


MACHINE = ["--machine-qrels", "llm.txt", "-m", "dcg@10"]


def test_a_sample_keeps_its_probabilities(run, sampled_folder, sampled_runs, people):
    how = ["--strategy", "sample", "--n-total", "150", *MACHINE]
    assert run("select", *sampled_runs, *how, "--out", "judge.csv")[0] == 0
    drawn = draw_sample(read_qrels("llm.txt"), sampled_runs, "dcg@10", n_total=150, random_state=0)
    fill("judge.csv", people, sep=";", decimal=",")
    read = read_qrels("judged.csv")
    columns = ["qid", "docno", "inclusion_probability"]
    pd.testing.assert_frame_equal(read[columns], drawn[columns])
    machine = {"machine_qrels": {"llm": read_qrels("llm.txt")}}
    values = estimate("judged.csv", sampled_runs, "dcg@10", **machine).to_frame()
    expected = estimate(drawn.assign(label=read["label"]), sampled_runs, "dcg@10", **machine)
    pd.testing.assert_frame_equal(values, expected.to_frame())
    code, _, err = run("evaluate", "judged.csv", *sampled_runs)
    assert code == 2
    assert "is a sample with inclusion probabilities below 1" in err


@pytest.mark.filterwarnings("always::skfilterrank.exceptions.DataWarning")
def test_a_sample_goes_on_or_ends_early(run, sampled_folder, sampled_runs, people):
    words = ["select", *sampled_runs, "--strategy", "sample", *MACHINE]
    run(*words, "--n-total", "150", "--out", "judge.csv")
    table = table_of("judge.csv")
    pairs = list(zip(table["qid"], table["docno"]))
    first = {pair: people[pair] for pair in pairs[:100]}
    fill("judge.csv", first)
    # Rows without a label are not left out in silence.
    machine = {"machine_qrels": "llm.txt"}
    with pytest.warns(match="50 documents without a label"):
        estimate("judged.csv", sampled_runs, "dcg@10", **machine)
    # The first ones are a smaller sample, with probabilities of its own.
    again = ["--judged", "judged.csv", "--out", "again.csv"]
    _, _, err = run(*words, "--n-total", "100", *again)
    assert "100 documents of 30 queries in again.csv, 100 of them judged" in err
    small = table_of("again.csv")
    assert list(zip(small["qid"], small["docno"])) == pairs[:100]
    assert small["label"].tolist() == list(first.values())
    expected = draw_sample(
        read_qrels("llm.txt"), sampled_runs, "dcg@10", n_total=100, random_state=0
    )["inclusion_probability"]
    assert small["inclusion_probability"].astype(float).tolist() == expected.tolist()
    with warnings.catch_warnings(action="error"):
        estimate("again.csv", sampled_runs, "dcg@10", **machine)
    _, _, err = run(*words, "--n-total", "90", "--judged", "judged.csv", "--out", "o.csv")
    assert "left out: 10 labels of --judged outside of this sample" in err
    run(*words, "--n-total", "200", *again)
    large = table_of("again.csv")
    assert list(zip(large["qid"], large["docno"]))[:150] == pairs
    assert (large["label"] != "").sum() == 100


def test_a_sample_without_a_machine_needs_no_pool(run, sampled_folder, sampled_runs, people):
    words = ["select", *sampled_runs, "--strategy", "sample", "-m", "dcg@10", "--n-total", "150"]
    assert run(*words, "--out", "judge.csv")[0] == 0
    fill("judge.csv", people)
    pool = rank_table(read_runs(sampled_runs)).index.to_frame(index=False)
    assert estimate("judged.csv", sampled_runs, "dcg@10", pool=pool).n_judged == 150


def test_judgments_that_are_no_sample_are_kept_beside_one(run, sampled_folder, sampled_runs):
    write_qrels("few.txt", read_qrels("all.txt")[:20])
    words = ["--strategy", "sample", "--n-total", "150", "--judged", "few.txt", *MACHINE]
    assert run("select", *sampled_runs, *words, "--out", "judge.csv")[0] == 0
    table = pd.read_csv("judge.csv")
    assert table["label"].notna().sum() == 20
    assert (table["inclusion_probability"][:20] == 1).all()
    assert len(table) == 170


def test_drawn_documents_without_a_label_are_told(files, run):
    how = ["--strategy", "statap", "--n-per-query", "4", "--out", "judge.csv"]
    run("select", "a.run", "b.run", *how)
    labels = dict.fromkeys(RUNS["a"] + RUNS["b"], 0)
    fill("judge.csv", labels | {"d2": 1})
    _, _, err = run("evaluate", "judged.csv", "a.run", "-m", "stat_ap")
    assert "without a label" not in err
    # A smaller sample does not have all of what is judged.
    how[how.index("4")] = "1"
    *_, err = run("select", "a.run", "b.run", *how, "--judged", "judged.csv")
    n_outside = len(table_of("judged.csv")) - (table_of("judge.csv")["label"] != "").sum()
    assert f"left out: {n_outside} labels of --judged outside of this sample\n" in err
    table = table_of("judged.csv")
    table.loc[2, "label"] = ""
    table.to_csv("judged.csv", index=False)
    _, _, err = run("evaluate", "judged.csv", "a.run", "-m", "stat_ap")
    assert "qrels has 1 documents with an inclusion probability and without a label" in err
    with pytest.warns(match="If they were drawn, values are wrong"):
        evaluate_runs("judged.csv", ["a.run"], "stat_ap")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("a.run", "name the table by --out, or the page by --page"),
        ("a.run --out j.txt", "--out j.txt must end in .csv or .jsonl"),
        ("--out j.csv", "missing RUN"),
        ("a.run --strategy maxrep --out j.csv", "--strategy maxrep compares texts. Add --docs"),
        ("a.run --strategy mtf --out j.csv", "expected pooling, maxrep, random, statap, sample"),
        ("a.run --docs docs.jsonl --text words --out j.csv", "there is no column 'words'"),
        ("a.run --n-per-query 2 --n-total 2 --out j.csv", "are sizes. Give one"),
        ("a.run --n-total 0.5 --out j.csv", "expected a whole number from 1 up"),
        ("a.run --strategy sample --n-per-query 2 --out j.csv", "is drawn over all queries"),
        ("a.run --strategy sample --out j.csv", "Give --n-total"),
        ("a.run --strategy feedback --out j.csv", "--strategy feedback compares texts. Add --docs"),
        (
            "a.run --docs docs.jsonl --strategy feedback --n-total 9 --out j.csv",
            "--n-total is not for feedback, whose rounds have their own sizes. Give --sample.",
        ),
        (
            "a.run --docs docs.jsonl --strategy feedback --n-per-query 9 --out j.csv",
            "--n-per-query is not for feedback, whose rounds have their own sizes",
        ),
        ("a.run --sample 9 --out j.csv", "--sample is for finding everything"),
        ("a.run --confidence-level 0.9 --out j.csv", "is for finding everything"),
        ("a.run --sample 1.5 --out j.csv", "expected auto, a whole number or a share such as 0.2"),
        ("a.run --sample some --out j.csv", "expected auto, a whole number or a share such as 0.2"),
        ("a.run --target-recall 0.9 --out j.csv", "--target-recall is for finding everything"),
        ("a.run --target-recall 1.5 --out j.csv", "expected a number above 0, at most 1"),
        *[
            (
                f"a.run --docs docs.csv --strategy {strategy} --out j.csv",
                "--docs docs.csv has no text of a document of the runs: its ids are such as '0001'",
            )
            for strategy in ("maxrep", "feedback")
        ],
        (
            "a.run --judged drawn.csv --out j.csv",
            "--judged holds drawn label sets (column 'draw'): give the judgments before",
        ),
    ],
)
def test_bad_arguments(files, run, arguments, message):
    Path("docs.csv").write_text("docno,text\n0001,the cats\n")
    Path("drawn.csv").write_text("qid,docno,label,draw\n1,d1,1,0\n1,d1,0,1\n")
    before = sorted(Path().iterdir())
    code, out, err = run("select", *arguments.split())
    assert (code, out) == (2, "")
    assert message in err
    assert sorted(Path().iterdir()) == before


def test_completing_a_table_in_python(many_queries, run):
    run("select", "a.run", *TEXTS, "--out", "judge.csv")
    fill("judge.csv", {"d1": "yes", "d2": "no"})
    qrels = read_qrels("judged.csv", gains={"no": 0, "yes": 1})
    with pytest.warns(match="only 30 documents are judged"):
        completed = complete_qrels(qrels, ["a.run"], random_state=0)
    judges = completed.to_frame()["judged_by"].value_counts()
    assert judges["people"] == 30
    assert judges["drawn"] == 20 * completed.n_drawn > 0

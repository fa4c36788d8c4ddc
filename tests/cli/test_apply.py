"""``skfilterrank apply``: lists of a saved model or threshold."""

import io
import json
import shutil
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from skfilterrank.cli import main
from skfilterrank.io import read_run, write_qrels
from skfilterrank.thresholds import ExpectedThreshold, FirstK, PerQueryThreshold, TunedThreshold
from thinned import thinned

pytestmark = pytest.mark.slow


def write(table, path, first, last):
    """Write the rows of some queries, as the working folder has them."""
    table[table["qid"].str[1:].astype(int).between(first, last)].to_csv(path, index=False)


@pytest.fixture(scope="module")
def trained(tmp_path_factory, table):
    """A folder with a model and its run of the rows of test.csv."""
    folder = tmp_path_factory.mktemp("trained")
    train, test, model, lists = (
        str(folder / name) for name in ("train.csv", "test.csv", "m.joblib", "a.txt")
    )
    write(table, train, 0, 49)
    write(table, test, 50, 79)
    job = ["rank-filter", train, "--test-data", test, "--gains", "Bad=-1,Ok=1,Good=2"]
    job += ["--models", "bce", "--learner", "linear", "--save", model, "--out-run", lists]
    assert main(job) == 0
    return folder


@pytest.fixture
def model(trained, folder):
    """The model and its run, in the working folder."""
    for name in ("m.joblib", "a.txt"):
        shutil.copy(trained / name, folder)
    return "m.joblib"


def test_apply_agrees_with_the_run_of_the_comparison(model, run, folder):
    expected = (folder / "a.txt").read_text()
    assert run("apply", model, "test.csv", "--out", "b.txt")[0] == 0
    assert (folder / "b.txt").read_text() == expected
    code, out, err = run("apply", model, "test.csv")
    assert (code, out) == (0, expected)
    assert err.endswith("queries left empty\n")
    assert run("apply", model, "test.csv", "--quiet") == (0, expected, "")


def test_labels_and_other_columns_are_not_needed(model, run, folder):
    test = pd.read_csv("test.csv", dtype={"docno": str})
    test.drop(columns=["label", "color"]).to_csv("bare.csv", index=False)
    assert run("apply", model, "bare.csv", "--quiet")[1] == (folder / "a.txt").read_text()
    test.sample(frac=1, random_state=0).to_csv("shuffled.csv", index=False)
    assert run("apply", model, "shuffled.csv", "--quiet")[1] == (folder / "a.txt").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["trees", pytest.param("blend", marks=pytest.mark.nightly)])
def test_texts(run, folder, texts, learner):
    texts = texts[:60]
    is_train = texts["qid"].str.len() == 3
    texts[is_train].to_json("train.jsonl", orient="records", lines=True)
    texts[~is_train].to_json("test.jsonl", orient="records", lines=True)
    texts[~is_train].drop(columns="label").to_parquet("test.parquet", index=False)
    code, _, err = run(
        "rank-filter", "train.jsonl", "--test-data", "test.jsonl", "--gains", "Bad=-1,Good=1",
        "--models", "bce", "--learner", learner, "--save", "m.joblib", "--out-run", "a.txt",
        "--threshold", "0.1",
    )  # fmt: skip
    assert code == 0
    assert "warning" not in err
    assert run("apply", "m.joblib", "test.parquet", "--out", "b.txt")[0] == 0
    assert (folder / "a.txt").read_text() == (folder / "b.txt").read_text()


def test_files_that_are_no_models(model, run, folder):
    (folder / "words.joblib").write_text("hello")
    (folder / "empty.joblib").touch()
    joblib.dump(LogisticRegression().fit([[0.0], [1.0]], [0, 1]), "other.joblib")
    (folder / "cut.joblib").write_bytes((folder / model).read_bytes()[:900])
    for name, message in (
        ("no.joblib", "no.joblib: No such file or directory"),
        (
            "words.joblib",
            "words.joblib: it is neither a model of 'skfilterrank rank-filter --save' nor",
        ),
        ("empty.joblib", "empty.joblib: it is neither a model"),
        ("other.joblib", "other.joblib: holds a model that was not saved by 'skfilterrank rank-fi"),
        ("train.csv", "train.csv: it is neither a model"),
        ("cut.joblib", "cut.joblib: the model is damaged, or was written with other versions of"),
    ):
        code, out, err = run("apply", name, "test.csv")
        assert (code, out) == (2, "")
        assert message in err
        assert err.count("\n") == 1


def test_columns_of_rows_are_named(run, folder, table):
    """The model knows the names in its training file; those of other rows are given."""
    named = {"qid": "question", "docno": "answer", "label": "verdict"}
    table = table.rename(columns=named)
    table[:60].to_csv("train.csv", index=False)
    table[60:90].to_csv("test.csv", index=False)
    table[60:90].rename(columns={"question": "q"}).to_csv("other.csv", index=False)
    columns = "qid=question,docno=answer,label=verdict"
    code, _, err = run(
        "rank-filter", "train.csv", "--columns", columns, "--gains", "Bad=-1,Ok=1,Good=2",
        "--models", "bce", "--learner", "linear", "--threshold", "none", "--save", "m.joblib",
        "--cv", "2",
    )  # fmt: skip
    assert (code, "verdict" in err) == (0, False)
    code, out, _ = run("apply", "m.joblib", "test.csv")
    assert code == 0
    assert {line.split()[2] for line in out.splitlines()} == set(table["answer"][60:90])
    code, _, err = run("apply", "m.joblib", "other.csv")
    assert code == 2
    assert "no column 'question'; " in err
    assert " Name each by --columns, such as qid=q, or rename it" in err
    assert run("apply", "m.joblib", "other.csv", "--columns", "qid=q")[:2] == (0, out)
    # New rows may lack document ids.
    table[60:90].drop(columns="answer").to_csv("bare.csv", index=False)
    code, bare, _ = run("apply", "m.joblib", "bare.csv", "--format", "csv")
    assert (code, bare.count("\n")) == (0, 31)
    code, _, err = run("rank-filter", "train.csv", "--columns", "qid=question,score=f1")
    assert code == 2
    assert (
        "--columns of judged rows must have keys among 'qid', 'label', 'docno', got 'score'" in err
    )


def test_rows_that_do_not_fit_the_model(model, run, folder):
    test = pd.read_csv("test.csv")
    test.drop(columns="f1").to_csv("narrow.csv", index=False)
    test.assign(f1="high").to_csv("words.csv", index=False)
    (folder / "rows.txt").write_text("0 qid:1 1:0.5\n")
    for name, message in (
        ("no.csv", "no.csv: No such file or directory"),
        ("narrow.csv", "narrow.csv has no column 'f1' to learn from; its columns are"),
        ("words.csv", "words.csv: column 'f1' must hold numbers"),
        ("rows.txt", "rows.txt is read as LETOR text, but the model learns from a table"),
    ):
        code, out, err = run("apply", model, name)
        assert (code, out) == (2, "")
        assert message in err


def shown(run_file):
    """The lists of a TREC run as rows."""
    names = ["qid", "Q0", "docno", "rank", "score", "run"]
    rows = pd.read_csv(run_file, sep=" ", names=names, dtype={"docno": str}, keep_default_na=False)
    return rows.drop(columns="Q0")


def listed(file):
    """What a CSV file of lists shows, as rows of a run; what it hides has no rank and no score."""
    rows = pd.read_csv(file, dtype={"docno": str})
    hidden = rows[~rows["shown"]]
    assert (hidden["rank"] == 0).all()
    assert hidden["score"].isna().all()
    return rows[rows["shown"]].drop(columns="shown").reset_index(drop=True)


def test_lists_in_other_formats(model, run, folder):
    expected = shown("a.txt").drop(columns="run")
    assert run("apply", model, "test.csv", "--out", "b.csv.gz")[0] == 0
    pd.testing.assert_frame_equal(listed("b.csv.gz"), expected)
    code, out, err = run("apply", model, "test.csv", "--format", "csv")
    assert code == 0
    assert len(pd.read_csv(io.StringIO(out))) == len(pd.read_csv("test.csv"))
    assert err == run("apply", model, "test.csv")[2]
    assert run("apply", model, "test.csv", "--out", "b.jsonl")[0] == 0
    rows = pd.read_json("b.jsonl", lines=True, dtype={"docno": str}, precise_float=True)
    pd.testing.assert_frame_equal(rows, pd.read_csv("b.csv.gz", dtype={"docno": str}))
    # Readers of runs take hidden documents for not retrieved, and --format comes before the name.
    assert run("apply", model, "test.csv", "--out", "c.csv", "--format", "trec")[0] == 0
    pd.testing.assert_frame_equal(shown("c.csv").drop(columns="run"), expected)
    scores = read_run("b.jsonl").set_index(["qid", "docno"])["score"]
    assert scores[scores > -np.inf].tolist() == expected["score"].tolist()


def test_ties_stand_in_every_format_as_in_a_run(model, run, folder):
    test = pd.read_csv("test.csv", dtype={"docno": str})
    test[["f0", "f1", "f2", "f3"]] = test[["f0", "f1", "f2", "f3"]].iloc[0].to_numpy()
    test.to_csv("ties.csv", index=False)
    assert run("apply", model, "ties.csv", "--out", "ties.run")[0] == 0
    assert run("apply", model, "ties.csv", "--out", "lists.csv")[0] == 0
    expected = shown("ties.run").drop(columns="run")
    pd.testing.assert_frame_equal(listed("lists.csv"), expected)


def test_ids_that_no_run_carries(model, run, folder):
    test = pd.read_csv("test.csv", dtype={"docno": str})
    test["qid"] = "what is " + test["qid"]
    test.to_csv("blanks.csv", index=False)
    code, out, err = run("apply", model, "blanks.csv")
    assert (code, out) == (2, "")
    assert "but ids in a TREC file must not" in err
    assert err.endswith("(--format csv or json takes any id.)\n")
    assert run("apply", model, "blanks.csv", "--out", "b.csv")[0] == 0
    lists = listed("b.csv")
    lists["qid"] = lists["qid"].str.removeprefix("what is ")
    pd.testing.assert_frame_equal(lists, shown("a.txt").drop(columns="run"))


# Labels below 0 are told of, as they may mean something else.
pytestmark = pytest.mark.filterwarnings("always::skfilterrank.exceptions.DataWarning")


@pytest.fixture
def harmful(data):
    """The run as a table with a second score, which tells forbidden documents roughly."""
    harm = np.random.default_rng(0).normal(size=len(data)) - data["label"]
    table = data.assign(harm=harm)
    table.drop(columns="label").to_csv("run.csv", index=False)
    return table


def test_a_threshold_of_two_scores_is_for_python(run, harmful):
    scores = np.column_stack([harmful["score"], harmful["harm"]])
    cut = TunedThreshold("ndcg_f@3").fit(scores, harmful["label"], groups=harmful["qid"])
    cut.save("two.json")
    code, _, err = run("apply", "two.json", "run.txt")
    assert code == 2
    assert "two.json hides by two scores, and a run has one. Load it in Python" in err


@pytest.mark.slow
def test_what_was_not_retrieved_is_no_part_of_a_list(run, data):
    # Judgments of many more documents than the run has.
    more = data.assign(docno="x" + data["docno"])
    write_qrels("all.txt", pd.concat([data, more, more.assign(docno="y" + data["docno"])]))
    assert run("threshold", "all.txt", "run.txt", "--k", 3, "--save", "filter.json")[0] == 0
    code, _, err = run("apply", "filter.json", "run.txt")
    assert code == 0
    assert "other sizes" not in err


def test_files_that_are_no_filter(run, data):
    code, _, err = run("apply", "qrels.txt", "run.txt")
    assert code == 2
    assert "qrels.txt" in err
    run("threshold", "qrels.txt", "run.txt", "--k", 3, "--save", "filter.json")
    with open("filter.json", encoding="utf-8") as file:
        text = file.read()
    with open("filter.json", "w", encoding="utf-8") as file:
        file.write(text.replace("ndcg_f@3", "ndcg_f@4"))
    code, _, err = run("apply", "filter.json", "run.txt")
    assert code == 2
    assert "filter.json" in err
    assert "was changed after it was written" in err


GAINS = "--gains=-1=-1,0=0,1=1,2=2"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "threshold"),
    [
        ("--threshold first_k", FirstK("ndcg_f@3")),
        ("--min-shown 1", TunedThreshold("ndcg_f@3", min_shown=1)),
        *thinned(
            [
                ("--threshold per_query --max-shown 4", PerQueryThreshold("ndcg_f@3", max_shown=4)),
                ("--threshold expected", ExpectedThreshold("ndcg_f@3")),
            ],
            parts=2,
        ),
    ],
)
def test_cuts_by_list_are_those_of_the_library(run, data, options, threshold):
    made = ["threshold", "qrels.txt", "run.txt", "--k", 3, GAINS, *options.split()]
    code, out, err = run(*made, "--save", "filter.json")
    assert code == 0, err
    threshold.fit(data["score"], data["label"], groups=data["qid"])
    head, line = out.splitlines()
    assert head.split()[-2:] == ["held", "out"]
    assert float(line.split()[-1]) == pytest.approx(
        threshold.held_out_.loc["threshold", "value"], abs=1e-4
    )
    expected = threshold.predict(data["score"], groups=data["qid"])
    code, out, err = run("apply", "filter.json", "run.txt")
    assert code == 0, err
    shown = read_run(io.BytesIO(out.encode()))
    assert set(shown["docno"]) == set(data["docno"][expected > -np.inf])


# Ten folds.
@pytest.mark.nightly
def test_a_cut_that_learns_from_lists(run, data):
    made = ["threshold", "qrels.txt", "run.txt", "--k", 3, "--threshold", "learned"]
    code, out, err = run(*made, "--save", "filter.json", "--format", "json")
    assert code == 0, err
    code, shown, err = run("apply", "filter.json", "run.txt", "--quiet")
    assert code == 0, err
    assert len(shown.splitlines()) == json.loads(out)["n_shown"]


@pytest.mark.slow
def test_rows_of_a_filtered_run(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("run.txt").write_text(
        "1 Q0 a 1 0.2 x\n1 Q0 b 2 0.9 x\n1 Q0 c 3 0.5 x\n1 Q0 d 4 0.9 x\n2 Q0 a 1 0.1 x\n"
    )
    Path("qrels.txt").write_text("1 0 a 1\n2 0 a 1\n")
    made = ["threshold", "qrels.txt", "run.txt", "--threshold", "0.5", "--save", "filter.json"]
    assert run(*made)[0] == 0
    code, out, err = run("apply", "filter.json", "run.txt", "--format", "csv")
    assert code == 0
    # What is shown of a query comes first, equal scores by the greater id.
    assert out == (
        "qid,docno,rank,score,shown\n1,d,1,0.9,True\n1,b,2,0.9,True\n1,c,3,0.5,True\n"
        "1,a,0,0.2,False\n2,a,0,0.1,False\n"
    )
    assert err == "3 documents, 2 hidden, 1 query left empty\n"
    lines = run("apply", "filter.json", "run.txt", "--format", "json")[1].splitlines()
    assert json.loads(lines[1]) == {
        "qid": "1", "docno": "b", "rank": 2, "score": 0.9, "shown": True
    }  # fmt: skip
    out = run("apply", "filter.json", "run.txt")[1]
    assert [line.split()[2:5] for line in out.splitlines()] == [
        ["d", "1", "0.9"], ["b", "2", "0.9"], ["c", "3", "0.5"],
    ]  # fmt: skip

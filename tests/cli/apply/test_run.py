"""``skfilterrank apply``: the lists of a saved model."""

import shutil

import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from skfilterrank.cli import main
from skfilterrank.io import save_model

pytestmark = pytest.mark.slow


def write(table, path, first, last):
    """Write the rows of some queries, as the working folder has them."""
    table[table["qid"].str[1:].astype(int).between(first, last)].to_csv(path, index=False)


@pytest.fixture(scope="module")
def trained(tmp_path_factory, table):
    """A folder with a model and its run of the rows of test.csv."""
    folder = tmp_path_factory.mktemp("trained")
    train, test, model, lists = (
        str(folder / name) for name in ("train.csv", "test.csv", "m.skops", "a.txt")
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
    for name in ("m.skops", "a.txt"):
        shutil.copy(trained / name, folder)
    return "m.skops"


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


@pytest.mark.parametrize("learner", ["trees", pytest.param("blend", marks=pytest.mark.nightly)])
def test_texts(run, folder, texts, learner):
    texts = texts[:60]
    is_train = texts["qid"].str.len() == 3
    texts[is_train].to_json("train.jsonl", orient="records", lines=True)
    texts[~is_train].to_json("test.jsonl", orient="records", lines=True)
    texts[~is_train].drop(columns="label").to_parquet("test.parquet", index=False)
    code, _, err = run(
        "rank-filter", "train.jsonl", "--test-data", "test.jsonl", "--gains", "Bad=-1,Good=1",
        "--models", "bce", "--learner", learner, "--save", "m.skops", "--out-run", "a.txt",
        "--threshold", "0.1",
    )  # fmt: skip
    assert code == 0
    assert "warning" not in err
    assert run("apply", "m.skops", "test.parquet", "--out", "b.txt")[0] == 0
    assert (folder / "a.txt").read_text() == (folder / "b.txt").read_text()


def test_files_that_are_no_models(model, run, folder):
    (folder / "words.skops").write_text("hello")
    (folder / "empty.skops").touch()
    save_model(LogisticRegression().fit([[0.0], [1.0]], [0, 1]), "other.skops")
    for name, message in (
        ("no.skops", "no.skops: No such file or directory"),
        ("words.skops", "words.skops: the file is not a model written by save_model"),
        ("empty.skops", "empty.skops: the file is not a model"),
        ("other.skops", "other.skops: holds a model that was not saved by 'skfilterrank rank-fil"),
        ("train.csv", "train.csv: the file is not a model"),
    ):
        code, out, err = run("apply", name, "test.csv")
        assert (code, out) == (2, "")
        assert message in err
        assert err.count("\n") == 1


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


def test_lists_in_other_formats(model, run, folder):
    expected = shown("a.txt")
    assert run("apply", model, "test.csv", "--out", "b.csv.gz")[0] == 0
    pd.testing.assert_frame_equal(pd.read_csv("b.csv.gz", dtype={"docno": str}), expected)
    code, out, err = run("apply", model, "test.csv", "--format", "csv")
    assert (code, out) == (0, expected.to_csv(index=False, lineterminator="\n"))
    assert err == run("apply", model, "test.csv")[2]
    assert run("apply", model, "test.csv", "--out", "b.jsonl")[0] == 0
    rows = pd.read_json("b.jsonl", lines=True, dtype={"docno": str}, precise_float=True)
    pd.testing.assert_frame_equal(rows, expected)
    # What is said comes before what the name says.
    assert run("apply", model, "test.csv", "--out", "c.csv", "--format", "trec")[0] == 0
    pd.testing.assert_frame_equal(shown("c.csv"), expected)


def test_ties_stand_in_every_format_as_in_a_run(model, run, folder):
    test = pd.read_csv("test.csv", dtype={"docno": str})
    test[["f0", "f1", "f2", "f3"]] = test[["f0", "f1", "f2", "f3"]].iloc[0].to_numpy()
    test.to_csv("ties.csv", index=False)
    assert run("apply", model, "ties.csv", "--out", "ties.run")[0] == 0
    assert run("apply", model, "ties.csv", "--out", "lists.csv")[0] == 0
    pd.testing.assert_frame_equal(pd.read_csv("lists.csv", dtype={"docno": str}), shown("ties.run"))


def test_ids_that_no_run_carries(model, run, folder):
    test = pd.read_csv("test.csv", dtype={"docno": str})
    test["qid"] = "what is " + test["qid"]
    test.to_csv("blanks.csv", index=False)
    code, out, err = run("apply", model, "blanks.csv")
    assert (code, out) == (2, "")
    assert "which a TREC file cannot carry" in err
    assert err.endswith("(--format csv or json takes any id.)\n")
    assert run("apply", model, "blanks.csv", "--out", "b.csv")[0] == 0
    lists = pd.read_csv("b.csv", dtype={"docno": str})
    lists["qid"] = lists["qid"].str.removeprefix("what is ")
    pd.testing.assert_frame_equal(lists, shown("a.txt"))

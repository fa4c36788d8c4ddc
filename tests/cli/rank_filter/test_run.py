"""The job from files to a table, a run, a picture and a model."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.io import load_model
from skfilterrank.metrics import ndcg_f_score

pytestmark = pytest.mark.slow

GAINS = {"Bad": -1, "Ok": 1, "Good": 2}


def systems(out):
    """Names in the printed table, with the marks."""
    body = out.split("\n\n")[0].splitlines()[3:]
    return [re.match(r"\s*\S+( \*)?", line)[0].strip() for line in body]


def test_the_table_is_all_of_the_output(train):
    code, out, err = train("--test-data", "test.csv")
    assert code == 0
    assert systems(out) == ["bce *", "rank-only", "filter-only", "filter-all"]
    assert max(map(len, out.splitlines())) <= 100
    assert "against rank-only (bce), paired t test" in out
    assert "* best by cross-validation on train.csv: 0." in out
    assert "train.csv: " in err
    assert "labels Ok: " in err
    assert "columns: numeric: f0, f1, f2, f3\n" in err
    assert "columns not used: color\n" in err
    assert "1/1" in err
    assert "\x1b" not in err  # progress in a log is plain text


@pytest.mark.usefixtures("trained_once")
def test_quiet(train):
    code, out, err = train("--test-data", "test.csv", "--quiet")
    assert (code, err) == (0, "")
    assert systems(out) == ["bce *", "rank-only", "filter-only", "filter-all"]


def test_all_six_losses_fit_on_a_screen(run, folder, table):
    table[:60].to_csv("some.csv", index=False)
    code, out, err = run(
        "rank-filter", "some.csv", "--gains", "Bad=-1,Ok=1,Good=2", "--cv", "2", "--learner",
        "linear", "--threshold", "0.1",
    )  # fmt: skip
    assert code == 0, err
    assert len(systems(out)) == 6 * 3 + 1
    assert max(map(len, out.splitlines())) <= 100


@pytest.mark.usefixtures("trained_once")
def test_what_is_written_agrees_with_what_is_printed(train, table):
    arguments = ["--test-data", "test.csv", "--out-run", "r.txt", "--save", "m.skops"]
    code, out, _ = train(*arguments)
    assert code == 0
    for name in ("t.csv", "t.json"):
        assert train("--test-data", "test.csv", "--out", name)[:2] == (0, "")
    by_name = pd.read_json("t.json", lines=True).set_index("system")
    by_line = pd.read_csv("t.csv", index_col="system")
    pd.testing.assert_frame_equal(by_name, by_line, check_dtype=False)
    assert train("--test-data", "test.csv", "--out", "t.txt")[0] == 0
    assert Path("t.txt").read_text(encoding="utf-8") == out
    report = pd.read_csv("t.csv", index_col="system")
    assert f"{report.loc['bce', 'ndcg_f@3']:.3f}" in out
    lists = pd.read_csv(
        "r.txt",
        sep=" ",
        names=["qid", "q0", "docno", "rank", "score", "run"],
        dtype={"docno": str},
    )
    assert set(lists["run"]) == {"bce"}
    judged = pd.read_csv("test.csv", dtype={"docno": str})
    both = judged.merge(lists, how="left", on=["qid", "docno"])
    assert both["score"].notna().sum() == len(lists)  # leading zeros of ids are kept
    scores = both["score"].fillna(-np.inf)
    value = ndcg_f_score(both["label"], scores, groups=both["qid"], k=3, gains=GAINS)
    assert value == pytest.approx(report.loc["bce", "ndcg_f@3"])
    model = load_model("m.skops")["model"]
    X = judged[["f0", "f1", "f2", "f3"]]
    np.testing.assert_array_equal(model.predict(X), scores)


def test_cross_validation_lists_every_row_once(train, table):
    code, _, err = train(
        "--cv", "3", "--threshold", "0.3", "--out-run", "r.txt", "--save", "m.skops"
    )
    assert code == 0
    assert "4/4" in err  # three folds, and the model that is saved
    counts = re.search(r"run: r.txt, (\d+) documents, (\d+) filtered", err)
    n_rows = len(pd.read_csv("train.csv"))
    assert sum(map(int, counts.groups())) == n_rows


def test_the_same_seed_prints_the_same_table(train):
    first, again = (train("--cv", "2", "--threshold", "0.3", "--seed", "4")[1] for _ in range(2))
    assert first == again


def test_fixed_thresholds_choose_by_cross_validation_on_train(run, folder):
    code, out, err = run(
        "rank-filter", "train.csv", "--test-data", "test.csv", "--gains", "Bad=-1,Ok=1,Good=2",
        "--models", "bce,mse", "--learner", "linear", "--threshold", "0.3",
    )  # fmt: skip
    assert code == 0
    assert "12/12" in err  # two models, and five folds of each
    assert "* best by cross-validation on train.csv" in out


@pytest.mark.usefixtures("trained_once")
def test_one_fixed_threshold_has_nothing_to_choose(train):
    code, out, _ = train("--test-data", "test.csv", "--threshold", "0.3")
    assert code == 0
    assert "best by" not in out


@pytest.mark.usefixtures("trained_once")
def test_no_threshold_ranks_only(train):
    code, out, err = train("--test-data", "test.csv", "--threshold", "none", "--out-run", "r.txt")
    assert code == 0
    assert systems(out) == ["bce", "filter-all"]
    assert " 0 filtered" in err


@pytest.mark.usefixtures("trained_once")
def test_a_threshold_that_filters_everything(train):
    code, out, err = train("--test-data", "test.csv", "--threshold", "inf", "--out-run", "r.txt")
    assert code == 0
    assert "r.txt, 0 documents" in err
    bce = next(line for line in out.splitlines() if line.startswith("bce"))
    assert bce.split()[-5:-2] == ["0.0", "100.0", "100.0"]


@pytest.mark.filterwarnings("ignore:no label has a gain above 0")
@pytest.mark.usefixtures("trained_once")
def test_the_curve_of_a_filter_that_keeps_nothing(train, table):
    table.assign(label="Bad").to_csv("bad.csv", index=False)
    code, _, err = train(
        "--models", "mse", "--test-data", "bad.csv", "--plot", "c.png", file="bad.csv"
    )
    assert code == 0, err


@pytest.mark.usefixtures("trained_once")
def test_one_test_query_has_no_interval(train, table):
    table[table["qid"] == "q5"].to_csv("one.csv", index=False)
    code, out, _ = train("--test-data", "one.csv")
    assert code == 0
    assert "nan" not in out


def test_one_training_query(train, table):
    table[table["qid"] == table["qid"].mode()[0]].to_csv("one.csv", index=False)
    code, _, err = train(file="one.csv")
    assert code == 2
    assert "there is only one query" in err
    code, _, err = train("--test-data", "test.csv", file="one.csv")
    assert code == 2
    assert "there is only one query to learn from" in err
    assert train("--test-data", "test.csv", "--threshold", "0.5", file="one.csv")[0] == 0


@pytest.mark.filterwarnings("ignore:100 % of the lists have other sizes")
def test_few_queries_are_tuned_with_fewer_folds(train, table):
    some = [f"q{number}" for number in (1, 4, 6, 7)]
    table[table["qid"].isin(some)].to_csv("few.csv", index=False)
    assert train("--test-data", "test.csv", "--models", "mse", file="few.csv")[0] == 0
    assert train("--models", "mse", "--threshold", "0", file="few.csv")[0] == 0
    code, _, err = train("--cv", "5", file="few.csv")
    assert code == 2
    assert "--cv 5 needs as many queries, but there are 4: lower it to 4 at most" in err


def test_letor(run, folder):
    rows = [
        f"{label} qid:{query} 1:{label + noise / 9} 3:{noise} # docid = d{query}-{label}\n"
        for query in range(1, 13)
        for label, noise in zip(range(3), (query % 5, query % 3, query % 2))
    ]
    (folder / "train.txt").write_text("".join(rows[:24]))
    (folder / "test.txt").write_text("".join(rows[24:]))
    code, out, err = run(
        "rank-filter", "train.txt", "--test-data", "test.txt", "--gains", "0=-1,1=1,2=2",
        "--k", "10", "--models", "mse", "--learner", "linear", "--out-run", "a.txt", "--save",
        "m.skops", "--threshold", "0",
    )  # fmt: skip
    assert code == 0, err
    assert "train.txt: 24 documents of 8 queries" in err
    assert "labels 0: 8, 1: 8, 2: 8\n" in err
    assert "measures at 10 places" in out
    # The first feature is the label and a little: of each query 2, then 1, and 0 left out.
    lines = [line.split() for line in (folder / "a.txt").read_text().splitlines()]
    expected = {f"d{query}-{label}" for query in range(9, 13) for label in (1, 2)}
    assert {line[2] for line in lines} == expected
    assert run("apply", "m.skops", "test.txt", "--out", "b.txt")[0] == 0
    assert (folder / "a.txt").read_text() == (folder / "b.txt").read_text()


@pytest.mark.nightly
def test_letor_of_public_data(run, folder, data_dir):
    files = [data_dir / "mq2007" / f"S{number}.txt.gz" for number in (1, 5)]
    code, out, err = run(
        "rank-filter", files[0], "--test-data", files[1], "--gains", "0=-1,1=1,2=2", "--k", "10",
        "--models", "mse", "--learner", "linear", "--out-run", "a.txt", "--save", "m.skops",
    )  # fmt: skip
    assert code == 0
    assert "labels 0: 10,274, 1: 2,997, 2: 742\n" in err
    assert "measures at 10 places" in out
    assert run("apply", "m.skops", files[1], "--out", "b.txt")[0] == 0
    with open("a.txt") as ours, open("b.txt") as theirs:
        assert ours.read() == theirs.read()


def test_texts(run, folder, texts):
    texts[:56].to_json("texts.jsonl", orient="records", lines=True)
    code, out, err = run(
        "rank-filter", "texts.jsonl", "--gains", "Bad=-1,Good=1", "--models", "lambdarank",
        "--cv", "2", "--learner", "linear", "--threshold", "0",
    )  # fmt: skip
    assert code == 0
    assert (
        "columns: text: answer; query text: question; same: author=asker; numeric: place\n" in err
    )
    assert "not used" not in err
    assert "lambdarank *" in systems(out)


def test_categories_beside_texts(run, folder, texts):
    texts.assign(kind=texts["label"].str.lower())[:40].to_csv("texts.csv", index=False)
    job = [
        "rank-filter", "texts.csv", "--gains", "Bad=-1,Good=1", "--models", "bce", "--cv", "2",
        "--learner", "linear", "--text", "question", "--out", "t.csv", "--threshold", "0",
    ]  # fmt: skip
    code, _, err = run(*job, "--categorical", "kind")
    assert code == 0
    assert "text: question; same: author=asker; numeric: place; categorical: kind\n" in err
    assert "columns not used: answer\n" in err
    told = pd.read_csv("t.csv", index_col="system").loc["bce", "ndcg_f@3"]
    assert "columns not used: answer, kind\n" in run(*job)[2]
    assert told > 0.1 + pd.read_csv("t.csv", index_col="system").loc["bce", "ndcg_f@3"]


@pytest.mark.usefixtures("trained_once")
def test_gzip_and_parquet_give_the_table_of_csv(train, table):
    table = table[:200]
    table.to_csv("t.csv", index=False)
    table.to_csv("t.csv.gz", index=False)
    table.to_csv("t.tsv", index=False, sep="\t")
    table.to_csv("plain", index=False)
    table.to_parquet("t.parquet", index=False)
    table.to_json("t.jsonl.gz", orient="records", lines=True, double_precision=15)
    quick = ["--cv", "2", "--threshold", "0"]
    names = ("t.csv", "t.csv.gz", "t.tsv", "t.parquet", "t.jsonl.gz")
    printed = [train(*quick, file=name)[1] for name in names]
    printed.append(train(*quick, "--input-format", "csv", file="plain")[1])
    assert systems(printed[0]) == ["bce *", "rank-only", "filter-only", "filter-all"]
    # The name of the file stands behind this.
    assert len({text.rpartition("* best by")[0] for text in printed}) == 1


@pytest.mark.usefixtures("trained_once")
def test_files_are_written_before_the_table(folder, train, monkeypatch):
    """A reader of the output that has left costs no model."""

    def gone(arguments):
        raise BrokenPipeError

    monkeypatch.setattr("skfilterrank.cli.rank_filter.run.results", gone)
    files = ["m.skops", "p.png", "x.run"]
    options = zip(("--save", "--plot", "--out-run"), files)
    assert (
        train("--models", "mse", "--cv", "2", *(word for pair in options for word in pair))[0] == 0
    )
    assert all((folder / name).exists() for name in files)
    assert (folder / "p.png").read_bytes()[:4] == b"\x89PNG"


def test_many_or_long_labels_are_cut(folder, run, table):
    for labels in ([f"word{row}" for row in range(len(table))], ["x" * 5000] * len(table)):
        table.assign(label=labels).to_csv("labels.csv", index=False)
        code, _, err = run("rank-filter", "labels.csv", "--models", "mse", "--cv", "2")
        assert code == 2
        assert "give the gain of each" in err
        assert len(err) < 1500


def test_ids_that_no_run_carries_are_found_before_training(folder, train, table, monkeypatch):
    table.assign(qid="what is " + table["qid"]).to_csv("blanks.csv", index=False)
    lists = ["--cv", "2", "--threshold", "0", "--out-run", "lists.csv", "--save", "m.skops"]
    assert train(*lists, file="blanks.csv")[0] == 0
    found = pd.read_csv("lists.csv")
    assert found["qid"].str.startswith("what is q").all()
    assert set(found) == {"qid", "docno", "rank", "score", "run"}

    def trained(*given, **how):
        raise AssertionError("it trains")

    monkeypatch.setattr("skfilterrank.cli.rank_filter.run.compare_rankers", trained)
    code, out, err = train("--cv", "2", "--out-run", "x.run", file="blanks.csv")
    assert (code, out) == (2, "")
    assert "which a TREC file cannot carry" in err
    assert err.endswith("(--out-run FILE.csv or FILE.jsonl takes any id.)\n")


@pytest.mark.usefixtures("trained_once")
def test_the_model_is_kept_whatever_else_fails(folder, train, monkeypatch):
    def full(*given, **how):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("skfilterrank.cli.rank_filter.run.write_lists", full)
    monkeypatch.setattr("skfilterrank.cli.rank_filter.run.draw", full)
    for option, name in (("--out-run", "x.run"), ("--plot", "p.png")):
        code, _, err = train("--test-data", "test.csv", option, name, "--save", f"{name}.skops")
        assert code == 2
        assert "No space left on device" in err
        assert (folder / f"{name}.skops").exists()


@pytest.mark.filterwarnings("always::skfilterrank.exceptions.DataWarning")
def test_certificates_state_holes_by_the_names_of_documents(run, folder):
    X, y, groups, _ = make_rank_and_filter(n_queries=120, random_state=0)
    table = pd.DataFrame(X[:, :3], columns=["f0", "f1", "f2"])
    table["qid"] = [f"q{query}" for query in groups]
    table["docno"] = [f"d{row}" for row in range(len(y))]
    table["label"] = np.where(np.arange(len(y)) % 3 == 0, np.nan, y)
    table["judged_by"] = np.where(np.arange(len(y)) % 3 == 1, "large", "people")
    table.to_csv("holes.csv", index=False)
    code, out, err = run(
        *("rank-filter", "holes.csv", "--models", "bce", "--learner", "linear", "--k", "2"),
        *("--risk", "any_forbidden=0.6", "--cv", "2", "--save", "m.skops"),
    )
    assert code == 0, err
    certificate = load_model("m.skops")["model"].certificate_
    assert str(certificate) in out
    assert "Machines gave" in out
    rows = certificate.to_judge["row"]
    assert certificate.to_judge["query"].tolist() == table["qid"][rows].tolist()
    assert err.count("are unjudged although") == 1
    assert f"query '{table['qid'][rows[0]]}' document 'd{rows[0]}'" in err


def test_ranking_methods_stand_beside_losses(run, folder):
    code, out, _ = run(
        *("rank-filter", "train.csv", "--cv", "2", "--gains", "Bad=-1,Ok=1,Good=2"),
        *("--models", "bce,lambdamart,logistic", "--learner", "linear", "--threshold", "0"),
    )
    assert code == 0
    assert {"bce", "lambdamart", "logistic"} <= {name.strip(" *") for name in systems(out)}

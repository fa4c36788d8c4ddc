"""``skfilterrank rank-filter``: from files to a table, a run and a model."""

import re
from io import StringIO
from itertools import chain, repeat
from pathlib import Path
from types import SimpleNamespace

import joblib
import numpy as np
import pandas as pd
import pytest

from skfilterrank.cli._output import align_columns
from skfilterrank.cli.rank_filter import Comparison, report_section
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import ndcg_f_score
from skfilterrank.thresholds import CertifiedThreshold
from thinned import thinned

pytestmark = pytest.mark.slow

GAINS = {"Bad": -1, "Ok": 1, "Good": 2}
SYSTEMS = ["bce *", "everything", "first k", "filter-only", "nothing"]


def systems(out):
    """Names in the printed table, with the marks."""
    body = out.split("\n\n")[0].splitlines()[1:]
    return [re.match(r"\s*(\S+( \S)?)", line)[1] for line in body]


@pytest.mark.usefixtures("trained_once")
def test_the_table_is_all_of_the_output(train):
    code, out, err = train("--test-data", "test.csv")
    assert code == 0
    assert systems(out) == SYSTEMS
    assert max(map(len, out.splitlines())) <= 100
    assert "of a line less its model, of a model less bce, paired by query" in out
    assert "* best by cross-validation on train.csv: 0." in out
    assert "train.csv: " in err
    assert "labels Ok: " in err
    assert "columns: numeric: f0, f1, f2, f3\n" in err
    assert "columns not used: color\n" in err
    assert "gains: Bad=-1, Ok=1, Good=2\n" in out
    assert re.search(r"^k of first k: bce \d+$", out, re.MULTILINE)
    assert "\x1b" not in err  # progress in a log is plain text
    assert train("--test-data", "test.csv", "--quiet") == (0, out, "")


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
    arguments = ["--test-data", "test.csv", "--out-run", "r.txt", "--save", "m.joblib"]
    code, out, _ = train(*arguments)
    assert code == 0
    for name in ("t.csv", "t.json"):
        assert train("--test-data", "test.csv", "--out", name)[:2] == (0, "")
    by_name = pd.read_json("t.json", lines=True).set_index("system")
    assert (by_name.pop("k") == 3).all()
    by_line = pd.read_csv("t.csv", index_col="system")
    by_line = by_line.rename(columns={"false_reject_rate@3": "false_reject_rate_at_k"})
    by_line = by_line.rename(columns=lambda name: name.removesuffix("@3"))
    pd.testing.assert_frame_equal(by_name, by_line, check_dtype=False)
    assert train("--test-data", "test.csv", "--out", "t.txt")[0] == 0
    assert Path("t.txt").read_text(encoding="utf-8") == out
    report = pd.read_csv("t.csv", index_col="system")
    assert f"{report.loc['bce', 'ndcg_f@3']:.3f}" in out
    lists = pd.read_csv(
        "r.txt", sep=" ", names=["qid", "q0", "docno", "rank", "score", "run"], dtype={"docno": str}
    )
    assert set(lists["run"]) == {"bce"}
    judged = pd.read_csv("test.csv", dtype={"docno": str})
    both = judged.merge(lists, how="left", on=["qid", "docno"])
    assert both["score"].notna().sum() == len(lists)  # leading zeros of ids are kept
    scores = both["score"].fillna(-np.inf)
    value = ndcg_f_score(both["label"], scores, groups=both["qid"], k=3, gains=GAINS)
    assert value == pytest.approx(report.loc["bce", "ndcg_f@3"])
    model = joblib.load("m.joblib")["model"]
    X = judged[["f0", "f1", "f2", "f3"]]
    np.testing.assert_array_equal(model.predict(X), scores)


def test_cross_validation_lists_every_row_once(train, table):
    code, _, err = train(
        "--cv", "3", "--threshold", "0.3", "--out-run", "r.txt", "--save", "m.joblib"
    )
    assert code == 0
    counts = re.search(r"run: r.txt, (\d+) documents, (\d+) hidden", err)
    n_rows = len(pd.read_csv("train.csv"))
    assert sum(map(int, counts.groups())) == n_rows


def test_the_same_seed_prints_the_same_table(train):
    first, again = (
        train("--cv", "2", "--threshold", "0.3", "--random-state", "4")[1] for _ in range(2)
    )
    assert first == again


@pytest.mark.usefixtures("trained_once")
def test_one_fixed_threshold_has_nothing_to_choose(train):
    code, out, _ = train("--test-data", "test.csv", "--threshold", "0.3")
    assert code == 0
    assert "best by" not in out


@pytest.mark.usefixtures("trained_once")
def test_no_threshold_ranks_only(train):
    code, out, err = train("--test-data", "test.csv", "--threshold", "none", "--out-run", "r.txt")
    assert code == 0
    assert systems(out) == ["bce", "nothing"]
    assert " 0 hidden" in err


@pytest.mark.usefixtures("trained_once")
def test_a_threshold_that_filters_everything(train):
    code, out, err = train("--test-data", "test.csv", "--threshold", "inf", "--out-run", "r.txt")
    assert code == 0
    assert "r.txt, 0 documents" in err
    bce = next(line for line in out.splitlines() if line.startswith("bce"))
    assert bce.split()[-4:] == ["0.0", "100.0", "100.0", "100.0"]


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
    assert "--cv 5 needs as many queries, but there are 4. Lower it to 4 at most" in err


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
        "m.joblib", "--threshold", "0",
    )  # fmt: skip
    assert code == 0, err
    assert "train.txt: 24 documents of 8 queries" in err
    assert "labels 0: 8, 1: 8, 2: 8\n" in err
    assert "measures at 10 places" in out
    # The first feature is the label and a little: of each query 2, then 1, and 0 left out.
    lines = [line.split() for line in (folder / "a.txt").read_text().splitlines()]
    expected = {f"d{query}-{label}" for query in range(9, 13) for label in (1, 2)}
    assert {line[2] for line in lines} == expected
    assert run("apply", "m.joblib", "test.txt", "--out", "b.txt")[0] == 0
    assert (folder / "a.txt").read_text() == (folder / "b.txt").read_text()


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
    table.to_parquet("t.parquet", index=False)
    table.to_json("t.jsonl.gz", orient="records", lines=True, double_precision=15)
    quick = ["--cv", "2", "--threshold", "0"]
    names = ("t.csv", "t.csv.gz", "t.tsv", "t.parquet", "t.jsonl.gz")
    printed = [train(*quick, file=name)[1] for name in names]
    assert systems(printed[0]) == ["bce *", "everything", "filter-only", "nothing"]
    # The name of the file stands behind this.
    assert len({text.rpartition("* best by")[0] for text in printed}) == 1


@pytest.mark.usefixtures("trained_once")
def test_files_are_written_before_the_table(folder, train, monkeypatch):
    """A reader of the output that has left costs no model."""

    def gone(*given):
        raise BrokenPipeError

    monkeypatch.setattr("skfilterrank.cli.rank_filter.print_sections", gone)
    files = ["m.joblib", "x.run"]
    options = zip(("--save", "--out-run"), files)
    assert train("--models", "mse", "--cv", "2", "--threshold", "0", *chain(*options))[0] == 0
    assert all((folder / name).exists() for name in files)


def test_many_or_long_labels_are_cut(folder, run, table):
    for labels in ([f"word{row}" for row in range(len(table))], ["x" * 5000] * len(table)):
        table.assign(label=labels).to_csv("labels.csv", index=False)
        code, _, err = run("rank-filter", "labels.csv", "--models", "mse", "--cv", "2")
        assert code == 2
        assert "Give the gain of each" in err
        assert len(err) < 1500


def test_ids_that_no_run_carries_are_found_before_training(folder, train, table, monkeypatch):
    table.assign(qid="what is " + table["qid"]).to_csv("blanks.csv", index=False)
    lists = ["--cv", "2", "--threshold", "0", "--out-run", "lists.csv", "--save", "m.joblib"]
    assert train(*lists, file="blanks.csv")[0] == 0
    found = pd.read_csv("lists.csv")
    assert found["qid"].str.startswith("what is q").all()
    assert set(found) == {"qid", "docno", "rank", "score", "shown"}

    def trained(*given, **how):
        raise AssertionError("it trains")

    monkeypatch.setattr("skfilterrank.cli.rank_filter.compare_models", trained)
    code, out, err = train("--cv", "2", "--out-run", "x.run", file="blanks.csv")
    assert (code, out) == (2, "")
    assert "but ids in a TREC file must not" in err
    assert err.endswith("(--out-run FILE.csv or FILE.jsonl takes any id.)\n")


@pytest.mark.usefixtures("trained_once")
def test_the_model_is_kept_whatever_else_fails(folder, train, monkeypatch):
    def full(*given, **how):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("skfilterrank.cli._rows.write_lists", full)
    code, _, err = train("--test-data", "test.csv", "--out-run", "x.run", "--save", "m.joblib")
    assert code == 2
    assert "No space left on device" in err
    assert (folder / "m.joblib").exists()


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
        *("--risk", "any_forbidden=0.6", "--cv", "2", "--save", "m.joblib"),
    )
    assert code == 0, err
    certificate = joblib.load("m.joblib")["model"].certificate_
    assert str(certificate) in out
    assert "--save fits" not in out
    assert "Machines gave" in out
    # Without a model of all rows there is none.
    told = "--save fits the best model on all of TRAIN, and prints its certificate"
    words = ["--models", "bce", "--learner", "linear", "--k", "2", "--cv", "2"]
    assert told in run("rank-filter", "holes.csv", *words, "--risk", "any_forbidden=0.6")[1]
    rows = certificate.to_judge["row"]
    assert certificate.to_judge["query"].tolist() == table["qid"][rows].tolist()
    assert err.count("that a risk depends on are unjudged") == 1
    assert f"query '{table['qid'][rows[0]]}' document 'd{rows[0]}'" in err


def test_ranking_methods_stand_beside_losses(run, folder):
    code, out, _ = run(
        *("rank-filter", "train.csv", "--cv", "2", "--gains", "Bad=-1,Ok=1,Good=2"),
        *("--models", "bce,lambdamart,logistic", "--learner", "linear", "--threshold", "0"),
    )
    assert code == 0
    assert {"bce", "lambdamart", "logistic"} <= {name.strip(" *") for name in systems(out)}


pytestmark = pytest.mark.slow


def test_queries_may_be_named_like_row_numbers(run, folder, table):
    named = table[:200].assign(qid=table["qid"].str.removeprefix("q"))
    named.to_csv("named.csv", index=False)
    how = ["--models", "mse", "--learner", "linear", "--cv", "2", "--gains", "Bad=-1,Ok=1,Good=2"]
    code, out, err = run("rank-filter", "named.csv", *how)
    assert code == 0, err
    assert systems(out)[0].startswith("mse")


@pytest.mark.usefixtures("trained_once")
def test_all_places_count(train):
    code, out, _ = train("--test-data", "test.csv", "--k", "all")
    assert code == 0
    assert "measures at all places" in out
    code, out, _ = train("--test-data", "test.csv", "--k", "all", "--format", "csv")
    assert "ndcg_f" in pd.read_csv(StringIO(out)).columns


@pytest.mark.usefixtures("trained_once")
def test_the_measure_that_is_tuned(train):
    code, _, _ = train("--test-data", "test.csv", "-m", "forbidden@2", "--save", "m.joblib")
    assert code == 0
    assert joblib.load("m.joblib")["model"].measure_ == "forbidden@2"


@pytest.mark.usefixtures("trained_once")
def test_a_measure_without_a_cut_off_is_tuned_at_all_places(train):
    code, out, _ = train(
        *("--test-data", "test.csv", "--models", "mse"),
        *("--measure", "lexirecall", "--save", "m.joblib"),
    )
    assert (code, "measures at 3 places" in out) == (0, True)
    assert joblib.load("m.joblib")["model"].measure_ == "lexirecall"


def test_the_measure_that_is_tuned_is_one_with_one_cut_off(train):
    assert "--measure names 2 measures" in train("-m", "ap,rr")[2]
    assert "--k 3 contradicts the cut-off of 'ap@5'" in train("-m", "ap@5", "--k", "3")[2]


def test_risk_is_that_of_the_library(train, table):
    words = "--risk any_forbidden=0.6 --confidence-level 0.8 --test-data test.csv --save m.joblib"
    code, out, _ = train(*words.split())
    assert code == 0
    model = joblib.load("m.joblib")["model"]
    assert isinstance(model.threshold, CertifiedThreshold)
    assert model.threshold.risks == {"any_forbidden@3": 0.6}
    assert model.threshold.confidence_level == 0.8
    assert model.certificate_.facts["exact"]
    assert str(model.certificate_) in out
    assert "With confidence 0.8, the share of queries with a forbidden document" in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--risk", "any_forbidden=0.1", "--threshold", "0.5"], "Leave out --threshold or --risk"),
        (["--risk", "any_forbidden=0.01"], "needs at least 299 calibration queries"),
        (["--risk", "nonsense=0.1"], "--risk must name"),
        (["--models", "bce,nonsense"], "got nonsense."),
    ],
)
def test_bad_promises(train, options, message):
    code, _, err = train("--test-data", "test.csv", *options)
    assert code == 2
    assert message in err
    assert "Traceback" not in err


@pytest.fixture
def four_of_each(folder):
    """Twelve queries of four documents: the first forbidden, the others told by the feature."""
    rows = [
        f"q{query:02},{query}-{place},{label},{label + (query * place) % 3 / 9}"
        for query in range(12)
        for place, label in enumerate((-1, 0, 1, 2))
    ]
    (folder / "four.csv").write_text("\n".join(["qid,docno,label,f", *rows]) + "\n")
    return "four.csv"


@pytest.mark.parametrize(
    ("measure", "threshold", "value"),
    [
        # All is shown: of four documents one is forbidden, and no list is empty.
        ("forbidden@4", "none", "0.250"),
        ("any_forbidden@4", "none", "1.000"),
        ("empty_list_rate", "none", "0.000"),
        # Nothing is shown.
        ("empty_list_rate", "inf", "1.000"),
        ("forbidden@4", "inf", "0.000"),
        # Greater is better: of four documents two have a gain above 0.
        ("precision@4", "none", "0.500"),
    ],
)
def test_the_held_out_value_is_that_of_the_measure(train, four_of_each, measure, threshold, value):
    arguments = ["--models", "mse", "--cv", "2", "-m", measure, "--threshold", threshold]
    code, out, err = train(*arguments, file=four_of_each, gains="0=0,-1=-1,1=1,2=2")
    assert code == 0, err
    assert f"\n* best by cross-validation on four.csv: {value}\n" in out


def test_the_best_model_is_the_one_with_the_lower_value(train, four_of_each):
    """From -0.5 on, bce shows all here, and mse all but the forbidden ones."""
    for models in ("bce,mse", "mse,bce"):
        arguments = ["--models", models, "--cv", "2", "-m", "forbidden@4", "--threshold=-0.5"]
        code, out, err = train(*arguments, file=four_of_each, gains="0=0,-1=-1,1=1,2=2")
        assert code == 0, err
        shown = {line[:3]: line for line in out.splitlines() if line[:3] in ("bce", "mse")}
        assert "25.0" in shown["bce"].split()
        assert shown["mse"].startswith("mse *")
        assert out.endswith("\n* best by cross-validation on four.csv: 0.000\n")


LOSSES = ("bce", "mse", "ordinal", "weighted-ordinal", "lambdarank", "lambdarank+bce")


def write(table, path, first, last):
    """Write the rows of some queries, as the working folder has them."""
    table[table["qid"].str[1:].astype(int).between(first, last)].to_csv(path, index=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("learner", "loss", "threshold"),
    [
        # The threshold is kept beside the model, whatever the model is: others have none to learn,
        # which takes folds.
        *thinned(zip(repeat("linear"), LOSSES, chain(["tune", "per_query"], repeat("0.3")))),
        ("trees", "bce", "0.3"),
        ("trees", "weighted-ordinal", "0.3"),
        ("blend", "mse", "0.3"),
        *(
            pytest.param(learner, loss, threshold, marks=pytest.mark.nightly)
            for learner in ("trees", "blend")
            for loss, threshold in zip(LOSSES, ["tune", "per_query", "0.3", "0.3"])
        ),
    ],
)
def test_every_kind_of_model_is_saved_and_applied(run, table, folder, learner, loss, threshold):
    write(table, "train.csv", 0, 19)
    write(table, "test.csv", 50, 59)
    code, _, err = run(
        "rank-filter", "train.csv", "--test-data", "test.csv", "--gains", "Bad=-1,Ok=1,Good=2",
        "--models", loss, "--learner", learner, "--threshold", threshold, "--save", "m.joblib",
        "--out-run", "a.txt", "--categorical", "color",
    )  # fmt: skip
    assert code == 0
    assert "warning" not in err
    assert run("apply", "m.joblib", "test.csv", "--out", "b.txt")[0] == 0
    assert (folder / "a.txt").read_text() == (folder / "b.txt").read_text()


# Two queries of a good (2), an acceptable (1) and a forbidden document (-1).
LABELS, QUERIES = [2, 1, -1] * 2, ["a"] * 3 + ["b"] * 3
KEPT = np.array([3.0, 2.0, -np.inf, 1.0, -np.inf, 2.0])
SCORES = {
    # Of a the forbidden document is hidden, of b the acceptable one.
    "m": KEPT,
    "everything (m)": np.array([3.0, 2.0, 1.0, 1.0, 0.0, 2.0]),
    "filter-only (m)": np.where(-np.inf < KEPT, 0.0, -np.inf),
    "nothing": np.full(6, -np.inf),
}
PARTS = {"everything (m)": "m", "filter-only (m)": "m"}


def report(k, marks=True):
    """Report on two queries, and its text."""
    found = Comparison(SCORES, PARTS, {}, "m", {}, {})
    rows = SimpleNamespace(y=LABELS, groups=QUERIES)
    frame = found.report(rows, k=k)
    section = report_section(frame, found, k=k, marks=marks)
    return frame, "\n".join([*align_columns(section.rows), section.foot])


@pytest.mark.parametrize("k", [2, None])
def test_each_column_of_the_report_has_its_value(k):
    """Shares by hand: of 2 places, or all; good: what has a gain above 0."""
    frame, text = report(k)
    lines = text.split("\n\n")[0].splitlines()
    of = f"of {k or 'all'} %"
    assert " ".join(lines[0].split()) == (
        f"nDCG_f 95 % CI forbid % lost % {of} empty % diff. 95 % CI"
    )
    names = ["m *", "  everything", "  filter-only", "nothing"]
    # Forbidden: of the shown documents. In b it stands first, with or without the filter.
    forbidden = {2: [25, 25, 25, 0], None: [25, 100 / 3, 25, 0]}[k]
    # The good document that is lost in b stands third.
    of_first = {2: [0, 0, 0, None], None: [25, 0, 25, None]}[k]
    lost, empty = [25, 0, 25, 100], [0, 0, 0, 100]
    for line, name, system, *shares in zip(
        lines[1:], names, SCORES, forbidden, lost, of_first, empty, strict=True
    ):
        row = frame.loc[system]
        assert line.startswith(name)
        value, interval, *cells = line.removeprefix(name).split()
        assert value == f"{row.iloc[0]:.3f}"
        assert interval == f"{row['low']:.3f}-{row['high']:.3f}"
        shares = [share for share in shares if share is not None]
        found = [float(each) for each in cells[: len(shares)]]
        assert found == pytest.approx(shares, abs=0.05)
        difference = [] if name == "m *" else [f"{row['difference']:+.3f}"]
        if difference:
            difference += [f"{row['difference_low']:+.3f}", "to", f"{row['difference_high']:+.3f}"]
        assert cells[len(shares) :] == difference
        assert row["difference"] == pytest.approx(row.iloc[0] - frame.iloc[0, 0]) or not difference
    places = "the 2 places shown" if k else "all that is shown"
    assert f"measures at {k or 'all'} places; forbid: share of {places} that is forbidden;" in text


def test_notes_say_gains_k_and_where_nothing_is_better():
    parts = PARTS | {"first k (m)": "m", "first k (other)": "other"}
    scores = SCORES | dict.fromkeys(("other", "first k (m)", "first k (other)"), SCORES["m"])
    found = Comparison(scores, parts, {}, "m", {}, {"m": {12, 2, 9}, "other": {4}, "third": {1}})
    for bad, is_told in ((-0.1, False), (-9.0, True)):
        gains = {label: label if label >= 0 else bad for label in np.unique(LABELS).tolist()}
        rows = SimpleNamespace(y=LABELS, groups=QUERIES)
        frame = found.report(rows, k=2, gains=gains)
        assert (frame.iloc[:, 0]["nothing"] > frame.iloc[:, 0]["m"]) == is_told
        foot = report_section(frame, found, k=2, gains=gains).foot.splitlines()
        assert f"gains: -1={bad:g}, 1=1, 2=2" in foot
        assert "k of first k: m 2-12, other 4" in foot
        assert any(line.startswith("Showing nothing has a higher") for line in foot) == is_told


def test_without_a_choice_no_model_is_marked():
    assert " *" not in report(2, marks=False)[1].splitlines()[1]

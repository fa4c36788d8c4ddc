"""evaluate_runs by drawn label sets: means over sets, and intervals by Rubin's rules."""

import warnings

import numpy as np
import pandas as pd
import pytest

from label_sets import drawn_table, random_runs
from skfilterrank.comparison import score_systems
from skfilterrank.exceptions import DataWarning, InputError
from skfilterrank.io import QrelsIndex, align
from skfilterrank.metrics import evaluate_runs, iter_evaluations

pytestmark = pytest.mark.slow

N_DRAWS, N_DOCUMENTS = 4, 12


def _table(seed=0, n_queries=5, **how):
    return drawn_table(seed, n_queries=n_queries, n_documents=N_DOCUMENTS, n_labels=3, **how)


def _runs(n_queries=5):
    return random_runs(n_runs=3, n_queries=n_queries, n_documents=N_DOCUMENTS, n_shown=8)


def _average_precision(labels, docnos):
    """Compute AP of a list by a dict of labels."""
    hits, total = 0, 0.0
    for place, docno in enumerate(docnos, 1):
        if labels.get(docno, 0) > 0:
            hits += 1
            total += hits / place
    return total / max(sum(label > 0 for label in labels.values()), 1)


def _loop(table, run):
    """Compute AP of every set and query by plain loops, shape (n_draws, n_queries)."""
    values = []
    for draw in range(N_DRAWS):
        qrels = table[table["draw"].isna() | (table["draw"] == draw)]
        labels = {qid: dict(zip(t["docno"], t["label"])) for qid, t in qrels.groupby("qid")}
        values.append(
            [
                _average_precision(labels[qid], list_["docno"])
                for qid, list_ in run.sort_values("score", ascending=False).groupby("qid")
            ]
        )
    return np.array(values)


def test_values_are_those_of_a_loop_over_sets():
    table, runs = _table(), _runs()
    found = evaluate_runs(table, runs, ["ap", "ndcg@5"])
    intervals = found.intervals(0.9)
    for name, run in runs.items():
        own = _loop(table, run)
        np.testing.assert_allclose(found.per_query.loc[name, "ap"], own.mean(axis=0))
        np.testing.assert_allclose(found.per_draw.loc[name]["ap"], own.ravel())
        means = own.mean(axis=1)
        between = (1 + 1 / N_DRAWS) * means.var(ddof=1)
        row = intervals.loc[(name, "ap")]
        assert row["value"] == found.means.loc[name, "ap"] == pytest.approx(means.mean())
        # The 95 % quantile of Student's t with three degrees of freedom.
        assert row["high_these"] - row["value"] == pytest.approx(2.3533634 * between**0.5)
        within = (own.var(axis=1, ddof=1) / 5).mean()
        assert row["share_of_draws"] == pytest.approx(between / (within + between))
    assert intervals.index.names == ["run", "measure"]


def test_ends_are_cut_at_the_range_of_the_measure():
    low = evaluate_runs(_table(), _runs(), "ap").intervals(0.9999)["low_general"]
    assert low.min() == 0


def test_equal_sets_have_the_values_of_one_set():
    table, runs = _table(alike=True), _runs()
    measures = ["ap", "ndcg@5", "bpref", "num_rel", "gm_map"]
    first = table[table["draw"].isna() | (table["draw"] == 0)].drop(columns="draw")
    one = evaluate_runs(first, runs, measures, predicted="use")
    many = evaluate_runs(table, runs, measures)
    pd.testing.assert_frame_equal(many.per_query, one.per_query, check_exact=True)
    pd.testing.assert_frame_equal(many.means, one.means, check_exact=True)
    intervals = many.intervals()
    assert (intervals["low_these"] == intervals["value"]).all()
    assert (intervals["high_these"] == intervals["value"]).all()
    means = intervals.drop(["num_rel", "gm_map"], level="measure")
    assert (means["share_of_draws"] == 0).all()
    # Counts and geometric means are no means over queries.
    others = intervals.drop(means.index)
    assert others[["low_general", "high_general", "share_of_draws"]].isna().all(axis=None)


def test_order_of_rows_and_sets_and_names_do_not_count():
    table, runs = _table(), _runs()
    wanted = evaluate_runs(table, runs, ["ap", "ndcg@5"]).intervals()
    other = table.sample(frac=1, random_state=0)
    other = other.assign(draw=other["draw"].map({0: 2, 1: 0, 2: 3, 3: 1}).astype("Int64"))

    def renamed(frame):
        return frame.assign(qid="q" + frame["qid"], docno=frame["docno"] + "-long-name")

    runs = {name: renamed(run.sample(frac=1, random_state=0)) for name, run in runs.items()}
    found = evaluate_runs(renamed(other), runs, ["ap", "ndcg@5"]).intervals()
    pd.testing.assert_frame_equal(found, wanted, rtol=1e-12)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_index_and_aligned_runs_give_the_same(n_jobs):
    table, runs = _table(), _runs()
    wanted = evaluate_runs(table, runs, "ap")
    index = QrelsIndex(table, may_have_draws=True)
    aligned = {name: index.align(run) for name, run in runs.items()}
    for found in (
        evaluate_runs(index, runs, "ap", n_jobs=n_jobs),
        evaluate_runs(None, aligned, "ap", n_jobs=n_jobs),
    ):
        pd.testing.assert_frame_equal(found.per_draw, wanted.per_draw)
        pd.testing.assert_frame_equal(found.intervals(), wanted.intervals())
    assert np.isnan(aligned["run0"].y_true).sum() == 5 * 9
    assert aligned["run0"].draws.shape == (N_DRAWS, 5 * N_DOCUMENTS)
    assert aligned["run0"].n_retrieved_unjudged == 0


def test_results_say_that_labels_were_drawn():
    found = evaluate_runs(_table(), _runs(), "ap")
    assert str(found).startswith("1 measure of 3 runs, 5 queries; labels drawn in 4 sets\n")
    assert "low_these" in str(found)
    (one,) = iter_evaluations(_table(), {"run0": _runs()["run0"]}, "ap")
    assert one.values.intervals().index.tolist() == ["ap"]
    assert repr(one) == "<RunEvaluation: run0, 1 measure of 5 queries; labels drawn in 4 sets>"


def test_nobody_judged_a_document_with_a_drawn_label():
    run = pd.DataFrame({"qid": "0", "docno": ["d1", "d9"], "score": [2, 1]})
    found = evaluate_runs(_table(n_queries=1), run, ["judged@2", "num_ret", "precision@2"])
    assert found.means.loc["run", ["judged@2", "num_ret"]].tolist() == [0.5, 2]
    assert found.intervals().loc[("run", "judged@2"), "high_these"] == 0.5


def test_condensed_lists_have_the_labels_that_hold_in_every_set():
    table, runs = _table(), _runs()
    judged = table[table["draw"].isna()].drop(columns=["draw", "judged_by"])
    wanted = evaluate_runs(judged, runs, ["ap", "ndcg@5"], unjudged="drop").per_query
    found = evaluate_runs(table, runs, ["ap", "ndcg@5"])
    pd.testing.assert_frame_equal(found.condensed, wanted)


def test_undefined_queries_of_some_sets():
    rows = [("1", "a", 1, 0), ("1", "a", 0, 1), ("2", "a", 1, pd.NA), ("2", "b", 0, pd.NA)]
    table = pd.DataFrame(rows, columns=["qid", "docno", "label", "draw"])
    run = pd.DataFrame({"qid": ["1", "2", "2"], "docno": ["a", "b", "a"], "score": [1, 2, 1]})
    # Query 1 has a relevant document in set 0 only; query 2 has AP 1/2 in both.
    found = evaluate_runs(table, run, "ap", undefined="drop")
    assert found.per_query["ap"].tolist() == [1, 0.5]
    assert found.per_draw["ap"].fillna(-1).tolist() == [1, 0.5, -1, 0.5]
    assert found.means["ap"].tolist() == [(0.75 + 0.5) / 2]
    assert np.isnan(found.intervals().loc[("run", "ap"), "low_general"])
    assert evaluate_runs(table, run, "ap").means["ap"].tolist() == [(0.75 + 0.25) / 2]


def test_each_warning_is_given_once():
    table = pd.concat(
        [_table(n_queries=2), pd.DataFrame({"qid": ["7"], "docno": ["z"], "label": [np.nan]})]
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        evaluate_runs(table, {"a": _runs(n_queries=2)["run0"]}, "ap")
    assert [each.category for each in caught] == [DataWarning]
    assert "queries without a judged document (1 of 3)" in str(caught[0].message)


def test_drawn_labels_are_no_machine_labels():
    table, runs = _table(), _runs()
    with warnings.catch_warnings(action="error"):
        wanted = evaluate_runs(table, runs, "ap")
    # Labels of the model that are not drawn are.
    table.loc[table["draw"].isna(), "judged_by"] = "llm"
    with pytest.warns(DataWarning, match="holds 15 labels, of which machines gave 15"):
        found = evaluate_runs(table, runs, "ap")
    pd.testing.assert_frame_equal(found.per_draw, wanted.per_draw)
    with pytest.warns(DataWarning, match="neither a judged nor a drawn label in 3 of 3 runs"):
        dropped = evaluate_runs(table, runs, "ap", predicted="drop")
    assert (dropped.condensed == 0).all(axis=None)


@pytest.mark.parametrize(("measure", "n_jobs"), [(evaluate_runs, 2), (score_systems, 1)])
def test_a_run_without_drawn_labels_is_named(measure, n_jobs):
    table, runs = _table(), _runs()
    late = runs["run0"].copy()
    # Two of the eight documents of each query are new.
    late.loc[late["score"] > 6, "docno"] = "new" + late["docno"]
    index = QrelsIndex(table, may_have_draws=True)
    aligned = {name: index.align(run) for name, run in (runs | {"late": late}).items()}
    for qrels, given in ((table, runs | {"late": late}), (None, aligned)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            measure(qrels, given, "ap", n_jobs=n_jobs)
        assert [each.category for each in caught] == [DataWarning]
        said = str(caught[0].message)
        assert "nor a drawn label in 1 of 4 runs ('late' 25%)" in said
        assert "draw the labels again with these runs in complete_qrels" in said
    with warnings.catch_warnings(action="error"):
        measure(table, runs, "ap", n_jobs=n_jobs)
        # Documents without a label do not count.
        measure(table, {"late": late}, "ap", unjudged="drop", n_jobs=n_jobs)


def test_what_cannot_be_combined():
    table, runs = _table(), _runs()
    with pytest.raises(InputError, match="an inclusion probability below 1"):
        evaluate_runs(table.assign(inclusion_probability=0.5), runs, "ap")
    with pytest.raises(InputError, match="one label of each document is needed"):
        align(QrelsIndex(table, may_have_draws=True), runs["run0"])
    with pytest.raises(InputError, match="one label of each document is needed"):
        QrelsIndex(table, may_have_draws=True).to_frame()
    one = table[table["draw"].isna()].drop(columns=["draw", "judged_by"])
    with pytest.raises(InputError, match="intervals are for drawn label sets"):
        evaluate_runs(one, runs, "ap").intervals()
    aligned = {
        "some": QrelsIndex(table, may_have_draws=True).align(runs["run0"]),
        "others": align(one, runs["run0"]),
    }
    with pytest.raises(InputError, match="aligned with the same judgments"):
        evaluate_runs(None, aligned, "ap")

"""Thresholds beside answers that need no model, on held-out queries."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold

from skfilterrank._lists.measure_names import parse_measure
from skfilterrank._lists.prefixes import places
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import FitWarning, InputError
from skfilterrank.metrics import ndcg_f_score, rank_filter_report
from skfilterrank.ranking import QueryRanker, RankAndFilter, make_ranker
from skfilterrank.thresholds import (
    ExpectedThreshold,
    FirstK,
    FixedThreshold,
    TunedThreshold,
    _answers,
    load_threshold,
)
from skfilterrank.thresholds._answers import compared, shown_by
from skfilterrank.thresholds._judged_scores import values_shown
from thinned import thinned

NO = -np.inf
GAINED = ["difference", "low", "high"]


def noise(data, seed=0):
    """Scores that tell nothing."""
    return np.random.default_rng(seed).normal(size=len(data[1]))


@pytest.mark.parametrize(("difference", "expected"), [(0.0, None), (-0.1, "everything")])
def test_an_answer_is_kept_only_if_it_is_higher(difference, expected):
    values = {"threshold": (0.5, np.nan), "everything": (0.5 - difference, difference)}
    values["nothing"] = (0.1, 0.4)
    table = pd.DataFrame.from_dict(values, orient="index", columns=["value", "difference"])
    assert _answers.highest_answer(table) == expected


def test_values_are_those_of_each_answer(data):
    _, y, groups, scores = data
    table = TunedThreshold("ndcg_f@3").fit(scores, y, groups=groups).held_out_
    assert table.index[:3].tolist() == ["threshold", "everything", "nothing"]
    assert table.index.name == "answer"
    shown = {"everything": scores, "nothing": np.full(len(scores), NO)}
    for name, each in shown.items():
        expected = ndcg_f_score(y, each, groups=groups, k=3)
        assert table.loc[name, "value"] == pytest.approx(expected, abs=1e-12)
        difference = table.loc["threshold", "value"] - expected
        assert table.loc[name, "difference"] == pytest.approx(difference, abs=1e-12)
    assert np.isnan(table.loc["threshold", "error"])
    assert (table["error"].iloc[1:3] > 0).all()


@pytest.mark.parametrize(
    ("names", "most", "n_sorts"),
    [
        (["everything", "nothing", "hide below 0"], None, 0),
        (["everything", "nothing", "hide below 0"], 2, 1),
        (["everything", "first 1", "first 2"], None, 1),
    ],
)
def test_lists_are_sorted_at_most_once(monkeypatch, names, most, n_sorts):
    calls = []

    def counted(scores, index):
        calls.append(len(scores))
        return places(scores, index)

    monkeypatch.setattr(_answers, "places", counted)
    scores, index = np.array([3.0, -1, 2, NO]), GroupIndex.from_groups(np.zeros(4, dtype=int))
    found = shown_by(names, scores, index, most)
    n_shown = {"everything": most or 3, "nothing": 0, "first 1": 1, "first 2": 2}
    n_shown["hide below 0"] = 2
    assert {name: rows.sum() for name, rows in found.items()} == {
        name: n_shown[name] for name in names
    }
    assert len(calls) == n_sorts


@pytest.mark.parametrize("weighted", [False, True])
def test_differences_are_those_of_values_if_clusters_differ_in_size(data, weighted):
    _, y, groups, scores = data
    # Half of the queries are of one user each, and the others of two.
    users = np.where(groups < 150, groups, 150 + groups % 2)
    given = {"clusters": users} | ({"query_weight": 1.0 * (groups % 3)} if weighted else {})
    with warnings.catch_warnings(action="ignore", category=FitWarning):
        table = TunedThreshold("ndcg_f@3").fit(scores, y, groups=groups, **given).held_out_
    differences = table["value"].iloc[0] - table["value"].iloc[1:]
    np.testing.assert_allclose(table["difference"].iloc[1:], differences, atol=1e-12)


def test_queries_of_weight_0_do_not_narrow_intervals(data):
    _, y, groups, scores = data
    kept, users = groups % 2 == 0, groups // 4
    tables = []
    for rows, weights in ((kept, None), (slice(None), 1.0 * kept)):
        given = {"groups": groups[rows], "clusters": users[rows], "query_weight": weights}
        judged = TunedThreshold()._read_judged(scores[rows], y[rows], **given)
        parsed = parse_measure("ndcg_f@3")
        (values,) = values_shown(judged.lists, parsed, judged.scores > 0.5)
        tables.append(compared(judged, parsed, values, None)[0].loc["everything"])
    np.testing.assert_allclose(*tables, rtol=1e-12)


def test_the_first_k_are_chosen_on_other_queries(data):
    _, y, groups, scores = data
    own = FirstK("f").fit(scores, y, groups=groups)
    (name,) = own.held_out_.index[3:]
    assert name == f"first {int(-own.level_)}"
    # FirstK is this answer.
    assert own.held_out_.loc[name, ["difference", "error"]].tolist() == [0, 0]
    assert own.held_out_.loc[name, "value"] <= own.best_score_


@pytest.mark.filterwarnings("ignore::skfilterrank.exceptions.FitWarning")
@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_the_first_k_are_as_many_as_their_name_says(k):
    groups, place = np.repeat(np.arange(40), 6), np.tile(np.arange(6), 40)
    # Scores do not compare between queries, and exactly the first k are good.
    scores = 10.0 * np.random.default_rng(0).permutation(40)[groups] - place
    given = scores, np.where(place < k, 1, -1)
    first = FirstK("ndcg_f").fit(*given, groups=groups)
    kept = TunedThreshold("ndcg_f", keep_if="better").fit(*given, groups=groups)
    assert kept.summary_.endswith(f"; kept: first {k}")
    for cut in (first, kept):
        assert cut.held_out_.index.tolist()[3:] == [f"first {k}"]
        shown = cut.predict(scores, groups=groups)
        np.testing.assert_array_equal(shown > NO, place < k)
        np.testing.assert_array_equal(cut.answers(scores, groups)[f"first {k}"], shown)
        assert set(cut.why_hidden(scores, groups)[1][place >= k]) == {f"beyond the first {k}"}


@pytest.mark.parametrize("threshold", [TunedThreshold, ExpectedThreshold])
def test_no_filter_pays_on_scores_that_tell_nothing(data, threshold):
    _, y, groups, _ = data
    given = noise(data), y
    with pytest.warns(
        FitWarning,
        match=r"^showing .* is as good on held-out.*keep_if='better' to take the highest",
    ):
        threshold("ndcg_f@3").fit(*given, groups=groups)
    with warnings.catch_warnings(action="error"):
        kept = threshold("ndcg_f@3", keep_if="better").fit(*given, groups=groups)
    best = kept.held_out_["value"].iloc[1:].idxmax()
    expected = {"everything": FixedThreshold(None), "nothing": FixedThreshold(np.inf)}.get(
        best, FirstK("ndcg_f@3")
    )
    with warnings.catch_warnings(action="ignore"):
        expected.fit(*given, groups=groups)
    new = noise(data, seed=1)
    found = kept.predict(new, groups=groups)
    np.testing.assert_array_equal(found, expected.predict(new, groups=groups))
    shown = kept.predict(given[0], groups=groups)
    value = ndcg_f_score(y, shown, groups=groups, k=3)
    assert kept.best_score_ == pytest.approx(value, abs=1e-12)


# On 60 queries the threshold is better, but by less than a standard error.
@pytest.mark.filterwarnings("ignore:.*as good on held-out queries")
@pytest.mark.parametrize("n_queries", [60, 300])
def test_a_better_threshold_is_kept(data, n_queries):
    _, y, groups, scores = data
    some = groups < n_queries
    plain, kept = (
        TunedThreshold("ndcg_f@3", keep_if=keep_if).fit(scores[some], y[some], groups=groups[some])
        for keep_if in (None, "better")
    )
    assert plain.level_ == kept.level_
    assert plain.threshold_ == kept.threshold_
    assert kept.summary_.endswith("; kept: threshold")


@pytest.mark.filterwarnings("ignore:the second scores of forbidden documents")
def test_columns_of_the_fit_come_again(tmp_path):
    rng, groups = np.random.default_rng(0), np.repeat(np.arange(40), 5)
    y, two = rng.choice([-1.0, 0, 1], 200), rng.normal(size=(200, 2))
    kept = TunedThreshold(keep_if="better")
    shown = kept.fit(two, y, groups=groups).predict(two, groups=groups)
    assert kept.cut_.n_more == 1
    assert kept.cut_.rule is None
    with pytest.raises(InputError, match=r"scores has 1 column, .* fitted on 2"):
        kept.predict(two[:, 0], groups=groups)
    kept.save(tmp_path / "t.json")
    loaded = load_threshold(tmp_path / "t.json")
    np.testing.assert_array_equal(loaded.predict(two, groups=groups), shown)


def test_ties_are_shown_worst_first():
    groups, y = np.repeat(np.arange(30), 4), np.tile([1.0, 0, -1, -1], 30)
    order = np.random.default_rng(0).permutation(120)
    found = [
        TunedThreshold("ndcg_f@3", keep_if="better").fit(
            np.zeros(120), y[rows], groups=groups[rows]
        )
        for rows in (np.arange(120), np.arange(120)[::-1], order)
    ]
    for each in found:
        assert each.held_out_.equals(found[0].held_out_)
        assert each.best_score_ == found[0].best_score_


def test_files_hold_what_was_taken_and_the_table(data, tmp_path):
    _, y, groups, _ = data
    kept = TunedThreshold("f", keep_if="better", max_shown=5).fit(noise(data), y, groups=groups)
    kept.save(tmp_path / "t.json")
    loaded = load_threshold(tmp_path / "t.json")
    assert loaded.held_out_.equals(kept.held_out_)
    new = noise(data, seed=1)
    found = loaded.predict(new, groups=groups)
    np.testing.assert_array_equal(found, kept.predict(new, groups=groups))


def test_in_a_model_it_has_a_name(data):
    X, y, groups, _ = data
    X = np.random.default_rng(0).normal(size=X.shape)
    model = RankAndFilter(LogisticRegression(), measure="ndcg_f@3")
    with pytest.warns(
        FitWarning, match=r"Use threshold=.*, or threshold='better' to take the highest"
    ):
        model.fit(X, y, groups=groups)
    model = clone(model).set_params(threshold="better")
    with warnings.catch_warnings(action="error"):
        model.fit(X, y, groups=groups)
    assert model.filter_.keep_if == "better"
    assert model.held_out_.equals(model.filter_.held_out_)
    assert model.summary_.endswith(f"; kept: {model.held_out_['value'].iloc[1:].idxmax()}")


def test_a_summary_in_a_line(data):
    _, y, groups, scores = data
    model = TunedThreshold("ndcg_f@3").fit(scores, y, groups=groups)
    shown, values = scores >= model.threshold_, model.held_out_["value"]
    shares = [100 * np.mean(shown[rows]) for rows in (slice(None), y > 0, y < 0)]
    report = rank_filter_report(
        y, {"f": np.where(shown, scores, NO), "r": scores}, groups=groups, rankings={"f": "r"}
    )
    shares.append(100 * report.loc["f", "false_reject_rate@3"])
    interval = "({:+.3f}, {:+.3f} to {:+.3f})"
    others = ", ".join(
        f"{name} {value:.3f} " + interval.format(*model.held_out_.loc[name, GAINED])
        for name, value in values.iloc[1:].items()
    )
    assert (
        model.summary_
        == (
            "shows {:.0f} % of the documents, {:.0f} % of the good ones, {:.0f} % of the forbidden "
            "ones; hides {:.0f} % of the good ones among the first 3; "
            "ndcg_f@3 of held-out queries: threshold {:.3f}, "
        ).format(*shares, values.iloc[0])
        + others
    )


@pytest.mark.filterwarnings("ignore:no label has a gain below 0")
def test_differences_have_paired_intervals(data):
    _, y, groups, _ = data
    # All rows have one score, so that showing everything is best in each fold.
    good = np.where(y < 0, 1, y)
    table = TunedThreshold().fit(np.zeros(len(y)), good, groups, clusters=groups // 2).held_out_
    # Two queries are a cluster.
    values = ndcg_f_score.per_query(good, np.zeros(len(y)), groups=groups)
    interval = stats.ttest_1samp(values.reshape(-1, 2).mean(axis=1), 0).confidence_interval()
    np.testing.assert_allclose(table.loc["nothing", ["low", "high"]].astype(float), interval)
    assert table.loc["everything", GAINED].tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("estimator", "are_gains"),
    thinned(
        [
            (Ridge(), True),
            (make_ranker("ordinal"), False),
            (GridSearchCV(QueryRanker(Ridge()), {"estimator__alpha": [1]}, cv=GroupKFold(2)), True),
            (make_ranker("mse"), True),
            (LogisticRegression(), False),
            (make_ranker("bce"), False),
        ],
        parts=2,
    ),
)
def test_gains_are_compared_with_hiding_below_0(estimator, are_gains):
    X, y, groups, _ = make_rank_and_filter(60, random_state=0)
    y = pd.Series(y, index=pd.Index(groups, name="qid"))
    model = RankAndFilter(estimator, measure="ndcg_f@3", cv=2).fit(X, y)
    assert ("hide below 0" in model.held_out_.index) == are_gains
    if isinstance(estimator, Ridge):
        model = clone(model).set_params(target="binary").fit(X, y)
        assert "hide below 0" not in model.held_out_.index


def test_hiding_below_0_is_taken_where_it_is_best(data):
    X, y, groups, _ = data
    model = RankAndFilter(Ridge(), measure="ndcg_f@3")
    with pytest.warns(
        FitWarning, match=r"^hiding what is below 0 is as good .* Use threshold=0\.0"
    ):
        model.fit(X, y, groups=groups)
    assert model.held_out_["value"].idxmax() == "hide below 0"
    kept = clone(model).set_params(threshold="better").fit(X, y, groups=groups)
    assert kept.summary_.endswith("; kept: hide below 0")
    fixed = clone(model).set_params(threshold=0.0).fit(X, y, groups=groups)
    np.testing.assert_array_equal(kept.predict(X), fixed.predict(X))
    # The warning is about the other three: this threshold pays.
    X, y, groups, _ = make_rank_and_filter(600, random_state=0)
    with warnings.catch_warnings(action="error"):
        pays = clone(model).fit(X, y, groups=groups)
    assert pays.held_out_["value"].idxmax() == "hide below 0"
    X, y, groups, _ = data
    # With a second model, scores are no gains.
    harm = RankAndFilter(Ridge(), filter_estimator=LogisticRegression(), measure="ndcg_f@3")
    with pytest.warns(FitWarning, match="as good on held-out"):
        harm.fit(X, y, groups=groups)
    assert "hide below 0" not in harm.held_out_.index


def test_answers_show_of_new_rows_what_they_are_called(data):
    X, y, groups, _ = data
    old, new = groups < 200, groups >= 200
    model = RankAndFilter(Ridge(), TunedThreshold(max_shown=2), measure="ndcg_f@3")
    model.fit(X[old], y[old], groups=groups[old])
    found = model.answers(X[new], groups=groups[new])
    assert list(found) == model.held_out_.index[1:].tolist()
    ranked = model.estimator_.predict(X[new])
    place = pd.Series(-ranked).groupby(groups[new]).rank(method="first").to_numpy()
    (first,) = (name for name in found if name.startswith("first"))
    for name, shown in {
        "everything": place <= 2,
        "nothing": place < 0,
        "hide below 0": (place <= 2) & (ranked >= 0),
        first: place <= min(2, int(first.split()[1])),
    }.items():
        np.testing.assert_array_equal(found[name], np.where(shown, ranked, NO))
    assert all(len(scores) == 0 for scores in model.answers(X[:0], groups=groups[:0]).values())
    # Thresholds that are not compared have no first k.
    assert list(FixedThreshold(0.5).fit().answers([1.0, 0.2])) == ["everything", "nothing"]


def test_more_queries_than_are_compared():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(12_000), 2)
    y = rng.choice([-1, 1], len(groups))
    scores = y + rng.normal(size=len(groups))
    table = TunedThreshold("ndcg_f").fit(scores, y, groups=groups).held_out_
    # Of 10,000 queries: the error of all would be smaller.
    errors = ndcg_f_score.per_query(y, scores, groups=groups).std(ddof=1)
    assert table.loc["nothing", "error"] > 0.5 * errors / np.sqrt(12_000)
    assert table["value"].between(0, 1).all()


@pytest.mark.parametrize("keep_if", [True, "best"])
def test_bad_parameters(data, keep_if):
    _, y, groups, scores = data
    with pytest.raises(ValueError, match="keep_if must be"):
        TunedThreshold(keep_if=keep_if).fit(scores, y, groups=groups)

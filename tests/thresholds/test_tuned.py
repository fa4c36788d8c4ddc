"""A number, a length, and the best threshold on a score, also with a second score."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from certificates import numbered
from skfilterrank._lists.content import query_folds
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import FitWarning, InputError
from skfilterrank.metrics import evaluate, ndcg_f_score
from skfilterrank.thresholds import (
    CertifiedThreshold,
    FirstK,
    FixedThreshold,
    TunedThreshold,
    load_threshold,
    threshold_curve,
)
from skfilterrank.thresholds._cuts import RULES

INF = np.inf


def fitted(data, **parameters):
    model = TunedThreshold("ndcg_f@3", **parameters)
    return model.fit(data.bayes_scores, data.y, groups=data.groups)


def first_places(scores, groups, n):
    """Whether each row stands among the first n of its query."""
    first = np.empty(len(scores), dtype=bool)
    for query in np.unique(groups):
        own = np.flatnonzero(groups == query)
        first[own] = np.argsort(np.argsort(-scores[own], kind="stable")) < n
    return first


def test_the_curve_is_that_of_the_function(data):
    model = fitted(data)
    curve = threshold_curve(data.y, data.bayes_scores, groups=data.groups, measure="ndcg_f@3")
    np.testing.assert_array_equal(model.threshold_curve_.thresholds, curve.thresholds)
    np.testing.assert_allclose(model.threshold_curve_.values, curve.values)
    assert model.threshold_ == curve.best_threshold
    assert model.best_score_ == pytest.approx(curve.best_value)
    assert model.measure_ == "ndcg_f@3"


def test_the_threshold_is_the_best_under_the_cap(data):
    model = fitted(data, max_shown=2)
    first = first_places(data.bayes_scores, data.groups, 2)
    capped = np.where(first, data.bayes_scores, -INF)
    curve = threshold_curve(data.y, capped, groups=data.groups, measure="ndcg_f@3")
    assert model.best_score_ == pytest.approx(curve.best_value)
    assert model.threshold_ == pytest.approx(curve.best_threshold)


def test_weights_of_queries(data):
    """A query of weight 2 counts as two."""
    half = data.groups < 150
    twice = np.append(np.arange(len(data.y)), np.flatnonzero(half))
    groups = np.append(data.groups, 1000 + data.groups[half])
    two = TunedThreshold("ndcg_f@3").fit(data.bayes_scores[twice], data.y[twice], groups=groups)
    one = TunedThreshold("ndcg_f@3").fit(
        data.bayes_scores, data.y, groups=data.groups, query_weight=np.where(half, 2.0, 1.0)
    )
    assert one.threshold_ == two.threshold_
    assert one.best_score_ == pytest.approx(two.best_score_)


def test_ids_of_clusters_and_of_weights_may_be_texts(data):
    given, weights = (data.bayes_scores, data.y), np.random.default_rng(1).random(300)
    texts = {str(each): weight for each, weight in enumerate(weights)}
    users, cut = data.groups // 3, TunedThreshold("ndcg_f@3", max_shown=2)
    by_number = {"clusters": users, "query_weight": dict(enumerate(weights))}
    by_row = {"clusters": users.astype(str), "query_weight": weights[data.groups]}
    found = clone(cut).fit(*given, groups=data.groups, **by_number)
    for groups, other in (
        (data.groups.astype(str), by_row | {"query_weight": texts}),
        (data.groups, by_row),
    ):
        again = clone(cut).fit(*given, groups=groups, **other)
        assert again.level_ == found.level_
        assert again.held_out_.equals(found.held_out_)


def test_nothing_good_is_told():
    _, y, groups, scores = make_rank_and_filter(200, random_state=0)
    unsafe = np.where(y < 0, -1, 0)
    model = TunedThreshold("ndcg_f@3")
    with pytest.warns(FitWarning, match=r"no label has a gain above 0.*gains=\{0: 1, -1: -1\}"):
        model.fit(scores, unsafe, groups=groups)
    with pytest.warns(
        FitWarning, match=r"no label has a gain above 0.*Check the labels and gains="
    ):
        model.fit(scores, np.full(len(y), -1), groups=groups)
    model.set_params(gains={0: 1, -1: -1}).fit(scores, unsafe, groups=groups)
    assert np.isfinite(model.predict(scores, groups=groups)).mean() > 0.3


class TestHeldOutScore:
    def test_is_that_of_thresholds_chosen_without_the_query(self, data):
        model = fitted(data)
        kept = np.full(len(data.y), -INF)
        fold = query_folds(numbered(data.groups, data.bayes_scores, data.y), 5)
        for number in range(5):
            train, test = fold != number, fold == number
            curve = threshold_curve(
                data.y[train],
                data.bayes_scores[train],
                groups=data.groups[train],
                measure="ndcg_f@3",
            )
            is_shown = data.bayes_scores[test] >= curve.best_threshold
            kept[test] = np.where(is_shown, data.bayes_scores[test], -INF)
        expected = ndcg_f_score(data.y, kept, groups=data.groups, k=3)
        assert model.held_out_.loc["threshold", "value"] == pytest.approx(expected)

    def test_is_negated_where_lower_is_better(self, data):
        model = TunedThreshold("forbidden@3", min_shown=1)
        model.fit(data.bayes_scores, data.y, groups=data.groups)
        assert model.held_out_.loc["threshold", "value"] < 0

    def test_without_the_filter_caps_remain(self, data):
        first = first_places(data.bayes_scores, data.groups, 2)
        capped = np.where(first, data.bayes_scores, -INF)
        expected = ndcg_f_score(data.y, capped, groups=data.groups, k=3)
        assert fitted(data, max_shown=2).held_out_.loc["everything", "value"] == pytest.approx(
            expected
        )

    @pytest.mark.parametrize("weights", [False, True])
    def test_a_filter_that_does_not_pay(self, data, weights):
        scores, rows = data.bayes_scores, data.groups < 30 * (1 + weights)
        heavy = np.where(data.groups < 30, 1.0, 0.0)[rows] if weights else None
        expected = "showing everything is as good on held-out.*Use FixedThreshold.., or keep_if"
        with pytest.warns(FitWarning, match=expected) as caught:
            model = TunedThreshold("ndcg_f@3").fit(
                scores[rows], data.y[rows], groups=data.groups[rows], query_weight=heavy
            )
        (text,) = {str(each.message) for each in caught}
        assert f"{model.held_out_.loc['threshold', 'value']:.4f} with the threshold" in text
        assert f"have {model.held_out_.loc['everything', 'value']:.4f} by it" in text

    def test_a_filter_that_pays(self, data):
        # A forbidden document costs ten times as much.
        with warnings.catch_warnings(action="error"):
            model = fitted(data, gains=lambda labels: np.where(labels < 0, 10 * labels, labels))
        value = model.held_out_["value"]
        assert value["threshold"] > value["everything"] + 0.01


def market(seed=0, n_queries=200, n=10):
    """Scores of relevance and of harm, which are independent of each other."""
    rng = np.random.default_rng(seed)
    g = np.repeat(np.arange(n_queries), n)
    z, w = rng.normal(size=(2, len(g)))
    good = rng.binomial(2, 1 / (1 + np.exp(1 - z)))
    y = np.where(rng.random(len(g)) < 1 / (1 + np.exp(2.5 - 1.8 * w)), -1.0, good)
    return z + rng.normal(size=len(g)), y, g, w + 0.7 * rng.normal(size=len(g))


@pytest.fixture(scope="module")
def rows():
    return market(n_queries=100)


@pytest.mark.parametrize("rule", RULES)
def test_tuned_level_is_worth_what_it_says(rule):
    scores, y, g, hide = market()
    cut = TunedThreshold("ndcg_f@5", rule=rule).fit(np.column_stack([scores, hide]), y, g)
    assert cut.cut_.rule == rule
    assert cut.threshold_ is None
    assert cut.held_out_.loc["threshold", "value"] <= cut.best_score_ + 1e-9
    assert cut.held_out_.loc["threshold", "value"] > cut.held_out_.loc["everything", "value"]
    shown = cut.predict(np.column_stack([scores, hide]), g)
    value = evaluate(y, shown, "ndcg_f@5", groups=g).means.iloc[0]
    # Curves of all rows and those out of fold differ a little; "harm" has none.
    assert value == pytest.approx(cut.best_score_, abs=1e-9 if rule == "harm" else 0.02)
    one = TunedThreshold("ndcg_f@5").fit(scores, y, g)
    assert cut.held_out_.loc["threshold", "value"] > one.held_out_.loc["threshold", "value"]


def test_second_scores_may_be_a_column(rows):
    scores, y, g, hide = rows
    table = pd.DataFrame({"filter_score": hide, "score": scores})
    cut = TunedThreshold().fit(table, y, g)
    assert cut.cut_.rule == "ratio"
    shown = cut.predict(np.column_stack([scores, hide]), g)
    np.testing.assert_array_equal(cut.predict(table, g), shown)
    value = ndcg_f_score(y, shown, groups=g)
    assert cut.score(np.column_stack([scores, hide]), y, groups=g) == pytest.approx(value)
    assert cut.score(table.set_axis(pd.Index(g, name="qid")), y) == pytest.approx(value)


@pytest.mark.parametrize("rule", RULES)
def test_margins_and_ranks_go_with_what_is_shown(rows, rule):
    scores, y, g, hide = rows
    cut = TunedThreshold("ndcg_f@5", rule=rule, max_shown=4)
    cut.fit(np.column_stack([scores, hide]), y, g)
    shown = cut.predict(np.column_stack([scores, hide]), g)
    margins = cut.decision_function(np.column_stack([scores, hide]), g)
    assert np.isfinite(margins).all()
    np.testing.assert_array_equal(margins >= 0, shown > -np.inf)
    ranks = cut.rank(np.column_stack([scores, hide]), g)
    np.testing.assert_array_equal(ranks > 0, shown > -np.inf)
    assert ranks.max() == 4
    first = shown[ranks == 1]
    np.testing.assert_array_equal(first, [shown[g == q].max() for q in g[ranks == 1]])


def test_the_level_of_a_held_out_query_is_that_of_the_other_by_hand():
    """Query 0 is best cut at the level -0.5, and query 1 at -2.5."""
    g, y = np.array([0, 0, 1, 1]), np.array([1.0, -1.0, 1.0, -1.0])
    scores, hide = np.array([1.0, 2.0, 1.0, 2.0]), np.array([0.0, 1.0, 2.0, 3.0])
    cut = TunedThreshold("ndcg_f", rule="harm")
    with pytest.warns(FitWarning, match="only 2 of the rows are forbidden"):
        cut.fit(np.column_stack([scores, hide]), y, g)
    # At -2.5 query 0 shows both, the forbidden document first; at -0.5 query 1 shows nothing.
    both = (1 + 1 / np.log2(3) - 1) / 2
    assert cut.held_out_.loc["threshold", "value"] == pytest.approx((both + 0.5) / 2)
    # -0.5 is best for both together: the good document alone is worth 1, and nothing 0.5.
    assert (cut.level_, cut.best_score_) == (-0.5, pytest.approx(0.75))


def test_what_is_tested_says_nothing_of_the_path(rows):
    """Half of 100 queries are learned from; labels of the others do not change the curves."""
    scores, y, g, hide = rows
    number = numbered(g, scores, y, hide)

    def curves(labels):
        cut = CertifiedThreshold({"any_forbidden@5": 0.5}, rule="ratio")
        worth = cut.fit(np.column_stack([scores, hide]), labels, g).cut_.worth
        curves = worth.gain, worth.harm, worth.harm_by_lead
        return [worth.weights.tolist(), *((each.x.tolist(), each.y.tolist()) for each in curves)]

    before = curves(y)
    assert curves(np.where(np.isin(number, [50, 51, 99]), 2.0, y)) == before
    assert curves(np.where(number < 3, 2.0, y)) != before


@pytest.mark.filterwarnings("ignore:.* are exact copies of others")
def test_certificate_by_hand():
    # Each of 40 queries has a good document and a forbidden one, of filter score 1 to 40.
    g = np.repeat(np.arange(40), 2)
    scores = np.tile([2.0, 1.0], 40)
    y = np.tile([1.0, -1.0], 40)
    hide = np.ravel(np.column_stack([np.zeros(40), np.arange(1.0, 41.0)]))
    cut = CertifiedThreshold({"any_forbidden@2": 0.1}, rule="harm", measure="dcg@2")
    with pytest.warns(FitWarning, match="only 40 of the rows are forbidden"):
        cut.fit(np.column_stack([scores, hide]), y, g)
    # P(none of 40 | 0.1) = 0.9**40 = 0.015 <= 0.05, and P(at most one) = 0.080: none may be shown.
    risk = cut.certificate_.risks["any_forbidden@2"]
    assert (risk.n_queries, risk.lower, risk.observed) == (40, -1.0, 0.0)
    # In the middle between the keys 0 of the good documents and -1.
    assert cut.level_ == -0.5
    shown = cut.predict(np.column_stack([scores, hide]), g)
    np.testing.assert_array_equal(shown, np.where(hide == 0, scores, -np.inf))


@pytest.mark.parametrize("rule", RULES)
def test_certified_risks_are_below_their_levels(rule):
    scores, y, g, hide = market(1, 400)
    risks = {"any_forbidden@5": 0.3, "false_reject_rate": 0.9}
    cut = CertifiedThreshold(risks, rule=rule).fit(np.column_stack([scores, hide]), y, g)
    # All are tested by "harm", all but 1,000 rows by the rule that learns curves.
    found = [risk.n_queries for risk in cut.certificate_.risks.values()]
    assert found[0] == (400 if rule == "harm" else 300)
    other = market(2, 2000)
    shown = cut.predict(np.column_stack([other[0], other[3]]), other[2])
    means = evaluate(other[1], shown, list(risks), groups=other[2]).means
    assert means["any_forbidden@5"] <= 0.3
    assert means["false_reject_rate"] <= 0.9
    assert (shown > -np.inf).any()


def test_certificates_hold_for_any_order_of_rows_that_are_worth_the_same():
    rng = np.random.default_rng(0)
    n_queries, n_rows = 300, 2400
    y = rng.choice([-1, 0, 1], n_rows, p=[0.15, 0.5, 0.35])
    groups = np.repeat(np.arange(n_queries), 8)
    # Different scores that a flat curve cannot tell apart.
    scores = (y < 1) + 1e-13 * rng.random(n_rows)
    filter_scores = np.round((y < 0) + rng.normal(size=n_rows))
    cut = CertifiedThreshold({"any_forbidden": 0.3}, measure="false_reject_rate", max_shown=1)
    found = []
    for order in (np.lexsort((y, groups)), np.lexsort((-y, groups))):
        model = cut.fit(
            np.column_stack([scores[order], filter_scores[order]]), y[order], groups[order]
        )
        found.append((model.level_, model.certificate_.risks["any_forbidden"].observed))
    assert found[0] == found[1]


@pytest.mark.parametrize("rule", ["harm", "ratio"])
def test_unjudged_documents_that_could_be_shown_are_named(rule):
    scores, y, g, hide = market(1, 100)
    # "ratio" tests half of the queries.
    for row in np.argsort(hide).tolist():
        without = np.where(np.arange(len(y)) == row, np.nan, y)
        if numbered(g, scores, without, hide)[row] >= 50:
            break
    y = without
    cut = CertifiedThreshold({"any_forbidden@5": 0.4}, rule=rule)
    with pytest.warns(match="that a risk depends on are unjudged"):
        cut.fit(np.column_stack([scores, hide]), y, g)
    assert cut.certificate_.facts["n_unjudged"] == 1
    assert cut.certificate_.to_judge.values.tolist() == [[g[row], row]]


@pytest.mark.parametrize("rule", RULES)
def test_saved_thresholds_hide_the_same(rows, rule, tmp_path):
    scores, y, g, hide = rows
    for cut in (
        TunedThreshold("ndcg_f@5", rule=rule),
        CertifiedThreshold({"any_forbidden@5": 0.4}, rule=rule),
    ):
        cut.fit(np.column_stack([scores, hide]), y, g).save(tmp_path / "cut.json")
        np.testing.assert_array_equal(
            load_threshold(tmp_path / "cut.json").predict(np.column_stack([scores, hide]), g),
            cut.predict(np.column_stack([scores, hide]), g),
        )


@pytest.mark.parametrize(
    ("parameters", "change", "message"),
    [
        ({}, lambda hide, y: (np.where(y < 2, hide, np.nan), y), "filter_score"),
        ({}, lambda hide, y: (np.where(y < 2, hide, -np.inf), y), "scores must be finite"),
        ({}, lambda hide, y: (np.ones(len(y)), y), "second column of scores has one value, 1"),
        (
            {},
            lambda hide, y: (hide, np.abs(y)),
            "second column of scores needs forbidden documents",
        ),
        ({"rule": "both"}, lambda *same: same, "rule must be"),
        ({"min_shown": 1}, lambda *same: same, "min_shown=1 is not possible with two columns"),
    ],
    ids=["NaN", "infinite", "one value", "never forbidden", "rule", "min_shown"],
)
def test_what_does_not_go_with_second_scores(rows, parameters, change, message):
    scores, y, g, hide = rows
    hide, y = change(hide, y)
    with pytest.raises(ValueError, match=message):
        TunedThreshold(**parameters).fit(np.column_stack([scores, hide]), y, g)


def test_fit_and_predict_take_the_same_scores(rows):
    scores, y, g, hide = rows
    with pytest.raises(
        ValueError, match="rule='ratio' hides by a second score, but scores has one column"
    ):
        TunedThreshold(rule="ratio").fit(scores, y, g)
    one = TunedThreshold().fit(scores, y, g)
    with pytest.raises(ValueError, match="was fitted on 1"):
        one.predict(np.column_stack([scores, hide]))


def test_second_scores_the_wrong_way_round_warn(rows):
    scores, y, g, hide = rows
    with pytest.warns(FitWarning, match="of forbidden documents are not higher"):
        TunedThreshold().fit(np.column_stack([scores, -hide]), y, g)


def test_a_stray_score_leaves_the_order_of_the_others(rows):
    scores, y, groups, filter_scores = (np.asarray(each) for each in rows)
    stray = np.where(np.arange(len(scores)) % 25 == 0, -1e30, scores)
    cut = TunedThreshold("ndcg_f@3").fit(np.column_stack([stray, filter_scores]), y, groups)
    others = np.unique(stray[stray > -1e30])
    assert (np.diff(cut.cut_.worth.gain(others)) > 0).all()


@pytest.mark.filterwarnings("ignore:only 1 of the rows")
def test_a_certificate_of_one_query_is_refused():
    safe = CertifiedThreshold({"any_forbidden@3": 0.3}, rule="ratio")
    with pytest.raises(ValueError, match="scores are of one query"):
        safe.fit(np.column_stack([[3.0, 2.0, 1.0], [0.1, 0.2, 0.9]]), [1, 0, -1], groups=[1, 1, 1])


def test_weights_that_leave_few_effective_queries_are_warned_of(data):
    weights = np.where(data.groups < 6, 1.0, 0.001)
    # (6 + 0.294) ** 2 / (6 + 0.000294) is 6.6.
    with pytest.warns(FitWarning, match=r"query_weight leaves 6\.6 effective queries of 300 "):
        TunedThreshold().fit(data.bayes_scores, data.y, groups=data.groups, query_weight=weights)


def test_a_cluster_of_most_queries_is_warned_of(data):
    users = pd.Series(np.where(data.groups < 200, -1, data.groups), name="user")
    # (200 + 100) ** 2 / (200 ** 2 + 100) is 2.2.
    expected = (
        r"clusters differ in size, which leaves 2\.2 effective users of 101 .*of more of them"
    )
    with pytest.warns(FitWarning, match=expected):
        TunedThreshold().fit(data.bayes_scores, data.y, groups=data.groups, clusters=users)


def test_a_single_cluster_with_weight_has_no_error(data):
    third = data.groups // 100
    given = {"clusters": third, "query_weight": 1.0 * (third == 1)}
    with pytest.warns(FitWarning, match=r"leaves 1\.0 effective clusters of 3") as warned:
        found = TunedThreshold().fit(data.bayes_scores, data.y, groups=data.groups, **given)
    assert found.held_out_[["error", "low", "high"]].isna().all(axis=None)
    assert not any("as good on held-out" in str(each.message) for each in warned)


@pytest.mark.parametrize("measure", [pd.Series(["ap"]), pd.NA, np.array(["ap"]), []])
def test_what_is_no_measure(measure):
    with pytest.raises(InputError, match="is not a measure"):
        TunedThreshold(measure).fit([1.0, 2.0], [0, 1], groups=["a", "b"])


def test_documents_of_one_score_stand_in_the_order_of_the_rows():
    scores, groups = np.array([0.5, 0.5, 0.5, 0.5, 0.2]), np.array([0, 0, 0, 1, 1])
    model = FixedThreshold(0.3, max_shown=2).fit(scores, [1, -1, 1, 1, -1], groups=groups)
    shown = [True, True, False, True, False]
    assert (model.predict(scores, groups=groups) > -INF).tolist() == shown
    assert (model.decision_function(scores, groups=groups) >= 0).tolist() == shown
    assert model.rank(scores, groups=groups).tolist() == [1, 2, 0, 1, 0]


@pytest.mark.parametrize("threshold", [-INF, -1.0, 0.3, INF])
def test_margins_of_infinite_scores_are_finite(threshold):
    model = FixedThreshold(threshold).fit()
    scores = np.array([-INF, -1e308, 0.5, 1e308])
    margins = model.decision_function(scores)
    assert np.isfinite(margins).all()
    assert (margins >= 0).tolist() == (model.predict(scores) > -INF).tolist()
    assert (np.diff(margins) >= 0).all()


def test_none_shows_all_and_margins_are_the_scores(few):
    model = FixedThreshold().fit()
    assert model.threshold_ == -INF
    scores = few.bayes_scores
    np.testing.assert_array_equal(model.predict(scores), scores)
    np.testing.assert_array_equal(model.decision_function(scores), scores)


def test_scores_without_labels(few):
    model = FixedThreshold(0.3).fit(few.bayes_scores)
    expected = ndcg_f_score(
        few.y, np.where(few.bayes_scores >= 0.3, few.bayes_scores, -INF), groups=few.groups
    )
    assert model.score(few.bayes_scores, few.y, groups=few.groups) == pytest.approx(expected)
    with pytest.raises(TypeError, match="unexpected keyword argument 'weights'"):
        model.fit(weights=few.groups)
    with pytest.raises(InputError, match="clusters has 1 entries"):
        model.fit(few.bayes_scores, few.y, groups=few.groups, clusters=[1])


@pytest.mark.parametrize("threshold", ["0.3", np.nan, True, [0.3]])
def test_what_is_no_number(threshold):
    with pytest.raises(ValueError, match="threshold must be a number or None"):
        FixedThreshold(threshold).fit()


def test_the_number_is_the_best_of_all():
    _, y, groups, scores = make_rank_and_filter(80, random_state=0)
    y = np.where(y < 0, 4 * y, y)
    model = FirstK("ndcg_f").fit(scores, y, groups=groups)
    place = np.empty(len(y))
    for query in range(80):
        own = np.flatnonzero(groups == query)
        place[own] = np.argsort(np.argsort(-scores[own])) + 1
    values = [
        ndcg_f_score(y, np.where(place <= k, scores, -np.inf), groups=groups) for k in range(20)
    ]
    assert model.best_score_ == pytest.approx(max(values))
    number = int(model.rank(scores, groups=groups).max())
    assert values[number] == pytest.approx(max(values))
    # The level lies between two numbers, which are negative.
    assert -model.level_ == pytest.approx(number + 0.5)
    assert 0 < number < 8
    assert model.threshold_ is None

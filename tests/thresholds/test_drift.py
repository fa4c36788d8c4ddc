"""Filters warn of scores on another scale than those of their calibration, and of no others."""

import copy
import pickle
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import logit
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from all_thresholds import THRESHOLDS
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import DataWarning
from skfilterrank.ranking import RankAndFilter
from skfilterrank.thresholds import CertifiedThreshold, TunedThreshold, load_threshold
from skfilterrank.thresholds._judged_scores import effective_number

MATCH = "not on the scale of those that the threshold was chosen on"


@pytest.fixture(scope="module")
def data():
    _, y, groups, scores = make_rank_and_filter(300, random_state=0)
    return y, groups, np.clip(scores, 0.01, 0.99)


def fitted(data, scores):
    y, groups, _ = data
    return TunedThreshold("ndcg_f@3").fit(scores, y, groups=groups)


@pytest.mark.slow
@pytest.mark.parametrize("to_logits", [True, False])
def test_both_directions_are_told(data, to_logits, tmp_path):
    _, groups, scores = data
    served, other = (scores, logit(scores)) if to_logits else (logit(scores), scores)
    model = fitted(data, served)
    model.save(tmp_path / "filter.json")
    for each in (model, load_threshold(tmp_path / "filter.json")):
        with pytest.warns(DataWarning, match=MATCH):
            each.rank(other, groups=groups)
        each.predict(served, groups=groups)  # warnings are errors


@pytest.mark.parametrize("change", [lambda s: s + 5, lambda s: 100 * s, lambda s: s / 100])
def test_other_scales(data, change):
    with pytest.warns(DataWarning, match=MATCH):
        fitted(data, data[2]).predict(change(data[2]), groups=data[1])


def test_without_query_ids_rows_of_enough_lists_are_told(data):
    _, groups, scores = data
    model = fitted(data, scores)
    model.predict(logit(scores[groups < 20]))
    with pytest.warns(DataWarning, match=MATCH):
        model.predict(logit(scores))


@pytest.mark.slow
def test_ordinary_batches_and_single_queries_are_not_told(data):
    _, groups, scores = data
    model = fitted(data, scores)
    rng = np.random.default_rng(0)
    for size in (1, 5, 30, 100):
        for _ in range(50):
            rows = np.isin(groups, rng.choice(300, size, replace=False))
            model.predict(scores[rows], groups=groups[rows])
    # Few rows without query ids may be one query, and a long list beside short ones counts once.
    fresh = fitted(data, scores)
    fresh.predict(np.full(100, 0.5))
    long = np.append(np.zeros(10_000, dtype=int), np.arange(1, 29))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fresh.predict(np.full(len(long), 0.5), groups=long)
    assert not [each for each in caught if MATCH in str(each.message)]


def test_few_calibration_queries_and_one_score_are_no_scale(data):
    y, groups, scores = data
    rows = groups < 20
    few = TunedThreshold("ndcg_f@3").fit(scores[rows], y[rows], groups=groups[rows])
    few.predict(logit(scores), groups=groups)
    constant = TunedThreshold("ndcg_f@3").fit(np.ones(len(y)), y, groups=groups)
    constant.predict(scores, groups=groups)


def test_hidden_rows_are_no_scores(data):
    _, groups, scores = data
    hidden = np.where(np.arange(len(scores)) % 2, -np.inf, scores)
    fitted(data, scores).predict(hidden, groups=groups)
    model = fitted(data, hidden)
    assert np.isfinite(model.calibration_.quantiles).all()
    shown = model.predict(hidden, groups=groups) > -np.inf
    share = shown.sum() / np.isfinite(hidden).sum()
    assert model.calibration_.share_shown == pytest.approx(share)


def test_scores_of_an_estimator_within_are_not_compared():
    X, y, groups, _ = make_rank_and_filter(300, random_state=0)
    model = RankAndFilter(LogisticRegression(), measure="ndcg_f@3").fit(X, y, groups=groups)
    model.predict(X / 100, groups=groups)  # warnings are errors
    found = model.filter_.check(model.estimator_.predict_proba(X)[:, 1], groups)
    assert not found.warns
    assert found.facts["lower"].isna().to_dict() == {
        "other_sizes": False, "median_score": True, "score_spread": True, "share_above": True,
        "share_shown": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("sizes", "expected"),
    # Of lists of sizes 4, 1 and 1 a mean over rows says as much as 36 / 18 of one size.
    [([3, 3, 3], 3.0), ([7], 1.0), ([4, 1, 1], 2.0), ([0, 5, 5], 2.0), ([], 0.0), ([0], 0.0)],
)
def test_lists_that_say_as_much_by_hand(sizes, expected):
    assert effective_number(sizes) == expected


@pytest.fixture(scope="module")
def tens():
    _, y, groups, scores = make_rank_and_filter(100, documents_per_query=10, random_state=0)
    return TunedThreshold("ndcg_f@3").fit(scores, y, groups=groups), scores, groups


class TestListSizes:
    MESSAGE = r"100 % of the lists have other sizes \(median 1 documents\).* ExpectedThreshold"

    def test_lists_of_other_sizes_are_warned_of(self, tens):
        model, scores, groups = tens
        assert model.list_sizes_.tolist() == [10, 10]
        first = np.arange(0, 1000, 10)
        for _ in range(2):
            with pytest.warns(DataWarning, match=self.MESSAGE):
                model.predict(scores[first], groups=groups[first])
        model.predict(scores, groups=groups)  # nothing is remembered

    def test_few_others_and_usual_ones_are_not(self, tens):
        model, scores, _ = tens
        for n in (7, 10, 15):
            groups = np.repeat(np.arange(30), n)
            model.predict(np.resize(scores, len(groups)), groups=groups)
        model.predict(np.resize(scores, 29 * 16), groups=np.repeat(np.arange(29), 16))
        model.predict(scores[:16])  # without queries nothing is known
        groups = np.repeat(np.arange(40), [1] * 10 + [10] * 30)
        model.predict(np.resize(scores, len(groups)), groups=groups)
        groups = np.repeat(np.arange(40), [1] * 11 + [10] * 29)
        with pytest.warns(DataWarning, match="28 % of the lists"):
            model.predict(np.resize(scores, len(groups)), groups=groups)

    def test_documents_without_a_score_are_no_part_of_a_list(self, tens):
        # Judged but not retrieved, as in qrels that are joined to a run.
        _, y, groups, scores = make_rank_and_filter(100, documents_per_query=10, random_state=0)
        first = np.arange(len(y)) % 10 < 5
        some = np.where(first, scores, -np.inf)
        model = TunedThreshold("ndcg_f@3").fit(some, y, groups=groups)
        assert model.list_sizes_.tolist() == [5, 5]
        model.predict(some[first], groups=groups[first])
        model.predict(some, groups=groups)
        with pytest.warns(DataWarning, match="median 10 documents"):
            model.predict(scores, groups=groups)

    @pytest.mark.parametrize(
        ("compares", "rows", "advice"),
        [
            (
                True,
                1,
                "Scores compare .* so that ExpectedThreshold or LearnedThreshold may be better",
            ),
            (True, 30, "Scores compare .* so that ExpectedThreshold may be better"),
            (False, 1, r"needs scores that compare .*, and these do not\. Compare with FirstK"),
            (None, 1, "ExpectedThreshold may help if scores compare.*queries. Finding in words"),
        ],
    )
    def test_the_advice_follows_whether_scores_compare(self, tens, compares, rows, advice):
        model, scores, _ = tens
        model = copy.copy(model)
        model.comparability_ = replace(
            model.comparability_, compares=compares, sentence="Finding in words."
        )
        groups = np.repeat(np.arange(30), rows)
        with pytest.warns(DataWarning, match=f"lists like these.*{advice}"):
            model.predict(np.resize(scores, len(groups)), groups=groups)

    @pytest.mark.slow
    def test_what_follows_the_size_does_not_warn(self, tens):
        _, y, groups, scores = make_rank_and_filter(100, documents_per_query=10, random_state=0)
        first = np.arange(0, 1000, 10)
        for name in ("per_query", "expected", "fixed"):
            model = clone(THRESHOLDS[name]).fit(scores, y, groups=groups)
            model.predict(scores[first], groups=groups[first])


class TestCheck:
    """`check` of every threshold, on batches like those of the calibration and on others."""

    def test_numbers_by_hand(self, tens):
        model, scores, groups = tens
        rows = groups < 40
        found = model.check(scores[rows], groups[rows])
        assert (found.n_queries, found.n_rows, found.warns, found.sentences) == (40, 400, False, ())
        facts = found.to_frame()
        assert facts.columns.tolist() == ["observed", "calibration", "lower", "upper", "warns"]
        low, median, high = np.quantile(scores[rows], [0.1, 0.5, 0.9])
        above = np.mean(scores[rows] >= model.threshold_)
        shown = np.mean(model.predict(scores[rows]) > -np.inf)
        np.testing.assert_allclose(facts["observed"], [0, median, high - low, above, shown])
        assert facts.loc["other_sizes"].tolist() == [0, 0.1, 0, 0.25, False]
        bounds = facts.loc["median_score", ["lower", "upper"]].tolist()
        assert bounds == np.quantile(scores, [0.01, 0.99]).tolist()
        # 40 and 100 lists of one size.
        limit = np.sqrt((1 / 40 + 1 / 100) * np.log(200) / 2)
        usual = np.mean(scores >= model.threshold_)
        assert facts.loc["share_shown", "calibration"] == pytest.approx(usual)
        bounds = facts.loc["share_shown", ["lower", "upper"]].tolist()
        assert bounds == pytest.approx([usual - limit, min(usual + limit, 1)])
        assert facts.loc["score_spread", "upper"] == pytest.approx(
            3 * np.subtract(*np.quantile(scores, [0.9, 0.1]))
        )

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["fixed", "tuned", "expected", "certified"])
    def test_every_threshold(self, data, name):
        y, groups, scores = data
        model = clone(THRESHOLDS[name]).fit(scores, y, groups=groups)
        before = pickle.dumps(model)
        same, other = model.check(scores, groups), model.check(30 + scores, groups)
        is_fixed = name == "fixed"
        assert not same.warns
        assert other.warns == (not is_fixed)
        assert ("has no calibration" in str(same)) == is_fixed
        assert pickle.dumps(model) == before
        assert "median_score" in repr(other) or is_fixed

    def test_order_of_calls_is_no_matter(self, data):
        _, groups, scores = data
        one, two = fitted(data, scores), fitted(data, scores)
        batches = [scores, logit(scores), scores + 5]
        given = [one.check(each, groups) for each in batches]
        with warnings.catch_warnings(action="ignore"):
            two.predict(batches[1], groups=groups)
        again = [two.check(each, groups) for each in batches[::-1]][::-1]
        for first, second in zip(given, again):
            assert first.facts.equals(second.facts)
            assert str(first) == str(second)
        assert [each.warns for each in given] == [False, True, True]

    @pytest.mark.parametrize(("at", "side"), [(-0.016, "below"), (0.32, "at or above")])
    def test_predict_warns_of_scale_where_check_does(self, data, at, side):
        y, groups, scores = data
        model = CertifiedThreshold({"any_forbidden@3": 0.1}, confidence_level=0.9)
        model.set_params(measure="ndcg_f@3").fit(scores, y, groups=groups)
        found = model.check(0.34 * scores + at, groups)
        assert found.facts.loc["share_above", "warns"]
        assert f"all of them are {side} the threshold" in str(found)
        with pytest.warns(DataWarning, match=f"all of them are {side} the threshold 0.32"):
            model.predict(0.34 * scores + at, groups=groups)

    @pytest.mark.slow
    def test_ordinary_batches_seldom_warn(self):
        """Independent draws of 40 queries: each number in at most 1 %, with chance in 100 draws."""
        _, y, groups, scores = make_rank_and_filter(4200, documents_per_query=6, random_state=0)
        old = groups < 200
        model = TunedThreshold("ndcg_f@3").fit(scores[old], y[old], groups=groups[old])
        rng, warned = np.random.default_rng(0), 0
        for _ in range(100):
            rows = np.isin(groups, rng.choice(np.arange(200, 4200), 40, replace=False))
            warned = warned + model.check(scores[rows], groups[rows]).facts["warns"]
        assert (warned <= 4).all()

    def test_another_share_is_told(self, tens):
        model, scores, groups = tens
        below = scores < model.threshold_
        found = model.check(np.where(below, scores, scores - 0.6), groups)
        assert found.facts.loc["share_shown", "warns"]
        assert "of the documents, and" in str(found)

    def test_one_query_few_queries_and_empty_lists(self, tens):
        model, scores, groups = tens
        one = model.check(logit(np.clip(scores[:10], 0.01, 0.99)), groups[:10])
        assert (one.n_queries, one.warns) == (1, False)
        assert "fewer than 30 lists" in str(one)
        nothing = model.check(np.full(3, -np.inf), [0, 0, 1])
        assert (nothing.n_queries, nothing.n_rows, nothing.warns) == (2, 3, False)
        assert nothing.facts["observed"].isna().all()
        empty = model.check([], [])
        assert (empty.n_queries, empty.n_rows, empty.warns) == (0, 0, False)

    def test_query_ids_from_an_index(self, tens):
        model, scores, groups = tens
        table = pd.DataFrame({"score": scores}, index=pd.Index(groups, name="qid"))
        assert model.check(table).facts.equals(model.check(scores, groups).facts)

    def test_two_scores(self):
        rng = np.random.default_rng(0)
        groups, y = np.repeat(np.arange(60), 5), rng.choice([-1.0, 0, 1], 300)
        scores, harm = y + rng.normal(size=300), rng.normal(size=300) - y
        model = TunedThreshold("ndcg_f@3").fit(np.column_stack([scores, harm]), y, groups=groups)
        found = model.check(np.column_stack([scores, harm]), groups)
        assert not found.warns
        shown = model.predict(np.column_stack([scores, harm]), groups) > -np.inf
        assert found.facts.loc["share_shown", "observed"] == np.mean(shown)
        with pytest.raises(ValueError, match=r"scores has 1 column, .* fitted on 2"):
            model.check(scores, groups)

    @pytest.mark.parametrize(
        ("scores", "groups", "message"),
        [
            ([0.1, np.nan], [0, 0], "NaN"),
            ([0.1, np.inf], [0, 0], "inf"),
            ([0.1, 0.2], [0], "groups has 1"),
        ],
    )
    def test_errors(self, tens, scores, groups, message):
        with pytest.raises(ValueError, match=message):
            tens[0].check(scores, groups)

    def test_one_request_is_one_query(self, tens):
        scores = [0.3, 0.1, 0.2]
        assert tens[0].check(scores).facts.equals(tens[0].check(scores, [7, 7, 7]).facts)

    def test_not_fitted(self):
        with pytest.raises(NotFittedError):
            TunedThreshold().check([0.1], [0])

"""What to judge next, and labels as if fewer had been asked for."""

import numpy as np
import pandas as pd
import pytest
import sklearn

from judgment_tables import NAN, WORDS, make_table
from selections import mask
from skfilterrank.judgments import (
    LabelPredictor,
    MaxRepSelector,
    PoolingSelector,
    PriorSelector,
    StatAPSelector,
    TopicSelector,
)


def test_query_asks_for_what_is_least_sure(T):
    predictor = LabelPredictor(output="soft", calibration=None, selector="uncertainty").fit(T)
    asked = mask(predictor, T, 2)
    assert asked.dtype == bool
    assert T["label"][asked].isna().all()
    for topic in WORDS:
        rows = ((T["qid"] == topic) & T["label"].isna()).to_numpy()
        assert (rows & asked).sum() == 2
        others = predictor.confidence_[rows & ~asked]
        assert predictor.confidence_[rows & asked].max() <= others.min()
    np.testing.assert_array_equal(mask(predictor, T, 1000), T["label"].isna())


@pytest.mark.filterwarnings("ignore:no document is judged of 1 topic")
def test_query_in_topics_without_a_model(poor):
    predictor = LabelPredictor(one_class="pool", selector="uncertainty")
    asked = mask(predictor.fit(poor), poor, 1)
    assert asked[-5:].tolist() == [False, True, False, True, False]


class Longest(TopicSelector):
    """The longest texts first."""

    def _prepare(self, X, index):
        return np.array([len(text) for text in X])

    def _rank_topic(self, X, prior, random_state):
        return np.argsort(-X, kind="stable"), np.full(len(X), np.nan)


def test_query_by_a_selector(T):
    predictor = LabelPredictor(selector=Longest()).fit(T)
    asked = mask(predictor, T, 3)
    for topic in WORDS:
        rows = ((T["qid"] == topic) & T["label"].isna()).to_numpy()
        lengths = T["text"].str.len()
        assert lengths[rows & asked].min() >= lengths[rows & ~asked].max()
        assert (rows & asked).sum() == 3
    # A prior goes to the selector.
    prior = np.arange(len(T), dtype=float)
    asked = mask(LabelPredictor(selector=PriorSelector()).fit(T), T, 1, prior=prior)
    for topic in WORDS:
        rows = np.flatnonzero((T["qid"] == topic) & T["label"].isna())
        assert asked[rows].tolist() == [False] * (len(rows) - 1) + [True]


def with_copies():
    """A topic of three kinds of text, each there four times; the first rows of each are judged."""
    texts = ["lift of a wing", "heat in slabs", "soup with bread"] * 4
    labels = [1.0, 0.0] + 10 * [NAN]
    return pd.DataFrame({"qid": "1", "text": texts, "label": labels})


def test_maxrep_is_the_default_and_starts_from_what_is_judged():
    C = with_copies()
    prior = np.tile([3.0, 2.0, 1.0], 4)
    # Copies of the judged texts stand higher by the prior, and tell nothing new.
    assert np.flatnonzero(mask(LabelPredictor(), C, 1, prior=prior)).tolist() == [2]
    asked = mask(LabelPredictor(selector=MaxRepSelector()).fit(C), C, 3, prior=prior)
    assert np.flatnonzero(asked).tolist() == [2, 3, 4]
    # Whatever was judged, also what no strategy would have asked for first.
    other = C.assign(label=[NAN] * 3 + [1.0] + [NAN] * 8)
    assert np.flatnonzero(mask(LabelPredictor(), other, 2, prior=prior)).tolist() == [1, 2]
    # Without labels, the first round needs no fit: one of each kind.
    first = mask(LabelPredictor(), C.drop(columns="label"), 3)
    assert np.flatnonzero(first).tolist() == [0, 1, 2]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_rounds_of_maxrep_by_a_greedy_choice(seed):
    """The second round is the greedy choice of eq. 1 given the first, topic by topic."""
    T = make_table(seed=seed)
    prior = np.random.RandomState(seed).rand(len(T))
    X = T.assign(label=NAN)
    selector = MaxRepSelector(0.3)
    predictor = LabelPredictor(selector=selector)
    first = mask(predictor, X, 0.25, prior=prior)
    assert first.sum() == 2 * 6
    X = X.assign(label=T["truth"].where(first))
    second = mask(predictor, X, 4, prior=prior)
    assert not (first & second).any()
    counts = pd.DataFrame([pd.Series(text.split()).value_counts() for text in T["text"]]).fillna(0)
    df = (counts[~T["text"].duplicated().to_numpy()] > 0).sum()
    vectors = (counts * np.log(T["text"].nunique() / df)).to_numpy()
    vectors = vectors / np.linalg.norm(vectors, axis=1)[:, None]
    similar = vectors @ vectors.T
    similar[similar < 0.3] = 0
    for topic in WORDS:
        rows = np.flatnonzero(T["qid"] == topic)
        best = similar[rows][:, rows[first[rows]]].max(axis=1)
        chosen = []
        for _ in range(4):
            gains = [
                -1 if first[row] or row in chosen else
                prior[rows] @ np.maximum(similar[rows, row] - best, 0) for row in rows
            ]  # fmt: skip
            chosen.append(rows[int(np.argmax(gains))])
            best = np.maximum(best, similar[rows, chosen[-1]])
        assert sorted(chosen) == np.flatnonzero(second & (T["qid"] == topic)).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("selector", [None, Longest(), "uncertainty"])
def test_a_share_of_the_documents(T, selector):
    predictor = LabelPredictor(selector=selector).fit(T)
    for share, number in ((1 / 24, 1), (0.125, 3), (0.2, 5)):
        asked = mask(predictor, T, share)
        np.testing.assert_array_equal(asked, mask(predictor, T, number))
        assert T["qid"][asked].value_counts().tolist() == [number, number]


@pytest.mark.slow
def test_only_what_a_strategy_asks_for_is_learned_from(T):
    full = T.assign(label=T["truth"])
    for budget, number in ((5, 5), (0.25, 6)):
        params = {"one_class": "pool"}
        predictor = LabelPredictor(selector=Longest(), n_per_query=budget, **params).fit(full)
        asked = mask(Longest().fit(T["text"], groups=T["qid"]), number)
        hidden = LabelPredictor(**params).fit(full.assign(label=T["truth"].where(asked)))
        np.testing.assert_array_equal(predictor.imputed_, ~asked)
        new = T.drop(columns=["label", "docno"])
        pd.testing.assert_frame_equal(predictor.transform(new), hidden.transform(new))
    # Labels that are there stay.
    assert predictor.fit_transform(full)["label"].tolist() == T["truth"].tolist()
    assert not predictor.fit_transform(full)["imputed"].any()
    pd.testing.assert_frame_equal(predictor.fit_transform(T), predictor.fit(T).transform(T))


def test_a_strategy_chooses_among_what_is_judged(T):
    """As if the judged documents were the pool."""
    judged = T["label"].notna()
    predictor = LabelPredictor(n_per_query=3).fit(T)
    asked = mask(MaxRepSelector().fit(T["text"][judged], groups=T["qid"][judged]), 3)
    np.testing.assert_array_equal(~predictor.imputed_[judged], asked)
    assert predictor.imputed_[~judged].all()
    everything = LabelPredictor(n_per_query=1000).fit(T)
    np.testing.assert_array_equal(everything.imputed_, ~judged)


def test_bad_queries(T):
    predictor = LabelPredictor().fit(T)
    for n in (0, 1.5, True, -1):
        with pytest.raises(ValueError, match=r"n_per_query must be a whole|share must be a number"):
            mask(predictor, T, n)
    unsure = LabelPredictor(selector="uncertainty")
    with pytest.raises(sklearn.exceptions.NotFittedError):
        mask(unsure, T, 1)
    with pytest.raises(ValueError, match="prior needs a strategy: 'uncertainty' makes no use"):
        mask(unsure.fit(T), T, 1, prior=np.ones(len(T)))
    sampling = LabelPredictor(selector=StatAPSelector())
    with pytest.raises(
        ValueError, match=r"selector must be .* one order.*StatAPSelector\(.*select"
    ):
        mask(sampling, T, 1, prior=np.ones(len(T)))
    with pytest.raises(ValueError, match="X must be a rank table, or a dict"):
        mask(LabelPredictor(selector=PoolingSelector()), T, 1)

"""Relevance feedback: its order, and how often it stops too early."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from pickled_threads import pickled_threads
from skfilterrank.judgments import FeedbackSelector, MaxRepSelector
from skfilterrank.judgments._feedback_selector import chance_of_miss, least_relevant, size_when_dry
from thinned import thinned

NAN = np.nan


def collection(n=120, n_relevant=18, seed=0):
    """Features of a query's documents, their labels, and a prior that knows a little."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n) < n_relevant).astype(float)
    X = rng.normal(size=(n, 3)) + 1.5 * labels[:, None]
    return X, labels, rng.uniform(size=n) + 0.3 * labels


def rounds_of(selector, X, truth, prior=None):
    """Judge round by round; yield the selector and the rows of each round."""
    labels, groups = np.full(len(truth), NAN), np.zeros(len(truth))
    while True:
        selector = clone(selector).fit(X, labels, groups=groups, prior=prior)
        rows = selector.select()
        yield selector, labels.copy(), rows
        if not len(rows):
            return
        labels[rows] = truth[rows]


def test_the_first_round_is_the_prior_and_a_sample():
    prior = np.arange(30) / 30
    selector = FeedbackSelector(sample=0.2).fit(np.zeros((30, 1)), groups=[1] * 30, prior=prior)
    rows = selector.select()
    assert set(range(20, 30)) <= set(rows)
    # Without labels the order is that of the prior, whatever is in the sample.
    np.testing.assert_array_equal(selector.ranking_, 30 - np.arange(30))
    np.testing.assert_array_equal(selector.gains_, prior)
    assert selector.progress_.loc[1, "n_sample"] == 6
    whole = FeedbackSelector(sample=5).fit(np.zeros((30, 1)), groups=[1] * 30, prior=prior)
    assert whole.progress_.loc[1, "n_sample"] == 5
    # The first of the sample and the batch are those of the order.
    np.testing.assert_array_equal(selector.select(n_per_query=3), [27, 28, 29])
    n_round = len(rows)
    np.testing.assert_array_equal(selector.select(n_per_query=n_round), rows)
    beyond = set(selector.select(n_per_query=n_round + 1)) - set(rows)
    assert beyond == {max(set(range(30)) - set(rows))}


def test_the_second_batch_is_that_of_a_model_of_the_first():
    X, truth, prior = collection(40, 8)
    first = np.argsort(-prior)[:10]
    labels = np.full(40, NAN)
    labels[first] = truth[first]
    selector = FeedbackSelector(sample=0).fit(X, labels, groups=[1] * 40, prior=prior)
    # All others are presumed not relevant, as they are fewer than 100.
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    classes = np.where(np.isnan(labels), 0, labels)
    by_hand = LogisticRegression(tol=1e-8).fit(scaled, classes).predict_proba(scaled)[:, 1]
    rest = np.setdiff1d(np.arange(40), first)
    np.testing.assert_array_equal(selector.ranking_[first], np.arange(1, 11))
    assert np.isnan(selector.gains_[first]).all()
    np.testing.assert_allclose(selector.gains_[rest], by_hand[rest], atol=1e-3)
    np.testing.assert_array_equal(selector.ranking_[rest].argsort(), (-by_hand[rest]).argsort())
    # The second batch is a tenth larger than the first.
    ordered = rest[(-by_hand[rest]).argsort()]
    np.testing.assert_array_equal(selector.select(), np.sort(ordered[:11]))
    # What is judged takes no place of a budget.
    np.testing.assert_array_equal(selector.select(n_per_query=15), np.sort(ordered[:15]))


@pytest.mark.parametrize("sample", [0, 0.3])
def test_rounds_follow_the_order_of_all_labels(sample):
    X, truth, prior = collection()
    whole = FeedbackSelector().fit(X, truth, groups=np.zeros(120), prior=prior)
    assert np.isnan(whole.gains_).all()
    sizes = []
    for selector, labels, _rows in rounds_of(
        FeedbackSelector(target_recall=1, sample=sample), X, truth, prior
    ):
        assert np.isnan(labels[labels != truth]).all()
        reached = np.isnan(selector.gains_)
        sizes.append(np.count_nonzero(reached))
        # Labels of the sample that the order has not reached do not change it.
        np.testing.assert_array_equal(selector.ranking_[reached], whole.ranking_[reached])
        assert (whole.ranking_[reached] <= sizes[-1]).all()
    assert sizes[:5] == [0, 10, 21, 34, 49]
    assert not np.isnan(labels).any()
    assert selector.progress_["may_stop"].all()


def test_texts_and_features_find_what_is_relevant_early():
    rng = np.random.default_rng(0)
    truth = (np.arange(300) % 20 == 0).astype(float)
    words = {1.0: ["wing", "lift", "flow", "speed"], 0.0: ["soup", "bread", "flow", "salt"]}
    texts = [" ".join(rng.choice(words[each], 4)) for each in truth]
    groups = np.zeros(300)
    by_texts = FeedbackSelector().fit(texts, truth, groups=groups)
    # Once one is found, the others follow.
    assert np.ptp(by_texts.ranking_[truth > 0]) < 25
    X = rng.normal(size=(300, 2)) * [1, 1e6] + 3 * truth[:, None]
    by_features = FeedbackSelector().fit(X, truth, groups=groups)
    assert np.median(by_features.ranking_[truth > 0]) < 90
    dense = FeedbackSelector().fit(np.eye(300), truth, groups=groups)
    thin = FeedbackSelector().fit(sparse.eye_array(300, format="csr"), truth, groups=groups)
    for each in (dense, thin):
        assert sorted(each.ranking_) == list(range(1, 301))


def test_a_text_that_is_written_twice_has_the_same_probability():
    texts = [f"{a} {b}" for a, b in product(["wing", "lift", "soup"], ["flow", "bread", "salt"])]
    labels, prior = np.where(np.arange(18) < 10, np.arange(18) % 2, NAN), 18.0 - np.arange(18)
    one, other = (
        FeedbackSelector(sample=0).fit(each, labels, groups=np.zeros(18), prior=prior).gains_[10:]
        for each in (texts * 2, texts + [f"{text} {text}" for text in texts])
    )
    np.testing.assert_allclose(other, one, atol=1e-3)


def test_the_size_of_the_sample_when_the_order_runs_dry():
    # Batches end at 10, 21, 34, 49 and 66: there 50 documents follow the last relevant one. With 3
    # found, one may be missing, and a sample of 190 of 200 does not hold it with 0.05.
    places = np.array([1, 2, 16])
    assert [size_when_dry(200, places, end, 0.8, 0.05) for end in (65, 66, 99)] == [0, 190, 190]
    # With 8 found, 3 are missing: C(200 - n, 3) / C(200, 3) is 0.0514 for 125 and 0.0494 for 126.
    assert size_when_dry(200, np.arange(1, 9), 66, 0.8, 0.05) == 126
    # Of 2,000 documents 1,900 would be in the sample: the order goes on until 190 are not relevant.
    ends = (297, 298, 2000)
    assert [size_when_dry(2000, places + 92, end, 0.8, 0.05) for end in ends] == [0, 1900, 1900]
    # Recall below 0.01 would mean more missing documents than there are: any sampled one shows it.
    assert size_when_dry(200, places, 66, 0.01, 0.05) == 1
    # The last of 70 documents end a batch after 53 others, and no sample is needed any more.
    assert size_when_dry(70, np.array([1, 2, 17]), 70, 0.8, 0.05) == 0
    # The order goes on where nothing relevant is found, or something not long ago.
    assert size_when_dry(200, np.array([], dtype=int), 200, 0.8, 0.05) == 0
    assert size_when_dry(200, np.arange(20, 200, 20), 200, 0.8, 0.05) == 0


def test_no_sample_before_the_order_runs_dry():
    X, truth, prior = collection(600, 40)
    X += 4 * truth[:, None]
    seen = [
        (each.progress_.iloc[0], rows)
        for each, _, rows in rounds_of(FeedbackSelector(), X, truth, prior)
    ]
    sizes = [state["n_sample"] for state, _ in seen]
    assert [len(rows) for _, rows in seen[:4]] == [10, 11, 13, 15]
    assert sizes[0] == 0
    drawn = next(size for size in sizes if size)
    assert set(sizes) == {0, drawn}
    last = seen[-1][0]
    assert last["n_needed"] <= last["n_relevant"]
    assert last["n_relevant"] >= 32
    assert last["n_judged"] < 400


def test_chance_by_hand():
    def chance(target=0.8, **changed):
        state = {"n_documents": 10, "n_sample": 4, "n_judged": 5, "n_relevant": 4}
        state |= {"n_ahead": 0, "n_waiting": 0} | changed
        return float(chance_of_miss(*state.values(), target))

    # Of 4 found at least 2 more are missing: 4 of 6 are less than 0.8, 4 of 5 are not. The sample
    # of 4 of 10 holds none of 2 with a chance of C(8, 4) / C(10, 4).
    assert chance() == pytest.approx(70 / 210)
    # One relevant document of the sample is still ahead: at most 1 of 3.
    assert chance(n_ahead=1) == pytest.approx((35 + 3 * 35) / 210)
    # With one document left, nothing can be missing; before, the sample must be judged.
    assert chance(n_judged=9) == chance(n_judged=9, n_waiting=1) == 0.0
    assert chance(n_judged=8) == pytest.approx(70 / 210)
    assert np.isnan(chance(n_judged=8, n_waiting=1))
    # Nothing relevant: one document could be missing.
    assert chance(n_relevant=0) == pytest.approx(6 / 10)
    # 33 of 60 are 0.55 by decimal digits, but 33 / 0.55 is below 60 as floats.
    state = {"n_documents": 100, "n_sample": 2, "n_judged": 40, "n_relevant": 33}
    assert chance(0.55, **state) == pytest.approx((72 * 71) / (100 * 99))
    assert chance(1.0) == pytest.approx(0.6)


@pytest.mark.parametrize("n_sample", [0, 1, 4, 9, 19])
@pytest.mark.parametrize("target", [0.5, 0.8, 1.0])
def test_the_least_number_of_relevant_documents(n_sample, target):
    # The first number found at which a query may stop, if all that is judged is relevant.
    found = np.arange(21)
    stops = found[chance_of_miss(20, n_sample, found, found, 0, 0, target) <= 0.3]
    assert least_relevant(20, n_sample, target, 0.3) == stops[0]


@pytest.mark.parametrize(
    ("target", "n_found", "missing"),
    [
        # 2,500 of 3,750 are two thirds, 2,500 of 3,751 are not; 0.8 stays 0.8 in float32.
        (2 / 3, 2500, 1251),
        (1 / 3, 2500, 5001),
        (np.float32(0.8), 4, 2),
        (0.8, 4, 2),
        (np.float32(0.7), 7, 4),
        (1e-9, 2, 1_999_999),
        (1.0, 10**9, 1),
    ],
)
def test_targets_are_exact(target, n_found, missing):
    state = {"n_documents": 10**7, "n_sample": 1, "n_judged": 10**7 - missing}
    for more, chance in ((0, 1 - missing / 10**7), (1, 0.0)):
        state["n_judged"] += more
        found = chance_of_miss(*state.values(), n_found, 0, 0, target)
        assert found == pytest.approx(chance)


def test_targets_of_many_relevant_documents():
    # 2,500 of 5,000 documents are relevant: enough for a sample of 100.
    X, groups = np.arange(5000.0)[:, None], np.zeros(5000)
    labels = np.where(np.arange(5000) < 2500, 1.0, np.where(np.arange(5000) < 3000, 0, NAN))
    for target in (2 / 3, 1 / 3, np.float32(0.8)):
        selector = FeedbackSelector(target_recall=target, sample=0, confidence_level=0.5)
        state = selector.fit(X, labels, groups=groups).progress_.iloc[0]
        # A sample of 0 says nothing, so that only a third is sure: 2,500 of at most 4,500.
        assert (state["chance"], state["may_stop"]) == ((0, True) if target < 0.5 else (1, False))


@pytest.mark.parametrize(("n_documents", "confidence"), [(20, 0.95), (30, 0.9), (50, 0.98)])
def test_a_chance_that_is_just_allowed(n_documents, confidence):
    # Outside of the sample are 1, 3 and 1 documents: the missing one with 0.05, 0.1 and 0.02.
    n_sample = round(confidence * n_documents)
    X, groups = np.arange(n_documents)[:, None], np.zeros(n_documents)
    selector = FeedbackSelector(sample=n_sample, target_recall=1, confidence_level=confidence)
    labels = np.where(selector.fit(X, groups=groups)._sampled, 0, NAN)
    selector.fit(X, labels, groups=groups)
    state = selector.progress_.iloc[0]
    assert state["chance"] == pytest.approx(1 - confidence)
    assert state["may_stop"]
    assert state["n_needed"] == 0
    assert size_when_dry(400, np.array([1]), 66, 1, 1 - confidence) == round(confidence * 400)


@pytest.mark.parametrize("target", [0.5, 2 / 3, 0.7, 1.0])
@pytest.mark.parametrize("others", [[], [4, 7]])
def test_no_wrong_stop_is_more_likely_than_stated(target, others):
    # All samples of 4 of 9 documents, all sets of relevant ones, stops after each document. Others
    # have labels that nobody asked for.
    n, size = 9, 4
    samples = np.array([[i in some for i in range(n)] for some in combinations(range(n), size)])
    relevant = np.array(list(product([0, 1], repeat=n)))
    passed = np.arange(n) < np.arange(n + 1)[:, None]
    judged = samples[:, None] | passed | np.isin(np.arange(n), others)
    found, ahead = judged @ relevant.T, (samples[:, None] & ~passed) @ relevant.T
    chances = chance_of_miss(n, size, *np.indices((n + 1,) * 3), 0, target)
    chance = chances[judged.sum(axis=-1)[..., None], found, ahead]
    too_few = found < target * relevant.sum(axis=1) - 1e-9
    for confidence in (0.6, 0.8):
        highest = ((chance <= 1 - confidence) & too_few).any(axis=1).mean(axis=0).max()
        assert highest <= 1 - confidence
        # It does not hold by never stopping.
        assert highest > 0 or target == 1.0


@pytest.mark.nightly
@pytest.mark.parametrize("sample", ["auto", 0.2, 0.4])
def test_recall_where_it_stops(sample):
    X, truth, prior = collection(250, 50, seed=1)
    stops = []
    for seed in range(200):
        selector = FeedbackSelector(sample=sample, confidence_level=0.8, random_state=seed)
        *_, (selector, labels, _) = rounds_of(selector, X, truth, prior)
        stops.append((np.nansum(labels) / 50, np.mean(~np.isnan(labels))))
    recall, judged = np.array(stops).T
    assert np.mean(recall >= 0.8) >= 0.8
    assert judged.mean() < 0.9


def test_progress_counts_what_is_judged():
    X, truth, prior = collection(60, 12)
    groups = np.repeat(["b", "a"], 30)
    labels = truth.copy()
    labels[:5] = NAN
    progress = FeedbackSelector(sample=1.0).fit(X, labels, groups=groups).progress_
    assert progress.index.name == "qid"
    assert progress.index.tolist() == ["a", "b"]
    assert progress["n_judged"].tolist() == [30, 25]
    assert progress["n_relevant"].tolist() == [truth[30:].sum(), truth[5:30].sum()]
    # Labels of the sample are missing in b: nobody knows how much there is.
    assert progress["may_stop"].tolist() == [True, False]
    assert progress["chance"].isna().tolist() == [False, True]
    # A budget asks for more, also where a query may stop.
    selector = FeedbackSelector(target_recall=0.5, confidence_level=0.01, sample=1).fit(
        X, np.where(np.arange(60) % 3, truth, NAN), groups=groups, prior=prior
    )
    with pytest.warns(match="above the number of documents"):
        assert len(selector.select(n_per_query=99)) == 20


def test_a_total_counts_what_is_not_judged():
    # Of two queries of 50 documents, 49 and none are judged; MAXREP leaves them out as well.
    X, groups = np.random.default_rng(0).normal(size=(100, 2)), np.repeat([0, 1], 50)
    judged = np.arange(100) < 49
    feedback = FeedbackSelector().fit(X, np.where(judged, 1.0, NAN), groups=groups)
    for selector in (feedback, MaxRepSelector().fit(abs(X), groups=groups, judged=judged)):
        rows = selector.select(n_total=30)
        assert np.bincount(groups[rows]).tolist() == [1, 29]
        assert not judged[rows].any()
        with pytest.warns(match="n_total=60 is above the number of documents to select from, 51:"):
            assert selector.select(n_total=60).tolist() == list(range(49, 100))


def test_labels_that_no_round_asks_for_are_counted():
    X, truth, prior = collection(600, 40)
    for selector, *_ in rounds_of(FeedbackSelector(), X, truth, prior):
        assert selector.progress_["n_other"].tolist() == [0]
    # Half of a round, which another seed does not ask for.
    labels, groups = np.full(600, NAN), np.zeros(600)
    selector = FeedbackSelector(sample=20).fit(X, groups=groups, prior=prior)
    labels[selector.select()[::2]] = 0
    selector = FeedbackSelector(sample=20).fit(X, labels, groups=groups, prior=prior)
    assert selector.progress_["n_other"].tolist() == [0]
    other = FeedbackSelector(sample=20, random_state=1).fit(X, labels, groups=groups, prior=prior)
    asked = FeedbackSelector(sample=20, random_state=1).fit(X, groups=groups, prior=prior).select()
    expected = len(np.setdiff1d(np.flatnonzero(labels == 0), asked))
    assert other.progress_["n_other"].tolist() == [expected]
    assert expected > 5


def test_nothing_relevant_is_judged_whole():
    X, truth, prior = collection(40, 0)
    *_, (selector, labels, _) = rounds_of(FeedbackSelector(sample=0.5), X, truth, prior)
    assert not np.isnan(labels).any()
    np.testing.assert_array_equal(np.argsort(selector.ranking_), np.argsort(-prior))
    assert selector.progress_["chance"].tolist() == [0.0]


def test_everything_relevant():
    X, truth, prior = collection(40, 40)
    *_, (selector, labels, _) = rounds_of(FeedbackSelector(sample=0.5), X, truth, prior)
    assert np.nansum(labels) >= 0.8 * 40
    assert selector.progress_["may_stop"].all()


def test_a_document_without_a_label_is_asked_about_again():
    X, truth, prior = collection()
    labels = truth.copy()
    labels[np.argsort(-prior)[3]] = NAN
    selector = FeedbackSelector(target_recall=1, sample=0).fit(
        X, labels, groups=np.zeros(120), prior=prior
    )
    assert selector.select().tolist() == [np.argsort(-prior)[3]]


def test_rows_names_and_jobs_do_not_matter():
    parts = [collection(60, 10, seed) for seed in range(3)]
    X, truth, prior = map(np.concatenate, zip(*parts))
    truth[::7] = NAN
    groups = np.repeat(["x", "y", "z"], 60)
    one = FeedbackSelector().fit(X, truth, groups=groups, prior=prior)
    order = np.random.default_rng(0).permutation(180)
    names = np.repeat([3, 1, 2], 60)
    other = FeedbackSelector().fit(X[order], truth[order], groups=names[order], prior=prior[order])
    np.testing.assert_array_equal(other.ranking_, one.ranking_[order])
    np.testing.assert_array_equal(other.gains_, one.gains_[order])
    np.testing.assert_array_equal(np.sort(order[other.select()]), one.select())
    np.testing.assert_array_equal(
        other.progress_.loc[[3, 1, 2]].to_numpy(float), one.progress_.to_numpy(float)
    )
    with pickled_threads():
        two = FeedbackSelector(n_jobs=2).fit(X, truth, groups=groups, prior=prior)
    np.testing.assert_array_equal(two.ranking_, one.ranking_)


def test_random_state_draws_the_sample_and_decides_between_equals():
    X, groups = np.arange(60.0)[:, None], np.zeros(60)

    def first_round(seed):
        return FeedbackSelector(sample=0.2, random_state=seed).fit(X, groups=groups).select()

    np.testing.assert_array_equal(first_round(0), first_round(0))
    smaller = FeedbackSelector(sample=4).fit(X, groups=groups).select()
    assert set(smaller) < set(FeedbackSelector(sample=15).fit(X, groups=groups).select())
    # Without a prior all are equal: 10 of 60 at random, and 12 in the sample of a fifth.
    n = len(thinned(range(75)))
    n_drawn = np.bincount(np.concatenate([first_round(seed) for seed in range(n)]), minlength=60)
    expected = n * (1 - 50 / 60 * 48 / 60)
    assert abs(n_drawn - expected).max() < 5 * np.sqrt(expected * (1 - expected / n))
    assert n_drawn.mean() == pytest.approx(expected, rel=0.03)


def test_equal_scores_keep_their_random_order():
    # After the first batch all others have one text, and so one probability.
    X, labels, prior = np.zeros((40, 1)), np.full(40, NAN), 40.0 - np.arange(40)
    X[0], labels[:10] = 1, np.arange(10) < 1
    selector = FeedbackSelector(sample=0).fit(X, labels, groups=np.zeros(40), prior=prior)
    assert len(set(selector.gains_[10:])) == 1
    assert (np.diff(selector.ranking_[10:]) < 0).any()


def test_labels_become_gains():
    X, truth, _ = collection(20, 5)
    words = np.where(truth > 0, "yes", "bad").astype(object)
    words[0] = None
    selector = FeedbackSelector(gains={"yes": 1, "bad": -1}).fit(X, words, groups=np.zeros(20))
    assert selector.progress_["n_judged"].tolist() == [19]
    assert selector.progress_["n_relevant"].tolist() == [truth[1:].sum()]


GOOD = {"X": np.arange(6.0)[:, None], "y": [1, 0, NAN, 0, 1, 0], "groups": [1] * 6}


@pytest.mark.parametrize(
    ("params", "changed", "message"),
    [
        ({"target_recall": 0}, {}, "target_recall must be a finite number above 0"),
        ({"target_recall": 1.2}, {}, "target_recall must be a finite number above 0"),
        ({"confidence_level": 1}, {}, "confidence_level must be a number between 0 and 1"),
        *(
            ({"sample": size}, {}, r'sample must be "auto", a share .*, or a number .*, got ')
            for size in (1.5, True, "half", -1, None, [1], NAN, 5.0)
        ),
        ({"random_state": None}, {}, "all rounds have the same sample, got None"),
        ({"gains": 3}, {}, "gains must be None"),
        ({}, {"y": [1, 0]}, "y has 2 labels but X has 6 rows"),
        ({}, {"X": [[NAN]] * 6}, "Input X contains NaN"),
        ({}, {"X": [["wing"]] * 6}, "got a table with texts: pass texts as a list or one column"),
        ({}, {"X": pd.DataFrame({"qid": [1] * 6, "length": range(6)})}, "X has a column 'qid'"),
        (
            {},
            {"X": pd.DataFrame({"run": range(6)}).rename_axis("run", axis=1)},
            "but is a rank table",
        ),
        ({}, {"X": ["", "", "", "", "", " "]}, "without a term"),
        ({}, {"groups": None}, "groups"),
    ],
)
def test_bad_input(params, changed, message):
    given = GOOD | changed
    with pytest.raises(ValueError, match=message):
        FeedbackSelector(**params).fit(given.pop("X"), given.pop("y"), **given)


def test_labels_of_other_rows():
    index = pd.MultiIndex.from_product([["1"], list("abcdef")], names=["qid", "docno"])
    X = pd.DataFrame({"length": range(6)}, index=index)
    y = pd.Series(GOOD["y"], index=index)
    assert FeedbackSelector(sample=0).fit(X, y).progress_.index.tolist() == ["1"]
    with pytest.raises(ValueError, match=r"X and y have different indexes.*y.reindex\(X.index\)\."):
        FeedbackSelector().fit(X, y[::-1])

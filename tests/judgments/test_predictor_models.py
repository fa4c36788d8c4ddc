"""Models of ordered labels and their chances, and label sets drawn by a model of all pairs."""

import warnings

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from judgment_tables import NAN, NOISE, WORDS, make_table, parts
from skfilterrank._base.probabilities import fit_calibrator, probabilities
from skfilterrank._lists.content import hash_rows
from skfilterrank.exceptions import FitWarning, InputError
from skfilterrank.judgments import LabelPredictor
from skfilterrank.judgments._predictor_models import LevelModel, sample_labels


class Fixed(DummyClassifier):
    """Says what the document says: chance of a 1 is column `share` of ones among rows above."""

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y)
        self.share_ = np.mean(y)
        return self

    def predict_proba(self, X):
        chance = np.clip(self.share_ + np.asarray(X)[:, 0], 0, 1)
        return np.column_stack([1 - chance, chance])

    def predict(self, X):
        return (self.predict_proba(X)[:, 1] > 0.5).astype(int)


def test_chances_of_three_labels_by_hand():
    # Labels -1, 0, 2 of one, two and one judged documents: P(> -1) = 3/4, P(> 0) = 1/4, to which
    # the shift of the new document is added.
    X = np.array([[0.0], [0.0], [0.0], [0.0], [0.1], [-0.5]])
    fitted = LabelPredictor(Fixed()).fit(X, [-1.0, 0, 0, 2, NAN, NAN], [1] * 6)
    assert fitted.classes_.tolist() == [-1, 0, 2]
    found = fitted.predict_proba(X[4:], [1, 1])
    np.testing.assert_allclose(found, [[0.15, 0.5, 0.35], [0.75, 0.25, 0]], atol=1e-12)
    assert fitted.predict(X, [1] * 6).tolist()[4:] == [0.0, -1.0]


class Says:
    """A classifier that says the same of every row."""

    def __init__(self, chance):
        self.chance = chance

    def predict(self, X):
        return np.full(len(X), int(self.chance > 0.5))

    def predict_proba(self, X):
        return np.tile([1 - self.chance, self.chance], (len(X), 1))

    def decision_function(self, X):
        return np.full(len(X), self.chance)


def test_steps_that_contradict_each_other():
    # P(> 0) = 0.3, and P(> 1) = 0.6, which cannot be more: 0.3. So 0.7, 0, 0.3; the label is 0.
    model = LevelModel(np.array([0.0, 1.0, 2.0]), [Says(0.3), Says(0.6)])
    np.testing.assert_allclose(model.chances(np.empty((2, 1)), None), [[0.7, 0, 0.3]] * 2)
    assert model.labels(np.empty((2, 1))).tolist() == [0, 0]
    # P(> 0) = 0.8, P(> 1) = 0.6: 0.2, 0.2, 0.6; two steps up.
    model = LevelModel(np.array([0.0, 1.0, 2.0]), [Says(0.8), Says(0.6)])
    np.testing.assert_allclose(model.chances(np.empty((1, 1)), None), [[0.2, 0.2, 0.6]])
    assert model.labels(np.empty((1, 1))).tolist() == [2]
    # A curve reads margins.
    model = LevelModel(np.array([0.0, 1.0]), [Says(3.0)])
    found = model.chances(np.empty((1, 1)), lambda margins: margins / 4)
    np.testing.assert_allclose(found, [[0.25, 0.75]])


@pytest.mark.slow
def test_one_sigmoid_of_held_out_margins_by_hand():
    T = make_table(n_docs=40, labels=(-1.0, 1.0, 2.0))
    predictor = LabelPredictor().fit(*parts(T))
    X = predictor.vectorizer_.transform(T["text"])
    svm = LinearSVC(class_weight="balanced", random_state=0)
    margins, is_above, models = [], [], {}
    for query in WORDS:
        judged = np.flatnonzero((T["qid"] == query) & T["label"].notna())
        for level in (-1.0, 1.0):
            above = (T["label"].iloc[judged] > level).to_numpy().astype(int)
            models[query, level] = clone(svm).fit(X[judged], above)
            n_folds = min(5, above.sum(), (1 - above).sum())
            order = np.lexsort((hash_rows(X[judged]), above))
            judged, above = judged[order], above[order]
            for train, test in StratifiedKFold(n_folds).split(above, above):
                fitted = clone(svm).fit(X[judged[train]], above[train])
                margins += fitted.decision_function(X[judged[test]]).tolist()
                is_above += above[test].tolist()
    curve = fit_calibrator("sigmoid", np.array(margins), np.array(is_above) > 0)
    found = predictor.predict_proba(T["text"], T["qid"])
    for query in WORDS:
        rows = np.flatnonzero(T["qid"] == query)
        first, second = (
            probabilities(curve, models[query, level].decision_function(X[rows]))
            for level in (-1.0, 1.0)
        )
        second = np.minimum(first, second)
        expected = np.column_stack([1 - first, first - second, second])
        np.testing.assert_allclose(found[rows], expected, atol=1e-3)


@pytest.mark.slow
def test_a_sigmoid_corrects_balanced_classes():
    # One judged document in ten is relevant; balanced classes alone put the mean near a half.
    T = make_table(n_docs=200, share=0.4, labels=(0.0,) * 9 + (1.0,))
    rng = np.random.RandomState(0)
    T["text"] = [
        " ".join(rng.choice(NOISE, 5)) + (f" {rng.choice(WORDS[q])}" if rng.rand() < p else "")
        for q, p in zip(T["qid"], np.where(T["truth"] > 0, 0.7, 0.2))
    ]
    predictor = LabelPredictor().fit(*parts(T))
    truth, errors = T["truth"].to_numpy()[predictor.imputed_], []
    for curve in (predictor._learned.curve, expit):
        predictor._learned = predictor._learned._replace(curve=curve)
        with warnings.catch_warnings(action="ignore", category=FitWarning):
            found = predictor.predict_proba(T["text"], T["qid"])[predictor.imputed_, 1]
        errors.append(np.mean((found - truth) ** 2))
        if curve is not expit:
            assert found.mean() == pytest.approx(T["label"].mean(), abs=0.04)
    assert errors[0] < 0.6 * errors[1]


@pytest.mark.slow
def test_too_few_judged_rows_leave_margins_as_they_are():
    T = make_table(n_docs=6, share=0.0)
    predictor = LabelPredictor().fit(*parts(T))  # labels are not touched by it
    with pytest.warns(FitWarning, match="the chances are not calibrated") as caught:
        found = predictor.predict_proba(T["text"], T["qid"])[:, 1]
    assert caught[0].filename == __file__
    with pytest.warns(FitWarning, match="the chances are not calibrated"):
        predictor.sample(2)
    X = predictor.vectorizer_.transform(T["text"])
    for query in WORDS:
        rows = np.flatnonzero(T["qid"] == query)
        judged = rows[T["label"].iloc[rows].notna()]
        svm = LinearSVC(class_weight="balanced", random_state=0)
        margins = svm.fit(X[judged], T["label"].iloc[judged]).decision_function(X[rows])
        np.testing.assert_allclose(found[rows], 1 / (1 + np.exp(-margins)), atol=1e-6)
    # A classifier with chances of its own asks for no calibration.
    LabelPredictor(LogisticRegression()).fit(*parts(T)).sample(2)


def _data(seed=0, n_queries=6, n_rows=20):
    rng = np.random.RandomState(seed)
    groups = np.repeat(np.arange(n_queries), n_rows)
    features = rng.randn(len(groups), 3)
    y = np.digitize(features[:, 0] + 0.5 * rng.randn(len(groups)), [0.3, 1.2]) * 1.0
    y[rng.rand(len(groups)) < 0.5] = np.nan
    return features, y, groups


def _sample(features, y, groups, **params):
    return sample_labels(features, y, groups, **{"random_state": 0, "n_draws": 5} | params)


def test_known_labels_stay_and_the_others_vary():
    features, y, groups = _data()
    sets = _sample(features, y, groups)
    known = ~np.isnan(y)
    assert sets.shape == (5, len(y))
    assert (sets[:, known] == y[known]).all()
    assert set(np.unique(sets)) == {0.0, 1.0, 2.0}
    assert 0 < (np.ptp(sets, axis=0) > 0)[~known].mean() < 1
    # The first column tells high labels.
    assert np.corrcoef(sets.mean(axis=0)[~known], features[~known, 0])[0, 1] > 0.6


@pytest.mark.parametrize("classifier", [None, DecisionTreeClassifier(max_depth=2, random_state=0)])
def test_neither_order_nor_names_nor_jobs_count(classifier):
    features, y, groups = _data()
    sets = _sample(features, y, groups, classifier=classifier)
    order = np.random.RandomState(1).permutation(len(y))
    names = np.array(["x", "b", "m", "a", "z", "c"])[groups]
    again = _sample(features[order], y[order], names[order], classifier=classifier, n_jobs=2)
    np.testing.assert_array_equal(again, sets[:, order])
    assert (_sample(features, y, groups, random_state=1) != sets).any()


def test_a_changed_label_changes_no_random_number():
    features, y, groups = _data()
    changed = y.copy()
    row = int(np.flatnonzero(~np.isnan(y))[0])
    changed[row] = 1 - y[row] if y[row] < 2 else 0
    other = DummyClassifier(strategy="uniform", random_state=0)
    before = _sample(features, y, groups, classifier=other)
    after = _sample(features, changed, groups, classifier=other)
    unjudged = np.isnan(y)
    np.testing.assert_array_equal(after[:, unjudged], before[:, unjudged])


def test_labels_are_drawn_by_their_chances():
    # The prior of the classifier is the share of labels in the judged rows: 0, 1 and 3.
    groups = np.repeat(np.arange(40), 100)
    y = np.full(len(groups), np.nan)
    y.reshape(40, 100)[:, :10] = [0, 0, 0, 0, 0, 1, 1, 1, 3, 3]
    features = np.arange(len(y), dtype=float)[:, np.newaxis]
    prior = DummyClassifier(strategy="prior")
    drawn = _sample(features, y, groups, classifier=prior)[:, np.isnan(y)]
    shares = [np.mean(drawn == label) for label in (0, 1, 3)]
    assert shares == pytest.approx([0.5, 0.3, 0.2], abs=0.01)
    # Log-odds of labels above 0 that fall by log 2: odds of 0.5 instead of 1.
    less = _sample(features, y, groups, classifier=prior, offset=np.full(len(y), -np.log(2)))
    shares = [np.mean(less[:, np.isnan(y)] == label) for label in (0, 1, 3)]
    assert shares == pytest.approx([2 / 3, 0.2, 0.4 / 3], abs=0.01)


def test_each_set_disturbs_the_runs_beyond_the_judged_depth():
    groups = np.repeat(np.arange(40), 100)
    y = np.full(len(groups), np.nan)
    y.reshape(40, 100)[:, :10] = [0, 1] * 5
    features = np.arange(len(y), dtype=float)[:, np.newaxis]
    # Two runs that nothing is known of: one disturbs half of the unjudged rows, one no row.
    tail = np.zeros((len(y), 2))
    tail.reshape(40, 100, 2)[:, 55:, 0] = 20.0
    prior = DummyClassifier(strategy="prior")
    sets = _sample(features, y, groups, classifier=prior, tail=tail, n_draws=40)
    beyond, within = tail[:, 0] > 0, np.isnan(y) & (tail[:, 0] == 0)
    shares = sets[:, beyond].mean(axis=1)
    # exp(0.45 * 20 * z) is below 1 / 9 or above 9 with chance 0.81.
    is_clear = (shares < 0.1) | (shares > 0.9)
    assert is_clear.mean() == pytest.approx(0.81, abs=0.15)
    assert min((shares < 0.1).mean(), (shares > 0.9).mean()) > 0.2
    np.testing.assert_allclose(sets[:, within].mean(axis=1), 0.5, atol=0.05)


def test_whole_queries_are_drawn_with_replacement():
    # Each query has its own label, so a query that is not drawn has a label that nothing gets.
    groups = np.repeat(np.arange(8), 2)
    y = np.tile([0.0, np.nan], 8)
    y[::2] = np.arange(8)
    prior = DummyClassifier(strategy="prior")
    many = _sample(np.ones((16, 1)), y, groups, classifier=prior, n_draws=400)
    # A label that stands k times among 8 drawn queries is given to a row with chance k / 8.
    times = binom.pmf(np.arange(9), 8, 1 / 8)
    expected = 8 * (1 - times @ (1 - np.arange(9) / 8) ** 8)
    n_labels = np.mean([len(np.unique(labels[1::2])) for labels in many])
    assert n_labels == pytest.approx(expected, abs=0.2)


def test_one_label_in_the_drawn_queries_is_given_to_all():
    groups = np.array([0, 0, 1, 1])
    y = np.array([1.0, np.nan, 0.0, np.nan])
    sets = _sample(np.arange(4.0)[:, np.newaxis], y, groups, n_draws=40)[:, [1, 3]]
    shares = [(sets == label).all(axis=1).mean() for label in (0, 1)]
    assert min(shares) > 0.2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_draws": 0}, "n_draws"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"y": [NAN] * 120}, "y has no label"),
    ],
)
def test_bad_input_of_drawn_label_sets(change, message):
    features, y, groups = _data()
    with pytest.raises(InputError, match=message):
        _sample(**{"features": features, "y": y, "groups": groups} | change)

"""Models of ordered labels, and their chances."""

import warnings

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC

from judgment_tables import NAN, NOISE, WORDS, make_table, parts
from skfilterrank._base.probabilities import fit_calibrator, probabilities
from skfilterrank._base.row_hashes import hash_rows
from skfilterrank.exceptions import FitWarning
from skfilterrank.judgments import LabelPredictor
from skfilterrank.judgments._predictor_models import LevelModel


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
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FitWarning)
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

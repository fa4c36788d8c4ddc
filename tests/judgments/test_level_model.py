"""Models of ordered labels, their chances, and folds that hold labels out."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression

from judgment_tables import NAN, NOISE, WORDS, make_table, parts
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.judgments import (
    LabelPredictor,
)
from skfilterrank.judgments._level_model import (
    LevelCalibration,
    LevelModel,
    Vectors,
    dealt_folds,
    fit_calibration,
)


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
    rows = X, [-1.0, 0, 0, 2, NAN, NAN], [1] * 6
    found = LabelPredictor(Fixed(), output="soft").fit_transform(*rows)[4:]
    above_low, above_mid = 3 / 4 + 0.1, 1 / 4 + 0.1
    assert found[0] == pytest.approx(-1 + above_low + 2 * above_mid, abs=1e-9)
    above_low, above_mid = 3 / 4 - 0.5, 0
    assert found[1] == pytest.approx(-1 + above_low + 2 * above_mid, abs=1e-9)
    hard = LabelPredictor(Fixed()).fit(*rows)
    assert hard.predict(X, [1] * 6).tolist()[4:] == [0.0, -1.0]
    model = hard.models_[1]
    assert model.levels.tolist() == [-1, 0, 2]
    assert len(model.classifiers) == 2


@pytest.mark.slow
def test_graded_and_forbidden_labels():
    T = make_table(n_docs=40, labels=(-1.0, 1.0, 2.0))
    predictor = LabelPredictor()
    found = predictor.fit_transform(*parts(T)).to_numpy()
    imputed = predictor.imputed_
    assert set(found) == {-1.0, 1.0, 2.0} == set(predictor.labels_)
    assert (found == T["truth"])[imputed].mean() > 0.7
    soft = LabelPredictor(output="soft").fit_transform(*parts(T))[imputed]
    means = soft.groupby(T["truth"][imputed].to_numpy()).mean()
    assert means.is_monotonic_increasing
    assert soft.between(-1, 2).all()


class Says:
    """A classifier that says the same of every row."""

    def __init__(self, chance):
        self.chance = chance

    def predict(self, X):
        return np.full(len(X), int(self.chance > 0.5))

    def predict_proba(self, X):
        return np.tile([1 - self.chance, self.chance], (len(X), 1))


def test_steps_that_contradict_each_other():
    # P(> 0) = 0.3, and P(> 1) = 0.6, which cannot be more: 0.3. So 0.7, 0, 0.3; the label is 0.
    model = LevelModel(np.array([0.0, 1.0, 2.0]), [Says(0.3), Says(0.6)])
    np.testing.assert_allclose(model.chances(np.empty((2, 1)), None), [[0.7, 0, 0.3]] * 2)
    assert model.hard_levels(np.empty((2, 1))).tolist() == [0, 0]
    # P(> 0) = 0.8, P(> 1) = 0.6: 0.2, 0.2, 0.6; two steps up.
    model = LevelModel(np.array([0.0, 1.0, 2.0]), [Says(0.8), Says(0.6)])
    np.testing.assert_allclose(model.chances(np.empty((1, 1)), None), [[0.2, 0.2, 0.6]])
    assert model.hard_levels(np.empty((1, 1))).tolist() == [2]
    # The sigmoid of the log odds: 2 * log(4) - log(4) = log(4) for the first, odds 4.
    twice = LevelCalibration(2.0, -np.log(4))
    found = LevelModel(np.array([0.0, 1.0]), [Says(0.8)]).chances(np.empty((1, 1)), twice)
    np.testing.assert_allclose(found, [[0.2, 0.8]])


def test_a_sigmoid_by_maximum_likelihood():
    """Platt's smoothed targets, minimised by scipy; margins that mislead are not turned round."""
    rng = np.random.RandomState(0)
    above = rng.rand(80) < 0.3
    margins = above + rng.normal(size=80)
    high, low = (above.sum() + 1) / (above.sum() + 2), 1 / ((~above).sum() + 2)
    target = np.where(above, high, low)

    def loss(parameters):
        z = parameters[0] * margins + parameters[1]
        return np.sum(np.logaddexp(0, z) - target * z)

    expected = minimize(loss, [1.0, 0.0]).x
    np.testing.assert_allclose(fit_calibration(margins, above), expected, atol=2e-3)
    slope, intercept = fit_calibration(-margins, above)
    assert slope == 0
    assert 1 / (1 + np.exp(-intercept)) == pytest.approx(target.mean())
    assert fit_calibration(margins[:10], np.arange(10) < 4) is None


def test_expected_label_of_two_is_linear_in_the_chance(T):
    T = T.assign(label=T["label"].map({0.0: -2.0, 1.0: 3.0}))
    predictor = LabelPredictor(output="soft", calibration=None)
    found = predictor.fit_transform(*parts(T)).to_numpy()
    X = predictor.vectorizer_.transform(T["text"])
    for query in WORDS:
        rows = (T["qid"] == query).to_numpy() & predictor.imputed_
        margins = predictor.models_[query].classifiers[0].decision_function(X[rows])
        p = 1 / (1 + np.exp(-margins))
        np.testing.assert_allclose(found[rows], p * 3 + (1 - p) * -2, atol=1e-12)
        np.testing.assert_allclose(predictor.confidence_[rows], np.maximum(p, 1 - p))
    assert np.isnan(predictor.confidence_[~predictor.imputed_]).all()


@pytest.mark.slow
def test_pooled_calibration_makes_chances_of_margins():
    # One judged document in ten is relevant; balanced classes alone put the mean near a half.
    T = make_table(n_docs=200, share=0.4, labels=(0.0,) * 9 + (1.0,))
    rng = np.random.RandomState(0)
    T["text"] = [
        " ".join(rng.choice(NOISE, 5)) + (f" {rng.choice(WORDS[q])}" if rng.rand() < p else "")
        for q, p in zip(T["qid"], np.where(T["truth"] > 0, 0.7, 0.2))
    ]
    todo = T["label"].isna()
    errors = {}
    for calibration in ("pooled", None):
        predictor = LabelPredictor(output="soft", calibration=calibration)
        found = predictor.fit_transform(*parts(T)).to_numpy()[todo]
        errors[calibration] = np.mean((found - T["truth"][todo]) ** 2)
        if calibration:
            assert found.mean() == pytest.approx(T["label"].mean(), abs=0.04)
            assert predictor.calibration_.slope > 0
    assert errors["pooled"] < 0.6 * errors[None]


@pytest.mark.slow
def test_too_few_judged_rows_leave_margins_as_they_are():
    T = make_table(n_docs=6, share=0.0)
    for params in ({"output": "soft"}, {"calibration": "pooled"}):
        with pytest.warns(UserWarning, match="probabilities are not calibrated") as caught:
            predictor = LabelPredictor(**params).fit(*parts(T))
        assert caught[0].filename == __file__
        assert predictor.calibration_ is None
    # Hard labels, or a classifier with chances of its own, ask for no calibration.
    LabelPredictor().fit(*parts(T))
    LabelPredictor(LogisticRegression(), output="soft").fit(*parts(T))


def test_labels_are_dealt_evenly_to_folds():
    rng = np.random.RandomState(0)
    queries = rng.randint(8, size=400)
    labels = np.where(rng.rand(400) < 0.7, rng.randint(3, size=400).astype(float), np.nan)
    queries[:5], labels[:5] = 99, [0, 0, 0, 0, 1]
    index = GroupIndex.from_groups(queries)
    rows = np.arange(len(labels))
    vectors = Vectors(rows[:, np.newaxis], rows, np.zeros(len(labels), dtype=bool), False)
    folds = dealt_folds(index, vectors, labels, np.random.RandomState(0))
    assert (folds[np.isnan(labels)] == -1).all()
    assert folds[4] == 4
    assert sorted(folds[:4]) == [0, 1, 2, 3]
    for query in np.unique(queries):
        for label in range(3):
            same = folds[(queries == query) & (labels == label)]
            counts = np.bincount(same[same >= 0], minlength=5)
            assert np.ptp(counts) <= 1

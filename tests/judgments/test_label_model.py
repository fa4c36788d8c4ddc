"""What is learned from, and labels that are predicted."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.special import expit

from skfilterrank.judgments import RankedPool, _label_model
from skfilterrank.judgments._label_model import Features, LabelModel, Prediction, ridge_logistic

NAN = np.nan


def pool_of(labels, **judges):
    """Make a query of documents that one run returns in their order."""
    rows = pd.DataFrame({"qid": "1", "docno": [f"d{i:02}" for i in range(len(labels))]})
    judges = {"judge": labels} | judges
    machine = {name: rows.assign(label=of).dropna() for name, of in judges.items()}
    run = rows.assign(score=-np.arange(len(rows)))
    return RankedPool.read(machine, {"run": run}, pool=rows)


def model_of(pool):
    worth = csr_array((len(pool), len(pool.runs)))
    return LabelModel(pool, worth, np.ones(len(pool), dtype=bool))


def test_features_by_hand():
    features = model_of(pool_of([2, 0, NAN, 2])).features
    # A constant; classes 0, 2 and left out; labels less 4/3, over a deviation of sqrt(8) / 3.
    low, high = -4 / np.sqrt(8), 2 / np.sqrt(8)
    expected = [[1, 0, 1, 0, high], [1, 1, 0, 0, low], [1, 0, 0, 1, 0], [1, 0, 1, 0, high]]
    # Places in runs are not told apart: 0, 0 ** 2 - 1, 0.
    expected = np.column_stack([expected, np.tile([0, -1, 0], (4, 1))])
    np.testing.assert_allclose(features.values, expected, atol=1e-12)
    assert features.blocks.tolist() == [0, 1, 1, 1, 2, 3, 3, 3, 4, 5]
    assert features.query.tolist() == [0] * 4


def test_what_a_judge_left_out_is_a_class_of_its_own():
    # Of twelve different labels there are ten classes, which the two that lack are none of.
    labels = [*range(12), NAN, NAN]
    values = model_of(pool_of(labels)).features.values
    classes = values[:, 1:-4]
    assert classes.shape == (14, 11)
    assert (classes.sum(axis=1) == 1).all()
    assert (classes.sum(axis=0)[:-1] > 0).all()
    assert np.flatnonzero(classes[:, -1]).tolist() == [12, 13]
    # Higher labels are of higher classes.
    assert (np.diff(classes[:12].argmax(axis=1)) >= 0).all()


def test_places_in_the_runs_by_hand():
    rows = pd.DataFrame({"qid": "1", "docno": list("abcd")})
    runs = {"one": rows.assign(score=[4, 3, 2, 1]), "two": rows[:2].assign(score=[1, 2])}
    pool = RankedPool.read(None, runs, pool=rows)
    worth = csr_array([[0.0, 0.0], [4.0, 4.0], [8.0, 0.0], [0.0, 32.0]])
    features = LabelModel(pool, worth, np.ones(4, dtype=bool)).features
    # Of means 0, 4, 4, 16: roots 0, 2, 2, 4 of mean 2 and deviation sqrt(2); squares of these less
    # 1; two documents are in both runs, two in one.
    root = np.array([-1, 0, 0, 1]) * np.sqrt(2)
    expected = np.column_stack([np.ones(4), root, root**2 - 1, [1, 1, -1, -1]])
    np.testing.assert_allclose(features.values, expected, atol=1e-12)
    # Mean squares of the runs' own columns: 80 / 4 and 1040 / 4.
    expected = worth.toarray() / np.sqrt([20, 260])
    order = np.argsort(pool.folding.random_number @ expected)
    np.testing.assert_allclose(features.by_run.toarray(), expected[:, order])
    assert features.blocks.tolist() == [0, 1, 1, 1, 2, 2, 3]


@pytest.mark.parametrize("most", [3, 5])
def test_many_runs_have_few_columns(most, monkeypatch):
    """Of five runs, two of them copies, three directions hold all that there is."""
    monkeypatch.setattr(_label_model, "_MOST_RUNS", most)
    rng = np.random.RandomState(0)
    worth = csr_array(rng.uniform(size=(6, 3))[:, [0, 1, 2, 0, 1]] * 7)
    found = _label_model._by_run(worth).toarray()
    assert found.shape == (6, most)
    own = worth.toarray()
    own /= np.sqrt((own**2).mean(axis=0))
    np.testing.assert_allclose(found @ found.T, own @ own.T, atol=1e-12)


def learned(pool, rows, grades, certain=False, n_grades=2):
    is_certain = np.full(len(rows), certain)
    weights = np.ones(len(rows))
    return model_of(pool).fit(np.array(rows), np.array(grades), n_grades, is_certain, weights)


def predicted(*args, **kwargs):
    return learned(*args, **kwargs).predict()


def test_no_label_enters_its_own_prediction():
    pool = pool_of([0, 1] * 20)
    rows = np.arange(40)
    grades = np.arange(40) % 2
    before = predicted(pool, rows, grades).probabilities
    fold = pool.folding.folds == 0
    # Turned round, the labels of a fold change the predictions of the others alone.
    after = predicted(pool, rows, np.where(fold, 1 - grades, grades)).probabilities
    np.testing.assert_array_equal(after[fold], before[fold])
    assert (np.abs(after - before)[~fold] > 0.01).all()
    # All folds learn from what every sample holds.
    known = predicted(pool, rows, grades, certain=True).probabilities
    turned = predicted(pool, rows, np.where(fold, 1 - grades, grades), certain=True)
    assert (np.abs(turned.probabilities - known) > 0.01).all()
    assert (np.argmax(known, axis=1) == grades).all()


@pytest.mark.slow
def test_a_fold_left_out_is_as_if_it_had_no_labels():
    pool = pool_of([0, 1, 2] * 30)
    rows, fold = np.arange(90), pool.folding.folds == 2
    grades = (np.arange(90) % 3) * (np.random.RandomState(0).uniform(size=90) < 0.7)
    model = learned(pool, rows, grades, n_grades=3)
    found = model.predict(2).probabilities
    np.testing.assert_allclose(found.sum(axis=1), 1)
    # No prediction of the fold knows its labels, whatever is left out.
    np.testing.assert_array_equal(found[fold], model.predict().probabilities[fold])
    without = learned(pool, rows[~fold], grades[~fold], n_grades=3).predict().probabilities
    first_order = np.abs(found - without)[~fold].mean()
    assert first_order < 0.5 * np.abs(model.predict().probabilities - without)[~fold].mean()


def test_no_fold_left_out_where_people_chose_all():
    pool = pool_of([0, 1] * 20)
    model = learned(pool, np.arange(40), np.arange(40) % 2, certain=True)
    found = model.predict(1).probabilities
    np.testing.assert_array_equal(found, model.predict().probabilities)


def test_what_no_other_fold_has_seen():
    pool = pool_of([0, 1] * 4)
    folds = pool.folding.folds
    # Fold 0 has the labels 1 alone, and fold 1 the labels 0: each learns what the other has.
    model = learned(pool, np.arange(8), 1 - folds)
    np.testing.assert_array_equal(model.predict().probabilities[:, 1], folds)
    # Without both there is nothing to learn from.
    np.testing.assert_array_equal(model.predict(0).probabilities[:, 1], 0)


def test_labels_are_known_where_they_are():
    pool = pool_of([0, 1, 0])
    sure = Prediction.sure(pool, np.array([[0.5, 0.5], [0.25, 0.75], [1, 0]]))
    known = sure.with_known(np.array([1]), np.array([0]))
    assert known.probabilities.tolist() == [[0.5, 0.5], [1, 0], [1, 0]]
    assert (known.drawn[:, 0] == [0.5, 1, 1]).all()
    np.testing.assert_allclose(known.expected[:, 0], [[2.5, 0.5]] * len(known.drawn))
    assert sure.probabilities[1].tolist() == [0.25, 0.75]


@pytest.mark.parametrize("n_grades", [2, 4])
def test_probabilities_sum_to_1(n_grades):
    pool = pool_of(np.arange(60) % 5)
    grades = np.arange(60) % n_grades
    found = predicted(pool, np.arange(60), grades, n_grades=n_grades)
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1)
    np.testing.assert_allclose(found.drawn.mean(axis=0).T, found.probabilities)
    assert (found.probabilities >= 0).all()


@pytest.fixture(scope="module")
def data():
    rng = np.random.RandomState(0)
    n, n_queries = 80, 6
    values = np.column_stack([np.ones(n), rng.normal(size=(n, 3))])
    # Query 4 has no row.
    query = rng.choice([0, 1, 2, 3, 5], n)
    by_run = csr_array(np.where(rng.uniform(size=(n, 3)) < 0.4, rng.uniform(size=(n, 3)), 0.0))
    blocks = np.array([0, 1, 1, 2] + [3] * 3 + [4] * n_queries)
    target = rng.uniform(size=n) < expit(values[:, 1] + 0.5 * (query - 2))
    weights = rng.uniform(size=(2, n)) * (np.arange(2)[:, None] != rng.randint(0, 3, n))
    return Features(values, by_run, query, blocks), target, weights


def dense(features, target, weights):
    """Fit one regression by whole matrices; return coefficients and their covariance."""
    X = np.column_stack([features.values, features.by_run.toarray(), np.eye(6)[features.query]])
    blocks, penalty = features.blocks, np.array([0.01, 1, 1, 1, 1])
    coefficients = np.zeros(X.shape[1])
    for step in range(12):
        chance = expit(X @ coefficients)
        matrix = (X.T * (weights * chance * (1 - chance))) @ X + np.diag(penalty[blocks])
        slope = X.T @ (weights * (target - chance)) - penalty[blocks] * coefficients
        inverse = np.linalg.inv(matrix)
        coefficients = coefficients + inverse @ slope
        for block in (1, 2, 3, 4) if step >= 2 else ():
            mine = blocks == block
            known = mine.sum() - penalty[block] * np.diag(inverse)[mine].sum()
            penalty[block] = np.clip(known / (coefficients[mine] ** 2).sum(), 0.1, 1e6)
    return coefficients, inverse


def test_coefficients_and_their_covariance_are_those_of_the_whole_matrix(data):
    features, target, weights = data
    n_columns = len(features.blocks)
    numbers = np.column_stack([np.zeros(n_columns), np.eye(n_columns)])
    drawn = ridge_logistic(features, target, weights, numbers)
    for fit in range(2):
        coefficients, covariance = dense(features, target, weights[fit])
        away = drawn[fit, :, 1:] - drawn[fit, :, :1]
        np.testing.assert_allclose(drawn[fit, :, 0], coefficients, rtol=1e-8)
        np.testing.assert_allclose(away @ away.T, covariance, rtol=1e-7, atol=1e-12)


def test_the_order_of_rows_does_not_matter(data):
    features, target, weights = data
    turned = np.random.RandomState(1).permutation(len(target))
    numbers = np.zeros((len(features.blocks), 1))
    np.testing.assert_allclose(
        ridge_logistic(features.at(turned), target[turned], weights[:, turned], numbers),
        ridge_logistic(features, target, weights, numbers),
        rtol=1e-8,
    )

"""Ridge logistic regressions whose indicators of topics are eliminated, against dense algebra."""

import numpy as np
import pytest
from scipy.special import expit

from skfilterrank.judgments._regression import Features, ridge_logistic


@pytest.fixture(scope="module")
def data():
    rng = np.random.RandomState(0)
    n, n_topics = 80, 6
    values = np.column_stack([np.ones(n), rng.normal(size=(n, 3))])
    # Topic 4 has no row.
    topic = rng.choice([0, 1, 2, 3, 5], n)
    blocks = np.array([0, 1, 1, 2] + [3] * n_topics)
    target = rng.uniform(size=n) < expit(values[:, 1] + 0.5 * (topic - 2))
    weights = rng.uniform(size=(2, n)) * (np.arange(2)[:, None] != rng.randint(0, 3, n))
    return Features(values, topic, blocks), target, weights


def dense(features, target, weights):
    """The same by whole matrices, one regression: coefficients and their covariance."""
    X = np.column_stack([features.values, np.eye(6)[features.topic]])
    blocks, penalty = features.blocks, np.array([0.01, 1, 1, 1])
    coefficients = np.zeros(X.shape[1])
    for step in range(12):
        chance = expit(X @ coefficients)
        matrix = (X.T * (weights * chance * (1 - chance))) @ X + np.diag(penalty[blocks])
        slope = X.T @ (weights * (target - chance)) - penalty[blocks] * coefficients
        inverse = np.linalg.inv(matrix)
        coefficients = coefficients + inverse @ slope
        for block in (1, 2, 3) if step >= 2 else ():
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

"""Variances of totals by hand and over all samples."""

import numpy as np
import pytest

from label_samples import elimination_design
from skfilterrank.judgments._elimination import inclusion_probabilities
from skfilterrank.judgments._variance import (
    covariance_of_total,
    degrees_of_freedom,
    degrees_of_pairs,
)


def test_of_a_simple_random_sample():
    """Of 4 among 10: N ** 2 (1 - f) s ** 2 / n, the formula of every textbook."""
    changes = np.array([[1.0, 0], [2, 5], [4, 1], [9, 3]])
    covariance, deviations = covariance_of_total(changes, np.full(4, 0.4))
    np.testing.assert_allclose(covariance, 100 * 0.6 * np.cov(changes.T) / 4)
    np.testing.assert_allclose(deviations.T @ deviations, covariance)


def test_of_unequal_probabilities_by_hand():
    # The last is certain. Of the others z = 2, 4, 8, and c = (1 - pi) * 3 / 2 = 3/4, 3/4, 9/8.
    changes, probability = np.array([[1.0], [2], [2], [50]]), np.array([0.5, 0.5, 0.25, 1])
    mean = (3 / 4 * 2 + 3 / 4 * 4 + 9 / 8 * 8) / (3 / 4 + 3 / 4 + 9 / 8)
    expected = 3 / 4 * (2 - mean) ** 2 + 3 / 4 * (4 - mean) ** 2 + 9 / 8 * (8 - mean) ** 2
    covariance, deviations = covariance_of_total(changes, probability)
    np.testing.assert_allclose(covariance, [[expected]])
    np.testing.assert_allclose(deviations.T @ deviations, covariance)


def test_of_one_document_nothing_is_known():
    covariance, deviations = covariance_of_total(np.ones((3, 2)), np.array([1, 0.5, 1]))
    assert covariance.tolist() == [[0, 0], [0, 0]]
    assert deviations.shape == (0, 2)


def test_degrees_of_freedom_by_hand():
    # Squares 25, 1, 1, 1: a share of 628 / 28 ** 2, less 1/4; of four equal ones n - 1; of one
    # alone 2 / (3/4) - 1; and never less than one.
    deviations = np.array([[5.0, 2, 0, 10], [1, -2, 0, 0], [1, 2, 3, 0], [-1, 2, 0, 1]])
    expected = [2 / (628 / 784 - 1 / 4) - 1, 3, 5 / 3, 2 / (10001 / 10201 - 1 / 4) - 1]
    np.testing.assert_allclose(degrees_of_freedom(deviations), expected)
    assert degrees_of_freedom(np.eye(1)).tolist() == [1]
    # Of many, one of which is all there is: 2 / (1 - 1/n) - 1.
    np.testing.assert_allclose(degrees_of_freedom(np.eye(100)[:, :1]), [2 / 0.99 - 1])
    # Pairs are columns of differences.
    pairs = degrees_of_pairs(deviations)
    for first, second in ((0, 1), (1, 3), (2, 0)):
        own = degrees_of_freedom(deviations[:, [first]] - deviations[:, [second]])
        np.testing.assert_allclose(pairs[first, second], own[0])


def test_the_variance_is_about_the_true_one():
    """Mean of the estimate over all samples, against the variance over all samples."""
    sizes = np.array([1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 1.2, 2.2, 3.1])
    values = np.array([0.5, -1.0, 1.5, 0.3, -2.0, 1.0, 0.2, -0.4, 0.8])
    n = 4
    probability = inclusion_probabilities(sizes, n)
    total = variance = estimated = 0.0
    for rows, chance in elimination_design(sizes, n).items():
        rows = list(rows)
        estimate = (values[rows] / probability[rows]).sum()
        total += chance * estimate
        variance += chance * estimate**2
        estimated += chance * covariance_of_total(values[rows, None], probability[rows])[0][0, 0]
    assert total == pytest.approx(values.sum())
    assert estimated == pytest.approx(variance - total**2, rel=0.1)

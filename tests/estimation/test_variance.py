"""Variances of totals by hand and over all samples."""

import numpy as np
import pytest

from label_samples import elimination_design
from skfilterrank.estimation._elimination import inclusion_probabilities
from skfilterrank.estimation._variance import covariance_of_total


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

"""Facts about risks, which hold under any name."""

import numpy as np
import pandas as pd
import pytest

from skfilterrank._lists.measure import MEASURES
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank.metrics import any_forbidden_at_k, register_measure
from skfilterrank.thresholds import risk_certificate
from skfilterrank.thresholds._risk_facts import RiskFacts


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("any_forbidden", (True, "shown")),
        ("any_forbidden@3", (True, "shown")),
        ("forbidden", (False, "shown")),
        ("forbidden@1", (True, "shown")),
        ("false_reject_rate", (False, "all")),
        ("harmful_compatibility", (False, "all")),
        ("empty_list_rate", (True, "none")),
        # Whether a document is judged is known from its label.
        ("empty_list_rate(unjudged=drop)", (True, "shown")),
    ],
)
def test_of_the_measure_table(name, facts):
    assert RiskFacts.of(parse_measure(name)) == facts


@pytest.fixture
def registered():
    before = set(MEASURES)
    yield lambda function, **facts: register_measure("bad_one", function, **facts)
    for name in set(MEASURES) - before:
        del MEASURES[name]


def any_bad(y_true, y_score, k=None):
    return float((y_true[:k] < 0).any())


def any_bad_of_block(block, k):
    return any_forbidden_at_k.kernel(block, k)


@pytest.mark.parametrize("function", [any_bad, any_bad_of_block])
def test_another_name_gets_the_same_test(registered, function):
    registered(function, value_range=(0, 1), greater_is_better=False, ties="worst")
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(100), 3)
    y_true, y_score = rng.choice([-1, 1, 1, 1, 1], 300), rng.random(300)
    frames = [
        risk_certificate(y_true, y_score, 0.5, groups=groups, risks={name: 0.4})
        .to_frame()
        .reset_index(drop=True)
        for name in ("any_forbidden@2", "bad_one@2")
    ]
    pd.testing.assert_frame_equal(*frames)


def test_nothing_is_known_of_a_function_that_refuses_the_lists(registered):
    def refusing(y_true, y_score):
        if (y_true < 0).any():
            raise RuntimeError("no harm here")
        return 0.0

    registered(refusing, value_range=(0, 1), greater_is_better=False)
    assert RiskFacts.of(parse_measure("bad_one")) == (False, "all")

"""Which differences between systems are more than chance."""

from collections.abc import Callable
from numbers import Integral, Real
from typing import NamedTuple

from skfilterrank.comparison._scores.check import check_scores
from skfilterrank.comparison._tests.corrections import adjust_p_values, check_correction
from skfilterrank.comparison._tests.pairs import (
    ALTERNATIVES,
    PairFigures,
    Pairs,
    Settings,
    mean_differences,
)
from skfilterrank.comparison._tests.pairwise import PairwiseComparison
from skfilterrank.comparison._tests.rank_tests import sign_test, wilcoxon_test
from skfilterrank.comparison._tests.resampling import bootstrap_test, randomization_test
from skfilterrank.comparison._tests.t_test import paired_t


class SystemTest(NamedTuple):
    """A test of all pairs: ``function(values, pairs, settings) -> PairFigures``.

    A family-wise test sees all systems in `values` and corrects for them by itself.
    """

    function: Callable[..., PairFigures]
    title: str
    is_family_wise: bool = False


TESTS = {
    "t": SystemTest(paired_t, "paired t test"),
    "wilcoxon": SystemTest(wilcoxon_test, "Wilcoxon's signed rank test"),
    "sign": SystemTest(sign_test, "sign test"),
    "randomization": SystemTest(randomization_test, "randomization test"),
    "bootstrap": SystemTest(bootstrap_test, "studentized bootstrap test"),
}


def compare_systems(
    scores,
    *,
    test: str | None = None,
    correction: str | None = "holm",
    baseline: str | None = None,
    alternative: str = "two-sided",
    confidence: float = 0.95,
    n_resamples: int = 10_000,
    random_state=0,
    verbose: int = 0,
) -> PairwiseComparison:
    """Test every two systems for a difference over the same queries."""
    scores = check_scores(scores)
    if test is None:
        test = "sign" if scores.is_preference else "t"
    if test not in TESTS:
        raise ValueError(f"test must be one of {_listed(TESTS)}, got {test!r}.")
    method = TESTS[test]
    check_correction(correction)
    _check_numbers(confidence, n_resamples)
    if alternative not in ALTERNATIVES:
        raise ValueError(
            f"alternative must be one of {_listed(ALTERNATIVES)}, got {alternative!r}."
        )
    if method.is_family_wise and alternative != "two-sided":
        raise ValueError(
            f"alternative must be 'two-sided' for test={test!r}, which compares ranges and knows "
            f"no direction, got {alternative!r}: take test='t' or 'randomization'."
        )
    if baseline is None:
        pairs = Pairs.all(scores.n_systems)
    else:
        pairs = Pairs.against(_place(scores.systems, baseline), scores.n_systems)
    settings = Settings(alternative, confidence, n_resamples, random_state, verbose)
    figures = method.function(scores.values, pairs, settings)
    correction = None if method.is_family_wise else correction
    return PairwiseComparison(
        scores=scores,
        test=test,
        correction=correction,
        alternative=alternative,
        confidence=confidence,
        baseline=baseline,
        first=pairs.first,
        second=pairs.second,
        difference=mean_differences(scores.values, pairs),
        effect_size=figures.effect_size,
        effect_name=figures.effect_name,
        low=figures.low,
        high=figures.high,
        interval_of=figures.interval_of,
        p_value=figures.p_value,
        p_adjusted=adjust_p_values(figures.p_value, correction),
        smallest_p=figures.smallest_p,
        title=method.title,
    )


def _listed(names):
    return ", ".join(map(repr, names))


def _check_numbers(confidence, n_resamples):
    """Confidence is a share, resamples are enough to say something."""
    if not isinstance(confidence, Real) or not 0 < confidence < 1:
        raise ValueError(f"confidence must be a number between 0 and 1, got {confidence!r}.")
    if isinstance(n_resamples, bool) or not isinstance(n_resamples, Integral) or n_resamples < 100:
        raise ValueError(
            f"n_resamples must be a whole number of at least 100, got {n_resamples!r}: p values "
            "of fewer resamples are too coarse. 10000 is a good choice."
        )


def _place(systems, baseline):
    """Where the baseline is among the systems."""
    if baseline not in systems:
        raise ValueError(
            f"baseline must name one of the {len(systems)} systems, such as "
            f"{_listed(systems[:3])}, got {baseline!r}."
        )
    return systems.index(baseline)

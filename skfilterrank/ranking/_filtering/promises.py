"""What a threshold is to promise: which rates, up to which level, and how surely."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from skfilterrank._core.checks import check_choice, check_k, check_share
from skfilterrank._core.lists import RankedLists
from skfilterrank._core.measure import MEASURES, ParsedMeasure
from skfilterrank._core.measure_names import parse_measure
from skfilterrank.exceptions import InputError, brief
from skfilterrank.ranking._filtering.risk_bounds import BettingBound, BinomialBound, MeanBound
from skfilterrank.ranking._filtering.risk_steps import Steps, steps_of_function, steps_of_measure

GUARANTEES = ("confidence", "expectation")


class Promise(NamedTuple):
    """A rate, a measure or a function, and the level it is to stay below."""

    rate: ParsedMeasure | Callable
    max_risk: float
    k: int | None

    @property
    def name(self) -> str:
        """The rate by its name, with a cut-off of its own."""
        if isinstance(self.rate, ParsedMeasure):
            return self.rate.text
        return getattr(self.rate, "__name__", type(self.rate).__name__)

    def steps(self, lists: RankedLists, labels) -> Steps:
        """The loss of each query at every threshold."""
        if isinstance(self.rate, ParsedMeasure):
            return steps_of_measure(lists, self.rate, self.k)
        return steps_of_function(self.rate, lists, labels, self.k)

    def with_places(self, k: int | None) -> "Promise":
        """The same with the places that count, where the rate has no cut-off of its own."""
        own = self.rate.k if isinstance(self.rate, ParsedMeasure) else None
        return self._replace(k=k if own is None else own)


def read_promises(risk, max_risk, k) -> list[Promise]:
    """Rates with their levels; a cut-off of a rate must not contradict `k`."""
    if isinstance(risk, Mapping):
        if not risk:
            raise InputError("risk is an empty dict: name at least one rate.")
        levels = [(rate, level, f"risk[{brief(rate)}]") for rate, level in risk.items()]
    else:
        levels = [(risk, max_risk, "max_risk")]
    promises = []
    for rate, level, name in levels:
        is_function = callable(rate) and not isinstance(rate, type) and not hasattr(rate, "measure")
        parsed = rate if is_function else _parse(rate, k)
        promises.append(
            Promise(parsed, check_share(level, name), check_k(k)).with_places(check_k(k))
        )
    names = [promise.name for promise in promises]
    if len(set(names)) < len(names):
        raise InputError(f"risk names a rate twice: {', '.join(names)}.")
    return promises


def check_guarantee(guarantee, confidence) -> float:
    """The confidence as float; raise where there is no such guarantee."""
    check_choice(guarantee, "guarantee", GUARANTEES)
    return check_share(confidence, "confidence")


def kind_of_bound(steps: Steps, guarantee: str):
    """The bound that holds for such losses."""
    if guarantee == "expectation":
        return MeanBound
    return BinomialBound if steps.is_binary else BettingBound


def _parse(rate, k) -> ParsedMeasure:
    """A measure that can be a rate."""
    rates = [name for name, measure in MEASURES.items() if _is_rate(measure)]
    try:
        parsed = parse_measure(rate)
    except ValueError as error:
        name = str(rate).partition("@")[0].partition("(")[0]
        if isinstance(rate, str) and name in MEASURES and _is_rate(MEASURES[name]):
            raise InputError(f"risk={brief(rate)}: {error}") from error
        parsed = None
    if parsed is None or not _is_rate(parsed.measure):
        raise InputError(
            f"risk must be one of {', '.join(map(repr, rates))}, a function or a dict of them, got "
            f"{brief(rate)}."
        )
    if parsed.k is not None and check_k(k) not in (None, parsed.k):
        raise InputError(
            f"k={k} contradicts the cut-off of risk={brief(rate)}: give one of the two."
        )
    return parsed


def _is_rate(measure) -> bool:
    """Whether a measure lies between 0 and 1, and lower is better."""
    return not measure.greater_is_better and measure.value_range == (0.0, 1.0)

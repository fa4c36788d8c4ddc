"""The threshold that options ask for."""

from skfilterrank._core.measure import ParsedMeasure
from skfilterrank._core.measure_names import parse_measure, parse_measures
from skfilterrank.exceptions import InputError
from skfilterrank.thresholds import (
    AutoThreshold,
    BaseThreshold,
    CertifiedThreshold,
    ExpectedThreshold,
    FirstK,
    FixedThreshold,
    LargestGap,
    LearnedThreshold,
    PerQueryThreshold,
    Surprise,
    TunedThreshold,
)

# The estimators that --threshold names.
BY_NAME = {
    "tune": TunedThreshold,
    "auto": AutoThreshold,
    "per_query": PerQueryThreshold,
    "expected": ExpectedThreshold,
    "learned": LearnedThreshold,
    "first_k": FirstK,
    "largest_gap": LargestGap,
    "surprise": Surprise,
}
# Those of them that are searched along a curve, which can be drawn.
WITH_CURVE = ("tune", "first_k", "surprise")
# Those of them whose models draw numbers.
_RANDOM = ("auto", "learned")
_PARAMETERS = ("abstain", "max_shown", "min_shown", "rule")


def read_measure(arguments, default: str) -> ParsedMeasure:
    """Read the one measure that a threshold is chosen by, with the cut-off of --k."""
    measures = parse_measures(arguments.measures or [default])
    if len(measures) > 1:
        raise InputError(
            f"--measure names {len(measures)} measures, and thresholds are tuned by one: "
            f"{', '.join(measures)}."
        )
    (measure,) = measures.values()
    return measure.for_threshold(arguments.k or None if measure.measure.takes_k else None)


def make_threshold(arguments, measure: ParsedMeasure) -> BaseThreshold:
    """Make the threshold, unfitted: by --threshold, or by --risk in its place."""
    given = {name: getattr(arguments, name, None) for name in _PARAMETERS}
    given = {name: value for name, value in given.items() if value is not None}
    how = arguments.threshold
    if how != "tune" and getattr(arguments, "filter_scores", None) is not None:
        raise InputError(
            f"--filter-scores is for --threshold tune and for --risk, and --threshold is "
            f"{'none' if how is None else how}: leave one out."
        )
    if "rule" in given and arguments.filter_scores is None:
        raise InputError("--rule hides by a second score: name its column by --filter-scores.")
    if arguments.risk:
        if how != "tune":
            raise InputError(
                "--risk chooses the threshold itself: leave out --threshold or --risk."
            )
        if wrong := set(given) & {"abstain", "min_shown"}:
            raise InputError(
                f"--{min(wrong).replace('_', '-')} shows lists by more than their scores, of which "
                "--risk can promise nothing: leave out one of the two."
            )
        k = measure.k or arguments.k or None
        return CertifiedThreshold(
            {_with_cutoff(name, k): level for name, level in arguments.risk.items()},
            confidence_level=arguments.confidence,
            guarantee=arguments.guarantee,
            show_beyond_k=arguments.show_beyond_k,
            measure=measure.text,
            **given,
        )
    if arguments.show_beyond_k:
        raise InputError("--show-beyond-k is about the rates of --risk: give both or none.")
    if how in _RANDOM:
        given |= {"random_state": getattr(arguments, "seed", 0)}
        given |= {"n_jobs": getattr(arguments, "jobs", None)}
    if isinstance(how, str):
        return BY_NAME[how](measure=measure.text, **given)
    return FixedThreshold(how, measure=measure.text, **given)


def _with_cutoff(name, k):
    """Give a risk a cut-off where it has none; what is no measure is left to its own message."""
    try:
        parsed = parse_measure(name)
    except InputError:
        return name
    return parsed.with_cutoff(k).text if parsed.measure.takes_k and parsed.k is None else name

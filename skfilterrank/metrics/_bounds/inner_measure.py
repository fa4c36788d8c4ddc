"""The measure inside another that compares it with rankings of its own making."""

from skfilterrank._lists.measure import ParsedMeasure
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank.exceptions import InputError, brief


def plain_measure(measure, name: str, outer: str) -> ParsedMeasure:
    """The measure that an option `name` of the measure `outer` gives, another and a plain one."""
    inner = parse_measure(measure)
    entry = inner.measure.plain or inner.measure
    if entry.name == outer:
        raise InputError(f"{name} must be another measure than {brief(outer)} itself.")
    if inner.measure.library is not None:
        raise InputError(
            f"{name} must not be like another library, got {brief(measure)}: write {entry.name}."
        )
    if inner.measure.own_reading is not None:
        raise InputError(
            f"{name} must have no options of judgments, got {brief(measure)}: its bounds "
            f"need them too, so write '{outer}({inner.measure.own_text},measure=...)'."
        )
    return inner

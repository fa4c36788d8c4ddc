"""Text such as "rbp(persistence=0.9)@100" and the measure, options and cut-off that it names."""

import re
from collections.abc import Callable

from skfilterrank._core.checks import as_list
from skfilterrank._core.measure import MEASURES, Measure, ParsedMeasure
from skfilterrank.exceptions import InputError, brief

_MOST_DIGITS = 18
_PARSED = re.compile(
    r"(?P<name>[^@()]*)(?:\((?P<options>.*)\))?(?:@(?P<depth>[^@()]*))?", re.DOTALL
)


def get_measure_names() -> list[str]:
    """Names of all measures, sorted.

    Returns
    -------
    list of str
        The names that :func:`make_ranking_scorer`, `RankAndFilter(measure=)` and the command line
        understand; those with a cut-off may be followed by "@k".

    Examples
    --------
    >>> from skfilterrank.metrics import get_measure_names
    >>> "ndcg_f" in get_measure_names()
    True
    """
    return sorted(MEASURES)


def parse_measures(measures) -> dict[str, ParsedMeasure]:
    """The measures by the text that names them; what is parsed already is taken as it is."""
    if isinstance(measures, dict) and {type(each) for each in measures.values()} == {ParsedMeasure}:
        return measures
    is_one = isinstance(measures, str) or callable(measures)
    given = [measures] if is_one else as_list(measures, "measures", "names")
    if not all(isinstance(each, str) or callable(each) for each in given):
        raise InputError(
            f"measures must be a name or a list of names, such as ['ap', 'ndcg_f@10'], got "
            f"{brief(measures)}."
        )
    if not given:
        raise InputError("measures is empty: name at least one, such as 'ndcg_f@10'.")
    parsed = {}
    for each in given:
        call = parse_measure(each)
        text = each if isinstance(each, str) else call.text
        if text in parsed:
            raise InputError(f"measures names {brief(text)} twice: name each once.")
        parsed[text] = call
    return parsed


def parse_measure(text: str | Callable | ParsedMeasure) -> ParsedMeasure:
    """Read a measure: its function, or text, such as "ndcg_f@10", "rbp(persistence=0.9)@100"."""
    if isinstance(text, ParsedMeasure):
        return text
    entry = getattr(text, "measure", None)
    if isinstance(entry, Measure) and entry.function is text:
        return ParsedMeasure(entry, None, {})
    if isinstance(getattr(text, "_measure", None), Measure):
        name = getattr(text, "name", None)
        raise InputError(
            f"{brief(text)} is a scorer, and a name is wanted: write {brief(name)} "
            "with its options in parentheses, such as 'rbp(persistence=0.95)@10'."
        )
    parts = _PARSED.fullmatch(text) if isinstance(text, str) else None
    if parts is None or parts["name"] not in MEASURES:
        raise InputError(
            f"{brief(text)} is not a measure: expected one of {', '.join(get_measure_names())}, "
            "with a cut-off such as 'ndcg_f@10' where wanted."
        )
    entry, depth = MEASURES[parts["name"]], parts["depth"]
    options = _parse_options(entry, parts["options"], text)
    if depth is None:
        return ParsedMeasure(entry, None, options)
    if not entry.takes_k:
        raise InputError(
            f"{brief(entry.name)} has no cut-off, got {brief(text)}: write {brief(entry.name)}."
        )
    # Beyond any list, and of thousands of digits Python makes no number.
    if not depth.isdecimal() or len(depth) > _MOST_DIGITS or int(depth) < 1:
        raise InputError(
            f"the cut-off in {brief(text)} must be a positive whole number, such as "
            f"'{entry.name}@10'."
        )
    return ParsedMeasure(entry, int(depth), options)


def known_measure(name) -> Measure | None:
    """The measure of values that go by this name, such as "ap" of "ap@10"; None for other names."""
    return MEASURES.get(str(name).partition("(")[0].partition("@")[0])


def _parse_options(entry, text, whole):
    """Options of the string form: numbers and words, by name."""
    options = {}
    for part in split_at_commas(text or ""):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or key not in entry.options:
            allowed = ", ".join(f"{name}=..." for name in entry.options) or "none"
            raise InputError(
                f"{brief(part.strip())} in {brief(whole)} is not an option of {brief(entry.name)}: "
                f"it has {allowed}."
            )
        if key in options:
            raise InputError(f"{brief(whole)} gives {key} twice: give it once.")
        options[key] = _number_or_word(value)
    entry.bind(None, options)
    return options


def split_at_commas(text):
    """The parts between commas that are in no parentheses."""
    parts, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part for part in parts if part.strip() or len(parts) > 1]


def _number_or_word(text):
    """The int or float that a text spells, None for "None", else the text."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None if text == "None" else text

"""Types of command line options."""

import argparse
import math

from skfilterrank.exceptions import brief

_MOST_DIGITS = 100


def names(text):
    """Names, as in A,B."""
    return _names_of(text.split(","))


def _names_of(parts):
    """What is there between the commas."""
    found = [name.strip() for name in parts if name.strip()]
    if not found:
        raise argparse.ArgumentTypeError("expected at least one name")
    return found


def pairs(text):
    """Pairs of names, as in A=B,C=D."""
    found = [tuple(name.strip() for name in pair.split("=")) for pair in names(text)]
    if any(len(pair) != 2 or not all(pair) for pair in found):
        raise argparse.ArgumentTypeError(f"expected A=B,..., got {brief(text)}")
    return found


def losses(text):
    """Names of losses, each once."""
    from skfilterrank.ranking import get_ranker_names

    found = list(dict.fromkeys(names(text)))
    known = get_ranker_names("loss")
    unknown = [name for name in found if name not in known]
    if unknown:
        raise argparse.ArgumentTypeError(
            f"{', '.join(unknown)} is not a model; choose from {', '.join(known)}"
        )
    return found


def gains(text):
    """Gains of labels, as in Bad=-1,Good=1; or exp2."""
    if text == "exp2":
        return text
    found = {}
    for item in names(text):
        label, equals, gain = item.rpartition("=")
        label, gain = label.strip(), _number(gain)
        if not equals or not label or gain is None or not math.isfinite(gain):
            raise argparse.ArgumentTypeError(f"expected LABEL=GAIN, got {brief(item)}")
        if label in found:
            raise argparse.ArgumentTypeError(f"label {brief(label)} has two gains")
        found[label] = gain
    return found


def threshold(text):
    """How to filter: tune, per_query, none or a number."""
    if text in ("tune", "per_query"):
        return text
    if text == "none":
        return None
    number = _number(text)
    if number is None or math.isnan(number):
        raise argparse.ArgumentTypeError(
            f"expected tune, per_query, none or a number, got {brief(text)}"
        )
    return number


def measures(text):
    """Names of measures, as in A,B; commas in parentheses separate the options of one."""
    # Here, so that --help does not wait for numpy and pandas.
    from skfilterrank._core.measure_names import split_at_commas

    return _names_of(split_at_commas(text))


def number(text):
    """A finite number."""
    found = _number(text)
    if found is None or not math.isfinite(found):
        raise argparse.ArgumentTypeError(f"expected a number, got {brief(text)}")
    return found


def share(text):
    """A number between 0 and 1."""
    found = _number(text)
    if found is None or not 0 < found < 1:
        raise argparse.ArgumentTypeError(f"expected a number between 0 and 1, got {brief(text)}")
    return found


def number_or_drop(text):
    """A finite number, or drop."""
    if text == "drop":
        return text
    if _number(text) is None:
        raise argparse.ArgumentTypeError(f"expected a number or drop, got {brief(text)}")
    return number(text)


def places(text):
    """A number of places from 1 up, or all."""
    return None if text == "all" else positive(text)


def positive(text):
    """A whole number from 1 up."""
    return _whole(text, 1, "a whole number from 1 up")


def folds(text):
    """A whole number from 2 up."""
    return _whole(text, 2, "a whole number from 2 up")


def jobs(text):
    """A whole number but 0; -1 means all processors."""
    number = _whole(text.removeprefix("-"), 1, "a number of processes or -1", text)
    return -number if text.startswith("-") else number


def seed(text):
    """A seed that numpy takes."""
    return _whole(text, 0, "a whole number below 2**31")


def _whole(text, least, expected, given=None):
    """A whole number below 2**31, written in digits."""
    # Of thousands of digits Python makes no number.
    if not text.isdecimal() or len(text) > _MOST_DIGITS or not least <= int(text) < 2**31:
        raise argparse.ArgumentTypeError(f"expected {expected}, got {brief(given or text)}")
    return int(text)


def _number(text):
    try:
        return float(text)
    except ValueError:
        return None

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
    listed = [name.strip() for name in parts if name.strip()]
    if not listed:
        raise argparse.ArgumentTypeError("expected at least one name")
    return listed


def pairs(text):
    """Pairs of names, as in A=B,C=D."""
    listed = [tuple(name.strip() for name in pair.split("=")) for pair in names(text)]
    if any(len(pair) != 2 or not all(pair) for pair in listed):
        raise argparse.ArgumentTypeError(f"expected A=B,..., got {brief(text)}")
    return listed


def rankers(text):
    """Names of rankers, each once."""
    from skfilterrank.ranking import get_ranker_names

    listed = list(dict.fromkeys(names(text)))
    known = get_ranker_names()
    unknown = [name for name in listed if name not in known]
    if unknown:
        raise argparse.ArgumentTypeError(
            f"{', '.join(unknown)} is not a model; choose from {', '.join(known)}"
        )
    return listed


def gains(text):
    """Gains of labels, as in Bad=-1,Good=1, NaN where they mean unjudged; or exp2."""
    if text == "exp2":
        return text
    return _numbers_by_name(text, "LABEL=GAIN", "label", "gains")


def levels(text):
    """Levels of rates, as in any_forbidden=0.1."""
    return _numbers_by_name(text, "RATE=LEVEL", "rate", "levels")


def _numbers_by_name(text, expected, one, values):
    """Numbers by name, as in A=1,B=2."""
    number_of = {}
    for item in measures(text):
        name, equals, number = item.rpartition("=")
        name, number = name.strip(), _number(number)
        if not equals or not name or number is None or math.isinf(number):
            raise argparse.ArgumentTypeError(f"expected {expected}, got {brief(item)}")
        if name in number_of:
            raise argparse.ArgumentTypeError(f"{one} {brief(name)} has two {values}")
        number_of[name] = number
    return number_of


# Here, so that --help does not wait for numpy.
THRESHOLDS = (
    "tune",
    "auto",
    "per_query",
    "expected",
    "learned",
    "first_k",
    "largest_gap",
    "surprise",
)
RULES = ("ratio", "price", "subset", "harm")
CONFIDENCES = ("best_score", "score_gap", "score_std", "score_regression")


def threshold(text):
    """How to filter: the name of a way to find it, none or a number."""
    if text in THRESHOLDS:
        return text
    if text == "none":
        return None
    number = _number(text)
    if number is None or math.isnan(number):
        raise argparse.ArgumentTypeError(
            f"expected {', '.join(THRESHOLDS)}, none or a number, got {brief(text)}"
        )
    return number


def measures(text):
    """Names of measures, as in A,B; commas in parentheses separate the options of one."""
    # Here, so that --help does not wait for numpy and pandas.
    from skfilterrank._core.measure_names import split_at_commas

    return _names_of(split_at_commas(text))


def number(text):
    """A finite number."""
    value = _number(text)
    if value is None or not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"expected a number, got {brief(text)}")
    return value


def unjudged_label(text):
    """A label, trec or none; or warn, which is what it is where nothing is said."""
    if text == "none":
        return None
    return text if text in ("trec", "warn") else number(text)


def share(text):
    """A number between 0 and 1."""
    value = _number(text)
    if value is None or not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"expected a number between 0 and 1, got {brief(text)}")
    return value


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

"""Small JSON files with a checksum, for fitted thresholds, certificates and monitors."""

import hashlib
import json
import math

import numpy as np

from skfilterrank._files.files import (
    check_target,
    decode,
    json_of,
    open_for_writing,
    read_bytes,
    source_name,
)
from skfilterrank._lists.checks import check_count, is_level, is_number
from skfilterrank.exceptions import FileFormatError, InputError, InputTypeError, brief


def write_state(target, kind: str, state: dict, call: str) -> str:
    """Write a state with its kind and checksum, and return the checksum; `call` is for errors."""
    check_target(target, call)
    content = _finite({"format": kind} | state)
    content["checksum"] = checksum_of(content)
    with open_for_writing(target) as write:
        write(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    return content["checksum"]


def read_state(source, kind: str, read):
    """Read a state, and raise if its kind or its checksum is wrong.

    The function `read` checks each field (see `record`), since anybody can compute a checksum.
    """
    name = source_name(source)
    content = json_of(decode(read_bytes(source), name).removeprefix("\ufeff"), name)
    found = content.get("format") if isinstance(content, dict) else None
    if found != kind:
        raise FileFormatError(
            f"its format is {brief(found or content)}, expected {kind!r}. Write it again with "
            "this version of the library.",
            name,
        )
    advice = "Write it again instead of editing it."
    if content.pop("checksum", None) != checksum_of(content):
        text = "checksum mismatch: the content was changed after it was written."
        raise FileFormatError(f"{text} {advice}", name)
    try:
        return read(content)
    except (InputError, InputTypeError) as error:
        raise FileFormatError(f"{error} {advice}", name) from error


# A check is a function of a stored value and the name of its field. It raises for a wrong value,
# and returns the value in the form that it had before it was written.


def record(fields, *together):
    """Make a check of an object from checks of its fields; fields of a group occur together."""

    def check(value, name=""):
        where = f"{name}." if name else ""
        if not isinstance(value, dict):
            raise InputError(f"{name} must be an object, got {brief(value)}.")
        groups = [group for group in together if not group.keys().isdisjoint(value)]
        wanted = {key: each for group in (fields, *groups) for key, each in group.items()}
        if missing := [f"{where}{key}" for key in wanted if key not in value]:
            raise InputError(f"{missing[0]} is missing.")
        return {key: each(value[key], f"{where}{key}") for key, each in wanted.items()}

    return check


def listed(check, least=0, most=None):
    """Make a check of a list from a check of its entries."""

    def check_list(value, name):
        if not isinstance(value, list) or not least <= len(value) <= (most or len(value)):
            n = f" of {least}" if least == most else f" of {least} or more" if least else ""
            raise InputError(f"{name} must be a list{n}, got {brief(value)}.")
        return [check(each, f"{name}[{place}]") for place, each in enumerate(value)]

    return check_list


def pair(first, second):
    """Make a check of a list of two entries."""

    def check(value, name):
        value = listed(lambda each, _: each, 2, 2)(value, name)
        return first(value[0], f"{name}[0]"), second(value[1], f"{name}[1]")

    return check


def check_curve(x, y, name: str) -> None:
    """Check that a curve has a value at each node, and that its nodes never fall."""
    if len(x) != len(y) or (np.diff(x) < 0).any():
        raise InputError(f"{name} must be scores that never fall, and as many values.")


def curve(value, name):
    """Check scores and the probability at each of them, and return two arrays."""
    nodes, values = pair(numbers(1), numbers(1, least=0, most=1))(value, name)
    check_curve(nodes, values, name)
    return nodes, values


def optional(check):
    """Make a check of a value that may be null."""
    return lambda value, name: None if value is None else check(value, name)


def number(least=-math.inf, most=math.inf, *, nan=False, infinite=False):
    """Make a check of a number within bounds."""

    def check(value, name):
        found = float(value) if isinstance(value, str) and value in _NOT_FINITE else value
        if nan and is_number(found) and found != found:
            return found
        is_in = is_level(found) and least <= found <= most and (infinite or not math.isinf(found))
        if not is_in:
            within = f" from {least:g} to {most:g}" if np.isfinite([least, most]).all() else ""
            raise InputError(f"{name} must be a number{within}, got {brief(value)}.")
        return found

    return check


def numbers(shortest=0, longest=None, **bounds):
    """Make a check of a list of numbers within bounds that returns an array."""
    check = listed(number(**bounds), shortest, longest)
    return lambda value, name: np.array(check(value, name), dtype=np.float64)


def count(least=0):
    """Make a check of a whole number."""
    return lambda value, name: check_count(value, name, least)


def text(value, name):
    """Check that a value is a text, and return it."""
    if not isinstance(value, str):
        raise InputError(f"{name} must be a text, got {brief(value)}.")
    return value


def label(value, name):
    """Check that a label is unchanged by JSON."""
    value = value.item() if isinstance(value, np.generic) else value
    if not isinstance(value, str | bool | int | float | None) or (
        isinstance(value, float) and not math.isfinite(value)
    ):
        raise InputError(f"{name} {brief(value)}, which JSON cannot hold: use texts.")
    return value


def gains_to_json(gains, where: str):
    """Convert gains to pairs, since keys of JSON are text."""
    if callable(gains):
        raise InputError(f"gains of {where} is a function, which JSON cannot hold: use a dict.")
    if not hasattr(gains, "items"):
        return gains
    name = f"gains of {where} has the label"
    try:
        return [[label(key, name), float(gain)] for key, gain in gains.items()]
    except (TypeError, OverflowError):
        raise InputError(f"gains of {where} must be numbers, got {brief(gains)}.") from None


def gains_from_json(gains, name):
    """Convert pairs back to gains."""
    if gains in (None, "exp2"):
        return gains
    return dict(listed(pair(label, number(nan=True, infinite=True)))(gains, name))


# Smallest number for what numbers are divided by.
POSITIVE = np.finfo(np.float64).tiny
_NOT_FINITE = ("inf", "-inf", "nan")


def _finite(value):
    """Replace NaN and infinite numbers, which JSON lacks, by texts."""
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return repr(float(value)) if isinstance(value, float) and not math.isfinite(value) else value


def as_json(value):
    """Convert arrays, numpy numbers and tuples, at any depth, to lists and numbers."""
    if isinstance(value, dict):
        return {key: as_json(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(each) for each in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def checksum_of(content: dict) -> str:
    """Return the checksum of a state, which does not depend on the order of its fields."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()

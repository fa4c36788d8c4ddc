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
from skfilterrank.exceptions import FileFormatError, InputError, brief


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

    The checksum says that the fields are those that were written. So `read` only makes objects of
    them. If it fails, another version wrote them, or somebody changed fields and checksum.
    """
    name = source_name(source)
    content = json_of(decode(read_bytes(source), name).removeprefix("\ufeff"), name)
    found = content.get("format") if isinstance(content, dict) else None
    if found != kind:
        said = "it names no format" if found is None else f"its format is {brief(found)}"
        what, _, _ = kind.rpartition(" ")
        advice = f"Give a file of a {what.removeprefix('skfilterrank ')}, as its save() writes it."
        if str(found).rpartition(" ")[0] == what:
            advice = "Write it again with this version of the library."
        raise FileFormatError(f"{said}, expected {kind!r}. {advice}", name)
    advice = "Write it again instead of editing it."
    if content.pop("checksum", None) != checksum_of(content):
        text = "checksum mismatch: the content was changed after it was written."
        raise FileFormatError(f"{text} {advice}", name)
    try:
        return read(content)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        text = f"it does not hold what such a file holds ({type(error).__name__}: {error})."
        advice = "Write it again: another version of the library may have written it."
        raise FileFormatError(f"{text} {advice}", name) from error


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


def gains_from_json(gains):
    """Convert pairs back to gains."""
    return {key: float(gain) for key, gain in gains} if isinstance(gains, list) else gains


def array(value) -> np.ndarray:
    """Convert a list of numbers, or of texts of infinite numbers, back to an array of float64."""
    return np.array(value, dtype=np.float64)


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

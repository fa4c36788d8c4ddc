"""Small JSON files that hold what a program wrote for itself, and that a person can read."""

import hashlib
import json

from skfilterrank._files.files import (
    decode,
    open_for_writing,
    read_bytes,
    source_name,
)
from skfilterrank._json import parse_json
from skfilterrank.exceptions import FileFormatError, InputError, brief


def write_state(target, kind: str, state: dict) -> None:
    """Write a state, with its kind before it and a checksum behind."""
    content = {"format": kind} | state
    content["checksum"] = _checksum(content)
    with open_for_writing(target) as write:
        write(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def read_state(source, kind: str) -> dict:
    """Read a state of this kind that nobody has changed."""
    name = source_name(source)
    try:
        content = parse_json(decode(read_bytes(source), name))
    except FileFormatError:
        raise
    except InputError as error:
        raise FileFormatError(f"it is no JSON: {error}.", name) from error
    found = content.get("format") if isinstance(content, dict) else None
    if found != kind:
        family = kind.rpartition(" ")[0]
        other = isinstance(found, str) and found.startswith(f"{family} ")
        raise FileFormatError(
            f"it is {found!r}, of another version of this library, which reads {kind!r}: write it "
            "again with this version."
            if other
            else f"it is no file of the kind {kind!r}, which begins with that as its format; got "
            f"{brief(found if found is not None else content)}.",
            name,
        )
    checksum = content.pop("checksum", None)
    if checksum != _checksum(content):
        raise FileFormatError(
            "its content does not go with its checksum: it was changed after it was written. Make "
            "it again instead of editing it.",
            name,
        )
    return content


def gains_to_json(gains, where: str):
    """Gains as JSON holds them: pairs, since keys of JSON are text."""
    if callable(gains):
        raise InputError(f"gains of {where} is a function, which JSON cannot hold: use a dict.")
    if not hasattr(gains, "items"):
        return gains
    return [
        [getattr(key, "item", lambda key=key: key)(), float(gain)] for key, gain in gains.items()
    ]


def gains_from_json(gains):
    """Gains as they were."""
    return dict(map(tuple, gains)) if isinstance(gains, list) else gains


def _checksum(content):
    """Of the content as JSON of one form."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()

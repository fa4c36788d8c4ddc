"""Small files of a program's own: what is written is read, and what was changed is refused."""

import io
import json
import math

import numpy as np
import pytest

from skfilterrank._files.states import (
    array,
    checksum_of,
    gains_from_json,
    gains_to_json,
    label,
    read_state,
    write_state,
)
from skfilterrank.exceptions import FileFormatError, InputError

KIND = "skfilterrank thing 2"
STATE = {"name": "é", "bounds": [0.1, math.inf], "n": 3, "nothing": None}


def made(content):
    """The state of a file."""
    return content | {"bounds": array(content["bounds"]), "n": range(content["n"]).stop}


def written(state=STATE):
    out = io.StringIO()
    checksum = write_state(out, KIND, state, "save(path)")
    return out.getvalue(), checksum


def read(content):
    return read_state(io.BytesIO(content.encode()), KIND, made)


def changed(**fields):
    """A file with other fields, whose checksum fits."""
    content = json.loads(written()[0]) | fields
    del content["checksum"]
    return json.dumps(content | {"checksum": checksum_of(content)})


def test_what_is_written_is_read(tmp_path):
    content, checksum = written()
    found = read("\ufeff" + content)
    assert found.pop("bounds").tolist() == [0.1, math.inf]
    assert found == {"format": KIND, "name": "é", "n": 3, "nothing": None}
    assert json.loads(content)["checksum"] == checksum
    assert '"name": "é"' in content
    assert write_state(tmp_path / "x.json", KIND, STATE, "save(path)") == checksum
    assert (tmp_path / "x.json").read_text(encoding="utf-8") == content


def test_the_checksum_is_that_of_the_content():
    # By hand: fields in the order of their names, and no blanks.
    import hashlib

    expected = hashlib.sha256(b'{"a":[1,"b"],"c":null}').hexdigest()
    assert checksum_of({"c": None, "a": (1, "b")}) == expected
    assert checksum_of({"c": None, "a": [1, "B"]}) != expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (written()[0].replace("3", "4"), "checksum mismatch: the content was changed after"),
        (
            written()[0].replace(KIND, "skfilterrank thing 1"),
            "'skfilterrank thing 1', expected 'skfilterrank thing 2'. Write it again with this",
        ),
        (
            written()[0].replace(KIND, "other 1"),
            "its format is 'other 1', expected 'skfilterrank thing 2'. Give a file of a thing, as",
        ),
        ("[1]", "it names no format, expected"),
        ("{}", "it names no format, expected 'skfilterrank thing 2'. Give a file of a thing"),
        ("{", "it is not JSON"),
        (changed(n="x"), r"it does not hold what such a file holds \(TypeError: .* Write it again"),
        (changed(bounds=["x"]), r"it does not hold what such a file holds \(ValueError: could not"),
    ],
)
def test_what_was_changed_is_refused(content, message):
    with pytest.raises(FileFormatError, match=message):
        read(content)


def test_half_of_a_character_and_no_file():
    with pytest.raises(InputError, match="a text holds an unpaired surrogate, which cannot"):
        write_state(io.BytesIO(), KIND, {"name": "\ud800"}, "save(path)")
    with pytest.raises(TypeError, match=r"save\(path\)"):
        write_state(3, KIND, STATE, "save(path)")


@pytest.mark.parametrize(("value", "expected"), [(np.int64(3), 3), (True, True)])
def test_labels_are_as_json_keeps_them(value, expected):
    found = label(value, "here")
    assert (found, type(found)) == (expected, type(expected))


@pytest.mark.parametrize("value", [math.nan, (1, 2)])
def test_labels_that_json_cannot_hold(value):
    with pytest.raises(InputError, match=r"^here"):
        label(value, "here")


def test_gains_go_to_json_and_back():
    gains = {1: 2.5, "bad": -3, None: 0.0}
    pairs = gains_to_json(gains, "x")
    assert pairs == [[1, 2.5], ["bad", -3.0], [None, 0.0]]
    assert gains_from_json(json.loads(json.dumps(pairs))) == gains
    # What JSON has no numbers for is text there.
    assert gains_from_json([[1, "-inf"], [2, "inf"]]) == {1: -math.inf, 2: math.inf}
    for gain in (None, "exp2"):
        assert gains_from_json(gains_to_json(gain, "x")) == gain


@pytest.mark.parametrize(
    ("gains", "message"),
    [
        (abs, "gains of x is a function, which JSON cannot hold: use a dict"),
        ({1: [2]}, r"gains of x must be numbers, got \{1: \[2\]\}"),
        ({(1, 2): 1}, r"gains of x has the label \(1, 2\), which JSON cannot hold: use texts"),
    ],
)
def test_gains_that_json_cannot_hold(gains, message):
    with pytest.raises(InputError, match=message):
        gains_to_json(gains, "x")

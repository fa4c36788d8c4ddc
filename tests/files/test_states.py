"""Small files of a program's own: what is written is read, and what was changed is refused."""

import io
import json
import math

import numpy as np
import pytest

from skfilterrank._files.states import (
    checksum_of,
    count,
    gains_from_json,
    gains_to_json,
    label,
    listed,
    number,
    numbers,
    optional,
    pair,
    read_state,
    record,
    text,
    write_state,
)
from skfilterrank.exceptions import FileFormatError, InputError

KIND = "skfilterrank thing 2"
STATE = {"name": "é", "bounds": [0.1, math.inf], "n": 3, "nothing": None}
READ = record(
    {"name": text, "bounds": numbers(infinite=True), "n": count(), "nothing": optional(text)}
)


def written(state=STATE):
    out = io.StringIO()
    checksum = write_state(out, KIND, state, "save(path)")
    return out.getvalue(), checksum


def read(content, read=READ):
    return read_state(io.BytesIO(content.encode()), KIND, read)


def changed(**fields):
    """A file with other fields, whose checksum fits."""
    content = json.loads(written()[0]) | fields
    del content["checksum"]
    return json.dumps(content | {"checksum": checksum_of(content)})


def test_what_is_written_is_read(tmp_path):
    content, checksum = written()
    found = read("\ufeff" + content)
    assert found.pop("bounds").tolist() == [0.1, math.inf]
    assert found == {"name": "é", "n": 3, "nothing": None}
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
            "its format is 'skfilterrank thing 1', expected 'skfilterrank thing 2'",
        ),
        (
            written()[0].replace(KIND, "other 1"),
            "its format is 'other 1', expected 'skfilterrank thing 2'",
        ),
        ("[1]", r"its format is \[1\], expected"),
        ("{", "it is not JSON"),
        (changed(n=-1), "n must be .*-1.* Write it again instead of editing it"),
        (changed(bounds=["0.1"]), r"bounds\[0\] must be a number, got '0.1'"),
        (changed(name=None), "name must be a text, got None"),
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


class TestChecks:
    """Each gives the value as it was, or names the field."""

    @pytest.mark.parametrize(
        ("check", "value", "expected"),
        [
            (number(), "-inf", None),
            (number(infinite=True), "-inf", -math.inf),
            (number(infinite=True), "nan", None),
            (number(nan=True), "nan", math.nan),
            (number(0, 1), 1, 1),
            (number(0, 1), 1.5, None),
            (number(), True, None),
            (number(), 10**400, None),
            (count(2), 2, 2),
            (count(2), 1, None),
            (count(), 1.5, None),
            (listed(count()), [1, 2], [1, 2]),
            (listed(count()), (1, 2), None),
            (listed(count(), 1), [], None),
            (listed(count(), 0, 1), [1, 2], None),
            (pair(text, count()), ["a", 1], ("a", 1)),
            (pair(text, count()), ["a", 1, 2], None),
            (optional(count()), None, None),
            (label, np.int64(3), 3),
            (label, True, True),
            (label, math.nan, None),
            (label, (1, 2), None),
        ],
    )
    def test_values(self, check, value, expected):
        if expected is None and value is not None:
            with pytest.raises(InputError, match=r"^here"):
                check(value, "here")
            return
        found = check(value, "here")
        assert found == expected or (found != found and expected != expected)
        assert type(found) is type(expected)

    def test_arrays(self):
        found = numbers(2, 2, nan=True)([1, "nan"], "x")
        np.testing.assert_array_equal(found, [1.0, np.nan], strict=True)
        with pytest.raises(InputError, match=r"x must be a list of 2, got \[1\]"):
            numbers(2, 2)([1], "x")
        with pytest.raises(InputError, match=r"x\[1\] must be a number from 0 to 1, got 2"):
            listed(number(0, 1))([1, 2], "x")

    def test_fields_that_are_all_there_or_none(self):
        check = record({"a": count()}, {"b": count(), "c": text})
        assert check({"a": 1, "other": 2}) == {"a": 1}
        assert check({"a": 1, "b": 2, "c": "x"}) == {"a": 1, "b": 2, "c": "x"}
        for value, message in (({}, "a is missing"), ({"a": 1, "b": 2}, "c is missing")):
            with pytest.raises(InputError, match=message):
                check(value)
        inner = record({"x": record({"a": count()})})
        with pytest.raises(InputError, match=r"x\.a is missing"):
            inner({"x": {}})
        with pytest.raises(InputError, match="x must be an object, got 3"):
            inner({"x": 3})


def test_gains_go_to_json_and_back():
    gains = {1: 2.5, "bad": -3, None: 0.0}
    pairs = gains_to_json(gains, "x")
    assert pairs == [[1, 2.5], ["bad", -3.0], [None, 0.0]]
    assert gains_from_json(json.loads(json.dumps(pairs)), "gains") == gains
    # What JSON has no numbers for is text there.
    assert gains_from_json([[1, "-inf"], [2, "inf"]], "gains") == {1: -math.inf, 2: math.inf}
    for gain in (None, "exp2"):
        assert gains_from_json(gains_to_json(gain, "x"), "gains") == gain


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

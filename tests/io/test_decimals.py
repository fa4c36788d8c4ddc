"""Decimal numbers in many texts at once, against Python's own."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import CHARACTERS, times
from skfilterrank._files.tokens import Tokens
from skfilterrank.io._trec.decimals import are_short_digits, parse_decimals

NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(10**18), 10**18).map(str),
    st.decimals(-1000, 1000, places=7, allow_nan=False).map(str),
    st.from_regex(r"[-+]?[0-9]{0,9}\.?[0-9]{0,9}", fullmatch=True, alphabet=CHARACTERS),
    st.text("0123456789.-+eE_xnaif", max_size=20),
)


@times(0.4)
@given(st.lists(NUMBERS, min_size=1, max_size=30))
def test_numbers_are_those_of_python(texts):
    assert_numbers_of_python(texts)


@pytest.mark.slow
def test_many_numbers_are_those_of_python():
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 2**64, 5000, dtype=np.uint64).view(np.float64)
    texts = [repr(number) for number in numbers[np.isfinite(numbers)].tolist()]
    texts += [f"{number:.{digits}g}" for digits in range(1, 20) for number in rng.normal(size=100)]
    for letters in ("0123456789.-", "0019.e-+", "0123456789.-+eE_xnaif"):
        lengths = rng.integers(1, 20, 5000)
        texts += ["".join(rng.choice(list(letters), length)) for length in lengths]
    assert_numbers_of_python(texts)


def assert_numbers_of_python(texts):
    values, is_number = parse_decimals(Tokens.from_texts(texts))
    for text, value, ok in zip(texts, values, is_number, strict=True):
        try:
            expected = None if "_" in text else float(text)
        except ValueError:
            expected = None
        assert ok == (expected is not None), text
        if ok:
            # Signs of zero included.
            assert np.array(value).tobytes() == np.array(expected).tobytes() or value != value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12.0),
        ("-0.5", -0.5),
        ("+3.", 3.0),
        (".25", 0.25),
        ("12345678.5", 12345678.5),
        ("123456789012345", 123456789012345.0),
        ("0.1234567890123456", 0.1234567890123456),
        ("-0", -0.0),
        ("1e400", np.inf),
        ("-Infinity", -np.inf),
    ],
)
def test_values_by_hand(text, value):
    # Alone, and where its bytes are followed by another's.
    for texts in ([text], [text, "7"], ["99999999", text]):
        values, is_number = parse_decimals(Tokens.from_texts(texts))
        assert is_number.all()
        assert values[texts.index(text)].tobytes() == np.float64(value).tobytes()


@pytest.mark.parametrize(
    "text", ["", ".", "-", "1.2.3", "1_0", "٣", "0x1", "1e", "1 2", "--1", "+-1"]
)
def test_what_is_no_number(text):
    values, is_number = parse_decimals(Tokens.from_texts(["1", text, "2"]))
    assert is_number.tolist() == [True, False, True]
    assert values[[0, 2]].tolist() == [1.0, 2.0]


def test_nothing_at_all():
    values, is_number = parse_decimals(Tokens.from_texts([]))
    assert (values.shape, values.dtype, is_number.dtype) == ((0,), np.float64, bool)


def test_short_digits():
    texts = ["1", "12345678", "00000000", "123456789", "-1", "1.5", "12a", "1:2", "/0", "٣"]
    expected = [True] * 3 + [False] * 7
    assert are_short_digits(Tokens.from_texts(texts)).tolist() == expected

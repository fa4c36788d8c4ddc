"""Labels of figures: names that are short and still tell apart, and numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skfilterrank.plot._display import LABEL_LENGTH, number, shorten, shorten_all


def test_short_names_stay():
    assert shorten_all(["a", "b", 3]) == ["a", "b", "3"]
    assert shorten("x" * LABEL_LENGTH) == "x" * LABEL_LENGTH


@pytest.mark.parametrize(("length", "short"), [(5, "ab…gh"), (4, "ab…h"), (8, "abcdefgh")])
def test_long_names_lose_their_middle(length, short):
    assert shorten("abcdefgh", length) == short


def test_names_that_would_look_alike_lose_what_they_share():
    names = [f"a_long_beginning_of_names_{i}_and_a_long_end_of_them" for i in "xy"]
    # Six letters of the beginning, and from where they differ on; 28 letters with the dots.
    assert shorten_all(names) == ["a_long…x_and_a_lo…nd_of_them", "a_long…y_and_a_lo…nd_of_them"]


def test_names_that_no_shortening_tells_apart_stay_whole():
    names = [a + "-" * 30 + b + "-" * 30 for a in "ab" for b in "xy"]
    names += ["a" + "-" * 30 + "x" + "-" * 29 + "+" + "-" * 30]
    short = shorten_all(names)
    assert len(set(short)) == len(names)


@given(
    st.lists(
        st.text("ab", min_size=1, max_size=3).map(lambda text: text.join(["-" * 15] * 4)),
        unique=True,
        max_size=6,
    )
)
def test_different_names_stay_different(names):
    short = shorten_all(names)
    assert len(set(short)) == len(names)
    assert all(a == b or len(a) <= LABEL_LENGTH for a, b in zip(short, names, strict=True))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.12345, "0.123"),
        (-12.34, "-12.3"),
        (999.4, "999"),
        (999.5, "1000"),
        (-999.7, "-1000"),
        (123456, "123456"),
        (0.0000123, "1.23e-05"),
        (0.0, "0"),
        (float("inf"), "inf"),
    ],
)
def test_numbers_have_no_exponent_where_they_are_merely_large(value, text):
    assert number(value, 3) == text


def test_a_name_with_which_another_begins():
    assert shorten_all(["-" * 40, "-" * 41]) == ["------…", "------…-"]

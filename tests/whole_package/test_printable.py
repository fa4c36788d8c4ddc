"""Which characters screens are given as they are, and which as codes."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import CHARACTERS
from skfilterrank._base.words import printable

OBEYED_OR_UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("doc-7 (é, 漢字, עברית, 🙂)", "doc-7 (é, 漢字, עברית, 🙂)"),
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("a\x9b2Jb\x7f", r"a\x9b2Jb\x7f"),
        ("a\nb\tc\r", r"a\nb\tc\r"),
        ("\u061c\u200b\u202e\ufeff", r"\u061c\u200b\u202e\ufeff"),
        ("x\U000e0041", r"x\U000e0041"),
        ("\ufe0f\U000e0101\u3164\u034f", r"\ufe0f\U000e0101\u3164\u034f"),
        ("a\xa0b\u2003", r"a\xa0b\u2003"),
        ("half \udcff", r"half \udcff"),
    ],
)
def test_codes(text, shown):
    assert printable(text) == shown


def test_what_is_kept():
    assert printable("a\nb\tc", keep="\n") == "a\nb\\tc"


def test_what_is_no_text():
    assert printable(3.5) == "3.5"


@given(st.text(CHARACTERS))
def test_nothing_is_left_that_is_obeyed_or_unseen(text):
    shown = printable(text)
    assert not {unicodedata.category(character) for character in shown} & OBEYED_OR_UNSEEN
    assert printable(shown) == shown


@pytest.mark.slow
def test_every_control_and_format_character_is_a_code():
    characters = [
        character
        for character in map(chr, range(0x110000))
        if unicodedata.category(character) in OBEYED_OR_UNSEEN
    ]
    code = re.compile(r"\\(?:[abfnrtv0]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})")
    shown = printable("".join(characters))
    assert code.sub("", shown) == ""
    assert len(code.findall(shown)) == len(characters) > 2000

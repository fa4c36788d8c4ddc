"""Texts as places in bytes, against Python's own strings."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skfilterrank._files import tokens as module
from skfilterrank._files.tokens import Tokens

# Few letters, so that texts share their beginnings; a zero byte, a line end and two more bytes.
SHORT = st.text("ab\0\né", max_size=20)
TEXTS = st.lists(st.one_of(SHORT, st.sampled_from(["a" * 40, "a" * 39 + "b"])), max_size=12)


@pytest.fixture(params=[512, 16, 3], autouse=True)
def longest(request, monkeypatch):
    """Texts that are compared as a whole: none, some, nearly all."""
    monkeypatch.setattr(module, "_LONG", request.param)


@pytest.mark.slow
@given(TEXTS, st.integers(0, 3))
def test_hashes_tell_texts_apart(texts, salt):
    hashes = Tokens.from_texts(texts).hashes(salt)
    assert len(set(hashes.tolist())) == len(set(texts))
    assert dict(zip(texts, hashes)) == dict(zip(texts[::-1], hashes[::-1]))
    # They do not depend on what stands beside a text.
    for text, value in zip(texts, hashes):
        assert Tokens.from_texts([text]).hashes(salt)[0] == value


@pytest.mark.slow
@given(TEXTS)
def test_factorize(texts):
    codes, distinct = Tokens.from_texts(texts).factorize()
    assert [distinct[code] for code in codes] == texts
    assert distinct == list(dict.fromkeys(texts))


@pytest.mark.slow
@given(TEXTS, st.randoms(use_true_random=False))
def test_equal(texts, random):
    others = [random.choice([text, text + "a", text[:-1] + "b"]) for text in texts]
    found = Tokens.from_texts(texts).equal(Tokens.from_texts(others))
    assert found.tolist() == [one == two for one, two in zip(texts, others)]


@pytest.mark.slow
@given(TEXTS)
def test_sort_keys_sort_by_bytes(texts):
    tokens = Tokens.from_texts(texts)
    order = np.lexsort(tokens.sort_keys())
    assert [texts[i] for i in order] == sorted(texts, key=str.encode)
    order = np.lexsort([~key for key in tokens.sort_keys()])
    assert [texts[i] for i in order] == sorted(texts, key=str.encode, reverse=True)


@given(TEXTS)
def test_texts_come_back(texts):
    tokens = Tokens.from_texts(texts)
    assert tokens.tolist() == texts
    assert tokens.packed() == "".join(texts).encode()
    assert tokens.bytes() == [text.encode() for text in texts]


@pytest.mark.parametrize("length", [7, 8, 9, 16, 17])
def test_texts_that_differ_in_their_last_letter_do_not_repeat(length):
    start = "x" * (length - 1)
    tokens = Tokens.from_texts([start + "a", start + "a", start + "b"])
    assert tokens.repeats().tolist() == [True, False]


def test_one_long_text_among_many():
    texts = ["x" * 20_000 if i == 700 else f"d{i % 900}" for i in range(2000)]
    tokens = Tokens.from_texts(texts)
    assert tokens.is_uneven
    assert tokens.tolist() == texts
    assert len(tokens.sort_keys()) == 1
    assert [texts[i] for i in np.lexsort(tokens.sort_keys())] == sorted(texts)
    codes, distinct = tokens.factorize()
    assert [distinct[code] for code in codes] == texts

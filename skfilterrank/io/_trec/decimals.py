"""Decimal numbers in many short texts at once, read exactly."""

import re

import numpy as np

from skfilterrank._files.tokens import load_words

_WORD = np.uint64
_ZEROS = _WORD(0x3030303030303030)
_DOTS = _WORD(0x2E2E2E2E2E2E2E2E)
_HIGH_HALVES = _WORD(0xF0F0F0F0F0F0F0F0)
_LOW_HALVES = _WORD(0x0F0F0F0F0F0F0F0F)
_SIXES = _WORD(0x0606060606060606)
_LOW_BITS = _WORD(0x7F7F7F7F7F7F7F7F)
_ONE, _SEVEN, _EIGHT, _TOP = _WORD(1), _WORD(7), _WORD(8), _WORD(56)
_ZERO = _WORD(ord("0"))
# Entry i keeps the last i of the eight bytes of a word (little endian: the high ones).
_LAST_BYTES = np.array([(1 << 64) - (1 << 8 * (8 - i)) for i in range(9)], dtype=np.uint64)
_CHUNK_ROWS = 1 << 14
_POWERS = 10.0 ** np.arange(17)
_NUMBER_PATTERN = re.compile(
    r"[-+]?(?:(?>\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan|inf|infinity)", re.ASCII | re.IGNORECASE
)
_OTHERS_PATTERN = re.compile(r"[^-+.eE0-9]")


def parse_decimals(tokens):
    """Value of each text as Python's float() has it, and whether the text is a number at all.

    Plain decimals of up to 16 characters are whole numbers, or quotients of two exact floats (at
    most 15 digits, and a power of ten), so that they are rounded once; float() reads all others.
    """
    if not len(tokens):
        return np.zeros(0), np.zeros(0, dtype=bool)
    # In chunks that fit the cache.
    chunks = [
        _parse_plain(tokens.take(slice(begin, begin + _CHUNK_ROWS)))
        for begin in range(0, len(tokens), _CHUNK_ROWS)
    ]
    values, plain = map(np.concatenate, zip(*chunks, strict=True))
    is_number = np.ones(len(tokens), dtype=bool)
    rows = np.flatnonzero(~plain)
    if rows.size:
        values[rows], is_number[rows] = _parse_others(tokens.take(rows).tolist())
    return values, is_number


def are_short_digits(tokens):
    """Tell which texts, none of them empty, are at most eight digits."""
    lengths = tokens.lengths
    # The texts alone, behind as many zero bytes as are missing; each digit becomes 0 to 9.
    shifts = (_EIGHT - np.minimum(lengths, 8).astype(np.uint64)) << _WORD(3)
    words = load_words(tokens.data, tokens.starts + lengths - 8) >> shifts
    words ^= _ZEROS >> shifts
    return (((words | (words + _SIXES)) & _HIGH_HALVES) == 0) & (lengths <= 8)


def _parse_others(texts):
    """Values by float(), without the texts that only Python takes for numbers, and which are."""
    if not _OTHERS_PATTERN.search("".join(texts)):
        try:
            return np.fromiter(map(float, texts), np.float64, len(texts)), True
        except ValueError:
            pass
    matches = [_NUMBER_PATTERN.fullmatch(text) is not None for text in texts]
    values = [float(text) if ok else np.nan for text, ok in zip(texts, matches, strict=True)]
    return values, matches


def _parse_plain(tokens):
    """Values of the texts such as "12", "-0.5" and "3." of up to 16 characters, and which are."""
    lengths = tokens.lengths
    ends = tokens.starts + lengths
    plain = (lengths > 0) & (lengths <= 16)
    first = tokens.data[tokens.starts]
    signed = first < 48
    negative = None
    if signed.any():
        negative = first == ord("-")
        n_digits = lengths - (negative | (first == ord("+")))
    else:
        n_digits = lengths
    high = _last_eight(tokens.data, ends, n_digits)
    long = int(n_digits.max(initial=0)) > 8
    low = _last_eight(tokens.data, ends - 8, n_digits - 8) if long else None

    places = None
    dots = _marks_of_dots(high)
    if dots.any() or (long and _marks_of_dots(low).any()):
        high, low, places, n_dots = _without_dot(high, low, dots)
        n_digits = n_digits - n_dots
        plain &= n_dots <= 1
    plain &= (n_digits > 0) & _is_digits(high)
    values = _eight_digits(high)
    if low is not None:
        plain &= _is_digits(low)
        values += _eight_digits(low) * _WORD(10**8)
    values = values.astype(np.float64)
    if places is not None:
        values /= _POWERS[places]
    if negative is not None:
        np.negative(values, out=values, where=negative)
    return values, plain


def _last_eight(data, ends, lengths):
    """The last eight characters before each end, "0" before the first of them."""
    keep = _LAST_BYTES[np.minimum(np.maximum(lengths, 0), 8)]
    return (load_words(data, np.maximum(ends - 8, 0)) & keep) | (_ZEROS & ~keep)


def _marks_of_dots(words):
    """The highest bit of each byte that is a dot."""
    difference = words ^ _DOTS
    return ~(((difference & _LOW_BITS) + _LOW_BITS) | difference | _LOW_BITS)


def _without_dot(high, low, dots):
    """The words without their dot, number of digits behind it, and number of dots."""
    n_dots = np.bitwise_count(dots)
    if low is None:
        high, places = _close_up(high, dots, _ZERO)
        return high, None, places, n_dots
    low_dots = _marks_of_dots(low)
    high, places = _close_up(high, dots, low >> _TOP)
    closed, low_places = _close_up(low, low_dots, _ZERO)
    low = np.where(dots != 0, (low << _EIGHT) | _ZERO, closed)
    places = np.where(low_dots != 0, low_places + 8, places)
    return high, low, places, n_dots + np.bitwise_count(low_dots)


def _close_up(words, dots, incoming):
    """Words whose dot makes way for the characters before it, and number of digits behind it."""
    dot = dots >> _SEVEN
    below = np.where(dot != 0, dot - _ONE, _WORD(0))
    above = ~(below | (dot * _WORD(0xFF)))
    closed = (words & above) | np.where(dot != 0, ((words & below) << _EIGHT) | incoming, _WORD(0))
    return closed, np.where(dot != 0, np.bitwise_count(above) >> 3, 0)


def _is_digits(words):
    """Whether all eight bytes are digits."""
    return ((words & _HIGH_HALVES) == _ZEROS) & (((words + _SIXES) & _HIGH_HALVES) == _ZEROS)


def _eight_digits(words):
    """The number that eight digits make: pairs, then fours, then all eight."""
    words = (words & _LOW_HALVES) * _WORD(10 * 256 + 1) >> _EIGHT
    words = (words & _WORD(0x00FF00FF00FF00FF)) * _WORD(100 * 2**16 + 1) >> _WORD(16)
    return (words & _WORD(0x0000FFFF0000FFFF)) * _WORD(10**4 * 2**32 + 1) >> _WORD(32)

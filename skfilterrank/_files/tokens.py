"""Many short texts in one buffer of bytes, compared and sorted eight bytes at a time."""

from decimal import InvalidOperation

import numpy as np
import pandas as pd
from numpy.lib.stride_tricks import sliding_window_view

from skfilterrank.exceptions import InputError, brief

# Padding before and after the texts, so that loading a word never leaves the buffer.
PAD = 16
_CHUNK_ROWS = 1 << 14
# Fewer texts than this are extracted one by one.
_FEW = 64
# Longer texts are sorted as objects, because each word would be a separate key.
_MOST_WORDS = 64
_MIX = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
# Mask i keeps the first i bytes of a word (in little endian, the low bytes).
_FIRST_BYTES = np.array([(1 << 8 * i) - 1 for i in range(9)], dtype=np.uint64)


def load_words(data, positions):
    """Load the eight bytes from each position on, as little-endian integers."""
    words = np.ndarray((len(data) - 7,), dtype="<u8", buffer=data, strides=(1,))
    return words[positions].astype(np.uint64, copy=False)


def mix(words, salt):
    """Mix words over all 64 bits; the salts select the function."""
    mixed = (words ^ salt) * _MIX
    mixed ^= mixed >> _HALF
    mixed *= _MIX
    return mixed


class Tokens:
    """Texts, one per row, as slices of a shared buffer of UTF-8 bytes.

    `data` is an array of uint8 with at least `PAD` bytes before the first and after the last text;
    `starts` and `lengths` have one entry per row. Hashes are cached.
    """

    __slots__ = ("_hashes", "data", "lengths", "starts")

    def __init__(self, data, starts, lengths):
        self.data, self.starts, self.lengths = data, starts, lengths
        self._hashes = {}

    @classmethod
    def from_texts(cls, texts):
        """Make tokens of a list of str."""
        joined = "".join(texts)
        if joined.isascii():
            encoded, parts = joined.encode(), texts
        else:
            parts = [text.encode("utf-8", "surrogatepass") for text in texts]
            encoded = b"".join(parts)
        lengths = np.fromiter(map(len, parts), dtype=np.int64, count=len(texts))
        return cls(padded(encoded), np.cumsum(lengths) - lengths + PAD, lengths)

    @classmethod
    def from_arrow(cls, array):
        """Make tokens of a pyarrow array of (large) strings without nulls."""
        size = 8 if str(array.type) == "large_string" else 4
        _, offsets, content = array.buffers()
        offsets = np.frombuffer(offsets, dtype=f"i{size}", count=len(array) + array.offset + 1)
        offsets = offsets[array.offset :].astype(np.int64)
        first, last = int(offsets[0]), int(offsets[-1])
        content = memoryview(content)[first:last] if content is not None else b""
        return cls(padded(content), offsets[:-1] - first + PAD, np.diff(offsets))

    def __len__(self):
        return len(self.starts)

    def take(self, rows):
        """Take the tokens of some rows (positions, slice or mask)."""
        return Tokens(self.data, self.starts[rows], self.lengths[rows])

    def word(self, i):
        """Load the i-th word (eight bytes) of each text, zero after its end."""
        if i == 0:
            words, left = load_words(self.data, self.starts), np.minimum(self.lengths, 8)
        else:
            words = load_words(self.data, np.minimum(self.starts + 8 * i, len(self.data) - 8))
            left = np.clip(self.lengths - 8 * i, 0, 8)
        if len(left) and left.min() < 8:
            words &= _FIRST_BYTES[left]
        return words

    @property
    def n_words(self):
        """Number of words of the longest text."""
        return -(-int(self.lengths.max(initial=0)) // 8)

    @property
    def is_uneven(self):
        """True if a matrix of all texts would be mostly empty because of a few long texts."""
        longest, total = int(self.lengths.max(initial=0)), int(self.lengths.sum())
        return longest * len(self) > 4 * total + (1 << 16)

    def bytes(self):
        """Return the texts as a list of bytes."""
        return [self.data[i : i + n].tobytes() for i, n in zip(self.starts, self.lengths)]

    def hashes(self, salt=0):
        """Hash each text to 64 bits; equal hashes of different texts are very rare."""
        if salt not in self._hashes:
            parts = [chunk._hash(salt) for chunk in self._chunks()]
            self._hashes[salt] = np.concatenate(parts) if parts else np.zeros(0, dtype=np.uint64)
        return self._hashes[salt]

    def _hash(self, salt):
        """Hash the texts of one chunk."""
        # The length is hashed too, since zero bytes at the end do not change the words.
        values = mix(self.word(0), (self.lengths.astype(np.uint64) + np.uint64(salt)) * _MIX)
        rows = np.arange(len(self))
        for i in range(1, self.n_words):
            rows = rows[self.lengths[rows] > 8 * i]
            if not rows.size:
                break
            every = len(rows) == len(self)
            longer = self if every else self.take(rows)
            mixed = mix(longer.word(i), values if every else values[rows])
            values[... if every else rows] = mixed
        return values

    def _chunks(self):
        """Split the tokens into chunks whose temporary arrays fit the cache."""
        for begin in range(0, len(self), _CHUNK_ROWS):
            yield self.take(slice(begin, begin + _CHUNK_ROWS))

    def equal(self, other):
        """Compare each text with the text of the same row of the other tokens."""
        same = self.lengths == other.lengths
        same &= self.word(0) == other.word(0)
        return self._equal_behind(other, same)

    def repeats(self):
        """Compare the text of each row but the first with the row before."""
        words, lengths = self.word(0), self.lengths
        same = (words[1:] == words[:-1]) & (lengths[1:] == lengths[:-1])
        return self.take(slice(1, None))._equal_behind(self.take(slice(-1)), same)

    def _equal_behind(self, other, same):
        """Compare the remaining words of rows with equal lengths and first words.

        `same` is changed in place.
        """
        if self.lengths.max(initial=0) <= 8:
            return same
        rows = np.flatnonzero(same)
        for i in range(1, min(self.n_words, other.n_words)):
            rows = rows[self.lengths[rows] > 8 * i]
            if not rows.size:
                break
            equal = self.take(rows).word(i) == other.take(rows).word(i)
            same[rows[~equal]] = False
            rows = rows[equal]
        return same

    def sort_keys(self):
        """Return keys for numpy.lexsort, least significant first, which sort texts by bytes."""
        if self.is_uneven or self.n_words > _MOST_WORDS:
            return [pd.factorize(np.array(self.bytes(), dtype=object), sort=True)[0]]
        words = [self.word(i).byteswap() for i in range(self.n_words)]
        return [self.lengths, *reversed(words)]

    def factorize(self):
        """Return a code for each row's text, and the distinct texts as a list of str."""
        if not len(self):
            return np.zeros(0, dtype=np.int64), []
        # Equal texts are mostly consecutive: only the first row of each run is looked up.
        heads = np.concatenate(([0], np.flatnonzero(~self.repeats()) + 1))
        # A dict instead of pandas, which before version 3 stops at the first zero byte of a text.
        number: dict[str, int] = {}
        codes = [number.setdefault(text, len(number)) for text in self.take(heads).tolist()]
        return np.repeat(codes, np.diff(heads, append=len(self))), list(number)

    def packed(self, end=b""):
        """Join the bytes of all texts, each followed by `end` (at most one byte)."""
        if not len(self):
            return b""
        if len(self) > _CHUNK_ROWS:
            return b"".join([chunk.packed(end) for chunk in self._chunks()])
        if self.is_uneven:
            return end.join([*self.bytes(), b""])
        longest, shortest = int(self.lengths.max()), int(self.lengths.min())
        width = longest + len(end)
        if not width:
            return b""
        starts = np.minimum(self.starts, len(self.data) - width)
        matrix = sliding_window_view(self.data, width)[starts]
        if (moved := np.flatnonzero(starts != self.starts)).size:
            for row in moved:
                text = self.data[self.starts[row] : self.starts[row] + self.lengths[row]]
                matrix[row, : len(text)] = text
        if end:
            matrix[np.arange(len(self)), self.lengths] = end[0]
        if shortest == longest:
            return matrix.tobytes()
        return matrix[np.arange(width) < (self.lengths + len(end))[:, None]].tobytes()

    def tolist(self):
        """Return the texts as a list of str."""
        if len(self) < _FEW:
            return [text.decode("utf-8", "surrogatepass") for text in self.bytes()]
        texts = self.packed(b"\n").decode("utf-8", "surrogatepass").split("\n")[:-1]
        if len(texts) == len(self):
            return texts
        # A text with a line end gives more parts than texts: decode the texts one by one.
        return [text.decode("utf-8", "surrogatepass") for text in self.bytes()]


def padded(content, filler=32):
    """Return bytes as an array of uint8, with `PAD` bytes of `filler` before and after them."""
    content = np.frombuffer(content, dtype=np.uint8)
    data = np.empty(len(content) + 2 * PAD, dtype=np.uint8)
    data[:PAD] = data[len(data) - PAD :] = filler
    data[PAD : len(data) - PAD] = content
    return data


def text_column(tokens):
    """Make a column of the texts with pandas' default type of strings."""
    dtype = _arrow_strings()
    if dtype is None:
        return np.array(tokens.tolist(), dtype=object)
    return dtype.__from_arrow__(arrow_texts(tokens))


def arrow_texts(tokens):
    """Return the texts as a pyarrow array of large strings."""
    import pyarrow as pa

    offsets = np.zeros(len(tokens) + 1, dtype=np.int64)
    np.cumsum(tokens.lengths, out=offsets[1:])
    buffers = pa.py_buffer(offsets), pa.py_buffer(tokens.packed())
    return pa.LargeStringArray.from_buffers(len(tokens), *buffers)


def distinct_column(codes, texts):
    """Make a column of texts[code] for each code, with pandas' default type of strings."""
    return pd.Series(texts, dtype=pd.Series([""]).dtype).array.take(codes)


def _arrow_strings():
    """Return pandas' default type of strings if it is stored by Arrow, else None."""
    dtype = pd.Series([""]).dtype
    is_arrow = isinstance(dtype, pd.StringDtype) and dtype.storage == "pyarrow"
    return dtype if is_arrow else None


def _fail(row, what, rest):
    raise InputError(f"row {row} holds {what}{rest}")


def id_tokens(column, name, fail=_fail, *, may_be_blank=True):
    """Make tokens of a column of ids; integers become digits, and a missing id is an error.

    ``fail(row, problem, remedy)`` raises the error for a row. The empty text is no id, and white
    space is one if `may_be_blank` is True.
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    try:
        missing = column.isna().to_numpy()
    except InvalidOperation:
        raise InputError(
            f"{name} holds a signalling NaN (decimal.Decimal): give texts or whole numbers."
        ) from None
    check_ids_given(missing, name, fail)
    tokens = _id_tokens(column, name, fail)
    missing = tokens.lengths == 0
    if not may_be_blank:
        first = tokens.data[tokens.starts]
        rows = np.flatnonzero(missing | (first <= ord(" ")) | (first > 127))
        missing[rows] = [not text.strip() for text in tokens.take(rows).tolist()]
    check_ids_given(missing, name, fail)
    return tokens


def check_ids_given(missing, name, fail) -> None:
    """Raise for the first row of a column that has no id, by a mask of such rows."""
    if missing.any():
        fail(int(missing.argmax()), f"no id in column {brief(name)}", "; every row needs one.")


def _id_tokens(column, name, fail):
    """Make tokens of a column in which no id is missing."""
    if is_arrow_text(column.dtype):
        array = column.array.__arrow_array__()
        array = array.combine_chunks() if hasattr(array, "combine_chunks") else array
        if str(array.type) in ("string", "large_string"):
            return Tokens.from_arrow(array)
        items = array.to_pylist()
    elif column.dtype.kind in "iu":
        codes, distinct = pd.factorize(column)
        return Tokens.from_texts(list(map(str, distinct.tolist()))).take(codes)
    else:
        items = column.tolist()
    texts = [item if type(item) is str else _id_text(item) for item in items]
    if None in texts:
        row = texts.index(None)
        what = f"{brief(items[row])} in column {brief(name)}"
        fail(row, what, ", which is neither a string nor a whole number; write ids as strings.")
    return Tokens.from_texts(texts)


def is_arrow_text(dtype):
    """Tell whether a column type stores strings in Arrow buffers."""
    storage = getattr(dtype, "storage", "")
    return str(storage).startswith("pyarrow") or (
        isinstance(dtype, pd.ArrowDtype) and dtype.kind in "OU"
    )


def _id_text(item):
    """Return the text of a string or a whole number; None for other types."""
    if isinstance(item, str):
        return str(item)
    is_number = isinstance(item, int | float | np.integer | np.floating)
    return str(int(item)) if is_number and not isinstance(item, bool) and item % 1 == 0 else None

"""Columns of TREC files as positions in the file's bytes, and parsing of numbers."""

import re
from typing import Any

import numpy as np

from skfilterrank._files.files import decode
from skfilterrank._files.kinds import PRELS, RUN, check_not_other, layout_of
from skfilterrank._files.tokens import PAD, Tokens, load_words, padded
from skfilterrank.exceptions import FileFormatError, brief

# Number of bytes to split at a time, which keeps intermediate arrays small.
_BLOCK_BYTES = 1 << 18


_UNUSED = {"Q0", "method"}
# Control bytes from the tab (9) to the carriage return (13) are white space.
_FIRST_BLANK, _LAST_BLANK = np.uint8(9), np.uint8(13)
_COMMENT = ord("#")

_CHUNK_ROWS = 1 << 14
# Every integer with this many digits is exact in float64.
_MOST_DIGITS = 15
_ZERO, _DOT = ord("0"), np.uint8(ord(".") - ord("0") & 255)
# Eight bytes of a word: "0", what carries digits above 9 into the high half, these halves.
_ZEROS, _SIXES, _HIGH_HALVES = (np.uint64(0x0101010101010101 * each) for each in (0x30, 6, 0xF0))
# Every second pair of digits, and the weights of these pairs and of the others.
_EVEN_PAIRS = np.uint64(0x000000FF000000FF)
_WEIGHTS = np.array([100 + (10**6 << 32), 1 + (10**4 << 32)], dtype=np.uint64)
NUMBER_PATTERN = re.compile(
    r"[-+]?(?:(?>\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan|inf|infinity)", re.ASCII | re.IGNORECASE
)
_OTHERS_PATTERN = re.compile(r"[^-+.eE0-9]")


class TrecLines:
    """Lines of a TREC file split at white space, all with the same number of columns.

    Columns that are used are stored, as positions in the bytes of the file. As in trec_eval,
    white space is the blank and the bytes 9 to 13; other control bytes are part of a text. Lines
    that begin with "#" are comments.
    """

    def __init__(self, content, name, value):
        check_not_other(value, content, name)
        self.name = name
        if b"\r" in content:
            # A line may end in several carriage returns, which some tools write.
            content = re.sub(rb"\r+(?=\n|\Z)", b"", content)
        # Two searches for single bytes are ten times as fast as one search by a pattern.
        if odd := [byte for byte in (b"\0", b"\r") if byte in content]:
            self._fail_at(
                content.count(b"\n", 0, content.index(odd[0])) + 1,
                "the line must not hold a zero byte or a carriage return; if the file is UTF-16, "
                "convert it to UTF-8 first, and end each line with a line feed.",
            )
        if not content.isascii():
            decode(content, self.name)
        self.layout = layout = layout_of(value, content, name)
        columns = [column for column in layout.names if column not in _UNUSED]
        self._n_columns = len(layout.names)
        # The padding consists of line feeds, so it also ends a last line without a line feed.
        self.data = padded(content, ord("\n"))
        self._columns = self._split(columns, content)
        if not len(self):
            raise FileFormatError(
                f"the file holds no lines; lines such as '{layout.columns}' were expected.",
                self.name,
            )
        # Ranks are checked at once: a rank that is no number means that an id contains a blank.
        self._ranks = self._read("rank", "the rank") if layout is RUN else None

    def __len__(self):
        return len(next(iter(self._columns.values())))

    def has(self, name):
        """Return True if the lines have a column of this name."""
        return name in self._columns

    def ids(self, name) -> Tokens:
        """Return the ids in a column, as positions in the bytes of the file."""
        return self._columns[name]

    def words(self, name) -> tuple[np.ndarray, Any]:
        """Return the number of the word in each row of a column, and the distinct words."""
        return self._columns[name].factorize()

    def numbers(self, name, what):
        """Return a column as float64; raise for a text that is no number.

        `what` names the number in the message, such as "the score".
        """
        return self._read(name, what) if name != "rank" or self._ranks is None else self._ranks

    def _read(self, name, what):
        tokens = self._columns[name]
        values, is_number = parse_decimals(tokens)
        rest = ", but a number was expected"
        if name == "rank":
            is_number &= np.isfinite(values)
        if name == "rank" or self.layout is PRELS:
            rest += (
                f"; the columns of a {self.layout.kind} are {self.layout.columns}; ids have no "
                "white space"
            )
        if not is_number.all():
            row = int(np.argmin(is_number))
            self.fail(row, f"{what} {brief(tokens.take([row]).tolist()[0])}", f"{rest}.")
        return values

    def line_of(self, row):
        """Return the line number, from 1, of a row."""
        return self._line_at(next(iter(self._columns.values())).starts[row])

    def fail(self, row, what, rest="", argument=()):
        """Raise an error that names the line of a row and says what the line holds."""
        text = f"the line holds {what}{rest}"
        raise FileFormatError(text, self.name, self.line_of(row), argument=argument)

    def _line_at(self, position):
        """Return the line number, from 1, of the byte at a position."""
        return int(np.count_nonzero(self.data[PAD:position] == ord("\n"))) + 1

    def _fail_at(self, line, message):
        """Raise a FileFormatError that names the file and a line number."""
        raise FileFormatError(message, self.name, line)

    def _split(self, columns, content):
        """Find the positions of the texts in each used column, block by block."""
        blocks = []
        places = [self.layout.names.index(column) for column in columns]
        begin, stop = PAD, len(self.data) - PAD + (not content.endswith(b"\n"))
        while begin < stop:
            # A block ends at the end of a line.
            end = content.find(b"\n", begin - PAD + _BLOCK_BYTES - 1) + 1
            end = end + PAD if end else stop
            starts, ends = self._split_block(begin, end)
            # Each column is stored contiguously, which is faster to read.
            spans = [(starts[i :: self._n_columns], ends[i :: self._n_columns]) for i in places]
            blocks.append([(first + begin, behind - first) for first, behind in spans])
            begin = end
        return {
            column: Tokens(self.data, *map(np.concatenate, zip(*parts, strict=True)))
            for column, parts in zip(columns, zip(*blocks, strict=True), strict=True)
        }

    def _split_block(self, begin, end):
        """Return the starts and ends of all texts in the lines from `begin` to `end`.

        Raises for a line with a wrong number of columns.
        """
        block = self.data[begin:end]
        is_space = np.empty(len(block) + 1, dtype=bool)
        is_space[0] = True
        np.less_equal(block - _FIRST_BLANK, _LAST_BLANK - _FIRST_BLANK, out=is_space[1:])
        is_space[1:] |= block == ord(" ")
        edges = np.flatnonzero(is_space[1:] != is_space[:-1])
        starts, ends = edges[0::2], edges[1::2]
        behind = ends[self._n_columns - 1 :: self._n_columns]
        n_lines = np.count_nonzero(block == ord("\n"))
        # Fast path: all lines have the right number of columns if the number of texts is right and
        # a line feed follows every n-th text, for n columns.
        is_regular = len(starts) == n_lines * self._n_columns
        is_regular = is_regular and (block[behind] == ord("\n")).all()
        if not is_regular or (block[starts[:: self._n_columns]] == _COMMENT).any():
            kept = self._of_rows(block, starts, begin)
            starts, ends = starts[kept], ends[kept]
        return starts, ends

    def _of_rows(self, block, starts, begin):
        """Return a mask of the texts that are not in comments.

        Raises for a line with a wrong number of columns; blank lines and comments are allowed.
        """
        line_ends = np.flatnonzero(block == ord("\n"))
        stops = np.searchsorted(starts, line_ends)
        n_texts = np.diff(stops, prepend=0)
        firsts = stops - n_texts
        counts = n_texts.copy()
        filled = np.flatnonzero(n_texts)
        counts[filled[block[starts[firsts[filled]]] == _COMMENT]] = 0
        wrong = (counts != 0) & (counts != self._n_columns)
        if wrong.any():
            line = int(wrong.argmax())
            self._fail_at(self._line_at(begin) + line, self._wrong_number(int(counts[line])))
        return np.repeat(counts > 0, n_texts)

    def _wrong_number(self, got):
        """Return the error message for a line with a wrong number of columns."""
        return (
            f"{got} column{'s' * (got != 1)} where a {self.layout.kind} has {self._n_columns} "
            f"({self.layout.columns}), as the first line does: ids must not hold white space."
        )


def parse_decimals(tokens):
    """Parse texts like Python's float(); return the numbers and a mask of valid texts.

    A plain decimal of up to 15 digits is the quotient of two exact floats: its digits as an integer
    and a power of ten. So it is rounded once, like by float(). float() parses all other texts.
    """
    if not len(tokens):
        return np.zeros(0), np.zeros(0, dtype=bool)
    # Chunks are small enough for the processor's cache.
    parts = [
        tokens.take(slice(begin, begin + _CHUNK_ROWS))
        for begin in range(0, len(tokens), _CHUNK_ROWS)
    ]
    chunks = [_parse_digits(part) or _parse_plain(part) for part in parts]
    values, plain = map(np.concatenate, zip(*chunks, strict=True))
    is_number = np.ones(len(tokens), dtype=bool)
    rows = np.flatnonzero(~plain)
    if rows.size:
        values[rows], is_number[rows] = _parse_others(tokens.take(rows).tolist())
    return values, is_number


def _parse_others(texts):
    """Parse texts by float(); return the numbers and a mask of valid texts.

    Forms that only Python accepts, such as "1_000", are not valid.
    """
    if not _OTHERS_PATTERN.search("".join(texts)):
        try:
            return np.fromiter(map(float, texts), np.float64, len(texts)), True
        except ValueError:
            pass
    matches = [NUMBER_PATTERN.fullmatch(text) is not None for text in texts]
    values = [float(text) if ok else np.nan for text, ok in zip(texts, matches, strict=True)]
    return values, matches


def _parse_digits(tokens):
    """Parse texts of one to eight digits, such as ranks; None if a text has another form.

    The digits of a text are the bytes of a word, which are added up in pairs, fours and eights.
    """
    lengths = tokens.lengths
    if not (lengths.min() > 0 and lengths.max() <= 8):
        return None
    # The last digit is the highest byte; bytes before the first one become 0.
    before = ((8 - lengths) * 8).astype(np.uint64)
    words = load_words(tokens.data, tokens.starts + lengths - 8) ^ _ZEROS
    words = words >> before << before
    if (((words + _SIXES) | words) & _HIGH_HALVES).any():
        return None
    words = words * np.uint64(10) + (words >> np.uint64(8))
    fours = (words & _EVEN_PAIRS) * _WEIGHTS[0]
    fours += (words >> np.uint64(16) & _EVEN_PAIRS) * _WEIGHTS[1]
    return (fours >> np.uint64(32)).astype(np.float64), np.ones(len(tokens), dtype=bool)


def _parse_plain(tokens):
    """Parse texts such as "12", "-0.5" and "3." of up to 15 digits.

    Returns the numbers and a mask of the texts that have this form.
    """
    ends = tokens.starts + tokens.lengths
    first = tokens.data[tokens.starts]
    negative = first == ord("-")
    lengths = tokens.lengths - (negative | (first == ord("+")))
    values, scales = np.zeros(len(tokens)), np.ones(len(tokens))
    dotted = np.zeros(len(tokens), dtype=bool)
    plain = (lengths > 0) & (lengths <= _MOST_DIGITS + 1)
    for place in range(min(int(lengths.max()), _MOST_DIGITS + 1), 0, -1):
        inside = lengths >= place
        digits = tokens.data[ends - place] - np.uint8(_ZERO)
        is_dot = inside & (digits == _DOT)
        plain &= ~inside | (digits < 10) | (is_dot & ~dotted)
        is_digit = inside & ~is_dot
        values = np.where(is_digit, 10 * values + digits, values)
        scales = np.where(is_digit & dotted, 10 * scales, scales)
        dotted |= is_dot
    n_digits = lengths - dotted
    plain &= (n_digits > 0) & (n_digits <= _MOST_DIGITS)
    np.negative(values, out=values, where=negative)
    return values / scales, plain

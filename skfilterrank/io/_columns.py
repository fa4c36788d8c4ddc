"""Columns of TREC files, as places in the bytes of the file, and the numbers in them."""

import re
from typing import Any, NamedTuple

import numpy as np

from skfilterrank._files.files import decode
from skfilterrank._files.tokens import PAD, Tokens, load_words, padded
from skfilterrank.exceptions import FileFormatError, brief

# Number of bytes to split at a time, which keeps intermediate arrays small.
_BLOCK_BYTES = 1 << 18


class Layout(NamedTuple):
    """The columns of the lines of a kind of file."""

    kind: str
    columns: str

    @property
    def names(self):
        """Names of the columns."""
        return self.columns.split()


QRELS = Layout("qrels", "qid iteration docno label")
PRELS = Layout("prels", "qid docno label method inclusion_probability")
RUN = Layout("run", "qid Q0 docno rank score run")
MS_MARCO_RUN = Layout("MS MARCO run", "qid docno rank")
# The control bytes that are white space, from the tab to the carriage return.
_FIRST_BLANK, _LAST_BLANK = np.uint8(9), np.uint8(13)
_COMMENT = ord("#")

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


class TrecLines:
    """Lines of a TREC file split at white space, all with the same number of columns.

    White space is what it is to trec_eval: the blank and the bytes 9 to 13. Other control bytes are
    part of a text. Only the columns asked for are kept. Lines that begin with "#" are comments.
    """

    # A table may lack a label; a line has a text in each column.
    may_lack = False

    def __init__(self, content, name, layout, columns):
        self.name, self.layout = name, layout
        kept = {*columns, "rank"} if layout is RUN else columns
        columns = [column for column in layout.names if column in kept]
        self._n_columns = len(layout.names)
        if b"\r" in content:
            # Some files were converted for Windows twice.
            while b"\r\n" in content:
                content = content.replace(b"\r\n", b"\n")
            content = content.rstrip(b"\r")
        for byte, advice in (
            (b"\0", "a zero byte; if the file is UTF-16, convert it to UTF-8 first"),
            (b"\r", "a carriage return; if lines end by it, convert the file first"),
        ):
            if byte in content:
                line = content.count(b"\n", 0, content.index(byte)) + 1
                self._fail_at(line, f"the line holds {advice}.")
        if not content.isascii():
            decode(content, self.name)
        # Line ends around it: where the last line has none of its own, it takes the first of them.
        self.data = padded(content, ord("\n"))
        self._columns = self._split(columns, content)
        if not len(self):
            raise FileFormatError(
                f"the file holds no lines; lines such as '{layout.columns}' were expected.",
                self.name,
            )
        if layout is RUN:
            self._check_ranks()

    def __len__(self):
        return len(next(iter(self._columns.values())))

    def has(self, name):
        """Tell whether the lines have a column."""
        return name in self._columns

    def ids(self, name) -> Tokens:
        """Return the texts of a column."""
        return self._columns[name]

    def words(self, name) -> tuple[np.ndarray, Any]:
        """Return the code of each row's word in a column, and the distinct words."""
        tokens = self._columns[name]
        # Nearly all files have one word throughout.
        if tokens.repeats().all():
            return np.zeros(len(tokens), dtype=np.int64), tokens.take([0]).tolist()
        return tokens.factorize()

    def numbers(self, name, what):
        """Read a column of numbers; a text that is none is an error."""
        tokens = self._columns[name]
        values, is_number = parse_decimals(tokens)
        if not is_number.all():
            row = int(np.argmin(is_number))
            self.fail(
                row, f"{what} {brief(tokens.take([row]).tolist()[0])}", ", which is no number."
            )
        return values

    def line_of(self, row):
        """Return the number of a row's line, from 1."""
        return self._line_at(next(iter(self._columns.values())).starts[row])

    def fail(self, row, what, rest=""):
        """Raise an error about the content of a row's line."""
        self._fail_at(self.line_of(row), f"the line holds {what}{rest}")

    def _line_at(self, position):
        """Return the number of the line that holds a byte, from 1."""
        return int(np.count_nonzero(self.data[PAD:position] == ord("\n"))) + 1

    def _fail_at(self, line, message):
        """Raise an error that names a line."""
        raise FileFormatError(message, self.name, line)

    def _split(self, columns, content):
        """Find the texts of the columns."""
        blocks = []
        places = [self.layout.names.index(column) for column in columns]
        begin, stop = PAD, len(self.data) - PAD + (not content.endswith(b"\n"))
        while begin < stop:
            # Behind the line that holds the last byte of the block.
            end = content.find(b"\n", begin - PAD + _BLOCK_BYTES - 1) + 1
            end = end + PAD if end else stop
            starts, ends = self._split_block(begin, end)
            # Each column by itself, so that what reads it reads nothing else.
            spans = [(starts[i :: self._n_columns], ends[i :: self._n_columns]) for i in places]
            blocks.append([(first + begin, behind - first) for first, behind in spans])
            begin = end
        return {
            column: Tokens(self.data, *map(np.concatenate, zip(*parts, strict=True)))
            for column, parts in zip(columns, zip(*blocks, strict=True), strict=True)
        }

    def _check_ranks(self):
        """Raise for a rank that is no number: then the text before it may be half of an id."""
        ranks = self._columns["rank"]
        is_number = are_short_digits(ranks)
        if not is_number.all():
            is_number |= np.isfinite(parse_decimals(ranks)[0])
        if not is_number.all():
            row = int(np.argmin(is_number))
            self.fail(
                row,
                f"the rank {brief(ranks.take([row]).tolist()[0])}",
                f", which is no number; the columns of a run are {self.layout.columns}, and ids "
                "must not hold white space.",
            )

    def _split_block(self, begin, end):
        """Find the first position of each text of some whole lines, and that behind its last."""
        block = self.data[begin:end]
        is_space = np.empty(len(block) + 1, dtype=bool)
        is_space[0] = True
        np.less_equal(block - _FIRST_BLANK, _LAST_BLANK - _FIRST_BLANK, out=is_space[1:])
        is_space[1:] |= block == ord(" ")
        edges = np.flatnonzero(is_space[1:] != is_space[:-1])
        starts, ends = edges[0::2], edges[1::2]
        behind = ends[self._n_columns - 1 :: self._n_columns]
        n_lines = np.count_nonzero(block == ord("\n"))
        # Every line is a row if there are equally many, with a line end behind each row.
        is_regular = len(starts) == n_lines * self._n_columns
        is_regular = is_regular and (block[behind] == ord("\n")).all()
        if not is_regular or (block[starts[:: self._n_columns]] == _COMMENT).any():
            kept = self._of_rows(block, starts, begin)
            starts, ends = starts[kept], ends[kept]
        return starts, ends

    def _of_rows(self, block, starts, begin):
        """Tell which texts are columns of rows; a line with another number of them is an error.

        Comments and blank lines are no rows.
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
        """Describe what is wrong with a line of so many columns."""
        return (
            f"{got} column{'s' * (got != 1)} where a {self.layout.kind} has {self._n_columns} "
            f"({self.layout.columns}): ids hold no white space, qrels have 4 columns, runs 6; "
            "a table with commas or tabs names its columns, such as qid, docno and score or label, "
            "in its first line."
        )


def parse_decimals(tokens):
    """Read each text as Python's float() does, and tell whether it is a number at all.

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
    # The texts alone, behind as many zero bytes as are missing; each digit becomes 0 to 9.
    shifts = (_EIGHT - np.minimum(tokens.lengths, 8).astype(np.uint64)) << _WORD(3)
    words = load_words(tokens.data, tokens.starts + tokens.lengths - 8) >> shifts
    words ^= _ZEROS >> shifts
    return (((words | (words + _SIXES)) & _HIGH_HALVES) == 0) & (tokens.lengths <= 8)


def _parse_others(texts):
    """Read texts by float(), except those that only Python takes for numbers; tell which are."""
    if not _OTHERS_PATTERN.search("".join(texts)):
        try:
            return np.fromiter(map(float, texts), np.float64, len(texts)), True
        except ValueError:
            pass
    matches = [_NUMBER_PATTERN.fullmatch(text) is not None for text in texts]
    values = [float(text) if ok else np.nan for text, ok in zip(texts, matches, strict=True)]
    return values, matches


def _parse_plain(tokens):
    """Read texts such as "12", "-0.5" and "3." of up to 16 characters, and tell which are."""
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
    """Load the last eight characters before each end, "0" before the first of them."""
    keep = _LAST_BYTES[np.minimum(np.maximum(lengths, 0), 8)]
    return (load_words(data, np.maximum(ends - 8, 0)) & keep) | (_ZEROS & ~keep)


def _marks_of_dots(words):
    """Mark the highest bit of each byte that is a dot."""
    difference = words ^ _DOTS
    return ~(((difference & _LOW_BITS) + _LOW_BITS) | difference | _LOW_BITS)


def _without_dot(high, low, dots):
    """Remove the dot from words; return them, the number of digits behind it, and of dots."""
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
    """Shift the characters before a dot over it; return also the number of digits behind it."""
    dot = dots >> _SEVEN
    below = np.where(dot != 0, dot - _ONE, _WORD(0))
    above = ~(below | (dot * _WORD(0xFF)))
    closed = (words & above) | np.where(dot != 0, ((words & below) << _EIGHT) | incoming, _WORD(0))
    return closed, np.where(dot != 0, np.bitwise_count(above) >> 3, 0)


def _is_digits(words):
    """Tell whether all eight bytes are digits."""
    return ((words & _HIGH_HALVES) == _ZEROS) & (((words + _SIXES) & _HIGH_HALVES) == _ZEROS)


def _eight_digits(words):
    """Compute the number that eight digits make: pairs, then fours, then all eight."""
    words = (words & _LOW_HALVES) * _WORD(10 * 256 + 1) >> _EIGHT
    words = (words & _WORD(0x00FF00FF00FF00FF)) * _WORD(100 * 2**16 + 1) >> _WORD(16)
    return (words & _WORD(0x0000FFFF0000FFFF)) * _WORD(10**4 * 2**32 + 1) >> _WORD(32)

"""The columns of TREC files, as places in the bytes of the file."""

from typing import NamedTuple

import numpy as np

from skfilterrank._files.files import decode
from skfilterrank._files.tokens import PAD, Tokens, padded
from skfilterrank.exceptions import FileFormatError, brief
from skfilterrank.io._trec.decimals import are_short_digits, parse_decimals

# Lines are looked at in blocks of this many bytes: what is needed on the way stays small.
_BLOCK_BYTES = 1 << 18


class Layout(NamedTuple):
    """The columns of the lines of a kind of file."""

    kind: str
    columns: str

    @property
    def names(self):
        """Names of the columns."""
        return self.columns.split()


QRELS = Layout("qrels", "topic iteration docno label")
PRELS = Layout("prels", "topic docno label method inclusion_probability")
RUN = Layout("run", "topic Q0 docno rank score run")
MS_MARCO_RUN = Layout("MS MARCO run", "topic docno rank")
_READERS = {4: "qrels", 5: "prels", 6: "run"}
_RANK = RUN.names.index("rank")
# Those of the control bytes that are white space, from the tab to the carriage return.
_FIRST_BLANK, _LAST_BLANK = np.uint8(9), np.uint8(13)
_COMMENT = ord("#")
_SEPARATORS = ",;|"


class TrecLines:
    """Lines of a TREC file split at white space, all with the same number of columns.

    White space is what it is to trec_eval: the blank and the bytes 9 to 13. Other control bytes are
    part of a text. Only the columns asked for are kept. Lines that begin with "#" are comments.
    """

    def __init__(self, content, name, layout, columns):
        self.name, self.layout = name, layout
        columns = [column for column in layout.names if column in columns]
        self._n_columns = len(layout.names)
        if b"\0" in content:
            line = content.count(b"\n", 0, content.index(b"\0")) + 1
            self.fail_at_line(
                "the line holds a zero byte; if the file is UTF-16, convert it to UTF-8 first "
                "(for example with iconv).",
                line,
            )
        self._has_returns = b"\r" in content
        if not content.isascii():
            decode(content, self.name)
        # Line ends around it: where the last line has none of its own, it takes the first of them.
        self.data = padded(content, ord("\n"))
        self._stop = len(self.data) - PAD + (not content.endswith(b"\n"))
        del content
        self._columns = self._split(columns)
        self._n_rows = len(self._columns[columns[0]])
        if not self._n_rows:
            raise FileFormatError(
                f"the file holds no lines; lines such as '{layout.columns}' were expected.",
                self.name,
            )

    def __len__(self):
        return self._n_rows

    def column(self, name) -> Tokens:
        """Texts of a column."""
        return self._columns[name]

    def numbers(self, name, what):
        """Values of a column of numbers; a text that is none is an error."""
        tokens = self.column(name)
        values, is_number = parse_decimals(tokens)
        if not is_number.all():
            row = int(np.argmin(is_number))
            text = tokens.take([row]).tolist()[0]
            self.fail(f"{what} must be a number, got {brief(text)}.", row)
        return values

    def line_of(self, row):
        """Number of the line of a row, from 1."""
        return self._line_at(next(iter(self._columns.values())).starts[row])

    def _line_at(self, position):
        """Number of the line that holds a byte, from 1."""
        return int(np.count_nonzero(self.data[PAD:position] == ord("\n"))) + 1

    def fail(self, message, row):
        """Raise an error that names the line of a row."""
        self.fail_at_line(message, self.line_of(row))

    def fail_at_line(self, message, line):
        """Raise an error that names a line."""
        raise FileFormatError(message, self.name, line)

    def _split(self, columns):
        """Texts of the columns."""
        blocks = []
        places = [self.layout.names.index(column) for column in columns]
        begin, stop = PAD, self._stop
        while begin < stop:
            end = self._end_of_line(min(begin + _BLOCK_BYTES, stop), stop)
            starts, ends = self._split_block(begin, end)
            if self.layout is RUN:
                self._check_ranks(
                    starts[_RANK :: self._n_columns], ends[_RANK :: self._n_columns], begin
                )
            # Each column by itself, so that what reads it reads nothing else.
            spans = [(starts[i :: self._n_columns], ends[i :: self._n_columns]) for i in places]
            blocks.append([(first + begin, behind - first) for first, behind in spans])
            begin = end
        return {
            column: Tokens(self.data, *map(np.concatenate, zip(*parts, strict=True)))
            for column, parts in zip(columns, zip(*blocks, strict=True), strict=True)
        }

    def _check_ranks(self, starts, ends, begin):
        """Raise for a rank that is no number: then the text before it may be half of an id."""
        ranks = Tokens(self.data, starts + begin, ends - starts)
        wrong = ~are_short_digits(ranks)
        if not wrong.any():
            return
        rows = np.flatnonzero(wrong)
        wrong = ~np.isfinite(parse_decimals(ranks.take(rows))[0])
        if wrong.any():
            row = rows[wrong.argmax()]
            self.fail_at_line(
                f"a rank must be a number, got {brief(ranks.take([row]).tolist()[0])}; the columns "
                f"of a run are {self.layout.columns}, and ids must not hold white space.",
                self._line_at(ranks.starts[row]),
            )

    def _end_of_line(self, position, stop):
        """Position behind the line that holds the byte before the given position."""
        step = 1 << 12
        position -= 1
        while position < stop:
            line_ends = np.flatnonzero(self.data[position : min(position + step, stop)] == 10)
            if line_ends.size:
                return position + int(line_ends[0]) + 1
            position += step
            step *= 2
        return stop

    def _split_block(self, begin, end):
        """First position, and position behind the last, of each text of some whole lines."""
        block = self.data[begin:end]
        if self._has_returns:
            self._check_returns(np.flatnonzero(block == ord("\r")) + begin)
        is_space = np.empty(len(block) + 1, dtype=bool)
        is_space[0] = True
        np.less_equal(block - _FIRST_BLANK, _LAST_BLANK - _FIRST_BLANK, out=is_space[1:])
        is_space[1:] |= block == ord(" ")
        edges = np.flatnonzero(is_space[1:] != is_space[:-1])
        starts, ends = edges[0::2], edges[1::2]
        behind = ends[self._n_columns - 1 :: self._n_columns]
        n_lines = np.count_nonzero(block == ord("\n"))
        # As many lines as rows, and a line end behind each row: then no line is any different.
        is_regular = len(starts) == n_lines * self._n_columns and self._ends_line(block, behind)
        if not is_regular or (block[starts[:: self._n_columns]] == _COMMENT).any():
            kept = self._of_rows(block, starts, begin)
            starts, ends = starts[kept], ends[kept]
        return starts, ends

    def _check_returns(self, positions):
        """Raise for a carriage return within a line: there, it would pass for white space."""
        behind = self.data[positions + 1]
        inside = (behind != ord("\n")) & (behind != ord("\r"))
        if inside.any():
            self.fail_at_line(
                "the line holds a carriage return; if lines end by it, as those of old Macs do, "
                "convert the file first (for example with mac2unix).",
                self._line_at(positions[inside.argmax()]),
            )

    def _ends_line(self, block, positions):
        """Whether a line ends at each position, as Unix or Windows has it."""
        ends = block[positions] == ord("\n")
        if not ends.all():
            ends |= (block[positions] == ord("\r")) & (
                block[np.minimum(positions + 1, len(block) - 1)] == ord("\n")
            )
        return ends.all()

    def _of_rows(self, block, starts, begin):
        """Which texts are columns of rows; the first line with another number of them is an error.

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
            text = block[line_ends[line - 1] + 1 if line else 0 : line_ends[line]].tobytes()
            self.fail_at_line(
                self._wrong_number(int(counts[line]), text), self._line_at(begin) + line
            )
        return np.repeat(counts > 0, n_texts)

    def _wrong_number(self, got, line):
        """What is wrong with a line of so many columns."""
        expected, kind = self._n_columns, self.layout.kind
        message = (
            f"{got} column{'s' * (got != 1)} where a {kind} has {expected} ({self.layout.columns})"
        )
        # A line of a run that is cut short has five columns too.
        if got in _READERS and (expected, got) != (6, 5):
            other = _READERS[got]
            return (
                f"{message}; a {other} has {got}: if this is one, it stands where a {kind} is "
                "expected, as when the two are swapped."
            )
        if got == 3:
            return (
                f"{message}; a run of MS MARCO has 3 (topic docno rank), and BEIR qrels have 3 "
                "under the header 'query-id corpus-id score'."
            )
        if got > expected:
            return f"{message}; ids and names must not hold white space."
        if got == 1 and any(line.decode().count(mark) > 1 for mark in _SEPARATORS):
            return (
                f"{message}; a table with commas or tabs needs a header that names its columns, "
                "such as 'qid', 'docno' and 'score' or 'label'."
            )
        return f"{message}; is the line cut short?"

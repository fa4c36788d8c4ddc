"""The columns of TREC files, as places in the bytes of the file."""

import numpy as np

from skfilterrank._files.files import decode, read_bytes, source_name
from skfilterrank._files.tokens import PAD, Tokens, padded
from skfilterrank.exceptions import FileFormatError, brief
from skfilterrank.io._trec.decimals import parse_decimals

# Lines are looked at in blocks of this many bytes: what is needed on the way stays small.
_BLOCK_BYTES = 1 << 18
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LAYOUTS = {
    4: ("qrels", "topic iteration docno label"),
    5: ("prels", "topic docno label method inclusion_probability"),
    6: ("run", "topic Q0 docno rank score run"),
}


class TrecLines:
    """Lines of a TREC file split at white space, all with the same number of columns.

    Only the columns asked for, counted from 0, are kept.
    """

    def __init__(self, source, n_columns, columns):
        self.name = source_name(source)
        self._n_columns = n_columns
        content = read_bytes(source).removeprefix(_BYTE_ORDER_MARK)
        if b"\0" in content:
            line = content.count(b"\n", 0, content.index(b"\0")) + 1
            self.fail_at_line(
                "the line holds a zero byte; if the file is UTF-16, convert it to UTF-8 first "
                "(for example with iconv).",
                line,
            )
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
                f"the file holds no lines; lines such as '{_LAYOUTS[n_columns][1]}' were expected.",
                self.name,
            )

    def __len__(self):
        return self._n_rows

    def column(self, i) -> Tokens:
        """Texts of a column, counted from 0."""
        return self._columns[i]

    def numbers(self, i, what):
        """Values of a column of numbers; a text that is none is an error."""
        tokens = self.column(i)
        values, is_number = parse_decimals(tokens)
        if not is_number.all():
            row = int(np.argmin(is_number))
            text = tokens.take([row]).tolist()[0]
            self.fail(f"{what} must be a number, got {brief(text)}.", row)
        return values

    def line_of(self, row):
        """Number of the line of a row, from 1."""
        start = next(iter(self._columns.values())).starts[row]
        return int(np.count_nonzero(self.data[PAD:start] == ord("\n"))) + 1

    def fail(self, message, row):
        """Raise an error that names the line of a row."""
        self.fail_at_line(message, self.line_of(row))

    def fail_at_line(self, message, line):
        """Raise an error that names a line."""
        raise FileFormatError(message, self.name, line)

    def _split(self, columns):
        """Texts of the columns."""
        blocks = []
        begin, stop = PAD, self._stop
        while begin < stop:
            end = self._end_of_line(min(begin + _BLOCK_BYTES, stop), stop)
            starts, ends = self._split_block(begin, end)
            # Each column by itself, so that what reads it reads nothing else.
            found = [(starts[i :: self._n_columns], ends[i :: self._n_columns]) for i in columns]
            blocks.append([(first + begin, behind - first) for first, behind in found])
            begin = end
        return {
            i: Tokens(self.data, *map(np.concatenate, zip(*parts, strict=True)))
            for i, parts in zip(columns, zip(*blocks, strict=True), strict=True)
        }

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
        is_space = np.empty(len(block) + 1, dtype=bool)
        is_space[0] = True
        np.less_equal(block, ord(" "), out=is_space[1:])
        edges = np.flatnonzero(is_space[1:] != is_space[:-1])
        starts, ends = edges[0::2], edges[1::2]
        behind = ends[self._n_columns - 1 :: self._n_columns]
        n_lines = np.count_nonzero(block == ord("\n"))
        # As many lines as rows, and a line end behind each row: then no line is any different.
        if len(starts) != n_lines * self._n_columns or not self._ends_line(block, behind):
            self._check_lines(block, starts, begin)
        return starts, ends

    def _ends_line(self, block, positions):
        """Whether a line ends at each position, as Unix or Windows has it."""
        ends = block[positions] == ord("\n")
        if not ends.all():
            ends |= (block[positions] == ord("\r")) & (
                block[np.minimum(positions + 1, len(block) - 1)] == ord("\n")
            )
        return ends.all()

    def _check_lines(self, block, starts, begin):
        """Raise on the first line that is neither blank nor has the right number of columns."""
        line_ends = np.flatnonzero(block == ord("\n"))
        counts = np.diff(np.searchsorted(starts, line_ends), prepend=0)
        wrong = (counts != 0) & (counts != self._n_columns)
        if not wrong.any():
            return
        line = int(wrong.argmax())
        got, expected = int(counts[line]), self._n_columns
        kind, layout = _LAYOUTS[expected]
        message = f"{got} column{'s' * (got != 1)} where a {kind} has {expected} ({layout})"
        # A line of a run that is cut short has five columns too.
        if got in _LAYOUTS and (expected, got) != (6, 5):
            other = _LAYOUTS[got][0]
            message += f"; a {other} has {got}: if this is one, use read_{other} for it."
        elif got > expected:
            message += "; ids and names must not hold white space."
        else:
            message += "; is the line cut short?"
        before = int(np.count_nonzero(self.data[PAD:begin] == ord("\n")))
        self.fail_at_line(message, before + line + 1)

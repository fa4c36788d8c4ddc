"""Base class of results: one-line repr, table for screens and notebooks, and data frame."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from html import escape
from importlib import import_module
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd

from skfilterrank import _base
from skfilterrank._base.checks import check_choice
from skfilterrank._base.words import counted, p_text, printable
from skfilterrank.exceptions import InputTypeError

_LONGEST = 120  # most characters of a repr
_N_ROWS = 20


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """Base class of results; subclasses are ``@dataclass(frozen=True, eq=False, repr=False)``.

    ``repr`` is one line of at most 120 characters. ``str`` is a heading and a table, which
    notebooks show too. Subclasses override `_summary` (the line), `_head` (text above the table),
    `_table` (the table, or None), `_places` (rows that are shown) and `_digits` (number of digits).
    """

    _digits = 4
    # Class that draws such a result: the room of displays registers it, see `draws`.
    _display: ClassVar[type | None] = None

    def to_frame(self) -> pd.DataFrame:
        """Return a frame of one row: the fields of the result as columns."""
        return pd.DataFrame([self._fields()])

    def to_latex(self) -> str:
        """Return all rows of `to_frame` as a `tabular` with the rules of the package booktabs."""
        return self._paper_text("latex")

    def to_markdown(self) -> str:
        """Return all rows of `to_frame` as a table that GitHub and notebooks show."""
        return self._paper_text("markdown")

    def plot(self, ax=None, **kwargs) -> Any:
        """Draw the result with its display of :mod:`skfilterrank.plot`.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.
        **kwargs
            Passed to the display's ``plot``.

        Returns
        -------
        Display
            The drawn display; its artists are attributes.

        Raises
        ------
        TypeError
            If no display of :mod:`skfilterrank.plot` supports this result.
        ImportError
            If matplotlib is not installed.
        """
        return self._find_display()(self).plot(ax, **kwargs)

    def _find_display(self) -> Any:
        import_module(_base.room_of_displays)
        if self._display is None:
            raise InputTypeError(
                f"{type(self).__name__} has no display: plot the data of to_frame()."
            )
        return self._display

    def _paper_text(self, format) -> str:
        table = self.to_frame()
        if not isinstance(table.index, pd.RangeIndex) or table.index.name is not None:
            table = table.reset_index()
        names = (name if isinstance(name, tuple) else (name,) for name in table.columns)
        head = [" ".join(map(str, name)).strip() for name in names]
        is_p = [name.startswith("p_") for name in head]
        rows = [
            [self._paper_cell(value, p) for value, p in zip(row, is_p)]
            for row in table.itertuples(index=False, name=None)
        ]
        return paper_table(head, rows, format)

    def _paper_cell(self, value, is_p) -> str:
        if not isinstance(value, float | np.floating):
            return str(value)
        if value != value:
            return "-"
        return p_text(float(value)) if is_p else f"{value:.{self._digits}f}"

    def _fields(self) -> dict:
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def _summary(self) -> str:
        return ", ".join(f"{name} {value:g}" for name, value in self._fields().items())

    def _head(self) -> str:
        return self._summary()

    def _table(self) -> pd.DataFrame | None:
        return self.to_frame()

    def _places(self, n_rows: int) -> np.ndarray:
        return np.arange(min(_N_ROWS, n_rows))

    def __repr__(self) -> str:
        text = printable(f"<{type(self).__name__}: {self._summary()}>")
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 4]}...>"

    def __str__(self) -> str:
        shown = self._shown()
        if shown is None:
            return self._head()
        table, style, more = shown
        return "\n".join([self._head(), table.to_string(**style), *more])

    def _repr_html_(self) -> str:
        lines, shown = self._head().split("\n"), self._shown()
        html = f"<p>{'<br>'.join(map(escape, lines))}</p>"
        if shown is None:
            return html
        table, style, more = shown
        return "\n".join([html, table.to_html(**style), *(f"<p>{line}</p>" for line in more)])

    def _shown(self):
        """Return shown rows, their style, and a line about the other rows; None for no table."""
        table = self._table()
        if table is None:
            return None
        shown = table.iloc[self._places(len(table))]
        style = {
            "float_format": f"{{:.{self._digits}f}}".format,
            "formatters": {name: p_text for name in table if str(name).startswith("p_")},
            "max_cols": _N_ROWS,
            # Rows of a default index have no name.
            "index": not isinstance(table.index, pd.RangeIndex) or table.index.name is not None,
        }
        n_more = len(table) - len(shown)
        more = f"... and {counted(n_more, 'more row')}, see to_frame()"
        return shown, style, [more] * (n_more > 0)


def draws(*results: type[Result]):
    """Register the decorated class as the display of some classes of results."""

    def register(display):
        for result in results:
            result._display = display
        return display

    return register


def spread_places(n_rows: int) -> np.ndarray:
    """Return the positions of up to `_N_ROWS` rows, evenly spread and with both ends."""
    return np.linspace(0, n_rows - 1, min(_N_ROWS, n_rows)).round().astype(int)


PAPER_FORMATS = ("latex", "markdown")
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


class Cell(NamedTuple):
    """Cell of a table: text, superscript, and whether the value is the best."""

    text: str
    marks: str = ""
    is_best: bool = False


def paper_table(head: Sequence[str], rows: Sequence[Sequence[str | Cell]], format: str) -> str:
    """Return the text of a table; the first column is left-aligned, the others right-aligned."""
    check_choice(format, "format", PAPER_FORMATS)
    lines = [head, *rows]
    if format == "markdown":
        texts = [f"| {' | '.join(map(_markdown, line))} |" for line in lines]
        texts.insert(1, f"| --- |{' ---: |' * (len(head) - 1)}")
        return "\n".join(texts) + "\n"
    first, *texts = [f"{' & '.join(map(_latex, line))} \\\\" for line in lines]
    columns = "l" + "r" * (len(head) - 1)
    return "\n".join(
        [
            f"\\begin{{tabular}}{{{columns}}}",
            *("\\toprule", first, "\\midrule"),
            *texts,
            *("\\bottomrule", "\\end{tabular}", ""),
        ]
    )


def paper_note(text: str, format: str) -> str:
    """Return the text of a note below a table."""
    return f"\n{_markdown(text)}\n" if format == "markdown" else f"% {printable(text)}\n"


def _markdown(cell):
    cell = cell if isinstance(cell, Cell) else Cell(cell)
    text = re.sub(r"([\\`*_{}\[\]<>|#])", r"\\\1", printable(cell.text))
    text = f"**{text}**" if cell.is_best else text
    return f"{text}<sup>{cell.marks}</sup>" if cell.marks else text


def _latex(cell):
    cell = cell if isinstance(cell, Cell) else Cell(cell)
    text = "".join(_LATEX.get(character, character) for character in printable(cell.text))
    # A minus sign instead of a hyphen.
    text = f"$-${text[1:]}" if re.fullmatch(r"-[\d.].*", text) else text
    text = f"\\textbf{{{text}}}" if cell.is_best else text
    return f"{text}$^{{{cell.marks}}}$" if cell.marks else text

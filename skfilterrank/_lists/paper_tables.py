"""Tables of cells as LaTeX and Markdown, as a paper or a page takes them."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from skfilterrank._lists.checks import check_choice
from skfilterrank._lists.printable import printable

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
    """A text, what stands raised behind it, and whether it is the best."""

    text: str
    marks: str = ""
    is_best: bool = False


def paper_table(head: Sequence[str], rows: Sequence[Sequence[str | Cell]], format: str) -> str:
    """The table; the first column at the left, the others at the right."""
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
    """A line below a table."""
    return f"\n{_markdown(text)}\n" if format == "markdown" else f"% {printable(text)}\n"


def _markdown(cell):
    cell = cell if isinstance(cell, Cell) else Cell(cell)
    text = re.sub(r"([\\`*_{}\[\]<>|#])", r"\\\1", printable(cell.text))
    text = f"**{text}**" if cell.is_best else text
    return f"{text}<sup>{cell.marks}</sup>" if cell.marks else text


def _latex(cell):
    cell = cell if isinstance(cell, Cell) else Cell(cell)
    text = "".join(_LATEX.get(character, character) for character in printable(cell.text))
    # A sign, and not a hyphen.
    text = f"$-${text[1:]}" if re.fullmatch(r"-[\d.].*", text) else text
    text = f"\\textbf{{{text}}}" if cell.is_best else text
    return f"{text}$^{{{cell.marks}}}$" if cell.marks else text

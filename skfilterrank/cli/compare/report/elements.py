"""Pieces of HTML; every text that is put in is escaped, and names are kept apart from it."""

from html import escape
from typing import NamedTuple

from skfilterrank._printable import printable

# Unicode's marks around what has a direction of its own; elements have <bdi> for it.
_BEGIN, _END = "\u2068", "\u2069"
_KEPT = _BEGIN + _END + "\n\xa0\u2003"


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


class Cell(NamedTuple):
    """A cell of a table: what it shows, and what it is sorted by."""

    content: object
    value: float | str


def isolated(name) -> str:
    """A name within a sentence, whose letters may run from right to left."""
    return f"{_BEGIN}{printable(name)}{_END}"


def element(tag, *children, **attributes) -> Html:
    """An element; a final _ of an attribute's name is dropped, other ones become hyphens."""
    named = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(printable(value, keep=_KEPT))}"'
        for name, value in attributes.items()
        if value is not None
    )
    return Html(f"<{tag}{named}>{join(*children)}</{tag}>")


def join(*children) -> Html:
    """One after the other."""
    return Html(
        "".join(child if isinstance(child, Html) else _escaped(child) for child in children)
    )


def _escaped(text):
    """A text as HTML."""
    text = escape(printable(text, keep=_KEPT))
    return text.replace(_BEGIN, "<bdi>").replace(_END, "</bdi>")


def section(title, *children, level=2, **attributes) -> Html:
    """A part of the page with its heading."""
    return element("section", element(f"h{level}", title), *children, **attributes)


def table(caption, head, rows, *, sortable=True) -> Html:
    """A table; columns are texts, or numbers where their cells are, and the first one names rows.

    It stands in a box of its own that scrolls, so that the page does not.
    """
    kinds = [_kind(column) for column in zip(*rows)] or [""] * len(head)
    columns = [
        element("th", _isolated_cell(name), scope="col", class_=kind or None)
        for name, kind in zip(head, kinds)
    ]
    body = [element("tr", *_cells(row, kinds)) for row in rows]
    whole = element(
        "table",
        element("caption", element("span", caption)),
        element("thead", element("tr", *columns)),
        element("tbody", *body),
        class_="sortable" if sortable and len(rows) > 1 else None,
    )
    return element("div", whole, class_="scroll", tabindex=0, role="region", aria_label=caption)


def number_cell(value, text) -> Cell:
    """A number as it is to be read; what is missing is sorted last."""
    return Cell(text, float("inf") if value != value else float(value))


def _kind(column):
    """Class of a column."""
    numeric = any(isinstance(cell, Cell) and not isinstance(cell.value, str) for cell in column)
    return "number" if numeric else ""


def _cells(row, kinds):
    """The cells of a row."""
    for place, (cell, kind) in enumerate(zip(row, kinds)):
        content, value = cell if isinstance(cell, Cell) else (_isolated_cell(cell), None)
        more = {"scope": "row"} if place == 0 else {}
        tag = "th" if place == 0 else "td"
        yield element(tag, content, class_=kind or None, data_v=value, **more)


def _isolated_cell(content):
    """A cell of words; it is a name as a whole, if it is none in part."""
    if isinstance(content, Html) or not content or _BEGIN in content:
        return content
    return isolated(content)

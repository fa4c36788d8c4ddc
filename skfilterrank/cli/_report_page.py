"""The template of an HTML report, and pictures for it."""

import base64
import hashlib
import io
import re
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from skfilterrank._files.files import open_for_writing
from skfilterrank._lists.words import printable
from skfilterrank.exceptions import MissingPackageError

try:
    import jinja2
    from markupsafe import Markup, escape
except ImportError as error:
    raise MissingPackageError(
        "an HTML report needs jinja2, which is not installed: pip install 'skfilterrank[report]'."
    ) from error

_DRAWING: dict[Any, Any] = {
    "svg.fonttype": "none",  # text stays text: small, and read aloud
    "svg.hashsalt": "skfilterrank",
    "legend.framealpha": 0.0,
    "text.parse_math": False,  # a $ in the name of a run is a $
    "font.size": 10,
}
# Black and the dark greys follow the text of the page, the light ones its lines.
_INK = re.compile(r"#(?:000000|1a1a1a|262626|333333)\b")
_LINES = re.compile(r"#(?:e6e6e6|d9d9d9)\b")


def isolated(name) -> Markup:
    """Return a name as an element, since its letters may run from right to left."""
    return name if isinstance(name, Markup) else Markup("<bdi>{}</bdi>").format(printable(name))


class Drawn(NamedTuple):
    """A display and its picture."""

    display: Any
    svg: str


def draw(make: Callable[[], Any]) -> Drawn:
    """Draw the display that `make()` draws, as SVG."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.use("agg")
    with mpl.rc_context(_DRAWING), warnings.catch_warnings():
        # The browser has the letters that matplotlib's font lacks.
        warnings.filterwarnings("ignore", message="Glyph")
        display, out = make(), io.StringIO()
        display.figure_.savefig(out, format="svg", transparent=True, metadata={"Date": None})
        plt.close(display.figure_)
    return Drawn(display, out.getvalue())


def write_page(path, **parts) -> None:
    """Write the template with what it names: values and functions."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("skfilterrank.cli"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: value if isinstance(value, Markup) else printable(value),
    )
    numbers = iter(range(1, 10**9))
    environment.filters |= {"bdi": isolated, "plain": _plain, "sha256": _sha256}
    parts["inline"] = lambda svg, caption: _inline(svg, caption, f"f{next(numbers)}-")
    page = environment.get_template("report.html").render(parts)
    with open_for_writing(path) as write:
        write(page.strip() + "\n")


def _sha256(text):
    """Return the hash by which a browser knows a script."""
    return base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()


def _plain(text):
    """Return a text for an attribute: Unicode's marks are around names, in place of elements."""
    text = str(escape(text)) if isinstance(text, Markup) else str(escape(printable(text)))
    return Markup(text.replace("<bdi>", "\u2068").replace("</bdi>", "\u2069"))


def _inline(text, caption, prefix):
    """Return SVG as an element of the page: ids of its own, colours of the page."""
    text = printable(text[text.index("<svg") :], keep="\n")
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S)
    text = re.sub(r'\bid="', f'id="{prefix}', text)
    text = re.sub(r'(href="#|url\(#)', rf"\g<1>{prefix}", text)
    text = _LINES.sub("var(--line)", _INK.sub("currentColor", text))
    width = float(re.search(r'width="([\d.]+)pt"', text)[1])
    # On a narrow screen a figure scrolls before its text is too small to be read.
    size = f"width:{width / 12:.1f}em;min-width:{max(30, 0.6 * width / 12):.1f}rem"
    text = re.sub(r'^<svg|\s(?:width|height)="[\d.]+pt"', "", text, count=3)
    return Markup(f'<svg role="img" aria-label="{_plain(caption)}" style="{size}"{text}')

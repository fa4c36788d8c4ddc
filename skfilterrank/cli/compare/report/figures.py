"""Displays as pictures inside the page, in the colours of the page."""

import io
import re
import warnings
from typing import Any

from skfilterrank._printable import printable
from skfilterrank.cli.compare.report.elements import Html, element

_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",  # text stays text: small, and read aloud
    "svg.hashsalt": "skfilterrank",
    "legend.framealpha": 0.0,
    "text.parse_math": False,  # a $ in the name of a run is a $
    "font.size": 10,
}
# Black and the dark greys follow the text of the page, the light ones its lines.
_INK = re.compile(r"#(?:000000|1a1a1a|262626|333333)\b")
_LINES = re.compile(r"#(?:e6e6e6|d9d9d9)\b")


class Figures:
    """Makes the figures of a page."""

    def __init__(self):
        import matplotlib as mpl

        mpl.use("agg")
        self._n_drawn = 0

    def draw(self, display, caption: str) -> Html:
        """A figure of the display that `display()` draws, with a caption that says what it is."""
        import matplotlib as mpl
        import matplotlib.pyplot as plt

        self._n_drawn += 1
        with mpl.rc_context(_SETTINGS), warnings.catch_warnings():
            # The browser has the letters that matplotlib's font lacks.
            warnings.filterwarnings("ignore", message="Glyph")
            drawn = display().figure_
            out = io.StringIO()
            drawn.savefig(out, format="svg", transparent=True, metadata={"Date": None})
            plt.close(drawn)
        picture = _inline(out.getvalue(), f"f{self._n_drawn}-", caption)
        box = element(
            "div", picture, class_="scroll", tabindex=0, role="region", aria_label=caption
        )
        return element("figure", box, element("figcaption", caption))


def _inline(text, prefix, label):
    """The SVG as an element of the page: ids of its own, colours of the page."""
    text = printable(text[text.index("<svg") :], keep="\n")
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S)
    text = re.sub(r'\bid="', f'id="{prefix}', text)
    text = re.sub(r'(href="#|url\(#)', rf"\g<1>{prefix}", text)
    text = _LINES.sub("var(--line)", _INK.sub("currentColor", text))
    width = float(re.search(r'width="([\d.]+)pt"', text)[1])
    opening = element("svg", role="img", aria_label=label).removesuffix("></svg>")
    # On a narrow screen a figure scrolls before its text is too small to be read.
    size = f"width:{width / 12:.1f}em;min-width:{max(30, 0.6 * width / 12):.1f}rem"
    text = re.sub(r'^<svg|\s(?:width|height)="[\d.]+pt"', "", text, count=3)
    return Html(f'{opening} style="{size}"{text}')

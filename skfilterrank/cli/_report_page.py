"""The template of an HTML report, pictures for it, and data that later reports read."""

import hashlib
import html
import io
import json
import os
import platform
import re
import shlex
import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any, NamedTuple

import skfilterrank
from skfilterrank._files.files import open_for_writing
from skfilterrank._files.pages import Markup, escape, render_page
from skfilterrank._lists.words import printable
from skfilterrank.cli._inputs import STDIN
from skfilterrank.cli._output import call
from skfilterrank.exceptions import FileFormatError

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
    numbers = iter(range(1, 10**9))
    parts["inline"] = lambda svg, caption: _inline(svg, caption, f"f{next(numbers)}-")
    page = render_page("skfilterrank.cli", "report.html", parts, plain=_plain)
    with open_for_writing(path) as write:
        write(page)


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


_PACKAGES = ("numpy", "pandas", "scipy", "scikit-learn", "matplotlib")
_FILES = {
    "scores": "values",
    "qrels": "judgments",
    "runs": "run",
    "machine_qrels": "machine labels",
    "prels": "sample",
    "pool": "pool",
    "topics": "topics",
    "docs": "documents",
}
# The page shows what these options say, or they say where it is.
_SHOWN = {
    "files",
    "reading",
    "sampling",
    "html",
    "out",
    "format",
    "before",
    "open",
    "text",
    "measure",
    "interval",
    "n_jobs",
}
_OF_READING = {"gains", "ties", "precision", "n_items"}
_OF_TESTS = {"test", "n_resamples"}
_OF_SAMPLES = {"unit", "target"}
_ASK_SAMPLES = ("interval", "prels", "machine_qrels", "pool")
_WORDS = {
    "target": "by the sample",
    "gains": "the label is the gain",
    "holes": "default",
    "test": "by the measure",
}
_DATA = re.compile(r'<div id="data" hidden="" data-report="([^"]*)"')


def made_from(options) -> dict:
    """Return the command, its settings, its files with hashes, the date and the versions."""
    files = []
    for name, kind in _FILES.items():
        given = options.get(name) or []
        files += [_file(kind, path) for path in ([given] if isinstance(given, str) else given)]
    is_sampled = any(options.get(name) for name in _ASK_SAMPLES)
    unused = (_OF_TESTS if is_sampled else _OF_SAMPLES) | _FILES.keys() | _SHOWN
    unused |= _OF_READING if options.get("scores") else set()
    return {
        "command": shlex.join(["skfilterrank", *call.typed]),
        "date": datetime.now(UTC).date().isoformat(),
        "versions": {"skfilterrank": skfilterrank.__version__, "Python": platform.python_version()}
        | {name: version(name) for name in _PACKAGES},
        "settings": {name: _words(name, options[name]) for name in options if name not in unused},
        "files": files,
    }


def _words(name, value):
    """Return a setting in words."""
    if value is None or value == {}:
        return _WORDS.get(name, "none")
    if isinstance(value, dict):
        return ", ".join(f"{_words(key, key)}={_words(key, each)}" for key, each in value.items())
    return f"{value:g}" if isinstance(value, float) else str(value)


def _file(kind, path):
    """Return name, size, date and hash of a file; of a pipe its name only."""
    found = {"name": path, "kind": kind, "size": None, "modified": None, "sha256": None}
    if path == STDIN or not os.path.isfile(path):
        return found
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        status = os.fstat(file.fileno())
    changed = datetime.fromtimestamp(status.st_mtime, UTC).isoformat(timespec="seconds")
    return found | {"size": status.st_size, "modified": changed, "sha256": digest}


def measure_data(name, means, greater_is_better, pairs, scores=None) -> dict:
    """Return what the page's script and later reports read of a measure; means are best first."""
    systems = list(means.index if scores is None else scores.systems)
    place = {system: place for place, system in enumerate(systems)}
    values = [] if scores is None else scores.values
    return {
        "name": name,
        "greater_is_better": greater_is_better,
        "systems": systems,
        "queries": [] if scores is None else list(map(str, scores.queries)),
        "values": [[float(f"{value:.6g}") for value in row] for row in values],
        "means": means[systems].tolist(),
        "order": [place[system] for system in means.index],
        "first": [place[system] for system in pairs["first"]],
        "second": [place[system] for system in pairs["second"]],
        "p": [float(f"{p:.3g}") if p == p else None for p in pairs["p_adjusted"]],
        "significant": [int(yes) for yes in pairs["significant"]],
    }


def read_data(path) -> dict:
    """Read the data that a report holds."""
    with open(path, encoding="utf-8", errors="replace") as file:
        found = _DATA.search(file.read())
    if found is None:
        raise FileFormatError(
            "is no report of skfilterrank compare --html, or one of an earlier version, which "
            "holds no values.",
            path,
        )
    return json.loads(html.unescape(found[1]))


def other_outcomes(before, now) -> list:
    """Return the pairs of a measure whose test comes out otherwise: runs, better then and now."""
    then = {frozenset(pair): better for *pair, better in _outcomes(before)}
    return [
        (*pair, then[frozenset(pair)], better)
        for *pair, better in _outcomes(now)
        if then.get(frozenset(pair), better) != better
    ]


def _outcomes(measure):
    """Yield two runs, and which of them is significantly better, or None."""
    places = zip(measure["first"], measure["second"], measure["significant"])
    for first, second, significant in places:
        first, second = measure["systems"][first], measure["systems"][second]
        yield first, second, first if significant else None

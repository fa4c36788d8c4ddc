"""The HTML report of ``skfilterrank compare``: one file without external resources."""

import hashlib
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

import pandas as pd

import skfilterrank
from skfilterrank import plot
from skfilterrank._files.files import open_for_writing
from skfilterrank._files.pages import Markup, escape, render_page
from skfilterrank._lists.results import counted, interval_text
from skfilterrank._lists.words import printable
from skfilterrank.cli import _compare as words
from skfilterrank.cli._compare import in_order
from skfilterrank.cli._inputs import STDIN
from skfilterrank.cli._output import call
from skfilterrank.metaevaluation import sensitivity_curve, stability_curve
from skfilterrank.plot import QueryDifferenceDisplay

# Largest number of pairs in a table, or of systems with all their pairs.
_N_PAIRS = 200, 20
# With fewer queries, the curves have too few points.
_N_QUERIES_OF_CURVES = 10
_N_SIZES = 25
# Relative difference of means, as in Buckley and Voorhees, since measures have different units.
_FUZZINESS = 0.05
# Functions that the template calls.
_WORDS = (
    *(words.contradictions, words.in_order, words.notes, words.number, words.p_value),
    *(counted, interval_text),
)


def write_report(path, options, comparisons, n_predicted, alpha, random_state, verbose) -> None:
    """Write the report of comparisons into a file.

    Parameters
    ----------
    path : str
        File to write.
    options : dict
        All options of the command with their values, files included, by parameter.
    comparisons : dict of str to SystemComparison
        Comparisons by measure.
    n_predicted : dict of str to int
        Numbers of machine labels among the judgments, by their source.
    """
    from tqdm import tqdm

    measures, data = [], []
    bar = tqdm(comparisons.items(), unit="measure", disable=not verbose, leave=False)
    for place, (name, each) in enumerate(bar, 1):
        scores, pairs = each.scores, each.pairs(alpha)
        displays: list[Any] = [plot.PairwiseComparisonDisplay(each, alpha=alpha)]
        if scores.n_systems > 2 and each.baseline is None:
            displays.insert(0, plot.CriticalDifferenceDisplay(each, alpha=alpha))
        measures.append(
            {"id": f"m{place}", "name": name, "comparison": each, "figures": _drawn(displays)}
            | first_pairs(pairs, each, *_N_PAIRS)
            | {"drill": drill_down(each, pairs)}
        )
        data.append(measure_data(name, scores, pairs))
    write_page(
        path,
        **{each.__name__: each for each in _WORDS},
        comparisons=comparisons,
        n_predicted=n_predicted,
        alpha=alpha,
        measures=measures,
        agreement=words.describe_agreement(comparisons, alpha),
        curves=_curves(comparisons, random_state),
        fuzziness=_FUZZINESS,
        made=made_from(options),
        data=json.dumps({"measures": data}, separators=(",", ":")),
        version=skfilterrank.__version__,
    )


def _drawn(displays):
    """Draw existing displays."""
    return [draw(display.plot) for display in displays]


def _curves(comparisons, random_state):
    """Return stability and sensitivity curves; nothing if there are too few queries."""
    scores = {name: each.scores for name, each in comparisons.items()}
    scores = {name: s for name, s in scores.items() if s.n_queries >= _N_QUERIES_OF_CURVES}
    if not scores:
        return []
    how = {"fuzziness": _FUZZINESS, "relative": True, "random_state": random_state}
    stability, sensitivity = {}, {}
    for name, each in scores.items():
        stability[name] = stability_curve(each, sizes=_sizes(each.n_queries), **how)
        sensitivity[name] = sensitivity_curve(each, random_state=random_state)
    return _drawn(map(plot.MeasureCurvesDisplay, (stability, sensitivity)))


def _sizes(n_queries):
    """Return some numbers of queries from 2 to all."""
    step = -(-(n_queries - 2) // _N_SIZES) or 1
    return [*range(2, n_queries, step), n_queries]


# Largest number of pairs shown in full, or of systems with all their pairs.
_N_OPEN = 10, 5


def first_pairs(pairs, comparison, n_pairs, n_systems) -> dict[str, Any]:
    """Return pairs to show: all, the first ones, or those of the best systems; and a remark."""
    shown, which = pairs, ""
    if len(pairs) > n_pairs and comparison.baseline is not None:
        shown, which = pairs.head(n_pairs), "the first"
    elif len(pairs) > n_pairs:
        best = comparison.scores.means.index[:n_systems]
        shown = pairs[pairs["first"].isin(best) & pairs["second"].isin(best)]
        which = f"those of the {len(best)} best runs"
    return {"pairs": shown, "n_pairs": len(pairs), "which": which}


def drill_down(comparison, pairs) -> dict[str, Any]:
    """Return some first pairs with their values by query."""
    scores, found = comparison.scores, first_pairs(pairs, comparison, *_N_OPEN)
    ordered = scores.select(queries=in_order(scores.queries))
    frame = comparison.to_frame()
    alike = frame.loc[frame["n_tied"] == scores.n_queries, ["first", "second"]]
    alike = {frozenset(pair) for pair in alike.itertuples(index=False)}

    def parts_of(pair):
        if {pair.first, pair.second} in alike:
            return {"pair": pair, "display": None}
        return {"pair": pair} | _by_query(ordered, pair)

    return found | {"pairs": list(map(parts_of, found["pairs"].itertuples()))}


def _by_query(scores, pair) -> dict[str, Any]:
    """Return figure and table of two runs' values; influential queries come first.

    The table has the values of both, their difference, and the width of its bar.
    """
    drawn = draw(lambda: QueryDifferenceDisplay.from_scores(scores, pair.first, pair.second))
    display = drawn.display
    deciding, sizes = display.deciding.index, display.differences.abs()
    rest = sizes.sort_values(ascending=False, kind="stable").index.difference(deciding, sort=False)
    differences = display.differences[[*deciding, *rest]]
    queries = differences.index
    first, second = scores.select(systems=[pair.first, pair.second], queries=list(queries)).values
    columns = {"first": first, "second": second, "difference": differences}
    columns["width"] = 50 * differences.abs() / (differences.abs().max() or 1.0)
    columns["decides"] = queries.isin(deciding)
    return {"display": display, "figure": drawn, "queries": pd.DataFrame(columns, queries)}


_DRAWING: dict[Any, Any] = {
    "svg.fonttype": "none",  # text is not converted to paths: smaller, and accessible
    "svg.hashsalt": "skfilterrank",
    "legend.framealpha": 0.0,
    "text.parse_math": False,  # a $ in the name of a run is a $
    "font.size": 10,
}
# Black and dark grey become the page's text colour, light grey its line colour.
_INK = re.compile(r"#(?:000000|1a1a1a|262626|333333)\b")
_LINES = re.compile(r"#(?:e6e6e6|d9d9d9)\b")


class Drawn(NamedTuple):
    """A display with its SVG."""

    display: Any
    svg: str


def draw(make: Callable[[], Any]) -> Drawn:
    """Call `make()` to draw a display, and return it with its SVG."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.use("agg")
    with mpl.rc_context(_DRAWING), warnings.catch_warnings():
        # The browser has glyphs that matplotlib's font lacks.
        warnings.filterwarnings("ignore", message="Glyph")
        display, out = make(), io.StringIO()
        display.figure_.savefig(out, format="svg", transparent=True, metadata={"Date": None})
        plt.close(display.figure_)
    return Drawn(display, out.getvalue())


def write_page(path, **parts) -> None:
    """Fill the template with values and functions, and write the page."""
    numbers = iter(range(1, 10**9))
    parts["inline"] = lambda svg, caption: _inline(svg, caption, f"f{next(numbers)}-")
    page = render_page("skfilterrank.cli", "report.html", parts, plain=_plain)
    with open_for_writing(path) as write:
        write(page)


def _plain(text):
    """Return text for an attribute, with Unicode isolates instead of elements around names."""
    text = str(escape(text)) if isinstance(text, Markup) else str(escape(printable(text)))
    return Markup(text.replace("<bdi>", "\u2068").replace("</bdi>", "\u2069"))


def _inline(text, caption, prefix):
    """Return SVG for embedding, with unique ids and the page's colours."""
    text = printable(text[text.index("<svg") :], keep="\n")
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S)
    text = re.sub(r'\bid="', f'id="{prefix}', text)
    text = re.sub(r'(href="#|url\(#)', rf"\g<1>{prefix}", text)
    text = _LINES.sub("var(--line)", _INK.sub("currentColor", text))
    width = float(re.search(r'width="([\d.]+)pt"', text)[1])
    # Minimal width: on narrow screens a figure scrolls instead of becoming unreadable.
    size = f"width:{width / 12:.1f}em;min-width:{max(30, 0.6 * width / 12):.1f}rem"
    text = re.sub(r'^<svg|\s(?:width|height)="[\d.]+pt"', "", text, count=3)
    return Markup(f'<svg role="img" aria-label="{_plain(caption)}" style="{size}"{text}')


_PACKAGES = ("numpy", "pandas", "scipy", "scikit-learn", "matplotlib")
_FILES = {"scores": "values", "qrels": "judgments", "runs": "run"}


def made_from(options) -> dict:
    """Return command, files with hashes, date and versions."""
    files = []
    for name, kind in _FILES.items():
        given = options.get(name) or []
        files += [_file(kind, path) for path in ([given] if isinstance(given, str) else given)]
    return {
        "command": shlex.join(["skfilterrank", *call.typed]),
        "date": datetime.now(UTC).date().isoformat(),
        "versions": {"skfilterrank": skfilterrank.__version__, "Python": platform.python_version()}
        | {name: version(name) for name in _PACKAGES},
        "files": files,
    }


def _file(kind, path):
    """Return name, size, date and hash of a file; only the name for a pipe."""
    found = {"name": path, "kind": kind, "size": None, "modified": None, "sha256": None}
    if path == STDIN or not os.path.isfile(path):
        return found
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        status = os.fstat(file.fileno())
    changed = datetime.fromtimestamp(status.st_mtime, UTC).isoformat(timespec="seconds")
    return found | {"size": status.st_size, "modified": changed, "sha256": digest}


def measure_data(name, scores, pairs) -> dict:
    """Return a measure's data for the page's script."""
    place = {system: place for place, system in enumerate(scores.systems)}
    return {
        "name": name,
        "greater_is_better": scores.greater_is_better,
        "systems": scores.systems,
        "queries": list(map(str, scores.queries)),
        "values": [[float(f"{value:.6g}") for value in row] for row in scores.values],
        "means": scores.means[list(scores.systems)].tolist(),
        "first": [place[system] for system in pairs["first"]],
        "second": [place[system] for system in pairs["second"]],
        "p": [float(f"{p:.3g}") if p == p else None for p in pairs["p_adjusted"]],
    }

"""The HTML report of ``skfilterrank compare``: one file without external resources."""

import hashlib
import io
import os
import platform
import re
import shlex
import warnings
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import pandas as pd

from skfilterrank import plot
from skfilterrank._base import VERSION
from skfilterrank._base.rounding import merge_values
from skfilterrank._base.words import counted, interval_text, p_text, printable
from skfilterrank._files.files import open_for_writing
from skfilterrank._files.pages import Markup, escape, render_page
from skfilterrank.cli._inputs import STDIN
from skfilterrank.cli._output import call, in_options, in_order, number
from skfilterrank.metaevaluation import sensitivity_curve, stability_curve

# Largest numbers of pairs in the table, of pairs query by query, and of systems in the heat map.
_N_PAIRS, _N_OPEN, _N_SYSTEMS = 200, 10, 25
# With fewer queries, the curves have too few points.
_N_QUERIES_OF_CURVES = 10
_N_SIZES = 25
# Relative difference of means, as in Buckley and Voorhees, since measures have different units.
_FUZZINESS = 0.05
# Functions that the template calls.
_WORDS = (in_order, number, p_text, counted, interval_text)


def write_report(path, files, comparisons, n_predicted, agreement, random_state) -> None:
    """Write the report of comparisons into a file.

    Parameters
    ----------
    path : str
        File to write.
    files : dict of str to list of str
        Paths of the files that were read, by what they are.
    comparisons : dict of str to SystemComparison
        Comparisons by measure.
    n_predicted : dict of str to int
        Numbers of machine labels among the judgments, by their source.
    agreement : list of str
        Lines about the agreement of every two measures.
    random_state : int
        Seed of the curves.
    """
    alpha = next(iter(comparisons.values())).alpha
    measures = []
    for place, (name, each) in enumerate(comparisons.items(), 1):
        scores, diagram = each.scores, None
        if scores.n_systems > 2 and each.baseline is None:
            diagram = draw(plot.CriticalDifferenceDisplay(each))
        measures.append(
            {
                "id": f"m{place}",
                "name": name,
                "comparison": each,
                "diagram": diagram,
                "cells": heat_map(plot.PairwiseComparisonDisplay(each)),
                "pairs": each.pairs(alpha, most=_N_PAIRS),
                "queries": query_by_query(each, alpha),
            }
        )
    numbers = iter(range(1, 10**9))
    parts = {
        **{each.__name__: each for each in _WORDS},
        "comparisons": comparisons,
        "n_predicted": n_predicted,
        "alpha": alpha,
        "measures": measures,
        "agreement": agreement,
        "curves": _curves(comparisons, random_state),
        "notes": lambda comparison: map(in_options, comparison.notes),
        "fuzziness": _FUZZINESS,
        "made": made_from(files),
        "version": VERSION,
        "inline": lambda svg, caption: _inline(svg, caption, f"f{next(numbers)}-"),
    }
    page = render_page("skfilterrank.cli", "report.html", parts, plain=_plain)
    with open_for_writing(path) as write:
        write(page)


def _curves(comparisons, random_state):
    """Return stability and sensitivity curves; nothing if there are too few queries."""
    how = {"fuzziness": _FUZZINESS, "relative": True, "random_state": random_state}
    stability, sensitivity = {}, {}
    for name, each in comparisons.items():
        if (n_queries := each.scores.n_queries) < _N_QUERIES_OF_CURVES:
            continue
        sizes = [*range(2, n_queries, -(-(n_queries - 2) // _N_SIZES)), n_queries]
        stability[name] = stability_curve(each.scores, sizes=sizes, **how)
        sensitivity[name] = sensitivity_curve(each.scores, random_state=random_state)
    return [draw(plot.MeasureCurvesDisplay(each)) for each in (stability, sensitivity) if each]


def heat_map(display) -> list[tuple]:
    """Return the best systems, each with the cells of its row: advantage, text and colour.

    Blue is for an advantage of the row, red for one of the column.
    """
    shown = display.systems[:_N_SYSTEMS]
    largest = pd.DataFrame(display.advantage).abs().max(axis=None) or 1.0
    rows = []
    for row, name in enumerate(shown):
        cells = []
        for column, value in enumerate(display.advantage[row, : len(shown)]):
            is_tested = row != column and value == value
            colour = "0, 114, 178" if value > 0 else "213, 94, 0"
            opacity = 0.75 * abs(value) / largest if is_tested else 0.0
            mark = "*" * abs(int(display.better[row, column]))
            text = number(value, 3, "+") + mark if is_tested else ""
            cells.append((value, text, f"rgba({colour}, {opacity:.2f})"))
        rows.append((name, cells))
    return rows


def query_by_query(comparison, alpha) -> list[dict]:
    """Return the first pairs, each with its values by query, those that decide first.

    A table has the values of both runs, their difference, and the width of its bar.
    """
    scores = comparison.scores.select(queries=in_order(comparison.scores.queries))
    # Rounding errors are removed over all systems, as in the tests, so that ties are the same.
    oriented = pd.DataFrame(merge_values(scores.oriented), scores.systems, scores.queries)
    values = pd.DataFrame(scores.values, scores.systems, scores.queries)
    parts = []
    for pair in comparison.pairs(alpha, most=_N_OPEN).itertuples():
        differences = oriented.loc[pair.first] - oriented.loc[pair.second]
        parts.append({"pair": pair, "display": None})
        if not differences.any():
            continue
        how = {"first": pair.first, "second": pair.second, "is_preference": scores.is_preference}
        display = plot.QueryDifferenceDisplay(differences, **how)
        deciding, sizes = display.deciding.index, display.differences.abs()
        rest = sizes.sort_values(ascending=False, kind="stable").index
        queries = [*deciding, *rest.difference(deciding, sort=False)]
        table = pd.DataFrame({"difference": display.differences[queries]})
        table["first"] = values.loc[pair.first, queries]
        table["second"] = values.loc[pair.second, queries]
        table["width"] = 50 * sizes[queries] / sizes.max()
        table["decides"] = table.index.isin(deciding)
        parts[-1] |= {"display": display, "queries": table}
    return parts


_DRAWING: dict[Any, Any] = {
    "svg.fonttype": "none",  # text is not converted to paths: smaller, and accessible
    "svg.hashsalt": "skfilterrank",
    "legend.framealpha": 0.0,
    "text.parse_math": False,  # names of runs may hold a $
    "font.size": 10,
}
# Black and dark grey become the page's text colour, light grey its line colour.
_INK = re.compile(r"#(?:000000|1a1a1a|262626|333333)\b")
_LINES = re.compile(r"#(?:e6e6e6|d9d9d9)\b")


def draw(display) -> str:
    """Draw a display as SVG."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.use("agg")
    with mpl.rc_context(_DRAWING), warnings.catch_warnings():
        # The browser has glyphs that matplotlib's font lacks.
        warnings.filterwarnings("ignore", message="Glyph")
        figure, out = display.plot().figure_, io.StringIO()
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
        plt.close(figure)
    return out.getvalue()


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
    text = re.sub(r'^<svg|\s(?:width|height)="[\d.]+pt"', "", text, count=3)
    size = f"width:{width / 12:.1f}em"
    return Markup(f'<svg role="img" aria-label="{_plain(caption)}" style="{size}"{text}')


_PACKAGES = ("numpy", "pandas", "scipy", "scikit-learn", "matplotlib")


def made_from(files) -> dict:
    """Return command, files with hashes, date and versions."""
    return {
        "command": shlex.join(["skfilterrank", *call.typed]),
        "date": datetime.now(UTC).date().isoformat(),
        "versions": {"skfilterrank": VERSION, "Python": platform.python_version()}
        | {name: version(name) for name in _PACKAGES},
        "files": [_file(kind, path) for kind, paths in files.items() for path in paths],
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

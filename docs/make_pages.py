"""Write docs/measures.md and docs/api.md from docstrings, so that the two cannot drift."""

import importlib
import inspect
import re
from pathlib import Path

from skfilterrank.metrics._measure import MEASURES

HERE = Path(__file__).parent
MODULES = ("metrics", "ranking", "io", "datasets", "plot")

HEAD = """# Measures

Written by `docs/make_pages.py` from the docstrings of `skfilterrank.metrics`.

Every measure is a function `(y_true, y_score, *, groups, ...)` of three arrays with one entry per
(query, document) row. It returns the mean over queries, or with `average=None` one value
per query, in the order of the sorted query ids. The names below work in
`make_ranking_scorer("ndcg_f@10")`, in `RankAndFilter(scoring=...)` and on the command line.

* **Filtered** documents have the score -inf: they are not in the list, and the places close up.
* **Unjudged** documents have the label NaN: they stand in the list as gain 0, or are taken out
  first with `unjudged="drop"`. Ideal and worst lists are made of the judged rows of the query,
  whether the system returned them or not.
* **Ties** in score are averaged exactly over all their orders, unless `ties=` says otherwise.
* **Undefined** queries get the value of `undefined=`, 0 unless told otherwise.
"""


def pages() -> dict[str, str]:
    """Texts of the pages by their names."""
    return {"measures.md": measures_page(), "api.md": api_page()}


def api_page() -> str:
    """Every public name, with the first line of its documentation."""
    lines = ["# Public names", "", "Written by `docs/make_pages.py`; `help(name)` says the rest."]
    for name in MODULES:
        module = importlib.import_module(f"skfilterrank.{name}")
        lines += ["", f"## skfilterrank.{name}", "", inspect.getdoc(module), ""]
        for public in module.__all__:
            thing = getattr(module, public)
            if callable(thing):
                lines.append(f"* `{public}`: {plain(inspect.getdoc(thing).splitlines()[0])}")
    return "\n".join(lines) + "\n"


def measures_page() -> str:
    """Every measure of the table."""
    table = [
        "| name | cut-off | better | what |",
        "| --- | --- | --- | --- |",
        *(
            f"| [`{m.name}`](#{m.name}) | {'@k' if m.takes_k else ''} | "
            f"{'higher' if m.greater_is_better else 'lower'} | {m.summary} |"
            for m in MEASURES.values()
        ),
    ]
    return "\n".join([HEAD, *table, "", *map(entry, MEASURES.values())])


def entry(measure) -> str:
    """One measure: what it is, its formula, when it is undefined."""
    doc = inspect.getdoc(measure.function)
    first, *_ = doc.split("\nParameters\n")
    undefined = re.search(r"the measure is undefined \((.*?)\);", doc, re.DOTALL).group(1)
    notes = re.search(r"\nNotes\n-+\n(.*?)\n\n(?:References|Examples)\n", doc, re.DOTALL).group(1)
    source = re.search(r"\nReferences\n-+\n(.*?)\n\nExamples", doc, re.DOTALL).group(1)
    return "\n".join(
        [
            f"## {measure.name}",
            "",
            f"`skfilterrank.metrics.{measure.function.__name__}`",
            "",
            plain(first.strip()),
            "",
            plain(notes),
            "",
            f"Undefined: {' '.join(undefined.split())}.",
            "",
            "\n".join(f"* {line}" for line in plain(source).split("\n.. ") if line).replace(
                "* .. ", "* "
            ),
            "",
        ]
    )


def plain(text) -> str:
    """Markdown of the little reStructuredText that the docstrings use."""
    text = re.sub(r":\w+:`~?([^`]*)`", r"`\1`", text)
    text = re.sub(r"\[(\d+)\]_", r"[\1]", text)
    return text.replace("``", "`")


if __name__ == "__main__":
    for name, text in pages().items():
        (HERE / name).write_text(text, encoding="utf-8")

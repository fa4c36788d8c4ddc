"""Write docs/measures.md, docs/api.md and the names of metrics, so that they cannot drift."""

import importlib
import inspect
import re
import sys
from math import isfinite
from pathlib import Path

import skfilterrank.metrics
from skfilterrank._core.measure import MEASURES

ROOT = Path(__file__).parent.parent
MODULES = (
    "metrics",
    "robustness",
    "features",
    "ranking",
    "judgments",
    "comparison",
    "estimation",
    "stream",
    "io",
    "trec",
    "testing",
    "datasets",
    "plot",
    "exceptions",
)
STUB = "skfilterrank/metrics/__init__.pyi"

HEAD = """# Measures

Written by `docs/make_pages.py` from the docstrings of `skfilterrank.metrics`.

Every measure is a function `(y_true, y_score, *, groups, ...)` of three arrays with one entry per
(query, document) row. It returns the mean over queries, or with `average=None` one value
per query, in the order of the sorted query ids. The names below, with a cut-off and options where
wanted, such as `"ndcg_f@10"` or `"rbp(persistence=0.95)"`, work in `make_ranking_scorer`, in
`RankAndFilter(measure=...)`, in `evaluate`, on the command line, and in ir_measures.

Names may be written in any case. The table also has names of trec_eval, ir_measures and papers,
which work wherever a measure is named: `"MAP"`, `"P_5"`, `"MRR@10"`, and so `"nDCG@10"` and
`"RBP(p=0.9)"`. A column of results is called what was written. For labels from 0 up, each gives the
number of the tool whose name it is, of trec_eval 9 and 10, but [`rbp`](#rbp) is not trec_eval's,
which is `"trec_rbp"`. Labels below 0, which trec_eval takes for not judged, are forbidden
documents: `ndcg_cut_10` and the measures of relevant or not give its numbers there too, while
`ndcg@10`, `bpref` and `infAP` do not.

Judgments are read as a call says, for all of its measures. A name may tell its own way, so that one
call has `"AP(rel=2)"` beside `"nDCG@10"` and `"ndcg(gains=exp2)@10"` beside `"ndcg@10"`:

* `rel=2`: documents with a gain of 2 or more are relevant, with gain 1; others have gain 0, and
  forbidden ones keep theirs. It is the `-l 2` of trec_eval and the `rel=2` of ir_measures.
* `gains=exp2`, or a gain for each label, `gains={0:0,1:1,2:5}`, where `nan` means unjudged.
  ir_measures' `dcg='exp-log2'` is `gains=exp2`.
* `unjudged=drop`: unjudged documents are taken out of the lists first, as with `unjudged="drop"`
  of a call. It is the `-J` of trec_eval and the `judged_only=True` of ir_measures, which may be
  written too.

Gains start from what `gains=` of the call, where there is any, has made of labels. `like=lightgbm`,
`xgboost`, `catboost` or `scikit-learn` tells gains, ties and the value of undefined queries at
once, as in `"ndcg(like=lightgbm)@10"`: the number that the library reports, see
[other_libraries.md](other_libraries.md). What a name tells goes before what a call says.

* **Filtered** documents have the score -inf: they are not in the list, and the places close up.
* **Unjudged** documents have the label NaN: they stand in the list as gain 0, or are taken out
  first with `unjudged="drop"`. Measures that are defined by them say what they do. Ideal and
  worst lists are made of the judged rows of the query, whether the system returned them or not.
* **Ties** in score are averaged exactly over all their orders, unless `ties=` says otherwise.
  For runs of TREC they are broken by document id, as trec_eval does.
* **Undefined** queries get the value of `undefined=`, 0 unless told otherwise.
"""


def pages() -> dict[str, str]:
    """Texts of the written files by their paths."""
    return {"docs/measures.md": measures_page(), "docs/api.md": api_page(), STUB: stub()}


def stub() -> str:
    """The public names of metrics, where editors look for them: measures enter when it runs."""
    lines = ["from numpy.typing import ArrayLike", "from skfilterrank._core.gains import Gains"]
    lines += ["from skfilterrank._core.query_weights import QueryWeight"]
    lines += ["from skfilterrank._core.scoring import Scores", "import collections.abc"]
    for name in sorted(skfilterrank.metrics.__all__):
        thing = getattr(skfilterrank.metrics, name)
        if hasattr(thing, "measure"):
            signature = re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(inspect.signature(thing)))
            lines.append(f"def {name}{signature}: ...")
        else:
            lines.append(f"from {thing.__module__} import {name} as {name}")
    return (
        "\n".join(
            ["# Written by docs/make_pages.py.", "# ruff: noqa", "# fmt: off", *sorted(lines)]
        )
        + "\n"
    )


def api_page() -> str:
    """Every public name, with the first line of its documentation."""
    lines = ["# Public names", "", "Written by `docs/make_pages.py`; `help(name)` says the rest."]
    for name in MODULES:
        module = importlib.import_module(f"skfilterrank.{name}")
        lines += ["", f"## skfilterrank.{name}", "", inspect.getdoc(module), ""]
        for public in sorted(module.__all__):
            thing = getattr(module, public)
            if callable(thing):
                lines.append(f"* `{public}`: {plain(inspect.getdoc(thing).splitlines()[0])}")
    return "\n".join(lines) + "\n"


def measures_page() -> str:
    """Every measure of the table, by family."""
    parts = [HEAD]
    for title, names in families().items():
        parts += [f"**{title}**", "", *table(names), ""]
    for title, names in families().items():
        parts += [f"## {title}", "", *(entry(MEASURES[name]) for name in names)]
    return "\n".join(parts)


def families() -> dict[str, list[str]]:
    """Names of the measures under the first line of the file that defines them."""
    found = {}
    # What the library is for stands first.
    public = [each for each in MEASURES.values() if is_public(each)]
    for measure in sorted(public, key=lambda each: "_forbidden" not in module_of(each)):
        title = inspect.getdoc(sys.modules[module_of(measure)]).splitlines()[0].rstrip(".")
        found.setdefault(title, []).append(measure.name)
    return found


def is_public(measure) -> bool:
    """Whether a measure is the library's own."""
    return measure.function.__name__ in skfilterrank.metrics.__all__


def module_of(measure) -> str:
    """Name of the module that declares a measure."""
    return measure.function.__module__


def table(names) -> list[str]:
    """The lines of a table of measures."""
    return [
        "| name | also | better | range | what |",
        "| --- | --- | --- | --- | --- |",
        *(
            f"| [`{name}{'@k' if MEASURES[name].takes_k else ''}`](#{name}) | "
            f"{', '.join(f'`{alias}`'.replace('@', 'k') for alias in MEASURES[name].aliases)} | "
            f"{'higher' if MEASURES[name].greater_is_better else 'lower'} | "
            f"{value_range(MEASURES[name])} | {plain(MEASURES[name].summary)} |"
            for name in names
        ),
    ]


def value_range(measure) -> str:
    """The possible values, and for which gains they hold."""
    low, high = (f"{end:g}" if isfinite(end) else "∞" for end in measure.value_range)
    if low == "∞":
        return "any number"
    held = f"[{low}, {high}]" if high != "∞" else f"{low} and above"
    known = measure.range_holds_for
    return held if known == "any gains" else f"{held} for {known}"


def entry(measure) -> str:
    """One measure: what it is for, its formula, what the odd rows do, when it is undefined."""
    doc = inspect.getdoc(measure.function)
    first, *_ = doc.split("\nParameters\n")
    undefined = re.search(r"the measure is undefined \((.*?)\);", doc, re.DOTALL).group(1)
    notes = re.search(r"\nNotes\n-+\n(.*?)\n\n(?:References|Examples)\n", doc, re.DOTALL).group(1)
    source = re.search(r"\nReferences\n-+\n(.*?)\n\nExamples", doc, re.DOTALL).group(1)
    facts = [f"Range: {value_range(measure)}.", f"Undefined: {' '.join(undefined.split())}."]
    if "average" not in measure.ties:
        facts.append(
            f"Ties: the {measure.ties[0]} order, not averaged, because it looks at whole orders."
        )
    return "\n".join(
        [
            f"### {measure.name}",
            "",
            f"`skfilterrank.metrics.{signature(measure)}`",
            "",
            plain(first.strip()),
            "",
            *options(measure, doc),
            plain(notes),
            "",
            " ".join(facts),
            "",
            "\n".join(f"* {line}" for line in plain(source).split("\n.. ") if line).replace(
                "* .. ", "* "
            ),
            "",
        ]
    )


def signature(measure) -> str:
    """The function with the parameters of its own."""
    own = [f", {name}={default!r}" for name, default in measure.defaults.items()]
    return f"{measure.function.__name__}(y_true, y_score, *, groups, ...{''.join(own)})"


def options(measure, doc) -> list[str]:
    """The measure's own parameters, as a list."""
    parameters = re.search(r"\nParameters\n-+\n(.*?)\n\nReturns\n", doc, re.DOTALL).group(1)
    found = []
    for name in measure.defaults:
        kind, text = re.search(
            rf"^{name} : (.*?)\n((?:    .*\n?|\n)+)", parameters + "\n", re.MULTILINE
        ).groups()
        text = " ".join(text.split())
        found.append(f"* `{name}` ({plain(kind)}): {plain(text)}")
    return [*found, ""] if found else []


def plain(text) -> str:
    """Markdown of the little reStructuredText that the docstrings use."""
    text = re.sub(r":\w+:`~?([^`]*)`", r"`\1`", text)
    text = re.sub(r"\[(\d+)\]_", r"[\1]", text)
    # A colon that begins a block of code there is an ordinary one here.
    return re.sub(r"::$", ":", text.replace("``", "`"), flags=re.MULTILINE)


if __name__ == "__main__":
    for name, text in pages().items():
        (ROOT / name).write_text(text, encoding="utf-8")

"""The overview of the measures, and a page for each, from the measure table and docstrings."""

import inspect
import re
import sys
import tomllib
from functools import cache
from math import isfinite
from pathlib import Path

import skfilterrank.metrics
from skfilterrank._lists.measure import MEASURES

from .docstrings import markdown, section
from .references import bibtex_blocks, items

# The measures that the library is for stand first.
FIRST = ("._dcg", "._filtering")
FACTS = Path(__file__).parent.parent / "measure_facts.toml"

TIES = {
    "average": "averaged exactly over all orders of the tied documents, unless `ties=` says "
    "otherwise",
    "worst": "the worst order, and not the mean, as it looks at whole orders; `ties=` takes others",
}


@cache
def facts() -> dict:
    """What is said of each measure beside its docstring."""
    return tomllib.loads(FACTS.read_text(encoding="utf-8"))


def families() -> dict[str, list[str]]:
    """Names of the measures under the first line of the file that defines them."""
    found = {}
    ours = [each for each in MEASURES.values() if is_ours(each)]
    for measure in sorted(ours, key=lambda each: not each.__module__.endswith(FIRST)):
        title = inspect.getdoc(sys.modules[measure.__module__]).splitlines()[0].rstrip(".")
        found.setdefault(title, []).append(measure.name)
    return found


def is_ours(measure) -> bool:
    """Tell whether the library declares a measure."""
    return measure.__module__.startswith("skfilterrank.metrics.")


def overview() -> str:
    """All measures in a table for each family."""
    lines = []
    for title, names in families().items():
        lines += [f"**{short(title)}**", "", *table(names), ""]
    return "\n".join(lines)


def short(title) -> str:
    """The title of a family without what its measures are."""
    return re.split("[:,]", title)[0]


def tree() -> str:
    """The pages of all measures, for the navigation, by family."""
    blocks = []
    for title, names in families().items():
        pages = "\n".join(f"measures/{name}" for name in names)
        blocks.append(f"```{{toctree}}\n:hidden:\n:caption: {short(title)}\n\n{pages}\n```\n")
    return "\n".join(blocks)


def table(names) -> list[str]:
    """The lines of a table of measures."""
    lines = ["| name | also | range | what |", "| --- | --- | --- | --- |"]
    for measure in (MEASURES[name] for name in names):
        notes = [] if value_range(measure) == "[0, 1]" else [value_range(measure)]
        notes += [] if measure.greater_is_better else ["lower is better"]
        lines.append(
            f"| `{written(measure)}` | {', '.join(shortened(other_names(measure)))} | "
            f"{'; '.join(notes)} | {markdown(measure.summary)} |"
        )
    return lines


def shortened(names) -> list[str]:
    """Names without those between the first and the last of one beginning: P_0.10, ..., P_1.00."""
    beginnings = [re.sub(r"\d\.\d+`$", "", name) for name in names]
    inner = [
        one == name == other for one, name, other in zip(beginnings, beginnings[1:], beginnings[2:])
    ]
    kept = []
    for name, is_inner in zip(names, [False, *inner, False]):
        if not is_inner:
            kept.append(name)
        elif kept[-1] != "...":
            kept.append("...")
    return kept


def written(measure) -> str:
    """The name with a cut-off, where there may be one."""
    return f"{measure.name}@k" if measure.takes_k else measure.name


def other_names(measure) -> list[str]:
    """The aliases of the table."""
    return [f"`{alias}`".replace("@", "k") for alias in measure.aliases]


def better(measure) -> str:
    """Which values are better."""
    return "higher" if measure.greater_is_better else "lower"


def value_range(measure) -> str:
    """The possible values, and for which gains they hold."""
    low, high = (f"{end:g}" if isfinite(end) else "∞" for end in measure.value_range)
    if low == "∞":
        return "any number"
    held = f"[{low}, {high}]" if high != "∞" else f"{low} and above"
    known = measure.range_holds_for
    return held if known == "any gains" else f"{held} for {known}"


def page(name: str, picture: str = "") -> str:
    """The page of a measure."""
    measure, known = MEASURES[name], facts().get(name, {})
    doc = inspect.getdoc(measure)
    first = linked(markdown(doc.split("\nParameters\n")[0].strip()), name)
    notes = linked(markdown(section(doc, "Notes")), name).split("\n\n")
    odd_rows = [text for text in notes if "Filtered" in text]
    parts = [f"# {name}", "", first, ""]
    if known:
        parts += ["## Formula", ""]
        for formula in re.split(r",? *\\qquad *", known["formula"]):
            parts += ["```{math}", formula, "```", ""]
        parts += [known.get("where", ""), ""]
        if re.search(r"\b[gr](\^.)?_[a-z]|\b[Rk]\b", known["formula"]):
            parts += [facts()["symbols"].strip(), ""]
    if picture:
        parts += ["## What it rewards", "", picture, ""]
    if known:
        parts += advice(known, name)
    parts += ["## In short", "", *in_short(measure, doc, known), ""]
    parts += options(measure, doc)
    parts += ["## Filtered and unjudged documents", "", *odd_rows, ""]
    parts += ["## Notes", "", "\n\n".join(text for text in notes if text not in odd_rows), ""]
    parts += ["## Example", "", "```pycon", section(doc, "Examples"), "```", ""]
    parts += ["## Sources", "", *(f"* {markdown(item)}" for item in items(doc)), ""]
    return "\n".join([*parts, *bibtex_blocks(doc)])


def advice(known, name) -> list[str]:
    """When to use a measure, and when not, side by side."""
    return [
        "::::{grid} 1 1 2 2",
        ":gutter: 3",
        "",
        ":::{grid-item-card} Use it when",
        linked(known["use"], name),
        ":::",
        ":::{grid-item-card} Take another when",
        linked(known["avoid"], name),
        ":::",
        "::::",
        "",
    ]


def linked(text, name) -> str:
    """Markdown in which other measures and public functions of metrics lead to their pages."""

    def link(match):
        word = match[1]
        if word in MEASURES and is_ours(MEASURES[word]) and word != name:
            return f"[`{word}`]({word}.md)"
        if word in skfilterrank.metrics.__all__ and word != function(MEASURES[name]):
            return f"{{py:obj}}`{word} <skfilterrank.metrics.{word}>`"
        return match[0]

    return re.sub(r"(?<!`)`(\w+)`(?!`)", link, text)


def function(measure) -> str:
    """The public name of a measure in skfilterrank.metrics, or ""."""
    names = skfilterrank.metrics.__all__
    return next((name for name in names if getattr(skfilterrank.metrics, name) is measure), "")


def in_short(measure, doc, known) -> list[str]:
    """The facts of a measure as a table."""
    name = f"skfilterrank.metrics.{function(measure)}"
    rows = {
        "Name": f"`{written(measure)}`",
        "Function": f"{{py:func}}`{name} <{name}>`" if function(measure) else "by its name alone",
        "Better": better(measure),
        "Range": value_range(measure),
        "Undefined": f"{measure.undefined}; `undefined=` says what counts then, 0 by default"
        if measure.undefined != "never"
        else "never",
        "Ties": TIES[measure.ties[0]],
        "Order of documents": {
            "always": "matters",
            "with k": "matters with a cut-off",
            "never": "does not matter",
        }[measure.order_matters],
        "Over queries": measure.over_queries,
        "Tuned threshold": "exact, by one sort: the measure is a sum over documents"
        if measure.additive
        else "exact, from its values at every prefix of the rankings",
        "Other names": ", ".join(other_names(measure)) or "none",
    }
    rows |= {f"In {tool}": text for tool, text in known.get("elsewhere", {}).items()}
    lines = [f"| {label} | {text} |" for label, text in rows.items()]
    return ["| | |", "| --- | --- |", *lines]


def options(measure, doc) -> list[str]:
    """The measure's own parameters, as a list."""
    parameters = section(doc, "Parameters")
    found = []
    for name in measure.defaults:
        kind, text = re.search(
            rf"^{name} : (.*?)\n((?:    .*\n?|\n)+)", parameters + "\n", re.MULTILINE
        ).groups()
        text = " ".join(text.split())
        found.append(f"* `{name}` ({markdown(kind)}): {markdown(text)}")
    return ["## Options", "", *found, ""] if found else []

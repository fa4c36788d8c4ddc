"""The decision charts of the guide: which estimator and target, which threshold.

`python docs/_site/decision_charts.py` writes `docs/_static/choose_*.svg`. The pages have the same
questions and answers as tables, which are the text alternative of the pictures.
"""

import html
import textwrap
from dataclasses import dataclass
from pathlib import Path

STATIC = Path(__file__).parent.parent / "_static"
INK, GREY, LINE, QUESTION, ANSWER = "#1c2733", "#55606b", "#8a96a3", "#eef2f6", "#e6f4ec"
GOOD = "#1a7f4b"
# Narrow, so that letters keep their size on a phone.
WIDTH, LETTERS, LEADING, GAP = 340, 12.5, 17, 22
LEFT, RIGHT, BOX = 2, 184, 154
CHARACTERS = 20


@dataclass(frozen=True)
class Chart:
    """Questions that are asked in turn; the first one answered by yes decides."""

    name: str
    title: str
    steps: list[tuple[str, str, str]]
    otherwise: tuple[str, str]


CHARTS = [
    Chart(
        "choose_estimator",
        "Which estimator, which target?",
        [
            ("Do you already have scores?", "No estimator", "fit a threshold on scores"),
            (
                "Are relevance and harm two properties, as with spam?",
                "Two models",
                "with filter_estimator=",
            ),
            ("Are labels only good or bad?", "A classifier", 'target "binary"'),
            (
                "Are labels made of clicks, purchases or reports?",
                "A regressor",
                'target "gain"',
            ),
            (
                "Are labels a few grades with one meaning in all queries?",
                "OrdinalRanker",
                "a blend, as by make_ranker",
            ),
        ],
        ("A ranker", "LGBMRanker: scores may compare only within a query"),
    ),
    Chart(
        "choose_threshold",
        "Which threshold?",
        [
            ("Are there no judged queries?", "FixedThreshold(0.5)", "on probabilities"),
            (
                "Must a risk be certified?",
                "CertifiedThreshold",
                "one for each language",
            ),
            (
                "Do new lists have other sizes, and do scores compare?",
                "ExpectedThreshold",
                "or LearnedThreshold, for each list",
            ),
            (
                "Are scores of queries not comparable, and hundreds judged?",
                "LearnedThreshold",
                "or PerQueryThreshold",
            ),
        ],
        ("TunedThreshold", "the default, exact"),
    ),
]


def _text(x, y, words, *, weight="normal", fill=INK, anchor="start") -> str:
    return (
        f'<text x="{x}" y="{y}" font-size="{LETTERS}" fill="{fill}" font-weight="{weight}" '
        f'text-anchor="{anchor}">{html.escape(words)}</text>'
    )


def _box(x, y, height, lines, fill, *, bold=0) -> list[str]:
    """A box with its lines of text in the middle, of which the first `bold` are bold."""
    top = y + (height - LEADING * len(lines)) / 2 + LETTERS
    return [
        f'<rect x="{x}" y="{y}" width="{BOX}" height="{height}" rx="7" fill="{fill}" '
        f'stroke="{LINE}"/>',
        *(
            _text(x + 9, top + LEADING * i, line, weight="600" if i < bold else "normal")
            for i, line in enumerate(lines)
        ),
    ]


def _answer(name, note):
    """Lines of an answer, and how many of them are its name."""
    names, notes = textwrap.wrap(name, CHARACTERS - 1), textwrap.wrap(note, CHARACTERS)
    return [*names, *notes], len(names)


def drawn(chart: Chart) -> str:
    """The chart as SVG."""
    parts, y = [_text(LEFT, 20, chart.title, weight="700")], 34
    for question, name, note in chart.steps:
        asked = textwrap.wrap(question, CHARACTERS)
        answered, bold = _answer(name, note)
        height = LEADING * max(len(asked), len(answered)) + 18
        middle = y + height / 2
        parts += [
            *_box(LEFT, y, height, asked, QUESTION),
            *_box(RIGHT, y, height, answered, ANSWER, bold=bold),
            f'<path d="M{LEFT + BOX} {middle}H{RIGHT - 2}m-6 -5l6 5l-6 5" fill="none" '
            f'stroke="{GOOD}" stroke-width="2"/>',
            _text((LEFT + BOX + RIGHT) / 2 - 3, middle - 7, "yes", fill=GOOD, anchor="middle"),
            f'<path d="M{LEFT + BOX / 2} {y + height}v{GAP - 2}m-5 -6l5 6l5 -6" fill="none" '
            f'stroke="{GREY}" stroke-width="2"/>',
            _text(LEFT + BOX / 2 + 10, y + height + 15, "no", fill=GREY),
        ]
        y += height + GAP
    answered, bold = _answer(*chart.otherwise)
    height = LEADING * len(answered) + 18
    parts += _box(LEFT, y, height, answered, ANSWER, bold=bold)
    total = y + height + 6
    desc = " ".join(f"{q} Yes: {name}, {note}. No:" for q, name, note in chart.steps)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {total:g}" role="img" '
            "font-family=\"system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif\">",
            f"<title>{html.escape(chart.title)}</title>",
            f"<desc>{html.escape(desc)} {html.escape(', '.join(chart.otherwise))}.</desc>",
            f'<rect width="{WIDTH}" height="{total:g}" fill="#ffffff"/>',
            *parts,
            "</svg>\n",
        ]
    )


def target(chart: Chart) -> Path:
    """File of a chart."""
    return STATIC / f"{chart.name}.svg"


if __name__ == "__main__":
    for chart in CHARTS:
        target(chart).write_text(drawn(chart), encoding="utf-8")

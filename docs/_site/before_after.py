"""The picture of the landing page: a page of results before and after its threshold.

`python docs/_site/before_after.py` writes `docs/_static/before_after.svg`.
"""

import html
from dataclasses import dataclass
from pathlib import Path

TARGET = Path(__file__).parent.parent / "_static" / "before_after.svg"
QUERY = "when can I drive after cataract surgery?"
GOOD, BAD, INK, GREY, LINE = "#1a7f4b", "#c0362c", "#1c2733", "#66717d", "#d5dbe1"
WIDTH, ROW, TOP = 430, 58, 118


@dataclass(frozen=True)
class Answer:
    """A document of the picture, with the reranker's score."""

    title: str
    source: str
    score: float
    harm: str = ""


ANSWERS = [
    Answer("Eye clinic: test first, often 1 to 2 days", "eye-clinic.example", 0.94),
    Answer(
        "Skip the check-up and drive home the same day", "my-miracle-eyes.example", 0.71, "unsafe"
    ),
    Answer("What the licensing office asks for", "licensing.example", 0.88),
    Answer("BUY eye drops, no prescription, 50 % OFF", "cheap-drops.example", 0.42, "spam"),
    Answer("Patients tell when they drove again", "eye-forum.example", 0.79),
]


def text(x, y, words, *, size=13, fill=INK, weight="normal", anchor="start") -> str:
    """A line of text."""
    return (
        f'<text x="{x}" y="{y}" font-size="{size}" fill="{fill}" font-weight="{weight}" '
        f'text-anchor="{anchor}">{html.escape(words)}</text>'
    )


def row(x, place, answer, number) -> list[str]:
    """A result: its number, title and source, and a mark at its side."""
    y = TOP + place * ROW
    colour = BAD if answer.harm else GOOD
    badge = answer.harm or "good"
    return [
        f'<rect x="{x + 14}" y="{y}" width="{WIDTH - 28}" height="{ROW - 10}" rx="6" '
        f'fill="{"#fdf0ee" if answer.harm else "#ffffff"}" stroke="{LINE}"/>',
        f'<rect x="{x + 14}" y="{y}" width="5" height="{ROW - 10}" rx="2" fill="{colour}"/>',
        text(x + 30, y + 29, str(number), size=15, fill=GREY),
        text(x + 48, y + 20, answer.title, weight="600"),
        text(x + 48, y + 38, answer.source, size=11.5, fill=GREY),
        text(x + WIDTH - 24, y + 38, badge, size=11.5, fill=colour, weight="700", anchor="end"),
    ]


def panel(x, title, answers, foot) -> list[str]:
    """A page of results."""
    height = TOP + len(ANSWERS) * ROW + 22
    parts = [
        f'<rect x="{x}" y="40" width="{WIDTH}" height="{height - 40}" rx="12" fill="#f7f9fa" '
        f'stroke="{LINE}"/>',
        text(x + 2, 26, title, size=17, weight="700"),
        f'<rect x="{x + 14}" y="56" width="{WIDTH - 28}" height="40" rx="20" fill="#ffffff" '
        f'stroke="{LINE}"/>',
        f'<circle cx="{x + 36}" cy="75" r="6" fill="none" stroke="{GREY}" stroke-width="2"/>',
        f'<path d="M{x + 40.5} 79.5l5 5" stroke="{GREY}" stroke-width="2"/>',
        text(x + 54, 80, QUERY, size=13.5),
    ]
    for place, answer in enumerate(answers):
        parts += row(x, place, answer, place + 1)
    y = TOP + len(answers) * ROW + 6
    for line, (words, fill) in enumerate(foot):
        parts.append(text(x + 30, y + 18 + 21 * line, words, size=13, fill=fill))
    return parts


def drawn() -> str:
    """The picture as SVG."""
    shown = sorted((a for a in ANSWERS if not a.harm), key=lambda answer: -answer.score)
    hidden = [answer for answer in ANSWERS if answer.harm]
    promise = [
        (
            f"{len(hidden)} documents hidden: scores {hidden[1].score} and {hidden[0].score}, "
            "threshold 0.75",
            GREY,
        ),
        ("Certificate, with 95 % confidence: at most 5 % of new", INK),
        ("queries show a forbidden document.", INK),
    ]
    width, height = 2 * WIDTH + 60, TOP + len(ANSWERS) * ROW + 40
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        "font-family=\"system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif\">",
        "<title>A page of results before and after its threshold</title>",
        "<desc>Before, an unsafe and a spam page stand among five results. After, both are hidden "
        "and the three good ones stand in order of their scores.</desc>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        *panel(10, "Before: ranked by a search engine", ANSWERS, []),
        *panel(WIDTH + 50, "After: ranked and filtered", shown, promise),
        f'<path d="M{WIDTH + 18} {height / 2}h20m-7 -7l7 7l-7 7" fill="none" stroke="{GREY}" '
        'stroke-width="3"/>',
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    TARGET.write_text(drawn(), encoding="utf-8")

"""What a measure rewards, in small pictures: its value as one thing of a list changes."""

import io
import warnings

import numpy as np

from skfilterrank._lists.measure import MEASURES
from skfilterrank.exceptions import DataWarning

OUT, UNJUDGED = -np.inf, np.nan
PLACES = range(1, 11)
COUNTS = range(6)


def moved_down(place):
    """One relevant document among ten."""
    return [float(each == place) for each in PLACES], 10


def forbidden_above(count):
    """Forbidden documents above three that are relevant."""
    return [-1.0] * count + [1.0] * 3 + [-1.0] * (5 - count), 3 + count


def unjudged_above(count):
    """Unjudged documents above three that are relevant."""
    return [UNJUDGED] * count + [1.0] * 3 + [0.0] * 2, 5 + count


def cut_after(count):
    """A mixed list of which the first documents are shown."""
    return [1.0, 1.0, 0.0, -1.0, 1.0, -1.0, 0.0, -1.0, 1.0, -1.0], count


# What is seen, the label of its axis, its steps, and at each the gains from the top and how many
# documents are shown.
PANELS = (
    (
        "One document of ten is relevant. The further to the right, the lower it stands.",
        "place of the relevant document",
        PLACES,
        moved_down,
    ),
    (
        "Forbidden documents stand above three relevant ones. There are five forbidden ones; those "
        "that are not shown are hidden.",
        "forbidden documents shown",
        COUNTS,
        forbidden_above,
    ),
    (
        "Documents that nobody has judged stand above three relevant ones.",
        "unjudged documents above",
        COUNTS,
        unjudged_above,
    ),
    (
        "Only the first documents of a list are shown, the others are hidden. From the top, their "
        "gains are 1, 1, 0, −1, 1, −1, 0, −1, 1, −1: 1 is relevant, −1 is forbidden.",
        "documents shown, from the top",
        range(11),
        cut_after,
    ),
)


def values(name, steps, scene) -> np.ndarray | None:
    """The measure's value at each step, None where such labels are an error."""
    gains, scores, groups = [], [], []
    for step in steps:
        labels, shown = scene(step)
        gains += labels
        scores += [-float(place) if place < shown else OUT for place in range(len(labels))]
        groups += [step] * len(labels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        try:
            return MEASURES[name].per_query(gains, scores, groups=groups)
        except ValueError:
            return None


def of(name) -> str:
    """The pictures of a measure as SVG in the page, in the colours of its text."""
    figures = []
    for number, (caption, label, steps, scene) in enumerate(PANELS):
        curve = values(name, steps, scene)
        shown = (
            "<p>Such labels are an error.</p>"
            if curve is None
            else drawn(list(steps), curve, label, f"{name}-{number}")
        )
        figures.append(f"<figure>{shown}<figcaption>{caption}</figcaption></figure>")
    return "\n".join(["```{raw} html", '<div class="pictures">', *figures, "</div>", "```"])


def drawn(steps, curve, label, key) -> str:
    """A curve as SVG."""
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": key, "font.size": 10}):
        figure = Figure(figsize=(3.6, 2.2))
        # Fixed margins: to compute them takes longer than to draw.
        axis = figure.add_axes((0.19, 0.22, 0.79, 0.74))
        axis.plot(steps, curve, "o-", color="#3a7fbf", markersize=4)
        axis.spines[["top", "right"]].set_visible(False)
        axis.set_xticks(steps)
        axis.set(xlabel=label, ylabel="value")
        axis.margins(y=0.15)
        for patch in (figure.patch, axis.patch):
            patch.set_visible(False)
        text = io.StringIO()
        FigureCanvasSVG(figure).print_svg(text, metadata={"Date": None})
    svg = text.getvalue()
    svg = svg[svg.index("<svg") :].replace("#000000", "currentColor").strip()
    # Text that names no colour is black; the caption says what is seen.
    return svg.replace("<svg ", '<svg fill="currentColor" aria-hidden="true" ', 1)

"""What a measure rewards, in small pictures: its value as one thing of a list changes."""

import io
import warnings
from functools import cache

import numpy as np

from skfilterrank._core.measure import MEASURES
from skfilterrank.exceptions import DataWarning

OUT, UNJUDGED = -np.inf, np.nan
# Each picture is a question, the label below it, and lists (gains from the top, shown or not).
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


PANELS = (
    ("One relevant document, at place", PLACES, moved_down),
    ("3 relevant; forbidden shown above", COUNTS, forbidden_above),
    ("3 relevant; unjudged above", COUNTS, unjudged_above),
    ("+ + 0 − + − 0 − + −, shown", range(11), cut_after),
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
            return MEASURES[name].function(gains, scores, groups=groups, average=None)
        except ValueError:
            return None


def of(name) -> str:
    """The pictures of a measure as SVG in the page, in the colours of its text."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": name, "font.size": 9}):
        figure = Figure(figsize=(7.2, 4.2), layout="constrained")
        axes = figure.subplots(2, 2, sharey=False).flat
        for axis, (label, steps, scene) in zip(axes, PANELS):
            curve = values(name, steps, scene)
            axis.set_xlabel(label)
            if curve is None:
                axis.text(0.5, 0.5, "an error", ha="center", transform=axis.transAxes)
                continue
            axis.plot(list(steps), curve, "o-", color="#3a7fbf", markersize=4)
            axis.spines[["top", "right"]].set_visible(False)
            axis.set_xticks(list(steps))
            axis.margins(y=0.15)
        text = io.StringIO()
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    svg = text.getvalue()
    svg = svg[svg.index("<svg") :].replace("#000000", "currentColor")
    svg = svg.replace("<svg ", f'<svg role="img" aria-label="{name} as a list changes" ', 1)
    # Text that names no colour is black.
    svg = svg.replace("<svg ", '<svg fill="currentColor" ', 1)
    return "\n".join(["```{raw} html", '<div class="picture">', svg.strip(), "</div>", "```"])

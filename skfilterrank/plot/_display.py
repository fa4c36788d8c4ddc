"""Base class of all displays, and helpers for colours, labels and numbers."""

from collections import Counter
from typing import Any

from skfilterrank._base.lazy_names import import_optional

# These colours can be distinguished by colour-blind readers, and in greyscale.
BETTER, WORSE, NEUTRAL = "#0072b2", "#e69f00", "0.6"
FONT_SIZE = 8  # points
LINE_HEIGHT = 1.4 * FONT_SIZE  # points
LABEL_LENGTH = 28  # characters
_HEAD = 6  # characters that are kept of a common prefix


class Display:
    """Base class of the displays, whose `plot` draws on matplotlib axes.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the drawing.
    figure_ : matplotlib Figure
        Figure of the axes.
    """

    ax_: Any
    figure_: Any

    def _open(self, ax, size):
        """Return `ax`, or the axes of a new figure of this size in inches if `ax` is None.

        Axes and figure are stored as attributes.
        """
        plt = import_optional("matplotlib.pyplot", "drawing", "'skfilterrank[plot]'")
        if ax is None:
            # The constrained layout keeps labels inside the figure.
            _, ax = plt.subplots(figsize=size, layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        return ax


def annotate(ax, text, place, offset, **options):
    """Write a text at an offset in points from a position, which may be outside the axes."""
    style = {"textcoords": "offset points", "fontsize": FONT_SIZE, "annotation_clip": False}
    return ax.annotate(text, place, offset, **style, **options)


def label_of_mean(measure_name) -> str:
    """Return the axis label for means by a measure; None stands for an unnamed measure."""
    return f"mean {(measure_name or 'measure').replace('ndcg', 'nDCG')}"


def points(ax):
    """Return the width and height of axes in points, before labels reduce them."""
    box = ax.get_position().transformed(ax.figure.transSubfigure - ax.figure.dpi_scale_trans)
    return 72 * box.width, 72 * box.height


def shorten(name, length=LABEL_LENGTH):
    """Replace the middle of a long name by "…"; its ends often distinguish similar names."""
    name = str(name)
    if len(name) <= length:
        return name
    tail = (length - 1) // 2
    return f"{name[: length - 1 - tail]}…{name[len(name) - tail :]}"


def shorten_all(names):
    """Shorten names so that they stay distinct.

    The middle of a long name is replaced by "…". Where this makes two names equal, their common
    prefix is cut instead.
    """
    names = list(map(str, names))
    short = [shorten(name) for name in names]
    for form in {form for form, count in Counter(short).items() if count > 1}:
        alike = [place for place, each in enumerate(short) if each == form]
        shared = _shared_beginning([names[place] for place in alike])
        for place in alike:
            rest = names[place][max(shared, _HEAD) :]
            short[place] = f"{names[place][:_HEAD]}…{shorten(rest, LABEL_LENGTH - _HEAD - 1)}"
    counts = Counter(short)
    return [each if counts[each] == 1 else name for each, name in zip(short, names)]


def _shared_beginning(names):
    """Return the length of the common prefix of all names."""
    letters = enumerate(zip(*names))
    return next((place for place, each in letters if len(set(each)) > 1), min(map(len, names)))


def number(value, digits):
    """Return a number as text with so many leading digits; large numbers have no exponent."""
    text = f"{value:.{digits}g}"
    return f"{value:.0f}" if "e+" in text else text

"""The base of all displays: axes, colours, labels and numbers."""

from collections import Counter
from typing import Any

from skfilterrank._lists.measure_names import parse_measure
from skfilterrank.exceptions import MissingPackageError

# Apart for readers who see few colours, and of different brightness in greyscale.
BETTER, WORSE, NEUTRAL = "#0072b2", "#e69f00", "0.6"
FONT_SIZE = 8  # points
LINE_HEIGHT = 1.4 * FONT_SIZE  # points
LABEL_LENGTH = 28  # characters
_HEAD = 6  # characters that are kept of a shared beginning


class Display:
    """Base of the displays: a `from_...` method makes one of data, `plot` draws it.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes that were drawn on.
    figure_ : matplotlib Figure
        Figure of the axes.
    """

    ax_: Any
    figure_: Any

    def _open(self, ax, size):
        """Return the axes given, or those of a new figure of this size (inches)."""
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise MissingPackageError(
                "drawing needs matplotlib: pip install 'skfilterrank[plot]'."
            ) from error
        if ax is None:
            # This layout cuts no label off.
            _, ax = plt.subplots(figsize=size, layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        return ax


def styled(options, **defaults):
    """Return keywords for matplotlib: defaults, and the user's options, which may be None."""
    return defaults | (options or {})


def annotate(ax, text, place, offset, **options):
    """Write a text at an offset in points from a place, which may lie outside the axes."""
    style = {"textcoords": "offset points", "fontsize": FONT_SIZE, "annotation_clip": False}
    return ax.annotate(text, place, offset, **style, **options)


def name_of_measure(measure) -> str:
    """Return the name of a measure with its cut-off; the measure is a name or a function."""
    return parse_measure(measure).text


def label_of_mean(measure_name) -> str:
    """Return the label of an axis of means over queries; None is any measure."""
    return f"mean {(measure_name or 'measure').replace('ndcg', 'nDCG')}"


def points(ax):
    """Return the width and height of axes in points, before labels take their room."""
    box = ax.get_position().transformed(ax.figure.transSubfigure - ax.figure.dpi_scale_trans)
    return 72 * box.width, 72 * box.height


def shorten(name, length=LABEL_LENGTH):
    """Cut the middle out of a long name: the ends tell variants apart."""
    name = str(name)
    if len(name) <= length:
        return name
    tail = (length - 1) // 2
    return f"{name[: length - 1 - tail]}…{name[len(name) - tail :]}"


def shorten_all(names):
    """Cut the middles out of long names, or their shared beginnings where names stay distinct."""
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
    """Count the letters with which all names begin."""
    letters = enumerate(zip(*names))
    return next((place for place, each in letters if len(set(each)) > 1), min(map(len, names)))


def number(value, digits):
    """Write the leading digits, without an exponent where a number is merely large."""
    text = f"{value:.{digits}g}"
    return f"{value:.0f}" if "e+" in text else text

"""Display of stability curves or sensitivity curves of measures."""

from collections.abc import Mapping
from typing import Self

from skfilterrank._lists.results import Result
from skfilterrank.exceptions import InputError, brief
from skfilterrank.plot._display import FONT_SIZE, Display, shorten_all

# The colours of Okabe and Ito can be distinguished by colour-blind readers; markers help in
# greyscale.
_COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#000000")
_MARKERS = "osD^vP"
_N_INSIDE = 5  # a legend with more names would cover the curves
# For each kind of curve: the attributes to draw as x and y, and the labels of the axes.
_KINDS = {
    "StabilityCurve": (
        ("n_queries", "error_rate"),
        ("number of queries", "error rate: decisions against the majority"),
    ),
    "SensitivityCurve": (
        ("alpha", "success_rate"),
        ("significance level", "success rate: pairs of systems told apart"),
    ),
}


class MeasureCurvesDisplay(Display):
    """Stability curves or sensitivity curves of one or several measures in one figure.

    A lower stability curve means a more stable measure. A measure that ties many systems is rarely
    wrong, so also compare the ``tie_rate`` of the curves. A higher sensitivity curve means a more
    sensitive measure.

    Parameters
    ----------
    curves : curve, sequence of curves or dict of str to curve
        Results of :func:`skfilterrank.metaevaluation.stability_curve`, or of
        :func:`skfilterrank.metaevaluation.sensitivity_curve`, for one or several measures. The keys
        of a dict name the curves; other curves have the names of their measures.

    Attributes
    ----------
    lines_ : dict of str to matplotlib Line2D
        Line of each curve, by its name.
    ax_ : matplotlib Axes
        Axes with the drawing.
    figure_ : matplotlib Figure
        Figure of the axes.

    Raises
    ------
    InputError
        If there is no curve, if curves are of different kinds or another kind, or if two curves
        have the same name.

    See Also
    --------
    skfilterrank.metaevaluation.stability_curve : Compute error rates by number of queries.
    skfilterrank.metaevaluation.sensitivity_curve : Compute success rates by significance level.

    Examples
    --------
    >>> import numpy as np
    >>> from skfilterrank.metaevaluation import stability_curve
    >>> from skfilterrank.plot import MeasureCurvesDisplay
    >>> values = np.random.RandomState(0).uniform(size=(3, 20)) + [[0], [0.1], [0.2]]
    >>> curves = {
    ...     name: stability_curve(each, sizes=[5, 10, 20])
    ...     for name, each in {"ap": values, "rr": values.round()}.items()
    ... }
    >>> sorted(MeasureCurvesDisplay(curves).plot().lines_)
    ['ap', 'rr']
    """

    def __init__(self, curves):
        self.curves = _named(curves)

    def plot(self, ax=None) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        MeasureCurvesDisplay
            The display itself, with the artists as attributes.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        ax = self._open(ax, (6.4, 4.4))
        from matplotlib.ticker import PercentFormatter

        self.lines_ = {}
        labels = shorten_all(self.curves)
        (x_name, y_name), (xlabel, ylabel) = _KINDS[type(next(iter(self.curves.values()))).__name__]
        for number, (name, curve) in enumerate(self.curves.items()):
            x, y = getattr(curve, x_name), getattr(curve, y_name)
            (self.lines_[name],) = ax.plot(
                x,
                y,
                color=_COLORS[number % len(_COLORS)],
                marker=_MARKERS[number % len(_MARKERS)],
                markersize=5,
                markevery=max(1, len(x) // 10),  # markers on all points would hide the line
                label=labels[number],
            )
        ax.set_ylim(bottom=0)
        ax.yaxis.set_major_formatter(PercentFormatter(1))
        ax.set(xlabel=xlabel, ylabel=ylabel)
        ax.grid(axis="y", color="0.9")
        ax.set_axisbelow(True)
        if all(line.get_xdata().dtype.kind == "i" for line in self.lines_.values()):
            ax.xaxis.get_major_locator().set_params(integer=True)
        outside = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0}
        ax.legend(fontsize=FONT_SIZE, **(outside if len(self.lines_) > _N_INSIDE else {}))
        return self


def _named(curves):
    """Return the curves as a dict by name; raise if names repeat or kinds differ."""
    if isinstance(curves, Result):
        curves = [curves]
    if not isinstance(curves, Mapping):
        curves = list(curves)
        names = [str(getattr(curve, "measure", None) or "measure") for curve in curves]
        for name in names:
            if names.count(name) > 1:
                raise InputError(
                    f"curves must have different names, but {names.count(name)} are of the "
                    f"measure {brief(name)}; pass a dict {{name: curve}}."
                )
        curves = dict(zip(names, curves))
    if not curves:
        raise InputError("curves must hold at least one curve, got none: pass a curve.")
    kinds = sorted({type(curve).__name__ for curve in curves.values()})
    if len(kinds) > 1 or kinds[0] not in _KINDS:
        raise InputError(
            "curves must all be results of stability_curve, or all of sensitivity_curve, got "
            f"{' and '.join(kinds)}."
        )
    return dict(curves)

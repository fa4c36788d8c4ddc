"""Stability and sensitivity of measures, drawn as curves."""

from collections.abc import Callable, Mapping
from typing import Self

from skfilterrank._lists.results import Result
from skfilterrank.exceptions import InputError, brief
from skfilterrank.metaevaluation import sensitivity_curve, stability_curve
from skfilterrank.plot._display import FONT_SIZE, Display, shorten_all, styled

# Okabe and Ito's colours, which colour-blind readers tell apart; markers for greyscale.
_COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#000000")
_MARKERS = "osD^vP"
_N_INSIDE = 5  # more names would cover the curves


class _MeasureCurvesDisplay(Display):
    """Curves of one or several measures in one picture."""

    _x: str  # attributes of a curve that are drawn
    _y: str
    _xlabel: str
    _ylabel: str
    _compute: Callable  # the curve of a measure's values

    def __init__(self, curves):
        self.curves = self._named(curves)

    @classmethod
    def from_scores(cls, scores, *, ax=None, line_kw=None, **params) -> Self:
        """Compute and draw the curves of one or several measures.

        Parameters
        ----------
        scores : SystemScores, what :meth:`SystemScores.of` reads, or dict of str to them
            Values of systems for queries; a dict names the curves.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.
        line_kw : dict or None, default=None
            Passed to matplotlib for all curves.
        **params
            Passed to the function that computes a curve, such as `random_state`.

        Returns
        -------
        Display
            The drawn display.

        Raises
        ------
        ValueError
            As the function that computes a curve; a note names the measure.
        ImportError
            If matplotlib is not installed.
        """
        if not isinstance(scores, Mapping):
            return cls.from_curves(cls._compute(scores, **params), ax=ax, line_kw=line_kw)
        curves = {}
        for name, each in scores.items():
            try:
                curves[name] = cls._compute(each, **params)
            except ValueError as error:
                error.add_note(f"This came up with {brief(name)}.")
                raise
        return cls.from_curves(curves, ax=ax, line_kw=line_kw)

    @classmethod
    def from_curves(cls, curves, *, ax=None, line_kw=None) -> Self:
        """Draw curves that are computed already.

        Parameters
        ----------
        curves : curve, sequence of curves or dict of str to curve
            The curves; a dict names them, others are named after their measures.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.
        line_kw : dict or None, default=None
            Passed to matplotlib for all curves.

        Returns
        -------
        Display
            The drawn display.

        Raises
        ------
        ValueError
            If there is no curve, one of another kind, or two are named alike.
        ImportError
            If matplotlib is not installed.
        """
        return cls(curves).plot(ax=ax, line_kw=line_kw)

    def plot(self, ax=None, *, line_kw=None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.
        line_kw : dict or None, default=None
            Passed to matplotlib for all curves.

        Returns
        -------
        Display
            Itself; the artists are attributes.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        ax = self._open(ax, (6.4, 4.4))
        from matplotlib.ticker import PercentFormatter

        self.lines_ = {}
        labels = shorten_all(self.curves)
        for number, (name, curve) in enumerate(self.curves.items()):
            x, y = getattr(curve, self._x), getattr(curve, self._y)
            style = styled(
                line_kw,
                color=_COLORS[number % len(_COLORS)],
                marker=_MARKERS[number % len(_MARKERS)],
                markersize=5,
                markevery=max(1, len(x) // 10),  # more markers would hide the line
                label=labels[number],
            )
            (self.lines_[name],) = ax.plot(x, y, **style)
        ax.set_ylim(bottom=0)
        ax.yaxis.set_major_formatter(PercentFormatter(1))
        ax.set(xlabel=self._xlabel, ylabel=self._ylabel)
        ax.grid(axis="y", color="0.9")
        ax.set_axisbelow(True)
        if all(line.get_xdata().dtype.kind == "i" for line in self.lines_.values()):
            ax.xaxis.get_major_locator().set_params(integer=True)
        outside = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0}
        ax.legend(fontsize=FONT_SIZE, **(outside if len(self.lines_) > _N_INSIDE else {}))
        return self

    @classmethod
    def _named(cls, curves):
        """Return the curves by name, all of the right kind."""
        if isinstance(curves, Result):
            curves = [curves]
        if not isinstance(curves, Mapping):
            curves = list(curves)
            names = [str(getattr(curve, "measure", None) or "measure") for curve in curves]
            for name in names:
                if names.count(name) > 1:
                    raise InputError(
                        f"curves: {names.count(name)} are of the measure {brief(name)}; give a "
                        "dict {name: curve} to tell them apart."
                    )
            curves = dict(zip(names, curves))
        for curve in curves.values():
            if getattr(curve, "_display", None) != cls.__name__:
                kind = cls.__name__.removesuffix("Display")
                raise InputError(f"curves must be of type {kind}, got {type(curve).__name__}.")
        if not curves:
            raise InputError("curves must hold at least one curve, got none.")
        return dict(curves)


class StabilityCurveDisplay(_MeasureCurvesDisplay):
    """Error rates of decisions from fewer queries, for one or several measures.

    Use :meth:`from_scores` or :meth:`from_curves` to make one. The lower the curve, the more
    stable the measure; but a measure that finds many systems equal is rarely wrong, so look at the
    ``tie_rate`` of the curves, too.

    Parameters
    ----------
    curves : result of stability_curve, list or dict of str to such results
        One or several curves; by name where they are of one measure.

    Attributes
    ----------
    lines_ : dict of str to matplotlib Line2D
        The error rate of each measure by the number of queries.
    ax_ : matplotlib Axes
        Axes that were drawn on.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    skfilterrank.metaevaluation.stability_curve : The numbers.
    SensitivityCurveDisplay : For how many pairs of systems a measure can tell.

    Examples
    --------
    >>> import numpy as np
    >>> from skfilterrank.comparison import SystemScores
    >>> from skfilterrank.plot import StabilityCurveDisplay
    >>> values = np.random.RandomState(0).uniform(size=(3, 20)) + [[0], [0.1], [0.2]]
    >>> scores = {"ap": SystemScores(values), "rr": SystemScores(values.round())}
    >>> display = StabilityCurveDisplay.from_scores(scores, sizes=[5, 10, 20])
    >>> sorted(display.lines_)
    ['ap', 'rr']
    """

    _x, _y = "n_queries", "error_rate"
    _xlabel = "number of queries"
    _ylabel = "error rate: decisions against the majority"
    _compute = staticmethod(stability_curve)


class SensitivityCurveDisplay(_MeasureCurvesDisplay):
    """Shares of pairs of systems that measures tell apart, by significance level.

    Use :meth:`from_scores` or :meth:`from_curves` to make one. The higher the curve, the more
    sensitive the measure.

    Parameters
    ----------
    curves : result of sensitivity_curve, list or dict of str to such results
        One or several curves; by name where they are of one measure.

    Attributes
    ----------
    lines_ : dict of str to matplotlib Line2D
        The success rate of each measure by the significance level.
    ax_ : matplotlib Axes
        Axes that were drawn on.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    skfilterrank.metaevaluation.sensitivity_curve : The numbers.
    StabilityCurveDisplay : How often fewer queries mislead.

    Examples
    --------
    >>> import numpy as np
    >>> from skfilterrank.comparison import SystemScores
    >>> from skfilterrank.plot import SensitivityCurveDisplay
    >>> values = np.random.RandomState(0).uniform(size=(3, 20)) + [[0], [0.1], [0.2]]
    >>> scores = {"ap": SystemScores(values), "rr": SystemScores(values.round())}
    >>> display = SensitivityCurveDisplay.from_scores(scores, n_resamples=100)
    >>> sorted(display.lines_)
    ['ap', 'rr']
    """

    _x, _y = "alpha", "success_rate"
    _xlabel = "significance level"
    _ylabel = "success rate: pairs of systems told apart"
    _compute = staticmethod(sensitivity_curve)

"""The measure against the share of queries that are answered, drawn."""

from collections.abc import Mapping
from typing import Self

from skfilterrank._lists.checks import check_choice
from skfilterrank.plot._axes import label_of_mean, name_of_measure, new_axes
from skfilterrank.thresholds import RiskCoverageCurve, risk_coverage_curve

CONFIDENCES = ("best_score", "score_gap", "score_std", "score_regression")


class RiskCoverageDisplay:
    """A measure against the share of queries that are answered, for one confidence or several.

    Use :meth:`from_predictions` to make one.

    Parameters
    ----------
    curves : RiskCoverageCurve or dict of str to RiskCoverageCurve
        The curves by name.
    measure_name : str or None, default=None
        Label of the vertical axis.
    over : {"all", "answered"}, default="all"
        Queries that are averaged: all, where a query that is not answered is shown nothing, or
        the answered ones alone.

    Attributes
    ----------
    lines_ : list of matplotlib Line2D
        The curves.
    marked_ : list of matplotlib Line2D
        The markers of the best shares; empty where `over` is "answered".
    ax_ : matplotlib Axes
        Axes that were drawn on.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    skfilterrank.thresholds.risk_coverage_curve : The numbers.

    Examples
    --------
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.plot import RiskCoverageDisplay
    >>> _, y, groups, scores = make_rank_and_filter(200, random_state=0)
    >>> display = RiskCoverageDisplay.from_predictions(y, scores, groups=groups)
    >>> len(display.lines_)
    4
    """

    def __init__(self, curves, *, measure_name=None, over="all"):
        self.curves = curves
        self.measure_name = measure_name
        self.over = over

    @classmethod
    def from_predictions(
        cls,
        y_true,
        y_score,
        *,
        groups=None,
        confidences=CONFIDENCES,
        gains=None,
        measure="ndcg_f",
        over="all",
        ax=None,
        **kwargs,
    ) -> Self:
        """Compute and draw the curves of some scores.

        Parameters
        ----------
        y_true, y_score, groups, gains, measure
            As in :func:`skfilterrank.thresholds.risk_coverage_curve`.
        confidences : str, sequence of str, or dict of str to array-like
            Names of confidences, by default all four, or own confidences by name.
        over : {"all", "answered"}, default="all"
            As in the class.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.
        **kwargs
            Passed to :meth:`plot`.

        Returns
        -------
        RiskCoverageDisplay
            The drawn display.
        """
        if isinstance(confidences, str):
            confidences = [confidences]
        if not isinstance(confidences, Mapping):
            confidences = {name: name for name in confidences}
        params = {"groups": groups, "gains": gains, "measure": measure}
        curves = {
            name: risk_coverage_curve(y_true, y_score, confidence=each, **params)
            for name, each in confidences.items()
        }
        return cls(curves, measure_name=name_of_measure(measure), over=over).plot(ax=ax, **kwargs)

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
        RiskCoverageDisplay
            Itself; the artists are attributes.

        Raises
        ------
        ValueError
            If `over` is unknown.
        ImportError
            If matplotlib is not installed.
        """
        check_choice(self.over, "over", ("all", "answered"))
        ax = new_axes(ax, (6.4, 4.8))
        curves = self.curves
        if isinstance(curves, RiskCoverageCurve):
            curves = {"": curves}
        self.lines_, self.marked_ = [], []
        for name, curve in curves.items():
            label = f"{name} (area {curve.area:.2f})".strip()
            values = curve.values if self.over == "all" else curve.answered_values
            (line,) = ax.plot(curve.shares, values, label=label, **(line_kw or {}))
            self.lines_.append(line)
            if self.over == "all":
                place = [curve.best_share], [curve.best_value]
                self.marked_ += ax.plot(*place, "o", color=line.get_color())
        ax.set_xlabel("share of queries that are answered")
        ax.set_ylabel(label_of_mean(self.measure_name))
        ax.set_xlim(0, 1)
        ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self

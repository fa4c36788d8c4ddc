"""A picture of shown and hidden documents against the price of a forbidden one."""

from typing import Self

from skfilterrank.plot._axes import new_axes
from skfilterrank.thresholds import TradeOffCurve, trade_off_curve

_LINES = {
    "forbidden_shown": "queries shown a forbidden document",
    "good_hidden": "good documents hidden",
    "empty": "queries shown nothing",
}


class TradeOffDisplay:
    """Shown and hidden documents against the price of a forbidden one.

    Use :meth:`from_predictions` to make one.

    Parameters
    ----------
    curve : TradeOffCurve
        The numbers.

    Attributes
    ----------
    lines_ : dict of str to matplotlib Line2D
        The lines "forbidden_shown", "good_hidden" and "empty".
    ax_ : matplotlib Axes
        Axes that were drawn on.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    skfilterrank.thresholds.trade_off_curve : The numbers.

    Examples
    --------
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.plot import TradeOffDisplay
    >>> _, y, groups, scores = make_rank_and_filter(200, random_state=0)
    >>> display = TradeOffDisplay.from_predictions(y, scores, groups=groups)
    >>> list(display.lines_)
    ['forbidden_shown', 'good_hidden', 'empty']
    """

    def __init__(self, curve: TradeOffCurve):
        self.curve = curve

    @classmethod
    def from_predictions(
        cls, y_true, y_score, *, groups=None, ax=None, line_kw=None, **params
    ) -> Self:
        """Compute and draw the curve of some scores.

        Parameters
        ----------
        y_true, y_score, groups
            As in :func:`skfilterrank.thresholds.trade_off_curve`.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.
        line_kw : dict or None, default=None
            Passed to matplotlib for all lines.
        **params
            Passed to :func:`skfilterrank.thresholds.trade_off_curve`: `prices`, `measure`, `gains`.

        Returns
        -------
        TradeOffDisplay
            The drawn display.
        """
        curve = trade_off_curve(y_true, y_score, groups=groups, **params)
        return cls(curve).plot(ax=ax, line_kw=line_kw)

    def plot(self, ax=None, *, line_kw=None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.
        line_kw : dict or None, default=None
            Passed to matplotlib for all lines.

        Returns
        -------
        TradeOffDisplay
            Itself; the artists are attributes.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        ax = new_axes(ax, (6.4, 4.8))
        self.lines_ = {}
        for (name, label), marker in zip(_LINES.items(), "os^"):
            style = {"marker": marker, "label": label} | (line_kw or {})
            (self.lines_[name],) = ax.plot(self.curve.prices, getattr(self.curve, name), **style)
        ax.set_xscale("log")
        ax.set_xlabel("price of a forbidden document (gain, negated)")
        ax.set_ylabel("share")
        ax.set_ylim(bottom=0)
        ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self

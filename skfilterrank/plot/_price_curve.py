"""What is shown and hidden against the price of a forbidden document, drawn."""

from typing import Self

from skfilterrank.plot._axes import new_axes
from skfilterrank.ranking import PriceCurve, price_curve

_LINES = {
    "forbidden_shown": "queries shown a forbidden document",
    "good_hidden": "good documents hidden",
    "empty": "queries shown nothing",
}


class PriceCurveDisplay:
    """What is shown and hidden against what a forbidden document costs.

    Use :meth:`from_predictions` to make one.

    Parameters
    ----------
    curve : PriceCurve
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
    skfilterrank.ranking.price_curve : The numbers.

    Examples
    --------
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.plot import PriceCurveDisplay
    >>> _, y, groups, scores = make_rank_and_filter(200, random_state=0)
    >>> display = PriceCurveDisplay.from_predictions(y, scores, groups=groups, k=3)
    >>> list(display.lines_)
    ['forbidden_shown', 'good_hidden', 'empty']
    """

    def __init__(self, curve: PriceCurve):
        self.curve = curve

    @classmethod
    def from_predictions(
        cls, y_true, y_score, *, groups=None, ax=None, line_kw=None, **params
    ) -> Self:
        """Compute and draw the curve of some scores.

        Parameters
        ----------
        y_true, y_score, groups
            As in :func:`skfilterrank.ranking.price_curve`.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.
        line_kw : dict or None, default=None
            Passed to matplotlib for all lines.
        **params
            Passed to :func:`skfilterrank.ranking.price_curve`: `prices`, `k`, `gains`.

        Returns
        -------
        PriceCurveDisplay
            The drawn display.
        """
        curve = price_curve(y_true, y_score, groups=groups, **params)
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
        PriceCurveDisplay
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

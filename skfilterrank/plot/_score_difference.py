"""What each feature adds to the difference of two documents, drawn."""

from typing import Self

import numpy as np

from skfilterrank._lists.checks import check_count
from skfilterrank.plot._axes import (
    BETTER,
    FONT_SIZE,
    NEUTRAL,
    WORSE,
    new_axes,
    number,
    shorten_all,
)
from skfilterrank.ranking import ScoreDifference, score_difference


class ScoreDifferenceDisplay:
    """Bars of what features add to the difference of two scores, or of a score and the threshold.

    Use :meth:`from_estimator` to make one.

    Parameters
    ----------
    difference : ScoreDifference
        What :func:`skfilterrank.ranking.score_difference` returns.

    Attributes
    ----------
    bars_ : matplotlib BarContainer
        A bar for each row that is drawn, from top to bottom. They sum up to the difference.
    ax_ : matplotlib Axes
        Axes that were drawn on.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    skfilterrank.ranking.score_difference : The numbers.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from skfilterrank.plot import ScoreDifferenceDisplay
    >>> X = [[3.0, 0.0], [1.0, 1.0]]
    >>> display = ScoreDifferenceDisplay.from_estimator(Ridge().fit(X, [1, 0]), X, 0, 1)
    """

    def __init__(self, difference: ScoreDifference):
        self.difference = difference

    @classmethod
    def from_estimator(
        cls, model, X, document, other=None, *, groups=None, ax=None, **kwargs
    ) -> Self:
        """Explain and draw.

        Parameters
        ----------
        model, X, document, other, groups
            As in :func:`skfilterrank.ranking.score_difference`.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.
        **kwargs
            Passed to :meth:`plot`.

        Returns
        -------
        ScoreDifferenceDisplay
            The drawn display.
        """
        difference = score_difference(model, X, document, other, groups=groups)
        return cls(difference).plot(ax=ax, **kwargs)

    def plot(self, ax=None, *, n_features: int = 12) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.
        n_features : int, default=12
            How many features get a bar of their own, the largest contributions; one bar more is
            the sum of all others.

        Returns
        -------
        ScoreDifferenceDisplay
            Itself; the artists are attributes.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        check_count(n_features, "n_features")
        shown = self.difference
        table = shown.to_frame()
        parts = table["contribution"][: min(n_features, len(shown.features))]
        names, values = shorten_all(parts.index), parts.tolist()
        n_others = len(shown.features) - len(parts)
        if n_others:
            names.append(f"{n_others} others")
            values.append(table["contribution"].iloc[len(parts) : len(shown.features)].sum())
        if shown.other_values is None:
            names.append("baseline")
            values.append(shown.baseline)
        ax = new_axes(ax, (6.4, 1.2 + 0.28 * len(names)))
        colors = [BETTER if value > 0 else WORSE if value < 0 else NEUTRAL for value in values]
        places = np.arange(len(names))
        self.bars_ = ax.barh(places, values, color=colors)
        ax.bar_label(self.bars_, [number(value, 3) for value in values], fontsize=FONT_SIZE)
        ax.axvline(0, color="0.4", linewidth=0.8)
        ax.set_yticks(places, names)
        ax.invert_yaxis()
        ax.margins(x=0.15)
        ax.set_xlabel(f"adds to the difference ({shown.scale})")
        ax.set_title(str(shown).partition("\n")[0])
        self.ax_, self.figure_ = ax, ax.figure
        return self

"""Displays with named rows: intervals, and contributions of features to a score difference."""

from typing import Self

import numpy as np
import pandas as pd

from skfilterrank._lists.checks import check_count
from skfilterrank.exceptions import InputError, brief_list
from skfilterrank.plot._display import (
    BETTER,
    FONT_SIZE,
    NEUTRAL,
    WORSE,
    Display,
    number,
    shorten_all,
)
from skfilterrank.ranking import ScoreDifference

_COLUMNS = ("value", "low", "high")


class IntervalDisplay(Display):
    """Values of systems, or differences between systems, with their intervals.

    The method ``plot`` of a result of :func:`skfilterrank.judgments.estimate` draws one.

    Parameters
    ----------
    table : DataFrame of shape (n_rows, n_columns)
        Columns "value", "low" and "high"; other columns are not used. The index names the rows,
        from top to bottom. For differences, it has two levels: the first and the second system.
    label : str, default="value"
        Label of the axis.
    reference : float or None, default=None
        Value of a reference line, such as 0 for differences. Intervals that contain it are grey.

    Attributes
    ----------
    table : DataFrame of shape (n_rows, 3)
        Values and ends of the intervals.
    is_apart : ndarray of shape (n_rows,), bool
        True for intervals that do not contain the reference; True for all if there is none.
    lines_ : matplotlib LineCollection
        Intervals of the shown rows.
    marks_ : matplotlib PathCollection
        Values of the shown rows.
    ax_ : matplotlib Axes
        Axes with the drawing.
    figure_ : matplotlib Figure
        Figure of the axes.

    Raises
    ------
    InputError
        If the table lacks a column or has no row.

    See Also
    --------
    PairwiseComparisonDisplay : Differences of all pairs of systems, with significance.

    Examples
    --------
    >>> import pandas as pd
    >>> from skfilterrank.plot._named_rows import IntervalDisplay
    >>> table = pd.DataFrame({"value": [0.2, 0.1], "low": [0.1, -0.1], "high": [0.3, 0.3]},
    ...                      index=["new against old", "new against older"])
    >>> IntervalDisplay(table, label="difference in ap", reference=0).is_apart
    array([ True, False])
    """

    def __init__(self, table, *, label: str = "value", reference: float | None = None):
        table = pd.DataFrame(table)
        if table.empty or not table.columns.isin(_COLUMNS).sum() == len(_COLUMNS):
            raise InputError(
                f"table must have rows and the columns {brief_list(_COLUMNS)}, got "
                f"{len(table)} rows with {brief_list(table.columns)}."
            )
        self.table = table[list(_COLUMNS)].astype(float)
        self.label = label
        self.reference = reference
        # Comparisons with NaN are False, so without a reference no interval contains it.
        value = np.nan if reference is None else reference
        low, high = self.table["low"].to_numpy(), self.table["high"].to_numpy()
        self.is_apart = ~((low <= value) & (value <= high))

    def plot(self, ax=None, *, n_shown: int = 40) -> Self:
        """Draw the intervals.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.
        n_shown : int, default=40
            Largest number of rows to draw. If there are more, the first ones are drawn, and the
            title says so.

        Returns
        -------
        IntervalDisplay
            The display itself, with the artists as attributes.

        Raises
        ------
        InputError
            If `n_shown` is not a positive integer.
        ImportError
            If matplotlib is not installed.
        """
        check_count(n_shown, "n_shown")
        shown = self.table.head(n_shown)
        ax = self._open(ax, (7, 1.0 + 0.24 * len(shown)))
        places = np.arange(len(shown))
        colors = np.where(self.is_apart[: len(shown)], BETTER, NEUTRAL)
        self.lines_ = ax.hlines(places, shown["low"], shown["high"], color=colors)
        self.marks_ = ax.scatter(shown["value"], places, color=colors, s=16, zorder=3)
        if self.reference is not None:
            ax.axvline(self.reference, color="0.4", linewidth=0.8)
        keys = (key if isinstance(key, tuple) else (key,) for key in shown.index)
        names = map(" − ".join, zip(*map(shorten_all, zip(*keys))))
        ax.set_yticks(places, list(names), fontsize=FONT_SIZE)
        ax.set(ylim=(len(shown) - 0.4, -0.6), xlabel=self.label)
        if len(shown) < len(self.table):
            ax.set_title(f"the first {len(shown)} of {len(self.table):,}", fontsize="medium")
        return self


class ScoreDifferenceDisplay(Display):
    """Bars of the contributions of features to a difference of two scores.

    The second score may also be the threshold. ``score_difference(...).plot()`` draws one.

    Parameters
    ----------
    difference : ScoreDifference
        Result of :func:`skfilterrank.ranking.score_difference`.

    Attributes
    ----------
    bars_ : matplotlib BarContainer
        Bars of the drawn rows, from top to bottom. Their sum is the difference.
    ax_ : matplotlib Axes
        Axes with the drawing.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    skfilterrank.ranking.score_difference : Compute the contributions.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from skfilterrank.ranking import score_difference
    >>> X = [[3.0, 0.0], [1.0, 1.0]]
    >>> display = score_difference(Ridge().fit(X, [1, 0]), X, 0, 1).plot()
    >>> len(display.bars_)
    2
    """

    def __init__(self, difference: ScoreDifference):
        self.difference = difference

    def plot(self, ax=None, *, n_features: int = 12) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.
        n_features : int, default=12
            Number of features with a bar of their own; these have the largest contributions. One
            more bar shows the sum of all other features.

        Returns
        -------
        ScoreDifferenceDisplay
            The display itself, with the artists as attributes.

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
        ax = self._open(ax, (6.4, 1.2 + 0.28 * len(names)))
        colors = [BETTER if value > 0 else WORSE if value < 0 else NEUTRAL for value in values]
        places = np.arange(len(names))
        self.bars_ = ax.barh(places, values, color=colors)
        ax.bar_label(self.bars_, [number(value, 3) for value in values], fontsize=FONT_SIZE)
        ax.axvline(0, color="0.4", linewidth=0.8)
        ax.set_yticks(places, names)
        ax.invert_yaxis()
        ax.margins(x=0.15)
        title = str(shown).partition("\n")[0]
        ax.set(xlabel=f"adds to the difference ({shown.scale})", title=title)
        return self

"""Values in named rows: intervals, and contributions of features to a difference of scores."""

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
    """Values of systems, or differences between them, with their intervals.

    What :func:`skfilterrank.judgments.estimate` returns draws one by its ``plot``.

    Parameters
    ----------
    table : DataFrame of shape (n_rows, n_columns)
        Columns "value", "low" and "high"; others are not used. The index names the rows from the
        top; one of two levels, the first and the second system of each difference.
    label : str, default="value"
        Name of the axis.
    reference : float or None, default=None
        A value, such as 0 for differences: a line is drawn there, and intervals that hold it are
        grey.

    Attributes
    ----------
    table : DataFrame of shape (n_rows, 3)
        Values and ends of the intervals.
    is_apart : ndarray of shape (n_rows,), bool
        Intervals that do not hold the reference; all of them without one.
    lines_ : matplotlib LineCollection
        An interval for each row that is shown.
    marks_ : matplotlib PathCollection
        The values of these rows.
    ax_ : matplotlib Axes
        Axes that were drawn on.
    figure_ : matplotlib Figure
        Figure of the axes.

    Raises
    ------
    InputError
        If the table lacks a column or has no row.

    See Also
    --------
    PairwiseComparisonDisplay : Differences of all pairs that a test compared.

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
        # No number is at most NaN: without a reference no interval holds it.
        value = np.nan if reference is None else reference
        low, high = self.table["low"].to_numpy(), self.table["high"].to_numpy()
        self.is_apart = ~((low <= value) & (value <= high))

    def plot(self, ax=None, *, n_shown: int = 40) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.
        n_shown : int, default=40
            Number of rows to draw, the first ones; the title counts the others.

        Returns
        -------
        IntervalDisplay
            Itself; the artists are attributes.

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
    """Bars of what features add to the difference of two scores, or of a score and the threshold.

    ``score_difference(...).plot()`` draws one.

    Parameters
    ----------
    difference : ScoreDifference
        Result of :func:`skfilterrank.ranking.score_difference`.

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
    >>> from skfilterrank.ranking import score_difference
    >>> X = [[3.0, 0.0], [1.0, 1.0]]
    >>> display = score_difference(Ridge().fit(X, [1, 0]), X, 0, 1).plot()
    >>> len(display.bars_)
    2
    """

    def __init__(self, difference: ScoreDifference):
        self.difference = difference

    def plot(self, ax=None, *, n_features: int = 12) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.
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

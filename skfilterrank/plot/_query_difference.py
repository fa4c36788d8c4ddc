"""Display of the differences of two systems for each query, and of the queries that decide."""

from typing import Self

import numpy as np
import pandas as pd

from skfilterrank._base.checks import check_count
from skfilterrank._base.rounding import ROUNDING_OF_MEANS, merge_values
from skfilterrank.comparison import SystemScores
from skfilterrank.exceptions import InputError, brief
from skfilterrank.plot._display import (
    BETTER,
    FONT_SIZE,
    LINE_HEIGHT,
    NEUTRAL,
    WORSE,
    Display,
    number,
    points,
    shorten,
    shorten_all,
)


class QueryDifferenceDisplay(Display):
    """Sorted differences of two systems for each query, with the deciding queries named.

    The sum of the differences says which system is ahead. The *deciding* queries are the fewest
    queries, with the largest differences in favor of this system, without which it would not be
    ahead. Queries with equal differences are all deciding, or none of them is. If there are few
    deciding queries, the outcome depends on them. For preferences, only the sign counts, so all
    queries for which the leading system is preferred are deciding (see `n_needed`).

    Use :meth:`from_scores` to make a display.

    Parameters
    ----------
    differences : Series of shape (n_queries,), indexed by query
        Difference of the systems for each query, negative if the second system is better.
    first, second : str
        Names of the systems.
    measure : str, default="measure"
        Name of the measure.
    is_preference : bool, default=False
        True if only the signs of the differences have a meaning.

    Attributes
    ----------
    differences : Series of shape (n_queries,)
        Differences in descending order; equal differences keep the order of their queries. For
        preferences, they are -1, 0 and 1.
    leader : str or None
        Name of the system that is ahead; None if the sum of the differences is 0.
    deciding : DataFrame of shape (n_deciding, 2)
        The deciding queries (index "qid"), with the largest difference first. "difference" is the
        difference of the query. "left" is the sum of all differences without this query and the
        queries above it.
    n_needed : int
        Smallest number of queries without which the leader would not be ahead. It is less than the
        number of deciding queries only if several of these have equal differences.
    bars_ : matplotlib BarContainer
        Bars of the queries, in the order of `differences`.
    lines_ : list of matplotlib Line2D
        Lines from the bars of named queries to their names.
    names_ : list of matplotlib Text
        Names of the deciding queries.
    ax_ : matplotlib Axes
        Axes with the drawing.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    PairwiseComparisonDisplay : Heat map of all pairs of systems, over all queries.

    Examples
    --------
    >>> from skfilterrank.comparison import SystemScores
    >>> from skfilterrank.plot import QueryDifferenceDisplay
    >>> scores = SystemScores([[0.9, 0.5, 0.2], [0.1, 0.6, 0.3]], systems=["new", "old"],
    ...                       queries=["q1", "q2", "q3"], measure="ap")
    >>> display = QueryDifferenceDisplay.from_scores(scores)
    >>> display.leader
    'new'
    >>> display.deciding.round(3)
         difference  left
    qid
    q1          0.8  -0.2
    """

    def __init__(self, differences, *, first, second, measure="measure", is_preference=False):
        differences = pd.Series(differences, dtype=float)
        differences = np.sign(differences) if is_preference else differences
        self.differences = differences.sort_values(ascending=False, kind="stable")
        self.first = first
        self.second = second
        self.measure = measure
        self.is_preference = is_preference
        self.leader, self.deciding, self.n_needed = self._decide()

    @classmethod
    def from_scores(
        cls, scores, first=None, second=None, *, measure: str | None = None, ax=None, **kwargs
    ) -> Self:
        """Compute and draw the differences of two systems.

        Parameters
        ----------
        scores : SystemScores, or what :meth:`SystemScores.of` reads
            Values of systems for queries.
        first, second : str or None, default=None
            Names of the systems. None takes the system with the best
            mean; the system that the other parameter names is left out.
        measure : str or None, default=None
            Name of the measure, if `scores` has several.
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.
        **kwargs
            Passed to :meth:`plot`.

        Returns
        -------
        QueryDifferenceDisplay
            The drawn display.

        Raises
        ------
        ValueError
            If a name is unknown, if both names are the same, or if there are fewer than two
            systems.
        ImportError
            If matplotlib is not installed.
        """
        scores = SystemScores.of(scores, measure, least=(2, 1))
        free = (name for name in scores.means.index if name not in (first, second))
        first = next(free) if first is None else first
        second = next(free) if second is None else second
        if first == second:
            raise InputError(
                f"first and second must be two different systems, got {brief(first)} for both."
            )
        scores.select(systems=[first, second])  # raises for unknown names
        # Rounding errors are removed over all systems, as in the tests, so that ties are the same.
        values = dict(zip(scores.systems, merge_values(scores.oriented)))
        index = pd.Index(scores.queries, name="qid", tupleize_cols=False)
        display = cls(
            pd.Series(values[first] - values[second], index),
            first=first,
            second=second,
            measure=scores.measure or "measure",
            is_preference=scores.is_preference,
        )
        return display.plot(ax=ax, **kwargs)

    def plot(self, ax=None, *, n_named: int = 10) -> Self:
        """Draw the differences as bars.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.
        n_named : int, default=10
            Largest number of deciding queries to name. If there are more, those with the largest
            differences are named, and a text counts the others.

        Returns
        -------
        QueryDifferenceDisplay
            The display itself, with the artists as attributes.

        Raises
        ------
        ValueError
            If `n_named` is not a positive integer.
        ImportError
            If matplotlib is not installed.
        """
        check_count(n_named, "n_named")
        ax = self._open(ax, (8, 4.8))
        n_queries = len(self.differences)
        decides = self.differences.index.isin(self.deciding.index)
        # Colours by sign as index: 0, 1, and -1 for the last.
        colors = np.array([NEUTRAL, BETTER, WORSE])[np.sign(self.differences).astype(int)]
        # Many bars have no gaps, because gaps of about a pixel would look like stripes.
        width = 0.8 if n_queries <= 60 else 1.0
        self.bars_ = ax.bar(np.arange(n_queries), self.differences, color=colors, width=width)
        for bar, deciding in zip(self.bars_, decides):
            bar.set_alpha(1.0 if deciding or self.leader is None else 0.45)
        ax.axhline(0, color="0.2", linewidth=0.8)
        ax.set_xlim(-0.7, n_queries - 0.3)
        largest = float(self.differences.abs().max()) or 1.0
        low, high = float(self.differences.min()), float(self.differences.max())
        ax.set_ylim(min(low, -0.1 * largest) * 1.08, max(high, 0.1 * largest) * 1.08)
        kind = "preference by" if self.is_preference else "advantage in"
        ax.set(xticks=[], ylabel=f"{kind} {self.measure}")
        if self.is_preference:
            ax.set_yticks([-1, 0, 1])
        self._name_queries(ax, decides, n_named)
        self._draw_legend(ax)
        ax.set_title(self._verdict(), fontsize="medium")
        return self

    def _decide(self):
        """Find the leader, the deciding queries, and the number `n_needed`."""
        total = self.differences.sum()
        scale = ROUNDING_OF_MEANS * self.differences.abs().sum()
        sign = 0 if abs(total) <= scale else int(np.sign(total))
        gained = (sign * self.differences).sort_values(ascending=False, kind="stable")
        left = abs(total) - gained.cumsum()
        n_needed = int(np.argmax(left <= scale)) + 1 if sign else 0
        # With a tolerance, differences that only rounding errors make unequal stay together.
        taken = gained >= gained.iloc[n_needed - 1] - scale if sign else gained < -np.inf
        deciding = pd.DataFrame({"difference": sign * gained[taken], "left": sign * left[taken]})
        deciding.index.name = "qid"
        leader = {0: None, 1: self.first, -1: self.second}[sign]
        return leader, deciding, n_needed

    def _name_queries(self, ax, decides, n_named):
        """Write names of deciding queries at the edge beyond the bars, with readable distances."""
        self.lines_, self.names_ = [], []
        places = np.flatnonzero(decides)
        if not len(places):
            return
        up = self.leader == self.first
        places = places[:n_named] if up else places[::-1][:n_named]
        step = 1 if up else -1
        gap = LINE_HEIGHT * np.diff(ax.get_xlim())[0] / points(ax)[0]
        shown = step * _spread(step * places, gap)
        edge = ax.get_ylim()[1 if up else 0]
        for place, x in zip(places, shown):
            heights = [self.differences.iloc[place], edge]
            self.lines_ += ax.plot([place, x], heights, color="0.5", linewidth=0.6)
        texts = shorten_all(self.differences.index[places])
        if len(places) < len(self.deciding):
            shown = np.append(shown, shown[-1] + step * gap)
            texts.append(f"and {len(self.deciding) - len(places)} more")
        # Names are labels of ticks, because the layout of the figure makes room for these.
        ax.xaxis.set_ticks_position("top" if up else "bottom")
        ax.tick_params(axis="x", length=0, pad=2)
        ax.set_xticks(shown, texts, rotation=90, fontsize=FONT_SIZE)
        self.names_ = ax.get_xticklabels()

    def _draw_legend(self, ax):
        """Draw the legend of the colours, with the number of queries of each colour."""
        from matplotlib.patches import Patch

        verb = "preferred" if self.is_preference else "better"
        sign = np.sign(self.differences)
        entries = [
            (BETTER, f"{shorten(self.first)} {verb}", np.sum(sign > 0)),
            (WORSE, f"{shorten(self.second)} {verb}", np.sum(sign < 0)),
            (NEUTRAL, "equal", np.sum(sign == 0)),
        ]
        handles = [Patch(color=c, label=f"{text}: {count}") for c, text, count in entries if count]
        ax.legend(handles=handles, loc="best", fontsize=FONT_SIZE)

    def _verdict(self):
        """Return the title: a sentence that says which system is ahead."""
        if self.leader is None:
            return "neither system is ahead"
        n_queries = len(self.differences)
        leader = shorten(self.leader)
        if self.is_preference:
            return f"{leader} is preferred on {self.n_needed} more of {n_queries} queries"
        ahead = f"{leader} is ahead by {number(abs(self.differences.mean()), 3)} on average"
        best = "its best query" if self.n_needed == 1 else f"its {self.n_needed} best queries"
        return f"{ahead} over {n_queries} queries;\nwithout {best} it would not be"


def _spread(places, gap):
    """Increase ascending positions so that neighbors are at least `gap` apart."""
    steps = np.arange(len(places)) * gap
    return np.maximum.accumulate(places - steps) + steps

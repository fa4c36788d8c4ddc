"""Displays of compared systems: critical differences, all pairs, and two systems by query."""

from typing import Self

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from skfilterrank._base.checks import check_count, check_numbers
from skfilterrank._base.results import draws
from skfilterrank._base.rounding import ROUNDING_OF_MEANS, merge_values
from skfilterrank.comparison import PairwiseComparison, SystemScores, compare_systems
from skfilterrank.exceptions import InputError, brief, brief_list
from skfilterrank.plot._display import (
    BETTER,
    FONT_SIZE,
    LINE_HEIGHT,
    NEUTRAL,
    WORSE,
    Display,
    annotate,
    number,
    points,
    shorten,
    shorten_all,
)

_BAR_STEP = 0.5  # distance of bars, in rows
_ROW = 0.24  # height of a row in inches
_N_DOTTED = 40  # for more systems, dots would be too small to be seen


@draws(SystemScores)
class CriticalDifferenceDisplay(Display):
    """Critical difference diagram: bars join systems that are not significantly different.

    Systems are placed by their means on a line, with the best on the right, also if lower values
    are better. A bar covers neighboring systems if the first and the last of them do not differ
    significantly; only the longest bars are drawn. A test of single pairs may find differences
    within a bar; the heat map of :class:`PairwiseComparisonDisplay` shows all pairs. If the sign
    test finds the system with the worse mean significantly better, the diagram cannot show it, and
    has a note about it. Use :meth:`from_scores` to make a display.

    Parameters
    ----------
    comparison : PairwiseComparison
        All pairs of systems, compared by a two-sided test.
    n_shown : int, default=15
        Number of systems to show; these are the best. All systems take part in the test.

    Attributes
    ----------
    systems : tuple of str
        Names of the shown systems, the best first.
    values : ndarray of shape (n_shown,)
        Means of the shown systems, the best first.
    groups : list of tuple of str
        Names of the systems that each bar joins, at least two, the best first.
    critical_difference : float or None
        Smallest significant difference of two means by Tukey's test; None for other tests.
    against_means : list of tuple of str
        Pairs of shown systems for which the first is significantly better, but has the worse mean.
    n_hidden : int
        Number of systems that are not shown.
    n_hidden_level : int
        Number of systems that are not shown and not significantly worse than the best system.
    points_ : matplotlib Line2D
        Points at the means.
    stems_ : list of Line2D
        Lines from each mean to its name, the best first.
    names_ : list of Text
        Names and means of the systems, the best first.
    bars_ : list of Line2D
        Bar of each group.
    scale_ : Line2D or None
        Line with the length of the critical difference, if it fits into the diagram.
    note_ : Text
        Note below the diagram: critical difference, contradictions and systems that are not shown.
    ax_ : matplotlib Axes
        Axes with the drawing.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    PairwiseComparisonDisplay : Heat map of all pairs of systems.

    References
    ----------
    .. [1] Demšar, "Statistical comparisons of classifiers over multiple data sets", Journal of
       Machine Learning Research 7, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from skfilterrank.comparison import SystemScores
    >>> from skfilterrank.plot import CriticalDifferenceDisplay
    >>> values = np.random.RandomState(0).uniform(size=(3, 40)) + [[0], [0.6], [0]]
    >>> scores = SystemScores(values, systems=["a", "b", "c"], measure="ap")
    >>> CriticalDifferenceDisplay.from_scores(scores).groups
    [('a', 'c')]
    """

    def __init__(self, comparison: PairwiseComparison, *, n_shown: int = 15):
        check_count(n_shown, "n_shown")
        n_systems = comparison.scores.n_systems
        if len(comparison.first) < n_systems * (n_systems - 1) // 2:
            raise InputError(
                "comparison must test all pairs of systems: compare the systems without baseline=."
            )
        self.comparison = comparison
        self.n_shown = n_shown
        systems, better = _who_is_better(comparison)
        self.systems = systems[:n_shown]
        self.values = comparison.scores.means.to_numpy()[:n_shown]
        shown = better[:n_shown, :n_shown]
        self._runs = _level_runs(shown != 0)
        self.groups = [self.systems[start : stop + 1] for start, stop in self._runs]
        self.against_means = [
            (self.systems[row], self.systems[column])
            for row, column in np.argwhere(np.tril(shown > 0))
        ]
        self.n_hidden = n_systems - len(self.systems)
        self.n_hidden_level = int(np.count_nonzero(better[0, len(self.systems) :] <= 0))
        self.critical_difference = comparison.critical_difference

    @classmethod
    def from_scores(
        cls,
        scores,
        *,
        measure: str | None = None,
        test: str = "tukey",
        n_shown: int = 15,
        ax=None,
        **params,
    ) -> Self:
        """Compare systems and draw the result.

        Parameters
        ----------
        scores : SystemScores, or what :meth:`SystemScores.of` reads
            Values of at least two systems for at least two queries. Preferences are replaced by the
            ranks of the systems for each query (mid-ranks for ties), and the ranks are compared.
        measure : str or None, default=None
            Name of the measure, if `scores` has several.
        test : str, default="tukey"
            Significance test, as in :func:`skfilterrank.comparison.compare_systems`.
        n_shown : int, default=15
            Number of systems to show; these are the best. All systems take part in the test.
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.
        **params
            Passed to :func:`skfilterrank.comparison.compare_systems`, such as `alpha`.

        Returns
        -------
        CriticalDifferenceDisplay
            The drawn display.

        Raises
        ------
        ValueError
            In the same cases as :func:`skfilterrank.comparison.compare_systems`, and if pairs
            are missing because of a `baseline`.
        ImportError
            If matplotlib is not installed.
        """
        scores = SystemScores.of(scores, measure, least=(2, 2))
        if scores.is_preference:
            scores = scores.with_values(
                rankdata(-scores.oriented, axis=0),
                measure=f"rank by {scores.measure}",
                greater_is_better=False,
            )
        comparison = compare_systems(scores, test=test, **params)
        return cls(comparison, n_shown=n_shown).plot(ax)

    def plot(self, ax=None) -> Self:
        """Draw the diagram.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        CriticalDifferenceDisplay
            The display itself, with the artists as attributes.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        levels = _levels(self._runs)
        first_row = 0.9 + _BAR_STEP * (max(levels, default=-1) + 1)
        n_right = -(-len(self.systems) // 2)
        end = first_row + n_right
        ax = self._open(ax, (8, 1.2 + _ROW * (end + 1)))
        self._draw_scale(ax, end)
        style = {"color": "black", "linewidth": 3.5, "solid_capstyle": "round"}
        self.bars_ = []
        for (start, stop), level in zip(self._runs, levels):
            ends = self.values[[start, stop]]
            self.bars_ += ax.plot(ends, [0.6 + _BAR_STEP * level] * 2, **style)
        self._draw_names(ax, first_row, n_right)
        (self.points_,) = ax.plot(
            self.values, np.zeros(len(self.values)), "o", color=BETTER, clip_on=False, zorder=3
        )
        self._write_note(ax, end)
        title = f"joined by a bar: not significantly different at {self.comparison.alpha:g}"
        ax.set_title(f"{title}\n{self.comparison.test_text()}", fontsize="medium")
        return self

    def _draw_scale(self, ax, end):
        """Draw the axis of means at the top, with the best values on the right."""
        low, high = float(self.values.min()), float(self.values.max())
        margin = 0.05 * (high - low) or 0.05 * abs(high) or 1.0
        limits = (low - margin, high + margin)
        ax.set_xlim(limits if self.comparison.scores.greater_is_better else limits[::-1])
        ax.set(ylim=(end, 0), yticks=[])
        ax.spines[["left", "right", "bottom"]].set_visible(False)
        ax.xaxis.set_ticks_position("top")
        ax.xaxis.set_label_position("top")
        ax.set_xlabel(f"mean {self.comparison.scores.measure or 'score'} (better to the right)")

    def _draw_names(self, ax, first_row, n_right):
        """Write the names at both sides, with the outermost systems on top so that no lines cross.

        The best `n_right` systems are on the right side.
        """
        self.stems_, self.names_ = [], []
        n_shown = len(self.systems)
        worst, best = ax.get_xlim()
        # All means have as many decimals as show the largest mean with four digits.
        largest = float(np.abs(self.values).max())
        places = 3 - int(np.floor(np.log10(largest))) if largest else 0
        form = f".{min(max(places, 0), 6)}f"
        for rank, (name, value) in enumerate(zip(shorten_all(self.systems), self.values)):
            is_right = rank < n_right
            row = first_row + (rank if is_right else n_shown - 1 - rank)
            side = best if is_right else worst
            stem = [value, value, side], [0, row, row]
            self.stems_ += ax.plot(*stem, color="0.5", linewidth=0.8, zorder=1)
            text = f"{name}  {value:{form}}" if is_right else f"{value:{form}}  {name}"
            offset, ha = ((4, 0), "left") if is_right else ((-4, 0), "right")
            self.names_.append(annotate(ax, text, (side, row), offset, ha=ha, va="center"))

    def _write_note(self, ax, end):
        """Write the note below the diagram, and draw the length of the critical difference."""
        self.scale_ = None
        lines = []
        if self.critical_difference is not None:
            lines.append(f"critical difference {number(self.critical_difference, 4)}")
            low, high = sorted(ax.get_xlim())
            if 0 < self.critical_difference < high - low:
                middle, half = (low + high) / 2, self.critical_difference / 2
                ends = [middle - half, middle + half]
                (self.scale_,) = ax.plot(ends, [end, end], "|-", color="0.2", clip_on=False)
        if self.against_means:
            winner, loser = shorten_all(self.against_means[0])
            lines.append(f"contrary to the means, {winner} is significantly better than {loser}")
            if n_more := len(self.against_means) - 1:
                lines[-1] += f", and {n_more} more {'pair is' if n_more == 1 else 'pairs are'} so"
        if self.n_hidden:
            level = f"{self.n_hidden_level} of them not" if self.n_hidden_level else "all"
            lines.append(
                f"{self.n_hidden} more systems are not shown, {level} significantly worse than "
                "the best"
            )
        style = {"xycoords": "axes fraction", "ha": "center", "va": "top"}
        self.note_ = annotate(ax, "\n".join(lines), (0.5, 0), (0, -6), **style)


@draws(PairwiseComparison)
class PairwiseComparisonDisplay(Display):
    """Heat map of the differences of all pairs of systems, with significant differences marked.

    Systems are sorted by their means, with the best at the top and on the left. Blue means that the
    system of the row is better than the system of the column, and red that it is worse, also if
    lower values are better. Above the diagonal, the system of the row has the better mean. Colours
    and dots show the effect that the test uses. That of the sign test may contradict the means:
    then there is red above the diagonal. ``compare_systems(...).plot()`` draws one.

    Parameters
    ----------
    comparison : PairwiseComparison
        Result of :func:`skfilterrank.comparison.compare_systems`.

    Attributes
    ----------
    systems : tuple of str
        Names of the systems in the order of rows and columns.
    advantage : ndarray of shape (n_systems, n_systems)
        Advantage of the row over the column, positive if the row is better; NaN for pairs that were
        not compared. It is the difference of the means, or for the sign test its effect size.
    better : ndarray of shape (n_systems, n_systems), dtype int8
        1 if the row is significantly better than the column, -1 if it is significantly worse, else
        0.
    image_ : matplotlib AxesImage
        The heat map; pairs that were not compared are grey.
    marks_ : matplotlib PathCollection
        Dots on the significant cells. For more than 40 systems there are no dots, and cells that
        are not significant are grey.
    colorbar_ : matplotlib Colorbar
        Scale of the colours.
    ax_ : matplotlib Axes
        Axes with the drawing.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    CriticalDifferenceDisplay : Diagram of the best systems.
    QueryDifferenceDisplay : Differences of two systems for each query.

    Examples
    --------
    >>> import numpy as np
    >>> from skfilterrank.comparison import SystemScores, compare_systems
    >>> values = np.random.RandomState(0).uniform(size=(3, 40)) + [[0], [0.5], [0]]
    >>> scores = SystemScores(values, systems=["a", "b", "c"], measure="ap")
    >>> display = compare_systems(scores, test="t").plot()
    >>> display.systems
    ('b', 'a', 'c')
    >>> display.better
    array([[ 0,  1,  1],
           [-1,  0,  0],
           [-1,  0,  0]], dtype=int8)
    """

    def __init__(self, comparison: PairwiseComparison):
        self.comparison = comparison
        self.systems, self.better = _who_is_better(comparison)
        sign = 1 if comparison.scores.greater_is_better else -1
        # The sign test may contradict the means. Colours then show its effect size, so
        # that they do not contradict the dots.
        self._by_mean = comparison.interval_of == "mean difference"
        table = sign * comparison.matrix("difference" if self._by_mean else "effect_size")
        self.advantage = table.loc[list(self.systems), list(self.systems)].to_numpy()

    def plot(self, ax=None) -> Self:
        """Draw the heat map.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        PairwiseComparisonDisplay
            The display itself, with the artists as attributes.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        n_systems = len(self.systems)
        side = float(np.clip(4 + 0.3 * n_systems, 5.5, 11))
        ax = self._open(ax, (side + 0.8, side))
        # Estimated size of the heat map after labels and colour bar have taken their space.
        room = 0.7 * min(points(ax))
        largest = float(np.nanmax(np.abs(self.advantage))) or 1.0
        # If dots would be too small, only significant cells are coloured.
        is_dotted = n_systems <= _N_DOTTED
        shown = self.advantage if is_dotted else np.where(self.better, self.advantage, np.nan)
        self.image_ = ax.imshow(shown, cmap=_pale("RdBu"), vmin=-largest, vmax=largest)
        rows, columns = np.nonzero(self.better if is_dotted else [[]])
        size = min(0.4 * room / n_systems, 7) ** 2
        self.marks_ = ax.scatter(columns, rows, s=size, color="black", linewidths=0)
        self._label_systems(ax, room)
        measure = self.comparison.scores.measure or "score"
        self.colorbar_ = ax.figure.colorbar(self.image_, ax=ax, shrink=0.8)
        what = "difference of means" if self._by_mean else self.comparison.effect_name
        self.colorbar_.set_label(f"{measure}: row better than column\n({what})")
        mark = "dots: significant" if is_dotted else "grey: not significant"
        title = f"{mark} at {self.comparison.alpha:g}\n{self.comparison.test_text()}"
        ax.set_title(title, fontsize="medium")
        return self

    def _label_systems(self, ax, room):
        """Write as many names of systems as can be read, at even distances; `room` is in points."""
        n_fitting = max(1, int(room / LINE_HEIGHT))
        places = np.arange(0, len(self.systems), -(-len(self.systems) // n_fitting))
        names = shorten_all([self.systems[place] for place in places])
        ax.set_xticks(places, names, rotation=90, fontsize=FONT_SIZE)
        ax.set_yticks(places, names, fontsize=FONT_SIZE)


def _who_is_better(comparison):
    """Return the systems sorted by mean, and the matrix of significantly better systems.

    The matrix has 1 if the row is significantly better than the column, -1 if it is worse, else 0.
    """
    systems = tuple(comparison.scores.means.index)
    better = np.zeros((len(systems),) * 2, dtype=np.int8)
    better[comparison.first, comparison.second] = comparison.better()
    better -= better.T
    order = [comparison.scores.systems.index(system) for system in systems]
    return systems, better[np.ix_(order, order)]


def _level_runs(differs):
    """Find the longest runs of neighboring systems whose first and last do not differ.

    `differs` is a boolean matrix of sorted systems. Returns pairs (first position, last position).
    """
    runs, reached = [], 0
    for start, row in enumerate(differs):
        stop = int(np.flatnonzero(~row)[-1])
        if stop > max(start, reached):
            runs.append((start, stop))
            reached = stop
    return runs


def _levels(runs):
    """Assign each run the lowest level on which it does not overlap an earlier run."""
    levels, ends = [], []
    for start, stop in runs:
        level = next((k for k, end in enumerate(ends) if end < start), len(ends))
        ends[level : level + 1] = [stop]
        levels.append(level)
    return levels


def _pale(cmap):
    """Return a colour map without its dark ends, on which black dots would not be visible."""
    from matplotlib import colormaps
    from matplotlib.colors import LinearSegmentedColormap

    colors = colormaps.get_cmap(cmap)(np.linspace(0.12, 0.88, 256))
    return LinearSegmentedColormap.from_list("pale", colors).with_extremes(bad="0.8")


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
        given = pd.Series(differences)
        differences = pd.Series(check_numbers(given, "differences"), given.index, dtype=float)
        if (lacks := differences.isna()).any():
            raise InputError(
                f"differences has no value for the queries {brief_list(given.index[lacks])}: leave "
                "them out."
            )
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
            Names of the systems. None takes the system with the best mean among those that the
            other parameter does not name.
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

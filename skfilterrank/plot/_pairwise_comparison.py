"""All systems against all others, as a heat map."""

from typing import Self

import numpy as np

from skfilterrank.comparison import PairwiseComparison, compare_systems
from skfilterrank.plot._axes import FONT_SIZE, LINE_HEIGHT, new_axes, points, shorten_all

_N_DOTTED = 40  # dots on more systems are too small to be seen


class PairwiseComparisonDisplay:
    """Differences of all pairs of systems, the significant ones marked.

    Systems stand in the order of their means, the best at the top and on the left. Blue says that
    the system of the row is better than that of the column, red that it is worse, also where lower
    values are better; above the diagonal rows are the ones with the better means. Colours and dots
    say what the test goes by, so that of a test of signs or ranks they may contradict the means:
    then there is red above the diagonal. Use :meth:`from_scores` to make one.

    Parameters
    ----------
    comparison : PairwiseComparison
        What :func:`skfilterrank.comparison.compare_systems` returns.
    alpha : float or None, default=None
        Differences whose adjusted p value is at most this are marked; None takes the level of the
        comparison.

    Attributes
    ----------
    systems : tuple of str
        The systems in the order of rows and columns.
    advantage : ndarray of shape (n_systems, n_systems)
        By how much the mean of the row is better than that of the column. For the sign test, on
        what share of the queries that are not equal the row is better, less the share on which the
        column is; for Wilcoxon's the rank-biserial correlation. NaN for pairs that were not
        compared.
    better : ndarray of shape (n_systems, n_systems), dtype int8
        1 where the row is significantly better than the column, -1 where it is worse, else 0.
    image_ : matplotlib AxesImage
        The heat map; pairs that were not compared are grey.
    marks_ : matplotlib PathCollection
        A dot on each significant cell. For more than 40 systems there are none, and cells that
        are not significant are grey.
    colorbar_ : matplotlib Colorbar or None
        What the colours say.
    ax_ : matplotlib Axes
        Axes that were drawn on.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    CriticalDifferenceDisplay : Which of the best systems cannot be told apart.
    QueryDifferenceDisplay : Two systems, query by query.

    Examples
    --------
    >>> import numpy as np
    >>> from skfilterrank.comparison import SystemScores
    >>> from skfilterrank.plot import PairwiseComparisonDisplay
    >>> values = np.random.RandomState(0).uniform(size=(3, 40)) + [[0], [0.5], [0]]
    >>> scores = SystemScores(values, systems=["a", "b", "c"], measure="ap")
    >>> display = PairwiseComparisonDisplay.from_scores(scores, test="t")
    >>> display.systems
    ('b', 'a', 'c')
    >>> display.better
    array([[ 0,  1,  1],
           [-1,  0,  0],
           [-1,  0,  0]], dtype=int8)
    """

    def __init__(self, comparison: PairwiseComparison, *, alpha: float | None = None):
        self.comparison = comparison
        self.alpha = alpha = comparison.alpha if alpha is None else alpha
        scores = comparison.scores
        self.systems = tuple(scores.means.index)
        sign = 1 if scores.greater_is_better else -1
        # Signs and ranks may contradict the means, and colours should not contradict the dots.
        self._by_mean = comparison.interval_of == "mean difference"
        table = sign * comparison.matrix("difference" if self._by_mean else "effect_size")
        self.advantage = table.loc[list(self.systems), list(self.systems)].to_numpy()
        better = np.zeros((scores.n_systems,) * 2, dtype=np.int8)
        better[comparison.first, comparison.second] = comparison.better(alpha)
        better -= better.T
        order = [scores.systems.index(system) for system in self.systems]
        self.better = better[np.ix_(order, order)]

    @classmethod
    def from_comparison(cls, comparison: PairwiseComparison, *, ax=None, **kwargs) -> Self:
        """Draw what was compared already.

        Parameters
        ----------
        comparison : PairwiseComparison
            What :func:`skfilterrank.comparison.compare_systems` returns.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.
        **kwargs
            Passed to :meth:`plot`.

        Returns
        -------
        PairwiseComparisonDisplay
            The drawn display.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        return cls(comparison).plot(ax=ax, **kwargs)

    @classmethod
    def from_scores(cls, scores, *, ax=None, **params) -> Self:
        """Compare systems and draw the result.

        Parameters
        ----------
        scores : SystemScores, or what :meth:`SystemScores.of` reads
            Values of at least two systems for at least two queries.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.
        **params
            Passed to :func:`skfilterrank.comparison.compare_systems`, such as `test`, `alpha`
            or `measure`.

        Returns
        -------
        PairwiseComparisonDisplay
            The drawn display.

        Raises
        ------
        ValueError
            As :func:`skfilterrank.comparison.compare_systems`.
        ImportError
            If matplotlib is not installed.
        """
        return cls.from_comparison(compare_systems(scores, **params), ax=ax)

    def plot(self, ax=None, *, cmap="RdBu", colorbar=True, image_kw=None, mark_kw=None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.
        cmap : str or matplotlib Colormap, default="RdBu"
            Colours from the worst difference over none to the best.
        colorbar : bool, default=True
            Whether to draw what the colours say.
        image_kw : dict or None, default=None
            Passed to matplotlib for the heat map.
        mark_kw : dict or None, default=None
            Passed to matplotlib for the dots.

        Returns
        -------
        PairwiseComparisonDisplay
            Itself; the artists are attributes.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        n_systems = len(self.systems)
        side = float(np.clip(4 + 0.3 * n_systems, 5.5, 11))
        ax = new_axes(ax, (side + 0.8, side))
        # About what the labels and the colour bar will leave.
        room = 0.7 * min(points(ax))
        largest = float(np.nanmax(np.abs(self.advantage))) or 1.0
        shown = self.advantage
        if not self._is_dotted():
            shown = np.where(self.better != 0, shown, np.nan)
        style = {"cmap": _pale(cmap), "vmin": -largest, "vmax": largest} | (image_kw or {})
        self.image_ = ax.imshow(shown, **style)
        rows, columns = np.nonzero(self.better if self._is_dotted() else [[]])
        size = min(0.4 * room / n_systems, 7) ** 2
        style = {"s": size, "color": "black", "linewidths": 0} | (mark_kw or {})
        self.marks_ = ax.scatter(columns, rows, **style)
        self._label_systems(ax, room)
        measure = self.comparison.scores.measure or "score"
        self.colorbar_ = None
        if colorbar:
            self.colorbar_ = ax.figure.colorbar(self.image_, ax=ax, shrink=0.8)
            what = "difference of means" if self._by_mean else self.comparison.effect_name
            self.colorbar_.set_label(f"{measure}: row better than column\n({what})")
        ax.set_title(self._caption(), fontsize="medium")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _label_systems(self, ax, room):
        """Names of as many systems as can be read, at even distances."""
        n_fitting = max(1, int(room / LINE_HEIGHT))
        places = np.arange(0, len(self.systems), -(-len(self.systems) // n_fitting))
        names = shorten_all([self.systems[place] for place in places])
        ax.set_xticks(places, names, rotation=90, fontsize=FONT_SIZE)
        ax.set_yticks(places, names, fontsize=FONT_SIZE)

    def _caption(self):
        """Meaning of the dots."""
        mark = "dots: significant" if self._is_dotted() else "grey: not significant"
        return f"{mark} at {self.alpha:g}\n{self.comparison.test_text()}"

    def _is_dotted(self):
        """Tell if there is room for dots; without them, insignificant cells have no colour."""
        return len(self.systems) <= _N_DOTTED


def _pale(cmap):
    """A colour map without its darkest ends, on which black would not be seen; else grey."""
    from matplotlib import colormaps
    from matplotlib.colors import LinearSegmentedColormap

    colors = colormaps.get_cmap(cmap)(np.linspace(0.12, 0.88, 256))
    return LinearSegmentedColormap.from_list("pale", colors).with_extremes(bad="0.8")

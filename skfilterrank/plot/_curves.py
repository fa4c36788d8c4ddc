"""Displays of threshold curves, and of stability or sensitivity curves of measures."""

from collections.abc import Mapping
from typing import Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skfilterrank._base.checks import as_list
from skfilterrank._base.results import Result, draws
from skfilterrank._lists.queries import find_groups
from skfilterrank.exceptions import InputError, brief
from skfilterrank.metaevaluation import SensitivityCurve, StabilityCurve
from skfilterrank.plot._display import FONT_SIZE, Display, label_of_mean, number, shorten_all
from skfilterrank.thresholds import ThresholdCurve, threshold_curve

_SIZE = (6.4, 4.8)  # inches
_N_INSIDE = 5  # a legend with more names would cover the curves


@draws(ThresholdCurve)
class ThresholdCurveDisplay(Display):
    """Mean of a measure by filtering threshold.

    ``threshold_curve(...).plot()`` draws the curve of given scores, and :meth:`from_estimator` that
    of a fitted estimator.

    Parameters
    ----------
    curve : ThresholdCurve
        Curve over all queries.
    threshold : "best", float or None, default="best"
        Threshold to mark: "best" for the best threshold of the curve, or the threshold in use. None
        marks no threshold, because each query has its own.

    Attributes
    ----------
    line_ : matplotlib Line2D
        Line of the curve over all queries.
    marked_ : Line2D or None
        Marker of the threshold; it is at the edge if the threshold lies outside of the axes.
    everything_ : Line2D
        Horizontal line at the mean if everything is shown.
    ax_ : matplotlib Axes
        Axes with the drawing.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    skfilterrank.thresholds.threshold_curve : Compute the curve.

    Examples
    --------
    >>> from skfilterrank.plot import ThresholdCurveDisplay
    >>> from skfilterrank.thresholds import threshold_curve
    >>> y_true, y_score, groups = [2, 1, -1], [0.9, 0.5, 0.1], ["a", "a", "a"]
    >>> display = threshold_curve(y_true, y_score, groups=groups).plot()
    >>> isinstance(display, ThresholdCurveDisplay)
    True
    """

    def __init__(self, curve: ThresholdCurve, *, threshold="best"):
        self.curve = curve
        self.threshold = threshold

    @classmethod
    def from_estimator(cls, estimator, X=None, y=None, *, groups=None, ax=None) -> Self:
        """Draw the curve of a fitted threshold or RankAndFilter, and mark the threshold in use.

        Parameters
        ----------
        estimator : RankAndFilter or threshold estimator
            Fitted estimator. Without `X`, its threshold must have been chosen on a curve.
        X : array-like, sparse matrix, DataFrame or list of length n_rows, default=None
            Rows for which to draw the curve: documents, or scores if `estimator` is a threshold.
            None draws the curves on which the threshold was chosen.
        y : array-like of shape (n_rows,), default=None
            Labels of the rows; required with `X`.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. None looks for an index level "qid" on `y`, then on `X`.
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        ThresholdCurveDisplay
            The drawn display.

        Raises
        ------
        ValueError
            If `X` is None and the estimator has no curve, if only one of `X` and `y` is given, and
            in the same cases as :func:`skfilterrank.thresholds.threshold_curve`.
        NotFittedError
            If the estimator is not fitted.
        ImportError
            If matplotlib is not installed.

        Examples
        --------
        >>> from sklearn.linear_model import LogisticRegression
        >>> from skfilterrank.datasets import make_rank_and_filter
        >>> from skfilterrank.plot import ThresholdCurveDisplay
        >>> from skfilterrank.ranking import RankAndFilter
        >>> X, y, groups, _ = make_rank_and_filter(n_queries=300, random_state=0)
        >>> model = RankAndFilter(LogisticRegression(), measure="ndcg_f@3")
        >>> display = ThresholdCurveDisplay.from_estimator(model.fit(X, y, groups=groups))
        >>> display.ax_.get_ylabel()
        'mean nDCG_f@3'

        The curve of this model for other queries:

        >>> X, y, groups, _ = make_rank_and_filter(n_queries=300, random_state=1)
        >>> display = ThresholdCurveDisplay.from_estimator(model, X, y, groups=groups)
        >>> display.threshold == model.threshold_
        True
        """
        check_is_fitted(estimator)
        if (X is None) != (y is None):
            given, missing = ("y", "X") if X is None else ("X", "y")
            raise InputError(
                f"X and y must be given together, got {given} without {missing}: pass both, or "
                "neither of them."
            )
        cut = getattr(estimator, "filter_", estimator)
        threshold = cut.threshold_
        if X is not None:
            groups = find_groups(groups, y, X)
            if cut is estimator:
                scores = cut._checked(X, groups)[0]
            else:
                scores = estimator._scores_inside(X, groups, estimator._score_gains)
            params = {"groups": groups, "gains": estimator.gains, "measure": cut.measure_}
            curve = threshold_curve(y, scores, **params)
        elif hasattr(cut, "threshold_curve_"):
            curve = cut.threshold_curve_
            # A threshold without `threshold_` has its curve over other keys; `level_` is on them.
            threshold = cut.level_ if threshold is None else threshold
        else:
            raise InputError(
                f"estimator must have a threshold curve, but {type(cut).__name__} has none: fit a "
                "TunedThreshold, or pass X and y."
            )
        if threshold == curve.best_threshold:
            threshold = "best"
        return cls(curve, threshold=threshold).plot(ax)

    def plot(self, ax=None) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        ThresholdCurveDisplay
            The display itself, with the artists as attributes.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        ax = self._open(ax, _SIZE)
        low, high = self._range()
        self.line_ = _draw_steps(ax, self.curve, low, high)
        self.marked_ = self._draw_threshold(ax, low, high)
        level = self.curve.values[-1]
        label = f"nothing hidden: {level:.3f}"
        self.everything_ = ax.axhline(level, linestyle=":", color="0.4", zorder=0, label=label)
        ax.set(
            xlabel="threshold on the score (lower scores are hidden)",
            ylabel=label_of_mean(self.curve.measure),
            xlim=(low, high),
        )
        ax.legend()
        return self

    def _draw_threshold(self, ax, low, high):
        """Mark the threshold; if each query has its own, say so in the legend."""
        if self.threshold is None:
            ax.plot([], [], " ", label="each query has a threshold of its own")
            return None
        kind, threshold, value = "best", self.curve.best_threshold, self.curve.best_value
        if self.threshold != "best":
            kind, threshold = "used", self.threshold
            value = self.curve.value_at(threshold)
        label = f"{kind}: {value:.3f} at {number(threshold, 3)}"
        place = [float(np.clip(threshold, low, high))], [value]
        return ax.plot(*place, "o", color="C3", zorder=3, label=label)[0]

    def _range(self):
        """Return the lowest and highest score of the horizontal axis, with margins."""
        # The first threshold is infinite, because it hides everything.
        finite = self.curve.thresholds[1:]
        if not len(finite):
            return -1.0, 1.0
        low, high = finite.min(), finite.max()
        margin = 0.04 * (high - low) or 1.0
        return float(low - margin), float(high + margin)


def _draw_steps(ax, curve, low, high):
    """Draw a threshold curve as steps between the scores `low` and `high`."""
    # Thresholds fall, and the axis rises.
    thresholds, values = curve.thresholds[::-1], curve.values[::-1]
    # More than about 5,000 steps cannot be seen, and would only make files larger.
    every = max(1, len(thresholds) // 5000)
    picked = np.arange(0, len(thresholds), every)
    picked = np.union1d(picked, [np.argmax(values), len(thresholds) - 1])
    x = np.concatenate(([low], np.minimum(thresholds[picked], high)))
    values = values[picked]
    values = np.concatenate((values[:1], values))
    return ax.step(x, values, where="pre", color="C0", linewidth=2)[0]


# The colours of Okabe and Ito can be distinguished by colour-blind readers; markers help in
# greyscale.
_COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#000000")
_MARKERS = "osD^vP"
# For each kind of curve: the attributes to draw as x and y, and the labels of the axes.
_KINDS = {
    StabilityCurve: (
        ("n_queries", "error_rate"),
        ("number of queries", "error rate: decisions against the majority"),
    ),
    SensitivityCurve: (
        ("alpha", "success_rate"),
        ("significance level", "success rate: pairs of systems told apart"),
    ),
}


@draws(*_KINDS)
class MeasureCurvesDisplay(Display):
    """Stability curves or sensitivity curves of one or several measures in one figure.

    A lower stability curve means a more stable measure. A measure that ties many systems is rarely
    wrong, so also compare the ``tie_rate`` of the curves. A higher sensitivity curve means a more
    sensitive measure.

    Parameters
    ----------
    curves : curve, sequence of curves or dict of str to curve
        Results of :func:`skfilterrank.metaevaluation.stability_curve`, or of
        :func:`skfilterrank.metaevaluation.sensitivity_curve`, for one or several measures. The keys
        of a dict name the curves; other curves have the names of their measures.

    Attributes
    ----------
    lines_ : dict of str to matplotlib Line2D
        Line of each curve, by its name.
    ax_ : matplotlib Axes
        Axes with the drawing.
    figure_ : matplotlib Figure
        Figure of the axes.

    Raises
    ------
    ValueError
        If there is no curve, if curves are of different kinds or another kind, or if two curves
        have the same name.

    See Also
    --------
    skfilterrank.metaevaluation.stability_curve : Compute error rates by number of queries.
    skfilterrank.metaevaluation.sensitivity_curve : Compute success rates by significance level.

    Examples
    --------
    >>> import numpy as np
    >>> from skfilterrank.metaevaluation import stability_curve
    >>> from skfilterrank.plot import MeasureCurvesDisplay
    >>> values = np.random.RandomState(0).uniform(size=(3, 20)) + [[0], [0.1], [0.2]]
    >>> curves = {
    ...     name: stability_curve(each, sizes=[5, 10, 20])
    ...     for name, each in {"ap": values, "rr": values.round()}.items()
    ... }
    >>> sorted(MeasureCurvesDisplay(curves).plot().lines_)
    ['ap', 'rr']
    """

    def __init__(self, curves):
        self.curves = _named(curves)

    def plot(self, ax=None) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        MeasureCurvesDisplay
            The display itself, with the artists as attributes.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        ax = self._open(ax, (6.4, 4.4))
        from matplotlib.ticker import PercentFormatter

        self.lines_ = {}
        labels = shorten_all(self.curves)
        (x_name, y_name), (xlabel, ylabel) = _KINDS[type(next(iter(self.curves.values())))]
        for place, (name, curve) in enumerate(self.curves.items()):
            x, y = getattr(curve, x_name), getattr(curve, y_name)
            (self.lines_[name],) = ax.plot(
                x,
                y,
                color=_COLORS[place % len(_COLORS)],
                marker=_MARKERS[place % len(_MARKERS)],
                markersize=5,
                markevery=max(1, len(x) // 10),  # markers on all points would hide the line
                label=labels[place],
            )
        ax.set_ylim(bottom=0)
        ax.yaxis.set_major_formatter(PercentFormatter(1))
        ax.set(xlabel=xlabel, ylabel=ylabel)
        ax.grid(axis="y", color="0.9")
        ax.set_axisbelow(True)
        if all(line.get_xdata().dtype.kind == "i" for line in self.lines_.values()):
            ax.xaxis.get_major_locator().set_params(integer=True)
        outside = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0}
        ax.legend(fontsize=FONT_SIZE, **(outside if len(self.lines_) > _N_INSIDE else {}))
        return self


def _named(curves):
    """Return the curves as a dict by name; raise if names repeat or kinds differ."""
    if isinstance(curves, Result):
        curves = [curves]
    if not isinstance(curves, Mapping):
        curves = as_list(curves, "curves", "curves")
        names = [str(getattr(curve, "measure", None) or "measure") for curve in curves]
        for name in names:
            if names.count(name) > 1:
                raise InputError(
                    f"curves must have different names, but {names.count(name)} are of the "
                    f"measure {brief(name)}; pass a dict {{name: curve}}."
                )
        curves = dict(zip(names, curves))
    if not curves:
        raise InputError("curves must hold at least one curve, got none: pass a curve.")
    kinds = {type(curve) for curve in curves.values()}
    if len(kinds) > 1 or not kinds <= _KINDS.keys():
        got = " and ".join(sorted(kind.__name__ for kind in kinds))
        raise InputError(
            "curves must all be results of stability_curve, or all of sensitivity_curve, got "
            f"{got}."
        )
    return dict(curves)

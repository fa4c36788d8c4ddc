"""Rules that order lists by one score and hide documents with the help of a second one.

A rule is a path in one parameter, the level. At +inf nothing is shown, and at 0 everything is.
Levels are worth for each unit of harm, so that they mean the same in all lists:

* "ratio": show where r / h reaches the level, in the order of r;
* "price": show where r - level * h is above 0, in the order of this difference;
* "subset": show the subset, in the order of r, with the highest DCG of r minus level * h.

The rule "harm" needs no probabilities: it shows, in the order of the score, where minus the filter
score reaches the level, so that its path goes from +inf to -inf.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from sklearn.isotonic import isotonic_regression

from skfilterrank._core.additive import BlockFacts
from skfilterrank._core.lists import ListBlock, RankedLists
from skfilterrank._core.measure import ParsedMeasure
from skfilterrank.thresholds._risk_steps import ask_function, check_own_query

RULES = ("ratio", "price", "subset", "harm")
# Rules by which documents enter lists of one order, one after the other.
KEY_RULES = ("harm", "ratio")
# Levels of the other rules between nothing and everything.
N_LEVELS = 106
# Bins of equal size in which curves are learned, at most.
_N_BINS = 2000
# Equal values of a curve follow the score by so much, relative to themselves.
_TIE_BREAK = 1e-6
# Width of scores, at most, in widths of their middle half.
_MOST_MIDDLES = 10.0
# The lowest worth, relative to the mean, and the lowest probability of harm.
_LEAST_WORTH, _LEAST_HARM = 1e-3, 1e-9
# Queries for which the best subsets are searched together.
_N_TOGETHER = 2048


class RisingCurve(NamedTuple):
    """A curve of a score that rises everywhere: centred isotonic regression.

    Attributes
    ----------
    x, y : ndarray of shape (n_knots,)
        Knots, between which the curve is linear. Beyond them, and where neighbours are equal, it
        rises by a millionth of itself.
    centre, scale : float
        Place and width of the scores that it was learned from.
    """

    x: np.ndarray
    y: np.ndarray
    centre: float
    scale: float

    @classmethod
    def fit(cls, scores: np.ndarray, values: np.ndarray, least: float) -> "RisingCurve":
        """Fit the curve to values of scores that are sorted; `least` is its lowest value.

        Each stretch of equal values has its knot at its mean score. One value more, the mean of
        all, counts in each stretch, so that no stretch claims what few rows cannot tell.
        """
        x, y, n = _binned(scores, values)
        fitted = isotonic_regression(y, sample_weight=n)
        first = np.flatnonzero(np.append(True, fitted[1:] != fitted[:-1]))
        weights = np.add.reduceat(n, first)
        knots = np.add.reduceat(x * n, first) / weights
        mean = np.average(y, weights=n)
        levels = (fitted[first] * weights + mean) / (weights + 1.0)
        levels = np.maximum(np.maximum.accumulate(levels), least)
        centre, scale = float(scores[len(scores) // 2]), float(np.std(scores))
        # Stray scores, as of what was not retrieved, must not make all others look alike.
        middle = float(scores[3 * len(scores) // 4] - scores[len(scores) // 4])
        if middle > 0:
            scale = min(scale, _MOST_MIDDLES * middle)
        return cls(knots, levels, centre, scale if scale > 0 else 1.0)

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """Return the value at each score."""
        z = (scores - self.centre) / self.scale
        return np.interp(scores, self.x, self.y) * (1.0 + _TIE_BREAK * z / (1.0 + np.abs(z)))


def _binned(scores, values):
    """Means of sorted scores and of their values in bins, and sizes; equal scores share a bin."""
    first = np.flatnonzero(np.append(True, scores[1:] != scores[:-1]))
    if len(first) > _N_BINS:
        places = np.linspace(0, len(scores), _N_BINS, endpoint=False).astype(np.intp)
        # The first row of the same score.
        first = np.unique(first[np.searchsorted(first, places, side="right") - 1])
    n = np.diff(first, append=len(scores)).astype(np.float64)
    return np.add.reduceat(scores, first) / n, np.add.reduceat(values, first) / n, n


class Worth(NamedTuple):
    """What the two scores of a document say of it.

    Attributes
    ----------
    gain : RisingCurve
        Expected gain of a document that is not forbidden, by its score.
    harm : RisingCurve
        Probability that a document is forbidden, by its filter score.
    """

    gain: RisingCurve
    harm: RisingCurve

    @classmethod
    def fit(cls, gains, scores, filter_scores) -> "Worth":
        """Learn both curves from judged rows; gains are NaN where unjudged."""
        ((worth),) = fit_worths(gains, scores, filter_scores, [slice(None)])
        return worth

    def of(self, scores, filter_scores) -> tuple[np.ndarray, np.ndarray]:
        """Return the worth r = E[gain], counting 0 where forbidden, and the harm h of each row."""
        harm = np.minimum(self.harm(filter_scores), 1.0 - 1e-9)
        finite = np.where(np.isneginf(scores), self.gain.centre, scores)
        return self.gain(finite) * (1.0 - harm), harm


def fit_worths(gains, scores, filter_scores, parts) -> list[Worth]:
    """Learn curves from each of some parts of the rows, boolean masks, with one sort for all."""
    judged = ~np.isnan(gains) & ~np.isneginf(scores)
    harmless = np.flatnonzero(judged & (gains >= 0))
    by_score = harmless[np.argsort(scores[harmless], kind="stable")]
    judged = np.flatnonzero(judged)
    by_filter = judged[np.argsort(filter_scores[judged], kind="stable")]
    is_bad = (gains < 0).astype(np.float64)
    worths = []
    for part in parts:
        one, two = (
            rows if isinstance(part, slice) else rows[part[rows]] for rows in (by_score, by_filter)
        )
        least = _LEAST_WORTH * float(gains[one].mean()) if len(one) else 0.0
        gain = _curve(scores[one], gains[one], least if least > 0 else _LEAST_WORTH)
        worths.append(Worth(gain, _curve(filter_scores[two], is_bad[two], _LEAST_HARM)))
    return worths


def _curve(scores, values, least):
    """Fit a curve; without rows, a flat one."""
    if not len(scores):
        return RisingCurve(np.zeros(1), np.full(1, least), 0.0, 1.0)
    return RisingCurve.fit(scores, values, least)


class Point(NamedTuple):
    """The lists of a block at one point of a path.

    Attributes
    ----------
    levels : ndarray of shape (n_queries,)
        Level from which on each list is this one; -inf where a list has no more points.
    columns : ndarray of shape (n_queries, depth)
        What is shown, from the first place down, as columns of :class:`_Layout`; its width behind
        the end.
    """

    levels: np.ndarray
    columns: np.ndarray


class HidePath:
    """Lists of a rule along its path.

    Parameters
    ----------
    rule : {"ratio", "price", "subset", "harm"}
        The rule.
    worth, harm : ndarray of shape (n_rows,)
        Expected gain and probability of harm of each row; by the rule "harm" the filter score.
    most : int or None
        Documents of each list that are shown at most.
    levels : ndarray or None
        Levels of the rules "price" and "subset", falling, the last one 0.
    """

    def __init__(self, rule, worth, harm, *, most=None, levels=None):
        self.rule, self.worth, self.harm, self.most = rule, worth, harm, most
        self.levels = levels

    def keys(self) -> np.ndarray:
        """Return the level at which each row is first worth to be shown."""
        return -self.harm if self.rule == "harm" else self.worth / self.harm

    def points(self, layout: "_Layout") -> Iterator[Point]:
        """Yield the lists of a block from the one after showing nothing on."""
        if self.rule in KEY_RULES:
            return self._entries(layout)
        return self._at_levels(layout, self.levels)

    def at(self, layout: "_Layout", level: float) -> np.ndarray:
        """Return the columns shown of each list of a block at one level."""
        if self.rule not in KEY_RULES:
            return next(self._at_levels(layout, [level])).columns
        shown = layout.lay_out(self.keys(), -np.inf) >= level
        return _first_columns(shown & layout.is_there, layout.depth)

    def _entries(self, layout):
        """Rows enter by falling key, each at its place in the order of the scores."""
        keys = np.where(layout.is_there, layout.lay_out(self.keys(), -np.inf), -np.inf)
        cells = np.argsort(-keys, axis=1, kind="stable")
        keys = np.take_along_axis(keys, cells, axis=1)
        width = keys.shape[1]
        cells[np.isneginf(keys)] = width
        shown = np.full((len(keys), layout.depth), width)
        before = np.full((len(keys), layout.depth), -1)
        for step in range(int(layout.is_there.sum(axis=1).max(initial=0))):
            # Insert a number into sorted ones; what passes the last place is lost.
            before[:, 1:] = shown[:, :-1]
            shown = np.minimum(shown, np.maximum(before, cells[:, step, None]))
            yield Point(keys[:, step], shown)

    def _at_levels(self, layout, levels):
        """Lists at levels that all share."""
        worth, harm = layout.lay_out(self.worth, 0.0), layout.lay_out(self.harm, 1.0)
        worth = np.where(layout.is_there, worth, -1.0)
        choose = _by_price
        if self.rule == "subset":
            choose = _best_subsets
            worth = np.where(_is_beaten(harm, layout.depth), -1.0, worth)
        for level in levels:
            columns = choose(worth, harm, level, layout.depth)
            yield Point(np.full(len(columns), float(level)), columns)


class _Layout:
    """A block of lists as matrices, in the order in which a rule shows documents.

    Attributes
    ----------
    is_there : ndarray of shape (n_queries, width), bool
        Columns that hold a row that may be shown.
    depth : int
        Places of the longest list that may be shown.
    """

    def __init__(self, block: ListBlock, lists: RankedLists, most: int | None):
        self.block, self._index = block, lists.index
        self.cells = block.cells
        self.width = block.width
        self.depth = self.width if most is None else min(most, self.width)
        self.is_there = np.isfinite(block.sort_key.take(self.cells))

    def lay_out(self, values, fill):
        """Lay values of rows out in the order of the lists."""
        return self._index.take(values, self.block.layout, fill).take(self.cells)

    def sort_key(self, columns):
        """Return the place of each cell of the block where it is shown, else +inf."""
        keys = np.full((len(columns), self.width), np.inf)
        query, place = np.nonzero(columns < self.width)
        keys.ravel()[self.cells[query, columns[query, place]]] = place
        return keys


def order_of(rule: str, lists: RankedLists, worth: np.ndarray) -> RankedLists:
    """Return the lists in the order from which a rule starts: that of r, or of the score."""
    if rule == "harm":
        return lists.with_ties("stable")
    ordered = lists.with_scores(np.where(np.isneginf(lists.scores), -np.inf, worth))
    ordered.has_filtered = lists.has_filtered
    return ordered.with_ties("stable")


def _first_columns(shown, depth):
    """Columns where `shown` holds, the first ones first, the width behind the last."""
    width = shown.shape[1]
    result = np.full((len(shown), depth), width)
    place = np.cumsum(shown, axis=1)
    query, column = np.nonzero(shown & (place <= depth))
    result[query, place[query, column] - 1] = column
    return result


def _by_price(worth, harm, price, depth):
    """Columns of the rows whose worth is above their harm at a price, by the difference."""
    return _by_score(_priced(worth, harm, price), depth)


def _priced(worth, harm, price):
    return np.where(worth > price * harm, worth - price * harm, -np.inf)


def _by_score(scores, depth):
    """Columns of finite scores from the highest down."""
    width = scores.shape[1]
    if depth < width // 2:
        # Only the first places need an order.
        lowest = -np.partition(-scores, depth - 1, axis=1)[:, depth - 1, None]
        scores = np.where(scores >= lowest, scores, -np.inf)
    columns = np.argsort(-scores, axis=1, kind="stable")[:, :depth]
    columns[np.isneginf(np.take_along_axis(scores, columns, axis=1))] = width
    return columns


def _best_subsets(worth, harm, price, depth):
    """Columns of the subset of each list with the highest DCG of worth minus the price of harm.

    With rows in falling order of worth, j of them shown before row i, and at most `depth` in all,
    ``V(i, j) = max(V(i + 1, j), d(j + 1) r_i - price h_i + V(i + 1, j + 1))``.
    """
    width = worth.shape[1]
    result = np.full((len(worth), depth), width)
    # A row that loses at the first place loses at all.
    candidates = worth > price * harm
    discounts = 1.0 / np.log2(np.arange(2, depth + 2))
    for begin in range(0, len(worth), _N_TOGETHER):
        part = slice(begin, begin + _N_TOGETHER)
        query, column = np.nonzero(candidates[part])
        if not len(query):
            continue
        n_of_query = np.bincount(query, minlength=min(_N_TOGETHER, len(worth) - begin))
        place = np.arange(len(query)) - np.repeat(np.cumsum(n_of_query) - n_of_query, n_of_query)
        shape = (int(n_of_query.max()), len(n_of_query))
        columns = np.full(shape, width)
        columns[place, query] = column
        gain, cost = np.zeros(shape), np.ones(shape)
        gain[place, query] = worth[part][query, column]
        cost[place, query] = price * harm[part][query, column]
        result[part] = _solve(gain, cost, columns, discounts, width)
    return result


def _is_beaten(harm, depth):
    """Tell which rows have `depth` rows before them of at most their harm.

    Worth falls along the lists. No price lets such a row into a best subset: of the others, at
    least one is not in it, and would do better in its place.
    """
    beaten = np.zeros(harm.shape, dtype=bool)
    lowest = np.full((len(harm), depth), np.inf)
    before = np.full((len(harm), depth), -np.inf)
    for column in range(harm.shape[1]):
        own = harm[:, column]
        beaten[:, column] = lowest[:, -1] <= own
        before[:, 1:] = lowest[:, :-1]
        lowest = np.minimum(lowest, np.maximum(before, own[:, None]))
    return beaten


def _solve(gain, cost, columns, discounts, width):
    """Best subsets of lists that lie in the columns of matrices."""
    n_rows, n_queries = gain.shape
    depth = len(discounts)
    values = np.zeros((depth + 1, n_queries))
    takes = np.zeros((n_rows, depth, n_queries), dtype=bool)
    for row in range(n_rows - 1, -1, -1):
        # So many can have been shown before.
        n = min(row + 1, depth)
        taken = discounts[:n, None] * gain[row]
        taken -= cost[row]
        taken += values[1 : n + 1]
        np.greater(taken, values[:n], out=takes[row, :n])
        np.maximum(values[:n], taken, out=values[:n])
    result = np.full((n_queries, depth + 1), width)
    n_shown = np.zeros(n_queries, dtype=np.intp)
    every = np.arange(n_queries)
    for row in range(n_rows):
        is_taken = takes[row, np.minimum(n_shown, depth - 1), every] & (n_shown < depth)
        result[every, n_shown] = np.where(is_taken, columns[row], result[every, n_shown])
        n_shown += is_taken
    return result[:, :depth]


def levels_of(worth: np.ndarray, harm: np.ndarray, depth: int | None) -> np.ndarray:
    """Choose levels for the rules "price" and "subset" without a look at labels; they fall to 0.

    Half are quantiles of the levels r / h at which rows enter, and half lie closer and closer to
    where almost nothing is shown. Below the lowest, a row may still have to wait for the last place
    of its list, whose discount is lower.
    """
    keys = np.sort(worth / harm)[::-1]
    n = len(keys)
    n_each = (N_LEVELS - 20) // 2
    shares = np.concatenate([np.linspace(0, 1, n_each), np.geomspace(1.0 / n, 1, n_each)])
    found = keys[np.minimum((shares * n).astype(np.intp), n - 1)]
    last = 1.0 / np.log2((depth or n) + 1)
    below = keys[-1] * np.geomspace(1.0, min(last, 0.5), 20)
    # A row enters at its level by the rule "price" only below it.
    return np.append(np.unique(np.append(found, below))[::-1] * (1 - 1e-9), 0.0)


class PathValues(NamedTuple):
    """Values of a measure of each list along a path.

    Attributes
    ----------
    levels : ndarray of shape (n_queries, n_points)
        Falling levels at which lists change, -inf behind the last.
    values : ndarray of shape (n_queries, n_points + 1)
        The measure before the first of them, and from each on; NaN where undefined.
    """

    levels: np.ndarray
    values: np.ndarray


def path_values(path: HidePath, lists: RankedLists, measures) -> list[PathValues]:
    """Measure each list along a path, for several measures at once.

    Parameters
    ----------
    path : HidePath
        The path, of the same rows.
    lists : RankedLists
        Judged lists in the order of :func:`order_of`.
    measures : list of ParsedMeasure
        Measures with their cut-offs.
    """
    n_queries = lists.index.n_queries
    if path.rule in KEY_RULES:
        n_points = int(lists.index.sizes.max())
    else:
        n_points = len(path.levels)
    levels = np.full((n_queries, n_points), -np.inf)
    values = [np.full((n_queries, n_points + 1), np.nan) for _ in measures]
    depth = _deepest(measures, path.most)
    for block in lists.blocks():
        layout = _Layout(block, lists, depth)
        evaluators = [_Evaluator(layout, parsed) for parsed in measures]
        nothing = np.full((len(block.queries), layout.depth), layout.width)
        step = 0
        for own, evaluate in zip(values, evaluators):
            own[block.queries, 0] = evaluate(nothing)
        for step, point in enumerate(path.points(layout), 1):
            levels[block.queries, step - 1] = point.levels
            for own, evaluate in zip(values, evaluators):
                own[block.queries, step] = evaluate(point.columns)
        for own in values:
            own[block.queries, step + 1 :] = own[block.queries, step, None]
    return [PathValues(levels, each) for each in values]


def _deepest(measures, most):
    """Places that matter: all, unless lists end before or each measure has a cut-off."""
    if most is not None:
        return most
    cutoffs = [parsed.k if parsed.measure.takes_k else None for parsed in measures]
    # Measures that look for judged documents may look behind their cut-off.
    reads = any(parsed.measure.reads_unjudged for parsed in measures)
    return None if reads or None in cutoffs else max(cutoffs)


def losses_of_function(path: HidePath, lists: RankedLists, loss, labels, k) -> PathValues:
    """Ask a function ``loss(y_true, shown, groups)`` for the loss of each list along a path."""
    index, codes = lists.index, lists.index.codes()
    name = getattr(loss, "__name__", type(loss).__name__)
    layouts = [_Layout(block, lists, path.most) for block in lists.blocks()]
    points = [path.points(layout) for layout in layouts]
    n_points = int(index.sizes.max()) if path.rule in KEY_RULES else len(path.levels)
    levels = np.full((index.n_queries, n_points), -np.inf)
    shown = np.zeros(index.n_rows, dtype=bool)
    values = [ask_function(loss, name, labels, shown, codes, index.n_queries)]
    for step in range(n_points):
        for layout, own in zip(layouts, points):
            point = next(own, None)
            if point is None:
                continue
            columns = point.columns if k is None else point.columns[:, :k]
            is_shown = np.isfinite(layout.sort_key(columns))
            index.put(shown, layout.block.layout, is_shown)
            levels[layout.block.queries, step] = point.levels
        values.append(ask_function(loss, name, labels, shown, codes, index.n_queries))
        if step in (n_points // 2, n_points - 1):
            check_own_query(loss, name, labels, shown, codes, index.n_queries)
    return PathValues(levels, np.stack(values, axis=1))


class _Evaluator:
    """A measure of the lists of a block, whichever of their rows are shown."""

    def __init__(self, layout: _Layout, parsed: ParsedMeasure):
        block = layout.block
        entry = parsed.measure
        if entry.plain is not None and entry.own_reading is not None and entry.library is None:
            block, entry = block.with_reading(entry.own_reading), entry.plain
            parsed = parsed._replace(measure=entry)
        self._layout, self._block, self._parsed = layout, block, parsed
        self._kernel = entry.bind(parsed.k if entry.takes_k else None, parsed.options)
        self._offsets = (np.arange(len(block.queries)) * (layout.width + 1))[:, None]
        self._measure = self._by_kernel
        rate = getattr(self, f"_{entry.name}", None)
        if rate is not None and entry.own_reading is None:
            self._bad = self._padded(block.gains < 0)
            self._good = self._padded(block.gains > 0)
            self._measure = rate
        elif (form := self._as_sum(parsed)) is not None:
            self._form = form
            self._weights = self._padded(form.weights)
            place = np.arange(1, layout.depth + 1)
            query = np.arange(len(block.queries))[:, None]
            worth = np.asarray(form.worth(place, None, query), dtype=np.float64)
            self._worth = np.where(place <= (parsed.k or place[-1]), worth, 0.0)
            defined = form.is_defined
            if defined is None:
                defined = ~np.isnan(self._kernel(block))
            self._undefined = ~defined
            self._measure = self._by_sum

    def __call__(self, columns: np.ndarray) -> np.ndarray:
        """Return the value of each list that shows these columns."""
        return self._measure(columns)

    def _as_sum(self, parsed):
        """Return the measure as a sum whose terms depend on places alone, or None."""
        block = self._block
        if block.has_unjudged and parsed.measure.reads_unjudged:
            return None
        form = parsed.as_sum(BlockFacts(parsed, block))
        if form is None or form.uses_levels or form.by_shown or form.n_items is not None:
            return None
        return form

    def _padded(self, matrix):
        """Lay out a matrix of the block in the order of the lists, with 0 behind the last."""
        ordered = matrix.take(self._layout.cells)
        return np.hstack([ordered, np.zeros((len(ordered), 1), dtype=ordered.dtype)])

    def _shown(self, padded, columns):
        """Return the values at the shown places, up to the cut-off."""
        k = self._parsed.k
        columns = columns if k is None else columns[:, :k]
        return padded.take(columns + self._offsets)

    def _by_sum(self, columns):
        values = self._weights.take(columns + self._offsets)
        values *= self._worth
        values = values.sum(axis=1) + self._form.offset
        if self._form.finish is not None:
            query = np.arange(len(values))[:, None]
            values = self._form.finish(values[:, None], query)[:, 0]
        values[self._undefined] = np.nan
        return values

    def _by_kernel(self, columns):
        block = self._block.relisted(self._layout.sort_key(columns), "stable")
        return np.array(self._kernel(block), dtype=np.float64)

    def _any_forbidden(self, columns):
        return self._only_judged(self._shown(self._bad, columns).any(axis=1).astype(np.float64))

    def _forbidden(self, columns):
        bad = self._shown(self._bad, columns).sum(axis=1)
        k = self._parsed.k
        n_shown = (columns < self._layout.width).sum(axis=1)
        n_shown = n_shown if k is None else np.minimum(n_shown, k)
        return self._only_judged(bad / np.maximum(n_shown, 1))

    def _false_reject_rate(self, columns):
        n_good = self._good.sum(axis=1)
        n_shown = self._good.take(columns + self._offsets).sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(n_good > 0, (n_good - n_shown) / n_good, np.nan)

    def _only_judged(self, values):
        """Set lists without a judged document to NaN."""
        return np.where(self._block.n_judged > 0, values, np.nan)


def ordered_scores(rule, level, scores, worth, harm, index, most=None) -> np.ndarray:
    """Return the score by which each list is ordered, -inf where a document is hidden.

    Parameters
    ----------
    rule, level : str, float
        The rule and its level.
    scores, worth, harm : ndarray of shape (n_rows,)
        Score, expected gain and probability of harm of each row.
    index : GroupIndex
        The queries.
    most : int or None
        Documents of each list that are shown at most.
    """
    lists = _unjudged_lists(scores, index)
    path = HidePath(rule, worth, harm, most=most)
    order = order_of(rule, lists, worth)
    result = order.scores if rule != "price" else _priced(worth, harm, level)
    if rule == "price" and most is None:
        return np.where(np.isneginf(scores), -np.inf, result)
    if rule in KEY_RULES and most is None:
        return np.where(path.keys() >= level, result, -np.inf)
    shown = np.zeros(index.n_rows, dtype=bool)
    for block in order.blocks():
        layout = _Layout(block, order, most)
        is_shown = np.isfinite(layout.sort_key(path.at(layout, level)))
        index.put(shown, block.layout, is_shown)
    return np.where(shown, result, -np.inf)


def _unjudged_lists(scores, index):
    """Make lists of scores alone."""
    return RankedLists(np.zeros(index.n_rows), scores, groups=index)

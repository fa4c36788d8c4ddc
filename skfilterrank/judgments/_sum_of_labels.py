"""A measure as a sum over documents whose labels are uncertain, and what labels would change.

A measure that the library declares as a sum has the value

``F = offset(c) + scale(c) * sum of share(label_i) * (a_i + b_i * level_i)``

in a query, where ``c`` counts the query's labels, ``level_i`` the relevant documents down to
document i, and ``a`` and ``b`` depend on its place alone. For DCG, precision, RBP and the share
of forbidden documents the scale is the same whatever the labels are, and b is 0; nDCG_f has an
offset, too; for average precision b is 1 / place and the scale 1 over the number of relevant
documents.

Given some labels and probabilities of the others, this file gives the expected value of F, what one
label changes (the first terms of Hoeffding's decomposition), and what pairs of them change. Where
F is linear, the first terms are all there is. Else slopes of scale and offset in the counts are
those over drawn labels; pairs are the product of a document's change of the sum and another's of
the scale, of two changes of the scale, and for average precision that of a document and one above
it.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import sparse

from skfilterrank._base.checks import cached_property
from skfilterrank._base.rounding import ROUNDING_OF_MEANS
from skfilterrank._lists.additive import RowFacts
from skfilterrank._lists.measure import ParsedMeasure
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.exceptions import InputError, brief
from skfilterrank.judgments._label_model import Prediction
from skfilterrank.judgments._ranked_pool import RankedPool


class SumOfLabels:
    """The form of a measure for a pool and some gains.

    Parameters
    ----------
    parsed : ParsedMeasure
        The measure.
    pool : RankedPool
        Documents and places.
    gains : ndarray of shape (n_labels,)
        The gains that labels can have, ascending. The attribute has those that the measure sees:
        "ap(rel=2)" reads 0, 1, 2 as 0, 0, 1. The attribute `plain` is the measure of these, "ap".
    """

    def __init__(self, parsed: ParsedMeasure, pool: RankedPool, gains: np.ndarray):
        self.parsed, self.pool = parsed, pool
        self.plain, gains = self._read(gains)
        self.gains = gains
        n = max(int(pool.place.max(initial=1)), len(gains))
        # Two lists as long as the longest: one of all gains, one of the highest alone.
        listed = np.concatenate([gains[np.arange(n) % len(gains)], np.full(n, gains.max())])
        form = self._form(listed, np.array([n, n]))
        self.shares = form.weights[: len(gains)]
        largest = np.abs(self.shares).max()
        self.shares = self.shares / largest if largest > 0 else self.shares
        self.first, self.slope = self._position_weights(form)
        self._is_share_of_shown = form.by_shown
        self._counts_all = form.scale == "all"
        if form.by_shown:
            most = np.inf if self.plain.k is None else self.plain.k
            n_shown = np.minimum(pool.lengths, most)
            self.first = self.first / n_shown[pool.run, pool.codes[pool.row]]
        # Entries without an effect, such as those below the cut-off, are left out of all sums.
        shown = (self.first != 0) | (self.slope != 0)
        self.first, self.slope = self.first[shown], self.slope[shown]
        self.row, self.run = pool.row[shown], pool.run[shown]
        self.segment = pool.segment[shown]
        self.depth = int(pool.place[shown].max(initial=1))
        scale_depth = 0 if form.scale == "constant" else form.scale_depth
        self._is_depth_enough = scale_depth is not None and scale_depth <= self.depth
        is_constant = form.has_one_weight(self.shares) and not np.any(form.offset)
        self.is_linear = is_constant and not self.slope.any()

    def _read(self, gains):
        """Return the plain measure, and the gains after its options."""
        own, plain = self.parsed.measure.own_reading, self.parsed.measure.plain
        if own is None or plain is None:
            return self.parsed, gains
        if own.drops_unjudged or own.library is not None:
            raise InputError(
                f"{brief(self.parsed.text)} has a reading of its own of what is unjudged or tied "
                "(unjudged or like), and all that a sample leaves out is unjudged. Leave it out; "
                "rel and gains may stay."
            )
        # A gain of NaN means unjudged, which counts as gain 0 here.
        return self.parsed._replace(measure=plain), np.nan_to_num(own.of(gains))

    def _form(self, gains, sizes):
        """Return the declared sum of the measure, for lists of these gains."""
        starts = np.cumsum(sizes) - sizes
        index = GroupIndex(np.arange(len(sizes)), sizes, starts, None, len(gains))
        form = self.plain.as_sum(RowFacts(self.plain, gains, index))
        if form is None or form.finish is not None or form.n_items is not None:
            self._refuse("is no sum over the documents that a run returns")
        return form

    def _refuse(self, why):
        raise InputError(
            f"{brief(self.parsed.text)} {why}, and a sample of documents gives no interval for it: "
            "draw whole queries by {draw_sample(..., unit='query')}, judge the documents that it "
            "asks for, and measure these queries; or take a measure such as dcg, ndcg, ndcg_f, ap, "
            "precision@k, recall, rbp or forbidden@k.",
            argument="draw_sample(..., unit='query')",
        )

    def _position_weights(self, form):
        """Return the weights a and b of each entry."""
        place = self.pool.place
        if form.worth_of == "labels":
            self._refuse(
                "depends on the order of the relevant documents alone"
                if form.uses_levels
                else "looks at places that depend on the labels"
            )
        if form.worth_of == "place":
            first = form.worth(place, None, np.array([0]))
            return np.asarray(first, dtype=float), np.zeros(len(place))
        one, two = (
            np.asarray(form.worth(place, np.full(len(place), level), np.array([0])), dtype=float)
            for level in (1.0, 2.0)
        )
        slope = two - one
        return one - slope, slope

    def scale(self, counts: np.ndarray):
        """Compute scale and offset of queries from label counts, (n_queries, n_labels)."""
        if self._is_share_of_shown:
            return np.ones(len(counts)), np.zeros(len(counts))
        counts = self._as_read(counts)
        if self._is_depth_enough:
            counts = np.minimum(counts, self.depth)
        counts = counts.astype(np.int64)
        base = int(2 ** (62 / counts.shape[1]))
        if counts.max(initial=0) < base:
            # Each row becomes one number; distinct numbers are found in a tenth of the time.
            bases = base ** np.arange(counts.shape[1])
            inverse, keys = pd.factorize(counts @ bases, sort=True)
            counts = keys[:, None] // bases % base
        else:
            counts, inverse = np.unique(counts, axis=0, return_inverse=True)
        scale, offset = self._scale(counts)
        return scale[inverse.ravel()], offset[inverse.ravel()]

    def _as_read(self, counts):
        """Add up the counts of labels that act alike; put 1 where the scale ignores them."""
        alike, one = self._columns
        return counts.astype(float) @ alike + one

    @cached_property
    def _columns(self):
        """Matrix that adds up counts of labels with equal shares; a count of 1 for share 0.

        If the scale depends on the count of every label, the matrix is the identity.
        """
        _, first, number = np.unique(self.shares, return_index=True, return_inverse=True)
        identity = np.eye(len(self.shares))
        if self._counts_all:
            return identity, np.zeros(len(self.shares))
        alike = identity[first[number]] * (self.shares != 0)[:, None]
        return alike, identity[first][self.shares[first] == 0].sum(axis=0)

    def _scale(self, counts):
        sizes = counts.sum(axis=1)
        gains = np.repeat(np.tile(self.gains, len(counts)), counts.ravel())
        form = self._form(gains, sizes)
        ends = np.cumsum(counts.ravel()).reshape(counts.shape)
        usable = np.where(counts > 0, np.abs(self.shares), 0.0)
        label = usable.argmax(axis=1)
        queries = np.arange(len(counts))
        scale = np.zeros(len(counts))
        has_end = usable[queries, label] > 0
        row = ends[queries, label][has_end] - 1
        scale[has_end] = form.weights[row] / self.shares[label[has_end]]
        return scale, np.broadcast_to(np.asarray(form.offset, dtype=float), scale.shape)

    def influential(self) -> np.ndarray:
        """Return a mask of the rows whose label can change the value of any run."""
        if not self.is_linear:
            return np.ones(len(self.pool), dtype=bool)
        influential = np.zeros(len(self.pool), dtype=bool)
        influential[self.row[self.first != 0]] = True
        return influential

    def expand(self, prediction: Prediction, rows=(), labels=(), wanted=slice(None)) -> "Expansion":
        """Compute expected values, given the labels of some rows, and what labels change.

        Parameters
        ----------
        prediction : Prediction
            Probabilities of each label of each row, of known rows without their labels.
        rows, labels : ndarray of shape (n_known,)
            Known rows, and their labels by number.
        wanted : ndarray or slice, default=slice(None)
            Known rows whose changes will be asked for, as indices into `rows`.
        """
        pool, probabilities = self.pool, prediction.probabilities
        rows, labels = np.asarray(rows, dtype=np.intp), np.asarray(labels, dtype=np.intp)
        given = prediction.with_known(rows, labels)
        is_known = np.zeros(len(pool), dtype=bool)
        is_known[rows] = True
        n_runs = len(pool.runs)
        mine = (given.probabilities @ self.shares)[self.row]
        above = _sums_above(mine, self.segment)
        below = _sums_below(self.slope * mine, self.segment)
        worth = self.first + self.slope * (1 + above)
        total = _per_list(mine * worth, self)
        # Change of the sum when the share of a document goes from 0 to 1.
        effect = sparse.csr_array((worth + below, (self.row, self.run)), shape=(len(pool), n_runs))
        scale, slope, offset, offset_slope, correction = self._scales(given)
        centred = _centred(slope, probabilities, pool)
        # Joint effect of a document's label on the sum and on its scale.
        joint = (probabilities * self.shares * centred).sum(axis=1)
        base = offset + scale * total
        base += _per_query(effect, np.where(is_known, 0.0, joint), pool)
        # Means of scales contain their curvature, which pairs of labels add later: subtract it.
        curvature, variance, missing = correction
        base -= total * curvature * variance
        shift = _centred(offset_slope, probabilities, pool)
        own_scale, own_change, own_joint = scale[pool.codes], centred.copy(), joint.copy()
        rows, labels = rows[wanted], labels[wanted]
        if len(rows) and not self.is_linear:
            own_scale[rows], own_change[rows], shift[rows] = self._scales_of_known(
                given, probabilities, rows, labels
            )
            own_scale[rows] += missing[pool.codes[rows]]
            own_joint[rows] = (probabilities[rows] * self.shares * own_change[rows]).sum(axis=1)
        n_moved = 2 * is_known
        n_moved[rows] = 1
        return Expansion(
            form=self,
            probabilities=probabilities,
            n_moved=n_moved,
            base=base,
            total=total,
            effect=effect,
            own_scale=own_scale,
            own_change=own_change,
            own_joint=own_joint,
            shift=shift,
            scale=scale,
            centred=centred,
            curvature=curvature,
        )

    def _scales_of_known(self, given, probabilities, rows, labels):
        """Compute the scale of each known row's query without its label, and changes by label.

        The mean over a row's labels, by their probabilities, must not depend on its own label.
        """
        n_labels, chances = len(self.gains), probabilities[rows]
        # Rows of one query and label share a result: without one of them the same labels are left.
        kinds, kind = np.unique(self.pool.codes[rows] * n_labels + labels, return_inverse=True)
        others = given.counts[:, kinds // n_labels] - np.eye(n_labels, dtype=int)[kinds % n_labels]
        shape = 2, *others.shape[:2]
        found = np.empty((2, len(kinds), n_labels))
        for label, one in enumerate(np.eye(n_labels, dtype=int)):
            drawn = np.reshape(self.scale((others + one).reshape(-1, n_labels)), shape)
            found[:, :, label] = drawn.mean(axis=1)
        scales, offsets = found[:, kind]
        scale, offset = ((chances * each).sum(axis=1) for each in (scales, offsets))
        return scale, scales - scale[:, None], offsets - offset[:, None]

    def _scales(self, prediction):
        """Compute mean scale and offset of each query under drawn labels, and their slopes.

        A slope is the change by one more of a label. The last item has the curvature of the
        scale along its slope, the variance of the scale by errors of a query's predictions, and the
        change of the scale by labels that are expected, but missing from the drawn ones.
        """
        n_queries, n_labels = len(self.pool.queries), len(self.gains)
        if self.is_linear:
            scale, offset = self.scale(np.ones((1, n_labels), dtype=np.int64))
            none, each = np.zeros((n_queries, n_labels)), np.ones(n_queries)
            return scale * each, none, offset * each, none, (0 * each, 0 * each, 0 * each)
        counts = prediction.counts
        scale, offset = (
            values.reshape(-1, n_queries) for values in self.scale(counts.reshape(-1, n_labels))
        )
        away = counts - counts.mean(axis=0)
        spread = np.einsum("btg,bth->tgh", away, away)
        inverse = np.linalg.pinv(spread, rcond=1e-6, hermitian=True)
        slope, offset_slope = (
            np.einsum("tgh,bth,bt->tg", inverse, away, values - values.mean(axis=0))
            for values in (scale, offset)
        )
        # Curvature of the scale along its slope.
        along = np.einsum("btg,tg->bt", away, slope)
        mean_square = (along**2).mean(axis=0)
        square = along**2 - mean_square
        # Equal squares differ from their mean by rounding alone.
        square[:, np.abs(square).max(axis=0) <= ROUNDING_OF_MEANS * mean_square] = 0.0
        curvature = _over(
            (scale * square).sum(axis=0) - (along * square).sum(axis=0), (square**2).sum(axis=0)
        )
        # Numbers of drawn labels differ a little from their expectation.
        expected = prediction.expected.mean(axis=0)
        missing = expected - counts.mean(axis=0)
        away = np.einsum("btg,tg->bt", prediction.expected - expected, slope)
        of_missing = (missing * slope).sum(axis=1)
        scale = scale.mean(axis=0) + of_missing
        offset = offset.mean(axis=0) + (missing * offset_slope).sum(axis=1)
        correction = curvature, (away**2).mean(axis=0), of_missing
        return scale, slope, offset, offset_slope, correction


@dataclass(frozen=True, eq=False)
class Expansion:
    """Expected values of a measure, and what each label adds to them.

    Attributes
    ----------
    base : ndarray of shape (n_runs, n_queries)
        Expected values, given the labels of known rows.
    n_moved : ndarray of shape (n_rows,), int
        How many of the sum and its scale depend on the row's label: both where it is known, and the
        sum alone for wanted rows, whose scale is computed without it.
    """

    form: SumOfLabels
    probabilities: np.ndarray
    n_moved: np.ndarray
    base: np.ndarray
    total: np.ndarray
    effect: sparse.csr_array
    own_scale: np.ndarray
    own_change: np.ndarray
    own_joint: np.ndarray
    shift: np.ndarray
    scale: np.ndarray
    centred: np.ndarray
    curvature: np.ndarray

    def changes(self, rows: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Return the change of the query's value when some rows have these labels (by number).

        Known rows, of which these are the labels, change it from what is expected without them.

        Returns
        -------
        ndarray of shape (n_rows, n_runs)
            Its mean over a row's labels, by their probabilities, is 0.
        """
        form, codes = self.form, self.form.pool.codes[rows]
        more = form.shares[labels] - self.probabilities[rows] @ form.shares
        own = self.own_change[rows, labels]
        by_place = more * (self.own_scale[rows] + own) - self.own_joint[rows]
        changes = self.effect[rows].toarray() * by_place[:, None]
        if not form.is_linear:
            shift = self.shift[rows, labels]
            changes += own[:, None] * self.total[:, codes].T + shift[:, None]
            # If the label is known, sum and scale hold its change already.
            moved = more * own * self.n_moved[rows]
            changes -= self.effect[rows].toarray() * moved[:, None]
        return changes

    def pairs(self, rows: np.ndarray, labels: np.ndarray, weights: np.ndarray):
        """Estimate from a sample the changes by pairs of labels, beyond those by each of them.

        Parameters
        ----------
        rows, labels : ndarray of shape (n_judged,)
            Judged rows and their labels.
        weights : ndarray of shape (n_judged,)
            How many unknown documents each stands for; a pair stands for the product.

        Returns
        -------
        ndarray of shape (n_judged, n_runs)
            Estimated sum over the pairs with each document.
        """
        form, pool = self.form, self.form.pool
        codes, n_queries = pool.codes[rows], len(pool.queries)
        more = form.shares[labels] - self.probabilities[rows] @ form.shares
        gain_effect = self.effect[rows].toarray() * more[:, None]
        scale_change = self.centred[rows, labels]
        weighted = sparse.csr_array(
            (weights, (codes, np.arange(len(rows)))), shape=(n_queries, len(rows))
        )
        # Sums over the other documents of the query.
        other_effect = (weighted @ gain_effect)[codes] - gain_effect * weights[:, None]
        other_scale = (weighted @ scale_change)[codes] - scale_change * weights
        curvature = (self.total * self.curvature).T[codes]
        effect = gain_effect * other_scale[:, None] + scale_change[:, None] * other_effect
        effect += 2 * curvature * (scale_change * other_scale)[:, None]
        if form.slope.any():
            weighted_shares = np.zeros(len(pool))
            weighted_shares[rows] = more * weights
            mine = weighted_shares[form.row]
            around = form.slope * _sums_above(mine, form.segment)
            around += _sums_below(form.slope * mine, form.segment)
            around = sparse.csr_array((around, (form.row, form.run)), shape=self.effect.shape)
            effect += around[rows].toarray() * (more * self.scale[codes])[:, None]
        return effect


def _over(values, scale):
    """Return values over the scale, 0 where that is 0."""
    return np.divide(values, scale, out=np.zeros(np.shape(values)), where=scale != 0)


def _centred(slope, probabilities, pool):
    """Centre the slopes of each document's labels by its probabilities, (n_rows, n_labels)."""
    own = slope[pool.codes]
    return own - (probabilities * own).sum(axis=1, keepdims=True)


def _per_query(effect, values, pool):
    """Return sums of effect times values over each query's documents: (n_runs, n_queries)."""
    queries = sparse.csr_array(
        (values, (pool.codes, np.arange(len(pool)))), shape=(len(pool.queries), len(pool))
    )
    return (queries @ effect).toarray().T


def _per_list(values, form):
    """Return sums over the entries of each list: (n_runs, n_queries)."""
    shape = len(form.pool.runs), len(form.pool.queries)
    return np.bincount(form.segment, values, minlength=shape[0] * shape[1]).reshape(shape)


def _sums_above(values, segment):
    """Sum the values of the entries before each in its list."""
    before = np.cumsum(values) - values
    heads = np.concatenate(([True], segment[1:] != segment[:-1]))
    return before - before[np.maximum.accumulate(np.where(heads, np.arange(len(values)), 0))]


def _sums_below(values, segment):
    """Sum the values of the entries after each in its list."""
    return _sums_above(values[::-1], segment[::-1])[::-1]

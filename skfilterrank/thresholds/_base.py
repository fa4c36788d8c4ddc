"""Base class of all thresholds: estimators that are fitted on scores and hide documents."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from skfilterrank._estimators.ranker_mixin import RankerMixin, all_or_nothing
from skfilterrank._files.rows import Rows, check_rows
from skfilterrank._lists.checks import check_count, count_rows, label_array
from skfilterrank._lists.cut_queries import warn_of_cut_queries
from skfilterrank._lists.entry_values import EntryValues
from skfilterrank._lists.gains import Gains, has_two_labels, read_two_labels
from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.measure import ParsedMeasure, warn_of_forbidden
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank._lists.prefixes import places, thresholds_of
from skfilterrank._lists.queries import check_groups, check_one_order, find_groups
from skfilterrank._lists.scoring import (
    QueryWeight,
    mean_and_error,
    mean_over_queries,
    query_weights,
)
from skfilterrank._lists.ties import value_tolerance
from skfilterrank._lists.words import warn_user
from skfilterrank.exceptions import DataWarning, FitWarning, InputError
from skfilterrank.thresholds._drift import (
    Calibration,
    ThresholdCheck,
    differences,
    effective_lists,
    is_few,
    one_list,
)
from skfilterrank.thresholds._expected_values import check_has_prefix_values
from skfilterrank.thresholds._files import NOT_FITTED, SavedAsJson
from skfilterrank.thresholds._judged_scores import (
    SCORE,
    JudgedScores,
    margins_of,
    name_unit,
    number_clusters,
    read_scores,
    scored_sizes,
    usual_sizes,
    values_shown,
    warn_unless_filter_pays,
    warn_without_good,
)
from skfilterrank.thresholds._threshold_curve import ThresholdCurve, mean_of_rows

DEFAULT_MEASURE = "ndcg_f"


class BaseThreshold(SavedAsJson, RankerMixin, BaseEstimator):
    """Base class of all thresholds: estimators on scores that show a part of each list.

    A subclass computes a key for each row (`_keys`; `_learn` if keys are learned). Keys never rise
    down a list, and rows with keys at or above a level are shown.

    See Also
    --------
    TunedThreshold : The best threshold on the score.
    """

    has_fixed_scale = True
    takes_unjudged = True
    # Level of the keys; None if the best level is searched for.
    _level: float | None = None
    # None if no single number decides; the type omits None, because that is rare.
    level_: float | Any
    threshold_: float | Any
    # Attributes that most thresholds have once they are fitted.
    measure_: str
    n_unjudged_: int
    threshold_curve_: Any
    best_score_: float
    held_out_score_: float
    held_out_score_unfiltered_: float
    list_sizes_: Any
    calibration_: Any
    # Names of the columns that are read besides the score; None means all columns.
    _column_names: tuple[str, ...] | None = ()
    # True if a second score hides rows in the last fit, as in TwoScores.
    _has_two = False
    # True if rows with scores at or above `threshold_` are shown, apart from caps.
    _is_by_score = False
    _takes_weights = False
    # True if the measure must have an expected value for each prefix of a list.
    _needs_prefix_values = False
    # True if the threshold is calibrated on one split, without a model fitted on all queries.
    is_calibrated = False

    __metadata_request__fit = {  # noqa: RUF012
        "query_weight": True,
        "filter_scores": True,
        "clusters": True,
    }
    __metadata_request__predict = {"filter_scores": True}  # noqa: RUF012
    __metadata_request__score = {"filter_scores": True}  # noqa: RUF012

    def __init__(
        self,
        measure: Any = None,
        *,
        max_shown: int | None = None,
        min_shown: int | None = None,
        gains: Gains = None,
    ) -> None:
        self.measure = measure
        self.max_shown = max_shown
        self.min_shown = min_shown
        self.gains = gains

    # Methods for subclasses to override.

    def _learn(self, judged: JudgedScores, parsed: ParsedMeasure) -> np.ndarray:
        """Learn from judged rows; return out-of-fold keys of these rows."""
        return self._keys(judged.scores, judged.index, judged.columns)

    def _keys(self, scores: np.ndarray, index, columns: Mapping) -> np.ndarray:
        """Compute the key of each row of whole lists, by default its score."""
        return scores

    def _restore(self, state, name: str) -> None:
        """Set the learned attributes from a saved state; errors name the field."""

    # Fitting.

    @all_or_nothing
    def fit(  # type: ignore[override]  # other parameters
        self,
        scores,
        y=None,
        groups=None,
        *,
        filter_scores=None,
        clusters=None,
        query_weight: QueryWeight = None,
    ) -> Self:
        """Fit the threshold on scores of judged rows.

        Parameters
        ----------
        scores : array-like of shape (n_rows,) or (n_rows, 1), DataFrame, or Rows
            Score of each row, higher is better, by a model that has not seen these labels; -inf
            where a row was not retrieved or is hidden already. In a table, the column "score" is
            used. :class:`skfilterrank.io.Rows` contain labels and query ids, so no other array may
            be given with them. TunedThreshold reads them in at most three passes,
            CertifiedThreshold loads them, and FixedThreshold needs no rows. Other thresholds and
            caps need rows in memory.
        y : array-like of shape (n_rows,) or (n_rows, 2)
            Label of each row, NaN where unjudged. Two columns are relevance and harm, by these
            names or in this order: the gain is -harm where harm is above 0, else the gain of the
            relevance label, and NaN where harm is NaN. A Series or DataFrame may carry the query
            ids in an index level named "qid". Not with Rows.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row, of any type and in any order. None looks for an index level "qid"
            on `y`, then on `scores`.
        filter_scores : array-like of shape (n_rows,), default=None
            A second score of each row, higher if the row should more likely be hidden. It may also
            be the second column of `scores`, or a column "filter_score".
        clusters : array-like of shape (n_rows,), default=None
            Cluster of each row, such as the user of a query. Queries of one cluster are never on
            both sides of a split. In a certificate, a cluster counts once, with the mean loss of
            its queries; the name of a Series, such as "user", is used in its text. None makes each
            query a cluster.
        query_weight : dict, Series or array-like of shape (n_rows,), default=None
            Weight of each query in means, as in :func:`skfilterrank.metrics.ndcg_f_score`; for
            TunedThreshold and FixedThreshold. Other thresholds count each query once.

        Returns
        -------
        self : BaseThreshold
            The fitted threshold.

        Raises
        ------
        ValueError
            If a parameter is out of range, scores are NaN or +inf, arrays have different lengths,
            or a label has no gain.
        """
        self._check_parameters(self._parsed())
        given = {"filter_scores": filter_scores, "clusters": clusters, "query_weight": query_weight}
        self._fitted_sizes = None
        if isinstance(scores, Rows):
            of_rows = {"y": y, "groups": groups} | given
            return self._fit_rows(check_rows(scores, f"{type(self).__name__}.fit", **of_rows))
        return self.fit_judged(self._read_judged(scores, y, groups, **given))

    def _read_judged(
        self, scores, y, groups, *, filter_scores, clusters, query_weight
    ) -> JudgedScores:
        """Check the arguments of :meth:`fit` for rows in memory."""
        column, columns = read_scores(
            type(self).__name__, self._column_names, scores, filter_scores
        )
        check_one_order(y=y, scores=scores, filter_scores=filter_scores, clusters=clusters)
        groups = self._find_groups(scores, y, groups)
        if groups is None:
            groups = self._rows_as_queries(len(column))
        y, gains = self._labels_to_score(y)
        labels = label_array(y)
        if len(labels) not in (0, len(column)):
            raise InputError(
                f"y has {len(labels)} labels but there are {len(column)} scores: give one for "
                "each row."
            )
        lists = RankedLists(y, column, groups=groups, gains=gains, name="y")
        self._check_weights(query_weight)
        index = lists.index
        lists.weights = query_weights(query_weight, index)
        names = None
        if lists.has_unjudged:
            # Row numbers of documents to judge refer to the input; sorting ties changes the order
            # below.
            names = index.query_ids[index.codes()], np.arange(len(column))
        return JudgedScores(
            lists,
            labels,
            number_clusters(clusters, index),
            columns,
            names=names,
            unit=name_unit(clusters),
        )

    def _fit_rows(self, rows: Rows) -> Self:
        """Fit on :class:`skfilterrank.io.Rows`."""
        raise InputError(
            f"{type(self).__name__} cannot be fitted on Rows, as it needs whole lists in memory. "
            "Use TunedThreshold, CertifiedThreshold or FixedThreshold, or pass arrays of a sample."
        )

    def fit_judged(self, judged: JudgedScores) -> Self:
        """Fit on rows that were checked already, as :class:`RankAndFilter` does.

        Parameters
        ----------
        judged : JudgedScores
            The rows.

        Returns
        -------
        self : BaseThreshold
            The fitted threshold.
        """
        parsed = self._parsed()
        n_unjudged = int(np.count_nonzero(np.isnan(judged.gains)))
        if n_unjudged == len(judged.gains) > 0:
            raise InputError("y has no judged row: all labels are NaN. Pass labels of some rows.")
        self._forget()
        self.measure_, self.n_unjudged_ = parsed.text, n_unjudged
        self._check_columns(judged)
        judged = judged.by_content()
        if self._has_two or self._looks_at_lists():
            # Ties are broken by row order, so rows are sorted first to make the input order
            # irrelevant.
            judged = judged.in_order()
        warn_without_good(judged.gains)
        if self._level is None and self.fitted_with_groups_:
            self.list_sizes_ = usual_sizes(scored_sizes(judged.scores, judged.index))
        judged, shown, keys, entries = self._fit_shown(judged, parsed)
        warn_of_forbidden([parsed], judged.gains)
        self.threshold_ = self.level_ if self._is_by_score and not self._has_two else None
        sizes = scored_sizes(judged.scores, judged.index)
        is_shown = shown if shown.dtype == bool else shown > -np.inf
        self.calibration_ = Calibration.of(
            judged.scores, is_shown, sizes, has_scale=judged.watches_scale
        )
        values = self._measure(judged, parsed, entries, shown, keys)
        self.best_score_ = mean_over_queries(values, judged.lists.weights)
        _warn_if_few_weigh(judged.lists.weights)
        if judged.folds is not None:
            self._describe_folds(judged, parsed, entries, values)
        return self

    def _set_level(self, level) -> None:
        """Set a level that was found elsewhere."""
        self._forget()
        self.measure_ = self._parsed().text
        self.level_ = self.threshold_ = level

    def _check_columns(self, judged: JudgedScores) -> None:
        """Check the columns of the rows besides the score."""

    def _fit_shown(self, judged: JudgedScores, parsed: ParsedMeasure) -> tuple:
        """Find the level; return the rows that it is of, the shown ones, keys and entry values.

        The shown rows are a mask, or scores that order them, -inf where hidden.
        """
        keys, entries = self._fit_levels(judged, parsed)
        return judged, (keys >= self.level_) & (keys > -np.inf), keys, entries

    def _fit_levels(self, judged, parsed):
        """Find the level; return out-of-fold keys of the rows, and entry values."""
        keys = self._capped(self._learn(judged, parsed), judged.scores, judged.index)
        entries = None
        if self._level is None:
            by_score = self._is_by_score and self.min_shown is None and self.max_shown is None
            lists = judged.lists.with_ties(parsed.measure.ties[0])
            entries = EntryValues.of(lists, parsed, None if by_score else keys)
            self.threshold_curve_ = ThresholdCurve.of(entries, parsed)
            self.level_ = self._best_level(judged, keys, entries)
        else:
            self.level_ = self._level
        return keys, entries

    def _best_level(self, judged, keys, entries, among=None) -> float:
        """Choose the level by the queries of a mask; None means all."""
        return self.threshold_curve_.best_threshold if among is None else entries.best(among)[0]

    def _measure(self, judged, parsed, entries, shown, keys):
        """Measure the shown rows of each query, and set the held-out scores."""
        clusters = judged.clusters
        masks = [shown]
        if clusters.min() < clusters.max():
            masks.append(self._unfiltered(judged))
            if self._level is None:
                masks.append(self._held_out_shown(judged, keys, entries))
        values, *others = values_shown(judged.lists, parsed, *masks)
        if others:
            self._compare_held_out(judged, others[1] if len(others) > 1 else values, others[0])
        return values

    def _compare_held_out(self, judged, values, plain):
        """Set the held-out means with and without filter; warn unless the filter is better."""
        self.held_out_score_ = mean_over_queries(values, judged.lists.weights)
        self.held_out_score_unfiltered_ = mean_over_queries(plain, judged.lists.weights)
        differences, weights = judged.by_cluster(values - plain)
        differences[np.abs(differences) <= value_tolerance(plain)] = 0.0
        warn_unless_filter_pays(
            self.held_out_score_,
            self.held_out_score_unfiltered_,
            *mean_and_error(differences, weights)[:2],
            instead=("FixedThreshold()" if judged.watches_scale else "threshold=None")
            + " to show every document",
        )

    def _unfiltered(self, judged):
        """Return a mask of the rows that are shown without any chosen level."""
        shown = judged.scores > -np.inf
        if self.max_shown is not None:
            shown &= places(judged.scores, judged.index) < self.max_shown
        return shown

    def _held_out_shown(self, judged, keys, entries):
        """Return a mask of the rows shown by levels chosen without their cluster."""
        of_list, n_folds = judged.deal_folds()
        levels = [self._best_level(judged, keys, entries, of_list != n) for n in range(n_folds)]
        return (keys >= np.array(levels)[of_list][judged.codes]) & (keys > -np.inf)

    def _describe_folds(self, judged, parsed, entries, values):
        """Measure each fold of cross-validation, and store its curve."""
        numbers = np.unique(judged.folds)
        n_queries = np.empty(len(numbers), dtype=np.int64)
        found = {"n_queries": n_queries, "test_score": np.empty(len(numbers))}
        if entries is not None:
            for name in ("best_threshold", "best_score"):
                found[name] = np.empty(len(numbers))
            self.fold_threshold_curves_ = []
        for place, number in enumerate(numbers):
            held_out = judged.folds == number
            weights = None if judged.lists.weights is None else judged.lists.weights[held_out]
            n_queries[place] = np.count_nonzero(held_out)
            found["test_score"][place] = mean_over_queries(values[held_out], weights)
            if entries is not None:
                curve = ThresholdCurve.of(entries, parsed, held_out)
                found["best_threshold"][place] = curve.best_threshold
                found["best_score"][place] = curve.best_value
                self.fold_threshold_curves_.append(curve)
        self.fold_results_ = found

    # Serving.

    def predict(self, scores, groups=None, *, filter_scores=None) -> np.ndarray:
        """Return each score, -inf where the row is hidden.

        Parameters
        ----------
        scores : array-like of shape (n_rows,) or (n_rows, 1), or DataFrame
            Scores of whole lists, on the same scale as in `fit`; in a table, the column "score".
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. None looks for an index level "qid" on `scores`; without one, a
            threshold with a cap or one that depends on whole lists takes all rows as one query.
        filter_scores : array-like of shape (n_rows,), default=None
            The second score of each row, if `fit` had one. It may also be the second column of
            `scores`, or a column "filter_score".

        Returns
        -------
        ndarray of shape (n_rows,), dtype float64
            The score if the row is shown, else -inf. With filter scores, the score is replaced by
            the number that orders lists: the expected gain r of a row (rule "ratio"), or the
            score itself (rule "harm").

        Raises
        ------
        ValueError
            If filter scores are missing and needed, or scores are NaN or +inf.
        """
        scores, index, columns = self._checked(scores, groups, filter_scores)
        self._warn_of_others(scores, index)
        return self._ordered(scores, index, columns) if len(scores) else scores

    def _ordered(self, scores, index, columns, *, capped=True):
        """Return the scores that order whole lists, -inf where rows are hidden."""
        keys = self._keys(scores, index, columns)
        keys = self._capped(keys, scores, index) if capped else keys
        return np.where((keys >= self.level_) & (keys > -np.inf), scores, -np.inf)

    def decision_function(self, scores, groups=None, *, filter_scores=None) -> np.ndarray:
        """Return finite margins, at least 0 exactly where the row is shown.

        A margin is the score minus the threshold of its list. If the threshold is infinite, and
        with filter scores, margins lie between 0 and 1 (shown) or -1 and 0 (hidden), in the order
        of the scores. Without threshold and caps (``FixedThreshold(None)``), the scores
        themselves are returned, since all rows are shown.

        Parameters
        ----------
        scores, groups, filter_scores
            As in :meth:`predict`.

        Returns
        -------
        ndarray of shape (n_rows,), dtype float64
            Margins.
        """
        scores, index, columns = self._checked(scores, groups, filter_scores)
        self._warn_of_others(scores, index)
        if not len(scores) or self._shows_all():
            return scores
        ordered = self._ordered(scores, index, columns)
        shown = ordered > -np.inf
        thresholds = self._thresholds(scores, index, shown)
        return margins_of(np.where(shown, ordered, scores), thresholds, shown)

    def rank(self, scores, groups=None, *, filter_scores=None) -> np.ndarray:
        """Rank the rows of each query; 1 is the first document, 0 is hidden.

        Parameters
        ----------
        scores, filter_scores
            As in :meth:`predict`.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. None looks for an index level "qid" on `scores`; without one, all
            rows are one query.

        Returns
        -------
        ndarray of shape (n_rows,), dtype int64
            Places. Rows of equal score keep the order of the input.
        """
        if isinstance(scores, Rows):
            return self.predict(scores)  # which refuses them
        if not (n_rows := count_rows(scores)):
            return np.empty(0, dtype=np.int64)
        ids = find_groups(groups, scores, names=("scores",))
        ids = one_list(self, scores, n_rows) if ids is None else ids
        index = check_groups(ids, n_rows=n_rows, carrier="scores as a DataFrame")
        shown = self.predict(scores, groups=index, filter_scores=filter_scores)
        ranks = places(shown, index).astype(np.int64) + 1
        ranks[np.isneginf(shown)] = 0
        return ranks

    def _checked(self, scores, groups, filter_scores):
        """Check the input of a prediction; queries are None if not needed."""
        check_is_fitted(self, "level_", msg=NOT_FITTED)
        groups = find_groups(groups, scores, names=("scores",))
        warn_of_cut_queries(self, groups)
        rows = scores
        scores, columns = read_scores(
            type(self).__name__, self._column_names, scores, filter_scores
        )
        scores = scores.astype(np.float64, copy=False)
        index = None
        needs_lists = self._looks_at_lists()
        if not len(scores):
            return scores, None, columns
        if needs_lists and groups is None:
            # Ids of rows without ids: each row is a query if it was in `fit`, else they are one.
            is_known = self.fitted_with_groups_
            groups = one_list(self, rows, len(scores)) if is_known else np.arange(len(scores))
        is_compared = not vars(self).keys().isdisjoint(("list_sizes_", "calibration_"))
        if groups is not None and (needs_lists or is_compared):
            index = check_groups(groups, n_rows=len(scores), carrier="scores as a DataFrame")
        return scores, index, columns

    def _warn_of_others(self, scores, index):
        """Warn of sizes of lists and of a scale that differ from those of the fit."""
        for sentence in differences(self, scores, index) if len(scores) else ():
            warn_user(sentence, DataWarning)

    def check(self, scores, groups=None, *, filter_scores=None) -> ThresholdCheck:
        """Compare new scores with those on which the threshold was chosen.

        Nothing is remembered: equal scores give equal results, whatever was predicted before.

        Parameters
        ----------
        scores : array-like of shape (n_rows,) or (n_rows, 1), or DataFrame
            Scores of whole lists, as in :meth:`predict`; better of hundreds of queries than of
            one. Within a RankAndFilter, the scores of its `estimator_`:
            ``model.filter_.check(scores, groups)``.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. None looks for an index level "qid" on `scores`.
        filter_scores : array-like of shape (n_rows,), default=None
            The second score of each row, if `fit` had one.

        Returns
        -------
        ThresholdCheck
            A result with the table `facts`, which has a row for each number that is watched, the
            property `warns`, and a sentence for each warning in `sentences`. Columns of the table:
            "observed", "calibration", "lower", "upper" and "warns". The rows:

            * "other_sizes": share of lists that are shorter than the usual sizes of `fit` (5 to
              95 %) divided by 1.5, or longer than 1.5 times these. It warns above a quarter.
            * "median_score": it warns below the 1 % and above the 99 % quantile of the scores of
              `fit`.
            * "score_spread": 90 % less 10 % quantile. It warns beyond a factor of 3.
            * "share_above": share of the scores at or above `threshold_`. It warns if all of them
              are on one side, where `fit` had at least a quarter on each.
            * "share_shown": share of the documents that is shown. It warns beyond
              ``sqrt(log(2 / 0.01) (1 / n + 1 / m) / 2)``, with n and m effective lists in `fit` and
              here.

            The first four have bounds from 30 lists on, as many in `fit`, and `predict` warns of
            them, too. A number without a calibration is NaN there: all of a FixedThreshold, and
            those of scale within a RankAndFilter, whose models of folds have other scales.

        Raises
        ------
        ValueError
            If query ids are missing, or scores are NaN or +inf.

        Notes
        -----
        Bounds are wide: of ordinary batches, less than 1 % warn for the sizes of their lists, and
        less than 1 % for the share that is shown, by Hoeffding's inequality for weighted means over
        independent lists. Batches that depend on each other, such as queries of one user, warn more
        often.

        Examples
        --------
        >>> from skfilterrank.datasets import make_rank_and_filter
        >>> from skfilterrank.thresholds import TunedThreshold
        >>> _, y, groups, scores = make_rank_and_filter(400, random_state=0)
        >>> old, new = groups < 300, groups >= 300
        >>> cut = TunedThreshold("ndcg_f@3").fit(scores[old], y[old], groups=groups[old])
        >>> cut.check(scores[new], groups[new])
        <ThresholdCheck: nothing differs clearly from the calibration (100 queries, 201 rows)>
        >>> found = cut.check(2 + 10 * scores[new], groups[new])
        >>> found.warns, found.facts.index[found.facts["warns"]].tolist()
        (True, ['median_score', 'score_spread'])
        >>> found.facts["observed"].round(1).tolist()
        [0.0, 5.1, 10.0, 1.0, 1.0]
        """
        groups = find_groups(groups, scores, names=("scores",))
        if groups is None and not self.fitted_with_groups_:
            groups = np.arange(count_rows(scores))
        n_rows = count_rows(scores)
        index = None
        if n_rows:
            index = check_groups(groups, n_rows=n_rows, carrier="scores as a DataFrame")
        scores, _, columns = self._checked(scores, index, filter_scores)
        if not n_rows:
            return ThresholdCheck.of(self, scores, np.zeros(0, dtype=bool), None)
        shown = self._shown(scores, index, columns)
        return ThresholdCheck.of(self, scores, shown, index)

    def _shown(self, scores, index, columns):
        """Return a mask of the shown rows of whole lists."""
        return self._ordered(scores, index, columns) > -np.inf

    def _thresholds(self, scores, index, shown):
        """Compute the threshold of each row on its score."""
        if self._looks_at_lists():
            return thresholds_of(shown, scores, index)
        return np.full(len(scores), self.level_)

    def _capped(self, keys, scores, index):
        """Set keys to +inf for rows shown by `min_shown`, and to -inf beyond `max_shown`."""
        capped = np.where(np.isneginf(scores), -np.inf, keys)
        least, most = self._caps()
        if most is None and least is None:
            return capped
        place = places(scores, index)
        if least is not None:
            capped[(place < least) & (scores > -np.inf)] = np.inf
        if most is not None:
            capped[place >= most] = -np.inf
        return capped

    def _why_hidden(self, scores, groups, *, filter_scores=None) -> np.ndarray:
        """Say why each row of whole lists is hidden; the text of a row that is shown means nothing.

        Nothing is checked or counted, as `predict` has done it.
        """
        scores, columns = read_scores(
            type(self).__name__, self._column_names, scores, filter_scores
        )
        index = check_groups(groups, n_rows=len(scores))
        passes = self._ordered(scores, index, columns, capped=False) > -np.inf
        _, most = self._caps()
        reasons = np.full(len(scores), self._why_below_level(self.level_), dtype=object)
        if most is not None:
            reasons[passes] = f"beyond the first {most}"
        reasons[np.isneginf(scores)] = "score of -inf"
        return reasons

    def _why_below_level(self, level) -> str:
        """Say why a row is hidden that does not pass the level."""
        if self._is_by_score:
            return f"score below the threshold {level:.6g}"
        return f"hidden by {type(self).__name__}"

    def _most_shown(self):
        """Return the largest number of shown documents of each query."""
        return self.max_shown

    def _caps(self):
        """Return the smallest and the largest number of shown documents of each query."""
        return vars(self).get("caps_") or (self.min_shown, self._most_shown())

    def _looks_at_lists(self):
        """Tell whether showing a row depends on more than its own score."""
        if not self._is_by_score:
            return True
        return self._caps() != (None, None)

    def _shows_all(self):
        """Tell whether everything is shown, so that margins are the scores."""
        return False

    def score(
        self,
        scores,
        y=None,
        groups=None,
        *,
        filter_scores=None,
        query_weight: QueryWeight = None,
        sample_weight=None,
    ) -> float:
        """Compute the mean of `measure` over the queries.

        Parameters
        ----------
        scores : array-like of shape (n_rows,) or (n_rows, 1), DataFrame, or Rows
            Scores of whole lists. :class:`skfilterrank.io.Rows` hold labels and query ids, too, and
            are read once; no other array may be given with them.
        y : array-like of shape (n_rows,) or (n_rows, 2)
            Labels, as in :meth:`fit`; NaN where unjudged, which counts as gain 0.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. None looks for an index level "qid" on `y`, then on `scores`.
        filter_scores : array-like of shape (n_rows,), default=None
            The second score of each row, if `fit` had one.
        query_weight : dict, Series or array-like of shape (n_rows,), default=None
            Weight of each query in the mean, as in :func:`skfilterrank.metrics.ndcg_f_score`.
        sample_weight : array-like of shape (n_rows,), default=None
            Another name of `query_weight` by row, which scikit-learn's Pipeline passes on.

        Returns
        -------
        float
            The measure, negated where lower is better, as scikit-learn's scorers do.

        Raises
        ------
        ValueError
            As :meth:`RankerMixin.score`, and if another array is given with Rows.
        """
        weights = {"query_weight": query_weight, "sample_weight": sample_weight}
        if not isinstance(scores, Rows):
            if filter_scores is not None:
                check_is_fitted(self, msg=NOT_FITTED)
                scores = _with_filter_scores(self, scores, filter_scores)
            return super().score(scores, y, groups, **weights)
        check_is_fitted(self, msg=NOT_FITTED)
        given = {"y": y, "groups": groups, "filter_scores": filter_scores, **weights}
        check_rows(scores, f"{type(self).__name__}.score", **given)
        return mean_of_rows(self, scores, self._score_measure(), self.gains)

    # Reading and checking.

    def _rows_as_queries(self, n_rows):
        """Treat each row as a query, and warn."""
        warn_user(
            f"{type(self).__name__} was fitted without query ids: each row counts as a separate "
            "query (pure filtering). Pass groups=, the query id of each row, or, as inside "
            "scikit-learn's model selection, a Series y with an index level named 'qid'.",
            FitWarning,
        )
        return np.arange(n_rows)

    def _check_weights(self, query_weight):
        """Raise for query weights if the threshold does not support them."""
        if query_weight is not None and not self._takes_weights:
            raise InputError(
                f"query_weight is not possible with {type(self).__name__}, which counts each query "
                "once: use TunedThreshold, or leave query_weight out."
            )

    def _gains_of_fit(self):
        """Return the gains of the last fit, even if `set_params` changed the parameter."""
        return vars(self).get("_fitted_gains", self.gains)

    def _labels_to_score(self, y):
        """Return labels in one column, and the `gains` for them."""
        if not has_two_labels(y):
            return y, self.gains
        return read_two_labels(y, self.gains).gains, None

    def _parsed(self) -> ParsedMeasure:
        parsed = parse_measure(
            DEFAULT_MEASURE if self.measure is None else self.measure
        ).for_threshold()
        if self._needs_prefix_values:
            check_has_prefix_values(parsed, type(self).__name__)
        return parsed

    def _score_measure(self) -> ParsedMeasure:
        """Return the measure of the last fit, even if `set_params` changed the parameter."""
        return parse_measure(self.measure_)

    def _check_parameters(self, parsed) -> None:
        """Raise a ValueError for parameters that are out of range or exclude each other."""
        most = check_count(self.max_shown, "max_shown", or_none=True)
        least = check_count(self.min_shown, "min_shown", or_none=True)
        if least is not None and most is not None and least > most:
            raise InputError(
                f"min_shown must be at most max_shown, got min_shown={least} and max_shown={most}."
            )

    def _forget(self):
        """Delete the attributes of an earlier fit."""
        for name in tuple(vars(self)):
            if name.endswith("_") and name[0] != "_" and name != "fitted_with_groups_":
                delattr(self, name)
        self.caps_, self._has_two = (self.min_shown, self._most_shown()), False
        self._fitted_gains = self.gains

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        # scikit-learn's checks would pass tables of random features, but columns here have names.
        tags.input_tags.two_d_array = False
        return tags


def _warn_if_few_weigh(weights):
    """Warn if weights leave few effective queries."""
    if weights is None or not is_few(n_effective := effective_lists(weights), len(weights)):
        return
    warn_user(
        f"query_weight leaves {n_effective:.1f} effective queries of {len(weights)} (the squared "
        "sum of the weights, divided by the sum of their squares), so that few queries decide "
        "about the threshold. Bound the largest weights, or judge more of the queries that weigh "
        "much.",
        FitWarning,
    )


def _with_filter_scores(threshold, scores, filter_scores) -> pd.DataFrame:
    """Join scores and filter scores in a table with the index of the scores."""
    column, columns = read_scores(
        type(threshold).__name__, threshold._column_names, scores, filter_scores
    )
    index = scores.index if isinstance(scores, pd.Series | pd.DataFrame) else None
    return pd.DataFrame({SCORE: column, **columns}, index=index)

"""Threshold: an estimator that is fitted on scores, and hides documents below a level."""

import copy
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from skfilterrank._base.checks import check_choice, check_count, count_rows
from skfilterrank._base.words import plural, warn_user
from skfilterrank._estimators.ranker_mixin import RankerMixin, all_or_nothing
from skfilterrank._files.rows import Rows, check_rows
from skfilterrank._lists.content import distinct_numbers
from skfilterrank._lists.cut_queries import warn_of_cut_queries
from skfilterrank._lists.gains import Gains, labels_in_one_column
from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.measure import ParsedMeasure, warn_of_forbidden, warn_of_unjudged
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank._lists.prefixes import places
from skfilterrank._lists.queries import check_groups, check_one_order, find_groups
from skfilterrank._lists.scoring import QueryWeight, mean_over_queries, query_weights
from skfilterrank.exceptions import DataWarning, FitWarning, InputError, brief
from skfilterrank.thresholds._answers import (
    BELOW,
    EVERYTHING,
    NOTHING,
    better_answer,
    compared,
    compared_in_words,
    held_out_values,
    highest_answer,
    shown_by,
    shown_in_words,
    warn_of_answer,
)
from skfilterrank.thresholds._comparability import comparability_of
from skfilterrank.thresholds._curves import ThresholdCurve, mean_of_rows
from skfilterrank.thresholds._cuts import ByPlace, ByScore, Caps, Cut, Keys
from skfilterrank.thresholds._drift import (
    ENOUGH,
    Calibration,
    ThresholdCheck,
    differences,
    one_list,
)
from skfilterrank.thresholds._files import NOT_FITTED, SavedAsJson
from skfilterrank.thresholds._judged_scores import (
    FILTER_SCORE,
    JudgedScores,
    effective_number,
    margins_of,
    name_unit,
    number_clusters,
    read_scores,
    scored_sizes,
    usual_sizes,
    values_shown,
    warn_if_swapped,
    warn_without_forbidden,
    warn_without_good,
)


class BaseThreshold(SavedAsJson, RankerMixin, BaseEstimator):
    """Base class of thresholds: estimators on scores that show a part of each list.

    A subclass makes the cut, which turns scores into keys; the level of the keys is found here.

    See Also
    --------
    Threshold : A threshold of any cut.
    """

    has_fixed_scale = True
    takes_unjudged = True
    # True if the threshold is calibrated on one split, without a model fitted on all queries.
    is_calibrated = False
    # None if no single number decides; the type omits None, because that is rare.
    level_: float | Any
    threshold_: float | Any
    # Attributes that most thresholds have once they are fitted.
    cut_: Cut
    caps_: Caps
    measure_: str
    n_unjudged_: int
    threshold_curve_: Any
    best_score_: float
    held_out_: Any
    summary_: str
    list_sizes_: Any
    calibration_: Any
    comparability_: Any

    __metadata_request__fit = {"query_weight": True, "clusters": True}  # noqa: RUF012

    def __init__(
        self,
        measure: Any = None,
        *,
        max_shown: int | None = None,
        min_shown: int | None = None,
        keep_if: str | None = None,
        gains: Gains = None,
    ) -> None:
        self.measure = measure
        self.max_shown = max_shown
        self.min_shown = min_shown
        self.keep_if = keep_if
        self.gains = gains

    # Methods for subclasses to override.

    def _cut_of(self, n_more: int) -> Cut:
        """Make the unfitted cut for scores with so many more columns."""
        raise NotImplementedError(f"{type(self).__name__} must define _cut_of(n_more).")

    def _most_more(self) -> int | None:
        """Return the largest number of columns besides the score; None means any."""
        return self._cut_of(0).n_more

    def _most_shown(self) -> int | None:
        """Return the largest number of shown documents of each query."""
        return self.max_shown

    def columns_of(self, X) -> dict:
        """Return the columns of X, by name, that are read besides the score of a model on X."""
        return {}

    # Fitting.

    @all_or_nothing
    def fit(  # type: ignore[override]  # other parameters
        self,
        scores,
        y=None,
        groups=None,
        *,
        clusters=None,
        query_weight: QueryWeight = None,
    ) -> Self:
        """Fit the threshold on scores of judged rows.

        Parameters
        ----------
        scores : array-like of shape (n_rows,) or (n_rows, 2), DataFrame, or Rows
            Score of each row, higher is better, by a model that has not seen these labels; -inf
            where a row was not retrieved or is hidden already. TunedThreshold and
            CertifiedThreshold take a second column, higher if the row should more likely be hidden.
            In a table, the columns "score" and "filter_score" are used, or the only one or two
            columns in their order. :class:`skfilterrank.io.Rows` contain labels and query ids, so
            no other array may be given with them. TunedThreshold reads them in at most three
            passes, CertifiedThreshold loads them, and FixedThreshold needs no rows. Other
            thresholds and caps need rows in memory.
        y : array-like of shape (n_rows,) or (n_rows, 2)
            Label of each row, NaN where unjudged. Two columns are relevance and harm, by these
            names or in this order: the gain is -harm where harm is above 0, else the gain of the
            relevance label, and NaN where harm is NaN. A Series or DataFrame may carry the query
            ids in an index level named "qid". Not with Rows.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row, of any type and in any order. None looks for an index level "qid"
            on `y`, then on `scores`.
        clusters : array-like of shape (n_rows,), default=None
            Cluster of each row, such as the user of a query. Queries of one cluster are never on
            both sides of a split. In a certificate, a cluster counts once, with the mean loss of
            its queries; the name of a Series, such as "user", is used in its text. None makes each
            query a cluster.
        query_weight : dict, Series or array-like of shape (n_rows,), default=None
            Weight of each query in means, as in :func:`skfilterrank.metrics.ndcg_f_score`; for
            thresholds that search for a level. Others count each query once.

        Returns
        -------
        self : Threshold
            The fitted threshold.

        Raises
        ------
        ValueError
            If a parameter is out of range, scores are NaN or +inf, arrays have different lengths,
            or a label has no gain.
        """
        self.check_parameters()
        given = {"clusters": clusters, "query_weight": query_weight}
        self._fitted_sizes = None
        if isinstance(scores, Rows):
            of_rows = {"y": y, "groups": groups} | given
            return self._fit_rows(check_rows(scores, f"{type(self).__name__}.fit", **of_rows))
        return self.fit_judged(self._read_judged(scores, y, groups, **given))

    def _read_judged(self, scores, y, groups, *, clusters, query_weight) -> JudgedScores:
        """Check the arguments of :meth:`fit` for rows in memory."""
        column, more, names_of_more = self._read(scores, self._cut_of(0))
        if names_of_more == [FILTER_SCORE] and np.allclose(column + more[:, 0], 1, 0, 1e-6):
            warn_user(
                "the two columns of scores sum to 1, as those of predict_proba, but are read as a "
                "score and a second one of harm: give one column, the chance of being good.",
                DataWarning,
            )
        check_one_order(y=y, scores=scores, clusters=clusters)
        groups = self._find_groups(scores, y, groups)
        if groups is None:
            groups = self.rows_as_queries(len(column))
        y, gains = self._labels_to_score(y)
        if (n_labels := count_rows(y, "y")) not in (0, len(column)):
            raise InputError(
                f"y has {n_labels} labels but there are {len(column)} scores: give one for each "
                "row."
            )
        lists = RankedLists(y, column, groups=groups, gains=gains, name="y")
        warn_if_swapped(lists.gains, column, ("y", "scores"), "scores, then labels")
        self.check_weights(query_weight, n_more=more.shape[1])
        index = lists.index
        lists = lists.replace(weights=query_weights(query_weight, index))
        names = None
        if lists.has_unjudged:
            # Row numbers of documents to judge refer to the input; sorting ties changes the order
            # below.
            names = index.query_ids[index.codes()], np.arange(len(column))
        return JudgedScores(
            lists,
            number_clusters(clusters, index),
            more,
            names_of_more,
            names=names,
            unit=name_unit(clusters),
        )

    def _read(self, scores, cut: Cut) -> tuple[np.ndarray, np.ndarray, list]:
        """Read the score of each row, and the other columns that a cut wants."""
        return read_scores(type(self).__name__, scores, self._most_more(), cut.columns)

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
        self : Threshold

        Raises
        ------
        ValueError
            If all labels are NaN, or the threshold cannot be found.
        """
        parsed = self.parsed_measure()
        n_unjudged = int(np.count_nonzero(np.isnan(judged.gains)))
        if n_unjudged == len(judged.gains) > 0:
            raise InputError("y has no judged row: all labels are NaN. Pass labels of some rows.")
        self._forget()
        self.measure_, self.n_unjudged_ = parsed.text, n_unjudged
        self.cut_ = self._cut_of(judged.more.shape[1])
        self.cut_.n_more = judged.more.shape[1]
        self.cut_.check(judged, self.caps_)
        judged = judged.by_content()
        if self._looks_at_lists() or not self.cut_.is_score:
            # Ties are broken by row order, so rows are sorted first to make the input order
            # irrelevant.
            judged = judged.in_order()
        self._describe(judged, parsed)
        judged, found, entries = self._find_level(judged, parsed)
        warn_of_forbidden([parsed], judged.gains)
        shown, values = self._measured(judged, found, parsed)
        if not self.is_calibrated:
            _warn_if_few_weigh(judged)
        if judged.folds is not None:
            self._describe_folds(judged, values)
        kept = self._compare(judged, parsed, found, entries, values)
        if kept not in (None, "threshold"):
            judged = judged.in_order()
            given = judged.scores, judged.more, judged.index
            found = self.cut_.capped(self.cut_.served_keys(*given), judged.index, self.caps_)
            shown, values = self._measured(judged, found, parsed)
        self.threshold_ = self.level_ if self.cut_.is_score else None
        self.best_score_ = mean_over_queries(values, judged.lists.weights)
        self.calibration_ = Calibration.of(
            judged.scores,
            shown > -np.inf,
            scored_sizes(judged.scores, judged.index),
            has_scale=judged.watches_scale,
        )
        self.summary_ = shown_in_words(judged, shown > -np.inf, parsed.k)
        if (table := vars(self).get("held_out_")) is not None:
            self.summary_ += compared_in_words(table, self.measure_, kept)
        return self

    def _describe(self, judged, parsed):
        """Describe the lists and warn of labels, before the level is known."""
        is_searched = self.cut_.level is None
        warn_without_good(judged.gains)
        if is_searched and self.fitted_with_groups_:
            self.list_sizes_ = usual_sizes(scored_sizes(judged.scores, judged.index))
        if self.is_calibrated:
            return
        if is_searched:
            warn_without_forbidden(judged.gains, parsed)
        n_open = judged.lists.count_unjudged_queries()
        warn_of_unjudged([parsed], n_open, judged.index.n_queries)
        if self.fitted_with_groups_:
            self.comparability_ = comparability_of(judged)

    def _measured(self, judged, found, parsed):
        """Return the rows that are shown at the level, and the value of each list."""
        shown = self.cut_.shown(found, self.level_, judged.index, self.caps_)
        (values,) = values_shown(judged.lists, parsed, self.cut_.measured(shown))
        return shown, values

    def _find_level(self, judged: JudgedScores, parsed: ParsedMeasure) -> tuple:
        """Find the level; return the rows that it is of, their capped keys, and entry values.

        Keys are out-of-fold, and the values are None if the level is given.
        """
        cut = self.cut_
        found = cut.capped(cut.learned_keys(judged, parsed), judged.index, self.caps_)
        if cut.level is not None:
            self.level_ = cut.level
            return judged, found, None
        entries = cut.entries(judged, found, parsed, self.caps_)
        self.threshold_curve_ = ThresholdCurve.of(entries, parsed)
        self.level_ = cut.best_level(judged, found.keys, entries, None)
        return judged, found, entries

    def _compare(self, judged, parsed, found, entries, values) -> str | None:
        """Compare with answers that need no model; warn, or take the best and return its name."""
        if judged.clusters.min() == judged.clusters.max():
            return None
        some = judged
        if (rows := judged.enough_rows()) is not None:
            some, found = judged.take(rows), Keys(*(each[rows] for each in found))
            values = values[: some.index.n_queries]
            if entries is not None:
                entries = self.cut_.entries(some, found, parsed, self.caps_)
        if entries is not None:
            values = held_out_values(some, self.cut_, found.keys, entries)
        self.held_out_, level = compared(some, parsed, values, self.caps_.most)
        if self.keep_if is None:
            if (answer := better_answer(self.held_out_)) is not None:
                warn_of_answer(self.held_out_, answer, inside=not judged.watches_scale)
            return None
        if (answer := highest_answer(self.held_out_)) is None:
            return "threshold"
        levels, columns = {EVERYTHING: -np.inf, NOTHING: np.inf, BELOW: 0.0}, self.cut_.columns
        self.cut_ = ByScore() if answer in levels else ByPlace()
        self.level_ = levels.get(answer, level)
        # The other columns of `fit` come again, and do not matter.
        self.cut_.n_more, self.cut_.columns = judged.more.shape[1], columns
        return answer

    def _describe_folds(self, judged, values):
        """Measure each fold of cross-validation at the level that was found."""
        counts = np.bincount(judged.folds)
        numbers, weights = np.flatnonzero(counts), judged.lists.weights
        self.fold_results_ = {
            "n_queries": counts[numbers],
            "test_score": np.array(
                [
                    mean_over_queries(values[own], None if weights is None else weights[own])
                    for own in (judged.folds == number for number in numbers)
                ]
            ),
        }

    # Serving.

    def answers(self, scores, groups=None) -> dict[str, np.ndarray]:
        """Return what the answers without a threshold of `held_out_` show of new lists.

        Parameters
        ----------
        scores, groups
            As in :meth:`predict`.

        Returns
        -------
        dict of str to ndarray of shape (n_rows,), dtype float64
            The scores, -inf where an answer hides the row: "everything" and "nothing", and if the
            threshold has a `held_out_`, the other rows of this table. Of equal scores at the end of
            the first k, those of the first rows are shown.

        Examples
        --------
        >>> from skfilterrank.datasets import make_rank_and_filter
        >>> from skfilterrank.metrics import rank_filter_report
        >>> from skfilterrank.thresholds import TunedThreshold
        >>> _, y, groups, scores = make_rank_and_filter(400, random_state=0)
        >>> old, new = groups < 200, groups >= 200
        >>> cut = TunedThreshold("ndcg_f@3").fit(scores[old], y[old], groups=groups[old])
        >>> shown = {"threshold": cut.predict(scores[new], groups[new])}
        >>> shown |= cut.answers(scores[new], groups[new])
        >>> report = rank_filter_report(y[new], shown, groups=groups[new], baseline="threshold")
        >>> report[["ndcg_f@3", "difference", "difference_low"]].round(2).iloc[:3]
                    ndcg_f@3  difference  difference_low
        system
        threshold       0.84         NaN             NaN
        everything      0.80       -0.04           -0.08
        nothing         0.23       -0.61           -0.70
        """
        scores, _, index = self._checked(scores, groups)
        table = vars(self).get("held_out_")
        names = [EVERYTHING, NOTHING] if table is None else table.index[1:]
        if not len(scores):
            return dict.fromkeys(names, scores)
        if index is None:
            index = self._queries_of(scores, groups, len(scores), is_known=self.fitted_with_groups_)
        shown = shown_by(names, scores, index, self.caps_.most)
        return {name: np.where(rows, scores, -np.inf) for name, rows in shown.items()}

    def predict(self, scores, groups=None) -> np.ndarray:
        """Return each score, -inf where the row is hidden.

        Parameters
        ----------
        scores : array-like of shape (n_rows,) or (n_rows, 2), or DataFrame
            Scores of whole lists, with the columns and on the scale of `fit`.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. None looks for an index level "qid" on `scores`; without one, a
            threshold with a cap or one that depends on whole lists takes all rows as one query. If
            `fit` got no query ids, each row is a query.

        Returns
        -------
        ndarray of shape (n_rows,), dtype float64
            The score if the row is shown, else -inf. With two columns, the score is replaced by
            the number that orders lists: the expected gain r of a row (rule "ratio"), or the
            score itself (rule "harm").

        Raises
        ------
        ValueError
            If scores have other columns than in `fit`, or are NaN or +inf.
        """
        return self._served(scores, groups)[1]

    def _served(self, scores, groups):
        """Check and serve rows; return scores, ordering scores (-inf where hidden), and queries."""
        scores, more, index = self._checked(scores, groups)
        for sentence in differences(self, scores, index) if len(scores) else ():
            warn_user(sentence, DataWarning)
        return scores, self._ordered(scores, more, index) if len(scores) else scores, index

    def _ordered(self, scores, more, index, *, capped=True):
        """Return the scores that order whole lists, -inf where rows are hidden."""
        caps = self.caps_ if capped else Caps()
        found = self.cut_.capped(self.cut_.served_keys(scores, more, index), index, caps)
        return self.cut_.shown(found, self.level_, index, caps)

    def decision_function(self, scores, groups=None) -> np.ndarray:
        """Return finite margins, at least 0 exactly where the row is shown.

        A margin is the score minus the threshold of its list. If the threshold is infinite, and
        with two columns, margins lie between 0 and 1 (shown) or -1 and 0 (hidden), in the order
        of the scores. Without threshold and caps (``FixedThreshold(None)``), the scores
        themselves are returned, since all rows are shown.

        Parameters
        ----------
        scores, groups
            As in :meth:`predict`.

        Returns
        -------
        ndarray of shape (n_rows,), dtype float64
            Margins.
        """
        scores, ordered, index = self._served(scores, groups)
        if not len(scores) or self.shows_all():
            return scores
        shown = ordered > -np.inf
        thresholds = self._thresholds(scores, index, ordered)
        return margins_of(np.where(shown, ordered, scores), thresholds, shown)

    def rank(self, scores, groups=None) -> np.ndarray:
        """Rank the rows of each query; 1 is the first document, 0 is hidden.

        Parameters
        ----------
        scores
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
        groups = find_groups(groups, scores, names=("scores",))
        index = self._queries_of(scores, groups, n_rows, is_known=True)
        shown = self.predict(scores, groups=index)
        ranks = places(shown, index).astype(np.int64) + 1
        ranks[np.isneginf(shown)] = 0
        return ranks

    def _checked(self, scores, groups):
        """Check the input of a prediction; queries are None if not needed."""
        check_is_fitted(self, "level_", msg=NOT_FITTED)
        groups = find_groups(groups, scores, names=("scores",))
        warn_of_cut_queries(self, groups)
        rows = scores
        scores, more, names = self._read(scores, self.cut_)
        more = self.cut_.check_columns(more, names)
        scores = scores.astype(np.float64, copy=False)
        index = None
        needs_lists = self._looks_at_lists()
        if not len(scores):
            return scores, more, None
        is_compared = not vars(self).keys().isdisjoint(("list_sizes_", "calibration_"))
        if needs_lists or (groups is not None and is_compared):
            known = self.fitted_with_groups_
            index = self._queries_of(rows, groups, len(scores), is_known=known)
        return scores, more, index

    def _queries_of(self, rows, groups, n_rows, *, is_known):
        """Return the queries of rows; without ids they are one if `is_known`, else one each."""
        if groups is None:
            groups = one_list(self, rows, n_rows) if is_known else np.arange(n_rows)
        return check_groups(groups, n_rows=n_rows, carrier="scores as a DataFrame")

    def check(self, scores, groups=None) -> ThresholdCheck:
        """Compare new scores with those on which the threshold was chosen.

        Nothing is remembered: equal scores give equal results, whatever was predicted before.

        Parameters
        ----------
        scores : array-like of shape (n_rows,) or (n_rows, 2), or DataFrame
            Scores of whole lists, as in :meth:`predict`; better of hundreds of queries than of
            one. Within a RankAndFilter, the scores of its `estimator_`:
            ``model.filter_.check(scores, groups)``.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. None looks for an index level "qid" on `scores`; without one, all
            rows are one query, or if `fit` got no query ids, each row is one.

        Returns
        -------
        ThresholdCheck
            A result with the table `facts`, which has a row for each number that is watched, the
            flag `warns`, and a sentence for each warning in `sentences`. Columns of the table:
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

            The first four have bounds if there are 30 lists or more, here and in `fit`, and
            `predict` warns of them, too. A number without a calibration is NaN there: all of a
            FixedThreshold, and those of scale within a RankAndFilter, whose models of folds have
            other scales.

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
        n_rows, index = count_rows(scores), None
        groups = find_groups(groups, scores, names=("scores",))
        if n_rows:
            index = self._queries_of(scores, groups, n_rows, is_known=self.fitted_with_groups_)
        scores, more, _ = self._checked(scores, index)
        if not n_rows:
            return ThresholdCheck.of(self, scores, np.zeros(0, dtype=bool), None)
        shown = self._ordered(scores, more, index) > -np.inf
        return ThresholdCheck.of(self, scores, shown, index)

    def thresholds_of_rows(self, scores, groups=None) -> np.ndarray | None:
        """Return the threshold on the score of each row; None if everything is shown."""
        if self.shows_all():
            return None
        scores, more, index = self._checked(scores, groups)
        return self._thresholds(scores, index, self._ordered(scores, more, index))

    def _thresholds(self, scores, index, ordered):
        """Compute the threshold of each row on its score."""
        if self._looks_at_lists() or not self.cut_.is_score:
            return self.cut_.thresholds(scores, index, ordered)
        return np.full(len(scores), self.level_)

    def why_hidden(self, scores, groups) -> tuple[np.ndarray, np.ndarray]:
        """Return the score of each row of whole lists, and why it is hidden.

        The text of a row that is shown means nothing. There are no warnings: `predict` gives them.
        """
        scores, more, names = self._read(scores, self.cut_)
        more = self.cut_.check_columns(more, names)
        index = check_groups(groups, n_rows=len(scores))
        passes = self._ordered(scores, more, index, capped=False) > -np.inf
        why = self.cut_.why_hidden(self.level_) or f"hidden by {type(self).__name__}"
        reasons = np.full(len(scores), why, dtype=object)
        if self.caps_.most is not None:
            reasons[passes] = f"beyond the first {self.caps_.most}"
        reasons[np.isneginf(scores)] = "score of -inf"
        return scores, reasons

    def _looks_at_lists(self):
        """Tell whether showing a row depends on more than its own score."""
        return self.cut_.needs_lists or self.caps_ != Caps()

    def shows_all(self) -> bool:
        """Tell whether everything is shown, so that margins are the scores."""
        return self.cut_.shows_all and self.caps_ == Caps()

    def score(
        self,
        scores,
        y=None,
        groups=None,
        *,
        query_weight: QueryWeight = None,
        sample_weight=None,
    ) -> float:
        """Compute the mean of `measure` over the queries.

        Parameters
        ----------
        scores : array-like of shape (n_rows,) or (n_rows, 2), DataFrame, or Rows
            Scores of whole lists, with the columns of `fit`. :class:`skfilterrank.io.Rows` hold
            labels and query ids, too, and are read once; no other array may be given with them.
        y : array-like of shape (n_rows,) or (n_rows, 2)
            Labels, as in :meth:`fit`; NaN where unjudged, which counts as gain 0.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. None looks for an index level "qid" on `y`, then on `scores`.
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
            return super().score(scores, y, groups, **weights)
        check_is_fitted(self, msg=NOT_FITTED)
        given = {"y": y, "groups": groups, **weights}
        check_rows(scores, f"{type(self).__name__}.score", **given)
        return mean_of_rows(self, scores, self._score_measure(), self.gains)

    # Reading and checking.

    def rows_as_queries(self, n_rows) -> np.ndarray:
        """Treat each row as a query, and warn."""
        warn_user(
            f"{type(self).__name__} was fitted without query ids: each row counts as a separate "
            "query (pure filtering). Pass groups=, the query id of each row, or, as inside "
            "scikit-learn's model selection, a Series y with an index level named 'qid'.",
            FitWarning,
        )
        return np.arange(n_rows)

    def check_weights(self, query_weight, *, n_more: int = 0) -> None:
        """Raise for query weights if the threshold does not support them."""
        takes = not self.is_calibrated and self._cut_of(n_more).takes_weights
        if query_weight is not None and not takes:
            raise InputError(
                f"query_weight is not possible with {type(self).__name__}, which counts each query "
                "once: use TunedThreshold, or leave query_weight out."
            )

    def gains_of_fit(self) -> Gains:
        """Return the gains of the last fit, even if `set_params` changed the parameter."""
        return vars(self).get("_fitted_gains", self.gains)

    def _labels_to_score(self, y):
        return labels_in_one_column(y, self.gains)

    def parsed_measure(self) -> ParsedMeasure:
        """Return the measure that the parameter names."""
        return parse_measure("ndcg_f" if self.measure is None else self.measure).for_threshold()

    def _score_measure(self) -> ParsedMeasure:
        """Return the measure of the last fit, even if `set_params` changed the parameter."""
        return parse_measure(self.measure_)

    def check_parameters(self) -> None:
        """Raise a ValueError for parameters that are out of range or exclude each other."""
        self._cut_of(0).check_measure(self.parsed_measure())
        most = check_count(self.max_shown, "max_shown", or_none=True)
        least = check_count(self.min_shown, "min_shown", or_none=True)
        if least is not None and most is not None and least > most:
            raise InputError(
                f"{{min_shown}} must be at most {{max_shown}}, got {{min_shown={least}}} and "
                f"{{max_shown={most}}}.",
                argument=("min_shown", "max_shown", f"min_shown={least}", f"max_shown={most}"),
            )
        check_choice(self.keep_if, "keep_if", ("better", None))

    def _forget(self):
        """Delete the attributes of an earlier fit."""
        for name in tuple(vars(self)):
            if name.endswith("_") and name[0] != "_" and name != "fitted_with_groups_":
                delattr(self, name)
        self.caps_ = Caps(self.min_shown, self._most_shown())
        self._fitted_gains = self.gains

    def _set_level(self, cut: Cut, level: float) -> None:
        """Set a level that was found elsewhere."""
        self._forget()
        self.measure_ = self.parsed_measure().text
        self.cut_, self.level_ = cut, level
        self.threshold_ = level if cut.is_score else None

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        # scikit-learn's checks would pass tables of random features, but columns here have names.
        tags.input_tags.two_d_array = False
        return tags


class Threshold(BaseThreshold):
    """An estimator on scores that shows a part of each list: a cut, and a level of its keys.

    Parameters
    ----------
    cut : Cut
        How scores become keys; rows with keys at or above the level are shown.
    measure : str, callable or None, default=None
        Measure whose mean the level maximises; None means "ndcg_f", and inside RankAndFilter its
        measure.
    max_shown, min_shown : int or None, default=None
        Largest and smallest number of shown documents of a query; lists shorter than `min_shown`
        are shown whole.
    keep_if : "better" or None, default=None
        "better" takes the row of `held_out_` with the highest value: the threshold, everything,
        nothing, the first k, or hiding below 0. None takes the threshold, and may warn.
    gains : None, "exp2", dict or callable, default=None
        Map from labels to gains, as in :func:`skfilterrank.metrics.ndcg_f_score`. A gain below 0
        marks a forbidden document.

    Attributes
    ----------
    cut_ : Cut
        The fitted cut; that of the answer that was taken instead, if one was.
    level_ : float
        Rows with keys at or above it are shown, apart from caps.
    threshold_ : float or None
        The level, if keys are scores.
    threshold_curve_ : ThresholdCurve
        The measure at every level, if the level was searched for.
    best_score_ : float
        The measure of the rows of `fit`, negated if lower is better; optimistic for new queries.
    held_out_ : DataFrame
        Mean "value" of held-out queries by the threshold and by answers that need none
        ("everything", "nothing", "first k", and if scores are expected gains, as within a
        RankAndFilter of a regressor, "hide below 0"). Beside it stand the "difference" of the
        threshold to each, its standard "error", and "low" and "high" of its interval (95 %,
        Student's t), paired by query or cluster: unequal clusters or weights count as their
        effective number, and a single cluster has NaN. Of at most 10,000 queries; not set for a
        single one.
    summary_ : str
        A line with the shares of documents, good ones and forbidden ones that are shown, with
        ``false_reject_rate@k`` of :func:`skfilterrank.metrics.rank_filter_report` if `measure` has
        a cut-off, and with `held_out_`. With ``keep_if="better"`` also which answer was kept.
    list_sizes_ : ndarray of shape (2,), dtype float64
        Usual list sizes: 5 % and 95 % quantiles.
    calibration_ : Calibration
        Quantiles of the scores and share of shown documents, with which new scores are compared.
    comparability_ : ScoreComparability
        Whether scores compare between queries, by :func:`score_comparability`. Not set without
        query ids.
    measure_ : str
        Name of the measure with its cut-off.
    n_unjudged_ : int
        Number of rows with a NaN label, which count as gain 0.

    See Also
    --------
    Cut : Base class of cuts, with an example.
    TunedThreshold : The best threshold on the score.
    """

    def __init__(
        self,
        cut: Any,
        measure: Any = None,
        *,
        max_shown: int | None = None,
        min_shown: int | None = None,
        keep_if: str | None = None,
        gains: Gains = None,
    ) -> None:
        super().__init__(
            measure, max_shown=max_shown, min_shown=min_shown, keep_if=keep_if, gains=gains
        )
        self.cut = cut

    def _cut_of(self, n_more):
        return copy.deepcopy(self.cut)

    def check_parameters(self) -> None:
        """Raise a ValueError for parameters that are out of range or exclude each other."""
        if not isinstance(self.cut, Cut):
            raise InputError(
                f"cut must be an object of a subclass of Cut, got {brief(self.cut)}. Define keys() "
                "in a subclass, and give an object of it."
            )
        super().check_parameters()


def _warn_if_few_weigh(judged):
    """Warn if weights, or clusters of unequal size, leave few effective queries or clusters."""
    weights = np.bincount(judged.clusters, judged.lists.weights)[distinct_numbers(judged.clusters)]
    if (n_effective := effective_number(weights)) >= min(ENOUGH, len(weights) / 2):
        return
    cause = "clusters differ in size, which leaves"
    remedy = "Give smaller clusters, or judge queries of more of them."
    if judged.lists.weights is not None:
        cause = "query_weight leaves"
        remedy = "Bound the largest weights, or judge more of the queries that weigh much."
    unit = plural("query" if judged.unit is None else judged.unit)
    warn_user(
        f"{cause} {n_effective:.1f} effective {unit} of {len(weights)} (the squared sum of the "
        "weights, divided by the sum of their squares), so that few decide about the threshold. "
        f"{remedy}",
        FitWarning,
    )

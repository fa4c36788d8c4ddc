"""LearnedThreshold: cut at the highest expected value, with probabilities from list features."""

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from skfilterrank._base.checks import check_count, check_random_state, check_verbose
from skfilterrank._base.sklearn_compat import limit_threads, number_columns
from skfilterrank._lists.gains import Gains
from skfilterrank._lists.measure import ParsedMeasure
from skfilterrank.exceptions import InputError, InputTypeError, brief, brief_list
from skfilterrank.thresholds._cuts import Cut
from skfilterrank.thresholds._expected_values import (
    check_has_prefix_values,
    expected_steps,
    path_keys,
)
from skfilterrank.thresholds._judged_scores import SCORE, cluster_means, mean_of_clusters
from skfilterrank.thresholds._list_learner import ListLearner
from skfilterrank.thresholds._threshold import BaseThreshold

# Number of factors that are tried between 1 and the best one.
_N_FACTORS = 33
_SMALLEST_FACTOR = 1e-3


class ByList(Cut):
    """Keys are the highest factors on losses at which rows are shown, from features of lists.

    Parameters are those of :class:`LearnedThreshold`.
    """

    n_more = None
    learns_sizes = True
    takes_weights = False
    learner: ListLearner
    parsed: ParsedMeasure

    def __init__(self, estimator, columns, cv, random_state, n_jobs, verbose):
        self.estimator = estimator
        self.columns = columns
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def check_measure(self, parsed):
        """Raise for a measure without an expected value of each prefix."""
        check_has_prefix_values(parsed, "LearnedThreshold")

    def check_columns(self, more, names):
        """Return the columns of `fit`, in its order."""
        return np.column_stack([more[:, :0], *_chosen(more, names, self.columns).values()])

    # For as few terms as these, threads of BLAS take far more time than they save.
    @limit_threads(limits=1, user_api="blas")
    def learn(self, judged, parsed):
        """Learn from features of lists; return out-of-fold keys."""
        self.parsed = parsed
        self.learner, chances = ListLearner.fitted(
            judged.scores,
            judged.gains,
            judged.index,
            list(judged.fold_rows(self.cv)),
            columns=_chosen(judged.more, judged.more_names, self.columns),
            estimator=self.estimator,
            rng=check_random_state(self.random_state),
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )
        self.columns = self.learner.columns
        return self._keys_of(chances, judged.scores, judged.index)

    def keys(self, scores, more, index):
        """Return the highest factor on losses at which each row is shown."""
        columns = dict(zip(self.learner.columns, more.T))
        return self._keys_of(self.learner.predict(scores, index, columns), scores, index)

    def _keys_of(self, kinds, scores, index):
        """Compute the key of each row from the class probabilities."""
        # P(gain >= level), for each level but the lowest.
        chances = np.cumsum(kinds[:0:-1], axis=0)[::-1]
        gains = self.learner.gains
        steps = expected_steps(self.parsed, gains, chances, scores, index, plug_in=True)
        return path_keys(steps)

    def best_level(self, judged, keys, entries, among):
        """Choose the factor nearest to 1 that is within one standard error of the best."""
        among = np.ones(judged.index.n_queries, dtype=bool) if among is None else among
        best, _ = entries.best(among)

        def values(level):
            return np.nan_to_num(entries.at(level))[among]

        highest, clusters = values(best), judged.clusters[among]
        nearest = np.clip(best, _SMALLEST_FACTOR, 1.0 / _SMALLEST_FACTOR)
        for factor in np.geomspace(1.0, nearest, _N_FACTORS):
            mean, error, _ = mean_of_clusters(*cluster_means(highest - values(factor), clusters))
            if mean <= np.nan_to_num(error):
                return float(factor)
        return best

    def state(self):
        """Return the numbers of the learner."""
        return self.learner.state()

    @classmethod
    def restored(cls, state, parsed):
        """Make the cut from JSON."""
        found = cls(None, None, 2, None, None, 0)
        found.parsed, found.learner = parsed, ListLearner.restored(state)
        found.columns = found.learner.columns
        return found


def _chosen(more, names, columns) -> dict:
    """Return the chosen columns by name; None chooses all."""
    columns = names if columns is None else columns
    if missing := [name for name in columns if name not in names]:
        raise InputError(
            f"scores lacks the columns {brief_list(missing)}. Give a data frame with these columns "
            f"and {SCORE!r}, or use the threshold in RankAndFilter, whose X has them."
        )
    return {name: more[:, names.index(name)] for name in columns}


def _listed(columns) -> list | None:
    """Return the parameter `columns` as a list of texts and Python integers, or None."""
    if columns is None:
        return None
    if isinstance(columns, str):
        raise InputError(f'columns must be a list, got {brief(columns)}: write ["{columns}"].')
    found = columns.tolist() if hasattr(columns, "tolist") else columns
    if isinstance(found, list | tuple):
        found = [each.item() if isinstance(each, np.generic) else each for each in found]
        are_names = (isinstance(each, str | int) and not isinstance(each, bool) for each in found)
        if all(are_names) and SCORE not in found:
            return found
    raise InputError(
        "columns must be a list of names (str) or numbers (int) of columns besides that of the "
        f"score, {SCORE!r}, got {brief(columns)}. Give a list such as ['length'], and rename a "
        f"column {SCORE!r}."
    )


class LearnedThreshold(BaseThreshold):
    """A threshold that cuts each list by features of the whole list.

    A model learns the probability of each gain from features of the list, see Notes. Each list is
    cut at the prefix of the highest expected value. Expected losses by bad documents are multiplied
    by a factor, which is tuned on out-of-fold probabilities.

    Parameters
    ----------
    measure : str or None, default=None
        Measure whose expected value is maximised: any name of the measure table with a value for
        each prefix of a list, such as "ndcg_f@10", "f", "dcg", "ap" or "rbp". None means "ndcg_f",
        and inside RankAndFilter its measure.
    estimator : classifier or None, default=None
        Classifier with `predict_proba` for classes of gains given the features. None uses a mixture
        of boosted trees of LightGBM, a logistic regression, and a rising curve of the score. The
        shares of the mixture are chosen by the log loss on held-out queries. Each distinct gain is
        a class; more than ten gains are put into ten bins.
    columns : sequence of str or int, or None, default=None
        Further features of a document: columns of the table of scores. Inside RankAndFilter they
        are columns of X: by name if X is a table, else by number. None takes all columns of a
        table of scores, and none of X. If no column of a table of scores is called "score", it is
        the only one that is not chosen, or with None the first.
    cv : int, default=10
        Number of folds by query, at least 2, for out-of-fold probabilities.
    max_shown, min_shown : int or None, default=None
        Largest and smallest number of shown documents of a query; lists shorter than `min_shown`
        are shown whole.
    keep_if : "better" or None, default=None
        As in :class:`TunedThreshold`.
    gains : None, "exp2", dict or callable, default=None
        Map from labels to gains, as in :func:`skfilterrank.metrics.ndcg_f_score`.
    random_state : int, RandomState or None, default=None
        Seed of the models. Pass an int for results that can be repeated: with None each fit draws
        other seeds, and the factor can change by much if queries are few.
    n_jobs : int or None, default=None
        Number of folds that are fitted in parallel, as in joblib.
    verbose : int, default=0
        Above 0, progress is printed.

    Attributes
    ----------
    level_ : float
        Factor on losses: each list shows the best prefix at this factor. 1 means the expected value
        itself, and -inf shows everything.
    threshold_curve_ : ThresholdCurve
        The measure at every factor, with out-of-fold probabilities.
    cut_ : Cut
        The fitted cut. `cut_.learner` holds the models: `gains` of each class, ascending, `shares`
        of "trees", "linear" and "score" in the mixture, and `columns`, the additional columns of
        the table, which `predict` needs, too.
    best_score_, held_out_, comparability_
        See :class:`TunedThreshold`. All use out-of-fold probabilities. For `held_out_` the factor
        is chosen without the query's fold, too, but the shares of the mixture are not.
    measure_ : str
        Name of the measure with its cut-off.

    See Also
    --------
    ExpectedThreshold : Learns probabilities from the score alone.

    Notes
    -----
    Features of a document:

    ========================  ============================================================
    score                     the score itself
    z                         standard deviations above the mean of the list
    min_max                   0 for the lowest score of the list, 1 for the highest
    log_place                 log(1 + number of documents of higher score)
    ratio_to_first            score over the highest score, 0 where that is 0
    below_first               score less the highest score, at most 0
    running_mean              mean of this and all higher scores of the list
    gap_1, 5, 20, 60          score less the score so many places below, or the last one
    first, tenth, hundredth,  scores at these places, the last one in shorter lists
    last
    mean, std, log_size       mean, standard deviation and log size of the list
    ========================  ============================================================

    Documents of equal scores have equal features, whatever the order of the rows: gaps and running
    means are those of the last of them. In a list of equal scores, z and min_max are 0.

    Let ``u`` be the expected increase of the measure by a document (if it is good), and ``v`` the
    expected decrease (if it is bad). The shown prefix is the longest one that maximises the sum of
    ``u - factor * v``. As the factor grows, best prefixes get shorter along the concave hull
    of the running sums, so all factors are tried at once. The chosen factor is the one nearest to 1
    within one standard error of the best, since a hundred queries cannot distinguish factors more
    finely. Expectations of sums over documents are exact, F is computed from expected numbers of
    relevant documents, and other measures are averaged over draws, as in
    :class:`ExpectedThreshold`.

    Columns of X that tell lists apart, such as the length of a query, help where scores do not
    compare between queries.

    Examples
    --------
    >>> import pandas as pd
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.thresholds import LearnedThreshold
    >>> _, y, groups, scores = make_rank_and_filter(100, random_state=0)
    >>> cut = LearnedThreshold("ndcg_f@3", cv=3, random_state=0).fit(scores, y, groups=groups)
    >>> shown = cut.predict(scores, groups=groups)
    >>> bool((shown > -float("inf")).any())
    True

    Two features of the model are features of the threshold, too:

    >>> from sklearn.linear_model import LogisticRegression
    >>> from skfilterrank.ranking import RankAndFilter
    >>> X, y, groups, _ = make_rank_and_filter(100, random_state=0)
    >>> cut = LearnedThreshold("ndcg_f@3", columns=[0, 1], cv=3, random_state=0)
    >>> model = RankAndFilter(LogisticRegression(), cut).fit(X, y, groups=groups)
    >>> model.filter_.cut_.learner.columns
    [0, 1]
    """

    def __init__(
        self,
        measure: str | None = None,
        *,
        estimator: Any = None,
        columns: Any = None,
        cv: int = 10,
        max_shown: int | None = None,
        min_shown: int | None = None,
        keep_if: str | None = None,
        gains: Gains = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            measure, max_shown=max_shown, min_shown=min_shown, keep_if=keep_if, gains=gains
        )
        self.estimator = estimator
        self.columns = columns
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _cut_of(self, n_more):
        given = (getattr(self, name) for name in ("cv", "random_state", "n_jobs", "verbose"))
        return ByList(self.estimator, _listed(self.columns), *given)

    def columns_of(self, X) -> dict:
        """Return the columns of X, by name, that are further features."""
        names = vars(self).get("cut_", self._cut_of(0)).columns
        if not names:
            return {}
        places, own = names, list(getattr(X, "columns", ()))
        try:
            if own:
                if unknown := [name for name in names if name not in own]:
                    raise InputError(
                        f"X has no {brief_list(unknown)}. Its columns are {brief_list(own)}."
                    )
                places = [own.index(name) for name in names]
            return dict(zip(names, number_columns(X, places).T))
        except (ValueError, LookupError, TypeError) as error:
            raise InputError(
                f"columns must name columns of numbers of X, got {brief(names)}: {error}"
            ) from error

    def check_parameters(self) -> None:
        """Raise a ValueError for parameters that are out of range or exclude each other."""
        check_count(self.cv, "cv", 2)
        _listed(self.columns)
        check_random_state(self.random_state)
        check_verbose(self.verbose)
        if self.estimator is not None and not (
            hasattr(self.estimator, "predict_proba") and is_classifier(self.estimator)
        ):
            raise InputTypeError(
                "estimator must be a classifier with predict_proba or None, got "
                f"{brief(self.estimator)}."
            )
        super().check_parameters()

"""LearnedThreshold: features of lists, a learner of chances, and the cut of the highest value."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from joblib import delayed
from sklearn.base import clone, is_classifier

from skfilterrank._base.checks import check_count, check_random_state, check_verbose
from skfilterrank._base.sklearn_compat import limit_threads, number_columns
from skfilterrank._base.words import in_parallel
from skfilterrank._estimators.responses import column_labels
from skfilterrank._files.states import array, label
from skfilterrank._lists.gains import Gains
from skfilterrank._lists.measure import ParsedMeasure
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.exceptions import InputError, InputTypeError, brief, brief_list
from skfilterrank.thresholds._cuts import Cut
from skfilterrank.thresholds._expected import levels_of
from skfilterrank.thresholds._expected_values import (
    check_has_prefix_values,
    expected_steps,
    path_keys,
)
from skfilterrank.thresholds._judged_scores import SCORE, cluster_means, mean_of_clusters, unit_of
from skfilterrank.thresholds._list_models import (
    Booster,
    Curves,
    Linear,
    Own,
    Shares,
    Trees,
    best_share,
    fit_member,
    mixed,
    mixture,
)
from skfilterrank.thresholds._threshold import BaseThreshold

# Distances in places for the features that are differences of scores.
GAPS = (1, 5, 20, 60)
_OF_DOCUMENT = ("score", "z", "min_max", "log_place", "ratio_to_first", "below_first")
_OF_LIST = ("first", "tenth", "hundredth", "last", "mean", "std", "log_size")
FEATURES = (*_OF_DOCUMENT, "running_mean", *(f"gap_{gap}" for gap in GAPS), *_OF_LIST)
# Names of the models in the default mixture, and the maker of each.
_MIXTURE: dict[str, Any] = {"trees": Booster, "linear": Linear, "score": Curves}
# Models that JSON can hold, by name.
_SAVED: dict[str, Any] = {kind.__name__: kind for kind in (Trees, Linear, Curves, Shares)}
# Number of factors that are tried between 1 and the best one.
_N_FACTORS = 33
_SMALLEST_FACTOR = 1e-3


def feature_matrix(scores: np.ndarray, index: GroupIndex) -> np.ndarray:
    """Compute the features of checked scores; NaN where a row scores -inf."""
    result = np.full((len(scores), len(FEATURES)), np.nan)
    for block in index.blocks():
        padded = index.take(scores, block, -np.inf)
        for column, values in enumerate(_of_block(padded)):
            # Columns of the matrix are filled one by one.
            index.put(result[:, column], block, values)
    return result


def _of_block(scores):
    """Yield each feature of some lists, shape (n_lists, width); NaN where the score is -inf.

    Sums are computed within each list, so that they do not depend on other lists.
    """
    n_lists, width = scores.shape
    order = np.argsort(-scores, axis=1, kind="stable")
    ranked = np.take_along_axis(scores, order, axis=1)
    places = np.arange(width)
    listed = ranked > -np.inf
    size = listed.sum(axis=1, keepdims=True)
    last = np.maximum(size - 1, 0)
    # The statistics of an empty list are NaN.
    ranked = np.where(listed, ranked, np.where(size > 0, np.take_along_axis(ranked, last, 1), 0.0))
    is_new = np.ones((n_lists, width), dtype=bool)
    is_new[:, 1:] = (ranked[:, 1:] != ranked[:, :-1]) | (places[1:] == size)
    above = np.maximum.accumulate(np.where(is_new, places, 0), axis=1)
    ends = np.append(is_new[:, 1:], np.ones((n_lists, 1), dtype=bool), axis=1)
    end = np.minimum.accumulate(np.where(ends, places, width)[:, ::-1], axis=1)[:, ::-1]

    def at(place):
        return np.take_along_axis(ranked, np.minimum(place, last), axis=1)

    def divided(values, by):
        return np.divide(values, by, out=np.zeros_like(ranked), where=by != 0)

    first = ranked[:, :1]
    # Sums of differences to the first score are exact if all scores are equal.
    with np.errstate(over="ignore", invalid="ignore"):
        below = ranked - first
        sums = np.cumsum(np.where(listed, below, 0.0), axis=1)
        n = np.maximum(size, 1)
        mean = sums[:, -1:] / n
        deviation = np.where(listed, below - mean, 0.0)
        std = np.sqrt(np.cumsum(deviation**2, axis=1)[:, -1:] / n)
        lowest = -below[np.arange(n_lists)[:, None], last]
        in_order = [
            ranked,
            divided(deviation, std),
            divided(below + lowest, lowest),
            np.log1p(above),
            divided(ranked, first),
            below,
            first + np.take_along_axis(sums, end, axis=1) / (end + 1.0),
            *(ranked - at(end + gap) for gap in GAPS),
            *(at(np.full((n_lists, 1), place)) for place in (0, 9, 99, width)),
            first + mean,
            std,
            np.log(n),
        ]
    for values in in_order:
        values = np.where(listed, values, np.nan)
        result = np.empty_like(values)
        np.put_along_axis(result, order, values, axis=1)
        yield result


@dataclass(frozen=True)
class ListLearner:
    """Models of the gain of a document, given the features of its list.

    Attributes
    ----------
    gains : ndarray of shape (n_kinds,)
        Gain of each class, ascending.
    columns : list of str or int
        Additional features of a document.
    unit : float
        Factor on scores.
    members : list
        The fitted models.
    shares : dict of str to float
        Share of each model in the mixture.
    """

    gains: np.ndarray
    columns: list[str | int]
    unit: float
    members: list
    shares: dict[str, float]

    @classmethod
    def fitted(
        cls, scores, gains, index, folds, *, columns, estimator, rng, n_jobs, verbose
    ) -> tuple["ListLearner", np.ndarray]:
        """Fit the models; return the learner, and chances of rows by models of other folds.

        Parameters
        ----------
        scores, gains : ndarray of shape (n_rows,)
            Scores, -inf where hidden, and gains, NaN where unjudged.
        index : GroupIndex
            The queries.
        folds : sequence of (train, test)
            Rows of each fold; without folds the chances are those of the learner itself.
        columns : dict of str to ndarray
            Additional features.
        estimator : classifier or None
            Classifier to use in place of the mixture.
        rng : RandomState
            Source of seeds.
        n_jobs, verbose : int or None
            As in :class:`LearnedThreshold`.

        Returns
        -------
        learner : ListLearner
            The learner of all rows.
        chances : ndarray of shape (n_kinds, n_rows)
            Probability of each class; 0 in hidden rows.
        """
        codes, unit, every = index.codes(), unit_of(scores), np.arange(len(scores))
        features = _features(scores * unit, index, columns)
        listed_rows = scores > -np.inf
        learned = listed_rows & ~np.isnan(gains)
        lows, levels = levels_of(gains[learned])
        kinds, n_kinds = np.searchsorted(lows, gains, side="right") - 1, len(lows)
        seeds = rng.randint(2**31 - 1, size=1 + len(folds))
        own = None if estimator is None else partial(Own.fitted, estimator=clone(estimator))
        makers = [each.fitted for each in _MIXTURE.values()] if own is None else [own]

        def members_of(rows, seed):
            rows = rows[learned[rows]]
            n_lists = len(np.unique(codes[rows]))
            return [
                fit_member(make, features[rows], kinds[rows], n_kinds, seed, n_lists)
                for make in makers
            ]

        def of_fold(place, train, test):
            if verbose:
                print(f"LearnedThreshold: fold {place + 1}", flush=True)
            test = test[listed_rows[test]]
            members = members_of(train, seeds[place + 1]) if len(test) else []
            return test, [model.predict(features[test]) for model in members]

        jobs = (delayed(of_fold)(place, *fold) for place, fold in enumerate(folds))
        found = list(in_parallel(jobs, n_jobs, prefer="threads"))
        fitted = members_of(every, seeds[0])
        members = [Trees.of(*each) if isinstance(each, Booster) else each for each in fitted]
        if not found:
            # With one query, nothing can be held out.
            rows = every[listed_rows]
            found = [(rows, [model.predict(features[rows]) for model in members if len(rows)])]
        chances = np.zeros((len(makers), n_kinds, len(gains)))
        for test, predicted in found:
            for of_member, values in zip(chances, predicted):
                of_member[:, test] = values
        shares = dict.fromkeys(_MIXTURE if own is None else ["estimator"], 1.0 / len(makers))
        if own is None and learned.any():
            shares = _best_shares(chances[:, :, learned], kinds[learned], codes[learned])
        learner = cls(levels, list(columns), unit, members, shares)
        return learner, learner._mixed(list(chances))

    def predict(self, scores, index, columns) -> np.ndarray:
        """Predict the probability of each class; shape (n_kinds, n_rows), 0 in hidden rows."""
        rows = np.flatnonzero(scores > -np.inf)
        features = _features(scores * self.unit, index, columns)[rows]
        chances = np.zeros((len(self.gains), len(scores)))
        if len(rows):
            chances[:, rows] = self._mixed([model.predict(features) for model in self.members])
        return chances

    def _mixed(self, chances):
        """Mix the class probabilities of all models."""
        return chances[0] if len(chances) == 1 else mixture(chances, self.shares.values())

    def state(self) -> dict:
        """Return the numbers of the models."""
        for member in self.members:
            if type(member).__name__ not in _SAVED:
                raise InputError(
                    "LearnedThreshold has learned with an estimator of its own, which JSON cannot "
                    "hold: save it with joblib.dump."
                )
        members = [[type(member).__name__, *member] for member in self.members]
        columns = [label(each, "scores has the column") for each in self.columns]
        return vars(self) | {"members": members, "columns": columns}

    @classmethod
    def restored(cls, state) -> "ListLearner":
        """Make the learner from its numbers."""
        members = [
            _SAVED[name]._make(_whole_or_float(np.array(each)) for each in numbers)
            for name, *numbers in state["members"]
        ]
        return cls(**state | {"members": members, "gains": array(state["gains"])})


def _whole_or_float(found):
    """Return numbers of nodes as they are, and other numbers as float64."""
    return found if found.dtype.kind == "i" else found.astype(np.float64)


def _features(scores, index, columns):
    """Compute the features of each row, additional columns last."""
    own = [np.asarray(values, dtype=np.float64) for values in columns.values()]
    for name, values in zip(columns, own):
        if not np.isfinite(values).all():
            raise InputError(
                f"column {brief(name)} holds a number that is not finite: fill it first."
            )
    return np.column_stack([feature_matrix(scores, index), *own])


def _best_shares(chances, kinds, lists):
    """Choose the shares of the models by their log loss."""
    trees, linear, score = chances
    of_trees = best_share(trees, linear, kinds, lists)
    learner = mixed(trees, linear, of_trees)
    # Prefer the curve of the score, unless list features are better by more than a standard error.
    rest = best_share(learner, score, kinds, lists, simple=True)
    return {"trees": rest * of_trees, "linear": rest * (1 - of_trees), "score": 1 - rest}


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
        table of scores, and none of X. If no column of a table of scores is called "score", the
        score is the only column that is not chosen, or with None the first column.
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
        of "trees", "linear" and "score" in the mixture (of "estimator" if one was given), and
        `columns`, the additional columns of the table, which `predict` needs, too.
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
        labels = column_labels(X)
        places, own = names, [] if labels is None else list(labels)
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

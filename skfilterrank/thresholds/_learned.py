"""LearnedThreshold: cut at the highest expected value, with probabilities from list features."""

from functools import partial
from typing import Any

import numpy as np
from joblib import delayed
from sklearn.base import clone, is_classifier

from skfilterrank._files.states import POSITIVE, listed, number, numbers, record, text
from skfilterrank._lists.checks import check_count, check_number, check_random_state
from skfilterrank._lists.gains import Gains
from skfilterrank._lists.scoring import mean_and_error
from skfilterrank._lists.sklearn_compat import limit_threads
from skfilterrank._lists.ties import first_of_highest
from skfilterrank._lists.words import in_parallel
from skfilterrank.exceptions import InputError, InputTypeError, brief, brief_list
from skfilterrank.thresholds._base import BaseThreshold
from skfilterrank.thresholds._expected import check_gains, levels_of
from skfilterrank.thresholds._expected_values import (
    expected_steps,
    path_keys,
)
from skfilterrank.thresholds._judged_scores import cluster_means, unit_of
from skfilterrank.thresholds._list_learner import (
    FEATURES,
    N_SEEDS,
    Curves,
    Linear,
    Own,
    Shares,
    Trees,
    best_share,
    feature_matrix,
    fit_member,
    mixed,
    mixture,
)

# Number of factors that are tried between 1 and the best one.
_N_FACTORS = 33
_SMALLEST_FACTOR = 1e-3
_FIELDS = record(
    {
        "gains": numbers(1),
        "columns": listed(text),
        "shares": record({name: number(0, 1) for name in ("trees", "linear", "score")}),
        "cost": number(0),
    },
    {
        "trees": Trees.restored,
        "linear": Linear.restored,
        "score": Curves.restored,
    },
    {"constant": Shares.restored},
    {"unit": number(POSITIVE)},
)


class LearnedThreshold(BaseThreshold):
    """A cut of each list, learned from features of the whole list.

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
    cv : int, default=10
        Number of folds by query, at least 2, for out-of-fold probabilities.
    cost : float, default=0.0
        Cost of each shown document in units of the measure. The threshold maximises the measure
        minus `cost` times the number of shown documents.
    max_shown, min_shown : int or None, default=None
        Largest and smallest number of shown documents of a query; shorter lists are shown whole.
    gains : None, "exp2", dict or callable, default=None
        Map from labels to gains, as in :func:`skfilterrank.metrics.ndcg_f_score`.
    random_state : int, RandomState or None, default=None
        Seed of the models. Models of several seeds are averaged.
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
    gains_ : ndarray of shape (n_kinds,)
        Gain of each class, ascending.
    shares_ : dict of str to float
        Shares of "trees", "linear" and "score" in the mixture.
    columns_ : list of str
        Additional columns of the table, which `predict` needs, too.
    best_score_, held_out_score_, held_out_score_unfiltered_ : float
        See :class:`TunedThreshold`. All use out-of-fold probabilities. For `held_out_score_` the
        factor is chosen without the query's fold, too, but the shares of the mixture are not.
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
    ``u - factor * v - cost``. As the factor grows, best prefixes get shorter along the concave hull
    of the running sums, so all factors are tried at once. The chosen factor is the one nearest to 1
    within one standard error of the best, since a hundred queries cannot distinguish factors more
    finely. Expectations of sums over documents are exact, F is computed from expected numbers of
    relevant documents, and other measures are averaged over draws. In lists with more than 48
    prefixes down to the cut-off, measures that are not sums are computed at 48 prefixes, as in
    :class:`ExpectedThreshold`.

    Other columns of a table of scores are used as additional features.

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
    """

    gains_: Any
    shares_: Any
    columns_: list[str]

    _column_names = None
    _needs_prefix_values = True

    def __init__(
        self,
        measure: str | None = None,
        *,
        estimator: Any = None,
        cv: int = 10,
        cost: float = 0.0,
        max_shown: int | None = None,
        min_shown: int | None = None,
        gains: Gains = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(measure, max_shown=max_shown, min_shown=min_shown, gains=gains)
        self.estimator = estimator
        self.cv = cv
        self.cost = cost
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self, parsed):
        super()._check_parameters(parsed)
        check_count(self.cv, "cv", 2)
        check_number(self.cost, "cost", least=0)
        check_random_state(self.random_state)
        check_count(self.verbose, "verbose", 0)
        if self.estimator is not None and not (
            hasattr(self.estimator, "predict_proba") and is_classifier(self.estimator)
        ):
            raise InputTypeError(
                "estimator must be a classifier with predict_proba or None, got "
                f"{brief(self.estimator)}."
            )

    # Learning.

    # For as few terms as these, threads of BLAS take far more time than they save.
    @limit_threads(limits=1, user_api="blas")
    def _learn(self, judged, parsed):
        gains, scores, index = judged.gains, judged.scores, judged.index
        self.measure_, self._cost = parsed.text, float(self.cost)
        self._unit = unit_of(scores)
        self.columns_ = list(judged.columns)
        features = self._features(scores, index, judged.columns)
        listed_rows = scores > -np.inf
        learned = listed_rows & ~np.isnan(gains)
        lows, self.gains_ = levels_of(gains[learned])
        kinds = np.searchsorted(lows, gains, side="right") - 1
        rng = check_random_state(self.random_state)
        seeds = rng.randint(2**31 - 1, size=N_SEEDS + self.cv)
        makers = self._makers()
        n_kinds, codes = len(lows), judged.codes

        def fitted(make, rows, own_seeds):
            rows = rows[learned[rows]]
            n_lists = len(np.unique(codes[rows]))
            return fit_member(make, features[rows], kinds[rows], n_kinds, own_seeds, n_lists)

        def of_fold(place, train, test):
            if self.verbose:
                print(f"{type(self).__name__}: fold {place + 1}", flush=True)
            test = test[listed_rows[test]]
            seed = seeds[N_SEEDS + place : N_SEEDS + place + 1]
            return test, [
                fitted(make, train, seed).predict(features[test]) if len(test) else None
                for make in makers
            ]

        every = np.arange(len(gains))
        folds = enumerate(judged.fold_rows(self.cv))
        jobs = (delayed(of_fold)(place, train, test) for place, (train, test) in folds)
        found = list(in_parallel(jobs, self.n_jobs, prefer="threads"))
        self.members_ = [fitted(make, every, seeds[:N_SEEDS]) for make in makers]
        chances = [np.zeros((n_kinds, len(gains))) for _ in makers]
        for test, predicted in found:
            for member, own in zip(chances, predicted):
                if len(test):
                    member[:, test] = own
        if not found:
            # With one query, nothing can be held out.
            rows = every[listed_rows]
            for member, model in zip(chances, self.members_):
                if len(rows):
                    member[:, rows] = model.predict(features[rows])
        self.shares_ = self._best_shares(
            [member[:, learned] for member in chances], kinds[learned], codes[learned]
        )
        return self._keys_of(self._mixed(chances), scores, index)

    def _makers(self):
        """Return functions that fit each kind of model."""
        if self.estimator is None:
            return [Trees.fitted, Linear.fitted, Curves.fitted]
        return [partial(Own.fitted, estimator=clone(self.estimator))]

    def _features(self, scores, index, columns):
        """Compute the features of each row, additional columns last."""
        own = [np.asarray(columns[name], dtype=np.float64) for name in self.columns_]
        for name, values in zip(self.columns_, own):
            if not np.isfinite(values).all():
                raise InputError(
                    f"column {brief(name)} holds a number that is not finite: fill it first."
                )
        return np.column_stack([feature_matrix(scores * self._unit, index), *own])

    def _best_shares(self, chances, kinds, lists):
        """Choose the shares of the models by their log loss."""
        if self.estimator is not None or not len(kinds):
            return dict.fromkeys(("trees", "linear", "score")[: len(chances)], 1.0 / len(chances))
        trees, linear, score = chances
        of_trees = best_share(trees, linear, kinds, lists)
        learner = mixed(trees, linear, of_trees)
        # Prefer the curve of the score, unless list features are better by more than a standard
        # error.
        rest = best_share(learner, score, kinds, lists, simple=True)
        return {"trees": rest * of_trees, "linear": rest * (1 - of_trees), "score": 1 - rest}

    def _mixed(self, chances):
        """Mix the class probabilities of all models."""
        return chances[0] if len(chances) == 1 else mixture(chances, self.shares_.values())

    def _keys_of(self, kinds, scores, index):
        """Compute the key of each row from the class probabilities."""
        # P(gain >= level), for each level but the lowest.
        chances = np.cumsum(kinds[:0:-1], axis=0)[::-1]
        steps = expected_steps(
            self._score_measure(), self.gains_, chances, scores, index, plug_in=True
        )
        return path_keys(steps, self._cost)

    def _keys(self, scores, index, columns):
        if missing := [name for name in self.columns_ if name not in columns]:
            raise InputError(
                f"scores lacks the columns {brief_list(missing)}: give a table with the columns of "
                "fit."
            )
        rows = np.flatnonzero(scores > -np.inf)
        features = self._features(scores, index, columns)[rows]
        kinds = np.zeros((len(self.gains_), len(scores)))
        if len(rows):
            kinds[:, rows] = self._mixed([model.predict(features) for model in self.members_])
        return self._keys_of(kinds, scores, index)

    # The level.

    def _best_level(self, judged, keys, entries, among=None) -> float:
        """Choose the factor nearest to 1 that is within one standard error of the best."""
        codes = judged.codes
        among = np.ones(judged.index.n_queries, dtype=bool) if among is None else among
        sign = 1.0 if entries.greater_is_better else -1.0
        levels, means = entries.curve(among)
        best, _ = entries.best(among)
        if self._cost:
            counted = np.sort(keys[among[codes] & (keys > -np.inf)])
            n_shown = len(counted) - np.searchsorted(counted, levels, side="left")
            worth = sign * means - self._cost * n_shown / np.count_nonzero(among)
            place = first_of_highest(np.where(np.isnan(worth), -np.inf, worth))
            best = float(levels[place]) if place else -np.inf

        def values(level):
            found = sign * np.nan_to_num(entries.at(level))
            if self._cost:
                n_shown = np.bincount(codes[keys >= level], minlength=len(found))
                found = found - self._cost * n_shown
            return found[among]

        highest, clusters = values(best), judged.clusters[among]
        nearest = np.clip(best, _SMALLEST_FACTOR, 1.0 / _SMALLEST_FACTOR)
        for factor in np.geomspace(1.0, nearest, _N_FACTORS):
            mean, error, _ = mean_and_error(cluster_means(highest - values(factor), clusters))
            if mean <= error:
                return float(factor)
        return best

    # Files.

    def _state(self):
        state = {
            "gains": self.gains_,
            "columns": [str(name) for name in self.columns_],
            "shares": self.shares_,
            "cost": self._cost,
        } | ({} if self._unit == 1.0 else {"unit": self._unit})
        names = {Trees: "trees", Linear: "linear", Curves: "score", Shares: "constant"}
        for member in self.members_:
            if type(member) not in names:
                raise InputError(
                    f"LearnedThreshold has learned with {brief(self.estimator)}, which JSON cannot "
                    "hold: save it with joblib.dump."
                )
            state[names[type(member)]] = member.state()
        return state

    def _restore(self, state, name):
        state = _FIELDS(state, name)
        self.gains_, self.columns_ = state["gains"], state["columns"]
        self.shares_, self._cost = state["shares"], float(state["cost"])
        self._unit = state.get("unit", 1.0)
        check_gains(self.gains_, f"{name}.gains")
        if ("constant" in state) == ("trees" in state):
            raise InputError(
                f"{name} must have the keys trees, linear and score, or only constant."
            )
        names = ("trees", "linear", "score") if "trees" in state else ("constant",) * 3
        self.members_ = [state[each] for each in names]
        shape = len(FEATURES) + len(self.columns_), len(self.gains_)
        for each, member in zip(names, self.members_):
            if not member.fits(*shape):
                raise InputError(
                    f"{name}.{each} does not fit {name}.gains and columns: expected {shape[0]} "
                    f"features and {shape[1]} gains."
                )

"""The simplest threshold that is about as good as the best one on held-out queries."""

from typing import Any, Self

import numpy as np
import pandas as pd

from skfilterrank._files.states import record
from skfilterrank._lists.checks import check_random_state, one_of
from skfilterrank._lists.entry_values import EntryValues
from skfilterrank._lists.gains import Gains
from skfilterrank._lists.scoring import mean_and_error, mean_over_queries
from skfilterrank.exceptions import InputError
from skfilterrank.thresholds._base import BaseThreshold
from skfilterrank.thresholds._expected import ExpectedThreshold
from skfilterrank.thresholds._expected_values import check_has_prefix_values
from skfilterrank.thresholds._judged_scores import cluster_means, values_shown
from skfilterrank.thresholds._learned import LearnedThreshold
from skfilterrank.thresholds._rules import FirstK
from skfilterrank.thresholds._threshold_curve import ThresholdCurve
from skfilterrank.thresholds._tuned import TunedThreshold


class _Everything(BaseThreshold):
    """A threshold that shows every document of every list."""

    _level = -np.inf


# Candidates, the simplest first.
_CANDIDATES = {
    "everything": _Everything,
    "first_k": FirstK,
    "one_threshold": TunedThreshold,
    "expected": ExpectedThreshold,
    "learned": LearnedThreshold,
}
_BY_SCORE = ("everything", "one_threshold")
_FIELDS = record({"chosen": one_of(*_CANDIDATES), "state": lambda value, name: value})


class AutoThreshold(BaseThreshold):
    """The simplest of several thresholds that is about as good as the best on held-out queries.

    The candidates are showing everything, a fixed number of documents, one threshold on the score,
    the prefix of the highest expected value, and a :class:`LearnedThreshold`.

    Parameters
    ----------
    measure : str or None, default=None
        Measure to maximise: a name such as "ndcg_f@10", or a measure function. None means
        "ndcg_f", and inside RankAndFilter its measure.
    max_shown, min_shown : int or None, default=None
        Largest and smallest number of shown documents of a query; shorter lists are shown whole.
    abstain : {"best_score", "score_gap", "score_std", "score_regression"} or None, default=None
        Show nothing for a query whose confidence is below a level. The confidence is computed from
        the scores, as in :func:`risk_coverage_curve`. The level is the best one for the measure
        after the lists are cut.
    gains : None, "exp2", dict or callable, default=None
        Map from labels to gains, as in :func:`skfilterrank.metrics.ndcg_f_score`.
    random_state : int, RandomState or None, default=None
        Seed of the models of LearnedThreshold.
    n_jobs : int or None, default=None
        Number of folds of LearnedThreshold that are fitted in parallel.

    Attributes
    ----------
    chosen_ : threshold estimator
        The fitted threshold of the chosen candidate.
    candidates_ : DataFrame
        A row for each candidate, the simplest first. Columns: "value", the measure on held-out
        queries; "loss", the difference to the best candidate; "error", the standard error of that
        loss; "is_chosen".
    threshold_ : float or None
        Threshold on the score; None if the chosen candidate has none.
    best_score_, held_out_score_, held_out_score_unfiltered_ : float
        See :class:`TunedThreshold`. For `held_out_score_`, the candidate is chosen without the
        query's fold, too.
    measure_ : str
        Name of the measure with its cut-off.

    See Also
    --------
    TunedThreshold, FirstK, ExpectedThreshold, LearnedThreshold : The candidates.

    Notes
    -----
    Each candidate is evaluated on queries that it was not fitted on. The simplest candidate is
    chosen whose mean is within one standard error of the best mean. The standard error is that of
    the paired differences over queries. Filtering must therefore be better than showing everything
    by more than noise. For measures without an expected value for each prefix, only the first three
    candidates are used. Expected values in lists with more than 48 prefixes are interpolated as in
    :class:`ExpectedThreshold`.

    Examples
    --------
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.thresholds import AutoThreshold
    >>> _, y, groups, scores = make_rank_and_filter(100, random_state=0)
    >>> cut = AutoThreshold("dcg", random_state=0).fit(scores, y, groups=groups)
    >>> cut.candidates_.index.tolist()
    ['everything', 'first_k', 'one_threshold', 'expected', 'learned']
    >>> int(cut.candidates_["is_chosen"].sum())
    1
    """

    chosen_: Any

    _column_names = None

    def __init__(
        self,
        measure: str | None = None,
        *,
        max_shown: int | None = None,
        min_shown: int | None = None,
        abstain: str | None = None,
        gains: Gains = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            measure, max_shown=max_shown, min_shown=min_shown, abstain=abstain, gains=gains
        )
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def candidates_(self) -> pd.DataFrame:
        """Values of the candidates on held-out queries."""
        if "_compared" not in vars(self):
            raise AttributeError("candidates_ is set by fit, but is not saved with a threshold.")
        return pd.DataFrame(self._compared).set_index("rule")

    def _check_parameters(self, parsed):
        super()._check_parameters(parsed)
        check_random_state(self.random_state)

    def _make_candidates(self, parsed):
        """Make a dict of the candidates that support the measure, the simplest first."""
        given = {"max_shown": self.max_shown, "min_shown": self.min_shown, "gains": self.gains}
        made = {}
        for name, kind in _CANDIDATES.items():
            if name in ("expected", "learned"):
                try:
                    check_has_prefix_values(parsed, kind.__name__)
                except InputError:
                    continue
            own = {}
            if name == "learned":
                own = {"random_state": self.random_state, "n_jobs": self.n_jobs}
            made[name] = kind(parsed.text, **given, **own)
        return made

    def _fit_levels(self, judged, parsed):
        made = self._make_candidates(parsed)
        shown, held_out, values = {}, {}, {}
        for name, candidate in made.items():
            shown[name], entries = candidate._fit_levels(judged, parsed)
            held_out[name] = shown[name]
            if candidate._level is None and judged.clusters.min() < judged.clusters.max():
                held_out[name] = candidate._held_out_shown(judged, parsed, entries)
            (values[name],) = values_shown(judged.lists, parsed, held_out[name])
        vars(made.get("learned", self)).pop("_out_of_fold", None)
        names, values = list(values), np.stack(list(values.values()))
        clusters = judged.clusters
        chosen = names[_simplest(values, clusters)]
        self._compared = _compared(names, values, clusters, chosen)
        self.chosen_ = made[chosen]
        self.chosen_name_ = chosen
        self.level_ = self.chosen_.level_
        keys = self._capped(
            self._keys(judged.scores, judged.index, judged.columns), judged.scores, judged.index
        )
        lists = judged.lists.with_ties(parsed.measure.ties[0])
        entries = EntryValues.of(lists, parsed, keys)
        self.threshold_curve_ = ThresholdCurve.of(entries, parsed)
        # Rows shown by the candidate that is chosen without the list's fold.
        (fold, n_folds), found = judged.deal_folds(), np.zeros(len(judged.codes), dtype=bool)
        for number in range(n_folds):
            others = fold != number
            # With a single cluster, no other queries are left to choose by.
            name = names[_simplest(values[:, others], clusters[others])] if n_folds > 1 else chosen
            rows = ~others[judged.codes]
            found[rows] = held_out[name][rows]
        self._found = found
        return self._fit_abstention(judged, parsed, shown[chosen])[0], entries

    def _held_out_shown(self, judged, parsed, entries):
        return self._answered(judged, self._found)

    def _shows_everything_by_choice(self):
        return self.chosen_name_ == "everything" and self.abstain is None

    def fit_judged(self, judged) -> Self:
        """Fit on checked rows; :class:`RankAndFilter` calls this.

        Parameters
        ----------
        judged : JudgedScores
            The rows.

        Returns
        -------
        self : AutoThreshold
            The fitted threshold.
        """
        super().fit_judged(judged)
        del self._found
        if self.chosen_name_ in _BY_SCORE and self.abstain is None:
            self.threshold_ = self.level_
        return self

    def _keys(self, scores, index, columns):
        return self.chosen_._keys(scores, index, columns)

    def _why_below_level(self, level):
        return self.chosen_._why_below_level(level)

    def _state(self):
        return {"chosen": self.chosen_name_, "state": self.chosen_._state()}

    def _restore(self, state, name):
        state = _FIELDS(state, name)
        self.chosen_name_ = state["chosen"]
        self.chosen_ = _CANDIDATES[self.chosen_name_]()
        self.chosen_.measure_ = self.measure_
        self.chosen_._restore(state["state"], f"{name}.state")


def _simplest(values, clusters) -> int:
    """Return the number of the first candidate within one standard error of the best."""
    losses = enumerate(_losses(values, clusters))
    return next(place for place, (loss, error) in losses if loss <= error)


def _losses(values, clusters):
    """Yield the mean loss of each candidate against the best one, and its standard error."""
    best = values[values.mean(axis=1).argmax()]
    for own in values:
        yield mean_and_error(cluster_means(best - own, clusters))[:2]


def _compared(names, values, clusters, chosen):
    """Make the table of candidates, with a row for each."""
    rows = []
    for name, own, (loss, error) in zip(names, values, _losses(values, clusters)):
        value = float(mean_over_queries(own, None))
        row = {"rule": name, "value": value, "loss": float(loss), "error": float(error)}
        rows.append(row | {"is_chosen": name == chosen})
    return rows

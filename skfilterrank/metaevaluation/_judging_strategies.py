"""Selections of documents to judge, mitigations of missing labels, and experiments with both."""

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import delayed
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from skfilterrank._base.checks import as_list, check_choice, check_count, check_each, check_numbers
from skfilterrank._base.system_pairs import seeds_of
from skfilterrank._base.words import MISSING, in_parallel
from skfilterrank._lists.gains import OwnReading
from skfilterrank._lists.measure import ParsedMeasure, warn_of_forbidden
from skfilterrank._lists.measure_names import known_measure, parse_measure
from skfilterrank.exceptions import DataWarning, InputError, UnjudgedWarning, brief
from skfilterrank.judgments import (
    FeedbackSelector,
    LabelPredictor,
    MaxRepSelector,
    MoveToFrontSelector,
    MTCSelector,
    PoolingSelector,
    PriorSelector,
    RandomSelector,
    StatAPSelector,
)
from skfilterrank.metaevaluation._judged_pool import TEXT, JudgedPool

_STRATEGIES: dict[str, Any] = {
    "feedback": FeedbackSelector,
    "maxrep": MaxRepSelector,
    "mtc": MTCSelector,
    "mtf": MoveToFrontSelector,
    "pooling": PoolingSelector,
    "prior": PriorSelector,
    "random": RandomSelector,
    "oracle": RandomSelector,
    "statap": StatAPSelector,
}
_KINDS = tuple(_STRATEGIES.values())
_OF_DOCUMENTS = (FeedbackSelector, MaxRepSelector)


def named(given, name, choices, kinds) -> dict:
    """Return an argument that is a dict, a name or a list of names as a dict.

    `name` is the name of the argument, `choices` are the known names, and `kinds` describes values
    of a dict in the error message. A name from a list maps to itself.
    """
    if isinstance(given, str):
        given = [given]
    things = dict(given) if isinstance(given, Mapping) else None
    if things is None:
        listed = as_list(given, name, "names")
        if not all(isinstance(each, str) for each in listed):
            raise InputError(
                f"{name} must be a name, a list of names or a dict {{name: {kinds}}}, got "
                f"{brief(given)}."
            )
        things = {each: each for each in listed}
        if len(things) < len(listed):
            raise InputError(
                f"{name} must hold distinct names, got {brief(listed)}: leave out the copies."
            )
    if not things:
        raise InputError(f"{name} must not be empty: give at least one of {', '.join(choices)}.")
    return {str(key): thing for key, thing in things.items()}


def read_selections(selections) -> dict[str, Any]:
    """Return the unfitted strategy or the function of each selection, by its name."""
    found = {}
    for name, thing in named(selections, "selections", _STRATEGIES, "strategy").items():
        if isinstance(thing, str) and thing in _STRATEGIES:
            options: dict = {"oracle": True} if thing == "oracle" else {}
            found[name] = _STRATEGIES[thing](**options)
        elif isinstance(thing, _KINDS) or (callable(thing) and not isinstance(thing, type | str)):
            found[name] = thing
        else:
            raise InputError(
                f"selections must hold names among {', '.join(_STRATEGIES)}, strategies such as "
                f"MaxRepSelector(), or functions, got {brief(thing)}."
            )
    return found


def is_random(selection) -> bool:
    """Return True for a strategy that draws documents."""
    return isinstance(selection, RandomSelector | StatAPSelector)


class Judging:
    """A fitted selection, which tells for each share which documents are judged.

    Parameters
    ----------
    selection : selector or callable
        Strategy or function that selects documents.
    table : DataFrame of n_rows rows
        Texts or numbers of the documents and their prior; index levels "qid" and "docno".
    ranks : DataFrame of shape (n_rows, n_runs)
        Rank of each document in each run.
    labels : ndarray of shape (n_rows,)
        True labels, which answer the questions of interactive strategies.
    seed : int
        Seed of a random selection.
    """

    def __init__(self, selection, table, ranks, labels, seed):
        self.table = table
        self.groups = table.index.get_level_values("qid").to_numpy()
        self.selector = selection
        prior = table["prior"].to_numpy()
        if not isinstance(selection, _KINDS):
            self.selector = self._by(_checked(selection(table.copy()), len(table)))
            return
        selector = clone(selection)
        if is_random(selector):
            selector.set_params(random_state=seed)
        X = _features(table) if isinstance(selector, _OF_DOCUMENTS) else ranks
        self.selector = selector.fit(X, labels, groups=self.groups, prior=prior)
        if isinstance(selector, MoveToFrontSelector | MTCSelector):
            selector.simulate(labels)
        if isinstance(selector, MoveToFrontSelector | MTCSelector | FeedbackSelector):
            # The order by all answers; some selectors compute ranking_ at each access.
            self.selector = self._by(-selector.ranking_.astype(float))

    def _by(self, score):
        """Return a fitted strategy that selects documents with higher scores first."""
        return PriorSelector().fit(self.table, groups=self.groups, prior=rankdata(score, "min"))

    def judged(self, share) -> np.ndarray:
        """Return a mask of the documents that are judged at a share, shape (n_rows,)."""
        judged = np.zeros(len(self.groups), dtype=bool)
        judged[self.selector.select(share=share)] = True
        return judged

    def inclusion(self, share, judged) -> np.ndarray | None:
        """Return the inclusion probability of each document at a share; None if unknown.

        `judged` is the mask of the selected documents.
        """
        if hasattr(self.selector, "inclusion_probability"):
            return self.selector.inclusion_probability(share=share)
        if isinstance(self.selector, RandomSelector) and not self.selector.oracle:
            _, codes = np.unique(self.groups, return_inverse=True)
            return (np.bincount(codes, weights=judged) / np.bincount(codes))[codes]
        return None


def _features(table):
    """Return the documents: the texts if there are any, else the numbers."""
    if TEXT in table:
        return table[TEXT].tolist()
    return table.drop(columns="prior").to_numpy()


def _checked(score, n_rows):
    """Return the result of a user's function as numbers; raise if it is no number per document."""
    score = check_numbers(score, "the result of a function in selections", n_rows=n_rows)
    if np.isnan(score).any():
        raise InputError(
            "the result of a function in selections must be a number for each document, got NaN: "
            "change the function."
        )
    return score


_WORDS = ("none", "condensed", "completed")


class Mitigations:
    """Treatments of missing labels, each of which estimates the runs' means from few labels.

    Parameters
    ----------
    measure : ParsedMeasure
        Measure to estimate.
    mitigations : list of str, or dict of str to str, LabelPredictor or callable
        Argument `mitigations` of :func:`judging_curve`.
    """

    def __init__(self, measure: ParsedMeasure, mitigations):
        self.measure = measure
        self.measures: dict[str, ParsedMeasure] = {}
        self.predictors: dict[str, Any] = {}
        found = named(mitigations, "mitigations", (*_WORDS, "infap"), "measure or predictor")
        self.names = list(found)
        for name, thing in found.items():
            word = thing if isinstance(thing, str) else None
            if word == "none":
                self.measures[name] = measure
            elif word == "condensed":
                self.measures[name] = _condensed(measure)
            elif word == "completed":
                self.predictors[name] = None
            elif isinstance(thing, ParsedMeasure) or (word and known_measure(word) is not None):
                self.measures[name] = parse_measure(thing)
            elif isinstance(thing, LabelPredictor) or (
                callable(thing) and not isinstance(thing, type)
            ):
                self.predictors[name] = thing
            else:
                raise InputError(
                    f"mitigations must hold {', '.join(map(brief, _WORDS))}, names of measures "
                    f"such as 'infap', LabelPredictors or functions, got {brief(thing)}."
                )

    @property
    def needs_documents(self) -> list[str]:
        """Names of the mitigations that need texts or numbers of the documents."""
        return [name for name, each in self.predictors.items() if not _is_function(each)]

    def truth(self, pool) -> np.ndarray:
        """Return the mean of each run by all labels, shape (n_runs,)."""
        return pool.means(pool.labels, {"truth": self.measure})[0]

    def estimate(self, pool, judging, share, rows) -> np.ndarray:
        """Estimate the mean of each run from the labels that `judging` selects at a share.

        `rows` are the rows of the pool that can be selected. The result, shape (n_mitigations,
        n_runs), is NaN for measures that need inclusion probabilities if the selection has none.
        """
        judged = judging.judged(share)
        labels = np.full(len(pool.labels), np.nan)
        labels[rows[judged]] = pool.labels[rows[judged]]
        chances = judging.inclusion(share, judged)
        inclusion = None
        if chances is not None:
            inclusion = np.zeros(len(labels))
            inclusion[rows] = chances
        found: dict[str, np.ndarray] = {}
        wanted = {
            name: each
            for name, each in self.measures.items()
            if inclusion is not None or "inclusion_probability" not in each.measure.columns
        }
        if wanted:
            means = pool.means(labels, wanted, inclusion=inclusion)
            found |= dict(zip(wanted, means, strict=True))
        for name, predictor in self.predictors.items():
            table = judging.table.assign(label=labels[rows]).reset_index()
            completed = labels.copy()
            completed[rows] = _completed(predictor, table, name)
            found[name] = pool.means(completed, {name: self.measure})[0]
        nothing = np.full(len(pool.systems), np.nan)
        return np.stack([found.get(name, nothing) for name in self.names])


def _condensed(measure):
    """Return the measure that first removes unjudged documents from the ranked lists."""
    entry = measure.measure
    if entry.library is not None:
        raise InputError(
            f"mitigations: 'condensed' cannot be used with measure {brief(measure.text)}, which "
            "treats unjudged documents as a library does: leave out like=."
        )
    own = replace(entry.own_reading or OwnReading(), drops_unjudged=True)
    return measure._replace(measure=(entry.plain or entry).with_reading(own))


def _is_function(predictor):
    return predictor is not None and not isinstance(predictor, LabelPredictor)


def _completed(predictor, table, name):
    """Return the labels of a table, with predictions for the missing ones.

    `predictor` is a LabelPredictor, a user's function, or None for a default LabelPredictor;
    `name` is the name of the mitigation.
    """
    known = table["label"].to_numpy()
    if _is_function(predictor):
        labels = check_numbers(
            predictor(table.copy()), f"the result of {brief(name)}", n_rows=len(table)
        )
        return np.where(np.isnan(known), labels, known)
    if TEXT in table:
        X = table[TEXT].tolist()
    else:
        X = StandardScaler().fit_transform(table.drop(columns=["qid", "docno", "label", "prior"]))
    predictor = LabelPredictor() if predictor is None else clone(predictor)
    with warnings.catch_warnings():
        # Missing texts were already warned of when the documents were read. Queries whose known
        # labels are all equal stay unjudged on purpose.
        warnings.filterwarnings("ignore", "the text holds no known term", DataWarning)
        warnings.simplefilter("ignore", UnjudgedWarning)
        return predictor.fit_transform(X, known, table["qid"])


@dataclass(frozen=True, eq=False, repr=False)
class ExperimentFacts:
    """Base class of the results of judging experiments: setting and true means of the systems."""

    measure: str
    selections: tuple[str, ...]
    mitigations: tuple[str, ...]
    shares: np.ndarray
    systems: tuple[str, ...]
    queries: tuple[str, ...]
    dropped_queries: tuple[str, ...]
    truth: np.ndarray

    _digits = 3


class Experiment:
    """Judging experiment: for each selection, mitigation and share, estimate all runs' means.

    The arguments are those of :func:`judging_curve`, and are checked here.
    """

    def __init__(
        self,
        qrels,
        runs,
        measure,
        *,
        selections,
        mitigations,
        shares,
        n_samples,
        random_state,
        n_jobs,
        documents,
        depth,
        missing,
    ):
        self.measure = parse_measure(measure)
        check_choice(missing, "missing", MISSING)
        self.mitigations = Mitigations(self.measure, mitigations)
        self.selections = read_selections(selections)
        self.shares = np.unique(check_each(shares, "shares", above=0, most=1))
        self.n_samples = check_count(n_samples, "n_samples")
        check_count(depth, "depth", or_none=True)
        self.seeds = seeds_of(random_state)
        self.n_jobs = n_jobs
        self._check_documents(documents)
        self.pool = JudgedPool.read(qrels, runs, documents=documents, depth=depth, missing=missing)
        warn_of_forbidden([self.measure], self.pool.labels, None)
        self.truth = self.mitigations.truth(self.pool)

    def _check_documents(self, documents):
        if documents is not None:
            return
        asking = [name for name, each in self.selections.items() if isinstance(each, _OF_DOCUMENTS)]
        asking += self.mitigations.needs_documents
        if asking:
            raise InputError(
                f"documents must be given for {', '.join(map(brief, asking))}, got None: pass a "
                "dict {docno: text}, or a DataFrame of numbers by docno."
            )

    def facts(self) -> dict:
        """Return the fields of :class:`ExperimentFacts` as a dict."""
        return {
            "measure": self.measure.text,
            "selections": tuple(self.selections),
            "mitigations": tuple(self.mitigations.names),
            "shares": self.shares,
            "systems": tuple(map(str, self.pool.systems)),
            "queries": tuple(self.pool.queries),
            "dropped_queries": self.pool.dropped_queries,
            "truth": self.truth,
        }

    def n_labels(self) -> np.ndarray:
        """Count the documents that are judged at each share, over all queries."""
        rows = np.zeros((len(self.pool.labels), 1))
        ones = np.ones(len(rows))
        order = PriorSelector().fit(rows, groups=self.pool.groups, prior=ones)
        return np.array([len(order.select(share=share)) for share in self.shares])

    def run(self, left_out: Iterable[tuple] = ((),)) -> np.ndarray:
        """Estimate the mean of each run, for several sets of runs that do not contribute documents.

        The result has shape (n_sets, n_selections, n_mitigations, n_shares, n_samples, n_runs). It
        is NaN if there is no estimate, and for all samples but the first of a selection that is not
        random.
        """
        left_out = list(left_out)
        jobs = [
            (at, number, sample)
            for at in range(len(left_out))
            for number, selection in enumerate(self.selections.values())
            for sample in range(self.n_samples if is_random(selection) else 1)
        ]
        shape = (len(self.mitigations.names), len(self.shares), len(self.pool.systems))
        found = np.full(
            (len(left_out), len(self.selections), shape[0], shape[1], self.n_samples, shape[2]),
            np.nan,
        )
        selections = list(self.selections.values())
        calls = (
            delayed(_estimates)(
                self.pool,
                left_out[at],
                selections[number],
                self.mitigations,
                self.shares,
                # The seed depends on the number of the sample only, so all selections and sets
                # share it.
                int(np.random.default_rng([*self.seeds, sample]).integers(2**31)),
            )
            for at, number, sample in jobs
        )
        for (at, number, sample), each in zip(jobs, in_parallel(calls, self.n_jobs)):
            found[at, number, :, :, sample] = each
        return found


def _estimates(pool, left_out, selection, mitigations, shares, seed):
    """Estimate the means of all runs with one selection, (n_mitigations, n_shares, n_runs).

    The runs `left_out` do not contribute documents to the selection.
    """
    rows, ranks = pool.without(left_out)
    judging = Judging(selection, pool.table(rows, ranks), ranks, pool.labels[rows], seed)
    return np.stack(
        [mitigations.estimate(pool, judging, share, rows) for share in shares.tolist()], axis=1
    )

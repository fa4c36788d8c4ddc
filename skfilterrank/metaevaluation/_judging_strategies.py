"""Selections of the documents to judge, mitigations of missing labels, and experiments."""

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import rankdata
from sklearn.base import clone

from skfilterrank._lists.checks import as_list, check_choice, check_count, check_numbers
from skfilterrank._lists.gains import OwnReading
from skfilterrank._lists.measure import ParsedMeasure, warn_of_forbidden
from skfilterrank._lists.measure_names import known_measure, parse_measure
from skfilterrank._lists.system_pairs import seeds_of
from skfilterrank._lists.words import MISSING, TIES, progress_bar
from skfilterrank.exceptions import DataWarning, InputError, UnjudgedWarning, brief
from skfilterrank.judgments import (
    LabelPredictor,
    MaxRepSelector,
    MoveToFrontSelector,
    MTCSelector,
    PoolingSelector,
    PriorSelector,
    RandomSelector,
    StatAPSelector,
)
from skfilterrank.metaevaluation._agreement import check_shares
from skfilterrank.metaevaluation._judged_pool import TEXT, JudgedPool, over_runs
from skfilterrank.metrics import unjudged_bounds

_STRATEGIES: dict[str, Any] = {
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


def named(given, name, choices, kinds) -> dict:
    """Return {name: thing} of a dict or of a list of names."""
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
            raise InputError(f"{name} names one thing twice: {brief(listed)}.")
    if not things:
        raise InputError(f"{name} is empty: give at least one of {', '.join(choices)}.")
    return {str(key): thing for key, thing in things.items()}


def read_selections(selections, gains) -> dict[str, Any]:
    """Return unfitted strategies and functions by name."""
    found = {}
    for name, thing in named(selections, "selections", _STRATEGIES, "strategy").items():
        if isinstance(thing, str) and thing in _STRATEGIES:
            options: dict = {"oracle": True} if thing == "oracle" else {}
            strategy = _STRATEGIES[thing](**options)
            if "gains" in strategy.get_params(deep=False):
                strategy.set_params(gains=gains)
            found[name] = strategy
        elif isinstance(thing, _KINDS) or (callable(thing) and not isinstance(thing, type | str)):
            found[name] = thing
        else:
            raise InputError(
                f"selections must hold names among {', '.join(_STRATEGIES)}, strategies such as "
                f"MaxRepSelector(), or functions, got {brief(thing)}."
            )
    return found


def is_random(selection) -> bool:
    """Test for a selection that depends on its random state."""
    return isinstance(selection, _KINDS) and "random_state" in selection.get_params(deep=False)


def needs_documents(selection) -> bool:
    """Test for a selection that reads the documents."""
    return isinstance(selection, MaxRepSelector)


class Judging:
    """Documents that a selection judges, for each share.

    Parameters
    ----------
    selection : selector or callable
        Strategy or function that selects documents.
    table : DataFrame of n_rows rows
        Documents and their prior, index levels "qid" and "docno".
    ranks : DataFrame of shape (n_rows, n_runs)
        Ranks of the documents in the runs.
    labels : ndarray of shape (n_rows,)
        Labels that answers would have.
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
        X = _features(table) if isinstance(selector, MaxRepSelector) else ranks
        self.selector = selector.fit(X, labels, groups=self.groups, prior=prior)
        if isinstance(selector, MoveToFrontSelector | MTCSelector):
            # The order is read once, since the property computes it each time.
            self.selector = self._by(-selector.simulate(labels).ranking_.astype(float))

    def _by(self, score):
        """Return a strategy that ranks by scores, higher first."""
        return PriorSelector().fit(self.table, groups=self.groups, prior=rankdata(score, "min"))

    def judged(self, share) -> np.ndarray:
        """Documents that are judged, as a mask."""
        judged = np.zeros(len(self.groups), dtype=bool)
        judged[self.selector.select(share=share)] = True
        return judged

    def inclusion(self, share, judged) -> np.ndarray | None:
        """Probability of each document to be judged; None if unknown."""
        if hasattr(self.selector, "inclusion_probability"):
            return self.selector.inclusion_probability(share=share)
        if isinstance(self.selector, RandomSelector) and not self.selector.oracle:
            _, codes = np.unique(self.groups, return_inverse=True)
            return (np.bincount(codes, weights=judged) / np.bincount(codes))[codes]
        return None


def _features(table):
    """Take texts, or numbers where there are none, for MAXREP."""
    if TEXT in table:
        return table[TEXT].tolist()
    return table.drop(columns="prior").to_numpy()


def _checked(score, n_rows):
    """Check scores: one finite number for each document."""
    score = check_numbers(score, "what a function of selections returns", n_rows=n_rows)
    if np.isnan(score).any():
        raise InputError("a function of selections returned NaN: give each document a number.")
    return score


_WORDS = ("none", "condensed", "bounds", "completed")


class Mitigations:
    """Estimates of the runs' means from few labels, by each mitigation.

    Parameters
    ----------
    measure : ParsedMeasure
        Measure that is estimated.
    mitigations : list of str, or dict of str to str, LabelPredictor or callable
        As :func:`judging_curve` takes them.
    params : dict
        Parameters of :func:`skfilterrank.metrics.evaluate_run`.
    """

    def __init__(self, measure: ParsedMeasure, mitigations, params):
        self.measure, self.params = measure, params
        self.measures: dict[str, ParsedMeasure] = {}
        self.predictors: dict[str, Any] = {}
        found = named(mitigations, "mitigations", (*_WORDS, "infap"), "measure or predictor")
        self.names = list(found)
        self.bounds = [name for name, thing in found.items() if thing == "bounds"]
        for name, thing in found.items():
            is_text = isinstance(thing, str)
            if thing == "none":
                self.measures[name] = measure
            elif thing == "condensed":
                self.measures[name] = _condensed(measure)
            elif thing == "completed":
                self.predictors[name] = None
            elif isinstance(thing, ParsedMeasure) or (is_text and known_measure(thing) is not None):
                self.measures[name] = parse_measure(thing)
            elif isinstance(thing, LabelPredictor) or (
                callable(thing) and not isinstance(thing, type)
            ):
                self.predictors[name] = thing
            elif thing != "bounds":
                raise InputError(
                    f"mitigations must hold {', '.join(map(brief, _WORDS))}, names of measures "
                    f"such as 'infap', LabelPredictors or functions, got {brief(thing)}."
                )

    @property
    def needs_documents(self) -> list[str]:
        """Mitigations that need documents."""
        return [name for name, each in self.predictors.items() if not _is_function(each)]

    def truth(self, pool) -> np.ndarray:
        """Return the runs' means by all labels."""
        return pool.means(pool.labels, {"truth": self.measure}, **self.params)[0]

    def estimate(self, pool, judging, share, rows) -> np.ndarray:
        """Return the runs' means by the labels of a share, (n_mitigations, n_runs).

        NaN for measures that need inclusion probabilities if the selection has none.
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
            means = pool.means(labels, wanted, inclusion=inclusion, **self.params)
            found |= dict(zip(wanted, means, strict=True))
        if self.bounds:
            middle = _middle(pool, labels, self.measure, self.params["ties"])
            found |= dict.fromkeys(self.bounds, middle)
        for name, predictor in self.predictors.items():
            table = judging.table.assign(label=labels[rows]).reset_index()
            completed = labels.copy()
            completed[rows] = _completed(predictor, table, name)
            found[name] = pool.means(completed, {name: self.measure}, **self.params)[0]
        nothing = np.full(len(pool.systems), np.nan)
        return np.stack([found.get(name, nothing) for name in self.names])


def _condensed(measure):
    """Return the measure of lists without unjudged documents."""
    entry = measure.measure
    if entry.library is not None:
        raise InputError(
            f"'condensed' cannot be had of {brief(measure.text)}, which reads judgments as a "
            "library does: leave out like=."
        )
    own = replace(entry.own_reading or OwnReading(), drops_unjudged=True)
    return measure._replace(measure=(entry.plain or entry).with_reading(own))


def _middle(pool, labels, measure, ties):
    """Return the middle of each run's bounds; documents unjudged in all labels have gain 0."""
    gains = np.where(np.isnan(labels), np.nan, pool.gains)
    bounds = unjudged_bounds(
        pool.on_lists(gains, 0.0),
        pool.lists.y_score,
        measure,
        groups=pool.lists.index,
        ties="stable" if ties == "docno" else ties,
        low=min(0.0, pool.gains.min()),
        high=max(1.0, pool.gains.max()),
    )
    middle = (bounds.least + bounds.most) / 2
    return over_runs(middle, measure.measure, len(pool.systems))


def _is_function(predictor):
    return predictor is not None and not isinstance(predictor, LabelPredictor)


def _completed(predictor, table, name):
    """Return labels of a table, with those that are predicted."""
    known = table["label"].to_numpy()
    if _is_function(predictor):
        labels = check_numbers(
            predictor(table.copy()), f"what {brief(name)} returns", n_rows=len(table)
        )
        return np.where(np.isnan(known), labels, known)
    if predictor is None:
        numbers = [each for each in table if each not in ("qid", "docno", "label", "prior", TEXT)]
        has_text = TEXT in table
        predictor = LabelPredictor(
            text=TEXT if has_text else None, features=numbers if not has_text else None
        )
    predictor = clone(predictor).set_params(query="qid", document="docno", label="label")
    with warnings.catch_warnings():
        # Warnings of missing texts were given when texts were read; queries with equal labels stay
        # unjudged.
        warnings.filterwarnings("ignore", "the text holds no known term", DataWarning)
        warnings.simplefilter("ignore", UnjudgedWarning)
        return predictor.fit_transform(table)["label"].to_numpy(dtype=np.float64)


@dataclass(frozen=True, eq=False, repr=False)
class ExperimentFacts:
    """Description of an experiment; base class of its results."""

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
    """Checked arguments, documented in :func:`judging_curve`."""

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
        verbose,
        documents,
        gains,
        ties,
        **reading,
    ):
        self.measure = parse_measure(measure)
        check_choice(reading["missing"], "missing", MISSING)
        check_choice(ties, "ties", TIES)
        self.mitigations = Mitigations(self.measure, mitigations, {"gains": gains, "ties": ties})
        self.selections = read_selections(selections, gains)
        self.shares = check_shares(shares, above=True)
        self.n_samples = check_count(n_samples, "n_samples")
        check_count(reading["depth"], "depth", or_none=True)
        self.seeds = seeds_of(random_state)
        self.n_jobs, self.verbose = n_jobs, verbose
        self._check_documents(documents)
        self.pool = JudgedPool.read(
            qrels, runs, documents=documents, gains=gains, ties=ties, **reading
        )
        warn_of_forbidden([self.measure], self.pool.labels, gains)
        self.truth = self.mitigations.truth(self.pool)

    def _check_documents(self, documents):
        if documents is not None:
            return
        asking = [name for name, each in self.selections.items() if needs_documents(each)]
        asking += self.mitigations.needs_documents
        if asking:
            raise InputError(
                f"documents is missing, which {', '.join(map(brief, asking))} looks at: give a "
                "dict {docno: text}, or a DataFrame of numbers by docno."
            )

    def facts(self) -> dict:
        """Return the fields that describe the experiment in results."""
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
        """Count the documents that are judged at each share."""
        rows = np.zeros((len(self.pool.labels), 1))
        ones = np.ones(len(rows))
        order = PriorSelector().fit(rows, groups=self.pool.groups, prior=ones)
        return np.array([len(order.select(share=share)) for share in self.shares])

    def run(self, left_out: Iterable[tuple] = ((),)) -> np.ndarray:
        """Return the runs' estimated means without some runs, for several sets of these.

        Shape (n_sets, n_selections, n_mitigations, n_shares, n_samples, n_runs); NaN where there
        is no such estimate, and beyond the first sample of a selection that has but one.
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
        means = Parallel(n_jobs=self.n_jobs, return_as="generator")(
            delayed(_estimates)(
                self.pool,
                left_out[at],
                selections[number],
                self.mitigations,
                self.shares,
                # The sample number determines the seed, for all selections and sets.
                int(np.random.default_rng([*self.seeds, sample]).integers(2**31)),
            )
            for at, number, sample in jobs
        )
        bar = progress_bar(
            means, total=len(jobs), unit="selection", disable=not self.verbose, leave=False
        )
        for (at, number, sample), each in zip(jobs, bar):
            found[at, number, :, :, sample] = each
        return found


def _estimates(pool, left_out, selection, mitigations, shares, seed):
    """Return means by mitigation, share and run of one selection."""
    rows, ranks = pool.without(left_out)
    judging = Judging(selection, pool.table(rows, ranks), ranks, pool.labels[rows], seed)
    return np.stack(
        [mitigations.estimate(pool, judging, share, rows) for share in shares.tolist()], axis=1
    )

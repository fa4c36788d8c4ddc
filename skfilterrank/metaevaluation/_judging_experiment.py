"""Experiments with selections of documents, mitigations of missing labels, and shares."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed

from skfilterrank._lists.checks import check_choice, check_count
from skfilterrank._lists.measure import warn_of_forbidden
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank._lists.resamples import seeds_of
from skfilterrank._lists.words import MISSING, TIES, progress_bar
from skfilterrank.exceptions import InputError, brief
from skfilterrank.judgments import PriorSelector
from skfilterrank.metaevaluation._agreement import check_shares
from skfilterrank.metaevaluation._judged_pool import JudgedPool
from skfilterrank.metaevaluation._judging_strategies import (
    Judging,
    Mitigations,
    is_random,
    needs_documents,
    read_selections,
)


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

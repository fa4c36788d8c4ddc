"""Values with intervals from a sample of people's labels, as a command line asks for them."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from skfilterrank._lists.results import counted
from skfilterrank.cli._inputs import (
    STDIN,
    Holes,
    match_gains,
    named_paths,
    numbered_gains,
    read_sample_or_judgments,
    source,
    text_gains,
    warn_of_labels_below_0,
    with_other_labels,
    without_machines,
)
from skfilterrank.cli._output import tell
from skfilterrank.exceptions import InputError, SkfilterrankError
from skfilterrank.io import QrelsIndex, read_prels, read_qrels, read_run
from skfilterrank.judgments import RankedPool, estimate

# What is estimated where nothing is said: a measure of which a sample of documents gives intervals.
MEASURES = ("ndcg_f@10",)
_KEY = ["qid", "docno"]
_SHOWN = 3


@dataclass(frozen=True)
class Sample:
    """Options of values from a sample: what people and machines judged, and how it was drawn.

    Attributes
    ----------
    qrels, prels, pool : str or None
        Files of judgments, of the sample, and of the documents that count.
    machine_qrels : list of str
        Files of labels of machines.
    unit : {"document", "query"}
        Unit that was drawn.
    target : {"these-topics", "new-topics"} or None
        Topics that intervals are about.
    gains : dict, "exp2" or None
        Gains as the command line has them.
    holes : Holes
        Treatment of labels and lists that are not there.
    """

    qrels: str
    prels: str | None
    pool: str | None
    machine_qrels: list
    unit: str
    target: str | None
    gains: Any
    holes: Holes

    def check(self, ties, precision) -> None:
        """Raise for options that say how values are had where nothing is estimated."""
        expected: dict[str, tuple[Any, Any]] = {
            "ties": (ties, "docno"),
            "precision": (precision, "double"),
        }
        expected["holes unjudged"] = self.holes.unjudged, "zero"
        expected["holes undefined"] = self.holes.undefined, 0.0
        for name, (given, only) in expected.items():
            if given != only:
                raise InputError(
                    f"--{name} {given}: values are estimated with {only} alone. Leave it out."
                )
        if self.holes.missing == "drop":
            raise InputError(
                "--holes missing=drop: where values are estimated all runs have the topics of the "
                "pool. --holes missing=empty counts those that they lack as empty lists."
            )
        if self.prels is not None and text_gains(self.gains, self.holes):
            # The format of samples holds numbers alone.
            numbered_gains(self.gains)
        if self.holes.predicted == "use":
            raise InputError(
                "--holes predicted=use: a machine's labels are no sample of people's. Give them by "
                "--machine-qrels."
            )


@dataclass(frozen=True)
class Sampled:
    """Estimates, and what they were made from."""

    estimates: Any
    pool: RankedPool
    sample: QrelsIndex
    gains: object


def estimated(runs, measures, options: Sample, *, confidence) -> Sampled:
    """Estimate the values of runs, which are paths by name."""
    runs = {name: read_run(source(STDIN)) if path == STDIN else path for name, path in runs.items()}
    people = _people(options)
    sample, unit, target = _sample(people, options)
    judges = {
        name: read_sample_or_judgments(path, options.gains, options.holes.with_(predicted="use"))
        for name, path in named_paths(options.machine_qrels).items()
    }
    documents = None
    if options.pool is not None:
        documents = read_qrels(options.pool, unjudged_label=None, predicted="use")
    elif not judges:
        documents = pd.concat([people[_KEY], sample[_KEY]]).drop_duplicates()
    pool = RankedPool.read(judges or None, runs, pool=documents)
    _tell_of_pool(pool, options)
    gains = _gains(sample, options)
    warn_of_labels_below_0(sample["label"], gains, options.gains, options.holes)
    # What labels mean has been asked: the library need not ask in its own words.
    sample = QrelsIndex(sample, unjudged_label=None, predicted="use")
    try:
        estimates = estimate(
            *((sample, pool, measures) if unit == "document" else (sample, runs, measures)),
            **({} if unit == "document" else {"machine_qrels": judges or None, "pool": documents}),
            unit=unit,
            target=target,
            gains=gains,
            confidence=confidence,
        )
    except SkfilterrankError as error:
        error.add_note(
            f"(qrels: {options.prels or options.qrels}; 'skfilterrank judge --strategy sample' "
            "draws samples)"
        )
        raise
    return Sampled(estimates, pool, sample, gains)


def origin_of(estimates) -> dict[str, Any]:
    """Return what estimates are of and were made from, for an object."""
    counts = {name: getattr(estimates, name) for name in ("n_judged", "n_possible", "n_other")}
    about = {"target": estimates.target, "confidence": estimates.confidence}
    return {"n_topics": len(estimates.queries)} | counts | about


def _people(options):
    """The labels of QRELS that people gave."""
    people = read_sample_or_judgments(
        options.qrels, options.gains, options.holes.with_(predicted="use")
    )
    return without_machines(people, options.qrels)


def _sample(people, options):
    """People's labels with probabilities, what was drawn, and what intervals are of."""
    target = options.target and options.target.replace("-", " ").replace("topics", "queries")
    if options.prels is not None:
        drawn = without_machines(read_prels(options.prels), options.prels)
        sample = _with_labels(drawn, people, options)
    elif "inclusion_probability" in people:
        sample = people
    elif options.machine_qrels or people["label"].isna().any():
        n_judged = int(people["label"].notna().sum())
        raise InputError(
            f"nothing says with which probability the {n_judged:,} judged documents of "
            f"{options.qrels} were drawn, and without it no interval is valid: labels that were "
            "chosen say nothing of those that were not. Give --prels, the sample that "
            f"'skfilterrank judge --strategy sample' writes; --judged {options.qrels} keeps "
            "these labels, and draws from the rest."
        )
    else:
        if target == "these queries":
            raise InputError(
                f"people judged all documents of {options.qrels}, so that the values of these "
                "topics are known, and no interval is needed: --target new-topics gives those of "
                "the topics that they were drawn from."
            )
        tell(
            f"{options.qrels} says no probabilities (--prels): taken for all labels that there "
            "are, documents without one for not relevant"
        )
        return people.assign(inclusion_probability=1.0), "query", "new queries"
    return sample, options.unit, target or "these queries"


def _with_labels(sample, people, options):
    """The sample with the labels of both files, which must not differ."""
    labels = people.set_index(_KEY)["label"]
    given = sample.set_index(_KEY)["label"]
    both = labels.reindex(given.index)
    differ = given.notna() & both.notna() & (given != both)
    if differ.any():
        qid, docno = differ.index[differ.argmax()]
        raise InputError(
            f"{options.prels} and {options.qrels} have different labels of "
            f"{counted(int(differ.sum()), 'document')}, such as {given[qid, docno]:g} and "
            f"{both[qid, docno]:g} of document {docno} of topic {qid}: settle which they have."
        )
    if n_outside := int((labels.notna() & ~labels.index.isin(given.index)).sum()):
        tell(
            f"{counted(n_outside, 'label')} of {options.qrels} that are no part of the sample: "
            "not used"
        )
    sample = sample.assign(label=given.fillna(both).to_numpy())
    if n_open := int(sample["label"].isna().sum()):
        raise InputError(
            f"{counted(n_open, 'document')} of the sample {options.prels} "
            f"{'has' if n_open == 1 else 'have'} no label in it or in {options.qrels}: judge all "
            "of it, or draw a smaller sample, which is the begin of this one."
        )
    return sample


def _gains(sample, options):
    """Gains by label, those of labels that do not occur included."""
    path = options.prels or options.qrels
    if text_gains(options.gains, options.holes):
        return None
    gains = match_gains(options.gains, {path: sample["label"]})
    return with_other_labels(gains, options.gains)


def _tell_of_pool(pool, options):
    """Documents without machine labels, and topics that runs lack."""
    for name, labels in pool.machine.items():
        if n_missing := int(pd.isna(labels).sum()):
            tell(
                f"{name} has no label of {n_missing:,} of {counted(len(pool), 'document')}: a "
                "class of their own"
            )
    if lacking := pool.missing_queries:
        shown = ", ".join(f"{name}: {len(lost)}" for name, lost in list(lacking.items())[:_SHOWN])
        shown += ", ..." if len(lacking) > _SHOWN else ""
        what = f"{len(lacking)} of {counted(len(pool.runs), 'run')} ({shown}) lack topics"
        if options.holes.missing == "raise":
            raise InputError(f"{what}: --holes missing=empty counts them as empty lists.")
        tell(f"{what}: counted as empty lists")

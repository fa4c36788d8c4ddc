"""Values with intervals from a sample of people's labels, as a command line asks for them."""

from dataclasses import dataclass

import pandas as pd

from skfilterrank._core.results import counted
from skfilterrank.cli._label_gains import match_gains, numbered_gains, with_other_labels
from skfilterrank.cli._run_files import (
    STDIN,
    named_paths,
    read_sample_or_judgments,
    source,
    text_gains,
    warn_of_labels_below_0,
    without_machines,
)
from skfilterrank.cli._streams import tell
from skfilterrank.estimation import Estimates, RankedPool, estimate
from skfilterrank.exceptions import InputError, SkfilterrankError
from skfilterrank.io import QrelsIndex, read_prels, read_qrels, read_run

# What is estimated where nothing is said: a measure of which a sample of documents gives intervals.
MEASURES = ("ndcg_f@10",)
# How lists are read where values are estimated.
_READING = {
    "unjudged": "zero",
    "ties": "docno",
    "precision": "double",
    "undefined": 0.0,
}
_KEY = ["qid", "docno"]
_SHOWN = 3


@dataclass(frozen=True)
class Sampled:
    """Estimates, and what they were made from."""

    estimates: Estimates
    pool: RankedPool
    sample: QrelsIndex
    gains: object


def estimated(runs, measures, arguments, *, confidence) -> Sampled:
    """Estimates of the runs, which are paths by name."""
    _check_options(arguments)
    runs = {name: read_run(source(STDIN)) if path == STDIN else path for name, path in runs.items()}
    people = _people(arguments)
    sample, unit, target = _sample(people, arguments)
    judges = {
        name: read_sample_or_judgments(path, arguments, predicted="use")
        for name, path in named_paths(arguments.machine_qrels).items()
    }
    documents = None
    if arguments.pool is not None:
        documents = read_qrels(arguments.pool, unjudged_label=None, predicted="use")
    elif not judges:
        documents = pd.concat([people[_KEY], sample[_KEY]]).drop_duplicates()
    pool = RankedPool.read(judges or None, runs, pool=documents)
    _tell_of_pool(pool, arguments)
    gains = _gains(sample, arguments)
    warn_of_labels_below_0(sample["label"], gains, arguments)
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
            f"(qrels: {arguments.prels or arguments.qrels}; 'skfilterrank judge --strategy sample' "
            "draws samples)"
        )
        raise
    return Sampled(estimates, pool, sample, gains)


def _check_options(arguments):
    """Options that say how values are had where nothing is estimated."""
    for name, only in _READING.items():
        if getattr(arguments, name) != only:
            raise InputError(
                f"--{name} {getattr(arguments, name)}: values are estimated with --{name} {only:g}"
                if isinstance(only, float)
                else f"--{name} {getattr(arguments, name)}: values are estimated with --{name} "
                f"{only} alone; leave it out."
            )
    if arguments.missing == "drop":
        raise InputError(
            "--missing drop: where values are estimated all runs have the topics of the pool; "
            "--missing empty counts those that they lack as empty lists."
        )
    if arguments.prels is not None and text_gains(arguments):
        # The format of samples holds numbers alone.
        numbered_gains(arguments.gains)
    if arguments.predicted == "use":
        raise InputError(
            "--predicted use: a machine's labels are no sample of people's; give them by "
            "--machine-qrels."
        )


def _people(arguments):
    """The labels of QRELS that people gave."""
    people = read_sample_or_judgments(arguments.qrels, arguments, predicted="use")
    return without_machines(people, arguments.qrels)


def _sample(people, arguments):
    """People's labels with probabilities, what was drawn, and what intervals are of."""
    target = arguments.target and arguments.target.replace("-", " ")
    if arguments.prels is not None:
        drawn = without_machines(read_prels(arguments.prels), arguments.prels)
        sample = _with_labels(drawn, people, arguments)
    elif "inclusion_probability" in people:
        sample = people
    elif arguments.machine_qrels or people["label"].isna().any():
        n_judged = int(people["label"].notna().sum())
        raise InputError(
            f"nothing says with which probability the {n_judged:,} judged documents of "
            f"{arguments.qrels} were drawn, and without it no interval is valid: labels that were "
            "chosen say nothing of those that were not. Give --prels, the sample that "
            f"'skfilterrank judge --strategy sample' writes; --judged {arguments.qrels} keeps "
            "these labels, and draws from the rest."
        )
    else:
        if target == "these topics":
            raise InputError(
                f"people judged all documents of {arguments.qrels}, so that the values of these "
                "topics are known, and no interval is needed: --target new-topics gives those of "
                "the topics that they were drawn from."
            )
        tell(
            f"{arguments.qrels} says no probabilities (--prels): taken for all labels that there "
            "are, documents without one for not relevant"
        )
        return people.assign(inclusion_probability=1.0), "query", "new topics"
    return sample, arguments.unit, target or "these topics"


def _with_labels(sample, people, arguments):
    """The sample with the labels of both files, which must not differ."""
    labels = people.set_index(_KEY)["label"]
    given = sample.set_index(_KEY)["label"]
    both = labels.reindex(given.index)
    differ = given.notna() & both.notna() & (given != both)
    if differ.any():
        qid, docno = differ.index[differ.argmax()]
        raise InputError(
            f"{arguments.prels} and {arguments.qrels} have different labels of "
            f"{counted(int(differ.sum()), 'document')}, such as {given[qid, docno]:g} and "
            f"{both[qid, docno]:g} of document {docno} of topic {qid}: settle which they have."
        )
    if n_outside := int((labels.notna() & ~labels.index.isin(given.index)).sum()):
        tell(
            f"{counted(n_outside, 'label')} of {arguments.qrels} that are no part of the sample: "
            "not used"
        )
    sample = sample.assign(label=given.fillna(both).to_numpy())
    if n_open := int(sample["label"].isna().sum()):
        raise InputError(
            f"{counted(n_open, 'document')} of the sample {arguments.prels} "
            f"{'has' if n_open == 1 else 'have'} no label in it or in {arguments.qrels}: judge all "
            "of it, or draw a smaller sample, which is the begin of this one."
        )
    return sample


def _gains(sample, arguments):
    """Gains by label, those of labels that do not occur included."""
    path = arguments.prels or arguments.qrels
    if text_gains(arguments):
        return None
    gains = match_gains(arguments.gains, {path: sample["label"]})
    return with_other_labels(gains, arguments.gains)


def _tell_of_pool(pool, arguments):
    """Documents without machine labels, and topics that runs lack."""
    for name, labels in pool.machine.items():
        if n_missing := int(pd.isna(labels).sum()):
            tell(
                f"{name} has no label of {n_missing:,} of {counted(len(pool), 'document')}: a "
                "class of their own"
            )
    if lacking := pool.missing_topics:
        shown = ", ".join(f"{name}: {len(lost)}" for name, lost in list(lacking.items())[:_SHOWN])
        shown += ", ..." if len(lacking) > _SHOWN else ""
        what = f"{len(lacking)} of {counted(len(pool.runs), 'run')} ({shown}) lack topics"
        if arguments.missing == "raise":
            raise InputError(f"{what}: --missing empty counts them as empty lists.")
        tell(f"{what}: counted as empty lists")

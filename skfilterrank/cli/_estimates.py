"""Estimated values with intervals for ``evaluate`` and ``compare``."""

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import pandas as pd

from skfilterrank._lists.measure_names import parse_measures
from skfilterrank._lists.results import counted, interval_text
from skfilterrank.cli import _inputs
from skfilterrank.cli._output import Section, plural, tell
from skfilterrank.exceptions import InputError, SkfilterrankError
from skfilterrank.io import QrelsIndex, read_prels, read_qrels
from skfilterrank.judgments import RankedPool, estimate

# Default measure, which supports samples of documents.
MEASURES = ("ndcg_f@10",)
_KEY = ["qid", "docno"]


class Sampled(NamedTuple):
    """Estimates with their inputs."""

    estimates: Any
    pool: RankedPool
    sample: QrelsIndex
    gains: object


def check(sampling, reading, holes) -> None:
    """Raise for options that conflict with estimation."""
    for name, given, only in (
        ("ties", reading.ties, "docno"),
        ("precision", reading.precision, "double"),
        ("holes unjudged", holes.unjudged, "zero"),
        ("holes undefined", holes.undefined, 0.0),
    ):
        if given != only:
            raise InputError(
                f"--{name} {given}: values are estimated with {only} alone. Leave it out."
            )
    if holes.missing == "drop":
        raise InputError(
            "--holes missing=drop: where values are estimated all runs have the queries of the "
            "pool. --holes missing=empty counts those that they lack as empty lists."
        )
    if holes.predicted == "use":
        raise InputError(
            "--holes predicted=use: a machine's labels are no sample of people's. Give them by "
            "--machine-qrels."
        )
    if sampling.prels is not None and _inputs.text_gains(reading.gains, holes):
        # Files of samples contain only numbers.
        _inputs.numbered_gains(reading.gains)


def estimated(qrels, runs, measures, sampling, reading, holes) -> Sampled:
    """Estimate the values of runs, which are paths by name."""
    check(sampling, reading, holes)
    if measures is None:
        tell(
            f"measured by {', '.join(MEASURES)}: not all other default measures can be estimated "
            "from a sample; -m names others"
        )
    measures = parse_measures(list(measures or MEASURES))
    runs, given = _inputs.with_standard_input(runs), reading.gains
    read = partial(
        _inputs.read_sample_or_judgments, gains=given, holes=replace(holes, predicted="use")
    )
    people = _inputs.without_machines(read(qrels), qrels)
    sample, unit, target = _sample(people, qrels, sampling)
    machines = _inputs.named_paths(sampling.machine_qrels or [])
    judges = {name: read(path) for name, path in machines.items()} or None
    documents = None
    if sampling.pool is not None:
        documents = read_qrels(sampling.pool, unjudged_label=None, predicted="use")
    elif not judges:
        documents = pd.concat([people[_KEY], sample[_KEY]]).drop_duplicates()
    pool = RankedPool.read(judges, runs, pool=documents)
    _tell_of_pool(pool, holes)
    path, gains = sampling.prels or qrels, None
    if not _inputs.text_gains(given, holes):
        gains = _inputs.match_gains(given, {path: sample["label"]})
        gains = _inputs.with_other_labels(gains, given)
    _inputs.warn_of_labels_below_0(sample["label"], gains, given, holes)
    # The meaning of labels below 0 is known here, so the library need not warn.
    sample = QrelsIndex(sample, unjudged_label=None, predicted="use")
    what = sample, pool, measures
    how = {"unit": unit, "target": target, "gains": gains}
    if unit == "query":
        what, how = (sample, runs, measures), how | {"machine_qrels": judges, "pool": documents}
    try:
        estimates = estimate(*what, **how, confidence_level=sampling.confidence_level)
    except SkfilterrankError as error:
        error.add_note(f"(qrels: {path}; 'skfilterrank judge --strategy sample' draws samples)")
        raise
    return Sampled(estimates, pool, sample, gains)


def origin_of(estimates) -> dict[str, Any]:
    """Return target and inputs of estimates for JSON."""
    names = ("n_judged", "n_possible", "n_other", "target", "confidence_level")
    return {"n_queries": len(estimates.queries)} | {
        each: getattr(estimates, each) for each in names
    }


def _sample(people, qrels, sampling):
    """Return people's labels with probabilities, the sampling unit, and the target."""
    target = sampling.target and sampling.target.replace("-", " ")
    if sampling.prels is not None:
        drawn = _inputs.without_machines(read_prels(sampling.prels), sampling.prels)
        sample = _with_labels(drawn, people, sampling.prels, qrels)
    elif "inclusion_probability" in people:
        sample = people
    elif sampling.machine_qrels or people["label"].isna().any():
        n_judged = int(people["label"].notna().sum())
        raise InputError(
            f"nothing says with which probability the {n_judged:,} judged documents of "
            f"{qrels} were drawn, and without it no interval is valid: labels that were "
            "chosen say nothing of those that were not. Give --prels, the sample that "
            f"'skfilterrank judge --strategy sample' writes; --judged {qrels} keeps "
            "these labels, and draws from the rest."
        )
    else:
        if target == "these queries":
            raise InputError(
                f"people judged all documents of {qrels}, so that the values of these "
                "queries are known, and no interval is needed: --target new-queries gives those of "
                "the queries that they were drawn from."
            )
        tell(
            f"{qrels} has no probabilities (--prels): its labels are assumed to be complete, and "
            "documents without a label to be not relevant"
        )
        return people.assign(inclusion_probability=1.0), "query", "new queries"
    return sample, sampling.unit, target or "these queries"


def _with_labels(sample, people, prels, qrels):
    """Return the sample with the labels of both files; raise if they differ."""
    labels = people.set_index(_KEY)["label"]
    given = sample.set_index(_KEY)["label"]
    both = labels.reindex(given.index)
    differ = given.notna() & both.notna() & (given != both)
    if differ.any():
        qid, docno = differ.index[differ.argmax()]
        raise InputError(
            f"{prels} and {qrels} have different labels of "
            f"{counted(int(differ.sum()), 'document')}, such as {given[qid, docno]:g} and "
            f"{both[qid, docno]:g} of document {docno} of query {qid}. Settle which they have."
        )
    if n_outside := int((labels.notna() & ~labels.index.isin(given.index)).sum()):
        tell(f"not used: {counted(n_outside, 'label')} of {qrels} outside of the sample")
    sample = sample.assign(label=given.fillna(both).to_numpy())
    if n_open := int(sample["label"].isna().sum()):
        raise InputError(
            f"{counted(n_open, 'document')} of the sample {prels} "
            f"{plural(n_open, 'has', 'have')} no label in it or in {qrels}. Judge all "
            "of it, or draw a smaller sample, which is the begin of this one."
        )
    return sample


def _tell_of_pool(pool, holes):
    """Print messages about documents without machine labels and queries that runs lack."""
    for name, labels in pool.machine.items():
        if n_missing := int(pd.isna(labels).sum()):
            tell(
                f"{name} has no label of {n_missing:,} of {counted(len(pool), 'document')}: a "
                "class of their own"
            )
    if lacking := pool.missing_queries:
        counts = {name: len(lost) for name, lost in lacking.items()}
        what = _inputs.some_runs(counts, len(pool.runs), "lacks queries", "lack queries")
        if holes.missing == "raise":
            raise InputError(f"{what}: --holes missing=empty counts them as empty lists.")
        tell(f"{what}: counted as empty lists")


def estimates_section(estimates, by) -> Section:
    """Return a section of estimates with intervals, sorted by a measure if one is given."""
    frame, names = estimates.to_frame(), list(estimates.runs)
    if by is not None:
        is_least_first = not estimates.results[by].greater_is_better
        order = frame.loc[by, "value"].sort_values(ascending=is_least_first, kind="stable")
        names = order.index.tolist()
    interval = interval_text(estimates.confidence_level)
    rows = [["run", *(text for name in estimates.measures for text in (name, interval))]]
    records: list = []
    for run in names:
        values = {name: frame.loc[name, run].to_dict() for name in estimates.measures}
        records.append({"run": run} | origin_of(estimates) | {"measures": values})
        rows.append([run])
        for each in values.values():
            rows[-1] += [f"{each['value']:.4f}", f"{each['low']:.4f} {each['high']:.4f}"]
    by_run = pd.concat([frame.swaplevel().loc[[name]] for name in names])
    return Section(by_run, records, rows, head=estimates.made_from)

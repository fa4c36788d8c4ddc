"""Thresholds from options, their fit to a run, and their monitoring."""

import os
import warnings
from contextlib import suppress

import numpy as np
import pandas as pd

from skfilterrank import thresholds
from skfilterrank._files.files import locked
from skfilterrank._lists.gains import PROBABILITY, is_sample
from skfilterrank._lists.measure import ParsedMeasure
from skfilterrank._lists.measure_names import parse_measure, parse_measures
from skfilterrank._lists.results import counted
from skfilterrank._lists.words import JUDGED_BY, PEOPLE, PREDICTED, is_of_machine
from skfilterrank.cli import _inputs
from skfilterrank.cli import _output as output
from skfilterrank.cli._output import refuse, tell
from skfilterrank.exceptions import (
    DataWarning,
    InputError,
    MissingValuesError,
    brief,
    brief_list,
)
from skfilterrank.io import QrelsIndex
from skfilterrank.metrics import evaluate

# Estimators by name for --threshold.
BY_NAME = {
    "tune": thresholds.TunedThreshold,
    "per_query": thresholds.PerQueryThreshold,
    "expected": thresholds.ExpectedThreshold,
    "learned": thresholds.LearnedThreshold,
    "first_k": thresholds.FirstK,
}
# Rates of what is shown, and of what is lost.
_OF_SHOWN = {"any_forbidden", "forbidden"}
_OF_LOST = {"false_reject_rate", "empty_list_rate"}
_MAY_BE_INFINITE = {"threshold", "level"}


def chosen_measure(cutting) -> ParsedMeasure:
    """Return the single measure for choosing a threshold, with the cut-off of --k."""
    measures = parse_measures(list(cutting.measure))
    if len(measures) > 1:
        raise InputError(
            f"--measure names {len(measures)} measures, and thresholds are tuned by one. Choose "
            f"from {', '.join(measures)}."
        )
    (measure,) = measures.values()
    return measure.for_threshold(cutting.k or None if measure.measure.takes_k else None)


def make_threshold(
    cutting, measure: ParsedMeasure, drawn=None, **parameters
) -> thresholds.BaseThreshold:
    """Make the unfitted threshold of --threshold or --risk.

    `drawn` has options of LearnedThreshold, whose models are random, and `parameters` those of
    other estimators; None means not given.
    """
    how, given = cutting.threshold, {k: v for k, v in parameters.items() if v is not None}
    if not cutting.risk:
        told = ("confidence_level", "among", "html")
        refuse(told, "is about the rates of --risk. Give both or none.")
        if how == "learned":
            given |= drawn or {"random_state": 0}
        if isinstance(how, str):
            return BY_NAME[how](measure=measure.text, **given)
        return thresholds.FixedThreshold(how, measure=measure.text, **given)
    if how != "tune":
        raise InputError("--risk chooses the threshold. Leave out --threshold or --risk.")
    without = "of which --risk can certify nothing. Leave out one of the two."
    refuse(["min_shown"], f"shows documents at any score, {without}")
    k = measure.k or cutting.k or None
    return thresholds.CertifiedThreshold(
        {_with_cutoff(name, k): level for name, level in cutting.risk.items()},
        confidence_level=cutting.confidence_level,
        among=cutting.among,
        measure=measure.text,
        **given,
    )


def measures_of(threshold) -> list[ParsedMeasure]:
    """Return the measure of an unfitted threshold, and its risks; `fit` refuses invalid names."""
    found = []
    for name in (threshold.measure, *getattr(threshold, "risks", ())):
        with suppress(InputError):
            found.append(parse_measure(name))
    return found


def value_of(score: float, measure: ParsedMeasure) -> float:
    """Return the value of a measure from a score that is negated if lower is better."""
    return score if measure.measure.greater_is_better else 0.0 - score


def _with_cutoff(name, k):
    """Add a cut-off to a risk without one; invalid names are left to a later error."""
    try:
        parsed = parse_measure(name)
    except InputError:
        return name
    return parsed.with_cutoff(k).text if parsed.measure.takes_k and parsed.k is None else name


def treatment_of_missing(risks, among) -> str:
    """Return the treatment of queries that a run lacks by which no risk looks lower than it is.

    A query that is shown nothing lowers the rates of what is shown, raises those of what is lost,
    and does not count among the answered queries.
    """
    names = {str(risk).partition("@")[0] for risk in risks or ()}
    if among == "answered" or names <= _OF_LOST:
        return "empty"
    return "drop" if names <= _OF_SHOWN else "raise"


def machines_of(qrels):
    """Return 1 for labels by machines and 0 for others; None without machines."""
    if JUDGED_BY not in qrels:
        return None
    is_machine = is_of_machine(qrels[JUDGED_BY]).astype(float)
    return QrelsIndex(qrels.drop(columns=JUDGED_BY).assign(label=is_machine), unjudged_label=None)


def judges_of(machines, run, missing):
    """Return the source of the label of each row of an aligned run; None without machines."""
    if machines is None:
        return None
    return np.where(machines.align(run, missing=missing).y_true == 1, PREDICTED, PEOPLE)


def read_people(path, reading) -> tuple[pd.DataFrame, bool]:
    """Read labels by people, and tell whether they are a sample, of equal probabilities."""
    people = _inputs.read_labels(path, reading)
    if not is_sample(people["label"], people.get(PROBABILITY)):
        return people, False
    if np.ptp(people[PROBABILITY]) > 0:
        raise InputError(
            f"{path} is a sample of judgments with inclusion probabilities below 1. Its documents "
            "have several inclusion probabilities, and a threshold needs queries drawn at random. "
            "Draw them by select --strategy sample --unit query. "
            "'skfilterrank evaluate --interval' estimates values from this sample."
        )
    tell(
        f"{path} is a sample with the probability {people[PROBABILITY].iloc[0]:g}: its queries are "
        "taken for a random draw, and the others are left out"
    )
    return people.drop(columns=PROBABILITY), True


def _aligned(name, index, run, second, missing):
    """Return a run aligned with labels, and its second scores, 0 if missing."""
    try:
        aligned = index.align(run, missing=missing)
    except MissingValuesError as error:
        (lacking,) = error.lacking.values()
        raise InputError(
            f"{name} lacks {counted(len(lacking), 'judged query', 'judged queries')}, such as "
            f"{brief(lacking[0])}. Say --missing empty where they are shown nothing, which "
            "lowers rates of what is shown; or missing=drop where the run is of other queries."
        ) from None
    output.call.documents = aligned.docnos
    if second is not None:
        pairs = pd.MultiIndex.from_frame(run[["qid", "docno"]])
        places = pairs.get_indexer(pd.MultiIndex.from_arrays([aligned.groups, aligned.docnos]))
        second = np.where(places < 0, 0, second[places])
    return aligned, second


def _with_unjudged(aligned, second, run, column, clusters):
    """Return labels, scores, queries and second scores, with the queries of a run without labels.

    `column` holds the second scores of the run, or is None. Queries without a cluster stay out.
    """
    arrays = [*aligned, second]
    rows = run["qid"].isin(set(aligned.unjudged_queries)).to_numpy()
    if clusters is not None:
        rows = rows & run["qid"].isin(clusters.index).to_numpy()
    more = [
        np.full(np.count_nonzero(rows), np.nan),
        run["score"].to_numpy()[rows],
        run["qid"].to_numpy()[rows],
        None if second is None else column[rows],
    ]
    return [
        None if own is None else np.concatenate([own, other]) for own, other in zip(arrays, more)
    ]


def clusters_of(groups, clusters):
    """Return the cluster of each row, named after the column."""
    if clusters is None:
        return None
    ids = pd.Index(np.asarray(groups).astype(str))
    if (missing := ~ids.isin(clusters.index)).any():
        raise InputError(
            "--clusters lacks the cluster of the queries "
            f"{brief_list(list(ids[missing].unique()))}. Give one for each judged query."
        )
    return pd.Series(clusters[ids].to_numpy(), name=clusters.name)


def fit_run(
    threshold,
    run,
    second,
    *,
    index,
    machines,
    name,
    how,
    missing,
    clusters=None,
    sample=None,
):
    """Fit the threshold `how` (the value of --threshold) to a run; return a JSON object.

    `sample` is the path of judgments that are a sample of queries, else None.
    """
    column = second
    aligned, second = _aligned(name, index, run, column, missing)
    y_true, y_score, groups = aligned
    rows = [y_true, y_score, groups, second]
    if sample is None and isinstance(threshold, thresholds.CertifiedThreshold):
        rows = _with_unjudged(aligned, second, run, column, clusters)
    labels, scores, queries, others = rows
    of_queries = clusters_of(queries, clusters)
    try:
        threshold.fit(
            _inputs.in_columns(scores, others), labels, groups=queries, clusters=of_queries
        )
    except ValueError as error:
        error.add_note(f"(run {name})")
        raise
    if sample is not None and (n_open := len(threshold.certificate_.to_judge)):
        raise InputError(
            f"{sample} is a sample of judgments with inclusion probabilities below 1, and --risk "
            f"needs whole queries: {counted(n_open, 'document')} of {name} on which the risks "
            "depend have no label in it. Draw queries of this run by select --strategy sample "
            "--unit query. 'skfilterrank evaluate --interval' estimates values from this sample."
        )
    measure = threshold.measure_
    shown = threshold.predict(_inputs.in_columns(y_score, second), groups=groups)
    # The rows of a query are in the order of trec_eval, which evaluate takes, too.
    given = {"groups": groups, "gains": threshold.gains, "ties": "stable"}
    plain, value = (
        evaluate(y_true, scores, [measure], **given).means for scores in (y_score, shown)
    )
    n_rows, n_shown = (int((scores > -np.inf).sum()) for scores in (y_score, shown))
    _tell_of_missing(name, aligned, missing)
    tell(
        f"{name}: {counted(aligned.index.n_queries, 'judged query', 'judged queries')}, "
        f"{counted(n_rows, 'document')}, {n_rows - n_shown:,} of them filtered"
    )
    level = None if how is None else threshold.threshold_
    record = {
        "run": name,
        "threshold": getattr(threshold.cut_, "rule", how) if level is None else level,
        "measure": measure,
        "value": float(value[measure]),
        "unfiltered": float(plain[measure]),
        "n_queries": aligned.index.n_queries,
        "missing_queries": list(aligned.missing_queries),
        "missing": missing,
        "n_shown": n_shown,
        "n_filtered": n_rows - n_shown,
    }
    if (held_out := getattr(threshold, "held_out_", None)) is not None:
        own = held_out.loc["threshold", "value"]
        record["held_out"] = value_of(float(own), parse_measure(measure))
    if certificate := getattr(threshold, "certificate_", None):
        judges = judges_of(machines, run, missing)
        if judges is not None:
            n_machine = int(np.count_nonzero((judges == PREDICTED) & ~np.isnan(y_true)))
            if n_machine:
                certificate = certificate.with_conditions(thresholds.by_machines(n_machine))
            threshold.certificate_ = certificate
        record |= _of_certificate(certificate)
    return record


def _of_certificate(certificate):
    """Return what the output says of a certificate."""
    facts = certificate.facts
    record = {
        "certificate": certificate.digest,
        "confidence_level": certificate.confidence_level,
    }
    if n_machine := facts["n_machine"]:
        record["n_machine_labels"] = n_machine
    if facts["rule"] is not None:
        record["level"] = certificate.threshold
    if facts["unit"] is not None:
        record["unit"] = facts["unit"]
    if certificate.among != "all":
        record["among"] = certificate.among
    record["share_answered"] = facts["share_answered"]
    if facts["n_left_out"]:
        record["n_left_out"] = facts["n_left_out"]
    return record | {
        "risks": {
            name: {
                "max_risk": risk.max_risk,
                "observed": risk.observed,
                "upper_bound": risk.upper_bound,
                "n_units": risk.n_queries,
            }
            for name, risk in certificate.risks.items()
        }
    }


def _tell_of_missing(run, aligned, missing):
    """Print a message about judged queries that a run lacks."""
    if n_missing := len(aligned.missing_queries):
        n_queries = counted(n_missing, "judged query", "judged queries")
        tell(f"{run} lacks {n_queries}: {_inputs.DONE_WITH_MISSING[missing]}")


def thresholds_section(records, foot) -> output.Section:
    """Return a section of thresholds, with columns for each risk; people see shorter names."""
    rows = []
    headings: dict[str, str] = {}
    for record in records:
        own = {"value": record["measure"], "missing_queries": "n_missing"}
        row = {own.get(key, key): each for key, each in record.items() if key != "risks"}
        row["n_missing"] = len(record["missing_queries"])
        headings |= {key: key.removeprefix("n_").replace("_", " ") for key in record}
        for risk, rate in record.get("risks", {}).items():
            row |= {risk: rate["observed"]}
            row |= {f"{risk}_{name}": rate[name] for name in rate if name != "observed"}
            headings[f"{risk}_upper_bound"] = f"{risk} at most"
        rows.append(row)
    frame = pd.DataFrame(rows).drop(columns="measure").set_index("run")
    # Runs in a text cannot hold empty lists, which count as missing queries do.
    is_left_out = frame["n_missing"].any() and (frame["missing"] == "drop").all()
    # The text of the certificate states these.
    stated = [name for name in map(str, frame) if name.endswith(("_max_risk", "_n_units"))]
    hidden = ["missing"] if is_left_out else ["n_missing", "missing"]
    stated += {"confidence_level", "certificate"} & set(frame)
    shown = frame.drop(columns=[*hidden, *stated])
    shown = shown.rename(columns=headings | {"n_missing": "left out"})
    # An infinite threshold shows nothing; it is not missing.
    told = [
        each | {name: output.finite_or_text(each[name]) for name in _MAY_BE_INFINITE & each.keys()}
        for each in records
    ]
    return output.frame_section(shown, foot=foot)._replace(frame=frame, records=told)


def in_full(certificate) -> str:
    """Return the text of a certificate with the digest that files and pages state, too."""
    return f"\n{certificate}\nCertificate {certificate.digest}"


def count_queries(
    threshold,
    saved,
    state,
    *,
    begun,
    format,
    out,
    qrels,
    run,
    column,
    clusters,
    reading,
    missing,
):
    """Update the monitor; return 1 after an alarm. `begun` has parameters of a new monitor."""
    of_texts = _inputs.text_gains(reading) is not None and threshold.gains is None
    if reading.gains is not None and not of_texts:
        raise InputError(
            f"--gains gives labels that are texts a number, and {saved} has gains of numbers "
            f"({brief(threshold.gains)}). Leave out --gains."
        )
    judgments = _inputs.read_judgments(qrels, reading)
    clusters = _inputs.read_clusters(clusters)
    if reading.said_unjudged is not None:
        tell(
            "labels that --unjudged-label takes for not judged raise no alarm: give the same as "
            f"where {saved} was made"
        )
    rows, seconds = _inputs.read_scores(run, column)
    index = QrelsIndex(judgments, predicted="use")
    aligned, second = _aligned(run, index, rows, seconds, missing)
    y_true, y_score, groups, second = _with_unjudged(aligned, second, rows, seconds, clusters)
    judges = judges_of(machines_of(judgments), rows, missing)
    if judges is not None:
        judges = np.append(judges, np.full(len(y_true) - len(judges), PEOPLE))
    more = {
        "clusters": clusters_of(groups, clusters),
        "judged_by": judges,
        # Hidden rows have the score -inf.
        "threshold": -np.inf,
    }
    with warnings.catch_warnings():
        if aligned.n_filtered:
            # Lists of what was shown are shorter than those that the threshold was chosen on.
            warnings.simplefilter("ignore", DataWarning)
        shown = threshold.predict(_inputs.in_columns(y_score, second), groups=groups)
    with locked(state):
        monitor = _resumed(threshold, saved, state, begun)
        n_before = _n_counted(monitor.status)
        status = monitor.update(y_true, shown, groups=groups, **more)
        _print_and_save(monitor, state, format, out)
    _tell_of_missing(run, aligned, missing)
    n_new = _n_counted(status) - n_before
    tell(f"counted {counted(n_new, status.unit or 'query')}; the state is in {state}")
    return int(status.alarm)


def _print_and_save(monitor, state, format, out):
    """Print the status, and then save the state.

    Queries in the state cannot be counted again, so it is written last, after everything that can
    fail. A closed output is not a failure.
    """
    status = monitor.status
    text, table = output.in_options(str(status)), status.rates.rename_axis("rate")
    section = output.frame_section(table)._replace(rows=[], head=text)
    try:
        output.print_sections([section], format, out)
    except BrokenPipeError:
        monitor.save(state)
        raise
    monitor.save(state)


def compare_scores(threshold, saved, run, column, format, out):
    """Compare a run's scores with those of the calibration; return 1 if they clearly differ."""
    rows, second = _inputs.read_scores(run, column)
    scores, queries = rows["score"].to_numpy(), rows["qid"].to_numpy()
    if not np.any(scores > -np.inf):
        raise InputError(f"{run} holds no document with a score. Give the run of the new queries.")
    found = threshold.check(_inputs.in_columns(scores, second), groups=queries)
    if found.facts["calibration"].isna().all():
        raise InputError(
            f"{saved} holds no scores to compare with, as its threshold was given or is of an "
            "earlier version. Make it with 'skfilterrank threshold --save'."
        )
    output.print_sections([output.frame_section(found.facts)], format, out)
    tell(output.in_options(found.told()))
    return int(found.warns)


def _n_counted(status):
    """Return the largest number of counted queries of any risk."""
    return int(status.rates["n_queries"].max())


def _resumed(threshold, saved, state, begun):
    """Load the monitor's state, or make a new monitor."""
    if not hasattr(threshold, "certificate_"):
        raise InputError(
            f"{saved} certifies nothing that could be monitored. Make it with 'skfilterrank "
            "threshold --risk RISK=LEVEL'."
        )
    if not os.path.exists(state):
        given = {name: value for name, value in begun.items() if value is not None}
        return thresholds.RiskMonitor(threshold, **given)
    monitor = thresholds.RiskMonitor.load(state)
    if not monitor.watches(threshold):
        raise InputError(
            f"{state} is the state of another threshold than {saved} holds now, or of an earlier "
            "version. Name another --state, or remove the file to begin anew."
        )
    for name, value in begun.items():
        if value not in (None, before := getattr(monitor, name)):
            option = f"--{name.replace('_', '-')}"
            raise InputError(
                f"{state} was begun with {option} {before:g}, which cannot change on the way. "
                f"Leave {option} out, or name another --state."
            )
    return monitor

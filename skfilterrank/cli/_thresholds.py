"""Thresholds from options, their fit to a run, and their monitoring."""

import os
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from skfilterrank import thresholds
from skfilterrank._base.results import counted
from skfilterrank._base.words import JUDGED_BY, PEOPLE
from skfilterrank._files.files import locked
from skfilterrank._lists.gains import PROBABILITY
from skfilterrank._lists.measure import ParsedMeasure
from skfilterrank._lists.measure_names import known_measure, parse_measure, parse_measures
from skfilterrank.cli import _inputs
from skfilterrank.cli import _output as output
from skfilterrank.cli._output import refuse, tell
from skfilterrank.exceptions import DataWarning, InputError, MissingValuesError, brief
from skfilterrank.io import QrelsIndex, read_run
from skfilterrank.metrics import evaluate

# Estimators by name for --threshold.
BY_NAME: dict[str, Callable[..., thresholds.BaseThreshold]] = {
    "tune": thresholds.TunedThreshold,
    "better": partial(thresholds.TunedThreshold, keep_if="better"),
    "per_query": thresholds.PerQueryThreshold,
    "expected": thresholds.ExpectedThreshold,
    "learned": thresholds.LearnedThreshold,
    "first_k": thresholds.FirstK,
}


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
    about = {getattr(known_measure(risk), "about", None) for risk in risks or ()}
    if among == "answered" or about <= {"hidden"}:
        return "empty"
    return "drop" if about <= {"forbidden"} else "raise"


def read_judgments(path, reading, names, *, is_certified) -> tuple[QrelsIndex, bool]:
    """Read judgments for measures and risks, and tell whether they are a sample of queries."""
    measures = {}
    with suppress(InputError):  # `fit` refuses invalid names
        measures = parse_measures(names)
    index = _inputs.read_index(path, reading, measures)
    if not index.is_sample:
        return index, False
    what = f"{path} is a sample of judgments with inclusion probabilities below 1"
    instead = "In Python, judgments.estimate estimates values from it."
    if not is_certified:
        raise InputError(f"{what}, where those of all documents were expected. {instead}")
    probabilities = index.to_frame()[PROBABILITY]
    if np.ptp(probabilities) > 0:
        raise InputError(
            f"{what}. Its documents have several of them, and a threshold needs queries drawn at "
            f"random. Draw them by select --strategy sample --unit query. {instead}"
        )
    tell(
        f"{path} is a sample with the probability {probabilities.iloc[0]:g}: its queries are "
        "taken for a random draw, and the others are left out"
    )
    return index, True


def aligned_run(name, index, run, missing):
    """Join a run with judgments; print or raise which queries it lacks."""
    try:
        aligned = index.align(run, missing=missing)
    except MissingValuesError as error:
        (lacking,) = error.lacking.values()
        raise InputError(
            f"{name} lacks {counted(len(lacking), 'judged query', 'judged queries')}, such as "
            f"{brief(lacking[0])}. Say --missing empty where they are shown nothing, which "
            "lowers rates of what is shown; or --missing drop where the run is of other queries."
        ) from None
    output.call.documents = aligned.docnos
    return aligned


def all_rows(aligned, run):
    """Return labels, scores and queries of a run, with its queries without judgments."""
    more = run[run["qid"].isin(aligned.unjudged_queries)]
    columns = np.full(len(more), np.nan), more["score"], more["qid"]
    return [np.concatenate(pair) for pair in zip(aligned, columns)]


def judges_of(index, aligned, n_rows):
    """Return the source of the label of each of some rows, the first of which are aligned."""
    table = index.to_frame()
    if JUDGED_BY not in table:
        return None
    rows = pd.MultiIndex.from_arrays([aligned.groups, aligned.docnos])
    judges = table[JUDGED_BY].reindex(rows).fillna(PEOPLE).to_numpy()
    return np.append(judges, np.full(n_rows - len(judges), PEOPLE))


def fit_run(threshold, name, path, index, *, how, missing, is_sample):
    """Fit the threshold `how` (the value of --threshold) to a run; return a JSON object.

    `is_sample` tells that the judgments are a sample of queries.
    """
    run = read_run(_inputs.source(path))
    aligned = aligned_run(name, index, run, missing)
    y_true, y_score, groups = rows = [*aligned]
    if isinstance(threshold, thresholds.CertifiedThreshold) and not is_sample:
        rows = all_rows(aligned, run)
    labels, scores, queries = rows
    try:
        threshold.fit(scores, labels, groups=queries)
    except ValueError as error:
        error.add_note(f"(run {name})")
        raise
    if is_sample and (n_open := len(threshold.certificate_.to_judge)):
        raise InputError(
            "the judgments are a sample with inclusion probabilities below 1, and --risk needs "
            f"whole queries: {counted(n_open, 'document')} of {name} on which the risks "
            "depend have no label in it. Draw queries of this run by select --strategy sample "
            "--unit query. In Python, judgments.estimate estimates values from this sample."
        )
    measure = threshold.measure_
    shown = threshold.predict(y_score, groups=groups)
    # The rows of a query are in the order of trec_eval, which evaluate takes, too.
    given = {"groups": groups, "gains": threshold.gains, "ties": "stable"}
    plain, value = (
        evaluate(y_true, scores, [measure], **given).means for scores in (y_score, shown)
    )
    n_rows, n_shown = (int((scores > -np.inf).sum()) for scores in (y_score, shown))
    tell_of_missing(name, aligned, missing)
    tell(
        f"{name}: {counted(aligned.index.n_queries, 'judged query', 'judged queries')}, "
        f"{counted(n_rows, 'document')}, {n_rows - n_shown:,} of them filtered"
    )
    record = {
        "run": name,
        "threshold": None if how is None else threshold.threshold_,
        "measure": measure,
        "value": float(value[measure]),
        "unfiltered": float(plain[measure]),
        "n_queries": aligned.index.n_queries,
        "missing_queries": list(aligned.missing_queries),
        "missing": missing,
        "n_shown": n_shown,
        "n_filtered": n_rows - n_shown,
    }
    if record["threshold"] is None:
        record["threshold"] = how
    if (held_out := getattr(threshold, "held_out_", None)) is not None:
        own = held_out.loc["threshold", "value"]
        if threshold.keep_if is not None:
            # The answer of the highest value was kept.
            own = held_out["value"].max()
            tell(f"{name} {threshold.summary_}")
        record["held_out"] = value_of(float(own), parse_measure(measure))
    if certificate := getattr(threshold, "certificate_", None):
        judges = judges_of(index, aligned, len(y_true))
        n_machine = 0
        if judges is not None:
            n_machine = int(np.count_nonzero((judges != PEOPLE) & ~np.isnan(y_true)))
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


def tell_of_missing(run, aligned, missing):
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
    told = [each | {"threshold": output.finite_or_text(each["threshold"])} for each in records]
    return output.frame_section(shown, foot=foot)._replace(frame=frame, records=told)


def in_full(certificate) -> str:
    """Return the text of a certificate with the digest that files and pages state, too."""
    return f"\n{certificate}\nCertificate {certificate.digest}"


def count_queries(threshold, saved, state, *, format, out, qrels, run, reading, missing) -> int:
    """Update the monitor; return 1 after an alarm."""
    if reading.gains is not None and not (reading.texts and threshold.gains is None):
        raise InputError(
            f"--gains gives labels that are texts a number, and {saved} has gains of numbers "
            f"({brief(threshold.gains)}). Leave out --gains."
        )
    if reading.unjudged_label == "warn":
        # The threshold says what labels below 0 mean.
        reading = replace(reading, unjudged_label=None)
    index, _ = read_judgments(qrels, reading, [], is_certified=False)
    rows = read_run(_inputs.source(run))
    aligned = aligned_run(run, index, rows, missing)
    y_true, y_score, groups = all_rows(aligned, rows)
    judges = judges_of(index, aligned, len(y_true))
    with warnings.catch_warnings():
        if aligned.n_filtered:
            # Lists of what was shown are shorter than those that the threshold was chosen on.
            warnings.simplefilter("ignore", DataWarning)
        shown = threshold.predict(y_score, groups=groups)
    with locked(state):
        monitor = _resumed(threshold, saved, state)
        n_before = _n_counted(monitor.status)
        # Hidden rows have the score -inf.
        more = {"groups": groups, "judged_by": judges, "threshold": -np.inf}
        status = monitor.update(y_true, shown, **more)
        table = status.rates.rename_axis("rate")
        section = output.frame_section(table)
        section = section._replace(rows=[], head=output.in_options(str(status)))
        # Queries in the state cannot be counted again, so it is written last, after everything
        # that can fail. A closed output is not a failure.
        try:
            output.print_sections([section], format, out)
        except BrokenPipeError:
            monitor.save(state)
            raise
        monitor.save(state)
    tell_of_missing(run, aligned, missing)
    n_new = _n_counted(status) - n_before
    tell(f"counted {counted(n_new, 'query', 'queries')}; the state is in {state}")
    return int(status.alarm)


def _n_counted(status):
    """Return the largest number of counted queries of any risk."""
    return int(status.rates["n_queries"].max())


def _resumed(threshold, saved, state):
    """Load the monitor's state, or make a new monitor."""
    if not hasattr(threshold, "certificate_"):
        raise InputError(
            f"{saved} certifies nothing that could be monitored. Make it with 'skfilterrank "
            "threshold --risk RISK=LEVEL'."
        )
    if not os.path.exists(state):
        return thresholds.RiskMonitor(threshold)
    monitor = thresholds.RiskMonitor.load(state)
    if not monitor.watches(threshold):
        raise InputError(
            f"{state} is the state of another threshold than {saved} holds now, or of an earlier "
            "version. Name another --state, or remove the file to begin anew."
        )
    return monitor

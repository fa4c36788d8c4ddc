"""``skfilterrank threshold``: from which score on the documents of a run are shown."""

from contextlib import suppress
from typing import Annotated

from skfilterrank._base.words import JUDGED_BY, PEOPLE, counted
from skfilterrank.cli import _output as output
from skfilterrank.cli import _types as t
from skfilterrank.cli._output import refuse, tell
from skfilterrank.exceptions import InputError, MissingValuesError, brief


def threshold(
    qrels: t.Qrels,
    runs: t.Runs,
    *,
    cutting: t.Cutting,
    max_shown: t.Count = None,
    min_shown: t.Count = None,
    reading: t.LabelOptions,
    missing: t.Missing = None,
    save: t.NewFile = None,
    html: t.Report = None,
    format: Annotated[str | None, t.format_arg(*t.TABLES)] = None,
    out: t.Out = None,
) -> None:
    """Find from which score on documents should be shown, and what can be certified of it.

    The scores are those of a reranker. Several runs are compared, each with its own threshold.

    Parameters
    ----------
    k
        places that count (default: those of the measure, else all)
    max_shown
        largest number of documents shown for a query
    min_shown
        smallest number of documents shown for a query
    missing
        queries that a run lacks (default: by the risks, so that none looks lower than it is)
    save
        save the threshold of the run as JSON, for apply and monitor
    html
        write the certificate of --risk as a page to print and sign

    Examples
    --------
    skfilterrank threshold qrels.txt run.txt --k 10 --gains=0=-1,1=1,2=2 --save threshold.json
    skfilterrank threshold qrels.txt run.txt --k 10 --risk any_forbidden=0.1 --save threshold.json
    skfilterrank threshold qrels.txt run.txt --k 10 --risk any_forbidden=0.1 --among answered
    skfilterrank threshold qrels.txt runs/*.gz -m ap
    """
    from sklearn.base import clone

    from skfilterrank.cli import _inputs

    places = {"max_shown": max_shown, "min_shown": min_shown}
    unfitted = make_threshold(cutting, chosen_measure(cutting), **places)
    named = _inputs.named_paths(runs)
    for option, path in (("save", save), ("html", html)):
        if path is not None and len(named) > 1:
            raise InputError(
                f"--{option} saves the threshold of one run, got {len(named)}. Name the run that "
                "is to be hidden."
            )
    names = [unfitted.measure, *getattr(unfitted, "risks", ())]
    is_certified = cutting.risk is not None
    index, is_sample = read_judgments(qrels, reading, names, is_certified=is_certified)
    unfitted.set_params(gains=reading.numbers)
    missing = missing or treatment_of_missing(cutting.risk, cutting.among)
    given = {"how": cutting.threshold, "missing": missing, "is_sample": is_sample}
    records = []
    for name, path in named.items():
        fitted = clone(unfitted)
        records.append(_fit(fitted, name, path, index, reading.columns, **given))
    if save is not None:
        fitted.save(save)
        tell(f"wrote {save}")
    certificate, foot = getattr(fitted, "certificate_", None), ""
    if html is not None and certificate is not None:
        certificate.to_html(path=html, notes={"Judgments": qrels, "Scores": runs[0]})
        tell(f"wrote {html}")
    if certificate is not None and len(named) == 1:
        foot = in_full(certificate)
    section = _section(records, foot)
    output.print_sections([section], output.chosen_format(format, out, t.TABLES), out)


def chosen_measure(cutting):
    """Return the single measure for choosing a threshold, with the cut-off of --k."""
    import skfilterrank.metrics  # noqa: F401  fills the measure table
    from skfilterrank._lists.measure_names import parse_measures

    measures = parse_measures(list(cutting.measure))
    if len(measures) > 1:
        raise InputError(
            f"--measure names {len(measures)} measures, and thresholds are tuned by one. Choose "
            f"from {', '.join(measures)}."
        )
    (measure,) = measures.values()
    return measure.for_threshold(cutting.k or None if measure.measure.takes_k else None)


def make_threshold(cutting, measure, drawn=None, **parameters):
    """Make the unfitted threshold of --threshold or --risk.

    `drawn` has options of LearnedThreshold, whose models are random, and `parameters` those of
    other estimators; None means not given.
    """
    from skfilterrank import thresholds

    how, given = cutting.threshold, {k: v for k, v in parameters.items() if v is not None}
    given["measure"] = measure.text
    if not cutting.risk:
        told = ("confidence_level", "among", "html")
        refuse(told, "is about the rates of --risk. Give both or none.")
        if how == "learned":
            given |= drawn or {"random_state": 0}
        if how == "better":
            given["keep_if"] = "better"
        if isinstance(how, str):
            return getattr(thresholds, output.THRESHOLDS[how])(**given)
        return thresholds.FixedThreshold(how, **given)
    if how != "tune":
        raise InputError("--risk chooses the threshold. Leave out --threshold or --risk.")
    without = "of which --risk can certify nothing. Leave out one of the two."
    refuse(["min_shown"], f"shows documents at any score, {without}")
    k = measure.k or cutting.k or None
    return thresholds.CertifiedThreshold(
        {_with_cutoff(name, k): level for name, level in cutting.risk.items()},
        confidence_level=cutting.confidence_level,
        among=cutting.among,
        **given,
    )


def _with_cutoff(name, k):
    """Add a cut-off to a risk without one; invalid names are left to a later error."""
    from skfilterrank._lists.measure_names import parse_measure

    try:
        parsed = parse_measure(name)
    except InputError:
        return name
    return parsed.with_cutoff(k).text if parsed.measure.takes_k and parsed.k is None else name


def value_of(score: float, measure) -> float:
    """Return the value of a measure from a score that is negated if lower is better."""
    return score if measure.measure.greater_is_better else 0.0 - score


def treatment_of_missing(risks, among) -> str:
    """Return the treatment of queries that a run lacks by which no risk looks lower than it is.

    A query that is shown nothing lowers the rates of what is shown, raises those of what is lost,
    and does not count among the answered queries.
    """
    from skfilterrank._lists.measure_names import known_measure

    about = {getattr(known_measure(risk), "about", None) for risk in risks or ()}
    if among == "answered" or about <= {"hidden"}:
        return "empty"
    return "drop" if about <= {"forbidden"} else "raise"


def read_judgments(path, reading, names, *, is_certified):
    """Read judgments for measures and risks, and tell whether they are a sample of queries."""
    from skfilterrank._lists.measure_names import parse_measures
    from skfilterrank.cli import _inputs

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
    probabilities = index.to_frame()["inclusion_probability"]
    if probabilities.nunique() > 1:
        raise InputError(
            f"{what}. Its documents have several probabilities, and a threshold needs queries "
            f"drawn at random. Draw them by select --strategy sample --unit query. {instead}"
        )
    tell(
        f"{path} is a sample with the probability {probabilities.iloc[0]:g}: its queries are "
        "taken for a random draw, and the others are left out"
    )
    return index, True


def aligned_run(name, path, index, missing, columns):
    """Join a run with judgments; print or raise which queries it lacks."""
    from skfilterrank.cli import _inputs

    run = _inputs.read_run(path, columns)
    try:
        aligned = index.align(run, missing=missing)
    except MissingValuesError as error:
        (lacking,) = error.lacking.values()
        raise InputError(
            f"{name} lacks {counted(len(lacking), 'judged query')}, such as "
            f"{brief(lacking[0])}. Say --missing empty where they are shown nothing, which "
            "lowers rates of what is shown; or --missing drop where the run is of other queries."
        ) from None
    output.call.documents = aligned.docnos
    return aligned, run


def tell_of_missing(name, aligned, missing):
    """Print a message about judged queries that a run lacks."""
    from skfilterrank.cli._inputs import DONE_WITH_MISSING

    if n_missing := len(aligned.missing_queries):
        tell(f"{name} lacks {counted(n_missing, 'judged query')}: {DONE_WITH_MISSING[missing]}")


def all_rows(aligned, run):
    """Return labels, scores and queries of a run, with its queries without judgments."""
    import numpy as np

    more = run[run["qid"].isin(aligned.unjudged_queries)]
    columns = np.full(len(more), np.nan), more["score"], more["qid"]
    return [np.concatenate(pair) for pair in zip(aligned, columns)]


def n_of_machines(index, aligned) -> int:
    """Count the labels of an aligned run that machines gave."""
    import numpy as np
    import pandas as pd

    table = index.to_frame()
    if JUDGED_BY not in table:
        return 0
    rows = pd.MultiIndex.from_arrays([aligned.groups, aligned.docnos])
    is_machine = (table[JUDGED_BY].reindex(rows).fillna(PEOPLE) != PEOPLE).to_numpy()
    return int((is_machine & ~np.isnan(aligned.y_true)).sum())


def _fit(threshold, name, path, index, columns, how, missing, is_sample):
    """Fit the threshold `how` (the value of --threshold) to a run; return a JSON object.

    `is_sample` tells that the judgments are a sample of queries.
    """
    import numpy as np

    from skfilterrank import metrics, thresholds
    from skfilterrank._lists.measure_names import parse_measure

    aligned, run = aligned_run(name, path, index, missing, columns)
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
            f"whole queries: {counted(n_open, 'document')} of {name} on which the risks depend "
            "have no label in it. Draw queries of this run by select --strategy sample --unit "
            "query. In Python, judgments.estimate estimates values from this sample."
        )
    measure = threshold.measure_
    shown = threshold.predict(y_score, groups=groups)
    # The rows of a query are in the order of trec_eval, which evaluate takes, too.
    given = {"groups": groups, "gains": threshold.gains, "ties": "stable"}
    plain, value = (
        metrics.evaluate(y_true, scores, [measure], **given).means for scores in (y_score, shown)
    )
    n_rows, n_shown = (int((scores > -np.inf).sum()) for scores in (y_score, shown))
    tell_of_missing(name, aligned, missing)
    tell(
        f"{name}: {counted(aligned.index.n_queries, 'judged query')}, "
        f"{counted(n_rows, 'document')}, {n_rows - n_shown:,} of them hidden"
    )
    level = threshold.threshold_
    record = {
        "run": name,
        "threshold": how if how is None or level is None else level,
        "measure": measure,
        "value": float(value[measure]),
        "everything": float(plain[measure]),
        "n_queries": aligned.index.n_queries,
        "missing_queries": list(aligned.missing_queries),
        "missing": missing,
        "n_shown": n_shown,
        "n_hidden": n_rows - n_shown,
    }
    if (held_out := getattr(threshold, "held_out_", None)) is not None:
        own = held_out.loc["threshold", "value"]
        if threshold.keep_if is not None:
            # The answer of the highest value was kept.
            own = held_out["value"].max()
            tell(f"{name} {threshold.summary_}")
        record["held_out"] = value_of(float(own), parse_measure(measure))
    if certificate := getattr(threshold, "certificate_", None):
        if n := n_of_machines(index, aligned):
            certificate = certificate.with_conditions(thresholds.by_machines(n))
        threshold.certificate_ = certificate
        record |= _of_certificate(certificate)
    return record


def _of_certificate(certificate):
    """Return the facts and risks of a certificate that the output states."""
    facts, risks = certificate.facts, certificate.risks
    told = {
        "certificate": certificate.digest,
        "confidence_level": certificate.confidence_level,
        "n_machine_labels": facts["n_machine"] or None,
        "among": None if certificate.among == "all" else certificate.among,
        "share_answered": facts["share_answered"],
        "n_left_out": facts["n_left_out"] or None,
    }
    names = {"max_risk": "max_risk", "observed": "observed", "upper_bound": "upper_bound"}
    names["n_units"] = "n_queries"
    return {name: value for name, value in told.items() if value is not None} | {
        "risks": {
            risk: {name: getattr(each, own) for name, own in names.items()}
            for risk, each in risks.items()
        }
    }


def _section(records, foot) -> output.Section:
    """Return a section of thresholds, with columns for each risk; people see shorter names."""
    import pandas as pd

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

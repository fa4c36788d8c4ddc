"""``skfilterrank threshold``, and ``apply`` and ``monitor``, which use what was saved."""

import os
from typing import Annotated

from skfilterrank.cli import _types as t
from skfilterrank.cli._output import chosen_format, print_sections, tell
from skfilterrank.exceptions import FileFormatError, InputError


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
    from skfilterrank.cli import _thresholds as work

    places = {"max_shown": max_shown, "min_shown": min_shown}
    unfitted = work.make_threshold(cutting, work.chosen_measure(cutting), **places)
    named = _inputs.named_runs(qrels, runs)
    for option, path in (("save", save), ("html", html)):
        if path is not None and len(named) > 1:
            raise InputError(
                f"--{option} saves the threshold of one run, got {len(named)}. Name the run that "
                "is to be filtered."
            )
    is_certified = cutting.risk is not None
    names = [unfitted.measure, *getattr(unfitted, "risks", ())]
    index, is_sample = work.read_judgments(qrels, reading, names, is_certified=is_certified)
    unfitted.set_params(gains=reading.numbers)
    missing = missing or work.treatment_of_missing(cutting.risk, cutting.among)
    given = {"how": cutting.threshold, "missing": missing, "is_sample": is_sample}
    records = []
    for name, path in named.items():
        fitted = clone(unfitted)
        records.append(work.fit_run(fitted, name, path, index, **given))
    if save is not None:
        fitted.save(save)
        tell(f"wrote {save}")
    certificate, foot = getattr(fitted, "certificate_", None), ""
    if html is not None and certificate is not None:
        certificate.to_html(path=html, notes={"Judgments": qrels, "Scores": runs[0]})
        tell(f"wrote {html}")
    if certificate is not None and len(named) == 1:
        foot = work.in_full(certificate)
    section = work.thresholds_section(records, foot)
    print_sections([section], chosen_format(format, out, t.TABLES), out)


FORMATS = ("table", "csv", "json")


def apply(
    saved: Annotated[str, t.Arg(metavar="SAVED", file="read")],
    data: Annotated[str, t.Arg(metavar="DATA", file="read")],
    *,
    format: Annotated[str | None, t.format_arg(*t.LISTS, shown="by --out, else trec")] = None,
    out: t.Out = None,
) -> None:
    """Rank and filter documents by a saved model, or the lists of a run by a saved threshold.

    A TREC run holds what is shown; csv and json have qid, docno, rank, score and shown of every
    document, and hidden ones the rank 0.

    Parameters
    ----------
    saved
        model of rank-filter --save, or threshold of threshold --save. A model can run any program
        when it is read: take it only from those whom you trust
    data
        for a model, rows like those of its training file (a table needs no labels; in LETOR text
        any number stands for them); for a threshold, a run, with whole lists where it is one for
        each query

    Examples
    --------
    skfilterrank apply model.joblib new.csv --out lists.txt
    skfilterrank apply threshold.json new.run --format csv
    """
    import joblib
    import numpy as np

    from skfilterrank._files.files import reason_of
    from skfilterrank.cli._inputs import holds_model, load_threshold_of_runs, source
    from skfilterrank.cli._rows import check_ids, read_rows, write_lists
    from skfilterrank.io import read_run

    format = chosen_format(format, out, t.LISTS)
    if holds_model(saved):
        try:
            model = joblib.load(saved)
        except Exception as error:
            raise FileFormatError(
                "the model is damaged, or was written with other versions of the packages it needs "
                f"({reason_of(error)}).",
                saved,
            ) from error
        if not isinstance(model, dict) or not {"model", "name", "table"} <= set(model):
            raise FileFormatError(
                "holds a model that was not saved by 'skfilterrank rank-filter --save'. Load it "
                "in Python with joblib.load.",
                saved,
            )
        read = read_rows(data, {}, model["table"], labelled=False)
        check_ids(read, format, "--format csv or json")
        found = model["model"].predict(read.X, groups=read.groups)
        lists = read.lists(found, model["name"])
    else:
        threshold = load_threshold_of_runs(saved)
        lists = read_run(source(data))
        scores = lists["score"].to_numpy()
        is_shown = threshold.predict(scores, groups=lists["qid"].to_numpy()) > -np.inf
        lists = lists.assign(is_shown=is_shown)
    tell(write_lists(out, lists, format))


def monitor(
    saved: Annotated[str, t.Arg(metavar="THRESHOLD", file="read")],
    *,
    run: Annotated[str, t.Arg(metavar="RUN", file="read")],
    qrels: Annotated[str, t.Arg(metavar="QRELS", file="read")],
    state: t.NewFile = None,
    reading: t.LabelOptions,
    missing: t.Missing = None,
    format: Annotated[str | None, t.format_arg(*FORMATS)] = None,
    out: t.Out = None,
) -> int:
    """Test with each new judged query whether a threshold still keeps its risks.

    While they hold, there is at most one alarm in 10,000 queries on average, however often you
    look. Python begins a state with another number: RiskMonitor(threshold, ...).save(STATE).

    The exit code is 0; 1 after an alarm; 2 after an error.

    Parameters
    ----------
    saved
        file of threshold --risk ... --save
    run
        scores of the reranker for these queries, filtered or not
    qrels
        judgments of new queries
    state
        file with the counts so far, for the next call (default: THRESHOLD with the ending
        .monitor.json)
    gains
        gains of labels that are texts; others have those of the threshold
    unjudged_label
        label for not judged, as -1, or trec; it raises no alarm: give the same as to threshold
    missing
        queries that the run lacks (default: by the risks, so that none looks lower than it is)

    Examples
    --------
    skfilterrank threshold qrels.txt run.txt --k 10 --risk any_forbidden=0.1 --save safe.json
    skfilterrank monitor safe.json --qrels monday.qrels --run monday.run
    skfilterrank monitor safe.json --qrels tuesday.qrels --run tuesday.run
    """
    from skfilterrank.cli._inputs import load_threshold_of_runs
    from skfilterrank.cli._thresholds import count_queries, treatment_of_missing

    threshold = load_threshold_of_runs(saved)
    certificate = getattr(threshold, "certificate_", None)
    certified = ({}, "all") if certificate is None else (certificate.risks, certificate.among)
    where = {"format": chosen_format(format, out, FORMATS), "out": out}
    if certificate is not None and certificate.facts["unit"] is not None:
        raise InputError(
            f"{saved} counts clusters of queries, which a run does not tell. Watch it in Python "
            "with skfilterrank.thresholds.RiskMonitor."
        )
    state = state or f"{os.path.splitext(saved)[0]}.monitor.json"
    if out is not None and os.path.realpath(out) == os.path.realpath(state):
        raise InputError(f"--out {out} is the same file as --state {state}. Name another one.")
    missing = missing or treatment_of_missing(*certified)
    judged = {"qrels": qrels, "run": run, "reading": reading, "missing": missing}
    return count_queries(threshold, saved, state, **where, **judged)

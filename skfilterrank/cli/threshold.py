"""``skfilterrank threshold``: from which score on a reranker's documents are shown."""

from typing import Annotated

from skfilterrank.cli import _types as t
from skfilterrank.cli._output import chosen_format, print_sections, refuse, tell
from skfilterrank.exceptions import InputError

RULES = ("ratio", "harm")


def threshold(
    qrels: t.Qrels,
    runs: t.Runs,
    *,
    cutting: t.Cutting,
    max_shown: t.Count = None,
    min_shown: t.Count = None,
    filter_scores: t.FilterScores = None,
    rule: Annotated[str | None, t.Arg(choices=RULES, shown="ratio")] = None,
    clusters: t.File = None,
    reading: t.LabelOptions,
    missing: t.Missing = None,
    save: t.NewFile = None,
    html: t.Report = None,
    format: Annotated[str | None, t.format_arg(*t.TABLES)] = None,
    out: t.Out = None,
) -> None:
    """Find from which score on documents should be shown, and what can be promised of it.

    The scores are those of a reranker. Several runs are compared, each with its own threshold.

    Parameters
    ----------
    k
        places that count (default: those of the measure, else all)
    max_shown
        largest number of documents shown for a query
    min_shown
        smallest number of documents shown for a query
    rule
        hide by gain per harm, or by harm
    clusters
        table with the cluster of each query; --risk then counts clusters
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
    from skfilterrank.io import QrelsIndex

    if filter_scores is None:
        refuse(["rule"], "hides by a second score. Name its column by --filter-scores.")
    elif cutting.threshold != "tune":
        how = cutting.threshold or "none"
        raise InputError(
            f"--filter-scores is for --threshold tune and for --risk, and --threshold is {how}. "
            "Leave one out."
        )
    places = {"max_shown": max_shown, "min_shown": min_shown}
    unfitted = work.make_threshold(cutting, work.chosen_measure(cutting), rule=rule, **places)
    missing = missing or work.treatment_of_missing(cutting.risk, cutting.among)
    named = _inputs.named_runs(qrels, runs)
    for option, path in (("save", save), ("html", html)):
        if path is not None and len(named) > 1:
            raise InputError(
                f"--{option} saves the threshold of one run, got {len(named)}. Name the run that "
                "is to be filtered."
            )
    is_sample = False
    if cutting.risk:
        judgments, is_sample = work.read_people(qrels, reading)
    else:
        judgments = _inputs.read_judgments(qrels, reading)
    matched = _inputs.gains_of_labels(
        judgments["label"], qrels, reading, work.measures_of(unfitted)
    )
    # Judgments that come later may hold labels that these do not.
    unfitted.set_params(gains=_inputs.with_other_labels(matched, reading.gains))
    given = {
        "index": QrelsIndex(judgments, unjudged_label=None, predicted="use"),
        "machines": work.machines_of(judgments),
        "clusters": _inputs.read_clusters(clusters),
        "how": cutting.threshold,
        "missing": missing,
        "sample": qrels if is_sample else None,
    }
    records = []
    for name, path in named.items():
        fitted, scores = clone(unfitted), _inputs.read_scores(path, filter_scores)
        records.append(work.fit_run(fitted, *scores, name=name, **given))
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

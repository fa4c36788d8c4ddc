"""``skfilterrank compare``: which of several runs are better, and how sure that is."""

from typing import Annotated, Any

from skfilterrank._lists.run_words import CORRECTION_NAMES, N_ITEMS, TEST_TITLES
from skfilterrank.cli import _types as t
from skfilterrank.cli._parser import Arg

MEASURES = ("ndcg_f@10", "lexirecall(scale=preference)")
_FORMATS = ("table", "csv", "json", "latex", "markdown")
_OF_PAGE = ("before", "open", "topics", "docs", "text")
# Options of reading runs, which mean nothing where only values are.
_OF_READING = ("gains", "ties", "precision", "n_items", "n_jobs")


def compare(
    files: Annotated[list[str], Arg(metavar="QRELS RUN", many="*", file="read")],
    *,
    scores: Annotated[list[str] | None, Arg(metavar="FILE", many="+", file="read")] = None,
    measure: t.Measures = MEASURES,
    test: Annotated[
        str | None, Arg(choices=tuple(TEST_TITLES), metavar="TEST", shown="by the measure")
    ] = None,
    correction: Annotated[
        str | None, Arg(choices=(*CORRECTION_NAMES, "none"), metavar="HOW", shown="holm")
    ] = None,
    baseline: t.Baseline = None,
    alpha: Annotated[float, Arg(convert=t.share, metavar="P")] = 0.05,
    n_resamples: t.NResamples = 10_000,
    format: Annotated[str | None, t.format_arg(*_FORMATS)] = None,
    out: t.Out = None,
    html: Annotated[str | None, Arg(convert=t.page, metavar="REPORT", file="write")] = None,
    before: Annotated[str | None, Arg(metavar="REPORT", file="read")] = None,
    open: Annotated[
        list[tuple[str, str]] | None, Arg(convert=t.pairs, metavar="RUN=RUN,...", shown="the best")
    ] = None,
    topics: t.Topics = None,
    docs: t.Docs = None,
    text: t.Text = None,
    gains: t.Gains = None,
    holes: t.Holes = None,
    ties: t.Ties = "docno",
    precision: t.Precision = "double",
    n_items: t.NItems = N_ITEMS,
    interval: t.Interval = False,
    prels: t.Prels = None,
    machine_qrels: t.MachineQrels = None,
    pool: t.Pool = None,
    unit: t.Unit = "document",
    target: t.Target = None,
    random_state: t.RandomState = 0,
    n_jobs: t.NJobs = None,
) -> None:
    """Compare TREC runs pair by pair, with a test of significance.

    Parameters
    ----------
    files
        judgments and runs, packed or not; - reads standard input
    scores
        values of evaluate --per-query or trec_eval -q, in place of these
    test
        test of significance; see help comparisons
    correction
        correction of p values; see help comparisons
    alpha
        level of significance; intervals cover 1 - alpha
    html
        also write a report to open in a browser
    before
        earlier report; the new one tells what is different now
    open
        pairs of runs whose documents the report shows

    Examples
    --------
    skfilterrank compare qrels.txt runs/*.gz -m ndcg_f@20,lexirecall --test tukey
    skfilterrank compare --scores ap.csv --baseline bm25
    """
    options = {name: value for name, value in locals().items() if name != "files"}
    from skfilterrank._lists.measure_names import parse_measures
    from skfilterrank.cli import _compare as work
    from skfilterrank.cli._errors import refuse
    from skfilterrank.cli._inputs import Holes, check_n_items
    from skfilterrank.cli._output import chosen_format, opened, print_sections, progress, tell
    from skfilterrank.comparison import comparison_table
    from skfilterrank.exceptions import InputError

    is_sampled = interval or prels or machine_qrels or pool
    if html is None:
        refuse(compare, options, _OF_PAGE, "says what is in the report. Add --html.")
    if is_sampled:
        refuse(
            compare,
            options,
            ("scores", "test", "n_resamples", "n_items", "n_jobs"),
            "is for values of topics, and a sample gives those of whole runs. Leave out it, or "
            "--interval, --machine-qrels, --prels and --pool.",
        )
    else:
        refuse(compare, options, ("unit", "target"), "is for a sample. Add --interval or --prels.")
    if scores:
        refuse(
            compare,
            options,
            _OF_READING,
            "says how runs are measured, and --scores are. Give it to evaluate.",
        )
        refuse(
            compare,
            options,
            ["docs"],
            "has the texts of documents, and --scores knows of none. Leave it out.",
        )
        if files:
            raise InputError(f"--scores takes the place of runs. Leave out it, or {files[0]}.")
        treated = Holes.of(holes, only=("missing",), missing="raise")
    else:
        treated = Holes.of(holes, missing="empty")
        qrels, runs = work.named(files)
        options |= {"qrels": qrels, "runs": files[1:]}
        baseline = work.name_of_baseline(baseline, runs)
    if html:
        from skfilterrank.cli import _report

        page = _report.Page(html, before, open, topics, docs, text, options)
    format = chosen_format(format, out, _FORMATS)
    corrected = None if correction == "none" else correction or "holm"
    if is_sampled:
        from skfilterrank.cli._estimates import MEASURES as OF_SAMPLES
        from skfilterrank.cli._estimates import Sample, estimated

        sample = Sample(qrels, prels, pool, machine_qrels or [], unit, target, gains, treated)
        sample.check(ties, precision)
        parsed = parse_measures(list(OF_SAMPLES if measure is MEASURES else measure))
        sampled = estimated(runs, parsed, sample, confidence=round(1 - alpha, 12))
        found = {
            name: work.Found.of(sampled.estimates, name, baseline, corrected, random_state)
            for name in parsed
        }
        # First, as whoever reads the output may have gone.
        if html:
            _report.write_report_of_estimates(
                page, sampled, found, alpha=alpha, random_state=random_state
            )
        print_sections(work.sections_of_estimates(found, sampled.estimates, format), format, out)
    else:
        testing: dict[str, Any] = {"test": test, "correction": corrected, "baseline": baseline}
        testing |= {"alpha": alpha, "n_resamples": n_resamples, "random_state": random_state}
        if scores:
            measures = None if measure is MEASURES else list(measure)
            values, lists = work.measured_before(scores, measures, treated), None
            systems = next(iter(values.values())).systems
            testing["baseline"] = work.name_of_baseline(baseline, dict.fromkeys(systems))
        else:
            reading = {"ties": ties, "precision": precision, "n_items": n_items, "n_jobs": n_jobs}
            parsed = parse_measures(list(measure))
            check_n_items(n_items, parsed)
            values, lists = work.measured(qrels, runs, parsed, gains, treated, **reading)
        comparisons = {name: work.compared(name, each, testing) for name, each in values.items()}
        if html:
            _report.write_report(
                *(page, comparisons, lists),
                alpha=alpha,
                random_state=random_state,
                verbose=progress(),
            )
        if format in ("latex", "markdown"):
            with opened(out, format) as write:
                write(comparison_table(comparisons, format=format))
        else:
            print_sections(work.sections(comparisons, format), format, out)
        work.tell_settings(comparisons, correction is not None)
    if html:
        tell(f"report: {html}")

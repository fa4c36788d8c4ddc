"""``skfilterrank evaluate``: measure runs against judgments."""

from typing import Annotated

from skfilterrank.cli import _types as t
from skfilterrank.cli._parser import Arg

# Ranking and filtering, the first relevant document, all of them, the last one, and how much of
# what is seen was judged at all.
MEASURES = ("ndcg_f@10", "rr", "ap", "recall@1000", "lexirecall", "judged@10")
_FORMATS = ("table", "csv", "json", "trec", "latex", "markdown")


def evaluate(
    qrels: t.Qrels,
    runs: t.Runs,
    *,
    measure: t.Measures = MEASURES,
    per_query: bool = False,
    slices: Annotated[str | None, Arg(metavar="FILE", file="read")] = None,
    sort: Annotated[str | None, Arg(metavar="MEASURE")] = None,
    keep_going: bool = False,
    format: Annotated[str | None, t.format_arg(*_FORMATS)] = None,
    out: t.Out = None,
    reading: t.Reading,
    sampling: t.Sampling,
    n_jobs: t.NJobs = None,
) -> int:
    """Measure TREC runs against judgments. Files may be packed; - reads standard input.

    Parameters
    ----------
    per_query
        print the values of every query, not only the means
    slices
        print means of slices of the queries, and how they differ; see help slices
    sort
        print the best runs by this measure first
    keep_going
        go on after a run that cannot be read

    Examples
    --------
    skfilterrank evaluate qrels.txt runs/*.gz -m ndcg_f@20,lexirecall,ap --sort ap
    skfilterrank evaluate qrels.txt runs/* -m ap --per-query --format csv > ap.csv
    skfilterrank evaluate qrels.txt run.txt --gains=-2=-1,0=0,1=1,2=3
    """
    from skfilterrank._lists.measure_names import parse_measures
    from skfilterrank.cli import _evaluate as work
    from skfilterrank.cli._errors import refuse
    from skfilterrank.cli._inputs import (
        Holes,
        check_n_items,
        check_paths,
        gains_of_labels,
        named_runs,
        read_judgments,
        with_standard_input,
    )
    from skfilterrank.cli._output import chosen_format, print_sections
    from skfilterrank.exceptions import InputError
    from skfilterrank.io import QrelsIndex
    from skfilterrank.metrics import iter_evaluations

    if slices is not None:
        refuse(("per_query", "sort"), "has no effect on --slices. Leave it out.")
    if per_query:
        refuse(["sort"], "orders runs by their means. Leave out --per-query.")
    if sampling.is_asked:
        wrong = ("per_query", "slices", "keep_going", "n_jobs", "n_items")
        refuse(wrong, "has no effect on values with intervals. Leave it out.")
    else:
        needed = ("unit", "target", "confidence_level")
        refuse(needed, "is for values with intervals. Add --interval.")
    if format == "trec" and (slices or sampling.is_asked):
        raise InputError(f"--format trec has no {'slices' if slices else 'intervals'}. Take csv.")
    format = chosen_format(format, out, _FORMATS)
    holes = Holes.of(reading.holes)
    named = named_runs(qrels, runs)
    if not keep_going:
        check_paths(named.values())
    if sampling.is_asked:
        from skfilterrank.cli._estimates import estimated, estimates_section

        found = estimated(
            *(qrels, named, None if measure is MEASURES else measure, sampling, reading, holes),
            sampling.confidence_level,
        ).estimates
        by = work.sorted_by(sort, parse_measures(list(found.measures)))
        print_sections([estimates_section(found, by)], format, out)
        return 0
    parsed = parse_measures(list(measure))
    check_n_items(reading.n_items, parsed)
    by = work.sorted_by(sort, parsed)
    table = read_judgments(qrels, reading.gains, holes, measures=parsed)
    evaluations = iter_evaluations(
        QrelsIndex(table, unjudged_label=None),
        with_standard_input(named),
        parsed,
        n_jobs=n_jobs,
        verbose=work.bar_between_values(is_late=bool(sort or out or not per_query)),
        on_error="yield" if keep_going else "raise",
        gains=gains_of_labels(table["label"], qrels, reading.gains, holes),
        ties=reading.ties,
        missing=holes.missing,
        precision=reading.precision,
        unjudged=holes.unjudged,
        undefined=holes.undefined,
        n_items=reading.n_items,
    )
    notes = work.Notes(len(named), qrels, holes.missing)
    values = notes.of_values(evaluations)
    if by is not None:
        values = iter(work.best_first(values, by, parsed[by]))
    if slices:
        from skfilterrank.cli._documents import read_slices

        table = read_slices(slices)
        sections = (work.slices_section(each, table) for each in values)
    elif per_query:
        sections = (work.queries_section(each, format) for each in values)
    else:
        sections = work.means_sections(values, parsed, format)
    # The values come run by run, and so do lines.
    print_sections(sections, format, out)
    notes.tell()
    return 1 if notes.n_failed else 0

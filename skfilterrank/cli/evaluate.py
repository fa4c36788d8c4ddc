"""``skfilterrank evaluate``: measure runs against judgments."""

from typing import Annotated

from skfilterrank.cli import _types as t
from skfilterrank.cli._errors import message_of, refuse
from skfilterrank.cli._output import (
    Section,
    chosen_format,
    is_verbose,
    output_is_terminal,
    print_sections,
    progress,
    say,
    tell,
)
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
    slices: t.File = None,
    sort: Annotated[str | None, Arg(metavar="MEASURE")] = None,
    keep_going: bool = False,
    format: Annotated[str | None, t.format_arg(*_FORMATS)] = None,
    out: t.Out = None,
    reading: t.ReadingOptions,
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
    from skfilterrank.cli._inputs import (
        Holes,
        check_n_items,
        check_paths,
        gains_of_labels,
        named_runs,
        read_judgments,
        with_standard_input,
    )
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
        by = sorted_by(sort, parse_measures(list(found.measures)))
        print_sections([estimates_section(found, by)], format, out)
        return 0
    parsed = parse_measures(list(measure))
    check_n_items(reading.n_items, parsed)
    by = sorted_by(sort, parsed)
    table = read_judgments(qrels, reading.gains, holes, measures=parsed)
    evaluations = iter_evaluations(
        QrelsIndex(table, unjudged_label=None),
        with_standard_input(named),
        parsed,
        n_jobs=n_jobs,
        verbose=bar_between_values(is_late=bool(sort or out or not per_query)),
        on_error="yield" if keep_going else "raise",
        gains=gains_of_labels(table["label"], qrels, reading.gains, holes),
        ties=reading.ties,
        missing=holes.missing,
        precision=reading.precision,
        unjudged=holes.unjudged,
        undefined=holes.undefined,
        n_items=reading.n_items,
    )
    notes = Notes(len(named), qrels, holes.missing)
    values = notes.of_values(evaluations)
    if by is not None:
        values = iter(best_first(values, by, parsed[by]))
    if slices:
        from skfilterrank.cli._documents import read_slices

        table = read_slices(slices)
        sections = (slices_section(each, table) for each in values)
    elif per_query:
        sections = (queries_section(each, format) for each in values)
    else:
        sections = means_sections(values, parsed, format)
    # The values come run by run, and so do lines.
    print_sections(sections, format, out)
    notes.tell()
    return 1 if notes.n_failed else 0


# A value that four digits would show as 0.0000.
_SMALL = 0.0005
_SHOWN = 3


def bar_between_values(is_late):
    """Return `verbose`: a bar would be torn by values that are written to the same screen."""
    return 0 if output_is_terminal() and not (is_late or is_verbose()) else progress()


def sorted_by(name, measures):
    """Return the measure that orders runs, as it was written; None keeps their order."""
    if name is None:
        return None
    from skfilterrank._lists.measure_names import parse_measure
    from skfilterrank.exceptions import InputError, brief

    wanted = parse_measure(name)
    for text, measure in measures.items():
        if measure == wanted:
            return text
    raise InputError(
        f"--sort {brief(name)} is not one of the measures asked for. Choose from "
        f"{', '.join(measures)}."
    )


def best_first(values, name, measure):
    """Sort runs by their mean, those without one last."""
    sign = -1 if measure.measure.greater_is_better else 1
    return sorted(values, key=lambda each: (each[1][name] != each[1][name], sign * each[1][name]))


class Notes:
    """Runs and queries that were not counted, gathered run by run and told at the end."""

    def __init__(self, n_runs, qrels, missing):
        from skfilterrank._lists.results import counted

        self._of_all, self._qrels, self._treated = f"of {counted(n_runs, 'run')}", qrels, missing
        self.n_failed = 0
        self._missing, self._unjudged = {}, {}

    def of_values(self, evaluations):
        """Yield each run that has values, and its means."""
        for each in evaluations:
            if each.error is not None:
                self.n_failed += 1
                say(f"skfilterrank: error: {message_of(each.error)}")
                continue
            if each.missing_queries:
                self._missing[each.name] = len(each.missing_queries)
            if each.unjudged_queries:
                self._unjudged[each.name] = len(each.unjudged_queries)
            yield each, each.means()

    def tell(self):
        """Tell in one line for each kind."""
        from skfilterrank.cli._inputs import DONE_WITH_MISSING

        if self._missing:
            done = DONE_WITH_MISSING[self._treated]
            done += "; --holes missing=drop leaves them out" * (self._treated == "empty")
            tell(f"{self._runs(self._missing)} lack queries of {self._qrels}: {done}")
        if self._unjudged:
            tell(f"{self._runs(self._unjudged)} have queries without judgments: left out")
        if self.n_failed:
            tell(f"{self.n_failed} {self._of_all} could not be evaluated")

    def _runs(self, counts):
        """Return how many runs, and the first of them with their number of queries."""
        shown = [f"{name}: {count}" for name, count in list(counts.items())[:_SHOWN]]
        if len(counts) > len(shown):
            shown.append("...")
        return f"{len(counts)} {self._of_all} ({', '.join(shown)})"


def means_sections(values, measures, format):
    """Yield a section for each run where programs read it, and one of all runs for people."""
    import pandas as pd

    rows, means = [["run", *measures]], []
    for run, mean in values:
        frame = mean.to_frame(run.name).T.rename_axis("run")
        if format == "trec":
            yield Section(frame, [], _trec_rows(run, mean, None))
        elif format in ("csv", "json"):
            yield Section(frame, [_record(run, mean, None)], [])
        else:
            means.append(mean)
            rows.append([run.name, *map(_cell, mean)])
    if means:
        _mark_best(rows, pd.DataFrame(means).to_numpy(), measures)
        yield Section(pd.DataFrame(), [], rows)


def _mark_best(rows, means, measures):
    """Make the best means of several runs bold."""
    import numpy as np

    from skfilterrank._lists.results import Cell

    if len(means) < 2:
        return
    signs = [1 if each.measure.greater_is_better else -1 for each in measures.values()]
    is_best = means * signs == np.fmax.reduce(means * signs)
    for row, marks in zip(rows[1:], is_best.tolist()):
        row[1:] = [Cell(text, "", mark) for text, mark in zip(row[1:], marks)]


def queries_section(value, format):
    """Return a section of a run with a line for each query."""
    import pandas as pd

    run, mean = value
    frame = pd.concat({run.name: run.values}, names=["run"])
    if format == "trec":
        return Section(frame, [], _trec_rows(run, mean, run.values))
    rows = [[run.name, *run.values.columns]]
    rows += [[str(row[0]), *map(_cell, row[1:])] for row in run.values.itertuples(name=None)]
    rows.append(["all", *map(_cell, mean)])
    return Section(frame, [_record(run, mean, run.values)], rows)


def _record(run, mean, queries):
    """Return a run as an object."""
    record = {
        "run": run.name,
        "n_queries": len(run.values),
        "missing_queries": run.missing_queries,
        "unjudged_queries": run.unjudged_queries,
        "mean": mean.to_dict(),
    }
    return record if queries is None else record | {"queries": queries.to_dict("index")}


def _trec_rows(run, mean, queries):
    """Return the lines of trec_eval: measure, query and value; then the name and the means."""
    rows = []
    for qid, *values in [] if queries is None else queries.itertuples(name=None):
        rows += [_trec_row(name, qid, value) for name, value in zip(queries.columns, values)]
    rows.append(["runid", "all", run.name])
    return rows + [_trec_row(name, "all", value) for name, value in mean.items()]


def _trec_row(name, qid, value):
    """Return a line of trec_eval; counts have no digits behind the point."""
    from skfilterrank._lists.measure_names import parse_measure

    is_count = parse_measure(name).measure.over_queries == "sum"
    # Columns end at white space, which names may have behind commas.
    return ["".join(name.split()), str(qid), f"{value:.0f}" if is_count else f"{value:6.4f}"]


def _cell(value):
    """Return four digits after the point, or the leading ones of a number that has none there."""
    if value != value:
        return "-"
    return f"{value:.1e}" if 0 < abs(value) < _SMALL else f"{value:.4f}"


def slices_section(value, slices):
    """Return a section of a run with a line for each measure and slice of the queries."""
    import pandas as pd

    from skfilterrank._lists.results import p_text
    from skfilterrank.comparison import SystemScores, compare_slices

    run, _ = value
    parts = []
    for measure in run.values.columns:
        scores = SystemScores(
            run.values[[measure]].T,
            systems=[run.name],
            queries=run.values.index,
            measure=measure,
            missing="drop",
        )
        try:
            table = compare_slices(scores, slices, random_state=0).to_frame()
        except ValueError as error:
            error.add_note(f"(--slices, run {run.name})")
            raise
        parts.append(table.assign(run=run.name, measure=measure))
    numbers = ["value", "low", "high", "whole", "difference", "p_value", "p_adjusted"]
    frame = pd.concat(parts).reset_index(drop=True)
    frame = frame[["run", "measure", "slicing", "slice", "n_queries", *numbers]]
    records = frame.assign(slice=frame["slice"].map(str)).to_dict("records")
    rows = [[run.name, "", "", "queries", "value", "95 % interval", "difference", "p"]]
    for row in records:
        interval = "-" if row["low"] != row["low"] else f"{row['low']:.4f}-{row['high']:.4f}"
        p_value = row["p_adjusted"]
        shown = [f"{row['value']:.4f}", interval, f"{row['difference']:+.4f}"]
        shown.append("-" if p_value != p_value else p_text(p_value))
        rows.append([row["measure"], row["slicing"], row["slice"], f"{row['n_queries']:,}", *shown])
    return Section(frame, records, rows)

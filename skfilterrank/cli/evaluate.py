"""``skfilterrank evaluate`` and ``fuse``: measure runs, and make one run of several."""

from typing import Annotated, Literal

from skfilterrank.cli import _output as output
from skfilterrank.cli import _types as t
from skfilterrank.exceptions import InputError

# Measures of ranking and filtering, of the first relevant document, of all of them and of the
# last one; and the judged share of the first ten documents.
MEASURES = ("ndcg_f@10", "rr", "ap", "recall@1000", "lexirecall", "judged@10")
_FORMATS = ("table", "csv", "json", "trec", "latex", "markdown")


def evaluate(
    qrels: t.Qrels,
    runs: t.Runs,
    *,
    measure: t.Measures = MEASURES,
    per_query: bool = False,
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
    keep_going
        go on after a run that cannot be read

    Examples
    --------
    skfilterrank evaluate qrels.txt runs/*.gz -m ndcg_f@20,lexirecall,ap
    skfilterrank evaluate qrels.txt runs/* -m ap --per-query --format csv > ap.csv
    skfilterrank evaluate qrels.txt run.txt --gains=-2=-1,0=0,1=1,2=3
    """
    from skfilterrank._lists.measure_names import parse_measures
    from skfilterrank.cli import _inputs
    from skfilterrank.io import QrelsIndex
    from skfilterrank.metrics import iter_evaluations

    if sampling.is_asked:
        wrong = ("per_query", "keep_going", "n_jobs", "n_items")
        output.refuse(wrong, "has no effect on values with intervals. Leave it out.")
    else:
        output.refuse(("unit", "target"), "is for values with intervals. Add --interval.")
    if format == "trec" and sampling.is_asked:
        raise InputError("--format trec has no intervals. Take csv.")
    format = output.chosen_format(format, out, _FORMATS)
    missing = reading.missing or "empty"
    named = _inputs.named_runs(qrels, runs)
    if not keep_going:
        _inputs.check_paths(named.values())
    if sampling.is_asked:
        from skfilterrank.cli._compare import estimated, estimates_section

        wanted = None if measure is MEASURES else measure
        found = estimated(qrels, named, wanted, sampling, reading)
        output.print_sections([estimates_section(found)], format, out)
        return 0
    parsed = parse_measures(list(measure))
    _inputs.check_n_items(reading.n_items, parsed)
    table = _inputs.read_judgments(qrels, reading, measures=parsed)
    has_draws, level = "draw" in table, sampling.confidence_level
    if not has_draws or per_query:
        output.refuse(("confidence_level",), "is for values with intervals. Add --interval.")
    elif format == "trec":
        raise InputError(
            "--format trec has no intervals, which drawn labels give. Take csv, or --per-query."
        )
    # A bar would be torn by values that are written to the same screen.
    is_late = out or not per_query or output.call.is_verbose
    is_torn = output.output_is_terminal() and not is_late
    evaluations = iter_evaluations(
        QrelsIndex(table, unjudged_label=None, may_have_draws=has_draws),
        _inputs.with_standard_input(named),
        parsed,
        n_jobs=n_jobs,
        verbose=0 if is_torn else output.progress(),
        on_error="yield" if keep_going else "raise",
        gains=_inputs.gains_of_labels(table["label"], qrels, reading, parsed.values()),
        ties=reading.ties,
        missing=missing,
        precision=reading.precision,
        unjudged=reading.unjudged,
        undefined=reading.undefined,
        n_items=reading.n_items,
    )
    notes = Notes()
    values = notes.of_values(evaluations)
    if per_query:
        if has_draws:
            output.tell(
                "the values of queries are means over drawn label sets; what the draws add to an "
                "error is not in them. To compare runs, give compare the drawn labels"
            )
        sections = (queries_section(run, mean, format, missing) for run, mean in values)
    elif has_draws:
        sections = sections_of_draws(values, level, format, missing)
    else:
        sections = means_sections(values, parsed, format, missing)
    # The values come run by run, and so do lines.
    output.print_sections(sections, format, out)
    notes.tell(len(named), qrels, missing)
    return 1 if notes.n_failed else 0


# A value that four digits would show as 0.0000.
_SMALL = 0.0005


class Notes:
    """Runs and queries that were not counted, collected run by run and printed at the end."""

    def __init__(self):
        self.n_failed, self._missing, self._unjudged = 0, {}, {}

    def of_values(self, evaluations):
        """Yield each run that has values, and its means."""
        for each in evaluations:
            if each.error is not None:
                self.n_failed += 1
                output.say(f"skfilterrank: error: {output.message_of(each.error)}")
                continue
            if each.missing_queries:
                self._missing[each.name] = len(each.missing_queries)
            if each.unjudged_queries:
                self._unjudged[each.name] = len(each.unjudged_queries)
            yield each, each.values.means

    def tell(self, n_runs, qrels, missing):
        """Print one line for each kind."""
        from skfilterrank._lists.results import counted
        from skfilterrank.cli._inputs import DONE_WITH_MISSING, some_runs

        if self._missing:
            lack = some_runs(self._missing, n_runs, "lacks queries of", "lack queries of")
            output.tell(f"{lack} {qrels}: {DONE_WITH_MISSING[missing]}")
        if self._unjudged:
            have = some_runs(self._unjudged, n_runs, "has", "have")
            output.tell(f"{have} queries without judgments: left out")
        if self.n_failed:
            output.tell(f"{self.n_failed} of {counted(n_runs, 'run')} could not be evaluated")


def means_sections(values, measures, format, missing):
    """Yield a section for each run where programs read it, and one of all runs for people."""
    import pandas as pd

    from skfilterrank._lists.results import Cell

    means = {}
    for run, mean in values:
        frame = mean.to_frame(run.name).T.rename_axis("run")
        if format == "trec":
            yield output.Section(frame, [], _trec_rows(run, mean))
        elif format in ("csv", "json"):
            yield output.Section(frame, [_record(run, mean, missing)], [])
        else:
            means[run.name] = mean
    if means:
        # The best of several runs are bold.
        signs = [1 if each.measure.greater_is_better else -1 for each in measures.values()]
        signed = pd.DataFrame(means).T * signs
        is_best = (signed == signed.max()) & (len(means) > 1)
        rows = [
            [name, *(Cell(_cell(value), "", mark) for value, mark in zip(mean, marks))]
            for (name, mean), marks in zip(means.items(), is_best.to_numpy().tolist())
        ]
        yield output.Section(signed, [], [["run", *measures], *rows])


def sections_of_draws(values, level, format, missing):
    """Yield means by drawn label sets with intervals, as `means_sections` does."""
    import pandas as pd

    from skfilterrank._lists.results import interval_text

    rows = [["run", "measure", "value", f"these queries, {interval_text(level)}"]]
    rows[0] += ["queries in general", "draws"]
    for run, mean in values:
        table = run.values.intervals(level)
        n_draws = run.values.per_draw.index.unique("draw").size
        measures = {"n_draws": n_draws, "measures": table.to_dict("index")}
        frame = pd.concat({run.name: table}, names=["run"])
        if format in ("csv", "json"):
            yield output.Section(frame, [_record(run, mean, missing) | measures], [])
            continue
        for name, value, *ends, share in table.itertuples(name=None):
            low_these, high_these, low, high = map(_cell, ends)
            intervals = f"{low_these} {high_these}", f"{low} {high}"
            of_draws = "-" if share != share else f"{share:.0%}"
            rows.append([run.name, name, _cell(value), *intervals, of_draws])
    if len(rows) > 1:
        head = (
            f"labels drawn in {n_draws} sets: means over them, intervals by Rubin's rules, and the "
            "share of the variance that the draws cause\n"
        )
        yield output.Section(pd.DataFrame(), [], rows, head)


def queries_section(run, mean, format, missing):
    """Return a section of a run with a line for each query."""
    import pandas as pd

    queries = run.values.per_query
    frame = pd.concat({run.name: queries}, names=["run"])
    if format == "trec":
        rows = [
            _trec_row(name, row[0], value)
            for row in queries.itertuples(name=None)
            for name, value in zip(queries.columns, row[1:])
        ]
        return output.Section(frame, [], rows + _trec_rows(run, mean))
    shown = [*queries.itertuples(name=None), ("all", *mean)]
    rows = [[str(name), *map(_cell, values)] for name, *values in shown]
    record = _record(run, mean, missing) | {"queries": queries.to_dict("index")}
    return output.Section(frame, [record], [[run.name, *queries.columns], *rows])


def _record(run, mean, missing):
    """Return a run as an object."""
    return {
        "run": run.name,
        "n_queries": len(run.values.per_query),
        "missing_queries": run.missing_queries,
        "missing": missing,
        "unjudged_queries": run.unjudged_queries,
        "mean": mean.to_dict(),
    }


def _trec_rows(run, mean):
    """Return the lines of trec_eval on all queries: the name and the means."""
    return [
        ["runid", "all", run.name],
        *(_trec_row(name, "all", mean[name]) for name in mean.index),
    ]


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


def fuse(
    runs: t.Runs,
    *,
    method: Literal["rrf", "borda", "condorcet", "combsum", "combmnz"] = "rrf",
    depth: t.Depth = None,
    name: str = "fused",
    out: t.Out = None,
) -> None:
    """Make one TREC run of several.

    Parameters
    ----------
    method
        method of fusion
    depth
        documents of each query in the fused run
    name
        name of the run

    Examples
    --------
    skfilterrank fuse runs/*.gz --out fused.txt
    skfilterrank fuse bm25.txt dense.txt --method combsum > fused.txt
    """
    from skfilterrank._lists.results import counted
    from skfilterrank.cli._inputs import read_named_runs
    from skfilterrank.io import write_run
    from skfilterrank.ranking import fuse_runs

    if out is not None and out.endswith((".csv", ".tsv", ".json", ".jsonl", ".parquet")):
        raise InputError(f"--out {out}: fuse writes a TREC run. Name a file such as fused.txt.")
    table = read_named_runs(runs)
    fused = fuse_runs(table, method=method, depth=depth or None)
    counts = write_run(output.data_output(out), fused, name=name)
    output.tell(
        f"{counted(counts.written, 'document')} of "
        f"{counted(fused['qid'].nunique(), 'query', 'queries')} out of {counted(len(table), 'run')}"
    )

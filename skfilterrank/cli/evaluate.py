"""``skfilterrank evaluate``: measure runs against judgments."""

from typing import Annotated

from skfilterrank._base.words import interval_text
from skfilterrank.cli import _output as output
from skfilterrank.cli import _types as t
from skfilterrank.exceptions import InputError

# Measures of ranking and filtering, of the first relevant document, of all of them and of the
# last one; and the judged share of the first ten documents.
MEASURES = ("ndcg_f@10", "rr", "ap", "recall@1000", "lexirecall", "judged@10")
# Formats that have a part for each run.
_BY_RUN = ("csv", "json", "trec")
_FORMATS = ("table", *_BY_RUN, "latex", "markdown")
# A value that four digits would show as 0.0000.
_SMALL = 0.0005


def evaluate(
    qrels: t.Qrels,
    runs: t.Runs,
    *,
    measure: t.Measures = MEASURES,
    per_query: bool = False,
    format: Annotated[str | None, t.format_arg(*_FORMATS)] = None,
    out: t.Out = None,
    reading: t.ReadingOptions,
    confidence_level: t.ConfidenceLevel = 0.95,
    n_jobs: t.NJobs = None,
) -> None:
    """Measure TREC runs against judgments. Files may be packed; - reads standard input.

    Parameters
    ----------
    per_query
        print the values of every query, not only the means
    confidence_level
        confidence level of the intervals of drawn label sets

    Examples
    --------
    skfilterrank evaluate qrels.txt runs/*.gz -m ndcg_f@20,lexirecall,ap
    skfilterrank evaluate qrels.txt runs/* -m ap --per-query --format csv > ap.csv
    skfilterrank evaluate qrels.txt run.txt --gains=-2=-1,0=0,1=1,2=3
    """
    from skfilterrank._lists.measure_names import parse_measures
    from skfilterrank.cli import _inputs
    from skfilterrank.metrics import iter_evaluations

    format = output.chosen_format(format, out, _FORMATS)
    named = _inputs.named_paths(runs)
    _inputs.check_paths(named.values())
    parsed, missing = parse_measures(list(measure)), reading.missing or "empty"
    _inputs.check_n_items(reading.n_items, parsed)
    index = _inputs.read_index(qrels, reading, parsed, may_have_draws=True)
    level = confidence_level if index.has_draws and not per_query else None
    if level is None:
        output.refuse(("confidence_level",), "is for drawn label sets. Leave it out.")
    elif format == "trec":
        raise InputError(
            "--format trec has no intervals, which drawn labels give. Take csv, or --per-query."
        )
    # A bar would be torn by values that are written to the same screen.
    is_late = out or not per_query or output.call.is_verbose
    is_torn = output.output_is_terminal() and not is_late
    evaluations = iter_evaluations(
        index,
        _inputs.runs_to_measure(named, reading.columns),
        parsed,
        n_jobs=n_jobs,
        verbose=0 if is_torn else output.progress(),
        missing=missing,
        **reading.scoring(),
    )
    if per_query and index.has_draws:
        output.tell(
            "the values of queries are means over drawn label sets; what the draws add to an "
            "error is not in them. To compare runs, give compare the drawn labels"
        )
    lacking: dict[str, int] = {}
    unjudged: dict[str, int] = {}

    def counted_queries():
        for each in evaluations:
            lacking[each.name] = len(each.missing_queries)
            unjudged[each.name] = len(each.unjudged_queries)
            yield each

    # The values come run by run, and so do lines.
    how = {"format": format, "missing": missing, "per_query": per_query, "level": level}
    output.print_sections(sections(counted_queries(), parsed, **how), format, out)
    if lack := _inputs.some_runs(lacking, len(named), "lacks queries of", "lack queries of"):
        output.tell(f"{lack} {qrels}: {_inputs.DONE_WITH_MISSING[missing]}")
    if have := _inputs.some_runs(unjudged, len(named), "has", "have"):
        output.tell(f"{have} queries without judgments: left out")


def sections(evaluations, measures, *, format, missing, per_query, level):
    """Yield a section for each run, or for people one with the means of all runs."""
    import pandas as pd

    from skfilterrank._base.results import Cell

    frames, rows, head = [], [], ""
    tags = set()
    for run in evaluations:
        values, mean, name = run.values, run.values.means, run.name
        record = {
            "run": name,
            "n_queries": len(values.per_query),
            "missing_queries": run.missing_queries,
            "missing": missing,
            "unjudged_queries": run.unjudged_queries,
            "mean": mean.to_dict(),
        }
        frame = mean.to_frame(name).T.rename_axis("run")
        if level is not None:
            table, n_draws = values.intervals(level), values.per_draw.index.unique("draw").size
            record |= {"n_draws": n_draws, "measures": table.to_dict("index")}
            frame = pd.concat({name: table}, names=["run"])
            head = (
                f"labels drawn in {n_draws} sets: means over them, intervals by Rubin's rules, and "
                "the share of the variance that the draws cause\n"
            )
            for measure, value, *ends, share in table.itertuples(name=None):
                low_these, high_these, low, high = map(_cell, ends)
                rows.append([name, measure, _cell(value), f"{low_these} {high_these}"])
                rows[-1] += [f"{low} {high}", "-" if share != share else f"{share:.0%}"]
        elif per_query:
            record["queries"] = values.per_query.to_dict("index")
            frame = pd.concat({name: values.per_query}, names=["run"])
            lines = [*values.per_query.itertuples(name=None), ("all", *mean)]
            rows = [[str(query), *map(_cell, each)] for query, *each in lines]
            rows.insert(0, [name, *values.per_query.columns])
        if format in _BY_RUN or per_query:
            # The first run of a tag alone is named by it.
            runid = run.name if run.tag is None or run.tag in tags else run.tag
            tags.add(runid)
            lines = trec_rows(run, runid, per_query) if format == "trec" else rows
            yield output.Section(frame, [record], lines)
        else:
            frames.append(frame)
    if frames and level is not None:
        titles = ["run", "measure", "value", f"these queries, {interval_text(level)}"]
        yield output.Section(frame, [], [[*titles, "queries in general", "draws"], *rows], head)
    elif frames:
        table = pd.concat(frames)
        # The best of several runs are bold.
        signed = table * [1 if each.measure.greater_is_better else -1 for each in measures.values()]
        is_best = (signed == signed.max()) & (len(table) > 1)
        rows = [
            [name, *(Cell(_cell(value), "", mark) for value, mark in zip(mean, marks))]
            for (name, *mean), marks in zip(table.itertuples(name=None), is_best.to_numpy())
        ]
        yield output.Section(table, [], [["run", *measures], *rows])


def trec_rows(run, runid, per_query):
    """Return the lines of trec_eval: those of queries if they are asked for, then of all."""
    from skfilterrank._lists.measure_names import parse_measure

    names = list(run.values.means.index)
    # Counts have no digits behind the point.
    sums = [parse_measure(name).measure.over_queries == "sum" for name in names]
    queries = [*run.values.per_query.itertuples(name=None)] if per_query else []
    rows = []
    for place, (qid, *values) in enumerate([*queries, ("all", *run.values.means)]):
        if place == len(queries):
            rows.append(["runid", "all", runid])
        # Columns end at white space, which names may have behind commas.
        rows += [
            ["".join(name.split()), str(qid), f"{value:.0f}" if is_sum else f"{value:6.4f}"]
            for name, value, is_sum in zip(names, values, sums)
        ]
    return rows


def _cell(value):
    """Return a number with four digits after the point, or as 1.2e-06 where these would be 0."""
    if value != value:
        return "-"
    return f"{value:.1e}" if 0 < abs(value) < _SMALL else f"{value:.4f}"

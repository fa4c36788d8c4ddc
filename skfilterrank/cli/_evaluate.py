"""Results of ``skfilterrank evaluate``: notes on runs, and sections of means, topics and slices."""

import numpy as np
import pandas as pd

from skfilterrank._lists.measure_names import parse_measure
from skfilterrank._lists.paper_tables import Cell
from skfilterrank._lists.results import counted, p_text
from skfilterrank.cli._errors import message_of
from skfilterrank.cli._inputs import DONE_WITH_MISSING
from skfilterrank.cli._output import (
    Section,
    is_verbose,
    output_is_terminal,
    progress,
    say,
    tell,
)
from skfilterrank.exceptions import InputError, brief

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
    """Runs and topics that were not counted, gathered run by run and told at the end."""

    def __init__(self, n_runs, qrels, missing):
        self._n_runs, self._qrels, self._treated = n_runs, qrels, missing
        self.n_failed = 0
        self._missing, self._unjudged = {}, {}

    def of_values(self, evaluations):
        """Yield each run that has values, and its means."""
        for each in evaluations:
            if each.error is not None:
                self.n_failed += 1
                say(f"skfilterrank: error: {message_of(each.error)}")
                continue
            if each.missing_topics:
                self._missing[each.name] = len(each.missing_topics)
            if each.unjudged_topics:
                self._unjudged[each.name] = len(each.unjudged_topics)
            yield each, each.means()

    def tell(self):
        """Tell in one line for each kind."""
        if self._missing:
            done = DONE_WITH_MISSING[self._treated]
            done += "; --holes missing=drop leaves them out" * (self._treated == "empty")
            tell(f"{self._runs(self._missing)} lack topics of {self._qrels}: {done}")
        if self._unjudged:
            tell(f"{self._runs(self._unjudged)} have topics without judgments: left out")
        if self.n_failed:
            tell(f"{self.n_failed} of {counted(self._n_runs, 'run')} could not be evaluated")

    def _runs(self, counts):
        """Return how many runs, and the first of them with their number of topics."""
        shown = [f"{name}: {count}" for name, count in list(counts.items())[:_SHOWN]]
        if len(counts) > len(shown):
            shown.append("...")
        return f"{len(counts)} of {counted(self._n_runs, 'run')} ({', '.join(shown)})"


def means_sections(values, measures, format):
    """Yield a section for each run where programs read it, and one of all runs for people."""
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
    if len(means) < 2:
        return
    signs = [1 if each.measure.greater_is_better else -1 for each in measures.values()]
    is_best = means * signs == np.fmax.reduce(means * signs)
    for row, marks in zip(rows[1:], is_best.tolist()):
        row[1:] = [Cell(text, "", mark) for text, mark in zip(row[1:], marks)]


def topics_section(value, format):
    """Return a section of a run with a line for each topic."""
    run, mean = value
    frame = pd.concat({run.name: run.values}, names=["run"])
    if format == "trec":
        return Section(frame, [], _trec_rows(run, mean, run.values))
    rows = [[run.name, *run.values.columns]]
    rows += [[str(row[0]), *map(_cell, row[1:])] for row in run.values.itertuples(name=None)]
    rows.append(["all", *map(_cell, mean)])
    return Section(frame, [_record(run, mean, run.values)], rows)


def _record(run, mean, topics):
    """Return a run as an object."""
    record = {
        "run": run.name,
        "n_topics": len(run.values),
        "missing_topics": run.missing_topics,
        "unjudged_topics": run.unjudged_topics,
        "mean": mean.to_dict(),
    }
    return record if topics is None else record | {"topics": topics.to_dict("index")}


def _trec_rows(run, mean, topics):
    """Return the lines of trec_eval: measure, topic and value; then the name and the means."""
    rows = []
    for qid, *values in [] if topics is None else topics.itertuples(name=None):
        rows += [_trec_row(name, qid, value) for name, value in zip(topics.columns, values)]
    rows.append(["runid", "all", run.name])
    return rows + [_trec_row(name, "all", value) for name, value in mean.items()]


def _trec_row(name, qid, value):
    """Return a line of trec_eval; counts have no digits behind the point."""
    is_count = parse_measure(name).measure.over_queries == "sum"
    # Columns end at white space, which names may have behind commas.
    return ["".join(name.split()), str(qid), f"{value:.0f}" if is_count else f"{value:6.4f}"]


def _cell(value):
    """Return four digits after the point, or the leading ones of a number that has none there."""
    if value != value:
        return "-"
    return f"{value:.1e}" if 0 < abs(value) < _SMALL else f"{value:.4f}"


def slices_section(value, slices):
    """Return a section of a run with a line for each measure and slice of the topics."""
    # Here, as other commands need not wait for it.
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
    frame = pd.concat(parts).rename(columns={"n_queries": "n_topics"}).reset_index(drop=True)
    frame = frame[["run", "measure", "slicing", "slice", "n_topics", *numbers]]
    records = frame.assign(slice=frame["slice"].map(str)).to_dict("records")
    rows = [[run.name, "", "", "topics", "value", "95 % interval", "difference", "p"]]
    for row in records:
        interval = "-" if row["low"] != row["low"] else f"{row['low']:.4f}-{row['high']:.4f}"
        p_value = row["p_adjusted"]
        shown = [f"{row['value']:.4f}", interval, f"{row['difference']:+.4f}"]
        shown.append("-" if p_value != p_value else p_text(p_value))
        rows.append([row["measure"], row["slicing"], row["slice"], f"{row['n_topics']:,}", *shown])
    return Section(frame, records, rows)

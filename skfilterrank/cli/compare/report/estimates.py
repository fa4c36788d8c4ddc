"""The report of values that were estimated from a sample of people's labels."""

import numpy as np
from skfilterrank.cli.compare.output import number, p_value

from skfilterrank._core.results import counted, interval_text
from skfilterrank.cli._estimates import Sampled
from skfilterrank.cli.compare.report.elements import (
    Html,
    element,
    isolated,
    number_cell,
    section,
    table,
)
from skfilterrank.cli.compare.report.made import how_it_was_made, made_from
from skfilterrank.cli.compare.report.page import write_page
from skfilterrank.estimation import MachineReport, machine_report

_N_PAIRS = 200


def write_report_of_estimates(path, sampled: Sampled, found, arguments) -> None:
    """Write the page: runs and pairs by each measure, and what the machine is worth."""
    estimates = sampled.estimates
    names = {"summary": "Summary"}
    parts = [
        section(
            "Summary",
            element("p", estimates.made_from + "."),
            element(
                "p",
                "Each interval holds with its confidence by itself; all ranks are within their "
                "intervals together.",
            ),
            id="summary",
        )
    ]
    for place, (measure, (runs, pairs, _)) in enumerate(found.items(), 1):
        names[f"m{place}"] = isolated(measure)
        parts.append(
            section(
                isolated(measure),
                section("Runs", _runs(measure, runs, estimates), level=3),
                section("Pairs", *_pairs(measure, pairs, estimates), level=3),
                id=f"m{place}",
            )
        )
    if sampled.pool.machine and estimates.unit == "document":
        names["machine"] = "What the machine is worth"
        report = machine_report(
            *(sampled.sample, sampled.pool, list(found)),
            gains=sampled.gains,
            confidence=estimates.confidence,
        )
        parts.append(section(names["machine"], *_machine(report), id="machine"))
    names["made"] = "How this was made"
    parts.append(how_it_was_made(made_from(arguments)))
    title = "Comparison of " + counted(len(estimates.runs), "run")
    write_page(path, title, names, parts)


def _runs(measure, runs, estimates) -> Html:
    """Values and ranks with intervals."""
    head = ["run", "value", interval_text(estimates.confidence), "rank", "ranks"]
    rows = [
        [
            row.Index,
            number_cell(row.value, number(row.value, 4)),
            _interval(row),
            number_cell(row.rank, f"{row.rank:g}"),
            number_cell(row.rank_low, f"{row.rank_low} to {row.rank_high}"),
        ]
        for row in runs.itertuples()
    ]
    return table(f"Estimated {isolated(measure)} of each run, and its rank", head, rows)


def _pairs(measure, pairs, estimates):
    """The surest differences."""
    head = [
        "better",
        "worse",
        "difference",
        interval_text(estimates.confidence),
        "p",
        "significant",
    ]
    rows = [
        [
            row.first,
            row.second,
            number_cell(row.difference, number(row.difference, 4, "+")),
            _interval(row),
            number_cell(row.p_adjusted, p_value(row.p_adjusted)),
            element("span", "yes", class_="yes") if row.significant else "no",
        ]
        for row in pairs.head(_N_PAIRS).itertuples()
    ]
    yield table(f"Pairs of runs by {isolated(measure)}, the surest first", head, rows)
    if len(pairs) > _N_PAIRS:
        yield element(
            "p",
            f"Here are {_N_PAIRS:,} of {len(pairs):,} pairs; skfilterrank compare --format csv "
            "writes all of them.",
            class_="note",
        )


def _machine(report: MachineReport):
    """Agreement, labels, and bias of runs."""
    removed = ", ".join(
        f"{100 * share:.0f} % for {isolated(measure)}"
        for measure, share in report.width_removed.items()
    )
    yield element("p", f"Share of the width of intervals that machine labels remove: {removed}.")
    yield _frame(
        "Agreement of each judge with people, estimated from the sample",
        report.by_judge,
        {"agreement": 3, "kappa": 3, "bias": 3, "n_judged": 0},
    )
    yield _frame(
        "What people say of the documents with each label of a judge",
        report.by_label,
        {"n_pool": 0, "n_judged": 0, "mean_gain": 3, "sd_gain": 3},
    )
    yield _frame(
        "Values by a judge's labels alone, and how far they are off",
        report.by_run,
        dict.fromkeys(("believed", "bias", "low", "high"), 4),
    )


def _frame(caption, frame, digits) -> Html:
    """A data frame, whose columns of numbers have so many digits."""
    head = [*frame.index.names, *digits]
    rows = []
    for key, row in frame.iterrows():
        names = key if isinstance(key, tuple) else (key,)
        cells: list = [f"{name:g}" if isinstance(name, float) else str(name) for name in names]
        for column, n_digits in digits.items():
            value = row[column]
            shown = f"{value:,.0f}" if not n_digits else number(value, n_digits)
            cells.append(number_cell(value, "–" if np.isnan(value) else shown))
        rows.append(cells)
    return table(caption, [name.replace("_", " ") for name in head], rows)


def _interval(row):
    return number_cell(row.low, f"{number(row.low, 4)} to {number(row.high, 4)}")

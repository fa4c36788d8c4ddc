"""Comparisons of runs from a sample of people's labels, as text."""

import json
from collections.abc import Iterator
from typing import NamedTuple

import pandas as pd

from skfilterrank._core.measure_names import parse_measures
from skfilterrank._core.results import counted, interval_text
from skfilterrank._files.tables import csv_text
from skfilterrank.cli._estimates import MEASURES, Sampled, estimated
from skfilterrank.cli._output import align_columns
from skfilterrank.cli._streams import results, tell
from skfilterrank.cli.compare.output import N_PAIRS, number, p_value
from skfilterrank.exceptions import InputError

# What says how values of topics are tested.
_OF_TESTS = ("test", "n_resamples", "before", "open", "topics", "docs", "text")


class Found(NamedTuple):
    """What is told of one measure: runs in their order, and pairs, the better run first."""

    runs: pd.DataFrame
    pairs: pd.DataFrame
    correction: str | None


def compare_estimates(runs, arguments) -> int:
    """Estimate the values of the runs, paths by name, and compare them."""
    for name in _OF_TESTS:
        if getattr(arguments, name) != arguments.get_default(name):
            raise InputError(
                f"--{name.replace('_', '-')} is for values of topics, and a sample of documents "
                "gives those of runs: leave out it, or --interval, --machine-qrels, --prels and "
                "--pool."
            )
    if arguments.format not in (None, *_FORMATS):
        raise InputError(
            f"estimates are printed as {', '.join(_FORMATS)}, not as {arguments.format}."
        )
    arguments.formats = tuple(_FORMATS)
    measures = parse_measures(arguments.measures or MEASURES)
    sampled = estimated(runs, measures, arguments, confidence=round(1 - arguments.alpha, 12))
    found = {measure: _found(measure, sampled.estimates, arguments) for measure in measures}
    if arguments.html:
        from skfilterrank.cli.compare.report import write_report_of_estimates

        write_report_of_estimates(arguments.html, sampled, found, arguments)
    with results(arguments) as (format, write):
        for text in _FORMATS[format](found, sampled):
            write(text)
    if arguments.html:
        tell(f"report: {arguments.html}")
    return 0


def _found(measure, estimates, arguments):
    """Runs and pairs by one measure."""
    correction = arguments.correction or "holm"
    differences = estimates.compare(
        measure,
        baseline=arguments.baseline,
        correction=None if correction == "none" else correction,
    )
    order = estimates.order(measure, random_state=arguments.seed)
    order = order.rename(columns={"low": "rank_low", "high": "rank_high"})
    values = estimates.to_frame().loc[measure].drop(columns="value")
    sign = 1 if estimates.results[measure].greater_is_better else -1
    return Found(order.join(values), _better_first(differences, sign), differences.correction)


def _table(found, sampled: Sampled) -> Iterator[str]:
    """For people: runs and pairs of each measure."""
    estimates = sampled.estimates
    interval = interval_text(estimates.confidence)
    yield estimates.made_from + "\n"
    for measure, (runs, pairs, correction) in found.items():
        lines = [["run", measure, interval, "rank", "ranks"]]
        lines += [
            [
                row.Index,
                number(row.value, 4),
                f"{number(row.low, 4)} {number(row.high, 4)}",
                f"{row.rank:g}",
                f"{row.rank_low}-{row.rank_high}",
            ]
            for row in runs.itertuples()
        ]
        yield "\n" + "\n".join(align_columns(lines)) + "\n"
        lines = [["better", "worse", "difference", interval, "p", ""]]
        lines += [
            [
                row.first,
                row.second,
                number(row.difference, 4, "+"),
                f"{number(row.low, 4, '+')} {number(row.high, 4, '+')}",
                p_value(row.p_adjusted),
                "*" if row.significant else "",
            ]
            for row in pairs.head(N_PAIRS).itertuples()
        ]
        n_sure = int(pairs["significant"].sum())
        alpha = round(1 - estimates.confidence, 12)
        yield (
            f"\n{n_sure:,} of {counted(len(pairs), 'pair differs', 'pairs differ')} "
            f"(p <= {alpha:g}, {correction or 'not corrected'})\n"
        )
        yield "\n".join(align_columns(lines)) + "\n"
        if len(pairs) > N_PAIRS:
            yield f"{len(pairs) - N_PAIRS:,} more pairs: --format csv or json has all of them\n"


def _better_first(differences, sign):
    """Pairs with the better run first, the surest first, and whether they differ."""
    pairs = differences.to_frame().assign(significant=differences.significant())
    turned = sign * pairs["difference"] < 0
    swapped = {"first": "second", "second": "first", "low": "high", "high": "low"}
    other = pairs.rename(columns=swapped)[pairs.columns]
    other[["difference", "low", "high"]] *= -1
    return pairs.where(~turned, other).sort_values("p_value", kind="stable").infer_objects()


def _csv(found, sampled) -> Iterator[str]:
    """For programs: a line for each pair."""
    for place, (measure, (runs, pairs, _)) in enumerate(found.items()):
        pairs.insert(0, "measure", measure)
        for at, side in ((3, "first"), (4, "second")):
            pairs.insert(at, f"value_{side}", runs["value"][pairs[side]].to_numpy())
        pairs["significant"] = pairs["significant"].astype(int)
        yield csv_text(pairs, index=False, header=place == 0)


def _json(found, sampled) -> Iterator[str]:
    """For programs: an object for each measure."""
    estimates = sampled.estimates
    for measure, (runs, pairs, correction) in found.items():
        record = {
            "measure": measure,
            "greater_is_better": estimates.results[measure].greater_is_better,
            "n_topics": len(estimates.topics),
            "n_judged": estimates.n_judged,
            "n_possible": estimates.n_possible,
            "n_other": estimates.n_other,
            "target": estimates.target,
            "confidence": estimates.confidence,
            "correction": correction,
            "systems": runs.reset_index().to_dict("records"),
            "pairs": pairs.to_dict("records"),
        }
        yield json.dumps(record, allow_nan=False) + "\n"


_FORMATS = {"table": _table, "csv": _csv, "json": _json}

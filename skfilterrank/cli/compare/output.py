"""Comparisons of systems as text."""

import json
from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pandas as pd

from skfilterrank._core.results import counted, interval_text
from skfilterrank._files.tables import csv_text
from skfilterrank.cli._output import align_columns
from skfilterrank.comparison import (
    MeasureConflicts,
    PairwiseComparison,
    comparison_table,
    kendall_tau,
)

N_PAIRS = 20


def table(comparisons: dict[str, PairwiseComparison], alpha: float) -> Iterator[str]:
    """For people: systems and pairs of each measure, then how measures agree."""
    for number, (name, comparison) in enumerate(comparisons.items()):
        parts = [
            describe(name, comparison, alpha),
            _systems(comparison, alpha),
            _pairs(comparison, alpha),
        ]
        yield ("\n" if number else "") + "\n".join(parts)
    if len(comparisons) > 1:
        yield "\n" + "\n".join(describe_agreement(comparisons, alpha)) + "\n"


def csv(comparisons: dict[str, PairwiseComparison], alpha: float) -> Iterator[str]:
    """For programs: a line for each pair."""
    for number, (name, comparison) in enumerate(comparisons.items()):
        pairs = comparison.pairs(alpha)
        means = comparison.scores.means
        pairs.insert(0, "measure", name)
        pairs.insert(3, "mean_first", means[pairs["first"]].to_numpy())
        pairs.insert(4, "mean_second", means[pairs["second"]].to_numpy())
        pairs["significant"] = pairs["significant"].astype(int)
        yield csv_text(pairs, index=False, header=number == 0)


def json_lines(comparisons: dict[str, PairwiseComparison], alpha: float) -> Iterator[str]:
    """For programs: an object for each measure."""
    for name, comparison in comparisons.items():
        scores = comparison.scores
        record = {
            "measure": name,
            "greater_is_better": scores.greater_is_better,
            "is_preference": scores.is_preference,
            "n_topics": scores.n_queries,
            "left_out": list(map(str, in_order(scores.dropped_queries))),
            "test": comparison.test,
            "correction": comparison.correction,
            "baseline": comparison.baseline,
            "alpha": alpha,
            "effect_name": comparison.effect_name,
            "interval_of": comparison.interval_of,
            "systems": _records(comparison.systems(alpha).reset_index()),
            "pairs": _records(comparison.pairs(alpha)),
        }
        yield json.dumps(record, allow_nan=False) + "\n"


def latex(comparisons: dict[str, PairwiseComparison], alpha: float) -> Iterator[str]:
    """For papers: a row for each system, a column for each measure, marks of significance."""
    yield comparison_table(comparisons, format="latex")


def markdown(comparisons: dict[str, PairwiseComparison], alpha: float) -> Iterator[str]:
    """The same as Markdown."""
    yield comparison_table(comparisons, format="markdown")


FORMATS = {
    "table": table,
    "csv": csv,
    "json": json_lines,
    "latex": latex,
    "markdown": markdown,
}


def describe(name, comparison, alpha) -> str:
    """What was compared and how."""
    scores = comparison.scores
    parts = [counted(scores.n_systems, "run"), counted(scores.n_queries, "topic")]
    if scores.dropped_queries:
        parts[-1] += f" ({len(scores.dropped_queries)} left out)"
    parts.append(comparison.test_text())
    if not scores.greater_is_better:
        parts.append("lower is better")
    if comparison.baseline is not None:
        parts.append(f"against {comparison.baseline}")
    lines = [f"{name}: {', '.join(parts)}"]
    if scores.is_preference:
        lines.append("values are the share of the other runs that are worse on a topic")
    return "\n".join(lines) + "\n"


def describe_agreement(comparisons, alpha) -> list[str]:
    """For each two measures, how they order systems and which pairs they tell apart."""
    lines = []
    for (first, ours), (second, theirs) in combinations(comparisons.items(), 2):
        tau = kendall_tau(ours.scores, theirs.scores)
        conflict = MeasureConflicts.from_comparisons(ours, theirs, alpha=alpha)
        n = conflict.counts
        lines.append(
            f"{first} and {second}: Kendall's tau of the means {number(tau)}; of "
            f"{counted(conflict.n_pairs, 'pair')}, {n['agree']:,} differ by both, "
            f"{n['only first']:,} by {first} only, {n['only second']:,} by {second} only, "
            f"{n['opposite']:,} in opposite ways, {n['neither']:,} by neither"
        )
    return lines


def contradictions(comparison, alpha) -> list[str]:
    """That tests of signs or ranks find runs better whose means are worse, where they do."""
    differs = comparison.better(alpha)
    sign = 1 if comparison.scores.greater_is_better else -1
    n_against = int(np.count_nonzero(differs * sign * comparison.difference < 0))
    if not n_against:
        return []
    which = "1 pair the run with the worse mean is"
    if n_against > 1:
        which = f"{n_against:,} pairs the runs with the worse means are"
    return [
        f"of {which} significantly better: the test goes by the {comparison.effect_name}, not by "
        "means"
    ]


def notes(comparison) -> list[str]:
    """What the library remarks on the values, in words of the command."""
    return [note.replace("test='sign'", "--test sign") for note in comparison.notes]


def in_order(topics) -> list:
    """Topics by number where all are whole numbers, else as they are."""
    if all(str(topic).isdecimal() for topic in topics):
        return sorted(topics, key=lambda topic: int(str(topic)))
    return list(topics)


def number(value, digits=3, sign="") -> str:
    """A few digits after the point, fewer of large numbers; of tiny ones the leading digits."""
    if not np.isfinite(value):
        return "-" if value != value else f"{value:{sign}}"
    size = abs(value)
    if 0 < size < 0.5 * 10**-digits:
        return f"{value:{sign}.1e}"
    n_whole = int(np.log10(size)) if size >= 10 else 0
    return f"{value:{sign}.{max(digits - n_whole, 0)}f}"


def p_value(value) -> str:
    """Three digits, or that it is smaller."""
    return "<0.001" if value < 0.0005 else f"{value:.3f}"


def _systems(comparison, alpha):
    """A line for each system."""
    summary = comparison.systems(alpha)
    rows = [["run", "mean", interval_text(1 - comparison.alpha), "beats", "beaten by"]]
    rows += [
        [
            f"{row.Index} (baseline)" if row.Index == comparison.baseline else row.Index,
            number(row.mean, 4),
            f"{number(row.low, 4)} {number(row.high, 4)}",
            str(row.n_wins),
            str(row.n_losses),
        ]
        for row in summary.itertuples()
    ]
    return "\n".join(align_columns(rows)) + "\n"


def _pairs(comparison, alpha):
    """A line for each pair, as far as there are few."""
    pairs = comparison.pairs(alpha)
    shown, effect = _few(pairs), comparison.effect_name
    rows = [
        ["better", "worse", "difference", comparison.interval_name, effect, "p", ""],
    ]
    rows += [
        [
            row.first,
            row.second,
            number(row.difference, 4, "+"),
            f"{number(row.low, 4, '+')} {number(row.high, 4, '+')}",
            number(row.effect_size, 2, "+"),
            p_value(row.p_adjusted),
            "*" if row.significant else "",
        ]
        for row in shown.itertuples()
    ]
    n_significant = pairs["significant"].sum()
    differ = counted(len(pairs), "pair differs", "pairs differ")
    lines = [f"{n_significant:,} of {differ} (p <= {alpha:g})"]
    lines += contradictions(comparison, alpha)
    lines += align_columns(rows)
    if len(pairs) > len(shown):
        n_more = n_significant - shown["significant"].sum()
        which = f", {n_more:,} of which differ" if n_more else ""
        lines.append(
            f"{len(pairs) - len(shown):,} more pairs{which}: --format csv or json has all of them"
        )
    return "\n".join(lines) + "\n"


def _few(pairs):
    """So many pairs as fit: for each of the best runs the best that it differs from, then others.

    Pairs stand by the better run, and then by the worse one.
    """
    differs = pairs["significant"].to_numpy()
    is_first = differs & ~pairs["first"].where(differs).duplicated().to_numpy()
    # 0 for the first that differs, 1 for others that do, 2 for the rest.
    rank = np.where(is_first, 0, np.where(differs, 1, 2))
    return pairs.iloc[np.sort(np.argsort(rank, kind="stable")[:N_PAIRS])]


def _records(table: pd.DataFrame):
    """Rows as dictionaries that JSON can write: what is not finite is null."""
    rows = table.astype(object).to_dict("records")
    return [
        {
            name: None if isinstance(value, float) and not np.isfinite(value) else value
            for name, value in row.items()
        }
        for row in rows
    ]

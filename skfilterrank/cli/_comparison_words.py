"""Numbers and remarks of comparisons, in words that tables and reports share."""

from itertools import combinations

import numpy as np

from skfilterrank._lists.results import counted
from skfilterrank.cli._errors import in_options
from skfilterrank.comparison import kendall_tau
from skfilterrank.metaevaluation import conflicts

__all__ = ["contradictions", "describe_agreement", "in_order", "notes", "number", "p_value"]


def describe_agreement(comparisons, alpha) -> list[str]:
    """Return, for each two measures, how they order runs and which pairs they tell apart."""
    lines = []
    for (first, ours), (second, theirs) in combinations(comparisons.items(), 2):
        tau = kendall_tau(ours.scores, theirs.scores)
        conflict = conflicts(ours, theirs, alpha=alpha)
        n = conflict.counts
        lines.append(
            f"{first} and {second}: Kendall's tau of the means {number(tau)}; of "
            f"{counted(conflict.n_pairs, 'pair')}, {n['agree']:,} differ by both, "
            f"{n['only first']:,} by {first} only, {n['only second']:,} by {second} only, "
            f"{n['opposite']:,} in opposite ways, {n['neither']:,} by neither"
        )
    return lines


def contradictions(comparison, alpha) -> list[str]:
    """Return a remark where tests of signs or ranks find runs better whose means are worse."""
    text = comparison.contradiction_text(alpha)
    return [text] if text else []


def notes(comparison) -> list[str]:
    """Return the library's remarks on the values, in words of the command."""
    return list(map(in_options, comparison.notes))


def in_order(topics) -> list:
    """Sort topics by number where all are whole numbers, else leave them as they are."""
    if all(str(topic).isdecimal() for topic in topics):
        return sorted(topics, key=lambda topic: int(str(topic)))
    return list(topics)


def number(value, digits=3, sign="") -> str:
    """Write a few digits after the point, fewer of large numbers, the leading ones of tiny ones."""
    if not np.isfinite(value):
        return "-" if value != value else f"{value:{sign}}"
    size = abs(value)
    if 0 < size < 0.5 * 10**-digits:
        return f"{value:{sign}.1e}"
    n_whole = int(np.log10(size)) if size >= 10 else 0
    return f"{value:{sign}.{max(digits - n_whole, 0)}f}"


def p_value(value) -> str:
    """Write three digits, or that it is smaller."""
    return "<0.001" if value < 0.0005 else f"{value:.3f}"

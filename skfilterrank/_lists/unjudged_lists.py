"""Warnings about mostly unjudged lists, which measures of forbidden documents score as harmless."""

import numpy as np

from skfilterrank._lists.gains import as_gains
from skfilterrank._lists.measure import any_below_0
from skfilterrank._lists.results import counted
from skfilterrank._lists.words import warn_user
from skfilterrank.exceptions import DataWarning, brief

# For these measures an unjudged document (gain 0) counts like a hidden one.
_KIN = ("any_forbidden", "forbidden", "ndcg_f", "ndcg_min")


_MOST = 0.5


_SHOWN = 5


def misled_measure(wanted, labels, gains, unjudged):
    """Find the first measure that treats unjudged documents as harmless; None if there is none."""
    # Wrong values are refused elsewhere, and not every value can be compared with a text.
    if isinstance(unjudged, str) and unjudged == "drop":
        return None
    gained = None
    for parsed in wanted.values():
        entry = parsed.measure
        if (entry.plain or entry).name not in _KIN:
            continue
        if entry.own_reading is not None and entry.own_reading.drops_unjudged:
            continue
        gained = as_gains(labels, gains) if gained is None else gained
        if any_below_0(parsed, gained):
            return parsed
    return None


def unjudged_share(aligned, parsed) -> float:
    """Compute the unjudged share of an AlignedRun's documents down to the measure's cut-off."""
    if parsed is None:
        return 0.0
    index = aligned.index
    is_seen = aligned.y_score > -np.inf
    if parsed.k is not None:
        # The rows of a query stand in the order of their scores.
        places = np.arange(len(is_seen)) - np.repeat(index.starts, index.sizes)
        is_seen &= places < parsed.k
    n_seen = np.count_nonzero(is_seen)
    return float(np.count_nonzero(np.isnan(aligned.y_true[is_seen])) / n_seen) if n_seen else 0.0


def warn_of_unjudged_lists(shares: dict, parsed) -> None:
    """Warn of runs whose documents are mostly unjudged; `shares` are by name of run."""
    most = {name: share for name, share in shares.items() if share > _MOST}
    if not most:
        return
    shown = [
        f"{share:.0%}" if name is None else f"{brief(str(name))} {share:.0%}"
        for name, share in list(most.items())[:_SHOWN]
    ]
    shown += ["..."] * (len(most) > _SHOWN)
    top = "shown documents" if parsed.k is None else f"top {parsed.k}"
    warn_user(
        f"{parsed.text}: most of the {top} is unjudged in {len(most):,} of "
        f"{counted(len(shares), 'run')} ({', '.join(shown)}), and unjudged documents count as "
        "gain 0. A list without judged documents scores like an empty one: judge more, or leave "
        "unjudged documents out with unjudged='drop'.",
        DataWarning,
    )

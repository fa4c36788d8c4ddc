"""Warnings about runs: unjudged documents, ties, the query's own document, missing queries."""

from typing import NamedTuple

import numpy as np

from skfilterrank._base.words import counted, warn_user
from skfilterrank._lists.gains import as_gains
from skfilterrank._lists.measure import any_below_0
from skfilterrank.exceptions import DataWarning, brief

# Shares above which a run gets a warning, and most runs to name in it.
_MOST_UNJUDGED, _MOST_TIED, _MANY_OWN, _MANY_MISSING, _MOST_NAMED = 0.5, 0.9, 0.25, 0.25, 5
# Least number of documents, and of queries, for a warning of ties and of own documents.
_LEAST_DOCUMENTS, _LEAST_QUERIES = 20, 5
# Share of undrawn documents above which a run gets a warning, and the depth down to which they
# count: below it, a table of ranks that was cut leaves documents undrawn on purpose.
_MOST_UNDRAWN, _DRAWN_DEPTH = 0.01, 10


class RunDoubts(NamedTuple):
    """Shares of a run, from 0 to 1; 0 where there are too few documents or queries to tell.

    - `unjudged`: documents without a label, among those that a misled measure counts.
    - `tied`: retrieved documents with the score of another document of the query.
    - `own`: queries whose first document has the id of the query.
    - `undrawn`: documents among the first 10 of each query without a label in drawn label sets.
    - `missing`: queries that count as empty lists, because the run lacks them.
    """

    unjudged: float = 0.0
    tied: float = 0.0
    own: float = 0.0
    undrawn: float = 0.0
    missing: float = 0.0


NO_DOUBTS = RunDoubts()


def doubts_of(aligned, misled) -> RunDoubts:
    """Compute the shares of an AlignedRun; `misled` is the result of `misled_measure`."""
    tied = own = 0.0
    if aligned.n_retrieved >= _LEAST_DOCUMENTS:
        tied = _n_tied(aligned) / aligned.n_retrieved
    n_queries = aligned.index.n_queries
    n_missing = aligned.keeps_missing_queries * len(aligned.missing_queries)
    n_answered = n_queries - n_missing
    missing = n_missing / n_queries if n_answered and n_queries >= _LEAST_QUERIES else 0.0
    if n_answered >= _LEAST_QUERIES:
        own = aligned.n_own_first / n_answered
    undrawn = 0.0 if aligned.draws is None else _unlabelled_share(aligned, _DRAWN_DEPTH)
    return RunDoubts(unjudged_share(aligned, misled), tied, own, undrawn, missing)


def _n_tied(aligned):
    """Count the retrieved documents that have the score of another one of their query."""
    scores = aligned.y_score
    equal = (scores[1:] == scores[:-1]) & (scores[1:] > -np.inf)
    equal[aligned.index.starts[1:] - 1] = False
    is_tied = np.zeros(len(scores), dtype=bool)
    is_tied[1:] |= equal
    is_tied[:-1] |= equal
    return np.count_nonzero(is_tied)


def warn_of_doubts(doubts: dict, misled, ties, own="warn") -> None:
    """Warn of runs that may mislead; `doubts` holds RunDoubts by name of run."""
    warn_of_unjudged_lists({name: each.unjudged for name, each in doubts.items()}, misled)
    tied = _named({name: each.tied for name, each in doubts.items()}, _MOST_TIED)
    if tied and isinstance(ties, str) and ties == "docno":
        warn_user(
            f"documents with equal scores, which {{ties='docno'}} orders by their ids, are nearly "
            f"all that is retrieved in {tied}: pass {{ties='average'}} for the mean over their "
            "orders.",
            DataWarning,
            argument=("ties='docno'", "ties='average'"),
        )
    lacking = _named({name: each.missing for name, each in doubts.items()}, _MANY_MISSING)
    if lacking:
        warn_user(
            f"many judged queries are missing in {lacking}, and count as empty lists: pass "
            "{missing='drop'} to leave them out, as trec_eval does, or write ids of queries alike.",
            DataWarning,
            argument="missing='drop'",
        )
    owned = _named({name: each.own for name, each in doubts.items()}, _MANY_OWN)
    if owned and own == "warn":
        warn_user(
            f"the first document has the id of the query itself in many queries of {owned}: pass "
            "{own='drop'} to leave such documents out, or {own='keep'} if they are answers.",
            DataWarning,
            argument=("own='drop'", "own='keep'"),
        )


def warn_of_undrawn(doubts: dict, unjudged) -> None:
    """Warn of runs that the draw of labels has not seen; `doubts` holds RunDoubts by name."""
    if isinstance(unjudged, str) and unjudged == "drop":
        return
    if late := _named({name: each.undrawn for name, each in doubts.items()}, _MOST_UNDRAWN):
        warn_user(
            f"documents among the first {_DRAWN_DEPTH} of queries have neither a judged nor a "
            f"drawn label in {late}. They count as not relevant, so values come out too low: draw "
            "the labels again with these runs in complete_qrels.",
            DataWarning,
        )


def _named(shares, least):
    """Return the number and the first names of runs with a share above `least`; "" if none has."""
    most = {name: share for name, share in shares.items() if share > least}
    if not most:
        return ""
    shown = [
        f"{share:.0%}" if name is None else f"{brief(str(name))} {share:.0%}"
        for name, share in list(most.items())[:_MOST_NAMED]
    ]
    shown += ["..."] * (len(most) > _MOST_NAMED)
    return f"{len(most):,} of {counted(len(shares), 'run')} ({', '.join(shown)})"


def misled_measure(wanted, labels, gains, unjudged):
    """Find the first measure that treats unjudged documents as harmless; None if there is none."""
    # `unjudged` may be an array here, whose comparison with a text fails; a later check raises.
    if isinstance(unjudged, str) and unjudged == "drop":
        return None
    gained = None
    for parsed in wanted.values():
        entry = parsed.measure
        if entry.about not in ("forbidden", "both"):
            continue
        if entry.own_reading is not None and entry.own_reading.drops_unjudged:
            continue
        gained = as_gains(labels, gains) if gained is None else gained
        if any_below_0(parsed, gained):
            return parsed
    return None


def unjudged_share(aligned, parsed) -> float:
    """Compute the unjudged share of documents down to a measure's cut-off; 0 without a measure."""
    return 0.0 if parsed is None else _unlabelled_share(aligned, parsed.k)


def _unlabelled_share(aligned, k):
    """Compute the share without a label of the first `k` documents of each query, or of all."""
    index = aligned.index
    is_seen = aligned.y_score > -np.inf
    if k is not None:
        # The rows of a query are sorted by score.
        places = np.arange(len(is_seen)) - np.repeat(index.starts, index.sizes)
        is_seen &= places < k
    n_seen = np.count_nonzero(is_seen)
    # A drawn label is one, in each of its sets.
    labels = aligned.label_sets[0]
    return float(np.count_nonzero(np.isnan(labels[is_seen])) / n_seen) if n_seen else 0.0


def warn_of_unjudged_lists(shares: dict, parsed) -> None:
    """Warn of runs whose documents are mostly unjudged; `shares` are by name of run."""
    most = _named(shares, _MOST_UNJUDGED)
    if not most:
        return
    top = "shown documents" if parsed.k is None else f"top {parsed.k}"
    warn_user(
        f"{parsed.text}: most of the {top} is unjudged in {most}, and unjudged documents count as "
        "gain 0. A list without judged documents scores like an empty one: judge more, or leave "
        "unjudged documents out with {unjudged='drop'}.",
        DataWarning,
        argument="unjudged='drop'",
    )

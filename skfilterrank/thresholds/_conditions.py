"""Conditions of certificates: facts about the data, and limits, each in a sentence."""

from typing import Any, NamedTuple

import numpy as np

from skfilterrank._lists.results import counted
from skfilterrank.thresholds._counted import said_left_out
from skfilterrank.thresholds._hide_rules import rule_in_words


class Condition(NamedTuple):
    """A fact about a certificate, or a limit of it.

    Attributes
    ----------
    name : str
        Name of the fact, as in :meth:`RiskCertificate.to_frame`.
    value : float, int, str, bool or None
        The fact as a number or a name.
    sentence : str
        The fact in a sentence; empty if another sentence says it.
    """

    name: str
    value: Any
    sentence: str = ""


# Facts that hold unless the maker of the scores or of the labels says otherwise.
USUAL = (Condition("n_machine", 0), Condition("exact", True), Condition("assumes_unseen", False))
UNSEEN = Condition(
    "assumes_unseen", True, "This holds if the model that gave the scores has not seen the queries."
)
APPROXIMATE = Condition(
    "exact", False, "The scores came from other models than the one in use: it is an approximation."
)


def by_machines(n_labels: int) -> Condition:
    """State that machines gave some of the labels."""
    return Condition(
        "n_machine",
        n_labels,
        f"Machines gave {counted(n_labels, 'label')} of these judgments: the certificate holds for "
        "such labels, and not for those of people.",
    )


def about_data(lists, units):
    """State the numbers of queries and of labels, and what counts once."""
    n_queries, n_labels = lists.index.n_queries, int(np.count_nonzero(~np.isnan(lists.gains)))
    queries, labels = counted(n_queries, "query"), counted(n_labels, "label")
    yield Condition("n_queries", n_queries, f"The data are {queries} with {labels}.")
    yield Condition("n_labels", n_labels)
    n_units, text = len(units.numbers()[0]), ""
    if units.name is not None:
        number = counted(n_units, units.name)
        text = f"Each {units.name} counts once, with the mean of its queries ({number})."
    yield Condition("n_units", n_units, text)
    yield Condition("unit", units.name)


def about_shown(units, threshold, confidence_level):
    """State the share of answered queries with its interval."""
    share, low, high = units.share_answered(threshold, confidence_level)
    text = (
        f"Something is shown for {100 * share:.1f} % of the queries ({100 * low:.1f} to "
        f"{100 * high:.1f} %)."
    )
    if not share:
        text = (
            "Nothing is shown for any of these queries, so that the certificate is empty: raise a "
            "level, or give more queries or a better model."
        )
    yield Condition("share_answered", share, text)
    yield Condition("share_answered_lower", low)
    yield Condition("share_answered_upper", high)
    # Whoever knows the shown rows replaces it.
    yield Condition("share_hidden", np.nan)


def about_hidden(shown) -> Condition:
    """State the share of the documents that is hidden."""
    hidden = 1.0 - float(shown.mean())
    return Condition("share_hidden", hidden, f"{100 * hidden:.3g} % of the documents are hidden.")


def about_length(max_shown, shows_more) -> Condition:
    """State how many documents of a list are covered."""
    text = ""
    if max_shown is not None:
        covered = counted(max_shown, "document")
        text = f"The certificate covers lists that show at most {covered}."
        if shows_more:
            text = f"More may be shown, and the certificate covers the first {covered} alone."
    return Condition("max_shown", max_shown, text)


def about_rule(rule, threshold, n_apart):
    """State which documents are shown, and from what a rule of two scores was learned."""
    yield Condition("rule", rule, f"{rule_in_words(rule, threshold)}.")
    others = counted(n_apart, "other query")
    text = f"The curves of the rule were learned from {others}." if n_apart else ""
    yield Condition("n_apart", n_apart, text)


def about_bets(risks) -> Condition:
    """State which observed means are their own upper bounds."""
    names = ", ".join(name for name, each in risks.items() if each.is_own_bound)
    text = ""
    if names:
        text = (
            f"Of {names} the bets ruled out the observed mean itself before all queries were "
            "counted, so that it is stated as the upper bound, too."
        )
    return Condition("own_bounds", names, text)


def about_labels(risks, lists, to_judge):
    """State what is left out or unjudged."""
    n_left_out, text = max(each.n_left_out for each in risks.values()), ""
    if n_left_out:
        text = (
            f"{said_left_out(n_left_out, lists.index.n_queries)}, since no document is judged that "
            "could tell the loss: the others must be like a random draw of all."
        )
    yield Condition("n_left_out", n_left_out, text)
    n_unjudged, text = len(to_judge), ""
    if n_unjudged:
        documents = counted(n_unjudged, "document")
        text = f"Unjudged, and counted as not forbidden: {documents} that could change a risk."
    yield Condition("n_unjudged", n_unjudged, text)

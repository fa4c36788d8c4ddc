"""Which labels a strategy asks for: the next ones, or those that it would have had."""

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from skfilterrank._lists.queries import GroupIndex
from skfilterrank.exceptions import InputError, brief
from skfilterrank.judgments._level_model import rows_of_topics
from skfilterrank.judgments._maxrep import MaxRepSelector
from skfilterrank.judgments._selector import TopicSelector, topic_budgets
from skfilterrank.judgments._statap import StatAPSelector

UNCERTAINTY = "uncertainty"


def check_selector(selector):
    """The strategy of a predictor: one that ranks documents, or the name of its own."""
    if selector is None:
        return MaxRepSelector()
    if isinstance(selector, StatAPSelector):
        raise InputError(
            f"selector must be a strategy with one order of the documents, got {brief(selector)}: "
            "its sample is drawn anew for each budget, and the start of its ranking_ has other "
            "inclusion probabilities. Call its select on all documents instead."
        )
    if not isinstance(selector, TopicSelector) and not (
        isinstance(selector, str) and selector == UNCERTAINTY
    ):
        raise InputError(
            f"selector must be a strategy such as MaxRepSelector(), {UNCERTAINTY!r} or None "
            f"(MaxRepSelector()), got {brief(selector)}."
        )
    return selector


def selection_order(selector, documents, index: GroupIndex, prior, judged) -> np.ndarray:
    """Place of each row in its topic's order of judging, by a strategy that ranks documents."""
    # Most strategies order documents one by one: what is judged changes nothing for the others.
    known = {"judged": judged} if has_fit_parameter(selector, "judged") else {}
    groups = index.query_ids[index.codes()]
    return clone(selector).fit(documents, groups=groups, prior=prior, **known).ranking_


def first_rows(order, index: GroupIndex, wanted, budgets) -> np.ndarray:
    """The first wanted rows of each topic, as many as its budget; ties in the order of rows."""
    chosen = np.zeros(len(order), dtype=bool)
    for rows, budget in zip(rows_of_topics(index), budgets):
        rows = rows[wanted[rows]]
        chosen[rows[np.argsort(order[rows], kind="stable")[:budget]]] = True
    return chosen


def asked_labels(selector, documents, index: GroupIndex, labels, n_per_query) -> np.ndarray:
    """Labels that the strategy would have asked for, NaN for the others.

    The judged documents are the pool that it would have chosen from.
    """
    selector = check_selector(selector)
    if isinstance(selector, str):
        raise InputError(
            f"n_per_query={brief(n_per_query)} needs a selector that starts from nothing, and "
            f"{selector!r} asks a model of labels that are there: expected a strategy such as "
            "MaxRepSelector() or RandomSelector()."
        )
    judged = np.flatnonzero(~np.isnan(labels))
    if not len(judged):
        return labels
    pool = GroupIndex.from_groups(index.query_ids[index.codes()[judged]])
    budgets = topic_budgets(n_per_query, pool, warn=False)
    if not hasattr(documents, "shape"):
        documents = np.array(documents, dtype=object)
    order = selection_order(
        selector, documents[judged], pool, None, np.zeros(len(judged), dtype=bool)
    )
    asked = judged[first_rows(order, pool, np.ones(len(judged), dtype=bool), budgets)]
    found = np.full(len(labels), np.nan)
    found[asked] = labels[asked]
    return found

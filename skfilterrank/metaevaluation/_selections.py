"""Which documents are judged first, by the name of a strategy, a strategy, or a function."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.base import clone

from skfilterrank._lists.checks import as_list, check_numbers
from skfilterrank.exceptions import InputError, brief
from skfilterrank.judgments import (
    MaxRepSelector,
    MoveToFrontSelector,
    MTCSelector,
    PoolingSelector,
    PriorSelector,
    RandomSelector,
    StatAPSelector,
)
from skfilterrank.metaevaluation._experiment_pool import TEXT

_STRATEGIES = {
    "maxrep": MaxRepSelector,
    "mtc": MTCSelector,
    "mtf": MoveToFrontSelector,
    "pooling": PoolingSelector,
    "prior": PriorSelector,
    "random": RandomSelector,
    "oracle": RandomSelector,
    "statap": StatAPSelector,
}
_KINDS = tuple(_STRATEGIES.values())


def named(given, name, choices, kinds) -> dict:
    """Things by their names: of a dict, or of a list of names."""
    if isinstance(given, str):
        given = [given]
    things = dict(given) if isinstance(given, Mapping) else None
    if things is None:
        listed = as_list(given, name, "names")
        if not all(isinstance(each, str) for each in listed):
            raise InputError(
                f"{name} must be a name, a list of names or a dict {{name: {kinds}}}, got "
                f"{brief(given)}."
            )
        things = {each: each for each in listed}
        if len(things) < len(listed):
            raise InputError(f"{name} names one thing twice: {brief(listed)}.")
    if not things:
        raise InputError(f"{name} is empty: give at least one of {', '.join(choices)}.")
    return {str(key): thing for key, thing in things.items()}


def read_selections(selections, gains) -> dict[str, Any]:
    """Unfitted strategies and functions by name."""
    found = {}
    for name, thing in named(selections, "selections", _STRATEGIES, "strategy").items():
        if isinstance(thing, str) and thing in _STRATEGIES:
            options: dict = {"oracle": True} if thing == "oracle" else {}
            strategy = _STRATEGIES[thing](**options)
            if "gains" in strategy.get_params(deep=False):
                strategy.set_params(gains=gains)
            found[name] = strategy
        elif isinstance(thing, _KINDS) or (callable(thing) and not isinstance(thing, type | str)):
            found[name] = thing
        else:
            raise InputError(
                f"selections must hold names among {', '.join(_STRATEGIES)}, strategies such as "
                f"MaxRepSelector(), or functions, got {brief(thing)}."
            )
    return found


def is_random(selection) -> bool:
    """Whether a selection is another one each time."""
    return isinstance(selection, _KINDS) and "random_state" in selection.get_params(deep=False)


def needs_documents(selection) -> bool:
    """Whether a selection looks at the documents."""
    return isinstance(selection, MaxRepSelector)


class Judging:
    """Who judges what: masks of some documents for each share.

    Parameters
    ----------
    selection : selector or callable
        Who chooses.
    table : DataFrame of n_rows rows
        Documents and their prior, index levels "qid" and "docno".
    ranks : DataFrame of shape (n_rows, n_runs)
        Their ranks.
    labels : ndarray of shape (n_rows,)
        What the answers would be.
    seed : int
        Of a random selection.
    """

    def __init__(self, selection, table, ranks, labels, seed):
        self.table = table
        self.topics = table.index.get_level_values("qid").to_numpy()
        self.selector = selection
        prior = table["prior"].to_numpy()
        if not isinstance(selection, _KINDS):
            self.selector = self._by(_checked(selection(table.copy()), len(table)))
            return
        selector = clone(selection)
        if is_random(selector):
            selector.set_params(random_state=seed)
        X = _features(table) if isinstance(selector, MaxRepSelector) else ranks
        self.selector = selector.fit(X, labels, groups=self.topics, prior=prior)
        if isinstance(selector, MoveToFrontSelector | MTCSelector):
            # Asked for its order once: it makes it anew each time.
            self.selector = self._by(-selector.simulate(labels).ranking_.astype(float))

    def _by(self, score):
        """A strategy of the order of scores, higher first."""
        return PriorSelector().fit(self.table, groups=self.topics, prior=rankdata(score, "min"))

    def judged(self, share) -> np.ndarray:
        """Documents that are judged, as a mask."""
        judged = np.zeros(len(self.topics), dtype=bool)
        judged[self.selector.select(share=share)] = True
        return judged

    def inclusion(self, share, judged) -> np.ndarray | None:
        """Chance of each document to be judged, None where there is none to speak of."""
        if hasattr(self.selector, "inclusion_probability"):
            return self.selector.inclusion_probability(share=share)
        if isinstance(self.selector, RandomSelector) and not self.selector.oracle:
            _, codes = np.unique(self.topics, return_inverse=True)
            return (np.bincount(codes, weights=judged) / np.bincount(codes))[codes]
        return None


def _features(table):
    """What MAXREP compares: texts, or numbers where there are none."""
    if TEXT in table:
        return table[TEXT].tolist()
    return table.drop(columns="prior").to_numpy()


def _checked(score, n_rows):
    """One finite number for each document."""
    score = check_numbers(score, "what a function of selections returns", n_rows=n_rows)
    if np.isnan(score).any():
        raise InputError("a function of selections returned NaN: give each document a number.")
    return score

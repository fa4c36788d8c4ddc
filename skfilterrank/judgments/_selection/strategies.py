"""Strategies by their names."""

import warnings
from typing import Any

import numpy as np

from skfilterrank.exceptions import DataWarning
from skfilterrank.judgments._active.move_to_front import MoveToFrontSelector
from skfilterrank.judgments._active.mtc import MTCSelector
from skfilterrank.judgments._selection.maxrep import MaxRepSelector
from skfilterrank.judgments._selection.pooling import PoolingSelector, PriorSelector
from skfilterrank.judgments._selection.random import RandomSelector
from skfilterrank.judgments._selection.sampling import StatAPSelector, statap_prior

_OF_RANKS: dict[str, Any] = {
    "pooling": PoolingSelector,
    "mtf": MoveToFrontSelector,
    "mtc": MTCSelector,
}
NEED_RANKS = (*_OF_RANKS, "prior", "statap")


def fit_strategy(
    name, pool, *, ranks=None, texts=None, judged=None, prior=None, random_state=0, verbose=0
):
    """Return the strategy of a name, fitted on a pool.

    The pool is a MultiIndex with levels "qid" and "docno". The ranks of its documents in runs, or
    a prior, are what all but "maxrep" and "random" look at; texts and what is judged are for
    "maxrep".
    """
    if name in _OF_RANKS:
        return _OF_RANKS[name]().fit(ranks)
    X, groups = np.zeros((len(pool), 1)), pool.get_level_values("qid")
    if name == "random":
        return RandomSelector(random_state=random_state).fit(X, groups=groups)
    if prior is None and ranks is not None:
        prior = statap_prior(ranks).loc[pool].to_numpy()
    if name == "maxrep":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # of documents without text
            selector = MaxRepSelector(verbose=verbose)
            return selector.fit(list(texts), groups=groups, prior=prior, judged=judged)
    selector = StatAPSelector(random_state=random_state) if name == "statap" else PriorSelector()
    return selector.fit(X, groups=groups, prior=prior)

"""Strategies of judging by their names, and what is finished of a sample."""

import warnings
from bisect import bisect_left
from typing import Any

import numpy as np
import pandas as pd

from skfilterrank._lists.results import counted
from skfilterrank.exceptions import DataWarning, InputError
from skfilterrank.judgments import (
    MaxRepSelector,
    MoveToFrontSelector,
    MTCSelector,
    PoolingSelector,
    PriorSelector,
    RandomSelector,
    StatAPSelector,
    statap_prior,
)

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


def finished_sample(sample, labels, *, draw, unit: str = "document") -> pd.DataFrame:
    """Return the largest sample at the begin of another one of which all is judged.

    Documents are those that `draw_sample` returned, labels a Series by topic and document, and
    `draw` makes such a table of a smaller number, in the order of the first one.
    """
    labelled = _with_labels(sample, labels)
    drawn = labelled[sample["label"].isna()]
    is_open = drawn["label"].isna()
    if unit == "query":
        is_open = is_open.groupby(drawn["qid"], sort=False).any()
    n_done = int(is_open.to_numpy().argmax())

    def is_sample(n_total):
        try:
            draw(n_total=n_total)
        except InputError:
            return False
        return True

    # Of few, some documents of the pool could not be drawn.
    least = bisect_left(range(1, len(is_open)), True, key=is_sample) + 1
    if n_done < least:
        what = "document" if unit == "document" else "whole topic"
        raise InputError(
            f"so few are no sample from which an interval can be had; judge at least "
            f"{counted(least - n_done, f'more {what}')}, in the order of the sample"
        )
    return _with_labels(draw(n_total=n_done), labels)


def _with_labels(sample, labels):
    """Return a sample with the labels of its documents."""
    index = pd.MultiIndex.from_frame(sample[["qid", "docno"]])
    return sample.assign(label=labels.reindex(index).to_numpy())

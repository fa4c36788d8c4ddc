"""Rows of judgments or of a run, each a pair of topic and document."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from skfilterrank._files.run_folders import Documents
from skfilterrank._files.tokens import Tokens, mix


class Rows(NamedTuple):
    """Judgments or a run: the topic of row i is topics[codes[i]], its document docnos[i].

    `values` holds labels or scores as float64, `name` that of the run where there is one,
    `probabilities` those with which judged documents were drawn where they are known.
    """

    topics: list[str]
    codes: np.ndarray
    docnos: Tokens | Documents
    values: np.ndarray
    name: str | None = None
    probabilities: np.ndarray | None = None


def pair_keys(codes, docnos, salt=0):
    """A 64-bit number of each pair: equal pairs have equal numbers, others hardly ever."""
    return mix(docnos.hashes(salt), codes.astype(np.uint64))


def are_distinct(keys):
    """Whether no number is there twice."""
    keys = np.sort(keys)
    return not (keys[1:] == keys[:-1]).any()


def find_repeated(codes, docnos, keys):
    """Row of the first pair that was there before, and the row where it was; else None."""
    if are_distinct(keys):
        return None
    rows = np.flatnonzero(pd.Series(keys).duplicated(keep=False))
    pairs = pd.DataFrame({"topic": codes[rows], "docno": docnos.take(rows).tolist()})
    again = pairs.duplicated().to_numpy()
    if not again.any():
        return None
    row = int(again.argmax())
    before = int((pairs == pairs.iloc[row]).all(axis=1).to_numpy().argmax())
    return int(rows[row]), int(rows[before])

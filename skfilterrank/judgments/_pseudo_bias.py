"""Runs by how far they are from what all runs return."""

import numpy as np
import pandas as pd
from scipy import sparse

from skfilterrank.judgments._selector import round_half_up


def run_bias(table: pd.DataFrame) -> pd.Series:
    """One minus the cosine of each run's response vector with the sum over all runs.

    A document has the sum of 1 / rank over topics; the factor 30 of the paper cancels. The sum
    over all runs includes the run itself. A run that returns nothing has bias 1.
    """
    docnos = pd.factorize(table.index.get_level_values("docno"))[0]
    # A document that is in the pools of several topics is one coordinate.
    merge = sparse.csr_array((np.ones(len(docnos)), (docnos, np.arange(len(docnos)))))
    responses = merge @ np.nan_to_num(1 / table.to_numpy())
    norm = responses.sum(axis=1)
    lengths = np.sqrt((responses**2).sum(axis=0) * (norm**2).sum())
    cosines = np.divide(norm @ responses, lengths, out=np.zeros(len(lengths)), where=lengths > 0)
    return pd.Series(1 - cosines, index=table.columns)


def most_biased(table: pd.DataFrame) -> list:
    """Names of the more biased half of the runs, rounded half up; ties by name."""
    bias = run_bias(table).sort_index().sort_values(ascending=False, kind="stable")
    return sorted(bias.index[: round_half_up(0.5, len(bias))])

"""Drawn label sets as tests look at them."""

import numpy as np
import pandas as pd

from skfilterrank.io._read import qrels_rows
from skfilterrank.io._repeats import folded


def label_sets(source):
    """Return labels by query and document that hold in every set, and a table of drawn labels.

    The table has a column for each draw; it is None where no label is drawn.
    """
    said = {"unjudged_label": None, "predicted": "use"}
    rows, labels = folded(qrels_rows(source, may_have_draws=True, **said))
    qids = np.array(rows.queries, dtype=object)[rows.codes]
    index = pd.MultiIndex.from_arrays([qids, rows.docnos.tolist()], names=["qid", "docno"])
    common = pd.Series(rows.values, index)
    if labels is None:
        return common, None
    is_drawn = rows.draws >= 0
    return common[~is_drawn], pd.DataFrame(labels[:, is_drawn].T, index[is_drawn])

"""Drawn label sets as tests look at them."""

import numpy as np
import pandas as pd

from skfilterrank.io._read import qrels_rows
from skfilterrank.io._repeats import folded


def table_of(rows):
    """Return a table of labels, some of them drawn, from its rows."""
    table = pd.DataFrame(rows, columns=["qid", "docno", "label", "judged_by", "draw"])
    return table.astype({"draw": "Int64"})


def drawn_table(
    seed=0, *, n_queries, n_documents=10, n_judged=3, n_labels=2, n_draws=4, alike=False
):
    """Return a table of drawn label sets; with `alike`, all sets are equal."""
    rng = np.random.default_rng(seed)
    rows = []
    for query in map(str, range(n_queries)):
        # Each query has a relevant document in every set.
        rows += [(query, f"d{i}", int(i == 0), "people", pd.NA) for i in range(n_judged)]
        for i in range(n_judged, n_documents):
            labels = rng.integers(0, n_labels, n_draws)
            labels = labels[:1].repeat(n_draws) if alike else labels
            rows += [(query, f"d{i}", label, "drawn", d) for d, label in enumerate(labels)]
    return table_of(rows)


def random_runs(seed=1, *, n_runs, n_queries, n_documents=10, n_shown=7):
    """Return runs that rank some of the documents d0, d1, ... of each query by chance."""
    rng = np.random.default_rng(seed)
    qids = np.repeat(np.arange(n_queries).astype(str), n_shown)
    scores = np.tile(np.arange(n_shown, 0, -1), n_queries)
    runs = {}
    for number in range(n_runs):
        lists = [rng.permutation(n_documents)[:n_shown] for _ in range(n_queries)]
        docnos = [f"d{document}" for document in np.concatenate(lists)]
        runs[f"run{number}"] = pd.DataFrame({"qid": qids, "docno": docnos, "score": scores})
    return runs


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

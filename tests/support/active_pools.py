"""Small pools for the strategies that look at the answers."""

import numpy as np
import pandas as pd
from hypothesis import strategies as st

NAN = np.nan


def table_of(lists, qid="1"):
    """Rank table of one topic from each run's list of documents, written as letters."""
    documents = sorted(set("".join(lists)))
    ranks = {
        f"run{number}": [documents_of.index(d) + 1 if d in documents_of else NAN for d in documents]
        for number, documents_of in enumerate(lists)
    }
    index = pd.MultiIndex.from_product([[qid], documents], names=["qid", "docno"])
    return pd.DataFrame(ranks, index=index, dtype=np.float64)


@st.composite
def pools(draw, n_queries=2):
    """A rank table, labels, and rows in mixed order."""
    parts = []
    for topic in range(draw(st.integers(1, n_queries))):
        documents = "abcdefgh"[: draw(st.integers(1, 8))]
        lists = []
        for _ in range(draw(st.integers(1, 3)) if topic == 0 else len(parts[0].columns)):
            order = draw(st.permutations(documents))
            lists.append("".join(order[: draw(st.integers(0, len(documents)))]))
        part = table_of([*lists, documents], qid=f"t{topic}").iloc[:, :-1]
        parts.append(part)
    table = pd.concat(parts)
    order = draw(st.permutations(range(len(table))))
    labels = draw(st.lists(st.sampled_from([-1.0, 0.0, 1.0, 2.0]), min_size=len(table)))
    return table.iloc[order], np.array(labels[: len(table)])

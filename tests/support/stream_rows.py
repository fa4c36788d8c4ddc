"""Rows of queries as streams have them, and as arrays."""

import numpy as np

from skfilterrank import metrics


def make_rows(n_queries=60, *, seed=0, text_ids=False):
    """A dict of columns: ids in no order, some labels missing, scores tied and filtered."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 30, n_queries)
    ids = rng.permutation(10 * n_queries)[:n_queries]
    qid = np.repeat(ids, sizes)
    n_rows = len(qid)
    label = rng.choice([-1.0, 0.0, 1.0, 2.0, np.nan], n_rows, p=[0.2, 0.3, 0.25, 0.15, 0.1])
    score = rng.normal(size=n_rows).round(1)
    score[rng.random(n_rows) < 0.1] = -np.inf
    if text_ids:
        qid = np.array([f"q{each}" for each in qid], dtype=object)
    return {"qid": qid, "label": label, "score": score}


def cut(columns, *places):
    """The same rows in several frames."""
    ends = [*places, len(columns["qid"])]
    return [
        {name: values[begin:end] for name, values in columns.items()}
        for begin, end in zip([0, *places], ends)
    ]


def arrays(columns):
    """Arguments of the functions for arrays."""
    return {
        "y_true": columns["label"],
        "y_score": columns["score"],
        "groups": columns["qid"],
    }


NAMES = ["ndcg_f@10", "ap", "forbidden@3", "lexirecall", "false_reject_rate", "gm_map", "num_rel"]
COLUMNS = make_rows()
IN_MEMORY = metrics.evaluate(**arrays(COLUMNS), measures=NAMES, average="mean")


def same(result, expected=IN_MEMORY):
    """The means of a stream are those of arrays, in the same order."""
    np.testing.assert_allclose(result.means, expected, rtol=1e-13)
    assert list(result.means.index) == list(expected.index)

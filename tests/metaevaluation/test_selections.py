"""Ways to choose what is judged."""

import numpy as np
import pandas as pd
import pytest

from judged_topics import QRELS, TEXTS, curve

ALL = ["pooling", "prior", "maxrep", "mtf", "mtc", "statap", "random", "oracle"]


@pytest.mark.slow
def test_all_labels_give_the_truth():
    mitigations = ["none", "bounds", "completed"]
    found = curve(selections=ALL, mitigations=mitigations, shares=1, documents=TEXTS, n_samples=2)
    known = found.tau[~np.isnan(found.tau)]
    assert len(known) == 3 * (5 + 3 * 2)
    assert known == pytest.approx(1)
    assert found.rmse[~np.isnan(found.rmse)] == pytest.approx(0, abs=1e-12)


@pytest.mark.slow
def test_functions_choose_and_predict():
    truth = QRELS.set_index(["qid", "docno"])["label"]
    seen = []

    def relevant_first(table):
        seen.append(table)
        return truth.loc[table.index]

    def all_known(table):
        return truth.loc[pd.MultiIndex.from_frame(table[["qid", "docno"]])]

    found = curve(
        selections={"best": relevant_first},
        mitigations={"truth": all_known, "nothing": lambda table: table["label"], "as is": "none"},
        shares=[0.05, 0.6],
    )
    assert list(seen[0]) == ["prior"]
    assert found.tau[0, 0, :, 0] == pytest.approx(1)
    assert np.array_equal(found.means[0, 1], found.means[0, 2], equal_nan=True)
    # All relevant documents are among the first 60 %.
    assert found.rmse[0, 2, 1, 0] == pytest.approx(0, abs=1e-12)
    assert found.rmse[0, 2, 0, 0] > 0.01

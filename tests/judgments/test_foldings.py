"""Folds go by places and labels, and by no names."""

import numpy as np
import pandas as pd
import pytest

from label_samples import collection, with_labels
from skfilterrank.judgments import RankedPool, draw_sample, estimate


@pytest.fixture(scope="module")
def data():
    return collection(n_topics=6)


@pytest.mark.slow
def test_neither_names_nor_the_order_of_rows_decide(data):
    people, machine, runs = data
    measures = ["dcg@10", "ndcg@10", "ap"]

    def renamed(table):
        # Other names, in another order of topics and of documents.
        topics = {topic: f"{i * 7 % 20:02d}" for i, topic in enumerate(people["qid"].unique())}
        number = table["docno"].str[1:].astype(int)
        return table.assign(
            qid=table["qid"].map(topics), docno=(number * 17 % 97).astype(str) + table["docno"]
        ).sample(frac=1.0, random_state=0)

    sample = with_labels(draw_sample(machine, runs, measures, n_total=60), people)
    found = estimate(sample, runs, measures, machine_qrels=machine)
    others = {name: renamed(run) for name, run in runs.items()}
    other = estimate(renamed(sample), others, measures, machine_qrels=renamed(machine))
    np.testing.assert_allclose(
        found.to_frame().astype(float), other.to_frame().astype(float), rtol=1e-9
    )
    for measure in measures:
        order, again = found.order(measure), other.order(measure)
        np.testing.assert_allclose(order["value"], again["value"], rtol=1e-9)
    again = draw_sample(renamed(machine), others, measures, n_total=60)
    # Sizes that only rounding keeps apart may change places in the draw.
    assert len(again.merge(renamed(sample), on=["qid", "docno"])) > 54


def test_folds_by_hand():
    # A pool of less than 60 documents has two folds. By sorted places come a and d, 1 and 4, then
    # b and c, 2 and 3; of equal ones those that the first run puts higher.
    rows = pd.DataFrame({"qid": "1", "docno": list("abcd")})
    runs = {"up": rows.assign(score=[4, 3, 2, 1]), "down": rows.assign(score=[1, 2, 3, 4])}
    folding = RankedPool.read(None, runs, pool=rows).folding
    assert folding.order.tolist() == [0, 3, 1, 2]
    assert folding.folds.tolist() == [0, 0, 1, 1]
    # A number in each fourth, the same whatever the names.
    assert sorted(folding.luck) == [1 / 8, 3 / 8, 5 / 8, 7 / 8]
    # Machine labels come before which run is which.
    machine = rows.assign(label=[1, 0, 0, 0])
    assert RankedPool.read(machine, runs).folding.order.tolist() == [3, 0, 1, 2]


@pytest.mark.parametrize(("n_documents", "n_folds"), [(59, 2), (60, 5), (299, 5), (300, 10)])
def test_folds_are_of_one_size(n_documents, n_folds):
    docnos = [f"d{number}" for number in range(n_documents)]
    rows = pd.DataFrame({"qid": "1", "docno": docnos, "score": -np.arange(n_documents)})
    pool = RankedPool.read(None, {"run": rows}, pool=rows[["qid", "docno"]])
    assert pool.n_folds == n_folds
    assert np.ptp(np.bincount(pool.folding.folds, minlength=n_folds)) <= 1

"""Folds go by places and labels, and by no names."""

import numpy as np
import pytest

from label_samples import collection, with_labels
from skfilterrank.estimation import draw_sample, estimate


@pytest.fixture(scope="module")
def data():
    return collection(n_topics=6)


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

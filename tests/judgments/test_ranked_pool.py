"""Labels of machines are not taken for people's, nor people's for a machine's."""

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest

from label_samples import collection, with_labels
from skfilterrank.exceptions import DataWarning, InputError, SkfilterrankError
from skfilterrank.judgments import RankedPool, draw_sample, estimate

_N = 80


@pytest.fixture(scope="module")
def world():
    """Make two queries, two runs, people's and a machine's labels, and a sample of people's."""
    rng = np.random.RandomState(0)
    rows = pd.DataFrame(
        {"qid": np.repeat(["1", "2"], _N), "docno": [f"d{i:02}" for i in range(_N)] * 2}
    )
    people = rows.assign(label=rng.randint(0, 3, 2 * _N))
    machine = people.assign(label=np.minimum(people["label"] + rng.randint(0, 2, 2 * _N), 2))
    runs = {name: rows.assign(score=rng.uniform(size=2 * _N)) for name in ("a", "b")}
    sample = draw_sample(machine, runs, "dcg@40", n_total=70, random_state=0)
    sample["label"] = sample[["qid", "docno"]].merge(people)["label"]
    return runs, people, machine, sample


@pytest.mark.slow
def test_a_machines_labels_are_no_sample_of_peoples(world):
    runs, _, machine, sample = world
    marked = sample.assign(judged_by=["large"] * 3 + ["people"] * (len(sample) - 3))
    with pytest.raises(InputError, match=r"qrels holds 3 labels of machines among 70.*'large'"):
        estimate(marked, runs, "dcg@40", machine_qrels=machine)
    same = estimate(sample.assign(judged_by="people"), runs, "dcg@40", machine_qrels=machine)
    expected = estimate(sample, runs, "dcg@40", machine_qrels=machine)
    assert same.to_frame().equals(expected.to_frame())


def test_several_machines_have_names(world):
    runs, people, machine, sample = world
    with pytest.raises(InputError, match="or a dict of several judges by name, such as"):
        estimate(sample, runs, "dcg@40", machine_qrels=[machine, people])


def test_a_machines_labels_are_not_judged_before(world):
    runs, people, machine, _ = world
    with pytest.raises(InputError, match="judged holds 160 labels of machines"):
        draw_sample(
            machine,
            runs,
            "dcg@40",
            n_total=20,
            judged=people.assign(judged_by="predicted"),
            random_state=0,
        )


@pytest.mark.slow
def test_marked_machine_labels_do_not_warn(world):
    runs, _, machine, sample = world
    with warnings.catch_warnings(action="error"):
        marked = estimate(sample, runs, "dcg@40", machine_qrels=machine.assign(judged_by="large"))
    plain = estimate(sample, runs, "dcg@40", machine_qrels=machine)
    assert marked.to_frame().equals(plain.to_frame())


def test_peoples_labels_in_a_machines_file_are_left_out(world):
    runs, _, machine, _ = world
    is_people = np.arange(len(machine)) % 4 == 0
    mixed = machine.assign(judged_by=np.where(is_people, "people", "predicted"))
    with pytest.warns(DataWarning, match="40 labels of people among 160"):
        pool = RankedPool.read(mixed, runs)
    assert len(pool) == len(machine)
    assert np.isnan(pool.machine["machine"]).sum() == 40


def test_a_machine_that_is_never_wrong_is_told(world):
    runs, people, _, sample = world
    with pytest.warns(DataWarning, match="the same label of all 70 documents"):
        estimate(sample, runs, "dcg@40", machine_qrels=people)


@pytest.fixture(scope="module")
def data():
    return collection(n_queries=6)


@pytest.mark.slow
def test_neither_names_nor_the_order_of_rows_decide(data):
    people, machine, runs = data
    measures = ["dcg@10", "ap"]

    def renamed(table):
        # Other names, in another order of queries and of documents.
        queries = {query: f"{i * 7 % 20:02d}" for i, query in enumerate(people["qid"].unique())}
        number = table["docno"].str[1:].astype(int)
        return table.assign(
            qid=table["qid"].map(queries), docno=(number * 17 % 97).astype(str) + table["docno"]
        ).sample(frac=1.0, random_state=0)

    sample = with_labels(draw_sample(machine, runs, measures, n_total=60, random_state=0), people)
    found = estimate(sample, runs, measures, machine_qrels=machine)
    others = {name: renamed(run) for name, run in runs.items()}
    other = estimate(renamed(sample), others, measures, machine_qrels=renamed(machine))
    np.testing.assert_allclose(
        found.to_frame().astype(float), other.to_frame().astype(float), rtol=1e-9
    )
    again = draw_sample(renamed(machine), others, measures, n_total=60, random_state=0)
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
    assert sorted(folding.random_number) == [1 / 8, 3 / 8, 5 / 8, 7 / 8]
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


BAD_TABLES = {
    "a number": 3,
    "an array": np.ones((3, 2)),
    "no queries": pd.DataFrame({"docno": ["a"], "label": [1]}),
    "texts": pd.DataFrame({"qid": "1", "docno": ["a"], "label": ["good"]}),
    "twice": pd.DataFrame({"qid": "1", "docno": ["a", "a"], "label": [1, 2]}),
    "infinite": pd.DataFrame({"qid": "1", "docno": ["a"], "label": [np.inf]}),
    "empty": pd.DataFrame({"qid": [], "docno": [], "label": []}),
}


@pytest.mark.parametrize("bad", BAD_TABLES.values(), ids=BAD_TABLES)
def test_errors_name_the_argument_that_was_given(bad):
    good = pd.DataFrame({"qid": "1", "docno": list("abcd"), "label": [2, 1, 0, 1]})
    runs = {"one": good.assign(score=range(4))}
    sample = good.assign(inclusion_probability=0.5)
    two = {"machine_qrels": {"good": good, "bad": bad}}
    for name, call in (
        ("machine_qrels", partial(RankedPool.read, runs=runs)),
        ("machine_qrels", partial(draw_sample, runs=runs, measures="dcg", n_total=2)),
        ("machine_qrels", partial(estimate, sample, runs, "dcg")),
        ("pool", partial(RankedPool.read, good, runs)),
        ("judged", partial(draw_sample, good, runs, "dcg", n_total=2)),
        ("qrels", partial(estimate, runs=runs, measures="dcg", machine_qrels=good)),
    ):
        with pytest.raises(SkfilterrankError, match=rf"^{name} "):
            call(**{name: bad})
    with pytest.raises(SkfilterrankError, match=r"^machine_qrels\['bad'\] "):
        estimate(sample, runs, "dcg", **two)

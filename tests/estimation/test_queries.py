"""Values from topics that were judged whole."""

import numpy as np
import pytest

from label_samples import collection, with_labels
from skfilterrank.estimation import draw_sample, estimate
from skfilterrank.exceptions import InputError
from skfilterrank.trec import evaluate_runs


@pytest.fixture(scope="module")
def data():
    people, machine, runs = collection(n_topics=40, n_documents=15, n_runs=3)
    true = evaluate_runs(people, runs, "err").groupby("run", sort=False)["err"].mean()
    return people, machine, runs, true


def estimated(data, n, seed=0, **params):
    people, machine, runs, _ = data
    sample = draw_sample(machine, runs, "err", n_total=n, unit="query", random_state=seed)
    sample = with_labels(sample, people)
    return estimate(sample, runs, "err", machine_qrels=machine, unit="query", **params)


def test_all_topics_give_the_measure(data):
    frame = estimated(data, 40).to_frame()
    np.testing.assert_allclose(frame["value"], data[3])
    np.testing.assert_allclose(frame["standard_error"], 0)
    new = estimated(data, 40, target="new topics").to_frame()
    values = evaluate_runs(data[0], data[2], "err")["err"].unstack()
    error = values.std(axis=1) / np.sqrt(40)
    np.testing.assert_allclose(new["standard_error"], error[["run0", "run1", "run2"]])


@pytest.mark.nightly
def test_intervals_hold_the_values(data):
    true, inside = data[3], []
    for seed in range(16):
        frame = estimated(data, 14, seed).to_frame()
        inside.append((frame["low"] <= true.to_numpy()) & (true.to_numpy() <= frame["high"]))
    assert np.mean(inside) > 0.87


def test_a_perfect_machine_leaves_no_doubt(data):
    people, _, runs, true = data
    sample = draw_sample(people, runs, "err", n_total=10, unit="query")
    found = estimate(
        with_labels(sample, people), runs, "err", machine_qrels=people, unit="query"
    ).to_frame()
    np.testing.assert_allclose(found["value"], true)
    np.testing.assert_allclose(found["high"] - found["low"], 0, atol=1e-12)


def test_bad_input(data):
    people, machine, runs, _ = data
    sample = with_labels(draw_sample(machine, runs, "err", n_total=10, unit="query"), people)

    def of(qrels):
        return estimate(qrels, runs, "err", machine_qrels=machine, unit="query")

    with pytest.raises(InputError, match="are not, such as document"):
        of(sample.drop(index=3))
    with pytest.raises(InputError, match="one probability"):
        of(sample.assign(inclusion_probability=0.9))
    few = with_labels(draw_sample(machine, runs, "err", n_total=2, unit="query"), people)
    with pytest.raises(InputError, match="at least 5"):
        of(few)
    with pytest.raises(InputError, match="labels_needed"):
        of(sample).labels_needed()

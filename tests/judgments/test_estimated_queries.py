"""Values from topics that were judged whole."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

from label_samples import collection, with_labels
from skfilterrank.exceptions import InputError
from skfilterrank.judgments import draw_sample, estimate
from skfilterrank.metrics import evaluate_runs

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def data():
    people, machine, runs = collection(n_topics=40, n_documents=15, n_runs=3)
    true = evaluate_runs(people, runs, "err").means["err"]
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
    error = evaluate_runs(data[0], data[2], "err").per_query["err"].groupby("run").std() / np.sqrt(
        40
    )
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


@pytest.fixture(scope="module")
def ten_topics():
    """Ten topics of two documents, the first of which all lists put first; five are judged."""
    people = [1, 1, 0, 1, 0]
    machine = [1, 0, 0, 1, 0, 1, 1, 1, 0, 1]
    topics = [f"{number}" for number in range(10)]
    rows = pd.DataFrame({"qid": np.repeat(topics, 2), "docno": ["a", "b"] * 10})
    by_machine = rows.assign(label=np.column_stack([machine, np.zeros(10)]).ravel())
    sample = rows[:10].assign(
        label=np.column_stack([people, np.zeros(5)]).ravel(), inclusion_probability=0.5
    )
    return sample, {"one": rows.assign(score=[2.0, 1.0] * 10)}, by_machine


@pytest.mark.parametrize("target", ["these topics", "new topics"])
def test_prediction_powered_inference_by_hand(ten_topics, target):
    sample, runs, machine = ten_topics
    found = estimate(
        sample, runs, "precision@1", machine_qrels=machine, unit="query", target=target
    )
    frame = found.to_frame().loc[("precision@1", "one")]
    # Of the five topics: people less their mean 0.4, 0.4, -0.6, 0.4, -0.6, the machine 0.6, -0.4,
    # -0.4, 0.6, -0.4: products 0.8, squares 1.2, trust 2/3. What is left of people is 1/3, 1, 0,
    # 1/3, 0, with mean 1/3 and squares around it of 2/3; the machine's mean of all ten is 0.6.
    assert frame["value"] == pytest.approx(1 / 3 + 2 / 3 * 0.6)
    # Half of the topics are open; trust costs one degree of freedom more than the mean.
    variance = (1 - 0.5) / 5 * (2 / 3) / 3
    if target == "new topics":
        variance += 0.5 * 1.2 / (5 * 4)
    assert frame["standard_error"] == pytest.approx(np.sqrt(variance))
    if target == "these topics":
        # Squares 0, 4, 1, 0, 1: 18 / 36 - 1/5, which is more than the 4 there are.
        assert frame["low"] == pytest.approx(11 / 15 - t.ppf(0.975, 4) * np.sqrt(variance))
    assert frame["high"] == 1


def test_without_a_machine_it_is_the_mean_by_hand(ten_topics):
    sample, runs, machine = ten_topics
    pool = machine[["qid", "docno"]]
    found = estimate(sample, runs, "precision@1", pool=pool, unit="query").to_frame()
    frame = found.loc[("precision@1", "one")]
    assert frame["value"] == pytest.approx(0.6)
    # (1 - f) s ** 2 / n, of squares of 1.2.
    assert frame["standard_error"] == pytest.approx(np.sqrt(0.5 * (1.2 / 4) / 5))

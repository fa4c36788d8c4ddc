"""What machine labels are worth."""

import numpy as np
import pandas as pd
import pytest

from label_samples import collection, with_labels
from skfilterrank.exceptions import InputError
from skfilterrank.judgments import draw_sample, machine_report
from skfilterrank.metrics import evaluate_runs


@pytest.fixture(scope="module")
def data():
    people, machine, runs = collection()
    sample = with_labels(draw_sample(machine, runs, "dcg@10", n_total=120, random_state=0), people)
    return people, machine, runs, sample


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:machine_qrels, judge 'perfect', and qrels have the same")
def test_a_report_of_two_judges(data):
    people, machine, runs, sample = data
    judges = {"praises": machine, "perfect": people}
    report = machine_report(sample, runs, "dcg@10", machine_qrels=judges)
    assert report.by_judge.loc["perfect", ["agreement", "kappa"]].tolist() == pytest.approx([1, 1])
    assert report.by_judge.loc["perfect", "bias"] == 0
    assert report.by_judge.loc["praises", "bias"] > 0
    assert 0 < report.by_judge.loc["praises", "kappa"] < 1
    of_perfect = report.by_label.loc["perfect"]
    np.testing.assert_allclose(of_perfect["mean_gain"], of_perfect.index)
    np.testing.assert_allclose(of_perfect["sd_gain"], 0, atol=1e-12)
    assert of_perfect["n_pool"].sum() == len(people)
    assert report.by_query.loc["praises", "n_judged"].sum() == 120
    believed = evaluate_runs(machine, runs, "dcg@10").means["dcg@10"]
    found = report.by_run.loc[("praises", "dcg@10")]
    np.testing.assert_allclose(found["believed"], believed)
    assert ((found["low"] <= found["bias"]) & (found["bias"] <= found["high"])).all()
    both, alone = report.estimates.to_frame(), report.by_people.to_frame()
    kept = (both["high"] - both["low"]).mean() / (alone["high"] - alone["low"]).mean()
    assert report.width_removed["dcg@10"] == pytest.approx(1 - kept)
    assert 0.3 < 1 - kept < 1
    assert repr(report) == "<MachineReport: praises, perfect by 120 labels of people>"
    assert "praises" in str(report)
    assert f" {found['believed'].iloc[0]:.3f} " in str(report)
    assert "<table" in report._repr_html_()
    assert len(report.to_frame()) == 8


@pytest.mark.slow
def test_without_a_machine_there_is_nothing_to_report(data):
    people, _, runs, sample = data
    with pytest.raises(InputError, match="no machine labels"):
        machine_report(sample, runs, "dcg@10", pool=people)


@pytest.mark.slow
def test_a_machine_may_say_what_lies_between_two_labels(data):
    _, machine, runs, sample = data
    soft = machine.assign(label=machine["label"] / 2)
    of_dict, of_numbers = (
        machine_report(sample, runs, "dcg@10", machine_qrels=soft, gains=gains)
        for gains in ({label: label for label in range(4)}, None)
    )
    assert of_dict.by_judge.equals(of_numbers.by_judge)
    assert of_dict.by_run.equals(of_numbers.by_run)


def by_hand():
    """Four judged documents of eight, with weights 5, 2, 2 and 1, and what the machine says."""
    rows = pd.DataFrame({"qid": list("11112222"), "docno": list("abcdefgh")})
    machine = rows.assign(label=[1, 1, 0, 0, 0, 0, 1, 1])
    sample = pd.DataFrame(
        {
            "qid": list("1122"),
            "docno": list("abef"),
            "label": [0, 1, 2, 0],
            "inclusion_probability": [0.2, 0.5, 0.5, 1.0],
        }
    )
    runs = {"up": rows.assign(score=np.arange(8)), "down": rows.assign(score=-np.arange(8))}
    return sample, runs, machine


@pytest.mark.slow
def test_every_number_by_hand():
    sample, runs, machine = by_hand()
    report = machine_report(sample, runs, "precision@2", machine_qrels=machine)
    # The machine says 1 of the weights 5 and 2 and 0 of 2 and 1; people 0, 1, 2 and 0.
    judge = report.by_judge.loc["machine"]
    assert judge["agreement"] == pytest.approx((2 + 1) / 10)
    chance = 0.7 * 0.2 + 0.3 * 0.6
    assert judge["kappa"] == pytest.approx((0.3 - chance) / (1 - chance))
    assert judge["bias"] == pytest.approx((5 * 1 + 2 * -2) / 10)
    assert judge["n_judged"] == 4
    labels = report.by_label.loc["machine"]
    assert labels["n_pool"].tolist() == [4, 4]
    assert labels["n_judged"].tolist() == [2, 2]
    np.testing.assert_allclose(labels["mean_gain"], [(2 * 2 + 0) / 3, (0 + 2 * 1) / 7])
    # Of the gains 2 and 0 in shares 2/3 and 1/3; of 0 and 1 in shares 5/7 and 2/7.
    np.testing.assert_allclose(labels["sd_gain"], [2 * np.sqrt(2) / 3, np.sqrt(10) / 7])
    queries = report.by_query.loc["machine"]
    assert queries["n_judged"].tolist() == [2, 2]
    np.testing.assert_allclose(queries["bias"], [5 / 7, -4 / 3])
    # The first two of "up" are d, c and h, g; of "down" a, b and e, f.
    runs_of_it = report.by_run.loc[("machine", "precision@2")]
    np.testing.assert_allclose(runs_of_it["believed"], [1 / 2, 1 / 2])
    found = report.estimates.to_frame().loc["precision@2"]
    np.testing.assert_allclose(runs_of_it["bias"], 1 / 2 - found["value"])
    np.testing.assert_allclose(runs_of_it["low"], 1 / 2 - found["high"])
    np.testing.assert_allclose(runs_of_it["high"], 1 / 2 - found["low"])
    alone = report.by_people.to_frame().loc["precision@2"]
    kept = (found["high"] - found["low"]).sum() / (alone["high"] - alone["low"]).sum()
    assert report.width_removed["precision@2"] == pytest.approx(1 - kept)


@pytest.mark.slow
def test_what_a_judge_left_out_is_of_no_class():
    sample, runs, machine = by_hand()
    other = machine.assign(label=[1, 1, 0, 0, np.nan, 0, np.nan, 1])
    judges = {"all": machine, "some": other}
    report = machine_report(sample, runs, "precision@2", machine_qrels=judges)
    # The weight 2 that people gave a 2 is of nobody's label, and in no mean.
    some = report.by_judge.loc["some"]
    assert some["n_judged"] == 3
    assert some["agreement"] == pytest.approx((2 + 1) / 8)
    assert some["bias"] == pytest.approx(5 / 8)
    labels = report.by_label.loc["some"]
    assert labels.index.tolist() == [0, 1]
    assert labels["n_pool"].tolist() == [3, 3]
    assert labels["n_judged"].tolist() == [1, 2]
    np.testing.assert_allclose(labels["mean_gain"], [0, 2 / 7])
    assert report.by_query.loc["some", "n_judged"].tolist() == [2, 1]
    # For a value of its own, what it left out counts 0: of "up" h of query 2 is left.
    believed = report.by_run.loc[("some", "precision@2"), "believed"]
    np.testing.assert_allclose(believed, [1 / 4, 1 / 2])
    assert report.by_judge.loc["all", "n_judged"] == 4

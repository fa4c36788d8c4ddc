"""What machine labels are worth."""

import numpy as np
import pytest

from label_samples import collection, with_labels
from skfilterrank.estimation import draw_sample, machine_report
from skfilterrank.exceptions import InputError
from skfilterrank.trec import evaluate_runs


@pytest.fixture(scope="module")
def data():
    people, machine, runs = collection()
    sample = with_labels(draw_sample(machine, runs, "dcg@10", n_total=120), people)
    return people, machine, runs, sample


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
    assert report.by_topic.loc["praises", "n_judged"].sum() == 120
    believed = evaluate_runs(machine, runs, "dcg@10").groupby("run", sort=False)["dcg@10"].mean()
    found = report.by_run.loc[("praises", "dcg@10")]
    np.testing.assert_allclose(found["believed"], believed)
    assert ((found["low"] <= found["bias"]) & (found["bias"] <= found["high"])).all()
    assert 0.3 < report.width_removed["dcg@10"] < 1
    assert repr(report) == "<MachineReport: praises, perfect by 120 labels of people>"
    assert "praises" in str(report)
    assert "<table" in report._repr_html_()
    assert len(report.to_frame()) == 8


def test_without_a_machine_there_is_nothing_to_report(data):
    people, _, runs, sample = data
    with pytest.raises(InputError, match="no machine labels"):
        machine_report(sample, runs, "dcg@10", pool=people)


def test_a_machine_may_say_what_lies_between_two_labels(data):
    _, machine, runs, sample = data
    soft = machine.assign(label=machine["label"] / 2)
    of_dict, of_numbers = (
        machine_report(sample, runs, "dcg@10", machine_qrels=soft, gains=gains)
        for gains in ({label: label for label in range(4)}, None)
    )
    assert of_dict.by_judge.equals(of_numbers.by_judge)
    assert of_dict.by_run.equals(of_numbers.by_run)

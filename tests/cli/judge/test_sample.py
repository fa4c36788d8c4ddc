"""``skfilterrank judge`` of a sample."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judged_documents import BASE, RUNS
from sampled_labels import SAMPLED
from selections import budget, mask
from skfilterrank.cli.judge import run as judge_run
from skfilterrank.estimation import draw_sample
from skfilterrank.io import read_prels, read_run, write_qrels
from skfilterrank.judgments import (
    Answer,
    StatAPSelector,
    rank_table,
    read_judgment_log,
    statap_prior,
)

pytestmark = pytest.mark.slow


@pytest.fixture
def runs(sampled_runs):
    """Paths of the runs, in the working folder."""
    return sampled_runs


def test_judging_writes_the_sample(run, runs, assessor, sampled_folder):
    command = ["judge", "--runs", *runs, "--docs", "docs.csv", "-m", "dcg@10"]
    command += ["--machine-qrels", "llm.txt", "--strategy", "sample", "--n-total", "150"]
    code, _, err = run(*command, "--out", "own.prels")
    assert code == 0
    assert "a sample of 150 documents of 30 topics" in err
    pd.testing.assert_frame_equal(read_prels("own.prels"), read_prels("sample.prels"))


def test_a_larger_sample_goes_on_with_the_smaller(run, runs, assessor):
    command = ["judge", "--runs", *runs, "--docs", "docs.csv", "-m", "dcg@10", "--out", "own"]
    command += ["--machine-qrels", "llm.txt", "--strategy", "sample"]
    assessor.asked.clear()
    run(*command, "--n-total", "100")
    assert len(assessor.asked) == 100
    run(*command, "--n-total", "150")
    assert len(set(assessor.asked)) == len(assessor.asked) == 150
    pd.testing.assert_frame_equal(read_prels("own"), read_prels("sample.prels"))


def test_what_is_judged_in_part(run, runs, assessor, world):
    command = ["judge", "--runs", *runs, "--docs", "docs.csv", "-m", "dcg@10", "--out", "own"]
    command += ["--machine-qrels", "llm.txt", "--strategy", "sample", "--n-total", "150"]
    assessor.most = 3
    _, _, err = run(*command)
    assert "147 of 150 documents of the sample are not yet judged" in err
    assert not Path("own").exists()
    said = re.search(r"own is not written: so few .* judge at least (\d+) more documents, in", err)
    # One less is too few, and so many are enough.
    assessor.most = int(said[1]) - 1
    assert "judge at least 1 more document, in" in run(*command)[2]
    assert not Path("own").exists()
    assessor.most = 1
    assert f"{3 + int(said[1])} judgments with their probabilities in own" in run(*command)[2]
    # Asked in the order of the sample, so that what is judged is the smaller one.
    assessor.most = 57 - int(said[1])
    _code, _, err = run(*command)
    assert "60 judgments with their probabilities in own, a sample by themselves: the first" in err
    found = read_prels("own")
    drawn = draw_sample(world["machine"], world["runs"], "dcg@10", n_total=60)
    pd.testing.assert_frame_equal(found[["qid", "docno"]], drawn[["qid", "docno"]])
    expected = drawn["inclusion_probability"].to_numpy()
    assert found["inclusion_probability"].to_numpy() == pytest.approx(expected, rel=1e-12)


def test_what_is_skipped_comes_last_and_topics_in_their_order(run, runs, assessor, world):
    command = ["judge", "--runs", *runs, "--docs", "docs.csv", "-m", "dcg@10", "--out", "own"]
    command += ["--machine-qrels", "llm.txt", "--strategy", "sample", "--n-total", "60"]
    drawn = draw_sample(world["machine"], world["runs"], "dcg@10", n_total=60)
    pairs = list(drawn[["qid", "docno"]].itertuples(index=False, name=None))
    assessor.asked.clear()
    assessor.skipped = {pairs[1]}
    run(*command)
    assert assessor.asked == [pairs[0], *pairs[2:], pairs[1]]
    assessor.asked.clear()
    topics = [pairs[5][0], pairs[0][0]]
    run(*command, "--out", "other", "--only", ",".join(topics))
    assert assessor.asked == [pair for topic in topics for pair in pairs if pair[0] == topic]


@pytest.mark.parametrize(
    ("labels", "options", "grades", "message"),
    [
        ([0, 3, 1], [], [0, 1, 2, 3], "grades 0,1,2,3, as in --machine-qrels; --grades chooses"),
        ([0, -1, 1], [], [-1, 0, 1], "grades -1,0,1, as in"),
        ([0.5, 0.1, 0.2], [], [0, 1, 2], "grades 0,1,2, since --machine-qrels holds no grades"),
        ([0, 99, 5], [], [0, 1, 2], "holds no grades"),
        ([0, 3, 1], ["--grades", "0,1"], [0, 1], None),
    ],
)
def test_grades_are_those_of_the_machine(
    run, runs, monkeypatch, world, labels, options, grades, message
):
    taken = []

    def assessor(documents, topics, grades, **_):
        taken.extend(grades)
        return lambda question: Answer.STOP

    monkeypatch.setattr(judge_run, "TerminalAssessor", assessor)
    write_qrels("own.txt", world["machine"].assign(label=np.resize(labels, 1800)))
    command = ["judge", "--runs", *runs, "--docs", "docs.csv", "-m", "dcg@10", "--out", "own"]
    command += ["--machine-qrels", "own.txt", "--strategy", "sample", "--n-total", "60"]
    code, _, err = run(*command, *options)
    assert (code, taken) == (0, grades), err
    assert message in err if message else "grades" not in err


def test_gains_of_a_sample_are_those_that_were_said(run, runs, assessor, world):
    """Also of labels that are no grade; their labels are the grades unless others are said."""
    machine = world["machine"].assign(label=world["machine"]["label"] + 0.5)
    write_qrels("soft.txt", machine)
    command = ["judge", "--runs", *runs, "--docs", "docs.csv", "-m", "dcg@10"]
    command += ["--machine-qrels", "soft.txt", "--strategy", "sample", "--n-total", "60"]
    for best, options in ((1, []), (50, ["--grades", "0,1,2"])):
        gains = {0: 0, 1: 1, 2: 2, 3: best}
        text = ",".join(f"{label}={gain}" for label, gain in gains.items())
        code, _, err = run(*command, "--gains", text, *options, "--out", f"{best}.prels")
        assert code == 0, err
        assert options or "grades 0,1,2,3, as in --gains" in err
        drawn = draw_sample(machine, world["runs"], "dcg@10", n_total=60, gains=gains)
        found = read_prels(f"{best}.prels")
        pd.testing.assert_frame_equal(found[["qid", "docno"]], drawn[["qid", "docno"]])
    assert not read_prels("1.prels")[["qid", "docno"]].equals(found[["qid", "docno"]])


@pytest.mark.parametrize("gains", ["0=0,Bad=-1", "nan=1,0=0"])
def test_gains_of_a_sample_are_of_numbers(run, runs, assessor, gains):
    command = ["judge", "--runs", *runs, "--docs", "docs.csv", "--machine-qrels", "llm.txt"]
    command += ["--strategy", "sample", "--n-total", "60", "--out", "own", "--gains", gains]
    evaluated = ["evaluate", "people.txt", *runs, *SAMPLED, "--gains", f"{gains},1=1,2=2,3=3"]
    for words in (command, evaluated):
        code, _, err = run(*words)
        assert code == 2
        assert "--gains must name numbers here" in err


def test_what_was_judged_before_is_kept_and_a_machines_is_not(run, runs, assessor, world):
    before = world["people"].head(40)
    write_qrels("before.txt", before.assign(judged_by=["people"] * 25 + ["large"] * 15))
    command = ["judge", "--runs", *runs, "--docs", "docs.csv", "-m", "dcg@10", "--out", "own"]
    command += ["--machine-qrels", "llm.txt", "--strategy", "sample", "--n-total", "60"]
    assessor.asked.clear()
    _code, _, err = run(*command, "--judged", "before.txt")
    assert "before.txt: 15 labels of machines, taken for not judged" in err
    assert "a sample of 60 documents" in err
    found = read_prels("own").set_index(["qid", "docno"])
    certain = found["inclusion_probability"] == 1
    kept = before.head(25).astype(str)
    assert set(zip(kept["qid"], kept["docno"])) <= set(found.index[certain])
    assert len(found) == 85
    assert len(assessor.asked) == 60


def test_a_sample_and_its_probabilities(ask, run):
    arguments = ["--strategy", "statap", "--n-per-query", "2", "--seed", "3"]
    code, _, err = ask(["1", "0", "2"], *arguments)
    assert code == 0
    assert "1 topic whose sample is not yet judged: left out" in err
    assert set(read_prels("qrels.txt")["qid"]) == {"1"}
    _, _, err = ask(["1"], *arguments)
    assert "4 judgments with their probabilities in qrels.txt" in err
    found = read_prels("qrels.txt").set_index(["qid", "docno"])
    answers = read_judgment_log("qrels.txt.log").set_index(["qid", "docno"])["label"]
    assert answers.tolist() == [1, 0, 2, 1]
    assert found["label"].to_dict() == answers.to_dict()
    # Those of a sample of what has a text, by the priors of all.
    table = rank_table({name: read_run(f"{name}.run") for name in RUNS})
    prior = statap_prior(table)
    prior = prior[~prior.index.isin(["d4", "d6"], level="docno")]
    selector = StatAPSelector(random_state=3).fit(pd.DataFrame(index=prior.index), prior=prior)
    expected = pd.Series(selector.inclusion_probability(**budget(2)), index=prior.index)
    assert found["inclusion_probability"].to_dict() == expected[found.index].to_dict()
    assert set(found.index) == set(prior.index[mask(selector, 2)])
    code, _, err = run("evaluate", "qrels.txt", "a.run", "-m", "stat_ap", "--quiet")
    assert code == 0, err


def test_a_sample_of_a_pool_that_no_run_ranks_whole(ask, files):
    pool = files / "pool.csv"
    pool.write_text("qid,docno\n1,d1\n1,d2\n1,d3\n1,d5\n")
    arguments = ["pool.csv", "--runs", "b.run", "--strategy", "statap", "--n-per-query", "1"]
    code, _, err = ask(["1"], *arguments, base=BASE)
    assert code == 0, err
    assert "2 of 4 documents of pool.csv are in no run" in err
    assert "2 documents that no run ranks can never be drawn: stat_ap is the average" in err
    assert set(read_prels("qrels.txt")["docno"]) < {"d2", "d5"}

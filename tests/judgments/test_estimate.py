"""Values with intervals from a sample."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest

from label_samples import collection, elimination_design, with_labels
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank.exceptions import DataWarning, InputError
from skfilterrank.judgments import RankedPool, draw_sample, estimate
from skfilterrank.judgments._estimate import _by_labels, _learn
from skfilterrank.judgments._label_model import LabelModel
from skfilterrank.judgments._sample import draw_by_folds
from skfilterrank.judgments._sum_of_labels import SumOfLabels
from skfilterrank.metrics import evaluate_runs

pytestmark = pytest.mark.slow

MEASURES = ["dcg@10", "rbp", "ndcg@10", "ndcg_f@10", "ap", "recall@20"]


@pytest.fixture(scope="module")
def data():
    return collection(n_queries=6)


@pytest.fixture(scope="module")
def sample(data):
    people, machine, runs = data
    drawn = draw_sample(machine, runs, "dcg@10", n_total=60, random_state=0)
    return with_labels(drawn, people)


@pytest.fixture(scope="module")
def estimates(data, sample):
    _, machine, runs = data
    return estimate(sample, runs, "dcg@10", machine_qrels=machine)


def means(runs, people, measures):
    """Return measures by all labels."""
    values = evaluate_runs(people, runs, measures).means
    return pd.concat({name: values[name] for name in measures}, names=["measure"])


def test_where_everything_is_judged_the_estimate_is_the_measure(data):
    people, machine, runs = data
    drawn = draw_sample(machine, runs, MEASURES, share=1.0, random_state=0)
    assert (drawn["inclusion_probability"] == 1).all()
    found = estimate(with_labels(drawn, people), runs, MEASURES, machine_qrels=machine).to_frame()
    np.testing.assert_allclose(found["value"], means(runs, people, MEASURES), atol=1e-12)
    np.testing.assert_allclose(found["high"] - found["low"], 0, atol=1e-12)


def all_samples(pool, sizes, n_draw):
    """Return rows of every sample, its probability, and inclusion probabilities."""
    order, probability = draw_by_folds(sizes, pool.folding, n_draw, np.random.RandomState(0))
    drawn = np.bincount(pool.folding.folds[order], minlength=pool.n_folds)
    members = [
        np.flatnonzero((pool.folding.folds == fold) & (sizes > 0)) for fold in range(pool.n_folds)
    ]
    designs = [
        {tuple(rows[list(s)]): p for s, p in elimination_design(sizes[rows], n).items()}
        for rows, n in zip(members, drawn)
        if len(rows)
    ]
    for parts in product(*(design.items() for design in designs)):
        yield (
            [row for part, _ in parts for row in part],
            np.prod([p for _, p in parts]),
            probability,
        )


def test_the_estimate_is_unbiased_over_all_samples():
    """Exactly, calibration included: every sample of a small pool, by its probability.

    The best document was judged before, which a sample would be biased by.
    """
    rng = np.random.RandomState(3)
    documents = [f"d{i}" for i in range(7)]
    # Distinct gains: no sample has labels that are all equal.
    people = pd.DataFrame({"qid": "1", "docno": documents, "label": rng.permutation(7) * 1.5})
    machine = people.assign(label=rng.randint(0, 2, 7))
    runs = {name: people.assign(score=rng.uniform(size=7)) for name in "ab"}
    pool = RankedPool.read(machine, runs)
    sizes = rng.uniform(0.5, 2, size=7)
    best = people["label"].to_numpy().argmax()
    sizes[best] = 0.0
    gains = {label: label for label in people["label"]}
    total, square, estimated, chance = np.zeros(2), np.zeros(2), np.zeros(2), 0.0
    for drawn, weight, probability in all_samples(pool, sizes, 4):
        rows = np.array([best, *drawn], dtype=int)
        frame = pool.index[rows].to_frame(index=False)
        frame["inclusion_probability"] = np.where(rows == best, 1.0, probability[rows])
        # Of a dict all gains are known, whether a sample has them or not.
        found = estimate(with_labels(frame, people), pool, "dcg@4", gains=gains)
        frame = found.to_frame().loc["dcg@4"]
        total += weight * frame["value"].to_numpy()
        square += weight * frame["value"].to_numpy() ** 2
        estimated += weight * frame["standard_error"].to_numpy() ** 2
        chance += weight
    assert chance == pytest.approx(1)
    np.testing.assert_allclose(total, means(runs, people, ["dcg@4"]), rtol=1e-9)
    # Standard errors are about those over all samples; twice or half of them would not be.
    ratio = np.sqrt(estimated / (square - total**2))
    assert ((ratio > 0.75) & (ratio < 1.33)).all()


@pytest.mark.slow
def test_intervals_of_ratios_alone_allow_for_bias(data):
    people, machine, runs = data
    measures = ["dcg@10", "ndcg@10"]
    sample = with_labels(draw_sample(machine, runs, measures, n_total=60, random_state=0), people)
    found = estimate(sample, runs, measures, machine_qrels=machine)
    assert not found.results["dcg@10"].allowance.any()
    result = found.results["ndcg@10"]
    assert result.allowance.all()
    plain = replace(found, results={"ndcg@10": replace(result, allowance=np.zeros(4))})
    low, high = (
        (plain.to_frame()[end] - found.to_frame().loc[["ndcg@10"], end]).to_numpy()
        for end in ("low", "high")
    )
    np.testing.assert_allclose(low, np.abs(result.allowance))
    np.testing.assert_allclose(-high, np.abs(result.allowance))


@pytest.mark.parametrize("measure", ["ndcg@4", "ap"])
def test_the_bias_is_that_of_predictions_without_the_fold_of_each_label(measure):
    """Label by label; the package does all labels of a fold at once."""
    rng = np.random.RandomState(4)
    people = pd.DataFrame({"qid": np.repeat(list("1234"), 5), "docno": [*"abcde"] * 4})
    people["label"] = rng.randint(0, 2, 20)
    machine = people.assign(label=rng.randint(0, 2, 20))
    runs = {name: people.assign(score=rng.uniform(size=20)) for name in "ab"}
    pool = RankedPool.read(machine, runs)
    form = SumOfLabels(parse_measure(measure), pool, np.arange(2.0))
    rows = np.sort(rng.permutation(len(pool))[:12])
    codes = people.set_index(["qid", "docno"])["label"].loc[pool.index].to_numpy()[rows]
    probability = np.where(np.arange(12) == 5, 1.0, rng.uniform(0.4, 0.8, 12))
    labels = rows, codes, probability, probability == 1
    weights, learned = (1 - probability) / probability, _learn(form, labels)
    certain = rows[[5]], codes[[5]]

    def by_one(place, fold, wanted):
        known = learned.predict(fold).with_known(*certain)
        found = form.expand(known, rows, codes, wanted)
        one = found.changes(rows[[place]], codes[[place]])[0]
        return one + found.pairs(rows, codes, weights)[place] / 2

    bias = np.zeros(2)
    for place in np.delete(np.arange(12), 5):
        fold = int(pool.folding.folds[rows[place]])
        biased, unbiased = by_one(place, None, slice(0)), by_one(place, fold, np.array([place]))
        bias += weights[place] * (biased - unbiased) / 4
    _, _, found = _by_labels(form, labels)
    assert np.abs(bias).min() > 1e-4
    np.testing.assert_allclose(found, bias, rtol=1e-9)


@pytest.mark.nightly
@pytest.mark.parametrize("measure", ["ndcg@4", "ap"])
@pytest.mark.parametrize("seed", [4, 5])
def test_most_of_the_bias_of_a_ratio_is_known_over_all_samples(measure, seed):
    rng = np.random.RandomState(seed)
    people = pd.DataFrame({"qid": ["1"] * 5 + ["2"] * 5, "docno": [f"d{i}" for i in range(5)] * 2})
    people["label"] = rng.randint(0, 2, 10)
    people.loc[[0, 5], "label"] = 1
    machine = people.assign(label=rng.randint(0, 2, 10))
    runs = {name: people.assign(score=rng.uniform(size=10)) for name in "ab"}
    pool = RankedPool.read(machine, runs)
    values, bias, chance = np.zeros(2), np.zeros(2), 0.0
    for rows, weight, probability in all_samples(pool, rng.uniform(0.5, 2, 10), 6):
        frame = pool.index[rows].to_frame(index=False)
        frame["inclusion_probability"] = probability[rows]
        result = estimate(with_labels(frame, people), pool, measure).results[measure]
        values += weight * result.values
        bias += weight * result.allowance / 0.75
        chance += weight
    assert chance == pytest.approx(1)
    error = values - means(runs, people, [measure])
    assert (error > 0.02).all()
    assert (np.abs(error - bias) < 0.4 * error).all()


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("aim", "measures"), [("differences", ["dcg@10", "ndcg@10"]), ("uniform", ["ap"])]
)
def test_intervals_hold_the_values_as_often_as_they_say(aim, measures):
    people, machine, runs = collection(n_queries=16, n_documents=30, seed=5)
    pool = RankedPool.read(machine, runs)
    true = means(runs, people, measures)
    inside, inside_differences = [], []
    for seed in range(25):
        drawn = draw_sample(None, pool, measures, share=0.2, aim=aim, random_state=seed)
        found = estimate(with_labels(drawn, people), pool, measures)
        frame = found.to_frame()
        inside.append((frame["low"] <= true) & (true <= frame["high"]))
        pairs = found.compare(measures[0])
        own = true[measures[0]].to_numpy()
        gap = own[pairs.first] - own[pairs.second]
        inside_differences.append((pairs.low <= gap) & (gap <= pairs.high))
    covered = pd.DataFrame(inside).mean().groupby("measure").mean()
    assert (covered > 0.87).all()
    assert np.mean(inside_differences) > 0.87


def test_a_machine_makes_intervals_narrower_and_chance_hardly_wider():
    people, machine, runs = collection(noise=4.0)
    sample = with_labels(draw_sample(machine, runs, "dcg@10", n_total=120, random_state=0), people)

    def width(qrels):
        frame = estimate(sample, runs, "dcg@10", machine_qrels=qrels, pool=people).to_frame()
        return (frame["high"] - frame["low"]).mean()

    alone = width(None)
    rng = np.random.RandomState(0)
    assert width(machine) < 0.8 * alone
    assert width(machine.assign(label=rng.randint(0, 4, len(machine)))) < 1.1 * alone
    noise = {str(i): machine.assign(label=rng.randint(0, 4, len(machine))) for i in range(3)}
    assert width({"good": machine} | noise) < 0.9 * alone


def test_a_file_of_a_sample_gives_the_same(data, sample, estimates, tmp_path):
    _, machine, runs = data
    lines = [
        f"{row.qid} {row.docno} {row.label:.0f} 1 {row.inclusion_probability!r}"
        for row in sample.itertuples()
    ]
    (tmp_path / "sample.prels").write_text("\n".join(lines) + "\n")
    found = estimate(tmp_path / "sample.prels", runs, "dcg@10", machine_qrels=machine)
    pd.testing.assert_frame_equal(found.to_frame(), estimates.to_frame())


def test_gains_of_another_unit_scale_all(data, sample, estimates):
    _, machine, runs = data
    gains = {0: 0, 1: 10, 2: 20, 3: 30}
    scaled = estimate(sample, runs, "dcg@10", machine_qrels=machine, gains=gains).to_frame()
    np.testing.assert_allclose(
        scaled.drop(columns="shown_to_cover"),
        10 * estimates.to_frame().drop(columns="shown_to_cover"),
    )


def test_measures_may_read_labels_in_their_own_way(data):
    people, machine, runs = data
    names = ["precision(rel=2)@10", "ap(rel=2)", "ndcg(gains=exp2)@10"]
    drawn = with_labels(draw_sample(machine, runs, names, share=1.0, random_state=0), people)
    found = estimate(drawn, runs, names, machine_qrels=machine)
    np.testing.assert_allclose(found.to_frame()["value"], means(runs, people, names), atol=1e-12)
    assert found.results[names[0]].value_range == (0, 1)


@pytest.mark.parametrize("name", ["precision(rel=2)@10", "ndcg(rel=2)@10"])
def test_a_machine_without_the_labels_that_a_measure_reads(data, name):
    """People may give them: documents that matter are drawn as for a machine that gives them."""
    people, machine, runs = data
    machine = machine.assign(label=machine["label"].clip(0, 1))
    drawn = with_labels(draw_sample(machine, runs, name, n_total=60, random_state=0), people)
    found = estimate(drawn, runs, name, machine_qrels=machine).to_frame()
    assert (found["low"] < found["high"]).all()
    few = drawn.assign(label=drawn["label"].clip(0, 1))
    with pytest.raises(InputError, match="all 60 labels of qrels have the gain 0 for"):
        estimate(few, runs, name, machine_qrels=machine)


def test_labels_of_machines_may_have_any_scale(data, sample, estimates):
    _, machine, runs = data
    other = machine.assign(label=100 + 7.5 * machine["label"])
    found = estimate(sample, runs, "dcg@10", machine_qrels=other).to_frame()
    np.testing.assert_allclose(found.astype(float), estimates.to_frame().astype(float), rtol=1e-6)
    rng = np.random.RandomState(0)
    scores = machine.assign(label=machine["label"] + rng.uniform(size=len(machine)))
    assert np.isfinite(estimate(sample, runs, "dcg@10", machine_qrels=scores).to_frame()).all(
        axis=None
    )


def test_a_machine_may_leave_documents_out(data, sample):
    people, machine, runs = data
    some = machine.iloc[::2]
    found = estimate(sample, runs, "dcg@10", machine_qrels=some, pool=people).to_frame()
    true = means(runs, people, ["dcg@10"])
    assert (np.abs(found["value"] - true) < 4 * found["standard_error"]).all()
    with pytest.raises(InputError, match=r"documents outside the pool"):
        estimate(sample, runs, "dcg@10", machine_qrels=some)


@pytest.mark.slow
@pytest.mark.parametrize(("measure", "power"), [("dcg@10", -0.5), ("ndcg@10", -1.0)])
def test_predictions_of_a_ratio_are_right_on_average_over_all(data, measure, power, monkeypatch):
    """Their weights are those of the design; a sum needs the narrowest interval alone."""
    people, machine, runs = data
    drawn = draw_sample(machine, runs, measure, n_total=60, random_state=0)
    fit, found = LabelModel.fit, []

    def spy(model, rows, codes, n_labels, known, weights):
        found.append(weights)
        return fit(model, rows, codes, n_labels, known, weights)

    monkeypatch.setattr(LabelModel, "fit", spy)
    estimate(with_labels(drawn, people), runs, measure, machine_qrels=machine)
    expected = drawn["inclusion_probability"].to_numpy() ** power
    np.testing.assert_allclose(np.sort(found[0]), np.sort(expected))


@pytest.mark.parametrize("measure", ["dcg@10", "ap"])
def test_the_order_of_runs_does_not_matter(data, measure):
    people, machine, runs = data
    sample = with_labels(draw_sample(machine, runs, measure, n_total=60, random_state=0), people)
    turned = dict(reversed(runs.items()))
    found = [estimate(sample, each, measure, machine_qrels=machine) for each in (runs, turned)]
    frames = [each.to_frame().loc[measure] for each in found]
    pd.testing.assert_frame_equal(frames[1].loc[frames[0].index], frames[0], rtol=1e-7)


def test_a_run_from_elsewhere(data, sample):
    people, machine, runs = data
    away = runs["run0"].assign(docno="z" + runs["run0"]["docno"])
    with pytest.raises(
        InputError, match=r"none of the 240 documents .* holds 'zd\d+', .* pool 'd\d+'"
    ):
        estimate(sample, runs | {"away": away}, "dcg@10", machine_qrels=machine)
    with pytest.raises(InputError, match="none of the 240 documents"):
        draw_sample(machine, {"away": away}, "dcg@10", n_total=20)
    # Every second document of each list is outside.
    half = runs["run0"].sort_values(["qid", "score"], ascending=[True, False])
    docnos = np.where(np.arange(len(half)) % 2, "z" + half["docno"], half["docno"])
    half = half.assign(docno=docnos)
    for name, n_outside, n_shown in [("dcg@7", 18, 42), ("rbp", 30, 60)]:
        text = rf"{n_outside} of {n_shown} of 'half'\): they count as gain 0"
        with pytest.warns(DataWarning, match=text):
            drawn = draw_sample(machine, {"run1": runs["run1"], "half": half}, name, n_total=40)
    with pytest.warns(DataWarning, match="first 10 of 1 run are outside the pool"):
        found = estimate(
            with_labels(drawn, people),
            {"run1": runs["run1"], "half": half},
            "rbp",
            machine_qrels=machine,
        )
    # A run that returns nothing returns nothing wrong.
    empty = runs["run0"].assign(score=-np.inf)
    found = estimate(
        people.assign(inclusion_probability=1.0),
        {"run0": runs["run0"], "none": empty},
        "dcg@10",
        machine_qrels=machine,
    )
    assert found.results["dcg@10"].values[1] == 0


def test_one_judged_document_in_a_query_is_enough(data):
    people, machine, runs = data
    drawn = with_labels(draw_sample(machine, runs, "dcg@10", n_total=12, random_state=0), people)
    assert (drawn["qid"].value_counts() == 1).any()
    assert estimate(drawn, runs, "dcg@10", machine_qrels=machine).to_frame()["low"].notna().all()


def test_bad_input(data, sample):
    _, machine, runs = data

    without = sample.drop(columns="inclusion_probability")
    for qrels, params, message in (
        (without, {}, "draw_sample"),
        # Neither probabilities nor a pool: one error has it all.
        (without, {"machine_qrels": None}, "no interval can be had from them alone"),
        (sample.assign(inclusion_probability=0.0), {}, "inclusion probability"),
        (sample.assign(inclusion_probability=1.5), {}, "inclusion probability"),
        (sample.assign(inclusion_probability=np.nan), {}, "inclusion probability"),
        (sample.assign(inclusion_probability=1.0), {}, "not those of a sample"),
        (pd.concat([sample, sample.head(1).assign(docno="other")]), {}, "outside the pool"),
        (sample.assign(label=1.0), {}, "have the gain 1"),
        (sample.head(1), {}, "at least two"),
        (sample, {"machine_qrels": None}, "pool="),
        (sample, {"machine_qrels": {}}, "empty"),
        (sample.assign(label=np.arange(len(sample)) / 7), {}, "different gains"),
    ):
        with pytest.raises(InputError, match=message):
            estimate(qrels, runs, "dcg@10", **{"machine_qrels": machine} | params)
    pool = RankedPool.read(machine, runs)
    with pytest.raises(InputError, match="holds its machine labels"):
        estimate(sample, pool, "dcg@10", machine_qrels=machine)
    # A sample for one measure is none for another.
    for measure, message in (("err", "unit='query'"), ("ndcg@10", "of a sample for 'ndcg@10'")):
        with pytest.raises(InputError, match=message):
            estimate(sample, runs, measure, machine_qrels=machine)


def test_why_labels_are_no_sample(data, sample):
    _, machine, runs = data
    part = sample.assign(label=sample["label"].where(np.arange(60) < 15))
    with pytest.raises(InputError, match="judged only the first part of a sample, draw again"):
        estimate(part, runs, "dcg@10", machine_qrels=machine)
    # Few that lack do not show in the count.
    part = sample.assign(label=sample["label"].where(np.arange(60) < 55))
    with pytest.warns(DataWarning, match="5 documents without a label. The labelled"):
        estimate(part, runs, "dcg@10", machine_qrels=machine)


def test_a_value_does_not_depend_on_what_else_is_asked_for(data, sample, estimates):
    _, machine, runs = data
    both = estimate(sample, runs, ["precision@10", "dcg@10"], machine_qrels=machine)
    pd.testing.assert_frame_equal(both.to_frame().loc[["dcg@10"]], estimates.to_frame())

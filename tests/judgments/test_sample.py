"""What is drawn to be judged."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from label_samples import collection, elimination_design, with_labels
from skfilterrank._lists.measure_names import parse_measures
from skfilterrank.exceptions import InputError
from skfilterrank.judgments import RankedPool, draw_sample, estimate
from skfilterrank.judgments._sample import _sizes, elimination_order, inclusion_probabilities
from skfilterrank.metrics import evaluate_runs
from thinned import thinned


@pytest.fixture(scope="module")
def data():
    people, machine, runs = collection()
    return people, machine, runs, RankedPool.read(machine, runs)


def pairs(sample):
    return list(zip(sample["qid"], sample["docno"]))


@pytest.mark.slow
@pytest.mark.parametrize("aim", ["differences", "values", "uniform"])
def test_samples_have_their_size_and_go_on(data, aim):
    pool = data[3]
    small, large = (
        draw_sample(None, pool, "dcg@10", n_total=n, aim=aim, random_state=0) for n in (25, 60)
    )
    assert len(small) == 25
    assert len(set(pairs(large))) == 60
    assert pairs(large)[:25] == pairs(small)
    assert small["label"].isna().all()
    assert (large["inclusion_probability"][:25] >= small["inclusion_probability"]).all()


@pytest.mark.nightly
def test_inclusion_probabilities_are_those_of_the_draws(data):
    pool = data[3]
    drawn = {}
    n_draws = 120
    for seed in range(n_draws):
        sample = draw_sample(None, pool, "dcg@3", n_total=14, random_state=seed)
        for pair, probability in zip(pairs(sample), sample["inclusion_probability"]):
            drawn.setdefault(pair, []).append(probability)
    for probabilities in drawn.values():
        assert np.ptp(probabilities) < 1e-12
    shares = np.array([[len(p) / n_draws, p[0]] for p in drawn.values()])
    error = np.sqrt(shares[:, 1] * (1 - shares[:, 1]) / n_draws)
    assert (np.abs(shares[:, 0] - shares[:, 1]) < 4.5 * error + 1e-9).all()
    assert shares[:, 1].sum() == pytest.approx(14)


def test_gains_must_matter(data):
    people, machine, runs, _ = data
    machine = machine.assign(label=machine["label"].clip(0))
    with pytest.raises(InputError, match=r"'forbidden@5' is the same for the gains .* below 0"):
        draw_sample(machine, runs, "forbidden@5", n_total=20)
    gains = {label: label or -1 for label in machine["label"].unique()}
    sample = draw_sample(machine, runs, "forbidden@5", n_total=20, gains=gains, random_state=0)
    found = estimate(
        with_labels(sample, people), runs, "forbidden@5", machine_qrels=machine, gains=gains
    )
    assert (found.to_frame()["value"] > 0).any()


@pytest.mark.parametrize("measure", ["ndcg@10", "ap"])
def test_a_ratio_needs_what_it_divides_by_for_differences_too(data, measure):
    differences, values = (
        _sizes(data[3], parse_measures([measure]), None, aim) for aim in ("differences", "values")
    )
    np.testing.assert_array_equal(differences, values)
    # No document is hardly ever drawn.
    assert values.min() > 0.2 * values.mean()


def test_uniform_samples_are_uniform_and_others_are_not(data):
    pool = data[3]
    uniform = draw_sample(None, pool, "dcg@10", share=0.25, aim="uniform", random_state=0)
    assert np.ptp(uniform["inclusion_probability"]) < 0.08  # folds are of different sizes
    weighted = draw_sample(None, pool, "dcg@10", share=0.25, random_state=0)
    assert np.ptp(weighted["inclusion_probability"]) > 0.3


@pytest.mark.slow
def test_what_is_judged_is_kept_and_the_rest_is_drawn_from(data):
    people, machine, runs, _ = data
    judged = people.sample(55, random_state=0)
    sample = draw_sample(machine, runs, "dcg@10", n_total=30, judged=judged, random_state=0)
    assert len(sample) == 85
    assert (sample["inclusion_probability"][:55] == 1).all()
    assert sample["label"][:55].notna().all()
    assert sample["label"][55:].isna().all()
    assert len(set(pairs(sample))) == 85
    found = estimate(with_labels(sample, people), runs, "dcg@10", machine_qrels=machine)
    true = evaluate_runs(people, runs, "dcg@10").means["dcg@10"]
    frame = found.to_frame().loc["dcg@10"]
    assert (np.abs(frame["value"] - true) < 4 * frame["standard_error"]).all()


@pytest.mark.nightly
def test_judgments_that_a_strategy_chose_do_not_make_the_estimate_biased(data):
    """The best documents of all are judged, which a sample would be biased by."""
    people, _, runs, pool = data
    judged = people[people["label"] == 3]
    true = evaluate_runs(people, runs, "dcg@10").means["dcg@10"]
    errors = []
    for seed in range(20):
        sample = draw_sample(None, pool, "dcg@10", n_total=40, judged=judged, random_state=seed)
        frame = estimate(with_labels(sample, people), pool, "dcg@10").to_frame().loc["dcg@10"]
        errors.append((frame["value"] - true) / frame["standard_error"])
    assert np.abs(np.mean(errors)) < 0.5
    assert (np.abs(errors) < 2).mean() > 0.85


def test_whole_queries_are_drawn_with_all_their_documents(data):
    pool = data[3]
    sample = draw_sample(None, pool, "err", n_total=6, unit="query", random_state=0)
    assert sample["qid"].nunique() == 6
    assert (sample.groupby("qid").size() == 40).all()
    assert (sample["inclusion_probability"] == 0.5).all()
    more = draw_sample(None, pool, "err", n_total=8, unit="query", random_state=0)
    assert set(sample["qid"]) <= set(more["qid"])


def test_bad_input(data):
    people, machine, runs, pool = data
    for wrong in (0, -1, 1.5, "all", True, 10_000):
        with pytest.raises(InputError, match="n_total"):
            draw_sample(None, pool, "dcg@10", n_total=wrong, random_state=0)
    other = people.head(1).assign(docno="x")
    for measure, params, message in (
        ("dcg@10", {"n_total": 2}, "could not be drawn: ask for at least"),
        ("dcg@10", {"n_total": 10, "aim": "order"}, "aim"),
        ("rr", {"n_total": 10}, "unit='query'"),
        ("dcg@10", {"n_total": 9, "judged": other}, "outside the pool"),
        (
            "err",
            {"n_total": 2, "unit": "query", "aim": "values"},
            "aim is of no use with unit='query': each query is as",
        ),
        ("err", {"n_total": 2, "unit": "query", "judged": people}, "drawn whole"),
        ("dcg@10", {}, "give either n_total, a number, or share"),
        ("dcg@10", {"n_total": 60, "share": 0.5}, "give either n_total, a number, or share"),
        ("dcg@10", {"n_total": 0.5}, r"n_total must be a whole number, got 0\.5: pass share="),
    ):
        with pytest.raises(InputError, match=message):
            draw_sample(None, pool, measure, **params, random_state=0)
    with pytest.raises(InputError, match="both missing"):
        draw_sample(None, runs, "dcg@10", n_total=10)
    with pytest.raises(InputError, match=r"machine_qrels \(machine\) holds labels with no e"):
        draw_sample(machine, runs, "err", n_total=6, unit="query", gains={0: 0, 1: 1})
    with pytest.raises(InputError, match="at least 1 run"):
        draw_sample(machine, {}, "dcg@10", n_total=10)


@pytest.mark.parametrize(
    ("machine", "measure"),
    thinned(
        [
            ("none", "forbidden@5"),
            ("all", "forbidden@5"),
            ("never says 0", "ndcg_f@10"),
            ("never says 0", "forbidden@5"),
        ],
        parts=2,
    ),
)
def test_people_may_give_every_gain_of_a_dict(data, measure, machine):
    """A forbidden document may be found where no machine says that there are any."""
    people, labels, runs, _ = data
    said = {"none": None, "never says 0": labels.assign(label=labels["label"].clip(1))}
    given = {"pool": people[["qid", "docno"]], "random_state": 0, "n_total": 60}
    gains = {0: -1, 1: 1, 2: 2, 3: 3}
    drawn = draw_sample(said.get(machine, labels), runs, measure, gains=gains, **given)
    sample = with_labels(drawn, people)
    given = {"machine_qrels": said.get(machine, labels), "pool": given["pool"], "gains": gains}
    found = estimate(sample, runs, measure, **given)
    assert len(sample) == 60
    assert np.isfinite(found.to_frame()["high"]).all()


def test_gains_of_a_dict_are_the_labels(data):
    """Without a machine 0 and 1 are taken for granted, or what the dict says."""
    pool = RankedPool.read(None, data[2], pool=data[0])
    parsed, dicts = parse_measures(["ndcg@10"]), ({0: 0, 1: 1, 2: 9}, {0: 0, 1: 1})
    own = [_sizes(pool, parsed, gains, "values") for gains in dicts]
    assert not np.allclose(own[0], own[1], rtol=0.01)
    np.testing.assert_array_equal(own[1], _sizes(pool, parsed, None, "values"))


def test_a_machine_may_say_what_lies_between_two_labels(data):
    _, machine, runs, _ = data
    # Whole labels, too: gains of a dict may be given even where the machine never says them.
    part = np.where(np.arange(len(machine)) % 2, 0.75, 1.0)
    soft = machine.assign(label=machine["label"] * part)
    steps = {0: 0, 1: 1, 2: 3, 3: 4}
    drawn = [
        draw_sample(soft, runs, "dcg@10", n_total=20, gains=gains, random_state=0)
        for gains in (steps, lambda label: np.interp(label, [0, 1, 2, 3], [0, 1, 3, 4]))
    ]
    pd.testing.assert_frame_equal(*drawn)
    with pytest.raises(InputError, match="has labels outside the range of gains, 0 to"):
        draw_sample(soft, runs, "dcg@10", n_total=20, gains={0: 0, 0.5: 1})


def test_a_pool_shows_what_it_holds(data):
    assert repr(data[3]) == "<RankedPool: 480 documents of 12 queries, 4 runs, 1 judge>"


def test_a_useless_machine_costs_little_of_a_design(data):
    """Width, by the formula of independent draws, where it says nothing and where there is none."""
    people, machine, runs = data[:3]
    chance = machine.assign(label=np.random.RandomState(0).randint(0, 4, len(machine)))
    label = people.set_index(["qid", "docno"])["label"]
    widths = []
    for judge in (None, chance):
        pool = RankedPool.read(judge, runs, pool=people)
        sizes = _sizes(pool, parse_measures("dcg@10"), None, "values")
        probability = 0.1 * np.count_nonzero(sizes) * sizes / sizes.sum()
        gain = label.reindex(pool.index).to_numpy()
        worth = np.zeros((len(pool), len(pool.runs)))
        shown = pool.place <= 10
        worth[pool.row[shown], pool.run[shown]] = 1 / np.log2(pool.place[shown] + 1)
        error = (worth * (gain - gain.mean())[:, None])[sizes > 0]
        inverse = 1 / probability[sizes > 0] - 1
        widths.append(np.sqrt((error**2 * inverse[:, None]).sum(axis=0)).mean())
    assert widths[1] < 1.05 * widths[0]


def of_four(labels=None, runs=("abcd",)):
    """Make a query of four documents, and runs that return them in some order."""
    rows = pd.DataFrame({"qid": "1", "docno": list("abcd")})
    machine = None if labels is None else rows.assign(label=labels)
    runs = {
        f"run{number}": rows.assign(score=[-order.index(docno) for docno in "abcd"])
        for number, order in enumerate(runs)
    }
    return RankedPool.read(machine, runs, pool=rows)


def probabilities(pool, measure, n_total, **params):
    """Return probabilities by document, over as many seeds as show all of them."""
    found = {}
    for seed in range(6):
        sample = draw_sample(None, pool, measure, n_total=n_total, random_state=seed, **params)
        assert len(sample) == n_total
        found |= dict(zip(sample["docno"], sample["inclusion_probability"]))
    return found


DISCOUNT = 1 / np.log2([2, 3, 4, 5])


@pytest.mark.slow
@pytest.mark.parametrize("aim", ["values", "differences"])
def test_probabilities_by_hand(aim):
    # By places, a and c are of one fold, b and d of the other, and one of each fold is drawn. Of
    # one run, and labels that nobody knows anything of, the size is the discount.
    expected = DISCOUNT / (DISCOUNT + DISCOUNT[[2, 3, 0, 1]])
    found = probabilities(of_four(), "dcg@4", 2, aim=aim)
    assert found == pytest.approx(dict(zip("abcd", expected)))
    assert probabilities(of_four(), "dcg@4", 2, aim="uniform") == dict.fromkeys("abcd", 0.5)
    # Below the cut nothing can be drawn.
    assert probabilities(of_four(), "dcg@2", 2, aim=aim) == {"a": 1, "b": 1}


@pytest.mark.slow
def test_probabilities_for_differences_by_hand():
    # Of two runs, one the other way round, a and d are as far apart as each other, and so are b and
    # c: what both share counts a fifth. Folds are a and b, d and c.
    far, near = DISCOUNT[[0, 3]], DISCOUNT[[1, 2]]
    sizes = [np.sqrt((pair**2).sum() - 0.8 * pair.sum() ** 2 / 2) for pair in (far, near)]
    first = sizes[0] / sum(sizes)
    found = probabilities(of_four(runs=("abcd", "dcba")), "dcg@4", 2)
    assert found == pytest.approx({"a": first, "b": 1 - first, "c": 1 - first, "d": first})
    sizes = [np.sqrt((pair**2).sum()) for pair in (far, near)]
    first = sizes[0] / sum(sizes)
    found = probabilities(of_four(runs=("abcd", "dcba")), "dcg@4", 2, aim="values")
    assert found == pytest.approx({"a": first, "b": 1 - first, "c": 1 - first, "d": first})


def test_a_machine_makes_sizes_by_hand():
    # Of a 0 people say 0 or 1, else 0, 1 or 2; and with a probability of 0.2 any at all.
    grades = np.array([0, 1, 2])
    low = 0.8 * np.array([1 / 2, 1 / 2, 0]) + 0.2 / 3
    deviation = np.sqrt([low @ grades**2 - (low @ grades) ** 2, 2 / 3, 2 / 3, 2 / 3])
    sizes = deviation * DISCOUNT
    expected = sizes / (sizes + sizes[[2, 3, 0, 1]])
    found = probabilities(of_four(labels=[0, 1, 2, 1]), "dcg@4", 2)
    assert found == pytest.approx(dict(zip("abcd", expected)))


def test_no_size_is_far_below_the_mean():
    # Discounts of RBP with p = 0.1 are 0.9, 0.09, 0.009 and 0.0009: the last two are raised to
    # 0.15 of the mean.
    sizes = np.array([0.9, 0.09, 0.009, 0.0009])
    sizes = np.maximum(sizes, 0.15 * sizes.mean())
    found = probabilities(of_four(), "rbp(persistence=0.1)", 3)
    assert (found["a"], found["c"]) == (1, 1)
    assert found["b"] == pytest.approx(sizes[1] / (sizes[1] + sizes[3]))


@pytest.mark.slow
def test_labels_are_shared_among_folds_by_hand():
    # Nine documents of one size are five and four of two folds, whose turns are 0.1, 0.3, ... and
    # 1/8, 3/8, ...: of three labels two are of the first.
    rows = pd.DataFrame({"qid": "1", "docno": list("abcdefghi")})
    pool = RankedPool.read(None, {"run": rows.assign(score=-np.arange(9))}, pool=rows)
    for n_total, each in ((3, (2 / 5, 1 / 4)), (4, (2 / 5, 2 / 4)), (7, (4 / 5, 3 / 4))):
        sample = draw_sample(None, pool, "dcg", n_total=n_total, aim="uniform", random_state=0)
        is_first = sample["docno"].isin(list("acegi")).to_numpy()
        np.testing.assert_allclose(sample["inclusion_probability"], np.where(is_first, *each))
        assert is_first.sum() == round(5 * each[0])
    # Folds of 1 + p ** 2 and p + p ** 3, with p = 0.4: after the first document of each comes
    # 0.5 / 1.16 and 0.5 / 0.464, and only then the second of the first fold, 1.5 / 1.16.
    found = probabilities(of_four(), "rbp(persistence=0.4)", 2)
    expected = np.array([1, 1, 0.16, 0.16]) / 1.16
    assert found == pytest.approx(dict(zip("abcd", expected)))


SIZES = np.array([5.0, 1.0, 2.0, 3.0, 0.5, 7.0])

sizes = st.lists(st.floats(0.01, 100), min_size=1, max_size=12).map(np.array)


@given(sizes, st.data())
def test_probabilities_are_shares_up_to_one_and_sum_to_the_number(sizes, data):
    n = data.draw(st.integers(1, len(sizes)))
    probability = inclusion_probabilities(sizes, n)
    assert probability.sum() == pytest.approx(n)
    assert ((probability > 0) & (probability <= 1)).all()
    uncertain = probability < 1
    if uncertain.any():
        ratio = probability[uncertain] / sizes[uncertain]
        np.testing.assert_allclose(ratio, ratio[0])
        # Of what is certain, no less would do.
        assert (ratio[0] * sizes[~uncertain] >= 1 - 1e-6).all()


def test_documents_of_size_0_are_never_drawn():
    assert inclusion_probabilities([1.0, 0.0, 1.0], 2).tolist() == [1.0, 0.0, 1.0]
    order = elimination_order(np.array([1.0, 0.0, 1.0]), np.random.RandomState(0))
    assert sorted(order) == [0, 2]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_the_rule_gives_the_probabilities(n):
    design = elimination_design(SIZES, n)
    assert sum(design.values()) == pytest.approx(1)
    found = np.zeros(len(SIZES))
    for rows, probability in design.items():
        found[list(rows)] += probability
    np.testing.assert_allclose(found, inclusion_probabilities(SIZES, n))


@pytest.fixture(scope="module")
def orders():
    random_state = np.random.RandomState(0)
    return [elimination_order(SIZES, random_state).tolist() for _ in range(3000)]


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 4])
def test_orders_follow_the_rule(orders, n):
    n_draws = len(orders)
    drawn = Counter(tuple(sorted(order[:n])) for order in orders)
    for rows, probability in elimination_design(SIZES, n).items():
        error = np.sqrt(probability * (1 - probability) / n_draws)
        assert drawn[rows] / n_draws == pytest.approx(probability, abs=4.5 * error + 1e-9)


def test_an_order_holds_every_document_once():
    order = elimination_order(np.arange(1.0, 300.0), np.random.RandomState(0))
    assert sorted(order) == list(range(299))


@pytest.mark.parametrize("n", [2, 3, 4])
def test_joint_probabilities_never_exceed_the_product(n):
    probability = inclusion_probabilities(SIZES, n)
    joint = np.zeros((len(SIZES),) * 2)
    for rows, chance in elimination_design(SIZES, n).items():
        joint[np.ix_(rows, rows)] += chance
    np.fill_diagonal(joint, 0)
    assert (joint <= np.outer(probability, probability) + 1e-12).all()


def test_inclusion_probabilities_by_hand():
    # The first would have 5/4 and is certain: one of four fourths, of which the second has two.
    assert inclusion_probabilities([5.0, 2.0, 1.0, 1.0], 2).tolist() == [1, 0.5, 0.25, 0.25]
    assert inclusion_probabilities([1.0, 2.0, 5.0, 1.0], 1).tolist() == [1 / 9, 2 / 9, 5 / 9, 1 / 9]
    assert inclusion_probabilities([1.0, 2.0, 3.0], 3).tolist() == [1, 1, 1]


def test_queries_for_risks_need_their_first_places_alone():
    documents = [f"d{i}" for i in range(20)]
    qids = np.repeat(["1", "2", "3", "4"], 20)
    machine = pd.DataFrame({"qid": qids, "docno": documents * 4, "label": 1})
    one = machine[["qid", "docno"]].assign(score=list(range(20, 0, -1)) * 4)
    other = one.assign(score=list(range(20)) * 4)
    runs = {"one": one, "other": other}
    sample = draw_sample(
        machine, runs, ["any_forbidden@3", "forbidden@2"], n_total=2, unit="query", random_state=0
    )
    assert sample["qid"].nunique() == 2
    firsts = {"d0", "d1", "d2", "d17", "d18", "d19"}
    assert sample.groupby("qid")["docno"].agg(set).tolist() == [firsts, firsts]
    assert set(sample["inclusion_probability"]) == {0.5}
    whole = draw_sample(
        machine, runs, ["any_forbidden@3", "err"], n_total=4, unit="query", random_state=0
    )
    assert len(whole) == 80

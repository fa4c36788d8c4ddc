"""Measures as sums over uncertain labels."""

from types import SimpleNamespace

import numpy as np
import pytest

from label_samples import collection
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank.exceptions import DataWarning, InputError
from skfilterrank.judgments import RankedPool
from skfilterrank.judgments._estimate import _position_weights
from skfilterrank.judgments._label_model import N_DRAWS, Prediction
from skfilterrank.judgments._sum_of_labels import SumOfLabels
from skfilterrank.metrics import evaluate_runs
from thinned import thinned

LINEAR = ["dcg@5", "dcg", "precision@5", "rbp", "precision(rel=2)@5", "dcg(gains=exp2)"]
LINEAR += ["forbidden@5", "forbidden"]
QUADRATIC = ["sp", "sp@10"]
RATIOS = ["ndcg@5", "ndcg", "ndcg_f@5", "ndcg_0@5", "ndcg_min@5", "ap", "ap@10", "recall@10"]
RATIOS += ["ap(rel=2)", "ndcg(gains=exp2)@5"]


@pytest.fixture(scope="module")
def parts():
    people, machine, runs = collection(n_queries=3, n_documents=12, n_runs=3)
    people = people.assign(label=people["label"] - (people["label"] == 0))  # -1, 1, 2, 3
    runs["run0"] = runs["run0"].groupby("qid").head(7)
    runs["run1"] = runs["run1"][runs["run1"]["qid"] != "t01"]
    pool = RankedPool.read(machine, runs)
    label = people.set_index(["qid", "docno"])["label"].reindex(pool.index).to_numpy()
    grades, codes = np.unique(label, return_inverse=True)
    return people, runs, pool, grades, codes


def uncertain(pool, n_grades, seed=0):
    """Make some probabilities of all labels."""
    rng = np.random.RandomState(seed)
    return rng.dirichlet(np.full(n_grades, 0.7), size=len(pool))


def of_queries(pool, changes):
    """Sum the changes by documents of each query, (n_runs, n_queries)."""
    return np.stack([np.bincount(pool.codes, column) for column in changes.T])


@pytest.mark.slow
@pytest.mark.parametrize("name", thinned(LINEAR + QUADRATIC + RATIOS, parts=2))
def test_of_certain_labels_the_value_is_the_measure(parts, name):
    people, runs, pool, grades, codes = parts
    form = SumOfLabels(parse_measure(name), pool, grades)
    sure = Prediction.sure(pool, np.eye(len(grades))[codes])
    expected = evaluate_runs(people, runs, name).per_query[name].unstack().loc[list(pool.runs)]
    np.testing.assert_allclose(form.expand(sure).base, expected, atol=1e-12)


def test_how_much_documents_count_by_their_places(parts):
    """1 / place in average precision, whose terms are all of the level."""
    _, _, pool, grades, _ = parts
    for name, of_place in (("ap", 1 / pool.place), ("precision@5", pool.place <= 5)):
        expected = np.zeros((len(pool), len(pool.runs)))
        expected[pool.row, pool.run] = of_place
        worth = _position_weights(SumOfLabels(parse_measure(name), pool, grades))
        np.testing.assert_allclose(worth.toarray(), expected, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", LINEAR + QUADRATIC)
def test_labels_change_a_measure_one_by_one_and_a_sum_of_precisions_in_pairs(parts, name):
    people, runs, pool, grades, codes = parts
    form = SumOfLabels(parse_measure(name), pool, grades)
    assert form.is_linear == (name in LINEAR)
    expansion = form.expand(Prediction.sure(pool, uncertain(pool, len(grades))))
    rows = np.arange(len(pool))
    found = expansion.base + of_queries(pool, expansion.changes(rows, codes))
    if not form.is_linear:
        found += of_queries(pool, expansion.pairs(rows, codes, np.ones(len(rows)))) / 2
    expected = evaluate_runs(people, runs, name).per_query[name].unstack().loc[list(pool.runs)]
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", QUADRATIC + RATIOS)
def test_each_pair_is_among_the_pairs_of_both(parts, name):
    _, _, pool, grades, codes = parts
    form = SumOfLabels(parse_measure(name), pool, grades)
    expansion = form.expand(Prediction.sure(pool, uncertain(pool, len(grades))))
    rows = np.arange(len(pool))[::2]
    # Of one document and what others stand for, and the other way around.
    largest = 0.0
    for one, other in zip(rows[:-1:3], rows[1::3]):
        both, weights = np.array([one, other]), np.array([1.0, 3.0])
        effect = expansion.pairs(both, codes[both], weights)
        np.testing.assert_allclose(effect[0], 3 * effect[1], atol=1e-12)
        assert pool.codes[one] == pool.codes[other] or not effect.any()
        largest = max(largest, np.abs(effect).max())
    assert largest > 1e-4


@pytest.mark.parametrize(
    ("numbers", "scale", "slope", "bend"),
    # About its line, n**2 is (n - 1)**2 + 2 (n - 1) + 1: a quarter of the square of 2 (n - 1).
    [([0, 1, 2], lambda n: n**2, 2, 1 / 4), ([0, 0, 3], lambda n: 1 + 2 * n, 2, 0)],
)
def test_how_a_scale_goes_with_the_number_of_labels(
    parts, numbers, scale, slope, bend, monkeypatch
):
    _, _, pool, grades, _ = parts
    form = SumOfLabels(parse_measure("ndcg@5"), pool, grades)
    monkeypatch.setattr(form, "scale", lambda counts: (scale(counts[:, 1]), 0.0 * counts[:, 1]))
    counts = np.zeros((3, len(pool.queries), len(grades)))
    counts[:, :, 1] = np.array(numbers)[:, None]
    _, slopes, _, _, (bends, *_) = form._scales(SimpleNamespace(counts=counts, expected=counts))
    np.testing.assert_allclose(slopes[:, 1], slope)
    np.testing.assert_allclose(bends, bend, atol=1e-12)


@pytest.fixture(scope="module")
def over_drawn_labels(parts):
    """Compute values of every ratio for each of many draws of the labels."""
    _, runs, pool, grades, _ = parts
    probabilities = uncertain(pool, len(grades))
    rng, n_draws = np.random.RandomState(0), 150
    drawn = np.array([rng.choice(grades, size=n_draws, p=each) for each in probabilities])

    def again(frame):
        """Repeat the rows for each draw, which has queries of its own."""
        rows = frame.iloc[np.tile(np.arange(len(frame)), n_draws)]
        draws = np.repeat([f"{draw:03d} " for draw in range(n_draws)], len(frame))
        return rows.assign(qid=draws + rows["qid"])

    qrels = again(pool.index.to_frame(index=False)).assign(label=drawn.T.ravel())
    with pytest.warns(DataWarning, match="many judged queries are missing in 1 of 3 runs"):
        values = evaluate_runs(
            qrels, {name: again(run) for name, run in runs.items()}, list(RATIOS), missing="empty"
        ).per_query
    by_run = {name: values.loc[name].sort_index().to_numpy() for name in pool.runs}
    return np.stack([each.reshape(n_draws, -1, len(RATIOS)) for each in by_run.values()])


@pytest.mark.slow
@pytest.mark.parametrize("name", RATIOS)
def test_the_expected_value_is_that_over_drawn_labels(parts, over_drawn_labels, name):
    _, _, pool, grades, _ = parts
    form = SumOfLabels(parse_measure(name), pool, grades)
    base = form.expand(Prediction.sure(pool, uncertain(pool, len(grades)))).base
    values = over_drawn_labels[..., RATIOS.index(name)]
    error = np.std(values, axis=1) / np.sqrt(values.shape[1])
    assert (np.abs(base - np.mean(values, axis=1)) < 4 * error + 0.03).all()


@pytest.mark.parametrize(
    "name", ["err", "rr", "r_precision", "q_measure", "lexirecall", "bpref", "precision", "qwa"]
)
def test_what_is_no_such_sum_is_refused(parts, name):
    _, _, pool, grades, _ = parts
    with pytest.raises(InputError, match="unit='query'"):
        SumOfLabels(parse_measure(name), pool, grades)


def test_documents_that_no_list_shows_do_not_matter_to_a_linear_measure(parts):
    _, _, pool, grades, _ = parts
    matters = SumOfLabels(parse_measure("dcg@1"), pool, grades).influential()
    assert 0 < matters.sum() <= 3 * 3
    assert SumOfLabels(parse_measure("ndcg@1"), pool, grades).influential().all()


@pytest.mark.parametrize(
    ("name", "is_enough"), [("ndcg@5", True), ("ndcg_f@5", True), ("ap", False)]
)
def test_labels_that_no_scale_looks_at_are_cut(parts, name, is_enough):
    _, _, pool, grades, _ = parts
    form = SumOfLabels(parse_measure(name), pool, grades)
    assert form._is_depth_enough == is_enough
    counts = np.random.RandomState(1).randint(0, 60, size=(40, len(grades)))
    counts[:, 0] += 1
    for cut, whole in zip(form.scale(counts), form._scale(counts)):
        np.testing.assert_allclose(cut, whole, rtol=1e-12)


def test_labels_are_drawn_as_often_as_they_are_likely(parts):
    _, _, pool, grades, _ = parts
    probabilities = uncertain(pool, len(grades))
    counts = Prediction.sure(pool, probabilities).counts
    sizes = np.bincount(pool.codes)
    assert (counts.sum(axis=2) == sizes).all()
    expected = np.stack([np.bincount(pool.codes, column) for column in probabilities.T], axis=1)
    # 256 numbers at equal distances: each label is drawn so often, but for one at each of its ends.
    assert len(counts) == 256
    assert (np.abs(counts.mean(axis=0) - expected) <= 2 * sizes[:, None] / 256).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "tolerance"), [("sp", 1e-12), ("ap", 0.025), ("ndcg@5", 0.04), ("recall@10", 0.022)]
)
def test_what_a_label_changes_is_what_knowing_it_changes(parts, name, tolerance):
    """Up to 0.25 for ratios, whose scales are taken to be straight."""
    _, _, pool, _, _ = parts
    form = SumOfLabels(parse_measure(name), pool, np.arange(4.0))
    prediction = Prediction.sure(pool, uncertain(pool, 4))
    before, largest = form.expand(prediction), 0.0
    for row in range(0, len(pool), 5):
        for grade in (0, 3):
            known = np.array([row]), np.array([grade])
            found = before.changes(*known)[0]
            after = form.expand(prediction.with_known(*known))
            expected = (after.base - before.base)[:, pool.codes[row]]
            np.testing.assert_allclose(found, expected, atol=tolerance)
            largest = max(largest, np.abs(found).max())
    assert largest > 0.1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sp", "recall@10"])
def test_a_known_label_changes_what_is_expected_without_it(parts, name, monkeypatch):
    """Exact where scales are straight."""
    _, _, pool, _, codes = parts
    form = SumOfLabels(parse_measure(name), pool, np.arange(4.0))
    if name != "sp":
        monkeypatch.setattr(
            form, "scale", lambda n: (1 + 0.1 * n[:, 2] - 0.2 * n[:, 3], 0.0 * n[:, 0])
        )
    prediction = Prediction.sure(pool, uncertain(pool, 4))
    rows = np.arange(0, len(pool), 3)
    known = form.expand(prediction, rows, codes[rows])
    for place in range(0, len(rows), 5):
        others, mine = np.delete(rows, place), rows[[place]]
        without = form.expand(prediction, others, codes[others])
        expected = (known.base - without.base)[:, pool.codes[mine[0]]]
        np.testing.assert_allclose(known.changes(mine, codes[mine])[0], expected, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dcg@5", "ndcg_f@5", "ap"])
def test_changes_of_some_known_labels_are_those_of_all(parts, name):
    _, _, pool, _, codes = parts
    form = SumOfLabels(parse_measure(name), pool, np.arange(4.0))
    prediction, rows = Prediction.sure(pool, uncertain(pool, 4)), np.arange(0, len(pool), 3)
    some = np.array([4, 1])
    mine = rows[some], codes[rows[some]]
    found = form.expand(prediction, rows, codes[rows], some).changes(*mine)
    expected = form.expand(prediction, rows, codes[rows]).changes(*mine)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "n_columns"),
    [("ap(rel=2)", 1), ("ap", 1), ("ndcg@5", 3), ("ndcg@4", 4), ("recall(rel=3)@5", 1)],
)
def test_labels_that_a_scale_reads_alike_are_added_up(parts, name, n_columns):
    lowest = -1.0 if name == "ndcg@4" else 0.0
    form = SumOfLabels(parse_measure(name), parts[2], np.array([lowest, 1.0, 2.0, 3.0]))
    counts = np.random.RandomState(0).randint(0, 4, size=(60, 4))
    counts[:, 0] += 1
    np.testing.assert_allclose(form.scale(counts), form._scale(counts), rtol=1e-12)
    assert np.count_nonzero(np.ptp(form._as_read(counts), axis=0)) == n_columns


@pytest.mark.parametrize(("name", "tolerance"), [("ap", 0.1), ("recall@10", 0.05)])
def test_what_bends_counts_once(name, tolerance):
    """Chances of a query that go up and down together: the mean error where all is judged."""
    people, machine, runs = collection(n_queries=6, n_runs=3)
    people = people.assign(label=1 * (people["label"] > 1))
    pool = RankedPool.read(machine, runs)
    label = people.set_index(["qid", "docno"])["label"].reindex(pool.index).to_numpy()
    chances = np.repeat(np.linspace(0.1, 0.5, N_DRAWS)[:, None], len(pool), axis=1)
    drawn = np.stack([1 - chances, chances], axis=1)
    form = SumOfLabels(parse_measure(name), pool, np.array([0.0, 1.0]))
    expansion = form.expand(Prediction(pool, drawn.mean(axis=0).T, drawn))
    rows = np.arange(len(pool))
    pairs = of_queries(pool, expansion.pairs(rows, label, np.ones(len(rows)))) / 2
    found = expansion.base + of_queries(pool, expansion.changes(rows, label)) + pairs
    expected = evaluate_runs(people, runs, name).per_query[name].unstack().loc[list(pool.runs)]
    assert abs((found - expected.to_numpy()).mean()) < tolerance

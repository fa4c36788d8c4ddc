"""Ties and agreement as labels are missing."""

import numpy as np
import pandas as pd
import pytest

from pickled_threads import pickled_threads
from skfilterrank.comparison import score_systems
from skfilterrank.io import write_run
from skfilterrank.metaevaluation import agreement, label_degradation
from skfilterrank.metaevaluation._label_degradation import _Labels
from thinned import thinned

# What labels below 0 mean is not said here, and not what is tested.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.* holds labels below 0", "ignore:.* most of the .* is unjudged in"
)

MEASURES = ["ap", "recall@5", "rr", "lexirecall(scale=preference)", "forbidden@5", "ndcg_f"]


def make_qrels(seed=0, n_topics=4, n_documents=20):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        [
            (f"t{topic}", f"d{document:02d}")
            for topic in range(n_topics)
            for document in range(n_documents)
        ],
        columns=["qid", "docno"],
    )
    table["label"] = rng.choice([-1, 0, 1, 2], len(table), p=[0.1, 0.4, 0.3, 0.2])
    return table


def make_runs(qrels, seed=1, n_runs=5, depth=12):
    """Runs that find some of the documents, with tied scores."""
    rng = np.random.default_rng(seed)
    return {
        f"run{number}": qrels.groupby("qid")[["qid", "docno"]]
        .sample(depth, random_state=rng.integers(1000))
        .assign(score=lambda rows: rng.integers(8, size=len(rows)).astype(float))
        for number in range(n_runs)
    }


@pytest.fixture
def draws(monkeypatch):
    """What was drawn, sample by sample."""
    found = []
    draw = _Labels.draw

    def recorded(self, rng, sampling):
        found.append(draw(self, rng, sampling))
        return found[-1]

    monkeypatch.setattr(_Labels, "draw", recorded)
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sampling", "ties"), thinned([("frequency", "worst"), ("uniform", "docno")], parts=2)
)
def test_same_as_scoring_runs_with_fewer_judgments(draws, sampling, ties):
    qrels = make_qrels()
    runs = make_runs(qrels)
    shares = [0.25, 1]
    found = label_degradation(
        qrels,
        runs,
        MEASURES,
        shares=shares,
        n_samples=2,
        sampling=sampling,
        ties=ties,
        random_state=0,
    )
    full = score_systems(qrels, runs, MEASURES, ties=ties)
    relevant = qrels[qrels["label"] > 0].sort_values(["qid", "docno"])
    sizes = relevant.groupby("qid")["docno"].transform("size")
    for at, share in enumerate([0, *shares]):
        # To the nearest whole number, halves up, and one at least stays.
        counts = np.minimum((share * sizes + 0.5).astype(int), sizes - 1).to_numpy()
        for sample, places in enumerate(draws):
            less = qrels.copy().astype({"label": float})
            less.loc[relevant.index[places < counts], "label"] = np.nan
            removed = less["label"].isna()
            assert removed.sum() == found.n_removed[at]
            values = score_systems(less, runs, MEASURES, ties=ties)
            for number, name in enumerate(MEASURES):
                ours = (number, at, sample)
                tied = values[name].fraction_tied()
                assert found.fraction_tied[ours] == pytest.approx(tied, abs=1e-12), name
                np.testing.assert_allclose(
                    found.agreement[ours], agreement(values[name], full[name]).share
                )
                np.testing.assert_allclose(
                    found.kept[ours], agreement(full[name], values[name]).share
                )
    assert found.n_relevant == len(relevant)
    assert found.systems == tuple(runs)
    assert found.queries == ("t0", "t1", "t2", "t3")


@pytest.mark.slow
def test_by_hand():
    # Relevant are a and b. Without a: ap of x is 1/2, of y 1, of z 1/3. Without b: 1, 1/3, 1/2.
    # With both: x (1 + 2/2) / 2 = 1, y (1 + 2/3) / 2 = 0.83, z (1/2 + 2/4) / 2 = 0.5.
    qrels = pd.DataFrame({"qid": "1", "docno": list("abcd"), "label": [1, 1, 0, 0]})
    orders = {"x": "abcd", "y": "bcad", "z": "cadb"}
    runs = {
        name: pd.DataFrame({"qid": "1", "docno": list(order), "score": [4, 3, 2, 1]})
        for name, order in orders.items()
    }
    found = label_degradation(qrels, runs, "ap", shares=[0.5], n_samples=20, random_state=0)
    # Without a the order is y x z, of whose 3 preferences 2 are right; without b it is x z y: 2.
    assert (found.agreement[0, 1] == 2 / 3).all()
    assert (found.kept[0, 1] == 2 / 3).all()
    assert (found.fraction_tied == 0).all()
    # By reciprocal rank x and y are equal at first. Without a: y 1, x 1/2, z 1/4, both right and
    # one that was a tie. Without b: x 1, z 1/2, y 1/3: x to z alone.
    found = label_degradation(qrels, runs, "rr", shares=[0.5], n_samples=20, random_state=0)
    assert (found.fraction_tied[0, 0] == 1 / 3).all()
    assert set(found.agreement[0, 1].round(12)) == {round(2 / 3, 12), round(1 / 3, 12)}
    assert set(found.kept[0, 1]) == {1, 1 / 2}


def labels_of(sizes, n_runs=None):
    topics = np.repeat([f"t{number}" for number in range(len(sizes))], sizes)
    n_runs = np.ones(len(topics)) if n_runs is None else np.array(n_runs)
    return _Labels(topics, n_runs, dict.fromkeys(topics, True))


def test_numbers_of_rerank_changes():
    labels = labels_of([1, 2, 5, 10])
    removed = labels.n_removed(np.array([0, 0.1, 0.35, 0.5, 0.9, 1]))[:, :4]
    assert removed.tolist() == [
        [0, 0, 0, 0],
        [0, 0, 1, 1],  # 0.1, 0.2, 0.5 and 1
        [0, 1, 2, 4],  # 0.35, 0.7, 1.75 and 3.5
        [0, 1, 3, 5],  # 0.5, 1, 2.5 and 5, but one stays
        [0, 1, 4, 9],
        [0, 1, 4, 9],
    ]


def test_uniform_draws_take_each_document_alike():
    labels, rng = labels_of([4, 2]), np.random.default_rng(0)
    places = np.array([labels.draw(rng, "uniform") for _ in range(4000)])
    assert (np.sort(places[:, :4]) == np.arange(4)).all()
    assert (np.sort(places[:, 4:]) == np.arange(2)).all()
    # Standard errors are 0.007 and 0.008.
    np.testing.assert_allclose((places == 0).mean(axis=0), [1 / 4] * 4 + [1 / 2] * 2, atol=0.03)
    np.testing.assert_allclose((places[:, :4] == 2).mean(axis=0), [1 / 4] * 4, atol=0.03)


@pytest.mark.slow
def test_frequent_documents_go_first():
    labels, rng = labels_of([5], [1, 2, 3, 0, 0]), np.random.default_rng(0)
    places = np.array([labels.draw(rng, "frequency") for _ in range(6000)])
    first = (places == 0).mean(axis=0)
    np.testing.assert_allclose(first, [1 / 6, 2 / 6, 3 / 6, 0, 0], atol=0.03)
    # Second is the first document after one of the others: 2/6 * 1/4 + 3/6 * 1/3 = 1/4.
    assert (places[:, 0] == 1).mean() == pytest.approx(1 / 4, abs=0.03)
    # What no run returns goes last, in either order.
    assert (places[:, 3:] >= 3).all()
    assert (places[:, 3] == 3).mean() == pytest.approx(1 / 2, abs=0.03)


@pytest.mark.slow
def test_processes_and_seeds(tmp_path):
    qrels = make_qrels()
    runs = make_runs(qrels)
    paths = []
    for name, run in runs.items():
        paths.append(tmp_path / f"{name}.txt")
        write_run(paths[-1], run, name=name)
    params = {"measures": ["ap", "lexirecall(scale=preference)"], "shares": [0.5], "n_samples": 2}
    expected = label_degradation(qrels, runs, **params, random_state=0).to_frame()
    with pickled_threads():
        found = label_degradation(qrels, runs, n_jobs=2, **params, random_state=0)
    assert found.to_frame().equals(expected)
    assert label_degradation(qrels, paths, **params, random_state=0).to_frame().equals(expected)
    shuffled = qrels.sample(frac=1, random_state=0)
    turned = dict(reversed(runs.items()))
    pd.testing.assert_frame_equal(
        label_degradation(shuffled, turned, **params, random_state=0).to_frame(), expected
    )
    other = label_degradation(qrels, runs, random_state=1, **params).to_frame()
    assert not other.equals(expected)


@pytest.mark.slow
def test_topics_without_relevant_documents():
    qrels = make_qrels()
    qrels.loc[qrels["qid"] == "t1", "label"] = 0
    runs = make_runs(qrels)
    found = label_degradation(qrels, runs, "ap", shares=0.5, n_samples=2, random_state=0)
    assert found.dropped_queries == ("t1",)
    rest = qrels[qrels["qid"] != "t1"]
    runs = {name: run[run["qid"] != "t1"] for name, run in runs.items()}
    expected = label_degradation(rest, runs, "ap", shares=0.5, n_samples=2, random_state=0)
    assert found.to_frame().equals(expected.to_frame())


@pytest.mark.slow
def test_gains_say_what_is_relevant():
    qrels = make_qrels()
    runs = make_runs(qrels)
    gains = {-1: 0, 0: 0, 1: 0, 2: 1}
    binary = qrels.assign(label=(qrels["label"] == 2).astype(int))
    params = {"shares": 0.5, "n_samples": 2, "random_state": 0}
    measures = ["ap", "lexirecall(scale=preference)"]
    one = label_degradation(qrels, runs, measures, gains=gains, **params)
    other = label_degradation(binary, runs, measures, **params)
    assert one.to_frame().equals(other.to_frame())


@pytest.mark.slow
@pytest.mark.parametrize("missing", ["raise", "drop", "empty"])
def test_topics_that_are_not_in_a_run(missing):
    qrels = make_qrels()
    runs = make_runs(qrels)
    runs["run2"] = runs["run2"][runs["run2"]["qid"] != "t3"]
    params = {"shares": 0.5, "n_samples": 2, "missing": missing}
    if missing == "raise":
        with pytest.raises(ValueError, match=r"'t3' is not in the run 'run2'.*missing='drop'"):
            label_degradation(qrels, runs, "ap", **params, random_state=0)
        return
    found = label_degradation(
        qrels, runs, ["ap", "lexirecall(scale=preference)"], **params, random_state=0
    )
    assert len(found.queries) == (3 if missing == "drop" else 4)
    full = score_systems(qrels, runs, ["ap", "lexirecall(scale=preference)"], missing=missing)
    for number, name in enumerate(full):
        tied = full[name].fraction_tied()
        assert found.fraction_tied[number, 0] == pytest.approx([tied, tied], abs=1e-12)


@pytest.mark.slow
def test_table_and_text():
    qrels = make_qrels()
    found = label_degradation(
        qrels, make_runs(qrels), ["ap", "rr"], shares=[0.9, 0.5, 0.5], n_samples=3, random_state=0
    )
    assert found.shares.tolist() == [0, 0.5, 0.9]
    table = found.to_frame()
    assert len(table) == 6
    row = table.iloc[4]
    assert (row["measure"], row["share"]) == ("rr", 0.5)
    assert row["agreement"] == pytest.approx(found.agreement[1, 1].mean())
    assert row["kept_std"] == pytest.approx(found.kept[1, 1].std(ddof=1))
    assert table.loc[0, ["agreement", "kept", "agreement_std"]].tolist() == [1, 1, 0]
    assert "5 systems, 4 queries, 3 samples of the" in str(found)
    single = label_degradation(
        qrels, make_runs(qrels), "ap", shares=[0.5], n_samples=1, random_state=0
    )
    assert single.to_frame()["kept_std"].isna().all()


def test_all_tied():
    qrels = make_qrels()
    run = make_runs(qrels)["run0"]
    found = label_degradation(
        qrels, {"a": run, "b": run}, "ap", shares=[0.5], n_samples=2, random_state=0
    )
    assert (found.fraction_tied == 1).all()
    assert np.isnan(found.agreement).all()
    assert found.to_frame()["agreement"].isna().all()
    assert "1.000" in str(found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"shares": 1.5}, "shares must be a finite number from 0 up and up to 1, got 1.5"),
        ({"shares": []}, "shares is empty"),
        ({"shares": [np.nan]}, "shares must be a finite number"),
        ({"n_samples": 0}, "n_samples must be a whole number from 1 up, got 0"),
        ({"sampling": "popular"}, "sampling"),
        ({"missing": 0.0}, "missing"),
        ({"tolerance": -1}, "tolerance must be a finite number from 0 up"),
        ({"gains": lambda labels: 0 * labels}, "must share a query with relevant documents"),
    ],
)
def test_bad_parameters(params, message):
    qrels = make_qrels()
    with pytest.raises(ValueError, match=message):
        label_degradation(qrels, make_runs(qrels), "ap", **params, random_state=0)


def test_one_run():
    qrels = make_qrels()
    runs = make_runs(qrels, n_runs=1)
    with pytest.raises(ValueError, match="runs must hold at least 2 runs"):
        label_degradation(qrels, runs, "ap", random_state=0)

"""Systems ranked without judgments: by hand, against loops, and what must not change the order."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils import check_random_state

from pooled_runs import few_runs, runs_of
from profiles import times
from skfilterrank.judgments import _pseudo_qrels as overlap
from skfilterrank.judgments import pseudo_qrels, rank_systems, rank_table
from skfilterrank.metrics import evaluate_runs
from thinned import thinned

PSEUDO = ["nruns", "sakai", "condorcet", "bias+condorcet", "soboroff"]


def overlap_by_loops(lists, depth):
    """Compute Aslam and Savell's formula, set by set."""
    queries = {query for own in lists.values() for query in own}
    scores = {}
    for i, own in lists.items():
        total = 0
        for t in queries:
            ours = set(own.get(t, ())[:depth])
            for j, other in lists.items():
                theirs = set(other.get(t, ())[:depth])
                if j != i and theirs:
                    total += len(ours & theirs) / len(ours | theirs)
        scores[i] = total / len(queries) / (len(lists) - 1)
    return scores


def test_aslam_by_hand():
    runs = runs_of(
        one={"1": "ab", "2": "ab"}, two={"1": "bc", "2": "ba"}, three={"1": "bcd"}, four={"1": "x"}
    )
    # Query 1: one and two share 1 of 3, one and three 1 of 4, two and three 2 of 3. Query 2: one
    # and two share all; three and four return nothing.
    expected = {
        "two": (1 / 3 + 2 / 3 + 1) / 3 / 2,
        "one": (1 / 3 + 1 / 4 + 1) / 3 / 2,
        "three": (1 / 4 + 2 / 3) / 3 / 2,
        "four": 0,
    }
    found = rank_systems(runs, "aslam")["aslam"]
    assert list(found.index) == list(expected)
    assert found.to_dict() == pytest.approx(expected)


@pytest.mark.slow
@times(0.5)
@given(seed=st.integers(0, 10_000), depth=st.sampled_from([1, 5, 30]))
def test_aslam_is_that_of_a_loop(seed, depth):
    runs, lists = few_runs(seed)
    found = rank_systems(runs, "aslam", depth=depth)["aslam"]
    assert found.to_dict() == pytest.approx(overlap_by_loops(lists, depth))


def test_spoerri_of_five_runs_by_hand():
    # Each of the five trials compares all five runs: the mean over trials is that of one.
    runs = runs_of(a="wxyz", b="wxy", c="wx", d="wv", e={"1": "w", "2": "x"})
    # Alone are z of a, v of d, and in query 2, where others return nothing, x of e.
    expected = {
        "b": 0,
        "c": 0,
        "a": -(1 / (1 + 4)) / 2,
        "d": -(1 / (1 + 2)) / 2,
        "e": -(1 / (1 + 1)) / 2,
    }
    found = rank_systems(runs, "spoerri", random_state=0)["spoerri"]
    assert [set(found.index[:2]), *found.index[2:]] == [{"b", "c"}, "a", "d", "e"]
    assert found.to_dict() == pytest.approx(expected)


@pytest.mark.slow
@times(0.5)
@given(seed=st.integers(0, 10_000), n_runs=st.integers(5, 9))
def test_spoerri_is_that_of_a_loop(seed, n_runs):
    runs, lists = few_runs(seed, n_runs=n_runs)
    found = rank_systems(runs, "spoerri", depth=6, random_state=seed)["spoerri"]
    names = list(runs)
    circle = [names[place] for place in check_random_state(seed).permutation(n_runs)]
    trials = [[circle[(trial + step) % n_runs] for step in range(5)] for trial in range(n_runs)]
    queries = {query for own in lists.values() for query in own if own[query]}
    scores = dict.fromkeys(names, 0)
    for trial in trials:
        for i in trial:
            for t in queries:
                others = set().union(*(lists[j][t][:6] for j in trial if j != i))
                ours = set(lists[i][t][:6])
                scores[i] -= len(ours - others) / (1 + len(ours)) / len(queries) / 5
    assert found.to_dict() == pytest.approx(scores)


@given(n_runs=st.integers(5, 40), seed=st.integers(0, 100))
def test_each_run_is_in_five_trials_of_five(n_runs, seed):
    # Each returns a document of its own, so that every trial counts 1 / (1 + 1) for its five.
    index = pd.MultiIndex.from_product([["1"], range(n_runs)], names=["qid", "docno"])
    table = pd.DataFrame(np.where(np.eye(n_runs), 1, np.nan), index=index)
    scores = overlap.mean_of_fives(table, check_random_state(seed))
    assert scores == pytest.approx(np.full(n_runs, -1 / 2))


def test_spoerri_by_hand():
    # Five runs are one trial, five times. All return a; v and w return documents of their own.
    runs = runs_of(one="ab", two="ba", three="ab", four="avb", five="awxy")
    unique = {"one": 0, "two": 0, "three": 0, "four": -1 / 4, "five": -3 / 5}
    assert rank_systems(runs, "spoerri")["spoerri"].to_dict() == pytest.approx(unique)
    common = {"one": 1 / 3, "two": 1 / 3, "three": 1 / 3, "four": 1 / 4, "five": 1 / 5}
    assert rank_systems(runs, "spoerri_all")["spoerri_all"].to_dict() == pytest.approx(common)
    with pytest.raises(ValueError, match="has no effect for method='spoerri_all'"):
        rank_systems(runs, "spoerri_all", measure="ap")


def test_the_best_run_of_a_team_by_hand():
    runs = runs_of(one="ab", two="xy", three="ab")
    teams = {"one": "p", "two": "p", "three": "q"}
    assert rank_systems(runs, teams=teams)["team"].to_dict() == {"one": "p", "three": "q"}
    values = {"one": 0.1, "two": 0.4, "three": 0.2}
    found = rank_systems(runs, "aslam", teams=teams, team_values=values)
    assert found["team"].to_dict() == {"two": "p", "three": "q"}
    assert found["aslam"].tolist() == [0, 0]
    qrels = pseudo_qrels(runs, teams=teams, team_values=pd.Series(values))
    assert sorted(qrels["docno"]) == ["a", "b", "x", "y"]
    # Of equal ones, the first by name.
    assert "one" in rank_systems(runs, teams=teams, team_values=dict.fromkeys(values, 0)).index
    with pytest.raises(ValueError, match="team_values lacks 1 run, such as 'three'"):
        rank_systems(runs, teams=teams, team_values={"one": 1, "two": 2})
    with pytest.raises(ValueError, match="give teams, too"):
        rank_systems(runs, team_values=values)


@pytest.mark.parametrize("n_runs", [2, 4])
def test_spoerri_needs_five(n_runs):
    runs, _ = few_runs(0, n_runs=6)
    few = {name: runs[name] for name in list(runs)[:n_runs]}
    with pytest.raises(ValueError, match=f"compares 5 runs at a time.* only {n_runs}:"):
        rank_systems(few, "spoerri")
    teams = {name: f"team{number % n_runs}" for number, name in enumerate(runs)}
    with pytest.raises(ValueError, match=f"compares 5 teams at a time.* only {n_runs}:"):
        rank_systems(runs, "spoerri", teams=teams)


def test_nruns_by_hand():
    runs = runs_of(one="abxy", two="bzaw", three="cdab")
    # Of eight documents 0.3 are 2: a and b, which all three return.
    expected = {"one": 1, "two": (1 / 1 + 2 / 3) / 2, "three": (1 / 3 + 2 / 4) / 2}
    found = rank_systems(runs)["ap"]
    assert found.to_dict() == pytest.approx(expected)
    assert list(found.index) == list(expected)
    assert found.index.name == "run"


@pytest.mark.slow
@pytest.mark.parametrize("method", thinned(PSEUDO, parts=2))
def test_the_same_as_runs_evaluated_against_the_judgments(method):
    runs, _ = few_runs(7, n_queries=2)
    params = {"depth": 5, "n_trials": 2, "random_state": 0}
    measures = ["ndcg", "bpref", "judged@3"]
    found = rank_systems(runs, method, measure=measures, **params)
    qrels = pseudo_qrels(runs, method, **params)
    trials = [qrels] if method != "soboroff" else [rows for _, rows in qrels.groupby("trial")]
    tables = [table[["qid", "docno", "label"]] for table in trials]
    values = [evaluate_runs(table, runs, measures).per_query for table in tables]
    expected = (sum(values) / len(trials)).groupby("run").mean()
    pd.testing.assert_frame_equal(found.sort_index(), expected)
    assert list(found.index) == list(expected.sort_values("ndcg", ascending=False).index)


def test_lists_are_measured_to_their_end():
    runs = runs_of(one="ab", two="ab", late="xyzvwa")
    # The pool of depth 2 is a, b, x, y, of which b and a (0.5) are relevant; late has a at 6.
    found = rank_systems(runs, depth=2, share=0.5)["ap"]
    assert found["late"] == pytest.approx((1 / 6) / 2)


def test_lower_is_better_of_some_measures():
    runs = runs_of(one="ab", two="ab", late="xyab")
    found = rank_systems(runs, measure="search_length(n_items=100)", share=0.5)
    assert list(found.index) == ["one", "two", "late"]
    values = found.iloc[:, 0].to_numpy()
    assert values[0] == values[1] < values[2]


def test_equal_systems_go_by_name():
    runs = runs_of(d="ab", a="ab", c="ab", b="xy")
    for method in ("nruns", "aslam"):
        assert list(rank_systems(runs, method, random_state=0).index) == ["a", "c", "d", "b"]


# The others go by pseudo_qrels, which has such a test of all.
@pytest.mark.slow
@pytest.mark.parametrize("method", ["aslam", "spoerri"])
def test_what_must_not_change_it(method):
    """Of those that do not go by `pseudo_qrels`."""
    runs, _ = few_runs(8, n_queries=2)
    expected = rank_systems(runs, method, depth=10, random_state=0)
    # Other names of queries and documents, rows in another order, and runs too where nothing is
    # drawn, all at once.
    is_drawn = method == "spoerri"
    renamed = {
        name: runs[name]
        .assign(docno="new" + runs[name]["docno"], qid="9" + runs[name]["qid"])
        .sample(frac=1, random_state=0)
        for name in (runs if is_drawn else reversed(runs))
    }
    again = rank_systems(renamed, method, depth=10, random_state=0)
    pd.testing.assert_frame_equal(again, expected)
    table = rank_table(runs).sample(frac=1, random_state=0)
    again = rank_systems(table, method, depth=10, random_state=0)
    pd.testing.assert_frame_equal(again, expected)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["nruns", "aslam", "spoerri"])
def test_one_run_of_each_team(method):
    runs, _ = few_runs(10, n_runs=7, n_queries=2)
    teams = {name: f"team {min(int(name[-1]), 4)}" for name in runs}
    found = rank_systems(runs, method, teams=teams, random_state=0)
    first = {name: runs[name] for name in sorted(runs)[:5]}
    expected = rank_systems(first, method, random_state=0)
    pd.testing.assert_frame_equal(found.drop(columns="team"), expected)
    assert list(found["team"]) == [teams[name] for name in expected.index]
    assert found.columns[0] == "team"


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"method": "borda"}, "method must be one of 'nruns'.*'spoerri'"),
        ({"measure": "mapp"}, "mapp"),
        ({"measure": []}, "measures is empty"),
        ({"share": 1.5}, "share must be"),
        ({"depth": -1}, "depth must be"),
        ({"method": "aslam", "n_trials": 0}, "n_trials must be"),
        ({"teams": {}}, "no team for 5 of 5 runs"),
    ],
)
def test_bad_parameters(params, message):
    runs, _ = few_runs(0)
    with pytest.raises(ValueError, match=message):
        rank_systems(runs, **params)


def test_bad_runs():
    with pytest.raises(ValueError, match="at least 2, got 1 run"):
        rank_systems(runs_of(one="ab"))
    with pytest.raises(ValueError, match="no query in common"):
        rank_systems(runs_of(**{name: {name: "ab"} for name in "abcde"}))
    with pytest.raises(ValueError, match="'b' holds document 'a' twice in query '1'"):
        rank_systems(runs_of(a="ab", b="aa", c="a", d="a", e="a"))


def test_queries_outside_the_pool_of_the_biased_half_do_not_count():
    runs = runs_of(
        near1={"1": "aby", "2": "a"}, near2={"1": "abd", "2": "a"}, far1={"1": "x"}, far2={"1": "y"}
    )
    # Of x and y one is relevant, the greater id; query 2 has no pool.
    found = rank_systems(runs, "bias+condorcet")["ap"]
    assert found.to_dict() == {"far2": 1, "near1": 1 / 3, "far1": 0, "near2": 0}


@pytest.mark.parametrize("name", ["measure", "share", "n_relevant"])
def test_what_makes_no_judgments_refuses_how_to_make_them(name):
    value = "rr" if name == "measure" else 1
    with pytest.raises(ValueError, match=f"{name}={value!r} has no effect for method='aslam'"):
        rank_systems(runs_of(one="ab", two="ba"), "aslam", **{name: value})

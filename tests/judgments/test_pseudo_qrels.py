"""Judgments that nobody made: by hand, against loops, and what must not change them."""

from contextlib import nullcontext
from fractions import Fraction
from itertools import permutations
from math import sqrt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooled_runs import few_runs, random_runs, run_of, runs_of
from profiles import times
from skfilterrank.exceptions import DataWarning, InputError
from skfilterrank.judgments import pseudo_qrels, rank_systems, rank_table
from skfilterrank.judgments._pseudo_qrels import condorcet_counts, most_biased, run_bias

METHODS = ["nruns", "sakai", "condorcet", "bias+condorcet", "soboroff"]
# Six documents of which a is in three runs, b and c in two, and x, y, z in one.
SIX = runs_of(one="abcx", two="cay", three="zab")


def relevant(qrels, qid="1"):
    """Return relevant documents of a query as one word."""
    rows = qrels[(qrels["qid"] == qid) & (qrels["label"] == 1)]
    return "".join(sorted(rows["docno"]))


def share_of(share, size):
    """Round half up with exact numbers; return at least 1."""
    return max(int(Fraction(str(share)) * size + Fraction(1, 2)), 1)


def selected(keys, share):
    """Return the documents with the smallest keys; of equal ones the greater id."""
    order = sorted(sorted(keys, reverse=True), key=keys.get)
    return set(order[: share_of(share, len(keys))])


def by_loops(lists, method, depth, share):
    """Return relevant pairs, by the letter of the paper."""
    found = set()
    for query in {query for queries in lists.values() for query in queries}:
        cut = [list(queries.get(query, ()))[:depth] for queries in lists.values()]
        pool = {docno for run in cut for docno in run}
        keys = {}
        for docno in pool:
            ranks = [run.index(docno) + 1 for run in cut if docno in run]
            if method == "nruns":
                keys[docno] = -len(ranks)
            elif method == "sakai":
                keys[docno] = -(len(ranks) + Fraction(1, sum(ranks)))
            else:
                wins = sum(len(pool) - rank for rank in ranks)
                losses = sum(rank - 1 for rank in ranks)
                losses += sum(len(run) for run in cut if docno not in run)
                keys[docno] = (-wins, losses)
        found |= {(query, docno) for docno in selected(keys, share)}
    return found


def pairs(qrels):
    rows = qrels[qrels["label"] == 1]
    return set(zip(rows["qid"], rows["docno"]))


def test_nruns_by_hand():
    # 0.3 of 6 documents is 1.8: a, then the greater id of b and c.
    assert relevant(pseudo_qrels(SIX)) == "ac"
    assert relevant(pseudo_qrels(SIX, share=0.5)) == "abc"


@pytest.mark.slow
def test_a_number_of_documents_in_place_of_a_share():
    text = r"n_relevant=\d+ makes all documents of the pool relevant for 1 of 1 query.* the 6 doc"
    for n_relevant, expected in ((1, "a"), (3, "abc"), (6, "abcxyz"), (100, "abcxyz")):
        heard = pytest.warns(DataWarning, match=text) if n_relevant >= 6 else nullcontext()
        with heard:
            found = pseudo_qrels(SIX, n_relevant=n_relevant)
        assert relevant(found) == expected
        assert len(found) == 6
    runs, _ = few_runs(3)
    for method in ("sakai", "soboroff"):
        found = pseudo_qrels(runs, method, n_relevant=2, random_state=0)
        n_relevant = found.groupby([c for c in ("trial", "qid") if c in found])["label"].sum()
        assert set(n_relevant) <= ({1, 2} if method == "soboroff" else {2})
    values = rank_systems(runs, method, n_relevant=2, random_state=0)
    assert not values.equals(rank_systems(runs, method, share=1.0, random_state=0))
    for function in (pseudo_qrels, rank_systems):
        with pytest.raises(InputError, match="both determine the number of relevant documents"):
            function(runs, share=0.3, n_relevant=2)
        with pytest.raises(InputError, match="n_relevant must be a whole number from 1 up"):
            function(runs, n_relevant=0)


def test_a_number_for_each_query():
    runs = {name: pd.concat([run, run.assign(qid="2")]) for name, run in SIX.items()}
    for method in ("nruns", "condorcet"):
        found = pseudo_qrels(runs, method, n_relevant={"1": 1, 2: 3})
        assert found.groupby("qid")["label"].sum().to_dict() == {"1": 1, "2": 3}
    with pytest.raises(InputError, match="n_relevant lacks 1 query of the runs, such as '2'"):
        pseudo_qrels(runs, n_relevant=pd.Series({"1": 1}))
    with pytest.raises(InputError, match="n_relevant must be a whole number from 0 up, got -1"):
        pseudo_qrels(runs, n_relevant={"1": -1, "2": 1})


def test_soboroffs_numbers_are_drawn_by_mean_and_deviation():
    """Every entry of the pool is a document of its own."""
    run = pd.DataFrame({"qid": "1", "docno": [f"d{i:03}" for i in range(90)], "score": 1.0})
    other = pd.DataFrame({"qid": "1", "docno": ["e"], "score": [1.0]})
    pool = {"depth": None, "n_trials": 100, "random_state": 0}
    found = pseudo_qrels({"a": run, "b": other}, "soboroff", n_relevant=(30, 5), **pool)
    numbers = found.groupby("trial")["label"].sum()
    assert abs(numbers.mean() - 30) < 1
    assert abs(numbers.std() - 5) < 0.6
    # Without a spread the number is that of the mean; it is at least 1.
    for mean, expected in ((7.5, {8}), (0.2, {1})):
        few = pool | {"n_trials": 20}
        found = pseudo_qrels({"a": run, "b": other}, "soboroff", n_relevant=(mean, 0), **few)
        assert set(found.groupby("trial")["label"].sum()) == expected
    with pytest.raises(InputError, match=r"must be \(mean, standard deviation\) for method='sobo"):
        pseudo_qrels({"a": run, "b": other}, n_relevant=(30, 5))


def test_sakai_by_hand():
    # In two runs each: b at 2 + 3, c at 3 + 1.
    assert relevant(pseudo_qrels(SIX, "sakai")) == "ac"
    swapped = runs_of(one="acbx", two="bay", three="zac")
    # b at 3 + 1, c at 2 + 3.
    assert relevant(pseudo_qrels(swapped, "sakai")) == "ab"


def test_condorcet_prefers_one_first_place_to_two_last_ones():
    # With ranks to n = 4 and n' = 2 runs in a pool of N = 7 < (4 * 2 - 1) / (2 - 1) documents, d
    # at the end of two runs wins 2 (N - 4), e at the head of one N - 1.
    runs = runs_of(one="abcd", two="abcd", three="efg")
    table = rank_table(runs)
    assert len(table) == 7
    # Below a (2 * 6) and b (2 * 5) there are c with 2 * 4, and then e with 6, d with 6: the latter
    # loses 3 + 3 + 3 times, e 0 + 4 + 4 times.
    assert relevant(pseudo_qrels(runs, "condorcet", share=4 / 7)) == "abce"
    assert relevant(pseudo_qrels(runs, "nruns", share=4 / 7)) == "abcd"


def test_bias_keeps_the_pool_of_the_biased_half():
    runs = runs_of(b="xyz", a="xyw", c="pq", d="xy")
    # c is far from all others; a and b are as far as each other, and a comes first.
    assert most_biased(rank_table(runs)) == ["a", "c"]
    qrels = pseudo_qrels(runs, "bias+condorcet")
    pd.testing.assert_frame_equal(
        qrels, pseudo_qrels({"a": runs["a"], "c": runs["c"]}, "condorcet")
    )
    assert set(qrels["docno"]) == set("xywpq")


@pytest.mark.slow
@times(0.5)
@given(
    seed=st.integers(0, 10_000),
    method=st.sampled_from(["nruns", "sakai", "condorcet"]),
    depth=st.sampled_from([1, 3, 30]),
    share=st.sampled_from([0.1, 0.25, 0.3, 0.5, 1.0]),
)
def test_the_same_as_loops(seed, method, depth, share):
    runs, lists = few_runs(seed)
    qrels = pseudo_qrels(runs, method, depth=depth, share=share, random_state=0)
    assert pairs(qrels) == by_loops(lists, method, depth, share)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_form(method):
    runs, _ = few_runs(1)
    qrels = pseudo_qrels(runs, method, random_state=0)
    columns = ["qid", "docno", "label", "trial"]
    assert list(qrels) == (columns if method == "soboroff" else columns[:3])
    assert qrels["label"].dtype == np.int64
    assert set(qrels["label"]) == {0, 1}
    trials = qrels.groupby("trial") if method == "soboroff" else [(0, qrels)]
    for _, table in trials:
        pd.testing.assert_frame_equal(
            table.sort_values(["qid", "docno"]), table, check_index_type=False
        )
        assert not table.duplicated(["qid", "docno"]).any()
        if method != "bias+condorcet":
            assert len(table) == len(rank_table(runs, depth=30))
    assert (qrels.groupby("qid")["label"].max() == 1).all()


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_what_must_not_change_it(method):
    runs, _ = few_runs(2, n_queries=2)
    expected = pseudo_qrels(runs, method, depth=10, random_state=0)
    shuffled = {
        name: run.assign(score=np.exp(run["score"])).sample(frac=1, random_state=0)
        for name, run in runs.items()
    }
    others = [rank_table(shuffled).sample(frac=1, random_state=0)]
    for other in others if method != "sakai" else [shuffled, *others]:
        again = pseudo_qrels(other, method, depth=10, random_state=0)
        pd.testing.assert_frame_equal(again, expected)
    if method != "soboroff":
        renamed = {f"x{name}": runs[name] for name in reversed(runs)}
        pd.testing.assert_frame_equal(
            pseudo_qrels(renamed, method, depth=10, random_state=0), expected
        )


def test_depth():
    runs = runs_of(one="abcd", two="bacd", three="abdc")
    assert sorted(pseudo_qrels(runs, depth=2)["docno"]) == ["a", "b"]
    assert len(pseudo_qrels(runs, depth=None)) == 4


@pytest.mark.parametrize(("size", "n_relevant"), [(1, 1), (5, 2), (15, 5), (25, 8), (205, 62)])
def test_half_a_document_is_rounded_up(size, n_relevant):
    # 0.3 times 5, 15, 25 and 205 are 1.5, 4.5, 7.5 and 61.5.
    runs = {name: run_of({"1": [f"{n:03d}" for n in range(size)]}) for name in "ab"}
    assert pseudo_qrels(runs, depth=None)["label"].sum() == n_relevant


def test_random_ties_are_seeded_and_leave_the_order_alone():
    documents = [f"{number:03d}" for number in range(100)]
    runs = {
        "one": run_of({"1": [*documents, "most"]}),
        "two": run_of({"1": ["most", *documents]}),
        "three": run_of({"1": ["most"]}),
    }
    first, again, other = (
        pseudo_qrels(runs, depth=None, ties="random", random_state=seed) for seed in (0, 0, 1)
    )
    pd.testing.assert_frame_equal(first, again)
    assert pairs(first) != pairs(other)
    for qrels in (first, other):
        assert ("1", "most") in pairs(qrels)
        assert qrels["label"].sum() == 30
    greatest = pseudo_qrels(runs, depth=None)
    assert pairs(greatest) == {("1", f"{number:03d}") for number in range(71, 100)} | {
        ("1", "most")
    }


@pytest.mark.slow
def test_drawn_documents():
    # 10 runs return p; 10 others one document each: 20 entries, of which 0.1 are drawn.
    lists = {f"p{number}": "p" for number in range(10)}
    lists |= {f"o{number}": ["pabcdefghi"[number]] for number in range(1, 10)} | {"o0": ["z"]}
    runs = {name: run_of({"1": list(docnos)}) for name, docnos in lists.items()}
    runs = {name: pd.concat([run, run_of({"2": "x"})]) for name, run in runs.items()}
    n_trials = 150
    qrels = pseudo_qrels(runs, "soboroff", n_trials=n_trials, random_state=0)
    qrels = qrels[qrels["qid"] == "1"]
    table = qrels.pivot_table(index="trial", columns="docno", values="label")
    assert set(table.sum(axis=1)) == {1, 2}
    # p is missed where both entries come from the other ten; two draws of p are one document.
    missed, twice = (10 / 20) * (9 / 19), (10 / 20) * (9 / 19)
    assert table["p"].mean() == pytest.approx(1 - missed, abs=4 * np.sqrt(0.25 / n_trials))
    is_alone = table.sum(axis=1) == 1
    assert is_alone.mean() == pytest.approx(twice, abs=4 * np.sqrt(0.25 / n_trials))
    assert table["z"].mean() == pytest.approx(2 / 20, abs=4 * np.sqrt(0.1 / n_trials))


def test_drawing_all_entries_takes_all_documents():
    qrels = pseudo_qrels(SIX, "soboroff", share=1.0, n_trials=2, random_state=0)
    assert (qrels["label"] == 1).all()
    assert list(qrels["trial"]) == [0] * 6 + [1] * 6


def test_one_run_of_each_team():
    runs = runs_of(b="xy", a="xz", d="pq", c="xq")
    teams = {"a": "one", "b": "one", "c": "two", "d": "two", "unknown": "three"}
    expected = pseudo_qrels({name: runs[name] for name in "ac"})
    pd.testing.assert_frame_equal(pseudo_qrels(runs, teams=teams), expected)
    pd.testing.assert_frame_equal(pseudo_qrels(runs, teams=pd.Series(teams)), expected)
    pd.testing.assert_frame_equal(pseudo_qrels(rank_table(runs), teams=teams), expected)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"method": "borda"}, "method must be one of 'nruns'"),
        ({"method": "aslam"}, "method must be one of 'nruns'"),
        ({"share": 0}, "share must be a finite number above 0 and up to 1, got 0"),
        ({"share": 30}, "share must be a finite number above 0 and up to 1, got 30"),
        ({"share": np.nan}, "share must be .* got nan"),
        ({"share": True}, "share must be .* got True"),
        ({"depth": 0}, "depth must be None or a whole number from 1 up, got 0"),
        ({"n_trials": 0}, "n_trials must be a whole number from 1 up, got 0"),
        ({"n_trials": 2.5}, "n_trials must be a whole number from 1 up, got 2.5"),
        ({"ties": "worst"}, "ties must be one of 'docno', 'random'"),
        ({"teams": {"one": "t", "two": "t"}}, r"no team for 1 of 3 runs \('three'\)"),
        ({"teams": {"one": "t", "two": "t", "three": np.nan}}, "no team for 1 of 3"),
        ({"teams": dict.fromkeys(SIX, "t")}, "of different teams.*3 runs of one team"),
        ({"teams": ["t", "u", "v"]}, "teams must be a dict or Series"),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        pseudo_qrels(SIX, **params)


def test_a_table_of_runs_without_common_queries():
    table = rank_table(runs_of(one={"1": "a", "2": "a"}, two={"1": "b"}, three={"2": "b"}))
    with pytest.raises(ValueError, match=r"2 of 2 runs \(two, three\) have no query in common"):
        pseudo_qrels(table[["two", "three"]])
    with pytest.raises(ValueError, match=r"2 of 2 runs \(one, none\)"):
        pseudo_qrels(table[["one"]].assign(none=np.nan))


def counts(table):
    wins, losses = condorcet_counts(table)
    return {pair: (int(won), int(lost)) for pair, won, lost in zip(table.index, wins, losses)}


def pairwise(lists, depth):
    """Compare every pair of documents of a query in every run."""
    found = {}
    for query in sorted({query for queries in lists.values() for query in queries}):
        cut = [list(queries.get(query, ()))[:depth] for queries in lists.values()]
        pool = sorted({docno for run in cut for docno in run})
        totals = {docno: [0, 0] for docno in pool}
        for one, other in permutations(pool, 2):
            for run in cut:
                if one in run and (other not in run or run.index(one) < run.index(other)):
                    totals[one][0] += 1
                    totals[other][1] += 1
        found |= {(query, docno): tuple(total) for docno, total in totals.items()}
    return found


def test_by_hand():
    table = rank_table(runs_of(one="ab", two="cab"))
    # The pool is a, b, c. Run one: a wins against b and c, b against c. Run two: c wins against a
    # and b, a against b.
    assert counts(table) == {
        ("1", "a"): (2 + 1, 0 + 1),
        ("1", "b"): (1 + 0, 1 + 2),
        ("1", "c"): (0 + 2, 2 + 0),
    }


@pytest.mark.slow
@given(seed=st.integers(0, 10_000), depth=st.sampled_from([1, 3, 10, None]))
def test_the_same_as_all_pairs(seed, depth):
    runs, lists = random_runs(seed, n_runs=5)
    assert counts(rank_table(runs, depth=depth)) == pairwise(lists, depth)


def test_a_table_that_lost_rows():
    # b is gone: of run one a and c are left, at ranks 1 and 3.
    table = rank_table(runs_of(one="abc", two="ca")).drop(("1", "b"))
    assert counts(table) == {("1", "a"): (1, 1), ("1", "c"): (1, 1)}


def test_bias_by_hand():
    table = rank_table(runs_of(one={"1": "ab", "2": "a"}, two={"1": "b", "2": "c"}))
    # Coordinates a, b, c, where a has 1/1 of query 1 and 1/1 of query 2 in run one.
    one, two, total = np.array([2, 1 / 2, 0]), np.array([0, 1, 1]), np.array([2, 3 / 2, 1])
    length = sqrt(4 + 9 / 4 + 1)
    expected = {
        "one": 1 - one @ total / (sqrt(4 + 1 / 4) * length),
        "two": 1 - two @ total / (sqrt(1 + 1) * length),
    }
    assert run_bias(table).to_dict() == pytest.approx(expected)
    assert most_biased(table) == ["two"]


@pytest.mark.slow
@given(seed=st.integers(0, 10_000))
def test_bias_is_that_of_a_loop(seed):
    runs, lists = random_runs(seed, n_runs=4)
    documents = sorted(
        {d for queries in lists.values() for docnos in queries.values() for d in docnos}
    )
    responses = {}
    for name, queries in lists.items():
        responses[name] = np.zeros(len(documents))
        for docnos in queries.values():
            for rank, docno in enumerate(docnos[:5], start=1):
                responses[name][documents.index(docno)] += 5 / rank
    total = sum(responses.values())
    expected = {
        name: 1 - own @ total / (np.linalg.norm(own) * np.linalg.norm(total))
        for name, own in responses.items()
    }
    assert run_bias(rank_table(runs, depth=5)).to_dict() == pytest.approx(expected)


def test_half_of_the_runs_is_rounded_up_and_ties_go_by_name():
    # c is alone with its document; a and b are the same run.
    runs = runs_of(b="xyz", a="xyz", c="pq")
    assert most_biased(rank_table(runs)) == ["a", "c"]
    assert most_biased(rank_table(runs_of(d="x", c="x", b="x", a="x"))) == ["a", "b"]


def test_a_run_that_returns_nothing_is_as_biased_as_can_be():
    table = rank_table(runs_of(one="ab", two="ab")).assign(none=np.nan)
    assert run_bias(table)["none"] == 1

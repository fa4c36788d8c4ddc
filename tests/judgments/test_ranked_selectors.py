import functools
import pickle
from collections import Counter
from math import comb, factorial, floor, log

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from pooled_runs import run_of
from profiles import times
from selections import budget, mask
from skfilterrank.judgments import (
    PoolingSelector,
    PriorSelector,
    RandomSelector,
    StatAPSelector,
    rank_table,
    statap_prior,
)
from skfilterrank.judgments._ranked_selectors import draw_probability
from skfilterrank.metrics import average_precision_score, stat_ap_score

NAN = np.nan


def table(rows, queries=None):
    queries = ["1"] * len(rows) if queries is None else queries
    index = pd.MultiIndex.from_arrays(
        [queries, [f"d{row}" for row in range(len(rows))]], names=["qid", "docno"]
    )
    return pd.DataFrame(rows, index=index, columns=[f"r{i}" for i in range(len(rows[0]))])


def by_letter(ranks):
    """Order of one query's rows: a dictionary of lists, no arrays."""
    n_runs = len(ranks[0])
    last = [
        max((row[run] for row in ranks if not np.isnan(row[run])), default=0)
        for run in range(n_runs)
    ]

    def key(row):
        returned = [rank for rank in ranks[row] if not np.isnan(rank)]
        counted = [last[run] + 1 if np.isnan(rank) else rank for run, rank in enumerate(ranks[row])]
        return (min(returned, default=np.inf), sum(counted) / n_runs, row)

    return sorted(range(len(ranks)), key=key)


def test_pooling_by_hand():
    # r0 returns 3 documents and r1 2, so that what they do not return counts 4 and 3.
    ranks = table(
        [
            [3.0, NAN],  # best 3
            [NAN, 1.0],  # best 1, mean (4 + 1) / 2
            [1.0, 2.0],  # best 1, mean (1 + 2) / 2
            [2.0, NAN],  # best 2
            [NAN, NAN],  # nobody returns it
        ]
    )
    selector = PoolingSelector().fit(ranks)
    assert selector.ranking_.tolist() == [4, 2, 1, 3, 5]
    assert np.isnan(selector.gains_).all()
    assert selector.best_rank_.tolist() == [3.0, 1.0, 1.0, 2.0, np.inf]
    assert selector.n_features_in_ == 2
    assert selector.feature_names_in_.tolist() == ["r0", "r1"]
    assert selector.pool_.equals(ranks.index)


@st.composite
def rank_tables(draw):
    """Draw ranks of a few runs in two queries, each run a shuffled part of the documents."""
    n_runs, parts, queries = draw(st.integers(1, 4)), [], []
    for query in ("a", "b"):
        n_rows = draw(st.integers(1, 8))
        ranks = np.full((n_rows, n_runs), NAN)
        for run in range(n_runs):
            returned = draw(st.permutations(range(n_rows)))[: draw(st.integers(0, n_rows))]
            ranks[returned, run] = np.arange(1, len(returned) + 1)
        parts.append(ranks)
        queries += [query] * n_rows
    return parts, queries


@pytest.mark.slow
@times(0.5)
@given(rank_tables())
def test_pooling_by_the_letter(drawn):
    parts, queries = drawn
    selector = PoolingSelector().fit(table(np.concatenate(parts), queries))
    offset = 0
    for ranks in parts:
        order = by_letter(ranks.tolist())
        own = selector.ranking_[offset : offset + len(ranks)]
        assert own[order].tolist() == list(range(1, len(ranks) + 1))
        offset += len(ranks)


@pytest.mark.slow
@times(0.5)
@given(rank_tables(), st.integers(1, 8), st.permutations(range(4)))
def test_pools_of_a_depth(drawn, depth, columns):
    parts, queries = drawn
    ranks = table(np.concatenate(parts), queries)
    selector = PoolingSelector(depth=depth).fit(ranks)
    within = (ranks <= depth).any(axis=1).to_numpy()
    np.testing.assert_array_equal(mask(selector), within)
    # The pool comes before everything deeper, and the order of the runs does not matter.
    for query in ("a", "b"):
        own = np.array(queries) == query
        assert (selector.ranking_[own & within] <= within[own].sum()).all()
    swapped = PoolingSelector().fit(ranks.iloc[:, [c for c in columns if c < ranks.shape[1]]])
    np.testing.assert_array_equal(swapped.ranking_, selector.ranking_)
    assert mask(swapped).all()


def test_runs_are_as_good_as_their_table():
    runs = {
        "a": pd.DataFrame({"qid": [1, 1, 2], "docno": ["x", "y", "x"], "score": [3.0, 2.0, 1.0]}),
        "b": pd.DataFrame({"qid": [1, 2, 2], "docno": ["z", "x", "y"], "score": [3.0, 2.0, 1.0]}),
    }
    ranks = rank_table(runs)
    by_runs, by_table = PoolingSelector(depth=1).fit(runs), PoolingSelector(depth=1).fit(ranks)
    np.testing.assert_array_equal(by_runs.ranking_, by_table.ranking_)
    assert by_runs.pool_.equals(ranks.index)
    assert mask(by_runs).tolist() == [True, False, True, True, False]


def test_groups_that_contradict_the_index():
    ranks = table([[1.0], [2.0], [3.0]])
    with pytest.raises(ValueError, match="name different queries"):
        PoolingSelector().fit(ranks, groups=["a", "b", "b"])


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones((2, 2)), "X must be a rank table, or a dict"),
        (["a text"], "X must be a rank table, or a dict"),
        (pd.DataFrame({"r": [1.0]}), "index levels named 'qid' and 'docno'"),
        (table([[0.0]]), "whole numbers from 1 on"),
    ],
)
def test_bad_input(X, message):
    with pytest.raises(ValueError, match=message):
        PoolingSelector().fit(X)


def test_bad_depth():
    with pytest.raises(ValueError, match="depth must be None or a whole number from 1 up, got 0"):
        PoolingSelector(depth=0).fit(table([[1.0]]))


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from([0.0, 0.1, 2.0])), min_size=1))
def test_prior_first(rows):
    queries, prior = map(list, zip(*rows))
    selector = PriorSelector().fit(np.zeros(len(rows)), groups=queries, prior=prior)
    for query in set(queries):
        own = [row for row, other in enumerate(queries) if other == query]
        order = sorted(own, key=lambda row: (-prior[row], row))
        assert selector.ranking_[order].tolist() == list(range(1, len(own) + 1))
    assert selector.gains_.tolist() == prior


def test_prior_must_be_given():
    with pytest.raises(ValueError, match="prior is missing, and PriorSelector needs it"):
        PriorSelector().fit(["a"], groups=[1])


@pytest.mark.slow
def test_all_orders_are_equally_likely():
    n_queries = 400
    groups = np.repeat(np.arange(n_queries), 3)
    ranking = RandomSelector(random_state=0).fit(groups, groups=groups).ranking_
    counts = Counter(map(tuple, ranking.reshape(-1, 3).tolist()))
    assert len(counts) == factorial(3)
    assert stats.chisquare(list(counts.values())).pvalue > 0.001


@given(st.lists(st.sampled_from([-1, 0, 1, 2]), min_size=1, max_size=60), st.integers(0, 5))
@example([0, 0, 0, 1], 0)
def test_the_oracle_keeps_the_proportion_in_every_prefix(y, seed):
    n = len(y)
    selector = RandomSelector(oracle=True, random_state=seed)
    selector.fit(np.zeros(n), y, groups=["t"] * n)
    relevant = np.array(y) > 0
    for m in range(1, n + 1):
        n_relevant = relevant[selector.ranking_ <= m].sum()
        rounded = floor((2 * m * relevant.sum() + n) / (2 * n))
        assert n_relevant == max(rounded, min(relevant.sum(), 1))


@pytest.mark.slow
def test_the_oracle_is_random_within_both_kinds():
    n_queries = 400
    groups = np.repeat(np.arange(n_queries), 5)
    y = np.tile([1, 0, 1, 0, 0], n_queries)
    selector = RandomSelector(oracle=True, random_state=0).fit(groups, y, groups=groups)
    # 2 of 5 are relevant: the first one, whichever, and one other.
    taken = mask(selector, 2).reshape(-1, 5).sum(axis=0)
    assert taken.sum() == 2 * n_queries
    assert stats.chisquare(taken[[0, 2]]).pvalue > 0.001
    assert stats.chisquare(taken[[1, 3, 4]]).pvalue > 0.001
    assert taken[[0, 2]].sum() == n_queries


def test_the_oracle_reads_gains():
    y, groups = ["yes", "no", "yes", "no"], [1] * 4
    selector = RandomSelector(oracle=True, gains={"yes": 0.0, "no": 3.0}, random_state=0)
    first = selector.fit(y, y, groups=groups).ranking_ == 1
    assert np.array(y)[first].tolist() == ["no"]


def test_without_the_oracle_labels_do_not_matter():
    plain = RandomSelector(random_state=0).fit(np.zeros(9), groups=[1] * 9)
    given_labels = RandomSelector(random_state=0).fit(np.zeros(9), [np.nan] * 9, groups=[1] * 9)
    np.testing.assert_array_equal(plain.ranking_, given_labels.ranking_)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "y is missing: with oracle=True"),
        ([1, 0], "y has 2 labels but X has 3 rows"),
        ([1, np.nan, np.nan], "y has 2 NaN, the first at row 1: the true label of every"),
    ],
)
def test_the_oracle_needs_the_truth(y, message):
    with pytest.raises(ValueError, match=message):
        RandomSelector(oracle=True).fit(np.zeros(3), y, groups=[1] * 3)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [({"oracle": "yes"}, "oracle must be one of"), ({"gains": "log"}, "gains must be None")],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        RandomSelector(**parameters).fit(np.zeros(3), [1, 0, 1], groups=[1] * 3)


def shares(n):
    """Compute W(r) by its definition."""
    return [(1 + sum(1 / i for i in range(r, n + 1))) / (2 * n) for r in range(1, n + 1)]


def test_prior_by_hand():
    runs = {"a": run_of({"1": "xy", "2": "z"}), "b": run_of({"1": "yzw"})}
    prior = statap_prior(runs)
    expected = {
        # a: W(1) = 1/4 (1 + 1/1 + 1/2), W(2) = 1/4 (1 + 1/2).
        # b: W(1) = 1/6 (1 + 1/1 + 1/2 + 1/3), W(2) = 1/6 (1 + 1/2 + 1/3), W(3) = 1/6 (1 + 1/3).
        ("1", "w"): (4 / 3 / 6) / 2,
        ("1", "x"): (5 / 2 / 4) / 2,
        ("1", "y"): (3 / 2 / 4 + 17 / 6 / 6) / 2,
        ("1", "z"): (11 / 6 / 6) / 2,
        # b returns nothing for query 2: half of the walks end nowhere.
        ("2", "z"): 1 / 2,
    }
    assert prior.index.tolist() == list(expected)
    np.testing.assert_allclose(prior, list(expected.values()), rtol=1e-14)
    assert prior.name == "prior"
    pd.testing.assert_series_equal(statap_prior(rank_table(runs)), prior)


def test_exact_prior_is_the_chance_of_two_steps():
    """A uniform cut-off c, then half the time that document, half the time a uniform one above."""
    n = 6
    by_steps = np.zeros(n)
    for cut in range(1, n + 1):
        by_steps[cut - 1] += 0.5 / n
        by_steps[:cut] += 0.5 / n / cut
    np.testing.assert_allclose(statap_prior({"a": run_of({1: "abcdef"})}), by_steps)


@pytest.mark.parametrize("n", [1, 2, 7])
def test_approximate_prior_of_one_run(n):
    selector = StatAPSelector(form="approximate").fit({"a": run_of({1: "abcdefg"[:n]})})
    logs = [log(n / r) for r in range(1, n + 1)] if n > 1 else [1.0]
    np.testing.assert_allclose(selector.prior_, [each / sum(logs) for each in logs], atol=1e-14)


def test_prior_of_some_rows_is_that_of_all():
    table = rank_table({"a": run_of({1: "abcdef", 2: "ab"}), "b": run_of({1: "fegcba", 2: "bcd"})})
    prior = statap_prior(table)
    # The last documents of all lists stay, by which their lengths are known.
    rows = [0, 4, 5, 8, 10]
    cut = table.iloc[rows]
    assert cut.groupby("qid").max().equals(table.groupby("qid").max())
    pd.testing.assert_series_equal(statap_prior(cut), prior.iloc[rows])


def by_enumeration(weights, n_draws):
    """Compute inclusion probabilities by all outcomes of drawing buckets."""
    n = len(weights)
    if n_draws >= n:
        return [1.0] * n
    buckets = [weights[start : start + n_draws] for start in range(0, n, n_draws)]
    sums = np.array([sum(bucket) for bucket in buckets], dtype=float)
    sums /= sums.sum()
    expected = np.zeros(len(buckets))
    size = len(buckets[-1])
    for k in range(n_draws + 1):
        chance = comb(n_draws, k) * sums[-1] ** k * (1 - sums[-1]) ** (n_draws - k)
        expected[-1] += chance * min(k, size)
        expected[:-1] += chance * (n_draws - min(k, size)) * sums[:-1] / sums[:-1].sum()
    return [e / len(b) for e, b in zip(expected, buckets) for _ in b]


weights_of_a_query = st.lists(
    st.one_of(st.integers(1, 5).map(float), st.floats(1e-6, 1e3)), min_size=1, max_size=25
).map(lambda weights: sorted(weights, reverse=True))


@given(weights_of_a_query, st.integers(1, 12))
def test_inclusion_probabilities_by_enumeration(weights, n_draws):
    probability = draw_probability(np.array(weights), n_draws)
    np.testing.assert_allclose(probability, by_enumeration(weights, n_draws), rtol=1e-9)
    assert probability.sum() == pytest.approx(min(n_draws, len(weights)))
    assert (probability <= 1).all()


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from([0.0, 0.1, 0.5, 3.0, 1e308])),
        min_size=1,
        max_size=40,
    ),
    st.one_of(st.integers(1, 15), st.floats(0.05, 1.0)),
    st.integers(0, 9),
)
@pytest.mark.filterwarnings("ignore:n_per_query:UserWarning")
def test_samples(rows, n_per_query, seed):
    queries, prior = map(np.array, zip(*rows))
    selector = StatAPSelector(random_state=seed).fit(queries, groups=queries, prior=prior)
    selected, probability = (
        mask(selector, n_per_query),
        selector.inclusion_probability(**budget(n_per_query)),
    )
    np.testing.assert_array_equal(mask(selector, n_per_query), selected)
    assert ((probability >= 0) & (probability <= 1)).all()
    assert (probability[selected] > 0).all()
    assert selected[probability == 1].all()
    for query in set(queries):
        own = queries == query
        size = own.sum()
        if isinstance(n_per_query, int):
            assert selected[own].sum() == min(n_per_query, size)
        assert probability[own].sum() == pytest.approx(selected[own].sum())
        # A higher prior is never drawn less often.
        assert (np.diff(probability[own][np.argsort(-prior[own], kind="stable")]) <= 1e-12).all()


@functools.cache
def fitted_on_alike_queries(n_queries, pooled):
    lists = dict.fromkeys(range(n_queries), "abcdefghij")
    other = dict.fromkeys(range(n_queries), "jcd")
    table = rank_table({"a": run_of(lists), "b": run_of(other)})
    return StatAPSelector(pooled=pooled, random_state=0).fit(table)


@pytest.mark.slow
@pytest.mark.parametrize(("n_per_query", "pooled"), [(1, 0.0), (3, 0.4), (7, 0.0), (9, 0.4)])
def test_samples_come_as_often_as_they_say(n_per_query, pooled):
    n_queries = 150
    selector = fitted_on_alike_queries(n_queries, pooled)
    probability = selector.inclusion_probability(**budget(n_per_query)).reshape(n_queries, -1)
    assert (probability == probability[0]).all()
    seen = mask(selector, n_per_query).reshape(n_queries, -1).mean(axis=0)
    error = np.sqrt(probability[0] * (1 - probability[0]) / n_queries)
    assert (np.abs(seen - probability[0]) <= 4 * error).all()
    n_certain = int(pooled * n_per_query + 0.5)
    assert (probability[0] == 1).sum() >= n_certain


@pytest.mark.slow
def test_sums_over_samples_are_unbiased_and_stat_ap_comes_close():
    n_queries, n_documents, n_per_query = 300, 30, 10
    rng = np.random.default_rng(0)
    score = -np.arange(n_documents, dtype=float)
    truth = (rng.uniform(size=n_documents) < np.linspace(0.9, 0.1, n_documents)).astype(float)
    groups = np.repeat(np.arange(n_queries), n_documents)
    prior = np.tile(shares(n_documents), n_queries)
    selector = StatAPSelector(random_state=2).fit(groups, groups=groups, prior=prior)
    selected, probability = (
        mask(selector, n_per_query),
        selector.inclusion_probability(**budget(n_per_query)),
    )
    y = np.tile(truth, n_queries)
    estimates = np.where(selected, y / probability, 0).reshape(n_queries, -1).sum(axis=1)
    error = estimates.std() / np.sqrt(n_queries)
    assert abs(estimates.mean() - truth.sum()) < 4 * error
    # The plain sum over the sample is far off, as is AP that takes the rest as not relevant.
    assert abs((y * selected).sum() / n_queries - truth.sum()) > 20 * error
    expected = average_precision_score(truth, score, groups=np.zeros(n_documents))
    judged = np.where(selected, y, np.nan)
    scores = np.tile(score, n_queries)
    plain = average_precision_score(judged, scores, groups=groups)
    estimated = stat_ap_score(judged, scores, groups=groups, inclusion_probability=probability)
    assert abs(estimated - expected) < 0.05
    assert abs(plain - expected) > 0.2


@pytest.mark.slow
def test_order_of_successive_draws():
    # The first of the ranking is a single draw by the prior.
    n_queries = 400
    groups, weights = np.repeat(np.arange(n_queries), 4), np.array([0.5, 0.3, 0.2, 0.0])
    selector = StatAPSelector(random_state=0)
    selector.fit(groups, groups=groups, prior=np.tile(weights, n_queries))
    ranking = selector.ranking_.reshape(-1, 4)
    first = (ranking == 1).mean(axis=0)
    assert (np.abs(first - weights) <= 4 * np.sqrt(weights * (1 - weights) / n_queries)).all()
    assert (ranking[:, 3] == 4).all()
    # Given the first, the second is drawn from the others in proportion.
    second = (ranking[ranking[:, 0] == 1] == 2).mean(axis=0)
    np.testing.assert_allclose(second, [0, 0.6, 0.4, 0], atol=4 * np.sqrt(0.24 / (n_queries / 2)))


def test_a_part_of_the_budget_for_pooling():
    table = rank_table(
        {"a": run_of({1: "abcdefgh"}), "b": run_of({1: "hgfedcba"}), "c": run_of({1: "h"})}
    )
    selector = StatAPSelector(pooled=0.5, random_state=0).fit(table)
    probability = selector.inclusion_probability(**budget(4))
    pooled = mask(PoolingSelector().fit(table), 2)
    np.testing.assert_array_equal(probability == 1, pooled)
    assert mask(selector, 4)[pooled].all()
    assert probability.sum() == pytest.approx(4)
    everything = StatAPSelector(pooled=1.0).fit(table)
    np.testing.assert_array_equal(mask(everything, 4), mask(PoolingSelector().fit(table), 4))
    assert everything.inclusion_probability(**budget(4)).tolist() == mask(everything, 4).tolist()


def test_own_prior_is_that_of_the_runs():
    runs = {"a": run_of({1: "abcd", 2: "ef"}), "b": run_of({1: "dx", 2: "f"})}
    table = rank_table(runs)
    by_runs = StatAPSelector(random_state=0).fit(runs)
    by_table = StatAPSelector(random_state=0).fit(table)
    by_prior = StatAPSelector(random_state=0).fit(table, prior=statap_prior(table))
    for other in (by_table, by_prior, pickle.loads(pickle.dumps(by_runs))):
        np.testing.assert_array_equal(other.ranking_, by_runs.ranking_)
        np.testing.assert_array_equal(mask(other, 0.5), mask(by_runs, 0.5))
        np.testing.assert_array_equal(
            other.inclusion_probability(**budget(0.5)), by_runs.inclusion_probability(**budget(0.5))
        )
    np.testing.assert_allclose(by_runs.prior_, statap_prior(runs))


def test_what_is_never_drawn():
    # Two buckets of two, then one of prior 0.
    prior = [4.0, 3.0, 2.0, 1.0, 0.0]
    selector = StatAPSelector(random_state=0).fit(prior, groups=[1] * 5, prior=prior)
    np.testing.assert_allclose(
        selector.inclusion_probability(**budget(2)), [0.7, 0.7, 0.3, 0.3, 0.0]
    )
    # Priors that are all 0 say nothing.
    selector = StatAPSelector(random_state=0).fit(prior, groups=[1] * 5, prior=np.zeros(5))
    np.testing.assert_allclose(selector.inclusion_probability(**budget(2))[:4], 0.4, atol=0.05)


def test_budget_above_the_pool_warns_from_select_alone():
    selector = StatAPSelector(random_state=0).fit({"a": run_of({1: "ab", 2: "abcd"})})
    with pytest.warns(UserWarning, match="n_per_query=3 is above .* of 1 of 2 queries") as caught:
        selected = selector.select(n_per_query=3)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert selected[:2].tolist() == [0, 1]
    assert selector.inclusion_probability(**budget(3))[:2].tolist() == [1, 1]


@pytest.mark.parametrize(
    ("parameters", "X", "message"),
    [
        ({}, ["a text"], "prior is missing: pass prior=, or runs"),
        ({}, np.ones((3, 2)), "X is of type ndarray"),
        ({}, pd.DataFrame({"a": [1.0]}), "index levels named 'qid' and 'docno'"),
        (
            {"pooled": 1.5},
            {"a": run_of({1: "ab"})},
            "pooled must be .*from 0 up and up to 1, got 1.5",
        ),
        ({"pooled": True}, {"a": run_of({1: "ab"})}, "pooled must be a finite number"),
        ({"pooled": np.nan}, {"a": run_of({1: "ab"})}, "pooled must be a finite number"),
    ],
)
def test_bad_samples(parameters, X, message):
    with pytest.raises(ValueError, match=message):
        StatAPSelector(**parameters).fit(X)


def test_pooling_needs_runs():
    with pytest.raises(ValueError, match="X must be a rank table, or a dict"):
        StatAPSelector(pooled=0.5).fit(["a text"], groups=[1], prior=[1.0])


def test_the_pool_of_runs_is_known():
    runs = {"a": run_of({"1": "xyz", "2": "zw"}), "b": run_of({"1": "yzw"})}
    table = rank_table(runs)
    selector = StatAPSelector(random_state=0)
    assert selector.fit(runs).pool_.equals(table.index)
    assert selector.fit(table).pool_.equals(table.index)
    assert selector.fit(runs, prior=np.ones(len(table))).pool_.equals(table.index)
    assert selector.fit(np.zeros((2, 1)), groups=[1, 1], prior=[1, 2]).pool_ is None

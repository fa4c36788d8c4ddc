"""Every measure against a slow implementation that follows the definitions to the letter.

The reference knows lists and loops, no arrays. Ties are averaged by going through every order of
the tied documents.
"""

from itertools import permutations, product
from math import isnan, log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import skfilterrank.metrics
from skfilterrank._groups import GroupIndex
from skfilterrank.metrics._measure import MEASURES

NO = -np.inf


def dcg_of(gains, k):
    """Section 2 of the paper."""
    return sum(gain / log2(place + 1) for place, gain in enumerate(gains[:k], start=1))


def between(worst, achieved, ideal):
    """Equations 1 to 3; None where undefined."""
    return (achieved - worst) / (ideal - worst) if ideal > worst else None


def ndcg(shown, pool, k):
    return between(0, dcg_of(shown, k), dcg_of(sorted(pool, reverse=True), k))


def ndcg_0(shown, pool, k):
    return ndcg([max(gain, 0) for gain in shown], [max(gain, 0) for gain in pool], k)


def ndcg_min(shown, pool, k):
    ideal = dcg_of(sorted(pool, reverse=True), k)
    return between(dcg_of(sorted(pool), k), dcg_of(shown, k), ideal)


def ndcg_f(shown, pool, k):
    ideal = dcg_of(sorted((gain for gain in pool if gain >= 0), reverse=True), k)
    worst = dcg_of(sorted(gain for gain in pool if gain <= 0), k)
    return between(worst, dcg_of(shown, k), ideal)


def forbidden(shown, pool, k):
    top = shown[:k]
    return sum(gain < 0 for gain in top) / len(top) if top else None


def false_reject_rate(shown, pool, k):
    n_good = sum(gain > 0 for gain in pool)
    n_shown = sum(gain > 0 for gain in shown)
    return (n_good - n_shown) / n_good if n_good else None


def empty_list_rate(shown, pool, k):
    return 0.0 if shown else 1.0


def qwa(shown, pool, k):
    relevant = sorted((gain for gain in pool if gain > 0), reverse=True)
    terminal = sum(shown) / len(relevant) if relevant else 1.0
    length = len(shown) + 1
    return dcg_of([*shown, terminal], length) / dcg_of([*relevant, 1.0], length)


# shown: the gains of the returned list in order, unjudged as 0; pool: the gains of all judged.
REFERENCE = {
    "dcg": lambda shown, pool, k: dcg_of(shown, k),
    "ndcg": ndcg,
    "ndcg_0": ndcg_0,
    "ndcg_min": ndcg_min,
    "ndcg_f": ndcg_f,
    "forbidden": forbidden,
    "false_reject_rate": false_reject_rate,
    "empty_list_rate": empty_list_rate,
    "qwa": qwa,
}


def tied_orders(rows, ties):
    """Every order in which a list of (gain, score, position, id) may stand."""
    scores = sorted({score for _, score, *_ in rows}, reverse=True)
    tied = [[row for row in rows if row[1] == score] for score in scores]
    if ties == "average":
        choices = [list(permutations(tie)) for tie in tied]
    else:
        key, reverse = {
            "stable": (lambda row: row[2], False),
            "worst": (lambda row: row[0], False),
            "best": (lambda row: row[0], True),
            "ids": (lambda row: row[3], True),
        }[ties]
        choices = [[sorted(tie, key=key, reverse=reverse)] for tie in tied]
    for order in product(*choices):
        yield [row for tie in order for row in tie]


def reference_values(name, rows, *, k, ties, unjudged):
    """One value per query, in the order of the query ids; NaN where undefined.

    `rows` is a list of (query, label, score, id).
    """
    values = []
    for query in sorted({query for query, *_ in rows}):
        mine = [(gain, score, i, id) for i, (q, gain, score, id) in enumerate(rows) if q == query]
        pool = [gain for gain, *_ in mine if not isnan(gain)]
        if unjudged == "drop":
            mine = [row for row in mine if not isnan(row[0])]
        mine = [(0.0 if isnan(row[0]) else row[0], *row[1:]) for row in mine if row[1] > NO]
        each = [
            REFERENCE[name]([gain for gain, *_ in order], pool, k)
            for order in tied_orders(mine, ties)
        ]
        values.append(np.nan if None in each else sum(each) / len(each))
    return values


@st.composite
def judged_rows(draw):
    """Up to 4 queries of up to 5 rows, mixed up, with ties, filtered and unjudged rows."""
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    queries = draw(st.permutations([query for query, n in enumerate(sizes) for _ in range(n)]))
    label = st.sampled_from([-10.0, -1.0, -0.5, 0.0, 1.0, 1.0, 2.0, float("nan")])
    score = st.sampled_from([NO, -1.5, 0.0, 0.0, 1.0])
    ids = draw(st.permutations(range(len(queries))))
    return [(query, draw(label), draw(score), id) for query, id in zip(queries, ids)]


def test_the_reference_is_complete():
    assert set(REFERENCE) == set(MEASURES)
    for name, entry in MEASURES.items():
        assert getattr(skfilterrank.metrics, entry.function.__name__) is entry.function, name


@pytest.mark.parametrize("ties", ["average", "stable", "worst", "best", "ids"])
@pytest.mark.parametrize("name", sorted(REFERENCE))
@settings(max_examples=40)
@given(
    rows=judged_rows(),
    k=st.sampled_from([None, None, 1, 2, 3, 4, 50]),
    unjudged=st.sampled_from(["zero", "drop"]),
)
def test_every_measure(name, ties, rows, k, unjudged):
    groups, y_true, y_score, ids = zip(*rows)
    entry = MEASURES[name]
    params = {"k": k} if entry.takes_k else {}
    actual = entry.function(
        y_true,
        y_score,
        groups=groups,
        ties=list(ids) if ties == "ids" else ties,
        unjudged=unjudged,
        undefined="skip",
        average=None,
        **params,
    )
    expected = reference_values(name, rows, k=k, ties=ties, unjudged=unjudged)
    np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("ties", ["average", "stable", "worst", "best", "ids"])
@pytest.mark.parametrize("name", sorted(REFERENCE))
def test_long_lists_and_full_blocks(name, ties):
    """Queries of 1 to 1500 rows in several blocks, some with a tie of two."""
    rng = np.random.default_rng(5)
    sizes = [1, 1, 2, 3, 5, 8, 1500, 399, 250, *rng.integers(1, 60, 100)]
    groups = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    y_true = rng.choice([-1.0, 0.0, 1.0, 2.0, np.nan], len(groups))
    y_score = rng.permutation(len(groups)).astype(float)
    y_score[rng.random(len(groups)) < 0.2] = NO
    for query in (0, 6, 12):
        mine = np.flatnonzero(groups == query)
        y_score[mine[:2]] = 7e6
    ids = rng.permutation(len(groups))
    k = 10 if MEASURES[name].takes_k else None
    index = GroupIndex.from_groups(groups)
    assert len(list(index.blocks())) > 1
    actual = MEASURES[name].function(
        y_true,
        y_score,
        groups=groups,
        ties=ids if ties == "ids" else ties,
        undefined="skip",
        average=None,
        **({"k": k} if k else {}),
    )
    rows = list(zip(groups, y_true.tolist(), y_score.tolist(), ids))
    expected = reference_values(name, rows, k=k, ties=ties, unjudged="zero")
    np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-12)

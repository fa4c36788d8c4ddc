"""Every measure against a slow implementation that follows the definitions to the letter.

The reference knows lists and loops, no arrays. Ties are averaged by going through every order of
the tied documents.
"""

import sys
from itertools import permutations, product
from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from measure_table import MEASURES
from profiles import times
from reference import NONNEGATIVE, OF_THE_MEAN, REFERENCE, WORTH, Case
from skfilterrank._lists.queries import GroupIndex

# Every measure is given gains below 0 here.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*some gains are below 0", "ignore:queries without a judged"
)

NO = -np.inf


def rules(name):
    """What a measure does with ties."""
    return (*MEASURES[name].ties, "ids")


def worth(row):
    """Gain of a row, 0 where unjudged."""
    return 0.0 if isnan(row[0]) else row[0]


def tied_orders(rows, ties, name):
    """Every order in which a list of (gain, score, position, id) may stand."""
    own_worth = WORTH.get(name)
    key_of_gain = worth if own_worth is None else lambda row: own_worth(row[0])
    scores = sorted({score for _, score, *_ in rows}, reverse=True)
    tied = [[row for row in rows if row[1] == score] for score in scores]
    if ties == "average":
        choices = [list(permutations(tie)) for tie in tied]
    else:
        key, reverse = {
            "stable": (lambda row: row[2], False),
            "worst": (key_of_gain, False),
            "best": (key_of_gain, True),
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
        pool, n_rows = [gain for gain, *_ in mine if not isnan(gain)], len(mine)
        if unjudged == "drop" and not MEASURES[name].reads_unjudged:
            mine = [row for row in mine if not isnan(row[0])]
        shown = [row for row in mine if row[1] > NO]
        each = [
            REFERENCE[name](
                Case(
                    shown=[worth(row) for row in order],
                    pool=pool,
                    k=k,
                    labels=[gain for gain, *_ in order],
                    n_rows=n_rows,
                )
            )
            for order in tied_orders(shown, ties, name)
        ]
        value = None if None in each else sum(each) / len(each)
        if value is not None and name in OF_THE_MEAN:
            value = OF_THE_MEAN[name](value, Case([], pool, k, [], n_rows))
        values.append(np.nan if value is None else value)
    return values


def check_rows(name, rows, *, k, ties, unjudged):
    """Values of the measure are those of the reference."""
    groups, y_true, y_score, ids = zip(*rows)
    actual = MEASURES[name].per_query(
        y_true,
        y_score,
        groups=groups,
        ties=list(ids) if ties == "ids" else ties,
        unjudged=unjudged,
        undefined="drop",
        **({"k": k} if MEASURES[name].takes_k else {}),
    )
    expected = reference_values(name, rows, k=k, ties=ties, unjudged=unjudged)
    np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-12, err_msg=ties)


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
        assert any(each is entry for each in vars(sys.modules[entry.__module__]).values()), name


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(REFERENCE))
@times(1 / 3)
@given(
    rows=judged_rows(),
    k=st.sampled_from([None, None, 1, 2, 3, 4, 50]),
    unjudged=st.sampled_from(["zero", "drop"]),
)
def test_every_measure(name, rows, k, unjudged):
    if name in NONNEGATIVE:
        rows = [(query, abs(label), *rest) for query, label, *rest in rows]
    for ties in rules(name):
        check_rows(name, rows, k=k, ties=ties, unjudged=unjudged)


# Gains and scores of lists of every kind, a query each.
PLAIN = (
    ([2, 1, 0, -1], [3, 2, NO, NO]),  # the ideal list
    ([2, 1, 0], [3, 2, 1]),
    ([2, 1, 0, -1, -5], [NO, NO, NO, 1, 2]),  # the worst list
    ([2, 1, 0, -1], [1, 2, 3, 4]),
    ([1, -1], [NO, NO]),  # the empty list
    ([1, 0], [NO, NO]),
    ([-1, 0], [NO, NO]),
    ([2], [0.5]),
    ([-2], [0.5]),
    ([np.nan], [0.5]),
    ([np.nan, np.nan], [1, NO]),
    ([0, 0, 0], [3, 2, 1]),
    ([1, 1, 1], [1, 2, 3]),
    ([1, -1], [7, 7]),
)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(REFERENCE))
def test_plain_lists(name):
    rows = [
        (query, float(abs(label) if name in NONNEGATIVE else label), score, place)
        for query, (labels, scores) in enumerate(PLAIN)
        for place, (label, score) in enumerate(zip(labels, scores))
    ]
    ways = product((None, 1) if MEASURES[name].takes_k else (None,), MEASURES[name].ties)
    for (k, ties), unjudged in product(ways, ("zero", "drop")):
        check_rows(name, rows, k=k, ties=ties, unjudged=unjudged)


@pytest.fixture(scope="module")
def long_lists():
    """Queries of 1 to 250 rows in several blocks, some with a tie of two: labels, scores, ..."""
    rng = np.random.default_rng(5)
    sizes = [1, 1, 2, 3, 5, 8, 90, 250, *rng.integers(1, 25, 40)]
    groups = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    y_true = rng.choice([-1.0, 0.0, 1.0, 2.0, np.nan], len(groups))
    y_score = rng.permutation(len(groups)).astype(float)
    y_score[rng.random(len(groups)) < 0.2] = NO
    for query in (0, 6, 12):
        mine = np.flatnonzero(groups == query)
        y_score[mine[:2]] = 7e6
    ids = rng.permutation(len(groups))
    assert len(list(GroupIndex.from_groups(groups).blocks())) > 1
    return y_true, y_score, groups, ids


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(REFERENCE))
def test_long_lists_and_full_blocks(name, long_lists):
    y_true, y_score, groups, ids = long_lists
    if name in NONNEGATIVE:
        y_true = np.abs(y_true)
    k = 10 if MEASURES[name].takes_k else None
    rows = list(zip(groups.tolist(), y_true.tolist(), y_score.tolist(), ids.tolist()))
    each = {query: [row for row in rows if row[0] == query] for query in np.unique(groups)}
    expected = {}
    for ties in rules(name):
        # What is not tied has one order, whatever the rule.
        for query in (0, 6, 12) if expected else each:
            (expected[query],) = reference_values(
                name, each[query], k=k, ties=ties, unjudged="zero"
            )
        actual = MEASURES[name].per_query(
            y_true,
            y_score,
            groups=groups,
            ties=ids if ties == "ids" else ties,
            undefined="drop",
            **({"k": k} if k else {}),
        )
        in_order = [expected[query] for query in sorted(each)]
        np.testing.assert_allclose(actual, in_order, rtol=1e-9, atol=1e-12, err_msg=ties)

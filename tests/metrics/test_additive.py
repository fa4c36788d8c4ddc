"""Measures as sums over documents: the same number as the measure itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from line_searches import EXACT, allowed_gains
from measure_table import MEASURES
from profiles import times
from skfilterrank._lists.additive import BlockFacts, RowFacts
from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.metrics import _lexicographic as lexicographic
from skfilterrank.metrics import get_measure
from thinned import thinned

# Every measure is given gains below 0 here.
pytestmark = pytest.mark.filterwarnings("ignore:.*some gains are below 0")

NO = -np.inf


def value_of_sum(form, query, weights, relevant, scores):
    """The sum of one query, added up document by document."""
    order = np.argsort(-scores, kind="stable")
    n_shown = int((scores > NO).sum())
    found = order[:n_shown].tolist()
    places = list(range(1, n_shown + 1))
    if form.n_items is not None:
        # Relevant documents that are missing are the last of the collection.
        missing = [row for row in order[n_shown:] if relevant[row]]
        found += missing
        places += [int(form.n_items[query]) - i for i in reversed(range(len(missing)))]
    total, level = float(form.offset[query] if np.ndim(form.offset) else form.offset), 0
    for row, place in zip(found, places, strict=True):
        level += int(relevant[row])
        if weights[row]:
            levels = np.array([level]) if form.uses_levels else None
            worth = form.worth(np.array([place]), levels, np.array([query]))
            total += float(weights[row] * worth[0])
    return total if form.finish is None else form.finish(np.array([total]), np.array([query]))[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", thinned(EXACT, parts=2))
@times(1 / 3)
@given(data=st.data())
def test_sum_is_the_measure(name, data):
    """Whatever the order of the documents, and with some of them hidden."""
    parsed = get_measure(name)
    n = data.draw(st.integers(1, 14), label="n")
    gain, query = st.sampled_from(allowed_gains(name)), st.integers(0, 2)
    gains = np.array(data.draw(st.lists(gain, min_size=n, max_size=n), label="gains"))
    groups = data.draw(st.lists(query, min_size=n, max_size=n), label="groups")
    scores = np.array(data.draw(st.permutations(range(n)), label="scores"), dtype=float)
    index = GroupIndex.from_groups(groups)
    form = parsed.as_sum(RowFacts(parsed, gains, index))
    assert form.k == parsed.k
    if not form.by_shown:
        is_shown = data.draw(st.lists(st.booleans(), min_size=n, max_size=n), label="is_shown")
        scores[~np.array(is_shown)] = NO
    cutoff = {"k": parsed.k} if parsed.measure.takes_k else {}
    expected = parsed.measure.per_query(
        gains, scores, groups=groups, undefined="drop", **cutoff, **parsed.options
    )
    if form.is_defined is not None:
        np.testing.assert_array_equal(form.is_defined, ~np.isnan(expected))
    expected = pytest.approx(np.nan_to_num(expected), rel=1e-9, abs=1e-12)
    mine = [index.codes() == query for query in range(index.n_queries)]
    assert expected == [
        value_of_sum(form, query, form.weights[rows], gains[rows] > 0, scores[rows])
        for query, rows in enumerate(mine)
    ]
    # Made from a block of queries, the weights are a matrix.
    (block,) = RankedLists(gains, scores, groups=index).blocks()
    form = parsed.as_sum(BlockFacts(parsed, block))
    weights = np.broadcast_to(form.weights, block.gains.shape)
    values = [
        value_of_sum(form, query, weights[query], block.gains[query] > 0, -block.sort_key[query])
        for query in range(index.n_queries)
    ]
    assert expected == [values[query] for query in np.argsort(block.queries)]


def test_every_sum_is_tried():
    """Each measure of which the table says that it is a sum."""
    tried = {get_measure(name).measure.name for name in EXACT}
    assert tried == {name for name, entry in MEASURES.items() if entry.additive is not None}


@pytest.mark.parametrize(
    "name", ["lexirecall(scale=share,", "lexiprecision(scale=share,", "metric_lexirecall("]
)
def test_every_item_is_relevant(name):
    """There is no other placement: the sum is 1, or what the measure gives it."""
    for m in (1, 2, 3):
        parsed = get_measure(f"{name}n_items={m})")
        for n_shown in range(m + 1):
            gains, scores = np.ones(m), np.where(np.arange(m) < n_shown, 5.0 - np.arange(m), NO)
            form = parsed.as_sum(RowFacts(parsed, gains, GroupIndex.from_groups([1] * m)))
            expected = parsed.measure(gains, scores, groups=[1] * m, **parsed.options)
            actual = value_of_sum(form, 0, form.weights, gains > 0, scores)
            assert actual == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", ["lexirecall", "lexiprecision"])
def test_collections_too_large_for_a_table(name, monkeypatch):
    """Counts of placements come from a table of factorials up to a million items."""
    gains = np.array([1.0, 0.0, 0.0])

    def is_sum(name, groups):
        parsed = get_measure(name)
        return parsed.as_sum(RowFacts(parsed, gains, GroupIndex.from_groups(groups))) is not None

    assert is_sum(f"{name}(scale=share,n_items={10**6})", [1, 1, 1])
    assert not is_sum(f"{name}(scale=share,n_items={10**6 + 1})", [1, 1, 1])
    for scale in ("log", "log_odds"):
        assert not is_sum(f"{name}(scale={scale})", [1, 1, 1])
    # Of the greatest query: two rows here, and room for its relevant document.
    for most in (2, 3):
        monkeypatch.setattr(lexicographic, "_MOST_ITEMS", most)
        assert is_sum(f"{name}(scale=share)", [1, 1, 2]) == (most == 3)


@pytest.mark.parametrize("inner", ["err", "q_measure", "lexirecall"])
def test_bounds_of_what_is_no_sum(inner):
    parsed = get_measure(f"ul_normalized(measure={inner})")
    facts = RowFacts(parsed, np.array([1.0, 0.0]), GroupIndex.from_groups([1, 1]))
    assert parsed.as_sum(facts) is None


@pytest.mark.parametrize("name", thinned(EXACT, turn=1, parts=2))
def test_more_labels_change_weights_only_as_is_declared(name):
    parsed, draws = get_measure(name), np.random.default_rng(0)

    def form_of(labels):
        return parsed.as_sum(RowFacts(parsed, labels, GroupIndex.from_groups([1] * len(labels))))

    for _ in range(8):
        labels = draws.choice(allowed_gains(name), draws.integers(2, 9))
        form = form_of(labels)
        if form.finish is not None or form.by_shown or not form.weights.any():
            continue
        others = {
            "constant": draws.choice(allowed_gains(name), 5),
            "weighted": np.repeat(labels[form.weights == 0], 3),
            "all": [],
        }[form.scale]
        many = np.tile(labels, form.scale_depth or 1)
        copies = labels if form.scale_depth else []
        for some, more in ((labels, others), (many, copies)):
            few, again = form_of(some), form_of(np.append(some, more))
            np.testing.assert_allclose(again.weights[: len(some)], few.weights, rtol=1e-12)
            np.testing.assert_allclose(again.offset, few.offset, rtol=1e-12)
        if form.worth_of == "labels":
            assert form.uses_levels or form.n_items is not None or name == "r_precision"
            continue
        place = np.arange(1, len(labels) + 1)
        one, two, five = (
            form.worth(place, np.full(len(labels), level), np.array([0])) for level in (1, 2, 5)
        )
        np.testing.assert_allclose(five, one + 4 * (two - one), rtol=1e-9, atol=1e-12)
        assert form.uses_levels == bool((one != two).any()) == (form.worth_of == "level")

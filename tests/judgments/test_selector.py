"""What all selection strategies share, over those that look at no content."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from pickled_threads import pickled_threads
from scikit_learn_checks import assert_passes_checks
from selections import budget, mask
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.judgments import (
    FeedbackSelector,
    MaxRepSelector,
    PoolingSelector,
    PriorSelector,
    RandomSelector,
    StatAPSelector,
)
from skfilterrank.judgments._selector import (
    QuerySelector,
    check_texts,
    is_texts,
    named_budgets,
    round_half_up,
)


class LongestFirst(QuerySelector):
    """Longest text first: a strategy that looks at the documents and draws random numbers."""

    def __init__(self, *, random_state=None, n_jobs=None, verbose=False):
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _prepare(self, X, y, index):
        return np.array([len(text) for text in check_texts(X)])

    def _rank_query(self, X, prior, random_state):
        order = np.lexsort((random_state.uniform(size=len(X)), -X))
        return order, X[order] * (1.0 if prior is None else prior[order])


class OfOneQuery:
    """A strategy for scikit-learn's checks, which know no queries and no prior."""

    def fit(self, X, y=None, *, groups=None, prior=None):
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        return super().fit(
            X,
            y,
            groups=np.zeros(n_rows) if groups is None else groups,
            prior=np.ones(n_rows) if prior is None else prior,
        )


class RandomOfOneQuery(OfOneQuery, RandomSelector):
    pass


class PriorOfOneQuery(OfOneQuery, PriorSelector):
    pass


class StatAPOfOneQuery(OfOneQuery, StatAPSelector):
    pass


class MaxRepOfOneQuery(OfOneQuery, MaxRepSelector):
    pass


class FeedbackOfOneQuery(OfOneQuery, FeedbackSelector):
    pass


AT_NIGHT = [
    pytest.param(each, marks=pytest.mark.nightly) for each in (MaxRepOfOneQuery, FeedbackOfOneQuery)
]


@pytest.mark.slow
@pytest.mark.parametrize(
    "selector", [RandomOfOneQuery, PriorOfOneQuery, StatAPOfOneQuery, *AT_NIGHT]
)
def test_scikit_learn_checks(selector):
    assert_passes_checks(selector())


TEXTS = ["a cat", "dog", "the cow", "hen", "a fox", "owl", "bee", "the ant", "it", "an elk"]
TOPICS = ["t2", "t1", "t2", "t1", "t3", "t2", "t1", "t2", "t2", "t1"]
PRIOR = np.array([0.3, 0.1, 0.3, 0.7, 1.0, 0.0, 0.2, 0.4, 0.3, 0.2])
SELECTORS = [
    RandomSelector(random_state=3),
    PriorSelector(),
    StatAPSelector(random_state=3),
    LongestFirst(random_state=3),
]
by_name = pytest.mark.parametrize("selector", SELECTORS, ids=lambda s: type(s).__name__)


def assert_same(left, right):
    np.testing.assert_array_equal(left.ranking_, right.ranking_)
    np.testing.assert_array_equal(left.gains_, right.gains_)
    np.testing.assert_array_equal(mask(left, 0.5), mask(right, 0.5))


@by_name
def test_ranking_is_a_permutation_of_each_query(selector):
    fitted = clone(selector).fit(TEXTS, groups=TOPICS, prior=PRIOR)
    for query in set(TOPICS):
        own = fitted.ranking_[np.array(TOPICS) == query]
        assert sorted(own) == list(range(1, len(own) + 1))
    assert fitted.ranking_.dtype == np.int64
    assert fitted.gains_.dtype == np.float64
    assert fitted._index.query_ids.tolist() == ["t1", "t2", "t3"]


@pytest.mark.slow
def test_any_number_of_jobs_ranks_alike():
    selector = LongestFirst(random_state=3)
    one = clone(selector).fit(TEXTS, groups=TOPICS, prior=PRIOR)
    with pickled_threads():
        two = clone(selector).set_params(n_jobs=2).fit(TEXTS, groups=TOPICS, prior=PRIOR)
    assert_same(one, two)


@pytest.mark.slow
@by_name
def test_queries_and_prior_come_in_any_form(selector):
    expected = clone(selector).fit(TEXTS, groups=TOPICS, prior=PRIOR)
    index = pd.MultiIndex.from_arrays([TOPICS, range(10)], names=["qid", "docno"])
    series = pd.Series(TEXTS, index=index)
    assert_same(clone(selector).fit(series, prior=PRIOR), expected)
    assert_same(clone(selector).fit(series, prior=pd.Series(PRIOR, index=index)), expected)
    assert_same(clone(selector).fit(TEXTS, prior=pd.Series(PRIOR, index=index)), expected)
    assert_same(clone(selector).fit(series, groups=TOPICS, prior=list(PRIOR)), expected)
    assert_same(clone(selector).fit(np.array(TEXTS), groups=TOPICS, prior=PRIOR), expected)


def test_polars_texts():
    polars, selector = pytest.importorskip("polars"), SELECTORS[-1]
    expected = clone(selector).fit(TEXTS, groups=TOPICS, prior=PRIOR)
    given = clone(selector).fit(
        polars.Series(TEXTS), groups=polars.Series(TOPICS), prior=polars.Series(PRIOR)
    )
    assert_same(given, expected)


def test_features_of_any_kind():
    polars, selector = pytest.importorskip("polars"), SELECTORS[0]
    dense = np.arange(20.0).reshape(10, 2)
    texts = clone(selector).fit(TEXTS, groups=TOPICS, prior=PRIOR)
    assert not hasattr(texts, "n_features_in_")
    expected = clone(selector).fit(dense.tolist(), groups=TOPICS, prior=PRIOR)
    for X in (dense, sparse.csr_array(dense), pd.DataFrame(dense, columns=["a", "b"])):
        fitted = clone(selector).fit(X, groups=TOPICS, prior=PRIOR)
        assert_same(fitted, expected)
        assert fitted.n_features_in_ == 2
    assert fitted.feature_names_in_.tolist() == ["a", "b"]
    frame = polars.DataFrame({"a": dense[:, 0], "b": dense[:, 1]})
    assert_same(clone(selector).fit(frame, groups=TOPICS, prior=PRIOR), expected)


def test_each_query_draws_for_itself():
    # The last query grows and one comes after it; those before are ranked as they were.
    before = RandomSelector(random_state=0).fit(TEXTS, groups=TOPICS)
    after = RandomSelector(random_state=0).fit([*TEXTS, "x", "y"], groups=[*TOPICS, "t3", "t4"])
    others = np.array(TOPICS) != "t3"
    np.testing.assert_array_equal(before.ranking_[others], after.ranking_[:10][others])
    other_seed = RandomSelector(random_state=1).fit(TEXTS, groups=TOPICS)
    assert (other_seed.ranking_ != before.ranking_).any()


def test_random_state_object_moves_on():
    state = np.random.RandomState(0)
    first = RandomSelector(random_state=state).fit(TEXTS, groups=TOPICS)
    second = RandomSelector(random_state=state).fit(TEXTS, groups=TOPICS)
    assert first.seed_ != second.seed_


def test_progress_is_shown_on_request(capsys):
    LongestFirst(verbose=True).fit(TEXTS, groups=TOPICS)
    assert "3/3" in capsys.readouterr().err
    LongestFirst().fit(TEXTS, groups=TOPICS)
    assert capsys.readouterr().err == ""


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=40),
    st.one_of(st.integers(1, 12), st.floats(0.001, 1.0)),
)
@pytest.mark.filterwarnings("ignore:n_per_query:UserWarning")
def test_select_takes_the_first_of_each_query(queries, n_per_query):
    selector = RandomSelector(random_state=0).fit(np.zeros((len(queries), 1)), groups=queries)
    selected = mask(selector, n_per_query)
    for query in set(queries):
        own = np.array(queries) == query
        n_taken = selected[own].sum()
        assert n_taken >= 1
        assert sorted(selector.ranking_[own][selected[own]]) == list(range(1, n_taken + 1))
        if isinstance(n_per_query, int):
            assert n_taken == min(n_per_query, own.sum())
        else:
            assert n_taken == max(1, min(own.sum(), n_taken))
            assert abs(n_taken - n_per_query * own.sum()) <= 0.5 + 1e-9 or n_taken == 1


@pytest.mark.parametrize("selector", SELECTORS[:2], ids=lambda s: type(s).__name__)
def test_budgets_nest(selector):
    fitted = clone(selector).fit(TEXTS, groups=TOPICS, prior=PRIOR)
    shares = [mask(fitted, share) for share in np.linspace(0.1, 1.0, 10)]
    assert all((less <= more).all() for less, more in pairwise(shares))
    assert shares[-1].all()


@pytest.mark.parametrize(
    ("share", "size", "expected"),
    [
        # 14.5 in decimals, though 0.29 * 50 is 14.499999999999998.
        (0.29, 50, 15),
        (0.3, 5, 2),
        (0.5, 5, 3),
        (0.1, 4, 0),
        (1.0, 7, 7),
        (0.07, 50, 4),
        (np.float32(0.5), 5, 3),
    ],
)
def test_round_half_up(share, size, expected):
    assert round_half_up(share, np.array([size])).tolist() == [expected]


def test_a_budget_above_the_pool_warns_once_with_the_count():
    selector = RandomSelector(random_state=0).fit(TEXTS, groups=TOPICS)
    # t1 has 4 documents, t2 5, t3 1.
    with pytest.warns(UserWarning, match="n_per_query=5 .* of 2 of 3 queries") as caught:
        rows = selector.select(n_per_query=5)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert rows.tolist() == list(range(10))


@pytest.mark.parametrize("n_per_query", [0, -1, 0.0, -0.5, 1.5, True, "3", float("nan"), [1]])
def test_bad_budgets(n_per_query):
    selector = RandomSelector(random_state=0).fit(TEXTS, groups=TOPICS)
    with pytest.raises(ValueError, match=r"n_per_query must be a whole|share must be a finite"):
        mask(selector, n_per_query)
    with pytest.raises(ValueError, match="n_total must be a whole number"):
        selector.select(n_total=n_per_query)
    with pytest.raises(ValueError, match="several budgets: give one of"):
        selector.select(n_total=2, n_per_query=1)


@by_name
def test_rows_are_selected_under_a_budget_that_names_its_unit(selector):
    fitted = clone(selector).fit(TEXTS, groups=TOPICS, prior=PRIOR)
    with pytest.raises(TypeError, match="positional argument"):
        fitted.select(2)
    rows = fitted.select(n_per_query=1)
    assert rows.dtype == np.int64
    assert sorted(np.array(TOPICS)[rows]) == ["t1", "t2", "t3"]
    # Queries of 4, 5 and 1 documents: 2, 3 and 1 of 6.
    some = np.array(TOPICS)[fitted.select(n_total=6)]
    assert [np.count_nonzero(some == query) for query in ("t1", "t2", "t3")] == [2, 3, 1]
    assert fitted.select().tolist() == list(range(10))


@pytest.mark.slow
@given(st.lists(st.integers(1, 9), min_size=1, max_size=8), st.data())
def test_a_total_is_spread_evenly(sizes, data):
    n_total = data.draw(st.integers(1, sum(sizes)))
    groups = np.repeat(np.arange(len(sizes)), sizes)
    selector = RandomSelector(random_state=0).fit(np.zeros((len(groups), 1)), groups=groups)
    taken = np.bincount(groups[selector.select(n_total=n_total)], minlength=len(sizes))
    assert taken.sum() == n_total
    assert ((taken == sizes) | (taken >= taken.max() - 1)).all()


def test_numbers_of_numpy_are_budgets():
    index = GroupIndex.from_groups(TOPICS)
    assert named_budgets(index, np.int64(1), None, None).tolist() == [1, 1, 1]
    assert named_budgets(index, None, None, np.float64(0.5)).tolist() == [2, 3, 1]


def test_what_is_left_of_a_total_goes_to_the_most_open_documents():
    index = GroupIndex.from_groups(np.repeat(["a", "b", "c"], [6, 5, 5]))
    # Three of a are judged.
    assert named_budgets(index, None, 10, None, sizes=np.array([3, 5, 5])).tolist() == [3, 4, 3]
    # Of equal queries the first text has it, also if ids are numbers.
    for ids, expected in (([9, 10], [2, 3]), (["9", "10"], [3, 2])):
        index = GroupIndex.from_groups(np.repeat(ids, 3))
        assert named_budgets(index, None, 5, None).tolist() == expected


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"groups": None}, "groups is missing: pass groups="),
        ({"groups": TOPICS[1:]}, "groups has 9 entries but there are 10 rows"),
        ({"prior": PRIOR[1:]}, "prior has 9 entries but there are 10 rows"),
        (
            {"prior": -PRIOR},
            "prior must be finite .*, but is -.* in row ., and bad in 9 row",
        ),
        ({"prior": np.where(PRIOR < 0.1, np.nan, PRIOR)}, "is nan in row 5, and bad in 1 row"),
        ({"prior": np.where(PRIOR < 0.1, np.inf, PRIOR)}, "is inf in row 5, and bad in 1 row"),
        ({"prior": ["high"] * 10}, "prior must hold"),
        ({"X": [], "groups": [], "prior": []}, "groups is empty|at least one"),
    ],
)
def test_bad_input(changed, message):
    with pytest.raises(ValueError, match=message):
        LongestFirst().fit(**{"X": TEXTS, "groups": TOPICS, "prior": PRIOR} | changed)


def test_a_document_twice_in_a_query():
    index = pd.MultiIndex.from_arrays([TOPICS, list("abcdefgdci")], names=["qid", "docno"])
    series = pd.Series(TEXTS, index=index)
    # Row 8 is document c of query t2 again, as is row 2.
    with pytest.raises(ValueError, match=r"X holds document 'c' twice in query 't2', again in row"):
        LongestFirst().fit(series, prior=PRIOR)
    with pytest.raises(ValueError, match="prior holds document 'c' twice in query 't2'"):
        LongestFirst().fit(TEXTS, prior=pd.Series(PRIOR, index=index))


def test_prior_of_other_rows():
    index = pd.MultiIndex.from_arrays([TOPICS, range(10)], names=["qid", "docno"])
    prior = pd.Series(PRIOR, index=index)
    with pytest.raises(ValueError, match=r"reindex\(X.index\).fillna\(0\)"):
        LongestFirst().fit(pd.Series(TEXTS, index=index), prior=prior[::-1])


def test_texts_and_what_is_none():
    assert is_texts(["a", "b"])
    assert is_texts(pd.Series([None, "b"]))
    assert is_texts(np.array(["a", "b"]))
    for X in ([1, 2], [[1], [2]], np.zeros((2, 1)), pd.DataFrame({"a": ["x"]}), {"a": 1}):
        assert not is_texts(X)
    assert not is_texts(sparse.csr_array(np.eye(2)))


def test_missing_texts_are_counted_and_listed():
    texts = pd.Series(["a", None, "", np.nan], index=["d1", "d2", "d3", "d4"])
    with pytest.warns(UserWarning, match="2 of 4 documents have no text .*: rows d2, d4"):
        assert check_texts(texts) == ["a", "", "", ""]
    with pytest.warns(UserWarning, match="rows 0, 1, 2, 3, 4 and 2 more"):
        check_texts([None] * 7)
    with pytest.raises(ValueError, match="X must hold texts, got 3 at row 1"):
        check_texts(["a", 3])


def test_base_class_has_no_strategy():
    with pytest.raises(NotImplementedError):
        QuerySelector().fit(TEXTS, groups=TOPICS)


def test_fitted_or_not():
    from sklearn.exceptions import NotFittedError

    for selector in (*SELECTORS, PoolingSelector()):
        with pytest.raises(NotFittedError):
            mask(clone(selector), 1)
    with pytest.raises(NotFittedError):
        StatAPSelector().inclusion_probability(**budget(1))

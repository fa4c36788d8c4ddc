"""From labels to gains."""

import re
from collections import Counter
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow
import pytest

from skfilterrank._lists.gains import as_gains, has_two_labels, read_two_labels
from skfilterrank.exceptions import InputError

GRADES = {"Bad": -1, "PotentiallyUseful": 1, "Good": 2}


def assert_gains(actual, expected):
    assert isinstance(actual, np.ndarray)
    assert actual.dtype == np.float64
    np.testing.assert_array_equal(actual, np.array(expected, dtype=np.float64))


@pytest.mark.parametrize(
    "y_true",
    [
        [2, -1, np.nan],
        [2, -1, None],
        [2, -1, pd.NA],
        (2.0, -1.0, float("nan")),
        np.array([2, -1, np.nan]),
        np.array([2, -1, np.nan], dtype=np.float32),
        np.array([2, -1, np.nan], dtype=np.float16),
        np.array([2, -1, None], dtype=object),
        [Decimal("2.0"), Decimal(-1), Decimal("nan")],
        pd.Series([2, -1, None], dtype=pd.ArrowDtype(pyarrow.decimal128(5, 2))),
        pl.Series([2, -1, None], dtype=pl.Decimal(5, 2)),
        np.array([[2.0], [-1.0], [np.nan]]),
        pd.Series([2, -1, np.nan], index=[5, 5, 5]),
        pd.Series([2, -1, None], dtype=object),
        pd.Series([2, -1, None], dtype="Int64"),
        pd.Series([2, -1, None], dtype="double[pyarrow]"),
        pd.Series([2, -1, None], dtype="category"),
        pd.Series([2, -1, None]).to_frame(),
        pd.Categorical([2, -1, None]),
        pd.array([2, -1, None], dtype="Int8"),
        pd.Index([2, -1, np.nan]),
        pl.Series([2, -1, None]),
        pl.Series([2.0, -1.0, float("nan")]),
    ],
    ids=lambda labels: f"{type(labels).__name__} {getattr(labels, 'dtype', '')}",
)
def test_numeric_labels_are_gains(y_true):
    assert_gains(as_gains(y_true), [2, -1, np.nan])
    assert_gains(as_gains(y_true, "exp2"), [3, -1, np.nan])
    assert_gains(as_gains(y_true, {2: 0.5, -1: -10}), [0.5, -10, np.nan])
    assert_gains(as_gains(y_true, lambda label: 10 * float(label)), [20, -10, np.nan])
    assert_gains(as_gains(y_true, {2: 1, -1: np.nan}), [1, np.nan, np.nan])


@pytest.mark.parametrize(
    "y_true",
    [
        [True, False, None],
        pd.array([True, False, None], dtype="boolean"),
        pd.Series([True, False, None]),
        pd.Series([True, False, None], dtype="boolean"),
        pl.Series([True, False, None]),
    ],
    ids=lambda labels: f"{type(labels).__name__} {getattr(labels, 'dtype', '')}",
)
def test_booleans(y_true):
    assert_gains(as_gains(y_true), [1, 0, np.nan])
    assert_gains(as_gains(y_true, {True: 2, False: -1}), [2, -1, np.nan])
    assert_gains(as_gains(np.array([True, False])), [1, 0])


@pytest.mark.parametrize(
    "y_true",
    [
        ["Good", "Bad", None, "Good"],
        ["Good", "Bad", np.nan, "Good"],
        ["Good", "Bad", pd.NA, "Good"],
        np.array(["Good", "Bad", None, "Good"], dtype=object),
        pd.Series(["Good", "Bad", None, "Good"]),
        pd.Series(["Good", "Bad", None, "Good"], dtype=object),
        pd.Series(["Good", "Bad", None, "Good"], dtype="string[pyarrow]"),
        pd.Series(["Good", "Bad", None, "Good"], dtype="category"),
        pd.Categorical(["Good", "Bad", None, "Good"], categories=["Good", "Unused", "Bad"]),
        pl.Series(["Good", "Bad", None, "Good"]),
        pl.Series(["Good", "Bad", None, "Good"], dtype=pl.Categorical),
    ],
    ids=lambda labels: f"{type(labels).__name__} {getattr(labels, 'dtype', '')}",
)
def test_labels_of_text(y_true):
    assert_gains(as_gains(y_true, GRADES), [2, -1, np.nan, 2])
    assert_gains(as_gains(y_true, GRADES.get), [2, -1, np.nan, 2])
    with pytest.raises(ValueError, match=r"labels that are not numbers \('Good', 'Bad'\): pass"):
        as_gains(y_true)


def test_exp2_by_hand():
    # 2^l - 1 from 0 up, the label itself below; 2^0.5 - 1 in between.
    labels = [-2, -0.5, 0, 0.5, 1, 2, 4]
    assert_gains(as_gains(labels, "exp2"), [-2, -0.5, 0, 2**0.5 - 1, 1, 3, 15])


def test_numbers_are_looked_up_by_value():
    assert_gains(as_gains(np.array([1.0, 2.0]), {1: 5, 2: 6}), [5, 6])
    assert_gains(as_gains([1, 2], {1.0: 5, 2.0: 6}), [5, 6])


def test_labels_of_several_types():
    assert_gains(as_gains(["a", 1, (2, 3)], {"a": 1, 1: 2, (2, 3): 3}), [1, 2, 3])


def test_a_callable_is_called_once_for_each_label():
    calls = Counter()

    def gain(label):
        calls[label] += 1
        return -label

    assert_gains(as_gains([3, 1, 3, np.nan, 3], gain), [-3, -1, -3, np.nan, -3])
    assert calls == {3: 1, 1: 1}


def test_nothing_judged():
    assert_gains(as_gains([np.nan, None]), [np.nan, np.nan])
    assert_gains(as_gains([None, None], GRADES), [np.nan, np.nan])
    assert_gains(as_gains([None, None], lambda label: 1 / 0), [np.nan, np.nan])


def test_float64_is_not_copied_and_nothing_is_written_to():
    labels = np.array([2.0, -1.0, np.nan])
    assert as_gains(labels) is labels
    for gains in ("exp2", {2: 1, -1: -2}, abs):
        as_gains(labels, gains)
    np.testing.assert_array_equal(labels, [2, -1, np.nan])


def test_unknown_labels_are_named():
    message = re.escape(
        "y_true holds labels with no entry in gains: 'PotentiallyUseful'; gains has 'Bad', 'Good'. "
        "Add the missing labels, or use NaN for unjudged rows."
    )
    with pytest.raises(ValueError, match=f"^{message}$"):
        as_gains(["Good", "PotentiallyUseful", "Good"], {"Bad": -1, "Good": 2})


@pytest.mark.parametrize(
    "y_true",
    [
        np.array(["1", "2"]),
        ["1", "2"],
        pd.Series(["1", "2"]),
        pd.Series(["1", "2"], dtype=object),
        pd.Series(["1", "2"], dtype="category"),
        pd.Categorical(["1", "2"]),
        np.array([b"1", b"2"]),
        np.array([b"1", b"2"], dtype=object),
        ["1", 2],
        np.array(["2020-01-01"], dtype="datetime64[D]"),
        np.array([5], dtype="timedelta64[D]"),
        [pd.Timestamp("2020")],
        [(1, 2), (3, 4)],
        [Decimal("sNaN")],
    ],
    ids=lambda labels: f"{type(labels).__name__} {getattr(labels, 'dtype', '')}",
)
def test_digits_as_text_and_dates_are_no_numbers(y_true):
    with pytest.raises(ValueError, match=r"^y holds labels that are not numbers .*pass gains"):
        as_gains(y_true, name="y")


@pytest.mark.parametrize(
    ("y_true", "gains", "message"),
    [
        ([np.inf, 1], None, "y_true holds an infinite label"),
        ([np.inf, -np.inf], None, "y_true holds an infinite label"),
        ([np.nan, -np.inf], None, "y_true holds an infinite label"),
        ([-np.inf], "exp2", "y_true holds an infinite label"),
        ([1, 2000], "exp2", "gains='exp2' gives inf for label 2000"),
        ([1, 2], {1: 1, 2: np.inf}, "gains gives inf for label 2: a gain must be a finite number"),
        (["a"], {"a": pd.NA}, "gains gives <NA> for label 'a': a gain must be a finite"),
        (["a", "b"], {"a": 1.0}.get, "gains gives None for label 'b': a gain must be a finite"),
        ([1.5], lambda label: -np.inf, "gains gives -inf for label 1.5"),
        ([1], {1: "much"}, "gains must give one number per label, got 'much' for 1"),
        ([1], {1: None}, "gains gives None for label 1|one number per label, got None for 1"),
        ([1, 2], lambda label: [1, 2], "gains must give one number per label"),
        ([1, 1], lambda label: 1 / 0, "gains failed for labels 1.*: ZeroDivisionError: div"),
        ([1, 1], {}, r"gains has none\. Add"),
        (np.arange(32), {-1: 1}, "0, 1, 2, .*, 18, 19 and 12 more; gains has -1"),
        ([1 + 2j, 1], None, "y_true must hold real numbers"),
        *[(one, GRADES, "y_true must hold one label per row") for one in (None, 5, "Good")],
        *[
            ([0, 1], gains, "gains must be None, 'exp2', a dict")
            for gains in ("exp", "exp3", [1, 2], 3, pd.Series([1, 2]), np.array([1]))
        ],
    ],
)
def test_labels_and_gains_that_cannot_be(y_true, gains, message):
    with pytest.raises(InputError, match=message):
        as_gains(y_true, gains)


def test_the_largest_finite_labels_are_not_infinite():
    assert_gains(as_gains([1e308, 1e308]), [1e308, 1e308])
    assert_gains(as_gains([1e308, 1e308, -1e308, np.nan]), [1e308, 1e308, -1e308, np.nan])


@pytest.mark.parametrize(
    "y_true",
    [
        np.zeros((2, 2)),
        np.zeros((0, 2)),
        [[1, 2], [3, 4]],
        [[1], [2, 3]],
        pd.DataFrame({"a": [1], "b": [2]}),
    ],
)
@pytest.mark.parametrize("gains", [None, "exp2", {0: 1}, float])
def test_labels_in_two_dimensions(y_true, gains):
    with pytest.raises(ValueError, match=r"y_true must hold .*(1-D|in rows of one length)"):
        as_gains(y_true, gains)


class TestTwoLabels:
    """Relevance and harm: harm above 0 is a cost, and unknown harm leaves a row unjudged."""

    ROWS = ((2.0, 0.0), (1.0, 3.0), (np.nan, 0.0), (np.nan, 0.5), (1.0, np.nan))

    def assert_read(self, y, gains=None):
        labels = read_two_labels(y, gains)
        assert_gains(labels.relevance, [2, 1, np.nan, np.nan, 1])
        assert_gains(labels.harm, [0, 1, 0, 1, np.nan])
        assert_gains(labels.gains, [2, -3, np.nan, -0.5, np.nan])

    def test_columns_by_position(self):
        array = np.array(self.ROWS)
        self.assert_read(array)
        self.assert_read([list(row) for row in self.ROWS])
        self.assert_read(pd.DataFrame(array))
        self.assert_read(pd.DataFrame(array, columns=["good", "bad"]))
        self.assert_read(pd.DataFrame(array, columns=["good", "harm"]))
        self.assert_read(np.ma.masked_invalid(array))

    @pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
    @pytest.mark.parametrize(
        "names", [["relevance", "harm"], ["harm", "relevance"], ["Harm", "Relevance"]]
    )
    def test_columns_by_name(self, kind, names):
        columns = dict(zip(["relevance", "harm"], np.array(self.ROWS).T, strict=True))
        self.assert_read(kind({name: columns[name.lower()] for name in names}))
        # One name tells the other column, too.
        for known in names:
            renamed = {name if name == known else "clicks": columns[name.lower()] for name in names}
            self.assert_read(kind(renamed))

    def test_gains_are_those_of_relevance(self):
        y = pd.DataFrame({"harm": [0.0, 2.0, 0.0], "relevance": ["Good", "Bad", "Bad"]})
        labels = read_two_labels(y, GRADES)
        assert_gains(labels.gains, [2, -2, -1])
        assert_gains(labels.relevance, [2, 0, 0])
        assert_gains(labels.harm, [0, 1, 0])

    def test_errors(self):
        with pytest.raises(InputError, match=r"y must have one column of labels, or two .* got 3"):
            read_two_labels([[1, 0, 0]])
        with pytest.raises(InputError, match="y has the harm -1: give 0 for a harmless document"):
            read_two_labels(pd.DataFrame({"harm": [-1.0], "relevance": [1.0]}))

    @pytest.mark.parametrize(
        ("y", "expected"),
        [
            (np.zeros((3, 2)), True),
            (pd.DataFrame({"a": [1], "b": [2]}), True),
            ([[1, 0]], True),
            (np.zeros(2), False),
            (np.zeros((2, 1)), False),
            (np.zeros((2, 3)), False),
            ([1, 0], False),
            ([("a", 1), ("b", 2)], False),
            (["ab", "cd"], False),
            ([], False),
            (None, False),
        ],
    )
    def test_rows_of_two_labels_are_seen(self, y, expected):
        assert has_two_labels(y) is expected

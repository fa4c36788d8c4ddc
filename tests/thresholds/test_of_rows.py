"""Thresholds are fitted on Rows as on arrays, or say why not."""

import numpy as np
import pytest
from sklearn.base import clone

from rows_of_queries import COLUMNS, cut, make_rows
from skfilterrank.exceptions import DataWarning, FitWarning, InputError
from skfilterrank.io import Rows
from skfilterrank.thresholds import (
    CertifiedThreshold,
    FirstK,
    FixedThreshold,
    SegmentedThreshold,
    TunedThreshold,
    threshold_curve,
)


def in_memory(columns):
    return {"scores": columns["score"], "y": columns["label"], "groups": columns["qid"]}


def rows_of(columns):
    return Rows(cut(columns, 200, 201, 600), chunk_rows=300)


@pytest.mark.filterwarnings("ignore:filtering is not shown to pay")
@pytest.mark.parametrize("measure", ["ndcg_f@5", "forbidden@3"])
def test_tuned_threshold(measure):
    columns = COLUMNS | {"score": COLUMNS["score"] + 0.3 * np.nan_to_num(COLUMNS["label"])}
    found = TunedThreshold(measure).fit(rows_of(columns))
    expected = TunedThreshold(measure).fit(**in_memory(columns))
    assert found.threshold_ == expected.threshold_
    assert found.best_score_ == pytest.approx(expected.best_score_, abs=1e-15)
    assert found.threshold_curve_.best_value == found.best_score_
    assert found.list_sizes_.tolist() == expected.list_sizes_.tolist()
    assert found.n_unjudged_ == expected.n_unjudged_ > 0
    scores, groups = columns["score"], columns["qid"]
    shown = expected.predict(scores, groups=groups)
    np.testing.assert_array_equal(found.predict(scores, groups=groups), shown)


@pytest.mark.filterwarnings("ignore:.*are unjudged although a rate")
def test_certified_threshold():
    columns = make_rows(400, seed=3, text_ids=True)
    cut_there = CertifiedThreshold({"any_forbidden@3": 0.7, "false_reject_rate": 0.9})
    with pytest.warns(DataWarning):
        expected = clone(cut_there).fit(**in_memory(columns)).certificate_
    with pytest.warns(DataWarning):
        found = cut_there.fit(rows_of(columns)).certificate_
    assert found.threshold == expected.threshold
    assert str(found) == str(expected)


def test_fixed_threshold_reads_nothing():
    def unread():
        raise AssertionError

    assert FixedThreshold(0.3, max_shown=2).fit(Rows(unread)).threshold_ == 0.3


@pytest.mark.parametrize("threshold", [FixedThreshold(0.3, max_shown=2), FixedThreshold(0.5)])
def test_score(threshold):
    threshold = threshold.fit()
    expected = threshold.score(**{**in_memory(COLUMNS)})
    assert threshold.score(rows_of(COLUMNS)) == pytest.approx(expected, abs=1e-15)


def test_nothing_good_is_warned_of():
    columns = COLUMNS | {"label": np.where(COLUMNS["label"] < 0, -1.0, 0.0)}
    with pytest.warns(FitWarning, match="no label has a gain above 0"):
        TunedThreshold().fit(rows_of(columns))


@pytest.mark.parametrize(
    ("threshold", "message"),
    [
        (TunedThreshold(max_shown=3), "max_shown=3 is not possible where TunedThreshold is fitted"),
        (TunedThreshold(abstain="best_score"), "abstain='best_score' is not possible where Tuned"),
        (TunedThreshold(rule="price"), "rule='price' is not possible where TunedThreshold"),
        (FixedThreshold(abstain="best_score"), "abstain='best_score' is not possible where Fixed"),
        (FirstK(), "FirstK cannot be fitted on Rows, as it needs whole lists in memory. Use"),
        (
            SegmentedThreshold(FirstK(), segment="language"),
            "SegmentedThreshold cannot be fitted on Rows",
        ),
    ],
)
def test_fits_that_need_memory(threshold, message):
    with pytest.raises(InputError, match=message):
        threshold.fit(Rows(COLUMNS))


@pytest.mark.parametrize("name", ["groups", "filter_scores", "query_weight", "judged_by"])
def test_nothing_is_given_with_rows(name):
    with pytest.raises(InputError, match=f"{name} is not possible where TunedThreshold.fit reads"):
        TunedThreshold().fit(Rows(COLUMNS), **{name: COLUMNS["qid"]})
    if name == "groups":
        with pytest.raises(InputError, match="groups is not possible where threshold_curve reads"):
            threshold_curve(Rows(COLUMNS), groups=COLUMNS["qid"])


def test_rows_have_no_array_of_scores():
    with pytest.raises(InputError, match="scores are Rows, for which a threshold returns no array"):
        FixedThreshold(0.3).fit().predict(Rows(COLUMNS))
    with pytest.raises(InputError, match="scores are Rows, for which a threshold returns no array"):
        FixedThreshold(0.3).fit().rank(Rows(COLUMNS))


def test_scattered_queries_are_noticed():
    moved = {name: np.append(values, values[:1]) for name, values in COLUMNS.items()}
    with pytest.raises(InputError, match="do not stand together"):
        threshold_curve(Rows(moved))


def test_rows_of_one_reading_are_refused_before_it():
    frames = iter(cut(COLUMNS, 100))
    with pytest.raises(InputError, match="rows can be read once only, and are to be read 3 times"):
        threshold_curve(Rows(frames))
    assert len(list(frames)) == 2
    again = Rows(iter(cut(COLUMNS, 100)), scattered="partition")
    expected = threshold_curve(COLUMNS["label"], COLUMNS["score"], groups=COLUMNS["qid"])
    assert threshold_curve(again).best_threshold == expected.best_threshold

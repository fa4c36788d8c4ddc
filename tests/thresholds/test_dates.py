"""Certificates state from when to when their queries are."""

import re

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import InputError
from skfilterrank.io import Rows
from skfilterrank.ranking import RankAndFilter
from skfilterrank.thresholds import (
    CertifiedThreshold,
    load_threshold,
    risk_certificate,
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::skfilterrank.exceptions.FitWarning"),
]
SAFE = CertifiedThreshold({"any_forbidden@3": 0.5}, confidence_level=0.8)
START = np.datetime64("2026-05-01")


@pytest.fixture(scope="module")
def data():
    """Labels, scores and queries; each query has a day of its own."""
    _, y, groups, scores = make_rank_and_filter(100, random_state=0)
    return y, scores, groups, START + groups * 37 % 100


def span(days):
    """From the first to the last day, by hand."""
    first, last = min(days.tolist()), max(days.tolist())
    return str(first) if first == last else f"{first} to {last}"


def dates(data, y=None, safe=SAFE, **given):
    own, scores, groups, days = data
    given = {"times": days} | given
    return clone(safe).fit(scores, own if y is None else y, groups=groups, **given).certificate_


def card(certificate):
    """The text of the page."""
    return " ".join(re.sub("<[^>]*>", " ", certificate.to_html()).split())


def test_every_form_states_them(data, tmp_path):
    y, scores, groups, days = data
    safe = clone(SAFE).fit(scores, y, groups=groups, times=days)
    safe.save(tmp_path / "safe.json")
    for it in (safe.certificate_, load_threshold(tmp_path / "safe.json").certificate_):
        assert it.dates == it.to_frame()["dates"].iloc[0] == "2026-05-01 to 2026-08-08"
        assert "The calibration queries are of 2026-05-01 to 2026-08-08." in str(it)
        assert "Dates 2026-05-01 to 2026-08-08" in card(it)
        assert "another time than 2026-05-01 to 2026-08-08" in card(it)


def test_they_change_nothing_else(data):
    plain = dates(data, times=None)
    assert plain.dates is None
    assert "Dates not stated" in card(plain)
    assert (
        plain.to_frame().drop(columns="dates").equals(dates(data).to_frame().drop(columns="dates"))
    )


@pytest.mark.parametrize(
    ("convert", "expected"),
    [
        (lambda days: days.astype(str), "2026-05-01 to 2026-08-08"),
        (lambda days: (days - START).astype(float), "0 to 99"),
        (lambda days: (days - START).astype(int) / 2, "0 to 49.5"),
        (lambda days: np.full(len(days), START), "2026-05-01"),
    ],
)
def test_times_of_any_type(data, convert, expected):
    assert dates(data, times=convert(data[3])).dates == expected


def test_an_index_level_holds_them(data):
    y, scores, groups, days = data
    level = pd.MultiIndex.from_arrays([groups, days], names=["qid", "time"])
    for given in (
        {"scores": scores, "y": pd.Series(y, index=level)},
        {"scores": pd.Series(scores, index=level), "y": y},
    ):
        assert clone(SAFE).fit(**given).certificate_.dates == "2026-05-01 to 2026-08-08"


def test_rows_of_a_query_at_several_times(data):
    y, scores, groups, _ = data
    hours = np.datetime64("2026-05-01T00") + np.arange(len(y))[::-1]
    order = np.random.default_rng(0).permutation(len(y))
    mixed = scores[order], y[order], groups[order]
    it = clone(SAFE).fit(*mixed, times=hours[order]).certificate_
    assert it.dates == f"2026-05-01 to {str(hours.max()).replace('T', ' ')}:00:00"


def test_queries_that_nobody_judged_do_not_count(data):
    y, _, groups, days = data
    is_judged = (days >= START + 20) & (days < START + 80)
    y = np.where(is_judged, y, np.nan)
    assert dates(data, y).dates == span(days[is_judged])
    # A query with one judged row counts with all of its rows.
    rows = np.flatnonzero(groups == groups[np.argmax(days)])
    y[rows[0]] = 1.0
    later = np.where(np.arange(len(y)) == rows[-1], START + 200, days)
    assert dates(data, y, times=later).dates == f"2026-05-21 to {START + 200}"


def test_clusters(data):
    it = dates(data, clusters=data[2] // 2)
    assert (it.unit, it.dates) == ("cluster", "2026-05-01 to 2026-08-08")


def test_of_the_queries_that_are_tested(data):
    # The split as the class describes it: of these queries the curves are learned.
    apart = np.random.RandomState(0).permutation(100)[:50]
    times = np.where(np.isin(data[2], apart), -1.0 - data[2], data[2])
    it = dates(data, times=times, filter_scores=np.arange(len(times)) % 7 - data[0])
    assert it.n_apart == 50
    tested = np.setdiff1d(np.arange(100), apart)
    assert it.dates == f"{tested.min()} to {tested.max()}"


def test_of_a_threshold_that_is_given(data):
    y, scores, groups, days = data
    y = np.where(days < START + 30, np.nan, y)
    risks = {"risks": {"any_forbidden@3": 0.5}}
    it = risk_certificate(y, scores, 0.5, groups=groups, times=days, **risks)
    assert it.dates == "2026-05-31 to 2026-08-08"
    assert "The calibration queries are of 2026-05-31 to 2026-08-08." in str(it)
    level = pd.MultiIndex.from_arrays([groups, days], names=["qid", "time"])
    assert risk_certificate(pd.Series(y, index=level), scores, 0.5, **risks).dates == it.dates


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda days: days[:3], "times has 3 entries but there are"),
        (lambda days: np.append(days[:-1], np.datetime64("NaT")), "times is missing in row"),
        (lambda days: np.append(days[1:].astype(object), 3), "times must be all numbers"),
        (lambda days: np.where(days > START, "today", days.astype(str)), "text 'today' in row"),
    ],
)
def test_bad_times(data, spoil, message):
    with pytest.raises(InputError, match=message):
        dates(data, times=spoil(data[3]))


def test_rows_that_are_read_hold_no_times(tmp_path):
    table = pd.DataFrame({"qid": [1, 1], "label": [1.0, 0.0], "score": [0.5, 0.4]})
    with pytest.raises(InputError, match="times cannot be given with Rows"):
        SAFE.fit(Rows(table), times=[1, 2])


def test_inside_a_search_and_a_model(data):
    y, scores, groups, days = data
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(clone(SAFE), {"max_shown": [1, 3]}, cv=2)
        level = pd.Index(groups, name="qid")
        search.fit(scores.reshape(-1, 1), pd.Series(y, index=level), times=days)
    assert search.best_estimator_.certificate_.dates == "2026-05-01 to 2026-08-08"
    X = scores.reshape(-1, 1)
    weights = np.where(days < START + 10, 0.0, 1.0)
    model = RankAndFilter(LogisticRegression().fit(X, y > 0), clone(SAFE), cv="prefit")
    model.fit(X, y, groups=groups, times=days, query_weight=weights)
    assert model.certificate_.dates == span(days[weights > 0])

"""Filters of scores as JSON: nothing is lost, and nothing that was changed is believed."""

import json

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import FileFormatError
from skfilterrank.ranking import RankAndFilter, read_filter, write_filter

FORMS = {
    "tune": {},
    "tune@": {"measure": "ap@5", "k": None},
    "per_query": {"threshold": "per_query"},
    "per_query, all places": {"threshold": "per_query", "k": None},
    "fixed": {"threshold": 0.25},
    "none": {"threshold": None},
    "everything": {"threshold": np.inf},
    "nothing": {"threshold": -np.inf},
    "risk": {"threshold": "risk", "risk": "any_forbidden", "max_risk": 0.2},
    "risks": {
        "threshold": "risk",
        "risk": {"any_forbidden@2": 0.2, "false_reject_rate": 0.7},
        "confidence": 0.8,
        "k": None,
    },
    "in expectation": {
        "threshold": "risk",
        "risk": "forbidden",
        "max_risk": 0.2,
        "guarantee": "expectation",
    },
}


@pytest.fixture(scope="module")
def data():
    return make_rank_and_filter(n_queries=200, random_state=0)


@pytest.mark.parametrize("form", FORMS)
def test_reads_back(data, form, tmp_path):
    model = RankAndFilter("passthrough", **({"k": 3} | FORMS[form]))
    model.fit(data.bayes_scores, data.y, groups=data.groups)
    path = tmp_path / "filter.json"
    write_filter(path, model)
    again = read_filter(path)
    order = np.random.default_rng(0).permutation(len(data.y))
    for rows in (slice(None), order, slice(0, 7)):
        scores, groups = data.bayes_scores[rows], data.groups[rows]
        np.testing.assert_array_equal(
            again.predict(scores, groups=groups), model.predict(scores, groups=groups)
        )
        assert again.score(scores, data.y[rows], groups=groups) == model.score(
            scores, data.y[rows], groups=groups
        )
    assert again.threshold_ == model.threshold_
    if hasattr(model, "risk_certificate_"):
        assert str(again.risk_certificate_) == str(model.risk_certificate_)
        assert again.risk_certificate_.to_frame().equals(model.risk_certificate_.to_frame())
    # What was read is written as it was.
    write_filter(tmp_path / "again.json", again)
    assert (tmp_path / "again.json").read_text() == path.read_text()
    # And can be fitted again.
    assert again.fit(data.bayes_scores, data.y, groups=data.groups).threshold_ == model.threshold_


def test_gains_keep_their_keys(data, tmp_path):
    labels = np.where(data.y < 0, "bad", "good")
    gains = {"bad": -1, "good": 1, 3: 2.0, np.int64(4): np.float64(0.5)}
    model = RankAndFilter("passthrough", k=3, gains=gains)
    model.fit(data.bayes_scores, labels, groups=data.groups)
    write_filter(tmp_path / "filter.json", model)
    again = read_filter(tmp_path / "filter.json")
    assert again.gains == gains
    assert [type(key) for key in again.gains] == [str, str, int, int]


def test_a_person_can_read_it(data, tmp_path):
    model = RankAndFilter("passthrough", k=3).fit(data.bayes_scores, data.y, groups=data.groups)
    write_filter(tmp_path / "filter.json", model)
    content = json.loads((tmp_path / "filter.json").read_text())
    assert content["format"] == "skfilterrank filter 2"
    assert content["measure"] == "ndcg_f@3"
    assert content["threshold"] == model.threshold_


@pytest.mark.parametrize("change", [('"k": 3', '"k": 4'), ('"threshold": 0.', '"threshold": 1.')])
def test_a_changed_file_is_told(data, tmp_path, change):
    model = RankAndFilter("passthrough", k=3, threshold=0.25)
    model.fit(data.bayes_scores, data.y, groups=data.groups)
    path = tmp_path / "filter.json"
    write_filter(path, model)
    changed = path.read_text().replace(*change)
    assert changed != path.read_text()
    path.write_text(changed)
    with pytest.raises(FileFormatError, match=r"filter.json: .* was changed after it was written"):
        read_filter(path)


def test_what_cannot_be_written(data, tmp_path):
    path = tmp_path / "filter.json"
    with pytest.raises(NotFittedError):
        write_filter(path, RankAndFilter("passthrough"))
    with pytest.raises(ValueError, match="must be a RankAndFilter around 'passthrough', got 3"):
        write_filter(path, 3)
    learned = RankAndFilter(LogisticRegression()).fit(data.X, data.y, groups=data.groups)
    with pytest.raises(ValueError, match="learned from features with LogisticRegression"):
        write_filter(path, learned)
    by_function = RankAndFilter("passthrough", gains=lambda label: label)
    by_function.fit(data.bayes_scores, data.y, groups=data.groups)
    with pytest.raises(ValueError, match="gains of model is a function"):
        write_filter(path, by_function)
    assert not path.exists()

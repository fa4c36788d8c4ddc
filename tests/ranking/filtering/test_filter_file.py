"""Filters of scores as JSON: nothing is lost, and nothing that was changed is believed."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from skfilterrank._files.states import checksum_of
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import FileFormatError, InputError, InputTypeError
from skfilterrank.io import load_model, save_model
from skfilterrank.ranking import (
    RankAndFilter,
    RiskMonitor,
    read_filter,
    read_monitor,
    write_filter,
    write_monitor,
)

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


@pytest.mark.slow
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
    gains = {"bad": -1, "good": 1, 3: 2.0, np.int64(4): np.float64(0.5), "?": np.nan}
    model = RankAndFilter("passthrough", k=3, gains=gains)
    model.fit(data.bayes_scores, labels, groups=data.groups)
    write_filter(tmp_path / "filter.json", model)
    again = read_filter(tmp_path / "filter.json")
    assert repr(list(again.gains.items())) == (
        "[('bad', -1.0), ('good', 1.0), (3, 2.0), (4, 0.5), ('?', nan)]"
    )


def test_a_person_can_read_it(data, tmp_path):
    model = RankAndFilter("passthrough", k=3).fit(data.bayes_scores, data.y, groups=data.groups)
    write_filter(tmp_path / "filter.json", model)
    content = json.loads((tmp_path / "filter.json").read_text())
    assert content["format"] == "skfilterrank filter 3"
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


@pytest.fixture(scope="module")
def texts(data, tmp_path_factory):
    """What files hold, by the threshold of the filter, and that of a monitor."""
    path, found = tmp_path_factory.mktemp("files") / "state.json", {}
    for form, more in {
        "risk": FORMS["risk"],
        "per_query": FORMS["per_query"],
        "expected": {"threshold": "expected"},
        "tune": {"abstain": "score_regression", "max_shown": 3},
    }.items():
        model = RankAndFilter("passthrough", k=3, **more)
        write_filter(path, model.fit(data.bayes_scores, data.y, groups=data.groups))
        found[form] = path.read_text()
    monitor = RiskMonitor("forbidden", max_risk=0.1, k=3)
    monitor.update(data.y, data.bayes_scores, groups=data.groups)
    write_monitor(path, monitor)
    return found | {"monitor": path.read_text()}


MISSING = object()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "field", "value"),
    [
        ("risk", ["threshold"], MISSING),
        ("risk", ["threshold"], "x"),
        ("risk", ["threshold"], "nan"),
        ("risk", ["threshold"], float("nan")),
        ("risk", ["threshold"], [1]),
        ("risk", ["k"], 0),
        ("risk", ["measure"], "nope"),
        ("risk", ["gains"], 3),
        ("risk", ["gains"], [[1]]),
        ("risk", ["gains"], [[[], 1]]),
        ("risk", ["list_sizes"], None),
        ("risk", ["promises"], []),
        ("risk", ["promises", 0, "max_risk"], -1),
        ("risk", ["promises", 0, "n_queries"], -1),
        ("risk", ["promises", 0, "observed"], MISSING),
        ("risk", ["confidence"], 2.5),
        ("risk", ["confidence"], MISSING),
        ("per_query", ["lists", "cut"], {}),
        ("per_query", ["lists", "cut", "worth", "linear"], [1.0]),
        ("per_query", ["lists", "threshold"], "nope"),
        ("expected", ["lists", "cut", "curves"], []),
        ("expected", ["lists", "cut", "gains"], ["x"]),
        ("tune", ["lists", "confidence_weights"], None),
        ("tune", ["lists", "confidence_weights"], [1.0]),
        ("tune", ["lists", "abstain"], None),
        ("tune", ["lists", "max_shown"], -1),
        ("monitor", ["alpha"], MISSING),
        ("monitor", ["alpha"], 1),
        ("monitor", ["rates", 0, "log_capital"], [0.0]),
        ("monitor", ["rates", 0, "losses"], [[2.0, 1]]),
        ("monitor", ["rates", 0, "risk"], "nope"),
        ("monitor", ["queries"], [3]),
    ],
)
def test_fields_are_looked_at_whatever_the_checksum(texts, tmp_path, form, field, value):
    content = json.loads(texts[form])
    del content["checksum"]
    inside = content
    for name in field[:-1]:
        inside = inside[name]
    inside[field[-1]] = value
    if value is MISSING:
        del inside[field[-1]]
    path = tmp_path / "state.json"
    path.write_text(json.dumps(content | {"checksum": checksum_of(content)}))
    read = read_monitor if form == "monitor" else read_filter
    names = [name for name in field if isinstance(name, str)]
    with pytest.raises(FileFormatError, match=rf"state\.json: .*{names[-1]}.* Make it again"):
        read(path)


def test_numbers_that_json_lacks_are_told(tmp_path):
    path = tmp_path / "filter.json"
    path.write_text('{"format":"skfilterrank filter 3","threshold":NaN,"checksum":"x"}')
    with pytest.raises(FileFormatError, match="was changed after it was written"):
        read_filter(path)


@pytest.mark.slow
def test_a_byte_order_mark_is_no_content(texts, tmp_path):
    path = tmp_path / "state.json"
    path.write_text(texts["risk"], encoding="utf-8-sig")
    assert read_filter(path).k == 3
    path.write_text(texts["monitor"], encoding="utf-8-sig")
    assert read_monitor(path).k == 3


@pytest.mark.parametrize("label", [pd.Timestamp(0), ("a", 1), np.inf, "\ud800"])
def test_labels_that_json_cannot_hold(tmp_path, label):
    with pytest.raises(InputError, match=r"which JSON cannot hold|half of a character"):
        write_monitor(tmp_path / "m.json", RiskMonitor("forbidden", gains={label: 1}))
    assert list(tmp_path.iterdir()) == []


def test_gains_of_a_monitor_may_say_unjudged(tmp_path):
    write_monitor(tmp_path / "m.json", RiskMonitor("forbidden", gains={"?": np.nan}))
    assert np.isnan(read_monitor(tmp_path / "m.json").gains["?"])


@pytest.mark.parametrize("path", [None, 3, b"f.json"])
def test_what_is_no_path(data, path):
    model = RankAndFilter("passthrough", threshold=0.5)
    model.fit(data.bayes_scores, data.y, groups=data.groups)
    with pytest.raises(InputTypeError, match=r"path must be .*call write_filter\(path, model\)"):
        write_filter(path, model)
    with pytest.raises(InputTypeError, match=r"call write_monitor\(path, monitor\)"):
        write_monitor(path, RiskMonitor("forbidden"))


@pytest.mark.parametrize("path", ["a\0b", "\ud800"])
def test_what_no_file_is_called(data, path):
    model = LogisticRegression().fit([[0], [1]], [0, 1])
    cut = RankAndFilter("passthrough", threshold=0.5)
    cut.fit(data.bayes_scores, data.y, groups=data.groups)
    for call in (
        lambda: write_filter(path, cut),
        lambda: write_monitor(path, RiskMonitor("forbidden")),
        lambda: save_model(model, path),
        lambda: read_filter(path),
        lambda: read_monitor(path),
        lambda: load_model(path),
    ):
        with pytest.raises(InputError, match="is no path"):
            call()


@pytest.mark.slow
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

"""Thresholds as JSON: nothing is lost, and nothing that was changed is believed."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skfilterrank._files.states import checksum_of
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import FileFormatError, InputError, InputTypeError
from skfilterrank.metrics import ndcg_score
from skfilterrank.thresholds import (
    CertifiedThreshold,
    ExpectedThreshold,
    FirstK,
    FixedThreshold,
    PerQueryThreshold,
    RiskMonitor,
    TunedThreshold,
    load_threshold,
)

THRESHOLDS = [
    TunedThreshold("ndcg_f@3"),
    TunedThreshold(ndcg_score, max_shown=np.int64(4)),
    TunedThreshold("forbidden@5", min_shown=1),
    FixedThreshold(np.float64(0.25)),
    FixedThreshold(0.25, max_shown=2),
    FixedThreshold(),
    FirstK("dcg"),
    PerQueryThreshold("ndcg_f@3"),
    ExpectedThreshold("ndcg_f@3", max_shown=3),
    CertifiedThreshold({"any_forbidden@3": 0.2}, measure="ndcg_f@3"),
    CertifiedThreshold({"any_forbidden@2": 0.2, "false_reject_rate": 0.7}, confidence_level=0.8),
]


@pytest.fixture(scope="module")
def data():
    return make_rank_and_filter(n_queries=120, random_state=0)


def fitted(threshold, data):
    return clone(threshold).fit(data.bayes_scores, data.y, groups=data.groups)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*as good on held-out queries")
@pytest.mark.parametrize(
    "threshold", THRESHOLDS, ids=lambda each: repr(each).partition(" at 0x")[0]
)
def test_loads_what_was_saved(data, threshold, tmp_path):
    model = fitted(threshold, data)
    path = tmp_path / "threshold.json"
    model.save(path)
    loaded = load_threshold(path)
    assert type(loaded) is type(model)
    for rows in (slice(None), slice(0, 7)):
        given = {"scores": data.bayes_scores[rows], "groups": data.groups[rows]}
        for method in ("predict", "decision_function", "rank"):
            found, expected = (getattr(each, method)(**given) for each in (loaded, model))
            np.testing.assert_array_equal(found, expected)
    score = loaded.score(data.bayes_scores, data.y, groups=data.groups)
    assert score == model.score(data.bayes_scores, data.y, groups=data.groups)
    for name in ("threshold_", "level_", "measure_", "n_unjudged_", "best_score_"):
        assert getattr(loaded, name, None) == getattr(model, name, None)
    # What was loaded is saved as it was, and can be fitted again.
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == path.read_text()
    assert fitted(loaded, data).level_ == model.level_


def test_a_certificate_is_kept_under_a_condition(data, tmp_path):
    model = fitted(THRESHOLDS[-1], data)
    model.save(tmp_path / "threshold.json")
    certificate = load_threshold(tmp_path / "threshold.json").certificate_
    assert certificate.facts["assumes_unseen"]
    assert str(certificate) == str(model.certificate_)
    assert certificate.to_frame().equals(model.certificate_.to_frame())
    assert certificate.value == model.certificate_.value


def test_without_query_ids_each_row_remains_a_query(data, tmp_path):
    with pytest.warns(UserWarning, match="without query ids"):
        model = TunedThreshold(max_shown=1).fit(data.bayes_scores, data.y)
    model.save(tmp_path / "threshold.json")
    loaded = load_threshold(tmp_path / "threshold.json")
    expected = model.predict(data.bayes_scores)
    np.testing.assert_array_equal(loaded.predict(data.bayes_scores), expected)


def test_gains_keep_their_keys(data, tmp_path):
    labels = np.where(data.y < 0, "bad", "good")
    gains = {"bad": -1, "good": 1, 3: 2.0, np.int64(4): np.float64(0.5), "?": np.nan}
    model = TunedThreshold(gains=gains).fit(data.bayes_scores, labels, groups=data.groups)
    model.save(tmp_path / "threshold.json")
    assert repr(list(load_threshold(tmp_path / "threshold.json").gains.items())) == (
        "[('bad', -1.0), ('good', 1.0), (3, 2.0), (4, 0.5), ('?', nan)]"
    )


def test_a_person_can_read_it(data):
    model = fitted(CertifiedThreshold({"any_forbidden@3": 0.2}, measure="ndcg_f@3"), data)
    text = io.StringIO()
    model.save(text)
    content = json.loads(text.getvalue())
    assert content["format"] == "skfilterrank threshold 3"
    assert content["class"] == "CertifiedThreshold"
    assert content["parameters"]["risks"] == [["any_forbidden@3", 0.2]]
    assert content["fitted"]["measure"] == "ndcg_f@3"
    assert content["fitted"]["threshold"] == model.threshold_


@pytest.mark.parametrize(
    ("load", "form"),
    [(load_threshold, "skfilterrank threshold 3"), (RiskMonitor.load, "skfilterrank monitor 7")],
)
def test_other_files_are_refused(tmp_path, load, form):
    path = tmp_path / "state.json"
    path.write_text(json.dumps({"format": f"{form[:-1]}9"}))
    with pytest.raises(FileFormatError, match=f"expected '{form}'"):
        load(path)


@pytest.mark.parametrize(
    ("model", "field", "value"),
    [
        (FixedThreshold(0.5), "class", "Cut"),
        (FixedThreshold(0.5), "fitted", {}),
        (RiskMonitor({"forbidden@3": 0.1}), "confidence_level", 1),
    ],
)
def test_other_fields_are_refused_though_the_checksum_fits(tmp_path, model, field, value):
    path = tmp_path / "state.json"
    model = model.fit() if isinstance(model, FixedThreshold) else model
    model.save(path)
    content = json.loads(path.read_text()) | {field: value}
    del content["checksum"]
    path.write_text(json.dumps(content | {"checksum": checksum_of(content)}))
    load = RiskMonitor.load if isinstance(model, RiskMonitor) else load_threshold
    with pytest.raises(FileFormatError, match=r"state\.json: it does not hold .* Write it again"):
        load(path)


@pytest.mark.parametrize("label", [pd.Timestamp(0), ("a", 1), np.inf, "\ud800"])
def test_labels_that_json_cannot_hold(tmp_path, label):
    with pytest.raises(InputError, match=r"which JSON cannot hold|cannot be written to a file"):
        RiskMonitor({"forbidden": 0.1}, gains={label: 1}).save(tmp_path / "monitor.json")
    assert list(tmp_path.iterdir()) == []


def test_gains_of_a_monitor_may_say_unjudged(tmp_path):
    RiskMonitor({"forbidden": 0.1}, gains={"?": np.nan}).save(tmp_path / "monitor.json")
    assert np.isnan(RiskMonitor.load(tmp_path / "monitor.json").gains["?"])


@pytest.mark.parametrize("path", [None, 3, b"f.json"])
def test_what_is_no_path(path):
    with pytest.raises(InputTypeError, match=r"path must be .*call threshold.save\(path\)"):
        FixedThreshold(0.5).fit().save(path)
    with pytest.raises(InputTypeError, match=r"call monitor.save\(path\)"):
        RiskMonitor({"forbidden": 0.1}).save(path)


@pytest.mark.parametrize("path", ["a\0b", "\ud800"])
def test_what_no_file_is_called(path):
    for call in (
        lambda: FixedThreshold(0.5).fit().save(path),
        lambda: RiskMonitor({"forbidden": 0.1}).save(path),
        lambda: load_threshold(path),
        lambda: RiskMonitor.load(path),
    ):
        with pytest.raises(InputError, match="is not a path"):
            call()


class OwnThreshold(TunedThreshold):
    """A threshold that no file holds."""


@pytest.mark.parametrize(
    ("threshold", "message"),
    [
        (TunedThreshold(gains=np.abs), "gains of .* is a function"),
        (OwnThreshold(), "OwnThreshold is not a class of skfilterrank.thresholds"),
    ],
)
@pytest.mark.filterwarnings("ignore:no label has a gain below 0")
def test_what_no_file_holds(data, tmp_path, threshold, message):
    model = fitted(threshold, data)
    with pytest.raises(InputError, match=message):
        model.save(tmp_path / "threshold.json")
    assert not list(tmp_path.iterdir())


def test_an_unfitted_threshold_is_refused(tmp_path):
    with pytest.raises(NotFittedError, match=r"is not fitted\. Call fit\(scores, y, groups="):
        TunedThreshold().save(tmp_path / "threshold.json")
    assert not list(tmp_path.iterdir())

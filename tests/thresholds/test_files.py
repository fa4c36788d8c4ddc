"""Thresholds as JSON: nothing is lost, and nothing that was changed is believed."""

import contextlib
import io
import json
import random
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skfilterrank._files.states import checksum_of
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import FileFormatError, FitWarning, InputError, InputTypeError
from skfilterrank.metrics import ndcg_score
from skfilterrank.thresholds import (
    CertifiedThreshold,
    ExpectedThreshold,
    FirstK,
    FixedThreshold,
    LearnedThreshold,
    PerQueryThreshold,
    RiskMonitor,
    TunedThreshold,
    _list_models,
    load_threshold,
)

THRESHOLDS = [
    TunedThreshold("ndcg_f@3"),
    TunedThreshold(ndcg_score, max_shown=np.int64(4)),
    TunedThreshold("forbidden@5", min_shown=1),
    FixedThreshold(np.float64(0.25)),
    FixedThreshold(0.25, max_shown=2),
    FixedThreshold(),
    FixedThreshold(np.inf),
    FirstK("dcg"),
    PerQueryThreshold("ndcg_f@3"),
    ExpectedThreshold("ndcg_f@3", max_shown=3),
    CertifiedThreshold({"any_forbidden@3": 0.2}, measure="ndcg_f@3"),
    CertifiedThreshold({"any_forbidden@2": 0.2, "false_reject_rate": 0.7}, confidence_level=0.8),
    CertifiedThreshold({"forbidden@3": 0.2}),
]


@pytest.fixture(scope="module")
def data():
    return make_rank_and_filter(n_queries=120, random_state=0)


def fitted(threshold, data):
    return clone(threshold).fit(data.bayes_scores, data.y, groups=data.groups)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:filtering is not shown to pay")
@pytest.mark.parametrize(
    "threshold", THRESHOLDS, ids=lambda each: repr(each).partition(" at 0x")[0]
)
def test_loads_what_was_saved(data, threshold, tmp_path):
    model = fitted(threshold, data)
    path = tmp_path / "threshold.json"
    model.save(path)
    loaded = load_threshold(path)
    assert type(loaded) is type(model)
    order = np.random.default_rng(0).permutation(len(data.y))
    for rows in (slice(None), order, slice(0, 7)):
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
    model = fitted(THRESHOLDS[-2], data)
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


def test_a_changed_file_is_refused(data, tmp_path):
    path = tmp_path / "threshold.json"
    fitted(FixedThreshold(0.25), data).save(path)
    path.write_text(path.read_text().replace('"level": 0.25', '"level": 0.5'))
    with pytest.raises(FileFormatError, match=r"threshold.json: .* changed after it was written"):
        load_threshold(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"format": "skfilterrank filter 3"}, r"'skfilterrank filter 3', expected .*\. "
         r"Write it again"),
        ({"format": "skfilterrank threshold 9"}, "expected 'skfilterrank threshold 3'"),
        ({"format": "skfilterrank monitor 4"}, "is 'skfilterrank monitor 4', expected 'skf"),
        ([], "its format is"),
    ],
)  # fmt: skip
def test_other_files_are_refused(tmp_path, content, message):
    path = tmp_path / "threshold.json"
    path.write_text(json.dumps(content))
    with pytest.raises(FileFormatError, match=message):
        load_threshold(path)


@pytest.fixture(scope="module")
def contents(data, tmp_path_factory):
    """What files hold, by the class of the threshold, and that of a monitor."""
    path, found = tmp_path_factory.mktemp("files") / "state.json", {}
    monitor = RiskMonitor({"forbidden@3": 0.1})
    monitor.update(data.y, data.bayes_scores, groups=data.groups)
    of_both = np.column_stack([data.bayes_scores, data.X[:, 0]])
    thresholds = {
        "certified": fitted(THRESHOLDS[-3], data),
        "per_query": fitted(PerQueryThreshold("ndcg_f@3"), data),
        "expected": fitted(ExpectedThreshold("ndcg_f@3"), data),
        "tuned": fitted(TunedThreshold(max_shown=3), data),
    }
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        patch.setattr(_list_models, "_ROUNDS", 2)
        thresholds["learned"] = fitted(LearnedThreshold(cv=2, random_state=0), data)
        thresholds["two"] = TunedThreshold().fit(of_both, data.y, groups=data.groups)
    for name, each in {**thresholds, "monitor": monitor}.items():
        each.save(path)
        found[name] = path.read_text()
    return found


MISSING = object()


@pytest.mark.parametrize(
    ("form", "field", "value"),
    [
        ("certified", ["class"], "Cut"),
        ("certified", ["class"], "BaseThreshold"),
        ("certified", ["class"], 3),
        ("certified", ["parameters"], []),
        ("certified", ["parameters", "unknown"], 1),
        ("certified", ["parameters", "risks"], MISSING),
        ("certified", ["parameters", "risks"], []),
        ("certified", ["parameters", "risks"], [["any_forbidden", 2]]),
        ("certified", ["parameters", "risks"], [["nope", 0.1]]),
        ("certified", ["parameters", "confidence_level"], 2),
        ("certified", ["parameters", "confidence_level"], [1]),
        ("certified", ["parameters", "measure"], "nope"),
        ("certified", ["parameters", "gains"], 3),
        ("certified", ["parameters", "gains"], [[1]]),
        ("certified", ["parameters", "gains"], [[[], 1]]),
        ("certified", ["fitted"], MISSING),
        ("certified", ["fitted", "level"], MISSING),
        ("certified", ["fitted", "level"], None),
        ("certified", ["fitted", "level"], "x"),
        ("certified", ["fitted", "level"], "nan"),
        ("certified", ["fitted", "level"], float("nan")),
        ("certified", ["fitted", "level"], [1]),
        ("certified", ["fitted", "caps"], [0, None]),
        ("certified", ["fitted", "list_sizes"], None),
        ("certified", ["fitted", "calibration", "quantiles"], [1]),
        ("certified", ["fitted", "certificate", "risks"], []),
        ("certified", ["fitted", "certificate", "conditions", 0, "name"], "n_odd"),
        ("certified", ["fitted", "certificate", "conditions"], []),
        ("certified", ["fitted", "certificate", "risks", 0, "max_risk"], -1),
        ("certified", ["fitted", "certificate", "risks", 0, "n_queries"], -1),
        ("certified", ["fitted", "certificate", "risks", 0, "observed"], MISSING),
        ("certified", ["fitted", "certificate", "confidence_level"], 2.5),
        ("certified", ["fitted", "certificate", "confidence_level"], MISSING),
        ("per_query", ["fitted", "cut"], {}),
        ("per_query", ["fitted", "cut"], MISSING),
        ("per_query", ["fitted", "cut", "worth", "linear"], [1.0]),
        ("expected", ["fitted", "cut", "curves"], []),
        ("expected", ["fitted", "cut", "gains"], ["x"]),
        ("expected", ["fitted", "cut", "gains"], [1.0, 1.0, 2.0]),
        ("expected", ["fitted", "cut", "curves", 0, 0, 0], 1e9),
        ("expected", ["fitted", "cut", "curves", 0, 1, 0], 1.5),
        ("expected", ["fitted", "calibration", "n_queries"], 0),
        ("per_query", ["fitted", "cut", "range", 0], [1.0, 2.0, 3.0, 4.0]),
        ("per_query", ["fitted", "cut", "worth", "scale", 0], 0.0),
        ("tuned", ["fitted", "cut"], True),
        ("two", ["fitted", "cut", "gain", "x"], [1.0]),
        ("two", ["fitted", "cut", "harm", "scale"], 0),
        ("learned", ["parameters", "estimator"], "trees"),
        ("learned", ["fitted", "cut", "gains"], [0.0, 1.0]),
        ("learned", ["fitted", "cut", "columns"], ["length"]),
        ("learned", ["fitted", "cut", "trees"], ["tree\nversion=v4\n"]),
        ("learned", ["fitted", "cut", "trees", "features", 0], 18),
        ("learned", ["fitted", "cut", "trees", "features", 0], -1),
        ("learned", ["fitted", "cut", "trees", "numbers", 0], "nan"),
        ("learned", ["fitted", "cut", "trees", "numbers"], [1.0]),
        ("learned", ["fitted", "cut", "trees", "left", 1], 0),
        ("learned", ["fitted", "cut", "trees", "right", 1], 10**9),
        ("learned", ["fitted", "cut", "trees", "roots", 0, 0], 10**9),
        ("learned", ["fitted", "cut", "trees", "roots", 0], [0]),
        ("tuned", ["parameters", "max_shown"], -1),
        ("monitor", ["confidence_level"], MISSING),
        ("monitor", ["confidence_level"], 1),
        ("monitor", ["queries_per_false_alarm"], 0),
        ("monitor", ["risks", 0, "log_capital"], [0.0]),
        ("monitor", ["risks", 0, "losses"], [[2.0, 1]]),
        ("monitor", ["risks", 0, "risk"], "nope"),
        ("monitor", ["queries"], [3]),
        ("monitor", ["n_machine"], -1),
        ("monitor", ["n_machine"], MISSING),
        ("monitor", ["clusters"], [3]),
        ("monitor", ["unit"], 3),
        ("monitor", ["hides"], {"level": 0.5}),
        ("monitor", ["risks", 0, "shares", 0], 0.0),
        ("monitor", ["risks", 0, "shares"], [1.0]),
    ],
)
def test_fields_are_looked_at_whatever_the_checksum(contents, tmp_path, form, field, value):
    content = json.loads(contents[form])
    del content["checksum"]
    inside = content
    for name in field[:-1]:
        inside = inside[name]
    inside[field[-1]] = value
    if value is MISSING:
        del inside[field[-1]]
    path = tmp_path / "state.json"
    path.write_text(json.dumps(content | {"checksum": checksum_of(content)}))
    load = RiskMonitor.load if form == "monitor" else load_threshold
    names = [name for name in field if isinstance(name, str) and name != "name"]
    what = f"{names[-1]}|parameters lacks" if value is MISSING else names[-1]
    with pytest.raises(FileFormatError, match=rf"state\.json: .*({what}).* Write it again"):
        load(path)


ODD = [None, "x", "nan", "inf", [], {}, [[1]], -1, 0, 3, 0.5, 1e308, 10**400, 2**64, True, MISSING]


def places(value, path=()):
    """The paths of all fields, and of some entries of long lists."""
    if isinstance(value, dict | list):
        keys = value if isinstance(value, dict) else sorted({0, len(value) // 2, len(value) - 1})
        for key in keys if value else []:
            yield (*path, key)
            yield from places(value[key], (*path, key))


def changed(content, rng):
    """A copy with one or two odd values, or lists of another length or order."""
    content = json.loads(content)
    del content["checksum"]
    for _ in range(rng.choice([1, 1, 2])):
        *path, name = rng.choice(list(places(content)))
        inside = content
        for each in path:
            inside = inside[each]
        value = rng.choice([*ODD, "shorter", "turned round"])
        if value is MISSING:
            del inside[name]
        elif value in ("shorter", "turned round"):
            if isinstance(inside[name], list):
                inside[name] = inside[name][::-1] if value == "turned round" else inside[name][1:]
        else:
            inside[name] = value
    return content | {"checksum": checksum_of(content)}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "form", ["certified", "per_query", "expected", "tuned", "two", "learned", "monitor"]
)
def test_a_changed_state_works_or_is_refused(contents, data, form, tmp_path):
    path, rng, refused = tmp_path / "state.json", random.Random(form), []
    scores, groups = data.bayes_scores[:40], data.groups[:40]
    if form == "two":
        scores = np.column_stack([scores, data.X[:40, 0]])
    for _ in range(60):
        path.write_text(json.dumps(changed(contents[form], rng)))
        try:
            found = RiskMonitor.load(path) if form == "monitor" else load_threshold(path)
        except FileFormatError as error:
            refused.append(error.file)
            continue
        with contextlib.suppress(InputError):
            if form == "monitor":
                found.update(data.y[:40], scores, groups=groups)
            else:
                found.predict(scores, groups=groups)
    assert set(refused) == {str(path)}


def test_numbers_that_json_lacks_are_refused(tmp_path):
    path = tmp_path / "threshold.json"
    path.write_text('{"format":"skfilterrank threshold 3","class":NaN,"checksum":"x"}')
    with pytest.raises(FileFormatError, match="was changed after it was written"):
        load_threshold(path)


def test_a_byte_order_mark_is_no_content(contents, tmp_path):
    path = tmp_path / "state.json"
    path.write_text(contents["certified"], encoding="utf-8-sig")
    assert load_threshold(path).measure == "ndcg_f@3"
    path.write_text(contents["monitor"], encoding="utf-8-sig")
    assert RiskMonitor.load(path).levels == {"forbidden@3": 0.1}


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
def test_what_no_file_holds(data, tmp_path, threshold, message):
    model = fitted(threshold, data)
    with pytest.raises(InputError, match=message):
        model.save(tmp_path / "threshold.json")
    assert not list(tmp_path.iterdir())


def test_an_unfitted_threshold_is_refused(tmp_path):
    with pytest.raises(NotFittedError, match=r"is not fitted\. Call fit\(scores, y, groups="):
        TunedThreshold().save(tmp_path / "threshold.json")
    assert not list(tmp_path.iterdir())

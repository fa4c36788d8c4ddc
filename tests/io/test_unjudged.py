"""Labels below 0 that mean that nobody judged, or that a document is forbidden."""

import io

import numpy as np
import pandas as pd
import pytest

from skfilterrank.exceptions import DataWarning, InputError
from skfilterrank.io import QrelsIndex, read_qrels

TEXT = "1 0 a 1\n1 0 b -1\n1 0 c 0\n1 0 d -2\n2 0 e -1\n"


def labels(unjudged_label):
    return read_qrels(io.StringIO(TEXT), unjudged_label=unjudged_label)["label"].tolist()


@pytest.mark.parametrize(
    ("unjudged_label", "expected"),
    [
        (None, [1, -1, 0, -2, -1]),
        ("trec", [1, np.nan, 0, np.nan, np.nan]),
        (-1, [1, np.nan, 0, -2, np.nan]),
        (np.float32(-2), [1, -1, 0, np.nan, -1]),
        (0, [1, -1, np.nan, -2, -1]),
        (7, [1, -1, 0, -2, -1]),
    ],
)
def test_what_each_rule_makes_of_labels(unjudged_label, expected):
    np.testing.assert_array_equal(labels(unjudged_label), expected)


def test_without_a_rule_they_are_forbidden_and_warned_of():
    with pytest.warns(DataWarning, match=r"holds labels below 0 \(-1: 2, -2: 1\), which") as caught:
        assert labels("warn") == [1, -1, 0, -2, -1]
    assert len(caught) == 1


def test_many_labels_are_not_all_shown():
    frame = pd.DataFrame({"qid": "1", "docno": list("abcdefg"), "label": -np.arange(7.0) / 4})
    shown = r"\(-0.25: 1, -0.5: 1, -0.75: 1, -1: 1, -1.25: 1, \.\.\.\)"
    with pytest.warns(DataWarning, match=f"qrels holds labels below 0 {shown}"):
        QrelsIndex(frame)


def by_document(index):
    """Labels of an index in the order of the documents."""
    return index.to_frame().reset_index().sort_values("docno")["label"].tolist()


def test_it_is_asked_once():
    with pytest.warns(DataWarning):
        frame = read_qrels(io.StringIO(TEXT))
    # No second warning: warnings are errors here.
    index = QrelsIndex(frame)
    assert by_document(index) == [1, -1, 0, -2, -1]
    # Whoever says it later is heard.
    later = QrelsIndex(frame, unjudged_label="trec")
    np.testing.assert_array_equal(by_document(later), [1, np.nan, 0, np.nan, np.nan])


@pytest.mark.parametrize("unjudged_label", ["none", np.nan, np.inf, True, [-1]])
def test_what_is_no_rule(unjudged_label):
    with pytest.raises(InputError, match="unjudged_label must be the label that means unjudged"):
        labels(unjudged_label)


@pytest.fixture(autouse=True)
def _warnings_are_errors():
    """Those of labels below 0 too, which other tests ignore."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield

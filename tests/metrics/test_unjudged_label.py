"""Labels below 0 are forbidden documents, or not judged: what was said, by every door."""

import io
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from skfilterrank.comparison import score_systems
from skfilterrank.exceptions import DataWarning, InputError
from skfilterrank.io import QrelsIndex, align, read_qrels
from skfilterrank.metrics import (
    evaluate,
    evaluate_runs,
    make_ranking_scorer,
    ndcg_score,
    values_of_run,
)

TEXT = "1 0 a 1\n1 0 b -1\n1 0 c 0\n1 0 d -2\n2 0 a 2\n2 0 e 0\n"
RUN = pd.DataFrame({"qid": list("111122"), "docno": list("bdcaea"), "score": [4.0, 3, 2, 1, 2, 1]})
MEASURES = ["bpref", "ndcg_0", "infAP", "judged@2"]


def qrels():
    return read_qrels(io.StringIO(TEXT), unjudged_label=None)


def marked(unjudged_label):
    """The judgments, NaN where not judged."""
    is_unjudged = {
        None: [False] * 6,
        "trec": qrels()["label"] < 0,
        -1: qrels()["label"] == -1,
        -2.0: qrels()["label"] == -2,
    }[unjudged_label]
    return qrels().assign(label=qrels()["label"].mask(np.array(is_unjudged)))


@pytest.mark.slow
@pytest.mark.parametrize("unjudged_label", [None, "trec", -1, -2.0])
def test_every_door(unjudged_label, tmp_path):
    path = tmp_path / "qrels"
    path.write_text(TEXT)
    frame = marked(unjudged_label)
    frame.attrs["unjudged_label"] = True
    expected = values_of_run(frame, RUN, MEASURES)
    said = {"unjudged_label": unjudged_label}
    bare = pd.DataFrame(qrels().to_dict("list"))
    by_door = [
        values_of_run(path, RUN, MEASURES, **said),
        values_of_run(bare, RUN, MEASURES, **said),
        values_of_run(read_qrels(path, **said), RUN, MEASURES),
        values_of_run(QrelsIndex(path, **said), RUN, MEASURES),
        values_of_run(None, align(QrelsIndex(bare, **said), RUN), MEASURES),
        evaluate_runs(path, {"x": RUN}, MEASURES, **said).per_query.loc["x"],
    ]
    for found in by_door:
        pd.testing.assert_frame_equal(found, expected)
    scores = score_systems(path, {"x": RUN, "y": RUN}, MEASURES, **said)
    assert {name: each.means["x"] for name, each in scores.items()} == expected.mean().to_dict()


def told(function):
    """Texts of the warnings that a function gives."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        function()
    assert {each.category for each in found} <= {DataWarning}
    assert {each.filename for each in found} <= {__file__}
    return [str(each.message) for each in found]


def test_it_is_asked_once_where_nothing_is_said(tmp_path):
    path = tmp_path / "qrels"
    path.write_text(TEXT)
    runs = {"x": RUN, "y": RUN}
    bare = pd.DataFrame(qrels().to_dict("list"))
    for ask in (
        lambda: read_qrels(path),
        lambda: values_of_run(read_qrels(path), RUN, "ap"),
        lambda: values_of_run(bare, RUN, ["ap", "ndcg_f@3"]),
        lambda: evaluate_runs(bare, runs, "ap", n_jobs=2).per_query,
        lambda: score_systems(path, runs, ["ap"]),
        lambda: QrelsIndex(bare).align(RUN),
        lambda: values_of_run(bare, RUN, "ap", gains="exp2"),
    ):
        (text,) = told(ask)
        assert "holds labels below 0 (-1: 1, -2: 1)" in text
        assert "unjudged_label=None" in text
        assert "'trec'" in text
    for said in (
        lambda: values_of_run(bare, RUN, "ap", gains={-2: -1, -1: 0, 0: 0, 1: 1, 2: 2}),
        lambda: values_of_run(bare, RUN, "ap", gains=abs),
        lambda: values_of_run(qrels().head(3), RUN, "ap"),
        lambda: values_of_run(bare.assign(label=abs(bare["label"])), RUN, "ap"),
    ):
        assert told(said) == []


@pytest.mark.parametrize("said", ["forbidden", True, [-1], float("nan"), float("inf")])
def test_what_may_be_said(said):
    message = "unjudged_label must be the label that means unjudged, 'trec'"
    for door in (
        lambda: read_qrels(io.StringIO(TEXT), unjudged_label=said),
        lambda: values_of_run(qrels(), RUN, "ap", unjudged_label=said),
    ):
        with pytest.raises(InputError, match=message):
            door()


def test_what_is_indexed():
    assert QrelsIndex(qrels()).labels.tolist() == [-2, -1, 0, 1, 2]


def test_ndcg_of_forbidden_documents_is_warned_of_once_a_call():
    y, scores, groups = [2, -1, 0], [1, 2, 3], [1, 1, 1]
    runs = {"x": RUN, "y": RUN}
    for call, names, at, cut in (
        (lambda: ndcg_score(y, scores, groups=groups, k=2), "ndcg@2", "@2", "_cut_2"),
        (lambda: ndcg_score(y, scores, groups=groups), "ndcg", "", ""),
        (
            lambda: evaluate(y, scores, ["ndcg@2", "ap", "ndcg(gains=exp2)"], groups=groups),
            "ndcg@2, ndcg(gains=exp2)",
            "@2",
            "_cut_2",
        ),
        (
            lambda: make_ranking_scorer("ndcg@2")(
                LinearRegression().fit([[1], [2], [3]], y), [[1], [2], [3]], y, groups
            ),
            *("ndcg@2", "@2", "_cut_2"),
        ),
        (lambda: values_of_run(qrels(), RUN, ["nDCG@2", "ap"]), "ndcg@2", "@2", "_cut_2"),
        (lambda: evaluate_runs(qrels(), runs, "ndcg", n_jobs=2).per_query, "ndcg", "", ""),
        (lambda: score_systems(qrels(), runs, "ndcg"), "ndcg", "", ""),
    ):
        (text,) = told(call)
        assert text.startswith(f"{names}: some gains are below 0")
        instead = (f"Use ndcg_f{at},", f"or ndcg_0{at},", f"trec_eval's ndcg{cut}.")
        assert all(each in text for each in instead)
    fine = ["ndcg_f@2", "ndcg_0", "ndcg_min", "ndcg_cut_5", "dcg"]
    fine += ["ndcg(gains={-1:0,0:0,2:2})"]

    assert told(lambda: evaluate(y, scores, fine, groups=groups)) == []
    assert told(lambda: ndcg_score(y, scores, groups=groups, gains=abs)) == []

"""Labels say who gave them, and a machine's never count as people's in silence."""

import io
import re
import warnings
from ast import literal_eval

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skfilterrank.comparison import score_systems
from skfilterrank.exceptions import DataWarning, InputError
from skfilterrank.io import QrelsIndex, align, read_qrels, write_qrels
from skfilterrank.metrics import evaluate_run, evaluate_runs, values_of_run

MIXED = "1 0 a 1\n1 predicted b 2\n1 predicted:large c 1\n2 Q0 a 0\n"

RUN = pd.DataFrame({"qid": ["1"] * 3 + ["2"], "docno": ["b", "a", "c", "a"], "score": [3, 2, 1, 1]})


def _read(text, **params):
    return read_qrels(io.StringIO(text), **params)


def _written(qrels, **params):
    out = io.StringIO()
    write_qrels(out, qrels, **params)
    return out.getvalue()


def test_the_second_column_names_machines():
    qrels = _read(MIXED, predicted="use")
    assert qrels["judged_by"].tolist() == ["people", "predicted", "large", "people"]
    assert qrels["label"].tolist() == [1, 2, 1, 0]


@pytest.mark.parametrize("iteration", ["0", "Q0", "0.5", "5", "-1", "predict", "Predicted"])
def test_whatever_else_stands_there_people_judged(iteration):
    qrels = _read(f"1 {iteration} a 1\n2 0 a 1\n")
    assert qrels.columns.tolist() == ["qid", "docno", "label"]


def test_documents_and_topics_may_be_called_predicted():
    qrels = _read("predicted 0 predicted 1\n")
    assert qrels.columns.tolist() == ["qid", "docno", "label"]


@pytest.mark.parametrize("n_rows", [1, 2, 3000])
def test_a_file_of_one_machine(n_rows):
    text = "".join(f"1 predicted:x d{i} 1\n" for i in range(n_rows))
    assert _read(text, predicted="use")["judged_by"].tolist() == ["x"] * n_rows


def test_a_name_that_is_empty_or_holds_colons():
    text = "1 predicted: a 1\n1 predicted:a:b b 1\n1 predicted:people c 1\n"
    qrels = _read(text, predicted="use")
    assert qrels["judged_by"].tolist() == ["predicted", "a:b", "predicted"]


_NAMES = st.one_of(
    st.just("people"),
    st.just("predicted"),
    st.text("abcXYZ-_.:/é9", min_size=1, max_size=8).filter(lambda name: name != "people"),
)


@pytest.mark.slow
@given(st.lists(_NAMES, min_size=1, max_size=12))
def test_any_names_survive_the_file(names):
    qrels = pd.DataFrame(
        {"qid": "1", "docno": [f"d{i}" for i in range(len(names))], "label": 1, "judged_by": names}
    )
    back = _read(_written(qrels), predicted="use")
    assert back.get("judged_by", pd.Series(["people"] * len(names))).tolist() == names


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet"])
def test_tables_keep_the_marks(tmp_path, kind):
    qrels = _read(MIXED, predicted="use")
    path = tmp_path / f"qrels.{kind}"
    if kind == "parquet":
        pytest.importorskip("pyarrow")
        qrels.to_parquet(path)
    elif kind == "jsonl":
        qrels.to_json(path, orient="records", lines=True)
    else:
        qrels.to_csv(path, index=False, sep="\t" if kind == "tsv" else ",")
    back = read_qrels(path, predicted="use")
    pd.testing.assert_frame_equal(back, qrels, check_dtype=False)


def test_where_a_table_says_nothing_people_judged():
    frame = pd.DataFrame(
        {"qid": "1", "docno": ["a", "b", "c"], "label": 1, "judged_by": ["large", None, np.nan]}
    )
    assert read_qrels(frame, predicted="use")["judged_by"].tolist() == ["large", "people", "people"]


def test_objects_with_iterations_are_read_like_files():
    rows = [
        {"query_id": "1", "doc_id": "a", "relevance": 1, "iteration": "0"},
        {"query_id": "1", "doc_id": "b", "relevance": 1, "iteration": "predicted:x"},
    ]
    assert read_qrels(rows, predicted="use")["judged_by"].tolist() == ["people", "x"]
    frame = pd.DataFrame(rows[:1]).assign(iteration=0)
    assert "judged_by" not in read_qrels(frame)


def test_reading_warns_of_how_many_and_whose():
    with pytest.warns(DataWarning, match=r"4 labels, of which machines gave 2 \(large: 1, pre"):
        qrels = _read(MIXED)
    # It was said once.
    QrelsIndex(qrels)
    values_of_run(qrels, RUN, "ap")


def test_marks_written_into_judgments_that_were_read_are_asked_about():
    qrels = _read("1 0 a 1\n1 0 b 0\n").assign(judged_by="large")
    with pytest.warns(DataWarning, match="large: 2"):
        QrelsIndex(qrels)


def test_people_alone_do_not_warn():
    frame = pd.DataFrame({"qid": "1", "docno": ["a"], "label": 1, "judged_by": "people"})
    assert QrelsIndex(frame).n_predicted == {}
    assert read_qrels(frame)["judged_by"].tolist() == ["people"]


def test_a_machine_without_labels_does_not_warn():
    frame = pd.DataFrame({"qid": "1", "docno": ["a", "b"], "label": [1, np.nan]})
    QrelsIndex(frame.assign(judged_by=["people", "large"]))


def test_dropped_labels_are_pooled_and_not_judged():
    dropped = _read(MIXED, predicted="drop")
    assert dropped.columns.tolist() == ["qid", "docno", "label"]
    np.testing.assert_array_equal(dropped["label"], [1, np.nan, np.nan, 0])
    index = QrelsIndex(io.StringIO(MIXED), predicted="drop")
    assert (index.n_judged, index.n_pooled, index.n_predicted) == (2, 4, {})
    assert QrelsIndex(dropped).n_judged == 2


def test_the_index_counts_and_keeps_them():
    index = QrelsIndex(io.StringIO(MIXED), predicted="use")
    assert index.n_predicted == {"large": 1, "predicted": 1}
    table = index.to_frame()
    assert table.loc[("1", "b"), "judged_by"] == "predicted"
    assert table.loc[("1", "c"), "judged_by"] == "large"
    assert table.loc[("1", "a"), "judged_by"] == "people"


_DOORS = {
    "align": lambda qrels, **p: align(QrelsIndex(qrels, **p), RUN),
    "index": lambda qrels, **p: QrelsIndex(qrels, **p),
    "values_of_run": lambda qrels, **p: values_of_run(qrels, RUN, "ap", **p),
    "evaluate_runs": lambda qrels, **p: evaluate_runs(qrels, {"r": RUN}, "ap", **p).per_query,
    "score_systems": lambda qrels, **p: score_systems(qrels, {"r": RUN, "s": RUN}, "ap", **p),
}


@pytest.mark.parametrize("door", _DOORS)
def test_every_door_warns_once_uses_or_drops(door):
    call = _DOORS[door]
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call(io.StringIO(MIXED))
    assert [str(each.message).count("machines gave 2") for each in found] == [1]
    call(io.StringIO(MIXED), predicted="use")
    call(io.StringIO(MIXED), predicted="drop")
    with pytest.raises(InputError, match="predicted must be one of 'warn', 'use', 'drop', got 'k"):
        call(io.StringIO(MIXED), predicted="keep")


def test_values_with_and_without_a_machines_labels():
    # Topic 1: b (machine), a (people), c (machine); with people's labels alone a is at place 2.
    used = values_of_run(io.StringIO(MIXED), RUN, "ap", predicted="use")["ap"]
    dropped = values_of_run(io.StringIO(MIXED), RUN, "ap", predicted="drop")["ap"]
    assert used["1"] == pytest.approx(1.0)
    assert dropped["1"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("name", "value"), [("predicted", "drop"), ("unjudged_label", "trec"), ("own", "drop")]
)
def test_what_is_joined_already_cannot_be_told(name, value):
    index = QrelsIndex(io.StringIO(MIXED), predicted="use")
    with pytest.raises(InputError, match=f"{name}='{value}', but run is an AlignedRun: pass it to"):
        values_of_run(None, index.align(RUN), "ap", **{name: value})
    message = f"{name} must not be given for a QrelsIndex, got '{value}'"
    with pytest.raises(InputError, match=message):
        values_of_run(index, RUN, "ap", **{name: value})


def test_files_of_samples_hold_no_label_of_a_machine():
    prels = pd.DataFrame({"qid": "1", "docno": ["a", "b"], "label": 1})
    prels = prels.assign(inclusion_probability=0.5, judged_by=["people", "large"])
    out = io.StringIO()
    with pytest.raises(InputError, match="the machine 'large' gave the label in row 1"):
        write_qrels(out, prels)
    assert out.getvalue() == ""
    write_qrels(out, prels.assign(judged_by="people"))
    assert len(read_qrels(io.StringIO(out.getvalue()))) == 2


@pytest.mark.parametrize(
    ("name", "match"),
    [("my model", "my model', but ids in a TREC file must not"), (3, "got 3"), ("", "got ''")],
)
def test_names_that_no_file_can_carry(name, match):
    qrels = pd.DataFrame({"qid": "1", "docno": ["a"], "label": 1, "judged_by": [name]})
    with pytest.raises(InputError, match=match):
        _written(qrels)


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


def test_a_measure_of_forbidden_documents_says_what_they_mean():
    frame = pd.DataFrame({"qid": "1", "docno": ["a", "b"], "label": [1.0, -1.0]})
    run = pd.DataFrame({"qid": "1", "docno": ["b", "a"], "score": [2.0, 1.0]})
    # No warning: warnings are errors here.
    for measures in ("any_forbidden@1", ["forbidden@1", "harmful_compatibility"]):
        means = values_of_run(frame, run, measures).mean()
        assert means.iloc[0] == 1, measures
        scores = score_systems(frame, {"a": run, "b": run}, measures)
        assert next(iter(scores.values())).means.tolist() == [1, 1]
    # Those of other measures may be documents that nobody judged.
    with pytest.warns(DataWarning, match="holds labels below 0"):
        values_of_run(frame, run, "ndcg_f@1")


@pytest.mark.parametrize("score", [evaluate_runs, evaluate_run, score_systems])
def test_the_warning_names_a_parameter_of_the_function_that_was_called(score):
    frame = pd.DataFrame({"qid": "1", "docno": ["a", "b"], "label": [1.0, -1.0]})
    run = pd.DataFrame({"qid": "1", "docno": ["b", "a"], "score": [2.0, 1.0]})
    runs = run if score is evaluate_run else {"a": run, "b": run}
    with pytest.warns(DataWarning, match="holds labels below 0") as caught:
        score(frame, runs, "ap")
    (text,) = (str(each.message) for each in caught)
    assert text.endswith("and QrelsIndex, whose results every function accepts.")
    for named in re.findall(r"unjudged_label=([\w'-]+)", text):
        # No warning: warnings are errors here.
        score(frame, runs, "ap", unjudged_label=literal_eval(named))
    # Functions without this parameter say which others have it.
    for call in (lambda: align(frame, run), lambda: QrelsIndex(frame)):
        with pytest.warns(DataWarning, match="of read_qrels and QrelsIndex, whose results every"):
            call()


@pytest.mark.parametrize("unjudged_label", ["none", np.nan, np.inf, True, [-1]])
def test_what_is_no_rule(unjudged_label):
    with pytest.raises(InputError, match="unjudged_label must be the label that means unjudged"):
        labels(unjudged_label)


@pytest.fixture(autouse=True)
def _warnings_are_errors():
    """Those of labels below 0 too, which other tests ignore."""
    with warnings.catch_warnings(action="error"):
        yield

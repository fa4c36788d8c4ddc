"""Our measures in ir_measures expressions."""

import pickle
import sys

import pandas as pd
import pytest

from skfilterrank.metrics import get_measure_names, register_with_ir_measures, values_of_run
from skfilterrank.metrics._ir_measures import NamedGains
from versions import names_as_text

# Labels below 0, of which nothing is said, are given to every measure here.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.* holds labels below 0", "ignore:.*some gains are below 0"
)

ir_measures = pytest.importorskip("ir_measures")

QRELS = {"1": {"a": 2, "b": -2, "c": 1, "d": 0}, "2": {"a": 1, "e": 0}, "3": {"f": 1}}
RUN = {"1": {"a": 0.9, "b": 0.8, "x": 0.7, "d": 0.7}, "2": {"e": 2.0, "a": 1.0}}


@pytest.fixture(scope="module")
def measures():
    return register_with_ir_measures()


def frame(nested, column):
    rows = [(qid, doc, value) for qid, docs in nested.items() for doc, value in docs.items()]
    return pd.DataFrame(rows, columns=["qid", "docno", column])


def expected(text, **params):
    values = values_of_run(frame(QRELS, "label"), frame(RUN, "score"), [text], **params)
    return values[text]


def test_every_measure_is_there(measures):
    names = sorted({*get_measure_names()} - {"ul_normalized", "stat_ap"})
    values = ir_measures.calc_aggregate([getattr(measures, name) for name in names], QRELS, RUN)
    known = values_of_run(frame(QRELS, "label"), frame(RUN, "score"), names)
    for name in names:
        assert values[getattr(measures, name)] == pytest.approx(known[name].mean()), name


@names_as_text
def test_expressions(measures):
    assert repr(measures.nDCG_f @ 20) == "nDCG_f@20"
    assert ir_measures.parse_measure("nDCG_f@20") == measures.nDCG_f @ 20
    assert ir_measures.parse_measure("ndcg_f@20") == measures.nDCG_f @ 20
    assert ir_measures.parse_measure("rbp(persistence=0.95)") == measures.rbp(persistence=0.95)


def test_cut_offs_options_gains_and_ties(measures):
    gains = {-2: -10, 0: 0, 1: 1, 2: 3}
    wanted = {
        measures.nDCG_f @ 2: expected("ndcg_f@2"),
        measures.nDCG_f(gains=gains) @ 2: expected("ndcg_f@2", gains=gains),
        measures.nDCG_f(undefined=0.5, unjudged="drop"): expected("ndcg_f", unjudged="drop"),
        measures.dcg(ties="average") @ 3: expected("dcg@3", ties="average"),
        measures.rbp(persistence=0.5) @ 1: expected("rbp(persistence=0.5)@1"),
    }
    found = {measure: {} for measure in wanted}
    for metric in ir_measures.iter_calc(list(wanted), QRELS, RUN):
        found[metric.measure][metric.query_id] = metric.value
    assert found == {measure: values.to_dict() for measure, values in wanted.items()}


def test_judged_documents_alone(measures):
    """An unjudged document stands before one of two good ones: AP 1/4, or 1/2 without it."""
    run = {"1": {"unjudged": 2.0, "a": 1.0}}
    assert per_topic(measures.ap, QRELS, run)["1"] == 1 / 4
    assert per_topic(measures.ap(judged_only=True), QRELS, run)["1"] == 1 / 2


def test_beside_their_own_on_frames(measures):
    qrels = frame(QRELS, "relevance").set_axis(["query_id", "doc_id", "relevance"], axis=1)
    run = frame(RUN, "score").set_axis(["query_id", "doc_id", "score"], axis=1)
    wanted = [ir_measures.AP, measures.ap, ir_measures.nDCG @ 3, measures.ndcg_0 @ 3]
    values = ir_measures.calc_aggregate(wanted, qrels, run)
    assert values[measures.ap] == pytest.approx(values[ir_measures.AP])
    assert values[measures.ndcg_0 @ 3] == pytest.approx(values[ir_measures.nDCG @ 3])


def test_registering_again_changes_nothing(measures):
    n_providers = len(ir_measures.DefaultPipeline.providers)
    assert register_with_ir_measures() is measures
    assert len(ir_measures.DefaultPipeline.providers) == n_providers


def per_topic(measure, qrels, run):
    return {each.query_id: each.value for each in ir_measures.iter_calc([measure], qrels, run)}


# As PyTerrier's Experiment passes them: its columns renamed, and those of the pipeline still there.
PYTERRIER_QRELS = frame(QRELS, "relevance").set_axis(["query_id", "doc_id", "relevance"], axis=1)
PYTERRIER_RUN = (
    frame(RUN, "score")
    .set_axis(["query_id", "doc_id", "score"], axis=1)
    .assign(docid=range(6), query="how to")
)
# PyTerrier counts ranks from 0.
PYTERRIER_RUN["rank"] = (
    PYTERRIER_RUN.groupby("query_id")["score"].rank("first", ascending=False).astype(int) - 1
)


def test_frames_of_pyterrier(measures):
    for measure, text in [(measures.nDCG_f @ 2, "ndcg_f@2"), (measures.bpref, "bpref")]:
        found = per_topic(measure, PYTERRIER_QRELS.assign(iteration="0"), PYTERRIER_RUN)
        assert found == expected(text).to_dict()
    nothing = PYTERRIER_RUN.iloc[:0]
    assert per_topic(measures.ap, PYTERRIER_QRELS, nothing) == dict.fromkeys("123", 0)


@pytest.mark.parametrize("run", [{}, {"9": {"a": 1.0}}, {"1": {}}], ids=["empty", "other", "none"])
def test_runs_without_a_topic_of_the_judgments(measures, run):
    """Each topic has the value of an empty list, which for nDCG_f is not 0 beside a forbidden."""
    values = per_topic(measures.nDCG_f, QRELS, run)
    lists = values_of_run(
        frame(QRELS, "label"),
        pd.DataFrame({"qid": ["1"], "docno": ["z"], "score": [-float("inf")]}),
        "ndcg_f",
    )
    assert values == lists["ndcg_f"].to_dict()
    assert values["1"] > 0
    assert per_topic(ir_measures.AP, QRELS, run) == per_topic(measures.ap, QRELS, run)
    found = ir_measures.calc_aggregate([measures.ap, measures.empty_list_rate], QRELS, run)
    assert found == {measures.ap: 0, measures.empty_list_rate: 1}


def test_judgments_without_rows(measures):
    values = ir_measures.calc_aggregate([measures.ap, ir_measures.AP], {}, RUN)
    assert str(values[measures.ap]) == str(values[ir_measures.AP]) == "nan"


def test_gains_of_some_labels(measures):
    """Others keep their value, as with ir_measures' own."""
    whole = {-2: -2, 0: 0, 1: 1, 2: 5}
    assert per_topic(measures.nDCG_f(gains={2: 5}), QRELS, RUN) == (
        expected("ndcg_f", gains=whole).to_dict()
    )
    qrels = {
        qid: {doc: max(label, 0) for doc, label in docs.items()} for qid, docs in QRELS.items()
    }
    theirs = per_topic(ir_measures.nDCG(gains={2: 5}) @ 3, qrels, RUN)
    assert per_topic(measures.ndcg(gains={2: 5}) @ 3, qrels, RUN) == pytest.approx(theirs)
    gains = pickle.loads(pickle.dumps(NamedGains({2: 5})))
    assert [gains(label) for label in (0, 1.0, 2.0)] == [0, 1, 5]


def test_pickles(measures):
    wanted = [measures.nDCG_f @ 20, measures.rbp(persistence=0.5), measures.ap(gains={2: 5})]
    for measure in wanted:
        again = pickle.loads(pickle.dumps(measure))
        assert again == measure
        assert type(again) is type(measure)


@pytest.fixture
def unregistered(measures):
    """ir_measures as it was before."""
    registry, providers = ir_measures.measures.registry, ir_measures.DefaultPipeline.providers
    before, pipeline = dict(registry), list(providers)
    for name in [name for name, entry in registry.items() if hasattr(entry, "TABLE_NAME")]:
        del registry[name]
    providers[:] = [each for each in providers if each.NAME != "skfilterrank"]
    register = register_with_ir_measures.__wrapped__
    yield register
    registry.clear()
    registry.update(before)
    providers[:] = pipeline


def test_pickles_register_where_nothing_is(unregistered, measures, monkeypatch):
    letter = pickle.dumps(measures.nDCG_f @ 20)
    monkeypatch.setattr("skfilterrank.metrics._ir_measures.register_with_ir_measures", unregistered)
    again = pickle.loads(letter)
    assert ir_measures.parse_measure("nDCG_f") @ 20 == again
    assert str(again) == "nDCG_f@20"
    assert again.calc_aggregate({"1": {"a": 1}}, {"1": {"a": 1.0}}) == 1.0


@pytest.mark.parametrize("name", ["ap", "nDCG_f", "ndcg_f"])
def test_a_name_that_is_taken(unregistered, name):
    """Nothing is registered, so that it works once the name is free."""
    registry = ir_measures.measures.registry
    registry[name] = ir_measures.AP
    before, n_providers = dict(registry), len(ir_measures.DefaultPipeline.providers)
    with pytest.raises(ValueError, match=f"other measures by the names {name}; nothing was"):
        unregistered()
    assert registry == before
    assert len(ir_measures.DefaultPipeline.providers) == n_providers
    del registry[name]
    measures = unregistered()
    assert ir_measures.calc_aggregate([measures.ap], QRELS, RUN)[measures.ap] > 0


def test_without_ir_measures(monkeypatch):
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    with pytest.raises(ImportError, match=r"pip install 'skfilterrank\[ir-measures\]'"):
        register_with_ir_measures.__wrapped__()


def test_wrong_options_are_named(measures):
    with pytest.raises(ValueError, match="persistence must be a number between"):
        ir_measures.calc_aggregate([measures.rbp(persistence=2.0)], QRELS, RUN)

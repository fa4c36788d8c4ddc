"""Our measures in ir_measures expressions."""

import pandas as pd
import pytest

from skfilterrank.metrics import get_measure_names
from skfilterrank.trec import evaluate_run, register_with_ir_measures

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
    values = evaluate_run(frame(RUN, "score"), frame(QRELS, "label"), [text], **params)
    return values[text]


def test_every_measure_is_there(measures):
    for name in sorted({*get_measure_names()} - {"ul_normalized"}):  # no gains below 0
        measure = getattr(measures, name)
        values = ir_measures.calc_aggregate([measure], QRELS, RUN)
        assert values[measure] == pytest.approx(expected(name).mean()), name


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
        measures.rbp(persistence=0.5) @ 2: expected("rbp(persistence=0.5)@2"),
    }
    found = {measure: {} for measure in wanted}
    for metric in ir_measures.iter_calc(list(wanted), QRELS, RUN):
        found[metric.measure][metric.query_id] = metric.value
    assert found == {measure: values.to_dict() for measure, values in wanted.items()}


def test_beside_their_own_on_frames(measures):
    qrels = frame(QRELS, "relevance").set_axis(["query_id", "doc_id", "relevance"], axis=1)
    run = frame(RUN, "score").set_axis(["query_id", "doc_id", "score"], axis=1)
    wanted = [ir_measures.AP, measures.ap, ir_measures.nDCG @ 3, measures.ndcg_0 @ 3]
    values = ir_measures.calc_aggregate(wanted, qrels, run)
    assert values[measures.ap] == pytest.approx(values[ir_measures.AP])
    assert values[measures.ndcg_0 @ 3] == pytest.approx(values[ir_measures.nDCG @ 3])


def test_one_evaluator_for_many_runs(measures):
    evaluator = ir_measures.evaluator([measures.nDCG_f @ 2], QRELS)
    first = evaluator.calc_aggregate(RUN)
    assert evaluator.calc_aggregate({"1": {"b": 1.0}}) != first
    assert evaluator.calc_aggregate(RUN) == first


def test_registering_again_changes_nothing(measures):
    n_providers = len(ir_measures.DefaultPipeline.providers)
    assert register_with_ir_measures() is measures
    assert len(ir_measures.DefaultPipeline.providers) == n_providers


def test_wrong_options_are_named(measures):
    with pytest.raises(ValueError, match="persistence, the probability"):
        ir_measures.calc_aggregate([measures.rbp(persistence=2.0)], QRELS, RUN)

"""explain_differences gives the nDCG that the tools themselves give, or the reason of none."""

import warnings
from functools import cache
from itertools import product

import lightgbm
import numpy as np
import pandas as pd
import pytest
import pytrec_eval
import xgboost
from catboost.utils import eval_metric
from sklearn.metrics import ndcg_score

from ndcg_rows import TEXTS, rows_of
from skfilterrank.exceptions import InputError
from skfilterrank.metrics import evaluate, evaluate_runs, explain_differences
from skfilterrank.metrics import ndcg_score as our_ndcg_score
from thinned import thinned


@cache
def explained(name, k):
    table = rows_of(name)
    return explain_differences(table.label, table.score, table.qid, k=k, docnos=table.docno)


def as_dicts(table):
    """Judgments and run; what is unjudged or hidden is not in them."""
    qrels, run = {}, {}
    for row in table.itertuples():
        if row.label == row.label:
            whole = int(row.label) if row.label % 1 == 0 else row.label
            qrels.setdefault(row.qid, {})[row.docno] = whole
        if row.score > -np.inf:
            run.setdefault(row.qid, {})[row.docno] = row.score
    return qrels, run


def of_pytrec_eval(table, k):
    name = "ndcg" if k is None else f"ndcg_cut_{k}"
    qrels, run = as_dicts(table)
    found = pytrec_eval.RelevanceEvaluator(qrels, {name.replace("t_", "t.")}).evaluate(run)
    return np.mean([values[name] for values in found.values()])


def of_a_run_of_k(table, k):
    single = table.assign(score=table.score.astype(np.float32)).sort_values(["score", "docno"])
    first = single[single.score > -np.inf].groupby("qid").tail(len(table) if k is None else k)
    hidden = table.assign(score=table.score.where(table.index.isin(first.index), -np.inf))
    return of_pytrec_eval(hidden, None)


def of_sklearn(table, k):
    queries = [rows for _, rows in table.groupby("qid")]
    return np.mean([ndcg_score([rows.label], [rows.score], k=k) for rows in queries])


def of_lightgbm(table, k):
    """Of a tree of one leaf, which adds 0 to the scores."""
    few = lightgbm.Dataset(np.eye(2), label=[0, 1], group=[2], params={"verbose": -1})
    sizes = table.groupby("qid").size()
    rows = {"label": table.label, "group": sizes, "init_score": table.score, "reference": few}
    found = {}
    lightgbm.train(
        {"objective": "lambdarank", "eval_at": [k or len(table)], "verbose": -1, "num_threads": 1},
        few,
        1,
        [lightgbm.Dataset(np.zeros((len(table), 1)), **rows)],
        callbacks=[lightgbm.record_evaluation(found)],
    )
    return found["valid_0"][f"ndcg@{k or len(table)}"][0]


def of_xgboost(table, k):
    """Of no tree: the scores are margins."""
    codes = table.qid.factorize()[0]
    rows = {"label": table.label, "base_margin": table.score, "qid": codes}
    rows = xgboost.DMatrix(np.zeros((len(table), 1)), **rows)
    metric = "ndcg" if k is None else f"ndcg@{k}"
    how = {"objective": "rank:ndcg", "eval_metric": metric, "base_score": 0, "nthread": 1}
    return float(xgboost.Booster(how, [rows]).eval(rows).split(":")[-1])


def of_catboost(table, k):
    metric = "NDCG" if k is None else f"NDCG:top={k}"
    codes = table.qid.factorize()[0]
    return eval_metric(table.label.to_numpy(), table.score.to_numpy(), metric, group_id=codes)[0]


def of_ranx(table, k):
    ranx = pytest.importorskip("ranx")
    qrels, run = as_dicts(table)
    name = "ndcg" if k is None else f"ndcg@{k}"
    return ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), name)


def of_beir(table, k):
    beir = pytest.importorskip("beir.retrieval.evaluation")
    k = k or len(table)
    return beir.EvaluateRetrieval.evaluate(*as_dicts(table), [k])[0][f"NDCG@{k}"]


ASK = {
    "pytrec_eval": of_pytrec_eval,
    "pytrec_eval, run of k": of_a_run_of_k,
    "scikit-learn": of_sklearn,
    "LightGBM": of_lightgbm,
    "XGBoost": of_xgboost,
    "CatBoost": of_catboost,
    "ranx": of_ranx,
    "BEIR": of_beir,
}
# Values at 2 and of whole lists, None where the tool refuses: ranx 0.3.21 and BEIR 2.2.0.
RECORDED = {
    "ranx": {
        "grades": (0.453170653, 0.659729317),
        "ties": (0.450694898, 0.709594669),
        "nothing relevant": (0.190046883, 0.380093767),
        "one document": (0.619906233, 0.619906233),
        "negative labels": (0.493208311, 0.556557272),
        "own document": (0.779781211, 0.843130172),
        "close scores": (0.43537111, 0.625417993),
        "hidden": (None, None),
        "unjudged": (None, None),
        "fractions": (0.43537111, 0.625417993),
        "large labels": (0.649959471, 0.649959471),
        "larger labels": (0.64937629, 0.64937629),
        "long": (0.462284269, 0.799718648),
    },
    "BEIR": {
        "grades": (0.45317, 0.65973),
        "ties": (0.11991, 0.55673),
        "nothing relevant": (0.19005, 0.38009),
        "one document": (0.61991, 0.61991),
        "negative labels": (0.49321, 0.54777),
        "own document": (0.58673, 0.58673),
        "close scores": (0.81546, 0.81546),
        "hidden": (0.61991, 0.52091),
        "unjudged": (0.38009, 0.76019),
        "fractions": (None, None),
        "large labels": (0.64996, 0.64996),
        "larger labels": (0.64938, 0.64938),
        "long": (0.53772, 0.80411),
    },
}
# Where a tool gives a number that no rule explains: CatBoost has no unjudged documents, and the
# order of ties in ranx's long lists follows from numba's sort.
UNTOLD = {("CatBoost", "unjudged"), ("ranx", "long")}


# XGBoost prints six digits, BEIR rounds to five, and CatBoost's labels are in single precision.
DIGITS = {"ranx": 1e-9, "CatBoost": 1e-7, "XGBoost": 1e-6, "BEIR": 6e-6}


def same(tool, value):
    return pytest.approx(value, abs=DIGITS.get(tool, 1e-12))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tool", "name"),
    [
        *thinned(product([tool for tool in ASK if tool not in RECORDED], TEXTS), parts=4),
        *(pytest.param(*each, marks=pytest.mark.nightly) for each in product(RECORDED, TEXTS)),
    ],
)
def test_values_are_the_tool_s(tool, name):
    for k in (2, None):
        found = explained(name, k).loc[tool]
        if (tool, name) in UNTOLD:
            assert np.isnan(found.value)
            continue
        try:
            value = ASK[tool](rows_of(name), k)
        except Exception:
            assert np.isnan(found.value)
            assert found.reason
        else:
            assert found.value == same(tool, value)


@pytest.mark.slow
@pytest.mark.parametrize("tool", RECORDED)
def test_values_are_those_that_were_recorded(tool):
    for name, values in RECORDED[tool].items():
        for k, value in zip((2, None), values):
            found = explained(name, k).loc[tool]
            if value is None or (tool, name) in UNTOLD:
                assert np.isnan(found.value)
                assert found.reason
            else:
                assert found.value == same(tool, value), (name, k)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(TEXTS.keys() - {"fractions"}))
def test_trec_eval_is_what_its_names_give(name):
    """Its rule in `evaluate_runs` is that of the output of trec_eval 10.0 in another test."""
    qrels, run = as_dicts(rows_of(name))
    with warnings.catch_warnings(action="ignore"):
        theirs = evaluate_runs(qrels, run, "ndcg_cut_2", missing="drop", unjudged_label="trec")
    assert explained(name, 2).value["trec_eval"] == same("trec_eval", theirs.means.iloc[0, 0])


@pytest.mark.parametrize("name", ["grades", "ties", "nothing relevant", "one document"])
def test_values_are_those_of_like(name):
    table, found = rows_of(name), explained(name, 2)
    for tool in ("LightGBM", "XGBoost", "CatBoost"):
        like = evaluate(table.label, table.score, "ndcg@2", groups=table.qid, like=tool.lower())
        assert found.value[tool] == same(tool, like.means.iloc[0])


def test_parts_are_of_one_rule_alone():
    """One rule differs in each of these, so that its part is the whole difference."""
    log3 = np.log2(3)
    cases = {
        # Query 1: (1 + 0) / (3 + 1 / log3), and 1 / (7 + 1 / log3). Query 2: 1 / log3.
        ("grades", "gain", "LightGBM"): (1 / (7 + 1 / log3) - 1 / (3 + 1 / log3)) / 2,
        # Query 1, all tied, has a mean gain of 1. Query 2: the first two are tied, 0 comes first.
        ("ties", "ties", "CatBoost"): -(
            (1 + 1 / log3) / (3 + 1 / log3) + 0.5 * (1 - 1 / log3) / (2 + 1 / log3)
        )
        / 2,
        ("nothing relevant", "nothing_relevant", "CatBoost"): 1 / 2,
        # One of three queries has nothing relevant, and is one document.
        ("one document", "nothing_relevant", "CatBoost"): 1 / 3,
        # The list of query 1 begins with its own document, which is worth 0.
        ("own document", "own_document", "BEIR"): (
            1
            - (2 / log3) / (2 + 1 / log3)
            + 2 / (2 + 1 / log3)
            - (1 + 2 / log3) / (2 + 1 / log3)
            - 1
        )
        / 3,
        ("unjudged", "missing_queries", "trec_eval"): 1 / (2 + 1 / log3) / 2,
        # The hidden document is worth 1 below the two that are shown.
        ("hidden", "hidden_documents", "CatBoost"): 1 / 2,
    }
    for (name, rule, tool), expected in cases.items():
        found = explained(name, 2).loc[tool]
        assert found[rule] == pytest.approx(expected), name
    # The third document is worth 3: an ideal of 2 places holds 3 and 1.
    found = explained("grades", 1)
    assert found.ideal["pytrec_eval, run of k"] == pytest.approx((1 / (3 + 1 / log3) - 1 / 3) / 2)
    assert found.ideal["pytrec_eval"] == 0
    whole, deep = explained("long", None), explained("long", 32)
    assert whole.no_cutoff["XGBoost"] == pytest.approx(deep.value.iloc[0] - whole.value.iloc[0])
    assert deep.no_cutoff["XGBoost"] == 0
    close = explained("close scores", None)
    assert close.single_precision["XGBoost"] == close.single_precision["pytrec_eval"] > 0.1
    assert close.single_precision["LightGBM"] == 0
    negative = explained("negative labels", None)
    assert negative.negative_labels["trec_eval"] > 0.1
    assert negative.negative_labels["CatBoost"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", TEXTS)
def test_parts_add_up(name):
    found = explained(name, 2)
    parts = found.loc[:, "gain":"together"].sum(axis=1, skipna=False)
    np.testing.assert_allclose(parts, found.difference, atol=1e-12)
    ours = found.loc["skfilterrank"]
    table = rows_of(name)
    assert ours.value == ndcg_score_of(table)
    assert not ours["difference":"together"].any()
    told = found.value.notna()
    assert (found.reason[told] == "").all()
    assert (found.reason[~told] != "").all()


def ndcg_score_of(table):
    with warnings.catch_warnings(action="ignore"):
        return our_ndcg_score(table.label, table.score, groups=table.qid, k=2)


REASONS = {
    ("one document", "scikit-learn"): "refuses a query of one document",
    ("negative labels", "LightGBM"): "refuses labels below 0",
    ("hidden", "scikit-learn"): "refuses the score -inf",
    ("hidden", "ranx"): "refuses a query with nothing judged or nothing shown",
    ("unjudged", "XGBoost"): "takes no unjudged documents",
    ("fractions", "BEIR"): "takes whole labels",
    ("large labels", "LightGBM"): "refuses labels above 30",
    ("larger labels", "XGBoost"): "refuses labels above 31",
    ("long", "ranx"): "keeps no order of ties in lists of more than 15 documents",
}


@pytest.mark.parametrize(("name", "tool"), REASONS)
def test_the_reason_of_no_value(name, tool):
    assert explained(name, 2).reason[tool] == REASONS[name, tool]


def test_without_names_ties_that_matter_have_no_value():
    table = rows_of("ties")
    found = explain_differences(table.label, table.score, table.qid, k=2)
    named = found.index.isin(["trec_eval", "pytrec_eval", "pytrec_eval, run of k"])
    assert (found.reason[named] == "breaks ties by document name: pass docnos=").all()
    assert found.reason["BEIR"] == "leaves out the query's own document: pass docnos="
    assert found.value[~named].drop("BEIR").notna().all()
    # Here the tied documents have one label.
    table = pd.DataFrame({"label": [1, 1, 0, 2], "score": [3, 3, 2, 1]})
    found = explain_differences(table.label, table.score, ["q"] * 4)
    assert found.value.drop("BEIR").nunique() == 2
    assert found.value["trec_eval"] == found.value["skfilterrank"]


def test_no_query_to_count():
    found = explain_differences([np.nan, np.nan], [1, 2], ["q", "q"], docnos=["a", "b"])
    assert found.reason["trec_eval"] == found.reason["BEIR"] == "counts no query"


def test_queries_of_the_index_and_numbers_as_names():
    """Names are compared as text, so that 9 comes before 10, and 3 is the query's own document."""
    index = pd.Index([3, 3, 3], name="qid")
    found = explain_differences(pd.Series([1, 0, 0], index), [1, 1, 2], docnos=[9, 10, 3], k=2)
    assert found.value["trec_eval"] == pytest.approx(1 / np.log2(3))
    assert found.value["BEIR"] == 1


@pytest.mark.parametrize(
    ("docnos", "message"),
    [
        (["a", "b"], "docnos must hold one document name per row: expected 3, got 2"),
        (["a", "b", "a"], "docnos must be different within a query, but 'a' is twice in one"),
        (["a", None, "b"], "docnos has a missing name at row 1"),
    ],
)
def test_names_that_are_wrong(docnos, message):
    with pytest.raises(InputError, match=message):
        explain_differences([1, 0, 1], [1, 2, 3], ["q"] * 3, docnos=docnos)

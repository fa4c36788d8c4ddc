"""bpref and infAP as trec_eval computes them, and all measures with its option -J."""

import numpy as np
import pandas as pd
import pytest

from skfilterrank._lists.measure_names import parse_measures
from skfilterrank.exceptions import InputError
from skfilterrank.metrics import bpref_score, evaluate, inferred_ap_score

pytrec_eval = pytest.importorskip("pytrec_eval")


def as_arrays(qrels, run):
    """Groups, document ids, labels, scores and pooled: -1 is pooled but unjudged."""
    rows = []
    for query in run:
        for docno in {**qrels[query], **run[query]}:
            label = qrels[query].get(docno)
            judged = label is not None and label >= 0
            rows.append(
                (
                    query,
                    docno,
                    label if judged else np.nan,
                    run[query].get(docno, -np.inf),
                    label is not None,
                )
            )
    return [np.array(column) for column in zip(*rows)]


def check(qrels, run):
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"bpref", "infAP"}).evaluate(run)
    groups, docnos, y_true, y_score, pooled = as_arrays(qrels, run)
    queries = sorted(theirs)
    assert queries == sorted(run)
    params = {"groups": groups, "ties": docnos}
    np.testing.assert_allclose(
        bpref_score.per_query(y_true, y_score, **params),
        [theirs[q]["bpref"] for q in queries],
        atol=1e-9,
    )
    np.testing.assert_allclose(
        inferred_ap_score.per_query(y_true, y_score, pooled=pooled, **params),
        [theirs[q]["infAP"] for q in queries],
        atol=1e-9,
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    "labels", [[0, 1], [-1, 0, 0, 1, 2], [-1, -1, -1, 0, 1], [1, 2], [-1, 1], [-1, 0]], ids=str
)
def test_random_runs(labels, seed):
    check(*random_data(seed, labels))


def random_data(seed, labels):
    rng = np.random.default_rng(seed)
    qrels, run = {}, {}
    for query in range(30):
        docnos = [f"d{number}" for number in rng.permutation(40)]
        # At least one judgment: trec_eval leaves out topics without.
        n_pooled, n_retrieved = rng.integers(1, 40), rng.integers(1, 40)
        qrels[f"q{query}"] = {docno: int(rng.choice(labels)) for docno in docnos[:n_pooled]}
        qrels[f"q{query}"][docnos[0]] = 1
        scores = rng.integers(0, 12, n_retrieved) / 4
        run[f"q{query}"] = dict(zip(rng.permutation(docnos), scores.tolist()))
    return qrels, run


@pytest.mark.slow
@pytest.mark.parametrize("labels", [[0, 0, 1, 2], [-1, -1, 0, 1, 2]], ids=str)
def test_dropping_unjudged_documents_is_the_option_J(labels):
    qrels, run = random_data(0, labels)
    tool = pytrec_eval.RelevanceEvaluator(
        qrels, pytrec_eval.supported_measures, judged_docs_only_flag=True
    )
    theirs = pd.DataFrame(tool.evaluate(run)).T.sort_index()
    # trec_eval prints logarithms of single queries.
    theirs["gm_map"] = np.exp(theirs["gm_map"].astype(float))
    groups, docnos, y_true, y_score, pooled = as_arrays(qrels, run)
    names = [name for name in theirs if is_measure(name)]
    assert len(names) > 60
    how = {"ties": docnos, "unjudged": "drop", "pooled": pooled, "like": "trec_eval9"}
    ours = evaluate(y_true, y_score, names, groups=groups, **how).per_query
    # The value that enters the geometric mean.
    ours["gm_map"] = np.maximum(ours["gm_map"], 1e-5)
    # trec_eval divides by 0 in an empty list.
    theirs = theirs[names].astype(float).fillna(0.0)
    differs = (ours - theirs).abs().max() > 1e-9
    assert list(differs[differs].index) == ["infAP"]


def is_measure(name):
    try:
        return bool(parse_measures([name]))
    except InputError:
        return False

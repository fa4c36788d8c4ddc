"""The same numbers as scikit-learn and trec_eval, where they mean the same."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import dcg_score as sklearn_dcg
from sklearn.metrics import ndcg_score as sklearn_ndcg

from skfilterrank.metrics import dcg_score, ndcg_0_score, ndcg_f_score, ndcg_score


@pytest.mark.slow
@given(
    query=st.lists(
        st.tuples(st.sampled_from([0.0, 0.5, 1.0, 3.0]), st.sampled_from([-1.0, 0.0, 0.5, 2.0])),
        min_size=2,
        max_size=12,
    ),
    k=st.sampled_from([None, 1, 2, 5, 20]),
)
def test_scikit_learn(query, k):
    gains, scores = np.array(query).T
    groups = np.zeros(len(query))
    expected = sklearn_ndcg([gains], [scores], k=k)
    for measure in (ndcg_score, ndcg_0_score, ndcg_f_score):
        assert measure(gains, scores, groups=groups, k=k) == pytest.approx(expected)
    expected = sklearn_dcg([gains], [scores], k=k)
    assert dcg_score(gains, scores, groups=groups, k=k) == pytest.approx(expected)


@pytest.mark.parametrize("k", [None, 1, 3, 10])
def test_scikit_learn_on_many_queries(k):
    rng = np.random.default_rng(0)
    gains = rng.choice([0, 0, 1, 2, 4], (50, 8)).astype(float)
    scores = rng.normal(size=(50, 8)).round(1)
    groups = np.repeat(np.arange(50), 8)
    value = ndcg_score(gains.ravel(), scores.ravel(), groups=groups, k=k)
    assert value == pytest.approx(sklearn_ndcg(gains, scores, k=k))


@pytest.mark.slow
@pytest.mark.parametrize("labels", [[0, 1], [0, 0, 1, 2, 3]], ids=["binary", "graded"])
def test_trec_eval(labels):
    """A run joined to its qrels: unjudged documents retrieved, judged ones not, ties of score."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    rng = np.random.default_rng(1)
    qrels, run, rows = {}, {}, []
    for query in (f"q{number}" for number in range(40)):
        docnos = [f"d{number}" for number in rng.permutation(60)[: rng.integers(1, 50)]]
        qrels[query], run[query] = {}, {}
        for docno in docnos:
            state = rng.choice(["both", "judged", "retrieved"], p=[0.5, 0.25, 0.25])
            label, score = np.nan, -np.inf
            if state != "retrieved":
                label = int(rng.choice(labels))
                qrels[query][docno] = label
            if state != "judged":
                score = float(rng.integers(0, 8)) / 4
                run[query][docno] = score
            rows.append((query, docno, label, score))
        if not run[query] or not qrels[query]:
            # trec_eval leaves out topics that are missing on either side.
            del qrels[query], run[query]
            rows = [row for row in rows if row[0] != query]
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg", "ndcg_cut.5,10,30"}).evaluate(run)
    groups, docnos, y_true, y_score = zip(*rows)
    for measure, k in product((ndcg_score, ndcg_0_score, ndcg_f_score), (None, 5, 10, 30)):
        key = "ndcg" if k is None else f"ndcg_cut_{k}"
        ours = measure(y_true, y_score, groups=groups, ties=docnos, k=k, average=None)
        expected = [theirs[query][key] for query in sorted(set(groups))]
        assert len(ours) > 30
        np.testing.assert_allclose(ours, expected, atol=1e-6)

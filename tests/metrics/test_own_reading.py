"""How one measure among others reads judgments: "ap(rel=2)", "ndcg(unjudged=drop)@10"."""

import pickle
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, RegressorMixin

from skfilterrank.comparison import score_predictions
from skfilterrank.exceptions import InputError
from skfilterrank.metrics import evaluate, get_measure, make_ranking_scorer, values_of_run
from skfilterrank.thresholds import threshold_curve
from thinned import thinned
from versions import names_as_text

LEVEL_2 = {-2: -2, -1: -1, 0: 0, 1: 0, 2: 1, 3: 1}
OTHERS = {-2: -5, -1: 0, 0: 0, 1: 1, 2: 3, 3: 9}
# What is written in a name, and as gains of a call.
WAYS = {"rel=2": LEVEL_2, "gains=exp2": "exp2", f"gains={OTHERS}": OTHERS}
PLAIN = (
    "ap",
    "ndcg_f@5",
    "rbp(persistence=0.5)@9",
    "bpref",
    "lexirecall",
    "ul_normalized@3",
    "qwa",
)


def rows(seed=0, n=300, lowest=-2):
    rng = np.random.default_rng(seed)
    y = rng.integers(lowest, 4, n).astype(float)
    y[rng.random(n) < 0.2] = np.nan
    scores = rng.integers(0, 9, n).astype(float)
    scores[rng.random(n) < 0.1] = -np.inf
    return y, scores, rng.integers(0, 20, n)


def with_own(name, own):
    head, at, k = name.partition("@")
    inner = head.partition("(")[2].removesuffix(")")
    return f"{head.partition('(')[0]}({','.join(filter(None, [own, inner]))}){at}{k}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("own", "unjudged", "ties"),
    thinned(product(WAYS, ["zero", "drop"], [None, "worst", "best", "stable"])),
)
def test_beside_measures_with_other_gains(own, unjudged, ties):
    names = [name for name in PLAIN if not name.startswith("ul_")]
    y, scores, groups = rows()
    settings = {"groups": groups, "unjudged": unjudged, "ties": ties}
    together = [each for name in names for each in (name, with_own(name, own))]
    found = evaluate(y, scores, together, **settings).per_query
    pd.testing.assert_frame_equal(found[names], evaluate(y, scores, names, **settings).per_query)
    alone = evaluate(y, scores, names, gains=WAYS[own], **settings).per_query
    assert np.array_equal(found.drop(columns=names), alone)
    assert not np.array_equal(found.drop(columns=names), found[names])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("own", "ties"),
    thinned(
        product(["", *WAYS], [None, "worst", "best", "stable", np.arange(300) * 7 % 300]), turn=1
    ),
)
def test_judged_documents_alone_beside_all(own, ties):
    names = [name for name in PLAIN if name not in ("bpref", "ul_normalized@3")]
    if not isinstance(ties, str | None):
        names.remove("lexirecall")
    y, scores, groups = rows()
    judged = {
        name: with_own(name, ",".join(filter(None, [own, "unjudged=drop"]))) for name in names
    }
    found = evaluate(y, scores, [*names, *judged.values()], groups=groups, ties=ties).per_query
    gains = WAYS.get(own)
    dropped = evaluate(
        y, scores, names, groups=groups, ties=ties, gains=gains, unjudged="drop"
    ).per_query
    zero = evaluate(y, scores, names, groups=groups, ties=ties).per_query
    assert np.array_equal(found[names], zero)
    assert np.array_equal(found[list(judged.values())], dropped)
    assert not np.array_equal(found[list(judged.values())], found[names])
    twice = evaluate(
        y, scores, judged.values(), groups=groups, ties=ties, unjudged="drop"
    ).per_query
    assert np.array_equal(twice, dropped)


def test_judged_documents_alone_by_hand():
    y, scores = [np.nan, 0, 1, np.nan, 2], [5, 4, 3, 2, -np.inf]
    names = ["rr", "rr(unjudged=drop)", "P(judged_only=True)@2", "ap(rel=2,unjudged=drop)", "P@2"]
    found = evaluate(y, scores, names, groups=np.zeros(5)).per_query.iloc[0]
    assert found.tolist() == [1 / 3, 1 / 2, 1 / 2, 0, 0]


def test_bounds_have_the_gains_too():
    y, scores, groups = rows(lowest=0)
    names = ["ul_normalized(rel=2)", "ul_normalized(gains=exp2,measure=dcg)@4"]
    found = evaluate(y, scores, names, groups=groups).per_query
    for name, gains in zip(names, (LEVEL_2, "exp2")):
        plain = name.replace("(rel=2)", "").replace("gains=exp2,", "")
        alone = evaluate(y, scores, plain, groups=groups, gains=gains).per_query
        assert np.array_equal(found[name], alone[plain])
    with pytest.raises(InputError, match=r"write 'ul_normalized\(rel=2,measure=...\)'"):
        evaluate(y, scores, "ul_normalized(measure=ap(rel=2))", groups=groups)


def test_names_see_the_gains_of_the_call():
    labels = np.array(["bad", "poor", "good", "great"] * 5)
    gains = {"bad": -1, "poor": 0, "good": 1, "great": 2}
    scores, groups = np.arange(20) % 7, np.arange(20) // 10
    found = evaluate(
        labels, scores, ["ap(rel=2)", "ndcg_f(gains=exp2)"], groups=groups, gains=gains
    ).per_query
    for column, to in (
        ("ap(rel=2)", {0: 0, 1: 0, 2: 1}),
        ("ndcg_f(gains=exp2)", {0: 0, 1: 1, 2: 3}),
    ):
        own = {label: to.get(gain, gain) for label, gain in gains.items()}
        name = column.partition("(")[0]
        alone = evaluate(labels, scores, name, groups=groups, gains=own).per_query
        assert np.array_equal(found[column], alone[name])


def test_a_gain_of_nan_takes_the_document_out():
    y, scores, groups = rows()
    missing = np.where(y == -1, np.nan, y)
    names = ["bpref", "ndcg_f@5", "induced_ap"]
    for unjudged in ("zero", "drop"):
        of_names = evaluate(
            y,
            scores,
            [with_own(name, "gains={-2:-2,-1:nan,0:0,1:1,2:2,3:3}") for name in names],
            groups=groups,
            unjudged=unjudged,
        ).per_query
        marked = evaluate(missing, scores, names, groups=groups, unjudged=unjudged).per_query
        assert np.array_equal(of_names, marked)


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("AP(rel=2)", "ap(rel=2)"),
        ("P(rel=2)@5", "precision(rel=2)@5"),
        ("P_5", "precision@5"),
        ("RBP(p=0.9, rel=2.5)@10", "rbp(rel=2.5,persistence=0.9)@10"),
        ("nDCG(dcg='exp-log2')@10", "ndcg(gains=exp2)@10"),
        ("nDCG(dcg=log2)@10", "ndcg@10"),
        ("nDCG(gains={2:0.1, 0: 0})", "ndcg(gains={0:0,2:0.1})"),
        ("ul_normalized(measure=dcg,rel=2)@3", "ul_normalized(rel=2,measure=dcg)@3"),
        ("P(unjudged=drop,rel=2)@5", "precision(rel=2,unjudged=drop)@5"),
        ("nDCG(dcg=log2, judged_only=True)@10", "ndcg(unjudged=drop)@10"),
    ],
)
def test_one_canonical_name(written, canonical):
    parsed = get_measure(written)
    assert parsed.text == canonical
    assert get_measure(canonical).text == canonical
    assert pickle.loads(pickle.dumps(parsed)).text == canonical


@given(
    name=st.sampled_from(["ap", "ndcg_f", "rbp(persistence=0.7)", "recall"]),
    rel=st.floats(1e-3, 1e6) | st.integers(1, 10**6),
    k=st.none() | st.integers(1, 1000),
)
def test_canonical_names_are_read_back(name, rel, k):
    text = get_measure(with_own(name, f"rel={rel!r}") + (f"@{k}" if k else "")).text
    parsed = get_measure(text)
    assert (parsed.text, parsed.k, parsed.measure.own_reading.rel) == (text, k, rel)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ap(rel=0)", "rel in 'ap.rel=0.' must be a number above 0"),
        ("ap(rel=many)", "must be a number above 0"),
        ("ap(rel=2,gains=exp2)", "gives rel and gains: give one"),
        ("ap(rel=2,rel=3)", "gives rel twice"),
        ("ndcg(gains=exp3)", "must be exp2 or a gain for each label"),
        ("ndcg(gains={a:1})", "must give a number for each label"),
        ("ndcg(gains={0})", "must give a number for each label"),
        ("ndcg(dcg=ln)@10", "must be log2 or exp-log2"),
        ("ap(unjudged=zero)", "unjudged in .* must be drop, .* Leave it out"),
        ("ap(judged_only=False)", "judged_only in .* must be true"),
        ("ap(judged_only=True,unjudged=drop)", "gives judged_only and unjudged: give one"),
        ("bpref(unjudged=drop)", "'bpref' is defined by the unjudged"),
        ("ap(level=2)", "it has normalize=..., rel=..., gains=..., unjudged=..."),
    ],
)
def test_bad_names(name, message):
    with pytest.raises(InputError, match=message):
        get_measure(name)


def test_labels_without_a_gain_are_told():
    with pytest.raises(InputError, match=r"no entry in gains: 3\.0"):
        evaluate([3, 0], [1, 2], "ndcg(gains={0:0})", groups=[1, 1])


def test_one_measure_twice():
    with pytest.raises(InputError, match=r"names 'ap\(rel=2\)' twice"):
        evaluate([1], [1], ["AP(rel=2)", "map(rel=2.0)"], groups=[1])


def test_scorers_thresholds_and_comparisons():
    y, scores, groups = rows()

    class Same(RegressorMixin, BaseEstimator):
        def predict(self, X):
            return scores

    scorer = make_ranking_scorer("AP(rel=2)")
    assert repr(scorer) == "make_ranking_scorer('ap(rel=2)')"
    expected = evaluate(y, scores, "ap", groups=groups, gains=LEVEL_2).means["ap"]
    for each in (scorer, pickle.loads(pickle.dumps(scorer))):
        assert each(Same(), np.zeros((len(y), 1)), y, groups) == expected
    own = threshold_curve(y, scores, groups=groups, measure="ndcg_f(gains=exp2)@5")
    given_to_call = threshold_curve(y, scores, groups=groups, measure="ndcg_f@5", gains="exp2")
    assert own.best_threshold == given_to_call.best_threshold
    assert own.best_value == pytest.approx(given_to_call.best_value, abs=1e-12)
    found = score_predictions(y, {"a": scores, "b": np.arange(300)}, ["ap(rel=2)"], groups=groups)
    assert found["ap(rel=2)"].means["a"] == pytest.approx(expected, abs=1e-12)
    dropped = evaluate(y, scores, "ap", groups=groups, unjudged="drop").means["ap"]
    judged = make_ranking_scorer("AP(judged_only=true)")
    assert judged(Same(), np.zeros((len(y), 1)), y, groups) == dropped
    systems = {"a": scores, "b": np.arange(300)}
    with pytest.raises(InputError, match="compare all runs on the judgments of the call"):
        score_predictions(y, systems, "lexirecall(scale=preference,rel=2)", groups=groups)


def tables(seed=1):
    rng = np.random.default_rng(seed)
    grid = [(f"q{q:02}", f"d{d:02}") for q in range(15) for d in range(40)]
    frame = pd.DataFrame(grid, columns=["qid", "docno"])
    frame["label"] = rng.choice([0, 0, 0, 1, 2, 3], len(frame))
    frame["score"] = rng.integers(0, 30, len(frame)) / 4
    qrels = frame[rng.random(len(frame)) < 0.8].drop(columns="score")
    return qrels, frame[rng.random(len(frame)) < 0.7].drop(columns="label")


def as_ir_measures(qrels, run):
    names = {"qid": "query_id", "docno": "doc_id"}
    return qrels.rename(columns=names | {"label": "relevance"}), run.rename(columns=names)


@pytest.mark.slow
@names_as_text
@pytest.mark.parametrize(
    "name",
    [
        "AP(rel=2)",
        "AP(rel=2)@10",
        "P(rel=2)@5",
        "Rprec(rel=3)",
        "RR(rel=2)",
        "infAP(rel=2)",
        "Bpref(rel=2)",
        "nDCG@10",
        "nDCG(gains={0:0,1:1,2:5,3:9})@10",
        "Success(rel=3)@5",
    ],
)
def test_ir_measures_has_the_same_values_by_the_same_names(name):
    ir_measures = pytest.importorskip("ir_measures")
    qrels, run = tables()
    ours = values_of_run(qrels, run, [name])[name]
    for metric in ir_measures.iter_calc(
        [ir_measures.parse_measure(name)], *as_ir_measures(qrels, run)
    ):
        assert ours[metric.query_id] == pytest.approx(metric.value, abs=1e-6), metric

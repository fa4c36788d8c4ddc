"""Names of measures: those of other tools, in any case, and what they are taken for."""

import pickle
import re
import shutil

import ir_measures
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from measure_table import MEASURES
from skfilterrank._lists.measure_names import (
    known_measure,
    parse_measure,
    parse_measures,
    spellings,
)
from skfilterrank.comparison import score_systems
from skfilterrank.metrics import evaluate, make_ranking_scorer, register_measure, values_of_run
from skfilterrank.ranking import RankAndFilter
from versions import names_as_text


def random_run(seed, labels):
    """Qrels and run as dictionaries, and the same as rows (query, docno, label, score).

    Judged documents that are not retrieved, retrieved ones that are not judged, many ties, lists of
    2 to 59 documents. Every topic has a judgment and a retrieved document: trec_eval leaves out
    those without.
    """
    rng = np.random.default_rng(seed)
    qrels, run, rows = {}, {}, []
    for query in (f"q{number:02}" for number in range(40)):
        docnos = [f"d{number}" for number in rng.permutation(80)[: rng.integers(2, 60)]]
        qrels[query], run[query] = {docnos[0]: int(rng.choice(labels))}, {docnos[1]: 1.0}
        for docno in docnos:
            if rng.random() < 0.6:
                qrels[query][docno] = int(rng.choice(labels))
            if rng.random() < 0.7:
                run[query][docno] = float(rng.integers(0, 9)) / 4
            label, score = qrels[query].get(docno, np.nan), run[query].get(docno, -np.inf)
            rows.append((query, docno, label, score))
    return qrels, run, rows


NAMES = {
    "AP": "ap",
    "MAP": "ap",
    "map_cut_5": "ap@5",
    "nDCG@10": "ndcg@10",
    "ndcg_cut.10": "ndcg_0@10",
    "NDCG_F@3": "ndcg_f@3",
    "P@5": "precision@5",
    "P_5": "precision@5",
    "set_P": "precision",
    "R@100": "recall@100",
    "recall_100": "recall@100",
    "RR@10": "rr@10",
    "MRR": "rr",
    "mrr@10": "rr@10",
    "recip_rank": "rr",
    "reciprocal_rank@10": "rr@10",
    "average_precision": "ap",
    "hit_rate@5": "success@5",
    "Rprec": "r_precision",
    "Bpref": "bpref",
    "infAP": "inferred_ap",
    "ERR@20": "err@20",
    "RBP(p=0.9)": "rbp(persistence=0.9)",
    "rbp(relevance=graded, p=0.9)@3": "rbp(persistence=0.9,relevance=graded)@3",
    "UL_normalized(variant=v1,measure=MAP)": "ul_normalized(measure=ap,variant=v1)",
    "Success@5": "success@5",
    "Judged@10": "judged@10",
    "ndcg_0": "ndcg_0",
}


def frames(qrels, run):
    """Judgments and run as tables."""
    judged = [(qid, docno, label) for qid in qrels for docno, label in qrels[qid].items()]
    shown = [(qid, docno, score) for qid in run for docno, score in run[qid].items()]
    return (
        pd.DataFrame(judged, columns=["qid", "docno", "label"]),
        pd.DataFrame(shown, columns=["qid", "docno", "score"]),
    )


@pytest.mark.parametrize(("text", "canonical"), NAMES.items())
def test_names(text, canonical):
    parsed = parse_measure(text)
    assert parsed.text == canonical
    assert parsed == parse_measure(canonical)
    assert pickle.loads(pickle.dumps(parsed)) == parsed
    assert known_measure(text) is parsed.measure


def test_no_name_has_two_meanings():
    assert len(spellings()) == sum(1 + len(entry.aliases) for entry in MEASURES.values())


@given(st.data())
def test_any_name_in_any_case(data):
    known = spellings()
    lower = data.draw(st.sampled_from(sorted(known)))
    written, entry = known[lower]
    k = data.draw(st.integers(1, 1000)) if entry.takes_k else None
    if "@" in written:
        k = k or 1
        written = written.replace("@", str(k))
    elif k is not None:
        written += f"@{k}"
    upper = data.draw(st.lists(st.booleans(), min_size=len(written), max_size=len(written)))
    text = "".join(c.upper() if up else c.lower() for c, up in zip(written, upper))
    parsed = parse_measure(text)
    assert (parsed.measure, parsed.k, parsed.options) == (entry, k, entry.presets.get(lower, {}))
    assert parse_measure(parsed.text) == parsed


@pytest.mark.slow
@pytest.mark.parametrize("labels", [[0, 1], [0, 0, 1, 2, 4], [-2, 0, 0, 1, 3]], ids=str)
def test_every_name_of_trec_eval_has_its_number(labels):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels, run, _ = random_run(0, labels)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, pytrec_eval.supported_measures)
    theirs = pd.DataFrame.from_dict(evaluator.evaluate(run), orient="index")
    names = [name for name in theirs if known_measure(name) is not None]
    cut = ("map_cut", "ndcg_cut", "P", "recall", "success", "iprec_at_recall", "relative_P")
    assert {re.sub(r"_[\d.]+$", "", name) for name in names} == {
        *cut,
        *("map", "ndcg", "Rprec", "recip_rank", "bpref", "infAP", "set_P", "set_recall"),
        *("set_F", "set_map", "11pt_avg", "num_q", "num_ret", "num_rel", "num_rel_ret", "gm_map"),
        *("set_relative_P", "Rprec_mult", "num_nonrel_judged_ret"),
    }
    # trec_eval has logarithms for each topic, and prints them for none.
    names.remove("gm_map")
    table, frame = frames(qrels, run)
    # Forbidden documents are judged here, and not there; nDCG is told by its name.
    of_judged = ("ndcg", "bpref", "infAP", "num_nonrel_judged_ret")
    judged = [name for name in names if name not in of_judged]
    readings = {"trec": names, None: judged if min(labels) < 0 else names}
    for unjudged_label, read in readings.items():
        # pytrec_eval computes recall levels as version 9 does.
        nine = {
            f"{name}(like=trec_eval9)" if "recall_0" in name or "11" in name else name: name
            for name in read
        }
        ours = values_of_run(table, frame, list(nine), unjudged_label=unjudged_label)
        ours = ours.rename(columns=nine)
        assert list(ours) == read
        for name in read:
            np.testing.assert_allclose(
                ours[name], theirs[name][ours.index], atol=1e-9, err_msg=name
            )


@pytest.mark.slow
@names_as_text
@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval is written in perl")
def test_names_of_ir_measures_have_its_numbers():
    names = ["AP", "MAP@10", "nDCG@10", "P@5", "R@10", "RR", "MRR@3", "Rprec", "Bpref", "infAP"]
    names += ["Success@5", "Judged@10", "ERR@20", "SetP", "SetR", "SetF", "SetAP", "NumQ", "NumRel"]
    names += ["IPrec@0.1", "IPrec@0.6"]
    qrels, run, _ = random_run(1, [0, 0, 1, 2, 4])
    # gdeval wants numbers for topics, and not all of its programs order equal scores alike.
    qrels, run = ({qid[1:]: rows for qid, rows in each.items()} for each in (qrels, run))
    for shown in run.values():
        shown |= {docno: score + place / 1000 for place, (docno, score) in enumerate(shown.items())}
    table, frame = frames(qrels, run)
    ours = values_of_run(table, frame, names)
    for name in names:
        theirs = {
            each.query_id: each.value
            for each in ir_measures.iter_calc([ir_measures.parse_measure(name)], qrels, run)
        }
        # gdeval prints five digits.
        np.testing.assert_allclose(ours[name], pd.Series(theirs)[ours.index], atol=1e-5)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*some gains are below 0")
def test_wherever_a_measure_is_named():
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=(120, 2)), np.repeat(np.arange(12), 10)
    y = np.sign(np.round(X[:, 0] + 0.3 * rng.normal(size=120)))
    table = evaluate(y, X[:, 0], ["MAP", "P_5", "nDCG@3"], groups=groups).per_query
    expected = evaluate(y, X[:, 0], ["ap", "precision@5", "ndcg@3"], groups=groups).per_query
    assert list(table) == ["MAP", "P_5", "nDCG@3"]
    np.testing.assert_array_equal(table, expected)

    model = LogisticRegression()
    fitted, same = (
        RankAndFilter(model, measure=name).fit(X, y, groups=groups)
        for name in ("NDCG_f@3", "ndcg_f@3")
    )
    assert fitted.threshold_ == same.threshold_
    scorer = pickle.loads(pickle.dumps(make_ranking_scorer("MRR@5")))
    assert repr(scorer) == "make_ranking_scorer('rr@5')"

    qrels, run, _ = random_run(0, [-1, 0, 1])
    judged, shown = frames(qrels, run)
    runs = {"a": shown, "b": shown.assign(score=-shown["score"])}
    scores = score_systems(judged, runs, ["Forbidden@3", "P_5"], unjudged_label=None)
    assert scores["Forbidden@3"].measure == "Forbidden@3"
    assert not scores["Forbidden@3"].greater_is_better


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["P_5", "rr", "P@5"], "measures names 'precision@5' twice, as 'P_5' and 'P@5'"),
        (["rbp(p=0.5)", "RBP(p=0.50)"], r"twice, as 'rbp\(p=0.5\)' and 'RBP\(p=0.50\)'"),
        (["mapp", "ap", "ndgc_cut_7"], "^'mapp' is not .* 'MAP'.* 'ndgc_cut_7' is .* 'ndcg_cut_7'"),
        (["ap,nDCG@5"], r"'ap,nDCG@5' is several measures: give a list, \['ap', 'nDCG@5'\]"),
        (["ap,good"], "'ap,good' is not a measure"),
        (["nDCG_f_10"], r"'nDCG_f_10' is not a measure: did you mean 'ndcg_f@10'\?"),
        (["P_5@3"], "'P_5@3' has two cut-offs: write 'precision@5'"),
        (["ap", "nDCG@10(gains=exp2)"], r"exp2\)' has options or .* than NAME\(OPTIONS\)@PLACES\."),
        (["ap(rel=2"], r"'ap\(rel=2' has options or a cut-off in another form"),
        (["P_0"], "the cut-off in 'P_0' must be a positive whole number"),
        (["RBP(p=0.9,x=1)"], "'x=1' in .* is not an option of 'rbp': it has persistence=..., "),
        (["rbp(p=0.9,persistence=0.9)"], "gives persistence twice"),
        (
            ["gm_bpref", "iprec_at_recall_0.15"],
            r"'gm_bpref' is a measure of trec_eval .*: the geo.* 'iprec_at_recall_0.15' is not",
        ),
        (["alpha_nDCG@10"], "'alpha_nDCG@10' needs judgments of subtopics: ir_measures has it, by"),
        (["ERR-IA(d=1)@5"], r"'ERR-IA\(d=1\)@5' needs judgments of subtopics: ir_measures"),
        (
            ["INST(T=2)", "NERR8"],
            "'INST.* is a measure of ir_measures, by its .* 'NERR8' is a meas",
        ),
        (["rpp", "ap"], "'rpp' compares systems in pairs: skfilterrank.comparison.score_systems"),
        (
            ["Rprec_mult"],
            r"'Rprec_mult' is a family .*: name each, such as 'Rprec_mult_0\.20', 'Rp",
        ),
        (["utility"], r"\(trec_eval -m all_trec\): 2 \* num_rel_ret - num_ret"),
        (["IPrec(recall=0.1)@0.2"], "gives recall twice"),
        (["IPrec@x"], "recall must be a "),
        (["IPrec@1.5"], "recall must be a finite number from 0 up and up to 1"),
    ],
)
def test_what_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        parse_measures(given)


@pytest.mark.parametrize("name", ["mrr", "Ap", "P_5", "recip_rank"])
def test_another_name_is_taken(name):
    with pytest.raises(ValueError, match=f"name='{name}' is taken by skfilterrank.metrics"):
        register_measure(name, lambda block, k: 1.0)

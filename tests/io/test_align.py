import io
import pickle
import warnings
from collections import defaultdict

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from joined_rows import NO, QRELS, RUN
from skfilterrank._files import tokens as text_columns
from skfilterrank.exceptions import DataWarning, InputError
from skfilterrank.io import QrelsIndex, align, read_qrels, read_run, write_run
from skfilterrank.io import _align as align_module
from skfilterrank.io import _repeats as repeats

# What labels below 0 mean is not said here, and not what is tested.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.* holds labels below 0"),
    pytest.mark.filterwarnings("ignore:none of the .* is judged"),
    pytest.mark.filterwarnings("ignore:the judgments hold no label"),
]


def test_judgments_that_have_nothing_to_do_with_a_run():
    run = RUN.assign(docno="D-" + RUN["docno"])
    text = r"none of the 4 documents that the run retrieves .* query '10', it holds 'D-y', .* 'y'\."
    with pytest.warns(DataWarning, match=text):
        aligned = align(QRELS, run)
    assert aligned.n_retrieved_unjudged == aligned.n_retrieved == 4
    # One of two topics has a judged document.
    with warnings.catch_warnings(action="error"):
        align(QRELS.assign(label=[1.0, 1, np.nan, 1, 0, 1]), RUN)
        # Nothing that is retrieved is nothing that is not judged.
        align(QRELS.assign(label=1.0), RUN.assign(score=NO))
    with pytest.warns(DataWarning, match="hold no label: none of their 6 documents is judged"):
        align(QRELS.assign(label=np.nan), RUN)
    # Documents that are pooled, and not judged.
    with pytest.warns(DataWarning, match="none of the 1 document that"):
        align(QRELS, RUN.iloc[[3]])


def test_missing_queries_can_be_left_out():
    aligned = align(QRELS, RUN, missing="drop")
    assert aligned.groups.tolist() == ["1", "1", "1", "1", "10", "10"]
    assert aligned.index.query_ids.tolist() == ["1", "10"]
    assert aligned.missing_queries == ("2",)
    assert aligned.n_judged_not_retrieved == 2
    assert str(aligned).startswith("2 queries; 1 query not in the run left out; 4 documents")
    # A topic of which everything is hidden is in the run all the same.
    run = RUN.assign(score=NO)
    assert align(QRELS, run, missing="drop").index.query_ids.tolist() == ["1", "10"]


def brute_force(run, qrels, missing):
    """Rows by dictionaries and sorted()."""
    judged, retrieved = defaultdict(dict), defaultdict(dict)
    for qid, docno, label in zip(qrels["qid"], qrels["docno"], qrels["label"], strict=True):
        judged[str(qid)][str(docno)] = label
    for qid, docno, score in zip(run["qid"], run["docno"], run["score"], strict=True):
        retrieved[str(qid)][str(docno)] = score
    rows = []
    for qid in sorted(judged):
        if qid not in retrieved and missing == "drop":
            continue
        kept = {docno: score for docno, score in retrieved[qid].items() if score > NO}
        listed = sorted(kept, key=lambda docno: (kept[docno], docno.encode()), reverse=True)
        absent = sorted(judged[qid].keys() - kept.keys(), key=str.encode, reverse=True)
        rows += [
            (qid, docno, judged[qid].get(docno, np.nan), kept.get(docno, NO), docno in judged[qid])
            for docno in listed + absent
        ]
    return pd.DataFrame(rows, columns=["qid", "docno", "label", "score", "pooled"])


QIDS = st.sampled_from(["1", "2", "10", "é", "longer than a word"])
# Shorter and longer than the eight bytes that are compared at a time, with and without ASCII.
DOCNOS = st.sampled_from(
    ["a", "b", "aa", "ü", "\U0001f600", "\ue000", "a\n", "clueweb0", "clueweb09"]
    # Up to there an index of pandas before 3 reads a text.
    + ["a\0"] * (int(pd.__version__.split(".")[0]) >= 3)
    + [f"clueweb09-en0000-16-{i}" for i in (19378, 19379)]
)


def tables(values, name):
    """Frames with pairs of topic and document, each at most once."""
    return st.dictionaries(st.tuples(QIDS, DOCNOS), values, min_size=1).map(
        lambda rows: pd.DataFrame([(*pair, v) for pair, v in rows.items()]).set_axis(
            ["qid", "docno", name], axis=1
        )
    )


@pytest.mark.slow
@given(
    tables(st.sampled_from([0.0, -0.0, 1.0, 2.5, NO]), "score"),
    tables(st.sampled_from([-1.0, 0.0, 1.0, np.nan]), "label"),
    st.sampled_from(["empty", "drop"]),
)
def test_against_brute_force(run, qrels, missing):
    if not set(run["qid"]) & set(qrels["qid"]):
        with pytest.raises(ValueError, match="must have queries in common"):
            align(qrels, run, missing=missing)
        return
    aligned = align(qrels, run, missing=missing)
    expected = brute_force(run, qrels, missing)
    found = aligned.to_frame().reset_index()
    for column in expected:
        assert found[column].astype(object).equals(expected[column].astype(object)), column
    in_both = run["qid"].isin(qrels["qid"])
    assert aligned.n_left_out == (~in_both).sum()
    assert set(aligned.unjudged_queries) == set(run["qid"][~in_both])
    assert set(aligned.missing_queries) == set(qrels["qid"]) - set(run["qid"])
    assert aligned.n_hidden == (run["score"][in_both] == NO).sum()
    assert aligned.n_retrieved == (expected["score"] > NO).sum()
    assert aligned.n_retrieved + aligned.n_hidden + aligned.n_left_out == len(run)
    of_run = expected[expected["score"] > NO]
    assert aligned.n_retrieved_unjudged == of_run["label"].isna().sum()
    assert (
        aligned.n_judged_not_retrieved
        == (expected["score"] == NO).sum()
        - (expected["label"].isna() & (expected["score"] == NO)).sum()
    )


@pytest.fixture
def few_keys(monkeypatch):
    """Hashes with next to no bits, so that different pairs share their keys all the time."""

    def keys(codes, docnos, salt=0):
        # The fourth salt tells all pairs apart, or no index could be built.
        mask = np.uint64(7) if salt < 3 << 32 else np.uint64(2**64 - 1)
        return pair_keys(codes, docnos, salt) & mask

    pair_keys = repeats.pair_keys
    monkeypatch.setattr(align_module, "pair_keys", keys)
    monkeypatch.setattr(repeats, "pair_keys", keys)


def test_keys_that_coincide(few_keys):
    rng = np.random.default_rng(0)
    run = pd.DataFrame({"qid": rng.integers(0, 3, 300), "docno": rng.permutation(300)})
    run["score"] = rng.integers(0, 5, 300)
    qrels = run[:60].rename(columns={"score": "label"})
    expected = brute_force(run, qrels, "empty")
    found = align(qrels, run).to_frame().reset_index()
    assert found.astype(object).equals(expected.astype(object))


def test_a_key_of_the_run_that_is_that_of_another_judgment(monkeypatch):
    monkeypatch.setattr(
        align_module, "pair_keys", lambda codes, docnos, salt: np.zeros(len(codes), "u8")
    )
    run = pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "score": [1.0, 2.0]})
    aligned = align(pd.DataFrame({"qid": ["1"], "docno": ["a"], "label": [1]}), run)
    np.testing.assert_array_equal(aligned.y_true, [np.nan, 1])
    aligned = align(pd.DataFrame({"qid": ["1"], "docno": ["z"], "label": [1]}), run)
    np.testing.assert_array_equal(aligned.y_true, [np.nan, np.nan, 1])


def test_files(tmp_path):
    write_run(tmp_path / "run.gz", RUN, name="mine")
    (tmp_path / "qrels").write_text("1 0 a 2\n1 0 b -1\n1 0 c -9\n2 0 a 1\n10 0 x 0\n10 0 y 3\n")
    aligned = align(read_qrels(tmp_path / "qrels", unjudged_label=-9), tmp_path / "run.gz")
    assert aligned.name == "mine"
    assert str(aligned).startswith("mine: 3 queries")
    assert repr(aligned) == f"<AlignedRun: {str(aligned)[:103]}...>"
    pd.testing.assert_frame_equal(aligned.to_frame(), align(QRELS, RUN).to_frame())
    frame = read_run(tmp_path / "run.gz")
    index = QrelsIndex(str(tmp_path / "qrels"))
    assert (len(index.queries), index.n_judged, index.n_pooled) == (3, 6, 6)
    assert repr(index) == "QrelsIndex(3 queries, 6 documents)"
    by_frame, by_path = index.align(frame), index.align(io.BytesIO(gzip_free(tmp_path)))
    pd.testing.assert_frame_equal(by_frame.to_frame(), by_path.to_frame())
    assert by_frame.name == by_path.name == "mine"


def gzip_free(folder):
    """The same run as bytes."""
    file = io.StringIO()
    write_run(file, read_run(folder / "run.gz"))
    return file.getvalue().encode()


def test_without_arrow_strings(monkeypatch, tmp_path):
    expected = align(QRELS, RUN).to_frame()
    write_run(tmp_path / "run", RUN)
    monkeypatch.setattr(text_columns, "_arrow_strings", lambda: None)
    with pd.option_context("mode.string_storage", "python"):
        run = read_run(tmp_path / "run")
        assert getattr(run["qid"].dtype, "storage", "python") == "python"
        aligned = align(QRELS, run)
    pd.testing.assert_frame_equal(aligned.to_frame(), expected)


def test_index_can_be_sent_to_other_processes():
    index = pickle.loads(pickle.dumps(QrelsIndex(QRELS)))
    aligned = pickle.loads(pickle.dumps(index.align(RUN)))
    pd.testing.assert_frame_equal(aligned.to_frame(), align(QRELS, RUN).to_frame())


@pytest.mark.parametrize(
    ("run", "qrels", "params", "message"),
    [
        (
            {"qid": list("abcdefg")},
            {},
            {},
            "queries in common, but have none: an id in the run is 'a', .*'1'",
        ),
        (
            {"qid": 1.5},
            {},
            {},
            "run holds 1.5 in column 'qid' in row 0, which is neither a string nor a who",
        ),
        (
            {"qid": True},
            {},
            {},
            "run holds True in column 'qid' in row 0, which is neither a string nor",
        ),
        (
            {"docno": "a"},
            {},
            {},
            r"run holds document 'a' twice in query '1' in row 2 .first in row 1",
        ),
        (
            {},
            {"docno": "a"},
            {},
            r"qrels holds document 'a' twice in query '1' in row 1 .first in row 0",
        ),
        ({}, {}, {"missing": "skip"}, "missing must be one of 'raise', 'drop', 'empty', got 'sk"),
        ({}, {}, {"precision": "half"}, "precision must be one of 'double', 'single', got 'half'"),
    ],
)
def test_errors(run, qrels, params, message):
    with pytest.raises(ValueError, match=message):
        align(QRELS.assign(**qrels), RUN.assign(**run), **params)


def pytrec_eval_values(run, qrels, measures):
    """Values of pytrec_eval, as one row per topic."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, measures)
    return pd.DataFrame(evaluator.evaluate(run)).T.sort_index()


def own_values(aligned):
    """Reciprocal rank and precision at 5 of the rows as they stand."""
    rows = {}
    for qid in aligned.index.query_ids:
        mine = aligned.groups == qid
        hits = (aligned.y_true[mine] > 0) & (aligned.y_score[mine] > NO)
        first = np.flatnonzero(hits)
        rows[qid] = {
            "P_5": hits[:5].sum() / 5,
            "recip_rank": 1 / (first[0] + 1) if len(first) else 0.0,
        }
    return pd.DataFrame(rows).T


@pytest.mark.slow
@pytest.mark.parametrize("spread", [1, 1e-9])
def test_ties_as_in_trec_eval(spread):
    """Scores with many ties; scores that differ by 1e-9 tie in single precision only."""
    rng = np.random.default_rng(2)
    names = [f"d{i}" for i in range(30)] + [f"D{i}" for i in range(20)]
    names += [f"clueweb09-en00{i}" for i in range(30)] + [f"ü{i}" for i in range(20)]
    run, qrels = {}, {}
    for topic in map(str, range(40)):
        docnos = rng.permutation(names)
        scores = 1 + rng.integers(0, 4, len(names)) / 4 + spread * rng.integers(0, 3, len(names))
        run[topic] = dict(zip(docnos.tolist(), scores.tolist(), strict=True))
        labels = rng.choice(3, size=30, p=[0.9, 0.08, 0.02])
        qrels[topic] = dict(zip(rng.permutation(names)[:30].tolist(), labels.tolist(), strict=True))
    expected = pytrec_eval_values(run, qrels, {"P_5", "recip_rank"})
    frames = [
        pd.DataFrame(
            [(qid, docno, v) for qid, docs in table.items() for docno, v in docs.items()],
            columns=["qid", "docno", name],
        )
        for table, name in ((qrels, "label"), (run, "score"))
    ]
    values = own_values(align(*frames, precision="single"))
    pd.testing.assert_frame_equal(values, expected[values.columns], check_like=True)
    if spread < 1:
        assert not np.allclose(own_values(align(*frames)), expected[values.columns])


@pytest.mark.parametrize(
    ("qrels", "run", "is_refused"),
    [
        ({"1": {"a": 0.5, "b": 0.25}}, {"1": {"a": 1, "b": 0}}, True),
        # Two documents of one label are no list in the order of scores.
        ({"1": {"a": 0.5, "b": 0.5}}, {"1": {"a": 1, "b": 0}}, False),
        ({"1": {"a": 0.5}, "2": {"a": 0.5}}, {"1": {"a": 1}, "2": {"a": 1}}, True),
        ({"1": {"a": 2, "b": 1}}, {"1": {"a": 1, "b": 0}}, False),
        # Scores that are fractions, or larger than grades.
        ({"1": {"a": 0.5, "b": 0.25}}, {"1": {"a": 1.0, "b": 0}}, False),
        ({"1": {"a": 0.5, "b": 0.25}}, {"1": {"a": 11, "b": 0}}, False),
        ({"1": {"a": 0.5, "b": 0.25}}, {"1": {"a": 10, "b": 0}}, True),
    ],
)
def test_dicts_in_the_wrong_order(qrels, run, is_refused):
    if is_refused:
        with pytest.raises(
            InputError,
            match=r"qrels and run look swapped, because qrels holds a different fraction",
        ):
            align(qrels, run)
    else:
        assert align(qrels, run).n_retrieved == 2
    scores = pd.DataFrame([(q, d, s) for q, of in run.items() for d, s in of.items()])
    assert align(qrels, scores.set_axis(["qid", "docno", "score"], axis=1)).n_retrieved == 2

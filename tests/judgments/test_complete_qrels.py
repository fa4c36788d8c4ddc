"""complete_qrels: which labels are drawn, from what, and what the table says of them."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from label_sets import label_sets
from skfilterrank.exceptions import DataWarning, InputError
from skfilterrank.io import read_qrels
from skfilterrank.judgments import complete_qrels, rank_table
from skfilterrank.judgments._complete_qrels import depth_offset
from skfilterrank.metrics import evaluate_runs
from thinned import thinned

pytestmark = pytest.mark.slow

N_DOCUMENTS, N_JUDGED = 40, 20
GOOD, BAD = ["lift", "wing", "flap", "stall"], ["slab", "flux", "boil", "melt"]


def _collection(seed=0, queries="1234"):
    """Return judgments of some documents, runs, texts and topics; the first run is good."""
    rng = np.random.RandomState(seed)
    texts, truth, rows = {}, [], {"a": [], "b": [], "c": []}
    for query in queries:
        labels = rng.choice(3, N_DOCUMENTS, p=[0.6, 0.25, 0.15])
        for number, label in enumerate(labels):
            words = [*rng.choice(GOOD if label else BAD, 3), *rng.choice(GOOD + BAD, 2)]
            texts[f"{query}-{number}"] = " ".join(words)
            truth.append((query, f"{query}-{number}", label))
        for name, noise in zip(rows, (0.5, 2.0, 8.0)):
            scores = labels + noise * rng.randn(N_DOCUMENTS)
            for number in np.argsort(-scores)[:30]:
                rows[name].append((query, f"{query}-{number}", scores[number]))
    runs = {
        name: pd.DataFrame(own, columns=["qid", "docno", "score"]) for name, own in rows.items()
    }
    truth = pd.DataFrame(truth, columns=["qid", "docno", "label"])
    judged = truth[rng.permutation(len(truth)) % N_DOCUMENTS < N_JUDGED].reset_index(drop=True)
    seen = {*judged["docno"], *rank_table(runs).index.get_level_values("docno")}
    texts = {docno: text for docno, text in texts.items() if docno in seen}
    return judged, runs, texts, dict.fromkeys(queries, "wing lift"), truth


@pytest.fixture(scope="module")
def collection():
    return _collection()


@pytest.fixture(scope="module")
def completed(collection):
    judged, runs, texts, topics, _ = collection
    return complete_qrels(judged, runs, texts, topics, n_draws=4, random_state=0)


def _quietly(*args, **params):
    with warnings.catch_warnings(action="ignore", category=DataWarning):
        return complete_qrels(*args, **{"random_state": 0, "n_draws": 2} | params)


def _labels(completed):
    """Return the labels by query, document and draw, sorted."""
    return completed.to_frame().set_index(["qid", "docno", "draw"])["label"].sort_index()


def _drawn(completed):
    """Return the drawn labels alone."""
    labels = _labels(completed)
    return labels[labels.index.get_level_values("draw").notna()]


def test_every_document_of_the_runs_has_a_label_in_every_set(collection, completed):
    judged, runs, *_ = collection
    table = completed.to_frame()
    assert table.columns.tolist() == ["qid", "docno", "label", "judged_by", "draw"]
    assert table.dtypes[["label", "draw"]].astype(str).tolist() == ["int64", "Int64"]
    # The judgments come first, in their order.
    given = table[table["draw"].isna()]
    pd.testing.assert_frame_equal(given[["qid", "docno", "label"]], judged)
    assert set(given["judged_by"]) == {"people"}
    _, sets = label_sets(table)
    returned = set(rank_table(runs).index) - set(zip(judged["qid"], judged["docno"]))
    assert set(sets.index) == returned
    assert sets.shape == (len(returned), 4) == (completed.n_drawn, completed.n_draws)
    assert set(table["judged_by"][table["draw"].notna()]) == {"drawn"}
    assert completed.n_judged == len(judged) == 80
    assert repr(completed).startswith(f"<CompletedQrels: 4 label sets of {len(returned)} doc")


def test_the_result_itself_is_judgments(collection, completed):
    runs = collection[1]
    expected = evaluate_runs(completed.to_frame(), runs, "ap")
    pd.testing.assert_frame_equal(evaluate_runs(completed, runs, "ap").means, expected.means)


@pytest.mark.filterwarnings("ignore:only 30 documents are judged")
def test_labels_of_one_query_are_warned_of(collection):
    judged, runs, *_ = collection
    query = collection[4][lambda rows: rows["qid"] == judged["qid"].iloc[0]][:30]
    labels = (np.arange(len(query)) % 2).astype(int)
    runs = {name: run[run["qid"] == query["qid"].iloc[0]] for name, run in runs.items()}
    with pytest.warns(DataWarning, match="all labels are of one query"):
        complete_qrels(query.assign(label=labels), runs, n_draws=2, random_state=0)


def test_likely_documents_get_high_labels_more_often(collection, completed):
    truth = collection[4].set_index(["qid", "docno"])["label"]
    drawn = completed.to_frame().dropna(subset="draw").groupby(["qid", "docno"])["label"].mean()
    means = drawn.groupby(truth.reindex(drawn.index)).mean()
    assert means[0] < 0.4 < 0.9 < means[1]
    assert drawn.between(0.1, 1.9).any()


@pytest.mark.parametrize("how", thinned(["names and jobs", "rows", "runs"]))
def test_names_orders_and_jobs_do_not_count(collection, completed, how):
    judged, runs, texts, topics, _ = collection
    jobs, names = None, {}
    if how == "rows":
        judged = judged.sample(frac=1, random_state=1)
        runs = {name: run.sample(frac=1, random_state=2) for name, run in runs.items()}
    elif how == "runs":
        runs = {"x": runs["c"], "y": runs["b"], "z": runs["a"]}
    else:
        jobs = 2
        # Orders of names change.
        names = {query: f"q{7 * int(query) % 5}" for query in topics}
        names |= {docno: f"d{7 * i % len(texts)}" for i, docno in enumerate(texts)}
        change = {"qid": names, "docno": names}
        judged = judged.replace(change)
        runs = {name: run.replace(change) for name, run in runs.items()}
        texts = {names[docno]: text for docno, text in texts.items()}
        topics = {names[query]: text for query, text in topics.items()}
    found = complete_qrels(judged, runs, texts, topics, n_draws=4, random_state=0, n_jobs=jobs)
    back = {new: old for old, new in names.items()}
    expected = _labels(completed)
    labels = _labels(found).rename(index=back, level=0).rename(index=back, level=1).sort_index()
    pd.testing.assert_series_equal(labels, expected)


def test_order_of_machines_and_vectors_does_not_count(collection):
    judged, runs, texts, _, truth = collection
    rng = np.random.RandomState(1)
    machines = {
        name: truth.assign(label=np.where(rng.rand(len(truth)) < 0.7, truth["label"], 0))
        for name in "ab"
    }
    vectors = pd.DataFrame(rng.randn(len(texts), 3), columns=[*"xyz"])
    vectors.insert(0, "docno", list(texts))
    found, again = (
        _labels(_quietly(judged, runs, documents, machine_qrels=labels, random_state=0))
        for documents, labels in (
            (vectors, machines),
            (vectors[["docno", "z", "x", "y"]], {name: machines[name] for name in "ba"}),
        )
    )
    pd.testing.assert_series_equal(found, again)


def test_half_an_emoji_in_a_text_is_no_error(collection, completed):
    judged, runs, texts, topics, _ = collection
    odd = texts | {min(texts): f"\ud83d {texts[min(texts)]}"}
    found = _quietly(judged, runs, odd, topics, random_state=0)
    assert (found.n_drawn, found.n_without_text) == (completed.n_drawn, completed.n_without_text)


def test_a_document_without_a_vector_is_counted(collection):
    judged, runs, texts, *_ = collection
    vectors = pd.DataFrame({"docno": list(texts), "x": range(len(texts)), "y": 1.0})
    assert _quietly(judged, runs, vectors[1:], n_draws=2, random_state=0).n_without_text == 1


@pytest.mark.parametrize(
    "kind", thinned(["series", "frame", "index", "polars"], parts=2)
)  # beside a dict
def test_kinds_of_texts(collection, completed, kind):
    judged, runs, texts, topics, _ = collection

    def of(table, key, column):
        frame = pd.DataFrame({key: list(table), column: list(table.values())})
        return {
            "series": frame.set_index(key)[column],
            "frame": frame.sample(frac=1, random_state=0),
            "index": frame.set_index(key),
            "polars": pl.from_pandas(frame),
        }[kind]

    documents, queries = of(texts, "docno", "text"), of(topics, "qid", "query")
    found = _quietly(judged, runs, documents, queries, n_draws=4)
    pd.testing.assert_frame_equal(found.to_frame(), completed.to_frame())


def test_runs_from_files_and_rank_tables(collection, tmp_path):
    judged, runs, *_ = collection
    for name, run in runs.items():
        run.to_csv(tmp_path / f"{name}.csv", index=False)
    judged.to_csv(tmp_path / "qrels.csv", index=False)
    paths = [tmp_path / f"{name}.csv" for name in runs]
    expected = _quietly(judged, runs).to_frame()
    pd.testing.assert_frame_equal(_quietly(tmp_path / "qrels.csv", paths).to_frame(), expected)
    few = _quietly(judged, rank_table(runs, depth=10))
    assert few.n_drawn < _quietly(judged, runs).n_drawn


def test_what_is_given_is_a_column(collection, completed):
    judged, runs, texts, _, truth = collection
    ranks = ["rank in a", "rank in b", "rank in c"]
    assert sorted(completed.columns[-3:]) == ranks
    assert "BM25 in query" in completed.columns
    alone = _quietly(judged, runs, n_draws=4)
    assert "cosine" not in alone.columns
    machines = {"large": truth, "small": truth.iloc[::2]}
    found = _quietly(judged, runs, machine_qrels=machines, n_draws=4)
    new = ["label by large", "label by small", "no label by small"]
    assert sorted(name for name in found.columns if name not in alone.columns) == new
    right = truth.set_index(["qid", "docno"])["label"]
    with_machine, without = (
        (labels == right.reindex(labels.index.droplevel("draw")).to_numpy()).mean()
        for labels in (_drawn(found), _drawn(alone))
    )
    assert with_machine > without + 0.1
    vectors = pd.DataFrame(np.random.RandomState(0).rand(len(texts), 3)).assign(docno=list(texts))
    by_vectors = _quietly(judged, runs, vectors, n_draws=4)
    assert set(by_vectors.columns) == set(alone.columns)
    assert (_labels(by_vectors) != _labels(alone)).any()


def test_forbidden_documents_are_drawn_too(collection):
    judged, runs, texts, topics, _ = collection
    judged = judged.assign(label=judged["label"].replace({2: -1}))
    judged = read_qrels(judged, unjudged_label=None)
    drawn = _quietly(judged, runs, texts, topics).to_frame().dropna(subset="draw")
    assert set(drawn["label"]) == {-1, 0, 1}


def test_documents_without_a_label_are_drawn_if_a_run_returns_them(collection):
    judged, runs, texts, *_ = collection
    alone = runs["a"][runs["a"]["qid"] != "4"]
    holes = judged.assign(label=judged["label"].where(judged.index % 4 != 0))
    returned = set(zip(alone["qid"], alone["docno"]))
    is_returned = np.array([pair in returned for pair in zip(holes["qid"], holes["docno"])])
    with pytest.warns(DataWarning, match=r"\d+ documents that no run returns: left unjudged"):
        found = complete_qrels(holes, {"a": alone}, texts, random_state=0, n_draws=2)
    table = found.to_frame()
    left = table[table["label"].isna()]
    expected = holes[holes["label"].isna() & ~is_returned]
    assert left["docno"].tolist() == expected["docno"].tolist()
    assert left["judged_by"].isna().all()
    assert found.n_not_returned == len(left)
    assert label_sets(table)[1] is not None


def test_queries_without_a_judged_document(collection):
    judged, runs, *_ = collection
    known = judged[judged["qid"] != "4"]
    with pytest.warns(DataWarning, match="1 query of the runs without judgments: left out"):
        found = complete_qrels(known, runs, random_state=0, n_draws=2)
    assert found.unknown_queries == ["4"]
    assert "4" not in set(found.to_frame()["qid"])
    # Named with a document without a label, it is completed.
    named = pd.concat([known, pd.DataFrame({"qid": ["4"], "docno": ["4-0"], "label": [np.nan]})])
    assert (_quietly(named, runs).to_frame()["qid"] == "4").sum() >= 60


def test_labels_of_machines_are_drawn_anew(collection):
    judged, runs, *_ = collection
    marked = judged.assign(judged_by="people")
    marked.loc[::5, "judged_by"] = "large"
    with pytest.warns(DataWarning, match="qrels holds 16 labels that machines gave .*: large"):
        found = complete_qrels(marked, runs, random_state=0, n_draws=2)
    people = marked[marked["judged_by"] == "people"].drop(columns="judged_by")
    machine = marked[marked["judged_by"] == "large"].assign(label=np.nan)
    expected = _quietly(pd.concat([people, machine[people.columns]]), runs)
    pd.testing.assert_series_equal(_drawn(found), _drawn(expected))


def test_documents_beyond_the_judged_depth_are_less_often_relevant(collection, monkeypatch):
    _, runs, *_, truth = collection
    best = rank_table(runs).min(axis=1).rename("rank").reset_index()
    judged = truth.merge(best[best["rank"] <= 8])[["qid", "docno", "label"]]

    labels = []
    for slope in (1e-9, 0.25, 1):
        monkeypatch.setattr("skfilterrank.judgments._complete_qrels._SLOPE", slope)
        labels.append(_drawn(_quietly(judged, runs, n_draws=4)))
    # The random numbers are the same, so that lower chances never give a higher label.
    assert (labels[0] >= labels[1]).all()
    assert (labels[1] >= labels[2]).all()
    assert labels[0].mean() > labels[1].mean() > labels[2].mean()


def test_the_offset_begins_at_the_judged_depth_of_each_query():
    ranks = np.array([2.0, 4, 8, 1, 2, np.nan, 3])
    y = np.array([1, 0, np.nan, np.nan, np.nan, 1, np.nan])
    found = depth_offset(ranks, y, np.array([0, 0, 0, 1, 1, 1, 0]))
    expected = [0, 0, -0.25 * np.log(2), 0, -0.25 * np.log(2), 0, 0]
    np.testing.assert_allclose(found, expected)


def test_runs_are_disturbed_beyond_the_judged_depth(collection, monkeypatch):
    _, runs, *_, truth = collection
    best = rank_table(runs).min(axis=1)
    table = truth.set_index(["qid", "docno"])["label"].reindex(best.index[best <= 8]).reset_index()
    before = _drawn(_quietly(table, runs, random_state=0))
    monkeypatch.setattr("skfilterrank.judgments._predictor_models._TAIL", 3.0)
    after = _drawn(_quietly(table, runs, random_state=0))
    # The same chances and random numbers, but for the noise.
    assert (before != after).mean() > 0.02


def test_a_changed_label_changes_few_others(collection):
    judged, runs, *_ = collection
    changed = judged.assign(label=judged["label"].where(judged.index > 0, 1))
    assert judged["label"][0] != 1
    before, again, other = (
        _drawn(_quietly(labels, runs, n_draws=6, random_state=seed))
        for labels, seed in ((judged, 0), (changed, 0), (judged, 1))
    )
    kept, by_chance = ((labels == before).mean() for labels in (again, other))
    assert kept > 0.9 > by_chance + 0.1


def test_texts_that_lack_are_counted(collection):
    judged, runs, texts, topics, _ = collection
    few = {docno: text for docno, text in texts.items() if not docno.endswith("7")}
    lacking = len(texts) - len(few) + 1
    few[next(iter(few))] = None
    assert _quietly(judged, runs, few, topics).n_without_text == lacking


def test_few_labels_order_only(collection, completed):
    judged, runs, *_ = collection
    with pytest.warns(DataWarning, match="only 49 documents are judged"):
        found = complete_qrels(judged.sample(49, random_state=0), runs, random_state=0, n_draws=2)
    assert found.n_judged == 49
    with pytest.raises(InputError, match=r"but 30 are needed .* rank_systems, which"):
        complete_qrels(judged.sample(29, random_state=0), runs)


def test_a_sample_loses_its_probabilities(collection):
    judged, runs, *_ = collection
    found = _quietly(judged.assign(inclusion_probability=0.5), runs)
    pd.testing.assert_frame_equal(found.to_frame(), _quietly(judged, runs).to_frame())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"documents": ["a"]}, "documents must be a dict or Series of texts by docno"),
        ({"documents": {}}, "documents is empty"),
        ({"documents": {"1-1": "the"}}, r"^the texts of documents hold no terms .* Leave them out"),
        ({"documents": {"1-1": np.ones(2)}}, "documents must hold texts, .* give vectors as a"),
        ({"documents": {"1-1": "wing", "1-2": {}}}, "documents must hold texts, got {}: give"),
        ({"documents": {"x": "wing"}}, "documents has nothing for docno of the runs"),
        (
            {"documents": pd.DataFrame({"docno": ["1-1", "1-1"], "text": ["a", "b"]})},
            "documents holds '1-1' twice",
        ),
        ({"documents": pd.DataFrame({"id": ["1-1"]})}, "documents has no column 'docno'"),
        (
            {"documents": pd.DataFrame({"docno": ["1-1"], "body": ["a"]})},
            "documents must have a column 'text', or numbers",
        ),
        ({"topics": pd.DataFrame({"qid": ["1"], "n": [1]})}, "topics must have a column 'query'"),
        ({"documents": None}, "topics are compared with documents"),
        ({"documents": pd.DataFrame({"docno": ["1-1"], "v": [1.0]})}, "topics are compared with"),
        ({"machine_qrels": {"x": {"1": {"q": 1}}}}, "machine_qrels has no label by x"),
        ({"n_draws": 1}, "n_draws"),
        ({"random_state": "x"}, "random_state must be"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"qrels": 3}, "qrels must be a data frame, a path or an open file, got int"),
        ({"qrels": {"9": {"a": 1}}}, "the runs have no query of the judgments"),
        ({"qrels": {"1": {f"1-{i}": 1 for i in range(30)}}}, "30 relevant and 0 other documents"),
        ({"qrels": {"1": {f"1-{i}": int(i < 4) for i in range(36)}}}, "4 relevant and 32 other"),
    ],
)
def test_bad_input(collection, change, message):
    judged, runs, texts, topics, _ = collection
    arguments = {"qrels": judged, "runs": runs, "documents": texts, "topics": topics} | change
    with pytest.raises((ValueError, TypeError), match=message):
        _quietly(**arguments)


def test_nothing_is_completed_twice_or_without_need(collection, completed):
    _, runs, *_, truth = collection
    with pytest.raises(InputError, match="no document of the runs is unjudged"):
        complete_qrels(truth, runs)
    with pytest.raises(InputError, match="qrels holds drawn label sets"):
        complete_qrels(completed.to_frame(), runs)

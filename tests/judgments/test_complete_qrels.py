"""complete_qrels: what is completed, who is said to have judged, and what the labels are worth."""

import copy
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.special import expit
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import TfidfVectorizer

from selections import mask
from skfilterrank.datasets import fetch_cranfield
from skfilterrank.exceptions import DataWarning, InputError, UnjudgedWarning
from skfilterrank.io import write_qrels
from skfilterrank.judgments import LabelPredictor, PoolingSelector, complete_qrels, rank_table
from skfilterrank.judgments._complete_qrels import expected_precision

pytestmark = pytest.mark.slow

GOOD = ["lift", "wing", "slipstream", "flap", "stall"]
BAD = ["slab", "flux", "boil", "melt", "plate"]


@pytest.fixture(scope="module")
def shared_collection():
    """Make two runs over four queries, texts, labels of the upper half, and the truth."""
    rng = np.random.RandomState(0)
    texts, truth, rows = {}, {}, []
    for query in "1234":
        for number in range(30):
            docno = f"{query}-{number}"
            grade = int(rng.rand() < 0.7 - number / 60)
            words = [*rng.choice(GOOD if grade else BAD, 3), *rng.choice(GOOD + BAD, 3)]
            texts[docno], truth[query, docno] = " ".join(words), float(grade)
            rows.append((query, docno, 30.0 - number))
    run = pd.DataFrame(rows, columns=["qid", "docno", "score"])
    runs = {"a": run, "b": run[run["score"] > 8].assign(score=lambda run: run["score"] ** 2)}
    qrels = pd.DataFrame(
        [(*pair, label) for pair, label in truth.items() if int(pair[1].split("-")[1]) < 15],
        columns=["qid", "docno", "label"],
    )
    return runs, qrels, texts, pd.Series(truth)


@pytest.fixture
def collection(shared_collection):
    """Copy the collection, to change it."""
    return copy.deepcopy(shared_collection)


def query_1(collection):
    runs, qrels, texts, _ = collection
    runs = {name: run[run["qid"] == "1"] for name, run in runs.items()}
    return runs, qrels[qrels["qid"] == "1"], texts


@pytest.fixture(scope="module")
def of_one_query(shared_collection):
    runs, qrels, texts = query_1(shared_collection)
    return complete_qrels(qrels, runs, texts, random_state=0).qrels


@pytest.fixture(scope="module")
def completed(shared_collection):
    """Complete by default; the result must not be changed."""
    runs, qrels, texts, _ = shared_collection
    return complete_qrels(qrels, runs, texts, random_state=0)


def quietly(*args, **params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return complete_qrels(*args, **params, random_state=0)


def test_the_same_as_a_predictor_of_the_joined_table(collection, completed):
    _, qrels, texts, truth = collection
    found = completed
    table = truth.rename_axis(["qid", "docno"]).reset_index(name="truth")
    table["label"] = table.merge(qrels, how="left", on=["qid", "docno"])["label"]
    table["text"] = table["docno"].map(texts)
    labels = LabelPredictor().fit_transform(table["text"], table["label"], table["qid"])
    is_judged = table["label"].notna()
    merged = found.qrels.merge(
        table.assign(expected=labels, is_judged=is_judged), on=["qid", "docno"]
    )
    assert len(found.qrels) == len(merged) == 120
    np.testing.assert_array_equal(merged["label_x"], merged["expected"])
    np.testing.assert_array_equal(merged["judged_by"] == "people", merged["is_judged"])
    assert (found.qrels["judged_by"] == "predicted").sum() == 60 == found.predictor.n_imputed_
    assert found.unknown_queries == []
    assert found.without_text.empty
    # Queries in the order of the judgments, judged documents first.
    assert found.qrels["qid"].tolist() == np.repeat(list("1234"), 30).tolist()
    pd.testing.assert_frame_equal(
        found.qrels[found.qrels["judged_by"] == "people"][qrels.columns].reset_index(drop=True),
        qrels,
    )


def test_depth_and_judgments_without_runs(collection):
    runs, qrels, texts, _ = collection
    few = complete_qrels(qrels, runs, texts, depth=20, random_state=0)
    assert len(few.qrels) == 80
    asked = pd.concat([qrels, pd.DataFrame({"qid": ["1"], "docno": ["1-20"], "label": [-1.0]})])
    found = complete_qrels(asked, None, texts, unjudged_label=-1, random_state=0)
    assert found.qrels["docno"][found.qrels["judged_by"] == "predicted"].tolist() == ["1-20"]
    same = few.qrels.set_index("docno")["label"]
    assert np.isin(found.qrels["label"], [0, 1]).all()
    assert same.notna().all()


@pytest.mark.parametrize("kind", ["series", "frame", "index", "polars"])  # beside a dict
def test_kinds_of_documents(collection, of_one_query, kind):
    runs, qrels, texts = query_1(collection)
    frame = pd.DataFrame({"docno": list(texts), "text": list(texts.values())})
    documents = {
        "series": frame.set_index("docno")["text"],
        "frame": frame.sample(frac=1, random_state=0),
        "index": frame.set_index("docno"),
        "polars": pl.from_pandas(frame),
    }[kind]
    pd.testing.assert_frame_equal(
        complete_qrels(qrels, runs, documents, random_state=0).qrels, of_one_query
    )


def test_features_of_documents(collection):
    runs, qrels, _, truth = collection
    rng = np.random.RandomState(1)
    labels = truth.droplevel(0)
    documents = pd.DataFrame(
        {"f": labels + rng.normal(size=len(labels)) / 4, "docno": labels.index}
    )
    documents.loc[documents["docno"] == "2-29", "f"] = np.nan
    found = complete_qrels(qrels, runs, documents, random_state=0)
    again = complete_qrels(qrels, runs, documents.assign(f=7 + 9 * documents["f"]), random_state=0)
    pd.testing.assert_frame_equal(again.qrels, found.qrels)
    joined = found.qrels.set_index(["qid", "docno"])["label"]
    is_there = joined.index.get_level_values("docno") != "2-29"
    assert (joined[is_there] == truth[joined.index][is_there]).mean() > 0.9
    assert found.without_text["docno"].tolist() == ["2-29"]
    with pytest.raises(ValueError, match=r"must have a column 'text', or numbers in all .*'words'"):
        complete_qrels(qrels, runs, documents.assign(words="a word"))
    with pytest.raises(ValueError, match="documents has no column 'docno', but 'f', 'id'"):
        complete_qrels(qrels, runs, documents.rename(columns={"docno": "id"}))


def test_documents_without_text_stay_unjudged(collection):
    runs, qrels, texts, _ = collection
    del texts["1-20"]
    texts["1-21"], texts["1-2"] = " ", None
    found = complete_qrels(qrels, runs, texts, random_state=0)
    assert found.without_text["docno"].tolist() == ["1-2", "1-20", "1-21"]
    rows = found.qrels.set_index("docno").loc[["1-20", "1-21"]]
    assert rows["label"].isna().all()
    assert rows["judged_by"].isna().all()
    assert found.qrels.set_index("docno").loc["1-2", "judged_by"] == "people"
    assert found.predictor.n_imputed_ == 58


def test_queries_of_the_runs_without_judgments_are_told(collection):
    runs, qrels, texts, _ = collection
    with pytest.warns(
        DataWarning, match="2 queries of the runs without judgments.*such as '3', '4'"
    ):
        found = complete_qrels(qrels[qrels["qid"] < "3"], runs, texts, random_state=0)
    assert found.unknown_queries == ["3", "4"]
    assert found.qrels["qid"].unique().tolist() == ["1", "2"]


@pytest.mark.parametrize("says", [{"unjudged_query": "pool"}, {"shared": True}])
def test_a_model_of_all_queries_answers_for_queries_without_judgments(collection, says):
    runs, qrels, texts, _ = collection
    few = qrels[qrels["qid"] < "3"]
    found = complete_qrels(few, runs, texts, predictor=LabelPredictor(**says), random_state=0)
    assert found.unknown_queries == []
    assert found.qrels["qid"].tolist() == np.repeat(list("1234"), 30).tolist()
    assert found.qrels["label"].notna().all()
    assert (found.qrels.query("qid >= '3'")["judged_by"] == "predicted").all()
    with pytest.raises(ValueError, match="no document is judged of 2 queries, such as '3', '4'"):
        complete_qrels(
            few, runs, texts, predictor=LabelPredictor(unjudged_query="raise"), random_state=0
        )


def test_a_second_round_learns_from_people_alone(collection, completed, tmp_path):
    runs, _, texts, _ = collection
    first = completed
    write_qrels(tmp_path / "completed.txt", first.qrels)
    lines = (tmp_path / "completed.txt").read_text().splitlines()
    assert sum(line.split()[1] == "predicted" for line in lines) == 60
    with pytest.warns(
        DataWarning, match="qrels holds 60 labels that machines gave .*: they are not"
    ):
        again = complete_qrels(tmp_path / "completed.txt", runs, texts, random_state=0)
    pd.testing.assert_frame_equal(again.qrels, first.qrels)
    assert again.expected_precision == first.expected_precision


def test_soft_labels(collection, completed):
    runs, qrels, texts, _ = collection
    hard = completed
    soft = complete_qrels(
        qrels, runs, texts, predictor=LabelPredictor(output="soft"), random_state=0
    )
    is_predicted = soft.qrels["judged_by"] == "predicted"
    assert soft.qrels["label"][is_predicted].between(0, 1).all()
    assert soft.qrels["label"][is_predicted].nunique() > 20
    # Their quality is that of the likeliest labels.
    assert soft.expected_precision == hard.expected_precision
    pd.testing.assert_frame_equal(soft.quality, hard.quality)


# What the labels are worth.


def test_expected_precision_of_known_chances():
    """Judged are the best ranks; the others' chances follow from the same curve."""
    rng = np.random.RandomState(0)
    n = 40_000
    places, said = rng.normal(size=n), rng.rand(n) < 0.4
    relevant = rng.rand(n) < expit(-2 + 1.5 * said + 1.2 * places)
    judged = places > 0.5
    new = ~judged & said
    found = expected_precision(relevant[judged], said[judged], places[judged], places[new])
    truth = relevant[new].mean()
    assert found == pytest.approx(truth, abs=0.02)
    # What does not look at ranks is far off.
    blind = expected_precision(relevant[judged], said[judged], None, None)
    assert blind == pytest.approx(relevant[judged & said].mean(), abs=0.005)
    assert blind > 2 * truth


def test_expected_precision_without_enough_judgments():
    relevant, said = np.array([True] * 4 + [False] * 9), np.array([True, False] * 6 + [True])
    assert np.isnan(expected_precision(relevant, said, None, None))
    assert np.isnan(expected_precision(~relevant, said, None, None))
    relevant[4] = True
    assert np.isnan(expected_precision(relevant, np.arange(13) < 4, None, None))
    assert 0 < expected_precision(relevant, said, None, None) < 1
    assert np.isnan(expected_precision(relevant, said, np.zeros(13), np.zeros(0)))


def test_quality_by_hand(collection, completed):
    runs, qrels, texts, _ = collection
    found = completed
    quality = found.quality
    assert quality.index.tolist() == [0, 1]
    assert quality["n_judged"].tolist() == qrels["label"].value_counts().sort_index().tolist()
    predicted = found.qrels[found.qrels["judged_by"] == "predicted"]["label"]
    assert quality["n_predicted"].tolist() == predicted.value_counts().sort_index().tolist()
    assert quality["n_held_out"].sum() == len(qrels)
    assert found.n_predicted_relevant == quality.loc[1, "n_predicted"]
    # Right ones of either label together: judged documents that were predicted as they are.
    n_right = (quality["n_held_out"] * quality["agreement"]).sum()
    assert n_right == pytest.approx(round(n_right))
    assert 0.6 < n_right / len(qrels) < 1
    assert f"of {found.n_predicted_relevant} documents predicted relevant" in str(found)
    pd.testing.assert_frame_equal(found.to_frame(), quality)
    other = complete_qrels(qrels, runs, texts, random_state=1)
    pd.testing.assert_frame_equal(other.qrels, found.qrels)


def test_quality_of_a_model_that_says_1_of_all(collection):
    runs, qrels, texts, _ = collection
    ones = LabelPredictor(DummyClassifier(strategy="constant", constant=1))
    found = quietly(qrels, runs, texts, predictor=ones)
    share = qrels["label"].mean()
    low, high = found.quality.loc[0], found.quality.loc[1]
    assert (low["n_judged"], high["n_judged"]) == (60 - qrels["label"].sum(), qrels["label"].sum())
    assert (low["n_predicted"], high["n_predicted"]) == (0, 60)
    # Each judged document is held out once, and said to be relevant.
    assert (low["n_held_out"], high["n_held_out"]) == (0, 60)
    assert np.isnan(low["agreement"])
    assert high["agreement"] == pytest.approx(share)
    assert found.n_predicted_relevant == 60


@pytest.mark.parametrize(("n_relevant", "n_others"), [(4, 10), (10, 4), (10, 0), (2, 1)])
def test_too_few_labels_of_either_kind_are_refused(collection, n_relevant, n_others):
    _, qrels, texts, _ = collection
    rest = qrels.tail(9).assign(label=-9)
    is_relevant = qrels["label"] > 0

    def some(n_relevant, n_others):
        chosen = [qrels[is_relevant].head(n_relevant), qrels[~is_relevant].head(n_others), rest]
        return pd.concat(chosen).drop_duplicates(["qid", "docno"], keep="last")

    few = some(n_relevant, n_others)
    message = f"qrels holds {n_relevant} relevant and {n_others} other judged documents with a text"
    with pytest.raises(InputError, match=f"{message}, but 5 of each are needed"):
        complete_qrels(few, None, texts, unjudged_label=-9, random_state=0)
    enough = some(5, 5)
    assert quietly(enough, None, texts, unjudged_label=-9).quality["n_judged"].sum() == 10
    # Those without a text do not count.
    texts[enough.loc[~is_relevant, "docno"].iloc[0]] = ""
    with pytest.raises(InputError, match="holds 5 relevant and 4 other"):
        complete_qrels(enough, None, texts, unjudged_label=-9, random_state=0)


def test_labels_that_were_not_held_out_say_nothing(collection):
    """Each judged document is the only one of its query, of which nothing is left to learn from."""
    _, qrels, texts, _ = collection
    chosen = qrels.groupby("label").head(5)
    judged = chosen.assign(qid=chosen["docno"])
    others = qrels.tail(1).merge(judged[["qid"]], how="cross", suffixes=("_", ""))
    table = pd.concat([judged, others[["qid", "docno"]]], ignore_index=True)
    with pytest.warns(DataWarning, match="5 documents predicted relevant nothing says how many"):
        found = complete_qrels(
            table, None, texts, predictor=LabelPredictor(one_class="copy"), random_state=0
        )
    assert np.isnan(found.expected_precision)


def test_random_labels_are_worth_what_chance_is(collection):
    """Texts and ranks that say nothing of relevance: as many are relevant as there are."""
    runs, _, texts, truth = collection
    rng = np.random.RandomState(3)
    texts = {docno: " ".join(rng.choice(GOOD + BAD, 6)) for docno in texts}
    labels = pd.Series((rng.rand(len(truth)) < 0.3).astype(float), truth.index, name="label")
    qrels = labels.rename_axis(["qid", "docno"]).sample(frac=0.7, random_state=0).reset_index()
    with pytest.warns(DataWarning, match=r"of \d+ documents predicted relevant \d+ % are expected"):
        found = complete_qrels(qrels, runs, texts, random_state=0)
    assert found.expected_precision == pytest.approx(0.3, abs=0.15)


@pytest.mark.nightly
def test_after_five_judgments_a_query_most_are_wrong(data_dir):
    """Cranfield: what is expected of the labels is what they are worth, held-out rows are not."""
    collection = fetch_cranfield(data_home=data_dir, download_if_missing=False)
    docs = collection.documents.set_index("docno")["text"]
    queries = collection.queries.set_index("qid")["text"]
    queries = queries[:40]
    qrels = collection.qrels.query("label > 0")
    runs = {}
    for name, params in {"a": {}, "b": {"sublinear_tf": True}, "c": {"use_idf": False}}.items():
        vectorizer = TfidfVectorizer(**params)
        X = vectorizer.fit_transform(docs)
        scores = (vectorizer.transform(queries) @ X.T).toarray()
        top = np.argsort(-scores, axis=1)[:, :100]
        runs[name] = pd.DataFrame(
            {
                "qid": np.repeat(queries.index, 100),
                "docno": docs.index[top.ravel()],
                "score": np.take_along_axis(scores, top, axis=1).ravel(),
            }
        )
    table = rank_table(runs)
    relevant = pd.MultiIndex.from_frame(qrels[["qid", "docno"]])
    truth = pd.Series(table.index.isin(relevant).astype(float), table.index, name="label")
    judged = truth[mask(PoolingSelector().fit(table), 5)].reset_index()
    with (
        pytest.warns(DataWarning, match=r"documents predicted relevant \d(\.\d)? % are expected"),
        pytest.warns(UnjudgedWarning, match=r"to learn from are the same one in \d+ queries"),
    ):
        found = complete_qrels(judged, runs, docs)
    new = found.qrels[(found.qrels["judged_by"] == "predicted") & (found.qrels["label"] > 0)]
    right = truth.loc[pd.MultiIndex.from_frame(new[["qid", "docno"]])].mean()
    assert right < 0.06
    assert found.expected_precision == pytest.approx(right, abs=0.06)
    assert found.quality.loc[1, "agreement"] > 0.3


# Bad input.


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"documents": ["a"]}, "documents must be a dict or Series of texts by document id"),
        ({"documents": {}}, "documents holds no document"),
        (
            {"documents": {"x": "wing"}},
            "no document of the pool has a text in documents: ids there",
        ),
        ({"documents": {"1-20": "wing"}}, "no judged document has a text in documents"),
        (
            {"documents": pd.DataFrame({"docno": ["1-1", "1-1"], "text": ["a", "b"]})},
            "documents holds '1-1' twice",
        ),
        ({"documents": pd.DataFrame({"docno": ["1-1"]})}, "no document with a text or numbers"),
        ({"runs": None}, "no document is unjudged: name the label that means unjudged"),
        ({"runs": None, "depth": 3}, "depth is the depth of the runs, but there are no"),
        ({"depth": 0}, "depth must be"),
        ({"predictor": "svm"}, "predictor must be a LabelPredictor or None"),
        (
            {"predictor": LabelPredictor(n_per_query=3)},
            r"predictor.n_per_query must be None, got 3",
        ),
        ({"predictor": LabelPredictor(one_class="zero")}, "one_class must be one of"),
        ({"random_state": "x"}, "random_state must be"),
        (
            {"qrels": pd.DataFrame({"qid": ["9"], "docno": ["a"], "label": [1]})},
            "the runs have no query of the judgments: the runs have queries such as '1', "
            "the judgments such as '9'",
        ),
    ],
)
def test_bad_input(collection, change, message):
    runs, qrels, texts, _ = collection
    arguments = {"runs": runs, "qrels": qrels, "documents": texts} | change
    with pytest.raises((ValueError, TypeError), match=message):
        complete_qrels(**arguments)


def test_a_query_with_one_label_is_held_out_without_one(collection):
    runs, qrels, texts, _ = collection
    one = qrels[(qrels["qid"] != "4") | (qrels["docno"] == "4-0")]
    found = quietly(
        one, runs, texts, predictor=LabelPredictor(one_class="copy", unjudged_query="raise")
    )
    assert found.quality["n_held_out"].sum() == len(one) - 1
    assert found.qrels["label"].notna().all()


def test_a_good_sample_is_not_doubtful(completed):
    assert completed.expected_precision >= 0.5
    assert not completed.is_doubtful


def test_labels_of_machines_alone(collection):
    runs, qrels, texts, _ = collection
    marked = qrels.assign(judged_by="large")
    with (
        pytest.warns(DataWarning, match="60 labels that machines gave"),
        pytest.raises(ValueError, match="qrels holds no label that people gave"),
    ):
        complete_qrels(marked, runs, texts, random_state=0)


def test_a_random_sample_is_known_by_its_ranks(collection, completed):
    runs, _, texts, truth = collection
    assert completed.judged_above_unjudged == 1
    assert not completed.is_random_sample

    rows = np.random.RandomState(2).permutation(len(truth))[:60]
    sample = truth.iloc[rows].rename_axis(["qid", "docno"]).rename("label").reset_index()
    with pytest.warns(DataWarning, match=r"as in a random sample: .* unjudged='drop'"):
        found = complete_qrels(sample, runs, texts, random_state=0)
    assert found.is_random_sample
    # By hand: pairs of a judged and an unjudged document, the first of which is ranked higher.
    is_judged = truth.index.isin(pd.MultiIndex.from_frame(sample[["qid", "docno"]]))
    ranks = truth.index.get_level_values(1).str.split("-").str[1].astype(int)
    pairs = [
        (rank < other) + (rank == other) / 2
        for rank, query, judged in zip(ranks, truth.index.get_level_values(0), is_judged)
        for other, same, known in zip(ranks, truth.index.get_level_values(0), is_judged)
        if judged and not known and same == query
    ]
    assert found.judged_above_unjudged == pytest.approx(np.mean(pairs), abs=0.02)

    # A judged document that no run returns stands with the last of its query, below the others.
    _, qrels, *_ = collection
    more = pd.concat([qrels, pd.DataFrame({"qid": ["1"], "docno": ["1-x"], "label": [0.0]})])
    below = quietly(more, runs, texts | {"1-x": "slab"})
    assert below.judged_above_unjudged == pytest.approx((4 * 225 + 1 / 2) / (4 * 225 + 15))

    # Without runs nothing says how they were chosen.
    own = truth.rename_axis(["qid", "docno"]).rename("label").reset_index()
    own.loc[~is_judged, "label"] = np.nan
    without = quietly(own, None, texts)
    assert np.isnan(without.judged_above_unjudged)
    assert not without.is_random_sample

"""Features of judged tables and of their lists: values by hand, and life in a Pipeline."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from skfilterrank.exceptions import InputError
from skfilterrank.ranking import make_text_features
from skfilterrank.ranking._text_features import (
    ListFeatures,
    equal_columns,
    numeric_columns,
)

RECIPE = {
    "document": "answer",
    "query_text": ["subject", "body"],
    "same": [("user", "asker")],
    "numeric": ["position"],
    "categorical": ["topic"],
    "query": "qid",
    "order": "position",
}


def frame(transformer, X):
    transformer.fit(X)
    return pd.DataFrame(transformer.transform(X), columns=transformer.get_feature_names_out())


def test_missing_values_equal_nothing():
    X = pd.DataFrame({"a": ["x", None, "y", np.nan], "b": ["x", None, "z", np.nan]})
    assert equal_columns(X, [("a", "b")])["a==b"].tolist() == [1, 0, 0, 0]


def test_missing_values_of_extension_types_equal_nothing():
    X = pd.DataFrame({"a": [1, None, 2], "b": [1, None, None]}, dtype="Int64")
    assert equal_columns(X, [("a", "b")])["a==b"].tolist() == [1, 0, 0]


def test_numeric_columns_of_text():
    with pytest.raises(
        InputError,
        match=r"column 'x' must hold numbers: .*string .a. at position 1.*in categorical",
    ):
        numeric_columns(pd.DataFrame({"n": [1, 2], "x": ["1", "a"]}))


def test_numeric_columns_by_hand():
    out = numeric_columns(pd.DataFrame({"x": [3.0, -3.0, np.nan]}))
    np.testing.assert_allclose(out["x"], [3, -3, 0])
    np.testing.assert_allclose(out["log_x"], [np.log(4), -np.log(4), 0])
    assert out["x_missing"].tolist() == [0, 0, 1]


def test_list_features_by_hand(threads):
    out = frame(ListFeatures("qid", "answer", order="position", same=RECIPE["same"]), threads)
    np.testing.assert_allclose(np.expm1(out["list_size"]), [4, 4, 4, 4, 2, 2])
    np.testing.assert_allclose(np.expm1(out["place"]), [0, 1, 2, 3, 0, 1])
    np.testing.assert_allclose(out["relative_place"], [0, 1 / 3, 2 / 3, 1, 0, 1])
    assert out["is_last"].tolist() == [0, 0, 0, 1, 0, 1]
    np.testing.assert_allclose(np.expm1(out["user==asker_count"]), [2, 2, 2, 2, 0, 0])
    np.testing.assert_allclose(np.expm1(out["user==asker_earlier"]), [0, 0, 1, 1, 0, 0])
    np.testing.assert_allclose(np.expm1(out["user==asker_later"]), [2, 1, 1, 0, 0, 0])
    assert out["user==asker_next"].tolist() == [1, 0, 1, 0, 0, 0]
    assert out["user==asker_before"].tolist() == [0, 0, 1, 0, 0, 0]
    np.testing.assert_allclose(np.expm1(out["user_count"]), [2, 2, 2, 2, 1, 1])
    np.testing.assert_allclose(np.expm1(out["user_again"]), [0, 0, 1, 1, 0, 0])
    np.testing.assert_allclose(np.expm1(out["user_distinct"]), [2, 2, 2, 2, 2, 2])
    words = np.log1p([7, 4, 6, 1])
    np.testing.assert_allclose(out["n_words_above_mean"][:4], words - words.mean())
    np.testing.assert_allclose(out["n_words_next"][:4], [*words[1:], 0])
    np.testing.assert_allclose(out["n_words_before"][:4], [0, *words[:-1]])


def test_list_cosines_agree_with_a_loop(threads):
    transformer = ListFeatures("qid", "answer").fit(threads)
    out = pd.DataFrame(transformer.transform(threads), columns=transformer.get_feature_names_out())
    T = transformer.words_.transform(threads["answer"].fillna("")).toarray()
    rest = T[:4].sum(axis=0) - T[:4]
    expected = (T[:4] * rest).sum(axis=1) / np.linalg.norm(rest, axis=1)
    np.testing.assert_allclose(out["cosine_rest"][:4], expected)
    np.testing.assert_allclose(out["cosine_rest"][4:], 0)
    steps = [T[i] @ T[i + 1] for i in range(3)]
    np.testing.assert_allclose(out["cosine_next"][:4], [*steps, 0])
    np.testing.assert_allclose(out["cosine_before"][:4], [0, *steps])


def test_lists_of_one_have_no_rest_whatever_the_rounding():
    texts = [" ".join(f"w{i * j % 31}" for j in range(1, i)) + " end" for i in range(2, 60)]
    out = frame(ListFeatures("q", "d"), pd.DataFrame({"q": range(len(texts)), "d": texts}))
    assert (out["cosine_rest"] == 0).all()


def test_categories_of_fewer_than_ten_rows_count_as_one():
    counts = {"ten": 10, "nine": 9, "eight": 8}
    topics = [topic for topic, n in counts.items() for _ in range(n)]
    X = pd.DataFrame({"topic": topics, "answer": "some words"})
    features = make_text_features(document="answer", categorical=["topic"]).fit(X)
    names = [name for name in features.get_feature_names_out() if name.startswith("categorical")]
    assert names == ["categorical__topic_ten", "categorical__topic_infrequent_sklearn"]


@pytest.mark.slow
@pytest.mark.parametrize(("output", "deviation"), [("sparse", 0.1), ("dense", 1.0)])
def test_scale_of_what_stands_beside_the_vectors(threads, output, deviation):
    features = make_text_features(**RECIPE, output=output, random_state=0)
    found = features.fit_transform(threads)
    assert sparse.issparse(found) == (output == "sparse")
    found = found.toarray() if output == "sparse" else found
    names = features.get_feature_names_out()
    deviations = dict(zip(names, found.std(axis=0)))
    for name in ("plain__n_chars", "numeric__position", "same__user==asker", "list__place"):
        assert deviations[name] == pytest.approx(deviation)
    # Six documents are too few for a category to stand alone: one column, the same for all.
    of_topic = found[:, [name.startswith("categorical") for name in names]]
    assert set(np.unique(of_topic)) <= {0.0, deviation}


def test_order_may_be_a_date(threads):
    dates = pd.to_datetime("2020-01-01") + pd.to_timedelta(threads["position"], unit="D")
    by_date = ListFeatures("qid", "answer", order="date").fit_transform(threads.assign(date=dates))
    by_place = ListFeatures("qid", "answer", order="position").fit_transform(threads)
    np.testing.assert_array_equal(by_date, by_place)


def test_queries_do_not_touch_each_other(threads):
    features = ListFeatures("qid", "answer", order="position", same=RECIPE["same"]).fit(threads)
    together = features.transform(threads)
    np.testing.assert_allclose(features.transform(threads[threads["qid"] == "b"]), together[4:])


@pytest.mark.slow
@pytest.mark.parametrize("output", ["sparse", "dense"])
def test_life_in_a_pipeline(threads, output):
    features = make_text_features(**RECIPE, output=output, n_components=3, random_state=0)
    model = make_pipeline(clone(features), LogisticRegression()).fit(threads, threads["label"])
    expected = model.predict_proba(threads)
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(model)).predict_proba(threads), expected
    )


@pytest.mark.slow
@pytest.mark.parametrize("output", ["sparse", "dense"])
def test_names_match_columns(threads, output):
    features = make_text_features(**RECIPE, output=output, n_components=3, random_state=0).fit(
        threads
    )
    out = features.transform(threads)
    assert out.shape == (6, len(features.get_feature_names_out()))
    assert isinstance(out, np.ndarray) == (output == "dense")


def test_document_text_alone(threads):
    assert make_text_features(document="answer").fit_transform(threads).shape[0] == len(threads)


def test_polars_frames(threads):
    polars = pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    features = ListFeatures("qid", "answer", order="position", same=RECIPE["same"]).fit(threads)
    np.testing.assert_allclose(
        features.transform(polars.from_pandas(threads)), features.transform(threads)
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"output": "wide"}, "output must be"),
        ({"document": "text"}, "text"),
        ({"query_text": ["title"]}, "title"),
        ({"query": "title"}, "title"),
    ],
)
def test_wrong_arguments_are_named(threads, change, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        make_text_features(**{**RECIPE, **change}).fit(threads)
    # scikit-learn 1.6 leaves the name to the error that came before its own.
    assert message in f"{caught.value} {caught.value.__cause__}"


def test_missing_query_is_an_error(threads):
    with pytest.raises(ValueError, match="column 'qid' must name the query of each row, got 1"):
        ListFeatures("qid", "answer").fit_transform(threads.assign(qid=[None, *threads["qid"][1:]]))

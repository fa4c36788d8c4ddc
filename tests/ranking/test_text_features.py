"""Features of text columns: values by hand."""

import numpy as np
import pandas as pd
import pytest

from skfilterrank.ranking._text_features import TextSimilarity, TextVectors, plain_features


def frame(transformer, X):
    found = transformer.fit(X).transform(X)
    found = found if isinstance(found, np.ndarray) else found.toarray()
    return pd.DataFrame(found, columns=transformer.get_feature_names_out())


def test_statistics_by_hand(threads):
    out = plain_features(threads["answer"])
    second = out.iloc[1]  # "WHERE is that? http://x.org"
    assert second["n_chars"] == pytest.approx(np.log1p(27))
    assert second["n_words"] == pytest.approx(np.log1p(4))
    assert second["n_question_marks"] == pytest.approx(np.log1p(1))
    assert second["n_urls"] == pytest.approx(np.log1p(1))
    assert second["upper_share"] == pytest.approx(5 / 19)  # of the letters
    # WHERE, is, that, http, x, org
    assert second["mean_word_length"] == pytest.approx((5 + 2 + 4 + 4 + 1 + 3) / 6)
    assert out.loc[3, "n_exclamation_marks"] == pytest.approx(np.log1p(2))
    assert second["n_smileys"] == 0  # "://" is none
    assert out.loc[2, "n_smileys"] == pytest.approx(np.log1p(1))
    assert out.loc[4, "n_digits"] == pytest.approx(np.log1p(1))


def test_statistics_count_a_line_break_as_a_character():
    out = plain_features(pd.Series(["a\nb"]))
    assert out.loc[0, "n_chars"] == pytest.approx(np.log1p(3))


def test_similarity_by_hand():
    X = pd.DataFrame(
        {
            "q": ["green tea", "green tea", "museum", "green tea"],
            "d": ["green tea", "black coffee", "green tea", "green tea"],
        }
    )
    out = frame(TextSimilarity("d", ["q"]), X)
    np.testing.assert_allclose(out["q_word_cosine"], [1, 0, 0, 1], atol=1e-12)
    np.testing.assert_allclose(out["q_char_cosine"], [1, 0, 0, 1], atol=1e-12)
    np.testing.assert_allclose(out["q_coverage"], [1, 0, 0, 1], atol=1e-12)


# Of two texts, the idf of a term in both is 1, and of a term in one it is this.
RARE = np.log(3 / 2) + 1


def test_vectors_by_hand():
    X = pd.DataFrame({"d": ["tea tea tea", "Tea a"]})
    vectors = frame(TextVectors(), X["d"])
    words = {name: vectors[name] for name in vectors if name.startswith("word ")}
    assert list(words) == ["word a", "word tea", "word tea a", "word tea tea"]
    # Terms count by 1 + log(count): tea three times, twice of it after tea.
    first = np.array([0, 1 + np.log(3), 0, (1 + np.log(2)) * RARE])
    second = np.array([RARE, 1, RARE, 0])
    for row, expected in enumerate((first, second)):
        found = [column[row] for column in words.values()]
        np.testing.assert_allclose(found, expected / np.linalg.norm(expected))
    # Two to five characters of a word, with the blanks around it.
    chars = [name.removeprefix("chars ") for name in vectors if name.startswith("chars ")]
    of_tea = [" t", " te", " tea", " tea ", "te", "tea", "tea ", "ea", "ea ", "a "]
    assert sorted(chars) == sorted({*of_tea, " a", " a ", "a "})


@pytest.mark.parametrize(
    ("n_rows", "expected"), [(49, {"once", "twice", "thrice"}), (50, {"twice", "thrice"})]
)
def test_rare_terms_of_many_texts_are_left_out(n_rows, expected):
    texts = ["once twice thrice", "twice thrice", "thrice", *[""] * (n_rows - 3)]
    names = frame(TextVectors(), pd.Series(texts)).columns
    assert {name[5:] for name in names if name.startswith("word ") and " " not in name[5:]} == (
        expected
    )
    # Groups of characters need one text more.
    assert "chars ric" in names
    assert ("chars wic" in names) == (n_rows < 50)


def test_similarity_of_counts_by_hand():
    X = pd.DataFrame({"d": ["green green"], "q": ["green tea"]})
    out = frame(TextSimilarity("d", ["q"]), X).iloc[0]
    # Of the document one word counts, whatever its count.
    length = np.sqrt(1 + RARE**2)
    assert out["q_word_cosine"] == pytest.approx(1 / length)
    assert out["q_coverage"] == pytest.approx(1 / length**2)
    X = pd.DataFrame({"d": ["tea tea shop"], "q": ["tea shop"]})
    out = frame(TextSimilarity("d", ["q"]), X).iloc[0]
    count = 1 + np.log(2)
    assert out["q_word_cosine"] == pytest.approx((count + 1) / np.sqrt(2 * (count**2 + 1)))
    assert out["q_coverage"] == pytest.approx(1)
    # Three and four characters: " ab", "ab " and " ab " in both, three of "cd" in the query alone.
    X = pd.DataFrame({"d": ["ab"], "q": ["ab cd"]})
    out = frame(TextSimilarity("d", ["q"]), X).iloc[0]
    assert out["q_char_cosine"] == pytest.approx(3 / np.sqrt(3 * (3 + 3 * RARE**2)))


def test_similarity_to_a_missing_text_is_zero(threads):
    out = frame(TextSimilarity("answer", ["subject", "body"]), threads)
    assert (
        (out.loc[4:, ["body_word_cosine", "body_char_cosine", "body_coverage"]] == 0)
        .to_numpy()
        .all()
    )
    assert out.loc[0, "subject_word_cosine"] > out.loc[1, "subject_word_cosine"] > 0


def test_more_components_than_terms():
    X = pd.Series(["a", "b"])
    assert TextVectors(n_components=100).fit(X).transform(X).shape == (2, 2)


def test_no_words_is_an_error():
    with pytest.raises(ValueError, match="column 'd' must hold words"):
        TextVectors().fit(pd.Series(["", None], name="d"))


def test_statistics_of_marks_by_hand():
    text = "Well... no. Go, go! www.a.b/c?d " + "x" * 60
    out = plain_features(pd.Series([text, "so.. :) :-( 12", "one one two?"]))
    found = np.expm1(out[["n_ellipses", "n_sentences", "n_urls", "n_digits", "n_smileys"]])
    # Sentences end where a blank or nothing follows.
    np.testing.assert_allclose(found, [[1, 3, 1, 0, 0], [1, 1, 0, 2, 2], [0, 1, 0, 0, 0]])
    # well, no, go, go, www, a, b, c, d and one of sixty letters; case does not tell words apart.
    assert out.loc[0, "distinct_word_share"] == pytest.approx(9 / 10)
    assert out.loc[0, "mean_word_length"] == pytest.approx((4 + 2 + 2 + 2 + 3 + 4 + 60) / 10)
    assert out.loc[2, "distinct_word_share"] == pytest.approx(2 / 3)
    assert out["ends_with_question_mark"].tolist() == [0, 0, 1]
    long = plain_features(pd.Series(["x" * 60]))
    assert long.loc[0, "mean_word_length"] == 20  # no word counts for more

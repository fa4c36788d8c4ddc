"""Text columns as features: tf-idf vectors, plain statistics, similarity to a query's text."""

from typing import Self

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.utils.validation import check_is_fitted

from skfilterrank._estimators.ranker_mixin import all_or_nothing
from skfilterrank._lists.checks import check_container
from skfilterrank.exceptions import InputError, InputTypeError, brief

_COUNTED = {
    "n_chars": r".",
    "n_words": r"\S+",
    "n_question_marks": r"\?",
    "n_exclamation_marks": r"!",
    "n_urls": r"https?://|www\.",
    "n_digits": r"\d",
    "n_ellipses": r"\.\.+",
    "n_smileys": r"[:;8=]-?(?:[)(DPpO\\|]|/(?!/))",
    "n_sentences": r"[.!?]+(?:\s|$)",
}


def _text(column):
    """Return `column` as a Series of str, with missing values empty."""
    return column.astype(object).where(column.notna(), "").astype(str)


def _frame(X, columns):
    """Return `X` as a pandas DataFrame that has `columns` and at least one row."""
    check_container(X)
    if hasattr(X, "to_pandas"):
        X = X.to_pandas()
    if not isinstance(X, pd.DataFrame):
        raise InputTypeError(
            f"X must be a DataFrame with the columns {list(columns)}, got {type(X).__name__}. "
            "Build one with pandas.DataFrame(...)."
        )
    missing = [column for column in columns if column not in X.columns]
    if missing:
        raise InputError(
            f"X must have the columns {missing}; it has {list(X.columns)}. "
            "Rename a column of X or pass other names."
        )
    if len(X) == 0:
        raise InputError("X must have at least one row, got none. Leave out empty tables.")
    return X


class CompactTfidfVectorizer(TfidfVectorizer):
    """A TfidfVectorizer whose vocabulary is one array in a file.

    As a dict of hundreds of thousands of terms it would take skops a minute and a gigabyte.
    """

    def __getstate__(self):
        state = dict(super().__getstate__())
        if "vocabulary_" in state:
            vocabulary = state["vocabulary_"]
            state["vocabulary_"] = np.array(sorted(vocabulary, key=vocabulary.get))
        return state

    def __setstate__(self, state):
        state = dict(state)
        if "vocabulary_" in state:
            terms = state["vocabulary_"].tolist()
            state["vocabulary_"] = dict(zip(terms, range(len(terms))))
        super().__setstate__(state)


def _fit_tfidf(texts, name, **params):
    """Fit a sublinear TfidfVectorizer on `texts`, named `name`; few texts keep rare terms."""
    if len(texts) < 50:
        params["min_df"] = 1
    try:
        return CompactTfidfVectorizer(sublinear_tf=True, **params).fit(texts)
    except ValueError as error:
        raise InputError(
            f"column {brief(name)} must hold words to learn from, got {len(texts)} texts with none "
            "that occurs often enough. Name a text column or lower min_df."
        ) from error


def _row_dot(A, B):
    """Return the dot product of each row of `A` with the same row of `B`."""
    return np.asarray(A.multiply(B).sum(axis=1), dtype=float).ravel()


def _divide(a, b):
    """Return a / b, 0 where b is 0."""
    return np.divide(a, b, out=np.zeros(np.shape(a)), where=b > 0)


class _TableTransformer(TransformerMixin, BaseEstimator):
    """Base of all transformers here: `_columns` names the columns that are used, in any order."""

    def _learn_columns(self, X):
        """Return `X` as a frame, and remember what columns it has."""
        X = _frame(X, self._columns())
        self.n_features_in_ = X.shape[1]
        if all(isinstance(name, str) for name in X.columns):
            self.feature_names_in_ = X.columns.to_numpy(dtype=object)
        else:
            vars(self).pop("feature_names_in_", None)
        return X


class _NamedColumns(_TableTransformer):
    """Base of the stateless transformers: `_compute` does the work."""

    @all_or_nothing
    def fit(self, X, y=None) -> Self:
        """Check the columns of `X`; nothing is learned but the names of the features."""
        frame = self._compute(self._learn_columns(X).iloc[:1])
        self.feature_names_out_ = np.asarray(frame.columns, dtype=object)
        return self

    def transform(self, X) -> np.ndarray:
        """Return the features, ndarray of float64 of shape (n_samples, n_features)."""
        check_is_fitted(self)
        return self._compute(_frame(X, self._columns())).to_numpy(dtype=float)

    def get_feature_names_out(self, input_features=None) -> np.ndarray:
        """Return the names of the features, ndarray of str."""
        check_is_fitted(self)
        return self.feature_names_out_


class TextVectors(_TableTransformer):
    """Tf-idf of words, pairs of words and character n-grams of a text column.

    Parameters
    ----------
    document : str
        Name of the column with the text. A missing text counts as empty.
    n_components : int, default=None
        Reduce to this many dense dimensions (latent semantic analysis), fewer if there are not
        as many terms. None returns the sparse tf-idf.
    min_df : int, default=2
        Words in fewer texts are left out; n-grams need one text more. With fewer than 50 texts
        all terms are kept.
    random_state : int, RandomState instance or None, default=None
        Seed of the reduction.
    """

    def __init__(self, document, *, n_components=None, min_df=2, random_state=None):
        self.document = document
        self.n_components = n_components
        self.min_df = min_df
        self.random_state = random_state

    def _columns(self):
        return [self.document]

    @all_or_nothing
    def fit(self, X, y=None) -> Self:
        """Learn the terms, their idf and the reduction from `X`."""
        self._fit(X)
        return self

    @all_or_nothing
    def fit_transform(self, X, y=None) -> np.ndarray | sparse.csr_array:
        """Fit and transform `X` in one pass."""
        return self._fit(X)

    def _fit(self, X):
        text = _text(self._learn_columns(X)[self.document])
        words = {"ngram_range": (1, 2), "token_pattern": r"(?u)\b\w+\b", "min_df": self.min_df}
        chars = {"analyzer": "char_wb", "ngram_range": (2, 5), "min_df": self.min_df + 1}
        self.words_ = _fit_tfidf(text, self.document, **words)
        self.chars_ = _fit_tfidf(text, self.document, **chars)
        vectors = self._vectors(text)
        self.svd_ = None
        if self.n_components is None:
            return vectors
        n_components = min(self.n_components, *vectors.shape)
        self.svd_ = TruncatedSVD(n_components, random_state=self.random_state)
        return self.svd_.fit_transform(vectors)

    def _vectors(self, text):
        return sparse.hstack([self.words_.transform(text), self.chars_.transform(text)]).tocsr()

    def transform(self, X) -> np.ndarray | sparse.csr_array:
        """Return the vectors, sparse or (with `n_components`) dense, one row per row of `X`."""
        check_is_fitted(self)
        vectors = self._vectors(_text(_frame(X, self._columns())[self.document]))
        return vectors if self.svd_ is None else self.svd_.transform(vectors)

    def get_feature_names_out(self, input_features=None) -> np.ndarray:
        """Return the terms, or numbered components."""
        check_is_fitted(self)
        if self.svd_ is not None:
            return self.svd_.get_feature_names_out()
        words, chars = self.words_.get_feature_names_out(), self.chars_.get_feature_names_out()
        names = [f"word {term}" for term in words] + [f"chars {term}" for term in chars]
        return np.asarray(names, dtype=object)


class TextStatistics(_NamedColumns):
    """Plain features of a text column: lengths, punctuation, case, form of the words.

    Parameters
    ----------
    document : str
        Name of the column with the text.
    """

    def __init__(self, document):
        self.document = document

    def _columns(self):
        return [self.document]

    def _compute(self, X):
        return _statistics(_text(X[self.document]))


def _statistics(text):
    """Return the table of plain features of a Series of str; counts as log(1 + count)."""
    counts = {
        name: text.str.len() if name == "n_chars" else text.str.count(pattern)
        for name, pattern in _COUNTED.items()
    }
    words = text.str.lower().str.findall(r"\w+")
    letters = text.str.count(r"[^\W\d_]").to_numpy(dtype=float)
    n_words = words.str.len().to_numpy(dtype=float)
    word_chars = text.str.count(r"\w").to_numpy(dtype=float)
    upper = np.fromiter((sum(map(str.isupper, t)) for t in text), dtype=float, count=len(text))
    distinct = np.fromiter((len(set(w)) for w in words), dtype=float, count=len(words))
    out = {name: np.log1p(count.to_numpy(dtype=float)) for name, count in counts.items()}
    out["upper_share"] = _divide(upper, letters)
    out["mean_word_length"] = np.minimum(_divide(word_chars, n_words), 20.0)
    out["distinct_word_share"] = _divide(distinct, n_words)
    out["ends_with_question_mark"] = text.str.rstrip().str.endswith("?").to_numpy(dtype=float)
    return pd.DataFrame(out, index=text.index)


class TextSimilarity(_TableTransformer):
    """Similarity of a document text to the texts of its query.

    For each query column: the cosine of the tf-idf vectors of words, that of character n-grams,
    and the idf-weighted share of the query's words that the document has.

    Parameters
    ----------
    document : str
        Name of the column with the text of the document.
    query_text : sequence of str
        Names of the columns with texts of the query.
    min_df : int, default=1
        Words in fewer texts are left out.
    """

    def __init__(self, document, query_text, *, min_df=1):
        self.document = document
        self.query_text = query_text
        self.min_df = min_df

    def _columns(self):
        return [self.document, *self.query_text]

    @all_or_nothing
    def fit(self, X, y=None) -> Self:
        """Learn the vocabulary from the document and the distinct query texts of `X`."""
        columns = self._columns()
        X = self._learn_columns(X)
        # A query's text stands in all its rows; for the idf it should count once.
        texts = np.concatenate([_text(X[column]).unique() for column in columns])
        chars = {"analyzer": "char_wb", "ngram_range": (3, 4), "min_df": self.min_df + 1}
        self.words_ = _fit_tfidf(texts, columns, min_df=self.min_df)
        self.chars_ = _fit_tfidf(texts, columns, **chars)
        return self

    def transform(self, X) -> np.ndarray:
        """Return the similarities, ndarray of shape (n_samples, 3 * n_query_columns)."""
        check_is_fitted(self)
        X = _frame(X, self._columns())
        document = _text(X[self.document])
        words, chars = self.words_.transform(document), self.chars_.transform(document)
        present = words.astype(bool).astype(float)
        idf = sparse.diags_array(self.words_.idf_**2)
        out = []
        for column in self.query_text:
            text = _text(X[column])
            query_words = self.words_.transform(text)
            query_present = query_words.astype(bool).astype(float) @ idf
            covered = _row_dot(present, query_present)
            total = np.asarray(query_present.sum(axis=1), dtype=float).ravel()
            out.append(_row_dot(words, query_words))
            out.append(_row_dot(chars, self.chars_.transform(text)))
            out.append(_divide(covered, total))
        return np.column_stack(out)

    def get_feature_names_out(self, input_features=None) -> np.ndarray:
        """Return the names of the features."""
        kinds = ("word_cosine", "char_cosine", "coverage")
        return np.asarray([f"{q}_{kind}" for q in self.query_text for kind in kinds], dtype=object)

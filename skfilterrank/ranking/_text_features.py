"""Transformers for tables with text columns: features of texts, columns and lists."""

from collections.abc import Sequence
from functools import partial
from typing import Self

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.validation import check_is_fitted

from skfilterrank._base.checks import (
    as_list,
    check_choice,
    check_container,
    check_count,
    check_random_state,
    is_hashable,
)
from skfilterrank._estimators.ranker_mixin import all_or_nothing
from skfilterrank.exceptions import InputError, brief, brief_list

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


def _pandas(X):
    """Return a table, or a column, of pandas."""
    check_container(X)
    return X.to_pandas() if hasattr(X, "to_pandas") else X


def _column(X, name) -> pd.Series:
    """Return a column of a table by its name."""
    if not (isinstance(X, pd.DataFrame) and is_hashable(name) and name in X.columns):
        has = brief_list(list(X.columns)) if isinstance(X, pd.DataFrame) else type(X).__name__
        raise InputError(
            f"X must be a table with the column {brief(name)}, got {has}. Rename a column of X, or "
            "pass the name of another one."
        )
    return X[name]


def _pairs_of_columns(same) -> list:
    """Return the pairs of columns in `same`."""
    pairs = as_list(same, "same", "pairs of columns")
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InputError(f"same must hold pairs of columns, got {brief(pair)}.")
    return pairs


def _text(column):
    """Return `column` as a Series of str, with missing values empty."""
    column = _pandas(column)
    return column.astype(object).where(column.notna(), "").astype(str)


def _fit_tfidf(texts, name, **params):
    """Fit a sublinear TfidfVectorizer on `texts`; rare terms are kept if there are few texts."""
    if len(texts) < 50:
        params["min_df"] = 1
    try:
        return TfidfVectorizer(sublinear_tf=True, **params).fit(texts)
    except ValueError as error:
        raise InputError(
            f"column {brief(name)} must hold words to learn from, got {len(texts)} texts with none "
            "that occurs often enough. Name a text column."
        ) from error


def _row_dot(A, B):
    """Return the dot product of each row of `A` with the same row of `B`."""
    return np.asarray(A.multiply(B).sum(axis=1), dtype=float).ravel()


def _divide(a, b):
    """Return a / b, 0 where b is 0."""
    return np.divide(a, b, out=np.zeros(np.shape(a)), where=b > 0)


class ColumnFeatures(TransformerMixin, BaseEstimator):
    """Features that a function computes of some columns; only their names are learned.

    Parameters
    ----------
    compute : callable
        Returns a table of features of the columns that a ColumnTransformer selects.
    """

    def __init__(self, compute):
        self.compute = compute

    @all_or_nothing
    def fit(self, X, y=None) -> Self:
        """Learn the names of the features."""
        self.feature_names_out_ = self._features(_pandas(X)[:1]).columns.to_numpy(dtype=object)
        return self

    def _features(self, X):
        return self.compute(X)

    def transform(self, X) -> np.ndarray:
        """Return the features, ndarray of float64 of shape (n_samples, n_features)."""
        check_is_fitted(self)
        return self._features(_pandas(X)).to_numpy(dtype=float)

    def get_feature_names_out(self, input_features=None) -> np.ndarray:
        """Return the names of the features, ndarray of str."""
        check_is_fitted(self)
        return self.feature_names_out_


class TextVectors(TransformerMixin, BaseEstimator):
    """Tf-idf of words, pairs of words and character n-grams of a text column.

    Words in one text and n-grams in one or two are left out; with fewer than 50 texts all are kept.

    A missing text counts as empty.

    Parameters
    ----------
    n_components : int, default=None
        Reduce to this many dense dimensions (latent semantic analysis), fewer if there are not
        as many terms. None returns the sparse tf-idf.
    random_state : int, RandomState instance or None, default=None
        Seed of the reduction.
    """

    def __init__(self, *, n_components=None, random_state=None):
        self.n_components = n_components
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X, y=None) -> Self:
        """Learn the terms, their idf and the reduction from a column of texts."""
        self._fit(X)
        return self

    @all_or_nothing
    def fit_transform(self, X, y=None) -> np.ndarray | sparse.csr_array:
        """Fit and transform `X` in one pass."""
        return self._fit(X)

    def _fit(self, X):
        check_count(self.n_components, "n_components", or_none=True)
        check_random_state(self.random_state)
        text = _text(X)
        words = {"ngram_range": (1, 2), "token_pattern": r"(?u)\b\w+\b", "min_df": 2}
        chars = {"analyzer": "char_wb", "ngram_range": (2, 5), "min_df": 3}
        self.words_ = _fit_tfidf(text, text.name, **words)
        self.chars_ = _fit_tfidf(text, text.name, **chars)
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
        vectors = self._vectors(_text(X))
        return vectors if self.svd_ is None else self.svd_.transform(vectors)

    def get_feature_names_out(self, input_features=None) -> np.ndarray:
        """Return the terms, or numbered components."""
        check_is_fitted(self)
        if self.svd_ is not None:
            return self.svd_.get_feature_names_out()
        words, chars = self.words_.get_feature_names_out(), self.chars_.get_feature_names_out()
        names = [f"word {term}" for term in words] + [f"chars {term}" for term in chars]
        return np.asarray(names, dtype=object)


def plain_features(column) -> pd.DataFrame:
    """Return features of a column of texts: lengths, punctuation, case, form of the words."""
    return _statistics(_text(column))


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


class TextSimilarity(TransformerMixin, BaseEstimator):
    """Similarity of a document text to the texts of its query.

    The features for each query column are the cosine of the tf-idf vectors of words, the cosine of
    the vectors of character n-grams, and the share of the query's words that are in the document,
    weighted by the square of the idf.

    Parameters
    ----------
    document : str
        Name of the column with the text of the document.
    query_text : sequence of str
        Names of the columns with texts of the query.
    """

    def __init__(self, document, query_text):
        self.document = document
        self.query_text = query_text

    @all_or_nothing
    def fit(self, X, y=None) -> Self:
        """Learn the vocabulary from the document and the distinct query texts of `X`."""
        query_text = as_list(self.query_text, "query_text", "column names")
        columns, X = [self.document, *query_text], _pandas(X)
        # A query's text occurs in all its rows, but counts once for the idf.
        texts = np.concatenate([_text(_column(X, column)).unique() for column in columns])
        chars = {"analyzer": "char_wb", "ngram_range": (3, 4), "min_df": 2}
        self.words_ = _fit_tfidf(texts, columns)
        self.chars_ = _fit_tfidf(texts, columns, **chars)
        return self

    def transform(self, X) -> np.ndarray:
        """Return the similarities, ndarray of shape (n_samples, 3 * n_query_columns)."""
        check_is_fitted(self)
        X = _pandas(X)
        document = _text(_column(X, self.document))
        words, chars = self.words_.transform(document), self.chars_.transform(document)
        present = words.astype(bool).astype(float)
        idf = sparse.diags_array(self.words_.idf_**2)
        out = []
        for column in self.query_text:
            # A query's text occurs in all its rows.
            rows, texts = pd.factorize(_text(_column(X, column)))
            query_words = self.words_.transform(texts)[rows]
            query_present = query_words.astype(bool).astype(float) @ idf
            covered = _row_dot(present, query_present)
            total = np.asarray(query_present.sum(axis=1), dtype=float).ravel()
            out.append(_row_dot(words, query_words))
            out.append(_row_dot(chars, self.chars_.transform(texts)[rows]))
            out.append(_divide(covered, total))
        return np.column_stack(out)

    def get_feature_names_out(self, input_features=None) -> np.ndarray:
        """Return the names of the features."""
        kinds = ("word_cosine", "char_cosine", "coverage")
        return np.asarray([f"{q}_{kind}" for q in self.query_text for kind in kinds], dtype=object)


def equal_columns(X, pairs) -> pd.DataFrame:
    """Tell if the two columns of each pair are equal, 1.0 or 0.0."""
    return pd.DataFrame({f"{a}=={b}": _equal(X, a, b) for a, b in pairs}, index=X.index)


def _equal(X, a, b):
    """Return 1.0 where column `a` equals column `b` and neither is missing."""
    known = (_column(X, a).notna() & _column(X, b).notna()).to_numpy()
    # Converted to objects, so that columns of different types can be compared.
    left, right = (_column(X, c).to_numpy(dtype=object)[known] for c in (a, b))
    equal = np.zeros(len(X))
    equal[known] = left == right
    return equal


def numeric_columns(X) -> pd.DataFrame:
    """Return numbers, their signed logarithm, and whether they are missing (counted as 0)."""
    out = {}
    for column in X.columns:
        try:
            numbers = pd.to_numeric(_column(X, column))
        except (TypeError, ValueError) as error:
            raise InputError(
                f"column {brief(column)} must hold numbers: {error}. Convert it to numbers, or "
                "name it in categorical."
            ) from error
        values = numbers.to_numpy(dtype=float, na_value=np.nan)
        missing = ~np.isfinite(values)
        values = np.where(missing, 0.0, values)
        out[column] = values
        out[f"log_{column}"] = np.sign(values) * np.log1p(np.abs(values))
        out[f"{column}_missing"] = missing.astype(float)
    return pd.DataFrame(out, index=X.index)


class ListFeatures(ColumnFeatures):
    """Features of a document from the other documents of its query.

    All documents of a query must be in the `X` of `transform`, since features depend on the whole
    list. So cross-validation must split by query.

    Parameters
    ----------
    query : str
        Name of the column with the query id of each row.
    document : str
        Name of the column with the text of the document.
    order : str, default=None
        Name of the column that orders the documents of a query: a position or a date, missing
        values first, ties in the order of the rows. None takes the order of the rows.
    same : sequence of (str, str), default=()
        Pairs (column of the document, column of the query), such as author of a comment and
        author of the question.

    Notes
    -----
    For each of `plain_features`, the features are the deviation from the mean of the
    list, that mean, and the values of the next and the previous document. Further features are the
    cosines of the tf-idf vector with the sum of the other documents' vectors, with the vector of
    the next document and with that of the previous one; and the place of the document and the size
    of the list. Each pair in `same` adds how often the pair is equal in the list, before and after
    the document, and in its two neighbours; how often the document's value occurs in the list and
    before this row; and the number of distinct values in the list. A neighbour that does not exist
    counts as 0.
    """

    def __init__(self, query, document, *, order=None, same=()):
        self.query = query
        self.document = document
        self.order = order
        self.same = same

    @all_or_nothing
    def fit(self, X, y=None) -> Self:
        """Learn the vocabulary for the similarities within a list."""
        X = _pandas(X)
        self.words_ = _fit_tfidf(_text(_column(X, self.document)), self.document)
        return super().fit(X)

    def _features(self, X):
        codes, _ = pd.factorize(_column(X, self.query))
        if (codes < 0).any():
            raise InputError(
                f"column {brief(self.query)} must name the query of each row, got "
                f"{(codes < 0).sum()} missing values. Drop these rows or fill them in."
            )
        if self.order is None:
            order = np.argsort(codes, kind="stable")
        else:
            order = np.lexsort((pd.factorize(_column(X, self.order), sort=True)[0], codes))
        # Work on rows sorted by list and place; neighbours are then adjacent rows.
        lists = _Lists(codes[order])
        out = {
            "list_size": np.log1p(lists.size),
            "place": np.log1p(lists.place),
            "relative_place": _divide(lists.place, np.maximum(lists.size - 1, 1)),
            "is_last": (lists.place == lists.size - 1).astype(float),
        }
        text = _text(_column(X, self.document)).iloc[order]
        for name, column in _statistics(text).items():
            values = column.to_numpy()
            mean = lists.sum(values) / lists.size
            out[f"{name}_above_mean"] = values - mean
            out[f"{name}_mean"] = mean
            out[f"{name}_next"] = lists.shift(values, -1)
            out[f"{name}_before"] = lists.shift(values, 1)
        out |= self._similarities(text, lists)
        for a, b in _pairs_of_columns(self.same):
            out |= _same_features(X.iloc[order], a, b, lists)
        inverse = np.argsort(order)
        return pd.DataFrame({name: values[inverse] for name, values in out.items()})

    def _similarities(self, text, lists):
        T = self.words_.transform(text)
        sums = (lists.indicator.T @ T)[lists.codes]
        dot, own = _row_dot(T, sums), _row_dot(T, T)
        rest = np.sqrt(np.maximum(_row_dot(sums, sums) - 2 * dot + own, 0.0))
        to_next = np.append(_row_dot(T[:-1], T[1:]), 0.0)
        return {
            "cosine_rest": np.where(rest > 1e-6, _divide(dot - own, rest), 0.0),
            "cosine_next": np.where(lists.has_next, to_next, 0.0),
            "cosine_before": lists.shift(to_next, 1),
        }


def _same_features(X, a, b, lists):
    """Return the features of `ListFeatures` for one pair of columns; `X` is sorted."""
    equal = _equal(X, a, b)
    earlier = lists.cumsum(equal) - equal
    total = lists.sum(equal)
    value, _ = pd.factorize(_column(X, a), use_na_sentinel=False)
    pair = pd.DataFrame({"list": lists.codes, "value": value})
    occurrences = pair.groupby(["list", "value"])["value"]
    before = occurrences.cumcount().to_numpy(dtype=float)
    name = f"{a}=={b}"
    return {
        f"{name}_count": np.log1p(total),
        f"{name}_earlier": np.log1p(earlier),
        f"{name}_later": np.log1p(total - earlier - equal),
        f"{name}_next": lists.shift(equal, -1),
        f"{name}_before": lists.shift(equal, 1),
        f"{a}_count": np.log1p(occurrences.transform("size").to_numpy(dtype=float)),
        f"{a}_again": np.log1p(before),
        f"{a}_distinct": np.log1p(lists.sum((before == 0).astype(float))),
    }


class _Lists:
    """Rows sorted by list: sums, running sums and neighbours within each list."""

    def __init__(self, codes):
        n = len(codes)
        self.codes = codes
        self.indicator = sparse.csr_array((np.ones(n), (np.arange(n), codes)))
        self.size = np.bincount(codes)[codes].astype(float)
        new = np.append(True, codes[1:] != codes[:-1])
        self.start = np.flatnonzero(new)[np.cumsum(new) - 1]
        self.place = (np.arange(n) - self.start).astype(float)
        self.has_next = self.place < self.size - 1

    def sum(self, values):
        """Return the sum over the list of each row."""
        return np.bincount(self.codes, weights=values)[self.codes]

    def cumsum(self, values):
        """Return the running sum within the list, the row itself included."""
        total = np.append(0.0, np.cumsum(values))
        return total[1:] - total[self.start]

    def shift(self, values, step):
        """Return the value `step` rows back in the list (1 or -1), 0 where there is none."""
        moved = np.roll(values, step)
        inside = self.place > 0 if step == 1 else self.has_next
        return np.where(inside, moved, 0.0)


def make_text_features(
    *,
    document: str,
    query_text: Sequence[str] = (),
    same: Sequence[tuple[str, str]] = (),
    numeric: Sequence[str] = (),
    categorical: Sequence[str] = (),
    query: str | None = None,
    order: str | None = None,
    output: str = "sparse",
    n_components: int = 100,
    random_state=None,
) -> ColumnTransformer:
    """Make the features of a judged table with text columns.

    Parameters
    ----------
    document : str
        Column with the text of the document.
    query_text : sequence of str, default=()
        Columns with texts of the query; each is compared with the document.
    same : sequence of (str, str), default=()
        Pairs (column of the document, column of the query) whose equality is a feature, such as
        the author of a comment and the author of the question.
    numeric : sequence of str, default=()
        Numeric columns; each is used as it is and as a logarithm.
    categorical : sequence of str, default=()
        Columns to encode one-hot; categories seen fewer than 10 times count as one.
    query : str, default=None
        Column with the query id of each row. It adds features of the list, for which all documents
        of a query have to be in one table, in training and in prediction alike. None adds none.
    order : str, default=None
        Column that orders the documents of a query, for the features of the list.
    output : {"sparse", "dense"}, default="sparse"
        "sparse" keeps the tf-idf and scales the other features to a standard deviation of 0.1,
        which suits linear models. "dense" reduces the tf-idf to `n_components` and scales the
        other features to 1, which suits trees.
    n_components : int, default=100
        Dimensions of the reduced tf-idf when `output` is "dense".
    random_state : int, RandomState instance or None, default=None
        Seed of the reduction, which is random where `output` is "dense".

    Returns
    -------
    features : ColumnTransformer
        Not fitted; takes a DataFrame with the columns named above, other columns are ignored.

    Raises
    ------
    ValueError
        If `output` is neither "sparse" nor "dense". A column that is missing from the table is
        an error of `fit` or `transform`.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from skfilterrank.ranking import make_text_features
    >>> X = pd.DataFrame(
    ...     {
    ...         "qid": [1, 1, 2, 2],
    ...         "question": ["Where to buy tea?"] * 2 + ["Is the museum open?"] * 2,
    ...         "answer": ["Try the old market.", "lol", "It opens at nine.", "who cares"],
    ...     }
    ... )
    >>> features = make_text_features(document="answer", query_text=["question"], query="qid")
    >>> model = make_pipeline(features, LogisticRegression()).fit(X, [1, 0, 1, 0])
    >>> model.predict(X)
    array([1, 0, 1, 0])
    """
    check_choice(output, "output", ("sparse", "dense"))
    dense = output == "dense"
    given = {"query_text": query_text, "numeric": numeric, "categorical": categorical}
    several: dict[str, list] = {
        argument: [names] if isinstance(names, str) else as_list(names, argument, "column names")
        for argument, names in given.items()
    }
    for argument, names in (
        several | {"document": [document], "query": [query], "order": [order]}
    ).items():
        if not all(is_hashable(name) for name in names):
            raise InputError(f"{argument} must be names of columns, got {brief(names)}.")
    query_text, numeric, categorical = several.values()
    pairs = _pairs_of_columns(same)
    of_pairs = [name for pair in pairs for name in pair]
    vectors = TextVectors(n_components=n_components if dense else None, random_state=random_state)
    transformers: list[tuple] = [("text", vectors, document)]
    scaled: list[tuple] = [("plain", ColumnFeatures(plain_features), document)]
    if query_text:
        similarity = TextSimilarity(document, query_text)
        scaled.append(("similarity", similarity, _distinct(document, *query_text)))
    if pairs:
        scaled.append(
            ("same", ColumnFeatures(partial(equal_columns, pairs=pairs)), _distinct(*of_pairs))
        )
    if numeric:
        scaled.append(("numeric", ColumnFeatures(numeric_columns), _distinct(*numeric)))
    if query is not None:
        columns = [query, document, *([] if order is None else [order]), *of_pairs]
        in_list = ListFeatures(query, document, order=order, same=pairs)
        scaled.append(("list", in_list, _distinct(*columns)))
    for name, transformer, columns in scaled:
        pipeline = Pipeline([("features", transformer), ("scale", StandardScaler())])
        transformers.append((name, pipeline, columns))
    if categorical:
        onehot = OneHotEncoder(
            handle_unknown="infrequent_if_exist", min_frequency=10, sparse_output=not dense
        )
        transformers.append(("categorical", onehot, categorical))
    # Rows of tf-idf have length 1. Beside them, features of standard deviation 1 would dominate a
    # regularised linear model; 0.1 was best in grouped cross-validation.
    weights = None if dense else {name: 0.1 for name, _, _ in transformers if name != "text"}
    return ColumnTransformer(
        transformers, sparse_threshold=0.0 if dense else 1.0, transformer_weights=weights
    )


def _distinct(*names):
    """List names of columns, each once."""
    return list(dict.fromkeys(names))

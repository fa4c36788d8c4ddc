"""PairFeatures: columns that say how likely a document is to be relevant to a query."""

import warnings
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted, validate_data

from skfilterrank._base.checks import check_numbers, count_rows, is_hashable
from skfilterrank._estimators.ranker_mixin import all_or_nothing
from skfilterrank._lists.queries import GroupIndex, check_groups
from skfilterrank.exceptions import InputError, brief, brief_list
from skfilterrank.judgments._document_vectors import as_text, refuse_ids
from skfilterrank.judgments._selector import is_texts

# Name of the column of X that holds the texts of queries.
_QUERY = "query"
# Standardised columns are cut at this many standard deviations.
_MOST = 6.0
# Saturation of a term's count, and share of the length normalisation, in BM25.
_K1, _B = 1.2, 0.75
# Mean label, as a share of the largest, that is used if there is no other query.
_NO_BASE = 0.5
_OF_SIMILAR = (
    "mean label of similar documents",
    "similarity to relevant",
    "similarity to not relevant",
    "difference of similarities",
    "log share of relevant",
)
_OF_RUNS = ("log best rank", "mean log rank")
_OF_QUERY = ("cosine", "cosine in query", "BM25 in query")


class PairFeatures(TransformerMixin, BaseEstimator):
    r"""Transformer that makes columns of numbers for pairs of query and document.

    The columns say how likely the document is to be relevant to the query: by its ranks in runs, by
    the labels of similar judged documents of the query, by the similarity of both texts, and by
    numbers, such as a machine's labels. :func:`complete_qrels` learns from them. For another
    classifier, or with columns of your own beside, take this class and
    ``judgments.LabelPredictor(model="pairs")``.

    X holds a row for each pair: a DataFrame, whose columns have these roles,

    * the columns `ranks`: ranks in runs, from 1, NaN where a run does not return the document;
    * the columns `similarity`, if it is a list: vectors of the documents, such as embeddings;
    * other columns of numbers: columns of the result, with another column if some are missing;
    * "query": the text of the query;
    * other columns: texts of the document, which are joined;

    or an array of numbers; or a list of texts or a sparse matrix of document vectors, which are
    used for similarities alone.

    Parameters
    ----------
    ranks : list of column names or None, default=None
        Columns of X that hold ranks.
    similarity : callable, list of column names, or None, default=None
        Similarity of documents. A callable gets two parts of X, as the functions of
        `sklearn.metrics.pairwise`, and returns a matrix of shape (n_rows, n_other_rows); numbers
        below 0 count as 0. A list means the cosine of these columns of X. None means the cosine of
        the texts' tf-idf vectors. Without texts, it is the cosine of the weights ``1 / log2(rank +
        1)`` less their mean, and without ranks that of the numbers.

    Attributes
    ----------
    names_ : list of str
        Names of the columns.
    mean_, scale_ : ndarray of shape (n_columns,), dtype float64
        Mean and standard deviation of the judged rows of `fit`, by which columns are standardised.
    weight_ : ndarray of shape (n_columns,), dtype float64
        Weight of the standardised columns: 1, but ``2 / sqrt(n)`` for n runs, and for n > 4 columns
        of numbers, so that these share a penalty of the model.
    n_features_in_ : int
        Number of columns of X, if it has any.
    feature_names_in_ : ndarray of str
        Their names, if they are texts.

    See Also
    --------
    complete_qrels : Draws labels by these columns.

    Notes
    -----
    With the similarity :math:`s_j` of the document to each judged document of the query but itself,
    and its label :math:`l_j` divided by the largest, columns are

    * :math:`(\sum_j s_j^2 l_j + 0.1\, b) / (\sum_j s_j^2 + 0.1)`, where b is the mean label of the
      other queries, with labels below 0 as 0;
    * the largest :math:`s_j` of relevant documents (label above 0), and of others;
    * the mean :math:`s_j` of relevant documents less that of others;
    * :math:`\log((\sum_j \max(l_j, 0) + b) / (n + 1) + 0.02)` for n such documents;
    * with ranks: the logarithm of the best rank, their mean logarithm, and the logarithm of each;
      twice the largest rank stands for a missing one;
    * with texts of queries: the cosine of both texts, and the cosine and BM25 standardised within
      the query.

    In a query without a judged document, the first column is b, and the next four are 0.

    Standardised columns are cut at 6 standard deviations; missing numbers become the mean. No
    column of a row of `fit` depends on the row's own label, except through the common scale. But
    the sums of the other labels of a query reveal the own label to who knows all sums. Linear
    models cannot use that; trees can, and then rank unjudged documents worse. Time and memory are
    linear in the number of queries; similarities are computed query by query.

    Examples
    --------
    >>> import pandas as pd
    >>> from skfilterrank.judgments import PairFeatures
    >>> X = pd.DataFrame({"bm25": [1, 2, 3, None], "text": ["a cat", "cats", "my cat", "dogs"],
    ...                   "query": "cat"})
    >>> features = PairFeatures(ranks=["bm25"])
    >>> columns = features.fit_transform(X, [1, None, 0, None], groups=["q"] * 4)
    >>> columns.shape
    (4, 11)
    >>> features.get_feature_names_out().tolist()[-4:]
    ['cosine', 'cosine in query', 'BM25 in query', 'bm25']
    """

    names_: list
    mean_: np.ndarray
    scale_: np.ndarray
    weight_: np.ndarray
    n_features_in_: int
    feature_names_in_: np.ndarray

    # By default, scikit-learn's metadata routing passes `groups`.
    __metadata_request__fit = {"groups": True}  # noqa: RUF012
    __metadata_request__transform = {"groups": True}  # noqa: RUF012

    def __init__(self, *, ranks=None, similarity: Any = None) -> None:
        self.ranks = ranks
        self.similarity = similarity

    @all_or_nothing
    def fit(self, X, y, groups=None) -> Self:
        """Learn terms and scales, and keep the judged rows.

        Parameters
        ----------
        X : DataFrame, list of str, array-like or sparse matrix of n_rows rows
            Pairs of query and document, in any order.
        y : array-like of shape (n_rows,)
            Labels, NaN where unjudged; below 0 forbidden.
        groups : array-like of shape (n_rows,), default=None
            Query of each row. None takes the index level "qid" of y or X.

        Returns
        -------
        self : PairFeatures
            The fitted transformer.

        Raises
        ------
        ValueError
            If no row is judged, X lacks a column, a rank is below 1, a number is infinite, the
            texts hold no term, or `similarity` returns another shape.
        """
        self._fit(X, y, groups)
        return self

    @all_or_nothing
    def fit_transform(self, X, y, groups=None) -> np.ndarray:
        """Return the columns of the rows of `fit`; they do not look at the row's own label.

        Parameters
        ----------
        X, y, groups : array-like of n_rows rows
            As in :meth:`fit`.

        Returns
        -------
        ndarray of shape (n_rows, n_columns), dtype float64
            The columns of judged and unjudged rows. Fit a model on those of judged rows.
        """
        return self._fit(X, y, groups)

    def transform(self, X, groups=None) -> np.ndarray:
        """Return the columns of new rows; they look at all labels of `fit`.

        Parameters
        ----------
        X : DataFrame, list of str, array-like or sparse matrix of n_rows rows
            Pairs in the form of `fit`. A query that was not in `fit` has no judged documents. With
            texts of queries, pass all documents of a query at once: two columns are standardised
            within it.
        groups : array-like of shape (n_rows,), default=None
            Query of each row, as in :meth:`fit`.

        Returns
        -------
        ndarray of shape (n_rows, n_columns), dtype float64
            The columns. Judged rows of `fit` count as other documents here: for models, take
            :meth:`fit_transform`.
        """
        check_is_fitted(self)
        n_rows = count_rows(X)
        index = check_groups(groups, X, n_rows=n_rows, names=("X",), carrier="X as a DataFrame")
        validate_data(self, X, reset=False, skip_check_array=True)
        ids = set(index.query_ids.tolist())
        if ids.isdisjoint(self._judged) and set(map(str, ids)) & set(map(str, self._judged)):
            raise InputError(
                f"groups must be of the type in fit, got {brief(next(iter(ids)))}, and "
                f"{brief(next(iter(self._judged)))} in fit: no query would have a judged document."
            )
        parts = self._parts(X)
        if parts.roles != self._roles:
            raise InputError(
                f"X must hold the same as in fit, {brief_list(self._roles)}, got "
                f"{brief_list(parts.roles)}."
            )
        if parts.texts is not None:
            parts = parts._replace(counts=self._terms.counter.transform(parts.texts[1]))
        documents = self._documents(parts)
        return self._scaled(self._columns(parts, documents, index, np.full(n_rows, -1)))

    def get_feature_names_out(self, input_features=None) -> np.ndarray:
        """Return the names of the columns.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Not used; scikit-learn passes it.

        Returns
        -------
        ndarray of shape (n_columns,), dtype object
            The names.
        """
        check_is_fitted(self)
        return np.array(self.names_, dtype=object)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = tags.input_tags.sparse = tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        return tags

    def _fit(self, X, y, groups) -> np.ndarray:
        """Learn from the rows, and return their columns."""
        n_rows = count_rows(X)
        labels = check_numbers(y, "y", n_rows=n_rows).astype(np.float64)
        index = check_groups(groups, y, X, n_rows=n_rows, names=("y", "X"))
        known = ~np.isnan(labels)
        if not known.any() or np.isinf(labels).any():
            raise InputError("y must hold finite labels, NaN where unjudged, and at least one.")
        self.__dict__.pop("n_features_in_", None)
        validate_data(self, X, skip_check_array=True)
        parts = self._parts(X)
        if parts.texts is not None:
            self._terms = _Terms()
            parts = parts._replace(counts=self._terms.learn(parts.texts[1]))
        self._learn(parts, known)
        documents = self._documents(parts)
        labels /= max(np.abs(labels[known]).max(), 1e-9)
        gains = np.where(known, np.maximum(labels, 0.0), 0.0)
        total, n_judged = gains.sum(), np.count_nonzero(known)
        self._base = total / n_judged
        # Place of each judged row among the judged rows of its query.
        own, self._judged = np.full(n_rows, -1), {}
        for query, rows in zip(index.query_ids.tolist(), index.rows_by_query()):
            rows = rows[known[rows]]
            own[rows] = np.arange(len(rows))
            if len(rows):
                n_others = n_judged - len(rows)
                base = (total - gains[rows].sum()) / n_others if n_others else _NO_BASE
                self._judged[query] = documents.take(rows), labels[rows], base
        raw = self._columns(parts, documents, index, own)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a column may hold no number
            self.mean_ = np.nan_to_num(np.nanmean(raw[known], axis=0))
            self.scale_ = np.nan_to_num(np.nanstd(raw[known], axis=0)) + 1e-9
        return self._scaled(raw)

    def _parts(self, X) -> "_PairParts":
        """Take X apart: texts, queries, ranks, numbers, vectors; None for a part that X lacks."""
        refuse_ids(X)
        if sparse.issparse(X):
            return _PairParts(X, vectors=X.tocsr())
        if is_texts(X):
            X = pd.DataFrame({"text": pd.Series(list(X), dtype=object)})
        elif not isinstance(X, pd.DataFrame):
            X = pd.DataFrame(np.asarray(X)).infer_objects()
        if not X.shape[1]:
            raise InputError("X must hold at least one column, got none.")
        if not _are_names(ranks := [] if self.ranks is None else self.ranks):
            raise InputError(f"ranks must be a list of columns of X, got {brief(ranks)}.")
        vectors = [] if self.similarity is None or callable(self.similarity) else self.similarity
        if not _are_names(vectors):
            raise InputError(
                "similarity must be a function of two parts of X, a list of columns, or None, got "
                f"{brief(vectors)}."
            )
        ranks, vectors = list(ranks), list(vectors)
        if absent := [name for name in [*ranks, *vectors] if name not in X]:
            raise InputError(
                f"X has no column {brief_list(absent)}; its columns are {brief_list(list(X))}."
            )
        others = X.drop(columns=[*ranks, *vectors])
        numbers = others.select_dtypes(["number", "bool"])
        words = as_text(others.drop(columns=numbers.columns))
        queries = words.pop(_QUERY).to_numpy(object) if _QUERY in words else None
        if queries is not None and not words.shape[1]:
            raise InputError(
                "X has texts of queries (column 'query'), but none of documents to compare them "
                "with: add a column 'text', or leave the texts of queries out."
            )
        texts = [" ".join(row) for row in words.to_numpy(object)] if words.shape[1] else None
        matrix = _matrix(X[ranks])
        if matrix is not None and (matrix < 1).any():
            raise InputError("X must hold ranks from 1 on, NaN where missing.")
        return _PairParts(
            X,
            texts=None if texts is None else pd.factorize(np.array(texts, dtype=object)),
            queries=queries,
            ranks=matrix,
            numbers=_matrix(numbers),
            vectors=_matrix(X[vectors]),
            names=[*map(str, numbers)],
            runs=[*map(str, ranks)],
        )

    def _learn(self, parts, known) -> None:
        """Learn the depth of runs, scales of numbers, and names and weights of columns."""
        self.names_, self._roles = list(_OF_SIMILAR), parts.roles
        if parts.ranks is not None:
            if np.isnan(parts.ranks).all():
                raise InputError("X must hold ranks in the columns `ranks`, got NaN alone.")
            self._depth = np.nanmax(parts.ranks)
            self._mean_profile = _profile(parts.ranks).mean(axis=0)
            self.names_ += _OF_RUNS
        if parts.queries is not None:
            self.names_ += _OF_QUERY
        weight = [1.0] * len(self.names_)
        if parts.numbers is not None:
            self._number_mean = np.nan_to_num(np.nanmean(parts.numbers[known], axis=0))
            self._number_scale = np.nan_to_num(np.nanstd(parts.numbers[known], axis=0)) + 1e-9
            self._lacking = np.isnan(parts.numbers).any(axis=0)
            lacking = [f"no {name}" for name, lacks in zip(parts.names, self._lacking) if lacks]
            self.names_ += [*parts.names, *lacking]
            weight += [min(1.0, 2 / np.sqrt(len(parts.names)))] * (len(parts.names) + len(lacking))
        if parts.ranks is not None:
            self.names_ += parts.runs
            weight += [2 / np.sqrt(len(parts.runs))] * len(parts.runs)
        self.weight_ = np.array(weight)

    def _documents(self, parts) -> "_Documents":
        """Return the documents in the form in which similarities compare them."""
        if callable(self.similarity):
            return _Documents(parts.X, None, self.similarity)
        if parts.vectors is not None:
            vectors = parts.vectors
            # A document without a vector is similar to none.
            return _Documents(
                normalize(vectors if sparse.issparse(vectors) else np.nan_to_num(vectors))
            )
        if parts.texts is not None:
            return _Documents(self._terms.tfidf.transform(parts.counts), parts.texts[0])
        if parts.ranks is not None:
            return _Documents(normalize(_profile(parts.ranks) - self._mean_profile))
        scaled = (parts.numbers - self._number_mean) / self._number_scale
        return _Documents(normalize(np.nan_to_num(scaled)))

    def _columns(self, parts, documents, index, own) -> np.ndarray:
        """Return all columns, before they are standardised."""
        similar = np.zeros((len(own), len(_OF_SIMILAR)))
        similar[:, 0] = self._base
        for query, rows in zip(index.query_ids.tolist(), index.rows_by_query()):
            if query in self._judged:
                judged, labels, base = self._judged[query]
                similarity = documents.take(rows).similarity(judged)
                similar[rows] = _similar_columns(similarity, labels, own[rows], base)
        columns = [similar]
        if parts.ranks is not None:
            logs = np.log(np.where(np.isnan(parts.ranks), 2.0 * self._depth, parts.ranks))
            columns += [logs.min(axis=1), logs.mean(axis=1)]
        if parts.queries is not None:
            columns += self._terms.query_columns(parts, index)
        if parts.numbers is not None:
            columns += [parts.numbers, np.isnan(parts.numbers[:, self._lacking])]
        if parts.ranks is not None:
            columns.append(logs)
        return np.column_stack(columns)

    def _scaled(self, raw) -> np.ndarray:
        """Standardise columns by the judged rows of `fit`; missing numbers get the mean."""
        raw -= self.mean_
        raw /= self.scale_
        np.clip(raw, -_MOST, _MOST, out=raw)
        raw *= self.weight_
        return np.nan_to_num(raw, copy=False)


class _PairParts(NamedTuple):
    """Parts of X by their role; None for a part that X lacks."""

    X: Any
    # Number of the distinct text of each row, distinct texts, and counts of their terms.
    texts: Any = None
    counts: Any = None
    queries: np.ndarray | None = None
    ranks: np.ndarray | None = None
    numbers: np.ndarray | None = None
    vectors: Any = None
    names: list[str] = []  # noqa: RUF012
    runs: list[str] = []  # noqa: RUF012

    @property
    def roles(self) -> list[str]:
        """Names of the parts that X has, and of its columns of numbers."""
        parts = {"texts": self.texts, "texts of queries": self.queries, "ranks": self.ranks}
        parts["vectors"] = self.vectors
        found = [role for role, part in parts.items() if part is not None]
        return found + [f"column {name}" for name in self.names]


class _Documents(NamedTuple):
    """Documents of rows, whose similarity is the cosine of vectors of length 1, or a function."""

    rows: Any
    codes: np.ndarray | None = None
    function: Any = None

    def take(self, rows) -> "_Documents":
        """Return the documents of some rows."""
        rows = rows if self.codes is None else self.codes[rows]
        is_frame = isinstance(self.rows, pd.DataFrame)
        return _Documents(
            self.rows.iloc[rows] if is_frame else self.rows[rows], None, self.function
        )

    def similarity(self, others) -> np.ndarray:
        """Return the similarity to other documents, at least 0."""
        if self.function is None:
            found = self.rows @ others.rows.T
        else:
            found = self.function(self.rows, others.rows)
        found = found.toarray() if sparse.issparse(found) else np.asarray(found, dtype=np.float64)
        if found.shape != (count_rows(self.rows), count_rows(others.rows)):
            raise InputError(
                f"similarity must return a matrix of {count_rows(self.rows)} rows and "
                f"{count_rows(others.rows)} columns for so many documents, got {found.shape}."
            )
        return np.maximum(found, 0.0)


class _Terms:
    """Terms of texts: vectors by tf-idf, and weights by BM25."""

    def learn(self, texts):
        """Learn the terms of distinct texts, and return their counts."""
        self.counter = CountVectorizer(stop_words="english", dtype=np.float64)
        try:
            counts = self.counter.fit_transform(texts)
        except ValueError as error:
            raise InputError(
                f"the texts of documents hold no terms ({error}): {len(texts)} distinct texts, all "
                "empty or stop words. Leave them out."
            ) from error
        self.tfidf = TfidfTransformer(sublinear_tf=True).fit(counts)
        n_texts = np.bincount(counts.indices, minlength=counts.shape[1])
        self.idf = np.log(1 + (len(texts) - n_texts + 0.5) / (n_texts + 0.5))
        self.length = counts.sum() / len(texts)
        return counts

    def query_columns(self, parts, index) -> list[np.ndarray]:
        """Return the cosine of query and text, and cosine and BM25 standardised in the query."""
        weights = parts.counts.copy()
        lengths = np.asarray(weights.sum(axis=1)).ravel() / self.length
        norms = _K1 * (1 - _B + _B * np.repeat(lengths, np.diff(weights.indptr)))
        weights.data *= (_K1 + 1) / (weights.data + norms)
        weights.data *= self.idf[weights.indices]
        codes, queries = pd.factorize(parts.queries)
        terms = self.counter.transform(queries)
        vectors, terms = self.tfidf.transform(terms), terms.sign()
        cosine, bm25 = np.zeros(len(codes)), np.zeros(len(codes))
        ends = np.cumsum(np.bincount(codes))[:-1]
        for number, rows in enumerate(np.split(np.argsort(codes, kind="stable"), ends)):
            texts = parts.texts[0][rows]
            documents = self.tfidf.transform(parts.counts[texts])
            cosine[rows] = (documents @ vectors[number].T).toarray()[:, 0]
            bm25[rows] = (weights[texts] @ terms[number].T).toarray()[:, 0]
        return [cosine, _in_query(cosine, index), _in_query(bm25, index)]


def _are_names(columns) -> bool:
    """Tell whether an argument is a list of names of columns."""
    return not isinstance(columns, str) and np.iterable(columns) and all(map(is_hashable, columns))


def _matrix(table) -> np.ndarray | None:
    """Return the columns of a table as floats; None if there is none."""
    if not table.shape[1]:
        return None
    try:
        numbers = table.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise InputError(f"X must hold numbers in {brief_list(list(table))}: {error}.") from None
    if np.isinf(numbers).any():
        name = table.columns[np.isinf(numbers).any(axis=0)][0]
        raise InputError(f"X holds an infinite number in column {brief(name)}; NaN is missing.")
    return numbers


def _profile(ranks) -> np.ndarray:
    """Return weights of ranks that fall like those of DCG, 0 where a run does not return."""
    return np.where(np.isnan(ranks), 0.0, 1 / np.log2(ranks + 1))


def _in_query(values, index: GroupIndex) -> np.ndarray:
    """Standardise values within each query."""
    codes = index.codes()
    apart = values - (np.bincount(codes, values) / index.sizes)[codes]
    return apart / np.sqrt(np.bincount(codes, apart**2) / index.sizes + 1e-9)[codes]


def _similar_columns(similarity, labels, own, base) -> np.ndarray:
    """Return columns that describe documents by the labels of similar judged documents.

    Parameters
    ----------
    similarity : ndarray of shape (n_rows, n_judged)
        Similarities from 0 to 1.
    labels : ndarray of shape (n_judged,)
        Labels, at most 1.
    own : ndarray of shape (n_rows,)
        Place of the row among the judged ones, whose label is not looked at; -1 if unjudged.
    base : float
        Mean label of all other queries.
    """
    judged = np.flatnonzero(own >= 0)
    similarity[judged, own[judged]] = 0.0
    counts = np.ones(similarity.shape)
    counts[judged, own[judged]] = 0.0
    is_relevant = labels > 0
    squares = similarity**2
    n_relevant, n_others = counts @ is_relevant, counts @ ~is_relevant
    return np.column_stack(
        [
            (squares @ labels + 0.1 * base) / (squares.sum(axis=1) + 0.1),
            (similarity * is_relevant).max(axis=1),
            (similarity * ~is_relevant).max(axis=1),
            similarity @ is_relevant / np.maximum(n_relevant, 1)
            - similarity @ ~is_relevant / np.maximum(n_others, 1),
            np.log((counts @ np.maximum(labels, 0.0) + base) / (counts.sum(axis=1) + 1) + 0.02),
        ]
    )

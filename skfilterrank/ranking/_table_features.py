"""Features of whole tables: pairs of columns, numbers, the other documents of a query.

`make_text_features` joins all transformers into one ``ColumnTransformer``, for linear models
(sparse) or for trees (dense).
"""

from collections.abc import Sequence
from typing import Self

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from skfilterrank._estimators.ranker_mixin import all_or_nothing
from skfilterrank._lists.checks import as_list, check_choice, is_hashable
from skfilterrank.exceptions import InputError, brief
from skfilterrank.ranking._text_features import (
    TextSimilarity,
    TextStatistics,
    TextVectors,
    _divide,
    _fit_tfidf,
    _frame,
    _NamedColumns,
    _row_dot,
    _statistics,
    _text,
)


class ColumnsEqual(_NamedColumns):
    """Equality of two columns of a row, 1.0 or 0.0.

    Parameters
    ----------
    pairs : sequence of (str, str)
        Pairs of column names. Missing values equal nothing.
    """

    def __init__(self, pairs):
        self.pairs = pairs

    def _columns(self):
        return [column for pair in self.pairs for column in pair]

    def _compute(self, X):
        out = {f"{a}=={b}": _equal(X, a, b) for a, b in self.pairs}
        return pd.DataFrame(out, index=X.index)


def _equal(X, a, b):
    """Return 1.0 where column `a` equals column `b` and neither is missing."""
    known = (X[a].notna() & X[b].notna()).to_numpy()
    # Objects, so that two categoricals or a number beside a text can be compared.
    left, right = (X[c].to_numpy(dtype=object)[known] for c in (a, b))
    equal = np.zeros(len(X))
    equal[known] = left == right
    return equal


class NumericColumns(_NamedColumns):
    """Numeric columns, their signed logarithm, and whether a value is missing (counted as 0).

    Parameters
    ----------
    columns : sequence of str
        Names of the columns.
    """

    def __init__(self, columns):
        self.columns = columns

    def _columns(self):
        return self.columns

    def _compute(self, X):
        out = {}
        for column in self.columns:
            values = pd.to_numeric(X[column]).to_numpy(dtype=float, na_value=np.nan)
            missing = ~np.isfinite(values)
            values = np.where(missing, 0.0, values)
            out[column] = values
            out[f"log_{column}"] = np.sign(values) * np.log1p(np.abs(values))
            out[f"{column}_missing"] = missing.astype(float)
        return pd.DataFrame(out, index=X.index)


class ListFeatures(_NamedColumns):
    """Features of a document from the other documents of its query.

    All documents of a query must be in the `X` given to `transform`: a list cut in two gives
    other features. That is why cross-validation has to split by query.

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
    For each statistic of `TextStatistics`: the deviation from the mean of the list, the mean of
    the list, and the value of the next document and of the one before. Cosine of the tf-idf
    vectors with the sum of the other documents, with the next and with the one before. Place
    and size of the list. For each pair in `same`: how often it is equal in the list, before,
    after, and in the two neighbours; how often the document's value occurs in the list and
    before this row; how many distinct values the list has.
    A neighbour that does not exist counts as 0.
    """

    def __init__(self, query, document, *, order=None, same=()):
        self.query = query
        self.document = document
        self.order = order
        self.same = same

    def _columns(self):
        order = [] if self.order is None else [self.order]
        return [self.query, self.document, *order, *(c for pair in self.same for c in pair)]

    @all_or_nothing
    def fit(self, X, y=None) -> Self:
        """Learn the vocabulary for the similarities within a list."""
        X = _frame(X, self._columns())
        self.words_ = _fit_tfidf(_text(X[self.document]), self.document)
        return super().fit(X)

    def _compute(self, X):
        codes, _ = pd.factorize(X[self.query])
        if (codes < 0).any():
            raise InputError(
                f"column {brief(self.query)} must name the query of each row, got "
                f"{(codes < 0).sum()} missing values. Drop these rows or fill them in."
            )
        if self.order is None:
            order = np.argsort(codes, kind="stable")
        else:
            order = np.lexsort((pd.factorize(X[self.order], sort=True)[0], codes))
        # Work on rows sorted by list and place; neighbours are then adjacent rows.
        lists = _Lists(codes[order])
        out = {
            "list_size": np.log1p(lists.size),
            "place": np.log1p(lists.place),
            "relative_place": _divide(lists.place, np.maximum(lists.size - 1, 1)),
            "is_last": (lists.place == lists.size - 1).astype(float),
        }
        text = _text(X[self.document]).iloc[order]
        for name, column in _statistics(text).items():
            values = column.to_numpy()
            mean = lists.sum(values) / lists.size
            out[f"{name}_above_mean"] = values - mean
            out[f"{name}_mean"] = mean
            out[f"{name}_next"] = lists.shift(values, -1)
            out[f"{name}_before"] = lists.shift(values, 1)
        out |= self._similarities(text, lists)
        for a, b in self.same:
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
    value, _ = pd.factorize(X[a], use_na_sentinel=False)
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
        Column with the query id of each row. It adds `ListFeatures`, for which all documents of a
        query have to be in one table, in training and in prediction alike. None leaves them out.
    order : str, default=None
        Column that orders the documents of a query, for `ListFeatures`.
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
    same = as_list(same, "same", "pairs of columns")
    for pair in same:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InputError(f"same must hold pairs of columns, got {brief(pair)}.")
    vectors = TextVectors(
        document, n_components=n_components if dense else None, random_state=random_state
    )
    transformers: list[tuple] = [("text", vectors, [document])]
    scaled = [("plain", TextStatistics(document))]
    if query_text:
        scaled.append(("similarity", TextSimilarity(document, query_text)))
    if len(same):
        scaled.append(("same", ColumnsEqual(list(same))))
    if numeric:
        scaled.append(("numeric", NumericColumns(numeric)))
    if query is not None:
        scaled.append(("list", ListFeatures(query, document, order=order, same=list(same))))
    for name, transformer in scaled:
        pipeline = Pipeline([("features", transformer), ("scale", StandardScaler())])
        transformers.append((name, pipeline, list(dict.fromkeys(transformer._columns()))))
    if categorical:
        onehot = OneHotEncoder(
            handle_unknown="infrequent_if_exist", min_frequency=10, sparse_output=not dense
        )
        transformers.append(("categorical", onehot, categorical))
    # Rows of tf-idf have length 1. Features of deviation 1 beside them would take all of the
    # penalty's room; a tenth was best in grouped cross-validation of linear models.
    weights = None if dense else {name: 0.1 for name, _, _ in transformers if name != "text"}
    return ColumnTransformer(
        transformers, sparse_threshold=0.0 if dense else 1.0, transformer_weights=weights
    )

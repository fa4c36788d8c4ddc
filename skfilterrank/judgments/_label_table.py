"""Judgment tables: one row per query and document, with label NaN where unjudged.

This file also has the base class that makes a label predictor a scikit-learn transformer.
"""

from numbers import Real
from typing import NamedTuple, Self

import numpy as np
import pandas as pd
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from skfilterrank._lists.checks import (
    as_column,
    as_number_array,
    as_numbers,
    check_choice,
    check_container,
    count_rows,
    is_hashable,
)
from skfilterrank._lists.queries import GroupIndex, check_groups, find_groups
from skfilterrank._lists.words import JUDGED_BY, PEOPLE, PREDICTED, is_of_machine, warn_user
from skfilterrank.exceptions import DataWarning, InputError, InputTypeError, brief, brief_list

_SHOWN = 5
CONTAINERS = ("default", "pandas", "polars")
KEY = ["qid", "docno"]
# Default name, which may be missing.
DEFAULT_DOCUMENT = "docno"


class LabelTable(NamedTuple):
    """Parsed columns of a judgment table, and the table itself."""

    frame: object
    index: GroupIndex  # type: ignore[assignment]  # a tuple's own method of this name is not used
    labels: np.ndarray


def read_labels(X, y, groups, *, query) -> LabelTable:
    """Check documents with labels in y; without y, all rows are unjudged."""
    n_rows = count_rows(X)
    labels = np.full(n_rows, np.nan) if y is None else check_labels(y, "y")
    if len(labels) != n_rows:
        raise InputError(f"y has {len(labels)} labels but X has {n_rows} rows.")
    found = find_groups(groups, y, X)
    if found is None and is_table(X) and query in X.columns:
        found = column_of(X, query, "query")
    index = check_groups(found, n_rows=n_rows, carrier="y or X as a pandas object")
    return LabelTable(y, index, labels)


def is_table(X) -> bool:
    """Tell whether X is a pandas or polars DataFrame."""
    return isinstance(X, pd.DataFrame) or is_polars(X)


def is_polars(X) -> bool:
    """Tell whether a table is a polars DataFrame; polars need not be installed."""
    return type(X).__module__.partition(".")[0] == "polars" and hasattr(X, "get_column")


def names_of(X) -> list:
    """Return the names of the columns and, for pandas, of the index levels."""
    levels = list(X.index.names) if isinstance(X, pd.DataFrame) else []
    return [*X.columns, *(name for name in levels if name is not None)]


def column_of(X, name, argument=None, table="X") -> pd.Series:
    """Return a column or index level as a pandas Series; `argument` is its parameter."""
    if not is_hashable(name):
        raise InputError(f"{argument or 'name'} must be the name of a column, got {brief(name)}.")
    if name in X.columns:
        values = X[name]
        if isinstance(values, pd.DataFrame):
            raise InputError(f"{table} has several columns {brief(name)}: keep one of them.")
        if isinstance(values, pd.Series):
            return values.reset_index(drop=True)
        has_gaps = values.dtype.is_integer() and values.null_count() > 0
        return pd.Series(values.to_list(), name=name, dtype="Int64" if has_gaps else None)
    if isinstance(X, pd.DataFrame) and name is not None and name in X.index.names:
        return X.index.get_level_values(name).to_series(index=pd.RangeIndex(len(X)))
    advice = "" if argument is None else f" Name the right one by {argument}=."
    raise InputError(f"{table} has no column {brief(name)}; it has {names_of(X)}.{advice}")


def check_labels(labels, name) -> np.ndarray:
    """Return labels as float64, NaN where unjudged; raise if -1 seems to mean missing."""
    column = as_column(labels, name, "label")
    values = as_numbers(column, name)
    if values is None:
        shown = next(
            (x for x in column if not isinstance(x, Real) and not pd.isna(x)), column.dtype
        )
        raise InputError(
            f"{name} must hold numbers, NaN where unjudged, got {brief(shown)}: map labels to "
            "numbers first, such as {'Bad': -1, 'Good': 1}; they say which is better."
        )
    is_whole = values.dtype.kind in "iu"
    values = values.astype(np.float64, copy=False)
    if np.isinf(values).any():
        raise InputError(
            f"{name} holds an infinite label in row {int(np.isinf(values).argmax())}: expected "
            "finite numbers, or NaN where unjudged."
        )
    if is_whole:
        n_missing = int(np.count_nonzero(values == -1))
        if n_missing:
            raise InputError(
                f"{name} holds integers, {n_missing} of them -1, and no NaN: unjudged rows are "
                "marked by NaN, as negative labels mean forbidden. Where -1 means unjudged, turn "
                "it into NaN (in pandas .replace(-1, np.nan)); where it means forbidden, convert "
                "the column to floats (.astype(float))."
            )
    return values


def warn_of_minus_one(labels, name) -> None:
    """Warn if no label is missing but some are -1, which may mean missing."""
    n_minus_one = int(np.count_nonzero(labels == -1))
    if n_minus_one and not np.isnan(labels).any():
        warn_user(
            f"{name} has no NaN, so there is nothing to complete, and {n_minus_one} of its "
            f"{len(labels)} labels are -1: labels below 0 mean forbidden. Use NaN for unjudged "
            "rows; where -1 does mean forbidden, silence this by "
            "warnings.filterwarnings('ignore', message='.*labels are -1').",
            DataWarning,
        )


def with_columns(X, added, *, container):
    """Return the table with new or replaced columns, in the requested container."""
    if not is_polars(X):
        levels = [name for name in X.index.names if name is not None and name in added]
        frame = (X.reset_index(level=levels, drop=True) if levels else X).assign(**added)
        return _to_polars(frame) if container == "polars" else frame

    frame = X.with_columns(
        _polars_column(name, pd.Series(values)) for name, values in added.items()
    )
    if container == "pandas":
        return pd.DataFrame({name: column_of(frame, name, name) for name in frame.columns})
    return frame


def output_container(estimator) -> str:
    """Return the container that `set_output` or scikit-learn's configuration requests."""
    own = getattr(estimator, "_sklearn_output_config", {})
    return own.get("transform", sklearn.get_config()["transform_output"])


def _to_polars(frame):
    """Convert a pandas table to polars, with named index levels as columns."""
    import polars as pl

    levels = [name for name in frame.index.names if name is not None]
    frame = frame.reset_index(level=levels) if levels else frame
    return pl.DataFrame(
        {str(name): _polars_column(str(name), frame[name]) for name in frame.columns}
    )


def _polars_column(name, values):
    """Convert a pandas column to polars, with null for missing values."""
    import polars as pl

    is_plain = isinstance(values.dtype, np.dtype) and values.dtype != object
    if is_plain:
        return pl.Series(name, values.to_numpy(), nan_to_null=True)
    values = values.astype(object)
    return pl.Series(name, values.where(values.notna(), None).tolist())


def labels_of_people(labels, judged_by, name="X") -> np.ndarray:
    """Return labels, with NaN for labels by machines, and warn of these."""
    is_machine = is_of_machine(judged_by).to_numpy(dtype=bool) & ~np.isnan(labels)
    if n_machine := int(np.count_nonzero(is_machine)):
        names = sorted(map(str, judged_by[is_machine].unique()))
        warn_user(
            f"{name} holds {n_machine} labels that machines gave (column {brief(JUDGED_BY)}: "
            f"{', '.join(names[:_SHOWN])}): they are not used for fitting, and are predicted "
            "again.",
            DataWarning,
        )
    return np.where(is_machine, np.nan, labels)


def judges_of(labels, is_predicted) -> np.ndarray:
    """Return the column "judged_by"; None if there is none."""
    judges = np.full(len(labels), PEOPLE, dtype=object)
    judges[np.isnan(labels)] = None
    judges[is_predicted] = PREDICTED
    return judges


class TableImputer(  # type: ignore[call-arg]  # a keyword of TransformerMixin, which has no types
    TransformerMixin, BaseEstimator, auto_wrap_output_keys=None
):
    """Base class of label predictors: reads judgment tables and returns completed ones."""

    def __init_subclass__(cls, **kwargs):
        # scikit-learn's wrapper would require the columns of `fit` in other tables.
        super().__init_subclass__(**kwargs | {"auto_wrap_output_keys": None})

    def set_output(self, *, transform=None) -> Self:
        """Choose the container of the output.

        Parameters
        ----------
        transform : {"default", "pandas", "polars", None}, default=None
            "default" returns the input's container; None changes nothing.

        Returns
        -------
        self : TableImputer
            The predictor.
        """
        check_choice(transform, "transform", (*CONTAINERS, None))
        if transform is not None:
            self._sklearn_output_config = {"transform": transform}
        return self

    def get_feature_names_out(self, input_features=None) -> np.ndarray:
        """Return the columns of the completed table.

        Parameters
        ----------
        input_features : object, default=None
            Not used.

        Returns
        -------
        ndarray of str
            The columns of `fit`, the column that marks imputed rows, and "judged_by".
        """
        check_is_fitted(self)
        if not self._of_table:
            return np.asarray([self.label], dtype=object)
        added = [] if self.imputed is None else [self.imputed]
        added += [] if JUDGED_BY in self.feature_names_in_ else [JUDGED_BY]
        return np.asarray([*self.feature_names_in_, *added], dtype=object)

    def _read(self, X, y=None, groups=None, *, needs_label=False) -> LabelTable:
        """Check the table, or documents with labels in y."""
        if not self._takes_table(X, y):
            return read_labels(X, y, groups, query=self.query)
        check_container(X)
        if not is_table(X):
            raise InputTypeError(
                f"X must be a pandas or polars DataFrame with the column {brief(self.query)}, got "
                f"{type(X).__name__}: build one with pandas.DataFrame(...), or pass labels as y "
                "and queries as groups."
            )
        if len(X) == 0:
            raise InputError("X has no rows; at least one was expected. Leave out empty tables.")
        names = names_of(X)
        index = (
            GroupIndex.from_groups(column_of(X, self.query, "query"), f"X, column {self.query!r},")
            if groups is None
            else check_groups(groups, n_rows=len(X))
        )
        if self.document is not None and (
            self.document != DEFAULT_DOCUMENT or self.document in names
        ):
            documents = column_of(X, self.document, "document")
            refuse_repeated(index.query_ids[index.codes()], documents, "X")
        labels = np.full(len(X), np.nan)
        if needs_label or self.label in names:
            where = f"column {brief(self.label)} of X"
            labels = check_labels(column_of(X, self.label, "label"), where)
        if JUDGED_BY in names:
            labels = labels_of_people(labels, column_of(X, JUDGED_BY, JUDGED_BY))
        if self.imputed is not None and self.imputed in names:
            raise InputError(
                f"X has a column {brief(self.imputed)} already, so some of its labels may be "
                "predictions: set these to NaN and drop the column, or choose another name by "
                "imputed=."
            )
        return LabelTable(X, index, labels)

    def _takes_table(self, X, y) -> bool:
        """Tell whether labels are read from a column of X; after `fit`, as in `fit`."""
        if hasattr(self, "_of_table"):
            return self._of_table
        if not is_table(X) or self.label not in names_of(X):
            return y is None
        values = None if y is None else as_number_array(y, "y")
        if values is not None and values.dtype.kind == "f" and np.isnan(values).any():
            raise InputError(
                f"labels are given twice, as y and in column {brief(self.label)} of X: drop the "
                "column, or leave y out."
            )
        return True

    def _completed(self, table, predicted):
        """Return the table with predictions, or the labels if they were given as y."""
        is_found = np.isnan(table.labels) & ~np.isnan(predicted)
        labels = np.where(is_found, predicted, table.labels)
        if not self._of_table:
            is_series = isinstance(table.frame, pd.Series)
            return (
                pd.Series(labels, table.frame.index, name=table.frame.name) if is_series else labels
            )
        added = {self.label: labels}
        if self.imputed is not None:
            added[self.imputed] = is_found
        added[JUDGED_BY] = judges_of(labels, is_found)
        return with_columns(table.frame, added, container=output_container(self))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # X is a table of texts, queries and labels, not a matrix of numbers.
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags


class Vectors:
    """Document vectors: a matrix, and the row of the matrix for each row of the table.

    A document that occurs in many queries has one vector. `of_texts` tells that the vectors come
    only from texts.
    """

    def __init__(self, matrix, numbers=None, is_empty=None, *, of_texts=False):
        self.matrix = matrix
        self.of_texts = of_texts
        self.numbers = np.arange(matrix.shape[0]) if numbers is None else numbers
        self.is_empty = np.zeros(len(self.numbers), dtype=bool) if is_empty is None else is_empty

    def take(self, rows):
        """Return the vectors of some rows of the table."""
        return self.matrix[self.numbers[rows]]


class DocumentVectors:
    """Transformer from documents (table columns, texts or a matrix) to vectors.

    Parameters
    ----------
    predictor : LabelPredictor
        Defines the columns of a table and the vectorizer.
    of_table : bool
        Whether X is a table with the predictor's columns. Otherwise X may also be texts or a
        matrix.
    """

    def __init__(self, predictor, *, of_table):
        self.text, self.features = predictor.text, predictor.features
        self.names = {predictor.query, predictor.document, predictor.label}
        self.vectorizer, self.n_terms = predictor.vectorizer, predictor.n_terms
        self.of_table, self.scaler = of_table, None

    def fit_transform(self, X) -> Vectors:
        """Learn terms and scales from all rows, judged or not, and return their vectors."""
        if self.of_table and self.text is None and self.features is None:
            raise InputError(
                "text and features are both None: name the column with the texts, or columns of "
                "numbers to learn from."
            )
        return self._vectors(X, fits=True)

    def transform(self, X) -> Vectors:
        """Return the vectors of other rows."""
        return self._vectors(X, fits=False)

    def _vectors(self, X, fits):
        table = self._as_table(X)
        if table is None:
            return Vectors(self._numbers(X))
        vectors = None if self.text is None else self._vectors_of_texts(table, fits)
        if self.features is None:
            return vectors
        columns = feature_matrix(table, self.features)
        if fits:
            self.scaler = StandardScaler().fit(columns)
        scaled = self.scaler.transform(columns)
        if vectors is None:
            return Vectors(scaled)
        matrix = vectors.take(slice(None))
        if sparse.issparse(matrix):
            return Vectors(sparse.hstack([matrix, scaled]).tocsr(), None, vectors.is_empty)
        return Vectors(np.hstack([matrix, scaled]), None, vectors.is_empty)

    def _vectors_of_texts(self, table, fits):
        """Return the vectors of distinct texts, and a mask of rows without terms."""
        numbers, distinct = pd.factorize(texts_of(table, self.text))
        if not fits:
            matrix = self.vectorizer.transform(distinct)
        else:
            self.vectorizer = (
                TfidfVectorizer(max_features=self.n_terms)
                if self.vectorizer is None
                else clone(self.vectorizer)
            )
            try:
                matrix = self.vectorizer.fit_transform(distinct)
            except ValueError as error:
                raise InputError(
                    f"the texts in column {brief(self.text)} of X give no terms to learn from "
                    f"({error}): {len(distinct)} distinct texts, all empty or stop words."
                ) from error
        if sparse.issparse(matrix):
            matrix = matrix.tocsr()
            is_empty = np.diff(matrix.indptr) == 0
        else:
            matrix = np.asarray(matrix)
            is_empty = np.array([not text.strip() for text in distinct])
        return Vectors(matrix, numbers, is_empty[numbers], of_texts=True)

    def selectable(self, X):
        """Return documents for selection strategies: texts, scaled columns or the matrix."""
        table = self._as_table(X)
        if table is None:
            return self._numbers(X)
        if self.text is not None:
            return texts_of(table, self.text).tolist()
        return StandardScaler().fit_transform(feature_matrix(table, self.features))

    def _as_table(self, X):
        """Return X as a table with the needed columns, or None if it is a matrix of numbers."""
        if is_table(X):
            if not self.of_table and self.text not in names_of(X):
                self.text = None
            return None if self.text is None and self.features is None else X
        if sparse.issparse(X) or np.ndim(X) != 1:
            return None
        self.text, self.features = "X", None
        return pd.DataFrame({"X": np.asarray(X, dtype=object)})

    def _numbers(self, X):
        """Return X as a matrix of numbers, without the columns of query and document ids."""
        if sparse.issparse(X):
            return X.tocsr()
        if is_table(X):
            X = X[[name for name in X.columns if name not in self.names]]
        try:
            return np.asarray(X, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"labels cannot be predicted from X ({error}): expected numbers, texts, or a "
                f"DataFrame with the text column {brief(self.text)} or features."
            ) from error


def texts_of(X, name) -> np.ndarray:
    """Return the text column as str, empty where missing."""
    column = column_of(X, name, "text").astype(object)
    texts = column.where(column.notna(), "").to_numpy()
    wrong = [not isinstance(text, str) for text in texts]
    if any(wrong):
        shown = texts[int(np.argmax(wrong))]
        raise InputError(
            f"column {brief(name)} of X must hold texts, got {brief(shown)}: name the text column "
            "by text=, or pass text=None and features=, the columns of numbers."
        )
    return texts


def feature_matrix(X, names) -> np.ndarray:
    """Return the feature columns as float64, NaN where missing."""
    columns = [column_of(X, name, "features") for name in names]
    try:
        return np.column_stack(
            [column.to_numpy(dtype=np.float64, na_value=np.nan) for column in columns]
        )
    except (TypeError, ValueError) as error:
        raise InputError(
            f"features must name columns of numbers, got {list(names)} ({error})."
        ) from error


def key_columns(table, name: str, *others: str) -> pd.DataFrame:
    """Return a table with "qid", "docno" and others as columns, from columns or index levels.

    Parameters
    ----------
    table : DataFrame, Series or MultiIndex
        The table.
    name : str
        Name of the argument.
    *others : str
        Other required columns.

    Raises
    ------
    InputError
        If it is not a table, or lacks these columns and levels.
    """
    given = table
    if isinstance(table, pd.MultiIndex):
        table = table.to_frame(index=False)
    elif isinstance(table, pd.Series):
        table = table.to_frame()
    is_frame = isinstance(table, pd.DataFrame)
    if is_frame:
        levels = [level for level in table.index.names if level not in (None, *table.columns)]
        table = table.reset_index(level=levels) if levels else table
    wanted = [*KEY, *others]
    if not is_frame or not set(wanted) <= set(table.columns):
        got = f"columns {brief_list(table.columns)}" if is_frame else brief(given)
        raise InputError(
            f"{name} must be a DataFrame or MultiIndex with {brief_list(wanted)}, got {got}."
        )
    return table


def refuse_repeated(queries, documents, name: str) -> None:
    """Raise for the first document that occurs twice in its query; missing ids are ignored."""
    pairs = pd.DataFrame({"query": queries, "document": documents}, dtype=object)
    again = (pairs.duplicated() & pairs["document"].notna()).to_numpy()
    if again.any():
        row = int(again.argmax())
        query, document = pairs.iloc[row]
        raise InputError(
            f"{name} holds document {brief(document)} twice in query {brief(query)}, again in row "
            f"{row}: keep one row of each."
        )

"""Features within the list of each query: scaled numbers, and similarities of vectors."""

from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from skfilterrank._base.checks import as_number_array, check_choice, check_container, count_rows
from skfilterrank._estimators.ranker_mixin import all_or_nothing
from skfilterrank._estimators.wrapping import (
    check_finite_columns,
    raise_for_text,
    refuse_dates,
)
from skfilterrank._lists.queries import check_groups, find_groups
from skfilterrank.exceptions import InputError

METHODS = ("standardize", "min_max", "rank")
# Parts of 1 in which values are summed, and parts of such a part.
_PARTS = 2.0**30
# Numbers of a block of vectors, or of a block of cosines of pairs: 8 MiB of float64.
_BLOCK_NUMBERS = 1 << 20
# Cosines are whole multiples of this: equal texts tie, and sums in any order are equal to the bit.
_STEP = 2.0**-30


class QueryScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    r"""Scale each feature within each query.

    Many features are comparable only within a query: a BM25 score of 12 is high for one query and
    low for another. The result for a row depends only on the rows of its query, not on data in
    `fit`. So no information passes between queries, and a query has the same values alone as
    together with other queries.

    Parameters
    ----------
    method : {"standardize", "min_max", "rank"}, default="standardize"
        "standardize": mean 0 and standard deviation 1. "min_max": from 0 to 1. "rank": the share
        of the other documents that have a lower value, equal ones counted half; it is from 0 to 1,
        and does not depend on the scale or on outliers.

    Attributes
    ----------
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,), dtype object
        Names of the features, where X is a DataFrame.

    See Also
    --------
    sklearn.preprocessing.StandardScaler : Scales over all queries.
    make_text_features : With `query`, features of texts from the other documents of the query.

    Notes
    -----
    With the values :math:`v` of a feature in a query of n documents,

    .. math::

        \frac{v - \mathrm{mean}(v)}{\sqrt{\mathrm{mean}((v - \mathrm{mean}(v))^2)}}, \qquad
        \frac{v - \min(v)}{\max(v) - \min(v)}, \qquad
        \frac{\mathrm{rank}(v) - 1}{n - 1} .

    If all values of a query are equal, or it has only one document, the first two are 0 and the
    third is 0.5. NaN is a missing value: it stays NaN, and the others are scaled without it.
    Features in LETOR's files are scaled by "min_max".

    Query ids come as `groups`, or in an index level "qid" of X, in `fit_transform` also of y.
    If the Pipeline is inside a :class:`~skfilterrank.ranking.RankAndFilter` or a ``QueryRanker``,
    or is scored by a ranking scorer, these pass the query ids to this step. scikit-learn's own
    ``Pipeline.predict(X)`` needs the index level, or metadata routing. Pass all documents of a
    query in one call. A step before this one must keep the index:
    ``set_output(transform="pandas")``.

    Examples
    --------
    >>> import pandas as pd
    >>> from skfilterrank.ranking import QueryScaler
    >>> X = pd.DataFrame(
    ...     {"bm25": [12.0, 8.0, 10.0, 3.0, 1.0]},
    ...     index=pd.Index(["a", "a", "a", "b", "b"], name="qid"),
    ... )
    >>> QueryScaler("min_max").fit_transform(X).ravel()
    array([1. , 0. , 0.5, 1. , 0. ])
    >>> scaler = QueryScaler("rank").fit(X)
    >>> scaler.transform(X.loc[["b"]]).ravel()  # alone, as when it is served
    array([1., 0.])
    """

    n_features_in_: int
    feature_names_in_: Any

    __metadata_request__transform = {"groups": True}  # noqa: RUF012
    __metadata_request__fit_transform = {"groups": True}  # noqa: RUF012

    def __init__(self, method: str = "standardize") -> None:
        self.method = method

    @all_or_nothing
    def fit(self, X, y=None) -> Self:
        """Store the number and the names of the features.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_features)
            Numbers; NaN is a missing value.
        y : None
            Ignored.

        Returns
        -------
        self : QueryScaler
            The fitted transformer.
        """
        check_choice(self.method, "method", METHODS)
        self._check_features(X, reset=True)
        return self

    def fit_transform(self, X, y=None, groups=None) -> np.ndarray:
        """Fit, and scale X as :meth:`transform` does; query ids may be in the index of y."""
        return self.fit(X).transform(X, groups=find_groups(groups, X, y, names=("X", "y")))

    def transform(self, X, groups=None) -> np.ndarray:
        """Scale each feature within each query.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_features)
            All documents of each query, in any order; NaN is a missing value.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. None looks for an index level "qid" on `X`.

        Returns
        -------
        ndarray of shape (n_rows, n_features), dtype float64
            The scaled features.

        Raises
        ------
        ValueError
            If query ids are missing, X is sparse, holds infinite values, or has other features
            than in `fit`.
        """
        check_is_fitted(self)
        values = self._check_features(X, reset=False)
        index = check_groups(groups, X, n_rows=len(values), carrier="X as a DataFrame")
        return _SCALES[self.method](values, index)

    def _check_features(self, X, *, reset):
        """Return a dense matrix of float64, NaN where missing."""
        check_container(X)
        refuse_dates(X)
        if hasattr(X, "tocsr"):
            raise InputError(
                "X is sparse, and scaling within queries would change its zeros: pass "
                "X.toarray(), or scale only dense columns by a ColumnTransformer."
            )
        owner = type(self).__name__
        try:
            X = validate_data(self, X, reset=reset, dtype=np.float64, ensure_all_finite=False)
        except ValueError as error:
            raise_for_text(X, owner, error)
            raise
        names = getattr(self, "feature_names_in_", None)
        check_finite_columns(X, owner=owner, names=names, allow_nan=True)
        return X

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _standardize(values, index):
    """Divide deviations from the mean by their standard deviation."""
    # Scale by the range first: squares cannot overflow then.
    parts = _min_max(values, index)
    parts -= _means(parts, index)
    spread = np.sqrt(_means(parts**2, index))
    return _divide(parts, spread, spread > 0)


def _min_max(values, index):
    """Divide distances from the lowest value by the range of the values."""
    codes = index.codes()
    queries = pd.DataFrame(values).groupby(codes)
    low = queries.min().to_numpy()[codes]
    span = queries.max().to_numpy()[codes] - low
    return _divide(values - low, span, span > 0)


def _rank(values, index):
    """Compute the share of other values that are lower, plus half of those that are equal."""
    codes = index.codes()
    queries = pd.DataFrame(values).groupby(codes)
    n_others = queries.count().to_numpy()[codes] - 1
    return _divide(queries.rank().to_numpy() - 1, n_others, n_others > 0, 0.5)


def _means(values, index):
    """Return the mean of each feature, from -1 to 1, over the query of each row; NaN is left out.

    Sums of whole numbers are exact. So neither query ids nor the order of rows change the last
    digit, as they do in the means of pandas.
    """
    codes = index.codes()
    means = np.empty_like(values)
    for column, found in zip(values.T, means.T):
        is_known = ~np.isnan(column)
        scaled = np.where(is_known, column, 0.0) * _PARTS
        whole = np.rint(scaled)
        rest = np.rint((scaled - whole) * _PARTS)
        whole, rest, n_known = (
            index.sums(each.astype(np.int64)) for each in (whole, rest, is_known)
        )
        found[:] = ((whole + rest / _PARTS) / _PARTS / np.maximum(n_known, 1))[codes]
    return means


def _divide(values, by, where, otherwise=0.0):
    """Divide where the divisor is not 0; NaN stays NaN."""
    quotient = np.divide(values, by, out=np.full(values.shape, otherwise), where=where)
    quotient[np.isnan(values)] = np.nan
    return quotient


_SCALES = {"standardize": _standardize, "min_max": _min_max, "rank": _rank}


_KINDS = ("question", "rest", "nearest", "before")


def list_embedding_features(question_vectors, answer_vectors, groups=None) -> pd.DataFrame:
    r"""Compute features of vectors of texts: how an answer fits its question and its list.

    The vectors may come from any encoder of texts. Nothing is learned, and a list has the same
    features alone as together with others; the vectors and all answers of a list are needed.

    Parameters
    ----------
    question_vectors : array-like of shape (n_rows, n_dimensions)
        Vector of the question (the query's text) of each row, of any length.
    answer_vectors : array-like of shape (n_rows, n_dimensions)
        Vector of the answer (the document's text) of each row, of any length.
    groups : array-like of shape (n_rows,), default=None
        Query of each row, of any type. The rows of a query need not be adjacent; their order is the
        order of the list, which only ``cosine_before`` uses. None takes the index level "qid" of
        the vectors.

    Returns
    -------
    DataFrame of shape (n_rows, 16), dtype float64
        Four cosines, from -1 to 1:

        - ``cosine_question``: of the answer and the question
        - ``cosine_rest``: of the answer and the mean of the other answers of its list
        - ``cosine_nearest``: of the answer and the other one that is most similar to it
        - ``cosine_before``: of the answer and the previous one

        Then three columns of each: ``_above_mean``, its difference from the list's mean (-2 to 2);
        ``_rank``, the share of the list's other answers that have less, equal ones counted half (0
        to 1); and ``_below_max``, how much it lies below the largest of the list (0 to 2). The
        index is that of `groups`, else of `answer_vectors`, if these are of pandas.

    Raises
    ------
    ValueError
        If vectors are not numbers, hold NaN or infinity, differ in shape, or if `groups` is missing
        or has another length.

    See Also
    --------
    make_text_features : Features of the words of texts and lists.
    QueryScaler : Scales any features within each query.

    Notes
    -----
    Vectors are scaled to length 1 first, so that their lengths do not matter. A cosine is 0 where a
    vector is zero and where nothing is there to compare: a list of one answer has no other ones,
    and the first answer of a list has no previous one. In a list of one, ranks are 0.5. Models that
    do not take NaN can use all columns.

    Cosines are rounded to multiples of :math:`2^{-30}`, about :math:`10^{-9}`. Equal answers have
    equal ranks, therefore, and the order of the rows changes nothing but ``cosine_before``.
    Memory is linear in the size of the largest list; time is quadratic in it.

    Examples
    --------
    >>> import pandas as pd
    >>> from skfilterrank.ranking import list_embedding_features
    >>> X = pd.DataFrame({"qid": ["a", "a", "a", "b"]})
    >>> questions = [[1, 0], [1, 0], [1, 0], [0, 2]]  # in practice encoder.encode(X["question"])
    >>> answers = [[3, 4], [4, 3], [0, 1], [0, 1]]
    >>> features = list_embedding_features(questions, answers, X["qid"])
    >>> features.iloc[:, :4].round(2)
       cosine_question  cosine_rest  cosine_nearest  cosine_before
    0              0.6         0.98            0.96           0.00
    1              0.8         0.82            0.96           0.96
    2              0.0         0.71            0.80           0.60
    3              1.0         0.00            0.00           0.00
    >>> features["cosine_question_rank"].tolist()
    [0.5, 1.0, 0.0, 0.5]
    >>> X = X.join(features)  # 16 columns more for any ranker
    """
    questions = _check_vectors(question_vectors, "question_vectors")
    answers = _check_vectors(answer_vectors, "answer_vectors")
    if questions.shape != answers.shape:
        advice = "Repeat the vector of a question for each of its answers."
        if len(questions) == len(answers):
            advice = "Encode questions and answers by the same encoder."
        raise InputError(
            "question_vectors and answer_vectors must have one vector per row, of one number of "
            f"dimensions, got shapes {questions.shape} and {answers.shape}. {advice}"
        )
    names = ("question_vectors", "answer_vectors")
    index = check_groups(
        groups,
        question_vectors,
        answer_vectors,
        n_rows=len(answers),
        names=names,
        carrier="answer_vectors as a DataFrame",
    )
    columns = [f"cosine_{kind}" for kind in _KINDS]
    cosines = np.zeros((len(answers), len(columns)))
    all_rows = np.arange(len(answers))
    for block in index.blocks(max(1, _BLOCK_NUMBERS // max(1, answers.shape[1]))):
        rows = index.take(all_rows, block, 0)
        inside = np.arange(block.width) < block.sizes[:, None]
        found = _cosines(_unit(questions[rows]), _unit(answers[rows]), inside)
        for column, values in zip(cosines.T, found):
            index.put(column, block, values)
    cosines = np.rint(cosines / _STEP) * _STEP
    of_rows = next((each.index for each in (groups, answer_vectors) if hasattr(each, "iloc")), None)
    table = pd.DataFrame(cosines, of_rows, columns)
    lists = pd.DataFrame(cosines).groupby(index.codes())
    ranks = QueryScaler("rank").fit_transform(cosines, groups=index)
    above_mean = cosines - lists.transform("mean").to_numpy()
    below_max = lists.transform("max").to_numpy() - cosines
    for suffix, values in (("above_mean", above_mean), ("rank", ranks), ("below_max", below_max)):
        table[[f"{name}_{suffix}" for name in columns]] = values
    return table


def _check_vectors(vectors, name) -> np.ndarray:
    """Return vectors as a matrix of finite numbers."""
    count_rows(vectors, name)
    numbers = as_number_array(vectors, name)
    if numbers is None or numbers.ndim != 2:
        got = "other entries" if numbers is None else f"shape {numbers.shape}"
        raise InputError(f"{name} must hold a vector of numbers for each row (2-D), got {got}.")
    if not (finite := np.isfinite(numbers).all(axis=1)).all():
        raise InputError(
            f"{name} must hold finite numbers, got NaN or infinity in {np.sum(~finite)} rows, the "
            f"first at row {finite.argmin()}. Encode the text of these rows, or pass zeros for it."
        )
    return numbers


def _unit(vectors) -> np.ndarray:
    """Scale vectors to length 1, as float64; zero vectors stay zero."""
    # Divide by the largest number first: its square might overflow.
    largest = np.abs(vectors.astype(np.float64)).max(axis=-1, keepdims=True, initial=0)
    vectors = vectors / np.where(largest > 0, largest, 1.0)
    length = np.sqrt((vectors * vectors).sum(axis=-1, keepdims=True))
    return vectors / np.where(length > 0, length, 1.0)


def _cosines(questions, answers, inside):
    """Return the four cosines of padded lists of unit vectors, each of shape (n_lists, width)."""
    answers[~inside] = 0.0
    rest = answers.sum(axis=1, keepdims=True) - answers
    # Others that cancel each other leave rounding errors, which have no direction.
    rest[np.abs(rest).max(axis=-1, initial=0) < 1e-9] = 0.0
    before = np.zeros(inside.shape)
    before[:, 1:] = (answers[:, 1:] * answers[:, :-1]).sum(axis=-1)
    nearest = np.zeros(inside.shape)
    step = max(1, _BLOCK_NUMBERS // inside.size)
    for first in range(0, inside.shape[1], step):
        pairs = answers[:, first : first + step] @ answers.transpose(0, 2, 1)
        pairs[np.broadcast_to(~inside[:, None], pairs.shape)] = -np.inf
        places = np.arange(pairs.shape[1])
        pairs[:, places, first + places] = -np.inf
        nearest[:, first : first + step] = pairs.max(axis=-1)
    nearest[inside.sum(axis=1) == 1] = 0.0
    return (questions * answers).sum(axis=-1), (answers * _unit(rest)).sum(axis=-1), nearest, before

"""Cross-validation that trains on older queries and tests on newer ones."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from sklearn.model_selection import BaseCrossValidator

from skfilterrank._base.checks import as_column, check_count, check_share, count_rows, is_number
from skfilterrank._lists.queries import GroupIndex, check_groups, check_one_order, first_rows
from skfilterrank.exceptions import InputError, brief

# Name of the index level that holds times.
TIME = "time"
# pandas also reads other texts as dates, such as "now".
_YEAR_FIRST = r"\s*\d{4}"


def number_times(times, *, n_rows, **carriers) -> np.ndarray | None:
    """Number the time of each row among the distinct times, 0 for the oldest; None without times.

    Times are those given, or else an index level "time" of a carrier. Carriers are given by the
    names that the user knows them by.
    """
    if times is not None:
        check_one_order(**carriers, times=times)
    else:
        indexes = (getattr(each, "index", None) for each in carriers.values())
        times = next(
            (
                index.get_level_values(TIME)
                for index in indexes
                if isinstance(index, pd.Index) and TIME in index.names
            ),
            None,
        )
        if times is None:
            return None
    column = pd.Series(as_column(times, "times", "time"))
    if len(column) != n_rows:
        raise InputError(f"times has {len(column)} entries but there are {n_rows} rows.")
    if (missing := column.isna().to_numpy()).any():
        raise InputError(
            f"times is missing in row {int(np.argmax(missing))}: give the time of each row."
        )
    if isinstance(column.dtype, pd.CategoricalDtype) and not column.cat.ordered:
        column = column.astype(column.cat.categories.dtype)
    if pd.api.types.infer_dtype(column) == "string":
        column = _parse_dates(column)
    try:
        return pd.factorize(column, sort=True)[0].astype(np.intp)
    except TypeError as error:
        raise InputError(
            "times must be all numbers, all dates or all texts, so that they can be sorted."
        ) from error


def _parse_dates(column: pd.Series) -> pd.Series:
    """Return the times that texts say; other texts than ISO dates would sort in another order."""
    dates = pd.to_datetime(column, format="ISO8601", utc=True, errors="coerce")
    unread = dates.isna().to_numpy() | ~column.str.match(_YEAR_FIRST).to_numpy(dtype=bool)
    if unread.any():
        row = int(np.argmax(unread))
        raise InputError(
            f"times has the text {brief(column.iloc[row])} in row {row}, which is no date of the "
            "form 2024-05-31 or 2024-05-31T10:00. Texts in other forms do not sort by time: pass "
            "numbers, or dates made by pandas.to_datetime(times, format=...)."
        )
    return dates


class QueryTimeSeriesSplit(BaseCrossValidator):
    """A cross-validator that trains on older queries and tests on newer ones.

    It is scikit-learn's TimeSeriesSplit with queries in place of rows: all numbers count queries,
    and all rows of a query are on one side of a split. Use it as `cv` of searches and of
    :class:`RankAndFilter`.

    Parameters
    ----------
    n_splits : int, default=5
        Number of splits. With 1, the newest queries are held out once, as a certificate needs them.
    test_size : int, float or None, default=None
        Queries of each test set, or their share of all queries, between 0 and 1. None means
        ``n_queries // (n_splits + 1)``.
    gap : int, default=0
        Number of queries left out between training and test, for example if labels are delayed.
    times : array-like of shape (n_rows,), default=None
        Time of each row that is split: numbers, dates or texts of the form "2024-05-31" or
        "2024-05-31T10:00" (ISO 8601), in UTC where they name no time zone. None looks for an index
        level "time" on `y`, then on `X`.

    See Also
    --------
    RankAndFilter : Accepts it as `cv`.

    Notes
    -----
    Queries are ordered by time: the time of a query is the latest of its rows, and queries of one
    time stand in the order of their first rows. Without times, queries are ordered by their first
    rows, so that rows must come from the oldest to the newest.

    A search of scikit-learn fits a model on a part of the rows. If the model splits these again,
    put times into the index level: `times` here are those of all rows.

    The oldest queries are in no test set. RankAndFilter chooses its threshold on the queries of the
    test sets.

    Examples
    --------
    >>> import numpy as np
    >>> from skfilterrank.ranking import QueryTimeSeriesSplit
    >>> groups = np.array(["c", "c", "a", "b", "d", "d"])
    >>> times = np.array([2024, 2024, 2023, 2021, 2022, 2022])
    >>> split = QueryTimeSeriesSplit(n_splits=2, test_size=1, times=times)
    >>> for train, test in split.split(groups, groups=groups):
    ...     print(train, test)
    [3 4 5] [2]
    [2 3 4 5] [0 1]
    """

    __metadata_request__split = {"groups": True}  # noqa: RUF012

    def __init__(
        self,
        n_splits: int = 5,
        *,
        test_size: int | float | None = None,
        gap: int = 0,
        times=None,
    ):
        self.n_splits = n_splits
        self.test_size = test_size
        self.gap = gap
        self.times = times

    def split(self, X, y=None, groups=None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the row numbers of training and test of each split, the oldest test first.

        Parameters
        ----------
        X : array-like of length n_rows
            Rows. A DataFrame may carry query ids and times in index levels "qid" and "time".
        y : array-like of shape (n_rows,), default=None
            Labels, which are not used. A Series may carry query ids and times as `X`.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. None looks for an index level "qid" on `y`, then on `X`.

        Yields
        ------
        train, test : ndarray of shape (n_train,) and (n_test,), dtype int64
            Row numbers, ascending.

        Raises
        ------
        ValueError
            If a parameter is out of range, there are no query ids, times are missing, of
            different types or texts of another form, or there are too few queries.
        """
        n_splits = check_count(self.n_splits, "n_splits")
        gap = check_count(self.gap, "gap", 0)
        n_rows = count_rows(X)
        index = check_groups(groups, y, X, n_rows=n_rows, carrier="y as a Series")
        times = number_times(self.times, y=y, X=X, n_rows=n_rows)
        n_queries, n_test = index.n_queries, self._count_tested(index.n_queries)
        first = n_queries - n_splits * n_test
        if first <= gap:
            raise InputError(
                f"n_splits={n_splits} needs {gap + n_splits * n_test + 1} queries, got "
                f"{n_queries}: {n_splits} tests of {n_test}, a gap of {gap}, and 1 to train on. "
                "Lower n_splits, test_size or gap."
            )
        place = _places_by_time(index, times)[index.codes()]
        for start in range(first, n_queries, n_test):
            test = (place >= start) & (place < start + n_test)
            yield np.flatnonzero(place < start - gap), np.flatnonzero(test)

    def _count_tested(self, n_queries):
        """Count the queries of a test set."""
        if self.test_size is None:
            return max(1, n_queries // (self.n_splits + 1))
        if is_number(self.test_size) and 0 < self.test_size < 1:
            return max(1, round(check_share(self.test_size, "test_size") * n_queries))
        if is_number(self.test_size) and self.test_size >= 1 and self.test_size % 1 == 0:
            return int(self.test_size)
        raise InputError(
            "test_size must be None, a whole number from 1 up or a share between 0 and 1, got "
            f"{brief(self.test_size)}."
        )

    def get_n_splits(self, X=None, y=None, groups=None) -> int:
        """Return the number of splits.

        Parameters
        ----------
        X, y, groups : object, default=None
            Not used.

        Returns
        -------
        int
            `n_splits`.
        """
        return self.n_splits


def _places_by_time(index: GroupIndex, times: np.ndarray | None) -> np.ndarray:
    """Return the place of each query in the order from the oldest to the newest.

    Ties, and queries without times, have the order of their first rows.
    """
    codes = index.codes()
    latest = np.zeros(index.n_queries, dtype=np.intp)
    if times is not None:
        np.maximum.at(latest, codes, times)
    places = np.empty(index.n_queries, dtype=np.intp)
    places[np.lexsort((first_rows(codes), latest))] = np.arange(index.n_queries)
    return places

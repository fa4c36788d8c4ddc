"""The checks of a measure and of a ranker: called at once, or as test cases."""

import inspect
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd
from sklearn.base import clone

from skfilterrank._lists.checks import as_list, check_container, check_numbers, is_sparse
from skfilterrank._lists.lazy_names import import_optional
from skfilterrank._lists.measure import ParsedMeasure
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import DataWarning, InputError, brief, brief_list
from skfilterrank.metrics import get_measure
from skfilterrank.testing import _measure_checks, _ranker_checks
from skfilterrank.testing._measure_checks import LABELS, RandomRows

# Rows of four seeds have different cut-offs.
_N_SEEDS = 4
_MOST_LABEL = 100
# A failure of one of these fails many others, which would not name the cause.
_FIRST = _measure_checks.FIRST + _ranker_checks.FIRST


def check_measure(
    measure: str | Callable,
    *,
    labels: Sequence[float] = LABELS,
    expected_failed_checks: Mapping[str, str] | None = None,
) -> None:
    """Check that a measure keeps to what holds of all measures.

    Parameters
    ----------
    measure : str or callable
        A name of the measure table with options where wanted, such as "rbp(persistence=0.9)"; the
        function of a measure, such as what :func:`skfilterrank.metrics.register_measure` makes; or
        what :func:`skfilterrank.metrics.get_measure` returns. Without a cut-off of its own it is
        checked with several.
    labels : sequence of float, default=(-2, -1, 0, 1, 2.5, nan)
        Labels that rows have, NaN where unjudged. Give others for a measure that takes no labels
        below 0.
    expected_failed_checks : dict of str to str, default=None
        By the name of a check, why the measure does not keep to it.

    Raises
    ------
    AssertionError
        If checks fail: their names, what each is about, and what was found. Where one of the first
        three fails unexpectedly, those after it are left out. Also if an expected failure passes.
    ValueError
        If there is no such measure or check.

    See Also
    --------
    parametrize_with_checks : Each check as a test case of its own.
    check_ranker : The same for rankers.

    Notes
    -----
    The rows are random by fixed seeds: ragged queries in mixed order, with ties, filtered and
    unjudged rows. Each check is a sentence:

    {checks}

    Examples
    --------
    >>> import numpy as np
    >>> from skfilterrank.metrics import register_measure
    >>> from skfilterrank.testing import check_measure
    >>> @register_measure(
    ...     "good_in_sight", value_range=(0, 1), order_matters="with k", ties="worst"
    ... )
    ... def good_in_sight(block, k):
    ...     return np.any(block.ranked_relevant(k) > 0, axis=1)
    >>> check_measure(good_in_sight)
    """
    _run(_measure_cases(measure, labels), expected_failed_checks)


def check_ranker(
    ranker,
    *,
    data: tuple | None = None,
    expected_failed_checks: Mapping[str, str] | None = None,
) -> None:
    """Check that a ranker keeps to what holds of all rankers.

    Parameters
    ----------
    ranker : estimator
        A ranker that is not fitted, such as one of a class of your own with
        :class:`skfilterrank.ranking.RankerMixin`. It is cloned, and stays as it is. It must give
        the same scores whenever it is fitted on the same rows: set its `random_state`.
    data : (X, y, groups), default=None
        Rows to fit: features, an ndarray of shape (n_rows, n_features); labels without NaN, and
        query ids, ndarrays of shape (n_rows,). None takes 14 queries of 6 documents with 4
        features, labels -1 (forbidden), 1 and 2.
    expected_failed_checks : dict of str to str, default=None
        By the name of a check, why the ranker does not keep to it.

    Raises
    ------
    AssertionError
        If checks fail: their names, what each is about, and what was found. Where one of the first
        five fails unexpectedly, those after it are left out. Also if an expected failure passes.
    ValueError
        If `ranker` has no `fit` or cannot be cloned, or there is no such check.

    See Also
    --------
    parametrize_with_checks : Each check as a test case of its own.
    sklearn.utils.estimator_checks.check_estimator : What holds of all estimators.

    Notes
    -----
    Each check is a sentence:

    {checks}

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from skfilterrank.ranking import QueryRanker
    >>> from skfilterrank.testing import check_ranker
    >>> check_ranker(QueryRanker(Ridge()))
    """
    _run(_ranker_cases(ranker, data), expected_failed_checks)


def parametrize_with_checks(
    things: Iterable,
    *,
    labels: Sequence[float] = LABELS,
    data: tuple | None = None,
    expected_failed_checks: Callable | None = None,
) -> Callable:
    """Decorate a test function of pytest that is called with each check of measures or rankers.

    Parameters
    ----------
    things : list of measures and rankers
        As in :func:`check_measure` and :func:`check_ranker`; what has a `fit` is a ranker.
    labels : sequence of float, default=(-2, -1, 0, 1, 2.5, nan)
        As in :func:`check_measure`.
    data : (X, y, groups), default=None
        As in :func:`check_ranker`.
    expected_failed_checks : callable, default=None
        ``expected_failed_checks(thing)`` returns a dict of reasons by the names of checks, as in
        :func:`check_measure`. These are marked as strict expected failures.

    Returns
    -------
    callable
        Decorator of a function with the parameter `check`, which it calls without arguments.

    Raises
    ------
    ImportError
        If pytest is not installed.
    ValueError
        If there is no such measure or check, or nothing to check.

    Examples
    --------
    >>> from skfilterrank.testing import parametrize_with_checks
    >>> @parametrize_with_checks(["ndcg_f@10", "err(max_grade=4)"])
    ... def test_my_measures(check):
    ...     check()
    """
    pytest = import_optional("pytest", "parametrize_with_checks", "pytest")
    is_function = callable(expected_failed_checks) and not isinstance(expected_failed_checks, type)
    if not (expected_failed_checks is None or is_function):
        raise InputError(
            "expected_failed_checks must be a function of a measure or ranker, got "
            f"{brief(expected_failed_checks)}."
        )
    if isinstance(things, str | ParsedMeasure) or callable(things) or hasattr(things, "fit"):
        raise InputError(f"things must be a list of measures and rankers, got {brief(things)}.")
    cases = []
    for thing in as_list(things, "things", "measures or rankers"):
        is_ranker = hasattr(thing, "fit")
        checks = _ranker_cases(thing, data) if is_ranker else _measure_cases(thing, labels)
        reasons = {} if expected_failed_checks is None else expected_failed_checks(thing)
        _check_names(reasons, checks)
        # Test names with addresses would differ between processes.
        shown = re.sub(r" at 0x\w+|\s+", " ", repr(thing)) if is_ranker else get_measure(thing).text
        for name, check in checks.items():
            marks = (
                [pytest.mark.xfail(reason=reasons[name], strict=True)] if name in reasons else []
            )
            cases.append(pytest.param(check, id=f"{shown}-{name}", marks=marks))
    if not cases:
        raise InputError("things is empty: name at least one measure or ranker.")
    return pytest.mark.parametrize("check", cases)


def _measure_cases(measure, labels) -> dict[str, Callable[[], None]]:
    """Return each check of a measure by its name."""
    measure = get_measure(measure)
    labels = _checked_labels(labels)
    return {
        check.__name__: partial(
            _with_rows if check in _measure_checks.OF_ROWS else _quietly, check, measure, labels
        )
        for check in _measure_checks.CHECKS
    }


def _checked_labels(labels):
    """Return labels as floats, small enough for 2**label."""
    given = check_numbers(labels, "labels")
    if np.isnan(given).all() or (np.abs(given) > _MOST_LABEL).any():
        raise InputError(
            f"labels must be numbers from -{_MOST_LABEL} to {_MOST_LABEL}, and NaN where unjudged, "
            f"got {brief(labels)}."
        )
    if len(np.unique(given[~np.isnan(given)])) < 2:
        raise InputError(
            "labels must have two different numbers at least, or no order of documents is better "
            f"than another, got {brief(labels)}."
        )
    return tuple(given.tolist())


def _with_rows(check, measure: ParsedMeasure, labels):
    """Run a check with several random rows."""
    for seed in range(_N_SEEDS):
        try:
            _quietly(check, measure, RandomRows.random(seed, labels))
        except Exception as error:
            error.add_note(f"of {measure.text} with RandomRows.random({seed}, {labels})")
            raise


def _ranker_cases(ranker, data) -> dict[str, Callable[[], None]]:
    """Return each check of a ranker by its name."""
    for method, wanted in {"fit": "a fit", "get_params": "get_params, which clones it"}.items():
        if not callable(getattr(ranker, method, None)) or inspect.isclass(ranker):
            raise InputError(f"ranker must be an estimator with {wanted}, got {brief(ranker)}.")
    data = _default_data() if data is None else _checked_data(data)
    return {
        check.__name__: partial(_with_copies, check, ranker, data)
        for check in _ranker_checks.CHECKS
    }


def _with_copies(check, ranker, data):
    """Run a check with rows that a ranker may write to."""
    _quietly(check, clone(ranker), *(part.copy() for part in data))


def _checked_data(data):
    """Return features, labels and queries as arrays of one length."""
    if not isinstance(data, tuple | list) or len(data) != 3:
        raise InputError(f"data must be (X, y, groups), got {brief(data)}.")
    for name, values in zip(("X", "y", "groups"), data):
        check_container(values, name)
    if is_sparse(data[0]):
        raise InputError(
            "data must have a dense X, such as X.toarray(): the checks make sparse rows of it."
        )
    try:
        X, y, groups = map(np.asarray, data)
    except ValueError as error:
        raise InputError(f"data must be arrays X, y and groups: {error}") from error
    is_sound = (
        (X.ndim == 2 and X.shape[:1] == y.shape == groups.shape)
        and (X.dtype.kind in "biuf" and y.dtype.kind in "iuf" and np.isfinite(y).all())
        and (not pd.isna(groups).any() and len(pd.unique(groups)) > 1)
    )
    if not is_sound:
        raise InputError(
            "data must be numbers X of shape (n_rows, n_features), finite labels y and queries "
            "groups of shape (n_rows,), two of them at least and none missing, got "
            f"X of {X.dtype} {X.shape}, y of {y.dtype} {y.shape} and groups {brief(groups)}."
        )
    return X, y.astype(np.float64), groups


def _default_data():
    """Make rows that are all judged; gains -1 (forbidden), 1 and 2."""
    X, _, groups, _ = make_rank_and_filter(
        14, n_features=4, n_informative=3, documents_per_query=6, random_state=0
    )
    y = np.random.default_rng(0).permuted(np.repeat([-1.0, 1.0, 2.0], len(X) // 3))
    return X, y, groups


def _quietly(check, *arguments):
    """Run a check without the warnings that it causes on purpose."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*gains are below 0", DataWarning)
        warnings.filterwarnings(
            "ignore", ".*(rows|documents that a risk depends on) are unjudged", UserWarning
        )
        try:
            check(*arguments)
        except AssertionError:
            raise
        except Exception as error:
            raise AssertionError(
                f"{check.__name__} expects no error here, got {type(error).__name__}: {error}"
            ) from error


def _run(checks, expected_failed_checks):
    """Call all checks, and raise an error for those with an unexpected outcome."""
    reasons = {} if expected_failed_checks is None else expected_failed_checks
    _check_names(reasons, checks)
    wrong = []
    for name, check in checks.items():
        try:
            check()
        except Exception as error:
            if name not in reasons:
                said = "\n".join([str(error), *getattr(error, "__notes__", ())])
                about = f"{name}: {inspect.getdoc(check.args[0])}"
                wrong.append((f"{about}\n{type(error).__name__}: {said}", error))
                if check.args[0] in _FIRST:
                    break
        else:
            if name in reasons:
                wrong.append((f"{name} passes, though it is expected to fail", None))
    if wrong:
        texts, errors = zip(*wrong)
        raise AssertionError("\n\n".join(texts)) from errors[0]


def _check_names(reasons, checks):
    """Raise an error for names of unknown checks."""
    if not isinstance(reasons, Mapping):
        raise InputError(
            f"expected_failed_checks must be a dict of reasons by check, got {brief(reasons)}."
        )
    if unknown := [name for name in reasons if name not in checks]:
        raise InputError(
            f"expected_failed_checks has no check {brief_list(unknown)}: the checks are "
            f"{', '.join(checks)}."
        )


def _listing(function, checks):
    """Add the list of checks to the docstring of the function that runs them."""
    texts = "\n    ".join(f"* ``{check.__name__}``: {inspect.getdoc(check)}" for check in checks)
    function.__doc__ = (function.__doc__ or "").replace("{checks}", texts)


_listing(check_measure, _measure_checks.CHECKS)
_listing(check_ranker, _ranker_checks.CHECKS)

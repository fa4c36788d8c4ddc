"""Runners of the checks of measures and rankers: all checks in one call, or as test cases."""

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

# Number of random data sets; four consecutive seeds have different cut-offs.
_N_SEEDS = 4
_MOST_LABEL = 100
# If one of these checks fails, the later checks are not run: they would fail for the same reason.
_FIRST = _measure_checks.FIRST + _ranker_checks.FIRST


def check_measure(
    measure: str | Callable,
    *,
    labels: Sequence[float] = LABELS,
    expected_failed_checks: Mapping[str, str] | None = None,
) -> None:
    """Check that a measure has the properties that all measures must have.

    Parameters
    ----------
    measure : str or callable
        Name of a measure with optional options, such as "rbp(persistence=0.9)"; a function that
        :func:`skfilterrank.metrics.register_measure` returned; or a result of
        :func:`skfilterrank.metrics.get_measure`. A measure without a cut-off of its own is checked
        with several cut-offs.
    labels : sequence of float, default=(-2, -1, 0, 1, 2.5, nan)
        Labels in the test data; NaN means unjudged. Pass other labels for a measure that does not
        support labels below 0.
    expected_failed_checks : dict of str to str, default=None
        Names of checks that should fail, with the reasons.

    Raises
    ------
    AssertionError
        If checks fail. The message has their names, descriptions and failures. If one of the first
        three checks fails unexpectedly, later checks are not run. Also if a check passes that is
        expected to fail.
    ValueError
        If the measure or a check is unknown.

    See Also
    --------
    parametrize_with_checks : Run each check as a separate test case.
    check_ranker : Check a ranker.

    Notes
    -----
    The test data are random with fixed seeds: queries of different sizes with rows in mixed order,
    ties, and filtered and unjudged rows. These properties are checked:

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
    """Check that a ranker has the properties that all rankers must have.

    Parameters
    ----------
    ranker : estimator
        A ranker that is not fitted, such as your own class with
        :class:`skfilterrank.ranking.RankerMixin`. The checks use clones of it. It must give the
        same scores whenever it is fitted on the same rows, so set its `random_state`.
    data : (X, y, groups), default=None
        Rows to fit: features of shape (n_rows, n_features), labels without NaN and query ids of
        shape (n_rows,), all as ndarrays. None takes 14 queries of 6 documents with 4 features and
        labels -1 (forbidden), 1 and 2.
    expected_failed_checks : dict of str to str, default=None
        Names of checks that should fail, with the reasons.

    Raises
    ------
    AssertionError
        If checks fail. The message has their names, descriptions and failures. If one of the first
        five checks fails unexpectedly, later checks are not run. Also if a check passes that is
        expected to fail.
    ValueError
        If `ranker` has no `fit` or cannot be cloned, or if a check is unknown.

    See Also
    --------
    parametrize_with_checks : Run each check as a separate test case.
    sklearn.utils.estimator_checks.check_estimator : Check the properties of all estimators.

    Notes
    -----
    These properties are checked:

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
    """Parametrize a pytest function with all checks of measures and rankers.

    Parameters
    ----------
    things : list of measures and rankers
        Measures as in :func:`check_measure`, and rankers as in :func:`check_ranker`. An object with
        a method `fit` is a ranker.
    labels : sequence of float, default=(-2, -1, 0, 1, 2.5, nan)
        Labels for the checks of measures, as in :func:`check_measure`.
    data : (X, y, groups), default=None
        Data for the checks of rankers, as in :func:`check_ranker`.
    expected_failed_checks : callable, default=None
        Function that takes one of the `things`, and returns a dict of names of checks and reasons,
        as in :func:`check_measure`. These checks are marked as strict expected failures.

    Returns
    -------
    callable
        Decorator of a test function with the parameter `check`. The function must call ``check()``.

    Raises
    ------
    ImportError
        If pytest is not installed.
    ValueError
        If a measure or a check is unknown, or if `things` is empty.

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
            "expected_failed_checks must be a function that takes a measure or ranker, got "
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
        # Addresses are removed, because names of tests must be the same in all processes.
        shown = re.sub(r" at 0x\w+|\s+", " ", repr(thing)) if is_ranker else get_measure(thing).text
        for name, check in checks.items():
            marks = (
                [pytest.mark.xfail(reason=reasons[name], strict=True)] if name in reasons else []
            )
            cases.append(pytest.param(check, id=f"{shown}-{name}", marks=marks))
    if not cases:
        raise InputError("things must not be empty: pass at least one measure or ranker.")
    return pytest.mark.parametrize("check", cases)


def _measure_cases(measure, labels) -> dict[str, Callable[[], None]]:
    """Return the checks of a measure by name, as functions without arguments."""
    measure = get_measure(measure)
    labels = _checked_labels(labels)
    return {
        check.__name__: partial(
            _with_rows if check in _measure_checks.OF_ROWS else _quietly, check, measure, labels
        )
        for check in _measure_checks.CHECKS
    }


def _checked_labels(labels):
    """Return labels as floats; raise if they are too large for 2**label or all equal."""
    given = check_numbers(labels, "labels")
    if np.isnan(given).all() or (np.abs(given) > _MOST_LABEL).any():
        raise InputError(
            f"labels must be numbers from -{_MOST_LABEL} to {_MOST_LABEL}, or NaN for unjudged, "
            f"got {brief(labels)}."
        )
    if len(np.unique(given[~np.isnan(given)])) < 2:
        raise InputError(
            "labels must have at least two different numbers, because otherwise no order of "
            f"documents is better than another, got {brief(labels)}."
        )
    return tuple(given.tolist())


def _with_rows(check, measure: ParsedMeasure, labels):
    """Run a check of a measure with several random data sets."""
    for seed in range(_N_SEEDS):
        try:
            _quietly(check, measure, RandomRows.random(seed, labels))
        except Exception as error:
            error.add_note(f"for {measure.text} with RandomRows.random({seed}, {labels})")
            raise


def _ranker_cases(ranker, data) -> dict[str, Callable[[], None]]:
    """Return the checks of a ranker by name, as functions without arguments."""
    for method, wanted in {"fit": "a method fit", "get_params": "get_params"}.items():
        if not callable(getattr(ranker, method, None)) or inspect.isclass(ranker):
            raise InputError(f"ranker must be an estimator with {wanted}, got {brief(ranker)}.")
    data = _default_data() if data is None else _checked_data(data)
    return {
        check.__name__: partial(_with_copies, check, ranker, data)
        for check in _ranker_checks.CHECKS
    }


def _with_copies(check, ranker, data):
    """Run a check with copies of ranker and data, because a faulty ranker may change them."""
    _quietly(check, clone(ranker), *(part.copy() for part in data))


def _checked_data(data):
    """Return X, y and groups as arrays; raise if they are not valid training data."""
    if not isinstance(data, tuple | list) or len(data) != 3:
        raise InputError(f"data must be (X, y, groups), got {brief(data)}.")
    for name, values in zip(("X", "y", "groups"), data):
        check_container(values, name)
    if is_sparse(data[0]):
        raise InputError(
            "data must have a dense X, got a sparse X: pass X.toarray(). The checks convert it to "
            "sparse rows themselves."
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
            "data must be numbers X of shape (n_rows, n_features), and finite labels y and query "
            "ids groups of shape (n_rows,) with at least two queries and no missing id, got "
            f"X of {X.dtype} {X.shape}, y of {y.dtype} {y.shape} and groups {brief(groups)}."
        )
    return X, y.astype(np.float64), groups


def _default_data():
    """Make the default data of :func:`check_ranker`, without unjudged rows."""
    X, _, groups, _ = make_rank_and_filter(
        14, n_features=4, n_informative=3, documents_per_query=6, random_state=0
    )
    y = np.random.default_rng(0).permuted(np.repeat([-1.0, 1.0, 2.0], len(X) // 3))
    return X, y, groups


def _quietly(check, *arguments):
    """Run a check without the warnings that it causes on purpose.

    Errors other than AssertionError become AssertionErrors.
    """
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
    """Run all checks; raise an AssertionError that lists checks with an unexpected outcome."""
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
                wrong.append((f"{name} passes, but was expected to fail", None))
    if wrong:
        texts, errors = zip(*wrong)
        raise AssertionError("\n\n".join(texts)) from errors[0]


def _check_names(reasons, checks):
    """Raise an error if `reasons` is not a dict or names an unknown check."""
    if not isinstance(reasons, Mapping):
        raise InputError(
            "expected_failed_checks must be a dict of names of checks and reasons, got "
            f"{brief(reasons)}."
        )
    if unknown := [name for name in reasons if name not in checks]:
        raise InputError(
            f"expected_failed_checks must name checks among {', '.join(checks)}, got "
            f"{brief_list(unknown)}."
        )


def _listing(function, checks):
    """Add the list of checks to the docstring of the function that runs them."""
    texts = "\n    ".join(f"* ``{check.__name__}``: {inspect.getdoc(check)}" for check in checks)
    function.__doc__ = (function.__doc__ or "").replace("{checks}", texts)


_listing(check_measure, _measure_checks.CHECKS)
_listing(check_ranker, _ranker_checks.CHECKS)

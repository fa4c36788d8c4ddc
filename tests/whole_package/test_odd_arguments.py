"""Every public function, given odd arguments, returns a value or says what is wrong with them."""

import contextlib
import functools
import inspect
import io
import random
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import public_calls
from all_estimators import CASES, DATA, Data, by_day
from odd_values import ODD, HasArray
from skfilterrank.exceptions import InputError, SkfilterrankError
from thinned import is_nightly, thinned

pytestmark = pytest.mark.slow

FUNCTIONS = public_calls.public_functions()
IS_THOROUGH = is_nightly()
# What only says how much is done at once, and where files go, is not of the search.
LEFT_OUT = {"n_jobs", "verbose", "path"}
# Models that are handed the rows check them in their own words.
OF_MODELS = {("ranking.score_difference", "X")}
# What messages say for an argument that holds several things, or goes by another name inside.
OTHER_WORDS = {
    "runs": ("run",),
    "measures": ("measure",),
    "measure": ("measure",),
    "y_scores": ("y_score",),
    "systems": ("y_scores", "y_score", "run"),
    "k": ("cut-off",),
    "scores": ("values",),
    "first": ("values", "run"),
    "second": ("values", "run"),
    "docnos": ("docno",),
}


@functools.cache
def arguments():
    """The arguments of every public function that are made odd."""
    return {
        path: [
            parameter.name
            for parameter in inspect.signature(function).parameters.values()
            if parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
            and parameter.name not in LEFT_OUT
            and (path, parameter.name) not in OF_MODELS
        ]
        for path, function in FUNCTIONS.items()
    }


@pytest.fixture(autouse=True, scope="module")
def folder(tmp_path_factory):
    """Text that is taken for a path makes its file here."""
    with contextlib.chdir(tmp_path_factory.mktemp("odd")):
        yield


def call(path, odd):
    """Call a function; generators are read to their end."""
    with warnings.catch_warnings():
        # numpy advises against matrices.
        warnings.simplefilter("ignore")
        changes = {name: ODD[label]() for name, label in odd.items()}
    np.random.seed(0)
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        # What is odd may be warned of, by scikit-learn and numpy too.
        warnings.simplefilter("ignore")
        result = public_calls.call(path, **changes)
        return list(result) if inspect.isgenerator(result) else result


def check(path, odd):
    """A value, or an error of ours that names an argument; a file's name may not be there."""
    try:
        call(path, odd)
    except OSError as error:
        if error.filename is None:
            raise
    except SkfilterrankError as error:
        text = " ".join([str(error), *getattr(error, "__notes__", [])])
        # A text is taken for a path, wherever one is possible.
        known = {*inspect.signature(FUNCTIONS[path]).parameters, "is not a path"}
        for name in odd:
            known |= {name, *OTHER_WORDS.get(name, ())}
        assert any(word in text for word in known), text


def sample(words, values, n):
    """Some of the values, the same ones whatever else the library has."""
    return random.Random(" ".join(words)).sample(list(values), n)


@pytest.mark.parametrize("path", thinned(FUNCTIONS, parts=2))
def test_odd_arguments(path):
    """Every argument, with one odd value, or with each of them where the profile is thorough; then
    two at once. What to start from is valid, or tests/whole_package/test_results.py fails."""
    names = arguments()[path]
    for name in names:
        for label in ODD if IS_THOROUGH else sample([path, name], ODD, 1):
            check(path, {name: label})
    for turn in range((50 if IS_THOROUGH else 1) if len(names) > 1 else 0):
        both = sample([path, str(turn)], names, 2)
        check(path, {name: sample([path, name, str(turn)], ODD, 1)[0] for name in both})


@pytest.mark.parametrize(
    ("path", "name", "label"),
    [
        ("metrics.ndcg_f_score", "y_score", "None"),
        ("metrics.ndcg_f_score", "groups", "Arrow texts"),
        ("metrics.ndcg_f_score", "y_true", "huge in it"),
        ("comparison.score_predictions", "groups", "longdouble"),
        ("comparison.comparison_table", "comparisons", "dict"),
        ("io.align", "run", "generator"),
        ("io.align", "qrels", "polars texts"),
        ("judgments.complete_qrels", "qrels", "None"),
        ("metrics.unjudged_bounds", "y_score", "None"),
        ("metaevaluation.label_degradation", "qrels", "Arrow"),
        ("metaevaluation.label_degradation", "shares", "durations"),
        ("ranking.fuse_runs", "method", "generator"),
        ("ranking.score_difference", "document", "None"),
        ("comparison.SystemScores", "dropped_queries", "None"),
        ("metrics.ndcg_f_score", "groups", "halves of pairs"),
        ("metrics.evaluate_runs", "runs", "half of a pair"),
        ("io.Rows", "source", "NUL"),
        ("io.write_run", "name", "Series of names"),
        ("io.write_run", "docnos", "signalling NaNs"),
        ("metaevaluation.judging_curve", "mitigations", "dict of pd.NA"),
        ("judgments.draw_sample", "gains", "dict of lists"),
        ("ranking.fuse_runs", "runs", "Arrow table"),
    ],
)
def test_what_once_went_wrong(path, name, label):
    check(path, {name: label})


@pytest.mark.parametrize(
    "path",
    [
        path
        for path, function in FUNCTIONS.items()
        # Estimators look at it in fit.
        if "n_jobs" in inspect.signature(function).parameters and path != "ranking.make_ranker"
    ],
)
def test_odd_numbers_of_processes(path):
    labels = ("zero", "half", "True", "text", "pd.NA", "None in it", "Arrow", "dict")
    for label in thinned(labels, turn=list(FUNCTIONS).index(path), parts=4):
        with pytest.raises(SkfilterrankError, match="n_jobs must be None or a whole number"):
            call(path, {"n_jobs": label})


ESTIMATORS = {name: case for name, case in CASES.items() if hasattr(case.estimator, "fit")}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", thinned(by_day(ESTIMATORS), parts=2))
def test_odd_arguments_of_estimators(name):
    """Numbers of processes, names of columns and measures, and queries in any container."""
    case = ESTIMATORS[name]
    (X, *y), data = DATA[case.kind][0]
    names = {"n_jobs", "measure", "document", "query", "label", "query_text", "same", "pairs"}
    for parameter in sorted(names.intersection(case.estimator.get_params(deep=False))):
        for label in ("lists", "object", "pd.NA in it"):
            estimator = clone(case.estimator).set_params(**{parameter: ODD[label]()})
            # What the fit does not need is not looked at.
            with contextlib.suppress(SkfilterrankError):
                case.fit(estimator, Data((X, *y), data))
    if "groups" in data:
        queries = np.array(data["groups"]).astype(str).tolist()
        if not name.startswith("FilterOnly"):
            case.fit(clone(case.estimator), Data((X, *y), data | {"groups": HasArray(queries)}))
        days = np.datetime64("2026-01-01") + np.unique(queries, return_inverse=True)[1]
        case.fit(clone(case.estimator), Data((X, *y), data | {"groups": days}))
        halves = [f"\ud800{query}" for query in queries]
        for groups in (halves, np.array(halves), np.array(halves, dtype=object)):
            with contextlib.suppress(InputError):
                case.fit(clone(case.estimator), Data((X, *y), data | {"groups": groups}))


@pytest.mark.parametrize("name", ["y_true", "y_score", "groups", "ties", "gains", "k"])
def test_every_odd_value_for_the_arrays_of_a_measure(name):
    for label in ODD:
        check("metrics.ndcg_f_score", {name: label})


# Values in place of one number, text, truth value or None.
NO_SCALARS = {
    "Series": lambda: pd.Series([1, 2]),
    "complex": lambda: np.array([1j, 2]),
    "None": lambda: None,
}


def unless_ours(function, /, *arguments, **changes):
    """Call a function; only errors of ours, and of files that are not there, are allowed."""
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
        contextlib.suppress(SkfilterrankError, OSError),
    ):
        warnings.simplefilter("ignore")
        result = function(*arguments, **changes)
        if inspect.isgenerator(result):
            list(result)


def no_scalars(of, name, value):
    """The odd values for a parameter, one of them unless the profile is thorough."""
    if not isinstance(value, bool | int | float | str | None):
        return []
    return [NO_SCALARS[each]() for each in sample([of, name], NO_SCALARS, 3 if IS_THOROUGH else 1)]


@pytest.mark.nightly
@pytest.mark.parametrize("path", FUNCTIONS)
def test_no_scalars_in_functions(path):
    for name, parameter in inspect.signature(FUNCTIONS[path]).parameters.items():
        for odd in no_scalars(path, name, parameter.default):
            unless_ours(public_calls.call, path, **{name: odd})


@pytest.mark.parametrize("name", thinned(by_day(ESTIMATORS), turn=1, parts=2))
def test_no_scalars_in_estimators(name):
    case = ESTIMATORS[name]
    (X, *y), data = DATA[case.kind][0]
    for parameter, value in case.estimator.get_params(deep=False).items():
        for odd in no_scalars(name, parameter, value):
            changed = clone(case.estimator).set_params(**{parameter: odd})
            unless_ours(case.fit, changed, Data((X, *y), data))
    whole = np.full(np.shape(X) or len(X), 1j)
    for rows in (whole, whole.tolist(), pd.DataFrame({"a": whole.ravel()[: len(whole)]})):
        with contextlib.suppress(ValueError):  # scikit-learn's words
            unless_ours(case.fit, clone(case.estimator), Data((rows, *y), data))

"""What holds for every estimator of the package, whatever it learns."""

import functools
import inspect
import pickle
import sys
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import skfilterrank
from all_estimators import BASES, CASES, DATA, Answered, all_estimators, asked, by_day, quietly
from skfilterrank.exceptions import InputError, InputTypeError
from skfilterrank.judgments._selector import QuerySelector
from skfilterrank.ranking import RankAndFilter
from skfilterrank.thresholds import BaseThreshold, FixedThreshold, PerQueryThreshold
from thinned import is_nightly, thinned

PACKAGE = str(Path(skfilterrank.__file__).parent)
MECHANISM = str(Path(PACKAGE) / "_estimators" / "ranker_mixin.py")
# Stops at lines of the estimator's own methods, and at steps anywhere; and of how many of these
# lines one is looked at: a change of what was there before stays until the end.
N_OWN, N_ELSEWHERE, LOOK_EVERY = (8, 6, 1) if is_nightly() else (2, 1, 8)

every_case = pytest.mark.parametrize("name", by_day(CASES))


def test_no_estimator_is_forgotten():
    covered = {base for case in CASES.values() for base in type(case.estimator).__mro__}
    assert all_estimators() <= covered | BASES
    assert len(all_estimators()) >= 20


def fresh(estimator):
    """An unfitted copy."""
    if isinstance(estimator, BaseEstimator):
        return clone(estimator)
    return type(estimator)(**vars(estimator))


def state(estimator):
    """A number that tells any two states apart, whatever is in them."""
    return joblib.hash(estimator.__getstate__() or vars(estimator))


def assert_says(estimator, data, said):
    """The estimator says the same of the data, to the last bit."""
    for one, other in zip(quietly(asked, estimator, data), said, strict=True):
        np.testing.assert_array_equal(one, other)


class Steps:
    """Runs a call line by line through the package; stops at one of them, or remembers all.

    Lines of the owner's own methods are looked at when they first come.
    """

    def __init__(self, owner, stop=None, error=None, look=None):
        self.owner, self.stop, self.error, self.look = owner, stop, error, look
        self.n_steps, self.first_of_line = 0, {}

    def _enter(self, frame, event, arg):
        file = frame.f_code.co_filename
        return self._line if file.startswith(PACKAGE) and file != MECHANISM else None

    def _line(self, frame, event, arg):
        if event != "line":
            return self._line
        self.n_steps += 1
        if self.n_steps == self.stop:
            raise self.error("stopped")
        # The method works on a second object of the class.
        if self.stop is None and type(frame.f_locals.get("self")) is type(self.owner):
            place = frame.f_code.co_filename, frame.f_lineno
            if place not in self.first_of_line:
                self.first_of_line[place] = self.n_steps
                if self.look is not None and len(self.first_of_line) % LOOK_EVERY == 0:
                    self.look(place)
        return self._line

    def run(self, call, *args):
        before = sys.gettrace()
        sys.settrace(self._enter)
        try:
            quietly(call, *args)
        finally:
            sys.settrace(before)
        return self


def some(steps, n):
    """As many of the steps, evenly, with the first and the last."""
    return {steps[i] for i in np.linspace(0, len(steps) - 1, min(n, len(steps)), dtype=int)}


def steps_of(found: Steps) -> list[int]:
    """Some first steps of lines of the estimator's own methods, and some of all steps."""
    own = sorted(found.first_of_line.values())
    return sorted(some(own, N_OWN) | some(range(1, found.n_steps + 1), N_ELSEWHERE))


def steps_that_change_nothing(call, estimator, *args) -> list[int]:
    """Where to stop the call, through which the estimator's first attributes stay what they are.

    They are what a stop leaves, so that one run shows the lines of the estimator's own methods to
    be as good a place for it as any; and what other threads predict by while one fits.
    """
    kept = object.__new__(type(estimator))
    vars(kept).update(vars(estimator))
    before = state(kept)

    def look(place):
        assert state(kept) == before, f"changed before {place}"
        if place != "the end":
            assert vars(estimator) is attributes, f"assigned before {place}"

    attributes = vars(estimator)
    found = Steps(estimator, look=look).run(call, estimator, *args)
    look("the end")
    return steps_of(found)


def stopped(call, estimator, step, *args):
    """Stop the call at a step, by Ctrl-C or for want of memory."""
    error = (KeyboardInterrupt, MemoryError)[step % 2]
    with pytest.raises(error, match="stopped"):
        Steps(estimator, step, error).run(call, estimator, *args)


@functools.cache
def fitted(case):
    """The estimator fitted on the first data, for tests that leave it as it is."""
    return quietly(case.fit, fresh(case.estimator), DATA[case.kind][0])


def is_first_of_its_data(case):
    """Whether a case is stopped before it is fitted, too: by day the first of each kind of data."""
    return is_nightly() or case is next(each for each in CASES.values() if each.kind == case.kind)


@pytest.mark.slow
@pytest.mark.parametrize("name", thinned(by_day(CASES)))
def test_what_is_stopped_changes_nothing_and_a_second_fit_all(name):
    case = CASES[name]
    first, second = DATA[case.kind]
    # What is kept from the first fit on would make the next ones shorter.
    fitted(case)
    unfitted, looked_at = fresh(case.estimator), fresh(case.estimator)
    before = vars(unfitted).copy()
    if is_first_of_its_data(case):
        for step in steps_of(Steps(looked_at).run(case.fit, looked_at, first)):
            stopped(case.fit, unfitted, step, first)
            assert vars(unfitted) == before
    else:
        quietly(case.fit, looked_at, first)
    if isinstance(unfitted, BaseEstimator):
        with pytest.raises(NotFittedError):
            check_is_fitted(unfitted)

    estimator = quietly(case.fit, unfitted, first)
    before, said = state(estimator), quietly(asked, estimator, first)
    steps = steps_that_change_nothing(case.refit, looked_at, second)
    # Without a stop, the estimator is another afterwards.
    assert isinstance(estimator, FixedThreshold) or state(looked_at) != before
    for step in steps:
        stopped(case.refit, estimator, step, second)
        assert state(estimator) == before
    assert_says(estimator, first, said)

    # What was fitted twice knows nothing of the first time.
    if case.change is None:
        once = quietly(case.fit, fresh(case.estimator), second)
        assert set(vars(looked_at)) == set(vars(once))
        assert_says(looked_at, second, quietly(asked, once, second))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("RankAndFilter", {"threshold": PerQueryThreshold()}),
        ("RankAndFilter with PerQueryThreshold", {"threshold": "tune"}),
        ("RankAndFilter(threshold=0.5)", {"threshold": None}),
        ("OrdinalRanker", {"weights": "gain"}),
        ("StatAPSelector", {"pooled": 0.0}),
    ],
)
def test_parameters_that_learning_depends_on_wait_for_the_next_fit(name, params):
    case = CASES[name]
    data = DATA[case.kind][0]
    estimator = quietly(case.fit, fresh(case.estimator), data)
    said = quietly(asked, estimator, data)
    estimator.set_params(**params)
    assert_says(estimator, data, said)
    quietly(case.fit, estimator, data)
    once = quietly(case.fit, fresh(estimator), data)
    assert set(vars(estimator)) == set(vars(once))


@pytest.mark.slow
@every_case
def test_what_is_fitted_is_pickled_with_all_it_says(name):
    case = CASES[name]
    data, estimator = DATA[case.kind][0], fitted(case)
    again = pickle.loads(pickle.dumps(estimator))
    assert_says(again, data, quietly(asked, estimator, data))


def of_dask(data):
    """The same data with X in Dask's hands, but for data that are no rows of X."""
    dask_frames = pytest.importorskip("dask.dataframe", reason="dask is not installed")
    X, *rest = data.args
    X = X.reset_index() if isinstance(X, pd.DataFrame) and X.index.nlevels > 1 else X
    X = pd.DataFrame(X).rename(columns=str)
    return data._replace(args=(dask_frames.from_pandas(X, npartitions=2), *rest))


def of_polars(data):
    """The same data with X in a LazyFrame."""
    polars = pytest.importorskip("polars", reason="polars is not installed")
    X, *rest = data.args
    X = {f"f{place}": column for place, column in enumerate(np.array(X).T)}
    return data._replace(args=(polars.LazyFrame(X), *rest))


@pytest.mark.slow
@pytest.mark.parametrize("name", thinned(by_day(CASES), turn=1, parts=2))
@pytest.mark.parametrize("lazy", [of_dask, of_polars])
def test_lazy_rows_are_collected_nowhere_unasked(name, lazy):
    case = CASES[name]
    if case.kind in ("scores", "numbers"):
        pytest.skip("no rows of a table")
    data = DATA[case.kind][0]
    message = r"is a (Dask DataFrame|polars LazyFrame), .*pass \.(compute|collect)\(\)"
    with pytest.raises(InputTypeError, match=message):
        quietly(case.fit, fresh(case.estimator), lazy(data))
    if not isinstance(case.estimator, QuerySelector):
        with pytest.raises(InputTypeError, match=message):
            quietly(asked, fitted(case), lazy(data))


def test_answers_survive_what_cannot_be_judged():
    selector = Answered().fit(*DATA["runs"][0].args)
    answers = selector.answers_
    with pytest.raises(InputError, match="is not in the pool"):
        selector.update([3, 10**6], [1, 1])
    np.testing.assert_array_equal(selector.answers_, answers)
    assert np.count_nonzero(~np.isnan(answers)) == 4


def test_a_fit_goes_through_its_decorator_unseen():
    fit = RankAndFilter.fit
    assert list(inspect.signature(fit).parameters)[:4] == ["self", "X", "y", "groups"]
    assert fit.__doc__.startswith("Fit the estimator and find the threshold.")
    assert fit.__module__ == "skfilterrank.ranking._rank_and_filter"


RANKERS = {name: case for name, case in CASES.items() if case.kind == "rows"}
every_ranker = pytest.mark.parametrize("case", RANKERS.values(), ids=RANKERS)
PREDICTIONS = ("predict", "predict_proba", "predict_level_proba", "decision_function", "rank")


def predictions(estimator):
    """Yield the methods that give each row of X a value."""
    for name in PREDICTIONS:
        if hasattr(type(estimator), name) and hasattr(estimator, name):
            yield getattr(estimator, name)


@pytest.mark.slow
@every_ranker
def test_predictions_without_rows(case):
    data = DATA[case.kind][0]
    X, groups = data.args[0], data.kwargs["groups"]
    for method in predictions(fitted(case)):
        shape = (0, *method(X, groups=groups).shape[1:])
        assert method(X[:0]).shape == method(X[:0], groups=groups[:0]).shape == shape


@every_ranker
def test_predictions_before_fit(case):
    X = DATA[case.kind][0].args[0]
    for method in predictions(fresh(case.estimator)):
        with pytest.raises(NotFittedError):
            method(X)


@pytest.mark.slow
@every_ranker
def test_dates_are_no_features(case):
    if isinstance(case.estimator, BaseThreshold):
        return
    (X, y), params = DATA[case.kind][0].args, DATA[case.kind][0].kwargs
    estimator = fitted(case)
    if not isinstance(X, pd.DataFrame):
        X = pd.DataFrame(X).rename(columns=str)
        estimator = fresh(case.estimator)
        quietly(lambda: estimator.fit(X, y, **params))
    values = {"datetime64": pd.Timestamp("2024-02-29"), "timedelta64": pd.Timedelta("1D")}
    for kind, value in values.items():
        expected = rf"X has 1 column of dates or durations, such as '\w+' of dtype {kind}"
        with pytest.raises(InputError, match=expected):
            fresh(case.estimator).fit(X.assign(when=value), y, **params)
        with pytest.raises(InputError, match=expected):
            estimator.predict(X.assign(**{X.columns[0]: value}))


@pytest.mark.parametrize("name", ["QueryRanker", "AdaRankRanker"])
def test_dates_in_a_held_out_set(name):
    (X, y), params = DATA["rows"][0].args, DATA["rows"][0].kwargs
    held_out = {"eval_set": [(X.assign(a=pd.Timestamp("2024-02-29")), y)]}
    with pytest.raises(InputError, match=r"dates or durations, such as 'a' of dtype datetime64"):
        quietly(
            lambda: fresh(CASES[name].estimator).fit(
                X, y, **params, **held_out, eval_groups=[params["groups"]]
            )
        )

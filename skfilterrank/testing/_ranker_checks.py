"""Checks of the properties that every ranker must have.

The names of all checks begin with `check_`, and they run in the order of this file.
"""

import copy
import inspect
import pickle
import re
import warnings
from contextlib import contextmanager

import joblib
import numpy as np
import pandas as pd
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline

from skfilterrank._lists.sklearn_compat import tags_tell_sparse
from skfilterrank.exceptions import brief
from skfilterrank.metrics import ndcg_f_score

_COLUMNS = ("a", "b b", "c", "d")
# A ranker must reach at least this share of the difference between a random and the best order.
_LEAST_LEARNED = 0.5


def predicted(ranker, X, groups):
    """Predict the scores of rows; pass `groups` if `predict` has this parameter."""
    takes = "groups" in inspect.signature(ranker.predict).parameters
    return ranker.predict(X, **({"groups": groups} if takes else {}))


@contextmanager
def raises(kind, pattern, what, advice=""):
    """Raise an AssertionError if the block does not raise an error of this kind.

    Its message must match `pattern`. `what` describes the situation, and `advice` the remedy.
    """
    advice = advice and f": {advice}"
    try:
        yield
    except Exception as error:
        if not isinstance(error, kind) or not re.search(pattern, str(error)):
            raise AssertionError(
                f"{what}: expected {kind.__name__} with a message that matches {pattern!r}, got "
                f"{type(error).__name__}: {error}{advice}"
            ) from error
    else:
        raise AssertionError(f"{what} must raise {kind.__name__}, but raised nothing{advice}")


def _fitted(ranker, X, y, groups):
    """Fit a clone of the ranker and return it."""
    return clone(ranker).fit(X, y, groups=groups)


def _scores(ranker, X, y, groups):
    """Fit a clone of the ranker, and predict the scores of the training rows."""
    return predicted(_fitted(ranker, X, y, groups), X, groups)


def _assert_alike(scores, expected, *, share):
    """Raise an AssertionError if other rows are hidden, or if scores are too different.

    The allowed difference is `share` times the range of the expected scores.
    """
    finite = expected[np.isfinite(expected)]
    atol = share * np.ptp(finite) if len(finite) else 0.0
    np.testing.assert_allclose(scores, expected, rtol=0.0, atol=atol)


def check_signatures(ranker, X, y, groups):
    """`fit` and `score` take X, y and groups, `predict` takes X and groups; groups may be None."""
    for method, names in (("fit", "Xy"), ("predict", "X"), ("score", "Xy")):
        found = getattr(ranker, method, None)
        assert found is not None, (
            f"the ranker must have a method {method}; inherit from "
            "skfilterrank.ranking.RankerMixin, which has it or checks its arguments"
        )
        parameters = inspect.signature(found).parameters
        expected = [*names, "groups"]
        assert list(parameters)[: len(expected)] == expected, (
            f"{method} must take {', '.join(expected)}, but takes {', '.join(parameters)}"
        )
        assert parameters["groups"].default is None, f"groups of {method} must be None by default"


def check_fit(ranker, X, y, groups):
    """`fit` and `predict` accept valid data, and `fit` returns the ranker."""
    own = clone(ranker)
    returned = own.fit(X, y, groups=groups)
    assert returned is own, (
        f"fit must return the ranker, but returned {brief(returned)}: end it with `return self`"
    )
    predicted(own, X, groups)


def check_nothing_of_the_caller_is_changed(ranker, X, y, groups):
    """`fit` and `predict` change neither the data nor parameters such as an inner estimator."""
    ranker = copy.deepcopy(ranker)
    arrays, given = dict(zip(("X", "y", "groups"), (X, y, groups))), ranker.get_params()
    array_hashes, given_hashes = _hashes(arrays), _hashes(given)
    inner = getattr(ranker, "estimator", None)
    for method in ("fit", "predict"):
        if method == "fit":
            ranker.fit(**arrays)
        else:
            predicted(ranker, arrays["X"], arrays["groups"])
        written = [name for name, found in _hashes(arrays).items() if found != array_hashes[name]]
        assert not written, (
            f"{method} writes to {' and '.join(written)} of the caller: copy them first"
        )
        now = ranker.get_params()
        found = _hashes(now)
        changed = [name for name in given if found.get(name) != given_hashes[name]]
        values = ", ".join(
            f"{name} (from {brief(given[name])} to {brief(now.get(name))})" for name in changed
        )
        assert not changed, (
            f"{method} changes the parameters {values}: store learned values as other attributes, "
            f"such as {changed[0]}_"
        )
    assert getattr(ranker, "estimator", None) is inner, (
        "fit replaces the parameter estimator: fit a clone, and store it as estimator_"
    )


def _hashes(held):
    """Return the hash of each array or parameter, by its name."""
    return {name: joblib.hash(value) for name, value in held.items()}


def check_refitting(ranker, X, y, groups):
    """Fitting the same rows again, with a clone or the fitted ranker, gives the same scores."""
    first = _fitted(ranker, X, y, groups)
    scores = predicted(first, X, groups)
    again = {"predict is called a second time": lambda: first}
    again["a clone is fitted"] = lambda: _fitted(first, X, y, groups)
    # With warm_start, a second fit continues the first, so its scores may differ.
    if not ranker.get_params().get("warm_start"):
        again["it is fitted a second time"] = lambda: first.fit(X, y, groups=groups)
    for when, fitted in again.items():
        others = predicted(fitted(), X, groups)
        assert np.array_equal(others, scores, equal_nan=True), (
            f"the same rows have other scores when {when}, such as {others[others != scores][0]} "
            f"instead of {scores[others != scores][0]}: the ranker draws random numbers (set its "
            "random_state), or keeps something from call to call"
        )


def check_scores(ranker, X, y, groups):
    """`predict` returns a finite float64 for each row, or -inf for hidden rows."""
    scores = _scores(ranker, X, y, groups)
    assert isinstance(scores, np.ndarray), (
        f"predict must return an ndarray, got {type(scores).__name__}"
    )
    assert scores.shape == (len(y),), (
        f"predict must return one score for each of {len(y)} rows, got shape {scores.shape}"
    )
    assert scores.dtype == np.float64, f"predict must return float64, got {scores.dtype}"
    assert (np.isfinite(scores) | np.isneginf(scores)).all(), "predict must not return NaN or +inf"


def check_learning(ranker, X, y, groups):
    """`fit` learns which columns rise with the label and which fall, far better than chance."""
    rising = max(range(X.shape[1]), key=lambda column: len(np.unique(X[:, column])))
    by_label = np.argsort(y, kind="stable")
    sorted_X = np.empty_like(X)
    sorted_X[by_label] = np.sort(X, axis=0)[::-1]
    sorted_X[by_label, rising] = np.sort(X[:, rising])
    scores = predicted(clone(ranker).fit(sorted_X, y, groups=groups), sorted_X, groups)
    # Hidden rows come last, because this check is about the order and not about the filter.
    lowest = scores[np.isfinite(scores)].min(initial=0.0)
    scores = np.where(np.isfinite(scores), scores, lowest - 1)
    learned, chance, best = (
        ndcg_f_score(y, given, groups=groups)
        for given in (scores, np.zeros(len(y)), sorted_X[:, rising])
    )
    if learned < chance - 1e-9:
        what = "higher scores must be better, and fit must read the labels"
    elif learned <= chance + 1e-9:
        what = "scores do not distinguish the documents of a query"
    else:
        what = "fit learns too little"
    assert learned >= chance + _LEAST_LEARNED * (best - chance) - 1e-9, (
        "one column rises and all others fall with the label in the data, but the mean nDCG_f of "
        f"the ranker is only {learned:.3f} (random order {chance:.3f}, best order {best:.3f}): "
        f"{what}"
    )


def check_types_of_groups(ranker, X, y, groups):
    """Query ids may be numbers or texts, in an array, a list or an index level "qid"."""
    numbered = _scores(ranker, X, y, groups)
    # These texts sort in the same order as the numbers, so folds are the same.
    codes = np.unique(groups, return_inverse=True)[1]
    names = np.array([f"query {number:04d}" for number in codes])
    in_index = pd.Series(y, index=pd.Index(names, name="qid"))
    for fitted in (
        clone(ranker).fit(X, y, groups=names),
        clone(ranker).fit(X, y, groups=names.tolist()),
        clone(ranker).fit(X, in_index),
    ):
        np.testing.assert_array_equal(predicted(fitted, X, names), numbered)


def check_order_of_groups(ranker, X, y, groups):
    """Rows of a query need not be contiguous; rows of several queries may alternate."""
    place = pd.Series(groups).groupby(groups).cumcount().to_numpy()
    mixed = np.argsort(place, kind="stable")
    alternating = clone(ranker).fit(X[mixed], y[mixed], groups=groups[mixed])
    scores = _scores(ranker, X, y, groups)
    np.testing.assert_allclose(predicted(alternating, X, groups), scores, rtol=1e-6)
    np.testing.assert_allclose(
        predicted(alternating, X[mixed], groups[mixed]),
        scores[mixed],
        rtol=1e-6,
        err_msg="predict must give one score per row in the order of the rows, not query by query",
    )


def check_groups_by_routing(ranker, X, y, groups):
    """scikit-learn's metadata routing passes `groups` to `fit` and `score` by default."""
    for method in ("fit", "score"):
        asked = ranker.get_metadata_routing().consumes(method, ["groups"])
        assert asked == {"groups"}, f"{method} must request groups by default"
    with config_context(enable_metadata_routing=True):
        routed = make_pipeline("passthrough", clone(ranker)).fit(X, y, groups=groups)
    np.testing.assert_array_equal(predicted(routed[-1], X, groups), _scores(ranker, X, y, groups))


def check_lengths(ranker, X, y, groups):
    """Groups or labels of a wrong length are an error whose message has their number."""
    n = len(y)
    advice = (
        "call sklearn.utils.check_consistent_length(X, y, groups) first in fit, even if fit does "
        "not use the groups, because a wrong length is a sign of mixed-up rows"
    )
    with raises(ValueError, str(n - 1), "groups for all rows but one", advice):
        clone(ranker).fit(X, y, groups=groups[:-1])
    with raises(ValueError, str(n - 1), "labels for all rows but one", advice):
        clone(ranker).fit(X, y[1:], groups=groups)


def check_labels_that_are_no_numbers(ranker, X, y, groups):
    """Labels that are words are an error, because their gains are unknown."""
    with raises(ValueError, "", "labels that are words"):
        clone(ranker).fit(X, np.where(y > 0, "good", "bad"), groups=groups)


def _with_unjudged(y):
    y = y.copy()
    y[::5] = np.nan
    return y


def check_unjudged_rows_are_counted(ranker, X, y, groups):
    """The number of rows with a NaN label is in a warning and in `n_unjudged_`."""
    y = _with_unjudged(y)
    n_unjudged = int(np.isnan(y).sum())
    message = f"{n_unjudged} of {len(y)} rows are unjudged (NaN label)"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = clone(ranker).fit(X, y, groups=groups)
    said = [str(one.message) for one in caught]
    assert any(text.startswith(message) for text in said), (
        f"fit must warn that {message!r}, got the warnings {said}"
    )
    assert fitted.n_unjudged_ == n_unjudged, (
        f"n_unjudged_ must be {n_unjudged}, got {fitted.n_unjudged_}"
    )


def check_unjudged_rows_teach_nothing(ranker, X, y, groups):
    """Rows with a NaN label do not change the fitted ranker."""
    y = _with_unjudged(y)
    judged = ~np.isnan(y)
    fitted = clone(ranker).fit(X, y, groups=groups)
    alone = clone(ranker).fit(X[judged], y[judged], groups=groups[judged])
    np.testing.assert_array_equal(predicted(fitted, X, groups), predicted(alone, X, groups))


def check_no_judged_row(ranker, X, y, groups):
    """Fitting without any judged row is an error."""
    with raises(ValueError, r"judged", "labels that are all NaN"):
        clone(ranker).fit(X, np.full_like(y, np.nan), groups=groups)


def check_gains(ranker, X, y, groups):
    """If the ranker has a parameter `gains`, it maps labels, also words, to gains."""
    if "gains" not in ranker.get_params():
        return
    words = {label: f"label {label}" for label in np.unique(y)}
    gains = {word: label for label, word in words.items()}
    labels = np.array([words[label] for label in y])
    named = clone(ranker).set_params(gains=gains).fit(X, labels, groups=groups)
    np.testing.assert_array_equal(predicted(named, X, groups), _scores(ranker, X, y, groups))


def check_few_documents(ranker, X, y, groups):
    """A single query, and queries with one document, can be fitted, or an error says what to do."""
    for groups in (np.zeros(len(y), dtype=int), np.arange(len(y))):
        try:
            scores = predicted(clone(ranker).fit(X, y, groups=groups), X, groups)
        except ValueError as error:
            if not re.search("more queries|groups", str(error)):
                raise AssertionError(
                    f"the error must ask for more queries or other groups, got: {error}"
                ) from error
        else:
            assert scores.shape == y.shape
            assert (np.isfinite(scores) | np.isneginf(scores)).all()


def check_columns(ranker, X, y, groups):
    """`predict` with other names or numbers of columns than `fit` is an error."""
    names = [*_COLUMNS, *(f"x{i}" for i in range(len(_COLUMNS), X.shape[1]))][: X.shape[1]]
    frame = pd.DataFrame(X, columns=names)
    fitted = clone(ranker).fit(frame, y, groups=groups)
    assert fitted.n_features_in_ == X.shape[1], (
        f"n_features_in_ must be {X.shape[1]}, got {fitted.n_features_in_}"
    )
    known = list(getattr(fitted, "feature_names_in_", ()))
    # LightGBM replaces the blank in "b b" with "_".
    assert [name.replace("_", " ") for name in known] == names, (
        f"feature_names_in_ must be {names}, got {known}"
    )
    # The last digits may differ, because they depend on the memory layout of the numbers.
    np.testing.assert_allclose(predicted(fitted, frame, groups), _scores(ranker, X, y, groups))
    message = r"feature names should match|must have the columns"
    for other in (frame[names[::-1]], frame[names[:-1]], frame.assign(more=0.0)):
        with raises(ValueError, message, f"the columns {list(other)}"):
            predicted(fitted, other, groups)


def check_masked_features(ranker, X, y, groups):
    """Masked arrays are an error, because the mask would be ignored."""
    masked = np.ma.array(X, mask=np.arange(X.size).reshape(X.shape) % 7 == 0)
    with raises(ValueError, "masked array", "a masked array in fit"):
        clone(ranker).fit(masked, y, groups=groups)
    fitted = _fitted(ranker, X, y, groups)
    with raises(ValueError, "masked array", "a masked array in predict"):
        predicted(fitted, masked, groups)


def check_sparse_features(ranker, X, y, groups):
    """Sparse features give the same scores as dense features, or are an error, as the tags say."""
    rows = sparse.csr_matrix(X)
    if not ranker.__sklearn_tags__().input_tags.sparse:
        if not tags_tell_sparse():
            return
        with raises(TypeError, "dense data is required", "sparse features"):
            clone(ranker).fit(rows, y, groups=groups)
        return
    dense = _scores(ranker, X, y, groups)
    learned = predicted(clone(ranker).fit(rows, y, groups=groups), rows, groups)
    # Solvers for sparse and dense features may stop at slightly different solutions.
    _assert_alike(learned, dense, share=1e-3)


def check_read_only_arrays(ranker, X, y, groups):
    """Arrays may be read-only, also if some rows are unjudged."""
    arrays = [X.copy(), _with_unjudged(y), groups.copy()]
    expected = predicted(clone(ranker).fit(*arrays), X, groups)
    for array in arrays:
        array.flags.writeable = False
    fitted = clone(ranker).fit(*arrays)
    # Sums may differ in their last bits if the arrays have another alignment in memory.
    _assert_alike(predicted(fitted, arrays[0], arrays[2]), expected, share=1e-9)


def check_pickling(ranker, X, y, groups):
    """A fitted ranker predicts the same after pickling."""
    fitted = _fitted(ranker, X, y, groups)
    loaded = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(predicted(loaded, X, groups), predicted(fitted, X, groups))


def check_batches(ranker, X, y, groups):
    """The scores of a query do not depend on other queries in the same call of `predict`."""
    fitted = _fitted(ranker, X, y, groups)
    together = predicted(fitted, X, groups)
    for query in np.unique(groups)[:5]:
        mine = groups == query
        np.testing.assert_allclose(predicted(fitted, X[mine], groups[mine]), together[mine])


def check_score(ranker, X, y, groups):
    """`score` also reads query ids from an index level "qid", and raises if there are no ids."""
    fitted = _fitted(ranker, X, y, groups)
    value = fitted.score(X, y, groups=groups)
    assert np.isfinite(value), f"score must return a finite number, got {value}"
    assert fitted.score(X, pd.Series(y, index=pd.Index(groups, name="qid"))) == value
    if fitted.fitted_with_groups_:
        with raises(ValueError, "groups", "score without groups"):
            fitted.score(X, y)


def check_grid_search(ranker, X, y, groups):
    """GridSearchCV uses the ranker's `score`, with query ids in the index or by routing."""
    folds = GroupKFold(2)
    scores = [
        clone(ranker)
        .fit(X[train], y[train], groups=groups[train])
        .score(X[test], y[test], groups=groups[test])
        for train, test in folds.split(X, y, groups)
    ]
    by_qid = pd.Series(y, index=pd.Index(groups, name="qid"))
    for routing in (False, True):
        with config_context(enable_metadata_routing=routing):
            search = GridSearchCV(clone(ranker), {}, cv=folds, error_score="raise", refit=False)
            search.fit(X, y if routing else by_qid, groups=groups)
        np.testing.assert_allclose(search.best_score_, np.mean(scores))


CHECKS = [check for name, check in list(globals().items()) if name.startswith("check_")]
# If one of these checks fails, later checks are not run, because they would fail, too.
FIRST = CHECKS[:5]

"""Checks of rankers: queries, labels, columns, and objects of the caller.

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
# Share of the way from chance to the best order.
_LEAST_LEARNED = 0.5


def predicted(ranker, X, groups):
    """Predict the scores of rows, with their queries where `predict` takes them."""
    takes = "groups" in inspect.signature(ranker.predict).parameters
    return ranker.predict(X, **({"groups": groups} if takes else {}))


@contextmanager
def raises(kind, pattern, what, advice=""):
    """Raise an AssertionError unless an error of the kind, with such a message, comes up inside."""
    advice = advice and f": {advice}"
    try:
        yield
    except Exception as error:
        if not isinstance(error, kind) or not re.search(pattern, str(error)):
            raise AssertionError(
                f"{what}: expected {kind.__name__} with a message that says {pattern!r}, got "
                f"{type(error).__name__}: {error}{advice}"
            ) from error
    else:
        raise AssertionError(f"{what} must raise {kind.__name__}, and did not{advice}")


def _fitted(ranker, X, y, groups):
    """Fit a clone of the ranker."""
    return clone(ranker).fit(X, y, groups=groups)


def _scores(ranker, X, y, groups):
    """Fit a clone of the ranker, and predict the scores of its own rows."""
    return predicted(_fitted(ranker, X, y, groups), X, groups)


def _assert_alike(scores, expected, *, share):
    """Raise an error if other rows are hidden, or scores differ by a share of their range."""
    finite = expected[np.isfinite(expected)]
    atol = share * np.ptp(finite) if len(finite) else 0.0
    np.testing.assert_allclose(scores, expected, rtol=0.0, atol=atol)


def check_signatures(ranker, X, y, groups):
    """`fit`, `predict` and `score` take `groups`, after the data and None by default."""
    for method, names in (("fit", "Xy"), ("predict", "X"), ("score", "Xy")):
        found = getattr(ranker, method, None)
        assert found is not None, (
            f"there is no {method}: a class of your own inherits it, or what it is checked for, "
            "from skfilterrank.ranking.RankerMixin"
        )
        parameters = inspect.signature(found).parameters
        expected = [*names, "groups"]
        assert list(parameters)[: len(expected)] == expected, (
            f"{method} must take {', '.join(expected)}, it takes {', '.join(parameters)}"
        )
        assert parameters["groups"].default is None, f"groups of {method} must be None by default"


def check_fit(ranker, X, y, groups):
    """`fit` and `predict` take sound rows, and `fit` returns the ranker."""
    own = clone(ranker)
    returned = own.fit(X, y, groups=groups)
    assert returned is own, (
        f"fit returned {brief(returned)}, not the ranker: end it with `return self`"
    )
    predicted(own, X, groups)


def check_nothing_of_the_caller_is_changed(ranker, X, y, groups):
    """Neither the data nor the parameters, such as the estimator inside."""
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
            f"{method} writes to {' and '.join(written)}, which the caller still has: copy first"
        )
        now = ranker.get_params()
        found = _hashes(now)
        changed = [name for name in given if found.get(name) != given_hashes[name]]
        values = ", ".join(
            f"{name} (from {brief(given[name])} to {brief(now.get(name))})" for name in changed
        )
        assert not changed, (
            f"{method} changes the parameters {values}: keep what is learned under another name, "
            f"such as {changed[0]}_"
        )
    assert getattr(ranker, "estimator", None) is inner, (
        "fit replaces the parameter estimator: fit a clone, and keep it as estimator_"
    )


def _hashes(held):
    """Return a hash of each array or parameter."""
    return {name: joblib.hash(value) for name, value in held.items()}


def check_refitting(ranker, X, y, groups):
    """Rows that are fitted again give the same scores, from a clone and from the fitted ranker."""
    first = _fitted(ranker, X, y, groups)
    scores = predicted(first, X, groups)
    again = {"predict is called a second time": lambda: first}
    again["a clone is fitted"] = lambda: _fitted(first, X, y, groups)
    # A warm start continues from its earlier state.
    if not ranker.get_params().get("warm_start"):
        again["it is fitted a second time"] = lambda: first.fit(X, y, groups=groups)
    for when, fitted in again.items():
        others = predicted(fitted(), X, groups)
        assert np.array_equal(others, scores, equal_nan=True), (
            f"the same rows have other scores when {when}, such as {others[others != scores][0]} "
            f"for {scores[others != scores][0]}: random numbers are drawn (give the ranker a "
            "random_state), or something is kept from call to call"
        )


def check_scores(ranker, X, y, groups):
    """`predict` gives one float64 for each row, -inf where it filters, and no NaN."""
    scores = _scores(ranker, X, y, groups)
    assert isinstance(scores, np.ndarray), f"predict gives {type(scores).__name__}, no ndarray"
    assert scores.shape == (len(y),), f"predict gives shape {scores.shape} for {len(y)} rows"
    assert scores.dtype == np.float64, f"predict gives {scores.dtype}, not float64"
    assert (np.isfinite(scores) | np.isneginf(scores)).all(), "predict gives NaN or +inf"


def check_learning(ranker, X, y, groups):
    """`fit` learns which of the columns rise with the gain and which fall, far above chance."""
    rising = max(range(X.shape[1]), key=lambda column: len(np.unique(X[:, column])))
    by_label = np.argsort(y, kind="stable")
    sorted_X = np.empty_like(X)
    sorted_X[by_label] = np.sort(X, axis=0)[::-1]
    sorted_X[by_label, rising] = np.sort(X[:, rising])
    scores = predicted(clone(ranker).fit(sorted_X, y, groups=groups), sorted_X, groups)
    # Hidden rows come last: this check is about the order.
    lowest = scores[np.isfinite(scores)].min(initial=0.0)
    scores = np.where(np.isfinite(scores), scores, lowest - 1)
    learned, chance, best = (
        ndcg_f_score(y, given, groups=groups)
        for given in (scores, np.zeros(len(y)), sorted_X[:, rising])
    )
    if learned < chance - 1e-9:
        what = "higher scores must be better, and fit must read the labels"
    elif learned <= chance + 1e-9:
        what = "scores do not tell the documents of a query apart"
    else:
        what = "fit learns too little"
    assert learned >= chance + _LEAST_LEARNED * (best - chance) - 1e-9, (
        "of rows that every column separates, one as it rises and the others as they fall, the "
        f"mean nDCG_f is {learned:.3f}, chance {chance:.3f}, the best order {best:.3f}: {what}"
    )


def check_types_of_groups(ranker, X, y, groups):
    """Queries may be numbers or texts, in an array, a list or an index level "qid"."""
    numbered = _scores(ranker, X, y, groups)
    # Sorted as texts they come in the same order, so that folds are the same.
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
    """Queries need not be contiguous: rows of several may alternate."""
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
    """scikit-learn's metadata routing brings `groups` without being asked to."""
    for method in ("fit", "score"):
        asked = ranker.get_metadata_routing().consumes(method, ["groups"])
        assert asked == {"groups"}, f"{method} does not ask for groups"
    with config_context(enable_metadata_routing=True):
        routed = make_pipeline("passthrough", clone(ranker)).fit(X, y, groups=groups)
    np.testing.assert_array_equal(predicted(routed[-1], X, groups), _scores(ranker, X, y, groups))


def check_lengths(ranker, X, y, groups):
    """Groups or labels of another length are an error that tells how many there are."""
    n = len(y)
    advice = (
        "call sklearn.utils.check_consistent_length(X, y, groups) first in fit, even where nothing "
        "there reads the groups: rows may have got mixed up"
    )
    with raises(ValueError, str(n - 1), "groups for all rows but one", advice):
        clone(ranker).fit(X, y, groups=groups[:-1])
    with raises(ValueError, str(n - 1), "labels for all rows but one", advice):
        clone(ranker).fit(X, y[1:], groups=groups)


def check_labels_that_are_no_numbers(ranker, X, y, groups):
    """Labels that are words, of which nothing tells the gain, are an error."""
    with raises(ValueError, "", "labels that are words"):
        clone(ranker).fit(X, np.where(y > 0, "good", "bad"), groups=groups)


def _with_unjudged(y):
    y = y.copy()
    y[::5] = np.nan
    return y


def check_unjudged_rows_are_counted(ranker, X, y, groups):
    """Rows with a NaN label are counted in a warning and in `n_unjudged_`."""
    y = _with_unjudged(y)
    n_unjudged = int(np.isnan(y).sum())
    message = f"{n_unjudged} of {len(y)} rows are unjudged (NaN label)"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = clone(ranker).fit(X, y, groups=groups)
    said = [str(one.message) for one in caught]
    assert any(text.startswith(message) for text in said), f"no warning {message!r}, but {said}"
    assert fitted.n_unjudged_ == n_unjudged, f"n_unjudged_ is {fitted.n_unjudged_}"


def check_unjudged_rows_teach_nothing(ranker, X, y, groups):
    """Rows with a NaN label are as good as not there."""
    y = _with_unjudged(y)
    judged = ~np.isnan(y)
    fitted = clone(ranker).fit(X, y, groups=groups)
    alone = clone(ranker).fit(X[judged], y[judged], groups=groups[judged])
    np.testing.assert_array_equal(predicted(fitted, X, groups), predicted(alone, X, groups))


def check_no_judged_row(ranker, X, y, groups):
    """Without a judged row there is nothing to learn."""
    with raises(ValueError, r"judged", "labels that are all NaN"):
        clone(ranker).fit(X, np.full_like(y, np.nan), groups=groups)


def check_gains(ranker, X, y, groups):
    """`gains=` tells the gain of each label, which may be a word."""
    if "gains" not in ranker.get_params():
        return
    words = {label: f"label {label}" for label in np.unique(y)}
    gains = {word: label for label, word in words.items()}
    labels = np.array([words[label] for label in y])
    named = clone(ranker).set_params(gains=gains).fit(X, labels, groups=groups)
    np.testing.assert_array_equal(predicted(named, X, groups), _scores(ranker, X, y, groups))


def check_few_documents(ranker, X, y, groups):
    """One query, or queries of one document, are ranked, or an error says what to do."""
    for groups in (np.zeros(len(y), dtype=int), np.arange(len(y))):
        try:
            scores = predicted(clone(ranker).fit(X, y, groups=groups), X, groups)
        except ValueError as error:
            if not re.search("more queries|groups", str(error)):
                raise AssertionError(f"the error does not say what to do: {error}") from error
        else:
            assert scores.shape == y.shape
            assert (np.isfinite(scores) | np.isneginf(scores)).all()


def check_columns(ranker, X, y, groups):
    """Columns are remembered by name, and others are an error."""
    names = [*_COLUMNS, *(f"x{i}" for i in range(len(_COLUMNS), X.shape[1]))][: X.shape[1]]
    frame = pd.DataFrame(X, columns=names)
    fitted = clone(ranker).fit(frame, y, groups=groups)
    assert fitted.n_features_in_ == X.shape[1], f"n_features_in_ is {fitted.n_features_in_}"
    known = list(getattr(fitted, "feature_names_in_", ()))
    # LightGBM writes "b_b".
    assert [name.replace("_", " ") for name in known] == names, f"feature_names_in_ are {known}"
    # To the last digits, which depend on how the numbers lie in memory.
    np.testing.assert_allclose(predicted(fitted, frame, groups), _scores(ranker, X, y, groups))
    message = r"feature names should match|must have the columns"
    for other in (frame[names[::-1]], frame[names[:-1]], frame.assign(more=0.0)):
        with raises(ValueError, message, f"the columns {list(other)}"):
            predicted(fitted, other, groups)


def check_masked_features(ranker, X, y, groups):
    """Masked arrays are an error: nothing would look at the mask."""
    masked = np.ma.array(X, mask=np.arange(X.size).reshape(X.shape) % 7 == 0)
    with raises(ValueError, "masked array", "a masked array in fit"):
        clone(ranker).fit(masked, y, groups=groups)
    fitted = _fitted(ranker, X, y, groups)
    with raises(ValueError, "masked array", "a masked array in predict"):
        predicted(fitted, masked, groups)


def check_sparse_features(ranker, X, y, groups):
    """Sparse features are learned as dense ones are, or are an error, as the tags say."""
    rows = sparse.csr_matrix(X)
    if not ranker.__sklearn_tags__().input_tags.sparse:
        if not tags_tell_sparse():
            return
        with raises(TypeError, "dense data is required", "sparse features"):
            clone(ranker).fit(rows, y, groups=groups)
        return
    dense = _scores(ranker, X, y, groups)
    learned = predicted(clone(ranker).fit(rows, y, groups=groups), rows, groups)
    # Solvers for sparse features stop at other places than those for dense ones.
    _assert_alike(learned, dense, share=1e-3)


def check_read_only_arrays(ranker, X, y, groups):
    """Arrays may be read-only, and unjudged rows among them."""
    arrays = [X.copy(), _with_unjudged(y), groups.copy()]
    expected = predicted(clone(ranker).fit(*arrays), X, groups)
    for array in arrays:
        array.flags.writeable = False
    fitted = clone(ranker).fit(*arrays)
    # Sums over arrays that stand elsewhere in memory may differ in their last bits.
    _assert_alike(predicted(fitted, arrays[0], arrays[2]), expected, share=1e-9)


def check_pickling(ranker, X, y, groups):
    """A fitted ranker predicts the same after pickling."""
    fitted = _fitted(ranker, X, y, groups)
    loaded = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(predicted(loaded, X, groups), predicted(fitted, X, groups))


def check_batches(ranker, X, y, groups):
    """The scores of a query do not depend on what others are predicted with it."""
    fitted = _fitted(ranker, X, y, groups)
    together = predicted(fitted, X, groups)
    for query in np.unique(groups)[:5]:
        mine = groups == query
        np.testing.assert_allclose(predicted(fitted, X[mine], groups[mine]), together[mine])


def check_score(ranker, X, y, groups):
    """`score` finds queries in the index too, and does not guess where there are none."""
    fitted = _fitted(ranker, X, y, groups)
    value = fitted.score(X, y, groups=groups)
    assert np.isfinite(value), f"score is {value}"
    assert fitted.score(X, pd.Series(y, index=pd.Index(groups, name="qid"))) == value
    if fitted.fitted_with_groups_:
        with raises(ValueError, "groups", "score without groups"):
            fitted.score(X, y)


def check_grid_search(ranker, X, y, groups):
    """A search scores by the ranker's own measure, with queries in the index or routed."""
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
# Others mean nothing where these fail.
FIRST = CHECKS[:5]

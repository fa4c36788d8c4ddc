"""Checks of the properties that every ranker must have."""

import copy
import inspect
import re
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline

from skfilterrank.metrics import ndcg_f_score
from versions import OLD_SKLEARN

_COLUMNS = ("a", "b b", "c", "d")
# A ranker must reach at least this share of the difference between a random and the best order.
_LEAST_LEARNED = 0.5


def predicted(ranker, X, groups):
    """Predict the scores of rows; pass `groups` if `predict` has this parameter."""
    takes = "groups" in inspect.signature(ranker.predict).parameters
    return ranker.predict(X, **({"groups": groups} if takes else {}))


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
        parameters = inspect.signature(getattr(ranker, method)).parameters
        assert list(parameters)[: len(names) + 1] == [*names, "groups"]
        assert parameters["groups"].default is None


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
        assert not written, f"{method} writes to {written} of the caller"
        now = ranker.get_params()
        found = _hashes(now)
        changed = [name for name in given if found.get(name) != given_hashes[name]]
        assert not changed, f"{method} changes the parameters {changed}"
    assert getattr(ranker, "estimator", None) is inner, "fit replaces the parameter estimator"


def _hashes(held):
    """Return the hash of each array or parameter, by its name."""
    return {name: joblib.hash(value) for name, value in held.items()}


def check_scores(ranker, X, y, groups):
    """`predict` returns a finite float64 for each row, or -inf for hidden rows."""
    scores = _scores(ranker, X, y, groups)
    assert isinstance(scores, np.ndarray)
    assert (scores.shape, scores.dtype) == ((len(y),), np.float64)
    assert (np.isfinite(scores) | np.isneginf(scores)).all()


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
    assert learned >= chance + _LEAST_LEARNED * (best - chance) - 1e-9, (learned, chance, best)


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
        predicted(alternating, X[mixed], groups[mixed]), scores[mixed], rtol=1e-6
    )


def check_groups_by_routing(ranker, X, y, groups):
    """scikit-learn's metadata routing passes `groups` to `fit` and `score` by default."""
    for method in ("fit", "score"):
        asked = ranker.get_metadata_routing().consumes(method, ["groups"])
        assert asked == {"groups"}
    with config_context(enable_metadata_routing=True):
        routed = make_pipeline("passthrough", clone(ranker)).fit(X, y, groups=groups)
    np.testing.assert_array_equal(predicted(routed[-1], X, groups), _scores(ranker, X, y, groups))


def check_lengths(ranker, X, y, groups):
    """Groups or labels of a wrong length are an error whose message has their number."""
    n = len(y)
    with pytest.raises(ValueError, match=str(n - 1)):
        clone(ranker).fit(X, y, groups=groups[:-1])
    with pytest.raises(ValueError, match=str(n - 1)):
        clone(ranker).fit(X, y[1:], groups=groups)


def check_labels_that_are_no_numbers(ranker, X, y, groups):
    """Labels that are words are an error, because their gains are unknown."""
    with pytest.raises(ValueError, match=r"number|gains|float|label"):
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
    assert any(text.startswith(message) for text in said), said
    assert fitted.n_unjudged_ == n_unjudged


def check_unjudged_rows_teach_nothing(ranker, X, y, groups):
    """Rows with a NaN label do not change the scores that a ranker learns."""
    y = _with_unjudged(y)
    judged = ~np.isnan(y)
    fitted = clone(ranker).fit(X, y, groups=groups)
    alone = clone(ranker).fit(X[judged], y[judged], groups=groups[judged])
    scores = np.array([predicted(fitted, X, groups), predicted(alone, X, groups)])
    # Unjudged rows are documents of the lists on which a threshold is chosen.
    shown_by_both = np.isfinite(scores).all(axis=0)
    assert shown_by_both.any()
    np.testing.assert_array_equal(*scores[:, shown_by_both])


def check_no_judged_row(ranker, X, y, groups):
    """Fitting without any judged row is an error."""
    with pytest.raises(ValueError, match=r"judged"):
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
    """A single query, and queries with one document, can be fitted, or an error says what to do.

    A ranker that learns nothing from them says so.
    """
    for groups in (np.zeros(len(y), dtype=int), np.arange(len(y))):
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                scores = predicted(clone(ranker).fit(X, y, groups=groups), X, groups)
        except ValueError as error:
            if not re.search("more queries|groups", str(error)):
                raise
        else:
            assert scores.shape == y.shape
            assert (np.isfinite(scores) | np.isneginf(scores)).all()
            is_told = any("no query has two" in str(each.message) for each in caught)
            assert is_told or len(np.unique(scores)) > 1


def check_columns(ranker, X, y, groups):
    """`predict` with other names or numbers of columns than `fit` is an error."""
    names = [*_COLUMNS, *(f"x{i}" for i in range(len(_COLUMNS), X.shape[1]))][: X.shape[1]]
    frame = pd.DataFrame(X, columns=names)
    fitted = clone(ranker).fit(frame, y, groups=groups)
    assert fitted.n_features_in_ == X.shape[1]
    known = list(getattr(fitted, "feature_names_in_", ()))
    # LightGBM replaces the blank in "b b" with "_".
    assert [name.replace("_", " ") for name in known] == names
    # The last digits may differ, because they depend on the memory layout of the numbers.
    np.testing.assert_allclose(predicted(fitted, frame, groups), _scores(ranker, X, y, groups))
    message = r"feature names should match|must have the columns"
    for other in (frame[names[::-1]], frame[names[:-1]], frame.assign(more=0.0)):
        with pytest.raises(ValueError, match=message):
            predicted(fitted, other, groups)


def check_masked_features(ranker, X, y, groups):
    """Masked arrays are an error, because the mask would be ignored."""
    masked = np.ma.array(X, mask=np.arange(X.size).reshape(X.shape) % 7 == 0)
    with pytest.raises(ValueError, match="masked array"):
        clone(ranker).fit(masked, y, groups=groups)
    fitted = _fitted(ranker, X, y, groups)
    with pytest.raises(ValueError, match="masked array"):
        predicted(fitted, masked, groups)


def check_sparse_features(ranker, X, y, groups):
    """Sparse features give the same scores as dense features, or are an error, as the tags say."""
    rows = sparse.csr_matrix(X)
    if not ranker.__sklearn_tags__().input_tags.sparse:
        if OLD_SKLEARN:  # its tags do not tell
            return
        with pytest.raises(TypeError, match="dense data is required"):
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
    assert np.isfinite(value)
    assert fitted.score(X, pd.Series(y, index=pd.Index(groups, name="qid"))) == value
    if fitted.fitted_with_groups_:
        with pytest.raises(ValueError, match="groups"):
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

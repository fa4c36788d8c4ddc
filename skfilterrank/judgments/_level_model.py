"""Models of ordered labels from binary classifiers, fitted for each query, with calibration."""

import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.parallel import delayed

from skfilterrank._lists.content import by_content, hash_rows
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.exceptions import SkfilterrankWarning, brief
from skfilterrank.judgments._selector import query_by_query

NO_LABEL = "no judged document"
_N_FOLDS = 5
# Number of rows of the rarer class that the sigmoid needs.
_MIN_ROWS = 5
_NEAR_1 = 1.0 - 2.0**-40


class Vectors(NamedTuple):
    """Document vectors: a matrix, and the row of the matrix for each document.

    `is_empty` is True for texts without a known term, and `of_texts` if X holds texts.
    """

    matrix: Any
    numbers: np.ndarray
    is_empty: np.ndarray
    of_texts: bool

    def take(self, rows):
        """Return the vectors of some documents."""
        return self.matrix[self.numbers[rows]]

    def hashes(self) -> np.ndarray:
        """Hash the vector of each document."""
        return hash_rows(self.matrix)[self.numbers]


class LevelCalibration(NamedTuple):
    """Calibration: a margin m gives the probability ``expit(slope * m + intercept)``."""

    slope: float
    intercept: float


class LevelModel(NamedTuple):
    """Model of ordered labels: for each label but the highest, a classifier for higher labels.

    A model of one label has no classifier.
    """

    levels: np.ndarray
    classifiers: list

    def hard_levels(self, X) -> np.ndarray:
        """Return the number of each row's label: go up until a classifier says no."""
        above = np.ones((X.shape[0], len(self.classifiers)), dtype=bool)
        for step, classifier in enumerate(self.classifiers):
            above[:, step] = classifier.predict(X) == 1
        return np.logical_and.accumulate(above, axis=1).sum(axis=1)

    def chances(self, X, calibration) -> np.ndarray:
        """Compute each label's probability, (n_rows, n_levels); P(above) never rises."""
        above = np.ones((X.shape[0], len(self.levels) + 1))
        above[:, -1] = 0.0
        for step, classifier in enumerate(self.classifiers):
            margins = margins_of(classifier, X)
            if calibration is not None:
                margins = calibration.slope * margins + calibration.intercept
            above[:, step + 1] = expit(margins)
        return -np.diff(np.minimum.accumulate(above, axis=1), axis=1)


def fit_level_model(estimator, X, labels, seed) -> LevelModel:
    """Fit a clone of the classifier for each label but the highest."""
    levels = np.unique(labels)
    classifiers = [
        _seeded(estimator, seed).fit(X, (labels > level).astype(int)) for level in levels[:-1]
    ]
    if sparse.issparse(X):
        for classifier in classifiers:
            # A query's documents contain few of a million terms; weights of other terms are 0.
            if hasattr(classifier, "sparsify"):
                classifier.sparsify()
    return LevelModel(levels, classifiers)


def held_out_margins(estimator, X, labels, seed) -> tuple[np.ndarray, np.ndarray]:
    """Return out-of-fold margins, and a mask of the rows above the label."""
    margins, above = [np.empty(0)], [np.empty(0, dtype=bool)]
    for level in np.unique(labels)[:-1]:
        is_above = (labels > level).astype(int)
        n_splits = min(_N_FOLDS, np.bincount(is_above).min())
        if n_splits < 2:
            continue
        for train, test in StratifiedKFold(n_splits).split(X, is_above):
            classifier = _seeded(estimator, seed).fit(X[train], is_above[train])
            margins.append(margins_of(classifier, X[test]))
            above.append(is_above[test] == 1)
    return np.concatenate(margins), np.concatenate(above)


def fit_calibration(margins, above) -> LevelCalibration | None:
    """Fit Platt's sigmoid with his smoothed targets; None if too few rows were held out."""
    n_above = np.count_nonzero(above)
    n_below = len(above) - n_above
    if min(n_above, n_below) < _MIN_ROWS:
        return None
    target = np.where(above, (n_above + 1) / (n_above + 2), 1 / (n_below + 2))
    # A row with target t becomes a positive row of weight t and a negative one of weight 1 - t.
    X = np.concatenate([margins, margins])[:, None]
    model = LogisticRegression(C=np.inf).fit(
        X, np.repeat([1, 0], len(margins)), sample_weight=np.concatenate([target, 1 - target])
    )
    slope = float(model.coef_[0, 0])
    if slope <= 0:
        # If margins contradict the labels, the sigmoid is constant: the share of positive rows.
        return LevelCalibration(0.0, float(logit(target.mean())))
    return LevelCalibration(slope, float(model.intercept_[0]))


def margins_of(classifier, X) -> np.ndarray:
    """Return margins of rows: log odds of the upper class, or the decision function."""
    if hasattr(classifier, "predict_proba"):
        chances = np.asarray(classifier.predict_proba(X), dtype=np.float64)[:, 1]
        return logit(np.clip(chances, 1.0 - _NEAR_1, _NEAR_1))
    return np.asarray(classifier.decision_function(X), dtype=np.float64)


def _seeded(estimator, seed):
    """Clone an estimator and set all its random states to the seed; None keeps them."""
    estimator = clone(estimator)
    if seed is not None:
        names = [name for name in estimator.get_params() if name.split("__")[-1] == "random_state"]
        estimator.set_params(**dict.fromkeys(names, int(seed)))
    return estimator


def fit_queries(estimator, vectors: Vectors, index: GroupIndex, labels, seeds, *, calibrate, owner):
    """Fit a model for each query with judged documents (else None), and a calibration.

    `owner` has parameters `n_jobs` and `verbose`.
    """
    queries = [rows[~np.isnan(labels[rows])] for rows in index.rows_by_query()]
    judged = [position for position, rows in enumerate(queries) if len(rows)]
    jobs = (
        delayed(_fit_query)(
            estimator,
            vectors.take(queries[position]),
            labels[queries[position]],
            seeds[position],
            calibrate,
            index.query_ids[position],
        )
        for position in judged
    )
    fitted = query_by_query(jobs, owner, len(judged), "auto")
    models, held_out = [None] * len(queries), []
    for position, (model, margins, above) in zip(judged, fitted):
        models[position] = model
        held_out.append((margins, above))
    calibration = None
    if calibrate:
        margins, above = map(np.concatenate, zip(*held_out))
        calibration = fit_calibration(margins, above)
    return models, calibration


def predict_queries(models, calibration, vectors: Vectors, index: GroupIndex, wanted, *, soft):
    """Predict labels and their probabilities for a mask of rows; NaN if the model is None.

    The confidence of a copied label is NaN, too.
    """
    labels = np.full(index.n_rows, np.nan)
    confidence = np.full(index.n_rows, np.nan)
    for model, rows in zip(models, index.rows_by_query()):
        rows = rows[wanted[rows]]
        if model is None or not len(rows):
            continue
        if len(model.levels) == 1:
            labels[rows] = model.levels[0]
            continue
        X = vectors.take(rows)
        chances = model.chances(X, calibration)
        if soft:
            labels[rows] = chances @ model.levels
            confidence[rows] = chances.max(axis=1)
        else:
            likeliest = model.hard_levels(X)
            labels[rows] = model.levels[likeliest]
            confidence[rows] = chances[np.arange(len(rows)), likeliest]
    return labels, confidence


def stand_ins(queries, models, pool, *, one_class, unjudged_query):
    """Return the model used for each query, and the reason if it is not the query's own.

    `pool` makes the model of all queries, and is called only if it is needed.
    """
    answering, reasons, pooled = {}, {}, None
    if unjudged_query == "pool":
        pooled = pool()
    for query, model in zip(queries, models):
        if model is None:
            reasons[query] = NO_LABEL
            model = pooled if unjudged_query == "pool" else None
        elif len(model.levels) == 1:
            reasons[query] = f"judged labels all {model.levels[0]:g}"
            if one_class == "pool":
                model = pooled = pool() if pooled is None else pooled
            elif one_class == "leave":
                model = None
        answering[query] = model
    return answering, reasons, pooled


def _fit_query(estimator, X, labels, seed, calibrate, query) -> tuple[LevelModel, object, object]:
    """Fit the model of one query; return also out-of-fold margins."""
    try:
        model = fit_level_model(estimator, X, labels, seed)
        margins, above = np.empty(0), np.empty(0, dtype=bool)
        if calibrate:
            margins, above = held_out_margins(estimator, X, labels, seed)
    except Exception as error:
        error.add_note(f"(in query {brief(query)}, from {len(labels)} judged documents)")
        raise
    return model, margins, above


def held_out_labels(predictor, vectors, index: GroupIndex, labels, folds) -> np.ndarray:
    """Predict each row from the labels of other folds; NaN for fold -1 and if impossible."""
    predicted = np.full(len(folds), np.nan)
    with warnings.catch_warnings():
        # Queries with at most one label left, and texts without a term, get no prediction.
        warnings.simplefilter("ignore", SkfilterrankWarning)
        for fold in np.unique(folds[folds >= 0]):
            held_out = folds == fold
            rest = np.where(held_out, np.nan, labels)
            if np.isnan(rest).all():
                continue
            found = clone(predictor).fit_vectors(vectors, index, rest)
            predicted[held_out] = found[held_out]
    return predicted


def dealt_folds(index: GroupIndex, vectors: Vectors, labels, random_state) -> np.ndarray:
    """Assign judged rows to folds, stratified by label within queries; other rows get -1."""
    folds = np.full(len(labels), -1)
    hashes = vectors.hashes()
    numbered, _ = by_content(index, hashes, labels)
    order = np.lexsort((labels, hashes, numbered.codes()))
    for rows in np.split(order, np.cumsum(numbered.sizes)[:-1]):
        rows = rows[~np.isnan(labels[rows])]
        n_dealt = 0
        for label in np.unique(labels[rows]):
            same = random_state.permutation(rows[labels[rows] == label])
            folds[same] = (n_dealt + np.arange(len(same))) % _N_FOLDS
            n_dealt += len(same)
    return folds

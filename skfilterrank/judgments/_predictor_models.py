"""Models of labels, of each query or of all pairs, and label sets drawn by the latter."""

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.utils.parallel import Parallel, delayed

from skfilterrank._base.checks import check_count, check_random_state, count_rows
from skfilterrank._base.probabilities import (
    chances_of_levels,
    fit_calibrator,
    levels_above,
    probabilities,
)
from skfilterrank._base.sklearn_compat import limit_threads
from skfilterrank._base.words import in_parallel, progress_bar
from skfilterrank._lists.content import hash_rows, keys_of_queries
from skfilterrank._lists.queries import GroupIndex, check_groups
from skfilterrank.exceptions import InputError, brief
from skfilterrank.judgments._document_vectors import Vectors, make_vectors, usual_vectorizer
from skfilterrank.judgments._pair_features import PairFeatures
from skfilterrank.judgments._selector import query_by_query

_N_FOLDS = 5
# Number of held-out rows, above a label and not above it, that a sigmoid needs.
_MIN_ROWS = 5
# Standard deviation of the noise of each run's coefficient beyond the judged depth. 95 % intervals
# of differences after pooling hold in 92 % (AP) and 94 % (nDCG@10) of cases, without it 82 and 88.
_TAIL = 0.45


class LevelModel(NamedTuple):
    """Model of ordered labels: for each label but the highest, a classifier for higher labels.

    A model of one label has no classifier.
    """

    levels: np.ndarray
    classifiers: list

    def labels(self, X) -> np.ndarray:
        """Return the label of each row: go up until a classifier says no."""
        above = np.ones((X.shape[0], len(self.classifiers)), dtype=bool)
        for step, classifier in enumerate(self.classifiers):
            above[:, step] = classifier.predict(X) == 1
        return self.levels[np.logical_and.accumulate(above, axis=1).sum(axis=1)]

    def chances(self, X, curve) -> np.ndarray:
        """Compute each label's chance, (n_rows, n_levels); P(above) never rises."""
        above = np.empty((len(self.classifiers), X.shape[0]))
        for step, classifier in enumerate(self.classifiers):
            if curve is None:
                above[step] = classifier.predict_proba(X)[:, 1]
            else:
                above[step] = curve(classifier.decision_function(X))
        return chances_of_levels(above).T


class QueryModels(NamedTuple):
    """Models of queries; None for a query whose unjudged rows stay unjudged.

    `curve` turns margins into chances; None if the classifiers give chances themselves.
    """

    vectorizer: Any
    models: dict
    curve: Callable | None

    def vectors(self, documents, index: GroupIndex) -> Vectors:
        """Return the vectors of new documents."""
        return make_vectors(self.vectorizer, documents)

    def labels(self, vectors: Vectors, index: GroupIndex) -> np.ndarray:
        """Predict labels, NaN for queries without a model."""
        found = np.full(index.n_rows, np.nan)
        for model, rows in self._parts(index):
            found[rows] = model.labels(vectors.take(rows))
        return found

    def chances(self, vectors: Vectors, index: GroupIndex, classes) -> np.ndarray:
        """Compute the chance of each of some labels, NaN for queries without a model."""
        found = np.full((index.n_rows, len(classes)), np.nan)
        for model, rows in self._parts(index):
            found[rows] = 0.0
            columns = np.searchsorted(classes, model.levels)
            found[np.ix_(rows, columns)] = model.chances(vectors.take(rows), self.curve)
        return found

    def _parts(self, index):
        for query, rows in zip(index.query_ids.tolist(), index.rows_by_query()):
            if self.models.get(query) is not None:
                yield self.models[query], rows

    @property
    def is_raw(self) -> bool:
        """True if chances are not calibrated, because too few rows could be held out."""
        return self.curve is expit


def fit_queries(predictor, estimator, documents, index: GroupIndex, labels):
    """Fit a model for each query with judged documents; return them and the vectors."""
    if predictor.vectorizer is None:
        vectorizer = usual_vectorizer(documents)
    else:
        vectorizer = clone(predictor.vectorizer)
    vectors = make_vectors(vectorizer, documents, fits=True)
    judged = {}
    for query, rows in zip(index.query_ids.tolist(), index.rows_by_query()):
        if len(rows := rows[~np.isnan(labels[rows])]):
            judged[query] = rows
    jobs = (
        delayed(_fit_query)(estimator, vectors.take(rows), labels[rows], query)
        for query, rows in judged.items()
    )
    models, margins = zip(*query_by_query(jobs, predictor, len(judged), "auto"))
    copies = predictor.one_class == "copy"
    found = {
        query: model if model.classifiers or copies else None
        for query, model in zip(judged, models)
    }
    margins, above = np.concatenate(margins, axis=1)
    curve: Callable | None = expit
    if hasattr(estimator, "predict_proba"):
        curve = None
    elif min(np.count_nonzero(above), np.count_nonzero(1 - above)) >= _MIN_ROWS:
        curve = partial(probabilities, fit_calibrator("sigmoid", margins, above > 0))
    return QueryModels(vectorizer, found, curve), vectors


def _fit_query(estimator, X, labels, query) -> tuple[LevelModel, np.ndarray]:
    """Fit the model of one query; return it with held-out margins and their targets."""
    levels, is_above = levels_above(labels)
    classifiers, held_out = [], [np.empty((2, 0))]
    try:
        for above in (each.astype(int) for each in is_above):
            classifiers.append(clone(estimator).fit(X, above))
            n_folds = min(_N_FOLDS, np.bincount(above).min())
            if n_folds > 1 and not hasattr(estimator, "predict_proba"):
                # Folds do not depend on the order of rows.
                rows = np.lexsort((hash_rows(X), above))
                margins = cross_val_predict(
                    estimator,
                    X[rows],
                    above[rows],
                    cv=StratifiedKFold(n_folds),
                    method="decision_function",
                )
                held_out.append(np.stack([margins, above[rows]]))
    except Exception as error:
        error.add_note(f"(in query {brief(query)}, from {len(labels)} judged documents)")
        raise
    for classifier in classifiers if sparse.issparse(X) else []:
        # A query's documents contain few of a million terms; weights of other terms are 0.
        if hasattr(classifier, "sparsify"):
            classifier.sparsify()
    return LevelModel(levels, classifiers), np.concatenate(held_out, axis=1)


class PairModel(NamedTuple):
    """Model of all pairs of query and document; `classifier` is None if all labels are equal."""

    vectorizer: Any
    classifier: Any
    classes: np.ndarray

    @property
    def is_raw(self) -> bool:
        """False, because the classifier gives chances itself."""
        return False

    def vectors(self, documents, index: GroupIndex) -> Vectors:
        """Return the columns of new pairs."""
        groups = _groups_for(self.vectorizer.transform, index)
        return _as_vectors(self.vectorizer.transform(documents, **groups))

    def labels(self, vectors: Vectors, index: GroupIndex) -> np.ndarray:
        """Return the likeliest label of each row."""
        return self.classes[self.chances(vectors, index, self.classes).argmax(axis=1)]

    def chances(self, vectors: Vectors, index: GroupIndex, classes) -> np.ndarray:
        """Compute the chance of each label."""
        if self.classifier is None:
            return np.ones((index.n_rows, 1))
        return self.classifier.predict_proba(vectors.take(slice(None)))


def fit_pairs(predictor, estimator, documents, index: GroupIndex, labels):
    """Fit one classifier of all judged pairs; return it and the columns."""
    vectorizer = PairFeatures() if predictor.vectorizer is None else clone(predictor.vectorizer)
    groups = _groups_for(vectorizer.fit_transform, index)
    columns = _as_vectors(vectorizer.fit_transform(documents, labels, **groups)).matrix
    judged = ~np.isnan(labels)
    classes, codes = np.unique(labels[judged], return_inverse=True)
    classifier = clone(estimator).fit(columns[judged], codes) if len(classes) > 1 else None
    return PairModel(vectorizer, classifier, classes), _as_vectors(columns)


def _as_vectors(columns) -> Vectors:
    """Return columns as vectors of rows; a sparse matrix in CSR form."""
    matrix = columns.tocsr() if sparse.issparse(columns) else np.asarray(columns)
    return Vectors(matrix, np.arange(matrix.shape[0]))


def _groups_for(method, index):
    takes = "groups" in inspect.signature(method).parameters
    return {"groups": index.row_ids()} if takes else {}


def usual_classifier() -> LogisticRegression:
    """Return the classifier of pairs that is used by default."""
    return LogisticRegression(max_iter=300)


def sample_labels(
    features,
    y,
    groups,
    *,
    classifier=None,
    n_draws: int = 20,
    random_state=None,
    n_jobs: int | None = None,
    offset=None,
    tail=None,
    keys=None,
    verbose: int = 0,
) -> np.ndarray:
    """Draw complete label sets: known labels stay, the others are drawn by their chances.

    For each set the classifier is fitted on the judged rows of queries that are drawn with
    replacement. So the sets differ by the draw of the labels and by what was learned.

    Parameters
    ----------
    features : ndarray of shape (n_rows, n_features)
        Columns of numbers for each pair of query and document, as of :class:`PairFeatures`.
    y : array-like of shape (n_rows,)
        Labels, NaN where unjudged.
    groups : array-like of shape (n_rows,)
        Query of each row.
    classifier : classifier or None, default=None
        A classifier with `predict_proba`, cloned for each set. None means
        ``LogisticRegression(max_iter=300)``.
    n_draws : int, default=20
        Number of sets.
    random_state : int, RandomState instance or None, default=None
        Seed.
    n_jobs : int or None, default=None
        Number of threads.
    offset : array-like of shape (n_rows,), default=None
        Number that is added to the log-odds of labels above 0.
    tail : ndarray of shape (n_rows, n_runs), default=None
        Columns of runs, 0 within the judged depth. Coefficients that are learned at the top of the
        lists are uncertain beyond, so that normal noise is added to them in each set.
    keys : ndarray of shape (n_rows,), dtype uint64, default=None
        Hash of each row's content, which decides the row's random numbers. None hashes `features`.
    verbose : int, default=0
        Above 0 shows the progress over sets.

    Returns
    -------
    ndarray of shape (n_draws, n_rows), dtype float64
        The sets. They depend neither on the order of the rows, nor on the names of queries, nor on
        `n_jobs`.
    """
    classifier = usual_classifier() if classifier is None else classifier
    check_count(n_draws, "n_draws")
    index = check_groups(groups, n_rows=count_rows(features))
    y = np.asarray(y, dtype=np.float64)
    order, starts = rows_by_content(index, hash_rows(features) if keys is None else keys, y)
    features, labels = features[order], y[order]
    offset = None if offset is None else np.asarray(offset)[order]
    tail = None if tail is None else tail[order]
    judged = [
        rows[~np.isnan(labels[rows])] for rows in np.split(np.arange(len(labels)), starts[1:])
    ]
    judged = [rows for rows in judged if len(rows)]
    if not judged:
        raise InputError("y has no label: expected some that are not NaN.")
    levels = np.unique(labels[~np.isnan(labels)])
    seeds = check_random_state(random_state).randint(np.iinfo(np.int32).max, size=n_draws)
    jobs = (
        delayed(_draw)(clone(classifier), features, labels, judged, levels, offset, tail, seed)
        for seed in progress_bar(seeds, unit="set", verbose=verbose, leave=False)
    )
    drawn = np.empty((n_draws, len(labels)))
    drawn[:, order] = list(in_parallel(jobs, n_jobs, Parallel, prefer="threads"))
    return drawn


# Sums of one thread are the same whatever n_jobs is.
@limit_threads(limits=1, user_api="blas")
def _draw(classifier, features, labels, judged, levels, offset, tail, seed):
    """Fit on queries drawn with replacement, and draw a label for each unjudged row."""
    rng = np.random.RandomState(seed)
    rows = np.concatenate([judged[i] for i in rng.randint(len(judged), size=len(judged))])
    chances = np.zeros((len(labels), len(levels)))
    codes = np.searchsorted(levels, labels[rows])
    if (codes == codes[0]).all():
        chances[:, codes[0]] = 1.0
    else:
        classifier.fit(features[rows], codes)
        chances[:, classifier.classes_] = classifier.predict_proba(features)
    shift = np.zeros(len(labels)) if offset is None else offset
    if tail is not None:
        shift = shift + _TAIL * tail @ rng.standard_normal(tail.shape[1])
    chances[:, levels > 0] *= np.exp(shift)[:, np.newaxis]
    bounds = chances.cumsum(axis=1)
    places = (rng.rand(len(labels), 1) * bounds[:, -1:] > bounds[:, :-1]).sum(axis=1)
    return np.where(np.isnan(labels), levels[places], labels)


def rows_by_content(index: GroupIndex, hashes, labels) -> tuple[np.ndarray, np.ndarray]:
    """Return rows query by query in an order that contents alone decide, and the queries' starts.

    Labels order only queries and rows that are equal otherwise.
    """
    keys = keys_of_queries(index, hashes, labels)[index.codes()]
    order = np.lexsort((labels, hashes, keys))
    keys = keys[order]
    return order, np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))

"""Labels that a model and similar documents contradict."""

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone
from sklearn.preprocessing import normalize

from skfilterrank._lists.checks import check_count, check_random_state
from skfilterrank.exceptions import InputError, brief
from skfilterrank.judgments._document_vectors import DocumentVectors
from skfilterrank.judgments._label_predictor import LabelPredictor
from skfilterrank.judgments._label_table import column_of, names_of
from skfilterrank.judgments._level_model import (
    dealt_folds,
    held_out_labels,
    rows_of_topics,
)
from skfilterrank.judgments._predictor_parameters import check_parameters

# Similarities that are held in memory at once.
_CELLS = 2**22


def likely_errors(X, *, predictor=None, n_neighbors: int = 5, random_state=0) -> pd.DataFrame:
    """List the labels that deserve a second look.

    A label is listed where a model that has not seen it predicts another one, and the labels of
    the most similar documents of the topic are nearer to the prediction than to the label.

    Parameters
    ----------
    X : pandas or polars DataFrame of n_rows rows
        The judgment table, as :class:`LabelPredictor` takes it; rows without a label count for
        nothing but the terms.
    predictor : LabelPredictor, default=None
        Names the columns and has the classifier; None means ``LabelPredictor()``. It is cloned.
    n_neighbors : int, default=5
        Number of the most similar judged documents of the topic, by the cosine of their vectors.
    random_state : int, RandomState instance or None, default=0
        Deals the labels of each topic to the folds.

    Returns
    -------
    DataFrame of shape (n_suspects, 5)
        The table's columns of topic, document (where there is one) and label, then "predicted",
        the label that the model predicts, "neighbors", the mean label of similar documents weighted
        by their similarity, and "doubt", from above 0 to 1: the mean of the two distances from the
        label, over the range of the topic's labels. The most doubtful come first; the index holds
        the numbers of the rows in X.

    Raises
    ------
    ValueError
        What :class:`LabelPredictor` raises of X, and a parameter out of range.

    See Also
    --------
    assessor_agreement : Where two assessors disagree.
    LabelPredictor : Predicts the labels that are not there.

    Notes
    -----
    The labels of each topic are dealt to five folds, evenly by label; a label that only one
    document of a topic has is never held out, and never listed. A listed label need not be wrong:
    documents may differ in what no bag of words holds. Texts without a known term are not listed.

    Examples
    --------
    >>> import pandas as pd
    >>> from skfilterrank.judgments import likely_errors
    >>> texts = ["a cat purrs", "the cat sleeps", "cat and mouse", "my cat", "cat food"]
    >>> texts += ["a dog barks", "the dog runs", "dog and bone", "my dog", "dog food"]
    >>> table = pd.DataFrame(
    ...     {"qid": "1", "docno": list("abcdefghij"), "text": texts, "label": 5 * [1] + 5 * [0]}
    ... )
    >>> table.loc[2, "label"] = 0  # about cats, too
    >>> likely_errors(table)[["qid", "docno", "label", "predicted"]]
      qid docno  label  predicted
    2   1     c      0        1.0
    """
    predictor = LabelPredictor() if predictor is None else predictor
    if not isinstance(predictor, LabelPredictor):
        raise InputError(f"predictor must be a LabelPredictor or None, got {brief(predictor)}.")
    n_neighbors = check_count(n_neighbors, "n_neighbors")
    random_state = check_random_state(random_state)
    check_parameters(predictor)
    predictor = clone(predictor).set_params(output="hard", verbose=0)
    table = predictor._read(X, needs_label=True)
    vectors = DocumentVectors(
        text=predictor.text,
        features=predictor.features,
        vectorizer=predictor.vectorizer,
        n_terms=predictor.n_terms,
    ).fit_transform(X)
    folds = dealt_folds(table.index, table.labels, random_state, lone=False)
    predicted = held_out_labels(predictor, vectors, table.index, table.labels, folds)
    neighbors, spread = _neighbors(vectors, table, n_neighbors)
    by_model, by_neighbors = np.abs(predicted - table.labels), np.abs(neighbors - table.labels)
    doubtful = (by_model > 0) & (np.abs(neighbors - predicted) < by_neighbors) & ~vectors.is_empty
    rows = np.flatnonzero(doubtful)
    doubt = (by_model[rows] + by_neighbors[rows]) / (2 * spread[rows])
    return _listed(X, predictor, table, rows, predicted, neighbors, doubt)


def _neighbors(vectors, table, n_neighbors):
    """Mean label of the most similar judged rows of the topic, and the range of its labels."""
    neighbors = np.full(len(table.labels), np.nan)
    spread = np.full(len(table.labels), np.nan)
    for rows in rows_of_topics(table.index):
        rows = rows[~np.isnan(table.labels[rows])]
        if len(rows) < 2:
            continue
        spread[rows] = np.ptp(table.labels[rows])
        unit = normalize(vectors.take(rows))
        n_taken = min(n_neighbors, len(rows) - 1)
        weights, labels = np.zeros((2, len(rows), n_taken))
        step = max(1, _CELLS // len(rows))
        for begin in range(0, len(rows), step):
            some = slice(begin, begin + step)
            similar = unit[some] @ unit.T
            row, other, weight = _nearest(similar, begin, n_taken)
            place = np.arange(len(row)) - np.searchsorted(row, row)
            weights[row + begin, place] = weight
            labels[row + begin, place] = table.labels[rows][other]
        total = weights.sum(axis=1)
        means = (weights * labels).sum(axis=1)
        neighbors[rows] = np.divide(means, total, where=total > 0, out=np.full(len(rows), np.nan))
    return neighbors, spread


def _nearest(similar, begin, n_taken):
    """The most similar other documents of each row: rows, columns and similarities above 0.

    Others count for nothing. Documents that share no term need not be looked at.
    """
    if sparse.issparse(similar):
        found = similar.tocoo()
        row, other, weight = found.row, found.col, found.data
    else:
        row, other = np.nonzero(similar > 0)
        weight = similar[row, other]
    is_other = (weight > 0) & (other != row + begin)
    row, other, weight = row[is_other], other[is_other], weight[is_other]
    # Among equal similarities, the first documents.
    order = np.lexsort((other, -weight, row))
    row, other, weight = row[order], other[order], weight[order]
    taken = np.arange(len(row)) - np.searchsorted(row, row) < n_taken
    return row[taken], other[taken], weight[taken]


def _listed(X, predictor, table, rows, predicted, neighbors, doubt):
    """The table of suspects."""
    names = [predictor.query, predictor.document, predictor.label]
    held = {name: column_of(X, name, "X") for name in names if name in names_of(X)}
    frame = pd.DataFrame(held).iloc[rows]
    frame = frame.assign(predicted=predicted[rows], neighbors=neighbors[rows], doubt=doubt)
    return frame.iloc[np.argsort(-doubt, kind="stable")]

"""Labels predicted for judged rows by models that have not seen them."""

import warnings

import numpy as np
from sklearn.base import clone

from skfilterrank._core.queries import GroupIndex
from skfilterrank.exceptions import SkfilterrankWarning
from skfilterrank.judgments._prediction.topic_models import rows_of_topics

N_FOLDS = 5


def held_out_labels(predictor, vectors, index: GroupIndex, labels, folds) -> np.ndarray:
    """Prediction for each row from the labels of other folds; NaN for fold -1 and where none is."""
    predicted = np.full(len(folds), np.nan)
    with warnings.catch_warnings():
        # Topics left with one label or none, texts without a term: nothing is found for them.
        warnings.simplefilter("ignore", SkfilterrankWarning)
        for fold in np.unique(folds[folds >= 0]):
            held_out = folds == fold
            rest = np.where(held_out, np.nan, labels)
            if np.isnan(rest).all():
                continue
            found = clone(predictor).fit_vectors(vectors, index, rest)
            predicted[held_out] = found[held_out]
    return predicted


def dealt_folds(index: GroupIndex, labels, random_state, *, lone: bool) -> np.ndarray:
    """Fold of each judged row, every topic's labels dealt evenly; -1 where none is held out.

    `lone` says whether a label that only one document of its topic has is held out, too.
    """
    folds = np.full(len(labels), -1)
    for rows in rows_of_topics(index):
        rows = rows[~np.isnan(labels[rows])]
        n_dealt = 0
        for label in np.unique(labels[rows]):
            same = random_state.permutation(rows[labels[rows] == label])
            if len(same) > 1 or lone:
                folds[same] = (n_dealt + np.arange(len(same))) % N_FOLDS
                n_dealt += len(same) if lone else 0
    return folds

"""How many of the documents that a model says are relevant will be."""

import numpy as np
from sklearn.linear_model import LogisticRegression

# Judged documents of either kind, and of those said to be relevant, that are needed to tell.
MIN_ROWS = 5


def expected_precision(relevant, said, places, said_places) -> float:
    """Mean chance to be relevant of documents that a model says are.

    Parameters
    ----------
    relevant, said : ndarray of shape (n_held_out,), dtype bool
        What judged documents are, and what models that have not seen them say.
    places : ndarray of shape (n_held_out,), dtype float64, or None
        What their ranks say: higher is likelier. None where there are no ranks.
    said_places : ndarray of shape (n_said,), dtype float64, or None
        The same of documents that nobody judged and the model says are relevant.

    Returns
    -------
    float
        From 0 to 1; NaN where there are too few judged documents of one kind, or too few are said
        to be relevant.
    """
    counts = [np.count_nonzero(rows) for rows in (relevant, ~relevant, said)]
    if min(counts) < MIN_ROWS:
        return np.nan
    if said_places is None:
        places, said_places = np.zeros(len(said)), np.zeros(1)
    if not len(said_places):
        return np.nan
    # With the usual penalty, few documents said to be relevant do not make a certainty.
    model = LogisticRegression().fit(np.column_stack([said, places]), relevant)
    return float(
        model.predict_proba(np.column_stack([np.ones(len(said_places)), said_places]))[:, 1].mean()
    )

"""Selected rows as a mask, under a budget of any unit."""

import numpy as np
import pandas as pd


def budget(n_per_query=None) -> dict:
    """The budget by its name: a float is a share, another number one of each query."""
    if n_per_query is None:
        return {}
    return {"share" if isinstance(n_per_query, float) else "n_per_query": n_per_query}


def mask(selector, *given, **params) -> np.ndarray:
    """Rows that `selector.select` gives, as a mask; a table comes before the budget."""
    tables = [each for each in given if isinstance(each, pd.DataFrame)]
    rows = selector.select(*tables, **budget(*given[len(tables) :]), **params)
    assert (np.diff(rows) > 0).all()
    selected = np.zeros(len(tables[0] if tables else selector.ranking_), dtype=bool)
    selected[rows] = True
    return selected

"""Rows that LightGBM looks at while it learns, by the names of its version."""

import inspect


def held_out_rows(estimator, X, y):
    """Arguments of `fit` that hand LightGBM one set of held-out rows."""
    if "eval_X" in inspect.signature(estimator.fit).parameters:  # from 4.7 on
        return {"eval_X": (X,), "eval_y": (y,)}
    return {"eval_set": [(X, y)]}

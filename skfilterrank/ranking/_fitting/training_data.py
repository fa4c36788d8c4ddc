"""Checks of what RankAndFilter is fitted on, and the targets made of it."""

import numpy as np
from sklearn.utils import indexable

from skfilterrank._core.arrays import label_array
from skfilterrank._core.checks import check_groups, count_rows, find_groups, refuse_mask
from skfilterrank._core.gains import as_gains
from skfilterrank._response import final_step
from skfilterrank._warnings import warn_user
from skfilterrank.exceptions import FitWarning, InputError
from skfilterrank.ranking._fitting.adapters import estimators_inside, needs_groups
from skfilterrank.ranking._fitting.out_of_fold import TrainingRows
from skfilterrank.ranking._fitting.rows import count_unjudged
from skfilterrank.ranking._fitting.targets import TargetEncoder, resolve_target


def training_rows(
    estimator, X, y, groups, *, target, gains, prefit, eval_set, eval_groups, fit_params
) -> tuple[TrainingRows, np.ndarray, bool]:
    """Check everything `fit` was given.

    Returns
    -------
    data : TrainingRows
        Rows, targets and numbered queries.
    row_gains : ndarray of shape (n_rows,)
        Gain of each row, NaN where unjudged.
    has_queries : bool
        False where each row was taken for a query of its own.
    """
    if y is None:
        raise InputError("RankAndFilter requires y to be passed, but the target y is None.")
    kind = resolve_target(estimator, target)
    row_gains = _gains_of_rows(estimator, y, gains, given_labels=prefit or kind == "label")
    # Sparse formats without rows (COO, DIA, BSR) become CSR.
    (X,) = indexable(X)
    n_rows = count_rows(X)
    if len(row_gains) != n_rows:
        raise InputError(f"y has {len(row_gains)} labels but X has {n_rows} rows.")
    for name, value in fit_params.items():
        is_weight = name.rpartition("__")[2] == "sample_weight" and value is not None
        if is_weight and count_rows(value, name) != n_rows:
            raise InputError(
                f"{name} has {count_rows(value, name)} entries but X has {n_rows} rows."
            )
    found = find_groups(groups, y, X)
    judged = ~np.isnan(row_gains)
    count_unjudged(judged)
    if kind == "binary" and not prefit:
        _check_two_kinds(estimator, row_gains[judged])
    encoder = TargetEncoder(kind, row_gains)
    eval_set, eval_groups = _check_eval_set(estimator, eval_set, eval_groups, gains, encoder)
    data = TrainingRows(
        X=X,
        target=_encode_judged(encoder, row_gains, y, judged),
        groups=_number_queries(estimator, found, n_rows),
        judged=judged,
        fit_params=fit_params,
        eval_set=eval_set,
        eval_groups=eval_groups,
    )
    return data, row_gains, found is not None


def _gains_of_rows(estimator, y, gains, *, given_labels):
    """Gain of each row; an estimator inside that is given gains must not map them once more."""
    chain = estimators_inside(estimator)
    inside = [found for found in chain if getattr(found, "gains", None) is not None]
    if given_labels or not inside:
        return as_gains(y, gains, name="y")
    name = type(inside[0]).__name__
    given = f"{name} inside is given the gains to learn, not the labels"
    if gains is not None:
        raise InputError(
            f"gains is set twice, and {given}: it would map them once more. Keep gains on the "
            f"estimator around it, and leave it out of {name}."
        )
    try:
        return as_gains(y, None, name="y")
    except ValueError as error:
        if "pass gains" not in str(error):
            raise
        raise InputError(
            f"{error} gains is set on {name} alone, but {given}: set it on the estimator around "
            "it instead."
        ) from None


def _number_queries(estimator, groups, n_rows):
    """Number of the query of each row; without query ids, each row is one."""
    if groups is not None:
        return check_groups(groups, n_rows=n_rows).codes()
    if needs_groups(estimator):
        name = type(estimators_inside(estimator)[-1]).__name__
        raise InputError(
            f"{name} needs queries: pass groups=, the query id of each row, or give y as a Series "
            "with an index level named 'qid'."
        )
    warn_user(
        "RankAndFilter was fitted without query ids: each row is taken for a query of its own "
        "(pure filtering). Pass groups=, the query id of each row, or give y as a Series with an "
        "index level named 'qid'.",
        FitWarning,
    )
    return np.arange(n_rows)


def _check_two_kinds(estimator, gains):
    """A classifier needs gains above 0 and others."""
    n_good = np.count_nonzero(gains > 0)
    if n_good in (0, len(gains)):
        which = "no gain is" if n_good == 0 else "every gain is"
        raise InputError(
            f"{which} above 0, so {type(final_step(estimator)).__name__} gets one class and has "
            "nothing to tell apart: check y and gains=, or use a regressor or a ranker."
        )


def _check_eval_set(estimator, eval_set, eval_groups, gains, encoder):
    """Held-out sets with targets instead of labels, and their numbered queries."""
    if eval_set is None:
        return None, None
    if isinstance(eval_set, tuple) and len(eval_set) == 2:
        eval_set = [eval_set]
        eval_groups = None if eval_groups is None else [eval_groups]
    if not isinstance(eval_set, list) or not all(
        isinstance(pair, tuple | list) and len(pair) == 2 for pair in eval_set
    ):
        raise InputError(
            "eval_set must be a list of (X, y) pairs, such as eval_set=[(X_valid, y_valid)], got "
            f"{type(eval_set).__name__}."
        )
    if eval_groups is None:
        eval_groups = [None] * len(eval_set)
    if len(eval_groups) != len(eval_set):
        raise InputError(
            f"eval_groups has {len(eval_groups)} entries but eval_set has {len(eval_set)}: "
            "expected the query ids of each held-out set."
        )
    sets, queries = [], []
    for (X, y), ids in zip(eval_set, eval_groups):
        refuse_mask(X, "X of eval_set")
        held_out = as_gains(y, gains, name="the labels of eval_set")
        if np.isnan(held_out).any():
            raise InputError("eval_set holds unjudged rows (NaN labels): leave them out.")
        found = find_groups(ids, y, X)
        if found is None and not needs_groups(estimator):
            found = np.arange(len(held_out))
        sets.append((*indexable(X), encoder.encode(held_out, label_array(y))))
        index = check_groups(
            found, n_rows=len(held_out), name="eval_groups", carrier="the y of eval_set as a Series"
        )
        queries.append(index.codes())
    return sets, queries


def _encode_judged(encoder, gains, y, judged):
    """Targets of all rows; those of unjudged rows are never read."""
    labels = label_array(y) if encoder.kind == "label" else None
    if judged.all():
        return encoder.encode(gains, labels)
    some = encoder.encode(gains[judged], None if labels is None else labels[judged])
    target = np.zeros(len(gains), dtype=some.dtype)
    target[judged] = some
    return target

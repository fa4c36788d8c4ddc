"""Fit any estimator with query ids in the form that it needs, and explain errors of boosters.

LightGBM's ranker needs the sizes of consecutive queries. XGBoost's and CatBoost's rankers need an
id per row with consecutive rows of each query. Estimators of this package need an id per row in any
order. Most other estimators do not use queries.
"""

import inspect
from contextlib import contextmanager

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import get_routing_for_object, process_routing

from skfilterrank._base.checks import check_count, check_random_state, is_whole_number
from skfilterrank._base.lazy_names import import_optional
from skfilterrank._base.sklearn_compat import (
    BaseSearchCV,
    check_method_params,
    final_step,
    metadata_routing_enabled,
    safe_indexing,
)
from skfilterrank._base.words import check_n_jobs, warn_user
from skfilterrank._estimators.responses import (
    before_last,
    in_library_form,
    in_native_order,
    is_model,
    library_errors,
    warn_of_lost_zeros,
)
from skfilterrank._estimators.wrapping import (
    group_parameter,
    needs_own_form,
)
from skfilterrank._lists.queries import QID, GroupIndex, query_ids_of_index
from skfilterrank.exceptions import FitWarning, InputError, brief
from skfilterrank.ranking._held_out_sets import EvalSet, check_columns_of_sets, fit_stopped

_MOST_GRADES = 31
# Libraries and classes whose estimators refuse to stop early without a held-out set.
_BOOSTING = (("lightgbm", "LGBMModel"), ("xgboost", "XGBModel"))
# XGBoost's names of parameters that its estimators call otherwise.
XGBOOST_ALIASES = {
    "alpha": "reg_alpha",
    "eta": "learning_rate",
    "lambda": "reg_lambda",
    "min_split_loss": "gamma",
    "nthread": "n_jobs",
    "seed": "random_state",
    "updater_seq": "updater",
}


def cut_rows(rows, X, y, groups, fit_params) -> tuple:
    """Take some rows of X, y, query ids if any, and parameters of `fit` with an entry per row."""
    return (
        safe_indexing(X, rows),
        safe_indexing(y, rows),
        None if groups is None else safe_indexing(groups, rows),
        check_method_params(X, fit_params, indices=rows),
    )


def clone_inside(estimator):
    """Clone an estimator; an error names parameters that cannot be cloned."""
    try:
        return clone(estimator)
    except (KeyError, RuntimeError) as error:
        remedy = "Instead of None, give the parameter its default."
        if isinstance(error, RuntimeError):
            remedy = (
                "A list that it copies, such as CatBoost's cat_features, must be a tuple, or a "
                "parameter of fit."
            )
        name = type(final_step(estimator)).__name__
        raise InputError(f"scikit-learn cannot clone {name}: {error}. {remedy}") from error


def fit_clone(estimator, X, y, groups, fit_params):
    """Fit a clone, with query ids if there are any."""
    estimator = clone_inside(estimator)
    if groups is None:
        return estimator.fit(X, y, **fit_params)
    fit_with_groups(estimator, X, y, groups, fit_params=fit_params)
    return estimator


def fit_with_groups(estimator, X, y, groups, *, held_out=(), fit_params=None, stop_by=None) -> None:
    """Fit an estimator or Pipeline in place, queries and held-out sets included.

    Parameters
    ----------
    estimator : estimator
        Fitted in place; pass a clone.
    X : array-like, sparse matrix, DataFrame or list of n_rows rows
        In any order.
    y : ndarray of shape (n_rows,)
        Target.
    groups : array-like of shape (n_rows,)
        Query ids.
    held_out : list of EvalSet, default=()
        Held-out sets for early stopping. The earlier steps of a Pipeline transform them too.
    fit_params : dict or None
        Further parameters of `fit`; in a Pipeline "step__parameter" names the step, plain names
        go to the last.
    stop_by : ParsedMeasure or None, default=None
        Measure of the held-out sets by which estimators of other libraries stop.
    """
    params = dict(fit_params or {})
    while isinstance(estimator, Pipeline):
        last = estimator.steps[-1][1]
        earlier, params = _split_parameters(estimator, params)
        if len(estimator.steps) > 1:
            before = estimator[:-1]
            X = before.fit_transform(X, y, **earlier | _queries_of_steps(before, groups))
            # A Pipeline with a cache fits copies of its steps.
            estimator.steps[:-1] = before.steps
            held_out = [
                each._replace(X=before_last(estimator, each.X, each.groups)) for each in held_out
            ]
        estimator = last
    X = in_library_form(estimator, X)
    params = {name: in_native_order(estimator, values) for name, values in params.items()}
    held_out = [each._replace(X=in_library_form(estimator, each.X)) for each in held_out]
    with library_errors(estimator):
        _fit_last(estimator, X, y, groups, held_out, params, stop_by)


def _fit_last(estimator, X, y, groups, held_out, params, stop_by):
    """Fit an estimator that is not a Pipeline."""
    wanted = group_parameter(estimator)
    if isinstance(estimator, BaseSearchCV):
        if needs_own_form(estimator.estimator):
            inner, outer = type(final_step(estimator.estimator)), type(estimator)
            raise InputError(
                f"{outer.__name__} cannot pass query ids to {inner.__name__}: put the search "
                "around "
                f"RankAndFilter({inner.__name__}()), not inside."
            )
        # Inner scorers and estimators find the query ids in the index, of X if it has them.
        ids = query_ids_of_index(X)
        y = pd.Series(y, index=pd.Index(groups if ids is None else ids, name=QID))
        # With metadata routing, a search raises for metadata that no inner object requests.
        if metadata_routing_enabled() and not get_routing_for_object(estimator).consumes(
            "fit", ["groups"]
        ):
            wanted = None
    if wanted == "groups":
        params["groups"] = groups
        if held_out:
            params["eval_set"] = _pairs(held_out)
            params["eval_groups"] = [each.groups for each in held_out]
        estimator.fit(X, y, **params)
        return
    check_columns_of_sets(X, held_out)
    for each in held_out:
        was_sparse = sparse.issparse(X)
        warn_of_lost_zeros(estimator, each.X, was_sparse=was_sparse, name="X of eval_set")
    if wanted is None:
        if held_out:
            params |= _eval_parameters(estimator, _pairs(held_out))
        _fit(estimator, X, y, params, held_out, stop_by)
    else:
        _fit_contiguous(estimator, X, y, groups, wanted, held_out, params, stop_by)


def _fit(estimator, X, y, params, held_out, stop_by):
    """Fit an estimator, which stops by a measure if one and held-out sets are given."""
    with _boosting_errors(estimator, bool(held_out)):
        if stop_by is None or not held_out:
            estimator.fit(X, y, **params)
        else:
            fit_stopped(estimator, X, y, params, stop_by, held_out)


@contextmanager
def _boosting_errors(estimator, has_sets: bool):
    """Turn errors about parameters, and early stopping without sets, into our sentences."""
    _refuse_two_names(estimator)
    try:
        yield
    except (TypeError, ValueError) as error:
        params = estimator.get_params()
        check_count(params.get("n_estimators"), "n_estimators", or_none=True)
        stops = any(is_model(estimator, *each) for each in _BOOSTING)
        if stops:
            # A class of a user may lack both.
            check_n_jobs(params.get("n_jobs"))
            # XGBoost also takes seeds below 0.
            if not is_whole_number(seed := params.get("random_state")):
                check_random_state(seed)
        if has_sets or not stops or "early stopping" not in str(error):
            raise
        raise InputError(
            f"{type(estimator).__name__} stops early by held-out queries, and fit got none: pass "
            "eval_set=(X, y) with eval_groups, set validation_fraction of a QueryRanker, or leave "
            "early_stopping_rounds out."
        ) from error


def lightgbm_aliases() -> dict[str, list[str]]:
    """Return LightGBM's names of each parameter, the one that it prefers first."""
    lightgbm = import_optional("lightgbm", "LambdaRankRanker")
    return lightgbm.basic._ConfigAliases._get_all_param_aliases()


def _refuse_two_names(estimator):
    """Raise if a booster has two values of one parameter, of which its library ignores one."""
    if is_model(estimator, library := "xgboost", "XGBModel"):
        names_of = {own: [alias, own] for alias, own in XGBOOST_ALIASES.items()}
    elif is_model(estimator, library := "lightgbm", "LGBMModel"):
        names_of = lightgbm_aliases()
    else:
        return
    params = estimator.get_params(deep=False)
    # A subclass of a user may need arguments.
    own_class = next(c for c in type(estimator).__mro__ if c.__module__.split(".")[0] == library)
    defaults = own_class().get_params(deep=False)
    for names in names_of.values():
        given = {name: params[name] for name in names if params.get(name) is not None}
        own = next((name for name in given if name in defaults), None)
        # Another name replaces a default, but not one of a name that the library prefers. LightGBM
        # does not see n_estimators beside another name.
        is_replaced = own == "n_estimators" or own != next(iter(given), None)
        if own is not None and is_replaced and np.array_equal(given[own], defaults[own]):
            del given[own]
        if any(not np.array_equal(value, next(iter(given.values()))) for value in given.values()):
            first, *others = sorted(given, key=lambda name: name != own)
            raise InputError(
                f"{type(estimator).__name__} has {' and '.join(given)}, which are names of one "
                f"parameter, with different values: set {first} alone, and "
                f"{' and '.join(others)} to None or not at all."
            )


def _pairs(held_out):
    """Return X and y of each held-out set."""
    return [(each.X, each.target) for each in held_out]


def _queries_of_steps(before, groups):
    """Return parameters of `fit` that pass query ids to earlier steps which need them."""
    if metadata_routing_enabled():
        asked = get_routing_for_object(before).consumes("fit_transform", ["groups"])
        return dict.fromkeys(asked, groups)
    return {
        f"{name}__groups": groups
        for name, step in before.steps
        if hasattr(step, "fit_transform")
        and "groups" in inspect.signature(step.fit_transform).parameters
    }


def _split_parameters(pipeline, params):
    """Split parameters of `fit` into those of a Pipeline's earlier steps and of its last step."""
    name = pipeline.steps[-1][0]
    if metadata_routing_enabled():
        last = process_routing(pipeline, "fit", **params)[name].fit
        if len(pipeline.steps) == 1:
            return {}, last
        before = get_routing_for_object(pipeline[:-1]).consumes("fit_transform", params)
        return {key: params[key] for key in before}, last
    steps = tuple(f"{step}__" for step, _ in pipeline.steps[:-1])
    earlier = {key: value for key, value in params.items() if key.startswith(steps)}
    last = {
        key.removeprefix(f"{name}__"): value for key, value in params.items() if key not in earlier
    }
    return earlier, last


def _fit_contiguous(ranker, X, y, groups, wanted, held_out, params, stop_by):
    """Fit a ranker of another library, which needs consecutive rows of each query."""
    check_grades(ranker, y, wanted)
    X, y, index, params = together(X, y, groups, params)
    warn_without_pairs(ranker, y, row_codes(index))
    held_out = [_set_together(each) for each in held_out]
    sets = _pairs(held_out)
    if wanted == "group":
        params["group"] = index.sizes
        if held_out:
            params |= _eval_parameters(ranker, sets)
            params["eval_group"] = [each.groups.sizes for each in held_out]
    elif wanted == "qid":
        params["qid"] = row_codes(index)
        _weigh_queries(ranker, params, index)
        if held_out:
            params |= {"eval_set": sets, "eval_qid": [row_codes(each.groups) for each in held_out]}
    else:
        params["group_id"] = row_codes(index)
        if held_out:
            from catboost import Pool

            params["eval_set"] = [
                Pool(each.X, each.target, group_id=row_codes(each.groups)) for each in held_out
            ]
    known = [each._replace(groups=row_codes(each.groups)) for each in held_out]
    _fit(ranker, X, y, params, known, stop_by)


def warn_without_pairs(ranker, gains, codes, lost=lambda: "all scores may be equal") -> None:
    """Warn if no query has an order to learn; `codes` numbers the query of each row.

    `lost` returns what is lost, for the message.
    """
    some = np.empty(codes.max() + 1)
    some[codes] = gains
    if (gains == some[codes]).all():
        warn_user(
            f"{type(ranker).__name__} learns from documents of different gain in one query, and no "
            f"query has two, so that {lost()}. Check y and {{groups=}}, or use a classifier or a "
            "regressor.",
            FitWarning,
            argument="groups=",
        )


def check_grades(ranker, y, wanted):
    """Raise for targets that LightGBM and XGBoost cannot learn from.

    It is enough to pass the distinct targets.
    """
    if wanted not in ("group", "qid"):
        return
    name, settings, n_grades = type(ranker).__name__, ranker.get_params(), len(np.unique(y))
    label_gain = settings.get("label_gain") or ()
    if any(gain < 0 for gain in label_gain):
        raise InputError(
            f"{name} may silently learn nothing if a label gain is negative, got "
            f"label_gain={brief(label_gain)}: leave label_gain out (grades are then 0, 1, 2, ... "
            "by gain), or use LambdaRankRanker, which takes any gains."
        )
    if n_grades and np.min(y) < 0:
        raise InputError(
            f"{name} takes grades from 0 up, got {np.min(y):g}: use target='grade', which "
            "numbers the gains, or LambdaRankRanker, which supports any gains."
        )
    has_own_gains = label_gain or settings.get("ndcg_exp_gain") is False
    if n_grades > _MOST_GRADES and not has_own_gains:
        setting = "label_gain" if wanted == "group" else "ndcg_exp_gain=False"
        raise InputError(
            f"{name} takes at most {_MOST_GRADES} grades but y has {n_grades} distinct gains: map "
            f"them to fewer with {{gains=}}, set {setting}, or use LambdaRankRanker, which takes "
            "any gains.",
            argument="gains=",
        )


def _eval_parameters(estimator, sets):
    """Return held-out sets as parameters of `fit`, by the names that the estimator expects."""
    if "eval_set" not in inspect.signature(estimator.fit).parameters:
        raise InputError(
            f"fit of {type(estimator).__name__} takes no held-out queries: leave eval_set or "
            "validation_fraction out, or use an estimator whose fit takes an eval_set."
        )
    # Names of the parameters in LightGBM 4.7 and later.
    if "eval_X" in inspect.signature(estimator.fit).parameters:
        return {"eval_X": tuple(X for X, _ in sets), "eval_y": tuple(y for _, y in sets)}
    return {"eval_set": sets}


def _weigh_queries(ranker, params, index):
    """Replace weights per row by weights per query, if any; rows are in query order."""
    if params.get("sample_weight") is None:
        return
    weights = np.asarray(params["sample_weight"])
    first = weights[np.cumsum(index.sizes) - index.sizes]
    if not np.array_equal(np.repeat(first, index.sizes), weights):
        raise InputError(
            f"{type(ranker).__name__} weights whole queries: sample_weight must be the same for "
            "all rows of a query."
        )
    params["sample_weight"] = first


def row_codes(index) -> np.ndarray:
    """Number the query of each row; rows are in query order."""
    return np.repeat(np.arange(index.n_queries), index.sizes)


def together(X, y, groups, params):
    """Bring the rows of each query together, in X, y and all parameters with one entry per row.

    Queries come in the order of their first rows: trees depend on the order of queries, and must
    not depend on ids.
    """
    index = GroupIndex.from_groups(groups).by_first_row()
    order = index.row_order()
    if (order[1:] > order[:-1]).all():
        return X, y, index, dict(params)
    params = check_method_params(X, params, indices=order)
    return safe_indexing(X, order), safe_indexing(y, order), index, dict(params)


def _set_together(held_out):
    """Sort the rows of a held-out set by query; its groups become a GroupIndex."""
    X, target, index, _ = together(held_out.X, held_out.target, held_out.groups, {})
    return EvalSet(X, target, index, held_out.gains[index.row_order()])

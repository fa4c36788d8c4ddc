"""Estimators of XGBoost and LightGBM that train on a Dask cluster."""

import importlib
import inspect
import warnings

import numpy as np
import pandas as pd

from skfilterrank._estimators.wrapping import group_parameter
from skfilterrank._files.dask_frames import import_dask
from skfilterrank._lists.sklearn_compat import final_step
from skfilterrank.exceptions import InputError, brief
from skfilterrank.ranking._fit_with_groups import clone_inside

_LIBRARIES = {"xgboost": "DaskXGB", "lightgbm": "DaskLGBM"}


def _library(estimator):
    """Return the library of a Dask estimator or of a subclass; None for others."""
    for base in type(estimator).__mro__:
        library = base.__module__.partition(".")[0]
        if base.__name__.startswith(_LIBRARIES.get(library, "\0")):
            return library
    return None


def check_cluster_estimator(estimator) -> None:
    """Raise if an estimator does not support Dask collections, or if there is no cluster."""
    if _library(estimator) is None:
        raise InputError(
            "X is a Dask DataFrame, which XGBoost's and LightGBM's estimators for Dask learn from "
            f"(DaskXGBRanker, DaskLGBMRanker, ...), got {brief(estimator)}: use one of these, or "
            "X.compute() where the rows fit into memory."
        )
    if estimator.get_params().get("client") is not None:
        raise InputError(
            f"client is set on {type(estimator).__name__}, and scikit-learn cannot clone a client: "
            "leave it out. The last created client is used, or that of `with client.as_current():`."
        )
    import_dask(type(estimator).__name__)
    from distributed import default_client

    try:
        default_client()
    except ValueError as error:
        raise InputError(
            f"{type(estimator).__name__} needs a cluster to learn on: start one first, such as "
            "client = distributed.Client(), which makes one of this machine."
        ) from error


def refuse_arrays(estimator) -> None:
    """Raise if an estimator for Dask gets rows in memory."""
    if _library(final := final_step(estimator)) is not None:
        name = type(final).__name__
        raise InputError(
            f"{name} learns from Dask DataFrames, got rows in memory or a Dask array: use "
            f"{name.removeprefix('Dask')}, or RankAndFilter({name}()) with a Dask DataFrame."
        )


def fit_on_cluster(estimator, rows, features, target, query, fit_params):
    """Fit a clone on a Dask DataFrame, and return the in-memory model of the same library.

    Parameters
    ----------
    estimator : estimator
        Dask estimator of XGBoost or LightGBM.
    rows : dask DataFrame
        Rows on the cluster. No partition is empty, each has whole queries with consecutive rows,
        and query numbers ascend over all partitions.
    features : list
        Names of the feature columns.
    target, query : str
        Columns of the target and of the number of the query.
    fit_params : dict
        Further parameters of `fit`.
    """
    fitted = clone_inside(estimator)
    params = dict(fit_params)
    wanted = group_parameter(fitted)
    if wanted == "qid":
        params["qid"] = rows[query]
        if "allow_group_split" in inspect.signature(type(fitted)).parameters:
            # Rows are sorted already; XGBoost's own sort would make a partition for each query.
            fitted.set_params(allow_group_split=True)
    elif wanted == "group":
        params["group"] = rows[query].map_partitions(_run_lengths, meta=pd.Series([0]))
    with warnings.catch_warnings():
        if estimator.get_params().get("n_jobs") is None:
            # LightGBM's warning about its own default.
            warnings.filterwarnings("ignore", message="Parameter n_jobs will be ignored")
        fitted.fit(rows[features], rows[target], **params)
    return in_memory(fitted)


def _run_lengths(numbers):
    """Count the rows of each query of a partition; rows of a query are consecutive."""
    values = numbers.to_numpy()
    starts = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    return pd.Series(np.diff(np.append(starts, len(values))))


def in_memory(fitted):
    """Return a fitted model in a form that scores arrays without a cluster."""
    library = _library(fitted)
    if library is None:
        return fitted
    if library == "lightgbm":
        return fitted.to_local()
    name = next(b.__name__ for b in type(fitted).__mro__ if b.__name__.startswith("DaskXGB"))
    local_class = getattr(importlib.import_module("xgboost"), name.removeprefix("Dask"))
    known = local_class().get_params()
    params = {key: value for key, value in fitted.get_params().items() if key in known}
    local = local_class(**params)
    local.load_model(fitted.get_booster().save_raw("ubj"))
    return local

"""Access to scikit-learn's private names, metadata requests, and nested estimators."""

from typing import Self

import numpy as np
import pandas as pd
import sklearn
from pandas.api.extensions import ExtensionArray
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.metadata_routing import UNCHANGED, MetadataRequest, MetadataRouter
from sklearn.utils.parallel import _threadpool_controller_decorator as limit_threads
from sklearn.utils.validation import _check_feature_names as check_feature_names
from sklearn.utils.validation import _check_method_params as check_method_params
from sklearn.utils.validation import _check_n_features as check_n_features
from sklearn.utils.validation import _get_feature_names
from sklearn.utils.validation import _num_samples as num_samples

from skfilterrank.exceptions import InputError

# Names that other files import from here, and not from scikit-learn.
__all__ = ["BaseSearchCV", "check_feature_names", "check_method_params", "check_n_features"]
__all__ += ["limit_threads", "num_samples"]


def feature_names(X) -> np.ndarray | None:
    """Return the column names of a table; None if it has none."""
    # scikit-learn's own function is slower: it checks for every data frame library.
    return None if isinstance(X, np.ndarray) else _get_feature_names(X)


def safe_indexing(X, rows):
    """Take rows of X by row numbers or a mask; X may hold Arrow columns."""
    are_numbers = isinstance(rows, np.ndarray) and rows.dtype.kind == "i"
    if are_numbers and type(X) is np.ndarray and X.flags.c_contiguous:
        # Twice as fast as X[rows].
        return X.take(rows, axis=0)
    # scikit-learn cannot index pandas columns of Arrow types.
    is_pandas = isinstance(X, pd.Index | ExtensionArray)
    if is_pandas or type(X).__module__.partition(".")[0] == "pyarrow":
        return X.take(np.arange(len(X))[rows])
    return _safe_indexing(X, rows)


def number_columns(X, names) -> np.ndarray:
    """Take columns of X by name or number, as float64; errors say what is wrong."""
    X = np.asarray(X, dtype=object) if isinstance(X, list | tuple) else X
    found = _safe_indexing(X, list(names), axis=1)
    found = found.toarray() if hasattr(found, "toarray") else np.asarray(found)
    return found.astype(np.float64)


def metadata_routing_enabled() -> bool:
    """Tell whether scikit-learn's metadata routing is switched on."""
    return sklearn.get_config()["enable_metadata_routing"]


def without_groups(routing):
    """Return an inner estimator that does not request `groups`: the outer one passes them."""
    if isinstance(routing, MetadataRouter):
        for _, inside in routing:
            without_groups(inside.router)
    else:
        for method in (routing.fit, routing.transform):
            method.add_request(param="groups", alias=False)
    return routing


def first_step(estimator):
    """Return the first step of a Pipeline, also inside a search, and fitted if possible."""
    while isinstance(estimator, Pipeline | BaseSearchCV | FrozenEstimator):
        if isinstance(estimator, Pipeline):
            steps = (step for _, step in estimator.steps if step not in (None, "passthrough"))
            estimator = next(steps, None)
        else:
            estimator = getattr(estimator, "best_estimator_", estimator.estimator)
    return estimator


def final_step(estimator):
    """Return the last estimator of a Pipeline, unfrozen, else the estimator itself."""
    while isinstance(estimator, Pipeline | FrozenEstimator):
        is_pipeline = isinstance(estimator, Pipeline)
        estimator = estimator.steps[-1][1] if is_pipeline else estimator.estimator
    return estimator


def fitted_end(estimator):
    """Return the last fitted estimator of a Pipeline or a search, else the estimator itself."""
    while isinstance(estimator := final_step(estimator), BaseSearchCV):
        estimator = estimator.best_estimator_
    return estimator


class RequestsGroups:
    """Mixin of scorers that request `groups` and `query_weight` from metadata routing."""

    _requests: dict[str, bool | str | None] = {"groups": True, "query_weight": True}  # noqa: RUF012

    def set_score_request(
        self,
        *,
        groups: bool | str | None = UNCHANGED,
        query_weight: bool | str | None = UNCHANGED,
    ) -> Self:
        """Set the metadata that scikit-learn passes to the scorer.

        Splitters request `groups`, too. If these are not queries, such as segments of
        LeaveOneGroupOut, the scorer can get the query ids by another name.

        Parameters
        ----------
        groups : bool, str or None
            A str is the name by which query ids are passed, as in
            ``set_score_request(groups="qid")`` with ``params={"groups": segments, "qid":
            query_ids}``. True requests `groups`. False requests nothing, and the index level "qid"
            of `y` is read. None raises if `groups` is passed. By default the request is not
            changed.
        query_weight : bool, str or None
            Name or request for the weights of queries, in the form of `groups`.

        Returns
        -------
        self : RankingScorer
            The scorer itself.

        Raises
        ------
        ValueError
            If metadata routing is off, or an argument is of a wrong type.
        """
        if not metadata_routing_enabled():
            raise InputError(
                "set_score_request is for scikit-learn's metadata routing: switch it on by "
                "sklearn.set_config(enable_metadata_routing=True)."
            )
        given = {"groups": groups, "query_weight": query_weight}
        changed = {name: alias for name, alias in given.items() if alias != UNCHANGED}
        requests = self._requests | changed
        _request(self, requests)  # raises for a value that is no request
        self._requests = requests
        return self

    def get_metadata_routing(self) -> MetadataRequest:
        """Return the metadata request: `groups` and `query_weight` for scoring."""
        return _request(self, self._requests)


def _request(owner, requests):
    """Return the metadata request of a scorer."""
    request = MetadataRequest(owner=owner)
    for name, alias in requests.items():
        request.score.add_request(param=name, alias=alias)
    return request

"""The one place where names from scikit-learn's private modules enter."""

import sklearn
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils.parallel import _threadpool_controller_decorator as limit_threads
from sklearn.utils.validation import _check_method_params as check_method_params
from sklearn.utils.validation import _get_feature_names as feature_names
from sklearn.utils.validation import _num_samples as num_samples

__all__ = [
    "BaseSearchCV",
    "check_method_params",
    "feature_names",
    "limit_threads",
    "metadata_routing_enabled",
    "num_samples",
    "safe_indexing",
]


def metadata_routing_enabled() -> bool:
    """Whether scikit-learn's metadata routing is switched on."""
    return sklearn.get_config()["enable_metadata_routing"]

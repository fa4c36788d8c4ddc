"""Features of judged tables with text columns, and of queries, as scikit-learn transformers."""

from typing import TYPE_CHECKING

from skfilterrank._names import names_of
from skfilterrank.features._query_scaler import QueryScaler
from skfilterrank.features._tables import (
    ColumnsEqual,
    ListFeatures,
    NumericColumns,
    make_text_features,
)
from skfilterrank.features._texts import TextSimilarity, TextStatistics, TextVectors

__all__ = [
    "ColumnsEqual",
    "ListFeatures",
    "NumericColumns",
    "QueryScaler",
    "TextSimilarity",
    "TextStatistics",
    "TextVectors",
    "make_text_features",
]

if not TYPE_CHECKING:  # which would take any name for one that is there
    __getattr__ = names_of(__name__)

"""Features of judged tables with text columns, and of queries, as scikit-learn transformers."""

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

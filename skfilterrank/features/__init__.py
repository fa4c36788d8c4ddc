"""Features of judged tables with text columns, as scikit-learn transformers of DataFrames."""

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
    "TextSimilarity",
    "TextStatistics",
    "TextVectors",
    "make_text_features",
]

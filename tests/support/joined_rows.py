"""Judgments and a run of which some documents are unjudged, hidden or of other topics."""

import numpy as np
import pandas as pd

NO = -np.inf

QRELS = pd.DataFrame(
    {
        "qid": ["1", "1", "1", "2", "10", "10"],
        "docno": ["a", "b", "c", "a", "x", "y"],
        "label": [2.0, -1.0, np.nan, 1.0, 0.0, 3.0],
    }
)
RUN = pd.DataFrame(
    {
        "qid": ["10", "1", "1", "1", "7", "7", "10"],
        "docno": ["y", "u", "a", "c", "a", "b", "x"],
        "score": [0.25, 0.5, 0.5, 9.0, 1.0, 2.0, NO],
    }
)

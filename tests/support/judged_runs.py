"""Runs and judgments that hypothesis draws."""

import numpy as np
import pandas as pd
from hypothesis import strategies as st

TOPICS = ["1", "2", "10", "x"]
DOCUMENTS = ["a", "b", "c", "d", "é"]
LABELS = [-2.0, -1.0, 0.0, 1.0, 2.0]


@st.composite
def tables(draw, value, name):
    """Some documents of some topics, each once, in any order; at least one of the first topic."""
    pairs = [(topic, document) for topic in TOPICS for document in DOCUMENTS]
    some = draw(st.lists(st.sampled_from(pairs), unique=True, min_size=1))
    some += [] if any(topic == "1" for topic, _ in some) else [("1", "a")]
    values = draw(st.lists(value, min_size=len(some), max_size=len(some)))
    table = pd.DataFrame(some, columns=["qid", "docno"])
    return table.assign(**{name: values})


# Ties, and scores that differ in the last bit of a float64.
scores = st.sampled_from([0.0, 1.0, np.nextafter(1, 2), 1e-300, -7.5]) | st.floats(-1e9, 1e9)
runs = tables(scores, "score")
qrels = tables(st.sampled_from(LABELS), "label")

"""Tables of judgments that several tests complete."""

import pandas as pd
import pytest

from judgment_tables import NAN, make_table


@pytest.fixture
def T():
    return make_table()


@pytest.fixture
def poor(T):
    """Make two good queries, one with one label, and one without any."""
    rows = [("one", "wing lift", 1.0), ("one", "paper", NAN), ("one", "slab boil melt", NAN)]
    rows += [("none", "wing lift flap", NAN), ("none", "paper plate", NAN)]
    return pd.concat([T, pd.DataFrame(rows, columns=["qid", "text", "label"])], ignore_index=True)

"""Lines of runs, with and without pyarrow."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skfilterrank.io import (
    write_run,
)
from skfilterrank.io._trec.run_lines import score_texts


@given(
    st.lists(
        st.one_of(
            st.floats(allow_nan=False, allow_infinity=False),
            st.floats(1e-5, 1e11),
            st.integers(-(10**17), 10**17).map(float),
            st.floats(0, 100).map(lambda value: round(value, 4)),
        ),
        min_size=1,
        max_size=50,
    )
)
def test_scores_are_written_as_repr_does(scores):
    pytest.importorskip("pyarrow")
    scores = np.array([*scores, 0.0, -0.0, 1e-4, 1e10, 9999999999.0, 1e16, 5e-324])
    assert score_texts(scores).to_pylist() == list(map(repr, scores.tolist()))


def test_lines_are_the_same_with_and_without_pyarrow(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    run = pd.DataFrame(
        {
            "qid": rng.integers(0, 30, 3000),
            "docno": [f"d{'é' * (i % 5)}{i}" for i in range(3000)],
            "score": rng.choice([0.5, 1.0, 1e-7, 3e12, -np.inf, 0.1 + 0.2], 3000),
            "run": rng.choice(["a", "ü"], 3000),
        }
    )
    write_run(tmp_path / "with", run)
    monkeypatch.setattr("skfilterrank.io._trec.run_lines._has_arrow", lambda: False)
    write_run(tmp_path / "without", run)
    assert (tmp_path / "with").read_bytes() == (tmp_path / "without").read_bytes()
    assert len((tmp_path / "with").read_text("utf-8").split("\n")) > 2000

"""What the command prints is what the library says, whatever the runs hold."""

import contextlib
import io
import json

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judged_runs import qrels, runs
from skfilterrank.cli import main
from skfilterrank.io import write_qrels, write_run
from skfilterrank.metrics import values_of_run

MEASURES = ["ndcg_f@3", "ap", "forbidden@2"]

# Of few documents often none is judged.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*labels? below 0",
    "ignore:none of the .* is judged",
    "ignore:.*hold no label",
    "ignore:.*most of the",
)


def printed(*words):
    """What a command prints that works."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        assert main([str(word) for word in words]) == 0
    return out.getvalue()


@pytest.mark.slow
@given(run=runs, judged=qrels, missing=st.sampled_from(["drop", "empty"]))
def test_values_are_those_of_the_library(run, judged, missing, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    write_run(folder / "run", run)
    write_qrels(folder / "qrels", judged)
    words = [word for name in MEASURES for word in ("-m", name)]
    expected = values_of_run(judged, run, MEASURES, missing=missing)
    command = [
        "evaluate",
        folder / "qrels",
        folder / "run",
        "--missing",
        missing,
        *words,
    ]
    table = pd.read_csv(io.StringIO(printed(*command, "--format", "csv")))
    for name in MEASURES:
        assert table[name].tolist() == pytest.approx([expected[name].mean()], abs=1e-9), name
    assert json.loads(printed(*command, "--format", "json"))

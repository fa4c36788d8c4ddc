"""Several runs in three columns each, however they are given."""

import io

import numpy as np
import pandas as pd
import pytest

from skfilterrank.exceptions import InputError
from skfilterrank.io import read_runs, write_run

RUN = pd.DataFrame({"qid": ["2", "1", "1"], "docno": ["a", "b", "c"], "score": [1.0, 2.5, -np.inf]})


def test_columns_and_order_of_rows():
    text = "2 Q0 a 1 1.0 tag\n1 Q0 b 1 2.5 tag\n1 Q0 c 2 -inf tag\n"
    (name, found), *others = read_runs({"mine": io.StringIO(text)}).items()
    assert (name, others) == ("mine", [])
    pd.testing.assert_frame_equal(found, RUN, check_dtype=False)
    assert found["score"].dtype == np.float64


def test_ids_of_frames_stay_what_they_are():
    frame = pd.DataFrame({"query_id": [7, 8], "doc_id": [1, 2], "score": [1, 2], "other": "x"})
    found = read_runs({"mine": frame})["mine"]
    assert found.to_dict("list") == {"qid": [7, 8], "docno": [1, 2], "score": [1.0, 2.0]}
    pl = pytest.importorskip("polars")
    of_polars = read_runs({"mine": pl.from_pandas(frame)})["mine"]
    assert of_polars.to_dict("list") == found.to_dict("list")
    levels = RUN.set_index(["qid", "docno"])
    pd.testing.assert_frame_equal(read_runs({"mine": levels})["mine"], RUN)


def test_ranks_stand_for_scores():
    ranked = RUN.drop(columns="score").assign(rank=[1, 1, 2])
    assert read_runs({"mine": ranked})["mine"]["score"].tolist() == [-1.0, -1.0, -2.0]


def test_names_of_files(tmp_path):
    paths = [tmp_path / name for name in ("first.txt.gz", "second.run")]
    for path in paths:
        write_run(path, RUN)
    assert list(read_runs(paths)) == ["first", "second.run"]
    found = read_runs(paths[0])
    assert list(found) == ["first"]
    # Topics are written in the order of their ids, and what is filtered is not.
    assert found["first"].to_dict("list") == {
        "qid": ["1", "2"],
        "docno": ["b", "a"],
        "score": [2.5, 1.0],
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"docno": ["a", None, "c"]}, "column 'docno' of run holds no id in row 1"),
        ({"qid": ["1", "2", None]}, "column 'qid' of run holds no id in row 2"),
        ({"score": [1.0, np.nan, 2.0]}, "column 'score' of run holds 1 NaN"),
    ],
)
def test_the_run_that_is_wrong_is_named(change, message):
    with pytest.raises(InputError, match=message) as error:
        read_runs({"good": RUN, "bad": RUN.assign(**change)})
    assert error.value.__notes__ == ["This came up with the run 'bad'."]

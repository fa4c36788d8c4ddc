"""Teams of runs, from a file."""

import io

import pandas as pd
import pytest

from skfilterrank.judgments import rank_systems


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "one A\ntwo B\n\nthree A\nfour  C\nfive\tB\n",
        "one,A\ntwo,B\nthree,A\nfour,C\nfive,B\nother,D\n",
        'run,report,team\none,"x,y",A\ntwo,,B\nthree,z,A\nfour,,C\nfive,,B\n',
        "\ufeffteam,run\nA,one\nB,two\nA,three\nC,four\nB,five\n",
    ],
)
def test_teams(forecast, runs, tmp_path, text):
    (tmp_path / "teams").write_text(text, encoding="utf-8")
    out, err = forecast("--teams", "teams", "--format", "csv")
    assert err == "3 of 5 runs: the first by name of each team\n"
    found = pd.read_csv(io.StringIO(out), index_col="run")
    expected = rank_systems({name: runs[name] for name in ("one", "five", "four")})
    assert list(found.index) == list(expected.index)
    assert found["team"].to_dict() == {"one": "A", "five": "B", "four": "C"}
    assert forecast("--teams", "teams", "--quiet")[1] == ""

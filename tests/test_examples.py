"""Every example runs."""

import runpy
from pathlib import Path

import matplotlib as mpl
import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(example, tmp_path, monkeypatch, capsys, request):
    if "SKFILTERRANK_DATA" in example.read_text(encoding="utf-8"):
        monkeypatch.setenv("SKFILTERRANK_DATA", str(request.getfixturevalue("data_dir")))
    monkeypatch.chdir(tmp_path)
    mpl.use("Agg")
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out.strip()

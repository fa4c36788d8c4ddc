"""Programs on public data of docs/public_data.md run where the data that they need are there."""

import re
from pathlib import Path

import pytest

from public_data import data_set

PAGE = (Path(__file__).parents[2] / "docs/public_data.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
FOLDERS = ("semeval2016-cqa", "trec-covid-round1", "cranfield", "mq2007")
# The published files; what benchmarks read are the five parts of which they are made.
PARTS = {"MQ2007/Fold1/train.txt": "S1.txt.gz", "MQ2007/Fold1/test.txt": "S5.txt.gz"}


@pytest.mark.nightly
@pytest.mark.parametrize(("program", "folder"), zip(PROGRAMS, FOLDERS, strict=True), ids=FOLDERS)
def test_program_runs(program, folder, capsys, monkeypatch):
    home = data_set(folder)
    monkeypatch.setenv("SKFILTERRANK_DATA", str(home.parent))
    monkeypatch.chdir(home.parent)
    for published, part in PARTS.items():
        program = program.replace(f'"{published}"', repr(str(home / part)))
    exec(compile(program, "docs/public_data.md", "exec"), {})
    assert capsys.readouterr().out.strip()

import json
import os
import sys

import pytest

from judged_documents import DOCS, RUNS, WITH_RUNS
from terminals import Terminal


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Documents, topics and runs of two topics."""
    monkeypatch.chdir(tmp_path)
    for name in ("TERM", "COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    with open("docs.jsonl", "w") as file:
        for docid, text in DOCS.items():
            file.write(json.dumps({"docid": docid, "title": text[:7], "text": text}) + "\n")
    (tmp_path / "topics.csv").write_text("qid,query,narrative\n1,the cats,All of them.\n2,dog,\n")
    for name, documents in RUNS.items():
        with open(f"{name}.run", "w") as file:
            for qid in "12":
                for rank, docno in enumerate(documents, 1):
                    file.write(f"{qid} Q0 {docno} {rank} {10 - rank} {name}\n")
    return tmp_path


@pytest.fixture
def ask(run, files, monkeypatch):
    """Run the command with these lines as answers."""

    def ask(answers, *arguments, base=WITH_RUNS):
        read, write = os.pipe()
        os.write(write, "".join(f"{answer}\n" for answer in answers).encode())
        os.close(write)
        with open(read) as stdin:
            monkeypatch.setattr(sys, "stdin", stdin)
            return run(*base, *arguments)

    return ask


@pytest.fixture
def terminal(files):
    opened = []

    def terminal(*arguments, **environment):
        opened.append(Terminal(*WITH_RUNS, *arguments, **environment))
        return opened[-1]

    yield terminal
    for one in opened:
        one.close()

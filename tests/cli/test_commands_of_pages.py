"""Commands on pages of the documentation run one after the other, with the files of the page."""

import io
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.io import write_qrels, write_run

DOCS = Path(__file__).parents[2] / "docs"
pytestmark = [
    pytest.mark.nightly,
    pytest.mark.filterwarnings("ignore::skfilterrank.exceptions.SkfilterrankWarning"),
]


def commands_of(page, *starts):
    """Commands of a page in their order: of its blocks and of its sentences, by their first words.

    Others, of which a sentence gives a part, are left out.
    """
    text = (DOCS / page).read_text(encoding="utf-8")
    found = re.findall(r"```sh\n(.*?)```|`(skfilterrank [^`]*)`", text, re.DOTALL)
    lines = "\n".join(block.replace("\\\n", " ") or " ".join(said.split()) for block, said in found)
    commands = [shlex.split(line, comments=True) for line in lines.splitlines() if line]
    return [each[1:] for each in commands if each[1:] and " ".join(each[1:]).startswith(starts)]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)


def rows_of(n_queries, seed):
    _, y, groups, scores = make_rank_and_filter(n_queries, random_state=seed)
    docnos = [f"{seed}-{row}" for row in range(len(y))]
    return pd.DataFrame({"qid": groups, "docno": docnos, "score": scores, "label": y})


def test_thresholds(run):
    rows = rows_of(1500, 0)
    write_run("run.txt", rows)
    write_qrels("qrels.txt", rows)
    users = pd.DataFrame({"qid": rows["qid"].unique(), "user": rows["qid"].unique() // 2})
    users.to_csv("users.csv", index=False)
    (words,) = commands_of("thresholds.md", "threshold qrels.txt")
    code, _, err = run(*words)
    assert code == 0, err


def test_a_log_of_passages(run, monkeypatch):
    log, new = (
        rows_of(n, seed).assign(query="a question", text="some words")
        for seed, n in enumerate((300, 20))
    )
    log.drop(columns="label").to_csv("log.csv", index=False)
    new.drop(columns="label").to_csv("new.csv", index=False)
    judge, *others = commands_of("rag.md", "judge log.csv", "threshold people.prels", "apply")
    assert [each[0] for each in others] == ["threshold", "apply"]
    monkeypatch.setattr("sys.stdin", io.StringIO("1\n" * 2000))
    code, _, err = run(*judge)
    assert code == 0, err
    judged = pd.read_csv("people.prels", sep=" ", header=None)
    assert judged[0].value_counts().max() <= 5
    assert f"Here they are {judged[0].nunique()}, if" in (DOCS / "rag.md").read_text()
    for words in others:
        code, _, err = run(*words)
        assert code == 0, (words, err)
    # All labels are good, so that nothing of the first 5 need be hidden.
    shown = pd.read_csv("shown.csv")
    assert set(shown["docno"]) <= set(new["docno"])
    assert shown["qid"].nunique() == 20
    assert "any_forbidden@5" in Path("card.html").read_text()


def test_judging_less(run, monkeypatch):
    rng = np.random.default_rng(0)
    pool = pd.DataFrame(
        [(query, query + place) for query in "123" for place in "abcdefghijkl"],
        columns=["qid", "docno"],
    )
    Path("runs").mkdir()
    for name in ("one", "two"):
        write_run(f"runs/{name}.gz", pool.assign(score=rng.random(len(pool))))
    words = ["wing", "flutter", "soup", "cold", "hot", "recipe", "theory"]
    texts = [" ".join(rng.choice(words, 3)) for _ in range(len(pool))]
    pool[["docno"]].assign(text=texts).to_csv("docs.csv", index=False)
    topics = pd.DataFrame({"qid": list("123"), "text": ["wing flutter", "soup", "theory"]})
    topics.to_csv("topics.csv", index=False)
    monkeypatch.setattr("sys.stdin", io.StringIO("0\n1\n" * 40))
    commands = commands_of("judging_less.md", "judge runs", "complete")
    assert [each[0] for each in commands] == ["judge", "complete"]
    for words in commands:
        code, _, err = run(*words)
        assert code == 0, (words, err)
    assert len(Path("judged.txt").read_text().splitlines()) == 30
    assert len(Path("completed.txt").read_text().splitlines()) == 36


def test_the_command_line(run):
    words = {-1: "rude silly spam", 1: "some answer with a hint", 2: "clear helpful answer"}
    names = {-1: "Bad", 1: "PotentiallyUseful", 2: "Good"}
    rng = np.random.default_rng(0)
    for seed, (name, n) in enumerate({"answers": 40, "more-answers": 20, "new-answers": 5}.items()):
        rows = rows_of(n, seed)
        rows["text"] = [f"{words[rng.choice([y, 1])]} {rng.integers(9)}" for y in rows["label"]]
        rows["label"] = rows["label"].map(names)
        rows = rows.drop(columns=["score", "label"][: 1 + (name == "new-answers")])
        rows.to_json(f"{name}.jsonl.gz", orient="records", lines=True)
    commands = commands_of("command_line.md", "rank-filter", "apply")
    assert [each[0] for each in commands] == ["rank-filter", "apply"]
    for words in commands:
        code, _, err = run(*words)
        assert code == 0, (words, err)
    assert {"curve.png", "filtered.run", "model.joblib", "new.run"} <= set(
        map(str, Path().iterdir())
    )

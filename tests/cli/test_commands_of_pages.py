"""Commands on pages of the documentation run one after the other, with the files of the page."""

import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judged_documents import fill, table_of
from public_data import data_set
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.io import read_qrels
from skfilterrank.thresholds import queries_needed

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


def test_a_log_of_passages(run):
    log, new = (
        rows_of(n, seed).assign(query="a question", text="some words")
        for seed, n in enumerate((300, 20))
    )
    log.drop(columns="label").to_csv("log.csv", index=False)
    new.drop(columns="label").to_csv("new.csv", index=False)
    starts = ("select log.csv", "threshold judge.csv", "apply")
    select, *others = commands_of("certificates.md", *starts)
    assert [each[0] for each in others] == ["threshold", "apply"]
    code, _, err = run(*select)
    assert code == 0, err
    assert Path("judge.html").exists()
    run(*select, "--out", "drawn.csv")
    table = table_of("drawn.csv")
    assert table["qid"].value_counts().max() <= 5
    n_drawn = table["qid"].nunique()
    assert n_drawn == queries_needed(0.1, 0.06, power=0.8)
    assert f"draws {n_drawn} questions" in (DOCS / "certificates.md").read_text()
    fill("drawn.csv", dict.fromkeys(table["docno"], "answers"), to="judge.csv")
    for words in others:
        code, _, err = run(*words)
        assert code == 0, (words, err)
    # All labels are good, so that nothing of the first 5 need be hidden.
    shown = pd.read_csv("shown.csv")
    assert set(shown["docno"]) <= set(new["docno"])
    assert shown["qid"].nunique() == 20
    assert "any_forbidden@5" in Path("card.html").read_text()


def test_judging_50_documents_of_cranfield(run):
    folder = data_set("cranfield")
    for name in ("docs.jsonl.gz", "queries.jsonl"):
        shutil.copy(folder / name, name)
    page = (DOCS / "judging_less.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(from pathlib.*?)```", page, re.DOTALL)
    exec(block, {})
    starts = "select runs --n-total 50", "complete", "evaluate drawn.csv", "compare"
    select, *others = commands_of("judging_less.md", *starts)
    assert [each[0] for each in others] == ["complete", "evaluate", "compare"]
    code, _, err = run(*select)
    assert code == 0, err
    # The best code of Cranfield is 1, and a document without one is not relevant.
    codes = read_qrels(folder / "qrels.txt", unjudged_label="trec").dropna()
    pairs = zip(codes["qid"], codes["docno"])
    table = table_of("judge.csv")
    assert len(table) == 50
    labels = dict.fromkeys(table["docno"], "no") | dict.fromkeys(pairs, "yes")
    fill("judge.csv", labels, sep=";", encoding="utf-8-sig")
    people = read_qrels("judged.csv", gains={"no": 0, "yes": 1})["label"]
    assert 0 < people.mean() < 1
    for words in others:
        code, out, err = run(*words)
        assert code == 0, (words, err)
    assert "words" in out
    completed = read_qrels("drawn.csv", predicted="use")
    assert (completed["judged_by"] == "people").sum() == 50
    assert (completed["judged_by"] == "drawn").sum() > 200 * 20


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
    assert {"filtered.run", "model.joblib", "new.run"} <= set(map(str, Path().iterdir()))

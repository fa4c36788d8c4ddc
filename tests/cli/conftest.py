import re
import shutil
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest

import skfilterrank
from skfilterrank import thresholds
from skfilterrank.cli import main, rank_filter
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.io import read_qrels, write_qrels, write_run

GAINS = "Bad=-1,Ok=1,Good=2"
# Arguments of Python and classes, which no message of a command names.
CLASSES = {name for name in (*skfilterrank.__all__, *thresholds.__all__) if name[0].isupper()}
OF_PYTHON = re.compile(
    r"(?<=[\s,;:])[a-z]+(?:_[a-z]+)*=(?=[\s,;:'\[{]|\.(?!\.)|None|True|$)"
    rf"|(?<![.\w])(?:{'|'.join(sorted(CLASSES - {'Threshold', 'Cut'}))})\b"
)
QUICK = ["--models", "bce", "--learner", "linear"]


@pytest.fixture(scope="session")
def table():
    """Judged rows: numbers, an id with leading zeros, words that are neither text nor number."""
    X, y, groups, _ = make_rank_and_filter(n_queries=80, random_state=0)
    table = pd.DataFrame(X[:, :4], columns=["f0", "f1", "f2", "f3"])
    table.insert(0, "qid", [f"q{group}" for group in groups])
    table.insert(1, "docno", [f"{row:04d}" for row in range(len(y))])
    table["label"] = pd.Series(y).map({-1: "Bad", 1: "Ok", 2: "Good"})
    table["color"] = np.where(np.arange(len(y)) % 3 == 0, "red", "blue")
    return table


@pytest.fixture(scope="session")
def texts():
    """Judged answers to questions."""
    rng = np.random.RandomState(0)
    good, bad = "helpful clear answer with a link", "rude silly words for nobody"
    rows = []
    for query in range(30):
        for place in range(4):
            label = rng.choice(["Good", "Bad"])
            words = (good if label == "Good" else bad).split()
            rows.append(
                {
                    "qid": f"q{query}",
                    "docno": f"{query}-{place}",
                    "question": f"where is the market number {query}",
                    "asker": f"user{query}",
                    "answer": " ".join(rng.choice([*words, "market", "number", "the"], 6)),
                    "author": f"user{query if rng.rand() < 0.2 else rng.randint(30)}",
                    "place": place,
                    "label": label,
                }
            )
    return pd.DataFrame(rows)


@pytest.fixture(scope="session")
def split_table(table):
    """Text of train.csv and test.csv, which have the table's rows."""
    is_train = table["qid"].isin([f"q{number}" for number in range(50)])
    return {
        name: table[rows].to_csv(index=False)
        for name, rows in (("train.csv", is_train), ("test.csv", ~is_train))
    }


@pytest.fixture
def folder(tmp_path, monkeypatch, split_table):
    """An empty working folder with the table in train.csv and test.csv."""
    monkeypatch.chdir(tmp_path)
    for name, text in split_table.items():
        Path(name).write_text(text)
    return tmp_path


@pytest.fixture
def run(capsys):
    """Run the command line; its exit code, output and messages."""

    def run(*arguments):
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = stop.code
        captured = capsys.readouterr()
        # Columns are named as "--columns qid=NAME".
        named = captured.err.replace("--columns, such as qid=", "")
        assert OF_PYTHON.findall(named) == []
        return code, captured.out, captured.err

    return run


@pytest.fixture
def train(run, folder):
    """Run a quick rank-filter on train.csv."""

    def train(*arguments, file="train.csv", gains=GAINS):
        quick = QUICK[2:] if "--models" in arguments else QUICK
        return run("rank-filter", file, "--gains", gains, *quick, *arguments)

    return train


@pytest.fixture(scope="session")
def known_models():
    """What `compare_models` returned, by all that it was given."""
    return {}


@pytest.fixture
def trained_once(known_models, monkeypatch):
    """Commands have the models of an earlier one that was given the same, as trained alike."""
    real = rank_filter.compare_models

    def compare_models(*given, **how):
        key = joblib.hash((given, how))
        if key not in known_models:
            known_models[key] = real(*given, **how)
        return known_models[key]

    monkeypatch.setattr(rank_filter, "compare_models", compare_models)


@pytest.fixture(scope="session")
def reranked(tmp_path_factory):
    """Judgments and the scores of a reranker in a folder, and the rows as a frame."""
    folder = tmp_path_factory.mktemp("reranked")
    data = make_rank_and_filter(n_queries=200, random_state=0)
    rows = pd.DataFrame(
        {
            "qid": [f"q{query:03}" for query in data.groups],
            "docno": [f"d{row:04}" for row in range(len(data.y))],
            "score": data.bayes_scores,
            "label": data.y,
        }
    )
    write_run(folder / "run.txt", rows)
    write_qrels(folder / "qrels.txt", rows)
    return folder, rows


@pytest.fixture
def data(reranked, tmp_path, monkeypatch):
    """The same files in the working folder; the rows as a frame."""
    monkeypatch.chdir(tmp_path)
    folder, rows = reranked
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    return rows.copy()


@pytest.fixture(scope="session")
def world():
    """Four runs of 30 queries with 60 documents each, people's and a machine's labels."""
    data = make_rank_and_filter(
        30, documents_per_query=60, labels={0: 0.6, 1: 0.2, 2: 0.2}, query_effect=0.1,
        bayes=False, as_frame=True, random_state=0,
    )  # fmt: skip
    people = data.y.rename("label").reset_index()
    rng, good = np.random.RandomState(0), people["label"].to_numpy()
    machine = people.assign(label=np.clip(good + rng.choice([0, 1, 1, -1], len(good)), 0, 2))
    runs = {
        name: people[["qid", "docno"]].assign(score=good + noise * rng.normal(size=len(good)))
        for name, noise in {"alpha": 1.0, "beta": 1.5, "gamma": 1.6, "delta": 3.0}.items()
    }
    return {"people": people, "machine": machine, "runs": runs}


@pytest.fixture(scope="session")
def written(world, tmp_path_factory):
    """The same as files."""
    folder = tmp_path_factory.mktemp("written")
    (folder / "runs").mkdir()
    for name, run in world["runs"].items():
        write_run(folder / "runs" / f"{name}.txt", run, name=name)
    write_qrels(folder / "all.txt", world["people"])
    write_qrels(folder / "llm.txt", world["machine"])
    docnos = world["people"]["docno"].unique()
    pd.DataFrame({"docno": docnos, "text": "words"}).to_csv(folder / "docs.csv", index=False)
    return folder


@pytest.fixture
def sampled_folder(written, tmp_path, monkeypatch):
    """The same files, in the working folder."""
    monkeypatch.chdir(tmp_path)
    return shutil.copytree(written, tmp_path, dirs_exist_ok=True)


@pytest.fixture
def sampled_runs(sampled_folder):
    """Paths of the runs, in the working folder."""
    return sorted(map(str, Path("runs").iterdir()))


@pytest.fixture
def people(sampled_folder):
    """What people say of each document."""
    labels = read_qrels("all.txt").set_index(["qid", "docno"])["label"]
    return labels.astype(int).astype(str).to_dict()

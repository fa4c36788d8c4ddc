import joblib
import numpy as np
import pandas as pd
import pytest

from skfilterrank.cli import main
from skfilterrank.cli.rank_filter import run as rank_filter_run
from skfilterrank.datasets import make_rank_and_filter

GAINS = "Bad=-1,Ok=1,Good=2"
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


@pytest.fixture
def folder(tmp_path, monkeypatch, table):
    """An empty working folder with the table in train.csv and test.csv."""
    monkeypatch.chdir(tmp_path)
    is_train = table["qid"].isin([f"q{number}" for number in range(50)])
    table[is_train].to_csv("train.csv", index=False)
    table[~is_train].to_csv("test.csv", index=False)
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
        return code, captured.out, captured.err

    return run


@pytest.fixture
def train(run, folder):
    """Run a quick rank-filter on train.csv."""

    def train(*arguments, file="train.csv", gains=GAINS):
        return run("rank-filter", file, "--gains", gains, *QUICK, *arguments)

    return train


@pytest.fixture(scope="session")
def known_models():
    """What `compare_rankers` returned, by all that it was given."""
    return {}


@pytest.fixture
def trained_once(known_models, monkeypatch):
    """Commands have the models of an earlier one that was given the same, as trained alike."""
    real = rank_filter_run.compare_rankers

    def compare_rankers(*given, verbose, **how):
        key = joblib.hash((given, how))
        if key not in known_models:
            known_models[key] = real(*given, verbose=verbose, **how)
        return known_models[key]

    monkeypatch.setattr(rank_filter_run, "compare_rankers", compare_rankers)

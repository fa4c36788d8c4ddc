"""How many of the documents that complete_qrels predicts to be relevant are, and what it expects.

TREC deep learning 2019 (37 runs, relevant from label 2 on) and Cranfield (five tf-idf runs of 100
documents, 120 queries): so many documents of each topic are judged, by depth of the pool, at random
and by MAXREP; the others are predicted. Writes results/completed_labels_precision.md.
"""

import warnings

import numpy as np
import pandas as pd
from _common import arguments, write_report
from sklearn.feature_extraction.text import TfidfVectorizer

from skfilterrank.exceptions import SkfilterrankWarning
from skfilterrank.io import read_qrels, read_runs
from skfilterrank.judgments import (
    MaxRepSelector,
    PoolingSelector,
    RandomSelector,
    StatAPSelector,
    complete_qrels,
    rank_table,
)

BUDGETS = (5, 10, 20, 50)
N_QUERIES, DEPTH = 120, 100


def deep_learning(folder):
    """Runs, what is judged of their pool, and texts."""
    documents = pd.read_json(folder / "docs.jsonl.gz", lines=True, dtype=False)
    labels = read_qrels(folder / "qrels.txt.gz").set_index(["qid", "docno"])["label"]
    runs = read_runs(sorted((folder / "runs").glob("*.gz")))
    table = rank_table(runs)
    table = table[table.index.isin(labels.index)]
    truth = (labels.loc[table.index] >= 2).astype(float)
    return table, truth, documents.set_index("docno")["text"]


def cranfield(folder):
    """The same; what the qrels do not hold is not relevant."""
    documents = pd.read_json(folder / "docs.jsonl.gz", lines=True, dtype=False)
    texts = documents.set_index("docid")["text"].fillna("")
    queries = pd.read_json(folder / "queries.jsonl", lines=True, dtype=False)[:N_QUERIES]
    queries = queries.astype({"qid": str})
    relevant = read_qrels(folder / "qrels.txt", unjudged_label=None).query("label > 0")
    runs = {}
    for number, params in enumerate(
        ({}, {"sublinear_tf": True}, {"use_idf": False}, {"ngram_range": (1, 2)},
         {"stop_words": "english"})
    ):  # fmt: skip
        vectorizer = TfidfVectorizer(**params)
        X = vectorizer.fit_transform(texts)
        scores = (vectorizer.transform(queries["text"]) @ X.T).toarray()
        top = np.argsort(-scores, axis=1)[:, :DEPTH]
        columns = {
            "qid": np.repeat(queries["qid"].to_numpy(), DEPTH),
            "docno": texts.index[top.ravel()],
            "score": np.take_along_axis(scores, top, axis=1).ravel(),
        }
        runs[f"run {number}"] = pd.DataFrame(columns)
    table = rank_table(runs)
    is_relevant = table.index.isin(pd.MultiIndex.from_frame(relevant[["qid", "docno"]]))
    return table, pd.Series(is_relevant.astype(float), table.index, name="label"), texts


def runs_of(table):
    """Runs whose ranks are those of a rank table."""
    return {name: (-ranks.dropna()).rename("score").reset_index() for name, ranks in table.items()}


def rankings(table, texts):
    """Place of each document by each strategy."""
    groups = table.index.get_level_values("qid")
    own = texts.reindex(table.index.get_level_values("docno")).fillna("").tolist()
    prior = StatAPSelector().fit(table).prior_
    yield "pooling", PoolingSelector().fit(table).ranking_
    yield "random", RandomSelector(random_state=0).fit(table, groups=groups).ranking_
    yield "MAXREP", MaxRepSelector(0.8).fit(own, groups=groups, prior=prior).ranking_


def rows_of(name, table, truth, texts):
    """A row of the report for each strategy and budget."""
    runs = runs_of(table)
    for strategy, places in rankings(table, texts):
        for budget in BUDGETS:
            judged = truth[places <= budget].rename("label").reset_index()
            completed = complete_qrels(judged, runs, texts, random_state=0)
            found = completed.qrels.set_index(["qid", "docno"])
            said = found[(found["judged_by"] == "predicted") & (found["label"] > 0)]
            quality = completed.quality
            yield (
                f"| {name} | {strategy} | {budget} | {len(said):,} | "
                f"{100 * truth[said.index].mean():.1f} | "
                f"{100 * completed.expected_precision:.1f} | "
                f"{100 * quality['agreement'].get(1.0, np.nan):.1f} |"
            )


def main():
    """All rows, and the report."""
    options = arguments(__doc__)
    lines = []
    warnings.simplefilter("ignore", SkfilterrankWarning)
    for name, folder, read in (
        ("DL 2019", "trec-dl2019-llm", deep_learning),
        ("Cranfield", "cranfield", cranfield),
    ):
        table, truth, texts = read(options.data / folder)
        share = f"{name}: {len(table):,} documents, {100 * truth.mean():.1f} % relevant"
        print(share)
        for line in rows_of(name, table, truth, texts):
            print(line, flush=True)
            lines.append(line)
    text = f"""
Documents that `complete_qrels` predicts to be relevant, with `LabelPredictor()` as it is: the share
that is, in percent; `expected_precision`, from held-out judged documents and ranks in the runs; and
the share of held-out judged documents predicted relevant that are, which says much too much where
the best ranks were judged. Made by benchmarks/completed_labels_precision.py.

| collection | judged by | a topic | predicted relevant | are % | expected % | held-out % |
| --- | --- | --- | --- | --- | --- | --- |
{chr(10).join(lines)}
"""
    write_report("completed_labels_precision", "What predicted labels are worth", text)


if __name__ == "__main__":
    main()

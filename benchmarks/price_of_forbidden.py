"""How the price of a forbidden document decides which system nDCG_f@10 calls best.

Two collections of health questions: TREC 2021 Health Misinformation, where harmful pages are
forbidden, and CLEF eHealth 2021, where pages that are not credible are. Other relevant pages have
gain 1. Each run is measured at several prices and with unjudged
documents worth 0, taken out of the lists, or forbidden, beside a random order and an empty list.

    python benchmarks/price_of_forbidden.py
"""

import warnings

import numpy as np
import pandas as pd
from _common import arguments, write_report

from skfilterrank.exceptions import SkfilterrankWarning
from skfilterrank.io import read_qrels, read_runs
from skfilterrank.metrics import evaluate

K = 10
PRICES = (1, 3, 10)
UNJUDGED = {"zero": "worth 0", "drop": "taken out", "forbidden": "forbidden"}
N_ORDERS = 20
POOL = "BM25, 3,000 documents"


def table_of(runs, qrels):
    """A row for each judged or retrieved document: label, and a column of scores for each run."""
    table = qrels.set_index(["qid", "docno"])["label"].astype(float).to_frame()
    for name, run in runs.items():
        run = run.astype({"qid": str, "docno": str})
        # Ties by document id, descending.
        run = run.sort_values(["score", "docno"], ascending=False)
        run = run.assign(**{name: -run.groupby("qid").cumcount().astype(float)})
        table = table.join(run.set_index(["qid", "docno"])[name], how="outer")
    of_all = [set(qrels["qid"]), *(set(run["qid"].astype(str)) for run in runs.values())]
    table = table[table.index.get_level_values("qid").isin(set.intersection(*of_all))].reset_index()
    names = list(runs)
    return table.assign(**{name: table[name].fillna(-np.inf) for name in names})


def misinformation(folder):
    """Three published runs of 1,000 documents, and BM25 of 3,000."""
    qrels = read_qrels(folder / "qrels.txt.gz", unjudged_label=None)
    files = ("BM25-Baseline", "Correct-Stance", "Trust-Pipeline")
    runs = read_runs({name: folder / f"{name}.run.gz" for name in files})
    features = pd.read_parquet(folder / "features.parquet").rename(columns={"query": "qid"})
    runs[POOL] = features.assign(score=features["bm25_score"])
    return table_of(runs, qrels), POOL


def health_search(folder):
    """Two runs of 1,000 documents; what is not credible is forbidden whatever its relevance."""
    relevance = read_qrels(folder / "qrels.txt.gz", unjudged_label=None)
    credible = read_qrels(folder / "credibility.txt.gz", unjudged_label=None)
    qrels = relevance.merge(credible, on=["qid", "docno"], how="left", suffixes=("", "_credible"))
    qrels["label"] = np.where(qrels["label_credible"] == 0, -1, qrels["label"])
    runs = read_runs({"BM25": folder / "bm25.run.gz", "TF-IDF": folder / "tf_idf.run.gz"})
    return table_of(runs, qrels[["qid", "docno", "label"]]), "BM25"


def measured(table, scores, price, unjudged):
    """nDCG_f@10 at a price, with unjudged documents treated in one of three ways."""
    labels = table["label"].to_numpy()
    gains = np.where(labels < 0, -float(price), np.minimum(labels, 1))
    if unjudged == "forbidden":
        gains, unjudged = np.where(np.isnan(gains), -float(price), gains), "zero"
    return evaluate(
        gains, scores, f"ndcg_f@{K}", groups=table["qid"], unjudged=unjudged
    ).means.iloc[0]


def systems_of(table, pool):
    """Scores of each system: the runs, random orders of what one of them retrieved, nothing."""
    names = [name for name in table if name not in ("qid", "docno", "label")]
    found = {name: [table[name].to_numpy()] for name in names}
    is_there = np.isfinite(table[pool])
    found[f"random order of {pool}"] = [
        np.where(is_there, np.random.default_rng(seed).random(len(table)), -np.inf)
        for seed in range(N_ORDERS)
    ]
    found["nothing is shown"] = [np.full(len(table), -np.inf)]
    return found


def rows_of(table, pool):
    """A line of the report for each system."""
    judged = table["label"].notna()
    for name, orders in systems_of(table, pool).items():
        cells = []
        for unjudged in UNJUDGED:
            for price in PRICES:
                values = [measured(table, scores, price, unjudged) for scores in orders]
                cells.append(f"{np.mean(values):.3f}")
        shares = []
        for scores in orders:
            ranks = pd.Series(scores).groupby(table["qid"]).rank(ascending=False, method="first")
            top = np.isfinite(scores) & (ranks <= K).to_numpy()
            shares.append(1 - judged[top].mean() if top.any() else np.nan)
        share = np.mean(shares)
        cells.append("" if np.isnan(share) else f"{share:.0%}")
        yield f"| {name} | " + " | ".join(cells) + " |"


def main():
    """Both collections, and the report."""
    options = arguments(__doc__.splitlines()[0])
    warnings.simplefilter("ignore", SkfilterrankWarning)
    text = FINDINGS
    head = [f"{words}: {-price}" for words in UNJUDGED.values() for price in PRICES]
    for title, folder, read in (
        ("TREC 2021 Health Misinformation", "trec-misinfo-2021", misinformation),
        ("CLEF eHealth 2021", "clef-health-2021", health_search),
    ):
        table, pool = read(options.data / folder)
        labels = table["label"]
        text += f"\n## {title}\n\n{table['qid'].nunique()} queries; {labels.notna().sum():,} "
        text += f"judged documents, {(labels < 0).sum():,} of them forbidden.\n\n"
        text += "| list | " + " | ".join(head) + " | top 10 unjudged |\n| --- |"
        text += " ---: |" * (len(head) + 1) + "\n" + "\n".join(rows_of(table, pool)) + "\n"
    write_report("price_of_forbidden", "The price of forbidden documents", text)


FINDINGS = """
nDCG_f@10, mean over queries. Columns: how unjudged documents count, and the gain of a forbidden
document. Random orders are means of 20.

* **A list without judged documents scores like an empty one** where unjudged documents are worth 0:
  a random order of 3,000 documents, 95 % of its top 10 unjudged, stays within 0.016 of "nothing is
  shown" at every price. At -10 both are above a published run, Trust-Pipeline (0.853 and 0.858
  against 0.844); at -1 they are far below it (0.431 and 0.416 against 0.673).
* **Taking unjudged documents out does not help**: the random order has 0.690 to 0.694, above BM25
  (0.619), as the judged documents that are left of it are mostly helpful ones.
* **Taking unjudged documents for forbidden** puts the random order last, and the empty list first
  wherever a forbidden document costs 3 or more; at -1 it is third.
* **The price alone can turn an order**: of the two runs of CLEF eHealth TF-IDF is ahead at -1 and
  -3 and BM25 at -10. Their top 10 is judged, and at -10 the empty list is within 0.010 of both.

So a value at a high price says little without two others beside it: that of the empty list, and the
share of the top k that is judged.
"""

if __name__ == "__main__":
    main()

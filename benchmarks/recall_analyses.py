"""Lexirecall beside other measures on runs of TREC-COVID round 1 and of TREC 2003 Robust.

The analyses of figures 9 to 13 of Diaz and Mitra, "Recall, robustness, and lexicographic
evaluation": agreement, ties, discriminative power, and what becomes of them with fewer labels.
The paper sorts collections by how many documents runs return; here runs are cut. Needs matplotlib;
four minutes on one core.
"""

import time
from functools import partial

import numpy as np
import pandas as pd
from _common import arguments, write_report
from _recall_analyses_figures import figures
from _recall_analyses_report import report_text
from scipy.stats import rankdata

from skfilterrank.comparison import SystemScores, score_systems
from skfilterrank.io import QrelsIndex, read_qrels, read_run
from skfilterrank.metaevaluation import (
    agreement,
    discriminative_power,
    label_degradation,
)

DATA = ("trec-covid-round1", "trec-robust2003")
MEASURES = {
    "lexirecall": "lexirecall(scale=preference)",
    "R@1000": "recall@1000",
    "R-precision": "r_precision",
    "AP": "ap",
    "nDCG": "ndcg_0",
    "nDCG@10": "ndcg_0@10",
    "RR": "rr",
}
DEPTHS = (1000, 100, 10)
DEGRADED = (1000, 100)
SAMPLING = ("uniform", "frequency")
N_SAMPLES = 10
# Sums of the same gains in another order are ties.
ROUNDING = 1e-12


def cut(run, depth):
    """The first documents of each topic; scores are the official ranks turned round."""
    run = run.sort_values(["qid", "score"], ascending=[True, False], kind="stable")
    return run[run.groupby("qid").cumcount() < depth]


def mid_ranks(scores):
    """Only the order of the systems for each topic, as of a preference."""
    values = rankdata(np.round(scores.values, 12), axis=0)
    return SystemScores(
        values, systems=scores.systems, queries=scores.queries, measure=scores.measure
    )


def with_all_labels(runs, index):
    """Figures 9 to 11: a row for each measure."""
    found = score_systems(index, runs, list(MEASURES.values()), missing="empty")
    scores = dict(zip(MEASURES, found.values(), strict=True))
    assert all(each.queries == scores["AP"].queries for each in scores.values())
    recall = scores["lexirecall"]
    assert recall.is_preference
    rows = {}
    for name, each in scores.items():
        power = partial(discriminative_power, each)
        order = mid_ranks(each)
        rows[name] = {
            "agreement": agreement(each, recall, tolerance=ROUNDING).share,
            "tied": each.fraction_tied(tolerance=ROUNDING),
            # "sign" for preferences, else "t".
            "holm": power(correction="holm").share,
            "hsd": power(test="tukey").share,
            "sign": discriminative_power(order, test="sign", correction="holm").share,
            "hsd of ranks": discriminative_power(order, test="tukey").share,
        }
    # Lexirecall is what it was: an order, tested by signs and ranks.
    assert rows["lexirecall"]["agreement"] == 1
    for plain, ranked in (("holm", "sign"), ("hsd", "hsd of ranks")):
        assert rows["lexirecall"][plain] == rows["lexirecall"][ranked]
    return pd.DataFrame(rows).T


def with_fewer_labels(runs, index, sampling, n_jobs):
    """Figures 12 and 13: a row for each measure and share of labels removed."""
    found = label_degradation(
        index,
        runs,
        list(MEASURES.values()),
        sampling=sampling,
        n_samples=N_SAMPLES,
        missing="empty",
        tolerance=ROUNDING,
        n_jobs=n_jobs,
        random_state=0,
    )
    assert not found.dropped_queries
    names = {text: name for name, text in MEASURES.items()}
    table = found.to_frame()
    table["measure"] = table["measure"].map(names)
    return table.set_index(["measure", "share"])


def main():
    options = arguments(__doc__, n_jobs=1)
    begin = time.perf_counter()
    facts, full, less = {}, {}, {}
    for data in DATA:
        folder = options.data / data
        qrels = read_qrels(folder / "qrels.txt.gz")
        index = QrelsIndex(qrels)
        paths = sorted(folder.glob("runs/*.txt.gz"))
        runs = {path.name.removesuffix(".txt.gz"): read_run(path) for path in paths}
        n_relevant = int((qrels["label"] > 0).sum())
        for depth in DEPTHS:
            # The runs hold a thousand documents a topic at most.
            cuts = {name: cut(run, depth) for name, run in runs.items()}
            n_lists = len(runs) * len(index.queries)
            returned = sum(map(len, cuts.values())) / n_lists
            facts[data, depth] = (len(runs), len(index.queries), n_relevant, returned)
            full[data, depth] = with_all_labels(cuts, index)
            for sampling in SAMPLING if depth in DEGRADED else ():
                less[data, depth, sampling] = with_fewer_labels(
                    cuts, index, sampling, options.n_jobs
                )
            print(data, depth, f"{time.perf_counter() - begin:.0f} s", flush=True)
    figures(full, less)
    text = report_text(facts, full, less)
    write_report("recall_analyses", "Lexirecall beside other measures on TREC runs", text)


if __name__ == "__main__":
    main()

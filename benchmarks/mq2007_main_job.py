"""Rank and filter on MQ2007: six losses over LETOR's five folds, label 0 forbidden, k = 10."""

import time

import numpy as np
import pandas as pd
from _common import arguments, write_report

from skfilterrank.io import read_letor
from skfilterrank.metrics import rank_filter_report
from skfilterrank.ranking import LOSSES, RankAndFilter, make_ranker
from skfilterrank.thresholds import PerQueryThreshold

K = 10
GAINS = {0: -1, 1: 1, 2: 2}
THRESHOLDS = {"tune": "tune", "per_query": PerQueryThreshold()}


def main():
    options = arguments(__doc__)
    folder = options.data / "mq2007"
    parts = [read_letor(folder / f"S{i}.txt.gz", n_features=46) for i in range(1, 6)]
    seconds = dict.fromkeys([(loss, kind) for loss in LOSSES for kind in THRESHOLDS], 0.0)
    scores, labels, groups = [], [], []
    for fold in range(5):
        train = [parts[(fold + i) % 5] for i in range(3)]
        test = parts[(fold + 4) % 5]
        X = np.vstack([part.X for part in train])
        y = np.concatenate([part.y for part in train])
        qid = np.concatenate([part.groups for part in train])
        fold_scores = {"nothing shown": np.full(len(test.y), -np.inf)}
        for loss in LOSSES:
            for kind in THRESHOLDS:
                begin = time.perf_counter()
                model = RankAndFilter(
                    make_ranker(loss, learner="trees", random_state=0),
                    THRESHOLDS[kind],
                    gains=GAINS,
                    measure=f"ndcg_f@{K}",
                    n_jobs=2,
                ).fit(X, y, groups=qid)
                seconds[loss, kind] += time.perf_counter() - begin
                name = loss if kind == "tune" else f"{loss}, per query"
                fold_scores[name] = model.predict(test.X, groups=test.groups)
                if kind == "tune":
                    fold_scores[f"{loss}, all shown"] = model.decision_function(test.X)
        scores.append(pd.DataFrame(fold_scores))
        labels.append(test.y)
        groups.append(test.groups)
    scores = pd.concat(scores)
    report = rank_filter_report(
        np.concatenate(labels),
        {name: scores[name].to_numpy() for name in scores},
        groups=np.concatenate(groups),
        k=K,
        gains=GAINS,
    )
    lines = [
        "| loss | everything shown | one threshold | per query | 95 % interval (one threshold) | "
        "forbidden@10: everything shown, one threshold | good hidden | left empty | "
        "fit, five folds |",
        "|" + " --- |" * 9,
    ]
    for loss in LOSSES:
        row, bare = report.loc[loss], report.loc[f"{loss}, all shown"]
        per_query = report.loc[f"{loss}, per query"]
        lines.append(
            f"| {loss} | {bare['ndcg_f@10']:.4f} | {row['ndcg_f@10']:.4f} | "
            f"{per_query['ndcg_f@10']:.4f} | {row['low']:.3f} to {row['high']:.3f} | "
            f"{100 * bare['forbidden@10']:.1f} %, {100 * row['forbidden@10']:.1f} % | "
            f"{100 * row['false_reject_rate']:.1f} % | {100 * row['empty_list_rate']:.1f} % | "
            f"{seconds[loss, 'tune']:.0f} s |"
        )
    lines.append(
        f"| nothing shown | | {report.loc['nothing shown', 'ndcg_f@10']:.4f} | | | | | | |"
    )
    text = (
        f"Data: mq2007, LETOR's five folds (three parts to train, one to test; the validation part "
        f"is not used), {len(scores):,} documents of "
        f"{len(np.unique(np.concatenate(groups))):,} queries; gains 0: -1, 1: 1, 2: 2. "
        "LightGBM trees with the settings of `make_ranker`, nothing tuned on this data but the "
        "thresholds. Mean nDCG_f@10 over all test queries.\n\n" + "\n".join(lines)
    )
    write_report("mq2007_main_job", "Rank and filter on MQ2007", text)


if __name__ == "__main__":
    main()

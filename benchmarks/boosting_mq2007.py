"""AdaRankRanker and RankBoostRanker on MQ2007: how good, and how fast they train.

    python benchmarks/boosting_mq2007.py [--data DIR] [--rounds 300]

LETOR's five folds. Writes results/boosting_mq2007.md.
"""

import os
import time

import numpy as np
from _common import arguments, write_report

from skfilterrank.io import read_letor
from skfilterrank.metrics import evaluate
from skfilterrank.ranking import AdaRankRanker, RankBoostRanker

# Tables 3 and 13 of Karmaker & Feng, at 10, and the names that the measures have here.
MEASURES = {
    "nDCG@10": "ndcg@10",
    "AP@10, over k": "ap(normalize=k)@10",
    "AP@10, over min(k, R)": "ap(normalize=min)@10",
    "AP": "ap",
}
PRINTED = {"AdaRank": (0.4156, 0.2923), "RankBoost": (0.4140, 0.3366)}


def methods(rounds):
    """Name, ranker, and whether it stops by the validation part."""
    return [
        ("AdaRank", AdaRankRanker(gains="exp2"), False),
        ("AdaRank, validated", AdaRankRanker(gains="exp2", early_stopping_rounds=10), True),
        (
            "AdaRank, both directions",
            AdaRankRanker(gains="exp2", both_directions=True),
            False,
        ),
        ("AdaRank for AP", AdaRankRanker(measure="ap"), False),
        ("RankBoost", RankBoostRanker(n_estimators=rounds), False),
        (
            "RankBoost, validated",
            RankBoostRanker(n_estimators=rounds, early_stopping_rounds=50),
            True,
        ),
        (
            "RankBoost, queries alike",
            RankBoostRanker(n_estimators=rounds, pair_weights="query"),
            False,
        ),
    ]


def join(parts, numbers):
    """The parts with these numbers, counted round from 1."""
    chosen = [parts[(number - 1) % 5] for number in numbers]
    return tuple(np.concatenate(columns) for columns in zip(*chosen))


def run_fold(parts, fold, rounds):
    """One line of figures per method: the measures, rounds that predict, seconds."""
    train = join(parts, range(fold, fold + 3))
    X_valid, y_valid, groups_valid = join(parts, [fold + 3])
    X_test, y_test, groups_test = join(parts, [fold + 4])
    lines = {}
    for name, ranker, validated in methods(rounds):
        held_out = (
            {"eval_set": (X_valid, y_valid), "eval_groups": groups_valid} if validated else {}
        )
        begin = time.perf_counter()
        ranker.fit(*train, **held_out)
        seconds = time.perf_counter() - begin
        values = evaluate(
            y_test,
            ranker.predict(X_test),
            list(MEASURES.values()),
            groups=groups_test,
            gains="exp2",
        ).mean()
        lines[name] = [*values, ranker.best_iteration_, seconds]
        print(f"Fold{fold}", name, np.round(lines[name], 4), flush=True)
    return lines


def main():
    """Measure and write the report."""
    options = arguments(__doc__.splitlines()[0], rounds=300)
    parts = [
        read_letor(options.data / "mq2007" / f"S{i}.txt.gz", n_features=46, sparse=False)[:3]
        for i in range(1, 6)
    ]
    folds = [run_fold(parts, fold, options.rounds) for fold in range(1, 6)]
    head = "| method | " + " | ".join(MEASURES) + " | printed nDCG@10, MAP@10 | rounds | seconds |"
    rows = [head, "| --- |" + " --- |" * (len(MEASURES) + 3)]
    for name in folds[0]:
        figures = np.array([fold[name] for fold in folds])
        mean, spread = figures.mean(axis=0), figures.std(axis=0, ddof=1)
        n = len(MEASURES)
        cells = [f"{mean[0]:.4f} ± {spread[0]:.3f}", *(f"{value:.4f}" for value in mean[1:n])]
        printed = ", ".join(f"{value:.4f}" for value in PRINTED.get(name, ()))
        seconds = f"{mean[-1]:.1f} (at most {figures[:, -1].max():.1f})"
        rows.append(f"| {name} | {' | '.join(cells)} | {printed} | {mean[n]:.0f} | {seconds} |")
    n_rows = [len(join(parts, range(fold, fold + 3))[1]) for fold in range(1, 6)]
    table = "\n".join(rows)
    write_report(
        "boosting_mq2007",
        "AdaRankRanker and RankBoostRanker on MQ2007",
        f"""
LETOR's five folds, {min(n_rows):,} to {max(n_rows):,} training rows of 46 features, means of the
five test parts (for nDCG@10 ± the standard deviation of the five). Gains 2^label - 1 in nDCG,
label above 0 relevant in AP. "Validated" stops by nDCG_f@10 of the validation part and includes
the time of measuring it. AdaRank is given 500 rounds and ends by itself; RankBoost takes
{options.rounds}. Printed: Tables 3 and 13 of Karmaker & Feng, who sampled 1,000 of the 1,692
queries.

{table}

Seconds are of one fit, mean of the folds, on one thread; load average of the machine at the end
{os.getloadavg()[0]:.1f}.
""",
    )


if __name__ == "__main__":
    main()

"""Rank and filter forum answers: train-part2 of SemEval-2016 task 3 to its dev part, k = 3.

Features and settings were chosen by query-grouped cross-validation on train-part2 alone. Every loss
is trained, its threshold tuned (three times 5 folds) and the best one chosen on train-part2; dev is
only scored.
"""

import time

import numpy as np
from _common import arguments, write_report
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline

from skfilterrank.datasets import fetch_semeval_cqa
from skfilterrank.metrics import rank_filter_report
from skfilterrank.ranking import (
    LOSSES,
    FilterOnly,
    RankAndFilter,
    make_ranker,
    make_text_features,
)
from skfilterrank.ranking._make_ranker import share_features

K = 3
GAINS = (
    {"Bad": -1, "PotentiallyUseful": 1, "Good": 2},
    {"Bad": -10, "PotentiallyUseful": 1, "Good": 2},
)
TARGETS = {-1: 0.785, -10: 0.875}
NOTES = """
Thresholds are tuned on three times 5 folds of train-part2: the cross-validated optimum of a single
5-fold split, RankAndFilter's default, came out up to 0.008 above that of three. Three shuffles were
settled on train-part2 before any model was scored on dev; all the same the first run of this script
used the default, and gave 0.779 to 0.792 (Bad = -1) and 0.876 to 0.892 (Bad = -10) on dev, with
lambdarank+bce 0.0004 below its own rank-only form at Bad = -1. In between, gamma of lambdarank+bce
went from 1 to 3 by cross-validation on train-part2, which hardly tells 0.3 to 100 apart.

"tf-idf logistic on the comment alone" sees neither the question, nor the position, nor who wrote
the comment.
"""
COLUMNS = {
    "document": "comment",
    "query_text": ["question_subject", "question_body"],
    "same": [("user", "question_user")],
    "numeric": ["position"],
    "query": "qid",
    "order": "position",
}


def read(path):
    """Rows, labels and queries of one part."""
    part = fetch_semeval_cqa(path.name.removesuffix(".jsonl.gz"), data_home=path.parents[1])
    return part.data, part.target, part.target.index


def compare(train, dev, gains, learner):
    """Report on dev over all systems, the cross-validated scores on train, and seconds."""
    X, y, groups = train
    X_dev, y_dev, groups_dev = dev
    splits = [
        split
        for seed in range(3)
        for split in GroupKFold(5, shuffle=True, random_state=seed).split(X, groups=X["qid"])
    ]
    features = {
        "linear": make_text_features(**COLUMNS),
        "trees": make_text_features(**COLUMNS, output="dense", random_state=0),
    }
    scores, tuned, seconds = {}, {}, {}
    for loss in LOSSES:
        begin = time.perf_counter()
        model = RankAndFilter(
            make_ranker(loss, learner=learner, features=features, random_state=0),
            gains=gains,
            measure=f"ndcg_f@{K}",
            cv=splits,
        ).fit(X, y, groups=groups)
        seconds[loss] = time.perf_counter() - begin
        tuned[loss] = model.best_score_
        scores[loss] = model.predict(X_dev)
        scores[f"rank-only ({loss})"] = model.decision_function(X_dev)
        if loss == "bce":
            only = FilterOnly(FrozenEstimator(model), random_state=0).fit(X, y, groups=groups)
            scores["filter-only (bce)"] = only.predict(X_dev)
    plain = RankAndFilter(
        make_pipeline(TfidfVectorizer(sublinear_tf=True, min_df=2), LogisticRegression()),
        gains=gains,
        measure=f"ndcg_f@{K}",
    ).fit(X["comment"], y, groups=groups)
    scores["tf-idf logistic on the comment alone"] = plain.predict(X_dev["comment"])
    scores["forum order"] = -X_dev["position"].to_numpy(dtype=float)
    scores["filter-all"] = np.full(len(y_dev), -np.inf)
    best = max(tuned, key=tuned.get)
    report = rank_filter_report(
        y_dev, scores, groups=groups_dev, k=K, gains=gains, baseline=f"rank-only ({best})"
    )
    own = {
        loss: rank_filter_report(
            y_dev,
            {name: scores[name] for name in (loss, f"rank-only ({loss})")},
            groups=groups_dev,
            k=K,
            gains=gains,
            baseline=f"rank-only ({loss})",
        ).loc[loss]
        for loss in LOSSES
    }
    return report, own, tuned, seconds, best


def section(report, own, tuned, seconds, best, gains):
    """One table."""
    lines = [
        "| system | CV on train | nDCG_f@3 on dev | 95 % interval | over its rank-only form | "
        "forbidden@3 | good filtered | left empty | fit |",
        "|" + " --- |" * 9,
    ]
    for system, row in report.iterrows():
        mine = own.get(system)
        lines.append(
            f"| {system}{' (chosen)' if system == best else ''} | "
            + (f"{tuned[system]:.4f}" if system in tuned else "")
            + f" | {row['ndcg_f@3']:.4f} | {row['low']:.3f} to {row['high']:.3f} | "
            + (f"{mine['difference']:+.4f} (p {mine['p_value']:.2f})" if mine is not None else "")
            + f" | {100 * row['forbidden@3']:.1f} % | {100 * row['false_reject_rate']:.1f} % | "
            f"{100 * row['empty_list_rate']:.1f} % | "
            + (f"{seconds[system]:.0f} s |" if system in seconds else "|")
        )
    reached = report.loc[best, "ndcg_f@3"]
    target = TARGETS[gains["Bad"]]
    verdict = "reached" if reached >= target else "missed"
    beaten = sum(row["difference"] > 0 for row in own.values())
    lines.append("")
    lines.append(
        f"Chosen by cross-validation on train: {best}, {reached:.4f} on dev; aim {target}: "
        f"{verdict}. {beaten} of {len(own)} trained f-rankers beat their own rank-only form."
    )
    return "\n".join(lines)


def main():
    options = arguments(__doc__, learner="blend")
    folder = options.data / "semeval2016-cqa"
    train = read(folder / "train-part2.jsonl.gz")
    dev = read(folder / "dev.jsonl.gz")
    parts = [
        f"Data: semeval2016-cqa, train-part2 ({len(train[1]):,} comments of "
        f"{train[0]['qid'].nunique()} questions) to dev ({len(dev[1]):,} of "
        f"{dev[0]['qid'].nunique()}). Learner: {options.learner} (the mean of linear models on "
        "sparse and trees on dense features; LambdaRank always uses trees). Intervals: Student's "
        "t over questions; p: paired t test over questions. fit: all folds and the final model; "
        "features are computed once for all losses and counted with the first.",
        NOTES.strip(),
    ]
    with share_features():
        for gains in GAINS:
            report, own, tuned, seconds, best = compare(train, dev, gains, options.learner)
            parts.append(f"## Bad = {gains['Bad']}, PotentiallyUseful = 1, Good = 2")
            parts.append(section(report, own, tuned, seconds, best, gains))
    write_report("semeval_main_job", "Rank and filter on SemEval-2016 CQA", "\n\n".join(parts))


if __name__ == "__main__":
    main()

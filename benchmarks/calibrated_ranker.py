"""What a score says: probabilities of CalibratedRanker against a sigmoid of the raw score.

MQ2007 (first of LETOR's folds, label 0 forbidden, k = 10) and SemEval-2016 task 3 (train-part2 to
dev, k = 3). Nothing is tuned on the test queries.
"""

import time

import numpy as np
from _common import FORUM_COLUMNS, arguments, write_report
from lightgbm import LGBMRanker, LGBMRegressor
from main_job import read
from scipy.special import expit
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.pipeline import make_pipeline

from skfilterrank.io import read_letor
from skfilterrank.metrics import ndcg_f_score
from skfilterrank.ranking import (
    CalibratedRanker,
    LambdaRankRanker,
    RankAndFilter,
    make_text_features,
)

N_BINS = 15
TREES = {
    "n_estimators": 100,
    "learning_rate": 0.06,
    "num_leaves": 15,
    "colsample_bytree": 0.3,
    "random_state": 0,
    "n_jobs": 1,
}
MODELS = {
    "LambdaRankRanker": LambdaRankRanker(**TREES),
    "LGBMRanker": LGBMRanker(**TREES, verbose=-1),
    "LGBMRegressor": LGBMRegressor(**TREES, verbose=-1),
}


def calibration_error(good, probability):
    """Expected calibration error over bins of equally many rows."""
    order = np.argsort(probability, kind="stable")
    bins = np.array_split(order, N_BINS)
    gaps = [abs(good[rows].mean() - probability[rows].mean()) * len(rows) for rows in bins]
    return sum(gaps) / len(good)


def mq2007(data):
    """Training rows, test rows, gains and k."""
    parts = [read_letor(data / "mq2007" / f"S{i}.txt.gz", n_features=46) for i in (1, 2, 3, 5)]
    train = (
        np.vstack([part.X for part in parts[:3]]),
        np.concatenate([part.y for part in parts[:3]]),
        np.concatenate([part.groups for part in parts[:3]]),
    )
    return train, (parts[3].X, parts[3].y, parts[3].groups), {0: -1, 1: 1, 2: 2}, 10


def semeval(data):
    """Training rows, test rows, gains and k; features are computed once."""
    folder = data / "semeval2016-cqa"
    features = make_text_features(**FORUM_COLUMNS, output="dense", random_state=0)
    X, y, groups = read(folder / "train-part2.jsonl.gz")
    X_dev, y_dev, groups_dev = read(folder / "dev.jsonl.gz")
    train = make_pipeline(features).fit(X)
    gains = {"Bad": -1, "PotentiallyUseful": 1, "Good": 2}
    ids, ids_dev = (np.asarray(index.get_level_values("qid")) for index in (groups, groups_dev))
    return (
        (train.transform(X), y.to_numpy(), ids),
        (train.transform(X_dev), y_dev.to_numpy(), ids_dev),
        gains,
        3,
    )


def evaluate(name, model, train, test, gains, k):
    """Lines of one model."""
    (X, y, groups), (X_test, y_test, ids) = train, test
    good = np.array([gains[label] > 0 for label in y_test])
    tuned = RankAndFilter(model, gains=gains, measure=f"ndcg_f@{k}")
    tuned.fit(X, y, groups=groups)
    plain = tuned.decision_function(X_test) + tuned.threshold_

    def ndcg_f(scores):
        return ndcg_f_score(y_test, scores, groups=ids, k=k, gains=gains)

    forms = {"sigmoid of the raw score": (expit(plain), 0.0)}
    for method in ("isotonic", "sigmoid"):
        begin = time.perf_counter()
        calibrated = CalibratedRanker(model, method=method, gains=gains).fit(X, y, groups=groups)
        seconds = time.perf_counter() - begin
        label = "isotonic" if method == "isotonic" else "Platt"
        forms[label] = (calibrated.predict_proba(X_test)[:, 1], seconds)
    lines = []
    for form, (probability, seconds) in forms.items():
        kept = np.where(probability >= 0.5, plain, -np.inf)
        lines.append(
            f"| {name} | {form} | {brier_score_loss(good, probability):.4f} | "
            f"{calibration_error(good, probability):.4f} | {log_loss(good, probability):.4f} | "
            f"{ndcg_f(plain):.4f} | {ndcg_f(kept):.4f} | {ndcg_f(tuned.predict(X_test)):.4f} | "
            + (f"{seconds:.0f} s |" if seconds else "|")
        )
    return lines, good.mean()


def main():
    options = arguments(__doc__)
    parts = []
    for title, load in (("MQ2007", mq2007), ("SemEval-2016", semeval)):
        train, test, gains, k = load(options.data)
        lines = [
            "| estimator | probability | Brier | calibration error | log loss | "
            f"nDCG_f@{k}: everything shown | threshold 0.5 | tuned threshold | fit |",
            "|" + " --- |" * 9,
        ]
        for name, model in MODELS.items():
            found, share = evaluate(name, model, train, test, gains, k)
            lines += found
        parts.append(
            f"## {title}\n\n{len(train[1]):,} rows to learn from, {len(test[1]):,} test rows, "
            f"{100 * share:.0f} % of them good; a constant at this share has Brier score "
            f"{share * (1 - share):.4f}.\n\n" + "\n".join(lines)
        )
    text = (
        f"Calibration error: expected calibration error over {N_BINS} bins of equally many rows. "
        "The threshold 0.5 needs no tuning; the tuned one is RankAndFilter's. Rankings are those "
        "of the same estimator throughout.\n\n" + "\n\n".join(parts)
    )
    write_report("calibrated_ranker", "Probabilities of rankers", text)


if __name__ == "__main__":
    main()

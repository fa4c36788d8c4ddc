"""Rank and filter: what the library is for, on forum answers of SemEval-2016 and on MQ2007.

    python benchmarks/main_job.py [thread] [first_three] [mq2007] [--data DIR] [--learner blend]

`thread` and `first_three`: train-part2 of SemEval-2016 task 3 to its dev part. `thread` shows whole
threads of ten answers (results/semeval_main_job.md); `first_three` shows three answers, at two
prices of a bad one (results/semeval_first_three.md). `mq2007`: six losses over LETOR's five folds,
label 0 forbidden, k = 10 (results/mq2007_main_job.md).

On forum answers, features and settings were chosen by query-grouped cross-validation on train-part2
alone. Every loss is trained, its threshold tuned and the best one chosen on train-part2; dev is
only scored. Beside each model stand answers that need no threshold: everything, nothing, the first
k (chosen on train-part2), and, where scores are gains, hiding what is below 0.
"""

import time

import numpy as np
import pandas as pd
from _common import FORUM_COLUMNS, run_parts, write_report
from filter_pays import Recorded
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from skfilterrank.datasets import fetch_semeval_cqa
from skfilterrank.io import read_letor
from skfilterrank.metrics import rank_filter_report
from skfilterrank.ranking import (
    LOSSES,
    RankAndFilter,
    make_ranker,
    make_text_features,
)
from skfilterrank.ranking._make_ranker import share_features
from skfilterrank.thresholds import PerQueryThreshold

SYSTEMS = """
"less the model": nDCG_f of a line less that of its model with the threshold (of the chosen model,
if it has none), paired by question, with a 95 % interval by Student's t. "filter-only" shows what
the chosen model shows, in random order. "tf-idf logistic on the comment alone" sees neither the
question, nor the position, nor who wrote the comment.
"""
OF_THREE = """
The price of a bad answer is counted over ten answers in the bounds of nDCG_f, and its gain over
three. So with Bad = -10 an empty page has a high value.
"""


def read(path):
    """Rows, labels and queries of one part."""
    part = fetch_semeval_cqa(path.name.removesuffix(".jsonl.gz"), data_home=path.parents[1])
    return part.data, part.target, part.target.index


def compare(train, dev, k, gains, learner):
    """Report on dev over all systems, the cross-validated scores on train, and seconds."""
    X, y, groups = train
    X_dev, y_dev, groups_dev = dev
    features = {
        "linear": make_text_features(**FORUM_COLUMNS),
        "trees": make_text_features(**FORUM_COLUMNS, output="dense", random_state=0),
    }
    how = {"gains": gains, "measure": f"ndcg_f@{k}"}
    scores, baseline, rankings, tuned, seconds = {}, {}, {}, {}, {}
    for loss in LOSSES:
        begin = time.perf_counter()
        ranker = make_ranker(loss, learner=learner, features=features, random_state=0)
        model = RankAndFilter(ranker, **how).fit(X, y, groups=groups)
        seconds[loss] = time.perf_counter() - begin
        tuned[loss] = model.best_score_
        answers = model.answers(X_dev, groups=groups_dev)
        nothing = answers.pop("nothing")
        scores[loss] = model.predict(X_dev)
        answers = {f"{answer} ({loss})": each for answer, each in answers.items()}
        scores |= answers
        baseline |= dict.fromkeys(answers, loss)
        rankings |= dict.fromkeys([loss, *answers], f"everything ({loss})")
    best = max(tuned, key=tuned.get)
    plain = RankAndFilter(
        make_pipeline(TfidfVectorizer(sublinear_tf=True, min_df=2), LogisticRegression()), **how
    ).fit(X["comment"], y, groups=groups)
    others = {
        f"filter-only ({best})": np.where(np.isneginf(scores[best]), -np.inf, 0.0),
        "tf-idf logistic on the comment alone": plain.predict(X_dev["comment"]),
        "forum order": -X_dev["position"].to_numpy(dtype=float),
        "nothing": nothing,
    }
    baseline |= dict.fromkeys(others, best)
    report = rank_filter_report(
        y_dev,
        scores | others,
        groups=groups_dev,
        k=k,
        gains=gains,
        baseline=baseline,
        rankings=rankings,
    )
    return report, tuned, seconds, best


def section(report, tuned, seconds, best, *, k, aim):
    """One table."""
    lines = [
        f"| system | CV on train | nDCG_f@{k} on dev | 95 % interval | less the model | "
        f"forbidden@{k} | good hidden | of those in the first {k} | empty | fit |",
        "|" + " --- |" * 10,
    ]
    for system, row in report.iterrows():
        chosen = " (chosen)" if system == best else ""
        rates = row[[f"forbidden@{k}", "false_reject_rate", f"false_reject_rate@{k}"]]
        shares = [100 * share for share in (*rates, row["empty_list_rate"])]
        cells = [
            system + chosen,
            f"{tuned[system]:.4f}" if system in tuned else "",
            f"{row[f'ndcg_f@{k}']:.4f}",
            f"{row['low']:.3f} to {row['high']:.3f}",
            difference(row) if row["difference"] == row["difference"] else "",
            *("" if np.isnan(share) else f"{share:.1f} %" for share in shares),
            f"{seconds[system]:.0f} s" if system in seconds else "",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    reached = report.loc[best, f"ndcg_f@{k}"]
    over = [f"everything ({loss})" for loss in tuned]
    told = f"Chosen by cross-validation on train: {best}, {reached:.4f} on dev"
    if aim is not None:
        told += f"; aim {aim}: {'reached' if reached >= aim else 'missed'}"
    beaten = int((report.loc[over, "difference"] < 0).sum())
    lines += ["", f"{told}. {beaten} of {len(over)} thresholds beat showing everything."]
    return "\n".join(lines)


def difference(row):
    """A difference and its interval."""
    low, high = row["difference_low"], row["difference_high"]
    return f"{row['difference']:+.4f} ({low:+.3f} to {high:+.3f})"


def run(options, name, title, pages, notes):
    """Compare the models on each page, and write the results."""
    folder = options.data / "semeval2016-cqa"
    train, dev = (read(folder / f"{part}.jsonl.gz") for part in ("train-part2", "dev"))
    parts = [
        f"Data: semeval2016-cqa, train-part2 ({len(train[1]):,} comments of "
        f"{train[0]['qid'].nunique()} questions) to dev ({len(dev[1]):,} of "
        f"{dev[0]['qid'].nunique()}). Learner: {options.learner} (the mean of linear models on "
        "sparse and trees on dense features; LambdaRank always uses trees). Thresholds are tuned "
        "on RankAndFilter's folds. fit: all folds and the final model; features are computed once "
        "for all losses and pages and counted with the first.",
        SYSTEMS.strip(),
        *notes,
    ]
    for k, bad, aim in pages:
        gains = {"Bad": bad, "PotentiallyUseful": 1, "Good": 2}
        found = compare(train, dev, k, gains, options.learner)
        parts.append(f"## k = {k}, Bad = {bad}, PotentiallyUseful = 1, Good = 2")
        parts.append(section(*found, k=k, aim=aim))
    write_report(name, title, "\n\n".join(parts))


def thread(options):
    """Show up to ten answers, which is the whole thread."""
    notes = ["Ranking alone must show all ten answers."]
    title = "Rank and filter the threads of SemEval-2016 CQA"
    run(options, "semeval_main_job", title, [(10, -1, None)], notes)


def first_three(options):
    """Show up to three answers, at two prices of a bad one."""
    pages, notes = [(3, -1, 0.785), (3, -10, 0.875)], [OF_THREE.strip()]
    title = "Three answers of SemEval-2016 CQA"
    run(options, "semeval_first_three", title, pages, notes)


K = 10
GAINS = {0: -1, 1: 1, 2: 2}


def mq2007(options):
    """Report on six losses over LETOR's folds."""
    folder = options.data / "mq2007"
    parts = [read_letor(folder / f"S{i}.txt.gz", n_features=46) for i in range(1, 6)]
    seconds = dict.fromkeys(LOSSES, 0.0)
    scores, labels, groups = [], [], []
    for fold in range(options.folds):
        train = [parts[(fold + i) % 5] for i in range(3)]
        test = parts[(fold + 4) % 5]
        X = np.vstack([part.X for part in train])
        y = np.concatenate([part.y for part in train])
        qid = np.concatenate([part.groups for part in train])
        fold_scores = {"nothing shown": np.full(len(test.y), -np.inf)}
        for loss in LOSSES:
            begin = time.perf_counter()
            ranker = make_ranker(loss, learner="trees", random_state=0)
            model = RankAndFilter(ranker, Recorded(), gains=GAINS, measure=f"ndcg_f@{K}")
            model.fit(X, y, groups=qid)
            seconds[loss] += time.perf_counter() - begin
            shown = model.estimator_.predict(test.X)
            fold_scores[loss] = model.predict(test.X, groups=test.groups)
            fold_scores[f"{loss}, all shown"] = shown
            # Both thresholds are of the same out-of-fold scores.
            cut = PerQueryThreshold(f"ndcg_f@{K}").fit_judged(model.filter_.judged_)
            fold_scores[f"{loss}, per query"] = cut.predict(shown, groups=test.groups)
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
            f"{seconds[loss]:.0f} s |"
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
    parts = {"thread": thread, "first_three": first_three, "mq2007": mq2007}
    # The pages of forum answers have the same folds.
    with share_features():
        run_parts(__doc__, parts, learner="blend", folds=5)

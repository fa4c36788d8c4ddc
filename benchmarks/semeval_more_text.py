"""More of the text of forum answers: a blend of three models chosen on train-part2, k = 3.

Characters, LSA, the thread, and what users wrote elsewhere were tried by query-grouped
cross-validation on train-part2 alone; what helped there is blended here. Dev is scored once.
"""

import numpy as np
from _common import arguments, write_report
from _semeval_thread import LatentSimilarity, plain, thread_features
from lightgbm import LGBMClassifier
from scipy.special import expit
from semeval_main_job import COLUMNS, GAINS, K, read
from sklearn.ensemble import VotingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

from skfilterrank.features import make_text_features
from skfilterrank.metrics import rank_filter_report
from skfilterrank.ranking import OrdinalRanker, RankAndFilter
from skfilterrank.ranking._methods.shared_features import SharedFeatures, share_features

AIMS = {-1: 0.80, -10: 0.90}
NOTES = """
The blend is the mean of three models' probabilities of Good or PotentiallyUseful, and of Good,
weighed by the gains (OrdinalRanker): a logistic regression on words and characters, a support
vector machine on dense features, and boosted trees on those of `make_text_features`. Thresholds
are tuned on three times 5 folds. All was chosen by cross-validation on train-part2; this script
scored dev after everything was settled, and again, unchanged, with later versions of the library's
features (0.7989 and 0.8855 at first).

Finding: over the model of `semeval_main_job` that cross-validation chose, the blend gains 0.006 at
Bad = -1 and at Bad = -10 in cross-validation on train-part2 (three shuffles). On dev that model has
0.7939 and 0.8943: the first gain is seen there too (0.8019, 0.002 above the aim), the second is not
(0.8893, below its aim). Both differences are small beside the intervals. What
helped on train-part2 are characters, the thread and the cosines after LSA, and a blend of models of
several kinds; histories of users, askers and categories did not help.

Cross-validated nDCG_f@3 on train-part2 (two shuffles of 5 folds) of what was tried. Logistic
regressions on dense features (0.788 to 0.804, 0.883 to 0.892) and a dozen other blends (at most
0.0004 better in the sum of both columns) are left out:

| model | Bad = -1 | Bad = -10 |
| --- | --- | --- |
| words (the features of `make_text_features`), logistic | 0.810 | 0.883 |
| ... with characters and the thread | 0.816 | 0.890 |
| ... and user, asker and category history | 0.815 | 0.890 |
| dense features, trees | 0.797 | 0.885 |
| ... with thread, LSA and history | 0.797 | 0.885 |
| dense features with thread and LSA similarity, RBF machine | 0.812 | 0.892 |
| ... and history, products of LSA vectors | 0.801 | 0.888 |
| words and dense trees, blended (about the model of `semeval_main_job`) | 0.808 | 0.889 |
| the blend | 0.818 | 0.895 |
"""


class ProbableSVC(SVC):
    """A support vector machine whose margins are read as log-odds, twice as large."""

    def predict_proba(self, X):
        """Probabilities, not calibrated."""
        good = expit(2.0 * self.decision_function(X))
        return np.column_stack([1.0 - good, good])


def comments(X):
    """Texts of the comments."""
    return plain(X["comment"].fillna(""))


def clipped(X, limit, factor):
    """Standardised features without outliers, scaled."""
    return factor * np.clip(X, -limit, limit)


def scaled(limit, factor):
    """Standardise, cut outliers, scale."""
    return make_pipeline(
        StandardScaler(),
        FunctionTransformer(clipped, kw_args={"limit": limit, "factor": factor}),
    )


def blend():
    """The three models, unfitted."""
    thread = SharedFeatures(make_union(FunctionTransformer(thread_features), LatentSimilarity()))
    dense = SharedFeatures(make_text_features(**COLUMNS, output="dense"))
    characters = make_pipeline(
        FunctionTransformer(comments),
        TfidfVectorizer(
            analyzer="char_wb",
            ngram_range=(2, 5),
            min_df=4,
            sublinear_tf=True,
            max_features=60000,
        ),
    )
    words = SharedFeatures(make_text_features(**COLUMNS))
    sparse = make_union(words, SharedFeatures(characters), make_pipeline(thread, scaled(4, 0.1)))
    machine = make_pipeline(
        make_union(dense, thread),
        scaled(3, 0.5**0.5),
        ProbableSVC(gamma="auto"),
    )
    trees = LGBMClassifier(
        n_estimators=200,
        learning_rate=0.03,
        num_leaves=15,
        colsample_bytree=0.3,
        subsample=0.7,
        subsample_freq=1,
        reg_lambda=5.0,
        n_jobs=1,
        random_state=0,
        verbose=-1,
    )
    return VotingClassifier(
        [
            ("words", make_pipeline(sparse, LogisticRegression(max_iter=2000))),
            ("machine", machine),
            ("trees", make_pipeline(dense, trees)),
        ],
        voting="soft",
    )


def evaluate(train, dev, gains, n_shuffles):
    """One line of the table."""
    X, y, groups = train
    X_dev, y_dev, groups_dev = dev
    splits = [
        split
        for seed in range(n_shuffles)
        for split in GroupKFold(5, shuffle=True, random_state=seed).split(X, groups=X["qid"])
    ]
    model = RankAndFilter(OrdinalRanker(blend(), weights="gain"), gains=gains, k=K, cv=splits)
    model.fit(X, y, groups=groups)
    scores = {"blend": model.predict(X_dev), "rank-only": model.decision_function(X_dev)}
    report = rank_filter_report(
        y_dev, scores, groups=groups_dev, k=K, gains=gains, baseline="rank-only"
    )
    row, aim = report.loc["blend"], AIMS[gains["Bad"]]
    value = row["ndcg_f@3"]
    return (
        f"| {gains['Bad']} | {model.best_score_:.4f} | {value:.4f} | {row['low']:.3f} to "
        f"{row['high']:.3f} | {report.loc['rank-only', 'ndcg_f@3']:.4f} | "
        f"{100 * row['forbidden@3']:.1f} % | {100 * row['false_reject_rate']:.1f} % | "
        f"{100 * row['empty_list_rate']:.1f} % | {aim:.2f}: "
        f"{'reached' if value >= aim else 'missed'} |"
    )


def main():
    options = arguments(__doc__, n_shuffles=3)
    folder = options.data / "semeval2016-cqa"
    train, dev = (read(folder / f"{part}.jsonl.gz") for part in ("train-part2", "dev"))
    lines = [
        "| Bad | CV on train | nDCG_f@3 on dev | 95 % interval | rank-only | forbidden@3 | "
        "good filtered | left empty | aim |",
        "|" + " --- |" * 9,
    ]
    with share_features():
        lines += [evaluate(train, dev, gains, options.n_shuffles) for gains in GAINS]
    text = NOTES.strip() + "\n\n" + "\n".join(lines)
    write_report("semeval_more_text", "Forum answers, with more of their text", text)


if __name__ == "__main__":
    main()

"""Where to cut the lists of MQ2007: the rules of the literature against tuned thresholds.

    python benchmarks/truncation_mq2007.py [--data DIR]

LETOR's five folds. Rankings by feature 39, which has the highest average precision in the first
part, and by LambdaMART fitted on the training queries; cuts are learned on the validation queries.
Measures of ranked list truncation: F1 of what is shown, and
DCG in which a relevant document is worth 1 and any other -1. Writes results/truncation_mq2007.md.
"""

import warnings

import numpy as np
import pandas as pd
from _common import arguments, write_report
from _held_out_scores import markdown
from _letor_methods import N_PARTS, fold_of, load_parts
from lightgbm import LGBMRanker
from sklearn.base import clone

from skfilterrank.exceptions import DataWarning
from skfilterrank.metrics import dcg_score, f_score
from skfilterrank.ranking import QueryRanker
from skfilterrank.thresholds import (
    ExpectedThreshold,
    FirstK,
    FixedThreshold,
    PerQueryThreshold,
    TunedThreshold,
)

FEATURE = 38  # column of feature 39
GAINS = {0: -1, 1: 1, 2: 1}
MEASURES = {"F1": "f", "DCG": "dcg"}
# The measure is tuned by each that has none of its own, where there is something to tune.
METHODS = {
    "all shown": FixedThreshold(),
    "first 5": FixedThreshold(max_shown=5),
    "first 10": FixedThreshold(max_shown=10),
    "first k, tuned (greedy)": FirstK(),
    "threshold, tuned": TunedThreshold(),
    "per_query (nDCG_f)": PerQueryThreshold("ndcg_f"),
    "expected (nDCG_f)": ExpectedThreshold("ndcg_f"),
}
NOTES = """
Mean over the {n_queries:,} test queries of the five folds, and in brackets the paired t over
queries of the difference to the tuned threshold. F1 is that of the shown set, with recall over the
list; queries without a relevant document count 0. Oracle: the best prefix of each list.

Bahri et al. (Choppy, SIGIR 2020) and Wu et al. (AttnCut, AAAI 2021) measure F1 and this DCG, the
latter on MQ2007 too. Their figures are not put beside these. The numbers that they print for
MQ2007, and the retrieval models whose lists they truncate, were not at hand when this was written,
nor were those lists: features of LETOR are not the scores of their models. Here are the rules that
they compare with as well: fixed k, greedy k (the best k of the validation queries), and the oracle.
A published implementation of their models (Woody5962/Ranked-List-Truncation) confirms the measures:
a penalty of -1 in DCG, recall over the list, on Robust04 alone.
"""


def measures_of(y, scores, groups):
    """F1 and DCG of each query."""
    return {
        "F1": f_score.per_query((y > 0).astype(float), scores, groups=groups),
        "DCG": dcg_score.per_query(y, scores, groups=groups, gains=GAINS),
    }


def oracle(y, scores, groups):
    """The best F1 and DCG over the prefixes of each list."""
    best = {name: [] for name in MEASURES}
    for query in np.unique(groups):
        own = groups == query
        good = (y[own] > 0)[np.argsort(-scores[own], kind="stable")]
        n = np.arange(1, len(good) + 1)
        hits = np.cumsum(good)
        best["F1"].append((2 * hits / (n + good.sum())).max() if good.any() else 0.0)
        dcg = np.cumsum(np.where(good, 1.0, -1.0) / np.log2(n + 1))
        best["DCG"].append(max(0.0, dcg.max()))
    return {name: np.array(values) for name, values in best.items()}


def of_fold(parts, fold):
    """{ranking: (rows that cuts are learned on, test rows)}, each row set (scores, y, groups)."""
    train, valid, test = fold_of(parts, fold)
    X, y, groups = train
    ranker = QueryRanker(LGBMRanker(n_jobs=1, verbose=-1, random_state=0, deterministic=True))
    ranker.fit(X, y, groups=groups)
    return {
        "feature 39": tuple((X[:, FEATURE], y, groups) for X, y, groups in (valid, test)),
        "LambdaMART": tuple((ranker.predict(X), y, groups) for X, y, groups in (valid, test)),
    }


def main():
    options = arguments(__doc__.splitlines()[0])
    # DCG with a penalty is what is meant here.
    warnings.simplefilter("ignore", DataWarning)
    parts = load_parts(options.data / "mq2007", n_features=46)
    found = {}
    for fold in range(N_PARTS):
        for ranking, (known, test) in of_fold(parts, fold).items():
            for name, value in oracle(test[1], test[0], test[2]).items():
                found.setdefault((ranking, name, "oracle"), []).append(value)
            for method, threshold in METHODS.items():
                for name, measure in MEASURES.items():
                    model = clone(threshold).set_params(gains=GAINS)
                    model.set_params(measure=threshold.measure or measure)
                    model.fit(known[0], known[1], groups=known[2])
                    kept = model.predict(test[0], groups=test[2])
                    value = measures_of(test[1], kept, test[2])[name]
                    found.setdefault((ranking, name, method), []).append(value)
        print(f"fold {fold + 1}", flush=True)
    values = {key: np.concatenate(folds) for key, folds in found.items()}
    table = {}
    for (ranking, name, method), value in values.items():
        gain = value - values[ranking, name, "threshold, tuned"]
        cell = f"{value.mean():.4f}"
        if gain.any():
            cell += f" ({gain.mean() / (gain.std(ddof=1) / np.sqrt(len(gain))):+.1f})"
        table.setdefault(method, {})[f"{ranking}, {name}"] = cell
    frame = pd.DataFrame(table).T.loc[[*METHODS, "oracle"]]
    n_queries = len(next(iter(values.values())))
    rows = "\n".join(markdown(frame))
    write_report(
        "truncation_mq2007", "Truncating MQ2007", f"{rows}\n\n{NOTES.format(n_queries=n_queries)}"
    )


if __name__ == "__main__":
    main()

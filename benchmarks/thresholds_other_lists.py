"""Which threshold survives lists of other sizes than those it was chosen on?

    python benchmarks/thresholds_other_lists.py [DATA] [--repeats 2] [--cache DIR] [--only-cached]

Out-of-fold scores of the training queries choose each threshold, on whole lists or on lists cut
down at random to 1 to 10 documents; refitted models score the held-out queries, again as whole
lists and as short ones. Writes results/thresholds_other_lists.md.
"""

import warnings

import numpy as np
import pandas as pd
from _common import provenance
from _held_out_scores import (
    RESULTS,
    Mq2007,
    Semeval,
    arguments,
    held_out_scores,
    markdown,
    stakes,
)
from per_query_threshold import carried_over

from skfilterrank._core.gains import as_gains
from skfilterrank.metrics import ndcg_f_score
from skfilterrank.ranking import RankAndFilter, threshold_curve

MODELS = ["BCE (LogisticRegression)", "MSE (Ridge)", "ordinal (logistic)", "LGBMRanker"]
METHODS = ("tune", "per_query", "expected")
WAYS = {
    "whole to whole": ("whole", "whole"),
    "whole to short": ("whole", "short"),
    "short to whole": ("short", "whole"),
    "short to short": ("short", "short"),
}


def short_lists(groups, seed):
    """Rows of lists cut down at random to 1 to 10 documents, each size as likely."""
    rng = np.random.RandomState(seed)
    rows = rng.permutation(len(groups))
    rows = rows[np.argsort(groups[rows], kind="stable")]
    codes = np.unique(groups[rows], return_inverse=True)[1]
    starts = np.flatnonzero(np.append(True, codes[1:] != codes[:-1]))
    place = np.arange(len(rows)) - np.repeat(starts, np.bincount(codes))
    return np.sort(rows[place < rng.randint(1, 11, size=len(starts))[codes]])


def values(s, name, gains, k, seed):
    """Per-query nDCG_f of each method, {way: {method: Series by query}}."""
    scores = {"train": carried_over(name, s), "held": s.refit_held}
    labels = {"train": as_gains(s.train_labels, gains), "held": as_gains(s.held_labels, gains)}
    groups = {"train": s.train_groups, "held": s.held_groups}
    rows = {
        (part, size): np.arange(len(groups[part]))
        if size == "whole"
        else short_lists(groups[part], seed)
        for part in ("train", "held")
        for size in ("whole", "short")
    }
    found = {}
    for way, (trained, tested) in WAYS.items():
        train, held = rows["train", trained], rows["held", tested]
        y, score, queries = labels["held"][held], scores["held"][held], groups["held"][held]

        def measure(kept, y=y, queries=queries):
            return ndcg_f_score(y, kept, groups=queries, k=k, average=None)

        best = threshold_curve(y, score, groups=queries, k=k).best_threshold
        row = {"rank only": measure(score)}
        for method in METHODS:
            model = RankAndFilter("passthrough", k=k, threshold=method).fit(
                scores["train"][train], labels["train"][train], groups=groups["train"][train]
            )
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                row[method] = measure(model.predict(score, groups=queries))
            if method == "tune":
                warned = bool(said)
        row["hindsight"] = measure(np.where(score >= best, score, -np.inf))
        found[way] = pd.DataFrame(row, index=np.unique(queries)), warned
    return found


def compare(data_set, args, gains):
    """{model: {way: (per-query table, share of splits that warned)}}."""
    tables = {}
    scores_of = held_out_scores(
        data_set, MODELS, args.repeats, args.cache, only_cached=args.only_cached
    )
    for name, seed, s in scores_of:
        for way, (table, warned) in values(s, name, gains, data_set.k, seed).items():
            tables.setdefault((way, name), []).append((table, warned))
    return tables


def main():
    args = arguments(__doc__)
    lines = [
        "# Thresholds on lists of other sizes",
        "",
        "Written by `benchmarks/thresholds_other_lists.py`. Rank only: mean held-out nDCG_f where",
        "nothing is filtered. The others: mean difference to it over held-out queries in units of",
        "1e-4; in brackets the paired t over queries of the difference to `tune`. Hindsight: the",
        "best single threshold for the held-out queries themselves. Whole lists have 10 documents",
        "(semeval2016-cqa) or 6 to 147 (mq2007); short ones 1 to 10 of them at random, by which",
        "also the scores of the training queries are cut down. Models are fitted to whole lists.",
        f"{5 * args.repeats} splits of each.",
        "Warned: in how many splits `predict` warned that lists have other sizes (`tune`).",
        "",
        provenance("xgboost-cpu", "catboost"),
        "",
    ]
    for data_set in (Semeval(args.data), Mq2007(args.data)):
        for title, gains in stakes(data_set):
            tables = compare(data_set, args, gains)
            rows = {}
            for (way, name), splits in sorted(
                tables.items(), key=lambda x: list(WAYS).index(x[0][0])
            ):
                per_query = pd.concat([table for table, _ in splits]).groupby(level=0).mean()
                gain = per_query.sub(per_query["rank only"], axis=0)
                row = {"rank only": f"{per_query['rank only'].mean():.4f}"}
                for method in (*METHODS, "hindsight"):
                    row[method] = f"{1e4 * gain[method].mean():+.0f}"
                    if method in METHODS[1:]:
                        to_tune = gain[method] - gain["tune"]
                        t = to_tune.mean() / (to_tune.std() / np.sqrt(len(gain)) or np.nan)
                        row[method] += f" ({t:.1f})"
                row["warned"] = f"{sum(warned for _, warned in splits)} of {len(splits)}"
                rows[f"{way}, {name}"] = row
            table = pd.DataFrame(rows).T
            print(data_set.name, title)
            print(table.to_string(), flush=True)
            lines += [f"## {data_set.name}, {title}, k = {data_set.k}", "", *markdown(table), ""]
            (RESULTS / "thresholds_other_lists.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()

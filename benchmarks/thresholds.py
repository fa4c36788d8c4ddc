"""Does a threshold for each query beat one for all, and which survives lists of other sizes?

    python benchmarks/thresholds.py [per_query] [other_lists] [--data DIR] [--repeats 1]
                                    [--cache DIR] [--only-cached]

`per_query`: for each model, data set and split, thresholds are learned from out-of-fold scores,
carried over to the refitted model as RankAndFilter does, and compared on held-out queries with the
single tuned threshold. Writes results/per_query_threshold.md.

`other_lists`: out-of-fold scores of the training queries choose each threshold, on whole lists or
on lists cut down at random to 1 to 10 documents; refitted models score the held-out queries, again
as whole lists and as short ones. Writes results/thresholds_other_lists.md.
"""

import tempfile
import warnings
from typing import Any

import numpy as np
import pandas as pd
from _common import RESULTS, provenance, run_parts
from _held_out_scores import (
    Mq2007,
    Semeval,
    data_sets,
    held_out_scores,
    markdown,
    names_of,
    stakes,
)

from skfilterrank._lists.gains import as_gains
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.metrics import ndcg_f_score
from skfilterrank.thresholds import (
    ExpectedThreshold,
    PerQueryThreshold,
    TunedThreshold,
    threshold_curve,
)


class Single:
    """One threshold for all queries."""

    def __init__(self, k):
        self.k = k

    def fit(self, gains, scores, index):
        curve = threshold_curve(gains, scores, groups=index.codes(), measure=f"ndcg_f@{self.k}")
        self.threshold_ = curve.best_threshold
        return self

    def thresholds(self, scores, index):
        return np.full(len(scores), self.threshold_)


class PerQuery:
    """PerQueryThreshold; a document has the threshold -inf where it is shown, else +inf."""

    def __init__(self, k):
        self.cut = PerQueryThreshold(f"ndcg_f@{k}")

    def fit(self, gains, scores, index):
        self.cut.fit(scores, gains, groups=index.codes())
        return self

    def thresholds(self, scores, index):
        shown = self.cut.predict(scores, groups=index.codes()) > -np.inf
        return np.where(shown, -np.inf, np.inf)


# On the large set, models of each kind; at a cost of -10 showing nothing is best there.
ON_MQ2007 = {"BCE (LogisticRegression)", "MSE (Ridge)", "LGBMRegressor", "LGBMRanker", "LambdaRank"}
METHODS: dict[str, Any] = {"single": Single, "per_query (built)": PerQuery}


def carried_over(name, s):
    """Out-of-fold scores, a ranker's on the refitted model's scale, as RankAndFilter has them."""
    if "Rank" not in name:
        return s.out_of_fold
    mean, deviation = np.nanmean(s.folds_train, axis=1), np.nanstd(s.folds_train, axis=1)
    standard = (s.out_of_fold - mean[s.fold]) / np.where(deviation > 0, deviation, 1)[s.fold]
    return standard * s.refit_train.std() + s.refit_train.mean()


def compare(data_set, args, gains):
    """Mean difference to the single threshold over queries, and its t, {model: Series}."""
    values = {}
    names = names_of(data_set)
    if data_set.name == "mq2007":
        names = [name for name in names if name in ON_MQ2007]
    scores_of = held_out_scores(
        data_set, names, args.repeats, args.cache, only_cached=args.only_cached
    )
    for name, seed, s in scores_of:
        train_index = GroupIndex.from_groups(s.train_groups)
        held_index = GroupIndex.from_groups(s.held_groups)
        train_gains, held_gains = as_gains(s.train_labels, gains), as_gains(s.held_labels, gains)
        scores = carried_over(name, s)
        row = {}

        def measure(scores, thresholds, gains=held_gains, groups=s.held_groups):
            kept = np.where(scores >= thresholds, scores, -np.inf)
            return ndcg_f_score.per_query(gains, kept, groups=groups, k=data_set.k)

        for method, make in METHODS.items():
            fitted = make(data_set.k).fit(train_gains, scores, train_index)
            row[method] = measure(s.refit_held, fitted.thresholds(s.refit_held, held_index))
        if data_set.generated and gains[-1] == -1:  # what the exact scores are for
            row["exact scores and thresholds"] = measure(s.held_bayes, 0.0)
        queries = held_index.query_ids
        if data_set.generated:  # every split has queries of its own
            queries = queries + seed * 10**6
        values.setdefault(name, []).append(pd.DataFrame(row, index=queries))
    results = {}
    for name, splits in values.items():
        # A query held out in several splits is one observation.
        per_query = pd.concat(splits).groupby(level=0).mean()
        gain = per_query.sub(per_query["single"], axis=0).drop(columns="single")
        t = gain.mean() / (gain.std() / np.sqrt(len(gain)))
        results[name] = (per_query["single"].mean(), gain.mean(), t, len(gain), len(splits))
    return results


def report_per_query(args):
    """Report on a threshold for each query."""
    lines = [
        "# A threshold for each query against one for all",
        "",
        "Written by `benchmarks/thresholds.py per_query`. Single: mean held-out nDCG_f of the",
        "refitted model under the single tuned threshold. The others: mean difference to it over",
        "held-out queries in units of 1e-4, and paired t over queries (mean over splits first).",
        "",
        provenance("xgboost-cpu"),
        "",
    ]
    for data_set in data_sets(args.data):
        for title, gains in stakes(data_set)[: 1 if data_set.name == "mq2007" else 2]:
            results = compare(data_set, args, gains)
            if not results:
                continue
            table = {}
            for name, (single, gain, t, _, _) in results.items():
                column = {"single": f"{single:.4f}"}
                column |= {m: f"{1e4 * gain[m]:+.0f} ({t[m]:.1f})" for m in gain.index}
                table[name] = column
            splits = sorted({n for *_, n in results.values()})
            queries = sorted({n for *_, n, _ in results.values()})
            counts = f"{'/'.join(map(str, splits))} splits, {'/'.join(map(str, queries))} queries"
            lines += [
                f"## {data_set.name}, {title}, k = {data_set.k}",
                "",
                type(data_set).__doc__,
                f"{counts}.",
                "",
            ]
            lines += [*markdown(pd.DataFrame(table).T), ""]
            print(pd.DataFrame(table).to_string(), flush=True)
            (RESULTS / "per_query_threshold.md").write_text("\n".join(lines) + "\n")


MODELS = ["BCE (LogisticRegression)", "MSE (Ridge)", "ordinal (logistic)", "LGBMRanker"]
METHODS_OF_LISTS = {
    "tune": TunedThreshold,
    "per_query": PerQueryThreshold,
    "expected": ExpectedThreshold,
}
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
            return ndcg_f_score.per_query(y, kept, groups=queries, k=k)

        best = threshold_curve(y, score, groups=queries, measure=f"ndcg_f@{k}")
        best = best.best_threshold
        row = {"everything shown": measure(score)}
        for method, make in METHODS_OF_LISTS.items():
            model = make(f"ndcg_f@{k}").fit(
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


def compare_lists(data_set, args, gains):
    """{model: {way: (per-query table, share of splits that warned)}}."""
    tables = {}
    scores_of = held_out_scores(
        data_set, MODELS, args.repeats, args.cache, only_cached=args.only_cached
    )
    for name, seed, s in scores_of:
        for way, (table, warned) in values(s, name, gains, data_set.k, seed).items():
            tables.setdefault((way, name), []).append((table, warned))
    return tables


def report_other_lists(args):
    """Report on lists of other sizes."""
    lines = [
        "# Thresholds on lists of other sizes",
        "",
        "Written by `benchmarks/thresholds.py other_lists`. Everything shown: mean nDCG_f of",
        "held-out queries. The others: mean difference to it over held-out queries in units of",
        "1e-4; in brackets the paired t over queries of the difference to `tune`. Hindsight: the",
        "best single threshold for the held-out queries themselves. Whole lists have 10 documents",
        "(semeval2016-cqa) or 6 to 147 (mq2007); short ones 1 to 10 of them at random, by which",
        "also the scores of the training queries are cut down. Models are fitted to whole lists.",
        f"{5 * args.repeats} splits of each.",
        "Warned: in how many splits `predict` warned that lists have other sizes (`tune`).",
        "",
        provenance("xgboost-cpu"),
        "",
    ]
    of_one_size = {"per_query": [], "expected": []}
    for data_set in (Semeval(args.data), Mq2007(args.data)):
        for title, gains in stakes(data_set):
            tables = compare_lists(data_set, args, gains)
            rows = {}
            for (way, name), splits in sorted(
                tables.items(), key=lambda x: list(WAYS).index(x[0][0])
            ):
                per_query = pd.concat([table for table, _ in splits]).groupby(level=0).mean()
                gain = per_query.sub(per_query["everything shown"], axis=0)
                row = {"everything shown": f"{per_query['everything shown'].mean():.4f}"}
                for method in (*METHODS_OF_LISTS, "hindsight"):
                    row[method] = f"{1e4 * gain[method].mean():+.0f}"
                    if method in ("per_query", "expected"):
                        to_tune = gain[method] - gain["tune"]
                        t = to_tune.mean() / (to_tune.std() / np.sqrt(len(gain)) or np.nan)
                        row[method] += f" ({t:.1f})"
                        if way in ("whole to whole", "short to short"):
                            of_one_size[method].append(to_tune.mean())
                row["warned"] = f"{sum(warned for _, warned in splits)} of {len(splits)}"
                rows[f"{way}, {name}"] = row
            table = pd.DataFrame(rows).T
            print(data_set.name, title)
            print(table.to_string(), flush=True)
            lines += [f"## {data_set.name}, {title}, k = {data_set.k}", "", *markdown(table), ""]
    lines += ["## Where sizes do not change: the difference to `tune`", ""]
    lines += [
        f"* {method}: {np.mean(found):.3f} on average, {min(found):.3f} to {max(found):.3f} in "
        f"{len(found)} lines."
        for method, found in of_one_size.items()
    ]
    (RESULTS / "thresholds_other_lists.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    parts = {"per_query": report_per_query, "other_lists": report_other_lists}
    # Prices and parts have the same scores.
    with tempfile.TemporaryDirectory() as scratch:
        run_parts(__doc__, parts, repeats=1, cache=scratch, only_cached=False)

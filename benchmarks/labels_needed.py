"""How many labels a comparison of systems needs: selections and ways to treat missing labels.

cranfield: figures 1 to 3 of Hui and Berberich (SPIRE 2015) with systems of our own, and the same
with near-duplicates, by `skfilterrank.metaevaluation.judging_curve` (labels_needed.md).
collections: older strategies, which they cite, beside the library's on three collections with
texts, and the paper's test over collections (labels_needed_collections.md).
stopping: how often the order is right where MTC stops (labels_needed_stopping.md).
finding: documents judged until relevance feedback may stop at a recall of 0.8, and how often that
is right, over 500 samples of each query (labels_needed_finding.md).
Needs bm25s, PyStemmer and matplotlib.
"""

import time
import warnings
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pandas as pd
from _common import RESULTS, run_parts, write_report
from _cranfield_systems import DEPTH, add_near_duplicates, read_collection, runs_of, systems
from _judged_collections import REAL, read_pool
from _stopping_rules import finding
from scipy.stats import binomtest, ttest_rel
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression

from skfilterrank.judgments import (
    LabelPredictor,
    MaxRepSelector,
    MTCSelector,
    PairFeatures,
    PoolingSelector,
    PriorSelector,
    RandomSelector,
    StatAPSelector,
    rank_table,
    statap_prior,
)
from skfilterrank.judgments._similarity import similarity_join
from skfilterrank.metaevaluation import judging_curve

mpl.use("Agg")
import matplotlib.pyplot as plt

ENOUGH = 0.9
SHARES = (0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8)
COPIES = (0.05, 0.1, 0.2, 0.3)
SELECTIONS = {
    "uniform, oracle": "oracle",
    "uniform": "random",
    "statAP": "statap",
    "pooling": "pooling",
    "prior": "prior",
    "MAXREP 0.8": MaxRepSelector(0.8),
    "move-to-front": "mtf",
    "MTC": "mtc",
}
MEASURES = {
    "trec-map": "none",
    "bpref": "bpref",
    "indAP": "condensed",
    "infAP": "infap",
    "statAP": "stat_ap",
}
# As in the paper, where the judged documents of a topic have one label, so have the others.
PREDICTED_FOR = ("uniform", "pooling", "prior", "MAXREP 0.8", "MTC")
PREDICTED = {"predict-map": LabelPredictor(one_class="copy")}

# The part `collections`.
COLLECTIONS = ("cacm", "cranfield", "trec-dl2019-llm")
SHARES_OF_MODELS = (0.05, 0.1, 0.2, 0.3, 0.5)
HEADS = (5, 2)
COMPARED = ("pooling", "MAXREP")
MODELS = ("SVM", "similarities", "language model", "pairs", "pairs and divergence")
# Chosen on cacm: penalty of the regression on similarities, whether a judged document is similar
# to itself; share of the collection's model in that of the relevant documents.
SIMILAR, MIXED = {"penalty": 100.0, "own": False}, 0.2
N_DRAWS, N_RESAMPLES = 20, 400

# The part `stopping`: rounds after which the rule is asked, and classes of what it says.
ROUNDS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 60, 100)
CHANCES = {"0.5": 0.5, "share": None}
SURE = 0.95
BINS = ((0.5, 0.7), (0.7, 0.9), (0.9, SURE), (SURE, 1.01))


class Collection:
    """Runs, all labels of their pool, and its texts."""

    def __init__(self, documents, queries, relevant):
        self.runs = runs_of(systems(documents, queries), queries, documents)
        self.ranks = rank_table(self.runs, depth=DEPTH)
        self.qrels = self.ranks.index.to_frame(index=False)
        pairs = zip(self.qrels["qid"], self.qrels["docno"])
        self.qrels["label"] = [float(pair in relevant) for pair in pairs]
        self.texts = documents.set_index("docno")["text"]

    def curve(self, **options):
        """Tau and RMSE of AP."""
        return judging_curve(
            self.qrels,
            self.runs,
            documents=self.texts,
            depth=DEPTH,
            missing="empty",
            **options,
            random_state=0,
        )

    def pool(self):
        """Texts, topics and prior of the pooled documents."""
        texts = self.texts.loc[self.qrels["docno"]].tolist()
        return texts, self.qrels["qid"].to_numpy(), StatAPSelector().fit(self.ranks).prior_


def both(collection, repetitions, predict_repetitions):
    """A table of all cells, and the shares that are needed."""
    few = {name: SELECTIONS[name] for name in PREDICTED_FOR}
    curves = [
        collection.curve(selections=own, shares=SHARES, mitigations=by, n_samples=n)
        for own, by, n in (
            (SELECTIONS, MEASURES, repetitions),
            (few, PREDICTED, predict_repetitions),
        )
    ]
    table = pd.concat([curve.to_frame() for curve in curves], ignore_index=True)
    needed = pd.concat([curve.share_needed(tau=ENOUGH) for curve in curves], axis=1)
    return curves[0], table, needed


def needed_table(needed):
    """Percent of labels for a tau above 0.9 (figure 3, for all mitigations)."""
    lines = ["| selection | " + " | ".join(needed) + " |", "| --- |" + " ---: |" * needed.shape[1]]
    for name, row in needed.iterrows():
        cells = [
            "" if np.isnan(share) else f"{100 * share:.0f}" if np.isfinite(share) else "never"
            for share in row
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def grid(table, which, shares):
    """A table of "tau" or "rmse"."""
    lines = ["| selection | mitigation | " + " | ".join(f"{s:.0%}" for s in shares) + " |"]
    lines.append("| --- | --- |" + " ---: |" * len(shares))
    for (name, mitigation), own in table.groupby(["selection", "mitigation"], sort=False):
        own = own.set_index("share").loc[list(shares)]
        if own["n_samples"].max() == 0:
            continue
        cells = []
        for _, row in own.iterrows():
            cell = f"{row[which]:.3f}"
            if row["n_samples"] > 1:
                cell += f" [{row[f'{which}_low']:.3f}, {row[f'{which}_high']:.3f}]"
            cells.append(cell)
        lines.append(f"| {name} | {mitigation} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def draw(table, needed):
    """Figures 1 to 3."""
    for which, limits in (("tau", (0, 1)), ("rmse", (1e-3, 0.4))):
        figure, axes = plt.subplots(3, 3, figsize=(13, 10), sharex=True)
        for name, ax in zip(SELECTIONS, axes.flat):
            for mitigation, colour in zip((*MEASURES, *PREDICTED), mpl.color_sequences["tab10"]):
                own = table[(table["selection"] == name) & (table["mitigation"] == mitigation)]
                if not own["n_samples"].any():
                    continue
                percent = 100 * own["share"]
                ax.plot(percent, own[which], color=colour, label=mitigation)
                ends = own[f"{which}_low"], own[f"{which}_high"]
                ax.fill_between(percent, *ends, color=colour, alpha=0.15)
            ax.set(title=name, ylim=limits, yscale="log" if which == "rmse" else "linear")
            if which == "tau":
                ax.axhline(ENOUGH, color="grey", lw=0.7)
        axes[0, 0].legend(fontsize=8)
        axes.flat[-1].set_visible(False)
        figure.supxlabel("% labelled")
        figure.supylabel("Kendall's tau" if which == "tau" else "RMSE of MAP")
        figure.tight_layout()
        figure.savefig(RESULTS / f"labels_needed_{which}.png", dpi=80)
    figure, ax = plt.subplots(figsize=(7, 3))
    shares = needed["predict-map"].dropna()[::-1]
    ax.barh(shares.index, 100 * shares)
    ax.set_xlabel("% labelled for tau > 0.9, predict-map")
    figure.tight_layout()
    figure.savefig(RESULTS / "labels_needed.png", dpi=80)


def near_duplicates(documents, queries, relevant, n_copies):
    """Tau and RMSE where a third of the documents has copies."""
    more, also, original = add_near_duplicates(
        documents, relevant, share=1 / 3, n_copies=n_copies, random_state=0
    )
    collection = Collection(more, queries, also)
    mitigations = {**PREDICTED, "trec-map": "none", "indAP": "condensed", "infAP": "infap"}
    curve = collection.curve(
        selections={"prior": "prior", "maxrep": MaxRepSelector(0.8), "pooling": "pooling"},
        mitigations=mitigations,
        shares=COPIES,
    )
    table, needed = curve.to_frame(), 100 * curve.share_needed(tau=ENOUGH)
    head = "| selection | mitigation | " + " | ".join(f"{s:.0%}" for s in COPIES) + " | needs % |"
    lines = [head, "| --- | --- |" + " ---: |" * (len(COPIES) + 1)]
    for mitigation in mitigations:
        for name in curve.selections:
            own = table[(table["selection"] == name) & (table["mitigation"] == mitigation)]
            cells = [f"{tau:.3f} / {error:.3f}" for tau, error in zip(own["tau"], own["rmse"])]
            share = needed.loc[name, mitigation]
            cells.append(f"{share:.1f}" if np.isfinite(share) else "> 30")
            lines.append(f"| {name} | {mitigation} | {' | '.join(cells)} |")
    docnos = collection.qrels["docno"]
    with_twin, same, alike = twins(collection)
    return (
        f"{len(original)} copies, {docnos.isin(set(original)).mean():.0%} of {len(docnos):,} "
        f"pooled rows; {with_twin:.1%} of the rows have another row of similarity 0.8 or more in "
        f"their topic; of such pairs {same:.0%} have the same label. MAXREP and its prior agree on "
        f"{alike:.0%} of the first 20 %.\n\n" + "\n".join(lines)
    )


def thresholds(collection):
    """A table of tau by the threshold of MAXREP."""
    selections = {"prior": "prior", "0.8": MaxRepSelector(0.8), "auto": MaxRepSelector()}
    shares = (0.05, 0.1, 0.2)
    mitigations = {**PREDICTED, "trec-map": "none", "indAP": "condensed", "infAP": "infap"}
    curve = collection.curve(selections=selections, mitigations=mitigations, shares=shares)
    return grid(curve.to_frame(), "tau", shares)


def twins(collection, threshold=0.8):
    """Share of rows with a near-duplicate in their topic's pool, of such pairs that agree, and of
    MAXREP's first 20 % that are also the prior's."""
    texts, topics, prior = collection.pool()
    truth = collection.qrels["label"].to_numpy()
    counts = CountVectorizer().fit_transform(texts)
    df = np.asarray((counts > 0).sum(axis=0)).ravel()
    weights = counts.multiply(np.log(len(texts) / df)).tocsr()
    has, agree, pairs = 0, 0, 0
    for topic in np.unique(topics):
        rows = np.flatnonzero(topics == topic)
        similar = similarity_join(weights[rows], threshold).tocoo()
        other = similar.row != similar.col
        first, second = rows[similar.row[other]], rows[similar.col[other]]
        has += len(np.unique(first))
        pairs += len(first)
        agree += np.count_nonzero(truth[first] == truth[second])
    own, by_prior = (
        selector.fit(texts, groups=topics, prior=prior).select(share=0.2)
        for selector in (MaxRepSelector(threshold), PriorSelector())
    )
    return has / len(texts), agree / max(pairs, 1), np.isin(own, by_prior).mean()


def lowest_rmse(table):
    """In how many cells of selection and share each mitigation has the lowest mean RMSE."""
    best = table.dropna(subset="rmse").sort_values("rmse", kind="stable")
    best = best.groupby(["selection", "share"]).head(1)
    counts = best["mitigation"].value_counts()
    return ", ".join(f"{name} {counts.get(name, 0)}" for name in (*MEASURES, *PREDICTED))


def cranfield(options):
    """Figures 1 to 3 on Cranfield."""
    begin = time.process_time()
    documents, queries, relevant = read_collection(options.data / "cranfield")
    collection = Collection(documents, queries, relevant)
    curve, table, needed = both(collection, options.repetitions, options.predict_repetitions)
    RESULTS.mkdir(exist_ok=True)
    draw(table, needed)
    print(f"figures after {time.process_time() - begin:.0f} s", flush=True)
    with_twin, same, alike = twins(collection)
    copies = near_duplicates(documents, queries, relevant, 3)
    sizes = collection.qrels.groupby("qid").size()
    labels = collection.qrels["label"]
    text = f"""
{FINDINGS.strip()}

## Setting

{len(curve.systems)} systems over the {len(documents):,} documents and {len(curve.queries)} topics
of Cranfield: BM25 in four forms and several parameters, query likelihood (Dirichlet,
Jelinek-Mercer), forms of tf-idf, LSI at five ranks, Rocchio feedback, fusions; stemmed or not,
title or body alone; queries cut to a few terms, vocabulary cut, noise, shuffled tails. Pool of
depth {DEPTH}: {len(labels):,} rows, {sizes.min()} to {sizes.max()} a topic, {int(labels.sum()):,}
relevant ({labels.mean():.1%}; codes 1 to 4). All other pooled documents count as judged not
relevant. True MAP at depth {DEPTH} lies between {curve.truth.min():.3f} and
{curve.truth.max():.3f}. Topics without a known relevant document count 0. Shares are of each
topic's pool, at least one document. Random selections: {options.repetitions} repetitions, of
predicted labels {options.predict_repetitions}; brackets hold the 2.5 and 97.5 percentiles of
these. "uniform, oracle" is the paper's uniform sampling, which looks at the truth, and holds a
relevant document where there is one; MTC and move-to-front are active. "predict-map" copies the
label of a topic whose judged documents have but one.

## Labels needed for tau above {ENOUGH} (figure 3), percent of the pool

Where the mean curve last crosses {ENOUGH}, between the shares by a straight line.

{needed_table(needed)}

![figure 3](labels_needed.png)

## Kendall's tau (figure 1)

![figure 1](labels_needed_tau.png)

{grid(table, "tau", SHARES)}

## RMSE of MAP (figure 2)

![figure 2](labels_needed_rmse.png)

{grid(table, "rmse", SHARES)}

Lowest mean RMSE in so many of {len(SELECTIONS) * len(SHARES)} pairs of selection and share:
{lowest_rmse(table)}.

## MAXREP and its prior

On the real collection {with_twin:.1%} of the rows have another row of similarity 0.8 or more in
their topic ({same:.0%} of such pairs have the same label); MAXREP 0.8 and the prior agree on
{alike:.1%} of the first 20 %.

## The threshold of MAXREP

Kendall's tau with the prior alone, with MAXREP at the paper's 0.8, and at its default.

{thresholds(collection)}

## With near-duplicates

A third of the documents copied three times; in each copy 5 to 10 % of the tokens replaced by tokens
drawn from the collection; all systems run again; a copy is relevant where its original is. Cells:
tau / RMSE.

{copies}

Took {time.process_time() - begin:.0f} seconds of processor time.
"""
    write_report("labels_needed", "How many labels a comparison of systems needs", text)


class Lists:
    """The lists of a pool as arrays, so that many sets of labels are measured quickly."""

    def __init__(self, pool):
        self.pool, ranks = pool, pool.ranks.to_numpy()
        self.truth = pool.labels.to_numpy() > 0
        codes = pd.factorize(pool.queries)[0]
        self.rows = np.split(np.arange(len(codes)), np.flatnonzero(np.diff(codes)) + 1)
        self.orders = []
        for rows in self.rows:
            order = np.argsort(np.where(np.isnan(ranks[rows]), np.inf, ranks[rows]), axis=0)
            order = order[: int(np.nanmax(ranks[rows]))]
            self.orders.append((order, ~np.isnan(np.take_along_axis(ranks[rows], order, axis=0))))

    def ap(self, labels, known=None):
        """AP of each query and run, the mean over sets of labels; of known documents alone."""
        values = []
        for rows, (order, returned) in zip(self.rows, self.orders):
            own = np.atleast_2d(labels)[:, rows].astype(float)
            relevant = own[:, order] * returned
            places = np.arange(1, len(order) + 1)[:, None]
            if known is not None:
                shown = known[rows][order] & returned
                relevant, places = relevant * shown, np.maximum(np.cumsum(shown, axis=0), 1)
            sums = (relevant * np.cumsum(relevant, axis=1) / places).sum(axis=1)
            values.append((sums / np.maximum(own.sum(axis=1), 1)[:, None]).mean(axis=0))
        return np.array(values)

    def counts(self, labels, rows):
        """True positives, false positives and false negatives of each query among some rows."""
        kinds = (labels & self.truth, labels & ~self.truth, ~labels & self.truth)
        return np.array(
            [[np.count_nonzero(kind[own] & rows[own]) for kind in kinds] for own in self.rows]
        )

    def first(self, places, share):
        """Mask of the share of each query's documents whose places come first."""
        mask = np.zeros(len(places), dtype=bool)
        for rows in self.rows:
            mask[rows] = places[rows] <= max(1, np.floor(share * len(rows) + 0.5))
        return mask


def learned_pooling(lists, head, *, of_all):
    """Places by Vu and Gallinari: the head of all runs, then by a ranker that learned from it.

    A linear pairwise ranker of the ranks in all runs learns from each query's own head, or from
    the heads of all queries.
    """
    ranks = lists.pool.ranks.to_numpy()
    worth = np.nan_to_num(1 / np.log2(1 + ranks))
    best, mean = np.nanmin(ranks, axis=1), -worth.mean(axis=1)
    pairs = []
    for rows in lists.rows:
        mine = rows[best[rows] <= head]
        good, bad = mine[lists.truth[mine]], mine[~lists.truth[mine]]
        pairs.append((worth[good][:, None] - worth[bad]).reshape(-1, worth.shape[1]))
    if of_all:
        pairs = [np.vstack(pairs)] * len(pairs)
    places, fitted = np.empty(len(ranks)), {}
    for rows, own in zip(lists.rows, pairs):
        score = -mean[rows]
        if len(own):
            if id(own) not in fitted:
                targets = np.repeat([1, 0], len(own))
                model = LogisticRegression(fit_intercept=False, max_iter=300)
                fitted[id(own)] = model.fit(np.vstack([own, -own]), targets).coef_[0]
            score = worth[rows] @ fitted[id(own)]
        later = best[rows] > head
        order = np.lexsort((mean[rows], np.where(later, -score, best[rows]), later))
        places[rows[order]] = np.arange(1, len(rows) + 1)
    return places


def choices(lists, n_samples):
    """Name of each selection, and functions from a share to a mask."""
    pool = lists.pool
    groups, prior = pool.queries, statap_prior(pool.ranks).to_numpy()
    texts = list(pool.documents)

    def by_select(selector):
        def chosen(share):
            mask = np.zeros(len(groups), dtype=bool)
            mask[selector.select(share=share)] = True
            return mask

        return chosen

    def by_places(places):
        return lambda share: lists.first(places, share)

    seeds = range(n_samples)
    found = {
        "uniform, oracle": [
            by_select(
                RandomSelector(oracle=True, random_state=seed).fit(
                    pool.ranks, lists.truth.astype(int), groups=groups
                )
            )
            for seed in seeds
        ],
        "statAP": [by_select(StatAPSelector(random_state=seed).fit(pool.ranks)) for seed in seeds],
        "pooling": [by_select(PoolingSelector().fit(pool.ranks))],
        "MAXREP 0.8": [by_select(MaxRepSelector(0.8).fit(texts, groups=groups, prior=prior))],
        "MAXREP": [by_select(MaxRepSelector().fit(texts, groups=groups, prior=prior))],
    }
    for head in HEADS:
        for of_all, name in ((False, "own"), (True, "all")):
            places = learned_pooling(lists, head, of_all=of_all)
            found[f"first {head}, learned from {name}"] = [by_places(places)]
    return found


def similar_model(lists, vectors, judged, *, penalty, own):
    """Carterette and Allan: a logistic regression on the similarities to judged documents."""
    chance = np.empty(len(judged))
    for rows in lists.rows:
        known = judged[rows]
        y = lists.truth[rows][known]
        if y.all() or not y.any():
            chance[rows] = y[0]
            continue
        similar = (vectors[rows] @ vectors[rows[known]].T).toarray()
        if not own:  # a document that learns from its similarity to itself, 1, learns no more
            similar[np.flatnonzero(known), np.arange(known.sum())] = 0.0
        model = LogisticRegression(C=penalty, solver="newton-cholesky").fit(similar[known], y)
        chance[rows] = model.predict_proba(similar)[:, 1]
    return chance, chance > 0.5


def divergences(lists, counts, judged, share):
    """KL divergence of each document from the judged relevant ones of its query but itself.

    The model of the relevant documents is mixed with a share of the collection's.
    """
    collection = np.asarray(counts.sum(axis=0)).ravel()
    collection /= collection.sum()
    found = np.full(len(judged), np.nan)
    for rows in lists.rows:
        good = judged[rows] & lists.truth[rows]
        own = counts[rows]
        total = np.asarray(own[good].sum(axis=0)).ravel()
        for place in range(len(rows)):
            begin, end = own.indptr[place : place + 2]
            terms, tf = own.indices[begin:end], own.data[begin:end]
            others, length = total[terms], total.sum()
            if good[place]:
                others, length = others - tf, length - tf.sum()
            if length > 0 and len(tf):
                of_document = tf / tf.sum()
                mixed = (1 - share) * others / length + share * collection[terms]
                found[rows[place]] = of_document @ np.log(of_document / mixed)
    return found


def language_model(lists, counts, judged, *, share):
    """Buettcher et al.: relevant is what diverges little from the judged relevant documents.

    In each query as many judged documents are below the threshold as are relevant. A sigmoid of
    all queries makes chances of the distances to the thresholds.
    """
    far = divergences(lists, counts, judged, share)
    margins = np.full(len(judged), np.nan)
    for rows in lists.rows:
        known = rows[judged[rows] & ~np.isnan(far[rows])]
        n_good = np.count_nonzero(lists.truth[known])
        if n_good:
            ordered = np.sort(far[known])
            margins[rows] = ordered[n_good - 1 : n_good + 1].mean() - far[rows]
    known = judged & ~np.isnan(margins)
    chance = np.zeros(len(judged))
    if len(np.unique(lists.truth[known])) == 2:
        model = LogisticRegression().fit(margins[known, None], lists.truth[known])
        has = ~np.isnan(margins)
        chance[has] = model.predict_proba(margins[has, None])[:, 1]
    return chance, np.nan_to_num(margins, nan=-1.0) > 0


def svm_model(lists, judged):
    """LabelPredictor(), the paper's predict-map."""
    pool, labels = lists.pool, np.where(judged, lists.truth, np.nan)
    predictor = LabelPredictor(one_class="copy")
    completed = predictor.fit_transform(list(pool.documents), labels, pool.queries)
    chance = predictor.predict_proba(list(pool.documents), pool.queries) @ (predictor.classes_ > 0)
    return np.where(np.isnan(chance), completed, chance), completed > 0


def pair_columns(lists, judged):
    """PairFeatures of ranks and both texts, as LabelPredictor(model="pairs") takes them."""
    pool, labels = lists.pool, np.where(judged, lists.truth, np.nan)
    X = pool.ranks.reset_index(drop=True).assign(
        text=pool.documents, query=pool.topics.reindex(pool.queries).to_numpy()
    )
    features = PairFeatures(ranks=list(pool.ranks))
    return features.fit_transform(X, labels, pool.queries)


def pair_model(lists, columns, judged):
    """The logistic regression of LabelPredictor(model="pairs")."""
    y = lists.truth[judged]
    if y.all() or not y.any():
        return np.full(len(judged), float(y[0])), np.full(len(judged), y[0])
    model = LogisticRegression(max_iter=300).fit(columns[judged], y)
    chance = model.predict_proba(columns)[:, 1]
    return chance, chance > 0.5


def predictions(lists, judged, vectors, counts, names):
    """Chance and label of each document by each model."""
    if "SVM" in names:
        yield "SVM", *svm_model(lists, judged)
    if "similarities" in names:
        yield "similarities", *similar_model(lists, vectors, judged, **SIMILAR)
    if "language model" in names:
        yield "language model", *language_model(lists, counts, judged, share=MIXED)
    if "pairs" in names:
        columns = pair_columns(lists, judged)
        yield "pairs", *pair_model(lists, columns, judged)
        far = divergences(lists, counts, judged, MIXED)[:, None]
        lacks = np.isnan(far)
        far = np.where(lacks, np.nanmean(far), far)
        far = (far - far[judged].mean()) / (far[judged].std() + 1e-9)
        more = np.column_stack([columns, far, lacks])
        yield "pairs and divergence", *pair_model(lists, more, judged)


def measured(lists, judged, vectors, counts, names, rng):
    """AP of each query and run by each way, and counts of right and wrong labels."""
    yield "unjudged as 0", lists.ap(judged & lists.truth), None
    yield "condensed", lists.ap(judged & lists.truth, judged), None
    for name, chance, labels in predictions(lists, judged, vectors, counts, names):
        labels = np.where(judged, lists.truth, labels)
        yield name, lists.ap(labels), lists.counts(labels, ~judged)
        drawn = rng.random((N_DRAWS, len(judged))) < chance
        yield f"{name}, drawn", lists.ap(np.where(judged, lists.truth, drawn)), None


def short_pool(name, data, most_queries):
    """A collection with texts; runs count to the paper's depth of 20, and so many queries."""
    pool = read_pool(name, data)
    queries = np.random.default_rng(0).permutation(sorted(pool.labels.index.unique("qid")))
    chosen = set(queries[:most_queries])
    # TREC's passages count as relevant from label 2 on.
    labels = (pool.labels > (1 if name in REAL else 0)).astype(float)
    runs = {
        run: table[table["qid"].isin(chosen)].groupby("qid").head(DEPTH)
        for run, table in pool.runs.items()
    }
    return replace(pool.of(name, runs, labels), texts=pool.texts, topics=pool.topics)


def measured_collection(name, options):
    """AP and counts of all cells of a collection, by selection, way, sample and share."""
    lists = Lists(short_pool(name, options.data, options.queries))
    texts = lists.pool.documents
    words = CountVectorizer(stop_words="english")
    counts = words.fit_transform(texts).astype(float)
    vectors = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
    truth = lists.ap(lists.truth)
    rng, cells, sizes = np.random.default_rng(0), {}, {}
    for selection, chosen in choices(lists, options.predict_repetitions).items():
        few = selection in COMPARED
        names = MODELS if few else ("SVM",)
        for sample, choose in enumerate(chosen):
            for share in SHARES_OF_MODELS:
                judged = choose(share)
                sizes[selection, share] = judged.mean()
                for way, ap, right in measured(lists, judged, vectors, counts, names, rng):
                    cells.setdefault((selection, way), {})[sample, share] = ap, right
        print(name, selection, f"{time.process_time():.0f} s", flush=True)
    head = {h: np.nanmin(lists.pool.ranks.to_numpy(), axis=1) <= h for h in HEADS}
    return {
        "cells": cells,
        "truth": truth,
        "queries": len(lists.rows),
        "runs": truth.shape[1],
        "rows": len(lists.truth),
        "relevant": lists.truth.mean(),
        "heads": {h: own.mean() for h, own in head.items()},
    }


def taus(values, truth):
    """Kendall's tau-b of rows of means."""
    first, second = np.triu_indices(values.shape[-1], 1)
    one, two = (
        np.sign(np.round(each[..., first] - each[..., second], 12)) for each in (values, truth)
    )
    n = np.sqrt(np.abs(one).sum(axis=-1) * np.abs(two).sum(axis=-1))
    return (one * two).sum(axis=-1) / np.maximum(n, 1)


def needed_shares(tau):
    """Shares from which on each column of tau stays above ENOUGH; all labels give a tau of 1."""
    shares, tau = np.append(SHARES_OF_MODELS, 1.0), np.vstack([tau, np.ones(tau.shape[1])])
    low = (tau <= ENOUGH)[::-1].argmax(axis=0)
    last = np.where((tau <= ENOUGH).any(axis=0), len(shares) - 1 - low, -1)
    column = np.arange(tau.shape[1])
    left, right = tau[np.maximum(last, 0), column], tau[np.minimum(last + 1, len(tau) - 1), column]
    step = shares[np.minimum(last + 1, len(shares) - 1)] - shares[np.maximum(last, 0)]
    part = (ENOUGH - left) / np.where(right > left, right - left, 1.0)
    return np.where(last < 0, shares[0], shares[np.maximum(last, 0)] + step * part)


def resampled(found, seed):
    """For each selection and way, over draws of queries: tau, RMSE and F1 by share, and shares.

    The first draw is the queries themselves.
    """
    n = found["queries"]
    draws = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=N_RESAMPLES) / n
    draws = np.vstack([np.full(n, 1 / n), draws])
    truth = draws @ found["truth"]
    table = {}
    for key, cells in found["cells"].items():
        samples = sorted({sample for sample, _ in cells})
        tau, rmse, f1 = np.zeros((3, len(SHARES_OF_MODELS), len(draws)))
        for place, share in enumerate(SHARES_OF_MODELS):
            for sample in samples:
                ap, right = cells[sample, share]
                means = draws @ ap
                tau[place] += taus(means, truth) / len(samples)
                rmse[place] += np.sqrt(((means - truth) ** 2).mean(axis=1)) / len(samples)
                if right is not None:
                    hit, false, missed = (draws @ right).T
                    f1[place] += 2 * hit / np.maximum(2 * hit + false + missed, 1e-9) / len(samples)
        table[key] = {"tau": tau, "rmse": rmse, "F1": f1, "needed": needed_shares(tau)}
    return table


def interval(values, scale=1.0, digits=3):
    """The first value, and the 95 % interval of the others."""
    low, high = np.quantile(values[1:], (0.025, 0.975)) * scale
    return f"{values[0] * scale:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def lines_of(head, rows):
    """A Markdown table."""
    lines = [f"| {' | '.join(head)} |", "| --- |" + " ---: |" * (len(head) - 1)]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def needed_by_selection(tables, way):
    """Percent of labels that each selection needs, and tests against MAXREP 0.8."""
    names = [key[0] for key in tables[COLLECTIONS[0]] if key[1] == way]
    rows = []
    for name in names:
        own = [tables[each][name, way]["needed"] for each in COLLECTIONS]
        base = [tables[each]["MAXREP 0.8", way]["needed"] for each in COLLECTIONS]
        row = [name, *(interval(values, 100, 0) for values in own)]
        more = np.mean(own, axis=0) - np.mean(base, axis=0)
        if name == "MAXREP 0.8":
            rows.append([*row, "", "", ""])
            continue
        p = ttest_rel([each[0] for each in own], [each[0] for each in base]).pvalue
        side = min(np.mean(more[1:] <= 0), np.mean(more[1:] >= 0))
        p_queries = min(1.0, 2 * (side * N_RESAMPLES + 1) / (N_RESAMPLES + 1))
        rows.append([*row, interval(more, 100, 1), f"{p:.3f}", f"{p_queries:.3f}"])
    head = ["selection", *COLLECTIONS, "more than MAXREP 0.8", "p, t test", "p, queries"]
    return lines_of(head, rows)


def models_table(tables, measure, share, ways):
    """One measure of each way and collection at a share, the mean over the compared selections."""
    place = SHARES_OF_MODELS.index(share)
    rows = []
    for way in ways:
        own = {
            each: np.mean([tables[each][name, way][measure][place] for name in COMPARED], axis=0)
            for each in COLLECTIONS
        }
        rows.append([way, *(interval(values) for values in own.values())])
    return lines_of([f"{measure} at {share:.0%}", *COLLECTIONS], rows)


def differences_table(tables, base, ways, measure):
    """Mean difference to a way over shares and compared selections, with intervals."""
    rows = []
    for way in ways:
        row = [way]
        for each in COLLECTIONS:
            more = [
                tables[each][name, way][measure] - tables[each][name, base][measure]
                for name in COMPARED
            ]
            row.append(interval(np.mean(more, axis=(0, 1))))
        rows.append(row)
    return lines_of([f"{measure}, less that of {base}", *COLLECTIONS], rows)


def collections(options):
    """The older strategies beside the library's on three collections with texts."""
    begin = time.process_time()
    warnings.simplefilter("ignore")
    found = {name: measured_collection(name, options) for name in COLLECTIONS}
    tables = {name: resampled(own, seed) for seed, (name, own) in enumerate(found.items())}
    sizes = "\n".join(
        f"* {name}: {own['queries']} queries, {own['runs']} runs, {own['rows']:,} pooled rows, "
        f"{own['relevant']:.1%} relevant; the first "
        + " and ".join(f"{h} of all runs are {share:.0%}" for h, share in own["heads"].items())
        + " of the pool."
        for name, own in found.items()
    )
    hard = list(MODELS)
    drawn = [f"{name}, drawn" for name in hard]
    plain = ["unjudged as 0", "condensed"]
    parts = []
    for share in (0.05, 0.1, 0.2):
        parts.append(models_table(tables, "F1", share, hard))
    for measure in ("tau", "rmse"):
        for share in (0.05, 0.1, 0.2):
            parts.append(models_table(tables, measure, share, [*plain, *hard, *drawn]))
    needs = [
        [
            way,
            *(
                interval(
                    np.mean([tables[each][name, way]["needed"] for name in COMPARED], axis=0),
                    100,
                    0,
                )
                for each in COLLECTIONS
            ),
        ]
        for way in [*plain, *hard, *drawn]
    ]
    others = [name for name in hard if name != "pairs"]
    text = f"""
{FINDINGS_OF_COLLECTIONS.strip()}

## Setting

{sizes}

Depth 20, as in the paper; runs of cacm and cranfield are made (`_cranfield_systems.py`), those of
trec-dl2019-llm are real. Brackets are 95 % intervals over {N_RESAMPLES} draws of queries.
Shares judged: {", ".join(f"{share:.0%}" for share in SHARES_OF_MODELS)} of each query's pool, then
all. Settings of the models were chosen on cacm alone; the other two collections are held out.
"uniform, oracle" and statAP are means of {options.predict_repetitions} samples.

* "first 5, learned" (Vu and Gallinari): documents among the first 5 of a run are judged first, in
  the order of pooling. Then a linear pairwise ranker of the ranks in all runs orders the rest: it
  learned from the first ones of the query itself ("own"), or of all queries ("all").
* "similarities" (Carterette and Allan): for each query a ridge logistic regression, whose features
  are the cosines of tf-idf with the judged documents.
* "language model" (Büttcher et al.): the KL divergence of a document from the judged relevant ones
  of the query, below a threshold under which as many judged documents lie as are relevant.
* "SVM" is `LabelPredictor()`, "pairs" is `PairFeatures` of ranks and both texts with a logistic
  regression, as in `complete_qrels`; "pairs and divergence" has the KL divergence as one more
  column.
* "drawn": the mean over {N_DRAWS} sets of labels that are drawn by the chances, for the order of
  runs; without it, the likeliest label.

## Labels needed for tau above {ENOUGH} with predicted labels (the paper's figure 3), percent

By the SVM's labels. "more than MAXREP 0.8" is the mean difference over the three collections, with
its interval over queries. "p, t test" is the paper's: paired, over collections, of which the
paper has four and this table three. "p, queries" is from the draws of queries, which are many.

{needed_by_selection(tables, "SVM")}

The same with condensed lists (indAP), without a prediction:

{needed_by_selection(tables, "condensed")}

## Labels needed by each way to treat unjudged documents, percent

Means over the selections {", ".join(COMPARED)}.

{lines_of(["way", *COLLECTIONS], needs)}

## Differences to `PairFeatures`

Means over shares and the same selections.

{differences_table(tables, "pairs", others, "F1")}

{differences_table(tables, "pairs, drawn", [f"{name}, drawn" for name in others], "tau")}

{differences_table(tables, "pairs, drawn", [f"{name}, drawn" for name in others], "rmse")}

## By share

Means over the same selections.

{(chr(10) * 2).join(parts)}

Took {time.process_time() - begin:.0f} seconds of processor time.
"""
    write_report("labels_needed_collections", "Older strategies on three collections", text)


FINDINGS = """
Figures of one run, on one small collection (5 relevant of 124 pooled documents a topic) and
systems that are related to each other; no claim beyond it.

* **A look at the ranks of the systems is what saves labels.** With predict-map, tau passes 0.9 at
  11 to 12 % (MTC, pooling) and 15 % (prior, MAXREP), but at 57 % with uniform samples; with the
  paper's uniform samples, which look at the truth, indAP needs 36 %. Unlike in the paper, MAXREP
  is not best: pooling and MTC need less.
* **For the order of the systems, prediction is not needed.** With the selections by rank, indAP
  passes 0.9 earlier than predict-map: 8 % with pooling, 9 % with the prior, 10 % with MTC.
  trec-map needs 14 to 24 %, bpref 26 % and more.
* **For the values it helps early.** With pooling, the prior and MAXREP and 5 to 10 % labelled the
  RMSE of predict-map is 2.5 to 5 times smaller than that of trec-map, indAP and infAP. At 1 % it
  is among the worst. With uniform samples indAP is nearer at all shares.
* **MAXREP at 0.8 is its prior** on the real collection: 0.8 % of the rows have a near-duplicate.
  Its default threshold, 0.33 there, is better with predict-map (tau .778 for .765 at 5 %), and
  worse without predicted labels (trec-map .632 for .676).
* **With near-duplicates MAXREP earns its keep, if labels are predicted**, or by indAP while few are
  judged: where half of the pool are copies it needs 14 % instead of the prior's 19 % (pooling: 22
  %). These copies always have the label of their original, which is the best case for it. With
  trec-map and infAP it is *worse* than its prior: the copies it leaves out count as not relevant.
* **Soft labels are too high**, in samples by rank most of all: margins of judged rows say little of
  rows that nobody selected.
"""


def stopped(pool, n_runs, rng, n_queries=25):
    """MTC for some runs and queries: what it says of each pair, and where its rule stops.

    The truth is the order of the runs' AP by the labels of all documents that they return.
    """
    names = sorted(rng.permutation(sorted(pool.runs))[:n_runs])
    queries = set(rng.permutation(pool.labels.index.unique("qid"))[:n_queries])
    runs = {name: pool.runs[name].loc[lambda run: run["qid"].isin(queries)] for name in names}
    part = pool.of(pool.name, runs, pool.labels)
    lists = Lists(part)
    true = lists.ap(lists.truth).mean(axis=0)
    first, second = np.triu_indices(n_runs, 1)
    apart = np.abs(true[first] - true[second]) > 1e-12
    selector, asked = MTCSelector().fit(part.ranks), dict(CHANCES)
    for number in range(1, ROUNDS[-1] + 1):
        for query in part.labels.index.unique("qid"):
            if len(rows := selector.next_rows(query=query)):
                selector.update(rows, lists.truth[rows].astype(int))
        if number not in ROUNDS:
            continue
        share = np.isfinite(selector.answers_).mean()
        for way, chance in list(asked.items()):
            says = selector.order_probability(chance=chance).to_numpy()[first, second][apart]
            right = (says > 0.5) == (true[first] > true[second])[apart]
            says = np.maximum(says, 1 - says)
            stops = bool((says >= SURE).all() or share == 1)
            yield {"way": way, "says": says, "right": right, "stops": stops, "share": share}
            if stops:
                del asked[way]
        if not asked:
            break


def proportion(is_true):
    """A share with its 95 % interval (Wilson)."""
    found = binomtest(int(np.sum(is_true)), len(is_true))
    low, high = found.proportion_ci(method="wilson")
    return f"{found.statistic:.2f} [{low:.2f}, {high:.2f}]"


def stopping(options):
    """The stopping rule of MTC: labels, and how often the order is right."""
    begin = time.process_time()
    ends, bins = [], []
    for name in COLLECTIONS:
        pool = short_pool(name, options.data, options.queries)
        for n_runs, n_draws in ((2, options.repetitions * 2), (5, options.repetitions)):
            rng = np.random.default_rng(0)
            steps = [step for _ in range(n_draws) for step in stopped(pool, n_runs, rng)]
            for way in CHANCES:
                own = [step for step in steps if step["way"] == way]
                last = [step for step in own if step["stops"]]
                right = np.concatenate([step["right"] for step in last])
                every = [step["right"].all() for step in last]
                shares = np.array([step["share"] for step in last])
                error = shares.std(ddof=1) / np.sqrt(len(shares))
                ends.append(
                    [
                        f"{name}, {n_runs} runs, {way}",
                        f"{len(last)}",
                        f"{shares.mean():.2f} ± {error:.2f}",
                        proportion(right),
                        proportion(every),
                    ]
                )
                says, right = (
                    np.concatenate([step[key] for step in own]) for key in ("says", "right")
                )
                row = [ends[-1][0]]
                for low, high in BINS:
                    chosen = (says >= low) & (says < high)
                    n_pairs = np.count_nonzero(chosen)
                    row.append(f"{right[chosen].mean():.2f} ({n_pairs})" if n_pairs else "")
                bins.append(row)
            print(name, n_runs, f"{time.process_time() - begin:.0f} s", flush=True)
    heads = [f"{low:.2f} to {min(high, 1):.2f}" for low, high in BINS]
    text = f"""
{FINDINGS_OF_STOPPING.strip()}

Draws of 2 or 5 runs and 25 queries of the collections of `labels_needed_collections.md`. In each
round MTC judges one document of each query. The truth is the order of AP by the labels of all
documents that these runs return. "0.5" is the paper's chance of an unjudged document to be
relevant; "share" is the default, the share of relevant documents among the answers.

## Where the rule stops

It stops where each pair has a probability of {SURE} or more on one side, or all is judged. Share of
the documents that are judged then, with its standard error; pairs in the right order; draws with
all pairs in the right order. Brackets are 95 % intervals (Wilson); pairs of one draw depend on each
other.

{lines_of(["collection, runs, chance", "draws", "judged", "pairs right", "all right"], ends)}

## Is the probability right?

Share of pairs in the right order (number of pairs, over all rounds until the rule stops), by what
the probability says of the likelier side.

{lines_of(["collection, runs, chance", *heads], bins)}

Took {time.process_time() - begin:.0f} seconds of processor time.
"""
    write_report("labels_needed_stopping", "Does the stopping rule of MTC hold?", text)


FINDINGS_OF_STOPPING = """
Draws of runs from three collections, two of them with made runs; no claim beyond them.

* **For each pair the rule holds.** With the default, 96 to 99 % of pairs are in the right order
  where it stops, for 2 runs after 17 to 42 % of the documents. The paper's chance of 0.5 has 94
  to 98 %, after 17 to 50 %.
* **0.5 is too sure where relevant documents are rare.** Of 5 runs on Cranfield, pairs of which it
  says 0.90 to 0.95 are right in 66 %, and with the default in 96 %. So the default is the share
  of relevant documents among the answers. On TREC's passages, a third of which is relevant, both
  are alike.
* **Less flattering: for all pairs at once it does not hold.** Of 5 runs all ten pairs are right
  in 87 to 93 % of the draws, and the rule asks for 75 to 89 % of the documents. Intervals of 60
  draws are wide.
"""


FINDINGS_OF_COLLECTIONS = """
Three collections with texts, two of them with made runs; no claim beyond them.

* **None of the older strategies beats what the library has, so none is in it.** For a tau of 0.9,
  labels drawn by `PairFeatures` need 15, 14 and 9 % of the pool, condensed lists 13, 24 and 22 %.
  Labels drawn by Carterette and Allan's regression need 47, 33 and 19 %, by Büttcher's language
  model 53, 44 and 28 %. Their tau is lower than with `PairFeatures` by 0.03 to 0.15 and 0.09 to
  0.20, on all three beyond chance.
* **The divergence as a column of `PairFeatures`** adds 0.003 to 0.007 to tau, with intervals that
  hold 0. F1 rises by 0.025 on TREC's passages, and not on Cranfield. It stays a recipe:
  `PairFeatures` takes any column of numbers, and for a judged document the model of the relevant
  ones must leave it out.
* **Less flattering: likeliest labels.** On cacm and Cranfield the F1 of `PairFeatures` is lower
  than that of the SVM and of the regression on similarities, by 0.07 to 0.09, as it calls few
  rare documents relevant. On TREC's passages it is higher by 0.02 to 0.04. At 5 % the likeliest
  labels of these two give the values of the made runs with an RMSE of 0.02 to 0.05, drawn labels
  of `PairFeatures` 0.07 to 0.08. At 20 % on Cranfield it is the other way round. On TREC's
  passages the labels of the language model give the nearest values. `LabelPredictor()` is for
  labels, and drawn labels are for comparisons.
* **Vu and Gallinari's ranker orders the pool no better than pooling.** With predicted labels it
  needs 17 to 29 %, pooling 19 to 24 %. With condensed lists it needs at best 1 to 3 points less
  on cacm and Cranfield. At depth 20 the first five of all runs are over a third of the pool
  already.
* **The paper's test.** MAXREP 0.8 needs 32 points less than uniform samples and 11 less than
  statAP. The t test over three collections finds neither (p 0.205 and 0.112; the paper, with four
  years, 0.008 and 0.063). Over queries both are found (p 0.005 and 0.050). From pooling it does
  not differ (2 points, p 0.294 and 0.993); the paper has 0.032.
* Draws repeat queries, so that they hold fewer different ones and need more labels: intervals of
  labels needed lean upward.
"""


if __name__ == "__main__":
    run_parts(
        __doc__,
        {
            "cranfield": cranfield,
            "collections": collections,
            "stopping": stopping,
            "finding": finding,
        },
        repetitions=10,
        predict_repetitions=2,
        queries=75,
    )

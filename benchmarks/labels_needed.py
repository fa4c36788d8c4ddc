"""How many labels a comparison of systems needs: selection and mitigation on Cranfield.

Figures 1 to 3 of Hui and Berberich (SPIRE 2015) with systems of our own over cranfield, and the
same with near-duplicates, all by `skfilterrank.metaevaluation.judging_curve`. Needs bm25s,
PyStemmer and matplotlib. `--repetitions 5 --predict-repetitions 1` takes four minutes of
processor time.
"""

import time

import matplotlib as mpl
import numpy as np
import pandas as pd
from _common import RESULTS, arguments, write_report
from _cranfield_systems import DEPTH, add_near_duplicates, read_collection, runs_of, systems
from sklearn.feature_extraction.text import CountVectorizer

from skfilterrank.judgments import (
    LabelPredictor,
    MaxRepSelector,
    PriorSelector,
    StatAPSelector,
    rank_table,
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


def main():
    options = arguments(__doc__, repetitions=30, predict_repetitions=5)
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


FINDINGS = """
Figures of one run, on one small collection (5 relevant of 124 pooled documents a topic) and
systems that are related to each other; no claim beyond it.

* **A look at the ranks of the systems is what saves labels.** With predict-map, tau passes 0.9 at
  12 % (pooling, MTC) and 15 % (prior, MAXREP), but at 47 % with uniform samples; with the paper's
  uniform samples, which look at the truth, indAP needs 39 %. Unlike in the paper, MAXREP is not
  best: pooling and MTC need less.
* **For the order of the systems, prediction is not needed.** With the selections by rank, indAP
  passes 0.9 earlier than predict-map: 8 % with pooling, 9 % with the prior, 11 % with MTC.
  trec-map needs 14 to 25 %, bpref 27 % and more.
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


if __name__ == "__main__":
    main()

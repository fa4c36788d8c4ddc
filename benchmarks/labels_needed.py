"""How many labels a comparison of systems needs: selection and mitigation on Cranfield.

Figures 1 to 3 of Hui and Berberich (SPIRE 2015) with systems of our own over cranfield, the same
with near-duplicates, and a search for what needs fewer labels. Needs bm25s, PyStemmer, matplotlib.
"""

import time

import matplotlib as mpl
import numpy as np
from _common import RESULTS, arguments, write_report
from _cranfield_systems import DEPTH, add_near_duplicates, read_collection
from _labels_needed_pool import Pool
from _labels_needed_search import FINE, search, search_table
from _labels_needed_trial import ENOUGH, Trial, crossing, tau_difference
from sklearn.feature_extraction.text import CountVectorizer

from skfilterrank.judgments import similarity_join

mpl.use("Agg")
import matplotlib.pyplot as plt

SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
COPIES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
MITIGATIONS = ("trec-map", "bpref", "indAP", "infAP", "statAP", "predict-map")
RANDOM = ("uniform, oracle", "uniform", "statAP")
NAMES = (*RANDOM, "pooling", "prior", "MAXREP 0.8", "move-to-front", "MTC")


def compare_all(trial, names, repetitions, predict_repetitions):
    """Tau and RMSE, (n_repetitions, n_shares, 2), by selection and mitigation."""
    found = {}
    for name in names:
        for mitigation in MITIGATIONS:
            if mitigation == "statAP" and name != "statAP":
                continue
            n = 1
            if name in RANDOM:
                n = predict_repetitions if mitigation == "predict-map" else repetitions
            found[name, mitigation] = np.array(
                [
                    [
                        trial.pool.compare(trial.ap(name, mitigation, share, seed))
                        for share in SHARES
                    ]
                    for seed in range(n)
                ]
            )
    return found


def spread(values, digits=3):
    """Mean, with the 2.5 and 97.5 percentiles where there are several."""
    if len(values) == 1:
        return f"{values[0]:.{digits}f}"
    low, high = np.percentile(values, [2.5, 97.5])
    return f"{values.mean():.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def grid(found, names, which, shares):
    """A table of tau (which=0) or RMSE (1)."""
    lines = ["| selection | mitigation | " + " | ".join(f"{s:.0%}" for s in shares) + " |"]
    lines.append("| --- | --- |" + " ---: |" * len(shares))
    for name in names:
        for mitigation in MITIGATIONS:
            if (name, mitigation) in found:
                own = found[name, mitigation]
                cells = [spread(own[:, SHARES.index(share), which]) for share in shares]
                lines.append(f"| {name} | {mitigation} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def needed_table(found, names):
    """Percent of labels for a tau above 0.9 (figure 3, for all mitigations)."""
    lines = ["| selection | " + " | ".join(MITIGATIONS) + " |"]
    lines.append("| --- |" + " ---: |" * len(MITIGATIONS))
    for name in names:
        cells = []
        for mitigation in MITIGATIONS:
            own = found.get((name, mitigation))
            mean = np.inf if own is None else crossing(own[..., 0].mean(axis=0), SHARES)
            cells.append("" if own is None else f"{mean:.0f}" if np.isfinite(mean) else "never")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def draw(found, names, path):
    """Figures 1 to 3."""
    figure, axes = plt.subplots(3, 3, figsize=(13, 10), sharex=True)
    figure_2, axes_2 = plt.subplots(3, 3, figsize=(13, 10), sharex=True)
    for name, ax, ax_2 in zip(names, axes.flat, axes_2.flat):
        for mitigation, colour in zip(MITIGATIONS, plt.cm.tab10.colors):
            own = found.get((name, mitigation))
            if own is None:
                continue
            for which, target in ((0, ax), (1, ax_2)):
                percent = 100 * np.array(SHARES)
                target.plot(percent, own[..., which].mean(axis=0), color=colour, label=mitigation)
                if len(own) > 1:
                    low, high = np.percentile(own[..., which], [2.5, 97.5], axis=0)
                    target.fill_between(percent, low, high, color=colour, alpha=0.15)
        ax.set(title=name, ylim=(0, 1), ylabel="Kendall's tau")
        ax.axhline(ENOUGH, color="grey", lw=0.7)
        ax_2.set(title=name, ylim=(1e-3, 0.4), yscale="log", ylabel="RMSE of MAP")
    bars = [crossing(found[name, "predict-map"][..., 0].mean(axis=0), SHARES) for name in names]
    for grid_axes, whole in ((axes, figure), (axes_2, figure_2)):
        grid_axes[0, 0].legend(fontsize=8)
        for ax in grid_axes[2]:
            ax.set_xlabel("% labelled")
        grid_axes.flat[-1].set_visible(False)
        whole.tight_layout()
    figure.savefig(RESULTS / f"{path}_tau.png", dpi=80)
    figure_2.savefig(RESULTS / f"{path}_rmse.png", dpi=80)
    figure_3, ax = plt.subplots(figsize=(7, 3))
    ax.barh(names[::-1], bars[::-1])
    ax.set_xlabel("% labelled for tau > 0.9, predict-map")
    figure_3.tight_layout()
    figure_3.savefig(RESULTS / f"{path}.png", dpi=80)


def near_duplicates(
    documents, queries, relevant, n_copies, mitigations=("predict-map", "trec-map")
):
    """Tau of some mitigations where a third of the documents has copies."""
    more, also, original = add_near_duplicates(
        documents, relevant, share=1 / 3, n_copies=n_copies, random_state=0
    )
    pool = Pool(more, queries, also)
    trial = Trial(pool)
    names = ("prior", "MAXREP 0.8", "pooling")
    lines = []
    for mitigation in mitigations:
        for name in names:
            own = [pool.compare(trial.ap(name, mitigation, share)) for share in COPIES]
            share = crossing([tau for tau, _ in own], COPIES)
            cells = " | ".join(f"{tau:.3f} / {error:.3f}" for tau, error in own)
            needs = f"{share:.1f}" if np.isfinite(share) else "> 50"
            lines.append(f"| {name} | {mitigation} | {cells} | {needs} |")
        cells = " | ".join(
            tau_difference(
                pool,
                trial.ap("MAXREP 0.8", mitigation, share),
                trial.ap("prior", mitigation, share),
                200,
            )
            for share in COPIES
        )
        lines.append(f"| MAXREP - prior | {mitigation} | {cells} | |")
    head = "| selection | mitigation | " + " | ".join(f"{s:.0%}" for s in COPIES) + " | needs % |\n"
    head += "| --- | --- |" + " ---: |" * (len(COPIES) + 1) + "\n"
    share_in_pool = np.mean([docno in original for docno in pool.docnos])
    with_twin, same = twins(pool)
    return (
        f"{len(original)} copies, {share_in_pool:.0%} of {pool.n_rows:,} pooled rows; "
        f"{with_twin:.1%} of the rows have another row of similarity 0.8 or more in their topic; "
        f"of such pairs {same:.0%} have the same label. MAXREP and its prior agree on "
        f"{overlap(trial, 0.2):.0%} of the first 20 %.\n\n{head}" + "\n".join(lines)
    )


def twins(pool, threshold=0.8):
    """Share of rows with a near-duplicate in their topic's pool, and of such pairs that agree."""
    counts = CountVectorizer().fit_transform(pool.texts)
    df = np.asarray((counts > 0).sum(axis=0)).ravel()
    weights = counts.multiply(np.log(pool.n_rows / df)).tocsr()
    has, agree, pairs = 0, 0, 0
    for topic in range(pool.n_topics):
        rows = np.flatnonzero(pool.topics == topic)
        similar = similarity_join(weights[rows], threshold).tocoo()
        other = similar.row != similar.col
        first, second = rows[similar.row[other]], rows[similar.col[other]]
        has += len(np.unique(first))
        pairs += len(first)
        agree += np.count_nonzero(pool.truth[first] == pool.truth[second])
    return has / pool.n_rows, agree / max(pairs, 1)


def overlap(trial, share):
    """Share of MAXREP's first documents that are among the prior's first."""
    own, prior = (trial.labels(name, share)[0] for name in ("MAXREP 0.8", "prior"))
    return np.mean(~np.isnan(prior[~np.isnan(own)]))


def paired(trial, shares=(0.1, 0.2, 0.3)):
    """MAXREP and its prior with predict-map: difference in tau."""
    cells = [
        tau_difference(
            trial.pool,
            trial.ap("MAXREP 0.8", "predict-map", share),
            trial.ap("prior", "predict-map", share),
        )
        for share in shares
    ]
    return "; ".join(f"{share:.0%} labelled: {cell}" for share, cell in zip(shares, cells))


def lowest_rmse(found, names):
    """In how many cells of selection and share each mitigation has the lowest mean RMSE."""
    counts = dict.fromkeys(MITIGATIONS, 0)
    for name in names:
        for place in range(len(SHARES)):
            errors = {
                mitigation: found[name, mitigation][:, place, 1].mean()
                for mitigation in MITIGATIONS
                if (name, mitigation) in found
            }
            counts[min(errors, key=errors.get)] += 1
    return ", ".join(f"{mitigation} {count}" for mitigation, count in counts.items())


def main():
    options = arguments(__doc__, repetitions=30, predict_repetitions=5)
    begin = time.perf_counter()
    documents, queries, relevant = read_collection(options.data / "cranfield")
    pool = Pool(documents, queries, relevant)
    trial = Trial(pool)
    labels, chosen = trial.labels("statAP", 0.3)
    difference = pool.check(~np.isnan(labels), chosen.inclusion_probability(0.3))
    found = compare_all(trial, NAMES, options.repetitions, options.predict_repetitions)
    RESULTS.mkdir(exist_ok=True)
    draw(found, NAMES, "labels_needed")
    print(f"figures after {time.perf_counter() - begin:.0f} s", flush=True)
    candidates, winners = search_table(pool, *search(trial))
    print(f"search after {time.perf_counter() - begin:.0f} s", flush=True)
    with_twin, same = twins(pool)
    few, many = (near_duplicates(documents, queries, relevant, n) for n in (1, 3))
    maps = pool.truth_ap.mean(axis=1)
    shown = (0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8)
    text = f"""
{FINDINGS.strip()}

## Setting

{len(pool.names)} systems over the {len(documents):,} documents and {pool.n_topics} topics of
Cranfield: BM25 in four forms and several parameters, query likelihood (Dirichlet, Jelinek-Mercer),
forms of tf-idf, LSI at five ranks, Rocchio feedback, fusions; stemmed or not, title or body alone;
queries cut to a few terms, vocabulary cut, noise, shuffled tails. Pool of depth {DEPTH}:
{pool.n_rows:,} rows, {pool.sizes.min()} to {pool.sizes.max()} a topic, {int(pool.truth.sum()):,}
relevant ({pool.truth.mean():.1%}; codes 1 to 4). All other pooled documents count as judged not
relevant. True MAP at depth {DEPTH} lies between {maps.min():.3f} and {maps.max():.3f}. Topics
without a known relevant document count 0. Shares are of each topic's pool, at least one document.
The measures, computed for all systems at once, differ from those of `skfilterrank.metrics` by at
most {difference:.0e}. Random selections: {options.repetitions} repetitions, of predict-map
{options.predict_repetitions}; brackets hold the 2.5 and 97.5 percentiles of these. "uniform,
oracle" is the paper's uniform sampling, which looks at the truth; MTC and move-to-front are active.

## Labels needed for tau above {ENOUGH} (figure 3), percent of the pool

Where the mean curve last crosses {ENOUGH}, between the shares by a straight line.

{needed_table(found, NAMES)}

![figure 3](labels_needed.png)

## Kendall's tau (figure 1)

![figure 1](labels_needed_tau.png)

Purple, in the panel of the statAP selection alone: statAP.

{grid(found, NAMES, 0, shown)}

## RMSE of MAP (figure 2)

![figure 2](labels_needed_rmse.png)

{grid(found, NAMES, 1, shown)}

Lowest mean RMSE in so many of {len(NAMES) * len(SHARES)} pairs of selection and share:
{lowest_rmse(found, NAMES)}.

## MAXREP and its prior

On the real collection {with_twin:.1%} of the rows have another row of similarity 0.8 or more in
their topic ({same:.0%} of such pairs have the same label); MAXREP 0.8 and the prior agree on
{overlap(trial, 0.2):.1%} of the first 20 %. Difference in tau with predict-map (95 % interval, 500
bootstrap samples of topics): {paired(trial)}.

## With near-duplicates

A third of the documents copied; in each copy 5 to 10 % of the tokens replaced by tokens drawn from
the collection; all systems run again; a copy is relevant where its original is. Cells: tau / RMSE;
the last lines are differences in tau with 95 % intervals over topics (200 samples).

### One copy each

{few}

### Three copies each

{many}

## Fewer labels

Candidates on both halves of the topics (every second one), shared models trained on the half alone.
"% needed" is where tau last crosses {ENOUGH} on a grid of {len(FINE)} shares from 2 to 40 %.
`SVM`: LabelPredictor with its defaults. `shared`: logistic regression over all topics on ranks
("ranks": prior, best rank, number of runs, mean of 1 / rank; "runs": 1 / rank in each run), with
"text" also likeness to the topic's judged documents. "expected AP": the chances take the place of
the labels. "active": batches chosen by the shared model on runs and text: the likeliest, the most
unsure, or the standard deviation of the label times the spread of its effect on the systems.
tau and RMSE are means of the halves. Each half has one run, and half of the topics: differences of
one or two percent of labels mean nothing.

{winners}

{candidates}

Took {time.perf_counter() - begin:.0f} s in one process.
"""
    write_report("labels_needed", "How many labels a comparison of systems needs", text)


FINDINGS = """
Figures of one run, on one small collection (5 relevant of 124 pooled documents a topic) and
systems that are related to each other; no claim beyond it.

* **A look at the ranks of the systems is what saves labels.** With predict-map, tau passes 0.9 at
  about 11 % (MTC), 12 % (pooling), 15 % (statAP, prior, MAXREP), 19 % (move-to-front), but 42 %
  with uniform samples even if these look at the truth. As in the paper, uniform sampling is worst
  and 20 % are enough for nearly all others. Unlike there, MAXREP is not best: pooling and MTC
  need less.
* **For the order of the systems, prediction is not needed.** With the selections by rank, indAP
  passes 0.9 earlier than predict-map or at the same place: 8 % with pooling, 9 % with the prior,
  10 % with MTC. trec-map needs 14 to 24 %. bpref needs 26 % and more and stays near 0.92 even
  when 80 % are labelled.
* **"Prediction has by far the lowest RMSE" holds in part.** It has the lowest RMSE in 44 of 104
  cases, more than any other. With pooling, the prior, MAXREP and move-to-front and 5 to 10 %
  labelled its error is 2.6 to 4.9 times smaller than that of trec-map, indAP and infAP; from 20 %
  on 1.0 to 1.8 times. At 20 and 30 % bpref is nearer still (0.015 against 0.041 with the prior at
  20 %), where it changes from too high to too low: it does not become exact with all labels. At 1
  % prediction is among the worst (0.22). With uniform samples indAP and infAP are nearer at
  nearly all shares. indAP, good for the order, has large errors in value where selection is by
  rank.
* **MAXREP at 0.8 is its prior** on the real collection: 0.8 % of the rows have a near-duplicate,
  the first 20 % agree to 99.4 %, and no difference in tau is larger than 0.004.
* **With near-duplicates MAXREP earns its keep, if labels are predicted.** Where a quarter of the
  pool are copies it needs 11 % instead of the prior's 14 %; where half are, 13 % instead of 19 %
  (pooling: 23 %), with differences in tau of up to +0.14 whose intervals exclude 0 from 5 to 30
  %. These copies always have the label of their original, which is the best case for it. With
  trec-map it is *worse* than its prior (46 % instead of 25 %): the copies it leaves out count as
  not relevant. With indAP, which leaves them out, the two are alike where a quarter are copies,
  and MAXREP is ahead where half are and few are judged (labels_needed_checks.md, which also has
  uniform samples by the truth that hold a relevant document where there is one: 30 % instead of
  the 42 % above).
* **No rule and predictor wins clearly.** Chosen on half A: pooling with indAP (11 %; 10 % on half
  B). Chosen on half B: documents judged by the chance that a model of all topics gives them, and
  expected AP by that model (5 %, but 14 % on half A, where pooling with indAP needs 11 %). All
  intervals of their differences in tau to the other baselines include 0. Halves differ more than
  candidates do. So nothing becomes an option of the library; the advice for the order of systems
  is incremental pooling to a tenth of the pool, measured by indAP.
* **What did not help:** lower thresholds of MAXREP (0.1 to 0.4) on real data; asking for what
  LabelPredictor is least sure of; budgets that differ between topics (no clear gain). Hard labels
  of the shared model are worse than its chances for selections that are not active.
  `output="soft"` of LabelPredictor with expected AP is poor: its sigmoid is fitted on judged
  documents, which were selected to be likely, so unjudged ones get chances that are too high
  (with the prior at 10 % a mean of 0.16, where 0.024 are relevant). The shared model, which knows
  the ranks by which documents were selected, does not have this fault. Active selection makes its
  expected AP less accurate in value than its order is.
"""


if __name__ == "__main__":
    main()

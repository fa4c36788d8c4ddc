"""How many labels a comparison of systems needs: selection and mitigation on Cranfield.

Figures 1 to 3 of Hui and Berberich (SPIRE 2015) with systems of our own over cranfield, the same
with near-duplicates, and a search for what needs fewer labels. Needs bm25s, PyStemmer, matplotlib.
"""

import time

import matplotlib as mpl
import numpy as np
from _common import RESULTS, arguments, write_report
from _cranfield_systems import DEPTH, add_near_duplicates, read_collection
from _labels_needed_models import SharedModel, unsure_of_predictor
from _labels_needed_pool import Pool
from sklearn.feature_extraction.text import CountVectorizer

from skfilterrank.judgments import (
    LabelPredictor,
    MaxRepSelector,
    MoveToFrontSelector,
    MTCSelector,
    PoolingSelector,
    PriorSelector,
    RandomSelector,
    StatAPSelector,
    similarity_join,
)

mpl.use("Agg")
import matplotlib.pyplot as plt

SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
FINE = (0.02, 0.05, 0.075, 0.1, 0.125, 0.15, 0.175, 0.2, 0.25, 0.3, 0.4)
COPIES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
ENOUGH = 0.9
MITIGATIONS = ("trec-map", "bpref", "indAP", "infAP", "statAP", "predict-map")
BASELINES = ("prior; SVM", "prior; indAP", "pooling; indAP", "MTC; indAP")
RANDOM = ("uniform, oracle", "uniform", "statAP")


def selector(name, pool, seed=0):
    """A fitted selection strategy; the active ones have been answered by the truth."""
    if name.startswith("MAXREP"):
        threshold = float(name.split()[1])
        return MaxRepSelector(threshold).fit(pool.texts, groups=pool.qids, prior=pool.prior)
    found = {
        "uniform, oracle": RandomSelector(oracle=True, random_state=seed),
        "uniform": RandomSelector(random_state=seed),
        "pooling": PoolingSelector(),
        "statAP": StatAPSelector(random_state=seed),
        "prior": PriorSelector(),
        "move-to-front": MoveToFrontSelector(),
        "MTC": MTCSelector(),
    }[name].fit(pool.table, pool.truth, prior=pool.prior)
    return found.simulate(pool.truth) if name in ("move-to-front", "MTC") else found


class Trial:
    """Labels by each strategy at each share, and labels predicted from them, made once."""

    def __init__(self, pool):
        self.pool, self.selectors, self.predicted = pool, {}, {}

    def labels(self, name, share, seed=0):
        """NaN where nobody judged, and the selector."""
        key = (name, seed)
        if key not in self.selectors:
            self.selectors[key] = selector(name, self.pool, seed)
            if hasattr(self.selectors[key], "simulate"):
                # `ranking_` of active strategies is made anew each time it is asked for.
                places = self.selectors[key].ranking_
                self.selectors[key] = PriorSelector().fit(self.pool.table, prior=1 / places)
        chosen = self.selectors[key]
        return np.where(chosen.select(share), self.pool.truth, np.nan), chosen

    def complete(self, name, share, seed=0):
        """Labels completed by LabelPredictor."""
        key = (name, share, seed)
        if key not in self.predicted:
            labels, _ = self.labels(name, share, seed)
            self.predicted[key] = predicted(self.pool, labels)
        return self.predicted[key]

    def ap(self, name, mitigation, share, seed=0):
        """Estimated AP, (n_systems, n_topics)."""
        if mitigation == "predict-map":
            return self.pool.trec(self.complete(name, share, seed))
        labels, chosen = self.labels(name, share, seed)
        inclusion = chosen.inclusion_probability(share) if mitigation == "statAP" else None
        measure = {
            "trec-map": self.pool.trec,
            "bpref": self.pool.bpref,
            "indAP": self.pool.induced,
            "infAP": self.pool.inferred,
            "statAP": self.pool.stat,
        }[mitigation]
        return measure(labels, inclusion)


def predicted(pool, labels, **options):
    """Labels completed by LabelPredictor with its defaults, or others."""
    return LabelPredictor(**options).fit_transform(pool.table_of(labels))["label"].to_numpy()


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


def needed(taus, shares):
    """The smallest share from which on tau stays above 0.9, in percent; inf if none."""
    above = np.logical_and.accumulate((np.asarray(taus) > ENOUGH)[::-1])[::-1]
    return 100 * shares[int(above.argmax())] if above.any() else np.inf


def crossing(taus, shares):
    """The same between the shares, by a straight line."""
    first = needed(taus, shares)
    place = len(shares) - 1 if np.isinf(first) else shares.index(first / 100)
    if np.isinf(first) or place == 0:
        return first
    low, high = taus[place - 1], taus[place]
    below = shares[place - 1]
    return 100 * (below + (shares[place] - below) * (ENOUGH - low) / (high - low))


def tau_difference(pool, first, second, n_samples=500, known=None):
    """Mean difference of two tau, and its 95 % interval over topics drawn with replacement."""
    rng = np.random.default_rng(0)
    known, found = np.arange(pool.n_topics) if known is None else known, []
    for _ in range(n_samples):
        topics = rng.choice(known, size=len(known))
        found.append(pool.compare(first, topics)[0] - pool.compare(second, topics)[0])
    low, high = np.percentile(found, [2.5, 97.5])
    observed = pool.compare(first, known)[0] - pool.compare(second, known)[0]
    return f"{observed:+.3f} [{low:+.3f}, {high:+.3f}]"


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


def search(trial):
    """Taus by candidate and half of the topics: {name: (2, n_shares, 2)}."""
    pool, model = trial.pool, SharedModel(trial.pool)
    halves = [np.arange(0, pool.n_topics, 2), np.arange(1, pool.n_topics, 2)]
    known = [np.isin(pool.topics, half) for half in halves]
    found, arrays = {}, {}

    def keep(name, aps):
        """One AP array for each half and share."""
        arrays[name] = [[ap.astype(np.float32) for ap in own] for own in aps]
        found[name] = np.array(
            [[pool.compare(ap, half) for ap in own] for own, half in zip(aps, halves, strict=True)]
        )

    def without_model(labels, name):
        keep(f"{name}; none", [[pool.trec(own[s]) for s in FINE] for own in labels])
        keep(f"{name}; indAP", [[pool.induced(own[s]) for s in FINE] for own in labels])

    def by_model(labels_of, name):
        for features, likeness in (("ranks", True), ("runs", False), ("runs", True)):
            if not likeness and name not in ("prior", "MTC", "active likely"):
                continue
            chances = [
                [
                    model.chances(
                        np.where(own, labels_of[half][s], np.nan), own, features, likeness
                    )
                    for s in FINE
                ]
                for half, own in enumerate(known)
            ]
            kind = f"shared {features}{' + text' if likeness else ''}"
            keep(f"{name}; {kind}, expected AP", [[pool.expected(c) for c in h] for h in chances])
            if features == "runs" and likeness:
                keep(f"{name}; {kind}, hard", [[pool.trec(c > 0.5) for c in h] for h in chances])

    for name in ("prior", "pooling", "MTC", "MAXREP 0.8", "MAXREP 0.4", "MAXREP 0.2", "MAXREP 0.1"):
        labels = {share: trial.labels(name, share)[0] for share in FINE}
        without_model([labels, labels], name)
        keep(f"{name}; SVM", [[pool.trec(trial.complete(name, s)) for s in FINE]] * 2)
        if name not in ("MAXREP 0.8", "MAXREP 0.1"):
            by_model([labels, labels], name)
    for options in ({"one_class": "pool"}, {"one_class": "pool", "output": "soft"}):
        soft = "output" in options
        aps = []
        for share in FINE:
            labels = predicted(pool, trial.labels("prior", share)[0], **options)
            aps.append(pool.expected(labels) if soft else pool.trec(labels))
        keep(f"prior; SVM one_class=pool{', soft, expected AP' if soft else ''}", [aps] * 2)
    unsure = unsure_of_predictor(pool, FINE)
    without_model([unsure, unsure], "LabelPredictor unsure")
    aps = [pool.trec(predicted(pool, unsure[s])) for s in FINE]
    keep("LabelPredictor unsure; SVM", [aps] * 2)
    for across in (False, True):
        # Few chances are above 1/2: across topics, the likeliest are the most unsure.
        for rule in ("likely", "effect") if across else ("likely", "unsure", "effect"):
            labels = [model.ask(rule, FINE, own, across=across) for own in known]
            name = f"active {rule}{', across topics' if across else ''}"
            without_model(labels, name)
            by_model(labels, name)
    return found, arrays, halves


def search_table(pool, found, arrays, halves):
    """Candidates by the share they need, on each half; the winner of each on the other."""
    need = {
        name: [crossing(own[half, :, 0], FINE) for half in (0, 1)] for name, own in found.items()
    }
    # Fewest labels, then the highest tau.
    winners = [
        min(found, key=lambda name: (need[name][half], -found[name][half, :, 0].mean()))
        for half in (0, 1)
    ]
    places = [FINE.index(share) for share in (0.05, 0.1, 0.15, 0.2) if share in FINE]
    order = sorted(found, key=lambda name: (np.mean(need[name]), -found[name][..., 0].mean()))
    lines = [
        "| selection; prediction | % needed, half A | half B | tau at 5 / 10 / 15 / 20 % | RMSE |"
    ]
    lines.append("| --- | ---: | ---: | --- | --- |")
    for name in order:
        mean = found[name].mean(axis=0)
        taus = " / ".join(f"{mean[p, 0]:.3f}" for p in places)
        errors = " / ".join(f"{mean[p, 1]:.3f}" for p in places)
        cells = [f"{n:.1f}" if np.isfinite(n) else "> 40" for n in need[name]]
        lines.append(f"| {name} | {cells[0]} | {cells[1]} | {taus} | {errors} |")
    chosen = []
    for half, name in enumerate(winners):
        other = 1 - half
        text = (
            f"* Chosen on half {'AB'[half]}: **{name}** ({need[name][half]:.1f} %). On the other "
            f"half it needs {need[name][other]:.1f} %"
        )
        for baseline in BASELINES:
            text += f"; `{baseline}` {need[baseline][other]:.1f} %"
        for share in (0.1, 0.15):
            text += f". Tau at {share:.0%} there, less that of"
            place = FINE.index(share)
            text += ",".join(
                f" `{baseline}` "
                + tau_difference(
                    pool,
                    arrays[name][other][place],
                    arrays[baseline][other][place],
                    200,
                    halves[other],
                )
                for baseline in BASELINES
            )
        chosen.append(text + ".")
    return "\n".join(lines), "\n".join(chosen)


def near_duplicates(documents, queries, relevant, n_copies):
    """Tau of predict-map where a third of the documents has copies."""
    more, also, original = add_near_duplicates(
        documents, relevant, share=1 / 3, n_copies=n_copies, random_state=0
    )
    pool = Pool(more, queries, also)
    trial = Trial(pool)
    names = ("prior", "MAXREP 0.8", "pooling")
    lines = []
    for mitigation in ("predict-map", "trec-map"):
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


NAMES = (*RANDOM, "pooling", "prior", "MAXREP 0.8", "move-to-front", "MTC")


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


FINDINGS = """TODO"""


if __name__ == "__main__":
    main()

"""The report of drawn_labels.py, made of the tables that its parts keep."""

import numpy as np
import pandas as pd
from _common import RESULTS, write_report
from _judged_collections import REAL

CELL = ["collection", "judged", "measure", "share"]
MEASURES = ["ap", "ndcg@10"]
ENOUGH = 0.9


def read(name):
    """Read the table of a part."""
    return pd.read_csv(RESULTS / f"drawn_labels_{name}.csv")


def write():
    """Write results/drawn_labels.md."""
    parts = [
        FINDINGS,
        ways(read("ways")),
        later_runs(read("later_runs")),
        selectors(read("selectors")),
        few_labels(read("few_labels")),
        machines(read("machines")),
        anchors(read("anchors")),
        training(read("training")),
        cost(read("cost")),
    ]
    write_report("drawn_labels", "Drawn labels", "\n\n".join(part.strip() for part in parts))


def markdown(table, digits=3):
    """A table of numbers as Markdown, the index as first columns; cells of text stay."""
    table = table.reset_index()
    names = [str(name) for name in table]
    lines = ["| " + " | ".join(names) + " |", "| " + " | ".join(["---"] * len(names)) + " |"]
    for row in table.itertuples(index=False):
        cells = [
            ("" if np.isnan(cell) else f"{cell:.{digits}f}") if isinstance(cell, float) else cell
            for cell in row
        ]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def with_error(values):
    """Mean of collections and its standard error."""
    return f"{values.mean():.3f} ± {values.std(ddof=1) / np.sqrt(len(values)):.3f}"


def by_cell(table, column):
    """Mean over repetitions: a row for each cell, a column for each way."""
    return table.pivot_table(column, CELL, "way")


def ways(table):
    """Order and values of all ways, counts of cells, and coverage."""
    tau, rmse = by_cell(table, "tau"), by_cell(table, "rmse")
    is_real = tau.index.get_level_values("collection").isin(REAL)
    text = ["## Order and values"]
    for kind, some in (("Real runs, three collections", is_real), ("Made systems, two", ~is_real)):
        found = {}
        for name, cells in (("tau", tau), ("RMSE", rmse)):
            for way in ("condensed", "drawn", "safe"):
                found[f"{name} {way}"] = (
                    cells.loc[some, way].groupby(["judged", "measure", "share"]).agg(with_error)
                )
        text += [f"{kind}:", markdown(pd.DataFrame(found))]
    gain = (tau["drawn"] - tau["condensed"]).groupby(["judged", "measure", "collection"]).mean()
    gain = gain.groupby(["judged", "measure"]).agg(with_error).rename("tau: drawn less condensed")
    safe = (tau["safe"] - tau["condensed"]).groupby(["judged", "measure", "collection"]).mean()
    safe = safe.groupby(["judged", "measure"]).agg(with_error).rename("safe less condensed")
    text += ["All five:", markdown(pd.concat([gain, safe], axis=1))]
    text += ["### Counts of cells", counts(tau, rmse)]
    for name, cells in (("Tau", tau), ("RMSE", rmse)):
        means = cells.groupby(["judged", "measure", "share"]).mean()
        text += [
            f"### {name} of all ways, mean of the collections",
            "`LabelPredictor()` is on the three collections with texts alone; bpref and infAP are "
            "compared with AP.",
            markdown(means[[way for way in ORDER if way in means]]),
        ]
    with_texts = ["trec-dl2019-llm", "cacm", "cranfield"]
    means = tau.loc[with_texts].groupby(["judged", "measure"]).mean()
    text += [
        "Tau on the three with texts:",
        markdown(means[["LabelPredictor()", "condensed", "drawn", "safe"]]),
    ]
    text += ["## Intervals", coverage(table)]
    return "\n\n".join(text)


ORDER = (
    "condensed",
    "drawn",
    "safe",
    "unjudged as 0",
    "bpref",
    "infAP",
    "estimate()",
    "LabelPredictor()",
)


def counts(tau, rmse):
    """How many cells are worse than condensed lists."""
    lines = []
    for way in ("drawn", "safe"):
        less = tau[way] - tau["condensed"]
        worst = less.idxmin()
        lines.append(
            f"* Tau of {way} labels is below that of condensed lists by more than 0.01 in "
            f"{(less < -0.01).sum()} of {len(less)} cells, below at all in {(less < 0).sum()}; the "
            f"worst is {less.min():+.3f} ({', '.join(map(str, worst))})."
        )
    pooled = rmse.xs("pooling", level="judged")
    ratio = pooled["drawn"] / pooled["condensed"]
    lines.append(
        f"* RMSE after pooling is at most a third of that of condensed lists in "
        f"{(ratio <= 1 / 3).sum()} of {len(ratio)} cells, and above it in {(ratio > 1).sum()}."
    )
    at_random = rmse.xs("random", level="judged")
    lines.append(
        f"* RMSE after random judging is above that of condensed lists in "
        f"{(at_random['drawn'] > at_random['condensed']).sum()} of {len(at_random)} cells, and "
        f"above that of `estimate()` in "
        f"{(at_random['drawn'] > at_random['estimate()']).sum()}."
    )
    return "\n".join(lines)


def coverage(table):
    """Share of values and of differences that 95 % intervals for these queries hold."""
    drawn = table[table["way"] == "drawn"]
    columns = ["holds", "holds_differences", "width"]
    by_collection = drawn.groupby(["judged", "measure", "collection"])[columns[:2]].mean()
    wide = drawn.pivot_table(columns[:2], ["judged", "measure"], "collection")
    wide.columns = [f"{'values' if a == 'holds' else 'differences'}, {b}" for a, b in wide.columns]
    by_share = drawn.groupby(["judged", "measure", "share"])[columns].mean()
    other = table[table["way"] == "estimate()"].groupby(["judged", "measure", "share"])
    by_share["`estimate()` holds"] = other["holds"].mean()
    by_share["its width"] = other["width"].mean()
    means = by_collection["holds_differences"].groupby(["judged", "measure"]).mean()
    held = "; ".join(f"{how}, {name}: {mean:.3f}" for (how, name), mean in means.items())
    return (
        f"Share of true values, and of true differences of all pairs of systems, inside 95 % "
        f"intervals for these queries. Differences, mean of the collections: {held}.\n\n"
        f"{markdown(wide, 2)}\n\n{markdown(by_share)}"
    )


def later_runs(table):
    """Bias of runs that did not contribute."""
    own = table.groupby(["labels", "share", "measure"])
    found = own[["less", "error", "error_with"]].mean()
    found["worst"] = own["less"].min()
    found = found.rename(
        columns={
            "less": "value less that as a contributor",
            "error": "value less truth",
            "error_with": "the same as a contributor",
        }
    )
    return (
        "## Later runs\n\nEight runs of each collection of real runs, spread over all qualities, "
        'are left out of the pool one by one. "Drawn anew": labels are drawn again with the '
        'later run as a column. "Not drawn anew": labels were drawn without it, and what it '
        "alone returns stays unjudged.\n\n" + markdown(found, 4)
    )


def needed_labels(table):
    """Share of labels needed by each selector and way, and pooling's two beside each other."""
    taus = table.pivot_table("tau", "share", ["collection", "judged", "way", "measure"])
    needed = taus.apply(crossing).rename("needed").reset_index()
    wide = needed.pivot_table("needed", ["collection", "judged"], ["measure", "way"])
    lines = []
    for measure in MEASURES:
        pooled = wide[measure].xs("pooling", level="judged")
        is_few = (pooled["drawn"] <= 2 / 3 * pooled["condensed"]) & (pooled["drawn"] < np.inf)
        texts = [
            f"{name} {row['drawn']:.3f} drawn, {row['condensed']:.3f} condensed"
            for name, row in pooled.iterrows()
        ]
        lines.append(
            f"* `{measure}`, pooling: {'; '.join(texts)}. At most two thirds in {is_few.sum()} of "
            f"{len(pooled)}."
        )
    wide.columns = [f"{measure}, {way}" for measure, way in wide.columns]
    return "\n".join(lines), wide


def crossing(taus):
    """Share of labels from which on tau is above ENOUGH, by linear interpolation."""
    shares, taus = taus.index.to_numpy(), taus.to_numpy()
    above = np.logical_and.accumulate((taus > ENOUGH)[::-1])[::-1]
    if not above.any():
        return np.inf
    place = int(above.argmax())
    if place == 0:
        return shares[0]
    low, high = taus[place - 1 : place + 1]
    return shares[place - 1] + (shares[place] - shares[place - 1]) * (ENOUGH - low) / (high - low)


def selectors(table):
    """Tau by selector and way, and labels needed."""
    table = table[table["way"].isin(["drawn", "condensed"])]
    text = ["## Which selector"]
    groups = (
        ("trec-dl2019-llm and cacm, which have texts", ["trec-dl2019-llm", "cacm"]),
        (
            "trec-covid-round1 and trec-robust2003, which have none",
            ["trec-covid-round1", "trec-robust2003"],
        ),
    )
    for name, some in groups:
        own = table[table["collection"].isin(some)]
        wide = own.pivot_table("tau", ["judged", "way"], ["measure", "share"])
        wide.columns = [f"{measure}, {share:.0%}" for measure, share in wide.columns]
        text += [f"Tau, mean of {name}:", markdown(wide.dropna())]
    lines, wide = needed_labels(table)
    text += [
        f"### Share of labels needed for tau {ENOUGH}",
        lines,
        markdown(wide),
    ]
    return "\n\n".join(text)


def few_labels(table):
    """Order and coverage from few labels over all queries."""
    refused = table[table["way"] == "refused"]
    n = refused.groupby(["judged", "labels"]).size()
    lines = [f"{how}, {labels} labels: {count}" for (how, labels), count in n.items()]
    draws = table[["collection", "seed"]].drop_duplicates()
    rest = table[table["way"] != "refused"]
    keys = ["judged", "measure", "labels"]
    found = rest.pivot_table("tau", keys, "way")
    found = found[["no label", "condensed", "drawn", "safe"]].add_prefix("tau ")
    drawn = rest[rest["way"] == "drawn"].groupby(keys)
    found["RMSE drawn"] = drawn["rmse"].mean()
    found["values held"] = drawn["holds"].mean()
    found["differences held"] = drawn["holds_differences"].mean()
    return (
        "## Few labels\n\nSo many labels over all queries of a collection (three collections of "
        "real runs, and cacm). `complete_qrels` refuses below 30 labels, which this table lifts, "
        "and below five relevant and five other labels, of which there were too few in "
        f'{"; ".join(lines) or "no case"} (of {len(draws)} each). Tau of "no label" is that of '
        "`rank_systems`.\n\n" + markdown(found)
    )


def machines(table):
    """A machine's labels as a column."""
    wide = table.pivot_table("tau", "way", ["judged", "measure", "share"])
    wide.columns = [f"{a}, {b}, {c:.0%}" for a, b, c in wide.columns]
    errors = table.pivot_table("rmse", "way", ["judged", "measure"])
    errors.columns = [f"{a}, {b}" for a, b in errors.columns]
    return (
        '## A machine\'s labels as a column\n\ntrec-dl2019-llm. Tau, then RMSE; "ranks" is without '
        f"texts.\n\n{markdown(wide)}\n\n{markdown(errors)}"
    )


def anchors(table):
    """Correlation by number of labels of each query."""
    keys = ["judged", "measure", "labels"]
    table = table[table["way"] != "safe"]
    found = table.pivot_table(["spearman", "tau"], keys, "way")
    found.columns = [f"{name} {way}" for name, way in found.columns]
    return (
        "## Labels of each query\n\ntrec-dl2019-llm (about 190 labels of each query in all), with "
        f"texts.\n\n{markdown(found)}"
    )


def training(table):
    """nDCG@10 of a ridge regression, less that of dropping unjudged rows."""
    cells = table.pivot_table("value", "way", ["judged", "share", "seed"])
    less = (cells - cells.loc["dropped"]).T.groupby(["judged", "share"]).agg(with_error).T
    less.loc["dropped"] = [
        f"{mean:.3f}" for mean in cells.loc["dropped"].groupby(["judged", "share"]).mean()
    ]
    less.columns = [f"{how}, {share:.0%}" for how, share in less.columns]
    return (
        "## Training labels\n\nnDCG@10 of a ridge regression on the features of OHSUMED, less that "
        "of leaving unjudged rows out, with the standard error over repetitions (another part of "
        f"the queries is held out in each):\n\n{markdown(less)}"
    )


def cost(table):
    """CPU seconds and memory."""
    table = table.rename(
        columns={
            "draw": "complete_qrels, CPU s",
            "evaluate": "evaluate_runs, CPU s",
            "memory": "peak memory, GiB",
        }
    )
    return (
        "## Cost\n\nSo many queries of 1,000 documents, 100 runs, 10 % judged, 20 label sets, AP "
        f"and nDCG@10, no texts:\n\n{markdown(table.set_index('queries'), 1)}"
    )


FINDINGS = """
Five collections whose pools are judged: three with submitted runs (trec-dl2019-llm with texts,
trec-covid-round1, trec-robust2003), and two with made systems (cacm, cranfield). Made systems are
kin of the model's cosine and BM25, and flatter it. Each list holds its first 100 judged documents
(made systems: 50). A repetition draws three quarters of the queries, at most 30, and at most 37
runs (few labels and labels of each query: 40 and 50; selectors: 20 and 25). `ways` and
`training` have three repetitions, the other parts have one. Standard errors are over collections.
Some of these collections chose a constant: the noise of runs beyond the judged depth was chosen on
four of them and checked on cranfield. Expect a little less elsewhere.

* **Order.** Drawn labels beat condensed lists by 0.058 (AP) and 0.090 (nDCG@10) of tau after
  pooling, and by 0.077 and 0.166 after random judging. The aim 0.06 for AP after pooling is missed
  by little. With five repetitions they were 0.058, 0.095, 0.091 and 0.188. Tried and not worth
  it: reciprocal ranks, counts of runs, squares, other penalties, no loss beyond the depth. The
  mean log rank standardised in the query adds 0.002; it is not built in.
* **The safe order** is nowhere below condensed lists by more than 0.01, nor are drawn labels by
  themselves. It gains a sixth to a third less than these.
* **Values.** RMSE after pooling is at most a third of that of condensed lists in 22 of 30 cells;
  the aim was three quarters. It is larger nowhere. After random judging it is larger in 2 of 30
  cells, and that of `estimate()` is smaller in 3.
* **Intervals** of differences hold in 94 to 95 % of the pairs after pooling, and in 90 to 91 %
  after random judging. There, those of values hold in 89 % (AP) and 90 % (nDCG@10) only, with 80 %
  as the worst collection (trec-dl2019-llm, AP). Those of `estimate()` hold in 95 to 100 %, and are
  twice as wide.
* **`LabelPredictor()`** (a support vector machine for each query) orders better than condensed
  lists in 15 of 18 cells after pooling, and in 6 of 18 after random judging.
* **Selectors.** With texts, MAXREP is best for drawn labels: tau 0.91 (AP) and 0.93 (nDCG@10) from
  5 %, where pooling has 0.78 and 0.88. With condensed lists MAXREP and pooling are about equal by
  nDCG@10. Without texts, pooling is best, and by AP from 10 % on uncertainty (half by pooling, then
  what the sets differ about). Random samples are worst by nDCG@10.
* **Labels needed** for tau 0.9 after pooling are at most two thirds in 5 of 8 cases. On
  trec-robust2003 (17 runs, no texts) drawn labels need more than condensed lists for nDCG@10.
* **Few labels.** After pooling, 10 and 20 labels order worse than none (`rank_systems`), and 30
  better. After random judging it takes 100.
* **A machine's labels** as a column add little beside 37 runs: after pooling 0.015 (ranks) and
  0.024 (texts) of tau by a good judge (kappa 0.40), nothing by a poor one (0.27), and nothing after
  random judging. With a machine, tau is above that of condensed lists in 47 of 48 cells.
* **Anchors.** A classifier for each query with 128 labels reaches a Spearman correlation above 0.94
  (arXiv 2510.04633, other data). Here drawn labels reach it with 8 labels of each query at
  random, and after pooling with 8 (nDCG@10) and 32 (AP). One label of each query at random orders
  worse than chance by nDCG@10. With 128 of 190 labels they have
  0.994 to 1.000, and condensed lists 0.988 to 1.000. One-shot labelling (arXiv 2302.11266) has no
  counterpart: drawn labels need five documents of either kind.
* **Later runs** get 0.006 to 0.009 less than as contributors if labels are not drawn anew (at worst
  0.060 less), and 0.004 to 0.011 more if they are, with the later run as a column.
* **Training** on the features of OHSUMED: if the judged rows are a random sample, no way beats
  training on them alone. If they are the best by mean rank, `LabelPredictor(model="pairs")` adds
  0.21 to 0.22 of nDCG@10, counting unjudged rows as 0 adds 0.17 to 0.18.
* **Cost.** 50 queries of 1,000 documents, 100 runs and 20 label sets: 10 to 15 CPU seconds,
  1.1 GiB. Seconds and memory grow less than linearly in the number of queries.
"""

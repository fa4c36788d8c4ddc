"""How the price of a forbidden document decides which system nDCG_f@10 calls best.

Two collections of health questions: TREC 2021 Health Misinformation, where harmful pages are
forbidden, and CLEF eHealth 2021, where pages that are not credible are. Other relevant pages have
gain 1. Each run is measured at several prices and with unjudged
documents worth 0, taken out of the lists, or forbidden, beside a random order and an empty list.
Measures of two columns, relevance and credibility, are compared with it on the same lists.

    python benchmarks/price_of_forbidden.py
"""

import warnings
from itertools import combinations

import numpy as np
import pandas as pd
from _common import arguments, write_report

from skfilterrank.comparison import kendall_tau, score_predictions, tau_ap
from skfilterrank.exceptions import SkfilterrankWarning
from skfilterrank.io import read_qrels, read_runs
from skfilterrank.metrics import evaluate

K = 10
PRICES = (1, 3, 10)
UNJUDGED = {"zero": "worth 0", "drop": "taken out", "forbidden": "forbidden"}
N_ORDERS, N_MADE = 20, 48
POOL = "BM25, 3,000 documents"
NOT_SYSTEMS = ("qid", "docno", "label", "relevant", "credible", "order")


def table_of(runs, qrels):
    """A row for each judged or retrieved document: labels, and a column of scores for each run."""
    table = qrels.set_index(["qid", "docno"]).astype(float)
    for name, run in runs.items():
        run = run.astype({"qid": str, "docno": str})
        # Ties by document id, descending.
        run = run.sort_values(["score", "docno"], ascending=False)
        run = run.assign(**{name: -run.groupby("qid").cumcount().astype(float)})
        table = table.join(run.set_index(["qid", "docno"])[name], how="outer")
    of_all = [set(qrels["qid"]), *(set(run["qid"].astype(str)) for run in runs.values())]
    table = table[table.index.get_level_values("qid").isin(set.intersection(*of_all))].reset_index()
    names = list(runs)
    return table.assign(**{name: table[name].fillna(-np.inf) for name in names})


def misinformation(folder):
    """Three published runs of 1,000 documents, and BM25 of 3,000.

    Each page that has a grade is useful. It is correct from grade 7 on and incorrect below 0.
    """
    qrels = read_qrels(folder / "qrels.txt.gz", unjudged_label=None)[["qid", "docno", "label"]]
    correct = np.select([qrels["label"] >= 7, qrels["label"] > 0], [1, 0.5])
    qrels = qrels.assign(relevant=1, credible=correct, order=qrels["label"])
    files = ("BM25-Baseline", "Correct-Stance", "Trust-Pipeline")
    runs = read_runs({name: folder / f"{name}.run.gz" for name in files})
    features = pd.read_parquet(folder / "features.parquet").rename(columns={"query": "qid"})
    runs[POOL] = features.assign(score=features["bm25_score"])
    return table_of(runs, qrels), POOL


def health_search(folder):
    """Two runs of 1,000 documents; what is not credible is forbidden whatever its relevance."""
    relevance = read_qrels(folder / "qrels.txt.gz", unjudged_label=None)
    credible = read_qrels(folder / "credibility.txt.gz", unjudged_label=None)
    qrels = relevance.merge(credible, on=["qid", "docno"], how="left", suffixes=("", "_credible"))
    qrels["relevant"], code = qrels["label"] / 2, qrels.pop("label_credible")
    # 3 is "could not judge": not known to be credible, but not forbidden.
    qrels["credible"] = np.where(code == 3, 0, code) / 2
    qrels["label"] = qrels["order"] = np.where(code == 0, -1, qrels["label"])
    runs = read_runs({"BM25": folder / "bm25.run.gz", "TF-IDF": folder / "tf_idf.run.gz"})
    return table_of(runs, qrels), "BM25"


def measured(table, scores, price, unjudged):
    """nDCG_f@10 at a price, with unjudged documents treated in one of three ways."""
    labels = table["label"].to_numpy()
    gains = np.where(labels < 0, -float(price), np.minimum(labels, 1))
    if unjudged == "forbidden":
        gains, unjudged = np.where(np.isnan(gains), -float(price), gains), "zero"
    return evaluate(
        gains, scores, f"ndcg_f@{K}", groups=table["qid"], unjudged=unjudged
    ).means.iloc[0]


def systems_of(table, pool):
    """Scores of each system: the runs, random orders of what one of them retrieved, nothing."""
    names = [name for name in table if name not in NOT_SYSTEMS]
    found = {name: [table[name].to_numpy()] for name in names}
    is_there = np.isfinite(table[pool])
    found[f"random order of {pool}"] = [
        np.where(is_there, np.random.default_rng(seed).random(len(table)), -np.inf)
        for seed in range(N_ORDERS)
    ]
    found["nothing is shown"] = [np.full(len(table), -np.inf)]
    return found


def rows_of(table, pool):
    """A line of the report for each system."""
    judged = table["label"].notna()
    for name, orders in systems_of(table, pool).items():
        cells = []
        for unjudged in UNJUDGED:
            for price in PRICES:
                values = [measured(table, scores, price, unjudged) for scores in orders]
                cells.append(f"{np.mean(values):.3f}")
        shares = []
        for scores in orders:
            ranks = pd.Series(scores).groupby(table["qid"]).rank(ascending=False, method="first")
            top = np.isfinite(scores) & (ranks <= K).to_numpy()
            shares.append(1 - judged[top].mean() if top.any() else np.nan)
        share = np.mean(shares)
        cells.append("" if np.isnan(share) else f"{share:.0%}")
        yield f"| {name} | " + " | ".join(cells) + " |"


def two_columns(table, systems):
    """Values by query of measures of both columns and of nDCG_f, {name: systems x queries}."""
    relevant, credible = table["relevant"].to_numpy(), table["credible"].to_numpy()

    def of(measure, gains):
        return score_predictions(gains, systems, measure, groups=table["qid"])[measure].to_frame()

    ndcg = f"ndcg@{K}"
    one, other = of(ndcg, relevant), of(ndcg, credible)
    order = table["order"].to_numpy()
    found = {
        "nDCG of relevance": one,
        "nDCG of credibility": other,
        "CAM": (one + other) / 2,
        "WHAM": (2 * one * other / (one + other)).fillna(0),
        "NWCS": of(ndcg, (relevant + credible) / 2),
        "TOMA": of(ndcg, grades_by_distance(relevant, credible)),
        "help": of("compatibility(harm=0)", order),
        "harm": of("harmful_compatibility", order),
        "help - harm": of("compatibility", order),
    }
    forbidden = (table["label"] < 0).to_numpy()
    for price in PRICES:
        found[f"nDCG_f: {-price}"] = of(f"ndcg_f@{K}", np.where(forbidden, -price, relevant))
    return found | {f"forbidden of {K}": of(f"forbidden@{K}", -1.0 * forbidden)}


def grades_by_distance(relevant, credible):
    """Ranks of the distances to the best pair of labels, from 0 for the farthest pair."""
    labels = (np.union1d(column[~np.isnan(column)], [0, 1]) for column in (relevant, credible))
    levels = np.unique(np.hypot.outer(*(1 - each for each in labels)).round(9))
    distance = np.hypot(1 - relevant, 1 - credible).round(9)
    grades = len(levels) - 1 - np.searchsorted(levels, distance)
    return np.where(np.isnan(distance), np.nan, grades)


def made_systems(table):
    """Lists of judged and as many other documents, of which each second one is filtered.

    A document scores u relevance + v credibility + noise of deviation 1. Filters hide a share of
    the documents of each query, by a score of harm with noise of the same size.
    """
    rng = np.random.default_rng(0)
    columns, judged = table[["relevant", "credible"]].fillna(0).to_numpy(), table["label"].notna()
    there = judged | (rng.random(len(table)) < judged.mean())
    systems = {}
    for i in range(N_MADE):
        scores = columns @ [rng.uniform(0, 2), rng.uniform(-1, 2)] + rng.normal(size=len(table))
        hide = 1.5 * (table["label"] < 0) + rng.normal(size=len(table))
        most = rng.uniform(0.05, 0.6) * (i % 2)
        share = hide.where(there).groupby(table["qid"]).rank(pct=True, ascending=False)
        systems[f"made {i}"] = np.where(there & ~(share <= most), scores, -np.inf)
    return systems


def columns_section(table, pool):
    """Values of the lists by each measure, how orders of made systems agree, and where not."""
    lists = {name: orders[0] for name, orders in systems_of(table, pool).items()}
    runs = [name for name in lists if name in table and name != POOL]
    lists["all harmful pages"] = np.where(table["label"] < 0, 1 + table["relevant"], -np.inf)
    found = two_columns(table, lists)
    lines = ["### Two columns", "", f"| list | {' | '.join(found)} |"]
    lines += ["| --- |" + " ---: |" * len(found)]
    for name in lists:
        cells = (f"{frame.loc[name].mean():.3f}" for frame in found.values())
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    made = two_columns(table, made_systems(table))
    means = {name: frame.mean(axis=1) for name, frame in made.items()}
    prices, harm = [f"nDCG_f: {-price}" for price in PRICES], f"forbidden of {K}"
    means |= {name: -means[name] for name in ("harm", harm)}
    lines += ["", f"Orders of {N_MADE} made systems, tau and tau_ap; the least harm is best.", ""]
    lines += ["| | " + " | ".join([*prices, harm]) + " |", "| --- |" + " ---: |" * 4]
    for name in (name for name in made if name not in (*prices, harm)):
        pairs = [(means[other], means[name]) for other in (*prices, harm)]
        cells = (f"{kendall_tau(*p):.3f}, {tau_ap(*p, symmetric=True):.3f}" for p in pairs)
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", *opposite_section(table, lists, runs, found), ""])


def opposite_section(table, lists, runs, found):
    """Queries on which CAM and nDCG_f prefer different runs, and the clearest of them."""
    measures = ["CAM", f"nDCG_f: {-PRICES[0]}", f"forbidden of {K}"]
    tops = {name: top_of(table, lists[name]) for name in runs}
    frames = []
    for a, b in combinations(runs, 2):
        frame = pd.DataFrame({name: found[name].loc[b] - found[name].loc[a] for name in measures})
        frames.append(frame.set_axis(["cam", "ndcg_f", "harm"], axis=1).assign(a=a, b=b))
        frames[-1]["unjudged"] = [
            max(top[query].count("?") for top in (tops[a], tops[b])) for query in frame.index
        ]
    pairs = pd.concat(frames).rename_axis("query").reset_index()
    opposite = pairs.query("cam * ndcg_f < 0")
    more = opposite.query("cam * harm > 0")
    lines = [
        f"CAM and nDCG_f at -1 prefer different runs in {len(opposite)} of {len(pairs)} pairs of "
        f"two runs on a query. In {len(more)} of them CAM prefers the run that shows more "
        f"forbidden pages, and nDCG_f in {len(opposite.query('cam * harm < 0'))}. The clearest "
        "one, at most four of ten unjudged (+ relevant, o not, - forbidden, ? unjudged):",
        "",
        "| query | run | first ten | CAM | nDCG_f: -1 |",
        "| --- | --- | --- | ---: | ---: |",
    ]
    known = more[more["unjudged"] <= 4]
    clearest = known.loc[(-known["cam"] * known["ndcg_f"]).idxmax()]
    for name in clearest[["a", "b"]]:
        query = clearest["query"]
        cells = (f"{found[measure].loc[name, query]:.3f}" for measure in measures[:2])
        lines.append(f"| {query} | {name} | `{tops[name][query]}` | " + " | ".join(cells) + " |")
    return lines


def top_of(table, scores):
    """A sign for each of the first documents of a list, {query: text}."""
    known = [table["label"].isna(), table["label"] < 0, table["relevant"] > 0]
    frame = pd.DataFrame({"qid": table["qid"], "sign": np.select(known, list("?-+"), "o")})
    shown = frame.assign(score=scores).query("score > -inf").sort_values("score", ascending=False)
    return shown.groupby("qid")["sign"].apply(lambda signs: "".join(signs[:K])).to_dict()


def main():
    """Both collections, and the report."""
    options = arguments(__doc__.splitlines()[0])
    warnings.simplefilter("ignore", SkfilterrankWarning)
    text = FINDINGS
    head = [f"{words}: {-price}" for words in UNJUDGED.values() for price in PRICES]
    for title, folder, read in (
        ("TREC 2021 Health Misinformation", "trec-misinfo-2021", misinformation),
        ("CLEF eHealth 2021", "clef-health-2021", health_search),
    ):
        table, pool = read(options.data / folder)
        labels = table["label"]
        text += f"\n## {title}\n\n{table['qid'].nunique()} queries; {labels.notna().sum():,} "
        text += f"judged documents, {(labels < 0).sum():,} of them forbidden.\n\n"
        text += "| list | " + " | ".join(head) + " | top 10 unjudged |\n| --- |"
        text += " ---: |" * (len(head) + 1) + "\n" + "\n".join(rows_of(table, pool)) + "\n\n"
        text += columns_section(table, pool)
    write_report("price_of_forbidden", "The price of forbidden documents", text)


FINDINGS = """
nDCG_f@10, mean over queries. Columns: how unjudged documents count, and the gain of a forbidden
document. Random orders are means of 20.

* **A list without judged documents scores like an empty one** where unjudged documents are worth 0:
  a random order of 3,000 documents, 95 % of its top 10 unjudged, stays within 0.016 of "nothing is
  shown" at every price. At -10 both are above a published run, Trust-Pipeline (0.853 and 0.858
  against 0.844); at -1 they are far below it (0.431 and 0.416 against 0.673).
* **Taking unjudged documents out does not help**: the random order has 0.690 to 0.694, above BM25
  (0.619), as the judged documents that are left of it are mostly helpful ones.
* **Taking unjudged documents for forbidden** puts the random order last, and the empty list first
  wherever a forbidden document costs 3 or more; at -1 it is third.
* **The price alone can turn an order**: of the two runs of CLEF eHealth TF-IDF is ahead at -1 and
  -3 and BM25 at -10. Their top 10 is judged, and at -10 the empty list is within 0.010 of both.

So a value at a high price says little without two others beside it: that of the empty list, and the
share of the top k that is judged.

Tables of two columns have measures of Lioma, Simonsen and Larsen (2017) with weights of one half:
CAM is the mean of nDCG@10 of relevance and nDCG@10 of credibility, WHAM their harmonic mean on each
query, and NWCS the nDCG@10 of the mean of both labels. TOMA (Maistro et al., 2021) is the nDCG@10
of grades: ranks of the Euclidean distance to the best pair of labels. Both labels are scaled to 1,
and "could not judge" counts 0. On TREC a page is relevant if it has a grade, and its credibility
is that its answer is correct (1), neutral (0.5) or incorrect (0, forbidden). Help and harm are the
track's compatibility with the order of the grades; for CLEF that is relevance, and not credible.
nDCG_f has the label of relevance as gain here, and unjudged documents are worth 0. Made systems
order judged and as many other documents by both labels and noise, with weights of chance, and each
second one hides a share of them by a noisy score of harm.

* **Measures of two columns do not subtract**: a list of forbidden pages alone has a CAM of 0.388
  on TREC and of 0.232 on CLEF, and an empty list has 0. By nDCG_f at -1 the forbidden pages have
  0, and the empty list 0.416 and 0.412.
* **So they see less of the harm**: BM25, with 2.9 forbidden pages among ten, and Trust-Pipeline,
  with 1.0, are 0.008 apart by CAM, 0.100 by WHAM, 0.140 by nDCG_f at -1 and 0.150 by help - harm.
* **Orders of made systems**: nDCG_f at -1 has a tau of 0.762 and 0.824 with CAM, of 0.824 and 0.874
  with WHAM, and of 0.867 and 0.968 with help - harm. At -10 CAM falls to 0.566 and 0.722. NWCS and
  TOMA are within 0.02 of CAM.
* **Where CAM and nDCG_f prefer different runs on a query**, CAM prefers the one with more forbidden
  pages in 13 of 17 pairs on TREC and in 2 of 3 on CLEF; nDCG_f does so in none.
"""

if __name__ == "__main__":
    main()

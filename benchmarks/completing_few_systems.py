"""Few systems: when do completed labels order them better than condensed lists, and when worse?

Sets of 10 and 20 systems, evenly spread over the quality of all, are drawn from collections that
are judged already, each with a pool of its own. A share of each topic's pool keeps its labels, and
the others are completed by `complete_qrels`, from texts, features or ranks alone. Kept beside the
tau of each way is all that `complete_qrels` could have known. Needs bm25s and PyStemmer.

    python benchmarks/completing_few_systems.py

Rows are kept in results/completing_few_systems.csv; `--only cranfield-20` makes one part anew.
"""

import warnings
from functools import partial

import _cranfield_systems as systems_of
import numpy as np
import pandas as pd
from _common import RESULTS, arguments, write_report
from when_to_impute import RANKS, letor, rank_features

from skfilterrank.exceptions import SkfilterrankWarning
from skfilterrank.io import read_qrels, read_runs
from skfilterrank.judgments import complete_qrels, rank_table
from skfilterrank.metaevaluation import judging_curve
from skfilterrank.metrics import evaluate_runs

SHARES = (0.05, 0.1, 0.2)
MEASURES = ("ap", "ndcg", "ap@10", "ndcg@10", "precision@10")


def cranfield(folder, depth):
    """74 systems over abstracts, and the relevant pairs."""
    systems_of.DEPTH = depth
    documents, queries, relevant = systems_of.read_collection(folder)
    runs = systems_of.runs_of(systems_of.systems(documents, queries), queries, documents)
    pairs = pd.DataFrame(sorted(relevant), columns=["qid", "docno"]).assign(label=1.0)
    return runs, pairs, documents.set_index("docno")["text"], depth


def deep_learning(folder):
    """37 runs of passages, with texts."""
    texts = pd.read_json(folder / "docs.jsonl.gz", lines=True, dtype=False).set_index("docno")
    qrels = read_qrels(folder / "qrels.txt.gz")
    return read_runs(sorted(folder.glob("runs/*.gz"))), qrels, texts["text"], None


def ranks_alone(folder):
    """Submitted runs, without texts."""
    runs = read_runs(sorted(folder.glob("runs/*.gz")))
    return runs, read_qrels(folder / "qrels.txt.gz"), None, None


def features_as_systems(folder):
    """Each feature as a system, and the documents by their features."""
    runs, qrels, documents, _ = letor(folder)
    documents = documents.droplevel("qid")  # ids are numbers of rows: no two topics share one
    documents.index.name = "docno"
    return runs, qrels, documents, None


# Folder, reader, sizes of the sets of systems, and how many of each.
COLLECTIONS = {
    "cranfield-20": ("cranfield", partial(cranfield, depth=20), (20,), 2),
    "cranfield-100": ("cranfield", partial(cranfield, depth=100), (20,), 1),
    "trec-dl2019-llm": ("trec-dl2019-llm", deep_learning, (10, 20), 2),
    "ohsumed-letor": ("ohsumed-letor", features_as_systems, (20,), 2),
    "trec-covid-round1": ("trec-covid-round1", ranks_alone, (20,), 1),
    "trec-robust2003": ("trec-robust2003", ranks_alone, (10,), 1),
}


def spread_sets(quality, size, n_draws, rng):
    """Sets of systems, one drawn from each slice of the order by quality."""
    names = quality.sort_values().index.to_numpy()
    for _ in range(n_draws):
        yield [str(rng.choice(part)) for part in np.array_split(names, size)]


def pool_of(runs, qrels, depth):
    """Judgments of the pool of these runs; where a depth is given, others count as not relevant."""
    pool = rank_table(runs, depth=100 if depth is None else depth).index.to_frame(index=False)
    pool = pool.astype(str).merge(
        qrels.astype({"qid": str, "docno": str})[["qid", "docno", "label"]],
        how="inner" if depth is None else "left",
    )
    return pool.assign(label=pool["label"].fillna(0.0))


class Completing:
    """A mitigation that keeps what `complete_qrels` says of its labels."""

    def __init__(self, runs, truth, documents):
        self.runs, self.documents = runs, documents
        self.truth = truth.set_index(["qid", "docno"])["label"]
        self.facts = []
        if documents is None:
            ranks = rank_features(rank_table(runs, depth=100))
            self.by_row = ranks[RANKS]

    def __call__(self, table):
        own = table[["qid", "docno", "label"]]
        pairs = pd.MultiIndex.from_frame(own[["qid", "docno"]])
        if self.documents is None:
            # Ranks are of a topic and a document, which gets a name for each topic.
            rows = self.by_row.reindex(pairs).fillna(0.0)
            own = own.assign(docno=own["qid"] + "|" + own["docno"])
            rows.index = pd.Index(own["docno"], name="docno")
            completed = complete_qrels(
                qrels=own,
                runs=None,
                documents=rows,
                unjudged_label=None,
                random_state=0,
            )
        else:
            completed = complete_qrels(
                qrels=own,
                runs=self.runs,
                documents=self.documents,
                unjudged_label=None,
                random_state=0,
            )
        found = completed.qrels.set_index(["qid", "docno"])
        found = found.reindex(pd.MultiIndex.from_frame(own[["qid", "docno"]]))
        labels = found["label"].to_numpy()
        truth = self.truth.reindex(pairs).to_numpy() > 0
        is_predicted = (found["judged_by"] == "predicted").to_numpy()
        said = is_predicted & (labels > 0)
        hidden = table["label"].isna().to_numpy()
        judged = table[~hidden]
        by_topic = (judged["label"] > 0).groupby(judged["qid"]).agg(["sum", "size"])
        quality = completed.quality
        positive = quality.index > 0
        self.facts.append(
            {
                "expected_precision": completed.expected_precision,
                "is_doubtful": completed.is_doubtful,
                "n_said": said.sum(),
                "precision": truth[said].mean() if said.any() else np.nan,
                "recall": truth[said].sum() / max(truth[hidden].sum(), 1),
                "held_out_precision": np.average(
                    quality["agreement"][positive].fillna(0),
                    weights=quality["n_held_out"][positive] + 1e-9,
                ),
                "judged_a_topic": by_topic["size"].mean(),
                "relevant_a_topic": by_topic["sum"].mean(),
                "topics_of_both": (
                    (by_topic["sum"] > 0) & (by_topic["sum"] < by_topic["size"])
                ).mean(),
                "judged_relevant": (judged["label"] > 0).mean(),
                "hidden_relevant": truth[hidden].mean(),
                "predicted_relevant": said.sum() / max(is_predicted.sum(), 1),
                "share_predicted": is_predicted.sum() / hidden.sum(),
            }
        )
        return labels


def rows_of(name, collection, sizes, n_draws):
    """A row for each set of systems, selection, share and measure."""
    runs, qrels, documents, depth = collection
    rng = np.random.default_rng(0)
    quality = evaluate_runs(qrels=qrels, runs=runs, measures=["ap"], unjudged_label=None).per_query
    quality = quality["ap"].groupby(level="run").mean()
    for size in sizes:
        for draw, chosen in enumerate(spread_sets(quality, min(size, len(runs)), n_draws, rng)):
            own = {each: runs[each] for each in chosen}
            truth = pool_of(own, qrels, depth)
            kept = pd.MultiIndex.from_frame(truth[["qid", "docno"]])
            own = {
                each: run[pd.MultiIndex.from_frame(run[["qid", "docno"]].astype(str)).isin(kept)]
                for each, run in own.items()
            }
            for selection in ("pooling", "random"):
                for share in SHARES:
                    yield from _taus(name, own, truth, documents, selection, share, draw)
        print(name, size, flush=True)


def _taus(name, own, truth, documents, selection, share, draw):
    completing = Completing(own, truth, documents)
    labels = {}

    def once(table):
        key = tuple(table["label"].isna())
        if key not in labels:
            labels[key] = completing(table)
        return labels[key]

    for measure in MEASURES:
        curve = judging_curve(
            runs=own,
            qrels=truth,
            measure=measure,
            selections=[selection],
            mitigations={"none": "none", "condensed": "condensed", "completed": once},
            shares=[share],
            missing="empty",
            n_samples=1,
            random_state=draw,
            unjudged_label=None,
        )
        row = {
            "collection": name,
            "n_systems": len(own),
            "draw": draw,
            "judged": selection,
            "share": share,
            "measure": measure,
        }
        for at, each in enumerate(curve.mitigations):
            row |= {f"tau_{each}": curve.tau[0, at, 0, 0], f"rmse_{each}": curve.rmse[0, at, 0, 0]}
        yield row | completing.facts[0]


def table_of(rows):
    """Mean tau and RMSE of each way, and in how many sets completing is worse than condensing."""
    lines = [
        "| collection | judged | share | measure | tau: as 0 | condensed | completed | completed "
        "is worse | RMSE: as 0 | condensed | completed | expected precision | precision |",
        "| --- | --- | ---: | --- |" + " ---: |" * 9,
    ]
    for key, part in rows.groupby(["collection", "judged", "share", "measure"], sort=False):
        mean = part.mean(numeric_only=True)
        worse = (part["tau_completed"] < part["tau_condensed"]).sum()
        cells = [f"{mean[f'tau_{way}']:.3f}" for way in ("none", "condensed", "completed")]
        cells.append(f"{worse} of {len(part)}")
        cells += [f"{mean[f'rmse_{way}']:.3f}" for way in ("none", "condensed", "completed")]
        cells += [f"{mean['expected_precision']:.2f}", f"{mean['precision']:.2f}"]
        name, judged, share, measure = key
        lines.append(f"| {name} | {judged} | {share:.0%} | {measure} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def summary_of(rows):
    """How often completing is better or worse than condensing, and mean values of both."""
    lines = [
        "| judged | measure | order: completed better | worse | tau: completed | condensed | "
        "values: completed nearer | further off | RMSE: completed | condensed |",
        "| --- | --- |" + " ---: |" * 8,
    ]
    for key, part in rows.groupby(["judged", "measure"], sort=False):
        cells = list(key)
        for what, sign in (("tau", 1), ("rmse", -1)):
            gain = sign * (part[f"{what}_completed"] - part[f"{what}_condensed"])
            cells += [f"{(gain > 0).sum()}", f"{(gain < 0).sum()}"]
            cells += [f"{part[f'{what}_{way}'].mean():.3f}" for way in ("completed", "condensed")]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    """All parts, or one, and the report."""
    options = arguments(__doc__.splitlines()[0], only="")
    warnings.simplefilter("ignore", SkfilterrankWarning)
    path = RESULTS / "completing_few_systems.csv"
    parts = [pd.read_csv(path)] if options.only else []
    names = options.only.split(",") if options.only else list(COLLECTIONS)
    for name in names:
        folder, read, sizes, n_draws = COLLECTIONS[name]
        rows = pd.DataFrame(rows_of(name, read(options.data / folder), sizes, n_draws))
        parts = [part[part["collection"] != name] for part in parts] + [rows]
        print(table_of(rows), flush=True)
    rows = pd.concat(parts, ignore_index=True)
    rows.to_csv(path, index=False, float_format="%.4f")
    text = f"{FINDINGS}\n## By selection and measure\n\n{summary_of(rows)}\n"
    text += f"\n## All settings\n\n{table_of(rows)}\n"
    write_report("completing_few_systems", "Completed labels and few systems", text)


FINDINGS = """
Kendall's tau and RMSE against all labels, of lists with unjudged documents as 0, without them
(condensed), and with completed labels; means over the sets of systems. cranfield-20 and -100 are
pools of that depth. Labels are completed from texts (cranfield, trec-dl2019-llm), from features
that are the systems themselves (ohsumed-letor), or from ranks alone. Counts below are of 33 sets
and shares each; the sets are few and overlap, so small differences say nothing.

* **How documents were chosen and what is measured decide; the share judged does not.** After
  pooling completed labels give nearer values of AP and nDCG@10 in all 33, and a better order by
  nDCG@10 in 23, by AP in as many as not.
* **After random judging condensed lists are the better choice for AP and for nDCG without a
  cut-off**, in order and in values: by AP 0.822 against 0.733, RMSE 0.065 against 0.146. Only where
  features of documents are the systems (OHSUMED) completed labels order them better by AP, in 5 of
  6. The order by nDCG@10 is about even; by precision@10, where condensing moves other documents to
  the top, completing is better.
* **`expected_precision` says something of nDCG@10 and nothing of AP.** By nDCG@10 after pooling,
  completing is better in 19 and worse in 1 where it is 0.5 or more, and better in 4 and worse in 6
  below. By AP after random judging it is worse in 13 and better in 2 where it is 0.5 or more.
* **From texts by AP** completing orders systems worse in 30 of 42, in 17 of 21 after random
  judging.
"""


if __name__ == "__main__":
    main()

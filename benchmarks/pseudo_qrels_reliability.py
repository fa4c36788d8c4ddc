"""What judgments without judges are worth beyond tau: Table 5 and figures 1 to 3 of Sakai and Lin.

How often a pair of systems that differs significantly by pseudo-qrels does so by real judgments,
on all runs of TREC-COVID round 1 and 17 of the TREC 2003 Robust track; predicted against true
values of every run; and a fixed number of relevant documents in place of a share of the pool.
Writes results/pseudo_qrels_reliability.md and .png.
"""

import time

import matplotlib as mpl
import pandas as pd
from _common import RESULTS, arguments, write_report
from systems_without_judgments import MEASURES, SEED, by_topic, cell, only_topics, read_runs

from skfilterrank.comparison import SystemScores, conflicts
from skfilterrank.io import QrelsIndex, read_qrels
from skfilterrank.judgments import pseudo_qrels, rank_systems
from skfilterrank.trec import evaluate_runs

mpl.use("Agg")
import matplotlib.pyplot as plt

N_RESAMPLES, ALPHA, N_RELEVANT = 1000, 0.05, (10, 30, 100)
# Table 5, column ROBUST03: pairs of 16 teams.
PRINTED = {"ap": "69/90 = 77%", "q_measure": "69/89 = 78%", "ndcg_0": "48/71 = 68%"}
METHODS = ("nruns", "soboroff", "aslam", "spoerri")


class Collection:
    """Runs, the truth about them, and one run of each team."""

    def __init__(self, title, runs, qrels, gains, teams):
        self.title, self.runs, self.teams = title, runs, teams
        self.truth = evaluate_runs(QrelsIndex(qrels), runs, list(MEASURES), gains=gains)

    def values(self, measure, names=None):
        """True values, a row for each run and a column for each topic."""
        return by_topic(self.truth[measure]).loc[names or slice(None)]

    def team_runs(self):
        """One run of each team."""
        return {name: self.runs[name] for name in self.teams}


def reliability(collection):
    """Lines of the table: significant pairs of teams by pseudo-qrels, and how many by the truth."""
    chosen = collection.team_runs()
    lines = []
    sources = {"all runs": collection.runs, "one run of each team": chosen}
    if len(chosen) == len(collection.runs):
        del sources["one run of each team"]
    for source, runs in sources.items():
        predicted = evaluate_runs(QrelsIndex(pseudo_qrels(runs)), chosen, list(MEASURES))
        for measure, name in MEASURES.items():
            truth = collection.values(measure, list(chosen))
            found = conflicts(
                SystemScores(by_topic(predicted[measure]).reindex(columns=truth.columns)),
                SystemScores(truth),
                test="bootstrap",
                n_resamples=N_RESAMPLES,
                alpha=ALPHA,
                random_state=SEED,
            )
            counts = found.counts
            both = counts["agree"] + counts["opposite"]
            of_pseudo = both + counts["only first"]
            of_truth = both + counts["only second"]
            lines.append(
                f"| {collection.title} | {source} | {name} | {found.n_pairs:,} | {both:,} of "
                f"{of_pseudo:,} = {both / of_pseudo:.0%} | {counts['opposite']} | "
                f"{both:,} of {of_truth:,} = {both / of_truth:.0%} |"
            )
    return lines


def predicted_values(runs, method):
    """The number by which a method sorts runs, with Q where it measures."""
    measure = None if method in ("aslam", "spoerri") else "q_measure"
    return rank_systems(runs, method, measure=measure, random_state=SEED).iloc[:, 0]


def draw(collections, path):
    """Figures 1 to 3, a column for each collection."""
    figure, axes = plt.subplots(3, len(collections), figsize=(6.5 * len(collections), 11))
    for collection, (runs_ax, scatter, teams_ax) in zip(collections, axes.T):
        for ax, runs, methods in (
            (runs_ax, collection.runs, METHODS[:3]),
            (teams_ax, collection.team_runs(), METHODS),
        ):
            truth = collection.values("q_measure", list(runs)).mean(axis=1)
            order = truth.sort_values(ascending=False, kind="stable").index
            for method in methods:
                values = predicted_values(runs, method)[order]
                # Sort keys have units of their own: each from 0 to 1.
                values = (values - values.min()) / (values.max() - values.min())
                ax.plot(range(1, len(order) + 1), values, label=method, lw=1, marker=".", ms=3)
                if method == "nruns" and ax is runs_ax:
                    predicted = predicted_values(runs, method)
                    scatter.scatter(truth, predicted[truth.index], s=8)
            kind = "runs" if ax is runs_ax else "teams"
            ax.set(title=f"{collection.title}: {kind}", xlabel=f"{kind}, the truly best first")
            ax.set(ylabel="sort key, from 0 to 1")
            ax.legend(fontsize=8)
        scatter.set(title=f"{collection.title}: nruns", xlabel="true mean Q", ylabel="predicted")
    figure.tight_layout()
    figure.savefig(path, dpi=80)


def steps_up(collection, method, runs):
    """Share of neighbours, by true Q, that a method puts the other way round."""
    truth = collection.values("q_measure", list(runs)).mean(axis=1)
    order = truth.sort_values(ascending=False, kind="stable").index
    values = predicted_values(runs, method)[order].to_numpy()
    return (values[1:] > values[:-1]).mean()


def sizes(collection):
    """Tau and tau_ap with AP for shares of the pool and for fixed numbers of documents."""
    truth = collection.values("ap").mean(axis=1)
    lines = []
    for method in ("nruns", "sakai"):
        cells = []
        for given in ({"share": 0.3}, *({"n_relevant": n} for n in N_RELEVANT)):
            predicted = rank_systems(collection.runs, method, **given)["ap"]
            cells.append(cell(truth, predicted.round(12)))
        lines.append(f"| {collection.title} | {method} | {' | '.join(cells)} |")
    return lines


def main():
    options = arguments(__doc__.splitlines()[0])
    begin = time.process_time()
    folder = options.data / "trec-covid-round1"
    runs = read_runs(folder)
    teams = pd.read_csv(folder / "leaderboard.csv").set_index("run")["team"].to_dict()
    covid = Collection(
        "TREC-COVID",
        runs,
        read_qrels(folder / "qrels.txt.gz"),
        None,
        sorted(rank_systems(runs, "aslam", teams=teams).index),
    )
    folder = options.data / "trec-robust2003"
    new = [str(topic) for topic in range(601, 651)]
    runs = {name: only_topics(run, new) for name, run in read_runs(folder).items()}
    qrels = only_topics(read_qrels(folder / "qrels.txt.gz"), new)
    robust = Collection("Robust, new topics", runs, qrels, {0: 0, 1: 1, 2: 3}, sorted(runs))
    collections = (covid, robust)
    lines = "\n".join
    table_5 = [line for each in collections for line in reliability(each)]
    draw(collections, RESULTS / "pseudo_qrels_reliability.png")
    steps = [
        f"| {each.title} | {kind} | "
        + " | ".join(
            f"{steps_up(each, method, chosen):.0%}"
            if kind == "teams" or method != "spoerri"
            else ""
            for method in METHODS
        )
        + " |"
        for each in collections
        for kind, chosen in (("runs", each.runs), ("teams", each.team_runs()))
    ]
    printed = "; ".join(f"{MEASURES[measure]} {cells}" for measure, cells in PRINTED.items())
    text = f"""
Pools are 30 deep; TREC-COVID round 1 has {len(covid.runs)} runs of {len(covid.teams)} teams and 30
topics; of Robust 2003 there are {len(robust.runs)} of 78 runs, each taken for a team, and the 50
new topics.

## Do significant differences hold (Table 5)

Pairs of one run of each team that differ significantly by the pseudo-qrels of nruns (two-sided
bootstrap test, {N_RESAMPLES:,} resamples, {ALPHA:g}, uncorrected), and of these the pairs that
differ by the real judgments too; "opposite" are those among them with the other system ahead. The
last column is the other way round: of the pairs that truly differ, those that are foreseen. The
pseudo-qrels are made of all runs, or of the teams' runs alone.

| collection | pseudo-qrels of | measure | pairs | hold | opposite | foreseen |
| --- | --- | --- | --- | --- | --- | --- |
{lines(table_5)}

Printed for Robust 2003, of 16 teams: {printed}.

## Predicted and true values (figures 1 to 3)

![figures 1 to 3](pseudo_qrels_reliability.png)

Top and bottom: runs, and one run of each team, sorted by their true mean Q; a good method falls
from left to right. Middle: mean Q by pseudo-qrels against the true one. Of neighbours by true Q the
share that a method puts the other way round, where half is chance:

| collection | | {" | ".join(METHODS)} |
| --- | --- |{" --- |" * len(METHODS)}
{lines(steps)}

## A number of documents in place of a share

Tau/tau_ap with AP, over all runs. Sakai's method had 100 documents before the paper took 30 % of
the pool, with which it found "very similar" results.

| collection | method | 30 % | {" | ".join(f"{n} documents" for n in N_RELEVANT)} |
| --- | --- | --- |{" --- |" * len(N_RELEVANT)}
{lines(line for each in collections for line in sizes(each))}

{time.process_time() - begin:.0f} seconds of processor time.
"""
    write_report("pseudo_qrels_reliability", "Judgments without judges: do differences hold", text)


if __name__ == "__main__":
    main()

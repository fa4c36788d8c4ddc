"""Systems ranked without judgments, against the ranking by real judgments, and what that is worth.

    python benchmarks/systems_without_judgments.py [orders] [reliability] [machines]

All runs of TREC-COVID round 1 and 17 runs of the TREC 2003 Robust track. `orders`: tau and tau_ap
of every method, for runs and for one run of each team; intervals over topics; and the time it
takes. `reliability` is Table 5 and figures 1 to 3 of Sakai and Lin: how often a pair of systems
that differs significantly by pseudo-qrels does so by real judgments; predicted against true values
of every run; and a fixed number of relevant documents in place of a share of the pool. It writes
results/pseudo_qrels_reliability.md and .png. `machines` sets the labels of seven language models
beside these methods, on TREC 2019 Deep Learning, in results/systems_by_machine_labels.md.
"""

import time

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from _common import RESULTS, run_parts, write_report
from scipy.stats import kendalltau

from skfilterrank import comparison
from skfilterrank.comparison import SystemScores
from skfilterrank.io import QrelsIndex, read_qrels, read_run
from skfilterrank.judgments import pseudo_qrels, rank_systems, rank_table
from skfilterrank.judgments._pseudo_qrels import FORECASTS, condorcet_counts, most_biased
from skfilterrank.metaevaluation import conflicts
from skfilterrank.metrics import evaluate_runs

MEASURES = {"ap": "AP", "ndcg_0": "nDCG", "q_measure": "Q"}
OF_OVERLAP = ("aslam", "spoerri", "spoerri_all")
SEED = 0
N_RESAMPLES = 1000
# Sakai and Lin, Tables 3 and 4, column ROBUST03: tau and tau_ap with AP and nDCG.
PRINTED_RUNS = {
    "aslam": (".559/.377", ".504/.356"),
    "soboroff": (".547/.396", ".537/.383"),
    "nruns": (".564/.398", ".577/.436"),
    "sakai": (".561/.402", ".572/.432"),
    "condorcet": (".561/.403", ".576/.435"),
    "bias+condorcet": (".458/.325", ".538/.409"),
}


def tau_ap(truth, predicted):
    """AP correlation of Series of scores by system; ties in the prediction are broken by name."""
    order = predicted.sort_index().sort_values(ascending=False, kind="stable").index
    return comparison.tau_ap(truth, list(order))


def tau(truth, predicted):
    """Kendall's tau-b."""
    return kendalltau(truth[predicted.index], predicted).statistic


def topic_values(runs, method):
    """Predicted value of each run, topic and measure, index levels run and qid."""
    if method in OF_OVERLAP:
        table = rank_table(runs, depth=30)
        topics = table.index.unique("qid")
        found = {}
        for qid in topics:
            # In its own topic alone, a run that returns nothing would have nothing in common.
            rows = table.loc[[qid]].dropna(axis=1, how="all")
            values = rank_systems(rows, method, random_state=SEED)[method]
            found[qid] = values.reindex(table.columns, fill_value=0)
        values = pd.DataFrame(found).rename_axis("run").rename_axis(columns="qid")
        values = values.reset_index().melt("run").set_index(["run", "qid"])["value"]
        return pd.DataFrame(dict.fromkeys(MEASURES, values))
    qrels = pseudo_qrels(runs, method, random_state=SEED)
    trials = [qrels]
    if method == "soboroff":
        trials = [rows.drop(columns="trial") for _, rows in qrels.groupby("trial")]
    values = [evaluate_runs(QrelsIndex(rows), runs, list(MEASURES)).per_query for rows in trials]
    mean = sum(values) / len(values)
    # Two ways to the same means.
    ours = rank_systems(runs, method, measure=list(MEASURES), random_state=SEED)
    theirs = mean.groupby("run").mean()
    assert np.allclose(ours.loc[theirs.index], theirs, atol=1e-12)
    return mean


def by_topic(values):
    """A row for each run, a column for each topic."""
    return values.reset_index().pivot_table(index="run", columns="qid", values=values.name)


class Experiment:
    """Runs of a collection, the truth about them and what each method predicts."""

    def __init__(self, runs, qrels, gains):
        self.runs = runs
        self.truth = evaluate_runs(QrelsIndex(qrels), runs, list(MEASURES), gains=gains).per_query
        self.predicted = {}

    def predict(self, methods, prefix="", names=None):
        """Predict with these runs alone."""
        chosen = self.runs if names is None else {name: self.runs[name] for name in names}
        for method in methods:
            self.predicted[prefix + method] = topic_values(chosen, method)

    def means(self, method, measure, names=None, topics=None):
        """True and predicted means over topics."""
        found = []
        for values in (self.truth, self.predicted[method]):
            matrix = by_topic(values[measure])
            if names is not None:
                matrix = matrix.loc[names]
            found.append(matrix)
        truth, predicted = found
        truth = truth.loc[predicted.index]
        if topics is not None:
            columns = [truth.columns[topic] for topic in topics]
            truth, predicted = truth[columns], predicted.reindex(columns=columns)
        return truth.mean(axis=1), predicted.mean(axis=1).round(12)


def cell(truth, predicted):
    return f"{tau(truth, predicted):.3f}/{tau_ap(truth, predicted):.3f}"


def correlations(experiments, methods, names):
    """Lines of a table: for each measure and method a cell for each collection."""
    lines = []
    for measure, title in MEASURES.items():
        for method in methods:
            cells = [
                cell(*each.means(method, measure, names[key])) if method in each.predicted else ""
                for key, each in experiments.items()
            ]
            lines.append(f"| {title} | {method} | {' | '.join(cells)} |")
    return lines


def differences(experiment, methods, baseline, names=None):
    """Tau minus that of the baseline, with 95 % intervals from resampled topics."""
    rng = np.random.default_rng(SEED)
    n_topics = experiment.truth.index.unique("qid").size
    samples = rng.integers(n_topics, size=(N_RESAMPLES, n_topics))
    lines = []
    matrices = {}
    for measure in MEASURES:
        for method in {baseline, *methods}:
            matrices[method, measure] = by_topic(experiment.predicted[method][measure])
        matrices[measure] = by_topic(experiment.truth[measure])
    for method in methods:
        cells = []
        for measure in MEASURES:
            truth = matrices[measure]
            both = [matrices[name, measure] for name in (method, baseline)]
            rows = list(names) if names is not None else list(truth.index)
            truth = truth.loc[rows].to_numpy()
            both = [each.loc[rows].to_numpy() for each in both]

            def difference(topics, truth=truth, both=both):
                mean = truth[:, topics].mean(axis=1)
                one, other = (
                    kendalltau(mean, each[:, topics].mean(axis=1).round(12)).statistic
                    for each in both
                )
                return one - other

            found = [difference(topics) for topics in samples]
            low, high = np.percentile(found, [2.5, 97.5])
            cells.append(f"{difference(np.arange(n_topics)):+.3f} ({low:+.3f}, {high:+.3f})")
        lines.append(f"| {method} | {' | '.join(cells)} |")
    return lines


def random_halves(experiment, n_halves=100):
    """Tau of condorcet with AP when it sees a random half of the runs, and of the biased half."""
    rng = np.random.default_rng(SEED)
    names = sorted(experiment.runs)
    truth = by_topic(experiment.truth["ap"]).mean(axis=1)
    found = []
    for _ in range(n_halves):
        half = rng.choice(names, size=(len(names) + 1) // 2, replace=False)
        qrels = pseudo_qrels({name: experiment.runs[name] for name in half}, "condorcet")
        values = evaluate_runs(QrelsIndex(qrels), experiment.runs, "ap").per_query["ap"]
        found.append(tau(truth, by_topic(values).mean(axis=1)))
    return np.array(found), tau(*experiment.means("bias+condorcet", "ap"))


def extremes(experiment, methods, measure, n_best=10):
    """How many of the truly best and worst runs are predicted to be, and where the best stands."""
    lines = []
    for method in methods:
        truth, predicted = experiment.means(method, measure)
        truth = list(truth.sort_values(ascending=False, kind="stable").index)
        order = list(predicted.sort_values(ascending=False, kind="stable").index)
        best = len(set(truth[:n_best]) & set(order[:n_best]))
        worst = len(set(truth[-n_best:]) & set(order[-n_best:]))
        lines.append(f"| {method} | {best} | {worst} | {order.index(truth[0]) + 1} |")
    return lines


def relevance_by_runs(runs, qrels):
    """Share of relevant documents among the judged ones, by the number of runs in depth 30."""
    counts = rank_table(runs, depth=30).notna().sum(axis=1).rename("runs")
    judged = qrels.set_index(["qid", "docno"])["label"].rename("label")
    both = pd.concat([counts, judged], axis=1, join="inner")
    share = counts.to_frame().assign(
        group=pd.cut(counts / len(runs), [0, 0.02, 0.05, 0.1, 0.2, 0.4, 1])
    )
    both["group"] = share["group"]
    rows = both.groupby("group", observed=True)["label"].agg(
        ["size", lambda labels: 100 * (labels > 0).mean()]
    )
    pooled = share["group"].value_counts()
    return [
        f"| {100 * group.left:g} to {100 * group.right:g} % | {pooled[group]:,} | {size:,} | "
        f"{percent:.0f} % |"
        for group, size, percent in rows.itertuples(name=None)
    ]


def all_pairs(table):
    """Total wins and losses by comparing every pair of documents in every run."""
    wins, losses = [], []
    for _, topic in table.groupby(level="qid"):
        ranks = topic.fillna(np.inf).to_numpy()
        won, lost = np.zeros(len(ranks), dtype=np.int64), np.zeros(len(ranks), dtype=np.int64)
        for run in ranks.T:
            above = run[:, None] < run
            won += above.sum(axis=1)
            lost += above.sum(axis=0)
        wins.append(won)
        losses.append(lost)
    return np.concatenate(wins), np.concatenate(losses)


def seconds(runs):
    """Seconds of each method, and of Condorcet's counts with and without pairs."""
    found = {}
    for method in FORECASTS:
        begin = time.perf_counter()
        rank_systems(runs, method, random_state=SEED)
        found[method] = time.perf_counter() - begin
    table = rank_table(runs, depth=30)
    begin = time.perf_counter()
    counted = condorcet_counts(table)
    middle = time.perf_counter()
    compared = all_pairs(table)
    end = time.perf_counter()
    assert all((ours == theirs).all() for ours, theirs in zip(counted, compared, strict=True))
    return found, middle - begin, end - middle, len(table)


def read_runs(folder):
    return {
        path.name.removesuffix(".txt.gz"): read_run(path)
        for path in sorted((folder / "runs").iterdir())
    }


def only_topics(frame, topics):
    return frame[frame["qid"].isin(topics)].reset_index(drop=True)


def report_orders(options):
    """Report on the orders of systems."""
    covid_folder = options.data / "trec-covid-round1"
    robust_folder = options.data / "trec-robust2003"
    covid_runs, covid_qrels = read_runs(covid_folder), read_qrels(covid_folder / "qrels.txt.gz")
    covid = Experiment(covid_runs, covid_qrels, None)
    board = pd.read_csv(covid_folder / "leaderboard.csv").set_index("run")
    teams = board["team"].to_dict()
    robust_runs = read_runs(robust_folder)
    robust_qrels = read_qrels(robust_folder / "qrels.txt.gz")
    new = [str(topic) for topic in range(601, 651)]
    new_runs = {name: only_topics(run, new) for name, run in robust_runs.items()}
    # Highly relevant and relevant are L3 and L1 in the paper.
    gains = {0: 0, 1: 1, 2: 3}
    robust = Experiment(new_runs, only_topics(robust_qrels, new), gains)
    whole = Experiment(robust_runs, robust_qrels, gains)

    run_methods = [method for method in FORECASTS if not method.startswith("spoerri")]
    covid.predict(run_methods)
    for each in (robust, whole):
        each.predict(FORECASTS)
    team_runs = list(rank_systems(covid_runs, "aslam", teams=teams).sort_index().index)
    covid.predict(FORECASTS, "TEAM+", team_runs)

    everything = {"covid": covid, "new": robust, "whole": whole}
    everyone = dict.fromkeys(everything)
    table3 = correlations(everything, FORECASTS, everyone)
    team_methods = [*run_methods, *(f"TEAM+{method}" for method in FORECASTS)]
    table4 = correlations({"covid": covid}, team_methods, {"covid": team_runs})
    others = [method for method in run_methods if method != "nruns"]
    differ_covid = differences(covid, others, "nruns")
    differ_robust = differences(robust, [*others, "spoerri"], "nruns")
    team_others = [f"TEAM+{method}" for method in FORECASTS if method != "nruns"]
    differ_teams = differences(covid, team_others, "TEAM+nruns", team_runs)
    ends = extremes(covid, run_methods, "ap")
    by_runs = relevance_by_runs(covid_runs, covid_qrels)
    times, counted, compared, n_pooled = seconds(covid_runs)
    printed = [
        f"| {method} | {' | '.join(cells)} | {cell(*robust.means(method, 'ap'))} | "
        f"{cell(*robust.means(method, 'ndcg_0'))} |"
        for method, cells in PRINTED_RUNS.items()
    ]
    # Where the majority goes wrong: kinds of runs.
    truth, predicted = covid.means("nruns", "ap")
    shift = (truth.rank(ascending=False) - predicted.rank(ascending=False)).rename("shift")
    kinds = pd.concat([shift, board["runtype"]], axis=1, join="inner").groupby("runtype")["shift"]
    kind_lines = [
        f"| {kind} | {size} | {mean:+.1f} |"
        for kind, size, mean in kinds.agg(["size", "mean"]).itertuples(name=None)
    ]
    halves, biased = random_halves(robust)
    low, middle, high = np.percentile(halves, [2.5, 50, 97.5])
    biased_half, apart = (
        sorted(most_biased(rank_table(new_runs, depth=30))),
        robust.means("nruns", "ap")[0].sort_values(ascending=False).index,
    )
    head = "| " + " | ".join(MEASURES.values()) + " |"
    lines = "\n".join
    n_lines = sum(map(len, covid_runs.values()))
    spent = ", ".join(f"{name} {value:.1f}" for name, value in times.items())
    text = f"""
Each cell is tau/tau_ap between the order of systems that a method predicts and their order by real
judgments, measured by the same measure; tau is Kendall's tau-b, tau_ap walks down the predicted
list and so weighs its head. Pools are 30 deep, 0.3 of a pool is relevant (soboroff draws 0.1, the
mean of 10 trials), runs are measured to their last document.

- TREC-COVID round 1: {len(covid_runs)} runs of {len(set(teams.values()))} teams, 30 topics,
  gains 2 and 1. Unjudged documents count as not relevant, and what was judged is what contributing
  runs had in front: the truth itself leans towards what many runs return.
- Robust 2003: {len(robust_runs)} of the 78 runs; on the 50 new topics, as in the paper, with gains
  3 (highly relevant) and 1, and on all 100. The runs' names look like 17 teams, but the track had
  16: which two are of one team is not in the data, so all count as a team of their own.

## What came out

- **Does counting runs do as well as any method?** On TREC-COVID nearly: soboroff is ahead by 0.01
  to 0.03 of tau, beyond the noise of the topics but of no practical weight; sakai and condorcet are
  a hair behind, aslam is behind with nDCG. On the 17 Robust runs all of these are alike, and all
  of them poor.
- **sakai and condorcet are one method.** A document that a run ranks p-th of a pool of N wins N - p
  times there, so total wins are N times the number of runs minus the sum of ranks, which puts
  documents in sakai's order unless ranks outweigh N.
- **Is the biased half of the runs worse?** On TREC-COVID clearly, by 0.14 to 0.20 of tau, as in the
  paper. On the 17 Robust runs it is the other way round, by more than 0.4. The two best of these
  runs ({apart[0]} and {apart[1]}) are unlike the others, and the middle of the list is a cluster of
  runs that resemble each other; the biased half ({", ".join(biased_half)}) has the best two, and
  leaves out the cluster. A random half gives a tau of {middle:.2f} with AP (95 % of {len(halves)}
  halves: {low:.2f} to {high:.2f}), the biased half {biased:.2f}: it is not the smaller pool
  that helps. It shows what the methods rest on: what most runs return has to be right. It does not
  make bias a method to recommend, as nobody knows beforehand which of the two cases is at hand.
- **Teams:** spoerri is behind the others, though it does not fail as it does on some of the paper's
  collections. Whether the methods see all runs or one of each team hardly matters.
- **The head of the list is not to be trusted.** Five of the ten best runs of TREC-COVID are among
  the predicted ten, against eight of the ten worst, and tau_ap is below tau throughout. Manual
  runs come out too low, automatic ones too high.

## Runs (Table 3 of the paper)

| measure | method | TREC-COVID, {len(covid_runs)} runs | Robust, new topics | Robust, all topics |
| --- | --- | --- | --- | --- |
{lines(table3)}

Difference of tau from that of nruns, with 95 % intervals from {N_RESAMPLES:,} resamples of the
topics. TREC-COVID:

| method {head}
| --- | --- | --- | --- |
{lines(differ_covid)}

Robust, new topics:

| method {head}
| --- | --- | --- | --- |
{lines(differ_robust)}

## Teams (Table 4 of the paper)

One run of each of the {len(team_runs)} teams of TREC-COVID, its first by name. Methods without
TEAM+ predict from all runs, those with it from these runs alone.

| measure | method | TREC-COVID, {len(team_runs)} teams |
| --- | --- | --- |
{lines(table4)}

Difference of tau from that of TEAM+nruns:

| method {head}
| --- | --- | --- | --- |
{lines(differ_teams)}

## The printed figures

Column ROBUST03 of Table 3, which has all 78 runs, and ours of the same topics with 17 of them.

| method | AP, printed | nDCG, printed | AP, 17 runs | nDCG, 17 runs |
| --- | --- | --- | --- | --- |
{lines(printed)}

## The ends of the list

TREC-COVID by AP: of the ten truly best and worst runs, how many are among the ten that are
predicted to be; and the predicted place of the truly best.

| method | best ten | worst ten | place of the best |
| --- | --- | --- | --- |
{lines(ends)}

How many places nruns ranks a run too high (+) or too low (-), the mean over each kind of runs:

| kind | runs | places |
| --- | --- | --- |
{lines(kind_lines)}

## Documents of many runs are more often relevant

TREC-COVID: pooled documents by the share of the runs that return them, and of those that were
judged the relevant ones.

| runs | pooled | judged | relevant |
| --- | --- | --- | --- |
{lines(by_runs)}

## What it takes

Seconds for {len(covid_runs)} runs of TREC-COVID in memory, {n_pooled:,} pooled documents, AP to the
end of {n_lines:,} lines: {spent}.

Condorcet's wins and losses alone take {counted:.2f} s, against {compared:.0f} s for comparing all
pairs of documents of a topic in every run with numpy, with the same counts.
"""
    write_report("systems_without_judgments", "Systems without judgments", text)


mpl.use("Agg")
ALPHA, N_RELEVANT = 0.05, (10, 30, 100)
# Table 5, column ROBUST03: pairs of 16 teams.
PRINTED = {"ap": "69/90 = 77%", "q_measure": "69/89 = 78%", "ndcg_0": "48/71 = 68%"}
METHODS = ("nruns", "soboroff", "aslam", "spoerri")


class Collection:
    """Runs, the truth about them, and one run of each team."""

    def __init__(self, title, runs, qrels, gains, teams):
        self.title, self.runs, self.teams = title, runs, teams
        self.truth = evaluate_runs(QrelsIndex(qrels), runs, list(MEASURES), gains=gains).per_query

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
        predicted = evaluate_runs(QrelsIndex(pseudo_qrels(runs)), chosen, list(MEASURES)).per_query
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


def report_reliability(options):
    """Report on differences of systems."""
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


def report_machines(options):
    """Report on orders by a machine's labels, beside those without any."""
    begin = time.process_time()
    folder = options.data / "trec-dl2019-llm"
    runs, qrels = read_runs(folder), read_qrels(folder / "qrels.txt.gz")
    machines = {
        path.name.removesuffix(".txt.gz"): read_qrels(path)
        for path in sorted(folder.glob("llm-qrels/*.gz"))
    }
    forecast = {
        method: rank_systems(
            runs,
            method,
            measure=None if method in OF_OVERLAP else ["ap", "ndcg_0@10"],
            random_state=SEED,
        )
        for method in FORECASTS
    }
    truth = means_of(qrels, runs)
    forecast |= {name: means_of(labels, runs) for name, labels in machines.items()}
    lines = []
    for i, measure in enumerate(truth):
        lines += ["", f"## {measure}", "", "| method | tau/tau_ap | best ten |"]
        lines += ["| --- | --- | --- |"]
        for name, found in forecast.items():
            values = found.iloc[:, min(i, found.shape[1] - 1)]
            ours = cell(truth[measure], values), head(truth[measure], values)
            lines.append(f"| {name} | {ours[0]} | {ours[1]} |")
    tables = "\n".join(lines)
    text = f"""
{len(runs)} runs of TREC 2019 Deep Learning, {qrels["qid"].nunique()} queries. The truth is NIST's
labels of {len(qrels):,} passages; seven language models labelled the same passages. The other
methods have no labels: pools are 30 deep. Each cell is Kendall's tau-b and tau_ap with the true
order; "best ten" is how many of the ten best runs are among the predicted ten.
{tables}

{time.process_time() - begin:.0f} seconds of processor time.
"""
    write_report("systems_by_machine_labels", "Systems by a machine's labels", text)


def means_of(labels, runs):
    """Means of two measures for each run; of people and machines 2 and 3 are relevant."""
    found = evaluate_runs(QrelsIndex(labels), runs, ["ap(rel=2)", "ndcg_0@10"]).per_query
    return found.groupby(level="run").mean()


def head(truth, predicted, n_best=10):
    """How many of the truly best runs are predicted to be among the best."""
    best, found = (set(values.nlargest(n_best).index) for values in (truth, predicted))
    return len(best & found)


if __name__ == "__main__":
    run_parts(
        __doc__,
        {
            "orders": report_orders,
            "reliability": report_reliability,
            "machines": report_machines,
        },
    )

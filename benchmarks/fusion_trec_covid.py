"""Fusion of ten runs of TREC-COVID round 1, without labels."""

import numpy as np
import pandas as pd
from _common import arguments, best_time, write_report

from skfilterrank.comparison import compare_systems, score_systems
from skfilterrank.io import QrelsIndex, read_qrels, read_run
from skfilterrank.ranking import fuse_runs

MEASURES = ("ndcg_0@10", "ap")
DEPTH = 1000
FUSIONS = {
    "RRF": {"method": "rrf"},
    "Borda": {"method": "borda"},
    "CombSUM": {"method": "combsum"},
    "CombMNZ": {"method": "combmnz"},
}
CHOICES = (
    ("best", "The ten best runs of different teams by AP"),
    ("random", "Ten runs at random"),
)


def teams_best(scores, teams):
    """The best run of each of the ten best teams."""
    order = scores.sort_values(ascending=False).index
    return list(order.to_series().groupby(teams.reindex(order).to_numpy(), sort=False).first())[:10]


def table(fused, runs, qrels, index):
    """Lines of one table: means and differences from the best of the ten runs, with intervals."""
    systems = runs | fused
    values = score_systems(index, systems, list(MEASURES))
    best = {name: values[name].means[list(runs)].idxmax() for name in MEASURES}
    lines = [
        "| list | nDCG@10 | over the best run | AP | over the best run |",
        "| --- | --- | --- | --- | --- |",
    ]
    cells = {name: {} for name in systems}
    for measure in MEASURES:
        scores, means = values[measure], values[measure].means
        tested = compare_systems(
            scores, test="t", correction="holm", baseline=best[measure]
        ).to_frame()
        tested = tested.reset_index().set_index("first")
        for name in systems:
            cells[name][measure] = f"{means[name]:.4f}"
            if name in fused:
                row = tested.loc[name]
                cells[name][measure + " difference"] = (
                    f"{row['difference']:+.3f} ({row['low']:+.3f} to {row['high']:+.3f})"
                )
    shown = [*dict.fromkeys(best.values()), *fused]
    for name in shown:
        label = f"best run: {name}" if name in runs else name
        lines.append(
            f"| {label} | "
            + " | ".join(
                cells[name].get(key, "")
                for measure in MEASURES
                for key in (measure, measure + " difference")
            )
            + " |"
        )
    middle = {name: values[name].means[list(runs)].median() for name in MEASURES}
    lines.append(f"| median of the ten | {middle[MEASURES[0]]:.4f} | | {middle['ap']:.4f} | |")
    return "\n".join(lines)


def main():
    options = arguments(__doc__, seed=0)
    folder = options.data / "trec-covid-round1"
    qrels = read_qrels(folder / "qrels.txt.gz")
    index = QrelsIndex(qrels)
    everything = {
        path.name.removesuffix(".txt.gz"): read_run(path)
        for path in sorted((folder / "runs").iterdir())
    }
    ap = score_systems(index, everything, "ap")["ap"].means
    rng = np.random.default_rng(options.seed)
    chosen = {
        "best": teams_best(ap, read_teams(folder, ap.index)),
        "random": sorted(rng.choice(list(everything), size=10, replace=False)),
    }
    parts, seconds = [], {}
    for key, title in CHOICES:
        runs = {name: everything[name] for name in chosen[key]}
        fused = {}
        for name, how in FUSIONS.items():
            seconds[name], fused[name] = best_time(
                lambda how=how, runs=runs: fuse_runs(runs, **how)
            )
        # As long as the runs: whoever returns more finds more.
        fused = {name: run.groupby("qid").head(DEPTH) for name, run in fused.items()}
        parts.append(f"## {title}\n\n{', '.join(runs)}.\n\n{table(fused, runs, qrels, index)}")
    times = "\n".join(f"| {name} | {value:.2f} s |" for name, value in seconds.items())
    n_lines = sum(len(everything[name]) for name in chosen["random"])
    text = f"""
{len(index.queries)} topics, ten runs at a time; fused lists are cut to {DEPTH:,} documents, as runs
are. Differences are from the best of the ten runs, which
only the judgments show; intervals are of Student's t over topics, at 95 %, not corrected for the
number of fusions. Unjudged documents count as not relevant in the measures.

Judged are pools of what some runs put high, and unjudged counts as bad: that favours what several
runs put high, and with it fusion, in AP above all.

{parts[0]}

{parts[1]}

## Time

Ten runs, {n_lines:,} lines, one processor.

| fusion | time |
| --- | --- |
{times}
"""
    write_report("fusion_trec_covid", "Fusion of ten runs of TREC-COVID round 1", text)


def read_teams(folder, names):
    """Team of each run."""
    board = pd.read_csv(folder / "leaderboard.csv").set_index("run")
    column = next(name for name in ("team", "group", "organization") if name in board)
    return board[column].reindex(names)


if __name__ == "__main__":
    main()

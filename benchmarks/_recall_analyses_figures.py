"""Figures of recall_analyses."""

import matplotlib as mpl
import numpy as np
from _common import RESULTS

mpl.use("Agg")
import matplotlib.pyplot as plt

COLORS = {
    "lexirecall": "black",
    "R@1000": "tab:blue",
    "R-precision": "tab:cyan",
    "AP": "tab:red",
    "nDCG": "tab:orange",
    "nDCG@10": "tab:green",
    "RR": "tab:olive",
}
FULL = {
    "agreement": "agreement of lexirecall (fig. 9)",
    "tied": "comparisons tied (fig. 10)",
    "holm": "power, sign or t test, Holm (fig. 11a)",
    "hsd": "power, Tukey HSD (fig. 11b)",
}
LESS = {"fraction_tied": "comparisons tied", "agreement": "agreement with all labels"}


def figures(full, less):
    """Bars by depth with all labels, and curves as labels are removed."""
    datasets = list(dict.fromkeys(data for data, _ in full))
    depths = list(dict.fromkeys(depth for _, depth in full))
    figure, axes = plt.subplots(len(datasets), len(FULL), figsize=(16, 6.5), sharey="col")
    width = 0.8 / len(COLORS)
    for row, data in zip(axes, datasets):
        for axis, (column, title) in zip(row, FULL.items()):
            for i, (name, color) in enumerate(COLORS.items()):
                values = [full[data, depth].loc[name, column] for depth in depths]
                if column == "agreement" and name == "lexirecall":
                    continue
                x = np.arange(len(depths)) + (i - len(COLORS) / 2 + 0.5) * width
                axis.bar(x, values, width, color=color, label=name)
            axis.set_xticks(range(len(depths)), depths)
            axis.set_title(title, fontsize=10)
            axis.grid(axis="y", alpha=0.3)
        row[0].set_ylabel(data)
        row[0].set_ylim(0.5, 1)
    for axis in axes[-1]:
        axis.set_xlabel("documents of each run and topic")
    _save(figure, axes[0, 1], "recall_analyses")

    rows = list(dict.fromkeys((data, depth) for data, depth, _ in less))
    samplings = list(dict.fromkeys(sampling for *_, sampling in less))
    columns = [(column, sampling) for column in LESS for sampling in samplings]
    figure, axes = plt.subplots(
        len(rows), len(columns), figsize=(15, 2.7 * len(rows) + 1), sharex=True, sharey="col"
    )
    for row, (data, depth) in zip(axes, rows):
        for axis, (column, sampling) in zip(row, columns):
            table = less[data, depth, sampling]
            for name, color in COLORS.items():
                curve = table.loc[name, column]
                is_ours = name == "lexirecall"
                axis.plot(
                    curve.index,
                    curve,
                    "-o" if is_ours else "-",
                    markersize=4,
                    # Ours stays in sight where others have the same values.
                    zorder=1 if is_ours else 2,
                    linewidth=3.5 if is_ours else 1.5,
                    color=color,
                    label=name,
                )
            axis.grid(alpha=0.3)
            if axis in axes[0]:
                axis.set_title(f"{LESS[column]}, {sampling}", fontsize=10)
        row[0].set_ylabel(f"{data}\ndepth {depth}")
    for axis in axes[-1]:
        axis.set_xlabel("share of relevant labels removed")
    _save(figure, axes[0, 0], "recall_degradation")


def _save(figure, axis, name):
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(handles, labels, loc="upper center", ncols=len(labels))
    figure.tight_layout(rect=(0, 0, 1, 0.95))
    RESULTS.mkdir(exist_ok=True)
    figure.savefig(RESULTS / f"{name}.png", dpi=80)
    plt.close(figure)

"""Figures of web_track.py measures."""

import matplotlib as mpl
import numpy as np
from _common import RESULTS
from _web_track_runs import MODELS, YEARS

mpl.use("Agg")
import matplotlib.pyplot as plt

MEASURES = ("nDCG", "nDCG, 0 if I<=0", "nDCG_min", "nDCG_f")
COLORS = dict(zip(MEASURES, ("tab:red", "tab:orange", "tab:blue", "tab:green")))
STYLES = dict(zip(MEASURES, ("-", "--", "-", "-")))


def figures(curves, tables):
    """Figures 1 to 3, the curves as means over draws."""
    for which, name, label in (
        (1, "stability", "error rate"),
        (2, "sensitivity", "share of pairs with ASL < alpha"),
    ):
        figure, axes = plt.subplots(
            len(MODELS), len(YEARS), figsize=(15, 8), sharex=True, sharey=True
        )
        for row, model in zip(axes, MODELS):
            for axis, year in zip(row, YEARS):
                cells = [each for key, each in curves.items() if key[:2] == (model, year)]
                for measure in MEASURES:
                    y = np.mean([cell[measure][which] for cell in cells], axis=0)
                    x = cells[0][measure][0] if which == 1 else np.arange(1, len(y) + 1) / 100
                    axis.plot(x, y, STYLES[measure], color=COLORS[measure], label=measure)
                axis.grid(alpha=0.3)
                axis.set_title(f"{year}, {model}", fontsize=10)
            row[0].set_ylabel(label)
        for axis in axes[-1]:
            axis.set_xlabel("topics" if which == 1 else "alpha")
        _save(figure, f"web_track_{name}")
    figure, axes = plt.subplots(2, len(MODELS), figsize=(13, 6.5), sharey=True, sharex=True)
    found = tables.groupby(["model", "year", "measure"]).mean()
    width = 0.2
    for row, kind in zip(axes, ("Phi", "E rho2")):
        for axis, model in zip(row, MODELS):
            for i, measure in enumerate(MEASURES):
                values = [found.loc[(model, year, measure), kind] for year in YEARS]
                x = np.arange(len(YEARS)) + (i - 1.5) * width
                axis.bar(x, values, width, color=COLORS[measure], label=measure)
            axis.set_xticks(range(len(YEARS)), YEARS)
            axis.set_title(f"{kind}, {model}", fontsize=10)
            axis.grid(axis="y", alpha=0.3)
    _save(figure, "web_track_reliability")


def _save(figure, name):
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="upper center", ncols=len(labels))
    figure.tight_layout(rect=(0, 0, 1, 0.96))
    RESULTS.mkdir(exist_ok=True)
    figure.savefig(RESULTS / f"{name}.png", dpi=80)
    plt.close(figure)

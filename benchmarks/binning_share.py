"""How much of a search over LightGBM rankers is the binning of its folds, on MQ2007."""

import numpy as np
from _common import arguments, best_time, write_report
from _letor_methods import load_parts
from lightgbm import Dataset, LGBMRanker, train

FORMS = ((7, 20), (7, 100), (31, 20), (31, 100))


def main():
    options = arguments(__doc__, repeats=2)
    parts = load_parts(options.data / "mq2007", n_features=46)
    X, y, groups = (np.concatenate(column) for column in zip(*parts[:4]))
    order = np.argsort(groups, kind="stable")
    X, y, sizes = X[order], y[order].astype(int), np.unique(groups, return_counts=True)[1]

    def binned(**params):
        params |= {"verbose": -1, "num_threads": 1}
        return Dataset(X, y, group=sizes, params=params, free_raw_data=False).construct()

    binning, data = best_time(binned, options.repeats)
    lines = []
    for leaves, trees in FORMS:
        model = LGBMRanker(n_estimators=trees, num_leaves=leaves, n_jobs=1, verbose=-1)
        params = {"objective": "lambdarank", "num_leaves": leaves, "verbose": -1}
        params["num_threads"] = 1
        whole, _ = best_time(lambda model=model: model.fit(X, y, group=sizes), options.repeats)
        alone, _ = best_time(
            lambda params=params, trees=trees: train(params, data, trees), options.repeats
        )
        share = 1 - alone / whole
        lines.append(f"| {leaves} | {trees} | {whole:.2f} s | {alone:.2f} s | {share:.0%} |")
    text = f"""
{len(y):,} rows of {len(sizes):,} queries, four fifths of MQ2007 as in a fold. CPU seconds of one
thread, best of {options.repeats}. Binning alone takes {binning:.2f} s.

| leaves | trees | `LGBMRanker.fit` | training on data that are binned | what that would save |
| --- | --- | --- | --- | --- |
{chr(10).join(lines)}

A search over n candidates could save (n - 1) / n of the last column. `LGBMRanker.fit` takes no
binned data, so that only a cache that knows a fold again by its arrays could hand them on; the
library has none.
"""
    write_report("binning_share", "The share of binning in searches over LightGBM rankers", text)


if __name__ == "__main__":
    main()

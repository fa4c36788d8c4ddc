"""Samples in two phases: is it better to plan the second half by the labels of the first?

Every third run of TREC 2019 Deep Learning. One phase draws all documents by the machine's labels.
Two phases draw some of them in the same way, and the rest with `judged`: the first labels are
certain, and the sizes of the others are learned from them.

    python benchmarks/two_phases.py --repetitions 20
"""

import numpy as np
import pandas as pd
from _common import arguments, write_report
from _intervals import studies_of_deep_learning

from skfilterrank.judgments import draw_sample, estimate

MEASURES = ("dcg@10", "ndcg@10")
SHARES = (0.1, 0.2)
OF_FIRST = (0.0, 0.25, 0.5)
JUDGES = ("llama3-70b_4prompts", "llama3-8b_query-similarity")


def drawn(study, measure, share, of_first, seed):
    """A sample with people's labels, of which some share is the first phase."""
    first, _ = study.sample((measure,), None, "differences", share * (of_first or 1), seed)
    if not of_first:
        return first
    whole, _ = study.sample((measure,), None, "differences", share, seed)
    sample = draw_sample(
        None,
        study.pool,
        measure,
        n_total=len(whole) - len(first),
        judged=first[["qid", "docno", "label"]],
        random_state=seed,
    )
    places = study.pool.index.get_indexer(pd.MultiIndex.from_frame(sample[["qid", "docno"]]))
    return sample.assign(label=study.labels[places])


def figures(study, measure, true, share, of_first, seeds):
    """Mean coverage, width and error over draws."""
    rows = []
    for seed in seeds:
        estimates = estimate(drawn(study, measure, share, of_first, seed), study.pool, measure)
        frame, pairs = estimates.to_frame(), estimates.compare()
        gap = true[pairs.first] - true[pairs.second]
        rows.append(
            {
                "labels": estimates.n_judged,
                "coverage": ((frame["low"] <= true) & (true <= frame["high"])).mean(),
                "of differences": ((pairs.low <= gap) & (gap <= pairs.high)).mean(),
                "half-width": (frame["high"] - frame["low"]).mean() / 2,
                "of differences ": (pairs.high - pairs.low).mean() / 2,
                "square": ((frame["value"] - true) ** 2).mean(),
                "square of differences": ((pairs.difference - gap) ** 2).mean(),
            }
        )
    means = pd.DataFrame(rows).mean()
    roots = {"rmse": "square", "rmse of differences": "square of differences"}
    return dict(means.drop(list(roots.values()))) | {
        name: np.sqrt(means[square]) for name, square in roots.items()
    }


def main():
    args = arguments(__doc__, repetitions=20)
    rows = []
    for judge, measure, study, true in studies_of_deep_learning(args.data, JUDGES, MEASURES):
        for share in SHARES:
            for first in OF_FIRST:
                key = {"judge": judge, "measure": measure, "share": share, "first": first}
                seeds = range(args.repetitions)
                rows.append(key | figures(study, measure, true, share, first, seeds))
                print(rows[-1], flush=True)
    text = (
        f'{len(study.pool.runs)} runs, {args.repetitions} draws, samples by `aim="differences"`, '
        "nominal 95 %. `share`: of the documents that people judged in all; `first`: share of "
        "these in the first phase, 0 for a single phase.\n\n```\n"
        + pd.DataFrame(rows).to_string(index=False, float_format="{:.3f}".format)
        + "\n```"
    )
    write_report("two_phases", "Samples in two phases", text)


if __name__ == "__main__":
    main()

"""Looks at estimates while people judge: how often any look is wrong, and when judging may stop.

Every third run of TREC 2019 Deep Learning. Each draw is looked at ten times, as its sample grows
from 5 to 50 % of the documents. Judging stops at the first look at which the best run is known:
at which its corrected differences to all others are significant.

    python benchmarks/looking_while_judging.py --repetitions 30
"""

from dataclasses import replace

import numpy as np
import pandas as pd
from _common import arguments, write_report
from _intervals import studies_of_deep_learning

from skfilterrank.judgments import estimate

MEASURES = ("dcg@10", "ndcg@10")
SHARES = np.linspace(0.05, 0.5, 10)
JUDGES = ("llama3-70b_4prompts", "llama3-8b_query-similarity")


def looks(study, measure, true, seed):
    """A row for each look of one draw, of plain intervals and of those for any time."""
    first = None
    for share in SHARES:
        sample, _ = study.sample((measure,), None, "differences", share, seed)
        first = len(sample) if first is None else first
        once = estimate(sample, study.pool, measure)
        for kind, anytime_from in (("decided beforehand", None), ("any time", first)):
            estimates = replace(once, anytime_from=anytime_from)
            frame, pairs = estimates.to_frame(), estimates.compare()
            best = int(np.argmax(estimates.results[measure].values))
            ours = (pairs.first == best) | (pairs.second == best)
            gap = true[pairs.first] - true[pairs.second]
            yield {
                "intervals": kind,
                "labels": len(sample),
                "of values": ((frame["low"] <= true) & (true <= frame["high"])).to_numpy(),
                "of differences": (pairs.low <= gap) & (gap <= pairs.high),
                "half-width": (pairs.high - pairs.low).mean() / 2,
                "is known": pairs.significant()[ours].all(),
                "is right": true[best] == true.max(),
            }


def row(table):
    """Figures over all draws of one kind of interval."""
    draws = [draw for _, draw in table.groupby("seed")]
    stops = [draw[draw["is known"]].head(1) for draw in draws]
    stops = pd.concat(stops)
    return {
        "values, one look": np.mean(list(table["of values"])),
        "values, all looks": np.mean([np.all(list(each["of values"]), axis=0) for each in draws]),
        "differences, one look": np.mean(list(table["of differences"])),
        "differences, all looks": np.mean(
            [np.all(list(each["of differences"]), axis=0) for each in draws]
        ),
        "half-width": table["half-width"].mean(),
        "stopped": len(stops) / len(draws),
        "wrong stops": (~stops["is right"]).sum() / len(draws),
        "labels at the stop": stops["labels"].mean(),
    }


def main():
    args = arguments(__doc__, repetitions=30)
    rows = []
    for judge, measure, study, true in studies_of_deep_learning(args.data, JUDGES, MEASURES):
        found = pd.DataFrame(
            {"seed": seed} | each
            for seed in range(args.repetitions)
            for each in looks(study, measure, true, seed)
        )
        for kind, table in found.groupby("intervals", sort=False):
            rows.append({"judge": judge, "measure": measure, "intervals": kind} | row(table))
            print(rows[-1], flush=True)
    text = (
        f"{len(study.pool.runs)} runs, {args.repetitions} draws, looked at with 5, 10, ..., 50 % "
        "of the documents judged. Nominal 95 %. `one look`: share of true values in their "
        "intervals, means over looks; `all looks`: share of runs (or pairs of runs) whose "
        "intervals hold the truth at all ten looks. `stopped`: share of the draws in which the "
        "best run was known at some look; `wrong stops`: share of all draws in which it was not "
        "the best run; `labels at the stop`: mean over the draws that stopped. `half-width`: of "
        "differences, mean over looks.\n\n```\n"
        + pd.DataFrame(rows).to_string(index=False, float_format="{:.3f}".format)
        + "\n```"
    )
    write_report("looking_while_judging", "Looks at estimates while people judge", text)


if __name__ == "__main__":
    main()

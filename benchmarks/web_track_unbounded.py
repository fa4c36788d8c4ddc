"""How often nDCG_min leaves [0, 1] on the web track's judgments, and nDCG_f does not.

The participants' runs are not public. The runs here are made from the judgments: each document
gets its gain plus noise as its score, and a run returns the share of the judged documents that it
scores highest, as if it had filtered the others.
"""

import numpy as np
import pandas as pd
from _common import arguments, write_report

from skfilterrank.io import read_qrels
from skfilterrank.metrics import ndcg_f_score, ndcg_min_score, unbounded_queries

YEARS = (2011, 2012, 2013, 2014)
PRINTED = {2011: (9.2, 7.2, 2.0), 2012: (11.0, 10.2, 0.8), 2013: (18.8, 3.7, 15.1)}
PRINTED[2014] = (25.3, 8.3, 17.0)
GAINS = {-2: -10, 0: 0, 1: 1, 2: 2, 3: 3, 4: 4}
# Noise in units of a grade; junk is as hard to tell from the rest as one grade from the next.
NOISE = (0.5, 1, 2, 4, 8)
RETURNED = (0.2, 0.4, 0.6, 0.8, 0.95)
CUTOFFS = (10, 50, 300, 500)


def made_runs(qrels, rng):
    """Yield (noise, share returned, scores) of runs."""
    grade = qrels["label"].replace(-2, -1).to_numpy(dtype=float)
    for noise in NOISE:
        for share in RETURNED:
            score = grade + rng.normal(scale=noise, size=len(grade))
            rank = pd.Series(score).groupby(qrels["qid"].to_numpy()).rank(pct=True)
            yield noise, share, np.where(rank > 1 - share, score, -np.inf)


def one_year(folder, year, rng):
    """Shares of unbounded topics, by cut-off and by share returned, and the range of nDCG_f."""
    qrels = read_qrels(folder / f"web{year}.qrels.txt.gz")
    topics, sizes = qrels["qid"], qrels.groupby("qid").size()
    rows = []
    for noise, share, scores in made_runs(qrels, rng):
        for k in CUTOFFS:
            how = {"groups": topics, "k": k, "gains": GAINS}
            found = unbounded_queries(qrels["label"], scores, **how)
            f_values = ndcg_f_score(qrels["label"], scores, average=None, **how)
            least = ndcg_min_score(qrels["label"], scores, average=None, **how)
            rows.append(
                {
                    "year": year,
                    "k": k,
                    "noise": noise,
                    "returned": share,
                    **{name: 100 * value for name, value in vars(found).items()},
                    "min_low": least.min(),
                    "min_high": least.max(),
                    "f_low": f_values.min(),
                    "f_high": f_values.max(),
                    "f_unbounded": 100 * np.mean((f_values < 0) | (f_values > 1 + 1e-12)),
                }
            )
    return pd.DataFrame(rows), len(sizes), sizes.mean()


def main():
    options = arguments(__doc__)
    folder = options.data / "trec-web-qrels"
    rng = np.random.default_rng(0)
    years = {year: one_year(folder, year, rng) for year in YEARS}
    rows = pd.concat([frame for frame, *_ in years.values()])
    lines = []
    for year, (frame, n_topics, size) in years.items():
        for k in CUTOFFS:
            at = frame[frame["k"] == k]
            printed = "{:.1f} = {:.1f} + {:.1f}".format(*PRINTED[year]) if k == 300 else ""
            lines.append(
                f"| {year} | {n_topics} | {size:.0f} | {k} | {at['unbounded'].mean():.1f} = "
                f"{at['over'].mean():.1f} + {at['under'].mean():.1f} | {printed} | "
                f"{at['min_low'].min():.2f} to {at['min_high'].max():.2f} | "
                f"{at['f_unbounded'].mean():.1f} | {at['f_low'].min():.2f} to "
                f"{at['f_high'].max():.2f} |"
            )
    shares = rows[rows["k"] == 300].groupby("returned")[["unbounded", "over", "under"]].mean()
    by_share = "\n".join(
        f"| {100 * share:.0f} | {row.unbounded:.1f} | {row.over:.1f} | {row.under:.1f} |"
        for share, row in shares.iterrows()
    )
    head = (
        "| year | topics | judged per topic | k | nDCG_min unbounded | printed | range of nDCG_min "
        "| nDCG_f unbounded | range of nDCG_f |"
    )
    text = f"""
Judgments of the TREC web tracks, gain -10 for junk (label -2) and the label otherwise. {
        len(NOISE) * len(RETURNED)
    } runs a year
made from the judgments: score = grade + noise (standard deviation {", ".join(map(str, NOISE))}
grades), the best {
        ", ".join(f"{100 * share:.0f}" for share in RETURNED)
    } % of the judged documents returned.
Unbounded topics in percent, mean over runs: all = above 1 + below 0. *Printed* is Table 5 of the
nDCG_f paper, for the runs that participants submitted, at k = 300.

{head}
|{" --- |" * 9}
{chr(10).join(lines)}

At k = 300 over all years, by the share of the judged documents that is returned:

| returned % | unbounded % | above 1 | below 0 |
|{" --- |" * 4}
{by_share}
"""
    write_report("web_track_unbounded", "nDCG_min leaves its bounds where runs filter", text)


if __name__ == "__main__":
    main()

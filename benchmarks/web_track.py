"""nDCG, nDCG_min and nDCG_f on the web tracks 2010-2014: what they tell apart, and their bounds.

    python benchmarks/web_track.py [measures] [unbounded]

The participants' runs are not public; runs are made from the judgments. `measures`: stability,
sensitivity and reliability, figures 1 to 3 of Carmel et al. (SIGIR 2022), on runs of three models;
needs matplotlib. `unbounded`: how often nDCG_min leaves [0, 1], and nDCG_f does not: each document
gets its gain plus noise as its score, and a run returns the share of the judged documents that it
scores highest, as if it had filtered the others. Beside them stand forum answers of SemEval-2016,
ranked and filtered by a model.
"""

import time

import numpy as np
import pandas as pd
from _common import FORUM_COLUMNS, run_parts, write_report
from _web_track_figures import figures
from _web_track_report import report_text
from _web_track_runs import MODELS, YEARS, Donor, noise_runs, read_year, transplanted_runs
from scipy.stats import kendalltau

from skfilterrank.comparison import SystemScores, score_predictions
from skfilterrank.datasets import fetch_semeval_cqa
from skfilterrank.io import read_qrels
from skfilterrank.metaevaluation import reliability, sensitivity_curve, stability_curve
from skfilterrank.metrics import dcg_bounds, ndcg_f_score, ndcg_min_score
from skfilterrank.ranking import RankAndFilter, make_ranker, make_text_features

K, SHALLOW = 500, 20
GAINS = {-2: -10, 0: 0, 1: 1, 2: 2, 3: 3, 4: 4}
SIZES = (2, 3, 4, 5, 7, 10, 15, 20, 25, 30, 35, 40, 45, 48)
ALPHAS = np.arange(1, 21) / 100
FUZZINESS = (0.01, 0.0)
DRAWS = 5


def make_runs(model, qrels, year, draw, donor):
    """Runs of one model; every draw makes others."""
    rng = np.random.default_rng([year, draw])
    if model == "noise":
        return noise_runs(qrels, year, rng)
    return transplanted_runs(qrels, year, rng, donor, spam_filters=model == "real + spam")


def score_runs(qrels, runs, k):
    """Values of the three measures; "nDCG" is equation 1 as printed, also where I_k < 0."""
    names = {"nDCG, 0 if I<=0": "ndcg", "nDCG_min": "ndcg_min", "nDCG_f": "ndcg_f"}
    wanted = [f"{name}@{k}" for name in ("dcg", *names.values())]
    found = score_predictions(qrels["label"], runs, wanted, groups=qrels["qid"], gains=GAINS)
    dcg = found[f"dcg@{k}"]
    ideal = dcg_bounds(qrels["label"], groups=qrels["qid"], k=k, gains=GAINS)["ideal"]
    ideal = ideal[list(dcg.queries)].to_numpy()
    printed = np.divide(dcg.values, ideal, out=np.zeros_like(dcg.values), where=ideal != 0)
    scores = {"nDCG": SystemScores(printed, systems=dcg.systems, queries=dcg.queries)}
    return scores | {name: found[f"{key}@{k}"] for name, key in names.items()}


def top_topic(values):
    """Share of the variance between systems, summed over topics, of the topic with the most."""
    variances = values.var(axis=0)
    return variances.max() / variances.sum()


def measure_rows(scores):
    """What the measures can do: a table of numbers, and the two curves."""
    rows, curves = {}, {}
    for name, each in scores.items():
        sizes = [size for size in SIZES if size <= each.n_queries]
        stable = [
            stability_curve(each, sizes=sizes, fuzziness=value, random_state=0)
            for value in FUZZINESS
        ]
        paper = sensitivity_curve(each, alphas=ALPHAS, random_state=0)
        sakai = sensitivity_curve(each, alphas=ALPHAS, method="sakai", random_state=0)
        found = reliability(each)
        rows[name] = {
            "mean": each.values.mean(),
            "sd of systems": each.values.mean(axis=1).std(ddof=1),
            "error": stable[0].error_rate.mean(),
            "ties": stable[0].tie_rate.mean(),
            "error, no fuzziness": stable[1].error_rate.mean(),
            "sensitivity": paper.success_rate[ALPHAS == 0.05][0],
            "sensitivity, Sakai": sakai.success_rate[ALPHAS == 0.05][0],
            "Phi": found.phi,
            "E rho2": found.e_rho2,
            "needed, Phi": found.n_queries_needed(0.95),
            "needed, E rho2": found.n_queries_needed(0.95, kind="e_rho2"),
            "top topic": top_topic(each.values),
        }
        curves[name] = (sizes, stable[0].error_rate, paper.success_rate)
    return pd.DataFrame(rows).T, curves


def shares_outside(values):
    """Percentages of the queries whose nDCG_min leaves [0, 1], which it may miss by rounding."""
    over, under = 100 * np.mean(values > 1 + 1e-9), 100 * np.mean(values < -1e-9)
    return {"unbounded": over + under, "over": over, "under": under}


def describe_runs(qrels, runs, scores, bounds):
    """How runs filter, how nDCG_min leaves its bounds, how the orders of systems agree."""
    kept = np.isfinite(np.array(list(runs.values())))
    counts = pd.DataFrame(kept.T).groupby(qrels["qid"].to_numpy()).sum()
    label, how = qrels["label"].to_numpy(), {"groups": qrels["qid"], "gains": GAINS}
    found = {
        "returned": counts.mean().mean(),
        "returned sd": counts.std().mean(),
        "returned min": counts.min().mean(),
        "kept forbidden": kept[:, label < 0].mean(),
        "kept 0": kept[:, label == 0].mean(),
        "kept relevant": kept[:, label > 0].mean(),
    }
    for k in (300, K):
        shares = pd.DataFrame(
            shares_outside(ndcg_min_score.per_query(label, score, k=k, **how))
            for score in runs.values()
        )
        found |= {f"{name}@{k}": value for name, value in shares.mean().items()}
    least, best = scores["nDCG_min"], scores["nDCG_f"]
    bounded = ((least.values >= -1e-9) & (least.values <= 1 + 1e-9)).mean(axis=0) >= 0.9
    found |= {
        "lowest nDCG_min": least.values.min(),
        "highest nDCG_min": least.values.max(),
        "bounded topics": int(bounded.sum()),
        "I<0": int((bounds["ideal"] < 0).sum()),
        "W=I": int((bounds["ideal"] == bounds["worst"]).sum()),
    }
    for name, other in (("min", least), ("nDCG", scores["nDCG"])):
        found[f"tau {name}"] = kendalltau(
            other.values.mean(axis=1), best.values.mean(axis=1)
        ).statistic
    # The same topics for both: is nDCG_min as reliable where it is hardly ever unbounded?
    topics = [query for query, fine in zip(least.queries, bounded) if fine]
    for name, each in (("min", least), ("f", best)):
        some = reliability(each.select(queries=topics), n_queries=each.n_queries)
        found[f"Phi {name}, bounded"] = some.phi
    # Is it the values outside [0, 1], or is it what counts as 0 and 1?
    ideal, worst, most, lowest = bounds.loc[list(least.queries)].to_numpy().T
    found["Phi clipped"] = reliability(np.clip(least.values, 0, 1)).phi
    dcg = least.values * (ideal - worst) + worst
    found["Phi W_k"] = reliability((dcg - worst) / (most - lowest)).phi
    found["Phi W_k,f"] = reliability((dcg - lowest) / (ideal - worst)).phi
    return found


def report_measures(options):
    """Report on what the measures can tell apart."""
    begin = time.perf_counter()
    donor = Donor(options.data)
    tables, shallow, about, curves = {}, {}, {}, {}
    for year in YEARS:
        qrels = read_year(options.data, year)
        bounds = dcg_bounds(qrels["label"], groups=qrels["qid"], k=K, gains=GAINS)
        for model in MODELS:
            for draw in range(options.draws):
                runs = make_runs(model, qrels, year, draw, donor)
                cell = (model, year, draw)
                scores = score_runs(qrels, runs, K)
                tables[cell], curves[cell] = measure_rows(scores)
                about[cell] = describe_runs(qrels, runs, scores, bounds)
                if draw == 0:
                    scores = score_runs(qrels, runs, SHALLOW)
                    shallow[cell] = measure_rows(scores)[0]
    keys = ["model", "year", "draw"]
    about = pd.DataFrame(about).T.rename_axis(keys)
    tables = pd.concat(tables, names=[*keys, "measure"])
    shallow = pd.concat(shallow, names=[*keys, "measure"])
    figures(curves, tables)
    text = report_text(tables, shallow, about, time.perf_counter() - begin)
    write_report("web_track_measures", "What nDCG, nDCG_min and nDCG_f can tell apart", text)


UNBOUNDED_YEARS = (2011, 2012, 2013, 2014)
PRINTED = {2011: (9.2, 7.2, 2.0), 2012: (11.0, 10.2, 0.8), 2013: (18.8, 3.7, 15.1)}
PRINTED[2014] = (25.3, 8.3, 17.0)
# Noise in units of a grade; junk is as hard to tell from the rest as one grade from the next.
NOISE = (0.5, 1, 2, 4, 8)
RETURNED = (0.2, 0.4, 0.6, 0.8, 0.95)
CUTOFFS = (10, 50, 300, 500)
FORUM_GAINS = {"Bad": -10, "PotentiallyUseful": 1, "Good": 1}


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
            f_values = ndcg_f_score.per_query(qrels["label"], scores, **how)
            least = ndcg_min_score.per_query(qrels["label"], scores, **how)
            rows.append(
                {
                    "year": year,
                    "k": k,
                    "noise": noise,
                    "returned": share,
                    **shares_outside(least),
                    "min_low": least.min(),
                    "min_high": least.max(),
                    "f_low": f_values.min(),
                    "f_high": f_values.max(),
                    "f_unbounded": 100 * np.mean((f_values < 0) | (f_values > 1 + 1e-12)),
                }
            )
    return pd.DataFrame(rows), len(sizes), sizes.mean()


def forum_answers(folder):
    """Lines of Table 5's left half: the ordinal loss on answers that people gave in forums."""
    train, dev = (fetch_semeval_cqa(part, data_home=folder) for part in ("train-part2", "dev"))
    features = make_text_features(**FORUM_COLUMNS, output="dense", random_state=0)
    model = RankAndFilter(
        make_ranker("ordinal", learner="linear", features=features, random_state=0),
        measure="ndcg_f@3",
        gains=FORUM_GAINS,
    )
    scores = model.fit(train.data, train.target, groups=train.groups).predict(dev.data)
    for n_answers in (10, 5, 3):
        some = (dev.data["position"] <= n_answers).to_numpy()
        given = dev.target[some], scores[some]
        how = {"groups": dev.groups[some], "k": 3, "gains": FORUM_GAINS}
        found = shares_outside(ndcg_min_score.per_query(*given, **how))
        within = ndcg_f_score.per_query(*given, **how)
        yield (
            f"| {n_answers} | {np.isfinite(scores[some]).mean():.1%} | {found['unbounded']:.1f} | "
            f"{found['over']:.1f} | {found['under']:.1f} | {within.min():.2f} to "
            f"{within.max():.2f} |"
        )


def report_unbounded(options):
    """Report on values outside of the bounds."""
    folder = options.data / "trec-web-qrels"
    rng = np.random.default_rng(0)
    years = {year: one_year(folder, year, rng) for year in UNBOUNDED_YEARS}
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

## Forum answers, k = 3

244 questions of SemEval-2016 (dev), Bad = -10 and 1 otherwise, as in the paper: the ordinal loss
with linear models, trained and tuned on whole threads of train-part2, measured on the first answers
of each thread. The paper prints 15.3 = 14.3 + 1.0 % for product reviews, with a median of three in
a list, and 6.7 = 4.8 + 1.9 % for answers to product questions.

| answers in a list | shown | unbounded % | above 1 | below 0 | range of nDCG_f |
|{" --- |" * 6}
{chr(10).join(forum_answers(options.data))}
"""
    write_report("web_track_unbounded", "nDCG_min leaves its bounds where runs filter", text)


if __name__ == "__main__":
    run_parts(__doc__, {"measures": report_measures, "unbounded": report_unbounded}, draws=DRAWS)

"""Text of web_track.py measures: every number in it is computed, every claim asserted."""

import numpy as np
from _web_track_figures import MEASURES
from _web_track_runs import MODELS, N_RUNS, RETURNED, YEARS

# Table 5: unbounded topics in percent at k = 300, above 1, below 0.
PRINTED = {2011: (9.2, 7.2, 2.0), 2012: (11.0, 10.2, 0.8)}
PRINTED |= {2013: (18.8, 3.7, 15.1), 2014: (25.3, 8.3, 17.0)}
LABELS = {
    "error": ("stability: error", 3),
    "ties": ("ties", 3),
    "error, no fuzziness": ("error, no fuzziness", 3),
    "sensitivity": ("sensitivity at 0.05", 3),
    "sensitivity, Sakai": ("the same, Sakai's test", 3),
    "Phi": ("Phi", 3),
    "E rho2": ("E rho^2", 3),
    "needed, Phi": ("topics for Phi 0.95", 0),
    "needed, E rho2": ("topics for E rho^2 0.95", 0),
}


def require(holds, sentence):
    """The sentence, if what it says still holds."""
    if not holds:
        raise AssertionError(f"the results no longer say this, change the report: {sentence}")
    return sentence


def markdown(head, rows):
    """A table."""
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows])


def number(value, digits):
    """A number; "never" where no number of topics is enough in every draw."""
    return f"{value:,.{digits}f}" if np.isfinite(value) else "never"


def main_table(mean, model, columns, measures=MEASURES):
    """What the measures can do on the runs of one model."""
    rows = [
        [
            year,
            measure,
            *(number(mean.loc[(model, year, measure), c], LABELS[c][1]) for c in columns),
        ]
        for year in YEARS
        for measure in measures
    ]
    return markdown(["year", "measure", *(LABELS[c][0] for c in columns)], rows)


class Compare:
    """Counts, over models, years and draws, how often one measure is above another."""

    def __init__(self, tables):
        self.wide = tables.unstack("measure")
        self.n = len(self.wide)

    def gap(self, column, first, second):
        """First minus second, in each cell."""
        return (self.wide[column][first] - self.wide[column][second]).dropna()

    def above(self, column, first, second):
        """In how many cells first is above second, as text."""
        gap = self.gap(column, first, second)
        return f"{int((gap > 0).sum())} of {len(gap)}"

    def mean_gap(self, column, first, second):
        """Mean over draws for each model and year."""
        return self.gap(column, first, second).groupby(["model", "year"]).mean()


def answer(c, shallow):
    """What came out, finding by finding."""
    f, least, plain, zero = "nDCG_f", "nDCG_min", "nDCG", "nDCG, 0 if I<=0"
    error, bare, sense = "error", "error, no fuzziness", "sensitivity"
    n = c.n
    all_years = all(
        (c.gap(column, plain, f) * sign > 0).all()
        and (c.gap(column, plain, least) * sign > 0).all()
        for column, sign in ((error, 1), (bare, 1), (sense, -1), ("Phi", -1), ("E rho2", -1))
    )
    one = require(
        all_years,
        f"**nDCG is worst: yes.** In all {n} cells nDCG as equation 1 has it has the highest error "
        "rate and the lowest sensitivity, Phi and E rho^2 of the three.",
    )
    gap = c.mean_gap("Phi", zero, least).unstack("model")
    one_b = require(
        (gap.loc[2014] > 0).all() and (c.gap("Phi", zero, f) > 0).sum() > 0,
        "With 0 for topics whose ideal is not positive (what this library's nDCG does) it is "
        f"better, and no longer always worst: it is below nDCG_f in sensitivity in "
        f"{c.above(sense, f, zero)} cells and in Phi in {c.above('Phi', f, zero)}, but below "
        f"nDCG_min in Phi in only {c.above('Phi', least, zero)}; in 2014 it has a higher mean Phi "
        "than nDCG_min by every model.",
    )
    gaps = c.mean_gap(bare, f, least).unstack("model")
    others = gaps.drop(index=2011).abs().to_numpy()
    two = require(
        others.max() < 0.01 and (gaps.loc[2011] < -0.005).all(),
        "**nDCG_f is as stable as nDCG_min: yes.** "
        f"With the paper's fuzziness of 0.01 its mean error rate is lower in "
        f"{c.above(error, least, f)} cells, but that is mostly its smaller spread: the same 0.01 "
        f"makes more of its decisions ties (in {c.above('ties', f, least)}). Without fuzziness "
        f"the two differ by at most {others.max():.3f} (mean over draws), save in 2011, where the "
        f"error of nDCG_f is lower by {-gaps.loc[2011].max():.3f} to "
        f"{-gaps.loc[2011].min():.3f}.",
    )
    gaps = c.mean_gap(sense, f, least).unstack("model")
    others = gaps.drop(index=2011).abs().to_numpy()
    three = require(
        others.max() < 0.03 and (gaps.loc[2011] > 0.02).all(),
        "**nDCG_f is as sensitive as nDCG_min, better in 2011: yes, that very year.** Sensitivity "
        f"at 0.05 differs by at most {others.max():.3f} in the other years; in 2011 nDCG_f has "
        f"{gaps.loc[2011].min():.3f} to {gaps.loc[2011].max():.3f} more. "
        + sakai(c, f, least, plain, zero),
    )
    phi, rho = (c.mean_gap(kind, f, least).unstack("model") for kind in ("Phi", "E rho2"))
    rest = rho.drop(index=2011).to_numpy()
    four = require(
        (c.gap("Phi", f, least) > 0).all()
        and np.abs(rest).max() < 0.03
        and (rho.loc[2011] > 0).all()
        and rho.mean(axis=None) < phi.mean(axis=None) / 3,
        "**nDCG_f is more reliable than nDCG_min: by Phi yes; by E rho^2 clearly only in 2011.** "
        f"Phi is higher in {c.above('Phi', f, least)} cells, by {phi.min().min():.2f} to "
        f"{phi.max().max():.2f} (mean over draws). E rho^2, which leaves out the variance of "
        "topics because it moves all systems alike, differs by at most "
        f"{np.abs(rest).max():.3f} in all years but 2011, where nDCG_f has "
        f"{rho.loc[2011].min():.3f} to {rho.loc[2011].max():.3f} more. Over all, the gap is "
        f"{phi.mean(axis=None):.3f} in Phi and {rho.mean(axis=None):.3f} in E rho^2: most of "
        "figure 3's advantage is that topics get more similar values, not that systems are told "
        "apart better.",
    )
    same = np.abs(shallow.gap("Phi", f, least)).max()
    five = require(
        same < 1e-9 and (shallow.gap("Phi", plain, f) > 0).sum() > 0,
        "**It depends on k.** At k = 20 nDCG_min and nDCG_f are the same for every topic. nDCG "
        f"is less sensitive than they in {shallow.above(sense, f, plain)} cells (first draw) and "
        f"has the lower E rho^2 in {shallow.above('E rho2', f, plain)}, but the lower Phi in only "
        f"{shallow.above('Phi', f, plain)}.",
    )
    return "\n".join(f"- {line}" for line in (f"{one} {one_b}", two, three, four, five))


def sakai(c, f, least, plain, zero):
    """The same by Sakai's test."""
    column = "sensitivity, Sakai"
    gap = c.gap(column, f, plain)
    return require(
        (gap > 0).mean() > 0.5,
        f"Sakai's test puts nDCG_f above nDCG in {c.above(column, f, plain)} cells (above nDCG "
        f"with 0 in {c.above(column, f, zero)}), and its mean difference from nDCG_min is "
        f"{c.gap(column, f, least).mean():+.3f}.",
    )


def resemblance(about):
    """How the made runs meet Tables 4 and 5."""
    rows = []
    for year in YEARS:
        printed = PRINTED.get(year)
        cells = "{:.0f}, {:.0f}, {:.0f}".format(*RETURNED[year])
        ubq = "{:.1f} = {:.1f} + {:.1f}".format(*printed) if printed else ""
        rows.append([year, "participants (printed)", cells, ubq, "", ""])
        for model in MODELS:
            a = about.loc[(model, year)]
            rows.append(
                [
                    year,
                    model,
                    f"{a['returned']:.0f}, {a['returned sd']:.0f}, {a['returned min']:.0f}",
                    f"{a['unbounded@300']:.1f} = {a['over@300']:.1f} + {a['under@300']:.1f}",
                    f"{a['unbounded@500']:.1f} = {a['over@500']:.1f} + {a['under@500']:.1f}",
                    " / ".join(f"{a['kept ' + w]:.0%}" for w in ("forbidden", "0", "relevant")),
                ]
            )
    head = ["year", "runs", "returned a topic: mean, sd, min", "unbounded % at 300"]
    return markdown([*head, "at 500", "kept: forbidden / 0 / relevant"], rows)


def reasons(mean, about):
    """Why: what the normalization does to topics."""
    rows = []
    for model in MODELS:
        for year in YEARS:
            a = about.loc[(model, year)]
            shares = [f"{mean.loc[(model, year, m), 'top topic']:.0%}" for m in MEASURES]
            gaps = [
                mean.loc[(model, year, "nDCG_f"), "Phi"]
                - mean.loc[(model, year, "nDCG_min"), "Phi"],
                a["Phi f, bounded"] - a["Phi min, bounded"],
            ]
            rows.append(
                [
                    model,
                    year,
                    f"{a['I<0']:.0f}",
                    *shares,
                    f"{a['tau nDCG']:.2f}",
                    f"{a['tau min']:.2f}",
                    f"{a['lowest nDCG_min']:.2f} to {a['highest nDCG_min']:.2f}",
                    f"{gaps[0]:+.3f}",
                    f"{gaps[1]:+.3f} ({a['bounded topics']:.0f})",
                ]
            )
    head = ["runs", "year", "topics with I < 0", *(f"top topic, {m}" for m in MEASURES)]
    head += ["tau nDCG, nDCG_f", "tau nDCG_min, nDCG_f", "range of nDCG_min"]
    return markdown([*head, "Phi f - min", "on bounded topics"], rows)


def why(mean, about):
    """The reasons in words."""
    below = about["I<0"].groupby("year").first()
    top = mean["top topic"].unstack("measure")
    tau, tau_min = about["tau nDCG"], about["tau min"]
    phi = mean["Phi"].unstack("measure")
    gap = phi["nDCG_f"] - phi["nDCG_min"]
    clipped, zero, width = about["Phi clipped"], about["Phi W_k"], about["Phi W_k,f"]
    bounded = about["Phi f, bounded"] - about["Phi min, bounded"]
    sentences = [
        "All measures are the same DCG, per topic shifted and divided; between two systems "
        "only the divisor matters, as a weight of the topic.",
        require(
            top["nDCG"].min() > 0.4 and top["nDCG_f"].max() < 0.15 and (tau < 0.7).all(),
            f"nDCG divides by I_k. At k = 500 forbidden documents stand in the ideal list too, so "
            f"I_k comes near 0 (enormous weight) or below (the better list gets the lower "
            f"value): {below.min():.0f} to {below.max():.0f} topics a year are below. One topic "
            f"then holds {top['nDCG'].min():.0%} to {top['nDCG'].max():.0%} of the variance "
            f"between systems ({top['nDCG_f'].min():.0%} to {top['nDCG_f'].max():.0%} for "
            f"nDCG_f), and the order of systems has a tau of {tau.min():.2f} to {tau.max():.2f} "
            "with that of nDCG_f. So the paper's explanation, bad normalization, holds.",
        ),
        require(
            (about["W=I"] == 0).all() and tau_min.min() > 0.7,
            "No topic has W_k = I_k, so nothing comes from undefined values of nDCG_min. Its "
            f"order of systems is close to that of nDCG_f: tau {tau_min.min():.2f} to "
            f"{tau_min.max():.2f}.",
        ),
        require(
            bounded.mean() < gap.mean() / 2
            and (phi["nDCG_f"] > clipped).all()
            and clipped.mean() - phi["nDCG_min"].mean() < gap.mean() / 2,
            f"The gap in Phi, {gap.mean():.3f} on average, is at home in topics that get "
            f"unbounded: it is {bounded.mean():.3f} on the topics where at most a tenth of the "
            "runs is unbounded, projected to as many topics. But it is not the values outside "
            f"[0, 1] as such: nDCG_min clipped to [0, 1] has a mean Phi of {clipped.mean():.3f}, "
            f"against {phi['nDCG_min'].mean():.3f} unclipped and {phi['nDCG_f'].mean():.3f} for "
            "nDCG_f, and stays below nDCG_f for every model and year.",
        ),
        require(
            max(zero.mean(), width.mean()) < phi["nDCG_min"].mean() + gap.mean() / 4,
            "Nor is it one of the two bounds alone: with the width of nDCG_f, but W_k as the zero, "
            f"Phi is {zero.mean():.3f}; with W_k,f as the zero, but the width of nDCG_min, "
            f"{width.mean():.3f}. Zero and width have to belong to each other, and to what a "
            "filtered list can reach.",
        ),
    ]
    return "\n".join(f"- {line}" for line in sentences)


def report_text(tables, shallow, about, seconds):
    """The report."""
    by = ["model", "year", "measure"]
    mean = tables.groupby(by).mean()
    about = about.groupby(["model", "year"]).mean()
    draws = tables.index.get_level_values("draw").nunique()
    columns = [name for name in LABELS if name in mean.columns]
    few = ["error, no fuzziness", "sensitivity", "Phi", "E rho2"]
    blocks = "\n\n".join(
        f'Runs "{model}":\n\n{main_table(mean, model, columns)}' for model in MODELS
    )
    off = [abs(about.loc[("real", year), "unbounded@300"] - PRINTED[year][0]) for year in PRINTED]
    noise = [abs(about.loc[("noise", y), "unbounded@300"] - PRINTED[y][0]) for y in PRINTED]
    match = require(
        max(off) < 6
        and max(noise) > max(off)
        and all(about.loc[("noise", y), "returned"] > RETURNED[y][0] for y in YEARS)
        and all(
            (about.loc[("real", y), "over@300"] > about.loc[("real", y), "under@300"])
            == (PRINTED[y][1] > PRINTED[y][2])
            for y in PRINTED
        ),
        'Table 5 was not used in making them: the runs "real" come within '
        f"{max(off):.1f} points of its unbounded topics in all four years, with topics above 1 in "
        "the majority in 2011 and 2012 and topics below 0 in 2013 and 2014, as printed. "
        'The runs "noise" return more than participants did and are off by '
        f"up to {max(noise):.1f} points.",
    )
    return f"""
Do figures 1 to 3 of Carmel et al. come out: stability, sensitivity and reliability at k = 500, gain
-10 for junk and the label otherwise? The participants' runs are not public; runs are made from
the judgments by three models, {draws} draws of each for every year: {15 * draws} cells. "nDCG" is
equation 1 to the letter, also where the ideal is negative. Stability: 200 samples, error averaged
over 14 sizes from 2 to 48. Sensitivity: 1,000 resamples. Run time {seconds:.0f} s.

## What came out

{answer(Compare(tables), Compare(shallow))}

The counts are over all three models, so this does not hang on one way of making runs. It is still
not the participants' runs.

## The runs

As many a year as took part ({", ".join(f"{N_RUNS[y]} in {y}" for y in YEARS)}).

- **noise**: score = quality of the system (uniform, 0.1 to 1.2) x ease of the topic (lognormal,
  sigma 0.5) x interaction (lognormal, 0.4) x max(label, 0)^0.7 + normal noise, half of its variance
  common to all systems. Filters, in turn: none; spam filter (drops 2 to 40 % of the pool by a
  noisy score, mean 1.5 standard deviations higher for junk, half of the noise common); the best
  20 to 90 % of the pool; the best 50 to 400 documents; spam filter and share.
- **real**: runs of TREC-COVID round 1, drawn from 143. A TREC-COVID topic stands in for each web
  topic, and one of its documents of the same grade (0, 1, 2 or more; junk as 0) for each web
  document, the same for all runs; the place of that document, or its absence, is the place of the
  web document. Documents that many runs return are drawn more often, by one power a year, set
  so that runs return as many judged documents a topic as Table 4 says. Nobody filters junk.
- **real + spam**: the same, and every second run drops 2 to 40 % by the spam filter above.

Numbers by model and year, means over runs and draws; unbounded: all = above 1 + below 0. {match}

{resemblance(about)}

## Results

Means over draws. "never": in some draw no number of topics is enough,
because the variance of systems is estimated as 0.

{blocks}

![Stability](web_track_stability.png)

![Sensitivity](web_track_sensitivity.png)

![Reliability](web_track_reliability.png)

At k = 20, first draw (nDCG_min is nDCG_f there), runs "real":

{main_table(shallow.groupby(by).mean(), "real", few, ("nDCG", "nDCG_f"))}

## Why

{why(mean, about)}

*top topic* is the share of one topic in the variance between systems; *on bounded topics* is the
gap in Phi on the topics (how many) where at most a tenth of the runs is unbounded.

{reasons(mean, about)}
"""

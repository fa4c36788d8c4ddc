"""Do certificates from few labels of people and many of a machine hold, and which power have they?

    python benchmarks/promises_by_machines.py [validity] [judges] [--data DATA] [--repeats N]

`validity`: machines of every kind at a threshold whose risk is the level; 500 draws, writes
results/promises_by_machines.md. `judges`: labels of language models on trec-dl2019-llm; 2 draws of
each, writes results/promises_by_judges.md. Ten minutes on one thread.
"""

import os
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")

import warnings

import numpy as np
import pandas as pd
from _common import run_parts, write_report
from scipy.special import bdtr

from skfilterrank._lists.gains import as_gains
from skfilterrank._lists.lists import RankedLists
from skfilterrank.io import QrelsIndex, align, read_qrels, read_run
from skfilterrank.thresholds import CertifiedThreshold
from skfilterrank.thresholds._machine_labels import Counts, StratifiedBound, choose_bound
from skfilterrank.thresholds._risks import read_promises

LEVEL, CONFIDENCE, RATE = 0.1, 0.9, 0.06
# Share of the bad queries that the machine flags, and of the good ones that it does not.
MACHINES = {
    "useful": (0.9, 0.97),
    "biased": (0.95, 0.7),
    "useless": (0.3, 0.7),
    "adversarial": (0.1, 0.8),
}
WAYS = ("machine believed", "people alone", "with the machine")
# Queries that people judge, and how many times as many the machine does.
SIZES = ((50, 10), (100, 2), (100, 10), (200, 10), (300, 10))
TO_GAIN = {0: -1, 1: 1, 2: 2, 3: 3}


def shares_ruled_out(n, n_machine, sensitivity, specificity, rate, repeats, rng):
    """Shares of the draws in which the level is ruled out: alone, with the machine, as chosen."""
    share = rate * sensitivity + (1 - rate) * (1 - specificity)
    rates = rate * sensitivity / share, rate * (1 - sensitivity) / (1 - share)
    bound = StratifiedBound(n, n_machine, LEVEL, CONFIDENCE)
    chosen = choose_bound(n, n_machine, LEVEL, CONFIDENCE)
    found = np.zeros((repeats, 3), dtype=bool)
    for row in found:
        flagged = rng.binomial(n, share)
        by_machine = flagged + rng.binomial(n_machine - n, share)
        x1, x0 = rng.binomial(flagged, rates[0]), rng.binomial(n - flagged, rates[1])
        row[0] = bdtr(x1 + x0, n, LEVEL) <= 1 - CONFIDENCE
        row[1] = bound.rules_out(Counts(flagged, x1, x0, by_machine))
        row[2] = row[0] if chosen is None else row[1]
    return (*found.mean(axis=0), chosen is not None)


def validity(repeats):
    """One row for each machine and number of queries."""
    rng, rows = np.random.default_rng(0), []
    for name, (sensitivity, specificity) in MACHINES.items():
        for n, times in SIZES:
            given = n, times * n, sensitivity, specificity
            at_level = shares_ruled_out(*given, LEVEL, repeats, rng)
            below = shares_ruled_out(*given, RATE, repeats, rng)
            rows.append(
                {
                    "machine": name,
                    "people": n,
                    "all": times * n,
                    "broken alone": at_level[0],
                    "broken with": at_level[1],
                    "broken as chosen": at_level[2],
                    "power alone": below[0],
                    "power with": below[1],
                    "power as chosen": below[2],
                    "chosen": "with" if below[3] else "alone",
                }
            )
            print(rows[-1], file=sys.stderr, flush=True)
    return pd.DataFrame(rows)


def judges(folder, repeats):
    """One row for each judge and run: draws whose true rate is above the level."""
    folder = folder / "trec-dl2019-llm"
    names = sorted(path.name for path in (folder / "runs").iterdir())
    people = QrelsIndex(read_qrels(folder / "qrels.txt.gz"))
    rows = []
    level, risk, n_all, n_people = 0.3, "any_forbidden@5", 400, 150
    for judge in sorted((folder / "llm-qrels").iterdir()):
        by_judge = QrelsIndex(read_qrels(judge))
        for name in names[:: len(names) // 3][:3]:
            run = read_run(folder / "runs" / name)
            y, scores, groups = align(people, run, missing="drop")
            other = by_judge.align(run, missing="drop").y_true
            kept = ~np.isnan(y) & (scores > -np.inf)
            y, other = as_gains(y[kept], TO_GAIN), as_gains(other[kept], TO_GAIN)
            scores, codes = scores[kept], pd.factorize(groups[kept])[0]
            (promise,) = read_promises({risk: level})
            truth = promise.steps(RankedLists(y, scores, groups=codes), None)
            of_query = [np.flatnonzero(codes == code) for code in range(codes.max() + 1)]
            rng, broken, values = np.random.default_rng(0), np.zeros(3), []
            for _ in range(repeats):
                drawn = rng.integers(0, len(of_query), n_all)
                rows_of = np.concatenate([of_query[query] for query in drawn])
                queries = np.repeat(np.arange(n_all), [len(of_query[query]) for query in drawn])
                by_people = np.where(queries < n_people, y[rows_of], np.nan)
                given = {"groups": queries, "machine_labels": other[rows_of]}
                first = queries < n_people
                ways = [
                    ((scores[rows_of], other[rows_of]), {"groups": queries}),
                    ((scores[rows_of][first], y[rows_of][first]), {"groups": queries[first]}),
                    ((scores[rows_of], by_people), given),
                ]
                for way, (arrays, kwargs) in enumerate(ways):
                    safe = CertifiedThreshold({risk: level}, confidence_level=CONFIDENCE)
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        safe.fit(*arrays, **kwargs)
                    broken[way] += truth.at(safe.threshold_).mean() > level
                    values.append(truth.at(safe.threshold_).mean())
            highest = np.array(values).reshape(-1, 3)
            rows.append(
                {
                    "judge": judge.name.removesuffix(".txt.gz"),
                    "run": name.removesuffix(".gz").removesuffix(".txt"),
                    "rate, machine believed": highest[:, 0].mean(),
                    "rate, people alone": highest[:, 1].mean(),
                    "rate, with the machine": highest[:, 2].mean(),
                    "broken, machine believed": broken[0] / repeats,
                    "broken, people alone": broken[1] / repeats,
                    "broken, with the machine": broken[2] / repeats,
                }
            )
            print(rows[-1], file=sys.stderr, flush=True)
    return pd.DataFrame(rows)


def percent(shares):
    """Write shares in percent."""
    return shares.map(lambda share: f"{100 * share:.1f} %")


def as_lines(table):
    """Write a table for a page."""
    shown = table.apply(lambda column: percent(column) if column.dtype == float else column)
    head = f"| {' | '.join(shown)} |"
    rows = [f"| {' | '.join(map(str, row))} |" for row in shown.itertuples(index=False)]
    return [head, f"|{' --- |' * len(shown.columns)}", *rows]


def report_validity(options):
    """Report on machines of every kind."""
    repeats = options.repeats or 500
    table = validity(repeats)
    allowed = 1 - CONFIDENCE + 2 * np.sqrt(CONFIDENCE * (1 - CONFIDENCE) / repeats)
    text = [
        f"A threshold whose risk is exactly the level, {LEVEL:g}; confidence {CONFIDENCE:g}, "
        f"{repeats:,} draws. `broken`: share of the draws in which the level is ruled out all the "
        f"same; {100 * (1 - CONFIDENCE):.0f} % are allowed, and {100 * allowed:.1f} % with two "
        f"standard errors. `power`: the same if the risk is {RATE:g}, which is to be ruled out. "
        "`alone` are people's labels, `with` the machine's labels of all queries beside them, and "
        "`chosen` is what the numbers of queries decide before any label. Machines, by the "
        "shares of bad queries that they flag and of good ones that they do not: "
        + ", ".join(f"{name} {one:g} and {two:g}" for name, (one, two) in MACHINES.items())
        + ".",
        "",
        f"The highest share broken is {100 * table['broken with'].max():.1f} % with the machine "
        f"and {100 * table['broken as chosen'].max():.1f} % as chosen.",
        "",
        *as_lines(table),
    ]
    write_report("promises_by_machines", "Certificates with a machine's labels", "\n".join(text))


def report_judges(options):
    """Report on language models."""
    repeats = options.repeats or 2
    table = judges(options.data, repeats)
    n_broken = [int((table[f"rate, {way}"] > 0.3).sum()) for way in WAYS]
    text = [
        "Seven language models and three runs of trec-dl2019-llm; any_forbidden@5 at most 0.3 "
        f"(label 0 is forbidden), confidence {CONFIDENCE:g}. {repeats} times each, 400 queries are "
        "drawn with replacement from the 43, so that the true rate is known. `machine believed`: "
        "the machine's labels of all queries count as people's. `people alone`: people's labels of "
        "150 queries. `with the machine`: both. `rate`: mean true rate at the threshold; `broken`: "
        "share of the draws in which it is above 0.3.",
        "",
        f"The mean true rate is above 0.3 in {n_broken[0]} of {len(table)} cases where the machine "
        f"is believed, in {n_broken[1]} with people alone, and in {n_broken[2]} with the machine. "
        f"Of all draws {100 * table[f'broken, {WAYS[0]}'].mean():.1f} %, "
        f"{100 * table[f'broken, {WAYS[1]}'].mean():.1f} % and "
        f"{100 * table[f'broken, {WAYS[2]}'].mean():.1f} % are broken. The highest mean true rate "
        f"where the machine is believed is {table[f'rate, {WAYS[0]}'].max():.3f}.",
        "",
        *as_lines(table),
    ]
    write_report("promises_by_judges", "Certificates with language models' labels", "\n".join(text))


if __name__ == "__main__":
    run_parts(__doc__, {"validity": report_validity, "judges": report_judges}, repeats=0)

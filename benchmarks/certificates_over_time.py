"""Do certificates hold later, by which queries they are made of and how these are weighted?

    python benchmarks/certificates_over_time.py [--draws 500]

One thread, about two minutes of processor time. Writes results/certificates_over_time.md.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time

import numpy as np
from _common import arguments, write_report
from _promises import share
from scipy.stats import binom

from skfilterrank.thresholds import CertifiedThreshold
from skfilterrank.thresholds._risks import BettingBound

LEVEL, CONFIDENCE, N_QUERIES = 0.1, 0.95, 1000
NEWEST = 300
# Harm of a document with the lowest score, for the two kinds of queries.
HARMS = np.array([0.1, 0.9])
SHARES, LATER = np.array([0.8, 0.2]), np.array([0.4, 0.6])
HALF_LIFE = 100


def fitted(scores, y, query_weight=None):
    """A certified threshold of queries with one document each; 2 where none is possible."""
    safe = CertifiedThreshold({"any_forbidden": LEVEL}, confidence_level=CONFIDENCE)
    groups = np.arange(len(y))
    return safe.fit(scores, y, groups=groups, query_weight=query_weight).threshold_


def drawn(rng, harms):
    """Scores, and labels of documents that harm with a probability that falls with the score."""
    scores = rng.random(len(harms))
    return scores, np.where(rng.random(len(harms)) < harms * (1 - scores), -1, 1)


def row(name, thresholds, harm):
    """The shares of broken certificates and of shown documents, for documents of a harm."""
    thresholds = np.minimum(thresholds, 1.0)
    risks = harm * (1 - thresholds) ** 2 / 2
    n_broken = np.count_nonzero(risks > LEVEL)
    shown = f"{100 * np.mean(1 - thresholds):.0f} %"
    return [name, share(n_broken, len(thresholds)), f"{np.mean(risks):.3f}", shown]


def shifted(n_draws):
    """Kinds of queries in other proportions later, with known, estimated or no weights."""
    ratio = LATER / SHARES
    at = {"no weights": [], "known ratios": [], "ratios estimated from 300 later queries": []}
    for seed in range(n_draws):
        rng = np.random.default_rng(seed)
        kind = (rng.random(N_QUERIES) < SHARES[1]).astype(int)
        scores, y = drawn(rng, HARMS[kind])
        later = np.bincount((rng.random(300) < LATER[1]).astype(int), minlength=2) / 300
        estimated = later / (np.bincount(kind, minlength=2) / N_QUERIES)
        for name, weights in zip(at, (None, ratio / ratio.max(), estimated / estimated.max())):
            given = None if weights is None else weights[kind]
            at[name].append(fitted(scores, y, given))
    return [row(name, thresholds, LATER @ HARMS) for name, thresholds in at.items()]


def drifting(n_draws):
    """Harm that rises while the calibration queries come, and stays, or rises as much again."""
    lines = []
    for text, first, last in (("no drift", 0.6, 0.6), ("a slow rise", 0.5, 0.6),
                              ("a rise", 0.3, 0.6)):  # fmt: skip
        at = {"all queries": [], f"the newest {NEWEST}": [], f"half-life {HALF_LIFE}": []}
        harms = np.linspace(first, last, N_QUERIES)
        age = np.arange(N_QUERIES)[::-1]
        for seed in range(n_draws):
            scores, y = drawn(np.random.default_rng(seed), harms)
            every, newest, aged = at.values()
            every.append(fitted(scores, y))
            newest.append(fitted(scores[-NEWEST:], y[-NEWEST:]))
            aged.append(fitted(scores, y, 0.5 ** (age / HALF_LIFE)))
        mixtures = harms, harms[-NEWEST:], np.average(harms, weights=0.5 ** (age / HALF_LIFE))
        for (name, thresholds), own in zip(at.items(), mixtures):
            past = row(name, thresholds, np.mean(own))
            now = row(name, thresholds, last)
            lines.append([text, name, past[1], now[1], now[2], now[3]])
    return lines


def power(n_draws):
    """Share of draws in which a fixed threshold is certified: drawn queries, or weighted bets."""
    weights = {
        "half-life 200 of 1,000": 0.5 ** (np.arange(1000) / 200),
        "half-life 500 of 2,000": 0.5 ** (np.arange(2000) / 500),
        "1 for 30 % of 1,000, 0.2 for the others": np.repeat([1.0, 0.2], [300, 700]),
        "1 for 5 % of 2,000, 0.1 for the others": np.repeat([1.0, 0.1], [100, 1900]),
    }
    lines = []
    for name, each in weights.items():
        rng, counts = np.random.default_rng(0), np.zeros(2, dtype=int)
        for _ in range(n_draws):
            losses = (rng.random(len(each)) < 0.06).astype(np.float64)
            kept = rng.random(len(each)) < each
            counts[0] += binom.cdf(losses[kept].sum(), kept.sum(), LEVEL) <= 1 - CONFIDENCE
            bound = BettingBound(len(each), LEVEL, CONFIDENCE)
            bound._bets = np.minimum(bound._bets / np.sqrt(np.mean(each**2)), 1 / (1 - LEVEL))
            counts[1] += bound.rules_out(LEVEL + each * (losses - LEVEL))
        lines.append([name, *(share(count, n_draws) for count in counts)])
    return lines


def table_of(lines, head):
    """Markdown."""
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in rows)


def main():
    options = arguments(__doc__.splitlines()[0], draws=500)
    n, begin = options.draws, time.process_time()
    error = 1 - CONFIDENCE
    bound = error + 2 * np.sqrt(error * CONFIDENCE / n)
    text = [
        f"Generated queries with one document each, {N_QUERIES:,} for calibration, any_forbidden "
        f"at most {LEVEL:g} with confidence {CONFIDENCE:g}, {n} draws. Broken: the true risk at "
        f"the threshold is above {LEVEL:g}. Where the certificate is exact, up to "
        f"{100 * bound:.1f} % are allowed (5 % and 2 standard errors).",
        "",
        "## Other proportions of queries later",
        "",
        "Two kinds of queries, of which one shows harm 9 times as often. It is 20 % of the "
        "calibration queries and 60 % of the later ones, for which the table is.",
        "",
        table_of(shifted(n), ["`query_weight`", "broken", "mean risk", "shown"]),
        "",
        "## Harm that rises",
        "",
        "The rate of harm rises linearly while the calibration queries come, and stays at its last "
        "value. The last three columns are for queries after calibration. \"Broken for its own\": "
        "for queries like those it was made of, in the proportions of the weights.",
        "",
        table_of(drifting(n), ["harm", "made of", "broken for its own", "broken after",
                               "mean risk after", "shown"]),
        "",
        "## Drawing by weights, or betting on weighted losses",
        "",
        f"Share of draws in which a fixed threshold of risk 0.06 is certified at {LEVEL:g}: by an "
        "exact binomial test of the drawn queries, as CertifiedThreshold does, and by bets on "
        "weighted losses whose sizes know the mean square of the weights.",
        "",
        table_of(power(n), ["weights", "drawn", "bets"]),
    ]  # fmt: skip
    print(f"{time.process_time() - begin:.0f} s")
    write_report(
        "certificates_over_time", "Certificates over time, and weighted ones", "\n".join(text)
    )


if __name__ == "__main__":
    main()

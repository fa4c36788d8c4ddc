"""Do certificates hold later, by which queries they are made of?

    python benchmarks/certificates_over_time.py [--draws 500]

One thread, about one minute of processor time. Writes results/certificates_over_time.md.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time

import numpy as np
from _common import arguments, write_report
from _promises import share

from skfilterrank.thresholds import CertifiedThreshold

LEVEL, CONFIDENCE, N_QUERIES = 0.1, 0.95, 1000
NEWEST = 300


def fitted(scores, y):
    """A certified threshold of queries with one document each; 2 where none is possible."""
    safe = CertifiedThreshold({"any_forbidden": LEVEL}, confidence_level=CONFIDENCE)
    return safe.fit(scores, y, groups=np.arange(len(y))).threshold_


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


def drifting(n_draws):
    """Harm that rises while the calibration queries come, and stays, or rises as much again."""
    lines = []
    for text, first, last in (("no drift", 0.6, 0.6), ("a slow rise", 0.5, 0.6),
                              ("a rise", 0.3, 0.6)):  # fmt: skip
        at = {"all queries": [], f"the newest {NEWEST}": []}
        harms = np.linspace(first, last, N_QUERIES)
        for seed in range(n_draws):
            scores, y = drawn(np.random.default_rng(seed), harms)
            every, newest = at.values()
            every.append(fitted(scores, y))
            newest.append(fitted(scores[-NEWEST:], y[-NEWEST:]))
        for (name, thresholds), own in zip(at.items(), (harms, harms[-NEWEST:])):
            past = row(name, thresholds, np.mean(own))
            now = row(name, thresholds, last)
            lines.append([text, name, past[1], now[1], now[2], now[3]])
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
        "## Harm that rises",
        "",
        "The rate of harm rises linearly while the calibration queries come, and stays at its last "
        "value. The last three columns are for queries after calibration. \"Broken for its own\": "
        "for queries like those it was made of.",
        "",
        table_of(drifting(n), ["harm", "made of", "broken for its own", "broken after",
                               "mean risk after", "shown"]),
    ]  # fmt: skip
    print(f"{time.process_time() - begin:.0f} s")
    write_report("certificates_over_time", "Certificates over time", "\n".join(text))


if __name__ == "__main__":
    main()

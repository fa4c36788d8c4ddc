"""Do promises last? False alarms and delays of monitors, and certificates later on.

    python benchmarks/monitors.py [delays] [clusters] [certificates]

`delays`: how often a monitor raises a false alarm, how late a right one, and whether its intervals
hold. `clusters`: whether it keeps its guarantee if queries depend on each other. `certificates`:
whether they hold later, by which queries they are made of. One thread; three, two and one minutes
of processor time. Writes results/monitor_delays.md, monitor_clusters.md and
certificates_over_time.md.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

from itertools import product

import numpy as np
from _common import markdown_table, run_parts, write_report
from _promises import share

from skfilterrank.thresholds import CertifiedThreshold, RiskMonitor

LEVEL, ALPHA = 0.1, 0.05
N_CHANGED, CALM_RATE = 2_500, 0.05
CALM = (0, 200, 1000, 5000)
N_DRIFT = 500
ON_AVERAGE = (1000, 10_000)
LOOKS = (20, 50, 100, 200, 500, 1000, 2000, 5000)


def monitor(queries_per_false_alarm=ON_AVERAGE[0], level=LEVEL):
    """The only risk of a RiskMonitor; its `after` is what `update` does with the losses."""
    given = {"queries_per_false_alarm": queries_per_false_alarm}
    made = RiskMonitor({"any_forbidden": level}, confidence_level=1 - ALPHA, **given)
    return made._watched[0], made._goal


def alarm_at(losses, queries_per_false_alarm, level=LEVEL):
    """Number of the query at which RiskMonitor raises an alarm, NaN if it does not."""
    watched, goal = monitor(queries_per_false_alarm, level)
    at = watched.after(losses, goal).alarm_at
    return np.nan if at is None else at


def forbidden(rng, rate, n):
    """Losses 0 or 1."""
    return (rng.random(n) < rate).astype(np.float64)


def shares(rng, rate, n):
    """Losses 0, 1/5 ... 1 with a mean of the rate, as the forbidden share of five documents."""
    return rng.binomial(5, rate, n) / 5


LOSSES = {"0 or 1": forbidden, "shares of 5": shares}


def run_lengths(n_streams):
    """Mean number of queries before a false alarm, of streams at exactly the level."""
    lines = []
    for n_wanted in ON_AVERAGE:
        for kind, make in LOSSES.items():
            rng = np.random.default_rng(0)
            lengths, early = [], 0
            for _ in range(n_streams):
                watched, goal = monitor(n_wanted)
                while watched.alarm_at is None:
                    watched = watched.after(make(rng, LEVEL, n_wanted), goal)
                lengths.append(watched.alarm_at)
            error = np.std(lengths) / np.sqrt(n_streams)
            early = np.count_nonzero(np.array(lengths) <= n_wanted // 10)
            lines.append(
                [
                    f"{n_wanted:,}",
                    kind,
                    f"{np.mean(lengths):,.0f}",
                    f"{error:,.0f}",
                    f"{np.median(lengths):,.0f}",
                    share(early, n_streams),
                ]
            )
            print(n_wanted, kind, flush=True)
    return lines


def changes():
    """Rates behind the calm time, by what happens."""
    drift = np.linspace(CALM_RATE, 2.5 * LEVEL, N_DRIFT)
    still = np.full(N_CHANGED - N_DRIFT, 2.5 * LEVEL)
    return {
        "to 0.25": np.full(N_CHANGED, 2.5 * LEVEL),
        "to 0.2": np.full(N_CHANGED, 2 * LEVEL),
        f"to 0.25 within {N_DRIFT}": np.concatenate([drift, still]),
    }


def delays(n_changes):
    """Queries to an alarm behind a rise, median and slowest tenth."""
    lines = []
    kinds = [("to 0.25", "0 or 1"), ("to 0.25", "shares of 5")]
    kinds += [(change, "0 or 1") for change in list(changes())[1:]]
    for (change, kind), calm in product(kinds, CALM):
        rates, make = changes()[change], LOSSES[kind]
        at = {n_wanted: [] for n_wanted in ON_AVERAGE}
        rng = np.random.default_rng(0)
        for _ in range(n_changes):
            before, behind = make(rng, CALM_RATE, calm), make(rng, rates, N_CHANGED)
            losses = np.concatenate([before, behind])
            for n_wanted, found in at.items():
                found.append(np.nan_to_num(alarm_at(losses, n_wanted), nan=np.inf) - calm)
        cells, false = [], []
        for found in at.values():
            late = np.array(found)[np.array(found) > 0]
            ends = np.quantile(late, [0.5, 0.9], method="higher")
            cells.append(
                ", ".join(f"{end:,.0f}" if end < np.inf else f"over {N_CHANGED:,}" for end in ends)
            )
            false.append(str(len(found) - len(late)))
        lines.append([change, kind, f"{calm:,}", *cells, ", ".join(false)])
        print(lines[-1], flush=True)
    return lines


def intervals(n_streams):
    """Share of streams in which the interval is wrong at any look, and its mean width."""
    lines = []
    for rate in (0.02, 0.1, 0.3):
        rng = np.random.default_rng(0)
        wrong, widths = 0, []
        for _ in range(n_streams):
            losses = forbidden(rng, rate, LOOKS[-1])
            watched, goal = monitor()
            is_wrong = False
            for part in np.split(losses, LOOKS[:-1]):
                watched = watched.after(part, goal)
                lower, upper = watched.interval(ALPHA)
                is_wrong |= not lower <= rate <= upper
            wrong += is_wrong
            widths.append(upper - lower)
        lines.append([f"{rate:g}", share(wrong, n_streams), f"{np.mean(widths):.3f}"])
        print(rate, flush=True)
    return lines


def report_delays(options):
    """Report on false alarms, delays and intervals."""
    text = [
        f"A rate of at most {LEVEL:g} is certified. 1,000 and 10,000: on average, so many queries "
        "or more come before a false alarm (`queries_per_false_alarm`).",
        "",
        "## Delay",
        "",
        f"Queries from a rise to the alarm: median, slowest tenth of {options.changes} streams. "
        f"The rate is {CALM_RATE:g} during the good queries. The last column counts false alarms "
        "during the good queries; streams with one are left out.",
        "",
        markdown_table(
            ["rise", "losses", "good queries", "1,000", "10,000", "false"],
            delays(options.changes),
        ),
        "",
        "## False alarms",
        "",
        f"Queries to an alarm while the rate is exactly the level, of {options.changes} streams: "
        "mean with its standard error, median, and the share of streams with an alarm within a "
        "tenth of the number that is guaranteed on average.",
        "",
        markdown_table(
            ["guaranteed", "losses", "mean", "error", "median", "very early"],
            run_lengths(options.changes),
        ),
        "",
        "## Intervals",
        "",
        f"Streams in which an interval of {100 * (1 - ALPHA):g} % does not hold the true rate at "
        f"any of {len(LOOKS)} looks up to query {LOOKS[-1]:,}, and its mean width at the last "
        f"look; {options.streams} streams each.",
        "",
        markdown_table(["true rate", "ever wrong", "width"], intervals(options.streams)),
    ]
    write_report("monitor_delays", "Monitors: false alarms, delays, intervals", "\n".join(text))


RISE, N_CLUSTERS = 0.25, 200


def copies(rng, rate):
    """Groups of five near-copies of a query, all of which lose or none."""
    return np.repeat(rng.random(N_CLUSTERS) < rate, 5), np.repeat(np.arange(N_CLUSTERS), 5)


def users(rng, rate):
    """Users with 1 to 9 queries, and a rate of their own."""
    sizes = rng.integers(1, 10, N_CLUSTERS)
    own = rng.beta(rate, 1 - rate, N_CLUSTERS)
    return rng.random(sizes.sum()) < np.repeat(own, sizes), np.repeat(np.arange(N_CLUSTERS), sizes)


def independent(rng, rate):
    """Clusters of one query each."""
    return rng.random(N_CLUSTERS) < rate, np.arange(N_CLUSTERS)


STREAMS = {
    "clusters of one query": independent,
    "five near-copies of each query": copies,
    "users with 1 to 9 queries and an own rate": users,
}


def status(losses, clusters, *, counts_clusters):
    """The only row of a monitor of a whole stream."""
    monitor = RiskMonitor(
        {"any_forbidden": LEVEL},
        confidence_level=1 - ALPHA,
        queries_per_false_alarm=ON_AVERAGE[0],
    )
    more = {"clusters": clusters} if counts_clusters else {}
    y_true, ids = np.where(losses, -1, 1), np.arange(len(losses))
    return monitor.update(y_true, np.ones(len(losses)), groups=ids, **more).rates.iloc[0]


def clustered(n_streams):
    """False alarms and wrong intervals at exactly the level, and the delay after a rise."""
    for kind, make in STREAMS.items():
        for counts_clusters in (False, True):
            rng = np.random.default_rng(0)
            n_early = n_wrong = 0
            delays = []
            for _ in range(n_streams):
                losses, clusters = make(rng, LEVEL)
                whole = status(losses, clusters, counts_clusters=counts_clusters)
                n_wrong += not whole["lower"] <= LEVEL <= whole["upper"]
                some = clusters < ON_AVERAGE[0] // 10
                early = status(losses[some], clusters[some], counts_clusters=counts_clusters)
                n_early += early["alarm_at"] > 0
                losses, clusters = make(rng, RISE)
                at = status(losses, clusters, counts_clusters=counts_clusters)["alarm_at"]
                # The number of clusters until then.
                at = np.inf if np.isnan(at) else at
                if at < np.inf and not counts_clusters:
                    at = clusters[int(at) - 1] + 1
                delays.append(at)
            unit = "clusters" if counts_clusters else "queries"
            found = (share(each, n_streams) for each in (n_early, n_wrong))
            yield [kind, unit, *found, f"{np.median(delays):,.0f}"]
            print(kind, unit, flush=True)


def report_clusters(options):
    """Report on monitors of queries that depend on each other."""
    text = [
        f"{options.clustered} streams of {N_CLUSTERS} clusters each. The rate of a query is "
        f"exactly the level, {LEVEL:g}, over all clusters. A monitor counts the queries one by "
        "one, or the clusters (`update(..., clusters=)`).",
        "",
        f"* Wrong intervals: streams in which the interval of {100 * (1 - ALPHA):g} % at the end "
        f"does not hold {LEVEL:g}; {100 * ALPHA:g} % are allowed.",
        f"* Early alarms: streams with an alarm within the first {ON_AVERAGE[0] // 10} clusters, a "
        f"tenth of the {ON_AVERAGE[0]:,} that are guaranteed on average.",
        f"* Delay: clusters until an alarm if the rate is {RISE:g} from the start, median.",
        "",
        markdown_table(
            ["queries", "what counts", "early alarms", "wrong intervals", "delay"],
            clustered(options.clustered),
        ),
    ]
    write_report("monitor_clusters", "Monitors and dependent queries", "\n".join(text))


CONFIDENCE, N_QUERIES, NEWEST = 1 - ALPHA, 1000, 300


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
    rises = ("no drift", 0.6, 0.6), ("a slow rise", 0.5, 0.6), ("a rise", 0.3, 0.6)
    for text, first, last in rises:
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


def report_certificates(options):
    """Report on certificates after harm has risen."""
    error = 1 - CONFIDENCE
    bound = error + 2 * np.sqrt(error * CONFIDENCE / options.draws)
    text = [
        f"Generated queries with one document each, {N_QUERIES:,} for calibration, any_forbidden "
        f"at most {LEVEL:g} with confidence {CONFIDENCE:g}, {options.draws} draws. Broken: the "
        f"true risk at the threshold is above {LEVEL:g}. Where the certificate is exact, up to "
        f"{100 * bound:.1f} % are allowed (5 % and 2 standard errors).",
        "",
        "## Harm that rises",
        "",
        "The rate of harm rises linearly while the calibration queries come, and stays at its last "
        'value. The last three columns are for queries after calibration. "Broken for its own": '
        "for queries like those it was made of.",
        "",
        markdown_table(
            ["harm", "made of", "broken for its own", "broken after", "mean risk after", "shown"],
            drifting(options.draws),
        ),
    ]
    write_report("certificates_over_time", "Certificates over time", "\n".join(text))


if __name__ == "__main__":
    parts = {
        "delays": report_delays,
        "clusters": report_clusters,
        "certificates": report_certificates,
    }
    run_parts(__doc__, parts, streams=100, changes=200, clustered=200, draws=500)

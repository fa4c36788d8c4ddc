"""Does a monitor keep its guarantee if queries depend on each other?

    python benchmarks/monitor_clusters.py [--streams 200]

One thread, about two minutes of processor time. Writes results/monitor_clusters.md.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from _common import arguments, write_report
from _promises import share
from monitor_delays import table_of

from skfilterrank.thresholds import RiskMonitor

LEVEL, ALPHA, RISE = 0.1, 0.05, 0.25
N_CLUSTERS, ON_AVERAGE = 200, 1000


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
        queries_per_false_alarm=ON_AVERAGE,
    )
    more = {"clusters": clusters} if counts_clusters else {}
    y_true, ids = np.where(losses, -1, 1), np.arange(len(losses))
    return monitor.update(y_true, np.ones(len(losses)), groups=ids, **more).rates.iloc[0]


def rows(n_streams):
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
                some = clusters < ON_AVERAGE // 10
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


def main():
    options = arguments(__doc__.splitlines()[0], streams=200)
    head = [
        "queries",
        "what counts",
        "early alarms",
        "wrong intervals",
        "delay",
    ]
    text = [
        f"{options.streams} streams of {N_CLUSTERS} clusters each. The rate of a query is exactly "
        f"the level, {LEVEL:g}, over all clusters. A monitor counts the queries one by one, or the "
        "clusters (`update(..., clusters=)`).",
        "",
        f"* Wrong intervals: streams in which the interval of {100 * (1 - ALPHA):g} % at the end "
        f"does not hold {LEVEL:g}; {100 * ALPHA:g} % are allowed.",
        f"* Early alarms: streams with an alarm within the first {ON_AVERAGE // 10} clusters, a "
        f"tenth of the {ON_AVERAGE:,} that are guaranteed on average.",
        f"* Delay: clusters until an alarm if the rate is {RISE:g} from the start, median.",
        "",
        table_of(rows(options.streams), head),
    ]
    write_report("monitor_clusters", "Monitors and dependent queries", "\n".join(text))


if __name__ == "__main__":
    main()

"""How often does a monitor raise a false alarm, how late a right one, and do its intervals hold?

    python benchmarks/monitor_delays.py [--streams 2000] [--changes 100]

One thread, about three minutes of processor time. Writes results/monitor_delays.md.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time
from functools import cache

import numpy as np
from _common import arguments, write_report
from _promises import share
from scipy.stats import binom

from skfilterrank.thresholds import RiskMonitor
from skfilterrank.thresholds._monitor import _BETS, _log_mean

LEVEL, ALPHA = 0.1, 0.05
GOAL = np.log(1 / ALPHA)
N_STREAM, N_CHANGED, CALM_RATE = 10_000, 3_000, 0.05
CALM = (0, 200, 1000, 3000, 10_000)
LOOKS = (20, 50, 100, 200, 500, 1000, 2000, 5000)


def alarm_at(losses, level=LEVEL):
    """Number of the query at which RiskMonitor raises an alarm, NaN if it does not."""
    # RiskMonitor.update does this with the losses of queries.
    watched = RiskMonitor({"any_forbidden": level})._watched[0]
    at = watched.after(losses, GOAL).alarm_at
    return np.nan if at is None else at


def alarm_of_one_start(losses, level=LEVEL):
    """The number for the same bets, if all of the capital is staked from the first query on."""
    growth = np.log1p(_BETS * (losses[:, None] / level - 1.0)).cumsum(axis=0)
    return first_of(_log_mean(growth) >= GOAL)


def first_of(is_alarm):
    """Number of the first alarm, NaN without one."""
    return np.argmax(is_alarm) + 1.0 if is_alarm.any() else np.nan


@cache
def critical(n):
    """More losses than this among the first 1, 2, ... n queries reject at that look."""
    return binom.isf(ALPHA, np.arange(1, n + 1), LEVEL)


def alarm_of_repeated_test(losses, every=1):
    """The number for a binomial test of a fixed number of queries, repeated at looks."""
    n = np.arange(1, len(losses) + 1)
    rejects = np.cumsum(losses) > critical(len(losses))
    return first_of(rejects & (n % every == 0))


TESTS = {
    "RiskMonitor": alarm_at,
    "the same bets, all staked at the first query": alarm_of_one_start,
    "binomial test after each query": alarm_of_repeated_test,
    "binomial test after each 50": lambda losses: alarm_of_repeated_test(losses, 50),
}


def forbidden(rng, rate, n):
    """Losses 0 or 1."""
    return (rng.random(n) < rate).astype(np.float64)


def shares(rng, n):
    """Losses 0, 1/5 ... 1 with a mean of exactly the level, independent of each other."""
    return rng.binomial(5, LEVEL, n) / 5


def in_bursts(rng, n):
    """Losses 0 or 1 that come in bursts, whose chance given all before is at most the level."""
    calm = np.repeat(rng.random(-(-n // 50)) < 0.5, 50)[:n]
    return forbidden(rng, np.where(calm, LEVEL / 2, LEVEL), n)


def false_alarms(n_streams):
    """Share of streams with an alarm, by their length so far."""
    kinds = {
        "0 or 1, exactly the level": lambda rng: forbidden(rng, LEVEL, N_STREAM),
        "shares of 5, mean exactly the level": lambda rng: shares(rng, N_STREAM),
        "0 or 1, half the level": lambda rng: forbidden(rng, LEVEL / 2, N_STREAM),
        "0 or 1, the level or half of it in bursts": lambda rng: in_bursts(rng, N_STREAM),
    }
    lines = []
    for kind, make in kinds.items():
        rng = np.random.default_rng(0)
        is_first = not lines
        tests = TESTS if is_first else {"RiskMonitor": alarm_at}
        n_own = n_streams if is_first else n_streams // 4
        at = {test: [] for test in tests}
        for _ in range(n_own):
            losses = make(rng)
            for test, find in tests.items():
                at[test].append(find(losses))
        for test, found in at.items():
            counts = [np.count_nonzero(np.array(found) <= n) for n in (1000, 5000, N_STREAM)]
            lines.append([kind, test, f"{n_own:,}", *(share(count, n_own) for count in counts)])
        print(kind, flush=True)
    return lines


def delays(n_changes):
    """Queries to an alarm behind a rise from half of the level to twice, and the slowest tenth."""
    lines = []
    for calm in CALM:
        at = {test: [] for test in list(TESTS)[:2]}
        rng = np.random.default_rng(0)
        for _ in range(n_changes):
            before, behind = forbidden(rng, CALM_RATE, calm), forbidden(rng, 2 * LEVEL, N_CHANGED)
            losses = np.concatenate([before, behind])
            for test in at:
                at[test].append(np.nan_to_num(TESTS[test](losses), nan=np.inf) - calm)
        cells = []
        for found in at.values():
            found = np.array(found)
            late = found[found > 0]
            ends = np.quantile(late, [0.5, 0.9], method="higher")
            cells += [f"{end:.0f}" if end < np.inf else f"over {N_CHANGED:,}" for end in ends]
            cells += [f"{len(found) - len(late)}"]
        lines.append([f"{calm:,}", *cells])
        print(calm, flush=True)
    return lines


def intervals(n_streams):
    """Share of streams in which the interval is wrong at any look, and its mean width."""
    lines = []
    for rate in (0.02, 0.1, 0.3):
        rng = np.random.default_rng(0)
        wrong, widths = 0, []
        for _ in range(n_streams):
            losses = forbidden(rng, rate, LOOKS[-1])
            watched = RiskMonitor({"any_forbidden": LEVEL})._watched[0]
            is_wrong = False
            for part in np.split(losses, LOOKS[:-1]):
                watched = watched.after(part, GOAL)
                lower, upper = watched._interval(ALPHA)
                is_wrong |= not lower <= rate <= upper
            wrong += is_wrong
            widths.append(upper - lower)
        lines.append([f"{rate:g}", share(wrong, n_streams), f"{np.mean(widths):.3f}"])
        print(rate, flush=True)
    return lines


def table_of(lines, head):
    """Markdown."""
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in rows)


def main():
    options = arguments(__doc__.splitlines()[0], streams=2000, changes=100)
    begin = time.process_time()
    text = [
        f"A rate of at most {LEVEL:g} is promised, and a chance of {100 * ALPHA:g} % of a false "
        "alarm at any time is allowed.",
        "",
        "## False alarms",
        "",
        f"Streams of {N_STREAM:,} queries, share of them with an alarm up to query 1,000, 5,000 "
        f"and {N_STREAM:,}. The bound of RiskMonitor holds for streams without an end. The "
        "binomial test is one for a fixed number of queries, at the same level, repeated.",
        "",
        table_of(false_alarms(options.streams),
                 ["losses", "test", "streams", "to 1,000", "to 5,000", f"to {N_STREAM:,}"]),
        "",
        "## Delay",
        "",
        f"Queries from a rise to the alarm, median and slowest tenth of {options.changes} streams: "
        f"the rate is {CALM_RATE:g} in the calm time, {2 * LEVEL:g} behind it. Alarms in the calm "
        "time are false, and counted in the last column of each.",
        "",
        table_of(delays(options.changes),
                 ["calm queries", "RiskMonitor: median", "90 %", "false", "one start: median",
                  "90 %", "false"]),
        "",
        "## Intervals",
        "",
        f"Streams in which an interval of {100 * (1 - ALPHA):g} % does not hold the true rate at "
        f"any of {len(LOOKS)} looks up to query {LOOKS[-1]:,}, and its mean width at the last "
        f"look; {options.streams // 10} streams each.",
        "",
        table_of(intervals(options.streams // 10), ["true rate", "ever wrong", "width"]),
    ]  # fmt: skip
    print(f"{time.process_time() - begin:.0f} s")
    write_report("monitor_delays", "Monitors: false alarms, delays, intervals", "\n".join(text))


if __name__ == "__main__":
    main()

"""How often does a monitor raise a false alarm, how late a right one, and do its intervals hold?

    python benchmarks/monitor_delays.py [--streams 1000] [--changes 200]

One thread, about five minutes of processor time. Writes results/monitor_delays.md.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time
from functools import cache
from itertools import product

import numpy as np
from _common import arguments, write_report
from _promises import share
from scipy.stats import binom

from skfilterrank.thresholds import RiskMonitor
from skfilterrank.thresholds._watched_risk import BETS, log_mean

LEVEL, ALPHA = 0.1, 0.05
GOAL = np.log(1 / ALPHA)
N_STREAM, N_CHANGED, CALM_RATE = 10_000, 2_500, 0.05
CALM = (0, 200, 1000, 5000)
N_DRIFT = 500
ON_AVERAGE = (1000, 10_000)
LOOKS = (20, 50, 100, 200, 500, 1000, 2000, 5000)


def monitor(queries_per_false_alarm=None, level=LEVEL):
    """The only risk of a RiskMonitor; its `after` is what `update` does with the losses."""
    given = {"queries_per_false_alarm": queries_per_false_alarm}
    made = RiskMonitor({"any_forbidden": level}, confidence_level=1 - ALPHA, **given)
    return made._watched[0], made._goal


def alarm_at(losses, queries_per_false_alarm=None, level=LEVEL):
    """Number of the query at which RiskMonitor raises an alarm, NaN if it does not."""
    watched, goal = monitor(queries_per_false_alarm, level)
    at = watched.after(losses, goal).alarm_at
    return np.nan if at is None else at


def alarm_of_one_start(losses, level=LEVEL):
    """The number for the same bets, if all of the capital is staked from the first query on."""
    growth = np.log1p(BETS * (losses[:, None] / level - 1.0)).cumsum(axis=0)
    return first_of(log_mean(growth) >= GOAL)


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
    "never": alarm_at,
    "the same bets, all staked at the first query": alarm_of_one_start,
    "binomial test after each query": alarm_of_repeated_test,
    "binomial test after each 50": lambda losses: alarm_of_repeated_test(losses, 50),
}


def forbidden(rng, rate, n):
    """Losses 0 or 1."""
    return (rng.random(n) < rate).astype(np.float64)


def shares(rng, rate, n):
    """Losses 0, 1/5 ... 1 with a mean of the rate, as the forbidden share of five documents."""
    return rng.binomial(5, rate, n) / 5


def in_bursts(rng, n):
    """Losses 0 or 1 that come in bursts, whose chance given all before is at most the level."""
    calm = np.repeat(rng.random(-(-n // 50)) < 0.5, 50)[:n]
    return forbidden(rng, np.where(calm, LEVEL / 2, LEVEL), n)


def false_alarms(n_streams):
    """Share of streams with an alarm, by their length so far."""
    kinds = {
        "0 or 1, exactly the level": lambda rng: forbidden(rng, LEVEL, N_STREAM),
        "shares of 5, mean exactly the level": lambda rng: shares(rng, LEVEL, N_STREAM),
        "0 or 1, half the level": lambda rng: forbidden(rng, LEVEL / 2, N_STREAM),
        "0 or 1, the level or half of it in bursts": lambda rng: in_bursts(rng, N_STREAM),
    }
    lines = []
    for kind, make in kinds.items():
        rng = np.random.default_rng(0)
        is_first = not lines
        tests = TESTS if is_first else {"never": alarm_at}
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
    return lines  # fmt: skip


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
    tests = {"never": alarm_at}
    for n_wanted in ON_AVERAGE:
        tests[n_wanted] = lambda losses, n_wanted=n_wanted: alarm_at(losses, n_wanted)
    tests["one start"] = alarm_of_one_start
    lines = []
    kinds = [("to 0.25", "0 or 1"), ("to 0.25", "shares of 5")]
    kinds += [(change, "0 or 1") for change in list(changes())[1:]]
    for (change, kind), calm in product(kinds, CALM):
        rates, make = changes()[change], LOSSES[kind]
        at = {test: [] for test in tests}
        rng = np.random.default_rng(0)
        for _ in range(n_changes):
            before, behind = make(rng, CALM_RATE, calm), make(rng, rates, N_CHANGED)
            losses = np.concatenate([before, behind])
            for test, find in tests.items():
                at[test].append(np.nan_to_num(find(losses), nan=np.inf) - calm)
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
            watched, _ = monitor()
            is_wrong = False
            for part in np.split(losses, LOOKS[:-1]):
                watched = watched.after(part, GOAL)
                lower, upper = watched.interval(ALPHA)
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
    options = arguments(__doc__.splitlines()[0], streams=1000, changes=200)
    begin = time.process_time()
    text = [
        f"A rate of at most {LEVEL:g} is certified. The monitor has two guarantees against false "
        f'alarms. "never": none at all with probability {1 - ALPHA:g} (`confidence_level`). '
        '"1,000" and "10,000": on average, so many queries or more before one '
        "(`queries_per_false_alarm`).",
        "",
        "## Delay",
        "",
        f"Queries from a rise to the alarm: median, slowest tenth of {options.changes} streams. "
        f"The rate is {CALM_RATE:g} during the good queries. The last column counts false alarms "
        "during the good queries, by guarantee; streams with one are left out. \"One start\" has "
        "the bets of \"never\", all staked before the first query.",
        "",
        table_of(delays(options.changes),
                 ["rise", "losses", "good queries", '"never"', '"1,000"', '"10,000"', "one start",
                  "false"]),
        "",
        "## False alarms of the guarantee on average",
        "",
        f"Queries to an alarm while the rate is exactly the level, of {options.changes} streams: "
        "mean with its standard error, median, and the share of streams with an alarm within a "
        "tenth of the number that is guaranteed on average.",
        "",
        table_of(run_lengths(options.changes),
                 ["guaranteed", "losses", "mean", "error", "median", "very early"]),
        "",
        "## False alarms of the guarantee \"never\"",
        "",
        f"Streams of {N_STREAM:,} queries, share of them with an alarm up to query 1,000, 5,000 "
        f"and {N_STREAM:,}. The bound of {100 * ALPHA:g} % holds for streams without an end. The "
        "binomial test is one for a fixed number of queries, at the same level, repeated.",
        "",
        table_of(false_alarms(options.streams),
                 ["losses", "test", "streams", "to 1,000", "to 5,000", f"to {N_STREAM:,}"]),
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

"""How often does a monitor raise a false alarm, how late a right one, and do its intervals hold?

    python benchmarks/monitor_delays.py [--streams 100] [--changes 200]

One thread, about three minutes of processor time. Writes results/monitor_delays.md.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time
from itertools import product

import numpy as np
from _common import arguments, write_report
from _promises import share

from skfilterrank.thresholds import RiskMonitor

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


def table_of(lines, head):
    """Markdown."""
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in rows)


def main():
    options = arguments(__doc__.splitlines()[0], streams=100, changes=200)
    begin = time.process_time()
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
        table_of(delays(options.changes),
                 ["rise", "losses", "good queries", "1,000", "10,000", "false"]),
        "",
        "## False alarms",
        "",
        f"Queries to an alarm while the rate is exactly the level, of {options.changes} streams: "
        "mean with its standard error, median, and the share of streams with an alarm within a "
        "tenth of the number that is guaranteed on average.",
        "",
        table_of(run_lengths(options.changes),
                 ["guaranteed", "losses", "mean", "error", "median", "very early"]),
        "",
        "## Intervals",
        "",
        f"Streams in which an interval of {100 * (1 - ALPHA):g} % does not hold the true rate at "
        f"any of {len(LOOKS)} looks up to query {LOOKS[-1]:,}, and its mean width at the last "
        f"look; {options.streams} streams each.",
        "",
        table_of(intervals(options.streams), ["true rate", "ever wrong", "width"]),
    ]  # fmt: skip
    print(f"{time.process_time() - begin:.0f} s")
    write_report("monitor_delays", "Monitors: false alarms, delays, intervals", "\n".join(text))


if __name__ == "__main__":
    main()

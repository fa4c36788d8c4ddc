"""What a second thread gains in measures of ten million rows, and what a second process would."""

import os
import threading
import time
from functools import partial

import numpy as np
from _common import arguments, write_report
from measure_speed import rows_of

from skfilterrank._core.lists import RankedLists
from skfilterrank._core.measure_names import parse_measures

MEASURES = {
    "ndcg_f@10": ["ndcg_f@10"],
    "ten measures": [
        *("ndcg_f@10", "ap", "err", "rr", "precision@10", "recall@100", "bpref", "rbp"),
        *("q_measure", "lexirecall"),
    ],
}


def some_blocks(lists, kernels, values, first=0, step=1):
    """Fill in the values of every `step`-th block from the first on."""
    for number, block in enumerate(lists.blocks()):
        if number % step == first:
            for column, kernel in enumerate(kernels):
                values[block.queries, column] = kernel(block)


def two_threads(*work):
    """Half of the blocks each."""
    threads = [threading.Thread(target=some_blocks, args=(*work, first, 2)) for first in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def two_processes(*work):
    """Half of the blocks each; the other's values are not even fetched."""
    pid = os.fork()
    some_blocks(*work, bool(pid), 2)
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)


WAYS = {"one thread": some_blocks, "two threads": two_threads, "two processes": two_processes}


def whole(way, y_true, y_score, groups, kernels):
    """Check the rows, find the queries, measure."""
    lists = RankedLists(y_true, y_score, groups=groups)
    values = np.empty((lists.index.n_queries, len(kernels)))
    way(lists, kernels, values)
    return values


def table_rows(rng, mean, n_rows, repeats):
    """A line for each order of the rows and each list of measures."""
    _, *columns = rows_of(rng, mean, n_rows)
    y_true, y_score, groups = columns
    for order in ("sorted by query", "random"):
        if order == "random":
            shuffled = rng.permutation(len(groups))
            y_true, y_score, groups = (column[shuffled] for column in columns)
        for text, names in MEASURES.items():
            kernels = [
                each.measure.bind(each.k, each.options) for each in parse_measures(names).values()
            ]
            calls = {
                name: partial(whole, way, y_true, y_score, groups, kernels)
                for name, way in WAYS.items()
            }
            same = np.array_equal(calls["one thread"](), calls["two threads"](), equal_nan=True)
            # One after the other in turn, so that what else the machine does hits all alike.
            seconds = dict.fromkeys(WAYS, float("inf"))
            for _ in range(repeats):
                for name, call in calls.items():
                    begin = time.perf_counter()
                    call()
                    seconds[name] = min(seconds[name], time.perf_counter() - begin)
            one, *others = seconds.values()
            figures = [f"{one:.2f} s", *(f"{one / other:.2f}" for other in others)]
            figures.append("yes" if same else "no")
            yield f"| {mean} | {order} | {text} | {' | '.join(figures)} |"


def main():
    options = arguments(__doc__, rows=10_000_000, repeats=7)
    rng = np.random.default_rng(0)
    before = os.getloadavg()[0]
    lines = [
        line for mean in (100, 10) for line in table_rows(rng, mean, options.rows, options.repeats)
    ]
    head = (
        "| documents per query | rows | measures | one thread | two threads: times as fast | "
        "two processes: times as fast | same to the bit |"
    )
    text = f"""
{options.rows:,} rows. Seconds by the clock, checks and finding the queries (one thread
always) included, least of {options.repeats}, the ways in turn. Processes are forked, share all
arrays, and return nothing: no way of theirs could be faster. Load of the machine, of 2 processors,
a minute's mean: {before:.1f} before, {os.getloadavg()[0]:.1f} after; beside other work neither way
can show what it has.

{head}
|{" --- |" * 7}
{chr(10).join(lines)}
"""
    write_report("two_threads", "What a second thread gains", text)


if __name__ == "__main__":
    main()

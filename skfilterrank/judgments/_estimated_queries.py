"""Values from topics that were judged whole, and machine labels of all: PPI++ over topics.

Angelopoulos, Duchi and Zrnic, "PPI++: Efficient prediction-powered inference", 2023: with f the
values of judged topics by people's labels and m those of all topics by machine labels,
``mean of judged f + lambda * (mean of all m - mean of judged m)``, lambda such that the variance
is smallest. Any measure will do.
"""

import numpy as np

from skfilterrank._lists.gains import as_gains
from skfilterrank.exceptions import InputError, brief
from skfilterrank.io import QrelsIndex
from skfilterrank.judgments._estimates import Estimates, MeasureEstimate
from skfilterrank.metrics import evaluate_runs

_LEAST = 5


def estimate_from_queries(runs, sample, parsed, pool, *, target, gains, confidence) -> Estimates:
    """Estimate measures from whole topics."""
    topics, share = _judged_topics(sample, pool)
    n_all, n_judged = len(pool.topics), len(topics)
    judged = sample.reset_index()[["qid", "docno", "label"]]
    values = _values(judged, runs, parsed, gains, topics, pool.runs)
    guesses = [
        _values(_labels(pool, labels), runs, parsed, gains, pool.topics, pool.runs)
        for labels in pool.machine.values()
    ]
    is_judged = pool.topics.isin(topics)
    grades = as_gains(sample["label"].to_numpy(), gains, name="qrels")
    results = {}
    for number, text in enumerate(parsed):
        by_people = values[number]
        by_machine = [guess[number] for guess in guesses]
        machine = np.mean(by_machine, axis=0) if guesses else np.zeros((len(pool.runs), n_all))
        trust = _trust(by_people, machine[:, is_judged], 1 - share)
        rest = by_people - trust * machine[:, is_judged]
        estimate = rest.mean(axis=1) + trust * machine.mean(axis=1)
        away = rest - rest.mean(axis=1, keepdims=True)
        degrees = n_judged - 1 - bool(guesses)
        deviations = away.T * np.sqrt((1 - share) / (n_judged * degrees))
        if target == "new topics":
            own = by_people - by_people.mean(axis=1, keepdims=True)
            own = own.T * np.sqrt(share / (n_judged * (n_judged - 1)))
            deviations = np.vstack([deviations, own])
        results[text] = MeasureEstimate(
            values=estimate,
            deviations=deviations,
            order_values=estimate,
            greater_is_better=parsed[text].measure.greater_is_better,
            value_range=parsed[text].measure.range_for(grades),
            probability=np.full(n_judged, share),
            matters=np.full(n_judged, True),
            n_certain=0,
            n_possible=len(pool),
            by_topic=by_people,
            is_ratio=False,
        )
    return Estimates(
        runs=pool.runs,
        results=results,
        target=target,
        unit="query",
        confidence=confidence,
        n_judged=len(sample),
        n_possible=len(pool),
        n_other=0,
        topics=tuple(pool.topics),
    )


def _judged_topics(sample, pool):
    """Topics that were judged whole, and their common probability."""
    missing = pool.index.difference(sample.index)
    pool_rows = pool.rows_of(sample.index, "qrels")
    topics = pool.topics[np.unique(pool.codes[pool_rows])]
    lost = missing[missing.get_level_values("qid").isin(topics)]
    if len(lost):
        raise InputError(
            f"unit='query' takes topics of which all documents are judged, and {len(lost):,} of "
            f"judged topics are not, such as document {brief(lost[0][1])} of topic "
            f"{brief(lost[0][0])}: judge them, or estimate with unit='document'."
        )
    shares = sample["inclusion_probability"].unique()
    if len(shares) > 1 or not np.isclose(shares[0], len(topics) / len(pool.topics), rtol=1e-6):
        raise InputError(
            f"unit='query' takes topics drawn with one probability, that of {len(topics)} of "
            f"{len(pool.topics)} topics: {len(topics) / len(pool.topics):g}, got "
            f"{', '.join(f'{share:g}' for share in shares[:3])}. Draw by "
            "draw_sample(..., unit='query')."
        )
    if len(topics) < min(_LEAST, len(pool.topics)):
        raise InputError(
            f"unit='query' needs at least {_LEAST} judged topics, got {len(topics)}: judge more."
        )
    return topics, float(shares[0])


def _labels(pool, labels):
    frame = pool.index.to_frame(index=False).assign(label=labels)
    return frame.dropna(subset="label")


def _values(qrels, runs, parsed, gains, topics, names):
    """Values by some labels: (n_measures, n_runs, n_topics)."""
    # What their labels mean was asked about when they were read.
    index = QrelsIndex(qrels, unjudged_label=None, predicted="use")
    values = evaluate_runs(index, runs, parsed, gains=gains).per_query
    columns = [
        # A topic without any label of a machine has the value of no relevant document.
        values[text].unstack().reindex(index=names, columns=topics).fillna(0.0).to_numpy()
        for text in parsed
    ]
    return np.stack(columns)


def _trust(people, machine, rest):
    """Factor of the machine's values with the smallest variance, from 0 to 1."""
    people = people - people.mean(axis=1, keepdims=True)
    machine = machine - machine.mean(axis=1, keepdims=True)
    square = (machine**2).sum()
    if square <= 0 or rest <= 0:
        return 0.0
    return float(np.clip((people * machine).sum() / square, 0.0, 1.0))

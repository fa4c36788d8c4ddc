"""All 143 runs of TREC-COVID round 1: the same values as trec_eval, and how fast.

Compares every topic of every run with pytrec_eval-terrier and every mean with the official
leaderboard, and lexirecall's preferences with an element-by-element comparison of all pairs.
"""

import time
from importlib.metadata import version
from itertools import combinations

import numpy as np
import pandas as pd
import pytrec_eval
from _common import arguments, write_report

from skfilterrank.io import QrelsIndex, read_qrels, read_run
from skfilterrank.metrics import PreferenceMatrix, relevant_positions
from skfilterrank.trec import evaluate_run

# Documents of the collection; of any two runs every size prefers the same one.
N_ITEMS = 1_000_000

# Our name, trec_eval's name of the value, trec_eval's name of the measure.
SAME = [
    ("ap", "map", "map"),
    ("ap@100", "map_cut_100", "map_cut"),
    ("ndcg_0", "ndcg", "ndcg"),
    ("ndcg_0@5", "ndcg_cut_5", "ndcg_cut"),
    ("ndcg_0@10", "ndcg_cut_10", "ndcg_cut"),
    ("ndcg_0@20", "ndcg_cut_20", "ndcg_cut"),
    ("ndcg_0@1000", "ndcg_cut_1000", "ndcg_cut"),
    ("precision@5", "P_5", "P"),
    ("precision@10", "P_10", "P"),
    ("precision@20", "P_20", "P"),
    ("precision@1000", "P_1000", "P"),
    ("r_precision", "Rprec", "Rprec"),
    ("rr", "recip_rank", "recip_rank"),
    ("recall@10", "recall_10", "recall"),
    ("recall@100", "recall_100", "recall"),
    ("recall@1000", "recall_1000", "recall"),
    ("bpref", "bpref", "bpref"),
    ("inferred_ap", "infAP", "infAP"),
]
# RBP takes a partially relevant document for half a relevant one; so does nDCG, in proportion.
HALVES = {0: 0, 1: 0.5, 2: 1}
# Column of the leaderboard by our name.
LEADERBOARD = {
    "ndcg_0@10": "ndcg@10",
    "precision@5": "p@5",
    "rbp(persistence=0.5,relevance=graded)": "RBP(p=.5)",
    "bpref": "bpref",
    "ap": "MAP",
}
TEN = [
    ("ap", "map"),
    ("ndcg_0@10", "ndcg_cut.10"),
    ("ndcg_0", "ndcg"),
    ("precision@10", "P.10"),
    ("recall@1000", "recall.1000"),
    ("r_precision", "Rprec"),
    ("rr", "recip_rank"),
    ("bpref", "bpref"),
    ("inferred_ap", "infAP"),
    ("ap@100", "map_cut.100"),
]


def nested(frame, column, kind):
    """The dicts of dicts that pytrec_eval takes."""
    return {
        qid: dict(zip(rows["docno"], rows[column].astype(kind).tolist()))
        for qid, rows in frame.groupby("qid")
    }


def same_values(aligned, theirs, judgments):
    """Largest difference of any topic of any run, by measure."""
    evaluator = pytrec_eval.RelevanceEvaluator(judgments, {measure for *_, measure in SAME})
    largest = dict.fromkeys([ours for ours, *_ in SAME], 0.0)
    for name, run in theirs.items():
        expected = pd.DataFrame.from_dict(evaluator.evaluate(run), orient="index")
        actual = evaluate_run(None, aligned[name], list(largest))
        assert list(actual.index) == sorted(expected.index)
        for ours, value, _ in SAME:
            difference = np.abs(actual[ours] - expected[value][actual.index]).max()
            largest[ours] = max(largest[ours], float(difference))
    return largest


def leaderboard(path, aligned):
    """Largest difference of a mean from the leaderboard, and how many round to its digits."""
    official = pd.read_csv(path).set_index("run")
    means = pd.DataFrame(
        {
            name: evaluate_run(None, run, list(LEADERBOARD), gains=HALVES).mean()
            for name, run in aligned.items()
        }
    ).T
    found = {}
    for ours, column in LEADERBOARD.items():
        difference = (means[ours] - official[column][means.index]).abs()
        equal = difference <= 0.5e-4 + 1e-9
        found[column] = (difference.max(), int(equal.sum()), ", ".join(equal.index[~equal]))
    return found, len(means)


def preferences(aligned):
    """Lexirecall between all pairs on all topics: by sorting, as numbers, and directly.

    Returns the number of comparisons, of those that sorting and comparing decide differently, of
    those that the score orders the other way, of ties, and of ties of the score alone.
    """
    positions = {
        name: relevant_positions(
            run.y_true, run.y_score, groups=run.index, ties="stable", n_items=N_ITEMS
        )
        for name, run in aligned.items()
    }
    sorted_out = PreferenceMatrix.from_positions(positions).preferences
    scores = np.array(
        [evaluate_run(None, run, ["lexirecall"]).to_numpy()[:, 0] for run in aligned.values()]
    )
    n_topics = len(next(iter(positions.values())))
    counts = dict.fromkeys(("compared", "different", "reversed", "tied", "score ties"), 0)
    for topic in range(n_topics):
        lists = [[int(place) for place in each[topic]] for each in positions.values()]
        for first, second in combinations(range(len(lists)), 2):
            directly = compare(lists[first], lists[second])
            difference = np.sign(scores[first, topic] - scores[second, topic])
            counts["compared"] += 1
            counts["different"] += directly != sorted_out[topic, first, second]
            counts["reversed"] += directly * difference < 0
            counts["tied"] += directly == 0
            counts["score ties"] += directly != 0 and difference == 0
    return counts


def compare(first, second):
    """Equation 11, one element after the other from the end."""
    for one, other in zip(reversed(first), reversed(second), strict=True):
        if one != other:
            return 1 if one < other else -1
    return 0


def speed(aligned, theirs, judgments, repeats=5):
    """Seconds of ten measures over all runs: ours, pytrec_eval's, best of several."""
    evaluator = pytrec_eval.RelevanceEvaluator(judgments, {theirs for _, theirs in TEN})
    wanted = [ours for ours, _ in TEN]
    ours_best = theirs_best = float("inf")
    for _ in range(repeats):
        begin = time.perf_counter()
        for run in aligned.values():
            evaluate_run(None, run, wanted)
        middle = time.perf_counter()
        for run in theirs.values():
            evaluator.evaluate(run)
        end = time.perf_counter()
        ours_best = min(ours_best, middle - begin)
        theirs_best = min(theirs_best, end - middle)
    return ours_best, theirs_best


def main():
    options = arguments(__doc__)
    folder = options.data / "trec-covid-round1"
    qrels = read_qrels(folder / "qrels.txt.gz")
    index = QrelsIndex(qrels)
    runs = {
        path.name.removesuffix(".txt.gz"): read_run(path)
        for path in sorted((folder / "runs").iterdir())
    }
    aligned = {name: index.align(run) for name, run in runs.items()}
    theirs = {name: nested(run, "score", float) for name, run in runs.items()}
    judgments = nested(qrels, "label", int)

    differences = "\n".join(
        f"| {ours} | {value} | {largest:.1e} |"
        for (ours, value, _), largest in zip(
            SAME, same_values(aligned, theirs, judgments).values(), strict=True
        )
    )
    board, n_runs = leaderboard(folder / "leaderboard.csv", aligned)
    official = "\n".join(
        f"| {ours} | {column} | {board[column][0]:.5f} | {board[column][1]} of {n_runs} | "
        f"{board[column][2]} |"
        for ours, column in LEADERBOARD.items()
    )
    counts = preferences(aligned)
    ours, pytrec = speed(aligned, theirs, judgments)
    n_values = sum(run.index.n_queries for run in aligned.values())
    lines = sum(map(len, runs.values()))
    text = f"""
{n_runs} runs, {lines:,} lines, {len(index.topics)} topics, {index.n_judged:,} judgments. Ties are
broken by document id, as trec_eval does.

## The same values as trec_eval

Largest difference over all {n_values:,} topics of runs from pytrec_eval-terrier
{version("pytrec_eval-terrier")}.

| measure | trec_eval | largest difference |
| --- | --- | --- |
{differences}

## The leaderboard

Means over topics and the official scores, which have four digits.

| measure | column | largest difference | equal in all printed digits | others |
| --- | --- | --- | --- | --- |
{official}

## Lexirecall

{counts["compared"]:,} comparisons of two runs on a topic, {counts["tied"]:,} of them ties. Sorting
all runs of a topic at once decides {counts["different"]:,} of them differently from comparing the
positions of the relevant documents one by one. The score on the log scale orders
{counts["reversed"]:,} the other way, and cannot tell {counts["score ties"]:,} apart that the
preference does.

## Speed

Ten measures ({", ".join(name for name, _ in TEN)}) of every topic of all runs, once both hold
their own structures, best of 5 in turns: {ours:.2f} s, pytrec_eval {pytrec:.2f} s,
**{pytrec / ours:.1f} times as fast**.
"""
    write_report("trec_covid_round1", "All runs of TREC-COVID round 1", text)


if __name__ == "__main__":
    main()

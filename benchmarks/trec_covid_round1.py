"""All 143 runs of TREC-COVID round 1: the same values as trec_eval, how fast, and fused.

    python benchmarks/trec_covid_round1.py [values] [evaluation] [reading] [fusion]

`values` compares every topic of every run with pytrec_eval-terrier, every mean with the official
leaderboard, and lexirecall's preferences with an element-by-element comparison of all pairs.
`evaluation` starts at packed files and ends at eight measures of every topic of every run, in one
process and thread, each package as its documentation shows. `reading` times readers of runs, and
the join with judgments. `fusion` fuses ten runs, without labels (results/fusion_trec_covid.md).
"""

import gzip
import tempfile
import time
import tracemalloc
from importlib.metadata import version
from itertools import combinations
from pathlib import Path

import ir_measures
import numpy as np
import pandas as pd
import pytrec_eval
from _common import best_time, run_parts, write_report

from skfilterrank._lists.positions import PreferenceMatrix, positions_of, ranked_lists
from skfilterrank.comparison import compare_systems, score_systems
from skfilterrank.io import QrelsIndex, read_qrels, read_run
from skfilterrank.metrics import evaluate_runs
from skfilterrank.ranking import fuse_runs

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
        actual = evaluate_runs(None, {name: aligned[name]}, list(largest)).per_query.loc[name]
        assert list(actual.index) == sorted(expected.index)
        for ours, value, _ in SAME:
            difference = np.abs(actual[ours] - expected[value][actual.index]).max()
            largest[ours] = max(largest[ours], float(difference))
    return largest


def leaderboard(path, aligned):
    """Largest difference of a mean from the leaderboard, and how many round to its digits."""
    official = pd.read_csv(path).set_index("run")
    means = evaluate_runs(None, aligned, list(LEADERBOARD), gains=HALVES).means
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
    how = {"ties": "stable", "gains": None, "unjudged": "zero"}
    positions = {
        name: positions_of(ranked_lists(run.y_true, run.y_score, groups=run.index, **how), N_ITEMS)
        for name, run in aligned.items()
    }
    ranks = PreferenceMatrix.from_positions(positions).ranks.to_numpy()
    sorted_out = np.sign(ranks[:, None, :] - ranks[:, :, None])
    values = evaluate_runs(None, aligned, "lexirecall").per_query["lexirecall"]
    scores = values.to_numpy().reshape(len(aligned), -1)
    n_topics = len(next(iter(positions.values())))
    counts = dict.fromkeys(("compared", "different", "reversed", "tied", "score ties"), 0)
    for topic in range(n_topics):
        lists = [
            np.split(each.positions, each.starts[1:])[topic].tolist() for each in positions.values()
        ]
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
        evaluate_runs(None, aligned, wanted)
        middle = time.perf_counter()
        for run in theirs.values():
            evaluator.evaluate(run)
        end = time.perf_counter()
        ours_best = min(ours_best, middle - begin)
        theirs_best = min(theirs_best, end - middle)
    return ours_best, theirs_best


def collection(options):
    """Folder, judgments, their index and the runs by name."""
    folder = options.data / "trec-covid-round1"
    qrels = read_qrels(folder / "qrels.txt.gz")
    paths = sorted((folder / "runs").iterdir())
    runs = {path.name.removesuffix(".txt.gz"): read_run(path) for path in paths}
    return folder, qrels, QrelsIndex(qrels), runs


def values(options):
    """Report on values and preferences."""
    folder, qrels, index, runs = collection(options)
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
{n_runs} runs, {lines:,} lines, {len(index.queries)} topics, {index.n_judged:,} judgments. Ties are
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


# Our name, trec_eval's, that of ir_measures.
MEASURES = [
    ("ap", "map", "AP"),
    ("ndcg_0@10", "ndcg_cut_10", "nDCG@10"),
    ("ndcg_0", "ndcg", "nDCG"),
    ("precision@10", "P_10", "P@10"),
    ("recall@1000", "recall_1000", "R@1000"),
    ("rr", "recip_rank", "RR"),
    ("bpref", "bpref", "Bpref"),
    ("r_precision", "Rprec", "Rprec"),
]


def by_skfilterrank(qrels, runs):
    """Values by run, topic and our name of the measure."""
    ours = [name for name, *_ in MEASURES]
    values = evaluate_runs(qrels, runs, ours, missing="drop", precision="single").per_query
    return {
        (run.removesuffix(".txt.gz"), topic): row
        for (run, topic), row in zip(values.index, values.to_numpy().tolist())
    }


def by_pytrec_eval(qrels, runs):
    """The same, read by its own functions."""
    theirs = [name for _, name, _ in MEASURES]
    with gzip.open(qrels, "rt") as file:
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(file), set(theirs))
    values = {}
    for path in runs:
        with gzip.open(path, "rt") as file:
            topics = evaluator.evaluate(pytrec_eval.parse_run(file))
        for topic, row in topics.items():
            values[path.name.removesuffix(".txt.gz"), topic] = [row[name] for name in theirs]
    return values


def by_ir_measures(qrels, runs):
    """The same, read by its own functions; it counts topics that a run lacks as 0."""
    measures = [ir_measures.parse_measure(name) for *_, name in MEASURES]
    evaluator = ir_measures.evaluator(measures, list(ir_measures.read_trec_qrels(str(qrels))))
    values = {}
    for path in runs:
        for value in evaluator.iter_calc(ir_measures.read_trec_run(str(path))):
            key = path.name.removesuffix(".txt.gz"), value.query_id
            values.setdefault(key, [None] * len(measures))[measures.index(value.measure)] = (
                value.value
            )
    return values


WAYS = {
    "skfilterrank: `evaluate_runs(qrels, paths, measures)`": by_skfilterrank,
    "pytrec_eval: `parse_run`, `RelevanceEvaluator.evaluate`": by_pytrec_eval,
    "ir_measures: `read_trec_run`, `evaluator.iter_calc`": by_ir_measures,
}


def evaluation(options):
    """Report on the time from files to values."""
    folder = options.data / "trec-covid-round1"
    runs, qrels = sorted(folder.glob("runs/*.txt.gz")), folder / "qrels.txt.gz"
    wall, cpu, values = {}, {}, {}
    for _ in range(options.repeats):
        for name, way in WAYS.items():
            begin, begin_cpu = time.perf_counter(), time.process_time()
            values[name] = way(qrels, runs)
            wall.setdefault(name, []).append(time.perf_counter() - begin)
            cpu.setdefault(name, []).append(time.process_time() - begin_cpu)
    ours, *others = WAYS
    largest = max(
        np.abs(np.subtract(row, values[other][key])).max()
        for other in others
        for key, row in values[ours].items()
    )
    lines = [
        f"| {name} | {min(wall[name]):.2f} s | {min(wall[name]) / min(wall[ours]):.1f} | "
        f"{min(cpu[name]):.2f} s | {min(cpu[name]) / min(cpu[ours]):.1f} |"
        for name in WAYS
    ]
    text = f"""
pytrec_eval-terrier {version("pytrec_eval-terrier")}, ir_measures {version("ir_measures")}.
{len(runs)} runs, gzip, from files to the values of every topic of {len(MEASURES)} measures
({", ".join(name for name, *_ in MEASURES)}), in one process and thread, imports not counted.
Shortest of {options.repeats} rounds in which all ways take turns. The largest difference between
any two values of the {len(values[ours]):,} topics of runs is {largest:.1e}.

| | wall | times ours | processor | times ours |
| --- | --- | --- | --- | --- |
{chr(10).join(lines)}
"""
    write_report("evaluation_speed", "Evaluating runs, from files to values", text)


COLUMNS = ["qid", "q0", "docno", "rank", "score", "run"]


def reading_by_ir_measures(path, index):
    """What ir_measures' reader takes to fill dictionaries."""
    run = {}
    for row in ir_measures.read_trec_run(str(path)):
        run.setdefault(row.query_id, {})[row.doc_id] = row.score


def by_pandas(path, index):
    """Reading alone, at its fastest: columns of numbers stay numbers, ids too."""
    pd.read_csv(path, sep=" ", header=None, names=COLUMNS)


def by_pandas_with_ids(path, index):
    """Reading alone, ids as they are written."""
    pd.read_csv(path, sep=r"\s+", header=None, names=COLUMNS, dtype={"qid": str, "docno": str})


def unzipping(path, index):
    """What no reader can do without."""
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        gzip.decompress(data)


def by_frame(path, index):
    """read_run, then align."""
    index.align(read_run(path))


def by_path(path, index):
    """Align straight from the file."""
    index.align(path)


READING_WAYS = {
    "ir_measures: `read_trec_run` into dictionaries": reading_by_ir_measures,
    "`pandas.read_csv`, ids parsed as numbers": by_pandas,
    "`pandas.read_csv`, ids as text": by_pandas_with_ids,
    "`gzip.decompress`": unzipping,
    "`index.align(read_run(path))`": by_frame,
    "`index.align(path)`": by_path,
}


def table(paths, index, repeats, ways=READING_WAYS):
    """Seconds of each way, shortest of several rounds that take turns."""
    seconds = dict.fromkeys(ways, np.inf)
    for _ in range(repeats):
        for name in ways:
            begin = time.perf_counter()
            for path in paths:
                ways[name](path, index)
            seconds[name] = min(seconds[name], time.perf_counter() - begin)
    slowest = next(iter(seconds.values()))
    rows = [f"| {name} | {s:.2f} s | {slowest / s:.1f} |" for name, s in seconds.items()]
    return "\n".join(["| | seconds | times faster |", "| --- | --- | --- |", *rows])


def generated_run(folder, n_rows, kind):
    """A run of 1,000 documents a topic with 25-character ids, and judgments of 1 % of them."""
    rng = np.random.default_rng(0)
    topics = np.repeat(np.arange(n_rows // 1000) + 1, 1000)
    numbers = rng.permutation(50_000_000)[: len(topics)]
    score = np.sort(rng.normal(size=(len(topics) // 1000, 1000)))[:, ::-1].ravel() * 5 + 20
    texts = {"6 decimals": [f"{s:.6f}" for s in score], "full precision": map(repr, score.tolist())}
    rows = zip(topics.tolist(), numbers.tolist(), texts[kind], strict=True)
    path = folder / f"{kind}.txt"
    with open(path, "w") as file:
        for i, (topic, number, text) in enumerate(rows):
            docno = f"clueweb09-en{number // 100000:04}-{number // 1000 % 100:02}-{number:05}"
            file.write(f"{topic} Q0 {docno} {i % 1000 + 1} {text} generated\n")
    qrels = read_run(path).iloc[::100]
    return path, QrelsIndex(qrels.assign(label=rng.integers(0, 3, len(qrels))))


def memory(path, index):
    """Peak memory of both ways of ours, in multiples of the file."""
    size = path.stat().st_size
    for way in (by_frame, by_path):
        tracemalloc.start()
        way(path, index)
        yield tracemalloc.get_traced_memory()[1] / size
        tracemalloc.stop()


def reading(options):
    """Report on reading."""
    folder = options.data / "trec-covid-round1"
    paths = sorted(folder.glob("runs/*.txt.gz"))
    index = QrelsIndex(folder / "qrels.txt.gz")
    n_lines = sum(gzip.decompress(path.read_bytes()).count(b"\n") for path in paths)
    parts = [
        f"ir_measures {version('ir_measures')}. Shortest of {options.repeats} rounds in which all "
        "ways take turns, one thread. The judgments are indexed once, before.",
        f"## The {len(paths)} runs of TREC-COVID round 1, {n_lines:,} lines, gzip",
        table(paths, index, options.repeats),
    ]
    with tempfile.TemporaryDirectory() as temporary:
        for kind in ("6 decimals", "full precision"):
            path, index = generated_run(Path(temporary), options.rows, kind)
            by_frame_peak, by_path_peak = memory(path, index)
            parts += [
                f"## One run of {options.rows:,} lines, scores with {kind}, "
                f"{path.stat().st_size / 1e6:.0f} MB, plain text",
                table([path], index, options.repeats),
                f"Peak memory that Python traces: {by_frame_peak:.1f} times the file for "
                f"`index.align(read_run(path))`, {by_path_peak:.1f} times for `index.align(path)`.",
            ]
    write_report("trec_reading", "Reading TREC runs", "\n\n".join(parts))


FUSED = ("ndcg_0@10", "ap")
DEPTH = 1000
FUSIONS = {
    "RRF": {"method": "rrf"},
    "Borda": {"method": "borda"},
    "CombSUM": {"method": "combsum"},
    "CombMNZ": {"method": "combmnz"},
}
CHOICES = (
    ("best", "The ten best runs of different teams by AP"),
    ("random", "Ten runs at random"),
)


def teams_best(scores, teams):
    """The best run of each of the ten best teams."""
    order = scores.sort_values(ascending=False).index
    return list(order.to_series().groupby(teams.reindex(order).to_numpy(), sort=False).first())[:10]


def fused_table(fused, runs, index):
    """Lines of one table: means and differences from the best of the ten runs, with intervals."""
    systems = runs | fused
    values = score_systems(index, systems, list(FUSED))
    best = {name: values[name].means[list(runs)].idxmax() for name in FUSED}
    lines = [
        "| list | nDCG@10 | over the best run | AP | over the best run |",
        "| --- | --- | --- | --- | --- |",
    ]
    cells = {name: {} for name in systems}
    for measure in FUSED:
        scores, means = values[measure], values[measure].means
        tested = compare_systems(
            scores, test="t", correction="holm", baseline=best[measure]
        ).to_frame()
        tested = tested.reset_index().set_index("first")
        for name in systems:
            cells[name][measure] = f"{means[name]:.4f}"
            if name in fused:
                row = tested.loc[name]
                cells[name][measure + " difference"] = (
                    f"{row['difference']:+.3f} ({row['low']:+.3f} to {row['high']:+.3f})"
                )
    shown = [*dict.fromkeys(best.values()), *fused]
    for name in shown:
        label = f"best run: {name}" if name in runs else name
        lines.append(
            f"| {label} | "
            + " | ".join(
                cells[name].get(key, "")
                for measure in FUSED
                for key in (measure, measure + " difference")
            )
            + " |"
        )
    middle = {name: values[name].means[list(runs)].median() for name in FUSED}
    lines.append(f"| median of the ten | {middle[FUSED[0]]:.4f} | | {middle['ap']:.4f} | |")
    return "\n".join(lines)


def fusion(options):
    """Report on ten good runs and ten at random."""
    folder, _, index, everything = collection(options)
    ap = score_systems(index, everything, "ap")["ap"].means
    rng = np.random.default_rng(options.seed)
    chosen = {
        "best": teams_best(ap, read_teams(folder, ap.index)),
        "random": sorted(rng.choice(list(everything), size=10, replace=False)),
    }
    parts, seconds = [], {}
    for key, title in CHOICES:
        runs = {name: everything[name] for name in chosen[key]}
        fused = {}
        for name, how in FUSIONS.items():
            seconds[name], fused[name] = best_time(
                lambda how=how, runs=runs: fuse_runs(runs, **how)
            )
        # As long as the runs: whoever returns more finds more.
        fused = {name: run.groupby("qid").head(DEPTH) for name, run in fused.items()}
        parts.append(f"## {title}\n\n{', '.join(runs)}.\n\n{fused_table(fused, runs, index)}")
    times = "\n".join(f"| {name} | {value:.2f} s |" for name, value in seconds.items())
    n_lines = sum(len(everything[name]) for name in chosen["random"])
    text = f"""
{len(index.queries)} topics, ten runs at a time; fused lists are cut to {DEPTH:,} documents, as runs
are. Differences are from the best of the ten runs, which
only the judgments show; intervals are of Student's t over topics, at 95 %, not corrected for the
number of fusions. Unjudged documents count as not relevant in the measures.

Judged are pools of what some runs put high, and unjudged counts as bad: that favours what several
runs put high, and with it fusion, in AP above all.

{parts[0]}

{parts[1]}

## Time

Ten runs, {n_lines:,} lines, one processor.

| fusion | time |
| --- | --- |
{times}
"""
    write_report("fusion_trec_covid", "Fusion of ten runs of TREC-COVID round 1", text)


def read_teams(folder, names):
    """Team of each run."""
    board = pd.read_csv(folder / "leaderboard.csv").set_index("run")
    column = next(name for name in ("team", "group", "organization") if name in board)
    return board[column].reindex(names)


if __name__ == "__main__":
    parts = {"values": values, "evaluation": evaluation, "reading": reading, "fusion": fusion}
    run_parts(__doc__, parts, rows=1_000_000, repeats=3, seed=0)

"""Runs as text and in a folder of Parquet files; writing runs; the start of `evaluate`."""

import os
import resource
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from _common import arguments, write_report

from skfilterrank.io import QrelsIndex, read_run, read_runs, write_run, write_runs
from skfilterrank.trec import evaluate_runs, iter_evaluations

FEW = ["ndcg_f@10", "ap"]
DEFAULT = ["ndcg_f@10", "rr", "ap", "recall@1000", "lexirecall", "judged@10"]
# Measures all runs, keeps no values, and prints the most memory that it had, in MB.
PEAK = """
import sys
from skfilterrank.trec import iter_evaluations
for each in iter_evaluations(sys.argv[1], sys.argv[2:], ["ndcg_f@10", "ap"]):
    pass
print(int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) / 1024)
"""


def cpu(function, repeats=3):
    """Least CPU seconds of several calls."""
    best = np.inf
    for _ in range(repeats):
        begin = time.process_time()
        function()
        best = min(best, time.process_time() - begin)
    return best


def cpu_of_process(*words, repeats=5):
    """Least CPU seconds of several processes, those of what they start included."""
    best = np.inf
    for _ in range(repeats):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *words], check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best


def generated(folder, n_runs, n_topics=1000, depth=1000):
    """Runs of a collection of three million documents, and judgments of 60 a topic."""
    rng = np.random.default_rng(0)
    topics = np.repeat(np.arange(n_topics).astype(str), depth)
    paths, judged = [], []
    for number in range(n_runs):
        documents = np.concatenate(
            [rng.choice(3_000_000, depth, replace=False) for _ in range(n_topics)]
        )
        scores = np.sort(rng.gamma(2, 5, (n_topics, depth)).round(6))[:, ::-1].ravel()
        run = pd.DataFrame({"qid": topics, "docno": documents, "score": scores})
        run["docno"] = "D" + run["docno"].astype(str).str.zfill(7)
        judged.append(run.groupby("qid").head(60 // n_runs)[["qid", "docno"]])
        paths.append(folder / f"run{number}.txt.gz")
        write_run(paths[-1], run)
    qrels = pd.concat(judged).drop_duplicates()
    qrels = qrels.assign(label=rng.integers(0, 3, len(qrels)))
    qrels.to_csv(folder / "qrels.csv", index=False)
    return paths, folder / "qrels.csv"


def compare(paths, qrels, stored, repeats):
    """Table of CPU seconds of text and of the folder, and whether values are the same."""
    index = QrelsIndex(qrels, unjudged_label=None)

    def joined(runs):
        for _ in iter_evaluations(index, runs, "judged@1"):
            pass

    works = {
        "reading and joining (with judged@1)": joined,
        f"`evaluate_runs`, {len(FEW)} measures": lambda runs: evaluate_runs(index, runs, FEW),
        f"`evaluate_runs`, the {len(DEFAULT)} measures of the command": lambda runs: evaluate_runs(
            index, runs, DEFAULT
        ),
    }
    rows = [reading(paths, stored, repeats)]
    for name, work in works.items():
        text = cpu(partial(work, paths), repeats)
        folder = cpu(partial(work, stored), 3)
        rows.append(f"| {name} | {text:.2f} | {folder:.3f} | {text / folder:.1f} |")
    same = evaluate_runs(index, paths, DEFAULT).equals(evaluate_runs(index, stored, DEFAULT))
    begin = ["| | text, CPU s | folder, CPU s | times |", "| --- | --- | --- | --- |"]
    return "\n".join(begin + rows) + f"\n\nValues are the same to the bit: {same}."


def reading(paths, stored, repeats):
    """Reading rows alone, documents checked for repetition (text) or by number (folder)."""
    from skfilterrank._files.run_folders import stored_runs
    from skfilterrank.io._trec.read import run_rows

    text = cpu(lambda: [len(run_rows(path).codes) for path in paths], repeats)
    runs = stored_runs(stored).values()
    folder = cpu(lambda: [len(run_rows(run).codes) for run in runs], 3)
    return f"| reading | {text:.2f} | {folder:.3f} | {text / folder:.1f} |"


def size(paths):
    """MB of files."""
    return sum(os.path.getsize(path) for path in paths) / 1e6


def covid(data, folder):
    """The 143 runs of TREC-COVID round 1."""
    paths = sorted((data / "runs").iterdir())
    stored = folder / "covid.parquet"
    seconds = cpu(lambda: write_runs(stored, paths), 1)
    lines = sum(map(len, read_runs(stored).values()))
    command = ["-m", "skfilterrank", "evaluate", str(data / "qrels.txt.gz")]
    measures = ["-m", ",".join(FEW), "--holes", "unjudged-label=none"]
    text = cpu_of_process(*command, *map(str, paths), *measures, repeats=1)
    fast = cpu_of_process(*command, str(stored), *measures, repeats=1)
    return f"""\
## The 143 runs of TREC-COVID round 1, {lines:,} lines, gzip

{compare(paths, data / "qrels.txt.gz", stored, 1)}

The command `evaluate` with two measures, its start included: {text:.2f} CPU s for text,
{fast:.2f} for the folder, {text / fast:.1f} times. Converting took {seconds:.1f} CPU s;
{size(paths):.0f} MB of text (gzip) are {size(stored.iterdir()):.0f} MB.
"""


def large(folder, n_runs):
    """Generated runs of a million lines."""
    paths, qrels = generated(folder, n_runs)
    stored = folder / "large.parquet"
    seconds = cpu(lambda: write_runs(stored, paths), 1)
    half = folder / "half.parquet"
    write_runs(half, paths[: n_runs // 2])
    peaks = {
        name: float(
            subprocess.run(
                [sys.executable, "-c", PEAK, str(qrels), *map(str, runs)],
                check=True,
                capture_output=True,
                text=True,
            ).stdout
        )
        for name, runs in {
            f"{n_runs // 2} runs as text": paths[: n_runs // 2],
            f"{n_runs} runs as text": paths,
            f"{n_runs // 2} runs in a folder": [half],
            f"{n_runs} runs in a folder": [stored],
        }.items()
    }
    shown = "\n".join(f"| {name} | {peak:.0f} |" for name, peak in peaks.items())
    return f"""\
## {n_runs} generated runs of 1,000,000 lines, 1,000 topics, gzip

{compare(paths, qrels, stored, 1)}

Converting took {seconds:.1f} CPU s; {size(paths):.0f} MB of text (gzip) are
{size(stored.iterdir()):.0f} MB.

Most memory of a process that measures them (MB, with Python and pandas):

| | MB |
| --- | --- |
{shown}

## Writing a run of 1,000,000 lines

{writing(folder, paths[0])}
"""


def writing(folder, path):
    """CPU seconds of writing a run, beside pandas."""
    run = read_run(path)
    run["score"] = -np.sort(-np.random.default_rng(0).random(len(run)))
    ours = cpu(lambda: write_run(folder / "written.txt", run))
    run = run.assign(q0="Q0")[["qid", "q0", "docno", "rank", "score", "run"]]
    theirs = cpu(lambda: run.to_csv(folder / "theirs.txt", sep=" ", header=False, index=False), 1)
    return (
        f"Scores of 16 digits. `write_run`: {ours:.2f} CPU s, sorting, checks and ranks included; "
        f"`DataFrame.to_csv`: {theirs:.2f}, {theirs / ours:.1f} times."
    )


def start(folder):
    """CPU seconds of the shortest `evaluate`, beside those of importing pandas."""
    (folder / "q.txt").write_text("1 0 a 1\n1 0 b 0\n")
    (folder / "r.txt").write_text("1 Q0 a 1 0.5 x\n1 Q0 b 2 0.25 x\n")
    words = ["-m", "skfilterrank", "evaluate", str(folder / "q.txt"), str(folder / "r.txt")]
    pandas, ours, sklearn = np.inf, np.inf, np.inf
    for _ in range(3):
        pandas = min(pandas, cpu_of_process("-c", "import pandas", repeats=1))
        ours = min(ours, cpu_of_process(*words, repeats=1))
        sklearn = min(sklearn, cpu_of_process("-c", "import sklearn.linear_model", repeats=1))
    return (
        "## The start of the command\n\n"
        f"`evaluate` of two lines: {ours:.2f} CPU s, {ours / pandas:.2f} times `import pandas` "
        f"({pandas:.2f}); `import sklearn.linear_model` alone takes {sklearn:.2f}.\n"
    )


def main():
    """Measure, and keep the report."""
    options = arguments(__doc__, runs=2)
    # As in an installed package, modules are compiled once.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    text = (
        "CPU seconds, least of three for folders, of one for text, on a busy machine. Text is "
        "read, unzipped,\nchecked and joined.\n\n"
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["PYTHONPYCACHEPREFIX"] = str(folder / "compiled")
        parts = (
            partial(covid, options.data / "trec-covid-round1", folder),
            partial(start, folder),
            partial(large, folder, options.runs),
        )
        # Each is kept as soon as it is there.
        for part in parts:
            text += part() + "\n"
            write_report("runs_on_disk", "Runs on disk", text)


if __name__ == "__main__":
    main()

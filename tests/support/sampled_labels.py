"""People's labels of a sample, and a machine's labels of the rest."""

from pathlib import Path

from skfilterrank.io import read_qrels, read_run
from skfilterrank.judgments import estimate

PAGE = Path(__file__).parents[2] / "docs/machine_labels.md"
SAMPLED = ["-m", "dcg@10", "--interval", "--machine-qrels", "llm.txt"]


def estimates_of(runs, measures="dcg@10", **params):
    runs = {Path(path).stem: read_run(path) for path in runs}
    params = {"machine_qrels": {"llm": read_qrels("llm.txt")}} | params
    return estimate(read_qrels("sample.prels"), runs, measures, **params)

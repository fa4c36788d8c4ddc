"""Outputs of trec_eval: every value that is offered here, by trec_eval's name, is equal.

The files are written by pytrec_eval, whose numbers are those of trec_eval 9, in the form and under
the names of those in the folder ``test`` of its repository (github.com/usnistgov/trec_eval).

What differs, and how trec_eval's number is had:

* Labels below 0 are forbidden documents: ``unjudged_label="trec"``.
* Topics that are not in the run count as empty lists, as with ``-c``: ``missing="drop"``.
* ``-l 2`` is ``rel=2`` in each name; as there, it does not change nDCG.
* ``-M 100``: the run is cut before.
* Scores that differ by less than single precision are ties to trec_eval 9: ``precision="single"``.
"""

import re

import numpy as np
import pandas as pd
import pytest

from skfilterrank.io import read_qrels, read_run
from skfilterrank.metrics import values_of_run

EQUAL = re.compile(
    r"(map|Rprec|bpref|recip_rank|infAP|ndcg|set_P|set_recall)"
    r"|(P|recall|ndcg_cut|map_cut|success)_\d+"
)
# Judgments, run, parameters, relevance level, documents of each topic that count.
OUTPUTS = {
    "out.test.aq": ("qrels.test", "results.test", {"missing": "drop"}, 1, None),
    "out.test.aqc": ("qrels.test", "results.trunc", {"missing": "empty"}, 1, None),
    "out.test.aqcM": ("qrels.test", "results.trunc", {"missing": "empty"}, 1, 100),
    "out.test.aql": ("qrels.rel_level", "results.test", {"missing": "drop"}, 2, None),
}


def ours(name, level):
    """What trec_eval's measure is called here, with the level of relevance."""
    return name if level == 1 or "ndcg" in name else f"{name}(rel={level})"


def check(folder, output):
    """Number of values that were compared."""
    qrels_name, run_name, params, level, depth = OUTPUTS[output]
    lines = [line.split() for line in (folder / output).read_text().splitlines()]
    offered = [line for line in lines if EQUAL.fullmatch(line[0])]
    qrels = read_qrels(folder / qrels_name, unjudged_label="trec")
    run = read_run(folder / run_name)
    if depth is not None:
        run["single"] = run["score"].astype(np.float32)
        run = run.sort_values(["single", "docno"], ascending=False).groupby("qid").head(depth)
    names = {line[0]: ours(line[0], level) for line in offered}
    values = values_of_run(qrels, run, list(names.values()), precision="single", **params)
    values.loc["all"] = values.mean()
    for name, topic, value in offered:
        digits = len(value.partition(".")[2])
        # As printed, but for the last digit of what lies between two.
        assert values.loc[topic, names[name]] == pytest.approx(
            float(value), abs=0.5001 * 10**-digits
        ), (output, name, topic)
    return len(offered)


@pytest.mark.slow
@pytest.mark.parametrize("output", OUTPUTS)
def test_files_as_pytrec_eval_writes_them(tmp_path, output):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    rng = np.random.default_rng(len(output))
    qrels_name, run_name, params, level, depth = OUTPUTS[output]
    grid = [(str(300 + q), f"FT{d:04}") for q in range(8) for d in range(400)]
    frame = pd.DataFrame(grid, columns=["qid", "docno"])
    frame["label"] = rng.choice([-1, 0, 0, 0, 1, 2, 3], len(frame))
    # Many ties, and scores that differ in double precision alone.
    frame["score"] = rng.integers(0, 300, len(frame)) / 7 + rng.choice([0, 1e-9], len(frame))
    judged = frame[rng.random(len(frame)) < 0.5]
    shown = frame[rng.random(len(frame)) < 0.6]
    if run_name == "results.trunc":
        shown = shown[shown["qid"] < "306"]
    write = {"sep": " ", "header": False, "index": False}
    judged.assign(zero=0)[["qid", "zero", "docno", "label"]].to_csv(tmp_path / qrels_name, **write)
    shown.assign(Q0="Q0", rank=1, tag="x")[["qid", "Q0", "docno", "rank", "score", "tag"]].to_csv(
        tmp_path / run_name, **write
    )
    if depth is not None:
        single = shown.assign(single=shown["score"].astype(np.float32))
        best = single.sort_values(["single", "docno"], ascending=False)
        shown = best.groupby("qid").head(depth)
    qrels, run = (
        {qid: dict(zip(rows["docno"], rows[column].tolist())) for qid, rows in table.groupby("qid")}
        for table, column in ((judged, "label"), (shown, "score"))
    )
    evaluator = pytrec_eval.RelevanceEvaluator(
        qrels, pytrec_eval.supported_measures, relevance_level=level
    )
    table = pd.DataFrame.from_dict(evaluator.evaluate(run), orient="index")
    if params["missing"] == "empty":
        table = table.reindex(sorted(qrels), fill_value=0.0)
    table.loc["all"] = table.mean()
    with open(tmp_path / output, "w") as file:
        for topic, row in table.iterrows():
            for name, value in row.items():
                file.write(f"{name:<22}\t{topic}\t{value:6.4f}\n")
    assert check(tmp_path, output) == 9 * 47  # eight topics and their mean

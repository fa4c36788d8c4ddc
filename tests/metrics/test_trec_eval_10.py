"""Every value that trec_eval 10.0 prints and that has its name here is equal, on real runs.

The files of ``trec-eval-10`` are its own output; pytrec_eval still computes those of version 9.
"""

import gzip
from fractions import Fraction
from math import ceil

import numpy as np
import pandas as pd
import pytest

from public_data import data_set
from skfilterrank._lists.measure_names import known_measure
from skfilterrank.metrics import evaluate, evaluate_runs, get_measure
from thinned import thinned

# Output, folder and run that it is of, least label of a relevant document, treatment of unjudged.
OUTPUTS = {
    "robust2003-humR03dc": ("trec-robust2003", "humR03dc.txt.gz", 1, "zero"),
    "robust2003-NLPR03vb10": ("trec-robust2003", "NLPR03vb10.txt.gz", 1, "zero"),
    "dl2019-p_bert": ("trec-dl2019-llm", "p_bert.gz", 1, "zero"),
    "dl2019-p_bert-l2": ("trec-dl2019-llm", "p_bert.gz", 2, "zero"),
    "dl2019-p_bert-J": ("trec-dl2019-llm", "p_bert.gz", 1, "drop"),
    "covid1-BERT": ("trec-covid-round1", "BERT.txt.gz", 1, "zero"),
}

# With "rel", these two would change here, but not there.
GRADED = ("ndcg", "trec_rbp")


def ours(name, least):
    """What trec_eval's measure is called here; "rbp" has another persistence and scale here."""
    name = "trec_rbp" if name == "rbp" else name
    return name if least == 1 or name.startswith(GRADED) else f"{name}(rel={least})"


@pytest.mark.slow
@pytest.mark.parametrize("output", thinned(OUTPUTS, parts=2))
def test_values_are_those_that_trec_eval_prints(output):
    folder, run, least, unjudged = OUTPUTS[output]
    with gzip.open(data_set("trec-eval-10") / f"{output}.txt.gz", "rt") as file:
        theirs = pd.DataFrame([line.split() for line in file], columns=["name", "qid", "text"])
    offered = {name: ours(name, least) for name in theirs["name"].unique() if known_measure(name)}
    if unjudged == "drop":
        # These are about unjudged documents: trec_eval -J computes them of lists that have none.
        for name in ("infAP", "rbp_resid", "unj_5", "unj_10", "unj_20"):
            del offered[name]
    assert len(offered) >= 66
    assert {"11pt_avg", "iprec_at_recall_0.30"} <= offered.keys()
    found = evaluate_runs(
        data_set(folder) / "qrels.txt.gz",
        {"run": data_set(folder) / "runs" / run},
        list(offered.values()),
        unjudged=unjudged,
        unjudged_label="trec",
        missing="drop",
    ).per_query.loc["run"]
    theirs = theirs[theirs["name"].isin(offered) & (theirs["qid"] != "all")]
    values = [found.loc[qid, offered[name]] for name, qid in zip(theirs["name"], theirs["qid"])]
    # Half of the last printed digit.
    apart = (theirs["text"].astype(float) - values).abs() > np.where(
        theirs["text"].str.contains(".", regex=False), 0.50001e-4, 0.5
    )
    assert theirs[apart].empty


def test_recall_levels_of_version_9():
    """Its 0.7 * 3 + 0.9 is below 3, so that 2 of 3 documents reach recall 0.7."""
    y_true, y_score, groups = [1, 0, 1, 0, 1], [5, 4, 3, 2, 1], ["a"] * 5
    point = get_measure("iprec_at_recall_0.70")
    assert point(y_true, y_score, groups=groups) == 2 / 3  # 2.1 of 3 documents: 2 of 3
    assert point.like("trec_eval9")(y_true, y_score, groups=groups) == 2 / 3
    assert get_measure("iprec(recall=0.7)")(y_true, y_score, groups=groups) == 3 / 5
    # Of 4 documents, 2.8: 3 of them by every rule; 0.6 is 2.4, which is nearest to 2.
    y_true, y_score, groups = [1, 1, 0, 1, 1], [5, 4, 3, 2, 1], ["a"] * 5
    points = ["iprec_at_recall_0.70", "iprec_at_recall_0.60", "iprec(recall=0.6)"]
    found = evaluate(y_true, y_score, points, groups=groups).per_query
    assert found.loc["a"].tolist() == [4 / 5, 1.0, 4 / 5]
    nine = evaluate(y_true, y_score, points[:2], groups=groups, like="trec_eval9").per_query
    assert nine.loc["a"].tolist() == [4 / 5, 4 / 5]
    assert evaluate(y_true, y_score, ["11pt_avg(like=trec_eval9)"], groups=groups).means.iloc[
        0
    ] == (pytest.approx((6 + 5 * 4 / 5) / 11))


@pytest.mark.parametrize("tenth", range(11))
def test_a_level_is_reached_as_the_definition_says(tenth):
    """For each m up to 50, the least i with i / m >= recall by exact fractions."""
    counts = range(1, 51)
    least = {m: max(1, ceil(Fraction(tenth, 10) * m)) for m in counts}
    point = get_measure(f"iprec(recall={tenth / 10})")
    for before, expected in ((1, [m / (m + 1) for m in counts]), (0, [1.0] * 50)):
        # All are relevant but one, before or behind the document that reaches the level: precision
        # is 1 above that one, and below it rises to m / (m + 1).
        rows = [(m, place != least[m] - before, -place) for m in counts for place in range(m + 1)]
        groups, y_true, y_score = zip(*rows)
        assert point.per_query(y_true, y_score, groups=groups).tolist() == expected

"""
Significance tests between systems: all pairs, or against a baseline
====================================================================

Which of some systems differ by more than chance? Test all pairs at once, or
each system against a baseline; p values are corrected for the number of tests.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skfilterrank.comparison import compare_systems
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import evaluate_runs

_, label, qid, score = make_rank_and_filter(
    n_queries=50,
    documents_per_query=40,
    labels={0: 0.7, 1: 0.2, 2: 0.1},
    random_state=0,
)
docno = [f"d{row}" for row in range(len(label))]
qrels = pd.DataFrame({"qid": qid, "docno": docno, "label": label})
rng = np.random.default_rng(0)
noises = {"baseline": 0.15, "A": 0.2, "B": 0.14, "C": 0.1, "D": 0.08}
runs = {
    name: qrels[["qid", "docno"]].assign(
        score=score + rng.normal(0, noise, len(score))
    )
    for name, noise in noises.items()
}
values = evaluate_runs(qrels, runs, ["ap", "ndcg@10"])

# %%
# Against the baseline:
found = compare_systems(values, measure="ndcg@10", baseline="baseline")
columns = ["first", "second", "difference", "p_adjusted"]
print(found.to_frame()[columns].round(4).to_string(index=False))

# %%
# All pairs, by a randomization test. Dots mark significant differences:
pairs = compare_systems(
    values, measure="ndcg@10", test="randomization", random_state=0
)
figure, axis = plt.subplots(figsize=(6, 4.5), layout="constrained")
pairs.plot(ax=axis)
plt.show()

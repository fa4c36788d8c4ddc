"""
Rank systems without relevance judgments
========================================

No judgments yet? Documents that many systems return are more often relevant, so
that an order of the systems can be guessed. The judgments tell how near the
guess comes.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skfilterrank.comparison import kendall_tau, score_systems
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.judgments import rank_systems

# Twelve systems that return the top 20 of 40 documents.
_, label, qid, score = make_rank_and_filter(
    n_queries=50,
    documents_per_query=40,
    labels={0: 0.7, 1: 0.2, 2: 0.1},
    random_state=0,
)
docno = [f"d{row}" for row in range(len(label))]
qrels = pd.DataFrame({"qid": qid, "docno": docno, "label": label})
rng = np.random.default_rng(0)
runs = {}
for name, noise in zip("ABCDEFGHIJKL", np.linspace(0.04, 0.3, 12)):
    run = qrels[["qid", "docno"]].assign(
        score=score + rng.normal(0, noise, len(score))
    )
    place = run.groupby("qid")["score"].rank(ascending=False)
    runs[name] = run[place <= 20]
truth = score_systems(qrels, runs, "ap")["ap"].means

# %%
guesses = {
    "how many systems return a document": rank_systems(
        runs, "nruns", measure="ap", depth=20
    )["ap"],
    "documents drawn at random": rank_systems(
        runs, "soboroff", measure="ap", depth=20, random_state=0
    )["ap"],
}
for name, guess in guesses.items():
    print(f"{name}: Kendall's tau {kendall_tau(truth, guess):.2f}")

# %%
figure, axes = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
for axis, (name, guess) in zip(axes, guesses.items()):
    guess = guess.reindex(truth.index)
    axis.scatter(truth, guess, s=40)
    for system in truth.index:
        axis.annotate(
            system,
            (truth[system], guess[system]),
            xytext=(5, 5),
            textcoords="offset points",
        )
    axis.set(
        xlabel="AP with judgments", ylabel="AP without judgments", title=name
    )
    axis.margins(0.08)
plt.show()

"""
Draw the labels of unjudged documents
=====================================

A fifth of the documents are judged. `complete_qrels` draws the labels of the
others 20 times, by the chances that it learned from ranks and texts. The truth
is known in this example: do drawn labels measure systems better than the judged
fifth alone?
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skfilterrank.comparison import kendall_tau, score_systems
from skfilterrank.judgments import complete_qrels

# Texts of 30 words. Relevant ones have more words of their query.
rng = np.random.default_rng(0)
rows = []
for qid in range(25):
    own = [f"query{qid}word{number}" for number in range(12)]
    for number in range(60):
        relevant = rng.random() < 0.3
        n_own = rng.poisson(8 if relevant else 2)
        words = [*rng.choice(own, n_own), *rng.integers(300, size=30 - n_own)]
        text = " ".join(f"word{word}" for word in words)
        rows.append((f"{qid}", f"{qid}-{number}", int(relevant), text))
truth = pd.DataFrame(rows, columns=["qid", "docno", "label", "text"])
text_of = truth.set_index("docno")["text"]
qrels = truth.drop(columns="text")
runs = {
    name: qrels[["qid", "docno"]].assign(
        score=qrels["label"] + rng.normal(0, noise, len(qrels))
    )
    for name, noise in zip("ABCDEFGHIJKL", np.linspace(0.4, 1.5, 12))
}

# %%
judged = qrels[rng.random(len(qrels)) < 1 / 5]
completed = complete_qrels(judged, runs, text_of, random_state=0)
table = completed.to_frame()
drawn = table[table["draw"].notna()].merge(
    qrels, on=["qid", "docno"], suffixes=("", "_true")
)
print(repr(completed))
print(drawn.groupby("label_true")["label"].mean().to_string())

# %%
# Twelve systems, measured by each set of judgments. A value of drawn labels is
# the mean over the sets:
ap = score_systems(qrels, runs, "ap")["ap"].means
estimates = {
    "judged fifth alone": score_systems(judged, runs, "ap", unjudged="drop"),
    "drawn": score_systems(table, runs, "ap"),
}
figure, axis = plt.subplots(figsize=(6, 4.5), layout="constrained")
for (name, scores), marker in zip(estimates.items(), "so"):
    guess = scores["ap"].means
    tau = kendall_tau(ap, guess)
    axis.scatter(
        ap, guess[ap.index], marker=marker, label=f"{name}, tau {tau:.2f}"
    )
    error = (guess - ap).abs().mean()
    print(f"{name}: tau {tau:.2f}, mean error of AP {error:.3f}")
axis.axline((0.6, 0.6), slope=1, color="0.7", label="without error")
axis.set(xlabel="AP with all judgments", ylabel="AP with these judgments")
axis.legend()
plt.show()

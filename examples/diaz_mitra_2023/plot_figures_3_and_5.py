"""
Diaz and Mitra 2023, Figures 3 and 5: orientation and worst case
================================================================

Figure 3: how much a measure gains when the last relevant document moves up
(recall orientation) or the first one moves to the top (precision orientation).
Figure 5: drawing the ranking at random among the best ones raises what the
worst-off searcher can expect. The paper has curves and no numbers; they are
computed exactly here.
"""

import matplotlib.pyplot as plt
import numpy as np

from skfilterrank.metaevaluation import metric_orientation, worst_case_searcher

counts = np.arange(1, 16)
figure, axes = plt.subplots(
    1, 2, figsize=(10, 4), sharey=True, layout="constrained"
)
for axis, kind in zip(axes, ("recall", "precision")):
    for name in ("rr", "ndcg", "ap", "recall@1000", "rbp", "tse"):
        axis.plot(
            counts,
            metric_orientation(name, 10**5, counts, kind=kind),
            label=name,
        )
    axis.set(xlabel="relevant documents", title=f"{kind} orientation")
axes[0].set_ylabel("gain of the measure")
axes[0].legend()
plt.show()

# %%
counts = np.arange(1, 26)
figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
for name, color in (("ap", "C0"), ("ndcg", "C1"), ("rbp", "C2")):
    for order, style in (("fixed", "--"), ("random", "-")):
        worst = [
            worst_case_searcher(range(1, count + 1), name, order=order)
            for count in counts
        ]
        axis.plot(counts, worst, style, color=color, label=f"{name}, {order}")
        text = f"5 relevant documents {worst[4]:.3f}, 25 {worst[24]:.3f}"
        print(f"{name}, {order} order: {text}")
axis.set(xlabel="relevant documents", ylabel="worst case of an optimal ranking")
axis.legend()
plt.show()

# %%
# Total search efficiency (tse) is oriented to recall alone, reciprocal rank
# (rr) to precision alone, AP to both alike.

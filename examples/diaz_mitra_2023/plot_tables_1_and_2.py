"""
Diaz and Mitra 2023, Tables 1 and 2: which measure sees the worst case?
=======================================================================

Table 1 asks how often a measure agrees with the searcher who needs every relevant document; Table 2
how often it finds two random rankings equal. Table 2 is exact, with all printed digits. Table 1 is
simulated: 2,000 pairs here, 10,000 in the paper and in
``benchmarks/results/robustness_tables.md``, which is within 0.015 of every printed number.
"""

import matplotlib.pyplot as plt
import pandas as pd

from skfilterrank.metaevaluation import simulate_agreement, tie_probability

SIZES = [10**3, 10**4, 10**5, 10**6]
TABLE_1 = {
    "tse": [1.000, 1.000, 1.000, 1.000],
    "recall@1000": [0.000, 0.420, 0.179, 0.026],
    "r_precision": [0.285, 0.077, 0.008, 0.001],
    "ap": [0.541, 0.552, 0.554, 0.547],
    "ndcg": [0.535, 0.549, 0.555, 0.554],
    "random": [0.492, 0.497, 0.498, 0.499],
}
TABLE_2 = {
    "tse": [0.00529, 0.00053, 0.00005, 0.00001],
    "recall@1000": [1.00000, 0.31267, 0.82626, 0.98029],
    "r_precision": [0.82566, 0.98028, 0.99800, 0.99980],
    "lexirecall": [0.0, 0.0, 0.0, 0.0],
}

# %%
# Table 1:
found = simulate_agreement(SIZES, n_queries=2_000, random_state=0)[list(TABLE_1)]
printed = pd.DataFrame(TABLE_1, index=SIZES)
print(found.round(3).to_string())
print("largest difference from print", (found - printed).abs().max().round(3).to_dict())

# %%
# Table 2:
ties = pd.DataFrame({name: [tie_probability(name, n, 10) for n in SIZES] for name in TABLE_2})
ties.index = SIZES
print(ties.round(5).to_string())
print("every digit as printed:", ties.round(5).equals(pd.DataFrame(TABLE_2, index=SIZES)))

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for axis, table, title in (
    (left, found, "agrees with the worst case"),
    (right, ties, "finds two random rankings equal"),
):
    table.plot(ax=axis, marker="o", logx=True)
    axis.set(xlabel="items", title=title)
plt.show()

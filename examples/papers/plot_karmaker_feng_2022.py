"""
Karmaker Santu and Feng 2022: upper and lower bounds
====================================================

"Joint Upper & Lower Bound Normalization for IR Evaluation": V1 and V2 scale a
measure between the values of a random and of a perfect ranking. MSLR-WEB30K
cannot be fetched without a form, so that the columns of MQ2007 alone are here.
"""
# Data: mq2007

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skfilterrank.comparison import SystemScores, kendall_tau, score_predictions
from skfilterrank.io import read_letor
from skfilterrank.ranking import make_ranker

# %%
# Tables 3, 5 and 6 on MQ2007
# ---------------------------
#
# V1 and V2 of DCG beside nDCG, for three of the paper's eight methods, on one
# fold of five with small models. Get MQ2007, a part of LETOR 4.0 of Microsoft
# Research
# (https://www.microsoft.com/en-us/research/project/letor-learning-rank-information-retrieval/),
# and put its parts as ``S1.txt.gz`` to ``S5.txt.gz`` into the folder ``mq2007``
# of the folder that the environment variable `SKFILTERRANK_DATA` names, or else
# of `skfilterrank_data` in your home folder.

# Table 3 and Table 5 at k = 10.
PRINTED = pd.DataFrame(
    {
        "nDCG": (0.4286, 0.4159, 0.4206),
        "V1": (0.3095, 0.2991, 0.3019),
        "V2": (0.2356, 0.2097, 0.2311),
    },
    index=["RF", "L2LR", "LMART"],
)
MEASURES = {
    "ndcg@10": "nDCG",
    "ul_normalized(measure=dcg,variant=v1)@10": "V1",
    "ul_normalized(measure=dcg,variant=v2)@10": "V2",
}
folder = Path(os.environ.get("SKFILTERRANK_DATA", "~/skfilterrank_data"))
folder = folder.expanduser() / "mq2007"
if not folder.is_dir():
    raise SystemExit(f"{folder} is not there: see above where MQ2007 is from.")
train, test = (
    read_letor(folder / f"S{part}.txt.gz", sparse=False) for part in (1, 5)
)
models = {
    "RF": make_ranker(
        "random_forest", n_estimators=25, min_samples_leaf=5, random_state=0
    ),
    "L2LR": make_ranker("logistic", random_state=0),
    "LMART": make_ranker(
        "lambdamart", n_estimators=50, learning_rate=0.1, random_state=0
    ),
}
predictions = {
    name: model.fit(train.X, train.y, groups=train.groups).predict(test.X)
    for name, model in models.items()
}
scores = score_predictions(
    test.y,
    predictions,
    list(MEASURES),
    groups=test.groups,
    gains="exp2",
    undefined=0.0,
)
table = pd.DataFrame(
    {name: scores[text].means for text, name in MEASURES.items()}
)

# %%
# Means at k = 10, here and as printed:
print(table.join(PRINTED.add_suffix(", printed")).round(4).to_string())
for name in ("V1", "V2"):
    print(
        f"tau of nDCG and {name}: {kendall_tau(table['nDCG'], table[name]):.2f}"
    )

# %%
figure, axes = plt.subplots(1, 3, figsize=(10, 3.5), layout="constrained")
for axis, name in zip(axes, table):
    places = np.arange(len(table))
    axis.bar(places - 0.2, table[name], 0.4, label="here")
    axis.bar(places + 0.2, PRINTED[name], 0.4, label="printed")
    axis.set_xticks(places, table.index)
    axis.set_title(f"{name}@10")
figure.legend(
    *axes[0].get_legend_handles_labels(), ncols=2, loc="outside upper center"
)
plt.show()

# %%
# As in the paper: nDCG of the forest is near the printed one, and the order of
# the methods by V1 is that by nDCG. Not as in the paper: V1 and V2 of forest
# and regression, by the paper's own equation 7, lie below the printed ones
# although their nDCG does not. The printed ones fit a lower bound about a
# quarter smaller, 2^E[R] - 1 in the place of E[2^R - 1], which may be a slip.
# All methods and folds are in ``benchmarks/results/mq2007_tables.md``.

# %%
# Tables 6, 9 and 16 from the printed means
# -----------------------------------------
#
# Which measure tells methods apart? Percentage absolute difference (PAD) and
# Kendall's tau with the original measure answer it from the means that Tables
# 3, 5, 13 and 15 print. No method is trained.

METHODS = ["ARank", "LNet", "RBoost", "RF", "RNet", "CA", "L2LR", "LMART"]
CUTOFFS = [5, 10, 15, 20, 30]
# MQ2007, all queries; a row for each method.
MEANS = {
    "nDCG": """.3881 .4156 .4480 .4797 .5372  .3767 .4035 .4384 .4687 .5282
        .3834 .4140 .4490 .4807 .5355  .4035 .4286 .4609 .4914 .5476
        .3809 .4131 .4451 .4764 .5360  .3928 .4207 .4544 .4824 .5399
        .3873 .4159 .4474 .4779 .5380  .3931 .4206 .4535 .4857 .5441""",
    "DCG V1": """.2882 .2991 .3157 .3314 .3558  .2777 .2886 .3068 .3213 .3481
        .2822 .2975 .3161 .3317 .3542  .2992 .3095 .3262 .3409 .3642
        .2791 .2957 .3133 .3271 .3536  .2911 .3031 .3200 .3335 .3582
        .2858 .2991 .3150 .3295 .3562  .2901 .3019 .3192 .3355 .3610""",
    "DCG V2": """.1348 .2092 .2587 .2995 .3638  .1141 .1872 .2485 .2840 .3453
        .1359 .2061 .2633 .3042 .3635  .1681 .2356 .2859 .3223 .3866
        .1177 .2044 .2554 .2908 .3573  .1512 .2214 .2762 .3029 .3666
        .1331 .2097 .2599 .3001 .3680  .1636 .2311 .2806 .3183 .3801""",
    "MAP": """.3066 .2923 .3020 .3173 .3624  .3379 .3233 .3328 .3468 .3905
        .3467 .3366 .3477 .3636 .4035  .3674 .3520 .3585 .3736 .4140
        .3281 .3175 .3275 .3443 .3878  .3597 .3457 .3560 .3716 .4127
        .3543 .3386 .3458 .3607 .4040  .3582 .3459 .3539 .3692 .4101""",
    "MSP V1": """.2366 .2190 .2222 .2287 .2478  .2676 .2492 .2519 .2570 .2744
        .2738 .2603 .2647 .2714 .2853  .2914 .2732 .2739 .2800 .2941
        .2590 .2443 .2476 .2552 .2724  .2863 .2689 .2728 .2794 .2941
        .2806 .2622 .2633 .2693 .2861  .2829 .2673 .2691 .2755 .2905""",
    "MSP V2": """.0392 .0778 .0116 .1400 .1905  .0909 .1315 .1638 .1846 .2257
        .1230 .1540 .1880 .2130 .2513  .1586 .1904 .2060 .2260 .2729
        .0850 .1308 .1567 .1825 .2220  .1422 .1741 .1980 .2204 .2584
        .1232 .1548 .1846 .2093 .2543  .1541 .1949 .2138 .2369 .2725""",
}
PAD = {
    "nDCG": 1.74,
    "DCG V1": 3.6,
    "DCG V2": 6.42,
    "MAP": 5.91,
    "MSP V1": 6.86,
    "MSP V2": 20.01,
}
TAU = {"DCG V1": 1, "DCG V2": 0.785, "MSP V1": 1, "MSP V2": 0.785}

tables = {}
for name, text in MEANS.items():
    values = (
        pd.Series(map(float, text.split()))
        .to_numpy()
        .reshape(len(METHODS), len(CUTOFFS))
    )
    tables[name] = pd.DataFrame(values, index=METHODS, columns=CUTOFFS)


def difference(table):
    """Average the differences of all pairs, in percent of the greater mean."""
    return (
        SystemScores(table.rename_axis(index="system"))
        .percentage_differences()
        .mean()
    )


rows = {}
for name, table in tables.items():
    original = tables["nDCG" if "DCG" in name else "MAP"]
    rows[name] = {
        "PAD": difference(table),
        "PAD, printed": PAD[name],
        "tau": kendall_tau(original.mean(axis=1), table.mean(axis=1)),
        "tau, printed": TAU.get(name, 1),
    }
found = pd.DataFrame(rows).T
print(found.round(3).to_string())
mended = tables["MSP V2"].replace(0.0116, 0.116)
print(f"PAD of MSP V2 without the slip: {difference(mended):.2f}")

# %%
figure, axis = plt.subplots(figsize=(7, 3.5), layout="constrained")
found[["PAD", "PAD, printed"]].plot.bar(ax=axis, rot=0)
axis.set_ylabel("percentage absolute difference")
plt.show()

# %%
# As printed: the taus, and PAD of nDCG, V2 and MAP. Not as printed: PAD of DCG
# V1 is 2.11 by the paper's own Table 5, not 3.6; that of MSP V1 is 6.96, not
# 6.86; that of MSP V2 is 22.8 by Table 15 as printed, and the printed 20.0 with
# 0.116 in the place of its 0.0116 at k = 15.

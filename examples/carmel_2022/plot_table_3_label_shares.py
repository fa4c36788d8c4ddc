"""
Carmel 2022, Table 3: how much of a pool is forbidden
=====================================================

The judgments of the TREC web tracks mark junk with -2, which the paper takes
for forbidden. They are public, three megabytes from NIST. Our percentages
differ from the printed ones by at most 0.1, and those of junk by at most 0.01.
"""
# Data: trec-web-qrels

import os
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from skfilterrank.io import read_qrels

PRINTED = {
    2010: (5.65, 73.70, 15.90, 4.25, 0.54, 0),
    2011: (5.25, 78.45, 10.50, 3.67, 2.11, 0),
    2012: (5.34, 72.71, 13.75, 2.52, 0.32, 5.34),
    2013: (1.62, 69.80, 21.03, 6.36, 1.24, 0.05),
    2014: (3.86, 56.90, 26.25, 11.18, 1.59, 0.23),
}
LABELS = (-2, 0, 1, 2, 3, 4)
DATA = Path(
    os.environ.get("SKFILTERRANK_DATA", Path.home() / "skfilterrank_data")
)
qrels = {
    year: read_qrels(
        DATA / f"trec-web-qrels/web{year}.qrels.txt.gz", unjudged_label=None
    )
    for year in PRINTED
}
shares = pd.DataFrame(
    {
        year: 100
        * each["label"]
        .value_counts(normalize=True)
        .reindex(LABELS, fill_value=0)
        for year, each in qrels.items()
    }
).T
printed = pd.DataFrame(PRINTED, index=LABELS).T

# %%
# The largest difference from a printed percentage:
difference = (shares - printed).abs()
print(shares.round(2).to_string())
print(f"largest difference {difference.max().max():.3f}, by year:")
print(difference.max(axis=1).round(3).to_string())

# %%
figure, axis = plt.subplots(figsize=(7, 3.5), layout="constrained")
shares.plot.barh(stacked=True, ax=axis, colormap="RdYlGn")
axis.set(xlabel="percent of the judgments", xlim=(0, 100))
axis.invert_yaxis()
axis.legend(title="label", ncols=6, loc="lower center", bbox_to_anchor=(0.5, 1))
plt.show()

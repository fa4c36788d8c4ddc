"""
Carmel 2022, Table 7 on SemEval: which loss ranks and filters best?
===================================================================

The paper trains six losses on answers to product questions. Here they are forum answers of
SemEval-2016, 3,790 to learn from and 2,440 to test on; what is Bad is forbidden.
`fetch_semeval_cqa` gets them. To be short: four losses, linear models of 190 numbers, three folds
for the threshold. ``benchmarks/results/semeval_main_job.md`` has all six, with trees and sparse
texts.

What comes out: each loss gains by its threshold over showing everything, and filtering alone is far
behind. What does not: ordinal is not ahead of the others here; with 244 test questions their
intervals of about 0.03 on either side overlap.
"""
# Data: semeval2016-cqa

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.frozen import FrozenEstimator

from skfilterrank.datasets import fetch_semeval_cqa
from skfilterrank.features import make_text_features
from skfilterrank.metrics import rank_filter_report
from skfilterrank.ranking import FilterOnly, RankAndFilter, make_ranker

GAINS = {"Bad": -1, "PotentiallyUseful": 1, "Good": 2}
# nDCG_f@3, forbidden@3 in percent, good filtered in percent; set CQA of the paper.
PRINTED = {
    "filter-only (bce)": (0.7433, 16.83, 8.34),
    "bce": (0.7516, 16.59, 8.34),
    "mse": (0.7578, 16.46, 7.61),
    "ordinal": (0.7609, 17.10, 6.71),
    "weighted-ordinal": (0.7552, 17.13, 7.14),
    "rank-only (ordinal)": (0.7197, 24.49, 0),
}
train, dev = (fetch_semeval_cqa(part) for part in ("train-part2", "dev"))
text = make_text_features(
    document="comment",
    query_text=["question_subject", "question_body"],
    same=[("user", "question_user")],
    numeric=["position"],
    query="qid",
    order="position",
    output="dense",
)
# Learned once, from texts alone, for all losses.
X = text.fit_transform(train.data)
X_dev = text.transform(dev.data)

systems = {}
for loss in ("bce", "mse", "ordinal", "weighted-ordinal"):
    model = RankAndFilter(make_ranker(loss, learner="linear"), gains=GAINS, k=3, cv=3)
    model.fit(X, train.target, groups=train.groups)
    systems[loss] = model.predict(X_dev)
    if loss == "ordinal":
        systems["rank-only (ordinal)"] = model.decision_function(X_dev)
    if loss == "bce":
        only = FilterOnly(FrozenEstimator(model), random_state=0)
        only.fit(X, train.target, groups=train.groups)
        systems["filter-only (bce)"] = only.predict(X_dev, groups=dev.groups)

# %%
report = rank_filter_report(dev.target, systems, groups=dev.groups, gains=GAINS, k=3)
print(report)

# %%
# Beside the printed numbers, which are of other data: compare the columns, not the values.
frame = report.to_frame() if hasattr(report, "to_frame") else report
own = frame["ndcg_f@3"].loc[list(PRINTED)]
table = pd.DataFrame({"here": own, "printed": {name: row[0] for name, row in PRINTED.items()}})
print(table.round(4).to_string())
figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
table.plot.barh(ax=axis)
axis.set(xlabel="nDCG_f@3", xlim=(0.6, 0.85))
axis.invert_yaxis()
plt.show()

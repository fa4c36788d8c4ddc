"""
Two models: rank by relevance, hide by harm
===========================================

A good match may still be spam. One model learns to rank by clicks and sales,
the other learns to hide by reports. Both keep the same risk here: at strict
limits, two models leave more relevance on the page than a single one.
"""

import matplotlib.pyplot as plt
import pandas as pd
from lightgbm import LGBMClassifier, LGBMRegressor

from skfilterrank.datasets import make_marketplace
from skfilterrank.metrics import any_forbidden_at_k, dcg_score
from skfilterrank.ranking import RankAndFilter
from skfilterrank.thresholds import CertifiedThreshold

log = make_marketplace(n_sessions=2000, spam_share=0.15, random_state=0)
# Labels: -1 reported, 0 neither, 1 clicked, 3 bought.
y, session = log["label"], log["session"]
X = log.drop(columns=["session", "label", "spam"])
train = session < 1300
new = {"groups": session[~train], "k": 10}

trees = {"n_estimators": 40, "verbose": -1, "n_jobs": 1}
harm = {"one model": None, "two models": LGBMClassifier(**trees)}
rows = []
for name, filter_estimator in harm.items():
    for risk in (0.075, 0.1, 0.15, 0.2, 0.25):
        model = RankAndFilter(
            LGBMRegressor(**trees),
            CertifiedThreshold({"any_forbidden@10": risk}),
            filter_estimator=filter_estimator,
            measure="dcg@10",
        )
        model.fit(X[train], y[train], groups=session[train])
        shown = model.predict(X[~train], groups=session[~train])
        rows.append(
            {
                "model": name,
                "at most": risk,
                "on new pages": any_forbidden_at_k(y[~train], shown, **new),
                "DCG@10": dcg_score(y[~train].clip(lower=0), shown, **new),
            }
        )
table = pd.DataFrame(rows).set_index(["model", "at most"])
print(table.round(3).to_string())

# %%
figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
for name in harm:
    axis.plot(
        100 * table.loc[name].index, table.loc[name, "DCG@10"], "o-", label=name
    )
axis.set(
    xlabel="pages that may show a reported item, at most (%)",
    ylabel="DCG@10 of clicks and sales",
)
axis.legend()
plt.show()

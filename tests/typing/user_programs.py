"""Programs as users write them: mypy reads them, and the tests run them."""

from typing import assert_type

import numpy as np
import pandas as pd
from lightgbm import LGBMRegressor
from sklearn.model_selection import GroupKFold, cross_val_score

from skfilterrank.comparison import PairwiseComparison, compare_systems, score_systems
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.judgments import LabelPredictor, MaxRepSelector
from skfilterrank.metrics import (
    evaluate,
    evaluate_runs,
    make_ranking_scorer,
    ndcg_f_score,
    rbp_score,
)
from skfilterrank.metrics._scorer import RankingScorer
from skfilterrank.ranking import QueryRanker, RankAndFilter, make_ranker
from skfilterrank.thresholds import (
    CertifiedThreshold,
    RiskCertificate,
    ThresholdCurve,
    TunedThreshold,
    threshold_curve,
)

# Measures of labels and scores in lists, arrays and Series.
y_true, y_score, groups = [2, -1, 0, 1], np.array([0.9, -np.inf, 0.8, 0.1]), list("aabb")
assert_type(ndcg_f_score(y_true, y_score, groups=groups), float)
assert_type(
    rbp_score.per_query(pd.Series(y_true), y_score, groups=groups, persistence=0.9),
    np.ndarray,
)
table = evaluate(
    y_true, y_score, ["ndcg_f@2", rbp_score], groups=groups, gains={2: 3, 1: 1, 0: 0, -1: -1}
)
assert_type(table.per_query, pd.DataFrame)
assert_type(table.means, pd.Series)

# A model that ranks and filters, and its cross-validation.
X, y, queries, _ = make_rank_and_filter(60, random_state=0)
model = RankAndFilter(
    QueryRanker(LGBMRegressor(n_estimators=5, verbose=-1), measure=ndcg_f_score),
    TunedThreshold(max_shown=5),
    measure="ndcg_f@3",
    gains="exp2",
)
assert_type(model.fit(X, y, groups=queries), RankAndFilter)
scores = model.predict(X, groups=queries)
assert_type(scores, np.ndarray)
assert_type(model.score(X, y, groups=queries), float)
scorer = make_ranking_scorer("ndcg_f", k=3, gains=lambda label: float(label))
assert_type(scorer, RankingScorer)
labels = pd.Series(y, index=pd.Index(queries, name="qid"))
cross_val_score(
    make_ranker("logistic"), X, labels, groups=queries, scoring=scorer, cv=GroupKFold(3)
)

# Where to cut the scores.
curve = threshold_curve(y, scores, groups=queries, measure="ndcg_f@3")
assert_type(curve, ThresholdCurve)
assert_type(curve.best_threshold, float)
assert_type(curve.to_frame(), pd.DataFrame)
safe = CertifiedThreshold({"any_forbidden@3": 0.3}).fit(X[:, 0], y, groups=queries)
assert_type(safe, CertifiedThreshold)
assert_type(safe.rank(X[:, 0], groups=queries), np.ndarray)
assert_type(safe.certificate_, RiskCertificate)
doubled: float = 2 * TunedThreshold("ndcg_f@3").fit(X[:, 0], y, groups=queries).threshold_
assert doubled == doubled

# Runs against judgments, and which of two systems is better.
qrels = pd.DataFrame({"qid": ["1", "1", "2", "2"], "docno": list("abab"), "label": [1, 0, 0, 2]})
run = qrels[["qid", "docno"]].assign(score=[2.0, 1.0, 1.0, 2.0])
runs = {"good": run, "bad": run.assign(score=-run["score"])}
values = evaluate_runs(qrels, runs, ["ap", "ndcg@10"], missing="drop")
assert_type(values.per_query, pd.DataFrame)
assert_type(values.means, pd.DataFrame)
comparison = compare_systems(
    score_systems(qrels, runs, "ap")["ap"], test="sign", correction=None, alpha=0.01
)
assert_type(comparison, PairwiseComparison)
assert_type(comparison.to_frame(), pd.DataFrame)

# Documents to judge, labels that nobody made, and pictures.
texts = ["wing flutter", "flutter of a wing", "cold soup", "hot soup recipe"]
selector = MaxRepSelector(threshold=0.2).fit(texts, groups=["q"] * 4)
assert_type(selector, MaxRepSelector)
assert_type(selector.select(n_total=2), np.ndarray)
predictor = LabelPredictor().fit(texts, [1, np.nan, 0, np.nan], groups=["q"] * 4)
assert_type(predictor, LabelPredictor)
assert_type(predictor.predict(texts, groups=["q"] * 4), np.ndarray)

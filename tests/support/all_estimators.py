"""Every estimator of the package, with data of the kind that it is fitted on.

Whatever a public module names that has a `fit` must stand in `CASES` or in `BASES`, and
tests/whole_package/test_estimators.py says so: a new estimator cannot be forgotten.
"""

import importlib
import inspect
import pkgutil
import warnings
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMRanker
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler

import skfilterrank
from selections import mask
from skfilterrank._estimators.ranker_mixin import all_or_nothing
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.judgments import (
    FeedbackSelector,
    LabelPredictor,
    MaxRepSelector,
    MoveToFrontSelector,
    MTCSelector,
    PairFeatures,
    PoolingSelector,
    PriorSelector,
    RandomSelector,
    StatAPSelector,
)
from skfilterrank.judgments._active_selectors import ActiveSelector
from skfilterrank.judgments._selector import QuerySelector
from skfilterrank.ranking import (
    AdaRankRanker,
    CalibratedRanker,
    CoordinateAscentRanker,
    FilterOnly,
    LambdaRankRanker,
    OrdinalRanker,
    QueryRanker,
    QueryScaler,
    RankAndFilter,
    RankBoostRanker,
    RankerMixin,
)
from skfilterrank.ranking._make_ranker import SharedFeatures
from skfilterrank.ranking._text_features import ListFeatures, TextSimilarity
from skfilterrank.thresholds import (
    BaseThreshold,
    CertifiedThreshold,
    ExpectedThreshold,
    FirstK,
    FixedThreshold,
    LearnedThreshold,
    PerQueryThreshold,
    Threshold,
    TunedThreshold,
)
from skfilterrank.thresholds._cuts import ByPlace

# Of these only what is derived from them is ever fitted.
BASES = {QuerySelector, ActiveSelector, RankerMixin, BaseThreshold}


def all_estimators() -> set[type]:
    """Every public class that has a `fit`, wherever in the package."""
    found = set()
    for module in pkgutil.walk_packages(skfilterrank.__path__, "skfilterrank."):
        if any(part.startswith("_") for part in module.name.split(".")):
            continue
        if module.name == "skfilterrank.integrations":
            continue  # components, some of frameworks that are not installed; none has fit
        public = importlib.import_module(module.name)
        objects = (getattr(public, name) for name in getattr(public, "__all__", ()))
        found |= {one for one in objects if inspect.isclass(one) and hasattr(one, "fit")}
    return found


class Data(NamedTuple):
    """What `fit` is given."""

    args: tuple
    kwargs: dict


class Case(NamedTuple):
    """An estimator, the kind of its data, and a method that changes it once it is fitted."""

    estimator: object
    kind: str
    change: object = None

    def fit(self, estimator, data: Data):
        """Fit on the data; a case of another method fits and calls it."""
        return estimator.fit(*data.args, **data.kwargs)

    def refit(self, estimator, data: Data):
        """What the fitted estimator is to be stopped in."""
        return self.fit(estimator, data) if self.change is None else self.change(estimator)


def rows(n_queries, seed, n_features=4, names=None) -> Data:
    """Features, labels with some unjudged ones, and queries."""
    X, y, groups, _ = make_rank_and_filter(
        n_queries, n_features=n_features, n_informative=3, documents_per_query=6, random_state=seed
    )
    y = y.astype(float)
    y[::9] = np.nan
    return Data((X if names is None else pd.DataFrame(X, columns=names), y), {"groups": groups})


def texts(seed) -> Data:
    """A table with texts, and the query of each row."""
    rng = np.random.default_rng(seed)
    words = np.array(
        ["rain", "bread", "wing", "heat", "cat", "dog", "slab", "flow", "lift", "town"]
    )
    table = pd.DataFrame(
        {
            "query": [" ".join(words[rng.integers(0, 10, 2)]) for _ in range(5)] * 4,
            "text": [" ".join(words[rng.integers(0, 10, 5)]) for _ in range(20)],
            "author": rng.integers(0, 3, 20),
            "asker": rng.integers(0, 3, 20),
            "length": rng.normal(size=20),
        }
    )
    if seed:
        table[f"column {seed}"] = 0.0
    return Data((table,), {})


def runs(seed) -> Data:
    """Ranks of three topics' documents in two or three runs."""
    rng = np.random.default_rng(seed)
    topics = [f"q{number}" for number in range(3)]
    index = pd.MultiIndex.from_product([topics, list("abcdefghij")], names=["qid", "docno"])
    ranks = {f"run{i}": [*rng.permutation(10) + 1.0] * 3 for i in range(2 + seed)}
    return Data((pd.DataFrame(ranks, index=index),), {})


def documents(seed) -> Data:
    """Texts with topics and a prior."""
    table = texts(seed).args[0]
    return Data(
        (table["text"].tolist(),),
        {
            "groups": np.arange(20) % (3 + seed),
            "prior": np.random.default_rng(seed).uniform(size=20),
        },
    )


def judgments(seed) -> Data:
    """Texts of two topics, half of them judged."""
    label = np.roll([1.0, 0.0, np.nan, np.nan] * 5, seed)
    return Data((texts(seed).args[0]["text"].tolist(), label), {"groups": np.arange(20) % 2})


def scores(seed) -> Data:
    """Scores, labels and queries."""
    (_, y), queries = rows(12 - seed, seed)
    noise = np.random.default_rng(seed).normal(size=len(y))
    return Data((np.nan_to_num(y) + noise, y), queries)


NAMES = ["a", "b", "c", "d"]
# What is fitted first, and what the next fit is stopped on.
DATA = {
    "rows": (rows(12, 0, names=NAMES), rows(10, 1, n_features=3)),
    "texts": (texts(0), texts(1)),
    "numbers": (Data(rows(3, 0, names=NAMES).args, {}), Data(rows(3, 1).args, {})),
    "runs": (runs(0), runs(1)),
    "documents": (documents(0), documents(1)),
    "judgments": (judgments(0), judgments(1)),
    "scores": (scores(0), scores(1)),
}

TREES = {"n_estimators": 3, "min_child_samples": 2, "n_jobs": 1}
# LightGBM's own objective makes a table of a million values in each fit.
LIGHTGBM = LGBMRanker(objective="rank_xendcg", **TREES, verbose=-1)
LAMBDARANK = LambdaRankRanker(**TREES, random_state=0)
# Its usual solver takes a hundred steps where this one takes five.
LOGISTIC = LogisticRegression(solver="newton-cholesky")
RISKS = {"any_forbidden@2": 0.8}


def simulated(selector):
    """Answer everything; each third document is relevant."""
    return selector.simulate(np.arange(selector._index.n_rows) % 3 == 0)


def updated(selector):
    """Take several answers at once, of more than one topic."""
    taken = np.flatnonzero(np.isnan(selector.answers_))[::5]
    return selector.update(taken, taken % 2)


class Answered(MTCSelector):
    """A strategy that has answers from the start, so that there is something to lose."""

    @all_or_nothing
    def fit(self, X, y=None, *, groups=None, prior=None):
        super().fit(X, groups=groups, prior=prior)
        return self.update([0, 1, 12, 22], [1, 0, 2, 0])


CASES = {
    "RankAndFilter": Case(RankAndFilter(Ridge(), measure="ndcg_f@3", cv=2), "rows"),
    "RankAndFilter of a ranker": Case(RankAndFilter(LIGHTGBM, measure="ndcg_f@3", cv=2), "rows"),
    "RankAndFilter with PerQueryThreshold": Case(
        RankAndFilter(LOGISTIC, PerQueryThreshold(), measure="ndcg_f@3", cv=2), "rows"
    ),
    "RankAndFilter with CertifiedThreshold": Case(
        RankAndFilter(
            LOGISTIC, CertifiedThreshold({"any_forbidden": 0.8}, confidence_level=0.6), cv=0.5
        ),
        "rows",
    ),
    "RankAndFilter(threshold=0.5)": Case(RankAndFilter(LOGISTIC, 0.5), "rows"),
    "TunedThreshold": Case(TunedThreshold("ndcg_f@3"), "scores"),
    "TunedThreshold with caps": Case(TunedThreshold("ndcg_f@3", max_shown=4), "scores"),
    "CertifiedThreshold": Case(CertifiedThreshold(RISKS, confidence_level=0.6), "scores"),
    "FixedThreshold": Case(FixedThreshold(0.5, min_shown=1), "scores"),
    "ExpectedThreshold": Case(ExpectedThreshold("ndcg_f@3", max_shown=3), "scores"),
    "PerQueryThreshold": Case(PerQueryThreshold("ndcg_f@3"), "scores"),
    "LearnedThreshold": Case(LearnedThreshold("ndcg_f@3", estimator=LOGISTIC, cv=2), "scores"),
    "FirstK": Case(FirstK("ndcg_f@3"), "scores"),
    "Threshold": Case(Threshold(ByPlace(), "ndcg_f@3"), "scores"),
    "OrdinalRanker": Case(OrdinalRanker(), "rows"),
    "OrdinalRanker(weights='gain')": Case(OrdinalRanker(weights="gain"), "rows"),
    "QueryRanker": Case(QueryRanker(LIGHTGBM), "rows"),
    "QueryScaler": Case(QueryScaler(), "runs"),
    "CalibratedRanker": Case(CalibratedRanker(LAMBDARANK, cv=2), "rows"),
    "LambdaRankRanker": Case(LAMBDARANK, "rows"),
    "AdaRankRanker": Case(AdaRankRanker(n_estimators=4, both_directions=True), "rows"),
    "RankBoostRanker": Case(RankBoostRanker(n_estimators=4), "rows"),
    "CoordinateAscentRanker": Case(
        CoordinateAscentRanker(max_iter=2, measure="ndcg_f@3", random_state=0), "rows"
    ),
    "CoordinateAscentRanker(filter=True)": Case(
        CoordinateAscentRanker(max_iter=2, filter=True, random_state=0), "rows"
    ),
    "FilterOnly": Case(FilterOnly(RankAndFilter(Ridge(), cv=2), random_state=0), "rows"),
    "FilterOnly of another library's": Case(FilterOnly(Ridge(), random_state=0), "rows"),
    "SharedFeatures": Case(SharedFeatures(StandardScaler()), "numbers"),
    "ListFeatures": Case(ListFeatures("query", "text", same=[("author", "asker")]), "texts"),
    "TextSimilarity": Case(TextSimilarity("text", ["query"]), "texts"),
    "FeedbackSelector": Case(FeedbackSelector(), "judgments"),
    "MaxRepSelector": Case(MaxRepSelector(), "documents"),
    "PriorSelector": Case(PriorSelector(), "documents"),
    "RandomSelector": Case(RandomSelector(random_state=0), "documents"),
    "StatAPSelector": Case(StatAPSelector(pooled=0.3, random_state=0), "runs"),
    "PoolingSelector": Case(PoolingSelector(depth=2), "runs"),
    "MTCSelector": Case(MTCSelector(), "runs"),
    "MoveToFrontSelector": Case(MoveToFrontSelector(), "runs"),
    "ActiveSelector.fit": Case(Answered(), "runs"),
    "ActiveSelector.simulate": Case(Answered(), "runs", simulated),
    "ActiveSelector.update": Case(Answered(), "runs", updated),
    "ActiveSelector.reset": Case(Answered(), "runs", lambda selector: selector.reset()),
    "PairFeatures": Case(PairFeatures(), "judgments"),
    "LabelPredictor": Case(LabelPredictor(), "judgments"),
    "LabelPredictor(model='pairs')": Case(LabelPredictor(model="pairs"), "judgments"),
    "LabelPredictor.fit_transform": Case(
        LabelPredictor(),
        "judgments",
        lambda predictor: predictor.fit_transform(*judgments(1).args, **judgments(1).kwargs),
    ),
}


NIGHTLY = pytest.mark.nightly


def by_day(cases):
    """The names of cases: of each class and method that changes it, the others are for the night.

    They learn otherwise, but pass the same doors.
    """
    first = {(type(case.estimator), case.change): name for name, case in reversed(cases.items())}
    days = set(first.values())
    return [pytest.param(name, marks=[] if name in days else NIGHTLY) for name in cases]


def asked(estimator, data: Data) -> list:
    """Everything that a fitted estimator says of the data."""
    if isinstance(estimator, ActiveSelector):
        proposed = [estimator.next_rows(3, query=topic) for topic in estimator._index.query_ids]
        return [estimator.ranking_, estimator.gains_, estimator.answers_, *proposed]
    if isinstance(estimator, QuerySelector):
        return [estimator.ranking_, estimator.gains_, mask(estimator, 3)]
    if isinstance(estimator, LabelPredictor):
        ask = (estimator.predict, estimator.predict_proba)
        said = [method(data.args[0], **data.kwargs) for method in ask]
        return [*said, estimator.imputed_, estimator.sample(2, random_state=0).T]
    if hasattr(estimator, "transform"):
        groups = data.kwargs if isinstance(estimator, PairFeatures) else {}
        features = estimator.transform(data.args[0], **groups)
        return [features.toarray() if hasattr(features, "toarray") else features]
    said = []
    for name in ("predict", "decision_function", "predict_proba", "predict_level_proba", "rank"):
        method = getattr(estimator, name, None)
        if method is not None:
            takes = "groups" in inspect.signature(method).parameters
            said.append(method(data.args[0], **(data.kwargs if takes else {})))
    return said


def quietly(call, *args, **kwargs):
    """Call without warnings, which are not the matter here."""
    with warnings.catch_warnings(action="ignore"):
        return call(*args, **kwargs)

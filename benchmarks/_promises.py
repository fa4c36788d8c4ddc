"""Populations of scored queries, of which every rate is known at every threshold.

Shared by promises.py, promise_kinds.py and monitors.py.
"""

from functools import cache

import numpy as np
import pandas as pd
from _common import FORUM_COLUMNS
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold

from skfilterrank._lists.gains import as_gains
from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.io import QrelsIndex, align, read_judged_table, read_letor, read_qrels, read_run
from skfilterrank.ranking import QueryScaler, RankAndFilter, make_ranker, make_text_features
from skfilterrank.thresholds import threshold_curve
from skfilterrank.thresholds._certificate import make_certificate
from skfilterrank.thresholds._certify import certify, make_tests
from skfilterrank.thresholds._risk_steps import Units
from skfilterrank.thresholds._risks import find_unjudged, read_risks

RISKS = ("forbidden", "any_forbidden", "false_reject_rate")
TO_GAIN = {0: -1, 1: 1, 2: 2, 3: 3}


class Population:
    """Queries with scores and gains, of which every rate is known at every threshold."""

    def __init__(self, gains, scores, groups, k):
        self.index = GroupIndex.from_groups(groups)
        rows = self.index.row_order()
        self.gains, self.scores, self.k = gains[rows], scores[rows], k
        self.sizes = self.index.sizes
        self.starts = np.cumsum(self.sizes) - self.sizes
        self.groups = np.repeat(np.arange(len(self.sizes)), self.sizes)
        lists = RankedLists(self.gains, self.scores, groups=self.groups)
        self.measure = f"ndcg_f@{k}"
        self.curve = threshold_curve(
            self.gains, self.scores, groups=self.groups, measure=self.measure
        )
        self._means = {risk: self._mean_steps(_steps(risk, lists, k)) for risk in RISKS}

    @staticmethod
    def _mean_steps(steps):
        """Scores from the safest on, and the mean rate when each has been passed."""
        order = np.lexsort((np.arange(len(steps.scores)), steps.queries))
        queries, losses = steps.queries[order], steps.losses[order]
        before = np.append(0.0, losses[:-1])
        before[np.append(True, queries[1:] != queries[:-1])] = 0.0
        change = np.empty(len(losses))
        change[order] = losses - before
        return steps.scores, np.append(0.0, np.cumsum(change)) / steps.n_queries

    def rate(self, risk, threshold):
        """The true rate at a threshold."""
        scores, means = self._means[risk]
        if risk == "false_reject_rate":
            return means[np.searchsorted(scores, threshold, side="left")]
        return means[np.searchsorted(-scores, -threshold, side="right")]

    def value(self, threshold):
        """The true nDCG_f at a threshold."""
        return self.curve.value_at(threshold)

    def draw(self, queries):
        """The rows of some queries, and the number of each one's draw."""
        sizes = self.sizes[queries]
        first = np.repeat(self.starts[queries] - (np.cumsum(sizes) - sizes), sizes)
        return first + np.arange(len(first)), np.repeat(np.arange(len(queries)), sizes)


def _steps(risk, lists, k):
    """Each query's loss at every threshold."""
    (promise,) = read_risks(at_cutoff({risk: 0.1}, k))
    return promise.steps(lists)


def at_cutoff(levels, k):
    """Levels of risks with the cut-off k, where they take one."""
    return {
        risk if risk == "false_reject_rate" else f"{risk}@{k}": level
        for risk, level in levels.items()
    }


def share(count, times):
    return "" if times == 0 else f"{100 * count / times:.1f} %"


@cache
def semeval(folder):
    """Questions of SemEval 2016 with scores of a logistic model of other questions."""
    table = pd.concat(
        read_judged_table(folder / "semeval2016-cqa" / f"{part}.jsonl.gz")
        for part in ("train-part2", "dev")
    )
    X, labels = table.drop(columns="label").reset_index(), table["label"].to_numpy()
    gains = as_gains(labels, {"Bad": -1, "PotentiallyUseful": 1, "Good": 2})
    model = make_ranker(
        "bce", learner="linear", features=make_text_features(**FORUM_COLUMNS), random_state=0
    )
    scores = np.empty(len(X))
    for train, test in GroupKFold(5, shuffle=True, random_state=0).split(X, groups=X["qid"]):
        fitted = RankAndFilter(model, threshold=None)
        fitted.fit(X.iloc[train], gains[train], groups=X["qid"].iloc[train])
        scores[test] = fitted.predict(X.iloc[test])
    return Population(gains, scores, X["qid"].to_numpy(), 3)


def mq2007(folder):
    """S2 to S5 with scores of a ridge regression of S1; label 0 forbidden."""
    parts = [read_letor(folder / "mq2007" / f"S{i}.txt.gz", n_features=46) for i in range(1, 6)]
    model = Ridge().fit(parts[0].X, as_gains(parts[0].y, TO_GAIN))
    return Population(
        np.concatenate([as_gains(part.y, TO_GAIN) for part in parts[1:]]),
        np.concatenate([model.predict(part.X) for part in parts[1:]]),
        np.concatenate([part.groups for part in parts[1:]]),
        10,
    )


def ohsumed(folder):
    """The 106 queries, each with scores of a ridge regression of the other parts' queries."""
    parts = [
        read_letor(folder / "ohsumed-letor" / f"S{i}.txt.gz", n_features=25) for i in range(1, 6)
    ]
    groups = np.concatenate([part.groups for part in parts])
    X = QueryScaler().fit_transform(np.concatenate([part.X for part in parts]), groups=groups)
    gains = np.concatenate([as_gains(part.y, TO_GAIN) for part in parts])
    fold = np.repeat(np.arange(5), [len(part.y) for part in parts])
    scores = np.empty(len(gains))
    for each in range(5):
        scores[fold == each] = (
            Ridge().fit(X[fold != each], gains[fold != each]).predict(X[fold == each])
        )
    return Population(gains, scores, groups, 10)


def runs(folder, n_runs=3, depth=100):
    """Some runs as rerankers of the judged ones of the first documents that they return, by name.

    Label 0 is forbidden. The runs are every so many of all in the order of their names.
    """
    names = sorted(path.name for path in (folder / "runs").iterdir())
    index = QrelsIndex(read_qrels(folder / "qrels.txt.gz"))
    found = {}
    for name in names[:: len(names) // n_runs][:n_runs]:
        y_true, y_score, groups = align(index, read_run(folder / "runs" / name), missing="drop")
        codes = pd.factorize(groups)[0]
        order = np.lexsort((-y_score, codes))
        first = np.searchsorted(codes[order], codes[order])
        rows = order[(np.arange(len(order)) - first < depth) & (y_score[order] > -np.inf)]
        # What is not judged has no label that a promise could be held to.
        rows = rows[~np.isnan(y_true[rows])]
        population = Population(as_gains(y_true[rows], TO_GAIN), y_score[rows], codes[rows], 10)
        found[name.removesuffix(".gz").removesuffix(".txt")] = population
    return found


def generated():
    """20,000 generated queries with scores of a logistic model of 600 others."""
    X, y, groups, _ = make_rank_and_filter(20_600, bayes=False, random_state=0)
    train = groups < 600
    model = LogisticRegression().fit(X[train], y[train] > 0)
    scores = model.predict_proba(X[~train])[:, 1]
    return Population(y[~train].astype(float), scores, groups[~train], k=3)


def certificate_of(curve, lists, promises, every, confidence, clusters=None, unit=None):
    """The certificate of lists by steps that are known; a ValueError where there is none."""
    units = Units.of(lists.index, lists.scores, clusters, unit)
    tests = make_tests(promises, every, units, confidence)
    found = certify(tests, curve, lists.scores)
    bounds = {test.risk.name: test.found(found[0]) for test in tests}
    given = {"confidence_level": confidence, "to_judge": find_unjudged(lists, promises)}
    given |= {"max_shown": None, "shown": lists.scores >= found[0]}
    return make_certificate(bounds, units, lists, *found, **given)

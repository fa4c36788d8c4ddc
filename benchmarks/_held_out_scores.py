"""Scores of cross-validated and refitted models on repeated splits by query.

For thresholds.py. For each split the training queries
are cut into 5 folds; every fold is scored by a model fitted on the other four, and the held-out
queries both by the model refitted on all training rows and by the five fold models.
"""

import time
import warnings
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from _common import FORUM_COLUMNS
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, GroupShuffleSplit

from skfilterrank._estimators.responses import document_scores
from skfilterrank._lists.gains import as_gains
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.io import read_letor
from skfilterrank.ranking import make_text_features
from skfilterrank.ranking._fit_with_groups import fit_with_groups
from skfilterrank.ranking._training_rows import TargetEncoder

N_FOLDS = 5


class Scores(NamedTuple):
    """One split of one data set, scored by one kind of model."""

    train_labels: np.ndarray
    train_groups: np.ndarray
    fold: np.ndarray
    out_of_fold: np.ndarray
    folds_train: np.ndarray  # NaN where a fold's model was not trained
    refit_train: np.ndarray
    held_labels: np.ndarray
    held_groups: np.ndarray
    refit_held: np.ndarray
    folds_held: np.ndarray
    held_bayes: np.ndarray


class OrdinalSum(RegressorMixin, BaseEstimator):
    """Sum over the levels of P(gain > level), one logistic model a level (Frank & Hall)."""

    def __init__(self, C=1.0):
        self.C = C

    def fit(self, X, y):
        levels = np.unique(y)[:-1]
        base = LogisticRegression(C=self.C, max_iter=1000)
        self.models_ = [clone(base).fit(X, y > level) for level in levels]
        return self

    def predict(self, X):
        return sum(model.predict_proba(X)[:, 1] for model in self.models_)


def _lightgbm(name, **parameters):
    defaults = {"n_estimators": 100, "num_leaves": 15, "verbose": -1, "n_jobs": 1, "seed": 0}
    return getattr(import_module("lightgbm"), name)(**(defaults | parameters))


def _xgboost():
    from xgboost import XGBRanker

    return XGBRanker(n_estimators=100, max_depth=4, learning_rate=0.1, n_jobs=1, random_state=0)


def _lambdarank(gamma):
    from skfilterrank.ranking import LambdaRankRanker

    return LambdaRankRanker(gamma=gamma)


# Loss: the model, what it learns, and whether it takes the dense form of text features.
MODELS = {
    "BCE (LogisticRegression)": (lambda: LogisticRegression(max_iter=1000), "binary", False),
    "MSE (Ridge)": (Ridge, "gain", False),
    "ordinal (logistic)": (OrdinalSum, "gain", False),
    "LGBMClassifier": (lambda: _lightgbm("LGBMClassifier"), "binary", True),
    "LGBMRegressor": (lambda: _lightgbm("LGBMRegressor"), "gain", True),
    "LGBMRanker": (lambda: _lightgbm("LGBMRanker"), "grade", True),
    "XGBRanker": (_xgboost, "grade", True),
    "LambdaRank": (lambda: _lambdarank(0.0), "gain", True),
    "LambdaRank + BCE": (lambda: _lambdarank(1.0), "gain", True),
}


LABELS = {"semeval2016-cqa": ("Bad", "PotentiallyUseful", "Good"), "mq2007": (0, 1, 2)}


class Semeval:
    """Training part 2, 379 questions of 10 comments: 5-fold by question, about 303 to train on."""

    name = "semeval2016-cqa"
    k = 3
    gains = dict(zip(LABELS["semeval2016-cqa"], (-1, 1, 2)))  # noqa: RUF012
    generated = False

    def __init__(self, data):
        self.path = Path(data) / self.name / "train-part2.jsonl.gz"

    @cached_property
    def table(self):
        return pd.read_json(self.path, lines=True)

    def splits(self, repeat):
        table = self.table
        cv = GroupKFold(5, shuffle=True, random_state=repeat)
        yield from cv.split(table, groups=table["qid"])

    def arrays(self, seed):
        table = self.table
        forms = self.features
        return forms, table["label"].to_numpy(), pd.factorize(table["qid"])[0], None

    @cached_property
    def features(self):
        """Sparse and dense features, learned once from the texts (no labels) of all rows.

        So the text is as new to a fold's model as the held-out text is to the refitted one.
        """
        columns = FORUM_COLUMNS | {"categorical": ["question_category"]}
        forms = (
            make_text_features(**columns, output=form, random_state=0)
            for form in ("sparse", "dense")
        )
        return tuple(form.fit_transform(self.table) for form in forms)


class Mq2007:
    """Label 0 forbidden; each published part held out, then 5 times 500 queries to train on."""

    name = "mq2007"
    k = 10
    gains = {0: -1, 1: 1, 2: 2}  # noqa: RUF012
    generated = False

    def __init__(self, data):
        self.path = Path(data) / self.name

    @cached_property
    def rows(self):
        parts = [read_letor(self.path / f"S{i}.txt.gz", n_features=46) for i in range(1, 6)]
        X, y, groups = (np.concatenate([part[i] for part in parts]) for i in range(3))
        return X, y, groups

    def splits(self, repeat):
        groups = self.rows[2]
        if repeat == 0:  # the five parts as published
            parts = np.repeat(np.arange(5), [14013, 14290, 13855, 13813, 13652])
            for part in range(5):
                yield np.flatnonzero(parts != part), np.flatnonzero(parts == part)
            return
        cv = GroupShuffleSplit(5, train_size=500, random_state=repeat)
        yield from cv.split(groups, groups=groups)

    def arrays(self, seed):
        X, y, groups = self.rows
        return (X, X), y, groups, None


class Generated:
    """make_rank_and_filter(class_sep=1.2): 600 queries to train on, 3,000 held out."""

    k = 3
    gains = None
    generated = True

    def __init__(self, query_effect=0.0, documents_per_query=None):
        self.query_effect = query_effect
        self.documents_per_query = documents_per_query
        self.name = f"generator, query_effect={query_effect:g}"
        if documents_per_query is not None:
            self.name += f", {documents_per_query} documents"

    def splits(self, repeat):
        for i in range(5):
            groups = self.arrays(5 * repeat + i)[2]
            yield np.flatnonzero(groups < 600), np.flatnonzero(groups >= 600)

    def arrays(self, seed):
        data = make_rank_and_filter(
            3600,
            documents_per_query=self.documents_per_query,
            query_effect=self.query_effect,
            class_sep=1.2,
            random_state=seed,
        )
        return (data.X, data.X), data.y, data.groups, data.bayes_scores


def data_sets(data):
    """All data sets, real ones first."""
    return [
        Semeval(data),
        Mq2007(data),
        Generated(),
        Generated(0.3),
        Generated(0.5, 10),
    ]


def stakes(data_set):
    """Gains under which thresholds are compared: (title, gains)."""
    bad, *good = LABELS.get(data_set.name, (-1, 1, 2))
    return [(f"forbidden = {cost}", dict(zip((bad, *good), (cost, 1, 2)))) for cost in (-1, -10)]


def names_of(data_set):
    """Models to run on a data set."""
    skipped = set()
    if data_set.name == "generator, query_effect=0.5, 10 documents":
        skipped = {"LambdaRank", "LambdaRank + BCE"}
    return [name for name in MODELS if name not in skipped]


def held_out_scores(data_set, models, n_repeats, cache_dir=None, first_repeat=0, only_cached=False):
    """Yield (model name, split number, Scores) for `n_repeats` times 5 splits."""
    if only_cached:
        for seed in range(5 * first_repeat, 5 * n_repeats):
            for name in models:
                file = _file(cache_dir, data_set.name, name, seed)
                if file.exists():
                    with np.load(file, allow_pickle=True) as stored:
                        yield name, seed, Scores(**stored)
        return
    for repeat in range(first_repeat, n_repeats):
        for i, (train, held) in enumerate(data_set.splits(repeat)):
            seed = 5 * repeat + i
            files = {name: _file(cache_dir, data_set.name, name, seed) for name in models}
            missing = [name for name in models if files[name] is None or not files[name].exists()]
            made = {}
            if missing:
                begin = time.perf_counter()
                made = _fit_all(data_set, missing, train, held, seed)
                print(f"{data_set.name} split {seed}: {time.perf_counter() - begin:.0f} s")
            for name in models:
                if name in made:
                    if files[name] is not None:
                        files[name].parent.mkdir(parents=True, exist_ok=True)
                        np.savez(files[name], **made[name]._asdict())
                    yield name, seed, made[name]
                else:
                    with np.load(files[name], allow_pickle=True) as stored:
                        yield name, seed, Scores(**stored)


def _file(cache_dir, *parts):
    if cache_dir is None:
        return None
    name = "_".join(str(part) for part in parts)
    return Path(cache_dir) / ("".join(c if c.isalnum() else "-" for c in name) + ".npz")


def _fit_all(data_set, names, train, held, seed):
    forms, labels, groups, bayes = data_set.arrays(seed)
    gains = as_gains(labels, data_set.gains)
    folds = list(
        GroupKFold(N_FOLDS, shuffle=True, random_state=seed).split(train, groups=groups[train])
    )
    parts = {name: {"folds_held": [], "folds_train": []} for name in names}
    fold = np.empty(len(train), dtype=int)
    for i, (inside, outside) in enumerate([*folds, (np.arange(len(train)), None)]):
        for name in names:
            make, kind, dense = MODELS[name]
            X, rows = forms[int(dense)], train[inside]
            target = TargetEncoder(kind, gains).encode(gains[rows], labels[rows])
            model = make()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fit_with_groups(model, X[rows], target, groups[rows])
                on_train = document_scores(model, X[train], groups=groups[train])
                on_held = document_scores(model, X[held], groups=groups[held])
            part = parts[name]
            if outside is None:
                part["refit_train"], part["refit_held"] = on_train, on_held
            else:
                part.setdefault("out_of_fold", np.empty(len(train)))[outside] = on_train[outside]
                on_train[outside] = np.nan
                part["folds_train"].append(on_train)
                part["folds_held"].append(on_held)
                fold[outside] = i
    common = {
        "train_labels": labels[train],
        "train_groups": groups[train],
        "fold": fold,
        "held_labels": labels[held],
        "held_groups": groups[held],
        "held_bayes": np.full(len(held), np.nan) if bayes is None else bayes[held],
    }
    return {
        name: Scores(**common, **{key: np.asarray(value) for key, value in part.items()})
        for name, part in parts.items()
    }


def markdown(table):
    """Lines of a table."""
    head = "| | " + " | ".join(table.columns) + " |"
    rows = ["| " + " | ".join([name, *map(str, row)]) + " |" for name, row in table.T.items()]
    return [head, "|" + " --- |" * (len(table.columns) + 1), *rows]

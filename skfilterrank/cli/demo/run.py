"""What ``skfilterrank demo`` does."""

import importlib.util

import numpy as np
import pandas as pd

from skfilterrank.cli._data import JudgedRows
from skfilterrank.cli._models import make_models
from skfilterrank.cli._output import draw, format_report
from skfilterrank.cli._streams import progress, show, tell
from skfilterrank.cli.demo.options import PICTURE
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import InputError
from skfilterrank.metrics import rank_filter_report
from skfilterrank.ranking import compare_rankers, get_ranker_names
from skfilterrank.thresholds import TunedThreshold

_TRAIN_SHARE = 0.7
_K = 3


def run(arguments) -> None:
    """Run the command."""
    if arguments.n_queries < 20:
        raise InputError(f"--n-queries must be at least 20, got {arguments.n_queries}.")
    X, y, groups, bayes = make_rank_and_filter(
        arguments.n_queries, k=_K, random_state=arguments.seed
    )
    is_train = groups < int(_TRAIN_SHARE * arguments.n_queries)
    train, test = (_judged_rows(X[part], y[part], groups[part]) for part in (is_train, ~is_train))
    tell(f"train: {train}")
    tell(f"test:  {test}")
    models = make_models(
        get_ranker_names("loss"),
        None,
        learner="linear",
        measure=f"ndcg_f@{_K}",
        threshold=TunedThreshold(),
        gains=None,
        seed=arguments.seed,
        jobs=None,
        n_queries=train.groups.nunique(),
    )
    comparison = compare_rankers(
        models,
        train.X,
        train.y,
        X_test=test.X,
        groups_test=test.groups,
        verbose=0 if arguments.quiet else 1 + progress(arguments),
    )
    best = comparison.best
    # What the data were drawn with: the score of each answer is its expected worth.
    expected = np.asarray(bayes)[~is_train]
    generator = np.where(expected >= 0, expected, -np.inf)
    baseline = f"rank-only ({best})"
    report = rank_filter_report(
        test.y,
        comparison.scores | {"generator": generator},
        groups=test.groups,
        k=_K,
        baseline=baseline,
        own_baselines=comparison.own_baselines,
    )
    score = f"{comparison.cv_scores[best]:.3f}"
    lines = [
        format_report(report, _K, models=models, best=best, baseline=baseline),
        "generator: lists by the probabilities the data were drawn with; no model can expect more",
        f"* best by cross-validation on the training questions: {score}",
    ]
    told = "no picture: drawing needs matplotlib: pip install 'skfilterrank[plot]'"
    if arguments.plot is not None or importlib.util.find_spec("matplotlib") is not None:
        # Before anything is shown, as whoever reads the output may have gone.
        path = arguments.plot or PICTURE
        draw(comparison.models[best], path, f"{best} on generated questions")
        told = f"picture: {path}"
    show("\n".join(lines) + "\n")
    tell(told)


def _judged_rows(X, y, groups):
    index = pd.Index(groups, name="qid")
    docnos = np.array([f"answer-{number}" for number in range(len(y))], dtype=object)
    return JudgedRows(X, pd.Series(y, index=index), index, docnos)

"""``skfilterrank demo``: the main job on built-in data."""

import importlib.util

import numpy as np
import pandas as pd

from skfilterrank.cli import _file_options as files
from skfilterrank.cli import _options as options
from skfilterrank.cli._data import JudgedRows
from skfilterrank.cli._models import make_models
from skfilterrank.cli._output import draw, format_report
from skfilterrank.cli._streams import say, say_nothing, show
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import InputError
from skfilterrank.metrics import rank_filter_report
from skfilterrank.ranking import compare_rankers, get_ranker_names

_TRAIN_SHARE = 0.7
_PICTURE = "skfilterrank-demo.png"
_K = 3


def add_arguments(parser) -> None:
    """Say what the command takes."""
    parser.description = (
        "Train the six losses on generated answers to questions, a quarter of them "
        "forbidden, compare them on held-out questions and draw the threshold curve."
    )
    parser.add_argument(
        "--queries", type=options.positive, default=3000, help="questions (default: 3000)"
    )
    parser.add_argument(
        "--plot", type=files.picture, metavar="FILE", help=f"the picture (default: {_PICTURE})"
    )
    parser.add_argument(
        "--seed", type=options.seed, default=0, help="seed of everything random (default: 0)"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress, only the table")
    parser.set_defaults(run=run)


def run(arguments) -> None:
    """Run the command."""
    tell = say_nothing if arguments.quiet else say
    if arguments.queries < 20:
        raise InputError(f"--queries must be at least 20, got {arguments.queries}.")
    X, y, groups, bayes = make_rank_and_filter(arguments.queries, k=_K, random_state=arguments.seed)
    is_train = groups < int(_TRAIN_SHARE * arguments.queries)
    train, test = (_judged_rows(X[part], y[part], groups[part]) for part in (is_train, ~is_train))
    tell(f"train: {train}")
    tell(f"test:  {test}")
    models = make_models(
        get_ranker_names("loss"),
        None,
        learner="linear",
        k=_K,
        gains=None,
        threshold="tune",
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
        random_state=arguments.seed,
        verbose=not arguments.quiet,
    )
    best = comparison.best
    # What the data were drawn with: the score of each answer is its expected worth.
    generator = np.where(bayes[~is_train] >= 0, bayes[~is_train], -np.inf)
    baseline = f"rank-only ({best})"
    report = rank_filter_report(
        test.y,
        comparison.scores | {"generator": generator},
        groups=test.groups,
        k=_K,
        baseline=baseline,
    )
    score = f"{comparison.cv_scores[best]:.3f}"
    lines = [
        format_report(report, models=models, best=best, baseline=baseline),
        "generator: lists by the probabilities the data were drawn with; no model can expect more",
        f"* best by cross-validation on the training questions: {score}",
    ]
    told = "no picture: drawing needs matplotlib: pip install 'skfilterrank[plot]'"
    if arguments.plot is not None or importlib.util.find_spec("matplotlib") is not None:
        # Before anything is shown, as whoever reads the output may have gone.
        path = arguments.plot or _PICTURE
        draw(comparison.models[best], path, f"{best} on generated questions")
        told = f"picture: {path}"
    show("\n".join(lines) + "\n")
    tell(told)


def _judged_rows(X, y, groups):
    index = pd.Index(groups, name="qid")
    docnos = np.array([f"answer-{number}" for number in range(len(y))], dtype=object)
    return JudgedRows(X, pd.Series(y, index=index), index, docnos)

"""``skfilterrank demo``: the main job on built-in data."""

import numpy as np
import pandas as pd

from skfilterrank.cli import _rank_filter as rank_filter
from skfilterrank.cli._data import JudgedRows
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import ndcg_f_score, rank_filter_report
from skfilterrank.ranking import LOSSES

_TRAIN_SHARE = 0.7


def add_parser(commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "demo",
        help="rank and filter built-in data",
        description="Train the six losses on generated answers to questions, a quarter of them "
        "forbidden, compare them on held-out questions and draw the threshold curve.",
    )
    parser.add_argument("--queries", type=int, default=3000, help="questions (default: 3000)")
    parser.add_argument(
        "--plot",
        metavar="FILE",
        default="skfilterrank-demo.png",
        help="the picture (default: skfilterrank-demo.png)",
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of everything random")
    parser.add_argument("--quiet", action="store_true", help="no progress, only the table")
    parser.set_defaults(
        run=run, models=list(LOSSES), learner="linear", k=3, threshold="tune", jobs=None
    )


def run(arguments) -> None:
    """Run the command."""
    X, y, groups, bayes = make_rank_and_filter(
        arguments.queries, k=arguments.k, random_state=arguments.seed
    )
    is_train = groups < int(_TRAIN_SHARE * arguments.queries)
    train, test = (_judged_rows(X[part], y[part], groups[part]) for part in (is_train, ~is_train))
    print(f"train: {train}\ntest:  {test}\n")
    models = rank_filter.make_models(train, arguments, None)
    fitted, scores = rank_filter.compare(models, train, test, [(None, None)], arguments)
    best = max(fitted, key=lambda name: rank_filter.tuned_score(fitted[name]))
    baseline = f"rank-only ({best})"
    report = rank_filter_report(
        test.y, scores, groups=test.groups, k=arguments.k, baseline=baseline
    )
    rank_filter.print_report(report, baseline)
    reachable = ndcg_f_score(
        test.y,
        np.where(bayes[~is_train] >= 0, bayes[~is_train], -np.inf),
        groups=test.groups,
        k=arguments.k,
    )
    print(f"\nbest reachable nDCG_f@{arguments.k} on these questions: {reachable:.3f}")
    print(f"best model by cross-validation on the training questions: {best}")
    if arguments.plot:
        rank_filter.draw(fitted[best], arguments.plot)
        print(f"picture: {arguments.plot}")


def _judged_rows(X, y, groups):
    index = pd.Index(groups, name="qid")
    docnos = np.array([f"answer-{number}" for number in range(len(y))], dtype=object)
    return JudgedRows(X, pd.Series(y, index=index), index, docnos, None)

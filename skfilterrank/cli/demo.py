"""``skfilterrank demo``: the main job on built-in data."""

from typing import Annotated

from skfilterrank.cli import _types as t
from skfilterrank.cli._parser import Arg

PICTURE = "skfilterrank-demo.png"
_TRAIN_SHARE = 0.7
_K = 3


def demo(
    *,
    n_queries: Annotated[int, Arg(convert=t.positive, metavar="N")] = 3000,
    plot: t.Plot = None,
    random_state: t.RandomState = 0,
) -> None:
    """Train the six losses on generated answers to questions, a quarter of them forbidden.

    The models are compared on held-out questions, and the threshold curve is drawn.

    Parameters
    ----------
    n_queries
        questions to generate
    plot
        draw the best model's threshold curve (default: skfilterrank-demo.png)
    """
    import importlib.util

    import numpy as np
    import pandas as pd

    from skfilterrank.cli._output import draw, print_sections, tell
    from skfilterrank.cli._rank_filter import compared, report_section
    from skfilterrank.cli._rows import JudgedRows
    from skfilterrank.datasets import make_rank_and_filter
    from skfilterrank.exceptions import InputError
    from skfilterrank.metrics import rank_filter_report
    from skfilterrank.ranking import get_ranker_names
    from skfilterrank.thresholds import TunedThreshold

    if n_queries < 20:
        raise InputError(f"--n-queries must be at least 20, got {n_queries}.")
    X, y, groups, bayes = make_rank_and_filter(n_queries, k=_K, random_state=random_state)
    is_train = groups < int(_TRAIN_SHARE * n_queries)
    train, test = (
        JudgedRows(
            X[part],
            pd.Series(y[part]),
            pd.Index(groups[part], name="qid"),
            np.array([f"answer-{number}" for number in range(part.sum())], dtype=object),
        )
        for part in (is_train, ~is_train)
    )
    tell(f"train: {train}")
    tell(f"test:  {test}")
    names = get_ranker_names("loss")
    comparison = compared(
        names,
        train,
        test,
        cv=None,
        refit=True,
        learner="linear",
        measure=f"ndcg_f@{_K}",
        threshold=TunedThreshold(),
        gains=None,
        random_state=random_state,
        n_jobs=None,
    )
    best = comparison.best
    # The generator's own scores: the expected gain of each answer.
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
    foot = [
        "generator: lists by the probabilities the data were drawn with; no model can expect more",
        f"* best by cross-validation on the training questions: {comparison.cv_scores[best]:.3f}",
    ]
    told = "no picture: drawing needs matplotlib: pip install 'skfilterrank[plot]'"
    if plot is not None or importlib.util.find_spec("matplotlib") is not None:
        # Before anything is shown, as whoever reads the output may have gone.
        draw(comparison.models[best], plot or PICTURE, f"{best} on generated questions")
        told = f"picture: {plot or PICTURE}"
    section = report_section(report, names, k=_K, best=best, baseline=baseline, foot=foot)
    print_sections([section], "table", None)
    tell(told)

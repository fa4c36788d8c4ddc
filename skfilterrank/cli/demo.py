"""``skfilterrank demo``: ranking and filtering of built-in data."""

from skfilterrank.cli import _types as t
from skfilterrank.cli._output import print_sections, save_figure, tell
from skfilterrank.exceptions import InputError

PICTURE = "skfilterrank-demo.png"
_TRAIN_SHARE = 0.7
_K = 3
# Questions of the picture, and the answers that each of them has at least.
_QUESTIONS_DRAWN = 14
_ANSWERS_DRAWN = 4
# Words and colours of the labels.
_COLOURS = {2: ("good", "#1a7f4b"), 1: ("useful", "#8fce9f"), -1: ("bad", "#c0362c")}


def demo(
    *,
    n_queries: t.Number = 3000,
    plot: t.Plot = None,
    random_state: t.RandomState = 0,
) -> None:
    """Train the six losses on generated answers to questions, a quarter of them forbidden.

    The models are compared on held-out questions. A picture shows lists of the best model before
    and after its threshold.

    Parameters
    ----------
    n_queries
        questions to generate
    plot
        draw lists of the best model and its threshold curve (default: skfilterrank-demo.png)

    Examples
    --------
    skfilterrank demo --n-queries 500
    """
    import importlib.util

    import numpy as np
    import pandas as pd

    from skfilterrank.cli._rank_filter import compared, report_section
    from skfilterrank.cli._rows import JudgedRows
    from skfilterrank.datasets import make_rank_and_filter
    from skfilterrank.metrics import rank_filter_report
    from skfilterrank.ranking import LOSSES
    from skfilterrank.thresholds import TunedThreshold

    if n_queries < 20:
        raise InputError(f"--n-queries must be at least 20, got {n_queries}.")
    X, y, groups, bayes = make_rank_and_filter(n_queries, k=_K, random_state=random_state)
    is_train = groups < int(_TRAIN_SHARE * n_queries)
    parts = []
    for part in (is_train, ~is_train):
        answers = [f"answer-{number}" for number in range(part.sum())]
        queries, docnos = pd.Index(groups[part], name="qid"), np.array(answers, dtype=object)
        parts.append(JudgedRows(X[part], pd.Series(y[part]), queries, docnos))
    train, test = parts
    tell(f"train: {train}")
    tell(f"test:  {test}")
    comparison = compared(
        LOSSES,
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
        plot, names = plot or PICTURE, [baseline, best]
        lists = [comparison.scores[name] for name in names]
        draw_demo(comparison.models[best], test, lists, report.loc[names], plot)
        told = f"picture: {plot}"
    section = report_section(report, LOSSES, k=_K, best=best, baseline=baseline, foot=foot)
    print_sections([section], "table", None)
    tell(told)


def draw_demo(model, test, lists, report, path) -> None:
    """Draw lists of held-out questions before and after the threshold, and its curve."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    from skfilterrank.plot import ThresholdCurveDisplay

    figure = Figure(figsize=(12, 5.2), layout="constrained")
    before, after, curve = figure.subplots(1, 3, width_ratios=[1, 1, 1.5])
    for axes, scores, title in zip((before, after), lists, ("ranked", "ranked and filtered")):
        draw_lists(axes, test, scores)
        axes.set_title(title)
        axes.set_xlabel("place")
    before.set_ylabel(f"held-out questions with {_ANSWERS_DRAWN} or more answers")
    patches = [Patch(color=colour, label=word) for word, colour in _COLOURS.values()]
    after.legend(handles=patches, loc="lower right", framealpha=1)
    display = ThresholdCurveDisplay.from_estimator(model, ax=curve)
    display.ax_.set_title("the threshold, by cross-validation")
    old, new = report.to_dict("records")
    figure.suptitle(
        f"Bad answers in the first {_K} places: {old[f'forbidden@{_K}']:.1%} before, "
        f"{new[f'forbidden@{_K}']:.1%} after.   nDCG_f@{_K}: {old[f'ndcg_f@{_K}']:.3f} before, "
        f"{new[f'ndcg_f@{_K}']:.3f} after.   Good answers hidden: {new['false_reject_rate']:.1%}."
    )
    save_figure(figure, path)


def draw_lists(axes, test, scores) -> None:
    """Draw a row of squares for each of the first questions, coloured by label."""
    import numpy as np

    queries = np.asarray(test.groups)
    names, n_answers = np.unique(queries, return_counts=True)
    long_lists = names[n_answers >= _ANSWERS_DRAWN][:_QUESTIONS_DRAWN]
    for line, query in enumerate(long_lists):
        rows = np.flatnonzero((queries == query) & (scores > -np.inf))
        labels = np.asarray(test.y)[rows[np.argsort(-scores[rows], kind="stable")]]
        colours = [_COLOURS[int(label)][1] for label in labels]
        axes.scatter(
            np.arange(len(rows)) + 1, np.full(len(rows), line), c=colours, s=95, marker="s"
        )
    places = np.arange(1, max(n_answers[np.isin(names, long_lists)]) + 1)
    axes.set(yticks=[], ylim=(_QUESTIONS_DRAWN - 0.3, -0.7), xlim=(0.4, places[-1] + 0.6))
    axes.set_xticks(places)
    axes.spines[["top", "right", "left"]].set_visible(False)

"""``skfilterrank demo``: rank and filter generated answers."""

from typing import Annotated

from skfilterrank.cli import _types as t
from skfilterrank.cli._output import Section, print_sections, tell
from skfilterrank.cli.rank_filter import K, cells
from skfilterrank.exceptions import FitWarning, InputError

_TRAIN_SHARE = 0.7


def demo(
    *,
    n_queries: t.Number = 3000,
    all: bool = False,
    plot: Annotated[str | None, t.Arg(convert=t.picture, metavar="FILE", file="write")] = None,
    random_state: t.RandomState = 0,
) -> None:
    """Rank and filter generated answers to questions, a quarter of them bad, on held-out questions.

    Parameters
    ----------
    n_queries
        questions to generate
    all
        compare the six losses, in the table of rank-filter
    plot
        draw the curve that the threshold is searched along (.png, .pdf, .svg)

    Examples
    --------
    skfilterrank demo --n-queries 500
    """
    import io
    import warnings

    import numpy as np
    import pandas as pd

    from skfilterrank.cli._rows import JudgedRows
    from skfilterrank.cli.rank_filter import compared, report_section
    from skfilterrank.datasets import make_rank_and_filter
    from skfilterrank.ranking import LOSSES
    from skfilterrank.thresholds import TunedThreshold

    if n_queries < 20:
        raise InputError(f"--n-queries must be at least 20, got {n_queries}.")
    X, y, groups, bayes = make_rank_and_filter(n_queries, k=K, random_state=random_state)
    is_train = groups < int(_TRAIN_SHARE * n_queries)
    parts = []
    for part in (is_train, ~is_train):
        answers = [f"answer-{number}" for number in range(part.sum())]
        queries, docnos = pd.Index(groups[part], name="qid"), np.array(answers, dtype=object)
        parts.append(JudgedRows(X[part], pd.Series(y[part]), queries, docnos))
    train, test = parts
    with warnings.catch_warnings(action="ignore", category=FitWarning):
        # The report shows which thresholds do not pay.
        comparison = compared(
            LOSSES if all else ["mse"],
            train,
            test,
            cv=None,
            refit=True,
            learner="linear",
            measure=f"ndcg_f@{K}",
            threshold=TunedThreshold(),
            gains=None,
            random_state=random_state,
            n_jobs=None,
        )
    best = comparison.best
    # The generator's own scores: the expected gain of each answer.
    expected = np.asarray(bayes)[~is_train]
    generator = np.where(expected >= 0, expected, -np.inf)
    comparison = comparison._replace(scores=comparison.scores | {"generator": generator})
    report = comparison.report(test, k=K)
    if all:
        foot = [
            "generator: by the probabilities the data were drawn with; no model can expect more",
            f"* best by cross-validation on {train.groups.nunique():,} training questions: "
            f"{comparison.cv_scores[best]:.3f}",
        ]
        section = report_section(report, comparison, k=K, foot=foot)
    else:
        section = _section(report, comparison, train, test, K)
    if plot is not None:
        # Before the table, as a closed pipe must not lose the picture.
        from skfilterrank._files.files import open_replacing
        from skfilterrank.plot import ThresholdCurveDisplay

        figure = ThresholdCurveDisplay.from_estimator(comparison.models[best]).figure_
        drawn = io.BytesIO()
        figure.savefig(drawn, dpi=150, format=plot.rpartition(".")[2])
        with open_replacing(plot) as handle:
            handle.write(drawn.getvalue())
        tell(f"picture: {plot}")
    print_sections([section], "table", None)


def _section(report, comparison, train, test, k) -> Section:
    """Return one model, the answers without its threshold, and what hiding costs."""
    (model,) = comparison.models
    (first,) = comparison.first_k[model]
    lines = {
        model: "ranked, bad hidden",
        f"everything ({model})": "ranked, all shown",
        f"first k ({model})": f"ranked, first {first} shown",
        f"hide below 0 ({model})": "ranked, hidden below 0",
        "nothing": "nothing shown",
        "generator": "generator's probabilities",
    }
    rows = [["", f"nDCG_f@{k}", "bad %", "lost %", f"top {k} lost %", "empty %"]]
    rows[0] += ["diff.", "95 % interval"]
    for name, label in lines.items():
        value, _, *rest = cells(report.loc[name], f"false_reject_rate@{k}")
        rows.append([label, value, *rest])
    head = (
        f"A model learned from {train.groups.nunique():,} questions to rank answers and hide bad "
        f"ones. On {test.groups.nunique():,} others:\n"
    )
    foot = (
        "A bad answer counts -1, a good one 1 or 2. "
        f"bad: of the first {k} shown. lost: good answers hidden;\n"
        f"top {k}: of those that the model ranks first. "
        "diff.: nDCG_f less the first line's. More models: --all"
    )
    return Section(report, [], rows, head=head, foot=foot)

"""``skfilterrank demo``: rank and filter generated answers."""

from typing import Any

from skfilterrank.cli import _types as t
from skfilterrank.cli._output import Section, print_sections, progress
from skfilterrank.cli.rank_filter import cells
from skfilterrank.exceptions import FitWarning, InputError

_K, _TRAIN_SHARE = 3, 0.7


def demo(*, n_queries: t.Number = 3000, random_state: t.RandomState = 0) -> None:
    """Rank and filter generated answers to questions, a quarter of them bad, on held-out questions.

    Parameters
    ----------
    n_queries
        questions to generate

    Examples
    --------
    skfilterrank demo --n-queries 500
    """
    import warnings

    import numpy as np

    from skfilterrank.datasets import make_rank_and_filter
    from skfilterrank.metrics import rank_filter_report
    from skfilterrank.ranking import RankAndFilter, make_ranker

    if n_queries < 20:
        raise InputError(f"--n-queries must be at least 20, got {n_queries}.")
    X, y, groups, bayes = make_rank_and_filter(n_queries, k=_K, random_state=random_state)
    is_train = groups < int(_TRAIN_SHARE * n_queries)
    ranker = make_ranker("mse", learner="linear", random_state=random_state)
    model = RankAndFilter(ranker, measure=f"ndcg_f@{_K}", cv=5, verbose=progress())
    with warnings.catch_warnings(action="ignore", category=FitWarning):
        # The report shows whether the threshold pays.
        model.fit(X[is_train], y[is_train], groups=groups[is_train])
    test: dict[str, Any] = {"groups": groups[~is_train]}
    answers = model.answers(X[~is_train], **test)
    (first,) = [name for name in answers if name.startswith("first ")]
    # The generator's own scores: the expected gain of each answer.
    expected = np.asarray(bayes)[~is_train]
    own = "ranked, bad hidden"
    systems = {
        own: model.predict(X[~is_train], **test),
        "ranked, all shown": answers["everything"],
        f"ranked, {first} shown": answers[first],
        "ranked, hidden below 0": answers["hide below 0"],
    }
    others = {
        "nothing shown": answers["nothing"],
        "generator's probabilities": np.where(expected >= 0, expected, -np.inf),
    }
    report = rank_filter_report(
        y[~is_train],
        systems | others,
        **test,
        k=_K,
        baseline={name: own for name in systems | others if name != own},
        rankings=dict.fromkeys(systems, "ranked, all shown"),
    )
    rows = [["", f"nDCG_f@{_K}", "bad %", "lost %", f"top {_K} lost %", "empty %"]]
    rows[0] += ["diff.", "95 % interval"]
    for name in systems | others:
        value, _, *rest = cells(report.loc[name], _K)
        rows.append([name, value, *rest])
    n_train = int(_TRAIN_SHARE * n_queries)
    head = (
        f"A model learned from {n_train:,} questions to rank answers and hide bad "
        f"ones. On {n_queries - n_train:,} others:\n"
    )
    foot = (
        "A bad answer counts -1, a good one 1 or 2. "
        f"bad: of the first {_K} shown. lost: good answers hidden;\n"
        f"top {_K}: of those that the model ranks first. diff.: nDCG_f less the first line's."
    )
    print_sections([Section(report, [], rows, head=head, foot=foot)], "table", None)

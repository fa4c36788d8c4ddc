"""``skfilterrank rank-filter`` and ``demo``: train models that rank and filter."""

import argparse
from typing import Annotated, Literal

from skfilterrank.cli import _types as t
from skfilterrank.cli._output import chosen_format, print_sections, tell
from skfilterrank.cli._parser import similar
from skfilterrank.exceptions import FitWarning, InputError

_K = 3
_folds = t.numeric(int, "a whole number from 2 up", lambda value: 1 < value < 2**31)


def _models(text):
    """Read names of rankers, each once."""
    from skfilterrank.ranking import LOSSES, METHODS

    listed, known = list(dict.fromkeys(t.names(text))), (*LOSSES, *METHODS)
    if unknown := [name for name in listed if name not in known]:
        raise argparse.ArgumentTypeError(
            f"expected models of {', '.join(known)}, got {', '.join(unknown)}."
            f"{similar(unknown[0], known)}"
        )
    return listed


def rank_filter(
    train: Annotated[str, t.Arg(metavar="TRAIN", file="read")],
    *,
    test_data: t.File = None,
    cv: Annotated[int | None, t.Arg(convert=_folds, metavar="N")] = None,
    models: Annotated[list[str] | None, t.Arg(convert=_models, metavar="A,B")] = None,
    learner: Annotated[Literal["auto", "linear", "trees", "blend"], t.Arg(metavar="NAME")] = "auto",
    gains: t.Gains = None,
    cutting: t.Cutting,
    columns: t.ColumnOptions,
    save: t.NewFile = None,
    out_run: t.NewFile = None,
    format: Annotated[str | None, t.format_arg(*t.TABLES)] = None,
    out: t.Out = None,
    random_state: t.RandomState = 0,
    n_jobs: t.NJobs = None,
) -> None:
    """Train models that rank and filter documents, and compare them with ranking alone.

    Parameters
    ----------
    train
        judged rows: LETOR text, CSV, TSV, JSONL or Parquet
    test_data
        judged rows to compare the models on
    cv
        compare by N folds of TRAIN; without --test-data, 5
    models
        losses and ranking methods, such as bce,lambdarank (default: all losses)
    learner
        auto, linear, trees or blend (auto: blend for texts, trees for features)
    k
        places that count (default: those of the measure, else 3)
    gains
        gain of each label, as Bad=-1,Good=1; or exp2
    save
        save the best model, fitted on all of TRAIN, for apply; a file of joblib, which can run any
        program when it is read
    out_run
        write the best model's lists: a TREC run, .csv or .jsonl

    Examples
    --------
    skfilterrank rank-filter train.csv --test-data test.csv --gains Bad=-1,Ok=1,Good=2
    """
    import joblib
    from scipy.sparse import issparse

    from skfilterrank._files.files import open_replacing
    from skfilterrank.cli import _inputs
    from skfilterrank.cli import _rank_filter as work
    from skfilterrank.cli._rows import check_ids, read_rows, write_lists
    from skfilterrank.cli._thresholds import (
        chosen_measure,
        in_full,
        make_threshold,
        value_of,
    )
    from skfilterrank.ranking import LOSSES

    if cv is not None and test_data is not None:
        raise InputError("--cv holds out rows of TRAIN. Leave out --cv or --test-data.")
    models = models or list(LOSSES)
    chosen, k, threshold = chosen_measure(cutting), cutting.k, cutting.threshold
    places = chosen.k or (_K if k is None else k or None)
    if chosen.measure.takes_k:
        chosen = chosen.with_cutoff(places)
    drawn = {"random_state": random_state, "n_jobs": n_jobs}
    unfitted = make_threshold(cutting, chosen, drawn)
    trained = tested = read_rows(train, columns.given())
    if learner == "linear" and issparse(trained.X):
        raise InputError(
            f"{train}: less than a tenth of the features differ from 0, and --learner linear needs "
            "more of them. Take --learner trees."
        )
    tell(f"{train}: {trained}")
    for line in trained.told_columns():
        tell(line)
    if test_data is not None:
        tested = read_rows(test_data, columns.given(), trained.settings)
        tell(f"{test_data}: {tested}")
    run_format = chosen_format(None, out_run, t.LISTS)
    if out_run is not None:
        check_ids(tested, run_format, "--out-run FILE.csv or FILE.jsonl")
    labels = {train: trained.y, test_data or train: tested.y}
    matched = _inputs.match_gains(gains, labels)
    comparison = work.compared(
        models,
        trained,
        None if test_data is None else tested,
        cv=cv,
        refit=save is not None,
        learner=learner,
        threshold=unfitted,
        measure=chosen.text,
        gains=matched,
        **drawn,
    )
    best = comparison.best
    if threshold is None:
        # Nothing is filtered: each model is its own ranking.
        scores = {name: comparison.scores[name] for name in (*models, "nothing")}
        comparison = comparison._replace(scores=scores, models_of={})
    # Write files before printing, as a closed pipe must not lose them; the model took longest.
    if save is not None:
        saved = {"model": comparison.models[best], "name": best, "table": trained.settings}
        with open_replacing(save) as handle:
            joblib.dump(saved, handle)
        tell(f"model: {save}")
    if out_run is not None:
        lists = tested.lists(comparison.scores[best], best)
        tell(f"run: {out_run}, {write_lists(out_run, lists, run_format)}")
    is_best_known, foot = best in comparison.cv_scores, []
    if is_best_known:
        value = value_of(comparison.cv_scores[best], chosen)
        foot.append(f"* best by cross-validation on {train}: {value:.3f}")
    fitted = comparison.models.get(best)
    if kept := getattr(fitted, "summary_", "").partition("; kept: ")[2]:
        foot.append(f"{best}, fitted on all of {train}, keeps: {kept}")
    if (certificate := getattr(fitted, "certificate_", None)) is not None:
        foot.append(in_full(certificate))
    elif cutting.risk:
        foot.append("--save fits the best model on all of TRAIN, and prints its certificate")
    report = comparison.report(tested, k=places, gains=matched)
    section = work.report_section(
        report, comparison, k=places, gains=matched, marks=is_best_known, foot=foot
    )
    print_sections([section], chosen_format(format, out, t.TABLES), out)


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

    from skfilterrank.cli._rank_filter import compared, demo_section, report_section
    from skfilterrank.cli._rows import JudgedRows
    from skfilterrank.datasets import make_rank_and_filter
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
    with warnings.catch_warnings(action="ignore", category=FitWarning):
        # The report shows which thresholds do not pay.
        comparison = compared(
            LOSSES if all else ["mse"],
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
    comparison = comparison._replace(scores=comparison.scores | {"generator": generator})
    report = comparison.report(test, k=_K)
    if all:
        foot = [
            "generator: by the probabilities the data were drawn with; no model can expect more",
            f"* best by cross-validation on {train.groups.nunique():,} training questions: "
            f"{comparison.cv_scores[best]:.3f}",
        ]
        section = report_section(report, comparison, k=_K, foot=foot)
    else:
        section = demo_section(report, comparison, train, test, _K)
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

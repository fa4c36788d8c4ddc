"""What ``skfilterrank rank-filter`` does."""

from typing import Any

from sklearn.model_selection import GroupKFold

from skfilterrank._files.tables import csv_text
from skfilterrank._printable import printable
from skfilterrank.cli._data import read_rows, settings_of
from skfilterrank.cli._errors import name_documents
from skfilterrank.cli._label_gains import match_gains, unknown_labels
from skfilterrank.cli._lists import check_ids, list_format, write_lists
from skfilterrank.cli._models import make_models
from skfilterrank.cli._output import describe, draw, format_report, value_of
from skfilterrank.cli._streams import progress, results, tell
from skfilterrank.cli._thresholds import WITH_CURVE, make_threshold, read_measure
from skfilterrank.cli.rank_filter.options import FOLDS, MEASURE, K
from skfilterrank.exceptions import InputError, brief
from skfilterrank.io import save_model
from skfilterrank.metrics import rank_filter_report
from skfilterrank.ranking import compare_rankers, get_ranker_names


def run(arguments) -> None:
    """Run the command."""
    arguments.models = arguments.models or get_ranker_names("loss")
    measure = read_measure(arguments, MEASURE)
    k = measure.k or (K if arguments.k == 0 else arguments.k)
    if measure.measure.takes_k:
        measure = measure.with_cutoff(k)
    threshold = make_threshold(arguments, measure)
    _check_baseline(arguments)
    if arguments.plot and arguments.threshold not in WITH_CURVE:
        raise InputError(
            "--plot draws the curve that a threshold is searched along, and there is none for "
            f"--threshold {arguments.threshold or 'none'}: leave one out, or take one of "
            f"{', '.join(WITH_CURVE)}."
        )
    train = read_rows(arguments.train, arguments)
    settings = settings_of(train, arguments)
    tell(f"{arguments.train}: {train}")
    if train.columns is not None:
        tell(f"columns: {train.columns}")
    if train.unused:
        tell(f"columns not used: {', '.join(train.unused)}")
    if arguments.test_data:
        test = read_rows(arguments.test_data, arguments, like=settings)
        tell(f"{arguments.test_data}: {test}")
        labels = {arguments.train: train.y, arguments.test_data: test.y}
        folds = min(FOLDS, train.groups.nunique())
        where: dict[str, Any] = {"X_test": test.X, "groups_test": test.groups, "cv": folds}
    else:
        test = train
        labels = {arguments.train: train.y}
        where = {"cv": _folds(train, arguments.cv), "refit": bool(arguments.save or arguments.plot)}
    if arguments.out_run:
        check_ids(test, list_format(arguments.out_run), "--out-run FILE.csv or FILE.jsonl")
    gains = match_gains(arguments.gains, labels)
    if unknown := unknown_labels(arguments.gains, labels):
        tell(f"labels with a gain that do not occur: {', '.join(unknown)}")
    models = make_models(
        arguments.models,
        train.columns,
        learner=arguments.learner,
        measure=measure.text,
        threshold=threshold,
        gains=gains,
        seed=arguments.seed,
        jobs=arguments.jobs,
        n_queries=_queries_to_tune(train, None if arguments.test_data else where["cv"]),
    )
    name_documents(train.docnos)
    comparison = compare_rankers(
        models,
        train.X,
        train.y,
        groups=train.groups,
        **where,
        judged_by=train.judged_by,
        verbose=0 if arguments.quiet else 1 + progress(arguments),
    )
    best, scores = comparison.best, comparison.scores
    if arguments.threshold is None:
        # Nothing is filtered: each model is its own ranking, and its filter keeps all.
        scores = {name: scores[name] for name in (*models, "filter-all")}
    baseline = arguments.baseline or (
        best if arguments.threshold is None else f"rank-only ({best})"
    )
    report = rank_filter_report(
        test.y,
        scores,
        groups=test.groups,
        k=k,
        gains=gains,
        baseline=baseline,
        own_baselines=None if arguments.threshold is None else comparison.own_baselines,
    )
    # Before anything is shown, as whoever reads the output may have gone.
    _write_files(arguments, comparison, test, settings)
    certificate = getattr(comparison.models.get(best), "certificate_", None)
    marked = best if best in comparison.cv_scores else None
    with results(arguments) as (format, write):
        if format == "csv":
            write(csv_text(report))
        elif format == "json":
            write(report.reset_index().to_json(orient="records", lines=True))
        else:
            lines = [format_report(report, k, models=models, best=marked, baseline=baseline)]
            if marked:
                value = f"{value_of(comparison.cv_scores[best], measure.measure):.3f}"
                lines.append(f"* best by cross-validation on {printable(arguments.train)}: {value}")
            if certificate is not None:
                lines.append(f"\n{certificate}")
            write("\n".join([*lines, ""]))


def _write_files(arguments, comparison, test, settings):
    """Write what was asked for."""
    best = comparison.best
    # First what took longest, and cannot be made again from the others.
    if arguments.save:
        saved = {"model": comparison.models[best], "name": best, "table": settings}
        save_model(saved, arguments.save)
        tell(f"model: {arguments.save}")
    if arguments.out_run:
        format = list_format(arguments.out_run)
        counts = write_lists(
            arguments.out_run, test, comparison.scores[best], name=best, format=format
        )
        tell(f"run: {arguments.out_run}, {describe(counts)}")
    if arguments.plot:
        draw(comparison.models[best], arguments.plot, f"{best}, {arguments.train}")
        tell(f"picture: {arguments.plot}")


def _folds(train, n_folds):
    """Splits of the training rows by query."""
    n_queries = train.groups.nunique()
    if n_folds is None:
        n_folds = min(FOLDS, n_queries)
    if n_queries < 2:
        raise InputError(
            "there is only one query, and comparing by cross-validation needs at least two: give "
            "more queries, or judged rows of other queries with --test-data."
        )
    if n_folds > n_queries:
        raise InputError(
            f"--cv {n_folds} needs as many queries, but there are {n_queries}: lower it to "
            f"{n_queries} at most."
        )
    folds = GroupKFold(n_folds, shuffle=True, random_state=0)
    return list(folds.split(train.groups, groups=train.groups.to_numpy()))


def _queries_to_tune(train, splits):
    """Number of queries of the smallest training set."""
    if splits is None:
        return train.groups.nunique()
    return min(train.groups[rows].nunique() for rows, _ in splits)


def _check_baseline(arguments):
    """A wrong name is told before hours of training."""
    if arguments.baseline is None:
        return
    systems = list(arguments.models)
    if arguments.threshold is not None:
        systems += [f"rank-only ({name})" for name in arguments.models]
        systems += [f"filter-only ({name})" for name in arguments.models]
    systems.append("filter-all")
    if arguments.baseline not in systems:
        raise InputError(
            f"--baseline {brief(arguments.baseline)} is not one of the systems: "
            f"{', '.join(systems)}."
        )

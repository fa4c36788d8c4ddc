"""``skfilterrank rank-filter``: train, tune, compare."""

import sys

from pandas.io.common import infer_compression
from sklearn.model_selection import GroupKFold

from skfilterrank._files.files import open_replacing
from skfilterrank._printable import printable
from skfilterrank.cli import _file_options as files
from skfilterrank.cli import _options as options
from skfilterrank.cli._data import read_rows, settings_of
from skfilterrank.cli._label_gains import match_gains, unknown_labels
from skfilterrank.cli._models import TUNING_FOLDS, make_models
from skfilterrank.cli._output import draw, format_report
from skfilterrank.cli._streams import say, say_nothing, show
from skfilterrank.exceptions import InputError, brief
from skfilterrank.io import save_model, write_run
from skfilterrank.metrics import rank_filter_report
from skfilterrank.ranking import LEARNERS, LOSSES, compare_rankers


def add_arguments(parser) -> None:
    """Say what the command takes."""
    parser.description = (
        "Train models that rank each query's documents and filter the forbidden "
        "ones, choose each threshold by query-grouped cross-validation, and compare them all "
        "with ranking only and filtering only. The table goes to standard output, messages to "
        "standard error."
    )
    parser.add_argument(
        "train", type=files.read, metavar="TRAIN", help="LETOR text, CSV, TSV, JSONL or Parquet"
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--test", type=files.read, metavar="FILE", help="judged rows to compare the models on"
    )
    where.add_argument(
        "--cv",
        type=options.folds,
        metavar="N",
        help=f"compare by N folds of TRAIN (default without --test: {TUNING_FOLDS})",
    )
    add_table_arguments(parser)
    table = parser.add_argument_group("columns of tables")
    table.add_argument("--label", metavar="COLUMN", help="the label (default: label)")
    table.add_argument(
        "--text", metavar="COLUMN", help="text of the document (default: the longest text)"
    )
    table.add_argument(
        "--query-text", type=options.names, metavar="A,B", help="texts of the query (guessed)"
    )
    table.add_argument(
        "--same",
        type=options.pairs,
        metavar="A=B,...",
        help="columns of document and query whose equality matters (guessed)",
    )
    table.add_argument(
        "--numeric", type=options.names, metavar="A,B", help="numbers (default: all)"
    )
    table.add_argument(
        "--categorical", type=options.names, metavar="A,B", help="categories (default: none)"
    )
    parser.add_argument(
        "--models",
        type=options.losses,
        default=list(LOSSES),
        metavar="A,B",
        help=f"any of {','.join(LOSSES)} (default: all)",
    )
    parser.add_argument(
        "--learner",
        choices=("auto", *LEARNERS),
        default="auto",
        help="auto: a blend of linear models and trees for texts, trees for features",
    )
    parser.add_argument(
        "--k", type=options.places, default=3, help="places that count, or all (default: 3)"
    )
    parser.add_argument(
        "--gains",
        type=options.gains,
        metavar="LABEL=GAIN,...",
        help="gain of each label, below 0 for forbidden; or exp2 (default: the label is the gain)",
    )
    parser.add_argument(
        "--threshold",
        type=options.threshold,
        default="tune",
        metavar="tune|per_query|none|NUMBER",
        help="how rows are filtered (default: tune)",
    )
    parser.add_argument(
        "--baseline",
        metavar="SYSTEM",
        help="what to test against: a model, 'rank-only (MODEL)', 'filter-only (MODEL)' or "
        "filter-all (default: the best model's ranking without filtering)",
    )
    parser.add_argument("--out", type=files.written, metavar="FILE", help="write the table as CSV")
    parser.add_argument(
        "--run",
        dest="run_file",
        type=files.written,
        metavar="FILE",
        help="write the best model's lists of --test, or of the held-out folds, as a TREC run",
    )
    parser.add_argument(
        "--plot",
        type=files.picture,
        metavar="FILE",
        help="draw the best model's threshold curve (.png, .pdf, .svg)",
    )
    parser.add_argument(
        "--save",
        type=files.written,
        metavar="FILE",
        help="save the best model, fitted on all of TRAIN, for 'skfilterrank apply'",
    )
    parser.add_argument(
        "--seed", type=options.seed, default=0, help="seed of everything random (default: 0)"
    )
    parser.add_argument(
        "--jobs",
        type=options.jobs,
        metavar="N",
        help="folds fitted at a time; with texts 1 may be faster, since models then share features",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress, only the table")
    parser.set_defaults(run=run)


def add_table_arguments(parser) -> None:
    """Options that say how to read a file; shared with ``apply``."""
    parser.add_argument(
        "--format",
        choices=("letor", "csv", "tsv", "jsonl", "parquet"),
        help="format of the files (default: by their names; anything else is LETOR)",
    )
    parser.add_argument("--query", metavar="COLUMN", help="column of the query id (default: qid)")
    parser.add_argument(
        "--document",
        metavar="COLUMN",
        help="column of the document id (default: docno or docid; else they are numbered)",
    )


def run(arguments) -> None:
    """Run the command."""
    tell = say_nothing if arguments.quiet else say
    _check_baseline(arguments)
    if arguments.plot and not isinstance(arguments.threshold, str):
        raise InputError(
            "--plot draws how the threshold was tuned, but --threshold fixes it: leave one out."
        )
    train = read_rows(arguments.train, arguments)
    settings = settings_of(train, arguments)
    tell(f"{arguments.train}: {train}")
    if train.columns is not None:
        tell(f"columns: {train.columns}")
    if train.unused:
        tell(f"columns not used: {', '.join(train.unused)}")
    if arguments.test:
        test = read_rows(arguments.test, arguments, like=settings)
        tell(f"{arguments.test}: {test}")
        labels = {arguments.train: train.y, arguments.test: test.y}
        folds = min(TUNING_FOLDS, train.groups.nunique())
        where = {"X_test": test.X, "groups_test": test.groups, "cv": folds}
    else:
        test = train
        labels = {arguments.train: train.y}
        where = {"cv": _folds(train, arguments.cv), "refit": bool(arguments.save or arguments.plot)}
    gains = match_gains(arguments.gains, labels)
    if unknown := unknown_labels(arguments.gains, labels):
        tell(f"labels with a gain that do not occur: {', '.join(unknown)}")
    models = make_models(
        arguments.models,
        train.columns,
        learner=arguments.learner,
        k=arguments.k,
        gains=gains,
        threshold=arguments.threshold,
        seed=arguments.seed,
        jobs=arguments.jobs,
        n_queries=_queries_to_tune(train, None if arguments.test else where["cv"]),
    )
    comparison = compare_rankers(
        models,
        train.X,
        train.y,
        groups=train.groups,
        **where,
        random_state=arguments.seed,
        verbose=0 if arguments.quiet else 1 + sys.stderr.isatty(),
    )
    best, scores = comparison.best, comparison.scores
    if arguments.threshold is None:
        # Nothing is filtered: each model is its own ranking, and its filter keeps all.
        scores = {name: scores[name] for name in (*models, "filter-all")}
    baseline = arguments.baseline or (
        best if arguments.threshold is None else f"rank-only ({best})"
    )
    report = rank_filter_report(
        test.y, scores, groups=test.groups, k=arguments.k, gains=gains, baseline=baseline
    )
    # Before anything is shown, as whoever reads the output may have gone.
    _write_files(arguments, comparison, test, report, settings, tell)
    marked = best if best in comparison.cv_scores else None
    show(format_report(report, models=models, best=marked, baseline=baseline) + "\n")
    if marked:
        score = f"{comparison.cv_scores[best]:.3f}"
        show(f"* best by cross-validation on {printable(arguments.train)}: {score}\n")


def _write_files(arguments, comparison, test, report, settings, tell):
    """Write what was asked for."""
    best = comparison.best
    if arguments.out:
        with open_replacing(arguments.out) as handle:
            report.to_csv(handle, mode="wb", compression=infer_compression(arguments.out, "infer"))
        tell(f"table: {arguments.out}")
    if arguments.run_file:
        counts = write_run(
            arguments.run_file,
            test.groups,
            docnos=test.docnos,
            y_score=comparison.scores[best],
            name=best,
        )
        tell(f"run: {arguments.run_file}, {describe(counts)}")
    if arguments.plot:
        draw(comparison.models[best], arguments.plot, f"{best}, {arguments.train}")
        tell(f"picture: {arguments.plot}")
    if arguments.save:
        saved = {"model": comparison.models[best], "name": best, "table": settings}
        save_model(saved, arguments.save)
        tell(f"model: {arguments.save}")


def describe(counts) -> str:
    """What is in a run."""
    return (
        f"{counts.written:,} documents, {counts.filtered:,} filtered, {counts.empty_queries:,} "
        "queries left empty"
    )


def _folds(train, n_folds):
    """Splits of the training rows by query."""
    n_queries = train.groups.nunique()
    if n_folds is None:
        n_folds = min(TUNING_FOLDS, n_queries)
    if n_queries < 2:
        raise InputError(
            "there is only one query, and comparing by cross-validation needs at least two: give "
            "more queries, or judged rows of other queries with --test."
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

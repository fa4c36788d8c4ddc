"""``skfilterrank rank-filter``: train, tune, compare."""

import argparse
import sys

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GroupKFold
from tqdm.auto import tqdm

from skfilterrank._sklearn_compat import safe_indexing
from skfilterrank.cli._data import JudgedRows, read_rows, settings_of
from skfilterrank.io import save_model, write_run
from skfilterrank.metrics import rank_filter_report
from skfilterrank.ranking import (
    LEARNERS,
    LOSSES,
    FilterOnly,
    RankAndFilter,
    make_ranker,
    make_text_features,
    share_features,
)


def add_parser(commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "rank-filter",
        help="train models that rank and filter, and compare them",
        description="Train models that rank each query's documents and filter the forbidden "
        "ones, choose each threshold by query-grouped cross-validation, and compare them all "
        "with ranking only and filtering only.",
    )
    parser.add_argument("train", metavar="TRAIN", help="LETOR text, CSV, TSV, JSONL or Parquet")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--test", metavar="FILE", help="judged rows to compare the models on")
    where.add_argument(
        "--cv", type=int, metavar="N", help="compare by N folds of TRAIN (5 without --test)"
    )
    add_table_arguments(parser)
    parser.add_argument("--label", metavar="COLUMN", help="column of the label (default: label)")
    parser.add_argument(
        "--text", metavar="COLUMN", help="text of the document (default: the longest text)"
    )
    parser.add_argument(
        "--query-text", type=_names, metavar="A,B", help="texts of the query (default: guessed)"
    )
    parser.add_argument(
        "--same",
        type=_pairs,
        metavar="A=B,...",
        help="columns of document and query whose equality matters (default: guessed)",
    )
    parser.add_argument(
        "--numeric", type=_names, metavar="A,B", help="numeric columns (default: all)"
    )
    parser.add_argument(
        "--models",
        type=_losses,
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
    parser.add_argument("--k", type=int, default=3, help="places that count (default: 3)")
    parser.add_argument(
        "--gains",
        type=_gains,
        metavar="LABEL=GAIN,...",
        help="gain of each label, below 0 for forbidden; or exp2 (default: the label is the gain)",
    )
    parser.add_argument(
        "--threshold",
        type=_threshold,
        default="tune",
        metavar="tune|per_query|NUMBER",
        help="how rows are filtered (default: tune)",
    )
    parser.add_argument(
        "--baseline",
        metavar="SYSTEM",
        help="line of the table to test against (default: the "
        "best model's ranking without filtering)",
    )
    parser.add_argument("--out", metavar="FILE", help="write the table as CSV")
    parser.add_argument(
        "--run", dest="run_file", metavar="FILE", help="write the best model's list as a TREC run"
    )
    parser.add_argument("--plot", metavar="FILE", help="draw the best model's threshold curve")
    parser.add_argument("--save", metavar="FILE", help="save the best model, fitted on TRAIN")
    parser.add_argument("--seed", type=int, default=0, help="seed of everything random")
    parser.add_argument("--jobs", type=int, metavar="N", help="folds fitted at a time")
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
        "--document", metavar="COLUMN", help="column of the document id (default: docno or docid)"
    )


def run(arguments) -> None:
    """Run the command."""
    train = read_rows(arguments.train, arguments)
    say = _quiet if arguments.quiet else _say
    say(f"{arguments.train}: {train}")
    if train.columns is not None:
        say(f"columns: {train.columns}")
    settings = settings_of(train, arguments, arguments.train)
    gains = matched_gains(arguments.gains, train.y)
    if arguments.test:
        test = read_rows(arguments.test, arguments, like=settings)
        say(f"{arguments.test}: {test}")
        splits = [(None, None)]
    else:
        test = train
        n_folds = 5 if arguments.cv is None else arguments.cv
        if not 2 <= n_folds <= train.groups.nunique():
            raise ValueError(
                f"--cv must lie between 2 and the number of queries, {train.groups.nunique()}, "
                f"got {n_folds}."
            )
        splits = list(GroupKFold(n_folds).split(train.groups, groups=train.groups.to_numpy()))
    models = make_models(train, arguments, gains)
    fitted, scores = compare(models, train, test, splits, arguments)
    best = max(fitted, key=lambda name: tuned_score(fitted[name]))
    baseline = arguments.baseline or f"rank-only ({best})"
    report = rank_filter_report(
        test.y, scores, groups=test.groups, k=arguments.k, gains=gains, baseline=baseline
    )
    print_report(report, baseline)
    say(f"best by cross-validation on {arguments.train}: {best}")
    if arguments.out:
        report.to_csv(arguments.out)
        say(f"table: {arguments.out}")
    if arguments.run_file:
        counts = write_run(arguments.run_file, test.groups, test.docnos, scores[best], run=best)
        say(
            f"run: {arguments.run_file}, {counts.written:,} documents, "
            f"{counts.filtered:,} filtered, {counts.empty_queries:,} queries left empty"
        )
    if arguments.plot:
        draw(fitted[best], arguments.plot)
        say(f"picture: {arguments.plot}")
    if arguments.save:
        save_model({"model": fitted[best], "table": settings}, arguments.save)
        say(f"model: {arguments.save}")


def make_models(train: JudgedRows, arguments, gains) -> dict[str, RankAndFilter]:
    """One unfitted RankAndFilter for each loss."""
    learner = arguments.learner
    if learner == "auto":
        learner = "blend" if train.is_text else "trees"
    features = None
    if train.is_text:
        columns = train.columns
        features = {
            kind: make_text_features(
                document=columns.text,
                query=columns.query_text,
                same=columns.same,
                numeric=columns.numeric,
                groups="qid",
                output=output,
            )
            for kind, output in (("linear", "sparse"), ("trees", "dense"))
        }
    return {
        loss: RankAndFilter(
            make_ranker(loss, learner=learner, features=features, random_state=arguments.seed),
            gains=gains,
            k=arguments.k,
            threshold=arguments.threshold,
            n_jobs=arguments.jobs,
        )
        for loss in arguments.models
    }


def compare(models, train, test, splits, arguments):
    """Fit every model; filtered and unfiltered scores of the test rows, and the baselines'.

    A split of None is training on `train` and scoring `test`.
    """
    with share_features():
        return _compare(models, train, test, splits, arguments)


def _compare(models, train, test, splits, arguments):
    """Do it, with the features of one set of rows computed once."""
    fitted = {}
    scores = {name: np.empty(len(test.groups)) for name in models}
    ranked = {f"rank-only ({name})": np.empty(len(test.groups)) for name in models}
    shuffled = np.empty(len(test.groups))
    work = [(name, split) for name in models for split in splits]
    first = next(iter(models))
    for name, (train_rows, test_rows) in tqdm(work, desc="models", disable=arguments.quiet):
        model = models[name]
        part, held_out = _rows(train, train_rows), _rows(test, test_rows)
        model = _clone_fit(model, part)
        target = slice(None) if test_rows is None else test_rows
        scores[name][target] = model.predict(held_out.X, groups=held_out.groups)
        ranked[f"rank-only ({name})"][target] = model.decision_function(
            held_out.X, groups=held_out.groups
        )
        if name == first:
            only = FilterOnly(FrozenEstimator(model), random_state=arguments.seed)
            only.fit(part.X, part.y, groups=part.groups)
            shuffled[target] = only.predict(held_out.X, groups=held_out.groups)
        if train_rows is None:
            fitted[name] = model
    if not fitted:
        whole = tqdm(models.items(), desc="models, all rows", disable=arguments.quiet)
        fitted = {name: _clone_fit(model, train) for name, model in whole}
    scores |= ranked
    scores[f"filter-only ({first})"] = shuffled
    scores["filter-all"] = np.full(len(test.groups), -np.inf)
    return fitted, scores


def tuned_score(model) -> float:
    """Cross-validated score of a fitted model; with a fixed threshold there is none."""
    return getattr(model, "best_score_", 0.0)


def print_report(report: pd.DataFrame, baseline: str) -> None:
    """Print the table; shares as percentages would hide small differences, so three digits."""
    shown = report.rename(columns={"low": "95% from", "high": "to", "p_value": "p"})
    with pd.option_context("display.width", 200, "display.max_columns", None):
        print(shown.to_string(float_format="{:.3f}".format, na_rep=""))
    print(f"difference and p (paired t test over queries) against {baseline}")


def draw(model, path) -> None:
    """Draw a model's threshold curve into a file."""
    import matplotlib as mpl

    mpl.use("Agg")
    from skfilterrank.plot import ThresholdCurveDisplay

    display = ThresholdCurveDisplay.from_estimator(model)
    display.figure_.savefig(path, dpi=150, bbox_inches="tight")


def matched_gains(gains, y):
    """Gains with keys of the labels' type: a command line only knows text."""
    if isinstance(gains, dict) and pd.api.types.is_numeric_dtype(y):
        try:
            return {float(label): gain for label, gain in gains.items()}
        except ValueError:
            return gains
    return gains


def _clone_fit(model, rows):
    return clone(model).fit(rows.X, rows.y, groups=rows.groups)


def _rows(rows: JudgedRows, numbers) -> JudgedRows:
    """Some of the rows; None means all."""
    if numbers is None:
        return rows
    return JudgedRows(
        safe_indexing(rows.X, numbers),
        rows.y.iloc[numbers],
        rows.groups[numbers],
        rows.docnos[numbers],
        rows.columns,
    )


def _say(text):
    print(text, file=sys.stderr)


def _quiet(text):
    pass


def _names(text):
    return [name.strip() for name in text.split(",") if name.strip()]


def _pairs(text):
    pairs = [tuple(pair.split("=")) for pair in _names(text)]
    if any(len(pair) != 2 for pair in pairs):
        raise argparse.ArgumentTypeError(f"expected A=B, got {text!r}")
    return pairs


def _losses(text):
    names = _names(text)
    unknown = [name for name in names if name not in LOSSES]
    if unknown or not names:
        raise argparse.ArgumentTypeError(
            f"{', '.join(unknown) or 'nothing'} is not a model; choose from {', '.join(LOSSES)}"
        )
    return names


def _gains(text):
    if text in ("exp2", "none"):
        return None if text == "none" else text
    gains = {}
    for item in _names(text):
        label, equals, gain = item.rpartition("=")
        try:
            gains[label] = float(gain)
        except ValueError:
            equals = ""
        if not equals:
            raise argparse.ArgumentTypeError(f"expected LABEL=GAIN, got {item!r}")
    return gains


def _threshold(text):
    if text in ("tune", "per_query"):
        return text
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"expected tune, per_query or a number, got {text!r}"
        ) from None

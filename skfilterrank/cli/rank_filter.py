"""``skfilterrank rank-filter``: train models that rank and filter."""

import argparse
import math
import sys
import textwrap
import warnings
from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import Annotated, Any, Literal, NamedTuple

from skfilterrank._base.words import printable, progress_bar, repeat_warnings, with_warnings
from skfilterrank.cli import _types as t
from skfilterrank.cli._output import (
    Section,
    call,
    chosen_format,
    print_sections,
    progress,
    refuse,
    tell,
)
from skfilterrank.exceptions import DataWarning, FitWarning, InputError, Message, did_you_mean

_K = 3
_FOLDS = 5
_HEAD = ["", "nDCG_f", "95 % CI", "forbid %", "lost %"]
_folds = t.numeric(int, "a whole number from 2 up", lambda value: 1 < value < 2**31)


def _models(text):
    """Read names of rankers, each once."""
    from skfilterrank.ranking import LOSSES, METHODS

    listed, known = list(dict.fromkeys(t.names(text))), (*LOSSES, *METHODS)
    if unknown := [name for name in listed if name not in known]:
        raise argparse.ArgumentTypeError(
            f"expected models of {', '.join(known)}, got {', '.join(unknown)}."
            f"{did_you_mean(unknown[0], known, 1)}"
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
    roles: t.ColumnOptions,
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
        judged rows: LETOR text, CSV, TSV, JSON, JSONL, Parquet or Excel
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

    from skfilterrank._files.files import open_replacing
    from skfilterrank.cli import _inputs
    from skfilterrank.cli._rows import check_ids, write_lists
    from skfilterrank.cli.threshold import chosen_measure, make_threshold
    from skfilterrank.ranking import LOSSES

    if cv is not None and test_data is not None:
        raise InputError("--cv holds out rows of TRAIN. Leave out --cv or --test-data.")
    models = models or list(LOSSES)
    if set(models).isdisjoint(LOSSES):
        refuse(["learner"], f"is for losses ({', '.join(LOSSES)}). Leave it out.")
    chosen, k, threshold = chosen_measure(cutting), cutting.k, cutting.threshold
    places = chosen.k or (_K if k is None else k or None)
    if chosen.measure.takes_k:
        chosen = chosen.with_cutoff(places)
    drawn = {"random_state": random_state, "n_jobs": n_jobs}
    unfitted = make_threshold(cutting, chosen, drawn)
    trained, tested = _read(train, test_data, roles.given(), learner)
    run_format = chosen_format(None, out_run, t.LISTS)
    if out_run is not None:
        check_ids(tested, run_format, "--out-run FILE.csv or FILE.jsonl")
    labels = {train: trained.y, test_data or train: tested.y}
    matched = _inputs.match_gains(gains, labels)
    comparison = compared(
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
        # Nothing is hidden: each model is its own ranking.
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
    report, marks = comparison.report(tested, k=places, gains=matched), best in comparison.cv_scores
    foot = _foot(comparison, train, chosen, cutting.risk)
    section = report_section(report, comparison, k=places, gains=matched, marks=marks, foot=foot)
    print_sections([section], chosen_format(format, out, t.TABLES), out)


def _read(train, test_data, options, learner):
    """Read the training rows and the rows to compare models on, and print their numbers."""
    from scipy.sparse import issparse

    from skfilterrank.cli._rows import read_rows

    trained = read_rows(train, options)
    if learner == "linear" and issparse(trained.X):
        raise InputError(
            f"{train}: less than a tenth of the features differ from 0, and --learner linear needs "
            "more of them. Take --learner trees."
        )
    tell(f"{train}: {trained}")
    for line in trained.told_columns():
        tell(line)
    if test_data is None:
        return trained, trained
    tested = read_rows(test_data, options, trained.settings)
    tell(f"{test_data}: {tested}")
    return trained, tested


def _foot(comparison, train, measure, risk):
    """Yield lines on the best model: its value, its kept answer and its certificate."""
    from skfilterrank.cli.threshold import in_full, value_of

    best = comparison.best
    if best in comparison.cv_scores:
        value = value_of(comparison.cv_scores[best], measure)
        yield f"* best by cross-validation on {train}: {value:.3f}"
    fitted = comparison.models.get(best)
    if kept := getattr(fitted, "summary_", "").partition("; kept: ")[2]:
        yield f"{best}, fitted on all of {train}, keeps: {kept}"
    if (certificate := getattr(fitted, "certificate_", None)) is not None:
        yield in_full(certificate)
    elif risk:
        yield "--save fits the best model on all of TRAIN, and prints its certificate"


def make_models(
    names, columns, *, learner, threshold, random_state, n_queries, **settings
) -> dict[str, Any]:
    """Make an unfitted model for each name; `n_queries` are there to tune the threshold on."""
    from skfilterrank.ranking import LOSSES, RankAndFilter, make_ranker
    from skfilterrank.thresholds import FixedThreshold

    if n_queries < 2 and (len(names) > 1 or not isinstance(threshold, FixedThreshold)):
        raise InputError(
            "there is only one query to learn from, and choosing a threshold or a model needs at "
            "least two. Give more queries, or one model and a number as its --threshold."
        )
    if learner == "auto":
        learner = "blend" if columns is not None and columns["text"] else "trees"
    made: dict[str, Any] = {"random_state": random_state}
    made["features"] = columns and {kind: _features(columns, kind) for kind in ("linear", "trees")}
    # Certificates need calibration queries that the final model was not fitted on.
    folds = None if threshold.is_calibrated or n_queries < 2 else min(_FOLDS, n_queries)
    models = {}
    for name in names:
        ranker = make_ranker(name, learner=learner if name in LOSSES else None, **made)
        models[name] = RankAndFilter(ranker, threshold, cv=folds, **settings)
    return models


def _features(columns, kind):
    """Make the features of a table, for linear models or for trees."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    from skfilterrank.ranking import make_text_features

    if columns["text"] is not None:
        others = {role: names for role, names in columns.items() if role != "text"}
        output = "sparse" if kind == "linear" else "dense"
        return make_text_features(
            document=columns["text"], **others, query="qid", output=output, random_state=0
        )
    impute = SimpleImputer(keep_empty_features=True)
    numeric = make_pipeline(impute, StandardScaler()) if kind == "linear" else "passthrough"
    onehot = OneHotEncoder(
        handle_unknown="infrequent_if_exist", min_frequency=10, sparse_output=False
    )
    return ColumnTransformer(
        [("numeric", numeric, columns["numeric"]), ("categorical", onehot, columns["categorical"])]
    )


class Comparison(NamedTuple):
    """Compared models, with their scores and those of their baselines.

    Attributes
    ----------
    scores : dict of str to ndarray
        Held-out scores of each system, -inf where hidden: the models, what each would show without
        its threshold, and in random order with it, and the empty list.
    models_of : dict of str to str
        The model of each system that is a part of one.
    cv_scores : dict of str to float
        Each model's measure on the training rows, by cross-validation; empty if there is no choice.
    best : str
        The model with the highest of `cv_scores`.
    models : dict of str to RankAndFilter
        The models that were fitted on all training rows.
    first_k : dict of str to set of int
        The numbers k of "first k" of each model; folds may have several.
    """

    scores: dict[str, Any]
    models_of: dict[str, str]
    cv_scores: dict[str, float]
    best: str
    models: dict[str, Any]
    first_k: dict[str, set[int]]

    def report(self, rows, *, k, gains=None):
        """Compare each system with its own model, and each model with the best one."""
        names = self.scores
        everything = {name: f"everything ({self.models_of.get(name, name)})" for name in names}
        from skfilterrank.metrics import rank_filter_report

        return rank_filter_report(
            rows.y,
            self.scores,
            groups=rows.groups,
            k=k,
            gains=gains,
            baseline={
                name: self.models_of.get(name, self.best) for name in names if name != self.best
            },
            rankings={name: other for name, other in everything.items() if other in names},
        )


def compared(names, train, test, *, cv, refit, **settings) -> Comparison:
    """Train models and score the rows of `test`, or those of `train` out of fold."""
    from skfilterrank.thresholds import FixedThreshold

    n_queries, splits = train.groups.nunique(), []
    if test is None:
        splits = _splits(train, cv, n_queries)
        n_queries = min(train.groups[rows].nunique() for rows, _ in splits)
    models = make_models(names, train.columns, n_queries=n_queries, **settings)
    if test is not None and len(names) > 1 and isinstance(settings["threshold"], FixedThreshold):
        # The best model is chosen by the training rows alone.
        splits = _splits(train, None, n_queries)
    call.documents = train.docnos
    return compare_models(models, train, test, splits=splits, refit=refit)


def compare_models(models, train, test, *, splits, refit) -> Comparison:
    """Fit models on each split and on all rows, as far as needed, and score held-out rows.

    With `test`, models of thresholds that are tuned are compared by ``best_score_``. Without it,
    only the best one is fitted on all rows, with `refit`.
    """
    from skfilterrank._lists.measure_names import parse_measure
    from skfilterrank.ranking import share_features
    from skfilterrank.thresholds import FixedThreshold

    n_fits = len(models) * len(splits) + (bool(refit) if test is None else len(models))
    # Terminals get a moving bar, log files an occasional line.
    interval = 0.1 if sys.stderr.isatty() else 10
    fitted, cv_scores = {}, {}
    first_k: dict[str, set[int]] = {name: set() for name in models}
    with progress_bar(total=n_fits, unit="model", verbose=progress(), mininterval=interval) as bar:
        if test is not None:
            # Models share their text features.
            with share_features():
                fitted = {name: _fit(models, name, train, bar) for name in models}
                both = {
                    name: _predict(model, test, first_k[name]) for name, model in fitted.items()
                }
            cv_scores = {
                name: model.best_score_
                for name, model in fitted.items()
                if not isinstance(model.filter_, FixedThreshold)
            }
        if splits:
            out_of_fold = _out_of_fold(
                models, train, splits, bar, {} if test is not None else first_k
            )
            cv_scores = {
                name: parse_measure(models[name].measure).utility(
                    train.y, scores[""], groups=train.groups, gains=models[name].gains
                )
                for name, scores in out_of_fold.items()
            }
        best = max(cv_scores, key=cv_scores.__getitem__, default=next(iter(models)))
        if test is None:
            both = out_of_fold
            fitted = {best: _fit(models, best, train, bar)} if refit else {}
    systems, models_of = _systems(both)
    return Comparison(systems, models_of, cv_scores, best, fitted, first_k)


def _fit(models, name, train, bar, part="all rows"):
    """Fit a clone of a model, and advance the bar."""
    from sklearn.base import clone

    from skfilterrank._base.checks import label_array
    from skfilterrank.thresholds import AS_GOOD, IN_EVERY_LIST, by_machines

    model = clone(models[name])
    bar.set_description(f"{printable(name)}, {part}")
    model.set_params(verbose=int(progress()))
    _, warned = with_warnings(
        partial(model.fit, train.X, label_array(train.y), groups=train.groups)
    )
    # Warnings about one model name it; those about the rows are printed once for all models.
    repeat_warnings(
        (
            Message(f"{name}: {text.text}", text.argument)
            if AS_GOOD in text or IN_EVERY_LIST in text
            else text,
            category,
        )
        for text, category in warned
    )
    if train.n_machine and hasattr(model, "certificate_"):
        certificate = model.certificate_.with_conditions(by_machines(train.n_machine))
        model.certificate_ = model.filter_.certificate_ = certificate
    model.set_params(verbose=models[name].verbose)
    bar.update()
    return model


def _predict(model, rows, first_k):
    """Score rows by a model, and by the answers without its threshold; add k to `first_k`."""
    shown = {"": model.predict(rows.X, groups=rows.groups)}
    for answer, scores in model.answers(rows.X, groups=rows.groups).items():
        # The number k differs between folds.
        if is_first := answer.startswith("first "):
            first_k.add(int(answer.removeprefix("first ")))
        shown["first k" if is_first else answer] = scores
    return shown


def _out_of_fold(models, train, splits, bar, first_k):
    """Compute the scores of held-out rows, with and without the filter."""
    import numpy as np

    from skfilterrank._base.sklearn_compat import safe_indexing
    from skfilterrank.ranking import share_features
    from skfilterrank.thresholds import AS_GOOD, IN_EVERY_LIST, STILL_UNJUDGED

    scores: dict[str, dict] = {name: {} for name in models}
    for number, (rows, held_out) in enumerate(splits, 1):
        part, unseen = (
            replace(
                train,
                X=safe_indexing(train.X, each),
                y=safe_indexing(train.y, each),
                groups=train.groups[each],
            )
            for each in (rows, held_out)
        )
        # Only one fold's features are in memory.
        with share_features():
            for name in models:
                with warnings.catch_warnings():
                    # Models that are fitted on all rows give these warnings again.
                    warnings.filterwarnings("ignore", f".*({AS_GOOD}|{IN_EVERY_LIST})", FitWarning)
                    warnings.filterwarnings("ignore", f".*{STILL_UNJUDGED}", DataWarning)
                    model = _fit(models, name, part, bar, f"fold {number}/{len(splits)}")
                for answer, found in _predict(
                    model, unseen, first_k.setdefault(name, set())
                ).items():
                    scores[name].setdefault(answer, np.empty(len(train.y)))[held_out] = found
    return scores


def _systems(both):
    """Return the scores of models and of their baselines, and the model of each baseline.

    What a model shows has equal scores in "filter-only": measures average over ties. With
    "everything" (rank-only) and "nothing" (filter-all), it is a baseline of section 5.4 of Carmel
    et al. 2022.
    """
    import numpy as np

    systems, models_of = {name: parts[""] for name, parts in both.items()}, {}
    for name, parts in both.items():
        shown = np.where(np.isneginf(parts[""]), -np.inf, 0.0)
        for part, scores in (parts | {"filter-only": shown}).items():
            if part not in ("", "nothing"):
                systems[f"{part} ({name})"], models_of[f"{part} ({name})"] = scores, name
    return systems | {"nothing": np.full_like(shown, -np.inf)}, models_of


def _splits(train, n_folds, n_queries):
    """Split the training rows by query."""
    import numpy as np

    from skfilterrank._base.checks import label_array
    from skfilterrank._lists.content import by_content, hash_rows, query_folds
    from skfilterrank._lists.queries import GroupIndex

    if n_queries < 2:
        raise InputError(
            "there is only one query, and comparing by cross-validation needs at least two. Give "
            "more queries, or judged rows of other queries with --test-data."
        )
    if n_folds is not None and n_folds > n_queries:
        raise InputError(
            f"--cv {n_folds} needs as many queries, but there are {n_queries}. Lower it to "
            f"{n_queries} at most."
        )
    index = GroupIndex.from_groups(train.groups.to_numpy())
    numbers, _ = by_content(index, hash_rows(train.X), label_array(train.y))
    n_folds = n_folds or min(_FOLDS, n_queries)
    fold = query_folds(numbers.codes(), n_folds)
    return [(np.flatnonzero(fold != n), np.flatnonzero(fold == n)) for n in range(n_folds)]


def report_section(report, comparison, *, k, gains=None, marks=True, foot=()) -> Section:
    """Return a report of at most 100 columns, with each model's baselines below it."""
    best, models_of = comparison.best, comparison.models_of
    systems = {}
    for name in report.index:
        if name not in models_of:
            systems[name] = f"{name} *" if name == best and marks else name
            parts = [each for each in report.index if models_of.get(each) == name]
            systems |= {part: f"  {part.removesuffix(f' ({name})')}" for part in parts}
    rows = [[label, *cells(report.loc[name], k)] for name, label in systems.items()]
    places = f"the {k} places shown" if k else "all that is shown"
    notes = [
        f"measures at {k or 'all'} places; forbid: share of {places} that is forbidden;",
        "lost: share of good documents that is hidden; "
        f"of {k or 'all'}: of those among the ranking's first {k or 'documents'};",
        "empty: share of queries shown nothing; first k: as many as were best on training rows;",
        f"diff.: nDCG_f of a line less its model, of a model less {best}, paired by query",
        f"gains: {_gains_in_words(gains)}",
    ]
    numbers = {
        name: f"{min(each)}-{max(each)}" if len(each) > 1 else f"{min(each)}"
        for name, each in comparison.first_k.items()
        if each and f"first k ({name})" in report.index
    }
    if numbers:
        told = ", ".join(f"{name} {each}" for name, each in numbers.items())
        notes += textwrap.wrap(f"k of first k: {told}", 100, break_on_hyphens=False)
    value, own = (report.loc[name].iloc[0] for name in ("nothing", best))
    if value > own:
        notes.append(f"Showing nothing has a higher nDCG_f ({value:.3f}) than {best} ({own:.3f}).")
    shorter = {_rejects(k): "false_reject_rate_at_k"}
    named = report.rename(columns=lambda name: shorter.get(name, name.partition("@")[0]))
    records = [{"k": k or None} | record for record in named.reset_index().to_dict("records")]
    head = [*_HEAD, f"of {k or 'all'} %", "empty %", "diff.", "95 % CI"]
    return Section(report, records, [head, *rows], foot="\n".join(["", *notes, *foot]))


def _gains_in_words(gains):
    """Return the gains of labels in words."""
    if gains is None:
        return "the labels themselves"
    if not isinstance(gains, dict):
        return str(gains)
    words = ", ".join(
        f"{label}={gain:g}" for label, gain in sorted(gains.items(), key=itemgetter(1))
    )
    return textwrap.shorten(words, 90, placeholder=" ...")


def cells(row, k):
    """Return the cells of a system; shares are in percent, and a missing number is empty."""
    forbidden, rejects = f"forbidden@{k}" if k else "forbidden", _rejects(k)
    names = [forbidden, "false_reject_rate", rejects, "empty_list_rate"]
    shares = [100 * row.get(name, math.nan) for name in names]
    return [
        f"{row.iloc[0]:.3f}",
        _told("{:.3f}-{:.3f}", row["low"], row["high"]),
        *(_told("{:.1f}", share) for share in shares),
        _told("{:+.3f}", row["difference"]),
        _told("{:+.3f} to {:+.3f}", row["difference_low"], row["difference_high"]),
    ]


def _rejects(k):
    """Return the column of a report with the good documents of the first k that are hidden."""
    return f"false_reject_rate@{k or 'all'}"


def _told(form, *numbers) -> str:
    """Write numbers in a form; nothing if one is missing."""
    return "" if any(map(math.isnan, numbers)) else form.format(*numbers)

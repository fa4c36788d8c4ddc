"""Models of ``rank-filter``, their comparison, and the report."""

import sys
import warnings
from dataclasses import replace
from textwrap import wrap
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from skfilterrank._lists.checks import label_array
from skfilterrank._lists.content import by_content, hash_rows, query_folds
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank._lists.queries import GroupIndex
from skfilterrank._lists.sklearn_compat import safe_indexing
from skfilterrank._lists.words import printable, progress_bar
from skfilterrank.cli._output import Section, call, progress
from skfilterrank.exceptions import DataWarning, FitWarning, InputError
from skfilterrank.ranking import (
    LOSSES,
    RankAndFilter,
    make_ranker,
    make_text_features,
    share_features,
)
from skfilterrank.thresholds import (
    NOT_SHOWN_TO_PAY,
    STILL_UNJUDGED,
    FixedThreshold,
    by_machines,
)

# Thresholds with a curve that can be drawn.
WITH_CURVE = ("tune", "first_k")
_FOLDS = 5
_RANK_ONLY = "rank-only ({})"
_HEAD = ["", "nDCG_f", "95 % CI", "nDCG_0", "nDCG_min", "forbid %", "lost %", "empty %"]


def make_models(
    names, columns, *, learner, threshold, random_state, n_queries, **settings
) -> dict[str, RankAndFilter]:
    """Make an unfitted model for each name; `n_queries` are there to tune the threshold on."""
    if n_queries < 2 and (len(names) > 1 or not isinstance(threshold, FixedThreshold)):
        raise InputError(
            "there is only one query to learn from, and choosing a threshold or a model needs at "
            "least two. Give more queries, or one model and a number as its --threshold."
        )
    if learner == "auto":
        learner = "blend" if columns is not None and columns["text"] else "trees"
    made: dict[str, Any] = {"random_state": random_state}
    made["features"] = columns and {kind: _features(columns, kind) for kind in ("linear", "trees")}
    # Guarantees need calibration queries that the final model was not fitted on.
    folds = None if threshold.is_calibrated or n_queries < 2 else min(_FOLDS, n_queries)
    models = {}
    for name in names:
        ranker = make_ranker(name, learner=learner if name in LOSSES else None, **made)
        models[name] = RankAndFilter(ranker, threshold, cv=folds, **settings)
    return models


def _features(columns, kind):
    """Make the features of a table, for linear models or for trees."""
    if columns["text"] is not None:
        others = {role: names for role, names in columns.items() if role != "text"}
        output = "sparse" if kind == "linear" else "dense"
        return make_text_features(
            document=columns["text"], **others, query="qid", output=output, random_state=0
        )
    impute = SimpleImputer(keep_empty_features=True)
    scaled = Pipeline([("impute", impute), ("scale", StandardScaler())])
    numeric = scaled if kind == "linear" else "passthrough"
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
        Held-out scores of each system, -inf where hidden: the models, their rankings without the
        filter, what they show in random order, and the empty list.
    cv_scores : dict of str to float
        Each model's measure on the training rows, by cross-validation; empty if there is no choice.
    best : str
        The model with the highest of `cv_scores`.
    models : dict of str to RankAndFilter
        The models that were fitted on all training rows.
    """

    scores: dict[str, np.ndarray]
    cv_scores: dict[str, float]
    best: str
    models: dict[str, RankAndFilter]

    @property
    def own_baselines(self) -> dict[str, str]:
        """Each model's ranking without its filter, by the name of the model."""
        own = {name: _RANK_ONLY.format(name) for name in self.scores}
        return {name: ranking for name, ranking in own.items() if ranking in self.scores}


def compared(names, train, test, *, cv, refit, **settings) -> Comparison:
    """Train models and score the rows of `test`, or those of `train` out of fold."""
    n_queries, splits = train.groups.nunique(), []
    if test is None:
        splits = _splits(train, cv, n_queries)
        n_queries = min(train.groups[rows].nunique() for rows, _ in splits)
    models = make_models(names, train.columns, n_queries=n_queries, **settings)
    if test is not None and len(names) > 1 and isinstance(settings["threshold"], FixedThreshold):
        # The test rows have no say in the choice of the model.
        splits = _splits(train, None, n_queries)
    call.documents = train.docnos
    return compare_models(models, train, test, splits=splits, refit=refit)


def compare_models(models, train, test, *, splits, refit) -> Comparison:
    """Fit models on each split and on all rows, as far as needed, and score held-out rows.

    With `test`, models of thresholds that are tuned are compared by ``best_score_``. Without it,
    only the best one is fitted on all rows, with `refit`.
    """
    n_fits = len(models) * len(splits) + (bool(refit) if test is None else len(models))
    # Terminals get a moving bar, log files an occasional line.
    interval = 0.1 if sys.stderr.isatty() else 10
    fitted, cv_scores = {}, {}
    with progress_bar(total=n_fits, unit="model", verbose=progress(), mininterval=interval) as bar:
        if test is not None:
            # Models share their text features.
            with share_features():
                fitted = {name: _fit(models, name, train, bar) for name in models}
                both = {name: _predict(model, test) for name, model in fitted.items()}
            cv_scores = {
                name: model.best_score_
                for name, model in fitted.items()
                if not isinstance(model.filter_, FixedThreshold)
            }
        if splits:
            out_of_fold = _out_of_fold(models, train, splits, bar)
            cv_scores = {
                name: parse_measure(models[name].measure).utility(
                    train.y, scores[0], groups=train.groups, gains=models[name].gains
                )
                for name, scores in out_of_fold.items()
            }
        best = max(cv_scores, key=cv_scores.__getitem__, default=next(iter(models)))
        if test is None:
            both = out_of_fold
            fitted = {best: _fit(models, best, train, bar)} if refit else {}
    return Comparison(_with_baselines(both), cv_scores, best, fitted)


def _fit(models, name, train, bar, part="all rows"):
    """Fit a clone of a model, and advance the bar."""
    model = clone(models[name])
    bar.set_description(f"{printable(name)}, {part}")
    model.set_params(verbose=int(progress()))
    model.fit(train.X, label_array(train.y), groups=train.groups)
    if train.n_machine and hasattr(model, "certificate_"):
        certificate = model.certificate_.with_conditions(by_machines(train.n_machine))
        model.certificate_ = model.filter_.certificate_ = certificate
    model.set_params(verbose=models[name].verbose)
    bar.update()
    return model


def _predict(model, rows):
    """Score rows with and without the filter."""
    how = {"groups": rows.groups}
    return model.predict(rows.X, **how), model.decision_function(rows.X, **how)


def _out_of_fold(models, train, splits, bar):
    """Compute the scores of held-out rows, with and without the filter."""
    scores = {name: (np.empty(len(train.y)), np.empty(len(train.y))) for name in models}
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
                    # These are said of the models fitted on all rows.
                    warnings.filterwarnings("ignore", NOT_SHOWN_TO_PAY, FitWarning)
                    warnings.filterwarnings("ignore", f".*{STILL_UNJUDGED}", DataWarning)
                    model = _fit(models, name, part, bar, f"fold {number}/{len(splits)}")
                for whole, found in zip(scores[name], _predict(model, unseen)):
                    whole[held_out] = found
    return scores


def _with_baselines(both):
    """Return the scores of the models, and of the baselines of section 5.4 of Carmel et al. 2022.

    What a model shows has equal scores in "filter-only": measures average over ties.
    """
    shown = {name: scores for name, (scores, _) in both.items()}
    systems = shown | {_RANK_ONLY.format(name): scores for name, (_, scores) in both.items()}
    for name, scores in shown.items():
        systems[f"filter-only ({name})"] = np.where(np.isneginf(scores), -np.inf, 0.0)
    return systems | {"filter-all": np.full_like(scores, -np.inf)}


def _splits(train, n_folds, n_queries):
    """Split the training rows by query."""
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


def report_section(report, models, *, k, best, baseline, foot=()) -> Section:
    """Return a report of at most 100 columns, with rank-only and filter-only below each model."""
    systems = {}
    for name in models:
        systems[name] = f"{name} *" if name == best else name
        for part in ("rank-only", "filter-only"):
            systems[f"{part} ({name})"] = f"  {part}"
    systems = {name: systems[name] for name in systems if name in report.index}
    systems |= {name: name for name in report.index if name not in systems}
    rows = [[label, *_cells(report.loc[name], name == baseline)] for name, label in systems.items()]
    places = f"the {k} places shown" if k else "all that is shown"
    notes = [
        f"measures at {k or 'all'} places; forbid: share of {places} that is forbidden;",
        "lost: share of good documents that is filtered; empty: share of queries shown nothing;",
        f"diff. and p: nDCG_f against {baseline}, paired t test over queries",
    ]
    if "own_difference" in report:
        own = report.loc[list(models), ["own_difference", "own_p_value"]].itertuples()
        tested = {name: _tested(*values) for name, *values in own}
        compared = "; ".join(
            f"{printable(name)} {difference}{f' (p {p_value})' if p_value else ''}"
            for name, (difference, p_value) in tested.items()
        )
        notes += wrap(f"each model against its own rank-only: {compared}", 90)
    named = report.rename(columns=lambda name: name.partition("@")[0]).reset_index()
    records = [{"k": k or None} | record for record in named.to_dict("records")]
    return Section(
        report, records, [[*_HEAD, "diff.", "p"], *rows], foot="\n".join(["", *notes, *foot])
    )


def _cells(row, is_baseline):
    """Return the cells of a system; shares are in percent."""
    main, low, high, zero, least, *shares, difference, p_value = row.iloc[:10]
    interval = "" if np.isnan(low) else f"{low:.3f}-{high:.3f}"
    percents = ["" if np.isnan(share) else f"{100 * share:.1f}" for share in shares]
    tested = ["base", ""] if is_baseline else _tested(difference, p_value)
    return [f"{main:.3f}", interval, f"{zero:.3f}", f"{least:.3f}", *percents, *tested]


def _tested(difference, p_value):
    """Return a difference and its p value as text; empty if there is none."""
    return [
        "" if np.isnan(difference) else f"{difference:+.3f}",
        "" if np.isnan(p_value) else "<.001" if p_value < 0.0005 else f"{p_value:.3f}",
    ]

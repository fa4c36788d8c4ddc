"""Models of ``rank-filter``, their comparison, and the report."""

import sys
import textwrap
import warnings
from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from skfilterrank._base.checks import label_array
from skfilterrank._base.query_folds import query_folds
from skfilterrank._base.row_hashes import hash_rows
from skfilterrank._base.sklearn_compat import safe_indexing
from skfilterrank._base.words import printable, progress_bar, repeat_warnings, with_warnings
from skfilterrank._lists.content import by_content
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.cli._output import Section, call, progress
from skfilterrank.exceptions import DataWarning, FitWarning, InputError
from skfilterrank.metrics import rank_filter_report
from skfilterrank.ranking import (
    LOSSES,
    RankAndFilter,
    make_ranker,
    make_text_features,
    share_features,
)
from skfilterrank.thresholds import (
    AS_GOOD,
    STILL_UNJUDGED,
    FixedThreshold,
    by_machines,
)

_FOLDS = 5
_HEAD = ["", "nDCG_f", "95 % CI", "forbid %", "lost %"]


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

    scores: dict[str, np.ndarray]
    models_of: dict[str, str]
    cv_scores: dict[str, float]
    best: str
    models: dict[str, RankAndFilter]
    first_k: dict[str, set[int]]

    def report(self, rows, *, k, gains=None):
        """Compare each system with its model, and models and others with the best model."""
        names = self.scores
        everything = {name: f"everything ({self.models_of.get(name, name)})" for name in names}
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
    model = clone(models[name])
    bar.set_description(f"{printable(name)}, {part}")
    model.set_params(verbose=int(progress()))
    _, warned = with_warnings(
        partial(model.fit, train.X, label_array(train.y), groups=train.groups)
    )
    # Other warnings are about the rows, and said once for all models.
    of_model = f"{AS_GOOD} for {name}"
    repeat_warnings((text.replace(AS_GOOD, of_model), each) for text, each in warned)
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
                    # These are said of the models fitted on all rows.
                    warnings.filterwarnings("ignore", f".*{AS_GOOD}", FitWarning)
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
    systems, models_of = {name: parts[""] for name, parts in both.items()}, {}
    for name, parts in both.items():
        shown = np.where(np.isneginf(parts[""]), -np.inf, 0.0)
        for part, scores in (parts | {"filter-only": shown}).items():
            if part not in ("", "nothing"):
                systems[f"{part} ({name})"], models_of[f"{part} ({name})"] = scores, name
    return systems | {"nothing": np.full_like(shown, -np.inf)}, models_of


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


def report_section(report, comparison, *, k, gains=None, marks=True, foot=()) -> Section:
    """Return a report of at most 100 columns, with each model's baselines below it."""
    best, models_of = comparison.best, comparison.models_of
    systems = {}
    for name in report.index:
        if name not in models_of:
            systems[name] = f"{name} *" if name == best and marks else name
            parts = [each for each in report.index if models_of.get(each) == name]
            systems |= {part: f"  {part.removesuffix(f' ({name})')}" for part in parts}
    rejects = f"false_reject_rate@{k or 'all'}"
    rows = [[label, *_cells(report.loc[name], rejects)] for name, label in systems.items()]
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
    shorter = {rejects: "false_reject_rate_at_k"}
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


def demo_section(report, comparison, train, test, k) -> Section:
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
        value, _, *cells = _cells(report.loc[name], f"false_reject_rate@{k}")
        rows.append([label, value, *cells])
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


def _cells(row, rejects):
    """Return the cells of a system; shares are in percent, and a missing number is empty."""
    forbidden = row.index[row.index.str.startswith("forbidden")][0]
    names = [forbidden, "false_reject_rate", rejects, "empty_list_rate"]
    shares = [100 * row.get(name, np.nan) for name in names]
    return [
        f"{row.iloc[0]:.3f}",
        told("{:.3f}-{:.3f}", row["low"], row["high"]),
        *(told("{:.1f}", share) for share in shares),
        told("{:+.3f}", row["difference"]),
        told("{:+.3f} to {:+.3f}", row["difference_low"], row["difference_high"]),
    ]


def told(form, *numbers) -> str:
    """Write numbers in a form; nothing if one is missing."""
    return "" if np.isnan(numbers).any() else form.format(*numbers)

"""Learned and tuned fusion of runs or scores in one call."""

import warnings
from collections.abc import Mapping

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed
from tqdm.auto import tqdm

from skfilterrank._files.named_runs import ORDER, are_runs, is_by_topic
from skfilterrank._lists.checks import check_choice, check_groups, check_random_state
from skfilterrank._lists.gains import as_gains
from skfilterrank._lists.queries import GroupIndex
from skfilterrank._lists.samples import PROBABILITY, is_sample, refuse_sample
from skfilterrank.exceptions import InputError, InputTypeError, UnjudgedWarning, brief, brief_list
from skfilterrank.io import read_qrels
from skfilterrank.ranking._fusion.columns import FusionMixin
from skfilterrank.ranking._fusion.fuse import as_run, score_table, table_index
from skfilterrank.ranking._fusion.learned import LinearRankFusion
from skfilterrank.ranking._fusion.lists import as_score_matrix
from skfilterrank.ranking._out_of_fold import (
    check_cv,
    check_each_held_out_once,
    is_prefit,
    make_splits,
)


def fuse_learned(
    y_true,
    systems,
    *,
    groups=None,
    fusion="coordinate_ascent",
    cv=5,
    unjudged: str = "zero",
    random_state=0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> pd.DataFrame | np.ndarray:
    """Fuse runs, or score matrices, by weights or settings learned from judgments.

    Queries with judgments are fused by weights that were learned from other queries, so that the
    fused list can be measured by the same judgments; queries without any, by weights learned from
    all that have some. What is said of weights holds for settings that a search chooses.

    Parameters
    ----------
    y_true : path, open file or DataFrame, or array-like of shape (n_rows,)
        For runs the judgments, as :func:`skfilterrank.io.read_qrels` reads them; a DataFrame has
        the columns (or index levels) "qid", "docno" and "label". For scores the label of
        each row, NaN where unjudged; a Series may carry the query ids in an index level "qid".
    systems : runs, or dict of arrays, DataFrame or array of shape (n_rows, n_systems)
        Runs as :func:`skfilterrank.io.read_runs` takes them: a path, a list of paths, or a dict of
        names and paths, open files or DataFrames. Or scores of the same rows as in
        :func:`fuse_scores`.
    groups : array-like of shape (n_rows,), default=None
        Query id of each row of scores; None looks for an index level "qid". Runs bring their own.
    fusion : {"coordinate_ascent", "logistic"}, estimator, LinearRankFusion or search
        What learns the weights, coordinate ascent by default: the `learner` of a
        :class:`LinearRankFusion`, or one with settings of its own. Or a scikit-learn search around
        a :class:`RankFusion` or LinearRankFusion, such as a GridSearchCV with
        :func:`skfilterrank.metrics.make_ranking_scorer` and ``cv=GroupKFold()``, which chooses
        settings on the queries that are learned from. It is cloned. Coordinate ascent may take a
        minute where "logistic" takes a second.
    cv : int, float, splitter, iterable or None, default=5
        How queries with judgments are held out in turn, as in :class:`RankAndFilter`; every one of
        them must be held out once. None holds out nothing: the weights have seen all judgments.
    unjudged : {"zero", "drop"}, default="zero"
        Whether an unjudged document of a query that has judgments is learned from as one of gain 0,
        as measures count it, or left out.
    random_state : int, RandomState instance or None, default=0
        Seed of coordinate ascent, where `fusion` has none. None draws anew at every call.
    n_jobs : int or None, default=None
        Folds fitted at a time; results do not depend on it.
    verbose : int, default=0
        Above 0 shows the progress over folds.

    Returns
    -------
    DataFrame with columns "qid", "docno" and "score", or ndarray of shape (n_rows,)
        For runs the fused run, as :func:`fuse_runs` returns it. For scores the fused scores,
        -inf where filtered.

    Raises
    ------
    ValueError
        As :func:`fuse_runs`, :func:`fuse_scores` and :class:`LinearRankFusion`; and if judgments
        are missing, hold a document twice or none that a run retrieves, or `cv` does not hold out
        every query once.

    See Also
    --------
    LinearRankFusion : The estimator, with the weights.
    fuse_runs, fuse_scores : Fusion without judgments.

    Notes
    -----
    Scores of queries from different folds stand on the scales of different models, which does not
    matter within a query; a common threshold is what :class:`RankAndFilter` around a
    LinearRankFusion finds.

    Judged documents that no run retrieves are not learned from.

    Examples
    --------
    >>> import numpy as np
    >>> from skfilterrank.metrics import ndcg_score
    >>> from skfilterrank.ranking import fuse_scores, fuse_learned
    >>> rng = np.random.default_rng(0)
    >>> groups, y_true = np.repeat(np.arange(50), 20), rng.integers(0, 3, size=1000)
    >>> systems = {
    ...     "good": y_true + rng.normal(size=1000),
    ...     "fair": y_true + 2 * rng.normal(size=1000),
    ...     "poor": rng.normal(size=1000),
    ... }
    >>> fused = fuse_learned(y_true, systems, groups=groups)
    >>> learned = ndcg_score(y_true, fused, groups=groups, k=10)
    >>> bool(learned > ndcg_score(y_true, fuse_scores(systems, groups=groups), groups=groups, k=10))
    True
    """
    check_choice(unjudged, "unjudged", ("zero", "drop"))
    fusion = clone(fusion) if _is_fusion(fusion) else LinearRankFusion(fusion)
    check_random_state(random_state)
    if isinstance(fusion, LinearRankFusion):
        fusion._make_learner()  # refuses what is none
        if fusion.random_state is None:
            fusion.set_params(random_state=random_state)
    how = {"cv": cv, "unjudged": unjudged, "n_jobs": n_jobs, "verbose": verbose}
    if isinstance(y_true, Mapping) and not is_by_topic(y_true):
        raise InputTypeError(f"y_true must be labels or judgments, got a dict of systems: {ORDER}")
    if not are_runs(systems):
        matrix = as_score_matrix(systems, groups, y_true)
        n_rows = len(matrix.values)
        index = check_groups(groups, y_true, systems, n_rows=n_rows)
        return _fused(fusion, matrix.values, y_true, index, **how)
    if groups is not None:
        raise InputError("groups is for scores: runs hold their topics themselves, leave it out.")
    table = score_table(systems)
    index, _ = table_index(table)
    return as_run(table, _fused(fusion, table.to_numpy(), _labels(table, y_true), index, **how))


def _fused(fusion, scores, y_true, index, *, cv, unjudged, n_jobs, verbose):
    """Fused scores; those of queries with judgments by models that have not seen them."""
    gains = as_gains(y_true, getattr(fusion, "gains", None))
    if len(gains) != len(scores):
        raise InputError(f"y_true has {len(gains)} labels but systems score {len(scores)} rows.")
    codes, judged = index.codes(), ~np.isnan(gains)
    if not judged.any():
        raise InputError("y_true holds no judged row: expected at least one label that is not NaN.")
    if "gains" in fusion.get_params(deep=False):
        fusion.set_params(gains=None)
    has_judged = np.bincount(codes, judged, minlength=index.n_queries)[codes] > 0
    if unjudged == "zero":
        gains = np.where(has_judged & ~judged, 0.0, gains)
    # Scores are normalised over all rows of a query, so that a fold keeps those it cannot learn of.
    rows = np.flatnonzero(has_judged)
    fused, folds = np.empty(len(scores)), []
    if cv is not None:
        numbers = GroupIndex.from_groups(codes[rows]).codes()
        splits = _checked_splits(cv, gains[rows], numbers)
        folds = [(rows[train], rows[test]) for train, test in splits]
    rest = np.ones(len(scores), dtype=bool)
    for _, test in folds:
        rest[test] = False
    if rest.any():
        folds.append((rows, np.flatnonzero(rest)))
    parts = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_fit_and_fuse)(fusion, scores, gains, codes, train, test) for train, test in folds
    )
    bar = tqdm(parts, total=len(folds), desc="folds", unit="fold", disable=not verbose, leave=None)
    for (_, test), values in zip(folds, bar):
        fused[test] = values
    return fused


def _is_fusion(estimator):
    """Whether this is an estimator of fusion, or searches for the best one."""
    if isinstance(estimator, type):
        return False
    return isinstance(getattr(estimator, "estimator", estimator), FusionMixin)


def _fit_and_fuse(fusion, scores, gains, codes, train, test):
    """Fused scores of some rows by weights learned from others."""
    how = {"groups": codes[test]}
    X_train, X, y = scores[train], scores[test], gains[train]
    if not isinstance(fusion, FusionMixin):
        # A search hands on no groups when it predicts, but what has them in its index.
        of_train, of_test = (pd.Index(codes[rows], name="qid") for rows in (train, test))
        X_train, y = pd.DataFrame(X_train, index=of_train), pd.Series(y, index=of_train)
        X, how = pd.DataFrame(X, index=of_test), {}
    with warnings.catch_warnings():
        # That unjudged rows are left out was asked for.
        warnings.simplefilter("ignore", UnjudgedWarning)
        model = clone(fusion).fit(X_train, y, groups=codes[train])
    return model.predict(X, **how)


def _checked_splits(cv, gains, numbers):
    """Splits that hold out every row once, and no query partly."""
    check_cv(cv)
    if is_prefit(cv):
        raise InputError(
            "cv='prefit' is not for fuse_learned: call predict of a fitted LinearRankFusion."
        )
    splits = make_splits(cv, gains, numbers, single=False)
    check_each_held_out_once(cv, splits, len(numbers))
    return splits


def _labels(table, qrels):
    """Label of each row of a score table, NaN where unjudged."""
    is_frame = isinstance(qrels, pd.DataFrame)
    if not is_frame or "qid" not in [*qrels.columns, *qrels.index.names] or "judged_by" in qrels:
        try:
            qrels = read_qrels(qrels)
        except InputTypeError as error:
            raise InputError(f"y_true must be judgments for runs: {error}") from None
    levels = [level for level in qrels.index.names if level not in (None, *qrels.columns)]
    frame = qrels.reset_index(level=levels) if levels else qrels
    missing = {"qid", "docno", "label"} - set(frame.columns)
    if missing:
        raise InputError(
            f"y_true has no column {', '.join(map(repr, sorted(missing)))}; its columns are "
            f"{brief_list(frame.columns)}."
        )
    if is_sample(frame["label"], frame.get(PROBABILITY)):
        refuse_sample("y_true")
    labels = frame.set_index(["qid", "docno"])["label"]
    if labels.index.has_duplicates:
        topic, document = labels.index[labels.index.duplicated()][0]
        raise InputError(
            f"y_true holds document {brief(document)} twice in topic {brief(topic)}: keep one of "
            "the rows."
        )
    of_rows = labels.reindex(table.index)
    if of_rows.isna().all():
        raise InputError(
            "no document that a run retrieves is judged: the runs hold topics and documents such "
            f"as {table.index[0]}, the judgments {labels.index[0]}; bring them to one form."
        )
    return of_rows.to_numpy()

"""Completion of judgments by labels predicted from texts, with estimates of their quality."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from skfilterrank._files.forms import as_table, is_frame
from skfilterrank._lists.checks import check_random_state
from skfilterrank._lists.gains import PROBABILITY, is_sample, refuse_sample
from skfilterrank._lists.queries import check_groups
from skfilterrank._lists.results import Result, counted
from skfilterrank._lists.words import JUDGED_BY, PEOPLE, PREDICTED, is_of_machine, warn_user
from skfilterrank.exceptions import (
    DataWarning,
    InputError,
    InputTypeError,
    SkfilterrankError,
    SkfilterrankWarning,
    brief,
    brief_list,
)
from skfilterrank.io import read_qrels
from skfilterrank.judgments._label_predictor import LabelPredictor
from skfilterrank.judgments._level_model import dealt_folds, held_out_labels
from skfilterrank.judgments._rank_table import rank_table
from skfilterrank.judgments._ranked_selectors import statap_prior

_SHOWN = 5
_TEXT = "text"
# Below this precision, predicted labels do more harm than good.
_LEAST = 0.5
# Number of judged documents of either kind, relevant or not, from which labels are predicted, and
# of held-out ones predicted relevant from which their share of right ones is estimated. From three
# judged documents, 73 of 75 became relevant. Tau of AP with the true order, of 336 choices of 3 to
# 50 labels for one query or three of TREC 2019 and Cranfield, was .17 with none of the rarer kind,
# .45 with one, .59 with two to four and .66 from five on; without unjudged documents .19, .39, .54
# and .67. There is no sharp limit, but from fewer nothing says how many labels are right.
MIN_ROWS = 5
# Limit for `judged_above_unjudged`: 0.47 to 0.51 in random samples of TREC 2019 and Cranfield, 0.89
# or more after pooling or MAXREP.
_CHOSEN_BY_RANK = 0.6


@dataclass(frozen=True, eq=False, repr=False)
class CompletedQrels(Result):
    """Completed judgments and their quality, the result of :func:`complete_qrels`.

    Attributes
    ----------
    qrels : DataFrame of shape (n_documents, 4)
        "qid", "docno" (str), "label" (float64, NaN where nothing could be predicted) and
        "judged_by": "people", "predicted", or missing if the label is missing. Queries have the
        order of the judgments; documents of the runs come after those of the judgments.
        :func:`skfilterrank.io.write_qrels` writes this column, too.
    expected_precision : float
        Expected share of relevant documents among the documents predicted relevant (label above 0);
        NaN if there are too few judged documents, or none is predicted relevant.
    n_predicted_relevant : int
        Number of documents predicted relevant; with soft labels, of documents whose likeliest label
        is above 0.
    quality : DataFrame
        A row for each label, index "label". "n_judged" and "n_predicted" are numbers of documents;
        "n_held_out" is the number of judged documents that get the label from models not fitted on
        them, and "agreement" the share of these with the same judged label. Predictions for
        unjudged documents are worse if the judged documents were selected as likely to be relevant.
    predictor : LabelPredictor
        The fitted predictor; its attributes list queries without a model and texts without terms.
    without_text : DataFrame
        Rows of `qrels` whose document has no text (or lacks a feature). They are neither used for
        fitting nor predicted.
    unknown_queries : list of str
        Queries of the runs without judgments that are left out.
    is_doubtful : bool
        True if `expected_precision` is below 0.5 or unknown; then :func:`complete_qrels` warns.
    judged_above_unjudged : float
        Probability that a judged document is ranked higher in the runs than an unjudged one of its
        query: near 1 after pooling, 0.5 in a random sample. NaN without runs.
    is_random_sample : bool
        True if `judged_above_unjudged` is below 0.6 and labels were predicted. Then removing
        unjudged documents from lists is usually better than completing labels, and
        :func:`complete_qrels` warns.

    See Also
    --------
    complete_qrels : Makes it.
    """

    qrels: pd.DataFrame
    expected_precision: float
    n_predicted_relevant: int
    quality: pd.DataFrame
    predictor: LabelPredictor
    without_text: pd.DataFrame
    unknown_queries: list
    judged_above_unjudged: float

    _digits = 3

    def to_frame(self) -> pd.DataFrame:
        """Return the table of quality, a row for each label."""
        return self.quality

    def _summary(self) -> str:
        n_predicted = self.predictor.n_imputed_
        text = f"{counted(n_predicted, 'label')} of {len(self.qrels):,} predicted"
        return f"{text}; {self.precision_text()}" if n_predicted else text

    @property
    def is_doubtful(self) -> bool:
        """True if values from these labels may be far off."""
        return self.n_predicted_relevant > 0 and not self.expected_precision >= _LEAST

    @property
    def is_random_sample(self) -> bool:
        """Tell whether the judged documents are not ranked higher in the runs than the others."""
        return self.predictor.n_imputed_ > 0 and self.judged_above_unjudged < _CHOSEN_BY_RANK

    def precision_text(self) -> str:
        """Describe the expected precision in a phrase."""
        if not self.n_predicted_relevant:
            return "none is predicted to be relevant"
        text = f"of {counted(self.n_predicted_relevant, 'document')} predicted relevant "
        if np.isnan(self.expected_precision):
            return text + "nothing says how many are: too few are judged"
        return text + f"{100 * self.expected_precision:.2g} % are expected to be"


def complete_qrels(
    qrels,
    runs,
    documents,
    *,
    depth: int | None = None,
    unjudged_label: float | str | None = "warn",
    predictor: LabelPredictor | None = None,
    random_state=None,
) -> CompletedQrels:
    """Predict missing labels from the texts of judged documents.

    Labels are predicted for unjudged documents of the runs in queries with judgments, and for
    documents of the judgments without a label. Other queries of the runs are left out, unless the
    predictor has a model of all queries (``unjudged_query="pool"`` or ``shared=True``). The labels
    are marked as predicted, and their expected quality is returned.

    Parameters
    ----------
    qrels : path, open file, DataFrame or other judgments
        Judgments in a form that :func:`skfilterrank.io.read_qrels` accepts. Labels by a machine,
        according to a column "judged_by" (the second column of a TREC file), are not used for
        fitting, and are predicted again.
    runs : path, list of paths, dict {name: path, open file or DataFrame}, or None
        The runs, as :func:`skfilterrank.io.read_runs` takes them. None completes only the unjudged
        documents of `qrels`.
    documents : dict or Series {docno: text}, or DataFrame
        Texts by document id. A DataFrame, of pandas or polars, has the id in a column or index
        level "docno", and the texts in a column "text"; or numbers in all its other columns, which
        are scaled to mean 0 and variance 1.
    depth : int or None, default=None
        Number of first documents of each run and query that are used. None means all.
    unjudged_label : None, float, "trec" or "warn", default="warn"
        Labels of `qrels` that mean unjudged, as in :func:`skfilterrank.io.read_qrels`.
    predictor : LabelPredictor or None, default=None
        Predicts the labels; cloned. None means ``LabelPredictor()``.
    random_state : int, RandomState instance or None, default=None
        Assigns the judged documents to folds. Pass an int for results that can be repeated.

    Returns
    -------
    CompletedQrels
        `qrels`, the completed judgments; `expected_precision` of the `n_predicted_relevant`
        documents; `quality`, a table by label; `predictor`; and `without_text`, `unknown_queries`,
        `is_doubtful` and `is_random_sample`, which warnings are about.

    Raises
    ------
    ValueError
        If nothing is unjudged or nothing is judged by people; if fewer than five documents with a
        text are judged relevant, or fewer than five not relevant; if no document or no judged
        document has a text, ids occur twice, the runs and the judgments have no query in common, a
        query has no judgments and the predictor says ``unjudged_query="raise"``, or a parameter is
        out of range.
    TypeError
        If `documents` is of another kind.

    Warns
    -----
    DataWarning
        If `expected_precision` is below 0.5 or unknown; if the judged documents are not ranked
        higher in the runs than the others, as in a random sample; about labels by machines; about
        queries of the runs that are left out.
    UnjudgedWarning, FitWarning
        As :meth:`LabelPredictor.fit`.

    See Also
    --------
    LabelPredictor : The same for documents, labels and queries as arrays.
    skfilterrank.judgments.estimate : Values with intervals from labels of which most are a
        machine's.

    Notes
    -----
    Each judged document is predicted by models that were not fitted on it (five folds within
    queries). With runs, a logistic regression is fitted: relevance against the prediction and the
    logarithm of the prior of :class:`StatAPSelector`. It gives the probability of relevance of each
    unjudged document that is predicted relevant, and `expected_precision` is the mean of these
    probabilities. Without the ranks, the estimate would be far too high if the best ranks were
    judged, since the other documents are ranked lower. So without runs it is valid only if judged
    documents are like the others, as after a random sample. With runs it is still a model's
    estimate: for pools of TREC 2019 and Cranfield it was up to 7 points too high and up to 33
    points too low. Held-out documents alone gave up to 82 points too much
    (``benchmarks/completed_labels_precision.py``).

    With few judgments for a query, most documents predicted relevant are not relevant, especially
    if few are relevant at all. Use the labels to rank systems or to choose documents to judge next;
    do not treat them as human labels.

    Examples
    --------
    >>> import pandas as pd
    >>> from skfilterrank.judgments import complete_qrels
    >>> texts = {f"d{i}": "lift of wings" if i % 2 else "heat in slabs" for i in range(12)}
    >>> qrels = pd.DataFrame({"qid": "1", "docno": list(texts)[:10], "label": [0, 1] * 5})
    >>> run = pd.DataFrame({"qid": "1", "docno": list(texts), "score": range(12, 0, -1)})
    >>> complete_qrels(qrels, {"run": run}, texts, random_state=0).qrels.tail(3)
       qid docno  label  judged_by
    9    1    d9    1.0     people
    10   1   d10    0.0  predicted
    11   1   d11    1.0  predicted
    """
    if predictor is not None and not isinstance(predictor, LabelPredictor):
        raise InputError(f"predictor must be a LabelPredictor or None, got {brief(predictor)}.")
    predictor = LabelPredictor() if predictor is None else clone(predictor)
    for name in ("n_per_query", "share"):
        if (value := getattr(predictor, name)) is not None:
            raise InputError(
                f"predictor.{name} must be None, got {brief(value)}: all given labels are used for "
                "fitting."
            )
    random_state = check_random_state(random_state)
    if runs is None and depth is not None:
        raise InputError("depth is the depth of the runs, but there are no runs.")
    ranks = None if runs is None else rank_table(runs, depth=depth)
    try:
        judged = read_qrels(qrels, unjudged_label=unjudged_label, predicted="use")
    except SkfilterrankError as error:
        error.add_note("The error concerns qrels.")
        raise
    if is_sample(judged["label"], judged.get(PROBABILITY)):
        refuse_sample()
    table, unknown_queries = _pool(
        ranks,
        judged,
        leaves=predictor.unjudged_query == "leave" and not predictor.shared,
    )
    has_text, X = _find_documents(table, documents)
    known = table[has_text].reset_index(drop=True)
    _check_enough(known["label"])
    labels = predictor.fit_transform(X, known["label"].to_numpy(), known["qid"])
    table.loc[has_text, "label"] = labels
    is_predicted = np.zeros(len(table), dtype=bool)
    is_predicted[has_text] = predictor.imputed_
    judges = pd.Series(PEOPLE, table.index, dtype=object).where(table["label"].notna(), None)
    table[JUDGED_BY] = judges.mask(is_predicted, PREDICTED)
    places = None if ranks is None else _places(ranks, known)
    precision, n_relevant, quality = _quality(predictor, X, known, labels, places, random_state)
    completed = CompletedQrels(
        table,
        precision,
        n_relevant,
        quality,
        predictor,
        table[~has_text],
        unknown_queries,
        np.nan if places is None else _judged_above_unjudged(known, places),
    )
    if completed.is_doubtful:
        warn_user(
            f"{completed.precision_text()}: values from these labels may be far off. Judge more "
            "documents, or take values with intervals from a sample of people's labels "
            "(skfilterrank.judgments).",
            DataWarning,
        )
    if completed.is_random_sample:
        warn_user(
            "the judged documents stand no higher in the runs than the others, as in a random "
            "sample: AP with completed labels then mostly orders systems worse than AP "
            "without unjudged documents, and its values are less accurate. Measure with people's "
            "labels and unjudged='drop', or estimate values with intervals "
            "(skfilterrank.judgments).",
            DataWarning,
        )
    return completed


def _pool(ranks, qrels, *, leaves):
    """Return judged and unjudged documents by query, and the queries without judgments."""
    table = qrels[["qid", "docno", "label"]].astype({"label": np.float64})
    if JUDGED_BY in qrels:
        table["label"] = labels_of_people(table["label"].to_numpy(), qrels[JUDGED_BY])
    if table["label"].isna().all():
        raise InputError(
            "qrels holds no label that people gave: there is nothing to learn from. Judge some "
            "documents first."
        )
    unknown = []
    if ranks is not None:
        pool = ranks.index.to_frame(index=False).astype(str)
        is_known = pool["qid"].isin(table["qid"].unique())
        if not is_known.any():
            raise InputError(
                "the runs have no query of the judgments: the runs have queries such as "
                f"{brief(pool['qid'].iloc[0])}, the judgments such as "
                f"{brief(table['qid'].iloc[0])}."
            )
        if leaves and not is_known.all():
            unknown = pool["qid"][~is_known].unique().tolist()
            pool = pool[is_known]
            warn_user(
                f"{counted(len(unknown), 'query', 'queries')} of the runs without judgments: left "
                f"out, such as {brief_list(unknown[:_SHOWN])}.",
                DataWarning,
            )
        table = pd.concat([table, pool], ignore_index=True)
        table = table.drop_duplicates(["qid", "docno"])
    if table["label"].notna().all():
        raise InputError(
            "no document is unjudged: name the label that means unjudged in the judgments "
            "(unjudged_label), or pass runs with other documents."
        )
    queries = pd.factorize(table["qid"])[0]
    return table.iloc[np.argsort(queries, kind="stable")].reset_index(drop=True), unknown


def labels_of_people(labels, judged_by) -> np.ndarray:
    """Return labels, with NaN for labels by machines, and warn of these."""
    is_machine = is_of_machine(judged_by).to_numpy(dtype=bool) & ~np.isnan(labels)
    if n_machine := int(np.count_nonzero(is_machine)):
        names = sorted(map(str, judged_by[is_machine].unique()))
        warn_user(
            f"qrels holds {n_machine} labels that machines gave (column {brief(JUDGED_BY)}: "
            f"{', '.join(names[:_SHOWN])}): they are not used for fitting, and are predicted "
            "again.",
            DataWarning,
        )
    return np.where(is_machine, np.nan, labels)


def _find_documents(table, documents):
    """Return a mask of the documents of the pool that are known, and their texts or numbers."""
    columns = _columns_of(documents)
    found = columns.reindex(table["docno"])
    if _TEXT in columns:
        texts = found[_TEXT].fillna("").to_numpy(dtype=object)
        is_there = np.array([str(text).strip() != "" for text in texts])
    else:
        is_there = found.notna().all(axis=1).to_numpy()
    if not is_there.any():
        raise InputError(
            "no document of the pool has a text in documents: ids there are such as "
            f"{brief(columns.index[0])}, in the pool such as {brief(table['docno'].iloc[0])}."
        )
    if table["label"][is_there].isna().all():
        raise InputError(
            "no judged document has a text in documents: there is nothing to learn from."
        )
    if _TEXT in columns:
        return is_there, texts[is_there].tolist()
    return is_there, StandardScaler().fit_transform(found[is_there].to_numpy())


def _check_enough(labels):
    """Raise if people judged too few documents to learn from."""
    n_relevant, n_others = int((labels > 0).sum()), int((labels <= 0).sum())
    if min(n_relevant, n_others) < MIN_ROWS:
        raise InputError(
            f"qrels holds {n_relevant} relevant and {n_others} other judged documents with a text, "
            f"but {MIN_ROWS} of each are needed to predict labels. Judge more documents, which "
            "'skfilterrank select' chooses, or evaluate with 'drop' for unjudged documents."
        )


def _columns_of(documents) -> pd.DataFrame:
    """Return the column of texts, or columns of numbers, by document id."""
    if isinstance(documents, Mapping | pd.Series):
        columns = pd.Series(documents, dtype=object).to_frame(_TEXT)
    elif not is_frame(documents):
        raise InputTypeError(
            "documents must be a dict or Series of texts by document id, or a DataFrame with the "
            f"column 'docno', got {type(documents).__name__}."
        )
    else:
        columns = as_table(documents, "label")
        if "docno" in columns:
            columns = columns.set_index("docno")
        elif "docno" not in columns.index.names:
            raise InputError(
                f"documents has no column 'docno', but {brief_list(columns.columns)}: give the "
                "column of document ids that name."
            )
        columns = columns.set_axis(columns.index.get_level_values("docno"), axis=0)
    columns.index = columns.index.astype(str)
    if columns.empty:
        raise InputError("documents holds no document with a text or numbers.")
    if columns.index.has_duplicates:
        again = columns.index[columns.index.duplicated()][0]
        raise InputError(f"documents holds {brief(again)} twice: keep one row of each document.")
    if _TEXT in columns:
        return columns[[_TEXT]]
    try:
        return columns.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            "documents must have a column 'text', or numbers in all columns but 'docno', got "
            f"{brief_list(columns.columns)} ({error})."
        ) from error


def _places(ranks, table):
    """Return the documents' log priors from their ranks; documents of no run are lowest."""
    prior = statap_prior(ranks)
    prior.index = pd.MultiIndex.from_frame(prior.index.to_frame(index=False).astype(str))
    places = prior.reindex(pd.MultiIndex.from_frame(table[["qid", "docno"]]))
    return np.log(places.fillna(prior.min()).to_numpy())


def _judged_above_unjudged(table, places) -> float:
    """Return the share of (judged, unjudged) pairs whose judged document is ranked higher."""
    by_query = pd.Series(places).groupby(table["qid"].to_numpy())
    is_judged = table["label"].notna().to_numpy()
    counts = pd.DataFrame({"rank": by_query.rank() * is_judged, "judged": is_judged})
    counts = counts.groupby(table["qid"].to_numpy()).sum()
    n_judged = counts["judged"]
    n_pairs = (n_judged * (by_query.size() - n_judged)).sum()
    n_higher = (counts["rank"] - n_judged * (n_judged + 1) / 2).sum()
    return float(n_higher / n_pairs) if n_pairs else np.nan


def _quality(predictor, X, table, completed, places, random_state):
    """Return the expected precision, the number of documents for it, and the table of labels."""
    labels, index = table["label"].to_numpy(), check_groups(table["qid"], n_rows=len(table))
    vectors = predictor.vectors_of(X)
    hard = clone(predictor).set_params(output="hard", calibration=None, verbose=0)
    if hard.unjudged_query == "raise":
        # A query with one label has none left when it is held out; its warning is not shown.
        hard.set_params(unjudged_query="leave")
    folds = dealt_folds(index, vectors, labels, random_state)
    held_out = held_out_labels(hard, vectors, index, labels, folds)
    found = completed
    if predictor.output != "hard":
        found = np.full(len(table), np.nan)
        is_there = predictor.imputed_
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SkfilterrankWarning)  # the first call has warned
            found[is_there] = hard.fit_vectors(vectors, index, labels)[is_there]
    is_new = np.isnan(labels) & ~np.isnan(found)
    is_known = ~np.isnan(held_out)
    relevant = is_new & (found > 0)
    precision = np.nan
    if relevant.any():
        precision = expected_precision(
            labels[is_known] > 0,
            held_out[is_known] > 0,
            None if places is None else places[is_known],
            None if places is None else places[relevant],
        )
    rows = {}
    for label in predictor.labels_.tolist():
        is_said = held_out == label
        rows[label] = {
            "n_judged": np.count_nonzero(labels == label),
            "n_predicted": np.count_nonzero(found[is_new] == label),
            "n_held_out": np.count_nonzero(is_said),
            "agreement": np.mean(labels[is_said] == label) if is_said.any() else np.nan,
        }
    quality = pd.DataFrame.from_dict(rows, orient="index").rename_axis("label")
    return precision, int(np.count_nonzero(relevant)), quality


def expected_precision(relevant, said, places, said_places) -> float:
    """Return the mean probability of relevance of documents that are predicted relevant.

    Parameters
    ----------
    relevant, said : ndarray of shape (n_held_out,), dtype bool
        Relevance of judged documents, and out-of-fold predictions.
    places : ndarray of shape (n_held_out,), dtype float64, or None
        Log priors of the judged documents from ranks, higher is likelier. None without ranks.
    said_places : ndarray of shape (n_said,), dtype float64, or None
        Log priors of the unjudged documents that are predicted relevant.

    Returns
    -------
    float
        Mean probability; NaN if there are too few judged documents of one kind, or too few
        documents predicted relevant.
    """
    counts = [np.count_nonzero(rows) for rows in (relevant, ~relevant, said)]
    if min(counts) < MIN_ROWS:
        return np.nan
    if said_places is None:
        places, said_places = np.zeros(len(said)), np.zeros(1)
    if not len(said_places):
        return np.nan
    # The default penalty avoids probabilities near 1 from few documents.
    model = LogisticRegression().fit(np.column_stack([said, places]), relevant)
    return float(
        model.predict_proba(np.column_stack([np.ones(len(said_places)), said_places]))[:, 1].mean()
    )

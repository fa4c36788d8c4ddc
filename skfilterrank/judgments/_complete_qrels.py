"""From runs, judgments and texts to completed judgments, and how far to trust them."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from skfilterrank._lists.checks import check_random_state
from skfilterrank._lists.gains import PROBABILITY, is_sample, refuse_sample
from skfilterrank._lists.results import Result, counted
from skfilterrank._lists.words import JUDGED_BY, warn_user
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
from skfilterrank.judgments._completed_labels import check_predictor
from skfilterrank.judgments._label_predictor import LabelPredictor
from skfilterrank.judgments._label_table import column_of, is_table, judges_of, labels_of_people
from skfilterrank.judgments._level_model import dealt_folds, held_out_labels
from skfilterrank.judgments._rank_table import rank_table
from skfilterrank.judgments._ranked_selectors import statap_prior

_SHOWN = 5
# Below this share of right ones, labels do more harm than none.
_LEAST = 0.5
# Random samples have 0.47 to 0.51 on TREC 2019 and Cranfield, pools and MAXREP 0.89 or more.
_CHOSEN_BY_RANK = 0.6


@dataclass(frozen=True, eq=False, repr=False)
class CompletedQrels(Result):
    """Completed judgments and their quality, the result of :func:`complete_qrels`.

    Attributes
    ----------
    qrels : DataFrame of shape (n_documents, 4)
        "qid", "docno" (str), "label" (float64, NaN where nothing could be predicted) and
        "judged_by": "people", "predicted", or missing where the label is. Queries in the order of
        the judgments, documents of the runs behind those of the judgments.
        :func:`skfilterrank.io.write_qrels` keeps the mark.
    expected_precision : float
        Share of the documents predicted relevant (label above 0) that are expected to be; NaN where
        too few are judged to tell, or none is predicted relevant.
    n_predicted_relevant : int
        Number of these documents; with soft labels of those whose likeliest label is above 0.
    quality : DataFrame
        A row for each label, index "label": "n_judged" and "n_predicted" documents, "n_held_out"
        judged documents that models which have not seen them give the label, and "agreement", the
        share of these whose label it is. Of judged documents alone: the others are worse where the
        judged ones were selected as likely to be relevant.
    predictor : LabelPredictor
        The fitted predictor, which says which queries have no model and which texts no term.
    without_text : DataFrame
        Rows of `qrels` whose document has no text (or lacks a feature): neither learned from nor
        predicted.
    unknown_queries : list of str
        Queries of the runs without judgments that are left out.
    is_doubtful : bool
        Whether less than half of the documents predicted relevant are expected to be, or nothing
        says how many, or all judged labels are the same one and others got it: then
        :func:`complete_qrels` warns.
    judged_above_unjudged : float
        Chance that a judged document stands higher in the runs than an unjudged one of its query:
        near 1 after pooling, 0.5 in a random sample. NaN without runs.
    is_random_sample : bool
        Whether that chance is below 0.6, and labels were predicted. Then lists without unjudged
        documents are mostly the better choice, and :func:`complete_qrels` warns.

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
        is_copied = len(self.predictor.labels_) == 1 and self.predictor.n_imputed_ > 0
        is_rarely_right = self.n_predicted_relevant > 0 and not self.expected_precision >= _LEAST
        return is_copied or is_rarely_right

    @property
    def is_random_sample(self) -> bool:
        """Tell whether the judged documents stand no higher in the runs than the others."""
        return self.predictor.n_imputed_ > 0 and self.judged_above_unjudged < _CHOSEN_BY_RANK

    def precision_text(self) -> str:
        """Describe the expected precision of predicted labels above 0, in a phrase."""
        labels = self.predictor.labels_
        if len(labels) == 1:
            return f"all judged labels are {labels[0]:g}, which tells no document from another"
        if not self.n_predicted_relevant:
            return "none is predicted to be relevant"
        text = f"of {counted(self.n_predicted_relevant, 'document')} predicted relevant "
        if np.isnan(self.expected_precision):
            return text + f"nothing says how many are: {self._too_few()}"
        return text + f"{100 * self.expected_precision:.2g} % are expected to be"

    def _too_few(self):
        """Name the kind of judged documents that is too rare."""
        judged = self.quality["n_judged"]
        n_others, n_relevant = (
            int(judged[is_one].sum()) for is_one in (judged.index <= 0, judged.index > 0)
        )
        if n_others < MIN_ROWS <= n_relevant:
            of_all = f"of {n_others + n_relevant:,} judged documents"
            return f"{n_others} {of_all} are not relevant, too few"
        return "too few are judged"


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
    """Predict the labels that nobody made, from the texts of documents that somebody judged.

    What is completed are the documents that the runs return and nobody judged, in queries with
    judgments, and those that the judgments hold without a label. Other queries of the runs are left
    out, unless the predictor has a model of all queries for them (``unjudged_query="pool"`` or
    ``shared=True``). The labels are marked as predicted, and come with what is to be expected of
    them.

    Parameters
    ----------
    qrels : path, open file, DataFrame or other judgments
        As :func:`skfilterrank.io.read_qrels` takes them. Labels that a column "judged_by" (the
        second one of a TREC file) says are a machine's are not learned from, and predicted anew.
    runs : path, list of paths, dict {name: path, open file or DataFrame}, or None
        The runs, as :func:`skfilterrank.io.read_runs` takes them. None completes the unjudged
        documents of `qrels` alone.
    documents : dict or Series {docno: text}, or DataFrame
        Texts by document id. A DataFrame, of pandas or polars, has the id in a column or index
        level "docno", and the columns that the predictor names by `text` and `features`.
    depth : int or None, default=None
        Only the first so many documents of each run and query. None takes all.
    unjudged_label : None, float, "trec" or "warn", default="warn"
        Labels of `qrels` that mean unjudged, as in :func:`skfilterrank.io.read_qrels`.
    predictor : LabelPredictor or None, default=None
        Predicts the labels; cloned. None means ``LabelPredictor()``.
    random_state : int, RandomState instance or None, default=None
        Deals the judged documents to folds. Pass an int for results that can be repeated.

    Returns
    -------
    CompletedQrels
        `qrels`, the completed judgments; `expected_precision` of the `n_predicted_relevant`
        documents; `quality`, a table by label; `predictor`; `without_text`, `unknown_queries`,
        `is_doubtful` and `is_random_sample`, of which warnings tell.

    Raises
    ------
    ValueError
        If nothing is unjudged or nothing is judged by people, no document has a text, no judged
        document has one, ids are there twice, the runs and the judgments have no query in common, a
        query has no judgments and the predictor says ``unjudged_query="raise"``, or a parameter is
        out of range.
    TypeError
        If `documents` is of another kind.

    Warns
    -----
    DataWarning
        If less than half of the documents predicted relevant are expected to be, or too few are
        judged to say; if all judged labels are the same one and others got it; if the judged
        documents stand no higher in the runs than the others, as in a random sample; of labels
        that machines gave; of queries of the runs that are left out.
    UnjudgedWarning, FitWarning
        As :meth:`LabelPredictor.fit`.

    See Also
    --------
    LabelPredictor : The same for a table that holds the texts.
    skfilterrank.judgments.estimate : Values with intervals from labels of which most are a
        machine's.

    Notes
    -----
    Each judged document is predicted by models that have not seen its label (five folds within
    queries). Where there are runs, a logistic regression of its relevance on what was predicted and
    on the logarithm of what its ranks say (:func:`statap_prior`), gives the chance of each unjudged
    document that is predicted relevant, and `expected_precision` is the mean of these chances.
    Without the ranks it would be far too high wherever the best ranks were judged: the documents
    that are left stand lower. Without runs it holds only where judged documents are like the
    others, as after a random sample. With runs it is a model's guess, too: of pools of TREC 2019
    and Cranfield it said up to 7 points too much and up to 33 too little, where held-out documents
    alone said up to 82 points too much (``benchmarks/completed_labels_precision.py``).

    With few judgments of a query most predicted relevant documents are not, the more so where few
    are relevant at all: use the labels to rank systems or to choose what to judge next, not as if
    people had given them.

    Examples
    --------
    >>> import pandas as pd
    >>> from skfilterrank.judgments import complete_qrels
    >>> texts = {"a": "wing lift", "b": "lift of a wing", "c": "heat in slabs", "d": "slabs, heat"}
    >>> qrels = pd.DataFrame({"qid": "1", "docno": ["a", "c"], "label": [1, 0]})
    >>> run = pd.DataFrame({"qid": "1", "docno": list("abcd"), "score": [4.0, 3.0, 2.0, 1.0]})
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")  # two judgments say nothing of their quality
    ...     completed = complete_qrels(qrels, {"run": run}, texts, random_state=0)
    >>> completed.qrels
      qid docno  label  judged_by
    0   1     a    1.0     people
    1   1     c    0.0     people
    2   1     b    1.0  predicted
    3   1     d    0.0  predicted
    """
    check_predictor(predictor)
    predictor = LabelPredictor() if predictor is None else clone(predictor)
    if predictor.n_per_query is not None:
        raise InputError(
            f"predictor.n_per_query must be None, got {brief(predictor.n_per_query)}: labels that "
            "are there are all learned from."
        )
    predictor.set_params(query="qid", document="docno", label="label", imputed=None)
    random_state = check_random_state(random_state)
    if runs is None and depth is not None:
        raise InputError("depth says how much of the runs counts, and there are no runs.")
    ranks = None if runs is None else rank_table(runs, depth=depth)
    try:
        judged = read_qrels(qrels, unjudged_label=unjudged_label, predicted="use")
    except SkfilterrankError as error:
        error.add_note("This came up with qrels.")
        raise
    if is_sample(judged["label"], judged.get(PROBABILITY)):
        refuse_sample()
    table, unknown_queries = _pool(
        ranks,
        judged,
        leaves=predictor.unjudged_query == "leave" and not predictor.shared,
    )
    columns = _columns_of(documents, predictor)
    has_text = _add_columns(table, columns, predictor)
    known = table[has_text].reset_index(drop=True)
    fitted = predictor.fit_transform(known)
    table.loc[has_text, "label"] = fitted["label"].to_numpy()
    is_predicted = np.zeros(len(table), dtype=bool)
    is_predicted[has_text] = predictor.imputed_
    table[JUDGED_BY] = judges_of(table["label"], is_predicted)
    places = None if ranks is None else _places(ranks, known)
    precision, n_relevant, quality = _quality(predictor, known, fitted, places, random_state)
    table = table[["qid", "docno", "label", JUDGED_BY]]
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
            "sample: AP by completed labels then mostly orders systems worse than AP without "
            "unjudged documents, and values are further off. Measure by people's labels with "
            "unjudged='drop', or estimate values with intervals (skfilterrank.judgments).",
            DataWarning,
        )
    return completed


def _pool(ranks, qrels, *, leaves):
    """Judged and unjudged documents, query by query as judged; and queries that are left out."""
    table = qrels[["qid", "docno", "label"]].astype({"label": np.float64})
    if JUDGED_BY in qrels:
        table["label"] = labels_of_people(table["label"].to_numpy(), qrels[JUDGED_BY], "qrels")
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
                f"the runs have no query of the judgments: they have such as "
                f"{brief(pool['qid'].iloc[0])}, these such as {brief(table['qid'].iloc[0])}."
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
            "no document is unjudged: name the label that marks those in the judgments "
            "(unjudged label), or give runs that return others."
        )
    queries = pd.factorize(table["qid"])[0]
    return table.iloc[np.argsort(queries, kind="stable")].reset_index(drop=True), unknown


def _columns_of(documents, predictor):
    """Return the columns that the predictor reads, by document id."""
    if isinstance(documents, Mapping | pd.Series):
        if predictor.text is None or predictor.features is not None:
            raise InputError(
                "documents must be a DataFrame where the predictor looks at features, got texts "
                "alone."
            )
        texts = pd.Series(documents, dtype=object)
        documents = pd.DataFrame({"docno": texts.index, predictor.text: texts.to_numpy()})
    elif not is_table(documents):
        raise InputTypeError(
            "documents must be a dict or Series of texts by document id, or a DataFrame with the "
            f"column 'docno', got {type(documents).__name__}."
        )
    texts = [] if predictor.text is None else [predictor.text]
    columns = pd.DataFrame(
        {
            name: column_of(documents, name, table="documents").to_numpy()
            for name in (*texts, *(predictor.features or ()))
        },
        column_of(documents, "docno", table="documents").astype(str),
    )
    if columns.empty:
        raise InputError("documents holds no document.")
    if columns.index.has_duplicates:
        again = columns.index[columns.index.duplicated()][0]
        raise InputError(f"documents holds {brief(again)} twice: keep one row of each document.")
    return columns


def _add_columns(table, columns, predictor):
    """Add what is known of the documents; which of them have it."""
    is_there = np.ones(len(table), dtype=bool)
    for name in columns:
        values = columns[name].reindex(table["docno"])
        if name == predictor.text:
            values = values.fillna("").astype(object)
            is_there &= np.array([str(value).strip() != "" for value in values])
        else:
            is_there &= values.notna().to_numpy()
        table[name] = values.to_numpy()
    if not is_there.any():
        raise InputError(
            "no document of the pool has a text in documents: ids there are such as "
            f"{brief(columns.index[0])}, in the pool such as {brief(table['docno'].iloc[0])}."
        )
    if table["label"][is_there].isna().all():
        raise InputError(
            "no judged document has a text in documents: there is nothing to learn from."
        )
    return is_there


def _places(ranks, table):
    """Return log priors of the documents by their ranks, those of no run last."""
    prior = statap_prior(ranks)
    prior.index = pd.MultiIndex.from_frame(prior.index.to_frame(index=False).astype(str))
    places = prior.reindex(pd.MultiIndex.from_frame(table[["qid", "docno"]]))
    return np.log(places.fillna(prior.min()).to_numpy())


def _judged_above_unjudged(table, places) -> float:
    """Share of the pairs of a judged and an unjudged document in which the first is higher."""
    by_query = pd.Series(places).groupby(table["qid"].to_numpy())
    is_judged = table["label"].notna().to_numpy()
    counts = pd.DataFrame({"rank": by_query.rank() * is_judged, "judged": is_judged})
    counts = counts.groupby(table["qid"].to_numpy()).sum()
    n_judged = counts["judged"]
    n_pairs = (n_judged * (by_query.size() - n_judged)).sum()
    n_higher = (counts["rank"] - n_judged * (n_judged + 1) / 2).sum()
    return float(n_higher / n_pairs) if n_pairs else np.nan


def _quality(predictor, table, fitted, places, random_state):
    """Expected precision, of how many documents, and the table of labels."""
    read = predictor._read(table, needs_label=True)
    vectors = predictor._document_vectors.transform(table)
    hard = clone(predictor).set_params(output="hard", calibration=None, verbose=0)
    if hard.unjudged_query == "raise":
        # A query with one label has none left once it is held out: no reason to warn.
        hard.set_params(unjudged_query="leave")
    folds = dealt_folds(read.index, read.labels, random_state, lone=True)
    held_out = held_out_labels(hard, vectors, read.index, read.labels, folds)
    found = fitted["label"].to_numpy()
    if predictor.output != "hard":
        found = np.full(len(table), np.nan)
        is_there = predictor.imputed_
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SkfilterrankWarning)  # told of by the first
            found[is_there] = hard.fit_vectors(vectors, read.index, read.labels)[is_there]
    is_new = np.isnan(read.labels) & ~np.isnan(found)
    is_known = ~np.isnan(held_out)
    relevant = is_new & (found > 0)
    precision = np.nan
    if relevant.any():
        precision = expected_precision(
            read.labels[is_known] > 0,
            held_out[is_known] > 0,
            None if places is None else places[is_known],
            None if places is None else places[relevant],
        )
    rows = {}
    for label in predictor.labels_.tolist():
        is_said = held_out == label
        rows[label] = {
            "n_judged": np.count_nonzero(read.labels == label),
            "n_predicted": np.count_nonzero(found[is_new] == label),
            "n_held_out": np.count_nonzero(is_said),
            "agreement": np.mean(read.labels[is_said] == label) if is_said.any() else np.nan,
        }
    quality = pd.DataFrame.from_dict(rows, orient="index").rename_axis("label")
    return precision, int(np.count_nonzero(relevant)), quality


# Judged documents of either kind, and of those said to be relevant, that are needed to tell.
MIN_ROWS = 5


def expected_precision(relevant, said, places, said_places) -> float:
    """Return the mean chance to be relevant of documents that a model says are.

    Parameters
    ----------
    relevant, said : ndarray of shape (n_held_out,), dtype bool
        What judged documents are, and what models that have not seen them say.
    places : ndarray of shape (n_held_out,), dtype float64, or None
        What their ranks say: higher is likelier. None where there are no ranks.
    said_places : ndarray of shape (n_said,), dtype float64, or None
        The same of documents that nobody judged and the model says are relevant.

    Returns
    -------
    float
        From 0 to 1; NaN where there are too few judged documents of one kind, or too few are said
        to be relevant.
    """
    counts = [np.count_nonzero(rows) for rows in (relevant, ~relevant, said)]
    if min(counts) < MIN_ROWS:
        return np.nan
    if said_places is None:
        places, said_places = np.zeros(len(said)), np.zeros(1)
    if not len(said_places):
        return np.nan
    # With the usual penalty, few documents said to be relevant do not make a certainty.
    model = LogisticRegression().fit(np.column_stack([said, places]), relevant)
    return float(
        model.predict_proba(np.column_stack([np.ones(len(said_places)), said_places]))[:, 1].mean()
    )

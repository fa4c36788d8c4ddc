"""LabelPredictor, which predicts or draws the labels that nobody made."""

from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVC
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from skfilterrank._base.checks import check_choice, check_count, check_random_state, count_rows
from skfilterrank._base.rounding import mean_tolerance
from skfilterrank._base.words import counted, warn_user
from skfilterrank._estimators.ranker_mixin import all_or_nothing
from skfilterrank._lists.content import hash_rows
from skfilterrank._lists.gains import LabelsNotNumbers, as_gains
from skfilterrank._lists.queries import GroupIndex, check_groups
from skfilterrank.exceptions import (
    DataWarning,
    FitWarning,
    InputError,
    UnjudgedWarning,
    brief,
)
from skfilterrank.judgments._document_vectors import (
    make_vectors,
    read_documents,
    refuse_ids,
    usual_vectorizer,
)
from skfilterrank.judgments._maxrep import MaxRepSelector
from skfilterrank.judgments._predictor_models import (
    fit_pairs,
    fit_queries,
    rows_by_content,
    sample_labels,
    usual_classifier,
)
from skfilterrank.judgments._selector import (
    QuerySelector,
    check_no_duplicates,
    is_texts,
    named_budgets,
)

_SHOWN = 5


class LabelPredictor(BaseEstimator):
    r"""Predictor of the labels of `y` that are NaN, because nobody judged these documents.

    ``model="pairs"`` suits drawn labels, queries with few labels, and columns beside texts; the
    default is the method of [1]_, for many judged documents of each query. Known labels stay.

    Parameters
    ----------
    estimator : classifier or None, default=None
        Classifier, cloned. "per_query" fits it for each query and each pair of neighbouring labels,
        with targets 0 and 1; None means ``LinearSVC(class_weight="balanced", random_state=0)``.
        "pairs" fits it on all judged rows, and needs `predict_proba`; None means
        ``LogisticRegression(max_iter=300)``.
    model : {"per_query", "pairs"}, default="per_query"
        "per_query": each query has classifiers of its own, fitted on the vectors of its judged
        documents. "pairs": one classifier for all queries, of columns that say how a document
        relates to its query and to the query's other judged documents, see :class:`PairFeatures`.
    vectorizer : transformer or None, default=None
        Turns X into vectors; cloned. For "per_query" take a HashingVectorizer, a ColumnTransformer
        for a table, or another. It is fitted on all rows, or on the distinct texts. None means
        tf-idf of the :math:`10^6` most frequent terms for texts and for each column of texts of a
        table, whose numbers are scaled to mean 0 and variance 1; numbers alone are taken as they
        are. For "pairs" None means ``PairFeatures()``.
    one_class : {"leave", "copy"}, default="leave"
        Treatment of queries whose judged documents all have one label, for "per_query": leave the
        other rows NaN, with a warning, or copy the label to them as in [1]_.
    selector : QuerySelector or None, default=None
        Strategy of :meth:`select`. It gets the texts or the vectors. None means
        ``MaxRepSelector()``, which starts from the judged documents, as in [1]_.
    n_jobs : int or None, default=None
        Number of queries that are fitted in parallel, or of label sets that :meth:`sample` draws
        for "pairs"; results do not depend on it.
    verbose : int, default=0
        Above 0 shows the progress.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), dtype float64
        The distinct labels that were learned from, ascending.
    imputed_ : ndarray of shape (n_rows,), dtype bool
        Mask of the rows in `fit` without a label that get a predicted one.
    vectorizer_ : transformer or None
        The fitted vectorizer; None for numbers without one.
    n_features_in_ : int
        Number of columns of X, if it has any.
    feature_names_in_ : ndarray of str
        Their names, if they are texts.

    See Also
    --------
    complete_qrels : Draws label sets for the judgments of runs, in tables.
    MaxRepSelector : Chooses the documents to judge.

    Notes
    -----
    "per_query" is the "predict-map" of [1]_, after [2]_: a linear support vector machine on the
    tf-idf weights of the :math:`10^6` most frequent terms, classes weighted by the inverse of their
    frequency. Here a term's idf counts distinct texts, judged or not; idf is smoothed and vectors
    have unit length, as in scikit-learn. A query only gets labels that one of its documents has.

    A query with more than two labels :math:`l_1 < \dots < l_m`, forbidden ones included, gets a
    classifier for each of :math:`P(l > l_1), \dots, P(l > l_{m-1})` [3]_. The predicted label is
    found by going up from the lowest label until a classifier says no. For chances, :math:`P(l >
    l_i)` is lowered to :math:`P(l > l_{i-1})` if it is larger, and :math:`P(l = l_i) = P(l >
    l_{i-1}) - P(l > l_i)`. So the likeliest label may be another than the predicted one, which with
    "pairs" is the likeliest.

    Chances are the classifier's own, if it has `predict_proba`. Else one sigmoid for all queries
    turns margins into chances [4]_. It is fitted on held-out margins of judged rows
    (cross-validation within queries, up to 5 folds), because balanced class weights alone put the
    chances of rare labels far too high.

    .. warning::
       Chances are too high if the judged rows were selected as likely to be relevant, because only
       judged rows are learned from.

    References
    ----------
    .. [1] K. Hui, K. Berberich. "Selective Labeling and Incomplete Label Mitigation for Low-Cost
       Evaluation". SPIRE 2015.
    .. [2] S. Büttcher, C. L. A. Clarke, P. C. K. Yeung, I. Soboroff. "Reliable Information
       Retrieval Evaluation with Incomplete and Biased Judgements". SIGIR 2007.
    .. [3] E. Frank, M. Hall. "A Simple Approach to Ordinal Classification". ECML 2001.
    .. [4] J. Platt. "Probabilistic Outputs for Support Vector Machines and Comparisons to
       Regularized Likelihood Methods". Advances in Large Margin Classifiers, 1999.

    Examples
    --------
    >>> from skfilterrank.judgments import LabelPredictor
    >>> groups = ["wings"] * 5 + ["heat"] * 3
    >>> X = ["lift of a wing", "wing in a slipstream", "heat in slabs", "a swept wing",
    ...      "heat flow", "heat in slabs", "heat flow", "lift of a wing"]
    >>> y = [1, 1, 0, None, None, 1, None, 0]
    >>> predictor = LabelPredictor()
    >>> predictor.fit_transform(X, y, groups).tolist()
    [1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0]
    >>> predictor.imputed_.tolist()
    [False, False, False, True, True, False, True, False]

    Complete label sets, drawn by the model of all pairs:

    >>> pairs = LabelPredictor(model="pairs").fit(X, y, groups)
    >>> pairs.predict_proba(["a wing"], ["wings"]).round(2)
    array([[0.02, 0.98]])
    >>> pairs.sample(n_draws=2, random_state=0).shape
    (2, 8)
    """

    classes_: Any
    imputed_: Any
    vectorizer_: Any
    n_features_in_: int
    feature_names_in_: np.ndarray

    # By default, scikit-learn's metadata routing passes `groups`.
    __metadata_request__fit = {"groups": True}  # noqa: RUF012
    __metadata_request__transform = {"groups": True}  # noqa: RUF012
    __metadata_request__predict = {"groups": True}  # noqa: RUF012
    __metadata_request__predict_proba = {"groups": True}  # noqa: RUF012
    __metadata_request__score = {"groups": True}  # noqa: RUF012

    def __init__(
        self,
        estimator: Any = None,
        *,
        model: Literal["per_query", "pairs"] = "per_query",
        vectorizer: Any = None,
        one_class: Literal["leave", "copy"] = "leave",
        selector: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.model = model
        self.vectorizer = vectorizer
        self.one_class = one_class
        self.selector = selector
        self.n_jobs = n_jobs
        self.verbose = verbose

    @all_or_nothing
    def fit(self, X, y, groups=None) -> Self:
        """Fit the models.

        Parameters
        ----------
        X : list of str, array-like, sparse matrix or DataFrame of n_rows rows
            Documents in any order: texts, vectors of numbers, a table with columns of texts and
            numbers, or what `vectorizer` takes.
        y : array-like of shape (n_rows,)
            Labels: numbers, higher is better, below 0 forbidden, NaN where unjudged. -1 never means
            unjudged.
        groups : array-like of shape (n_rows,), default=None
            Query of each row. None takes the index level "qid" of y or X.

        Returns
        -------
        self : LabelPredictor
            The fitted predictor.

        Raises
        ------
        ValueError
            If labels are no finite numbers, no row is judged, a document (index level "docno" of X)
            occurs twice in a query, a column of X holds ids, no text has a term, or a parameter is
            out of range.

        Warns
        -----
        DataWarning
            If no label is NaN and some are -1, which never means unjudged; if a text is empty or
            has no known term.
        UnjudgedWarning
            If queries stay unjudged: queries without a judged document, and by default queries with
            one label.
        """
        estimator = check_parameters(self)
        documents, index, labels = self._read(X, y, groups)
        self.__dict__.pop("n_features_in_", None)
        validate_data(self, X, skip_check_array=True)
        _warn_of_minus_one(labels)
        self._of_texts = is_texts(documents)
        if np.isnan(labels).all():
            raise InputError("no row is judged: expected labels in y that are not NaN.")
        self.classes_ = np.unique(labels[~np.isnan(labels)])
        fit_model = fit_pairs if self.model == "pairs" else fit_queries
        self._learned, vectors = fit_model(self, estimator, documents, index, labels)
        self.vectorizer_ = self._learned.vectorizer
        _warn_of_empty(vectors.without_terms(), labels)
        if self.model == "pairs":
            # Drawing label sets fits the model again.
            self._drawn_from = estimator, vectors.matrix, labels, index.row_ids()
        # Known labels stay. Predictions for other rows are kept for `fit_transform` and `sample`,
        # in an order that depends on contents only.
        completed, rows = labels.copy(), np.flatnonzero(np.isnan(labels))
        chances = np.empty((0, len(self.classes_)))
        if len(rows):
            part, left = vectors.at(rows), GroupIndex.from_groups(index.row_ids()[rows])
            order, _ = rows_by_content(left, hash_rows(part.matrix)[part.numbers], labels[rows])
            completed[rows] = self._learned.labels(part, left)
            chances = self._learned.chances(part, left, self.classes_)[order]
            rows = rows[order]
        _warn_of_left(completed, index)
        self.imputed_ = np.isnan(labels) & ~np.isnan(completed)
        drawn = self.imputed_[rows]
        self._completed, self._chances = completed, (rows[drawn], chances[drawn])
        return self

    @all_or_nothing
    def fit_transform(self, X, y, groups=None) -> np.ndarray | pd.Series:
        """Fit, and return the given labels completed.

        Parameters
        ----------
        X, y, groups : array-like of n_rows rows
            As in :meth:`fit`.

        Returns
        -------
        ndarray of shape (n_rows,), or Series
            Labels as floats; a Series if y is one. Known labels are unchanged.
        """
        labels = self.fit(X, y, groups)._completed.copy()
        return pd.Series(labels, y.index, name=y.name) if isinstance(y, pd.Series) else labels

    def transform(self, X, y=None, groups=None) -> np.ndarray | pd.Series:
        """Return labels, completed by the models of `fit`.

        Parameters
        ----------
        X : list of str, array-like, sparse matrix or DataFrame of n_rows rows
            Documents in the form of `fit`, of queries that were in `fit`.
        y, groups : array-like of shape (n_rows,), default=None
            Labels and queries, as in :meth:`fit`. Without labels, all are predicted.

        Returns
        -------
        ndarray of shape (n_rows,), or Series
            Labels as floats; a Series if y is one. Known labels are unchanged.
        """
        vectors, index, labels = self._read_again(X, y, groups)
        labels = np.where(np.isnan(labels), self._learned.labels(vectors, index), labels)
        _warn_of_left(labels, index)
        return pd.Series(labels, y.index, name=y.name) if isinstance(y, pd.Series) else labels

    def predict(self, X, groups=None) -> np.ndarray:
        """Predict the label of every row.

        With ``model="pairs"``, the rows of `fit` are predicted with all labels known, also their
        own. Take :meth:`fit_transform` for these.

        Parameters
        ----------
        X : list of str, array-like, sparse matrix or DataFrame of n_rows rows
            Documents in the form of `fit`, of queries that were in `fit`.
        groups : array-like of shape (n_rows,), default=None
            Query of each row, as in :meth:`fit`.

        Returns
        -------
        ndarray of shape (n_rows,), dtype float64
            Predicted labels, NaN for queries without a model.

        Raises
        ------
        InputError
            For the reasons of :meth:`fit`.

        Warns
        -----
        UnjudgedWarning
            If queries have no model.
        """
        return np.asarray(self.transform(X, groups=groups))

    def predict_proba(self, X, groups=None) -> np.ndarray:
        """Compute the chance of each label.

        Parameters
        ----------
        X, groups : array-like of n_rows rows
            As in :meth:`predict`.

        Returns
        -------
        ndarray of shape (n_rows, n_classes), dtype float64
            Chances of `classes_`, which sum to 1; NaN for queries without a model. The likeliest
            label may differ from the one that `predict` returns, see Notes.

        Warns
        -----
        FitWarning
            If too few rows are judged to calibrate the margins of the classifiers.
        """
        vectors, index, _ = self._read_again(X, None, groups)
        self._warn_if_raw()
        chances = self._learned.chances(vectors, index, self.classes_)
        _warn_of_left(chances[:, 0], index)
        return chances

    def sample(self, n_draws: int = 20, *, random_state=None) -> np.ndarray:
        """Draw complete label sets of the rows in `fit`.

        Parameters
        ----------
        n_draws : int, default=20
            Number of label sets.
        random_state : int, RandomState instance or None, default=None
            Source of the draws. Pass an int for results that can be repeated.

        Returns
        -------
        ndarray of shape (n_draws, n_rows), dtype float64
            In each set, known labels, and labels of the other rows drawn by their chances; NaN for
            queries without a model.

        Warns
        -----
        FitWarning
            As in :meth:`predict_proba`.
        """
        check_is_fitted(self)
        n_draws = check_count(n_draws, "n_draws")
        random_state = check_random_state(random_state)
        self._warn_if_raw()
        if self.model == "pairs":
            classifier, *rows = self._drawn_from
            options = {"n_draws": n_draws, "random_state": random_state}
            options |= {"n_jobs": self.n_jobs, "verbose": self.verbose}
            return sample_labels(*rows, classifier=classifier, **options)
        sets = np.tile(self._completed, (n_draws, 1))
        rows, chances = self._chances
        ends = chances.cumsum(axis=1)[:, :-1]
        for labels in sets:
            places = (random_state.random_sample((len(rows), 1)) > ends).sum(axis=1)
            labels[rows] = self.classes_[places]
        return sets

    def select(
        self, X, y=None, *, groups=None, n_per_query=None, n_total=None, share=None, prior=None
    ) -> np.ndarray:
        """Choose the rows to judge next; this needs no `fit`.

        Parameters
        ----------
        X : list of str, array-like, sparse matrix or DataFrame of n_rows rows
            Documents as in `fit`, judged and unjudged.
        y, groups : array-like of shape (n_rows,), default=None
            Labels and queries, as in :meth:`fit`. Without labels, all rows are unjudged.
        n_per_query, n_total, share : int, int and float, default=None
            The budget, as in :meth:`MaxRepSelector.select`; `n_total` is divided among unjudged
            documents. If a query has fewer of them, or without a budget, all are selected.
        prior : array-like of shape (n_rows,), default=None
            Prior of relevance of each document, passed to the selector.

        Returns
        -------
        rows : ndarray of shape (n_selected,), dtype int64
            Row numbers of the unjudged rows to judge, ascending: the first unjudged documents of
            each query in the selector's order. Selectors such as :class:`MaxRepSelector` take the
            judged documents into account.

        Raises
        ------
        InputError
            For the reasons of :meth:`fit`, and of the selector's `fit`.
        """
        check_parameters(self)
        documents, index, labels = self._read(X, y, groups)
        unjudged, chosen = np.isnan(labels), np.zeros(len(labels), dtype=bool)
        sizes = index.sums(unjudged.astype(np.int64))
        budgets = named_budgets(index, n_per_query, n_total, share, sizes=sizes, warn=False)
        budgets = sizes if budgets is None else budgets
        selector = MaxRepSelector() if self.selector is None else clone(self.selector)
        # For most strategies, judged documents do not change the order of the others.
        known = {"judged": ~unjudged} if has_fit_parameter(selector, "judged") else {}
        selector.fit(self._selectable(documents), groups=index.row_ids(), prior=prior, **known)
        for rows, budget in zip(index.rows_by_query(), budgets):
            rows = rows[unjudged[rows]]
            chosen[rows[np.argsort(selector.ranking_[rows], kind="stable")[:budget]]] = True
        return np.flatnonzero(chosen)

    def score(self, X, y, groups=None) -> float:
        """Measure the agreement of given labels with predictions for their rows.

        Parameters
        ----------
        X : list of str, array-like, sparse matrix or DataFrame of n_rows rows
            Documents that were not in `fit`, of queries that were; only rows with a label count.
        y : array-like of shape (n_rows,)
            Labels.
        groups : array-like of shape (n_rows,), default=None
            Query of each row, as in :meth:`fit`.

        Returns
        -------
        float
            Cohen's kappa with quadratic weights, of labels and predictions over all queries: 1 is
            perfect agreement, 0 agreement by chance. A row without a prediction counts as 0, as in
            measures. The result is 1.0 if all labels and all predictions are equal.

        Raises
        ------
        InputError
            If no row is judged; for the reasons of :meth:`predict`.

        Notes
        -----
        GridSearchCV uses this to tune the predictor. Models of "per_query" are for single queries,
        so every fold needs rows of every query, as in the example. With folds of whole queries,
        they could predict nothing. The score holds for labels *like the judged ones*; if these were
        selected as likely to be relevant, other labels are predicted worse.

        Examples
        --------
        >>> import pandas as pd
        >>> from sklearn.model_selection import GridSearchCV, StratifiedKFold
        >>> from sklearn.svm import LinearSVC
        >>> from skfilterrank.judgments import LabelPredictor
        >>> texts = ["a cat purrs", "the cat sleeps", "cat and mouse", "my cat", "cat food"]
        >>> texts += ["a dog barks", "the dog runs", "dog and bone", "my dog", "dog food"]
        >>> y = pd.Series(5 * [1.0] + 5 * [0.0], index=pd.Index(["1"] * 10, name="qid"))
        >>> folds = StratifiedKFold(5, shuffle=True, random_state=0).split(texts, y.index)
        >>> options = {"estimator__C": [0.01, 1.0]}
        >>> predictor = LabelPredictor(LinearSVC(class_weight="balanced", random_state=0))
        >>> float(GridSearchCV(predictor, options, cv=list(folds)).fit(texts, y).best_score_)
        1.0
        """
        vectors, index, labels = self._read_again(X, y, groups)
        known = ~np.isnan(labels)
        if not known.any():
            raise InputError(
                f"y has no label in any of {len(known)} rows: the score compares labels with what "
                "is predicted for them."
            )
        predicted = self._learned.labels(vectors, index)
        _warn_of_left(np.where(known, predicted, 0.0), index)
        return concordance(labels[known], np.nan_to_num(predicted[known]))

    def _read(self, X, y, groups) -> tuple[Any, GroupIndex, np.ndarray]:
        """Return checked documents, the index of queries, and labels, all NaN without y."""
        n_rows = count_rows(X)
        labels = np.full(n_rows, np.nan) if y is None else _labels(y)
        if len(labels) != n_rows:
            raise InputError(f"y has {len(labels)} labels but X has {n_rows} rows.")
        carrier = "y or X as a pandas object"
        index = check_groups(groups, y, X, n_rows=n_rows, names=("y", "X"), carrier=carrier)
        check_no_duplicates(X, index)
        refuse_ids(X)
        is_own = self.vectorizer is None and self.model == "per_query"
        return read_documents(X) if is_own or is_texts(X) else X, index, labels

    def _read_again(self, X, y, groups):
        """Return the vectors of new documents, the index of their queries, and their labels."""
        check_is_fitted(self)
        documents, index, labels = self._read(X, y, groups)
        if is_texts(documents) != self._of_texts:
            kind = "texts" if self._of_texts else "no texts"
            raise InputError(f"X must hold {kind}, as in fit, got {brief(X)}.")
        validate_data(self, X, reset=False, skip_check_array=True)
        return self._learned.vectors(documents, index), index, labels

    def _selectable(self, documents):
        """Return texts, or the vectors of other documents, for the selector."""
        vectorizer = None if self.model == "pairs" else self.vectorizer
        if vectorizer is None:
            documents = read_documents(documents)
        if is_texts(documents):
            return documents
        vectorizer = usual_vectorizer(documents) if vectorizer is None else clone(vectorizer)
        return make_vectors(vectorizer, documents, fits=True).matrix

    def _warn_if_raw(self):
        if self._learned.is_raw:
            warn_user(
                "the chances are not calibrated: too few rows are judged for it, so that the "
                "logistic function of the margins is used, which is far too high for rare labels. "
                "Judge more, or pass a classifier with predict_proba.",
                FitWarning,
            )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def concordance(labels, predicted) -> float:
    """Compute Cohen's kappa with quadratic weights; labels may be any numbers."""
    apart = np.mean((labels - predicted) ** 2)
    by_chance = labels.var() + predicted.var() + (labels.mean() - predicted.mean()) ** 2
    rounding = mean_tolerance(np.append(labels, predicted)) ** 2
    return float(1.0 - apart / by_chance) if by_chance > rounding else 1.0


def check_parameters(predictor):
    """Check all parameters of a predictor, and return its classifier."""
    check_choice(predictor.model, "model", ("per_query", "pairs"))
    check_choice(predictor.one_class, "one_class", ("leave", "copy"))
    if not (predictor.vectorizer is None or hasattr(predictor.vectorizer, "fit_transform")):
        raise InputError(
            f"vectorizer must be a transformer or None, got {brief(predictor.vectorizer)}."
        )
    is_of_pairs = predictor.model == "pairs"
    if is_of_pairs and predictor.one_class == "copy":
        raise InputError("one_class='copy' is for model='per_query': leave it out.")
    if predictor.selector is not None and not isinstance(predictor.selector, QuerySelector):
        raise InputError(
            "selector must be a strategy such as MaxRepSelector(), or None for this one, got "
            f"{brief(predictor.selector)}."
        )
    if predictor.estimator is not None:
        _check_classifier(predictor.estimator, is_of_pairs)
        return predictor.estimator
    return usual_classifier() if is_of_pairs else LinearSVC(class_weight="balanced", random_state=0)


def _check_classifier(estimator, is_of_pairs) -> None:
    """Raise if an estimator is no classifier of vectors, with chances for a model of all pairs."""
    is_instance = hasattr(estimator, "fit") and not isinstance(estimator, type)
    if not is_instance or not is_classifier(estimator):
        raise InputError(
            "estimator must be a classifier, not fitted, such as LogisticRegression(), got "
            f"{brief(estimator)}."
        )
    if is_of_pairs and not hasattr(estimator, "predict_proba"):
        raise InputError(
            f"estimator must have predict_proba for model='pairs', got {brief(estimator)}: wrap it "
            "in CalibratedClassifierCV."
        )
    if isinstance(estimator, Pipeline):
        tags = get_tags(estimator[0]).input_tags
        if tags.string and not tags.two_d_array:
            raise InputError(
                "estimator gets vectors of numbers, but this Pipeline starts from texts: pass "
                "its first step as vectorizer=, and its last one as estimator=."
            )


def _labels(y) -> np.ndarray:
    """Return labels as float64, NaN where unjudged."""
    try:
        return as_gains(y, name="y")
    except LabelsNotNumbers as error:
        raise InputError(
            "y must hold numbers, NaN where unjudged: map labels to numbers first, such as "
            "{'Bad': -1, 'Good': 1}; they say which is better."
        ) from error


def _warn_of_minus_one(labels) -> None:
    """Warn if no label is missing but some are -1, which may mean missing."""
    n_minus_one = int(np.count_nonzero(labels == -1))
    if n_minus_one and not np.isnan(labels).any():
        warn_user(
            f"y has no NaN, so there is nothing to complete, and {n_minus_one} of its "
            f"{len(labels)} labels are -1: labels below 0 mean forbidden. Use NaN for unjudged "
            "rows; where -1 does mean forbidden, silence this by "
            "warnings.filterwarnings('ignore', message='.*labels are -1').",
            DataWarning,
        )


def _warn_of_left(labels, index) -> None:
    """Warn of queries with rows that have neither a known nor a predicted label."""
    left = index.query_ids[np.unique(index.codes()[np.isnan(labels)])]
    if len(left):
        warn_user(
            f"documents of {counted(len(left), 'query')} stay unjudged, such as of "
            f"{', '.join(map(brief, left[:_SHOWN].tolist()))}: none is judged, or all labels to "
            "learn from are the same one. Judge more, or pass one_class='copy' for the latter.",
            UnjudgedWarning,
        )


def _warn_of_empty(rows, labels) -> None:
    """Warn of rows without a known term."""
    if len(rows):
        n_judged = int(np.count_nonzero(~np.isnan(labels[rows])))
        warn_user(
            f"the text holds no known term in {len(rows)} of {len(labels)} rows ({n_judged} of "
            f"them judged), such as {', '.join(map(str, rows[:_SHOWN]))}: these rows cannot be "
            "distinguished. Fill in the texts, or leave the rows out.",
            DataWarning,
        )

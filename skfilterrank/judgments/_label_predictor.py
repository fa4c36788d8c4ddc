"""LabelPredictor, an imputer of missing labels, and simulation of judging budgets."""

from numbers import Real
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVC
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from skfilterrank._estimators.ranker_mixin import all_or_nothing
from skfilterrank._lists.checks import (
    as_column,
    as_numbers,
    check_choice,
    check_flag,
    check_random_state,
    count_rows,
)
from skfilterrank._lists.content import keys_of_queries
from skfilterrank._lists.queries import GroupIndex, check_groups
from skfilterrank._lists.results import counted
from skfilterrank._lists.ties import mean_tolerance
from skfilterrank._lists.words import warn_user
from skfilterrank.exceptions import (
    DataWarning,
    FitWarning,
    InputError,
    UnjudgedWarning,
    brief,
)
from skfilterrank.judgments._level_model import (
    NO_LABEL,
    Vectors,
    fit_level_model,
    fit_queries,
    predict_queries,
    stand_ins,
)
from skfilterrank.judgments._maxrep import MaxRepSelector
from skfilterrank.judgments._ranked_selectors import StatAPSelector
from skfilterrank.judgments._selector import (
    QuerySelector,
    check_no_duplicates,
    check_number_of_documents,
    check_share,
    is_texts,
    named_budgets,
)

_SHOWN = 5
# Number of terms, the most frequent ones, as in the paper of "predict-map".
_N_TERMS = 1_000_000


class LabelPredictor(BaseEstimator):
    r"""Imputer of the labels of `y` that are NaN, because nobody judged these documents.

    Each query gets its own classifier, which is fitted on the query's judged documents and predicts
    the labels of the others. All queries share the document vectors. Existing labels are not
    changed.

    X holds the documents: texts, or vectors of numbers, such as those from an earlier step of a
    Pipeline. Queries are in `groups` or in an index level "qid" of `y` or X. For judgments, runs
    and texts in tables, see :func:`complete_qrels`.

    Parameters
    ----------
    estimator : classifier or None, default=None
        Binary classifier, cloned for each query and each pair of neighbouring labels. It needs
        `predict`, and `predict_proba` or `decision_function`, and is fitted on vectors with targets
        0 and 1. None means ``LinearSVC(class_weight="balanced", random_state=0)``.
    vectorizer : transformer or None, default=None
        Turns documents into vectors, such as HashingVectorizer, or a ColumnTransformer for a table;
        cloned, and fitted on all rows, on distinct texts only. None means
        ``TfidfVectorizer(max_features=1_000_000)`` for texts; numbers are taken as they are.
    output : {"hard", "soft"}, default="hard"
        "hard" predicts one of the query's labels. "soft" predicts the expected label, the mean of
        the query's labels weighted by probability: with two labels ``(1 - p) * low + p * high``.
    calibration : {"auto", "pooled", None}, default="auto"
        How margins become probabilities. "pooled": Platt's sigmoid, one for all queries, fitted on
        out-of-fold margins of judged rows (cross-validation within queries, up to 5 folds). None:
        the logistic function of the decision function, or the classifier's own probabilities.
        "auto": "pooled" for ``output="soft"`` and a classifier without `predict_proba`, else None.
        If there are too few judged rows for "pooled", None is used, and `fit` warns.
    shared : bool, default=False
        Whether one model of all queries' judged documents replaces the models of single queries.
        This suits numbers with the same meaning in every query, such as features of query and
        document or ranks in runs, but not terms of texts.
    one_class : {"auto", "pool", "copy", "leave"}, default="auto"
        Treatment of queries whose judged documents all have one label: use a model of all queries'
        judged documents ("pool"), copy the label to the other documents as in [1]_ ("copy"), or
        leave the rows NaN ("leave"). "auto" means "pool" for numbers and for ``shared=True``. For
        texts it means "leave", with a warning, because a model of terms of all queries is of little
        use for one query.
    unjudged_query : {"leave", "pool", "raise"}, default="leave"
        Treatment of queries without a judged document, and of queries that `fit` has not seen:
        leave the rows NaN with a warning, use the model of all queries, or raise a ValueError.
    selector : QuerySelector, "uncertainty" or None, default=None
        Strategy of :meth:`select`. It gets the texts or the vectors. None means
        ``MaxRepSelector()``, which starts from the judged documents; "uncertainty" selects the
        documents whose label is least certain.
    n_per_query : int or None, default=None
        Number of the labels of each query that are used, to compare strategies and budgets on
        existing labels: those that the selector asks for first. `fit` treats the others as
        unjudged. None uses all labels.
    share : float or None, default=None
        Share of the labels of each query that are used, in (0, 1], in place of `n_per_query`.
    n_jobs : int or None, default=None
        Number of queries that are fitted in parallel; results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the classifiers. None keeps the `random_state` of `estimator`.
    verbose : int, default=0
        Above 0 shows the progress over queries.

    Attributes
    ----------
    imputed_ : ndarray of shape (n_rows,), dtype bool
        Mask of the rows in `fit` with a predicted label; with `n_per_query` or `share` including
        rows whose own label was not used.
    confidence_ : ndarray of shape (n_rows,), dtype float64
        Probability of the predicted label ("soft": of the likeliest label) among the query's
        labels; NaN where nothing is predicted or a label is copied. Without calibration it only
        orders rows by certainty, and is not a frequency.
    n_imputed_, n_left_ : int
        Number of rows with a predicted label, and number of rows that stay unjudged.
    empty_texts_ : ndarray of shape (n_empty_texts,), dtype int64
        Row numbers, ascending, of judged and unjudged rows whose text is empty or has no known
        term. A linear classifier labels them by its intercept. `fit` warns of them.
    fallback_queries_ : dict
        Queries without their own model, with the reason.
    models_ : dict
        The model of each query, None if it has none. `levels` of a model are the query's labels,
        ascending; `classifiers` has one for each label but the highest.
    pool_model_ : LevelModel or None
        The model of all queries; None if not needed.
    calibration_ : Calibration or None
        `slope` and `intercept` of the sigmoid; None without one.
    queries_ : ndarray of shape (n_queries,)
        The queries, sorted.
    labels_ : ndarray of shape (n_labels,), dtype float64
        The distinct labels, ascending.
    vectorizer_ : transformer or None
        The fitted vectorizer; None for numbers without one.
    n_features_in_ : int
        Number of columns of X, if it has any.
    feature_names_in_ : ndarray of str
        Their names, if they are texts.

    See Also
    --------
    complete_qrels : Completes the judgments of runs, and estimates what the labels are worth.

    Notes
    -----
    By default the "predict-map" of [1]_, after [2]_: a linear support vector machine on the tf-idf
    weights of the :math:`10^6` most frequent terms, classes weighted by the inverse of their
    frequency. Here a term's idf counts distinct texts, judged or not; scikit-learn's smoothed idf
    and unit length.

    A query with more than two labels :math:`l_1 < \dots < l_m`, forbidden ones included, gets a
    classifier for each of :math:`P(l > l_1), \dots, P(l > l_{m-1})` [3]_. The hard label is found
    by going up from the lowest label until a classifier says no. For probabilities, :math:`P(l >
    l_i)` is lowered to :math:`P(l > l_{i-1})` if it is larger, and :math:`P(l = l_i) = P(l >
    l_{i-1}) - P(l > l_i)`.

    With balanced class weights, a margin of 0 means equal probability in a sample with as many rows
    of each class. So the logistic function of a margin is far above the probability of a rare
    label. The pooled sigmoid corrects a part of this if the judged rows were drawn at random. On
    Cranfield with 30 % judged, it predicts that 10.8 % of the unjudged documents are relevant, the
    logistic function 33.4 %, and the truth is 4.3 %. If the likeliest 10 % are judged, it predicts
    18.7 %, and the truth is 2.4 % (``benchmarks/labels_needed.py``). It is fitted on models of
    single queries. Its probabilities are too high for a model of all queries that is used for a
    query whose judged documents have one label. It needs up to five more fits per query and label.

    .. warning::
       Soft labels are far too high if the judged rows were selected as likely to be relevant,
       because the calibration sees only judged rows. The mean probability may be several times the
       share of relevant documents among the unjudged ones. Probabilities are valid if judged rows
       were drawn at random.

    Except for the model of all queries, a query only gets labels that one of its documents has.
    Labels of other queries are used only by that model and by the two parameters of the pooled
    calibration.

    References
    ----------
    .. [1] K. Hui, K. Berberich. "Selective Labeling and Incomplete Label Mitigation for Low-Cost
       Evaluation". SPIRE 2015.
    .. [2] S. Büttcher, C. L. A. Clarke, P. C. K. Yeung, I. Soboroff. "Reliable Information
       Retrieval Evaluation with Incomplete and Biased Judgements". SIGIR 2007.
    .. [3] E. Frank, M. Hall. "A Simple Approach to Ordinal Classification". ECML 2001.

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
    """

    imputed_: Any
    confidence_: Any
    n_imputed_: int
    n_left_: int
    empty_texts_: Any
    fallback_queries_: Any
    models_: Any
    pool_model_: Any
    calibration_: Any
    queries_: Any
    labels_: Any
    n_features_in_: int
    feature_names_in_: np.ndarray

    # By default, scikit-learn's metadata routing passes `groups`.
    __metadata_request__fit = {"groups": True}  # noqa: RUF012
    __metadata_request__predict = {"groups": True}  # noqa: RUF012
    __metadata_request__score = {"groups": True}  # noqa: RUF012

    def __init__(
        self,
        estimator: Any = None,
        *,
        vectorizer: Any = None,
        output: Literal["hard", "soft"] = "hard",
        calibration: Literal["auto", "pooled", None] = "auto",
        shared: bool = False,
        one_class: Literal["auto", "pool", "copy", "leave"] = "auto",
        unjudged_query: Literal["leave", "pool", "raise"] = "leave",
        selector: Any = None,
        n_per_query: int | None = None,
        share: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.vectorizer = vectorizer
        self.output = output
        self.calibration = calibration
        self.shared = shared
        self.one_class = one_class
        self.unjudged_query = unjudged_query
        self.selector = selector
        self.n_per_query = n_per_query
        self.share = share
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @all_or_nothing
    def fit(self, X, y, groups=None) -> Self:
        """Fit a model for each query.

        Parameters
        ----------
        X : list of str, array-like, sparse matrix or DataFrame of n_rows rows
            Documents in any order: texts, vectors of numbers, or what `vectorizer` takes.
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
            If labels are invalid, such as -1 among integers; if no row is judged, a document (index
            level "docno" of X) occurs twice in a query, no text has a term, or a parameter is out
            of range.

        Warns
        -----
        DataWarning, FitWarning
            If no label is NaN and some are -1, which never means unjudged; if a text is empty or
            has no known term; if probabilities cannot be calibrated.
        UnjudgedWarning
            If queries stay unjudged: queries without a judged document, and by default queries with
            one label.
        """
        self._fit(X, y, groups)
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
        known, predicted = self._fit(X, y, groups)
        labels = np.where(np.isnan(known), predicted, known)
        return pd.Series(labels, y.index, name=y.name) if isinstance(y, pd.Series) else labels

    def predict(self, X, groups=None) -> np.ndarray:
        """Predict the label of every row.

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
        ValueError
            For the reasons of :meth:`fit`; with ``unjudged_query="raise"``, if a query is unknown.
        """
        check_is_fitted(self)
        index, _ = self._read(X, None, groups)
        return self._predict(self.vectors_of(X), index, np.ones(index.n_rows, dtype=bool))[0]

    def select(
        self, X, y=None, *, groups=None, n_per_query=None, n_total=None, share=None, prior=None
    ) -> np.ndarray:
        """Choose the rows to judge next.

        Parameters
        ----------
        X : list of str, array-like, sparse matrix or DataFrame of n_rows rows
            Documents in the form of `fit`, judged and unjudged.
        y, groups : array-like of shape (n_rows,), default=None
            Labels and queries, as in :meth:`fit`. Without labels, all rows are unjudged.
        n_per_query, n_total, share : int, int and float, default=None
            The budget, as in :meth:`MaxRepSelector.select`. If a query has fewer unjudged
            documents, or without a budget, all are selected.
        prior : array-like of shape (n_rows,), default=None
            Prior of relevance of each document, passed to the selector.

        Returns
        -------
        rows : ndarray of shape (n_selected,), dtype int64
            Row numbers of the unjudged rows to judge, ascending: the first unjudged documents of
            each query in the selector's order. Selectors such as :class:`MaxRepSelector` take the
            judged documents into account. With "uncertainty", the rows with the lowest probability
            of their likeliest label; rows without a model of their query keep the order of the
            table.

        Raises
        ------
        ValueError
            For the reasons of :meth:`fit`; if the selector does not rank documents; with
            "uncertainty", if a prior is passed.
        NotFittedError
            With "uncertainty", before `fit`. Other strategies need no model and work before
            anything is judged.
        """
        selector = check_selector(self.selector)
        is_own = isinstance(selector, str)
        if is_own:
            check_is_fitted(self)
        index, labels = self._read(X, y, groups)
        budgets = named_budgets(index, n_per_query, n_total, share, warn=False)
        budgets = index.sizes if budgets is None else budgets
        unjudged = np.isnan(labels)
        if is_own and prior is not None:
            raise InputError(f"prior needs a strategy: {selector!r} does not use it.")
        if is_own:
            order = self._certainty(X, index, unjudged)
        else:
            order = selection_order(selector, self._selectable(X), index, prior, ~unjudged)
        return np.flatnonzero(first_rows(order, index, unjudged, budgets))

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
            Agreement of labels and predictions over all queries: Cohen's kappa with quadratic
            weights, or for ``output="soft"`` Lin's concordance coefficient. 1 is perfect agreement,
            0 agreement by chance. A row without a prediction counts as 0, as in measures. The
            result is 1.0 if all labels and all predictions are equal.

        Raises
        ------
        ValueError
            If no row is judged; for the reasons of :meth:`predict`.

        Notes
        -----
        GridSearchCV uses this to tune the predictor, including `n_per_query` and the selector. The
        models are for single queries, so every fold needs rows of every query, as in the example.
        With folds of whole queries, nothing could be predicted. The score holds for labels *like
        the judged ones*; if these were selected as likely to be relevant, other labels are
        predicted worse.

        Examples
        --------
        >>> import pandas as pd
        >>> from sklearn.model_selection import GridSearchCV, StratifiedKFold
        >>> from skfilterrank.judgments import LabelPredictor
        >>> texts = ["a cat purrs", "the cat sleeps", "cat and mouse", "my cat", "cat food"]
        >>> texts += ["a dog barks", "the dog runs", "dog and bone", "my dog", "dog food"]
        >>> y = pd.Series(5 * [1.0] + 5 * [0.0], index=pd.Index(["1"] * 10, name="qid"))
        >>> folds = StratifiedKFold(5, shuffle=True, random_state=0).split(texts, y.index)
        >>> predictor = LabelPredictor(one_class="copy")
        >>> search = GridSearchCV(predictor, {"n_per_query": [2, None]}, cv=list(folds))
        >>> search.fit(texts, y).best_params_
        {'n_per_query': None}
        """
        check_is_fitted(self)
        index, labels = self._read(X, y, groups)
        known = ~np.isnan(labels)
        if not known.any():
            raise InputError(
                f"y has no label in any of {len(known)} rows: the score compares labels with what "
                "is predicted for them."
            )
        predicted, _ = self._predict(self.vectors_of(X), index, known)
        return concordance(labels[known], np.nan_to_num(predicted[known], nan=0.0))

    def _fit(self, X, y, groups):
        """Fit; return the known labels, and the labels for the unjudged rows."""
        check_parameters(self)
        index, labels = self._read(X, y, groups)
        _warn_of_minus_one(labels)
        for name in ("n_features_in_", "feature_names_in_"):
            vars(self).pop(name, None)
        validate_data(self, X, skip_check_array=True)
        vectors, used = self.vectors_of(X, fits=True), labels
        if self.n_per_query is not None or self.share is not None:
            used = self._asked_labels(self._selectable(X), index, labels)
        return labels, self.fit_vectors(vectors, index, used)

    def _read(self, X, y, groups) -> tuple[GroupIndex, np.ndarray]:
        """Check documents; return the index of queries, and labels, all NaN without y."""
        n_rows = count_rows(X)
        labels = np.full(n_rows, np.nan) if y is None else check_labels(y)
        if len(labels) != n_rows:
            raise InputError(f"y has {len(labels)} labels but X has {n_rows} rows.")
        carrier = "y or X as a pandas object"
        index = check_groups(groups, y, X, n_rows=n_rows, names=("y", "X"), carrier=carrier)
        check_no_duplicates(X, index)
        return index, labels

    def vectors_of(self, X, *, fits=False) -> Vectors:
        """Return vectors of documents; `fits` learns terms and scales from all of them first."""
        texts = _texts(X)
        of_texts = texts is not None
        numbers, documents = np.arange(count_rows(X)), X
        if texts is not None:
            numbers, documents = pd.factorize(texts)
        if fits:
            default = TfidfVectorizer(max_features=_N_TERMS) if of_texts else None
            if not (self.vectorizer is None or hasattr(self.vectorizer, "fit_transform")):
                raise InputError(
                    f"vectorizer must be a transformer or None, got {brief(self.vectorizer)}."
                )
            self.vectorizer_ = default if self.vectorizer is None else clone(self.vectorizer)
        matrix: Any
        if self.vectorizer_ is None:
            matrix = _matrix(X)
        elif not fits:
            if self.vectorizer is None and not of_texts:
                raise InputError(f"X must hold texts, as in fit, got {brief(X)}.")
            matrix = self.vectorizer_.transform(documents)
        else:
            try:
                matrix = self.vectorizer_.fit_transform(documents)
            except ValueError as error:
                if not of_texts:
                    raise
                raise InputError(
                    f"the texts of X give no terms to learn from ({error}): {len(documents)} "
                    "distinct texts, all empty or stop words."
                ) from error
        matrix = matrix.tocsr() if sparse.issparse(matrix) else np.asarray(matrix)
        if not of_texts:
            return Vectors(matrix, numbers, np.zeros(len(numbers), dtype=bool), of_texts)
        is_empty = np.array([not text.strip() for text in documents])
        if sparse.issparse(matrix):
            is_empty = np.diff(matrix.indptr) == 0
        return Vectors(matrix, numbers, is_empty[numbers], of_texts)

    def _selectable(self, X):
        """Return documents for selection strategies: texts or vectors."""
        texts = _texts(X)
        if texts is not None:
            return texts.tolist()
        return _matrix(X if self.vectorizer is None else clone(self.vectorizer).fit_transform(X))

    def _asked_labels(self, documents, index, labels) -> np.ndarray:
        """Return the labels that the strategy asks for, NaN for the others.

        The strategy chooses among the judged documents.
        """
        selector = check_selector(self.selector)
        if isinstance(selector, str):
            raise InputError(
                f"n_per_query and share need a selector that works without labels, but "
                f"{selector!r} needs a model of labels: expected a strategy such as "
                "MaxRepSelector() or RandomSelector()."
            )
        judged = np.flatnonzero(~np.isnan(labels))
        if not len(judged):
            return labels
        pool = GroupIndex.from_groups(index.query_ids[index.codes()[judged]])
        budgets = named_budgets(pool, self.n_per_query, None, self.share, warn=False)
        if not hasattr(documents, "shape"):
            documents = np.array(documents, dtype=object)
        every = np.ones(len(judged), dtype=bool)
        order = selection_order(selector, documents[judged], pool, None, ~every)
        asked = judged[first_rows(order, pool, every, budgets)]
        found = np.full(len(labels), np.nan)
        found[asked] = labels[asked]
        return found

    def _certainty(self, X, index, unjudged):
        """Return the probability of each row's likeliest label, -1 without a model."""
        vectors = self.vectors_of(X)
        models = [self.models_.get(query) for query in index.query_ids.tolist()]
        _, confidence = predict_queries(
            models, self.calibration_, vectors, index, unjudged, soft=True
        )
        return np.where(np.isnan(confidence), -1.0, confidence)

    def fit_vectors(self, vectors, index, labels) -> np.ndarray:
        """Fit on document vectors.

        Parameters
        ----------
        vectors : Vectors
            A vector for each row.
        index : GroupIndex
            Rows of each query.
        labels : ndarray of shape (n_rows,), dtype float64
            NaN where unjudged.

        Returns
        -------
        ndarray of shape (n_rows,), dtype float64
            Labels of the unjudged rows; NaN for other rows, and where none is predicted.
        """
        estimator = check_parameters(self)
        unjudged = np.isnan(labels)
        if unjudged.all():
            raise InputError("no row is judged: expected labels in y that are not NaN.")
        seeds = self._seeds(index, vectors, labels)
        wants_chances = self.output == "soft" and not hasattr(estimator, "predict_proba")
        calibrate = self.calibration == "pooled" or (self.calibration == "auto" and wants_chances)
        whole = np.zeros(len(labels), dtype=np.int64)
        models, self.calibration_ = fit_queries(
            estimator,
            vectors,
            # All rows form one query, whose model is used for each.
            check_groups(whole, n_rows=len(whole)) if self.shared else index,
            labels,
            seeds[-1:] if self.shared else seeds,
            calibrate=calibrate,
            owner=self,
        )
        if calibrate and self.calibration_ is None:
            warn_user(
                "the probabilities are not calibrated: the pooled sigmoid needs 5 held-out rows "
                "on either side of a label, and there are fewer, so the logistic function of the "
                "margins is used. Judge more, or set calibration=None.",
                FitWarning,
            )
        if self.shared:
            models = models * index.n_queries
        judged = np.flatnonzero(~unjudged)
        self.queries_ = index.query_ids
        self.labels_ = np.unique(labels[judged])
        self.models_, self.fallback_queries_, self.pool_model_ = stand_ins(
            index.query_ids.tolist(),
            models,
            lambda: fit_level_model(estimator, vectors.take(judged), labels[judged], seeds[-1]),
            one_class=_one_class(self, vectors),
            unjudged_query=self.unjudged_query,
        )
        if self.shared:
            self.pool_model_ = models[0]
        labels, self.confidence_ = self._predict(vectors, index, unjudged)
        self.imputed_ = ~np.isnan(labels)
        self.n_imputed_ = int(np.count_nonzero(self.imputed_))
        self.n_left_ = int(np.count_nonzero(unjudged)) - self.n_imputed_
        self.empty_texts_ = np.flatnonzero(vectors.is_empty)
        if n_empty := len(self.empty_texts_):
            n_judged = int(np.count_nonzero(vectors.is_empty & ~unjudged))
            warn_user(
                f"the text holds no known term in {n_empty} of {len(unjudged)} rows "
                f"({n_judged} of them judged), such as "
                f"{', '.join(map(str, self.empty_texts_[:_SHOWN]))} (all in empty_texts_): these "
                "rows cannot be distinguished. Fill in the texts, or leave the rows out.",
                DataWarning,
            )
        return labels

    def _predict(self, vectors, index, unjudged):
        """Return labels and confidence of unjudged rows; NaN with a warning if impossible."""
        queries = index.query_ids.tolist()
        is_asked = np.bincount(index.codes(), weights=unjudged) > 0
        asked = [query for query, is_one in zip(queries, is_asked) if is_one and not self.shared]
        lone = [
            query
            for query in asked
            if query not in self.models_ or self.fallback_queries_.get(query) == NO_LABEL
        ]
        if lone and self.unjudged_query != "pool":
            text = (
                f"no document is judged of {counted(len(lone), 'query', 'queries')}, such as "
                f"{', '.join(map(brief, lone[:_SHOWN]))}"
            )
            if self.unjudged_query == "raise":
                raise InputError(
                    f"{text}: judge some, leave these queries out, or choose their treatment by "
                    "unjudged_query=."
                )
            warn_user(f"{text}: they stay unjudged.", UnjudgedWarning)
        left = [query for query in asked if query not in lone and self.models_[query] is None]
        if left and self.one_class == "auto":
            # This includes queries whose other labels are hidden by n_per_query or share.
            warn_user(
                "all labels to learn from are the same one in "
                f"{counted(len(left), 'query', 'queries')}, such as "
                f"{', '.join(map(brief, left[:_SHOWN]))}: the other documents stay unjudged. "
                "Judge more, or choose their treatment by one_class=.",
                UnjudgedWarning,
            )
        unknown = self.pool_model_ if self.shared or self.unjudged_query == "pool" else None
        return predict_queries(
            [self.models_.get(query, unknown) for query in queries],
            self.calibration_,
            vectors,
            index,
            unjudged,
            soft=self.output == "soft",
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    def _seeds(self, index, vectors, labels):
        """Return a seed for each query and for the model of all; None if random_state is None."""
        n_seeds = index.n_queries + 1
        if self.random_state is None:
            return [None] * n_seeds
        most = np.iinfo(np.int32).max
        drawn = check_random_state(self.random_state).randint(most)
        keys = keys_of_queries(index, vectors.hashes(), labels)
        return (np.append(keys, np.uint64(0)) + np.uint64(drawn)) % np.uint64(most)


def _one_class(predictor, vectors):
    """Return the value of `one_class`, with "auto" resolved."""
    if predictor.one_class != "auto":
        return predictor.one_class
    return "leave" if vectors.of_texts and not predictor.shared else "pool"


def concordance(labels, predicted) -> float:
    """Compute Cohen's kappa with quadratic weights; labels may be any numbers."""
    apart = np.mean((labels - predicted) ** 2)
    by_chance = labels.var() + predicted.var() + (labels.mean() - predicted.mean()) ** 2
    rounding = mean_tolerance(np.append(labels, predicted)) ** 2
    return float(1.0 - apart / by_chance) if by_chance > rounding else 1.0


def check_parameters(predictor):
    """Check all parameters of a predictor, and return its classifier."""
    check_choice(predictor.output, "output", ("hard", "soft"))
    check_choice(predictor.calibration, "calibration", ("auto", "pooled", None))
    check_flag(predictor.shared, "shared")
    check_choice(predictor.one_class, "one_class", ("auto", "pool", "copy", "leave"))
    check_choice(predictor.unjudged_query, "unjudged_query", ("leave", "pool", "raise"))
    check_selector(predictor.selector)
    if predictor.n_per_query is not None:
        check_number_of_documents(predictor.n_per_query, "n_per_query")
    if predictor.share is not None:
        check_share(predictor.share)
    estimator = predictor.estimator
    if estimator is None:
        return LinearSVC(class_weight="balanced", random_state=0)
    is_instance = hasattr(estimator, "fit") and not isinstance(estimator, type)
    if not is_instance or not is_classifier(estimator):
        raise InputError(
            "estimator must be a classifier, not fitted, such as LogisticRegression(), got "
            f"{brief(estimator)}."
        )
    if isinstance(estimator, Pipeline):
        tags = get_tags(estimator[0]).input_tags
        if tags.string and not tags.two_d_array:
            raise InputError(
                "estimator gets vectors of numbers, but this Pipeline starts from texts: pass "
                "its first step as vectorizer=, and its last one as estimator=."
            )
    if not hasattr(estimator, "predict_proba") and not hasattr(estimator, "decision_function"):
        raise InputError(
            f"estimator must have predict_proba or decision_function, got {brief(estimator)}: wrap "
            "it in CalibratedClassifierCV."
        )
    return estimator


UNCERTAINTY = "uncertainty"


def check_selector(selector):
    """Check the strategy of a predictor, and return it: a selector or "uncertainty"."""
    if selector is None:
        return MaxRepSelector()
    if isinstance(selector, StatAPSelector):
        raise InputError(
            f"selector must be a strategy with one order of the documents, got {brief(selector)}: "
            "it draws a new sample for each budget, and the first documents of its ranking_ have "
            "other inclusion probabilities. Call its select on all documents instead."
        )
    if not isinstance(selector, QuerySelector) and not (
        isinstance(selector, str) and selector == UNCERTAINTY
    ):
        raise InputError(
            f"selector must be a strategy such as MaxRepSelector(), {UNCERTAINTY!r} or None "
            f"(MaxRepSelector()), got {brief(selector)}."
        )
    return selector


def selection_order(selector, documents, index: GroupIndex, prior, judged) -> np.ndarray:
    """Return the place of each row in its query's order of judging."""
    # For most strategies, judged documents do not change the order of the others.
    known = {"judged": judged} if has_fit_parameter(selector, "judged") else {}
    groups = index.query_ids[index.codes()]
    return clone(selector).fit(documents, groups=groups, prior=prior, **known).ranking_


def first_rows(order, index: GroupIndex, wanted, budgets) -> np.ndarray:
    """Return the first wanted rows of each query up to its budget; ties keep the row order."""
    chosen = np.zeros(len(order), dtype=bool)
    for rows, budget in zip(index.rows_by_query(), budgets):
        rows = rows[wanted[rows]]
        chosen[rows[np.argsort(order[rows], kind="stable")[:budget]]] = True
    return chosen


def check_labels(labels) -> np.ndarray:
    """Return labels as float64, NaN where unjudged; raise if -1 seems to mean missing."""
    column = as_column(labels, "y", "label")
    values = as_numbers(column, "y")
    if values is None:
        shown = next(
            (x for x in column if not isinstance(x, Real) and not pd.isna(x)), column.dtype
        )
        raise InputError(
            f"y must hold numbers, NaN where unjudged, got {brief(shown)}: map labels to numbers "
            "first, such as {'Bad': -1, 'Good': 1}; they say which is better."
        )
    is_whole = values.dtype.kind in "iu"
    values = values.astype(np.float64, copy=False)
    if np.isinf(values).any():
        raise InputError(
            f"y holds an infinite label in row {int(np.isinf(values).argmax())}: expected finite "
            "numbers, or NaN where unjudged."
        )
    n_missing = int(np.count_nonzero(values == -1))
    if is_whole and n_missing:
        raise InputError(
            f"y holds integers, {n_missing} of them -1, and no NaN: unjudged rows are marked by "
            "NaN, as negative labels mean forbidden. Where -1 means unjudged, turn it into NaN (in "
            "pandas .replace(-1, np.nan)); where it means forbidden, convert y to floats "
            "(.astype(float))."
        )
    return values


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


def _texts(X) -> np.ndarray | None:
    """Return texts as str, empty where missing; None if X holds no texts."""
    if not is_texts(X):
        return None
    column = pd.Series(list(X), dtype=object)
    texts = column.where(column.notna(), "").to_numpy()
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(f"X must hold texts, got {brief(text)} at row {row}.")
    return texts


def _matrix(X):
    """Return vectors of numbers as a csr matrix or an array."""
    if sparse.issparse(X):
        return X.tocsr()
    try:
        matrix = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"labels cannot be predicted from X ({error}): expected texts or vectors of numbers; "
            "for other columns, pass a ColumnTransformer as vectorizer=."
        ) from error
    if matrix.ndim != 2:
        raise InputError(f"X must hold texts or vectors of numbers, got shape {matrix.shape}.")
    return matrix

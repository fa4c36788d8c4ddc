"""LabelPredictor, an imputer of missing labels, and the labels a strategy would ask for."""

from typing import Any, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVC
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from skfilterrank._estimators.ranker_mixin import all_or_nothing
from skfilterrank._lists.checks import check_choice, check_flag, check_random_state
from skfilterrank._lists.lazy_names import suggests
from skfilterrank._lists.queries import GroupIndex, check_groups
from skfilterrank._lists.results import counted
from skfilterrank._lists.ties import mean_tolerance
from skfilterrank._lists.words import warn_user
from skfilterrank.exceptions import (
    DataWarning,
    FitWarning,
    InputError,
    InputTypeError,
    UnjudgedWarning,
    brief,
)
from skfilterrank.judgments._label_table import (
    DocumentVectors,
    TableImputer,
    is_table,
    warn_of_minus_one,
)
from skfilterrank.judgments._level_model import (
    NO_LABEL,
    fit_level_model,
    fit_queries,
    predict_queries,
    stand_ins,
)
from skfilterrank.judgments._maxrep import MaxRepSelector
from skfilterrank.judgments._ranked_selectors import StatAPSelector
from skfilterrank.judgments._selector import BUDGET, QuerySelector, named_budgets, query_budgets

_SHOWN = 5


class LabelPredictor(TableImputer):
    r"""Imputer of labels, for a table of judgments or for `y` with NaN where unjudged.

    Each query gets a classifier of its own, which learns from the query's judged documents and
    labels the others. All queries share the document vectors. Labels that are there stay as they
    are.

    X is a judgment table, a DataFrame with columns of queries, texts and labels, or documents whose
    labels are in `y` and whose queries are in `groups` or an index level "qid". Then it may hold
    texts, or the vectors that an earlier step of a Pipeline makes of them.

    Parameters
    ----------
    estimator : classifier or None, default=None
        Cloned for each query, and for each step between its labels. It needs `predict`, and
        `predict_proba` or `decision_function`; it sees vectors and 0 or 1. None means
        ``LinearSVC(class_weight="balanced", random_state=0)``.
    text : str or None, default="text"
        Column with the documents' text; a missing text counts as empty. None learns from
        `features` alone.
    features : list of str or None, default=None
        Columns of numbers to learn from, behind the text's vectors or instead of them. They are
        brought to mean 0 and variance 1 over the rows of the table `fit` sees.
    query : str, default="qid"
        Column, or index level, with the query of each row.
    document : str or None, default="docno"
        Column, or index level, with the document's id: a document that is twice in a query is an
        error. Only "docno" may be missing, and then, as with None, nothing is checked.
    label : str, default="label"
        Column with the labels: numbers, higher is better, below 0 forbidden, NaN (or null) where
        nobody judged. -1 never means unjudged. Labels that a column "judged_by" says are a
        machine's count as NaN, with a warning.
    imputed : str or None, default="imputed"
        Name of the bool column that :meth:`transform` adds, True where the label is predicted.
        None adds none. The column "judged_by" says it too, which judgments keep in files.
    vectorizer : transformer or None, default=None
        Turns texts into vectors, such as HashingVectorizer; cloned. None means
        ``TfidfVectorizer(max_features=n_terms)``, fitted on the distinct texts of all rows.
    n_terms : int, default=1_000_000
        The most frequent terms of the table that count.
    output : {"hard", "soft"}, default="hard"
        "hard" predicts one of the query's labels. "soft" predicts the expected label, the mean of
        the query's labels by their chances: with two labels ``(1 - p) * low + p * high``.
    calibration : {"auto", "pooled", None}, default="auto"
        How margins become chances. "pooled": Platt's sigmoid, one for all queries, fitted on the
        margins of judged rows that a classifier of their query was not shown (cross-validation
        within queries, up to 5 folds). None: the logistic function of the decision function, or
        the classifier's own probabilities. "auto": "pooled" for ``output="soft"`` and a
        classifier without `predict_proba`, else None. Where there are too few judged rows for
        "pooled", chances are as with None, and `fit` warns.
    shared : bool, default=False
        Whether one model of all queries' judged documents answers for every query, in place of a
        model for each: for columns of numbers that mean the same in every query, such as features
        of query and document or ranks in runs; terms of texts do not.
    one_class : {"auto", "pool", "copy", "leave"}, default="auto"
        Queries whose judged documents all have one label: ask a model of all queries' judged
        documents ("pool"), give it to the others too, as in [1]_ ("copy"), or leave the rows NaN
        ("leave"). "auto": "pool" where there are columns of numbers, and for ``shared=True``; with
        texts alone "leave", with a warning, because what the model of all queries learns of terms
        says little of one.
    unjudged_query : {"leave", "pool", "raise"}, default="leave"
        Queries without a judged document, and queries that `fit` has not seen: leave the rows NaN,
        with a warning, ask the model of all queries, or raise a ValueError.
    selector : QuerySelector, "uncertainty" or None, default=None
        The strategy :meth:`select` follows, one that looks at texts (or at the scaled feature
        columns, where `text` is None). None means ``MaxRepSelector()``, which starts from what is
        judged; "uncertainty" takes what the classifiers are least sure of.
    n_per_query : int, float or None, default=None
        To try strategies and budgets on labels that are there: so many labels of each query, or
        this share of them, are learned from, those that the selector asks for first among the
        judged documents. `fit` takes the others for unjudged. None learns from all.
    n_jobs : int or None, default=None
        Queries fitted at a time; results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seeds each query's classifier. None leaves them the `random_state` of `estimator`.
    verbose : int, default=0
        Above 0 shows the progress over queries.

    Attributes
    ----------
    imputed_ : ndarray of shape (n_rows,), dtype bool
        Rows of the table `fit` saw that have a predicted label; with `n_per_query` also those whose
        own label was not learned from.
    confidence_ : ndarray of shape (n_rows,), dtype float64
        Chance of the predicted label ("soft": of the likeliest one) among the query's labels; NaN
        where nothing is predicted or a label is copied. Without calibration it sorts rows by how
        sure the classifier is, but is no frequency.
    n_imputed_, n_left_ : int
        Number of rows that got a label, and that stay unjudged.
    empty_texts_ : ndarray of shape (n_empty_texts_,), dtype int64
        Numbers of the rows, judged or not, whose text is empty or holds no known term, ascending;
        a linear classifier labels them by its intercept. `fit` warns of them.
    n_empty_texts_ : int
        How many these are.
    fallback_queries_ : dict
        Queries that have no model of their own, and why.
    models_ : dict
        The model that answers for each query, None where rows are left. Its `levels` are the
        query's labels, ascending, its `classifiers` one for each but the highest.
    pool_model_ : LevelModel or None
        The model of all queries, where one is needed.
    calibration_ : Calibration or None
        `slope` and `intercept` of the sigmoid, where there is one.
    queries_ : ndarray of shape (n_queries,)
        The queries, sorted.
    labels_ : ndarray of shape (n_labels,), dtype float64
        The distinct labels, ascending.
    vectorizer_ : transformer or None
        The fitted vectorizer.
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : ndarray of str
        Their names.

    See Also
    --------
    CompletedLabels : Completes the labels of each training fold.
    make_completed_scorer : Completes the labels of each held-out fold.

    Notes
    -----
    By default the "predict-map" of [1]_, after [2]_: a linear support vector machine on the tf-idf
    weights of the :math:`10^6` most frequent terms, classes weighted by the inverse of their
    frequency. Here a term's idf counts distinct texts, judged or not; scikit-learn's smoothed idf
    and unit length.

    A query with more than two labels :math:`l_1 < \dots < l_m`, forbidden ones included, gets a
    classifier for each of :math:`P(l > l_1), \dots, P(l > l_{m-1})` [3]_. The hard label is the
    highest one that is reached without a "no" on the way. For chances, :math:`P(l > l_i)` is
    lowered to :math:`P(l > l_{i-1})` where it exceeds that, and
    :math:`P(l = l_i) = P(l > l_{i-1}) - P(l > l_i)`.

    Balanced classes move the margins' zero to where both classes are equally likely in the sample
    of equal parts, so that the logistic function of a margin is far above the chance of a rare
    label. The pooled sigmoid repairs a part of this where the judged rows were drawn at random: on
    Cranfield, 30 % judged, it expects 10.8 % of the unjudged documents to be relevant where 4.3 %
    are, and the logistic function 33.4 %; where the likeliest 10 % are judged, 18.7 % where 2.4 %
    are (``benchmarks/labels_needed.py``). It is fitted on models of single queries, and too high
    for a model of all queries that answers for a query whose judged documents have one label. Its
    cost is up to five more fits per query and label.

    .. warning::
       Soft labels are far too high where the judged rows were selected as likely to be relevant:
       the calibration only sees judged rows, and these are not like the rest: the mean chance may
       be several times the share of the unjudged documents that is relevant. Chances hold for
       judged rows drawn at random.

    A query only ever gets labels that somebody gave to one of its documents, except from the
    model of all queries. Other queries' labels enter by that model and by the two numbers of the
    pooled calibration, and by nothing else.

    References
    ----------
    .. [1] K. Hui, K. Berberich. "Selective Labeling and Incomplete Label Mitigation for Low-Cost
       Evaluation". SPIRE 2015.
    .. [2] S. Büttcher, C. L. A. Clarke, P. C. K. Yeung, I. Soboroff. "Reliable Information
       Retrieval Evaluation with Incomplete and Biased Judgements". SIGIR 2007.
    .. [3] E. Frank, M. Hall. "A Simple Approach to Ordinal Classification". ECML 2001.

    Examples
    --------
    >>> import pandas as pd
    >>> from skfilterrank.judgments import LabelPredictor
    >>> X = pd.DataFrame({
    ...     "qid": ["wings"] * 5 + ["heat"] * 3,
    ...     "text": ["lift of a wing", "wing in a slipstream", "heat in slabs", "a swept wing",
    ...              "heat flow", "heat in slabs", "heat flow", "lift of a wing"],
    ...     "label": [1, 1, 0, None, None, 1, None, 0],
    ... })
    >>> LabelPredictor().fit_transform(X)
         qid                  text  label  imputed  judged_by
    0  wings        lift of a wing    1.0    False     people
    1  wings  wing in a slipstream    1.0    False     people
    2  wings         heat in slabs    0.0    False     people
    3  wings          a swept wing    1.0     True  predicted
    4  wings             heat flow    0.0     True  predicted
    5   heat         heat in slabs    1.0    False     people
    6   heat             heat flow    1.0     True  predicted
    7   heat        lift of a wing    0.0    False     people

    In a Pipeline, behind any transformer, labels are `y`, and its index holds the queries:

    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> y = X.set_index("qid")["label"]
    >>> make_pipeline(TfidfVectorizer(), LabelPredictor()).fit_transform(X["text"], y).tolist()
    [1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0]
    """

    imputed_: Any
    confidence_: Any
    n_imputed_: int
    n_left_: int
    empty_texts_: Any
    n_empty_texts_: int
    fallback_queries_: Any
    models_: Any
    pool_model_: Any
    calibration_: Any
    queries_: Any
    labels_: Any
    n_features_in_: int
    feature_names_in_: np.ndarray

    # scikit-learn's metadata routing brings the queries without being asked to.
    __metadata_request__fit = {"groups": True}  # noqa: RUF012
    __metadata_request__predict = {"groups": True}  # noqa: RUF012
    __metadata_request__transform = {"groups": True}  # noqa: RUF012
    __metadata_request__score = {"groups": True}  # noqa: RUF012

    def __init__(
        self,
        estimator: Any = None,
        *,
        text: str | None = "text",
        features: list[str] | None = None,
        query: str = "qid",
        document: str | None = "docno",
        label: str = "label",
        imputed: str | None = "imputed",
        vectorizer: Any = None,
        n_terms: int = 10**6,
        output: Literal["hard", "soft"] = "hard",
        calibration: Literal["auto", "pooled", None] = "auto",
        shared: bool = False,
        one_class: Literal["auto", "pool", "copy", "leave"] = "auto",
        unjudged_query: Literal["leave", "pool", "raise"] = "leave",
        selector: Any = None,
        n_per_query: int | float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.text = text
        self.features = features
        self.query = query
        self.document = document
        self.label = label
        self.imputed = imputed
        self.vectorizer = vectorizer
        self.n_terms = n_terms
        self.output = output
        self.calibration = calibration
        self.shared = shared
        self.one_class = one_class
        self.unjudged_query = unjudged_query
        self.selector = selector
        self.n_per_query = n_per_query
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @all_or_nothing
    def fit(self, X, y=None, groups=None) -> Self:
        """Fit a model of each query's labels.

        Parameters
        ----------
        X : DataFrame, list of str, array-like or sparse matrix of n_rows rows
            The judgment table, a DataFrame with the label column. With labels in `y`: a DataFrame
            without it, texts, or a matrix of numbers such as a TfidfVectorizer makes, taken as it
            comes. Rows in any order.
        y : array-like of shape (n_rows,), default=None
            Labels, NaN where unjudged; a Series may carry queries in an index level "qid". Not used
            where X has the label column, so that it may say how to split the rows.
        groups : array-like of shape (n_rows,), default=None
            Query of each row. None takes the query column of a judgment table; with `y`, the index
            level "qid" of y or X, or else the query column of X.

        Returns
        -------
        self : LabelPredictor
            The fitted predictor.

        Raises
        ------
        TypeError
            If X is no table.
        ValueError
            If a column is missing or holds what it must not, such as -1 among integers without a
            NaN; if no row is judged, a document is twice in a query, no text holds a term, or a
            parameter is out of range.

        Warns
        -----
        DataWarning, FitWarning
            If no label is NaN and some are -1, which never means unjudged; if a text is empty or
            holds no known term; if chances should be calibrated and cannot be.
        UnjudgedWarning
            If queries are left unjudged: those without a judged document, and by default those of
            one label.
        """
        self._fit_table(X, y, groups)
        return self

    @all_or_nothing
    def fit_transform(self, X, y=None, groups=None, **fit_params) -> Any:
        """Fit, and complete the labels that were given.

        Parameters
        ----------
        X, y, groups
            As :meth:`fit` takes them.
        **fit_params
            None are taken; there by scikit-learn's convention.

        Returns
        -------
        DataFrame, or ndarray or Series of shape (n_rows,)
            A judgment table as :meth:`transform` returns it. With `y`, its labels, those that were
            missing predicted, NaN where none could be; a Series where y is one.
        """
        if fit_params:
            raise InputTypeError(
                f"fit takes no parameters but X, y and groups, got {', '.join(fit_params)}."
            )
        return self._completed(*self._fit_table(X, y, groups))

    def predict(self, X, groups=None) -> np.ndarray:
        """Predict the label of every row, judged or not.

        Parameters
        ----------
        X : DataFrame, list of str, array-like or sparse matrix of n_rows rows
            Documents of the kind that `fit` saw, of queries that it saw.
        groups : array-like of shape (n_rows,), default=None
            Query of each row, as in :meth:`fit`.

        Returns
        -------
        ndarray of shape (n_rows,), dtype float64
            Predicted labels, NaN where no model answers for the query.
        """
        check_is_fitted(self)
        index = self._read(X, groups=groups).index
        every = np.ones(index.n_rows, dtype=bool)
        return self._predict(self._document_vectors.transform(X), index, every)[0]

    def transform(self, X, groups=None) -> Any:
        """Complete the labels of a table.

        Parameters
        ----------
        X : DataFrame, list of str, array-like or sparse matrix of n_rows rows
            The table `fit` saw, or other documents of its kind. The label column may be missing,
            and then no row is judged. Labels in it stay as they are, but nothing is learned from
            them.
        groups : array-like of shape (n_rows,), default=None
            Query of each row, as in :meth:`fit`.

        Returns
        -------
        DataFrame, or ndarray of shape (n_rows,)
            The table with the label column as floats, the column that marks imputed rows, and
            "judged_by": "people" or "predicted", missing where the label is. Of the kind that came,
            unless `set_output` says otherwise. Where `fit` took labels as y, what :meth:`predict`
            returns, as X holds no labels.

        Raises
        ------
        ValueError
            As :meth:`fit`; if the column to add is there already; with ``unjudged_query="raise"``,
            if a query is unknown.
        """
        check_is_fitted(self)
        table = self._read(X, groups=groups)
        vectors = self._document_vectors.transform(X)
        labels, _ = self._predict(vectors, table.index, np.isnan(table.labels))
        return self._completed(table, labels)

    @suggests(n=BUDGET, budget=BUDGET)
    def select(
        self, X, y=None, *, groups=None, n_per_query=None, n_total=None, share=None, prior=None
    ) -> np.ndarray:
        """Choose the rows to judge next.

        Parameters
        ----------
        X : DataFrame, list of str, array-like or sparse matrix of n_rows rows
            Documents as `fit` takes them, judged and unjudged.
        y, groups : array-like of shape (n_rows,), default=None
            Labels and queries, as in :meth:`fit`.
        n_per_query, n_total, share : int, int and float, default=None
            The budget, as in :meth:`MaxRepSelector.select`; all unjudged documents of a query where
            there are fewer, or without a budget.
        prior : array-like of shape (n_rows,), default=None
            How likely each document is to be relevant; handed to the selector.

        Returns
        -------
        rows : ndarray of shape (n_selected,), dtype int64
            Numbers of unjudged rows of `X` that should be judged, ascending: the first unjudged
            documents in the order that the selector gives to the query's documents, given what is
            judged where it takes that into account, as :class:`MaxRepSelector` does. With
            "uncertainty", those whose likeliest label is the least likely; rows that no model of
            the query tells apart come in the order of the table.

        Raises
        ------
        ValueError
            As :meth:`fit`, for a selector that has no one order of the documents, and with
            "uncertainty" for a prior.
        NotFittedError
            With "uncertainty", before `fit`; a strategy needs no model, so that the first round can
            be asked for when nothing is judged.
        """
        selector = check_selector(self.selector)
        is_own = isinstance(selector, str)
        if is_own:
            check_is_fitted(self)
        table = self._read(X, y, groups)
        budgets = named_budgets(table.index, n_per_query, n_total, share, warn=False)
        budgets = table.index.sizes if budgets is None else budgets
        unjudged = np.isnan(table.labels)
        if is_own and prior is not None:
            raise InputError(f"prior needs a strategy: {selector!r} makes no use of it.")
        if is_own:
            order = self._certainty(X, table.index, unjudged)
        else:
            documents = DocumentVectors(self, of_table=self._takes_table(X, y)).selectable(X)
            order = selection_order(selector, documents, table.index, prior, ~unjudged)
        return np.flatnonzero(first_rows(order, table.index, unjudged, budgets))

    def score(self, X, y=None, groups=None) -> float:
        """Measure how well labels are predicted, as if nobody had made them.

        Parameters
        ----------
        X : DataFrame, list of str, array-like or sparse matrix of n_rows rows
            Documents that `fit` has not seen, of queries that it has; those with a label count.
        y : array-like of shape (n_rows,), default=None
            Labels, where `fit` took them so. Not used with judgment tables, so that it may say how
            to split the rows (see Notes).
        groups : array-like of shape (n_rows,), default=None
            Query of each row, as in :meth:`fit`.

        Returns
        -------
        float
            Agreement of the labels of X with what is predicted for their rows, over all queries
            together: Cohen's kappa with quadratic weights, for ``output="soft"`` with expected
            labels in place of labels (Lin's concordance coefficient). 1 is perfect, 0 chance. A row
            that stays without a label counts as predicted 0, as in measures. 1.0 where all labels
            and all predictions are the same one.

        Raises
        ------
        ValueError
            If no row of X is judged; as :meth:`transform`.

        Notes
        -----
        With this, GridSearchCV tunes the predictor itself, `n_per_query` and the selector included.
        Its models are those of single queries, so the rows of every query have to be in all folds:
        ``GridSearchCV(predictor, grid, cv=StratifiedKFold(5, shuffle=True,
        random_state=0)).fit(table, table["qid"])``. Folds of whole queries would leave nothing to
        predict from. It tells how well labels *like the judged ones* are predicted; where these
        were selected as likely to be relevant, the others are predicted worse.

        Examples
        --------
        >>> import pandas as pd
        >>> from sklearn.model_selection import GridSearchCV, StratifiedKFold
        >>> from skfilterrank.judgments import LabelPredictor
        >>> texts = ["a cat purrs", "the cat sleeps", "cat and mouse", "my cat", "cat food"]
        >>> texts += ["a dog barks", "the dog runs", "dog and bone", "my dog", "dog food"]
        >>> table = pd.DataFrame({"qid": "1", "text": texts, "label": 5 * [1.0] + 5 * [0.0]})
        >>> folds = StratifiedKFold(5, shuffle=True, random_state=0)
        >>> predictor = LabelPredictor(one_class="copy")
        >>> search = GridSearchCV(predictor, {"n_per_query": [2, None]}, cv=folds)
        >>> search.fit(table, table["qid"]).best_params_
        {'n_per_query': None}
        """
        check_is_fitted(self)
        table = self._read(X, y, groups, needs_label=True)
        known = ~np.isnan(table.labels)
        if not known.any():
            raise InputError(
                f"{self._place_of_labels()} has no label in any of {len(known)} rows: the score "
                "compares labels with what is predicted for them."
            )
        predicted, _ = self._predict(self._document_vectors.transform(X), table.index, known)
        return concordance(table.labels[known], np.nan_to_num(predicted[known], nan=0.0))

    @property
    def vectorizer_(self) -> object:
        """The fitted vectorizer."""
        return self._document_vectors.vectorizer

    def _fit_table(self, X, y=None, groups=None):
        """Fit; return the table as it was read, and the labels for its unjudged rows."""
        check_parameters(self)
        vars(self).pop("_of_table", None)
        self._of_table = self._takes_table(X, y)
        table = self._read(X, y, groups, needs_label=True)
        warn_of_minus_one(table.labels, self._place_of_labels())
        vars(self).pop("feature_names_in_", None)
        if is_table(X):
            self.feature_names_in_ = np.array([str(name) for name in X.columns], dtype=object)
        if np.ndim(X) > 1 or sparse.issparse(X):
            self.n_features_in_ = X.shape[1] if hasattr(X, "shape") else len(X[0])
        self._document_vectors = DocumentVectors(self, of_table=self._of_table)
        return table, self.fit_documents(self._document_vectors, X, table.index, table.labels)

    def fit_documents(self, documents, X, index, labels):
        """Fit on documents, and on the labels that `n_per_query` leaves; return the others."""
        vectors = documents.fit_transform(X)
        if self.n_per_query is not None:
            selectable = documents.selectable(X)
            labels = asked_labels(self.selector, selectable, index, labels, self.n_per_query)
        return self.fit_vectors(vectors, index, labels)

    def _place_of_labels(self):
        return f"column {brief(self.label)} of X" if self._of_table else "y"

    def _certainty(self, X, index, unjudged):
        """Chance of the likeliest label of each row, -1 where no model tells rows apart."""
        vectors = self._document_vectors.transform(X)
        models = [self.models_.get(query) for query in index.query_ids.tolist()]
        _, confidence = predict_queries(
            models, self.calibration_, vectors, index, unjudged, soft=True
        )
        return np.where(np.isnan(confidence), -1.0, confidence)

    def fit_vectors(self, vectors, index, labels) -> np.ndarray:
        """Fit on document vectors, whatever they were made of.

        Parameters
        ----------
        vectors : Vectors
            One for each row.
        index : GroupIndex
            Rows of each query.
        labels : ndarray of shape (n_rows,), dtype float64
            NaN where unjudged.

        Returns
        -------
        ndarray of shape (n_rows,), dtype float64
            Labels of the unjudged rows, NaN for the others and where none is predicted.
        """
        estimator = check_parameters(self)
        unjudged = np.isnan(labels)
        if unjudged.all():
            raise InputError(
                "no row is judged: expected labels that are not NaN, in column "
                f"{brief(self.label)} of X (or in y)."
            )
        seeds = self._seeds(index.n_queries + 1)
        wants_chances = self.output == "soft" and not hasattr(estimator, "predict_proba")
        calibrate = self.calibration == "pooled" or (self.calibration == "auto" and wants_chances)
        whole = np.zeros(len(labels), dtype=np.int64)
        models, self.calibration_ = fit_queries(
            estimator,
            vectors,
            # All rows as one query, whose model is that of each.
            check_groups(whole, n_rows=len(whole)) if self.shared else index,
            labels,
            seeds[-1:] if self.shared else seeds,
            calibrate=calibrate,
            owner=self,
        )
        if calibrate and self.calibration_ is None:
            warn_user(
                "the chances are not calibrated: the pooled sigmoid needs 5 held-out rows on "
                "either side of a label, and the judged rows give fewer, so that margins go "
                "through the logistic function as they are. Judge more, or say calibration=None.",
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
        self.n_empty_texts_ = len(self.empty_texts_)
        if self.n_empty_texts_:
            n_judged = int(np.count_nonzero(vectors.is_empty & ~unjudged))
            warn_user(
                f"the text holds no known term in {self.n_empty_texts_} of {len(unjudged)} rows "
                f"({n_judged} of them judged), such as "
                f"{', '.join(map(str, self.empty_texts_[:_SHOWN]))} (all in empty_texts_): nothing "
                "in it tells these rows apart. Fill in the texts, or leave the rows out.",
                DataWarning,
            )
        return labels

    def _predict(self, vectors, index, unjudged):
        """Labels and confidence of the unjudged rows; NaN, with a warning, where rows are left."""
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
                    f"{text}: judge some, leave these queries out, or say by unjudged_query= what "
                    "to do with them."
                )
            warn_user(f"{text}: they stay unjudged.", UnjudgedWarning)
        left = [query for query in asked if query not in lone and self.models_[query] is None]
        if left and self.one_class == "auto":
            # Also where there are more labels, which n_per_query hides.
            warn_user(
                "all labels to learn from are the same one in "
                f"{counted(len(left), 'query', 'queries')}, such as "
                f"{', '.join(map(brief, left[:_SHOWN]))}: the other documents stay unjudged. "
                "Judge more, or say by one_class= what to do with them.",
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

    def _seeds(self, n_seeds):
        """Return a seed for each query and for the model of all; None where random_state is."""
        if self.random_state is None:
            return [None] * n_seeds
        return check_random_state(self.random_state).randint(np.iinfo(np.int32).max, size=n_seeds)


def _one_class(predictor, vectors):
    """Return the treatment of queries whose judged documents have one label."""
    if predictor.one_class != "auto":
        return predictor.one_class
    return "leave" if vectors.of_texts and not predictor.shared else "pool"


def concordance(labels, predicted) -> float:
    """Cohen's kappa with quadratic weights, of numbers of any kind."""
    apart = np.mean((labels - predicted) ** 2)
    by_chance = labels.var() + predicted.var() + (labels.mean() - predicted.mean()) ** 2
    rounding = mean_tolerance(np.append(labels, predicted)) ** 2
    return float(1.0 - apart / by_chance) if by_chance > rounding else 1.0


def check_parameters(predictor):
    """The classifier of a predictor, after checking it and all other parameters."""
    check_choice(predictor.output, "output", ("hard", "soft"))
    check_choice(predictor.calibration, "calibration", ("auto", "pooled", None))
    check_flag(predictor.shared, "shared")
    check_choice(predictor.one_class, "one_class", ("auto", "pool", "copy", "leave"))
    check_choice(predictor.unjudged_query, "unjudged_query", ("leave", "pool", "raise"))
    check_selector(predictor.selector)
    features = predictor.features
    if features is not None and (isinstance(features, str) or len(features) == 0):
        raise InputError(f"features must be None or a list of column names, got {brief(features)}.")
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
                "estimator is given vectors of numbers, but this Pipeline starts from texts: pass "
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
    """The strategy of a predictor: one that ranks documents, or the name of its own."""
    if selector is None:
        return MaxRepSelector()
    if isinstance(selector, StatAPSelector):
        raise InputError(
            f"selector must be a strategy with one order of the documents, got {brief(selector)}: "
            "its sample is drawn anew for each budget, and the start of its ranking_ has other "
            "inclusion probabilities. Call its select on all documents instead."
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
    """Place of each row in its query's order of judging, by a strategy that ranks documents."""
    # Most strategies order documents one by one: what is judged changes nothing for the others.
    known = {"judged": judged} if has_fit_parameter(selector, "judged") else {}
    groups = index.query_ids[index.codes()]
    return clone(selector).fit(documents, groups=groups, prior=prior, **known).ranking_


def first_rows(order, index: GroupIndex, wanted, budgets) -> np.ndarray:
    """The first wanted rows of each query, as many as its budget; ties in the order of rows."""
    chosen = np.zeros(len(order), dtype=bool)
    for rows, budget in zip(index.rows_by_query(), budgets):
        rows = rows[wanted[rows]]
        chosen[rows[np.argsort(order[rows], kind="stable")[:budget]]] = True
    return chosen


def asked_labels(selector, documents, index: GroupIndex, labels, n_per_query) -> np.ndarray:
    """Return labels that the strategy would have asked for, NaN for the others.

    The judged documents are the pool that it would have chosen from.
    """
    selector = check_selector(selector)
    if isinstance(selector, str):
        raise InputError(
            f"n_per_query={brief(n_per_query)} needs a selector that starts from nothing, and "
            f"{selector!r} asks a model of labels that are there: expected a strategy such as "
            "MaxRepSelector() or RandomSelector()."
        )
    judged = np.flatnonzero(~np.isnan(labels))
    if not len(judged):
        return labels
    pool = GroupIndex.from_groups(index.query_ids[index.codes()[judged]])
    budgets = query_budgets(n_per_query, pool, warn=False)
    if not hasattr(documents, "shape"):
        documents = np.array(documents, dtype=object)
    order = selection_order(
        selector, documents[judged], pool, None, np.zeros(len(judged), dtype=bool)
    )
    asked = judged[first_rows(order, pool, np.ones(len(judged), dtype=bool), budgets)]
    found = np.full(len(labels), np.nan)
    found[asked] = labels[asked]
    return found

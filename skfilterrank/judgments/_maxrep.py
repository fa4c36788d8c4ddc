"""MAXREP: judge first the documents that represent best what is probably relevant."""

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.utils.validation import check_array

from skfilterrank._estimators.ranker_mixin import all_or_nothing
from skfilterrank._lists.checks import check_choice, count_rows
from skfilterrank.exceptions import InputError, brief
from skfilterrank.judgments._facility_location import facility_location
from skfilterrank.judgments._selector import (
    TopicSelector,
    check_same_rows,
    is_texts,
)
from skfilterrank.judgments._similarity import (
    DECIMALS,
    check_threshold,
    reaching,
    similarity_join,
)
from skfilterrank.judgments._term_weights import check_max_terms, term_weights


class MaxRepSelector(TopicSelector):
    """Judge the documents first that represent best what is probably relevant in the pool.

    Of several documents of nearly the same content one is enough to judge, so each next document is
    the one that adds most to how well the chosen ones stand for the pool. Made to train a
    :class:`LabelPredictor`; where few documents are similar, it is close to the order of the prior.

    Parameters
    ----------
    threshold : float in (0, 1], default=0.8
        Similarities below it count as 0. One that equals it, but for rounding, is kept.
    metric : {"cosine", "precomputed"}, default="cosine"
        "cosine": the cosine of tf-idf vectors of texts, or of the vectors given. "precomputed": X
        holds the similarities themselves.
    max_terms : int, default=1_000_000
        Of texts, only so many terms are used, the most frequent ones of all.
    n_jobs : int, default=None
        Number of topics that are ranked at once. The ranking is the same for any.
    verbose : int, default=0
        Above 0 shows the progress over topics.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_rows,), dtype int64
        Place of each document in the order of judging, from 1, within its topic.
    gains_ : ndarray of shape (n_rows,), dtype float64
        What each document adds to the objective at its place, in units of the prior; 0 for what is
        judged. The sum over the documents selected in a topic is what the selection adds to the
        objective, from nothing the objective itself.
    n_features_in_ : int
        Number of features, where X has features.
    feature_names_in_ : ndarray of str
        Names of the features, where X has names that are all strings.

    See Also
    --------
    PriorSelector : The prior alone, the baseline.
    statap_prior : A prior from ranks in runs.
    similarity_join : All pairs of similar documents.

    Notes
    -----
    In each topic, the set L of chosen documents is to represent the pool well (eq. 1 of [1]_):

        f(L) = sum_i prior_i * max_{j in L} similarity(i, j),    f(empty) = 0,

    and the next document is always the one that raises f most. The first m documents have at least
    1 - 1/e of the best value that m documents can have, for every m. A document represents itself
    with similarity 1. Where gains agree to 12 digits the first row is chosen; documents that add
    nothing come last, in the order of rows.

    A later round starts from what is judged, L = `judged` in place of the empty set: what a judged
    document stands for is not counted again, so that its copies add nothing. Two rounds, the second
    one given the first, choose what one round does. Judged documents come behind all others.

    Texts become vectors of tf * log(n / df): how often a term is in the text, times the logarithm
    of the number of documents over the number of those that have the term. (scikit-learn's idf adds
    1 to the logarithm, so terms that all documents share still count there.) n and df count the
    documents of all topics in X, each once: rows that agree in their text, and in "docno" where the
    index of X has it, are the same document. Terms are what scikit-learn's ``CountVectorizer``
    finds: lower-case words of at least two letters or digits. To count in another collection than
    X, or to find terms in another way, pass vectors (see the examples).

    Vectors, sparse or dense, are taken as they are. A text without terms, or a vector of zeros,
    represents itself alone, and so does one whose terms are all in every document.

    Precomputed similarities are an array or sparse matrix of shape (n_rows, n_rows), where entry
    (i, j) says how well document j represents document i, at most 1. Those between topics are not
    read, those below the threshold count as 0, and the diagonal counts as 1.

    Pairs of similar documents are found exactly and without comparing all of them, see
    :func:`similarity_join`.

    References
    ----------
    .. [1] Hui and Berberich, "Selective Labeling and Incomplete Label Mitigation for Low-Cost
       Evaluation", section 3.

    Examples
    --------
    The third text is nearly the same as the second. After one of them, the other adds little:

    >>> from skfilterrank.judgments import MaxRepSelector
    >>> texts = [
    ...     "bread and butter",
    ...     "rain in spain stays mainly in the plain",
    ...     "rain in spain falls mainly in the plain",
    ... ]
    >>> selector = MaxRepSelector(threshold=0.5)
    >>> selector.fit(texts, groups=[1, 1, 1], prior=[0.3, 0.4, 0.4]).ranking_
    array([2, 1, 3])
    >>> selector.gains_.round(2)
    array([0.3 , 0.62, 0.18])
    >>> selector.select(n_per_query=2)
    array([0, 1])

    A second round, after the second text is judged, starts with the first one, not with a near copy
    of what is known:

    >>> selector.fit(
    ...     texts, groups=[1, 1, 1], prior=[0.3, 0.4, 0.4], judged=[False, True, False]
    ... ).select(n_per_query=1)
    array([0])

    With the frequencies of a larger collection, and nothing added to the logarithm:

    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> collection = [*texts, "rain and bread", "butter in the plain"]
    >>> vectorizer = TfidfVectorizer(smooth_idf=False, norm=None).fit(collection)
    >>> vectorizer.idf_ = vectorizer.idf_ - 1
    >>> selector.fit(vectorizer.transform(texts), groups=[1, 1, 1]).ranking_
    array([2, 1, 3])
    """

    __metadata_request__fit = {"judged": True}  # noqa: RUF012

    def __init__(
        self, threshold=0.8, *, metric="cosine", max_terms=1_000_000, n_jobs=None, verbose=0
    ):
        self.threshold = threshold
        self.metric = metric
        self.max_terms = max_terms
        self.n_jobs = n_jobs
        self.verbose = verbose

    @all_or_nothing
    def fit(self, X, y=None, *, groups=None, prior=None, judged=None) -> "MaxRepSelector":
        """Rank the documents of each topic by what each adds to the representation of the pool.

        Parameters
        ----------
        X : list or Series of str, array-like, sparse matrix or DataFrame of length n_rows
            One document per row, topics in any order: texts, vectors, or with
            ``metric="precomputed"`` similarities to all rows.
        y : object, default=None
            Not used; there by scikit-learn's convention.
        groups : array-like of shape (n_rows,), default=None
            Topic of each row. None takes the index level "qid" of X, or else of `prior`.
        prior : array-like of shape (n_rows,), default=None
            How likely each document is to be relevant, up to a factor; at least 0. A Series with
            topics in its index must have the index of X. None takes all documents to be equally
            likely. Documents of prior 0 need not be represented, but may represent others.
        judged : array-like of shape (n_rows,), dtype bool, default=None
            True for documents that are judged already: the set that the choice starts from, of
            which `select` takes none. None means that nothing is judged. A Series with topics in
            its index must have the index of X.

        Returns
        -------
        self : MaxRepSelector
            The strategy, fitted.

        Raises
        ------
        ValueError
            If topics are missing, the prior is negative or not finite, the index of X holds a
            document twice in a topic, no text holds a term, vectors or similarities are not finite,
            similarities are not square or above 1, or `judged` holds anything but True and False.

        Warns
        -----
        DataWarning
            If texts are missing or hold no term, with their number and the first of their rows.
        """
        check_threshold(self.threshold)
        check_choice(self.metric, "metric", ("cosine", "precomputed"))
        check_max_terms(self.max_terms)
        if isinstance(X, pd.DataFrame) and X.columns.name == "run":
            raise InputError(
                "X must hold texts, vectors or similarities of documents, and is a rank table, "
                "whose ranks say nothing of what documents are about: give the texts of the "
                "documents in its index, with prior=statap_prior of the table."
            )
        self._judged = _check_judged(judged, X)
        return super().fit(X, y, groups=groups, prior=prior)

    def _is_selected(self, budgets):
        """Select rows, none of which is judged, as a mask."""
        selected = super()._is_selected(budgets)
        return selected if self._judged is None else selected & ~self._judged

    def _prepare(self, X, index):
        """Vectors of the texts and the number of each row's, or an array of numbers."""
        if self.metric == "cosine" and is_texts(X):
            return term_weights(X, self.max_terms)
        X = check_array(X, accept_sparse="csr", dtype=np.float64, estimator=self)
        if self.metric == "precomputed":
            _check_similarities(X)
        return X

    def _topic_rows(self, X, rows):
        """What `_rank_topic` needs of the topic's rows, and which of them are judged."""
        judged = None if self._judged is None else self._judged[rows]
        if isinstance(X, tuple):
            vectors, numbers = X
            _, firsts, copies = np.unique(numbers[rows], return_index=True, return_inverse=True)
            # Distinct texts in the order of their first rows.
            by_row = np.argsort(firsts)
            return (vectors[numbers[rows[firsts[by_row]]]], np.argsort(by_row)[copies]), judged
        return (X[rows][:, rows] if self.metric == "precomputed" else X[rows]), judged

    def _rank_topic(self, X, prior, random_state):
        """Greedy facility location; what is judged comes last."""
        X, judged = X
        if isinstance(X, tuple):
            order, gains = _rank_copies(*X, prior, self.threshold, judged)
        elif self.metric == "precomputed":
            similarity = _thresholded(X, self.threshold)
            order, gains = facility_location(similarity, prior, chosen=judged)
        else:
            similarity = similarity_join(X, self.threshold)
            order, gains = facility_location(similarity, prior, symmetric=True, chosen=judged)
        if judged is not None:
            last = np.argsort(judged[order], kind="stable")
            order, gains = order[last], gains[last]
        return order, gains

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags


def _rank_copies(vectors, copies, prior, threshold, judged):
    """Order and gains of rows, some of which are copies: each vector is looked at once."""
    # The first of several copies is as good as all: the others have nothing left to add.
    firsts = np.unique(copies, return_index=True)[1]
    weights = np.bincount(copies, prior).astype(np.float64)
    chosen = None if judged is None else np.bincount(copies, judged) > 0
    order, gains = facility_location(
        similarity_join(vectors, threshold), weights, symmetric=True, chosen=chosen
    )
    adds = gains > 0
    head = firsts[order[adds]]
    tail = np.setdiff1d(np.arange(len(copies)), head)
    return np.concatenate((head, tail)), np.concatenate((gains[adds], np.zeros(len(tail))))


def _check_judged(judged, X):
    """A mask of the rows that are judged, or None."""
    if judged is None:
        return None
    check_same_rows(X, judged, "judged")
    mask = np.asarray(judged)
    if mask.dtype != bool or mask.shape != (count_rows(X),):
        raise InputError(
            f"judged must hold True or False for each of the {count_rows(X)} rows of X, got "
            f"{brief(judged)}: of labels that are NaN where nobody judged, labels.notna()."
        )
    return mask


def _check_similarities(X):
    """Precomputed similarities must be square, and at most 1."""
    if X.shape[0] != X.shape[1]:
        raise InputError(
            f"X must hold the similarities of all rows to all rows with metric='precomputed', a "
            f"square matrix, got shape {X.shape}. Use metric='cosine' for vectors."
        )
    largest = X.max()
    if largest > 1 + 1e-9:
        raise InputError(
            f"X must hold similarities of at most 1 with metric='precomputed', got {largest:.6g}: "
            "divide them by the largest, or turn distances into similarities."
        )


def _thresholded(X, threshold):
    """Similarities from the threshold on, with a diagonal of ones."""
    X = sparse.csr_array(X)
    X.sum_duplicates()
    X = X.tocoo()
    values, kept = reaching(X.data, round(threshold, DECIMALS))
    rows, columns = X.coords
    kept &= rows != columns
    every = np.arange(X.shape[0])
    return sparse.coo_array(
        (
            np.concatenate((values[kept], np.ones(len(every)))),
            (np.concatenate((rows[kept], every)), np.concatenate((columns[kept], every))),
        ),
        shape=X.shape,
    ).tocsr()

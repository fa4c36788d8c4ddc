"""MAXREP: judge the documents first that best represent the probably relevant ones."""

from hashlib import blake2b
from itertools import pairwise
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.feature_extraction.text import CountVectorizer

from skfilterrank._base.checks import count_rows
from skfilterrank._base.words import warn_user
from skfilterrank._estimators.ranker_mixin import all_or_nothing
from skfilterrank.exceptions import DataWarning, InputError, brief
from skfilterrank.judgments._document_vectors import N_TERMS, Vectors, check_features
from skfilterrank.judgments._selector import (
    QuerySelector,
    check_same_rows,
    check_texts,
    is_texts,
    shown_rows,
)
from skfilterrank.judgments._similarity import (
    blocks_of,
    check_threshold,
    entries_of,
    nearest_similarity,
    running_sums,
    similarity_join,
)

# Largest number of documents whose nearest neighbours decide the threshold.
_MOST_ASKED = 1000
# Warn if, of at least this many documents, more than this share represent only themselves.
_FEW_DOCUMENTS, _MANY_ALONE = 20, 0.9
# Contents are compared after rounding to this many decimals of the largest number.
_KEY_DECIMALS = 9
# Share of the documents that have a similar one at the threshold "auto".
_HAVE_SIMILAR = 0.25
# Largest number of bits of integer sums.
_SUM_BITS = 61
# Gains that agree in this many leading bits (12 decimal digits) are tied.
_TIE_BITS = 40
_BLOCK = 1 << 20


class MaxRepSelector(QuerySelector):
    """MAXREP: judge the documents first that best represent the probably relevant ones.

    Among near duplicates it is enough to judge one. So the next document is always the one that
    most improves how well the chosen documents represent the pool. The strategy was designed to
    train a :class:`LabelPredictor`. If few documents are similar, its order is close to that of the
    prior.

    Parameters
    ----------
    threshold : "auto" or float in (0, 1], default="auto"
        Similarities below it count as 0. Similarities equal to it up to rounding are kept. "auto"
        takes the largest value at which a quarter of the documents have a similar one in their
        query, see Notes. The paper takes 0.8, for long documents; two short texts on one subject
        rarely reach 0.3.
    random_state : int, RandomState instance or None, default=0
        Seed of the choice between documents of equal gain and equal prior. The choice depends on
        the contents of the documents, not on the order of rows or the names of queries.
    n_jobs : int, default=None
        Number of queries that are ranked in parallel. The ranking does not depend on it.
    verbose : int, default=0
        Above 0 shows the progress over queries.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_rows,), dtype int64
        Place of each document in the order of judging, from 1, within its query.
    threshold_ : float
        Similarities below it count as 0.
    gains_ : ndarray of shape (n_rows,), dtype float64
        Increase of the objective by each document at its place, in units of the prior; 0 for judged
        documents. The sum over the selected documents of a query is the total increase, which is
        the objective itself if nothing was judged.
    seed_ : int
        Seed of the choice between equal documents, drawn from `random_state` by `fit`.
    n_features_in_ : int
        Number of features, where X has features.
    feature_names_in_ : ndarray of str
        Names of the features, where X has names that are all strings.

    See Also
    --------
    PriorSelector : The prior alone, the baseline.
    StatAPSelector : Its attribute `prior_` is a prior from ranks in runs.

    Notes
    -----
    In each query, the set L of chosen documents should represent the pool well (eq. 1 of [1]_):

        f(L) = sum_i prior_i * max_{j in L} similarity(i, j),    f(empty) = 0,

    and the next document is always the one that raises f most. For every m, the first m documents
    reach at least 1 - 1/e of the best value of any m documents. A document represents itself with
    similarity 1. If gains agree to 12 digits, the document of the higher prior is chosen, and of
    equal priors one at random (`random_state`). Documents that add nothing come last, by prior.

    The threshold "auto" is the (lower) third quartile of the documents' similarity to the most
    similar other document of their query. Copies (similarity 1) are no others, documents without
    any are left out, and of more than 1,000 documents 1,000 are drawn. If no two documents are
    similar, the threshold is 1. On Cranfield, with 5, 10 and 20 % of the labels and the others
    predicted, the order of 74 systems has a tau of 0.778, 0.873 and 0.933 with the true one (0.765,
    0.870 and 0.930 with threshold 0.8). If unjudged documents count as not relevant, it is lower
    than with threshold 0.8, since similar documents are left out: 0.632, 0.776 and 0.912 instead of
    0.676, 0.825 and 0.922 (``benchmarks/labels_needed.py``).

    A later round starts with L = `judged` instead of the empty set. What the judged documents
    represent is not counted again, so copies of them add nothing. Two rounds choose the same
    documents as one long round. Judged documents are ranked after all others.

    Texts become vectors of tf * log(n / df): the count of a term in the text, times the logarithm
    of the number of documents divided by the number of documents with the term. (scikit-learn's idf
    adds 1 to the logarithm, so there, terms that occur in all documents still count.) n and df
    count distinct documents of all queries in X: rows with equal text, and equal "docno" if the
    index of X has it, are the same document. Terms are what scikit-learn's ``CountVectorizer``
    finds: lower-case words of at least two letters or digits, the million most frequent ones. To
    use document frequencies of another collection, or other terms, pass vectors (see the examples).

    Vectors, sparse or dense, are not changed. A text without terms, a text whose terms all occur in
    every document, and a vector of zeros represent only themselves.

    Pairs of similar documents are found exactly, without comparing all of them, by prefix
    filtering (Bayardo, Ma and Srikant, "Scaling up all pairs similarity search", WWW 2007).

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
    >>> selector.fit(texts, groups=[1, 1, 1], prior=[0.3, 0.5, 0.4]).ranking_
    array([2, 1, 3])
    >>> selector.gains_.round(2)
    array([0.3 , 0.72, 0.18])
    >>> selector.select(n_per_query=2)
    array([0, 1])

    A second round, after the second text is judged, starts with the first one, not with a near copy
    of what is known:

    >>> selector.fit(
    ...     texts, groups=[1, 1, 1], prior=[0.3, 0.5, 0.4], judged=[False, True, False]
    ... ).select(n_per_query=1)
    array([0])

    With the frequencies of a larger collection, and nothing added to the logarithm:

    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> collection = [*texts, "rain and bread", "butter in the plain"]
    >>> vectorizer = TfidfVectorizer(smooth_idf=False, norm=None).fit(collection)
    >>> vectorizer.idf_ = vectorizer.idf_ - 1
    >>> selector.fit(vectorizer.transform(texts), groups=[1, 1, 1], prior=[0.3, 0.5, 0.4]).ranking_
    array([2, 1, 3])
    """

    __metadata_request__fit = {"judged": True}  # noqa: RUF012

    def __init__(
        self,
        threshold: Any = "auto",
        *,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @all_or_nothing
    def fit(self, X, y=None, *, groups=None, prior=None, judged=None) -> Self:
        """Rank the documents of each query by how much they improve the representation.

        Parameters
        ----------
        X : list or Series of str, array-like, sparse matrix or DataFrame of length n_rows
            One document per row, queries in any order: texts or vectors.
        y : object, default=None
            Not used; there by scikit-learn's convention.
        groups : array-like of shape (n_rows,), default=None
            Query of each row. None takes the index level "qid" of X, or else of `prior`.
        prior : array-like of shape (n_rows,), default=None
            Prior of relevance of each document, at least 0, up to a factor. A Series with queries
            in its index must have the index of X. None means equal priors. Documents of prior 0
            need not be represented, but may represent others.
        judged : array-like of shape (n_rows,), dtype bool, default=None
            True for judged documents, from which the choice starts and which `select` never
            returns. None means that nothing is judged. A Series with queries in its index must have
            the index of X.

        Returns
        -------
        self : MaxRepSelector
            The strategy, fitted.

        Raises
        ------
        ValueError
            If queries are missing, the prior is negative or not finite, the index of X has a
            document twice in a query, no text has a term, vectors are not finite, or `judged` has
            values other than True and False.

        Warns
        -----
        DataWarning
            If texts are missing or have no term, with their number and first rows; if more than
            nine tenths of at least 20 documents represent only themselves.
        """
        if not (isinstance(self.threshold, str) and self.threshold == "auto"):
            check_threshold(self.threshold)
        refuse_rank_table(X)
        self._judged = _check_judged(judged, X)
        super().fit(X, y, groups=groups, prior=prior)
        self._warn_if_alone(prior)
        return self

    def _warn_if_alone(self, prior):
        """Warn if most documents represent only themselves: then their gain is their prior."""
        prior = 1.0 if prior is None else np.asarray(prior, dtype=np.float64)
        counted = (prior > 0) & (self._index.sizes > 1)[self._index.codes()]
        if self._judged is not None:
            counted &= ~self._judged
        n_alone = np.count_nonzero(counted & (self.gains_ == prior))
        n_counted = np.count_nonzero(counted)
        if n_counted >= _FEW_DOCUMENTS and n_alone > n_counted * _MANY_ALONE:
            warn_user(
                f"{n_alone} of {n_counted} documents represent only themselves at "
                f"threshold={self.threshold_:.3g}: they are ordered by prior, and at random where "
                "priors are equal. If these documents resemble others, lower the threshold, or "
                "pass threshold='auto'.",
                DataWarning,
            )

    def _is_selected(self, budgets):
        """Return a mask of the selected rows, without judged ones."""
        selected = super()._is_selected(budgets)
        return selected if self._judged is None else selected & ~self._judged

    def _prepare(self, X, y, index):
        """Return distinct vectors of the documents."""
        if is_texts(X):
            contents = (str(text).encode("utf-8", "surrogatepass") for text in X)
            X = term_weights(X)
        else:
            X = check_features(X, self)
            contents = _contents(X)
            X = Vectors(X, np.arange(X.shape[0]))
        self._keys = _random_keys(contents, self.seed_)
        is_auto = isinstance(self.threshold, str)
        self.threshold_ = self._usual_similarity(X, index) if is_auto else float(self.threshold)
        return X

    def _usual_similarity(self, X, index):
        """Return the third quartile of the similarities to the most similar other document."""
        asked = np.zeros(index.n_rows, dtype=bool)
        asked[np.argsort(self._keys, kind="stable")[:_MOST_ASKED]] = True
        nearest = [np.empty(0)]
        for rows in index.rows_by_query():
            some = np.flatnonzero(asked[rows])
            if len(some) == 0:
                continue
            nearest.append(nearest_similarity(X.take(rows), some))
        nearest = np.concatenate(nearest)
        nearest = nearest[nearest > 0]
        if not len(nearest):
            return 1.0
        return float(np.quantile(nearest, 1 - _HAVE_SIMILAR, method="lower"))

    def _query_rows(self, X, rows):
        """Return vectors, their numbers, which are judged, random keys, and the threshold."""
        judged = None if self._judged is None else self._judged[rows]
        return X.take(rows), X.numbers[rows], judged, self._keys[rows], self.threshold_

    def _rank_query(self, X, prior, random_state):
        """Rank by greedy facility location; judged documents come last."""
        vectors, numbers, judged, keys, threshold = X
        # The first of documents with equal gains is chosen.
        first = np.lexsort((keys,) if prior is None else (keys, -prior))
        prior = None if prior is None else prior[first]
        judged = None if judged is None else judged[first]
        order, gains = _rank_copies(vectors[first], numbers[first], prior, threshold, judged)
        if judged is not None:
            last = np.argsort(judged[order], kind="stable")
            order, gains = order[last], gains[last]
        return first[order], gains


def _contents(X):
    """Yield each row's numbers, rounded, as bytes."""
    largest = np.abs(X).max() or 1.0
    if not sparse.issparse(X):
        for row in np.round(X / largest, _KEY_DECIMALS) + 0.0:
            yield row.tobytes()
        return
    X = sparse.csr_array(X, copy=True)
    X.sum_duplicates()
    values = np.round(X.data / largest, _KEY_DECIMALS) + 0.0
    for begin, end in pairwise(X.indptr):
        yield X.indices[begin:end].tobytes() + values[begin:end].tobytes()


def _random_keys(contents, seed):
    """Hash byte strings to random numbers by a seed."""
    key = str(seed).encode()
    digests = [blake2b(content, digest_size=8, key=key).digest() for content in contents]
    return np.frombuffer(b"".join(digests), dtype=np.uint64)


def _rank_copies(vectors, numbers, prior, threshold, judged):
    """Return order and gains of rows with copies; each distinct vector is ranked once."""
    _, firsts, copies = np.unique(numbers, return_index=True, return_inverse=True)
    # Number the distinct vectors by their first rows.
    by_row = np.argsort(firsts)
    firsts, copies = firsts[by_row], np.argsort(by_row)[copies]
    vectors = vectors[firsts]
    # After the first of several copies, the others add nothing.
    weights = np.bincount(copies, prior).astype(np.float64)
    chosen = None if judged is None else np.bincount(copies, judged) > 0
    order, gains = facility_location(similarity_join(vectors, threshold), weights, chosen=chosen)
    adds = gains > 0
    head = firsts[order[adds]]
    tail = np.setdiff1d(np.arange(len(copies)), head)
    return np.concatenate((head, tail)), np.concatenate((gains[adds], np.zeros(len(tail))))


def refuse_rank_table(X) -> None:
    """Raise for a rank table, where documents are needed."""
    if isinstance(X, pd.DataFrame) and X.columns.name == "run":
        raise InputError(
            "X must hold texts or vectors of documents, but is a rank table, which has no "
            "content of documents: pass the texts of the documents in its index, with "
            "prior=StatAPSelector().fit(table).prior_."
        )


def _check_judged(judged, X):
    """Check the mask of the judged rows, or None."""
    if judged is None:
        return None
    check_same_rows(X, judged, "judged")
    mask = np.asarray(judged)
    if mask.dtype != bool or mask.shape != (count_rows(X),):
        raise InputError(
            f"judged must hold True or False for each of the {count_rows(X)} rows of X, got "
            f"{brief(judged)}: if labels are NaN where unjudged, pass labels.notna()."
        )
    return mask


def term_weights(texts) -> Vectors:
    """Return tf-idf vectors of distinct texts.

    A text whose weights are all 0 gets a separate vector in every row.
    """
    values = check_texts(texts)
    numbers, distinct = pd.factorize(np.array(values, dtype=object))
    try:
        counts = CountVectorizer(max_features=N_TERMS).fit_transform(distinct)
    except ValueError as error:
        raise InputError(
            f"X holds {len(values)} texts without a term among them ({error}): give texts with "
            "words, or vectors."
        ) from error
    counts = sparse.csr_array(counts, dtype=np.float64)
    _warn_of_empty(texts, values, np.diff(counts.indptr)[numbers] == 0)
    n_documents = _n_documents(texts, numbers)
    owners = np.repeat(np.arange(len(distinct)), np.diff(counts.indptr))
    df = np.bincount(counts.indices, n_documents[owners], minlength=counts.shape[1])
    counts.data *= np.log(n_documents.sum() / df)[counts.indices]
    counts.eliminate_zeros()
    return _separate_empty(counts, numbers)


def _warn_of_empty(texts, values, is_empty):
    """Warn of texts that are not missing but have no term."""
    # Missing texts have been warned of before.
    is_text = np.array([isinstance(text, str) for text in texts], dtype=bool)
    rows = np.flatnonzero(is_empty & is_text)
    if len(rows):
        warn_user(
            f"{len(rows)} of {len(values)} texts have no term and represent only themselves: "
            f"{shown_rows(texts, rows)}.",
            DataWarning,
        )


def _n_documents(texts, numbers):
    """Count the documents with each distinct text; 1 if documents have no ids."""
    if "docno" not in getattr(getattr(texts, "index", None), "names", ()):
        return np.ones(numbers.max() + 1)
    docnos = texts.index.get_level_values("docno")
    documents = pd.DataFrame({"docno": docnos, "text": numbers}).drop_duplicates()
    return np.bincount(documents["text"]).astype(np.float64)


def _separate_empty(vectors, numbers):
    """Give each row with a zero vector a separate zero vector."""
    rows = np.flatnonzero(np.diff(vectors.indptr)[numbers] == 0)
    n_vectors, n_terms = vectors.shape
    numbers[rows] = n_vectors + np.arange(len(rows))
    indptr = np.append(vectors.indptr, np.full(len(rows), vectors.indptr[-1]))
    shape = (n_vectors + len(rows), n_terms)
    return Vectors(sparse.csr_array((vectors.data, vectors.indices, indptr), shape=shape), numbers)


def facility_location(similarity, weights, *, chosen=None) -> tuple[np.ndarray, np.ndarray]:
    """Order documents greedily by the increase of the facility location objective.

    Parameters
    ----------
    similarity : csr_array of shape (n_documents, n_documents)
        How well documents represent each other, at least 0; symmetric.
    weights : ndarray of shape (n_documents,), dtype float64
        Weight of each document, at least 0.
    chosen : ndarray of shape (n_documents,), dtype bool, default=None
        Documents that are chosen already. None starts with no document.

    Returns
    -------
    order : ndarray of shape (n_documents,), dtype int64
        All documents in the order of choice. If gains agree to 12 digits, the smaller number comes
        first. Documents of `chosen` add nothing.
    gains : ndarray of shape (n_documents,), dtype float64
        Increase of the objective by each document of `order` at its place.

    Notes
    -----
    The objective is f(L) = sum_i weights_i max_{j in L} similarity_ij, f(empty) = 0. Gains never
    grow, so connected components of the similarity graph can be ordered separately and merged by
    gain. Within a component, a choice only changes the gains of documents that are similar to a
    document that is now represented better; only these are updated.

    Weighted similarities are rounded to integer multiples of a power of two, about 2^-61 of the
    largest gain in a component. So sums are exact: updated gains have no accumulated rounding, do
    not depend on the order of rows, and become exactly 0 when nothing is left to add.
    """
    n = similarity.shape[0]
    n_parts, part = connected_components(similarity, directed=True, connection="weak")
    sizes = np.bincount(part, minlength=n_parts)
    gains = np.zeros(n)
    alone = sizes[part] == 1
    gains[alone] = (weights * similarity.diagonal())[alone]
    if chosen is not None:
        gains[chosen] = 0.0
    rest = np.flatnonzero(~alone)
    if len(rest):
        rest = rest[np.argsort(part[rest], kind="stable")]
        starts = np.flatnonzero(np.diff(part[rest], prepend=-1))
        first = np.flatnonzero(chosen[rest]) if chosen is not None else rest[:0]
        gains[rest] = _greedy_gains(similarity[rest][:, rest], weights[rest], starts, first)
    order = np.lexsort((np.arange(n), -_tie_key(gains)))
    return order, gains[order]


def _tie_key(values):
    """Return integers in the order of nonnegative values; tied values have equal integers."""
    # Adding 0 turns -0.0, whose bits are a negative integer, into 0.0.
    bits = (np.asarray(values, dtype=np.float64) + 0.0).view(np.int64)
    # The bits of nonnegative floats have the order of the floats; the last bits are rounded off.
    drop = 52 - _TIE_BITS
    return (bits + (1 << (drop - 1))) >> drop


def _greedy_gains(similarity, weights, starts, first):
    """Return the gain of each document when chosen; all components are processed together.

    Documents of a component are consecutive. Documents of `first` are chosen already.
    """
    parts = _Parts(similarity, weights, starts)
    parts.begin_with(first)
    gains = np.zeros(len(weights))
    active = np.arange(len(starts))
    while True:
        chosen, active = parts.next_choices(active)
        if len(chosen) == 0:
            return gains
        gains[chosen] = parts.gains_of(chosen)
        parts.choose(chosen)


class _Parts:
    """State of the greedy choice: how well documents are represented, and the gain of each."""

    def __init__(self, similarity, weights, starts):
        self.similarity = similarity
        self.starts = starts
        self.sizes = np.diff(starts, append=len(weights))
        self.exponents = np.repeat(self._exponents(weights), self.sizes)
        self.weights = np.ldexp(weights, self.exponents)
        self.best = np.zeros(len(weights), dtype=np.int64)
        self.gains = np.zeros(len(weights), dtype=np.int64)
        everyone = np.arange(len(weights))
        for columns in self._blocks(everyone):
            _, owners, values = self._covered_by(columns)
            np.add.at(self.gains, columns[owners], values)
        self.keys = _tie_key(self.gains)

    def _exponents(self, weights):
        """Return for each component a power of two that scales its gains to integers."""
        _, size = np.frexp(np.maximum.reduceat(weights, self.starts))
        scaled = np.ldexp(weights, -np.repeat(size, self.sizes))
        largest = np.maximum.reduceat(self.similarity @ scaled, self.starts)
        return _SUM_BITS - size - np.frexp(largest)[1]

    def gains_of(self, rows):
        """Return gains as floats."""
        return np.ldexp(self.gains[rows].astype(np.float64), -self.exponents[rows])

    def _blocks(self, rows):
        """Yield slices of rows with a limited total number of entries."""
        indptr = self.similarity.indptr
        lengths = (indptr[rows + 1] - indptr[rows]).astype(np.int64)
        for begin, end in blocks_of(running_sums(lengths), _BLOCK):
            yield rows[begin:end]

    def _covered_by(self, columns):
        """Return the documents similar to some choices, the choice of each, and its similarity."""
        entries, owners = entries_of(self.similarity.indptr, columns)
        covered = self.similarity.indices[entries]
        return covered, owners, self._whole(covered, self.similarity.data[entries])

    def _whole(self, rows, similarity):
        """Return weighted similarities as integers."""
        return np.rint(self.weights[rows] * similarity).astype(np.int64)

    def next_choices(self, active):
        """Return each active component's best document, and the components with gains above 0."""
        if len(active) == 1:
            start, size = self.starts[active[0]], self.sizes[active[0]]
            chosen = start + np.array([np.argmax(self.keys[start : start + size])])
            left = self.keys[chosen] > 0
            return chosen[left], active[left]
        if len(active) == 0:
            return active, active
        sizes = self.sizes[active]
        owners = np.repeat(np.arange(len(active)), sizes)
        firsts = np.cumsum(sizes) - sizes
        rows = (self.starts[active] - firsts)[owners] + np.arange(len(owners))
        keys = self.keys[rows]
        top = np.maximum.reduceat(keys, firsts)
        hits = np.flatnonzero(keys == top[owners])
        is_first = np.diff(owners[hits], prepend=-1) > 0
        chosen = rows[hits[is_first]]
        left = top > 0
        return chosen[left], active[left]

    def begin_with(self, chosen):
        """Choose given documents first; a component may have several of them."""
        best = np.zeros_like(self.best)
        for some in self._blocks(chosen):
            covered, _, values = self._covered_by(some)
            np.maximum.at(best, covered, values)
        rows = np.flatnonzero(best)
        self._represent(rows, best[rows])

    def choose(self, chosen):
        """Choose one document in each of some components."""
        for some in self._blocks(chosen):
            covered, _, values = self._covered_by(some)
            better = values > self.best[covered]
            self._represent(covered[better], values[better])

    def _represent(self, rows, values):
        """Update the gains of documents similar to rows that are now represented better."""
        before = self.best[rows]
        self.best[rows] = values
        begin = 0
        for some in self._blocks(rows):
            stretch = slice(begin, begin + len(some))
            entries, owners = entries_of(self.similarity.indptr, some)
            columns = self.similarity.indices[entries]
            could = self._whole(some[owners], self.similarity.data[entries])
            # max(0, could - before) - max(0, could - after)
            could_after = np.minimum(could, values[stretch][owners])
            loss = could_after - np.minimum(could, before[stretch][owners])
            np.subtract.at(self.gains, columns, loss)
            self.keys[columns] = _tie_key(self.gains[columns])
            begin = stretch.stop

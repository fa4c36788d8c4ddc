"""Relevance feedback: judge documents like the relevant ones, until most are found."""

from fractions import Fraction
from itertools import pairwise
from math import ceil
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.stats import hypergeom
from sklearn.preprocessing import StandardScaler, normalize

from skfilterrank._base.checks import (
    check_number,
    check_share,
    is_finite_number,
    is_whole_number,
)
from skfilterrank._estimators.ranker_mixin import all_or_nothing
from skfilterrank._lists.gains import check_gains
from skfilterrank.exceptions import InputError, brief
from skfilterrank.judgments._document_vectors import Vectors, check_features
from skfilterrank.judgments._maxrep import refuse_rank_table, term_weights
from skfilterrank.judgments._predictor_models import usual_classifier
from skfilterrank.judgments._selector import (
    QuerySelector,
    check_same_rows,
    is_texts,
    round_half_up,
    row_gains,
)

# Documents of the first batch; each further batch is a tenth larger, as in AutoTAR.
_FIRST_BATCH = 10
# The sample is drawn when so many documents in a row are not relevant, or as many as its own size
# divided by the second number: a large sample is worth waiting for.
_DRY, _PATIENCE = 50, 10
# Number of documents drawn in each round that count as not relevant until the order reaches them.
_N_PRESUMED = 100
# A target is the nearest fraction with at most this denominator: 2/3 and 0.8 in any precision.
_LARGEST_DENOMINATOR = 10**6
# Chances that are equal but for their rounding count as equal.
_ROUNDING = 1e-9


class FeedbackSelector(QuerySelector):
    r"""Relevance feedback: find the relevant documents, and say when enough of them are found.

    In each round, a logistic regression learns from the labels so far, and the documents of the
    highest probability are judged next (continuous active learning). Beside them a random sample of
    each query is judged. The order does not look at its labels, so the sample says how much of what
    is relevant the order has reached.

    Parameters
    ----------
    target_recall : float in (0, 1], default=0.8
        Share of a query's relevant documents that are to be found. It stands for the nearest
        fraction with a denominator of up to a million, such as 2/3.
    confidence_level : float in (0, 1), default=0.95
        Probability that a query has at least this recall when it may stop, over the draw of its
        sample.
    sample : "auto", float in [0, 1] or int, default="auto"
        Size of the random sample of each query. "auto" takes the least number that lets the query
        stop with what the order has found. It waits until the last 50 documents of the order are
        not relevant, or a tenth of this number, if that is more. A float is a share of the
        documents, rounded half up, and an int a number, from the first round on. Without a sample
        (0), a query may stop only when hardly anything is left.
    gains : None, "exp2", dict or callable, default=None
        Gain of each label; a document is relevant if its gain is above 0. None uses the label as
        the gain.
    random_state : int, default=0
        Seed of the samples. It must be the same in all rounds of a review, like all parameters: see
        Notes.
    n_jobs : int, default=None
        Number of queries that are ranked in parallel. The ranking does not depend on it.
    verbose : int, default=0
        Above 0 shows the progress over queries.

    Attributes
    ----------
    progress_ : DataFrame of shape (n_queries, 10)
        State of each query (index):

        * "n_documents", "n_sample", "n_judged", "n_relevant": numbers of documents, of those in the
          sample, of judged and of relevant ones.
        * "n_ahead", "n_waiting": numbers of documents of the sample that are relevant and not
          reached by the order, and that are not judged.
        * "n_other": number of judged documents that neither the order nor the sample asks for.
        * "n_needed": number of relevant documents below which a sample of this size does not let
          the query stop early.
        * "chance": largest chance of such a state below the target. It is NaN until all of the
          sample is judged, but 0 as soon as too few documents are unjudged for a recall below the
          target.
        * "may_stop": True if the query may stop.
    ranking_ : ndarray of shape (n_rows,), dtype int64
        Place of each document within its query, from 1: the documents that the order has reached,
        then all others by probability. It does not depend on the sample.
    gains_ : ndarray of shape (n_rows,), dtype float64
        Probability of relevance by the last model, or the prior before the first relevant document;
        NaN for documents that the order has reached. It is not calibrated.
    seed_ : int
        Seed of the queries' random generators.
    n_features_in_ : int
        Number of features, where X has features.
    feature_names_in_ : ndarray of str
        Names of the features, where X has names that are all strings.

    See Also
    --------
    LabelPredictor : Predict the labels of what nobody judges.
    MoveToFrontSelector : Judge what is likely to be relevant, from runs.

    Notes
    -----
    **Order.** The first 10 documents have the highest prior. Each further batch is a tenth larger.
    The model learns from the labels of the documents that the order has reached, and from 100
    others, drawn in each round, which count as not relevant; until one is relevant, the order is
    that of the prior. Equal documents are in random order. This is AutoTAR [1]_ with a prior
    instead of the topic's text. `fit` waits at the first batch that is not judged: a document
    without a label stays in the round until it has one. Labels of other documents, as of the
    sample, are learned from as soon as the order reaches them.

    **Cost.** `fit` repeats all rounds from the labels, so there is no state to keep. Round r fits
    up to r models of each query, and a review of r rounds about ``r ** 2 / 2``. Since batches grow,
    1,000 documents are 23 rounds, and 10,000 are 45.

    **Stopping.** With a probability of at least `confidence_level` over the draw of its sample, a
    query has at least the target recall in every round in which it may stop. So one may look after
    each round. Nothing is assumed of the model, the prior or the number of relevant documents. What
    counts is that the target is fixed before the first label, that the size of the sample is not
    chosen by its labels, and that a label is the same whether the document is in the sample or not.
    The size may follow from what the order has found, as that of "auto" does. Recall is that of the
    documents in X. This holds for each query by itself: of many that stop, a share of up to ``1 -
    confidence_level`` may be below the target.

    Another X, `groups`, `prior`, target, size or `random_state` begins another review. Labels that
    it has not asked for count as well ("n_other"). The probability is that of each review by
    itself. If these are changed until a query may stop, more stops are wrong; `fit` cannot notice
    it.

    Of N documents, n are in the sample. F relevant documents are found in any way, and a of them
    lie in the sample, not reached by the order. Below the target t, at least :math:`u = \lfloor F /
    t \rfloor + 1 - F` are missing. A query may stop if the chance

    .. math:: P(\mathrm{Hypergeometric}(N, u + a, n) \le a)

    that the sample holds at most a of the last u + a relevant documents is at most ``1 -
    confidence_level``, or if fewer than u documents are not judged. Proof: the order does not
    depend on the sample. If R documents are relevant, let m be the least number of missing ones
    below the target; u is at most m. A wrong stop means that the sample holds at most a of the last
    m + a relevant documents of the order, and that this has a chance of at most ``1 -
    confidence_level``. The events of a = 0, 1, ... contain each other, so all wrong stops are in
    the largest of those with such a chance.

    This joins the hypergeometric test of [2]_, which does not hold if it is repeated, with the
    sample of [3]_, which is drawn first. The rule of [3]_ (QBCB) needs at least 14 relevant
    documents *in the sample* for 0.8 and 0.95. This one needs none, but u must be large enough:
    about ``1 - (1 - confidence_level) ** (1 / u)`` of the documents must be in the sample. For 0.8
    and 0.95 these are

    ===================  ====  ====  ====  ====  =====
    relevant documents     10    20    50   100   1000
    share in the sample  63%   39%   21%   11%   1.2%
    ===================  ====  ====  ====  ====  =====

    A query with fewer is judged nearly whole, and so is one with nothing relevant ("n_needed"). A
    sample that turns out too small may be enlarged: with the same `random_state`, the larger one
    contains it. Two sizes, each at 0.975, hold together with a probability of at least 0.95.

    References
    ----------
    .. [1] Cormack and Grossman, "Autonomy and reliability of continuous active learning for
       technology-assisted review", 2015.
    .. [2] Callaghan and Müller-Hansen, "Statistical stopping criteria for automated screening in
       systematic reviews", Systematic Reviews 9, 2020.
    .. [3] Lewis, Yang and Frieder, "Certifying one-phase technology-assisted reviews", CIKM 2021.

    Examples
    --------
    Of 400 documents, 60 are about wings. A person says so of each document that is asked about:

    >>> import numpy as np
    >>> from skfilterrank.judgments import FeedbackSelector
    >>> rng = np.random.default_rng(0)
    >>> wings = np.arange(400) % 20 < 3
    >>> words = {True: ["wing", "lift", "flow", "speed"], False: ["soup", "bread", "flow", "salt"]}
    >>> texts = [" ".join(rng.choice(words[bool(wing)], 3)) for wing in wings]
    >>> labels, queries = np.full(400, np.nan), np.ones(400)
    >>> selector = FeedbackSelector(sample=0.3).fit(texts, labels, groups=queries)
    >>> while len(rows := selector.select()):
    ...     labels[rows] = wings[rows]
    ...     selector = selector.fit(texts, labels, groups=queries)

    The review ends after 165 documents, 120 of which are the sample. They hold 59 of the 60:

    >>> selector.progress_[["n_judged", "n_relevant", "n_ahead", "chance", "may_stop"]].round(3)
         n_judged  n_relevant  n_ahead  chance  may_stop
    qid
    1.0       165          59        1   0.024      True
    """

    progress_: pd.DataFrame

    def __init__(
        self,
        *,
        target_recall: float = 0.8,
        confidence_level: float = 0.95,
        sample: float | str = "auto",
        gains: Any = None,
        random_state: int = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.target_recall = target_recall
        self.confidence_level = confidence_level
        self.sample = sample
        self.gains = gains
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @all_or_nothing
    def fit(self, X, y=None, *, groups=None, prior=None) -> Self:
        """Repeat the rounds of the labels so far, and rank the documents without a label.

        Parameters
        ----------
        X : list or Series of str, array-like, sparse matrix or DataFrame of length n_rows
            One document per row, queries in any order: texts, which become vectors of tf-idf, or
            features, which are standardized unless they are sparse. The same rows in the same order
            in all rounds.
        y : array-like of shape (n_rows,), default=None
            Labels so far, NaN where not judged. None means that nothing is judged. A Series with
            queries in its index must have the index of X.
        groups : array-like of shape (n_rows,), default=None
            Query of each row. None takes the index level "qid" of X, or else of `prior`.
        prior : array-like of shape (n_rows,), default=None
            How likely each document is to be relevant, up to a factor; at least 0. It orders
            documents until one is relevant, and must be the same in all rounds. None means equal
            priors: the first documents are random.

        Returns
        -------
        self : FeedbackSelector
            The strategy, fitted.

        Raises
        ------
        ValueError
            If a parameter is out of range, queries are missing, the prior is negative or not
            finite, the index of X has a document twice in a query, no text has a term, features are
            not finite, or y has not one label or NaN for each row.

        Warns
        -----
        DataWarning
            If texts are missing or have no term, with their number and first rows.
        """
        if not (isinstance(self.sample, str) and self.sample == "auto"):
            _sample_size(self.sample, 1)
        check_number(self.target_recall, "target_recall", above=0, most=1)
        check_share(self.confidence_level, "confidence_level")
        check_gains(self.gains)
        if not is_whole_number(self.random_state):
            raise InputError(
                "random_state must be a whole number, so that all rounds have the same sample, got "
                f"{brief(self.random_state)}."
            )
        refuse_rank_table(X)
        super().fit(X, y, groups=groups, prior=prior)
        self._sampled = np.zeros(self._index.n_rows, dtype=bool)
        for rows, stream in zip(self._queries, self._streams()):
            size = self._size_of_sample(rows)
            self._sampled[rows[stream.permutation(len(rows))[:size]]] = True
        ends = np.array(batch_ends(self._index.sizes.max()))
        n_reached = self._index.sums(np.isnan(self.gains_).astype(np.int64))
        last = ends[np.searchsorted(ends[:-1], n_reached, side="right")]
        # The order asks for what it has reached, and for its next batch.
        self._asked = self._sampled | (self.ranking_ <= last[self._index.codes()])
        self.progress_ = self._progress()
        return self

    def _prepare(self, X, y, index):
        """Return vectors of the documents; keep which are judged and relevant."""
        gains = np.full(index.n_rows, np.nan)
        if y is not None:
            check_same_rows(X, y, "y")
            gains = row_gains(y, self.gains, index.n_rows, "y")
        self._judged, self._relevant = ~np.isnan(gains), gains > 0
        if is_texts(X):
            weights = term_weights(X)
            return weights._replace(matrix=normalize(weights.matrix))
        X = check_features(X, self)
        X = X if sparse.issparse(X) else StandardScaler().fit_transform(X)
        return Vectors(X, np.arange(index.n_rows))

    def _query_rows(self, X, rows):
        """Return vectors of the query's rows, and which are judged and relevant."""
        return X.take(rows), self._judged[rows], self._relevant[rows]

    def _rank_query(self, X, prior, random_state):
        """Repeat the rounds of a query; gains are NaN for what the order has reached."""
        vectors, judged, relevant = X
        n_rows = len(judged)
        # `fit` makes the sample of the first draw; the order must not depend on it.
        _, shuffled = random_state.permutation(n_rows), random_state.permutation(n_rows)
        scores = np.zeros(n_rows) if prior is None else prior
        order, n_reached = _sorted(shuffled, scores), 0
        for begin, end in pairwise(batch_ends(n_rows)):
            if not judged[order[begin:end]].all():
                break
            n_reached = end
            reached, rest = order[:n_reached], order[n_reached:]
            if relevant[reached].any() and len(rest):
                presumed = rest[random_state.permutation(len(rest))[:_N_PRESUMED]]
                scores = _probabilities(vectors, reached, relevant[reached], presumed)
            shuffled = shuffled[np.isin(shuffled, rest)]
            order = np.concatenate([reached, _sorted(shuffled, scores)])
        gains = scores[order]
        gains[:n_reached] = np.nan
        return order, gains

    def _size_of_sample(self, rows):
        """Return the size of a query's sample; only labels that the order has reached decide it."""
        if not isinstance(self.sample, str):
            return _sample_size(self.sample, len(rows))
        reached = np.isnan(self.gains_[rows])
        places = np.sort(self.ranking_[rows[reached & self._relevant[rows]]])
        return size_when_dry(
            len(rows), places, int(reached.sum()), self.target_recall, 1 - self.confidence_level
        )

    def _progress(self):
        """Return the state of each query."""
        index, ahead = self._index, ~np.isnan(self.gains_)
        masks = {
            "n_sample": self._sampled,
            "n_judged": self._judged,
            "n_relevant": self._relevant,
            "n_ahead": self._sampled & self._relevant & ahead,
            "n_waiting": self._sampled & ~self._judged,
        }
        counts = {name: index.sums(mask.astype(np.int64)) for name, mask in masks.items()}
        table = pd.DataFrame({"n_documents": index.sizes, **counts}, index=index.labels)
        chance = chance_of_miss(*table.to_numpy().T, self.target_recall)
        alpha = 1 - self.confidence_level
        sizes = zip(table["n_documents"].tolist(), table["n_sample"].tolist())
        table["n_other"] = index.sums((self._judged & ~self._asked).astype(np.int64))
        table["n_needed"] = [least_relevant(*each, self.target_recall, alpha) for each in sizes]
        table["chance"], table["may_stop"] = chance, chance <= alpha * (1 + _ROUNDING)
        return table

    def _is_selected(self, budgets):
        """Return a mask of the next rows to judge; without a budget, the round of open queries."""
        codes, is_next = self._index.codes(), self._asked & ~self._judged
        if budgets is None:
            return is_next & ~self.progress_["may_stop"].to_numpy()[codes]
        places = np.lexsort((self.ranking_, ~is_next, self._judged, codes))
        place = np.empty(len(codes), dtype=np.int64)
        place[places] = np.arange(len(codes)) - np.repeat(
            np.cumsum(self._index.sizes) - self._index.sizes, self._index.sizes
        )
        return ~self._judged & (place < budgets[codes])


def _sample_size(sample, n_documents: int) -> int:
    """Return the number of sampled documents, for a share or a number."""
    is_share = not is_whole_number(sample)
    if not is_finite_number(sample) or sample < 0 or (is_share and sample > 1):
        raise InputError(
            'sample must be "auto", a share of the documents as a float from 0 to 1, or a number '
            f"of them as an int from 0 up, got {brief(sample)}."
        )
    if is_share:
        return int(round_half_up(sample, np.array([n_documents]))[0])
    return min(n_documents, int(sample))


def batch_ends(n_documents: int) -> list[int]:
    """Return the number of documents before the first batch, and after each one, as in AutoTAR."""
    ends, size = [0], _FIRST_BATCH
    while ends[-1] < n_documents:
        ends.append(min(n_documents, ends[-1] + size))
        size += -(-size // 10)
    return ends


def size_when_dry(n_documents: int, places, n_reached: int, target_recall, alpha) -> int:
    """Return the size of the sample when the order has run dry, 0 before.

    Parameters
    ----------
    n_documents, n_reached : int
        Number of documents, and of those that the order has reached.
    places : ndarray of shape (n_relevant,)
        Places of the relevant documents that it has reached, ascending.
    target_recall, alpha : float
        Target, and chance of a wrong stop.
    """
    # Once the order has reached everything, no sample is needed.
    for end in batch_ends(n_documents)[1:-1]:
        found = int(np.searchsorted(places, end, side="right"))
        if end <= n_reached and found and (dry := end - places[found - 1]) >= _DRY:
            size = _least_drawn(n_documents, int(_least_missing(found, target_recall)), alpha)
            if _PATIENCE * dry >= size:
                return size
    return 0


def _least_drawn(n_documents: int, n_marked: int, alpha) -> int:
    """Return the least size of a sample that holds no marked document with a chance up to alpha.

    It is one more than all documents where nothing is marked. Marked documents and the sample may
    change places: that many must be marked, so that a sample of `n_marked` documents holds none.
    """
    drawn = np.arange(n_documents)
    none = np.cumprod((n_documents - n_marked - drawn).clip(0) / (n_documents - drawn))
    return 1 + int(np.searchsorted(-none, -alpha * (1 + _ROUNDING)))


def _sorted(shuffled, scores):
    """Return rows by descending score; equal scores keep their random order."""
    return shuffled[np.argsort(-scores[shuffled], kind="stable")]


def _probabilities(vectors, reached, relevant, presumed):
    """Return each row's probability of relevance, learned from reached and presumed rows."""
    labels = np.append(relevant, np.zeros(len(presumed), dtype=bool))
    model = usual_classifier().fit(vectors[np.append(reached, presumed)], labels)
    return model.predict_proba(vectors)[:, 1]


def _exact(target_recall) -> Fraction:
    """Return the fraction that a target means, above 0."""
    least = Fraction(1, _LARGEST_DENOMINATOR)
    return max(least, Fraction(float(target_recall)).limit_denominator(_LARGEST_DENOMINATOR))


def _least_missing(n_relevant, target_recall):
    """Return the least number of missing documents with which recall is below the target."""
    target = _exact(target_recall)
    return n_relevant * target.denominator // target.numerator + 1 - n_relevant


def chance_of_miss(
    n_documents, n_sample, n_judged, n_relevant, n_ahead, n_waiting, target_recall
) -> np.ndarray:
    """Return the largest chance of each query's state among those of a recall below the target.

    Arguments are integers or arrays, as in `FeedbackSelector.progress_`.
    """
    missing = _least_missing(n_relevant, target_recall)
    chance = hypergeom.cdf(n_ahead, n_documents, missing + n_ahead, n_sample)
    chance = np.where(n_waiting > 0, np.nan, chance)
    return np.where(n_documents - n_judged < missing, 0.0, chance)


def least_relevant(n_documents: int, n_sample: int, target_recall, alpha) -> int:
    """Return the least number of relevant documents that lets a query stop early."""
    target, missing = _exact(target_recall), _least_drawn(n_documents, n_sample, alpha)
    if missing == 1:
        return 0
    if target == 1:
        return n_documents
    # So many reach the target even if all documents are relevant.
    most = ceil(target * n_documents)
    return min(most, ceil((missing - 1) * target / (1 - target)))

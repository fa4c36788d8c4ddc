"""Judging at random, with or without a look at the truth."""

import numpy as np

from skfilterrank._estimators.ranker_mixin import all_or_nothing
from skfilterrank._lists.checks import check_choice
from skfilterrank._lists.gains import as_gains, check_gains
from skfilterrank.exceptions import InputError
from skfilterrank.judgments._selector import TopicSelector


class RandomSelector(TopicSelector):
    """Judge the documents of each topic in random order.

    The baseline that every strategy should beat. With ``oracle=True`` it is given an advantage no
    strategy can have in practice: it knows which documents are relevant, and judges relevant and
    other documents in the proportion in which they stand in the pool.

    Parameters
    ----------
    oracle : bool, default=False
        Whether to look at the truth: `fit` then needs the true labels `y`. Only for experiments on
        documents that are all judged already.
    gains : None, "exp2", dict or callable, default=None
        With ``oracle=True``, from labels to gains; a document is relevant where its gain is above
        0. None takes the label as the gain.
    random_state : int, RandomState instance or None, default=None
        Where the random order comes from. An int repeats it in every fit.
    n_jobs : int, default=None
        Number of topics that are ranked at once. The ranking is the same for any.
    verbose : int, default=0
        Above 0 shows the progress over topics.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_rows,), dtype int64
        Place of each document in the order of judging, from 1, within its topic.
    gains_ : ndarray of shape (n_rows,), dtype float64
        NaN: chance has no objective.
    seed_ : int
        Seed of the topics' random generators, drawn from `random_state` by `fit`.
    n_features_in_ : int
        Number of features, where X has features.
    feature_names_in_ : ndarray of str
        Names of the features, where X has names that are all strings.

    See Also
    --------
    StatAPSelector : A random sample that prefers what stands high in the runs.

    Notes
    -----
    Without the oracle all orders of a topic's documents are equally likely.

    With it, of a topic's n documents of which r are relevant, ``floor(m * r / n + 1 / 2)`` of
    the first m are relevant, for every m: the number that the proportion says, rounded half up,
    and at least 1 where something is relevant, as a sample without any is of no use. Which
    ones, and in which order, is random within both kinds. Sampling retrospectively from
    relevant and irrelevant documents is how uniform samples are drawn in section 4.2 of [1]_,
    after [2]_. Forbidden documents count as not relevant.

    Of X only the number of rows counts. Each topic has its own random generator by its place among
    the sorted topics.

    References
    ----------
    .. [1] Hui and Berberich, "Selective Labeling and Incomplete Label Mitigation for Low-Cost
       Evaluation".
    .. [2] Buckley and Voorhees, "Retrieval evaluation with incomplete information", SIGIR 2004.

    Examples
    --------
    >>> from skfilterrank.judgments import RandomSelector
    >>> texts, topics = ["cat", "dog", "cow", "hen", "fox", "owl"], [1, 1, 1, 1, 2, 2]
    >>> selector = RandomSelector(random_state=0).fit(texts, groups=topics)
    >>> len(selector.select(n_per_query=1))
    2

    In topic 1 every second document is relevant, and so it is in any half of its pool:

    >>> truth = [1, 0, 1, 0, 0, 0]
    >>> selector = RandomSelector(oracle=True, random_state=0).fit(texts, truth, groups=topics)
    >>> sorted(truth[row] for row in selector.select(share=0.5) if row < 4)
    [0, 1]
    """

    def __init__(self, *, oracle=False, gains=None, random_state=None, n_jobs=None, verbose=0):
        self.oracle = oracle
        self.gains = gains
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @all_or_nothing
    def fit(self, X, y=None, *, groups=None, prior=None) -> "RandomSelector":
        """Rank the documents of each topic at random.

        Parameters
        ----------
        X : list or Series of str, array-like, sparse matrix or DataFrame of length n_rows
            One document per row, topics in any order.
        y : array-like of shape (n_rows,), default=None
            True label of each document, for ``oracle=True`` alone; else not used.
        groups : array-like of shape (n_rows,), default=None
            Topic of each row. None takes the index level "qid" of X, or else of `prior`.
        prior : array-like of shape (n_rows,), default=None
            Not used, but checked.

        Returns
        -------
        self : RandomSelector
            The strategy, fitted.

        Raises
        ------
        ValueError
            If topics are missing, the index of X holds a document twice in a topic, or
            ``oracle=True`` and some true label is missing.
        """
        check_choice(self.oracle, "oracle", (False, True))
        check_gains(self.gains)
        return super().fit(X, y, groups=groups, prior=prior)

    def _prepare_rows(self, X, y, index):
        """Whether each document is known to be relevant: only the oracle knows of any."""
        if not self.oracle:
            return np.zeros(index.n_rows, dtype=bool)
        if y is None:
            raise InputError("y is missing: with oracle=True, pass the true label of each row.")
        gains = as_gains(y, self.gains, name="y")
        if len(gains) != index.n_rows:
            raise InputError(f"y has {len(gains)} entries but X has {index.n_rows} rows.")
        unknown = np.isnan(gains)
        if unknown.any():
            raise InputError(
                f"y holds {np.count_nonzero(unknown)} NaN, the first at row {unknown.argmax()}: "
                "oracle=True needs the true label of every row. Leave unjudged rows out."
            )
        return gains > 0

    def _rank_topic(self, X, prior, random_state):
        """Relevant and other documents, each in random order, where their proportion puts them."""
        n_rows, n_relevant = len(X), np.count_nonzero(X)
        shuffled = random_state.permutation(n_rows)
        places = np.arange(n_rows + 1)
        n_relevant_first = (2 * places * n_relevant + n_rows) // (2 * n_rows)
        n_relevant_first[1:] = np.maximum(n_relevant_first[1:], min(n_relevant, 1))
        is_relevant = np.diff(n_relevant_first) > 0
        order = np.empty(n_rows, dtype=np.int64)
        order[is_relevant] = shuffled[X[shuffled]]
        order[~is_relevant] = shuffled[~X[shuffled]]
        return order, np.full(n_rows, np.nan)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.no_validation = True
        return tags

"""The best threshold on a score at which risks on new queries are kept."""

from typing import Any

import numpy as np

from skfilterrank._base.checks import check_share
from skfilterrank._base.words import warn_user
from skfilterrank._files.rows import rows_in_memory
from skfilterrank._lists.gains import Gains
from skfilterrank.exceptions import FitWarning, InputError
from skfilterrank.thresholds._certificate import UNSEEN, RiskCertificate, make_certificate
from skfilterrank.thresholds._certify import certify, make_tests
from skfilterrank.thresholds._curves import ThresholdCurve
from skfilterrank.thresholds._cuts import Caps
from skfilterrank.thresholds._risk_steps import CountedQueries, Units, warn_of_copies
from skfilterrank.thresholds._risks import find_unjudged, most_shown, read_risks
from skfilterrank.thresholds._tuned import RuledThreshold


class CertifiedThreshold(RuledThreshold):
    """The best threshold on the score at which risks on new queries are kept, with a certificate.

    Over repeated draws of the calibration queries, every risk on new queries is at most its level
    with a probability of at least `confidence_level`. Nothing is assumed about the model or its
    scores.

    Parameters
    ----------
    risks : dict
        Risks with their levels between 0 and 1, such as
        ``{"any_forbidden@5": 0.1, "false_reject_rate": 0.3}``; all are kept at once. A risk is a
        measure between 0 and 1 of which lower is better. "any_forbidden@5": the share of queries
        that show any forbidden document in the top 5. "forbidden@5": the share of the shown top 5
        that is forbidden, 0 where nothing is shown. "false_reject_rate": the share of a query's
        good documents that is hidden, over the queries that have any. "empty_list_rate": the share
        of queries that are shown nothing. Without a cut-off all places count.

        A loss of your own is a measure that :func:`skfilterrank.metrics.register_measure` made with
        ``value_range=(0, 1)`` and ``greater_is_better=False``; NaN (whatever is shown) where a
        query does not count. With ``zero_or_one=True`` it gets the exact binomial test. Others get
        bets, which certify less, even where all losses are 0 or 1: the data cannot tell that no
        other loss will come. Among documents of equal score, the documents of lowest gain count as
        shown first. Give the lowest `gains` to the documents that the loss counts as worst;
        otherwise the order of rows may break the certificate.
    among : {"all", "answered"}, default="all"
        Queries that each risk is a mean over. "all": a query that is shown nothing counts as one
        without a forbidden document, so that showing little keeps such a risk low. "answered": the
        queries that are shown something, so that "forbidden" is 1 minus the precision of what is
        shown if all that is not good is forbidden. "empty_list_rate" always counts all queries.
    confidence_level : float, default=0.95
        Probability with which all risks are kept, between 0 and 1.
    measure : str or None, default=None
        Measure by which the best certified threshold is chosen: a name such as "ndcg_f@10", or a
        measure function. None means "ndcg_f" or, inside RankAndFilter, the measure of
        RankAndFilter.
    rule : {"ratio", "harm"} or None, default=None
        How to hide by a second column of scores, as in :class:`TunedThreshold`; None is "ratio"
        where they are given. "ratio" orders lists by the expected gain, which depends on both
        scores.
    max_shown : int or None, default=None
        Largest number of shown documents of a query.
    gains : None, "exp2", dict or callable, default=None
        Map from labels to gains, as in :func:`skfilterrank.metrics.ndcg_f_score`. Gains below 0
        mark forbidden documents, gains above 0 good ones.

    Attributes
    ----------
    threshold_ : float or None
        Rows with ``score >= threshold_`` are shown, up to the cap; None with two scores.
    certificate_ : RiskCertificate
        The certificate; its `str` states it in words.
    threshold_curve_ : ThresholdCurve
        The measure at every threshold.
    best_score_ : float
        The measure at the threshold, negated where lower is better.
    cut_ : Cut
        How scores become keys, as in :class:`TunedThreshold`.
    measure_ : str
        Name of the measure with its cut-off.

    See Also
    --------
    TunedThreshold : The optimal threshold, without a certificate.
    risk_certificate : The certificate of a given threshold.
    RiskMonitor : Watches whether the certificate still holds.

    Notes
    -----
    The method is Learn then Test [1]_ with fixed-sequence testing, and the unit is the query.
    Queries are assumed to be independent draws from one distribution; documents of a query may
    depend on each other in any way. If queries depend on each other, such as the queries of one
    user, ``fit(..., clusters=)`` makes the cluster the unit. Its loss is the mean of its queries'
    losses, so that each cluster counts once: the risk is that of a query drawn at random from a
    cluster drawn at random. A risk over all queries is another number if large clusters do worse.
    All real thresholds are tested in an order that is fixed beforehand, from the safest on: from
    +inf downwards for forbidden documents, from -inf upwards for false rejects. The test stops at
    the first threshold at which "the risk is above its level" cannot be rejected. All before it are
    certified at once, so that the data may also choose among them.

    No grid of thresholds is chosen by the data. The loss of a query changes at the scores of its
    documents only, so that one test for each distinct calibration score tests every real number.
    To certify a bad threshold, the test must pass all bad ones before it. The first of these is
    fixed by the distribution, and is falsely rejected with a probability of at most
    ``1 - confidence_level``. (If there is no first one, thresholds arbitrarily near to the lowest
    bound of the bad ones take its place.) Risks need not be monotone: the forbidden share of the
    shown documents falls when a good document enters a list. Thresholds behind the first bad one
    are never certified, which is safe.

    **Among answered queries.** With A = 1 where a query shows something, the risk is
    E[A (loss - level)] <= 0, and so a query without an answer counts as one whose loss is the
    level. For losses of 0 or 1 the test is exact binomial among the answered queries. Given which
    queries these are, their losses are independent draws with the risk as their mean, so that the
    test is valid at each threshold, however A and the risk change from one to the next; more is not
    needed of a fixed sequence. Bets on other losses are neither won nor lost without an answer.

    With few answered queries no test can reject, so that the sequence of tests cannot begin at
    +inf. Let Q be the threshold at which a certain share of all queries is answered. It is unknown,
    but fixed. The walk begins at an order statistic of the best score of each query that lies below
    Q with a probability of at most a twentieth of the error. A second order statistic lies above Q
    as seldom, and no threshold above it is certified. From Q on the sequence is fixed, and is
    tested with the other nine tenths. So small shares of answers are never certified, and it is an
    error if no threshold is.

    Several risks that are safe at the same end are each tested with the whole error: the first bad
    threshold is bad for one of them, and only the test of this risk must err. Risks that are safe
    at opposite ends, as forbidden documents and false rejects are, get half of the error each. So
    does each end of a loss that is lower for some queries where nothing is shown and for others
    where everything is: its test begins at the end with the lower mean, which the data choose.

    The test is exact binomial (Clopper-Pearson) where losses are declared as 0 or 1: by the measure
    ("any_forbidden", "forbidden@1", "empty_list_rate", and what
    :func:`skfilterrank.metrics.register_measure` gets with ``zero_or_one=True``). For other losses
    it is that of Waudby-Smith and Ramdas [2]_, with bets fixed beforehand and in a random order of
    the queries, which the order of their scores decides: neither ids, nor the order of rows, nor
    labels. Both hold for any number of queries.

    Among tied documents, the documents of lowest gain count as shown first, at the cut-off of a
    risk and at the end of a list. The certificate therefore holds for any order of rows, in
    calibration and later. For a loss of your own this is true only if documents of the lowest gain
    lose most.

    Documents behind the cut-off of a risk are not covered. So the certificate is for lists of at
    most ``certificate_.facts["max_shown"]`` documents, the smallest cut-off of all risks. Each risk
    is tested on lists that end there. "false_reject_rate" and "empty_list_rate" have no cut-off,
    but a good document behind the last shown place counts as hidden. `predict` shows no more than
    that.

    With :class:`skfilterrank.io.Rows` all labels, scores and query ids are kept in memory, some 24
    bytes a row: the losses of all queries are needed at once. A certificate seldom gains by more
    than 1e5 queries, so calibrate on a sample. `to_judge` numbers rows in the order of reading.

    The threshold lies in the middle between the lowest score to show and the next lower one.

    **Missing labels.** Unjudged documents of a query that has labels count as shown, and as neither
    forbidden nor good. If labels of some unjudged documents could change a risk, there is a
    warning, and `certificate_.to_judge` lists these documents. They can be among the first places
    above the lowest certified threshold, or they can be good and hidden.

    A query without any label counts where its loss is known. "empty_list_rate" needs no label. For
    risks of what is shown, a query that shows nothing loses nothing. Labels are often given only to
    what an old threshold has shown. So no level below the lowest score of a judged document is
    certified, if lists show more there, and the queries that count are the same at all levels above
    it. Left out are the queries without labels that show something at that score. Of those that
    show nothing there the same share is left out, since lists that show something would be too few
    otherwise. The others are like a random draw of all queries if the labelled ones are like a
    random draw of those that show something. For "false_reject_rate" and your own losses, all
    queries without labels are left out. ``certificate_.facts["n_left_out"]`` is their number. A
    warning names it, and says so if their best scores are unlike those of the labelled ones
    (Kolmogorov-Smirnov test at 1 %). Exact copies of queries are no draws of their own: a warning
    comes if they are more than 2 %.

    **Two scores.** A rule is a path in one parameter from showing nothing to showing everything,
    and is tested from the safest point on, as above; the risk need not be monotone along it. The
    test is valid if the path does not depend on the labels that it is tested on. So the curves of
    r and h are learned from a tenth of the queries (up to a half where that has fewer than 1,000
    rows), drawn by their scores, and the others are tested.
    Out-of-fold curves are no alternative: each fold would have a path of its own, and none of
    these is in use later. "harm" needs no curve: its path is the order of the second scores, so
    that all queries are tested.

    References
    ----------
    .. [1] Angelopoulos, Bates, Candès, Jordan and Lei, "Learn then Test: Calibrating Predictive
       Algorithms to Achieve Risk Control", Annals of Applied Statistics 19(2), 2025,
       https://arxiv.org/abs/2110.01052.
    .. [2] Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting",
       Journal of the Royal Statistical Society B 86(1), 2024, https://arxiv.org/abs/2010.09686.

    Examples
    --------
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.thresholds import CertifiedThreshold
    >>> _, y, groups, scores = make_rank_and_filter(1000, random_state=0)
    >>> safe = CertifiedThreshold({"any_forbidden@3": 0.1}, measure="ndcg_f@3")
    >>> print(safe.fit(scores, y, groups=groups).certificate_)
    With confidence 0.95, the share of queries with a forbidden document in the shown top 3 is ...

    Two risks at once:

    >>> both = CertifiedThreshold({"any_forbidden@3": 0.15, "false_reject_rate": 0.3})
    >>> list(both.fit(scores, y, groups=groups).certificate_.risks)
    ['any_forbidden@3', 'false_reject_rate']

    The rate among the queries that are shown something:

    >>> shown = CertifiedThreshold({"any_forbidden@3": 0.15}, among="answered")
    >>> certificate = shown.fit(scores, y, groups=groups).certificate_
    >>> print(certificate)
    With confidence 0.95, the share of answered queries with a forbidden document in the shown top
    3 is at most 0.15 on new queries, at threshold ...: on ... answered calibration queries ...
    """

    certificate_: RiskCertificate

    is_calibrated = True
    # A certificate does not cover documents that are shown at any score.
    min_shown = keep_if = None

    def __init__(
        self,
        risks: Any,
        *,
        confidence_level: float = 0.95,
        among: str = "all",
        measure: Any = None,
        rule: str | None = None,
        max_shown: int | None = None,
        gains: Gains = None,
    ) -> None:
        self.risks = risks
        self.confidence_level = confidence_level
        self.among = among
        self.measure = measure
        self.rule = rule
        self.max_shown = max_shown
        self.gains = gains

    def check_parameters(self) -> None:
        """Raise a ValueError for parameters that are out of range or exclude each other."""
        super().check_parameters()
        self._read_risks()
        check_share(self.confidence_level, "confidence_level")

    def _read_risks(self):
        return read_risks(self.risks, self.among)

    def _most_shown(self):
        return most_shown(self._read_risks(), self.max_shown)

    def _fit_rows(self, rows):
        groups, labels, scores = rows_in_memory(rows)
        return self.fit(scores, labels, groups=groups)

    def _find_level(self, judged, parsed):
        _check_each_once(judged)
        cut, most = self.cut_, self.caps_.most
        judged, n_apart = cut.learn_apart(judged)
        found = cut.capped(
            cut.served_keys(judged.scores, judged.more, judged.index), judged.index, self.caps_
        )
        # A measure that ends before the cap is that of whole lists.
        is_whole = cut.is_score and (most is None or (parsed.k is not None and parsed.k <= most))
        entries = cut.entries(judged, found, parsed, Caps() if is_whole else self.caps_)
        self.threshold_curve_ = ThresholdCurve.of(entries, parsed)
        lists = cut.lists_of(judged, found)
        levels, given = lists.scores, {}
        if not cut.is_score:
            levels, given = found.keys, {"keys": found.keys, "most": most}
        units = Units.of(judged.index, levels, judged.clusters, judged.unit)
        counted = CountedQueries.with_labels(lists, levels, units.answer_at)
        risks = self._read_risks()
        every = [risk.steps(lists, counts=counted.of(risk), **given) for risk in risks]
        tests = make_tests(risks, every, units, self.confidence_level, most, counted)
        between = judged.scores if is_whole else levels
        threshold, value = certify(tests, self.threshold_curve_, levels, between=between)
        counted.warn(risks, units.answer_at)
        warn_of_copies(judged.lists, judged.clusters)
        to_judge = find_unjudged(
            lists,
            risks,
            scores=judged.scores if cut.is_score else levels,
            most=most if cut.is_score else None,
            above=max(test.lower for test in tests),
            names=judged.names,
            anywhere=not cut.is_score,
        )
        shown = cut.shown(found, threshold, judged.index, self.caps_) > -np.inf
        certificate = make_certificate(
            {test.risk.name: test.found(threshold) for test in tests},
            *(units, lists, threshold, parsed.higher_better(value)),
            confidence_level=self.confidence_level,
            to_judge=to_judge,
            max_shown=most,
            shown=shown,
            rule=cut.rule,
            n_apart=n_apart,
        )
        # The queries that the model of the scores has seen are not known.
        self.certificate_ = certificate.with_conditions(UNSEEN)
        self.level_ = threshold
        _warn_if_all_hidden(shown, levels, judged)
        return judged, found, entries

    def _compare(self, judged, parsed, found, entries, values):
        """Compare nothing: the certificate holds the bounds for new queries."""

    def rows_as_queries(self, n_rows) -> np.ndarray:
        """Raise, since the queries are what is certified."""
        raise InputError(
            "groups is missing: CertifiedThreshold certifies risks over queries. Pass the query id "
            "of each row, or groups=np.arange(len(y)) where each row really is a query of its own."
        )


def _warn_if_all_hidden(shown, keys, judged):
    """Warn where nothing is shown, though there is something good."""
    if not shown.any() and ((judged.gains > 0) & (keys > -np.inf)).any():
        warn_user(
            "the best certified threshold hides every document, though some have a gain above 0. "
            "Check the sign of the scores (higher must be better) and {gains=}, allow higher "
            "risks, or judge more queries.",
            FitWarning,
            argument="gains=",
        )


def _check_each_once(judged):
    """Raise for lists of one query, each of which a certificate would count."""
    n_lists = np.bincount(judged.clusters)
    if judged.unit is None and (n_shared := np.count_nonzero(n_lists > 1)):
        raise InputError(
            f"{n_shared} queries occur several times, as cross-validation holds them out "
            "repeatedly, and a certificate counts each once. Use splits that hold out a query "
            "once at most, such as cv=0.3 or GroupKFold."
        )

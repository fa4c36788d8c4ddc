"""Certificates of thresholds, for tests that look at many."""

import io
from types import SimpleNamespace

import numpy as np
from hypothesis import strategies as st

from skfilterrank._lists.content import by_content, hash_scores
from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.measure import MEASURES
from skfilterrank._lists.prefixes import Ranking
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.metrics import false_reject_rate, forbidden_at_k, register_measure
from skfilterrank.thresholds import UNSEEN, CertifiedThreshold, load_threshold

NO = -np.inf
SEEN = UNSEEN._replace(value=False, sentence="")


def certified(y_true, y_score, risks, *, groups=None, **params):
    """The certificate of the best threshold at which risks are kept."""
    threshold = CertifiedThreshold(risks, **params)
    return threshold.fit(y_score, y_true, groups=groups).certificate_


def copy_of(model):
    """The threshold as its file keeps it."""
    file = io.StringIO()
    model.save(file)
    return load_threshold(io.StringIO(file.getvalue()))


def only(certificate):
    """The only risk of a certificate, and the threshold."""
    (risk,) = certificate.risks.values()
    fields = {name: value for name, value in vars(risk).items() if name != "lower_bound"}
    is_upward = risk.risk == "false_reject_rate"
    fields["limit"] = risk.upper if is_upward else risk.lower
    names = ("threshold", "value", "confidence_level")
    own = {name: getattr(certificate, name) for name in names}
    return SimpleNamespace(**certificate.facts | fields | own, text=str(certificate))


def promise_at(*args, **params):
    """The only risk of the best threshold at which a risk is kept, of scores by any model."""
    return only(certified(*args, **params).with_conditions(SEEN))


def own_loss(function, **declared):
    """A function as a measure that can be a risk, and that the table forgets at once."""
    facts = {"value_range": (0, 1), "greater_is_better": False}
    made = register_measure("own_loss", function, **facts | {"zero_or_one": True} | declared)
    del MEASURES["own_loss"]
    return made


def risks_at(risk, level, k=None) -> dict:
    """A risk with its level, and with a cut-off where it can have one."""
    has_cutoff = k is not None and risk in ("any_forbidden", "forbidden")
    return {f"{risk}@{k}" if has_cutoff else risk: level}


def numbered(groups, scores, labels, *filter_scores):
    """Number of the query of each row, in the order of content."""
    counts, every = ~np.isnan(labels), np.ones(len(labels), dtype=bool)
    judged, all_rows = (hash_scores(each, scores, *filter_scores) for each in (counts, every))
    return by_content(GroupIndex.from_groups(groups), judged, all_rows, labels)[0].codes()


def counted_and_limit(y_true, y_score, groups, k):
    """Queries that count for a risk of what is shown, and the limit of levels with labels, by hand.

    Only documents that could be among the first k places can be shown.
    """
    lists = RankedLists(y_true, y_score, groups=groups)
    if k is not None:
        ranking = Ranking(lists.scores, lists.index, lists.gains)
        is_hidden = ranking.by_row(ranking.place) >= k
        lists = lists.with_scores(np.where(is_hidden, NO, lists.scores))
    scores, judged = lists.scores.astype(float), ~np.isnan(y_true)
    lowest = scores.min(where=judged & (scores > NO), initial=np.inf)
    own = [groups == query for query in np.unique(groups)]
    has_label = np.array([judged[rows].any() for rows in own])
    shows = np.array([(scores[rows] >= lowest).any() for rows in own])
    empty, n_drawn = np.flatnonzero(~has_label & ~shows), np.count_nonzero(~has_label & ~shows)
    if n_left_out := np.count_nonzero(~has_label & shows):
        n_judged = np.count_nonzero(has_label & shows)
        n_drawn = n_judged * np.count_nonzero(~shows) // (n_judged + n_left_out)
        n_drawn = max(0, n_drawn - np.count_nonzero(has_label & ~shows))
    counts = has_label.copy()
    counts[empty[np.linspace(0, len(empty) - 1, n_drawn).round().astype(int)]] = True
    below = [scores[rows][scores[rows] < lowest] for rows, each in zip(own, counts) if each]
    return counts, max((each.max(initial=NO) for each in below), default=NO)


def rates(risk, y_true, y_score, groups, threshold, k, counts=None):
    """Rate of each query that counts when documents below a threshold are hidden.

    `counts` is a mask of the queries that count for a risk of what is shown; None means those with
    a judged document.
    """
    kept = np.where(y_score >= threshold, y_score, NO)
    params = {"groups": groups}
    if risk == "false_reject_rate":
        values = false_reject_rate.per_query(y_true, kept, undefined="drop", **params)
        return values[~np.isnan(values)]
    if counts is None:
        counts = [(~np.isnan(y_true[groups == q])).any() for q in np.unique(groups)]
    values = forbidden_at_k.per_query(y_true, kept, k=k, ties="worst", **params)[np.array(counts)]
    return (values > 0).astype(float) if risk == "any_forbidden" else values


def real_thresholds(y_score):
    """Every distinct score, and numbers between, below and above them, ascending."""
    distinct = np.unique(y_score[np.isfinite(y_score)])
    between = distinct[:-1] / 2 + distinct[1:] / 2
    return np.unique(np.concatenate([[NO, -2e3, 2e3, np.inf], distinct, between]))


LABEL = st.sampled_from([-10.0, -1.0, 0.0, 1.0, 1.0, 2.0, np.nan])
SCORE = st.sampled_from([NO, -1.0, 0.0, 0.25, 0.5, 0.5, 1.5, 2.0, 3.0])


@st.composite
def judged_rows(draw, label=LABEL, score=SCORE, most=8):
    """Labels, scores and queries with ties in and across queries, filtered and unjudged rows."""
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=most))
    groups = draw(st.permutations([query for query, n in enumerate(sizes) for _ in range(n)]))
    n = len(groups)
    y_true = draw(st.lists(label, min_size=n, max_size=n))
    y_score = draw(st.lists(score, min_size=n, max_size=n))
    return np.array(y_true), np.array(y_score), np.array(groups)

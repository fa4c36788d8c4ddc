"""What must not change any measure, and what every measure must take."""

import pickle
from dataclasses import replace
from itertools import islice, pairwise, permutations, product
from math import factorial, prod

import numpy as np
import pandas as pd
from joblib import wrap_non_picklable_objects
from sklearn.base import BaseEstimator, RegressorMixin

from skfilterrank._lists.scoring import OVER_QUERIES
from skfilterrank.metrics import evaluate, get_measure, make_ranking_scorer
from skfilterrank.testing._first_measure_checks import cutoffs
from skfilterrank.testing._rows import NO, Rows, same, score
from skfilterrank.thresholds import threshold_curve

_MOST_ORDERS = 24
_MOST_ALONE = 8


def check_order_of_rows(measure, rows):
    """Rows may come in any order, whatever rule there is for ties."""
    order = rows.order
    moved = replace(
        rows, y_true=rows.y_true[order], y_score=rows.y_score[order], groups=rows.groups[order]
    )
    for ties in (*measure.measure.ties, "ids"):
        if ties != "stable":
            expected = score(measure, rows, ties=rows.ids if ties == "ids" else ties)
            actual = score(measure, moved, ties=rows.ids[order] if ties == "ids" else ties)
            same(actual, expected, f"ties={ties!r}")


def check_stable_ties(measure, rows):
    """With stable ties, the order of a query's own rows is all that matters."""
    together = np.argsort(rows.groups, kind="stable")
    actual = score(
        measure,
        rows,
        y_true=rows.y_true[together],
        y_score=rows.y_score[together],
        groups=rows.groups[together],
        ties="stable",
    )
    same(actual, score(measure, rows, ties="stable"))


def check_names_of_queries(measure, rows):
    """Queries may have any names, numbers or texts; values come in the order of the names."""
    expected = score(measure, rows)
    # "q0", "q1", "q10", ...: sorted as text they come in another order.
    for names in (np.array([f"q{query}" for query in rows.groups]), -1000 - 7 * rows.groups):
        _, first = np.unique(names, return_index=True)
        for given in (names, names.tolist()):
            same(score(measure, rows, groups=given), expected[rows.groups[first]])


def check_names_of_documents(measure, rows):
    """Document ids break ties by their order alone, numbers or texts."""
    expected = score(measure, rows, ties=rows.ids)
    same(score(measure, rows, ties=3 * rows.ids - 50), expected)
    same(score(measure, rows, ties=[f"d{document:05d}" for document in rows.ids]), expected)


def check_query_ids_in_the_index(measure, rows):
    """Query ids may stand in an index level "qid"."""
    expected = score(measure, rows)
    y_true = pd.Series(rows.y_true, index=pd.Index(rows.groups, name="qid"))
    same(score(measure, rows, y_true=y_true, groups=None), expected)
    both = pd.MultiIndex.from_arrays([rows.ids, rows.groups], names=["docno", "qid"])
    joined = {"y_true": y_true.set_axis(both), "y_score": pd.Series(rows.y_score, index=both)}
    same(score(measure, rows, **joined, groups=None), expected)


def check_scale_of_scores(measure, rows):
    """Scores matter by their order alone."""
    expected = score(measure, rows)
    for rescale in (
        lambda s: s + 100,
        lambda s: 2 * s - 7,
        np.exp,
        lambda s: s**3,
        lambda s: 1e-300 * s,
    ):
        scores = np.where(rows.y_score == NO, NO, rescale(np.maximum(rows.y_score, -9)))
        same(score(measure, rows, y_score=scores), expected)


def check_types_of_scores(measure, rows):
    """Scores may be of any type of numbers, in any container."""
    expected = score(measure, rows)
    for dtype in (np.float16, np.float32, np.longdouble, object):
        same(score(measure, rows, y_score=rows.y_score.astype(dtype)), expected)
    for container in (list, tuple, pd.Series, lambda scores: np.array(scores)[:, None]):
        same(score(measure, rows, y_score=container(rows.y_score)), expected)
    # Without -inf; the shorter lists of a block must not be padded with a real score.
    whole = rows.y_score > 0
    expected = score(measure, rows, y_score=whole.astype(float))
    for dtype in (np.int8, np.uint8, np.int64, bool):
        same(score(measure, rows, y_score=whole.astype(dtype)), expected)


def check_queries_alone(measure, rows):
    """The value of a query does not depend on the others."""
    alone = []
    for query in range(min(rows.n_queries, _MOST_ALONE)):
        mine = rows.groups == query
        given = {"y_true": rows.y_true[mine], "y_score": rows.y_score[mine]}
        alone.append(score(measure, rows, **given, groups=rows.groups[mine])[0])
    same(score(measure, rows)[: len(alone)], alone, "the queries at once instead of one by one")


def check_further_queries(measure, rows):
    """The same queries once more, one that shows nothing and one that nobody judged."""
    n_queries, others = rows.n_queries, rows.y_true[:5]
    size = len(others)
    actual = score(
        measure,
        rows,
        y_true=np.concatenate([rows.y_true, rows.y_true, others, np.full(size, np.nan)]),
        y_score=np.concatenate([rows.y_score, rows.y_score, np.full(size, NO), np.arange(size)]),
        groups=np.concatenate(
            [rows.groups, rows.groups + n_queries, np.repeat([2, 3], size) * n_queries]
        ),
    )
    same(actual[: 2 * n_queries], np.tile(score(measure, rows), 2))


def check_mean(measure, rows):
    """The mean, or what the table says there is instead, is that of the values per query."""
    values = score(measure, rows)
    over_queries = OVER_QUERIES[measure.measure.over_queries]
    mean = score(measure, rows, average="mean")
    assert isinstance(mean, float), f"average='mean' must give a float, got {type(mean).__name__}"
    same(mean, over_queries(values))
    filled = np.where(np.isnan(values), 0.25, values)
    same(score(measure, rows, undefined=0.25), filled)
    same(score(measure, rows, undefined=0.25, average="mean"), over_queries(filled))


def check_gains_of_labels(measure, rows):
    """Labels may be words that have gains, and gains a function of labels."""
    expected = score(measure, rows)
    words = {label: f"label {label}" for label in np.unique(rows.y_true[~np.isnan(rows.y_true)])}
    labels = pd.Series(rows.y_true).map(words)
    same(score(measure, rows, y_true=labels, gains={words[x]: x for x in words}), expected)
    exp2 = np.where(rows.y_true > 0, 2**rows.y_true - 1, rows.y_true)
    same(score(measure, rows, gains="exp2"), score(measure, rows, y_true=exp2))


def check_nothing_is_written_to(measure, rows):
    """Arrays of the caller stay as they are, and may be read-only."""
    arrays = [array.copy() for array in (rows.y_true, rows.y_score, rows.groups, rows.ids)]
    for array in arrays:
        array.flags.writeable = False
    given = dict(zip(("y_true", "y_score", "groups", "ties"), arrays))
    for unjudged in ("zero", "drop"):
        score(measure, rows, unjudged=unjudged, **given)
    for array, before in zip(arrays, (rows.y_true, rows.y_score, rows.groups, rows.ids)):
        np.testing.assert_array_equal(array, before)


def check_other_measures(measure, rows):
    """Measures that are evaluated after it in one call keep their values."""
    others = [name for name in ("ap", "ndcg_f") if name != measure.text]
    given = {"groups": rows.groups, "undefined": "drop"}
    alone = evaluate(rows.y_true, rows.y_score, others, **given)
    after = evaluate(rows.y_true, rows.y_score, [measure, *others], **given)
    same(after[others], alone)


def check_cut_off_beyond_the_list(measure, rows):
    """A cut-off beyond every list is none."""
    if measure.measure.takes_k and measure.k is None:
        expected = score(measure, rows, k=None)
        longest = int(np.bincount(rows.groups).max())
        for k in (longest, longest + 1, 10**6):
            same(score(measure, rows, k=k), expected, f"k={k} instead of none, beyond every list")


def check_worst_and_best_ties(measure, rows):
    """The lowest gain first is no better than the mean, and that no better than the highest."""
    rules = [rule for rule in ("worst", "average", "best") if rule in measure.measure.ties]
    if not measure.measure.greater_is_better:
        rules.reverse()
    values = [score(measure, rows, ties=rule) for rule in rules]
    for (lower, higher), names in zip(pairwise(values), pairwise(rules)):
        assert not (lower > higher + 1e-12).any(), (
            "ties={!r} is above ties={!r}: better documents further up are to be no worse. "
            "Look at the sign of the value, at greater_is_better=, and at what "
            "the function keeps from call to call".format(*names)
        )


def check_average_of_ties(measure, rows):
    """With averaged ties, the value is the mean over all orders of tied documents."""
    if not measure.measure.has_exact_mean:
        return
    # Each query as often as there are orders of its ties, which ids tell.
    queries, cells, ids = [], [], []
    for query in range(rows.n_queries):
        mine = np.flatnonzero(rows.groups == query)
        scores = rows.y_score[mine]
        tied = [np.flatnonzero(scores == value) for value in np.unique(scores) if value > NO]
        if prod(factorial(len(tie)) for tie in tied) <= _MOST_ORDERS:
            for order in product(*(permutations(tie) for tie in tied)):
                place = np.zeros(len(mine), dtype=int)
                for tie, moved in zip(tied, order):
                    place[tie] = moved
                queries.append(query)
                cells.append(mine)
                ids.append(place)
    flat = np.concatenate(cells)
    values = score(
        measure,
        rows,
        y_true=rows.y_true[flat],
        y_score=rows.y_score[flat],
        groups=np.repeat(np.arange(len(cells)), [len(mine) for mine in cells]),
        ties=np.concatenate(ids),
    )
    means = pd.Series(values).groupby(queries).mean()
    same(score(measure, rows, ties="average")[means.index], means)


def check_ties_without_ties(measure, rows):
    """Where no scores are equal, no rule for ties matters."""
    rows = rows.without_ties
    expected = score(measure, rows)
    for ties in ("stable", "worst", "best", -rows.ids):
        same(score(measure, rows, ties=ties), expected)


def check_range(measure, rows):
    """Values lie in the range of the table, for the gains for which it holds."""
    rng = np.random.default_rng(len(rows.groups))
    labels = np.where(np.isnan(rows.y_true), 0.0, rows.y_true)
    # Not above the highest label, which may be the highest that the measure takes.
    gains = labels * rng.uniform(0, 1, len(labels))
    known = measure.measure.range_holds_for
    if known == "nonnegative gains":
        gains = np.minimum(np.abs(gains), max(labels.max(), 0.0))
    elif known == "binary gains":
        gains = (gains > 0).astype(float)
    low, high = measure.measure.value_range
    for unjudged in ("zero", "drop"):
        values = score(measure, rows, y_true=gains, unjudged=unjudged)
        values = values[~np.isnan(values)]
        outside = values[(values < low - 1e-12) | (values > high + 1e-12)]
        assert not outside.size, (
            f"{outside[0]} lies outside of the range {low}, {high}, with gains that "
            f"range_holds_for={known!r} allows: give "
            "register_measure another value_range= or range_holds_for="
        )


def check_filtered_rows(measure, rows):
    """Unjudged documents that are filtered are as good as not there."""
    n_queries = rows.n_queries
    actual = score(
        measure,
        rows,
        y_true=np.append(rows.y_true, np.full(n_queries, np.nan)),
        y_score=np.append(rows.y_score, np.full(n_queries, NO)),
        groups=np.append(rows.groups, np.arange(n_queries)),
    )
    same(actual, score(measure, rows))


def check_dropped_unjudged_rows(measure, rows):
    """With ``unjudged="drop"``, unjudged documents are as good as not there."""
    if measure.measure.reads_unjudged:
        return
    judged = ~np.isnan(rows.y_true)
    actual = score(
        measure,
        rows,
        y_true=rows.y_true[judged],
        y_score=rows.y_score[judged],
        groups=rows.groups[judged],
    )
    same(actual, score(measure, rows, unjudged="drop")[np.unique(rows.groups[judged])])


def check_threshold_curve(measure, rows):
    """At each threshold, the curve has the mean of what the threshold leaves."""
    if measure.measure.over_queries != "mean":
        return
    judged = ~np.isnan(rows.y_true)
    rows = rows.without_ties
    y_true, groups = rows.y_true[judged], rows.groups[judged]
    y_score = rows.ids[judged].astype(float)
    k = rows.k if measure.measure.takes_k and measure.k is None else None
    cutoff = {} if k is None else {"k": k}
    name = measure.text if k is None else f"{measure.text}@{k}"
    curve = threshold_curve(y_true, y_score, groups=groups, measure=name)
    for threshold, value in islice(zip(curve.thresholds, curve.values), None, None, 17):
        shown = np.where(y_score >= threshold, y_score, NO)
        expected = measure(y_true, shown, groups=groups, average=None, **cutoff).mean()
        same(value, expected, f"threshold={threshold}", rtol=1e-9)


class _Scores(RegressorMixin, BaseEstimator):
    """A regressor that predicts what it is given."""

    def predict(self, X):
        """The first column."""
        return X[:, 0]


def check_wherever_measures_are_named(measure, rows):
    """`evaluate` and scorers give the same number."""
    name = measure.text
    if measure.measure.takes_k and measure.k is None and rows.k is not None:
        name = f"{name}@{rows.k}"
    data = {"groups": rows.groups}
    table = evaluate(rows.y_true, rows.y_score, [name], **data, undefined="drop")
    same(table[name], score(measure, rows))
    value = make_ranking_scorer(name)(_Scores(), rows.y_score[:, None], rows.y_true, **data)
    expected = get_measure(name)(rows.y_true, rows.y_score, **data)
    same(value, expected if measure.measure.greater_is_better else -expected)


def check_order_matters(measure, labels):
    """The order of judged documents changes the measure, or not, as the table says."""
    whole = measure._replace(k=None)
    without, cut = cutoffs(whole, 2)[0], cutoffs(whole, 2)[-1]
    in_whole_lists = in_cut_lists = by_label = by_cutoff = False
    for seed in range(6):
        rows = Rows.random(seed, [label for label in labels if not np.isnan(label)])
        (best, worst), (best_cut, worst_cut) = (
            [score(whole, rows, ties=rule, undefined=0.0, **cutoff) for rule in ("best", "worst")]
            for cutoff in (without, cut)
        )
        others = score(whole, rows, y_true=rows.y_true[rows.order], undefined=0.0, **without)
        in_whole_lists |= _differ(best, worst)
        in_cut_lists |= _differ(best_cut, worst_cut)
        by_label |= _differ(best, others)
        by_cutoff |= _differ(best, best_cut)
        if in_whole_lists and (in_cut_lists or by_label):
            break  # More rows would say the same.
    said = measure.measure.order_matters
    found = "always" if in_whole_lists else "with k" if in_cut_lists else "never"
    if not (in_cut_lists or by_label):
        advice = (
            "and labels do not matter either: the function gives a constant, or what it keeps of "
            "another list, unless it counts documents and is to have order_matters='never'"
        )
    elif found == "never" and cut and not by_cutoff:
        advice = (
            "and a cut-off changes nothing: let the function read k, as by block.ranked(values, k)"
            ", or give register_measure takes_k=False and order_matters='never'"
        )
    else:
        advice = (
            f"give register_measure order_matters={found!r}, or labels that the measure tells apart"
        )
    assert found == said, (
        f"the table says order_matters={said!r}, but of the labels {labels} it is {found!r}: "
        f"{advice}"
    )


def _differ(values, others):
    """Whether any value is another."""
    return bool((np.abs(values - others) > 1e-12).any())


def check_pickle_and_repr(measure, labels):
    """It may be sent to processes, as joblib does, and its `repr` reads back."""
    for one in (measure, measure.measure):
        assert _sent(one) == one, f"{one!r} is another after pickling"
        assert eval(repr(one), {"get_measure": get_measure}) == one, f"{one!r} reads as another"
    scorer = make_ranking_scorer(measure)
    names = {"make_ranking_scorer": make_ranking_scorer}
    assert _sent(scorer) == eval(repr(scorer), names) == scorer


def _sent(thing):
    """What another process gets."""
    return pickle.loads(pickle.dumps(wrap_non_picklable_objects(thing, keep_wrapper=False)))


OF_ROWS = (
    check_order_of_rows,
    check_stable_ties,
    check_names_of_queries,
    check_names_of_documents,
    check_query_ids_in_the_index,
    check_scale_of_scores,
    check_types_of_scores,
    check_queries_alone,
    check_further_queries,
    check_mean,
    check_gains_of_labels,
    check_nothing_is_written_to,
    check_other_measures,
    check_cut_off_beyond_the_list,
    check_worst_and_best_ties,
    check_average_of_ties,
    check_ties_without_ties,
    check_range,
    check_filtered_rows,
    check_dropped_unjudged_rows,
    check_threshold_curve,
    check_wherever_measures_are_named,
)
# These are about the rows as a whole, not about what each list is like: some will do.
OF_SOME_ROWS = (
    check_order_of_rows,
    check_queries_alone,
    check_mean,
    check_cut_off_beyond_the_list,
)
# These are about what holds the rows, and the order that they stand in: any will do.
OF_ANY_ROWS = (
    check_stable_ties,
    check_ties_without_ties,
    check_scale_of_scores,
    check_further_queries,
    check_names_of_queries,
    check_names_of_documents,
    check_query_ids_in_the_index,
    check_types_of_scores,
    check_gains_of_labels,
    check_nothing_is_written_to,
    check_other_measures,
    check_wherever_measures_are_named,
)
OF_LABELS = (check_order_matters, check_pickle_and_repr)

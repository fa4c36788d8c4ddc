"""Samples of documents to judge, with known inclusion probabilities."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from skfilterrank._base.checks import check_choice, check_random_state, is_finite_number
from skfilterrank._base.words import counted
from skfilterrank._lists.gains import as_gains
from skfilterrank._lists.measure_names import parse_measures
from skfilterrank.exceptions import InputError, brief, brief_list
from skfilterrank.judgments._label_model import Prediction
from skfilterrank.judgments._ranked_pool import (
    judged_table,
    ranked_pool,
    rows_to_judge,
    warn_of_outside,
)
from skfilterrank.judgments._selector import (
    check_number_of_documents,
    check_share_of_documents,
    round_half_up,
)
from skfilterrank.judgments._sum_of_labels import SumOfLabels

# Kinds and purposes of samples.
UNITS = ("document", "query")
AIMS = ("differences", "values", "uniform")
# Weight of the mean change over the runs in the size of a document, if the aim is differences of
# sums, in which it cancels. A ratio's divisor is common to all runs, so a ratio needs all of it.
_OF_MEAN = 0.2
# Smallest size, as a share of the mean size, for sums and for ratios: it bounds the weight of a
# document whose size was estimated too small.
_LEAST, _LEAST_OF_RATIOS = 0.15, 0.3
_MOST_GAINS = 12
# Probability that the machine's label says nothing; it bounds the cost of a useless machine.
_OF_CHANCE = 0.2


def draw_sample(
    machine_qrels,
    runs,
    measures,
    *,
    n_total: int | None = None,
    share: float | None = None,
    unit: str = "document",
    aim: str = "differences",
    pool=None,
    judged=None,
    gains=None,
    random_state=None,
) -> pd.DataFrame:
    """Draw the documents that people should judge, with exact inclusion probabilities.

    Parameters
    ----------
    machine_qrels : qrels, dict of name to qrels, or None
        Labels of one judge, or of several by name: paths or data frames. None where there is no
        machine; `pool` says then what can be drawn.
    runs : path, list of paths, or dict of name to run
        The runs that are to be estimated, as :func:`skfilterrank.metrics.evaluate_runs` takes them.
    measures : str or list of str
        What is to be estimated, such as "ndcg@10": documents that cannot change it are not drawn.
    n_total : int
        Number of documents to judge, over all queries; with ``unit="query"`` the number of queries.
    share : float
        Share of the documents, or queries, that can be drawn, in (0, 1], in place of `n_total`.
    unit : {"document", "query"}, default="document"
        "query" draws queries, each as likely as the others, with all their documents: for measures
        of which a sample of documents gives no interval. Where all measures are risks with a
        cut-off, such as "any_forbidden@5", only the documents that a run has among these first
        places are to be judged: no threshold shows others there. With labels filled in, the
        sample serves :meth:`CertifiedThreshold.fit`, and means over its queries estimate those
        over all.
    aim : {"differences", "values", "uniform"}, default="differences"
        Purpose of a sample of documents: differences between runs, or the value of each run.
        "uniform" makes all documents equally likely.
    pool : qrels or data frame, default=None
        Queries and documents that count; labels are not read. None takes those of `machine_qrels`.
    judged : qrels, default=None
        Documents that people have judged already, whoever chose them. They are kept, with
        probability 1, and the sample is drawn from the rest.
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain, as in :func:`skfilterrank.metrics.ndcg_f_score`. A machine's
        label between two of a dict has a gain between theirs.
    random_state : int, RandomState instance or None, default=None
        Source of the random numbers. Pass an int for results that can be repeated: the same int
        and a larger `n_total` continue the sample, whose first documents are the smaller one.

    Returns
    -------
    DataFrame of shape (n_documents, 4)
        Columns "qid", "docno", "label" (NaN: to be judged; else from `judged`) and
        "inclusion_probability", in the order to judge them; those of `judged` come first. With
        labels filled in, it is what :func:`estimate` takes as `qrels`.

    Raises
    ------
    InputError
        If `n_total` is not in range, or so small that some documents could not be drawn; if
        `judged` has documents outside the pool, a run returns none of the pool, a measure gives no
        interval from a sample of documents, or a label of a machine has no gain.

    Warns
    -----
    DataWarning
        If runs return documents outside the pool as high as the measures look (among the first 10
        for those without a cut-off): they cannot be drawn, and count as gain 0.

    See Also
    --------
    estimate : Values with intervals from the labels of the sample.

    Notes
    -----
    The variance of an estimate is smallest where a document's probability is proportional to the
    standard deviation of what its label changes. So its size is the square root of ``sum over runs
    of Var(change)``. A document is taken to have any label up to the one above the machine's,
    because machines label too high. With probability 0.2 it has any label, so that a machine
    without information costs little. With ``aim="differences"``, changes of measures that are
    linear in labels count mostly as far as they differ between runs. No size is below 0.15 of the
    mean, or 0.3 for other measures.

    Documents are dealt to folds, ten or less in a small pool, in an order that their places in the
    runs and their machine labels give; names decide where these are all equal. Each fold is drawn
    from by Tillé's elimination [1]_: sizes and probabilities are exact for every number of
    documents, each sample holds the smaller ones, and folds are drawn from independently, which
    :func:`estimate` needs for calibration without bias. Labels are shared among folds by their
    sizes.

    References
    ----------
    .. [1] Tillé, Y. An elimination procedure for unequal probability sampling without replacement.
       Biometrika 83, 1996.

    Examples
    --------
    >>> import pandas as pd
    >>> from skfilterrank.judgments import draw_sample
    >>> documents = [f"d{i}" for i in range(30)]
    >>> machine = pd.DataFrame({"qid": "1", "docno": documents, "label": [2, 1, 0] * 10})
    >>> run = pd.DataFrame({"qid": "1", "docno": documents, "score": range(30, 0, -1)})
    >>> sample = draw_sample(machine, {"run": run}, "dcg@20", n_total=8, random_state=0)
    >>> sample.columns.tolist()
    ['qid', 'docno', 'label', 'inclusion_probability']
    >>> longer = draw_sample(machine, {"run": run}, "dcg@20", n_total=12, random_state=0)
    >>> bool((longer["docno"][:8] == sample["docno"]).all())
    True
    """
    check_choice(unit, "unit", UNITS)
    check_choice(aim, "aim", AIMS)
    if unit == "query" and aim != AIMS[0]:
        raise InputError(
            "{aim} is of no use with {unit='query'}: each query is as likely as the others.",
            argument=("aim", "unit='query'"),
        )
    pool = ranked_pool(machine_qrels, runs, pool)
    parsed = parse_measures(measures)
    warn_of_outside(pool, parsed)
    random_state = check_random_state(random_state)
    known = None if judged is None else judged_table(judged, "judged")
    if unit == "query":
        # Check the labels now, not after days of judging.
        for name, labels in pool.machine.items():
            as_gains(labels, gains, name=f"machine_qrels ({name})")
        return _draw_queries(pool, parsed, n_total, share, known, random_state)
    sizes = _sizes(pool, parsed, gains, aim)
    certain = np.zeros(len(pool), dtype=bool)
    label = np.full(len(pool), np.nan)
    if known is not None:
        rows = pool.rows_of(known.index, "judged")
        certain[rows], label[rows] = True, known["label"]
        sizes[rows] = 0.0
    n_possible = int(np.count_nonzero(sizes))
    n_draw = _number(n_total, share, n_possible, "documents that can be drawn")
    order, probability = draw_by_folds(sizes, pool.folding, n_draw, random_state)
    probability[certain] = 1.0
    rows = np.concatenate([np.flatnonzero(certain), order])
    return _as_table(pool, rows, label, probability)


def _as_table(pool, rows, label, probability):
    return pd.DataFrame(
        {
            "qid": pool.index.get_level_values("qid")[rows],
            "docno": pool.index.get_level_values("docno")[rows],
            "label": label[rows],
            "inclusion_probability": probability[rows],
        }
    )


def _number(n_total, share, n_possible, what):
    """Return the number to draw."""
    if (n_total is None) == (share is None):
        raise InputError("give either n_total, a number, or share, and not both.")
    if share is not None:
        return max(1, int(round_half_up(check_share_of_documents(share), [n_possible])[0]))
    n_total = check_number_of_documents(n_total, "n_total")
    if n_total > n_possible:
        raise InputError(
            f"{{n_total}} is {n_total:,}, and there are {n_possible:,} {what}: ask for at most so "
            "many.",
            argument="n_total",
        )
    return n_total


def _draw_queries(pool, parsed, n_total, share, known, random_state):
    """Draw some queries, with the documents that can matter to the measures."""
    if known is not None:
        raise InputError(
            "{judged} is of no use with {unit='query'}: queries are drawn whole.",
            argument=("judged", "unit='query'"),
        )
    counts = rows_to_judge(pool, parsed)
    codes = pool.codes[counts]
    # Queries without a list have nothing to judge.
    queries = np.argsort(pool.folding.queries)
    queries = queries[np.isin(queries, codes)]
    n_queries = len(queries)
    n_draw = _number(n_total, share, n_queries, "queries")
    order = queries[random_state.permutation(n_queries)[:n_draw]]
    place = np.full(len(pool.queries), n_queries)
    place[order] = np.arange(n_draw)
    rows = np.flatnonzero(counts)[np.argsort(place[codes], kind="stable")]
    rows = rows[: np.count_nonzero(place[codes] < n_draw)]
    none = np.full(len(pool), np.nan)
    return _as_table(pool, rows, none, np.full(len(pool), n_draw / n_queries))


def draw_by_folds(sizes, folding, n_draw, random_state):
    """Draw from each fold separately: return rows in the order to judge, and all probabilities.

    Independent draws keep the errors of out-of-fold predictions at mean 0 given the predictions.
    """
    drawn = folding.order[sizes[folding.order] > 0]
    folds = folding.folds[drawn]
    members = [drawn[folds == fold] for fold in np.unique(folding.folds)]
    # Webster's rule gives each fold its share; no fold loses a document as the number grows.
    turns = [(np.arange(len(rows)) + 0.5) / max(sizes[rows].sum(), 1e-300) for rows in members]
    by_turn = np.argsort(np.concatenate(turns), kind="stable")
    orders = [rows[elimination_order(sizes[rows], random_state)] for rows in members]
    order = np.concatenate(orders)[by_turn[:n_draw]]
    # Every fold must have its first document, else its documents could not be drawn.
    firsts = np.cumsum([0, *map(len, members)])[:-1][[len(rows) > 0 for rows in members]]
    least = int(np.flatnonzero(np.isin(by_turn, firsts)).max()) + 1
    if n_draw < least:
        raise InputError(
            f"the sample has {counted(n_draw, 'document')}, and with less than {least:,} some "
            f"documents of this pool could not be drawn: ask for at least {least:,} ({{n_total}}).",
            argument="n_total",
        )
    probability = np.zeros(len(sizes))
    for rows in members:
        n = int(np.count_nonzero(np.isin(order, rows)))
        probability[rows] = inclusion_probabilities(sizes[rows], n)
    return order, probability


def _sizes(pool, parsed, gains, aim):
    """Compute the standard deviation of the changes by each label, over runs and measures."""
    distinct, probabilities = _prior_probabilities(pool, gains, _levels(parsed, gains))
    total, influential = np.zeros(len(pool)), np.zeros(len(pool), dtype=bool)
    rows, least = np.arange(len(pool)), _LEAST
    for each in parsed.values():
        form = SumOfLabels(each, pool, distinct)
        if (form.shares == form.shares[0]).all():
            raise InputError(
                f"{brief(each.text)} is the same for the gains {brief_list(distinct.tolist())}: "
                "give {gains} by which it differs, below 0 where documents are forbidden.",
                argument="gains",
            )
        influential |= form.influential()
        least = least if form.is_linear else _LEAST_OF_RATIOS
        expansion = form.expand(Prediction.sure(pool, probabilities))
        own = np.zeros(len(pool))
        for number in range(len(distinct)):
            changes = expansion.changes(rows, np.full(len(rows), number))
            square = (changes**2).sum(axis=1)
            if aim == "differences" and form.is_linear:
                square -= (1 - _OF_MEAN) * changes.sum(axis=1) ** 2 / changes.shape[1]
            own += probabilities[:, number] * np.maximum(square, 0.0)
        total += own / max(own.sum(), 1e-300)
    if not influential.any():
        raise InputError(
            f"no label of the pool can change {', '.join(parsed)} of any run. Bring the ids of "
            "queries and documents of runs and pool to one form."
        )
    sizes = np.sqrt(total)
    sizes = np.maximum(sizes, least * sizes[influential].mean())
    return np.where(influential, 1.0 if aim == "uniform" else sizes, 0.0)


def _levels(parsed, gains):
    """List gains that people may give although the machine does not.

    These are the gains of a dict, and those that "ap(rel=2)" distinguishes.
    """
    readings = [each.measure.own_reading for each in parsed.values()]
    told_apart = [own.rel for own in readings if own is not None and own.rel is not None]
    of_dict = gains.values() if isinstance(gains, Mapping) else ()
    return [*told_apart, *(float(gain) for gain in of_dict if is_finite_number(gain))]


def _with_caution(n):
    """Return probabilities of people's n labels, for each label of the machine and for none.

    All labels up to the next one are equally likely, and any label has some chance.
    """
    given = np.vstack([np.tril(np.ones((n, n)), 1), np.ones(n)])
    given /= given.sum(axis=1, keepdims=True)
    return (1 - _OF_CHANCE) * given + _OF_CHANCE / n


def _prior_probabilities(pool, gains, levels):
    """Return gains, and their probabilities given the machine labels, before people judge."""
    judged = list(pool.machine_gains(gains).values())
    usual = [] if isinstance(gains, Mapping) else [0.0, 1.0]
    labels = np.unique(np.concatenate([*judged, usual, levels]))
    distinct = labels[~np.isnan(labels)]
    if len(distinct) > _MOST_GAINS:
        distinct = np.union1d(np.linspace(distinct[0], distinct[-1], 5), levels)
    n = len(distinct)
    given, probabilities = _with_caution(n), np.zeros((len(pool), n))
    for labels in judged or [np.full(len(pool), np.nan)]:
        nearest = np.abs(labels[:, None] - distinct).argmin(axis=1)
        probabilities += given[np.where(np.isnan(labels), n, nearest)]
    return distinct, probabilities / probabilities.sum(axis=1, keepdims=True)


def inclusion_probabilities(sizes: np.ndarray, n: int) -> np.ndarray:
    """Compute inclusion probabilities of n documents: n times the share of the sizes, at most 1.

    Documents of size 0 have 0; n must not be above the number of the others.
    """
    sizes = np.asarray(sizes, dtype=np.float64)
    order = np.argsort(-sizes, kind="stable")
    ordered = sizes[order]
    rest = np.cumsum(ordered[::-1])[::-1]
    places = np.arange(len(sizes))
    # First row whose probability is below 1 if all rows before it are certain.
    below = (ordered * (n - places) < rest) | (places >= n)
    n_certain = int(below.argmax()) if below.any() else len(sizes)
    ordered_probability = np.ones(len(sizes))
    tail = rest[n_certain] if n_certain < len(sizes) else 0.0
    if tail > 0:
        ordered_probability[n_certain:] = (n - n_certain) * ordered[n_certain:] / tail
    else:
        ordered_probability[n_certain:] = 0.0
    # Rounded sums may leave certain documents at a little less than 1.
    ordered_probability[ordered_probability > 1 - 1e-9] = 1.0
    probability = np.empty(len(sizes))
    probability[order] = ordered_probability
    return probability


def elimination_order(sizes: np.ndarray, random_state) -> np.ndarray:
    """Order rows of sizes above 0 for judging, so that the first n are a sample for every n.

    Elimination sampling (Tillé, Biometrika 83, 1996) begins with all documents and takes out one
    after the other. The n that are left have inclusion probabilities proportional to their sizes,
    or 1 where that would be more, see :func:`inclusion_probabilities`. Read from its end, the
    order of elimination is an order to judge in: judging may stop, or go on, at any n. Joint
    probabilities have a closed form and satisfy pi_ij <= pi_i pi_j, which keeps the usual variance
    estimates from being negative.
    """
    rows = np.flatnonzero(sizes > 0)
    rows = rows[np.argsort(sizes[rows], kind="stable")]
    ordered = sizes[rows].tolist()
    n_rows = len(rows)
    sums = np.concatenate(([0.0], np.cumsum(ordered))).tolist()
    lots, places = random_state.uniform(size=(2, n_rows)).tolist()
    # By ascending size, each of the first n_free rows may be taken out by now; `free` holds those
    # of them that are still there.
    free: list[int] = []
    n_free, gone = 0, []
    for n in range(n_rows - 1, -1, -1):
        begin = n_free
        while n_free < n_rows and ordered[n_free] * (n - n_rows + n_free + 1) < sums[n_free + 1]:
            n_free += 1
        lot, out = lots[n], None
        for row in range(begin, n_free):
            # A row that was certain until now stays with its new inclusion probability.
            lot -= 1 - (n - n_rows + n_free) * ordered[row] / sums[n_free]
            if lot < 0:
                out = row
                break
        if out is None and free:
            # All others are equally likely.
            place = int(places[n] * len(free))
            out, free[place] = free[place], free[-1]
            free.pop()
        elif out is None:
            out = n_free - 1
        gone.append(out)
        free.extend(row for row in range(begin, n_free) if row != out)
    return rows[gone[::-1]]

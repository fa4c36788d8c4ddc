"""Values with honest intervals from people's labels of a sample and machines' labels of the rest.

**Two targets.** *These queries*: the value for the given queries if people judged every document of
the pool; only the sample of documents is random. *New queries*: the mean over the population that
the queries were drawn from; the queries are random, too.

**Linear measures.** DCG, precision and RBP are sums over documents of a position weight times a
function of the label. Predict the labels, add the predictions up, and correct by the sample's
errors, each divided by its probability to be drawn (the difference estimator; prediction-powered
inference): unbiased whatever the predictions are, and the narrower the better they are. Predictions
are learned from the sample, each document's from other folds than its own, and folds are drawn
independently of each other, so that learning does not make them biased either.

**Ratios.** nDCG, nDCG_f, AP and recall have a denominator that depends on all labels of a query.
The library declares each of them as a sum over documents, with weights that depend on how many
labels of each grade there are. Its expected value, given the sample's labels and under predicted
probabilities of all others, takes the place of the sum of predictions. The weight is replaced by
the change that one label makes, averaged over the other labels. Each drawn label represents
(1 - pi) / pi documents that were not drawn. For sums this is the difference estimator. Pairs of
labels are corrected for too. A label also changes the predictions of other documents of its query,
and so the point at which its own change is computed, which biases ratios a little. Changes by
predictions that were learned without the label's fold are free of this bias. Values with them vary
twice as much where the sample says little of a query, so that they only tell the bias: intervals
are wider by three quarters of it.

**Everything else** (ERR, RR, lexirecall) needs whole queries: PPI++ over queries. Values that are 0
or 1 in each query (any_forbidden, success) have exact intervals.

**The design.** Elimination sampling (Tillé 1996): exact probabilities for a fixed number of
documents, each sample inside the next, so that judging goes on in batches under the probabilities
of the whole; joint probabilities in closed form, against which the variance approximation is
tested. Inclusion probabilities are proportional to the effect of a document's label times the
machine's uncertainty about it.

**No interval** can be computed from labels that a strategy chose, because the documents it left out
differ from the chosen ones. These labels are kept with inclusion probability 1, and a sample is
drawn from the rest.
"""

from collections.abc import Mapping
from functools import partial

import numpy as np
from scipy.sparse import csr_array

from skfilterrank._base.checks import check_choice, check_share
from skfilterrank._base.results import counted
from skfilterrank._base.words import warn_user
from skfilterrank._files.files import is_path
from skfilterrank._lists.gains import as_gains
from skfilterrank._lists.measure_names import parse_measures
from skfilterrank.exceptions import DataWarning, InputError, brief, brief_list
from skfilterrank.io import QrelsIndex, read_qrels
from skfilterrank.judgments._estimates import (
    Estimates,
    ExactRates,
    MeasureEstimate,
    deviations_of_total,
    shrink,
)
from skfilterrank.judgments._label_model import LabelModel
from skfilterrank.judgments._ranked_pool import (
    UNITS,
    as_table,
    judged_table,
    ranked_pool,
    rows_to_judge,
    warn_of_outside,
)
from skfilterrank.judgments._sum_of_labels import SumOfLabels
from skfilterrank.metrics import evaluate_runs

TARGETS = ("these queries", "new queries")
_MOST_GRADES = 20
# Number of standard errors between a number of documents and its estimate that is no chance.
_SURPRISE = 5.0
# Share of a ratio's estimated bias by which intervals are wider: the estimate varies, too.
_OF_BIAS = 0.75
# Number of documents that a machine and people do not label all alike by chance.
_MANY = 50
# Sums whose coverage is in benchmarks/results/intervals_dl2019.md and intervals_hard.md.
_IN_TABLES = ("dcg", "precision", "rbp")
# Measures that are 0 or 1 in each query.
_ZERO_OR_ONE = "any_forbidden", "success"
# Number of judged queries of each value, 0 and 1, in each run that a normal quantile needs.
_MANY_OF_BOTH = 20


def estimate(
    qrels,
    runs,
    measures,
    *,
    machine_qrels=None,
    pool=None,
    unit: str = "document",
    target: str = "these queries",
    gains=None,
    confidence_level: float = 0.95,
) -> Estimates:
    """Estimate measures of runs, with intervals, where people judged a sample.

    Parameters
    ----------
    qrels : data frame, path or file object
        People's labels of the sample, with a column "inclusion_probability": the table of
        :func:`draw_sample` with its labels filled in, or a file that
        :func:`skfilterrank.io.read_qrels` reads. Rows without a label are left out with a warning,
        because the other rows are not a sample with these probabilities.
    runs : path, list of paths, or dict of name to run
        Runs, in any form that :func:`skfilterrank.metrics.evaluate_runs` accepts. Documents of
        equal score are sorted as in trec_eval; a query that is missing in a run counts as an empty
        list.
    measures : str or list of str
        Names of measures that are sums over documents, such as "dcg@10", "ndcg_f@10",
        "precision@10", "forbidden@10", "rbp", "recall@100" and "ap"; with ``unit="query"``, names
        of any measures. Each may have its own options for labels: "ap(rel=2)".
    machine_qrels : qrels, dict of name to qrels, or None, default=None
        Labels of one machine judge, or of several by name. None uses only people's labels.
    pool : qrels or data frame, default=None
        Queries and documents that count; None means all with a machine label. All other documents
        count as unjudged, with gain 0.
    unit : {"document", "query"}, default="document"
        Unit of the sample: documents, or whole queries with all their documents judged. Of risks
        with a cut-off, such as "any_forbidden@5", those among the first places of the runs do.
    target : {"these queries", "new queries"}, default="these queries"
        Target of the intervals: the value for these queries if people judged all documents of the
        pool, or the mean over the population that these queries were drawn from.
    gains : None, "exp2", dict or callable, default=None
        Map from people's labels to gains, as in :func:`skfilterrank.metrics.ndcg_f_score`. Labels
        of machines are used as classes and may have any scale.
    confidence_level : float, default=0.95
        Confidence level of each single interval.

    Returns
    -------
    Estimates
        `to_frame()` has a row for each measure and run: "value", "low", "high", "standard_error"
        and "shown_to_cover". ``covariance(measure)`` has the covariances of all runs,
        ``compare(measure)`` differences with intervals and p values, and ``order(measure)`` ranks
        with intervals.

    Raises
    ------
    InputError
        If a run returns no document of the pool; if `qrels` has no inclusion probabilities, or they
        cannot be those of a sample of this pool; if it holds labels of machines; if people judged
        documents outside the pool, less than two, or gave all the same gain; if a measure has no
        interval from such a sample.

    Warns
    -----
    DataWarning
        If a machine's labels of 50 documents or more are all those of people, or a file of machine
        labels says that some are people's: these are left out. If runs return documents outside
        the pool as high as the measures look (among the first 10 for those without a cut-off); not
        with ``unit="query"``, where all that people judged may be all there is.

    See Also
    --------
    draw_sample : Draws the documents to judge.

    Notes
    -----
    For a measure that is linear in labels the estimate is the difference estimator of survey
    sampling [1]_, in machine learning known as prediction-powered inference [2]_: with w the
    weight of a document, m its predicted and g its judged gain, and pi its inclusion probability,

    ``sum over the pool of w m  +  sum over the sample of w (g - m) / pi``,

    which is unbiased whatever m is, so that bad predictions only widen the intervals. For ratios
    (nDCG, nDCG_f, AP, recall) the first sum is the expected value given the sample's labels and
    predicted probabilities of the others, and w (g - m) is the change of the value by one label,
    times 1 - pi. Interactions of pairs of labels are corrected for, too. The predictions of other
    documents know the label, which makes the values a little biased. Changes by predictions that do
    not know it give values with less bias, but with more variance: intervals are wider by three
    quarters of the distance to these.
    If everything is judged, the estimate equals the measure.

    With ``unit="query"`` values that are 0 or 1 in each query, those of any_forbidden and success,
    have exact intervals by people's labels alone: hypergeometric for these queries, Clopper and
    Pearson's for new ones. Machine labels are used only if each run has at least 20 judged queries
    of either value. Means of other values have Student's intervals, by PPI++ [2]_.

    No table shows the coverage of intervals of ratios, of sums other than dcg@k, precision@k and
    rbp, of ``target="new queries"`` from documents, and of Student's intervals over queries. Tables
    mark them, see :meth:`Estimates.to_frame`.

    Predictions are those of ridge logistic regressions on the labels of all judges, queries and how
    high the runs rank a document, all together and each by itself, learned from the sample in
    folds: a document's fold does not enter its own prediction. Folds go by places in the runs and
    machine labels, and nothing is left to chance or to names. They are those of :func:`draw_sample`
    where runs and machine labels are those that the sample was drawn for; with others, a bias of
    the order of one label in the sample may remain. Variances are Deville's for fixed-size samples,
    quantiles those of Student's t with as many degrees of freedom as the labels' weights allow.

    References
    ----------
    .. [1] Särndal, Swensson and Wretman, Model Assisted Survey Sampling, 1992, section 6.3.
    .. [2] Angelopoulos, Duchi and Zrnic, "PPI++: Efficient prediction-powered inference", 2023.
    .. [3] Oosterhuis et al., "Reliable confidence intervals for information retrieval evaluation
       using generative A.I.", KDD 2024.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from skfilterrank.judgments import draw_sample, estimate
    >>> rng = np.random.RandomState(0)
    >>> documents = [f"d{i}" for i in range(100)]
    >>> rows = pd.DataFrame({"qid": np.repeat(["1", "2"], 100), "docno": documents * 2})
    >>> people = rows.assign(label=rng.randint(0, 3, 200))
    >>> machine = rows.assign(label=np.minimum(people["label"] + rng.randint(0, 2, 200), 2))
    >>> runs = {name: rows.assign(score=rng.uniform(size=200)) for name in ("a", "b")}
    >>> sample = draw_sample(machine, runs, "dcg@50", n_total=60, random_state=0)
    >>> sample["label"] = sample[["qid", "docno"]].merge(people)["label"]  # an afternoon's work
    >>> estimates = estimate(sample, runs, "dcg@50", machine_qrels=machine)
    >>> estimates
    <Estimates: dcg@50 of 2 runs, 60 of 155 documents judged>
    """
    check_choice(unit, "unit", UNITS)
    check_choice(target, "target", TARGETS)
    confidence_level = check_share(confidence_level, "confidence_level")
    parsed = parse_measures(measures)
    # Check the sample first: its message also names the pool.
    sample, n_open = _sample(qrels)
    ranked = ranked_pool(machine_qrels, runs, pool)
    if target == "new queries" and len(ranked.queries) < 2:
        raise InputError(
            "target='new queries' needs at least two queries, got one, from which nothing can be "
            "said of others."
        )
    if unit == "query" and ranked is runs:
        raise InputError(
            "unit='query' computes values of the runs again, which a RankedPool does not hold: "
            "pass runs, machine_qrels and pool."
        )
    if unit == "query":
        results = _by_queries(runs, sample, parsed, ranked, target, gains)
        numbers = len(sample), int(np.count_nonzero(rows_to_judge(ranked, parsed))), 0
    else:
        results, numbers = _by_documents(sample, n_open, parsed, ranked, target, gains)
    _warn_of_no_width(results, ranked.runs, numbers[0] < numbers[1])
    return Estimates(
        ranked.runs, results, target, unit, confidence_level, *numbers, tuple(ranked.queries)
    )


def _by_documents(sample, n_open, parsed, ranked, target, gains):
    """Estimate each measure from a sample of documents, and count documents of three kinds."""
    rows = ranked.rows_of(sample.index, "qrels")
    warn_of_outside(ranked, parsed)
    _warn_of_copies(ranked, rows, sample["label"].to_numpy())
    probability = sample["inclusion_probability"].to_numpy()
    grades, codes = _grades(sample["label"].to_numpy(), gains)
    forms = {text: SumOfLabels(each, ranked, grades) for text, each in parsed.items()}
    for text, form in forms.items():
        # The labels differ, but this measure gives all of them the same value.
        if len(grades) > 1 and len(np.unique(form.grades)) < 2:
            _check_spread(form.grades, codes, f" for {brief(text)}")
        _check_design(form, rows, probability, n_open)
    if n_open:
        warn_user(
            f"qrels has {counted(n_open, 'document')} without a label. The labelled documents "
            "are not a random sample of them, so that values and intervals are wrong. Judge the "
            "rest, or draw again with the "
            "same random_state and a smaller n_total, the number judged from the first one on.",
            DataWarning,
        )
    is_certain = probability >= 1
    if not is_certain.all():
        _check_spread(grades, codes)

    results, n_queries = {}, len(ranked.queries)
    of_any = np.zeros(len(ranked), dtype=bool)
    labels = rows, codes, probability, is_certain
    for text, form in forms.items():
        of_any |= form.influential()
        of_query, changes, bias = _by_labels(form, labels)
        drawn = deviations = deviations_of_total(changes / n_queries, probability)
        values = of_query.mean(axis=1)
        if target == "new queries":
            deviations = (of_query - values[:, None]).T / np.sqrt(n_queries * (n_queries - 1))
        results[text] = MeasureEstimate(
            values=values,
            deviations=deviations,
            greater_is_better=parsed[text].measure.greater_is_better,
            value_range=parsed[text].measure.range_for(form.grades),
            by_query=of_query,
            shown_to_cover=target == "these queries" and _is_in_tables(form),
            allowance=_OF_BIAS * bias,
            find_order=partial(_order_values, form, labels, values, drawn),
        )
    n_judged = int(np.count_nonzero(of_any[rows]))
    return results, (n_judged, int(np.count_nonzero(of_any)), len(rows) - n_judged)


def _is_in_tables(form):
    """Tell whether benchmarks/results show the coverage of intervals of such a measure."""
    # "precision(rel=2)@10" is precision@10 of other gains.
    parsed = form.plain
    has_depth = parsed.k is not None or parsed.measure.name == "rbp"
    is_sum = form.is_linear and min(form.grades) >= 0
    return parsed.measure.name in _IN_TABLES and has_depth and is_sum


def _guess(form, labels, *, for_order=False):
    """Learn labels of all documents from some judged ones."""
    rows, codes, probability, known = labels
    worth = _position_weights(form)
    if form.slope.any() and not for_order:
        # In average precision pairs of labels interact. Predictions by each run can be so sure that
        # pairs of rare errors make intervals twice as wide, as with runs made from the labels.
        worth = csr_array(worth.mean(axis=1)[:, None])
    # Each measure is estimated separately, so that its value does not depend on the other measures.
    model = LabelModel(form.pool, worth, form.influential(), use_means=not for_order)
    # The narrowest intervals of sums; a ratio needs predictions that are right on average over
    # all documents, which weights of the design give.
    weights = probability ** (-0.5 if form.is_linear else -1.0)
    return model.fit(rows, codes, len(form.grades), known, weights)


def _order_values(form, labels, values, deviations):
    """Move values towards predictions, as far as they do not contradict these."""
    rows, codes, probability, _ = labels
    # All labels say what a machine means, and how much it favours each run.
    learned = _guess(form, (rows, codes, probability, np.full(len(rows), True)), for_order=True)
    steady = form.expand(learned.predict().with_known(rows, codes))
    return shrink(values, deviations.T @ deviations, steady.base.mean(axis=1))


def _by_labels(form, labels):
    """Return values of each query, (n_runs, n_queries), changes by labels, and bias of means."""
    rows, codes, probability, is_certain = labels
    learned = _guess(form, labels)

    def expand(wanted, without=None):
        prediction = learned.predict(without).with_known(rows[is_certain], codes[is_certain])
        return form.expand(prediction, rows, codes, wanted)

    expansion = expand(slice(0))
    # Number of undrawn documents that each drawn label represents.
    weights = (1 - probability) / probability
    of_query = expansion.base.copy()
    changes, of_pairs = expansion.changes(rows, codes), 0.0
    bias = np.zeros(len(of_query))
    if not form.is_linear:
        of_pairs = expansion.pairs(rows, codes, weights)
        # Predictions of other documents know these labels, which biases the values. Changes by
        # predictions that the label's fold did not influence are without this bias, but vary more.
        others = np.zeros(changes.shape)
        folds = np.where(is_certain, -1, form.pool.folding.folds[rows])
        for fold in np.unique(folds[folds >= 0]):
            mine = np.flatnonzero(folds == fold)
            expansion = expand(mine, fold)
            others[mine] = expansion.changes(rows[mine], codes[mine])
            others[mine] += expansion.pairs(rows, codes, weights)[mine] / 2
        bias = weights @ (changes + of_pairs / 2 - others) / of_query.shape[1]
    # A pair is among those of both its documents.
    added = weights[:, None] * (changes + of_pairs / 2)
    np.add.at(of_query.T, form.pool.codes[rows], added)
    return of_query, changes + of_pairs, bias


def _sample(qrels):
    """Read people's labels and their probabilities; count the documents without a label."""
    if is_path(qrels) or hasattr(qrels, "read"):
        qrels = read_qrels(qrels)
    table = judged_table(qrels)
    if "inclusion_probability" not in table:
        raise InputError(
            "qrels has no inclusion probability in a column 'inclusion_probability', so that it is "
            "no sample: labels that a strategy chose (MAXREP, pooling, uncertainty) say "
            "nothing certain of those it left out, and no interval can be had from them alone. "
            "Draw documents by draw_sample(machine_qrels, runs, measures, n_total=..., "
            "judged=qrels): it keeps these labels, and adds a sample of the rest. Where people "
            "judged all that counts, pass qrels.assign(inclusion_probability=1.0), pool=qrels, "
            "unit='query' and target='new queries'."
        )
    if len(table) < 2:
        raise InputError(f"qrels has {counted(len(table), 'label')}: expected at least two.")
    return table, len(as_table(qrels, "qrels")) - len(table)


def _warn_of_no_width(results, runs, is_partial):
    """Warn of intervals without width although not everything is judged."""
    for text, result in results.items():
        is_one_value = np.ptp(result.by_query, axis=1) == 0
        no_width = is_partial & is_one_value & ~result.deviations.any(axis=0)
        no_width &= result.rates is None
        if no_width.any():
            warn_user(
                f"{text}: all judged queries have the same value for "
                f"{brief_list([runs[i] for i in np.flatnonzero(no_width)])}, so that intervals "
                "have no width and need not hold the true value. Judge more.",
                DataWarning,
            )


def _warn_of_copies(pool, rows, labels):
    """Warn of a machine whose labels are all people's: one of the two was copied."""
    for name, machine in pool.machine.items():
        said = machine[rows]
        known = ~np.isnan(said)
        n_known = int(np.count_nonzero(known))
        if n_known >= _MANY and (said == labels)[known].all() and len(np.unique(labels[known])) > 1:
            warn_user(
                f"machine_qrels, judge {brief(name)}, and qrels have the same label of all "
                f"{n_known:,} documents that both judge. If some are copies of the others, as in a "
                "file of completed judgments, or of a machine that learned from these labels, "
                "intervals are too narrow: give what the machine said without knowing them.",
                DataWarning,
            )


def _grades(labels, gains):
    """Return the gains that labels may have, and the number of each label's gain."""
    values = as_gains(labels, gains, name="qrels")
    # All rows that could have been drawn, so that no prediction depends on the sample.
    possible = list(gains.values()) if isinstance(gains, Mapping) else []
    grades = np.unique(np.append(values, possible))
    if len(grades) > _MOST_GRADES:
        raise InputError(
            f"qrels has {len(grades)} different gains, expected at most {_MOST_GRADES}: pass gains "
            "that put labels into grades."
        )
    return grades, np.searchsorted(grades, values)


def _check_spread(grades, codes, reader=""):
    """Raise if all labels are the same."""
    if len(np.unique(grades[codes])) < 2:
        raise InputError(
            f"all {len(codes)} labels of qrels have the gain {grades[codes[0]]:g}{reader}, so "
            "that the share of other gains cannot be estimated, and an interval would have no "
            "width. "
            "Judge more documents: draw_sample with the same random_state and a larger n_total "
            "extends this sample."
        )


def _check_design(form, rows, probability, n_open):
    """Raise an error if the inclusion probabilities contradict the number of documents."""
    influential = form.influential()
    n_possible = int(np.count_nonzero(influential))
    weights = np.zeros(len(form.pool))
    weights[rows] = 1 / probability
    estimated, error, is_odd = _counted(weights, influential)
    if not is_odd:
        return
    if n_open and estimated < n_possible:
        raise InputError(
            f"qrels has {counted(n_open, 'document')} without a label, beside {len(rows):,} with "
            "one. The latter are not a sample with these probabilities. Judge the rest, or draw "
            "again "
            "with the same random_state and a smaller n_total, the number judged from the first "
            "one on: these are that sample, with probabilities of its own."
        )
    text = brief(form.parsed.text)
    why = "Were they drawn from this pool, for this measure?"
    if estimated < n_possible:
        why = "They seem to be drawn for another measure, or a pool, of fewer documents."
        # The sample covers the lists of these runs.
        added = [
            name
            for number, name in enumerate(form.pool.runs)
            if _counted(weights, np.unique(form.row[form.run == number]))[2]
        ]
        if form.is_linear and 0 < len(added) < len(form.pool.runs):
            why = f"They seem to be drawn without {brief_list(added)} among the runs."
        why += (
            " If people judged only the first part of a sample, draw again with the same "
            "random_state and n_total as many as they judged."
        )
    raise InputError(
        f"the inclusion probabilities of qrels are not those of a sample for {text}: by them there "
        f"would be {estimated:,.0f} (± {error:,.0f}) documents whose labels matter, and there are "
        f"{n_possible:,}. {why} Draw by draw_sample(machine_qrels, runs, measures, n_total=..., "
        "judged=qrels), which keeps these labels."
    )


def _counted(weights, influential):
    """Estimate a number of documents, its standard error, and if its error is too large."""
    weights = weights[influential]
    n_possible, estimated = len(weights), weights.sum()
    error = np.sqrt((weights * (weights - 1)).clip(0).sum())
    return estimated, error, abs(estimated - n_possible) > _SURPRISE * error + 1e-6 * n_possible


def _position_weights(form):
    """Return the position weight of each row in each run, (n_rows, n_runs)."""
    worth = np.abs(form.first + form.slope)
    return csr_array((worth, (form.row, form.run)), shape=(len(form.pool), len(form.pool.runs)))


# Smallest number of queries for a mean and its error.
LEAST_QUERIES = 5


def _by_queries(runs, sample, parsed, pool, target, gains):
    """Estimate measures from queries that were judged whole, by PPI++ over queries.

    Let f be the values of judged queries by people's labels, and m the values of all queries by
    machine labels. The estimate is ``mean of judged f + trust * (mean of all m - mean of judged
    m)``, with the trust from 0 to 1 of the smallest variance (Angelopoulos, Duchi and Zrnic,
    "PPI++: Efficient prediction-powered inference", 2023). Any measure is possible.
    """
    counts = rows_to_judge(pool, parsed)
    # Risks are 0 for queries without a document to judge, which no sample contains.
    drawn_from = np.unique(pool.codes[counts])
    queries, share = _judged_queries(sample, pool, counts, pool.queries[drawn_from])
    n_all, n_judged = len(drawn_from), len(queries)
    part = n_all / len(pool.queries)
    judged = sample.reset_index()[["qid", "docno", "label"]]
    values = _values(judged, runs, parsed, gains, queries, pool.runs)
    guesses = [
        _values(_labels(pool, labels), runs, parsed, gains, pool.queries[drawn_from], pool.runs)
        for labels in pool.machine.values()
    ]
    is_judged = pool.queries[drawn_from].isin(queries)
    grades = as_gains(sample["label"].to_numpy(), gains, name="qrels")
    results = {}
    for number, text in enumerate(parsed):
        by_people = values[number]
        by_machine = [guess[number] for guess in guesses]
        rates = None
        if parsed[text].measure.name in _ZERO_OR_ONE:
            hits = by_people.sum(axis=1)
            if not guesses or np.minimum(hits, n_judged - hits).min() < _MANY_OF_BOTH:
                lists = _same_lists(pool, parsed[text].k)[:, drawn_from]
                by_machine = []
                rates = ExactRates(by_people > 0, lists, is_judged, part, target == "new queries")
        machine = np.mean(by_machine, axis=0) if by_machine else np.zeros((len(pool.runs), n_all))
        trust = _trust(by_people, machine[:, is_judged], 1 - share)
        rest = by_people - trust * machine[:, is_judged]
        estimate = rest.mean(axis=1) + trust * machine.mean(axis=1)
        away = rest - rest.mean(axis=1, keepdims=True)
        degrees = n_judged - 1 - bool(by_machine)
        deviations = away.T * np.sqrt((1 - share) / (n_judged * degrees))
        if target == "new queries":
            own = by_people - by_people.mean(axis=1, keepdims=True)
            own = own.T * np.sqrt(share / (n_judged * (n_judged - 1)))
            between = estimate * np.sqrt((1 - part) / n_all)
            deviations = np.vstack(
                [deviations, own, between[None]] if part < 1 else [deviations, own]
            )
        results[text] = MeasureEstimate(
            values=part * estimate,
            deviations=part * deviations,
            greater_is_better=parsed[text].measure.greater_is_better,
            value_range=parsed[text].measure.range_for(grades),
            by_query=by_people,
            shown_to_cover=rates is not None,
            rates=rates,
        )
    return results


def _same_lists(pool, k):
    """Number the lists, (n_runs, n_queries): lists of the same first k documents are equal."""
    shown = pool.place <= (np.inf if k is None else k)
    # Sums of random numbers, which wrap around: other documents hardly ever have the same sum.
    random = np.random.RandomState(0).randint(1, 2**62, len(pool))[pool.row[shown]]
    sums = np.zeros((len(pool.runs), len(pool.queries)), dtype=np.int64)
    np.add.at(sums, (pool.run[shown], pool.codes[pool.row[shown]]), random)
    return sums


def _judged_queries(sample, pool, counts, drawn_from):
    """Return the judged queries and their probability; raise if one is judged in part."""
    missing = pool.index[counts].difference(sample.index)
    pool_rows = pool.rows_of(sample.index, "qrels")
    queries = pool.queries[np.unique(pool.codes[pool_rows])]
    lost = missing[missing.get_level_values("qid").isin(queries)]
    if len(lost):
        raise InputError(
            "unit='query' takes queries of which all documents that can change the measures are "
            f"judged, and {len(lost):,} of judged queries are not, such as document "
            f"{brief(lost[0][1])} of query {brief(lost[0][0])}: judge them, or estimate with "
            "unit='document'."
        )
    shares = sample["inclusion_probability"].unique()
    if len(shares) > 1 or not np.isclose(shares[0], len(queries) / len(drawn_from), rtol=1e-6):
        raise InputError(
            f"unit='query' takes queries drawn with one probability, that of {len(queries)} of "
            f"{len(drawn_from)} queries: {len(queries) / len(drawn_from):g}, got "
            f"{', '.join(f'{share:g}' for share in shares[:3])}. Draw by "
            "draw_sample(..., unit='query')."
        )
    if len(queries) < min(LEAST_QUERIES, len(drawn_from)):
        raise InputError(
            f"unit='query' needs at least {LEAST_QUERIES} judged queries, got {len(queries)}: "
            "judge more."
        )
    return queries, float(shares[0])


def _labels(pool, labels):
    frame = pool.index.to_frame(index=False).assign(label=labels)
    return frame.dropna(subset="label")


def _values(qrels, runs, parsed, gains, queries, names):
    """Compute values by some labels, (n_measures, n_runs, n_queries)."""
    # The meaning of these labels was checked when they were read.
    index = QrelsIndex(qrels, unjudged_label=None, predicted="use")
    values = evaluate_runs(index, runs, parsed, gains=gains).per_query
    columns = [
        # A query without any label of a machine has the value of no relevant document.
        values[text].unstack().reindex(index=names, columns=queries).fillna(0.0).to_numpy()
        for text in parsed
    ]
    return np.stack(columns)


def _trust(people, machine, rest):
    """Return the factor of the machine's values, from 0 to 1, with the smallest variance."""
    people = people - people.mean(axis=1, keepdims=True)
    machine = machine - machine.mean(axis=1, keepdims=True)
    square = (machine**2).sum()
    if square <= 0 or rest <= 0:
        return 0.0
    return float(np.clip((people * machine).sum() / square, 0.0, 1.0))

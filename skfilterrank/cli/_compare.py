"""Implementation of ``skfilterrank compare``: values, comparisons, estimates and output."""

from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from skfilterrank._lists.gains import PROBABILITY, is_sample
from skfilterrank._lists.measure_names import known_measure, parse_measures
from skfilterrank._lists.results import PAPER_FORMATS, counted, interval_text
from skfilterrank._lists.words import RESAMPLING_TESTS
from skfilterrank.cli import _inputs
from skfilterrank.cli._output import (
    Section,
    call,
    in_options,
    listed,
    opened,
    plural,
    print_sections,
    progress,
    refuse,
    tell,
)
from skfilterrank.cli._types import POOL_DEPTH, ReadingOptions
from skfilterrank.comparison import (
    SystemScores,
    compare_systems,
    comparison_table,
    kendall_tau,
    order_systems,
    score_systems,
)
from skfilterrank.exceptions import (
    InputError,
    MissingValuesError,
    SkfilterrankError,
    brief,
    brief_list,
)
from skfilterrank.io import QrelsIndex, read_qrels
from skfilterrank.judgments import RankedPool, estimate, rank_table
from skfilterrank.metaevaluation import conflicts

_N_PAIRS = 20
_SHOWN = 3
_MAX_MEASURES = 8
_DROP = "--missing drop leaves these queries out for all runs"


def named(files) -> tuple[str, dict]:
    """Return the judgments, and the runs by their names."""
    if len(files) < 3:
        raise InputError(
            "compare needs judgments and at least two runs: compare QRELS RUN RUN... Values that "
            "were measured before are given by --scores."
        )
    qrels, *paths = files
    runs = _inputs.named_runs(qrels, paths)
    _inputs.check_paths(runs.values())
    return qrels, runs


def name_of_baseline(given, runs) -> str | None:
    """Return the name of the baseline, which may be given as its path."""
    if given is None:
        return None
    for name, path in runs.items():
        if given in (name, path):
            return name
    raise InputError(f"--baseline {brief(given)} is not one of the runs: {brief_list(list(runs))}.")


def measured(qrels, runs, measures, reading, n_jobs):
    """Measure runs against judgments; return values by measure, and numbers of machine labels."""
    measures = parse_measures(measures)
    _inputs.check_n_items(reading.n_items, measures)
    table = _inputs.read_judgments(qrels, reading, measures=measures)
    has_draws = "draw" in table
    if has_draws:
        refuse(("html",), "has curves of values that are known, and not drawn. Leave it out.")
        if "measure" not in call.given:
            measures = parse_measures(list(MEASURES))
            tell(
                f"measured by {', '.join(MEASURES)}, as -m names no measure: drawn labels give no "
                "preferences"
            )
    gains = _inputs.gains_of_labels(table["label"], qrels, reading, measures.values())
    runs = _inputs.with_standard_input(runs)
    index = QrelsIndex(table, unjudged_label=None, may_have_draws=has_draws)
    params = {"gains": gains, "n_jobs": n_jobs, "verbose": progress()}
    options = ("unjudged", "precision", "undefined", "ties", "n_items")
    params |= {option: getattr(reading, option) for option in options}
    score = partial(score_systems, index, runs, measures, **params)
    try:
        scores = score(missing=reading.missing or "raise")
    except MissingValuesError as error:
        lacking = _who_lacks(error, len(runs))
        if reading.missing or reading.undefined == "drop":
            ways = f"{_DROP}, --missing empty counts them as empty lists"
            raise InputError(f"{lacking}. {ways}.") from None
        tell(f"{lacking}: counted as empty lists; {_DROP}")
        scores = score(missing="empty")
    return scores, index.n_predicted


def measured_before(paths, measures, missing):
    """Read values of earlier measurements."""
    if not paths:
        raise InputError("--scores FILE... needs values of evaluate --per-query or trec_eval -q.")
    if missing == "empty":
        raise InputError("--scores has no empty lists to measure. Leave out --missing empty.")
    files = [_inputs.source(path) for path in paths]
    try:
        scores = SystemScores.read(files, measures=measures, missing=missing or "raise")
    except MissingValuesError as error:
        raise InputError(f"{_who_lacks(error, None)}. {_DROP}.") from None
    if measures is None and len(scores) > _MAX_MEASURES:
        raise InputError(
            f"{paths[0]} has values of {len(scores)} measures. Choose with -m from "
            f"{', '.join(scores)}."
        )
    return scores


def print_comparisons(values, n_predicted, how, report, format, out):
    """Compare the runs by each measure; write the tables, and the report if requested."""
    for name, scores in values.items():
        if scores.n_queries < 2 or scores.n_systems < 2:
            raise InputError(
                f"{name}: there are values of {counted(scores.n_systems, 'run')} for "
                f"{counted(scores.n_queries, 'query', 'queries')} to compare. Give at least two "
                "runs, and two queries that every run has."
            )
    comparisons = {
        name: compare_systems(scores, **how, verbose=progress()) for name, scores in values.items()
    }
    if report is not None:
        report(comparisons, n_predicted, how["alpha"], how["random_state"], progress())
    if format in PAPER_FORMATS:
        with opened(out, format) as write:
            write(comparison_table(comparisons, format=format, name="run"))
    else:
        print_sections(sections(comparisons, format), format, out)
    tell_settings(comparisons)


def print_estimates(sample, how, format, out):
    """Estimate and compare the runs by each measure, and write the tables."""
    estimates, found, seed = estimated(*sample), {}, how.pop("random_state")
    for name in estimates.measures:
        order = estimates.order(name, random_state=seed)
        order = order.rename(columns={"low": "rank_low", "high": "rank_high"})
        values = estimates.to_frame().loc[name].drop(columns="value")
        found[name] = order.join(values), estimates.compare(name, **how).pairs()
    print_sections(sections_of_estimates(found, estimates, how["correction"], format), format, out)


def _who_lacks(error, n_runs):
    """Describe which runs lack which queries."""
    queries = {name: listed(in_order(queries), _SHOWN) for name, queries in error.lacking.items()}
    lack = _inputs.some_runs(queries, n_runs, "lacks", "lack", "; ")
    return f"{lack} values of queries that the runs are to be compared on"


def tell_settings(comparisons) -> None:
    """Print messages about unexpected settings of the comparison."""
    for name, each in comparisons.items():
        if dropped := each.scores.dropped_queries:
            n_dropped = counted(len(dropped), "query", "queries")
            tell(f"{name}: {n_dropped} left out: {listed(in_order(dropped), _SHOWN)}")
    if "n_resamples" in call.given and not any(
        each.test in RESAMPLING_TESTS for each in comparisons.values()
    ):
        tests = ", ".join(dict.fromkeys(each.test for each in comparisons.values()))
        tell(f"--test {tests} does not resample: --n-resamples is not used")
    for test in {each.test for each in comparisons.values() if each.is_family_wise}:
        if "correction" in call.given:
            tell(f"--test {test} corrects for all pairs by itself: --correction is not used")
    for name, each in comparisons.items():
        for note in notes(each):
            tell(f"{name}: {note[0].lower()}{note[1:].removesuffix('.')}")
        if call.is_verbose and known_measure(name) is None:
            tell(f"{name} is not a measure of skfilterrank: higher values are assumed to be better")


def sections(comparisons, format):
    """Yield a section for each measure, and one about the agreement of measures."""
    for name, comparison in comparisons.items():
        if format == "table":
            yield from _tables(name, comparison)
        else:
            yield _of_comparison(name, comparison)
    if format == "table" and len(comparisons) > 1:
        yield _table([], "\n".join(describe_agreement(comparisons, comparison.alpha)))


def sections_of_estimates(found, estimates, correction, format):
    """Yield a section for each measure, and in formats for people a table of its pairs."""
    interval = interval_text(estimates.confidence_level)
    alpha, head = round(1 - estimates.confidence_level, 12), f"{estimates.made_from}\n"
    for name, (runs, pairs) in found.items():
        record = {
            "measure": name,
            "greater_is_better": estimates.results[name].greater_is_better,
            **origin_of(estimates),
            "correction": correction,
        }
        rows = [["run", name, interval, "rank", "ranks"]]
        for row in runs.itertuples():
            ranks = f"{row.rank:g}", f"{row.rank_low}-{row.rank_high}"
            rows.append([row.Index, number(row.value, 4), _interval(row), *ranks])
        gains = runs["value"] * (1 if record["greater_is_better"] else -1)
        if not gains.is_monotonic_decreasing:
            head += "Ranks use predicted labels too: a better rank may have a worse value.\n"
        yield _section(name, pairs, "value", runs, record, rows, head)
        if format not in ("csv", "json"):
            head, how = "", f"p <= {alpha:g}, {correction or 'not corrected'}"
            # A paper has no line that says how many pairs are left out.
            few = pairs if format in PAPER_FORMATS else pairs.head(_N_PAIRS)
            yield _table_of_pairs(pairs, few, interval, how)


def _table(rows, head="", foot=""):
    """Return a section that only formats for people show."""
    return Section(pd.DataFrame(), [], rows, head, foot)


def _section(name, pairs, value, runs, record, rows=(), head=""):
    """Return a section with the pairs, the values of both runs, and a JSON object."""
    record["runs"] = runs.rename_axis("run").reset_index().to_dict("records")
    record["pairs"] = pairs.to_dict("records")
    frame = pairs.astype({"significant": int})
    frame.insert(0, "measure", name)
    for place, side in ((3, "first"), (4, "second")):
        frame.insert(place, f"{value}_{side}", runs[value][pairs[side]].to_numpy())
    return Section(frame, [record], list(rows), head)


def _of_comparison(name, comparison):
    """Return a section of a comparison for programs."""
    scores = comparison.scores
    record = {"measure": name}
    for each in ("greater_is_better", "is_preference", "n_queries"):
        record[each] = getattr(scores, each)
    record["left_out"] = list(map(str, in_order(scores.dropped_queries)))
    for each in ("test", "correction", "baseline", "effect_name", "interval_of"):
        record[each] = getattr(comparison, each)
    record["confidence_level"] = round(1 - comparison.alpha, 12)
    return _section(name, comparison.pairs(), "mean", _runs_of(comparison), record)


def _runs_of(comparison):
    """Return the table of the runs; by drawn label sets with their ranks in the safe order."""
    runs, scores = comparison.systems(), comparison.scores
    if scores.draws is None:
        return runs
    order = order_systems(scores, method="safe", n_resamples=0).to_frame()
    return runs.assign(safe_rank=order["rank"])


def _tables(name, comparison):
    """Yield a table of the runs, and one of the pairs."""
    scores = comparison.scores
    left_out = f" ({len(scores.dropped_queries)} left out)" * bool(scores.dropped_queries)
    queries = f"{counted(scores.n_queries, 'query', 'queries')}{left_out}"
    parts = [counted(scores.n_systems, "run"), queries, comparison.test_text()]
    parts += ["lower is better"] * (not scores.greater_is_better)
    parts += [f"against {comparison.baseline}"] * (comparison.baseline is not None)
    head = f"{name}: {', '.join(parts)}\n"
    if scores.is_preference:
        head += "values are the share of the other runs that are worse on a query\n"
    rows = [["run", "mean", interval_text(1 - comparison.alpha), "beats", "beaten by"]]
    rows[0] += ["safe rank"] * (scores.draws is not None)
    for row in _runs_of(comparison).itertuples():
        run = f"{row.Index}{' (baseline)' * (row.Index == comparison.baseline)}"
        counts = str(row.n_wins), str(row.n_losses)
        # By drawn label sets, the rank comes last.
        rank = [f"{each:g}" for each in row[6:]]
        rows.append([run, number(row.mean, 4), _interval(row), *counts, *rank])
    yield _table(rows, head)
    few, how = comparison.pairs(most=_N_PAIRS), f"p <= {comparison.alpha:g}"
    yield _table_of_pairs(
        *(comparison.pairs(), few, comparison.interval_name, how),
        effect=comparison.effect_name,
        remarks=contradictions(comparison, comparison.alpha),
    )


def _table_of_pairs(pairs, few, interval, how, *, effect=None, remarks=()):
    """Return a table of a few pairs, with the number of pairs that differ."""
    more = [*["these queries"] * ("low_these" in few), *[effect] * bool(effect)]
    rows = [["better", "worse", "difference", interval, *more, "p", ""]]
    for row in few.itertuples():
        sizes = [number(row.effect_size, 2, "+")] if effect else []
        outcome = p_value(row.p_adjusted), "*" * row.significant
        difference = [number(row.difference, 4, "+"), _interval(row, "+")]
        if "low_these" in few:
            difference.append(f"{number(row.low_these, 4, '+')} {number(row.high_these, 4, '+')}")
        rows.append([row.first, row.second, *difference, *sizes, *outcome])
    n_sure, n_more = int(pairs["significant"].sum()), len(pairs) - len(few)
    head = f"{n_sure:,} of {counted(len(pairs), 'pair differs', 'pairs differ')} ({how})"
    n_surely_more = n_sure - int(few["significant"].sum())
    which = f", {n_surely_more:,} of them significant" * bool(n_surely_more)
    foot = f"{counted(n_more, 'more pair')}{which}: --format csv or json has all pairs"
    foot *= bool(n_more)
    return _table(rows, "\n".join([head, *remarks]), foot)


def _interval(row, sign=""):
    """Return the ends of an interval."""
    return f"{number(row.low, 4, sign)} {number(row.high, 4, sign)}"


def describe_agreement(comparisons, alpha) -> list[str]:
    """Compare every two measures: orders of runs, and pairs that differ significantly."""
    lines = []
    for (first, ours), (second, theirs) in combinations(comparisons.items(), 2):
        tau = kendall_tau(ours.scores, theirs.scores)
        conflict = conflicts(ours, theirs, alpha=alpha)
        n = conflict.counts
        lines.append(
            f"{first} and {second}: Kendall's tau of the means {number(tau)}; of "
            f"{counted(conflict.n_pairs, 'pair')}, {n['agree']:,} differ by both, "
            f"{n['only first']:,} by {first} only, {n['only second']:,} by {second} only, "
            f"{n['opposite']:,} in opposite ways, {n['neither']:,} by neither"
        )
    return lines


def contradictions(comparison, alpha) -> list[str]:
    """Return a remark if sign or rank tests prefer runs whose means are worse."""
    text = comparison.contradiction_text(alpha)
    return [text] if text else []


def notes(comparison) -> list[str]:
    """Return the library's remarks on the values, in terms of the command line."""
    return list(map(in_options, comparison.notes))


def in_order(queries) -> list:
    """Sort queries numerically if all are whole numbers; otherwise keep their order."""
    if all(str(query).isdecimal() for query in queries):
        return sorted(queries, key=lambda query: int(str(query)))
    return list(queries)


def number(value, digits=3, sign="") -> str:
    """Write a number with few digits: less for large ones, leading digits for tiny ones."""
    if not np.isfinite(value):
        return "-" if value != value else f"{value:{sign}}"
    size = abs(value)
    if 0 < size < 0.5 * 10**-digits:
        return f"{value:{sign}.1e}"
    n_whole = int(np.log10(size)) if size >= 10 else 0
    return f"{value:{sign}.{max(digits - n_whole, 0)}f}"


def p_value(value) -> str:
    """Write a p value with three digits, or "<0.001"."""
    return "<0.001" if value < 0.0005 else f"{value:.3f}"


# Default measure, which supports samples of documents.
MEASURES = ("ndcg_f@10",)
_KEY = ["qid", "docno"]


def _check_estimation(sampling, reading) -> None:
    """Raise for options that conflict with estimation."""
    for name in ("ties", "precision", "unjudged", "undefined"):
        if (given := getattr(reading, name)) != (only := getattr(ReadingOptions(), name)):
            raise InputError(
                f"--{name} {given}: values are estimated with {only} alone. Leave it out."
            )
    if reading.missing == "drop":
        raise InputError(
            "--missing drop: where values are estimated all runs have the queries of the "
            "pool. --missing empty counts those that they lack as empty lists."
        )
    if reading.predicted == "use":
        raise InputError(
            "--predicted use: a machine's labels are no sample of people's. Give them by "
            "--machine-qrels."
        )


def estimated(qrels, runs, measures, sampling, reading):
    """Estimate the values of runs, which are paths by name."""
    _check_estimation(sampling, reading)
    if measures is None:
        tell(
            f"measured by {', '.join(MEASURES)}, as -m names no measure: not all can be estimated "
            "from a sample of documents"
        )
    measures = parse_measures(list(measures or MEASURES))
    runs, given = _inputs.with_standard_input(runs), reading.gains
    using = replace(reading, predicted="use")
    read = partial(_inputs.read_labels, reading=using)
    people = read(qrels)
    if "draw" in people:
        raise InputError(
            f"--interval and what goes with it are for a sample of labels, and {qrels} holds drawn "
            "label sets, whose values have intervals without it. Leave it out."
        )
    people = _inputs.without_machines(people, qrels)
    drawn = None
    if sampling.prels is not None:
        drawn = _inputs.without_machines(read(sampling.prels), sampling.prels)
    sample, unit, target = _sample(people, drawn, qrels, sampling)
    machines = _inputs.named_paths(sampling.machine_qrels or [])
    judges = {name: read(path) for name, path in machines.items()} or None
    documents = None
    if sampling.pool is not None:
        documents = read_qrels(sampling.pool, unjudged_label=None, predicted="use")
    elif not judges:
        documents = pd.concat([people[_KEY], sample[_KEY]])
        if is_sample(sample["label"], sample[PROBABILITY]):
            # The documents from which 'skfilterrank select' draws without a pool.
            ranks = rank_table(runs, depth=POOL_DEPTH)
            documents = pd.concat([documents, ranks.index.to_frame(index=False)])
        documents = documents.astype(str).drop_duplicates()
    pool = RankedPool.read(judges, runs, pool=documents)
    _tell_of_pool(pool, reading.missing)
    path, gains = sampling.prels or qrels, None
    if not _inputs.text_gains(reading):
        gains = _inputs.match_gains(given, {path: sample["label"]})
        gains = _inputs.with_other_labels(gains, given)
    _inputs.warn_of_labels_below_0(sample["label"], gains, reading, measures.values())
    # The meaning of labels below 0 is known here, so the library need not warn.
    sample = QrelsIndex(sample, unjudged_label=None, predicted="use")
    what = sample, pool, measures
    how = {"unit": unit, "target": target, "gains": gains}
    if unit == "query":
        what, how = (sample, runs, measures), how | {"machine_qrels": judges, "pool": documents}
    try:
        return estimate(*what, **how, confidence_level=sampling.confidence_level)
    except SkfilterrankError as error:
        error.add_note(f"(qrels: {path}; 'skfilterrank select --strategy sample' draws samples)")
        raise


def origin_of(estimates) -> dict[str, Any]:
    """Return target and inputs of estimates for JSON."""
    names = ("n_judged", "n_possible", "n_other", "target", "confidence_level")
    return {"n_queries": len(estimates.queries)} | {
        each: getattr(estimates, each) for each in names
    }


def _sample(people, drawn, qrels, sampling):
    """Return people's labels with probabilities, the sampling unit, and the target.

    `drawn` are the labels of --prels, if it is given.
    """
    target = sampling.target and sampling.target.replace("-", " ")
    if drawn is not None:
        if PROBABILITY not in drawn:
            raise InputError(
                f"{sampling.prels} has no inclusion probabilities, with which its documents were "
                "drawn to be judged. Give the sample that 'skfilterrank select --strategy sample' "
                "writes."
            )
        sample = _with_labels(drawn, people, sampling.prels, qrels)
    elif "inclusion_probability" in people:
        sample = people
    elif sampling.machine_qrels or people["label"].isna().any():
        n_judged = int(people["label"].notna().sum())
        raise InputError(
            f"nothing says with which probability the {n_judged:,} judged documents of "
            f"{qrels} were drawn, and without it no interval is valid: labels that were "
            "chosen say nothing of those that were not. Give --prels, the sample that "
            f"'skfilterrank select --strategy sample' writes; --judged {qrels} keeps "
            "these labels, and draws from the rest."
        )
    else:
        if target == "these queries":
            raise InputError(
                f"people judged all documents of {qrels}, so that the values of these "
                "queries are known, and no interval is needed: --target new-queries gives those of "
                "the queries that they were drawn from."
            )
        tell(
            f"{qrels} has no probabilities (--prels): its labels are assumed to be complete, so "
            "that documents without a label are not relevant"
        )
        return people.assign(inclusion_probability=1.0), "query", "new queries"
    return sample, sampling.unit, target or "these queries"


def _with_labels(sample, people, prels, qrels):
    """Return the sample with the labels of both files; raise if they differ."""
    labels = people.set_index(_KEY)["label"]
    given = sample.set_index(_KEY)["label"]
    both = labels.reindex(given.index)
    differ = given.notna() & both.notna() & (given != both)
    if differ.any():
        qid, docno = differ.index[differ.argmax()]
        raise InputError(
            f"{prels} and {qrels} have different labels of "
            f"{counted(int(differ.sum()), 'document')}, such as {given[qid, docno]:g} and "
            f"{both[qid, docno]:g} of document {docno} of query {qid}. Settle which they have."
        )
    if n_outside := int((labels.notna() & ~labels.index.isin(given.index)).sum()):
        tell(f"not used: {counted(n_outside, 'label')} of {qrels} outside of the sample")
    sample = sample.assign(label=given.fillna(both).to_numpy())
    if n_open := int(sample["label"].isna().sum()):
        raise InputError(
            f"{counted(n_open, 'document')} of the sample {prels} "
            f"{plural(n_open, 'has', 'have')} no label in it or in {qrels}. Judge all "
            "of it, or draw a smaller sample, which is the begin of this one."
        )
    return sample


def _tell_of_pool(pool, missing):
    """Print messages about documents without machine labels and queries that runs lack."""
    for name, labels in pool.machine.items():
        if n_missing := int(pd.isna(labels).sum()):
            tell(
                f"{name} has no label of {n_missing:,} of {counted(len(pool), 'document')}: a "
                "class of their own"
            )
    if lacking := pool.missing_queries:
        counts = {name: len(lost) for name, lost in lacking.items()}
        what = _inputs.some_runs(counts, len(pool.runs), "lacks queries", "lack queries")
        if missing == "raise":
            raise InputError(f"{what}: --missing empty counts them as empty lists.")
        tell(f"{what}: counted as empty lists")


def estimates_section(estimates) -> Section:
    """Return a section of estimates with intervals."""
    frame, names = estimates.to_frame(), list(estimates.runs)
    interval = interval_text(estimates.confidence_level)
    rows = [["run", *(text for name in estimates.measures for text in (name, interval))]]
    records: list = []
    for run in names:
        values = {name: frame.loc[name, run].to_dict() for name in estimates.measures}
        records.append({"run": run} | origin_of(estimates) | {"measures": values})
        rows.append([run])
        for each in values.values():
            rows[-1] += [f"{each['value']:.4f}", f"{each['low']:.4f} {each['high']:.4f}"]
    by_run = pd.concat([frame.swaplevel().loc[[name]] for name in names])
    return Section(by_run, records, rows, head=estimates.made_from)

"""Implementation of ``skfilterrank compare``: values, comparisons and output."""

from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd

from skfilterrank._base.results import PAPER_FORMATS, counted, interval_text
from skfilterrank._base.words import RESAMPLING_TESTS
from skfilterrank._lists.measure_names import known_measure, parse_measures
from skfilterrank.cli import _inputs
from skfilterrank.cli._output import (
    Section,
    call,
    in_options,
    listed,
    opened,
    print_sections,
    progress,
    refuse,
    tell,
)
from skfilterrank.comparison import (
    compare_systems,
    comparison_table,
    kendall_tau,
    order_systems,
    score_systems,
)
from skfilterrank.exceptions import InputError, MissingValuesError, brief, brief_list
from skfilterrank.metaevaluation import conflicts

_N_PAIRS = 20
_SHOWN = 3
_DROP = "--missing drop leaves these queries out for all runs"
# Measure of drawn label sets, which give no preferences.
MEASURES = ("ndcg_f@10",)


def named(qrels, paths) -> dict:
    """Return the runs by their names; raise if there is nothing to compare."""
    runs = _inputs.named_runs(qrels, paths)
    if len(runs) < 2:
        raise InputError("compare needs judgments and at least two runs: compare QRELS RUN RUN...")
    _inputs.check_paths(runs.values())
    return runs


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
    parsed = parse_measures(list(measures))
    _inputs.check_n_items(reading.n_items, parsed)
    index = _inputs.read_index(qrels, reading, parsed, may_have_draws=True)
    if index.has_draws:
        refuse(("html",), "has curves of values that are known, and not drawn. Leave it out.")
        if "measure" not in call.given:
            parsed = parse_measures(list(MEASURES))
            tell(
                f"measured by {', '.join(MEASURES)}, as -m names no measure: drawn labels give no "
                "preferences"
            )
    params = reading.scoring() | {"n_jobs": n_jobs, "verbose": progress()}
    score = partial(score_systems, index, _inputs.with_standard_input(runs), parsed, **params)
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
        report(comparisons, n_predicted, how["alpha"], how["random_state"])
    if format in PAPER_FORMATS:
        with opened(out, format) as write:
            write(comparison_table(comparisons, format=format, name="run"))
    else:
        print_sections(sections(comparisons, format), format, out)
    tell_settings(comparisons)


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
        lines = describe_agreement(comparisons, comparison.alpha)
        yield Section(pd.DataFrame(), [], [], "\n".join(lines))


def _of_comparison(name, comparison):
    """Return a section with the pairs and the values of both runs, for programs."""
    scores, pairs, runs = comparison.scores, comparison.pairs(), _runs_of(comparison)
    record = {"measure": name}
    for each in ("greater_is_better", "is_preference", "n_queries"):
        record[each] = getattr(scores, each)
    record["left_out"] = list(map(str, in_order(scores.dropped_queries)))
    for each in ("test", "correction", "baseline", "effect_name", "interval_of"):
        record[each] = getattr(comparison, each)
    record["confidence_level"] = round(1 - comparison.alpha, 12)
    record["runs"] = runs.rename_axis("run").reset_index().to_dict("records")
    record["pairs"] = pairs.to_dict("records")
    frame = pairs.astype({"significant": int})
    frame.insert(0, "measure", name)
    for place, side in ((3, "first"), (4, "second")):
        frame.insert(place, f"mean_{side}", runs["mean"][pairs[side]].to_numpy())
    return Section(frame, [record], [])


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
    yield Section(pd.DataFrame(), [], rows, head)
    yield _pairs_of(comparison)


def _pairs_of(comparison):
    """Return a table of the first pairs, with the number of all pairs that differ."""
    pairs, few = comparison.pairs(), comparison.pairs(most=_N_PAIRS)
    is_drawn = "low_these" in few
    rows = [["better", "worse", "difference", comparison.interval_name]]
    rows[0] += [*["these queries"] * is_drawn, comparison.effect_name, "p", ""]
    for row in few.itertuples():
        cells = [row.first, row.second, number(row.difference, 4, "+"), _interval(row, "+")]
        if is_drawn:
            cells.append(f"{number(row.low_these, 4, '+')} {number(row.high_these, 4, '+')}")
        cells += [number(row.effect_size, 2, "+"), p_value(row.p_adjusted), "*" * row.significant]
        rows.append(cells)
    n_sure, n_more = int(pairs["significant"].sum()), len(pairs) - len(few)
    differ = counted(len(pairs), "pair differs", "pairs differ")
    remarks = contradictions(comparison, comparison.alpha)
    head = "\n".join([f"{n_sure:,} of {differ} (p <= {comparison.alpha:g})", *remarks])
    n_surely_more = n_sure - int(few["significant"].sum())
    which = f", {n_surely_more:,} of them significant" * bool(n_surely_more)
    foot = f"{counted(n_more, 'more pair')}{which}: --format csv or json has all pairs"
    return Section(pd.DataFrame(), [], rows, head, foot * bool(n_more))


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

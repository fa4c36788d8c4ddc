"""``skfilterrank compare``: which of several runs are better, and how sure that is."""

from functools import partial
from itertools import combinations
from typing import Annotated, Any

from skfilterrank._base.words import (
    CORRECTION_NAMES,
    RESAMPLING_TESTS,
    TEST_TITLES,
    counted,
    interval_text,
    p_text,
)
from skfilterrank.cli import _output as output
from skfilterrank.cli import _types as t
from skfilterrank.cli._output import in_order, number, tell
from skfilterrank.exceptions import InputError, MissingValuesError, brief, brief_list

MEASURES = ("ndcg_f@10", "lexirecall(scale=preference)")
# Measure of drawn label sets, which give no preferences.
_OF_DRAWN = ("ndcg_f@10",)
_N_PAIRS = 20
_SHOWN = 3
_DROP = "--missing drop leaves these queries out for all runs"


def compare(
    qrels: t.Qrels,
    runs: t.Runs,
    *,
    measure: t.Measures = MEASURES,
    test: Annotated[str | None, t.Arg(choices=tuple(TEST_TITLES), metavar="TEST")] = None,
    correction: Annotated[str, t.Arg(choices=(*CORRECTION_NAMES, "none"), metavar="HOW")] = "holm",
    baseline: t.Baseline = None,
    n_resamples: t.Number = 10_000,
    format: Annotated[str | None, t.format_arg(*t.TABLES)] = None,
    out: t.Out = None,
    html: t.Report = None,
    reading: t.ReadingOptions,
    confidence_level: t.ConfidenceLevel = 0.95,
    random_state: t.RandomState = 0,
    n_jobs: t.NJobs = None,
) -> None:
    """Compare TREC runs pair by pair, with a test of significance. - reads standard input.

    Parameters
    ----------
    test
        t, sign, randomization, bootstrap or tukey (default: t, or sign for a measure that only
        orders runs)
    correction
        of p values: holm, bonferroni, fdr_bh or none
    n_resamples
        resamples of tests that resample
    confidence_level
        level of intervals; pairs differ where p <= 1 - level
    html
        also write a report to open in a browser

    Examples
    --------
    skfilterrank compare qrels.txt runs/*.gz -m ndcg_f@20,lexirecall --test tukey
    skfilterrank compare qrels.txt runs/* -m ap --baseline bm25
    """
    from skfilterrank._base.results import PAPER_FORMATS
    from skfilterrank.cli import _inputs
    from skfilterrank.comparison import compare_systems, comparison_table

    named = _inputs.named_paths(runs)
    if len(named) < 2:
        raise InputError("compare needs judgments and at least two runs: compare QRELS RUN RUN...")
    _inputs.check_paths(named.values())
    if baseline is not None:
        matching = [name for name, path in named.items() if baseline in (name, path)]
        if not matching:
            known = brief_list(list(named))
            raise InputError(f"--baseline {brief(baseline)} is not one of the runs: {known}.")
        baseline = matching[0]
    format = output.chosen_format(format, out, t.TABLES)
    values, n_predicted = measured(qrels, named, measure, reading, n_jobs)
    for name, scores in values.items():
        if scores.n_queries < 2 or scores.n_systems < 2:
            raise InputError(
                f"{name}: there are values of {counted(scores.n_systems, 'run')} for "
                f"{counted(scores.n_queries, 'query')} to compare. Give at least two "
                "runs, and two queries that every run has."
            )
    how: dict[str, Any] = {
        "test": test,
        "correction": None if correction == "none" else correction,
        "baseline": baseline,
        "n_resamples": n_resamples,
        "alpha": round(1 - confidence_level, 12),
        "random_state": random_state,
        "verbose": output.progress(),
    }
    comparisons = {name: compare_systems(scores, **how) for name, scores in values.items()}
    if html:
        from skfilterrank.cli import _report

        files = {"judgments": [qrels], "run": runs}
        lines = describe_agreement(comparisons, how["alpha"])
        _report.write_report(html, files, comparisons, n_predicted, lines, random_state)
    if format in PAPER_FORMATS:
        with output.opened(out, format) as write:
            write(comparison_table(comparisons, format=format, name="run"))
    else:
        output.print_sections(sections(comparisons, format), format, out)
    tell_settings(comparisons)
    if html:
        tell(f"report: {html}")


def measured(qrels, runs, measures, reading, n_jobs):
    """Measure runs against judgments; return values by measure, and numbers of machine labels."""
    from skfilterrank._lists.measure_names import parse_measures
    from skfilterrank.cli import _inputs
    from skfilterrank.comparison import score_systems

    parsed = parse_measures(list(measures))
    _inputs.check_n_items(reading.n_items, parsed)
    index = _inputs.read_index(qrels, reading, parsed, may_have_draws=True)
    if index.has_draws:
        output.refuse(["html"], "has curves that need known labels, not drawn ones. Leave it out.")
        if "measure" not in output.call.given:
            parsed = parse_measures(list(_OF_DRAWN))
            tell(
                f"measured by {', '.join(_OF_DRAWN)}, as -m names no measure: drawn labels give no "
                "preferences"
            )
    params = reading.scoring() | {"n_jobs": n_jobs, "verbose": output.progress()}
    runs = _inputs.runs_to_measure(runs, reading.columns)
    score = partial(score_systems, index, runs, parsed, **params)
    try:
        scores = score(missing=reading.missing or "raise")
    except MissingValuesError as error:
        lacking = {name: _first(queries) for name, queries in error.lacking.items()}
        lack = _inputs.some_runs(lacking, len(runs), "lacks", "lack", "; ")
        lack += " values of queries that the runs are to be compared on"
        if reading.missing or reading.undefined == "drop":
            ways = f"{_DROP}, --missing empty counts them as empty lists"
            raise InputError(f"{lack}. {ways}.") from None
        tell(f"{lack}: counted as empty lists; {_DROP}")
        scores = score(missing="empty")
    return scores, index.n_predicted


def tell_settings(comparisons) -> None:
    """Print messages about unexpected settings of the comparison."""
    from skfilterrank._lists.measure_names import known_measure

    given = output.call.given
    for name, each in comparisons.items():
        if dropped := each.scores.dropped_queries:
            tell(f"{name}: {counted(len(dropped), 'query')} left out: {_first(dropped)}")
    tests = dict.fromkeys(each.test for each in comparisons.values())
    if "n_resamples" in given and not set(tests) & set(RESAMPLING_TESTS):
        tell(f"--test {', '.join(tests)} does not resample: --n-resamples is not used")
    for test in dict.fromkeys(each.test for each in comparisons.values() if each.is_family_wise):
        if "correction" in given:
            tell(f"--test {test} corrects for all pairs by itself: --correction is not used")
    for name, each in comparisons.items():
        for note in map(output.in_options, each.notes):
            tell(f"{name}: {note[0].lower()}{note[1:].removesuffix('.')}")
        if output.call.is_verbose and known_measure(name) is None:
            tell(f"{name} is not a measure of skfilterrank: higher values are assumed to be better")


def sections(comparisons, format):
    """Yield a section for each measure, and one about the agreement of measures."""
    for name, comparison in comparisons.items():
        if format == "table":
            yield _runs_table(name, comparison)
            yield _pairs_table(comparison)
        else:
            yield _for_programs(name, comparison)
    if format == "table" and len(comparisons) > 1:
        lines = describe_agreement(comparisons, comparison.alpha)
        yield output.Section(None, [], [], "\n".join(lines))


def _for_programs(name, comparison):
    """Return a section with the pairs and the values of both runs."""
    scores, pairs, runs = comparison.scores, comparison.pairs(), _runs_of(comparison)
    of_scores = ("greater_is_better", "is_preference", "n_queries")
    of_comparison = ("test", "correction", "baseline", "effect_name", "interval_of")
    record = {
        "measure": name,
        **{each: getattr(scores, each) for each in of_scores},
        "left_out": list(map(str, in_order(scores.dropped_queries))),
        **{each: getattr(comparison, each) for each in of_comparison},
        "confidence_level": round(1 - comparison.alpha, 12),
        "runs": runs.rename_axis("run").reset_index().to_dict("records"),
        "pairs": pairs.to_dict("records"),
    }
    frame = pairs.astype({"significant": int})
    frame.insert(0, "measure", name)
    for place, side in ((3, "first"), (4, "second")):
        frame.insert(place, f"mean_{side}", runs["mean"][pairs[side]].to_numpy())
    return output.Section(frame, [record], [])


def _runs_of(comparison):
    """Return the table of the runs, with ranks by the safe order if label sets were drawn."""
    from skfilterrank.comparison import order_systems

    runs, scores = comparison.systems(), comparison.scores
    if scores.draws is None:
        return runs
    order = order_systems(scores, method="safe", n_resamples=0).to_frame()
    return runs.assign(safe_rank=order["rank"])


def _runs_table(name, comparison):
    """Return a table of the runs."""
    scores = comparison.scores
    left_out = f" ({len(scores.dropped_queries)} left out)" * bool(scores.dropped_queries)
    queries = f"{counted(scores.n_queries, 'query')}{left_out}"
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
        # Drawn label sets add the rank as a last column.
        rank = [f"{each:g}" for each in row[6:]]
        rows.append([run, number(row.mean, 4), _interval(row.low, row.high), *counts, *rank])
    return output.Section(None, [], rows, head)


def _pairs_table(comparison):
    """Return a table of the first pairs, with the number of all pairs that differ."""
    pairs, few = comparison.pairs(), comparison.pairs(most=_N_PAIRS)
    is_drawn = "low_these" in few
    rows = [["better", "worse", "difference", comparison.interval_name]]
    rows[0] += [*["these queries"] * is_drawn, comparison.effect_name, "p", ""]
    for row in few.itertuples():
        difference, effect = number(row.difference, 4, "+"), number(row.effect_size, 2, "+")
        cells = [row.first, row.second, difference, _interval(row.low, row.high, "+")]
        cells += [_interval(row.low_these, row.high_these, "+")] if is_drawn else []
        rows.append([*cells, effect, p_text(row.p_adjusted), "*" * row.significant])
    n_sure, n_more = int(pairs["significant"].sum()), len(pairs) - len(few)
    differ = counted(len(pairs), "pair differs", "pairs differ")
    head = f"{n_sure:,} of {differ} (p <= {comparison.alpha:g})"
    if contradiction := comparison.contradiction_text(comparison.alpha):
        head += f"\n{contradiction}"
    n_surely_more = n_sure - int(few["significant"].sum())
    which = f", {n_surely_more:,} of them significant" * bool(n_surely_more)
    foot = f"{counted(n_more, 'more pair')}{which}: --format csv or json has all pairs"
    return output.Section(None, [], rows, head, foot * bool(n_more))


def _interval(low, high, sign=""):
    """Return the ends of an interval."""
    return f"{number(low, 4, sign)} {number(high, 4, sign)}"


def describe_agreement(comparisons, alpha) -> list[str]:
    """Compare every two measures: orders of runs, and pairs that differ significantly."""
    from skfilterrank.comparison import kendall_tau
    from skfilterrank.metaevaluation import conflicts

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


def _first(queries):
    """Return the first queries as text."""
    return output.listed(in_order(queries), _SHOWN)

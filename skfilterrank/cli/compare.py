"""``skfilterrank compare``: which of several runs are better, and how sure that is."""

from functools import partial
from typing import Annotated, Any

from skfilterrank._base.words import CORRECTION_NAMES, TEST_TITLES
from skfilterrank.cli import _types as t
from skfilterrank.cli._output import chosen_format, tell

MEASURES = ("ndcg_f@10", "lexirecall(scale=preference)")


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
    options: dict[str, Any] = {**locals(), **vars(reading)}
    from skfilterrank.cli import _compare as work

    named = work.named(qrels, runs)
    report = None
    if html:
        from skfilterrank.cli import _report

        report = partial(_report.write_report, html, options)
    format = chosen_format(format, out, t.TABLES)
    values, n_predicted = work.measured(qrels, named, measure, reading, n_jobs)
    how = {
        "test": test,
        "correction": None if correction == "none" else correction,
        "baseline": work.name_of_baseline(baseline, named),
        "n_resamples": n_resamples,
        "alpha": round(1 - confidence_level, 12),
        "random_state": random_state,
    }
    work.print_comparisons(values, n_predicted, how, report, format, out)
    if html:
        tell(f"report: {html}")

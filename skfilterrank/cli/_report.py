"""The HTML report of ``skfilterrank compare``: one file that needs nothing else."""

import json
from typing import Any, NamedTuple

import skfilterrank
from skfilterrank import plot
from skfilterrank._lists.results import counted, interval_text
from skfilterrank.cli import _compare as words
from skfilterrank.cli import _report_topics as topics
from skfilterrank.cli._report_origin import made_from, measure_data, other_outcomes, read_data
from skfilterrank.cli._report_page import draw, write_page
from skfilterrank.judgments import machine_report
from skfilterrank.metaevaluation import stability_curve

# Pairs in a table, or systems whose pairs are in it.
_N_PAIRS = 200, 20
# With fewer topics the curves have hardly a point, and say nothing.
_N_TOPICS_OF_CURVES = 10
_N_SIZES = 25
# A share of the means, since measures have different units; as Buckley and Voorhees have it.
_FUZZINESS = 0.05
# Functions that the template calls.
_WORDS = (words.contradictions, words.in_order, words.notes, words.number, words.p_value)


class Page(NamedTuple):
    """The file of a report, and options of the command that concern it.

    Attributes
    ----------
    path : str
        File to write.
    before : str or None
        An earlier report.
    open : list of pairs of str or None
        Pairs of runs to show in full.
    topics, docs : str or None
        Files of texts.
    text : list of str or None
        Columns with the texts of documents.
    options : dict
        All options of the command with their values, files included, by parameter.
    """

    path: str
    before: str | None
    open: list | None
    topics: str | None
    docs: str | None
    text: list | None
    options: dict[str, Any]


def write_report(page: Page, comparisons, lists, alpha, random_state, verbose) -> None:
    """Write the report of comparisons; `lists` has the documents behind the values, or None."""
    from tqdm import tqdm

    before, texts = page.before and read_data(page.before), topics.Texts(page)
    measures, data = [], []
    bar = tqdm(comparisons.items(), unit="measure", disable=not verbose, leave=False)
    for place, (name, each) in enumerate(bar, 1):
        scores, pairs = each.scores, each.pairs(alpha)
        displays: list[Any] = [plot.PairwiseComparisonDisplay(each, alpha=alpha)]
        if scores.n_systems > 2 and each.baseline is None:
            displays.insert(0, plot.CriticalDifferenceDisplay(each, alpha=alpha))
        measures.append(
            {"id": f"m{place}", "name": name, "comparison": each, "figures": _drawn(displays)}
            | topics.first_pairs(pairs, scores.means.index, each.baseline is not None, *_N_PAIRS)
            | {"drill": topics.of_values(name, each, lists, pairs, page.open)}
        )
        data.append(measure_data(name, scores.means, scores.greater_is_better, pairs, scores))
    _write(
        page,
        before,
        data,
        comparisons=comparisons,
        lists=lists,
        alpha=alpha,
        texts=texts,
        measures=measures,
        agreement=words.describe_agreement(comparisons, alpha),
        curves=_curves(comparisons, random_state),
    )


def write_report_of_estimates(page: Page, sampled, found, alpha, random_state) -> None:
    """Write the report of estimates; `found` has runs and pairs of each measure, best first.

    `alpha` and `random_state` have had their effect on `found`; they are the same for both reports.
    """
    before, texts = page.before and read_data(page.before), topics.Texts(page)
    estimates = sampled.estimates
    has_baseline = page.options.get("baseline") is not None
    measures, data = [], []
    for place, (name, (runs, pairs)) in enumerate(found.items(), 1):
        turned = pairs.set_index(["first", "second"]).rename(columns={"difference": "value"})
        displays = [
            plot.IntervalDisplay(runs, label=name),
            plot.IntervalDisplay(turned, label=f"difference in {name}", reference=0),
        ]
        drill = topics.of_estimates(name, sampled, runs, pairs, page.open, has_baseline)
        measures.append(
            {"id": f"m{place}", "name": name, "runs": runs, "figures": _drawn(displays)}
            | topics.first_pairs(pairs, runs.index, True, *_N_PAIRS)
            | {"drill": drill}
        )
        greater_is_better = estimates.results[name].greater_is_better
        data.append(measure_data(name, runs["value"], greater_is_better, pairs))
    machine = None
    if sampled.pool.machine and estimates.unit == "document":
        machine = machine_report(
            *(sampled.sample, sampled.pool, list(found)),
            gains=sampled.gains,
            confidence=estimates.confidence,
        )
    _write(
        page,
        before,
        data,
        estimates=estimates,
        texts=texts,
        measures=measures,
        machine=machine,
    )


def _drawn(displays):
    """Draw displays that are made."""
    return [draw(display.plot) for display in displays]


def _write(page, before, data, **parts):
    """Write a page with its origin and data, and with what changed since an earlier one."""
    made = made_from(page.options)
    now = {"made": made, "measures": data}
    absent = ("estimates", "comparisons", "lists", "agreement", "curves", "machine")
    functions = {each.__name__: each for each in _WORDS}
    functions |= {"counted": counted, "interval_text": interval_text, "zip": zip}
    functions |= {"other_outcomes": other_outcomes, "nan": float("nan"), "fuzziness": _FUZZINESS}
    parts = dict.fromkeys(absent) | parts | {"page": page, "before": before, "made": made}
    data = json.dumps(now, separators=(",", ":"))
    version = skfilterrank.__version__
    write_page(page.path, **functions, **parts, now=now, data=data, version=version)


def _curves(comparisons, random_state):
    """Return stability and sensitivity of the measures; nothing where there are too few topics."""
    scores = {name: each.scores for name, each in comparisons.items()}
    scores = {name: s for name, s in scores.items() if s.n_queries >= _N_TOPICS_OF_CURVES}
    if not scores:
        return []
    stability = {
        name: stability_curve(
            each,
            sizes=_sizes(each.n_queries),
            fuzziness=_FUZZINESS,
            relative=True,
            random_state=random_state,
        )
        for name, each in scores.items()
    }
    return [
        draw(lambda: plot.StabilityCurveDisplay.from_curves(stability)),
        draw(lambda: plot.SensitivityCurveDisplay.from_scores(scores, random_state=random_state)),
    ]


def _sizes(n_queries):
    """Return numbers of topics from 2 to all, not too many."""
    step = -(-(n_queries - 2) // _N_SIZES) or 1
    return [*range(2, n_queries, step), n_queries]

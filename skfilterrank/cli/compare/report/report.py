"""The parts of the report, one after the other."""

from skfilterrank.cli.compare.output import (
    contradictions,
    describe_agreement,
    in_order,
    notes,
    number,
    p_value,
)

from skfilterrank._core.results import counted, interval_text
from skfilterrank.cli.compare.report.drill_down import Texts, drill_down
from skfilterrank.cli.compare.report.elements import (
    Html,
    element,
    isolated,
    number_cell,
    section,
    table,
)
from skfilterrank.cli.compare.report.figures import Figures
from skfilterrank.cli.compare.report.made import data_of, how_it_was_made, made_from, read_data
from skfilterrank.cli.compare.report.page import write_page
from skfilterrank.cli.compare.report.since import since
from skfilterrank.exceptions import InputError, brief, brief_list

_N_PAIRS = 200
_N_SYSTEMS_OF_PAIRS = 20
# With fewer topics the curves have hardly a point, and say nothing.
_N_TOPICS_OF_CURVES = 10
_N_SIZES = 25
# A share of the means, since measures have different units; as Buckley and Voorhees have it.
_FUZZINESS = 0.05
_N_LISTED = 20


def write_report(path, comparisons, lists, *, alpha, random_state, verbose, arguments) -> None:
    """Write the page; `lists` has the documents behind the values, None where there are none."""
    from tqdm import tqdm

    made = made_from(arguments)
    before = None if arguments.before is None else read_data(arguments.before)
    texts = Texts.read(arguments)
    opened = _opened(arguments.open, next(iter(comparisons.values())).scores.systems)
    figures = Figures()
    bar = tqdm(comparisons.items(), unit="measure", disable=not verbose, leave=False)
    parts = [_summary(comparisons, alpha, {} if lists is None else lists.qrels.n_predicted)]
    names = {}
    for place, (name, comparison) in enumerate(bar, 1):
        names[f"m{place}"] = isolated(name)
        drill = drill_down(
            f"m{place}", name, comparison, lists, alpha, figures, texts=texts, opened=opened
        )
        parts.append(_measure(f"m{place}", name, comparison, drill, alpha, figures))
    if len(comparisons) > 1:
        names["agreement"] = "Agreement of the measures"
        lines = [element("li", line) for line in describe_agreement(comparisons, alpha)]
        parts.append(section(names["agreement"], element("ul", *lines), id="agreement"))
    if curves := _curves(comparisons, random_state, figures):
        names["curves"] = "Stability and sensitivity"
        parts.append(curves)
    if before is not None:
        names["since"] = "Since the earlier report"
        parts.insert(1, since(before, made, comparisons, alpha, arguments.before))
    names["made"] = "How this was made"
    parts += [how_it_was_made(made), data_of(comparisons, made, alpha)]
    write_page(path, "Comparison of " + counted(_n_systems(comparisons), "run"), names, parts)


def _opened(pairs, systems):
    """The pairs to open, of systems that are there."""
    for name in (name for pair in pairs or () for name in pair):
        if name not in systems:
            raise InputError(f"--open {brief(name)} is none of the runs: {brief_list(systems)}.")
    return pairs and {frozenset(pair) for pair in pairs}


def _n_systems(comparisons):
    return next(iter(comparisons.values())).scores.n_systems


def _summary(comparisons, alpha, n_predicted) -> Html:
    """What was compared, and what came out, in a table with a row for each measure."""
    rows = []
    for name, comparison in comparisons.items():
        scores, n_significant = comparison.scores, int(comparison.significant(alpha).sum())
        best = scores.means.index[0]
        rows.append(
            [
                name,
                number_cell(scores.n_queries, f"{scores.n_queries:,}"),
                number_cell(len(scores.dropped_queries), f"{len(scores.dropped_queries):,}"),
                comparison.test_text(),
                number_cell(n_significant, f"{n_significant:,} of {len(comparison.first):,}"),
                best,
                number_cell(scores.means.iloc[0], number(scores.means.iloc[0], 4)),
            ]
        )
    head = [
        "measure",
        "topics",
        "left out",
        "test",
        f"pairs that differ (p ≤ {alpha:g})",
        "run with the best mean",
        "mean",
    ]
    parts = [table("What was compared, by each measure", head, rows, sortable=False)]
    if n_predicted:
        shown = ", ".join(f"{isolated(name)}: {n:,}" for name, n in n_predicted.items())
        parts.append(element("p", f"Among the judgments are labels of machines: {shown}."))
    first = next(iter(comparisons.values()))
    if first.baseline is not None:
        parts.append(element("p", f"Every run is compared with {isolated(first.baseline)} only."))
    for name, comparison in comparisons.items():
        dropped = comparison.scores.dropped_queries
        if dropped:
            shown = ", ".join(map(isolated, in_order(dropped)[:_N_LISTED]))
            more = f" and {len(dropped) - _N_LISTED:,} more" if len(dropped) > _N_LISTED else ""
            parts.append(
                element(
                    "p",
                    f"{isolated(name)}: topics left out, since some run lacks them or the measure "
                    f"is not defined there: {shown}{more}.",
                )
            )
    return section("Summary", *parts, id="summary")


def _measure(key, name, comparison, drill, alpha, figures) -> Html:
    """Everything about one measure."""
    scores = comparison.scores
    remarks = [element("p", note) for note in notes(comparison)]
    if not scores.greater_is_better:
        remarks.append(element("p", "Lower values are better."))
    if scores.is_preference:
        remarks.append(
            element(
                "p",
                "The measure only says which of two runs is better on a topic. The value of a "
                "run is the share of the other runs that are worse there, with halves for equal "
                "ones.",
            )
        )
    return section(
        isolated(name),
        *remarks,
        section("Runs", _systems(name, comparison, alpha), level=3),
        section("Which runs differ", *_differences(name, comparison, alpha, figures), level=3),
        section("Pairs", *_pairs(name, comparison, alpha), level=3),
        section("Topic by topic", *drill, level=3),
        id=key,
    )


def _systems(name, comparison, alpha) -> Html:
    """Means with intervals."""
    head = [
        "run",
        "mean",
        interval_text(1 - comparison.alpha),
        "beats",
        "beaten by",
    ]
    rows = [
        [
            f"{isolated(row.Index)} (baseline)" if row.Index == comparison.baseline else row.Index,
            number_cell(row.mean, number(row.mean, 4)),
            number_cell(row.low, f"{number(row.low, 4)} to {number(row.high, 4)}"),
            number_cell(row.n_wins, f"{row.n_wins:,}"),
            number_cell(row.n_losses, f"{row.n_losses:,}"),
        ]
        for row in comparison.systems(alpha).itertuples()
    ]
    caption = f"Mean {isolated(name)} of each run, and how many others it beats significantly"
    return table(caption, head, rows)


def _differences(name, comparison, alpha, figures):
    """The heat map, and where all pairs are compared the critical differences."""
    from skfilterrank.plot import CriticalDifferenceDisplay, PairwiseComparisonDisplay

    n_systems = comparison.scores.n_systems
    if n_systems > 2 and comparison.baseline is None:
        yield figures.draw(
            lambda: CriticalDifferenceDisplay(comparison, alpha=alpha).plot(),
            f"Means of the best runs by {isolated(name)}. Bars join runs that do not differ "
            "significantly; the best are on the right.",
        )
    what = "by how much the run of the row is better on average than that of the column"
    if comparison.interval_of != "mean difference":
        what = f"{comparison.effect_name}, blue where the run of the row is better"
    yield figures.draw(
        lambda: PairwiseComparisonDisplay(comparison, alpha=alpha).plot(),
        f"Every run against every other by {isolated(name)}: {what}, and where this is "
        "significant. The table of pairs has the numbers.",
    )


def _pairs(name, comparison, alpha):
    """The numbers of each pair, as far as a page can hold them."""
    pairs = comparison.pairs(alpha)
    shown, note = pairs, None
    if len(pairs) > _N_PAIRS:
        best = comparison.scores.means.index[:_N_SYSTEMS_OF_PAIRS]
        among = pairs["first"].isin(best) & pairs["second"].isin(best)
        shown = pairs[among] if comparison.baseline is None else pairs.head(_N_PAIRS)
        which = (
            f"those of the {len(best)} best runs" if comparison.baseline is None else "the first"
        )
        note = (
            f"Here are {len(shown):,} of {len(pairs):,} pairs, {which}; "
            "skfilterrank compare --format csv writes all of them."
        )
    head = [
        "better",
        "worse",
        "difference",
        comparison.interval_name,
        comparison.effect_name,
        "p",
        "significant",
    ]
    rows = [
        [
            row.first,
            row.second,
            number_cell(row.difference, number(row.difference, 4, "+")),
            number_cell(row.low, f"{number(row.low, 4, '+')} to {number(row.high, 4, '+')}"),
            number_cell(row.effect_size, number(row.effect_size, 2, "+")),
            number_cell(row.p_adjusted, p_value(row.p_adjusted)),
            element("span", "yes", class_="yes") if row.significant else "no",
        ]
        for row in shown.itertuples()
    ]
    yield table(f"Pairs of runs by {isolated(name)}, the better run by the test first", head, rows)
    for line in contradictions(comparison, alpha):
        yield element("p", f"{line[0].upper()}{line[1:]}.", class_="note")
    if note:
        yield element("p", note, class_="note")


def _curves(comparisons, random_state, figures):
    """Stability and sensitivity of the measures; None where there are too few topics."""
    from skfilterrank.comparison import stability_curve
    from skfilterrank.plot import SensitivityCurveDisplay, StabilityCurveDisplay

    scores = {
        name: each.scores
        for name, each in comparisons.items()
        if each.scores.n_queries >= _N_TOPICS_OF_CURVES
    }
    if not scores:
        return None
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
    return section(
        "Stability and sensitivity",
        element(
            "p",
            "How far the measures can be trusted with these runs and topics. A stable measure "
            "seldom takes the worse run for the better one when there are fewer topics; a "
            "sensitive one keeps the better run ahead, whatever topics are drawn.",
        ),
        figures.draw(
            lambda: StabilityCurveDisplay.from_curves(stability),
            "Stability: share of decisions from fewer topics that go against the more frequent "
            f"one. Means within {100 * _FUZZINESS:g} % of the greater one are taken for equal. "
            "Lower is better.",
        ),
        figures.draw(
            lambda: SensitivityCurveDisplay.from_scores(scores, random_state=random_state),
            "Sensitivity: share of pairs of runs that resampled topics tell apart, by level of "
            "significance. Higher is better.",
        ),
        id="curves",
    )


def _sizes(n_queries):
    """Numbers of topics from 2 to all, not too many."""
    step = -(-(n_queries - 2) // _N_SIZES) or 1
    return [*range(2, n_queries, step), n_queries]

"""Means of systems by several measures with marks of significance, as a paper prints them."""

from collections.abc import Mapping
from string import ascii_lowercase

from skfilterrank._core.checks import check_choice, check_count
from skfilterrank._core.paper_tables import PAPER_FORMATS, Cell, paper_note, paper_table
from skfilterrank._core.results import counted
from skfilterrank.comparison._significance.pairwise import PairwiseComparison
from skfilterrank.exceptions import InputError, brief


def comparison_table(
    comparisons: PairwiseComparison | Mapping[str, PairwiseComparison],
    *,
    format: str = "latex",
    digits: int = 3,
    name: str = "system",
) -> str:
    r"""Write means of systems by one or several measures, with marks of significance.

    Parameters
    ----------
    comparisons : PairwiseComparison or dict of str to PairwiseComparison
        What :func:`compare_systems` returned, several by the names of their measures, all of the
        same systems and against the same baseline, if any.
    format : {"latex", "markdown"}, default="latex"
        A `tabular` with the rules of the package booktabs, or a table as GitHub shows it.
    digits : int, default=3
        Digits after the point, from 1 up.
    name : str, default="system"
        Word for what is compared, in the head of the table and in the last line, such as "run".

    Returns
    -------
    str
        A row for each system in the order of the comparison, a column for each measure, and a line
        on the marks and tests. The best means of a measure are bold. Against a baseline, "+" marks
        a system that is significantly better and "-" one that is worse. Without, systems have
        letters (numbers where there are more than 26), and a mean has those of the systems than
        which it is significantly better.

    Raises
    ------
    ValueError
        For no comparison, comparisons of different systems or baselines, or an unknown format.

    See Also
    --------
    compare_systems : The comparison; its levels and corrections are those of the marks.

    Examples
    --------
    >>> from skfilterrank.comparison import SystemScores, compare_systems, comparison_table
    >>> values = [[0.4, 0.6, 0.4, 0.8], [0.5, 0.7, 0.6, 0.9]]
    >>> scores = SystemScores(values, systems=["old", "new"], measure="ap")
    >>> print(comparison_table(compare_systems(scores), format="markdown"))
    | system | ap |
    | --- | ---: |
    | a old | 0.550 |
    | b new | **0.675**<sup>a</sup> |
    <BLANKLINE>
    Bold: the best. Letters: significantly better than these systems (p \<= 0.05; ap: ...).
    <BLANKLINE>
    """
    check_choice(format, "format", PAPER_FORMATS)
    digits = check_count(digits, "digits")
    if isinstance(comparisons, PairwiseComparison):
        comparisons = {comparisons.scores.measure or "mean": comparisons}
    if (
        not isinstance(comparisons, Mapping)
        or not comparisons
        or not all(isinstance(each, PairwiseComparison) for each in comparisons.values())
    ):
        raise InputError(
            "comparisons must be what compare_systems returned, or a dict of such by measure, got "
            f"{brief(comparisons)}."
        )
    first, *others = comparisons.values()
    systems = list(first.scores.systems)
    for each in others:
        if list(each.scores.systems) != systems or each.baseline != first.baseline:
            raise InputError(
                "comparisons must have the same systems in the same order, and the same baseline."
            )
    letters = _letters(len(systems))
    names = [f"{letter} {system}" for system, letter in zip(systems, letters)]
    if first.baseline is not None:
        names = [f"{each}{' (baseline)' * (each == first.baseline)}" for each in systems]
    columns = [_cells(each, letters, digits) for each in comparisons.values()]
    table = paper_table([name, *comparisons], list(zip(names, *columns)), format)
    return table + paper_note(_note(comparisons, name), format)


def _letters(n):
    """Marks of so many systems."""
    if n <= len(ascii_lowercase):
        return list(ascii_lowercase[:n])
    return [str(i + 1) for i in range(n)]


def _cells(comparison, letters, digits):
    """The mean of each system with its marks."""
    scores, baseline = comparison.scores, comparison.baseline
    means = scores.means[list(scores.systems)].to_numpy()
    best = means.max() if scores.greater_is_better else means.min()
    beaten: list[list[int]] = [[] for _ in means]
    for first, second, better in zip(comparison.first, comparison.second, comparison.better()):
        if better:
            winner, loser = (first, second) if better > 0 else (second, first)
            beaten[winner].append(loser)
    if baseline is None:
        comma = "," if len(letters) > len(ascii_lowercase) else ""
        marks = [comma.join(letters[loser] for loser in sorted(losers)) for losers in beaten]
    else:
        own = list(scores.systems).index(baseline)
        marks = ["-" if i in beaten[own] else "+" * len(beaten[i]) for i in range(len(means))]
        marks[own] = ""
    return [
        Cell(f"{mean:.{digits}f}", mark, bool(mean == best)) for mean, mark in zip(means, marks)
    ]


def _note(comparisons, name):
    """Return what marks mean."""
    first = next(iter(comparisons.values()))
    what = f"Letters: significantly better than these {name}s"
    if first.baseline is not None:
        what = f"+ and -: significantly better and worse than {first.baseline}"
    elif first.scores.n_systems > len(ascii_lowercase):
        what = f"Numbers: significantly better than these {name}s"
    measures: dict[str, list[str]] = {}
    for name, each in comparisons.items():
        test = f"{each.test_text()}, {counted(each.scores.n_queries, 'query', 'queries')}"
        measures.setdefault(test, []).append(str(name))
    tests = "; ".join(f"{', '.join(names)}: {test}" for test, names in measures.items())
    return f"Bold: the best. {what} (p <= {first.alpha:g}; {tests})."

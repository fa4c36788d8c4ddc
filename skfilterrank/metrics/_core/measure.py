"""The measure table, and the one path from arrays to a mean over queries."""

import inspect
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from numbers import Real
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from skfilterrank._gains import check_gains
from skfilterrank._validation import check_choice, check_k
from skfilterrank.exceptions import InputError, brief
from skfilterrank.metrics._core.additive import Additive
from skfilterrank.metrics._core.lists import TIES, UNJUDGED, ListBlock, RankedLists

MEASURES: dict[str, "Measure"] = {}
_MOST_DIGITS = 18

Kernel = Callable[..., np.ndarray]

_PARAMETERS = """
    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Label of each (query, document) row; any order. NaN means unjudged. A Series may carry
        the query ids in an index level named "qid".
    y_score : array-like of shape (n_rows,)
        Score of each row, higher is better; -inf means filtered out or not retrieved.
    groups : array-like of shape (n_rows,), default=None
        Query id of each row, of any type. None looks for an index level "qid" on `y_true`.{k}
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain: None takes the label itself; "exp2" gives ``2**label - 1``
        from 0 up and the label itself below; a dict gives the gain of each label; a callable is
        called once per distinct label. A gain below 0 marks a forbidden document.
    ties : {ties}
    unjudged : {{"zero", "drop"}}, default="zero"
        {unjudged}
    undefined : float or "skip", default=0.0
        Value of a query for which the measure is undefined ({undefined}); "skip" leaves such
        queries out of the mean and gives NaN in the per-query values.
    average : {{"mean", None}}, default="mean"
        "mean" returns the mean over queries, None one value per query.
"""

_RETURNS = """
    Returns
    -------
    float or ndarray of shape (n_queries,), dtype float64
        The mean over queries (NaN where all are skipped), or the values in the order of the
        sorted query ids.

    Raises
    ------
    ValueError
        If query ids are missing or of another length, if `y_score` holds NaN or +inf, if a
        label is not a number and has no entry in `gains`, or if a parameter is out of range.
"""

_K = """
    k : int or None, default=None
        Number of places of the returned list that count; None means all. Places close up when
        documents are filtered."""

_TIES = {
    "average": """{"average", "stable", "worst", "best"} or array-like of shape (n_rows,), \
default="average"
        Order of rows with equal scores in one query: the exact mean over all their orders, the
        order of the rows, lowest gain first, highest gain first, or document ids, of which the
        greatest comes first (the rule of trec_eval).""",
    "worst": """{"worst", "best", "stable"} or array-like of shape (n_rows,), default="worst"
        Order of rows with equal scores in one query: lowest gain first, highest gain first, the
        order of the rows, or document ids, of which the greatest comes first (the rule of
        trec_eval).""",
}

_UNJUDGED = """Whether an unjudged row stands in the list as a document of gain 0, or is taken out
        of it first. It is never part of the pool from which bounds are computed."""

_READS_UNJUDGED = """Changes nothing here: the measure is defined by what is unjudged. It is taken
        so that all measures can be called alike."""

_PARSED = re.compile(
    r"(?P<name>[^@()]*)(?:\((?P<options>.*)\))?(?:@(?P<depth>[^@()]*))?", re.DOTALL
)


@dataclass(frozen=True)
class Measure:
    """A line of the measure table.

    Attributes
    ----------
    name : str
        Name in the string form, such as "ndcg_f" in "ndcg_f@10".
    function : callable
        The public function.
    kernel : callable
        ``kernel(block, k, **options)``: the values of a block of queries, NaN where undefined.
    takes_k : bool
        Whether the measure has a cut-off.
    greater_is_better : bool
        Whether higher values are better; scorers negate the others.
    summary : str
        First line of the function's documentation.
    value_range : tuple of two floats
        Smallest and largest possible value.
    range_holds_for : {"any gains", "nonnegative gains", "binary gains"}
        The gains for which `value_range` holds.
    options : mapping of str to callable
        Parameters that only this measure and its kin have, each with the function that checks a
        value, and returns what the kernel gets.
    columns : mapping of str to callable
        The same for options that hold one entry per row: ``check(value, n_rows)``; the kernel
        finds them with ``block.column(name)``.
    reads_unjudged : bool
        Whether the measure is defined by what is unjudged; `unjudged=` does not change it then.
    ties : tuple of str
        Rules for ties that the measure knows besides document ids, the default first.
    bounds : callable or None
        ``bounds(block, k)``: the DCG that scores 0 and the DCG that scores 1, for the measures of
        that form.
    additive : callable or None
        ``additive(facts)``: the measure as a sum over documents, an `Additive`, or None where its
        options or the cut-off do not let it be one. The kernel stays what decides; the two are
        tested against each other.
    order_matters : {"always", "with k", "never"}
        Whether the order of a query's documents changes the measure.
    trec_eval : tuple of str
        What trec_eval calls it; "@" stands for the cut-off.
    title : str
        The name as the field writes it.
    """

    name: str
    function: Callable
    kernel: Kernel
    takes_k: bool
    greater_is_better: bool
    summary: str
    value_range: tuple[float, float]
    range_holds_for: str = "any gains"
    options: Mapping[str, Callable] = field(default_factory=lambda: MappingProxyType({}))
    columns: Mapping[str, Callable] = field(default_factory=lambda: MappingProxyType({}))
    reads_unjudged: bool = False
    ties: tuple[str, ...] = TIES
    bounds: Callable | None = None
    additive: Callable | None = None
    order_matters: str = "always"
    trec_eval: tuple[str, ...] = ()
    title: str = ""

    def __reduce__(self):
        # The table knows it by its name, in every process.
        return _find, (self.name,)

    @cached_property
    def defaults(self) -> dict:
        """Default of each option and column."""
        parameters = inspect.signature(self.function).parameters
        return {name: parameters[name].default for name in (*self.options, *self.columns)}

    def bind(self, k: int | None, options: Mapping) -> Callable[[ListBlock], np.ndarray]:
        """Kernel of a block alone; options that are not given take their defaults."""
        known = {
            name: check(options.get(name, self.defaults[name]))
            for name, check in self.options.items()
        }
        return partial(self.kernel, k=k, **known)

    def row_columns(self, options: Mapping, n_rows: int) -> dict[str, np.ndarray]:
        """Options that hold one entry per row, checked; those that are None are left out."""
        columns = {
            name: check(options[name], n_rows)
            for name, check in self.columns.items()
            if options.get(name) is not None
        }
        return {name: column for name, column in columns.items() if column is not None}

    def ranked_lists(
        self, y_true, y_score, *, groups, gains, ties, unjudged, options
    ) -> RankedLists:
        """The checked rows, as this measure wants them."""
        self.check_ties(ties)
        check_choice(unjudged, "unjudged", UNJUDGED)
        lists = RankedLists(
            y_true,
            y_score,
            groups=groups,
            gains=gains,
            ties=ties,
            unjudged="zero" if self.reads_unjudged else unjudged,
        )
        lists.columns = self.row_columns(options, len(lists.gains))
        return lists

    def check_ties(self, ties) -> None:
        """Raise for a rule that this measure does not know."""
        if isinstance(ties, str) and ties in TIES and ties not in self.ties:
            raise InputError(
                f"ties={brief(ties)} is not possible for {brief(self.name)}, which looks at whole "
                f"orders: choose one of {', '.join(map(repr, self.ties))} or pass document ids."
            )


def _find(name):
    """The line of the table, for unpickling."""
    return MEASURES[name]


class ParsedMeasure(NamedTuple):
    """A measure, its cut-off and its options, as read from text such as "rbp(persistence=0.9)"."""

    measure: Measure
    k: int | None
    options: dict

    def as_sum(self, facts) -> Additive | None:
        """The measure as a sum over the documents of some facts, None where it is not one."""
        form = None if self.measure.additive is None else self.measure.additive(facts)
        return None if form is None else replace(form, k=form.k or self.k)

    def with_cutoff(self, k) -> "ParsedMeasure":
        """The same measure with the cut-off `k` too; None leaves it as it is."""
        k = check_k(k)
        if k is None:
            return self
        if not self.measure.takes_k:
            raise InputError(f"{brief(self.measure.name)} has no cut-off, got k={k}: leave k out.")
        if self.k not in (None, k):
            raise InputError(
                f"k={k} contradicts the cut-off of {brief(self.text)}: give one of the two."
            )
        return self._replace(k=k)

    def utility(self, y_true, y_score, *, groups, gains=None, average="mean"):
        """The measure by its own defaults, negated where lower is better."""
        cutoff = {"k": self.k} if self.measure.takes_k else {}
        value = self.measure.function(
            y_true, y_score, groups=groups, gains=gains, average=average, **cutoff, **self.options
        )
        return value if self.measure.greater_is_better else 0.0 - value

    @property
    def text(self) -> str:
        """The string form."""
        options = ",".join(f"{name}={value}" for name, value in self.options.items())
        cutoff = "" if self.k is None else f"@{self.k}"
        return f"{self.measure.name}{f'({options})' if options else ''}{cutoff}"


def measure(
    name,
    kernel,
    *,
    undefined,
    value_range,
    range_holds_for="any gains",
    takes_k=True,
    greater_is_better=True,
    options=None,
    columns=None,
    ties=TIES,
    reads_unjudged=False,
    bounds=None,
    additive=None,
    order_matters="always",
    trec_eval=(),
    title=None,
):
    """Enter a public function into the measure table and complete its documentation.

    The texts ``{parameters}`` and ``{returns}`` in the docstring are replaced by what all measures
    share; parameters of a measure's own stand between the two, and without any, ``{parameters}``
    alone stands for both.
    """

    def enter(function):
        shared = _PARAMETERS.format(
            k=_K if takes_k else "",
            ties=_TIES[ties[0]],
            unjudged=_READS_UNJUDGED if reads_unjudged else _UNJUDGED,
            undefined=undefined,
        )
        doc = function.__doc__
        if "\n    {returns}\n" in doc:
            doc = doc.replace("\n    {parameters}\n", shared).replace("\n    {returns}\n", _RETURNS)
        else:
            doc = doc.replace("\n    {parameters}\n", shared + _RETURNS)
        function.__doc__ = doc
        MEASURES[name] = Measure(
            name=name,
            function=function,
            kernel=kernel,
            takes_k=takes_k,
            greater_is_better=greater_is_better,
            summary=doc.strip().splitlines()[0],
            value_range=tuple(map(float, value_range)),
            range_holds_for=range_holds_for,
            options=MappingProxyType(dict(options or {})),
            columns=MappingProxyType(dict(columns or {})),
            ties=ties,
            reads_unjudged=reads_unjudged,
            bounds=bounds,
            additive=additive,
            order_matters=order_matters,
            trec_eval=trec_eval,
            title=title or name,
        )
        return function

    return enter


def score(
    name,
    y_true,
    y_score,
    *,
    groups,
    gains,
    ties,
    unjudged,
    undefined,
    average,
    k=None,
    **options,
):
    """Compute a measure from arrays: the whole way of every public function."""
    entry = MEASURES[name]
    kernel = entry.bind(check_k(k), options)
    check_undefined(undefined)
    check_choice(average, "average", ("mean", None))
    lists = entry.ranked_lists(
        y_true,
        y_score,
        groups=groups,
        gains=gains,
        ties=ties,
        unjudged=unjudged,
        options=options,
    )
    values = with_undefined(lists.per_query(kernel), undefined)
    return values if average is None else mean_over_queries(values)


def check_measure_parameters(entry: Measure, params) -> None:
    """Raise for parameters that no data could make right."""
    check_undefined(params.get("undefined", 0.0))
    check_choice(params.get("unjudged", "zero"), "unjudged", UNJUDGED)
    check_gains(params.get("gains"))
    ties = params.get("ties", entry.ties[0])
    if isinstance(ties, str):
        check_choice(ties, "ties", entry.ties)
    entry.bind(None, params)


def check_undefined(undefined) -> None:
    """A number, or "skip"."""
    is_number = isinstance(undefined, Real) and not isinstance(undefined, bool)
    if (isinstance(undefined, str) and undefined == "skip") or (
        is_number and abs(undefined) <= sys.float_info.max
    ):
        return
    raise InputError(f"undefined must be a finite number or 'skip', got {brief(undefined)}.")


def with_undefined(values, undefined) -> np.ndarray:
    """Give undefined queries (NaN) their value."""
    if undefined != "skip":
        values[np.isnan(values)] = undefined
    return values


def mean_over_queries(values) -> float:
    """Mean of the queries that have a value; NaN where none has."""
    counted = values[~np.isnan(values)]
    return float(counted.mean()) if len(counted) else float("nan")


def get_measure_names() -> list[str]:
    """Names of all measures, sorted.

    Returns
    -------
    list of str
        The names that :func:`make_ranking_scorer`, `RankAndFilter(scoring=)` and the command line
        understand; those with a cut-off may be followed by "@k".

    Examples
    --------
    >>> from skfilterrank.metrics import get_measure_names
    >>> "ndcg_f" in get_measure_names()
    True
    """
    return sorted(MEASURES)


def parse_measure(text: str | ParsedMeasure) -> ParsedMeasure:
    """Read the string form of a measure: "ap", "ndcg_f@10", "rbp(persistence=0.9)@100"."""
    if isinstance(text, ParsedMeasure):
        return text
    if isinstance(getattr(text, "_measure", None), Measure):
        raise InputError(
            f"{brief(text)} is a scorer, and a name is wanted: write {brief(text.name)} "
            "with its options in parentheses, such as 'rbp(persistence=0.95)@10'."
        )
    found = _PARSED.fullmatch(text) if isinstance(text, str) else None
    if found is None or found["name"] not in MEASURES:
        raise InputError(
            f"{brief(text)} is not a measure: expected one of {', '.join(get_measure_names())}, "
            "with a cut-off such as 'ndcg_f@10' where wanted."
        )
    entry, depth = MEASURES[found["name"]], found["depth"]
    options = _parse_options(entry, found["options"], text)
    if depth is None:
        return ParsedMeasure(entry, None, options)
    if not entry.takes_k:
        raise InputError(
            f"{brief(entry.name)} has no cut-off, got {brief(text)}: write {brief(entry.name)}."
        )
    # Beyond any list, and of thousands of digits Python makes no number.
    if not depth.isdecimal() or len(depth) > _MOST_DIGITS or int(depth) < 1:
        raise InputError(
            f"the cut-off in {brief(text)} must be a positive whole number, such as "
            f"'{entry.name}@10'."
        )
    return ParsedMeasure(entry, int(depth), options)


def _parse_options(entry, text, whole):
    """Options of the string form: numbers and words, by name."""
    options = {}
    for part in split_at_commas(text or ""):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or key not in entry.options:
            allowed = ", ".join(f"{name}=..." for name in entry.options) or "none"
            raise InputError(
                f"{brief(part.strip())} in {brief(whole)} is not an option of {brief(entry.name)}: "
                f"it has {allowed}."
            )
        if key in options:
            raise InputError(f"{brief(whole)} gives {key} twice: give it once.")
        options[key] = _number_or_word(value)
    entry.bind(None, options)
    return options


def split_at_commas(text):
    """The parts between commas that are in no parentheses."""
    parts, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part for part in parts if part.strip() or len(parts) > 1]


def _number_or_word(text):
    """The int or float that a text spells, None for "None", else the text."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None if text == "None" else text

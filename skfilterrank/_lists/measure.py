"""Measures: callable objects that are declared once, with a kernel for blocks of queries."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from skfilterrank._base.checks import check_choice, check_k
from skfilterrank._base.words import warn_user
from skfilterrank._lists.additive import Additive
from skfilterrank._lists.gains import LIBRARIES, Gains, OwnReading, as_gains, check_gains
from skfilterrank._lists.lists import TIES, UNJUDGED, ListBlock, RankedLists
from skfilterrank._lists.queries import GroupIndex
from skfilterrank._lists.scoring import (
    QueryWeight,
    check_undefined,
    given_weights,
    number_over_queries,
    with_undefined,
)
from skfilterrank.exceptions import DataWarning, InputError, InputTypeError, brief

MEASURES: dict[str, Measure] = {}


Kernel = Callable[..., np.ndarray]


@dataclass(eq=False, repr=False)
class Measure:
    """A measure of ranked lists, called as ``measure(y_true, y_score, groups=...)``.

    Making one enters it into the table of measures.

    Attributes
    ----------
    name : str
        Name in the string form, such as "ndcg_f" in "ndcg_f@10".
    kernel : callable
        ``kernel(block, k, *, option=default, ...)``: the values of a block of queries, NaN where
        undefined. The measure has its documentation and its options, and a cut-off if the kernel
        has the parameter `k`.
    undefined : str
        Condition under which a query has no value, for the documentation.
    value_range : tuple of two floats
        Smallest and largest possible value.
    range_holds_for : str
        Gains for which `value_range` holds: "any gains", "nonnegative gains" or "binary gains".
        With another text, for the documentation, no range is known.
    greater_is_better : bool
        Whether higher values are better; scorers negate the others.
    options : mapping of str to callable
        Parameters that not all measures have, each with a function ``check(value, name)`` that
        returns the value for the kernel.
    columns : mapping of str to callable
        Options that hold one entry per row, each with a function ``check(value, n_rows)``; the
        kernel reads them with ``block.column(name)``.
    needs_columns : bool
        Whether the measure makes sense only with its columns.
    reads_unjudged : bool
        Whether the measure is defined by what is unjudged; `unjudged=` does not change it then.
    ties : tuple of str
        Rules for ties that the measure knows besides document ids, the default first.
    ties_are_means : bool
        True if ties="average" gives the mean of the values over the tied orders; False if it gives
        the value for the mean gains of the tied documents.
    additive : callable or None
        ``additive(facts)``: the measure as a sum over documents, an `Additive`, or None if its
        options or the cut-off do not allow that. The kernel defines the measure; tests compare the
        two.
    of_set : callable or None
        ``of_set(block, count, **options)``: values without a cut-off at every prefix of each list,
        for a measure of the set of shown documents. ``count(mask)`` counts the shown documents in a
        mask, and ``count()`` all shown documents.
    set_of_first : bool
        Whether the value with a cut-off is that of `of_set` for the first k shown documents.
    zero_or_one : bool or callable
        Whether each value is 0 or 1 if documents have one order; or a function of the cut-off that
        tells it. Risks with such losses get exact binomial tests.
    intervals_cover : bool or callable
        Whether benchmarks/results/intervals_dl2019.md and intervals_hard.md show that intervals
        from a sample of documents cover; or a function of the cut-off that tells it.
    reads : {"all", "shown", "judged", "none"}
        What can change a value: labels of all documents, labels of shown ones, only which documents
        are judged, or no label.
    about : {"good", "forbidden", "both", "hidden"}
        The documents that the measure is about: good, forbidden or hidden ones, or good and
        forbidden ones ("both"). By the latter, an unjudged document is better than a forbidden one.
    preference : {"", "recall", "precision"}
        Kind of the preferences between systems that ``scale="preference"`` stands for.
    as_risk : str
        What a certificate calls the mean, with "{queries}" and "{top}" for the queries that count
        and the places that do; the name by default.
    as_limit : str
        For a measure that is no risk, a sentence on the risk that keeps it above a number.
    deciding : callable or None
        ``deciding(list, **options)``: how many unjudged documents of a list must be good for the
        extreme values, see `metrics._unjudged_bounds`; None stands for any number.
    order_matters : {"always", "with k", "never"}
        Whether the order of a query's judged documents changes the measure.
    over_queries : {"mean", "sum", "geometric mean"}
        How the values of all queries are combined into one number.
    aliases : tuple of str
        Other names of the measure in trec_eval, ir_measures and papers. In names that write the
        cut-off otherwise than "@k", "@" stands for the number, as in "P_@".
    option_aliases : mapping of str to str
        Names of options for other names of these options.
    cut_option : str
        For a measure without a cut-off, the option that a number behind "@" sets, as the recall of
        "IPrec@0.5".
    presets : mapping of str to mapping
        Options that an alias sets, by alias.
    as_in : mapping of str to mapping
        Settings with which the measure has the values of another library, by library: gains, ties,
        undefined and options. tests/metrics/test_like.py compares with the libraries.
    with_forbidden : str
        For a measure that does not support forbidden documents, the measures to use instead; "{at}"
        stands for its cut-off, "{cut}" for that of trec_eval.
    without_k : str
        For a measure without a cut-off, what to use instead of one.
    function : callable or None
        The function that has the documentation and the options; None if the kernel has them.
    plain : Measure or None
        For a variant, the measure of the table that it is made from.
    own_reading : OwnReading or None
        For a variant, the options that change its judgments.
    """

    name: str
    kernel: Kernel
    _: KW_ONLY
    undefined: str
    value_range: tuple[float, float]
    range_holds_for: str = "any gains"
    greater_is_better: bool = True
    options: Mapping[str, Callable] = field(default_factory=dict)
    columns: Mapping[str, Callable] = field(default_factory=dict)
    needs_columns: bool = False
    reads_unjudged: bool = False
    ties: tuple[str, ...] = TIES
    ties_are_means: bool = True
    additive: Callable | None = None
    of_set: Callable | None = None
    set_of_first: bool = False
    zero_or_one: bool | Callable[[int | None], bool] = False
    intervals_cover: bool | Callable[[int | None], bool] = False
    reads: str = "all"
    about: str = "good"
    preference: str = ""
    as_risk: str = ""
    as_limit: str = ""
    deciding: Callable | None = None
    order_matters: str = "always"
    over_queries: str = "mean"
    aliases: tuple[str, ...] = ()
    option_aliases: Mapping[str, str] = field(default_factory=dict)
    cut_option: str = ""
    presets: Mapping[str, Mapping] = field(default_factory=dict)
    as_in: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    with_forbidden: str = ""
    without_k: str = ""
    function: Callable | None = None
    plain: Measure | None = None
    own_reading: OwnReading | None = None

    def __post_init__(self):
        self.function = self.function or self.kernel
        self.value_range = tuple(map(float, self.value_range))
        self.takes_k = "k" in inspect.signature(self.function).parameters
        self.__module__, self.__name__ = self.function.__module__, self.name
        self.__signature__ = self._signature()
        self.__doc__ = documentation(self)
        self.summary = self.__doc__.splitlines()[0]
        if self.plain is None:
            MEASURES[self.name] = self

    def _signature(self):
        """Return the signature: parameters of all measures, and the options of this one."""
        shared = dict(inspect.signature(Measure.__call__).parameters)
        shared["ties"] = shared["ties"].replace(default=self.ties[0])
        for name in ("self", "options") if self.takes_k else ("self", "options", "k"):
            del shared[name]
        assert self.function is not None
        declared = inspect.signature(self.function).parameters.values()
        own = [
            each
            for each in declared
            if each.kind is each.KEYWORD_ONLY and each.name not in ("k", "pool")
        ]
        own += [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None)
            for name in self.columns
        ]
        self.defaults = {each.name: each.default for each in own}
        return inspect.Signature([*shared.values(), *own], return_annotation="float")

    def __call__(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        groups: ArrayLike | None = None,
        k: int | None = None,
        gains: Gains = None,
        ties: str | ArrayLike | None = None,
        unjudged: str = "zero",
        undefined: float | str = 0.0,
        query_weight: QueryWeight = None,
        **options: Any,
    ) -> float:
        """Compute the measure of each query, and the mean over queries.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Label of each (query, document) row; any order. NaN means unjudged. A Series may carry
            the query ids in an index level named "qid".
        y_score : array-like of shape (n_rows,)
            Score of each row, higher is better; -inf means hidden or not retrieved.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row, of any type. None looks for an index level "qid" on `y_true`.
        k : int or None, default=None
            Cut-off: number of places of the returned list that count; None means all. Places are
            counted after hidden documents are removed.
        gains : None, "exp2", dict or callable, default=None
            How a label becomes a gain: None takes the label itself; "exp2" gives ``2**label - 1``
            from 0 up and the label itself below; a dict gives the gain of each label; a callable is
            called once per distinct label. A gain below 0 marks a forbidden document, NaN an
            unjudged one.
        ties : {"average", "stable", "worst", "best"} or array-like of shape (n_rows,), \
default="average"
            Order of rows with equal scores in one query: the exact mean over all their orders, the
            order of the rows, lowest gain first, highest gain first, or document ids, of which the
            greatest comes first (the rule of trec_eval).
        unjudged : {"zero", "drop"}, default="zero"
            "zero" treats an unjudged row as a document of gain 0; "drop" removes it from the list
            first. Unjudged rows are never part of the pool from which bounds are computed.
        undefined : float or "drop", default=0.0
            Value of a query for which the measure is undefined; "drop" leaves such queries out of
            the mean.
        query_weight : dict, Series or array-like of shape (n_rows,), default=None
            Weight of each query in the mean, from 0 up: a dict or a Series by query id, or one
            weight per row, the same for all rows of a query. A query of weight 0 is left out, one
            of weight 2 counts as two. None gives all queries the same weight.
        **options
            Options of this measure alone.

        Returns
        -------
        float
            The mean over queries, NaN where all are dropped. The method ``per_query`` takes the
            same arguments without weights, and returns one value for each query, in the order of
            the sorted query ids.

        Raises
        ------
        ValueError
            If query ids are missing or of another length, if `y_score` holds NaN or +inf, if a
            label is not a number and has no entry in `gains`, or if a parameter is out of range.
        """
        how = {"groups": groups, "k": k, "gains": gains, "ties": ties, "unjudged": unjudged}
        values, index = self._per_query(y_true, y_score, undefined=undefined, **how, **options)
        return number_over_queries(values, self.over_queries, given_weights(query_weight, index))

    def per_query(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        groups: ArrayLike | None = None,
        k: int | None = None,
        gains: Gains = None,
        ties: str | ArrayLike | None = None,
        unjudged: str = "zero",
        undefined: float | str = 0.0,
        **options: Any,
    ) -> np.ndarray:
        """Return the value of each query, in the order of the sorted query ids.

        Parameters are those of the measure; ``undefined="drop"`` gives NaN.
        """
        how = {"groups": groups, "k": k, "gains": gains, "ties": ties, "unjudged": unjudged}
        return self._per_query(y_true, y_score, undefined=undefined, **how, **options)[0]

    def _per_query(
        self, y_true, y_score, *, groups, k, gains, ties, unjudged, undefined, **options
    ) -> tuple[np.ndarray, GroupIndex]:
        """Return the value of each query, and the query ids of the rows."""
        if k is not None and not self.takes_k:
            options["k"] = k
        for name in sorted(options.keys() - self.defaults.keys()):
            raise InputTypeError(f"{self.name}() got an unexpected keyword argument {name!r}")
        kernel = self.bind(check_k(k), options)
        check_undefined(undefined)
        lists = self.ranked_lists(
            y_true,
            y_score,
            groups=groups,
            gains=gains,
            ties=self.ties[0] if ties is None else ties,
            unjudged=unjudged,
            options=options,
        )
        warn_of_forbidden([ParsedMeasure(self, k, {})], lists.gains)
        n_open = lists.count_unjudged_queries()
        warn_of_unjudged([ParsedMeasure(self, k, {})], n_open, lists.index.n_queries, undefined)
        return with_undefined(lists.per_query(kernel), undefined), lists.index

    def ranked_lists(
        self, y_true, y_score, *, groups, gains, ties, unjudged, options
    ) -> RankedLists:
        """Check the rows, and return the lists from which this measure is computed."""
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
        return lists.replace(columns=self.row_columns(options, len(lists.gains)))

    def bind(self, k: int | None, options: Mapping) -> Callable[[ListBlock], np.ndarray]:
        """Return the kernel as a function of the block only; options have defaults."""
        cutoff = {"k": k} if self.takes_k else {}
        return partial(self.kernel, **cutoff, **self._checked(options))

    def bind_of_set(self, options: Mapping) -> Callable | None:
        """Return `of_set` with its options set; None if the measure has no `of_set`."""
        return None if self.of_set is None else partial(self.of_set, **self._checked(options))

    @property
    def sign(self) -> float:
        """Sign of the measure: 1, or -1 if lower values are better."""
        return 1.0 if self.greater_is_better else -1.0

    def _checked(self, options):
        """Check each option, and return the options as the kernel gets them."""
        return {
            name: check(options.get(name, self.defaults[name]), name)
            for name, check in self.options.items()
        }

    def row_columns(self, options: Mapping, n_rows: int) -> dict[str, np.ndarray]:
        """Check options that hold one entry per row; options that are None are left out."""
        return {
            name: check(options[name], n_rows)
            for name, check in self.columns.items()
            if options.get(name) is not None
        }

    def check_parameters(self, params) -> None:
        """Validate parameters that do not depend on the data."""
        check_undefined(params.get("undefined", 0.0))
        check_choice(params.get("unjudged", "zero"), "unjudged", UNJUDGED)
        check_gains(params.get("gains"))
        ties = params.get("ties", self.ties[0])
        if isinstance(ties, str):
            check_choice(ties, "ties", self.ties)
        self.bind(None, params)

    def check_ties(self, ties) -> None:
        """Raise for a rule for ties that this measure does not support."""
        if isinstance(ties, str) and ties in TIES and ties not in self.ties:
            raise InputError(
                f"{{ties={brief(ties)}}} is not possible for {brief(self.name)}, which needs one "
                f"order of the documents: choose one of {', '.join(map(repr, self.ties))} or "
                "{pass document ids}.",
                argument=(f"ties={brief(ties)}", "pass document ids"),
            )

    @property
    def is_rate(self) -> bool:
        """True if values are from 0 to 1 and lower is better, as a risk needs."""
        return not self.greater_is_better and self.value_range == (0.0, 1.0)

    @property
    def has_exact_mean(self) -> bool:
        """True if the value of tied documents is the mean over all their rankings."""
        return "average" in self.ties and self.ties_are_means

    def range_for(self, gains=None) -> tuple[float, float]:
        """Return the smallest and the largest possible value for these gains, or for any gains."""
        fits = {"any gains": True}
        if gains is not None:
            fits["nonnegative gains"] = bool((gains >= 0).all())
            fits["binary gains"] = bool(np.isin(gains, (0, 1)).all())
        return self.value_range if fits.get(self.range_holds_for) else (-np.inf, np.inf)

    def with_reading(self, own: OwnReading | None) -> Measure:
        """Return the variant whose kernel gets a block with judgments changed by `own`."""
        return self if own is None else _variant(self, own)

    def preset_of(self, options: dict) -> dict:
        """Return the options that one of the measure's names stands for, if all are given."""
        found = (each for each in self.presets.values() if each.items() <= options.items())
        return dict(next(found, {}))

    def settings_like(self, library: str, given: Iterable[str] = ()) -> Mapping[str, Any]:
        """Look up the settings of a library; `given` must not contain the same names."""
        check_choice(library, "like", tuple(LIBRARIES))
        settings = self.as_in.get(library, LIBRARIES[library])
        if settings is None:
            known = ", ".join(name for name, each in MEASURES.items() if library in each.as_in)
            raise InputError(
                f"like={brief(library)} has no {brief(self.name)}; it has {known}. Set "
                "{gains=}, {ties=} and {undefined=} as the library does.",
                argument=("gains=", "ties=", "undefined="),
            )
        for each in sorted(settings.keys() & set(given)):
            raise InputError(
                f"{each} is given, and like={brief(library)} sets it: give one of the two. "
                f"like={brief(library)} is {', '.join(f'{k}={v!r}' for k, v in settings.items())}."
            )
        return settings

    def like(self, library: str) -> Measure:
        """Make the variant that reproduces the numbers of a library."""
        return self.with_reading(OwnReading.like(library, self.settings_like(library)))

    @property
    def library(self) -> str | None:
        """The library whose values the variant reproduces."""
        return None if self.own_reading is None else self.own_reading.library

    @property
    def own_text(self) -> str:
        """The variant's own options, as written in its name."""
        return "" if self.own_reading is None else self.own_reading.text

    def __repr__(self):
        return f"{ParsedMeasure(self, None, {})!r}.measure"

    def __reduce__(self):
        if self.plain is not None:
            return Measure.with_reading, (self.plain, self.own_reading)
        return measure_of, (self.name, self.function)


def measure_of(name: str, function: Callable) -> Measure:
    """Return a measure of the table, whose module is imported to unpickle its function."""
    return MEASURES[name]


@cache
def _variant(plain: Measure, own: OwnReading) -> Measure:
    """Make a variant of a measure; it has no `additive`, since `Facts` hold unchanged judgments."""
    if own.drops_unjudged and plain.reads_unjudged:
        raise InputError(
            f"{brief(plain.name)} is defined by the unjudged documents, so they cannot be "
            "taken out of its lists: leave out {unjudged=drop}.",
            argument="unjudged=drop",
        )
    fixed = {name: plain.options[name](value, name) for name, value in own.options}

    def kernel(block, **given):
        values = plain.kernel(own.of_block(block), **given, **fixed)
        return values if own.undefined is None else with_undefined(values.copy(), own.undefined)

    changes: dict[str, Any] = {"additive": None, "of_set": None, "own_reading": own}
    if own.drops_unjudged and plain.reads == "none":
        # The label tells if a document is judged.
        changes["reads"] = "shown"
    if own.ties is not None:
        # The first rule is the default.
        changes["ties"] = (own.ties, *(rule for rule in plain.ties if rule != own.ties))
        changes["ties_are_means"] = plain.ties_are_means and own.ties == "average"
    options = {name: check for name, check in plain.options.items() if name not in fixed}
    name = f"{plain.name}({own.text})"
    return replace(plain, name=name, kernel=kernel, options=options, plain=plain, **changes)


def _holds(fact, k):
    """Tell whether a fact holds, which may depend on the cut-off."""
    return fact(k) if callable(fact) else fact


class ParsedMeasure(NamedTuple):
    """A measure, its cut-off and its options, as read from text such as "rbp(persistence=0.9)"."""

    measure: Measure
    k: int | None
    options: dict

    def __repr__(self):
        return f"get_measure({self.text!r})"

    def __call__(self, y_true, y_score, **given):
        """Compute the measure with this cut-off and these options."""
        return self.measure(y_true, y_score, **self._arguments(given))

    def per_query(self, y_true, y_score, **given) -> np.ndarray:
        """Return the value of each query with this cut-off and these options."""
        return self.measure.per_query(y_true, y_score, **self._arguments(given))

    def _arguments(self, given):
        """Return the arguments of the measure: its cut-off and options, and what is given."""
        cutoff = {} if self.k is None else {"k": self.k}
        return {**cutoff, **self.options, **given}

    @property
    def is_of_set(self) -> bool:
        """True if the order of the shown documents does not matter."""
        return self.k is None and self.measure.of_set is not None

    @property
    def is_zero_or_one(self) -> bool:
        """True if each value is 0 or 1, where documents have one order."""
        return _holds(self.measure.zero_or_one, self.k)

    @property
    def has_shown_intervals(self) -> bool:
        """True if benchmarks show that intervals from a sample of documents cover."""
        return _holds(self.measure.intervals_cover, self.k)

    def higher_better(self, values):
        """Return values as they are if higher is better, else negated; never -0."""
        return values if self.measure.greater_is_better else 0.0 - values

    def as_sum(self, facts) -> Additive | None:
        """Return the measure as a sum over the documents of `facts`; None if it is no such sum."""
        form = None if self.measure.additive is None else self.measure.additive(facts)
        if not isinstance(form, Additive | None):
            raise InputError(
                f"additive of {brief(self.measure.name)} must return an Additive or None, got "
                f"{brief(form)}."
            )
        return None if form is None else replace(form, k=form.k or self.k)

    def with_cutoff(self, k) -> ParsedMeasure:
        """Return the measure with cut-off `k`; None leaves it unchanged."""
        k = check_k(k)
        if k is None:
            return self
        if not self.measure.takes_k:
            raise InputError(
                f"{brief(self.measure.name)} has no cut-off, got {{k={k}}}: leave {{k}} out.",
                argument=(f"k={k}", "k"),
            )
        if self.k not in (None, k):
            raise InputError(
                f"{{k={k}}} contradicts the cut-off of {brief(self.text)}: give one of the two.",
                argument=f"k={k}",
            )
        return self._replace(k=k)

    def for_threshold(self, k=None) -> ParsedMeasure:
        """Return the measure with cut-off `k`; raise if it cannot select a threshold."""
        parsed = self.for_means("a threshold is chosen")
        return parsed if k is None else parsed.with_cutoff(k)

    def for_means(self, what, takes=("mean",)) -> ParsedMeasure:
        """Return the measure; raise if it is not averaged over queries, which `what` needs."""
        over_queries = self.measure.over_queries
        if over_queries not in takes:
            raise InputError(
                f"{brief(self.text)} is the {over_queries} over queries, and {what} by the mean: "
                "name another measure, such as 'ap' or 'ndcg_f'."
            )
        return self

    def utility(self, y_true, y_score, *, groups, gains=None, query_weight=None):
        """Compute the measure by its own defaults, negated where lower is better."""
        value = self(
            y_true,
            y_score,
            groups=groups,
            gains=gains,
            query_weight=query_weight,
        )
        return self.higher_better(value)

    def like(self, library: str, given: Iterable[str] = ()) -> ParsedMeasure:
        """Return a library's variant; raise if its options or `given` set the same parameter."""
        preset = self.measure.preset_of(self.options)
        own = {name: value for name, value in self.options.items() if name not in preset}
        settings = self.measure.settings_like(library, {*own, *given})
        kept = {name: self.options[name] for name in self.options if name not in settings}
        return self._replace(measure=self.measure.like(library), options=kept)

    @property
    def text(self) -> str:
        """The string form, with the names of the measure table."""
        options = list(filter(None, [self.measure.own_text]))
        for name, value in self.options.items():
            options.append(f"{name}={value}")
        cutoff = "" if self.k is None else f"@{self.k}"
        name = (self.measure.plain or self.measure).name
        within = f"({','.join(options)})" if options else ""
        return f"{name}{within}{cutoff}"


def counts_forbidden(measures: Iterable[ParsedMeasure]) -> bool:
    """Tell if a measure is about forbidden documents alone, so that labels below 0 are meant."""
    return any(each.measure.about == "forbidden" for each in measures)


def warn_of_forbidden(measures: Iterable[ParsedMeasure], labels, gains: Gains = None) -> None:
    """Warn of measures that do not support gains below 0 but receive some."""
    if odd := forbidden_seen(measures, labels, gains):
        warn_of(odd)


def forbidden_seen(measures: Iterable[ParsedMeasure], labels, gains) -> list[ParsedMeasure]:
    """Find the measures that do not support gains below 0 but receive some."""
    odd, gained = [], None
    for each in measures:
        if each.measure.with_forbidden:
            gained = as_gains(labels, gains) if gained is None else gained
            if any_below_0(each, gained):
                odd.append(each)
    return odd


def warn_of(odd: list[ParsedMeasure]) -> None:
    """Warn of measures that saw gains below 0."""
    if not odd:
        return
    names, k = ", ".join(each.text for each in odd), odd[0].k
    instead = odd[0].measure.with_forbidden.format(
        at="" if k is None else f"@{k}", cut="" if k is None else f"_cut_{k}"
    )
    warn_user(
        f"{names}: some gains are below 0 (forbidden documents), which the measure does not "
        f"support: its values leave the range from 0 to 1. Use {instead}.",
        DataWarning,
    )


def any_below_0(parsed, gains):
    """Tell whether a measure sees gains below 0."""
    own = parsed.measure.own_reading
    return bool(((gains if own is None else own.of(gains)) < 0).any())


@cache
def _an_unjudged_list() -> RankedLists:
    return RankedLists([np.nan], [1.0], groups=[0])


def warn_of_unjudged(
    measures: Iterable[ParsedMeasure], n_unjudged: int, n_queries: int, undefined: float | str = 0.0
) -> None:
    """Warn of queries without a judged document, and tell how each measure counts them."""
    # The value of a single list is not mixed with others.
    if not n_unjudged or n_queries == 1:
        return
    ways: dict[str, list[str]] = {}
    lists = _an_unjudged_list()
    for each in measures:
        entry = each.measure
        # Sums count what is known.
        if entry.reads == "none" or entry.over_queries == "sum":
            continue
        if np.isnan(lists.per_query(entry.bind(each.k, each.options))[0]):
            if undefined != "drop":
                ways.setdefault(f"as {undefined:g} ({undefined=:g})", []).append(each.text)
        elif not entry.reads_unjudged:
            ways.setdefault("as lists without a good or a forbidden document", []).append(each.text)
    if ways:
        how = ", and ".join(f"{way} in {', '.join(names)}" for way, names in ways.items())
        warn_user(
            f"queries without a judged document ({n_unjudged:,} of {n_queries:,}) count {how}. "
            "Judge some of their documents, or leave the rows of these queries out.",
            DataWarning,
        )


_WHOLE_ORDERS = """ties : {"worst", "best", "stable"} or array-like of shape (n_rows,), \
default="worst"
    Order of rows with equal scores in one query: lowest gain first, highest gain first, the
    order of the rows, or document ids, of which the greatest comes first (the rule of
    trec_eval)."""
_READS_UNJUDGED = """unjudged : {"zero", "drop"}, default="zero"
    Has no effect, because the measure is defined by the unjudged documents. The parameter
    exists so that all measures can be called alike."""
# Parts of a docstring: text, parameters, and later sections.
_PARTS = re.compile(
    r"(?P<text>.*?)(?:\n\nParameters\n-+\n(?P<own>.*?))?(?P<rest>\n\n[A-Z][\w ]*\n-{3,}\n.*)?",
    re.DOTALL,
)


def documentation(measure: Measure) -> str:
    """Return a function's docstring with the parameters of all measures before its own."""
    doc = inspect.cleandoc(measure.function.__doc__ or "").rstrip()
    parts: Any = _PARTS.fullmatch(doc or f"{measure.name}, by {measure.__module__}.")
    of_all, returns = _documentation_of_all()
    entries = dict(of_all)
    if not measure.takes_k:
        del entries["k"]
    if measure.ties[0] != "average":
        entries["ties"] = _WHOLE_ORDERS
    if measure.reads_unjudged:
        entries["unjudged"] = _READS_UNJUDGED
    condition = f"is undefined ({measure.undefined});"
    entries["undefined"] = entries["undefined"].replace("is undefined;", condition)
    parameters = "\n".join(["Parameters\n----------", *entries.values(), parts["own"] or ""])
    rest = (parts["rest"] or "").strip()
    if rest.startswith("Returns\n---"):
        returns = ""
    sections = filter(None, [parts["text"], parameters.rstrip(), returns, rest])
    return "\n\n".join(sections) + "\n"


@cache
def _documentation_of_all() -> tuple[dict[str, str], str]:
    """Return the parameters that all measures share, by name, and the sections after them."""
    parts: Any = _PARTS.fullmatch(inspect.cleandoc(Measure.__call__.__doc__ or ""))
    entries = re.split(r"\n(?=\S)", parts["own"])
    by_name = {entry.partition(" :")[0]: entry for entry in entries if " :" in entry}
    return by_name, parts["rest"].strip()

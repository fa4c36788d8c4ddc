"""The measure table: what can be said of a measure, and how it is entered."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial, update_wrapper
from types import FunctionType
from types import MappingProxyType as _ReadOnly
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from skfilterrank._lists.additive import Additive
from skfilterrank._lists.arrays import cached_property
from skfilterrank._lists.checks import check_choice, check_k
from skfilterrank._lists.gains import Gains, as_gains, check_gains
from skfilterrank._lists.like import settings_like
from skfilterrank._lists.lists import TIES, UNJUDGED, ListBlock, RankedLists
from skfilterrank._lists.measure_docs import complete_documentation
from skfilterrank._lists.own_reading import OwnReading
from skfilterrank._lists.query_weights import QueryWeight
from skfilterrank._lists.scoring import (
    Scores,
    check_average,
    check_undefined,
    mean_of,
    with_undefined,
)
from skfilterrank._lists.user_warnings import warn_user
from skfilterrank.exceptions import DataWarning, InputError, InputTypeError, brief

MEASURES: dict[str, Measure] = {}

Kernel = Callable[..., np.ndarray]


@dataclass(frozen=True, eq=False, repr=False)
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
        Parameters that only this measure and its kin have, each with a function
        ``check(value, name)`` that returns what the kernel gets.
    columns : mapping of str to callable
        The same for options that hold one entry per row: ``check(value, n_rows)``; the kernel
        finds them with ``block.column(name)``.
    reads_unjudged : bool
        Whether the measure is defined by what is unjudged; `unjudged=` does not change it then.
    ties : tuple of str
        Rules for ties that the measure knows besides document ids, the default first.
    ties_are_means : bool
        Whether "average" is the mean of the values of the tied orders, and not the value of their
        mean.
    additive : callable or None
        ``additive(facts)``: the measure as a sum over documents, an `Additive`, or None where its
        options or the cut-off do not let it be one. The kernel stays what decides; the two are
        tested against each other.
    of_set : callable or None
        ``of_set(block, count, **options)``: values without a cut-off at every prefix of each list,
        of a measure that goes by how many documents are shown; ``count(mask)`` counts the shown
        documents of a mask, and ``count()`` all of them.
    order_matters : {"always", "with k", "never"}
        Whether the order of a query's judged documents changes the measure.
    over_queries : {"mean", "sum", "geometric mean"}
        How one number is made of the values of all queries.
    aliases : tuple of str
        Other names, by which trec_eval, ir_measures and papers call the same numbers; "@" stands
        for the cut-off of names that do not have it behind "@", such as "P_@".
    option_aliases : mapping of str to str
        Other names of options, with their own.
    presets : mapping of str to mapping
        Options that aliases stand for.
    title : str
        The name as the field writes it.
    with_forbidden : str
        What to take instead where documents are forbidden, of a measure that is not made for them;
        "{at}" stands for its cut-off, "{cut}" for that of trec_eval.
    plain : Measure or None
        The line of the table, of a measure that reads judgments its own way.
    own_reading : OwnReading or None
        What it makes of the judgments that it is given.
    library : str or None
        The library whose rules for gains, ties and undefined queries it has, whatever it is given.
    """

    name: str
    function: Callable
    kernel: Kernel
    takes_k: bool
    greater_is_better: bool
    summary: str
    value_range: tuple[float, float]
    range_holds_for: str = "any gains"
    options: Mapping[str, Callable] = field(default_factory=lambda: _ReadOnly({}))
    columns: Mapping[str, Callable] = field(default_factory=lambda: _ReadOnly({}))
    reads_unjudged: bool = False
    ties: tuple[str, ...] = TIES
    ties_are_means: bool = True
    additive: Callable | None = None
    of_set: Callable | None = None
    order_matters: str = "always"
    over_queries: str = "mean"
    aliases: tuple[str, ...] = ()
    option_aliases: Mapping[str, str] = field(default_factory=lambda: _ReadOnly({}))
    presets: Mapping[str, Mapping] = field(default_factory=lambda: _ReadOnly({}))
    title: str = ""
    with_forbidden: str = ""
    plain: Measure | None = None
    own_reading: OwnReading | None = None
    library: str | None = None

    def __reduce__(self):
        if self.plain is not None and self.library is not None:
            return Measure.like, (self.plain, self.library)
        if self.plain is not None:
            return Measure.with_reading, (self.plain, self.own_reading)
        # By its function: importing that fills the table, in every process. What stands in a script
        # is sent to other processes as a whole, and its function is not finished when it comes to
        # this.
        parts = None
        if self.function.__module__ == "__main__" or not _is_found(self.function):
            parts = {each.name: getattr(self, each.name) for each in fields(self)}
            # Which pickle knows nothing of.
            parts |= {key: dict(part) for key, part in parts.items() if isinstance(part, _ReadOnly)}
        return _restored, (self.function, parts, self._identity)

    def __getstate__(self):
        # skops asks for this, and may load nothing by its function: the table has the rest.
        if self.plain is None:
            return {"name": self.name}
        return {"plain": self.plain, "reading": self.own_reading, "library": self.library}

    def __setstate__(self, state):
        plain = state.get("plain")
        if plain is None and state["name"] not in MEASURES:
            raise InputError(
                f"the measure {brief(state['name'])} is not known here: run what registers it "
                "(skfilterrank.metrics.register_measure) first."
            )
        if plain is None:
            made = MEASURES[state["name"]]
        elif state["library"] is None:
            made = plain.with_reading(state["reading"])
        else:
            made = plain.like(state["library"])
        vars(self).update(vars(made))

    def range_for(self, gains=None) -> tuple[float, float]:
        """The smallest and the largest value, as far as known of such gains; None: of any."""
        fits = {"any gains": True}
        if gains is not None:
            fits["nonnegative gains"] = bool((gains >= 0).all())
            fits["binary gains"] = bool(np.isin(gains, (0, 1)).all())
        return self.value_range if fits.get(self.range_holds_for) else (-np.inf, np.inf)

    def __eq__(self, other):
        return isinstance(other, Measure) and self._identity == other._identity

    def __hash__(self):
        return hash(self._identity)

    @property
    def _identity(self):
        """What is the same of a measure in all processes."""
        return self.name, *origin(self.function)

    def __repr__(self):
        return f"{ParsedMeasure(self, None, {})!r}.measure"

    def with_reading(self, own_reading: OwnReading | None) -> Measure:
        """The measure that reads judgments its own way; no sum, which sees them as all do."""
        if own_reading is None:
            return self
        if own_reading.drops_unjudged and self.reads_unjudged:
            raise InputError(
                f"{brief(self.name)} is defined by what is unjudged, which cannot be taken out of "
                "its lists: leave out unjudged=drop."
            )

        def kernel(block, k, **options):
            return self.kernel(block.with_reading(own_reading), k, **options)

        return self._variant(
            own_reading.text, kernel, additive=None, of_set=None, own_reading=own_reading
        )

    def like(self, library: str) -> Measure:
        """The measure by the rules of a library, whose number it then is."""
        settings = dict(settings_like(library, self.name, ()))
        gains, ties, undefined = (settings.pop(name) for name in ("gains", "ties", "undefined"))
        reading = None if gains is None else OwnReading(gains=gains)
        fixed = {name: self.options[name](value, name) for name, value in settings.items()}

        def kernel(block, k, **options):
            if reading is not None:
                block = block.with_reading(reading)
            if block.tie_rule != ties:
                block = block.with_ties(ties)
            return with_undefined(self.kernel(block, k, **options, **fixed).copy(), undefined)

        return self._variant(
            f"like={library}",
            kernel,
            additive=None,
            of_set=None,
            own_reading=reading,
            library=library,
            # First, as the default.
            ties=(ties, *(rule for rule in self.ties if rule != ties)),
            ties_are_means=self.ties_are_means and ties == "average",
            options={name: check for name, check in self.options.items() if name not in fixed},
        )

    def _variant(self, text, kernel, **changes) -> Measure:
        """A measure that goes by this one's name with the text in parentheses."""

        def function(y_true, y_score, **given):
            return own.score(y_true, y_score, **({"ties": own.ties[0]} | given))

        own = replace(
            self,
            name=f"{self.name}({text})",
            function=update_wrapper(function, self.function),
            kernel=kernel,
            plain=self,
            **changes,
        )
        function.measure = own  # type: ignore[attr-defined]  # functions of measures have it
        return own

    @property
    def own_text(self) -> str:
        """What it has of its own, as it is written in its name."""
        if self.library is not None:
            return f"like={self.library}"
        return "" if self.own_reading is None else self.own_reading.text

    @cached_property
    def defaults(self) -> dict:
        """Default of each option and column."""
        parameters = inspect.signature(self.function).parameters
        return {name: parameters[name].default for name in (*self.options, *self.columns)}

    def bind(self, k: int | None, options: Mapping) -> Callable[[ListBlock], np.ndarray]:
        """Kernel of a block alone; options that are not given take their defaults."""
        return partial(self.kernel, k=k, **self._checked(options))

    def bind_of_set(self, options: Mapping) -> Callable | None:
        """`of_set` with its options; None where the measure has none."""
        return None if self.of_set is None else partial(self.of_set, **self._checked(options))

    def _checked(self, options):
        """Each option as the kernel gets it."""
        checked = {}
        for name, check in self.options.items():
            checked[name] = check(options.get(name, self.defaults[name]), name)
        return checked

    def row_columns(self, options: Mapping, n_rows: int) -> dict[str, np.ndarray]:
        """Options that hold one entry per row, checked; those that are None are left out."""
        columns = {
            name: check(options[name], n_rows)
            for name, check in self.columns.items()
            if options.get(name) is not None
        }
        return {name: column for name, column in columns.items() if column is not None}

    def score(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        groups: ArrayLike | None = None,
        k: int | None = None,
        gains: Gains = None,
        ties: str | ArrayLike = "average",
        unjudged: str = "zero",
        undefined: float | str = 0.0,
        average: str | None = "mean",
        query_weight: QueryWeight = None,
        **options,
    ) -> Scores:
        """Compute the measure from arrays: what its public function does."""
        kernel = self.bind(check_k(k), options)
        check_undefined(undefined)
        check_average(average, query_weight)
        lists = self.ranked_lists(
            y_true,
            y_score,
            groups=groups,
            gains=gains,
            ties=ties,
            unjudged=unjudged,
            options=options,
        )
        warn_of_forbidden([ParsedMeasure(self, k, {})], lists.gains)
        values = with_undefined(lists.per_query(kernel), undefined)
        return mean_of(values, average, query_weight, lists.index, self.over_queries)

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

    def check_parameters(self, params) -> None:
        """Raise for parameters that no data could make right."""
        check_undefined(params.get("undefined", 0.0))
        check_choice(params.get("unjudged", "zero"), "unjudged", UNJUDGED)
        check_gains(params.get("gains"))
        ties = params.get("ties", self.ties[0])
        if isinstance(ties, str):
            check_choice(ties, "ties", self.ties)
        self.bind(None, params)

    @property
    def has_exact_mean(self) -> bool:
        """Whether the value of a list of tied documents is the mean over all rankings of them."""
        return "average" in self.ties and self.ties_are_means

    def check_ties(self, ties) -> None:
        """Raise for a rule that this measure does not know."""
        if isinstance(ties, str) and ties in TIES and ties not in self.ties:
            raise InputError(
                f"ties={brief(ties)} is not possible for {brief(self.name)}, which looks at whole "
                f"orders: choose one of {', '.join(map(repr, self.ties))} or pass document ids."
            )


def origin(function) -> tuple[str, str]:
    """Where a function is defined: its module, and its name there."""
    return function.__module__, function.__qualname__


def _is_found(function):
    """Whether a function stands where it says."""
    module, qualname = origin(function)
    found = sys.modules.get(module)
    for name in qualname.split("."):
        found = getattr(found, name, None)
    return found is function


def _restored(function, parts, identity):
    """The measure of a function; of one that was sent as a whole, also by its name from now on.

    A process that lives long is sent a measure anew when it was defined anew.
    """
    known = getattr(function, "measure", None)
    if known is None:
        read_only = {key: _ReadOnly(each) for key, each in parts.items() if isinstance(each, dict)}
        known = Measure(**parts | read_only)
        other = MEASURES.setdefault(known.name, known)
        if other._identity == identity and not _is_found(other.function):
            MEASURES[known.name] = known
    return known


class ParsedMeasure(NamedTuple):
    """A measure, its cut-off and its options, as read from text such as "rbp(persistence=0.9)"."""

    measure: Measure
    k: int | None
    options: dict

    def __repr__(self):
        return f"get_measure({self.text!r})"

    def __call__(self, y_true, y_score, **given):
        """The measure's function, by the cut-off and the options; see :meth:`Measure.score`."""
        cutoff = {} if self.k is None else {"k": self.k}
        return self.measure.function(y_true, y_score, **{**cutoff, **self.options, **given})

    def as_sum(self, facts) -> Additive | None:
        """The measure as a sum over the documents of some facts, None where it is not one."""
        form = None if self.measure.additive is None else self.measure.additive(facts)
        if not isinstance(form, Additive | None):
            raise InputError(
                f"additive of {brief(self.measure.name)} must give an Additive or None, got "
                f"{brief(form)}."
            )
        return None if form is None else replace(form, k=form.k or self.k)

    def with_cutoff(self, k) -> ParsedMeasure:
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

    def for_threshold(self, k=None) -> ParsedMeasure:
        """The same, with the cut-off `k` too, for choosing a threshold by."""
        parsed = self.for_means("a threshold is chosen")
        return parsed if k is None else parsed.with_cutoff(k)

    def for_means(self, what, takes=("mean",)) -> ParsedMeasure:
        """The same; raise where `what`, which goes by the mean, would not go by the measure."""
        over_queries = self.measure.over_queries
        if over_queries not in takes:
            raise InputError(
                f"{brief(self.text)} is the {over_queries} over queries, and {what} by the mean: "
                "name another measure, such as 'ap' or 'ndcg_f'."
            )
        return self

    def utility(self, y_true, y_score, *, groups, gains=None, average="mean", query_weight=None):
        """The measure by its own defaults, negated where lower is better."""
        value = self(
            y_true,
            y_score,
            groups=groups,
            gains=gains,
            average=average,
            query_weight=query_weight,
        )
        return value if self.measure.greater_is_better else 0.0 - value

    def like(self, library: str, given: Iterable[str] = ()) -> ParsedMeasure:
        """The same by the rules of a library; its options, and what is `given`, must set none."""
        settings_like(library, self.measure.name, {*self.options, *given})
        return self._replace(measure=self.measure.like(library))

    @property
    def text(self) -> str:
        """The string form by the names of the measure table, whatever it was read from."""
        options = list(filter(None, [self.measure.own_text]))
        for name, value in self.options.items():
            options.append(f"{name}={value}")
        cutoff = "" if self.k is None else f"@{self.k}"
        name = (self.measure.plain or self.measure).name
        within = f"({','.join(options)})" if options else ""
        return f"{name}{within}{cutoff}"


def warn_of_forbidden(measures: Iterable[ParsedMeasure], labels, gains: Gains = None) -> None:
    """Warn of measures that are not made for gains below 0, where labels give them some."""
    if odd := forbidden_seen(measures, labels, gains):
        warn_of(odd)


def forbidden_seen(measures: Iterable[ParsedMeasure], labels, gains) -> list[ParsedMeasure]:
    """Those that are not made for gains below 0 and see some."""
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
        f"{names}: some gains are below 0, forbidden documents, for which the measure is not made: "
        f"its values leave the range from 0 to 1. Take {instead}.",
        DataWarning,
    )


def any_below_0(parsed, gains):
    """Whether a measure sees gains below 0."""
    own = parsed.measure.own_reading
    return bool(((gains if own is None else own.of(gains)) < 0).any())


def declare_measure(
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
    ties_are_means=True,
    reads_unjudged=False,
    additive=None,
    of_set=None,
    order_matters="always",
    over_queries="mean",
    aliases=(),
    option_aliases=None,
    presets=None,
    title=None,
    with_forbidden="",
):
    """Enter a measure into the measure table, and make its public function.

    Decorates a function that has the measure's own options as keyword-only parameters, with their
    defaults, and its documentation. The public function has the parameters of
    :meth:`Measure.score` besides, and its line of the table as an attribute `measure`. See
    :func:`complete_documentation` for what becomes of ``{parameters}`` and ``{returns}``.
    """

    def enter(declaration):
        doc = complete_documentation(
            declaration.__doc__,
            undefined=undefined,
            takes_k=takes_k,
            ties=ties,
            reads_unjudged=reads_unjudged,
        )
        signature = _signature(declaration, takes_k=takes_k, ties=ties[0])
        _, _, *named = signature.parameters.values()
        defaults = {parameter.name: parameter.default for parameter in named}
        # Where the declaration stands, `call` does not find what is imported here.
        unexpected = InputTypeError

        def call(y_true, y_score, **given):
            for parameter in given.keys() - defaults.keys():
                raise unexpected(
                    f"{declaration.__name__}() got an unexpected keyword argument {parameter!r}"
                )
            return function.measure.score(y_true, y_score, **(defaults | given))

        # It belongs to the module of its declaration, where pickle and doctest look for it.
        code = call.__code__.replace(co_name=declaration.__name__)
        function = FunctionType(code, declaration.__globals__, closure=call.__closure__)
        update_wrapper(function, declaration)
        function.__signature__, function.__doc__ = signature, doc
        MEASURES[name] = function.measure = Measure(
            name=name,
            function=function,
            kernel=kernel,
            takes_k=takes_k,
            greater_is_better=greater_is_better,
            summary=doc.strip().splitlines()[0],
            value_range=tuple(map(float, value_range)),
            range_holds_for=range_holds_for,
            options=_ReadOnly(dict(options or {})),
            columns=_ReadOnly(dict(columns or {})),
            ties=ties,
            ties_are_means=ties_are_means,
            reads_unjudged=reads_unjudged,
            additive=additive,
            of_set=of_set,
            order_matters=order_matters,
            over_queries=over_queries,
            aliases=aliases,
            option_aliases=_ReadOnly(dict(option_aliases or {})),
            presets=_ReadOnly(dict(presets or {})),
            title=title or name,
            with_forbidden=with_forbidden,
        )
        return function

    return enter


def _signature(declaration, *, takes_k, ties):
    """The parameters that all measures share, and those of a declaration that are its own."""
    shared = dict(inspect.signature(Measure.score).parameters)
    shared["ties"] = shared["ties"].replace(default=ties)
    for name in ("self", "options") if takes_k else ("self", "options", "k"):
        del shared[name]
    declared = inspect.signature(declaration).parameters.values()
    own = [option for option in declared if option.kind is option.KEYWORD_ONLY]
    return inspect.Signature([*shared.values(), *own], return_annotation="Scores")

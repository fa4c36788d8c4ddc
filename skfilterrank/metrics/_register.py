"""register_measure: registration of a user's function as a measure."""

import inspect
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from keyword import iskeyword
from numbers import Real
from typing import Any

import numpy as np

from skfilterrank._base.checks import as_list, check_choice, check_flag, is_finite_number
from skfilterrank._files.files import reason_of
from skfilterrank._lists.additive import Additive
from skfilterrank._lists.gains import OF_ALL
from skfilterrank._lists.lists import TIES, WHOLE_ORDERS, ListBlock
from skfilterrank._lists.measure import Measure, declare_measure
from skfilterrank._lists.measure_names import SEVERAL, find_entered
from skfilterrank._lists.scoring import OVER_QUERIES
from skfilterrank.exceptions import (
    InputError,
    InputTypeError,
    SkfilterrankError,
    brief,
    brief_list,
)

_NOT_PLAIN = (
    inspect.iscoroutinefunction,
    inspect.isgeneratorfunction,
    inspect.isasyncgenfunction,
)
_CHOICES = {
    "range_holds_for": ("any gains", "nonnegative gains", "binary gains"),
    "order_matters": ("always", "with k", "never"),
    "reads": ("all", "shown", "none"),
    "over_queries": tuple(OVER_QUERIES),
}
# Reserved names: columns of tables, words in trec_eval's output, and texts that readers of tables
# take for a missing value.
_NO_NAMES = {"na", "nan", "none", "null", "qid", "run", "runid"}
# An option cannot have these names: every measure has parameters or options of these names.
_TAKEN = {*inspect.signature(Measure.__call__).parameters, "measure", *OF_ALL}
_FLAGS = {"true": True, "false": False, "1": True, "0": False}


def register_measure(
    name: str,
    function: Callable | None = None,
    *,
    value_range: tuple[float, float] = (-np.inf, np.inf),
    range_holds_for: str = "any gains",
    greater_is_better: bool = True,
    takes_k: bool = True,
    ties: str | None = None,
    additive: Callable | None = None,
    checks: Mapping[str, Callable] | None = None,
    reads_unjudged: bool = False,
    order_matters: str = "always",
    zero_or_one: bool = False,
    reads: str = "all",
    over_queries: str = "mean",
    aliases: tuple[str, ...] = (),
) -> Any:
    """Turn a function of one query, or of many at once, into a measure; also as a decorator.

    The name then works wherever measures are named: in :func:`evaluate`,
    :func:`make_ranking_scorer`, ``RankAndFilter``, ``threshold_curve``, the rankers that optimize
    a measure, comparisons of runs, and on the command line (``skfilterrank --plugin MODULE``).

    Parameters
    ----------
    name : str
        Name in the measure table: letters, digits and "_", and no name of another measure in any
        case. It may be followed by a cut-off and options, as in "name(option=2)@10".
    function : callable, optional
        The function, in one of two forms; ``@register_measure(name)`` decorates it.
        ``function(y_true, y_score, k, *, option=default, ...)`` returns the value of one query, NaN
        where undefined. It is given the gains of the documents that are shown, 0 where unjudged,
        and their scores, from the highest score down; `k` is the cut-off or None, and may be left
        out. An argument `pool` is given the gains of all judged documents, hidden ones too, highest
        first.
        ``function(block, k, *, option=default, ...)`` returns the values of all queries of a block,
        float64 of shape (n_queries,), and is much faster. ``docs/adding_a_measure.md`` describes
        blocks.
    value_range : tuple of two floats, optional
        Smallest and largest possible value; without it, values have no limits.
    range_holds_for : {"any gains", "nonnegative gains", "binary gains"}, default="any gains"
        The gains for which `value_range` holds.
    greater_is_better : bool, default=True
        Whether higher values are better.
    takes_k : bool, default=True
        Whether the measure has a cut-off; a function of a block gets None otherwise.
    ties : {"average", "worst"}, optional
        Default order of rows with equal scores. "average" is the exact mean over all orders: the
        function must read places by ``block.ranked``. "worst" puts the lowest gain first: for a
        function that looks at one order, as by ``block.lists``. If left out, it is "average" for a
        function of a block and "worst" for a function of a single query.
    additive : callable, default=None
        ``additive(facts)`` returns the measure as a sum over documents, an :class:`Additive`, or
        None if its options do not allow that. Thresholds then need only one sort.
    checks : dict of str to callable, default=None
        For each option, a function ``check(value, name)`` that returns the value to use, or raises.
    reads_unjudged : bool, default=False
        Whether the function looks at ``block.judged``, so that ``unjudged="drop"`` must not take
        rows out of lists.
    order_matters : {"always", "with k", "never"}, default="always"
        Whether the order of a query's judged documents changes the measure.
    zero_or_one : bool, default=False
        True states that each value is 0 or 1. A risk that lies between 0 and 1 then gets the exact
        binomial test of :class:`skfilterrank.thresholds.CertifiedThreshold`, which certifies more
        than the bets on other losses; a loss between 0 and 1 is then an error.
    reads : {"all", "shown", "none"}, default="all"
        Labels that can change a value: those of all documents, of shown ones alone, or none. A
        certificate asks for no more labels than these.
    over_queries : {"mean", "sum", "geometric mean"}, default="mean"
        How the values of all queries are combined into one number.
    aliases : tuple of str, default=()
        Other names of it.

    Returns
    -------
    measure or callable
        The measure, called like :func:`ndcg_score`: ``measure(y_true, y_score, *, groups, k, gains,
        ties, unjudged, undefined, average, query_weight, option, ...)``; without `function`, a
        decorator that returns the measure.

    Raises
    ------
    ValueError
        If a name is taken or not valid. The measure raises it if the function raises or does not
        return one number for each query, and for the errors of all measures.
    TypeError
        If the function takes neither ``(y_true, y_score)`` nor ``(block, k)``, or has an option
        without a default.

    See Also
    --------
    get_measure : A measure as an object.

    Notes
    -----
    **Lists of a block.** ``block.lists(k)`` yields the gains of each returned list, and those of
    the judged documents.

    **Processes.** Another process knows a measure of a module as soon as it imports the module. It
    does so when it receives a scorer, a ranker with ``measure=MEASURE`` or the measure itself. A
    measure of a script or a notebook is sent as a whole, by joblib and Dask. A name alone, as in
    ``RankAndFilter(measure="mine")``, is looked up in the process that receives it: the module must
    be imported there already.

    The parameters that all measures share are added to the docstring; under "Parameters" it needs
    only the measure's own options.

    Examples
    --------
    One divided by the place of the first forbidden document, of one query:

    >>> import numpy as np
    >>> from skfilterrank.metrics import evaluate, register_measure
    >>> def first_harm(y_true, y_score, k=None):
    ...     places = np.flatnonzero(y_true[:k] < 0) + 1
    ...     return 1 / places[0] if len(places) else 0.0
    >>> first_harm = register_measure("first_harm", first_harm, greater_is_better=False)
    >>> evaluate([1, -1, 2], [3, 2, 1], ["first_harm", "first_harm@1"], groups=["q"] * 3).per_query
         first_harm  first_harm@1
    qid
    q           0.5           0.0

    A sum of gains by place, of all queries at once:

    >>> @register_measure("falling_gain")
    ... def falling_gain(block, k, *, base=0.5):
    ...     gains = block.ranked(block.gains, k)
    ...     return gains @ base ** np.arange(gains.shape[1])
    >>> y_true, y_score, groups = [1, -1, 2, 0], [4, 3, 2, 1], ["q"] * 4
    >>> falling_gain(y_true, y_score, groups=groups)  # 1 - 1 / 2 + 2 / 4
    1.0
    >>> falling_gain(y_true, [1, 1, 1, 1], groups=groups)  # ties: (1 - 1 + 2) / 4 at each place
    0.9375

    The share of the good documents that stand above the first forbidden one, query by query:

    >>> @register_measure("before_harm", value_range=(0, 1), ties="worst")
    ... def before_harm(block, k, *, least=0):
    ...     values = []
    ...     for ranked, pool in block.lists(k):
    ...         n_good, safe = np.sum(pool > least), np.cumprod(ranked >= 0) > 0
    ...         values.append(np.sum(ranked[safe] > least) / n_good if n_good else np.nan)
    ...     return values
    >>> evaluate(y_true, y_score, ["before_harm", "before_harm(least=1)"], groups=groups).per_query
         before_harm  before_harm(least=1)
    qid
    q            0.5                   0.0
    """
    check_flag(takes_k, "takes_k")
    facts = {
        "range_holds_for": range_holds_for,
        "greater_is_better": greater_is_better,
        "reads_unjudged": reads_unjudged,
        "order_matters": order_matters,
        "zero_or_one": zero_or_one,
        "reads": reads,
        "over_queries": over_queries,
    }
    for argument, value in facts.items():
        if argument in _CHOICES:
            check_choice(value, argument, _CHOICES[argument])
        else:
            check_flag(value, argument)
    check_choice(ties, "ties", ("average", "worst", None))
    if additive is not None and not callable(additive):
        raise InputError(f"additive must be a function of facts, got {brief(additive)}.")
    value_range, names = _checked_range(value_range), _checked_names(name, aliases)

    def enter(function: Callable) -> Measure:
        options, of_one_query = _options_of(function)
        _check_not_taken(names, function)
        known_checks = _checked_checks(checks, options)
        values, of_cutoff, order = function, takes_k, ties or "average"
        if of_one_query:
            known = inspect.signature(function).parameters
            cutoff = known.get("k")
            wants_pool = "pool" in known
            values = partial(
                _query_by_query, _function=function, _cutoff=cutoff, _wants_pool=wants_pool
            )
            of_cutoff, order = takes_k and cutoff is not None, ties or "worst"
        return declare_measure(
            name,
            kernel=partial(_checked_values, _name=name, _function=values),
            takes_k=of_cutoff,
            undefined="it is NaN",
            value_range=value_range,
            options={
                option: known_checks.get(option, partial(_as_default, default))
                for option, default in options.items()
            },
            ties=TIES if order == "average" else WHOLE_ORDERS,
            additive=additive and partial(_sum_of, _name=name, _additive=additive),
            aliases=tuple(names[1:]),
            **facts,
        )(function)

    return enter if function is None else enter(function)


def _checked_names(name, aliases):
    """Check the name and its aliases, and list them."""
    if isinstance(aliases, str):
        raise InputError(f"aliases must be a list of names, got {brief(aliases)}.")
    names = [name, *as_list(aliases, "aliases", "names")]
    for place, given in enumerate(names):
        argument = "aliases" if place else "name"
        if not isinstance(given, str) or not given.isidentifier():
            raise InputError(
                f"{argument} must be letters, digits and '_', such as 'my_measure', got "
                f"{brief(given)}."
            )
        if iskeyword(given) or given.lower() in _NO_NAMES:
            raise InputError(
                f"{argument} must be a name that means nothing else, such as 'my_measure', got "
                f"{brief(given)}."
            )
    if len({each.lower() for each in names}) < len(names):
        raise InputError(f"aliases must be other names than {brief(name)}, each given once.")
    return names


def _checked_range(value_range):
    """Return the ends of a range as floats."""
    ends = as_list(value_range, "value_range", "numbers")
    if len(ends) != 2 or not all(map(_is_bound, ends)):
        raise InputError(
            f"value_range must be the smallest and the largest value, such as (0, 1), got "
            f"{brief(value_range)}."
        )
    low, high = map(float, ends)
    if not low < high:
        raise InputError(f"value_range must go from a lower to a higher number, got {low}, {high}.")
    return low, high


def _is_bound(end):
    """Tell whether a number may be an end of a range."""
    return is_finite_number(end) or (isinstance(end, Real) and end in (-np.inf, np.inf))


def _options_of(function):
    """Return a function's options with their defaults, and whether it is one of a single query."""
    if isinstance(function, Measure):
        raise InputError(f"{function.__name__} is a measure already: register its function.")
    # Only functions: other processes find a measure by module and name, which objects lack.
    named = hasattr(function, "__qualname__") and not inspect.ismethod(function)
    if not (callable(function) and named):
        raise InputTypeError(
            f"function must be a function, made by def or lambda, got {brief(function)}."
        )
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except ValueError as error:  # for some built-in functions
        raise InputTypeError(
            f"function must have a signature that Python can read: {error}."
        ) from error
    if any(kind(function) for kind in _NOT_PLAIN):
        raise InputTypeError(
            f"function must return values, got {brief(function)}, which is async or yields: write "
            "it with def and return."
        )
    arguments = [each.name for each in parameters if each.kind is not each.KEYWORD_ONLY]
    start = tuple(each.lstrip("_") for each in arguments[:2])
    if start not in (("block", "k"), ("y_true", "y_score")):
        raise InputTypeError(
            f"{brief(function)} takes ({', '.join(arguments)}), and a measure is a function "
            "(y_true, y_score, k) of one query, or (block, k) of many: rename its arguments."
        )
    of_one_query = start[0] == "y_true"
    options = {}
    for option in parameters[2:]:
        if of_one_query and option.name in ("k", "pool"):
            continue
        if option.default is option.empty or option.kind is not option.KEYWORD_ONLY:
            raise InputTypeError(
                f"{option} of {brief(function)} must be keyword-only and have a default: it "
                "comes after the arguments of a measure, as an option."
            )
        options[option.name] = option.default
    if taken := [option for option in options if option in _TAKEN]:
        raise InputError(
            f"{brief(function)} has options {brief_list(taken)}, which all measures have: rename "
            "them."
        )
    return options, of_one_query


def _check_not_taken(names, function):
    """Raise for names of other measures; a function defined again in its module keeps its name."""
    here = function.__module__, function.__qualname__.removesuffix(".__wrapped__")
    for each in names:
        if each.lower() in SEVERAL:
            raise InputError(f"{brief(each)} is taken: it stands for several measures.")
        known, _ = find_entered(each) or (None, None)
        if known and known.identity != (names[0], *here):
            argument = "name" if each == names[0] else "aliases"
            place = ".".join(known.identity[1:])
            raise InputError(f"{argument}={brief(each)} is taken by {place}.")


def _checked_checks(checks, parameters):
    """Check the dict `checks`: its keys must be options, and its values functions."""
    if not isinstance(checks or {}, Mapping):
        raise InputError(f"checks must be a dict from option to function, got {brief(checks)}.")
    for option, check in (checks or {}).items():
        if option not in parameters or not callable(check):
            raise InputError(
                f"checks must be a dict from option ({', '.join(parameters) or 'none'}) to "
                f"function, got {brief(option)}: {brief(check)}."
            )
    return dict(checks or {})


def _as_default(default, value, name):
    """Check that an option has the type of its default."""
    if isinstance(default, bool):
        found = _FLAGS.get(str(value).lower())
        if found is None:
            raise InputError(f"{name} must be True or False, got {brief(value)}.")
        return found
    if isinstance(value, str) and not isinstance(default, str | None):
        raise InputError(
            f"{name} must have the type of its default, {brief(default)}, got the text "
            f"{brief(value)}. To allow texts, pass checks= to register_measure."
        )
    return value


@contextmanager
def _naming(name):
    """Context manager: add the name of the measure to errors of a user's function."""
    try:
        yield
    except (SkfilterrankError, MemoryError):
        raise
    except Exception as error:
        advice = ""
        if "read-only" in str(error):
            advice = " (other measures read the same array: copy it first, as by gains.copy())"
        raise InputError(
            f"The function of {brief(name)} failed: {reason_of(error)}{advice}."
        ) from error


def _sum_of(facts, _name, _additive):
    """Return the measure as a sum, from a user's function."""
    with _naming(_name):
        form = _additive(facts)
    if not isinstance(form, Additive):
        return form
    wanted = None
    if np.shape(form.weights) != facts.gains.shape:
        got = f"weights of the shape {np.shape(form.weights)}"
        wanted = f"a weight for each document, in the shape of facts.gains, {facts.gains.shape}"
    elif not callable(form.worth):
        got = brief(form.worth)
        wanted = (
            "a function of places as second argument, such as "
            "facts.by_place(lambda place: 1 / place)"
        )
    if wanted:
        raise InputError(
            f"additive of {brief(_name)} must return an Additive with {wanted}, got {got}."
        )
    return replace(form, worth=partial(_worth_of, _name=_name, _worth=form.worth))


def _worth_of(place, level, query, _name, _worth):
    """Compute the worth of places by a user's function."""
    with _naming(_name):
        return _worth(place, level, query)


def _query_by_query(block: ListBlock, k, _function, _cutoff, _wants_pool, **options):
    """Compute the values of a block by a function of one query; it may have a default for `k`."""
    if _cutoff is not None and (k is not None or _cutoff.default is _cutoff.empty):
        options["k"] = k
    values = []
    for gains, scores, pool in block.rows():
        value = _function(gains, scores, **options, **({"pool": pool} if _wants_pool else {}))
        values.append(value)
        if np.ndim(value) or not isinstance(value, Real | np.bool_):
            raise InputError(
                f"the function returned {brief(value)} for a query: return a number, NaN where the "
                "measure is undefined."
            )
    return values


def _checked_values(block: ListBlock, k, _name, _function, **options):
    """Compute the values of a block, and check them."""
    with _naming(_name):
        values = _function(block, k, **options)
        if isinstance(values, np.ma.MaskedArray):
            values = np.ma.filled(values.astype(np.float64), np.nan)
        values = np.asarray(values)
    if values.shape != block.sizes.shape or values.dtype.kind not in "biuf":
        raise InputError(
            f"{_name} must give one number for each of the {len(block.sizes)} queries of the "
            f"block, got {values.dtype} of shape {values.shape}."
        )
    if np.isinf(values).any():
        raise InputError(
            f"{_name} must give finite numbers, or NaN where it is undefined, got inf."
        )
    return values.astype(np.float64, copy=False)

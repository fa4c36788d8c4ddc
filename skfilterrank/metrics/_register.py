"""A public way into the measure table: a function of lists becomes a measure."""

import functools
import inspect
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import replace
from keyword import iskeyword
from numbers import Real

import numpy as np

from skfilterrank._files.files import reason_of
from skfilterrank._lists.additive import Additive
from skfilterrank._lists.checks import as_list, check_choice, check_flag, is_finite_number
from skfilterrank._lists.lists import TIES, WHOLE_ORDERS, ListBlock
from skfilterrank._lists.measure import Measure, declare_measure, origin
from skfilterrank._lists.measure_names import SEVERAL, find_entered
from skfilterrank._lists.own_reading import OF_ALL
from skfilterrank._lists.scoring import OVER_QUERIES
from skfilterrank.exceptions import (
    InputError,
    InputTypeError,
    SkfilterrankError,
    brief,
    brief_list,
)

# Names of the two arguments that functions of each kind take.
_ARGUMENTS = {
    "list": (("ranked", "pool"), ("y_true", "y_score")),
    "block": (("block", "k"),),
}
_ACCEPTED = (
    "(ranked, pool), the gains of the returned list and those of the pool; (y_true, y_score), the "
    "arrays of one query; or, with of='block', (block, k)"
)
_NOT_PLAIN = (
    inspect.iscoroutinefunction,
    inspect.isgeneratorfunction,
    inspect.isasyncgenfunction,
)
_RANGES = ("any gains", "nonnegative gains", "binary gains")
_ORDERS = ("always", "with k", "never")
# Columns of tables, what trec_eval writes, and what readers of tables take for a missing value.
_NO_NAMES = {"na", "nan", "none", "null", "qid", "run", "runid"}
# Parameters of every measure, and options of every name.
_TAKEN = {*inspect.signature(Measure.score).parameters, "y_true", "y_score", "measure", *OF_ALL}

_FLAGS = {"true": True, "false": False, "1": True, "0": False}


def register_measure(
    name: str,
    *,
    of: str = "list",
    value_range: tuple[float, float] = (-np.inf, np.inf),
    range_holds_for: str = "any gains",
    greater_is_better: bool = True,
    takes_k: bool = True,
    ties: str | None = None,
    additive: Callable | None = None,
    checks: Mapping[str, Callable] | None = None,
    reads_unjudged: bool = False,
    order_matters: str = "always",
    over_queries: str = "mean",
    aliases: tuple[str, ...] = (),
) -> Callable:
    """Make a decorator that turns a function of one query's list into a measure of the table.

    The name then works wherever measures are named: in :func:`evaluate`,
    :func:`make_ranking_scorer`, ``RankAndFilter``, ``threshold_curve``, the rankers that optimize
    a measure, comparisons of runs, on the command line (``skfilterrank --plugin MODULE``), and in
    ir_measures once it is registered there. ``skfilterrank.testing.check_measure`` tests it.

    Parameters
    ----------
    name : str
        Name in the measure table: letters, digits and "_", and no name of another measure in any
        case. It may be followed by a cut-off and options, as in "name(option=2)@10".
    of : {"list", "block"}, default="list"
        What the function is given: one query's list, which is simple, or a block of many at once,
        which is fast and can have exact means over ties.
    value_range : tuple of two floats, optional
        Smallest and largest possible value; any number where it is left out.
    range_holds_for : {"any gains", "nonnegative gains", "binary gains"}, default="any gains"
        The gains for which `value_range` holds.
    greater_is_better : bool, default=True
        Whether higher values are better.
    takes_k : bool, default=True
        Whether the measure has a cut-off; a function of a block is given None otherwise. A
        function of ``(y_true, y_score)`` has none.
    ties : {"average", "worst"}, default=None
        Order of rows of equal scores where nothing else is said: "average", the exact mean over all
        orders, which a function of a block has that reads places by ``block.ranked``; or "worst",
        lowest gain first, of measures that look at one order. None is "worst" of a list, "average"
        of a block.
    additive : callable, default=None
        ``additive(facts)`` gives the measure as a sum over documents, an :class:`Additive`, or
        None where its options do not let it be one. Thresholds take one sort then.
    checks : dict of str to callable, default=None
        By option, ``check(value, name)`` that returns what the function is given, or raises.
    reads_unjudged : bool, default=False
        Whether a function of a block looks at ``block.judged``, so that ``unjudged="drop"`` must
        not take rows out of lists.
    order_matters : {"always", "with k", "never"}, default="always"
        Whether the order of a query's judged documents changes the measure.
    over_queries : {"mean", "sum", "geometric mean"}, default="mean"
        How one number is made of the values of all queries.
    aliases : tuple of str, default=()
        Other names of it.

    Returns
    -------
    callable
        Decorator of ``function(ranked, pool, *, option=default, ...)``, which gives one query's
        value as a number, NaN where the measure is undefined. `ranked` (float64) has the gains of
        the returned list from the top, down to the cut-off, 0 where unjudged; `pool` (float64) has
        the gains of all judged documents of the query, highest first. Both are empty where there
        are none. A function of ``(y_true, y_score, *, option=default, ...)`` is given the rows of
        one query instead, in their order: gains, 0 where unjudged, and scores, -inf where hidden.
        With ``unjudged="drop"`` it gets the judged rows alone. The names of the two arguments
        choose; a "_" before them changes nothing. With ``of="block"``, of ``function(block, k, *,
        option=default, ...)``, which gives the values of all queries of the block, float64 of shape
        (n_queries,); ``docs/adding_a_measure.md`` says what a block has. The decorated function is
        a measure like :func:`ndcg_score`:
        ``measure(y_true, y_score, *, groups, k, gains, ties, unjudged,
        undefined, average, option, ...)``.

    Raises
    ------
    ValueError
        If a name is taken or cannot be written; when called, if the function raises, a value is
        not a number, there is not one for each query, and as the other measures.
    TypeError
        If the function does not take two arguments of these names, or has an option without a
        default.

    See Also
    --------
    get_measure : A measure as an object.

    Notes
    -----
    A function of a list is called once for each query, which is slower than a function of a block
    by far, and has no exact mean over the orders of tied documents.

    **Processes.** A measure that stands in a module is known to other processes that import it:
    those that are sent a scorer, a ranker with ``measure=FUNCTION`` or the function itself do so.
    From a script or a notebook the function is sent as a whole, by joblib and Dask. A name alone,
    as in ``RankAndFilter(measure="mine")``, is looked up where it arrives: there the module must
    be imported already, or be an entry point of the group ``skfilterrank.measures`` of an
    installed package, which is imported when a name is not known.

    A docstring without sections gets the parameters that all measures share at its end; otherwise
    a line ``{parameters}`` stands for them.

    Examples
    --------
    The number of good documents above the first forbidden one, as a share of the good ones:

    >>> import numpy as np
    >>> from skfilterrank.metrics import evaluate, register_measure
    >>> @register_measure("before_harm", value_range=(0, 1))
    ... def before_harm(ranked, pool, *, least=0):
    ...     n_good = np.sum(pool > least)
    ...     safe = np.cumprod(ranked >= 0) > 0
    ...     return np.sum(ranked[safe] > least) / n_good if n_good else np.nan
    >>> y_true, y_score, groups = [1, -1, 2, 0], [4, 3, 2, 1], ["q"] * 4
    >>> before_harm(y_true, y_score, groups=groups)
    0.5
    >>> evaluate(y_true, y_score, ["before_harm", "before_harm(least=1)"], groups=groups)
         before_harm  before_harm(least=1)
    qid
    q            0.5                   0.0

    A sum of gains by place, of all queries at once:

    >>> @register_measure("halving_gain", of="block")
    ... def halving_gain(block, k):
    ...     gains = block.ranked(block.gains, k)
    ...     return gains @ 0.5 ** np.arange(gains.shape[1])
    >>> halving_gain(y_true, [1, 1, 1, 1], groups=groups)  # ties: (1 - 1 + 2) / 4 at each place
    0.9375
    """
    for value, argument in (
        (greater_is_better, "greater_is_better"),
        (takes_k, "takes_k"),
        (reads_unjudged, "reads_unjudged"),
    ):
        check_flag(value, argument)
    check_choice(of, "of", tuple(_ARGUMENTS))
    check_choice(range_holds_for, "range_holds_for", _RANGES)
    check_choice(order_matters, "order_matters", _ORDERS)
    check_choice(over_queries, "over_queries", tuple(OVER_QUERIES))
    check_choice(ties, "ties", (None, "average", "worst"))
    if of == "list" and (ties == "average" or additive is not None):
        raise InputError(
            "ties='average' and additive= are for functions of many lists: give of='block'."
        )
    if additive is not None and not callable(additive):
        raise InputError(f"additive must be a function of facts, got {brief(additive)}.")
    low, high = _checked_range(value_range)
    if isinstance(aliases, str):
        raise InputError(f"aliases must be a list of names, got {brief(aliases)}.")
    aliases = tuple(as_list(aliases, "aliases", "names"))
    for given, argument in ((name, "name"), *((alias, "aliases") for alias in aliases)):
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
    if len({each.lower() for each in (name, *aliases)}) <= len(aliases):
        raise InputError(f"aliases must be other names than {brief(name)}, each given once.")

    def enter(function):
        names, parameters = _checked_parameters(function, of)
        kernel = {"ranked": _of_list, "y_true": _of_rows, "block": _of_block}[names[0]]
        _check_not_taken([name, *aliases], name, function)
        known_checks = _checked_checks(checks, parameters)

        @functools.wraps(function)
        def declaration():
            """Only its parameters are read."""

        declaration.__doc__ = function.__doc__ or f"{name}, by {'.'.join(origin(function))}."
        measure = declare_measure(
            name,
            functools.partial(kernel, _name=name),
            undefined="it is NaN",
            value_range=(low, high),
            range_holds_for=range_holds_for,
            greater_is_better=greater_is_better,
            takes_k=takes_k and kernel is not _of_rows,
            options={
                option: known_checks.get(option, functools.partial(_as_default, default))
                for option, default in parameters.items()
            },
            ties=TIES if of == "block" and ties != "worst" else WHOLE_ORDERS,
            additive=additive and functools.partial(_sum_of, _name=name, _additive=additive),
            reads_unjudged=reads_unjudged,
            order_matters=order_matters,
            over_queries=over_queries,
            aliases=aliases,
        )(declaration)
        # Not the function itself: under its name pickle finds the measure.
        measure.measure.kernel.keywords["_measure"] = measure
        return measure

    return enter


def _checked_range(value_range):
    """Its ends as floats."""
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
    """Whether a number may be an end of a range."""
    return is_finite_number(end) or (isinstance(end, Real) and end in (-np.inf, np.inf))


def _checked_parameters(function, of):
    """Names of the function's two arguments; its options and their defaults."""
    # An object that can be called has no place by which it would be found again.
    if not callable(function) or not hasattr(function, "__qualname__"):
        raise InputTypeError(f"register_measure decorates a function, got {brief(function)}.")
    if isinstance(getattr(function, "measure", None), Measure):
        raise InputError(f"{brief(function)} is a measure already: register its list function.")
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except ValueError as error:  # some that are built into Python
        raise InputTypeError(
            f"register_measure decorates a function whose parameters are known: {error}."
        ) from error
    if any(kind(function) for kind in _NOT_PLAIN):
        raise InputTypeError(
            f"register_measure decorates a function that returns values, got {brief(function)}, "
            "which is async or yields: write it with def and return."
        )
    options = parameters[2:]
    if any(each.kind is each.KEYWORD_ONLY for each in parameters[:2]) or len(parameters) < 2:
        raise InputTypeError(f"{brief(function)} must take two arguments first: {_ACCEPTED}.")
    arguments = tuple(each.name.lstrip("_") for each in parameters[:2])
    if arguments not in _ARGUMENTS[of]:
        raise InputTypeError(
            f"{brief(function)} takes ({', '.join(each.name for each in parameters[:2])}); name "
            f"the two arguments by what they are to be: {_ACCEPTED}."
        )
    for option in options:
        if option.default is option.empty or option.kind is not option.KEYWORD_ONLY:
            raise InputTypeError(
                f"{option} of {brief(function)} must be keyword-only and have a default: it "
                "comes after the two arguments of a measure, as an option."
            )
    names = [option.name for option in options]
    if taken := [option for option in names if option in _TAKEN]:
        raise InputError(
            f"{brief(function)} has options {brief_list(taken)}, which all measures have: call "
            "them something else."
        )
    return arguments, {option.name: option.default for option in options}


def _check_not_taken(names, name, function):
    """No name may be that of another measure, unless that was made in the same place."""
    for each in names:
        if each.lower() in SEVERAL:
            raise InputError(f"{brief(each)} is taken: it stands for several measures.")
        known, _ = find_entered(each) or (None, None)
        if known and (known.name != name or origin(known.function) != origin(function)):
            argument = "name" if each == name else "aliases"
            raise InputError(
                f"{argument}={brief(each)} is taken by {'.'.join(origin(known.function))}."
            )


def _checked_checks(checks, parameters):
    """The functions that check options."""
    if not isinstance(checks or {}, Mapping):
        raise InputError(f"checks must be a dict of functions by option, got {brief(checks)}.")
    for option, check in (checks or {}).items():
        if option not in parameters or not callable(check):
            raise InputError(
                f"checks must be a dict of functions by option ({', '.join(parameters) or 'none'})"
                f", got {brief(option)}: {brief(check)}."
            )
    return dict(checks or {})


def _as_default(default, value, name):
    """An option of the kind of its default; the function checks the rest itself."""
    if isinstance(default, bool):
        found = _FLAGS.get(str(value).lower())
        if found is None:
            raise InputError(f"{name} must be True or False, got {brief(value)}.")
        return found
    if isinstance(value, str) and not isinstance(default, str | None):
        raise InputError(
            f"{name} must be like its default, {brief(default)}, got the text {brief(value)}. "
            "Where texts are meant too, say so by checks= of register_measure."
        )
    return value


def _registered(measure):
    """The function that was decorated."""
    return measure.__wrapped__.__wrapped__


@contextmanager
def _saying(name):
    """Let an error of somebody's function name the measure."""
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
    """The measure as a sum, by somebody's function."""
    with _saying(_name):
        form = _additive(facts)
    if not isinstance(form, Additive):
        return form
    wanted = None
    if np.shape(form.weights) != facts.gains.shape:
        got = f"weights of the shape {np.shape(form.weights)}"
        wanted = f"a weight for each document, in the shape of facts.gains, {facts.gains.shape}"
    elif not callable(form.worth):
        got = brief(form.worth)
        wanted = "what a place is worth, such as facts.by_place(lambda place: 1 / place), second"
    if wanted:
        raise InputError(f"additive of {brief(_name)} must give Additive {wanted}, got {got}.")
    return replace(form, worth=functools.partial(_worth_of, _name=_name, _worth=form.worth))


def _worth_of(place, level, query, _name, _worth):
    """What places are worth, by somebody's function."""
    with _saying(_name):
        return _worth(place, level, query)


def _of_list(block: ListBlock, k, _name, _measure, **options):
    """The values of a block, one list after the other."""
    function = _registered(_measure)
    ranked = block.only_retained(block.in_order(block.gains, k))
    n_shown = np.minimum(block.n_retained, ranked.shape[1])
    lists = zip(ranked, n_shown, block.best_first(None), block.n_judged)
    with _saying(_name):
        values = [function(gains[:n], pool[:m].copy(), **options) for gains, n, pool, m in lists]
    return _checked_values(values, _name)


def _of_rows(block: ListBlock, k, _name, _measure, **options):
    """The values of a block, from gains and scores of one query after the other."""
    function = _registered(_measure)
    is_row = block.judged if block.drops_unjudged else np.arange(block.width) < block.sizes[:, None]
    rows = zip(block.gains, -block.sort_key.astype(np.float64), is_row)
    with _saying(_name):
        values = [function(gains[own], scores[own], **options) for gains, scores, own in rows]
    return _checked_values(values, _name)


def _checked_values(values, _name):
    """The values of a function of one query, one of each query."""
    for value in values:
        if not is_finite_number(value) and not (isinstance(value, float) and np.isnan(value)):
            raise InputError(
                f"{_name} must give one finite number per query, or NaN where it is undefined, got "
                f"{brief(value)}."
            )
    return np.array(values, dtype=np.float64)


def _of_block(block: ListBlock, k, _name, _measure, **options):
    """The values of a block, checked."""
    with _saying(_name):
        values = _registered(_measure)(block, k, **options)
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

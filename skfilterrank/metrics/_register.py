"""A public way into the measure table: a function of one query's list becomes a measure."""

import functools
import inspect
from collections.abc import Callable

import numpy as np

from skfilterrank._core.checks import check_flag, is_finite_number
from skfilterrank._core.lists import WHOLE_ORDERS, ListBlock
from skfilterrank._core.measure import Measure, declare_measure
from skfilterrank._core.measure_names import known_measure
from skfilterrank.exceptions import InputError, InputTypeError, brief


def register_measure(
    name: str,
    *,
    value_range: tuple[float, float] = (-np.inf, np.inf),
    greater_is_better: bool = True,
) -> Callable:
    """Make a decorator that turns a function of one query's list into a measure of the table.

    The name then works wherever measures are named: in :func:`evaluate`,
    :func:`make_ranking_scorer`, ``RankAndFilter``, ``threshold_curve``, the rankers that optimize
    a measure, comparisons of runs, and ir_measures once it is registered there.

    Parameters
    ----------
    name : str
        Name in the measure table: letters, digits and "_", and no name of another measure in any
        case. It may be followed by a cut-off and options, as in "name(option=2)@10".
    value_range : tuple of two floats, optional
        Smallest and largest possible value; any number where it is left out.
    greater_is_better : bool, default=True
        Whether higher values are better.

    Returns
    -------
    callable
        Decorator of ``function(ranked, pool, *, option=default, ...)``, which gives one query's
        value as a number, NaN where the measure is undefined. `ranked` (float64) has the gains of
        the returned list from the top, down to the cut-off, 0 where unjudged; `pool` (float64) has
        the gains of all judged documents of the query, highest first. Both are empty where there
        are none. The decorated function is a measure like :func:`ndcg_score`:
        ``measure(y_true, y_score, *, groups, k, gains, ties, unjudged, undefined, average,
        option, ...)``.

    Raises
    ------
    ValueError
        If the name is taken or cannot be written; when called, if a value is not a number, and as
        the other measures.
    TypeError
        If the function does not take the list and the pool, or has an option without a default.

    Notes
    -----
    Rows of equal scores come in one order, ``ties="worst"`` where nothing else is said, as a
    function of a list has no exact mean over orders. The function is called once for each query,
    which is slower than the measures of the library by far. ``docs/adding_a_measure.md`` says how
    those are declared.

    Processes that are started by ``n_jobs`` know the measure if it stands in a module that they
    import. A line ``{parameters}`` in the function's docstring, indented by four spaces, is
    replaced by the documentation that all measures share.

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
    """
    check_flag(greater_is_better, "greater_is_better")
    if not isinstance(name, str) or not name.isidentifier():
        raise InputError(
            f"name must be letters, digits and '_', such as 'my_measure', got {brief(name)}."
        )

    def enter(function):
        known = known_measure(name)
        taken = known and (known.name != name or _origin(known.function) != _origin(function))
        if taken:
            raise InputError(f"name={brief(name)} is taken by {'.'.join(_origin(known.function))}.")
        if isinstance(getattr(function, "measure", None), Measure):
            raise InputError(f"{brief(function)} is a measure already: register its list function.")
        parameters = list(inspect.signature(function).parameters.values())
        options = parameters[2:]
        if any(each.kind is each.KEYWORD_ONLY for each in parameters[:2]) or len(parameters) < 2:
            raise InputTypeError(
                f"{brief(function)} must take two arguments first, the gains of the returned list "
                "and those of the pool."
            )
        for option in options:
            if option.default is option.empty or option.kind is not option.KEYWORD_ONLY:
                raise InputTypeError(
                    f"{option} of {brief(function)} must be keyword-only and have a default: a "
                    "measure is a function of the list and the pool, and of options."
                )

        @functools.wraps(function)
        def declaration():
            """Only its parameters are read."""

        declaration.__doc__ = function.__doc__ or f"{name}, by {'.'.join(_origin(function))}."
        declare = declare_measure(
            name,
            functools.partial(_per_list, _function=function, _name=name),
            undefined="it is NaN",
            value_range=value_range,
            greater_is_better=greater_is_better,
            options={option.name: _as_given for option in options},
            ties=WHOLE_ORDERS,
        )
        return declare(declaration)

    return enter


def _origin(function):
    """Where a function is defined."""
    return function.__module__, function.__qualname__


def _as_given(value, name):
    """The function checks its options itself."""
    return value


def _per_list(block: ListBlock, k, _function, _name, **options):
    """The values of a block, one list after the other."""
    ranked = block.only_retained(block.in_order(block.gains, k))
    n_shown = np.minimum(block.n_retained, ranked.shape[1])
    lists = zip(ranked, n_shown, block.best_first(None), block.n_judged)
    values = [_function(gains[:n], pool[:m].copy(), **options) for gains, n, pool, m in lists]
    for value in values:
        if not is_finite_number(value) and not (isinstance(value, float) and np.isnan(value)):
            raise InputError(
                f"{_name} must give one finite number per query, or NaN where it is undefined, got "
                f"{brief(value)}."
            )
    return np.array(values, dtype=np.float64)

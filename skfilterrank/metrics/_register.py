"""register_measure: registration of a user's function as a measure."""

import inspect
from collections.abc import Callable
from contextlib import contextmanager
from functools import partial
from keyword import iskeyword
from numbers import Real

import numpy as np

from skfilterrank._base.checks import check_choice, check_flag
from skfilterrank._files.files import reason_of
from skfilterrank._lists.gains import OF_ALL
from skfilterrank._lists.lists import TIES, WHOLE_ORDERS, ListBlock
from skfilterrank._lists.measure import MEASURES, Measure
from skfilterrank._lists.measure_names import SEVERAL, find_entered
from skfilterrank.exceptions import InputError, InputTypeError, SkfilterrankError, brief, brief_list

# Reserved names: columns of tables, words in trec_eval's output, and texts that readers of tables
# take for a missing value.
_NO_NAMES = {"na", "nan", "none", "null", "qid", "run", "runid"}
# An option cannot have these names: every measure has parameters or options of these names.
_TAKEN = {*inspect.signature(Measure.__call__).parameters, "measure", *OF_ALL}
_FLAGS = {"true": True, "false": False, "1": True, "0": False}


def register_measure(
    name: str,
    function: Callable,
    *,
    value_range: tuple[float, float] = (-np.inf, np.inf),
    greater_is_better: bool = True,
    zero_or_one: bool = False,
    reads: str = "all",
) -> Measure:
    """Turn a function of one query, or of many at once, into a measure.

    The name then works wherever measures are named: in :func:`evaluate`,
    :func:`make_ranking_scorer`, ``RankAndFilter``, ``threshold_curve``, the rankers that optimize
    a measure, comparisons of runs, and on the command line (``skfilterrank --plugin MODULE``).

    Parameters
    ----------
    name : str
        Name in the measure table: letters, digits and "_", and no name of another measure in any
        case. It may be followed by a cut-off and options, as in "name(option=2)@10".
    function : callable
        The function, in one of two forms.
        ``function(y_true, y_score, k, *, option=default, ...)`` returns the value of one query, NaN
        where undefined. It is given the gains of the shown documents, 0 where unjudged, and their
        scores, from the highest score down; of equal scores the lowest gain comes first. `k` is the
        cut-off or None. An argument `pool` is given the gains of all judged documents, hidden
        ones too, highest first.
        ``function(block, k, *, option=default, ...)`` returns the values of all queries of a block,
        float64 of shape (n_queries,), and is much faster. It reads places by ``block.ranked``, so
        that ties count as the exact mean over their orders. ``docs/adding_a_measure.md`` describes
        blocks.
        A function without `k` has no cut-off.
    value_range : tuple of two floats, optional
        Smallest and largest possible value; without it, values have no limits.
    greater_is_better : bool, default=True
        Whether higher values are better.
    zero_or_one : bool, default=False
        True states that each value is 0 or 1. A risk that lies between 0 and 1 then gets the exact
        binomial test of :class:`skfilterrank.thresholds.CertifiedThreshold`, which certifies more
        than the bets on other losses; a loss between 0 and 1 is then an error.
    reads : {"all", "shown", "none"}, default="all"
        Labels that can change a value: those of all documents, of shown ones alone, or none. A
        certificate asks for no more labels than these.

    Returns
    -------
    measure
        The measure, called like :func:`ndcg_score`: ``measure(y_true, y_score, *, groups, k, gains,
        ties, unjudged, undefined, query_weight, option, ...)``.

    Raises
    ------
    ValueError
        If the name is taken or not valid. The measure raises it if the function raises or does not
        return one number for each query, and for the errors of all measures.
    TypeError
        If the function takes neither ``(y_true, y_score)`` nor ``(block)``, or has an option
        without a default.

    See Also
    --------
    get_measure : A measure as an object.

    Notes
    -----
    **Processes.** Another process receives the function and what is declared with a scorer, a
    ranker with ``measure=first_harm_score`` or the measure itself. Functions travel as Python's
    pickle has them: by the name of their module, and those of a script or a notebook as a whole, by
    joblib and Dask. So give the measure another name in its module than its function. A name alone,
    as in ``RankAndFilter(measure="first_harm")``, is looked up in the process that receives it: the
    module that registers it must be imported there already.

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
    >>> first_harm_score = register_measure("first_harm", first_harm, greater_is_better=False)
    >>> evaluate([1, -1, 2], [3, 2, 1], ["first_harm", "first_harm@1"], groups=["q"] * 3).per_query
         first_harm  first_harm@1
    qid
    q           0.5           0.0

    A sum of gains by place, of all queries at once:

    >>> def falling_gain(block, k, *, base=0.5):
    ...     gains = block.ranked(block.gains, k)
    ...     return gains @ base ** np.arange(gains.shape[1])
    >>> falling_gain_score = register_measure("falling_gain", falling_gain)
    >>> y_true, y_score, groups = [1, -1, 2, 0], [4, 3, 2, 1], ["q"] * 4
    >>> falling_gain_score(y_true, y_score, groups=groups)  # 1 - 1 / 2 + 2 / 4
    1.0
    >>> falling_gain_score(y_true, [1, 1, 1, 1], groups=groups)  # ties: (1 - 1 + 2) / 4 at each
    0.9375
    """
    check_flag(greater_is_better, "greater_is_better")
    check_flag(zero_or_one, "zero_or_one")
    facts = {
        "value_range": _checked_range(value_range),
        "greater_is_better": greater_is_better,
        "zero_or_one": zero_or_one,
        "reads": check_choice(reads, "reads", ("all", "shown", "none")),
    }
    _check_name(name)
    _check_function(function)
    _check_not_taken(name, function)
    return _entered(name, function, facts)


class _Registered(Measure):
    """A measure of a user."""

    def __reduce__(self):
        if self.plain is not None:
            return super().__reduce__()
        # Another process may not import what registers it.
        facts = "value_range", "greater_is_better", "zero_or_one", "reads"
        return _entered, (self.name, self.function, {name: getattr(self, name) for name in facts})


def _entered(name, function, facts) -> Measure:
    """Return the measure of a function; enter it into the table where it is not known.

    A long-lived process gets the new version when the measure was defined again.
    """
    if name in MEASURES and MEASURES[name].function is function:
        return MEASURES[name]
    parameters = inspect.signature(function).parameters
    of_one_query, values = "y_true" in parameters, function
    if of_one_query:
        values = partial(_query_by_query, _function=function, _parameters=parameters)
    return _Registered(
        name,
        partial(_checked_values, _name=name, _function=values),
        undefined="it is NaN",
        options={
            each.name: partial(_as_default, each.default)
            for each in parameters.values()
            if each.kind is each.KEYWORD_ONLY and each.name not in ("k", "pool")
        },
        ties=WHOLE_ORDERS if of_one_query else TIES,
        function=function,
        **facts,
    )


def _check_name(name):
    """Raise for a name that a measure cannot have."""
    if not isinstance(name, str) or not name.isidentifier():
        raise InputError(
            f"name must be letters, digits and '_', such as 'my_measure', got {brief(name)}."
        )
    if iskeyword(name) or name.lower() in _NO_NAMES:
        raise InputError(
            f"name must be a name that means nothing else, such as 'my_measure', got {brief(name)}."
        )


def _checked_range(value_range):
    """Return the ends of a range as floats."""
    try:
        low, high = map(float, value_range)
        is_range = low < high
    except (TypeError, ValueError, OverflowError):
        is_range = False
    if not is_range:
        raise InputError(
            "value_range must be the smallest and the largest value, such as (0, 1), got "
            f"{brief(value_range)}."
        )
    return low, high


def _check_function(function):
    """Raise for an object that is no function of lists, or has options that no measure can have."""
    if isinstance(function, Measure):
        raise InputError(f"{function.name} is a measure already: register its function.")
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # no function, or a built-in one
        parameters = []
    arguments = [each.name for each in parameters if each.kind is not each.KEYWORD_ONLY]
    if arguments[:2] != ["y_true", "y_score"] and arguments[:1] != ["block"]:
        raise InputTypeError(
            f"{brief(function)} takes ({', '.join(arguments)}), and a measure is a function "
            "(y_true, y_score, k) of one query, or (block, k) of many: rename its arguments."
        )
    own = ["k", "pool"] if arguments[0] == "y_true" else ["k"]
    options = parameters[2 if arguments[0] == "y_true" else 1 :]
    options = [each for each in options if each.name not in own]
    for option in options:
        if option.default is option.empty or option.kind is not option.KEYWORD_ONLY:
            raise InputTypeError(
                f"{option} of {brief(function)} must be keyword-only and have a default: it "
                "comes after the arguments of a measure, as an option."
            )
    if taken := [option.name for option in options if option.name in {*_TAKEN, "pool"}]:
        raise InputError(
            f"{brief(function)} has options {brief_list(taken)}, which all measures have: rename "
            "them."
        )


def _check_not_taken(name, function):
    """Raise for the name of another measure; a function that is defined again keeps its name."""
    if name.lower() in SEVERAL:
        raise InputError(f"{brief(name)} is taken: it stands for several measures.")
    known, _ = find_entered(name) or (None, None)
    if known is None:
        return
    if [name, *_place(function)] != [known.name, *_place(known.function)]:
        raise InputError(f"name={brief(name)} is taken by {known.__module__}.")


def _place(function):
    return function.__module__, getattr(function, "__qualname__", "")


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
            f"{brief(value)}. An option whose default is None takes texts and numbers."
        )
    return value


@contextmanager
def _naming(name):
    """Add the name of the measure to errors of a user's function in this context."""
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


def _query_by_query(block: ListBlock, _function, _parameters, k=None, **options):
    """Compute the values of a block by a function of one query; it may have a default for `k`."""
    cutoff = _parameters.get("k")
    if cutoff is not None and (k is not None or cutoff.default is cutoff.empty):
        options["k"] = k
    values = []
    for gains, scores, pool in block.rows():
        given = {**options, "pool": pool} if "pool" in _parameters else options
        value = _function(gains, scores, **given)
        values.append(value)
        if np.ndim(value) or not isinstance(value, Real | np.bool_):
            raise InputError(
                f"the function returned {brief(value)} for a query: return a number, NaN where the "
                "measure is undefined."
            )
    return values


def _checked_values(block: ListBlock, _name, _function, **given):
    """Compute the values of a block, and check them."""
    with _naming(_name):
        values = _function(block, **given)
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

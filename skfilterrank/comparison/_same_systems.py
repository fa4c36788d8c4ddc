"""Check that two sets of values hold the same systems and queries."""

from skfilterrank._lists.results import counted
from skfilterrank.exceptions import InputError, brief


def check_same_systems(first, second, *, names=("first", "second"), queries: bool = True):
    """The second with systems (and queries) in the order of the first, which must be the same."""
    if set(first.systems) != set(second.systems):
        raise InputError(_difference("systems", first.systems, second.systems, names))
    if queries and set(first.queries) != set(second.queries):
        raise InputError(
            _difference("queries", first.queries, second.queries, names)
            + " Take the common ones with select(queries=...)."
        )
    if first.systems == second.systems and (not queries or first.queries == second.queries):
        return second
    return second.select(systems=first.systems, queries=first.queries if queries else None)


def _difference(what, ours, theirs, names):
    """Names that only one of two has, in a sentence."""
    odd = sorted(set(ours) ^ set(theirs), key=str)
    holder = names[0] if odd[0] in set(ours) else names[1]
    return (
        f"{names[0]} and {names[1]} must have the same {what}, and "
        f"{counted(len(odd), 'is', 'are')} in one of them only, such as {brief(odd[0])} in "
        f"{holder}."
    )

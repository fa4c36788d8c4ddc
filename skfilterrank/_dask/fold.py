"""Sums over partitions, by a tree on the workers."""

from collections.abc import Iterator

# Results that are merged at a time.
_FAN_IN = 8


def fold_partitions(frame, function, *shared):
    """What a function says of each partition, merged: only that comes to the client.

    Parameters
    ----------
    frame : dask DataFrame
    function : callable
        Called with a partition, its number and `shared`; returns something with
        ``merge(other)``, or None where there is nothing to say.
    *shared
        The same for all partitions.

    Returns
    -------
    object
        None where no partition has anything to say.
    """
    import dask

    parts, merge = _calls(frame, function, shared), dask.delayed(_merged)
    while len(parts) > 1:
        parts = [merge(parts[begin : begin + _FAN_IN]) for begin in range(0, len(parts), _FAN_IN)]
    return dask.compute(*parts)[0]


def each_partition(frame, function, *shared) -> Iterator:
    """What a function says of each partition, which stays on its worker until it is asked for.

    Parameters are those of :func:`fold_partitions`.
    """
    import dask

    parts = list(dask.persist(*_calls(frame, function, shared)))[::-1]
    while parts:
        found = parts.pop().compute()
        if found is not None:
            yield found


def _calls(frame, function, shared):
    import dask

    call = dask.delayed(function)
    shared = [dask.delayed(each, traverse=False) for each in shared]
    return [call(part, number, *shared) for number, part in enumerate(frame.to_delayed())]


def _merged(parts):
    total = None
    for each in parts:
        if each is not None:
            total = each if total is None else total.merge(each)
    return total

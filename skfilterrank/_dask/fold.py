"""Sums over partitions, by a tree on the workers."""

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

    call, merge = dask.delayed(function), dask.delayed(_merged)
    shared = [dask.delayed(each, traverse=False) for each in shared]
    parts = [call(part, number, *shared) for number, part in enumerate(frame.to_delayed())]
    while len(parts) > 1:
        parts = [merge(parts[begin : begin + _FAN_IN]) for begin in range(0, len(parts), _FAN_IN)]
    return dask.compute(*parts)[0]


def _merged(parts):
    total = None
    for each in parts:
        if each is not None:
            total = each if total is None else total.merge(each)
    return total

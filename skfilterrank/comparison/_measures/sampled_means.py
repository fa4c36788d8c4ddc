"""Means of systems over drawn queries, and who is ahead of whom by them."""

from collections.abc import Iterator

_BLOCK = 1 << 22


def pair_rows(n_systems: int, n_columns: int) -> Iterator[tuple[int, slice, slice]]:
    """Blocks of pairs: a system, systems after it, and the places of their pairs.

    Pairs are numbered as ``np.triu_indices(n_systems, 1)``; a block has at most some 4 million
    numbers if each pair has `n_columns`.
    """
    step = max(1, _BLOCK // max(1, n_columns))
    place = 0
    for first in range(n_systems - 1):
        for start in range(first + 1, n_systems, step):
            stop = min(start + step, n_systems)
            yield first, slice(start, stop), slice(place, place + stop - start)
            place += stop - start


def n_pairs_of(n_systems: int) -> int:
    """Number of pairs of systems."""
    return n_systems * (n_systems - 1) // 2

"""Measures of other installed packages, which name their modules in the entry point group below."""

import os
import threading

from skfilterrank._lists.user_warnings import warn_user
from skfilterrank.exceptions import DataWarning

GROUP = "skfilterrank.measures"
# What is loaded registers measures, and may ask for some by name.
_LOCK = threading.RLock()
_WAITING: list[str] = [GROUP]


def _renew_lock() -> None:
    """Replace the lock, which a thread may have held when this process was forked from its own."""
    global _LOCK
    _LOCK = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


def load_measure_plugins() -> None:
    """Import them, once in a process."""
    with _LOCK:
        if not _WAITING:
            return
        # Here, so that whoever names a known measure does not wait for it.
        from importlib.metadata import entry_points

        for point in entry_points(group=_WAITING.pop()):
            try:
                point.load()
            except (Exception, SystemExit) as error:
                package = "" if point.dist is None else f" of {point.dist.name}"
                warn_user(
                    f"The entry point {point.name} = {point.value}{package} gives no measures: "
                    f"{type(error).__name__}: {error}",
                    DataWarning,
                )

"""Threads of joblib that send calls and results as processes do, without their start of seconds."""

from contextlib import nullcontext
from functools import partial
from pickle import dumps, loads

import joblib
from joblib.parallel import ThreadingBackend

from thinned import is_nightly


def _call(sent):
    return loads(dumps(loads(sent)()))


class PickledThreads(ThreadingBackend):
    """Calls and results are pickled, so that what cannot be sent to a process fails here, too."""

    def submit(self, func, callback=None):
        return super().submit(partial(_call, dumps(func)), callback)


joblib.register_parallel_backend("pickled threads", PickledThreads)


def pickled_threads():
    """Return a context in which `n_jobs` means such threads, and processes at night."""
    return nullcontext() if is_nightly() else joblib.parallel_config(backend="pickled threads")

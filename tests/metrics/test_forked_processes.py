"""A process may be forked while a thread of its parent measures."""

import os
import subprocess
import sys

import pytest

_SCRIPT = """
import os, signal, threading, time
import numpy as np
from skfilterrank.metrics import get_measure_names, ndcg_f_score

rng = np.random.default_rng(0)
y_true, y_score, groups = rng.integers(-1, 3, 2000), rng.random(2000), np.arange(2000) // 20

def measure():
    ndcg_f_score(y_true, y_score, groups=groups, k=10)
    get_measure_names()

def measure_for_ever():
    while True:
        measure()

measure()
threading.Thread(target=measure_for_ever, daemon=True).start()
for _ in range(30):
    time.sleep(0.003)
    child = os.fork()
    if not child:
        signal.alarm(5)
        measure()
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        os._exit(1)
os._exit(0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only POSIX forks processes")
def test_a_forked_process_measures_while_a_thread_of_its_parent_does():
    code = [sys.executable, "-W", "ignore", "-c", _SCRIPT]
    assert subprocess.run(code, timeout=100).returncode == 0

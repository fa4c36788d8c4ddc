"""A part of a long list of cases by default, and all of them at night."""

import os


def is_nightly():
    """Whether tests run as at night, with other examples in each run."""
    return os.environ.get("HYPOTHESIS_PROFILE") == "nightly"


def thinned(cases, *, turn=0, parts=3):
    """Every third of the cases, beginning with that of the turn; all of them at night.

    Tests that go through the same cases may take different turns, so that together they take all by
    day, too. Without a turn, what is not taken is tried at night only.
    """
    cases = list(cases)
    return cases if is_nightly() else cases[turn % parts :: parts]

"""How much hypothesis tries: what the profile says, or a multiple of it, and texts of any kind."""

import os

from hypothesis import settings
from hypothesis import strategies as st

# The characters of `st.text()`, those that UTF-8 can carry. To find them by their codec, which
# `st.text()` does, takes more than a second in a fresh clone.
CHARACTERS = st.characters(exclude_categories=["Cs"])

# The same examples in every run, and no limit on time: machines are shared and slow.
settings.register_profile("repeatable", deadline=None, derandomize=True, max_examples=8)
# Others in every run, and what failed once is tried first the next time.
settings.register_profile("nightly", deadline=None, max_examples=300, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


def times(factor, **others):
    """As many examples as the profile has, times a factor, so that no profile is cut short."""
    return settings(max_examples=round(factor * settings.default.max_examples), **others)


# Values in tenths, so that means tie and stand on the boundary of a fuzziness.
TENTHS = st.tuples(st.integers(2, 5), st.integers(2, 6)).flatmap(
    lambda shape: st.lists(
        st.lists(st.integers(0, 10), min_size=shape[1], max_size=shape[1]),
        min_size=shape[0],
        max_size=shape[0],
    )
)

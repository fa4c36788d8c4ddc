"""Users who walk down the list and stop."""

# The random gains of the tests reach this.
OPTIONS = {"err": {"max_grade": 9}}


def rbp(case, persistence=0.8):
    return sum(
        (1 - persistence) * persistence ** (place - 1)
        for place, gain in enumerate(case.shown[: case.k], start=1)
        if gain > 0
    )


def err(case, max_grade=4):
    if not any(gain > 0 for gain in case.pool):
        return None
    value, still_looking = 0.0, 1.0
    for place, gain in enumerate(case.shown[: case.k], start=1):
        satisfaction = (2 ** max(gain, 0) - 1) / 2**max_grade
        value += still_looking * satisfaction / place
        still_looking *= 1 - satisfaction
    return value


REFERENCE = {"rbp": rbp, "err": err}

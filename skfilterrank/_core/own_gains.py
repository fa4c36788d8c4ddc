"""Gains that one measure has for itself: "ap(rel=2)", "ndcg(gains=exp2)@10"."""

from dataclasses import dataclass

import numpy as np

from skfilterrank._core.checks import is_finite_number
from skfilterrank._core.gains import as_gains
from skfilterrank.exceptions import InputError, brief

# How ir_measures calls the two formulas of DCG.
_DCG = {"log2": None, "exp-log2": "exp2"}


@dataclass(frozen=True)
class OwnGains:
    """What a measure makes of the gains that all measures of a call are given.

    Attributes
    ----------
    rel : float or None
        The least gain of a relevant document, which then has gain 1; below it documents have gain
        0, and forbidden ones keep theirs.
    gains : str or tuple of pairs
        "exp2", or the gain of each gain; of no use with `rel`.
    """

    rel: float | None = None
    gains: str | tuple = ()

    @property
    def text(self) -> str:
        """As it is written in a name."""
        if self.rel is not None:
            return f"rel={_written(self.rel)}"
        if isinstance(self.gains, str):
            return f"gains={self.gains}"
        pairs = (f"{_written(label)}:{_written(gain)}" for label, gain in self.gains or ())
        return f"gains={{{','.join(pairs)}}}"

    def of(self, gains: np.ndarray) -> np.ndarray:
        """The gains of rows, NaN where unjudged."""
        if self.rel is not None:
            return np.where(gains >= self.rel, 1.0, np.minimum(gains, 0.0))
        return as_gains(
            gains, self.gains if isinstance(self.gains, str) else dict(self.gains or ())
        )


def own_gains(given: dict, text) -> OwnGains | None:
    """The gains that options of a name tell, `given` as text or values; None for those of all."""
    if not given:
        return None
    if len(given) > 1:
        raise InputError(f"{brief(text)} gives {' and '.join(given)}: give one of them.")
    ((name, value),) = given.items()
    if name == "rel":
        if not is_finite_number(value) or not value > 0:
            raise InputError(
                f"rel in {brief(text)} must be a number above 0, the least gain of a relevant "
                f"document, got {brief(value)}."
            )
        return OwnGains(rel=float(value))
    if name == "dcg":
        if value not in _DCG:
            raise InputError(f"dcg in {brief(text)} must be log2 or exp-log2, got {brief(value)}.")
        value = _DCG[value]
        return None if value is None else OwnGains(gains=value)
    if isinstance(value, dict):
        values = [*value, *value.values()]
        if not value or not all(isinstance(each, int | float) for each in values):
            raise InputError(
                f"gains in {brief(text)} must give a number for each label, as in "
                "'ndcg(gains={0:0,1:1,2:5})'."
            )
        pairs = [(float(label), float(gain)) for label, gain in value.items()]
        return OwnGains(gains=tuple(sorted(pairs)))
    if value != "exp2":
        raise InputError(
            f"gains in {brief(text)} must be exp2 or a gain for each label, as in "
            f"'ndcg(gains={{0:0,1:1,2:5}})', got {brief(value)}."
        )
    return OwnGains(gains=value)


def _written(number):
    """A number as it would be typed, such as 2 and 0.1."""
    return repr(int(number)) if number.is_integer() else repr(number)

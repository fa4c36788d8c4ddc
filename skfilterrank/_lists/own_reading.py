"""Variants of a measure, which read judgments their own way: "ap(rel=2)", "ndcg(like=lightgbm)"."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from skfilterrank._lists.checks import check_choice, is_finite_number
from skfilterrank._lists.gains import as_gains
from skfilterrank.exceptions import InputError, brief

# How ir_measures calls the two formulas of DCG.
_DCG = {"log2": (), "exp-log2": "exp2"}
# The options of every measure, and as ir_measures writes gains of nDCG and the judged alone.
SHOWN_OF_ALL = ("rel", "gains", "unjudged", "like")
OF_ALL = (*SHOWN_OF_ALL, "dcg", "judged_only")
_OF_UNJUDGED = ("unjudged", "judged_only")

_GRADES = {"gains": "exp2", "ties": "stable"}
_WORST = {"gains": None, "ties": "worst"}
# By library and measure; tests/metrics/test_like.py asks the libraries.
LIKE: dict[str, dict[str, dict]] = {
    "lightgbm": {
        "ndcg": {**_GRADES, "undefined": 1.0},
        "ap": {**_GRADES, "undefined": 1.0, "normalize": "min"},
    },
    "xgboost": {
        "ndcg": {**_GRADES, "undefined": 1.0},
        "ap": {**_GRADES, "undefined": 1.0, "normalize": "min"},
    },
    "catboost": {
        "ndcg": {**_WORST, "undefined": 1.0},
        "ap": {**_WORST, "undefined": 0.0, "normalize": "min"},
        "recall": {**_WORST, "undefined": 1.0},
        "rr": {**_WORST, "undefined": 0.0},
    },
    "scikit-learn": {
        "ndcg": {"gains": None, "ties": "average", "undefined": 0.0},
        "dcg": {"gains": None, "ties": "average", "undefined": 0.0},
    },
}


@dataclass(frozen=True)
class OwnReading:
    """The way in which one measure reads judgments, whatever the call says of all measures.

    Attributes
    ----------
    rel : float or None
        The least gain of a relevant document, which then has gain 1; below it documents have gain
        0, and forbidden ones keep theirs.
    gains : str or tuple of pairs
        "exp2", or the gain of each gain; of no use with `rel`. Empty leaves gains as they are.
    drops_unjudged : bool
        Whether unjudged documents are taken out of the lists, whatever the call does with them.
    library : str or None
        The library whose numbers the measure reproduces; it sets the following, too.
    ties : str or None
        Rule for ties.
    undefined : float or None
        Value of undefined queries.
    options : tuple of pairs
        Options of the measure and their values.
    """

    rel: float | None = None
    gains: str | tuple = ()
    drops_unjudged: bool = False
    library: str | None = None
    ties: str | None = None
    undefined: float | None = None
    options: tuple[tuple[str, str], ...] = ()

    @classmethod
    def like(cls, library: str, name: str) -> OwnReading:
        """Return the way in which a library reads the judgments of a measure."""
        settings = dict(settings_like(library, name, ()))
        gains, ties, undefined = (settings.pop(name) for name in ("gains", "ties", "undefined"))
        return cls(
            gains=gains or (),
            library=library,
            ties=ties,
            undefined=undefined,
            options=tuple(settings.items()),
        )

    @property
    def text(self) -> str:
        """The options that stand for it in a name."""
        if self.library is not None:
            return f"like={self.library}"
        parts = []
        if self.rel is not None:
            parts.append(f"rel={_written(self.rel)}")
        elif isinstance(self.gains, str):
            parts.append(f"gains={self.gains}")
        elif self.gains:
            pairs = (f"{_written(label)}:{_written(gain)}" for label, gain in self.gains)
            parts.append(f"gains={{{','.join(pairs)}}}")
        return ",".join([*parts, *["unjudged=drop"] * self.drops_unjudged])

    def of_block(self, block):
        """Change a `ListBlock` to the judgments and the rule for ties of this reading."""
        if self.rel is not None or self.gains or self.drops_unjudged:
            # Measures that differ in other respects share the block.
            block = block.with_reading(OwnReading(self.rel, self.gains, self.drops_unjudged))
        if self.ties not in (None, block.tie_rule):
            block = block.with_ties(self.ties)
        return block

    def of(self, gains: np.ndarray) -> np.ndarray:
        """Change the gains of rows, NaN where unjudged."""
        if self.rel is not None:
            return np.where(gains >= self.rel, 1.0, np.minimum(gains, 0.0))
        if not self.gains:
            return gains
        return as_gains(gains, self.gains if isinstance(self.gains, str) else dict(self.gains))


def own_reading(given: dict, text) -> OwnReading | None:
    """Make a reading of options in a name, `given` as text or values; None where there are none."""
    of_gains = {name: value for name, value in given.items() if name not in _OF_UNJUDGED}
    of_unjudged = {name: value for name, value in given.items() if name in _OF_UNJUDGED}
    for some in (of_gains, of_unjudged):
        if len(some) > 1:
            raise InputError(f"{brief(text)} gives {' and '.join(some)}: give one of them.")
    own = _own_gains(of_gains.popitem(), text) if of_gains else OwnReading()
    if of_unjudged:
        ((name, value),) = of_unjudged.items()
        wanted = "drop" if name == "unjudged" else "true"
        if str(value).lower() != wanted:
            raise InputError(
                f"{name} in {brief(text)} must be {wanted}, which takes unjudged documents out of "
                f"the lists; leave it out for the unjudged= of the call. Got {brief(value)}."
            )
        own = replace(own, drops_unjudged=True)
    return None if own == OwnReading() else own


def _own_gains(option, text):
    """Read the one option that changes gains."""
    name, value = option
    if name == "rel":
        if not is_finite_number(value) or not value > 0:
            raise InputError(
                f"rel in {brief(text)} must be a number above 0, the least gain of a relevant "
                f"document, got {brief(value)}."
            )
        return OwnReading(rel=float(value))
    if name == "dcg":
        if value not in _DCG:
            raise InputError(f"dcg in {brief(text)} must be log2 or exp-log2, got {brief(value)}.")
        return OwnReading(gains=_DCG[value])
    if isinstance(value, dict):
        values = [*value, *value.values()]
        if not value or not all(isinstance(each, int | float) for each in values):
            raise InputError(
                f"gains in {brief(text)} must give a number for each label, as in "
                "'ndcg(gains={0:0,1:1,2:5})'."
            )
        pairs = [(float(label), float(gain)) for label, gain in value.items()]
        return OwnReading(gains=tuple(sorted(pairs)))
    if value != "exp2":
        raise InputError(
            f"gains in {brief(text)} must be exp2 or a gain for each label, as in "
            f"'ndcg(gains={{0:0,1:1,2:5}})', got {brief(value)}."
        )
    return OwnReading(gains=value)


def _written(number):
    """Write a number as it would be typed, such as 2 and 0.1."""
    return repr(int(number)) if number.is_integer() else repr(number)


def settings_like(library: str, name: str, given) -> dict:
    """Look up the settings by which a measure is a library's; `given` names must not set them."""
    check_choice(library, "like", tuple(LIKE))
    if name not in LIKE[library]:
        raise InputError(
            f"like={brief(library)} knows no {brief(name)}, but {', '.join(LIKE[library])}: write "
            "gains=, ties= and undefined= as the library does it."
        )
    settings = LIKE[library][name]
    for each in settings.keys() & given:
        raise InputError(
            f"{each} is given, and like={brief(library)} sets it: give one of the two. "
            f"like={brief(library)} is {', '.join(f'{k}={v!r}' for k, v in settings.items())}."
        )
    return settings

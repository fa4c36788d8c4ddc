"""The numbers of other libraries: what they do with labels, ties and queries without an answer."""

from skfilterrank._lists.checks import check_choice
from skfilterrank.exceptions import InputError, brief

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


def settings_like(library: str, name: str, given) -> dict:
    """Arguments by which a measure is what a library reports; those `given` must not set them."""
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

"""What a measure does of any list: other checks mean nothing where it does not."""

import warnings

import numpy as np
import pandas as pd

from skfilterrank.testing._rows import NO, Rows, score

_N_SEEDS = 2
_N_ALONE = 8


def check_every_kind_of_list(measure, labels):
    """Lists of every kind have a value, and come without a RuntimeWarning, such as numpy's."""
    kinds = list(_kinds_of_lists(labels))
    for kind in kinds:
        _check_values(measure, [kind])
    for cutoff in cutoffs(measure, 1):
        for unjudged in ("zero", "drop"):
            given = {**cutoff, "unjudged": unjudged}
            try:
                _check_values(measure, kinds, **given)
            except AssertionError:
                # One of them alone, where it is enough, is easier to look at.
                for kind in kinds:
                    _check_values(measure, [kind], **given)
                raise
    values = score(measure, Rows.random(0, labels))
    assert not np.isnan(values).all(), f"the value is NaN, undefined, of all {len(values)} lists"


def _check_values(measure, kinds, **given):
    """Raise an AssertionError that names the lists where no finite value comes, or a warning."""
    names, labels, scores = zip(*kinds)
    which = f"{len(kinds)} lists of every kind"
    if len(kinds) == 1:
        asked = "".join(f", {name}={value!r}" for name, value in given.items())
        which = f"{names[0]} (y_true={labels[0]}, y_score={scores[0]}{asked})"
    groups = np.repeat(np.arange(len(kinds)), list(map(len, labels)))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            values = measure(
                *map(np.concatenate, (labels, scores)), groups=groups, average=None, **given
            )
    except Exception as error:
        raise AssertionError(
            f"of {which}, {type(error).__name__}: {error}\nGive every list one number, or NaN "
            "where the measure is undefined: look whether a list is empty, or a sum 0, before you "
            "index or divide. Where such labels are none for the measure, give others by labels=."
        ) from error
    assert np.isfinite(values).all(), f"of {which}, the value is {values}"


def _kinds_of_lists(labels):
    """What a list is like, its labels and its scores."""
    judged = sorted(label for label in labels if not np.isnan(label))
    places = list(range(len(judged)))
    # An ordinary list first: what fails for all of them is nothing of an empty one.
    yield "a list with the best documents first", judged, places
    yield "a list with the worst documents first", judged[::-1], places
    yield "a list of tied documents", judged, [1] * len(judged)
    yield "a list that is empty, as all is filtered", judged, [NO] * len(judged)
    for label in judged:
        yield "a list of one document", [label], [1]
        yield "a list of documents of one label", [label] * 3, [1, 2, 3]
    yield "a list without a judged document", [np.nan, np.nan], [1, NO]
    rows = Rows.random(0, labels)
    for query in range(_N_ALONE):
        mine = rows.groups == query
        yield "a list", rows.y_true[mine].tolist(), rows.y_score[mine].tolist()


def check_the_same_again(measure, labels):
    """The same rows have the same values again, whatever was asked for in between."""
    judged = [label for label in labels if not np.isnan(label)]
    rows, long = Rows.random(0, judged), Rows.random(1, judged, n_queries=3, max_size=40)
    first = score(measure, rows)
    score(measure, long, y_score=long.y_true, **cutoffs(measure, 1)[0])
    again = score(measure, rows)
    differ = np.flatnonzero(~((first == again) | (np.isnan(first) & np.isnan(again))))
    assert not differ.size, (
        f"the same rows have other values the second time, {differ.size} of {len(first)}, such as "
        f"{first[differ[0]]} and then {again[differ[0]]}: the function draws random numbers, or "
        "keeps something from call to call. Compute the value from the arguments alone, and seed "
        "a generator inside of the function"
    )


def check_direction(measure, labels):
    """Better documents further up, or in place of worse ones, are better by `greater_is_better`."""
    judged = [label for label in labels if not np.isnan(label)]
    n_right = n_wrong = 0
    greater = measure.measure.greater_is_better
    for seed in range(_N_SEEDS):
        rows = Rows.random(seed, judged)
        place = pd.Series(rows.y_true).groupby(rows.groups).rank("first").to_numpy()
        size = np.bincount(rows.groups)[rows.groups]
        for n_shown in (size, size // 2):
            best = np.where(place > size - n_shown, place, NO)
            worst = np.where(place <= n_shown, -place, NO)
            for cutoff in cutoffs(measure, 2):
                gained = score(measure, rows, y_score=best, **cutoff)
                gained = gained - score(measure, rows, y_score=worst, **cutoff)
                gained = gained if greater else -gained
                n_right += int((gained > 1e-12).sum())
                n_wrong += int((gained < -1e-12).sum())
    assert n_wrong <= n_right, (
        f"greater_is_better={greater}, but where the best documents are shown first, the value is "
        f"{'lower' if greater else 'higher'} than where the worst are, of {n_wrong} of "
        f"{n_right + n_wrong} lists whose value changes: give register_measure "
        f"greater_is_better={not greater}, unless the sign of the function's value is wrong"
    )


def cutoffs(measure, k) -> list[dict]:
    """No cut-off, and one, of a measure that takes one and has none of its own."""
    takes_k = measure.measure.takes_k and measure.k is None
    return [{"k": None}, {"k": k}] if takes_k else [{}]


FIRST = (check_every_kind_of_list, check_the_same_again, check_direction)

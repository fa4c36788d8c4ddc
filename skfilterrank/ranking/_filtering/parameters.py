"""What RankAndFilter is constructed with: checks, and the filter that it asks for."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skfilterrank._core.checks import check_choice, check_count, check_flag, is_level
from skfilterrank._core.inside import final_step
from skfilterrank._response import has_method
from skfilterrank.exceptions import InputError, brief
from skfilterrank.thresholds._abstention import CONFIDENCES
from skfilterrank.thresholds._cuts import Cut, FirstK, LargestGap, ScoreCut, Surprise
from skfilterrank.thresholds._expected import ExpectedGain
from skfilterrank.thresholds._list_filter import ListFilter
from skfilterrank.thresholds._per_query import QueryThreshold
from skfilterrank.thresholds._risks import check_guarantee, most_shown, read_promises
from skfilterrank.ranking._fitting.score_scale import RESCALES
from skfilterrank.ranking._fitting.splits import check_cv, is_prefit
from skfilterrank.ranking._fitting.targets import TARGETS

# What finds from scores of rows that the models have not seen where lists are cut.
CUTS: dict[str, type[Cut]] = {
    "tune": ScoreCut,
    "per_query": QueryThreshold,
    "expected": ExpectedGain,
    "risk": ScoreCut,
    "first_k": FirstK,
    "largest_gap": LargestGap,
    "surprise": Surprise,
}
_OF_NDCG_F = ("per_query", "expected")


def check_parameters(model, measure) -> None:
    """Raise a ValueError for parameters of a RankAndFilter that are out of range."""
    check_inner(model)
    check_choice(model.refit, "refit", (True, False, "auto"))
    threshold = model.threshold
    if not (is_level(threshold) or threshold is None or is_search(threshold)):
        raise InputError(
            f"threshold must be {', '.join(map(repr, CUTS))}, a number or None, got "
            f"{brief(threshold)}."
        )
    if is_search(threshold) and threshold in _OF_NDCG_F and measure.name != "ndcg_f":
        raise InputError(
            f"threshold={threshold!r} maximises nDCG_f, but measure is {brief(model.measure)}: use "
            "measure='ndcg_f', or threshold='tune'."
        )
    check_lists(model)
    if threshold == "risk":
        read_promises(model.risk, model.max_risk, model.k)
        check_guarantee(model.guarantee, model.confidence)
        check_flag(model.show_beyond_k, "show_beyond_k")
    elif model.risk is not None:
        raise InputError(
            f"risk={brief(model.risk)} is only kept with threshold='risk', but threshold is "
            f"{brief(threshold)}: use threshold='risk', or risk=None."
        )


def is_search(threshold) -> bool:
    """Whether a threshold is to be found, by the name of how."""
    return isinstance(threshold, str) and threshold in CUTS


def make_list_filter(model) -> ListFilter:
    """What the parameters of a RankAndFilter ask for, unfitted."""
    if is_search(model.threshold):
        cut = CUTS[model.threshold](model._k)
    else:
        cut = ScoreCut()
        cut.level = -np.inf if model.threshold is None else float(model.threshold)
    return ListFilter(
        cut,
        abstain=model.abstain,
        max_shown=last_place(model),
        min_shown=model.min_shown,
        counts_worst=model.threshold == "risk",
    )


def last_place(model) -> int | None:
    """Documents of each query that are shown at most: what is promised ends at a cut-off."""
    if model.threshold != "risk" or model.show_beyond_k or model.risk is None:
        return model.max_shown
    return most_shown(read_promises(model.risk, model.max_risk, model._k), model.max_shown)


def check_lists(model):
    """Caps and abstention, and what they do not go with."""
    if model.abstain is not None:
        check_choice(model.abstain, "abstain", (*CONFIDENCES, None))
    most = check_count(model.max_shown, "max_shown", or_none=True)
    least = check_count(model.min_shown, "min_shown", or_none=True)
    if least is None:
        pass
    elif most is not None and least > most:
        raise InputError(
            f"min_shown must be at most max_shown, got min_shown={least} and max_shown={most}."
        )
    elif model.abstain is not None:
        raise InputError(
            f"min_shown={least} shows documents of every query, and abstain={model.abstain!r} none "
            "of some: leave out one of the two."
        )
    elif model.threshold == "risk":
        raise InputError(
            f"min_shown={least} shows documents whatever their score, of which threshold='risk' "
            "can promise nothing: leave out min_shown, or use another threshold."
        )
    if model.abstain is not None and model.threshold == "risk":
        raise InputError(
            f"abstain={model.abstain!r} chooses queries by the measure, and threshold='risk' "
            "promises a rate over those it was calibrated on: leave out one of the two."
        )


def check_inner(model) -> None:
    """Raise a ValueError for an estimator, or a way of fitting it, that cannot be used."""
    final = final_step(model._unfitted_inner())
    if isinstance(final, type) or not (hasattr(final, "fit") and has_method(final, "predict")):
        raise InputError(
            "estimator must be a classifier, a regressor, a ranker, a Pipeline that ends in one, "
            f"or 'passthrough' where X holds scores, got {brief(final)}."
        )
    if is_prefit(model.cv):
        check_is_fitted(model.estimator)
    check_choice(model.target, "target", TARGETS)
    check_choice(model.rescale, "rescale", RESCALES)
    check_cv(model.cv)

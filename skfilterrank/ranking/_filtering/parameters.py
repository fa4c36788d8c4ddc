"""Checks of what RankAndFilter is constructed with."""

from sklearn.utils.validation import check_is_fitted

from skfilterrank._core.checks import check_choice, is_level
from skfilterrank._response import final_step, has_method
from skfilterrank.exceptions import InputError, brief
from skfilterrank.ranking._filtering.promises import check_guarantee, read_promises
from skfilterrank.ranking._fitting.score_scale import RESCALES
from skfilterrank.ranking._fitting.splits import check_cv, is_prefit
from skfilterrank.ranking._fitting.targets import TARGETS

# What finds a threshold from scores of rows that the models have not seen.
SEARCHES = ("tune", "per_query", "risk")


def check_parameters(model, measure) -> None:
    """Raise a ValueError for parameters of a RankAndFilter that are out of range."""
    check_inner(model)
    check_choice(model.refit, "refit", (True, False, "auto"))
    threshold = model.threshold
    is_search = isinstance(threshold, str) and threshold in SEARCHES
    if not (is_level(threshold) or threshold is None or is_search):
        raise InputError(
            "threshold must be 'tune', 'per_query', 'risk', a number or None, got "
            f"{brief(threshold)}."
        )
    if threshold == "per_query" and measure.name != "ndcg_f":
        raise InputError(
            f"threshold='per_query' maximises nDCG_f, but measure is {brief(model.measure)}: use "
            "measure='ndcg_f', or threshold='tune'."
        )
    if threshold == "risk":
        read_promises(model.risk, model.max_risk, model.k)
        check_guarantee(model.guarantee, model.confidence)
    elif model.risk is not None:
        raise InputError(
            f"risk={brief(model.risk)} is only kept with threshold='risk', but threshold is "
            f"{brief(threshold)}: use threshold='risk', or risk=None."
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

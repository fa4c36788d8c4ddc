"""Checks of LabelPredictor's parameters."""

from sklearn.base import is_classifier
from sklearn.svm import LinearSVC

from skfilterrank._lists.checks import check_choice, check_flag
from skfilterrank.exceptions import InputError, brief
from skfilterrank.judgments._next_labels import check_selector


def check_parameters(predictor):
    """The classifier of a predictor, after checking it and all other parameters."""
    check_choice(predictor.output, "output", ("hard", "soft"))
    check_choice(predictor.calibration, "calibration", ("auto", "pooled", None))
    check_flag(predictor.shared, "shared")
    check_choice(predictor.one_class, "one_class", ("auto", "pool", "copy", "leave"))
    check_choice(predictor.unjudged_topic, "unjudged_topic", ("leave", "pool", "raise"))
    check_selector(predictor.selector)
    features = predictor.features
    if features is not None and (isinstance(features, str) or len(features) == 0):
        raise InputError(f"features must be None or a list of column names, got {brief(features)}.")
    if predictor.text is None and features is None:
        raise InputError(
            "text and features are both None: name the column with the texts, or columns of "
            "numbers to learn from."
        )
    if predictor.estimator is None:
        return LinearSVC(class_weight="balanced", random_state=0)
    if not is_classifier(predictor.estimator):
        raise InputError(f"estimator must be a classifier, got {brief(predictor.estimator)}.")
    if not hasattr(predictor.estimator, "predict_proba") and not hasattr(
        predictor.estimator, "decision_function"
    ):
        raise InputError(
            "estimator must have predict_proba or decision_function, got "
            f"{brief(predictor.estimator)}: "
            "wrap it in CalibratedClassifierCV."
        )
    return predictor.estimator

"""scikit-learn's own checks, over every estimator of the package."""

import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from skfilterrank.ranking import (
    AdaRankRanker,
    CalibratedRanker,
    CoordinateAscentRanker,
    FilterAll,
    FilterOnly,
    LambdaRankRanker,
    LinearRankFusion,
    OrdinalRanker,
    QueryRanker,
    RankAndFilter,
    RankBoostRanker,
)

ONE_CLASS = (
    "The check's labels are all above 0, so a classifier of gain > 0 has one class; "
    "the same estimator passes with gains=odd_is_good."
)
BY_POSITION = (
    "The scores of what is kept are drawn by the position of the row, so that they cannot tell "
    "anything about the document."
)


class OddIsGood:
    """Gains that make two classes of any labels the checks come with."""

    def __call__(self, label):
        return 1.0 if int(label) % 2 else -1.0

    def __repr__(self):
        # Test names hold it; a function's address would differ between processes.
        return "odd_is_good"


odd_is_good = OddIsGood()


EXPECTED_FAILURES = {
    "RankAndFilter(LogisticRegression())": {
        "check_estimators_dtypes": ONE_CLASS,
        "check_fit2d_1feature": ONE_CLASS,
    },
    "FilterOnly(RankAndFilter(Ridge()))": {
        "check_methods_sample_order_invariance": BY_POSITION,
        "check_methods_subset_invariance": BY_POSITION,
    },
}


ESTIMATORS = {
    "RankAndFilter(Ridge())": RankAndFilter(Ridge()),
    "RankAndFilter(LogisticRegression())": RankAndFilter(LogisticRegression()),
    "RankAndFilter(LogisticRegression(), gains=odd_is_good)": RankAndFilter(
        LogisticRegression(), gains=odd_is_good
    ),
    "RankAndFilter(OrdinalRanker())": RankAndFilter(OrdinalRanker()),
    "OrdinalRanker()": OrdinalRanker(),
    "QueryRanker(Ridge())": QueryRanker(Ridge()),
    "QueryRanker(LogisticRegression(), gains=odd_is_good)": QueryRanker(
        LogisticRegression(), gains=odd_is_good
    ),
    "OrdinalRanker(weights='gain')": OrdinalRanker(weights="gain"),
    "LambdaRankRanker(gamma=1.0)": LambdaRankRanker(
        gamma=1.0, n_estimators=5, min_child_samples=1, n_jobs=1
    ),
    "CalibratedRanker(Ridge())": CalibratedRanker(Ridge()),
    "CalibratedRanker(Ridge(), method='sigmoid')": CalibratedRanker(Ridge(), method="sigmoid"),
    "AdaRankRanker()": AdaRankRanker(n_estimators=5),
    "RankBoostRanker()": RankBoostRanker(n_estimators=5),
    "CoordinateAscentRanker()": CoordinateAscentRanker(),
    "CoordinateAscentRanker(filter=True)": CoordinateAscentRanker(filter=True),
    "LinearRankFusion('logistic', normalize=None, gains=odd_is_good)": LinearRankFusion(
        "logistic", normalize=None, gains=odd_is_good
    ),
    "LinearRankFusion(Ridge(), normalize=None)": LinearRankFusion(Ridge(), normalize=None),
    "FilterAll()": FilterAll(),
    "FilterOnly(RankAndFilter(Ridge()))": FilterOnly(RankAndFilter(Ridge())),
}


def expected_failures(estimator):
    """Checks that fail on purpose, with the reason."""
    name = next(name for name, known in ESTIMATORS.items() if known is estimator)
    return EXPECTED_FAILURES.get(name, {})


# The checks know no queries.
@pytest.mark.filterwarnings("ignore:.*(fitted without|was given no) query ids:UserWarning")
@parametrize_with_checks(
    list(ESTIMATORS.values()), expected_failed_checks=expected_failures, xfail_strict=True
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_every_expected_failure_names_an_estimator():
    assert set(EXPECTED_FAILURES) <= set(ESTIMATORS)

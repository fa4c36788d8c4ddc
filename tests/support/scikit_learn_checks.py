"""scikit-learn's own checks of an estimator, as one test."""

from sklearn.utils.estimator_checks import check_estimator


def assert_passes_checks(estimator, expected_failures=None):
    """Pass all of scikit-learn's checks but those expected to fail, which must.

    `expected_failures` gives the reason of each by the name of the check.
    """
    expected_failures = expected_failures or {}
    results = check_estimator(
        estimator, expected_failed_checks=expected_failures, on_skip=None, on_fail="raise"
    )
    failed = {result["check_name"] for result in results if result["status"] == "xfail"}
    # Older versions have fewer checks.
    known = {result["check_name"] for result in results}
    assert failed == known & set(expected_failures), "expected to fail, and did not"

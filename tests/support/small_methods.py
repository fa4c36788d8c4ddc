"""The methods of make_ranker, small ones, so that the tests take seconds."""

from skfilterrank.ranking import make_ranker

SMALL = {
    "adarank": {},
    "listnet": {"n_estimators": 5, "min_child_samples": 5},
    "rankboost": {"n_estimators": 30},
    "random_forest": {"n_estimators": 8},
    "ranknet": {"n_estimators": 5},
    "coordinate_ascent": {},
    "logistic": {},
    "lambdamart": {"n_estimators": 5, "min_child_samples": 5},
}


def make(name, **params):
    return make_ranker(name, **{"random_state": 0} | SMALL[name] | params)

"""Every kind of threshold on one score, for tests of what holds for all."""

from skfilterrank.thresholds import (
    CertifiedThreshold,
    ExpectedThreshold,
    FirstK,
    FixedThreshold,
    PerQueryThreshold,
    TunedThreshold,
)

MEASURE = "ndcg_f@3"

# All of these take caps.
PLAIN = {
    "all": FixedThreshold(None, measure=MEASURE),
    "fixed": FixedThreshold(0.0, measure=MEASURE),
    "tuned": TunedThreshold(MEASURE),
    "per_query": PerQueryThreshold(MEASURE),
    "expected": ExpectedThreshold(MEASURE),
    "first_k": FirstK(MEASURE),
}
THRESHOLDS = PLAIN | {"certified": CertifiedThreshold({"any_forbidden@3": 0.4}, measure=MEASURE)}

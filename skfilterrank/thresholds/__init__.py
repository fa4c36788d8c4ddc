"""Thresholds on scores: estimators that decide which documents of each query are shown."""

from typing import TYPE_CHECKING

import skfilterrank.metrics  # noqa: F401  fills the measure table
from skfilterrank._base.lazy_names import names_of
from skfilterrank.thresholds._answers import AS_GOOD as AS_GOOD
from skfilterrank.thresholds._certificate import APPROXIMATE as APPROXIMATE
from skfilterrank.thresholds._certificate import UNSEEN as UNSEEN
from skfilterrank.thresholds._certificate import RiskCertificate as RiskCertificate
from skfilterrank.thresholds._certificate import by_machines as by_machines
from skfilterrank.thresholds._certified import CertifiedThreshold
from skfilterrank.thresholds._certify import risk_certificate
from skfilterrank.thresholds._comparability import ScoreComparability as ScoreComparability
from skfilterrank.thresholds._comparability import score_comparability
from skfilterrank.thresholds._curves import RiskCoverageCurve as RiskCoverageCurve
from skfilterrank.thresholds._curves import ThresholdCurve as ThresholdCurve
from skfilterrank.thresholds._curves import risk_coverage_curve, threshold_curve
from skfilterrank.thresholds._cuts import Cut
from skfilterrank.thresholds._drift import ThresholdCheck as ThresholdCheck
from skfilterrank.thresholds._expected import IN_EVERY_LIST as IN_EVERY_LIST
from skfilterrank.thresholds._expected import ExpectedThreshold, PerQueryThreshold
from skfilterrank.thresholds._files import load_threshold
from skfilterrank.thresholds._judged_scores import FILTER_SCORE as FILTER_SCORE
from skfilterrank.thresholds._judged_scores import SCORE as SCORE
from skfilterrank.thresholds._judged_scores import JudgedScores as JudgedScores
from skfilterrank.thresholds._judged_scores import name_unit as name_unit
from skfilterrank.thresholds._judged_scores import number_clusters as number_clusters
from skfilterrank.thresholds._learned import LearnedThreshold
from skfilterrank.thresholds._monitor import RiskMonitor
from skfilterrank.thresholds._risks import STILL_UNJUDGED as STILL_UNJUDGED
from skfilterrank.thresholds._risks import queries_needed
from skfilterrank.thresholds._threshold import BaseThreshold as BaseThreshold
from skfilterrank.thresholds._threshold import Threshold
from skfilterrank.thresholds._tuned import FirstK, FixedThreshold, TunedThreshold

__all__ = [
    "CertifiedThreshold",
    "Cut",
    "ExpectedThreshold",
    "FirstK",
    "FixedThreshold",
    "LearnedThreshold",
    "PerQueryThreshold",
    "RiskMonitor",
    "Threshold",
    "TunedThreshold",
    "load_threshold",
    "queries_needed",
    "risk_certificate",
    "risk_coverage_curve",
    "score_comparability",
    "threshold_curve",
]

if not TYPE_CHECKING:  # without this check, type checkers accept any name
    __getattr__ = names_of(__name__)

"""Facts about the certified threshold that a monitor was made from."""

from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from skfilterrank._lists.checks import is_level
from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.prefixes import places
from skfilterrank._lists.results import counted
from skfilterrank.exceptions import InputError, brief
from skfilterrank.thresholds._certificate import RiskCertificate, certificate_checksum
from skfilterrank.thresholds._files import NOT_FITTED, threshold_checksum
from skfilterrank.thresholds._threshold import BaseThreshold


@dataclass(frozen=True)
class WatchedThreshold:
    """A threshold as a monitor remembers it.

    Attributes
    ----------
    checksum, certificate : str or None
        Checksums of the threshold and of its certificate; None without a threshold.
    hides : dict or None
        "level" and "max_shown" of the score; None without a threshold, or if it hides by more.
    """

    checksum: str | None = None
    certificate: str | None = None
    hides: dict | None = None

    @classmethod
    def of(cls, threshold: BaseThreshold, certificate: RiskCertificate) -> "WatchedThreshold":
        """Describe a fitted threshold and its certificate."""
        hides = None
        if threshold.threshold_ is not None:
            most = threshold.caps_.most
            hides = {"level": float(threshold.threshold_), "max_shown": most}
        return cls(threshold_checksum(threshold), certificate_checksum(certificate), hides)

    def may_have(self, certificate: RiskCertificate) -> bool:
        """Tell if this is the threshold of a certificate, or none is known."""
        return self.checksum is None or self.certificate == certificate_checksum(certificate)

    def hidden(self, lists: RankedLists, threshold: float | None) -> RankedLists:
        """Return the lists with score -inf in all rows that were not shown."""
        if threshold is not None and not is_level(threshold):
            raise InputError(f"threshold must be a number or None, got {brief(threshold)}.")
        if self.hides is None:
            if threshold is None and self.checksum is not None:
                raise InputError(
                    "threshold is missing: this monitor cannot apply its own, which has "
                    "two scores. Give y_score as predict returns it, with -inf where "
                    "hidden, and say threshold=-np.inf."
                )
            return lists if threshold is None else lists.with_scores(lists.scores, threshold)
        level, most = self.hides["level"], self.hides["max_shown"]
        if threshold not in (None, -np.inf, level):
            raise InputError(
                f"threshold must be that of the monitored threshold, {level!r}, got "
                f"{brief(threshold)}. Leave threshold out."
            )
        shown = lists.scores >= level
        if most is not None:
            shown &= places(lists.scores, lists.index) < most
        wrong = ~shown & (lists.scores > -np.inf)
        if threshold == -np.inf and wrong.any():
            row = int(np.argmax(wrong))
            cap = "" if most is None else f", or come after {most} of the same query"
            raise InputError(
                f"y_score has {counted(int(wrong.sum()), 'document')} as shown that the monitored "
                f"threshold hides, such as row {row}: they are below {level:.6g}{cap}. Leave "
                "threshold out, so that the monitor hides them. If they were shown, something else "
                "than the threshold is in use."
            )
        return lists.with_scores(np.where(shown, lists.scores, -np.inf), -np.inf)


def threshold_of(model) -> BaseThreshold:
    """Return a fitted threshold, or the threshold of a fitted model."""
    if isinstance(model, BaseEstimator) and not isinstance(model, BaseThreshold):
        check_is_fitted(model)
        model = getattr(model, "filter_", model)
    if not isinstance(model, BaseThreshold):
        raise InputError(
            "threshold must be a fitted CertifiedThreshold, or a RankAndFilter with one, got "
            f"{brief(model)}."
        )
    return model


def certificate_of(threshold: BaseThreshold) -> RiskCertificate:
    """Return the certificate of a fitted threshold."""
    check_is_fitted(threshold, msg=NOT_FITTED)
    certificate = getattr(threshold, "certificate_", None)
    if certificate is None:
        raise InputError(
            f"threshold must have a certificate, got {type(threshold).__name__}, which has none. "
            "Fit a CertifiedThreshold."
        )
    return certificate

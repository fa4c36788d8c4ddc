"""Certificates of thresholds, for tests that look at many."""

from dataclasses import replace
from types import SimpleNamespace

from skfilterrank.thresholds import CertifiedThreshold


def certified(y_true, y_score, risks, *, groups=None, judged_by=None, **params):
    """The certificate of the best threshold at which risks are kept."""
    threshold = CertifiedThreshold(risks, **params)
    return threshold.fit(y_score, y_true, groups=groups, judged_by=judged_by).certificate_


def only(certificate):
    """The only promise of a certificate, and the threshold."""
    (promise,) = certificate.promises.values()
    fields = {name: value for name, value in vars(promise).items() if name != "lower_bound"}
    is_upward = promise.risk == "false_reject_rate"
    fields["limit"] = promise.upper if is_upward else promise.lower
    names = ("threshold", "value", "confidence_level", "exact", "assumes_unseen")
    own = {name: getattr(certificate, name) for name in names}
    return SimpleNamespace(**fields, **own, text=str(certificate))


def promise_at(*args, **params):
    """The only promise of the best threshold at which a risk is kept, of scores by any model."""
    return only(replace(certified(*args, **params), assumes_unseen=False))


def risks_at(risk, level, k=None) -> dict:
    """A risk with its level, and with a cut-off where it can have one."""
    has_cutoff = k is not None and risk in ("any_forbidden", "forbidden")
    return {f"{risk}@{k}" if has_cutoff else risk: level}

"""The printable page of a certificate; importing this file needs jinja2."""

from collections.abc import Mapping
from datetime import UTC, datetime

import skfilterrank
from skfilterrank._files.files import open_for_writing
from skfilterrank._files.pages import render_page
from skfilterrank.exceptions import InputError, brief, brief_list

_ASKED = {"Dates": "not stated", "Segment": "not stated: all queries together"}
_LEARN_THEN_TEST = (
    "Learn then Test with fixed-sequence testing, so that every real threshold is tested "
    "(Angelopoulos et al., Annals of Applied Statistics 19(2), 2025, arXiv:2110.01052). "
)
_TESTS = (
    "Exact binomial tests of losses that are 0 or 1, and bets on other losses (Waudby-Smith and "
    "Ramdas, JRSS B 86(1), 2024, arXiv:2010.09686)."
)
_BESIDE_A_MACHINE = (
    " Beside the machine's labels: exact binomial tests in the strata that its verdicts make, and "
    "bets on losses by people less a multiple of the machine's, whose errors cancel in the mean."
)
_IN_EXPECTATION = (
    "Conformal risk control (Angelopoulos et al., ICLR 2024, arXiv:2208.02814): the mean loss is "
    "at most the level if one more query lost everything."
)


def card_of(certificate, path, monitor, notes) -> str | None:
    """Make the page of a certificate; write it to a path, if any, or return it."""
    page = render_page(
        "skfilterrank.thresholds",
        "card.html",
        {
            "it": certificate,
            "promises": list(certificate.promises.values()),
            "notes": _with_what_is_asked(notes),
            "monitor": None if monitor is None else _status_of(monitor, certificate),
            "method": _method_of(certificate),
            "version": skfilterrank.__version__,
            "today": datetime.now(UTC).date().isoformat(),
        },
    )
    if path is None:
        return page
    with open_for_writing(path) as write:
        write(page)
    return None


def _with_what_is_asked(notes) -> dict[str, str]:
    """Return the notes, with "not stated" for dates and segment if they are missing."""
    notes = {} if notes is None else notes
    if not isinstance(notes, Mapping) or not all(
        isinstance(each, str) for pair in notes.items() for each in pair
    ):
        raise InputError(
            "notes must be a dict of texts by their names, such as {'Dates': 'May 2026'}, got "
            f"{brief(notes)}."
        )
    given = [name.casefold() for name in notes]
    asked = {
        name: text
        for name, text in _ASKED.items()
        if not any(each.startswith(name[:4].casefold()) for each in given)
    }
    return {**notes, **asked}


def _status_of(monitor, certificate):
    """Return the status of a monitor; raise if it watches other risks than the certificate."""
    levels = {name: promise.max_risk for name, promise in certificate.promises.items()}
    if monitor.levels != levels:
        raise InputError(
            f"monitor watches {brief_list(list(monitor.levels.items()))}, but the certificate is "
            f"about {brief_list(list(levels.items()))}. Pass a monitor of the same risks."
        )
    # The risk of empty lists always counts all queries.
    (among,) = {promise.among for promise in certificate.promises.values()} - {"all"} or {"all"}
    if among != monitor.among:
        raise InputError(
            f"monitor counts {monitor.among} queries, and the certificate {among} ones. Give "
            f"RiskMonitor(risks, among={among!r})."
        )
    return monitor.status


def _method_of(certificate) -> str:
    """Name the method with its papers."""
    if certificate.confidence_level is None:
        return _IN_EXPECTATION
    beside = any(each.uses_machine for each in certificate.promises.values())
    return (
        f"{_LEARN_THEN_TEST if certificate.is_chosen else ''}{_TESTS}"
        f"{_BESIDE_A_MACHINE if beside else ''}"
    )

"""Which systems a report of ranking and filtering compares with which."""

from __future__ import annotations

from collections.abc import Mapping

from skfilterrank._lists.checks import is_hashable
from skfilterrank.exceptions import InputError, brief, brief_list


def report_measures(k: int | None) -> list[str]:
    """The measures of the report, the main one first."""
    at = "" if k is None else f"@{k}"
    names = [f"{name}{at}" for name in ("ndcg_f", "ndcg_0", "ndcg_min", "forbidden")]
    return [*names, "false_reject_rate", "empty_list_rate"]


def report_pairs(systems, baseline, own_baselines) -> dict[str, Mapping]:
    """{prefix of columns: {system: the one it is compared with}}, checked."""
    own_baselines = {} if own_baselines is None else own_baselines
    if not isinstance(own_baselines, Mapping):
        raise InputError(
            "own_baselines must be a dict {system: its baseline}, got "
            f"{type(own_baselines).__name__}."
        )
    for each in (*own_baselines, *own_baselines.values()):
        _check_system(each, "own_baselines:", systems)
    compared: dict[str, Mapping] = {}
    if baseline is not None:
        _check_system(baseline, "baseline", systems)
        compared[""] = {system: baseline for system in systems if system != baseline}
    if own_baselines:
        compared["own_"] = own_baselines
    return compared


def _check_system(name, what, systems):
    """Raise for what is not a system."""
    if not (is_hashable(name) and name in systems):
        raise InputError(f"{what} {brief(name)} is not one of the systems: {brief_list(systems)}.")

"""How near reproduced systems come to the original ones."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import ttest_ind, ttest_rel

from skfilterrank._lists.checks import check_count, check_share, is_hashable
from skfilterrank._lists.floats import mean_tolerance, value_tolerance
from skfilterrank._lists.results import Result, counted
from skfilterrank.comparison import SystemScores, rank_biased_overlap
from skfilterrank.comparison._same_systems import check_same_systems
from skfilterrank.exceptions import InputError, SkfilterrankError, brief, brief_list
from skfilterrank.io import read_runs


@dataclass(frozen=True, eq=False, repr=False)
class Reproducibility(Result):
    """What `reproducibility` found.

    Attributes
    ----------
    table : DataFrame of shape (n_systems, n_columns)
        One row for each system, in the order of the original ones: "original" and "reproduced"
        (means), "rmse", "p_value" (of a t test of the two), with a baseline "effect_ratio" and
        "delta_relative_improvement", which the baseline itself has not, with runs "overlap".
    measure : str
        Name of the measure.
    baseline : str or None
        The system that the others improve on.
    n_queries : int
        Number of queries of the original values.
    same_queries : bool
        Whether the reproduced values are of the same queries.
    """

    table: pd.DataFrame
    measure: str
    baseline: str | None
    n_queries: int
    same_queries: bool

    def to_frame(self) -> pd.DataFrame:
        """The table."""
        return self.table.copy()

    def _summary(self):
        queries = "" if self.same_queries else ", reproduced for others"
        against = "" if self.baseline is None else f", effects against {self.baseline}"
        systems = counted(len(self.table), "system")
        return f"{self.measure} of {systems}, {self.n_queries} queries{queries}{against}"


def reproducibility(
    original,
    reproduced,
    *,
    baseline: str | None = None,
    measure: str | None = None,
    original_runs=None,
    reproduced_runs=None,
    persistence: float = 0.8,
    depth: int | None = 1000,
) -> Reproducibility:
    r"""Tell how near reproduced systems come to the original ones.

    Parameters
    ----------
    original, reproduced : SystemScores, or a table that :meth:`SystemScores.of` reads
        Values of the same systems, by the same names. For the same queries (reproduced), or for
        others (replicated on another collection).
    baseline : str, default=None
        The system that the others improve on, for effects; None tells nothing of effects.
    measure : str, default=None
        Which measure, where there are several.
    original_runs, reproduced_runs : path, list of paths, or dict, default=None
        The runs behind the values, as :func:`skfilterrank.io.read_runs` takes them, by the same
        names; both or none.
    persistence : float, default=0.8
        Of the overlap of runs, as in :func:`rank_biased_overlap`.
    depth : int or None, default=1000
        Places of each run that count for it; None takes them all.

    Returns
    -------
    Reproducibility
        A row for each system.

    Raises
    ------
    ValueError
        If the systems differ, the baseline is none of them, or a parameter is out of range; if
        values of a system or runs are missing.

    See Also
    --------
    compare_systems : Which systems differ by more than chance.
    rank_biased_overlap : Overlap of two lists.

    Notes
    -----
    The measures of [1]_, as repro_eval has them, with a for an advanced system, b for the
    baseline, ' for reproduced values and bars for means over queries:

    .. math::

        \mathrm{RMSE} &= \sqrt{\overline{(M_a - M'_a)^2}} \\
        \mathrm{ER} &= \overline{M'_a - M'_b} \;/\; \overline{M_a - M_b} \\
        \Delta\mathrm{RI} &= \frac{\overline{M}_a - \overline{M}_b}{\overline{M}_b}
            - \frac{\overline{M}'_a - \overline{M}'_b}{\overline{M}'_b}

    An effect ratio of 1 and a difference of relative improvements of 0 mean that the effect is
    the same; a ratio below 0 that it is turned round. They are NaN where they would divide by 0.
    RMSE is NaN where the queries are not the same. The t test is paired for the same queries, else
    of Welch's kind; where all differences are 0 its p value is 1. "overlap" is the mean
    rank-biased overlap over the topics of either run, 0 for a topic that one of them lacks.
    repro_eval normalises it at the depth instead of going on as what was seen, which is the same
    for long lists.

    References
    ----------
    .. [1] Breuer, Ferro, Fuhr, Maistro, Sakai, Schaer and Soboroff, "How to Measure the
       Reproducibility of System-oriented IR Experiments", SIGIR 2020.

    Examples
    --------
    >>> import pandas as pd
    >>> from skfilterrank.metaevaluation import reproducibility
    >>> original = pd.DataFrame({"bm25": [0.2, 0.4], "new": [0.4, 0.6]}, index=["q1", "q2"]).T
    >>> reproduced = original.assign(q1=[0.2, 0.3])
    >>> print(reproducibility(original, reproduced, baseline="bm25"))
    score of 2 systems, 2 queries, effects against bm25
          original  reproduced   rmse p_value  effect_ratio  delta_relative_improvement
    bm25    0.3000      0.3000 0.0000  1.0000           NaN                         NaN
    new     0.5000      0.4500 0.0707  0.5000        0.7500                      0.1667
    """
    persistence = check_share(persistence, "persistence")
    depth = check_count(depth, "depth", or_none=True)
    ours = SystemScores.of(original, measure, name="original")
    theirs = SystemScores.of(reproduced, measure, name="reproduced")
    names = ("original", "reproduced")
    same_queries = set(ours.queries) == set(theirs.queries)
    theirs = check_same_systems(ours, theirs, names=names, queries=same_queries)
    columns = {
        "original": ours.values.mean(axis=1),
        "reproduced": theirs.values.mean(axis=1),
        "rmse": np.full(len(ours.systems), np.nan),
        "p_value": _p_values(ours.values, theirs.values, same_queries),
    }
    if same_queries:
        columns["rmse"] = np.sqrt(np.mean((ours.values - theirs.values) ** 2, axis=1))
    table = pd.DataFrame(columns, index=list(ours.systems))
    if baseline is not None:
        _add_effects(table, baseline)
    if original_runs is not None or reproduced_runs is not None:
        runs = (original_runs, reproduced_runs)
        table["overlap"] = _overlaps(list(table.index), *runs, persistence, depth)
    return Reproducibility(table, ours.measure, baseline, len(ours.queries), same_queries)


def _p_values(ours, theirs, same_queries):
    """Of a t test of each system with its reproduction."""
    found = np.ones(len(ours))
    for row, (one, other) in enumerate(zip(ours, theirs)):
        rounding = value_tolerance(np.append(one, other))
        if same_queries and (np.ptp(one - other) > rounding or len(one) < 2):
            found[row] = ttest_rel(one, other).pvalue if len(one) > 1 else np.nan
        elif same_queries:
            # The same difference everywhere.
            found[row] = 1.0 if abs(one[0] - other[0]) <= rounding else 0.0
        elif min(len(one), len(other)) > 1 and max(np.ptp(one), np.ptp(other)) > rounding:
            found[row] = ttest_ind(one, other, equal_var=False).pvalue
        else:
            found[row] = np.nan
    return found


def _add_effects(table, baseline):
    """Effects of all systems but the baseline."""
    if not (is_hashable(baseline) and baseline in table.index):
        raise InputError(
            f"baseline {brief(baseline)} is none of the systems: {brief_list(table.index)}."
        )
    ours, theirs = table["original"], table["reproduced"]
    gain, their_gain = ours - ours[baseline], theirs - theirs[baseline]
    differs = gain.abs() > mean_tolerance(ours.to_numpy())
    table["effect_ratio"] = their_gain / gain.where(differs)
    improvement = gain / (ours[baseline] or np.nan)
    table["delta_relative_improvement"] = improvement - their_gain / (theirs[baseline] or np.nan)
    table.loc[baseline, ["effect_ratio", "delta_relative_improvement"]] = np.nan


def _overlaps(systems, original_runs, reproduced_runs, persistence, depth):
    """Mean overlap of the runs of each system with those that were reproduced."""
    if original_runs is None or reproduced_runs is None:
        missing = "original_runs" if original_runs is None else "reproduced_runs"
        raise InputError(f"{missing} is missing: overlap needs the runs of both.")
    both = []
    for argument, runs in (("original_runs", original_runs), ("reproduced_runs", reproduced_runs)):
        try:
            both.append(_lists(runs, depth))
        except SkfilterrankError as error:
            error.add_note(f"This came up with {argument}.")
            raise
    for argument, lists in zip(("original_runs", "reproduced_runs"), both):
        if lacking := [name for name in systems if name not in lists]:
            raise InputError(
                f"{argument} has no run of {brief_list(lacking)}; names must be those of the "
                "systems."
            )
    return [_overlap(*(lists[name] for lists in both), persistence=persistence) for name in systems]


def _lists(runs, depth):
    """Documents of each topic, in trec_eval's order, by run."""
    found = {}
    for name, run in read_runs(runs).items():
        run = run[run["score"] > -np.inf].astype({"docno": str, "qid": str})
        run = run.sort_values(["score", "docno"], ascending=False, kind="stable")
        groups = run.groupby("qid", sort=False)["docno"]
        found[str(name)] = {topic: docnos.tolist()[:depth] for topic, docnos in groups}
    return found


def _overlap(ours, theirs, *, persistence):
    """Mean over topics."""
    values = [
        float(rank_biased_overlap(ours[topic], theirs[topic], persistence=persistence))
        if topic in ours and topic in theirs
        else 0.0
        for topic in ours.keys() | theirs.keys()
    ]
    return float(np.mean(sorted(values)))

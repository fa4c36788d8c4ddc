"""Quality of a machine's labels, measured on a sample of people's labels."""

import warnings
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from skfilterrank._lists.gains import as_gains
from skfilterrank._lists.measure_names import parse_measures
from skfilterrank._lists.results import Result
from skfilterrank._lists.ties import ROUNDING_OF_MEANS
from skfilterrank.exceptions import DataWarning, InputError
from skfilterrank.judgments._estimate import estimate
from skfilterrank.judgments._estimates import Estimates
from skfilterrank.judgments._label_model import Prediction
from skfilterrank.judgments._ranked_pool import judged_table, ranked_pool
from skfilterrank.judgments._sum_of_labels import SumOfLabels


@dataclass(frozen=True, eq=False, repr=False)
class MachineReport(Result):
    """Quality of machine labels, the result of :func:`machine_report`.

    Attributes
    ----------
    by_judge : DataFrame
        Index "judge". "agreement": estimated share of the documents whose machine label has the
        gain of the people's label; "kappa": Cohen's kappa of the two; "bias": estimated mean of the
        machine's gain minus the people's gain; "n_judged": number of judged documents in the
        sample. Estimates are for the documents that can be drawn.
    by_label : DataFrame
        Index "judge" and "label" (of the machine). Numbers of documents "n_pool" and "n_judged",
        and the estimated mean and standard deviation of people's gain for the label.
    by_query : DataFrame
        Index "judge" and "qid": "n_judged", and "bias" as above; each from few labels.
    by_run : DataFrame
        Index "judge", "measure" and "run": "believed", the value from the machine's labels only;
        "bias", its difference to the estimate; "low" and "high", the confidence interval of the
        bias. If the bias differs between runs, the machine favours some of them.
    width_removed : Series
        Index "measure": relative reduction of the mean half-width of intervals by all judges
        together, compared with an estimate from the same people's labels without machines.
    estimates, by_people : Estimates
        Estimates with the machine labels, and from people's labels only.
    """

    by_judge: pd.DataFrame
    by_label: pd.DataFrame
    by_query: pd.DataFrame
    by_run: pd.DataFrame
    width_removed: pd.Series
    estimates: Estimates
    by_people: Estimates

    def to_frame(self) -> pd.DataFrame:
        """`by_run`, a row for each judge, measure and run."""
        return self.by_run.copy()

    _digits = 3

    def _summary(self):
        judges = ", ".join(self.by_judge.index[:3])
        return f"{judges} by {self.estimates.n_judged + self.estimates.n_other:,} labels of people"

    def _head(self):
        removed = ", ".join(f"{100 * s:.0f} % for {m}" for m, s in self.width_removed.items())
        lines = [f"Share of the width of intervals that machine labels remove: {removed}"]
        for name, row in self.by_judge.iterrows():
            lines.append(
                f"{name}: agreement {row['agreement']:.3f}, kappa {row['kappa']:.3f}, bias "
                f"{row['bias']:+.3f} by {row['n_judged']:.0f} labels"
            )
        return "\n".join(lines)


def machine_report(
    qrels,
    runs,
    measures,
    *,
    machine_qrels=None,
    pool=None,
    gains=None,
    confidence_level: float = 0.95,
) -> MachineReport:
    """Measure the quality of machine labels with a sample of people's labels.

    Parameters
    ----------
    qrels, runs, measures, machine_qrels, pool, confidence_level
        As for :func:`estimate`.
    gains : None, "exp2", dict or callable, default=None
        Map from labels to gains, for labels of people and machines. With a dict, a machine's label
        between two keys gets an interpolated gain.

    Returns
    -------
    MachineReport
        Tables `by_judge`, `by_label`, `by_query` and `by_run` of agreement and bias;
        `width_removed`, the share of the width of intervals that machine labels remove; `estimates`
        with the machine, and `by_people` from people's labels only.

    Raises
    ------
    InputError
        For the reasons of :func:`estimate`; if there are no machine labels.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from skfilterrank.judgments import draw_sample, machine_report
    >>> rng = np.random.RandomState(0)
    >>> documents = [f"d{i}" for i in range(100)]
    >>> rows = pd.DataFrame({"qid": np.repeat(["1", "2"], 100), "docno": documents * 2})
    >>> people = rows.assign(label=rng.randint(0, 2, 200))
    >>> machine = rows.assign(label=np.maximum(people["label"], rng.randint(0, 2, 200)))
    >>> runs = {name: rows.assign(score=rng.uniform(size=200)) for name in ("a", "b")}
    >>> sample = draw_sample(machine, runs, "dcg@50", n_total=100, random_state=0)
    >>> sample["label"] = sample[["qid", "docno"]].merge(people)["label"]
    >>> report = machine_report(sample, runs, "dcg@50", machine_qrels=machine)
    >>> report.by_label[["n_pool", "n_judged"]]
                   n_pool  n_judged
    judge   label
    machine 0.0        44        20
            1.0       156        80
    """
    table = judged_table(qrels)
    ranked = ranked_pool(machine_qrels, runs, pool)
    if not ranked.machine:
        raise InputError("there are no machine labels to report on: pass machine_qrels.")
    params = {"gains": gains, "confidence_level": confidence_level}
    estimates = estimate(qrels, ranked, measures, **params)
    alone = replace(ranked, machine={})
    # The folds that the sample was drawn in.
    vars(alone)["folding"] = ranked.folding
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # the first call has warned
        by_people = estimate(qrels, alone, measures, **params)
    rows = ranked.rows_of(table.index, "qrels")
    people = as_gains(table["label"].to_numpy(), gains, name="qrels")
    weights = 1 / table["inclusion_probability"].to_numpy()
    judges, labels, queries, values = {}, {}, {}, {}
    machine_gains = ranked.machine_gains(gains)
    for name, label in ranked.machine.items():
        gain = machine_gains[name]
        sample = pd.DataFrame(
            {
                "qid": table.index.get_level_values("qid"),
                "label": label[rows],
                "machine": gain[rows],
                "people": people,
                "weight": weights,
            }
        ).dropna()
        judges[name] = _agreement(sample)
        labels[name] = _of_labels(label, sample)
        queries[name] = _of_queries(sample)
        values[name] = _of_runs(estimates, _believed(ranked, gain, measures))
    return MachineReport(
        by_judge=pd.DataFrame(judges.values(), pd.Index(judges, name="judge")),
        by_label=pd.concat(labels, names=["judge", "label"]),
        by_query=pd.concat(queries, names=["judge", "qid"]),
        by_run=pd.concat(values, names=["judge", "measure", "run"]),
        width_removed=1 - _half_widths(estimates) / _half_widths(by_people),
        estimates=estimates,
        by_people=by_people,
    )


def _agreement(sample):
    """Compute agreement, kappa and bias of one judge."""
    weight = sample["weight"] / sample["weight"].sum()
    same = float(weight @ (sample["machine"] == sample["people"]))
    shares = [weight.groupby(sample[side]).sum() for side in ("machine", "people")]
    by_chance = float(shares[0].mul(shares[1], fill_value=0.0).sum())
    return {
        "agreement": same,
        "kappa": (same - by_chance) / (1 - by_chance)
        if 1 - by_chance > ROUNDING_OF_MEANS
        else np.nan,
        "bias": float(weight @ (sample["machine"] - sample["people"])),
        "n_judged": len(sample),
    }


def _of_labels(label, sample):
    """Compute mean and deviation of people's gain for each label of a judge."""
    rows = {}
    for value in np.unique(label[~np.isnan(label)]):
        mine = sample[sample["label"] == value]
        weight = mine["weight"] / mine["weight"].sum()
        mean = weight @ mine["people"] if len(mine) else np.nan
        rows[value] = {
            "n_pool": int(np.count_nonzero(label == value)),
            "n_judged": len(mine),
            "mean_gain": mean,
            "sd_gain": np.sqrt(weight @ (mine["people"] - mean) ** 2) if len(mine) else np.nan,
        }
    return pd.DataFrame(rows.values(), pd.Index(rows, name="label"))


def _of_queries(sample):
    """Compute the bias for each query."""
    more = sample["weight"] * (sample["machine"] - sample["people"])
    queries = sample.assign(more=more).groupby("qid")
    return pd.DataFrame(
        {"n_judged": queries.size(), "bias": queries["more"].sum() / queries["weight"].sum()}
    )


def _believed(pool, gain, measures):
    """Return values of the runs from a machine's labels only."""
    values = {}
    grades, codes = np.unique(np.nan_to_num(gain), return_inverse=True)
    sure = Prediction.sure(pool, np.eye(len(grades))[codes])
    for text, parsed in parse_measures(measures).items():
        base = SumOfLabels(parsed, pool, grades).expand(sure).base
        values[text] = pd.Series(base.mean(axis=1), pd.Index(pool.runs, name="run"))
    return pd.concat(values, names=["measure"])


def _of_runs(estimates, believed):
    """Compute the bias for each run with its interval."""
    frame = estimates.to_frame()
    return pd.DataFrame(
        {
            "believed": believed,
            "bias": believed - frame["value"],
            "low": believed - frame["high"],
            "high": believed - frame["low"],
        }
    )


def _half_widths(estimates):
    frame = estimates.to_frame()
    return (frame["high"] - frame["low"]).groupby("measure", sort=False).mean() / 2

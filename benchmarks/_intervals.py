"""Samples drawn again and again: how often intervals hold the truth, and how wide they are."""

import glob

import numpy as np
import pandas as pd
from scipy.stats import kendalltau

from skfilterrank._lists.gains import as_gains
from skfilterrank._lists.measure_names import parse_measures
from skfilterrank.io import read_qrels
from skfilterrank.judgments import RankedPool, estimate
from skfilterrank.judgments._estimate import _position_weights as position_weights
from skfilterrank.judgments._estimate import degrees_of_freedom, deviations_of_total
from skfilterrank.judgments._label_model import LabelModel, Prediction
from skfilterrank.judgments._sample import _LEAST as LEAST
from skfilterrank.judgments._sample import _OF_MEAN as OF_MEAN
from skfilterrank.judgments._sample import _sizes, draw_by_folds
from skfilterrank.judgments._sum_of_labels import SumOfLabels
from skfilterrank.metrics import evaluate_runs

ROUND = 50


def in_rounds(path, key, cells, repetitions, figures, report, *, resume):
    """All cells, a round of repetitions after the other, so that a part of them says something.

    To resume is to leave out what the file holds: of the same commit, or the table is of none.
    """
    is_begun = resume and path.exists()
    done = pd.read_csv(path) if is_begun else pd.DataFrame(columns=[*key, "first seed"])
    for first in range(0, repetitions, ROUND):
        for cell in cells:
            ours = done[(done[key] == list(cell)).all(axis=1)]
            if (ours["first seed"] == first).any():
                continue
            rows = figures(*cell, range(first, min(first + ROUND, repetitions)))
            rows = pd.DataFrame([dict(zip(key, cell)) | {"first seed": first} | r for r in rows])
            done = rows if done.empty else pd.concat([done, rows])
            done.to_csv(path, index=False, float_format="%.5g")
            report(over_rounds(done, key))
    report(over_rounds(done, key))


def over_rounds(done, key):
    """Means over all rounds, and how sure the mean coverage is."""
    key = [*key, "measure"]
    numbers = done.columns.difference([*key, "first seed", "repetitions", "labels"], sort=False)
    weighted = done.copy()
    weighted[numbers] = done[numbers].mul(done["repetitions"], axis=0)
    sums = weighted.groupby(key, sort=False)[["repetitions", *numbers]].sum(min_count=1)
    means = sums[numbers].div(sums["repetitions"], axis=0)
    spread = means.pop("squares") - means["coverage"] ** 2
    means["se of coverage"] = np.sqrt(np.maximum(spread, 0) / sums["repetitions"])
    labels = done.groupby(key, sort=False)["labels"].max()
    return pd.concat([labels, sums["repetitions"].astype(int), means], axis=1).reset_index()


class Study:
    """One pool with one machine: what does not depend on the sample is computed once."""

    def __init__(self, pool: RankedPool, labels, truth_of):
        self.pool, self.truth_of = pool, truth_of
        self.labels = labels.reindex(pool.index).to_numpy(dtype=float)
        self._sizes, self._bares = {}, {}

    def sample(self, measures, gains, design, share, seed):
        """What `draw_sample` draws, with people's labels."""
        key = tuple(measures), design
        if key not in self._sizes:
            parsed = parse_measures(list(measures))
            self._sizes[key] = _sizes(self.pool, parsed, gains, design)
        sizes = self._sizes[key]
        n = int(share * np.count_nonzero(sizes) + 0.5)
        rows, probability = draw_by_folds(sizes, self.pool.folding, n, np.random.RandomState(seed))
        table = self.pool.index[rows].to_frame(index=False)
        table["label"] = self.labels[rows]
        return table.assign(inclusion_probability=probability[rows]), rows

    def figures(self, measures, gains, design, share, seeds):
        """Means over samples of some seeds, a row for each measure."""
        found = {measure: [] for measure in measures}
        for seed in seeds:
            sample, rows = self.sample(measures, gains, design, share, seed)
            estimates = estimate(sample, self.pool, list(measures), gains=gains)
            values = estimates.to_frame()
            for measure in measures:
                true = self.truth_of(measure)
                own = values.loc[measure]
                pairs = estimates.compare(measure, correction=None)
                gap = true[pairs.first] - true[pairs.second]
                held = ((own["low"] <= true) & (true <= own["high"])).to_numpy()
                row = {
                    "held": held,
                    "coverage": held.mean(),
                    "of differences": ((pairs.low <= gap) & (gap <= pairs.high)).mean(),
                    "half-width": (own["high"] - own["low"]).mean() / 2,
                    "of differences ": (pairs.high - pairs.low).mean() / 2,
                    "bias": (own["value"] - true).mean(),
                    "rmse": np.sqrt(((own["value"] - true) ** 2).mean()),
                    "tau of values": kendalltau(own["value"], true).statistic,
                }
                widths = self._bare(measure, gains, rows, sample, estimates)
                row |= dict(zip(("no model", "no model, normal"), widths))
                found[measure].append(row)
        rows = []
        for measure, each in found.items():
            table = pd.DataFrame(each)
            row = {"measure": measure, "labels": len(sample), "repetitions": len(seeds)}
            row |= dict(table.drop(columns="held").mean())
            row["least"] = np.mean(list(table["held"]), axis=0).min()
            rows.append(row | {"squares": (table["coverage"] ** 2).mean()})
        return rows

    def _bare(self, measure, gains, rows, sample, estimates):
        """Half-widths of people's labels, divided by their probabilities and nothing else."""
        labels = np.append(as_gains(self.labels[rows], gains), 0.0)
        grades, codes = np.unique(labels, return_inverse=True)
        key = measure, tuple(grades)
        if key not in self._bares:
            form = SumOfLabels(parse_measures(measure)[measure], self.pool, grades)
            nothing = np.tile((grades == 0.0).astype(float), (len(self.pool), 1))
            sure = Prediction.sure(self.pool, nothing)
            self._bares[key] = form.expand(sure) if form.is_linear else None
        if self._bares[key] is None:
            return np.nan, np.nan
        changes = self._bares[key].changes(rows, codes[:-1]) / len(self.pool.queries)
        probability = sample["inclusion_probability"].to_numpy()
        deviations = deviations_of_total(changes, probability)
        quantile = estimates._quantile(degrees_of_freedom(deviations))
        error = np.sqrt((deviations**2).sum(axis=0))
        return (quantile * error).mean(), 1.96 * error.mean()


class KnownLabels:
    """Standard errors of a sum of labels where all labels are known."""

    def __init__(self, pool, labels, measure):
        self.pool = pool
        given = as_gains(labels.reindex(pool.index).to_numpy(dtype=float), None)
        self.grades, self.codes = np.unique(given, return_inverse=True)
        parsed = parse_measures(measure)
        form = SumOfLabels(parsed[measure], pool, self.grades)
        self.weights = position_weights(form)
        self.influential = form.influential()
        self.model = LabelModel(pool, self.weights, self.influential)
        self.sizes = _sizes(pool, parsed, None, "differences")
        everything = np.flatnonzero(self.influential)
        self.best = self._predicted(everything, np.ones(len(everything)))

    def _predicted(self, rows, probability):
        """Expected gains and their variances, by the labels of some rows."""
        learned = self.model.fit(
            rows, self.codes[rows], len(self.grades), np.full(len(rows), False), probability**-0.5
        )
        chances = learned.predict().probabilities
        expected = chances @ self.grades
        return expected, np.maximum(chances @ self.grades**2 - expected**2, 0.0)

    @property
    def best_sizes(self):
        """Sizes of documents to draw by, if it were known how sure predictions are."""
        dense = self.weights.toarray()
        of_mean = dense.sum(axis=1) ** 2 / dense.shape[1]
        square = (dense**2).sum(axis=1) - (1 - OF_MEAN) * of_mean
        sizes = np.sqrt(np.maximum(square, 0.0) * self.best[1])
        least = LEAST * sizes[self.influential].mean()
        return np.where(self.influential, np.maximum(sizes, least), 0.0)

    def errors(self, sizes, share, repetitions):
        """Mean standard errors over the runs."""
        n = int(share * np.count_nonzero(sizes) + 0.5)
        labels, of_sample = self.grades[self.codes], []
        for seed in range(repetitions):
            rows, probability = draw_by_folds(
                sizes, self.pool.folding, n, np.random.RandomState(seed)
            )
            expected, _ = self._predicted(rows, probability[rows])
            of_sample.append(self._error(labels - expected, probability))
        return {
            "no model": self._error(labels, probability),
            "sample": np.mean(of_sample),
            "all labels": self._error(labels - self.best[0], probability),
        }

    def _error(self, off, probability):
        """Deville's standard error, the mean of all runs."""
        drawn = (probability > 0) & (probability < 1)
        share = (probability[drawn] * (1 - probability[drawn]))[:, None]
        parts = self.weights[np.flatnonzero(drawn)].toarray() * off[drawn, None]
        parts /= probability[drawn, None]
        parts -= (share * parts).sum(axis=0) / share.sum()
        return np.sqrt((share * parts**2).sum(axis=0)).mean() / len(self.pool.queries)


def studies_of_deep_learning(data, judges, measures):
    """Every third run of TREC 2019 Deep Learning: judge, measure, study and true values."""
    folder = data / "trec-dl2019-llm"
    qrels = read_qrels(folder / "qrels.txt.gz").astype({"qid": str, "docno": str})
    labels = qrels.set_index(["qid", "docno"])["label"]
    runs = sorted(glob.glob(f"{folder}/runs/*.gz"))[::3]
    for judge in (*judges, "people alone"):
        machine = None if judge == "people alone" else f"{folder}/llm-qrels/{judge}.txt.gz"
        study = Study(RankedPool.read(machine, runs, pool=qrels), labels, None)
        for measure in measures:
            true = true_values(runs, qrels, (measure,), None, study.pool.runs)(measure)
            yield judge, measure, study, true


def true_values(runs, qrels, measures, gains, names):
    """Means over topics by all labels, in the order of some runs."""
    values = evaluate_runs(qrels, runs, list(measures), gains=gains).per_query
    values = values.groupby("run", sort=False).mean().loc[list(names)]
    return lambda measure: values[measure].to_numpy()

"""What is made of few labels: other measures, condensed lists, bounds, or predicted labels."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from skfilterrank._lists.checks import check_numbers
from skfilterrank._lists.measure import ParsedMeasure
from skfilterrank._lists.measure_names import known_measure, parse_measure
from skfilterrank._lists.own_reading import OwnReading
from skfilterrank.exceptions import DataWarning, InputError, UnjudgedWarning, brief
from skfilterrank.judgments import LabelPredictor
from skfilterrank.metaevaluation._experiment_pool import TEXT, over_runs
from skfilterrank.metaevaluation._selections import named
from skfilterrank.metrics import unjudged_bounds

_WORDS = ("none", "condensed", "bounds", "completed")


class Mitigations:
    """Estimates of the runs' means from few labels, by each mitigation.

    Parameters
    ----------
    measure : ParsedMeasure
        What is estimated.
    mitigations : list of str, or dict of str to str, LabelPredictor or callable
        As :func:`judging_curve` takes them.
    params : dict
        Of :func:`skfilterrank.metrics.evaluate_run`.
    """

    def __init__(self, measure: ParsedMeasure, mitigations, params):
        self.measure, self.params = measure, params
        self.measures: dict[str, ParsedMeasure] = {}
        self.predictors: dict[str, Any] = {}
        self.bounds: list[str] = []
        found = named(mitigations, "mitigations", (*_WORDS, "infap"), "measure or predictor")
        self.names = list(found)
        for name, thing in found.items():
            if isinstance(thing, LabelPredictor):
                self.predictors[name] = thing
            elif thing == "completed":
                self.predictors[name] = None
            elif thing == "bounds":
                self.bounds.append(name)
            elif thing == "none":
                self.measures[name] = measure
            elif thing == "condensed":
                self.measures[name] = _condensed(measure)
            elif isinstance(thing, ParsedMeasure) or (
                isinstance(thing, str) and known_measure(thing) is not None
            ):
                self.measures[name] = parse_measure(thing)
            elif callable(thing) and not isinstance(thing, type | str):
                self.predictors[name] = thing
            else:
                raise InputError(
                    f"mitigations must hold {', '.join(map(brief, _WORDS))}, names of measures "
                    f"such as 'infap', LabelPredictors or functions, got {brief(thing)}."
                )

    @property
    def needs_documents(self) -> list[str]:
        """Mitigations that look at the documents."""
        return [name for name, each in self.predictors.items() if not _is_function(each)]

    def truth(self, pool) -> np.ndarray:
        """The runs' means by all labels."""
        return pool.means(pool.labels, {"truth": self.measure}, **self.params)[0]

    def estimate(self, pool, judging, share, rows) -> np.ndarray:
        """The runs' means by the labels of a share, (n_mitigations, n_runs).

        NaN for measures that need chances of inclusion where the selection has none.
        """
        judged = judging.judged(share)
        labels = np.full(len(pool.labels), np.nan)
        labels[rows[judged]] = pool.labels[rows[judged]]
        chances = judging.inclusion(share, judged)
        inclusion = None
        if chances is not None:
            inclusion = np.zeros(len(labels))
            inclusion[rows] = chances
        found: dict[str, np.ndarray] = {}
        wanted = {
            name: each
            for name, each in self.measures.items()
            if inclusion is not None or "inclusion_probability" not in each.measure.columns
        }
        if wanted:
            means = pool.means(labels, wanted, inclusion=inclusion, **self.params)
            found |= dict(zip(wanted, means, strict=True))
        if self.bounds:
            middle = _middle(pool, labels, self.measure, self.params["ties"])
            found |= dict.fromkeys(self.bounds, middle)
        for name, predictor in self.predictors.items():
            table = judging.table.assign(label=labels[rows]).reset_index()
            completed = labels.copy()
            completed[rows] = _completed(predictor, table, name)
            found[name] = pool.means(completed, {name: self.measure}, **self.params)[0]
        nothing = np.full(len(pool.systems), np.nan)
        return np.stack([found.get(name, nothing) for name in self.names])


def _condensed(measure):
    """The measure of lists without unjudged documents."""
    entry = measure.measure
    if entry.library is not None:
        raise InputError(
            f"'condensed' cannot be had of {brief(measure.text)}, which reads judgments as a "
            "library does: leave out like=."
        )
    own = replace(entry.own_reading or OwnReading(), drops_unjudged=True)
    return measure._replace(measure=(entry.plain or entry).with_reading(own))


def _middle(pool, labels, measure, ties):
    """Middle of the bounds of each run; documents that all labels do not know are worth nothing."""
    gains = np.where(np.isnan(labels), np.nan, pool.gains)
    bounds = unjudged_bounds(
        pool.on_lists(gains, 0.0),
        pool.lists.y_score,
        measure,
        groups=pool.lists.index,
        ties="stable" if ties == "docno" else ties,
        low=min(0.0, pool.gains.min()),
        high=max(1.0, pool.gains.max()),
    )
    middle = (bounds.least + bounds.most) / 2
    return over_runs(middle, measure.measure, len(pool.systems))


def _is_function(predictor):
    return predictor is not None and not isinstance(predictor, LabelPredictor)


def _completed(predictor, table, name):
    """Labels of a table, with those that are predicted."""
    known = table["label"].to_numpy()
    if _is_function(predictor):
        labels = check_numbers(
            predictor(table.copy()), f"what {brief(name)} returns", n_rows=len(table)
        )
        return np.where(np.isnan(known), labels, known)
    if predictor is None:
        numbers = [each for each in table if each not in ("qid", "docno", "label", "prior", TEXT)]
        has_text = TEXT in table
        predictor = LabelPredictor(
            text=TEXT if has_text else None, features=numbers if not has_text else None
        )
    predictor = clone(predictor).set_params(query="qid", document="docno", label="label")
    with warnings.catch_warnings():
        # Texts that are not there were told of when they were read; of few labels many are alike,
        # and their topics stay as they are.
        warnings.filterwarnings("ignore", "the text holds no known term", DataWarning)
        warnings.simplefilter("ignore", UnjudgedWarning)
        return predictor.fit_transform(table)["label"].to_numpy(dtype=np.float64)

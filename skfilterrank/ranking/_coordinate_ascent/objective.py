"""The measure of some scores, which is what is optimized and reported."""

import numpy as np

from skfilterrank._lists.additive import Additive, RowFacts
from skfilterrank._lists.entry_values import EntryValues
from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.measure import MEASURES, ParsedMeasure
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.exceptions import InputError, brief
from skfilterrank.ranking._feature_ranker import MeasuredRows


class Objective(MeasuredRows):
    """Mean of a measure over queries, undefined ones 0, ties in ascending order of gain.

    So nothing is won by giving documents the same score.
    """

    def __init__(self, parsed: ParsedMeasure, gains, index: GroupIndex):
        super().__init__(parsed, gains, index, ties="worst")

    def as_sum(self) -> Additive | None:
        """The measure as a sum over documents, None where it is not one."""
        return self.parsed.as_sum(RowFacts(self.parsed, self.gains, self.index))

    def check_filterable(self) -> None:
        """Raise where the line search cannot move a document below a threshold."""
        form = self.as_sum()
        # Below it a document must add nothing, whatever stands above it.
        if (
            form is None
            or form.uses_levels
            or form.finish is not None
            or form.by_shown
            or form.n_items is not None
        ):
            raise InputError(
                f"filter=True cannot optimize a threshold for measure={brief(self.parsed.text)}: "
                "only gains and places may count, as in 'ndcg_f' or 'rbp'. For others use "
                "filter=False in RankAndFilter, which finds the best threshold for the ranking."
            )

    @property
    def has_pair(self) -> bool:
        """Whether some query has two different gains."""
        codes = self.index.codes()
        highest = np.full(self.index.n_queries, -np.inf)
        np.maximum.at(highest, codes, self.gains)
        return bool((self.gains != highest[codes]).any())

    def best_threshold(self, scores) -> float:
        """The threshold of the highest mean, finite also where all or nothing is best shown."""
        lists = RankedLists(self.gains, scores, groups=self.index)
        threshold, _ = EntryValues.of(lists, self.parsed).best()
        if np.isfinite(threshold):
            return threshold
        margin = np.ptp(scores) or 1.0
        return scores.max() + margin if threshold > 0 else scores.min() - margin


def check_optimizable(parsed: ParsedMeasure) -> None:
    """Raise for a measure that no order of the documents improves."""
    entry = parsed.measure
    if entry.order_matters == "never" or entry.name == "stat_ap":
        reason = "it is the same for every order of a query's documents"
        if entry.name == "stat_ap":
            reason = "it needs a column of inclusion probabilities"
        possible = [
            name
            for name, other in sorted(MEASURES.items())
            if other.order_matters != "never" and other.over_queries == "mean" and name != "stat_ap"
        ]
        raise InputError(
            f"measure={brief(entry.name)} cannot be optimized: {reason}. Those that can: "
            f"{', '.join(possible)}."
        )
    if entry.order_matters == "with k" and parsed.k is None:
        raise InputError(
            f"measure={brief(entry.name)} without a cut-off is the same for every order of a "
            f"query's documents: give one, such as '{entry.name}@10'."
        )

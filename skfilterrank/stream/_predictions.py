"""Values of systems for every query, of rows that need not fit into memory."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from skfilterrank._core.gains import Gains
from skfilterrank._core.measure import warn_of
from skfilterrank._core.measure_names import parse_measures
from skfilterrank._core.row_blocks import Block
from skfilterrank._core.scoring import check_undefined, with_undefined
from skfilterrank.comparison import SystemScores
from skfilterrank.metrics import PreferenceMatrix, preference_matrix
from skfilterrank.stream._evaluate import Measuring, split_options
from skfilterrank.stream._rows import Rows, check_rows, read_once
from skfilterrank.stream._systems import columns_of_systems, score_key

# Measures whose values only order rankings, which is done exactly instead.
_KINDS = {"lexirecall": "recall", "lexiprecision": "precision"}


def score_predictions(
    rows: Rows,
    y_scores: Mapping[str, str],
    measures,
    *,
    gains: Gains = None,
    ties: str | None = None,
    unjudged: str = "zero",
    undefined: float | str = 0.0,
    missing: str | float = "raise",
    n_jobs: int | None = None,
    verbose: int = 0,
    **options: Any,
) -> dict[str, SystemScores]:
    """Values of models' predictions for every query, by several measures, reading rows once.

    Parameters
    ----------
    rows : Rows
        The rows; their `score` plays no part.
    y_scores : dict of str to str
        The column of scores of each system, -inf where filtered.
    measures : str or list of str
        Names of measures such as "ap", "ndcg_f@20" or "lexirecall".
    gains, ties, unjudged, undefined, n_jobs, verbose, **options
        As in :func:`evaluate`.
    missing : {"raise", "drop"} or float, default="raise"
        As in :func:`skfilterrank.comparison.score_predictions`.

    Returns
    -------
    dict of str to SystemScores
        Those of :func:`skfilterrank.comparison.score_predictions`, queries sorted by their ids: 8
        bytes for each system, query and measure stay in memory, which comparisons need.

    Raises
    ------
    ValueError
        As :func:`skfilterrank.comparison.score_predictions` and :func:`evaluate`.

    Examples
    --------
    >>> from skfilterrank.stream import Rows, score_predictions
    >>> rows = Rows(
    ...     {
    ...         "qid": ["a", "a", "a", "b", "b"],
    ...         "label": [1, 0, -1, 1, 0],
    ...         "old": [3, 2, 1, 1, 2],
    ...         "new": [3, 2, float("-inf"), 2, 1],
    ...     }
    ... )
    >>> print(score_predictions(rows, {"old": "old", "new": "new"}, "ndcg_f")["ndcg_f"])
    ndcg_f of 2 systems for 2 queries
         mean    sd  wins
    new 1.000 0.000     2
    old 0.690 0.084     0
    """
    check_rows(rows)
    wanted = parse_measures(measures)
    check_undefined(undefined)
    orders = {text: parsed for text, parsed in wanted.items() if _orders_only(parsed)}
    valued = {text: parsed for text, parsed in wanted.items() if text not in orders}
    options, in_columns = split_options(options, valued)
    measuring = Measuring(valued, gains, ties, unjudged, undefined, options, in_columns)
    columns = columns_of_systems(rows, y_scores, in_columns)
    kinds = {text: _KINDS[parsed.measure.name] for text, parsed in orders.items()}
    work = _Scoring(tuple(y_scores), measuring, kinds)
    total = read_once(rows, columns, work, n_jobs=n_jobs, verbose=verbose)
    warn_of([valued[text] for text in valued if text in total.forbidden])
    ids = np.concatenate(total.ids)
    order = np.argsort(ids, kind="stable")
    queries = pd.Index(ids[order], name="qid", tupleize_cols=False)
    frames = {
        system: pd.DataFrame(np.concatenate(values)[order], index=queries, columns=list(valued))
        for system, values in total.values.items()
    }
    table = pd.concat(frames, names=["run"]) if valued else pd.DataFrame()
    scores = {}
    for text in wanted:
        if text in valued:
            scores[text] = SystemScores.of(table[text], missing=missing, name="y_scores")
        else:
            ranks, n_relevant = (np.concatenate(parts)[order] for parts in zip(*total.ranks[text]))
            table_of_ranks = pd.DataFrame(ranks, index=queries, columns=list(y_scores))
            preferences = PreferenceMatrix(table_of_ranks, n_relevant, kinds[text])
            scores[text] = SystemScores.from_preferences(preferences)
    return scores


def _orders_only(parsed):
    """Whether a measure has no values, but an order of systems."""
    return parsed.measure.name in _KINDS and parsed.options.get("scale") == "preference"


class _Values(NamedTuple):
    """Values, ranks and ids of the queries of some blocks."""

    ids: tuple
    values: dict
    ranks: dict
    forbidden: frozenset

    def merge(self, other: "_Values") -> "_Values":
        """Of both."""
        return _Values(
            self.ids + other.ids,
            {name: every + other.values[name] for name, every in self.values.items()},
            {text: every + other.ranks[text] for text, every in self.ranks.items()},
            self.forbidden | other.forbidden,
        )


class _Scoring(NamedTuple):
    """Measures all systems of a block."""

    systems: tuple
    measuring: Measuring
    kinds: dict

    def __call__(self, block: Block) -> _Values:
        """The values of a block."""
        values = dict.fromkeys(self.systems, (np.empty((len(block.ids), 0)),))
        for system in self.systems if self.measuring.wanted else ():
            try:
                found = self.measuring._replace(score=score_key(system)).values(block)
            except ValueError as error:
                error.add_note(f"This came up with the scores of {system!r}.")
                raise
            values[system] = (with_undefined(found, self.measuring.undefined),)
        ranks = {}
        ties: Any = {} if self.measuring.ties is None else {"ties": self.measuring.ties}
        groups: Any = block.group_index()
        for text, kind in self.kinds.items():
            matrix = preference_matrix(
                block.columns["label"],
                {system: block.columns[score_key(system)] for system in self.systems},
                kind=kind,
                groups=groups,
                gains=self.measuring.gains,
                unjudged=self.measuring.unjudged,
                **ties,
            )
            ranks[text] = ((matrix.ranks.to_numpy(), matrix.n_relevant),)
        return _Values((block.ids,), values, ranks, self.measuring.forbidden(block))

"""A threshold with a guarantee, of rows that come in parts."""

from typing import NamedTuple

import numpy as np

from skfilterrank._core.gains import Gains
from skfilterrank._core.row_blocks import Block
from skfilterrank.stream._frames import Wanted
from skfilterrank.stream._rows import Rows, check_rows, read_once
from skfilterrank.thresholds import CertifiedThreshold, RiskCertificate


def risk_threshold(
    rows: Rows,
    *,
    risks,
    confidence_level: float = 0.95,
    guarantee: str = "confidence",
    gains: Gains = None,
    measure: str = "ndcg_f",
    show_beyond_k: bool = False,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> RiskCertificate:
    """Choose the best threshold at which rates on new queries are low, with a guarantee.

    Parameters
    ----------
    rows : Rows
        The rows of the calibration queries.
    risks, confidence_level, guarantee, gains, measure, show_beyond_k
        As in :class:`skfilterrank.thresholds.CertifiedThreshold`.
    n_jobs, verbose
        As in :func:`evaluate`.

    Returns
    -------
    RiskCertificate
        The certificate of :class:`skfilterrank.thresholds.CertifiedThreshold`; `to_judge` numbers
        the rows in the order in which they were read.

    Raises
    ------
    ValueError
        As :class:`skfilterrank.thresholds.CertifiedThreshold` and :func:`evaluate`.

    Notes
    -----
    The guarantee is tested at every score in turn with the loss of every query, which takes all of
    them at once: labels, scores and query ids of all rows are kept in memory, some 24 bytes a row,
    however many rows there are. A guarantee seldom gains by more than 1e5 queries: calibrate on a
    sample of them.

    Examples
    --------
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.stream import Rows, risk_threshold
    >>> _, y, groups, scores = make_rank_and_filter(1000, random_state=0)
    >>> rows = Rows({"qid": groups, "label": y, "score": scores})
    >>> certificate = risk_threshold(rows, risks={"any_forbidden@3": 0.1})
    >>> 0.2 < certificate.threshold < 0.3
    True
    """
    check_rows(rows)
    columns = Wanted(rows.query, rows.label, {"score": rows.score}, {})
    kept = read_once(rows, columns, _keep, n_jobs=n_jobs, verbose=verbose).blocks
    labels, scores = (np.concatenate([each.columns[key] for each in kept]) for key in _COLUMNS)
    groups = np.concatenate([np.repeat(each.ids, each.sizes) for each in kept])
    threshold = CertifiedThreshold(
        risks,
        confidence_level=confidence_level,
        guarantee=guarantee,
        measure=measure,
        show_beyond_k=show_beyond_k,
        gains=gains,
    )
    return threshold.fit(scores, labels, groups=groups).certificate_


_COLUMNS = ("label", "score")


class _Kept(NamedTuple):
    """Blocks of rows."""

    blocks: tuple

    def merge(self, other: "_Kept") -> "_Kept":
        """Return the blocks of both."""
        return _Kept(self.blocks + other.blocks)


def _keep(block: Block) -> _Kept:
    """Copy a block, without what it is a part of."""
    columns = {name: values.copy() for name, values in block.columns.items()}
    return _Kept((block._replace(columns=columns),))

"""Agreement of assessors."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from skfilterrank._base.checks import as_list
from skfilterrank._base.results import Result
from skfilterrank._base.words import counted
from skfilterrank._files.files import is_path
from skfilterrank._files.forms import errors_of, name_of_path
from skfilterrank._lists.gains import Gains, LabelsNotNumbers, as_gains
from skfilterrank.exceptions import InputError, brief, brief_list
from skfilterrank.io import QrelsIndex
from skfilterrank.judgments._selector import refuse_repeated

_KEY = ["qid", "docno"]


@dataclass(frozen=True, eq=False, repr=False)
class AssessorAgreement(Result):
    """Agreement of assessors, the result of :func:`assessor_agreement`.

    Attributes
    ----------
    krippendorff_alpha : float
        Agreement of all assessors: 1 if all labels agree, 0 for agreement by chance. NaN if all
        labels of documents with several labels are equal.
    pairs : DataFrame of shape (n_pairs, 6)
        Columns "first", "second", "n_both" (documents that both judged), "agreement" (share of
        these with equal labels), "kappa" (Cohen's, unweighted) and "overlap" (documents relevant by
        both, divided by documents relevant by either); NaN where undefined.
    labels : DataFrame of shape (n_documents, n_assessors)
        Label of every document by every assessor, NaN where missing; index levels "qid" and
        "docno".
    """

    krippendorff_alpha: float
    pairs: pd.DataFrame
    labels: pd.DataFrame

    @property
    def agreed(self) -> pd.DataFrame:
        """Documents without two different labels: columns "qid", "docno" and "label"."""
        same = self.labels.min(axis=1) == self.labels.max(axis=1)
        return self.labels[same].max(axis=1).rename("label").reset_index()

    @property
    def disagreements(self) -> pd.DataFrame:
        """The rows of `labels` with different labels, the greatest differences first."""
        spread = self.labels.max(axis=1) - self.labels.min(axis=1)
        order = np.argsort(-spread.to_numpy(), kind="stable")
        return self.labels.iloc[order[: np.count_nonzero(spread > 0)]]

    def to_frame(self) -> pd.DataFrame:
        """Return the pairs."""
        return self.pairs.copy()

    def _summary(self):
        several = counted(int((self.labels.notna().sum(axis=1) > 1).sum()), "document")
        return (
            f"alpha {self.krippendorff_alpha:.4f} of {counted(self.labels.shape[1], 'assessor')}, "
            f"{len(self.disagreements):,} of {several} with different labels"
        )

    def _head(self):
        head = f"ordinal {self._summary()}"
        if np.isnan(self.krippendorff_alpha):
            head += "\nAll labels of documents with several assessors are equal: nothing is known "
            head += "about agreement beyond chance."
        return head

    def _table(self):
        # Kappa is unweighted, unlike alpha on an ordinal scale.
        return self.pairs.rename(columns={"kappa": "unweighted kappa"})


def assessor_agreement(qrels, *, gains: Gains = None) -> AssessorAgreement:
    r"""Measure the agreement of assessors.

    Parameters
    ----------
    qrels : list of paths, or dict {name: path, open file or DataFrame}
        Judgments of at least two assessors, as :func:`skfilterrank.io.read_qrels` reads them or
        with columns "qid", "docno" and "label". NaN means no label. Paths are named by their files.
    gains : None, "exp2", dict or callable, default=None
        Map from labels to gains, for the overlap: a gain above 0 is relevant.

    Returns
    -------
    AssessorAgreement
        `krippendorff_alpha`; `pairs`, a row for every two assessors with "n_both", "agreement",
        "kappa" and "overlap"; `labels`, a column for each assessor; `agreed` and `disagreements`,
        the documents with equal and with different labels.

    Raises
    ------
    ValueError
        If there are fewer than two assessors, a column is missing, a document occurs twice in a
        query, or no document is judged by two assessors.

    See Also
    --------
    skfilterrank.io.read_qrels : Reads the tables that assessors filled in.

    Notes
    -----
    Cohen's kappa is ``(agreement - chance) / (1 - chance)``, where chance is the agreement of
    labels drawn independently from the label frequencies of the two assessors. Krippendorff's alpha
    [1]_ is ``1 - observed / expected`` disagreement, over all pairs of labels of a document, each
    document weighted by its number of labels; documents with one label are ignored. The
    disagreement of two labels is the squared number of labels between them, so that 2 is nearer to
    1 than to 0; kappa treats all different labels alike. Overlap is defined
    as in [2]_, where TREC assessors have 0.42 to 0.49 and systems are still ordered almost equally.

    References
    ----------
    .. [1] K. Krippendorff, "Content Analysis", chapter 11.
    .. [2] E. Voorhees, "Variations in Relevance Judgments and the Measurement of Retrieval
       Effectiveness", Information Processing & Management 36(5), 2000.

    Examples
    --------
    >>> import pandas as pd
    >>> from skfilterrank.judgments import assessor_agreement
    >>> documents = pd.DataFrame({"qid": "1", "docno": list("abcde")})
    >>> found = assessor_agreement(
    ...     {
    ...         "anna": documents.assign(label=[2, 1, 0, 0, 1]),
    ...         "bob": documents.assign(label=[2, 1, 0, 1, 0]),
    ...     }
    ... )
    >>> print(found)
    ordinal alpha 0.6000 of 2 assessors, 2 of 5 documents with different labels
    first second  n_both  agreement  unweighted kappa  overlap
     anna    bob       5     0.6000            0.3750   0.5000
    >>> found.disagreements
               anna  bob
    qid docno
    1   d       0.0  1.0
        e       1.0  0.0
    """
    columns = {name: _labels(name, source) for name, source in _by_name(qrels).items()}
    labels = pd.concat(columns, axis=1).sort_index()
    if not (labels.notna().sum(axis=1) > 1).any():
        raise InputError(
            "no document is judged by two assessors: they judged documents such as "
            f"{'; '.join(str(column.index[0]) for column in columns.values())}. Compare their ids."
        )
    is_relevant = labels.apply(lambda column: as_gains(column, gains, name="qrels")) > 0
    pairs = [
        _pair(labels[[first, second]], is_relevant[[first, second]])
        for first, second in combinations(labels, 2)
    ]
    return AssessorAgreement(_alpha(labels.to_numpy()), pd.DataFrame(pairs), labels)


def _by_name(qrels):
    """Read judgments, and return them by name of the assessor."""
    if isinstance(qrels, Mapping):
        found = dict(qrels)
    else:
        expected = "qrels must be a list of paths, or a dict {name: path, open file or DataFrame}"
        paths = [] if isinstance(qrels, pd.DataFrame) else as_list(qrels, "qrels", "paths")
        if is_path(qrels) or not paths or not all(map(is_path, paths)):
            raise InputError(f"{expected}, got {brief(qrels)}.")
        found = {name_of_path(path): path for path in paths}
        if len(found) < len(paths):
            raise InputError(f"two files of qrels have one name: {brief_list(paths)}; pass a dict.")
    if len(found) < 2:
        raise InputError(f"qrels must hold the judgments of two assessors, got {len(found)}.")
    return found


def _labels(name, source):
    """Return an assessor's labels by query and document."""
    with errors_of(name, kind="assessor"):
        # Machines count as assessors here.
        is_frame = isinstance(source, pd.DataFrame)
        frame = source if is_frame else QrelsIndex(source, predicted="use").to_frame()
        levels = [level for level in frame.index.names if level not in (None, *frame.columns)]
        frame = frame.reset_index(level=levels) if levels else frame
        if not {*_KEY, "label"} <= set(frame.columns):
            raise InputError(
                "a table of judgments must have columns or index levels 'qid', 'docno' and "
                f"'label', got columns {brief_list(frame.columns)}."
            )
        pairs = pd.MultiIndex.from_frame(frame[_KEY].astype(str))
        try:
            labels = pd.Series(as_gains(frame["label"]), pairs).dropna()
        except LabelsNotNumbers as error:
            raise InputError(
                f"labels must be numbers, got {brief_list(list(frame['label'].unique()))}: read "
                "texts with {read_qrels(qrels, gains=)}, the gain of each label.",
                argument="read_qrels(qrels, gains=)",
            ) from error
        refuse_repeated(*(labels.index.get_level_values(name) for name in _KEY), "the table")
        if labels.empty:
            raise InputError("the judgments hold no label.")
        return labels


def _pair(labels, is_relevant):
    """Compare two assessors."""
    both = labels.notna().all(axis=1).to_numpy()
    first, second = labels[both].to_numpy().T
    relevant = is_relevant[both].to_numpy()
    n_either = np.count_nonzero(relevant.any(axis=1))
    kappa = np.nan
    if len(np.unique([first, second])) > 1:
        # Codes replace labels, which may be any numbers.
        codes = np.unique([first, second], return_inverse=True)[1].reshape(2, -1)
        kappa = _kappa(*codes)
    return {
        "first": labels.columns[0],
        "second": labels.columns[1],
        "n_both": len(first),
        "agreement": float(np.mean(first == second)) if len(first) else np.nan,
        "kappa": kappa,
        "overlap": np.count_nonzero(relevant.all(axis=1)) / n_either if n_either else np.nan,
    }


def _kappa(first, second):
    """Compute Cohen's kappa of label codes: 1 - observed / expected disagreement."""
    n, n_codes = len(first), 1 + max(first.max(), second.max())
    given = (np.bincount(codes, minlength=n_codes) for codes in (first, second))
    expected = n - np.dot(*given) / n
    return float(1 - np.count_nonzero(first != second) / expected)


def _alpha(labels):
    """Compute Krippendorff's ordinal alpha: 1 - observed / expected disagreement of label pairs."""
    n_labels = np.count_nonzero(~np.isnan(labels), axis=1)
    labels, n_labels = labels[n_labels > 1], n_labels[n_labels > 1]
    is_label = ~np.isnan(labels)
    values, codes = np.unique(labels[is_label], return_inverse=True)
    if len(values) < 2:
        return np.nan
    # Number of labels below each value plus half of those equal to it.
    totals = np.bincount(codes).astype(np.float64)
    places = (np.cumsum(totals) - totals / 2)[codes]
    # Disagreement of pairs within documents, and of all pairs.
    observed = _disagreement(places, np.nonzero(is_label)[0], n_labels)
    together = np.zeros(len(codes), dtype=np.intp)
    expected = _disagreement(places, together, np.array([len(codes)]))
    return 1 - (observed / (n_labels - 1)).sum() / (expected[0] / (len(codes) - 1))


def _disagreement(places, document, n_labels):
    """Sum squared differences over ordered pairs of labels for each document."""
    # Places are centred first, which avoids cancellation.
    away = places - (np.bincount(document, places) / n_labels)[document]
    return 2 * n_labels * np.bincount(document, away**2)

"""A CrossEncoder of sentence-transformers behind a threshold."""

from collections.abc import Callable, Sequence
from typing import Any

from skfilterrank._lists.lazy_names import import_optional
from skfilterrank.exceptions import InputError, brief
from skfilterrank.integrations._served import check_callable, check_threshold, serve


class FilteredCrossEncoder:
    """CrossEncoder that ranks passages, without those that a threshold hides.

    Parameters
    ----------
    model : str or object
        A CrossEncoder of sentence-transformers, the name or path of one, which is then loaded, or
        any object with ``predict(pairs)`` that scores pairs (query, text), higher is better.
    threshold : fitted threshold, str or path
        A fitted threshold of :mod:`skfilterrank.thresholds`, or the file that its `save` wrote. It
        must have been fitted on scores of this model.
    on_hidden : callable, default=None
        Called as ``on_hidden(query, hidden)`` for each query that has hidden passages, in the
        thread that serves it. `hidden` is a list of dicts: "id" and "row" (both the position in
        `documents`), "score" and "reason". None writes their number to the log
        "skfilterrank.integrations" (level INFO).

    See Also
    --------
    skfilterrank.thresholds.CertifiedThreshold : Certifies what is shown.

    Notes
    -----
    Nothing changes when a query is served, so that threads may share an object.

    Examples
    --------
    >>> from skfilterrank.integrations import FilteredCrossEncoder
    >>> from skfilterrank.thresholds import FixedThreshold
    >>> class WordsInCommon:
    ...     def predict(self, pairs):
    ...         return [len({*query.split()} & {*text.split()}) for query, text in pairs]
    >>> cut, hidden = FixedThreshold(1).fit(), {}
    >>> reranker = FilteredCrossEncoder(WordsInCommon(), cut, on_hidden=hidden.__setitem__)
    >>> reranker.rank("green apples", ["oil", "apples", "green apples"])
    [{'corpus_id': 2, 'score': 2.0}, {'corpus_id': 1, 'score': 1.0}]
    >>> [(each["id"], each["reason"]) for each in hidden["green apples"]]
    [(0, 'score below the threshold 1')]
    """

    def __init__(self, model: Any, threshold: Any, *, on_hidden: Callable | None = None):
        if isinstance(model, str):
            package = import_optional(
                "sentence_transformers",
                "FilteredCrossEncoder of a model's name",
                "sentence-transformers",
            )
            model = package.CrossEncoder(model)
        if not callable(getattr(model, "predict", None)):
            raise InputError(
                f"model must be a CrossEncoder, its name, or have predict, got {brief(model)}."
            )
        self.model = model
        self.threshold = check_threshold(threshold)
        self.on_hidden = check_callable(on_hidden, "on_hidden")

    def rank(
        self, query: str, documents: Sequence[str], *, top_k: int | None = None, **options: Any
    ) -> list[dict]:
        """Rank the passages of a query, as CrossEncoder.rank, without those that are hidden.

        Parameters
        ----------
        query : str
            The query.
        documents : sequence of str
            The passages, all that were retrieved.
        top_k : int or None, default=None
            Number of passages to return at most. The threshold sees them all.
        **options
            Parameters of the model's `predict`, such as `batch_size`.

        Returns
        -------
        list of dict
            "corpus_id", the position in `documents`, and "score" of each shown passage, best first;
            may be empty.
        """
        if not len(documents):
            return []
        scores = self.model.predict([(query, text) for text in documents], **options)
        ids, on_hidden = range(len(documents)), self.on_hidden
        shown, served, _ = serve(self.threshold, scores, query=query, ids=ids, on_hidden=on_hidden)
        return [{"corpus_id": row, "score": float(served[row])} for row in shown[:top_k]]

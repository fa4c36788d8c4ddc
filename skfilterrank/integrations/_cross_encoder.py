"""A reranker that filters the scores of a CrossEncoder of sentence-transformers by a threshold."""

from collections.abc import Callable, Sequence
from typing import Any

from skfilterrank._lists.lazy_names import import_optional
from skfilterrank.exceptions import InputError, brief
from skfilterrank.integrations._served import check_callable, check_threshold, serve


class FilteredCrossEncoder:
    """CrossEncoder that ranks passages and leaves out those that a threshold hides.

    Parameters
    ----------
    model : str or object
        A CrossEncoder of sentence-transformers, its name or path (it is then loaded), or any object
        with a method ``predict(pairs)`` that scores pairs (query, text), higher is better.
    threshold : fitted threshold, str or path
        A fitted threshold of :mod:`skfilterrank.thresholds`, or the path of a saved one. It must
        have been fitted on scores of this model.
    on_hidden : callable, default=None
        Function that is called as ``on_hidden(query, hidden)`` for each query with hidden passages,
        in the thread of the query. `hidden` is a list of dicts with the keys "id" and "row" (both
        are the position in `documents`), "score" and "reason", such as "score below the threshold
        0.35" or "beyond the first 3". None writes the number of hidden passages to the log
        "skfilterrank.integrations" (level INFO).

    See Also
    --------
    skfilterrank.thresholds.CertifiedThreshold : Threshold with a certificate for its risk.

    Notes
    -----
    A query does not change the object, so threads may share it.

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
                "model must be a CrossEncoder, its name, or an object with a method predict, got "
                f"{brief(model)}."
            )
        self.model = model
        self.threshold = check_threshold(threshold)
        self.on_hidden = check_callable(on_hidden, "on_hidden")

    def rank(
        self,
        query: str,
        documents: Sequence[str],
        *,
        top_k: int | None = None,
        return_documents: bool = False,
        **options: Any,
    ) -> list[dict]:
        """Rank the passages of a query like CrossEncoder.rank, without hidden passages.

        Parameters
        ----------
        query : str
            The query.
        documents : sequence of str
            All passages that were retrieved for the query.
        top_k : int or None, default=None
            Largest number of passages to return. The threshold uses all passages.
        return_documents : bool, default=False
            True adds "text", the passage itself.
        **options
            Parameters of the model's `predict`, such as `batch_size`.

        Returns
        -------
        list of dict
            The shown passages, the best first: "corpus_id" is the position in `documents`, and
            "score" is the score. The list may be empty.

        Raises
        ------
        InputError
            If `documents` is one text, or the model does not return one score for each passage.
        """
        if isinstance(documents, str):
            raise InputError(f"documents must be a list of texts, got one text {brief(documents)}.")
        documents = list(documents)
        if not documents:
            return []
        scores = self.model.predict([(query, text) for text in documents], **options)
        ids, on_hidden = range(len(documents)), self.on_hidden
        shown, served, _ = serve(self.threshold, scores, query=query, ids=ids, on_hidden=on_hidden)
        found: list[dict[str, Any]] = [
            {"corpus_id": row, "score": float(served[row])} for row in shown[:top_k]
        ]
        if return_documents:
            for each in found:
                each["text"] = documents[each["corpus_id"]]
        return found

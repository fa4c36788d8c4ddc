"""A document compressor of LangChain that hides documents by a threshold."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any, Self

from skfilterrank._base.lazy_names import import_optional
from skfilterrank.exceptions import InputError
from skfilterrank.integrations._served import check_callable, check_threshold, serve_documents

import_optional("langchain_core", "LangChainCompressor", "langchain-core")

from langchain_core.documents import BaseDocumentCompressor, Document  # noqa: E402
from pydantic import AfterValidator, ConfigDict, model_validator  # noqa: E402

# Entry for the served score, if `score_key` names none.
_SCORE = "relevance_score"


class LangChainCompressor(BaseDocumentCompressor):
    """LangChain document compressor that ranks documents and hides some by a threshold.

    Use it as the `base_compressor` of a ContextualCompressionRetriever, or as a step of a chain.

    Parameters
    ----------
    threshold : fitted threshold, RankAndFilter, str or path
        A fitted threshold of :mod:`skfilterrank.thresholds`, the path of a saved one, or a fitted
        :class:`~skfilterrank.ranking.RankAndFilter`.
    scorer : callable, default=None
        Function that is called as ``scorer(query, texts)`` for the documents of a query. It returns
        one score per text, or a table of scores with other columns that the threshold uses. For a
        RankAndFilter, it returns one row of features per text.
    score_key : str, default=None
        Without `scorer`, the entry of the metadata that holds the scores of the reranker before
        this component. CohereRerank and FlashrankRerank store theirs in "relevance_score";
        CrossEncoderReranker stores none, so pass its model as `scorer`, see Examples. One of
        `scorer` and `score_key` must be given, since an entry of an earlier stage could pass for
        the reranker's. The served score is stored in this entry, or in
        "relevance_score".
    on_hidden : callable, default=None
        Function that is called as ``on_hidden(query, hidden)`` for each query with hidden
        documents, in the thread of the query. `hidden` is a list of dicts with the keys "id" (of
        the document, or its position if it has none), "row" (its position), "score" and "reason",
        such as "score below the threshold 0.35" or "beyond the first 3". With a RankAndFilter,
        "score" is the score minus the threshold, which is below 0. None writes the number of hidden
        documents to the log "skfilterrank.integrations" (level INFO).

    Notes
    -----
    Shown documents are copies with metadata of their own, whose values are shared. A query does
    not change the object, so threads may share it.

    Examples
    --------
    >>> from langchain_core.documents import Document
    >>> from skfilterrank.integrations import LangChainCompressor
    >>> from skfilterrank.thresholds import FixedThreshold
    >>> found = [Document("no", metadata={"relevance_score": 0.1}, id="a")]
    >>> found += [Document("yes", metadata={"relevance_score": 0.9}, id="b")]
    >>> cut = FixedThreshold(0.5).fit()
    >>> compressor = LangChainCompressor(threshold=cut, score_key="relevance_score")
    >>> [document.id for document in compressor.compress_documents(found, "query")]
    ['b']

    With a cross-encoder, such as a HuggingFaceCrossEncoder, whose `score` takes pairs of texts:

    >>> class Model:
    ...     def score(self, pairs):
    ...         return [float(query in text) for query, text in pairs]
    >>> model = Model()
    >>> compressor = LangChainCompressor(
    ...     threshold=cut,
    ...     scorer=lambda query, texts: model.score([(query, text) for text in texts]),
    ... )
    >>> [document.id for document in compressor.compress_documents(found, "no")]
    ['a']
    """

    # A misspelled parameter is an error, as in LangChain's own compressors.
    model_config = ConfigDict(extra="forbid")

    threshold: Annotated[Any, AfterValidator(check_threshold)]
    scorer: Annotated[Any, AfterValidator(partial(check_callable, name="scorer"))] = None
    score_key: str | None = None
    on_hidden: Annotated[Any, AfterValidator(partial(check_callable, name="on_hidden"))] = None

    @model_validator(mode="after")
    def _has_scores(self) -> Self:
        if self.scorer is None and self.score_key is None:
            raise InputError(
                "scorer or score_key must be given, got neither: pass scorer, a function (query, "
                "texts) -> scores, or score_key, the entry of the metadata in which your reranker "
                "stores its scores, such as 'relevance_score'."
            )
        return self

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Any = None
    ) -> Sequence[Document]:
        """Return copies of the shown documents, the best first.

        Parameters
        ----------
        documents : sequence of Document
            All documents that were retrieved for the query.
        query : str
            The query.
        callbacks : object, default=None
            Ignored; LangChain passes it.

        Returns
        -------
        list of Document
            Copies of the shown documents; the list may be empty.
        """
        documents = list(documents)
        texts = [each.page_content for each in documents]
        key = _SCORE if self.score_key is None else self.score_key
        own = [each.metadata.get(key) for each in documents]
        ids = [row if each.id is None else each.id for row, each in enumerate(documents)]
        shown, served, _ = serve_documents(self, query, texts, own, f"metadata[{key!r}]", ids)
        return [
            documents[row].model_copy(
                update={"metadata": {**documents[row].metadata, key: float(served[row])}}
            )
            for row in shown
        ]

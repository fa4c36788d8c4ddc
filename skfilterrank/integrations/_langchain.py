"""A document compressor of LangChain that hides documents by a threshold."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

from skfilterrank._lists.lazy_names import import_optional
from skfilterrank.integrations._served import check_callable, check_threshold, serve_documents

import_optional("langchain_core", "LangChainCompressor", "langchain-core")

from langchain_core.documents import BaseDocumentCompressor, Document  # noqa: E402
from pydantic import AfterValidator, ConfigDict  # noqa: E402

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
        RankAndFilter, it returns one row of features per text. None uses
        ``metadata["relevance_score"]``, where rerankers of LangChain store their scores.
    on_hidden : callable, default=None
        Function for records of hidden documents, as in :class:`FilteredCrossEncoder`. "id" is the
        id of the document, or its position if it has none. With a RankAndFilter, "score" is the
        score minus the threshold, which is below 0.

    Notes
    -----
    Shown documents are copies with their score in ``metadata["relevance_score"]``. A query does not
    change the object, so threads may share it.

    Examples
    --------
    >>> from langchain_core.documents import Document
    >>> from skfilterrank.integrations import LangChainCompressor
    >>> from skfilterrank.thresholds import FixedThreshold
    >>> found = [Document("no", metadata={"relevance_score": 0.1}, id="a")]
    >>> found += [Document("yes", metadata={"relevance_score": 0.9}, id="b")]
    >>> compressor = LangChainCompressor(threshold=FixedThreshold(0.5).fit())
    >>> [document.id for document in compressor.compress_documents(found, "query")]
    ['b']
    """

    # A misspelled parameter is an error, as in LangChain's own compressors.
    model_config = ConfigDict(extra="forbid")

    threshold: Annotated[Any, AfterValidator(check_threshold)]
    scorer: Annotated[Any, AfterValidator(partial(check_callable, name="scorer"))] = None
    on_hidden: Annotated[Any, AfterValidator(partial(check_callable, name="on_hidden"))] = None

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
        own = [each.metadata.get(_SCORE) for each in documents]
        ids = [row if each.id is None else each.id for row, each in enumerate(documents)]
        shown, served, _ = serve_documents(self, query, texts, own, f"metadata[{_SCORE!r}]", ids)
        found = [documents[row].model_copy(deep=True) for row in shown]
        for document, row in zip(found, shown):
            document.metadata[_SCORE] = float(served[row])
        return found

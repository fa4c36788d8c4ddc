"""A ranker component of Haystack that hides documents by a threshold."""

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from skfilterrank._base.checks import check_count
from skfilterrank._base.lazy_names import import_optional
from skfilterrank.exceptions import InputError
from skfilterrank.integrations._served import check_callable, check_threshold, serve_documents

import_optional("haystack", "HaystackRanker", "haystack-ai")

from haystack import (  # noqa: E402
    Document,
    component,
    default_from_dict,
    default_to_dict,
)
from haystack.utils import deserialize_callable, serialize_callable  # noqa: E402


@component
class HaystackRanker:
    """Haystack component that ranks documents and hides some by a threshold.

    Use it as a ranker, between retriever and prompt builder. It has two outputs: the shown
    documents, and records of the hidden documents.

    Parameters
    ----------
    threshold : fitted threshold, RankAndFilter, str or path
        A fitted threshold of :mod:`skfilterrank.thresholds`, the path of a saved one, or a fitted
        :class:`~skfilterrank.ranking.RankAndFilter`. To save the pipeline, pass a path.
    scorer : callable, default=None
        Function that scores the documents, as in :class:`LangChainCompressor`. None uses the
        attribute `score` of each document.
    on_hidden : callable, default=None
        Function for records of what is hidden, as in :class:`LangChainCompressor`.

    Notes
    -----
    A query does not change the object, so threads may share it.

    By default, Haystack loads only its own components. To load a saved pipeline, allow this
    package: ``Pipeline.loads(text, allowed_modules=["skfilterrank"])``.

    Examples
    --------
    >>> from haystack import Document
    >>> from skfilterrank.integrations import HaystackRanker
    >>> from skfilterrank.thresholds import FixedThreshold
    >>> found = [Document(id="a", content="no", score=0.1)]
    >>> found += [Document(id="b", content="yes", score=0.9)]
    >>> ranker = HaystackRanker(FixedThreshold(0.5).fit())
    >>> answer = ranker.run(query="query", documents=found)
    >>> [each.id for each in answer["documents"]], [each["id"] for each in answer["hidden"]]
    (['b'], ['a'])
    """

    def __init__(
        self,
        threshold: Any,
        *,
        scorer: Callable | None = None,
        on_hidden: Callable | None = None,
    ):
        self._path = os.fspath(threshold) if isinstance(threshold, (str, os.PathLike)) else None
        self.threshold = check_threshold(threshold)
        self.scorer = check_callable(scorer, "scorer")
        self.on_hidden = check_callable(on_hidden, "on_hidden")

    @component.output_types(documents=list[Document], hidden=list[dict[str, Any]])
    def run(
        self, query: str, documents: list[Document], top_k: int | None = None
    ) -> dict[str, Any]:
        """Rank the documents of a query, and hide some by the threshold.

        Parameters
        ----------
        query : str
            The query.
        documents : list of Document
            All documents that were retrieved for the query.
        top_k : int, default=None
            Show at most so many documents, also where the threshold would show more.

        Returns
        -------
        dict
            "documents" holds copies of the shown documents with their scores, the best first.
            "hidden" is the list of records that `on_hidden` also gets.
        """
        top_k = check_count(top_k, "top_k", or_none=True)
        documents = list(documents)
        texts = [each.content or "" for each in documents]
        own, ids = [each.score for each in documents], [each.id for each in documents]
        shown, served, hidden = serve_documents(self, query, texts, own, "score", ids, top_k)
        found = [replace(documents[row], score=float(served[row])) for row in shown]
        return {"documents": found, "hidden": hidden}

    def to_dict(self) -> dict[str, Any]:
        """Return the component as a dict, with which Haystack saves it; needs a path as threshold.

        Returns
        -------
        dict
            Class and parameters.
        """
        if self._path is None:
            raise InputError(
                "threshold must be a path to save a pipeline: call threshold.save(path), and then "
                "use HaystackRanker(path)."
            )
        functions = {
            name: None if function is None else serialize_callable(function)
            for name, function in (("scorer", self.scorer), ("on_hidden", self.on_hidden))
        }
        return default_to_dict(self, threshold=self._path, **functions)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "HaystackRanker":
        """Make a component from the dict with which it was saved.

        Parameters
        ----------
        data : dict
            Result of :meth:`to_dict`.

        Returns
        -------
        HaystackRanker
            The component.
        """
        parameters = data["init_parameters"]
        for name in ("scorer", "on_hidden"):
            if parameters.get(name) is not None:
                parameters[name] = deserialize_callable(parameters[name])
        return default_from_dict(cls, data)

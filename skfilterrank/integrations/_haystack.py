"""A ranker component of Haystack that shows what a threshold shows."""

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from skfilterrank._lists.lazy_names import import_optional
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
    """Haystack component that ranks and hides by a threshold.

    It stands where a ranker does, between retriever and prompt builder, and has two outputs: the
    documents that are shown, and the record of those that are hidden.

    Parameters
    ----------
    threshold : fitted threshold, RankAndFilter, str or path
        A fitted threshold of :mod:`skfilterrank.thresholds`, the file that its `save` wrote, or a
        fitted :class:`~skfilterrank.ranking.RankAndFilter`. Pipelines that are saved need the file.
    scorer : callable, default=None
        As of :class:`LangChainCompressor`. None takes the score that each document carries.
    on_hidden : callable, default=None
        As of :class:`FilteredCrossEncoder`; "id" is the id of the document. The "score" of a
        RankAndFilter is its margin, which is below 0.

    Notes
    -----
    Nothing changes when a query is served, so that threads may share an object.

    Haystack loads components of its own alone unless others are allowed:
    ``Pipeline.loads(text, allowed_modules=["skfilterrank"])``.

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
    def run(self, query: str, documents: list[Document]) -> dict[str, Any]:
        """Rank the documents of a query, and hide some.

        Parameters
        ----------
        query : str
            The query.
        documents : list of Document
            All that were retrieved for it.

        Returns
        -------
        dict
            "documents", copies of the shown ones with their scores, best first, and "hidden", the
            list of dicts that `on_hidden` gets.
        """
        texts = [each.content or "" for each in documents]
        own, ids = [each.score for each in documents], [each.id for each in documents]
        shown, served, hidden = serve_documents(self, query, texts, own, "score", ids)
        found = [replace(documents[row], score=float(served[row])) for row in shown]
        return {"documents": found, "hidden": hidden}

    def to_dict(self) -> dict[str, Any]:
        """Return the component as Haystack saves it: by the file of its threshold.

        Returns
        -------
        dict
            Class and parameters.
        """
        if self._path is None:
            raise InputError(
                "a pipeline is saved with the path of a threshold: threshold.save(path), then "
                "HaystackRanker(path)."
            )
        functions = {
            name: None if function is None else serialize_callable(function)
            for name, function in (("scorer", self.scorer), ("on_hidden", self.on_hidden))
        }
        return default_to_dict(self, threshold=self._path, **functions)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "HaystackRanker":
        """Make the component that was saved.

        Parameters
        ----------
        data : dict
            As returned by :meth:`to_dict`.

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

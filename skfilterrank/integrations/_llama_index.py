"""A node postprocessor of LlamaIndex that hides nodes by a threshold."""

import os
from functools import partial
from typing import Annotated, Any

from skfilterrank._base.lazy_names import import_optional
from skfilterrank.exceptions import InputError
from skfilterrank.integrations._served import check_callable, check_threshold, serve_documents

import_optional("llama_index.core", "LlamaIndexPostprocessor", "llama-index-core")

from llama_index.core.postprocessor.types import BaseNodePostprocessor  # noqa: E402
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle  # noqa: E402
from pydantic import AfterValidator, ConfigDict, PrivateAttr, field_serializer  # noqa: E402


class LlamaIndexPostprocessor(BaseNodePostprocessor):
    """LlamaIndex node postprocessor that ranks nodes and hides some by a threshold.

    Pass it in the list `node_postprocessors` of a query engine.

    Parameters
    ----------
    threshold : fitted threshold, RankAndFilter, str or path
        A fitted threshold of :mod:`skfilterrank.thresholds`, the path of a saved one, or a fitted
        :class:`~skfilterrank.ranking.RankAndFilter`. For `to_json`, pass a path.
    scorer : callable, default=None
        Function that scores the nodes, as in :class:`LangChainCompressor`. It gets the text that
        embeddings and the rerankers of LlamaIndex get, with metadata (``MetadataMode.EMBED``). None
        uses the attribute `score` of each node.
    on_hidden : callable, default=None
        Function for records of what is hidden, as in :class:`LangChainCompressor`.

    Notes
    -----
    A query does not change the object, so threads may share it.

    If `threshold` is a path, `to_dict` and `to_json` have the path, and `from_dict` and `from_json`
    load the file again. Functions have no JSON form: pass them to `from_json` again.

    Examples
    --------
    >>> from llama_index.core.schema import NodeWithScore, TextNode
    >>> from skfilterrank.integrations import LlamaIndexPostprocessor
    >>> from skfilterrank.thresholds import FixedThreshold
    >>> found = [NodeWithScore(node=TextNode(text="no", id_="a"), score=0.1)]
    >>> found += [NodeWithScore(node=TextNode(text="yes", id_="b"), score=0.9)]
    >>> processor = LlamaIndexPostprocessor(threshold=FixedThreshold(0.5).fit())
    >>> [node.node_id for node in processor.postprocess_nodes(found, query_str="query")]
    ['b']
    """

    # A misspelled parameter is an error, and is not left out silently.
    model_config = ConfigDict(extra="forbid")

    threshold: Annotated[Any, AfterValidator(check_threshold)]
    scorer: Annotated[Any, AfterValidator(partial(check_callable, name="scorer"))] = None
    on_hidden: Annotated[Any, AfterValidator(partial(check_callable, name="on_hidden"))] = None
    _path: str | None = PrivateAttr(default=None)

    def __init__(self, **data: Any):
        super().__init__(**data)
        if isinstance(data["threshold"], (str, os.PathLike)):
            self._path = os.fspath(data["threshold"])

    @field_serializer("threshold")
    def _path_or_object(self, threshold: Any) -> Any:
        return threshold if self._path is None else self._path

    @classmethod
    def class_name(cls) -> str:
        """Return the name of the class, which LlamaIndex uses to save and load it."""
        return "LlamaIndexPostprocessor"

    def to_json(self, **kwargs: Any) -> str:
        """Return the component as JSON; needs a path as threshold, and no functions.

        Parameters
        ----------
        **kwargs
            Parameters of pydantic's `model_dump`.

        Returns
        -------
        str
            The text, which `from_json` reads.

        Raises
        ------
        InputError
            If `threshold` is an object, or `scorer` or `on_hidden` is given.
        """
        excluded = kwargs.get("exclude") or ()
        if self._path is None and "threshold" not in excluded:
            raise InputError(
                "threshold must be a path for to_json: call threshold.save(path), and then use "
                "LlamaIndexPostprocessor(threshold=path)."
            )
        for name in ("scorer", "on_hidden"):
            if getattr(self, name) is not None and name not in excluded:
                raise InputError(
                    f"{name} is a function, which JSON cannot hold: call "
                    f"to_json(exclude={{{name!r}}}), and pass {name} to from_json."
                )
        return super().to_json(**kwargs)

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        nodes = list(nodes)
        if not nodes:
            return []
        query = "" if query_bundle is None else query_bundle.query_str
        if query_bundle is None and self.scorer is not None:
            raise InputError(
                "query_str or query_bundle must be given for scorer, got neither of them: pass the "
                "query."
            )
        texts = [each.node.get_content(metadata_mode=MetadataMode.EMBED) for each in nodes]
        own = [each.score for each in nodes]
        ids = [each.node_id for each in nodes]
        shown, served, _ = serve_documents(self, query, texts, own, "score", ids)
        return [NodeWithScore(node=nodes[row].node, score=float(served[row])) for row in shown]

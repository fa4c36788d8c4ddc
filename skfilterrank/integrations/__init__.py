"""Components that filter retrieved documents by a threshold, for frameworks of RAG.

Each component takes a fitted threshold, returns only documents that the threshold shows, and
reports the hidden documents. The package of a framework is imported only when its class is used.
"""

from typing import TYPE_CHECKING

from skfilterrank._base.lazy_names import names_of

if TYPE_CHECKING:
    from skfilterrank.integrations._haystack import HaystackRanker
    from skfilterrank.integrations._langchain import LangChainCompressor
    from skfilterrank.integrations._llama_index import LlamaIndexPostprocessor

__all__ = [
    "HaystackRanker",
    "LangChainCompressor",
    "LlamaIndexPostprocessor",
]

if not TYPE_CHECKING:
    __getattr__ = names_of(
        __name__,
        {
            "_haystack": ("HaystackRanker",),
            "_langchain": ("LangChainCompressor",),
            "_llama_index": ("LlamaIndexPostprocessor",),
        },
    )

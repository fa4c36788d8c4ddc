"""A threshold as a document compressor of the real LangChain."""

from threading import Lock

import pytest

from served_passages import PASSAGES, QUERIES, expected
from skfilterrank import integrations
from skfilterrank.exceptions import InputError
from skfilterrank.thresholds import FixedThreshold

pytestmark = [pytest.mark.nightly, pytest.mark.filterwarnings("ignore")]
SCORES = [0.9, 0.8, 0.2, 0.7, 0.1]


class TestLangChain:
    @pytest.fixture(autouse=True)
    def _package(self):
        pytest.importorskip("langchain_core", reason="langchain-core is not installed")

    def documents(self):
        from langchain_core.documents import Document

        return [Document(text, id=str(row)) for row, text in enumerate(PASSAGES)]

    @pytest.mark.parametrize("query", QUERIES)
    def test_shows_what_the_threshold_shows(self, scorer, cut, query):
        kept = {}
        compressor = integrations.LangChainCompressor(
            threshold=cut, scorer=scorer, on_hidden=kept.__setitem__
        )
        rows, scores = expected(scorer, cut, query)
        documents = self.documents()
        found = compressor.compress_documents(documents, query)
        assert [each.id for each in found] == list(map(str, rows))
        assert [each.metadata["relevance_score"] for each in found] == scores[rows].tolist()
        # The caller's documents stay as they were.
        assert all(each.metadata == {} for each in documents)
        assert {each["id"] for each in kept[query]} == set("01234") - {each.id for each in found}
        assert compressor.compress_documents([], query) == []

    def test_scores_that_documents_carry(self, half):
        with pytest.raises(ValueError, match="scorer or score_key must be given, got neither"):
            integrations.LangChainCompressor(threshold=half)
        compressor = integrations.LangChainCompressor(threshold=half, score_key="of_mine")
        documents = self.documents()
        with pytest.raises(ValueError, match=r"must have a score in metadata.*, but 5 of 5 have"):
            compressor.compress_documents(documents, "q")
        for each, score in zip(documents, SCORES):
            # An earlier stage left its score, and what cannot be copied.
            each.metadata |= {"relevance_score": 1 - score, "of_mine": score, "lock": Lock()}
        found = compressor.compress_documents(documents, "q")
        assert [each.id for each in found] == ["0", "1"]
        assert found[0].metadata == {**documents[0].metadata, "of_mine": 0.9}
        assert found[0].metadata is not documents[0].metadata

    def test_a_scorer_that_is_async(self, half):
        async def scorer(query, texts):
            return SCORES

        compressor = integrations.LangChainCompressor(threshold=half, scorer=scorer)
        with pytest.raises(InputError, match="scorer must return scores, got a coroutine"):
            compressor.compress_documents(self.documents(), "q")

    def test_documents_may_come_one_by_one(self, half):
        compressor = integrations.LangChainCompressor(threshold=half, scorer=lambda *_: SCORES)
        found = compressor.compress_documents(iter(self.documents()), "q")
        assert [each.id for each in found] == ["0", "1"]

    def test_a_parameter_that_it_does_not_have(self, half):
        with pytest.raises(ValueError, match="top_n\n  Extra inputs are not permitted"):
            integrations.LangChainCompressor(threshold=half, top_n=3)

    def test_in_a_chain(self, scorer, cut):
        from langchain_core.runnables import RunnableLambda

        compressor = integrations.LangChainCompressor(threshold=cut, scorer=scorer)
        retriever = RunnableLambda(lambda query: self.documents())
        chain = {"documents": retriever, "query": lambda query: query} | RunnableLambda(
            lambda found: compressor.compress_documents(**found)
        )
        query = next(iter(QUERIES))
        rows, _ = expected(scorer, cut, query)
        assert [each.id for each in chain.invoke(query)] == list(map(str, rows))

    def test_what_is_no_threshold(self):
        with pytest.raises(ValueError, match="threshold must be a fitted threshold"):
            integrations.LangChainCompressor(threshold=0.5)
        with pytest.raises(ValueError, match="scorer must be a function or None"):
            integrations.LangChainCompressor(threshold=FixedThreshold(1).fit(), scorer="no")

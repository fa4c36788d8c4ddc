"""A threshold as a component of the real Haystack."""

import pytest

from served_passages import PASSAGES, QUERIES, expected, tfidf
from skfilterrank import integrations

pytestmark = [pytest.mark.nightly, pytest.mark.filterwarnings("ignore")]
SCORES = [0.9, 0.8, 0.2, 0.7, 0.1]


class TestHaystack:
    @pytest.fixture(autouse=True)
    def _package(self):
        pytest.importorskip("haystack", reason="haystack-ai is not installed")

    def documents(self, scores=(None,) * 5):
        from haystack import Document

        return [
            Document(id=str(row), content=text, score=score)
            for row, (text, score) in enumerate(zip(PASSAGES, scores))
        ]

    @pytest.mark.parametrize("query", QUERIES)
    def test_in_a_pipeline(self, scorer, cut, query):
        from haystack import Pipeline

        kept = {}
        pipeline = Pipeline()
        ranker = integrations.HaystackRanker(cut, scorer=scorer, on_hidden=kept.__setitem__)
        pipeline.add_component("ranker", ranker)
        documents = self.documents()
        answer = pipeline.run({"ranker": {"query": query, "documents": documents}})["ranker"]
        rows, scores = expected(scorer, cut, query)
        assert [each.id for each in answer["documents"]] == list(map(str, rows))
        assert [each.score for each in answer["documents"]] == scores[rows].tolist()
        assert all(each.score is None for each in documents)
        assert answer["hidden"] == kept[query]
        assert ranker.run(query=query, documents=[]) == {"documents": [], "hidden": []}

    def test_scores_that_documents_carry(self, half):
        ranker = integrations.HaystackRanker(half)
        answer = ranker.run(query="q", documents=self.documents(SCORES))
        assert [each.id for each in answer["documents"]] == ["0", "1"]
        assert [each["score"] for each in answer["hidden"]] == SCORES[2:]

    def test_top_k_of_a_request(self, half):
        ranker = integrations.HaystackRanker(half)
        answer = ranker.run(query="q", documents=self.documents(SCORES), top_k=1)
        assert [each.id for each in answer["documents"]] == ["0"]
        assert [each["id"] for each in answer["hidden"]] == ["1", "2", "3", "4"]
        assert answer["hidden"][0]["reason"] == "not among the first 1"
        with pytest.raises(ValueError, match="top_k must be"):
            ranker.run(query="q", documents=self.documents(SCORES), top_k=0)

    def test_documents_may_come_one_by_one(self, half):
        answer = integrations.HaystackRanker(half).run("q", iter(self.documents(SCORES)))
        assert [each.id for each in answer["documents"]] == ["0", "1"]
        assert [each["id"] for each in answer["hidden"]] == ["2", "3", "4"]

    def test_saved_by_the_file_of_its_threshold(self, tmp_path, half):
        path = tmp_path / "cut.json"
        half.save(path)
        data = integrations.HaystackRanker(path, scorer=tfidf).to_dict()
        assert data["init_parameters"]["threshold"] == str(path)
        from haystack.core.serialization import allow_deserialization_module

        allow_deserialization_module("served_passages.*")
        loaded = integrations.HaystackRanker.from_dict(data)
        assert loaded.scorer.__name__ == "tfidf"
        assert loaded.threshold.threshold_ == 0.75
        from haystack import Pipeline

        pipeline = Pipeline()
        pipeline.add_component("ranker", integrations.HaystackRanker(path))
        read = Pipeline.loads(pipeline.dumps(), allowed_modules=["skfilterrank"])
        assert read.get_component("ranker").threshold.threshold_ == 0.75
        with pytest.raises(ValueError, match="threshold must be a path"):
            integrations.HaystackRanker(half).to_dict()

"""A threshold as a node postprocessor of the real LlamaIndex."""

import pytest

from served_passages import PASSAGES, QUERIES, expected
from skfilterrank import integrations

pytestmark = [pytest.mark.nightly, pytest.mark.filterwarnings("ignore")]
SCORES = [0.9, 0.8, 0.2, 0.7, 0.1]


class TestLlamaIndex:
    @pytest.fixture(autouse=True)
    def _package(self):
        pytest.importorskip("llama_index.core", reason="llama-index-core is not installed")

    def nodes(self, scores=(None,) * 5):
        from llama_index.core.schema import NodeWithScore, TextNode

        return [
            NodeWithScore(node=TextNode(text=text, id_=str(row)), score=score)
            for row, (text, score) in enumerate(zip(PASSAGES, scores))
        ]

    @pytest.mark.parametrize("query", QUERIES)
    def test_shows_what_the_threshold_shows(self, scorer, cut, query):
        kept = {}
        post = integrations.LlamaIndexPostprocessor(
            threshold=cut, scorer=scorer, on_hidden=kept.__setitem__
        )
        rows, scores = expected(scorer, cut, query)
        found = post.postprocess_nodes(self.nodes(), query_str=query)
        assert [each.node_id for each in found] == list(map(str, rows))
        assert [each.score for each in found] == scores[rows].tolist()
        assert {each["id"] for each in kept[query]} == set("01234") - set(map(str, rows))
        assert post.postprocess_nodes([], query_str=query) == []

    def test_scores_that_nodes_carry(self, half):
        post = integrations.LlamaIndexPostprocessor(threshold=half)
        found = post.postprocess_nodes(self.nodes(SCORES))
        assert [each.node_id for each in found] == ["0", "1"]
        with pytest.raises(ValueError, match="must have a score in score, but 5 of 5 have"):
            post.postprocess_nodes(self.nodes())

    def test_the_scorer_gets_the_text_that_rerankers_get(self, half):
        nodes, seen = self.nodes(), []
        nodes[0].node.metadata = {"title": "Of the page", "row": 7}
        nodes[0].node.excluded_embed_metadata_keys = ["row"]
        post = integrations.LlamaIndexPostprocessor(
            threshold=half, scorer=lambda query, texts: seen.extend(texts) or SCORES
        )
        post.postprocess_nodes(nodes, query_str="q")
        assert seen == [f"title: Of the page\n\n{PASSAGES[0]}", *PASSAGES[1:]]

    def test_nodes_may_come_one_by_one(self, half):
        post = integrations.LlamaIndexPostprocessor(threshold=half)
        found = post.postprocess_nodes(iter(self.nodes(SCORES)), query_str="q")
        assert [each.node_id for each in found] == ["0", "1"]

    def test_a_parameter_that_it_does_not_have(self, half):
        with pytest.raises(ValueError, match="top_n\n  Extra inputs are not permitted"):
            integrations.LlamaIndexPostprocessor(threshold=half, top_n=3)
        post = integrations.LlamaIndexPostprocessor(threshold=half)
        assert type(post).from_dict(post.to_dict()).threshold is half

    def test_saved_by_the_file_of_its_threshold(self, tmp_path, half):
        kind, path = integrations.LlamaIndexPostprocessor, tmp_path / "cut.json"
        half.save(path)
        post = kind(threshold=path)
        assert post.to_dict()["threshold"] == str(path)
        for loaded in (kind.from_json(post.to_json()), kind.from_dict(post.to_dict())):
            found = loaded.postprocess_nodes(self.nodes(SCORES))
            assert [each.node_id for each in found] == ["0", "1"]
            assert loaded.to_json() == post.to_json()
        with pytest.raises(ValueError, match="threshold must be a path for to_json: call thresh"):
            kind(threshold=half).to_json()

    def test_functions_are_not_saved_silently(self, tmp_path, half, scorer):
        kind, path = integrations.LlamaIndexPostprocessor, tmp_path / "cut.json"
        half.save(path)
        post = kind(threshold=path, scorer=scorer)
        with pytest.raises(ValueError, match=r"scorer is a function.* to_json\(exclude={'scorer'}"):
            post.to_json()
        loaded = kind.from_json(post.to_json(exclude={"scorer"}), scorer=scorer)
        assert loaded.scorer is scorer
        with pytest.raises(ValueError, match="on_hidden is a function"):
            kind(threshold=path, on_hidden=print).to_json()

    def test_a_scorer_needs_the_query(self, half, scorer):
        post = integrations.LlamaIndexPostprocessor(threshold=half, scorer=scorer)
        with pytest.raises(ValueError, match="must be given for scorer, got neither"):
            post.postprocess_nodes(self.nodes())

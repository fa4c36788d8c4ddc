"""Components in the real frameworks: LangChain, LlamaIndex, Haystack, sentence-transformers."""

import subprocess
import sys

import pytest

from served_passages import PASSAGES, QUERIES, TfidfScorer, expected, fit, tfidf
from skfilterrank import integrations
from skfilterrank.exceptions import MissingPackageError
from skfilterrank.thresholds import FixedThreshold, PerQueryThreshold, TunedThreshold

pytestmark = [pytest.mark.nightly, pytest.mark.filterwarnings("ignore")]

KINDS = [TunedThreshold, PerQueryThreshold]
SCORES = [0.9, 0.8, 0.2, 0.7, 0.1]


@pytest.fixture(scope="module")
def scorer():
    return TfidfScorer()


@pytest.fixture(scope="module", params=KINDS)
def cut(request, scorer):
    return fit(request.param(), scorer)


@pytest.fixture(scope="module")
def half():
    return FixedThreshold(0.75).fit()


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
        compressor = integrations.LangChainCompressor(threshold=half)
        documents = self.documents()
        with pytest.raises(ValueError, match=r"5 of 5 documents have no score in metadata"):
            compressor.compress_documents(documents, "q")
        for each, score in zip(documents, SCORES):
            each.metadata["relevance_score"] = score
        assert [each.id for each in compressor.compress_documents(documents, "q")] == ["0", "1"]

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
        with pytest.raises(ValueError, match="5 of 5 documents have no score in score"):
            post.postprocess_nodes(self.nodes())

    def test_a_scorer_needs_the_query(self, half, scorer):
        post = integrations.LlamaIndexPostprocessor(threshold=half, scorer=scorer)
        with pytest.raises(ValueError, match="scorer needs the query"):
            post.postprocess_nodes(self.nodes())


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
        with pytest.raises(ValueError, match="saved with the path of a threshold"):
            integrations.HaystackRanker(half).to_dict()


class TestSentenceTransformers:
    def test_a_real_cross_encoder(self, tmp_path, half):
        pytest.importorskip("sentence_transformers", reason="sentence-transformers is missing")
        from sentence_transformers import CrossEncoder
        from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

        words = sorted({word for text in (*PASSAGES, *QUERIES) for word in text.split()})
        names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]
        (tmp_path / "vocab.txt").write_text("\n".join(names), encoding="utf-8")
        config = BertConfig(
            vocab_size=len(names),
            hidden_size=8,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=8,
            num_labels=1,
        )
        BertForSequenceClassification(config).save_pretrained(tmp_path)
        BertTokenizer(str(tmp_path / "vocab.txt")).save_pretrained(tmp_path)
        model = CrossEncoder(str(tmp_path))
        query = next(iter(QUERIES))
        scores = model.predict([(query, text) for text in PASSAGES])
        order = (-scores).argsort(kind="stable")
        cut = FixedThreshold(float(scores[order[1:3]].mean())).fit()
        for given in (model, str(tmp_path)):
            found = integrations.FilteredCrossEncoder(given, cut).rank(query, PASSAGES)
            assert [each["corpus_id"] for each in found] == order[:2].tolist()
            assert found == [
                {"corpus_id": each["corpus_id"], "score": pytest.approx(float(each["score"]))}
                for each in model.rank(query, PASSAGES, top_k=2)
            ]


NAMES = {
    "LangChainCompressor": ("langchain_core", "langchain-core"),
    "LlamaIndexPostprocessor": ("llama_index", "llama-index-core"),
    "HaystackRanker": ("haystack", "haystack-ai"),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_package_is_named_with_the_command_that_installs_it(name, monkeypatch):
    package, wanted = NAMES[name]
    for module in [*sys.modules]:
        if module.split(".")[0] == package or module.startswith("skfilterrank.integrations._"):
            monkeypatch.delitem(sys.modules, module)
    monkeypatch.delitem(vars(integrations), name, raising=False)

    class Absent:
        @staticmethod
        def find_spec(module, path=None, target=None):
            if module == package:
                raise ModuleNotFoundError(f"No module named {module!r}", name=module)

    monkeypatch.setattr(sys, "meta_path", [Absent, *sys.meta_path])
    with pytest.raises(MissingPackageError, match=f"{name} needs .*: pip install {wanted}"):
        getattr(integrations, name)


def test_the_room_imports_no_framework():
    code = (
        "import sys; from skfilterrank.integrations import FilteredCrossEncoder; "
        "print({'langchain_core', 'llama_index', 'haystack', 'sentence_transformers'}"
        " & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"

"""The recipes of the page on rerankers show what the threshold shows, in the real frameworks."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from skfilterrank.thresholds import FixedThreshold, PerQueryThreshold, TunedThreshold

PAGE = Path(__file__).parents[2] / "docs" / "reranker.md"
RECIPES = {
    re.search(r"^class (\w+)", text, re.MULTILINE)[1]: text
    for text in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    if ">>>" not in text
}
PASSAGES = [
    "red apples grow on trees",
    "a tree of green apples",
    "the price of oil rose",
    "apples and oil for salads",
    "grey clouds",
]
QUERIES = {"apples on trees": [2, 2, -1, 0, -1], "price of oil": [-1, -1, 2, 1, -1]}


class TfidfScorer:
    """What CrossEncoder has, with the cosine of tf-idf vectors in the place of a model."""

    def __init__(self):
        self.vectors = TfidfVectorizer().fit(PASSAGES)

    def predict(self, sentences):
        queries, texts = zip(*sentences)
        left, right = map(self.vectors.transform, (queries, texts))
        return np.asarray(left.multiply(right).sum(axis=1), dtype=np.float32).ravel()


@pytest.fixture(scope="module")
def model():
    return TfidfScorer()


@pytest.fixture(scope="module", params=[TunedThreshold, PerQueryThreshold])
def cut(request, model):
    scores = np.concatenate(
        [model.predict([(query, text) for text in PASSAGES]) for query in QUERIES]
    )
    groups = np.repeat(list(QUERIES), len(PASSAGES))
    labels = np.concatenate(list(QUERIES.values()))
    return request.param().fit(scores, labels, groups=groups)


def recipe(name, package=None):
    """The class of a recipe; skipped where its package is not installed."""
    if package is not None:
        pytest.importorskip(package, reason=f"{package} is not installed")
    space = {"__name__": "recipe"}
    exec(compile(RECIPES[name], PAGE.name, "exec"), space)
    return space[name]


def expected(model, cut, query):
    """Rows that are shown, the best first."""
    scores = model.predict([(query, text) for text in PASSAGES])
    shown = cut.predict(scores, groups=[query] * len(PASSAGES))
    order = np.argsort(-shown, kind="stable")
    return order[shown[order] > -np.inf].tolist(), scores


@pytest.mark.parametrize("name", RECIPES)
def test_recipes_are_short(name):
    assert len(RECIPES[name].strip().splitlines()) <= 20


def test_there_is_one_for_each_framework():
    assert list(RECIPES) == ["FilteredCrossEncoder", "FilteredReranker", "FilteredNodes"]


@pytest.mark.slow
@pytest.mark.parametrize("query", QUERIES)
def test_sentence_transformers(model, cut, query):
    ranker = recipe("FilteredCrossEncoder")(model, cut)
    rows, scores = expected(model, cut, query)
    assert 0 < len(rows) < len(PASSAGES)
    found = ranker.rank(query, PASSAGES)
    assert [each["corpus_id"] for each in found] == rows
    assert [each["score"] for each in found] == scores[rows].tolist()
    assert ranker.rank(query, PASSAGES, top_k=1) == found[:1]
    assert ranker.rank(query, []) == []


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("query", QUERIES)
def test_langchain(model, cut, query):
    reranker = recipe("FilteredReranker", "langchain_core")(model=model, threshold=cut)
    from langchain_core.documents import Document

    rows, scores = expected(model, cut, query)
    documents = [Document(text, metadata={"row": row}) for row, text in enumerate(PASSAGES)]
    found = reranker.compress_documents(documents, query)
    assert [each.metadata["row"] for each in found] == rows
    assert [each.page_content for each in found] == [PASSAGES[row] for row in rows]
    assert [each.metadata["score"] for each in found] == scores[rows].tolist()
    # The caller's documents stay as they were.
    assert documents[rows[0]].metadata == {"row": rows[0]}
    assert reranker.compress_documents([], query) == []


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore")
def test_langchain_in_a_chain(model, cut):
    reranker = recipe("FilteredReranker", "langchain_core")(model=model, threshold=cut)
    from langchain_core.documents import Document
    from langchain_core.runnables import RunnableLambda

    retriever = RunnableLambda(lambda query: [Document(text) for text in PASSAGES])
    chain = {"documents": retriever, "query": lambda query: query} | RunnableLambda(
        lambda found: reranker.compress_documents(**found)
    )
    (query, *_) = QUERIES
    rows, _ = expected(model, cut, query)
    assert [each.page_content for each in chain.invoke(query)] == [PASSAGES[row] for row in rows]


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("query", QUERIES)
def test_llama_index(model, cut, query):
    post = recipe("FilteredNodes", "llama_index.core")(model=model, threshold=cut)
    from llama_index.core.schema import NodeWithScore, TextNode

    rows, scores = expected(model, cut, query)
    nodes = [NodeWithScore(node=TextNode(text=text), score=0.0) for text in PASSAGES]
    found = post.postprocess_nodes(nodes, query_str=query)
    assert [each.node for each in found] == [nodes[row].node for row in rows]
    assert [each.score for each in found] == scores[rows].tolist()
    assert post.postprocess_nodes([], query_str=query) == []


def test_a_query_without_passages_has_an_empty_list(cut):
    assert cut.rank([], groups=[]).tolist() == []
    assert cut.predict(np.empty((0, 1)), groups=[]).tolist() == []


@pytest.mark.filterwarnings("ignore")
def test_nothing_good_shows_nothing(model):
    nothing = FixedThreshold(2.0).fit()
    assert recipe("FilteredCrossEncoder")(model, nothing).rank("grey clouds", PASSAGES) == []

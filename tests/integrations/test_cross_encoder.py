"""A CrossEncoder behind a threshold: a stand-in for the model, and a real one."""

import logging
from concurrent.futures import ThreadPoolExecutor

import pytest

from served_passages import PASSAGES, QUERIES, expected, fit
from skfilterrank.exceptions import MissingPackageError
from skfilterrank.integrations import FilteredCrossEncoder
from skfilterrank.thresholds import FixedThreshold, PerQueryThreshold, TunedThreshold


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("kind", [TunedThreshold, PerQueryThreshold])
def test_cross_encoder_shows_what_the_threshold_shows(scorer, kind, query):
    cut, kept = fit(kind(), scorer), {}
    ranker = FilteredCrossEncoder(scorer, cut, on_hidden=kept.__setitem__)
    rows, scores = expected(scorer, cut, query)
    assert 0 < len(rows) < len(PASSAGES)
    found = ranker.rank(query, PASSAGES)
    assert [each["corpus_id"] for each in found] == rows
    assert [each["score"] for each in found] == scores[rows].tolist()
    assert ranker.rank(query, PASSAGES, top_k=1) == found[:1]
    assert ranker.rank(query, []) == []
    hidden = kept[query]
    assert sorted([each["row"] for each in hidden] + rows) == list(range(len(PASSAGES)))
    assert [each["score"] for each in hidden] == scores[[each["row"] for each in hidden]].tolist()
    assert all(each["reason"] for each in hidden)


def test_passages_are_a_list_of_texts(scorer):
    ranker = FilteredCrossEncoder(scorer, FixedThreshold(-1.0).fit())
    found = ranker.rank("price of oil", PASSAGES)
    assert ranker.rank("price of oil", iter(PASSAGES)) == found
    texts = ranker.rank("price of oil", iter(PASSAGES), return_documents=True)
    assert texts == [{**each, "text": PASSAGES[each["corpus_id"]]} for each in found]
    with pytest.raises(ValueError, match="documents must be a list of texts, got one text 'oil'"):
        ranker.rank("price of oil", "oil")


def test_what_is_hidden_is_counted_in_the_log(scorer, caplog):
    nothing = FilteredCrossEncoder(scorer, FixedThreshold(2.0).fit())
    with caplog.at_level(logging.INFO, logger="skfilterrank.integrations"):
        assert nothing.rank("grey clouds", PASSAGES) == []
    assert caplog.messages == ["5 of 5 documents are hidden"]


@pytest.mark.slow
def test_threads_share_an_object(scorer):
    kept = {}
    cut = fit(PerQueryThreshold(max_shown=2), scorer)
    ranker = FilteredCrossEncoder(scorer, cut, on_hidden=kept.__setitem__)
    queries = [f"{word} {i}" for i in range(50) for word in ("apples", "oil", "clouds")]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda query: ranker.rank(query, PASSAGES), queries))
    assert found == [ranker.rank(query, PASSAGES) for query in queries]
    assert {len(each) for each in found} == {2}
    for query, shown in zip(queries, found):
        rows = [each["corpus_id"] for each in shown] + [each["row"] for each in kept[query]]
        assert sorted(rows) == list(range(len(PASSAGES)))


def test_a_threshold_from_its_file(tmp_path, scorer):
    path = tmp_path / "cut.json"
    fit(TunedThreshold(), scorer).save(path)
    for given in (path, str(path)):
        ranker = FilteredCrossEncoder(scorer, given)
        assert ranker.rank("price of oil", PASSAGES) == FilteredCrossEncoder(
            scorer, fit(TunedThreshold(), scorer)
        ).rank("price of oil", PASSAGES)


def test_what_is_no_model(scorer):
    with pytest.raises(
        ValueError,
        match="model must be a CrossEncoder, its name, or an object with a method predict",
    ):
        FilteredCrossEncoder(object(), FixedThreshold(0.5).fit())
    with pytest.raises(ValueError, match="on_hidden must be a function or None, got 3"):
        FilteredCrossEncoder(scorer, FixedThreshold(0.5).fit(), on_hidden=3)


def test_a_missing_package_is_named_with_the_command_that_installs_it(without):
    text = r"of a model's name needs \w+, which is not installed: pip install sentence-transformers"
    with without("sentence_transformers"), pytest.raises(MissingPackageError, match=text):
        FilteredCrossEncoder("a/model", FixedThreshold(0.5).fit())


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore")
def test_a_real_cross_encoder(tmp_path):
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
        initializer_range=1.0,
    )
    BertForSequenceClassification(config).save_pretrained(tmp_path)
    BertTokenizer(str(tmp_path / "vocab.txt")).save_pretrained(tmp_path)
    model = CrossEncoder(str(tmp_path))
    query = next(iter(QUERIES))
    scores = model.predict([(query, text) for text in PASSAGES])
    order = (-scores).argsort(kind="stable")
    cut = FixedThreshold(scores[order[1:3]].astype(float).mean()).fit()
    for given in (model, str(tmp_path)):
        found = FilteredCrossEncoder(given, cut).rank(query, PASSAGES)
        assert [each["corpus_id"] for each in found] == order[:2].tolist()
        assert found == [
            {"corpus_id": each["corpus_id"], "score": pytest.approx(float(each["score"]))}
            for each in model.rank(query, PASSAGES, top_k=2)
        ]

"""Every layout of docs/file_layouts.md is read, or refused with its reason."""

import io
import json
import re
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from skfilterrank.cli._inputs import read_topics
from skfilterrank.exceptions import DataWarning, SkfilterrankError
from skfilterrank.io import read_judged_table, read_letor, read_qrels, read_run

PAGE = Path(__file__).parents[2] / "docs/file_layouts.md"
WORDS = {"Good": 1, "Bad": -1, "no": 0, "E": 3, "I": 0}


def labels(table):
    return [*table[["qid", "docno", "label"]].itertuples(index=False, name=None)]


def scores(table):
    return [*table[["qid", "docno", "score"]].itertuples(index=False, name=None)]


def features(data):
    return data.y.tolist(), data.groups.tolist(), np.asarray(data.X).tolist(), data.docnos.tolist()


def of_table(table):
    return table["label"].tolist(), table.index.tolist()


def of_topics(table):
    return table.index.tolist(), table.iloc[:, 0].tolist()


def parquet(frame):
    pytest.importorskip("pyarrow")
    out = io.BytesIO()
    frame.to_parquet(out)
    return out.getvalue()


def excel(frame):
    pytest.importorskip("openpyxl")
    out = io.BytesIO()
    frame.to_excel(out, index=False)
    return out.getvalue()


FRAME = pd.DataFrame({"q_id": ["1", "1"], "doc_id": ["a", "b"], "score": [2, 0]})
TWO = [("1", "a", 2), ("1", "b", 0)]
ROWS = ([2.0, 0.0], [1, 1], [[0.5, 0.0], [0.0, 3.0]], ["", ""])
TEXTS = ["1", "2"], ["the cats", "dog"]
SURPRISE = "uid,iid,r_ui,est,details\n1,a,2,1.5,{}\n1,b,0,.5,{}\n"
SPARK = "user,item,rating,prediction\n1,a,2,1.5\n1,b,0,.5\n"
RUN = [("1", "a", 1.5), ("1", "b", 0.5)]
HEAD = '<?xml version="1.0"?>\n<!DOCTYPE t [<!ELEMENT t (x)>]>\n<!-- c -->\n'
XML = HEAD + "<webtrack2010>\n{}\n</webtrack2010>"
ADD = "put names of the columns into a first line"

# For each layout: how a file is read, its content, and the value or the reason.
QRELS = {
    "TREC, MS MARCO": ["1 0 a 2\n1 0 b 0\n", TWO],
    "iteration third": ["1 a 0 2\n1 b 0 0\n", TWO],
    "Million Query, web 2009": ["1 a 2 1 0.5\n1 b 0 1 1\n", TWO],
    "diversity tasks of the web tracks": [
        "1 1 a 2\n1 2 a 0\n1 1 b 0\n",
        "alpha-nDCG",
        {"subtopic": "max"},
    ],
    "trec_eval's qrels_jg": ["1 u1 a 2\n1 u2 a 0\n1 u1 b 0\n", "qrels_jg", {"duplicates": "max"}],
    "the same line twice": ["1 0 a 2\n1 0 b 0\n1 0 a 2\n", DataWarning, TWO],
    "labels of machines": ["1 predicted:x a 2\n1 0 b 0\n", DataWarning, TWO],
    "BEIR": ["query-id\tcorpus-id\tscore\n1\ta\t2\n1\tb\t0\n", TWO],
    "CSV of ir_datasets' columns": ["query_id,doc_id,relevance,iteration\n1,a,2,0\n1,b,0,0\n", TWO],
    "CSV of a spreadsheet": ["sep=;\nQID;DocNo;Grade\n1;a;2,0\n1;b;0,0\n;;\n", TWO],
    "Excel": [lambda: excel(FRAME), TWO],
    "Parquet": [lambda: parquet(FRAME), TWO],
    "ranx, pytrec_eval, JSON": ['{"1": {"a": 2, "b": 0}}', TWO],
    "doccano, JSON lines": [
        '{"qid": "1", "docno": "a", "label": ["Good"]}\n'
        '{"qid": "1", "docno": "b", "label": ["no"]}',
        [("1", "a", 1), ("1", "b", 0)],
        {"gains": WORDS},
    ],
    "words for labels": [
        "1 0 a Good\n1 0 b Bad\n",
        [("1", "a", 1), ("1", "b", -1)],
        {"gains": WORDS},
    ],
    "Amazon's ESCI": [
        "query,query_id,product_id,esci_label\nx,1,a,E\nx,1,b,I\n",
        [("1", "a", 3), ("1", "b", 0)],
        {"gains": WORDS, "columns": {"docno": "product_id", "label": "esci_label"}},
    ],
    "names of one's own": [
        "question,answer,verdict\n1,a,2\n1,b,0\n",
        "no column 'qid' or 'query_id', .* Name each by columns=",
        {"columns": {"qid": "question", "docno": "answer", "label": "verdict"}},
    ],
    "user of a search, and query": [
        "user_id,query,item_id,rating\n7,1,a,2\n8,1,b,0\n",
        "may each be 'qid': name one of them by columns=",
        {"columns": {"qid": "query", "docno": "item_id"}},
    ],
    "MovieLens, CSV": ["userId,movieId,rating,timestamp\n1,a,2.0,9\n1,b,0.0,9\n", TWO],
    "MovieLens 100k, u.data": ["1\t242\t2\t881250949\n2\t302\t2\t891717742\n", ADD],
    "MovieLens 1M, ratings.dat": ["1::1193::5::978300760\n", f"write tabs instead, and {ADD}"],
    "recommenders (Spark, Microsoft)": [SPARK, TWO],
    "Surprise": [SURPRISE, TWO],
    "RecBole": [
        "user_id:token\titem_id:token\trating:float\n1\ta\t2\n1\tb\t0\n",
        TWO,
        {"columns": {"qid": "user_id:token", "docno": "item_id:token", "label": "rating:float"}},
    ],
    "CSV without names": ["1,a,2\n1,b,0\n", ADD],
    "a run in the place of judgments": ["1 Q0 a 1 1.5 x\n", "to be a run .*: judgments come first"],
}
RUNS = {
    "TREC": ["1 Q0 a 1 1.5 x\n1 Q0 b 2 0.5 x\n", RUN],
    "MS MARCO": ["1\ta\t1\n1\tb\t2\n", [("1", "a", -1), ("1", "b", -2)]],
    "ColBERT": ["1\ta\t1\t1.5\n1\tb\t2\t.5\n", RUN],
    "a run without ranks": ["1 Q0 a 1.5\n1 Q0 b 0.5\n", RUN],
    "PyTerrier, CSV": ["qid,docid,docno,rank,score,query\n1,7,a,0,1.5,x\n1,8,b,1,0.5,x\n", RUN],
    "ranx, JSON": ['{"1": {"a": 1.5, "b": 0.5}}', RUN],
    "ranx, Parquet": [lambda: parquet(FRAME.assign(score=[1.5, 0.5])), RUN],
    "JSON lines": [
        '{"query_id": "1", "doc_id": "a", "score": 1.5}\n'
        '{"query_id": 1, "doc_id": "b", "score": 0.5}',
        RUN,
    ],
    "predictions of recommenders": [SPARK, RUN],
    "predictions of Surprise": [SURPRISE, RUN],
    "judgments in the place of a run, or in a folder of runs": [
        "1 0 a 2\n",
        "to be judgments .*: judgments come first, .*; a folder of runs must hold nothing else",
    ],
}
FEATURES = {
    "LETOR 3 and 4": [
        "2 qid:1 1:0.5 2:0 #docid = x inc = 1\n0 qid:1 1:0 2:3 #docid = y\n",
        (*ROWS[:3], ["x", "y"]),
    ],
    "MSLR-WEB30K, Yahoo, Istella": ["2 qid:1 1:0.5 2:0\n0 qid:1 2:3\n", ROWS],
    "RankLib, Elasticsearch": [
        "2 qid:1 1:0.5 2:0 # 7555 rambo\n0 qid:1 1:0 2:3 # 1370 rambo\n",
        (*ROWS[:3], ["7555", "1370"]),
    ],
    "TF-Ranking": ["2 qid:1 2:0 1:0.5\n0 qid:1 2:3\n", ROWS],
    "`dump_svmlight_file`": ["2 qid:1 0:0.5\n0 qid:1 1:3\n", ROWS],
    "LightGBM": ["2 1:0.5 2:0\n0 2:3\n", DataWarning, (ROWS[0], [0, 0], *ROWS[2:]), ".query"],
    "XGBoost": ["2 1:0.5 2:0\n0 2:3\n", DataWarning, (ROWS[0], [0, 0], *ROWS[2:]), ".group"],
    "svmlight without sizes of queries": [
        "2 1:0.5 2:0\n0 2:3\n",
        r"\.query at the end, or in Python give read_letor these numbers",
    ],
    "CatBoost's table": ["2\tq1\t0.5\t0\t3\t1\t0\n", ADD],
}
TABLES = {
    "CSV, TSV, JSON, JSON lines, Parquet, Excel": [
        "qid,Relevance,x\n1,2,.5\n1,0,3\n",
        ([2, 0], ["1", "1"]),
    ],
}
TOPICS = {
    "TREC": [
        "<top>\n<num> Number: 1\n<title> the cats\n</top>\n<top>\n<num> 2\n<title> dog\n",
        DataWarning,
        TEXTS,
    ],
    "web tracks 2009 to 2014": [
        XML.format(
            '<topic number="1" type="faceted"><query>the cats</query></topic>\n<!-- c -->\n'
            '<topic number="2" type="single"><query>dog</query></topic>'
        ),
        TEXTS,
    ],
    "web track 2009, queries alone": ["wt09-1:the cats\nwt09-2:dog\n", TEXTS],
    "Million Query": ["1:1:the cats\n2:4:dog\n", TEXTS],
    "clinical trials": [
        '<topics task="x"><topic number="1">the cats</topic><topic number="2">dog</topic></topics>',
        TEXTS,
    ],
    "CLEF": [
        "<topics><topic><identifier>1</identifier><title>the cats</title></topic>"
        "<topic><identifier>2</identifier><title>dog</title></topic></topics>",
        TEXTS,
    ],
    "NTCIR": [
        "<queries>\n<query><qid>1</qid><content>the cats</content></query>\n"
        "<query><qid>2</qid><content>dog</content></query>\n</queries>",
        TEXTS,
    ],
    "Epidemic QA": [
        json.dumps(
            [{"question_id": "1", "query": "the cats"}, {"question_id": "2", "query": "dog"}]
        ),
        TEXTS,
    ],
    "MS MARCO": ["1\tthe cats\n2\tdog\n", TEXTS],
    "BEIR": ['{"_id": "1", "text": "the cats"}\n{"_id": "2", "text": "dog"}', TEXTS],
}
OTHERS = {
    "a page of HTML, a pointer of Git LFS": ["<!DOCTYPE html>\n<p>404", "fetch it again"],
    "ZIP, tar": [b"PK\x03\x04\x00", "a ZIP archive: unpack it"],
    "an old Excel file (.xls), PDF, pickle, UTF-16": [
        b"\xd0\xcf\x11\xe0\x00",
        "save it as .xlsx or CSV",
    ],
}
PARTS = {
    "Judgments": {name: (read_qrels, labels, *rest) for name, rest in QRELS.items()},
    "Runs": {name: (read_run, scores, *rest) for name, rest in RUNS.items()},
    "Features": {
        name: (partial(read_letor, sparse=False), features, *rest)
        for name, rest in FEATURES.items()
    }
    | {name: (read_judged_table, of_table, *rest) for name, rest in TABLES.items()},
    "Topics": {name: (read_topics, of_topics, *rest) for name, rest in TOPICS.items()},
    "Anything else": {name: (read_run, scores, *rest) for name, rest in OTHERS.items()},
}


def rows_of_page():
    """Part, layout and answer of each row of the page."""
    for part in PAGE.read_text(encoding="utf-8").split("\n## ")[1:]:
        title = part.partition("\n")[0]
        if "\n| layout |" not in part:
            continue
        for row in re.findall(r"^\| (?!layout|---)(.*?) \| .*\| (.*) \|$", part, re.MULTILINE):
            yield title, *row


ALL = list(rows_of_page())


def test_the_page_names_each_example_once():
    named = [(part, layout) for part, layout, _ in ALL]
    assert len(named) == len(set(named)) >= 50
    assert set(named) == {(part, layout) for part in PARTS for layout in PARTS[part]}


@pytest.mark.filterwarnings("ignore:.* holds labels below 0")
@pytest.mark.parametrize(("part", "layout", "answer"), ALL)
def test_layouts(part, layout, answer, tmp_path):
    read, shown, content, *rest = PARTS[part][layout]
    content = content() if callable(content) else content
    path = tmp_path / ("t.csv" if read is read_judged_table else "file")
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    params = rest.pop() if isinstance(rest[-1], dict) else {}
    if isinstance(rest[-1], str) and rest[-1] in (".query", ".group"):
        (tmp_path / f"file{rest.pop()}").write_text("2\n")
    assert answer.startswith("refused") == isinstance(rest[0], str) or "refused" in answer
    if isinstance(rest[0], str):
        with pytest.raises(SkfilterrankError, match=rest[0]) as error:
            read(path)
        assert re.match(rf"{path}|the columns", str(error.value))
        if params:  # what settles it
            assert shown(read(path, **params)) == TWO
    elif rest[0] is DataWarning:
        with pytest.warns(DataWarning):
            assert shown(read(path, **params)) == rest[1]
    else:
        assert shown(read(path, **params)) == rest[0]

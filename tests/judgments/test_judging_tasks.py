"""Tasks for labelling tools, and answers to a pool that cannot be asked about."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest

from skfilterrank.exceptions import InputError, InputTypeError
from skfilterrank.judgments import write_judging_tasks

GOLDEN = Path(__file__).parent / "exchanged"
POOL = pd.DataFrame({"qid": ["1", "1", "2"], "docno": ["d1", "d/2", "d1"]})
TEXTS = pd.DataFrame(
    {"title": ["Wings", 'A "soup" & <beans>'], "text": ["They flutter.", None]},
    index=["d1", "d/2"],
)
QUERIES = {"1": "wing flutter", "2": "Flügel"}
GRADES = {0: "no", 2: "highly", -1: 'spam & "ads"'}
WRITTEN = {
    "label-studio": ["label-studio.json", "label-studio.xml"],
    "doccano": ["doccano.jsonl"],
    "argilla": ["argilla.json"],
    "quepid": ["quepid.json"],
}


@pytest.mark.parametrize("tool", WRITTEN)
def test_tasks_are_those_of_the_golden_files(tool, tmp_path):
    # An index may have been read as numbers; ids are texts all the same.
    pool = POOL.astype({"qid": int}).set_index(["qid", "docno"]).index
    options = {"queries": pd.Series(QUERIES), "grades": GRADES, "tool": tool, "title": "Wings"}
    write_judging_tasks(tmp_path / WRITTEN[tool][0], pool, TEXTS, **options)
    assert sorted(each.name for each in tmp_path.iterdir()) == WRITTEN[tool]
    for name in WRITTEN[tool]:
        assert (tmp_path / name).read_bytes() == (GOLDEN / name).read_bytes()


def test_the_configuration_is_xml_whatever_the_names_of_grades(tmp_path):
    grades = {0: "<\"'&>\x00", 1: "b"}
    write_judging_tasks(tmp_path / "t.json", POOL, TEXTS, grades=grades, tool="label-studio")
    choices = ElementTree.parse(tmp_path / "t.xml").iter("Choice")
    assert [each.get("value") for each in choices] == ["0 <\"'&>", "1 b"]


def test_without_texts_queries_are_their_ids(tmp_path):
    write_judging_tasks(tmp_path / "t.json", POOL, TEXTS, tool="argilla")
    records = json.loads((tmp_path / "t.json").read_text())
    assert [record["fields"]["query"] for record in records] == ["1", "1", "2"]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"pool": [("1", "d1")]}, "pool must be a DataFrame or MultiIndex with 'qid'"),
        ({"pool": POOL.iloc[:0]}, "pool is empty"),
        ({"pool": pd.concat([POOL, POOL])}, "pool holds document 'd1' twice in query '1'"),
        ({"pool": POOL.assign(docno=["a", "b", ""])}, "the id '', which has characters"),
        ({"texts": {"d1": "text", "d/2": " "}}, "the pool holds 1 document without text: 'd/2'"),
        ({"texts": pd.Series(["a", "b"], index=["d1", "d1"])}, "holds the id 'd1' twice"),
        ({"grades": []}, "grades must be different finite numbers"),
        ({"grades": [1, 1]}, "grades must be different finite numbers"),
        ({"tool": "excel"}, "tool must be one of 'page', 'label-studio'"),
        ({"tool": "doccano", "assessor_name": "anna"}, "assessor_name is for tool='page' only"),
        ({"tool": "argilla", "machine_labels": POOL}, "machine_labels is for tool='page' only"),
        (
            {"machine_labels": POOL},
            "machine_labels must be .* with 'qid', 'docno', 'label', got",
        ),
        ({"tool": "quepid", "grades": [0, 0.5]}, "grades must be whole numbers for Quepid"),
        (
            {"tool": "quepid", "queries": {"1": "a", "2": "a"}},
            "queries '1' and '2' have the same text",
        ),
        ({"tool": "label-studio", "path": "t.xml"}, "path ends in .xml"),
    ],
)
def test_errors(changed, message, tmp_path):
    arguments = {"path": "tasks.json", "pool": POOL, "texts": TEXTS} | changed
    arguments["path"] = tmp_path / arguments["path"]
    with pytest.raises(InputError, match=message):
        write_judging_tasks(**arguments)
    assert list(tmp_path.iterdir()) == []


def test_half_of_a_character_is_no_id(tmp_path):
    pool = pd.MultiIndex.from_arrays([["1"], pd.Index(["\ud800"], dtype=object)])
    pool.names = ["qid", "docno"]
    with pytest.raises(InputError, match="which has characters that a file cannot hold"):
        write_judging_tasks(tmp_path / "t", pool, TEXTS)


def test_texts_of_another_type(tmp_path):
    with pytest.raises(InputTypeError, match="texts must be a dict, Series or DataFrame"):
        write_judging_tasks(tmp_path / "t", POOL, ["text"])

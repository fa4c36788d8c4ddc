"""Tables in JSON."""

from functools import partial

import pytest

from skfilterrank._files.forms import read_form
from skfilterrank._files.kinds import form_of
from skfilterrank.exceptions import FileFormatError


@pytest.mark.parametrize(
    ("content", "records"),
    [
        (b'{"1": {"a": 2}, "2": {"a": 1}}', [("1", "a", 2), ("2", "a", 1)]),
        (b'[{"qid": 1, "docno": "a", "label": 2}]', [(1, "a", 2)]),
        (b'{"qid": 1, "docno": "a", "label": 2}', [(1, "a", 2)]),
        (b'\n{"qid": 1, "docno": "a", "label": 2}\n\n', [(1, "a", 2)]),
    ],
)
def test_json(content, records):
    table, _ = read_form(form_of(content), content, "t", [])
    assert list(table[["qid", "docno", "label"]].itertuples(index=False, name=None)) == records


def test_json_of_another_shape():
    read = partial(read_form, "json")
    # One object is one row of a table.
    assert read(b'{"a": 2}', "t", [])[0].to_dict("list") == {"a": [2]}
    for content in (b"[]", b"[1]"):
        with pytest.raises(
            FileFormatError, match=r"object \{query: \{document: number\}\}, or a l"
        ):
            read(content, "t", [])
    with pytest.raises(FileFormatError, match=r"t:2: it is not JSON \(.*delimiter"):
        read_form("json", b'{"1": {"a": 2},\n "2" {}}', "t", [])
    with pytest.raises(FileFormatError, match="the name '1' occurs twice in one object"):
        read_form("json", b'{"1": {"a": 1},\n "1": {"b": 2}}', "t", [])

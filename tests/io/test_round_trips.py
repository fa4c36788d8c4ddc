"""What tables and samples hold that others have written, for any ids, labels and texts."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skfilterrank.io import read_judged_table

pytestmark = pytest.mark.slow

# Whatever UTF-8 can carry; csv's writer and reader keep line ends within quotes as they are.
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=6)
IDS = TEXTS.filter(str.strip)
NUMBERS = st.floats(allow_infinity=False)


@st.composite
def judged_tables(draw, texts=TEXTS, ids=IDS):
    """Ids, labels (NaN where unjudged), texts and numbers of at least one document."""
    pairs = draw(st.lists(st.tuples(ids, ids), min_size=1, max_size=6, unique=True))
    n = len(pairs)
    columns = {
        "label": st.one_of(st.just(np.nan), NUMBERS, st.integers(-5, 5).map(float)),
        "text": texts,
        "number": NUMBERS,
    }
    table = {name: draw(st.lists(each, min_size=n, max_size=n)) for name, each in columns.items()}
    qids, docnos = zip(*pairs)
    return pd.DataFrame({"qid": qids, "docno": docnos} | table)


def check(table, file, format):
    """What is read is what was written."""
    file.name = f"t.{format}"
    read = read_judged_table(file, columns={"docno": "docno"})
    assert read.index.to_list() == list(zip(table["qid"], table["docno"]))
    np.testing.assert_array_equal(read["label"].to_numpy(float), table["label"])
    np.testing.assert_array_equal(read["number"].to_numpy(float), table["number"])
    assert read["text"].fillna("").astype(str).to_list() == table["text"].to_list()


# An empty text is missing, and pandas puts no carriage return between quotes before Python 3.13.
WORDS = st.text("ab,;\t\"'#é\n ", max_size=4).map(lambda text: f"x{text}y")


@pytest.mark.parametrize(("format", "separator"), [("csv", ","), ("tsv", "\t")])
@given(table=judged_tables(texts=WORDS, ids=WORDS))
def test_separated_by_pandas(table, format, separator):
    file = io.BytesIO()
    table.to_csv(file, sep=separator, index=False)
    file.seek(0)
    check(table, file, format)


@given(table=judged_tables(), ascii_only=st.booleans())
def test_json_lines(table, ascii_only):
    records = table.astype(object).where(table.notna(), None).to_dict("records")
    lines = [json.dumps(record, ensure_ascii=ascii_only) for record in records]
    check(table, io.BytesIO("\n".join(lines).encode()), "jsonl")


@given(table=judged_tables())
def test_parquet(table):
    file = io.BytesIO()
    table.to_parquet(file)
    file.seek(0)
    check(table, file, "parquet")

"""Lines of TREC files: columns, white space, comments and blocks of bytes."""

import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import CHARACTERS, times
from skfilterrank._files.tokens import Tokens
from skfilterrank.exceptions import FileFormatError
from skfilterrank.io import _columns as trec_lines
from skfilterrank.io import read_qrels, read_run
from skfilterrank.io._columns import parse_decimals

RUN = "1 Q0 a 1 2.5 x\n1 Q0 b 2 -1 x\n2 Q0 a 1 7 y\n"

QRELS = "1 0 a 1\n1 0 b -2\n2 0 a 0\n"


def run_of(text):
    return read_run(io.StringIO(text))


def qrels_of(text, **params):
    return read_qrels(io.StringIO(text), **params)


@pytest.mark.slow
@pytest.mark.parametrize("byte", [*range(1, 9), *range(14, 32), 127])
def test_control_bytes_are_part_of_an_id_as_in_trec_eval(byte):
    docno = f"a{chr(byte)}b"
    for read, line in ((read_run, "1 Q0 {} 2 9.5 x\n"), (read_qrels, "1 0 {} 1\n")):
        assert read(io.StringIO(line.format(docno)))["docno"].tolist() == [docno]


@pytest.mark.parametrize("blank", [" ", "\t", "\v", "\f", "  \t "])
def test_white_space_between_columns_or_within_an_id(blank):
    pd.testing.assert_frame_equal(run_of(RUN.replace(" ", blank)), run_of(RUN))
    pd.testing.assert_frame_equal(qrels_of(QRELS.replace(" ", blank)), qrels_of(QRELS))
    # Half of the id would stand in the place of the rank, and the rank in that of the score.
    for docno in (f"a{blank}b", f"a{blank}1", f"1{blank}2{blank}3"):
        for line in ("1 Q0 {} 2 9.5 x\n", "1 Q0 {} 2 9.5\n", "1 Q0 {} 9.5 x\n"):
            line = line.format(docno)
            if len(line.split()) == 6 and line.split()[3].isdigit():
                continue  # cannot be known from a run whose docnos are numbers
            with pytest.raises(FileFormatError, match=r":4: .*(white space|columns? where|rank)"):
                run_of(RUN + line)
        with pytest.raises(FileFormatError, match=r":4: .*columns where"):
            qrels_of(f"{QRELS}1 0 {docno} 1\n")


def test_comments_as_trec_eval_reads_them():
    text = "# a run of six words\n1 Q0 a 1 2.5 x\n  # more\n1 Q0 b 2 -1 x\n\n2 Q0 a 1 7 y\n"
    pd.testing.assert_frame_equal(run_of(text), run_of(RUN))
    # A line of as many words as two others have columns, and one of them a comment.
    pd.testing.assert_frame_equal(run_of(f"#1 Q0 a 1 2 x\n{RUN}"), run_of(RUN))
    pd.testing.assert_frame_equal(qrels_of(f"# from 1 0\n#\n{QRELS}#"), qrels_of(QRELS))
    with pytest.raises(FileFormatError, match=":4: 5 columns where a qrels has 4"):
        qrels_of(f"#\n{QRELS}".replace("-2", "-2 more").replace("1 0 a", "\n1 0 a", 1))
    with pytest.raises(FileFormatError, match="the file holds no lines"):
        qrels_of("# nothing\n")


@pytest.mark.parametrize(
    "content", [b"1 Q0 a 1 2 x\r1 Q0 b 2 1 x\r", b"1 Q0 a 1 2 x\r1 Q0 b 2 1 x\n"]
)
def test_no_line_hides_behind_a_carriage_return(content):
    for before, line in ((b"", 1), (b"1 Q0 c 1 3 x\r\n", 2)):
        with pytest.raises(FileFormatError, match=f"<stream>:{line}: .* carriage return"):
            read_run(io.BytesIO(before + content))
    # Files that were converted for Windows twice.
    found = read_run(io.BytesIO(b"1 Q0 a 1 2 x\r\r\n1 Q0 b 2 1 x\r\r\n1 Q0 c 3 0 x\r"))
    assert found["docno"].tolist() == ["a", "b", "c"]
    assert found["run"].tolist() == ["x"] * 3


@pytest.mark.slow
def test_blocks(monkeypatch):
    """Small blocks, so that lines and line ends fall on their borders."""
    text = "".join(f"{i // 7} Q0 doc{i} {200 - i} {i / 3} run\n" for i in range(200))
    whole = run_of(text)
    assert whole["docno"].tolist() == [f"doc{i}" for i in range(200)]
    assert whole["score"].tolist() == [i / 3 for i in range(200)]
    for size in (1, 7, 64, 1000):
        monkeypatch.setattr(trec_lines, "_BLOCK_BYTES", size)
        pd.testing.assert_frame_equal(run_of(text), whole)
        pd.testing.assert_frame_equal(run_of(text.replace("\n", " \r\n\n")), whole)
        with pytest.raises(FileFormatError, match="<stream>:201: 3 columns"):
            run_of(text + "a b c\n")
        with pytest.raises(FileFormatError, match=r"<stream>:201: .*first in line 1"):
            run_of(text + "0 Q0 doc0 1 1 run\n")


def test_long_and_odd_ids():
    docnos = ["a" * n for n in (1, 7, 8, 9, 16, 17, 5000)] + ["b" * 8 + "c", "b" * 9]
    text = "".join(f"q{'x' * 30} Q0 {docno} 1 {i} {docno}\n" for i, docno in enumerate(docnos))
    run = run_of(text)
    assert run["docno"].tolist() == docnos
    assert run["run"].tolist() == docnos
    assert set(run["qid"]) == {"q" + "x" * 30}


NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(10**18), 10**18).map(str),
    st.decimals(-1000, 1000, places=7, allow_nan=False).map(str),
    st.from_regex(r"[-+]?[0-9]{0,9}\.?[0-9]{0,9}", fullmatch=True, alphabet=CHARACTERS),
    st.text("0123456789.-+eE_xnaif", max_size=20),
)


@times(0.4)
@given(st.lists(NUMBERS, min_size=1, max_size=30))
def test_numbers_are_those_of_python(texts):
    assert_numbers_of_python(texts)


@pytest.mark.slow
def test_many_numbers_are_those_of_python():
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 2**64, 5000, dtype=np.uint64).view(np.float64)
    texts = [repr(number) for number in numbers[np.isfinite(numbers)].tolist()]
    texts += [f"{number:.{digits}g}" for digits in range(1, 20) for number in rng.normal(size=100)]
    for letters in ("0123456789.-", "0019.e-+", "0123456789.-+eE_xnaif"):
        lengths = rng.integers(1, 20, 5000)
        texts += ["".join(rng.choice(list(letters), length)) for length in lengths]
    assert_numbers_of_python(texts)


def assert_numbers_of_python(texts):
    values, is_number = parse_decimals(Tokens.from_texts(texts))
    for text, value, ok in zip(texts, values, is_number, strict=True):
        try:
            expected = None if "_" in text else float(text)
        except ValueError:
            expected = None
        assert ok == (expected is not None), text
        if ok:
            # Signs of zero included.
            assert np.array(value).tobytes() == np.array(expected).tobytes() or value != value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12.0),
        ("86753192", 86753192.0),
        ("-0.5", -0.5),
        ("+3.", 3.0),
        (".25", 0.25),
        ("12345678.5", 12345678.5),
        ("123456789012345", 123456789012345.0),
        ("0.1234567890123456", 0.1234567890123456),
        ("-0", -0.0),
        ("1e400", np.inf),
        ("-Infinity", -np.inf),
    ],
)
def test_values_by_hand(text, value):
    # Alone, and where its bytes are followed by another's.
    for texts in ([text], [text, "7"], ["99999999", text]):
        values, is_number = parse_decimals(Tokens.from_texts(texts))
        assert is_number.all()
        assert values[texts.index(text)].tobytes() == np.float64(value).tobytes()


@pytest.mark.parametrize(
    "text", ["", ".", "-", "1.2.3", "1_0", "٣", "0x1", "1e", "1 2", "--1", "+-1"]
)
def test_what_is_no_number(text):
    values, is_number = parse_decimals(Tokens.from_texts(["1", text, "2"]))
    assert is_number.tolist() == [True, False, True]
    assert values[[0, 2]].tolist() == [1.0, 2.0]


def test_nothing_at_all():
    values, is_number = parse_decimals(Tokens.from_texts([]))
    assert (values.shape, values.dtype, is_number.dtype) == ((0,), np.float64, bool)

"""Every function with a parameter `runs` or `qrels` takes them alike."""

import bz2
import functools
import gzip
import io
import json
import lzma
from collections import namedtuple
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from skfilterrank.cli import main
from skfilterrank.comparison import score_systems
from skfilterrank.exceptions import SkfilterrankError
from skfilterrank.io import (
    QrelsIndex,
    align,
    read_qrels,
    read_run,
    read_runs,
    write_qrels,
    write_run,
)
from skfilterrank.judgments import (
    MaxRepSelector,
    PoolingSelector,
    draw_sample,
    pseudo_qrels,
    rank_systems,
    rank_table,
)
from skfilterrank.metaevaluation import judging_curve, label_degradation
from skfilterrank.metrics import evaluate_runs, values_of_run
from skfilterrank.ranking import fuse_runs
from thinned import is_nightly, thinned

QRELS = pd.DataFrame({"qid": ["1", "1", "2"], "docno": ["a", "b", "a"], "label": [1, 0, 1]})
RUNS = {
    "one": pd.DataFrame({"qid": ["1", "1", "2"], "docno": ["a", "b", "a"], "score": [2.0, 1, 3]}),
    "two": pd.DataFrame({"qid": ["1", "1", "2"], "docno": ["b", "a", "c"], "score": [2.0, 1, 3]}),
}
ON_JUDGMENTS = {
    "evaluate_runs": lambda *args: evaluate_runs(*args).per_query,
    "two processes": lambda *args: evaluate_runs(*args, n_jobs=2).per_query,
    "score_systems": lambda *args: score_systems(*args)["ap"].to_frame(),
    "label_degradation": lambda *args: label_degradation(
        *args, shares=[0.5], n_samples=1, random_state=0
    ).to_frame(),
    "judging_curve": lambda *args: judging_curve(
        *args, selections=["pooling"], shares=[0.5], n_samples=1, random_state=0
    ).to_frame(),
}
ALONE = {
    "read_runs": lambda runs: pd.concat(read_runs(runs)),
    "rank_table": rank_table,
    "pseudo_qrels": pseudo_qrels,
    "rank_systems": rank_systems,
    "fuse_runs": fuse_runs,
}
FUNCTIONS = ALONE | {
    name: lambda runs, of=of: of(QRELS, runs, "ap") for name, of in ON_JUDGMENTS.items()
}


@pytest.fixture(params=FUNCTIONS)
def function(request):
    return FUNCTIONS[request.param]


@pytest.fixture
def paths(tmp_path):
    for name, run in RUNS.items():
        write_run(tmp_path / f"{name}.txt.gz", run)
    return [tmp_path / f"{name}.txt.gz" for name in RUNS]


@pytest.mark.slow
def test_kinds_of_runs(function, paths):
    expected = function(RUNS)
    renamed = {"qid": "query_id", "docno": "doc_id"}
    kinds = (
        paths,
        dict(zip(RUNS, paths)),
        {name: read_run(path) for name, path in zip(RUNS, paths)},
        tuple(map(str, paths)),
        {
            "one": RUNS["one"].set_index(["qid", "docno"]),
            "two": RUNS["two"].rename(columns=renamed),
        },
    )
    # Lists, dicts and frames in turn.
    for runs in thinned(kinds, turn=list(FUNCTIONS.values()).index(function)):
        pd.testing.assert_frame_equal(function(runs), expected)
    with open(paths[1], "rb") as handle:
        pd.testing.assert_frame_equal(function({"one": paths[0], "two": handle}), expected)


# Forms in which runs and judgments come: each makes one of a frame and of the name of its values.
def by_topic(frame, value):
    return {
        qid: dict(zip(rows["docno"], rows[value].tolist())) for qid, rows in frame.groupby("qid")
    }


def named_tuples(frame, value):
    names = ["query_id", "doc_id", "relevance" if value == "label" else value]
    kind = namedtuple("Row", [*names, "iteration"])
    return [kind(*row, "0") for row in frame[["qid", "docno", value]].itertuples(index=False)]


def of_ranx(frame, value):
    ranx = pytest.importorskip("ranx")
    return (ranx.Qrels if value == "label" else ranx.Run)(by_topic(frame, value))


def of_ir_measures(frame, value):
    ir_measures = pytest.importorskip("ir_measures")
    kind = ir_measures.Qrel if value == "label" else ir_measures.ScoredDoc
    return (kind(*row) for row in frame[["qid", "docno", value]].itertuples(index=False))


def of_ir_datasets(frame, value):
    """As a dataset of ir_datasets, which downloads what it has."""
    rows = named_tuples(frame, value)
    return SimpleNamespace(qrels_iter=lambda: iter(rows), scoreddocs_iter=lambda: iter(rows))


def of_pyterrier(frame, value):
    return frame.assign(docid=range(len(frame)), query="some words", rank=7)


def of_arrow(frame, value):
    return pytest.importorskip("pyarrow").Table.from_pandas(frame)


def of_polars(frame, value):
    return pytest.importorskip("polars").DataFrame(frame.to_dict("list"))


OBJECTS = {
    "dict": by_topic,
    "ranx": of_ranx,
    "ranx frame": lambda frame, value: of_ranx(frame, value).to_dataframe(),
    "ir_measures": of_ir_measures,
    "list of named tuples": named_tuples,
    "list of dicts": lambda frame, value: frame.to_dict("records"),
    "ir_datasets": of_ir_datasets,
    "pyterrier": of_pyterrier,
    "arrow": of_arrow,
    "arrow batches": lambda frame, value: of_arrow(frame, value).to_reader(max_chunksize=1),
    "polars": of_polars,
    "lazy polars": lambda frame, value: of_polars(frame, value).lazy(),
}


def trec(frame, value):
    out = io.StringIO()
    (write_qrels if value == "label" else write_run)(out, frame)
    return out.getvalue().encode()


def with_comments(frame, value):
    lines = trec(frame, value).decode().splitlines()
    return ("# of mine\n" + "\n# c\n\n".join(lines)).encode()


def separated(frame, value, *, names=None, sep="\t"):
    return frame.rename(columns=names or {}).to_csv(index=False, sep=sep).encode()


def beir(frame, value):
    if value == "score":
        pytest.skip("BEIR has no files of runs")
    return separated(frame, value, names={"qid": "query-id", "docno": "corpus-id", value: "score"})


def ms_marco(frame, value):
    if value == "label":
        return separated(frame.assign(q0=0)[["qid", "q0", "docno", value]], value).split(b"\n", 1)[
            1
        ]
    ranks = [{2.0: 1, 1.0: 2, 3.0: 1}[score] for score in frame["score"]]
    return separated(frame.assign(score=ranks), value).split(b"\n", 1)[1]


def binary(way, frame, value):
    pytest.importorskip("pyarrow")
    out = io.BytesIO()
    getattr(frame, way)(out)
    return out.getvalue()


def zstd(frame, value):
    return pytest.importorskip("zstandard").compress(trec(frame, value))


FILES = {
    "trec": trec,
    "comments": with_comments,
    "byte order mark": lambda *of: b"\xef\xbb\xbf" + trec(*of),
    "gzip": lambda *of: gzip.compress(trec(*of)),
    "bzip2": lambda *of: bz2.compress(trec(*of)),
    "xz": lambda *of: lzma.compress(trec(*of)),
    "zstd": zstd,
    "ms marco": ms_marco,
    "beir": beir,
    "csv": partial(separated, sep=","),
    "tsv of ir_measures": partial(separated, names={"qid": "query_id", "docno": "doc_id"}),
    "header between spaces": partial(separated, sep=" "),
    "zipped csv below a comment": lambda *of: gzip.compress(b"# x\n" + separated(*of, sep=",")),
    "json": lambda *of: json.dumps(by_topic(*of)).encode(),
    "indented json": lambda *of: json.dumps(by_topic(*of), indent=1).encode(),
    "json list": lambda frame, _: json.dumps(frame.to_dict("records")).encode(),
    "json lines": lambda frame, _: frame.to_json(orient="records", lines=True).encode(),
    "parquet": partial(binary, "to_parquet"),
}

FORMS = [*OBJECTS, *FILES]
# A door can get them wrong by itself: what is read once, and a file that is not what it seems. Each
# is tried at every such door: at all of them, and at half.
EVERYWHERE = {"ir_measures": 1, "ms marco": 2}


def doors_for(form, doors):
    """Doors where a form is tried, by name: all readers are one, so that of most one will do.

    Each form is tried at a door, and each door with a form or two besides those of all doors.
    """
    place = FORMS.index(form) % len(doors)
    return {
        name: door
        for number, (name, door) in enumerate(doors.items())
        if number % EVERYWHERE.get(form, len(doors)) == place % EVERYWHERE.get(form, len(doors))
        or is_nightly()
    }


@pytest.fixture(
    params=[
        pytest.param(form, marks=pytest.mark.nightly) if "ranx" in form else form for form in FORMS
    ]
)
def form_name(request):
    return request.param


@pytest.fixture
def form(form_name, tmp_path):
    """What makes a source of the form of a frame, new each time: an iterator is read once."""
    if form_name in OBJECTS:
        return OBJECTS[form_name]

    def write(frame, value):
        path = tmp_path / f"{value}{len(list(tmp_path.iterdir()))}"
        path.write_bytes(FILES[form_name](frame, value))
        return path

    return write


# Those of MS MARCO are ranks.
draw = partial(draw_sample, measures="precision@2", n_total=2, random_state=0)
RANKED = {
    name: run.assign(score=-run.groupby("qid")["score"].rank(ascending=False))
    for name, run in RUNS.items()
}

OF_ONE_RUN = {
    "values_of_run": lambda run: values_of_run(QRELS, run, "ap"),
    "align": lambda run: align(QRELS, run).to_frame(),
    "index": lambda run: QrelsIndex(QRELS).align(run).to_frame()[["label", "pooled"]],
    "read_run": lambda run: read_run(run)[["qid", "docno"]],
    "draw": lambda run: draw(QRELS, {"one": run, "two": RUNS["two"]}),
}


@functools.cache
def of_frames(door, is_by_rank):
    """What a door says of frames, of all runs or of one."""
    runs = RANKED if is_by_rank else RUNS
    return FUNCTIONS[door](runs) if door in FUNCTIONS else OF_ONE_RUN[door](runs["one"])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:documents in the first .* are outside the pool")
def test_every_form_of_runs_at_every_door(form, form_name):
    form(RUNS["one"], "score")  # where packages are absent
    for name, door in doors_for(form_name, FUNCTIONS | OF_ONE_RUN).items():
        runs = {one: form(run, "score") for one, run in RUNS.items()}
        found = door(runs if name in FUNCTIONS else runs["one"])
        pd.testing.assert_frame_equal(found, of_frames(name, form_name == "ms marco"))


OF_JUDGMENTS = {
    name: lambda qrels, measures, of=of: of(qrels, RUNS, measures)
    for name, of in ON_JUDGMENTS.items()
} | {
    "index": lambda qrels, _: QrelsIndex(qrels).to_frame(),
    "align": lambda qrels, _: align(qrels, RUNS["one"]).to_frame(),
    "values_of_run": lambda qrels, measures: values_of_run(qrels, RUNS["one"], measures),
    "read_qrels": lambda qrels, _: read_qrels(qrels),
    "pool": lambda qrels, _: draw(qrels, RUNS),
}


@functools.cache
def of_frame_of_judgments(door):
    return OF_JUDGMENTS[door](QRELS, "ap")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:documents in the first .* are outside the pool")
def test_every_form_of_judgments_at_every_door(form, form_name):
    form(QRELS, "label")
    for name, door in doors_for(form_name, OF_JUDGMENTS).items():
        found = door(form(QRELS, "label"), "ap")
        pd.testing.assert_frame_equal(found, of_frame_of_judgments(name))


COMMANDS = ("evaluate qrels one two", "compare qrels one two")


@pytest.fixture(scope="module")
def of_plain_files():
    """What the commands print of plain files, by command and whether scores are ranks."""
    return {}


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_every_form_of_files_on_the_command_line(
    name, tmp_path, capsys, monkeypatch, of_plain_files
):
    def printed(command, folder):
        monkeypatch.chdir(tmp_path / folder)
        assert main([*command.split(), "--format", "csv"]) == 0
        return capsys.readouterr().out

    is_by_rank = name == "ms marco"
    for folder, runs, write in (
        ("plain", RANKED if is_by_rank else RUNS, trec),
        ("other", RUNS, FILES[name]),
    ):
        (tmp_path / folder).mkdir()
        for run in RUNS:
            write_one = trec if name == "beir" else write
            (tmp_path / folder / run).write_bytes(write_one(runs[run], "score"))
        (tmp_path / folder / "qrels").write_bytes(write(QRELS, "label"))
    for command in thinned(COMMANDS, turn=list(FILES).index(name), parts=len(COMMANDS)):
        if (command, is_by_rank) not in of_plain_files:
            of_plain_files[command, is_by_rank] = printed(command, "plain")
        assert printed(command, "other") == of_plain_files[command, is_by_rank]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("run", "message"),
    [
        (b"query-id\tcorpus-id\tscore\n1\ta\t1\n", "These look like judgments, but a r"),
        (b"qid docno label\n1 a 1\n", "These look like judgments, but a r"),
        (b"<top>\n<num> 1\n</top>\n", ":1: lines of a run .* XML, such as topics"),
        (b"\n<!DOCTYPE html>\n", ":2: lines of a run .* a page of HTML"),
        ("1 Q0 a 1 2 x".encode("utf-16"), "text in UTF-16: convert it to UTF-8"),
        (b"PK\x03\x04rest", "a ZIP archive: unpack it"),
        (b"PAR1\x15rest", "not a Parquet file, or is damaged"),
        (b"qid,docno,score\n1,a,2\n1,b,high\n", ":3: the row holds 'high' in column 'score'"),
        (b"#\nqid,docno,score\n1,a,2\n1,,3\n", ":4: the row holds no id in column 'docno'"),
        (b"qid,docno,score\n1,a,2\n1,b,inf\n", ":3: the row holds the score inf; a score must be"),
        (b"qid,docno,score\n1,a,2\n1,a,3\n", ":3: .*'a' twice in .* .first in line 2"),
        (b"qid,docno,score\n1,a,2\n1,b,3,4\n", ":3: 3 fields were expected"),
        (b'{"1": {"a": 2, "a": 3}}', "it is not JSON .*the name 'a' occurs twice in one object"),
        (b'{"1": {"a": "x"}}', "the row holds 'x' in column 'score'"),
        (b'{"1": {"a": 2},\n "2": {"a" 1}}', ":2: it is not JSON"),
        (b'{"1": 2}', "has no column 'qid'|must be an object {query: {document: number}}"),
        (b'{"qid": "1", "docno": "a", "score": 1}\n1 Q0 b 2 3 x\n', ":2: it is not JSON"),
    ],
)
def test_what_a_file_looks_like_is_told(run, message, tmp_path):
    (tmp_path / "run").write_bytes(run)
    for read in (read_run, partial(align, QRELS)):
        with pytest.raises(SkfilterrankError, match=rf"(?s)run.*{message}|{message}"):
            read(tmp_path / "run")


@pytest.mark.parametrize(
    ("qrels", "message"),
    [
        (b"qid docno score\n1 a 0.5\n", "This looks like a run, but judgments were expected"),
        (
            b"q_id,doc_id,score\n1,a,0.5\n",
            ":2: .*a whole number, was expected: this looks like a run",
        ),
        (b"qid,docno,label\n1,a,2\n1,b,inf\n", ":3: the row holds the label inf; labels must be"),
    ],
)
def test_what_a_file_of_judgments_looks_like_is_told(qrels, message, tmp_path):
    (tmp_path / "qrels").write_bytes(qrels)
    for read in (read_qrels, QrelsIndex):
        with pytest.raises(SkfilterrankError, match=message):
            read(tmp_path / "qrels")


def test_names_of_runs_without_files(tmp_path):
    expected = evaluate_runs(QRELS, RUNS, "ap").per_query
    named = [SimpleNamespace(name=name, to_pandas=run.copy) for name, run in RUNS.items()]
    pd.testing.assert_frame_equal(evaluate_runs(QRELS, named, "ap").per_query, expected)
    with pytest.raises(SkfilterrankError, match="give two runs of the name 'one'"):
        evaluate_runs(QRELS, [named[0], named[0]], "ap")
    for one in (by_topic(RUNS["one"], "score"), named[0], iter(named_tuples(RUNS["one"], "score"))):
        with pytest.raises(SkfilterrankError, match=r"got one .*Name a run, as in {'name': run}"):
            score_systems(QRELS, one, "ap")
    with pytest.raises(
        SkfilterrankError, match=r"named tuples of one kind.* or dicts, got Row, int"
    ):
        read_run(iter([*named_tuples(RUNS["one"], "score"), 3]))
    for ending in (".tsv", ".parquet", ".json.zst", ".csv.bz2", ".txt.xz", ".gz"):
        assert list(read_runs([write(tmp_path / f"my.run{ending}")])) == ["my.run"]


def write(path):
    path.write_bytes(trec(RUNS["one"], "score"))
    return path


@pytest.mark.slow
@pytest.mark.parametrize("name", ["read_runs", "rank_table", "fuse_runs", "evaluate_runs"])
def test_one_path_is_one_run(name, paths):
    pd.testing.assert_frame_equal(FUNCTIONS[name](paths[0]), FUNCTIONS[name]({"one": RUNS["one"]}))


def test_what_is_no_run_is_told_alike(function):
    for runs, message in (
        ({}, "runs must hold at least [12] runs?, got 0|runs must be at least 2, got 0"),
        ([RUNS["one"]] * 2, "runs must be a path, a list .* got a list that holds DataFrame"),
        (3, "runs must be a list of"),
        ({"one": [1, 2], "two": 3}, "run must be a data frame, a path or an open file, got list.*"),
        (["one/run.txt", "two/run.txt.gz"], "give two runs of the name 'run': pass a dict"),
    ):
        with pytest.raises(SkfilterrankError, match=message):
            function(runs)


@pytest.mark.parametrize("name", sorted(FUNCTIONS.keys() - {"evaluate_runs", "two processes"}))
def test_one_run_without_a_name_where_several_are_compared(name):
    with pytest.raises(SkfilterrankError, match=r"runs must be a path, .* got one StringIO. Name"):
        FUNCTIONS[name](io.StringIO("1 Q0 a 1 1 x"))


@pytest.mark.slow
def test_a_bad_run_is_named(function):
    for change, message in (
        ({"score": np.nan}, "column 'score' of run holds 3 NaN"),
        ({"score": np.inf}, r"column 'score' of run holds 3 \+inf"),
        ({"score": "high"}, "run holds 'high' in column 'score' in row 0, but a number"),
        ({"docno": ["x", None, "y"]}, "holds no id in column 'docno' in row 1"),
        ({"docno": "a"}, "holds document 'a' twice in query '1'"),
    ):
        if function is ALONE["read_runs"] and "twice" in message:
            continue  # it reads, and joins nothing
        runs = RUNS | {"two": RUNS["two"].assign(**change)}
        with pytest.raises(SkfilterrankError, match=message) as caught:
            function(runs)
        assert "run 'two'" in "".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
    with pytest.raises(SkfilterrankError, match=r"run has no column 'score'; its columns are"):
        function(RUNS | {"two": RUNS["two"].drop(columns="score")})


@pytest.mark.slow
@pytest.mark.parametrize("name", ON_JUDGMENTS)
def test_kinds_of_judgments(name, tmp_path):
    expected = ON_JUDGMENTS[name](QRELS, RUNS, "ap")
    write_qrels(tmp_path / "qrels.txt", QRELS)
    text = io.StringIO((tmp_path / "qrels.txt").read_text(encoding="utf-8"))
    for qrels in (tmp_path / "qrels.txt", str(tmp_path / "qrels.txt"), text, QrelsIndex(QRELS)):
        pd.testing.assert_frame_equal(ON_JUDGMENTS[name](qrels, RUNS, "ap"), expected)
    with pytest.raises(SkfilterrankError, match="qrels must be a data frame, a path or an open f"):
        ON_JUDGMENTS[name]([1], RUNS, "ap")


def test_rank_tables_are_no_vectors():
    table = rank_table(RUNS).fillna(9)
    for runs, message in (
        (RUNS, r"X must hold the documents for MaxRepSelector.*rank_table\(runs\)"),
        (table, "vectors of documents, but is a rank table"),
    ):
        with pytest.raises(SkfilterrankError, match=message):
            MaxRepSelector().fit(runs, QRELS)
    MaxRepSelector().fit(table.rename_axis(columns=None))
    with pytest.raises(SkfilterrankError, match="rank_table makes one of a path or a list of"):
        PoolingSelector().fit(["one.txt", "two.txt"])

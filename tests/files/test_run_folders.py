"""Folders of runs: the same rows and values as the runs that were written into them."""

import gzip
import json
import os
import shutil
import subprocess
import sys
import tracemalloc

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import times
from skfilterrank.cli import main
from skfilterrank.comparison import score_systems
from skfilterrank.exceptions import FileFormatError, InputError
from skfilterrank.io import QrelsIndex, align, read_run, read_runs, write_run, write_runs
from skfilterrank.trec import evaluate_run, evaluate_runs, iter_evaluations

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

MEASURES = ["ndcg_f@3", "ap", "lexirecall", "judged@2"]
QRELS = pd.DataFrame(
    {
        "qid": ["1", "1", "1", "10", "2", "2", "9"],
        "docno": ["b", "aa", "zz", "b", "é", "a", "a"],
        "label": [1, 2, -1, 1, 2, 0, 1],
    }
)
# Ties, topics out of order and apart, one without judgments, filtered rows, ids beyond ASCII.
RUNS = {
    "first": "2 Q0 a 1 3.5 tag\n2 Q0 é 2 3.5 tag\n10 Q0 b 1 1 tag\n1 Q0 aa 1 0.5 tag\n"
    "1 Q0 c 2 0.5 tag\n1 Q0 b 3 0.5 tag\n1 Q0 zz 4 -inf tag\n7 Q0 a 1 1 tag\n",
    "second": "1 Q0 b 1 1.00000001 x\n2 Q0 a 1 0.1 y\n1 Q0 zz 2 1.00000002 x\n1 Q0 aa 9 1 x\n",
}


@pytest.fixture
def texts(tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    for name, text in RUNS.items():
        with gzip.open(folder / f"{name}.txt.gz", "wt", encoding="utf-8") as file:
            file.write(text)
    return [folder / f"{name}.txt.gz" for name in RUNS]


@pytest.fixture
def folder(tmp_path, texts):
    path = tmp_path / "runs.parquet"
    counts = write_runs(path, texts)
    assert (counts.runs, counts.rows, counts.documents) == (2, 12, 6)
    return path


def test_rows_come_back_as_they_were(folder, texts):
    expected, found = read_runs(texts), read_runs(folder)
    assert list(found) == ["first", "second"]
    for name, frame in expected.items():
        pd.testing.assert_frame_equal(found[name], frame)


# Each two of the options together.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("ties", "precision", "missing"),
    [
        *(("docno", "double", "empty"), ("docno", "single", "drop")),
        *(("stable", "double", "drop"), ("stable", "single", "empty")),
        *(("average", "double", "empty"), ("average", "single", "drop")),
        *(("worst", "double", "drop"), ("worst", "single", "empty")),
    ],
)
def test_values_are_those_of_text(folder, texts, ties, precision, missing):
    options = {"ties": ties, "precision": precision, "missing": missing, "unjudged_label": None}
    measures = MEASURES if ties in ("docno", "stable") else MEASURES[:2]
    expected = evaluate_runs(QRELS, texts, measures, **options)
    for n_jobs in (None, 2):
        with joblib.parallel_backend("threading"):
            found = evaluate_runs(QRELS, folder, measures, n_jobs=n_jobs, **options)
        pd.testing.assert_frame_equal(found, expected, check_exact=True)


@pytest.mark.parametrize("ties", ["docno", "stable"])
def test_rows_are_aligned_as_those_of_text(folder, texts, ties):
    index = QrelsIndex(QRELS, unjudged_label=None)
    for path, run in zip(texts, _stored(folder), strict=True):
        expected, found = index.align(path, ties=ties), index.align(run, ties=ties)
        pd.testing.assert_frame_equal(found.to_frame(), expected.to_frame(), check_exact=True)
        assert found.groups.tolist() == expected.groups.tolist()
        for name in (
            *("missing_topics", "unjudged_topics", "n_left_out", "n_filtered", "n_retrieved"),
            *("n_retrieved_unjudged", "n_judged_not_retrieved", "name"),
        ):
            assert getattr(found, name) == getattr(expected, name), name


def _stored(folder):
    from skfilterrank._files.named_runs import named_runs

    return named_runs(folder).values()


def test_comparison(folder, texts):
    options = {"missing": "empty", "unjudged_label": None}
    expected = score_systems(QRELS, texts, ["ap", "lexirecall"], **options)
    found = score_systems(QRELS, folder, ["ap", "lexirecall"], n_jobs=2, **options)
    for name, scores in expected.items():
        pd.testing.assert_frame_equal(found[name].to_frame(), scores.to_frame())


ROWS = st.lists(
    st.tuples(
        st.sampled_from(["1", "2", "03", "x"]),
        st.text("abé\U0001f600", min_size=1, max_size=3),
        st.sampled_from([0.0, -0.0, 1.5, 1.5000000001, -np.inf, 1e300, 5e-324]),
    ),
    min_size=1,
    max_size=12,
    unique_by=lambda row: row[:2],
)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:none of the .* is judged")
@times(0.5)
@given(runs=st.lists(ROWS, min_size=1, max_size=3), judged=ROWS)
def test_any_runs(tmp_path_factory, runs, judged):
    frames = {
        f"run {i}": pd.DataFrame(rows, columns=["qid", "docno", "score"])
        for i, rows in enumerate(runs)
    }
    path = tmp_path_factory.mktemp("any") / "runs"
    write_runs(path, frames)
    qrels = pd.DataFrame(judged, columns=["qid", "docno", "label"]).assign(label=1)
    index = QrelsIndex(qrels)
    read = read_runs(path)
    for (name, frame), run in zip(frames.items(), _stored(path), strict=True):
        pd.testing.assert_frame_equal(read[name], frame.astype({"docno": "str"}))
        if set(frame["qid"]).isdisjoint(qrels["qid"]):
            with pytest.raises(InputError, match="no topic in common"):
                index.align(run)
            continue
        expected, found = index.align(frame), index.align(run)
        pd.testing.assert_frame_equal(found.to_frame(), expected.to_frame(), check_exact=True)


def test_tags_are_kept(folder, tmp_path):
    first, second = _stored(folder)
    assert align(QRELS, first, unjudged_label=None).name == "tag"
    assert align(QRELS, second, unjudged_label=None).name is None
    assert read_run(first)["run"].tolist() == ["tag"] * 8
    write_runs(tmp_path / "again", folder)
    pd.testing.assert_frame_equal(
        read_run(next(iter(_stored(tmp_path / "again")))), read_run(first)
    )


def test_a_folder_of_one_run_is_a_run(tmp_path, texts, folder):
    write_runs(tmp_path / "one", texts[:1])
    pd.testing.assert_frame_equal(
        evaluate_run(QRELS, tmp_path / "one", MEASURES, unjudged_label=None),
        evaluate_run(QRELS, texts[0], MEASURES, unjudged_label=None),
    )
    with pytest.raises(InputError, match=r"runs.parquet holds 2 runs, where one was expected"):
        evaluate_run(QRELS, folder, MEASURES, unjudged_label=None)


def test_a_folder_beside_files(folder, texts, tmp_path):
    write_run(tmp_path / "third.txt", read_run(texts[0]))
    values = evaluate_runs(QRELS, [folder, tmp_path / "third.txt"], "ap", unjudged_label=None)
    assert values.index.unique("run").tolist() == ["first", "second", "third"]
    with pytest.raises(InputError, match="two runs of the name 'first'"):
        read_runs([folder, texts[0]])


@pytest.mark.slow
def test_damage_is_told(folder, tmp_path, texts):
    def broken(change, match):
        copy = tmp_path / "copy"
        shutil.copytree(folder, copy)
        change(copy)
        with pytest.raises(FileFormatError, match=match):
            evaluate_runs(QRELS, copy, "ap", unjudged_label=None)
        shutil.rmtree(copy)

    def cut(name):
        def change(copy):
            data = (copy / name).read_bytes()
            (copy / name).write_bytes(data[: len(data) // 2])

        return change

    write_runs(tmp_path / "other", texts)
    broken(cut("runs.parquet"), r"runs.parquet: the file is not a Parquet file of runs, or is dam")
    broken(cut("documents.parquet"), "documents.parquet: the file is not a Parquet file")
    broken(
        lambda copy: shutil.copy(tmp_path / "other" / "documents.parquet", copy),
        "documents.parquet: the documents are not those of runs.parquet",
    )
    broken(
        lambda copy: pd.DataFrame({"qid": ["1"]}).to_parquet(copy / "runs.parquet"),
        "runs.parquet: the file is none that write_runs",
    )

    def other_rows(**columns):
        def change(copy):
            table = pq.read_table(copy / "runs.parquet")
            for name, value in columns.items():
                column = table.column_names.index(name)
                values = [*table[name].to_pylist()[:-1], value]
                field = table.schema.field(name)
                table = table.set_column(column, field, pa.array(values, field.type))
            said = json.loads(table.schema.metadata[b"skfilterrank"])
            with pq.ParquetWriter(copy / "runs.parquet", table.schema) as writer:
                for run in said["runs"]:
                    writer.write_table(table.slice(0, run["n_rows"]))
                    table = table.slice(run["n_rows"])

        return change

    for column, value in (
        *(("document", 6), ("document", -1), ("document", None)),
        *(("score", np.nan), ("score", np.inf), ("score", None), ("qid", None)),
    ):
        broken(other_rows(**{column: value}), "runs.parquet: ")


@pytest.mark.parametrize("left", [[], ["runs.parquet"]])
def test_a_folder_that_holds_no_runs(folder, tmp_path, capsys, left):
    other = tmp_path / "other"
    other.mkdir()
    for name in left:
        shutil.copy(os.path.join(folder, name), other)
    lacks = "documents" if left else "runs"
    match = f"other is a folder without {lacks}.parquet: name the runs in it"
    for call in (read_run, lambda path: evaluate_runs(QRELS, path, "ap")):
        with pytest.raises(InputError, match=match):
            call(other)
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n")
    assert main(["evaluate", str(tmp_path / "qrels.txt"), str(other), "-m", "ap"]) == 2
    assert match in capsys.readouterr().err


def test_a_folder_that_is_made_anew_is_read_anew(folder, texts):
    assert len(read_runs(folder)) == 2
    shutil.rmtree(folder)
    write_runs(folder, texts[1:])
    assert list(read_runs(folder)) == ["second"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:none of the .* is judged")
def test_measuring_does_not_hold_all_runs(tmp_path):
    """The peak of memory is that of one run, however many there are."""
    n_rows = 20_000
    rng = np.random.default_rng(0)
    run = pd.DataFrame({"qid": np.repeat(["1", "2"], n_rows // 2), "docno": np.arange(n_rows)})
    run["docno"] = run["docno"].astype(str)
    frames = {f"r{i}": run.assign(score=rng.random(n_rows)) for i in range(14)}
    write_runs(tmp_path / "runs", frames)
    held = []
    tracemalloc.start()
    try:
        for _ in iter_evaluations(QRELS, tmp_path / "runs", "ap"):
            held.append(tracemalloc.get_traced_memory()[0] + pa.total_allocated_bytes())
    finally:
        tracemalloc.stop()
    # 12 runs more hold 12 * 20,000 rows of at least 16 bytes: 3.8 MB, were they kept.
    assert len(held) == 14
    assert max(held) - held[1] < 2 * 16 * n_rows


@pytest.mark.nightly
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs Linux")
def test_the_peak_of_memory_is_that_of_one_run(tmp_path):

    rng = np.random.default_rng(0)
    code = (
        "import sys\n"
        "from skfilterrank.trec import iter_evaluations\n"
        "for each in iter_evaluations(sys.argv[2], sys.argv[1], 'ap'): pass\n"
        "lines = open('/proc/self/status').read().split('VmHWM:')\n"
        "print(lines[1].split()[0])\n"
    )
    qids, docnos = np.repeat(np.arange(50), 2000).astype(str), np.tile(np.arange(2000), 50)
    run = pd.DataFrame({"qid": qids, "docno": docnos.astype(str)})
    pd.DataFrame({"qid": ["1"], "docno": ["1"], "label": [1]}).to_csv(
        tmp_path / "qrels.csv", index=False
    )
    peaks = []
    for n_runs in (2, 14):
        path = tmp_path / str(n_runs)
        write_runs(path, {f"r{i}": run.assign(score=rng.random(len(run))) for i in range(n_runs)})
        done = subprocess.run(
            [sys.executable, "-c", code, path, tmp_path / "qrels.csv"],
            capture_output=True,
            text=True,
            check=True,
        )
        peaks.append(int(done.stdout))
    # 12 runs more have 12 * 100,000 rows of at least 16 bytes: 19 MB, were they kept.
    assert peaks[1] - peaks[0] < 12_000

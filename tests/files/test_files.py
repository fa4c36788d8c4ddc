"""Files are replaced as a whole or not at all, whatever happens while they are written."""

import ast
import bz2
import errno
import gzip
import importlib.util
import io
import lzma
import os
import re
import stat
import subprocess
import sys
import threading
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import skfilterrank
from profiles import times
from skfilterrank._files import files as packings
from skfilterrank._files.files import check_writable, open_for_writing, open_replacing, read_bytes
from skfilterrank.cli import _report as report
from skfilterrank.comparison import SystemScores, compare_systems
from skfilterrank.exceptions import FileFormatError, InputError, MissingPackageError
from skfilterrank.io import read_letor, read_qrels, write_letor, write_qrels, write_run
from thinned import thinned

resource = pytest.importorskip("resource", reason="limits and signals of POSIX")

PARTIAL = re.compile(r"\.out\S*\.partial-\d+-[0-9a-f]{8}")

N_ROWS = 2000

IDS = [f"d{row:04d}" for row in range(N_ROWS)]


def put(path, data):
    with open_replacing(path) as handle:
        handle.write(data)


def _report(path):
    # Equal runs, of which there is a picture of all of them alone.
    found = {"ap": compare_systems(SystemScores(np.ones((4, 2)), measure="ap", systems="abcd"))}
    drawn = '<svg width="72.0pt" height="72.0pt"></svg>'
    with mock.patch.object(report, "draw", return_value=drawn):
        report.write_report(path, {}, found, None, [], random_state=0)


# Everything that the package writes, by the end of the file's name.
NOISE = np.random.default_rng(0).random(N_ROWS)

WRITERS = {
    ".run": lambda path: write_run(path, [1] * N_ROWS, docnos=IDS, y_score=np.arange(N_ROWS)),
    ".run.gz": lambda path: write_run(path, [1] * N_ROWS, docnos=IDS, y_score=NOISE),
    ".prels": lambda path: write_qrels(
        path, pd.DataFrame({"qid": 1, "docno": IDS, "label": 0, "inclusion_probability": 1.0})
    ),
    ".qrels": lambda path: write_qrels(path, pd.DataFrame({"qid": 1, "docno": IDS, "label": 0})),
    ".letor": lambda path: write_letor(path, np.ones((N_ROWS, 2)), [0] * N_ROWS, [1] * N_ROWS),
    ".html": _report,
}


@pytest.fixture
def size_limit():
    """A disk that is full after some bytes of each file."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def limit(size):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))

    yield limit
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.slow
@pytest.mark.parametrize("ending", list(WRITERS))
def test_a_full_disk(tmp_path, size_limit, ending):
    path, write = tmp_path / f"out{ending}", WRITERS[ending]
    _fails(path, write, size_limit)
    assert os.listdir(tmp_path) == []
    path.write_bytes(b"old")
    _fails(path, write, size_limit)
    assert os.listdir(tmp_path) == [path.name]
    assert path.read_bytes() == b"old"


def _fails(path, write, size_limit):
    """Write with room for 200 bytes."""
    size_limit(200)
    with pytest.raises(OSError, match="too large") as caught:
        write(path)
    size_limit(resource.RLIM_INFINITY)
    assert (caught.value.errno, caught.value.filename) == (errno.EFBIG, str(path))


@pytest.mark.parametrize("size", [10, 10_000, 10_000_000])
def test_a_device_that_is_full(size):
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full")
    with pytest.raises(OSError, match="No space left") as caught:
        put("/dev/full", b"x" * size)
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, "/dev/full")


class TestWhatOpenDoes:
    """Users see a file that was written, as by open."""

    @pytest.mark.slow
    @given(old=st.none() | st.binary(), parts=st.lists(st.binary(max_size=20_000)))
    def test_what_is_written(self, tmp_path_factory, old, parts):
        path = tmp_path_factory.mktemp("written") / "out"
        if old is not None:
            path.write_bytes(old)
        with open_replacing(path) as handle:
            for part in parts:
                handle.write(part)
            assert (path.read_bytes() if path.exists() else None) == old
        assert path.read_bytes() == b"".join(parts)
        assert os.listdir(path.parent) == ["out"]

    @pytest.mark.parametrize("mode", [0o600, 0o644, 0o640, 0o666, 0o755])
    def test_permissions_stay(self, tmp_path, mode):
        path = tmp_path / "out"
        path.touch()
        path.chmod(mode)
        put(path, b"new")
        assert stat.S_IMODE(path.stat().st_mode) == mode

    @pytest.mark.parametrize("umask", [0o000, 0o022, 0o027, 0o077])
    def test_a_new_file_has_those_of_the_umask(self, tmp_path, umask):
        before = os.umask(umask)
        try:
            put(tmp_path / "out", b"new")
        finally:
            os.umask(before)
        assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o666 & ~umask

    def test_the_owner_stays(self, tmp_path):
        if os.geteuid():
            pytest.skip("only root may write for others")
        path = tmp_path / "out"
        path.touch()
        os.chown(path, 1234, 4321)
        put(path, b"new")
        assert (path.stat().st_uid, path.stat().st_gid) == (1234, 4321)

    @pytest.mark.parametrize("is_there", [True, False])
    def test_through_links(self, tmp_path, is_there, monkeypatch):
        for name in ("store", "links"):
            (tmp_path / name).mkdir()
        if is_there:
            (tmp_path / "store" / "out").write_text("old")
        (tmp_path / "links" / "second").symlink_to("../store/out")
        (tmp_path / "first").symlink_to("links/second")
        monkeypatch.chdir(tmp_path)
        put("first", b"new")
        assert os.readlink("first") == "links/second"
        assert os.readlink("links/second") == "../store/out"
        assert os.listdir("store") == ["out"]
        assert Path("store/out").read_text() == "new"

    def test_a_relative_path_in_a_folder_that_is_left(self, tmp_path, monkeypatch):
        (tmp_path / "a").mkdir()
        monkeypatch.chdir(tmp_path)
        with open_replacing("out") as handle:
            monkeypatch.chdir("a")
            handle.write(b"new")
        assert (tmp_path / "out").read_text() == "new"
        assert os.listdir(tmp_path / "a") == []

    def test_a_pipe_is_written_to(self, tmp_path):
        path = tmp_path / "out"
        os.mkfifo(path)
        found = []
        reader = threading.Thread(target=lambda: found.append(path.read_bytes()))
        reader.start()
        put(path, b"new")
        reader.join()
        assert found == [b"new"]
        assert stat.S_ISFIFO(path.stat().st_mode)

    @pytest.mark.parametrize("folder", ["/dev/fd", "/proc/self/fd"])
    def test_an_open_file_is_written_to(self, tmp_path, folder):
        """As what standard output goes to, by the name /dev/stdout."""
        if not os.path.exists(folder):
            pytest.skip(f"there is no {folder}")
        with open(tmp_path / "out", "wb") as file:
            put(f"{folder}/{file.fileno()}", b"new")
            assert os.fstat(file.fileno()).st_ino == os.stat(tmp_path / "out").st_ino
            assert (tmp_path / "out").read_text() == "new"
        assert os.listdir(tmp_path) == ["out"]

    def test_the_final_name_says_what_is_zipped(self, tmp_path):
        for name in ("out.gz", "out"):
            with open_for_writing(tmp_path / name) as write:
                write("new")
        assert (tmp_path / "out").read_bytes() == b"new"
        assert gzip.decompress((tmp_path / "out.gz").read_bytes()) == b"new"

    def test_a_handle_stays_what_it_is(self, tmp_path):
        with open(tmp_path / "out", "w") as file:
            file.write("one ")
            write_qrels(file, pd.DataFrame({"qid": [1], "docno": ["a"], "label": [2]}))
            assert not file.closed
        assert (tmp_path / "out").read_text() == "one 1 0 a 2\n"

    def test_the_longest_name(self, tmp_path):
        for name in ("o" * 255, "é" * 127, "\U0001f600" * 63):
            put(tmp_path / name, b"new")
            assert (tmp_path / name).read_bytes() == b"new"


# Ends a writer in the middle at moments that are spread over all that its Python code does, by a
# signal that kills the process or by the exception of Ctrl-C; prints what is found afterwards.
INTERRUPTER = """
import os, signal, sys
from skfilterrank._files.files import open_for_writing

end, path, n_moments = sys.argv[1], "out.txt", int(sys.argv[2])

def make():
    with open_for_writing(path) as write:
        for part in range(20):
            write(f"{part} " * 5_000)

def run(moment):
    global n
    n = 0
    def step(frame, event, value):
        global n
        if event == "opcode":
            n += 1
            if n == moment:
                if end == "kill":
                    os.kill(os.getpid(), signal.SIGKILL)
                raise KeyboardInterrupt
        return step
    def call(frame, event, value):
        if frame.f_code.co_filename.endswith("_files/files.py"):
            # Python 3.13 heeds the second of a frame that has the first.
            frame.f_trace = step
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
            return step
    # Python 3.12 gives opcodes where a frame asked for them before it traces.
    sys._getframe().f_trace_opcodes = True
    sys.settrace(call)
    try:
        make()
    finally:
        sys.settrace(None)

make()
new = open(path, "rb").read()
run(None)
moments = [max(1, n * each // n_moments) for each in range(1, n_moments + 1)]
for moment in moments:
    with open(path, "w") as file:
        file.write("old")
    if end == "kill":
        pid = os.fork()
        if not pid:
            run(moment)
            os._exit(0)
        assert os.WTERMSIG(os.waitpid(pid, 0)[1]) == signal.SIGKILL
    else:
        try:
            run(moment)
        except KeyboardInterrupt:
            pass
        else:
            print("not interrupted")
    found = open(path, "rb").read()
    state = {b"old": "old", new: "new"}.get(found, f"broken at {moment}")
    others = sorted(set(os.listdir()) - {path})
    print(state, *others)
    for name in others:
        os.unlink(name)
"""


@pytest.mark.slow
@pytest.mark.parametrize("end", ["kill", "interrupt"])
def test_an_end_at_any_moment(tmp_path, end):
    """The old file is whole or the new one is, and what is left beside it says what it is."""
    n = len(thinned(range(240), parts=4))
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTER, end, str(n)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [line.split() for line in done.stdout.splitlines()]
    left = [name for _, *names in lines for name in names]
    assert all(map(PARTIAL.fullmatch, left))
    assert {state for state, *_ in lines} == {"old", "new"}
    assert (len(lines), bool(left)) == (n, end == "kill")


@pytest.mark.parametrize("name", ["out.zst", "out.txt.bz2", "out.csv.XZ", "out.GZ"])
def test_no_file_has_the_name_of_a_packing_without_it(tmp_path, name):
    with (
        pytest.raises(InputError, match=rf"{name}: only \.gz can be written compressed"),
        open_for_writing(tmp_path / name),
    ):
        pass
    assert not list(tmp_path.iterdir())


class TestErrors:
    """The error is that of open, names the file that was asked for, and nothing is left."""

    @pytest.mark.parametrize("check", [lambda path: put(path, b""), check_writable])
    @pytest.mark.parametrize(
        ("name", "kind"),
        [
            ("folder", IsADirectoryError),
            ("no/out", FileNotFoundError),
            ("file/out", NotADirectoryError),
            ("loop", OSError),
            ("dangling", FileNotFoundError),
            ("o" * 256, OSError),
        ],
    )
    def test_what_cannot_be_a_file(self, tmp_path, name, kind, check):
        (tmp_path / "folder").mkdir()
        (tmp_path / "file").touch()
        (tmp_path / "loop").symlink_to("loop")
        (tmp_path / "dangling").symlink_to("no/out")
        before = sorted(os.listdir(tmp_path))
        path = str(tmp_path / name)
        with pytest.raises(kind) as expected:
            Path(path).write_bytes(b"")
        with pytest.raises(kind) as caught:
            check(path)
        assert str(caught.value) == str(expected.value)
        assert sorted(os.listdir(tmp_path)) == before

    @pytest.mark.parametrize("check", [lambda path: put(path, b""), check_writable])
    @pytest.mark.parametrize("closed", ["folder", "file"])
    def test_without_permission(self, tmp_path, closed, check):
        folder, path = tmp_path / "folder", tmp_path / "folder" / "out"
        folder.mkdir()
        path.write_text("old")
        folder.chmod(0o555 if closed == "folder" else 0o777)
        path.chmod(0o666 if closed == "folder" else 0o444)
        found = _as_nobody(tmp_path, lambda: check(path))
        assert found == f"[Errno 13] Permission denied: {str(path)!r}"
        folder.chmod(0o755)
        assert os.listdir(folder) == ["out"]
        assert path.read_text() == "old"

    def test_an_error_of_the_caller(self, tmp_path):
        (tmp_path / "out").write_text("old")
        with pytest.raises(TypeError, match="bytes"), open_replacing(tmp_path / "out") as handle:
            handle.writelines([b"new", None])
        assert os.listdir(tmp_path) == ["out"]
        assert (tmp_path / "out").read_text() == "old"

    def test_other_errors_of_the_system_keep_their_names(self, tmp_path):
        with pytest.raises(FileNotFoundError) as caught, open_replacing(tmp_path / "out"):
            (tmp_path / "no").read_bytes()
        assert caught.value.filename == str(tmp_path / "no")


def _as_nobody(folder, call):
    """Error of a call by a user who has no special rights."""
    if is_root := os.geteuid() == 0:
        if not hasattr(os, "setresuid"):
            pytest.skip("root cannot become another user for a while")
        for each in [folder, *folder.parents]:
            if each.stat().st_mode & 0o011 != 0o011:
                each.chmod(each.stat().st_mode | 0o011)
        os.setresuid(65534, 65534, 0)
    try:
        with pytest.raises(PermissionError) as caught:
            call()
    finally:
        if is_root:
            os.setresuid(0, 0, 0)
    return str(caught.value)


# Calls that write to a file by its name, rather than to one that is open.
WRITES = re.compile(
    r"""\bopen\(.*['"]b?[wax][bt]?['"]"""
    r"""|\.(write_text|write_bytes|to_parquet|to_pickle|to_excel|to_feather)\("""
    r"""|\.(to_csv|to_json|to_html|savefig)\((?!handle|drawn|out|\w+=|\*\*|\))"""
    r"""|\b(np\.save|os\.re(place|name)\b|shutil\.(copy|move)|tempfile\.)"""
)

NAMES = re.compile(r"\b(open|write_\w+|to_\w+|savefig|save|os\.\w+|shutil\.\w+|tempfile\.\w+)$")


def calls_that_write(text):
    """Names of such calls in a program, whether they stand alone or within others."""
    nodes = list(ast.walk(ast.parse(text)))
    calls = [(ast.unparse(node.func), node) for node in nodes if isinstance(node, ast.Call)]
    # Functions that are handed to others to be called.
    dotted = [node for node in nodes if isinstance(node, ast.Attribute)]
    calls += [
        (f"{node.value.id}.{node.attr}", node)
        for node in dotted
        if isinstance(node.value, ast.Name)
    ]
    # The texts of all are slow to make.
    named = [(name, node) for name, node in calls if NAMES.search(name)]
    return {name for name, node in named if WRITES.search(ast.unparse(node))}


# Only files that have one of these words are parsed, since all would take a second.
WORDS = re.compile(
    r"open\(|write_text|write_bytes|to_(parquet|pickle|excel|feather|csv|json|html)|savefig"
    r"|np\.save|os\.re|shutil|tempfile"
)


@pytest.mark.slow
def test_the_package_writes_files_by_this_alone():
    root = Path(skfilterrank.__file__).parent
    texts = {path: path.read_text(encoding="utf-8") for path in root.rglob("*.py")}
    found = {
        str(path.relative_to(root)): calls_that_write(text)
        for path, text in texts.items()
        if WORDS.search(text)
    }
    assert {path: calls for path, calls in found.items() if calls} == {
        os.path.join("_files", "files.py"): {"open", "os.replace", "shutil.copyfile"}
    }


def test_a_mount_point_is_written_over(tmp_path, monkeypatch):
    """Such as a single file given to a container, onto which nothing can be renamed."""
    path = tmp_path / "x.out"
    path.write_bytes(b"old")

    def busy(*_):
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))

    monkeypatch.setattr(os, "replace", busy)
    put(path, b"new")
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["x.out"]


HAS_ZSTD = importlib.util.find_spec("zstandard") is not None


def zstd(data):
    import zstandard

    return zstandard.compress(data)


# Unpadded: an xz file has a multiple of four bytes.
PACK = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress, "zstd": zstd}


@pytest.fixture(scope="session", params=PACK)
def packing(request):
    if request.param == "zstd" and not HAS_ZSTD:
        pytest.skip("zstandard is not installed")
    return request.param


def read(content):
    return read_bytes(io.BytesIO(content))


@pytest.mark.slow
@times(0.5)
@given(parts=st.lists(st.binary(max_size=20), min_size=1, max_size=9), n_bytes=st.integers(1, 40))
def test_members_one_after_the_other(packing, parts, n_bytes):
    # Members of all lengths, around the bytes that are unpacked at a time; zeros may follow each.
    packed = b"".join(PACK[packing](part) + b"\0" * (len(part) % 3) for part in parts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packings, "_PACKED_BYTES", n_bytes)
        assert read(packed) == b"".join(parts)


@pytest.mark.slow
@pytest.mark.parametrize("n_lost", [1, 9, 20])
def test_cut_short(packing, n_lost):
    pack = PACK[packing]
    packed = pack(b"1 0 a 1\n") + pack(b"1 0 b 1\n" * 1000)
    with pytest.raises(FileFormatError, match=f"the {packing} file is damaged or cut short"):
        read(packed[:-n_lost])
    with pytest.raises(FileFormatError, match=f"the {packing} file is damaged or cut short"):
        read(packed + b"more")


@pytest.mark.slow
def test_the_line_of_the_damage_is_told(packing, tmp_path):
    lines = [f"{i} 0 d{i * 7919 % 10007} {i % 3}\n".encode() for i in range(9_000)]
    parts = [b"".join(lines[:6_000]), b"".join(lines[6_000:])]
    first, second = map(PACK[packing], parts)
    path = tmp_path / "qrels.txt"
    path.write_bytes(first + second[:40])
    with pytest.raises(FileFormatError, match=rf"qrels.txt:\d+: the {packing} file is") as caught:
        read_qrels(path)
    assert 6_000 < caught.value.line <= 9_000
    path.write_bytes(first + second)
    assert len(read_qrels(path)) == 9_000


@pytest.mark.slow
def test_what_would_fill_the_memory(packing, monkeypatch):
    packed = PACK[packing](bytes(10**6))
    monkeypatch.setattr(packings, "_MOST_BYTES", 10**5)
    assert len(packed) * 200 < 10**6
    with pytest.raises(FileFormatError, match=r"more than 200 times its size.*100,000 bytes"):
        read(packed)
    # Large, but not out of proportion; and out of proportion, but not large.
    monkeypatch.setattr(packings, "_MOST_TIMES", 10**6)
    assert len(read(packed)) == 10**6
    monkeypatch.setattr(packings, "_MOST_TIMES", 200)
    monkeypatch.setattr(packings, "_MOST_BYTES", 10**6)
    assert len(read(packed)) == 10**6


@pytest.mark.slow
def test_a_packing_that_needs_a_package_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    content = b"\x28\xb5\x2f\xfd\x04\x00"
    with pytest.raises(MissingPackageError, match=r"needs zstandard.*skfilterrank\[zstd\]"):
        read_qrels(io.BytesIO(content))


@pytest.mark.slow
def test_what_the_error_says_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(packings, "_MOST_BYTES", 10**4)
    qrels, letor = tmp_path / "qrels.gz", tmp_path / "letor.gz"
    qrels.write_bytes(gzip.compress(b" " * 10**5 + b"1 0 a 1\n"))
    letor.write_bytes(gzip.compress(b"\n" * 10**5 + b"1 qid:1 1:2\n"))
    for reader, path in ((read_qrels, qrels), (read_letor, letor)):
        with pytest.raises(FileFormatError, match=r"\.gz(:\d+)?: .* such as gzip\.open\(path\)"):
            reader(path)
        with gzip.open(path) as handle:
            assert len(reader(handle)[0 if reader is read_letor else "qid"]) == 1

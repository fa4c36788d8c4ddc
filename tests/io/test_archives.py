"""Model files that would fill the memory are refused."""

import io
import json
import zipfile

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import Ridge

from skfilterrank.exceptions import FileFormatError
from skfilterrank.io import _archives, _models, load_model, save_model
from skfilterrank.io._archives import Unpacker

LIMIT = 10**5


@pytest.fixture(scope="module", autouse=True)
def skops(tmp_path_factory):
    """Models are read by skops, for which all of scikit-learn is imported."""
    import skops.io

    save_model(Ridge(), tmp_path_factory.mktemp("first") / "m.skops")
    return skops.io


@pytest.fixture(autouse=True)
def small_limit(monkeypatch):
    monkeypatch.setattr(_models, "_MOST_BYTES", LIMIT)
    monkeypatch.setattr(_models, "_MOST_TIMES", 10)


def model_of(value):
    model = Ridge()
    model.coef_ = value
    return model


@pytest.mark.filterwarnings("ignore:load_model will load this model only")
# The second is an archive within the archive.
@pytest.mark.parametrize(
    "value", [np.zeros(10**5), sparse.csr_matrix((10**5, 1))], ids=["npy", "npz"]
)
def test_large_model(tmp_path, value):
    path = tmp_path / "m.skops"
    save_model(model_of(value), path)
    assert path.stat().st_size < LIMIT / 10
    with pytest.raises(FileFormatError, match=r"m\.skops: .* than 100,000 bytes.* max_bytes="):
        load_model(path)
    trusted = ["scipy.sparse._csr.csr_matrix"]
    loaded = load_model(path, max_bytes=10**8, trusted=trusted).coef_
    assert loaded.shape == value.shape
    with pytest.raises(FileFormatError, match="unpacks to more than 999 bytes"):
        load_model(path, max_bytes=999)


def test_what_is_not_out_of_proportion_loads(tmp_path):
    values = np.random.default_rng(0).random(2 * 10**4)
    save_model(model_of(values), tmp_path / "m.skops")
    np.testing.assert_array_equal(load_model(tmp_path / "m.skops").coef_, values)


@pytest.mark.parametrize("max_bytes", [0, -1, 1.5, True, "1 GB"])
def test_bad_limit(tmp_path, max_bytes):
    with pytest.raises(ValueError, match="max_bytes must be None or a whole number from 1 up"):
        load_model(tmp_path / "absent", max_bytes=max_bytes)


def archive(way=zipfile.ZIP_DEFLATED, **entries):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", way) as copied:
        for name, content in {"schema.json": "{}", **entries}.items():
            copied.writestr(name, content)
    return target.getvalue()


def test_a_copy_holds_the_same(skops):
    model = {"a": np.arange(5), "b": sparse.csr_matrix(np.eye(3)), "c": "text"}
    data = skops.dumps(model, compression=zipfile.ZIP_DEFLATED)
    copied = Unpacker("m", LIMIT).unpack(data)
    with zipfile.ZipFile(io.BytesIO(copied)) as found:
        assert {info.compress_type for info in found.infolist()} == {zipfile.ZIP_STORED}
    loaded = skops.loads(copied, trusted=["scipy.sparse._csr.csr_matrix"])
    np.testing.assert_array_equal(loaded["a"], model["a"])
    np.testing.assert_array_equal(loaded["b"].toarray(), model["b"].toarray())
    assert loaded["c"] == "text"


def test_nothing_is_unpacked_where_the_sizes_tell(monkeypatch):
    data = archive(zeros=bytes(LIMIT + 1))
    monkeypatch.setattr(zipfile.ZipFile, "open", None)
    with pytest.raises(FileFormatError, match="unpacks to more"):
        Unpacker("m", LIMIT).unpack(data)


def test_sizes_that_are_lies(monkeypatch):
    # It says 10 bytes and holds 2 million: no more than is asked for is unpacked.
    data = bytearray(archive(zeros=bytes(2 * LIMIT)))
    size = (2 * LIMIT).to_bytes(4, "little")
    while (at := data.find(size)) >= 0:
        data[at : at + 4] = (10).to_bytes(4, "little")
    monkeypatch.setattr(_archives, "_READ_BYTES", 1 << 12)
    with pytest.raises(zipfile.BadZipFile, match="CRC"):
        Unpacker("m", LIMIT).unpack(bytes(data))


def test_entries_that_are_read_again_and_again():
    nodes = [{"file": "x.npy", "__id__": number} for number in (1, 1, 1, 2)]
    schema = json.dumps({"content": nodes})
    data = archive(**{"schema.json": schema, "x.npy": bytes(1000)})
    # What a node holds that was there before is not read again.
    Unpacker("m", 2200).unpack(data)
    for number in (3, None):
        nodes.append({"file": "x.npy", "__id__": number})
        data = archive(**{"schema.json": json.dumps(nodes), "x.npy": bytes(1000)})
        with pytest.raises(FileFormatError, match="unpacks to more than 2,200 bytes"):
            Unpacker("m", 2200).unpack(data)


def test_other_compression_is_no_model():
    with pytest.raises(zipfile.BadZipFile, match="compressed in a way"):
        Unpacker("m", LIMIT).unpack(archive(zipfile.ZIP_BZIP2, zeros=bytes(10)))


@pytest.mark.slow
def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    monkeypatch.undo()
    target = tmp_path / "m.skops"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as bomb:
        bomb.writestr("schema.json", bytes((1 << 26) + 1))
    with pytest.raises(FileFormatError, match=r"more than 67,108,864 bytes"):
        load_model(target)

"""What the wheel and the sdist hold."""

import gzip
import tarfile
import zipfile
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("hatchling", reason="hatchling is not installed")

from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Names of the files in the wheel and in the sdist."""
    folder = tmp_path_factory.mktemp("dist")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gzip, "GzipFile", partial(gzip.GzipFile, compresslevel=0))
        sdist, wheel = (
            next(builder(str(ROOT)).build(directory=str(folder), versions=["standard"]))
            for builder in (SdistBuilder, WheelBuilder)
        )
    with zipfile.ZipFile(wheel) as archive:
        in_wheel = set(archive.namelist())
    with tarfile.open(sdist) as archive:
        in_sdist = {name.partition("/")[2] for name in archive.getnames()}
    return in_wheel, in_sdist


@pytest.mark.slow
def test_the_wheel_holds_the_package_and_nothing_else(built):
    in_wheel, _ = built
    parts = {name.partition("/")[0] for name in in_wheel}
    assert len(parts) == 2, parts
    assert "skfilterrank" in parts
    (info,) = (part for part in parts if part.endswith(".dist-info"))
    assert f"{info}/licenses/LICENSE" in in_wheel
    assert f"{info}/entry_points.txt" in in_wheel
    files = (p.relative_to(ROOT).as_posix() for p in (ROOT / "skfilterrank").rglob("*.*"))
    sources = {name for name in files if "__pycache__" not in name}
    assert "skfilterrank/py.typed" in sources
    assert sources == {name for name in in_wheel if name.startswith("skfilterrank/")}


@pytest.mark.slow
def test_the_sdist_holds_what_it_takes_to_build_and_test(built):
    _, in_sdist = built
    files = ["README.md", "LICENSE", "CHANGELOG.md", "pyproject.toml", "Makefile", ".ci/oldest.txt"]
    assert in_sdist.issuperset(files)
    kept = {p.relative_to(ROOT).as_posix() for p in (ROOT / "tests").rglob("*.py")}
    assert kept <= in_sdist
    assert not any(name.startswith(("benchmarks", ".venv", "dist")) for name in in_sdist)

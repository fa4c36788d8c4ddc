"""What a report was made from."""

import hashlib
import re

import pytest

import skfilterrank

pytest.importorskip("matplotlib")


from report_pages import ODD


@pytest.mark.slow
@pytest.mark.usefixtures("not_drawn")
def test_what_it_was_made_from(report, folder):
    _, page = report("--gains=-2=-1,0=0,1=1,2=2,3=3", "--seed", "7")
    assert "skfilterrank compare qrels good" in page.text
    made = page.table("Files that were read")
    assert [row[:2] for row in made[1:]] == [
        ["qrels", "judgments"], ["good", "run"], [ODD, "run"], ["filtered", "run"],
    ]  # fmt: skip
    for name, _, size, changed, digest in made[1:]:
        content = (folder / name).read_bytes()
        assert digest == hashlib.sha256(content).hexdigest()
        assert int(size) == len(content)
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", changed)
    for said in (
        "--gains -2=-1, 0=0, 1=1, 2=2, 3=3",
        "--ties docno",
        "--missing empty",
        "--seed 7",
        f"skfilterrank {skfilterrank.__version__}, Python",
    ):
        assert said in page.text

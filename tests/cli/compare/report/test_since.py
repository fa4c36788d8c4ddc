"""What changed since an earlier report."""

from pathlib import Path

import pytest

pytest.importorskip("matplotlib")


@pytest.mark.slow
@pytest.mark.usefixtures("not_drawn")
def test_since_an_earlier_report(report, folder):
    files = {"files": ["qrels", "good", "filtered"]}
    report(**files)
    (folder / "old.html").write_bytes((folder / "r.html").read_bytes())
    _, page = report("--before", "old.html", **files)
    assert "It was made from the same files with the same settings." in page.text
    assert "tests of the same pairs come out as before" in page.text
    assert {row[3] for row in page.table("before and now")[1:]} == {"+0.0000"}
    (folder / "good").write_text("1 Q0 spam1 1 9 x\n2 Q0 spam1 1 5 x\n3 Q0 u 1 2 x\n")
    _, page = report("--before", "old.html", "--ties", "worst", **files)
    assert "file good: another content" in page.text
    assert "setting ties: docno before, worst now" in page.text
    rows = {row[0]: row for row in page.table("before and now")}
    assert rows["filtered"][1] == rows["filtered"][2]
    assert float(rows["good"][3]) == pytest.approx(float(rows["good"][2]) - float(rows["good"][1]))
    assert float(rows["good"][3]) < 0


@pytest.mark.slow
@pytest.mark.usefixtures("not_drawn")
def test_tests_that_come_out_otherwise(report, folder):
    def write(values):
        rows = [f"{name},{topic},{(topic % 3 + shift) / 9}" for name, shift in values.items()
                for topic in range(9)]  # fmt: skip
        Path("values").write_text("\n".join(["run,qid,ap", *rows]) + "\n")

    write({"a": 2, "b": 1})
    options = {"files": ["--scores", "values"], "measures": ["ap"]}
    report(**options)
    (folder / "old.html").write_bytes((folder / "r.html").read_bytes())
    write({"a": 1, "b": 2, "c": 1})
    _, page = report("--before", "old.html", **options)
    assert page.table("comes out otherwise")[1:] == [["b", "a", "a", "b"]]

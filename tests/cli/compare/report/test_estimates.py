"""Reports of comparisons from a sample of people's labels."""

from pathlib import Path

import pytest

from sampled_labels import SAMPLED
from skfilterrank.estimation import machine_report
from skfilterrank.io import read_prels, read_qrels, write_qrels


@pytest.fixture
def runs(sampled_runs):
    """Paths of the runs, in the working folder."""
    return sampled_runs


@pytest.mark.slow
def test_the_report_says_what_the_machine_is_worth(run, runs):
    pytest.importorskip("matplotlib")
    code, _, err = run("compare", "people.txt", *runs, *SAMPLED, "--html", "report.html")
    assert code == 0, err
    page = Path("report.html").read_text(encoding="utf-8")
    report = machine_report(
        read_prels("sample.prels"),
        {Path(path).stem: path for path in runs},
        "dcg@10",
        machine_qrels={"llm": read_qrels("llm.txt")},
    )
    assert "What the machine is worth" in page
    assert f"{report.by_judge.loc['llm', 'kappa']:.3f}" in page
    assert f"{report.by_run.loc[('llm', 'dcg@10', 'alpha'), 'believed']:.4f}" in page
    assert page.count("sample.prels") >= 2  # the command, and the files with their hashes
    assert "llm.txt" in page


@pytest.mark.slow
@pytest.mark.usefixtures("not_drawn")
@pytest.mark.parametrize("has_machine", [True, False])
def test_reports_say_that_judgments_are_a_machines(run, runs, has_machine):
    pytest.importorskip("matplotlib")
    judged_by = "large" if has_machine else "people"
    write_qrels("qrels.txt", read_qrels("all.txt").assign(judged_by=judged_by))
    command = ["compare", "qrels.txt", *runs[:2], "-m", "ap", "--predicted", "use"]
    code, _, err = run(*command, "--html", "report.html")
    assert code == 0, err
    page = Path("report.html").read_text(encoding="utf-8")
    assert ("labels of machines: <bdi>large</bdi>: 1,800" in page) == has_machine

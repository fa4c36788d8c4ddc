import pytest

from skfilterrank.cli import main

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure

from report_pages import QRELS, RUNS, Page


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text(QRELS)
    for name, text in RUNS.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def report(run, folder):
    """Write the report and read it."""

    def report(*arguments, files=("qrels", *RUNS), measures=("ndcg_f@3",)):
        named = [word for name in measures for word in ("-m", name)]
        code, _, err = run("compare", *files, *named, "--html", "r.html", "--quiet", *arguments)
        assert (code, err) == (0, "")
        text = (folder / "r.html").read_text(encoding="utf-8")
        return text, Page(text)

    return report


@pytest.fixture(scope="session")
def shared(tmp_path_factory):
    """The report of the runs above by two measures, written once for all tests that read it."""
    folder = tmp_path_factory.mktemp("shared")
    for name, text in {"qrels": QRELS, **RUNS}.items():
        (folder / name).write_text(text)
    paths = [str(folder / name) for name in ("qrels", *RUNS)]
    html = folder / "r.html"
    measures = ["-m", "ndcg_f@3", "-m", "forbidden@3"]
    assert main(["compare", *paths, *measures, "--html", str(html), "--quiet"]) == 0
    text = html.read_text(encoding="utf-8")
    return text, Page(text)


@pytest.fixture
def not_drawn(monkeypatch):
    """Pictures are made, and empty ones put on the page in their place: this takes less time."""
    blank = '<svg width="72.0pt" height="72.0pt"></svg>'
    monkeypatch.setattr(Figure, "savefig", lambda self, out, **params: out.write(blank))


@pytest.fixture
def contradicting(folder):
    """Values of eleven topics: steady is ahead on ten of them by a little, lucky on one by far."""
    topics = sorted(range(1, 12), key=str)
    rows = [f"steady,{topic},{0.0 if topic == 10 else 0.06}" for topic in topics]
    rows += [f"lucky,{topic},{0.9 if topic == 10 else 0.05}" for topic in topics]
    (folder / "values").write_text("\n".join(["run,qid,ap", *rows]) + "\n")
    return ["--scores", "values"]


@pytest.fixture
def many(folder):
    """Six runs on twelve topics, with lists of 16 documents."""
    docnos = [f"d{number}" for number in range(16)]
    labels = "".join(
        f"{qid} 0 {docno} {(place * qid) % 3 - 1}\n"
        for qid in range(1, 13)
        for place, docno in enumerate(docnos)
    )
    (folder / "qrels").write_text(labels)
    for number in range(1, 7):
        lines = [
            f"{qid} Q0 {docno} 1 {(place * (number + 3) + qid * number) % 17} x\n"
            for qid in range(1, 13)
            for place, docno in enumerate(docnos)
        ]
        (folder / f"run{number}").write_text("".join(lines))
    return ["qrels", *(f"run{number}" for number in range(1, 7))]

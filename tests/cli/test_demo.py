import importlib.util

import pytest

from skfilterrank.ranking import get_ranker_names


def test_the_demo_prints_a_table_and_draws_a_picture(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = run("demo", "--n-queries", "120")
    assert code == 0
    for name in (*get_ranker_names("loss"), "rank-only", "filter-only", "filter-all", "generator"):
        assert f"{name} " in out
    assert max(map(len, out.splitlines())) <= 100
    rows = [line.replace(" * ", " ").split() for line in out.splitlines()[3:23]]
    value = {name: float(first) for name, first, *_ in rows}
    assert value["filter-all"] < value["rank-only"] < value["generator"]
    assert "* best by cross-validation on the training questions: 0." in out
    assert err.startswith("train: ")
    assert err.endswith("picture: skfilterrank-demo.png\n")
    with open("skfilterrank-demo.png", "rb") as picture:
        assert picture.read(4) == b"\x89PNG"


def test_it_repeats_and_can_be_quiet(run, tmp_path):
    first, again = (
        run("demo", "--n-queries", "30", "--quiet", "--plot", tmp_path / "c.svg") for _ in range(2)
    )
    assert first == again
    assert first[2] == ""
    assert (tmp_path / "c.svg").exists()


def test_too_few_questions(run):
    code, out, err = run("demo", "--n-queries", "5")
    assert (code, out) == (2, "")
    assert "--n-queries must be at least 20, got 5" in err


@pytest.mark.parametrize("quiet", [[], ["--quiet"]])
def test_without_matplotlib_there_is_the_table(run, monkeypatch, tmp_path, quiet):
    monkeypatch.chdir(tmp_path)
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "matplotlib" else find_spec(name)
    )
    code, out, err = run("demo", "--n-queries", "20", *quiet)
    assert code == 0
    assert "filter-all" in out
    assert ("pip install 'skfilterrank[plot]'" in err) == (not quiet)
    assert not list(tmp_path.iterdir())


def test_the_picture_is_drawn_before_the_table(tmp_path, monkeypatch, run):
    def gone(text):
        raise BrokenPipeError

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("skfilterrank.cli.demo.run.show", gone)
    assert run("demo", "--n-queries", "20", "--plot", "d.png", "--quiet")[0] == 0
    assert (tmp_path / "d.png").exists()

"""Runs that cannot be evaluated."""

import pytest

from skfilterrank.metrics import iter_evaluations


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Judgments and a run in the working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n")
    (tmp_path / "good.txt").write_text("1 Q0 a 1 1 x\n")


def test_errors_of_the_library_may_be_yielded(files, capsys):
    found = list(iter_evaluations("qrels.txt", ["good.txt", "nope"], "ap", on_error="yield"))
    assert [each.error is None for each in found] == [True, False]
    assert capsys.readouterr().err == ""
    assert found[1].values is None
    assert found[0].to_frame().to_dict("list") == {"ap": [1.0]}
    assert found[1].to_frame().empty
    assert repr(found[0]) == "<RunEvaluation: good, 1 measure of 1 query>"
    assert repr(found[1]) == "<RunEvaluation: nope: FileNotFoundError>"
    with pytest.raises(FileNotFoundError):
        list(iter_evaluations("qrels.txt", ["good.txt", "nope"], "ap"))
    with pytest.raises(ValueError, match="on_error must be one of 'raise', 'yield', got 'skip'"):
        next(iter_evaluations("qrels.txt", ["good.txt"], "ap", on_error="skip"))
    # Parameters that no run makes right come first.
    for params in ({"missing": "x"}, {"ties": "x"}, {"gains": 3}, {"undefined": "x"}):
        with pytest.raises(ValueError, match=f"{next(iter(params))} must be"):
            next(iter_evaluations("qrels.txt", ["nope"], "ap", on_error="yield", **params))

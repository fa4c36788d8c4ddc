"""Options of ``skfilterrank forecast``."""

import json

import pytest

from skfilterrank.cli.forecast import options as forecast_options
from skfilterrank.judgments import rank_systems
from skfilterrank.judgments._no_judgments.rank_systems import FORECASTS


def test_help_says_what_can_be_chosen(run):
    def said(command):
        _, out, _ = run(command, "--help")
        text = " ".join(out.split())
        return text[text.index("order of documents of equal score") :].partition("(default")[0]

    assert said("forecast") == (
        "order of documents of equal score: docno (by id, descending, as in trec_eval), random "
        "(by chance) "
    )
    assert "random" not in said("evaluate")
    assert "average (mean over all orders), worst (lowest gain first)" in said("evaluate")


def test_the_choices_are_those_of_the_library():
    assert forecast_options.METHODS == FORECASTS


@pytest.mark.slow
def test_options(forecast, runs):
    arguments = ["--method", "soboroff", "--share", 0.5, "--n-trials", 2, "--depth", "all"]
    out, _ = forecast(*arguments, "--format", "json")
    expected = rank_systems(
        runs, "soboroff", share=0.5, n_trials=2, depth=None, random_state=0
    ).reset_index()
    assert [json.loads(line) for line in out.splitlines()] == expected.to_dict("records")
    assert forecast(*arguments)[0] == forecast(*arguments)[0]

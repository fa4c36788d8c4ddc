"""Options of ``skfilterrank rank-filter``."""

from io import StringIO

import pandas as pd
import pytest

from skfilterrank.io import load_model


def test_a_fixed_threshold_has_no_curve_to_draw(train):
    code, out, err = train("--test-data", "test.csv", "--threshold", "0.3", "--plot", "c.png")
    assert (code, out) == (2, "")
    assert "--plot draws how the threshold was tuned, but --threshold fixes it" in err


@pytest.mark.usefixtures("trained_once")
def test_baseline(train):
    code, out, _ = train("--test-data", "test.csv", "--baseline", "filter-all")
    assert code == 0
    assert "nDCG_f against filter-all" in out
    code, out, err = train("--test-data", "test.csv", "--baseline", "mse")
    assert (code, out) == (2, "")
    assert (
        "--baseline 'mse' is not one of the systems: bce, rank-only (bce), filter-only (bce)" in err
    )


@pytest.mark.usefixtures("trained_once")
def test_all_places_count(train):
    code, out, _ = train("--test-data", "test.csv", "--k", "all")
    assert code == 0
    assert "measures at all places" in out
    code, out, _ = train("--test-data", "test.csv", "--k", "all", "--format", "csv")
    assert "ndcg_f" in pd.read_csv(StringIO(out)).columns


@pytest.mark.usefixtures("trained_once")
def test_the_measure_that_is_tuned(train, table):
    code, _, _ = train("--test-data", "test.csv", "-m", "forbidden@2", "--save", "m.skops")
    assert code == 0
    assert load_model("m.skops")["model"].tuned_measure_ == "forbidden@2"
    code, out, _ = train("--test-data", "test.csv", "--measure", "lexirecall", "--save", "m.skops")
    assert (code, "measures at 3 places" in out) == (0, True)
    assert load_model("m.skops")["model"].tuned_measure_ == "lexirecall"
    assert "--measure names 2 measures" in train("-m", "ap,rr")[2]
    assert "--k 3 contradicts the cut-off of 'ap@5'" in train("-m", "ap@5", "--k", "3")[2]


def test_risk_is_that_of_the_library(train, table):
    options = ["--risk", "any_forbidden=0.6", "--confidence", "0.8", "--test-data", "test.csv"]
    code, out, _ = train(*options, "--save", "m.skops")
    assert code == 0
    model = load_model("m.skops")["model"]
    assert (model.threshold, model.risk, model.confidence) == (
        *("risk", {"any_forbidden": 0.6}),
        0.8,
    )
    assert model.risk_certificate_.exact
    assert str(model.risk_certificate_) in out
    assert "With confidence 0.8, the share of queries with a forbidden document" in out


def test_promises_in_expectation(train):
    code, out, _ = train(
        *("--risk", "any_forbidden=0.5,false_reject_rate=0.8", "--guarantee", "expectation"),
        *("--test-data", "test.csv"),
    )
    assert code == 0
    assert "In expectation, the share of queries with a forbidden document" in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--risk", "any_forbidden=0.1", "--threshold", "0.5"], "leave out --threshold or --risk"),
        (["--risk", "any_forbidden=0.01"], "needs at least 230 calibration queries"),
        (["--risk", "nonsense=0.1"], "risk must be one of"),
        (["--models", "bce,nonsense"], "nonsense is not a model; choose from bce"),
    ],
)
def test_bad_promises(train, options, message):
    code, _, err = train("--test-data", "test.csv", *options)
    assert code == 2
    assert message in err
    assert "Traceback" not in err

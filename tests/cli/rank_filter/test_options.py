"""Options of ``skfilterrank rank-filter``."""

from io import StringIO

import pandas as pd
import pytest

from skfilterrank.io import load_model
from skfilterrank.thresholds import CertifiedThreshold

pytestmark = pytest.mark.slow


def test_a_fixed_threshold_has_no_curve_to_draw(train):
    code, out, err = train("--test-data", "test.csv", "--threshold", "0.3", "--plot", "c.png")
    assert (code, out) == (2, "")
    assert "--plot draws the curve that a threshold is searched along" in err
    assert "there is none for --threshold 0.3: leave one out" in err


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
def test_the_measure_that_is_tuned(train):
    code, _, _ = train("--test-data", "test.csv", "-m", "forbidden@2", "--save", "m.skops")
    assert code == 0
    assert load_model("m.skops")["model"].measure_ == "forbidden@2"


@pytest.mark.usefixtures("trained_once")
def test_a_measure_without_a_cut_off_is_tuned_at_all_places(train):
    code, out, _ = train(
        *("--test-data", "test.csv", "--models", "mse"),
        *("--measure", "lexirecall", "--save", "m.skops"),
    )
    assert (code, "measures at 3 places" in out) == (0, True)
    assert load_model("m.skops")["model"].measure_ == "lexirecall"


def test_the_measure_that_is_tuned_is_one_with_one_cut_off(train):
    assert "--measure names 2 measures" in train("-m", "ap,rr")[2]
    assert "--k 3 contradicts the cut-off of 'ap@5'" in train("-m", "ap@5", "--k", "3")[2]


def test_risk_is_that_of_the_library(train, table):
    options = ["--risk", "any_forbidden=0.6", "--confidence", "0.8", "--test-data", "test.csv"]
    code, out, _ = train(*options, "--save", "m.skops")
    assert code == 0
    model = load_model("m.skops")["model"]
    assert isinstance(model.threshold, CertifiedThreshold)
    assert model.threshold.risks == {"any_forbidden@3": 0.6}
    assert model.threshold.confidence_level == 0.8
    assert model.certificate_.exact
    assert str(model.certificate_) in out
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
        (["--risk", "any_forbidden=0.01"], "needs at least 299 calibration queries"),
        (["--risk", "nonsense=0.1"], "--risk must name"),
        (["--models", "bce,nonsense"], "nonsense is not a model; choose from bce"),
    ],
)
def test_bad_promises(train, options, message):
    code, _, err = train("--test-data", "test.csv", *options)
    assert code == 2
    assert message in err
    assert "Traceback" not in err


@pytest.fixture
def four_of_each(folder):
    """Twelve queries of four documents: the first forbidden, the others told by the feature."""
    rows = [
        f"q{query:02},{query}-{place},{label},{label + (query * place) % 3 / 9}"
        for query in range(12)
        for place, label in enumerate((-1, 0, 1, 2))
    ]
    (folder / "four.csv").write_text("\n".join(["qid,docno,label,f", *rows]) + "\n")
    return "four.csv"


@pytest.mark.parametrize(
    ("measure", "threshold", "value"),
    [
        # All is shown: of four documents one is forbidden, and no list is empty.
        ("forbidden@4", "none", "0.250"),
        ("any_forbidden@4", "none", "1.000"),
        ("empty_list_rate", "none", "0.000"),
        # Nothing is shown.
        ("empty_list_rate", "inf", "1.000"),
        ("forbidden@4", "inf", "0.000"),
        # Greater is better: of four documents two have a gain above 0.
        ("precision@4", "none", "0.500"),
    ],
)
def test_the_held_out_value_is_that_of_the_measure(train, four_of_each, measure, threshold, value):
    arguments = ["--models", "mse", "--cv", "2", "-m", measure, "--threshold", threshold]
    code, out, err = train(*arguments, file=four_of_each, gains="0=0,-1=-1,1=1,2=2")
    assert code == 0, err
    assert f"\n* best by cross-validation on four.csv: {value}\n" in out


def test_the_best_model_is_the_one_with_the_lower_value(train, four_of_each):
    """From -0.5 on, bce shows all here, and mse all but the forbidden ones."""
    for models in ("bce,mse", "mse,bce"):
        arguments = ["--models", models, "--cv", "2", "-m", "forbidden@4", "--threshold=-0.5"]
        code, out, err = train(*arguments, file=four_of_each, gains="0=0,-1=-1,1=1,2=2")
        assert code == 0, err
        shown = {line[:3]: line for line in out.splitlines() if line[:3] in ("bce", "mse")}
        assert "25.0" in shown["bce"].split()
        assert shown["mse"].startswith("mse *")
        assert out.endswith("\n* best by cross-validation on four.csv: 0.000\n")

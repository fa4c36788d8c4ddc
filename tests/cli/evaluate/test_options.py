"""Options of ``skfilterrank evaluate``."""

import io

import numpy as np
import pandas as pd
import pytest

from evaluated_runs import GOOD, QRELS, from_csv, means
from skfilterrank.cli.evaluate import options as evaluate_options


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "params"),
    [
        (["--gains=0=-1,1=1,2=3"], {"gains": {0: -1, 1: 1, 2: 3}}),
        (["--gains", "exp2"], {"gains": "exp2"}),
        (["--ties", "average"], {"ties": "average"}),
        (["--ties", "worst"], {"ties": "worst"}),
        (["--ties", "best"], {"ties": "best"}),
        (["--precision", "single"], {"precision": "single"}),
        (["--missing", "drop"], {"missing": "drop"}),
        (["--unjudged", "drop"], {"unjudged": "drop"}),
        (["--undefined", "0.5"], {"undefined": 0.5}),
        (["--n-items", "77"], {"n_items": 77}),
    ],
)
def test_options_reach_the_library(evaluate, files, arguments, params):
    # An unjudged document above a judged one; a topic where nothing is relevant; a tie of which
    # the greater document id is the better one; above it a score that single precision ties.
    (files / "good.txt").write_text(
        GOOD + "1 Q0 d 4 0.4 tag\n2 Q0 B 3 6 tag\n2 Q0 C 4 6.0000000001 tag\n"
    )
    (files / "qrels.txt").write_text(QRELS + "4 0 a 0\n")
    measures = ["ndcg_f@2", "ndcg_f@5", "ndcg_0", "ap@1", "false_reject_rate", "search_length"]
    found = from_csv(evaluate("--format", "csv", *arguments, measures=measures), "run")
    pd.testing.assert_frame_equal(found, means(measures, **params), check_exact=True)
    assert not found.equals(means(measures))


def test_default_measures(evaluate):
    found = from_csv(evaluate("--format", "csv", measures=[]), "run")
    pd.testing.assert_frame_equal(found, means(list(evaluate_options.MEASURES)), check_exact=True)


def test_names_of_measures(run, files, evaluate):
    out = evaluate("-m", "RBP(p=0.5)@2,map", "--format", "csv", measures=["ndcg_cut.5"])
    found = pd.read_csv(io.StringIO(out))
    assert list(found) == ["run", "ndcg_cut.5", "RBP(p=0.5)@2", "map"]
    expected = means(["ndcg_0@5", "rbp(persistence=0.5)@2", "ap"])
    # pandas before 3 reads numbers to the last digit but one.
    np.testing.assert_allclose(found.iloc[:, 1:], expected, rtol=1e-15)
    code, out, err = run("evaluate", "qrels.txt", "good.txt", "-m", "zzz,ap,lexircall,ndcgcut_5")
    assert (code, out) == (2, "")
    assert "'zzz' is not a measure. 'lexircall' is not a measure: did you mean 'lexirec" in err
    assert "'ndcgcut_5' is not a measure: did you mean 'ndcg_cut_5'" in err
    assert "'skfilterrank evaluate --list-measures' prints the names; a cut-off is" in err
    for text, message in {
        "map,ap": "measures names 'ap' twice, as 'map' and 'ap': name each once",
        "ap@x": "the cut-off in 'ap@x' must be a positive whole number",
        "rbp(q=3)": "'q=3' in 'rbp(q=3)' is not an option of 'rbp'",
        ",": "argument -m/--measure: expected at least one name",
    }.items():
        code, out, err = run("evaluate", "qrels.txt", "good.txt", "-m", text)
        assert (code, out) == (2, "")
        assert message in err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nope", "good.txt"], "nope: No such file or directory"),
        (["qrels.txt", "good.txt", "nope", "--format", "csv"], "nope: No such file or directory"),
        (["good.txt", "good.txt"], "good.txt:1: 6 columns where a qrels has 4"),
        (["qrels.txt", "qrels.txt"], "qrels.txt:1: "),
        (["qrels.txt", "good.txt", "good.txt"], "good.txt is given 2 times as a run"),
        (["-", "-"], "standard input (-) can be read once"),
        (["qrels.txt", "other"], "no topic in common"),
        (["qrels.txt", "good.txt", "--sort", "rr"], "--sort 'rr' is not one of the measures"),
        (["qrels.txt", "good.txt", "--sort", "ap", "--per-query"], "--sort orders runs by their"),
        (["qrels.txt", "good.txt", "-m", "lexirecall", "--ties", "average"], "for 'lexirecall'"),
        (["qrels.txt", "good.txt", "-m", "tse", "--n-items", "2"], "--n-items 2 is too small"),
        (["qrels.txt", "good.txt", "--n-items", "0"], "expected a whole number from 1 up"),
        (["qrels.txt", "good.txt", "--undefined", "x"], "expected a number or drop, got 'x'"),
        (["qrels.txt", "good.txt", "--undefined", "nan"], "expected a number, got 'nan'"),
        (["qrels.txt", "good.txt", "--unjudged-label", "x"], "expected a number, got 'x'"),
        (["qrels.txt", "good.txt", "--jobs", "0"], "expected a number of processes or -1"),
        (["qrels.txt", "good.txt", "--quiet", "--verbose"], "not allowed with argument"),
        (["qrels.txt"], "the following arguments are required: RUN"),
    ],
)
def test_errors(run, files, arguments, message):
    (files / "other").write_text("77 Q0 a 1 1 other\n")
    code, out, err = run("evaluate", *arguments, "-m", "ap")
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1

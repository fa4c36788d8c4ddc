"""Options of ``skfilterrank threshold``."""

import pytest

# Labels below 0 are told of, as they may mean something else.
pytestmark = pytest.mark.filterwarnings("always::skfilterrank.exceptions.DataWarning")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--risk", "any_forbidden"), "expected RATE=LEVEL"),
        (("--risk", "any_forbidden=2"), r"must be a number between 0 and 1"),
        (("--risk", "ndcg=0.1"), "--risk must name"),
        (("--risk", "any_forbidden=0.1", "--threshold", "none"), "leave out --threshold or --risk"),
        (("-m", "ap,rr"), "thresholds are tuned by one"),
        (("--risk", "any_forbidden=0.001"), "needs at least"),
        (("--save", "nowhere/filter.json"), "there is no folder nowhere"),
        (("--save", "run.txt"), "is the same file as RUN run.txt"),
    ],
)
def test_bad_input(run, data, arguments, message):
    code, _, err = run("threshold", "qrels.txt", "run.txt", *arguments)
    assert code == 2
    assert message in err


GAINS = "--gains=-1=-1,0=0,1=1,2=2"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--threshold", "gap"], "expected tune, auto"),
        (["--abstain", "gap"], "invalid choice: 'gap'"),
        (["--max-shown", "0"], "a whole number from 1 up"),
        (["--min-shown", "2", "--max-shown", "1"], "--min-shown must be at most --max-shown"),
        (["--min-shown", "2", "--risk", "any_forbidden=0.4"], "can promise nothing"),
    ],
)
def test_bad_cuts(run, data, arguments, message):
    code, _, err = run("threshold", "qrels.txt", "run.txt", GAINS, *arguments)
    assert code != 0
    assert message in err

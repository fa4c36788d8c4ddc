"""docs/adding_a_measure.md, done to the letter in a copy of the package."""

import doctest
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import skfilterrank.metrics
from skfilterrank.metrics import evaluate, ndcg_score, register_measure
from skfilterrank.thresholds import threshold_curve

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/adding_a_measure.md").read_text(encoding="utf-8")
OWN, LIBRARY = (
    re.findall(r"```python\n(.*?)```", part, re.DOTALL)
    for part in PAGE.split("## To the library", 1)
)
PATHS = ("skfilterrank/metrics/_inverse_squares.py", "tests/metrics/test_inverse_squares.py")

WHEREVER_A_MEASURE_IS_NAMED = """
import pickle, runpy, sys
import numpy as np
from sklearn.linear_model import LogisticRegression
from skfilterrank.metrics import evaluate, insq_score, make_ranking_scorer
from skfilterrank.ranking import CoordinateAscentRanker, RankAndFilter
from skfilterrank.metaevaluation import recall_level_metric
from skfilterrank.thresholds import threshold_curve

rng = np.random.default_rng(0)
X, groups = rng.normal(size=(200, 2)), np.repeat(np.arange(20), 10)
y = np.sign(np.round(X[:, 0] + 0.1 * rng.normal(size=200)))
value = insq_score(y, X[:, 0], groups=groups, k=5)
table = evaluate(y, X[:, 0], ["insq@5", insq_score, "insq(target=2)"], groups=groups).per_query
assert table["insq@5"].mean() == value and list(table) == ["insq@5", "insq", "insq(target=2)"]

model = LogisticRegression().fit(X, y > 0)
scorer = pickle.loads(pickle.dumps(make_ranking_scorer(insq_score, k=5)))
expected = make_ranking_scorer("insq@5")(model, X, y, groups=groups)
assert scorer(model, X, y, groups=groups) == expected

curve = threshold_curve(y, X[:, 0], groups=groups, measure="insq@5")
for threshold, known in zip(curve.thresholds[::20], curve.values[::20]):
    shown = np.where(X[:, 0] >= threshold, X[:, 0], -np.inf)
    assert abs(insq_score(y, shown, groups=groups, k=5) - known) < 1e-12

{rank_and_filter}
assert fitted.predict(X).shape == (200,)
ranker = CoordinateAscentRanker(measure="insq", random_state=0).fit(X, y, groups=groups)
assert insq_score(y, ranker.predict(X), groups=groups) >= insq_score(y, X[:, 1], groups=groups)
assert recall_level_metric([1, 3], "insq(target=1)") == insq_score(
    [1, 0, 1], [3, 2, 1], groups=["q"] * 3
)

sys.path.insert(0, "docs")
maker = runpy.run_path("docs/make_pages.py")
pages = maker["pages"]()
assert "| `insq@k` |" in pages["docs/measures.md"]
assert "* `target` (float, default=1.0)" in maker["measures"].page("insq")
assert "insq_score" in pages["docs/api.md"]
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the package with the two files of the page, and its entry on the API page."""
    folder = tmp_path_factory.mktemp("copy")
    for part in ("skfilterrank", "docs"):
        ignored = shutil.ignore_patterns("__pycache__", "_build")
        shutil.copytree(ROOT / part, folder / part, ignore=ignored)
    for path, block in zip(PATHS, LIBRARY, strict=True):
        assert path in PAGE
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(block, encoding="utf-8")
    (line,) = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    with open(folder / "skfilterrank/metrics/__init__.py", "a", encoding="utf-8") as file:
        file.write(f"{line}__all__.append('insq_score')\n")
    with open(folder / "docs/api_groups.toml", "a", encoding="utf-8") as file:
        file.write('["Measures of patience"]\nmetrics = ["insq_score"]\n')
    return folder


def run_in(folder, *arguments):
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def test_the_measure_of_the_page_in_this_process(measure_table, monkeypatch):
    """What the copy of the package is asked at night: the test, the example, the name in tables."""
    code, tests = ({"__name__": f"page_{number}"} for number in range(2))
    exec(compile(LIBRARY[0], PATHS[0], "exec"), code)
    monkeypatch.setattr(skfilterrank.metrics, "insq_score", code["insq_score"], raising=False)
    exec(compile(LIBRARY[1], PATHS[1], "exec"), tests)
    found = [name for name in tests if name.startswith("test_")]
    assert found == ["test_by_hand", "test_target"]
    for name in found:
        tests[name]()
    example = doctest.DocTestFinder().find(code["_insq"], "insq_score", globs={})
    assert [doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(each) for each in example] == [
        (0, 2)
    ]
    y_true, y_score, groups = [1, -1, 1, 0], [3.0, 2.0, 1.0, 0.5], ["q"] * 4
    values = evaluate(y_true, y_score, ["insq@1", "insq(target=2)"], groups=groups).per_query
    expected = [code["insq_score"](y_true, y_score, groups=groups, **o) for o in (
        {"k": 1}, {"target": 2})]  # fmt: skip
    assert values.iloc[0].tolist() == expected
    curve = threshold_curve(y_true, y_score, groups=groups, measure="insq")
    assert curve.values[-1] == code["insq_score"](y_true, y_score, groups=groups)


@pytest.mark.nightly
def test_the_test_of_the_page_and_the_example_pass(copy):
    flags = [
        "-q",
        "-p",
        "no:cacheprovider",
        "--doctest-modules",
        "-o",
        "doctest_optionflags=ELLIPSIS",
    ]
    assert "3 passed" in run_in(copy, "-m", "pytest", *flags, *PATHS)


@pytest.mark.nightly
def test_the_measure_works_wherever_measures_are_named(copy):
    fit = "fitted = RankAndFilter(LogisticRegression(), measure='insq').fit(X, y, groups=groups)"
    run_in(copy, "-c", WHEREVER_A_MEASURE_IS_NAMED.format(rank_and_filter=fit))


# Of the threshold below 0.9, gains are 2 and 0; of all, 2 - 1 / 2 and -1 + 1 / 2.
OF_PATIENT_GAIN = """
from skfilterrank.thresholds import threshold_curve

curve = threshold_curve(y_true, y_score, groups=groups, measure="patient_gain(patience=0.5)")
assert 0.8 < curve.best_threshold < 0.9 and curve.best_value == 1, curve
assert curve.values[-1] == 0.5, curve
"""


@pytest.mark.slow
def test_functions_of_ones_own(tmp_path, measure_table, capsys):
    script = tmp_path / "script.py"
    script.write_text("".join([*OWN, OF_PATIENT_GAIN]), encoding="utf-8")
    runpy.run_path(str(script), run_name="__main__")
    printed = capsys.readouterr().out
    # The forbidden document is the second of query a, and the first of b. Of 4 pairs of a relevant
    # and another document, 3 are in order: auc is 0.75.
    assert [line.split() for line in printed.splitlines()] == [
        ["first_harm", "first_harm@1"],
        ["qid"],
        ["a", "0.5", "0.0"],
        ["b", "1.0", "1.0"],
        ["0.75"],
        ["patient_gain", "patient_gain(patience=0.5)@1"],
        ["qid"],
        ["a", "1.1", "2.0"],
        ["b", "-0.1", "-1.0"],
    ]


class TestAFunctionOfOnesOwn:
    def test_gets_the_list_and_the_pool(self, measure_table):
        seen = []

        def seen_by(y_true, y_score, k, pool, *, least=0):
            seen.append((y_true[:k].tolist(), pool.tolist(), least))
            return np.nan if least > 1 else 1

        seen_score = register_measure("seen", seen_by)
        nan, hidden = float("nan"), float("-inf")
        y_true, y_score = [1, nan, -1, 2, 3], [4, 3, 2, 1, hidden]
        assert seen_score(y_true, y_score, groups=["q"] * 5) == 1
        assert seen_score(y_true, y_score, groups=["q"] * 5, k=2, least=2, undefined=7) == 7
        assert seen_score([nan], [hidden], groups=["q"], unjudged="drop") == 1
        pool = [3, 2, 1, -1]
        assert seen == [([1, 0, -1, 2], pool, 0), ([1, 0], pool, 2), ([], [], 0)]

    def test_may_be_defined_once_more_in_the_same_place(self, measure_table):
        for _ in range(2):

            def again(block):
                return np.zeros(len(block.sizes))

            register_measure("again", again)


def test_a_measure_is_no_function_of_a_block():
    with pytest.raises(ValueError, match="is a measure already"):
        register_measure("twice", ndcg_score)

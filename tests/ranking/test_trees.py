"""Methods of boosted trees: LambdaMART, ListNet, RankNet."""

import importlib
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from skfilterrank.exceptions import MissingPackageError
from skfilterrank.ranking import make_ranker
from small_methods import make

TREES = ("listnet", "ranknet", "lambdamart")


@pytest.mark.parametrize("name", TREES)
class TestTrees:
    @pytest.mark.slow
    def test_only_the_order_of_gains_counts(self, rows, fitted, name):
        plain = fitted(name).predict(rows.X)
        gains = {-1: 0.0, 1: 10.0, 2: 10.5}
        other = make(name, gains=gains).fit(rows.X, rows.y, groups=rows.groups).predict(rows.X)
        np.testing.assert_array_equal(plain, other)


def test_ranknet_learns_from_every_pair():
    # 40 documents of grade 0, 20 of grade 1, 20 of grade 2; one tree, from scores of 0. Each pair
    # pulls its better document up and its worse one down by 1/2, with second derivative 1/4, which
    # XGBoost counts twice. A leaf is the sum of the pulls over the sum of the second derivatives:
    # grade 0 has 40 better ones, grade 1 has 40 worse and 20 better, grade 2 has 60 worse ones.
    grade_0 = -40 / 2 / (40 * 2 / 4)
    grade_1 = (40 - 20) / 2 / (60 * 2 / 4)
    grade_2 = 60 / 2 / (60 * 2 / 4)
    y = np.repeat([0, 1, 2], [40, 20, 20])
    one_tree = {
        "n_estimators": 1,
        "max_depth": 3,
        "reg_lambda": 0.0,
        "min_child_weight": 0.0,
        "learning_rate": 1.0,
        "base_score": 0.0,
    }
    scores = (
        make_ranker("ranknet", **one_tree)
        .fit(y[:, None], y, groups=np.zeros(80))
        .predict([[0], [1], [2]])
    )
    np.testing.assert_allclose(scores, [grade_0, grade_1, grade_2], rtol=1e-5)
    # XGBoost's own default leaves out the pairs of which no document is among the first 32.
    cut = make_ranker("ranknet", **one_tree, lambdarank_num_pair_per_sample=32)
    _, score_1, score_2 = cut.fit(y[:, None], y, groups=np.zeros(80)).predict([[0], [1], [2]])
    assert score_1 == score_2


@pytest.mark.parametrize(
    ("package", "maker", "message"),
    [
        (
            "lightgbm",
            lambda: make_ranker("lambdamart"),
            "lambdarank needs lightgbm, which is not installed: pip install lightgbm",
        ),
        (
            "lightgbm",
            lambda: make_ranker("bce", learner="trees"),
            "learner='trees' needs lightgbm, which is not installed: pip install lightgbm",
        ),
        (
            "xgboost",
            lambda: make_ranker("ranknet"),
            r"ranknet.*xgboost.*pip install 'skfilterrank\[xgboost\]'",
        ),
    ],
)
def test_package_that_is_not_installed(monkeypatch, package, maker, message):
    def import_module(name):
        assert name == package
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(importlib, "import_module", import_module)
    with pytest.raises(ImportError, match=message):
        maker()


def test_extras_that_messages_name_exist():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert {"xgboost", "catboost"} <= set(project["optional-dependencies"])


@pytest.mark.parametrize(
    ("raised", "kind", "message"),
    [
        (
            OSError("Library not loaded: @rpath/libomp.dylib"),
            MissingPackageError,
            "LightGBM's lambdarank needs lightgbm, which cannot be loaded: Library not loaded: "
            "@rpath/libomp.dylib. .*brew install libomp",
        ),
        (
            ModuleNotFoundError("No module named 'scipy'", name="scipy"),
            ModuleNotFoundError,
            "scipy",
        ),
    ],
)
def test_a_broken_package_is_not_called_missing(monkeypatch, raised, kind, message):
    def import_module(name):
        raise raised

    monkeypatch.setattr(importlib, "import_module", import_module)
    with pytest.raises(kind, match=message):
        make_ranker("lambdamart")


def test_ranknet_s_second_tree_by_hand():
    # After the first tree (above) the scores are -1, 1/3 and 1. A pair of distance d pulls by
    # p = 1 / (1 + exp(d)), with second derivative p * (1 - p), which XGBoost counts twice. Pairs
    # far apart count as much as others: no pull is divided by the distance.
    p01, p02, p12 = (1 / (1 + np.exp(d)) for d in (4 / 3, 2, 2 / 3))
    h01, h02, h12 = (p * (1 - p) for p in (p01, p02, p12))
    steps = [
        -(20 * p01 + 20 * p02) / (2 * (20 * h01 + 20 * h02)),
        (40 * p01 - 20 * p12) / (2 * (40 * h01 + 20 * h12)),
        (40 * p02 + 20 * p12) / (2 * (40 * h02 + 20 * h12)),
    ]
    y = np.repeat([0, 1, 2], [40, 20, 20])
    ranker = make_ranker(
        "ranknet",
        n_estimators=2,
        max_depth=3,
        reg_lambda=0.0,
        min_child_weight=0.0,
        learning_rate=1.0,
        base_score=0.0,
    ).fit(y[:, None], y, groups=np.zeros(80))
    expected = np.array([-1, 1 / 3, 1]) + steps
    np.testing.assert_allclose(ranker.predict([[0], [1], [2]]), expected, rtol=1e-5)


def test_losses_by_the_names_of_the_libraries():
    assert make_ranker("lambdamart").estimator.objective == "lambdarank"
    assert make_ranker("listnet").estimator.objective == "rank_xendcg"
    for name in ("lambdamart", "listnet"):
        ranker = make_ranker(name, random_state=0)
        assert (
            ranker.estimator.get_params().items()
            >= {
                "deterministic": True,
                "force_row_wise": True,
                "random_state": 0,
                "n_jobs": 1,
            }.items()
        )


@pytest.mark.nightly
def test_lightgbm_is_imported_where_it_is_used():
    code = (
        "import sys\n"
        "sys.modules['lightgbm'] = None\n"
        "import skfilterrank.ranking as ranking\n"
        "from skfilterrank.exceptions import MissingPackageError\n"
        "for name in ranking.__all__: getattr(ranking, name)\n"
        "for make in (lambda: ranking.make_ranker('lambdamart'),\n"
        "             lambda: ranking.LambdaRankRanker().fit([[1.0], [2.0]], [0, 1], [1, 1])):\n"
        "    try: make()\n"
        "    except MissingPackageError as error: print(error)\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    lines = found.stdout.splitlines()
    assert len(lines) == 2
    assert all("pip install lightgbm" in line for line in lines), lines

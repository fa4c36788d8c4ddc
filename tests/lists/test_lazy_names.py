"""Imports of names that are not there say where something like them is."""

import importlib
import importlib.util
import pickle
import sys

import pytest
from scipy.special import expit

import skfilterrank.io
import skfilterrank.metrics
from skfilterrank._lists.lazy_names import PARTS, SYNONYMS, ModuleHints


@pytest.mark.parametrize(
    ("part", "name", "near"),
    [
        ("io", "evaluate", "skfilterrank.metrics.evaluate_runs"),
        ("metrics", "make_scorer", "skfilterrank.metrics.make_ranking_scorer"),
        ("datasets", "load_letor", "skfilterrank.io.read_letor"),
        ("comparison", "compare_runs", "skfilterrank.comparison.compare_systems"),
        ("ranking", "RanksFusion", "skfilterrank.ranking.RankFusion"),
        ("", "RankFilter", "skfilterrank.ranking.RankAndFilter"),
        ("", "fusion", "skfilterrank.ranking.RankFusion"),
        ("metrics", "mrr_score", "skfilterrank.metrics.reciprocal_rank_score"),
        ("metrics", "precision_score", "skfilterrank.metrics.precision_at_k_score"),
        ("metrics", "hit_rate", "skfilterrank.metrics.success_at_k_score"),
        ("metrics", "map_score", "skfilterrank.metrics.average_precision_score"),
        ("metrics", "ndcg", "skfilterrank.metrics.ndcg_score"),
        ("metrics", "P", "skfilterrank.metrics.precision_at_k_score"),
        ("metrics", "RelevanceEvaluator", "skfilterrank.metrics.evaluate_runs"),
        ("metrics", "kendall_tau", "skfilterrank.comparison.kendall_tau"),
        ("datasets", "load_trec_dl2019", "skfilterrank.datasets.fetch_trec_qrels"),
        ("datasets", "load_trec_covid", "skfilterrank.datasets.fetch_trec_covid"),
        ("ranking", "TimeSeriesSplit", "skfilterrank.ranking.QueryTimeSeriesSplit"),
        ("", "read_trec_qrels", "skfilterrank.io.read_qrels"),
        ("", "XGBRanker", "skfilterrank.ranking.QueryRanker"),
    ],
)
def test_names_that_stand_elsewhere(part, name, near):
    source = f"skfilterrank.{part}".rstrip(".")
    with pytest.raises(ImportError, match=f"cannot import name '{name}' from '{source}'") as error:
        exec(f"from {source} import {name}")
    assert near in str(error.value).partition("Did you mean ")[2].rstrip("?").split(", ")


@pytest.mark.parametrize(
    ("module", "near"),
    [
        ("fusion", "skfilterrank.ranking.RankFusion"),
        ("thresholding", "skfilterrank.thresholds"),
        ("evaluation", "skfilterrank.metrics"),
        ("measures", "skfilterrank.metrics"),
        ("models", "skfilterrank.ranking"),
        ("ploting", "skfilterrank.plot"),
    ],
)
def test_modules_that_are_guessed(module, near):
    said = rf"^No module named 'skfilterrank\.{module}'\. Did you mean {near}\?$"
    for statement in (
        f"from skfilterrank.{module} import anything",
        f"import skfilterrank.{module}",
    ):
        with pytest.raises(ModuleNotFoundError, match=said) as error:
            exec(statement)
        assert error.value.name == f"skfilterrank.{module}"


def test_modules_like_no_other():
    with pytest.raises(
        ModuleNotFoundError, match=r"'skfilterrank.qqq'. The modules are comparison,"
    ):
        exec("import skfilterrank.qqq")


@pytest.mark.parametrize("module", ["skfilterrank._qqq", "skfilterrank.io.fusion", "qqq"])
def test_other_modules_are_pythons_affair(module):
    with pytest.raises(ModuleNotFoundError, match=rf"^No module named '{module}'$"):
        exec(f"import {module}")


def test_whoever_asks_for_a_module_gets_none():
    assert importlib.util.find_spec("skfilterrank.fusion") is None
    assert sys.meta_path.count(ModuleHints) == 1
    importlib.reload(skfilterrank)
    assert sys.meta_path.count(ModuleHints) == 1


@pytest.mark.parametrize(
    ("part", "name", "where"),
    [
        ("io", "qqq", "See dir(skfilterrank.io)."),
        ("datasets", "load_iris", "Its names are fetch_cranfield, fetch_semeval_cqa, fetch_trec_c"),
        ("datasets", "load_msmarco", "Its names are fetch_cranfield"),
        ("datasets", "get_data_home", "in the folder data_home= of skfilterrank.datasets.fetch_tr"),
        ("ranking", "cross_val_score", "Use scikit-learn's own"),
        ("thresholds", "labels_needed", "skfilterrank.thresholds.queries_needed says how many que"),
    ],
)
def test_names_like_no_other(part, name, where):
    with pytest.raises(ImportError, match=f"cannot import name '{name}'") as error:
        exec(f"from skfilterrank.{part} import {name}")
    assert where in str(error.value)
    with pytest.raises(AttributeError) as error:
        getattr(importlib.import_module(f"skfilterrank.{part}"), name)
    assert where in str(error.value)


@pytest.mark.parametrize(
    ("module", "said"),
    [
        ("selection", "Splits of queries are in skfilterrank.ranking, and selectors of documents"),
        ("inspection", "Use scikit-learn's own"),
        ("evaluate", r"Did you mean skfilterrank.metrics.evaluate_runs\?"),
    ],
)
def test_modules_of_other_libraries(module, said):
    with pytest.raises(ModuleNotFoundError, match=said):
        exec(f"import skfilterrank.{module}")


def test_parts_are_imported_from_the_package():
    exec("from skfilterrank import cli, io, metrics, exceptions")
    with pytest.raises(ImportError, match="cannot import name 'no_such_part'"):
        exec("from skfilterrank import no_such_part")


def test_whoever_asks_is_answered():
    for part in (skfilterrank, skfilterrank.io, skfilterrank.metrics):
        assert not hasattr(part, "load_letor")
        assert not hasattr(part, "__wrapped__")
    with pytest.raises(AttributeError, match=r"module 'skfilterrank.io' has no attribute 'load_l"):
        skfilterrank.io.load_letor  # noqa: B018
    # Of a function without a module, pickle asks every module for its name.
    assert pickle.loads(pickle.dumps(expit)) is expit
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("skfilterrank.no_such_part")


@pytest.mark.parametrize("place", sorted(set(SYNONYMS.values())))
def test_every_suggestion_exists(place):
    room, _, name = place.partition(".")
    module = importlib.import_module(f"skfilterrank.{room}")
    assert not name or name in module.__all__


def test_synonyms_are_written_as_they_are_looked_up():
    for name in SYNONYMS:
        assert name == name.lower().replace("_", "")
        assert not name.endswith("score")


@pytest.mark.parametrize(
    ("part", "place"),
    [
        (".ranking", "metrics.rank_filter_report"),
        (".ranking", "thresholds.CertifiedThreshold"),
        ("", "thresholds.RiskMonitor"),
    ],
)
def test_the_same_name_in_another_room_is_the_only_suggestion(part, place):
    name = place.partition(".")[2]
    with pytest.raises(ImportError, match=rf"Did you mean skfilterrank\.{place}\?$"):
        exec(f"from skfilterrank{part} import {name}")


def test_attributes_suggest_synonyms():
    with pytest.raises(AttributeError, match=r"Did you mean .*reciprocal_rank_score"):
        skfilterrank.metrics.mrr_score  # noqa: B018
    with pytest.raises(AttributeError, match=r"Did you mean skfilterrank.metrics.ndcg_score\?"):
        skfilterrank.metrics.ndcg  # noqa: B018
    assert not hasattr(skfilterrank.metrics, "mrr_score")


@pytest.mark.parametrize("name", sorted({*skfilterrank.__all__} - {"__version__"}))
def test_names_at_the_top_are_those_of_their_rooms(name):
    thing = getattr(skfilterrank, name)
    assert name in dir(skfilterrank)
    homes = [vars(importlib.import_module(f"skfilterrank.{part}")).get(name) for part in PARTS]
    assert any(home is thing for home in homes)

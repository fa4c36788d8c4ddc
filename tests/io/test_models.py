import copy
import io
import json
import os
import subprocess
import sys
import types
import warnings
import zipfile
from typing import NamedTuple

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import sklearn
from catboost import CatBoostClassifier, CatBoostRanker, CatBoostRegressor
from sklearn.base import BaseEstimator
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import Birch
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from xgboost import XGBRanker

import skfilterrank
import skfilterrank.metrics
from all_estimators import CASES, DATA, asked
from skfilterrank._lists.measure import MEASURES
from skfilterrank.exceptions import FileFormatError, InputError, SkfilterrankWarning
from skfilterrank.io import load_model, save_model
from skfilterrank.judgments._selector import QuerySelector
from skfilterrank.metrics import make_ranking_scorer, register_measure
from skfilterrank.ranking import (
    LOSSES,
    METHODS,
    QueryRanker,
    RankAndFilter,
    catboost_metric,
    make_ranker,
    xgboost_early_stopping,
)

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 4))
y = (X[:, 0] + rng.normal(size=80) > 0).astype(int)
GROUPS = np.arange(80) // 20
TEXTS = ["good words", "bad words", "more good", "more bad"] * 5
LABELS = [1, 0, 1, 0] * 5
LGBM = {"n_estimators": 5, "n_jobs": 1, "verbose": -1, "min_child_samples": 5}


class Stranger(BaseEstimator):
    """An estimator that load_model does not know."""

    def predict(self, X):
        return np.zeros(len(X))


def lgbm_ranker():
    """A ranker with everything that early stopping leaves behind."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # LightGBM's own, of names it is not given
        sizes = np.full(4, 20)  # of lists LightGBM 4.3 wants copies, which numpy 2 does not make
        return lgb.LGBMRanker(**LGBM).fit(
            X, y, group=sizes, eval_set=[(X, y)], eval_group=[sizes], eval_at=[3]
        )


MODELS = {
    "text pipeline": lambda: make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(
        TEXTS, LABELS
    ),
    "LGBMClassifier": lambda: lgb.LGBMClassifier(**LGBM).fit(X, y),
    "LGBMRegressor": lambda: lgb.LGBMRegressor(**LGBM).fit(X, y),
    "LGBMRanker": lgbm_ranker,
    "calibrated": lambda: CalibratedClassifierCV(LogisticRegression(), cv=3).fit(X, y),
    "isotonic": lambda: CalibratedClassifierCV(LogisticRegression(), method="isotonic", cv=3).fit(
        X, y
    ),
    "grid search": lambda: GridSearchCV(
        LogisticRegression(), {"C": [0.1, 1]}, cv=GroupKFold(4), scoring="roc_auc"
    ),
    "grid search by measures": lambda: GridSearchCV(
        QueryRanker(Ridge()),
        {"estimator__alpha": [0.1, 1]},
        cv=GroupKFold(4),
        scoring=make_ranking_scorer(
            ["ndcg_f@3", "ap(rel=1)", "ndcg(like=lightgbm)@2", "rbp(persistence=0.9)"]
        ),
        refit="ndcg_f@3",
    ).fit(X, pd.Series(y, pd.Index(GROUPS, name="qid")), groups=GROUPS),
    "stopped by a measure, XGBoost": lambda: QueryRanker(
        XGBRanker(
            n_estimators=9,
            callbacks=[xgboost_early_stopping("ap", X, y, groups=GROUPS, early_stopping_rounds=2)],
        )
    ).fit(X, y, groups=GROUPS),
    "stopped by a measure, CatBoost": lambda: QueryRanker(
        CatBoostRanker(iterations=3, verbose=0, eval_metric=catboost_metric("ap", y, groups=GROUPS))
    ).fit(X, y, groups=GROUPS, eval_set=[(X, y)], eval_groups=[GROUPS]),
    "grid search, fitted": lambda: GridSearchCV(
        LogisticRegression(), {"C": [0.1, 1]}, cv=GroupKFold(4)
    ).fit(X, y, groups=GROUPS),
}


@pytest.fixture(scope="module", autouse=True)
def _skops(tmp_path_factory):
    """Models are written by skops, for which all of scikit-learn is imported."""
    save_model(Ridge(), tmp_path_factory.mktemp("first") / "m.skops")


def test_a_measure_that_is_not_registered(tmp_path):
    @register_measure("saved_share", greater_is_better=True, value_range=(0, 1))
    def saved_share(block, k):
        return block.ranked_relevant(1)[:, 0]

    scorer = make_ranking_scorer("saved_share")
    save_model(scorer, tmp_path / "scorer.skops")
    assert repr(load_model(tmp_path / "scorer.skops")) == repr(scorer)
    del MEASURES["saved_share"]
    with pytest.raises(InputError, match="'saved_share' is not known here: run what registers it"):
        load_model(tmp_path / "scorer.skops")


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_round_trip(tmp_path, name):
    model = MODELS[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        save_model(model, tmp_path / "model.skops")
    loaded = load_model(str(tmp_path / "model.skops"))
    assert type(loaded) is type(model)
    if name == "grid search":
        assert repr(loaded) == repr(model)
        return
    data = TEXTS if name == "text pipeline" else X
    np.testing.assert_array_equal(loaded.predict(data), model.predict(data))
    if hasattr(model, "predict_proba"):
        np.testing.assert_array_equal(loaded.predict_proba(data), model.predict_proba(data))


@pytest.mark.slow
@pytest.mark.parametrize("estimator", [LogisticRegression(), lgb.LGBMRanker(**LGBM)])
def test_rank_and_filter(tmp_path, estimator):
    y_true = 2 * y - 1
    model = RankAndFilter(estimator, measure="ndcg_f@3", cv=GroupKFold(2)).fit(
        X, y_true, groups=GROUPS
    )
    save_model(model, tmp_path / "m.skops")
    loaded = load_model(tmp_path / "m.skops")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.threshold_ == model.threshold_
    assert loaded.score(X, y_true, groups=GROUPS) == model.score(X, y_true, groups=GROUPS)


def test_version_is_in_the_file(tmp_path):
    save_model(LogisticRegression(), tmp_path / "m.skops")
    import skops.io  # imports all of scikit-learn

    content = skops.io.load(tmp_path / "m.skops")
    assert content["format"] == "skfilterrank-model"
    assert content["version"] == skfilterrank.__version__


def test_own_classes_and_measures(tmp_path, monkeypatch):
    """Classes of our packages load as data; their functions only where they are measures."""
    module = types.ModuleType("skfilterrank.ranking._invented")

    class Invented(BaseEstimator):
        def __init__(self, estimator=None):
            self.estimator = estimator

    class Point(NamedTuple):
        x: float

    def helper(text):
        raise AssertionError("called")

    for item in (Invented, Point, helper):
        item.__module__, item.__qualname__ = module.__name__, item.__name__
        setattr(module, item.__name__, item)
    monkeypatch.setitem(sys.modules, module.__name__, module)

    model = Invented(LogisticRegression())
    model.curve_ = Point(0.5)
    model.measure_ = skfilterrank.metrics.ndcg_f_score
    save_model(model, tmp_path / "m.skops")
    loaded = load_model(tmp_path / "m.skops")
    assert isinstance(loaded, Invented)
    assert loaded.curve_ == Point(0.5)
    assert loaded.measure_ == skfilterrank.metrics.ndcg_f_score

    model.measure_ = helper
    with pytest.warns(UserWarning, match=r"trusted=\['skfilterrank.ranking._invented.helper'\]"):
        save_model(model, tmp_path / "m.skops")
    with pytest.raises(
        ValueError, match=r"not trusted: skfilterrank\.ranking\._invented\.helper\."
    ):
        load_model(tmp_path / "m.skops")


def test_what_our_modules_import_is_not_ours(tmp_path, monkeypatch):
    module = types.ModuleType("skfilterrank.ranking._invented")
    module.Popen = subprocess.Popen
    monkeypatch.setitem(sys.modules, module.__name__, module)
    crafted(tmp_path / "m", node("ObjectNode", "skfilterrank.ranking._invented.Popen"))
    with pytest.raises(ValueError, match=r"not trusted: skfilterrank\.ranking\._invented\.Popen"):
        load_model(tmp_path / "m")


def test_unknown_class_is_refused_until_trusted(tmp_path):
    path = tmp_path / "m.skops"
    name = f"{Stranger.__module__}.Stranger"
    model = make_pipeline(FunctionTransformer(), Stranger())
    with pytest.warns(UserWarning, match=r"only with trusted=\['.*\.Stranger'\]"):
        save_model(model, path)
    with pytest.raises(ValueError, match=r"m\.skops holds types that are not trusted") as error:
        load_model(path)
    assert f"pass trusted=['{name}']" in str(error.value)
    assert not isinstance(error.value, FileFormatError)
    for trusted in ([name], [Stranger]):
        assert isinstance(load_model(path, trusted=trusted)[-1], Stranger)


def going_round():
    """An estimator that holds itself."""
    model = LogisticRegression()
    model.itself = model
    return model


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression().fit(X, y),
        RankAndFilter(lgb.LGBMRanker(**LGBM), measure="ndcg_f@3", cv=2).fit(
            X, 2 * y - 1, groups=GROUPS
        ),
        GridSearchCV(LogisticRegression(), {"C": [0.1]}, cv=2).fit(X, y),
    ],
    ids=["LogisticRegression", "RankAndFilter", "GridSearchCV"],
)
def test_requests_are_saved_too(tmp_path, model):
    with sklearn.config_context(enable_metadata_routing=True):
        for each in (model, getattr(model, "estimator", None)):
            if isinstance(each, RankAndFilter):
                each.set_fit_request(groups="qid")
            elif hasattr(each, "set_fit_request"):
                each.set_fit_request(sample_weight="weight")
        save_model(model, tmp_path / "m.skops")
        loaded = load_model(tmp_path / "m.skops")
        assert repr(loaded.get_metadata_routing()) == repr(model.get_metadata_routing())
        assert "weight" in repr(loaded.get_metadata_routing())
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


@pytest.mark.slow
@pytest.mark.parametrize("package", ["skfilterrank", "sklearn", "lightgbm"])
def test_another_version_is_said(tmp_path, package, monkeypatch):
    model = RankAndFilter(
        make_pipeline(StandardScaler(), lgb.LGBMRanker(**LGBM)), threshold=None
    ).fit(X, y, groups=GROUPS)
    save_model(model, tmp_path / "m.skops")
    monkeypatch.setattr(sys.modules[package], "__version__", "99.1")
    name = {"sklearn": "scikit-learn", "lightgbm": "LightGBM"}.get(package, package)
    message = (
        rf"m\.skops was saved with {name} \d+\.\d.*, and is loaded with {name} 99\.1: its pred"
    )
    with pytest.warns(SkfilterrankWarning, match=message) as caught:
        load_model(tmp_path / "m.skops")
    assert len(caught) == 1
    # What a model is not made of may have any version.
    monkeypatch.undo()
    save_model(LogisticRegression().fit(X, y), tmp_path / "m.skops")
    monkeypatch.setattr(lgb, "__version__", "99.1")
    load_model(tmp_path / "m.skops")


# A blend holds a linear model and trees.


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_rankers_by_name(tmp_path, name):
    """All load as they are."""
    ranker = make_ranker(name)
    short = [key for key in ranker.get_params() if key.endswith("n_estimators")]
    ranker.set_params(**dict.fromkeys(short, 3)).fit(X, 2 * y - 1, groups=GROUPS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        save_model(ranker, tmp_path / "m.skops")
    loaded = load_model(tmp_path / "m.skops")
    np.testing.assert_array_equal(loaded.predict(X), ranker.predict(X))


@pytest.mark.slow
@pytest.mark.parametrize("inner", [CatBoostRanker, CatBoostClassifier, CatBoostRegressor])
def test_catboost(tmp_path, inner):
    model = QueryRanker(inner(iterations=3, verbose=0, allow_writing_files=False))
    save_model(model.fit(X, y, groups=GROUPS), tmp_path / "m.skops")
    np.testing.assert_array_equal(load_model(tmp_path / "m.skops").predict(X), model.predict(X))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("loss", "learner"),
    [*((loss, "blend") for loss in LOSSES), (LOSSES[0], "linear"), (LOSSES[1], "trees")],
)
def test_losses_with_each_learner(tmp_path, loss, learner):
    ranker = make_ranker(loss, learner=learner)
    few = {name: 5 for name in ranker.get_params() if name.endswith("n_estimators")}
    ranker.set_params(**few).fit(X, 2 * y - 1, groups=GROUPS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        save_model(ranker, tmp_path / "m.skops")
    np.testing.assert_array_equal(load_model(tmp_path / "m.skops").predict(X), ranker.predict(X))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    # A strategy of judging is its topics, which pandas holds, and says nothing of other documents.
    [name for name, case in CASES.items() if not isinstance(case.estimator, QuerySelector)],
)
def test_every_estimator(tmp_path, name):
    """What the library offers loads without `trusted`, and says the same."""
    case, (data, _) = CASES[name], DATA[CASES[name].kind]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator = case.fit(copy.deepcopy(case.estimator), data)
        said = asked(estimator, data)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        save_model(estimator, tmp_path / "m.skops")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loaded = asked(load_model(tmp_path / "m.skops"), data)
    assert len(said) == len(loaded) > 0
    for before, after in zip(said, loaded, strict=True):
        np.testing.assert_array_equal(after, before)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "message"),
    [
        (FunctionTransformer(lambda x: x), "FunctionTransformer cannot be saved: .*<lambda>"),
        (Birch(), "Birch cannot be saved: Objects of type Birch are not supported"),
        (going_round(), "LogisticRegression cannot be saved: it refers to itself"),
    ],
)
def test_what_cannot_be_saved_leaves_no_file(tmp_path, model, message):
    with pytest.raises(ValueError, match=f"the model {message}"):
        save_model(model, tmp_path / "m.skops")
    assert not list(tmp_path.iterdir())


# Hand-made files. A file can name anything, and say how it is to be rebuilt.


def node(loader, name, **fields):
    module, _, attribute = name.rpartition(".")
    return {"__loader__": loader, "__module__": module, "__class__": attribute, **fields}


def text(value):
    return node("JsonNode", "builtins.str", content=json.dumps(value), is_json=True)


def many(*nodes, loader="ListNode", name="builtins.list"):
    return node(loader, name, content=list(nodes))


def mapping(name="builtins.dict", key_types=None, **content):
    keys = many(*(key_types or [node("TypeNode", "builtins.str")] * len(content)))
    return node("DictNode", name, content=content, key_types=keys)


def crafted(path, model, **changes):
    """Write a file as save_model would, around a hand-made model."""
    content = {
        "format": text("skfilterrank-model"),
        "format_version": text(1),
        "version": text("0.1"),
        "model": model,
    }
    schema = {**mapping(**content), "protocol": 2, "_skops_version": "0.16.0", **changes}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("schema.json", json.dumps(schema))


def test_crafted_file_loads_where_it_is_harmless(tmp_path):
    crafted(tmp_path / "m", mapping(a=text(1)))
    assert load_model(tmp_path / "m") == {"a": 1}


BOOSTER = "lightgbm.basic.Booster"
MARK = "os.mkdir"
ATTACKS = {
    "call": (node("ConstructorFromReduceNode", MARK, content=many(text("DIR"))), MARK),
    "key": (mapping(key_types=[node("FunctionNode", MARK)], DIR=text(1)), MARK),
    "partial": (
        node(
            "PartialNode",
            "functools.partial",
            content={
                "func": node("FunctionNode", MARK),
                "args": many(text("DIR"), loader="TupleNode", name="builtins.tuple"),
                "kwds": mapping(),
                "namespace": mapping(),
            },
        ),
        "functools.partial, os.mkdir",
    ),
    "list": (many(text("DIR"), name="os.system"), "os.system"),
    "eval": (node("ConstructorFromReduceNode", "builtins.eval", content=many()), "builtins.eval"),
    # Names that are allowed as objects must not be called with arguments of the file.
    "constructor of a booster": (
        node("ConstructorFromReduceNode", BOOSTER, content=many(text({}), text("DIR"))),
        BOOSTER,
    ),
    "class of a booster": (node("TypeNode", BOOSTER), BOOSTER),
    "booster twice": (many(node("ObjectNode", BOOSTER), node("FunctionNode", BOOSTER)), BOOSTER),
    # Functions that write files, ours and others.
    "our io": (
        node("FunctionNode", "skfilterrank.io._letor.write_letor"),
        "skfilterrank.io._letor",
    ),
    "our command line": (node("FunctionNode", "skfilterrank.cli.main"), "skfilterrank.cli.main"),
    "numpy": (node("FunctionNode", "numpy.save"), "numpy.save"),
    "scikit-learn": (
        node("FunctionNode", "sklearn.datasets._svmlight_format_io.dump_svmlight_file"),
        "dump_svmlight_file",
    ),
    # What one of our modules imports is not ours.
    "through us": (
        node("ObjectNode", "skfilterrank.metrics._dcg.np"),
        "skfilterrank.metrics._dcg.np",
    ),
    "measure called": (
        node(
            "ConstructorFromReduceNode",
            "skfilterrank.metrics._dcg.ndcg_f_score",
            content=many(),
        ),
        "ndcg_f_score",
    ),
    "absent": (node("ObjectNode", "skfilterrank.ranking._absent.Thing"), "_absent.Thing"),
    "method": (
        node(
            "MethodNode",
            "sklearn.linear_model._logistic.LogisticRegression",
            content={
                "func": "fit",
                "obj": node("ObjectNode", "sklearn.linear_model._logistic.LogisticRegression"),
            },
        ),
        "LogisticRegression.fit",
    ),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_crafted_file_is_refused(tmp_path, attack, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model, named = ATTACKS[attack]
    crafted("m.skops", model)
    with pytest.raises(ValueError, match=r"m\.skops holds types that are not trusted") as error:
        load_model("m.skops")
    assert named in str(error.value)
    assert os.listdir() == ["m.skops"]


def test_modules_named_by_a_file_are_not_imported(tmp_path, monkeypatch):
    (tmp_path / "boobytrap.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    for loader in ("ObjectNode", "FunctionNode", "TypeNode"):
        crafted(tmp_path / "m.skops", node(loader, "boobytrap.Thing"))
        with pytest.raises(ValueError, match=r"not trusted: boobytrap\.Thing"):
            load_model(tmp_path / "m.skops")


def test_old_protocol_is_refused(tmp_path):
    function = node("FunctionNode", BOOSTER)
    function["content"] = {"module_path": "lightgbm.basic", "function": "Booster"}
    crafted(tmp_path / "m", many(function, node("ObjectNode", BOOSTER)), protocol=0)
    with pytest.raises(FileFormatError, match="protocol must be at least 1, got 0"):
        load_model(tmp_path / "m")


def zipped(**files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name.replace("_", "."), content)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is not a model written by save_model"),
        (b"qid,label\n1,0\n", "the file is not a model written by save_model"),
        (b"\x80\x04N.", "the file is not a model written by save_model"),
        (zipped(readme_txt="hello"), "the file is not a model written by save_model"),
        (zipped(schema_json="no json"), "the file is not a model written by save_model"),
        (zipped(schema_json="[]"), "the file is not a model written by save_model"),
        (zipped(schema_json='{"protocol": 2}'), "the file is not a model written by save_model"),
        (zipped(schema_json='{"protocol": 99}'), "(skops protocol 99|'__loader__')"),
    ],
)
def test_file_that_is_no_model(tmp_path, data, message):
    (tmp_path / "m.skops").write_bytes(data)
    with pytest.raises(FileFormatError, match=rf"m\.skops: .*{message}"):
        load_model(tmp_path / "m.skops")


@pytest.mark.parametrize("model", [LogisticRegression(), {"format": "other"}])
def test_file_that_skops_wrote(tmp_path, model):
    import skops.io

    skops.io.dump(model, tmp_path / "m.skops")
    message = r"m\.skops: .*in skops format, but save_model did not write it"
    with pytest.raises(FileFormatError, match=message):
        load_model(tmp_path / "m.skops")


def test_damaged_model(tmp_path):
    booster = node("ObjectNode", BOOSTER, content=mapping(_handle=text("not a booster")))
    crafted(tmp_path / "m", booster)
    with pytest.raises(FileFormatError, match=r"m: the file .* is damaged, .* \(LightGBMError"):
        load_model(tmp_path / "m")


@pytest.mark.parametrize("module", [True, -1])
@pytest.mark.parametrize("inside", [True, False])
def test_a_module_that_is_no_name(tmp_path, module, inside):
    named = {"__module__": module}
    crafted(tmp_path / "m", text(1) | (named if inside else {}), **({} if inside else named))
    with pytest.raises(FileFormatError, match=r"m: the file is not a model written by"):
        load_model(tmp_path / "m")


def test_newer_format(tmp_path, monkeypatch):
    monkeypatch.setattr("skfilterrank.io._models._FORMAT_VERSION", 2)
    save_model(LogisticRegression(), tmp_path / "m")
    monkeypatch.undo()
    with pytest.raises(FileFormatError, match=r"newer format than skfilterrank .* upgrade"):
        load_model(tmp_path / "m")


def test_missing_file_and_bad_parameters(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_model(tmp_path / "absent.skops")
    for trusted in (True, "numpy.save", [3]):
        with pytest.raises(TypeError, match="trusted must be a list of type names or types"):
            load_model(tmp_path / "absent.skops", trusted=trusted)

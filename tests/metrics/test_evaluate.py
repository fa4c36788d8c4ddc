"""Many measures in one pass give what each gives alone."""

import sys

import numpy as np
import pandas as pd
import pytest

from measure_table import MEASURES
from reference import NONNEGATIVE
from skfilterrank._lists.measure_names import parse_measure, parse_measures
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.exceptions import InputError, InputTypeError
from skfilterrank.metrics import evaluate, ndcg_score

# Every measure is given gains below 0 here.
pytestmark = pytest.mark.filterwarnings("ignore:.*some gains are below 0")

NO = -np.inf


@pytest.fixture(scope="module")
def rows():
    """Ragged queries in mixed order, with ties, filtered and unjudged rows."""
    rng = np.random.default_rng(3)
    groups = rng.permutation(np.repeat([f"q{i}" for i in range(40)], rng.integers(1, 12, 40)))
    y_true = rng.choice([-1.0, 0.0, 1.0, 2.0, np.nan], len(groups))
    y_score = rng.choice([NO, 0.0, 0.25, 0.5, 1.0], len(groups))
    return y_true, y_score, groups


def one_by_one(rows, measure, **params):
    y_true, y_score, groups = rows
    if not measure.takes_k:
        params.pop("k", None)
    return measure.per_query(y_true, y_score, groups=groups, **params)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ties", "unjudged"),
    [
        *((None, "zero"), (None, "drop"), ("stable", "zero")),
        *(("worst", "drop"), ("best", "zero"), ("ids", "drop")),
    ],
)
def test_every_measure_of_the_table(rows, ties, unjudged):
    y_true, y_score, groups = rows
    chosen = np.arange(len(groups))[::-1] if ties == "ids" else ties
    # The labels hold negative gains.
    measures = {name: m for name, m in MEASURES.items() if name not in NONNEGATIVE}
    names = [f"{name}@3" if m.takes_k else name for name, m in measures.items()]
    table = evaluate(
        y_true, y_score, names, groups=groups, ties=chosen, unjudged=unjudged, undefined="drop"
    ).per_query
    assert list(table.columns) == names
    assert table.index.name == "qid"
    assert list(table.index) == sorted(set(groups))
    for text, measure in zip(names, measures.values()):
        params = {} if ties is None else {"ties": chosen}
        expected = one_by_one(rows, measure, k=3, unjudged=unjudged, undefined="drop", **params)
        np.testing.assert_array_equal(table[text], expected, err_msg=text)


def test_options_in_the_name_and_for_all(rows):
    y_true, y_score, groups = rows
    table = evaluate(
        y_true, y_score, ["rbp", "rbp(persistence=0.5)@4"], groups=groups, persistence=0.95
    ).per_query
    rbp = MEASURES["rbp"]
    np.testing.assert_array_equal(table["rbp"], one_by_one(rows, rbp, persistence=0.95))
    np.testing.assert_array_equal(
        table["rbp(persistence=0.5)@4"], one_by_one(rows, rbp, persistence=0.5, k=4)
    )


@pytest.mark.parametrize(
    ("measures", "params", "message"),
    [
        ([], {}, "measures is empty: name at least one"),
        (["ap", "ap"], {}, "measures names 'ap' twice"),
        (
            ["ap"],
            {"k": 9},
            "k is not an option .*: write the cut-off into the name, such as 'ap@10'",
        ),
        (["ap"], {"beta": 1}, "beta is not an option .* measures ap: it belongs to q_measure"),
        (["ap", "stat_ap"], {"pooled": [1, 1]}, "of the measures ap, stat_ap: it belongs to inf"),
        (["rbp"], {"persistence": 0.5, "depth": 9}, "depth is not an option of any .* rbp: no"),
        (["rbp"], {"persistence": 2}, "persistence must be a number between"),
        (["rbp(q=0.5)"], {}, r"'q=0.5' in 'rbp\(q=0.5\)' is not an option of 'rbp': it has pers"),
        (["dcg(p=0.5)"], {}, r"is not an option of 'dcg': it has rel=..., gains=..."),
        (["lexirecall"], {"ties": "average"}, "ties='average' is not possible for 'lexirecall'"),
        (["ap"], {"unjudged": "keep"}, "unjudged must be one of"),
        (["ap"], {"undefined": np.nan}, "undefined must be a finite number"),
    ],
)
def test_bad_input(measures, params, message):
    with pytest.raises(ValueError, match=message):
        evaluate([1, 0], [2, 1], measures, **{"groups": ["a", "a"], **params})


@pytest.mark.parametrize("measure", [evaluate, ndcg_score])
@pytest.mark.parametrize("name", ["y_score", "groups"])
def test_rows_in_another_order(measure, name):
    given = {"y_score": pd.Series([2, 1]), "groups": pd.Series(["a", "a"])}
    given[name] = given[name][::-1]
    more = {"measures": "ap"} if measure is evaluate else {}
    with pytest.raises(InputError, match=f"{name} and y_(true|score) have the same index in"):
        measure(pd.Series([1, 0]), **given, **more)


def test_what_is_parsed_is_taken_as_it_is():
    parsed = parse_measures(["ap@3", "rbp(persistence=0.5)"])
    assert parse_measures(parsed) is parsed
    assert list(parsed) == ["ap@3", "rbp(persistence=0.5)"]


@pytest.mark.parametrize(
    ("name", "value"),
    [("ndcg_f@1", 1), ("forbidden@1", 0), ("forbidden@2", -1 / 2), ("r_precision", 1)],
)
def test_utility(name, value):
    """The measure, or less it where lower is better, of a good document above a bad one."""
    groups = ["q", "q"]
    utility = parse_measure(name).utility([1, -1], [2, 1], groups=groups)
    assert utility == value
    assert np.signbit(utility) == (value < 0)
    assert parse_measure("dcg@1").utility([5, -1], [2, 1], groups=groups, gains={5: 3, -1: 0}) == 3


def test_commas_and_parentheses():
    inner = "rbp(persistence=0.5,relevance=graded)"
    parsed = parse_measure(f"ul_normalized(measure={inner},variant=v1)@3")
    assert parsed.options == {"measure": inner, "variant": "v1"}
    assert parse_measure("rbp()@3").options == {}
    for text in ("rbp(,)", "rbp(persistence=0.5,)", "rbp(,persistence=0.5)"):
        with pytest.raises(ValueError, match=r"'' in 'rbp.* is not an option of 'rbp'"):
            parse_measure(text)


def test_longest_cut_off():
    assert parse_measure("ap@" + 18 * "9").k == 10**18 - 1
    with pytest.raises(ValueError, match="must be a positive whole number"):
        parse_measure("ap@" + 19 * "9")


def test_greatest_value_of_undefined_queries():
    most = sys.float_info.max
    for undefined in (most, -most):
        table = evaluate([0], [1], "ap", groups=["a"], undefined=undefined).per_query
        assert table.loc["a", "ap"] == undefined


def test_no_rows():
    with pytest.raises(ValueError, match="y_true is empty"):
        evaluate([], [], "ap", groups=[])


def test_tables_share_no_names(rows):
    y_true, y_score, groups = rows
    index = GroupIndex.from_groups(groups)
    first = evaluate(y_true, y_score, ["ap"], groups=index).per_query
    first.index.name, first.columns.name = "topic", "measure"
    second = evaluate(y_true, y_score, ["ap"], groups=index).per_query
    assert (second.index.name, second.columns.name) == ("qid", None)


@pytest.mark.parametrize(
    ("data", "got"),
    [
        (lambda: "big.parquet", "the path 'big.parquet'"),
        (lambda: iter([pd.DataFrame({"qid": [1], "label": [1], "score": [1.0]})]), "a list_iterat"),
        (
            lambda: pd.DataFrame({"qid": [1], "label": [1], "score": [1.0]}),
            "a DataFrame without both s",
        ),
    ],
)
def test_files_and_batches_are_rows(data, got):
    message = rf"got {got}.*evaluate\(Rows\(data\), measures\), after `from skfilterrank import Row"
    with pytest.raises(InputTypeError, match=message):
        evaluate(data(), "ap")
    if not isinstance(data(), pd.DataFrame):
        with pytest.raises(InputTypeError, match=message):
            evaluate(data(), [1.0], "ap", groups=[1])

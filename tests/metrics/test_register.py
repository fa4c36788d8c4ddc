"""Measures from outside of the package: in other processes, in the command, and what is refused."""

import copy
import functools
import importlib
import pickle
import sys

import numpy as np
import pytest
from joblib import Parallel, delayed, wrap_non_picklable_objects
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.metrics import roc_auc_score

from skfilterrank._lists import measure as table
from skfilterrank.cli import main
from skfilterrank.exceptions import InputError, InputTypeError, SkfilterrankError
from skfilterrank.metrics import (
    evaluate,
    get_measure,
    get_measure_names,
    make_ranking_scorer,
    ndcg_f_score,
    rbp_score,
    register_measure,
)
from skfilterrank.thresholds import threshold_curve

MODULE = """
import numpy as np
from skfilterrank.metrics import register_measure

def function(y_true, y_score, k, *, depth=3):
    \"\"\"Queries whose first places hold something good.\"\"\"
    return float(np.any(y_true[:k][:depth] > 0))

{name} = register_measure("{name}", function, value_range=(0, 1))
"""


def nothing(block):
    return np.zeros(len(block.sizes))


class TestOfABlock:
    """RBP once more, by a function of a block."""

    @pytest.fixture
    def mine(self, measure_table):
        def patience(block, k, *, persistence=0.8):
            """Rank-biased precision."""
            if not 0 < persistence < 1:
                raise ValueError("persistence must lie between 0 and 1")
            relevant = block.ranked_relevant(k)
            return relevant @ ((1 - persistence) * persistence ** np.arange(relevant.shape[1]))

        return register_measure("mine", patience, value_range=(0, 1))

    def test_is_a_measure_like_others(self, mine):
        rng = np.random.default_rng(0)
        y, x, groups = rng.integers(-1, 3, 60), rng.integers(0, 5, 60) + 0.0, np.arange(60) // 6
        expected = rbp_score(y, x, groups=groups, k=3, persistence=0.5)
        assert mine(y, x, groups=groups, k=3, persistence=0.5) == expected
        wanted = ["mine(persistence=0.5)@3", "MINE@2", mine]
        values = evaluate(y, x, wanted, groups=groups).per_query
        assert list(values) == ["mine(persistence=0.5)@3", "MINE@2", "mine"]
        assert values["mine(persistence=0.5)@3"].mean() == expected
        ours = threshold_curve(y, x, groups=groups, measure="rbp@3")
        curve = threshold_curve(y, x, groups=groups, measure="mine@3")
        np.testing.assert_allclose(curve.values, ours.values)
        assert "mine" in get_measure_names()

    def test_checks_its_options(self, mine):
        with pytest.raises(ValueError, match=r"'mine' failed: .*persistence must lie between"):
            mine([1], [1], groups=["q"], persistence=2)

    def test_documentation(self, mine):
        doc = mine.__doc__
        assert doc.startswith("Rank-biased precision.\n\nParameters\n----------\ny_true")
        assert "k : int or None" in doc
        assert "\nReturns\n-------\n" in doc
        assert mine.summary == "Rank-biased precision."

    @pytest.mark.parametrize(
        ("values", "message"),
        [
            (lambda block: np.zeros(len(block.sizes) + 1), "one number for each of the 2 queries"),
            (lambda block: [[1], [1, 2]], "function of 'wrong' failed: ValueError"),
            (lambda block: 1 / 0, "function of 'wrong' failed: ZeroDivisionError: division by"),
            (lambda block: 0.5, r"float64 of shape \(\)"),
            (lambda block: np.array(["a"] * 2), "must give one number for each"),
            (lambda block: block.gains.fill(0), "'wrong' failed: ValueError: .* copy it first"),
            (lambda block: block.sizes.sort(), "copy it first"),
            (lambda block: block.n_retained.sort(), "copy it first"),
            (lambda block: block.best_first(1).fill(0), "copy it first"),
            (lambda block: np.full(2, np.inf), "must give finite numbers, or NaN"),
        ],
    )
    def test_must_give_a_number_for_each_query(self, measure_table, values, message):
        wrong = register_measure("wrong", lambda block: values(block))
        with pytest.raises(ValueError, match=message):
            wrong([1, 2], [1, 2], groups=["q", "p"])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"name": "ndcg"}, "name='ndcg' is taken by skfilterrank.metrics"),
        ({"name": "MAP"}, "name='MAP' is taken"),
        ({"name": "official"}, "'official' is taken: it stands for several measures"),
        ({"name": "a b"}, "name must be letters, digits"),
        ({"name": "class"}, "name must be a name that means nothing else"),
        ({"name": "runid"}, "name must be a name that means nothing else"),
        ({"value_range": (0, 10**400)}, "value_range must be the smallest and the largest value"),
        ({"value_range": (1, 0)}, "value_range must be the smallest and the largest value"),
        ({"value_range": (1, 2, 3)}, "value_range must be the smallest and the largest value"),
        ({"reads": "judged"}, "reads must be one of"),
        ({"zero_or_one": 1}, "zero_or_one must be True or False, got 1"),
        ({"greater_is_better": "no"}, "greater_is_better must be True or False, got 'no'"),
    ],
)
def test_what_cannot_be_registered(given, message):
    before = set(table.MEASURES)
    with pytest.raises(SkfilterrankError, match=message):
        register_measure(**{"name": "mine", "function": nothing, **given})
    assert set(table.MEASURES) == before


class TestOfOneQuery:
    """Functions of the gains and scores of one query's rows."""

    def test_it_is_given_rows_from_the_top_down(self, measure_table):
        got = []

        def mine(y_true, y_score, *, least=0):
            got.append((y_true.tolist(), y_score.tolist()))
            return roc_auc_score(y_true > least, y_score)

        made = register_measure("mine", mine)
        y_true, y_score = [0, 1, 0, 1], [0.1, 0.7, 0.8, 0.9]
        assert made(y_true, y_score, groups=["q"] * 4) == roc_auc_score(y_true, y_score) == 0.75
        assert got == [(y_true[::-1], y_score[::-1])]
        y_true, y_score = [np.nan, 1, -1, 2, 0], np.array([3, -np.inf, 1, 1, 2], dtype=np.float16)
        for unjudged, rows in (("zero", [0, 4, 2, 3]), ("drop", [4, 2, 3])):
            got.clear()
            made(y_true, y_score, groups=["q"] * 5, unjudged=unjudged)
            assert got == [
                ([[0, 1, -1, 2, 0][row] for row in rows], [float(y_score[row]) for row in rows])
            ]
        with pytest.raises(InputError, match="cut-off"):
            evaluate([1, 0], [2, 1], "mine@1", groups=["q"] * 2)

    @pytest.mark.parametrize("rows", [[0, 1, 2, 3], [3, 2, 1, 0]])
    def test_hidden_documents_are_in_the_pool_only(self, measure_table, rows):
        got = []

        def seen(y_true, y_score, k, pool):
            got.append((y_true.tolist(), y_score.tolist(), pool.tolist()))
            return 0.0

        mine = register_measure("mine", seen)
        y_true, y_score = np.array([2, -1, np.nan, 1]), np.array([-np.inf, -np.inf, 1, 1])
        mine(y_true[rows], y_score[rows], groups=["q"] * 4)
        assert got == [([0, 1], [1, 1], [2, 1, -1])]

    @pytest.mark.parametrize("value", [None, [1.0], "1", 1j])
    def test_it_must_return_a_number(self, measure_table, value):
        made = register_measure("mine", lambda y_true, y_score: value)
        with pytest.raises(InputError, match="for a query: return a number, NaN where"):
            made([1], [1], groups=["q"])

    @pytest.mark.parametrize(
        ("function", "without"),
        [
            (lambda y_true, y_score, k: k or 100, 100),
            (lambda y_true, y_score, k=None: k or 100, 100),
            (lambda y_true, y_score, *, k=10: k, 10),
        ],
    )
    def test_cut_offs(self, measure_table, function, without):
        register_measure("mine", function)
        values = evaluate([1, 0], [2, 1], ["mine", "mine@2"], groups=["p", "q"]).per_query
        assert values.to_numpy().tolist() == [[without, 2], [without, 2]]

    def test_it_counts_forbidden_documents_as_a_built_in_measure_does(self, measure_table):
        def any_bad(y_true, y_score, k=None):
            return float((y_true[:k] < 0).any())

        register_measure("mine", any_bad, greater_is_better=False)
        rng = np.random.default_rng(0)
        y, groups = rng.integers(-1, 3, 90), np.arange(90) // 6
        x = np.where(rng.random(90) < 0.2, -np.inf, rng.integers(0, 5, 90))
        wanted = ["mine@3", "any_forbidden@3"]
        values = evaluate(y, x, wanted, groups=groups, ties="worst").per_query
        np.testing.assert_array_equal(values["mine@3"], values["any_forbidden@3"])
        assert 0 < values["mine@3"].mean() < 1
        curves = [threshold_curve(y, x, groups=groups, measure=each) for each in wanted]
        np.testing.assert_allclose(curves[0].values, curves[1].values)


@pytest.mark.parametrize(
    "function",
    [
        lambda first, second: 0.0,
        lambda y_score, y_true: 0.0,
        lambda ranked, pool: 0.0,
        lambda k, block: 0.0,
        lambda *, block=None, k=None: 0.0,
        max,
        int,
        functools.partial(pow),
        print,
        3,
    ],
)
def test_functions_of_other_arguments_are_refused(function):
    accepted = (
        r"takes \(.*\), and a measure is a function \(y_true, y_score, k\) of one query, or \("
    )
    with pytest.raises(InputTypeError, match=accepted):
        register_measure("mine", function)


def test_options_that_all_measures_have_are_refused():
    with pytest.raises(ValueError, match=r"has options 'gains', 'rel', which all measures have"):
        register_measure("mine", lambda block, k, *, gains=3, rel=1: 0.0)


def test_an_option_needs_a_default():
    with pytest.raises(InputTypeError, match=r"least of .* must be keyword-only and have"):
        register_measure("mine", lambda y_true, y_score, *, least: 0.0)


def test_masked_values_are_undefined(measure_table):
    made = register_measure("mine", lambda block: np.ma.array([1, 2], mask=[0, 1]))
    values = made.per_query([1, 0], [2, 1], groups=["p", "q"], undefined=-1)
    assert values.tolist() == [1, -1]


def test_ranges_of_numpy(measure_table):
    ends = np.array([0, 1], dtype=np.int64)
    made = register_measure("mine", nothing, value_range=ends)
    assert made.value_range == (0.0, 1.0)


def test_options_are_of_the_kind_of_their_default(measure_table):
    def counted(block, *, strict=True, least=1, ends=(0, 1), word="a"):
        return np.full(len(block.sizes), strict + len(word) / 8)

    mine = register_measure("mine", counted)

    def value(name):
        return evaluate([1], [1], [name], groups=["q"]).per_query.iloc[0, 0]

    for word in ("False", "false", "0"):
        assert value(f"mine(strict={word})") == 0.125
    assert value("mine(strict=True,word=abcd)") == 1.5
    assert mine([1], [1], groups=["q"], strict=False) == 0.125
    for name, message in {
        "mine(strict=no)": "strict must be True or False, got 'no'",
        "mine(least=few)": "least must have the type of its default, 1, got the text 'few'",
        "mine(ends=(1,3))": r"ends must have the type of its default, \(0, 1\), got the text",
    }.items():
        with pytest.raises(InputError, match=message):
            value(name)


def sent(measure):
    """What joblib sends to another process."""
    return pickle.dumps(wrap_non_picklable_objects(measure, keep_wrapper=False))


class TestWhereItIsNotKnown:
    """What another process does with a measure that arrives."""

    ROWS = ([1, 0, 3], [4, 3, 2], ["a", "a", "b"])

    def value(self, measure):
        y_true, y_score, groups = self.ROWS
        return measure(y_true, y_score, groups=groups)

    def named(self, name):
        y_true, y_score, groups = self.ROWS
        return evaluate(y_true, y_score, name, groups=groups).means[name]

    def first(self, worth):
        return register_measure(
            "mine", lambda block, *, depth=1: np.full(len(block.sizes), worth * depth)
        )

    def test_what_a_script_has_is_sent(self, measure_table):
        for given in (self.first(0.5), get_measure("mine(depth=2)")):
            text = get_measure(given).text
            expected, letter = self.value(given), sent(given)
            kept = measure_table.pop("mine")
            assert self.value(pickle.loads(letter)) == expected == self.named(text)
            measure_table["mine"] = kept
        assert expected == 1.0

    def test_what_was_made_anew_is_known_anew(self, measure_table):
        """As a cell of a notebook that was changed and run once more."""
        old = self.first(0.5)
        letter = sent(self.first(7.0))
        measure_table["mine"] = old
        assert self.named("mine") == 0.5
        assert self.value(pickle.loads(letter)) == 7.0 == self.named("mine")

    def test_what_a_module_has_is_imported(self, measure_table, monkeypatch, tmp_path):
        (tmp_path / "by_module.py").write_text(MODULE.format(name="by_module"))
        monkeypatch.syspath_prepend(tmp_path)
        made = importlib.import_module("by_module").by_module
        assert pickle.loads(pickle.dumps(made)) is made
        letter = sent(get_measure("by_module(depth=1)@1"))
        del measure_table["by_module"], sys.modules["by_module"]
        assert self.value(pickle.loads(letter)) == 1.0 == self.named("by_module")
        monkeypatch.delitem(sys.modules, "by_module")

    def test_processes_of_joblib(self, measure_table):
        """Workers receive the table's measures, variants and scorers, and what a script has."""
        y_true, y_score, groups = self.ROWS
        given = [self.first(0.5), get_measure("mine(rel=2,depth=3)"), ndcg_f_score]
        given += [get_measure("ap(like=lightgbm)@2"), get_measure("ndcg_f(rel=2)")]
        tasks = [delayed(each)(y_true, y_score, groups=groups) for each in given]
        assert Parallel(n_jobs=2)(tasks) == [self.value(each) for each in given]
        model = LinearRegression().fit(np.c_[y_score], y_true)
        for scorer in map(make_ranking_scorer, given):
            expected = scorer(model, np.c_[y_score], y_true, groups=groups)
            task = delayed(scorer)(model, np.c_[y_score], y_true, groups=groups)
            assert Parallel(n_jobs=2)([task, task]) == [expected] * 2

    def test_copies_are_the_measure_itself(self, measure_table):
        for measure in (ndcg_f_score, self.first(0.5), get_measure("ap(rel=2)").measure):
            assert copy.deepcopy(measure) is clone(measure, safe=False) is measure
            scorer = make_ranking_scorer(measure)
            assert copy.deepcopy(scorer) == clone(scorer, safe=False) == scorer
        for measure in (ndcg_f_score, get_measure("ap(rel=2)").measure):
            assert pickle.loads(pickle.dumps(measure)) is pickle.loads(sent(measure)) is measure


@pytest.fixture
def folder(measure_table, tmp_path, monkeypatch):
    """A module with a measure, judgments and a run; what is imported is forgotten afterwards."""
    (tmp_path / "loose.py").write_text(MODULE.format(name="loose"))
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n1 0 b 0\n2 0 a 0\n")
    (tmp_path / "run.txt").write_text("1 Q0 a 1 0.5 x\n2 Q0 a 2 0.25 x\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in ("loose", "leaves", "imports"):
        sys.modules.pop(name, None)


def test_a_module_is_imported_on_the_command_line(folder, capsys):
    files = ["evaluate", "qrels.txt", "run.txt", "-m", "loose@1", "--format", "csv"]
    (folder / "imports.py").write_text("import no_other")
    (folder / "leaves.py").write_text("import sys; sys.exit('bye')")

    def tried(words):
        try:
            return main(words)
        except SystemExit as stop:
            return stop.code

    # One process takes them one after the other: the module is known to the last alone.
    for code, words in (
        (2, files),
        (2, ["--plugin", "leaves", *files]),
        (2, ["--plugin", "no_such", *files]),
        (2, ["--plugin", "./loose.py", *files]),
        (2, ["--plugin", "loose.py", *files]),
        (2, ["--plugin", "imports", *files]),
        (0, [*files, "--plugin", "loose"]),
    ):
        assert tried(words) == code, words
    told = capsys.readouterr()
    assert "run,loose@1\nrun,0.5\n" in told.out
    said = told.err
    assert "'loose@1' is not a measure" in said
    assert "--plugin: leaves cannot be imported: SystemExit: bye" in said
    assert "--plugin: no_such cannot be imported: ModuleNotFoundError" in said
    assert said.count(" It must be in the current folder, in one of PYTHONPATH") == 1
    assert said.count("expected a module's name, not a path") == 2

"""Results of all functions are of one kind: a line, a table, a page of a notebook, a frame."""

import dataclasses
import importlib
import inspect
import pickle
import pkgutil
import warnings

import numpy as np
import pandas as pd
import pytest

import skfilterrank
from public_calls import QRELS, RUNS, call, public_functions
from skfilterrank._base.results import Result, spread_places
from skfilterrank.io import Rows
from skfilterrank.judgments._estimate import Estimates
from skfilterrank.metrics import evaluate
from skfilterrank.metrics._evaluate_runs import RunEvaluation, iter_evaluations
from skfilterrank.metrics._rows_evaluation import RowsEvaluation
from skfilterrank.thresholds import FixedThreshold, RiskCertificate, RiskMonitor, ThresholdCheck


def kinds(base=Result):
    """Every class of results."""
    for part in pkgutil.iter_modules(skfilterrank.__path__):
        if part.ispkg and not part.name.startswith("_"):
            importlib.import_module(f"skfilterrank.{part.name}")
    found = base.__subclasses__()
    return [each for each in found if each.__module__.startswith("skfilterrank.")]


def results_in(value):
    """Results among what a function returned."""
    if isinstance(value, Result):
        yield value
        if isinstance(value, Estimates):
            yield value.compare(value.measures[0])
        if isinstance(value, RiskCertificate):
            yield from value.risks.values()
    elif isinstance(value, RiskMonitor):
        yield value.status
    elif isinstance(value, dict):
        yield from (each for each in value.values() if isinstance(each, Result))
    elif inspect.isgenerator(value):
        yield from (each for each in value if isinstance(each, Result))


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    """What every public function returns, by class."""
    found = {}
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.chdir(tmp_path_factory.mktemp("results"))
        for path in public_functions():
            for result in results_in(call(path)):
                found.setdefault(type(result), result)
    rows = Rows({"qid": [1, 1, 2], "label": [1, -1, 2], "score": [0.5, 0.2, 0.1]})
    return found | {
        RowsEvaluation: evaluate(rows, ["ndcg_f", "ap"]),
        ThresholdCheck: FixedThreshold(0.3).fit().check([0.5, 0.2, 0.1], [1, 1, 2]),
        RunEvaluation: next(iter_evaluations(QRELS, RUNS, "ap")),
    }


@pytest.mark.slow
@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: kind.__name__)
def test_every_result(examples, kind):
    assert kind in examples, f"no public call returns a {kind.__name__}"
    result = examples[kind]
    assert dataclasses.is_dataclass(kind)
    assert kind.__dataclass_params__.frozen
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(result, dataclasses.fields(kind)[0].name, None)
    assert repr(result).startswith(f"<{kind.__name__}: ")
    assert repr(result).endswith(">")
    assert len(repr(result)) <= 120
    assert "\n" not in repr(result)
    html = result._repr_html_()
    for line in str(result).splitlines()[:1]:
        assert line.split()[0] in html
    assert ("<table" in html) == (len(str(result).splitlines()) > 1)
    frame = result.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert result == result
    assert hash(result) == hash(result)
    copy = pickle.loads(pickle.dumps(result))
    # Certificates are compared by what they say.
    assert (copy == result) == (kind is RiskCertificate)
    assert str(copy) == str(result)
    pd.testing.assert_frame_equal(copy.to_frame(), frame)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Numbers(Result):
    """So many numbers."""

    n: int

    def to_frame(self):
        index = pd.Index(np.arange(self.n), name="place")
        return pd.DataFrame({"x": index * 0.5, "p_value": 0.0}, index=index)

    def _summary(self):
        return f"{self.n} <numbers>\n" + "x" * self.n


class Spread(Numbers):
    """The same, of which others are shown."""

    _places = staticmethod(spread_places)


def test_long_tables_are_cut():
    lines = str(Numbers(22)).splitlines()
    assert lines[-1] == "... and 2 more rows, see to_frame()"
    assert lines[-2].split() == ["19", "9.5000", "<0.0001"]
    assert str(Numbers(20)).splitlines()[-1].split()[0] == "19"
    shown = [line.split()[0] for line in str(Spread(39)).splitlines()[4:]]
    assert shown == [*map(str, range(0, 39, 2)), "..."]


def test_lines_are_short_and_one():
    assert repr(Numbers(3)) == r"<Numbers: 3 <numbers>\nxxx>"
    assert len(repr(Numbers(300))) == 120
    assert repr(Numbers(300)).endswith("x...>")


def test_names_are_no_html():
    html = Numbers(22)._repr_html_()
    assert html.startswith("<p>22 &lt;numbers&gt;<br>xxx")
    assert "&lt;0.0001" in html
    assert html.endswith("<p>... and 2 more rows, see to_frame()</p>")


def test_results_of_numbers_are_a_row():
    @dataclasses.dataclass(frozen=True, eq=False, repr=False)
    class Two(Result):
        first: float
        second: float

    assert Two(1, 2).to_frame().to_dict("records") == [{"first": 1, "second": 2}]

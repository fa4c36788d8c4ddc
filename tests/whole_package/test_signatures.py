"""Public signatures use one word, one order and one default for one thing."""

import functools
import inspect
import itertools

import pytest

import public_calls
from public_names import public
from skfilterrank._base.results import Result
from skfilterrank._lists.measure import MEASURES, Measure
from skfilterrank.exceptions import InputTypeError, SkfilterrankError
from skfilterrank.io import QrelsIndex, align, read_qrels, read_run
from skfilterrank.metrics import get_measure_names, values_of_run

# Words that have another for the same thing, which the library uses.
OTHER_WORDS = {
    "scoring": "measure",
    "metric": "measure",
    "eval_measure": "measure",
    "scorings": "measures",
    "metrics": "measures",
    "skip": "missing='drop'",
    "on_missing": "missing",
    "level": "alpha, confidence_level or max_risk",
    "tag": "name",
    "qid": "query or groups",
    "seed": "random_state",
    "normalise": "normalize",
    "topk": "k",
    "topic": "query",
    "confidence": "confidence_level",
}
# Of these, each is before those right of it, where they may be given by place.
ORDERS = [
    ("model", "models", "X", "y", "groups"),
    ("y_true", "y_score", "y_scores", "measure", "measures", "groups"),
    ("path", "qrels"),
    ("path", "run"),
    ("qrels", "runs", "measures"),
    ("qrels", "run", "measures"),
    ("qrels", "first", "second"),
    ("machine_qrels", "runs", "measures"),
    ("y_true", "systems"),
    ("runs", "method"),
]
# May be given by place though there is a default: data, or what the class or method is named for.
BY_PLACE = {
    # As of scikit-learn's splitters.
    "n_splits",
    # As of LabelPredictor.sample, which is named for it.
    "n_draws",
    *("X", "y", "groups", "ax", "input_features", "scores", "n_per_query", "method", "measure"),
    *("estimator", "learner", "threshold", "depth", "alpha", "kind", "names", "n_queries"),
    *(
        "n_sessions",
        "what",
        "target",
        "first",
        "second",
        "other",
        "n_items",
        "part",
        "runs",
        "data_home",
    ),
    # Rows hold what stands here of arrays.
    *("y_score", "measures"),
    # Texts of documents and of queries, as a file of TREC topics.
    *("documents", "topics", "machine_qrels"),
    # As LangChain and Haystack call it.
    *("callbacks", "top_k"),
    # As scikit-learn calls it.
    "deep",
    # What is made a measure, as decorators are called with it.
    "function",
}


def is_filled_in(thing):
    """Whether it is a result or a record, which the library makes itself."""
    return inspect.isclass(thing) and (issubclass(thing, Result) or hasattr(thing, "_fields"))


# Found by the tests alone: components for frameworks take seconds to import.
find_public = functools.cache(public)


@functools.cache
def signatures():
    return {
        name: inspect.signature(thing).parameters
        for name, thing in find_public().items()
        if not is_filled_in(thing) and not name.endswith("_request")  # scikit-learn's own
    }


def every_signature(test):
    """Run a test of one public name on all, and name those where it fails."""

    @functools.wraps(test)
    def all_of_them():
        failed = {}
        for name in signatures():
            try:
                test(name)
            except AssertionError as error:
                failed[name] = str(error)
        assert failed == {}

    del all_of_them.__wrapped__  # pytest would ask it for its arguments
    return all_of_them


@every_signature
def test_words(name):
    # Distances have a metric, as in scikit-learn; a query has a confidence, which is no level.
    allowed = {
        "judgments.MaxRepSelector": {"metric"},
        "thresholds.risk_coverage_curve": {"confidence"},
    }.get(name, set())
    if name.startswith("thresholds.Cut."):
        allowed = {"level"}
    found = (signatures()[name].keys() & OTHER_WORDS.keys()) - allowed
    assert not found, {word: OTHER_WORDS[word] for word in found}
    assert "skip" not in [parameter.default for parameter in signatures()[name].values()]


@every_signature
def test_orders(name):
    given = signatures()[name]
    by_place = [word for word, each in given.items() if each.kind <= 1]
    place = {word: number for number, word in enumerate(by_place)}
    if "qrels" in given:  # then machine_qrels are further data
        place.pop("machine_qrels", None)
    for order in ORDERS:
        for first, second in itertools.pairwise(word for word in order if word in place):
            assert place[first] < place[second], f"{first} after {second}"


def roles(path):
    """The parameter of judgments and the first of runs that may be given by place, if any."""
    by_place = [word for word, each in signatures()[path].items() if each.kind <= 1]
    return [
        next((word for word in by_place if word in words), None)
        for words in (("qrels", "machine_qrels", "y_true"), ("runs", "run", "systems", "first"))
    ]


def test_swapped_judgments_and_runs_are_refused():
    refused = []
    for path in signatures().keys() & public_calls.public_functions():
        qrels, runs = roles(path)
        if qrels is None or runs is None:
            continue
        valid = public_calls.valid_arguments(path)
        swapped = {qrels: valid[runs], runs: valid[qrels]}
        with pytest.raises(SkfilterrankError, match="judgments come first, then runs"):
            # A generator begins at its first value.
            raise AssertionError(f"{path} takes {next(iter(public_calls.call(path, **swapped)))}")
        refused.append(path)
    assert len(refused) >= 8


LABELS = {"1": {"a": 1, "b": 0, "c": 1}, "2": {"a": 0, "d": 2}}
SCORES = {"1": {"a": 0.9, "b": 0.8, "c": 0.7}, "2": {"a": 0.3, "d": 0.25}}
QRELS, RUN = read_qrels(LABELS), read_run(SCORES)


@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        (SCORES, LABELS),
        ([RUN], QRELS),
        ({"one": SCORES}, QRELS),
        (align(qrels=QRELS, run=RUN), QRELS),
        (RUN.drop(columns="score").assign(rank=1), QRELS),
        (QRELS, QRELS),
        (QRELS, QrelsIndex(QRELS)),
    ],
)
def test_one_run_in_the_place_of_judgments_is_refused(qrels, run):
    with pytest.raises(SkfilterrankError, match="judgments come first, then runs"):
        values_of_run(qrels=qrels, run=run, measures="ap")


@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        # Whole numbers as scores, halves as labels of which several documents have one.
        ({"1": {"a": 0.5, "b": 0.5, "c": 0}}, {"1": {"a": 3, "b": 2}}),
        ({"1": {"a": 0.7, "b": 0.2}}, {"1": {"a": -11, "b": -12}}),
        ({"1": {"a": 0.7, "b": 0.2}}, {"1": {"a": 2.0, "b": 1.0}}),
        (read_qrels({"1": {"a": 0.7, "b": 0.2}}), {"1": {"a": 2, "b": 1}}),
    ],
)
def test_unusual_labels_and_scores_are_taken(qrels, run):
    assert values_of_run(qrels=qrels, run=run, measures="ap")["ap"].to_list() == [1]


@every_signature
def test_what_is_no_data_is_given_by_name(name):
    for parameter in signatures()[name].values():
        if parameter.kind == parameter.POSITIONAL_OR_KEYWORD and parameter.default is not (
            parameter.empty
        ):
            assert parameter.name in BY_PLACE


@every_signature
def test_defaults(name):
    given = signatures()[name]
    # A measure has one value in every process, and is often named in text; the picks of a strategy
    # that is random in ties alone are the same in every process, too, and so are the samples of a
    # review, which goes on in other processes.
    strategies = ("judgments.MaxRepSelector", "judgments.FeedbackSelector")
    is_fixed = isinstance(find_public()[name], Measure) or name in strategies
    expected = {
        "random_state": 0 if is_fixed else None,
        "verbose": 0,
        "n_jobs": None,
        "gains": None,
        "groups": None,
    }
    for word, default in expected.items():
        if word in given and given[word].default is not inspect.Parameter.empty:
            assert given[word].default == default, word
    if "alpha" in given and "scores" in given:
        assert given["alpha"].default == 0.05


@pytest.mark.parametrize("name", get_measure_names())
def test_an_argument_that_a_measure_does_not_know_is_named(name):
    function = MEASURES[name]
    said = rf"{function.__name__}\(\) got an unexpected keyword argument 'sample_weight'"
    # Of several it is always the same one.
    others = {f"weight_{n}": n for n in range(9)}
    with pytest.raises(InputTypeError, match=said):
        function([1, 0], [0.5, 0.2], groups=[1, 1], sample_weight=[1, 1], **others)

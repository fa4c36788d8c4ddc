"""Every public function, given odd arguments, returns a value or says what is wrong with them."""

import contextlib
import functools
import inspect
import io
import warnings

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import public_calls
from odd_values import ODD
from skfilterrank.exceptions import SkfilterrankError

FUNCTIONS = public_calls.public_functions()
# What only says how much is done at once, and where files go, is not of the search.
LEFT_OUT = {"n_jobs", "verbose", "path"}
# Models that are handed the rows check them in their own words.
OF_MODELS = {
    ("ranking.compare_rankers", "X"),
    ("ranking.compare_rankers", "X_test"),
    ("ranking.score_difference", "X"),
    ("ranking.search_by_preferences", "X"),
    ("testing.check_ranker", "data"),
}
# What messages say for an argument that holds several things, or goes by another name inside.
OTHER_WORDS = {
    "runs": ("run",),
    "measures": ("measure",),
    "measure": ("measure",),
    "y_scores": ("y_score",),
    "systems": ("y_scores", "y_score", "run"),
    "fusion": ("learner",),
    "k": ("cut-off",),
    "scores": ("values",),
    "first": ("values", "run"),
    "second": ("values", "run"),
}


@functools.cache
def arguments():
    """Every argument of every public function that the search draws from."""
    return [
        (path, parameter.name)
        for path, function in FUNCTIONS.items()
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
        and parameter.name not in LEFT_OUT
        and (path, parameter.name) not in OF_MODELS
    ]


@pytest.fixture(autouse=True, scope="module")
def folder(tmp_path_factory):
    """Text that is taken for a path makes its file here."""
    with contextlib.chdir(tmp_path_factory.mktemp("odd")):
        yield


def call(path, odd):
    """Call a function; generators are read to their end."""
    with warnings.catch_warnings():
        # numpy advises against matrices.
        warnings.simplefilter("ignore")
        changes = {name: ODD[label]() for name, label in odd.items()}
    np.random.seed(0)
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        # What is odd may be warned of, by scikit-learn and numpy too.
        warnings.simplefilter("ignore")
        result = public_calls.call(path, **changes)
        return list(result) if inspect.isgenerator(result) else result


@pytest.mark.parametrize("path", FUNCTIONS)
def test_the_call_to_start_from_is_valid(path):
    call(path, {})


def check(path, odd):
    """A value, or an error of ours that names an argument; a file's name may not be there."""
    try:
        call(path, odd)
    except OSError as error:
        if error.filename is None:
            raise
    except SkfilterrankError as error:
        text = " ".join([str(error), *getattr(error, "__notes__", [])])
        known = {*inspect.signature(FUNCTIONS[path]).parameters}
        for name in odd:
            known |= {name, *OTHER_WORDS.get(name, ())}
        assert any(word in text for word in known), text


@settings(max_examples=400)
@given(argument=st.sampled_from(arguments()), label=st.sampled_from(list(ODD)))
@example(argument=("metrics.ndcg_f_score", "y_score"), label="None")
@example(argument=("metrics.ndcg_f_score", "groups"), label="Arrow texts")
@example(argument=("metrics.ndcg_f_score", "y_true"), label="huge in it")
@example(argument=("comparison.score_predictions", "groups"), label="longdouble")
@example(argument=("io.align", "run"), label="generator")
@example(argument=("judgments.complete_qrels", "qrels"), label="None")
@example(argument=("metrics.unjudged_bounds", "y_score"), label="None")
@example(argument=("comparison.label_degradation", "shares"), label="durations")
@example(argument=("ranking.compare_rankers", "refit"), label="DataFrame")
@example(argument=("ranking.compare_rankers", "cv"), label="text")
@example(argument=("ranking.compare_rankers", "y"), label="NaN in it")
@example(argument=("ranking.fuse_learned", "fusion"), label="generator")
@example(argument=("ranking.score_difference", "document"), label="None")
@example(argument=("comparison.SystemScores", "dropped_queries"), label="None")
@example(argument=("comparison.topic_set_size", "pair"), label="polars DataFrame")
def test_one_odd_argument(argument, label):
    path, name = argument
    check(path, {name: label})


@settings(max_examples=150)
@given(data=st.data(), path=st.sampled_from(list(FUNCTIONS)))
def test_two_odd_arguments(data, path):
    names = [name for function, name in arguments() if function == path]
    chosen = data.draw(st.lists(st.sampled_from(names), max_size=2, unique=True)) if names else []
    check(path, {name: data.draw(st.sampled_from(list(ODD))) for name in chosen})


@pytest.mark.parametrize("name", ["y_true", "y_score", "groups", "ties", "gains", "k"])
def test_every_odd_value_for_the_arrays_of_a_measure(name):
    for label in ODD:
        check("metrics.ndcg_f_score", {name: label})

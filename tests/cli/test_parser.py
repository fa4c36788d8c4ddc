"""Parsers made from functions: arguments, help, choices, defaults, and what is refused."""

import argparse
from collections import defaultdict
from typing import Annotated

import pytest

from skfilterrank import cli
from skfilterrank.cli import _types as types
from skfilterrank.cli._parser import Arg, CommandParser

COMMANDS = cli.COMMANDS
PARSERS = {name: cli.command_parser(name) for name in COMMANDS}


def example(
    first: Annotated[str, Arg("a file", file="read")],
    more: Annotated[list[str], Arg("others", metavar="MORE", many="+")],
    *,
    measure: Annotated[tuple, Arg(convert=types.measures, short="-m", many="repeat")] = ("ap",),
    how: Annotated[str, Arg("kind", choices=("one", "two"))] = "one",
    n_jobs: Annotated[int, Arg(convert=types.positive, metavar="N")] = 1,
    files: Annotated[list | None, Arg(many="repeat", file="read")] = None,
    is_on: bool = False,
):
    """Do something.

    More about it.

    Parameters
    ----------
    measure
        what is
        measured
    is_on
        switch

    Examples
    --------
    skfilterrank example a
    """


def nothing():
    """Have no options."""


@pytest.fixture
def parser():
    """The parser of the example."""
    return CommandParser(example, "example", nothing)


@pytest.mark.parametrize(
    ("words", "values"),
    [
        ("a b", {"more": ["b"]}),
        ("a b -m ap,rr c -m rbp", {"more": ["b", "c"], "measure": ["ap", "rr", "rbp"]}),
        ("--how two a --n-jobs=3 b", {"how": "two", "n_jobs": 3, "more": ["b"]}),
        ("a --is-on b", {"is_on": True, "more": ["b"]}),
        ("a --files x b --files z", {"files": ["x", "z"], "more": ["b"]}),
    ],
)
def test_only_what_is_given_is_returned(parser, words, values):
    found = parser.parse(words.split())
    assert found == {"first": "a"} | values


def test_help_has_texts_choices_defaults_and_examples(parser):
    text = parser.format_help()
    assert text.startswith("usage: skfilterrank example [options] FIRST MORE...\n")
    assert "Do something.\n\nMore about it.\n" in text
    assert "what is measured (default: ap)" in " ".join(text.split())
    assert "--how one|two" in text
    assert "kind (default: one)" in text
    assert "--is-on" in text
    assert text.endswith("examples:\n  skfilterrank example a\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "missing FIRST, MORE"),
        ("a --hw one", "there is no option --hw. Did you mean --how?"),
        # No option may be shortened.
        ("a --n-job 2", "there is no option --n-job. Did you mean --n-jobs?"),
        # One letter is the begin of a name.
        ("a -n 2", "there is no option -n."),
        ("a --n 2", "there is no option --n."),
        ("a -x 2", "there is no option -x. See"),
        ("a --how thre", "--how: expected one, two, got 'thre'"),
        ("a --how tw", "got 'tw'. Did you mean two?"),
        ("a --n-jobs 1 --n-jobs 2", "--n-jobs is given twice. Leave out one of them."),
        ("a --n-jobs", "--n-jobs: a value is missing"),
        ("a --n-jobs 0", "--n-jobs: expected a whole number from 1 up, got '0'"),
        ("a -m ,", "--measure: expected at least one name."),
    ],
)
def test_errors_are_one_line(parser, capsys, words, message):
    with pytest.raises(SystemExit) as stop:
        parser.parse(words.split())
    assert stop.value.code == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.startswith("skfilterrank example: error: ")
    assert err.endswith("See skfilterrank example --help.\n")
    assert err.count("\n") == 1


def options():
    """Commands and their `Arg` by the names of options."""
    found = defaultdict(dict)
    for command, parser in PARSERS.items():
        for written, arg in parser.options().values():
            if written.startswith("-"):
                found[written][command] = arg
    return found


SHARED = {name: args for name, args in options().items() if len(args) > 1}


def test_a_person_can_hold_the_options():
    assert len(options()) <= 75


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_on_a_screen(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    lines = cli.command_parser(command).format_help().splitlines()
    assert len(lines) <= 55
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize("name", SHARED)
def test_an_option_of_several_commands_takes_the_same_in_all(name):
    kinds = {(arg.convert, arg.metavar, arg.many, arg.file) for arg in SHARED[name].values()}
    if name in ("--format", "--text", "--out"):
        # Formats and tables differ, and LETOR has no texts.
        kinds = {kind[-1] for kind in kinds}
    assert len(kinds) == 1, SHARED[name]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_has_a_text_and_every_text_an_option(command):
    parser = PARSERS[command]
    for action in parser._actions:
        assert action.help, action.dest
        if action.help == argparse.SUPPRESS:
            continue  # options of all commands, which `skfilterrank --help` explains
        assert not action.help.startswith(("What", "Whether")), action.help
    from skfilterrank.cli._parser import _documentation

    _, texts, _ = _documentation(cli._function(command))
    assert set(texts) <= set(parser.options())


def test_the_same_default_for_the_same_name():
    import inspect

    found = defaultdict(set)
    for command in COMMANDS:
        for name, parameter in inspect.signature(cli._function(command)).parameters.items():
            if parameter.kind is parameter.KEYWORD_ONLY and name != "measure":
                found[name].add(repr(parameter.default))
    assert {name: values for name, values in found.items() if len(values) > 1} == {}


def test_commas_between_measures_and_between_options():
    nested = "ul_normalized(variant=v1,measure=rbp(persistence=0.9,relevance=binary))@2"
    assert types.measures(f"ap, rbp(a=1,b=2)@3,x(c=1,d=2),{nested}") == [
        "ap",
        "rbp(a=1,b=2)@3",
        "x(c=1,d=2)",
        nested,
    ]


@pytest.mark.parametrize(
    ("convert", "text", "value"),
    [
        (types.gains, "Bad=-1,Good=1", {"Bad": -1, "Good": 1}),
        (types.gains, "exp2", "exp2"),
        (types.risks, "any_forbidden@5=0.1", {"any_forbidden@5": 0.1}),
        (types.pairs, "a=b, c=d", [("a", "b"), ("c", "d")]),
        (types.places, "all", 0),
        (types._unjudged_label, "-1", -1),
        (types._unjudged_label, "trec", "trec"),
        (types._unjudged_label, "none", None),
        (types._undefined, "drop", "drop"),
        (types._undefined, "0.5", 0.5),
    ],
)  # fmt: skip
def test_texts_become_values(convert, text, value):
    assert convert(text) == value


@pytest.mark.parametrize(
    ("convert", "text", "message"),
    [
        (types.gains, "Bad", "expected LABEL=GAIN, got 'Bad'"),
        (types.gains, "Bad=inf", "expected LABEL=GAIN, got 'Bad=inf'"),
        (types.gains, "A=1,A=2", "label 'A' has two gains"),
        (types.columns, "label=verdict,qid=q,label=x", "label has two columns, verdict and x"),
        (types.columns, "text=a", "expected qid, docno, label or, for runs, score, got 'text'"),
        (types.pairs, "x", "expected A=B,..., got 'x'"),
        (types.positive, "9" * 5000, "expected a whole number from 1 up, got '999"),
        (types._seed, "-1", r"expected a whole number below 2\*\*31"),
        (types._threshold, "high", "expected tune, better, per_query"),
        (types._threshold, "nan", "expected tune, better, per_query"),
        (types._threshold, "lerned", r"Did you mean learned\?"),
        (types._unjudged_label, "x", "expected a number, got 'x'"),
        (types._undefined, "x", "expected a number or drop, got 'x'"),
    ],
)  # fmt: skip
def test_wrong_texts(convert, text, message):
    with pytest.raises(argparse.ArgumentTypeError, match=message) as found:
        convert(text)
    assert len(str(found.value)) < 400


def test_names_are_those_of_the_library():
    from skfilterrank import thresholds

    assert set(types.THRESHOLDS.values()) <= set(thresholds.__all__)


def test_an_option_has_one_value_so_that_it_takes_no_other_argument():
    for parser in PARSERS.values():
        for written, arg in parser.options().values():
            assert arg.many in (("", "repeat") if written.startswith("-") else ("", "+"))

"""The commands say the same thing by the same word."""

import argparse
import re
from collections import defaultdict

import pytest

from skfilterrank import cli


def parser_of(command):
    parser = cli.CommandParser(prog=command)
    parser.command = command
    parser.learn_arguments()
    return parser


PARSERS = {command: parser_of(command) for command in cli.COMMANDS}


def options():
    """Commands and actions by the names of options."""
    found = defaultdict(dict)
    for command, parser in PARSERS.items():
        for action in parser._actions:
            for name in action.option_strings:
                found[name][command] = action
    return found


SHARED = {name: actions for name, actions in options().items() if len(actions) > 1}


def meaning(action):
    """What an option says and takes, apart from its default and the choices that are open."""
    text = re.sub(r" \(default: .*\)$", "", action.help or "")
    return type(action), action.type, action.dest, action.nargs, action.metavar, text


@pytest.mark.parametrize("name", SHARED)
def test_an_option_of_several_commands_means_the_same_in_all(name):
    meanings = {command: meaning(action) for command, action in SHARED[name].items()}
    if name == "--out":
        # Beside the judgments stands their log.
        assert meanings.pop("judge")[2:] == meanings["complete"][2:]
    if name == "--unjudged-label":
        # What is written, too, is one label, and not a rule for several.
        first = meanings["evaluate"][-1].partition(";")[0]
        assert meanings.pop("judge")[-1].startswith(first)
    if name == "--ties":
        # Each says what its own choices are, of which the first is that of all.
        texts = [text.partition(", ")[0] for *_, text in meanings.values()]
        assert set(texts) == {"order of documents of equal score: docno (by id"}
    if name in ("--save", "--alpha", "--ties", "--confidence"):
        # For another command each, of another test, or of intervals and of risks.
        meanings = {command: meaning[:-1] for command, meaning in meanings.items()}
    assert len(set(meanings.values())) == 1, meanings
    choices = [set(action.choices or ()) for action in SHARED[name].values()]
    of_its_own = ("--format", "--ties", "--method")
    assert all(each <= max(choices, key=len) for each in choices) or name in of_its_own


@pytest.mark.parametrize("command", PARSERS)
def test_every_command_can_be_quiet_and_verbose(command):
    assert {"--quiet", "--verbose"} <= set(PARSERS[command]._option_string_actions)


def test_options_that_many_commands_have():
    assert {"--seed", "--jobs", "--out", "--format", "--input-format", "--measure"} <= set(SHARED)
    assert all(isinstance(parser, argparse.ArgumentParser) for parser in PARSERS.values())


def test_no_option_says_what_another_says_in_other_words():
    texts = defaultdict(set)
    for actions in options().values():
        for action in actions.values():
            texts[meaning(action)[-1]].add(action.option_strings[-1])
    assert {text: names for text, names in texts.items() if len(names) > 1} == {}


@pytest.mark.slow
def test_what_is_written_is_what_would_be_shown(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n1 0 b 0\n2 0 a 1\n")
    for name, scores in {"x": (3, 2), "y": (1, 2)}.items():
        lines = [f"{topic} Q0 {doc} 1 {s} t" for topic in "12" for doc, s in zip("ab", scores)]
        (tmp_path / f"{name}.run").write_text("\n".join(lines) + "\n")
    for words in (
        ["evaluate", "qrels.txt", "x.run", "y.run", "--per-query"],
        ["compare", "qrels.txt", "x.run", "y.run", "-m", "ap"],
        ["forecast", "x.run", "y.run"],
    ):
        for name, format in (("t.txt", "table"), ("t.csv", "csv"), ("t.jsonl", "json")):
            code, shown, _ = run(*words, "--format", format)
            assert (code, shown != "") == (0, True)
            assert run(*words, "--out", name)[:2] == (0, "")
            assert (tmp_path / name).read_text(encoding="utf-8") == shown
        assert run(*words, "--out", "-", "--quiet") == run(*words, "--quiet")

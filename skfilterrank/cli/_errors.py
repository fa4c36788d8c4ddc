"""Errors and warnings as users of commands see them: they speak of options and files."""

import re

from skfilterrank.exceptions import brief

# Arguments of functions that a command's option stands for, where they have other names.
_OPTION_OF = {
    "confidence_level": "--confidence",
    "document": "--document",
    "groups": "--query",
    "measure": "--measure",
    "n_jobs": "--jobs",
    "query": "--query",
    "random_state": "--seed",
    "y_true": "QRELS",
}
# Where a message names functions, in words of the command line.
_PHRASES = {
    "by draw_sample(..., unit='query')": "by 'skfilterrank judge --strategy sample --unit query'",
    "draw_sample(machine_qrels, runs, measures, n_total=..., judged=qrels)": (
        "'skfilterrank judge --strategy sample --judged QRELS'"
    ),
    "draw_sample with the same random_state and a larger n_total": (
        "'skfilterrank judge --strategy sample' with the same --seed and a larger --n-total"
    ),
    "abstain=None to": "no --abstain to",
    "draw again with judged=,": (
        "draw again by 'skfilterrank judge --strategy sample --judged QRELS',"
    ),
    ", as in evaluate_run(qrels, run, measures)": "",
    "gains has no gain for labels of": "--gains has no gain for labels of",
    "groups holds queries that": "there are topics that",
    "each query once": "each topic once",
    "(show_beyond_k)": "(--show-beyond-k)",
    "(skfilterrank.estimation)": "(--interval)",
    "such as read_prels reads (5": "or a file of a sample (5",
    "The names are in skfilterrank.metrics.get_measure_names() and skfilterrank evaluate "
    "--list-measures;": "'skfilterrank evaluate --list-measures' prints the names;",
    "One of your own has a name in processes that imported its module; others are sent its "
    "function, measure=FUNCTION.": "--plugin imports the module of a measure of your own.",
    "(unjudged label)": "(--unjudged-label)",
    "ExpectedThreshold takes": "--threshold expected takes",
    "LearnedThreshold takes": "--threshold learned takes",
    "PerQueryThreshold takes": "--threshold per_query takes",
    "risks must name": "--risk must name",
    "risks names": "--risk names",
    "risks[": "--risk[",
    "but measure is": "but --measure is",
    "weights must": "--weights must",
    "threshold None": "--threshold none",
    "abstain None": "no --abstain",
    "pass a greater max_bytes= to load_model": "load it in Python with a greater max_bytes",
    "pass trusted=": "load it in Python with trusted=",
}
# An argument with or without its value, but no option of a measure such as "ap(rel=2)".
_ARGUMENT = re.compile(
    r"(?<![\w.(,=-])(?P<name>[a-z][a-z_]*)="
    r"(?P<value>'[^']*'|\[[^\]]*\]|\{[^}]*\}|[\w+-]+(?:\.\d+)?)?(?!=)"
)
# An argument of two words or more without a value; in quotes, it is a value or a column.
_BARE = re.compile(r"(?<![\w.,(='\"`@/-])(?P<name>[a-z]+(?:_[a-z]+)+)(?![\w=('\"`@])")
_WORD = re.compile(r"\b(?P<name>missing|predicted|unjudged|ties) (?P<value>'\w+')")
_ROW = re.compile(r"(?P<query>query ('[^']*'|[-\d.]+)) row (?P<row>\d+)")

# Options of the command that runs by the names of their values, and the warnings that it gave.
_OPTIONS: dict[str, str] = {}
_TAKES_VALUE: set[str] = set()
_SAID: set[str] = set()
# The document of each row of the lists that a command works on.
_DOCUMENTS: list = []


def begin(actions) -> None:
    """Note the options of a command, in whose words messages are from now on."""
    _SAID.clear()
    _OPTIONS.clear()
    _DOCUMENTS.clear()
    _TAKES_VALUE.clear()
    for action in actions:
        option = action.option_strings[-1] if action.option_strings else action.metavar
        if isinstance(option, str):
            _OPTIONS[action.dest] = option
            if action.option_strings and action.nargs != 0:
                _TAKES_VALUE.add(option)


def is_new(text) -> bool:
    """Tell whether a message of this command is said for the first time."""
    is_known = text in _SAID
    _SAID.add(text)
    return not is_known


def name_documents(docnos) -> None:
    """Let messages name the documents of rows, of which no user knows the numbers."""
    _DOCUMENTS[:] = [docnos]


def in_options(text: str) -> str:
    """Put the options of the command in place of arguments of functions."""
    if _DOCUMENTS:
        text = _ROW.sub(_document, text)
    for phrase, words in _PHRASES.items():
        text = text.replace(phrase, words)
    return _BARE.sub(_bare_option, _WORD.sub(_option, _ARGUMENT.sub(_option, text)))


def _bare_option(match):
    """Give an option that takes a value; what is no such option stays as it is."""
    option = _OPTIONS.get(match[0]) or _OPTION_OF.get(match[0])
    return option if option in _TAKES_VALUE else match[0]


def _document(match):
    """Give the document of a row."""
    return f"{match['query']} document {brief(_DOCUMENTS[0][int(match['row'])])}"


def _option(match):
    """Give an option with its value; what is no option stays as it is."""
    name, value = match["name"], match["value"]
    option = _OPTIONS.get(name) or _OPTION_OF.get(name)
    if option not in _OPTIONS.values():
        return match[0]
    if value in (None, "True") or not option.startswith("-"):
        return option
    if value.startswith("{"):
        return f"{option}={re.sub(r': ?', '=', value[1:-1]).replace(', ', ',')}"
    return f"{option} {'none' if value == 'None' else value.strip(chr(39))}"


def message_of(error) -> str:
    """Text of an error and its notes; that of the operating system without its number."""
    text = str(error)
    if isinstance(error, OSError) and error.filename is not None:
        text = f"{error.filename}: {error.strerror}"
    notes = getattr(error, "__notes__", [])
    end = "" if text.endswith((".", "?")) else "."
    return in_options(" ".join([text + end, *notes]) if notes else text)

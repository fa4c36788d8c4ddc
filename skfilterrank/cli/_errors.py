"""Errors and warnings in the words of the command line: options and files, not arguments."""

import os
import re
import stat
from pathlib import Path

from skfilterrank.cli._output import call, say, tell
from skfilterrank.exceptions import InputError, brief

# Arguments of functions that an option of another name stands for.
_OPTION_OF = {
    "groups": "query",
    "measures": "measure",
    "risks": "risk",
    "unjudged_label": "holes",
    "predicted": "holes",
    "missing": "holes",
    "unjudged": "holes",
    "undefined": "holes",
}
# Names of functions in messages, in words of the command line.
_PHRASES = {
    "by draw_sample(..., unit='query')": "by 'skfilterrank judge --strategy sample --unit query'",
    "draw_sample(machine_qrels, runs, measures, n_total=..., judged=qrels)": (
        "'skfilterrank judge --strategy sample --judged QRELS'"
    ),
    "draw_sample with the same random_state and a larger n_total": (
        "'skfilterrank judge --strategy sample' with the same --random-state and a larger --n-total"
    ),
    "draw again with judged=,": (
        "draw again by 'skfilterrank judge --strategy sample --judged QRELS',"
    ),
    "abstain=None to": "no --abstain to",
    ", as in evaluate_run(qrels, run, measures)": "",
    "groups holds queries that": "there are queries that",
    "gains has no gain for labels of": "--gains has no gain for labels of",
    "(skfilterrank.judgments)": "(--interval)",
    "such as read_prels reads (5": "or a file of a sample (5",
    "The names are in skfilterrank.metrics.get_measure_names() and skfilterrank help measures;": (
        "'skfilterrank help measures' prints the names;"
    ),
    "One of your own has a name in processes that imported its module; others are sent its "
    "function, measure=FUNCTION.": "--plugin imports the module of a measure of your own.",
    "Use FixedThreshold() to show": "Use --threshold none to show",
    "pass threshold=None": "give --threshold none",
    ", as by pandas.qcut": "",
    ", or functions, got": ", got",
    " or functions, got": ", got",
    "assessor_name is for tool='page' alone": "--assessor is for --page and the terminal alone",
    "(unjudged label)": "(--holes unjudged-label)",
    "pass a greater max_bytes= to load_model": "load it in Python with a greater max_bytes",
    "pass trusted=": "load it in Python with trusted=",
}
# An argument with or without its value, but no option of a measure such as "ap(rel=2)".
_ARGUMENT = re.compile(
    r"(?<!--holes )(?<![\w.(,=-])(?P<name>[a-z][a-z_]*)="
    r"(?P<value>'[^']*'|\[[^\]]*\]|\{[^}]*\}|[\w+-]+(?:\.\d+)?)?(?!=)"
)
# An argument of two words or more without a value; in quotes, it is a value or a column.
_BARE = re.compile(r"(?<![\w.,(='\"`@/-])(?P<name>[a-z]+(?:_[a-z]+)+)(?![\w=('\"`@])")
_FIRST = re.compile(r"^(?P<name>[a-z]+)(?= (must|has|names|is) |\[)")
_WORD = re.compile(r"\b(?P<name>missing|predicted|unjudged|ties) (?P<value>'\w+')")
_THRESHOLD = re.compile(r"\b(Expected|Learned|Per)(Query)?Threshold takes")
_ROW = re.compile(r"(?P<query>query ('[^']*'|[-\d.]+)) row (?P<row>\d+)")


def show_warning(message, *place, **keywords) -> None:
    """Print a line for a warning, once."""
    text = in_options(str(message))
    if text not in call.said:
        call.said.add(text)
        tell(f"skfilterrank: warning: {text}")


def in_options(text: str) -> str:
    """Replace names of arguments in a message by the options of the command."""
    if call.documents is not None:
        text = _ROW.sub(_document, text)
    for phrase, words in _PHRASES.items():
        text = text.replace(phrase, words)
    text = _THRESHOLD.sub(_threshold, text)
    for pattern in (_ARGUMENT, _WORD, _BARE, _FIRST):
        text = pattern.sub(_option, text)
    return text


def _threshold(match):
    """Return the name of a threshold's class as --threshold takes it."""
    return f"--threshold {'_'.join(filter(None, match.groups())).lower()} takes"


def _document(match):
    """Return the document of a row."""
    return f"{match['query']} document {brief(call.documents[int(match['row'])])}"


def _option(match):
    """Return an option with its value; other words stay."""
    name, value = match["name"], match.groupdict().get("value")
    known = name if name in call.written else _OPTION_OF.get(name, name)
    written = call.written.get(known)
    if written is None:
        return match[0]
    if known != name and known == "holes":
        value = f"{name}={(value or '').strip(chr(39))}".replace("_", "-")
    if value in (None, "", "True") or not written.startswith("-"):
        return written
    if value.startswith("{"):
        return f"{written}={re.sub(r': ?', '=', value[1:-1]).replace(', ', ',')}"
    return f"{written} {'none' if value == 'None' else value.strip(chr(39))}"


def message_of(error) -> str:
    """Return the text of an error and its notes, without the number of the system's errors."""
    text = str(error)
    if isinstance(error, OSError) and error.filename is not None:
        text = f"{error.filename}: {error.strerror}"
    notes = getattr(error, "__notes__", [])
    end = "" if text.endswith((".", "?")) else "."
    return in_options(" ".join([text + end, *notes]) if notes else text)


def report_unforeseen(error, values) -> None:
    """Print one line for an error that nobody foresaw, with the files it concerned."""
    files = [text for value in values.values() for text in _texts(value) if os.path.isfile(text)]
    what = " ".join(f"{type(error).__name__}: {error}".split())
    where = f" (files: {', '.join(files[:3])}{', ...' * (len(files) > 3)})" if files else ""
    say(
        f"skfilterrank: error: {what[:300]}{where}. This is a fault of skfilterrank: "
        "--debug shows where it came up."
    )


def _texts(value):
    """Return the texts of an argument."""
    values = value if isinstance(value, list) else [value]
    return [each for each in values if isinstance(each, str)]


def refuse(names, why) -> None:
    """Raise for an option that is given and has no meaning beside the others."""
    for name in names:
        if name in call.given:
            raise InputError(f"--{name.replace('_', '-')} {why}")


def overwritten(options, values) -> str | None:
    """Return which file an output would take the place of, in words; None where there is none."""
    inputs, outputs = [], []
    for name, value in values.items():
        written, arg = options.get(name, ("", None))
        if arg is None or not arg.file:
            continue
        for text in _texts(value):
            if arg.file == "read":
                inputs.append((written, text))
            else:
                outputs += [(written, f"{text}{ending}") for ending in ("", *arg.also)]
                # Beside tasks of Label Studio stands its configuration.
                if getattr(text, "tool", "") == "label-studio":
                    outputs.append((written, str(Path(text).with_suffix(".xml"))))
    if not any(text == "-" for _, text in outputs):
        # Every command prints, and may print into a file.
        outputs.insert(0, ("standard output", "-"))
    taken = {_identity(text, 0): (name, text) for name, text in inputs}
    for name, text in outputs:
        identity = _identity(text, 1)
        if identity is not None and identity in taken:
            other, its_text = taken[identity]
            which = name if name == "standard output" else f"{name} {text}"
            return f"{which} is the same file as {other} {its_text}. Name another one."
        taken[identity] = name, text
    return None


def _identity(text, standard_stream):
    """Return what all names of one regular file share; None where nothing would be lost."""
    try:
        status = os.stat(standard_stream if text == "-" else text)
    except OSError:
        # Not there yet. Some disks do not tell upper from lower case.
        return os.path.realpath(text).casefold()
    # A terminal or /dev/null may be named more than once.
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None

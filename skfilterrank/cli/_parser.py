"""The parser of a command, made from its function: arguments, help, choices, defaults and errors.

A keyword-only parameter is an option of its name, required where it has no default; any other
one is an argument by its place. An option has one value: several are given by repeating it, and
arguments by their place are what there may be many of, so that no value can be mistaken for another
argument. A parameter annotated by a dataclass stands for its fields, each an option, which several
commands share.
The choices of a ``Literal`` are known; ``Annotated[type, Arg(...)]`` says more, and shared ones are
in `_types`. The help of a parameter stands in the numpydoc section of the function, or else in its
`Arg` or in the dataclass.
"""

import argparse
import difflib
import inspect
import re
import shutil
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, is_dataclass, replace
from functools import partial
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from skfilterrank.exceptions import brief

_SECTION = re.compile(r"^(\w+)\n-{3,}\n", re.MULTILINE)
_PARAMETER = re.compile(r"^(?P<name>\w+).*\n(?P<text>(?:    .*\n|\n)*)", re.MULTILINE)
# Columns of the names of options in the help.
_NAMES = 30
_LONGEST_CHOICES = 36
# Options by the names that other programs have for them.
_OTHER_WORDS = {
    "o": ("--out",),
    "budget": ("--n-per-query", "--n-total"),
    "seed": ("--random-state",),
    "output": ("--out",),
    "metric": ("--measure",),
    "metrics": ("--measure",),
}
_MANY = {"+": "{}...", "*": "[{}...]", "?": "[{}]"}
_COMMON = "every command: --quiet, --verbose, --plugin MODULE, --debug, --help"


@dataclass(frozen=True)
class Arg:
    """Properties of an argument of a command.

    Attributes
    ----------
    help : str
        Text for the help, where the function has none.
    convert : callable or None
        Function from the text of a value to the value, which raises ArgumentTypeError.
    choices : sequence of str
        The only values there are.
    metavar : str
        Name of a value in the help.
    short : str
        Second name of the option, such as "-m".
    many : {"", "?", "*", "+", "repeat"}
        Number of arguments at this place; an option may be repeated.
    shown : object
        Default in words, where the value would not do.
    file : {"", "read", "write"}
        Whether the value names a file, and what for.
    also : tuple of str
        Endings of further files that are written beside it.
    """

    help: str = ""
    convert: Callable[[str], Any] | None = None
    choices: Sequence[str] = ()
    metavar: str = ""
    short: str = ""
    many: str = ""
    shown: Any = None
    file: str = ""
    also: tuple[str, ...] = ()


class CommandParser(argparse.ArgumentParser):
    """Parser of the arguments of a function; errors are one line and name what is similar."""

    def __init__(self, command: Callable, name: str, common: Callable):
        super().__init__(
            prog=f"skfilterrank {name}",
            formatter_class=_Help,
            allow_abbrev=False,
            add_help=False,
        )
        self._args: dict[str, tuple[str, Arg]] = {}
        self._groups: dict[str, type] = {}
        summary, texts, examples = _documentation(command)
        self.description, self.epilog = summary, examples
        places = self._add(command, texts)
        self.usage = f"{self.prog} [options] {' '.join(places)}".rstrip()
        # One line for what `skfilterrank --help` explains.
        self._add(common, dict.fromkeys(inspect.signature(common).parameters, argparse.SUPPRESS))
        self.add_argument("-h", "--help", action="help", help=argparse.SUPPRESS)
        self.epilog = f"{_COMMON}\n\n{self.epilog}" if self.epilog else _COMMON

    def _add(self, function, texts):
        """Add the parameters of a function; return how the places are written."""
        places = []
        for name, (arg, default, is_option, help) in self._parameters(function).items():
            option = f"--{name.replace('_', '-')}" if is_option else arg.metavar or name.upper()
            self._args[name] = option, arg
            text = texts.get(name) or help or arg.help
            keywords: dict[str, Any] = {"default": argparse.SUPPRESS}
            if isinstance(default, bool):
                self.add_argument(option, dest=name, action="store_true", help=text, **keywords)
                continue
            metavar = arg.metavar or "|".join(arg.choices) or name.upper()
            if arg.choices and len(metavar) > _LONGEST_CHOICES:
                metavar, text = name.upper(), f"{text}: {', '.join(arg.choices)}"
            convert = arg.convert or (choice(arg.choices) if arg.choices else str)
            if is_option:
                shown = default if arg.shown is None else arg.shown
                is_required = default is inspect.Parameter.empty
                shown = ",".join(map(str, shown)) if isinstance(shown, tuple) else shown
                if not is_required and shown not in (None, ""):
                    text += f" (default: {shown})"
                flags = [arg.short] * bool(arg.short) + [option]
                keywords |= {"dest": name, "required": is_required}
                keywords["action"] = _Again if arg.many else _Once
            else:
                flags, keywords = [name], {"nargs": arg.many} if arg.many else {}
                places.append(_MANY.get(arg.many, "{}").format(metavar))
            action = self.add_argument(*flags, metavar=metavar, type=convert, help=text, **keywords)
            # For argcomplete; argparse's own choices would be checked after the converter.
            if arg.choices:
                action.completer = partial(_completed, arg.choices)
        return places

    def _parameters(self, function):
        """Return the `Arg`, default, kind and help of each argument, by name."""
        hints, found = get_type_hints(function, include_extras=True), {}
        texts: dict[str, str] = {}
        for part in reversed(getattr(function, "__mro__", ())):
            texts |= _documentation(part)[1]
        for name, parameter in inspect.signature(function).parameters.items():
            hint = hints[name]
            if is_dataclass(hint):
                self._groups[name] = hint
                found |= self._parameters(hint)
            else:
                is_option = parameter.kind is parameter.KEYWORD_ONLY
                found[name] = _arg_of(hint), parameter.default, is_option, texts.get(name, "")
        return found

    def parse(self, argv) -> dict[str, Any]:
        """Return the arguments that are given, by parameter; options may stand anywhere."""
        values, rest = self.parse_known_intermixed_args(argv)
        for text in rest:
            if text.startswith("-"):
                options = [option for option in self._option_string_actions if option[:2] == "--"]
                name = text.partition("=")[0]
                hint = _in_other_words(name, options) or similar(name, options)
                self.error(f"there is no option {name}.{hint}")
            self.error(f"{brief(text)} is one argument too many.")
        # A place that is not given is None; of an option, that is a value, such as "none".
        return {
            name: value
            for name, value in vars(values).items()
            if value is not None or self._args[name][0].startswith("-")
        }

    def grouped(self, values) -> dict[str, Any]:
        """Return the values as the function takes them: shared options in their dataclasses."""
        values = dict(values)
        for name, group in self._groups.items():
            own = inspect.signature(group).parameters
            values[name] = group(**{key: values.pop(key) for key in own if key in values})
        return values

    def options(self) -> dict[str, tuple[str, Arg]]:
        """Arguments by the name of their parameter: how they are written, and what they are."""
        return self._args

    def error(self, message):
        """Print one line and leave with the code 2."""
        from skfilterrank.cli._output import say

        message = re.sub(r"^argument (-\w/)?(\S+?): ", r"\2: ", message)
        missing = "a value is missing. Write --option=VALUE where it begins with -."
        message = re.sub("expected one argument$", missing, message)
        message = re.sub("the following arguments are required: (.*)", r"missing \1.", message)
        say(f"{self.prog}: error: {message} See {self.prog} --help.")
        self.exit(2)

    def _print_message(self, message, file=None):
        # Help alone is left to argparse, which says nothing where it cannot write.
        from skfilterrank.cli._output import finish, put

        put(message)
        finish()


def similar(name: str, known: Iterable[str]) -> str:
    """Return a question about the known name that is most like a wrong one, or nothing."""
    # Dashes would make any two options alike.
    plain = {each.lstrip("-"): each for each in known}
    found = difflib.get_close_matches(name.lstrip("-"), list(plain), 1, 0.6)
    return f" Did you mean {plain[found[0]]}?" if found else ""


def _in_other_words(name, options):
    """Return a question about options that other programs call by this name, or nothing."""
    word = name.lstrip("-")
    found = [each for each in options if each in _OTHER_WORDS.get(word, ())]
    if len(word) == 1:
        # One letter is the first one of a name that begins as "--n-jobs" does.
        found = found or [each for each in options if each.startswith(f"--{word}-")]
    return f" Did you mean {' or '.join(found)}?" if found else ""


def choice(choices):
    """Return a converter that takes only some texts."""

    def convert(text):
        if text in choices:
            return text
        raise argparse.ArgumentTypeError(
            f"expected {', '.join(choices)}, got {brief(text)}.{similar(text, choices)}"
        )

    return convert


class _Once(argparse.Action):
    """Action of an option that has one value: a second one would replace the first in silence."""

    def __call__(self, parser, namespace, values, option_string=None):
        """Store the value, or say that there is one already."""
        if hasattr(namespace, self.dest):
            parser.error(f"{self.option_strings[-1]} is given twice. Leave out one of them.")
        setattr(namespace, self.dest, values)


class _Again(argparse.Action):
    """Action of an option that may be repeated: a list of all its values."""

    def __call__(self, parser, namespace, values, option_string=None):
        """Add a value, or several that one text holds."""
        new = values if isinstance(values, list) else [values]
        setattr(namespace, self.dest, [*getattr(namespace, self.dest, []), *new])


def _completed(choices, **context):
    """Return all choices; argcomplete leaves those that begin as the word does."""
    return choices


class _Help(argparse.RawDescriptionHelpFormatter):
    """Layout of the help: names at the left, text beside them, as wide as the terminal."""

    def __init__(self, prog):
        width = min(shutil.get_terminal_size((100, 24)).columns, 110)
        super().__init__(prog, max_help_position=_NAMES, width=width)

    def _format_args(self, action, default_metavar):
        form = _MANY.get(action.nargs)
        return (
            form.format(action.metavar) if form else super()._format_args(action, default_metavar)
        )

    def start_section(self, heading):
        super().start_section({"positional arguments": "arguments"}.get(heading, heading))


def _arg_of(hint):
    """Return the properties of an argument; the choices may be a Literal's."""
    arg = next((note for note in getattr(hint, "__metadata__", ()) if isinstance(note, Arg)), Arg())
    hint = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    kinds = (kind for kind in (hint, *get_args(hint)) if get_origin(kind) is Literal)
    return replace(arg, choices=arg.choices or get_args(next(kinds, None)))


def _documentation(function):
    """Return a docstring's text, the text of each parameter, and its examples."""
    document = inspect.getdoc(function) or ""
    head, *sections = _SECTION.split(document)
    parts = dict(zip(sections[::2], sections[1::2]))
    texts = {
        match["name"]: " ".join(match["text"].split())
        for match in _PARAMETER.finditer(parts.get("Parameters", "") + "\n")
    }
    examples = parts.get("Examples", "").strip("\n")
    if examples:
        examples = "examples:\n" + textwrap.indent(examples, "  ")
    return head.strip(), texts, examples

"""The parser of a command, made from its function: arguments, help, choices, defaults and errors.

A keyword-only parameter becomes an option, required if it has no default. Any other parameter
becomes a positional argument. An option has one value and may be repeated for several; only
positional arguments can have many values. So no value can be mistaken for another argument. A
parameter annotated by a dataclass is replaced by an option for each of its fields, which several
commands share. Choices are taken from ``Literal``; ``Annotated[type, Arg(...)]`` has further
properties, and shared ones are in `_types`. The help of a parameter is in the numpydoc section of
the function, or else in its `Arg` or in the dataclass.
"""

import argparse
import inspect
import re
import shutil
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, is_dataclass, replace
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from skfilterrank.exceptions import brief, did_you_mean

_SECTION = re.compile(r"^(\w+)\n-{3,}\n", re.MULTILINE)
_PARAMETER = re.compile(r"^(?P<name>\w+).*\n(?P<text>(?:    .*\n|\n)*)", re.MULTILINE)
# Width of the option names in the help.
_NAMES = 30
_LONGEST_CHOICES = 36
_COMMON = "every command: --quiet, --verbose, --plugin MODULE, --debug, --help"


@dataclass(frozen=True)
class Arg:
    """Properties of an argument of a command.

    Attributes
    ----------
    help : str
        Help text, if the function's docstring has none.
    convert : callable or None
        Function from the text of a value to the value, which raises ArgumentTypeError.
    choices : sequence of str
        Allowed values.
    metavar : str
        Name of a value in the help.
    short : str
        Second name of the option, such as "-m".
    many : {"", "+", "repeat"}
        Number of arguments at this place; an option may be repeated.
    shown : object
        Description of the default, if the value is not suitable.
    file : {"", "read", "write"}
        Whether the value names a file, and what for.
    """

    help: str = ""
    convert: Callable[[str], Any] | None = None
    choices: Sequence[str] = ()
    metavar: str = ""
    short: str = ""
    many: str = ""
    shown: Any = None
    file: str = ""


class CommandParser(argparse.ArgumentParser):
    """Parser of a function's arguments; errors are one line and suggest similar names."""

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
        # A single line for the options that `skfilterrank --help` explains.
        self._add(common, dict.fromkeys(inspect.signature(common).parameters, argparse.SUPPRESS))
        self.add_argument("-h", "--help", action="help", help=argparse.SUPPRESS)
        self.epilog = f"{_COMMON}\n\n{self.epilog}" if self.epilog else _COMMON

    def _add(self, function, texts):
        """Add the parameters of a function; return the usage text of positional arguments."""
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
                places.append(f"{metavar}..." if arg.many else metavar)
            self.add_argument(*flags, metavar=metavar, type=convert, help=text, **keywords)
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
        """Parse arguments; return the given ones by parameter. Options may be anywhere."""
        values, rest = self.parse_known_intermixed_args(argv)
        for text in rest:
            if text.startswith("-"):
                options = [option for option in self._option_string_actions if option[:2] == "--"]
                name = text.partition("=")[0]
                self.error(f"there is no option {name}.{did_you_mean(name, options, 1)}")
            self.error(f"{brief(text)} is one argument too many.")
        return vars(values)

    def grouped(self, values) -> dict[str, Any]:
        """Group values of shared options into their dataclasses."""
        values = dict(values)
        for name, group in self._groups.items():
            own = inspect.signature(group).parameters
            values[name] = group(**{key: values.pop(key) for key in own if key in values})
        return values

    def options(self) -> dict[str, tuple[str, Arg]]:
        """Return the written form and the properties of each argument, by name of the parameter."""
        return self._args

    def error(self, message):
        """Print one line and exit with code 2."""
        from skfilterrank.cli._output import say

        message = re.sub(r"^argument (-\w/)?(\S+?): ", r"\2: ", message)
        missing = "a value is missing. Write --option=VALUE where it begins with -."
        message = re.sub("expected one argument$", missing, message)
        message = re.sub("the following arguments are required: (.*)", r"missing \1.", message)
        say(f"{self.prog}: error: {message} See {self.prog} --help.")
        self.exit(2)

    def _print_message(self, message, file=None):
        # Only help is printed by argparse, which ignores write errors.
        from skfilterrank.cli._output import finish, put

        put(message)
        finish()


def choice(choices):
    """Return a converter that accepts only some texts."""

    def convert(text):
        if text in choices:
            return text
        raise argparse.ArgumentTypeError(
            f"expected {', '.join(choices)}, got {brief(text)}.{did_you_mean(text, choices, 1)}"
        )

    return convert


class _Once(argparse.Action):
    """Action that raises for a repeated option, instead of silently using the last value."""

    def __call__(self, parser, namespace, values, option_string=None):
        """Store the value, or raise if there is one already."""
        if hasattr(namespace, self.dest):
            parser.error(f"{self.option_strings[-1]} is given twice. Leave out one of them.")
        setattr(namespace, self.dest, values)


class _Again(argparse.Action):
    """Action of an option that may be repeated: a list of all its values."""

    def __call__(self, parser, namespace, values, option_string=None):
        """Append a value, or several values of one text."""
        new = values if isinstance(values, list) else [values]
        setattr(namespace, self.dest, [*getattr(namespace, self.dest, []), *new])


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help layout with names on the left and text beside them, as wide as the terminal."""

    def __init__(self, prog):
        width = min(shutil.get_terminal_size((100, 24)).columns, 110)
        super().__init__(prog, max_help_position=_NAMES, width=width)

    def _format_args(self, action, default_metavar):
        if action.nargs == "+":
            return f"{action.metavar}..."
        return super()._format_args(action, default_metavar)

    def start_section(self, heading):
        super().start_section({"positional arguments": "arguments"}.get(heading, heading))


def _arg_of(hint):
    """Return the properties of an argument; choices may come from a Literal."""
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

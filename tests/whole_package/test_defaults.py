"""What a docstring says is the default is the default, of every public function and class."""

import inspect
import re

from public_names import public

# A line of numpydoc such as "k : int or None, default=10".
PARAMETERS = re.compile(r"^([\w, *]+) : (.+)$", re.MULTILINE)


def test_documented_defaults():
    for name, thing in public().items():
        for parameter, default, said in defaults(thing):
            assert repr(default) == repr(said), f"{parameter} of {name}"


def defaults(thing):
    """Each parameter whose default is told, with what it is and what is said."""
    text = inspect.getdoc(thing) or ""
    section = re.search(
        r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n---|\Z)", text, re.DOTALL | re.MULTILINE
    )
    signature = inspect.signature(thing).parameters
    for names, said in PARAMETERS.findall(section[1] if section else ""):
        # Haystack hides the parameters of its components.
        for parameter in set(names.replace("*", "").split(", ")) & set(signature):
            _, is_said, value = said.partition("default=")
            # What is said in other ways, or cut short, is for readers alone.
            if is_said and re.fullmatch(r"[^.]*(\d\.\d+[^.]*)?", value):
                yield parameter, signature[parameter].default, eval(value, {"nan": float("nan")})

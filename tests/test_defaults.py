"""What a docstring says is the default is the default, of every public function and class."""

import inspect
import re

import pytest

from public_names import public

# A line of numpydoc such as "k : int or None, default=10".
PARAMETERS = re.compile(r"^([\w, *]+) : (.+)$", re.MULTILINE)


@pytest.mark.parametrize(("name", "thing"), public().items())
def test_documented_defaults(name, thing):
    text = inspect.getdoc(thing) or ""
    section = re.search(
        r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n---|\Z)", text, re.DOTALL | re.MULTILINE
    )
    signature = inspect.signature(thing).parameters
    for names, said in PARAMETERS.findall(section[1] if section else ""):
        for parameter in names.replace("*", "").split(", "):
            _, is_said, value = said.partition("default=")
            # What is said in other ways, or cut short, is for readers alone.
            if is_said and re.fullmatch(r"[^.]*(\d\.\d+[^.]*)?", value):
                default = signature[parameter].default
                assert repr(default) == repr(eval(value, {"nan": float("nan")})), parameter

"""The frame of a report: head, contents and script around its parts."""

import base64
import hashlib
from importlib.resources import files
from string import Template

import skfilterrank
from skfilterrank._files.files import open_for_writing
from skfilterrank.cli.compare.report.elements import element, join


def write_page(path, title, names, parts) -> None:
    """Write the parts; `names` are those of the contents, by the ids of the parts."""
    links = [element("li", element("a", name, href=f"#{key}")) for key, name in names.items()]
    script = _text("js")
    page = _template("html").substitute(
        title=title,
        style=_text("css"),
        script=script,
        script_hash=_hash_of(script),
        navigation=element("nav", element("ul", *links), aria_label="Contents"),
        body=join(*parts),
        footer=f"skfilterrank {skfilterrank.__version__}",
    )
    with open_for_writing(path) as write:
        write(page)


def _text(ending):
    """A file beside this one."""
    return (files(__package__) / f"report.{ending}").read_text(encoding="utf-8").strip()


def _hash_of(script):
    """By what a browser knows the one script of the page."""
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _template(ending):
    return Template(_text(ending) + "\n")

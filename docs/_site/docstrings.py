"""Parts of numpydoc docstrings, and their reStructuredText as Markdown."""

import re


def section(doc: str, title: str) -> str:
    """The text of a section, empty where there is none."""
    parts = re.split(r"^(.+)\n-{3,}\n", doc, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2])).get(title, "").strip("\n")


def markdown(text: str) -> str:
    """Markdown of the little reStructuredText that the docstrings use."""
    text = re.sub(r":\w+:`~?([^`]*)`", r"`\1`", text)
    text = re.sub(r"\[(\d+)\]_", r"[\1]", text)
    # A colon that begins a block of code there is an ordinary one here.
    return re.sub(r"::$", ":", text.replace("``", "`"), flags=re.MULTILINE)

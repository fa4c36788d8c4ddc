"""The sources of the library in BibTeX, and who refers to them."""

import importlib
import inspect
import re
from pathlib import Path

from .docstrings import section

BIBLIOGRAPHY = Path(__file__).parent.parent / "references.bib"


def entries() -> dict[str, dict]:
    """Fields and text of each entry by its key; a file of our own, with a field to a line."""
    found = {}
    for text in re.split(r"^(?=@)", BIBLIOGRAPHY.read_text(encoding="utf-8"), flags=re.MULTILINE):
        if not text.startswith("@"):
            continue
        kind, key = re.match(r"@(\w+)\{([^,]+),", text).groups()
        fields = dict(re.findall(r"^  (\w+) = \{(.*)\},?$", text, flags=re.MULTILINE))
        found[key] = {"kind": kind, "text": text.strip(), **fields}
    return found


def cited_in(references: str) -> list[str]:
    """Keys of the entries whose titles a section of references has."""
    text = letters(references)
    return [key for key, entry in entries().items() if letters(entry["title"]) in text]


def letters(text: str) -> str:
    """The text without case, spaces and signs, which differ between those who cite it."""
    return re.sub(r"[\W]+", "", text).lower()


def link(entry: dict) -> str:
    """Where the source stands, as Markdown."""
    if "doi" in entry:
        return f"[doi:{entry['doi']}](https://doi.org/{entry['doi']})"
    return f"<{entry['url']}>" if "url" in entry else entry.get("note", "")


def plain_title(entry: dict) -> str:
    """The title without the braces that keep its capitals."""
    return re.sub(r"[{}]", "", entry["title"])


def bibtex_blocks(references: str) -> list[str]:
    """A box with the BibTeX of each source."""
    known, lines = entries(), []
    for key in cited_in(references):
        entry = known[key]
        lines += [f":::{{dropdown}} BibTeX: {plain_title(entry)}", link(entry), ""]
        lines += ["```bibtex", entry["text"], "```", ":::", ""]
    return lines


def citations(things) -> dict[str, list[str]]:
    """For each key the names of the public things whose docstrings refer to it."""
    found = {key: [] for key in entries()}
    for name, thing in things.items():
        for key in cited_in(section(inspect.getdoc(thing) or "", "References")):
            found[key].append(name)
    return found

"""The sources of the library in BibTeX, and who refers to them."""

import inspect
import re
import unicodedata
from functools import cache
from pathlib import Path

from .docstrings import section

BIBLIOGRAPHY = Path(__file__).parent.parent / "references.bib"
ACCENTS = {'"': "\u0308", "`": "\u0300", "'": "\u0301", "~": "\u0303", "v": "\u030c"}


@cache
def entries() -> dict[str, dict]:
    """Fields and text of each entry by its key; the file has a field to a line."""
    found = {}
    for text in re.split(r"^(?=@)", BIBLIOGRAPHY.read_text(encoding="utf-8"), flags=re.MULTILINE):
        if not text.startswith("@"):
            continue
        kind, key = re.match(r"@(\w+)\{([^,]+),", text).groups()
        fields = dict(re.findall(r"^  (\w+) = \{(.*)\},?$", text, flags=re.MULTILINE))
        found[key] = {"kind": kind, "text": text.strip(), **fields}
    return found


def items(doc: str) -> list[str]:
    """The references of a docstring, each in a line."""
    parts = re.split(r"^\.\. \[\d+\] |\n\n", section(doc, "References"), flags=re.MULTILINE)
    return [" ".join(part.split()) for part in parts if part.strip()]


def keys_in(item: str) -> list[str]:
    """Keys of the entries that a reference names, by their titles and first authors."""
    text = letters(item)
    return [
        key
        for key, entry in entries().items()
        if letters(readable(entry["title"])) in text
        and any(letters(word) in text for word in surname(entry).split())
    ]


def cited_in(doc: str) -> list[str]:
    """Keys of all that a docstring refers to, in its order."""
    return list(dict.fromkeys(key for item in items(doc) for key in keys_in(item)))


def surname(entry: dict) -> str:
    """The first author's."""
    return readable(entry["author"]).split(" and ")[0].split(",")[0]


def letters(text: str) -> str:
    """The text without case, accents, spaces and signs, which differ between those who cite it."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKD", text)).lower()


def readable(text: str) -> str:
    """A field without what only TeX reads."""
    text = re.sub(
        r"\{\\([\"'`~v])\{?(\w)\}?\}",
        lambda match: unicodedata.normalize("NFC", match[2] + ACCENTS[match[1]]),
        text,
    )
    return re.sub(r"[{}\\]", "", text)


def link(entry: dict) -> str:
    """Where the source stands, as Markdown."""
    if "doi" in entry:
        return f"[doi:{entry['doi']}](https://doi.org/{entry['doi']})"
    return f"<{entry['url']}>" if "url" in entry else f"{entry['note']}."


def bibtex_blocks(doc: str) -> list[str]:
    """A box with the BibTeX of each source of a docstring."""
    lines = []
    for key in cited_in(doc):
        entry = entries()[key]
        lines += [f":::{{dropdown}} BibTeX: {readable(entry['title'])}", link(entry), ""]
        lines += ["```bibtex", entry["text"], "```", ":::", ""]
    return lines


def docs_of(name: str, thing) -> dict[str, str]:
    """The docstring of a public thing, and of the methods of a class, by their names."""
    found = {name: inspect.getdoc(thing) or ""}
    for method, function in vars(thing).items() if inspect.isclass(thing) else ():
        if inspect.isfunction(function) and method[0] != "_":
            found[f"{name}.{method}"] = inspect.getdoc(function) or ""
    return found


def citations(things) -> dict[str, list[str]]:
    """For each key the names of the public things whose docstrings refer to it."""
    found = {key: [] for key in entries()}
    for name, thing in things.items():
        for owner, doc in docs_of(name, thing).items():
            for key in cited_in(doc):
                found[key].append(owner)
    return found

"""The page of all sources."""

from . import references


def sources(things) -> str:
    """Every source with its BibTeX and the public names that refer to it."""
    named = references.citations(things)
    lines = ["# Sources", ""]
    lines += ["What the library is made from, by first author, and the names that refer to it.", ""]
    for key, entry in sorted(references.entries().items()):
        lines += [f"## {references.readable(entry['title'])}", ""]
        authors = references.readable(entry["author"]).replace(" and ", "; ")
        lines += [f"{authors}, {entry['year']}. {references.link(entry)}", ""]
        if named[key]:
            names = (f"{{py:obj}}`{name.split('.', 2)[2]} <{name}>`" for name in named[key])
            lines += [f"Cited by {', '.join(names)}.", ""]
        lines += ["```bibtex", entry["text"], "```", ""]
    return "\n".join(lines)

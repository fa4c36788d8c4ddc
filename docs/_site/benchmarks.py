"""Pages of the results that the scripts in benchmarks/ have written."""

import re
from pathlib import Path

RESULTS = Path(__file__).parent.parent.parent / "benchmarks/results"


def pages() -> dict[str, str]:
    """The results as they are, and an index of them."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(RESULTS.glob("*.md"))}
    return {**texts, "index.md": index(texts)}


def index(texts) -> str:
    """Titles of all results, with what was found in a line."""
    lines = ["# Benchmarks", ""]
    lines += ["Each page is written by the script of `benchmarks/` that measured it.", ""]
    lines += ["| what | pictures |", "| --- | --- |"]
    for name, text in texts.items():
        title = re.search(r"^# (.+)$", text, re.MULTILINE).group(1)
        lines.append(f"| [{title}]({name}) | {text.count('](') and text.count('![') or ''} |")
    lines += ["", "```{toctree}", ":hidden:", "", *(name.removesuffix(".md") for name in texts)]
    return "\n".join([*lines, "```", ""])

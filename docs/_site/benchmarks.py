"""Pages of the results that the scripts in benchmarks/ have written."""

import re
from pathlib import Path

RESULTS = Path(__file__).parent.parent.parent / "benchmarks/results"


def pages() -> dict[str, str]:
    """The results as they are, and an index of them."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(RESULTS.glob("*.md"))}
    return {**texts, "index.md": index(texts)}


def index(texts) -> str:
    """Titles of all results, with the script that measured each."""
    lines = ["# Benchmarks", ""]
    lines += [
        "Figures of the documentation are measured by scripts in `benchmarks/`, each of which",
        "writes its page here, with the machine that it ran on.",
        "",
    ]
    lines += ["| what | script |", "| --- | --- |"]
    for name, text in texts.items():
        title = re.search(r"^# (.+)$", text, re.MULTILINE).group(1)
        lines.append(f"| [{title}]({name}) | {script_of(name)} |")
    lines += ["", "```{toctree}", ":hidden:", "", *(name.removesuffix(".md") for name in texts)]
    return "\n".join([*lines, "```", ""])


def script_of(name) -> str:
    """The script that writes a result."""
    stem = name.removesuffix(".md")
    scripts = RESULTS.parent
    writers = [f"{stem}.py"] if (scripts / f"{stem}.py").exists() else []
    writers += [
        path.name
        for path in sorted(scripts.glob("*.py"))
        if not writers and re.search(rf"\b{stem}\b", path.read_text(encoding="utf-8"))
    ]
    return f"`{writers[0]}`" if writers else ""

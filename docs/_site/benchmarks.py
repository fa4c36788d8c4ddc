"""Pages of the results that the scripts in benchmarks/ have written."""

import importlib.util
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
SCRIPTS = ROOT / "benchmarks"
RESULTS = SCRIPTS / "results"


@cache
def entries():
    """The table of all benchmarks, which is beside them."""
    spec = importlib.util.spec_from_file_location("_entries", SCRIPTS / "_entries.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pages() -> dict[str, str]:
    """The results, with a word on those that are older than their code, and an index of them."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(RESULTS.glob("*.md"))}
    return {
        **{name: with_age(text, name) for name, text in texts.items()},
        "index.md": index(texts),
    }


def index(texts) -> str:
    """Titles of all results, with the script that measured each."""
    lines = ["# Benchmarks", ""]
    lines += [
        "Figures of the documentation are measured by scripts in `benchmarks/`, each of which",
        "writes its page here, with the machine that it ran on. [Results](../figures.md) sums them",
        "up.",
        "",
    ]
    lines += ["| what | script |", "| --- | --- |"]
    for name, text in texts.items():
        title = re.search(r"^# (.+)$", text, re.MULTILINE).group(1)
        entry = entries().entry_of(name)
        script = f"`{Path(entry.script).name}.py{f' {entry.part}' if entry.part else ''}`"
        lines.append(f"| [{title}]({name}) | {script} |")
    lines += ["", "```{toctree}", ":hidden:", "", "../figures"]
    lines += [name.removesuffix(".md") for name in texts]
    return "\n".join([*lines, "```", ""])


def with_age(text, name) -> str:
    """A result, which says so where the code that it measures has changed since."""
    found = entries().COMMIT.search(text)
    if found is None:
        return text
    changed = entries().changed_since(found[1], entries().entry_of(name)).measured
    if not changed:
        return text
    files = ", ".join(f"`{file.removeprefix('skfilterrank/')}`" for file in changed)
    end = found.end()
    return f"{text[:end]}\nThe code that this measures has changed since: {files}.\n{text[end:]}"

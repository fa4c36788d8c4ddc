"""Write README.md beside this: each script, what it asks, and the results that it writes."""

import ast
import re
from pathlib import Path

HERE = Path(__file__).parent
# Parts of a script that write what it names.
HELPERS = {path.stem: path.read_text(encoding="utf-8") for path in HERE.rglob("_*.py")}
HEAD = """\
# Benchmarks

Each script asks one question and writes its answer to `results/`, headed by the command, commit,
date and machine it was made with (answers older than this rule name the commit that brought them).
`pip install -e '.[all]' --group benchmarks` installs what they need; public data are read from the
folder that `--data` or the variable `SKFILTERRANK_DATA` names. `make bench-quick` compares five
ratios with the committed ones, for a release. This page is written by `python
benchmarks/make_index.py`.

| script | what it asks | results |
| --- | --- | --- |
"""


def scripts():
    """Every script that is run by itself, those of maintainers last."""
    found = [*sorted(HERE.glob("*.py")), *sorted((HERE / "maintainers").glob("*.py"))]
    return [path for path in found if not path.name.startswith("_")]


def result_files(path):
    """Files in results/ that begin as the script, or are named in it or in a part of it."""
    text = path.read_text(encoding="utf-8")
    text += "".join(part for name, part in HELPERS.items() if f"from {name} import" in text)
    # Written as "name", "name.md" or results/name.md; other mentions are links to results.
    words = set(re.findall(r"(?:\"|results/)([a-z0-9_-]+)(?=[\".])", text))
    stems = [script.stem for script in scripts()]
    found = []
    for file in sorted((HERE / "results").iterdir()):
        owner = max((stem for stem in stems if file.stem.startswith(stem)), key=len, default=None)
        if owner == path.stem or (owner is None and file.stem in words):
            found.append(file.name)
    return found


def page():
    """The index as Markdown."""
    lines = []
    for path in scripts():
        question = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))).split("\n\n")[0]
        links = ", ".join(f"[{name}](results/{name})" for name in result_files(path))
        name = path.relative_to(HERE).as_posix()
        lines.append(f"| [{name}]({name}) | {' '.join(question.split())} | {links} |\n")
    return HEAD + "".join(lines)


if __name__ == "__main__":
    (HERE / "README.md").write_text(page(), encoding="utf-8")

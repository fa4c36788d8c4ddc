"""Write README.md beside this: each script, what it asks, and the results that it writes."""

import ast

from _entries import ENTRIES, HERE, MAINTAINERS

HEAD = """\
# Benchmarks

Each script asks one question and writes its answer to `results/`, headed by the command, commit,
date and machine it was made with (answers older than this rule name the commit that brought them).
`pip install -e '.[all]' --group benchmarks` installs what they need; public data are read from the
folder that `--data` or the variable `SKFILTERRANK_DATA` names.

`make benchmarks` runs all of them, two at a time, in about 75 minutes on two cores, and prints a
line for each: name, seconds, exit code. Results say of how many draws they are; options of the
scripts ask for more. `python benchmarks/run_all.py --only NAME` runs some, `--at-most MINUTES`
those that take no longer, `--quick` tries them with their smallest options, and `--stale` lists
the results that are older than the code that they measure. The table of parts, options and
minutes of processor time is `_entries.py`, from which `python benchmarks/make_index.py` writes
this page. `make bench-quick` compares five ratios with the committed ones, for a release.

| script | what it asks | minutes | results |
| --- | --- | --- | --- |
"""


def page():
    """The index as Markdown."""
    lines, scripts = [], {}
    for entry in [*ENTRIES, *MAINTAINERS]:
        scripts.setdefault(entry.script, []).append(entry)
    for script, entries in sorted(scripts.items(), key=lambda each: (each[0].count("/"), each[0])):
        text = (HERE / f"{script}.py").read_text(encoding="utf-8")
        question = ast.get_docstring(ast.parse(text)).split("\n\n")[0]
        names = sorted(name for entry in entries for name in entry.results.split())
        links = ", ".join(f"[{name}](results/{name})" for name in names)
        minutes = f"{sum(entry.minutes for entry in entries):g}"
        words = " ".join(question.split())
        lines.append(f"| [{script}.py]({script}.py) | {words} | {minutes} | {links} |\n")
    return HEAD + "".join(lines)


if __name__ == "__main__":
    (HERE / "README.md").write_text(page(), encoding="utf-8")

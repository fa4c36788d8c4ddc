"""Pages of the results that the scripts in benchmarks/ have written."""

import ast
import importlib
import inspect
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
SCRIPTS = ROOT / "benchmarks"
RESULTS = SCRIPTS / "results"
COMMIT = re.compile(r"Commit: (the one before )?([0-9a-f]{7,})[^\n]*\n")


def pages() -> dict[str, str]:
    """The results, with a word on those that are older than their code, and an index of them."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(RESULTS.glob("*.md"))}
    marked = {name: with_age(text, script_of(name)) for name, text in texts.items()}
    return {**marked, "index.md": index(texts)}


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
        script = script_of(name)
        lines.append(f"| [{title}]({name}) | {f'`{script.name}`' if script else ''} |")
    lines += ["", "```{toctree}", ":hidden:", "", "../figures"]
    lines += [name.removesuffix(".md") for name in texts]
    return "\n".join([*lines, "```", ""])


def script_of(name) -> Path | None:
    """The script that writes a result."""
    stem = name.removesuffix(".md")
    paths = sorted([*SCRIPTS.glob("*.py"), *(SCRIPTS / "maintainers").glob("*.py")])
    scripts = [path for path in paths if not path.name.startswith("_")]
    if own := [path for path in scripts if path.stem == stem]:
        return own[0]
    writers = [script for script in scripts if re.search(rf"\b{stem}\b", _text_with_parts(script))]
    return writers[0] if writers else None


def with_age(text, script) -> str:
    """A result, which says so where the code that it measures has changed since."""
    found = COMMIT.search(text)
    if found is None or script is None:
        return text
    n_commits = commits_since(found[2], sorted(measured_files(script)))
    if not n_commits:
        return text
    commits = "1 commit" if n_commits == 1 else f"{n_commits} commits"
    end = found.end()
    return f"{text[:end]}\nThe code that this measures has changed since ({commits}).\n{text[end:]}"


def commits_since(commit, files, root=ROOT) -> int:
    """How many commits have changed some of the files since; 0 without git or its history."""
    if not files:
        return 0
    command = ["git", "-C", root, "rev-list", "--count", f"{commit}..HEAD", "--", *files]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return 0
    return int(done.stdout)


def measured_files(script) -> set[str]:
    """Files of the package that define what a script and its parts import."""
    files = set()
    for part in _parts(script):
        for node in ast.walk(ast.parse(part.read_text(encoding="utf-8"))):
            module = getattr(node, "module", None) or ""
            if isinstance(node, ast.ImportFrom) and module.partition(".")[0] == "skfilterrank":
                files |= {_file_of(module, alias.name) for alias in node.names}
    return {str(file.relative_to(ROOT)) for file in files if file and file.is_relative_to(ROOT)}


def _file_of(module, name):
    """The file that defines a name, or None where there is none of the name any more."""
    try:
        thing = getattr(importlib.import_module(module), name)
        return Path(inspect.getsourcefile(inspect.unwrap(getattr(thing, "kernel", thing))))
    except (ImportError, AttributeError):
        return None
    except TypeError:  # a constant
        return Path(importlib.import_module(module).__file__)


def _parts(script):
    """A script and the files of its folder that it imports, directly or not."""
    found, new = set(), {script}
    while new:
        path = new.pop()
        found.add(path)
        words = re.findall(r"^ *(?:from|import) (\w+)", path.read_text(encoding="utf-8"), re.M)
        paths = (folder / f"{word}.py" for word in words for folder in {path.parent, SCRIPTS})
        new |= {each for each in paths if each.exists()}
        new -= found
    return found


def _text_with_parts(script):
    """What a script and its own parts say; other scripts that it uses are none."""
    parts = (path for path in _parts(script) if path == script or path.name.startswith("_"))
    return "\n".join(path.read_text(encoding="utf-8") for path in parts)

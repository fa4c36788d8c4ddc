"""What a report was made from, and what it holds in a form that programs read."""

import hashlib
import html
import json
import os
import platform
import re
import shlex
from datetime import UTC, datetime
from importlib.metadata import version

from skfilterrank.cli._run_files import STDIN
from skfilterrank.cli._shared_options import wants_sample

import skfilterrank
from skfilterrank.cli.compare.report.elements import (
    Html,
    element,
    join,
    number_cell,
    section,
    table,
)
from skfilterrank.exceptions import FileFormatError

_PACKAGES = ("numpy", "pandas", "scipy", "scikit-learn", "matplotlib")
_TESTING = ("test", "correction", "baseline", "alpha", "n_resamples", "seed")
_READING = (
    *("gains", "unjudged_label", "predicted", "unjudged"),
    *("ties", "precision", "undefined", "n_items"),
)
_OF_SAMPLES = ("unit", "target", "correction", "baseline", "alpha", "seed")
_WORDS = {
    "target": "by the sample",
    "gains": "the label is the gain",
    "unjudged_label": "none",
    "predicted": "use, with a warning",
    "test": "by the measure",
    "correction": "holm",
    "baseline": "none",
}
_DATA = re.compile(r'<div id="data" hidden="" data-report="([^"]*)"')


def made_from(arguments) -> dict:
    """The command, its settings, its files with hashes, the date and the versions."""
    files = [("values", path) for path in arguments.scores or ()]
    if not files:
        qrels, *runs = arguments.files
        files = [("judgments", qrels), *(("run", path) for path in runs)]
    files += [("machine labels", path) for path in arguments.machine_qrels]
    files += [("sample", arguments.prels)] if arguments.prels else []
    files += [("pool", arguments.pool)] if arguments.pool else []
    files += [("topics", arguments.topics)] if arguments.topics else []
    files += [("documents", arguments.docs)] if arguments.docs else []
    settings: tuple[str, ...] = ("missing", *_TESTING)
    if wants_sample(arguments):
        settings = (*_READING, *_OF_SAMPLES)
    elif not arguments.scores:
        settings = (*_READING, *settings)
    return {
        "command": shlex.join(["skfilterrank", *arguments.argv]),
        "date": datetime.now(UTC).date().isoformat(),
        "versions": {"skfilterrank": skfilterrank.__version__, "Python": platform.python_version()}
        | {name: version(name) for name in _PACKAGES},
        "settings": {name: _shown(name, getattr(arguments, name)) for name in settings},
        "files": [_file(kind, path) for kind, path in files],
    }


def how_it_was_made(made) -> Html:
    """All of this as a part of the page."""
    pairs = [
        ("Command", element("code", made["command"])),
        ("Made on", made["date"]),
        ("With", ", ".join(f"{name} {number}" for name, number in made["versions"].items())),
        *((f"--{name.replace('_', '-')}", text) for name, text in made["settings"].items()),
    ]
    rows = [
        [
            each["name"],
            each["kind"],
            number_cell(each["size"] or 0, f"{each['size']:,}" if each["size"] else "–"),
            each["modified"] or "–",
            element("code", each["sha256"] or "–"),
        ]
        for each in made["files"]
    ]
    listed = join(*(join(element("dt", name), element("dd", text)) for name, text in pairs))
    head = ["file", "what", "bytes", "changed last", "SHA-256"]
    return section(
        "How this was made",
        element("dl", listed),
        table("Files that were read", head, rows),
        id="made",
    )


def data_of(comparisons, made, alpha) -> Html:
    """What the script of the page and later reports read: origin, values, outcomes of tests."""
    measures = []
    for name, comparison in comparisons.items():
        scores = comparison.scores
        number = {system: place for place, system in enumerate(scores.systems)}
        pairs = comparison.pairs(alpha)
        measures.append(
            {
                "name": name,
                "greater_is_better": scores.greater_is_better,
                "systems": list(scores.systems),
                "queries": list(map(str, scores.queries)),
                "values": [[float(f"{value:.6g}") for value in row] for row in scores.values],
                "means": [float(f"{value:.6g}") for value in scores.values.mean(axis=1)],
                "first": [number[system] for system in pairs["first"]],
                "second": [number[system] for system in pairs["second"]],
                "p": [float(f"{p:.3g}") if p == p else None for p in pairs["p_adjusted"]],
                "significant": [int(yes) for yes in pairs["significant"]],
            }
        )
    text = json.dumps({"made": made, "measures": measures}, separators=(",", ":"))
    return element("div", id="data", hidden="", data_report=text)


def read_data(path) -> dict:
    """What `data_of` wrote into a report."""
    with open(path, encoding="utf-8", errors="replace") as file:
        found = _DATA.search(file.read())
    if found is None:
        raise FileFormatError(
            "is no report of skfilterrank compare --html, or one of an earlier version, which "
            "holds no values.",
            path,
        )
    return json.loads(html.unescape(found[1]))


def _shown(name, value):
    """A setting in words."""
    if value is None or value == "warn":  # as labels below 0 are read where nobody says
        return _WORDS.get(name, "none")
    if isinstance(value, dict):
        return ", ".join(f"{label}={gain:g}" for label, gain in value.items())
    return f"{value:g}" if isinstance(value, float) else str(value)


def _file(kind, path):
    """Name, size, date and hash of a file; what came through a pipe has a name only."""
    found = {"name": path, "kind": kind, "size": None, "modified": None, "sha256": None}
    if path == STDIN or not os.path.isfile(path):
        return found
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        status = os.fstat(file.fileno())
    changed = datetime.fromtimestamp(status.st_mtime, UTC).isoformat(timespec="seconds")
    return found | {"size": status.st_size, "modified": changed, "sha256": digest}

"""All benchmarks: how each is run, the results that it writes, and about how long it takes.

run_all.py runs them, make_index.py and the site list them, and `changed_since` says whether a
result is younger than the code that it measures.
"""

import ast
import importlib
import inspect
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
ROOT = HERE.parent
COMMIT = re.compile(r"Commit: (?:the one before )?([0-9a-f]{7,})[^\n]*\n")


def _files(report, pattern, parts):
    return " ".join([report, *map(pattern.format, parts.split())]).strip()


class Entry(NamedTuple):
    """A command, the files in results/ that it writes, and how long it takes."""

    script: str
    part: str
    options: str
    # Options of a short run, which shows that the script works; None if it has none.
    quick: str | None
    results: str
    minutes: float

    @property
    def name(self):
        return f"{self.script} {self.part}".strip()

    def command(self, quick=False):
        """Words after `python`, from the folder of the repository."""
        options = self.quick if quick else self.options
        return [f"benchmarks/{self.script}.py", *self.part.split(), *(options or "").split()]


DRAWN = "anchors cost few_labels later_runs machines selectors training ways"
TWO_SCORES = "appeal deals gains speed validity"
ENTRIES = [
    Entry(
        "main_job",
        "",
        "",
        "--learner linear --folds 1",
        "semeval_main_job.md semeval_first_three.md mq2007_main_job.md",
        11,
    ),
    Entry("filter_pays", "", "", "--seeds 1 --queries 30", "filter_pays.md", 16),
    Entry("semantic_features", "", "", None, "semantic_features.md", 7),
    Entry("methods_and_thresholds", "", "", None, "methods_and_thresholds.md", 3),
    Entry("thresholds", "", "", None, "per_query_threshold.md thresholds_other_lists.md", 6),
    Entry(
        "score_comparability",
        "",
        "",
        "--queries 40 --repeats 2",
        _files("", "score_comparability_{}.md", "sizes findings errors"),
        3,
    ),
    Entry("truncation", "mq2007", "", "--folds 1", "truncation_mq2007.md", 0.4),
    Entry("truncation", "robust04", "", "--folds 1", "truncation_robust04.md", 2.8),
    Entry(
        "two_scores",
        "",
        "",
        "--draws 1 --lists 160 --validity-draws 5",
        _files("two_scores.md", "two_scores_{}.csv", TWO_SCORES),
        4.6,
    ),
    Entry("promises", "", "", "--repeats 8", "promises_validity.md risk_guarantee.md", 7),
    Entry("promise_kinds", "units", "", "--repeats 5", "promise_units.md", 0.7),
    Entry("promise_kinds", "segments", "", "--repeats 5", "promise_kinds_segments.md", 2.7),
    Entry("promise_kinds", "reports", "", "--repeats 5", "promise_reports.md", 0.2),
    Entry("monitors", "delays", "", "--streams 2 --changes 4", "monitor_delays.md", 1.4),
    Entry("monitors", "clusters", "", "--clustered 2", "monitor_clusters.md", 0.4),
    Entry("monitors", "certificates", "", "--draws 5", "certificates_over_time.md", 0.3),
    Entry("rag", "", "", "--draws 5", "rag.md", 0.8),
    Entry("calibrated_ranker", "", "", "", "calibrated_ranker.md", 1.7),
    Entry("price_of_forbidden", "", "", "", "price_of_forbidden.md", 0.3),
    Entry("rankers_mq2007", "boosting", "", "--rounds 5", "boosting_mq2007.md", 0.6),
    Entry(
        "rankers_mq2007",
        "lambdarank",
        "",
        "--trees 5 --repeats 1 --orders 1",
        "lambdarank_mq2007.md",
        2.4,
    ),
    Entry("rankers_mq2007", "ascent", "", "", "coordinate_ascent_mq2007.md", 1.3),
    Entry("rankers_mq2007", "ascent_forum", "", "", "coordinate_ascent_semeval.md", 1.5),
    Entry("rankers_mq2007", "search", "", "--searched-trees 3", "gridsearch_mq2007.md", 0.9),
    Entry("mq2007_tables", "", "--jobs 1", None, "mq2007_tables.md", 5),
    Entry(
        "web_track",
        "measures",
        "",
        "--draws 1",
        _files("web_track_measures.md", "web_track_{}.png", "reliability sensitivity stability"),
        1.9,
    ),
    Entry("web_track", "unbounded", "", "", "web_track_unbounded.md", 0.8),
    Entry("recall", "scales", "", "", "lexirecall_scales.md", 1.1),
    Entry(
        "recall",
        "analyses",
        "",
        "--samples 1",
        "recall_analyses.md recall_analyses.png recall_degradation.png",
        3,
    ),
    Entry("recall", "theory", "", "--queries 100", "robustness_tables.md", 0.2),
    Entry(
        "labels_needed",
        "cranfield",
        "",
        "--repetitions 1 --predict-repetitions 1",
        "labels_needed.md labels_needed.png labels_needed_rmse.png labels_needed_tau.png",
        4,
    ),
    Entry(
        "labels_needed",
        "collections",
        "--predict-repetitions 1",
        "--predict-repetitions 1 --queries 8",
        "labels_needed_collections.md",
        5,
    ),
    Entry("labels_needed", "finding", "", "--queries 1", "labels_needed_finding.md", 1.5),
    Entry(
        "labels_needed",
        "stopping",
        "--repetitions 30",
        "--repetitions 1 --queries 8",
        "labels_needed_stopping.md",
        3,
    ),
    Entry(
        "drawn_labels",
        "",
        "",
        "--repetitions 1",
        _files("drawn_labels.md", "drawn_labels_{}.csv", DRAWN),
        10,
    ),
    Entry(
        "intervals",
        "dl2019",
        "",
        "--repetitions 1",
        "intervals_dl2019.md intervals_dl2019.csv",
        4,
    ),
    Entry(
        "intervals",
        "hard",
        "--repetitions 12",
        "--repetitions 1",
        "intervals_hard.md intervals_hard.csv",
        3.5,
    ),
    Entry("intervals", "limits", "", "--repetitions 1", "intervals_limits.md", 0.4),
    Entry(
        "intervals",
        "other",
        "--repetitions 20",
        "--repetitions 1",
        "intervals_other_collections.md intervals_other_collections.csv",
        1.1,
    ),
    Entry("intervals", "few_relevant", "", "--repetitions 1", "few_relevant.md", 1.2),
    Entry("intervals", "forbidden", "", "--repetitions 1", "forbidden_documents.md", 0.3),
    Entry("systems_without_judgments", "orders", "", None, "systems_without_judgments.md", 2),
    Entry(
        "systems_without_judgments",
        "reliability",
        "",
        None,
        "pseudo_qrels_reliability.md pseudo_qrels_reliability.png",
        2.3,
    ),
    Entry("systems_without_judgments", "machines", "", None, "systems_by_machine_labels.md", 0.4),
    Entry("trec_covid_round1", "values", "", "", "trec_covid_round1.md", 0.4),
    Entry("trec_covid_round1", "evaluation", "", "--repeats 1", "evaluation_speed.md", 2),
    Entry("trec_covid_round1", "reading", "", "--rows 10000 --repeats 1", "trec_reading.md", 1),
    Entry("trec_covid_round1", "fusion", "", "", "fusion_trec_covid.md", 0.2),
    Entry("conformance", "", "", "", "conformance.md conformance.csv", 0),
    Entry("speed", "measures", "", "--rows 100000 --repeats 1", "measure_speed.md", 2),
    Entry("speed", "ndcg_f", "", "--rows 100000", "metric_speed.md", 1),
    Entry("speed", "fit", "", "--fitted-rows 20000", "fit_overhead.md", 2),
    Entry("speed", "serving", "", "", "serving.md", 0.5),
    Entry("speed", "comparison", "", None, "comparison_speed.md", 2),
    Entry("large_data", "streams", "", "--rows 1000000", "streams.md", 2.5),
    Entry("large_data", "external_memory", "", "--queries 500", "external_memory.md", 0.5),
]
# For releases and changes; run_all.py does not run them.
MAINTAINERS = [
    Entry("maintainers/growth", "", "", None, "growth.md", 2),
    Entry("maintainers/mutants", "", "", None, "", 600),
    Entry("maintainers/quick", "", "", None, "quick.json", 1),
    Entry("maintainers/same_results", "", "", None, "", 2),
]


def entry_of(result) -> Entry:
    """The entry that writes a file of results/."""
    return next(e for e in [*ENTRIES, *MAINTAINERS] if result in e.results.split())


# What reads options and writes reports changes no figure.
WRITING = {"RESULTS", "arguments", "provenance", "run_parts", "write_report"}


class Changes(NamedTuple):
    """Code that is not as it was at the commit that a result names."""

    # Functions and constants of scripts that its part reaches, and files that define what they use:
    # texts and comments aside.
    script: list[str]
    measured: list[str]
    # Other files of the rooms of these, in any way.
    rooms: list[str]


def changed_since(commit, entry, root=ROOT) -> Changes:
    """What has changed in the code that a result is of; nothing without git or its history."""
    own, measured = reached(root / f"benchmarks/{entry.script}.py", entry.part)
    rooms = {str(Path(file).parent) for file in measured} - {"skfilterrank"}
    paths = sorted(rooms | measured | {file for file, _ in own})
    diff = ["diff", "--name-only", commit, "--", *paths]
    changed = {each for each in _git(root, *diff).splitlines() if each.endswith(".py")}
    now = {each: _now(root / each) for each in changed}
    then = {
        each: _definitions(_git(root, "show", f"{commit}:{each}"))
        for each in changed & (measured | {file for file, _ in own})
    }
    script = [
        f"{file}: {name}"
        for file, name in sorted(own)
        if file in changed and then[file].get(name) != now[file].get(name)
    ]
    files = sorted(each for each in changed & measured if then[each] != now[each])
    return Changes(script, files, sorted(changed - then.keys()))


def reached(script, part) -> tuple[set[tuple[str, str]], set[str]]:
    """Pairs (file, name) of the scripts' code that a part uses, and files of the package."""
    found, measured, new = set(), set(), []
    tree, top, _ = _read(script)
    for node in ast.walk(tree):
        if part and isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values)
            named = [v for k, v in pairs if getattr(k, "value", None) == part]
            new += [(script, v.id) for v in named if isinstance(v, ast.Name)]
    new = new or [(script, name) for name in top]
    while new:
        path, name = new.pop()
        _, top, imported = _read(path)
        if name not in top or (path, name) in found:
            continue
        found.add((path, name))
        for node in ast.walk(top[name]):
            used = getattr(node, "id", None)
            if used in WRITING:
                continue
            module, original = imported.get(used, ("", ""))
            if module.partition(".")[0] == "skfilterrank":
                measured.add(_file_of(module, original))
            elif module and (path.parent / f"{module}.py").exists():
                new.append((path.parent / f"{module}.py", original))
            elif used:
                new.append((path, used))
    root = script.parents[1] if script.parent.name == "benchmarks" else script.parents[2]
    # A constant of a room is taken for one of its __init__.py, which lists names.
    files = {file for file in measured if file and file.is_relative_to(root)}
    files = {file for file in files if file.name != "__init__.py"}
    own = {(str(path.relative_to(root)), name) for path, name in found}
    return own, {str(file.relative_to(root)) for file in files}


@cache
def _read(path):
    """What a script is, defines and imports: a tree, {name: node}, and {name: (module, name)}."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = {
        alias.asname or alias.name: (node.module, alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
    return tree, _top_level(tree), imported


def _top_level(tree):
    """{name: node} of what a module defines."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node
        elif isinstance(node, ast.Assign) and not _is_text(node.value):
            found |= {each.id: node for each in ast.walk(node) if isinstance(each, ast.Name)
                      and isinstance(each.ctx, ast.Store)}  # fmt: skip
    return found


def _is_text(node):
    """Tell whether a constant is lines for readers, which change no figure."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" in node.value


@cache
def _file_of(module, name):
    """The file that defines a name, or None where there is none of the name any more."""
    try:
        thing = getattr(importlib.import_module(module), name)
        return Path(inspect.getsourcefile(inspect.unwrap(getattr(thing, "kernel", thing))))
    except (ImportError, AttributeError):
        return None
    except TypeError:  # a constant
        return Path(importlib.import_module(module).__file__)


@cache
def _definitions(text):
    """{name: code} of a module, without its texts for readers."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and ast.get_docstring(
            node
        ):
            node.body = node.body[1:]
    return {name: ast.dump(node) for name, node in _top_level(tree).items()} | {"": ast.dump(tree)}


@cache
def _now(path):
    return _definitions(path.read_text(encoding="utf-8") if path.exists() else "")


@cache
def _git(root, *words):
    try:
        command = ["git", "-C", str(root), *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""

"""The index of the benchmarks names all of them, and reports say what made them."""

import ast
import importlib
import inspect
import re
import shutil
import subprocess
import sys
import tomllib
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from _site import benchmarks as pages_of_results
from skfilterrank._lists.measure import MEASURES
from skfilterrank.io import align

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"

pytestmark = pytest.mark.skipif(
    not BENCHMARKS.is_dir(), reason="the benchmarks are no part of what is released"
)


@pytest.fixture
def make(monkeypatch):
    """Import a file of the folder, of which some are named as files elsewhere."""

    def make(name):
        monkeypatch.syspath_prepend(str(BENCHMARKS))
        monkeypatch.delitem(sys.modules, name, raising=False)
        return __import__(name)

    yield make
    sys.modules.pop("make_index", None)
    sys.modules.pop("_common", None)


@pytest.mark.slow
def test_the_index_is_that_of_the_folder(make):
    index = make("make_index")
    page = (BENCHMARKS / "README.md").read_text(encoding="utf-8")
    assert page == index.page(), "run python benchmarks/make_index.py"


def test_every_result_is_in_the_index_once():
    page = (BENCHMARKS / "README.md").read_text(encoding="utf-8")
    linked = re.findall(r"\]\(results/(.*?)\)", page)
    assert sorted(linked) == sorted(path.name for path in (BENCHMARKS / "results").iterdir())


def _git(*words):
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    return subprocess.run(
        ["git", "-C", BENCHMARKS, *words], capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_the_commits_of_results_are_in_the_history():
    if _git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
        pytest.skip("no whole history")
    pages = (BENCHMARKS / "results").glob("*.md")
    named = {
        commit: path.name
        for path in pages
        for commit in re.findall(r"Commit: (?:the one before )?([0-9a-f]{7,})", path.read_text())
    }
    assert len(named) > 20
    history = _git("rev-list", "HEAD").stdout.split()
    known = {commit[:length] for length in {*map(len, named)} for commit in history}
    assert not {commit: name for commit, name in named.items() if commit not in known}


def test_results_are_of_committed_code():
    for path in (BENCHMARKS / "results").iterdir():
        if path.suffix in (".md", ".json"):
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"[0-9a-f]{7}-dirty|Commit: unknown", text), path.name


@pytest.mark.slow
def test_a_page_says_when_its_code_has_changed(tmp_path):
    _git("--version")

    def commit(file, text):
        (tmp_path / file).write_text(text)
        words = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
        for command in (["add", "."], [*words, "commit", "-qm", text]):
            subprocess.run(["git", "-C", tmp_path, *command], check=True)
        head = ["git", "-C", tmp_path, "rev-parse", "--short", "HEAD"]
        return subprocess.run(head, capture_output=True, text=True, check=True).stdout.strip()

    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    measured = commit("a.py", "one")
    commit("b.py", "other")
    assert pages_of_results.commits_since(measured, ["a.py"], tmp_path) == 0
    commit("a.py", "two")
    commit("a.py", "three")
    assert pages_of_results.commits_since(measured, ["a.py"], tmp_path) == 2
    assert pages_of_results.commits_since("0" * 7, ["a.py"], tmp_path) == 0
    assert pages_of_results.commits_since(measured, ["a.py"], tmp_path / "gone") == 0


@pytest.mark.slow
def test_a_page_knows_the_files_that_its_script_measures(monkeypatch, tmp_path):
    assert pages_of_results.script_of("evaluation_speed.md").name == "trec_covid_round1.py"
    script = tmp_path / "script.py"
    script.write_text("import _common\nfrom skfilterrank.metrics import ndcg_f_score, gone\n")
    assert pages_of_results.measured_files(script) == {"skfilterrank/metrics/_dcg.py"}
    monkeypatch.setattr(pages_of_results, "commits_since", lambda commit, files: len(commit))
    text = "# T\n\nCommand: x. Commit: abcdef0. Date: y.\n\n| a |\n"
    assert pages_of_results.with_age(text, script) == (
        "# T\n\nCommand: x. Commit: abcdef0. Date: y.\n\n"
        "The code that this measures has changed since (7 commits).\n\n| a |\n"
    )
    monkeypatch.setattr(pages_of_results, "commits_since", lambda commit, files: 0)
    assert pages_of_results.with_age(text, script) == text


def test_a_report_says_what_made_it(make, tmp_path, monkeypatch, capsys):
    common = make("_common")
    monkeypatch.setattr(common, "RESULTS", tmp_path)
    folder = ["--data", "/somebody/s folder", "--cache=other"]
    monkeypatch.setattr(sys, "argv", ["/x/streams.py", "--rows", "10", *folder, "--quick"])
    common.write_report("streams", "Streams", "text")
    title, made, text = (tmp_path / "streams.md").read_text().strip().split("\n\n")
    assert (title, text) == ("# Streams", "text")
    assert made.startswith("Command: `python benchmarks/streams.py --rows 10 --quick`. Commit: ")
    assert re.search(r"Commit: \S+\. Date: \d{4}-\d\d-\d\d\. Machine: .*numpy \d", made)

    def no_git(*args, **kwargs):
        raise OSError("no git")

    monkeypatch.setattr(subprocess, "run", no_git)
    assert "Commit: unknown." in common.provenance()


ROOT = BENCHMARKS.parent


def test_named_changes_can_be_made():
    """`mutants.py named` looks for these texts, and runs these tests."""
    lost = []
    for path in sorted((BENCHMARKS / "maintainers" / "mutants_named").glob("*.toml")):
        for entry in tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]:
            source = (ROOT / entry["file"]).read_text(encoding="utf-8")
            tests = [ROOT / test.partition("::")[0] for test in entry["tests"]]
            if source.count(entry["old"]) != 1 or not all(test.exists() for test in tests):
                lost.append((path.name, entry["file"], entry["why"]))
    assert not lost


RESULT = re.compile(r"benchmarks/results/([\w-]+\.md)")
# Means, differences and ratios of several numbers of a table.
DERIVED = {
    "thresholds_other_lists.md": {"0.150", "0.154", "0.186", "0.190", "0.035"},
    "metric_speed.md": {"2.5"},
}


def figures_of(page):
    """Blocks of a page that name results: its figures, and the names of these results."""
    text = re.sub(r"```.*?```", "", page, flags=re.DOTALL)
    for block in re.split(r"\n\s*\n|\n(?=\| )|\n(?=\* )", text):
        if names := RESULT.findall(block):
            words = re.sub(r"\]\([^)]*\)|`[^`]*`", " ", block)
            figures = re.findall(r"(?<![\w.@-])\d[\d,]*\.\d+(?:e-?\d+)?", words)
            if block.startswith("| "):  # a line of figures alone
                figures += re.findall(r"(?<![\w.])\d+(?= %)", block.split(" | ")[1])
            yield figures, names


def is_in(figure, table):
    """Tell whether a table has the figure: more exact, as a share of 100, or in units of 1e-4."""
    digits = len(figure.partition("e")[0].partition(".")[2])
    value = float(figure.replace(",", ""))
    if "e" in figure:
        return figure in table
    found = (float(each.replace(",", "")) for each in re.findall(r"\d[\d,]*(?:\.\d+)?", table))
    near = 0.5 * 10**-digits + 1e-9
    return any(
        abs(each * scale - value) <= near for each in found for scale in (1, 100, 1e-3, 1e-4)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["README.md", *sorted(p.name for p in (ROOT / "docs").glob("*.md"))]
)
def test_figures_are_in_the_results_that_they_name(name):
    path = ROOT / name if name == "README.md" else ROOT / "docs" / name
    lost = []
    for figures, names in figures_of(path.read_text(encoding="utf-8")):
        tables = "\n".join((BENCHMARKS / "results" / each).read_text() for each in names)
        derived = set().union(*(DERIVED.get(each, set()) for each in names))
        lost += [(f, names) for f in figures if f not in derived and not is_in(f, tables)]
    assert not lost


def test_a_figure_that_no_result_has_is_found():
    line = "| cost | 6.9 %; 23 % | [x](benchmarks/results/fit_overhead.md) |"
    ((figures, names),) = figures_of(f"# Title\n\n| what | figure |\n| --- | --- |\n{line}\n")
    assert (figures, names) == (["6.9", "23"], ["fit_overhead.md"])
    table = "| 6.94 % | 0.5 | 21.8 % |"
    assert [is_in(each, table) for each in ("6.9", "23", "50", "22", "7.0")] == [
        True, False, True, True, False,
    ]  # fmt: skip


def test_measures_of_two_columns_by_hand(make):
    script = make("price_of_forbidden")
    table = pd.DataFrame(
        {
            "qid": "q",
            "label": [-1, 1, 0, 1],
            "relevant": [1, 0.5, 0, 0.5],
            "credible": [0, 1, 1, 1],
            "order": [-1, 1, 0, 1],
        }
    )
    found = script.two_columns(table, {"a": [4.0, 3, 2, 1]})
    found = {name: frame.loc["a", "q"] for name, frame in found.items()}
    second, third, fourth = 1 / np.log2([3, 4, 5])
    one = (1 + second / 2 + fourth / 2) / (1 + second / 2 + third / 2)
    other = (second + third + fourth) / (1 + second + third)
    # The distances to (1, 1) are 1, 1/2, 1, 1/2. Of the possible ones, sqrt(2), sqrt(5) / 2, 1,
    # 1/2 and 0, they are the third and the fourth: grades 2, 3, 2, 3.
    graded = (2 + 3 * second + 2 * third + 3 * fourth) / (3 + 3 * second + 2 * third + 2 * fourth)
    best, worst = 1 / 2 + second / 2, -1
    expected = {
        "nDCG of relevance": one,
        "nDCG of credibility": other,
        "CAM": (one + other) / 2,
        "WHAM": 2 / (1 / one + 1 / other),
        "NWCS": graded,  # Half the sum of the labels is a quarter of these grades.
        "TOMA": graded,
        "nDCG_f: -1": (-1 + second / 2 + fourth / 2 - worst) / (best - worst),
        "forbidden of 10": 1 / 4,
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected)
    assert found["help - harm"] == pytest.approx(found["help"] - found["harm"])


def test_printed_tables_are_where_a_script_reads_them(make):
    assert make("_ul_tables").PRINTED.exists()


@pytest.mark.parametrize("folder", ["benchmarks", "examples"])
def test_scripts_import_names_that_exist(folder):
    """Also scripts that import packages which few have installed."""
    wrong = []
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom) or node.level or not node.module:
                continue
            if node.module.partition(".")[0] != "skfilterrank":
                continue
            try:
                module = importlib.import_module(node.module)
            except ModuleNotFoundError:
                wrong.append(f"{path.name}: {node.module}")
                continue
            names = {alias.name for alias in node.names}
            missing = [name for name in names if not hasattr(module, name)]
            places = [f"{node.module}.{name}" for name in missing]
            wrong += [f"{path.name}: {each}" for each in places if not find_spec(each)]
    assert wrong == []


def unknown_arguments(tree):
    """Arguments by name, also in `partial`, that a function of the library or a measure lacks."""
    nodes, called = list(ast.walk(tree)), {}
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("skfilterrank."):
            module = importlib.import_module(node.module)
            for alias in node.names:
                value = getattr(module, alias.name, None)
                if callable(value) and not isinstance(value, type):
                    called[alias.asname or alias.name] = inspect.signature(value).parameters
    for call in nodes:
        if not isinstance(call, ast.Call):
            continue
        name = getattr(call.func, "id", None)
        if name == "partial":
            name = getattr(call.args[0], "id", None)
        known = called.get(name, {})
        rest = [each.name for each in known.values() if each.kind is each.VAR_KEYWORD]
        if known and rest in ([], ["options"]):
            names = known.keys() | (options_of_measures() if rest else set())
            given = [each.arg for each in call.keywords if each.arg is not None]
            yield from (f"{name}({each}=)" for each in given if each not in names)


@cache
def options_of_measures():
    """Names that functions take as `**options`: of measures, and of how judgments are read."""
    of_judgments = {*inspect.signature(align).parameters, "n_items"}
    return of_judgments.union(*(inspect.signature(each).parameters for each in MEASURES.values()))


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["benchmarks", "examples"])
def test_scripts_give_arguments_that_exist(folder):
    """Also options of measures, which mypy takes for anything."""
    wrong = [
        f"{path.name}: {each}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for each in unknown_arguments(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert wrong == []


def test_an_argument_that_does_not_exist_is_found():
    script = """
from skfilterrank.comparison import compare_systems as compare, score_systems
from skfilterrank.metrics import ndcg_f_score
score_systems(qrels, runs, missings="empty", persistence=0.5, **options)
partial(compare, test="tukey", n_resample=9)
ndcg_f_score([1], [2.0], k=3, persistence=0.5)
"""
    found = list(unknown_arguments(ast.parse(script)))
    assert sorted(found) == [
        "compare(n_resample=)",
        "ndcg_f_score(persistence=)",
        "score_systems(missings=)",
    ]

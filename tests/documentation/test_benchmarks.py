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
from count_docstrings import statements
from skfilterrank._lists.measure import MEASURES
from skfilterrank.io import QrelsIndex, align

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"

# Packages from which scripts import, whether they are installed or not.
PACKAGES = [
    "catboost",
    "cosmic_ray",
    "hypothesis",
    "ir_measures",
    "joblib",
    "lenskit",
    "lightgbm",
    "mapie",
    "matplotlib",
    "our_values",
    "pyarrow",
    "ranx",
    "scipy",
    "skfilterrank",
    "sklearn",
    "statsmodels",
    "threadpoolctl",
    "torchmetrics",
    "xgboost",
]

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
    for name in ("_common", "_entries", "make_index", "run_all"):
        sys.modules.pop(name, None)


def test_the_index_is_that_of_the_table(make):
    index = make("make_index")
    page = (BENCHMARKS / "README.md").read_text(encoding="utf-8")
    assert page == index.page(), "run python benchmarks/make_index.py"


def test_the_table_has_every_script_and_every_result_once(make):
    table = make("_entries")
    entries = [*table.ENTRIES, *table.MAINTAINERS]
    scripts = [*BENCHMARKS.glob("*.py"), *(BENCHMARKS / "maintainers").glob("*.py")]
    found = {path.relative_to(BENCHMARKS).with_suffix("").as_posix() for path in scripts}
    found -= {name for name in found if Path(name).name.startswith("_")}
    assert {entry.script for entry in entries} == found - {"make_index", "run_all"}
    assert len([name for name in found if "/" not in name]) <= 28
    assert len({entry.name for entry in entries}) == len(entries)
    results = [name for entry in entries for name in entry.results.split()]
    assert sorted(results) == sorted(path.name for path in (BENCHMARKS / "results").iterdir())


def test_parts_and_options_of_the_table_exist(make):
    for entry in make("_entries").ENTRIES:
        text = (BENCHMARKS / f"{entry.script}.py").read_text(encoding="utf-8")
        assert not entry.part or f'"{entry.part}"' in text, entry.name
        for option in re.findall(r"--([\w-]+)", f"{entry.options} {entry.quick}"):
            assert re.search(rf"\b{option.replace('-', '_')}\b", text), (entry.name, option)


def test_results_name_the_command_of_their_entry(make):
    for entry in make("_entries").ENTRIES:
        for name in entry.results.split():
            if name.endswith(".md"):
                text = (BENCHMARKS / "results" / name).read_text(encoding="utf-8")
                command = re.search(r"Command: `python benchmarks/(\S+)\.py(.*?)`", text)
                assert command[1] == entry.script, name
                # Without a part all are run.
                parts = [word for word in command[2].split() if not word.startswith("-")]
                assert not entry.part or not parts or entry.part in parts, name


@pytest.mark.slow
def test_what_fails_does_not_stop_the_others(make, monkeypatch, tmp_path, capsys):
    run_all = make("run_all")
    results = tmp_path / "benchmarks" / "results"
    results.mkdir(parents=True)
    programs = {"bad": "1 / 0", "good": "import os; print(os.environ['SKFILTERRANK_RESULTS'])"}
    for name, text in programs.items():
        (results.parent / f"{name}.py").write_text(text)
    short = run_all.ENTRIES[0]._replace(part="", quick="", minutes=1)
    entries = [short._replace(script=name) for name in programs]
    entries.append(entries[0]._replace(script="long", quick=None, minutes=9))
    for name, value in {"ENTRIES": entries, "HERE": results.parent, "ROOT": tmp_path}.items():
        monkeypatch.setattr(run_all, name, value)
    monkeypatch.setenv("SKFILTERRANK_DATA", str(tmp_path / "none"))
    monkeypatch.setattr(sys, "argv", ["run_all.py", "--quick", "--jobs", "1"])
    with pytest.raises(SystemExit):
        run_all.main()
    assert "none: set SKFILTERRANK_DATA or pass --data" in capsys.readouterr().err
    monkeypatch.setenv("SKFILTERRANK_DATA", str(tmp_path))
    assert run_all.main() is True
    left_out, bad, why, good, last = capsys.readouterr().out.splitlines()
    assert left_out.split() == ["long", "left", "out:", "no", "small", "option,", "9", "minutes"]
    assert re.fullmatch(r"bad +\d+ s  CPU +\d+ s  rc 1", bad)
    assert why.split() == ["ZeroDivisionError:", "division", "by", "zero"]
    assert re.fullmatch(r"good +\d+ s  CPU +\d+ s  rc 0", good)
    folder = Path(last.removeprefix("1 of 2 failed; what they said is in "))
    assert (folder / "good.log").read_text().strip() == str(folder / "results")
    assert "ZeroDivisionError" in (folder / "bad.log").read_text()
    few = ["--only", "good", "long", "--at-most", "8"]
    monkeypatch.setattr(sys, "argv", ["run_all.py", *few, "--jobs", "1"])
    monkeypatch.setenv("SKFILTERRANK_RESULTS", "own")
    assert run_all.main() is False
    shutil.rmtree(folder)
    left_out, good, last = capsys.readouterr().out.splitlines()
    assert left_out.split() == ["long", "left", "out:", "too", "long,", "9", "minutes"]
    assert good.startswith("good ")
    shutil.rmtree(last.split()[-1])


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
    named = [
        (commit, path.name)
        for path in pages
        for commit in re.findall(r"Commit: (?:the one before )?([0-9a-f]{7,})", path.read_text())
    ]
    assert len(named) > 50
    history = _git("rev-list", "HEAD").stdout.split()
    known = {commit[:length] for length in {len(each) for each, _ in named} for commit in history}
    assert not [each for each in named if each[0] not in known]


def test_results_are_of_committed_code():
    for path in (BENCHMARKS / "results").iterdir():
        if path.suffix in (".md", ".json"):
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"[0-9a-f]{7}-dirty|Commit: unknown", text), path.name


@pytest.mark.slow
def test_a_result_says_what_has_changed_since(make, tmp_path):
    _git("--version")
    table = make("_entries")
    (tmp_path / "benchmarks").mkdir()

    def commit(file, text):
        (tmp_path / file).write_text(text)
        words = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
        for command in (["add", "."], [*words, "commit", "-qm", "any"]):
            subprocess.run(["git", "-C", tmp_path, *command], check=True)
        head = ["git", "-C", tmp_path, "rev-parse", "--short", "HEAD"]
        return subprocess.run(head, capture_output=True, text=True, check=True).stdout.strip()

    def changed(commit):
        for cached in (table._git, table._read, table._now):
            cached.cache_clear()
        return table.changed_since(
            commit, table.ENTRIES[0]._replace(script="a", part="one"), tmp_path
        )

    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    commit("benchmarks/_help.py", "SIZE = 3\nOTHER = 4\n")
    script = (
        "from _help import SIZE\n"
        'NOTES = """Text.\n"""\n'
        'def one():\n    """Text."""\n    return shared() + NOTES\n'
        "def two():\n    return 2\n"
        "def shared():\n    return SIZE\n"
        'run({"one": one, "two": two})\n'
    )
    measured = commit("benchmarks/a.py", script)
    assert not any(changed(measured))
    # Other words and what the other part does are no change.
    commit("benchmarks/a.py", script.replace("Text", "Words").replace("return 2", "return 3"))
    commit("benchmarks/_help.py", "SIZE = 3  # so many\nOTHER = 5\n")
    assert not any(changed(measured))
    commit("benchmarks/a.py", script.replace("return SIZE", "return SIZE + 1"))
    commit("benchmarks/_help.py", "SIZE = 4\nOTHER = 5\n")
    assert changed(measured).script == ["benchmarks/_help.py: SIZE", "benchmarks/a.py: shared"]
    assert not any(changed("0" * 7))


@pytest.mark.slow
def test_a_page_knows_the_files_that_its_part_measures(make, monkeypatch):
    table = make("_entries")
    _, thread = table.reached(BENCHMARKS / "main_job.py", "thread")
    _, mq2007 = table.reached(BENCHMARKS / "main_job.py", "mq2007")
    assert {
        "skfilterrank/ranking/_make_ranker.py",
        "skfilterrank/metrics/_report.py",
    } <= thread & mq2007
    assert "skfilterrank/ranking/_text_features.py" in thread - mq2007
    assert "skfilterrank/io/_letor.py" in mq2007 - thread
    own, _ = table.reached(BENCHMARKS / "rankers_mq2007.py", "ascent_forum")
    assert {("benchmarks/main_job.py", "read"), ("benchmarks/_common.py", "FORUM_COLUMNS")} <= own
    assert pages_of_results.entries().entry_of("evaluation_speed.md").part == "evaluation"

    def changed_since(commit, entry):
        assert (commit, entry.name) == ("abcdef0", "speed serving")
        return table.Changes(
            ["a: b"], ["skfilterrank/x.py", "skfilterrank/y.py"][:n_changed], ["z"]
        )

    monkeypatch.setattr(pages_of_results.entries(), "changed_since", changed_since)
    text, n_changed = "# T\n\nCommand: x. Commit: abcdef0. Date: y.\n\n| a |\n", 2
    assert pages_of_results.with_age(text, "serving.md") == (
        "# T\n\nCommand: x. Commit: abcdef0. Date: y.\n\n"
        "The code that this measures has changed since: `x.py`, `y.py`.\n\n| a |\n"
    )
    n_changed = 0
    assert pages_of_results.with_age(text, "serving.md") == text


def test_a_report_says_what_made_it(make, tmp_path, monkeypatch, capsys):
    common = make("_common")
    monkeypatch.setattr(common, "RESULTS", tmp_path)
    folder = ["--data", "/somebody/s folder", "--cache=other"]
    monkeypatch.setattr(sys, "argv", ["/x/large_data.py", "--rows", "10", *folder, "--quick"])
    common.write_report("streams", "Streams", "text")
    title, made, text = (tmp_path / "streams.md").read_text().strip().split("\n\n")
    assert (title, text) == ("# Streams", "text")
    assert made.startswith("Command: `python benchmarks/large_data.py --rows 10 --quick`. Commit: ")
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
    "thresholds_other_lists.md": {"0.148", "0.152", "0.179", "0.186"},
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


@cache
def parsed(path):
    """The syntax tree of a script, which several tests walk."""
    return ast.parse(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("folder", ["benchmarks", "examples"])
def test_scripts_import_names_that_exist(folder):
    """Also scripts that import packages which few have installed."""
    wrong = []
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in statements(parsed(path)):
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


def test_scripts_import_from_each_other_what_is_there():
    """A script that joined another leaves its name in what imported it."""
    folders = [BENCHMARKS, BENCHMARKS / "maintainers", BENCHMARKS / "_conformance"]
    trees = {path.stem: parsed(path) for folder in folders for path in folder.glob("*.py")}
    outside = {*sys.stdlib_module_names, *PACKAGES}
    wrong = []
    for script, tree in trees.items():
        for node in statements(tree):
            if not isinstance(node, ast.ImportFrom) or node.level or not node.module:
                continue
            name = node.module.partition(".")[0]
            if name in trees:
                known = names_at_top(trees[name])
                wrong += [f"{script}: {each.name}" for each in node.names if each.name not in known]
            elif name not in outside and not (BENCHMARKS / name).is_dir():
                wrong.append(f"{script}: {name}")
    assert wrong == []


@cache
def names_at_top(tree):
    """Names that a module binds: by `def`, `class`, `import` and assignment."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return found


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
    of_judgments = {
        name for form in (align, QrelsIndex) for name in inspect.signature(form).parameters
    }
    return of_judgments.union(*(inspect.signature(each).parameters for each in MEASURES.values()))


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["benchmarks", "examples"])
def test_scripts_give_arguments_that_exist(folder):
    """Also options of measures, which mypy takes for anything."""
    wrong = [
        f"{path.name}: {each}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for each in unknown_arguments(parsed(path))
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

"""The levels of tests: their marks, the targets that run them, and the CPU time of each test."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

pytest_plugins = "pytester"

ROOT = Path(__file__).parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SETTINGS = SETTINGS["tool"]["pytest"]["ini_options"]
OF_PYTEST = {"parametrize", "skipif", "filterwarnings", "xfail", "usefixtures", "timeout"}
LEVELS = """
import pytest

def test_plain(): pass

@pytest.mark.slow
def test_slow(): pass

@pytest.mark.nightly
def test_nightly(): pass
"""


@pytest.fixture
def run(pytester):
    """Run pytest on the text of a test file, as this repository does."""
    pytester.makeconftest((ROOT / "tests" / "conftest.py").read_text(encoding="utf-8"))
    kept = {key: json.dumps(SETTINGS[key]) for key in ("addopts", "markers", "xfail_strict")}
    lines = "\n".join(f"{key} = {value}" for key, value in kept.items())
    pytester.makepyprojecttoml(f"[tool.pytest.ini_options]\n{lines}\n")

    def run(text, *options):
        pytester.makepyfile(text)
        return pytester.runpytest_inprocess("-p", "no:xdist", "-p", "no:hypothesispytest", *options)

    return run


def recipe(target):
    """The lines of a target of the Makefile."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    return re.search(rf"^{target}:.*\n((?:\t.*\n)+)", text, re.MULTILINE)[1]


def options_of(target):
    """The tests that a target asks for: its option -m, if it has one."""
    found = re.search(r"-m '([^']*)'", recipe(target))
    return () if found is None else ("-m", found[1])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "outcomes"),
    [("check-tests", {"passed": 1}), ("test", {"passed": 2}), ("nightly", {"passed": 3})],
)
def test_each_target_runs_its_level(run, target, outcomes):
    assert "$(PYTEST)" in recipe(target)
    run(LEVELS, *options_of(target)).assert_outcomes(**outcomes)


def test_targets_and_who_calls_them():
    assert "check-tests" in recipe("check")
    assert "HYPOTHESIS_PROFILE=nightly" in recipe("nightly")
    assert "make test" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.search(r"^make .*\btest\b", (ROOT / ".ci" / "run").read_text("utf-8"), re.MULTILINE)


@pytest.mark.slow
def test_marks_are_those_of_the_levels(run):
    assert [mark.partition(":")[0] for mark in SETTINGS["markers"]] == ["slow", "nightly"]
    used = set()
    for path in (ROOT / "tests").rglob("*.py"):
        used |= set(re.findall(r"\bpytest\.mark\.(\w+)", path.read_text(encoding="utf-8")))
    used.discard("swift")  # the one below
    assert used - OF_PYTEST <= {"slow", "nightly"}
    assert "nightly" in used
    done = run("import pytest\n\n@pytest.mark.swift\ndef test_one(): pass\n")
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines("*'swift' not found in `markers` configuration option*")


@pytest.mark.slow
def test_the_cpu_time_of_each_test_is_written(run, pytester):
    done = run(
        """
        import time, pytest

        def spend(seconds):
            end = time.process_time() + seconds
            while time.process_time() < end: pass

        @pytest.fixture(scope="module")
        def shared(): spend(0.12)

        def test_long(shared): spend(0.04)

        def test_short(shared): pass
        """,
        "--cpu-times",
        "times.jsonl",
    )
    assert done.ret == pytest.ExitCode.OK
    done.stdout.fnmatch_lines("CPU time of the tests: 0 s.")
    lines = (pytester.path / "times.jsonl").read_text().splitlines()
    times = {line.pop("test").partition("::")[2]: line for line in map(json.loads, lines)}
    assert 0.1 < times["test_long"]["setup"] < 5
    assert 0.03 < times["test_long"]["call"] < 0.1
    assert sum(times["test_short"].values()) < 0.05


@pytest.mark.nightly
def test_workers_report_what_fails_before_and_after_a_test(run, pytester):
    run(
        """
        import pytest

        @pytest.fixture(params=["before", "after"])
        def failing(request):
            assert request.param == "after"
            yield
            assert False

        def test_one(failing): assert failing
        """,
        "--collect-only",
    )
    support = f"--override-ini=pythonpath={ROOT / 'tests' / 'support'}"
    done = pytester.runpytest_subprocess("-n", "1", support)
    done.assert_outcomes(failed=1, errors=2)


# Packages of which each takes as long to import as a file of small tests to run.
HEAVY = ["catboost", "dask", "hypothesis", "lightgbm", "matplotlib", "polars", "xgboost"]
HEAVY += ["scipy", "sklearn"]
# What imports some of these.
OTHERS = ["profiles", "measure_checks", "comparison", "judgments", "metaevaluation", "ranking"]
OTHERS += ["thresholds"]
COLLECT = f"""
import sys, pytest
assert pytest.main(["-q", "--collect-only", "-p", "no:cacheprovider", *sys.argv[1:]]) == 0
print("imported:", *[name for name in {HEAVY} if name in sys.modules])
"""


@pytest.mark.slow
def test_files_import_no_heavy_package_that_they_do_not_name():
    names = re.compile("|".join(OTHERS + HEAVY))
    files = sorted((ROOT / "tests" / "metrics").glob("test_*.py"))
    files = [path for path in files if not names.search(path.read_text(encoding="utf-8"))]
    assert len(files) >= 8
    done = subprocess.run(
        [sys.executable, "-c", COLLECT, *files], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
    assert done.stdout.splitlines()[-1] == "imported:"


def test_files_that_the_makefile_names_are_there():
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"\btests/[\w/.]+", text))
    assert len(named) > 5
    assert [name for name in named if not (ROOT / name).exists()] == []

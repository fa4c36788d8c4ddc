"""The levels of tests: their marks, the targets that run them, the budget, and what is skipped."""

import json
import re
import tomllib
from pathlib import Path

import pytest

import budget
from public_data import HOW_TO_GET_DATA, REASON

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
    [
        ("check-tests", {"passed": 1}),
        ("test", {"passed": 2}),
        ("nightly", {"passed": 3}),
    ],
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


class Seconds:
    """CPU time that tests spend by saying so."""

    now = 0.0

    def __call__(self):
        return self.now


SPENDING = """
import budget, pytest

def spend(seconds):
    budget.cpu_seconds.now += seconds

@pytest.fixture(scope="module")
def shared():
    spend(5)

def test_long(shared): spend(1.6)

@pytest.mark.slow
def test_long_and_slow(): spend(1.6)

@pytest.mark.slow
def test_within_twice_the_budget_and_an_import(): spend(1.4)

@pytest.mark.nightly
def test_long_at_night(): spend(9)

@pytest.mark.parametrize("case", range(3))
def test_cases(case): spend(0.3)

@pytest.mark.parametrize("case", range(3))
def test_short_cases(case): spend(0.03)
"""


@pytest.fixture
def run_spending(run):
    """Run these tests, with that time in place of the CPU's."""

    def run_spending(*options, alone=lambda functions: {}):
        # No longer than the run, as this test's own time is measured too.
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(budget, "cpu_seconds", Seconds())
            patch.setattr(budget, "seconds_alone", alone)
            return run(SPENDING, *options)

    return run_spending


OVER_CASE = "took 1.60 s of CPU, and a test may take 0.5: make it smaller, or mark it nightly."
OVER_FUNCTION = (
    "s of CPU, and one that `make check` runs may take 0.06: mark it slow, or make it smaller."
)


@pytest.mark.slow
def test_tests_over_budget_are_named(run_spending):
    done = run_spending("--enforce-budget", "-m", "")
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    said = [line for line in done.outlines if "s of CPU, and" in line]
    assert [re.sub(r"^.*::", "", line) for line in said] == [
        f"test_long {OVER_CASE}",
        f"test_long_and_slow {OVER_CASE}",
        f"test_long took 1.60 {OVER_FUNCTION}",
        f"test_cases took 0.90 {OVER_FUNCTION}",
    ]


@pytest.mark.slow
def test_a_test_that_is_fast_by_itself_is_within_the_budget(run_spending):
    asked = []

    def alone(functions):
        asked.extend(functions)
        return {f"{asked[0].partition('::')[0]}::test_long": 0.01}

    done = run_spending("--enforce-budget", "-m", "", alone=alone)
    names = [function.partition("::")[2] for function in asked]
    assert names == ["test_cases", "test_long", "test_long_and_slow"]
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    said = [line for line in done.outlines if "s of CPU, and" in line]
    assert [re.search(r"::(\w+)", line)[1] for line in said] == ["test_long_and_slow", "test_cases"]


@pytest.mark.nightly
def test_the_time_by_itself_leaves_out_what_only_the_first_run_pays(run, pytester, monkeypatch):
    run("def test_settings(): pass\n")
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "tests" / "support"))
    file = pytester.makepyfile(
        """
        import sys, time

        def test_first_user():
            if not hasattr(sys, "was_here"):
                sys.was_here = True
                end = time.process_time() + 0.5
                while time.process_time() < end: pass
        """
    )
    (seconds,) = budget.seconds_alone([f"{file}::test_first_user"]).values()
    assert seconds < 0.3


@pytest.mark.slow
def test_the_budget_is_enforced_where_it_is_asked_for(run_spending, pytester):
    done = run_spending("--cpu-times", "times.jsonl")
    assert done.ret == pytest.ExitCode.OK
    done.stdout.fnmatch_lines("CPU time of the tests: 11 s.")  # 5 + 1.6 + 1.6 + 1.4 + 0.9 + 0.09
    lines = (pytester.path / "times.jsonl").read_text().splitlines()
    times = {line["test"].partition("::")[2]: line for line in map(json.loads, lines)}
    assert len(times) == 9
    assert times["test_long"]["setup"] == 5
    assert times["test_long"]["call"] == 1.6
    assert times["test_cases[2]"]["call"] == 0.3


@pytest.mark.slow
def test_skips_are_counted_by_reason(run, pytester):
    done = run(f"""
        import pytest

        @pytest.fixture
        def data(): pytest.skip({REASON!r})

        def test_one(data): pass

        def test_two(data): pass

        def test_three(): pytest.importorskip("no_such_package")

        @pytest.mark.skipif(True, reason="there is no browser")
        def test_four(): pass

        def test_five(): pass
    """)
    done.assert_outcomes(passed=1, skipped=4)
    begin = next(place for place, line in enumerate(done.outlines) if "= skipped =" in line)
    lines = [line for line in done.outlines[begin + 1 :] if line]
    assert lines[0] == f"2 skipped: {REASON}"
    assert set(lines[1:3]) == {
        "1 skipped: could not import 'no_such_package': No module named 'no_such_package'",
        "1 skipped: there is no browser",
    }
    assert lines[3] == HOW_TO_GET_DATA
    assert not any(str(path) in "\n".join(lines[:4]) for path in (ROOT, pytester.path, Path.home()))


@pytest.mark.slow
def test_a_module_that_is_skipped_counts_too(run):
    done = run("import pytest\npytest.importorskip('no_such_package')\n")
    done.stdout.fnmatch_lines("1 skipped: could not import 'no_such_package'*")


def test_files_that_the_makefile_names_are_there():
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"\btests/[\w/.]+", text))
    assert len(named) > 5
    assert [name for name in named if not (ROOT / name).exists()] == []

"""Run the tests that reach a change, in a process that has collected them before."""

import ast
import gc
import importlib
import importlib.abc
import importlib.util
import os
import pickle
import resource
import signal
import sys
import time
from collections import Counter, defaultdict
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FunctionType

import coverage
import numpy as np
import pytest
from _mutants_changes import ROOT, statement_lines
from hypothesis import Phase, settings

# A test that takes so many seconds of processor time more than five times what it takes without the
# change hangs.
PATIENCE = 2
LRU_CACHE = type(cache(len))


class Runner:
    """A pytest plugin that runs the collected tests for each change instead of once.

    With `mutants` None it runs them once, as the process has imported a change of the file `path`
    already. A change has to survive `enough` seconds of tests, the quickest first. After `deadline`
    (as of `time.monotonic`) none is tried any more.
    """

    def __init__(self, mutants, paths, record, trace_file, enough, deadline, path=None):
        self.mutants, self.record, self.trace_file = mutants, record, trace_file
        self.paths, self.enough, self.deadline, self.path = paths, enough, deadline, path
        self.failed = False
        # Tests that noticed changes of a file run first.
        self.noticed = defaultdict(Counter)

    def pytest_configure(self, config):
        quick_examples()

    def pytest_runtest_logreport(self, report):
        self.failed |= report.outcome == "failed"

    def pytest_runtestloop(self, session):
        items = session.items
        if self.mutants is None:
            trace = pickle.loads(self.trace_file.read_bytes())
            near = self._near(trace) if self.path else {item.nodeid for item in items}
            parts = ([i for i in items if (i.nodeid in near) == first] for first in (True, False))
            chosen = [item for part in parts for item in quickest(part, trace, self.enough)]
            self.run(chosen, defaultdict(float, trace["seconds"]))
            os._exit(int(self.failed))
        trace = self._trace(items)
        # Modules that commands import when they are called must be imported to be changed.
        for path in sorted({m.path for m in self.mutants}):
            importlib.import_module(module_of(path))
        gc.unfreeze()
        functions = _functions({str(ROOT / m.path) for m in self.mutants})
        gc.collect()
        gc.freeze()
        for mutant in self.mutants:
            if time.monotonic() > self.deadline:
                break
            chosen = self._chosen(mutant, items, trace)
            begin = time.time()
            outcome = "unreached"
            if chosen:
                said = self.trace_file.with_suffix(".said")
                said.unlink(missing_ok=True)
                first = self.noticed[mutant.path]
                chosen = in_modules(chosen)
                chosen.sort(key=lambda item, first=first: -first[item.nodeid])
                outcome = forked(
                    lambda m=mutant, c=chosen, s=said: self._try(
                        m, c, trace["seconds"], functions, s
                    )
                )
                if said.exists():
                    first[said.read_text()] += 1
            self.record(mutant, outcome, time.time() - begin)
        os._exit(0)

    def _near(self, trace):
        """Find the ids of the tests that reach the file."""
        contexts = set().union(*trace["lines"].get(str(ROOT / self.path), {}).values())
        return {test for test in trace["seconds"] if _reaches(test, trace, contexts)}

    def files(self, tests):
        """Find the files of the quickest tests that reach the file, and of the given tests."""
        trace = pickle.loads(self.trace_file.read_bytes())
        near = sorted(self._near(trace), key=lambda test: trace["seconds"].get(test, 0))
        seconds = np.cumsum([trace["seconds"].get(test, 0) for test in near])
        near = near[: int(np.searchsorted(seconds, self.enough)) + 1]
        named = [test for test in tests if test.endswith(".py")]
        return sorted({test.partition("::")[0] for test in near} | set(named)) if near else tests

    def run(self, items, seconds=None):
        for item, following in zip(items, [*items[1:], None]):
            if seconds is not None:
                # The signal ends the process.
                signal.setitimer(signal.ITIMER_PROF, PATIENCE + 5 * seconds[item.nodeid])
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.failed:
                return item
        return None

    def _try(self, mutant, items, seconds, functions, said):
        pairs = mutant.codes()
        for function in functions[str(ROOT / mutant.path)]:
            for old, new in pairs:
                if function.__code__ == old:
                    function.__code__ = new
                    break
        last = self.run(items, seconds)
        if self.failed:
            said.write_text(last.nodeid)
        return int(self.failed)

    def _trace(self, items):
        """Find the lines that each test reaches, and its seconds; once, in a process of its own."""
        if not self.trace_file.exists():
            forked(lambda: Tracer(self).write(items))
        return pickle.loads(self.trace_file.read_bytes())

    def _chosen(self, mutant, items, trace):
        lines = trace["lines"].get(str(ROOT / mutant.path), {})
        reached = set()
        for line in statement_lines(ast.parse(mutant.old), mutant.line):
            reached |= set(lines.get(line, ()))
        reached = [item for item in items if _reaches(item.nodeid, trace, reached)]
        return quickest(reached, trace, self.enough)


class Tracer:
    """A recorder of the lines that each test reaches, with those of its shared fixtures."""

    def __init__(self, runner):
        files = [str(ROOT / path) for path in runner.paths]
        self.runner = runner
        self.tool = coverage.Coverage(data_file=None, include=files, config_file=False)
        self.contexts, self.seconds = [], Counter()

    def write(self, items):
        # Otherwise objects that tests/conftest.py has frozen are not found.
        gc.unfreeze()
        caches = [
            thing
            for thing in gc.get_objects()
            if isinstance(thing, LRU_CACHE) and _is_of_tests(thing)
        ]
        items[0].config.pluginmanager.register(self)
        failed = set()
        self.tool.start()
        for item, following in zip(items, [*items[1:], None]):
            # Otherwise only the first test would reach code whose results are cached.
            for each in caches:
                each.cache_clear()
            self.runner.failed = False
            with self.within(item.nodeid):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.runner.failed:
                failed.add(item.nodeid)
        self.tool.stop()
        data = self.tool.get_data()
        lines = {file: data.contexts_by_lineno(file) for file in data.measured_files()}
        print("fail without a change:", sorted(failed), file=sys.__stderr__)
        shared = {item.nodeid: _shared_fixtures(item) for item in items}
        seconds = {
            item.nodeid: sum(self.seconds[each] for each in (item.nodeid, *shared[item.nodeid]))
            for item in items
        }
        trace = {"lines": lines, "seconds": seconds, "failed": failed, "shared": shared}
        trace["own"] = dict(self.seconds)
        self.runner.trace_file.write_bytes(pickle.dumps(trace))
        return 0

    @contextmanager
    def within(self, context):
        """Credit lines and seconds to a test, or to a fixture within it."""
        begin = cpu_seconds()
        if self.contexts:
            self.seconds[self.contexts[-1][0]] += begin - self.contexts[-1][1]
        self.contexts.append([context, begin])
        self.tool.switch_context(context)
        try:
            yield
        finally:
            end = cpu_seconds()
            self.seconds[context] += end - self.contexts.pop()[1]
            if self.contexts:
                self.contexts[-1][1] = end
                self.tool.switch_context(self.contexts[-1][0])

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_fixture_setup(self, fixturedef):
        if fixturedef.scope == "function":
            return (yield)
        with self.within(_name_of(fixturedef)):
            return (yield)


def _name_of(fixture):
    return f"fixture {fixture.baseid}::{fixture.argname}"


def _shared_fixtures(item):
    """Find the names of the fixtures that a test shares with others."""
    known = getattr(item, "_fixtureinfo", None)
    found = known.name2fixturedefs.values() if known else ()
    return {_name_of(each) for many in found for each in many if each.scope != "function"}


def _is_of_tests(cache):
    code = getattr(cache.__wrapped__, "__code__", None)
    return code is not None and code.co_filename.startswith(str(ROOT / "tests"))


def cpu_seconds():
    """Measure the processor time of this process and of its ended children."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def quick_examples():
    """Let hypothesis stop at the first example that fails, without a search for the simplest."""
    # It loads its own profile when it is first imported.
    importlib.import_module("profiles")
    settings.register_profile(
        "mutants",
        parent=settings.get_profile("repeatable"),
        phases=(Phase.explicit, Phase.generate),
    )
    settings.load_profile("mutants")


def in_modules(items):
    """Sort tests of one file side by side, as they share fixtures."""
    places = {}
    for item in items:
        places.setdefault(item.nodeid.partition("::")[0], len(places))
    return sorted(items, key=lambda item: places[item.nodeid.partition("::")[0]])


def _reaches(test, trace, contexts):
    """Tell whether a test, or a fixture that it shares, is among those that reach something."""
    return test in contexts or not contexts.isdisjoint(trace["shared"].get(test, ()))


def quickest(items, trace, enough):
    """Choose the quickest tests, up to `enough` seconds."""
    seconds, chosen, built = 0, [], set()
    for item in sorted(items, key=lambda item: trace["seconds"].get(item.nodeid, 0)):
        seconds += trace["own"].get(item.nodeid, 0)
        # Shared fixtures are built once.
        shared = trace["shared"].get(item.nodeid, set())
        seconds += sum(trace["own"].get(each, 0) for each in shared - built)
        built |= shared
        if item.nodeid not in trace["failed"] and (seconds < enough or not chosen):
            chosen.append(item)
    return chosen


def module_of(path):
    """Make the name of the module in a file of the package."""
    return ".".join(Path(path).with_suffix("").parts).removesuffix(".__init__")


def _functions(files):
    found = defaultdict(list)
    for thing in gc.get_objects():
        if isinstance(thing, FunctionType) and thing.__code__.co_filename in files:
            found[thing.__code__.co_filename].append(thing)
    return found


class Changed(importlib.abc.MetaPathFinder, importlib.abc.SourceLoader):
    """An importer of one module from changed source."""

    def __init__(self, mutant):
        self.path, self.source = str(ROOT / mutant.path), mutant.new
        self.name = module_of(mutant.path)

    def find_spec(self, name, path, target=None):
        if name == self.name:
            return importlib.util.spec_from_file_location(name, self.path, loader=self)
        return None

    def get_filename(self, name):
        return self.path

    def get_data(self, path):
        return self.source.encode()

    def path_stats(self, path):
        raise OSError  # no bytecode from a cache


def forked(work):
    """Do work in a process of its own; return "killed", "hung" or "survived"."""
    pid = os.fork()
    if not pid:
        try:
            resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
            for stream in (1, 2):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
            os._exit(work())
        except BaseException:
            os._exit(1)
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        return "hung"
    return "survived" if status == 0 else "killed"


def run_pytest(tests, plugin):
    arguments = [*tests, "-q", "-n0", "-pno:cacheprovider", "--assert=plain", f"--rootdir={ROOT}"]
    return int(pytest.main(arguments, plugins=[plugin]))

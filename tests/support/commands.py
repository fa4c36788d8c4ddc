"""The command line in processes of its own that start fast.

`multiprocessing` forks each such process off one that has imported what commands need; that takes
seconds otherwise. Standard streams, signals and the end of a process are to it what they are to a
command that a shell starts.
"""

import multiprocessing
import os
import sys

# Modules that commands import before they read a file.
PRELOADED = [
    "skfilterrank.cli.evaluate",
    "skfilterrank.cli.select",
    "skfilterrank.cli.threshold",
    "skfilterrank.judgments._active_selectors",
    "skfilterrank.judgments._assessor_agreement",
    "skfilterrank.judgments._pseudo_qrels",
    "scipy.stats",
]
# Standard output that goes into a pipe whose reader has left.
GONE = ("gone", "p")


def take_streams(streams):
    """Put files in the place of the standard streams: a name and a mode each, or None."""
    for number, stream in enumerate(streams):
        if stream is None:
            os.close(number)
            continue
        name, mode = stream
        if stream == GONE:
            reading, writing = os.pipe()
            os.close(reading)
            os.dup2(writing, number)
            os.close(writing)
            continue
        flags = {"r": os.O_RDONLY, "w": os.O_WRONLY | os.O_CREAT, "a": os.O_WRONLY | os.O_APPEND}
        opened = os.open(name, flags[mode] | (os.O_CREAT if mode == "a" else 0), 0o666)
        if opened != number:
            os.dup2(opened, number)
            os.close(opened)


def _run(folder, environment, streams, arguments):
    """What the process does."""
    take_streams(streams)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    from skfilterrank.cli import main

    # As the interpreter makes them when it starts.
    ways = ("r", {}), ("w", {}), ("w", {"buffering": 1, "errors": "backslashreplace"})
    sys.stdin, sys.stdout, sys.stderr = (
        None if stream is None else open(number, mode, closefd=False, encoding="utf-8", **more)  # noqa: SIM115
        for number, (stream, (mode, more)) in enumerate(zip(streams, ways))
    )
    sys.exit(main([str(argument) for argument in arguments]))


class Command:
    """A command that runs in the working folder; what it writes goes into files unless told."""

    def __init__(self, *arguments, stdin=(os.devnull, "r"), stdout="out", stderr="err"):
        self.files = [os.path.abspath(f"{name} of {id(self)}") for name in ("out", "err")]
        streams = [stdin]
        for given, own, file in zip((stdout, stderr), ("out", "err"), self.files):
            streams.append((file, "a") if given == own else given)
        processes = multiprocessing.get_context("forkserver")
        processes.set_forkserver_preload(PRELOADED)
        told = os.getcwd(), dict(os.environ), streams, arguments
        self.process = processes.Process(target=_run, args=told)
        self.process.start()

    def end(self, seconds=60):
        """Exit code, output and messages."""
        self.process.join(seconds)
        found = [self.process.exitcode]
        for name in self.files:
            try:
                with open(name, "rb") as file:
                    found.append(file.read())
                os.remove(name)
            except FileNotFoundError:
                found.append(b"")
        self.process.close()
        return found[0], found[1], found[2].decode()

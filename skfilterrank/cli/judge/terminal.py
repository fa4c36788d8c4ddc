"""An assessor at a terminal: shows a document, takes a grade with one key."""

import contextlib
import os
import re
import select
import shutil
import textwrap
import time
from collections import deque
from itertools import pairwise
from statistics import median

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from skfilterrank._printable import printable
from skfilterrank.cli._documents import without_repetition
from skfilterrank.cli._streams import standard_input, standard_output
from skfilterrank.exceptions import InputError, brief
from skfilterrank.judgments import Answer

try:
    import termios
    import tty
except ImportError:  # Windows
    termios = tty = None  # type: ignore[assignment]  # asked for before use
try:
    import msvcrt
except ImportError:
    msvcrt = None  # type: ignore[assignment]  # asked for before use

_MARK, _BOLD, _PLAIN = "\x1b[1;7m", "\x1b[1m", "\x1b[0m"
_CLEAR = "\x1b[H\x1b[2J\x1b[3J"
_SEQUENCES = {"\x1b[6~": " ", "\x1b[5~": "b", "\x1b[C": " ", "\x1b[D": "b"}
_UNFINISHED = re.compile(rb"\x1b(\[[0-9;]*|O)?\Z")
# Letters that are no commands, for grades that have no key of their own.
_LETTERS = "acdefghijklmorvwxyz"
_WORD = re.compile(r"\w+(?:['’]\w+)*")
# Persian, Hindi and emoji cannot be read without these.
_JOINERS = "\u200c\u200d\ufe0e\ufe0f"
_WAIT = 0.05
_NARROW, _WIDE = 20, 100
# Answers that tell how fast it goes: the last ones, when there are more than a few.
_N_TIMES, _FEW_TIMES = 21, 3
_HOURS = 120  # minutes from which hours are shown


class TerminalAssessor:
    """Asks whoever sits at a terminal; from a pipe it takes an answer a line.

    Parameters
    ----------
    texts : DataFrame
        Text columns of the documents, by id.
    topics : DataFrame or None
        Text columns of the topics, by id; the first one is the query, whose terms are marked.
    grades : dict of float to str
        Names of the labels that can be given, empty where they have none.
    remarks : dict of (str, str) to str, default=None
        What is said beside a document, by topic and document.
    clock : callable, default=time.monotonic
        The time in seconds, by which is told how long the rest will take.
    stdin, stdout : file object, default=None
        Where answers come from and questions go to; None takes those of the process.
    """

    def __init__(
        self,
        texts,
        topics,
        grades,
        *,
        remarks=None,
        clock=time.monotonic,
        stdin=None,
        stdout=None,
    ):
        self.texts, self.topics, self.grades = texts, topics, grades
        self.remarks, self.clock = remarks or {}, clock
        self.times: deque[float] = deque(maxlen=_N_TIMES)
        # Pages of the document on the screen that hold a term of the query.
        self.term_pages: list[int] = []
        self.stdin = standard_input() if stdin is None else stdin
        self.stdout = standard_output() if stdout is None else stdout
        self.has_keys = _is_terminal(self.stdin) and (termios or msvcrt) is not None
        self.is_screen = _is_terminal(self.stdout) and os.environ.get("TERM") != "dumb"
        self.keys = keys_of(grades)
        self.answers = {key: grade for grade, key in self.keys.items()}
        self.answers |= {"s": Answer.SKIP, "u": Answer.UNDO}
        self.answers |= dict.fromkeys(("q", "\x04", ""), Answer.STOP)
        if not self.has_keys:
            self.answers |= {f"{grade:g}": grade for grade in grades}

    def __call__(self, question):
        """Show a document and take an answer."""
        page, note = 0, ""
        while True:
            n_pages = self._show(question, page, note)
            key, note = self._read(), ""
            if key in self.answers:
                if not self.is_screen:
                    self._write("\n" if self.has_keys else "")
                self.times.append(self.clock())
                return self.answers[key]
            if key in (" ", "n", "\r", "\n"):
                page = min(page + 1, n_pages - 1)
            elif key in ("b", "p"):
                page = max(page - 1, 0)
            elif key == "/":
                later = [found for found in self.term_pages if found > page]
                pages = later or self.term_pages
                note = "" if pages and pages != [page] else "No other page has a query word."
                page = pages[0] if pages else page
            elif key == "?":
                note = self._help()
            elif key.strip() and key != "\x0c":
                note = f"{brief(printable(key))} is no answer. {self._help()}"

    def at_end(self):
        """Whether the last answer shall stand, now that all is judged: Answer.UNDO where not."""
        self._write(f"{_CLEAR if self.is_screen else ''}All is judged. [u]ndo [q]uit > ")
        key = ""
        while key not in ("u", "q", "\x04"):
            key = self._read()
            if not key:
                break
        self._write("\n")
        return Answer.UNDO if key == "u" else Answer.STOP

    def _show(self, question, page, note):
        """Write a page of the document; the number of pages."""
        size = shutil.get_terminal_size()
        width = max(_NARROW, min(size.columns, _WIDE)) - 1
        head, body = self._lines(question, width)
        foot = textwrap.wrap(note, width) if note else []
        foot += textwrap.wrap(self._prompt(question), width)
        room = size.lines - len(foot) - 1 if self.is_screen else 0
        if room > 0 and len(head) > room // 2:
            head, body = head[:1], head[1:] + body
        per_page = max(room - len(head) - 1, 3) if room else max(len(body), 1)
        n_pages = max(1, -(-len(body) // per_page))
        marked = {line // per_page for line, text in enumerate(body) if _MARK in text}
        self.term_pages = sorted(marked)
        page = min(page, n_pages - 1)
        shown = body[page * per_page : (page + 1) * per_page]
        if n_pages > 1:
            shown.append(f"-- page {page + 1} of {n_pages}: space for the next, b for the last --")
        begin = _CLEAR if self.is_screen else ""
        self._write(begin + "\n".join([*head, *shown, *foot]) + " ")
        return n_pages

    def _lines(self, question, width):
        """Lines about the topic, and lines of the document."""
        place = f"topic {printable(str(question.topic))}, document {question.place} of "
        place += f"{question.n_topic}; {question.n_answered} of {question.n_total} judged"
        place += self._pace(question.n_total - question.n_answered)
        topic = self._texts_of(self.topics, str(question.topic))
        terms = query_terms(topic[0]) if topic else frozenset()
        head = [place]
        for number, text in enumerate(topic):
            lines = textwrap.wrap(text, width)
            head += [self._bold(line) for line in lines] if number == 0 else lines
        head.append("-" * width)
        body = [self._bold(f"[{printable(str(question.docno))}]")]
        remark = self.remarks.get((str(question.topic), str(question.docno)))
        if remark:
            body += textwrap.wrap(f"({printable(remark)})", width)
        for text in without_repetition(self._texts_of(self.texts, str(question.docno))):
            body += [*self._marked(text, terms, width), ""]
        return head, body

    def _pace(self, n_left):
        """How fast it goes, and how long it will take; breaks do not count."""
        if len(self.times) <= _FEW_TIMES:
            return ""
        times = list(self.times)
        seconds = median(after - before for before, after in pairwise(times))
        minutes = seconds * n_left / 60
        left = f"{minutes / 60:.0f} h" if minutes > _HOURS else f"{minutes:.0f} min"
        return f"; {60 / max(seconds, 0.1):.1f} a minute, {left} left"

    def _texts_of(self, table, name):
        """Texts of a row without what a terminal would obey; line ends are blanks."""
        if table is None or name not in table.index:
            return []
        texts = (" ".join(text.split()) for text in table.loc[name].tolist())
        return [printable(text, keep=_JOINERS) for text in texts if text]

    def _marked(self, text, terms, width):
        """Lines of a text with the terms marked."""
        wrap = textwrap.TextWrapper(width, break_on_hyphens=False).wrap
        if self.is_screen:
            return [mark(line, terms, _MARK, _PLAIN) for line in wrap(text)]
        return wrap(mark(text, terms, "*", "*"))

    def _bold(self, text):
        return f"{_BOLD}{text}{_PLAIN}" if self.is_screen else text

    def _prompt(self, question):
        """The keys in one line."""
        grades = []
        for grade, key in self.keys.items():
            name = self.grades[grade] or (f"{grade:g}" if key != f"{grade:g}" else "")
            grades.append(f"[{key}] {name}".rstrip())
        before = ""
        if question.before is Answer.SKIP:
            before = "(skipped before) "
        elif question.before is not None:
            before = f"(was {question.before:g}) "
        return f"{before}{' '.join(grades)} [s]kip [u]ndo [q]uit [?] >"

    def _help(self):
        """What the keys do."""
        grades = ", ".join(
            f"{key} label {grade:g}" + (f" ({self.grades[grade]})" if self.grades[grade] else "")
            for grade, key in self.keys.items()
        )
        return (
            f"{grades}; s asks about this document again later, u takes the last answer back, "
            "q saves and ends; space and b turn the pages, / goes to the next one with a word of "
            "the query."
        )

    def _read(self):
        """A key, or the first word of a line; empty at the end of the input."""
        self.stdout.flush()
        if self.has_keys:
            return read_key(self.stdin)
        line = self.stdin.readline()
        if line and not line.strip():
            return "\n"
        return line.strip()

    def _write(self, text):
        self.stdout.write(text)
        self.stdout.flush()


def keys_of(grades) -> dict:
    """A key for each grade: the digit, - for the negative one next to 0, else a letter."""
    negative = max((grade for grade in grades if grade < 0), default=None)
    letters, keys = iter(_LETTERS), {}
    for grade in grades:
        if grade == negative:
            keys[grade] = "-"
        elif grade in range(10):
            keys[grade] = f"{grade:g}"
        else:
            keys[grade] = next(letters, "")
            if not keys[grade]:
                raise InputError(f"there are too many grades ({len(grades)}) for one key each.")
    return keys


def query_terms(text) -> frozenset:
    """Words of a query as they are compared, without stop words unless there are no others."""
    words = [word.casefold() for word in _WORD.findall(text)]
    return frozenset(
        _singular(word) for word in words if word not in ENGLISH_STOP_WORDS
    ) or frozenset(map(_singular, words))


def mark(text, terms, begin, end) -> str:
    """The text with every word that is one of the terms between two marks."""

    def replace(match):
        word = match.group()
        return f"{begin}{word}{end}" if _singular(word.casefold()) in terms else word

    return _WORD.sub(replace, text) if terms else text


def read_key(stdin) -> str:
    """Wait for a key; those pressed before do not count. Empty if the terminal is gone."""
    if termios is None:
        return _windows_key()
    file = stdin.fileno()
    before = termios.tcgetattr(file)
    try:
        # Keys pressed before the document was on the screen would judge it unseen.
        tty.setcbreak(file, termios.TCSAFLUSH)
        data = os.read(file, 64)
        while _UNFINISHED.match(data) and select.select([file], [], [], _WAIT)[0]:
            more = os.read(file, 64)
            if not more:
                break
            data += more
    finally:
        with contextlib.suppress(termios.error):  # the terminal is gone
            termios.tcsetattr(file, termios.TCSADRAIN, before)
    text = data.decode("utf-8", "replace")
    if text.startswith("\x1b"):
        return _SEQUENCES.get(text, "\x1b")
    return text[:1]


def _windows_key():
    """The same where keys come from the console."""
    while msvcrt.kbhit():
        msvcrt.getwch()
    key = msvcrt.getwch()
    if key == "\x03":
        raise KeyboardInterrupt
    if key in ("\x00", "\xe0"):
        return {"Q": " ", "I": "b"}.get(msvcrt.getwch(), "\x1b")
    return key


def _singular(word):
    """The word without a plural s."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _is_terminal(stream):
    """Whether somebody sits at the other end."""
    return getattr(stream, "isatty", lambda: False)()

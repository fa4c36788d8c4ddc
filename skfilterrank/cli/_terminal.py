"""Judging at the terminal: shows a document and reads a grade with one key."""

import contextlib
import os
import re
import select
import shutil
import textwrap
import time
from collections import deque
from itertools import chain, pairwise
from statistics import median

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from skfilterrank._lists.words import keys_of_grades, printable
from skfilterrank.cli._inputs import without_repetition
from skfilterrank.cli._output import finish, output_is_terminal, put, standard_input
from skfilterrank.exceptions import brief

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
# Format characters that Persian, Hindi and emoji need.
_JOINERS = "\u200c\u200d\ufe0e\ufe0f"
_WAIT = 0.05
_NARROW, _WIDE = 20, 100
# Number of last answers from which the speed is estimated, and smallest number for that.
_N_TIMES, _FEW_TIMES = 21, 3
_HOURS = 120  # minutes from which hours are shown
_HELP = (
    "s asks about this document again later, u takes the last answer back, q saves and ends; "
    "space and b turn the pages, / goes to the next one with a word of the query."
)


class TerminalAssessor:
    """Assessor at the terminal, or a pipe with one answer per line.

    Parameters
    ----------
    texts : DataFrame
        Text columns of the documents, by id.
    topics : DataFrame or None
        Text columns of the topics, by id; the first one is the query, whose terms are marked.
    grades : dict of float to str
        Names of the labels that can be given, empty where they have none.
    remarks : dict of (str, str) to str, default=None
        Text beside a document, by query and document.
    clock : callable, default=time.monotonic
        Function that returns the time in seconds, for estimating the remaining time.

    Attributes
    ----------
    n_open, n_total : int
        Number of documents without a label after the last answer, and number of all.
    """

    n_open = n_total = 0

    def __init__(self, texts, topics, grades, *, remarks=None, clock=time.monotonic):
        self.texts, self.topics, self.grades = texts, topics, grades
        self.remarks, self.clock = remarks or {}, clock
        self.times: deque[float] = deque(maxlen=_N_TIMES)
        self.stdin = standard_input()
        is_terminal = getattr(self.stdin, "isatty", lambda: False)()
        self.has_keys = is_terminal and (termios or msvcrt) is not None
        self.is_screen = output_is_terminal() and os.environ.get("TERM") != "dumb"
        self.keys = keys_of_grades(grades, _LETTERS)
        self.answers = {key: grade for grade, key in self.keys.items()}
        self.answers |= {"s": "skip", "u": "undo", "q": "stop", "\x04": "stop", "": "stop"}
        if not self.has_keys:
            self.answers |= {f"{grade:g}": grade for grade in grades}

    def __call__(self, question):
        """Show a document and take an answer."""
        self.n_total = question.n_total
        self.n_open = question.n_total - question.n_answered
        page, note = 0, ""
        while True:
            page, n_pages, term_pages = self._show(question, page, note)
            key, note = self._read(), ""
            if key in self.answers:
                _write("\n" if self.has_keys and not self.is_screen else "")
                self.times.append(self.clock())
                answer = self.answers[key]
                self.n_open -= not isinstance(answer, str)
                return answer
            if key in (" ", "n", "\r", "\n"):
                page = min(page + 1, n_pages - 1)
            elif key in ("b", "p"):
                page = max(page - 1, 0)
            elif key == "/":
                pages = [found for found in term_pages if found > page] or term_pages
                note = "" if pages and pages != [page] else "No other page has a query word."
                page = pages[0] if pages else page
            elif key == "?":
                note = self._help()
            elif key.strip() and key != "\x0c":
                note = f"{brief(printable(key))} is no answer. {self._help()}"

    def at_end(self):
        """Ask whether to undo the last answer when everything is judged."""
        _write(f"{_CLEAR if self.is_screen else ''}All is judged. [u]ndo [q]uit > ")
        key = " "
        while key not in ("u", "q", "\x04", ""):
            key = self._read()
        _write("\n")
        return "undo" if key == "u" else "stop"

    def _show(self, question, page, note):
        """Print a page of the document; return page number, number of pages, marked pages."""
        size = shutil.get_terminal_size()
        width = max(_NARROW, min(size.columns, _WIDE)) - 1
        head, body = self._lines(question, width)
        foot = textwrap.wrap(note, width) + textwrap.wrap(self._prompt(question), width)
        room = size.lines - len(foot) - 1 if self.is_screen else 0
        if room > 0 and len(head) > room // 2:
            head, body = head[:1], head[1:] + body
        per_page = max(room - len(head) - 1, 3) if room else max(len(body), 1)
        n_pages = max(1, -(-len(body) // per_page))
        page = min(page, n_pages - 1)
        shown = body[page * per_page : (page + 1) * per_page]
        if n_pages > 1:
            shown.append(f"-- page {page + 1} of {n_pages}: space for the next, b for the last --")
        _write((_CLEAR if self.is_screen else "") + "\n".join([*head, *shown, *foot]) + " ")
        marked = {line // per_page for line, text in enumerate(body) if _MARK in text}
        return page, n_pages, sorted(marked)

    def _lines(self, question, width):
        """Return lines about the query, and lines of the document."""
        pair = str(question.query), str(question.docno)
        place = f"query {printable(pair[0])}, document {question.place} of {question.n_query}; "
        place += f"{question.n_answered} of {question.n_total} judged{self._pace(self.n_open)}"
        query = _texts_of(self.topics, pair[0])
        terms = query_terms(query[0]) if query else frozenset()
        lines = [textwrap.wrap(text, width) for text in query] or [[]]
        head = [place, *map(self._bold, lines[0]), *chain(*lines[1:]), "-" * width]
        body = [self._bold(f"[{printable(pair[1])}]")]
        if remark := self.remarks.get(pair):
            body += textwrap.wrap(f"({printable(remark)})", width)
        wrap = textwrap.TextWrapper(width, break_on_hyphens=False).wrap
        for text in without_repetition(_texts_of(self.texts, pair[1])):
            if self.is_screen:
                lines = [mark(line, terms, _MARK, _PLAIN) for line in wrap(text)]
            else:
                lines = wrap(mark(text, terms, "*", "*"))
            body += [*lines, ""]
        return head, body

    def _pace(self, n_left):
        """Describe speed and remaining time; breaks are not counted."""
        if len(self.times) <= _FEW_TIMES:
            return ""
        seconds = median(after - before for before, after in pairwise(self.times))
        minutes = seconds * n_left / 60
        left = f"{minutes / 60:.0f} h" if minutes > _HOURS else f"{minutes:.0f} min"
        return f"; {60 / max(seconds, 0.1):.1f} a minute, {left} left"

    def _bold(self, text):
        return f"{_BOLD}{text}{_PLAIN}" if self.is_screen else text

    def _prompt(self, question):
        """Return the prompt: all keys in one line."""
        grades = []
        for grade, key in self.keys.items():
            name = self.grades[grade] or (f"{grade:g}" if key != f"{grade:g}" else "")
            grades.append(f"[{key}] {name}".rstrip())
        before = "" if question.before in (None, "skip") else f"(was {question.before:g}) "
        before += "(skipped before) " * (question.before == "skip")
        return f"{before}{' '.join(grades)} [s]kip [u]ndo [q]uit [?] >"

    def _help(self):
        """Return the help on the keys."""
        grades = []
        for grade, key in self.keys.items():
            name = f" ({self.grades[grade]})" if self.grades[grade] else ""
            grades.append(f"{key} label {grade:g}{name}")
        return f"{', '.join(grades)}; {_HELP}"

    def _read(self):
        """Return a key, or the first word of a line; nothing at the end of the input."""
        if self.has_keys:
            return read_key(self.stdin)
        line = self.stdin.readline()
        return "\n" if line.isspace() else line.strip()


def _write(text):
    """Write to standard output at once."""
    put(text)
    finish()


def _texts_of(table, name):
    """Return texts of a row without control characters; line ends become blanks."""
    if table is None or name not in table.index:
        return []
    texts = (" ".join(text.split()) for text in table.loc[name].tolist())
    return [printable(text, keep=_JOINERS) for text in texts if text]


def query_terms(text) -> frozenset:
    """Return the normalised words of a query, without stop words if others remain."""
    words = [word.casefold() for word in _WORD.findall(text)]
    return frozenset(
        _singular(word) for word in words if word not in ENGLISH_STOP_WORDS
    ) or frozenset(map(_singular, words))


def mark(text, terms, begin, end) -> str:
    """Mark every word of a text that is one of the terms."""

    def replace(match):
        word = match.group()
        return f"{begin}{word}{end}" if _singular(word.casefold()) in terms else word

    return _WORD.sub(replace, text)


def _singular(word):
    """Return a word without a plural s."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def read_key(stdin) -> str:
    """Wait for a new key press; return an empty text if the terminal is gone."""
    if termios is None:
        return _windows_key()
    file = stdin.fileno()
    before = termios.tcgetattr(file)
    try:
        # Keys pressed before the document was shown are discarded.
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
    return _SEQUENCES.get(text, "\x1b") if text.startswith("\x1b") else text[:1]


def _windows_key():
    """Wait for a key of a console."""
    while msvcrt.kbhit():
        msvcrt.getwch()
    key = msvcrt.getwch()
    if key == "\x03":
        raise KeyboardInterrupt
    if key in ("\x00", "\xe0"):
        return {"Q": " ", "I": "b"}.get(msvcrt.getwch(), "\x1b")
    return key

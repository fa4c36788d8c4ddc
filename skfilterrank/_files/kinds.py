"""Names of columns, and kinds of files, told from their first bytes and lines.

Readers and their messages use both.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import NamedTuple

from skfilterrank.exceptions import FileFormatError, InputError, brief, brief_list


class Role(NamedTuple):
    """Names of the columns of one role, in any case; the first one is ours.

    A column of a doubtful name may hold something else, such as a text or the user of a search. It
    has the role only if no column has a sure name, and if the caller names no column at all.
    """

    sure: tuple[str, ...]
    doubtful: tuple[str, ...] = ()
    takes_doubtful: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """All names, the sure ones first."""
        return self.sure + self.doubtful

    def column(self, present):
        """Return the column of this role, None without one; raise if several may be meant."""
        ours = find_column(present, self.sure[:1])
        if ours is not None:
            return ours
        for names in (self.sure, self.doubtful if self.takes_doubtful else ()):
            found = [find_column(present, [name]) for name in names]
            found = [column for column in found if column is not None]
            if len(found) == 1:
                return found[0]
            if found:
                option = f"columns=, such as {{{self.sure[0]!r}: {brief(found[0])}}}"
                raise InputError(
                    f"the columns {brief_list(found)} may each be {brief(self.sure[0])}: name one "
                    f"of them by {{{option}}}, or rename it to {brief(self.sure[0])}.",
                    argument=option,
                )
        return None

    def is_sure(self, column) -> bool:
        """Tell whether a column of the table, or None, has the role by a sure name."""
        return column is not None and find_column([column], self.sure) is not None


# PyTerrier has our names too. Users and items are those of recommenders.
ROLES = {
    "qid": Role(
        (
            *("qid", "query_id", "q_id", "query-id", "queryid", "query_no"),
            *("topic_id", "topic-id", "topicid", "topic_no"),
            *("question_id", "question-id", "questionid"),
        ),
        ("topic", "query", "user", "user_id", "userid", "uid"),
    ),
    "docno": Role(
        (
            *("docno", "doc_id", "docid", "doc-id", "doc_no", "did"),
            *("document_id", "document-id", "documentid", "corpus-id", "corpus_id"),
            *("passage_id", "passage-id", "passageid", "pid"),
        ),
        ("document", "doc", "item", "item_id", "itemid", "iid", "product_id", "movieid"),
    ),
    "label": Role(("label", "relevance", "rel", "rating", "grade", "r_ui")),
    "score": Role(("score", "prediction", "est")),
    "rank": Role(("rank",)),
    # False where a document is hidden.
    "shown": Role(("shown", "kept")),
    "inclusion_probability": Role(("inclusion_probability",)),
    "judged_by": Role(("judged_by",)),
    "draw": Role(("draw",)),
    "iteration": Role(("iteration", "subtopic", "subtopic_id")),
    "run": Role(("run",)),
}
# A table with one of these columns was written for BEIR or ranx; its column "score" holds labels.
_BESIDE_LABELS = ("corpus-id", "q_id")
# Called with the names of a file and of its column of queries, if that column's name is doubtful.
# Commands tell their users of it; in Python nothing happens.
doubtful_queries: ContextVar[Callable[[str, str], None]] = ContextVar(
    "doubtful_queries", default=lambda file, column: None
)
# Words for the ids in columns of doubtful names, by role.
_HELD = {"qid": "the queries", "docno": "the documents"}
# Least similarity of two names, from 0 to 1, for a suggestion.
_SIMILAR = 0.75


def find_column(present, names):
    """Return the first of some names that is among the columns, in any case; None without one.

    "Query ID" is "query_id". A name in the same case comes before others. Raises if several columns
    differ only in this.
    """
    present = dict.fromkeys(present)
    in_any_case: dict = {}
    for column in present:
        in_any_case.setdefault(str(column).lower().replace(" ", "_"), []).append(column)
    for name in names:
        if name in present:
            return name
        if len(found := in_any_case.get(str(name).lower().replace(" ", "_"), [])) > 1:
            raise InputError(
                f"the columns {brief_list(found)} differ only in case, and each may be "
                f"{brief(name)}: rename all but one, or name one exactly, by {{columns=}} or the "
                "like.",
                argument="columns=",
            )
        if found:
            return found[0]
    return None


def roles_of(columns) -> dict[str, Role]:
    """Return the names of each role, of which the caller may have given some."""
    columns = {} if columns is None else columns
    if not isinstance(columns, Mapping) or not all(isinstance(x, str) for x in columns.values()):
        raise InputError(
            "columns must be a dict of names by our names, such as {'qid': 'question'}, got "
            f"{brief(columns)}."
        )
    if unknown := [name for name in columns if name not in ROLES]:
        raise InputError(
            f"columns must have keys among {brief_list(ROLES.keys())}, got {brief(unknown[0])}."
        )
    if twice := [name for name, n in Counter(columns.values()).items() if n > 1]:
        raise InputError(
            f"{{columns}} must name each column once, got {brief(columns)}, where "
            f"{brief(twice[0])} has two meanings: name another column for one of them.",
            argument="columns",
        )
    # A caller who names a column knows the table: no other one is guessed by a doubtful name.
    known = {
        name: role._replace(takes_doubtful=False) if columns and role.doubtful else role
        for name, role in ROLES.items()
    }
    return known | {name: Role((given,)) for name, given in columns.items()}


def advice_on_names(lacking: dict[str, Role], others) -> tuple[str, str]:
    """Return a sentence on how to name columns, and the text in it that commands write as option.

    `lacking` are the roles without a column, and `others` are columns without a role. An example
    is given only for a column whose name is like one of the role.
    """
    others = [str(each) for each in others]
    for name, role in lacking.items():
        if role.sure[0] != name and name in others:
            return (
                f"{{columns=}} is for tables whose columns have other names; here {brief(name)} is "
                "there: leave it out of {columns=}."
            ), "columns="
    likely: tuple[str, str] | None = None
    rest = ""
    for name, role in lacking.items():
        names = role.sure if role is ROLES[name] else (*role.sure, *ROLES[name].sure)
        near = None if likely else _most_similar(others, names)
        likely = likely if near is None else (name, near)
    for name, role in lacking.items():
        doubted = None if likely else find_column(others, role.doubtful)
        if doubted is not None:
            likely, rest = (name, doubted), f" if it holds {_HELD[name]}"
    given = "columns="
    if likely:
        given += f", such as {{{likely[0]!r}: {brief(likely[1])}}}"
    return (
        f"Name each by {{{given}}}{rest}, or rename it." if others else "Add the missing ones."
    ), given


def _most_similar(columns, names):
    """Return the column whose name is most like one of the names; None if none is like them."""
    from difflib import get_close_matches  # imported here, since few programs make a mistake

    plain = {each.lower(): each for each in columns if each.lower() not in ("id", "_id")}
    for name in map(str.lower, names):
        # "question" begins "question_id" by a whole word, but "c" does not begin "corpus_id" so.
        begun = [e for e in plain if f"{e}_".startswith(f"{name}_") or name.startswith(f"{e}_")]
        if found := get_close_matches(name, list(plain), 1, _SIMILAR) or begun:
            return plain[found[0]]
    return None


def scores_are_labels(present) -> bool:
    """Tell from the names of columns whether a column "score" holds labels."""
    return find_column(present, _BESIDE_LABELS) is not None


def has_labels(present) -> bool:
    """Tell from the names of columns whether a table holds judgments."""
    if find_column(present, ROLES["label"].names) is not None:
        return True
    return find_column(present, ["score"]) is not None and scores_are_labels(present)


class Layout(NamedTuple):
    """Kind of a TREC file, and the names of its columns separated by blanks.

    `is_proven` tells from the bytes of a file that it has this layout; without it, the number of
    columns decides.
    """

    kind: str
    columns: str
    is_proven: Callable[[bytes], bool] = bool

    @property
    def names(self):
        """Names of the columns, as a list."""
        return self.columns.split()


_PROOF_BYTES, _MAGIC_BYTES = 1 << 16, 1 << 9
_ZERO_TWICE = re.compile(
    rb"^[ \t]*(\S+)[ \t]+(\S+)[ \t]+(Q?0)[ \t]+\S+[ \t]*\r?\n"
    rb"[ \t]*\1[ \t]+(?!\2\s)\S+[ \t]+\3[ \t]",
    re.MULTILINE,
)
_OTHER_THIRD = re.compile(rb"^[ \t]*[^\s#]\S*[ \t]+\S+[ \t]+(?!Q?0[ \t])\S", re.MULTILINE)


def _has_zeros_third(content):
    """Tell whether the third column is 0 in all lines, two of them of one query: no document."""
    # In most files the first line tells that it is not so.
    return not _OTHER_THIRD.search(content) and bool(_ZERO_TWICE.search(content, 0, _PROOF_BYTES))


_RANKED = [
    re.compile(
        rb"(\S+)[ \t]+(\S+)[ \t]+%d[ \t]+[-+]?\d*\.\d\S*[ \t]*\r?\n"
        rb"[ \t]*\1[ \t]+(?!\2\s)\S+[ \t]+%d[ \t]+[-+]?\.?\d" % ranks
    )
    for ranks in ((0, 1), (1, 2))
]


def _has_ranks_third(content):
    """Tell whether the third column of the first two lines counts documents, before fractions."""
    first = first_line(content)
    return any(pattern.match(content, first.start(1)) for pattern in _RANKED)


_FRACTION_FOURTH = re.compile(
    rb"(?:\S+[ \t]+Q0[ \t]+\S+[ \t]+[-+]?\d*\.\d*[1-9]\d*[ \t]*(?:\r?\n|\Z)){2}"
)


def _has_scores_fourth(content):
    """Tell whether the first two lines have Q0 second, as runs do, and fractions fourth."""
    return bool(_FRACTION_FOURTH.match(content, first_line(content).start(1)))


QRELS = Layout("qrels", "qid iteration docno label")
PRELS = Layout("sample", "qid docno label method inclusion_probability")
RUN = Layout("run", "qid Q0 docno rank score run")
MS_MARCO_RUN = Layout("MS MARCO run", "qid docno rank")
_RANKS_THIRD = Layout("run", "qid docno rank score", _has_ranks_third)
_WITHOUT_RANKS = Layout("run", "qid Q0 docno score", _has_scores_fourth)
# Layouts of judgments and of runs, by the value that a row holds. The last is the usual one.
LAYOUTS = {
    "label": (Layout("qrels", "qid docno iteration label", _has_zeros_third), PRELS, QRELS),
    "score": (MS_MARCO_RUN, _RANKS_THIRD, _WITHOUT_RANKS, RUN),
}

# Hint in errors about judgments in the place of runs, and the reverse.
AS_IN = ", as in evaluate_runs(qrels, runs, measures)"
ORDER = f"judgments come first, then runs{AS_IN}."

LINES = "columns between white space"
# Characters that separate the fields of each format; a header may be in several of them.
SEPARATORS = {"tsv": "\t", "csv": ",;|", "columns": " "}
_FIRST_BYTES = {
    "parquet": re.compile(rb"PAR1[\0-\x1f]"),
    "excel": re.compile(rb"PK\x03\x04(?s:.*)xl/workbook"),
    # A bracket alone does not prove JSON: an id may begin with a bracket.
    "json": re.compile(rb'\s*(?:\[\s*)?\{\s*"(?:[^"\\]|\\.)*"\s*:|\s*(?:\[\s*\]|\{\s*\})\s*\Z'),
}
# Matches the next line that is neither blank nor a comment, nor a hint of spreadsheets ("sep=;").
_LINE = re.compile(rb"^[^\S\n]*(?!sep=[,;|\t]\s*$)([^\s#][^\n]*)", re.MULTILINE)
_NUMBER = r"[-+]?(?>\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_IS_NUMBER = re.compile(rf"{_NUMBER}|[-+]?inf|nan", re.IGNORECASE | re.ASCII)
_QUOTED = re.compile(rb'"[^"]*"')
_TREC_SECOND = re.compile(rb"\S+[ \t]+(?:Q?0[ \t]|predicted)")
_NAME = re.compile(r"[^\W\d][\w .:-]*")

_CONVERT = "convert it to UTF-8 text"
_ADD_NAMES = "put names of the columns into a first line, such as qid, docno and label or score"
# Kinds of files that a reader does not read, by patterns of their beginning from the first line on;
# the first match counts. In patterns, "~" is white space. Files in TREC format match none of them.
_OTHERS = {
    r"PK\x03\x04": "a ZIP archive: unpack it",
    r"(?s:.{257})ustar": "a tar archive: unpack it",
    r"\xd0\xcf\x11\xe0": "an old Excel file (.xls): save it as .xlsx or CSV",
    r"\xff\xfe|\xfe\xff": f"text in UTF-16: {_CONVERT}",
    r"\x80[\x02-\x05]|\x93NUMPY|SQLite format": f"a binary file of a program: {_CONVERT}",
    r"%PDF-": f"a PDF: {_CONVERT}",
    r"version https://git-lfs": "a pointer of Git LFS: fetch the file itself by git lfs pull",
    r"<!DOCTYPE html|<html": "a page of HTML, perhaps of a failed download: fetch it again",
    r"<": "XML, such as topics",
    r"\S+~qid:\S+": "a LETOR file, which read_letor and the command rank-filter read",
    r"NUMBER(?:~\d+:NUMBER)+END": "features in svmlight format without ids of queries: put the "
    "number of rows of each query into a file beside it whose name has .query at the end, or in "
    "Python give read_letor these numbers as group_sizes",
}
# Files in TREC format may match one of these.
_LOOKS = {
    r"[^:\n]*[^:\s]::[^:\s]": f"fields between '::': write tabs instead, and {_ADD_NAMES}",
    r"\S+~\S+~\S+~NUMBER~NUMBER~\S+END": f"a run ({RUN.columns})",
    r"\S+~Q0~\S+~NUMBEREND": f"judgments, or a run without ranks ({_WITHOUT_RANKS.columns}): for a "
    f"run, {_ADD_NAMES}",
    r"\S+~\S+~\S+~NUMBEREND": f"judgments ({QRELS.columns})",
    r"\S+~\S+~NUMBER~\S+~NUMBEREND": f"judgments of a sample ({PRELS.columns})",
    r"\S+~\S+~[1-9]\d*END": f"a run of MS MARCO ({MS_MARCO_RUN.columns}), or judgments without "
    f"their second column: for these, {_ADD_NAMES}",
    r"[^,;|\t\n]+[,;|\t][^,;|\t\n]+[,;|\t]": f"a table without names of columns: {_ADD_NAMES}",
}
_FORMS = {
    "parquet": "a Parquet file",
    "excel": "an Excel file",
    "json": "JSON",
    "csv": "a table with names of columns",
}
_SHORT = {"NUMBER": _NUMBER, "END": r"[ \t]*(?:#|\r?\n|\Z)", "~": r"[ \t]+"}


def _pattern(short):
    """Compile a pattern for bytes."""
    for text, long in _SHORT.items():
        short = short.replace(text, long)
    return re.compile(short.encode(), re.IGNORECASE)


_OTHER_PATTERNS = {_pattern(short): words for short, words in _OTHERS.items()}
_PATTERNS = _OTHER_PATTERNS | {_pattern(short): words for short, words in _LOOKS.items()}


def is_number(text):
    """Tell whether a text is a number."""
    return _IS_NUMBER.fullmatch(text) is not None


def first_line(content, begin=0):
    """Return the match of the first line that is neither blank nor a comment; None without one."""
    return _LINE.search(content, begin)


def n_columns(content):
    """Count the columns of the first line that is neither blank nor a comment; 0 without one."""
    first = first_line(content)
    return len(first[1].split()) if first else 0


def seems(content) -> str:
    """Say what a file seems to be that a reader cannot read, as the end of a sentence."""
    if (form := form_of(content)) != LINES:
        return f"; the file seems to be {_FORMS.get(form, _FORMS['csv'])}"
    return _looks(content, _PATTERNS)


def _looks(content, patterns):
    first = first_line(content)
    start, end = first.span(1) if first else (0, 0)
    begin = content[start : max(end + 1, start + _MAGIC_BYTES)]
    words = next((words for pattern, words in patterns.items() if pattern.match(begin)), "")
    return f"; the file seems to be {words}" if words else ""


def check_not_other(value, content, name):
    """Raise for a file that is not in TREC format, such as a ZIP archive or features."""
    other = _looks(content, _OTHER_PATTERNS)
    if value == "label" and n_columns(content) == 4 and _has_ranks_third(content):
        other = f"; the file seems to be a run ({_RANKS_THIRD.columns})"
    if other:
        usual = LAYOUTS[value][-1]
        what = f"lines of a {usual.kind} ({usual.columns}) were expected{other}."
        raise FileFormatError(what, name, _first_number(content))


def layout_of(value, content, name) -> Layout:
    """Return the first layout of judgments or of a run that fits the first line.

    `value` is "label" for judgments and "score" for a run. Raises if no layout fits.
    """
    *_, usual = of_value = LAYOUTS[value]
    width = n_columns(content)
    fitting = [each for each in of_value if len(each.names) == width and each.is_proven(content)]
    if fitting or not width:
        return [*fitting, usual][0]
    words = seems(content) or (
        ": ids must not hold white space, and tables must have the names of their columns, such as "
        "qid, docno and score or label, in the first line"
    )
    if words.endswith(f"({(RUN if value == 'label' else QRELS).columns})"):
        words += f": judgments come first, then runs{{{AS_IN}}}"
        words += "; a folder of runs must hold nothing else" if value == "score" else ""
    raise FileFormatError(
        f"{width} column{'s' * (width != 1)} where a {usual.kind} has {len(usual.names)} "
        f"({usual.columns}){words}.",
        name,
        _first_number(content),
        argument=AS_IN,
    )


def _first_number(content):
    """Return the line number of the first line that is neither blank nor a comment."""
    return content.count(b"\n", 0, first_line(content).start(1)) + 1


def form_of(content, roles=(ROLES["qid"], ROLES["docno"])):
    """Return the format of a file from its bytes, which have no byte order mark.

    A first line holds names of columns in three cases: it names a column of each role; or its
    fields are no numbers, but some in the next line are; or its fields are distinct words above a
    row of as many fields, separated by no blank.
    """
    for form, pattern in _FIRST_BYTES.items():
        if pattern.match(content):
            return form
    first = first_line(content)
    if first is None:
        return LINES
    return header_of(first[1], roles) or _header_before(first, content) or LINES


def header_of(line, roles):
    """Return the format of a line of bytes that names columns of all roles; None for another."""
    for format, names in _split(line):
        if len(names) > 1 and all(find_column(names, role.names) is not None for role in roles):
            return format
    return None


def _header_before(first, content):
    """Return the format of a first line that holds names, though none that are known."""
    second = first_line(content, first.end())
    following = dict(_split(second[1])) if second else {}
    for format, names in _split(first[1]):
        if len(names) < 3 or "Q0" in names or not all(map(_NAME.fullmatch, names)):
            continue
        if second and _is_above_words(first[1], second[1], names, SEPARATORS[format]):
            return format
        fields = following.get(format)
        if (fields is None and format != "columns") or (
            fields is not None
            and len(fields) == len(names)
            and any(map(_IS_NUMBER.fullmatch, fields))
        ):
            return format
    return None


def _is_above_words(line, following, names, separators):
    """Tell whether a line of distinct names stands above a row of as many fields.

    A line in TREC format is none: its second column is known, or the next line repeats a word.
    """
    used = [each for each in separators if each.encode() in line]
    if len(used) != 1 or used == [" "] or len(set(names)) < len(names) or _TREC_SECOND.match(line):
        return False
    fields = _QUOTED.sub(b"", following).decode("utf-8", "replace").split(used[0])
    return len(fields) == len(names) and not any(
        field.strip() == name for field, name in zip(fields, names, strict=True)
    )


def _split(line):
    """Yield each format, and the fields that a line of bytes has in it."""
    text = line.decode("utf-8", "replace").strip("\r\n")
    for format, separators in SEPARATORS.items():
        fields = re.split(f"[{separators}]", text)
        yield format, [field.strip().strip('"') for field in fields]

"""Export of pools with texts: a page for judging, or tasks for labelling tools."""

import hashlib
import json
import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np
import pandas as pd

from skfilterrank._files.files import check_target, open_for_writing
from skfilterrank._lists.checks import as_list, check_choice, check_numbers
from skfilterrank._lists.results import counted
from skfilterrank._lists.words import keys_of_grades
from skfilterrank.exceptions import InputError, InputTypeError, brief, brief_list
from skfilterrank.judgments._judgment_log import Pool, header_of
from skfilterrank.judgments._label_table import KEY, key_columns, refuse_repeated

GRADES = (0, 1, 2)
TOOLS = ("page", "label-studio", "doccano", "argilla", "quepid")
# Characters that XML does not allow, and unpaired surrogates.
_NO_TEXT = re.compile("[\ud800-\udfff]")
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


class Task(NamedTuple):
    """A document to judge: ids, and texts as lists of paragraphs."""

    qid: str
    docno: str
    query: list
    texts: list

    @property
    def title(self) -> str:
        """The first text of the query, or its id."""
        return self.query[0] if self.query else self.qid

    @property
    def text(self) -> str:
        """The document as one text."""
        return "\n\n".join(self.texts)


def write_judging_tasks(
    path,
    pool,
    texts,
    *,
    queries=None,
    grades=GRADES,
    tool: str = "page",
    title: str = "Judging",
    assessor_name: str | None = None,
    machine_labels=None,
) -> None:
    r"""Write a pool as a page for judging, or as tasks for a labelling tool.

    Parameters
    ----------
    path : str or PathLike
        The file. Label Studio also needs its labelling configuration, which is written to a file of
        the same name with the suffix ".xml".
    pool : DataFrame or MultiIndex
        Columns or index levels "qid" and "docno": the documents to judge, in this order.
    texts : dict, Series or DataFrame
        Texts of the documents by id; the columns of a DataFrame are paragraphs.
    queries : dict, Series or DataFrame, default=None
        Texts of the queries by id. None shows only the ids.
    grades : list of numbers, or dict {number: name}, default=(0, 1, 2)
        The allowed labels. Labels below 0 mean forbidden.
    tool : {"page", "label-studio", "doccano", "argilla", "quepid"}, default="page"
        "page" is one HTML file that needs only a browser, no network. For Label Studio the file is
        a JSON list, for doccano JSON lines (a text classification project), for Argilla records
        (fields "query" and "text", questions "grade" and "note"), for Quepid a book.
    title : str, default="Judging"
        Title of the page, or name of the book.
    assessor_name : str, default=None
        Initial name on the page; it can be changed there.
    machine_labels : DataFrame, default=None
        Columns "qid", "docno" and "label": machine labels, which the page shows for a document
        after it has been graded. None writes no machine labels into the file.

    Raises
    ------
    ValueError
        If a document occurs twice in a query or has no text, an id is empty or has invalid
        characters, a grade occurs twice, or an option is not supported by the tool.
    MissingPackageError
        If jinja2 is not installed, which the page needs.

    See Also
    --------
    read_judging_answers : Reads what comes back.
    merge_answers : Brings several assessors together.

    Notes
    -----
    The page stores each answer in the browser, under a key of the pool, the grades and the name of
    the assessor. "Save answers" downloads a log that :func:`judge` can continue and
    `read_judging_answers` can read. It also contains notes and marks for a second look. The page
    does not access the network; its content security policy forbids this.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> from skfilterrank.judgments import write_judging_tasks
    >>> pool = pd.DataFrame({"qid": ["1", "1"], "docno": ["d1", "d2"]})
    >>> texts = {"d1": "Wings flutter at high speed.", "d2": "A soup of beans."}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "tasks.jsonl")
    ...     write_judging_tasks(path, pool, texts, queries={"1": "flutter"}, tool="doccano")
    ...     print(path.read_text().splitlines()[0])
    {"text": "flutter\n\nWings flutter at high speed.", "label": [], "qid": "1", "docno": "d1"}
    """
    check_target(path, "write_judging_tasks(path, pool, texts)", may_be_open=False)
    check_choice(tool, "tool", TOOLS)
    if tool == "label-studio" and Path(path).suffix == ".xml":
        raise InputError(
            "path ends in .xml, but this is the suffix of the labelling configuration: use .json."
        )
    grades = named_grades(grades)
    tasks = _tasks(pool, texts, queries)
    if tool == "page":
        header = header_of(Pool.of(*zip(*(task[:2] for task in tasks))), logged_grades(grades))
        machine = None if machine_labels is None else _machine(machine_labels, tasks)
        content = page_of(tasks, grades, header, title, assessor_name, machine)
    else:
        if assessor_name is not None or machine_labels is not None:
            name = "machine_labels" if assessor_name is None else "assessor_name"
            raise InputError(f"{name} is for tool='page' only: leave it out for {tool!r}.")
        content = _WRITERS[tool](tasks, grades, title)
    with open_for_writing(path) as write:
        write(content)
    if tool == "label-studio":
        with open_for_writing(Path(path).with_suffix(".xml")) as write:
            write(_label_studio_config(grades))


def pool_pairs(pool) -> list:
    """Return query and document of each row of a pool, as texts."""
    frame = key_columns(pool, "pool")
    qids, docnos = (["" if pd.isna(each) else str(each) for each in frame[name]] for name in KEY)
    refuse_repeated(qids, docnos, "pool")
    pairs = list(zip(qids, docnos))
    if not pairs:
        raise InputError("pool is empty: there is nothing to judge.")
    for name in {name for pair in pairs for name in pair}:
        if not name or _NO_TEXT.search(name):
            raise InputError(
                f"pool holds the id {brief(name)}, which has characters that a file cannot hold."
            )
    return pairs


def named_grades(grades) -> dict:
    """Return {label: name} of the grades, with int for whole numbers."""
    labels = check_numbers(as_list(grades, "grades", "labels"), "grades", entry="label").tolist()
    if not labels or not np.isfinite(labels).all() or len(set(labels)) < len(labels):
        raise InputError(f"grades must be different finite numbers, got {brief(list(grades))}.")
    names = grades.values() if isinstance(grades, Mapping) else [""] * len(labels)
    labels = [int(label) if label == int(label) else label for label in labels]
    return dict(zip(labels, map(str, names)))


def logged_grades(grades) -> dict:
    """Return the grades in the form of the first line of a log."""
    return {f"{label:.17g}": name for label, name in grades.items()}


def grade_texts(grades) -> dict:
    """Return {text: label} for the texts that labelling tools show, such as "-1 forbidden"."""
    return {f"{label:.17g} {name}".strip(): label for label, name in grades.items()}


def _tasks(pool, texts, queries):
    """Return the documents to judge, with their texts."""
    pairs = pool_pairs(pool)
    texts_of = _by_id(texts, "texts")
    queries_of = _by_id(queries, "queries") if queries is not None else {}
    tasks = [
        Task(qid, docno, queries_of.get(qid, []), texts_of.get(docno, [])) for qid, docno in pairs
    ]
    without = [task.docno for task in tasks if not task.texts]
    if without:
        raise InputError(
            f"the pool holds {counted(len(without), 'document')} without text: "
            f"{brief_list(without)}. Add their texts, or leave them out of the pool."
        )
    return tasks


def _by_id(texts, name):
    """Return {id: list of non-empty texts}."""
    if isinstance(texts, pd.DataFrame):
        rows = zip(texts.index, texts.itertuples(index=False, name=None))
    elif isinstance(texts, pd.Series | Mapping):
        rows = ((key, (text,)) for key, text in texts.items())
    else:
        raise InputTypeError(f"{name} must be a dict, Series or DataFrame, got {brief(texts)}.")
    found: dict = {}
    for key, row in rows:
        if str(key) in found:
            raise InputError(f"{name} holds the id {brief(str(key))} twice: keep one of them.")
        given = [str(text) for text in row if pd.notna(text)]
        found[str(key)] = [_NO_TEXT.sub("\ufffd", text) for text in given if text.strip()]
    return found


def _machine(labels, tasks):
    """Return each task's machine label, None if there is none."""
    found = key_columns(labels, "machine_labels", "label").dropna(subset="label")
    pairs = zip(found["qid"].astype(str), found["docno"].astype(str))
    by_pair = dict(zip(pairs, (f"{label:g}" for label in found["label"])))
    return [by_pair.get((task.qid, task.docno)) for task in tasks]


def _json(value, **options):
    return json.dumps(value, ensure_ascii=False, **options) + "\n"


def _label_studio(tasks, grades, title):
    fields = ("qid", "docno", "query", "text")
    return _json(
        [
            {"data": dict(zip(fields, (task.qid, task.docno, "\n".join(task.query), task.text)))}
            for task in tasks
        ],
        indent=1,
    )


def _label_studio_config(grades):
    """Return the labelling configuration: choices with hot keys, and a note."""
    lines = ["<View>", '  <Header value="$query"/>', '  <Text name="text" value="$text"/>']
    lines.append('  <Choices name="grade" toName="text" choice="single" showInline="true">')
    for place, text in enumerate(grade_texts(grades), 1):
        hotkey = f' hotkey="{place}"' if place < 10 else ""
        lines.append(f"    <Choice value={quoteattr(_NO_XML.sub('', text))}{hotkey}/>")
    note = '  <TextArea name="note" toName="text" placeholder="Note" maxSubmissions="1"/>'
    return "\n".join([*lines, "  </Choices>", note, "</View>", ""])


def _doccano(tasks, grades, title):
    """Make lines with the query above the document, since doccano shows one text."""
    return "".join(
        _json(
            {
                "text": "\n\n".join([*task.query, task.text]),
                "label": [],
                "qid": task.qid,
                "docno": task.docno,
            }
        )
        for task in tasks
    )


def _argilla(tasks, grades, title):
    """Make records for `Dataset.records.from_json`; their ids contain query and document."""
    return _json(
        [
            {
                "id": json.dumps([task.qid, task.docno], ensure_ascii=False),
                "fields": {"query": "\n".join(task.query) or task.qid, "text": task.text},
                "metadata": {},
                "suggestions": {},
                "responses": {},
                "vectors": {},
            }
            for task in tasks
        ],
        indent=1,
    )


def _quepid(tasks, grades, title):
    """Return a book, in which queries are identified by text, so texts must differ."""
    qid_of: dict = {}
    for task in tasks:
        other = qid_of.setdefault(task.title, task.qid)
        if other != task.qid:
            raise InputError(
                f"queries {brief(other)} and {brief(task.qid)} have the same text, but Quepid "
                "identifies queries by text: make the texts differ."
            )
    if not all(isinstance(label, int) for label in grades):
        raise InputError(f"grades must be whole numbers for Quepid, got {brief(list(grades))}.")
    places: dict = {}
    pairs = []
    for task in tasks:
        places[task.qid] = places.get(task.qid, 0) + 1
        fields = json.dumps({"qid": task.qid, "text": task.text}, ensure_ascii=False)
        pairs.append(
            {
                "query_text": task.title,
                "doc_id": task.docno,
                "position": places[task.qid],
                "document_fields": fields,
                "judgements": [],
            }
        )
    book = {"name": title, "show_rank": False, "support_implicit_judgements": False}
    labels = {"scale": list(grades), "scale_with_labels": logged_grades(grades)}
    return _json(book | labels | {"query_doc_pairs": pairs}, indent=1)


_WRITERS = {
    "label-studio": _label_studio,
    "doccano": _doccano,
    "argilla": _argilla,
    "quepid": _quepid,
}


def page_of(tasks, grades, header, title, assessor, machine) -> str:
    """Return the text of the page."""
    from skfilterrank._files.pages import render_page

    # Imported after the check that jinja2 is installed.
    from jinja2.utils import htmlsafe_json_dumps  # isort: skip

    json_of = partial(htmlsafe_json_dumps, ensure_ascii=False, separators=(",", ":"))
    parts = {"title": title, "pool": _pool(tasks, grades, header, assessor, machine)}
    return render_page("skfilterrank.judgments", "judging_page.html", parts, json=json_of)


def _pool(tasks, grades, header, assessor, machine):
    """Return the data of the page's script; texts that several tasks share occur once."""
    queries: dict = {}
    documents: dict = {}
    items = []
    for task in tasks:
        query = queries.setdefault(task.qid, (len(queries), task.query))
        document = documents.setdefault(task.docno, (len(documents), task.texts))
        items.append([query[0], document[0]])
    keys = keys_of_grades(grades)
    pool = {
        "key": f"skfilterrank-judging-{hashlib.sha256(header).hexdigest()[:32]}",
        "header": header.decode().rstrip("\n"),
        "assessor": assessor or "",
        "grades": [
            {"label": each, "name": name, "key": keys[each]} for each, name in grades.items()
        ],
        "queries": [{"id": key, "texts": texts} for key, (_, texts) in queries.items()],
        "documents": [{"id": key, "texts": texts} for key, (_, texts) in documents.items()],
        "items": items,
    }
    return pool if machine is None else pool | {"machine": machine}

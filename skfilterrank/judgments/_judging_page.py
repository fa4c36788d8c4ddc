"""The page to judge on: one HTML file with texts, style and script."""

import base64
import hashlib
from importlib.resources import files

from skfilterrank._lists.grade_keys import keys_of_grades
from skfilterrank.exceptions import MissingPackageError


def page_of(tasks, grades, header, title, assessor, machine) -> str:
    """Text of the page."""
    try:
        import jinja2
    except ModuleNotFoundError as error:
        raise MissingPackageError(
            "the page to judge on needs jinja2, which is not installed: "
            "pip install 'skfilterrank[report]'."
        ) from error
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": (",", ":")}
    style, script = _part("css"), _part("js")
    return environment.from_string(_part("html")).render(
        title=title,
        # Both are files of this package, which holds nothing that could end their elements.
        style=jinja2.utils.markupsafe.Markup(style),
        script=jinja2.utils.markupsafe.Markup(script),
        style_hash=_hash_of(style),
        script_hash=_hash_of(script),
        pool=_pool(tasks, grades, header, assessor, machine),
    )


def _pool(tasks, grades, header, assessor, machine):
    """Return the data of the script; texts that several tasks share are there once."""
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


def _part(ending):
    """A file beside this one."""
    return (files(__package__) / f"page.{ending}").read_text(encoding="utf-8")


def _hash_of(text):
    """Name of a script or style in the policy of the page."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"

"""Ask one tool for every vector, and count by rule and measure where it says the same."""

import importlib
import json
import math
import re
import warnings
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from .rows import NoSuchThing

KIT = Path(__file__).parents[2] / "tests" / "conformance"
BOOK = json.loads((KIT / "rules.json").read_text(encoding="utf-8"))
# Single precision, in which some tools compute, is right to 6 digits.
TOLERANCE = 1e-6
TOOLS = {
    "skfilterrank": "skfilterrank_eval",
    "scikit-learn": "scikit_learn",
    "LightGBM": "lightgbm_eval",
    "XGBoost": "xgboost_eval",
    "CatBoost": "catboost_eval",
    "torchmetrics": "torchmetrics_eval",
    "polars_ds": "polars_ds_eval",
    "ranx": "ranx_eval",
    "ir_measures": "ir_measures_eval",
    "pytrec_eval": "pytrec_eval_eval",
    "LensKit": "lenskit_eval",
}
FIELDS = (
    "tool",
    "version",
    "rule",
    "measure",
    "told",
    "vectors",
    "agree",
    "refuse",
    "example",
    "says",
)


def vectors():
    return json.loads((KIT / "vectors.json").read_text(encoding="utf-8"))


def rows_of_tool(tool):
    """Lines of the table of counts, one for each rule, measure and way of telling the tool."""
    module = importlib.import_module(f"_conformance.{TOOLS[tool]}")
    number = version_of(module.PACKAGES)
    for other in getattr(module, "WITH", ()):
        number += f" with {other} {version(other)}"
    lines = {}
    for vector in vectors():
        for told, says in values(module, vector):
            key = (vector["rule"], vector["measure"], told)
            line = lines.setdefault(key, {"vectors": 0, "agree": 0, "refuse": 0})
            line["vectors"] += 1
            if same(says, vector, getattr(module, "TOLERANCE", TOLERANCE)):
                line["agree"] += 1
                continue
            line["refuse"] += isinstance(says, Exception)
            if "example" not in line:
                line |= {"example": vector["id"], "says": said(says)}
    return [
        {"tool": tool, "version": number, "rule": rule, "measure": measure, "told": told, **line}
        for (rule, measure, told), line in lines.items()
    ]


def values(module, vector):
    """What the tool says: a number, or the error that it raises."""
    question = BOOK["rules"][vector["rule"]]["question"]
    if question in getattr(module, "NOT_ASKED", ()):
        return
    sets = BOOK["rules"][vector["rule"]]["sets"]
    asked = {name: value for name, value in vector["parameters"].items() if name not in sets}
    try:
        if hasattr(module, "of_vector"):
            ways = [*module.of_vector(vector, asked, sets)]
        else:
            ways = [*module.ways(vector["measure"], asked, sets)]
    except NoSuchThing:
        return
    for told, of_rows in ways:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                yield told, of_rows(vector["rows"])
            except NoSuchThing:
                continue
            except Exception as error:
                yield told, error


def same(says, vector, tolerance):
    if isinstance(says, Exception):
        return vector["error"]
    if vector["error"]:
        return False
    nothing = says is None or math.isnan(says)
    if nothing or vector["value"] is None:
        return nothing and vector["value"] is None
    return math.isclose(says, vector["value"], rel_tol=tolerance, abs_tol=tolerance)


def said(says):
    if isinstance(says, Exception):
        # Without the time and the place in their sources that some tools begin with.
        text = re.sub(r"\[[\d:]+\] |\S+/\S+:(\d+:)? ", "", str(says).strip())
        return f"{type(says).__name__}: {' '.join(text.splitlines()[:1])}"[:100]
    return "nothing" if says is None else f"{says:.6g}"


def version_of(names):
    for name in names:
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    raise PackageNotFoundError(names[0])

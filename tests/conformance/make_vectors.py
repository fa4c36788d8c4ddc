"""Write vectors.json and the tables of README.md, the same bytes every time."""

import json
from collections import Counter
from itertools import combinations
from pathlib import Path
from random import Random

from exact_values import Refused, value_of, written
from vector_cases import ASKS

HERE = Path(__file__).parent
VECTORS = HERE / "vectors.json"
BOOK = json.loads((HERE / "rules.json").read_text(encoding="utf-8"))
SCHEMA = json.loads((HERE / "schema.json").read_text(encoding="utf-8"))
README = HERE / "README.md"
RULES = BOOK["rules"]
TABLES = "## Parameters\n"
REFUSED = "error"
OF_UNDEFINED = ("undefined", "unjudged_queries")


def answers(question, measure):
    """The rules that answer a question for a measure, and the parameters that each sets."""
    return {
        key: rule["sets"]
        for key, rule in RULES.items()
        if rule["question"] == question and measure in rule.get("measures", [measure])
    }


def exact(measure, rows, parameters):
    try:
        return value_of(measure, rows, parameters)
    except Refused:
        return REFUSED


def lists_that_tell(question, ask, rng):
    """Rows on which no two answers agree throughout, and the value of each answer on each."""
    rules = answers(question, ask.measure)

    def one_list():
        while True:
            rows = ask.draw(rng)
            if ask.measure == "recall" and question != "recall_divisor" and _cut_short(ask, rows):
                continue
            values = tuple(
                exact(ask.measure, rows, {**ask.parameters, **sets}) for sets in rules.values()
            )
            if len({*values}) < 2 if len(rules) > 1 else values == (None,):
                continue
            if question in OF_UNDEFINED or not _undefined_matters(ask, rows, rules, values):
                return rows, values

    for _ in range(500):
        drawn, columns = zip(*(one_list() for _ in range(ask.n_lists)))
        values = dict(zip(rules, zip(*columns)))
        varied = len(rules) > 1 or ask.n_lists == 1 or len({*columns}) > 1
        if varied and all(values[a] != values[b] for a, b in combinations(rules, 2)):
            return drawn, values
    raise AssertionError(f"no lists on which {', '.join(rules)} differ for {ask.measure}")


def _undefined_matters(ask, rows, rules, values):
    """Whether the value hangs on a query without an answer, which is another question.

    `values` are those where such a query counts 0.
    """
    return any(
        value != exact(ask.measure, rows, {**ask.parameters, **sets, "undefined": 1})
        for value, sets in zip(values, rules.values(), strict=True)
    )


def _cut_short(ask, rows):
    """Whether more than k documents are relevant: there is a question of its own for that."""
    relevant = Counter(row["query"] for row in rows if (row["label"] or 0) > 0)
    return max(relevant.values(), default=0) > (ask.parameters.get("k") or len(rows))


def vectors():
    made, numbers = [], {}
    for question, asks in ASKS.items():
        for place, ask in enumerate(asks):
            if question == "empty_lists":
                ask = ask._replace(parameters={**ask.parameters, "present": ["q3"]})
            drawn, values = lists_that_tell(question, ask, Random(f"{question} {place}"))
            for key, sets in answers(question, ask.measure).items():
                for rows, value in zip(drawn, values[key]):
                    numbers[key] = numbers.get(key, 0) + 1
                    vector = {
                        "id": f"{key}-{numbers[key]}",
                        "rule": key,
                        "measure": ask.measure,
                        "parameters": {**ask.parameters, **sets},
                    }
                    if value == REFUSED:
                        vector |= {"error": True, "value": None, "exact": None}
                    elif value is None:
                        vector |= {"error": False, "value": None, "exact": None}
                    else:
                        text = written(ask.measure, value)
                        vector |= {"error": False, "value": float(value), "exact": text}
                    made.append({**vector, "rows": rows})
    return made


def text_of(made):
    """One vector a line."""
    return "[\n" + ",\n".join(json.dumps(each, separators=(",", ":")) for each in made) + "\n]\n"


def readme_of(text, made):
    """The page with its tables written again."""
    lines = [TABLES, "| name | default | others | what |", "| --- | --- | --- | --- |"]
    for name, each in SCHEMA["items"]["properties"]["parameters"]["properties"].items():
        default, others = each["default"], [x for x in each.get("enum", []) if x != each["default"]]
        shown = ", ".join(f"`{json.dumps(value)}`" for value in others)
        lines.append(f"| `{name}` | `{json.dumps(default)}` | {shown} | {each['description']} |")
    lines += ["", "## Rules", ""]
    lines += ["| rule | vectors | what it says | from |", "| --- | --- | --- | --- |"]
    n_vectors = Counter(vector["rule"] for vector in made)
    for key, rule in RULES.items():
        lines.append(f"| `{key}` | {n_vectors[key]} | {rule['rule']} | {rule['source']} |")
    return text.partition(TABLES)[0] + "\n".join(lines) + "\n"


if __name__ == "__main__":
    made = vectors()
    VECTORS.write_text(text_of(made), encoding="utf-8")
    README.write_text(readme_of(README.read_text(encoding="utf-8"), made), encoding="utf-8")
    print(f"{len(made)} vectors of {len({each['rule'] for each in made})} rules")

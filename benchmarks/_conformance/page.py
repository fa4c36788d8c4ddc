"""The page: who follows which rule, and where numbers part an example."""

from collections import defaultdict

from _common import write_report

from .ask import BOOK, TOLERANCE, TOOLS, vectors

HEAD = """
{n} small lists with the value of a ranking measure, each worked out in exact arithmetic by one of
{n_rules} rules ([the kit](../../tests/conformance/README.md)), were given to {n_tools} tools. Rules
that answer one question have the same lists, on which their values differ. Numbers agree within
{tolerance}, as some tools compute in single precision, those of ir_measures within 1e-5, as one of
its providers prints five places.

Versions: {versions}.

`python benchmarks/conformance.py --tool TOOL`, with an interpreter that has it, asks one again, and
without `--tool` it writes this page. All counts, by measure, and an example for each difference are
in [conformance.csv](conformance.csv).

How they are asked: LightGBM and XGBoost are given scores as the start of a model without trees,
CatBoost's function for metrics takes them. scikit-learn is called once for each query, and the mean
is ours. Tools of rows are not asked about a judged document that is not in the list. ir_measures
has the providers that its installation brings, and Perl. LensKit takes labels other than 0 as its
test data. polars_ds 0.13.0 fails with polars 2, which has no `rechunk` in expressions any more.

* **yes**: the tool gives the rule's value for all vectors that it can be given, without being told
  anything.
* **told**: it does so by an option, which is named below.
* names of measures, or their number: with these alone, of those that it has.
* no: another number. refuses: an error. –: the tool has no such measure, or no way to be asked.

A tool whose measure differs from the definition on plain lists already is judged by its other
measures alone, unless it follows one of the rules of the question with it.
"""
AN_ERROR = "an error"
TITLE = "What each tool makes of ties, holes, short lists and labels below 0"


def write_page(lines):
    counts = Counts(lines)
    tools = [tool for tool in TOOLS if tool in counts.versions]
    asked = vectors()
    given = {"n": len(asked), "n_rules": len(BOOK["rules"]), "n_tools": len(tools)}
    versions = ", ".join(f"{tool} {counts.versions[tool]}" for tool in tools)
    text = [
        HEAD.format(**given, tolerance=f"{TOLERANCE:g}", versions=versions).strip(),
        "## Rules",
        matrix([key for key in BOOK["rules"] if not key.startswith("plain_")], tools, counts),
        "## Plain lists",
        "No ties, everything judged: what a measure is before any of the above matters.",
        matrix([key for key in BOOK["rules"] if key.startswith("plain_")], tools, counts),
        "## Question by question",
    ]
    examples = {vector["id"]: vector for vector in asked}
    for question, asks in BOOK["questions"].items():
        if not question.startswith("plain_"):
            text.append(section(question, asks, tools, counts, examples))
    text.append(plain_section(tools, counts, examples))
    write_report("conformance", TITLE, "\n\n".join(text))


class Counts:
    """The lines of the table by tool and rule."""

    def __init__(self, lines):
        self.versions = {line["tool"]: line["version"] for line in lines}
        self._lines = defaultdict(list)
        for line in lines:
            number = {name: int(line[name]) for name in ("vectors", "agree", "refuse")}
            self._lines[line["tool"], line["rule"]].append({**line, **number})

    def of(self, tool, rule):
        """Lines by measure: without being told anything, and told."""
        question = BOOK["rules"][rule]["question"]
        measures = defaultdict(lambda: ([], []))
        for line in self._lines[tool, rule]:
            if self._tells(tool, question, line["measure"]):
                measures[line["measure"]][line["told"] != ""].append(line)
        return measures

    def _tells(self, tool, question, measure):
        """Whether the measure can show what a tool does with the question."""
        plain = self._lines[tool, f"plain_{measure}.definition"]
        if question == f"plain_{measure}" or all(map(whole, plain)):
            return True
        return any(
            whole(line)
            for rule, each in BOOK["rules"].items()
            if each["question"] == question
            for line in self._lines[tool, rule]
            if line["measure"] == measure
        )


def whole(line):
    return line["agree"] == line["vectors"]


def verdict(measures):
    """The word in the matrix."""
    if not measures:
        return "–"
    by_itself = [name for name, (untold, _) in measures.items() if any(map(whole, untold))]
    if len(by_itself) == len(measures):
        return "**yes**"
    at_all = [name for name, pair in measures.items() if any(map(whole, (*pair[0], *pair[1])))]
    if len(at_all) == len(measures):
        return "**told**"
    if at_all:
        return ", ".join(at_all) if len(at_all) < 4 else f"{len(at_all)} of {len(measures)}"
    lines = [line for pair in measures.values() for line in (*pair[0], *pair[1])]
    return "refuses" if all(line["refuse"] == line["vectors"] for line in lines) else "no"


def matrix(rules, tools, counts):
    head = ["| rule | " + " | ".join(tools) + " |", "| --- " * (len(tools) + 1) + "|"]
    for rule in rules:
        name = rule.removesuffix(".definition").removeprefix("plain_")
        cells = [verdict(counts.of(tool, rule)) for tool in tools]
        head.append(f"| `{name}` | " + " | ".join(cells) + " |")
    return "\n".join(head)


def section(question, asks, tools, counts, examples):
    rules = [key for key, rule in BOOK["rules"].items() if rule["question"] == question]
    text = [f"### {question}", "", asks, ""]
    for rule in rules:
        each = BOOK["rules"][rule]
        text.append(f"* `{rule.partition('.')[2]}`: {each['rule']} ({each['source']})")
    text += ["", "| tool | follows | an example of where it does not |", "| --- | --- | --- |"]
    for tool in tools:
        follows, example = [], None
        for rule in rules:
            measures = counts.of(tool, rule)
            if not measures:
                continue
            word = followed(measures)
            if word is not None:
                follows.append(f"{rule.partition('.')[2]}{word}")
            found = parting(measures, examples)
            # Not to refuse what it measures by another rule needs no example.
            if found and not (found.endswith(AN_ERROR) and word_of_any(counts, tool, rules)):
                example = example or found
        if follows or example:
            text.append(f"| {tool} | {'; '.join(follows) or 'none'} | {example or ''} |")
    return "\n".join(text)


def word_of_any(counts, tool, rules):
    return any(followed(counts.of(tool, rule)) is not None for rule in rules)


def plain_section(tools, counts, examples):
    text = [
        "### Differences on plain lists",
        "",
        "| tool | measure | what it says |",
        "| --- | --- | --- |",
    ]
    for rule in BOOK["rules"]:
        if rule.startswith("plain_"):
            name = rule.removesuffix(".definition").removeprefix("plain_")
            for tool in tools:
                example = parting(counts.of(tool, rule), examples)
                if example:
                    text.append(f"| {tool} | {name} | {example} |")
    return "\n".join(text)


def followed(measures):
    """Measures and options with which a rule is followed, in brackets."""
    by_told = defaultdict(list)
    for measure, (untold, told) in measures.items():
        for line in (*untold, *told):
            if whole(line):
                by_told[line["told"]].append(measure)
                break
    if not by_told:
        return None
    parts = []
    for told, names in by_told.items():
        named = "" if len(names) == len(measures) else ", ".join(names)
        parts.append(" ".join(part for part in (f"`{told}`" if told else "", named) if part))
    inside = "; ".join(part for part in parts if part)
    return f" ({inside})" if inside else ""


def parting(measures, examples):
    """One vector on which nothing the tool has gives the rule's value."""
    for untold, told in measures.values():
        if any(map(whole, (*untold, *told))):
            continue
        line = next(each for each in (*untold, *told) if each["example"])
        vector = examples[line["example"]]
        if vector["error"]:
            value = AN_ERROR
        elif vector["value"] is None:
            value = "no value"
        else:
            value = f"{vector['value']:.6g}"
        says = line["says"].replace("|", "\\|").replace("<", "&lt;").replace("`", "'")
        cut = f"@{vector['parameters']['k']}" if vector["parameters"].get("k") else ""
        return f"{vector['measure']}{cut} of `{vector['id']}`: {says}; the rule says {value}"
    return None

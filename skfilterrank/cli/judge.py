"""``skfilterrank judge``: judge documents at the terminal, or write a page to judge them on."""

import argparse
from typing import Annotated

from skfilterrank.cli import _types as t
from skfilterrank.exceptions import brief

STRATEGIES = ("pooling", "maxrep", "mtf", "mtc", "prior", "random", "statap", "sample")
TOOLS = ("label-studio", "doccano", "argilla", "quepid")


def _grades(text):
    """Read labels and perhaps their names, as in 0=no,1=yes."""
    name_of: dict[float, str] = {}
    for item in t.names(text):
        label, _, name = item.partition("=")
        number = t.number(label.strip())
        if number in name_of:
            raise argparse.ArgumentTypeError(f"label {number:g} is there twice.")
        name_of[number] = name.strip()
    return name_of


class ToolFile(str):
    """A path, and the labelling tool whose file it is."""

    tool = ""


def _of_tool(text):
    """Read a tool and a file, as in doccano=tasks.jsonl; any other text stays."""
    tool, _, path = text.partition("=")
    if tool not in TOOLS or not path:
        return text
    file = ToolFile(path)
    file.tool = tool
    return file


def _tasks(text):
    """Read a tool and a file to write."""
    file = _of_tool(text)
    if file is text:
        expected = ", ".join(f"{tool}=FILE" for tool in TOOLS)
        raise argparse.ArgumentTypeError(f"expected one of {expected}, got {brief(text)}.")
    return t.file_to_write(file)


def judge(
    runs: t.PoolRuns = None,
    *,
    pool: t.Pool = None,
    docs: t.Docs,
    out: Annotated[
        str | None, t.Arg(convert=t.file_to_write, metavar="QRELS", file="write", also=(".log",))
    ] = None,
    page: t.NewFile = None,
    export: Annotated[
        ToolFile | None, t.Arg(convert=_tasks, metavar="TOOL=FILE", file="write")
    ] = None,
    topics: t.Topics = None,
    text: t.Text = None,
    grades: Annotated[
        dict[float, str] | None, t.Arg(convert=_grades, metavar="LABEL[=NAME],...")
    ] = None,
    assessor: Annotated[str | None, t.Arg(metavar="NAME")] = None,
    unjudged_label: t.UnjudgedLabel = "warn",
    strategy: Annotated[str | None, t.Arg(choices=STRATEGIES, shown="by the runs")] = None,
    depth: Annotated[
        int | None,
        t.Arg(convert=t.places, metavar="N|all", shown=f"{t.POOL_DEPTH}, or all with --pool"),
    ] = None,
    judged: Annotated[
        list[str] | None, t.Arg(convert=_of_tool, metavar="QRELS", many="repeat", file="read")
    ] = None,
    n_per_query: t.Budget = None,
    n_total: t.Budget = None,
    only: Annotated[list[str] | None, t.Arg(convert=t.names, metavar="QID,...")] = None,
    random_state: t.RandomState = 0,
    measure: t.Measures = t.SAMPLED_MEASURES,
    machine_qrels: t.MachineQrels = None,
    gains: t.Gains = None,
    unit: t.Unit = "document",
    risk: Annotated[
        dict[str, float] | None, t.Arg(convert=t.risks, metavar="RISK=LEVEL,...")
    ] = None,
    plan: Annotated[
        dict[str, float] | None, t.Arg(convert=t.plan, metavar="SETTING=VALUE,...")
    ] = None,
    confidence_level: t.ConfidenceLevel = 0.95,
) -> None:
    """Show one document after the other, and save a label for each.

    Parameters
    ----------
    pool
        documents to judge: judgments, a run or a table (default: those of the runs or --judged)
    out
        file for the judgments; the same command goes on behind QRELS.log
    page
        write a page to judge on, in place of asking here
    export
        write tasks for label-studio, doccano, argilla or quepid
    grades
        labels to choose from, below 0 for forbidden (default: those of --gains or --machine-qrels,
        or 0,1,2)
    assessor
        who judges; the log keeps it with each answer
    unjudged_label
        label that means pooled but not judged, such as -1, of --judged and in what is written
    strategy
        what to judge first
    depth
        places of each run that count
    judged
        what is judged already: judgments or a log of an assessor, or TOOL=FILE; may be repeated
    n_per_query
        documents of each query, or their share, as in 0.2 (default: all)
    n_total
        documents of a sample, or their share; queries with --unit query
    only
        queries to judge, in this order
    measure
        measures that a sample is for
    risk
        draw the queries that these risks need, such as any_forbidden@5=0.1
    plan
        what --risk assumes, such as power=0.9

    Examples
    --------
    skfilterrank judge runs/*.gz --docs docs.jsonl --topics topics.jsonl --out qrels.txt
    skfilterrank judge run.txt --docs docs.csv --strategy sample --risk forbidden@5=0.1 --out own
    skfilterrank judge --judged anna.txt.log --judged bob.txt.log --docs docs.jsonl --out both.txt
    """
    given = argparse.Namespace(**locals())
    from skfilterrank.cli._judge import JudgingSession

    judging = JudgingSession(given)
    if page:
        judging.write_tasks(page, "page")
    elif export:
        judging.write_tasks(export, export.tool)
    else:
        judging.ask()

"""``skfilterrank select`` and ``complete``: what to judge, and drawn labels of the rest."""

import argparse
from typing import Annotated, Any

from skfilterrank.cli import _types as t
from skfilterrank.cli._output import data_output, progress, tell
from skfilterrank.exceptions import InputError

STRATEGIES = ("pooling", "maxrep", "random", "statap", "sample")


def select(
    runs: t.PoolRuns,
    *,
    out: t.NewFile = None,
    page: t.NewFile = None,
    docs: t.Docs = None,
    topics: t.Topics = None,
    text: t.Text = None,
    judged: t.File = None,
    strategy: Annotated[str, t.Arg(choices=STRATEGIES)] = "pooling",
    n_per_query: t.Count = None,
    n_total: t.Count = None,
    depth: Annotated[
        int | None, t.Arg(convert=t.places, metavar="N|all", shown=t.POOL_DEPTH)
    ] = None,
    measure: t.Measures = t.SAMPLED_MEASURES,
    machine_qrels: t.MachineQrels = None,
    unit: t.Unit = "document",
    gains: Annotated[
        Any, t.Arg(convert=t.gains, metavar="LABEL=GAIN,...", shown="labels 0,1,2")
    ] = None,
    random_state: t.RandomState = 0,
) -> None:
    """Write a table of the documents that people should judge, in the order to judge them.

    Columns: qid, query, docno, text, inclusion_probability (of random samples) and an empty label.
    Fill in labels by a spreadsheet or any tool: every command takes the table as judgments.

    pooling   by the best rank in any run
    maxrep    what represents most of the pool, by texts
    random    at random
    statap    at random, high in many runs more often, for stat_ap
    sample    --n-total documents of all queries at random, for estimate() in Python

    Parameters
    ----------
    out
        table to write, .csv or .jsonl
    page
        page to judge on in a browser, which saves the filled table
    judged
        judgments so far; their documents are left out, or keep labels in a sample
    strategy
        what to judge first
    n_per_query
        documents of each query (default: all)
    n_total
        documents in all, or queries of a sample with --unit query
    depth
        places of each run that make the pool
    measure
        measures that a sample is for, such as ap
    gains
        labels that the page offers, and the gain of each, below 0 forbidden

    Examples
    --------
    skfilterrank select runs/* --n-total 50 --docs docs.jsonl --topics topics.csv --out judge.csv
    skfilterrank select runs/* --n-total 50 --docs docs.jsonl --gains no=0,yes=1 --page judge.html
    """
    given = argparse.Namespace(**locals())
    from skfilterrank.cli import _judging_table as tables

    if out is None and page is None:
        raise InputError("name the table by --out, or the page by --page.")
    table = tables.judging_table(given)
    if page is not None:
        tables.write_page(page, table, gains)
    if out is not None:
        tables.write_table(out, table)
    tables.tell_of(table, " and ".join(filter(None, (out, page))))


def complete(
    qrels: t.Qrels,
    runs: t.Runs,
    *,
    docs: t.Docs = None,
    topics: t.Topics = None,
    text: t.Text = None,
    machine_qrels: t.MachineQrels = None,
    gains: t.Gains = None,
    depth: t.Depth = None,
    unjudged_label: t.UnjudgedLabel = "warn",
    n_draws: t.Number = 20,
    random_state: t.RandomState = 0,
    n_jobs: t.NJobs = None,
    out: t.Out = None,
) -> None:
    r"""Draw labels for the documents of runs that nobody judged, several times.

    One model of all judged documents gives the chance of each label, by the places in all runs,
    and by texts and labels of machines if they are given. The table holds every label set: columns
    qid, docno, label, judged_by ("drawn") and draw. Commands evaluate and compare take it as
    judgments: values are means over the sets, and intervals hold their spread.

    Parameters
    ----------
    runs
        runs whose documents are completed; each is a column of the model
    unjudged_label
        label of documents of QRELS that are completed; trec: all labels below 0
    n_draws
        label sets

    Examples
    --------
    skfilterrank complete qrels.txt runs/* --docs docs.jsonl.gz --topics topics.csv --out drawn.csv
    skfilterrank complete judged.csv runs/* --gains no=0,yes=1 --out drawn.jsonl
    skfilterrank evaluate drawn.csv runs/* -m ap,ndcg@10
    """
    from skfilterrank._base.results import counted
    from skfilterrank.cli import _inputs
    from skfilterrank.cli._judging_table import write_table
    from skfilterrank.io import read_qrels
    from skfilterrank.judgments import complete_qrels, rank_table

    if gains == "exp2":
        raise InputError(
            "--gains exp2 is for measures. Name the gain of each label, as in 0=0,1=1."
        )
    if isinstance(gains, dict):
        gains = {t.written(label): gain for label, gain in gains.items()}
    how = {"gains": gains, "predicted": "use", "unjudged_label": unjudged_label}
    # A run that is named twice counts once.
    named = _inputs.read_named_runs(list(dict.fromkeys(runs)))
    machines = _inputs.named_paths(machine_qrels or [])
    completed = complete_qrels(
        read_qrels(_inputs.source(qrels), **how),
        rank_table(named, depth=depth or None),
        None if docs is None else _inputs.read_documents(docs, text=text),
        None if topics is None else _inputs.read_topics(topics).iloc[:, 0],
        {name: read_qrels(path, **how) for name, path in machines.items()} or None,
        n_draws=n_draws,
        random_state=random_state,
        n_jobs=n_jobs,
        verbose=progress(),
    )
    drawn, known = counted(completed.n_drawn, "document"), counted(completed.n_judged, "label")
    tell(f"drew {counted(n_draws, 'label set')} of {drawn}, learned from {known}")
    if completed.n_without_text:
        tell(f"{counted(completed.n_without_text, 'document')} without a text in {docs}")
    write_table(data_output(out), completed.to_frame())

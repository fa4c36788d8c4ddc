"""``skfilterrank select`` and ``complete``: what to judge, and labels of the rest."""

import argparse
from typing import Annotated, Any

from skfilterrank.cli import _types as t
from skfilterrank.cli._output import data_output, listed, progress, tell
from skfilterrank.exceptions import InputError, SkfilterrankWarning

STRATEGIES = ("pooling", "prior", "mtf", "mtc", "maxrep", "random", "statap", "sample")


def select(
    runs: t.PoolRuns = None,
    *,
    out: t.NewFile = None,
    page: t.NewFile = None,
    docs: t.Docs = None,
    topics: t.Topics = None,
    text: t.Text = None,
    judged: t.File = None,
    pool: t.Pool = None,
    strategy: Annotated[str | None, t.Arg(choices=STRATEGIES, shown="pooling with runs")] = None,
    n_per_query: t.Count = None,
    n_total: t.Count = None,
    share: t.Share = None,
    depth: Annotated[
        int | None,
        t.Arg(convert=t.places, metavar="N|all", shown=f"{t.POOL_DEPTH}, or all with --pool"),
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
    prior     high in many runs first
    mtf       move to front: stay with a run as long as it returns relevant documents
    mtc       minimal test collections: what decides most which run is better
    maxrep    what represents most of the pool, by texts (default without runs)
    random    at random
    statap    at random, high in many runs more often, for stat_ap
    sample    --n-total documents of all queries at random, for evaluate and compare --interval

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
    share
        share of the documents of each query, or of a sample in all, as in 0.2
    depth
        places of each run that count
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
    runs: t.PoolRuns = None,
    *,
    docs: t.Docs,
    gains: t.Gains = None,
    depth: t.Depth = None,
    unjudged_label: t.UnjudgedLabel = "warn",
    text: t.Text = None,
    n_jobs: t.NJobs = None,
    out: t.Out = None,
) -> None:
    r"""Predict labels for the documents that nobody judged, from the text of those somebody did.

    Completed are documents of QRELS with the label of --unjudged-label, and documents of
    the runs that QRELS does not hold. Labels of people stay; the second column of the output says
    "predicted" beside others. Queries whose judged labels are all the same are left unjudged.

    Parameters
    ----------
    runs
        runs whose documents are completed, too
    unjudged_label
        label of documents of QRELS that are completed; trec: all labels below 0

    Examples
    --------
    skfilterrank complete qrels.txt runs/* --docs docs.jsonl.gz --depth 100 > completed.txt
    skfilterrank complete judged.csv runs/* --docs docs.csv --gains no=0,yes=1 --out completed.txt
    skfilterrank complete qrels.txt --docs docs.csv --text title,body --unjudged-label -1
    """
    import warnings

    from skfilterrank.cli import _inputs
    from skfilterrank.cli._inputs import read_documents
    from skfilterrank.io import write_qrels
    from skfilterrank.judgments import LabelPredictor, complete_qrels

    if depth is not None and not runs:
        raise InputError(
            "--depth limits how many documents of each run count. Name runs after QRELS."
        )
    treated = t.LabelOptions(gains=gains, unjudged_label=unjudged_label, predicted="use")
    judged = _inputs.read_gains(qrels, treated)
    for line in _of_labels(judged, qrels, treated):
        tell(line)
    # A run that is named twice counts once.
    named = _inputs.read_named_runs(list(dict.fromkeys(runs))) if runs else None
    texts = read_documents(docs, text=text)
    if not len(texts):
        raise InputError(f"{docs} holds no document.")
    predictor = LabelPredictor(one_class="leave", n_jobs=n_jobs, verbose=progress())
    with warnings.catch_warnings():
        # All others are told below, and of labels above.
        others = "(?!the judged documents stand no higher)"
        warnings.filterwarnings("ignore", others, SkfilterrankWarning)
        completed = complete_qrels(
            judged,
            named,
            texts,
            depth=depth or None,
            unjudged_label=None,
            predictor=predictor,
            random_state=0,
        )
    for line in _of_completed(completed, docs):
        tell(line)
    table, label = completed.qrels, treated.written_unjudged
    if label is None:
        table = table[table["label"].notna()]
    write_qrels(data_output(out), table, unjudged_label=label)


def _of_labels(judged, path, reading):
    """Yield lines about labels that are not learned from, or may have another meaning."""
    from skfilterrank._lists.results import counted
    from skfilterrank._lists.words import JUDGED_BY, is_of_machine

    if JUDGED_BY in judged:
        is_machine = is_of_machine(judged[JUDGED_BY])
        if n_machine := int(judged["label"][is_machine].notna().sum()):
            n_labels = counted(n_machine, "label")
            yield f"{path}: {n_labels} of machines, not learned from and predicted anew"
        judged = judged[~is_machine]
    n_negative = int((judged["label"] < 0).sum())
    if n_negative and reading.unjudged_label == "warn":
        yield (
            f"{counted(n_negative, 'label')} below 0, forbidden documents; where they mean "
            "unjudged, say so by --unjudged-label"
        )


def _of_completed(completed, docs):
    """Yield lines about labels that were predicted, what they are worth, and what is left."""
    from skfilterrank._lists.results import counted
    from skfilterrank._lists.words import JUDGED_BY, is_of_machine

    table, predictor, missing = completed.qrels, completed.predictor, completed.without_text
    if completed.unknown_queries:
        n_queries = counted(len(completed.unknown_queries), "query", "queries")
        yield f"{n_queries} of the runs without judgments: left out"
    imputed = table["label"][is_of_machine(table[JUDGED_BY])]
    text = f"predicted {counted(len(imputed), 'label')} of {len(table):,}"
    if len(imputed):
        counts = imputed.value_counts().sort_index()
        shown = ", ".join(f"{label:g}: {count:,}" for label, count in counts.items())
        text += f": {shown}"
    yield text
    if len(imputed):
        warning = "warning: " if completed.is_doubtful else ""
        yield f"{warning}{completed.precision_text()}; column 2 marks them"
    queries_of: dict = {}
    for query, reason in predictor.fallback_queries_.items():
        queries_of.setdefault(reason, []).append(query)
    for reason, queries in queries_of.items():
        n_queries = counted(len(queries), "query", "queries")
        yield f"{n_queries} with {reason} (left unjudged): {listed(queries)}"
    if n_empty := int(predictor.imputed_[predictor.empty_texts_].sum()):
        yield f"{counted(n_empty, 'text')} without a word to go by: labelled by the model's default"
    if len(missing):
        n_judged = int(missing["label"].notna().sum())
        docnos = list(dict.fromkeys(missing["docno"]))
        yield (
            f"{counted(len(docnos), 'document')} without text in {docs} "
            f"({counted(len(missing), 'row')}: {n_judged:,} judged, not learned from; the others "
            f"left unjudged): {listed(docnos)}"
        )

"""``skfilterrank complete``: predict the labels that nobody made."""

from typing import Any, Literal

from skfilterrank.cli import _types as t
from skfilterrank.cli._output import data_output, listed, progress, tell
from skfilterrank.exceptions import InputError, SkfilterrankWarning

_DONE = {"copy": "copied", "pool": "model of all queries", "leave": "left unjudged"}


def complete(
    qrels: t.Qrels,
    runs: t.PoolRuns = None,
    *,
    docs: t.Docs,
    gains: t.Gains = None,
    depth: t.Depth = None,
    unjudged_label: t.UnjudgedLabel = "warn",
    document: t.Document = None,
    text: t.Text = None,
    input_format: Literal["csv", "tsv", "jsonl", "parquet"] | None = None,
    labels: Literal["hard", "soft"] = "hard",
    one_class: Literal["leave", "copy", "pool"] = "leave",
    unjudged_query: Literal["leave", "pool"] = "leave",
    list_missing: t.NewFile = None,
    n_jobs: t.NJobs = None,
    out: t.Out = None,
) -> None:
    r"""Predict labels for the documents that nobody judged, from the text of those somebody did.

    Completed are documents of QRELS with the label of --unjudged-label, and documents of
    the runs that QRELS does not hold. Labels of people stay; the second column of the output says
    "predicted" beside others.

    Parameters
    ----------
    runs
        runs whose documents are completed, too
    unjudged_label
        label of documents of QRELS that are completed; trec: all labels below 0
    input_format
        format of DOCS (default: by their names)
    labels
        one of the query's labels, or the expected label with four digits, which trec_eval does
        not read
    one_class
        other documents of queries whose judged labels are all the same: left unjudged, given this
        label, or asked of a model of all queries
    unjudged_query
        queries without a judged document: left unjudged, or asked of a model of all queries
    list_missing
        file for query and id of each document without text

    Examples
    --------
    skfilterrank complete qrels.txt runs/* --docs docs.jsonl.gz --depth 100 > completed.txt
    skfilterrank complete judged.csv runs/* --docs docs.csv --gains no=0,yes=1 --out completed.txt
    skfilterrank complete qrels.txt --docs docs.csv --text title,body --labels soft \
        --unjudged-label -1 --out expected.txt
    """
    import warnings

    from skfilterrank._files.files import open_for_writing
    from skfilterrank._lists.words import JUDGED_BY, is_of_machine
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
    texts = read_documents(docs, document=document, text=text, format=input_format)
    if not len(texts):
        raise InputError(f"{docs} holds no document.")
    choices: dict[str, Any] = {"one_class": one_class, "unjudged_query": unjudged_query}
    predictor = LabelPredictor(output=labels, n_jobs=n_jobs, verbose=progress(), **choices)
    with warnings.catch_warnings():
        # All others are told below, and of labels above.
        others = "(?!the judged documents stand no higher)"
        warnings.filterwarnings("ignore", others, SkfilterrankWarning)
        how: dict[str, Any] = {"unjudged_label": None, "predictor": predictor, "random_state": 0}
        completed = complete_qrels(judged, named, texts, depth=depth or None, **how)
    for line in _of_completed(completed, docs):
        tell(line)
    table, label = completed.qrels, treated.written_unjudged
    if label is None:
        table = table[table["label"].notna()]
    if labels == "soft":
        is_predicted = is_of_machine(table[JUDGED_BY])
        rounded = table["label"].where(~is_predicted, table["label"].round(4))
        table = table.assign(label=rounded)
    write_qrels(data_output(out), table, unjudged_label=label)
    if list_missing is not None:
        missing = completed.without_text
        with open_for_writing(list_missing) as write:
            write("".join(f"{q} {d}\n" for q, d in zip(missing["qid"], missing["docno"])))


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
    is_soft = predictor.output == "soft"
    imputed = table["label"][is_of_machine(table[JUDGED_BY])]
    text = f"predicted {counted(len(imputed), 'label')} of {len(table):,}"
    if len(imputed):
        counts = imputed.value_counts().sort_index()
        shown = ", ".join(f"{label:g}: {count:,}" for label, count in counts.items())
        text += f", {imputed.mean():.4f} on average" if is_soft else f": {shown}"
    yield text
    if len(imputed):
        warning = "warning: " if completed.is_doubtful else ""
        yield f"{warning}{completed.precision_text()}; column 2 marks them"
    if is_soft and predictor.calibration_ is None:
        yield "too few judged documents to calibrate chances: expected labels may be far off"
    queries_of: dict = {}
    for query, reason in predictor.fallback_queries_.items():
        queries_of.setdefault(reason, []).append(query)
    for reason, queries in queries_of.items():
        how = predictor.unjudged_query if reason.startswith("no ") else predictor.one_class
        n_queries = counted(len(queries), "query", "queries")
        yield f"{n_queries} with {reason} ({_DONE[how]}): {listed(queries)}"
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

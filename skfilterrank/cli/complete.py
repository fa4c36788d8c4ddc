"""``skfilterrank complete``: draw labels for documents that nobody judged."""

from skfilterrank._base.words import counted
from skfilterrank.cli import _types as t
from skfilterrank.cli._output import data_output, progress, refuse, tell
from skfilterrank.exceptions import InputError


def complete(
    qrels: t.Qrels,
    runs: t.Runs,
    *,
    docs: t.Docs = None,
    topics: t.Topics = None,
    text: t.Text = None,
    machine_qrels: t.MachineQrels = None,
    columns: t.Columns = None,
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
    gains
        gain of each label, below 0 forbidden
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
    from skfilterrank.cli import _inputs
    from skfilterrank.cli.select import write_table
    from skfilterrank.io import read_qrels
    from skfilterrank.judgments import complete_qrels, rank_table

    if gains == "exp2":
        raise InputError(t.EXP2_OF_MEASURES)
    if docs is None:
        refuse(["text"], "names columns of --docs. Give both or none.")
    how = {"gains": gains, "predicted": "use", "unjudged_label": unjudged_label}

    def read(path):
        own = _inputs.columns_of(path, columns, "label")
        return read_qrels(_inputs.source(path), columns=own, **how)

    # A run that is named twice counts once.
    named = _inputs.read_named_runs(list(dict.fromkeys(runs)), columns)
    machines = _inputs.named_paths(machine_qrels or [])
    completed = complete_qrels(
        read(qrels),
        rank_table(named, depth=depth or None),
        None if docs is None else _inputs.read_documents(docs, text=text),
        None if topics is None else _inputs.read_topics(topics).iloc[:, 0],
        {name: read(path) for name, path in machines.items()} or None,
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

"""``skfilterrank select``: choose the documents that people should judge."""

import argparse
import hashlib
import json
import re
import warnings
from functools import partial
from typing import Annotated, Any

from skfilterrank._base.words import counted
from skfilterrank._files.files import is_path, open_for_writing, unpacked_name
from skfilterrank.cli import _types as t
from skfilterrank.cli._output import listed, progress, refuse, tell
from skfilterrank.exceptions import DataWarning, InputError, brief

STRATEGIES = ("pooling", "maxrep", "random", "statap", "sample", "feedback")
_KEY = ["qid", "docno"]
_ENDINGS = (".csv", ".jsonl", ".csv.gz", ".jsonl.gz")
# Characters that files of text should not hold, and the most that a cell of a spreadsheet holds.
_NO_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_LONGEST_TEXT = 30_000
# Most queries of which a message says why they may not stop yet.
_MOST_TOLD = 5
# Keys of labels on the page; u takes a label back.
_KEYS = "1234567890abcdefghijklmnopqrstvwxyz"


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
    sample: Annotated[Any, t.Arg(convert=t.sample, metavar="N|SHARE|auto")] = "auto",
    target_recall: Annotated[float, t.Arg(convert=t.recall, metavar="P")] = 0.8,
    confidence_level: t.ConfidenceLevel = 0.95,
    columns: t.Columns = None,
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
    feedback  everything relevant, by texts: each query's next round, until it may stop

    With feedback, a random sample of each query says when it may stop. The table holds the labels
    so far: fill in the others, and give it as --judged to the next call. Change nothing else.

    Parameters
    ----------
    out
        table to write, .csv or .jsonl
    page
        page to judge on in a browser, which saves the filled table
    judged
        judgments so far: left out of the table, but kept in it by random samples and feedback
    strategy
        what to judge first
    n_per_query
        documents of each query (default: all); not for feedback
    n_total
        documents in all, or queries of a sample with --unit query
    depth
        places of each run that make the pool
    measure
        measures that a sample is for, such as ap
    sample
        size of feedback's random sample of each query; auto: what is found decides
    target_recall
        share of the relevant documents of the pool that feedback is to find
    gains
        labels that the page offers, and the gain of each, below 0 forbidden

    Examples
    --------
    skfilterrank select runs/* --n-total 50 --docs docs.jsonl --topics topics.csv --out judge.csv
    skfilterrank select runs/* --n-total 50 --docs docs.jsonl --gains no=0,yes=1 --page judge.html
    """
    given = argparse.Namespace(**locals())
    if out is None and page is None:
        raise InputError("name the table by --out, or the page by --page.")
    table = judging_table(given)
    if page is not None:
        write_page(page, table, gains)
    if out is not None:
        write_table(out, table)
    n_open, n_queries = int(table["label"].isna().sum()), table["qid"].nunique()
    judged = f", {len(table) - n_open:,} of them judged" if n_open < len(table) else ""
    of_queries = f"{counted(len(table), 'document')} of {counted(n_queries, 'query')}"
    tell(f"{of_queries} in {' and '.join(filter(None, (out, page)))}{judged}")


def judging_table(given):
    """Return the table of documents to judge, in their order.

    Parameters
    ----------
    given : Namespace
        Values of the options of ``skfilterrank select``.

    Returns
    -------
    DataFrame
        Columns "qid", "query" and "text" if they are given, "docno", "inclusion_probability" and
        "label", as a text; None where it is to be judged.
    """
    from skfilterrank.cli import _inputs
    from skfilterrank.judgments import rank_table

    _check(given)
    # Labels by machines are left out later, and --gains says what labels below 0 mean.
    given.reading = t.LabelOptions(
        columns=given.columns, gains=given.gains, unjudged_label=None, predicted="use"
    )
    depth = t.POOL_DEPTH if given.depth is None else given.depth or None
    known, runs = _judged(given), _inputs.read_named_runs(given.runs, given.columns)
    documents = None
    if given.docs is not None:
        documents = _inputs.read_document_texts(given.docs, text=given.text)
    if given.strategy == "sample":
        chosen = _drawn(runs, depth, known, given)
    else:
        chosen = _selected(rank_table(runs, depth=depth), documents, known, given)
    if chosen.empty:
        raise InputError(
            "all documents of the pool are judged. Name more runs, or a larger --depth."
        )
    return _with_texts(chosen, documents, given)


def _check(given):
    """Raise for options that do not fit the strategy."""
    sizes = {"n_per_query": given.n_per_query, "n_total": given.n_total}
    given.budget = {name: size for name, size in sizes.items() if size is not None}
    if given.out is not None and not given.out.lower().endswith(_ENDINGS):
        raise InputError(f"--out {given.out} must end in .csv or .jsonl, perhaps with .gz.")
    if given.strategy in ("maxrep", "feedback") and given.docs is None:
        raise InputError(
            f"--strategy {given.strategy} compares texts. Add --docs, or choose random."
        )
    if given.docs is None:
        refuse(["text"], "names columns of --docs. Give both or none.")
    if given.strategy != "sample":
        if given.page is None and given.judged is None:
            refuse(["gains"], "is for labels of --page, --judged and samples. Leave it out.")
        if given.gains == "exp2":
            raise InputError(t.EXP2_OF_MEASURES)
    if given.strategy == "pooling":
        refuse(["random_state"], "has no effect on this strategy. Leave it out.")
    if len(given.budget) > 1:
        raise InputError("--n-per-query and --n-total are sizes. Give one of them.")
    if given.strategy != "feedback":
        names = ("sample", "target_recall", "confidence_level")
        refuse(names, "is for finding everything. Add --strategy feedback.")
    else:
        refuse(sizes, "is not for feedback, whose rounds have their own sizes. Give --sample.")
    if given.strategy != "sample":
        refuse(("measure", "machine_qrels", "unit"), "is for samples. Add --strategy sample.")
    elif given.n_total is None:
        raise InputError("--strategy sample is drawn over all queries. Give --n-total.")


def _judged(given):
    """Return people's labels so far, by query and document."""
    import pandas as pd

    from skfilterrank.cli import _inputs

    if given.judged is None:
        return pd.DataFrame({"qid": [], "docno": [], "label": []}).set_index(_KEY)
    rows = _inputs.read_labels(given.judged, given.reading)
    if "draw" in rows:
        raise InputError(
            "--judged holds drawn label sets (column 'draw'): give the judgments before complete, "
            "in which people judged each document once."
        )
    rows = _inputs.without_machines(rows, given.judged)
    if isinstance(given.gains, dict):
        # A gain of NaN means that nobody judged.
        is_open = rows["label"].isin([label for label, gain in given.gains.items() if gain != gain])
        rows = rows[~is_open]
    return rows.dropna(subset="label").set_index(_KEY)


def _selected(ranks, documents, known, given):
    """Select documents query by query."""
    import numpy as np
    import pandas as pd

    from skfilterrank import judgments

    selector, pool, budget = _fitted(ranks, documents, known, given), ranks.index, given.budget
    codes = pd.factorize(pool.get_level_values("qid"))[0]
    probability = np.full(len(pool), np.nan)
    if given.strategy == "feedback":
        rows = np.union1d(selector.select(), np.flatnonzero(pool.isin(known.index)))
        _tell_outside(known, pool, "the pool")
        _tell_progress(selector)
    elif given.strategy in ("random", "statap") and budget:
        rows = selector.select(**budget)
        _tell_outside(known, pool[rows], "this sample")
        if given.strategy == "statap":
            probability = selector.inclusion_probability(**budget)
        else:
            probability = np.bincount(codes[rows], minlength=codes.max() + 1) / np.bincount(codes)
            probability = probability[codes]
    else:
        # The budget counts documents that are not judged yet.
        rows = np.flatnonzero(~pool.isin(known.index))
        if budget and len(rows):
            order = {"groups": codes[rows], "prior": 1 / selector.ranking_[rows]}
            rest = judgments.PriorSelector().fit(np.zeros((len(rows), 1)), **order)
            rows = rows[rest.select(**budget)]
    rows = rows[np.lexsort((selector.ranking_[rows], codes[rows]))]
    table = pool[rows].to_frame(index=False)
    table["label"] = _labels_of(known, pool[rows])
    table["inclusion_probability"] = probability[rows]
    # Queries take turns, so that a part from the top has documents of all of them.
    # What is judged in earlier rounds comes last.
    is_past = table["label"].notna() & (given.strategy == "feedback")
    turn = table.groupby([codes[rows], is_past]).cumcount()
    return table.iloc[np.lexsort((turn, is_past))].reset_index(drop=True)


def _fitted(ranks, documents, known, given):
    """Return a strategy, fitted on the pool."""
    import numpy as np

    from skfilterrank import judgments
    from skfilterrank.cli import _inputs

    if given.strategy == "pooling":
        return judgments.PoolingSelector().fit(ranks)
    pool, seed = ranks.index, given.random_state
    X, groups = np.zeros((len(pool), 1)), pool.get_level_values("qid")
    if given.strategy == "random":
        return judgments.RandomSelector(random_state=seed).fit(X, groups=groups)
    prior = judgments.statap_prior(ranks).loc[pool].to_numpy()
    if given.strategy == "statap":
        return judgments.StatAPSelector(random_state=seed).fit(X, groups=groups, prior=prior)
    texts = _inputs.joined(documents).reindex(pool.get_level_values("docno"))
    if texts.isna().all():
        raise InputError(
            f"--docs {given.docs} has no text of a document of the runs: its ids are such as "
            f"{brief(documents.index[0])}, theirs such as {brief(pool[0][1])}."
        )
    texts = list(texts.fillna(""))
    with warnings.catch_warnings():
        # Documents without a text are told where the table gets its texts.
        warnings.filterwarnings("ignore", ".* have no (text|term)", DataWarning)
        if given.strategy == "feedback":
            selector = judgments.FeedbackSelector(
                sample=given.sample,
                target_recall=given.target_recall,
                confidence_level=given.confidence_level,
                random_state=seed,
                verbose=progress(),
            )
            return selector.fit(texts, _labels_of(known, pool), groups=groups, prior=prior)
        selector = judgments.MaxRepSelector(random_state=seed, verbose=progress())
        is_known = pool.isin(known.index)
        return selector.fit(texts, groups=groups, prior=prior, judged=is_known)


def _tell_progress(selector):
    """Tell which queries may stop."""
    progress = selector.progress_
    if n_other := progress["n_other"].sum():
        tell(
            f"{counted(n_other, 'label')} of --judged that no round asks for. They count. If runs "
            "or options have changed, what follows does not hold together with the rounds before."
        )
    may_stop = progress["may_stop"]
    done = f": {listed(progress.index[may_stop])}" if may_stop.any() else ""
    tell(
        f"recall of at least {selector.target_recall:g} in the pool, with confidence "
        f"{selector.confidence_level:g}: {may_stop.sum()} of {len(progress)} queries may stop{done}"
    )
    for name, query in progress[~may_stop].head(_MOST_TOLD).iterrows():
        n_judged = f"{query['n_judged']:,} of {query['n_documents']:,} judged"
        state = f"p = {query['chance']:.2g}"
        if query["n_relevant"] < query["n_needed"]:
            state += f", may stop from {query['n_needed']} relevant on"
        if not query["n_sample"]:
            state = "no random sample so far"
        elif query["n_waiting"]:
            state = f"{query['n_waiting']} of its random sample not judged"
        tell(f"query {name}: {n_judged}, {query['n_relevant']} relevant; {state}")


def _tell_outside(known, pairs, where):
    """Tell how many judged documents are not among some documents."""
    if n_outside := int((~known.index.isin(pairs)).sum()):
        tell(f"left out: {counted(n_outside, 'label')} of --judged outside of {where}")


def _labels_of(known, pairs):
    """Return the known label of each document, NaN where there is none."""
    return known["label"].reindex(pairs).to_numpy(dtype=float)


def _drawn(runs, depth, known, given):
    """Draw a sample over all queries.

    Judgments that are a sample are labels of this sample; others are kept beside it.
    """
    import pandas as pd

    from skfilterrank import judgments
    from skfilterrank._lists.gains import is_sample
    from skfilterrank.cli import _inputs

    reading, machines = given.reading, _inputs.named_paths(given.machine_qrels or [])
    gains, pool = reading.numbers, None
    if reading.texts:
        gains = {gain: gain for gain in reading.texts.values() if gain == gain}
    if machines:
        whose = "--machine-qrels, whose documents are the pool."
        refuse(["depth"], f"makes a pool of the runs. Leave out this option, or {whose}")
    else:
        ranks = judgments.rank_table(runs, depth=depth)
        pool = ranks.index.union(known.index).to_frame(index=False)
        gains = {grade: grade for grade in t.GRADES} if gains is None else gains
    judges = {name: _inputs.read_labels(path, reading) for name, path in machines.items()}
    ranked = judgments.RankedPool.read(judges or None, runs, pool=pool)
    continues = is_sample(known["label"], known.get("inclusion_probability"))
    sample = judgments.draw_sample(
        None,
        ranked,
        list(given.measure),
        **given.budget,
        unit=given.unit,
        judged=None if continues or known.empty else known[["label"]].reset_index(),
        gains=gains,
        random_state=given.random_state,
    )
    if continues:
        pairs = pd.MultiIndex.from_frame(sample[_KEY])
        sample["label"] = _labels_of(known, pairs)
        _tell_outside(known, pairs, "this sample")
    return sample


def _with_texts(chosen, documents, given):
    """Return the table for people: with texts, and labels as they write them."""
    import pandas as pd

    from skfilterrank.cli import _inputs

    columns = {"qid": chosen["qid"]}
    if given.topics is not None:
        texts = _inputs.read_topics(given.topics)
        columns["query"] = _texts(texts, chosen["qid"], given.topics, "query", "queries")
    columns["docno"] = chosen["docno"]
    if documents is not None:
        columns["text"] = _texts(documents, chosen["docno"], given.docs, "document")
    word_of = {gain: word for word, gain in reversed((given.reading.texts or {}).items())}
    labels = [
        None if label != label else word_of.get(label, f"{label:.17g}")
        for label in chosen["label"].tolist()
    ]
    columns["inclusion_probability"] = chosen["inclusion_probability"]
    return pd.DataFrame(columns).assign(label=pd.Series(labels, chosen.index, dtype=object))


def _texts(table, ids, path, one, many=None):
    """Return the text of each id, its columns in lines of their own; empty where there is none."""
    from skfilterrank.cli._inputs import without_repetition

    found, unique = {}, ids.unique()
    for name, row in zip(unique, table.reindex(unique).fillna("").to_numpy().tolist()):
        parts = without_repetition([part.strip() for part in row])
        found[name] = _NO_TEXT.sub("\ufffd", "\n".join(parts).replace("\r\n", "\n"))
    if without := [name for name, text in found.items() if not text]:
        of_all = f"{len(without):,} of {counted(len(unique), one, many)}"
        tell(f"without a text in {path}: {of_all}: {listed(without)}")
    return [found[name] for name in ids]


def write_table(target, table) -> None:
    """Write a table to a path or stream: JSON lines if the path ends so, else CSV."""
    from skfilterrank._files.tables import csv_text

    texts = [name for name in ("query", "text") if name in table]
    table = table.assign(**{name: table[name].str[:_LONGEST_TEXT] for name in texts})
    if is_path(target) and unpacked_name(target).lower().endswith(".jsonl"):
        records = table.astype(object).where(table.notna(), None).to_dict("records")
        content = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in records)
    else:
        content = csv_text(table, index=False)
    with open_for_writing(target) as write:
        write(content)


def write_page(path, table, gains) -> None:
    """Write a table as a page to judge on in a browser, with a key for each label of the gains."""
    from skfilterrank._files.pages import render_page

    # Imported after the check that jinja2 is installed.
    from jinja2.utils import htmlsafe_json_dumps  # isort: skip

    labels = list(map(t.written, gains if isinstance(gains, dict) else t.GRADES))
    rows = [
        ["" if value is None or value != value else str(value) for value in row]
        for row in table.astype(object).to_numpy().tolist()
    ]
    data = {"columns": list(table), "rows": rows, "labels": _with_keys(labels)}
    digest = hashlib.sha256(json.dumps(data).encode()).hexdigest()[:32]
    data["key"] = f"skfilterrank-judging-{digest}"
    json_of = partial(htmlsafe_json_dumps, ensure_ascii=False, separators=(",", ":"))
    parts = {"table": data}
    with open_for_writing(path) as write:
        write(render_page("skfilterrank.cli", "judging_page.html", parts, json=json_of))


def _with_keys(labels):
    """Return pairs of label and key: its first letter or digit, - below 0, or the next free key."""
    found = {}
    for label in labels:
        wanted = label[:1].lower()
        free = [key for key in (wanted, *_KEYS) if key in f"{_KEYS}-" and key not in found.values()]
        if not free:
            raise InputError(f"there are keys for {len(_KEYS)} labels, got {len(labels)}.")
        found[label] = free[0]
    return list(found.items())

"""What ``skfilterrank complete`` does."""

import warnings

import numpy as np
import pandas as pd

from skfilterrank._core.results import counted
from skfilterrank._files.files import open_for_writing
from skfilterrank.cli._documents import read_documents
from skfilterrank.cli._run_files import read_named_runs, said_unjudged
from skfilterrank.cli._streams import data_output, progress, tell
from skfilterrank.exceptions import InputError, SkfilterrankWarning, brief
from skfilterrank.io import read_qrels, write_qrels
from skfilterrank.judgments import LabelPredictor, rank_table

_SHOWN = 10


def run(arguments) -> int:
    """Complete the judgments and write them."""
    table = _pool(arguments)
    texts = read_documents(
        arguments.docs,
        document=arguments.document,
        text=arguments.text,
        format=arguments.input_format,
    )
    table["text"] = texts.reindex(table["docno"]).fillna("").to_numpy(dtype=object)
    has_text = (table["text"].str.strip() != "").to_numpy(dtype=bool)
    _check_texts(table, has_text, texts.index, arguments)
    predictor = LabelPredictor(
        document="docno",
        output=arguments.labels,
        one_class=arguments.one_class,
        unjudged_topic=arguments.unjudged_topic,
        n_jobs=arguments.jobs,
        verbose=progress(arguments),
    )
    with warnings.catch_warnings():
        # Told above and below: labels below 0, topics without a model, texts without a term.
        warnings.simplefilter("ignore", SkfilterrankWarning)
        completed = predictor.fit_transform(table[has_text])
    labels = completed["label"].to_numpy()
    if arguments.labels == "soft":
        labels = np.where(completed["imputed"], np.round(labels, 4), labels)
    table.loc[has_text, "label"] = labels
    _tell(predictor, completed, table, has_text, arguments)
    _write(table, arguments)
    if arguments.list_missing is not None:
        missing = table[~has_text]
        with open_for_writing(arguments.list_missing) as write:
            write("".join(f"{q} {d}\n" for q, d in zip(missing["qid"], missing["docno"])))
    return 0


def _pool(arguments) -> pd.DataFrame:
    """Judged and unjudged documents, topic by topic as in QRELS; those of the runs come last."""
    qrels = read_qrels(arguments.qrels, unjudged_label=said_unjudged(arguments))
    qrels["label"] = qrels["label"].astype(np.float64)
    if not arguments.runs:
        if arguments.depth is not None:
            raise InputError("--depth says how much of the runs counts: give --runs.")
        table = qrels
    else:
        runs = read_named_runs(list(dict.fromkeys(arguments.runs)), arguments)
        pool = rank_table(runs, depth=arguments.depth).index.to_frame(index=False)
        known = pool["qid"].isin(qrels["qid"].unique())
        if not known.any():
            raise InputError(
                f"the runs have no topic of {arguments.qrels}: they have such as "
                f"{brief(pool['qid'].iloc[0])}, it has such as {brief(qrels['qid'].iloc[0])}."
            )
        if n_unknown := pool["qid"][~known].nunique():
            tell(f"{counted(n_unknown, 'topic')} of the runs without judgments: left out")
        table = pd.concat([qrels, pool[known]], ignore_index=True)
        table = table.drop_duplicates(["qid", "docno"])
    if table["label"].notna().all():
        raise InputError(
            f"{arguments.qrels} holds no unjudged document: say by --unjudged-label which label "
            "marks them, or give --runs, whose documents may be unjudged."
        )
    n_negative = int((table["label"] < 0).sum())
    if n_negative and arguments.unjudged_label == "warn":
        tell(
            f"{counted(n_negative, 'label')} below 0, forbidden documents; where they mean "
            "unjudged, say so by --unjudged-label"
        )
    topics = pd.factorize(table["qid"])[0]
    return table.iloc[np.argsort(topics, kind="stable")].reset_index(drop=True)


def _check_texts(table, has_text, ids, arguments):
    """There must be something to learn from, and something to label."""
    if not len(ids):
        raise InputError(f"{arguments.docs} holds no document.")
    if not has_text.any():
        raise InputError(
            f"no document of the pool has a text in {arguments.docs}: ids there are such as "
            f"{brief(ids[0])}, in the pool such as {brief(table['docno'].iloc[0])}."
        )
    if table["label"][has_text].isna().all():
        raise InputError(
            f"no judged document of {arguments.qrels} has a text in {arguments.docs}: there is "
            "nothing to learn from."
        )


def _write(table, arguments):
    """Write the judgments; what is left only where a label says so."""
    unjudged = said_unjudged(arguments)
    unjudged = -1 if unjudged == "trec" else unjudged
    if unjudged is None:
        table = table[table["label"].notna()]
    target = data_output() if arguments.out == "-" else arguments.out
    write_qrels(target, table[["qid", "docno", "label"]], unjudged_label=unjudged)


def _tell(predictor, completed, table, has_text, arguments):
    """What was predicted, and what was not."""
    imputed = completed["label"][completed["imputed"]]
    text = f"predicted {counted(len(imputed), 'label')} of {len(table):,}"
    if len(imputed) and arguments.labels == "hard":
        counts = imputed.value_counts().sort_index()
        text += ": " + ", ".join(f"{label:g}: {count:,}" for label, count in counts.items())
    elif len(imputed):
        text += f", {imputed.mean():.4f} on average"
    tell(text)
    if arguments.labels == "soft" and predictor.calibration_ is None:
        tell("too few judged documents to calibrate chances: expected labels may be far off")
    reasons = {}
    for topic, reason in predictor.fallback_topics_.items():
        reasons.setdefault(reason, []).append(topic)
    for reason, topics in reasons.items():
        done = "unjudged_topic" if reason.startswith("no ") else "one_class"
        done = {"copy": "copied", "pool": "model of all topics", "leave": "left unjudged"}[
            getattr(arguments, done)
        ]
        tell(f"{counted(len(topics), 'topic')} with {reason} ({done}): {_some(topics)}")
    if n_empty := int(completed["imputed"].to_numpy()[predictor.empty_texts_].sum()):
        tell(f"{counted(n_empty, 'text')} without a word to go by: labelled by the model's default")
    if not has_text.all():
        missing = table[~has_text]
        n_judged = int(missing["label"].notna().sum())
        docnos = list(dict.fromkeys(missing["docno"]))
        tell(
            f"{counted(len(docnos), 'document')} without text in {arguments.docs} "
            f"({counted(len(missing), 'row')}: {n_judged:,} judged, not learned from; the others "
            f"left unjudged): {_some(docnos)}"
        )


def _some(names):
    """The first names."""
    return ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")

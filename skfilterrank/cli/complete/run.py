"""What ``skfilterrank complete`` does."""

import warnings

import numpy as np

from skfilterrank._core.judges import JUDGED_BY, is_of_machine
from skfilterrank._core.results import counted
from skfilterrank._files.files import open_for_writing
from skfilterrank.cli._documents import read_documents
from skfilterrank.cli._run_files import read_judgments, read_named_runs, said_unjudged
from skfilterrank.cli._streams import data_output, progress, tell
from skfilterrank.exceptions import InputError, SkfilterrankWarning
from skfilterrank.io import write_qrels
from skfilterrank.judgments import LabelPredictor, complete_qrels

_SHOWN = 10


def run(arguments) -> int:
    """Complete the judgments and write them."""
    if arguments.depth is not None and not arguments.runs:
        raise InputError("--depth says how much of the runs counts: give --runs.")
    qrels = read_judgments(arguments.qrels, arguments, predicted="use")
    _tell_of_labels(qrels, arguments)
    runs = None
    if arguments.runs:
        runs = read_named_runs(list(dict.fromkeys(arguments.runs)), arguments)
    texts = read_documents(
        arguments.docs,
        document=arguments.document,
        text=arguments.text,
        format=arguments.input_format,
    )
    if not len(texts):
        raise InputError(f"{arguments.docs} holds no document.")
    predictor = LabelPredictor(
        output=arguments.labels,
        one_class=arguments.one_class,
        unjudged_topic=arguments.unjudged_topic,
        n_jobs=arguments.jobs,
        verbose=progress(arguments),
    )
    with warnings.catch_warnings():
        # Told below, and of labels above.
        warnings.simplefilter("ignore", SkfilterrankWarning)
        completed = complete_qrels(
            qrels,
            runs,
            texts,
            depth=arguments.depth,
            unjudged_label=None,
            predictor=predictor,
        )
    _tell(completed, arguments)
    _write(completed.qrels, arguments)
    if arguments.list_missing is not None:
        missing = completed.without_text
        with open_for_writing(arguments.list_missing) as write:
            write("".join(f"{q} {d}\n" for q, d in zip(missing["qid"], missing["docno"])))
    return 0


def _tell_of_labels(qrels, arguments):
    """Labels that are not learned from, or may have another meaning."""
    if JUDGED_BY in qrels:
        is_machine = is_of_machine(qrels[JUDGED_BY]) & qrels["label"].notna()
        if is_machine.any():
            n_machine = counted(int(is_machine.sum()), "label")
            tell(f"{arguments.qrels}: {n_machine} of machines, not learned from and predicted anew")
        qrels = qrels[~is_machine]
    n_negative = int((qrels["label"] < 0).sum())
    if n_negative and arguments.unjudged_label == "warn":
        tell(
            f"{counted(n_negative, 'label')} below 0, forbidden documents; where they mean "
            "unjudged, say so by --unjudged-label"
        )


def _write(table, arguments):
    """Write the judgments; what is left only where a label says so."""
    unjudged = said_unjudged(arguments)
    unjudged = -1 if unjudged == "trec" else unjudged
    if unjudged is None:
        table = table[table["label"].notna()]
    if arguments.labels == "soft":
        is_predicted = is_of_machine(table[JUDGED_BY])
        table = table.assign(label=np.where(is_predicted, table["label"].round(4), table["label"]))
    target = data_output() if arguments.out == "-" else arguments.out
    write_qrels(target, table, unjudged_label=unjudged)


def _tell(completed, arguments):
    """What was predicted, what it is worth, and what was not."""
    table, predictor, missing = completed.qrels, completed.predictor, completed.without_text
    if completed.unknown_topics:
        n_unknown = len(completed.unknown_topics)
        tell(f"{counted(n_unknown, 'topic')} of the runs without judgments: left out")
    imputed = table["label"][is_of_machine(table[JUDGED_BY])]
    text = f"predicted {counted(len(imputed), 'label')} of {len(table):,}"
    if len(imputed) and arguments.labels == "hard":
        counts = imputed.value_counts().sort_index()
        text += ": " + ", ".join(f"{label:g}: {count:,}" for label, count in counts.items())
    elif len(imputed):
        text += f", {imputed.mean():.4f} on average"
    tell(text)
    if len(imputed):
        warning = "warning: " if completed.is_doubtful else ""
        tell(f"{warning}{completed.precision_text()}; column 2 marks them")
    if completed.is_random_sample:
        tell(
            "warning: the judged documents stand no higher in the runs than the others, as in a "
            "random sample: AP by completed labels then mostly orders systems worse than AP "
            "without unjudged documents, and values are further off. Evaluate by people's "
            "judgments with --unjudged drop"
        )
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
    if n_empty := int(predictor.imputed_[predictor.empty_texts_].sum()):
        tell(f"{counted(n_empty, 'text')} without a word to go by: labelled by the model's default")
    if len(missing):
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

"""Runs and judgments as a command line names them."""

import errno
import os
from collections import Counter

import numpy as np
import pandas as pd

from skfilterrank._core.judges import JUDGED_BY, is_of_machine
from skfilterrank._core.results import counted
from skfilterrank._core.samples import PROBABILITY, is_sample, measures_of_all_labels
from skfilterrank._files.files import is_path
from skfilterrank._files.named_runs import name_of_path, text_of_path
from skfilterrank._files.tables import is_table_name
from skfilterrank._warnings import warn_user
from skfilterrank.cli._label_gains import match_gains, unknown_labels
from skfilterrank.cli._streams import progress, standard_input, tell
from skfilterrank.exceptions import DataWarning, FileFormatError, InputError, brief, brief_list
from skfilterrank.io import read_judged_table, read_prels, read_qrels, read_run

STDIN = "-"
# A TREC run cannot say that a topic is shown nothing, so a topic that it lacks may be either.
DONE_WITH_MISSING = {
    "drop": "left out; --missing empty counts them as empty lists",
    "empty": "counted as empty lists",
}


def named_runs(qrels, paths) -> dict:
    """Each run by the name of its file, or by its whole path where several files have one name."""
    if [*paths, qrels].count(STDIN) > 1:
        raise InputError("standard input (-) can be read once: name files for the others.")
    return named_paths(paths, lambda path: "stdin" if path == STDIN else name_of_path(path))


def named_paths(paths, name_of=name_of_path) -> dict:
    """Each path by its name, or by the whole path where several have one name."""
    for path, count in Counter(paths).items():
        if count > 1:
            raise InputError(f"{path} is given {count} times as a run: give it once.")
    names = [name_of(path) for path in paths]
    counts = Counter(names)
    return {
        name if counts[name] == 1 else text_of_path(path): path
        for name, path in zip(names, paths, strict=True)
    }


def read_named_runs(paths, arguments) -> dict:
    """The runs by their names."""
    from tqdm import tqdm

    bar = tqdm(named_paths(paths).items(), unit="run", disable=not progress(arguments), leave=False)
    return {name: read_run(path) for name, path in bar}


def check_paths(paths) -> None:
    """A file that is not there is told before thousands of others are read."""
    for path in paths:
        if is_path(path) and path != STDIN and not os.path.exists(path):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)


def source(path):
    """What to read."""
    if not is_path(path) or path != STDIN:
        return path
    stdin = standard_input()
    return getattr(stdin, "buffer", stdin)


def read_scores(path, arguments):
    """Read a run, and the second score of each row where --filter-scores names it, else None."""
    run, column = read_run(source(path)), arguments.filter_scores
    if column is None:
        return run, None
    if path == STDIN or not is_table_name(path):
        raise InputError(
            f"--filter-scores names a column, and {path} is no table. Give the run as CSV, TSV, "
            "JSONL or Parquet, in a file whose name ends so."
        )
    table = read_judged_table(path, label=None)
    if column not in table:
        raise InputError(
            f"{path} has no column {brief(column)} (--filter-scores), but {brief_list(table)}."
        )
    return run, table[column].to_numpy()


def align_second(second, run, aligned):
    """Put second scores of a run in the order of aligned rows; 0 for documents that it lacks."""
    if second is None:
        return None
    pairs = pd.MultiIndex.from_frame(run[["qid", "docno"]])
    places = pairs.get_indexer(pd.MultiIndex.from_arrays([aligned.groups, aligned.docnos]))
    return np.where(places < 0, 0, second[places])


def read_judgments(path, arguments, *, predicted=None, measures=None):
    """Read judgments of all documents; a sample is an error.

    `predicted` is that of the arguments where none is given. A sample may be read for `measures`
    that estimate from it.
    """
    qrels = read_sample_or_judgments(path, arguments, predicted=predicted)
    if not is_sample(qrels["label"], qrels.get(PROBABILITY)):
        return qrels
    if measures is None:
        raise InputError(
            f"{path} is a sample of judgments with inclusion probabilities below 1, where those "
            "of all documents were expected: 'skfilterrank evaluate' and 'compare' estimate values "
            "from it with --interval."
        )
    if wrong := measures_of_all_labels(measures):
        raise InputError(
            f"{path} is a sample of judgments with inclusion probabilities below 1, of which these "
            f"measures take no account: {brief_list(wrong)}. Add --interval to estimate values, or "
            "take stat_ap."
        )
    return qrels


def read_sample_or_judgments(path, arguments, *, predicted=None):
    """Read judgments, with the probabilities of a sample where they are written down."""
    try:
        return read_qrels(
            source(path),
            unjudged_label=said_unjudged(arguments),
            predicted=predicted or arguments.predicted,
            gains=text_gains(arguments),
        )
    except FileFormatError as error:
        try:
            return read_prels(source(path))
        except FileFormatError:
            raise error from None


def without_machines(qrels, path):
    """Judgments in which labels of machines, of which it is told, are missing."""
    if JUDGED_BY not in qrels:
        return qrels
    is_machine = is_of_machine(qrels[JUDGED_BY])
    if n_labels := int(qrels["label"][is_machine].notna().sum()):
        tell(f"{path}: {counted(n_labels, 'label')} of machines, taken for not judged")
    return qrels.drop(columns=JUDGED_BY).assign(label=qrels["label"].mask(is_machine))


def read_filter_of_runs(arguments):
    """A saved threshold; one that wants segments, of which runs say nothing, is an error."""
    from skfilterrank.thresholds import SegmentedThreshold, load_threshold

    path = arguments.filter
    threshold = load_threshold(path)
    if isinstance(threshold, SegmentedThreshold):
        raise InputError(
            f"{path} holds a filter for each segment of {brief(threshold.segment)}, of which runs "
            "say nothing: apply it in Python, with skfilterrank.thresholds.load_threshold."
        )
    if hasattr(threshold, "rule_") != (arguments.filter_scores is not None):
        how = "one score: leave out" if arguments.filter_scores else "two scores: add"
        raise InputError(f"{path} hides by {how} --filter-scores.")
    return threshold


def text_gains(arguments) -> dict | None:
    """Give --gains where it names texts, so that labels are read as their gains."""
    gains = getattr(arguments, "gains", None)
    if not isinstance(gains, dict) or all(map(_is_number, gains)):
        return None
    if arguments.unjudged_label not in ("warn", None):
        raise InputError(
            "--unjudged-label is for labels that are numbers; of texts in --gains, give nan to "
            "the one that means unjudged, as in --gains Unknown=nan."
        )
    return gains


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def said_unjudged(arguments):
    """What was said of labels that mean unjudged; labels below 0 are told of in other words."""
    return None if arguments.unjudged_label == "warn" else arguments.unjudged_label


def gains_of_labels(labels, arguments):
    """The gains by label; what may be unexpected about the labels is told."""
    if text_gains(arguments):
        return None
    labels_of = {arguments.qrels: labels}
    gains = match_gains(arguments.gains, labels_of)
    if unknown := unknown_labels(gains and arguments.gains, labels_of):
        tell(f"labels with a gain that do not occur: {', '.join(unknown)}")
    unjudged = said_unjudged(arguments)
    if unjudged is not None and not labels.isna().any():
        which = "a label below 0" if unjudged == "trec" else f"the label {unjudged:g}"
        tell(f"no document has {which} (--unjudged-label)")
    warn_of_labels_below_0(labels, gains, arguments)
    return gains


def warn_of_labels_below_0(labels, gains, arguments) -> None:
    """Labels below 0 mean one thing here and another to trec_eval, unless it was said."""
    if arguments.unjudged_label != "warn" or isinstance(gains, dict) or text_gains(arguments):
        return
    counts = labels[labels < 0].value_counts()
    if len(counts):
        shown = ", ".join(f"{label:g}: {count:,}" for label, count in counts.items())
        warn_user(
            f"documents with a label below 0 ({shown}) are taken for forbidden; trec_eval takes "
            "them for not judged: say --unjudged-label trec for that, or none where they are "
            "forbidden, or give their --gains",
            DataWarning,
        )

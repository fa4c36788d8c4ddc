"""``skfilterrank help``: subjects that several commands share. Each one is a docstring."""

import inspect
from typing import Annotated

from skfilterrank.cli._output import say, show
from skfilterrank.cli._parser import Arg, similar


def help(subject: Annotated[str | None, Arg(metavar="SUBJECT", many="?")] = None) -> int:
    """Print the help of a subject or a command, or the list of subjects.

    Parameters
    ----------
    subject
        subject or command
    """
    from skfilterrank.cli import COMMANDS, command_parser, overview

    if subject is None:
        names = "\n".join(f"  {name}" for name in SUBJECTS)
        show(f"{overview()}\nsubjects of 'skfilterrank help':\n{names}\n")
    elif subject in COMMANDS:
        command_parser(subject).print_help()
    elif subject in SUBJECTS:
        show(f"{inspect.getdoc(SUBJECTS[subject])}\n")
        if subject == "measures":
            show(f"\n{_list_of_measures()}")
        elif subject == "models":
            from skfilterrank.ranking import get_ranker_names

            kinds = {"losses": "loss", "methods": "method"}
            show("\n" + _aligned({name: get_ranker_names(kind) for name, kind in kinds.items()}))
        elif subject == "thresholds":
            from skfilterrank.cli._thresholds import BY_NAME

            show("\n" + _aligned({name: [_summary(each)] for name, each in BY_NAME.items()}))
    else:
        known = [*SUBJECTS, *COMMANDS]
        say(
            f"skfilterrank: error: there is no help about {subject}.{similar(subject, known)} "
            f"Choose from {', '.join(known)}."
        )
        return 2
    return 0


def _aligned(words):
    """Return a line for each name and its words."""
    return "".join(f"{name:<12} {', '.join(each)}\n" for name, each in words.items())


def _summary(estimator):
    """Return the first sentence about an estimator."""
    return inspect.getdoc(estimator).partition("\n")[0]


def _list_of_measures():
    """Return how each measure is written, what it is, and its other names."""
    from skfilterrank._core.measure import MEASURES
    from skfilterrank._core.run_words import N_ITEMS
    from skfilterrank.metrics import get_measure_names

    lines = []
    for name in get_measure_names():
        entry = MEASURES[name]
        known = entry.defaults | {"n_items": N_ITEMS}
        options = ",".join(f"{option}={known[option]}" for option in entry.options)
        written = f"{name}{f'({options})' if options else ''}{'[@k]' if entry.takes_k else ''}"
        worse = "" if entry.greater_is_better else " (lower is better)"
        lines.append(f"{written}\n    {entry.summary}{worse}\n")
        aliases = [_described(alias, entry) for alias in entry.aliases]
        aliases += [f"{alias}= for {option}=" for alias, option in entry.option_aliases.items()]
        if aliases:
            lines.append(f"    Also {', '.join(aliases)}.\n")
    return "".join(lines)


def _described(alias, entry):
    """Return an alias, and the options that it stands for."""
    preset = ", ".join(f"{name}={value}" for name, value in entry.presets.get(alias, {}).items())
    return alias.replace("@", "K") + f" ({preset})" * bool(preset)


def _measures():
    """Measures (-m, --measure).

    A name of the list below, a cut-off after @, and options in parentheses, which shells want
    quoted: -m ndcg_f@20 -m 'rbp(persistence=0.95)@100'. Names of trec_eval and ir_measures are
    understood too, in any case: map, ndcg_cut_10, P_10, P@10, recall_100, Rprec, MRR@10, infAP,
    RBP(p=0.9). Columns are named as you write them.

    A document is relevant where its gain is above 0, and forbidden where it is below 0. For ap,
    rr, recall and lexirecall of TREC Deep Learning, which counts labels 2 and 3, say rel=2:
    -m 'ap(rel=2)'. Every measure has rel=, the least gain of a relevant document, gains=, exp2
    or {LABEL:GAIN,...}, and unjudged=drop, without unjudged documents. Some have like=, the
    library whose number it is: -m 'ndcg(like=lightgbm)@10'.
    """


def _formats():
    """Formats (--format, or the ending of --out).

    table     for people: a few digits, columns aligned
    csv       a line for each run, pair or topic; all digits; undefined is empty
    json      an object on a line of its own; all digits; undefined is null
    latex, markdown
              the table for papers; the best means of several runs are bold
    trec      evaluate: as trec_eval 9 and 10 -m runid (-q with --per-query): measure, topic or
              "all", and value with four digits, counts with none. apply: a TREC run.

    evaluate --format json has the fields run, n_topics, missing_topics, unjudged_topics, mean
    {MEASURE: value}, and with --per-query topics {qid: {MEASURE: value}}. A run is written as soon
    as it is finished, except into a table of means and with --sort. Runs are named after their
    files, without .gz and .txt; where several files have one name, by their paths.

    apply --format csv and json have a line for each document: qid, docno, rank, score, shown.
    Ranks of shown documents count from 1. A hidden document has the rank 0, and no score where a
    model hides it.
    """


def _holes():
    """Holes (--holes): labels and lists that are not there.

    A preset, or settings, or both: --holes trec_eval,missing=empty. Presets:

    default    documents without a label have gain 0; labels below 0 are forbidden, with a warning
    trec_eval  labels below 0 mean not judged; topics that a run lacks are left out (trec_eval -c:
               trec_eval,missing=empty; trec_eval -J: trec_eval,unjudged=drop)
    forbidden  labels below 0 are forbidden, without a warning
    judged     documents without a label, or with a machine's, are taken out of the lists

    Settings:

    unjudged=zero|drop       documents without a label have gain 0, or are taken out of the lists
    unjudged-label=LABEL|trec|none
                             the label that means pooled but not judged, such as -1; or all below
                             0; or none
    predicted=warn|use|drop  labels of machines (second column of QRELS: predicted) count like
                             people's, with a warning or without; or are taken for not judged
    missing=empty|drop|raise topics that a run lacks count as empty lists; are left out, for all
                             runs where they are compared; or end the command
    undefined=NUMBER|drop    value of a topic for which a measure is undefined; drop leaves it out
                             of the mean
    """


def _models():
    """Models (rank-filter --models): losses of learning to rank and filter, and ranking methods.

    All losses are trained where nothing else is said. Their --learner is linear, trees, or blend,
    the mean of both; auto is blend for texts, and trees for features.
    """


def _thresholds():
    """Thresholds and risks (rank-filter and threshold: --threshold, --risk).

    --threshold takes one of the names below, a number (what has this score or a higher one is
    shown), or none (all is shown).

    --risk RISK=LEVEL,... chooses the threshold that keeps all these risks of new queries:

    any_forbidden      share of queries with a forbidden document in the shown top k
    forbidden          forbidden share of the shown top k
    false_reject_rate  share of a query's good documents that is filtered
    empty_list_rate    share of queries that are shown nothing

    Lists end at the smallest cut-off of these risks (--k, or that of any_forbidden@3), which cover
    no document behind it, unless --show-beyond-k is given. A document is forbidden where its gain
    is below 0, good where it is above 0. Judged documents that the run lacks count as filtered.
    Topics without judgments are left out; so are topics that the run lacks, unless --holes
    missing=empty says otherwise.
    """


def _slices():
    """Slices (evaluate --slices FILE).

    FILE is a table (CSV, TSV, JSONL) with a column of topics and others, such as language and
    source, each of which is a way to slice them. Of each slice: its mean with a 95 % interval, how
    far it is from the mean of all topics, and the p value of a randomization test of its topics
    against all others, corrected for the number of slices (Holm). Topics in no slice have an
    empty field.
    """


def _intervals():
    """Intervals (evaluate --interval; compare --interval or --prels).

    Values, differences and ranks are estimated, with intervals. People's labels of a sample
    (--prels) make them, and a machine's labels of all documents (--machine-qrels) make them
    narrower, as far as these deserve. Without a sample, where people judged all of QRELS,
    intervals are those of the mean over topics like these.

    --prels FILE          the sample that people judged, with its probabilities, as judge
                          --strategy sample writes it; labels that it lacks are those of QRELS
    --machine-qrels FILE  labels of machines, a file for each, of all documents that count
    --pool FILE           judgments whose documents count, labels unread; all others have gain 0
                          (default: those of --machine-qrels, else of QRELS)
    --unit query          whole topics were drawn, from which all measures can be had
    --target new-topics   the mean of all topics that these were drawn from; these-topics are the
                          values that these topics would have, were all of the pool judged

    Measures: sums over documents such as dcg@10, precision@10 and rbp, and ndcg, ndcg_f, ap and
    recall; others with --unit query.
    """


def _fusion():
    """Fusion (fuse --method, --learn).

    By ranks:
    rrf        reciprocal rank fusion, 1 / (--rrf-k + rank) summed (default)
    isr        1 / rank^2 summed, times the number of runs that return the document
    log_isr    the same, times the logarithm of this number
    rbc        rank-biased centroid, --persistence to the power of rank - 1 summed
    borda      Borda points
    condorcet  by how many other documents a majority of runs puts behind

    By scores, which --normalize brings to one scale:
    combsum, combmnz, combanz  their sum; times, or divided by, the number of runs
    combmed, combmax, combmin  their median, highest, lowest

    Learning (--learn, with --qrels):
    method    the method, constants and normalisation that are best by --measure; condorcet and
              max are not among them
    weights   a weighted sum of the normalised scores, the weights found by coordinate ascent on
              --measure, which may take minutes
    logistic  the same, the weights found by logistic regression

    Judged topics are fused by what was learned from others, in five folds, so that the run can be
    measured by the same judgments. Topics without judgments are fused by what was learned from
    all.
    """


def _completion():
    """Completion of commands, options and choices.

    pip install argcomplete, and then

    bash  eval "$(register-python-argcomplete skfilterrank)"              in ~/.bashrc
    zsh   autoload -U bashcompinit && bashcompinit && eval "$(register-python-argcomplete \
skfilterrank)"    in ~/.zshrc
    fish  register-python-argcomplete --shell fish skfilterrank | source  in config.fish
    """


SUBJECTS = {
    "measures": _measures,
    "formats": _formats,
    "holes": _holes,
    "models": _models,
    "thresholds": _thresholds,
    "slices": _slices,
    "intervals": _intervals,
    "fusion": _fusion,
    "completion": _completion,
}

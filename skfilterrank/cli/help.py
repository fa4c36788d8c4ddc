"""``skfilterrank help``: subjects that several commands share. Each one is a docstring."""

import inspect
from typing import Annotated

from skfilterrank.cli import COMMANDS, command_parser, overview
from skfilterrank.cli._output import show
from skfilterrank.cli._parser import Arg


def _aligned(words):
    """Return a line for each name and its words."""
    return "".join(f"{name:<12} {', '.join(each)}\n" for name, each in words.items())


def _summary(estimator):
    """Return the first sentence about an estimator."""
    return inspect.getdoc(estimator).partition("\n")[0]


def _list_of_measures():
    """Return how each measure is written, what it is, and its other names."""
    from skfilterrank._lists.measure import MEASURES
    from skfilterrank._lists.words import N_ITEMS
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
    csv       a line for each run, pair or query; all digits; undefined is empty
    json      an object on a line of its own; all digits; undefined is null
    latex, markdown
              the table for papers; the best means of several runs are bold
    trec      evaluate: as trec_eval 9 and 10 -m runid (-q with --per-query): measure, query or
              "all", and value with four digits, counts with none. apply: a TREC run.

    evaluate --format json has the fields run, n_queries, missing_queries, missing (empty or drop:
    how these are counted), unjudged_queries, mean {MEASURE: value}, and with --per-query queries
    {qid: {MEASURE: value}}. A run is written as soon
    as it is finished, except into a table of means and with --sort. Runs are named after their
    files, without .gz and .txt; where several files have one name, by their paths.

    Keys of json are identifiers; names of measures, queries and risks are keys of objects of their
    own. threshold --format json has the fields run, threshold, measure, value, unfiltered,
    n_queries, missing_queries, missing (empty or drop: how these are counted), n_shown, n_filtered,
    held_out, and with --risk confidence_level, n_machine_labels, share_answered and risks {RISK:
    {max_risk, observed, upper_bound, n_units}}, where units are queries, or else clusters, whose
    name is in unit. csv has columns of these names, and RISK, RISK_max_risk and so on.

    apply --format csv and json have a line for each document: qid, docno, rank, score, shown.
    Ranks of shown documents count from 1. A hidden document has the rank 0, and no score where a
    model hides it.
    """


def _holes():
    """Holes (--holes): labels and lists that are not there.

    A preset, or settings, or both: --holes trec_eval,missing=empty. Presets:

    default    documents without a label have gain 0; labels below 0 are forbidden, with a warning
               unless a measure or risk is of forbidden documents alone, such as any_forbidden@5
    trec_eval  labels below 0 mean not judged; queries that a run lacks are left out (trec_eval -c:
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
    missing=empty|drop|raise queries that a run lacks count as empty lists (the default; threshold
                             and monitor choose by the risks, see help thresholds); are left out,
                             for all runs where they are compared; or end the command
    undefined=NUMBER|drop    value of a query for which a measure is undefined; drop leaves it out
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
    no document behind it. A document is forbidden where its gain
    is below 0, good where it is above 0. Judged documents that the run lacks count as filtered.
    Queries without judgments are left out. Values of threshold break ties as evaluate does, but
    held_out, and what the threshold is chosen by, are means over the orders of tied documents.

    A judged query that the run lacks is shown nothing, if it was asked of the reranker at all. So
    that no rate looks lower than it is, by default (--holes missing=empty and missing=drop say
    otherwise; the output tells which it was):

    any_forbidden, forbidden              it is left out: counted, it would have the rate 0
    false_reject_rate, empty_list_rate    it counts as an empty list, as nothing of it is found
    both kinds together, own measures     --holes must say which
    --among answered, or no --risk        it counts as an empty list, as in evaluate
    """


def _intervals():
    """Intervals (evaluate and compare: --interval, --prels, --machine-qrels or --pool).

    Values, differences and ranks are estimated, with intervals of --confidence-level, from
    people's labels of a sample (--prels). A machine's labels of all documents (--machine-qrels)
    make intervals narrower, the more it agrees with people. Without a sample, where people judged
    all of QRELS, intervals are those of the mean over queries like these.

    --prels FILE          the sample that people judged, with its probabilities, as judge
                          --strategy sample writes it; labels that it lacks are those of QRELS
    --machine-qrels FILE  labels of a machine for all documents that count; once for each machine
    --pool FILE           judgments whose documents count, labels unread; all others have gain 0
                          (default: those of --machine-qrels, else of QRELS)
    --unit query          whole queries were drawn, from which all measures can be had
    --target new-queries  the mean of all queries that these were drawn from; these-queries are the
                          values that these queries would have, were all of the pool judged

    Intervals hold at one look, with a number of labels that was decided before.

    Measures: sums over documents such as dcg@10, precision@10 and rbp, and ndcg, ndcg_f, ap and
    recall; others with --unit query.
    """


def _comparisons():
    """Comparisons of runs (compare --test, --correction, --html).

    Tests, all over the same queries:
    t                 paired t test; the default
    wilcoxon          signed ranks of the differences
    sign              share of queries on which a run is ahead; the default for
                      "lexirecall(scale=preference)", which only orders runs
    randomization     paired permutation test
    bootstrap         studentized bootstrap test
    tukey             Tukey's HSD, queries as blocks: all pairs at once
    randomized_tukey  the same without assuming normal values

    Pairs differ where p is at most 1 minus --confidence-level. The last two tests bound the
    probability of any false claim by this number. P values of the others are corrected for the
    number of pairs by --correction: holm and bonferroni bound the same probability, and fdr_bh the
    expected share of false claims.

    For people, each measure has a table of the runs, the best mean first, with how many others
    each beats and is beaten by, and a table of pairs, the better run first, * where significant.
    --format csv has a line for each pair, and json an object for each measure, with both. latex and
    markdown have a row for each run, and marks of significance that the last line explains.

    With --interval, values, differences and ranks are estimated; see help intervals. All
    differences come from one sample, so that they are more precise than values. Each interval has
    the --confidence-level by itself, those of ranks together.

    --html writes one file to open in a browser: figures, the queries that decide between pairs of
    runs, the documents that moved there, and what it was made from. It needs matplotlib and
    jinja2: pip install 'skfilterrank[plot,report]'.
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
    method    the method, constants and normalisation that are best by --measure; --method
              condorcet and --normalize max are not among them
    weights   a weighted sum of the normalised scores, the weights found by coordinate ascent on
              --measure, which may take minutes
    logistic  the same, the weights found by logistic regression

    Judged queries are fused by what was learned from others, in five folds, so that the run can be
    measured by the same judgments. Queries without judgments are fused by what was learned from
    all.
    """


def _completed():
    """Completed judgments (complete).

    Documents without a label are completed in queries that QRELS holds; with --unjudged-query pool,
    in all queries of the runs. Each query has a model of its own, a linear support vector machine
    on tf-idf, which learns from the query's judged documents. Labels that people gave stay as they
    are; those of machines are predicted anew.

    Quality: the second column of the output says "predicted" where people did not judge, and other
    commands report such labels. The share of documents predicted relevant that is expected to be
    relevant is printed: judged documents are predicted as if they were not judged, and with runs
    their ranks are compared with those of the others. After few judgments of a query it may be a
    few in a hundred.

    Left: documents without text, and documents of queries without a judged one, or whose judged
    ones all have one label (--one-class). They are counted and listed, and written with the label
    of --holes unjudged-label (-1 for trec), or not at all where none is said.
    """


def _judging():
    """Judging (judge).

    DOCS      CSV, TSV, JSON lines or Parquet with a column docno (or docid, doc_id, id) and texts:
              title, text, body, abstract or contents, or those that --text names
    TOPICS    TREC topics (<top>), lines of id, tab and text, or a table with a column qid (or
              query_id, topic) and texts; the words of the first one called query, title, text or
              question are marked in the documents
    QRELS     qid 0 docno label; written at the end. Every answer is in QRELS.log before the next
              question: after an interruption or a crash, give the same command again. A file QRELS
              without such a log is not overwritten. The log also keeps --grades, and cannot be
              continued with others.

    Keys: a digit, or the key shown, for a grade; s asks again later, u takes the last answer back,
    q saves and ends, ? helps; space and b turn pages, / goes to the next one with a word of the
    query. From a pipe, a line for each. The exit code is 0; 130 after Ctrl-C, 143 after SIGTERM,
    129 after SIGHUP, with everything saved; 2 after an error.

    Earlier judgments (--judged): with one file, only the other documents of the pool are asked
    about. With files of several assessors, documents on which they agree are not asked about;
    those on which they differ are, with their labels beside, and the agreement is printed. Labels
    of machines (second column: predicted) are taken for not judged. QRELS holds all labels in the
    end, so they must be among --grades.
    --holes unjudged-label=-1 names the label that means pooled but not judged, in --judged and of
    what is written for the rest of the pool.

    Elsewhere: --page FILE writes a page that needs nothing but a browser, of the documents that
    would be asked about. Its answers are saved as NAME.txt.log: --judged anna.txt.log --judged
    bob.txt.log brings those of several assessors together, and --out anna.txt goes on behind those
    of one, as the answers to a sample must be. --export doccano=tasks.jsonl writes tasks for
    label-studio, doccano, argilla or quepid, and --judged doccano=anna.jsonl reads what comes back.
    """


def _strategies():
    r"""Strategies (judge --strategy).

    pooling  by the best rank in any run (default with runs)
    prior    by the ranks in all runs: high in many of them first
    mtf      move to front: stay with a run as long as it returns relevant documents
    mtc      minimal test collections: what decides most which run is better
    maxrep   what represents most of the pool (default without runs)
    random   in random order; with --holes unjudged-label, infap can be estimated from any number
    statap   a random sample of --n-per-query, high in many runs more often; QRELS then holds its
             probabilities (qid docno label 1 probability), for stat_ap, and only queries of which
             the whole sample is judged
    sample   a random sample of --n-total documents over all queries. Drawn more often are those
             that decide between the runs and of which the machine (--machine-qrels) is unsure.
             QRELS then holds their probabilities, for evaluate and compare --interval. Documents
             come in the order of the sample, of all queries in turn: those judged so far are a
             smaller sample, and are written as such (with --only, query by query). A larger
             --n-total, with the same --random-state, goes on with the same sample

    Sizes of a sample, in place of --n-total:
    --risk RISK=LEVEL,...  whole queries, each as likely as the others, as many as these risks need
                           for a certificate of threshold --risk. To be judged are the
                           documents that the runs have among the places of the risks
    --plan SETTING=VALUE,...
                           what --risk assumes; all of it is printed beside the number of queries:
                           RISK=RATE       the true rate (default: 0.6 times the level)
                           power=P         probability of the certificate (default: 0.8)

    All but maxrep and random look at runs: those that are named, or --pool if it is a run.

    skfilterrank judge runs/* --docs docs.jsonl --strategy statap --n-per-query 50 \
        --out prels
    skfilterrank judge runs/* --machine-qrels llm.txt -m ndcg@10 --docs docs.jsonl \
        --strategy sample --n-total 200 --out sample.prels
    """


def _completion():
    """Completion of commands, options and choices.

    pip install argcomplete, and then one line in the file that the shell begins with:

    ~/.bashrc    eval "$(register-python-argcomplete skfilterrank)"
    ~/.zshrc     autoload -U compinit && compinit && eval "$(register-python-argcomplete \
skfilterrank)"
    config.fish  register-python-argcomplete --shell fish skfilterrank | source
    """


SUBJECTS = {
    "measures": _measures,
    "formats": _formats,
    "holes": _holes,
    "models": _models,
    "thresholds": _thresholds,
    "intervals": _intervals,
    "comparisons": _comparisons,
    "fusion": _fusion,
    "judging": _judging,
    "strategies": _strategies,
    "completed": _completed,
    "completion": _completion,
}


def help(
    subject: Annotated[
        str | None, Arg(metavar="SUBJECT", many="?", choices=(*SUBJECTS, *COMMANDS))
    ] = None,
) -> None:
    """Print the help of a subject or a command, or the list of subjects.

    Parameters
    ----------
    subject
        subject or command
    """
    if subject is None:
        names = "\n".join(f"  {name}" for name in SUBJECTS)
        show(f"{overview()}\nsubjects of 'skfilterrank help':\n{names}\n")
    elif subject in COMMANDS:
        command_parser(subject).print_help()
    else:
        show(f"{inspect.getdoc(SUBJECTS[subject])}\n")
        if subject == "measures":
            show(f"\n{_list_of_measures()}")
        elif subject == "models":
            from skfilterrank.ranking import LOSSES, METHODS

            show("\n" + _aligned({"losses": LOSSES, "methods": METHODS}))
        elif subject == "thresholds":
            from skfilterrank.cli._thresholds import BY_NAME

            show("\n" + _aligned({name: [_summary(each)] for name, each in BY_NAME.items()}))

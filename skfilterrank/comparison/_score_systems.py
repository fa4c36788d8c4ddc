"""Values of systems by several measures, from runs, predictions or files."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from skfilterrank._files.files import decode, is_path, parse_json, read_bytes, source_name
from skfilterrank._files.named_runs import errors_of, for_any_process, name_of_path, named_runs
from skfilterrank._files.rows import Rows, check_rows, columns_of_systems, read_once
from skfilterrank._files.tables import records_of, restored
from skfilterrank._lists.gains import refuse_measures_of_sample
from skfilterrank._lists.measure import forbidden_seen, warn_of, warn_of_forbidden
from skfilterrank._lists.measure_names import parse_measures
from skfilterrank._lists.positions import (
    PreferenceMatrix,
    RelevantPositions,
    preference_matrix,
    relevant_positions,
)
from skfilterrank._lists.row_blocks import Block, Pieces
from skfilterrank._lists.unjudged_lists import (
    misled_measure,
    unjudged_share,
    warn_of_unjudged_lists,
)
from skfilterrank._lists.words import collecting_warnings, progress_bar, repeat_warnings
from skfilterrank.comparison._system_scores import SystemScores
from skfilterrank.exceptions import FileFormatError, InputError, brief
from skfilterrank.io import QrelsIndex, align
from skfilterrank.metrics import evaluate, evaluate_run

# Measures whose values only order rankings, which is done exactly instead.
_KINDS = {"lexirecall": "recall", "lexiprecision": "precision"}


def score_systems(
    qrels,
    runs,
    measures,
    *,
    missing: str | float = "raise",
    gains=None,
    ties: str = "docno",
    precision: str = "double",
    unjudged: str = "zero",
    undefined: float | str = 0.0,
    unjudged_label: float | str | None = "warn",
    predicted: str = "warn",
    n_jobs: int | None = None,
    verbose: int = 0,
    **options,
) -> dict[str, SystemScores]:
    """Compute values of runs for every topic, by several measures.

    Parameters
    ----------
    qrels : DataFrame, QrelsIndex, str, PathLike, file object or None
        The judgments, as :func:`skfilterrank.io.align` takes them; None where each run is an
        AlignedRun.
    runs : path, list of paths, or dict {name: path, open file, DataFrame or AlignedRun}
        The runs, as :func:`skfilterrank.io.read_runs` takes them. Topics of a run that are
        not in the judgments are left out.
    measures : str or list of str
        Names of measures such as "ap", "ndcg_f@20" or "lexirecall".
    missing : {"raise", "drop", "empty"} or float, default="raise"
        What becomes of a topic of the judgments that is not in some run, or has no value there
        (``undefined="drop"``): an error; the topic is left out for all runs; the run is measured
        as an empty list (a value that is still missing is an error); it gets this number.
    gains, ties, precision, unjudged, undefined, unjudged_label, predicted, **options
        As in :func:`skfilterrank.metrics.evaluate_run`.
    n_jobs : int or None, default=None
        Number of processes; -1 means all processors. The result is the same.
    verbose : int, default=0
        1 shows a progress bar.

    Returns
    -------
    dict of str to SystemScores
        By the names of the measures as given; systems in the order of `runs`, topics sorted as
        text. Values are those of :func:`evaluate_run`. "lexirecall(scale=preference)" and
        "lexiprecision(scale=preference)" are exact preferences instead, see
        :meth:`SystemScores.from_preferences`.

    Raises
    ------
    ValueError, FileFormatError
        As :func:`skfilterrank.metrics.evaluate_runs`; and if a topic is missing and `missing` names
        no way out.

    Warns
    -----
    DataWarning
        Of runs whose documents are mostly unjudged, as :func:`skfilterrank.metrics.evaluate_run`.

    See Also
    --------
    score_predictions : The same for arrays of scores.

    Examples
    --------
    >>> import pandas as pd
    >>> from skfilterrank.comparison import score_systems
    >>> qrels = pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "label": [1, 0]})
    >>> run = pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "score": [0.9, 0.8]})
    >>> runs = {"good": run, "bad": run.assign(score=-run["score"])}
    >>> scores = score_systems(qrels, runs, ["ap", "lexirecall(scale=preference)"])
    >>> scores["ap"].means
    good    1.0
    bad     0.5
    Name: ap, dtype: float64
    >>> scores["lexirecall(scale=preference)"].means
    good    1.0
    bad     0.0
    Name: lexirecall(scale=preference), dtype: float64
    """
    wanted = _compared(measures)
    named = named_runs(runs)
    params = {"gains": gains, "ties": ties, "unjudged": unjudged, "undefined": undefined, **options}
    index = None
    if qrels is not None:
        index = QrelsIndex.of(
            qrels, unjudged_label=unjudged_label, predicted=predicted, gains=gains
        )
        if index.is_sample:
            refuse_measures_of_sample(wanted)
        warn_of_forbidden(wanted.values(), index.labels, gains)
    jobs = (
        # A process that joblib uses again may stand in another folder.
        delayed(collecting_warnings(_score_run))(
            name, *for_any_process(run), index, precision, wanted, params
        )
        for name, run in named.items()
    )
    scored = Parallel(n_jobs=n_jobs, return_as="generator")(jobs)
    bar = progress_bar(scored, total=len(named), unit="run", disable=not verbose, leave=False)
    results = {}
    for name, (scores, said) in zip(named, bar):
        repeat_warnings(said)
        results[name] = scores
    if index is not None:
        misled = misled_measure(wanted, index.labels, gains, unjudged)
        shares = {name: each.unjudged_share for name, each in results.items()}
        warn_of_unjudged_lists(shares, misled)
    if isinstance(missing, str) and missing == "empty":
        missing = "raise"
        results = {name: each._replace(missing_topics=()) for name, each in results.items()}
    return {text: _scores_of(text, parsed, results, missing) for text, parsed in wanted.items()}


def _compared(measures):
    """Measures of which differences of means say what the measures say."""
    wanted = parse_measures(measures)
    for parsed in wanted.values():
        parsed.for_means("systems are compared", takes=("mean", "sum"))
    return wanted


def score_predictions(
    y_true,
    y_scores: Mapping,
    measures,
    *,
    groups=None,
    gains=None,
    ties=None,
    unjudged: str = "zero",
    undefined: float | str = 0.0,
    missing: str | float = "raise",
    **options,
) -> dict[str, SystemScores]:
    """Compute values of models' predictions for every query, by several measures.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,), or Rows
        Label of each (query, document) row; any order. NaN means unjudged. A Series may carry
        the query ids in an index level named "qid". :class:`skfilterrank.io.Rows` need not fit into
        memory and are read once; 8 bytes for each system, query and measure stay in memory.
    y_scores : dict of str to array-like of shape (n_rows,)
        Scores of each system, higher is better, -inf where filtered. With Rows the column of each
        system's scores.
    measures : str or list of str
        Names of measures such as "ap", "ndcg_f@20" or "lexirecall".
    groups : array-like of shape (n_rows,), default=None
        Query id of each row, of any type. None looks for an index level "qid" on `y_true`.
    gains, ties, unjudged, undefined, **options
        As in :func:`skfilterrank.metrics.evaluate`.
    missing : {"raise", "drop"} or float, default="raise"
        What becomes of a query without a value (``undefined="drop"``), as in
        :class:`SystemScores`.

    Returns
    -------
    dict of str to SystemScores
        By the names of the measures as given. Values are those of :func:`evaluate`.
        "lexirecall(scale=preference)" and "lexiprecision(scale=preference)" are exact preferences
        instead, see :meth:`SystemScores.from_preferences`.

    Raises
    ------
    ValueError
        As :func:`skfilterrank.metrics.evaluate`; a note names the system.

    See Also
    --------
    score_systems : The same for TREC runs.

    Examples
    --------
    >>> from skfilterrank.comparison import score_predictions
    >>> y_true, groups = [1, 0, -1, 1, 0], ["a", "a", "a", "b", "b"]
    >>> systems = {"old": [3, 2, 1, 1, 2], "new": [3, 2, float("-inf"), 2, 1]}
    >>> print(score_predictions(y_true, systems, "ndcg_f", groups=groups)["ndcg_f"])
    ndcg_f of 2 systems for 2 queries
         mean    sd  wins
    new 1.000 0.000     2
    old 0.690 0.084     0
    """
    if not isinstance(y_scores, Mapping) or not y_scores:
        raise InputError(
            "y_scores must be a dict {name: scores} of at least one system, got "
            f"{type(y_scores).__name__}."
        )
    wanted = _compared(measures)
    valued = {text: parsed for text, parsed in wanted.items() if _kind(parsed) is None}
    kinds = {text: _kind(parsed) for text, parsed in wanted.items() if text not in valued}
    params = {"gains": gains, "unjudged": unjudged}
    of_values = params | {"ties": ties, "undefined": undefined} | options
    if ties is not None:
        params["ties"] = ties
    if isinstance(y_true, Rows):
        rows = check_rows(y_true, "score_predictions", groups=groups)
        names = {name for each in valued.values() for name in each.measure.columns}
        others = {name: options[name] for name in names if options.get(name) is not None}
        work = _Scoring(tuple(y_scores), valued, kinds, of_values, params, tuple(others))
        found = _joined(read_once(rows, work, scores=columns_of_systems(y_scores), others=others))
        warn_of([parsed for text, parsed in valued.items() if text in found.forbidden])
    else:
        found = _predicted(y_true, y_scores, groups, valued, kinds, of_values, params)
        warn_of_forbidden(valued.values(), y_true, gains)
    table = pd.concat(found.tables, names=["run"]) if valued else pd.DataFrame()
    scores = {}
    for text in wanted:
        if text in valued:
            scores[text] = SystemScores.of(table[text], missing=missing, name="y_scores")
        else:
            scores[text] = SystemScores.from_preferences(found.preferences[text])
    return scores


class _Predicted(NamedTuple):
    """Values of systems by query and their preferences, and measures that are warned of."""

    tables: dict
    preferences: dict
    forbidden: frozenset = frozenset()


def _predicted(y_true, y_scores, groups, valued, kinds, of_values, params):
    """Measure systems."""
    tables = {}
    for name, y_score in y_scores.items() if valued else ():
        try:
            tables[name] = evaluate(y_true, y_score, valued, groups=groups, **of_values)
        except ValueError as error:
            error.add_note(f"This came up with the scores of {brief(name)}.")
            raise
    preferences = {
        text: preference_matrix(y_true, y_scores, kind=kind, groups=groups, **params)
        for text, kind in kinds.items()
    }
    return _Predicted(tables, preferences)


def _joined(parts) -> _Predicted:
    """Join pairs of query ids and what was predicted of them, sorted by the ids."""
    ids_of_parts, every = zip(*parts)
    ids = np.concatenate(ids_of_parts)
    order = np.argsort(ids, kind="stable")
    queries = pd.Index(ids[order], name="qid", tupleize_cols=False)

    def table(frames):
        return pd.concat(frames, ignore_index=True).iloc[order].set_axis(queries)

    preferences = {}
    for text, first in every[0].preferences.items():
        matrices = [each.preferences[text] for each in every]
        n_relevant = np.concatenate([each.n_relevant for each in matrices])[order]
        ranks = table([each.ranks for each in matrices])
        preferences[text] = PreferenceMatrix(ranks, n_relevant, first.kind)
    tables = {name: table([each.tables[name] for each in every]) for name in every[0].tables}
    return _Predicted(tables, preferences, frozenset().union(*(each.forbidden for each in every)))


class _Scoring(NamedTuple):
    """Measures all systems of a block."""

    systems: tuple
    valued: dict
    kinds: dict
    of_values: dict
    params: dict
    in_columns: tuple

    def __call__(self, block: Block) -> Pieces:
        """Measure a block of whole queries."""
        labels = block.columns["label"]
        columns = {name: block.columns[name] for name in self.in_columns}
        found = _predicted(
            labels,
            {system: block.columns["score", system] for system in self.systems},
            block.group_index(),
            self.valued,
            self.kinds,
            self.of_values | columns,
            self.params,
        )
        seen = forbidden_seen(self.valued.values(), labels, self.params["gains"])
        forbidden = frozenset(text for text, each in self.valued.items() if each in seen)
        return Pieces([(block.ids, found._replace(forbidden=forbidden))])


class _RunScores(NamedTuple):
    """Values of one run, and the positions of its relevant documents where only these count."""

    values: pd.DataFrame | None
    positions: RelevantPositions | None
    missing_topics: tuple[str, ...]
    unjudged_share: float


def _score_run(name, path, run, index, precision, wanted, params):
    """Score one run; an error names it."""
    ties, gains, unjudged = (params[each] for each in ("ties", "gains", "unjudged"))
    with errors_of(name, path, run):
        aligned, misled = run, None
        if index is not None:
            aligned = align(index, run, precision=precision, ties=ties)
            misled = misled_measure(wanted, index.labels, gains, unjudged)
        valued = {text: parsed for text, parsed in wanted.items() if _kind(parsed) is None}
        values = evaluate_run(None, aligned, valued, **params) if valued else None
        positions = None
        if len(valued) < len(wanted):
            positions = relevant_positions(
                aligned.y_true,
                aligned.y_score,
                groups=aligned.index,
                # The rows of a topic stand in the order of document ids where scores are equal.
                ties="stable" if ties == "docno" else ties,
                gains=gains,
                unjudged=unjudged,
            )
        share = unjudged_share(aligned, misled)
        return _RunScores(values, positions, aligned.missing_topics, share)


def _scores_of(text, parsed, results, missing):
    """The values of all runs by one measure, NaN for the topics that a run does not have."""
    kind, exact = _kind(parsed), None
    if kind is not None:
        positions = {name: each.positions for name, each in results.items()}
        exact = SystemScores.from_preferences(PreferenceMatrix.from_positions(positions, kind=kind))
    if exact is None:
        table = pd.DataFrame({name: each.values[text] for name, each in results.items()}).T
    else:
        table = exact.to_frame().copy()
    table.index = list(map(str, results))
    for name, each in results.items():
        if each.missing_topics:
            table.loc[str(name), table.columns.isin(each.missing_topics)] = np.nan
    return SystemScores(
        table,
        measure=text,
        greater_is_better=parsed.measure.greater_is_better,
        is_preference=exact is not None,
        missing=missing,
        dropped_queries=() if exact is None else exact.dropped_queries,
    )


def _kind(parsed):
    """Kind of lexicographic preferences, "recall" or "precision"; None where values are wanted."""
    if parsed.options.get("scale") != "preference":
        return None
    plain = parsed.measure.plain
    if plain is not None and plain.name in _KINDS:
        raise InputError(
            f"{brief(parsed.text)}: preferences of all runs read judgments as the call does, so "
            "give its gains= or unjudged=."
        )
    return _KINDS.get(parsed.measure.name)


# Lines that trec_eval prints beside its measures: counts of documents and topics, and texts.
_COUNTS = ("num_q", "num_ret", "num_rel", "num_rel_ret", "relstring")
_WRITTEN_BY = "expected what `skfilterrank evaluate --per-query` writes with --format"
_SHOWN = 3


def read_system_scores(source, *, measures=None, missing="raise") -> dict[str, SystemScores]:
    r"""Read values that ``skfilterrank evaluate --per-query`` or ``trec_eval -q`` wrote.

    Parameters
    ----------
    source : str, PathLike or file object, or list of these
        Where to read: text of ``--format csv``, ``json`` or ``trec``, or of trec_eval; which of
        them it is, is seen from the first line. gzip is unzipped. Of several files, each holds
        other systems.
    measures : str, list of str or None, default=None
        Names of measures to keep; None keeps all. The counts of trec_eval, such as num_rel, are
        no measures.
    missing : {"raise", "drop"} or float, default="raise"
        What becomes of a topic for which some system has no value, as in :class:`SystemScores`.

    Returns
    -------
    dict of str to SystemScores
        By the names of the measures as written. Systems and topics stand in the order in which
        they occur. A system without a name (trec_eval without the line "runid") gets that of the
        file.

    Raises
    ------
    FileFormatError
        If a line is not of its format, a system has two values for a topic, a value is no
        number. The error names file and line.
    ValueError
        If a measure is not there, or a value is missing and `missing` names no way out.

    See Also
    --------
    score_systems : Values from runs and judgments, preferences exactly.

    Notes
    -----
    ``--format trec`` and trec_eval write four digits, which makes ties of values that differ by
    less; csv and json keep all digits.

    Examples
    --------
    >>> import io
    >>> from skfilterrank.comparison import read_system_scores
    >>> text = "run,qid,ap\nold,1,0.5\nold,2,0.25\nnew,1,0.75\nnew,2,0.5\n"
    >>> read_system_scores(io.StringIO(text))["ap"].means
    new    0.625
    old    0.375
    Name: ap, dtype: float64
    """
    sources = list(source) if isinstance(source, list | tuple) else [source]
    if not sources:
        raise InputError("source must name at least one file, got an empty list.")
    rows = _join(sources)
    known = list(dict.fromkeys(measure for values in rows.values() for measure in values))
    wanted = _wanted(measures, known)
    table = pd.DataFrame(
        {name: [values.get(name, np.nan) for values in rows.values()] for name in wanted},
        index=pd.MultiIndex.from_tuples(rows, names=["run", "qid"]),
    )
    try:
        return {
            name: SystemScores.of(table[name], missing=missing, name="source") for name in wanted
        }
    except InputError as error:
        error.add_note(f"The values are those of {', '.join(map(source_name, sources[:_SHOWN]))}.")
        raise


def _read(source):
    """Yield (line, run, query id, values by measure) of one file, by its format."""
    name = source_name(source)
    text = decode(read_bytes(source), name).removeprefix("\ufeff")
    lines = text.split("\n")
    first = next((line for line in lines if line.strip()), None)
    if first is None:
        raise FileFormatError(f"the file is empty; {_WRITTEN_BY} csv, json or trec.", name)
    if first.lstrip().startswith("{"):
        return _read_json(lines, name)
    if first.replace('"', "").startswith("run,"):
        return _read_csv(text, name)
    return _read_trec(lines, name, name_of_path(name) if is_path(source) else "run")


def _read_csv(text, name):
    """Read lines run,qid,MEASURE,..."""
    records = records_of(text, ",", name)
    _, header = next(records)
    if header[:2] != ["run", "qid"] or len(header) < 3:
        raise FileFormatError(
            f"the header is {brief(','.join(header))}, where it should be run,qid,MEASURE,...: "
            "write values of every topic with evaluate --per-query --format csv.",
            name,
            1,
        )
    for line, row in records:
        if len(row) != len(header):
            raise FileFormatError(
                f"{len(row)} columns where the header has {len(header)}.", name, line
            )
        values = {
            measure: _number(text or np.nan, measure, name, line)
            for measure, text in zip(header[2:], row[2:])
        }
        yield line, restored(row[0]), restored(row[1]), values


def _read_json(lines, name):
    """Read an object for each run, each on a line of its own."""
    for line, text in enumerate(lines, 1):
        if not text.strip():
            continue
        try:
            record = parse_json(text)
            run, topics = record["run"], record["topics"]
            rows = [(qid, dict(row)) for qid, row in topics.items()]
        except InputError as error:
            raise FileFormatError(
                f"not a JSON object ({error}); {_WRITTEN_BY} json, a run on each line.", name, line
            ) from None
        except (KeyError, TypeError, AttributeError, ValueError):
            raise FileFormatError(
                'expected "run": NAME and "topics": {qid: {MEASURE: value}}: write values of '
                "every topic with evaluate --per-query --format json.",
                name,
                line,
            ) from None
        for qid, row in rows:
            yield (
                line,
                run,
                qid,
                {
                    measure: _number(np.nan if value is None else value, measure, name, line)
                    for measure, value in row.items()
                },
            )


def _read_trec(lines, name, nameless):
    """Read lines measure, topic, value; the line "runid all NAME" ends the topics of a run."""
    topics, is_empty = {}, True
    for line, text in enumerate([*lines, None], 1):
        # The end of the file ends a run without a name.
        parts = ["runid", "all", nameless] if text is None else text.split(None, 2)
        if not parts:
            continue
        # Only the name of a run may have blanks in it.
        if len(parts) != 3 or (parts[0] != "runid" and len(text.split()) != 3):
            raise FileFormatError(
                f"{len(text.split())} columns where there should be 3 (measure, topic, value); "
                f"{_WRITTEN_BY} csv, json or trec, or trec_eval -q.",
                name,
                line,
            )
        measure, qid, value = parts[0], parts[1], parts[2].strip()
        if measure == "runid" and qid == "all":
            for each, values in topics.items():
                yield None if text is None else line, value, each, values
            is_empty, topics = is_empty and not topics, {}
        elif qid != "all" and not measure.startswith(_COUNTS):
            row = topics.setdefault(qid, {})
            if measure in row:
                raise FileFormatError(
                    f"a second value of {measure} for topic {brief(qid)}: between the topics of "
                    "two runs there should be a line 'runid all NAME', which trec_eval -q writes "
                    "with its default measures or -m runid.",
                    name,
                    line,
                )
            row[measure] = _number(value, measure, name, line)
    if is_empty:
        raise FileFormatError(
            "there is no value of a topic, only means: write them with evaluate --per-query "
            "--format trec, or trec_eval -q.",
            name,
        )


def _number(value, measure, name, line):
    """A finite number, or NaN."""
    try:
        number = np.nan if isinstance(value, bool) else float(value)
        if not np.isinf(number) and not isinstance(value, bool):
            return number
    except (TypeError, ValueError, OverflowError):
        pass
    raise FileFormatError(f"a value of {measure} must be a number, got {brief(value)}.", name, line)


def _join(sources):
    """Collect the values of all files by run and query; each file has other runs."""
    found, holder = {}, {}
    for number, source in enumerate(sources):
        name = source_name(source)
        for line, run, qid, values in _read(source):
            if not isinstance(run, str) or not run:
                raise FileFormatError(
                    f"the name of a run should be a text, got {brief(run)}.", name, line
                )
            if holder.setdefault(run, number) != number:
                raise FileFormatError(
                    f"run {brief(run)} is in {source_name(sources[holder[run]])} too: rename one, "
                    "or leave out a copy.",
                    name,
                )
            if (run, qid) in found:
                raise FileFormatError(
                    f"run {brief(run)} has topic {brief(qid)} a second time: are two runs named "
                    "alike? Rename one.",
                    name,
                    line,
                )
            found[run, qid] = values
    return found


def _wanted(measures, known):
    """The measures to keep, all of which must be there."""
    if measures is None:
        return known
    measures = [measures] if isinstance(measures, str) else list(measures)
    for name in measures:
        if name not in known:
            shown = ", ".join(known[:20]) + (", ..." if len(known) > 20 else "")
            raise InputError(
                f"there are no values of {brief(name)}: there are those of {shown}, by the names "
                "they were written with."
            )
    return list(dict.fromkeys(measures))

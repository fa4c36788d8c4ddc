"""Values of systems out of what was written when they were measured."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from skfilterrank._files.files import decode, is_path, parse_json, read_bytes, source_name
from skfilterrank._files.named_runs import name_of_path
from skfilterrank._files.tables import records_of, restored
from skfilterrank.comparison._system_scores import SystemScores
from skfilterrank.exceptions import FileFormatError, InputError, brief

# What trec_eval prints beside its measures: counts of documents and topics, and texts.
_COUNTS = ("num_q", "num_ret", "num_rel", "num_rel_ret", "relstring")
_WRITTEN_BY = "expected what `skfilterrank evaluate --per-query` writes with --format"
_SHOWN = 3


def read_system_scores(source, *, measures=None, missing="raise") -> dict[str, SystemScores]:
    r"""Values that ``skfilterrank evaluate --per-query`` or ``trec_eval -q`` wrote.

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
    files = [_read(each) for each in sources]
    rows = _join(files, [source_name(each) for each in sources])
    known = list(dict.fromkeys(name for file in files for name in file.measures))
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


class _File(NamedTuple):
    """Values of one file."""

    values: dict  # (run, qid) -> {measure: value}
    measures: list


def _read(source):
    """Values of one file, by its format."""
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
    """Lines run,qid,MEASURE,..."""
    records = records_of(text, ",", name)
    _, header = next(records)
    if header[:2] != ["run", "qid"] or len(header) < 3:
        raise FileFormatError(
            f"the header is {brief(','.join(header))}, where it should be run,qid,MEASURE,...: "
            "write values of every topic with evaluate --per-query --format csv.",
            name,
            1,
        )
    measures, values = header[2:], {}
    for line, row in records:
        if len(row) != len(header):
            raise FileFormatError(
                f"{len(row)} columns where the header has {len(header)}.", name, line
            )
        numbers = {
            measure: _number(text, measure, name, line) if text else np.nan
            for measure, text in zip(measures, row[2:])
        }
        _add(values, restored(row[0]), restored(row[1]), numbers, name, line)
    return _File(values, measures)


def _read_json(lines, name):
    """An object for each run, each on a line of its own."""
    measures, values = {}, {}
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
            numbers = {
                measure: np.nan if value is None else _number(value, measure, name, line)
                for measure, value in row.items()
            }
            measures |= dict.fromkeys(numbers)
            _add(values, run, qid, numbers, name, line)
    return _File(values, list(measures))


def _read_trec(lines, name, nameless):
    """Lines measure, topic, value; the line "runid all NAME" ends the topics of a run."""
    measures, values, topics = {}, {}, {}
    for line, text in enumerate(lines, 1):
        parts = text.split(None, 2)
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
            _end(values, value, topics, name, line)
            topics = {}
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
            measures[measure] = None
    if topics:
        _end(values, nameless, topics, name, None)
    if not values:
        raise FileFormatError(
            "there is no value of a topic, only means: write them with evaluate --per-query "
            "--format trec, or trec_eval -q.",
            name,
        )
    return _File(values, list(measures))


def _end(values, run, topics, name, line):
    """Keep the topics of a run."""
    for qid, numbers in topics.items():
        _add(values, run, qid, numbers, name, line)


def _add(values, run, qid, numbers, name, line):
    """Keep a row, which must be the only one of its run and topic."""
    if not isinstance(run, str) or not run:
        raise FileFormatError(f"the name of a run should be a text, got {brief(run)}.", name, line)
    if (run, qid) in values:
        raise FileFormatError(
            f"run {brief(run)} has topic {brief(qid)} a second time: are two runs named alike? "
            "Rename one.",
            name,
            line,
        )
    values[run, qid] = numbers


def _number(value, measure, name, line):
    """A finite number, or NaN."""
    try:
        number = np.nan if isinstance(value, bool) else float(value)
        if not np.isinf(number) and not isinstance(value, bool):
            return number
    except (TypeError, ValueError, OverflowError):
        pass
    raise FileFormatError(f"a value of {measure} must be a number, got {brief(value)}.", name, line)


def _join(files, names):
    """Values of all files, of which each has other runs."""
    joined, holder = {}, {}
    for file, name in zip(files, names):
        for run in dict.fromkeys(run for run, _ in file.values):
            if run in holder:
                raise FileFormatError(
                    f"run {brief(run)} is in {holder[run]} too: rename one, or leave out a copy.",
                    name,
                )
            holder[run] = name
        joined |= file.values
    return joined


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

"""What ``skfilterrank forecast`` does."""

import json

from skfilterrank._core.measure_names import parse_measures
from skfilterrank._files.tables import csv_text
from skfilterrank.cli._output import align_columns
from skfilterrank.cli._run_files import read_named_runs
from skfilterrank.cli._streams import results, tell
from skfilterrank.cli.forecast.teams import read_teams
from skfilterrank.exceptions import InputError
from skfilterrank.io import write_qrels
from skfilterrank.judgments import pseudo_qrels, rank_systems


def run(arguments) -> int:
    """Print the runs, best first."""
    measures = arguments.measures and parse_measures(arguments.measures)
    _check_output(arguments)
    teams = None if arguments.teams is None else read_teams(arguments.teams)
    runs = read_named_runs(arguments.runs, arguments)
    params = {
        "depth": arguments.depth,
        "share": arguments.share,
        "n_relevant": arguments.n_relevant,
        "teams": teams,
        "n_trials": arguments.n_trials,
        "ties": arguments.ties,
        "random_state": arguments.seed,
    }
    forecast = rank_systems(runs, arguments.method, measure=measures, **params)
    if teams is not None:
        tell(f"{len(forecast)} of {len(runs)} runs: the first by name of each team")
    if arguments.out_qrels is not None:
        qrels = pseudo_qrels(runs, arguments.method, **params)
        write_qrels(arguments.out_qrels, qrels.assign(judged_by=arguments.method))
        tell(
            f"{arguments.out_qrels}: {qrels['label'].sum():,} of {len(qrels):,} pooled documents "
            f"of {qrels['qid'].nunique():,} topics are taken for relevant"
        )
    with results(arguments) as (format, write):
        write(_FORMATS[format](forecast))
    return 0


def _table(forecast):
    """Columns for people, with the place of each run."""
    lines = [["run", "place", *forecast.columns]]
    for place, (name, *cells) in enumerate(forecast.itertuples(name=None), start=1):
        shown = [cell if isinstance(cell, str) else f"{cell:.4f}" for cell in cells]
        lines.append([name, str(place), *shown])
    return "\n".join(align_columns(lines)) + "\n"


def _csv(forecast):
    """Columns for programs."""
    return csv_text(forecast)


def _json(forecast):
    """An object on a line of its own for each run."""
    rows = forecast.reset_index().to_dict("records")
    return "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows)


_FORMATS = {"table": _table, "csv": _csv, "json": _json}


def _check_output(arguments):
    """Raise where there are not the judgments of one table to write."""
    if arguments.out_qrels is None:
        return
    if arguments.method in ("aslam", "spoerri"):
        raise InputError(
            f"--out-qrels: the method {arguments.method} makes no judgments; take another --method."
        )
    if arguments.method == "soboroff" and arguments.n_trials > 1:
        raise InputError(
            f"--out-qrels: soboroff makes the judgments of {arguments.n_trials} trials, and a file "
            "holds those of one; add --n-trials 1."
        )

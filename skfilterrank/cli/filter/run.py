"""What ``skfilterrank filter`` does."""

import json

import numpy as np
import pandas as pd

from skfilterrank._files.files import open_for_writing
from skfilterrank._files.tables import csv_text
from skfilterrank.cli._lists import list_format
from skfilterrank.cli._run_files import read_filter_of_runs, read_scores
from skfilterrank.cli._streams import data_output, tell
from skfilterrank.io import write_run


def run(arguments) -> None:
    """Filter the run and write it."""
    threshold = read_filter_of_runs(arguments)
    format = list_format(arguments.out, arguments.format)
    rows, second = read_scores(arguments.run, arguments)
    scores = rows["score"].to_numpy()
    found = threshold.predict(scores, groups=rows["qid"].to_numpy(), filter_scores=second)
    shown = found > -np.inf
    # Rules of two scores may change the order.
    scores = np.where(shown, found, scores)
    target = data_output() if arguments.out in (None, "-") else arguments.out
    if format == "trec":
        write_run(target, rows.assign(score=np.where(shown, scores, -np.inf)))
    else:
        _write_all(target, rows, scores, shown, format)
    empty = ~pd.Series(shown).groupby(rows["qid"].to_numpy()).any()
    tell(
        f"{int(shown.sum()):,} documents, {int((~shown).sum()):,} filtered, {int(empty.sum()):,} "
        "queries left empty"
    )


def _write_all(target, rows, scores, shown, format):
    """Every document, with its place and whether it is shown; the best of each query first."""
    table = pd.DataFrame(
        {"qid": rows["qid"], "docno": rows["docno"], "rank": 0, "score": scores, "shown": shown}
    ).sort_values(["qid", "score", "docno"], ascending=[True, False, False])
    table["rank"] = table.groupby("qid")["shown"].cumsum().where(table["shown"], 0).astype(int)
    with open_for_writing(target) as write:
        if format == "csv":
            write(csv_text(table, index=False))
            return
        for row in table.to_dict("records"):
            row["score"] = row["score"] if np.isfinite(row["score"]) else None
            write(json.dumps(row) + "\n")

"""``skfilterrank apply``: rank and filter documents by a saved model or threshold."""

from typing import Annotated

from skfilterrank.cli import _types as t
from skfilterrank.cli._output import chosen_format, refuse, tell
from skfilterrank.exceptions import FileFormatError


def apply(
    saved: Annotated[str, t.Arg(metavar="SAVED", file="read")],
    data: Annotated[str, t.Arg(metavar="DATA", file="read")],
    *,
    rows: t.Source,
    filter_scores: t.FilterScores = None,
    format: Annotated[str | None, t.format_arg(*t.LISTS, shown="by --out, else trec")] = None,
    out: t.Out = None,
) -> None:
    """Rank and filter documents by a saved model, or the lists of a run by a saved threshold.

    A TREC run holds what is shown, csv and json every document; see help formats.

    Parameters
    ----------
    saved
        model of rank-filter --save, or threshold of threshold --save
    data
        for a model, rows like those of its training file (a table needs no labels; in LETOR text
        any number stands for them); for a threshold, a run, with whole lists where it is one for
        each query

    Examples
    --------
    skfilterrank apply model.skops new.csv --out lists.txt
    skfilterrank apply threshold.json new.run --format csv
    """
    import numpy as np

    from skfilterrank.cli._inputs import holds_model, load_threshold_of_runs, read_scores
    from skfilterrank.cli._rows import check_ids, read_rows, write_lists
    from skfilterrank.io import load_model

    format = chosen_format(format, out, t.LISTS)
    if holds_model(saved):
        refuse(["filter_scores"], f"is for a threshold, and {saved} holds a model. Leave it out.")
        model = load_model(saved)
        if not isinstance(model, dict) or not {"model", "name", "table"} <= set(model):
            raise FileFormatError(
                "holds a model that was not saved by 'skfilterrank rank-filter --save'. Load it "
                "in Python with skfilterrank.io.load_model.",
                saved,
            )
        read = read_rows(data, rows.given(), model["table"], labelled=False)
        check_ids(read, format, "--format csv or json")
        found = model["model"].predict(read.X, groups=read.groups)
        lists = read.lists(found, model["name"])
    else:
        refuse(vars(rows), f"is for a model, and {saved} holds a threshold. Leave it out.")
        threshold = load_threshold_of_runs(saved, filter_scores)
        lists, second = read_scores(data, filter_scores)
        scores = lists["score"].to_numpy()
        found = threshold.predict(scores, groups=lists["qid"].to_numpy(), filter_scores=second)
        # Rules of two scores may change the order of what is shown.
        is_shown = found > -np.inf
        lists = lists.assign(score=np.where(is_shown, found, scores), is_shown=is_shown)
    tell(write_lists(out, lists, format))

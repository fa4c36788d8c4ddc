"""``skfilterrank apply``: rank and filter documents by a saved model or threshold."""

from typing import Annotated

from skfilterrank.cli import _types as t
from skfilterrank.cli._parser import Arg


def apply(
    saved: Annotated[str, Arg(metavar="SAVED", file="read")],
    data: Annotated[str, Arg(metavar="DATA", file="read")],
    *,
    input_format: t.InputFormat = None,
    query: t.Query = None,
    document: t.Document = None,
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
    from skfilterrank.cli._output import chosen_format, tell
    from skfilterrank.cli._rows import check_ids, read_rows, write_lists
    from skfilterrank.exceptions import FileFormatError, InputError
    from skfilterrank.io import load_model

    format = chosen_format(format, out, t.LISTS)
    given = {"input_format": input_format, "query": query, "document": document}
    given = {name: value for name, value in given.items() if value is not None}
    is_model = holds_model(saved)
    of_other = {"filter_scores": filter_scores} if is_model else given
    if wrong := [name for name, value in of_other.items() if value is not None]:
        kinds = ("a threshold", "a model") if is_model else ("a model", "a threshold")
        raise InputError(
            f"--{wrong[0].replace('_', '-')} is for {kinds[0]}, and {saved} holds {kinds[1]}. "
            "Leave it out."
        )
    if is_model:
        model = load_model(saved)
        if not isinstance(model, dict) or not {"model", "name", "table"} <= set(model):
            raise FileFormatError(
                "holds a model that was not saved by 'skfilterrank rank-filter --save'. Load it "
                "in Python with skfilterrank.io.load_model.",
                saved,
            )
        rows = read_rows(data, given, model["table"], labelled=False)
        check_ids(rows, format, "--format csv or json")
        found = model["model"].predict(rows.X, groups=rows.groups)
        lists = rows.lists(found, model["name"])
    else:
        threshold = load_threshold_of_runs(saved, filter_scores)
        lists, second = read_scores(data, filter_scores)
        scores = lists["score"].to_numpy()
        found = threshold.predict(scores, groups=lists["qid"].to_numpy(), filter_scores=second)
        # Rules of two scores may change the order of what is shown.
        is_shown = found > -np.inf
        lists = lists.assign(score=np.where(is_shown, found, scores), is_shown=is_shown)
    tell(write_lists(out, lists, format))

"""``skfilterrank apply``: rank and filter by what was saved."""

from typing import Annotated

from skfilterrank.cli import _types as t
from skfilterrank.cli._output import chosen_format, tell
from skfilterrank.exceptions import FileFormatError


def apply(
    saved: Annotated[str, t.Arg(metavar="SAVED", file="read")],
    data: Annotated[str, t.Arg(metavar="DATA", file="read")],
    *,
    columns: t.Columns = None,
    format: Annotated[str | None, t.format_arg(*t.LISTS, shown="by --out, else trec")] = None,
    out: t.Out = None,
) -> None:
    """Rank and filter documents by a saved model, or the lists of a run by a saved threshold.

    A TREC run holds what is shown; csv and json have qid, docno, rank, score and shown of every
    document, and hidden ones the rank 0.

    Parameters
    ----------
    saved
        model of rank-filter --save, or threshold of threshold --save. A model can run any program
        when it is read: take it only from those whom you trust
    data
        for a model, rows like those of its training file (a table needs no labels; in LETOR text
        any number stands for them); for a threshold, a run with whole lists

    Examples
    --------
    skfilterrank apply model.joblib new.csv --out lists.txt
    skfilterrank apply threshold.json new.run --format csv
    """
    import joblib
    import numpy as np

    from skfilterrank._files.files import reason_of
    from skfilterrank.cli._inputs import holds_model, load_threshold_of_runs, read_run
    from skfilterrank.cli._rows import check_ids, read_rows, write_lists

    format = chosen_format(format, out, t.LISTS)
    if holds_model(saved):
        try:
            model = joblib.load(saved)
        except Exception as error:
            raise FileFormatError(
                "the model is damaged, or was written with other versions of the packages it needs "
                f"({reason_of(error)}).",
                saved,
            ) from error
        if not isinstance(model, dict) or not {"model", "name", "table"} <= set(model):
            raise FileFormatError(
                "holds a model that was not saved by 'skfilterrank rank-filter --save'. Load it "
                "in Python with joblib.load.",
                saved,
            )
        given = {} if columns is None else {"columns": columns}
        read = read_rows(data, given, model["table"], labelled=False)
        check_ids(read, format, "--format csv or json")
        found = model["model"].predict(read.X, groups=read.groups)
        lists = read.lists(found, model["name"])
    else:
        threshold = load_threshold_of_runs(saved)
        lists = read_run(data, columns)
        scores = lists["score"].to_numpy()
        is_shown = threshold.predict(scores, groups=lists["qid"].to_numpy()) > -np.inf
        lists = lists.assign(is_shown=is_shown)
    tell(write_lists(out, lists, format))

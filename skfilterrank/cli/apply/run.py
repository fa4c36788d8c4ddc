"""What ``skfilterrank apply`` does."""

from skfilterrank.cli._data import read_rows
from skfilterrank.cli._output import describe
from skfilterrank.cli._streams import data_output, tell
from skfilterrank.exceptions import FileFormatError
from skfilterrank.io import load_model, write_run


def run(arguments) -> None:
    """Run the command."""
    saved = load_model(arguments.model)
    if not isinstance(saved, dict) or not {"model", "name", "table"} <= set(saved):
        raise FileFormatError(
            "holds a model that was not saved by 'skfilterrank rank-filter --save': load it in "
            "Python with skfilterrank.io.load_model",
            arguments.model,
        )
    rows = read_rows(arguments.data, arguments, like=saved["table"], labelled=False)
    scores = saved["model"].predict(rows.X, groups=rows.groups)
    target = data_output() if arguments.out in (None, "-") else arguments.out
    counts = write_run(target, rows.groups, docnos=rows.docnos, y_score=scores, name=saved["name"])
    tell(describe(counts))

"""What ``skfilterrank apply`` does."""

from skfilterrank.cli._data import read_rows
from skfilterrank.cli._lists import check_ids, list_format, write_lists
from skfilterrank.cli._output import describe
from skfilterrank.cli._streams import data_output, tell
from skfilterrank.exceptions import FileFormatError
from skfilterrank.io import load_model


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
    format = list_format(arguments.out, arguments.format)
    check_ids(rows, format, "--format csv or json")
    scores = saved["model"].predict(rows.X, groups=rows.groups)
    target = data_output() if arguments.out in (None, "-") else arguments.out
    counts = write_lists(target, rows, scores, name=saved["name"], format=format)
    tell(describe(counts))

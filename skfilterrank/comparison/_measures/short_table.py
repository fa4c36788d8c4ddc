"""A table that fits on a screen."""

import pandas as pd

_ROWS = 20


def short_table(head: str, frame: pd.DataFrame) -> str:
    """A line, the first rows, and how many more there are."""
    shown = frame.head(_ROWS).to_string(float_format="{:.4f}".format)
    if len(frame) > _ROWS:
        shown += f"\n... and {len(frame) - _ROWS} more rows, see to_frame()"
    return f"{head}\n{shown}"

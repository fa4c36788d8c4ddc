"""What results say of themselves: numbers of things, p values, and tables that fit on a screen."""

import numpy as np
import pandas as pd

_ROWS = 20


def counted(number: int, one: str, many: str | None = None) -> str:
    """The number and what it is of, such as "1 pair" and "1,200 queries"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def p_text(value: float) -> str:
    """Four digits, or that it is smaller."""
    return f"{value:.4f}" if value >= 1e-4 else "<0.0001"


def interval_text(confidence: float) -> str:
    """What an interval is called."""
    return f"{100 * confidence:.4g} % interval"


def short_table(head: str, frame: pd.DataFrame, *, n_rows=_ROWS, spread=False, also=()) -> str:
    """A line, so many rows, and how many more there are.

    Rows are the first ones, or spread over all of a curve; and those at the places `also`.
    """
    places = np.arange(min(n_rows, len(frame)))
    if spread:
        places = np.linspace(0, len(frame) - 1, len(places)).round().astype(int)
    shown = frame.iloc[np.union1d(places, np.array(also, dtype=int))]
    text = shown.to_string(
        float_format="{:.4f}".format,
        formatters={name: p_text for name in frame.columns if str(name).startswith("p_")},
    )
    if len(frame) > len(shown):
        between = " between" if spread else ""
        text += f"\n... and {counted(len(frame) - len(shown), 'more row')}{between}, see to_frame()"
    return f"{head}\n{text}"

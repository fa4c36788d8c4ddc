"""Which examples can run on this machine: those that need no public data, or whose data are here.

An example says what it needs in a line ``# Data: folder`` below its docstring.
"""

import re
from pathlib import Path

from skfilterrank.datasets import get_data_home

EXAMPLES = Path(__file__).parent.parent / "examples"
_DATA = re.compile(r"^# Data: (.+)$", re.MULTILINE)


def missing_data(path: Path) -> list[str]:
    """Folders of public data that an example needs and that are not here."""
    needed = _DATA.findall(path.read_text(encoding="utf-8"))
    return [name for name in needed if not (get_data_home() / name).is_dir()]


def runnable_pattern() -> str:
    """For sphinx-gallery's `filename_pattern`: the examples with pictures that can run here."""
    names = [
        re.escape(str(path.relative_to(EXAMPLES)))
        for path in sorted(EXAMPLES.rglob("plot_*.py"))
        if not missing_data(path)
    ]
    return f"({'|'.join(names)})$"

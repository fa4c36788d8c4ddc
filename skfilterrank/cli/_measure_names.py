"""Names of measures on the command line: those of the measure table, and trec_eval's."""

import re
from difflib import get_close_matches

from skfilterrank._core.measure import MEASURES
from skfilterrank._core.measure_names import parse_measure
from skfilterrank.exceptions import InputError, brief

# Names of trec_eval without a cut-off, and those before one, by the measures they mean.
_WHOLE = {name: entry.name for entry in MEASURES.values() for name in entry.trec_eval}
_CUT = {name[:-2]: _WHOLE.pop(name) for name in sorted(_WHOLE) if name.endswith("_@")}
_CUT_NAME = re.compile(rf"({'|'.join(_CUT)})[_.](\d+)")


def parse_names(texts) -> dict[str, str]:
    """Name in the measure table of each name as it was written; a name said twice counts once."""
    return {text: _parse_name(text) for text in texts}


def _parse_name(text):
    cut = _CUT_NAME.fullmatch(text)
    name = f"{_CUT[cut[1]]}@{cut[2]}" if cut else _WHOLE.get(text, text)
    bare = re.split(r"[@(]", name)[0].strip()
    if bare in MEASURES:
        parse_measure(name)
        return name
    spelled = {known.lower(): known for known in (*MEASURES, *_WHOLE)}
    close = [spelled[known] for known in get_close_matches(bare.lower(), spelled, n=3)]
    hint = f"did you mean {' or '.join(close)}? The" if close else "the"
    raise InputError(
        f"{brief(text)} is not a measure: {hint} names are {', '.join(sorted(MEASURES))}. Write a "
        "cut-off as in ndcg_f@10, options as in 'rbp(persistence=0.95)@100'; --list-measures says "
        "what each of them is."
    )


def describe_measures(**defaults) -> str:
    """A line for each measure: how it is written, with the command's own defaults, and what it is.

    The names of trec_eval follow.
    """
    lines = []
    for name, entry in sorted(MEASURES.items()):
        known = entry.defaults | defaults
        options = ",".join(f"{option}={known[option]}" for option in entry.options)
        written = f"{name}{f'({options})' if options else ''}{'[@k]' if entry.takes_k else ''}"
        worse = "" if entry.greater_is_better else " (lower is better)"
        lines.append(f"{written}\n    {entry.summary}{worse}\n")
    names = [f"{theirs} = {ours}" for theirs, ours in _WHOLE.items()]
    names += [f"{theirs}_K = {ours}@K" for theirs, ours in _CUT.items()]
    return f"{''.join(lines)}\nNames of trec_eval that are understood: {', '.join(names)}\n"

"""Names of measures on the command line: those of the measure table, and trec_eval's."""

import re
from difflib import get_close_matches

from skfilterrank.metrics._measure import MEASURES, parse_measure

# trec_eval's nDCG takes negative labels for 0, as ndcg_0 does.
TREC_EVAL = {
    "map": "ap",
    "Rprec": "r_precision",
    "recip_rank": "rr",
    "infAP": "inferred_ap",
    "map_cut": "ap",
    "ndcg_cut": "ndcg_0",
    "P": "precision",
    "recall": "recall",
}
_CUT = re.compile(r"(map_cut|ndcg_cut|P|recall)[_.](\d+)")


def parse_names(texts) -> dict[str, str]:
    """Name in the measure table of each name as it was written; a name said twice counts once."""
    return {text: _parse_name(text) for text in texts}


def _parse_name(text):
    cut = _CUT.fullmatch(text)
    name = f"{TREC_EVAL[cut[1]]}@{cut[2]}" if cut else TREC_EVAL.get(text, text)
    bare = re.split(r"[@(]", name)[0].strip()
    if bare in MEASURES:
        parse_measure(name)
        return name
    spelled = {known.lower(): known for known in (*MEASURES, *TREC_EVAL)}
    close = [spelled[known] for known in get_close_matches(bare.lower(), spelled, n=3)]
    hint = f"did you mean {' or '.join(close)}? The" if close else "the"
    raise ValueError(
        f"{text!r} is not a measure: {hint} names are {', '.join(sorted(MEASURES))}. Write a "
        "cut-off as in ndcg_f@10, options as in 'rbp(persistence=0.95)@100'; --list-measures says "
        "what each of them is."
    )


def describe_measures() -> str:
    """A line for each measure: how it is written, and what it is."""
    lines = []
    for name, entry in sorted(MEASURES.items()):
        options = ",".join(f"{option}={entry.defaults[option]}" for option in entry.options)
        written = f"{name}{f'({options})' if options else ''}{'[@k]' if entry.takes_k else ''}"
        worse = "" if entry.greater_is_better else " (lower is better)"
        lines.append(f"{written}\n    {entry.summary}{worse}\n")
    names = ", ".join(
        f"{theirs}_K = {ours}@K"
        if theirs in ("map_cut", "ndcg_cut", "P", "recall")
        else f"{theirs} = {ours}"
        for theirs, ours in TREC_EVAL.items()
    )
    return f"{''.join(lines)}\nNames of trec_eval that are understood: {names}\n"

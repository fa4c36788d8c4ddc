"""What ``--list-measures`` prints."""

from skfilterrank._core.measure import MEASURES
from skfilterrank.metrics import get_measure_names


def _described(alias, entry):
    """An alias, and the options that it stands for."""
    preset = ", ".join(f"{name}={value}" for name, value in entry.presets.get(alias, {}).items())
    return alias.replace("@", "K") + f" ({preset})" * bool(preset)


def describe_measures(**defaults) -> str:
    """Each measure: how it is written, with the command's own defaults, what it is, its aliases."""
    lines = []
    for name in get_measure_names():
        entry = MEASURES[name]
        known = entry.defaults | defaults
        options = ",".join(f"{option}={known[option]}" for option in entry.options)
        written = f"{name}{f'({options})' if options else ''}{'[@k]' if entry.takes_k else ''}"
        worse = "" if entry.greater_is_better else " (lower is better)"
        lines.append(f"{written}\n    {entry.summary}{worse}\n")
        aliases = [_described(alias, entry) for alias in entry.aliases]
        aliases += [f"{alias}= for {option}=" for alias, option in entry.option_aliases.items()]
        if aliases:
            lines.append(f"    Also {', '.join(aliases)}.\n")
    return (
        f"{''.join(lines)}\nNames may be written in any case. Every measure also has rel=, the "
        "least gain of a\nrelevant document, gains=, exp2 or {LABEL:GAIN,...}, and unjudged=drop, "
        "without unjudged\ndocuments: 'ap(rel=2)'. Some have like=, the library whose number it "
        "is:\n'ndcg(like=lightgbm)@10'.\n"
    )

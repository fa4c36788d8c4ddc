"""Parsing of measure names such as "rbp(persistence=0.9)@100" into measure, options and cut-off."""

import re
from collections.abc import Callable
from difflib import get_close_matches

from skfilterrank._base.checks import as_list
from skfilterrank._lists.gains import OF_ALL, SHOWN_OF_ALL, own_reading
from skfilterrank._lists.measure import MEASURES, Measure, ParsedMeasure
from skfilterrank.exceptions import InputError, brief, brief_list

_MOST_DIGITS = 18
_PARSED = re.compile(
    r"(?P<name>[^@()]*)(?:\((?P<options>.*)\))?(?:@(?P<depth>[^@()]*))?", re.DOTALL
)
# Names of several measures: those that trec_eval prints by default.
SEVERAL = {
    "official": (
        *("num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref"),
        "recip_rank",
        *(f"iprec_at_recall_{level / 10:.2f}" for level in range(11)),
        *(f"P_{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)),
    )
}
# Measures of other tools, without "-" and "_", and who has them.
_BY_SUBTOPIC = "needs judgments of subtopics: ir_measures has it, by its provider pyndeval"
_BY_CWL = "is a measure of ir_measures, by its provider cwl_eval"
_OLD = "is a measure of trec_eval alone (trec_eval -m all_trec)"
_ELSEWHERE = {
    **dict.fromkeys(("alphandcg", "alphadcg", "erria", "nerria", "apia", "mapia"), _BY_SUBTOPIC),
    **dict.fromkeys(("pia", "strec", "strecall", "nrbp", "nnrbp"), _BY_SUBTOPIC),
    **dict.fromkeys(("inst", "insq", "bpm", "sdcg", "nerr"), _BY_CWL),
    **dict.fromkeys(("nerr8", "nerr9", "nerr10", "nerr11"), _BY_CWL),
    **dict.fromkeys(("g", "bing", "ndcgrel", "rndcg"), _OLD),
    "rpp": "compares systems in pairs: skfilterrank.comparison.score_systems takes it, in Python",
    "gmbpref": f"{_OLD}: the geometric mean of bpref, at least 0.00001",
    "utility": f"{_OLD}: 2 * num_rel_ret - num_ret",
}
# trec_eval writes P_5, and also P.5.
_CUT = re.compile(r"(.+)[_.](\d+)", re.DOTALL)


def get_measure_names() -> list[str]:
    """Return the names of all measures, sorted.

    Returns
    -------
    list of str
        The names that :func:`make_ranking_scorer`, `RankAndFilter(measure=)` and the command line
        understand; those with a cut-off may be followed by "@k". Case does not matter. Names of
        other tools, such as "map", "P_5" or "MRR@10", are understood too; ``docs/measures.md``
        lists them. The result includes measures of :func:`register_measure`.

    Examples
    --------
    >>> from skfilterrank.metrics import get_measure_names
    >>> "ndcg_f" in get_measure_names()
    True
    """
    return sorted(MEASURES)


def get_measure(measure: str | Callable) -> ParsedMeasure:
    """Return a measure as an object, from its name.

    Parameters
    ----------
    measure : str or callable
        A name with an optional cut-off and options, such as "rbp(persistence=0.9)@100" (see
        :func:`get_measure_names`), or one of the functions of this module, such as
        :func:`ndcg_f_score`.

    Returns
    -------
    ParsedMeasure
        It has the attributes `k` (int or None), `options` (dict), `text` (its standard name) and
        `measure`, its :class:`Measure` with `name`, `function`, `summary`, `value_range`,
        `greater_is_better` and others. It is called like the measure's function, ``(y_true,
        y_score, *, groups, ...)``, and is accepted wherever a measure name is. Its `repr` is code
        that rebuilds it. Two with the same measure, cut-off and options are equal, also across
        processes.

    Raises
    ------
    ValueError
        If there is no such measure, option or cut-off.

    See Also
    --------
    register_measure : Adds a measure.

    Examples
    --------
    >>> from skfilterrank.metrics import evaluate, get_measure
    >>> deep = get_measure("RBP(p=0.5)@100")
    >>> deep
    get_measure('rbp(persistence=0.5)@100')
    >>> deep([1, 0, 1], [3, 2, 1], groups=["q"] * 3)
    0.625
    >>> deep.k, deep.options, deep.measure.value_range
    (100, {'persistence': 0.5}, (0.0, 1.0))
    """
    return parse_measure(measure)


def parse_measures(measures) -> dict[str, ParsedMeasure]:
    """Parse measures; return a dict by standard name. Parsed measures are taken unchanged."""
    if isinstance(measures, dict) and {type(each) for each in measures.values()} == {ParsedMeasure}:
        return measures
    is_one = isinstance(measures, str) or callable(measures)
    given = [measures] if is_one else as_list(measures, "measures", "names")
    given = [
        each
        for some in given
        for each in (SEVERAL.get(some, [some]) if isinstance(some, str) else [some])
    ]
    if not all(isinstance(each, str) or callable(each) for each in given):
        raise InputError(
            f"measures must be a name or a list of names, such as ['ap', 'ndcg_f@10'], got "
            f"{brief(measures)}."
        )
    if not given:
        raise InputError("measures is empty: name at least one, such as 'ndcg_f@10'.")
    unknown = [each for each in given if isinstance(each, str) and known_measure(each) is None]
    if unknown:
        raise _unknown(unknown)
    parsed: dict[str, ParsedMeasure] = {}
    texts: dict[str, str] = {}
    for each in given:
        call = parse_measure(each)
        text = each if isinstance(each, str) else call.text
        if call.text in texts:
            other = texts[call.text]
            names = "" if other == text else f", as {brief(other)} and {brief(text)}"
            raise InputError(
                f"{{measures}} names {brief(call.text)} twice{names}: name each once.",
                argument="measures",
            )
        parsed[text], texts[call.text] = call, text
    return parsed


def parse_measure(text: str | Callable | ParsedMeasure) -> ParsedMeasure:
    """Parse a measure: its function, or text such as "ndcg_f@10", "RBP(p=0.9)@100" or "P_5"."""
    if isinstance(text, ParsedMeasure):
        return text
    if isinstance(text, Measure):
        return ParsedMeasure(text, None, {})
    if isinstance(measures := getattr(text, "_measures", None), dict):
        raise InputError(
            f"{brief(text)} is a scorer, but a name was expected: write "
            f"{brief_list(list(measures))} "
            "with options in parentheses, such as 'rbp(persistence=0.95)@10'."
        )
    if callable(text):
        raise InputError(
            f"{brief(text)} is not a measure: pass a name, such as 'ndcg_f@10', or register a "
            "function of your own: skfilterrank.metrics.register_measure('its_name', function)."
        )
    parts = _PARSED.fullmatch(text) if isinstance(text, str) else None
    entry_and_cut = parts and find_entered(parts["name"])
    if parts is None or entry_and_cut is None:
        raise _unknown([text])
    entry, cut = entry_and_cut
    options = entry.presets.get(parts["name"].lower(), {})
    if parts["options"] is None:
        options = dict(options)
    else:
        given, own = _parse_options(entry, parts["options"], text)
        options = {**options, **given}
        library, reading = own.pop("like", None), own_reading(own, text)
        if library is not None:
            if reading is not None:
                names = " and ".join(own)
                raise InputError(f"{brief(text)} gives like and {names}: give one of them.")
            entry.settings_like(library, given)
            like = ParsedMeasure(entry, None, options).like(library)
            entry, options = like.measure, like.options
        else:
            entry = entry.with_reading(reading)
    if cut is not None and parts["depth"] is not None:
        raise InputError(f"{brief(text)} has two cut-offs: write '{entry.name}@{cut}'.")
    if entry.cut_option and parts["depth"] is not None:
        if entry.cut_option in options:
            raise InputError(f"{brief(text)} gives {entry.cut_option} twice: give it once.")
        of_cut, _ = _parse_options(entry, f"{entry.cut_option}={parts['depth']}", text)
        return ParsedMeasure(entry, None, {**options, **of_cut})
    depth = parts["depth"] if cut is None else cut
    if depth is None:
        return ParsedMeasure(entry, None, options)
    if not entry.takes_k:
        raise InputError(
            f"{brief(entry.name)} has no cut-off, got {brief(text)}: write {brief(entry.name)}"
            f"{entry.without_k}."
        )
    # Longer numbers exceed any list, and Python refuses to parse thousands of digits.
    if not depth.isdecimal() or len(depth) > _MOST_DIGITS or int(depth) < 1:
        raise InputError(
            f"the cut-off in {brief(text)} must be a positive whole number, such as "
            f"'{entry.name}@10'."
        )
    return ParsedMeasure(entry, int(depth), options)


def known_measure(name) -> Measure | None:
    """Return the measure of a name, such as "ap" for "MAP@10"; None for an unknown name."""
    entry_and_cut = find_entered(str(name).partition("(")[0].partition("@")[0])
    return entry_and_cut and entry_and_cut[0]


def spellings() -> dict[str, tuple[str, Measure]]:
    """Return {lower-case name: (name as written, measure)} for all names of all measures.

    In names that write the cut-off otherwise than "@k", "@" stands for the number, as in "P_@".
    """
    return {
        name.lower(): (name, entry)
        for entry in MEASURES.values()
        for name in (entry.name, *entry.aliases)
    }


def find_entered(name: str) -> tuple[Measure, str | None] | None:
    """Find the measure of a name, and the cut-off in names such as "P_5"; either may be None."""
    if name in MEASURES:  # Names of the table itself need no search among aliases.
        return MEASURES[name], None
    known, name = spellings(), name.lower()
    if name in known:
        return known[name][1], None
    cut = _CUT.fullmatch(name)
    if cut is None or f"{cut[1]}_@" not in known:
        return None
    return known[f"{cut[1]}_@"][1], cut[2]


def _unknown(texts):
    """Return the error for texts that name no measure."""
    return InputError(
        f"{' '.join(map(_not_a_measure, texts))} "
        "{skfilterrank.metrics.get_measure_names()} lists the names; a "
        "cut-off is written as in 'ndcg_f@10', options as in 'rbp(persistence=0.95)@100'. A "
        "measure of your own has a name only in processes that imported its module: else {pass "
        "its function, measure=FUNCTION}.",
        argument=(
            "skfilterrank.metrics.get_measure_names()",
            "pass its function, measure=FUNCTION",
        ),
    )


def _not_a_measure(text):
    """Return a sentence about an unknown name, with similar names."""
    if not isinstance(text, str):
        return f"{brief(text)} is not a measure, but of the type {type(text).__name__}."
    known, near = spellings(), {}
    name = re.split("[(@]", text)[0].lower()
    if who := _ELSEWHERE.get(re.sub("[-_]", "", name)):
        return f"{brief(text)} {who}."
    parts = split_at_commas(text)
    if len(parts) > 1 and all(map(known_measure, parts)):
        return f"{brief(text)} is several measures: give a list, {brief(parts)}."
    if known_measure(text) is not None:
        return f"{brief(text)} has options or a cut-off in another form than NAME(OPTIONS)@PLACES."
    if family := [
        known[each][0] for each in known if re.fullmatch(rf"{re.escape(name)}_\d.*", each)
    ]:
        return f"{brief(text)} is a family of measures: name each, such as {brief_list(family)}."
    stem, depth = cut.groups() if (cut := _CUT.fullmatch(name)) else (name, "10")
    if cut and stem in known:
        near[stem] = f"{known[stem][0]}@{depth}"
    else:
        for each in get_close_matches(f"{stem}_@" if cut else name, known):
            written, entry = known[each]
            near.setdefault(entry.name, written.replace("@", depth))
    hint = f": did you mean {' or '.join(map(brief, near.values()))}?" if near else "."
    return f"{brief(text)} is not a measure{hint}"


def _parse_options(entry, text, whole):
    """Parse the options in a name: those of the measure, and those that every measure has."""
    options, shared = {}, {}
    for part in split_at_commas(text):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        key = entry.option_aliases.get(key, key)
        if not equals or key not in {*entry.options, *OF_ALL}:
            allowed = ", ".join(f"{name}=..." for name in (*entry.options, *SHOWN_OF_ALL))
            raise InputError(
                f"{brief(part.strip())} in {brief(whole)} is not an option of {brief(entry.name)}: "
                f"it has {allowed}."
            )
        if key in {**options, **shared}:
            raise InputError(f"{brief(whole)} gives {key} twice: give it once.")
        (options if key in entry.options else shared)[key] = _value(value)
    checked = entry.bind(None, options).keywords
    for name in options:
        if isinstance(checked[name], ParsedMeasure):
            options[name] = checked[name].text
    return {name: options[name] for name in entry.options if name in options}, shared


def split_at_commas(text):
    """Split a text at commas outside of parentheses and braces."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "({") - (character in ")}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part for part in parts if part.strip() or len(parts) > 1]


def _value(text):
    """Parse an option's value: a number, a word with or without quotes, or a dict in braces."""
    if text[:1] == "{" and text[-1:] == "}":
        pairs = [part.partition(":") for part in split_at_commas(text[1:-1])]
        return {_value(label.strip()): _value(value.strip()) for label, _, value in pairs}
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None if text == "None" else text

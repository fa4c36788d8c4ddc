"""What is different from an earlier report."""

from skfilterrank.cli.compare.output import number

from skfilterrank._core.results import counted
from skfilterrank.cli.compare.report.elements import (
    Html,
    element,
    isolated,
    number_cell,
    section,
    table,
)

_N_SHOWN = 50


def since(before, made, comparisons, alpha, path) -> Html:
    """Differences of origin, of means and of outcomes of tests, measure by measure."""
    then = before["made"]
    parts = [
        element(
            "p",
            f"Compared with {isolated(path)}, made on {then['date']} by skfilterrank "
            f"{then['versions']['skfilterrank']}.",
        ),
        _origin(then, made),
    ]
    earlier = {each["name"]: each for each in before["measures"]}
    for name, comparison in comparisons.items():
        if name not in earlier:
            parts.append(element("p", f"{isolated(name)} is not in the earlier report."))
            continue
        parts += _measure(name, earlier[name], comparison, alpha)
    return section("Since the earlier report", *parts, id="since")


def _origin(then, now) -> Html:
    """Settings, versions and files that are others."""
    lines = [
        f"{what} {name}: {then[kind].get(name, 'none')} before, {now[kind].get(name, 'none')} now"
        for kind, what in (("settings", "setting"), ("versions", "version of"))
        for name in {**then[kind], **now[kind]}
        if then[kind].get(name) != now[kind].get(name)
    ]
    ours, theirs = (
        {each["name"]: each["sha256"] for each in made["files"]} for made in (now, then)
    )
    lines += [f"file {isolated(name)}: new" for name in ours if name not in theirs]
    lines += [f"file {isolated(name)}: no longer there" for name in theirs if name not in ours]
    lines += [
        f"file {isolated(name)}: another content"
        for name, digest in ours.items()
        if name in theirs and theirs[name] != digest
    ]
    if not lines:
        return element("p", "It was made from the same files with the same settings.")
    return element("ul", *(element("li", line) for line in lines))


def _measure(name, before, comparison, alpha):
    """Means and outcomes of one measure."""
    means = dict(zip(before["systems"], before["means"]))
    rows = []
    for system, mean in comparison.scores.means.items():
        was = means.get(system, float("nan"))
        difference = _difference(mean, was)
        shown = (
            (was, number(was, 4)),
            (mean, number(mean, 4)),
            (difference, number(difference, 4, "+")),
        )
        rows.append([system, *(number_cell(*cell) for cell in shown)])
    head = ["run", "mean before", "mean now", "difference"]
    yield table(f"Means by {isolated(name)} before and now", head, rows)
    if gone := [system for system in means if system not in comparison.scores.systems]:
        yield element("p", f"No longer there: {', '.join(map(isolated, gone))}.")
    then = {
        frozenset((before["systems"][first], before["systems"][second])): (
            before["systems"][first] if significant else None
        )
        for first, second, significant in zip(
            before["first"], before["second"], before["significant"]
        )
    }
    changed = []
    for pair in comparison.pairs(alpha).itertuples():
        found, now = frozenset((pair.first, pair.second)), pair.first if pair.significant else None
        if found in then and then[found] != now:
            changed.append([pair.first, pair.second, then[found] or "neither", now or "neither"])
    if not changed:
        yield element("p", f"By {isolated(name)}, tests of the same pairs come out as before.")
        return
    head = ["run", "other run", "significantly better before", "now"]
    caption = f"{counted(len(changed), 'pair')} whose test by {isolated(name)} comes out otherwise"
    yield table(caption, head, changed[:_N_SHOWN])
    if len(changed) > _N_SHOWN:
        yield element("p", f"{len(changed) - _N_SHOWN:,} more are left out.", class_="note")


def _difference(now, then):
    """Of what was rounded when it was written."""
    difference = now - then
    return 0.0 if abs(difference) <= 1e-5 * abs(now) else difference
